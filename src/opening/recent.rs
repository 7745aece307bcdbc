//! The traces that were opened last, in a small file of the user's cache folder: paths, the last one first, and how the window of each
//! was left. (Who sets a bookmark has that in the file of notes beside the trace; who only looked leaves nothing in other people's folders.)
//!
//! It is a convenience: where it cannot be kept, or is damaged, there is none, and nobody hears of it.

use crate::files::{Draft, cache_folder, open_own};
use crate::trace::file_of;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Traces that are kept.
const MOST: usize = 12;
/// Bytes of the file that are read: 12 paths of the greatest length, each with a command.
const BYTES: u64 = 1 << 17;
/// Bytes of a command that is kept.
const COMMAND: usize = 4096;
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

/// What is kept of a trace. Before there were commands it was the path alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Kept")]
struct Entry {
    path: PathBuf,
    /// The command that shows what its window showed when it was left.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<String>,
}

/// An entry as it is read.
#[derive(Deserialize)]
#[serde(untagged)]
enum Kept {
    Path(PathBuf),
    Both { path: PathBuf, left: Option<String> },
}

impl From<Kept> for Entry {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Path(path) => Self { path, left: None },
            Kept::Both { path, left } => Self { path, left },
        }
    }
}

/// The traces that were opened last, the last one first.
#[must_use]
pub fn recent() -> Vec<Recent> {
    let Ok(folder) = cache_folder() else { return Vec::new() };
    read(&folder).into_iter().map(|Entry { path, .. }| Recent { about: about(&path), path }).collect()
}

/// The command that shows what the window of `trace` showed when it was left, where it is one of those opened last.
#[must_use]
pub fn left(trace: &Path) -> Option<String> {
    let trace = std::path::absolute(trace).ok()?;
    read(&cache_folder().ok()?).into_iter().find(|entry| entry.path == trace)?.left
}

/// Takes note of how the window of `trace` is left; `None`: that is kept elsewhere.
pub fn leave(trace: &Path, command: Option<&str>) {
    // As with the list: it is a convenience.
    let _ = std::path::absolute(trace).and_then(|trace| note_left(&cache_folder()?, &trace, command));
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
    // Bundled traces are offered anyway.
    if file_of(trace).is_none() {
        return;
    }
    // Whoever opens a trace came for that, and not for this list.
    let _ = std::path::absolute(trace).and_then(|trace| note(&cache_folder()?, trace));
}

fn about(path: &Path) -> Option<(u64, Duration)> {
    let about = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    // Of a file of the future it is now.
    let age = about.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok()).unwrap_or_default();
    Some((about.len(), age))
}

fn read(folder: &Path) -> Vec<Entry> {
    let text = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        open_own(&folder.join(NAME))?.take(BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let entries: Vec<Entry> = text().ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    entries.into_iter().filter(|entry| entry.path.is_absolute()).take(MOST).collect()
}

fn note(folder: &Path, trace: PathBuf) -> io::Result<()> {
    let mut entries = read(folder);
    let known = entries.iter().position(|entry| entry.path == trace);
    let entry = known.map_or_else(|| Entry { path: trace, left: None }, |n| entries.remove(n));
    entries.insert(0, entry);
    write(folder, entries)
}

fn note_left(folder: &Path, trace: &Path, command: Option<&str>) -> io::Result<()> {
    let mut entries = read(folder);
    // Another window opened a dozen since: its list is the newer one.
    let Some(entry) = entries.iter_mut().find(|entry| entry.path == trace) else { return Ok(()) };
    entry.left = command.filter(|command| command.len() <= COMMAND).map(str::to_owned);
    write(folder, entries)
}

fn write(folder: &Path, mut entries: Vec<Entry>) -> io::Result<()> {
    // Of a name that is no text nothing can be written; the others stay.
    entries.retain(|entry| entry.path.to_str().is_some());
    entries.truncate(MOST);
    let text = serde_json::to_vec(&entries)?;
    let mut draft = Draft::within(&folder.join(NAME))?;
    draft.write_all(&text)?;
    draft.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(folder: &Path) -> Vec<String> {
        read(folder).iter().map(|entry| entry.path.to_string_lossy().into_owned()).collect()
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
    fn how_a_window_is_left_is_kept_with_its_trace_until_it_is_kept_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let left = |path: &str| read(folder.path()).into_iter().find(|e| e.path == Path::new(path)).unwrap().left;
        // A list of an older program.
        fs::write(folder.path().join(NAME), "[\"/t/1\",\"/t/2\"]").unwrap();
        note_left(folder.path(), Path::new("/t/2"), Some("orrery view /t/2 --tick 7")).unwrap();
        note(folder.path(), "/t/3".into()).unwrap();
        note(folder.path(), "/t/2".into()).unwrap();
        assert_eq!(names(folder.path()), ["/t/2", "/t/3", "/t/1"]);
        assert_eq!((left("/t/2").as_deref(), left("/t/1")), (Some("orrery view /t/2 --tick 7"), None));
        note_left(folder.path(), Path::new("/t/unknown"), Some("orrery view")).unwrap();
        note_left(folder.path(), Path::new("/t/1"), Some(&"x".repeat(COMMAND + 1))).unwrap();
        assert_eq!((names(folder.path()).len(), left("/t/1")), (3, None));
        note_left(folder.path(), Path::new("/t/2"), None).unwrap();
        assert_eq!(left("/t/2"), None);
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
