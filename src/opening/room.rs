//! Files that are kept in the user's cache folder: each is found by a key, gets its name when it is whole, and the longest
//! unused go first.

use crate::files::{Draft, cache_folder, open_own, own_folder};
use flate2::Crc;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// CRC-32.
pub(super) fn sum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// A folder for files of one kind.
#[derive(Debug)]
pub(super) struct Room {
    /// Where it is, or why there is none.
    folder: Result<PathBuf, String>,
    /// End of their names.
    ending: &'static str,
    /// What they may take together.
    bytes: u64,
}

impl Room {
    /// A folder in the cache folder.
    pub(super) fn new(name: &str, ending: &'static str, bytes: u64) -> Self {
        let folder = cache_folder().and_then(|cache| own_folder(&cache.join(name)));
        Self { folder: folder.map_err(|e| e.to_string()), ending, bytes }
    }

    /// Where the file with a key is, or would be. It has to say itself of what it is: keys may meet.
    pub(super) fn path(&self, key: &str) -> Option<PathBuf> {
        let half = &key.as_bytes()[key.len() / 2..];
        let name = format!("{:08x}{:08x}.{}", sum(key.as_bytes()), sum(half), self.ending);
        Some(self.folder.as_ref().ok()?.join(name))
    }

    /// Says that a file was used.
    pub(super) fn used(path: &Path) {
        let _ = open_own(path).and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// Takes away what stands in a file's place, whatever it is.
    pub(super) fn remove(path: &Path) {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
    }

    /// For messages: the folder, or why there is none.
    pub(super) fn shown(&self) -> String {
        self.folder.as_ref().map_or_else(Clone::clone, |folder| folder.display().to_string())
    }

    /// The folder.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn folder(&self) -> io::Result<&Path> {
        self.folder.as_deref().map_err(|e| io::Error::other(e.clone()))
    }

    /// Begins the file that will be `path`.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub(super) fn begin(&self, path: &Path) -> io::Result<Draft> {
        Draft::within(path)
    }

    /// Whether there is room for a file of this length.
    pub(super) fn takes(&self, bytes: u64) -> bool {
        bytes <= self.bytes
    }

    /// Gives a whole file its name, and makes room for it.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub(super) fn end(&self, file: Draft, path: &Path) -> io::Result<()> {
        file.finish()?;
        self.clear(path);
        Ok(())
    }

    /// Removes the files that were not used for longest, but for `kept`, until those that are left have room.
    fn clear(&self, kept: &Path) {
        let Some(entries) = self.folder.as_ref().ok().and_then(|folder| fs::read_dir(folder).ok()) else { return };
        let mut all = Vec::new();
        for entry in entries.flatten() {
            let (path, Ok(about)) = (entry.path(), entry.metadata()) else { continue };
            if path.extension().is_some_and(|ending| ending == self.ending) {
                all.push((about.modified().ok(), about.len(), path));
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::Duration;

    #[test]
    fn the_longest_unused_go_first_and_the_new_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let read = own_folder(&folder.path().join("read")).unwrap();
        let room = Room { folder: Ok(read.clone()), ending: "orrery", bytes: 100 };
        let now = SystemTime::now();
        let keep = |name: &str, bytes: usize, hours_ago: u64| {
            let path = read.join(name);
            let mut file = room.begin(&path).unwrap();
            file.write_all(&vec![0; bytes]).unwrap();
            file.file().set_modified(now - Duration::from_secs(3600 * hours_ago)).unwrap();
            room.end(file, &path).unwrap();
        };
        let there = || {
            let names = fs::read_dir(&read).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        };
        // What is begun has no name; what others put there stays for ever.
        let _begun = room.begin(&read.join("begun.orrery")).unwrap();
        fs::write(read.join("mine.txt"), [0; 500]).unwrap();

        keep("a.orrery", 40, 5);
        keep("b.orrery", 40, 9);
        assert_eq!(there(), ["a.orrery", "b.orrery", "mine.txt"]);
        Room::used(&read.join("b.orrery"));
        keep("c.orrery", 40, 1);
        assert_eq!(there(), ["b.orrery", "c.orrery", "mine.txt"]);
        // The new one stays, however long.
        keep("d.orrery", 300, 20);
        assert_eq!(there(), ["d.orrery", "mine.txt"]);
        assert!(room.takes(100) && !room.takes(101));
    }

    #[test]
    fn keys_of_any_letters_have_paths_of_their_own() {
        let room = Room { folder: Ok("read".into()), ending: "orrery", bytes: 0 };
        let paths: Vec<PathBuf> =
            ["", "a", "\u{e9}t\u{e9}", "\u{e9}t\u{e9}s"].map(|key| room.path(key).unwrap()).to_vec();
        let different: std::collections::BTreeSet<_> = paths.iter().collect();
        assert_eq!(different.len(), paths.len());
    }
}
