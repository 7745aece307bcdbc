//! What the window shows and says while a trace is read and indexed.

use super::UsageError;
use super::against::{Compared, compared, untitled};
use super::open::{cache_choice, failed, opening, say_note};
use super::picture::{choice, give_sources, give_title, unknown};
use super::task_look;
use crate::app::{Against, Report, Simulate};
use crate::cli::{CacheArgs, PictureArgs, TraceArgs};
use crate::kernel::Cancel;
use crate::opening::{self, CacheChoice, KernelFile, Note, Ran, Watched, Way, run_while_wanted};
use crate::overlay::Studio;
use crate::reference::{ReferenceSource, SourceError};
use crate::shown::{say, say_lines};
use crate::timeline::Timeline;
use crate::units::grouped;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the trace that is shown is simulated and called.
#[derive(Clone)]
pub(super) struct Look {
    pub(super) cache: CacheArgs,
    pub(super) picture: PictureArgs,
    /// Whose name is the title, where the trace has none.
    pub(super) name: PathBuf,
    /// Whether to say how the index came about.
    pub(super) verbose: bool,
}

impl Look {
    fn way(&self) -> Way {
        Way { caches: cache_choice(&self.cache), memory: self.picture.memory }
    }

    fn studio(&self, timeline: &Arc<Timeline>) -> Result<Studio, SourceError> {
        if self.verbose && timeline.is_whole() {
            say!("index: {} references, {}", grouped(timeline.len()), timeline.simulated());
        }
        let mut studio = Studio::of(Arc::clone(timeline))?;
        give_title(&mut studio, &self.name, &self.picture);
        give_sources(&mut studio, &self.name);
        Ok(studio)
    }

    /// Passes on to the window what an opening reports.
    fn pass_on(&self, said: opening::Report, report: &mut dyn FnMut(Report) -> bool) -> Result<bool, SourceError> {
        match said {
            opening::Report::Progress(done, all) => Ok(report(Report::Progress(done, all))),
            opening::Report::Ready(timeline) => {
                let goes_on = report(Report::Ready(self.studio(&timeline)?));
                if goes_on && timeline.is_whole() {
                    self.tell_unknown(&timeline, report);
                }
                Ok(goes_on)
            }
            opening::Report::Note(note) => {
                say_note(&note);
                let words = match note {
                    Note::Broken(_) => "the trace is broken here: the terminal says how".into(),
                    note => note.to_string(),
                };
                Ok(report(Report::Words(words)))
            }
        }
    }

    /// Says which names of regions are none of the whole trace.
    fn tell_unknown(&self, timeline: &Timeline, report: &mut dyn FnMut(Report) -> bool) {
        let choice = choice(&self.picture).unwrap_or_default();
        if let Some(words) = unknown(&choice, timeline.tables()) {
            say!("note: {words}");
            report(Report::Words(words));
        }
    }
}

/// Opens a trace and reports what can be shown of it, until a report gives `false`; see [`opening::Opening::watch`]. Where it is `kept`,
/// the start page will know it.
///
/// # Errors
/// When the trace or the cache is not to be had, or nothing of the trace can be shown.
pub(super) fn watch(
    trace: &TraceArgs,
    look: &Look,
    mut kept: bool,
    report: &mut dyn FnMut(Report) -> bool,
) -> anyhow::Result<()> {
    let listener = &mut |said| {
        // Only what can be shown is worth finding again.
        if matches!(said, opening::Report::Ready(_)) && std::mem::take(&mut kept) {
            opening::remember(&trace.trace);
        }
        look.pass_on(said, report)
    };
    opening(trace).watch(&look.way(), listener).map_err(failed)
}

/// Runs a kernel and reports what it did; again whenever one of its files changes, until a report gives `false`. Where it cannot be run
/// any more, what was shown stays and the window says why. Where it is `kept`, the start page will know it.
///
/// # Errors
/// When it cannot be run at first.
pub(super) fn watch_kernel(
    path: &Path,
    picture: &PictureArgs,
    kept: bool,
    report: &mut dyn FnMut(Report) -> bool,
) -> anyhow::Result<()> {
    let called = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let mut watched = Watched::new(Vec::new());
    let mut again = false;
    loop {
        watched.turn_to(KernelFile::files(path, &picture.launch.bind));
        let mut told = !again;
        let mut wait = || match std::mem::replace(&mut told, true) {
            true => report(Report::Progress(0, 0)),
            false => report(Report::Words(format!("{called} has changed and is being run"))),
        };
        let run = |cancel: &Cancel| task_look::kernel_studio(path, picture, again, cancel);
        let ran = match run_while_wanted(&run, &mut watched, &mut wait) {
            Ran::Done(ran) => ran,
            // It was saved again meanwhile.
            Ran::Changed => continue,
            Ran::Left => return Ok(()),
        };
        match ran {
            Ok(studio) => {
                if !report(Report::Ready(studio)) {
                    return Ok(());
                }
                if again {
                    say!("note: {} has changed: this is what it does now", path.display());
                    report(Report::Words(format!("{called} has changed: this is what it does now")));
                } else if kept && path.exists() {
                    opening::remember(path);
                }
            }
            Err(error) if !again => return Err(error),
            Err(error) => {
                say!("note: {} has changed and cannot be run; the window shows what it did before", path.display());
                let words = format!("{error:#}");
                say_lines(&words);
                if !report(Report::Fault(
                    format!("{called} has changed and cannot be run: this is what it did before"),
                    words,
                )) {
                    return Ok(());
                }
            }
        }
        again = true;
        if !watched.changed(&mut || report(Report::Progress(0, 0))) {
            return Ok(());
        }
    }
}

/// Indexes a trace that grows, as much as is there, until it is whole.
///
/// # Errors
/// When the cache is not to be had, or the trace cannot be read.
pub(super) fn index(
    trace: &TraceArgs,
    source: &Arc<dyn ReferenceSource>,
    look: &Look,
    report: &mut dyn FnMut(Report) -> bool,
) -> anyhow::Result<()> {
    opening(trace).index(source, &look.way(), &mut |said| look.pass_on(said, report)).map_err(failed)
}

/// Opens a trace that is there already and indexes it under these caches.
///
/// # Errors
/// As [`watch`].
pub(super) fn index_of(
    trace: &TraceArgs,
    caches: CacheChoice,
    look: &Look,
    report: &mut dyn FnMut(Report) -> bool,
) -> anyhow::Result<()> {
    let go = std::cell::Cell::new(true);
    let timeline = opening(trace).telling(|_| ()).timeline(&caches, look.picture.memory, &mut |done, all| {
        go.set(go.get() && report(Report::Progress(done, all)));
        go.get()
    });
    report(Report::Ready(look.studio(&Arc::new(timeline.map_err(failed)?))?));
    Ok(())
}

/// Simulates a trace that was opened under other caches than it was opened with.
pub(super) fn simulate(trace: &TraceArgs, look: &Look) -> Simulate {
    let (opening, look) = (opening(trace), look.clone());
    Arc::new(move |source, config, report| {
        let way = Way { caches: CacheChoice::of(config), memory: look.picture.memory };
        opening.index(&source, &way, &mut |said| look.pass_on(said, report)).map_err(failed)
    })
}

/// What `--against` asks for, for a window, which opens it once the trace itself is whole.
///
/// # Errors
/// [`UsageError`].
pub(super) fn against(trace: &TraceArgs, look: &Look) -> Result<Option<Against>, UsageError> {
    Ok(compared(&look.cache, &look.picture)?.map(|compared| match compared {
        Compared::Caches(args) => {
            let (simulate, name) = (simulate(trace, look), args.cache.clone().unwrap_or_default());
            let open = Arc::new(move |source: Arc<_>, _, report: &mut dyn FnMut(Report) -> bool| {
                let config = cache_choice(&args).open(Arc::as_ref(&source)).map_err(failed)?.config;
                simulate(source, config, report)
            });
            Against { name: Some(name), by: None, follows: false, open }
        }
        Compared::Trace(other) => with_trace(other, look),
    }))
}

/// Another trace, under whatever caches this one has.
pub(super) fn with_trace(other: TraceArgs, look: &Look) -> Against {
    let picture = untitled(&look.picture);
    let (by, name) = (picture.compared.in_step.clone(), other.trace.to_string_lossy().into_owned());
    let look = Look { picture, name: other.trace.clone(), ..look.clone() };
    let open = Arc::new(move |_, config, report: &mut dyn FnMut(Report) -> bool| {
        index_of(&other, CacheChoice::of(config).with_cores_of_trace(), &look, report)
    });
    Against { name: Some(name), by, follows: true, open }
}
