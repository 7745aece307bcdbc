//! Tasks as text that other programs read: a JSON object a line, and the events of Chrome's tracing, which Perfetto opens too.

use super::DaisenError;
use crate::files::Draft;
use crate::tasks::lanes::rows;
use crate::tasks::{Milestone, TaskIndex, TaskSet};
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// As what text tasks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskText {
    /// A JSON object a line.
    Lines,
    /// An object of Chrome's tracing, for Perfetto and `chrome://tracing`.
    Chrome,
}

impl TaskText {
    /// All of them, and what each is called on the command line.
    pub const ALL: [(Self, &str); 2] = [(Self::Lines, "jsonl"), (Self::Chrome, "chrome")];

    /// Writes all tasks of a set.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(self, set: &TaskSet, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Lines => lines(set, out),
            Self::Chrome => chrome(set, out),
        }
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    /// [`DaisenError::Write`].
    pub fn write_file(self, set: &TaskSet, path: &Path) -> Result<(), DaisenError> {
        let draft = Draft::create(path).map_err(DaisenError::Write)?;
        let mut out = BufWriter::new(draft.file());
        self.write(set, &mut out).and_then(|()| out.flush()).map_err(DaisenError::Write)?;
        drop(out);
        draft.finish().map_err(DaisenError::Write)
    }
}

#[derive(Serialize)]
struct Line<'a> {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    category: &'a str,
    action: &'a str,
    location: &'a str,
    /// Seconds.
    start: f64,
    end: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    milestones: Vec<Told<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<Told<'a>>,
}

#[derive(Serialize)]
struct Told<'a> {
    time: f64,
    #[serde(skip_serializing_if = "str::is_empty")]
    category: &'a str,
    what: &'a str,
}

fn told<'a>(set: &'a TaskSet, all: &[Milestone]) -> Vec<Told<'a>> {
    let words = set.words();
    let one = |milestone: &Milestone| Told {
        time: set.seconds(milestone.time),
        category: words.word(milestone.category),
        what: words.word(milestone.what),
    };
    all.iter().map(one).collect()
}

fn lines(set: &TaskSet, out: &mut impl Write) -> io::Result<()> {
    for index in (0..).take(set.len()) {
        let task = set.task(index);
        let dangling = || set.dangling_parent(index).map(str::to_owned);
        let line = Line {
            id: set.id(index),
            parent: task.parent.map(|parent| set.id(parent)).or_else(dangling),
            category: task.category,
            action: task.action,
            location: set.locations().word(task.location),
            start: set.seconds(task.start),
            end: set.seconds(task.end),
            milestones: told(set, set.milestones(index)),
            tags: told(set, set.tags(index)),
        };
        serde_json::to_writer(&mut *out, &line)?;
        writeln!(out)?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    cat: &'a str,
    ph: &'a str,
    /// Microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: u32,
    tid: u32,
    args: serde_json::Value,
}

/// A location is a process; tasks that overlap are on threads of their own, as events of one thread must not.
fn chrome(set: &TaskSet, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut first = true;
    let mut event = |out: &mut dyn Write, event: &Event<'_>| -> io::Result<()> {
        write!(out, "{}", if std::mem::take(&mut first) { "\n" } else { ",\n" })?;
        Ok(serde_json::to_writer(out, event)?)
    };
    for (location, name) in set.locations().iter() {
        let tasks: Vec<TaskIndex> = set.tasks_at(location).collect();
        if tasks.is_empty() {
            continue;
        }
        let pid = location.0 + 1;
        let named = serde_json::json!({ "name": name });
        let (cat, ts, dur) = ("", None, None);
        event(out, &Event { name: "process_name", cat, ph: "M", ts, dur, pid, tid: 0, args: named })?;
        let times: Vec<(u64, u64)> = tasks.iter().map(|&task| (set.start(task), set.end(task))).collect();
        let (rows, _) = rows(&times);
        for (&index, row) in tasks.iter().zip(rows) {
            let task = set.task(index);
            let mut args = serde_json::json!({ "id": set.id(index) });
            if let Some(parent) = task.parent {
                args["parent"] = set.id(parent).into();
            }
            let tags: Vec<&str> = set.tags(index).iter().map(|tag| set.words().word(tag.what)).collect();
            if !tags.is_empty() {
                args["tags"] = tags.into();
            }
            let name = if task.action.is_empty() { task.category } else { task.action };
            let ts = Some(set.seconds(task.start) * 1e6);
            let dur = Some(set.seconds(task.end - task.start) * 1e6);
            event(out, &Event { name, cat: task.category, ph: "X", ts, dur, pid, tid: row, args })?;
        }
    }
    writeln!(out, "\n]}}")
}
