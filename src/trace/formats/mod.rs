//! Every format that can be read, in a table: its name, what it looks like, its reader.
//!
//! A format is one file here and one row of [`Format::ALL`]; nothing else names it. A reader makes [`Reference`]s once, in
//! order, in bounded memory.

use super::error::TraceError;
use super::input::Input;
use super::native::{self, NativeTrace};
use crate::reference::{Reference, Tables};
use std::fmt;

pub mod capture;
pub mod lackey;

/// References of a foreign format, once, in order, in bounded memory.
pub(super) trait Reader: Send {
    /// Replaces `out` by the next references: at least one and about `limit` at most, or none at the end.
    ///
    /// # Errors
    /// Where the trace is broken or cannot be read, and at the end of one that held no references at all.
    fn next_chunk(&mut self, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError>;

    /// Sentences for the user about what was skipped or lost; complete once the end is reached.
    fn notices(&self) -> Vec<String>;

    /// What the format itself says of regions, source locations and marks; complete once the end is reached.
    fn tables(&self) -> Tables {
        Tables::default()
    }
}

/// An opened trace.
pub(super) enum Opened {
    /// Any part of it can be read.
    Native(Box<NativeTrace>),
    /// It is read once, in order.
    Once(Box<dyn Reader>),
}

/// A format that can be read.
#[derive(Clone, Copy)]
pub struct Format(&'static Row);

/// What [`Format::ALL`] knows of a format.
struct Row {
    name: &'static str,
    about: &'static str,
    example: &'static str,
    /// Whether content that starts so is of this format; asked in the order of [`Format::ALL`].
    looks_like: fn(&[u8]) -> bool,
    open: fn(Input) -> Result<Opened, TraceError>,
}

impl Format {
    /// The native file.
    pub const NATIVE: Self = Self(&Row {
        name: "orrery",
        about: "The native file: Parquet with Orrery's tables",
        example: "(binary: PAR1...)",
        looks_like: |head| head.starts_with(b"PAR1"),
        open: |input| native::open(input).map(|trace| Opened::Native(Box::new(trace))),
    });

    /// Text of Valgrind's lackey.
    pub const LACKEY: Self = Self(&Row {
        name: "lackey",
        about: "Text of valgrind --tool=lackey --trace-mem=yes",
        example: " L 1ffefffe80,8",
        looks_like: lackey::looks_like,
        open: |input| Ok(Opened::Once(Box::new(lackey::Reader::new(input.name, input.bytes)))),
    });

    /// The spool of a captured program.
    pub const CAPTURE: Self = Self(&Row {
        name: "capture",
        about: "What a program built by orrery cc left where it could not be collected, NAME.orrery.part",
        example: "(binary: ORRSPOOL...)",
        looks_like: capture::looks_like,
        open: |input| Ok(Opened::Once(Box::new(capture::Reader::open(input)?))),
    });

    /// All of them, in the order in which content is compared with them: magic numbers first, loose patterns last.
    pub const ALL: [Self; 3] = [Self::NATIVE, Self::CAPTURE, Self::LACKEY];

    /// The one called so; `None` where there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The word for `--format`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What it is, in one sentence without a full stop.
    #[must_use]
    pub fn about(self) -> &'static str {
        self.0.about
    }

    /// One record of it.
    #[must_use]
    pub fn example(self) -> &'static str {
        self.0.example
    }

    /// The format of content that starts so; `None` where it is none of these.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|format| (format.0.looks_like)(head))
    }

    pub(super) fn open(self, input: Input) -> Result<Opened, TraceError> {
        (self.0.open)(input)
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}
