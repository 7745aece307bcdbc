//! Cache temperature: each cache scores each reference, hit +h, miss -m, not asked 0; the mean over the last N references is the
//! cache's temperature (Choudhury & Rosen 2011, section IV-D). A cache of one core is measured by that core's share of them.
//!
//! It follows from the configuration and the references alone, however they are drawn. Where a miss costs what the rest of its
//! line could earn, a stream breaks even. Of N accesses of b bytes on average, a stream over as many bytes misses N b / L times, L
//! being a line's bytes; its other accesses hit. So hits pay for misses at m = h (L / b - 1), also where several streams of different
//! sizes are mixed.

use crate::sim::config::{HierarchyConfig, Holds, MissScore};
use crate::sim::{CacheInfo, Hierarchy};
use crate::timeline::{Answered, Moment};
use crate::units::LevelId;

/// Scores of one cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    level: LevelId,
    holds: Holds,
    line_bytes: u32,
    hit: f32,
    miss: MissScore,
}

impl Scores {
    /// Those of the caches of a level.
    ///
    /// # Panics
    /// Where there is no such level.
    #[must_use]
    pub fn of(config: &HierarchyConfig, level: LevelId) -> Self {
        let own = &config.levels[level.index()];
        let (hit, miss) = (own.hit_score.value(), config.miss_score(level.index()));
        Self { level, holds: own.holds, line_bytes: own.line, hit, miss }
    }

    /// What a miss costs among these references.
    #[must_use]
    pub fn cost(&self, of: &Answered) -> f32 {
        match self.miss {
            MissScore::Of(score) => score.value(),
            MissScore::Line => {
                let sum = |counts: [u64; 2]| {
                    let sides = counts.into_iter().zip([false, true]);
                    sides.filter(|(_, fetch)| self.holds.serves(*fetch)).map(|(n, _)| n).sum::<u64>()
                };
                let (accesses, bytes) = (sum(of.asking) as f32, sum(of.bytes).max(1) as f32);
                self.hit * (self.line_bytes as f32 * accesses / bytes - 1.0).max(1.0)
            }
        }
    }

    /// Temperature, `-cost ..= hit`: `of` are the references of the last `window` that are its core's, or all of them, `all` the
    /// number of all. What would have been before the start of the trace asked nobody.
    #[must_use]
    pub fn temperature(&self, of: &Answered, all: u64, window: u64) -> f32 {
        if of.references == 0 {
            return 0.0;
        }
        let (hits, misses) = (of.hits(self.level.index()) as f32, of.missed[self.level.index()] as f32);
        let share = of.references as f32 / all as f32;
        (self.hit * hits - self.cost(of) * misses) / (window.max(1) as f32 * share)
    }

    /// Temperature scaled to -1 ..= 1: the coldest and the warmest this cache can get.
    #[must_use]
    pub fn scaled(&self, of: &Answered, all: u64, window: u64) -> f32 {
        let temperature = self.temperature(of, all, window);
        let end = if temperature < 0.0 { self.cost(of) } else { self.hit };
        if end > 0.0 { (temperature / end).clamp(-1.0, 1.0) } else { 0.0 }
    }
}

/// The scores of all caches of a hierarchy: what their temperatures are read with.
#[derive(Clone, Debug)]
pub struct Thermometer {
    /// By cache: its level, its core where it has only that one's references, its scores.
    caches: Vec<(CacheInfo, Scores)>,
}

impl Thermometer {
    /// For the caches of a hierarchy.
    #[must_use]
    pub fn new(hierarchy: &Hierarchy) -> Self {
        let of = |cache| {
            let info = hierarchy.info(cache);
            (info, Scores::of(hierarchy.config(), info.level))
        };
        Self { caches: hierarchy.caches().map(of).collect() }
    }

    /// Temperature of each cache, -1 ..= 1, over the last `window` references before a moment.
    #[must_use]
    pub fn read(&self, moment: &Moment<'_>, window: u64) -> Vec<f32> {
        let answers = moment.answers(window);
        let all = answers.of(None).references;
        let of = |(info, scores): &(CacheInfo, Scores)| scores.scaled(&answers.of(info.core), all, window);
        self.caches.iter().map(of).collect()
    }
}
