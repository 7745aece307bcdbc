//! What a foreign trace was read from: what tells whether a copy of it still holds.

use super::formats::Format;
use super::stamp::Stamp;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Of what readers make of a file. A change of a reader that makes something else is a new version.
const VERSION: u32 = 1;

/// The files that a foreign trace was read from, as they were then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// By which reader.
    reader: String,
    /// The trace, then what stands beside it.
    files: Vec<Stamp>,
}

impl Origin {
    /// Of a file that is read as a format.
    pub(super) fn of(stamp: Stamp, format: Format) -> Self {
        let reader = format!("{} {VERSION} of orrery {}", format.name(), env!("CARGO_PKG_VERSION"));
        Self { reader, files: vec![stamp] }
    }

    /// With the files that were found beside it; `None` where any of all has changed since it was looked at.
    pub(super) fn with(mut self, beside: Option<&[Stamp]>) -> Option<Self> {
        self.files.extend_from_slice(beside?);
        self.files.iter().all(Stamp::is_current).then_some(self)
    }

    /// The same for the same file read in the same way, also when it has changed.
    pub(super) fn name(&self) -> String {
        format!("{} by {}", self.path().display(), self.reader)
    }

    pub(super) fn path(&self) -> &Path {
        self.files.first().map_or(Path::new(""), |stamp| &stamp.path)
    }

    /// The same for the same references and tables only.
    pub(super) fn words(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether what was read of this is what would be read of `begun`, whose files beside are not known yet.
    pub(super) fn is_still(&self, begun: &Self) -> bool {
        self.reader == begun.reader
            && self.files.first() == begun.files.first()
            && self.files.iter().skip(1).all(Stamp::is_current)
    }
}
