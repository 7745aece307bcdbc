//! A native copy of a foreign trace, made once it was read to its end: any part of it can be had at once the next time.
//!
//! The copy says in its metadata, under [`KEY`], which files it was made of and what was told of them. It is taken for them as
//! long as these are as they were.

use super::error::{Fault, Place, TraceError};
use super::growing::Growing;
use super::native::{NativeTrace, Packing, Writer};
use super::origin::Origin;
use crate::files::open_own;
use crate::reference::{Reference, ReferenceSource, SourceError, Tables};
use flate2::Crc;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Where the metadata has the checksum and JSON of an [`Origin`].
const KEY: &str = "orrery.origin";
/// An [`Origin`], and what else a native file does not hold.
#[derive(Serialize, Deserialize)]
struct About {
    origin: Origin,
    notices: Vec<String>,
}

/// Writes a copy of a whole trace; `None` where `go` said no on the way. `name` is what messages call the file.
pub(super) fn write<W: Write + Send>(
    trace: &Growing,
    origin: &Origin,
    (name, sink): (&str, W),
    go: &dyn Fn() -> bool,
) -> Result<Option<W>, TraceError> {
    let mut writer = Writer::new(name, sink).packed(Packing::Quick);
    if !trace.copy_to(&mut writer, go)? {
        return Ok(None);
    }
    let about = About { origin: origin.clone(), notices: trace.notices().to_vec() };
    let failed = |e: serde_json::Error| TraceError::io(name, "the copy cannot be described", io::Error::other(e));
    let json = serde_json::to_string(&about).map_err(failed)?;
    writer.finish_with(trace.tables(), vec![(KEY, format!("{:08x}{json}", sum(&json)))]).map(Some)
}

fn sum(text: &str) -> u32 {
    let mut crc = Crc::new();
    crc.update(text.as_bytes());
    crc.sum()
}

/// A copy, open.
pub(super) struct Copied {
    trace: NativeTrace,
    about: About,
}

impl Copied {
    /// Opens the copy of what `begun` reads; `None` where it is of other files, or of these before they changed.
    ///
    /// # Errors
    /// When it is damaged or cannot be read.
    pub(super) fn open(path: &Path, begun: &Origin) -> Result<Option<Self>, TraceError> {
        let name = path.display().to_string();
        let file = open_own(path).map_err(|e| TraceError::io(&name, "the copy cannot be opened", e))?;
        Self::of(&name, file, begun)
    }

    /// As [`Copied::open`], of a file that is open; `name` is what messages call it.
    ///
    /// # Errors
    /// When it is damaged or cannot be read.
    pub(super) fn of(name: &str, file: File, begun: &Origin) -> Result<Option<Self>, TraceError> {
        let trace = NativeTrace::from_file(name, file)?;
        let about = trace.words(KEY).and_then(|words| words.split_at_checked(8)).and_then(|(crc, json)| {
            (u32::from_str_radix(crc, 16).ok()? == sum(json)).then(|| serde_json::from_str::<About>(json).ok())?
        });
        let Some(about) = about.filter(|_| trace.identity().is_some()) else {
            return Err(TraceError::Damaged(Fault::new(
                Place::file(name),
                "a native file that does not say what it is a copy of",
                "a copy that Orrery made",
                "remove it",
            )));
        };
        let is_still = about.origin.is_still(begun);
        Ok(is_still.then_some(Self { trace, about }))
    }

    /// What a damaged copy says.
    fn damaged(&self, error: TraceError) -> SourceError {
        let found = match error {
            TraceError::Damaged(fault) => format!("{}: found {}", fault.place, fault.found),
            other => SourceError::from(other).0,
        };
        let of = self.about.origin.path().display();
        SourceError(format!("{found}; expected a whole copy of {of}; remove it and open the trace again"))
    }
}

impl ReferenceSource for Copied {
    fn len(&self) -> u64 {
        self.trace.len()
    }

    fn chunk_len(&self) -> u64 {
        self.trace.chunk_len()
    }

    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
        self.trace.piece(index).map_err(|error| self.damaged(error))
    }

    fn batch(&self, from: u64, out: &mut Vec<Reference>) -> Result<(), SourceError> {
        self.trace.read_group(from, out).map_err(|error| self.damaged(error))
    }

    fn tables(&self) -> &Tables {
        self.trace.tables()
    }

    fn cores(&self) -> Result<u32, SourceError> {
        self.trace.cores()
    }

    fn notices(&self) -> &[String] {
        &self.about.notices
    }

    fn identity(&self) -> Option<String> {
        Some(self.about.origin.words())
    }
}
