//! LRU caches that differ in their ways alone, counted at once.

use super::sweep::Cell;
use crate::reference::{Kind, Reference};
use crate::sim::config::{
    Allocate, HierarchyConfig, Holds, Inclusion, LevelConfig, OrderConfig, Prefetch, WritePolicy,
};
use crate::sim::{Geometry, Index, LevelCounters, Policy};
use crate::units::ByteRange;

/// Ways of a cache that is counted so, at most.
const MOST_WAYS: usize = 32;
/// A place without a line. No line of two bytes or more has this number.
const FREE: u64 = u64::MAX;
/// Of a line that no cache has to write back.
const CLEAN: u8 = u8::MAX;

/// What caches have in common that one pass counts: sets, and what is asked of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    pub(super) asked: Asked,
    sets: u32,
    fetches_covered: bool,
}

/// What makes touches of references: bytes of a line, and whether fetches of instructions are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Asked {
    line_bytes: u32,
    data_only: bool,
}

/// The shape of a cell's only cache, and its geometry: an LRU level that is plain in every other way. `None` of all others.
pub(super) fn shape(cell: &Cell) -> Option<(Shape, Geometry)> {
    // Every field is named, so that a new one is thought of here.
    let HierarchyConfig { name: _, cores: 1, levels, tlbs, memory: _, data_only, order, seed: _ } = &cell.config else {
        return None;
    };
    let OrderConfig { writeback_first: _, fetch_on_full_line_write } = order;
    let [
        LevelConfig {
            name: _,
            size: _,
            line: _,
            ways: _,
            policy,
            write: WritePolicy::Back,
            allocate: Allocate::Write,
            inclusion: Inclusion::Nine,
            latency: _,
            holds: Holds::Unified,
            shared: _,
            prefetch: Prefetch::None,
            sector: None,
            index,
            slices: None,
            hit_score: _,
            miss_score: _,
        },
    ] = levels.as_slice()
    else {
        return None;
    };
    let shapes = cell.config.check().ok()?;
    let geometry = *shapes.levels.first()?;
    let fits = (1..=MOST_WAYS).contains(&(geometry.ways as usize))
        && geometry.sets.is_power_of_two()
        && geometry.line_bytes > 1;
    if !fits || !tlbs.is_empty() || *policy != Policy::default() || *index != Index::default() {
        return None;
    }
    let asked = Asked { line_bytes: geometry.line_bytes, data_only: *data_only };
    Some((Shape { asked, sets: geometry.sets, fetches_covered: *fetch_on_full_line_write }, geometry))
}

/// A touch of one line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    line: u64,
    kind: TouchKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TouchKind {
    Read,
    Write,
    Fetch,
    /// A write of all bytes of the line.
    Cover,
}

const KINDS: usize = 4;

impl Asked {
    /// The touches of some references, in their order.
    pub(super) fn touches(self, references: &[Reference], touches: &mut Vec<Touch>) {
        let line_bytes = u64::from(self.line_bytes);
        touches.clear();
        for reference in references {
            if self.data_only && reference.kind == Kind::Fetch {
                continue;
            }
            let bytes = ByteRange::new(reference.addr, u64::from(reference.size));
            let kinds: &[TouchKind] = match reference.kind {
                Kind::Read => &[TouchKind::Read],
                Kind::Write => &[TouchKind::Write],
                Kind::Modify => &[TouchKind::Read, TouchKind::Write],
                Kind::Fetch => &[TouchKind::Fetch],
            };
            for kind in kinds {
                for line in bytes.lines(self.line_bytes) {
                    let first = line * line_bytes;
                    let covers = bytes.first <= first && bytes.last - first >= line_bytes - 1;
                    let kind = if covers && *kind == TouchKind::Write { TouchKind::Cover } else { *kind };
                    touches.push(Touch { line, kind });
                }
            }
        }
    }
}

/// Caches of one shape, of any number of ways up to a most.
pub(super) trait Stacked: Send {
    /// Plays touches.
    fn play(&mut self, touches: &[Touch]);
    /// The counters of the cache with so many ways.
    fn counters(&self, ways: usize) -> LevelCounters;
}

/// Caches of a shape with `most_ways` ways or fewer.
pub(super) fn stacked(shape: Shape, most_ways: usize) -> Box<dyn Stacked> {
    match most_ways {
        0..=1 => Box::new(Stacks::<1>::new(shape)),
        2 => Box::new(Stacks::<2>::new(shape)),
        3..=4 => Box::new(Stacks::<4>::new(shape)),
        5..=8 => Box::new(Stacks::<8>::new(shape)),
        9..=16 => Box::new(Stacks::<16>::new(shape)),
        _ => Box::new(Stacks::<MOST_WAYS>::new(shape)),
    }
}

/// The stacks of all sets: an LRU cache of `w` ways holds the first `w` lines of each (Mattson, Gecsei, Slutz and Traiger, 1970).
///
/// Each line has the least number of ways with which a cache has to write it back (after Thompson and Smith, "Efficient (Stack)
/// Algorithms for Analysis of Write-Back and Sector Memories", 1989): 1 after a store; a load that finds it at place `p`, the first
/// being 0, makes it at least `p + 1`, for smaller caches bring it in clean.
///
/// Work on a stack has no branches by place: all places are compared and moved, which processors do many at a time.
struct Stacks<const W: usize> {
    shape: Shape,
    sets: Vec<Set<W>>,
    /// By kind and place: touches that found their line there; the last place is that of those that found it nowhere.
    found: [[u64; MOST_WAYS + 1]; KINDS],
    /// By place: lines that moved from there to the next and were written back by the cache that ends there.
    written_back: [u64; W],
}

#[derive(Clone, Copy)]
struct Set<const W: usize> {
    /// The most recent first.
    lines: [u64; W],
    /// Least ways of a cache that has to write it back.
    dirty_from: [u8; W],
}

impl<const W: usize> Stacks<W> {
    fn new(shape: Shape) -> Self {
        let set = Set { lines: [FREE; W], dirty_from: [CLEAN; W] };
        Self { shape, sets: vec![set; shape.sets as usize], found: [[0; MOST_WAYS + 1]; KINDS], written_back: [0; W] }
    }
}

/// `items` with `first` before them; those before `place` move on, that at `place` is lost.
#[inline]
fn move_on<T: Copy, const W: usize>(items: &mut [T; W], place: usize, first: T) {
    let before = *items;
    for n in 1..W {
        items[n] = if n <= place { before[n - 1] } else { before[n] };
    }
    items[0] = first;
}

impl<const W: usize> Stacked for Stacks<W> {
    #[expect(clippy::cast_possible_truncation, reason = "places and ways below 256, sets below 2^32")]
    fn play(&mut self, touches: &[Touch]) {
        let mask = u64::from(self.shape.sets - 1);
        // As many as a byte counts.
        for some in touches.chunks(255) {
            let mut written_back = [0u8; W];
            for Touch { line, kind } in some {
                let set = &mut self.sets[(line & mask) as usize];
                let is_write = matches!(kind, TouchKind::Write | TouchKind::Cover);
                let found = &mut self.found[*kind as usize];
                if set.lines[0] == *line {
                    found[0] += 1;
                    set.dirty_from[0] = if is_write { 1 } else { set.dirty_from[0] };
                    continue;
                }
                // At most one place has it.
                let from_end: u64 =
                    set.lines.iter().enumerate().map(|(n, other)| if other == line { (W - n) as u64 } else { 0 }).sum();
                let place = W - from_end as usize;
                found[place] += 1;
                move_on(&mut set.lines, place, *line);
                let before = set.dirty_from;
                for (n, count) in written_back.iter_mut().enumerate() {
                    *count += u8::from((n < place) & (before[n] <= n as u8 + 1));
                }
                let own = match before.get(place).copied().unwrap_or(CLEAN) {
                    _ if is_write => 1,
                    CLEAN => CLEAN,
                    dirty_from => dirty_from.max(place as u8 + 1),
                };
                move_on(&mut set.dirty_from, place, own);
            }
            self.written_back.iter_mut().zip(written_back).for_each(|(all, some)| *all += u64::from(some));
        }
    }

    fn counters(&self, ways: usize) -> LevelCounters {
        let accesses = |kind: TouchKind| -> u64 { self.found[kind as usize].iter().sum() };
        let misses = |kind: TouchKind| -> u64 { self.found[kind as usize][ways..].iter().sum() };
        let [reads, writes, fetches, covers] = [TouchKind::Read, TouchKind::Write, TouchKind::Fetch, TouchKind::Cover]
            .map(|kind| (accesses(kind), misses(kind)));
        let fills = reads.1 + writes.1 + fetches.1 + covers.1;
        let taken = |set: &Set<W>| set.lines[..ways.min(W)].iter().filter(|line| **line != FREE).count() as u64;
        let resident: u64 = self.sets.iter().map(taken).sum();
        let fetched = if self.shape.fetches_covered { fills } else { fills - covers.1 };
        let line_bytes = u64::from(self.shape.asked.line_bytes);
        let writebacks = self.written_back[ways - 1];
        LevelCounters {
            read_accesses: reads.0,
            read_misses: reads.1,
            write_accesses: writes.0 + covers.0,
            write_misses: writes.1 + covers.1,
            fetch_accesses: fetches.0,
            fetch_misses: fetches.1,
            fills,
            evictions: fills - resident,
            writebacks,
            bytes_in: fetched * line_bytes,
            bytes_out: writebacks * line_bytes,
            ..LevelCounters::default()
        }
    }
}
