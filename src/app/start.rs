//! The start page without its window: what can be opened, what of it is chosen, what is typed.

use super::complete::{self, Completion, Name, completions};
use super::traces::Wanted;
use super::words::split;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A trace that was opened before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentFile {
    /// Its file.
    pub path: PathBuf,
    /// Bytes, and how long ago it was written; `None` where it is not there any more.
    pub about: Option<(u64, Duration)>,
}

/// A bundled trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lesson {
    /// Its name.
    pub name: &'static str,
    /// What to look for.
    pub look: &'static str,
}

/// What there is to be opened.
pub struct Offer {
    /// Traces that were opened before, the last one first; asked for each time that the page opens.
    pub recent: Box<dyn FnMut() -> Vec<RecentFile>>,
    /// Bundled traces.
    pub lessons: Vec<Lesson>,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// Nobody of this user was here before.
    pub is_first: bool,
    /// Whether a file is the source of a program, which is to be recorded and not opened.
    pub is_source: fn(&Path) -> bool,
}

/// What can be typed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Field {
    /// The path of a trace.
    #[default]
    Path,
    /// A program and its arguments.
    Program,
}

/// What the page asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asks {
    /// A trace.
    Open(Wanted),
    /// Back to the trace that is open; where none is, the end.
    Back,
}

/// The start page.
#[derive(Default)]
pub struct StartPage {
    /// Whether it is seen.
    pub open: bool,
    /// It was not drawn since it was opened.
    pub is_new: bool,
    /// Traces that were opened before.
    pub recent: Vec<RecentFile>,
    /// Bundled traces.
    pub lessons: Vec<Lesson>,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// What stands in the field for a path.
    pub typed: String,
    /// What stands in the field for a program; it stays, to be recorded once more.
    pub program: String,
    /// The program that was recorded last, and its arguments.
    pub recorded: Option<Vec<String>>,
    /// Which of them has the keys.
    pub field: Field,
    /// What the path that is typed may become; where there is any, it stands in place of the recent ones.
    pub completions: Vec<Completion>,
    /// The entry that Enter opens: first the recent ones or completions, then the lessons. `None`: what is typed.
    pub chosen: Option<usize>,
    /// What went wrong.
    pub message: Option<String>,
    /// What was pressed behind what was typed in the same frame.
    pub waiting: Vec<egui::Event>,
}

impl StartPage {
    /// Opens the page with what there is now.
    pub fn show(&mut self, recent: Vec<RecentFile>) {
        self.recent = recent;
        self.typed.clear();
        self.completions.clear();
        self.message = None;
        self.waiting.clear();
        self.turn_to(Field::Path);
        (self.open, self.is_new) = (true, true);
    }

    /// How many entries there are.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.files() + self.lessons.len()
    }

    /// How many of them are files: recent ones or completions.
    #[must_use]
    pub fn files(&self) -> usize {
        if self.completions.is_empty() { self.recent.len() } else { self.completions.len() }
    }

    /// Chooses the next entry, or (`false`) the one before. Above the first one is the field.
    pub fn step(&mut self, on: bool) {
        let last = self.entries().checked_sub(1);
        self.chosen = match (self.chosen, on) {
            (None, true) => last.map(|_| 0),
            (None | Some(0), false) => None,
            (Some(at), true) => last.map(|last| (at + 1).min(last)),
            (Some(at), false) => Some(at - 1),
        };
    }

    /// Gives a field the keys. Where nothing is typed for a path, Enter opens the first entry.
    pub fn turn_to(&mut self, field: Field) {
        self.field = field;
        let first = field == Field::Path && self.typed.is_empty() && self.entries() > 0;
        self.chosen = first.then_some(0);
    }

    /// Proposes to record the program of a source file that somebody wanted to open.
    pub fn propose(&mut self, source: &Path) {
        let path = source.to_string_lossy();
        self.program = if path.contains(char::is_whitespace) { format!("'{path}'") } else { path.into_owned() };
        self.turn_to(Field::Program);
        let name = source.file_name().unwrap_or_default().to_string_lossy();
        self.message = Some(format!("{name} is a program's source: Enter compiles it, runs it and shows what it does"));
    }

    /// Keeps what is recorded, for the next time.
    pub(super) fn keep(&mut self, wanted: &Wanted) {
        if let Wanted::Program(words) = wanted {
            self.recorded = Some(words.clone());
        }
    }

    /// What was recorded last, once more.
    pub(super) fn again(&self) -> Option<Wanted> {
        self.recorded.clone().map(Wanted::Program)
    }

    /// Gives the other field the keys.
    pub fn turn(&mut self) {
        self.turn_to(match self.field {
            Field::Path => Field::Program,
            Field::Program => Field::Path,
        });
    }

    /// Something was typed, so that is what is meant; `names` tells what a folder holds.
    pub fn type_in(&mut self, names: &dyn Fn(&Path) -> Vec<Name>) {
        if self.field == Field::Path {
            self.completions = completions(&self.typed, self.home.as_deref(), names);
        }
        self.turn_to(self.field);
        self.message = None;
    }

    /// Tab: as much of the path as is sure. Where nothing more can be said of a path, the other field.
    pub fn tab(&mut self, names: &dyn Fn(&Path) -> Vec<Name>) {
        match complete::common(&self.completions).filter(|sure| self.field == Field::Path && *sure != self.typed) {
            Some(sure) => {
                self.typed = sure;
                self.type_in(names);
            }
            // Which of them is meant is for who types to say.
            None if self.field == Field::Path && self.completions.len() > 1 => {}
            None => self.turn(),
        }
    }

    /// What stands in a field.
    pub fn text(&mut self, field: Field) -> &mut String {
        match field {
            Field::Path => &mut self.typed,
            Field::Program => &mut self.program,
        }
    }

    /// What an entry stands for.
    #[must_use]
    pub fn wanted(&self, entry: usize) -> Option<Wanted> {
        match entry.checked_sub(self.files()) {
            Some(lesson) => self.lessons.get(lesson).map(|lesson| Wanted::Lesson(lesson.name.into())),
            None => {
                let recent = self.recent.get(entry).map(|file| &file.path);
                let path = self.completions.get(entry).map(|found| &found.path).or(recent);
                path.cloned().map(Wanted::File)
            }
        }
    }

    /// A click on an entry: what it stands for. A folder is gone into.
    pub fn choose(&mut self, entry: usize, names: &dyn Fn(&Path) -> Vec<Name>) -> Option<Asks> {
        if let Some(folder) = self.completions.get(entry).filter(|found| found.is_folder) {
            self.typed.clone_from(&folder.text);
            self.turn_to(Field::Path);
            self.type_in(names);
            return None;
        }
        self.wanted(entry).map(Asks::Open)
    }

    /// Enter: what is chosen, else what is typed. What is no command line is said.
    pub fn enter(&mut self, names: &dyn Fn(&Path) -> Vec<Name>) -> Option<Asks> {
        let wanted = match (self.chosen, self.field) {
            (Some(entry), _) => return self.choose(entry, names),
            (None, Field::Path) => path_of(&self.typed, self.home.as_deref()).map(Wanted::File),
            (None, Field::Program) => match split(&self.program, self.home.as_deref()) {
                Ok(words) => Some(Wanted::Program(words)),
                Err(words) => {
                    self.message = Some(words);
                    None
                }
            },
        };
        wanted.map(Asks::Open)
    }

    /// Escape: what is typed goes first.
    pub fn escape(&mut self) -> Option<Asks> {
        let field = self.field;
        if self.text(field).is_empty() {
            return Some(Asks::Back);
        }
        self.text(field).clear();
        self.type_in(&|_| Vec::new());
        None
    }
}

/// The path that somebody typed or pasted: `~` is the home folder; quotes, `file://` and space around it are none of it.
#[must_use]
pub fn path_of(typed: &str, home: Option<&Path>) -> Option<PathBuf> {
    let mut text = typed.trim();
    for quote in ['"', '\''] {
        text = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)).unwrap_or(text);
    }
    if text.is_empty() {
        return None;
    }
    if let Some(address) = text.strip_prefix("file://") {
        // A host may stand before the path: this one, as file managers have it.
        let path = address.strip_prefix("localhost").unwrap_or(address);
        return Some(bytes_path(decoded(path)));
    }
    Some(match (text.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(text),
    })
}

/// `%20` and the like as the bytes that they stand for; what is no such sign stays.
fn decoded(text: &str) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, more @ ..] = rest {
        let code = more.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = code.filter(|hex| !hex.starts_with('+')).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &more[2..] } else { more };
    }
    out
}

#[cfg(unix)]
fn bytes_path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn bytes_path(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// A length as people read it.
#[must_use]
pub fn size(bytes: u64) -> String {
    let scaled = |unit: f64| bytes as f64 / unit;
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.0} kB", scaled(1e3)),
        1_000_000..1_000_000_000 => format!("{:.1} MB", scaled(1e6)),
        _ => format!("{:.1} GB", scaled(1e9)),
    }
}

/// How long ago, in one unit.
#[must_use]
pub fn ago(age: Duration) -> String {
    let minutes = age.as_secs() / 60;
    let of = |n: u64, unit: &str| format!("{n} {unit}{} ago", if n == 1 { "" } else { "s" });
    match minutes {
        0 => "just now".into(),
        1..60 => of(minutes, "minute"),
        60..1_440 => of(minutes / 60, "hour"),
        1_440..43_200 => of(minutes / 1_440, "day"),
        43_200..525_600 => of(minutes / 43_200, "month"),
        _ => of(minutes / 525_600, "year"),
    }
}

#[cfg(test)]
pub(super) mod tests;
