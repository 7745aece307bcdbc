//! Tasks into a file, as Akita itself writes them: the same tables, columns and indexes.

use super::{CSV_HEAD, DaisenError, Dialect};
use crate::files::{Draft, Scratch};
use crate::tasks::{NO_TASK, TaskIndex, TaskSet};
use rusqlite::{Connection, params};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes all tasks. The file is there when it is whole. Akita 3 and CSV have no milestones, and nothing but Akita 5 has tags: those
/// are left out. Akita 5 calls tasks by numbers: tasks that are called otherwise are numbered anew, all of them.
///
/// # Errors
/// When it cannot be written.
pub fn write(set: &TaskSet, path: &Path, dialect: Dialect) -> Result<(), DaisenError> {
    let draft = Draft::create(path).map_err(DaisenError::Write)?;
    if dialect == Dialect::Csv {
        let mut out = BufWriter::new(draft.file());
        csv(set, &mut out).and_then(|()| out.flush()).map_err(DaisenError::Write)?;
        drop(out);
        return draft.finish().map_err(DaisenError::Write);
    }
    // SQLite writes to a path; what it wrote becomes the file.
    let scratch = Scratch::new().map_err(DaisenError::Write)?;
    let made = scratch.path().join("tasks.sqlite3");
    let mut connection = Connection::open(&made)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    let transaction = connection.transaction()?;
    match dialect {
        Dialect::V5 => v5(set, &transaction)?,
        Dialect::V3 => named(set, &transaction, true)?,
        Dialect::V4 | Dialect::Csv => named(set, &transaction, false)?,
    }
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)?;
    let copied = File::open(&made).and_then(|mut made| io::copy(&mut made, &mut draft.file()));
    copied.and_then(|_| draft.finish()).map_err(DaisenError::Write)
}

fn all(set: &TaskSet) -> std::ops::Range<TaskIndex> {
    0..TaskIndex::try_from(set.len()).unwrap_or(NO_TASK)
}

/// What a task is a part of is called; empty where it is a part of nothing.
fn parent_name(set: &TaskSet, task: TaskIndex) -> String {
    match set.parent(task) {
        Some(parent) => set.id(parent),
        None => set.dangling_parent(task).unwrap_or("").to_owned(),
    }
}

fn csv(set: &TaskSet, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{CSV_HEAD}")?;
    for index in all(set) {
        let task = set.task(index);
        let location = set.locations().word(task.location);
        let (start, end) = (set.seconds(task.start), set.seconds(task.end));
        writeln!(
            out,
            "{}, {}, {}, {}, {location}, {start:.10}, {end:.10}",
            set.id(index),
            parent_name(set, index),
            task.category,
            task.action
        )?;
    }
    Ok(())
}

/// Akita 3 and 4: names are text, times are seconds.
fn named(set: &TaskSet, connection: &Connection, third: bool) -> rusqlite::Result<()> {
    let columns = if third {
        "task_id varchar(200) NOT NULL UNIQUE, parent_id varchar(200), kind varchar(100), what varchar(100), \
         location varchar(100), start_time float, end_time float"
    } else {
        "ID, ParentID, Kind, What, Location, StartTime, EndTime"
    };
    connection.execute_batch(&format!("CREATE TABLE trace ({columns})"))?;
    let mut insert = connection.prepare("INSERT INTO trace VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    for index in all(set) {
        let task = set.task(index);
        let location = set.locations().word(task.location);
        let (start, end) = (set.seconds(task.start), set.seconds(task.end));
        insert.execute(params![
            set.id(index),
            parent_name(set, index),
            task.category,
            task.action,
            location,
            start,
            end
        ])?;
    }
    if third {
        return indexes(connection, "trace", &["parent_id", "kind", "what", "location", "start_time", "end_time"]);
    }
    connection.execute_batch("CREATE UNIQUE INDEX idx_trace_ID ON trace(ID)")?;
    indexes(connection, "trace", &["ParentID", "Kind", "What", "Location", "StartTime", "EndTime"])?;
    connection.execute_batch("CREATE TABLE milestone (ID, TaskID, Time, Kind, What, Location)")?;
    let mut insert = connection.prepare("INSERT INTO milestone VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for (number, milestone) in (1u64..).zip(set.all_milestones()) {
        insert.execute(params![
            number.to_string(),
            set.id(milestone.task),
            set.seconds(milestone.time),
            set.words().word(milestone.category),
            set.words().word(milestone.what),
            set.locations().word(milestone.location)
        ])?;
    }
    connection.execute_batch("CREATE UNIQUE INDEX idx_milestone_ID ON milestone(ID)")?;
    indexes(connection, "milestone", &["TaskID", "Time", "Kind", "What", "Location"])?;
    connection.execute_batch("CREATE TABLE daisen$segments (StartTime, EndTime)")?;
    let (start, end) = set.span();
    connection.execute("INSERT INTO daisen$segments VALUES (?1, ?2)", params![set.seconds(start), set.seconds(end)])?;
    information(connection)
}

/// Akita 5: names and locations are numbers, times are picoseconds.
fn v5(set: &TaskSet, connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "CREATE TABLE location (ID INTEGER, Locale TEXT);
         CREATE TABLE trace (ID INTEGER, ParentID INTEGER, Kind TEXT, What TEXT, Location INTEGER, StartTime REAL, EndTime REAL);
         CREATE TABLE milestone (ID INTEGER, TaskID INTEGER, Time REAL, Kind TEXT, What TEXT);
         CREATE TABLE tag (ID INTEGER, TaskID INTEGER, Time REAL, What TEXT);",
    )?;
    let mut insert = connection.prepare("INSERT INTO location VALUES (?1, ?2)")?;
    for (number, (_, name)) in (1u32..).zip(set.locations().iter()) {
        insert.execute(params![number, name])?;
    }
    let numbers = numbers(set);
    // Parents that there are not: one number each, after all others.
    let mut absent = HashMap::new();
    let mut next = numbers.iter().copied().max().unwrap_or(0);
    let picoseconds = |ticks: u64| ticks as f64 / (set.ticks_per_second() as f64 / 1e12);
    let mut insert = connection.prepare("INSERT INTO trace VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    for index in all(set) {
        let task = set.task(index);
        let parent = match (task.parent, set.dangling_parent(index)) {
            (Some(parent), _) => numbers[parent as usize],
            (None, None) => 0,
            (None, Some(name)) => *absent.entry(name).or_insert_with(|| {
                next += 1;
                next
            }),
        };
        insert.execute(params![
            numbers[index as usize],
            parent,
            task.category,
            task.action,
            task.location.0 + 1,
            picoseconds(task.start),
            picoseconds(task.end)
        ])?;
    }
    let mut insert = connection.prepare("INSERT INTO milestone VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (number, milestone) in (1i64..).zip(set.all_milestones()) {
        let (category, what) = (set.words().word(milestone.category), set.words().word(milestone.what));
        let task = numbers[milestone.task as usize];
        insert.execute(params![number, task, picoseconds(milestone.time), category, what])?;
    }
    let mut insert = connection.prepare("INSERT INTO tag VALUES (?1, ?2, ?3, ?4)")?;
    for (number, tag) in (1i64..).zip(set.all_tags()) {
        let task = numbers[tag.task as usize];
        insert.execute(params![number, task, picoseconds(tag.time), set.words().word(tag.what)])?;
    }
    connection.execute_batch("CREATE UNIQUE INDEX idx_trace_ID ON trace(ID)")?;
    indexes(connection, "trace", &["ParentID", "Kind", "What", "Location", "StartTime", "EndTime"])?;
    indexes(connection, "milestone", &["TaskID"])?;
    indexes(connection, "tag", &["TaskID"])?;
    information(connection)
}

/// A number from 1 up for each task: those that tasks are called by, where all are.
fn numbers(set: &TaskSet) -> Vec<i64> {
    let called = |task| set.id_number(task).and_then(|number| i64::try_from(number).ok()).filter(|&number| number > 0);
    let theirs: Option<Vec<i64>> = all(set).map(called).collect();
    theirs.unwrap_or_else(|| all(set).map(|task| i64::from(task) + 1).collect())
}

fn indexes(connection: &Connection, table: &str, columns: &[&str]) -> rusqlite::Result<()> {
    columns.iter().try_for_each(|column| {
        connection.execute_batch(&format!("CREATE INDEX idx_{table}_{column} ON {table}({column})"))
    })
}

fn information(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("CREATE TABLE exec_info (Property, Value)")?;
    let made_by = concat!("orrery ", env!("CARGO_PKG_VERSION"));
    connection.execute("INSERT INTO exec_info VALUES ('Made by', ?1)", [made_by])?;
    Ok(())
}
