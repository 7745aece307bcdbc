//! The tables of the large picture: the numbers of its references alone, which are those of `orrery stats --range`.

use super::info::{Info, innermost, tlbs_of};
use crate::sim::{Hierarchy, LevelCounters};
use crate::timeline::Moment;
use crate::timeline::cursor::levels;
use crate::units::LevelId;

impl Info {
    /// Has the tables count the last `window` references alone.
    pub(super) fn over(&mut self, moment: &Moment<'_>, window: u64) {
        let Some(shares) = moment.shares(window, moment.before.levels()) else { return };
        let first: Vec<LevelId> = innermost(moment.before).collect();
        for (row, share) in self.regions.iter_mut().zip(shares) {
            let misses: u64 = first.iter().map(|level| share.misses[level.index()]).sum();
            (row.references, row.misses) = (share.references, misses);
            row.miss_rate = (share.references > 0).then(|| misses as f64 / share.references as f64);
        }
        let Some(before) = moment.state_before(window) else { return };
        let counted =
            levels(moment.before).flat_map(|level| counters(moment.before, level).zip(counters(before, level)));
        for (row, (now, then)) in self.caches.iter_mut().zip(counted) {
            (row.hits, row.misses, row.hit_rate) = between(&then, &now);
        }
        let (now, then) = (moment.before.tlbs(), before.tlbs());
        for (row, tlb) in self.tlbs.iter_mut().zip(tlbs_of(moment.before)) {
            (row.hits, row.misses, row.hit_rate) = between(&then.sum(tlb), &now.sum(tlb));
        }
        self.walks = now.walks() - then.walks();
        self.over = Some(window.min(moment.tick));
    }
}

/// Counters of a level, then of each of its caches where there are several: as [`rows`] has them.
fn counters(hierarchy: &Hierarchy, level: LevelId) -> impl Iterator<Item = LevelCounters> + '_ {
    let several = hierarchy.caches_of(level).count() > 1;
    let each = hierarchy.caches_of(level).filter(move |_| several).map(|cache| *hierarchy.counters(cache));
    std::iter::once(hierarchy.level_counters(level)).chain(each)
}

/// Demand hits and misses between two moments, and the share of hits; `None` = there were neither.
fn between(then: &LevelCounters, now: &LevelCounters) -> (u64, u64, Option<f64>) {
    let hits = now.demand_hits() - then.demand_hits();
    let asked = now.demand_accesses() - then.demand_accesses();
    (hits, asked - hits, (asked > 0).then(|| hits as f64 / asked as f64))
}

#[cfg(test)]
mod tests {
    use super::super::{RingExhibit, Studio};
    use crate::axis::Position;
    use crate::reference::{MemoryTrace, Tables};
    use crate::scene::View;
    use crate::sim::config::preset;
    use crate::sim::{Hierarchy, StatsCollector};
    use crate::trace::synth::mix;
    use std::sync::Arc;

    #[test]
    fn the_numbers_of_the_last_references_are_those_of_stats() {
        let trace = MemoryTrace::new(mix(40_000, 8).collect(), Tables::default());
        let config = preset("skylake-sp").expect("a preset");
        let references = trace.references().to_vec();
        let hierarchy = Hierarchy::new(&config).expect("sound");
        let mut studio = Studio::new(Arc::new(trace), hierarchy, &mut |_, _| true).expect("in memory");
        let mut rings = RingExhibit::suited(&studio);
        assert!(rings.stage().rings().composition.is_large());
        for (tick, window) in [(30_000usize, 64usize), (39_000, 4_096), (40_000, 30_000), (500, 4_096)] {
            let mut played = StatsCollector::new(&config, &Tables::default()).expect("sound");
            played.play_all(&references[..tick.saturating_sub(window)]);
            let then = played.stats();
            played.play_all(&references[tick.saturating_sub(window)..tick]);
            let now = played.stats();
            let view = View { tail: window as u64, ..View::default() };
            let (_, info) = rings.scene(&mut studio, Position::at(tick as u64), &view).expect("in memory");
            for ((row, now), then) in info.caches.iter().zip(&now.levels).zip(&then.levels) {
                let asked = now.demand_accesses - then.demand_accesses;
                let hits = asked - (now.demand_misses - then.demand_misses);
                assert_eq!((&row.name, row.hits), (&now.name, hits), "{window} before {tick}");
                assert_eq!(row.hit_rate, (asked > 0).then(|| hits as f64 / asked as f64), "{}", row.name);
            }
            assert!(!info.tlbs.is_empty());
            for ((row, now), then) in info.tlbs.iter().zip(&now.tlbs).zip(&then.tlbs) {
                let asked = now.accesses - then.accesses;
                assert_eq!((&row.name, row.hits), (&now.name, asked - (now.misses - then.misses)));
                assert_eq!(row.hit_rate.is_some(), asked > 0, "{}", row.name);
            }
            assert_eq!(Some(info.walks), now.page_walks.zip(then.page_walks).map(|(now, then)| now - then));
        }
    }
}
