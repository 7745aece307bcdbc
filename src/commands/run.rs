//! `orrery run`: a source file compiled, run and shown.

use super::UsageError;
use super::cc::exit_code;
use super::heard::{failed, hear, say_among_others};
use super::live::Wish;
use super::stop;
use super::written::not_over;
use crate::capture::asked::{ASKED, Request};
use crate::capture::{Language, Recording, Running, Toolchain};
use crate::cli::{CacheArgs, Command as Cli, RunArgs, misplaced};
use crate::files::Scratch;
use crate::shown::say;
use anyhow::{Context, bail};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

/// Compiles, runs, and shows the trace in the window, as numbers, or not at all.
///
/// # Errors
/// When the file is of no language that is known, does not compile, or records nothing.
pub(super) fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    let source = &args.source;
    let shown = source.display();
    let language = Language::of(source)
        .ok_or_else(|| UsageError(format!("{shown}: expected a source file: .c, .cpp, .cc, .cxx, .f90, .f, .s")))?;
    if !source.is_file() {
        bail!("{shown}: found no such file; check the path");
    }
    if let Some(output) = &args.output {
        not_over("--output", output, source, "the recording would take the place of the source")?;
    }
    // What is wrong with the caches is said before anything is compiled or run.
    super::hierarchy::hierarchy(&args.cache, super::hierarchy::DEFAULT_PRESET)?;
    for word in misplaced(args) {
        say!(
            "note: {word} comes after {shown}, so the program gets it; flags of orrery come before the file, and -- after the \
             file says that all that follows is the program's"
        );
    }
    let folder = Scratch::new().context("the folder for temporary files cannot be written to")?;
    let program = folder.path().join(source.file_stem().unwrap_or(source.as_os_str()));
    let compiled = Toolchain::find(language)?.run(&words(args, &program), &say_among_others)?;
    if !compiled.success() {
        return Ok(exit_code(compiled));
    }

    let output = match &args.output {
        Some(output) => output.clone(),
        None => self::output(source, true),
    };
    let recording = Recording::begin(&output, hear()).map_err(failed)?;
    let output = recording.output().to_owned();
    // Counted while it records.
    let request = match args.stats {
        true => Some(Request::new(folder.path(), recording.own(), Wish::Count(args.cache.clone()))?),
        false => None,
    };
    let ended = run_program(&program, args, &recording, request.as_ref())?;
    // As the program alone would have ended, where no window comes after it.
    let code = exit_code(ended);
    if !ended.success() {
        say!("note: the program ended with {ended}; this is what it did until then");
    }
    if !recording.end().map_err(failed)? {
        bail!(
            "{shown}: recorded nothing; expected references in {}: a program that runs to its end without touching memory of its \
             own, or that was stopped before, has none. If a message above gives a reason, mend that first. The compiler takes out \
             what has no effect: write to the arrays, print results, or record with -O0",
            output.display()
        );
    }
    if let Some(numbers) = request.as_ref().and_then(Request::answer) {
        return after_program(crate::shown::out().write_all(&numbers).map_err(Into::into), code);
    }
    if args.stats {
        return after_program(show("stats", &[], &output, &args.cache).map(drop), code);
    }
    if args.no_view {
        return Ok(code);
    }
    show("view", &["--play"], &output, &args.cache)
}

/// The exit code of a program whose numbers were written. If the reader of the numbers left, the program's exit code counts all the same.
fn after_program(written: anyhow::Result<()>, code: ExitCode) -> anyhow::Result<ExitCode> {
    match written {
        Err(error) if !super::is_broken_pipe(&error) => Err(error),
        _ => Ok(code),
    }
}

/// The native file of a program, or of a source's program, in this folder.
pub(super) fn output(program: &Path, is_source: bool) -> PathBuf {
    let name = if is_source { program.file_stem() } else { program.file_name() };
    PathBuf::from(name.unwrap_or(program.as_os_str())).with_added_extension("orrery")
}

/// The arguments of the compiler. Libraries come after the source: linkers look there for what is missing so far.
pub(super) fn words(args: &RunArgs, program: &Path) -> Vec<OsString> {
    let is_library = |word: &OsString| word.as_encoded_bytes().starts_with(b"-l") && word != "-l";
    let level = args.optimize.as_deref().unwrap_or("1");
    let mut words: Vec<OsString> = vec![format!("-O{level}").into()];
    words.extend(args.flag.iter().filter(|word| !is_library(word)).cloned());
    words.extend([args.source.as_os_str().to_owned(), "-o".into(), program.as_os_str().to_owned()]);
    words.extend(args.flag.iter().filter(|word| is_library(word)).cloned());
    words.extend(["-lm".into(), "-pthread".into()]);
    words
}

/// Runs the program to its end. Ctrl-C is the program's: what it recorded until then is shown; a second one ends it.
fn run_program(
    program: &Path,
    args: &RunArgs,
    recording: &Recording,
    request: Option<&Request>,
) -> anyhow::Result<ExitStatus> {
    let shown = program.display();
    let variables = [
        (ASKED, request.map(|request| request.path().as_os_str())),
        ("ORRERY_LIMIT", args.limit.as_deref().map(OsStr::new)),
    ];
    let running = Running::start(program, args.given(), recording.own(), variables, None)
        .with_context(|| format!("{shown} cannot be started"))?;
    // Only now: what is done with signals is passed on to programs that are started.
    stop::on_stop(running.stopper());
    running.wait().with_context(|| format!("{shown} cannot be waited for"))
}

/// Shows a trace by a command of ours, under these caches.
fn show(command: &str, flags: &[&str], trace: &Path, cache: &CacheArgs) -> anyhow::Result<ExitCode> {
    let words = ["orrery", command].into_iter().chain(flags.iter().copied()).chain(["--"]).map(OsString::from);
    let mut command = super::parse(words.chain([trace.as_os_str().to_owned()])).command;
    match &mut command {
        Cli::Stats(args) => args.cache = cache.clone(),
        Cli::View(args) => args.cache = cache.clone(),
        _ => {}
    }
    super::dispatch(&command)
}
