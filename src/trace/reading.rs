//! Opens traces of any format: by number, or once in order.

use super::error::TraceError;
use super::feed::Feed;
use super::formats::{Format, Opened};
use super::input;
use super::native;
use super::origin::Origin;
use super::stamp::Stamp;
use crate::reference::{Reference, ReferenceSource, Tables};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Opens a trace for reading any part of it. `-` is standard input, compression is seen through, and the format is told from
/// the content where `format` does not say it. What a reader skipped or lost is in [`ReferenceSource::notices`].
///
/// # Errors
/// When the file cannot be read, is of no known format, is damaged or broken (with line or byte), or holds no
/// references. A text trace whose end is cut off is no error: what is whole is kept, and a notice says so.
pub fn open(path: &Path, format: Option<Format>) -> Result<Box<dyn ReferenceSource>, TraceError> {
    match start(path, format)? {
        Started::Whole(source) => Ok(source),
        Started::Growing(mut feed) => {
            while feed.advance()? {}
            Ok(Box::new(Arc::clone(feed.trace())))
        }
    }
}

/// A trace that was opened, and perhaps has still to be read.
pub enum Started {
    /// Any part of it can be read.
    Whole(Box<dyn ReferenceSource>),
    /// It is read from its start to its end, by this; what was read can be used.
    Growing(Feed),
}

/// As [`open`], but reads no more of a foreign trace than its format needs to be told.
///
/// # Errors
/// As [`open`]; broken lines are met later, by [`Feed::advance`].
pub fn start(path: &Path, format: Option<Format>) -> Result<Started, TraceError> {
    // Looked at before it is read, so that a change meanwhile shows.
    let stamp = if input::is_stdin(path) { None } else { Stamp::of(path).filter(Stamp::is_there) };
    let input = input::open(path)?;
    let format = told(&input, format)?;
    Ok(match format.open(input)? {
        Opened::Native(trace) => Started::Whole(trace),
        Opened::Computed(source) => Started::Whole(source),
        Opened::Once(reader) => Started::Growing(Feed::new(reader, stamp.map(|stamp| Origin::of(stamp, format)))),
    })
}

/// The format that was named, or the one that the content looks like.
fn told(input: &input::Input, format: Option<Format>) -> Result<Format, TraceError> {
    format.map_or_else(|| input::detect(input), Ok)
}

/// A trace read once, in order.
pub struct Stream {
    opened: Opened,
    /// The next chunk of a native trace, or the next reference of a computed one.
    next: u64,
    /// Bytes of the file read so far.
    read: Arc<AtomicU64>,
}

impl Stream {
    /// Opens a trace as [`open`] does.
    ///
    /// # Errors
    /// As [`open`]; broken lines are met later, by [`Stream::next_chunk`].
    pub fn open(path: &Path, format: Option<Format>) -> Result<Self, TraceError> {
        Self::of(input::open(path)?, format)
    }

    /// Opens a trace that is held in memory, as if it came from a pipe; `name` is what messages call it.
    ///
    /// # Errors
    /// As [`Stream::open`].
    pub fn of_bytes(name: &str, bytes: Vec<u8>, format: Option<Format>) -> Result<Self, TraceError> {
        Self::of(input::of_bytes(name, bytes)?, format)
    }

    fn of(input: input::Input, format: Option<Format>) -> Result<Self, TraceError> {
        let format = told(&input, format)?;
        let read = Arc::clone(&input.read);
        Ok(Self { opened: format.open(input)?, next: 0, read })
    }

    /// Replaces `out` by the next references, at most [`native::CHUNK`]; none at the end.
    ///
    /// # Errors
    /// Where the trace is broken or cannot be read.
    pub fn next_chunk(&mut self, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        match &mut self.opened {
            Opened::Once(reader) => reader.next_chunk(native::CHUNK, out),
            Opened::Native(trace) => {
                trace.read_chunk(self.next, out)?;
                self.next += 1;
                Ok(())
            }
            Opened::Computed(source) => {
                source.batch(self.next, out).map_err(|error| TraceError::Computed(error.0))?;
                self.next += out.len() as u64;
                Ok(())
            }
        }
    }

    /// Bytes of the file read so far; `None` for a format that is read here and there.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        matches!(self.opened, Opened::Once(_)).then(|| self.read.load(Ordering::Relaxed))
    }

    /// The trace's own tables; those of foreign formats are complete once the end is reached.
    #[must_use]
    pub fn tables(&self) -> Tables {
        match &self.opened {
            Opened::Native(trace) => trace.tables().clone(),
            Opened::Computed(source) => source.tables().clone(),
            Opened::Once(reader) => reader.tables(),
        }
    }

    /// What the user must be told; complete once the end is reached.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        match &self.opened {
            Opened::Native(trace) => trace.notices().to_vec(),
            Opened::Computed(source) => source.notices().to_vec(),
            Opened::Once(reader) => reader.notices(),
        }
    }
}
