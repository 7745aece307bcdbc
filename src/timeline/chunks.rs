//! A few decoded chunks of the trace, the least recently used dropped first.

use crate::reference::{Reference, ReferenceSource, SourceError};
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, PoisonError};

/// Most recently used chunk last.
#[derive(Debug)]
pub struct ChunkCache {
    capacity: usize,
    held: Mutex<Vec<(u64, Arc<[Reference]>)>>,
}

impl ChunkCache {
    /// Keeps `capacity` chunks, at least one.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), held: Mutex::new(Vec::new()) }
    }

    /// Chunk `index` of `source`, decoded now or before. One cache serves one source.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn get(&self, source: &dyn ReferenceSource, index: u64) -> Result<Arc<[Reference]>, SourceError> {
        {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(at) = held.iter().position(|(i, _)| *i == index) {
                let entry = held.remove(at);
                let chunk = Arc::clone(&entry.1);
                held.push(entry);
                return Ok(chunk);
            }
        }
        // Decoded outside of the lock: another thread may want another chunk meanwhile.
        let chunk = source.chunk(index)?;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= self.capacity {
            held.remove(0);
        }
        held.push((index, Arc::clone(&chunk)));
        Ok(chunk)
    }
}

/// References of one chunk, in their order.
pub(super) struct Piece {
    chunk: Arc<[Reference]>,
    places: Range<usize>,
}

impl Piece {
    /// Those from reference `from` on, which is in this chunk, up to `to` or the end of the chunk; there are `chunk_len` in a chunk.
    pub(super) fn of(chunk: Arc<[Reference]>, Range { start: from, end: to }: Range<u64>, chunk_len: u64) -> Self {
        let start = usize::try_from(from % chunk_len).unwrap_or(usize::MAX).min(chunk.len());
        let want = usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX);
        let end = start.saturating_add(want).min(chunk.len());
        Self { chunk, places: start..end }
    }
}

impl Deref for Piece {
    type Target = [Reference];

    fn deref(&self) -> &[Reference] {
        &self.chunk[self.places.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{Kind, MemoryTrace, Tables};
    use std::sync::atomic::{AtomicU64, Ordering};

    struct Counting(MemoryTrace, AtomicU64);

    impl ReferenceSource for Counting {
        fn len(&self) -> u64 {
            self.0.len()
        }
        fn chunk_len(&self) -> u64 {
            self.0.chunk_len()
        }
        fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.chunk(index)
        }
        fn tables(&self) -> &Tables {
            self.0.tables()
        }
    }

    #[test]
    fn the_least_recently_used_chunk_goes_first() {
        let references = (0..(5 << 16)).map(|i| Reference::new(Kind::Read, i, 1)).collect();
        let source = Counting(MemoryTrace::new(references, Tables::default()), AtomicU64::new(0));
        let cache = ChunkCache::new(2);
        for index in [0, 1, 0, 2, 0, 1] {
            let chunk = cache.get(&source, index).expect("in memory");
            assert_eq!(chunk[0].addr, index << 16);
        }
        // 0 1 decoded; 0 hit; 2 decoded, 1 dropped; 0 hit; 1 decoded again.
        assert_eq!(source.1.load(Ordering::Relaxed), 4);
    }
}
