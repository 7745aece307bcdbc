//! Cache temperature: each cache scores each reference, hit +h, miss -m, uninvolved 0; the mean over the last N
//! references is the cache's temperature (Choudhury & Rosen 2011, section IV-D). A cache of one core is measured by that
//! core's share of them.

use crate::timeline::Step;
use crate::units::LevelId;

/// Scores of one cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    /// Added on a hit.
    pub hit: f32,
    /// Taken off on a miss.
    pub miss: f32,
}

impl Scores {
    /// Default for a cache on `ring`, 0 = innermost: a hit is 1; a miss costs an innermost cache what the rest of its line
    /// can earn back, so that a pure stream breaks even (`items_per_line - 1`, at least 1), and costs 1 elsewhere.
    #[must_use]
    pub fn default_for(ring: usize, items_per_line: u64) -> Self {
        let miss = if ring == 0 { items_per_line.saturating_sub(1).clamp(1, 64) as f32 } else { 1.0 };
        Self { hit: 1.0, miss }
    }

    /// Temperature over `steps`, which are the last of a window of `window` references: `-miss ..= hit`. References
    /// before the start of the trace count as uninvolved. `core` is that of a cache which has only its references.
    #[must_use]
    pub fn temperature(&self, steps: &[Step], level: LevelId, core: Option<u16>, window: u64) -> f32 {
        let bit = 1u8.checked_shl(u32::from(level.0)).unwrap_or(0);
        let (mut hits, mut misses, mut own) = (0u32, 0u32, 0u32);
        for step in steps.iter().filter(|step| core.is_none_or(|core| step.core == core)) {
            hits += u32::from(step.hits & bit != 0);
            misses += u32::from(step.misses & bit != 0);
            own += 1;
        }
        if own == 0 {
            return 0.0;
        }
        let share = own as f32 / steps.len() as f32;
        (self.hit * hits as f32 - self.miss * misses as f32) / (window.max(1) as f32 * share)
    }

    /// Temperature scaled to -1 ..= 1: the coldest and the warmest this cache can get.
    #[must_use]
    pub fn scaled(&self, temperature: f32) -> f32 {
        let end = if temperature < 0.0 { self.miss } else { self.hit };
        if end > 0.0 { (temperature / end).clamp(-1.0, 1.0) } else { 0.0 }
    }
}
