//! A source that tells on standard error how much of it was read.

use super::counting::Counting;
use crate::reference::{LoopsAt, Reference, ReferenceSource, SourceError, Tables};
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The source, and what is told of it: references read so far, by all passes together, since how many passes there will be depends on what
/// they find. Dropping it removes a spinner.
pub(super) struct Told<'a> {
    source: &'a dyn ReferenceSource,
    read: AtomicU64,
    counting: Mutex<Counting>,
}

impl<'a> Told<'a> {
    pub(super) fn new(source: &'a dyn ReferenceSource) -> Self {
        Self { source, read: AtomicU64::new(0), counting: Mutex::new(Counting::new()) }
    }

    fn tell(&self, references: usize) {
        let read = self.read.fetch_add(references as u64, Ordering::Relaxed) + references as u64;
        self.counting.lock().unwrap_or_else(PoisonError::into_inner).update((read, read), None);
    }
}

impl ReferenceSource for Told<'_> {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn is_whole(&self) -> bool {
        self.source.is_whole()
    }

    fn chunk_len(&self) -> u64 {
        self.source.chunk_len()
    }

    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
        let chunk = self.source.chunk(index)?;
        self.tell(chunk.len());
        Ok(chunk)
    }

    fn batch(&self, from: u64, out: &mut Vec<Reference>) -> Result<(), SourceError> {
        self.source.batch(from, out)?;
        self.tell(out.len());
        Ok(())
    }

    fn tables(&self) -> &Tables {
        self.source.tables()
    }

    fn cores(&self) -> Result<u32, SourceError> {
        self.source.cores()
    }

    fn notices(&self) -> &[String] {
        self.source.notices()
    }

    fn identity(&self) -> Option<String> {
        self.source.identity()
    }

    fn loops_at(&self, tick: u64) -> Option<LoopsAt> {
        self.source.loops_at(tick)
    }

    fn computed_by(&self) -> Option<&dyn Any> {
        self.source.computed_by()
    }
}
