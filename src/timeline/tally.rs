//! Counts by region up to a tick: what the tables beside the picture show.

use crate::sim::event::{AccessKind, Event, Observer};

/// Most levels a hierarchy may have.
pub const MAX_LEVELS: usize = 8;

/// What one reference did at each level: demand hits and misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// Demand hits by level.
    pub hits: [u32; MAX_LEVELS],
    /// Demand misses by level.
    pub misses: [u32; MAX_LEVELS],
}

impl Observer for Watch {
    #[inline]
    fn event(&mut self, event: Event) {
        if let Event::Access { level, kind, hit, .. } = event
            && kind != AccessKind::Writeback
        {
            let counts = if hit { &mut self.hits } else { &mut self.misses };
            if let Some(count) = counts.get_mut(level.index()) {
                *count += 1;
            }
        }
    }
}

impl Watch {
    /// The outermost place that had to answer: a level, or `levels` for memory.
    #[must_use]
    pub fn served_by(&self, levels: usize) -> usize {
        (0..levels).rev().find(|&l| self.misses[l] > 0).map_or(0, |l| l + 1)
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
