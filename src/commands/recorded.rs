//! A program that somebody asks the window to record: shown while it runs, stopped when nobody looks any more.

use super::capture::{self, Follower};
use super::heard::{failed, hear};
use super::live::Wish;
use super::watch::{Look, index, watch};
use super::{parse, run, stop, view, view_state};
use crate::app::{Load, Report, Trace};
use crate::capture::asked::{ASKED, Request};
use crate::capture::followed::{Listener, records_itself};
use crate::capture::{Language, Recording, Running, Streams, Toolchain, valgrind};
use crate::cli::{Command, RunArgs, TraceArgs, ViewArgs, canonical};
use crate::files::Scratch;
use crate::opening::{beside, remember};
use crate::reference::{ReferenceSource, Tables};
use crate::trace::Feeder;
use crate::trace::native::NativeTrace;
use anyhow::{Context as _, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender};

/// The trace of a program that is recorded from now on; `args` are those of the window for its file. `over` is let go once nothing of the
/// recording is under way any more.
///
/// # Errors
/// As [`view::of`].
pub(super) fn trace(
    words: &[String],
    args: impl Fn(&Path) -> anyhow::Result<ViewArgs>,
    over: &Sender<()>,
) -> anyhow::Result<Trace> {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let program = words.first().map(PathBuf::from).context("found no program; expected one, as ./a.out 100")?;
    let output = run::output(&program, Language::of(&program).is_some());
    let output = std::path::absolute(&output).with_context(|| format!("{}: is no path", output.display()))?;
    let args = args(&output)?;
    let (look, file, over) = (view::look(&args), args.trace.clone(), over.clone());
    let stops: Arc<AtomicU32> = Arc::default();
    let of_window = Arc::clone(&stops);
    let load: Load = Box::new(move |report| {
        let showing = Showing { file: &file, look: &look, stops: &stops, report };
        let recorded = record(&words, &program, showing);
        drop(over);
        recorded
    });
    let trace = view::of(&args, true, view_state::beside_recording(&args)?, load)?;
    Ok(Trace { stops: Some(of_window), ..trace })
}

/// Records a program: a source file and what `orrery cc` built by itself, anything else under Valgrind.
fn record(words: &[OsString], program: &Path, showing: Showing<'_>) -> anyhow::Result<()> {
    let arguments = words.get(1..).unwrap_or_default();
    let called = program.display().to_string();
    if let Some(language) = Language::of(program).filter(|_| program.is_file()) {
        let folder = Scratch::new().context("the folder for temporary files cannot be written to")?;
        let built = build(language, words, program, &folder)?;
        return by_itself(&built, &called, arguments, showing);
    }
    if Language::of(program).is_some() {
        let place = std::path::absolute(program).unwrap_or_else(|_| program.to_owned());
        bail!("{called}: there is no such source file; expected one at {}", place.display());
    }
    let path = valgrind::find(program).map_err(failed)?;
    if records_itself(&path) {
        return by_itself(&path, &called, arguments, showing);
    }
    under_valgrind(words, &path, showing)
}

/// Builds a source file as `orrery run` does; gives the program.
fn build(language: Language, words: &[OsString], source: &Path, folder: &Scratch) -> anyhow::Result<PathBuf> {
    let before = ["orrery", "run", "--"].map(OsString::from);
    let Command::Run(args) = parse(canonical(before.into_iter().chain(words.iter().cloned()), |_| false)).command
    else {
        bail!("the arguments of `run` are not understood: a bug, please report it")
    };
    let args: RunArgs = args;
    let program = folder.path().join(source.file_stem().unwrap_or(source.as_os_str()));
    let (ended, said) = Toolchain::find(language)?.build(&run::words(&args, &program), &|notice| hear()(notice))?;
    if !ended.success() {
        let words = format!("{}: does not compile ({ended}):\n{}", source.display(), said.trim_end());
        return Err(super::NotCompiled(words).into());
    }
    Ok(program)
}

/// Runs a program that records itself, and that people call `called`.
fn by_itself(program: &Path, called: &str, arguments: &[OsString], showing: Showing<'_>) -> anyhow::Result<()> {
    let folder = Scratch::new().context("the folder for temporary files cannot be written to")?;
    let output = showing.file.trace.clone();
    showing.beside(program, |mut feeder, stops, streams| {
        if stops.load(Ordering::SeqCst) > 0 {
            bail!("{called}: stopped before it ran");
        }
        let recording = Recording::begin(&output, hear()).map_err(failed)?;
        let listener =
            Listener::new(folder.path()).context("there is no socket to be had for following the program")?;
        let wish = Wish::Follow(listener.path().to_owned());
        let request = Request::new(folder.path(), recording.own(), wish)?;
        let variables = [(ASKED, Some(request.path().as_os_str()))];
        let running = Running::start(program, arguments, recording.own(), variables, Some(streams))
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let counter = Arc::clone(stops);
        let stopping = stop::on_stop(move || {
            counter.fetch_add(1, Ordering::SeqCst);
            true
        });
        let mut fed = false;
        let ended = listener.follow(running, &recording, stops, &mut |references| {
            fed = true;
            feeder.push(references)
        });
        // A window may go on to show it.
        stop::is_over(stopping);
        let ended = ended.map_err(failed)?;
        let output = recording.output().to_owned();
        if !recording.end().map_err(failed)? {
            if stops.load(Ordering::SeqCst) > 0 {
                bail!("{called}: stopped before it recorded anything ({ended})");
            }
            bail!(
                "{called}: recorded nothing ({ended}); expected a program that touches memory of its own before it ends. The \
                 compiler takes out what has no effect: arrays that nobody writes, results that nobody prints. Write to the arrays, \
                 or record without optimisation (orrery run -O0 FILE)"
            );
        }
        if fed {
            let file = NativeTrace::open(&output)?;
            feeder.finish(file.tables().clone(), file.notices().to_vec())?;
        }
        Ok(ended.to_string())
    })
}

/// Runs a program under Valgrind, as `orrery capture --follow` does.
fn under_valgrind(words: &[OsString], path: &Path, showing: Showing<'_>) -> anyhow::Result<()> {
    let before = ["orrery", "capture", "--data-only", "--output"].map(OsString::from);
    let output = [showing.file.trace.clone().into_os_string(), "--".into()];
    let all = before.into_iter().chain(output).chain(words.iter().cloned());
    let Command::Capture(args) = parse(all).command else {
        bail!("the arguments of `capture` are not understood: a bug, please report it")
    };
    showing.beside(path, |feeder, stops, streams| {
        let closed = false.into();
        let mut follower = Follower::new(feeder, path, &closed);
        let end = capture::record_to(&args, path, stops, streams, &mut follower)?;
        Ok(end.status.map_or_else(|| "its end is not known".to_owned(), |status| status.to_string()))
    })
}

/// Who shows a recording while it goes on.
struct Showing<'a> {
    /// What is written.
    file: &'a TraceArgs,
    look: &'a Look,
    /// Counts up in it ask the program to end.
    stops: &'a Arc<AtomicU32>,
    report: &'a mut dyn FnMut(Report) -> bool,
}

impl Showing<'_> {
    /// Shows what `record` feeds, and what the program prints, until the recording is whole. Where nobody looks any more, counts in
    /// the stops that `record` gets ask for its end. `record` says how the program ended.
    fn beside(
        self,
        program: &Path,
        record: impl FnOnce(Feeder, &Arc<AtomicU32>, Streams) -> anyhow::Result<String> + Send,
    ) -> anyhow::Result<()> {
        let Self { file, look, stops, report } = self;
        let name = valgrind::title(program);
        let feeder = Feeder::new(Tables { title: name.clone(), ..Tables::default() });
        let source: Arc<dyn ReferenceSource> = Arc::clone(feeder.trace()) as Arc<dyn ReferenceSource>;
        let (streams, printed) = Streams::heard().context("the system has no pipe for what the program prints")?;
        let work = || record(feeder, stops, streams);
        let here = || {
            let indexed = index(file, &source, look, &mut |said| pass_on(&printed, report) && report(said));
            // Of a program that ended by itself nothing is left to stop.
            stops.fetch_add(2, Ordering::SeqCst);
            indexed
        };
        let (recorded, indexed) = beside("record", work, here)?;
        pass_on(&printed, report);
        match recorded {
            Ok(words) => report(Report::Ended(format!("{name} has ended, {words}"))),
            Err(error) if source.is_empty() => return Err(error),
            Err(error) => report(Report::Ended(format!("{error:#}"))),
        };
        indexed?;
        if source.is_empty() {
            // Its collector is of another version, and told nothing on the way.
            return watch(file, look, true, report);
        }
        remember(&file.trace);
        Ok(())
    }
}

/// Passes on what was printed since the last time.
fn pass_on(printed: &Receiver<Vec<u8>>, report: &mut dyn FnMut(Report) -> bool) -> bool {
    let bytes: Vec<u8> = printed.try_iter().flatten().collect();
    bytes.is_empty() || report(Report::Printed(bytes))
}
