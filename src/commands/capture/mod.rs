//! `orrery capture`: runs a program under Valgrind's lackey, or under DynamoRIO, and writes its references as a native file.

#[cfg(feature = "viewer")]
mod follow;

#[cfg(feature = "viewer")]
pub(super) use follow::Follower;

use super::counting::Counting;
use super::heard::{failed, hear, length, say_notice};
use super::{UsageError, convert as converting, parse, quiet, stop};
use crate::capture::dynamorio::Recorded;
use crate::capture::valgrind::{self, Ended, Kept, Onlooker, Prepared, Request};
use crate::capture::{Streams, leftovers};
use crate::cli::{CaptureArgs, Command};
use crate::reference::{Reference, Region};
use crate::shown::say;
use crate::trace::TraceError;
use crate::units::{counted, grouped};
use anyhow::{Context, bail};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Runs the program to its end and says on standard error what was recorded.
///
/// # Errors
/// When the program, Valgrind or the output is not to be had, or nothing was recorded.
pub fn run(args: &CaptureArgs) -> anyhow::Result<ExitCode> {
    if args.with == crate::cli::Recorder::Drmemtrace {
        return by_dynamorio(args);
    }
    #[cfg(feature = "viewer")]
    if args.follow {
        return follow::run(args);
    }
    #[cfg(not(feature = "viewer"))]
    if args.follow {
        return Err(super::left_out("viewer"));
    }
    record(args, &Arc::default(), &mut Progress::new())
}

/// Says where what a killed recording of this name left is; nothing where there is none.
pub(super) fn tell_of_leftover(output: &Path) {
    valgrind::leftover(output).into_iter().chain(leftovers(output)).for_each(say_notice);
}

/// Shows how far a recording is, and what came of it.
struct Progress {
    /// While it lasts.
    counting: Option<Counting>,
}

impl Progress {
    fn new() -> Self {
        Self { counting: Some(Counting::new()) }
    }
}

impl Onlooker for Progress {
    fn see(&mut self, _: &[Reference], _: &dyn Fn() -> Vec<Region>) -> Result<bool, TraceError> {
        Ok(true)
    }

    fn counted(&mut self, read: u64, kept: u64) {
        self.counting.iter_mut().for_each(|counting| counting.update((read, kept), None));
    }

    fn is_read(&mut self) {
        self.counting = None;
    }

    fn end(&mut self, Kept { output, read, kept, from, tables }: &Kept<'_>) -> Result<(), TraceError> {
        let size = length(output);
        say!(
            "{}: {} of {} ({from}), {}, {} with source lines{size}",
            output.display(),
            grouped(*kept),
            counted(*read, "reference"),
            counted(tables.regions.len() as u64, "region"),
            counted(tables.locations.len() as u64, "instruction")
        );
        Ok(())
    }
}

/// Records; counts up in `stops` ask the program to end, two at once.
fn record(args: &CaptureArgs, stops: &Arc<AtomicU32>, onlooker: &mut dyn Onlooker) -> anyhow::Result<ExitCode> {
    let path = program(args)?;
    let end = record_to(args, &path, stops, Streams::own(quiet::standard_error()), onlooker)?;
    Ok(ended(&path, end.status.filter(|_| !end.is_cut)))
}

/// As [`record`], of the program at `path`, which has these `streams`.
pub(super) fn record_to(
    args: &CaptureArgs,
    path: &Path,
    stops: &Arc<AtomicU32>,
    streams: Streams,
    onlooker: &mut dyn Onlooker,
) -> anyhow::Result<Ended> {
    let request = Request {
        program: path.to_owned(),
        command: args.command.clone(),
        output: output(args, path)?,
        data_only: args.data_only,
        function: args.function.clone(),
        whole: args.whole,
        limit: args.limit,
    };
    let prepared = Prepared::new(request, hear()).map_err(failed)?;
    let counter = Arc::clone(stops);
    let stopping = stop::on_stop(move || {
        // The terminal told the program as well: the first time it may end by itself.
        counter.fetch_add(1, Ordering::SeqCst);
        true
    });
    let recorded = prepared.run(streams, stops, onlooker);
    // A window may go on to show it.
    stop::is_over(stopping);
    recorded.map_err(failed)
}

/// Makes a trace of what a killed recording left; `false` where the file is something else. The file stays.
///
/// # Errors
/// When it is being written, is damaged, or nothing of it is kept.
pub(super) fn convert(part: &Path, output: &Path) -> anyhow::Result<bool> {
    valgrind::convert(part, output, &hear(), &mut Progress::new()).map_err(failed)
}

/// Records a program by DynamoRIO, and converts what its view tool tells as it comes.
fn by_dynamorio(args: &CaptureArgs) -> anyhow::Result<ExitCode> {
    let lackey_only =
        [(args.function.is_some(), "--function"), (args.limit.is_some(), "--limit"), (args.follow, "--follow")];
    if let Some((_, flag)) = lackey_only.iter().find(|(given, _)| *given) {
        return Err(UsageError(format!(
            "{flag}: not with --with drmemtrace, which records a whole run before it tells; use lackey"
        ))
        .into());
    }
    let path = program(args)?;
    let output = output(args, &path)?;
    let recorded = Recorded::new(&path, &args.command[1..], &hear()).map_err(failed)?;
    let telling = recorded.tell().map_err(failed)?;
    let mut words: Vec<OsString> = ["orrery", "convert", "--format", "drmemtrace-view"].map(Into::into).into();
    words.extend([telling.path().into(), "--output".into(), output.into_os_string()]);
    words.extend(["--program".into(), path.clone().into_os_string()]);
    if args.data_only {
        words.extend(["--kind".into(), "read,write,modify".into()]);
    }
    let converted = match parse(words).command {
        Command::Convert(args) => converting::run(&args),
        _ => bail!("the arguments of `convert` are not understood: a bug, please report it"),
    };
    let told = telling.end().map_err(failed)?;
    converted
        .with_context(|| format!("what drrun -t drmemtrace recorded of {} cannot be converted", path.display()))?;
    if !told.success() {
        say!("warning: drrun -tool view ended with {told}; kept what it told before");
    }
    Ok(ended(&path, Some(recorded.status)))
}

/// The program's path.
fn program(args: &CaptureArgs) -> anyhow::Result<PathBuf> {
    let Some(program) = args.command.first() else {
        return Err(UsageError("capture: found no program; expected one after --".into()).into());
    };
    valgrind::find(Path::new(program)).map_err(failed)
}

/// The native file: as asked, else named after the program.
fn output(args: &CaptureArgs, program: &Path) -> Result<PathBuf, UsageError> {
    match &args.output {
        Some(output) if output == Path::new("-") => Err(UsageError(
            "--output -: found standard output, which is the program's; expected the name of a file".into(),
        )),
        Some(output) => Ok(output.clone()),
        None => {
            let mut name = program.file_name().unwrap_or_default().to_owned();
            name.push(".orrery");
            Ok(name.into())
        }
    }
}

/// The program's own exit code, as a shell gives it.
fn ended(path: &Path, status: Option<ExitStatus>) -> ExitCode {
    let Some(status) = status.filter(|s| !s.success()) else { return ExitCode::SUCCESS };
    say!("warning: {} ended with {status}; what it did before is kept", path.display());
    let code = status.code().or_else(|| status.signal().map(|s| 128 + s)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
