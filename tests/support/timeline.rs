//! A trace in chunks of any length, and a shelf in memory, for tests of the timeline.

use orrery::reference::{MemoryTrace, Reference, ReferenceSource, SourceError, Tables};
use orrery::timeline::{Shelf, Slip};
use std::sync::{Arc, Mutex};

/// A trace cut into chunks of any length.
pub(crate) struct Chopped {
    pub(crate) trace: MemoryTrace,
    pub(crate) chunk: u64,
}

impl ReferenceSource for Chopped {
    fn len(&self) -> u64 {
        self.trace.len()
    }
    fn chunk_len(&self) -> u64 {
        self.chunk
    }
    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
        let chunk = usize::try_from(self.chunk).expect("small");
        let chunks = self.trace.references().chunks(chunk);
        Ok(chunks.skip(usize::try_from(index).expect("small")).take(1).flatten().copied().collect())
    }
    fn tables(&self) -> &Tables {
        self.trace.tables()
    }
}

/// A shelf in memory, of so many bytes.
pub(crate) struct Memory {
    pub(crate) bytes: Mutex<Vec<u8>>,
    /// Where each thing that was put there begins.
    pub(crate) puts: Mutex<Vec<u64>>,
    pub(crate) room: usize,
}

impl Memory {
    pub(crate) fn new(room: usize) -> Arc<Self> {
        Arc::new(Self { bytes: Mutex::default(), puts: Mutex::default(), room })
    }
}

impl Shelf for Memory {
    fn put(&self, bytes: &[u8]) -> Option<Slip> {
        let mut all = self.bytes.lock().expect("sound");
        let at = all.len() as u64;
        (all.len() + bytes.len() <= self.room).then(|| all.extend(bytes))?;
        self.puts.lock().expect("sound").push(at);
        Some(Slip { at, bytes: u32::try_from(bytes.len()).expect("small"), sum: 0 })
    }
    fn get(&self, slip: &Slip) -> Option<Vec<u8>> {
        let at = usize::try_from(slip.at).ok()?;
        Some(self.bytes.lock().expect("sound").get(at..at + slip.bytes as usize)?.to_vec())
    }
}
