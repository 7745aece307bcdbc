//! Files that are kept in the user's cache folder: each is found by a key, gets its name when it is whole, and the longest
//! unused go first.

use crate::capture::cache_folder;
use flate2::Crc;
#[cfg(feature = "gpu")]
use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// References from which a trace is worth a file: fewer are read and played in a blink.
#[cfg(feature = "gpu")]
pub(super) const WORTH: u64 = 1 << 20;
/// Seconds after which a file without a name is one that nobody ends.
#[cfg(feature = "gpu")]
const STALE: u64 = 24 * 60 * 60;

/// CRC-32.
pub(super) fn sum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// A folder for files of one kind.
pub(super) struct Room {
    pub(super) folder: PathBuf,
    /// End of their names.
    ending: &'static str,
    /// What they may take together.
    #[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "only what draws keeps files"))]
    bytes: u64,
}

impl Room {
    /// A folder in the cache folder.
    pub(super) fn new(name: &str, ending: &'static str, bytes: u64) -> Self {
        Self { folder: cache_folder().join(name), ending, bytes }
    }

    /// Where the file with a key is, or would be. It has to say itself of what it is: keys may meet.
    pub(super) fn path(&self, key: &str) -> PathBuf {
        let half = &key.as_bytes()[key.len() / 2..];
        self.folder.join(format!("{:08x}{:08x}.{}", sum(key.as_bytes()), sum(half), self.ending))
    }

    /// Says that a file was used.
    pub(super) fn used(path: &Path) {
        let _ = File::options().append(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
    }
}

#[cfg(feature = "gpu")]
impl Room {
    /// A file without a name.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub(super) fn begin(&self) -> std::io::Result<tempfile::NamedTempFile> {
        fs::create_dir_all(&self.folder)?;
        tempfile::Builder::new().prefix(PREFIX).tempfile_in(&self.folder)
    }

    /// Whether there is room for a file of this length.
    pub(super) fn takes(&self, bytes: u64) -> bool {
        bytes <= self.bytes
    }

    /// Gives a whole file its name, and makes room for it.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub(super) fn end(&self, file: tempfile::NamedTempFile, path: &Path) -> std::io::Result<()> {
        file.persist(path).map_err(|e| e.error)?;
        self.clear(path, SystemTime::now());
        Ok(())
    }

    /// Removes the files that were not used for longest, but for `kept`, until those that are left have room, and what was begun
    /// long ago and not ended.
    fn clear(&self, kept: &Path, now: SystemTime) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut all = Vec::new();
        for entry in entries.flatten() {
            let (path, Ok(about)) = (entry.path(), entry.metadata()) else { continue };
            let used = about.modified().ok();
            if entry.file_name().to_string_lossy().starts_with(PREFIX) {
                let age = used.and_then(|used| now.duration_since(used).ok());
                if age.is_some_and(|age| age.as_secs() > STALE) {
                    let _ = fs::remove_file(&path);
                }
            } else if path.extension().is_some_and(|ending| ending == self.ending) {
                all.push((used, about.len(), path));
            }
        }
        all.sort();
        let mut bytes: u64 = all.iter().map(|(_, len, _)| len).sum();
        for (_, len, path) in all.into_iter().filter(|(.., path)| path != kept) {
            if bytes <= self.bytes {
                break;
            }
            if fs::remove_file(path).is_ok() {
                bytes -= len;
            }
        }
    }
}

/// How the name of what has no name begins.
#[cfg(feature = "gpu")]
const PREFIX: &str = ".begun-";

#[cfg(all(test, feature = "gpu"))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::Duration;

    #[test]
    fn the_longest_unused_go_first_and_the_new_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let room = Room { folder: folder.path().join("read"), ending: "orrery", bytes: 100 };
        let now = SystemTime::now();
        let keep = |name: &str, bytes: usize, hours_ago: u64| {
            let mut file = room.begin().unwrap();
            file.write_all(&vec![0; bytes]).unwrap();
            file.as_file().set_modified(now - Duration::from_secs(3600 * hours_ago)).unwrap();
            room.end(file, &room.folder.join(name)).unwrap();
        };
        let there = || {
            let names = fs::read_dir(&room.folder).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        };
        // What is begun stays for a day; what others put there stays for ever.
        let begun = room.begin().unwrap();
        let begun = begun.path().file_name().unwrap().to_str().unwrap().to_owned();
        fs::create_dir_all(&room.folder).unwrap();
        fs::write(room.folder.join("mine.txt"), [0; 500]).unwrap();
        let old = room.folder.join(".begun-old");
        fs::write(&old, [0; 500]).unwrap();
        File::options().append(true).open(&old).unwrap().set_modified(now - Duration::from_secs(STALE + 60)).unwrap();

        keep("a.orrery", 40, 5);
        keep("b.orrery", 40, 9);
        assert_eq!(there().len(), 4, "{:?}", there());
        Room::used(&room.folder.join("b.orrery"));
        keep("c.orrery", 40, 1);
        let names = there();
        assert!(
            names[0].starts_with(".begun-") && names[1..] == ["b.orrery", "c.orrery", "mine.txt"],
            "{names:?} {begun}"
        );
        // The new one stays, however long.
        keep("d.orrery", 300, 20);
        assert_eq!(there()[1..], ["d.orrery", "mine.txt"]);
        assert!(room.takes(100) && !room.takes(101));
    }

    #[test]
    fn keys_of_any_letters_have_paths_of_their_own() {
        let room = Room::new("read", "orrery", 0);
        let paths: Vec<PathBuf> = ["", "a", "\u{e9}t\u{e9}", "\u{e9}t\u{e9}s"].map(|key| room.path(key)).to_vec();
        let different: std::collections::BTreeSet<_> = paths.iter().collect();
        assert_eq!(different.len(), paths.len());
    }
}
