//! Opens what the command line names: trace and cache.

use super::UsageError;
use super::copies;
use super::hierarchy::hierarchy;
use super::stop::Stopped;
use crate::cli::{CacheArgs, TraceArgs};
use crate::reference::ReferenceSource;
use crate::shown::say;
use crate::sim::config::{HierarchyConfig, MAX_CORES, preset};
use crate::trace::{Feed, Started};
use std::sync::Arc;

/// Opens the trace and says on standard error what its reader had to leave out.
///
/// # Errors
/// See [`trace::open`](crate::trace::open).
pub fn open_trace(args: &TraceArgs) -> anyhow::Result<Arc<dyn ReferenceSource>> {
    Ok(open_and_feed(args, &|| true)?.0)
}

/// As [`open_trace`]; also what read it, where it was read from a foreign file. It stops where `go` says no.
pub(super) fn open_and_feed(
    args: &TraceArgs,
    go: &dyn Fn() -> bool,
) -> anyhow::Result<(Arc<dyn ReferenceSource>, Option<Feed>)> {
    let (source, feed): (Arc<dyn ReferenceSource>, _) = match copies::start(args)? {
        Started::Whole(source) => (Arc::from(source), None),
        Started::Growing(mut feed) => {
            while feed.advance()? {
                if !go() {
                    return Err(Stopped(format!("{} was not read to its end", args.trace.display())).into());
                }
            }
            (Arc::clone(feed.trace()) as Arc<dyn ReferenceSource>, Some(feed))
        }
    };
    for notice in source.notices() {
        say!("note: {notice}");
    }
    Ok((source, feed))
}

/// Bytes of arrays up to which a trace is small: the caches of `paper` (L2: 2 KiB) then tell more than a real CPU's.
const SMALL: u64 = 64 << 10;

/// The hierarchy the flags ask for; where they ask for none, `paper` for a small trace and `textbook` otherwise. Presets and
/// flags say nothing of cores, so these have as many as the trace; a file has what it says, or one.
///
/// # Errors
/// See [`hierarchy`]; when the trace cannot be read.
pub fn open_cache(args: &CacheArgs, source: &dyn ReferenceSource) -> anyhow::Result<HierarchyConfig> {
    let bytes: u64 = source.tables().regions.iter().fold(0, |sum, r| sum.saturating_add(r.bytes));
    let small = bytes > 0 && bytes <= SMALL;
    let mut config = hierarchy(args, if small { "paper" } else { "textbook" })?;
    let by_file = args.cache.as_deref().is_some_and(|name| preset(name).is_none() && name != super::host::NAME);
    if args.cores.is_none() && !by_file {
        let cores = source.cores()?;
        config.cores = u16::try_from(cores).ok().filter(|cores| *cores <= MAX_CORES).ok_or_else(|| {
            UsageError(format!("the trace has {cores} cores; at most {MAX_CORES} are simulated: choose a part of it"))
        })?;
        config.check().map_err(|e| UsageError(e.to_string()))?;
    }
    Ok(config)
}
