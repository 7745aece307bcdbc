//! `orrery run`: a source file compiled, run and shown.

use super::UsageError;
use super::cc::exit_code;
use crate::capture::{Language, Toolchain};
use crate::cli::RunArgs;
use crate::files::Scratch;
use crate::shown::say;
use anyhow::{Context, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// How long the trace of a program that was killed may take to be whole.
const PATIENCE: Duration = Duration::from_secs(600);

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
    let folder = Scratch::new().context("the folder for temporary files cannot be written to")?;
    let program = folder.path().join(source.file_stem().unwrap_or(source.as_os_str()));
    let level = args.optimize.as_deref().unwrap_or("1");
    let mut words: Vec<OsString> = vec![format!("-O{level}").into()];
    words.extend(args.flag.iter().map(OsString::from));
    words.extend([
        source.as_os_str().to_owned(),
        "-o".into(),
        program.as_os_str().to_owned(),
        "-lm".into(),
        "-pthread".into(),
    ]);
    let compiled = Toolchain::find(language)?.run(&words)?;
    if !compiled.success() {
        return Ok(exit_code(compiled));
    }

    let output = match &args.output {
        Some(output) => output.clone(),
        None => PathBuf::from(source.file_stem().unwrap_or(source.as_os_str())).with_added_extension("orrery"),
    };
    let output = std::path::absolute(&output).with_context(|| format!("{}: is no path", output.display()))?;
    let before = changed(&output);
    let ended = Command::new(&program)
        .args(&args.arguments)
        .env("ORRERY_OUT", &output)
        .status()
        .with_context(|| format!("{} cannot be started", program.display()))?;
    if !ended.success() {
        say!("note: the program ended with {ended}; this is what it did until then");
    }
    let part = output.with_added_extension("part");
    let start = Instant::now();
    while part.exists() && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
    if changed(&output) == before {
        bail!("{shown}: recorded nothing; expected references in {}", output.display());
    }
    let mut next: Vec<OsString> = vec!["orrery".into()];
    if args.stats {
        next.push("stats".into());
    } else if args.no_view {
        return Ok(ExitCode::SUCCESS);
    } else {
        next.extend(["view".into(), "--play".into()]);
    }
    next.push(output.into_os_string());
    super::dispatch(&super::parse(next).command)
}

/// When a file was last written; `None` where it is not there.
fn changed(path: &Path) -> Option<std::time::SystemTime> {
    path.metadata().and_then(|m| m.modified()).ok()
}
