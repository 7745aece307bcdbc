//! What is wrong with a nest: place, finding, expectation, remedy.

use crate::reference::SourceError;
use std::fmt;

/// Why a nest cannot be read, bound or walked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestError(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    place: String,
    found: String,
    expected: String,
    remedy: String,
}

impl NestError {
    /// Joins the four parts: `x.loops:3:7`, what is there, what should be, what to try.
    #[must_use]
    pub fn new(
        place: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self(Box::new(Parts {
            place: place.into(),
            found: found.into(),
            expected: expected.into(),
            remedy: remedy.into(),
        }))
    }

    /// Where: a file, `file:line:column`, or a node of a graph.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// What is there.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// What should be there.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// What to try.
    #[must_use]
    pub fn remedy(&self) -> &str {
        &self.0.remedy
    }
}

impl fmt::Display for NestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { place, found, expected, remedy } = &*self.0;
        write!(f, "{place}: found {found}; expected {expected}; {remedy}")
    }
}

impl std::error::Error for NestError {}

impl From<NestError> for SourceError {
    fn from(error: NestError) -> Self {
        Self(error.to_string())
    }
}
