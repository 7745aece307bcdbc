//! The traces that were opened last, in a small file of the user's cache folder: paths, the last one first.
//!
//! It is a convenience: where it cannot be kept, or is damaged, there is none, and nobody hears of it.

use crate::files::{Draft, cache_folder, open_own};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Traces that are kept.
const MOST: usize = 12;
/// Bytes of the file that are read: 12 paths of the greatest length.
const BYTES: u64 = 1 << 16;
/// The file.
const NAME: &str = "recent.json";

/// A trace that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recent {
    /// Its file.
    pub path: PathBuf,
    /// Bytes, and how long ago it was written; `None` where it is not there any more.
    pub about: Option<(u64, Duration)>,
}

/// The traces that were opened last, the last one first.
#[must_use]
pub fn recent() -> Vec<Recent> {
    let Ok(folder) = cache_folder() else { return Vec::new() };
    read(&folder).into_iter().map(|path| Recent { about: about(&path), path }).collect()
}

/// Whether nobody of this user opened a window before; asked once, since it is another one's answer the next time.
#[must_use]
pub fn first_start() -> bool {
    cache_folder().and_then(|folder| first(&folder)).unwrap_or(false)
}

/// A file that says that hints were shown.
const SHOWN: &str = "hints-shown";

fn first(folder: &Path) -> io::Result<bool> {
    let mark = folder.join(SHOWN);
    if open_own(&mark).is_ok() || open_own(&folder.join(NAME)).is_ok() {
        return Ok(false);
    }
    Draft::within(&mark)?.finish()?;
    Ok(true)
}

/// Takes note of a trace that was opened.
pub fn remember(trace: &Path) {
    // Whoever opens a trace came for that, and not for this list.
    let _ = std::path::absolute(trace).and_then(|trace| note(&cache_folder()?, trace));
}

fn about(path: &Path) -> Option<(u64, Duration)> {
    let about = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    // Of a file of the future it is now.
    let age = about.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok()).unwrap_or_default();
    Some((about.len(), age))
}

fn read(folder: &Path) -> Vec<PathBuf> {
    let text = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        open_own(&folder.join(NAME))?.take(BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let paths: Vec<PathBuf> = text().ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    paths.into_iter().filter(|path| path.is_absolute()).take(MOST).collect()
}

fn note(folder: &Path, trace: PathBuf) -> io::Result<()> {
    let mut paths = read(folder);
    paths.retain(|path| *path != trace);
    paths.insert(0, trace);
    // Of a name that is no text nothing can be written; the others stay.
    paths.retain(|path| path.to_str().is_some());
    paths.truncate(MOST);
    let text = serde_json::to_vec(&paths)?;
    let mut draft = Draft::within(&folder.join(NAME))?;
    draft.write_all(&text)?;
    draft.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(folder: &Path) -> Vec<String> {
        read(folder).iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_last_one_is_first_each_is_there_once_and_twelve_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).is_empty());
        for n in 0..15 {
            note(folder.path(), format!("/t/{n}").into()).unwrap();
        }
        note(folder.path(), "/t/9".into()).unwrap();
        let expect = [9, 14, 13, 12, 11, 10, 8, 7, 6, 5, 4, 3].map(|n| format!("/t/{n}"));
        assert_eq!(names(folder.path()), expect);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_damaged_list_is_none_and_the_next_trace_begins_another() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join(NAME);
        for damaged in ["", "[\"/t/1\"", "{}", "[1, 2]", "\u{0}\u{0}"] {
            fs::write(&list, damaged).unwrap();
            assert!(read(folder.path()).is_empty(), "{damaged:?}");
        }
        fs::write(&list, "[\"/t/1\", \"a name that is no path from the root\"]").unwrap();
        assert_eq!(names(folder.path()), ["/t/1"]);
        fs::write(&list, "no list").unwrap();
        note(folder.path(), "/t/2".into()).unwrap();
        assert_eq!(names(folder.path()), ["/t/2"]);
        assert!(note(&folder.path().join("gone"), "/t/3".into()).is_err());
    }

    #[test]
    fn a_start_is_the_first_one_once() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!([(); 3].map(|()| first(folder.path()).unwrap()), [true, false, false]);
        let other = tempfile::tempdir().unwrap();
        note(other.path(), "/t/1".into()).unwrap();
        assert!(!first(other.path()).unwrap(), "who opened a trace was here");
        assert!(first(&other.path().join("gone")).is_err());
    }

    #[test]
    fn a_file_tells_its_length_and_one_that_is_gone_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.log");
        fs::write(&path, "12345").unwrap();
        let (bytes, age) = about(&path).unwrap();
        assert!(bytes == 5 && age < Duration::from_secs(600), "{age:?}");
        assert_eq!((about(&folder.path().join("gone")), about(folder.path())), (None, None));
    }
}
