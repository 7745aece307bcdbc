//! Counts by region and source line up to a tick: what the tables beside the picture show.

use super::answers::{Answers, Marks};
use super::tallies::Share;
use crate::reference::{Footprint, LineMap, Reference, Region};
use crate::sim::{Event, Hierarchy, Observer, Origin, RequestId};
use serde::{Deserialize, Serialize};

pub use crate::sim::config::MAX_LEVELS;

/// What one reference did at each level: demand hits and misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// Demand hits by level.
    pub hits: [u32; MAX_LEVELS],
    /// Demand misses by level.
    pub misses: [u32; MAX_LEVELS],
    /// Whether some piece missed in the first level it came to.
    pub missed: bool,
    /// Whether it came to a level at all.
    asked: bool,
    /// Outermost place that answered a piece so far.
    server: usize,
    /// The requests that wait for each other's answer, the first of the piece in front.
    waiting: [Option<Waiting>; MAX_LEVELS],
    depth: usize,
}

/// A demand access that missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    request: RequestId,
    level: u8,
    /// It has asked on: another level or memory answers it.
    asks: bool,
    /// It has asked for bytes: a store that comes after is only sent on.
    reads: bool,
    /// Its line has come in: what is written after is a victim.
    fills: bool,
}

impl Observer for Watch {
    #[inline]
    fn event(&mut self, event: Event) {
        match event {
            Event::Access { origin, level, kind, hit, .. } if kind.is_demand() => {
                let counts = if hit { &mut self.hits } else { &mut self.misses };
                if let Some(count) = counts.get_mut(level.index()) {
                    *count += 1;
                }
                match origin.parent {
                    None => {
                        self.settle(0);
                        (self.asked, self.missed) = (true, self.missed | !hit);
                    }
                    Some(parent) if self.answers(parent, kind.is_write()) => {}
                    // A store that is sent on, or what another cause asks for: nobody waits.
                    Some(_) => return,
                }
                match self.waiting.get_mut(self.depth) {
                    Some(place) if !hit => {
                        let Origin { request, .. } = origin;
                        *place = Some(Waiting { request, level: level.0, asks: false, reads: false, fills: false });
                        self.depth += 1;
                    }
                    _ => self.server = self.server.max(level.index()),
                }
            }
            Event::Fill { origin, .. } => {
                if let Some(waiting) = self.waiting_for(origin.request) {
                    waiting.fills = true;
                }
            }
            Event::MemoryRead { origin, .. } => self.memory_answers(origin, false),
            Event::MemoryWrite { origin, .. } => self.memory_answers(origin, true),
            _ => {}
        }
    }
}

impl Watch {
    /// The access that this request is, where somebody waits for it. Those inside it are answered by now.
    #[inline]
    fn waiting_for(&mut self, request: RequestId) -> Option<&mut Waiting> {
        let waits = |waiting: &Option<Waiting>| waiting.is_some_and(|waiting| waiting.request == request);
        let at = self.waiting[..self.depth].iter().rposition(waits)?;
        self.settle(at + 1);
        self.waiting[at].as_mut()
    }

    /// Whether somebody waits for a request that `parent` makes.
    #[inline]
    fn answers(&mut self, parent: RequestId, is_store: bool) -> bool {
        let Some(waiting) = self.waiting_for(parent) else { return false };
        let is_answer = !(is_store && waiting.reads);
        waiting.asks |= is_answer;
        waiting.reads |= !is_store;
        is_answer
    }

    #[inline]
    fn memory_answers(&mut self, Origin { parent, .. }: Origin, is_store: bool) {
        if let Some(parent) = parent
            && !(is_store && self.waiting_for(parent).is_none_or(|waiting| waiting.fills))
            && self.answers(parent, is_store)
        {
            self.server = usize::MAX;
        }
    }

    /// Of the requests that wait, those from the place `from` on are done. Who has asked nobody needs no answer, since a store
    /// covers its line: that is told as the level after it.
    #[inline]
    fn settle(&mut self, from: usize) {
        self.server = self.server.max(self.unanswered(from));
        self.depth = self.depth.min(from);
    }

    fn unanswered(&self, from: usize) -> usize {
        let waiting = self.waiting[..self.depth].iter().skip(from).flatten();
        waiting.filter(|waiting| !waiting.asks).map(|waiting| usize::from(waiting.level) + 1).max().unwrap_or(0)
    }

    /// The outermost place that had to answer: a level, or `levels` for memory. A reference that passes no level is
    /// answered by memory.
    #[must_use]
    pub fn served_by(&self, levels: usize) -> usize {
        if !self.asked {
            return levels;
        }
        self.server.max(self.unanswered(0)).min(levels)
    }
}

/// References and demand misses by region and by source line. What no named region holds is counted by clusters of a [`Footprint`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    levels: usize,
    named: usize,
    /// Row-major, `1 + levels` columns: references, then misses by level. A row a named region, then one a slot of the
    /// footprint.
    counts: Vec<u64>,
    /// With the same columns: a row a source line, then one for unknown instructions. Empty where no line is known.
    lines: Vec<u64>,
    found: Footprint,
    pub(super) answers: Answers,
}

impl Tally {
    /// All zero; `lines` are those of the trace.
    #[must_use]
    pub fn new(named: &[Region], lines: &LineMap, hierarchy: &Hierarchy) -> Self {
        let levels = hierarchy.levels();
        let counts = vec![0; named.len() * (1 + levels)];
        let lines = vec![0; if lines.is_empty() { 0 } else { (lines.len() + 1) * (1 + levels) }];
        Self {
            levels,
            named: named.len(),
            counts,
            lines,
            found: Footprint::new(named),
            answers: Answers::new(hierarchy),
        }
    }

    /// Adds one reference, which the named region `region` holds (`None` = no named one), and an instruction of row `line` makes.
    pub fn add(&mut self, reference: &Reference, region: Option<usize>, line: usize, watch: &Watch) {
        let row = self.begin(reference, region, &mut []);
        let line = self.begin_line(reference, line);
        for level in 0..self.levels {
            self.miss(row, line, level, watch.misses[level]);
        }
        self.answers.add(reference.kind, reference.size, reference.core, Marks::of(watch));
    }

    /// Adds one reference, as [`Tally::add`]; the row for [`Tally::miss`]. Those of earlier references in `rows` follow where
    /// clusters join.
    #[inline]
    pub(super) fn begin(&mut self, reference: &Reference, region: Option<usize>, rows: &mut [usize]) -> usize {
        let width = 1 + self.levels;
        let row = region.map_or_else(|| self.cluster(reference, rows), |region| region * width);
        self.counts[row] += 1;
        row
    }

    /// The row of the cluster that holds a reference.
    #[inline]
    fn cluster(&mut self, reference: &Reference, rows: &mut [usize]) -> usize {
        let Self { levels, named, counts, found, .. } = self;
        let width = 1 + *levels;
        let mut join = |left: usize, stays: usize| {
            let (left, stays) = ((*named + left) * width, (*named + stays) * width);
            if left.max(stays) >= counts.len() {
                counts.resize(left.max(stays) + width, 0);
            }
            rows.iter_mut().filter(|row| **row == left).for_each(|row| *row = stays);
            for column in 0..width {
                counts[stays + column] += std::mem::take(&mut counts[left + column]);
            }
        };
        let row = (*named + found.touch(reference, &mut join)) * width;
        if row >= counts.len() {
            counts.resize(row + width, 0);
        }
        row
    }

    /// Adds one reference to its line, unless the configuration drops it; the row for [`Tally::miss`].
    #[inline]
    pub(super) fn begin_line(&mut self, reference: &Reference, line: usize) -> usize {
        let row = line * (1 + self.levels);
        if let Some(count) = self.lines.get_mut(row) {
            *count += u64::from(!self.answers.drops(reference.kind));
        }
        row
    }

    /// Adds demand misses of `level`, which the hierarchy has, to a region's row and a line's.
    #[inline]
    pub(super) fn miss(&mut self, row: usize, line: usize, level: usize, misses: u32) {
        self.counts[row + 1 + level] += u64::from(misses);
        if let Some(count) = self.lines.get_mut(line + 1 + level) {
            *count += u64::from(misses);
        }
    }

    /// Whether source lines are counted.
    #[inline]
    pub(super) fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    /// References and demand misses by source line, a row each, then those of unknown instructions; nothing where no line is known.
    pub(super) fn lines(&self) -> impl ExactSizeIterator<Item = Share> + '_ {
        self.lines.chunks_exact(1 + self.levels).map(|row| {
            let mut share = Share { references: row[0], ..Share::default() };
            share.misses.iter_mut().zip(&row[1..]).for_each(|(misses, count)| *misses = *count);
            share
        })
    }

    /// References of a region.
    #[must_use]
    pub fn references(&self, region: &Row) -> u64 {
        self.sum(region, 0)
    }

    /// Demand misses of a region at a level.
    #[must_use]
    pub fn misses(&self, region: &Row, level: usize) -> u64 {
        self.sum(region, 1 + level)
    }

    fn sum(&self, region: &Row, column: usize) -> u64 {
        let width = 1 + self.levels;
        match *region {
            Row::Named(region) => self.counts[region * width + column],
            Row::Found(first, end) => {
                self.found.slots(first, end).map(|slot| self.counts[(self.named + slot) * width + column]).sum()
            }
        }
    }

    /// How references were answered.
    #[must_use]
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// What was found outside the named regions so far.
    pub(super) fn found(&self) -> &Footprint {
        &self.found
    }

    /// In few bytes, for [`Tally::restore`].
    pub(super) fn packed(&self) -> Box<[u8]> {
        postcard::to_allocvec(self).unwrap_or_default().into()
    }

    /// Becomes what [`Tally::packed`] gave of a tally by the same regions; `None` where it is of none.
    pub(super) fn restore(&mut self, packed: &[u8]) -> Option<()> {
        let other: Self = postcard::from_bytes(packed).ok()?;
        let fits = (other.levels, other.named, other.lines.len()) == (self.levels, self.named, self.lines.len())
            && other.counts.len() >= self.named * (1 + self.levels);
        if !fits {
            return None;
        }
        let Self { counts, lines, found, answers, .. } = other;
        self.answers.restore(answers)?;
        (self.counts, self.lines) = (counts, lines);
        self.found.restore(found);
        Some(())
    }
}

/// Where a region's counts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// Number of a region that the trace names.
    Named(usize),
    /// First byte, and one past the last, of a region that was found.
    Found(u64, u64),
}
