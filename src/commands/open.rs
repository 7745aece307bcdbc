//! Opens what the command line names: trace and cache.

use super::UsageError;
use super::copies;
use super::hierarchy::hierarchy;
use super::stop::Stopped;
use crate::cli::{CacheArgs, TraceArgs};
use crate::reference::ReferenceSource;
use crate::shown::say;
use crate::sim::config::{HierarchyConfig, MAX_CORES, Touched, preset};
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

/// Caches, and why these.
pub struct Caches {
    /// What is simulated.
    pub config: HierarchyConfig,
    /// Why they were chosen, where the flags asked for none.
    pub why: Option<String>,
}

/// The hierarchy the flags ask for; where they ask for none, `paper` for a trace that touches little and `textbook` otherwise.
/// Presets and flags say nothing of cores, so these have as many as the trace; a file has what it says, or one.
///
/// # Errors
/// See [`hierarchy`]; when the trace cannot be read.
pub fn open_cache(args: &CacheArgs, source: &dyn ReferenceSource) -> anyhow::Result<Caches> {
    open_cache_of(args, source, &mut Touched::new(args.data_only))
}

/// As [`open_cache`], of a trace of which `touched` saw a part.
pub(super) fn open_cache_of(
    args: &CacheArgs,
    source: &dyn ReferenceSource,
    touched: &mut Touched,
) -> anyhow::Result<Caches> {
    let chosen = is_chosen(args);
    if chosen {
        touched.look(source)?;
    }
    let mut config = hierarchy(args, touched.preset())?;
    let by_file = args.cache.as_deref().is_some_and(|name| preset(name).is_none() && name != crate::host::NAME);
    if args.cores.is_none() && !by_file {
        let cores = source.cores()?;
        config.cores = u16::try_from(cores).ok().filter(|cores| *cores <= MAX_CORES).ok_or_else(|| {
            UsageError(format!("the trace has {cores} cores; at most {MAX_CORES} are simulated: choose a part of it"))
        })?;
        config.check().map_err(|e| UsageError(e.to_string()))?;
    }
    Ok(Caches { config, why: chosen.then(|| touched.why()) })
}

/// Whether the flags ask for no caches, so that they are chosen by what the trace touches.
pub(super) fn is_chosen(args: &CacheArgs) -> bool {
    args.cache.is_none() && [&args.l1, &args.l2, &args.l3].iter().all(|level| level.is_none())
}
