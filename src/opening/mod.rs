//! From the path of a trace and the caches that are wanted to a [`Timeline`], as whoever shows a trace needs it: what took long once
//! is kept in the user's cache folder, and what is read or indexed can be shown before it is whole.
//!
//! ```text
//! path -> Opening --start---> copy of a foreign trace (kept in `read`), else a reader that lets it grow
//!                 --timeline> index (kept in `index`), else made and kept       for stills, films, numbers
//!                 --watch---> one timeline after another while more is there    for a window
//! ```
//!
//! Nothing is printed here. What people should hear comes as a [`Note`], from whichever thread finds it.
//!
//! ```
//! use orrery::opening::{CacheChoice, Opening};
//! use orrery::sim::config::preset;
//!
//! let folder = tempfile::tempdir()?;
//! let text = folder.path().join("sum.log");
//! std::fs::write(&text, " L 1000,8\n L 1008,8\n S 2000,8\n")?;
//!
//! // The first time a long text is read and played, which takes its time; the second time both are found as they were kept.
//! let opening = Opening::new(&text).telling(|note| println!("{note}"));
//! let caches = CacheChoice::of(preset("textbook").ok_or("a preset")?);
//! let timeline = opening.timeline(&caches, 64 << 20, &mut |_done, _all| true)?;
//! assert!(timeline.is_whole() && timeline.len() == 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod caches;
mod cells;
mod changes;
mod copies;
mod file_kind;
mod index_file;
#[cfg(feature = "kernel")]
mod kernel_tasks;
#[cfg(feature = "kernel")]
mod kernels;
mod note;
mod recent;
mod room;
mod sidecar;
mod source_text;
mod task_sets;
#[cfg(feature = "kernel")]
mod wanted;
mod watch;

pub use caches::{CacheChoice, Caches};
pub use cells::{CellsError, SweepFolder, SweepOf, SweepPart};
pub use changes::Watched;
pub use copies::{CopyError, keep};
pub use file_kind::FileKind;
pub use index_file::timeline;
#[cfg(feature = "kernel")]
pub use kernel_tasks::kernel_tasks;
#[cfg(feature = "kernel")]
pub use kernels::{BindValue, Contents, KernelFile, KernelSettings, LaunchSettings};
pub use note::{Note, Tell};
pub use recent::{Recent, first_start, leave, left, recent, remember};
pub use sidecar::{Sidecar, SidecarError};
pub use source_text::{SourceText, source_texts};
pub use task_sets::{first_tasks, tasks};
#[cfg(feature = "kernel")]
pub use wanted::{Late, Ran, run_while_wanted};
pub use watch::{Listener, Report, Way, beside};

use crate::reference::{MOST_REGIONS, ReferenceSource, SourceError};
use crate::sim::{SimError, prepare};
use crate::timeline::Timeline;
use crate::trace::{Feed, Format, Started, TraceError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// References from which a trace is worth a file: fewer are read and played in a blink.
const WORTH: u64 = 1 << 20;

/// Why a trace could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// It cannot be read any more.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It cannot be played through the caches.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// The caches that are asked for are none.
    #[error("{0}")]
    Caches(String),
    /// Whoever opened it wants no more.
    #[error("{} was not {done} to its end", trace.display())]
    Stopped {
        /// The trace.
        trace: PathBuf,
        /// `read` or `simulated`.
        done: &'static str,
    },
    /// The system has no thread to read it on.
    #[error(transparent)]
    Thread(std::io::Error),
    /// It was there, and is no more.
    #[error("no such file")]
    Gone,
}

/// A trace that is to be opened.
#[derive(Clone)]
pub struct Opening {
    path: PathBuf,
    format: Option<Format>,
    tell: Tell,
}

impl Opening {
    /// The trace at `path`, of a format that its content tells; `-` is standard input. Nobody hears its notes.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), format: None, tell: Arc::new(|_| ()) }
    }

    /// As a trace of this format, where its content does not tell.
    #[must_use]
    pub fn with_format(self, format: Option<Format>) -> Self {
        Self { format, ..self }
    }

    /// `tell` hears what people should know, on whichever thread it is found.
    #[must_use]
    pub fn telling(self, tell: impl Fn(&Note) + Send + Sync + 'static) -> Self {
        Self { tell: Arc::new(tell), ..self }
    }

    /// Where notes go.
    #[must_use]
    pub fn tell(&self) -> &Tell {
        &self.tell
    }

    /// Opens the trace; its copy in its place, where there is one and the trace is as it was.
    ///
    /// # Errors
    /// See [`trace::start`](crate::trace::start).
    pub fn start(&self) -> Result<Started, TraceError> {
        match FileKind::of(&self.path, self.format).why_no_trace(&self.path) {
            Some(error) => Err(error),
            None => copies::start(self),
        }
    }

    /// Opens the trace and reads it to its end. Also what read it, where it was read from a foreign file: [`keep`] makes a copy of
    /// it. It stops where `go` says no.
    ///
    /// # Errors
    /// When it cannot be read, or `go` says no.
    pub fn read(&self, go: &dyn Fn() -> bool) -> Result<(Arc<dyn ReferenceSource>, Option<Feed>), OpenError> {
        self.finish(self.start()?, go)
    }

    /// As [`Opening::read`], of what [`Opening::start`] gave.
    ///
    /// # Errors
    /// As there.
    pub fn finish(
        &self,
        started: Started,
        go: &dyn Fn() -> bool,
    ) -> Result<(Arc<dyn ReferenceSource>, Option<Feed>), OpenError> {
        let (source, feed): (Arc<dyn ReferenceSource>, _) = match started {
            Started::Whole(source) => (Arc::from(source), None),
            Started::Growing(mut feed) => {
                while feed.advance()? {
                    if !go() {
                        return Err(self.stopped("read"));
                    }
                }
                (Arc::clone(feed.trace()) as Arc<dyn ReferenceSource>, Some(feed))
            }
        };
        self.tell_notices(source.as_ref());
        Ok((source, feed))
    }

    /// The whole trace under its caches, indexed: its copy and its index where they are kept, which they are from now on. The index
    /// has keyframes of `memory` bytes in memory and the others in a file. `progress` gets (references done, all), (0, 0) while
    /// the trace is read, and stops the work by `false`.
    ///
    /// # Errors
    /// When trace or caches are not to be had, or `progress` says no.
    pub fn timeline(
        &self,
        caches: &CacheChoice,
        memory: u64,
        progress: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<Timeline, OpenError> {
        let progress = std::cell::RefCell::new(progress);
        let (source, feed) = self.read(&|| (progress.borrow_mut())(0, 0))?;
        let regions = source.tables().regions.len();
        if regions > MOST_REGIONS {
            (self.tell)(&Note::ManyRegions(regions));
        }
        std::thread::scope(|scope| {
            if let Some(feed) = feed {
                // Beside the indexing; where the system has no thread left, the next opening reads again.
                let copy = move || keep(&feed, &self.tell, &|| true);
                let _ = std::thread::Builder::new().name("copy".into()).spawn_scoped(scope, copy);
            }
            self.timeline_of(&source, caches, memory, &mut |done, all| (progress.borrow_mut())(done, all))
        })
    }

    /// As [`Opening::timeline`], of a trace that is read already.
    ///
    /// # Errors
    /// As there.
    pub fn timeline_of(
        &self,
        source: &Arc<dyn ReferenceSource>,
        caches: &CacheChoice,
        memory: u64,
        progress: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<Timeline, OpenError> {
        let config = caches.open(source.as_ref())?.config;
        let hierarchy = prepare(&config, source.as_ref())?;
        let timeline = timeline(source, hierarchy, memory, &self.tell, progress)?;
        // What came out of a file asked nobody on the way.
        if progress(timeline.len(), source.len()) { Ok(timeline) } else { Err(self.stopped("simulated")) }
    }

    fn stopped(&self, done: &'static str) -> OpenError {
        OpenError::Stopped { trace: self.path.clone(), done }
    }

    /// Says what the reader left out.
    fn tell_notices(&self, source: &dyn ReferenceSource) {
        source.notices().iter().for_each(|notice| (self.tell)(&Note::Reader(notice.clone())));
    }
}
