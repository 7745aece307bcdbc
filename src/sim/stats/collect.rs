//! All numbers of a trace by one call.

use super::{Detail, Stats, StatsCollector, StatsError, prepare};
use crate::reference::{Reference, ReferenceSource, SourceError, Tables};
use crate::sim::config::HierarchyConfig;
use crate::sim::hierarchy::Hierarchy;
use crate::sim::pass;
use rayon::prelude::*;

/// Plays a whole trace, chunk by chunk; `flush` writes dirty lines back at the end and counts that.
///
/// # Errors
/// When the configuration is wrong or the source fails.
pub fn collect(source: &dyn ReferenceSource, config: &HierarchyConfig, flush: bool) -> Result<Stats, StatsError> {
    collect_detail(source, config, Detail::default(), flush)
}

/// As [`collect`], and more or less of it.
///
/// # Errors
/// When the configuration is wrong or the source fails.
pub fn collect_detail(
    source: &dyn ReferenceSource,
    config: &HierarchyConfig,
    detail: Detail,
    flush: bool,
) -> Result<Stats, StatsError> {
    let mut collector = StatsCollector::with(prepare(config, source)?, source.tables(), detail);
    collector.play_source(source)?;
    if flush {
        collector.flush();
    }
    Ok(collector.into_stats())
}

/// As [`collect_detail`], under each of several configurations: the trace is read once, and they are played side by side.
///
/// # Errors
/// As there.
pub fn collect_each(
    source: &dyn ReferenceSource,
    configs: &[&HierarchyConfig],
    detail: Detail,
) -> Result<Vec<Stats>, StatsError> {
    let collector = |config: &&HierarchyConfig| -> Result<StatsCollector, StatsError> {
        Ok(StatsCollector::with(prepare(config, source)?, source.tables(), detail))
    };
    let mut collectors = configs.iter().map(collector).collect::<Result<Vec<_>, _>>()?;
    pass(source, configs.iter().copied(), |_, references| {
        collectors.par_iter_mut().for_each(|collector| collector.play_all(references));
        Ok::<_, StatsError>(())
    })?;
    Ok(collectors.into_iter().map(StatsCollector::into_stats).collect())
}

/// As [`collect_detail`], of references that are had once, in order: `next` replaces what it is given by those that follow, none at the
/// end. `tables` name what they touch.
///
/// # Errors
/// When the configuration is wrong or foresees, or `next` fails.
pub fn collect_once(
    next: impl FnMut(&mut Vec<Reference>) -> Result<(), SourceError> + Send,
    config: &HierarchyConfig,
    tables: &Tables,
    detail: Detail,
    flush: bool,
) -> Result<Stats, StatsError> {
    let mut collector = StatsCollector::with(Hierarchy::new(config)?, tables, detail);
    collector.play_in_order(next, true)?;
    if flush {
        collector.flush();
    }
    Ok(collector.into_stats())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{MemoryTrace, Region};
    use crate::sim::SimError;
    use crate::sim::config::preset;
    use crate::trace::synth::mix;

    #[test]
    fn side_by_side_each_configuration_counts_what_it_counts_alone() {
        let references: Vec<_> = mix(60_000, 5).collect();
        let regions = vec![Region::new("low", 0, 1 << 20)];
        let trace = MemoryTrace::new(references, Tables { regions, ..Tables::default() });
        let configs = ["paper", "skylake-sp", "textbook"].map(|name| preset(name).expect("a preset"));
        let all = configs.each_ref();
        for detail in [Detail::default(), Detail { classes: true, lines: true }] {
            let alone: Vec<_> = all.iter().map(|config| collect_detail(&trace, config, detail, false)).collect();
            let alone: Vec<_> = alone.into_iter().map(|stats| stats.expect("in memory")).collect();
            assert!(alone[0].levels[0].demand_misses > alone[1].levels[0].demand_misses);
            assert_eq!(collect_each(&trace, &all, detail).expect("in memory"), alone);
        }
    }

    #[test]
    fn a_core_that_one_of_them_does_not_have_is_told() {
        let mut reference = mix(1, 1).next().expect("one");
        reference.core = 1;
        let trace = MemoryTrace::new(vec![reference], Tables::default());
        let one = preset("textbook").expect("a preset");
        let mut two = one.clone();
        two.cores = 2;
        assert!(collect_each(&trace, &[&two], Detail::default()).is_ok());
        let found = collect_each(&trace, &[&two, &one], Detail::default());
        assert!(matches!(found, Err(StatsError::Sim(SimError::Core { tick: 0, core: 1, cores: 1, .. }))));
    }
}
