//! The finder: one field in which people type what they want, and the actions, exhibits, marks, bookmarks, source lines and references
//! that the words fit. Nothing is drawn here.
//!
//! A row has words to be found by and a [`Does`]: who adds another kind of thing adds rows and, where it is none of these, a `Does`.

mod fold;
mod memory;
mod words;

pub(super) use fold::folded;

use super::desk::{Desk, Effect};
use super::keys::{Action, TABLE};
use super::task_keys::{ForTasks, for_tasks};
use crate::axis::Position;
use crate::nest::Walk;
use crate::overlay::exhibits::{ExhibitEntry, MEANINGS, Subject, offered};
use crate::tasks::metrics::Metric;
use crate::tasks::{Symbol, TaskBook, TaskLook};
use crate::trace::bundled::name_in;
use crate::units::{ByteRange, grouped, parse_seconds};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Rows that are shown, at most.
pub(super) const SHOWN: usize = 12;
/// Characters that are typed, at most: what is longer is cut, for nothing has words so long.
pub(super) const LONGEST: usize = 200;

/// Characters between what a row is called and the other words that it is found by: more than the names of commands have.
const AFTER: usize = 80;

/// What a row does when it is chosen.
#[derive(Clone)]
pub(super) enum Does {
    /// What a key does.
    Act(Action),
    /// Opens the list of words.
    Words,
    /// Shows an exhibit in the pane that keys are for.
    Show(&'static ExhibitEntry),
    /// Goes to a place.
    Go(Position),
    /// Goes to the next reference of a source line or, where there is none, to its first one.
    Line(usize),
    /// Goes to the first access of a statement of loops, by number.
    Statement(usize),
    /// Goes to the reference that is typed.
    Typed(String),
    /// Pins some bytes.
    Pin(ByteRange),
    /// Compares with the trace in a file.
    Against(PathBuf),
    /// Compares with the recording of the same program before this one.
    Earlier,
    /// Shows the hints for who is here for the first time.
    Guide,
    /// Has nothing fly, or all of it again.
    Calm,
    /// Shows the tasks of a location.
    Location(Symbol),
    /// Charts this on the left or the right axis.
    Chart(usize, Option<Metric>),
    /// Charts the locations whose names match.
    Filter(String),
    /// Chooses the task of this id.
    Task(String),
}

/// One row.
#[derive(Clone)]
pub(super) struct Row {
    /// What it is found by, and shown as.
    pub(super) words: String,
    /// What stands at its right: keys, a reference.
    pub(super) beside: String,
    /// The words as they are compared.
    key: String,
    pub(super) does: Does,
}

impl Row {
    pub(super) fn new(words: impl Into<String>, beside: impl Into<String>, does: Does) -> Self {
        let words = words.into();
        Self { key: folded(&words), words, beside: beside.into(), does }
    }

    /// Found by other words too, after all that are called so.
    fn or_found_by(mut self, words: &str) -> Self {
        if !words.is_empty() {
            self.key.extend(std::iter::repeat_n(' ', AFTER));
            self.key.push_str(&folded(words));
        }
        self
    }
}

/// See the module.
pub(super) struct Finder {
    rows: Vec<Row>,
    typed: String,
    /// The rows that fit, best first, as many as are shown.
    found: Vec<Row>,
    /// How many fit.
    pub(super) fit: usize,
    /// Which of those that are shown is chosen.
    pub(super) chosen: usize,
    /// It is of tasks.
    tasks: bool,
}

impl Finder {
    /// With nothing typed.
    pub(super) fn new(rows: Vec<Row>, tasks: bool) -> Self {
        let mut finder = Self { rows, typed: String::new(), found: Vec::new(), fit: 0, chosen: 0, tasks };
        finder.find();
        finder
    }

    /// What is typed.
    pub(super) fn typed(&self) -> &str {
        &self.typed
    }

    /// Takes what is typed now; whether that is something else than before.
    pub(super) fn type_in(&mut self, text: &str) -> bool {
        let text: String = text.chars().take(LONGEST).collect();
        let is_new = text != self.typed;
        if is_new {
            self.typed = text;
            self.find();
        }
        is_new
    }

    /// The rows that fit best.
    pub(super) fn found(&self) -> &[Row] {
        &self.found
    }

    /// Chooses the row after this one (`true`) or before it, round and round.
    pub(super) fn step(&mut self, down: bool) {
        let rows = self.found.len();
        if rows > 0 {
            self.chosen = (self.chosen + if down { 1 } else { rows - 1 }) % rows;
        }
    }

    fn find(&mut self) {
        self.chosen = 0;
        let key = folded(&self.typed);
        let asked: Vec<&str> = key.split_whitespace().collect();
        let mut fitting: Vec<(usize, usize)> =
            (0..).zip(&self.rows).filter_map(|(n, row)| Some((rank(&row.key, &asked)?, n))).collect();
        self.fit = fitting.len();
        // Ten thousand rows need not be in order for the first few.
        if fitting.len() > SHOWN {
            fitting.select_nth_unstable(SHOWN);
            fitting.truncate(SHOWN);
        }
        fitting.sort_unstable();
        self.found = fitting.iter().map(|(_, n)| self.rows[*n].clone()).collect();
        if self.tasks {
            self.found.truncate(SHOWN.saturating_sub(3));
            let typed = typed_of_tasks(self.typed.trim());
            self.fit += typed.len();
            // A time is a time; what else is typed is more likely the name of something.
            let at = if parse_seconds(&self.typed).is_some() { 0 } else { self.found.len() };
            self.found.splice(at..at, typed);
        } else if let Some(place) = place_in(self.typed.trim()) {
            let words = format!("go to {}", place.1);
            self.found.insert(0, Row::new(words, "", Does::Typed(place.0)));
            self.found.truncate(SHOWN);
            self.fit += 1;
        }
    }
}

/// How well words fit, 0 = best; `None` = one of them does not occur. What is at the beginning is best, then what begins a word.
fn rank(key: &str, asked: &[&str]) -> Option<usize> {
    let of = |word: &&str| {
        let first = key.find(*word)?;
        let begins = |at: usize| at == 0 || !key.as_bytes()[at - 1].is_ascii_alphanumeric();
        let at = key.match_indices(*word).map(|(at, _)| at).find(|at| begins(*at));
        // Within a word is worse than anywhere at the beginning of one.
        Some(at.map_or(first.min(999) + 1000, |at| at.min(999)))
    };
    asked.iter().map(of).sum()
}

/// What is typed as a place, and how it is told: `2,613`, `50%`.
fn place_in(typed: &str) -> Option<(String, String)> {
    let plain: String = typed.chars().filter(|c| !matches!(c, ',' | ' ' | '_' | '\'')).collect();
    let number = plain.strip_suffix('%').unwrap_or(&plain);
    let at: Position = number.parse().ok()?;
    let words = if number.len() < plain.len() {
        format!("{number} % of the trace")
    } else {
        format!("reference {}", exact(at))
    };
    Some((plain, words))
}

/// What can be done with what is typed where there are tasks.
fn typed_of_tasks(typed: &str) -> Vec<Row> {
    if typed.is_empty() {
        return Vec::new();
    }
    if parse_seconds(typed).is_some() || typed.ends_with('%') {
        return vec![Row::new(format!("go to {typed}"), "", Does::Typed(typed.to_owned()))];
    }
    vec![
        Row::new(format!("chart the locations that match {typed}"), "filter", Does::Filter(typed.to_owned())),
        Row::new(format!("choose the task {typed}"), "id", Does::Task(typed.to_owned())),
    ]
}

/// A position with its thousands apart: `2,613.5`.
pub(super) fn exact(at: Position) -> String {
    let words = at.to_string();
    let part = words.split_once('.').map_or(String::new(), |(_, part)| format!(".{part}"));
    format!("{}{part}", grouped(at.tick()))
}

/// What a key does to tasks.
fn task_words(action: Action) -> String {
    let words = match action {
        Action::Step(by) if by < 0 => "the task before this at this location",
        Action::Miss(false) => "the task before this at this location",
        Action::Step(_) | Action::Miss(_) => "the next task at this location",
        Action::Line(true) => "the first part of this task",
        Action::Line(false) => "what this task is a part of",
        Action::Undo(true) => "the task that was chosen after this",
        Action::Undo(false) | Action::GoBack => "the task that was chosen before this",
        Action::Finder => "find a location, a metric or a task; filter locations",
        Action::LookAtPin => "come closer to the chosen task",
        action => return words::of(action),
    };
    words.to_owned()
}

/// What can be found of tasks: locations, what charts tell, all locations again.
fn of_tasks(book: &TaskBook, look: &TaskLook) -> Vec<Row> {
    let name = |location| book.set().locations().word(location);
    let mut rows: Vec<Row> = Vec::new();
    if !look.filter.is_empty() {
        rows.push(Row::new("chart all locations", "no filter", Does::Filter(String::new())));
    }
    for (axis, side) in ["left", "right"].into_iter().enumerate() {
        for metric in Metric::ALL.map(Some).into_iter().chain([None]) {
            let words = metric.map_or("nothing", Metric::words);
            let beside = metric.map_or("", Metric::name);
            rows.push(Row::new(format!("{side} axis: {words}"), beside, Does::Chart(axis, metric)).or_found_by(beside));
        }
    }
    let location = |&at: &Symbol| Row::new(name(at), "location", Does::Location(at)).or_found_by("location");
    rows.extend(book.listed().iter().map(location));
    rows
}

/// States of a graph and statements of loops, found by their text, their line or their state.
fn of_loops(walk: &Walk) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let numbered = || (0..).zip(walk.statements());
    let mut known = BTreeSet::new();
    for (number, statement) in numbered().filter(|(_, statement)| !statement.state.is_empty()) {
        if known.insert(&statement.state) {
            rows.push(Row::new(format!("go to {}", statement.state.replace('`', "")), "", Does::Statement(number)));
        }
    }
    rows.extend(numbered().map(|(number, statement)| {
        let text = if statement.text.is_empty() { statement.name.trim_matches('`') } else { &statement.text };
        let place = match statement.line {
            0 => statement.state.clone(),
            line => format!("{}:{line}", statement.file),
        };
        Row::new(format!("go to {text}"), &place, Does::Statement(number)).or_found_by(&place)
    }));
    rows
}

impl Desk {
    /// All that can be found now.
    fn findable(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let tasks = self.studio().tasks().is_some();
        for (chord, action) in TABLE.iter().flat_map(|row| row.chords) {
            let words = match for_tasks(*action) {
                ForTasks::Nothing if tasks => continue,
                // Rows of several keys say what each of them does.
                ForTasks::Does(_) if tasks => task_words(*action),
                _ => words::of(*action),
            };
            // A second key of an action is no second action.
            if rows.iter().all(|row: &Row| !matches!(row.does, Does::Act(known) if known == *action)) {
                let row = Row::new(words, chord.words(), Does::Act(*action));
                rows.push(row.or_found_by(words::also(*action)));
            }
        }
        rows.extend(
            offered(Subject::of(self.studio()))
                .map(|row| Row::new(format!("show {}: {}", row.name, row.what), "", Does::Show(row))),
        );
        if let Some(book) = self.studio().tasks() {
            rows.extend(of_tasks(book, self.session.task_look()));
            return rows;
        }
        if self.has_earlier {
            rows.push(Row::new("compare with the recording before this one", "", Does::Earlier));
        }
        rows.extend(self.others.iter().map(|path| {
            if let Some(lesson) = name_in(path) {
                return Row::new(format!("compare with {lesson}"), "lesson", Does::Against(path.clone()));
            }
            let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
            Row::new(format!("compare with {name}"), path.to_string_lossy(), Does::Against(path.clone()))
        }));
        rows.push(Row::new("show me around: five hints", "", Does::Guide));
        let calm = if self.session.calm() { "motion: what moves flies" } else { "reduced motion: nothing flies" };
        rows.push(Row::new(calm, "", Does::Calm));
        let tables = self.studio().tables();
        let go = |kind: &str, name: &str, at: Position| {
            // "bookmark at 2,613" says already what it is.
            let kind = if name.starts_with(kind) { String::new() } else { format!("{kind} ") };
            Row::new(format!("go to {kind}{name}"), exact(at), Does::Go(at))
        };
        rows.extend(self.notes.within(self.transport.axis()).iter().map(|b| go("bookmark", &b.name, b.at)));
        rows.extend(tables.marks.iter().map(|mark| go("mark", &mark.name, Position::at(mark.reference))));
        // By the word alone: what is told of it has words of all kinds.
        let meaning = |(word, what): &(&str, &str)| Row {
            key: folded(word),
            ..Row::new(format!("{word}: {what}"), "word", Does::Words)
        };
        rows.extend(MEANINGS.iter().map(meaning));
        // Of loops the first access of each statement is known, before the line is met.
        if let Some(walk) = self.studio().walk() {
            rows.extend(of_loops(walk));
            return rows;
        }
        let places = self.studio().timeline().lines().places();
        rows.extend((0..).zip(places).filter_map(|(row, place)| {
            let l = tables.locations.get(*place)?;
            Some(Row::new(format!("go to line {}:{}  {}", l.file, l.line, l.text), l.function.clone(), Does::Line(row)))
        }));
        rows
    }

    /// Opens the finder, or closes it.
    pub(super) fn turn_finder(&mut self) {
        (self.sheet, self.words) = (false, false);
        self.finder = match self.finder {
            Some(_) => None,
            None => Some(Finder::new(self.findable(), self.studio().tasks().is_some())),
        };
    }

    /// Closes the finder and does what a row says.
    pub(super) fn found(&mut self, n: usize, now: f64) -> Option<Effect> {
        let row = self.finder.take()?.found.into_iter().nth(n)?;
        match row.does {
            Does::Act(action) => return self.apply(action, now),
            Does::Show(exhibit) => self.show(exhibit, now),
            Does::Words => (self.words, self.sheet) = (true, false),
            Does::Go(at) => {
                self.transport.jump(at);
                self.say(row.words.trim_start_matches("go to "), now);
            }
            Does::Line(line) => self.seek_line_round(line, now),
            Does::Statement(number) => match self.studio().walk().and_then(|walk| walk.first_of(number)) {
                Some(tick) => {
                    self.transport.jump(Position::at(tick));
                    self.say(row.words.trim_start_matches("go to "), now);
                }
                None => self.say("this statement makes no access", now),
            },
            Does::Typed(text) => self.go_to(&text, now),
            Does::Pin(bytes) => self.pin(Some(bytes)),
            Does::Against(path) => {
                self.say(format!("reading {}", path.display()), now);
                return Some(Effect::Against(path));
            }
            Does::Earlier => return Some(Effect::Earlier),
            Does::Guide => self.show_around(),
            Does::Location(location) => self.session.task_look_mut().location = Some(location),
            Does::Chart(axis, metric) => self.session.task_look_mut().metrics[axis] = metric,
            Does::Filter(words) => self.session.task_look_mut().filter = words,
            Does::Task(id) => match self.studio().tasks().and_then(|book| book.set().find(&id)) {
                Some(task) => self.choose_task(task),
                None => self.say(format!("there is no task {id}"), now),
            },
            Does::Calm => {
                self.session.set_calm(!self.session.calm());
                self.say(if self.session.calm() { "nothing flies: what moves fades" } else { "what moves flies" }, now);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
