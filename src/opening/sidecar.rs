//! The file beside a trace in which its notes are kept: `t.orrery.notes.toml`.
//!
//! It appears whole or not at all, and nothing is written over that is not ours: what cannot be read as notes stays as it is. Several
//! windows may have one trace open: before it is written the file is read again, and what others did meanwhile is kept.

use super::room::Room;
use crate::files::{Draft, read_text};
use crate::trace::notes::{Notes, NotesError};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Bytes of such a file, at most.
const MOST: u64 = 16 << 20;
/// The end of its name, after the whole name of the trace.
const ENDING: &str = "notes.toml";

/// Notes of a trace in a file beside it.
#[derive(Debug)]
pub struct Sidecar {
    path: PathBuf,
    /// What the file held when it was read or written last.
    base: Notes,
}

/// Why notes cannot be read or kept. Each says where, what, and what helps.
#[derive(Debug, thiserror::Error)]
pub enum SidecarError {
    /// The file is none of ours.
    #[error("{}: {error}. It is left as it is, and notes last as long as this window; move it away to have them kept", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// What was found.
        error: NotesError,
    },
    /// The file is damaged.
    #[error("{}:{line}: {what}. The file is left as it is, and notes last as long as this window; put this line right, or move the file away", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// The file cannot be read.
    #[error("{}: the notes cannot be read: {error}. They last as long as this window", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file cannot be written.
    #[error("{}: the notes cannot be written: {error}. They last as long as this window; a copy of the trace in a folder of your own has room for them", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Sidecar {
    /// Beside the trace at this path; `None` where that is no file or folder: what comes through a pipe is gone afterwards.
    #[must_use]
    pub fn beside(trace: &Path) -> Option<Self> {
        let about = fs::metadata(trace).ok()?;
        trace.file_name()?;
        (about.is_file() || about.is_dir())
            .then(|| Self { path: trace.with_added_extension(ENDING), base: Notes::default() })
    }

    /// Beside a trace that is recorded at this path from now on.
    #[must_use]
    pub fn of_recording(trace: &Path) -> Self {
        Self { path: trace.with_added_extension(ENDING), base: Notes::default() }
    }

    /// Of a bundled trace, which is no file: in a folder of ours; `None` where there is none to be had.
    #[must_use]
    pub fn of_lesson(name: &str) -> Option<Self> {
        let room = Room::new("lessons", ENDING, MOST);
        let path = room.folder().ok()?.join(name).with_added_extension(ENDING);
        Some(Self { path, base: Notes::default() })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The notes that are kept; none where there is no such file yet.
    ///
    /// # Errors
    /// When there is a file that cannot be read as notes.
    pub fn read(&mut self) -> Result<Notes, SidecarError> {
        self.base = self.found()?.unwrap_or_default();
        Ok(self.base.clone())
    }

    /// Keeps `ours`, with what others wrote since they were read, and gives all of it. A file that would stay as it is, is not written.
    ///
    /// # Errors
    /// When the file cannot be written, or what is there now cannot be read as notes: it then stays.
    pub fn keep(&mut self, ours: &Notes) -> Result<Notes, SidecarError> {
        let found = self.found()?;
        // A file that somebody took away is written anew, with what was in it.
        let (mut theirs, mut base) = (found.clone().unwrap_or_else(|| self.base.clone()), self.base.clone());
        if let Some(about) = &ours.about {
            theirs.meet(about);
            base.meet(about);
        }
        let merged = ours.merged(&base, &theirs);
        let is_there = found.as_ref() == Some(&merged) || found.is_none() && merged.is_empty();
        if !is_there {
            self.write(&merged).map_err(|error| SidecarError::Unwritable { path: self.path.clone(), error })?;
        }
        self.base.clone_from(&merged);
        Ok(merged)
    }

    fn found(&self) -> Result<Option<Notes>, SidecarError> {
        let unreadable = |error| SidecarError::Unreadable { path: self.path.clone(), error };
        match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
            // A pipe would be waited for.
            Ok(about) if !about.is_file() => {
                return Err(unreadable(io::Error::other("found something that is no plain file")));
            }
            Ok(_) => {}
        }
        let text = match read_text(&self.path, MOST) {
            Ok(text) => text,
            // Taken away since.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        Notes::from_toml(&text).map(Some).map_err(|error| match error {
            NotesError::Damaged { line, what } => SidecarError::Damaged { path: self.path.clone(), line, what },
            error => SidecarError::NotOurs { path: self.path.clone(), error },
        })
    }

    fn write(&self, notes: &Notes) -> io::Result<()> {
        let text = notes.to_toml().map_err(io::Error::other)?;
        if text.len() as u64 > MOST {
            return Err(io::Error::other(format!("there are more than {MOST} bytes of notes")));
        }
        let mut draft = Draft::create(&self.path)?;
        draft.write_all(text.as_bytes())?;
        draft.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Position;
    use crate::trace::notes::{About, Bookmark};

    /// A trace in a folder of its own.
    fn trace() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let trace = folder.path().join("größe 長さ.orrery");
        fs::write(&trace, "not looked at").expect("written");
        (folder, trace)
    }

    fn sidecar(trace: &Path) -> Sidecar {
        Sidecar::beside(trace).expect("a file")
    }

    fn with(notes: &Notes, name: &str) -> Notes {
        let mut notes = notes.clone();
        notes.about = Some(About { title: "t".into(), references: Some(9) });
        notes.put(Bookmark { at: Position::at(3), name: name.into(), note: String::new(), of: None });
        notes
    }

    #[test]
    fn notes_are_kept_beside_the_trace_and_found_again() {
        let (folder, trace) = trace();
        let mut first = sidecar(&trace);
        assert_eq!(first.path().file_name().and_then(|n| n.to_str()), Some("größe 長さ.orrery.notes.toml"));
        let none = first.read().expect("nothing there");
        first.keep(&none).expect("nothing to write");
        assert!(!first.path().exists(), "who writes nothing leaves no file");
        let kept = first.keep(&with(&none, "🦀")).expect("kept");
        assert_eq!(sidecar(&trace).read().expect("there"), kept);
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 2, "no half-written file is left");
        // What is the same is not written again.
        let written = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).expect("there");
        let before = written(first.path());
        std::thread::sleep(std::time::Duration::from_millis(20));
        first.keep(&kept).expect("the same");
        assert_eq!(written(first.path()), before);
        for path in ["-", "/dev/null", "no such file"] {
            assert!(Sidecar::beside(Path::new(path)).is_none(), "{path}");
        }
    }

    #[test]
    fn two_windows_keep_what_the_other_wrote() {
        let (_folder, trace) = trace();
        let (mut one, mut two) = (sidecar(&trace), sidecar(&trace));
        let of_one = one.read().expect("none");
        let of_two = two.read().expect("none");
        let of_one = one.keep(&with(&of_one, "one")).expect("kept");
        let of_two = two.keep(&with(&of_two, "two")).expect("kept");
        let names = |notes: &Notes| notes.bookmarks.iter().map(|b| b.name.clone()).collect::<Vec<_>>();
        assert_eq!((names(&of_one), names(&of_two)), (vec!["one".into()], vec!["one".into(), "two".into()]));
        // Deleted by the first, and gone for both.
        let without = Notes { bookmarks: Vec::new(), ..of_one };
        assert_eq!(names(&one.keep(&without).expect("kept")), ["two"]);
        let of_two = two.keep(&of_two).expect("kept");
        assert_eq!(names(&of_two), ["two"]);
        // Somebody takes the file away: it is written anew.
        fs::remove_file(one.path()).expect("there");
        assert_eq!(names(&two.keep(&with(&of_two, "three")).expect("kept")), ["three", "two"]);
        assert_eq!(names(&sidecar(&trace).read().expect("there")), ["three", "two"]);
    }

    #[test]
    fn what_is_not_ours_or_damaged_is_told_and_never_written_over() {
        let (_folder, trace) = trace();
        let mut side = sidecar(&trace);
        for (text, words) in [
            ("[mine]\na = 1\n", "another program's file"),
            ("", "another program's file"),
            ("orrery_notes = 7\n", "version 7"),
            ("orrery_notes = 1\n[[bookmark]]\nat = 3\n", ".notes.toml:3: "),
        ] {
            fs::write(side.path(), text).expect("written");
            let told = side.read().expect_err("no notes").to_string();
            assert!(told.contains(words) && told.contains("as long as this window"), "{told}");
            assert!(side.keep(&with(&Notes::default(), "x")).is_err());
            assert_eq!(fs::read_to_string(side.path()).expect("there"), text);
        }
        // Put right meanwhile, it is written again.
        fs::write(side.path(), "orrery_notes = 1\n[[bookmark]]\nat = \"1\"\nname = \"a\"\n").expect("written");
        let kept = side.keep(&with(&Notes::default(), "x")).expect("good now");
        assert_eq!(kept.bookmarks.len(), 2);
        fs::write(side.path(), b"orrery_notes = 1 # \xff").expect("written");
        assert!(side.read().expect_err("no text").to_string().contains("UTF-8"));
        fs::remove_file(side.path()).expect("there");
        fs::create_dir(side.path()).expect("made");
        assert!(side.read().expect_err("a folder").to_string().contains("no plain file"));
    }

    #[test]
    fn where_the_file_cannot_be_written_it_is_said() {
        let (folder, trace) = trace();
        let mut side = sidecar(&trace);
        // Nobody can write to a folder that is gone, the superuser neither.
        folder.close().expect("removed");
        let told = side.keep(&with(&Notes::default(), "x")).expect_err("no folder").to_string();
        assert!(told.contains("cannot be written") && told.contains("copy of the trace"), "{told}");
    }

    #[test]
    fn a_trace_that_is_recorded_from_now_on_has_its_notes_where_they_are_found_afterwards() {
        let (_folder, trace) = trace();
        let before = Sidecar::of_recording(&trace.with_file_name("new.orrery"));
        assert_eq!(before.path().file_name().and_then(|n| n.to_str()), Some("new.orrery.notes.toml"));
        assert_eq!(Sidecar::of_recording(&trace).path(), sidecar(&trace).path());
    }
}
