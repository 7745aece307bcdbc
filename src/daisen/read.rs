//! Tasks from a file.

use super::{CSV_HEAD, Dialect};
use crate::tasks::{Built, NewTask, Symbol, TaskId, TaskSet, TaskSetBuilder};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::time::Duration;

/// What a file held.
#[derive(Debug)]
pub struct TaskFile {
    /// Its tasks.
    pub set: TaskSet,
    /// Who wrote it.
    pub dialect: Dialect,
    /// What people should hear: what was left out, and why.
    pub notices: Vec<String>,
}

/// Why a file gives no tasks.
#[derive(Debug, thiserror::Error)]
pub enum DaisenError {
    /// It cannot be read.
    #[error("cannot read it")]
    Read(#[from] io::Error),
    /// It is something else.
    #[error(
        "found {0}; expected a database of Daisen with a table `trace`, or its CSV, which starts with `{CSV_HEAD}`"
    )]
    Other(String),
    /// SQLite cannot read it.
    #[error("SQLite cannot read it ({0}); expected a whole database that no other program holds locked")]
    Database(rusqlite::Error),
    /// It cannot be written.
    #[error("cannot write it")]
    Write(#[source] io::Error),
    /// A time is out of reach.
    #[error("found a time of {0:e} s; expected 0 up to 9,000,000 s")]
    Time(f64),
    /// There are too many tasks.
    #[error(transparent)]
    Many(#[from] crate::tasks::TooMany),
}

// Not as its cause: its words are in the sentence.
impl From<rusqlite::Error> for DaisenError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// What a database of SQLite starts with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Whether a file begins as those do that [`read`] reads: any database of SQLite, or the CSV. What cannot be read does not.
#[must_use]
pub fn is_task_file(path: &Path) -> bool {
    let mut head = Vec::new();
    // Of a pipe nothing is taken away: what reads it wants all of it.
    let is_file = path.metadata().is_ok_and(|about| about.is_file());
    let mut read = || File::open(path).and_then(|file| file.take(64).read_to_end(&mut head));
    is_file && read().is_ok() && (head.starts_with(MAGIC) || head.starts_with(CSV_HEAD.as_bytes()))
}

/// Reads all tasks of a file.
///
/// # Errors
/// When it cannot be read, or is no file of Daisen's.
pub fn read(path: &Path) -> Result<TaskFile, DaisenError> {
    let mut file = File::open(path)?;
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(64).read_to_end(&mut head)?;
    if head.starts_with(MAGIC) {
        return database(path, None);
    }
    if head.starts_with(CSV_HEAD.as_bytes()) {
        return csv(BufReader::new(File::open(path)?));
    }
    Err(DaisenError::Other(if head.is_empty() { "an empty file" } else { "something else" }.to_owned()))
}

/// Reads the first rows of a database, so that something can be shown while all of it is read; nothing of a file of another kind.
/// What is wrong with the file is left to [`read`].
///
/// # Errors
/// As [`read`].
pub fn read_first(path: &Path, rows: u64) -> Result<Option<TaskFile>, DaisenError> {
    let mut head = Vec::new();
    File::open(path)?.take(64).read_to_end(&mut head)?;
    if !head.starts_with(MAGIC) {
        return Ok(None);
    }
    database(path, Some(rows)).map(Some)
}

/// Ticks of a second: as fine as the last moment allows.
fn resolution(last: f64) -> Result<u64, DaisenError> {
    match last {
        last if last < 9e3 => Ok(1_000_000_000_000_000),
        last if last < 9e6 => Ok(1_000_000_000_000),
        last => Err(DaisenError::Time(last)),
    }
}

/// What makes ticks of the numbers in a file.
#[derive(Clone, Copy)]
struct Times {
    /// Ticks of one unit.
    real: f64,
    /// The same, as a whole number.
    whole: i128,
}

impl Times {
    fn new(dialect: Dialect, per_second: u64) -> Self {
        // Picoseconds in parts of a second: 1,000 femtoseconds.
        let whole = if dialect == Dialect::V5 { per_second / 1_000_000_000_000 } else { per_second };
        Self { real: whole as f64, whole: i128::from(whole) }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to lie in 0..9.2e18")]
    fn ticks(self, time: ValueRef<'_>) -> Option<u64> {
        let real = match time {
            ValueRef::Integer(number) => {
                return u64::try_from(i128::from(number) * self.whole).ok();
            }
            ValueRef::Real(number) => number,
            ValueRef::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok()?,
            ValueRef::Null | ValueRef::Blob(_) => return None,
        };
        let ticks = (real * self.real).round();
        (0.0..9.2e18).contains(&ticks).then_some(ticks as u64)
    }
}

/// A name as a task is called; none where there is none.
fn name(value: ValueRef<'_>, text: &mut String) -> Option<TaskId<'static>> {
    text.clear();
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) if number >= 0 => Some(TaskId::Number(number.unsigned_abs())),
        ValueRef::Integer(number) => {
            *text = number.to_string();
            Some(TaskId::Text(""))
        }
        ValueRef::Real(number) => {
            *text = number.to_string();
            Some(TaskId::Text(""))
        }
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            text.push_str(&String::from_utf8_lossy(bytes));
            (!text.is_empty()).then_some(TaskId::Text(""))
        }
    }
}

/// The name that [`name`] found, with its text.
fn told<'a>(id: &TaskId<'static>, text: &'a str) -> TaskId<'a> {
    match id {
        TaskId::Number(number) => TaskId::Number(*number),
        TaskId::Text(_) => TaskId::Text(text),
    }
}

fn text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Opens a database for reading. One whose last writer kept a log beside it needs a file of locks there; where none can be made, it is
/// read as one that nobody writes to.
fn connect(path: &Path) -> Result<Connection, DaisenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |name: &OsStr, flags| -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(name, flags)?;
        connection.busy_timeout(Duration::from_secs(2))?;
        let probe = || connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()));
        if let Err(error) = probe() {
            if error.sqlite_error_code() != Some(ErrorCode::DatabaseCorrupt) {
                return Err(error);
            }
            // SQLite refuses all of a file that was cut short, but to those who say that they may mend it.
            connection.execute_batch("PRAGMA writable_schema = ON")?;
            probe()?;
        }
        Ok(connection)
    };
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    match open(path.as_os_str(), flags) {
        Err(error)
            if matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
                && std::fs::metadata(log).map_or(0, |about| about.len()) == 0 =>
        {
            Ok(open(OsStr::new(&uri(path)), flags | OpenFlags::SQLITE_OPEN_URI)?)
        }
        opened => Ok(opened?),
    }
}

fn uri(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let signs = path.as_os_str().as_encoded_bytes().iter().map(|&byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    format!("file:{}?immutable=1", signs.collect::<String>())
}

/// Names of a table's columns, in lower case; none where there is no such table.
fn columns(connection: &Connection, table: &str) -> Result<Vec<String>, DaisenError> {
    let mut statement = connection.prepare("SELECT lower(name) FROM pragma_table_info(?1)")?;
    let names = statement.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(names)
}

fn has(columns: &[String], wanted: &[&str]) -> bool {
    wanted.iter().all(|name| columns.iter().any(|column| column == name))
}

/// Of a table so many rows, the first ones; or all.
fn database(path: &Path, most: Option<u64>) -> Result<TaskFile, DaisenError> {
    let connection = connect(path)?;
    let trace = columns(&connection, "trace")?;
    let (dialect, query) =
        if has(&trace, &["task_id", "parent_id", "kind", "what", "location", "start_time", "end_time"]) {
            (Dialect::V3, "task_id, parent_id, kind, what, location, start_time, end_time")
        } else if has(&trace, &["id", "parentid", "kind", "what", "location", "starttime", "endtime"]) {
            let numbered = has(&columns(&connection, "location")?, &["id", "locale"]);
            let dialect = if numbered { Dialect::V5 } else { Dialect::V4 };
            (dialect, "ID, ParentID, Kind, What, Location, StartTime, EndTime")
        } else {
            let found = if trace.is_empty() {
                "no table `trace`".to_owned()
            } else {
                format!("a table `trace` of {}", trace.join(", "))
            };
            return Err(DaisenError::Other(format!("a database with {found}")));
        };
    let end = if dialect == Dialect::V3 { "end_time" } else { "EndTime" };
    // An index that is damaged says nothing: then times are those of a short run.
    let table = match most {
        // What is told last ends last, or about then.
        Some(_) => format!("(SELECT {end} FROM trace ORDER BY rowid DESC LIMIT 1000)"),
        None => "trace".to_owned(),
    };
    let last: Option<f64> = connection
        .query_row(
            &format!("SELECT max({end}) FROM {table} WHERE typeof({end}) IN ('real', 'integer') AND {end} < 1e300"),
            [],
            |row| row.get(0),
        )
        .unwrap_or_default();
    let per_second = resolution(last.unwrap_or(0.0) * dialect.unit())?;
    let mut reading = Reading::new(dialect, per_second);
    if let Some(most) = most {
        reading.limit = format!(" LIMIT {most}");
    }
    if dialect == Dialect::V5 {
        let mut statement = connection.prepare("SELECT ID, Locale FROM location")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if let ValueRef::Integer(number) = row.get_ref(0)? {
                reading.numbered.insert(number, text(row.get_ref(1)?));
            }
        }
    }
    reading.tasks(&connection, query)?;
    for table in ["milestone", "trace_milestones"] {
        let read = reading.milestones(&connection, table);
        reading.damage("milestones", read)?;
    }
    let read = reading.tags(&connection);
    reading.damage("tags", read)?;
    Ok(reading.finish())
}

/// A file that is being read.
struct Reading {
    dialect: Dialect,
    builder: TaskSetBuilder,
    times: Times,
    /// Names of locations by number.
    numbered: HashMap<i64, String>,
    /// Rows that are no tasks.
    skipped: u64,
    notices: Vec<String>,
    /// What ends each query: ` LIMIT 1000`, or nothing.
    limit: String,
}

impl Reading {
    fn new(dialect: Dialect, per_second: u64) -> Self {
        Self {
            dialect,
            builder: TaskSetBuilder::new(per_second),
            times: Times::new(dialect, per_second),
            numbered: HashMap::new(),
            skipped: 0,
            notices: Vec::new(),
            limit: String::new(),
        }
    }

    fn word(&mut self, value: ValueRef<'_>) -> Symbol {
        match value {
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(word) => self.builder.word(word),
                Err(_) => self.builder.word(&text(value)),
            },
            _ => self.builder.word(&text(value)),
        }
    }

    fn location(&mut self, value: ValueRef<'_>) -> Symbol {
        match value {
            ValueRef::Integer(number) if self.dialect == Dialect::V5 => match self.numbered.get(&number) {
                Some(name) => self.builder.location(name),
                None => self.builder.location(&format!("location {number}")),
            },
            ValueRef::Text(bytes) if let Ok(name) = std::str::from_utf8(bytes) => self.builder.location(name),
            _ => self.builder.location(&text(value)),
        }
    }

    fn tasks(&mut self, connection: &Connection, columns: &str) -> Result<(), DaisenError> {
        let mut statement = connection.prepare(&format!("SELECT {columns} FROM trace{}", self.limit))?;
        let mut rows = statement.query([])?;
        let (mut own, mut above) = (String::new(), String::new());
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(()),
                // What is good is shown.
                Err(error) if !self.builder.is_empty() => {
                    let read = self.builder.len();
                    self.notices.push(format!(
                        "the file is damaged ({error}): what follows its first {read} tasks is not shown"
                    ));
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            };
            let id = name(row.get_ref(0)?, &mut own);
            let parent = name(row.get_ref(1)?, &mut above)
                // Akita 5 calls no task 0.
                .filter(|parent| self.dialect != Dialect::V5 || *parent != TaskId::Number(0));
            let (start, end) = (self.times.ticks(row.get_ref(5)?), self.times.ticks(row.get_ref(6)?));
            let (Some(id), Some(start), Some(end)) = (id, start, end) else {
                self.skipped += 1;
                continue;
            };
            let (category, action) = (self.word(row.get_ref(2)?), self.word(row.get_ref(3)?));
            let location = self.location(row.get_ref(4)?);
            let id = told(&id, &own);
            let parent = parent.map(|parent| told(&parent, &above));
            self.builder.push(NewTask { id: &id, parent: parent.as_ref(), category, action, location, start, end })?;
        }
    }

    /// What is damaged is said, and what is good is shown.
    fn damage(&mut self, what: &str, read: Result<(), DaisenError>) -> Result<(), DaisenError> {
        match read {
            Err(DaisenError::Database(error)) => {
                self.notices.push(format!("the file is damaged ({error}): not all of its {what} are shown"));
                Ok(())
            }
            other => other,
        }
    }

    /// Milestones; their columns were called differently over time.
    fn milestones(&mut self, connection: &Connection, table: &str) -> Result<(), DaisenError> {
        let columns = columns(connection, table)?;
        let called =
            |names: &[&'static str]| names.iter().copied().find(|name| columns.iter().any(|column| column == name));
        let (Some(task), Some(time), Some(what)) =
            (called(&["taskid", "task_id"]), called(&["time"]), called(&["what", "blockingreason", "blocking_reason"]))
        else {
            return Ok(());
        };
        let category = called(&["kind", "blockingcategory", "blocking_category"]).unwrap_or("''");
        let location = called(&["location", "blockinglocation", "blocking_location"]).unwrap_or("NULL");
        let query = format!("SELECT {task}, {time}, {category}, {what}, {location} FROM {table}{}", self.limit);
        let mut statement = connection.prepare(&query)?;
        let mut rows = statement.query([])?;
        let mut named = String::new();
        while let Some(row) = rows.next()? {
            let (Some(id), Some(time)) = (name(row.get_ref(0)?, &mut named), self.times.ticks(row.get_ref(1)?)) else {
                self.skipped += 1;
                continue;
            };
            let (category, what) = (self.word(row.get_ref(2)?), self.word(row.get_ref(3)?));
            let location = match row.get_ref(4)? {
                ValueRef::Null => None,
                location => Some(self.location(location)),
            };
            self.builder.milestone(&told(&id, &named), time, category, what, location);
        }
        Ok(())
    }

    fn tags(&mut self, connection: &Connection) -> Result<(), DaisenError> {
        if !has(&columns(connection, "tag")?, &["taskid", "time", "what"]) {
            return Ok(());
        }
        let mut statement = connection.prepare(&format!("SELECT TaskID, Time, What FROM tag{}", self.limit))?;
        let mut rows = statement.query([])?;
        let mut named = String::new();
        while let Some(row) = rows.next()? {
            let (Some(id), Some(time)) = (name(row.get_ref(0)?, &mut named), self.times.ticks(row.get_ref(1)?)) else {
                self.skipped += 1;
                continue;
            };
            let what = self.word(row.get_ref(2)?);
            self.builder.tag(&told(&id, &named), time, what);
        }
        Ok(())
    }

    fn finish(self) -> TaskFile {
        let Self { dialect, builder, skipped, mut notices, .. } = self;
        let Built { set, reversed, repeated, orphans } = builder.finish();
        let mut left_out = |count: u64, what: &str| {
            if count > 0 {
                notices.push(format!("{count} {what}"));
            }
        };
        left_out(skipped, "rows without a name or a time from 0 up are left out");
        left_out(reversed, "tasks that end before they start are left out");
        left_out(repeated, "tasks are called as another one is; what names them means the first");
        left_out(orphans, "milestones and tags of tasks that are not there are left out");
        TaskFile { set, dialect, notices }
    }
}

/// One line of CSV: what is done may hold a comma.
fn fields(line: &str) -> Option<[&str; 7]> {
    let (id, rest) = line.split_once(", ")?;
    let (parent, rest) = rest.split_once(", ")?;
    let (kind, rest) = rest.split_once(", ")?;
    let (rest, end) = rest.rsplit_once(", ")?;
    let (rest, start) = rest.rsplit_once(", ")?;
    let (what, location) = rest.rsplit_once(", ")?;
    Some([id, parent, kind, what, location, start, end])
}

fn csv(mut file: impl BufRead) -> Result<TaskFile, DaisenError> {
    // Ten digits behind the point: picoseconds are finer than all that can be said.
    let mut reading = Reading::new(Dialect::Csv, 1_000_000_000_000);
    let mut bytes = Vec::new();
    file.read_until(b'\n', &mut bytes)?;
    loop {
        bytes.clear();
        if file.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(reading.finish());
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches(['\n', '\r']);
        if line.is_empty() {
            continue;
        }
        let ticks = |text: &str| reading.times.ticks(ValueRef::Text(text.as_bytes()));
        let Some([id, parent, kind, what, location, start, end]) = fields(line) else {
            reading.skipped += 1;
            continue;
        };
        let (Some(start), Some(end), false) = (ticks(start), ticks(end), id.is_empty()) else {
            reading.skipped += 1;
            continue;
        };
        let (category, action) = (reading.builder.word(kind), reading.builder.word(what));
        let location = reading.builder.location(location);
        let (id, parent) = (TaskId::Text(id), (!parent.is_empty()).then_some(TaskId::Text(parent)));
        reading.builder.push(NewTask { id: &id, parent: parent.as_ref(), category, action, location, start, end })?;
    }
}
