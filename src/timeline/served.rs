//! Who served the references to which part of memory, over any part of the trace: what the bars of the large picture are
//! made of.
//!
//! Memory is counted by [`ServedBlock`]s of one size, as small as some hundreds of them suffice. A reference counts once, to the
//! block of its first byte, and to the outermost level that had to answer it, or to memory. What the caches leave out does not count.

use super::answers::Marks;
use super::flows::Blocks;
use super::ladder::{Border, Ladder};
use super::log::Step;
use super::tally::MAX_LEVELS;
use crate::reference::Reference;
use crate::sim::Batch;
use crate::units::Addr;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Blocks at most.
const BLOCKS: usize = 384;
/// Borders at most, and bytes of all counts.
const BORDERS: usize = 512;
const BYTES: usize = 6 << 20;

/// What stands for the server of a reference that the caches leave out.
const LEFT_OUT: u8 = u8::MAX;

/// Number of those that may serve: all levels, and memory last.
pub const SERVERS: usize = MAX_LEVELS + 1;

/// References to a block of memory, by who served them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedBlock {
    /// First byte of the block.
    pub addr: u64,
    /// Bytes in it, a power of two.
    pub bytes: u64,
    /// References by the level that served them; those that memory did stand behind the last level of the hierarchy.
    pub by: [u64; SERVERS],
}

/// Counts from the start of the trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Counts {
    blocks: Blocks,
    /// By block, in the order of `blocks`: [`SERVERS`] each.
    by: Vec<u64>,
}

/// All of a trace so far. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Served {
    levels: usize,
    counts: Counts,
    ladder: Ladder,
    /// Of references that are played at once: who served each, as far as is known.
    asked: Vec<u8>,
}

/// Counts as bytes, for the file of an index.
pub(super) type Stored = (Vec<u8>, (u64, Vec<Vec<u8>>));

impl Counts {
    fn new() -> Self {
        Self { blocks: Blocks::new(BLOCKS), by: Vec::new() }
    }

    #[inline(always)]
    fn add(&mut self, addr: u64, server: usize) {
        let block = loop {
            if let Some(block) = self.blocks.of(Addr(addr)) {
                break block;
            }
            self.widen();
        };
        let at = block * SERVERS + server.min(SERVERS - 1);
        if at >= self.by.len() {
            self.by.resize((block + 1) * SERVERS, 0);
        }
        self.by[at] += 1;
    }

    /// Makes room for more blocks: the counts of those that are one now are summed.
    #[cold]
    fn widen(&mut self) {
        let moved = self.blocks.widen();
        let mut by = vec![0; moved.iter().max().map_or(0, |last| (last + 1) * SERVERS)];
        for (counts, to) in self.by.chunks(SERVERS).zip(moved) {
            by[to * SERVERS..].iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        self.by = by;
    }

    /// By the number of their block, where blocks have 2^`shift` bytes, no fewer than here.
    fn each(&self, shift: u32, mut take: impl FnMut(u64, &[u64])) {
        for (start, counts) in self.blocks.starts().zip(self.by.chunks(SERVERS)) {
            take(start >> shift, counts);
        }
    }
}

/// Who served a reference that did this: a level, or `levels` for memory.
#[inline(always)]
fn server(marks: Marks, levels: usize) -> usize {
    match marks.asked.checked_ilog2() {
        Some(top) if marks.missed >> top & 1 == 0 => top as usize,
        // No level had it, or it passes none.
        _ => levels,
    }
}

impl Served {
    /// Of no reference yet.
    pub(super) fn new(levels: usize) -> Self {
        Self { levels, counts: Counts::new(), ladder: Ladder::new(BORDERS, BYTES), asked: Vec::new() }
    }

    /// The reference after `tick` before which the next border is: [`Served::step`] must be told of it.
    pub(super) fn edge_after(&self, tick: u64) -> u64 {
        self.ladder.edge_after(tick)
    }

    /// Says that reference `tick` is next.
    pub(super) fn step(&mut self, tick: u64) {
        let counts = &self.counts;
        self.ladder.step(tick, || postcard::to_allocvec(counts).unwrap_or_default().into());
    }

    /// Counts a reference.
    #[inline]
    pub(super) fn add(&mut self, addr: u64, marks: Marks) {
        self.counts.add(addr, server(marks, self.levels));
    }

    /// Counts the references of a batch; `first` says which level each asks first, `None` where it is left out.
    #[inline(always)]
    pub(super) fn batch(&mut self, batch: &Batch<'_>, first: impl Fn(&Reference) -> Option<u8>) {
        let Self { levels, counts, asked, .. } = self;
        let memory = u8::try_from(*levels).unwrap_or(u8::MAX);
        if batch.misses.is_empty() {
            for reference in batch.references {
                if let Some(level) = first(reference) {
                    counts.add(reference.addr, usize::from(level.min(memory)));
                }
            }
            return;
        }
        asked.clear();
        asked.extend(
            batch.references.iter().map(|reference| first(reference).map_or(LEFT_OUT, |level| level.min(memory))),
        );
        // From the CPU outward: who is asked later is farther out, and who misses there is answered by memory unless he asks on.
        for list in batch.misses {
            let level = list.level.0;
            list.asked.iter().for_each(|&place| asked[usize::from(place)] = level);
            for &place in list.missed {
                let server = &mut asked[usize::from(place)];
                *server = if *server == level { memory } else { *server };
            }
        }
        for (reference, server) in batch.references.iter().zip(&*asked).filter(|(_, server)| **server != LEFT_OUT) {
            counts.add(reference.addr, usize::from(*server));
        }
    }

    /// Bytes of a block.
    #[must_use]
    pub fn block_bytes(&self) -> u64 {
        1 << self.counts.blocks.shift()
    }

    /// Who served references to which block, in order of addresses, in some of them; and in which exactly: up to the borders
    /// outside them. `len` is how many there are.
    #[must_use]
    pub fn over(&self, references: Range<u64>, len: u64) -> (Vec<ServedBlock>, Range<u64>) {
        let borders = self.ladder.around(&references);
        let mut sums: BTreeMap<u64, [u64; SERVERS]> = BTreeMap::new();
        let shift = self.counts.blocks.shift();
        let mut add = |border: Border<'_>, with: fn(&mut u64, u64)| {
            let mut take = |block: u64, counts: &[u64]| {
                sums.entry(block).or_default().iter_mut().zip(counts).for_each(|(sum, count)| with(sum, *count));
            };
            match border {
                Border::Start => {}
                Border::Before(_, packed) => {
                    if let Ok(counts) = postcard::from_bytes::<Counts>(packed) {
                        counts.each(shift, &mut take);
                    }
                }
                Border::End => self.counts.each(shift, &mut take),
            }
        };
        add(borders[1], |sum, count| *sum = sum.saturating_add(count));
        add(borders[0], |sum, count| *sum = sum.saturating_sub(count));
        (blocks(sums, shift), borders[0].tick(len)..borders[1].tick(len))
    }

    /// As [`Served::over`], of steps that are known one by one.
    #[must_use]
    pub fn of_steps<'s>(&self, steps: impl Iterator<Item = &'s Step>) -> Vec<ServedBlock> {
        let shift = self.counts.blocks.shift();
        let mut sums: BTreeMap<u64, [u64; SERVERS]> = BTreeMap::new();
        for step in steps {
            let marks = Marks { asked: step.hits | step.misses, missed: step.misses };
            sums.entry(step.addr >> shift).or_default()[server(marks, self.levels).min(SERVERS - 1)] += 1;
        }
        blocks(sums, shift)
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.ladder.bytes() + self.counts.by.len() * size_of::<u64>()
    }

    /// For [`Served::read`].
    pub(super) fn stored(&self) -> Stored {
        (postcard::to_allocvec(&self.counts).unwrap_or_default(), self.ladder.stored())
    }

    /// What [`Served::stored`] gave; `None` where it is damaged.
    pub(super) fn read(levels: usize, (counts, ladder): Stored) -> Option<Self> {
        let mut served = Self::new(levels);
        served.counts = postcard::from_bytes(&counts).ok()?;
        served.ladder = served.ladder.read(ladder);
        Some(served)
    }
}

fn blocks(sums: BTreeMap<u64, [u64; SERVERS]>, shift: u32) -> Vec<ServedBlock> {
    let touched = sums.into_iter().filter(|(_, by)| by.iter().any(|count| *count > 0));
    touched.map(|(block, by)| ServedBlock { addr: block << shift, bytes: 1 << shift, by }).collect()
}
