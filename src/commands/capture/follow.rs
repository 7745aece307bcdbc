//! `orrery capture --follow`: the window shows a program's trace while it grows.

use super::{Progress, program, record};
use crate::app::{Beside, Load};
use crate::capture::valgrind::{Kept, Onlooker, title};
use crate::cli::CaptureArgs;
use crate::commands::watch::{Look, index};
use crate::commands::{opener, view};
use crate::opening::beside;
use crate::reference::{Reference, ReferenceSource, Region, Tables};
use crate::trace::{Feeder, TraceError};
use anyhow::bail;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::sync_channel;

/// References after which names are told for the first time, then each time that there are twice as many.
const FIRST_NAMES: u64 = 1 << 16;

/// Passes on what is recorded to the window.
pub(in crate::commands) struct Follower<'a> {
    progress: Progress,
    feeder: Feeder,
    path: &'a Path,
    /// References so far, and at which names are told next.
    seen: u64,
    next: u64,
    closed: &'a AtomicBool,
}

impl<'a> Follower<'a> {
    /// Feeds `feeder` with what the program at `path` does; `closed` is set where the window asked it to end.
    pub(in crate::commands) fn new(feeder: Feeder, path: &'a Path, closed: &'a AtomicBool) -> Self {
        Self { progress: Progress::new(), feeder, path, seen: 0, next: FIRST_NAMES, closed }
    }
}

impl Onlooker for Follower<'_> {
    fn see(&mut self, references: &[Reference], regions: &dyn Fn() -> Vec<Region>) -> Result<bool, TraceError> {
        self.seen += references.len() as u64;
        if self.seen >= self.next {
            self.next = 2 * self.seen;
            self.feeder.rename(Tables { title: title(self.path), regions: regions(), ..Tables::default() });
        }
        self.feeder.push(references)?;
        Ok(true)
    }

    fn counted(&mut self, read: u64, kept: u64) {
        self.progress.counted(read, kept);
    }

    fn is_read(&mut self) {
        self.progress.is_read();
    }

    fn has_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    fn end(&mut self, kept: &Kept<'_>) -> Result<(), TraceError> {
        self.progress.end(kept)?;
        self.feeder.finish(kept.tables.clone(), Vec::new())
    }
}

/// Records a program and shows its trace until the window is closed, which ends the program.
///
/// # Errors
/// As for a recording, and where no window can be opened.
pub(super) fn run(args: &CaptureArgs) -> anyhow::Result<ExitCode> {
    let path = program(args)?;
    let view = opener::plain(&path)?;
    let look =
        Look { cache: crate::cli::CacheArgs { cache: args.cache.clone(), ..view.cache.clone() }, ..view::look(&view) };
    let trace = view.trace.clone();
    let (sender, receiver) = sync_channel(1);
    let args: CaptureArgs = args.clone();
    let load: Load = Box::new(move |report| {
        let (stops, closed) = (Arc::new(AtomicU32::new(0)), AtomicBool::new(false));
        let feeder = Feeder::new(Tables { title: title(&path), ..Tables::default() });
        let source: Arc<dyn ReferenceSource> = Arc::clone(feeder.trace()) as Arc<dyn ReferenceSource>;
        let follower = Follower::new(feeder, &path, &closed);
        let work = || {
            // Where it ends, whoever waits for more must hear of it.
            let mut follower = follower;
            record(&args, &stops, &mut follower)
        };
        let here = || {
            let indexed = index(&trace, &source, &look, report);
            // Of a program that ended by itself nothing is left to stop.
            closed.store(!source.is_whole(), Ordering::SeqCst);
            stops.fetch_add(2, Ordering::SeqCst);
            indexed
        };
        let (recorded, indexed) = beside("record", work, here)?;
        let failed = recorded.is_err() && source.is_empty();
        let words = recorded.as_ref().err().map(|error| format!("{error:#}"));
        // The window may be closed already; who opened it waits for this.
        let _ = sender.send(recorded);
        match words {
            Some(words) if failed => bail!(words),
            _ => indexed,
        }
    });
    let shown = view::show(&view, Some(view::of(&view, true, Beside::default(), load)?));
    match receiver.recv() {
        // What the recording says comes first: a window that was told of it says the same.
        Ok(recorded) => recorded.and_then(|code| shown.map(|()| code)),
        Err(_) => shown.map(|()| ExitCode::SUCCESS),
    }
}
