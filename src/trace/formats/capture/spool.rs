//! The spool of a captured program (`capture/spool.h`): its header, its chunks, and the threads' records merged by time.
//!
//! The file may still be growing: [`Spool::advance`] gives what is certain so far. Order within a thread is exact. Threads are
//! merged in blocks of up to 255 records, each as a whole at its time stamp.

use super::facts::{Entry, Facts, Made};
use crate::reference::{Kind, NO_LANE, Reference};
use crate::trace::error::{Fault, Place, TraceError};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// The first bytes of a spool.
pub const MAGIC: &[u8; 8] = b"ORRSPOOL";
const CHUNK_MAGIC: u64 = 0x4b4e_5548_4352_4f21;
const VERSION: u32 = 1;
const HEADER: u64 = 65_536;
const CHUNK: u64 = 1 << 20;
const SLOTS: u64 = 65_536;
const HEAD: u64 = 4;
const STAMP: u64 = 256;
const SLOT_BYTES: u64 = 16;
/// Slots read at once for a thread: 16 blocks, 64 KiB.
const READ: u64 = 16 * STAMP;
/// Bits of the address in a first word.
const ADDRESS: u64 = (1 << 56) - 1;

/// What a record that is no reference says; see `capture/spool.h`.
mod code {
    pub(super) const STAMP: u64 = 1;
    pub(super) const SITE: u64 = 2;
    pub(super) const ALLOC: u64 = 3;
    pub(super) const FREE: u64 = 4;
    pub(super) const FRAME: u64 = 5;
    pub(super) const TEXT: u64 = 6;
    pub(super) const MARK: u64 = 7;
    pub(super) const SHAPE: u64 = 8;
    pub(super) const REGION: u64 = 9;
    pub(super) const CALLER: u64 = 10;
}

/// What the header says of the program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Process number.
    pub pid: u64,
    /// Its file.
    pub path: String,
    /// Native file that it asks for.
    pub output: String,
    /// Lines of `/proc/PID/maps` that map code, as they were when the program began.
    pub maps: Vec<String>,
}

/// How the recording ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// The program said that it ends.
    pub orderly: bool,
    /// Error number of what ended the recording early; 0 = nothing.
    pub fault: u32,
    /// Records that found no room.
    pub lost: u64,
}

/// A spool, read once from front to back.
#[derive(Debug)]
pub struct Spool {
    name: String,
    file: File,
    program: Program,
    /// Chunks looked at so far.
    seen: u64,
    /// Chunks that were claimed when last looked at, but said nothing of whose they are.
    unborn: Vec<u64>,
    threads: BTreeMap<u64, Thread>,
    facts: Facts,
    /// References given so far.
    given: u64,
    /// Chunks read to their end and not yet told by [`Spool::finished_chunks`].
    finished: Vec<u64>,
}

/// One thread's chunks, in order, and the part of the first one that is in memory.
#[derive(Debug, Default)]
struct Thread {
    chunks: VecDeque<u64>,
    /// Slot of the front chunk that `words` begins with.
    slot: u64,
    words: Vec<u64>,
    /// Words used.
    at: usize,
    stamp: u64,
    /// What makes the next allocation.
    made: Made,
    /// Its call, and those that led there, innermost first.
    calls: Vec<u64>,
    /// The last frame entered.
    entered: (u64, u64),
    /// Name and extents of the next region.
    text: Vec<u8>,
    shape: (u64, u64),
}

impl Spool {
    /// Reads the header.
    ///
    /// # Errors
    /// When it is no spool, one of another version, or cannot be read.
    pub fn open(name: impl Into<String>, file: File) -> Result<Self, TraceError> {
        let name = name.into();
        let mut spool = Self {
            name,
            file,
            program: Program::default(),
            seen: 0,
            unborn: Vec::new(),
            threads: BTreeMap::new(),
            facts: Facts::default(),
            given: 0,
            finished: Vec::new(),
        };
        let header = spool.header()?;
        let wrong = |found: String, expected: &str| {
            let remedy = "check that it is the .orrery.part of a program built by this orrery";
            TraceError::Damaged(Fault::new(Place::offset(&spool.name, 0), found, expected, remedy))
        };
        if header.get(..8) != Some(MAGIC) {
            return Err(wrong("no ORRSPOOL at the start".into(), "the spool of a captured program"));
        }
        let version = half(&header, 8);
        if version != VERSION || u64::from(half(&header, 12)) != HEADER || word(&header, 16) != CHUNK {
            return Err(wrong(format!("a spool of version {version}"), "version 1, chunks of 1 MiB"));
        }
        let bytes = usize::try_from(word(&header, 56)).unwrap_or(usize::MAX).min(header.len().saturating_sub(64));
        let text = String::from_utf8_lossy(header.get(64..64 + bytes).unwrap_or_default()).into_owned();
        spool.program.pid = word(&header, 48);
        for line in text.lines() {
            if let Some(path) = line.strip_prefix("exe ") {
                spool.program.path = path.to_owned();
            } else if let Some(path) = line.strip_prefix("output ") {
                spool.program.output = path.to_owned();
            } else {
                spool.program.maps.push(line.to_owned());
            }
        }
        Ok(spool)
    }

    /// What the header says of the program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What the records said beside references; complete once all is read.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// References given so far.
    #[must_use]
    pub fn given(&self) -> u64 {
        self.given
    }

    /// Gives each heap block the site that `of` names for its calls, innermost first: where it is kept, rather than where
    /// the allocator was called.
    pub fn settle_sites(&mut self, of: impl FnMut(&[u64]) -> u64) {
        self.facts.heap.settle(of);
    }

    /// Functions entered since this was last asked.
    pub fn take_entries(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.facts.entries)
    }

    /// How the recording ended, as far as the header tells by now.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn ending(&mut self) -> Result<Ending, TraceError> {
        let header = self.header()?;
        Ok(Ending { orderly: half(&header, 44) != 0, fault: half(&header, 40), lost: word(&header, 32) })
    }

    /// Byte ranges of chunks that are read to their end, each told once: their space can be given back.
    pub fn finished_chunks(&mut self) -> Vec<(u64, u64)> {
        self.finished.drain(..).map(|n| (HEADER + n * CHUNK, CHUNK)).collect()
    }

    /// Appends up to about `limit` references to `out`. While the program runs (`over` is false) only chunks that are full
    /// are read, and a thread that is in the middle of one holds the others back. Nothing is appended where nothing is
    /// certain yet, or all is read.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn advance(&mut self, over: bool, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        self.discover()?;
        let start = out.len();
        while out.len() - start < limit {
            // The thread with the earliest block; of equal ones the lowest number.
            let mut next: Option<(u64, u64)> = None;
            let numbers: Vec<u64> = self.threads.keys().copied().collect();
            for number in numbers {
                match self.peek(number, over)? {
                    Peek::Block(stamp) if next.is_none_or(|(best, _)| stamp < best) => next = Some((stamp, number)),
                    Peek::Block(_) | Peek::Nothing => {}
                    Peek::Wait => return Ok(()),
                }
            }
            let Some((_, number)) = next else { return Ok(()) };
            self.block(number, out);
        }
        Ok(())
    }

    fn header(&mut self) -> Result<Vec<u8>, TraceError> {
        self.read(0, HEADER)
    }

    /// Bytes from `offset` on; fewer at the end of the file.
    fn read(&mut self, offset: u64, bytes: u64) -> Result<Vec<u8>, TraceError> {
        let mut out = Vec::new();
        let mut read = || -> io::Result<usize> {
            self.file.seek(SeekFrom::Start(offset))?;
            (&self.file).take(bytes).read_to_end(&mut out)
        };
        read().map_err(|e| TraceError::io(&self.name, "the spool cannot be read", e))?;
        Ok(out)
    }

    /// Finds chunks that were claimed since.
    fn discover(&mut self) -> Result<(), TraceError> {
        let header = self.header()?;
        let length = self.file.metadata().map_err(|e| TraceError::io(&self.name, "the spool cannot be read", e))?.len();
        // Sizes in files are not trusted: what is not there was not claimed.
        let claimed = word(&header, 24).min(length.saturating_sub(HEADER).div_ceil(CHUNK));
        let mut candidates = std::mem::take(&mut self.unborn);
        candidates.extend(self.seen..claimed);
        self.seen = self.seen.max(claimed);
        for number in candidates {
            let head = self.read(HEADER + number * CHUNK, HEAD * SLOT_BYTES)?;
            if word(&head, 24) != CHUNK_MAGIC {
                self.unborn.push(number);
                continue;
            }
            let thread = self.threads.entry(word(&head, 8)).or_default();
            // Claimed in order, but perhaps seen out of order.
            let at = thread.chunks.iter().position(|&c| c > number).unwrap_or(thread.chunks.len());
            thread.chunks.insert(at, number);
        }
        Ok(())
    }

    /// What comes next of a thread; reads it where it must.
    fn peek(&mut self, number: u64, over: bool) -> Result<Peek, TraceError> {
        loop {
            let Some(thread) = self.threads.get(&number) else { return Ok(Peek::Nothing) };
            if thread.at < thread.words.len() {
                return Ok(Peek::Block(thread.stamp_ahead()));
            }
            let Some(&chunk) = thread.chunks.front() else { return Ok(Peek::Nothing) };
            let slot = thread.slot;
            let base = HEADER + chunk * CHUNK;
            let head = self.read(base, HEAD * SLOT_BYTES)?;
            let used = word(&head, 0).min(SLOTS);
            if used < SLOTS && !over {
                return Ok(Peek::Wait);
            }
            let from = slot.max(HEAD);
            let to = (from / STAMP * STAMP + READ).min(used);
            let bytes =
                if from < to { self.read(base + from * SLOT_BYTES, (to - from) * SLOT_BYTES)? } else { Vec::new() };
            let Some(thread) = self.threads.get_mut(&number) else { return Ok(Peek::Nothing) };
            if bytes.len() < 16 {
                thread.chunks.pop_front();
                (thread.slot, thread.at) = (0, 0);
                thread.words.clear();
                self.finished.push(chunk);
                continue;
            }
            if slot == 0 {
                thread.stamp = thread.stamp.max(word(&head, 16));
            }
            thread.words.clear();
            thread.words.extend(bytes.chunks_exact(8).map(|b| word(b, 0)));
            thread.words.truncate(thread.words.len() & !1);
            (thread.slot, thread.at) = (to, 0);
        }
    }

    /// Gives the records of a thread up to its next stamp.
    fn block(&mut self, number: u64, out: &mut Vec<Reference>) {
        let Some(thread) = self.threads.get_mut(&number) else { return };
        thread.stamp = thread.stamp_ahead();
        let core = u16::try_from(number).unwrap_or(u16::MAX);
        let mut first_of_block = true;
        while let Some(&[first, second]) = thread.words.get(thread.at..thread.at + 2) {
            let stamp = first >> 56 == code::STAMP;
            if stamp && !first_of_block {
                break;
            }
            first_of_block = false;
            thread.at += 2;
            if stamp || first == 0 {
                continue;
            }
            let (low, size) = (first & ADDRESS, u32::try_from(first >> 56 & 63).unwrap_or(0) + 1);
            let kind = match first >> 62 {
                1 => Kind::Read,
                2 => Kind::Write,
                3 => Kind::Modify,
                _ => {
                    thread.special(number, first >> 56, low, second, self.given, &mut self.facts);
                    continue;
                }
            };
            self.given += 1;
            out.push(Reference { addr: low, pc: second, size, core, lane: NO_LANE, kind });
        }
    }
}

enum Peek {
    /// A block at this time.
    Block(u64),
    /// No more chunks.
    Nothing,
    /// A chunk that the program still writes.
    Wait,
}

impl Thread {
    /// Time of the block at `at`: of its own stamp where it begins with one.
    fn stamp_ahead(&self) -> u64 {
        match self.words.get(self.at..self.at + 2) {
            Some(&[first, second]) if first >> 56 == code::STAMP => second.max(self.stamp),
            _ => self.stamp,
        }
    }

    fn special(&mut self, number: u64, code: u64, low: u64, second: u64, now: u64, facts: &mut Facts) {
        match code {
            code::SITE => {
                self.made = Made::from_code(low);
                self.calls.clear();
                self.calls.push(second);
            }
            // As many as the runtime tells of.
            code::CALLER if self.calls.len() <= 10 => self.calls.push(second),
            code::CALLER => {}
            code::ALLOC => {
                facts.heap.allocated(low, second, std::mem::take(&mut self.made), &self.calls, now);
                self.calls.clear();
            }
            code::FREE => facts.heap.freed(low, now),
            code::FRAME => {
                // In a loop the same function comes again and again.
                if self.entered != (low, second) {
                    self.entered = (low, second);
                    facts.entries.push(Entry { thread: number, frame: low, pc: second, now });
                }
            }
            code::TEXT => {
                let n = usize::try_from(low).unwrap_or(8).min(8);
                // As long as the runtime makes them.
                if self.text.len() < 200 {
                    self.text.extend_from_slice(&second.to_le_bytes()[..n]);
                }
            }
            code::MARK => facts.mark(&std::mem::take(&mut self.text), now),
            code::SHAPE => self.shape = (low, second),
            code::REGION => {
                let shape = std::mem::take(&mut self.shape);
                facts.region(&std::mem::take(&mut self.text), low, second, shape, now);
            }
            _ => facts.unknown += 1,
        }
    }
}

/// Eight bytes from `at`, little-endian; 0 past the end.
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

fn half(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}
