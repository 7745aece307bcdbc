//! Who served the references to which part of memory, over any part of the trace: what the bars of the large picture are
//! made of.
//!
//! Each region that the trace names is counted in parts of one size, more of them for a larger region. A reference counts to the
//! region that holds its first byte at that time, so a block of memory keeps its counts when it is freed and its address
//! belongs to another. Memory that no region names is counted in blocks of one size, as small as some hundreds of them suffice.
//! A reference counts once, to the outermost level that had to answer it, or to memory. What the caches leave out does not count.

use super::answers::Marks;
use super::flows::Blocks;
use super::ladder::{Border, Ladder};
use super::log::Step;
use super::tally::MAX_LEVELS;
use crate::reference::{Reference, Region};
use crate::sim::Batch;
use crate::units::{Addr, to_count};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Blocks of memory that no region names, at most.
const BLOCKS: usize = 384;
/// Parts of all named regions, at most, beside one for each: half of them by the root of bytes, half evenly.
const PARTS: f32 = 2048.0;
/// log2 of the bytes in a part, at least.
const LEAST: u32 = 4;
/// Borders at most, and bytes of all counts.
const BORDERS: usize = 512;
const BYTES: usize = 6 << 20;

/// What stands for the server of a reference that the caches leave out.
const LEFT_OUT: u8 = u8::MAX;

/// Number of those that may serve: all levels, and memory last.
pub const SERVERS: usize = MAX_LEVELS + 1;

/// References to a part of a region, or to a block of memory that no region names, by who served them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedBlock {
    /// The region that held it when it was referenced: its number among those that the trace names. `None` = no named one did.
    pub named: Option<u32>,
    /// First byte.
    pub addr: u64,
    /// Bytes in it, a power of two. The last part of a region may reach past its end.
    pub bytes: u64,
    /// References by the level that served them; those that memory did stand behind the last level of the hierarchy.
    pub by: [u64; SERVERS],
}

impl ServedBlock {
    /// References, whoever served them.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.by.iter().sum()
    }

    /// Which part of memory it is: the region that held it, and its first byte.
    #[must_use]
    pub fn place(&self) -> (Option<u32>, u64) {
        (self.named, self.addr)
    }
}

/// How a named region is parted.
#[derive(Clone, Copy, Debug)]
struct Parted {
    base: u64,
    /// log2 of the bytes in a part.
    shift: u32,
    /// Number of its first part, counted over all regions.
    first: u32,
}

/// The parts of all named regions.
#[derive(Debug)]
struct Parts {
    regions: Vec<Parted>,
    len: usize,
}

impl Parts {
    /// The number of a region's parts grows with the root of its bytes, as the room does that a picture gives it.
    fn new(named: &[Region]) -> Self {
        let root = |region: &Region| (region.bytes.max(1) as f32).sqrt();
        let all: f32 = named.iter().map(root).sum::<f32>().max(f32::MIN_POSITIVE);
        let mut len = 0u32;
        let parted = |region: &Region| {
            let most = 0.5 * PARTS * (root(region) / all + 1.0 / named.len() as f32);
            let most = u64::from(to_count(most).max(1));
            let parts = |shift: u32| ((region.bytes.max(1) - 1) >> shift) + 1;
            let shift = (LEAST..63).find(|shift| parts(*shift) <= most).unwrap_or(63);
            let parted = Parted { base: region.base, shift, first: len };
            len += u32::try_from(parts(shift)).unwrap_or(1);
            parted
        };
        let regions = named.iter().map(parted).collect();
        Self { regions, len: len as usize }
    }

    /// The part of a named region that has a byte of it; `None` where none is named.
    #[inline(always)]
    fn part(&self, region: Option<u32>, addr: u64) -> Option<usize> {
        let Parted { base, shift, first } = self.regions.get(region? as usize)?;
        Some(*first as usize + usize::try_from(addr.wrapping_sub(*base) >> shift).ok()?)
    }

    /// The region of a part, and the part's first byte and bytes.
    fn at(&self, part: usize) -> (u32, u64, u64) {
        let number = u32::try_from(part).unwrap_or(u32::MAX);
        let region = self.regions.partition_point(|region| region.first <= number).saturating_sub(1);
        let Parted { base, shift, first } = self.regions[region];
        let addr = base.saturating_add(u64::from(number - first) << shift);
        (u32::try_from(region).unwrap_or(u32::MAX), addr, 1 << shift)
    }
}

/// Where a count belongs: a part of a named region, or a block of other memory, by the number of its first byte over its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Where {
    Part(usize),
    Block(u64),
}

/// Counts from the start of the trace, [`Served::width`] numbers for each place: by who served.
#[derive(Clone, Debug)]
struct Counts {
    width: usize,
    parts: Vec<u64>,
    blocks: Blocks,
    /// In the order of `blocks`.
    others: Vec<u64>,
}

/// [`Counts`] in few bytes: of the parts, those that have any references.
#[derive(Serialize, Deserialize)]
struct Few {
    /// For each such part, how many parts without references come before it, and its counts.
    parts: Vec<u64>,
    blocks: Blocks,
    others: Vec<u64>,
}

/// All of a trace so far. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Served {
    levels: usize,
    regions: Arc<Parts>,
    counts: Counts,
    ladder: Ladder,
    /// Of references that are played at once: who served each, as far as is known.
    asked: Vec<u8>,
}

/// Counts as bytes, for the file of an index.
pub(super) type Stored = (Vec<u8>, (u64, Vec<Vec<u8>>));

impl Counts {
    fn new(width: usize, parts: usize) -> Self {
        Self { width, parts: vec![0; parts * width], blocks: Blocks::new(BLOCKS), others: Vec::new() }
    }

    /// Counts a reference to a byte that a named region holds, or none.
    #[inline(always)]
    fn add(&mut self, regions: &Parts, region: Option<u32>, addr: u64, server: usize) {
        let server = server.min(self.width - 1);
        let Some(part) = regions.part(region, addr) else { return self.add_other(addr, server) };
        if let Some(count) = self.parts.get_mut(part * self.width + server) {
            *count += 1;
        }
    }

    #[inline(never)]
    fn add_other(&mut self, addr: u64, server: usize) {
        let block = loop {
            if let Some(block) = self.blocks.of(Addr(addr)) {
                break block;
            }
            self.widen();
        };
        let at = block * self.width + server;
        if at >= self.others.len() {
            self.others.resize((block + 1) * self.width, 0);
        }
        self.others[at] += 1;
    }

    /// Makes room for more blocks: the counts of those that are one now are summed.
    #[cold]
    fn widen(&mut self) {
        let (moved, width) = (self.blocks.widen(), self.width);
        let mut others = vec![0; moved.iter().max().map_or(0, |last| (last + 1) * width)];
        for (counts, to) in self.others.chunks(width).zip(moved) {
            others[to * width..].iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        self.others = others;
    }

    /// All places with references; blocks by their number where they have 2^`shift` bytes, no fewer than here.
    fn each(&self, shift: u32, mut take: impl FnMut(Where, &[u64])) {
        for (part, counts) in self.parts.chunks(self.width).enumerate() {
            if counts.iter().any(|count| *count > 0) {
                take(Where::Part(part), counts);
            }
        }
        for (start, counts) in self.blocks.starts().zip(self.others.chunks(self.width)) {
            take(Where::Block(start >> shift), counts);
        }
    }

    fn packed(&self) -> Vec<u8> {
        let (mut parts, mut empty) = (Vec::new(), 0);
        for counts in self.parts.chunks(self.width) {
            if counts.iter().all(|count| *count == 0) {
                empty += 1;
                continue;
            }
            parts.push(std::mem::take(&mut empty));
            parts.extend(counts);
        }
        let few = Few { parts, blocks: self.blocks.clone(), others: self.others.clone() };
        postcard::to_allocvec(&few).unwrap_or_default()
    }

    /// What [`Counts::packed`] gave; `None` where it is damaged, or of other regions.
    fn read(width: usize, parts: usize, packed: &[u8]) -> Option<Self> {
        let few: Few = postcard::from_bytes(packed).ok()?;
        let mut counts = Self { blocks: few.blocks, others: few.others, ..Self::new(width, parts) };
        let mut part = 0usize;
        for some in few.parts.chunks(1 + width) {
            let (empty, some) = some.split_first()?;
            part = part.checked_add(usize::try_from(*empty).ok()?)?;
            let at = part.checked_mul(width)?;
            counts.parts.get_mut(at..at.checked_add(width)?)?.copy_from_slice(some.get(..width)?);
            part += 1;
        }
        Some(counts)
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
    /// Of no reference yet, to regions that the trace names.
    pub(super) fn new(levels: usize, named: &[Region]) -> Self {
        let regions = Arc::new(Parts::new(named));
        let counts = Counts::new((levels + 1).min(SERVERS), regions.len);
        Self { levels, regions, counts, ladder: Ladder::new(BORDERS, BYTES), asked: Vec::new() }
    }

    /// The reference after `tick` before which the next border is: [`Served::step`] must be told of it.
    pub(super) fn edge_after(&self, tick: u64) -> u64 {
        self.ladder.edge_after(tick)
    }

    /// Says that reference `tick` is next.
    pub(super) fn step(&mut self, tick: u64) {
        let counts = &self.counts;
        self.ladder.step(tick, || counts.packed().into());
    }

    /// Counts a reference to a byte that the named region `region` holds; `None` = no named one does.
    #[inline]
    pub(super) fn add(&mut self, addr: u64, region: Option<u32>, marks: Marks) {
        self.counts.add(&self.regions, region, addr, server(marks, self.levels));
    }

    /// Counts a reference that level `level` had, or where that is none, memory.
    #[inline(always)]
    pub(super) fn add_hit(&mut self, addr: u64, region: Option<u32>, level: u8) {
        self.counts.add(&self.regions, region, addr, usize::from(level));
    }

    /// Counts the references of a batch in `regions`; `first` says which level each asks first, `None` where it is left out.
    #[inline(always)]
    pub(super) fn batch(
        &mut self,
        batch: &Batch<'_>,
        regions: &[Option<u32>],
        first: impl Fn(&Reference) -> Option<u8>,
    ) {
        let Self { levels, counts, asked, .. } = self;
        let memory = u8::try_from(*levels).unwrap_or(u8::MAX);
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
        let all = batch.references.iter().zip(regions).zip(&*asked);
        for ((reference, region), server) in all.filter(|(_, server)| **server != LEFT_OUT) {
            counts.add(&self.regions, *region, reference.addr, usize::from(*server));
        }
    }

    /// Who served references to which part of memory, by region and in order of addresses, in some of them; and in which
    /// exactly: up to the borders outside them. `len` is how many there are.
    #[must_use]
    pub fn over(&self, references: Range<u64>, len: u64) -> (Vec<ServedBlock>, Range<u64>) {
        let borders = self.ladder.around(&references);
        let mut sums: BTreeMap<Where, [u64; SERVERS]> = BTreeMap::new();
        let shift = self.counts.blocks.shift();
        let mut add = |border: Border<'_>, with: fn(&mut u64, u64)| {
            let mut take = |place: Where, counts: &[u64]| {
                sums.entry(place).or_default().iter_mut().zip(counts).for_each(|(sum, count)| with(sum, *count));
            };
            match border {
                Border::Start => {}
                Border::Before(_, packed) => {
                    if let Some(counts) = Counts::read(self.counts.width, self.regions.len, packed) {
                        counts.each(shift, &mut take);
                    }
                }
                Border::End => self.counts.each(shift, &mut take),
            }
        };
        add(borders[1], |sum, count| *sum = sum.saturating_add(count));
        add(borders[0], |sum, count| *sum = sum.saturating_sub(count));
        (self.blocks(sums), borders[0].tick(len)..borders[1].tick(len))
    }

    /// As [`Served::over`], of steps that are known one by one.
    #[must_use]
    pub fn of_steps<'s>(&self, steps: impl Iterator<Item = &'s Step>) -> Vec<ServedBlock> {
        let shift = self.counts.blocks.shift();
        let mut sums: BTreeMap<Where, [u64; SERVERS]> = BTreeMap::new();
        for step in steps {
            let marks = Marks { asked: step.hits | step.misses, missed: step.misses };
            let part = self.regions.part(step.region, step.addr);
            let place = part.map_or(Where::Block(step.addr >> shift), Where::Part);
            sums.entry(place).or_default()[server(marks, self.levels).min(SERVERS - 1)] += 1;
        }
        self.blocks(sums)
    }

    fn blocks(&self, sums: BTreeMap<Where, [u64; SERVERS]>) -> Vec<ServedBlock> {
        let shift = self.counts.blocks.shift();
        let touched = sums.into_iter().filter(|(_, by)| by.iter().any(|count| *count > 0));
        let block = |(place, by)| match place {
            Where::Part(part) => {
                let (region, addr, bytes) = self.regions.at(part);
                ServedBlock { named: Some(region), addr, bytes, by }
            }
            Where::Block(block) => ServedBlock { named: None, addr: block << shift, bytes: 1 << shift, by },
        };
        touched.map(block).collect()
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let counts = self.counts.parts.len() + self.counts.others.len();
        self.ladder.bytes() + counts * size_of::<u64>() + self.regions.regions.len() * size_of::<Parted>()
    }

    /// For [`Served::read`].
    pub(super) fn stored(&self) -> Stored {
        (self.counts.packed(), self.ladder.stored())
    }

    /// What [`Served::stored`] gave, of the same regions; `None` where it is damaged.
    pub(super) fn read(levels: usize, named: &[Region], (counts, ladder): Stored) -> Option<Self> {
        let mut served = Self::new(levels, named);
        served.counts = Counts::read(served.counts.width, served.regions.len, &counts)?;
        served.ladder = served.ladder.read(ladder);
        Some(served)
    }
}
