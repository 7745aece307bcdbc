//! Accesses by element of one array and by slice of time: reads and writes, local and remote, misses and bytes. Any window of slices is
//! the difference of two running sums.
//!
//! An element is *owned* by a core ([`Distribution`]). An access is *local* where its core owns the element, else *remote*. A reference is
//! an access to each element of which it touches a byte; a modify is a read and a write. Of an array with more elements than there is room for
//! (times slices) blocks of neighbours are counted together; each access is local or remote by its own element still.

mod owner;
mod places;

pub use owner::{Deal, Distribution, NoDistribution, Owners};

use super::Timeline;
use crate::reference::{Kind, LayoutError, Reference, Region, RegionFinder, RegionMap, SourceError};
use places::Places;
use std::ops::Range;

/// Sums that are kept of a measure at most: blocks times slices, and times cores where each is counted by itself.
const MOST_SUMS: u64 = 1 << 20;
const MOST_SUMS_BY_CORE: u64 = 1 << 22;
/// Elements of an array at most.
const MOST_ELEMENTS: u64 = 1 << 24;
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
}

/// A kind of access: a modify is one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GridKind {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
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
    #[error("{name}: found {elements} elements; expected {MOST_ELEMENTS} or fewer")]
    Large {
        /// The array.
        name: String,
        /// Its elements.
        elements: u64,
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
    /// The trace cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It was no longer wanted.
    #[error("stopped before all was counted")]
    Stopped,
}

/// Counts of a block in a window of slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GridCounts {
    /// Reads by the owner.
    pub local_reads: u64,
    /// Reads by other cores.
    pub remote_reads: u64,
    /// Writes by the owner.
    pub local_writes: u64,
    /// Writes by other cores.
    pub remote_writes: u64,
    /// References that missed in the cache that is asked first; 0 where outcomes are not kept.
    pub misses: u64,
    /// Bytes read and written.
    pub bytes: u64,
}

/// Numbers of a [`GridCounts`].
const COLUMNS: usize = 6;

impl GridKind {
    /// Both, with their names.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Reads, "reads"), (Self::Writes, "writes")];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        if self == Self::Reads { "reads" } else { "writes" }
    }
}

impl std::str::FromStr for GridKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text).map(|(kind, _)| kind);
        found.ok_or_else(|| format!("found `{text}`; expected reads or writes"))
    }
}

impl GridCounts {
    fn of(columns: [u64; COLUMNS]) -> Self {
        let [local_reads, remote_reads, local_writes, remote_writes, misses, bytes] = columns;
        Self { local_reads, remote_reads, local_writes, remote_writes, misses, bytes }
    }

    /// Reads and writes.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.local_reads + self.remote_reads + self.local_writes + self.remote_writes
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// What was counted.
    pub of: GridOf,
    /// Indices that are not counted along, from the front: those of an array with more than three dimensions, all 0.
    pub fixed: usize,
    /// Extents that are counted along, one to three.
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
        let mut places = Places::new(region, &of.owner, cores, most / (slices + 1), MOST_ELEMENTS)?;
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
        each(of.references.clone(), &mut |tick, reference| {
            if of.core.is_some_and(|core| core != reference.core) {
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
            let slice = slice_of(tick - of.references.start, len, slices);
            let missed = u64::from(outcomes.and_then(|all| all.get(tick)).is_some_and(|outcome| outcome.missed()));
            let end = reference.addr.saturating_add(u64::from(reference.size.max(1)) - 1).min(last);
            for place in touched(tick, reference) {
                let Some((block, owner)) = places.find(place) else { continue };
                let remote = usize::from(owner != reference.core);
                let from = base + place * elem;
                let bytes = (from + (elem - 1)).min(end) - from.max(reference.addr) + 1;
                // Counted in the row after its slice: each row becomes the sum of the slices before.
                let own = &mut sums[(slice + 1) * row + part * all + block];
                own[remote] += reads;
                own[2 + remote] += writes;
                own[4] += missed;
                own[5] += bytes * (reads + writes);
            }
        })?;
        for at in row..sums.len() {
            let before = sums[at - row];
            sums[at].iter_mut().zip(before).for_each(|(own, before)| *own += before);
        }
        let owners = places.owners();
        let Places { fixed, extents, per, blocks, .. } = places;
        Ok(Self { of, fixed, extents, per, blocks, cores, has_misses: outcomes.is_some(), owners, parts, sums })
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

    /// The number of a block's first element among those that are counted, the last index fastest.
    #[must_use]
    pub fn first_element(&self, block: usize) -> usize {
        let [first, _] = self.elements(block);
        let along = first[self.fixed.min(first.len())..].iter().zip(&self.extents);
        along.fold(0, |number, (at, extent)| {
            let wide = usize::try_from(*extent).unwrap_or(usize::MAX);
            number.saturating_mul(wide).saturating_add(usize::try_from(*at).unwrap_or(usize::MAX))
        })
    }

    /// Indices of the first element of a block, and of the last.
    #[must_use]
    pub fn elements(&self, block: usize) -> [Vec<u64>; 2] {
        let mut left = block;
        let mut at: Vec<usize> = self.blocks.iter().rev().map(|&n| (left % n.max(1), left /= n.max(1)).0).collect();
        at.reverse();
        let first = |n: usize| at[n] as u64 * self.per[n];
        let last = |n: usize| (first(n) + self.per[n]).min(self.extents[n]) - 1;
        let whole = |of: &dyn Fn(usize) -> u64| (0..self.fixed).map(|_| 0).chain((0..at.len()).map(of)).collect();
        [whole(&first), whole(&last)]
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
