//! All numbers of a trace by one call.

use super::{Detail, Stats, StatsCollector, StatsError, prepare};
use crate::reference::{Reference, ReferenceSource, SourceError, Tables};
use crate::sim::config::HierarchyConfig;
use crate::sim::hierarchy::Hierarchy;

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
