//! What people write about a trace: bookmarks with notes, and how the window was left. As values, and as the text of the file beside
//! the trace; `opening::Sidecar` reads and writes that file.
//!
//! ```toml
//! orrery_notes = 1
//! left = "orrery view t.orrery --tick 2613"
//!
//! [trace]
//! title = "16x16 matrix multiply"
//! references = 8448
//!
//! [[bookmark]]
//! at = "2613.5"
//! name = "the first row is done"
//! note = "B has left L1 by now."
//! ```

use crate::axis::Position;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the first line of such a file says.
const VERSION: i64 = 1;
/// Its key, which no other program's file has.
const KEY: &str = "orrery_notes";
/// Bookmarks of one trace, at most: more would be marks.
pub const MOST_BOOKMARKS: usize = 10_000;
/// Characters of a bookmark's name that can be typed.
pub const LONGEST_NAME: usize = 200;
/// Characters of a note that can be typed.
pub const LONGEST_NOTE: usize = 20_000;

/// What tells a trace from another one that has its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The title that the trace gives itself.
    #[serde(default)]
    pub title: String,
    /// Its references; `None` = it was still growing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<u64>,
}

impl About {
    /// Whether both may be of one trace: of one that was still growing, and had no title yet, nothing is known.
    #[must_use]
    pub fn fits(&self, other: &Self) -> bool {
        if [self, other].contains(&&Self::default()) {
            return true;
        }
        let same = self.references.zip(other.references).is_none_or(|(a, b)| a == b);
        self.title == other.title && same
    }
}

/// A place that somebody named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bookmark {
    /// Where.
    #[serde(with = "words")]
    pub at: Position,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// What else is to be said; empty = nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The trace in which it was set, where that is not the one of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<About>,
}

/// Positions as words: numbers of TOML have 63 bits, or no exact parts.
mod words {
    use crate::axis::Position;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(at: &Position, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(at)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Position, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

/// All that is written about a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Of which trace it is; `None` = nothing was written yet.
    pub about: Option<About>,
    /// The command that shows what the window showed when it was left.
    pub left: Option<String>,
    /// In order of place and name; no two have both in common.
    pub bookmarks: Vec<Bookmark>,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct File {
    orrery_notes: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left: Option<String>,
    #[serde(default)]
    trace: About,
    #[serde(default)]
    bookmark: Vec<Bookmark>,
}

/// Why a text is not taken for notes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotesError {
    /// It is something else.
    #[error("found no line `orrery_notes = 1`, so it is another program's file")]
    NotOurs,
    /// A newer version wrote it.
    #[error("found notes of version {0}; this orrery knows version 1")]
    Newer(i64),
    /// It is damaged.
    #[error("{what}")]
    Damaged {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
}

impl Notes {
    /// Whether there is nothing to keep.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bookmarks.is_empty() && self.left.is_none()
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// When it is no such text.
    pub fn from_toml(text: &str) -> Result<Self, NotesError> {
        let damaged = |error: &toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = 1 + text.as_bytes()[..start].iter().filter(|b| **b == b'\n').count();
            NotesError::Damaged { line, what: error.message().replace('\n', "; ") }
        };
        let table: toml::Table = match text.parse() {
            Ok(table) => table,
            // What cannot be read may be ours all the same.
            Err(error) if text.lines().any(|line| line.trim_start().starts_with(KEY)) => return Err(damaged(&error)),
            Err(_) => return Err(NotesError::NotOurs),
        };
        match table.get(KEY).and_then(toml::Value::as_integer) {
            None => return Err(NotesError::NotOurs),
            Some(VERSION) => {}
            Some(other) => return Err(NotesError::Newer(other)),
        }
        let File { left, trace, bookmark, .. } = toml::from_str(text).map_err(|error| damaged(&error))?;
        if bookmark.len() > MOST_BOOKMARKS {
            let what = format!("found {} bookmarks; at most {MOST_BOOKMARKS} are read", bookmark.len());
            return Err(NotesError::Damaged { line: text.lines().count(), what });
        }
        let mut notes = Self { about: Some(trace), left, bookmarks: Vec::new() };
        bookmark.into_iter().for_each(|bookmark| notes.put(bookmark));
        Ok(notes)
    }

    /// As text.
    ///
    /// # Errors
    /// Where a number of references is past what TOML has: 2^63.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let file = File {
            orrery_notes: VERSION,
            left: self.left.clone(),
            trace: self.about.clone().unwrap_or_default(),
            bookmark: self.bookmarks.clone(),
        };
        let head = "# Bookmarks and notes about the trace beside this file. Orrery writes it anew when they change.\n";
        Ok(format!("{head}{}", toml::to_string_pretty(&file)?))
    }

    /// Adds a bookmark, or puts it in place of the one of its place and name.
    pub fn put(&mut self, bookmark: Bookmark) {
        let key = |b: &Bookmark| (b.at, b.name.clone());
        match self.bookmarks.binary_search_by_key(&key(&bookmark), key) {
            Ok(at) => self.bookmarks[at] = bookmark,
            Err(at) => self.bookmarks.insert(at, bookmark),
        }
    }

    /// Makes these the notes of a trace. Where they were of another one, each bookmark says so from now on, and how the window was left
    /// is forgotten. True: they were.
    pub fn meet(&mut self, about: &About) -> bool {
        let other = self.about.replace(about.clone()).filter(|old| !old.fits(about));
        let Some(other) = other else { return false };
        self.left = None;
        for bookmark in &mut self.bookmarks {
            // One that was set in this trace is at home again.
            bookmark.of = match bookmark.of.take() {
                Some(of) if of.fits(about) => None,
                None => Some(other.clone()),
                of => of,
            };
        }
        true
    }

    /// These and what somebody else wrote meanwhile, both having begun with `base`: each change of either is in it, and of two changes
    /// of one thing that of these.
    #[must_use]
    pub fn merged(&self, base: &Self, theirs: &Self) -> Self {
        fn by_key(notes: &Notes) -> BTreeMap<(Position, &str), &Bookmark> {
            notes.bookmarks.iter().map(|b| ((b.at, b.name.as_str()), b)).collect()
        }
        let [ours, base_of, theirs_of] = [self, base, theirs].map(by_key);
        let mut all: Vec<_> = ours.keys().chain(theirs_of.keys()).copied().collect();
        all.sort_unstable();
        all.dedup();
        let kept = |key| {
            let (our, before, their) = (ours.get(&key), base_of.get(&key), theirs_of.get(&key));
            // Whoever did not touch it gives way to who did.
            if our == before { their } else { our }.map(|bookmark| (*bookmark).clone())
        };
        Self {
            about: self.about.clone().or_else(|| theirs.about.clone()),
            left: if self.left == base.left { theirs.left.clone() } else { self.left.clone() },
            bookmarks: all.into_iter().filter_map(kept).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bookmark(at: u64, name: &str) -> Bookmark {
        Bookmark { at: Position::at(at), name: name.into(), note: String::new(), of: None }
    }

    fn notes(bookmarks: &[(u64, &str)]) -> Notes {
        let mut notes = Notes { about: Some(About { title: "t".into(), references: Some(1000) }), ..Notes::default() };
        bookmarks.iter().for_each(|(at, name)| notes.put(bookmark(*at, name)));
        notes
    }

    fn names(notes: &Notes) -> Vec<&str> {
        notes.bookmarks.iter().map(|b| b.name.as_str()).collect()
    }

    #[test]
    fn what_is_not_ours_is_told_from_what_is_damaged() {
        for text in ["", "a = 1", "just words\n", "[orrery]\nnotes = 1", "orrery_notes = \"1\"", "= orrery_notes"] {
            assert_eq!(Notes::from_toml(text), Err(NotesError::NotOurs), "{text}");
        }
        assert_eq!(Notes::from_toml("orrery_notes = 2\n[x]\n"), Err(NotesError::Newer(2)));
        for (text, expect, word) in [
            ("orrery_notes = 1\nleft = \n", 2, "string"),
            ("orrery_notes = 1\n\n[[bookmark]]\nat = \"-3\"\nname = \"x\"\n", 4, "2613.5"),
            ("orrery_notes = 1\n[[bookmark]]\nname = \"x\"\n", 2, "at"),
            ("orrery_notes = 1\n[[bookmark]]\nat = \"1\"\nname = \"cut", 4, "string"),
        ] {
            let Err(NotesError::Damaged { line, what }) = Notes::from_toml(text) else { panic!("{text} is damaged") };
            assert!(line == expect && what.contains(word), "{text}: {line}: {what}");
        }
        let many = format!("orrery_notes = 1\n{}", "[[bookmark]]\nat = \"1\"\n".repeat(MOST_BOOKMARKS + 1));
        assert!(matches!(Notes::from_toml(&many), Err(NotesError::Damaged { what, .. }) if what.contains("10001")));
    }

    #[test]
    fn a_trace_of_the_same_name_is_told_from_the_one_that_the_notes_are_of() {
        let mut of_this = notes(&[(1, "a"), (2000, "b")]);
        of_this.left = Some("orrery view t --tick 5".into());
        let about = |references| About { title: "t".into(), references };
        for same in [Some(1000), None] {
            assert!(!of_this.clone().meet(&about(same)));
        }
        assert!(of_this.meet(&about(Some(999))));
        assert_eq!((of_this.left.as_ref(), of_this.bookmarks[1].of.as_ref()), (None, Some(&about(Some(1000)))));
        // The first trace is back.
        assert!(of_this.meet(&about(Some(1000))));
        assert!(of_this.bookmarks.iter().all(|b| b.of.is_none()));
    }

    #[test]
    fn of_two_windows_all_bookmarks_stay_but_those_that_one_of_them_deleted() {
        let base = notes(&[(1, "a"), (2, "b"), (3, "c")]);
        let mut ours = notes(&[(1, "a"), (3, "c"), (4, "ours")]);
        ours.bookmarks[1].note = "from here".into();
        let mut theirs = notes(&[(1, "a"), (2, "b"), (3, "c"), (4, "theirs"), (0, "first")]);
        theirs.bookmarks[1].note = "from there".into();
        theirs.left = Some("left there".into());
        let both = ours.merged(&base, &theirs);
        assert_eq!(names(&both), ["first", "a", "c", "ours", "theirs"]);
        assert_eq!((both.bookmarks[1].note.as_str(), both.bookmarks[2].note.as_str()), ("from there", "from here"));
        assert_eq!(both.left.as_deref(), Some("left there"));
        // What was deleted there is deleted here, unless it was changed here.
        let emptied = notes(&[]);
        assert_eq!(names(&ours.merged(&base, &emptied)), ["c", "ours"]);
    }

    fn any_notes() -> impl Strategy<Value = Notes> {
        let text = "\\PC{0,12}|[\\n\\t\"'\\\\#\u{1b}é長🦀]{0,9}";
        let about = (text, proptest::option::of(0u64..1 << 60));
        let about = about.prop_map(|(title, references)| About { title, references });
        let at = (any::<u32>(), 0u32..1 << 20)
            .prop_map(|(tick, part)| Position::at(tick.into()).plus(f64::from(part) / 1048576.0));
        let one = (at, text, text, proptest::option::of(about.clone()));
        let one = one.prop_map(|(at, name, note, of)| Bookmark { at, name, note, of });
        let left = proptest::option::of(text.prop_map(String::from));
        (about, left, proptest::collection::vec(one, 0..9)).prop_map(|(about, left, all)| {
            let mut notes = Notes { about: Some(about), left, bookmarks: Vec::new() };
            all.into_iter().for_each(|bookmark| notes.put(bookmark));
            notes
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(notes in any_notes()) {
            let text = notes.to_toml().expect("below 2^63");
            prop_assert_eq!(Notes::from_toml(&text), Ok(notes), "{}", text);
        }

        #[test]
        fn any_text_is_answered(text in "(orrery_notes = 1\n)?\\PC{0,60}", cut in 0usize..200) {
            let _ = Notes::from_toml(&text);
            let whole = notes(&[(1, "a"), (2, "b")]).to_toml().expect("small");
            let _ = Notes::from_toml(&whole[..whole.floor_char_boundary(cut)]);
        }

        #[test]
        fn who_changed_nothing_takes_what_the_other_did(base in any_notes(), theirs in any_notes()) {
            let merged = base.merged(&base, &theirs);
            prop_assert_eq!(&merged.bookmarks, &theirs.bookmarks);
            prop_assert_eq!(&theirs.merged(&base, &base).bookmarks, &theirs.bookmarks);
        }
    }
}
