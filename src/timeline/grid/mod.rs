//! Accesses by element of one array and by slice of time: reads and writes, local and remote, misses and bytes. Any window of slices is
//! the difference of two running sums.
//!
//! An element is *owned* by a core ([`Distribution`]). An access is *local* where its core owns the element, else *remote*. A reference is
//! an access to each element of which it touches a byte; a modify is a read and a write. Of an array with more elements than there is room for
//! (times slices) blocks of neighbours are counted together; each access is local or remote by its own element still.
//!
//! Evictions and invalidations are those of the caches that are asked first: each counts for all elements of the line, whoever caused it, in
//! the slice of the reference for which it happened.

mod asked;
mod counts;
mod moves;
mod owner;
mod part;
mod places;
mod spread;

pub use counts::{Aggregate, GridCounts, GridKind};
pub use owner::{Deal, Distribution, NoDistribution, Owners};
pub use part::{GridPart, Indices, NoPart};

use super::Timeline;
use crate::reference::{Kind, LayoutError, Reference, Region, RegionFinder, RegionMap, SourceError};
use crate::sim::Hierarchy;
use crate::units::grouped;
use asked::Asked;
pub use asked::check;
use counts::COLUMNS;
use moves::Moves;
use places::Places;
use spread::{MOST_TOUCHED, Spread, Spreading};
use std::ops::Range;

/// Sums that are kept of a measure at most: blocks times slices, and times cores where each is counted by itself.
const MOST_SUMS: u64 = 1 << 20;
const MOST_SUMS_BY_CORE: u64 = 1 << 22;
/// Slices at most.
pub const MOST_SLICES: u32 = 1 << 16;
/// References between two questions whether to go on.
const EACH: u64 = 1 << 20;
/// Elements that one reference counts for, at most: the first ones of a longer reference.
const WIDEST: usize = 4096;

/// What is to be counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridOf {
    /// The array, by its number among the regions of the timeline's tables.
    pub region: usize,
    /// References that are counted. Who owns an element follows from the whole trace.
    pub references: Range<u64>,
    /// Slices that they are cut into, each as long as the others but for one reference; at least 1, and no more than there are references.
    pub slices: u32,
    /// Who owns an element.
    pub owner: Distribution,
    /// Only accesses of this core; `None` = of all.
    pub core: Option<u16>,
    /// Only accesses of this kind; `None` = of both.
    pub kind: Option<GridKind>,
    /// Whether counts of each core are kept as well.
    pub by_core: bool,
    /// Which part of the array.
    pub part: GridPart,
    /// Whether evictions and invalidations are counted: the caches are played once more for that.
    pub moves: bool,
    /// Whether the least and the most of each block is asked for.
    pub spread: bool,
}

impl GridOf {
    /// All accesses of all references to all of a region, in so many slices; who wrote an element first owns it.
    #[must_use]
    pub fn new(region: usize, references: Range<u64>, slices: u32) -> Self {
        Self {
            region,
            references,
            slices,
            owner: Distribution::default(),
            core: None,
            kind: None,
            by_core: false,
            part: GridPart::ALL,
            moves: false,
            spread: false,
        }
    }
}

/// Why nothing can be counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// There is no such region.
    #[error(
        "found no array; expected a named region with a size of elements, and a shape where it has more than one dimension"
    )]
    NoArray,
    /// Its elements are nowhere.
    #[error("{name}: {why}")]
    Layout {
        /// The array.
        name: String,
        /// What its shape says.
        why: LayoutError,
    },
    /// It has too many elements.
    #[error("{name}: found {} elements; expected {} or fewer: take a part of the array", grouped(*elements), grouped(*most))]
    Large {
        /// The array.
        name: String,
        /// Elements from the first to the last one that is counted.
        elements: u64,
        /// As many as can be counted.
        most: u64,
    },
    /// More dimensions are dealt than there are.
    #[error("{name}: found a distribution of {found} dimensions; expected one of {expected} or fewer")]
    Dimensions {
        /// The array.
        name: String,
        /// Those that are dealt.
        found: usize,
        /// Those that the array has.
        expected: usize,
    },
    /// The part that is asked for is not there.
    #[error("{name}: found {found} in dimension {dimension} (from 0); expected indices below {}", grouped(*extent))]
    Part {
        /// The array.
        name: String,
        /// What is asked for.
        found: String,
        /// Of which dimension, from 0.
        dimension: usize,
        /// Its indices.
        extent: u64,
    },
    /// More dimensions are asked for than there are.
    #[error("{name}: found indices of {found} dimensions; expected those of {expected} or fewer")]
    PartDimensions {
        /// The array.
        name: String,
        /// Those that are asked for.
        found: usize,
        /// Those that the array has.
        expected: usize,
    },
    /// Too many elements are touched in too many slices for the least and the most of blocks.
    #[error(
        "found more than {MOST_TOUCHED} elements times slices that are touched; the least and the most of blocks need fewer: take fewer slices, or a part of the array"
    )]
    Spread,
    /// The trace cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It was no longer wanted.
    #[error("stopped before all was counted")]
    Stopped,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// What was counted.
    pub of: GridOf,
    /// By dimension of the array: the index that it stays at; `None` = it is counted along, as one to three of them are. Of an array with more
    /// the first ones stay at 0.
    pub fixed: Vec<Option<u64>>,
    /// Of each dimension that is counted along: the first index that is counted, and how many.
    pub from: Vec<u64>,
    /// See [`Grid::from`].
    pub extents: Vec<u64>,
    /// Elements of a block along each of them.
    pub per: Vec<u64>,
    /// Blocks along each of them.
    pub blocks: Vec<usize>,
    /// Cores of the trace.
    pub cores: u32,
    /// Whether misses are known.
    pub has_misses: bool,
    /// Owner of each block; `None` where nobody touched it, or its elements have several.
    pub owners: Vec<Option<u16>>,
    /// Parts that accesses are counted in: one, or one for each core.
    parts: usize,
    /// Before each slice, and after the last: the counts of each block so far, part by part.
    sums: Vec<[u64; COLUMNS]>,
    /// What each element has, where the least and the most of a block is asked for.
    spread: Option<Spread>,
}

impl Grid {
    /// Counts; `goes_on` is asked now and then.
    ///
    /// # Errors
    /// See [`GridError`].
    pub fn count(timeline: &Timeline, of: GridOf, goes_on: &dyn Fn() -> bool) -> Result<Self, GridError> {
        let regions = &timeline.tables().regions;
        let region = regions.get(of.region).filter(|region| !region.is_unnamed()).ok_or(GridError::NoArray)?;
        let references = of.references.start.min(timeline.len())..of.references.end.min(timeline.len());
        let len = references.end.saturating_sub(references.start);
        let slices = u64::from(of.slices.clamp(1, MOST_SLICES)).min(len.max(1));
        let of = GridOf { slices: u32::try_from(slices).unwrap_or(MOST_SLICES), references, ..of };
        let cores = timeline.source().cores()?;
        let parts = if of.by_core { usize::from(u16::try_from(cores.max(1)).unwrap_or(u16::MAX)) } else { 1 };
        let most = if of.by_core { MOST_SUMS_BY_CORE / parts as u64 } else { MOST_SUMS };
        let asked = Asked::new(region, &of.owner, &of.part)?;
        let mut places = Places::new(&asked, &of.owner, cores, most / (slices + 1));
        let all: usize = places.blocks.iter().product();
        let row = all * parts;
        let mut sums = vec![[0u64; COLUMNS]; row * (usize::try_from(slices).unwrap_or(0) + 1)];
        // Memory that no region names is known by lines, which may reach into arrays.
        let named: Vec<Region> = regions.iter().filter(|other| !other.is_unnamed()).cloned().collect();
        let own = regions[..of.region].iter().filter(|other| !other.is_unnamed()).count();
        let (mut finder, outcomes) = (RegionFinder::new(RegionMap::new(&named)), timeline.outcomes());
        let (base, last) = (region.base, region.end().saturating_sub(1));
        let elem = u64::from(region.elem_bytes.max(1));
        // The places that a reference touches, where it is one to the array.
        let mut touched = |tick: u64, reference: &Reference| {
            let is_in = (base..=last).contains(&reference.addr)
                && finder.locate(reference.addr, tick).region.map(|found| found as usize) == Some(own);
            let end = reference.addr.saturating_add(u64::from(reference.size.max(1)) - 1).min(last);
            let places = (reference.addr.saturating_sub(base) / elem)..=(end.saturating_sub(base) / elem);
            is_in.then(|| places.take(WIDEST)).into_iter().flatten()
        };
        let each = |references: Range<u64>, see: &mut dyn FnMut(u64, &Reference)| {
            let mut at = references.start;
            while at < references.end {
                let next = (at + EACH).min(references.end);
                timeline.each(at..next, &mut *see)?;
                if !goes_on() {
                    return Err(GridError::Stopped);
                }
                at = next;
            }
            Ok(())
        };
        if of.owner == Distribution::FirstTouch {
            each(0..timeline.len(), &mut |tick, reference| {
                let writes = matches!(reference.kind, Kind::Write | Kind::Modify);
                touched(tick, reference).for_each(|place| places.touch(place, reference.core, writes));
            })?;
        }
        // What a line that a cache gave up has of the array.
        let within = |first: u64, bytes: u64| {
            let end = first.saturating_add(bytes - 1).min(last);
            (first.max(base) <= end)
                .then(|| (first.max(base) - base) / elem..=(end - base) / elem)
                .into_iter()
                .flatten()
        };
        let mut played = of.moves.then(|| (Hierarchy::clone(timeline.start()), Moves::new(timeline.start())));
        let mut spread = of.spread.then(Spreading::default);
        let mut is_full = false;
        let mut add = |slice: usize, (element, part, block): (usize, usize, usize), counts: [u64; COLUMNS]| {
            // Counted in the row after its slice: each row becomes the sum of the slices before.
            let own = &mut sums[(slice + 1) * row + part * all + block];
            own.iter_mut().zip(counts).for_each(|(own, more)| *own += more);
            if let Some(spread) = spread.as_mut().filter(|_| !is_full) {
                let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
                let of = (number(element), u16::try_from(part).unwrap_or(u16::MAX));
                is_full = !spread.add(slice, (of.0, of.1, number(block)), counts);
            }
        };
        // What is in the caches follows from all references before.
        let first = if of.moves { 0 } else { of.references.start };
        each(first..of.references.end, &mut |tick, reference| {
            let is_counted = tick >= of.references.start;
            let slice = if is_counted { slice_of(tick - of.references.start, len, slices) } else { 0 };
            if let Some((state, moves)) = &mut played {
                state.access(reference, moves);
                for gone in moves.gone.drain(..).filter(|_| is_counted) {
                    let core = gone.core.unwrap_or(reference.core);
                    if of.core.is_some_and(|only| only != core) {
                        continue;
                    }
                    let part = usize::from(core).min(parts - 1);
                    for place in within(gone.addr, gone.bytes) {
                        let Some((element, block, _)) = places.find(place) else { continue };
                        let [evicted, invalid] = [u64::from(!gone.invalid), u64::from(gone.invalid)];
                        add(slice, (element, part, block), [0, 0, 0, 0, 0, 0, evicted, invalid]);
                    }
                }
            }
            if !is_counted || of.core.is_some_and(|core| core != reference.core) {
                return;
            }
            let (reads, writes) = match (reference.kind, of.kind) {
                (Kind::Read | Kind::Fetch, None | Some(GridKind::Reads)) => (1, 0),
                (Kind::Write, None | Some(GridKind::Writes)) => (0, 1),
                (Kind::Modify, None) => (1, 1),
                (Kind::Modify, Some(GridKind::Reads)) => (1, 0),
                (Kind::Modify, Some(GridKind::Writes)) => (0, 1),
                _ => return,
            };
            let part = usize::from(reference.core).min(parts - 1);
            let missed = u64::from(outcomes.and_then(|all| all.get(tick)).is_some_and(|outcome| outcome.missed()));
            let end = reference.addr.saturating_add(u64::from(reference.size.max(1)) - 1).min(last);
            for place in touched(tick, reference) {
                let Some((element, block, owner)) = places.find(place) else { continue };
                let remote = owner != reference.core;
                let from = base + place * elem;
                let bytes = (from + (elem - 1)).min(end) - from.max(reference.addr) + 1;
                let split = |n: u64| if remote { [0, n] } else { [n, 0] };
                let ([local_reads, remote_reads], [local_writes, remote_writes]) = (split(reads), split(writes));
                let counts =
                    [local_reads, remote_reads, local_writes, remote_writes, missed, bytes * (reads + writes), 0, 0];
                add(slice, (element, part, block), counts);
            }
        })?;
        if is_full {
            return Err(GridError::Spread);
        }
        let spread = spread.map(|spread| spread.done(usize::try_from(slices).unwrap_or(0)));
        for at in row..sums.len() {
            let before = sums[at - row];
            sums[at].iter_mut().zip(before).for_each(|(own, before)| *own += before);
        }
        let owners = places.owners();
        let has_misses = outcomes.is_some();
        let Places { fixed, from, extents, per, blocks, .. } = places;
        Ok(Self { of, fixed, from, extents, per, blocks, cores, has_misses, owners, parts, sums, spread })
    }

    /// Blocks of all dimensions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.owners.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// Slices there are.
    #[must_use]
    pub fn slices(&self) -> usize {
        self.of.slices as usize
    }

    /// Elements that a block stands for: 1 where each is counted by itself.
    #[must_use]
    pub fn elements_a_block(&self) -> u64 {
        self.per.iter().product()
    }

    /// The counts of a block, by its number (the last index fastest), over a window of slices.
    #[must_use]
    pub fn counts(&self, block: usize, slices: Range<usize>) -> GridCounts {
        let of = |part: usize| self.part(part, block, slices.clone());
        let sum = (1..self.parts).map(of).fold(of(0), |sum, own| std::array::from_fn(|n| sum[n] + own[n]));
        GridCounts::of(sum)
    }

    /// As [`Grid::counts`], of the accesses of one core; nothing where cores are not counted by themselves.
    #[must_use]
    pub fn counts_of(&self, core: usize, block: usize, slices: Range<usize>) -> GridCounts {
        let known = self.of.by_core && core < self.parts;
        if known { GridCounts::of(self.part(core, block, slices)) } else { GridCounts::default() }
    }

    fn part(&self, part: usize, block: usize, slices: Range<usize>) -> [u64; COLUMNS] {
        let all = self.len();
        let row = |slice: usize| {
            let at = (slice.min(self.slices()) * self.parts + part) * all + block;
            self.sums.get(at).copied().unwrap_or_default()
        };
        let (from, to) = (row(slices.start), row(slices.end.max(slices.start)));
        std::array::from_fn(|n| if block < all { to[n] - from[n] } else { 0 })
    }

    /// What each block tells of its elements in a window of slices, by a number of their counts that adds up; of one core where cores are
    /// counted by themselves. The least and the most are told where [`GridOf::spread`] asked for them, else sums.
    #[must_use]
    pub fn aggregated(
        &self,
        how: Aggregate,
        core: Option<usize>,
        window: &Range<usize>,
        number: &dyn Fn(&GridCounts) -> f64,
    ) -> Vec<f64> {
        let counts = |block: usize| match core {
            Some(core) => self.counts_of(core, block, window.clone()),
            None => self.counts(block, window.clone()),
        };
        let all = 0..self.len();
        match (how, &self.spread) {
            (Aggregate::Mean, _) => all.map(|block| number(&counts(block)) / self.elements_of(block) as f64).collect(),
            (Aggregate::Min | Aggregate::Max, Some(spread)) => {
                let elements: Vec<u64> = all.map(|block| self.elements_of(block)).collect();
                let ends = spread.ends(window.clone(), core.unwrap_or(0), &elements, number);
                ends.into_iter().map(|[least, most]| if how == Aggregate::Min { least } else { most }).collect()
            }
            _ => all.map(|block| number(&counts(block))).collect(),
        }
    }

    /// Elements of a block: fewer at the end of a dimension.
    #[must_use]
    pub fn elements_of(&self, block: usize) -> u64 {
        let [first, last] = self.elements(block);
        first.iter().zip(last).map(|(first, last)| last + 1 - first).product()
    }

    /// The first reference of a slice; of the one past the last, the end.
    #[must_use]
    pub fn begins(&self, slice: usize) -> u64 {
        let Range { start, end } = self.of.references;
        start + first_of(slice.min(self.slices()) as u64, end.saturating_sub(start), u64::from(self.of.slices))
    }

    /// The slices of which all references come before this one.
    #[must_use]
    pub fn slices_before(&self, tick: u64) -> usize {
        let Range { start, end } = self.of.references;
        if tick >= end {
            return self.slices();
        }
        slice_of(tick.saturating_sub(start), end - start, u64::from(self.of.slices))
    }

    /// The number of a block's first element among those that are counted, the last index fastest; where one dimension is counted along, its
    /// index.
    #[must_use]
    pub fn first_element(&self, block: usize) -> usize {
        let at = self.at(block);
        let whole = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let begin = if self.blocks.len() == 1 { whole(self.from[0]) } else { 0 };
        let number = at.iter().zip(&self.extents).zip(&self.per).fold(0usize, |number, ((at, extent), per)| {
            number.saturating_mul(whole(*extent)).saturating_add(whole(at * per))
        });
        begin.saturating_add(number)
    }

    /// Where a block is along each extent, in blocks.
    fn at(&self, block: usize) -> Vec<u64> {
        let mut left = block;
        let mut at: Vec<u64> =
            self.blocks.iter().rev().map(|&n| (left % n.max(1), left /= n.max(1)).0 as u64).collect();
        at.reverse();
        at
    }

    /// Indices of the first element of a block, and of the last.
    #[must_use]
    pub fn elements(&self, block: usize) -> [Vec<u64>; 2] {
        let at = self.at(block);
        let first = |n: usize| self.from[n] + at[n] * self.per[n];
        let last = |n: usize| self.from[n] + ((at[n] + 1) * self.per[n]).min(self.extents[n]) - 1;
        let whole = |of: &dyn Fn(usize) -> u64| {
            let mut n = 0;
            let index = |fixed: &Option<u64>| {
                fixed.unwrap_or_else(|| {
                    n += 1;
                    of(n - 1)
                })
            };
            self.fixed.iter().map(index).collect()
        };
        [whole(&first), whole(&last)]
    }

    /// The block of an element, where it is counted.
    #[must_use]
    pub fn block_of(&self, indices: &[u64]) -> Option<usize> {
        let mut block = Some(0);
        let mut n = 0;
        for (index, fixed) in indices.iter().zip(&self.fixed) {
            if let Some(fixed) = fixed {
                block = block.filter(|_| index == fixed);
                continue;
            }
            let at = index.checked_sub(self.from[n]).filter(|at| *at < self.extents[n]);
            let at = at.and_then(|at| usize::try_from(at / self.per[n]).ok());
            block = block.zip(at).map(|(block, at)| block * self.blocks[n] + at);
            n += 1;
        }
        block.filter(|_| indices.len() == self.fixed.len())
    }
}

/// In which of `slices` slices a reference is, of `len` (more than 0): the last one that begins at or before it.
fn slice_of(at: u64, len: u64, slices: u64) -> usize {
    usize::try_from(u128::from(at) * u128::from(slices) / u128::from(len.max(1))).unwrap_or(usize::MAX)
}

/// The first reference of a slice.
fn first_of(slice: u64, len: u64, slices: u64) -> u64 {
    u64::try_from((u128::from(slice) * u128::from(len)).div_ceil(u128::from(slices.max(1)))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_tile_their_references_each_as_long_as_the_others_but_for_one() {
        for (len, slices) in [(1, 1), (7, 3), (10, 10), (1000, 7), (64, 63), (5, 4)] {
            let mut counted = vec![0u64; slices];
            for at in 0..len {
                let slice = slice_of(at, len, slices as u64);
                assert!(first_of(slice as u64, len, slices as u64) <= at, "{at} of {len} in {slices}");
                assert!(first_of(slice as u64 + 1, len, slices as u64) > at, "{at} of {len} in {slices}");
                counted[slice] += 1;
            }
            let (least, most) = (counted.iter().min().copied(), counted.iter().max().copied());
            assert!(most.unwrap_or(9) - least.unwrap_or(0) <= 1, "{counted:?}");
        }
    }
}
