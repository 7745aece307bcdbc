//! What tells a file from what it was before a change, without reading all of it.

use flate2::Crc;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Pieces of a file that are read, from its first byte to its last, and bytes of each.
const PIECES: u64 = 16;
const PIECE: u64 = 4096;

/// A file as it was when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Its own name, with no link on the way.
    pub(super) path: PathBuf,
    /// `None`: no such file is there.
    about: Option<About>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct About {
    bytes: u64,
    /// When it was written and, where the system says so, when anything about it was changed: that cannot be set back.
    times: String,
    /// CRC-32 of the pieces.
    sample: u32,
}

impl Stamp {
    /// Of a path, whether a file is there or not; `None` where it is no plain file, cannot be read, or its name is no text.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        // A pipe that is opened once more loses what it holds, or waits.
        let stamp = match fs::metadata(path) {
            Ok(meta) if meta.is_file() => {
                let mut file = File::open(path).ok()?;
                let meta = file.metadata().ok()?;
                let about =
                    About { bytes: meta.len(), times: times(&meta), sample: sample(&mut file, meta.len()).ok()? };
                Self { path: fs::canonicalize(path).ok()?, about: Some(about) }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Self { path: std::path::absolute(path).ok()?, about: None }
            }
            _ => return None,
        };
        stamp.path.to_str().is_some().then_some(stamp)
    }

    /// Whether a file is there.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.about.is_some()
    }

    /// Whether it is as it was.
    pub(super) fn is_current(&self) -> bool {
        Self::of(&self.path).as_ref() == Some(self)
    }
}

#[cfg(unix)]
fn times(meta: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    let (written, changed) = ((meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec()));
    format!("written {}.{:09}, changed {}.{:09}", written.0, written.1, changed.0, changed.1)
}

#[cfg(not(unix))]
fn times(meta: &Metadata) -> String {
    format!("written {:?}", meta.modified().ok())
}

/// Of a short file all is read.
fn sample(file: &mut File, bytes: u64) -> io::Result<u32> {
    let mut crc = Crc::new();
    let mut piece = Vec::new();
    let apart = if bytes <= PIECES * PIECE { PIECE } else { (bytes - PIECE) / (PIECES - 1) };
    for n in 0..PIECES {
        file.seek(SeekFrom::Start(n * apart))?;
        piece.clear();
        file.take(PIECE).read_to_end(&mut piece)?;
        crc.update(&piece);
    }
    Ok(crc.sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_change_shows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.log");
        let missing = Stamp::of(&path).unwrap();
        assert!(!missing.is_there() && missing.is_current());
        for bytes in [0usize, 1, 5000, 70_000, 1 << 20] {
            let text: Vec<u8> = (0..bytes).map(|n| n.to_le_bytes()[0] % 251).collect();
            fs::write(&path, &text).unwrap();
            assert!(!missing.is_current());
            let stamp = Stamp::of(&path).unwrap();
            assert!(stamp.is_there() && stamp.is_current(), "{bytes} bytes");
            // The same under another way to it.
            assert_eq!(Stamp::of(&folder.path().join(".").join("t.log")).unwrap(), stamp);
            // Longer, and shorter.
            fs::write(&path, [&text[..], b"x"].concat()).unwrap();
            assert!(!stamp.is_current(), "{bytes} bytes and one");
            let longer = Stamp::of(&path).unwrap();
            fs::write(&path, &text).unwrap();
            assert!(!longer.is_current());
        }
        fs::remove_file(&path).unwrap();
        assert!(missing.is_current());
        assert!(Stamp::of(folder.path()).is_none(), "a folder");
    }

    #[test]
    fn a_touched_byte_shows_at_either_end_and_by_its_time_anywhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.log");
        let mut text = vec![b'a'; 1 << 20];
        let mut samples = std::collections::BTreeSet::new();
        for at in [None, Some(0), Some((1 << 20) - 1), Some(1 << 19)] {
            if let Some(at) = at {
                text[at] ^= 1;
            }
            fs::write(&path, &text).unwrap();
            let stamp = Stamp::of(&path).unwrap();
            samples.insert(stamp.about.as_ref().unwrap().sample);
            // Written again as it was, with its old time: it is another all the same.
            let written = fs::metadata(&path).unwrap().modified().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
            fs::write(&path, &text).unwrap();
            File::options().append(true).open(&path).unwrap().set_modified(written).unwrap();
            assert_eq!(stamp.is_current(), !cfg!(unix));
        }
        assert!(samples.len() >= 3, "the first byte and the last are seen: {samples:?}");
    }
}
