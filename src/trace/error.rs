//! Why a trace could not be read or written: place, finding, expectation, remedy.

use crate::nest::NestError;
use crate::reference::SourceError;
use std::fmt;
use std::io;

/// Where in a trace something stands: `t.log:17`, `t.orrery at byte 4,096`, or the file alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The path as the user wrote it, or `standard input`.
    pub path: String,
    /// Line of a text file, from 1.
    pub line: Option<u64>,
    /// Byte of a binary file, from 0.
    pub offset: Option<u64>,
}

impl Place {
    /// The file as a whole.
    #[must_use]
    pub fn file(path: impl Into<String>) -> Self {
        Self { path: path.into(), line: None, offset: None }
    }

    /// A line of a text file, counted from 1.
    #[must_use]
    pub fn line(path: impl Into<String>, line: u64) -> Self {
        Self { line: Some(line), ..Self::file(path) }
    }

    /// A byte of a binary file, counted from 0.
    #[must_use]
    pub fn offset(path: impl Into<String>, offset: u64) -> Self {
        Self { offset: Some(offset), ..Self::file(path) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        Ok(())
    }
}

/// A finding that is not what a reader expected, worded for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it stands.
    pub place: Place,
    /// What is there.
    pub found: String,
    /// What should be there.
    pub expected: String,
    /// What to try: an imperative.
    pub remedy: String,
}

impl Fault {
    /// Joins the four parts; boxed, so that a `Result` stays small where all is well.
    #[must_use]
    pub fn new(
        place: Place,
        found: impl Into<String>,
        expected: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Box<Self> {
        Box::new(Self { place, found: found.into(), expected: expected.into(), remedy: remedy.into() })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}; expected {}; {}", self.place, self.found, self.expected, self.remedy)
    }
}

/// Why a trace could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The operating system said no.
    #[error("{place}: {action}")]
    Io {
        /// The file.
        place: Place,
        /// What was tried and what to check.
        action: String,
        /// What the operating system answered.
        source: io::Error,
    },
    /// Neither content nor `--format` names a format that can be read.
    #[error("{0}")]
    UnknownFormat(Box<Fault>),
    /// One line of a text trace looks like a record but is none.
    #[error("{0}")]
    BrokenLine(Box<Fault>),
    /// A binary file is cut short, damaged, or not a trace.
    #[error("{0}")]
    Damaged(Box<Fault>),
    /// The file is sound but holds no references.
    #[error("{0}")]
    Empty(Box<Fault>),
    /// A nest of loops that cannot be read or walked.
    #[error(transparent)]
    Nest(#[from] NestError),
    /// References that cannot be computed; worded already.
    #[error("{0}")]
    Computed(String),
    /// A reference or table that a trace cannot hold, met while writing.
    #[error("{0}")]
    Invalid(Box<Fault>),
}

impl TraceError {
    /// Wraps an answer of the operating system.
    #[must_use]
    pub fn io(path: &str, action: impl Into<String>, source: io::Error) -> Self {
        Self::Io { place: Place::file(path), action: action.into(), source }
    }
}

impl From<TraceError> for SourceError {
    fn from(error: TraceError) -> Self {
        match &error {
            TraceError::Io { source, .. } => Self(format!("{error}: {source}")),
            _ => Self(error.to_string()),
        }
    }
}

/// A line as it may stand in a message: 60 characters at most, control characters escaped.
pub(super) fn shorten(line: &str) -> String {
    let mut out = String::new();
    for c in line.chars().take(60) {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    if line.chars().nth(60).is_some() {
        out.push_str("...");
    }
    out
}
