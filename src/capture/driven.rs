//! What all who run a program to record it share: why it failed, and what people should hear meanwhile.

use super::CaptureError;
use crate::symbols::SymbolError;
use crate::trace::TraceError;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Why a program could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// There is no such program.
    #[error("{}: found no such program; expected {expected}", program.display())]
    NoProgram {
        /// As it was called.
        program: PathBuf,
        /// What would have been one.
        expected: &'static str,
    },
    /// The program has no such function.
    #[error(
        "{function}: found no such function in {}; expected one of its symbols; check the name with nm -C; an inlined function \
         has none of its own", program.display()
    )]
    NoFunction {
        /// As it was asked for.
        function: String,
        /// The program.
        program: PathBuf,
    },
    /// The file to write is none that can be one.
    #[error("{}: found {found}; expected the name of {expected}", output.display())]
    NoFile {
        /// As it was asked for.
        output: PathBuf,
        /// What is there.
        found: &'static str,
        /// What should be.
        expected: &'static str,
    },
    /// What records is not installed.
    #[error("{0}")]
    NoRecorder(&'static str),
    /// The system said no.
    #[error("{action}")]
    System {
        /// What was tried, and with what.
        action: String,
        /// What it answered.
        source: io::Error,
    },
    /// What a recording left is being written.
    #[error("{}: is being written by `orrery capture`; wait until it ends", .0.display())]
    Busy(PathBuf),
    /// What a recording left is no whole file.
    #[error("{}: the second line does not say what was recorded; the file is damaged", part.display())]
    Damaged {
        /// The file.
        part: PathBuf,
        /// What is wrong with the line.
        source: serde_json::Error,
    },
    /// Nothing was recorded; why.
    #[error("{0}")]
    Nothing(String),
    /// What was recorded stays where it is, for it cannot be packed.
    #[error("{}: stays; {remedy}", part.display())]
    Stays {
        /// The file.
        part: PathBuf,
        /// What to do with it.
        remedy: String,
        /// Why.
        source: Box<CaptureError>,
    },
    /// The program's symbols cannot be read.
    #[error(transparent)]
    Symbols(#[from] SymbolError),
    /// The native file cannot be written.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// An answer of the operating system that says enough.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl DriveError {
    /// Whether whoever asked named what is not there: the command line is at fault, not the machine.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::NoProgram { .. } | Self::NoFunction { .. } | Self::NoFile { .. })
    }
}

/// Words for what the system refused.
pub(super) fn refused(action: impl Into<String>) -> impl FnOnce(io::Error) -> DriveError {
    let action = action.into();
    move |source| DriveError::System { action, source }
}

/// Something that people should hear while a program is recorded. None of these ends the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Good to know.
    Note(String),
    /// Something is missing in what is recorded.
    Warning(String),
    /// Lines that another program said.
    Said(String),
}

/// Hears notices, on whichever thread they are found.
pub type Hear = Arc<dyn Fn(Notice) + Send + Sync>;
