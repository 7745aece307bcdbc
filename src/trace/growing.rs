//! A trace of which more and more is there: what a reader or a running program gave so far, by number.
//!
//! The newest references are in memory, in chunks; [`IN_MEMORY`] of them at a time go into a temporary native file. Who gives
//! and who takes may be different threads.

use super::error::TraceError;
use super::native::{self, NativeTrace};
use super::origin::Origin;
use crate::reference::{Reference, ReferenceSource, SourceError, Tables};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// References kept in memory (24 bytes each), a whole number of chunks.
const IN_MEMORY: u64 = 4 << 20;
/// References of a chunk: as many as in one of a native file, so that chunks have the same numbers in both.
const CHUNK: u64 = native::PIECE as u64;

/// What is there. While more may come, these are whole chunks.
pub struct Growing {
    len: AtomicU64,
    cores: AtomicU32,
    whole: AtomicBool,
    parts: Mutex<Parts>,
    /// What is known of it, the newest last; the last of all with the notices.
    tables: [OnceLock<Tables>; RENAMES + 2],
    named: AtomicUsize,
    notices: OnceLock<Vec<String>>,
    /// The files that it was read from, once it is known that they did not change meanwhile.
    pub(super) origin: OnceLock<Origin>,
}

/// How often [`Feeder::rename`] may be called, at most: it is for what doubles in between.
pub const RENAMES: usize = 40;

#[derive(Default)]
struct Parts {
    /// [`IN_MEMORY`] references each.
    files: Vec<Arc<NativeTrace>>,
    /// Those after.
    chunks: Vec<Arc<[Reference]>>,
}

impl Growing {
    fn new(early: Tables) -> Self {
        Self {
            len: AtomicU64::new(0),
            cores: AtomicU32::new(1),
            whole: AtomicBool::new(false),
            parts: Mutex::default(),
            tables: {
                let tables = [const { OnceLock::new() }; RENAMES + 2];
                let _ = tables[0].set(early);
                tables
            },
            named: AtomicUsize::new(0),
            notices: OnceLock::new(),
            origin: OnceLock::new(),
        }
    }

    /// Other tables from now on.
    fn name(&self, mut tables: Tables, last: bool) {
        let next = self.named.load(Ordering::Relaxed) + 1;
        if next > if last { RENAMES + 1 } else { RENAMES } {
            return;
        }
        tables.sort();
        if self.tables[next].set(tables).is_ok() {
            self.named.store(next, Ordering::Release);
        }
    }

    fn add(&self, chunk: &[Reference]) -> Result<(), TraceError> {
        let highest = chunk.iter().map(|r| r.core).max().unwrap_or(0);
        self.cores.fetch_max(u32::from(highest) + 1, Ordering::Relaxed);
        let parts = || self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let full = {
            let mut parts = parts();
            parts.chunks.push(chunk.into());
            (parts.chunks.len() as u64 == IN_MEMORY / CHUNK).then(|| parts.chunks.clone())
        };
        self.len.fetch_add(chunk.len() as u64, Ordering::Release);
        if let Some(chunks) = full {
            // Written outside of the lock: others go on reading meanwhile.
            let file = Arc::new(file_of(&chunks)?);
            let mut parts = parts();
            parts.files.push(file);
            parts.chunks.clear();
        }
        Ok(())
    }
}

impl Growing {
    /// Writes what is there; `false` where `go` said no on the way. What is in files already is taken as it stands there.
    pub(super) fn copy_to<W: Write + Send>(
        &self,
        writer: &mut native::Writer<W>,
        go: &dyn Fn() -> bool,
    ) -> Result<bool, TraceError> {
        let (files, chunks) = {
            let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
            (parts.files.clone(), parts.chunks.clone())
        };
        for file in files {
            if !go() {
                return Ok(false);
            }
            writer.append(&file)?;
        }
        for chunk in chunks {
            if !go() {
                return Ok(false);
            }
            writer.write(&chunk)?;
        }
        Ok(true)
    }
}

/// A temporary file with these references.
fn file_of(chunks: &[Arc<[Reference]>]) -> Result<NativeTrace, TraceError> {
    let name = "the temporary copy of the trace";
    let failed = |e| TraceError::io(name, "cannot be written; free space in the folder for temporary files", e);
    let mut writer = native::Writer::new(name, tempfile::tempfile().map_err(failed)?).packed(native::Packing::Quick);
    for chunk in chunks {
        writer.write(chunk)?;
    }
    NativeTrace::from_file(name, writer.finish(&Tables::default())?)
}

impl ReferenceSource for Growing {
    fn len(&self) -> u64 {
        self.len.load(Ordering::Acquire)
    }

    fn is_whole(&self) -> bool {
        self.whole.load(Ordering::Acquire)
    }

    fn chunk_len(&self) -> u64 {
        CHUNK
    }

    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
        let of_file = IN_MEMORY / CHUNK;
        let file = {
            let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
            let place = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
            match parts.files.get(place(index / of_file)) {
                Some(file) => Arc::clone(file),
                None => {
                    let at = place(index - parts.files.len() as u64 * of_file);
                    return Ok(parts.chunks.get(at).cloned().unwrap_or_default());
                }
            }
        };
        file.chunk(index % of_file)
    }

    fn tables(&self) -> &Tables {
        const NONE: &Tables = &Tables::NONE;
        self.tables[self.named.load(Ordering::Acquire)].get().unwrap_or(NONE)
    }

    fn cores(&self) -> Result<u32, SourceError> {
        Ok(self.cores.load(Ordering::Relaxed))
    }

    fn notices(&self) -> &[String] {
        self.notices.get().map_or(&[], Vec::as_slice)
    }

    fn identity(&self) -> Option<String> {
        self.origin.get().map(Origin::words)
    }
}

/// Gives references to a [`Growing`] trace.
pub struct Feeder {
    trace: Arc<Growing>,
    pending: Vec<Reference>,
}

impl Feeder {
    /// An empty trace, with what is known of it before its end.
    #[must_use]
    pub fn new(early: Tables) -> Self {
        Self { trace: Arc::new(Growing::new(early)), pending: Vec::new() }
    }

    /// The trace that grows.
    #[must_use]
    pub fn trace(&self) -> &Arc<Growing> {
        &self.trace
    }

    /// Adds references; whole chunks of them can be read from now on.
    ///
    /// # Errors
    /// When the temporary file cannot be written, or a reference is none that a native file can hold.
    pub fn push(&mut self, mut references: &[Reference]) -> Result<(), TraceError> {
        let chunk = native::PIECE;
        while !references.is_empty() {
            let room = chunk - self.pending.len();
            let (now, later) = references.split_at(room.min(references.len()));
            self.pending.extend_from_slice(now);
            references = later;
            if self.pending.len() == chunk {
                self.trace.add(&self.pending)?;
                self.pending.clear();
            }
        }
        Ok(())
    }

    /// Says what is known of the trace by now. Who counted by other regions must begin anew, so it should be said when the
    /// trace is twice as long as last time; after [`RENAMES`] times nothing happens.
    pub fn rename(&mut self, tables: Tables) {
        self.trace.name(tables, false);
    }

    /// Says that no more will come. `tables` are put in order.
    ///
    /// # Errors
    /// As [`Feeder::push`].
    pub fn finish(&mut self, tables: Tables, notices: Vec<String>) -> Result<(), TraceError> {
        let added = if self.pending.is_empty() { Ok(()) } else { self.trace.add(&self.pending) };
        self.pending = Vec::new();
        if !self.trace.is_whole() {
            self.trace.name(tables, true);
        }
        let _ = self.trace.notices.set(notices);
        self.trace.whole.store(true, Ordering::Release);
        added
    }
}

impl Drop for Feeder {
    /// Nobody waits for more than will come.
    fn drop(&mut self) {
        if !self.trace.is_whole() {
            let _ = self.finish(self.trace.tables().clone(), Vec::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{Kind, Mark};

    fn references(n: u64) -> Vec<Reference> {
        let core = |i: u64| u16::from(i == 100_000);
        (0..n).map(|i| Reference { core: core(i), ..Reference::new(Kind::Read, 8 * i, 8) }).collect()
    }

    /// All that can be read now.
    fn read(trace: &Growing) -> Vec<Reference> {
        (0..trace.len().div_ceil(trace.chunk_len())).flat_map(|n| trace.chunk(n).unwrap().to_vec()).collect()
    }

    #[test]
    fn whole_chunks_are_there_at_once_and_the_rest_at_the_end() {
        let all = references(200_001);
        let mut feeder = Feeder::new(Tables { title: "early".into(), ..Tables::default() });
        let trace = Arc::clone(feeder.trace());
        assert_eq!((trace.len(), trace.is_whole(), trace.cores().unwrap()), (0, false, 1));
        for part in all.chunks(777) {
            feeder.push(part).unwrap();
            assert!(trace.len().is_multiple_of(CHUNK) && !trace.is_whole());
        }
        assert_eq!((trace.len(), trace.cores().unwrap()), (3 * CHUNK, 2));
        assert_eq!(read(&trace), all[..3 * native::PIECE]);
        assert_eq!(trace.tables().title, "early");
        for n in 0..2 * RENAMES {
            feeder.rename(Tables { title: n.to_string(), ..Tables::default() });
        }
        assert_eq!(trace.tables().title, (RENAMES - 1).to_string());
        let mark = |reference| Mark { reference, name: "m".into() };
        let late = Tables { marks: vec![mark(5), mark(3)], ..Tables::default() };
        feeder.finish(late, vec!["cut".into()]).unwrap();
        assert!(trace.is_whole());
        assert_eq!((read(&trace), trace.notices()), (all, &["cut".to_owned()][..]));
        assert_eq!(trace.tables().marks.iter().map(|m| m.reference).collect::<Vec<_>>(), [3, 5]);
    }

    #[test]
    fn a_long_one_goes_through_files() {
        let all = references(IN_MEMORY * 2 + 10);
        let mut feeder = Feeder::new(Tables::default());
        for part in all.chunks(1 << 20) {
            feeder.push(part).unwrap();
        }
        let trace = Arc::clone(feeder.trace());
        drop(feeder);
        assert!(trace.is_whole(), "the one that gives is gone");
        assert_eq!(trace.parts.lock().unwrap().files.len(), 2);
        assert!(read(&trace) == all);
        assert_eq!(trace.chunk(1 << 40).unwrap().len(), 0);
    }
}
