//! How evenly the sets of a level are used.

use crate::sim::{Event, Observer};
use crate::units::LevelId;
use serde::Serialize;
use std::collections::BTreeSet;

/// What each set of a level was asked for: an [`Observer`]. The caches of a level with one a core are counted together. Prefetches and
/// write-backs are left out.
#[derive(Clone, Debug)]
pub struct SetPressure {
    level: LevelId,
    sets: Vec<SetUse>,
    /// Set and line of all that was asked for.
    seen: BTreeSet<(u32, u64)>,
}

/// One set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SetUse {
    /// Its number.
    pub set: u32,
    /// Demand accesses.
    pub accesses: u64,
    /// Demand misses.
    pub misses: u64,
    /// Different lines that were asked for.
    pub lines: u64,
    /// Lines that had to give way.
    pub evictions: u64,
}

impl SetPressure {
    /// Of a level with so many sets.
    #[must_use]
    pub fn new(level: LevelId, sets: u32) -> Self {
        let sets = (0..sets).map(|set| SetUse { set, ..SetUse::default() }).collect();
        Self { level, sets, seen: BTreeSet::new() }
    }

    /// All sets, in their order.
    #[must_use]
    pub fn sets(&self) -> &[SetUse] {
        &self.sets
    }

    /// Share of the demand accesses that the busiest eighth of the sets (one at least) takes: 0.125 where all are used alike.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn busiest_eighth(&self) -> Option<f64> {
        let mut accesses: Vec<u64> = self.sets.iter().map(|set| set.accesses).collect();
        accesses.sort_unstable_by(|a, b| b.cmp(a));
        let all: u64 = accesses.iter().sum();
        let busiest: u64 = accesses[..accesses.len().div_ceil(8)].iter().sum();
        (all > 0).then(|| busiest as f64 / all as f64)
    }
}

impl Observer for SetPressure {
    fn event(&mut self, event: Event) {
        match event {
            Event::Access { level, set, line, kind, hit, .. } if level == self.level && kind.is_demand() => {
                let counts = &mut self.sets[set.0 as usize];
                counts.accesses += 1;
                counts.misses += u64::from(!hit);
                // What hits was asked for before, or prefetched.
                if self.seen.insert((set.0, line.0)) {
                    counts.lines += 1;
                }
            }
            Event::Evict { level, set, .. } if level == self.level => self.sets[set.0 as usize].evictions += 1,
            _ => {}
        }
    }
}
