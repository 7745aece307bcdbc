//! A foreign trace while it is read: a reader at one end, a [`Growing`] trace at the other, a copy for the next time.

use super::copy::{self, Copied};
use super::error::TraceError;
use super::formats::Reader;
use super::growing::{Feeder, Growing};
use super::native;
use super::origin::Origin;
use crate::reference::{Reference, ReferenceSource, Tables};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// A foreign trace that is being read into a [`Growing`] one.
pub struct Feed {
    reader: Box<dyn Reader>,
    feeder: Feeder,
    chunk: Vec<Reference>,
    /// The file as it was before; `None` where it is none.
    origin: Option<Origin>,
}

impl Feed {
    pub(super) fn new(reader: Box<dyn Reader>, origin: Option<Origin>) -> Self {
        Self { feeder: Feeder::new(reader.tables()), reader, chunk: Vec::new(), origin }
    }

    /// The trace that grows.
    #[must_use]
    pub fn trace(&self) -> &Arc<Growing> {
        self.feeder.trace()
    }

    /// Reads on. False: the end was reached.
    ///
    /// # Errors
    /// Where the trace is broken or cannot be read; [`Feed::keep`] keeps what came before.
    pub fn advance(&mut self) -> Result<bool, TraceError> {
        self.reader.next_chunk(native::PIECE, &mut self.chunk)?;
        if self.chunk.is_empty() {
            // Before the trace says that it is whole: who sees that asks what it is.
            if let Some(origin) = self.origin.clone().and_then(|origin| origin.with(self.reader.beside())) {
                let _ = self.trace().origin.set(origin);
            }
            return self.keep().map(|()| false);
        }
        self.feeder.push(&self.chunk).map(|()| true)
    }

    /// Reads on past the trace that grows, which gets nothing of it: `out` is replaced by what follows, nothing at the end.
    ///
    /// # Errors
    /// As [`Feed::advance`].
    pub fn next_chunk(&mut self, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        self.reader.next_chunk(native::PIECE, out)
    }

    /// What is known now of regions, source locations and marks.
    #[must_use]
    pub fn tables(&self) -> Tables {
        let mut tables = self.reader.tables();
        tables.sort();
        tables
    }

    /// Whether regions and source locations are known at the end only.
    #[must_use]
    pub fn names_come_late(&self) -> bool {
        self.reader.names_come_late()
    }

    /// What the user must be told; complete once the end is reached.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        self.reader.notices()
    }

    /// Makes what was read the whole trace.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn keep(&mut self) -> Result<(), TraceError> {
        self.feeder.finish(self.reader.tables(), self.reader.notices())
    }

    /// Words for the file that is read and how it is, the same when the file has changed; `None` for what is no file. A copy goes
    /// by them.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        self.origin.as_ref().map(Origin::name)
    }

    /// The copy at `path`, in place of all that is to be read; `None` where it is of another file, or of this one before it
    /// changed.
    ///
    /// # Errors
    /// When the copy is damaged or cannot be read.
    pub fn copy_at(&self, path: &Path) -> Result<Option<Box<dyn ReferenceSource>>, TraceError> {
        let Some(origin) = &self.origin else { return Ok(None) };
        Ok(Copied::open(path, origin)?.map(|copied| Box::new(copied) as Box<dyn ReferenceSource>))
    }

    /// Whether an open file is a copy that would stand in for what is read.
    ///
    /// # Errors
    /// When it is damaged or cannot be read.
    pub fn is_copy(&self, name: &str, file: File) -> Result<bool, TraceError> {
        let Some(origin) = &self.origin else { return Ok(false) };
        Ok(Copied::of(name, file, origin)?.is_some())
    }

    /// Writes a native copy of what was read to `sink`, which is given back. `None` where it was not read to its end, the file
    /// has changed meanwhile, or `go` said no on the way. `name` is what messages call the copy.
    ///
    /// # Errors
    /// When it cannot be written, or a reference is none that a native file can hold.
    pub fn copy<W: Write + Send>(&self, name: &str, sink: W, go: &dyn Fn() -> bool) -> Result<Option<W>, TraceError> {
        let Some(origin) = self.trace().origin.get() else { return Ok(None) };
        copy::write(self.trace(), origin, (name, sink), go)
    }
}
