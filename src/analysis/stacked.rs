//! Caches that differ in their ways alone, counted at once.

use super::sweep::Cell;
use crate::reference::{Kind, Reference};
use crate::sim::config::{Allocate, HierarchyConfig, Holds, Prefetch, WritePolicy};
use crate::sim::{Hierarchy, Index, LevelCounters, Policy};
use crate::units::{ByteRange, LevelId};

/// Ways of a cache that is counted so, at most: as many as a word has bits.
const MOST_WAYS: u32 = 63;

/// What tells which caches can be counted together: sets, bytes of a line, fetches, whether a line that a store covers is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    sets: u32,
    line_bytes: u32,
    data_only: bool,
    fetches_covered: bool,
}

/// The shape of a cell's only cache, and its ways: an LRU level that is plain in every other way. `None` of all others.
pub(super) fn shape(cell: &Cell, hierarchy: &Hierarchy) -> Option<(Shape, u32)> {
    let HierarchyConfig { cores, levels, tlbs, data_only, order, .. } = &cell.config;
    let [level] = levels.as_slice() else { return None };
    let is_plain = *cores == 1
        && tlbs.is_empty()
        && level.policy == Policy::default()
        && level.write == WritePolicy::Back
        && level.allocate == Allocate::Write
        && level.holds == Holds::Unified
        && level.prefetch == Prefetch::None
        && level.sector.is_none()
        && level.index == Index::default()
        && level.inclusion == crate::sim::config::Inclusion::Nine;
    let geometry = hierarchy.level_geometry(LevelId(0));
    let fits = geometry.ways <= MOST_WAYS && geometry.sets.is_power_of_two();
    let shape = Shape {
        sets: geometry.sets,
        line_bytes: geometry.line_bytes,
        data_only: *data_only,
        fetches_covered: order.fetch_on_full_line_write,
    };
    (is_plain && fits).then_some((shape, geometry.ways))
}

/// The stacks of all sets: an LRU cache of `w` ways holds the first `w` lines of each (Mattson, Gecsei, Slutz and Traiger, 1970). A line has
/// a bit for each number of ways in whose cache it is dirty (after Thompson and Smith, "Efficient (Stack) Algorithms for Analysis of
/// Write-Back and Sector Memories", 1989): a store sets all of them, and a line that leaves a cache clears its bit.
#[derive(Clone, Debug)]
pub(super) struct StackedCaches {
    shape: Shape,
    most_ways: usize,
    /// By set, so many places each, the most recent first; how many are taken; and which caches a line is dirty in.
    lines: Vec<u64>,
    dirty: Vec<u64>,
    taken: Vec<u8>,
    /// Touches of each kind: read, write, fetch.
    accesses: [u64; 3],
    /// By kind and place: touches that found their line there.
    found: [Vec<u64>; 3],
    /// By number of ways: lines that left, those of them that were dirty, misses of stores that cover their line.
    evictions: Vec<u64>,
    writebacks: Vec<u64>,
    covered: Vec<u64>,
}

impl StackedCaches {
    pub(super) fn new(shape: Shape, most_ways: u32) -> Self {
        let ways = most_ways as usize;
        let places = shape.sets as usize * ways;
        Self {
            shape,
            most_ways: ways,
            lines: vec![0; places],
            dirty: vec![0; places],
            taken: vec![0; shape.sets as usize],
            accesses: [0; 3],
            found: std::array::from_fn(|_| vec![0; ways]),
            evictions: vec![0; ways + 1],
            writebacks: vec![0; ways + 1],
            covered: vec![0; ways + 1],
        }
    }

    pub(super) fn play(&mut self, references: &[Reference]) {
        for reference in references {
            if self.shape.data_only && reference.kind == Kind::Fetch {
                continue;
            }
            let bytes = ByteRange::new(reference.addr, u64::from(reference.size));
            let kinds: &[usize] = match reference.kind {
                Kind::Read => &[0],
                Kind::Write => &[1],
                Kind::Modify => &[0, 1],
                Kind::Fetch => &[2],
            };
            let line_bytes = u64::from(self.shape.line_bytes);
            for kind in kinds {
                for line in bytes.lines(self.shape.line_bytes) {
                    let first = line * line_bytes;
                    let covers = bytes.first <= first && bytes.last - first >= line_bytes - 1;
                    self.touch(line, *kind, covers);
                }
            }
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a set's number, and ways below 64")]
    fn touch(&mut self, line: u64, kind: usize, covers: bool) {
        self.accesses[kind] += 1;
        let (set, ways) = ((line & u64::from(self.shape.sets - 1)) as usize, self.most_ways);
        let (from, taken) = (set * ways, usize::from(self.taken[set]));
        let lines = &mut self.lines[from..from + ways];
        let dirty = &mut self.dirty[from..from + ways];
        let place = lines[..taken].iter().position(|other| *other == line);
        // Caches of as many ways as the place or fewer miss.
        let depth = place.unwrap_or(taken.min(ways));
        let missed_by = if place.is_some() { depth } else { ways };
        if let Some(place) = place {
            self.found[kind][place] += 1;
        }
        let is_write = kind == 1;
        if is_write && covers {
            for covered in &mut self.covered[1..=missed_by] {
                *covered += 1;
            }
        }
        // Caches that missed bring the line in clean; those that hit have it as it was.
        let kept = place.map_or(0, |place| dirty[place] & (u64::MAX << place << 1));
        let own = if is_write { u64::MAX } else { kept };
        // Each line before it moves one place on, and leaves the cache of as many ways as that place.
        let last = if place.is_some() { depth } else { depth.min(ways - 1) };
        for (n, dirty) in dirty[..depth].iter_mut().enumerate() {
            let out = n + 1;
            let bit = 1u64 << out;
            self.evictions[out] += 1;
            self.writebacks[out] += u64::from(*dirty & bit != 0);
            *dirty &= !bit;
        }
        lines.copy_within(0..last, 1);
        dirty.copy_within(0..last, 1);
        lines[0] = line;
        dirty[0] = own;
        if place.is_none() && taken < ways {
            self.taken[set] += 1;
        }
    }

    /// The counters of the cache with so many ways.
    pub(super) fn counters(&self, ways: u32) -> LevelCounters {
        let ways = ways as usize;
        let misses = |kind: usize| self.accesses[kind] - self.found[kind][..ways].iter().sum::<u64>();
        let all = misses(0) + misses(1) + misses(2);
        let fetched = if self.shape.fetches_covered { all } else { all - self.covered[ways] };
        let line_bytes = u64::from(self.shape.line_bytes);
        LevelCounters {
            read_accesses: self.accesses[0],
            read_misses: misses(0),
            write_accesses: self.accesses[1],
            write_misses: misses(1),
            fetch_accesses: self.accesses[2],
            fetch_misses: misses(2),
            fills: all,
            evictions: self.evictions[ways],
            writebacks: self.writebacks[ways],
            bytes_in: fetched * line_bytes,
            bytes_out: self.writebacks[ways] * line_bytes,
            ..LevelCounters::default()
        }
    }
}
