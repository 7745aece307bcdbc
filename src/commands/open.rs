//! Opens what the command line names: trace and cache.

use super::UsageError;
use super::hierarchy::hierarchy;
use super::stop::Stopped;
use crate::cli::{CacheArgs, TraceArgs};
pub use crate::opening::Caches;
use crate::opening::{CacheChoice, Note, OpenError, Opening};
use crate::reference::ReferenceSource;
use crate::shown::say;
use crate::sim::config::{Touched, preset};
use std::sync::Arc;

/// Opens the trace and says on standard error what its reader had to leave out.
///
/// # Errors
/// See [`trace::open`](crate::trace::open).
pub fn open_trace(args: &TraceArgs) -> anyhow::Result<Arc<dyn ReferenceSource>> {
    Ok(opening(args).read(&|| true).map_err(failed)?.0)
}

/// The trace that is named; its notes are said on standard error.
pub(super) fn opening(args: &TraceArgs) -> Opening {
    Opening::new(&args.trace).with_format(args.format).telling(say_note)
}

/// Says what an opening found.
pub(super) fn say_note(note: &Note) {
    match note {
        #[cfg(target_os = "linux")]
        Note::Opens(trace) => super::capture::tell_of_leftover(trace),
        #[cfg(not(target_os = "linux"))]
        Note::Opens(_) => {}
        Note::Broken(_) => say!("warning: {note}"),
        Note::Unreadable { why, .. } => say!("note: {note} ({why})"),
        _ => say!("note: {note}"),
    }
}

/// Why nothing was opened, by what a command makes of it: another exit code for a wrong flag, and for a stop.
pub(super) fn failed(error: OpenError) -> anyhow::Error {
    match error {
        OpenError::Trace(error) => error.into(),
        OpenError::Source(error) => error.into(),
        OpenError::Sim(error) => error.into(),
        OpenError::Caches(words) => UsageError(words).into(),
        OpenError::Stopped { .. } => Stopped(error.to_string()).into(),
        error => error.into(),
    }
}

/// The hierarchy the flags ask for; where they ask for none, `paper` for a trace that touches little and `textbook` otherwise.
/// Presets and flags say nothing of cores, so these have as many as the trace; a file has what it says, or one.
///
/// # Errors
/// See [`hierarchy`]; when the trace cannot be read.
pub fn open_cache(args: &CacheArgs, source: &dyn ReferenceSource) -> anyhow::Result<Caches> {
    cache_choice(args).open(source).map_err(failed)
}

/// As [`open_cache`], of a trace that is still to be opened.
pub(super) fn cache_choice(args: &CacheArgs) -> CacheChoice {
    let asked = |default: &str| hierarchy(args, default).map_err(|error| error.to_string());
    // Whether the flags ask for no caches, so that they are chosen by what the trace touches.
    let by_touch = args.cache.is_none() && [&args.l1, &args.l2, &args.l3].iter().all(|level| level.is_none());
    let choice = match by_touch {
        true => CacheChoice::suited(args.data_only, asked),
        false => CacheChoice::asked(asked(Touched::PRESETS[1])),
    };
    let by_file = args.cache.as_deref().is_some_and(|name| preset(name).is_none() && name != crate::host::NAME);
    if args.cores.is_none() && !by_file { choice.with_cores_of_trace() } else { choice }
}
