//! The spool of a captured program (`capture/spool.h`): its header, its chunks, and the threads' records merged by time.
//!
//! The file may still be growing: [`Spool::advance`] gives what is certain so far, and [`Spool::release`] gives chunks that were
//! read back to the program. Order within a thread is exact. Threads are
//! merged in blocks of up to 255 records, each as a whole at its time stamp.

use super::facts::{Entry, Facts};
use super::modules::Change;
use super::thread::{ADDRESS, Claim, HEAD, Thread, code};
use crate::reference::{Kind, NO_LANE, Reference};
use crate::trace::error::{Fault, Place, TraceError};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// The first bytes of a spool.
pub const MAGIC: &[u8; 8] = b"ORRSPOOL";
const CHUNK_MAGIC: u64 = 0x4b4e_5548_4352_4f21;
const VERSION: u32 = 2;
const HEADER: u64 = 65_536;
const CHUNK: u64 = 1 << 20;
const SLOTS: u64 = 65_536;
const STAMP: u64 = 256;
const SLOT_BYTES: u64 = 16;
/// Bytes of a chunk's head, and of the numbers in the header.
const HEAD_BYTES: usize = 64;
/// Where in a chunk's head the reader says which turn it has read.
const READ_AT: u64 = 40;
/// Where in the header the reader says how many chunks it has read to their end.
const PROGRESS_AT: u64 = HEADER - 8;
/// Slots read at once for a thread: 16 blocks, 64 KiB.
const READ: u64 = 16 * STAMP;

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

/// What a spool let go of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// Chunks that were read to their end.
    pub chunks: usize,
    /// First byte and length of those that nobody takes back.
    pub ranges: Vec<(u64, u64)>,
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
    /// Chunks that were given back, and the turn that was read: the program may fill them again.
    given_back: Vec<(u64, u64)>,
    threads: BTreeMap<u64, Thread>,
    facts: Facts,
    /// References given so far.
    given: u64,
    /// Chunks read to their end since [`Spool::release`], with their turns.
    finished: Vec<(u64, u64)>,
    /// Chunks read to their end so far, as the header says.
    released: u64,
    /// Those that the program has left, since then.
    left: Vec<u64>,
    /// The time of the newest chunk of all when chunks were last looked for.
    horizon: u64,
    /// The thread whose block was given in part.
    within: Option<u64>,
    /// What comes next of each thread, in their order; kept for its memory.
    heads: Vec<(u64, Peek)>,
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
            given_back: Vec::new(),
            threads: BTreeMap::new(),
            facts: Facts::default(),
            given: 0,
            finished: Vec::new(),
            released: 0,
            left: Vec::new(),
            horizon: 0,
            within: None,
            heads: Vec::new(),
        };
        let mut header = Vec::new();
        spool.read(0, HEADER, &mut header)?;
        let wrong = |found: String, expected: &str| {
            let remedy = "check that it is the .orrery.part of a program built by this orrery";
            TraceError::Damaged(Fault::new(Place::offset(&spool.name, 0), found, expected, remedy))
        };
        if header.get(..8) != Some(MAGIC) {
            return Err(wrong("no ORRSPOOL at the start".into(), "the spool of a captured program"));
        }
        let version = half(&header, 8);
        if version != VERSION || u64::from(half(&header, 12)) != HEADER || word(&header, 16) != CHUNK {
            return Err(wrong(format!("a spool of version {version}"), "version 2, chunks of 1 MiB"));
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
        spool.facts.modules.begin(&spool.program.maps);
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

    /// Threads that recorded so far. Each costs a look whenever the spool advances.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.len()
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

    /// Files that were loaded and unloaded since this was last asked.
    pub fn take_changes(&mut self) -> Vec<Change> {
        self.facts.modules.take()
    }

    /// How the recording ended, as far as the header tells by now.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn ending(&mut self) -> Result<Ending, TraceError> {
        let header = self.header()?;
        Ok(Ending { orderly: half(&header, 44) != 0, fault: half(&header, 40), lost: word(&header, 32) })
    }

    /// Lets go of chunks that are read to their end: those that the program still has in memory are given back to it by a word
    /// in `file`, the spool opened for writing; the byte ranges of the others are told, once, for their space can be given back.
    /// When the program is no more (`over`), these are all.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn release(&mut self, mut file: &File, over: bool) -> Result<Released, TraceError> {
        let name = &self.name;
        let mut tell = |at: u64, word: u64| {
            file.seek(SeekFrom::Start(at))
                .and_then(|_| file.write_all(&word.to_le_bytes()))
                .map_err(|e| TraceError::io(name, "the spool cannot be written", e))
        };
        let finished = std::mem::take(&mut self.finished);
        let chunks = finished.len();
        if !finished.is_empty() {
            self.released += finished.len() as u64;
            tell(PROGRESS_AT, self.released)?;
        }
        let mut left = std::mem::take(&mut self.left);
        if over {
            left.extend(
                std::mem::take(&mut self.given_back).into_iter().chain(finished.iter().copied()).map(|(n, _)| n),
            );
        }
        let mut head = [0; HEAD_BYTES];
        for (number, turn) in finished.into_iter().filter(|_| !over) {
            let base = HEADER + number * CHUNK;
            self.fill(base, &mut head)?;
            // Programs that know of no turns leave each chunk.
            if turn == 0 || Head::of(&head).left {
                left.push(number);
                continue;
            }
            tell(base + READ_AT, turn)?;
            self.given_back.push((number, turn));
        }
        Ok(Released { chunks, ranges: left.into_iter().map(|number| (HEADER + number * CHUNK, CHUNK)).collect() })
    }

    /// Appends up to `limit` references to `out`. While the program runs (`over` is false) chunks are read when they are
    /// whole; of one that is not, what is there, where other threads are ahead. Nothing is appended where nothing is certain
    /// yet, or all is read.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn advance(&mut self, over: bool, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        self.discover()?;
        let (start, given) = (out.len(), self.given);
        let advanced = self.merge(over, limit, out);
        self.facts.modules.mark(out.get_mut(start..).unwrap_or_default(), given);
        advanced
    }

    fn merge(&mut self, over: bool, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        let past = out.len().saturating_add(limit);
        out.reserve(limit);
        if let Some(number) = self.within.take() {
            self.block(number, past, out);
        }
        let mut heads = std::mem::take(&mut self.heads);
        heads.clear();
        let numbers: Vec<u64> = self.threads.keys().copied().collect();
        for number in numbers {
            heads.push((number, self.peek(number, over)?));
        }
        let block = |(_, peek): &(u64, Peek)| matches!(peek, Peek::Block(_));
        if heads.iter().any(block) {
            for (number, head) in heads.iter_mut().filter(|(_, peek)| *peek == Peek::Wait) {
                *head = self.look_closer(*number)?;
            }
        }
        let bound = |heads: &[(u64, Peek)]| {
            let until =
                heads.iter().filter_map(|(_, peek)| if let Peek::Until(time) = peek { Some(*time) } else { None });
            until.min().unwrap_or(u64::MAX)
        };
        let mut certain = bound(&heads);
        while out.len() < past {
            // The thread with the earliest block; of equal ones the lowest number.
            let next = heads.iter_mut().filter(|head| block(head)).min_by_key(|(_, peek)| *peek);
            let Some((number, head)) = next.filter(|(_, peek)| *peek <= Peek::Block(certain)) else { break };
            let number = *number;
            self.block(number, past, out);
            if self.within.is_none() {
                *head = self.peek(number, over)?;
                if *head == Peek::Wait {
                    *head = self.look_closer(number)?;
                    certain = bound(&heads);
                }
            }
        }
        self.heads = heads;
        Ok(())
    }

    /// The numbers in the header, without its text.
    fn header(&mut self) -> Result<Vec<u8>, TraceError> {
        let mut header = Vec::new();
        self.read(0, HEAD_BYTES as u64, &mut header)?;
        Ok(header)
    }

    /// Replaces `out` by bytes from `offset` on; fewer at the end of the file.
    fn read(&self, offset: u64, bytes: u64, out: &mut Vec<u8>) -> Result<(), TraceError> {
        out.resize(usize::try_from(bytes).unwrap_or(0), 0);
        let n = self.fill(offset, out)?;
        out.truncate(n);
        Ok(())
    }

    /// Fills `out` from `offset` on; how much of it there was.
    fn fill(&self, offset: u64, out: &mut [u8]) -> Result<usize, TraceError> {
        let mut filled = 0;
        let mut read = || -> io::Result<()> {
            (&self.file).seek(SeekFrom::Start(offset))?;
            while filled < out.len() {
                match (&self.file).read(&mut out[filled..]) {
                    Ok(0) => break,
                    Ok(n) => filled += n,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) => return Err(e),
                }
            }
            Ok(())
        };
        read().map_err(|e| TraceError::io(&self.name, "the spool cannot be read", e))?;
        Ok(filled)
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
        let mut bytes = [0; HEAD_BYTES];
        for number in candidates {
            bytes.fill(0);
            self.fill(HEADER + number * CHUNK, &mut bytes)?;
            match Head::of(&bytes) {
                head if head.magic == CHUNK_MAGIC => self.found(number, head),
                _ => self.unborn.push(number),
            }
        }
        let mut given_back = std::mem::take(&mut self.given_back);
        for (number, turn) in given_back.drain(..) {
            bytes.fill(0);
            self.fill(HEADER + number * CHUNK, &mut bytes)?;
            match Head::of(&bytes) {
                head if head.turn != turn => self.found(number, head),
                head if head.left => self.left.push(number),
                _ => self.given_back.push((number, turn)),
            }
        }
        Ok(())
    }

    /// Takes a chunk that has something new.
    fn found(&mut self, number: u64, head: Head) {
        self.horizon = self.horizon.max(head.stamp);
        let thread = self.threads.entry(head.thread).or_default();
        let claim = Claim { turn: head.turn, number };
        // Claimed in order, but perhaps seen out of order.
        let at = thread.chunks.iter().position(|&other| other > claim).unwrap_or(thread.chunks.len());
        thread.chunks.insert(at, claim);
    }

    /// What comes next of a thread; reads it where it must.
    fn peek(&mut self, number: u64, over: bool) -> Result<Peek, TraceError> {
        loop {
            let Some(thread) = self.threads.get_mut(&number) else { return Ok(Peek::Nothing) };
            if thread.at < thread.words.len() {
                return Ok(Peek::Block(thread.stamp_ahead()));
            }
            let Some(&claim) = thread.chunks.front() else {
                // A thread that may be over keeps no memory.
                thread.words = Vec::new();
                thread.at = 0;
                return Ok(Peek::Nothing);
            };
            let (slot, misses_one) = (thread.slot, thread.misses_one());
            let mut words = std::mem::take(&mut thread.words);
            let base = HEADER + claim.number * CHUNK;
            let mut bytes = [0; HEAD_BYTES];
            self.fill(base, &mut bytes)?;
            let head = Head::of(&bytes);
            if (misses_one || head.whole < SLOTS) && !over {
                if let Some(thread) = self.threads.get_mut(&number) {
                    thread.words = words;
                    thread.words.clear();
                    thread.at = 0;
                }
                return Ok(Peek::Wait);
            }
            self.records(base, slot, &mut words)?;
            // Records lie one behind the other: behind so many slots that are not filled there is none.
            if words.chunks_exact(2).all(|record| record[0] == 0) {
                words.clear();
            }
            let Some(thread) = self.threads.get_mut(&number) else { return Ok(Peek::Nothing) };
            (thread.words, thread.at) = (words, 0);
            if thread.words.is_empty() {
                thread.chunks.pop_front();
                (thread.slot, thread.turn) = (0, claim.turn);
                self.finished.push((claim.number, claim.turn));
                continue;
            }
            if slot == 0 {
                thread.stamp = thread.stamp.max(head.stamp);
            }
            thread.past(slot);
            return Ok(Peek::Block(thread.stamp_ahead()));
        }
    }

    /// What a thread has filled of a chunk that it is in the middle of, where others wait for it: it may sleep for long.
    /// Whatever it records later is later than [`Spool::horizon`] was when nothing more was found.
    fn look_closer(&mut self, number: u64) -> Result<Peek, TraceError> {
        let horizon = self.horizon;
        let Some(thread) = self.threads.get_mut(&number) else { return Ok(Peek::Nothing) };
        let Some(&claim) = thread.chunks.front() else { return Ok(Peek::Nothing) };
        if thread.misses_one() {
            return Ok(Peek::Until(thread.stamp));
        }
        if thread.known >= horizon {
            return Ok(Peek::Until(thread.known));
        }
        let slot = thread.slot;
        let mut words = std::mem::take(&mut thread.words);
        let base = HEADER + claim.number * CHUNK;
        let mut head = [0; HEAD_BYTES];
        self.fill(base, &mut head)?;
        self.records(base, slot, &mut words)?;
        let filled = words.chunks_exact(2).take_while(|record| record[0] != 0).count();
        words.truncate(2 * filled);
        let Some(thread) = self.threads.get_mut(&number) else { return Ok(Peek::Nothing) };
        (thread.words, thread.at) = (words, 0);
        if slot == 0 {
            thread.stamp = thread.stamp.max(Head::of(&head).stamp);
        }
        if filled == 0 {
            thread.known = horizon;
            return Ok(Peek::Until(horizon));
        }
        thread.stamp = thread.stamp.max(thread.known);
        thread.past(slot);
        Ok(Peek::Block(thread.stamp_ahead()))
    }

    /// Replaces `words` by those of a chunk from `slot` on, so many as are read at once.
    fn records(&self, base: u64, slot: u64, words: &mut Vec<u64>) -> Result<(), TraceError> {
        let from = slot.max(HEAD);
        let to = (from / STAMP * STAMP + READ).min(SLOTS);
        words.resize(2 * usize::try_from(to.saturating_sub(from)).unwrap_or(0), 0);
        let bytes = self.fill(base + from * SLOT_BYTES, bytemuck::cast_slice_mut(words))?;
        words.truncate(bytes / 16 * 2);
        if cfg!(target_endian = "big") {
            words.iter_mut().for_each(|word| *word = word.swap_bytes());
        }
        Ok(())
    }

    /// Gives the records of a thread up to its next stamp, or until `out` has `past` references.
    fn block(&mut self, number: u64, past: usize, out: &mut Vec<Reference>) {
        let Some(thread) = self.threads.get_mut(&number) else { return };
        let core = u16::try_from(number).unwrap_or(u16::MAX);
        if let Some(&[first, second]) = thread.words.get(thread.at..thread.at + 2)
            && first >> 56 == code::STAMP
        {
            thread.stamp = thread.stamp.max(second);
            thread.at += 2;
        }
        while let Some(words) = thread.words.get(thread.at..)
            && out.len() < past
        {
            let (before, room) = (out.len(), past - out.len());
            let pairs = words.as_chunks::<2>().0;
            // References are what comes most: many at once where nothing else is among them.
            for many in pairs[..pairs.len().min(room)].chunks_exact(MANY) {
                if many.iter().fold(false, |any, [first, _]| any | (first >> 62 == 0)) {
                    break;
                }
                out.extend(many.iter().map(|record| reference(record, core)));
            }
            let rest = pairs[out.len() - before..].iter().take(room - (out.len() - before));
            out.extend(rest.take_while(|[first, _]| first >> 62 != 0).map(|record| reference(record, core)));
            let given = out.len() - before;
            self.given += given as u64;
            thread.at += 2 * given;
            let Some(&[first, second]) = pairs.get(given) else { break };
            if first >> 62 != 0 {
                break;
            }
            if first >> 56 == code::STAMP {
                return;
            }
            thread.at += 2;
            if first != 0 {
                thread.special(number, first >> 56, first & ADDRESS, second, self.given, &mut self.facts);
            }
        }
        // The rest of the block goes before all others.
        let next = thread.words.get(thread.at).filter(|first| **first >> 56 != code::STAMP);
        self.within = next.map(|_| number);
    }
}

/// References decoded at once.
const MANY: usize = 16;

/// A record that is one, of a thread.
#[inline(always)]
fn reference(&[first, second]: &[u64; 2], core: u16) -> Reference {
    const KINDS: [Kind; 4] = [Kind::Read, Kind::Read, Kind::Write, Kind::Modify];
    let kind = usize::try_from(first >> 62).unwrap_or(0) % KINDS.len();
    let size = u32::try_from(first >> 56 & 63).unwrap_or(0) + 1;
    Reference { addr: first & ADDRESS, pc: second, size, core, lane: NO_LANE, kind: KINDS[kind] }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Peek {
    /// A block at this time.
    Block(u64),
    /// No more chunks.
    Nothing,
    /// A chunk that the program still writes.
    Wait,
    /// Nothing yet of a chunk that the program still writes; what comes is later than this time.
    Until(u64),
}

/// The first bytes of a chunk: `struct orrery_chunk`.
#[derive(Clone, Copy, Debug)]
struct Head {
    whole: u64,
    thread: u64,
    stamp: u64,
    magic: u64,
    turn: u64,
    left: bool,
}

impl Head {
    fn of(bytes: &[u8; HEAD_BYTES]) -> Self {
        let [whole, thread, stamp, magic, turn] = std::array::from_fn(|n| word(bytes, 8 * n));
        Self { whole, thread, stamp, magic, turn, left: word(bytes, 48) != 0 }
    }
}

/// Eight bytes from `at`, little-endian; 0 past the end.
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

fn half(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}
