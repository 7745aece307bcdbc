//! Counts by region up to a tick: what the tables beside the picture show.

use crate::sim::event::{Event, Observer};

/// Most levels a hierarchy may have.
pub const MAX_LEVELS: usize = 8;

/// What one reference did at each level: demand hits and misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// Demand hits by level.
    pub hits: [u32; MAX_LEVELS],
    /// Demand misses by level.
    pub misses: [u32; MAX_LEVELS],
    /// Whether some piece missed in the first level it came to.
    pub missed: bool,
    /// Outermost level that answered a piece so far.
    server: usize,
    /// Level that was asked last for the piece under way, plus one; 0 before the first.
    asked: usize,
    /// That level missed, and nobody has answered yet.
    waiting: bool,
    /// Memory was read while the piece waited.
    fetched: bool,
}

impl Observer for Watch {
    #[inline]
    fn event(&mut self, event: Event) {
        match event {
            Event::Access { level, kind, hit, .. } if kind.is_demand() => {
                let counts = if hit { &mut self.hits } else { &mut self.misses };
                if let Some(count) = counts.get_mut(level.index()) {
                    *count += 1;
                }
                self.follow(level.index() + 1, hit);
            }
            Event::MemoryRead { .. } => self.fetched |= self.waiting,
            _ => {}
        }
    }
}

impl Watch {
    /// A piece asks its way outward; what comes after its answer is a store sent on, or the next piece at an inner level.
    #[inline]
    fn follow(&mut self, level: usize, hit: bool) {
        let outward = level > self.asked && self.asked > 0;
        if outward && !self.waiting {
            return;
        }
        if !outward {
            if self.waiting {
                self.server = self.server.max(self.unanswered());
            }
            self.missed |= !hit;
            self.fetched = false;
        }
        self.asked = level;
        self.waiting = !hit;
        if hit {
            self.server = self.server.max(level - 1);
        }
    }

    /// Who answers a piece that no level had: memory, or nobody where a store covers its line, told as the level after it.
    fn unanswered(&self) -> usize {
        if self.fetched { usize::MAX } else { self.asked }
    }

    /// The outermost place that had to answer: a level, or `levels` for memory. A reference that passes no level is
    /// answered by memory.
    #[must_use]
    pub fn served_by(&self, levels: usize) -> usize {
        if self.asked == 0 {
            return levels;
        }
        let last = if self.waiting { self.unanswered() } else { 0 };
        self.server.max(last).min(levels)
    }
}

/// References and demand misses by region; the last row is for addresses outside all regions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    levels: usize,
    /// Row-major: a row a region, `1 + levels` columns: references, then misses by level.
    counts: Vec<u64>,
}

impl Tally {
    /// All zero.
    #[must_use]
    pub fn new(regions: usize, levels: usize) -> Self {
        Self { levels, counts: vec![0; (regions + 1) * (1 + levels)] }
    }

    /// Adds one reference of `region` (`None` = outside all).
    #[inline]
    pub fn add(&mut self, region: Option<usize>, watch: &Watch) {
        let width = 1 + self.levels;
        let rows = self.counts.len() / width;
        let row = region.unwrap_or(rows - 1) * width;
        self.counts[row] += 1;
        for level in 0..self.levels {
            self.counts[row + 1 + level] += u64::from(watch.misses[level]);
        }
    }

    /// Adds one reference of `region` (`None` = outside all); the row for [`Tally::miss`].
    #[inline]
    pub(super) fn begin(&mut self, region: Option<usize>) -> usize {
        let width = 1 + self.levels;
        let row = region.map_or(self.counts.len() - width, |region| region * width);
        self.counts[row] += 1;
        row
    }

    /// Adds one demand miss of `level`, which the hierarchy has.
    #[inline]
    pub(super) fn miss(&mut self, row: usize, level: usize) {
        self.counts[row + 1 + level] += 1;
    }

    /// References of a region; `regions` itself is the row for the rest.
    #[must_use]
    pub fn references(&self, region: usize) -> u64 {
        self.counts[region * (1 + self.levels)]
    }

    /// Demand misses of a region at a level.
    #[must_use]
    pub fn misses(&self, region: usize, level: usize) -> u64 {
        self.counts[region * (1 + self.levels) + 1 + level]
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.counts.len() * size_of::<u64>()
    }
}
