//! Counts a foreign trace while it is read, in one pass, where all that the numbers need is known before its end. Nothing of it is kept.

use super::hierarchy::hierarchy;
use super::open::{Caches, cache_choice};
use crate::cli::StatsArgs;
use crate::reference::{SourceError, Tables};
use crate::shown::say;
use crate::sim::config::Touched;
use crate::sim::stats::{Detail, Stats, collect_once};
use crate::trace::Feed;

/// Numbers of a trace that was read once.
pub(super) struct Once {
    pub(super) stats: Stats,
    pub(super) caches: Caches,
    pub(super) tables: Tables,
}

/// Whether one pass over what `feed` reads tells the numbers that `args` ask for, and the trace can be read again where it does not.
pub(super) fn suits(feed: &Feed, args: &StatsArgs) -> bool {
    // Caches that are chosen by the trace are known at its end.
    feed.name().is_some()
        && !feed.names_come_late()
        && args.range.is_none()
        && args.by.is_empty()
        && !cache_choice(&args.cache).is_by_touch()
}

/// The numbers that `args` ask for. `None` where one pass did not tell, or something is wrong with the trace: who reads it again, as every
/// other command does, gets the numbers or the error.
pub(super) fn count(feed: &mut Feed, args: &StatsArgs, detail: Detail) -> Option<Once> {
    // Of a trace with more cores than this the caches would be others: its first reference on another core ends the pass.
    let config = hierarchy(&args.cache, Touched::PRESETS[1]).ok()?;
    if config.levels.iter().any(|level| level.policy.about().needs_future) {
        return None;
    }
    let tables = feed.tables();
    let next = |out: &mut Vec<_>| feed.next_chunk(out).map_err(SourceError::from);
    let stats = collect_once(next, &config, &tables, detail, args.flush).ok()?;
    for notice in feed.notices() {
        say!("note: {notice}");
    }
    Some(Once { stats, caches: Caches { config, why: None }, tables: feed.tables() })
}
