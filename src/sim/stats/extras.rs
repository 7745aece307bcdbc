//! What only some configurations have: caches of each core, prefetchers, TLBs, and what cores do to each other. Parts of the JSON
//! appear where the configuration has the thing, so that a plain one gives the plain form.

use super::is_zero;
use crate::reference::RegionMap;
use crate::reference::RegionNames;
use crate::sim::classes::Classifier;
use crate::sim::coherence::CoreSet;
use crate::sim::config::Prefetch;
use crate::sim::hash::LineMap;
use crate::sim::{Event, Hierarchy, LevelCounters, Observer};
use crate::units::LevelId;
use serde::Serialize;

/// One core's cache of a private level. See [`LevelCounters`] for the counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "named as in LevelCounters and ClassCounts")]
#[non_exhaustive]
pub struct CoreStats {
    pub core: u16,
    pub read_accesses: u64,
    pub read_misses: u64,
    pub write_accesses: u64,
    pub write_misses: u64,
    pub fetch_accesses: u64,
    pub fetch_misses: u64,
    pub fills: u64,
    pub evictions: u64,
    pub writebacks: u64,
    pub invalidations: u64,
    pub compulsory: u64,
    pub capacity: u64,
    pub conflict: u64,
    pub coherence: u64,
    pub demand_accesses: u64,
    pub demand_misses: u64,
    pub demand_hit_rate: Option<f64>,
}

/// A level's prefetcher. Accuracy is `used / fills`; coverage `used / (used + misses)`, misses being demand misses of the
/// level; timely are `used - late`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PrefetchStats {
    /// Lines it brought in.
    pub fills: u64,
    /// Those that were used before they left.
    pub used: u64,
    /// Those whose first use came before the line would have arrived, at one reference a cycle.
    pub late: u64,
    /// Demand misses on lines that it had driven out.
    pub pollution: u64,
    /// Share of its lines that were used, 0 to 1; `None` before the first.
    pub accuracy: Option<f64>,
    /// Share of the misses there would have been that it took away, 0 to 1; `None` before the first.
    pub coverage: Option<f64>,
}

/// A TLB: over all cores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TlbStats {
    /// Its name.
    pub name: String,
    /// Pages it holds.
    pub entries: u32,
    /// Bytes of a page.
    pub page: u32,
    /// Translations it was asked for.
    pub accesses: u64,
    /// Those it had not.
    pub misses: u64,
    /// Pages that left for another.
    pub evictions: u64,
}

/// What cores did to each other. See [`SharingCounters`](crate::sim::SharingCounters).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SharingStats {
    /// Lines that a store took from a core that held them.
    pub taken: u64,
    /// Requests that had to wait until a core had written dirty data back.
    pub interventions: u64,
    /// Coherence misses of the innermost level.
    pub coherence_misses: u64,
    /// Those that touched no byte another core had written since.
    pub false_sharing: u64,
    /// Where: lines with coherence misses, the worst first, at most [`MOST_LINES`].
    pub lines: Vec<SharedLine>,
}

/// A line that cores fight for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SharedLine {
    /// First byte of the unit of coherence.
    pub address: u64,
    /// Name of the region that held it last; absent where none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Cores that took it or came back to it.
    pub cores: Vec<u16>,
    /// Coherence misses on it.
    pub coherence_misses: u64,
    /// Those that are false sharing.
    #[serde(skip_serializing_if = "is_zero")]
    pub false_sharing: u64,
}

/// Lines of [`SharingStats`] at most.
pub const MOST_LINES: usize = 20;

/// Remembers who came back to what. An [`Observer`].
#[derive(Clone, Debug, Default)]
pub(super) struct SharingWatch {
    units: LineMap<Shared>,
}

#[derive(Clone, Debug, Default)]
struct Shared {
    cores: CoreSet,
    returns: u64,
    falsely: u64,
}

impl Observer for SharingWatch {
    #[inline(always)]
    fn event(&mut self, event: Event) {
        if let Event::Sharing { unit, core, by, falsely, .. } = event {
            let shared = self.units.entry(unit.0).or_default();
            shared.cores.insert(core);
            shared.cores.insert(by);
            shared.returns += 1;
            shared.falsely += u64::from(falsely);
        }
    }
}

impl SharingWatch {
    fn lines(&self, regions: &RegionMap, names: &RegionNames, unit: u64) -> Vec<SharedLine> {
        // The region that any of it belongs to, whenever that lived.
        let region = |address: u64| {
            let bytes = (0..unit).step_by(8).filter_map(|offset| address.checked_add(offset));
            bytes.filter_map(|addr| regions.nearest(addr, u64::MAX)).find_map(|at| names.get(at).map(str::to_owned))
        };
        let mut units: Vec<(u64, &Shared)> = self.units.iter().map(|(unit, shared)| (*unit, shared)).collect();
        units.sort_unstable_by_key(|(unit, shared)| (std::cmp::Reverse((shared.falsely, shared.returns)), *unit));
        let line = |(address, shared): (u64, &Shared)| SharedLine {
            address,
            region: region(address),
            cores: shared.cores.iter().collect(),
            coherence_misses: shared.returns,
            false_sharing: shared.falsely,
        };
        units.into_iter().take(MOST_LINES).map(line).collect()
    }
}

/// What cores did to each other; `None` with one core or no private level.
pub(super) fn sharing(
    hierarchy: &Hierarchy,
    watch: &SharingWatch,
    regions: &RegionMap,
    names: &RegionNames,
) -> Option<SharingStats> {
    let levels = hierarchy.config().levels.iter().filter(|level| !level.shared);
    let unit = levels.map(|level| u64::from(level.line)).max().unwrap_or(1);
    hierarchy.sharing().map(|counters| SharingStats {
        taken: counters.taken,
        interventions: counters.interventions,
        coherence_misses: counters.returns,
        false_sharing: counters.false_sharing,
        lines: watch.lines(regions, names, unit),
    })
}

/// Each core's cache of a level; empty where it has one for all.
pub(super) fn cores(hierarchy: &Hierarchy, level: LevelId, classifier: Option<&Classifier>) -> Vec<CoreStats> {
    let one = |cache| {
        let core = hierarchy.info(cache).core?;
        let c: &LevelCounters = hierarchy.counters(cache);
        let classes = classifier.map(|classifier| classifier.cache_counts(cache)).unwrap_or_default();
        Some(CoreStats {
            core,
            read_accesses: c.read_accesses,
            read_misses: c.read_misses,
            write_accesses: c.write_accesses,
            write_misses: c.write_misses,
            fetch_accesses: c.fetch_accesses,
            fetch_misses: c.fetch_misses,
            fills: c.fills,
            evictions: c.evictions,
            writebacks: c.writebacks,
            invalidations: c.invalidations,
            compulsory: classes.compulsory,
            capacity: classes.capacity,
            conflict: classes.conflict,
            coherence: classes.coherence,
            demand_accesses: c.demand_accesses(),
            demand_misses: c.demand_misses(),
            demand_hit_rate: c.hit_rate(),
        })
    };
    hierarchy.caches_of(level).filter_map(one).collect()
}

/// A level's prefetcher, if it has one.
pub(super) fn prefetch(hierarchy: &Hierarchy, level: LevelId) -> Option<PrefetchStats> {
    if hierarchy.config().levels[level.index()].prefetch == Prefetch::None {
        return None;
    }
    let c = hierarchy.level_counters(level);
    let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
    Some(PrefetchStats {
        fills: c.prefetch_fills,
        used: c.prefetch_used,
        late: c.prefetch_late,
        pollution: c.prefetch_pollution,
        accuracy: share(c.prefetch_used, c.prefetch_fills),
        coverage: share(c.prefetch_used, c.prefetch_used + c.demand_misses()),
    })
}

/// The TLBs at work.
pub(super) fn tlbs(hierarchy: &Hierarchy) -> Vec<TlbStats> {
    let tlbs = hierarchy.tlbs();
    let used = |tlb: &usize| (0..tlbs.len()).any(|at| tlbs.tlb(at) == *tlb);
    let configs = hierarchy.config().tlbs.iter().enumerate().filter(|(tlb, _)| used(tlb));
    let one = |(tlb, config): (usize, &crate::sim::config::TlbConfig)| {
        let sum = tlbs.sum(tlb);
        TlbStats {
            name: config.name.clone(),
            entries: config.entries,
            page: hierarchy.config().memory.page,
            accesses: sum.accesses(),
            misses: sum.misses(),
            evictions: sum.evictions,
        }
    };
    configs.map(one).collect()
}
