//! The numbers of some references of a trace, in caches that all references before them have warmed.
//!
//! The trace is played to the end of the range. The numbers are those at the end less those at the start.

use super::{CoreStats, Detail, LevelStats, LineStats, Stats, StatsCollector, StatsError, TlbStats};
use crate::reference::{ReferenceSource, SourceError};
use crate::sim::config::HierarchyConfig;
use crate::sim::{SimError, pass, prepare};
use serde::Serialize;
use std::collections::BTreeMap;

/// References of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ReferenceRange {
    /// The first.
    pub from: u64,
    /// One past the last.
    pub to: u64,
}

/// Why playing stops.
enum Stop {
    /// The range ends.
    End,
    Source(SourceError),
    Sim(SimError),
}

impl From<SourceError> for Stop {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

impl From<SimError> for Stop {
    fn from(error: SimError) -> Self {
        Self::Sim(error)
    }
}

/// Plays `source` through `config` to the end of `range`; the numbers of the range alone. Regions that it does not touch are left out.
///
/// # Errors
/// When the configuration is wrong, the source fails, or it has a reference of a core that there is not, or too many long ones.
pub fn collect_range(
    source: &dyn ReferenceSource,
    config: &HierarchyConfig,
    detail: Detail,
    range: ReferenceRange,
) -> Result<Stats, StatsError> {
    let mut collector = StatsCollector::with(prepare(config, source)?, source.tables(), detail);
    let mut before = None;
    let played = pass(source, [config], |first, references| {
        let place = |tick: u64| usize::try_from(tick.saturating_sub(first)).unwrap_or(usize::MAX).min(references.len());
        let (start, end) = (place(range.from), place(range.to));
        collector.play_all(&references[..start]);
        if before.is_none() && first + start as u64 == range.from {
            before = Some(collector.stats());
        }
        collector.play_all(&references[start..end]);
        if first + references.len() as u64 >= range.to { Err(Stop::End) } else { Ok(()) }
    });
    match played {
        Ok(()) | Err(Stop::End) => {}
        Err(Stop::Source(error)) => return Err(error.into()),
        Err(Stop::Sim(error)) => return Err(error.into()),
    }
    let mut stats = collector.into_stats();
    if let Some(before) = before {
        subtract(&mut stats, &before);
    }
    stats.regions.retain_referred();
    Ok(stats)
}

/// Takes what was counted before from each count. Lines held, and those that are dirty, stay as they are at the end.
fn subtract(stats: &mut Stats, before: &Stats) {
    let (trace, then) = (&mut stats.trace, &before.trace);
    less(
        [&mut trace.references, &mut trace.reads, &mut trace.writes, &mut trace.fetches, &mut trace.bytes],
        [then.references, then.reads, then.writes, then.fetches, then.bytes],
    );
    let (memory, then) = (&mut stats.memory, &before.memory);
    less(
        [&mut memory.reads, &mut memory.writes, &mut memory.bytes_read, &mut memory.bytes_written],
        [then.reads, then.writes, then.bytes_read, then.bytes_written],
    );
    less([&mut stats.dropped_fetches], [before.dropped_fetches]);
    stats.levels.iter_mut().zip(&before.levels).for_each(|(level, then)| level_less(level, then));
    for (tlb, then) in stats.tlbs.iter_mut().zip(&before.tlbs) {
        let TlbStats { accesses, misses, evictions, .. } = tlb;
        less([accesses, misses, evictions], [then.accesses, then.misses, then.evictions]);
    }
    stats.page_walks = stats.page_walks.map(|walks| walks - before.page_walks.unwrap_or(0));
    // Rows are in the order of the trace's table, and the last is of those outside all regions, if there were any.
    stats.regions.less(&before.regions);
    let key = |line: &LineStats| (line.file.clone(), line.line, line.function.clone());
    let then: BTreeMap<_, &LineStats> = before.lines.iter().map(|line| (key(line), line)).collect();
    for line in &mut stats.lines {
        if let Some(then) = then.get(&key(line)) {
            less([&mut line.references], [then.references]);
            rows_less(&mut line.misses, &then.misses);
        }
    }
    stats.lines.retain(|line| line.references > 0);
    if let (Some(sharing), Some(then)) = (&mut stats.sharing, &before.sharing) {
        less(
            [&mut sharing.taken, &mut sharing.interventions, &mut sharing.coherence_misses, &mut sharing.false_sharing],
            [then.taken, then.interventions, then.coherence_misses, then.false_sharing],
        );
        // Of lines the worst of the whole trace are known, which need not be those of the part.
        sharing.lines.clear();
    }
}

/// Takes these counts of one thing from those of another.
macro_rules! less_of {
    ($counts:expr, $then:expr; $($name:ident)*) => { less([$(&mut $counts.$name),*], [$($then.$name),*]) };
}

/// What levels and single caches both count.
macro_rules! cache_less {
    ($counts:expr, $then:expr) => {
        less_of!($counts, $then; read_accesses read_misses write_accesses write_misses fetch_accesses fetch_misses
            fills evictions writebacks invalidations compulsory capacity conflict coherence demand_accesses demand_misses);
        $counts.demand_hit_rate = share($counts.demand_accesses - $counts.demand_misses, $counts.demand_accesses);
    };
}

fn level_less(level: &mut LevelStats, then: &LevelStats) {
    cache_less!(level, then);
    less_of!(level, then; bytes_in bytes_out prefetch_accesses prefetch_misses);
    if let (Some(prefetch), Some(then)) = (&mut level.prefetch, &then.prefetch) {
        less_of!(prefetch, then; fills used late pollution);
        prefetch.accuracy = share(prefetch.used, prefetch.fills);
        prefetch.coverage = share(prefetch.used, prefetch.used + level.demand_misses);
    }
    level.cores.iter_mut().zip(&then.cores).for_each(|(core, then)| core_less(core, then));
}

fn core_less(core: &mut CoreStats, then: &CoreStats) {
    cache_less!(core, then);
}

fn rows_less<N>(misses: &mut [(N, u64)], then: &[(N, u64)]) {
    misses.iter_mut().zip(then).for_each(|((_, count), (_, then))| *count -= then);
}

fn less<const N: usize>(counts: [&mut u64; N], then: [u64; N]) {
    counts.into_iter().zip(then).for_each(|(count, then)| *count -= then);
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{MemoryTrace, Region, Tables};
    use crate::sim::config::preset;
    use crate::sim::stats::collect_detail;
    use crate::trace::synth::mix;

    /// The numbers of references before each other add up to those of all, and each part has as many as it is long.
    #[test]
    fn parts_add_up_to_the_whole() {
        for caches in ["textbook", "skylake-sp"] {
            let (config, detail) = (preset(caches).expect("a preset"), Detail { classes: true, lines: true });
            let references: Vec<_> = mix(30_000, 3).collect();
            // Two regions that the references touch, and what is outside both.
            let low = references.iter().map(|r| r.addr).min().unwrap_or(0);
            let regions = vec![Region::new("a", low, 1 << 14), Region::new("b", low + (1 << 15), 1 << 16)];
            let trace = MemoryTrace::new(references, Tables { regions, ..Tables::default() });
            let whole = collect_detail(&trace, &config, detail, false).expect("in memory");
            let borders = [0, 1, 7_000, 7_001, 22_000, 30_000];
            let parts: Vec<Stats> = borders
                .windows(2)
                .map(|part| {
                    let part = ReferenceRange { from: part[0], to: part[1] };
                    let stats = collect_range(&trace, &config, detail, part).expect("in memory");
                    assert_eq!(stats.trace.references, part.to - part.from);
                    stats
                })
                .collect();
            let sum = |of: fn(&Stats) -> u64| parts.iter().map(of).sum::<u64>();
            for (of, name) in [
                ((|s| s.trace.bytes) as fn(&Stats) -> u64, "bytes"),
                (|s| s.levels[0].demand_misses, "misses"),
                (|s| s.levels[1].demand_accesses, "asked"),
                (|s| s.levels[0].evictions, "evictions"),
                (|s| s.levels.iter().map(|l| l.compulsory + l.capacity + l.conflict).sum(), "classes"),
                (|s| s.memory.bytes_read, "memory"),
                (|s| s.regions.iter().map(|r| r.references).sum(), "regions"),
                (|s| s.regions.iter().map(|r| r.misses.counts()[0]).sum(), "misses of regions"),
                (|s| s.lines.iter().map(|l| l.references).sum(), "lines"),
                (|s| s.tlbs.iter().map(|t| t.misses).sum(), "TLBs"),
                (|s| s.page_walks.unwrap_or(0), "walks"),
            ] {
                assert_eq!(sum(of), of(&whole), "{caches}: {name}");
            }
            assert_eq!(whole.regions.len(), 3, "{caches}: both regions and the rest are touched");
            assert!(whole.levels[0].demand_misses > 1000 && parts[3].levels[0].demand_misses > 100);
            let all =
                collect_range(&trace, &config, detail, ReferenceRange { from: 0, to: 30_000 }).expect("in memory");
            assert_eq!(all, whole, "{caches}");
            // Warm: what the first part brought in is there.
            let alone = MemoryTrace::new(trace.references()[7_001..22_000].to_vec(), Tables::default());
            let cold = collect_detail(&alone, &config, detail, false).expect("in memory");
            assert!(cold.memory.reads > parts[3].memory.reads, "{caches}");
        }
    }
}
