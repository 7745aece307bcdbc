//! `orrery capture`: runs a program under Valgrind's lackey and writes its references as a native file while it runs.

mod calls;
mod dynamorio;
#[cfg(feature = "viewer")]
mod follow;
mod part;
mod recorder;
mod valgrind;

use super::counting::Counting;
use super::{UsageError, stop};
use crate::cli::CaptureArgs;
use crate::reference::{Reference, Region, Tables};
use crate::shown::say;
use crate::symbols::Module;
use crate::trace::{lackey, native};
use anyhow::bail;
use part::Part;
pub(super) use part::tell_of_leftover;
use recorder::{Recorder, Start};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use valgrind::Traced;

/// References parsed at a time: about 20 ms of a traced program.
const CHUNK: usize = 1 << 16;

/// Runs the program to its end and says on standard error what was recorded.
///
/// # Errors
/// When the program, Valgrind or the output is not to be had, or nothing was recorded.
pub fn run(args: &CaptureArgs) -> anyhow::Result<ExitCode> {
    if args.with == crate::cli::Recorder::Drmemtrace {
        return dynamorio::run(args);
    }
    #[cfg(feature = "viewer")]
    if args.follow {
        return follow::run(args);
    }
    #[cfg(not(feature = "viewer"))]
    if args.follow {
        return Err(super::left_out("viewer"));
    }
    record(args, &Arc::default(), &mut Unseen)
}

/// Who looks on while a program is recorded.
trait Onlooker {
    /// Takes the references that are kept, in order; `regions` gives those that were touched so far. False: stop.
    fn see(&mut self, references: &[Reference], regions: &dyn Fn() -> Vec<Region>) -> anyhow::Result<bool>;

    /// Whether it asked the program to end.
    fn has_closed(&self) -> bool {
        false
    }

    /// What the trace says beside its references, at the end.
    fn end(&mut self, tables: &Tables) -> anyhow::Result<()>;
}

struct Unseen;

impl Onlooker for Unseen {
    fn see(&mut self, _: &[Reference], _: &dyn Fn() -> Vec<Region>) -> anyhow::Result<bool> {
        Ok(true)
    }

    fn end(&mut self, _: &Tables) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Records; counts up in `stops` ask the program to end, two at once.
fn record(args: &CaptureArgs, stops: &Arc<AtomicU32>, onlooker: &mut dyn Onlooker) -> anyhow::Result<ExitCode> {
    let path = program(args)?;
    let module = open(&path)?;
    let start = start(args, module.as_ref(), &path)?;
    let output = args.output.clone().unwrap_or_else(|| default_output(&path));
    let writer = native::FileWriter::create(&output)?;
    let part = Part::create(&output, &path, args)?.map(|part| Arc::new(Mutex::new(part)));

    let counter = Arc::clone(stops);
    stop::on_stop(move || {
        // The terminal told the program as well: the first time it may end by itself.
        counter.fetch_add(1, Ordering::SeqCst);
        true
    });
    let started = Traced::start(&path, &args.command[1..], Arc::clone(stops), part.clone());
    if let (Err(_), Some(part)) = (&started, &part) {
        valgrind::lock(part).remove();
    }
    let (traced, text) = started?;
    let keeping = Keeping { args, path: &path, output: &output, start, stops };
    let kept = keeping.run(module, text, writer, onlooker, || traced.wait());
    // Where the native file could not be written, what was recorded is still to be had.
    let lost = kept.as_ref().is_err_and(|error| error.is::<crate::trace::TraceError>());
    if let Some(part) = part {
        let mut part = valgrind::lock(&part);
        if lost {
            say!("note: {0}: kept; `orrery convert {0} -o FILE.orrery` tries again", part.path().display());
        } else {
            part.remove();
        }
    }
    // A window may go on to show it.
    stop::is_over();
    let (full, status) = kept?;
    Ok(ended(&path, status, full || onlooker.has_closed()))
}

/// Makes a trace of what a killed recording left; `false` where the file is something else. The file stays.
///
/// # Errors
/// When it is being written, is damaged, or nothing of it is kept.
pub(super) fn convert(part: &Path, output: &Path) -> anyhow::Result<bool> {
    let Some(left) = part::open(part, output)? else { return Ok(false) };
    let module = if left.is_same {
        open(&left.program)?
    } else {
        say!("warning: {}: is not the file that was run any more; memory is named by address", left.program.display());
        None
    };
    let from = match module {
        Some(_) => start(&left.args, module.as_ref(), &left.program)?,
        None => Start::AtOnce,
    };
    let (path, stops) = (&left.program, Arc::default());
    let keeping = Keeping { args: &left.args, path, output, start: from, stops: &stops };
    keeping.run(module, left.text, native::FileWriter::create(output)?, &mut Unseen, || None)?;
    Ok(true)
}

/// What is kept of a program's references, and where.
struct Keeping<'a> {
    args: &'a CaptureArgs,
    path: &'a Path,
    output: &'a Path,
    start: Start,
    stops: &'a AtomicU32,
}

impl Keeping<'_> {
    /// Reads the text to its end and writes the native file. Gives whether the limit was reached, and how the program ended,
    /// for which `wait` waits.
    fn run(
        &self,
        module: Option<Module>,
        text: impl Read,
        mut writer: native::FileWriter,
        onlooker: &mut dyn Onlooker,
        wait: impl FnOnce() -> Option<ExitStatus>,
    ) -> anyhow::Result<(bool, Option<ExitStatus>)> {
        let Self { args, path, output, start, stops } = self;
        let mut reader = lackey::Reader::new("Valgrind's log", text);
        let mut recorder = Recorder::new(module, start.clone(), args.data_only);
        let mut progress = Counting::new();
        let mut chunk = Vec::new();
        let mut full = false;
        let broken = loop {
            // An empty log is no fault of the reader's here: what to say follows from how the program ended.
            if let Err(error) = reader.next_chunk(CHUNK, &mut chunk) {
                break Some(error);
            }
            if chunk.is_empty() {
                break None;
            }
            recorder.take(&mut chunk);
            if let Some(limit) = args.limit {
                let room = limit.saturating_sub(writer.len());
                full = chunk.len() as u64 >= room;
                chunk.truncate(usize::try_from(room).unwrap_or(usize::MAX));
            }
            writer.write(&chunk)?;
            full |= !onlooker.see(&chunk, &|| recorder.regions())?;
            if full {
                stops.fetch_add(2, Ordering::SeqCst);
                break None;
            }
            progress.update(recorder.counts(), None);
        };
        drop(progress);
        let status = wait();
        let (read, _) = recorder.counts();
        if let Some(error) = broken
            && read > 0
        {
            say!("warning: {error}; kept what came before");
        }
        if writer.is_empty() {
            bail!("{}", nothing(path, start, read, status, &recorder));
        }
        let tables = finish(args, path, output, start, recorder, writer)?;
        onlooker.end(&tables)?;
        reader.notices().iter().for_each(|notice| say!("warning: {notice}"));
        Ok((full, status))
    }
}

/// The program's path.
fn program(args: &CaptureArgs) -> anyhow::Result<PathBuf> {
    let Some(program) = args.command.first() else {
        return Err(UsageError("capture: found no program; expected one after --".into()).into());
    };
    valgrind::find(Path::new(program))
}

/// What people call it.
fn title(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The program's names; none, with a warning, where it is a script or the like.
fn open(path: &Path) -> anyhow::Result<Option<Module>> {
    match Module::open(path) {
        Ok(module) => {
            module.notices().iter().for_each(|notice| say!("warning: {notice}"));
            Ok(Some(module))
        }
        Err(error @ crate::symbols::SymbolError::Io { .. }) => Err(error.into()),
        Err(error) => {
            say!("warning: {error}; memory is named by address");
            Ok(None)
        }
    }
}

/// Where to begin: as asked, else at main, else at the program's first instruction, else at once.
fn start(args: &CaptureArgs, module: Option<&Module>, path: &Path) -> anyhow::Result<Start> {
    if args.whole {
        return Ok(Start::AtOnce);
    }
    let name = args.function.as_deref().unwrap_or("main");
    let span = module.and_then(|m| m.function_span(name));
    if let Some((address, _)) = span {
        return Ok(Start::Function { name: name.into(), address });
    }
    if let Some(asked) = &args.function {
        let remedy = "check the name with nm -C; an inlined function has none of its own";
        return Err(UsageError(format!(
            "--function {asked}: found no such function in {}; expected one of its symbols; {remedy}",
            path.display()
        ))
        .into());
    }
    match module.map(Module::entry).filter(|&entry| entry != 0) {
        Some(entry) => {
            say!("warning: {} names no main (stripped?); recording from its first instruction", path.display());
            Ok(Start::Entry(entry))
        }
        None => Ok(Start::AtOnce),
    }
}

fn default_output(program: &Path) -> PathBuf {
    let mut name = program.file_name().unwrap_or_default().to_owned();
    name.push(".orrery");
    name.into()
}

/// Why nothing was recorded.
fn nothing(path: &Path, start: &Start, read: u64, status: Option<ExitStatus>, recorder: &Recorder) -> String {
    let name = path.display();
    let how = status.map_or_else(|| "was ended".to_owned(), |s| format!("ended with {s}"));
    if read == 0 {
        return format!(
            "{name}: found no references; expected those of a program under valgrind --tool=lackey, which {how}; run that by \
             hand to see why"
        );
    }
    match start {
        _ if !recorder.is_placed() => format!(
            "{name}: its first instruction was not seen among {read} references, so that nothing could be named; record with \
             --whole, or build it with -no-pie"
        ),
        Start::Function { name: function, .. } => format!(
            "{name}: `{function}` was not entered in {read} references, and the program {how}; check its arguments, or \
             record with --whole"
        ),
        _ => format!("{name}: nothing was kept of {read} references; record with --whole"),
    }
}

/// Writes what was recorded with its names, and says what it is.
fn finish(
    args: &CaptureArgs,
    path: &Path,
    output: &Path,
    start: &Start,
    recorder: Recorder,
    writer: native::FileWriter,
) -> anyhow::Result<Tables> {
    let (read, _) = recorder.counts();
    let kept = writer.len();
    let placed = recorder.is_placed();
    let named = recorder.finish(kept);
    if !placed {
        say!("warning: {}: where it was loaded is not known; memory is named by address", path.display());
    } else if named.locations.is_empty() {
        say!("warning: {} names no source lines; build it with -g to have them", path.display());
    }
    named.notices.iter().for_each(|notice| say!("warning: {notice}"));
    let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
    let from = match start {
        Start::AtOnce => "everything".into(),
        Start::Function { name, .. } => format!("within {name}"),
        Start::Entry(_) => "from the first instruction of the program".to_owned(),
    };
    let tables = Tables {
        title: title(path),
        subtitle: String::new(),
        regions: named.regions,
        locations: named.locations,
        marks: Vec::new(),
        made_by: format!("orrery capture, Valgrind's lackey, {from}: {}", words.join(" ")),
    };
    writer.finish(&tables)?;
    let size = std::fs::metadata(output).ok().filter(std::fs::Metadata::is_file);
    let size = size.map_or(String::new(), |m| format!(", {} bytes", m.len()));
    say!(
        "{}: {kept} of {read} references ({from}), {} regions, {} instructions with source lines{size}",
        output.display(),
        tables.regions.len(),
        tables.locations.len()
    );
    Ok(tables)
}

/// The program's own exit code, as a shell gives it.
fn ended(path: &Path, status: Option<ExitStatus>, full: bool) -> ExitCode {
    let Some(status) = status.filter(|s| !s.success() && !full) else { return ExitCode::SUCCESS };
    say!("warning: {} ended with {status}; what it did before is kept", path.display());
    let code = status.code().or_else(|| status.signal().map(|s| 128 + s)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
