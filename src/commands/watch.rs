//! What the window shows while a trace is read and indexed: more and more of it.

use super::index_file::{IndexFile, indexer};
use super::open::open_cache;
use super::picture::give_title;
use crate::app::Report;
use crate::cli::{CacheArgs, PictureArgs, TraceArgs};
use crate::overlay::Studio;
use crate::reference::{ReferenceSource, SourceError};
use crate::sim::config::HierarchyConfig;
use crate::sim::{Policy, SimError, prepare};
use crate::timeline::{Indexer, Timeline};
use crate::trace::{self, Started, TraceError};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time until something is shown, be it a part; a trace that is read within it is shown at once as a whole.
const FIRST: Duration = Duration::from_millis(120);
/// Time between two parts that are shown, at least.
const NEXT: Duration = Duration::from_millis(200);
/// Of the time, what making parts to show may take, as one in so many.
const SHARE: u32 = 8;
/// Time between two looks whether more of a trace is there.
const WAIT: Duration = Duration::from_millis(3);

/// How the trace that is shown is simulated and called.
pub(super) struct Look {
    pub(super) cache: CacheArgs,
    pub(super) picture: PictureArgs,
    /// Whose name is the title, where the trace has none.
    pub(super) name: PathBuf,
}

impl Look {
    fn studio(&self, timeline: Timeline) -> Result<Studio, SourceError> {
        let mut studio = Studio::of(timeline)?;
        give_title(&mut studio, &self.name, &self.picture);
        Ok(studio)
    }
}

/// Opens a trace and reports what can be shown of it, until all is indexed or a report gives `false`.
///
/// # Errors
/// When the trace or the cache is not to be had, or nothing of the trace can be shown.
pub(super) fn watch(trace: &TraceArgs, look: &Look, report: &mut dyn FnMut(Report) -> bool) -> anyhow::Result<()> {
    let mut feed = match trace::start(&trace.trace, trace.format)? {
        Started::Whole(source) => {
            let source: Arc<dyn ReferenceSource> = Arc::from(source);
            tell(source.as_ref());
            return index(&source, look, report);
        }
        Started::Growing(feed) => feed,
    };
    let source: Arc<dyn ReferenceSource> = Arc::clone(feed.trace()) as Arc<dyn ReferenceSource>;
    let (stop, broken) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let read = || -> Result<(), TraceError> {
            let read = loop {
                match feed.advance() {
                    Ok(true) if !stop.load(Ordering::Relaxed) => {}
                    Ok(_) => break Ok(()),
                    Err(error) => break Err(error),
                }
            };
            broken.store(read.is_err(), Ordering::Release);
            read.or_else(|error| feed.keep().and(Err(error)))
        };
        let reading = std::thread::Builder::new().name("read".into()).spawn_scoped(scope, read)?;
        let mut shown = false;
        let indexed = index(&source, look, &mut |said| {
            // What is known to be broken before it was shown is refused, as everywhere else.
            let ready = matches!(said, Report::Ready(_));
            let refused = ready && !shown && broken.load(Ordering::Acquire);
            shown |= ready && !refused;
            !refused && report(said)
        });
        stop.store(true, Ordering::Relaxed);
        let read = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (read, indexed) {
            (Err(error), _) if !shown => Err(error.into()),
            (_, Err(error)) => Err(error),
            (Err(error), Ok(())) => {
                eprintln!("warning: {error}; showing what came before");
                report(Report::Words("the trace is broken here: the terminal says how".into()));
                Ok(())
            }
            (Ok(()), Ok(())) => {
                tell(source.as_ref());
                Ok(())
            }
        }
    })
}

fn tell(source: &dyn ReferenceSource) {
    source.notices().iter().for_each(|notice| eprintln!("note: {notice}"));
}

/// Whether a configuration looks into the future, so that all of the trace must be there.
fn foresees(config: &HierarchyConfig) -> bool {
    config.levels.iter().any(|level| level.policy == Policy::Opt)
}

/// Indexes a trace, as much as is there, until it is whole.
pub(super) fn index(
    source: &Arc<dyn ReferenceSource>,
    look: &Look,
    report: &mut dyn FnMut(Report) -> bool,
) -> anyhow::Result<()> {
    let begun = Instant::now();
    let wait = |report: &mut dyn FnMut(Report) -> bool| {
        std::thread::sleep(WAIT);
        report(Report::Progress(source.len(), 0))
    };
    // A short trace is whole before anything is decided.
    while !source.is_whole() && (source.is_empty() || begun.elapsed() < FIRST / 2) {
        if !wait(report) {
            return Ok(());
        }
    }
    if source.is_empty() {
        return Ok(());
    }
    // What was shown is not taken back while it is indexed anew.
    let mut shown = 0;
    loop {
        let config = open_cache(&look.cache, source.as_ref())?;
        while foresees(&config) && !source.is_whole() {
            if !wait(report) {
                return Ok(());
            }
        }
        let cores = source.cores()?;
        let named = source.tables().regions.clone();
        let hierarchy = prepare(&config, source.as_ref())?;
        let file = IndexFile::of(source.as_ref(), &hierarchy).filter(|_| source.is_whole());
        if let Some(timeline) = file.as_ref().and_then(|file| file.load(source, &hierarchy)) {
            report(Report::Ready(look.studio(timeline)?));
            return Ok(());
        }
        let indexer = indexer(source, hierarchy, look.picture.memory);
        match play(indexer, look, begun, &mut shown, file.as_ref(), report) {
            // More cores came than were there when it began.
            Err(Stop::Failed(SimError::Core { .. })) if source.cores()? > cores => {}
            // Other names came: then counts are by them.
            Ok(()) | Err(Stop::Renamed) if source.tables().regions != named => {}
            Ok(()) | Err(Stop::Renamed | Stop::Closed) => return Ok(()),
            Err(Stop::Failed(error)) => return Err(error.into()),
        }
    }
}

enum Stop {
    /// Nobody looks any more.
    Closed,
    /// The trace names other regions than it did.
    Renamed,
    Failed(SimError),
}

fn play(
    mut indexer: Indexer,
    look: &Look,
    begun: Instant,
    shown: &mut u64,
    file: Option<&IndexFile>,
    report: &mut dyn FnMut(Report) -> bool,
) -> Result<(), Stop> {
    let source = Arc::clone(indexer.source());
    let named = source.tables();
    let mut due = begun + FIRST;
    loop {
        if !std::ptr::eq(named, source.tables()) && named.regions != source.tables().regions {
            return Err(Stop::Renamed);
        }
        let more = indexer.advance().map_err(Stop::Failed)?;
        let whole = !more && source.is_whole() && indexer.len() == source.len();
        let now = Instant::now();
        let total = if source.is_whole() { source.len() } else { 0 };
        if whole || now >= due && indexer.len() > *shown {
            let studio = look.studio(indexer.timeline()).map_err(|e| Stop::Failed(e.into()))?;
            let timeline = Arc::clone(studio.timeline());
            if !report(Report::Ready(studio)) {
                return Err(Stop::Closed);
            }
            *shown = indexer.len();
            if whole {
                if let Some(file) = file {
                    file.save(&timeline);
                }
                return Ok(());
            }
            due = Instant::now() + NEXT.max(now.elapsed() * SHARE);
        } else if !report(Report::Progress(indexer.len(), total)) {
            return Err(Stop::Closed);
        }
        if !more {
            std::thread::sleep(WAIT);
        }
    }
}
