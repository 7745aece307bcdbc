//! The subcommands: each joins the library's parts for one job. The edge of the program: flags become calls here, and values, notices
//! and errors become words. What does something itself, with threads, files or processes, is a module of the library.

mod advise;
#[cfg(feature = "gpu")]
mod against;
mod aligned;
mod analyze;
mod annotate;
pub mod caches;
#[cfg(target_os = "linux")]
pub mod capture;
mod cc;
mod charts;
#[cfg(feature = "viewer")]
mod clips;
mod compare;
pub mod components;
mod convert;
mod counting;
#[cfg(feature = "gpu")]
pub mod demo;
#[cfg(feature = "gpu")]
mod finish;
pub mod formats;
mod gpu;
mod heard;
pub mod hierarchy;
mod kernel;
mod live;
mod loops;
mod once;
pub mod open;
#[cfg(feature = "viewer")]
mod opener;
#[cfg(feature = "gpu")]
pub mod picture;
#[cfg(feature = "gpu")]
pub mod progress;
#[cfg(any(feature = "gpu", target_os = "linux"))]
mod quiet;
#[cfg(feature = "gpu")]
pub mod record;
#[cfg(all(feature = "viewer", target_os = "linux"))]
mod recorded;
mod recorded_kernels;
mod regions;
mod report;
#[cfg(feature = "gpu")]
mod report_stills;
mod run;
#[cfg(feature = "gpu")]
mod sheet;
#[cfg(feature = "gpu")]
pub mod snapshot;
pub mod stats;
mod stop;
#[cfg(feature = "gpu")]
pub mod story;
mod sweep;
mod sweep_table;
#[cfg(feature = "gpu")]
mod task_look;
mod tasks;
mod told;
#[cfg(feature = "gpu")]
mod transcript;
#[cfg(feature = "viewer")]
pub mod view;
#[cfg(feature = "viewer")]
mod view_state;
#[cfg(feature = "viewer")]
mod watch;
mod why;
mod written;

use crate::capture::{CaptureError, Language};
use crate::cli::{Cli, Command};
use crate::kernel::KernelError;
use crate::shown::{self, say, say_lines};
use crate::sim::config::nearest;
use clap::{CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::process::ExitCode;

/// A fault of the command line itself: exit code 2, where other failures give 1.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// A program that does not compile: what its compiler said stays as many lines as it was.
#[cfg(feature = "gpu")]
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NotCompiled(String);

/// The command line's grammar, with the keys of the window in the help of `view`.
#[must_use]
pub fn grammar() -> clap::Command {
    let grammar = Cli::command();
    #[cfg(feature = "viewer")]
    let grammar = grammar.mut_subcommand("view", |view| view.after_help(crate::app::keys::help()));
    grammar
}

/// Reads the command line; where it is wrong, or asks for help, says so and ends the program. Nothing but `orrery` asks for the start
/// page where there is a display, and for help elsewhere.
#[must_use]
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Cli {
    let mut grammar = grammar();
    #[cfg_attr(not(feature = "viewer"), expect(unused_mut, reason = "without a window there is no start page"))]
    let mut args: Vec<OsString> = args.into_iter().collect();
    #[cfg(feature = "viewer")]
    if args.len() == 1 {
        match view::has_display() {
            true => args.push("start".into()),
            false => say!("note: the start page needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set"),
        }
    }
    let read = grammar.try_get_matches_from_mut(&args).and_then(|matches| Cli::from_arg_matches(&matches));
    read.unwrap_or_else(|error| {
        if let Some(words) = unknown(&error, &grammar) {
            say!("error: {words}");
            std::process::exit(2);
        }
        // The words of the command line come back in the message: as they are shown.
        let fit: Vec<OsString> =
            args.iter().map(|arg| shown::name(&arg.to_string_lossy()).into_owned().into()).collect();
        let error = if fit == args { Some(error) } else { grammar.try_get_matches_from_mut(&fit).err() };
        match error {
            Some(error) => end_with(error.format(&mut grammar)),
            None => {
                say!("error: the command line has signs that cannot be shown; expected words that can");
                std::process::exit(2)
            }
        }
    })
}

/// Ends the program with what the grammar says: help, the version, or what is wrong with the command line.
fn end_with(answer: clap::Error) -> ! {
    let written = answer.print().map_err(shown::unwritten).and_then(|()| shown::flush());
    let code = match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe && !answer.use_stderr() => {
            say!("error: {error}");
            1
        }
        _ => answer.exit_code(),
    };
    std::process::exit(code)
}

/// What to say of a first word that is neither a command nor a file.
fn unknown(error: &clap::Error, grammar: &clap::Command) -> Option<String> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let ErrorKind::InvalidSubcommand = error.kind() else { return None };
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let shown = grammar.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<&str> = shown.map(clap::Command::get_name).collect();
    let hint = nearest(word, &names).map_or_else(String::new, |name| format!("did you mean `orrery {name}`? "));
    let names = names.join(", ");
    Some(format!(
        "{word}: found no such command and no such file; {hint}expected the path of a trace, or one of: {names}"
    ))
}

/// Runs the command and reports its failure on standard error as one `error:` line with its causes.
#[must_use]
pub fn run(cli: &Cli) -> ExitCode {
    stop::prepare();
    #[cfg(feature = "gpu")]
    crate::overlay::fonts::look_for_others(std::sync::Arc::new(crate::typefaces::MachineFonts::default()));
    // What is still on its way to standard output counts as well.
    let done = dispatch(&cli.command).and_then(|code| Ok(shown::flush().map(|()| code)?));
    match done {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<stop::Stopped>() => {
            say!("{error:#}");
            ExitCode::from(stop::CODE)
        }
        Err(error) => {
            tell(&error);
            ExitCode::from(if error.is::<UsageError>() { 2 } else { 1 })
        }
    }
}

/// Says what went wrong: a line of its own, whatever names are in it; what a compiler said stays as many lines as it was.
fn tell(error: &anyhow::Error) {
    #[cfg(feature = "gpu")]
    if let Some(error) = error.downcast_ref::<NotCompiled>() {
        return say_lines(&format!("error: {error}"));
    }
    // naga shows the place in the source.
    if let Some(error @ KernelError::Source(_)) = error.downcast_ref::<KernelError>() {
        return say_lines(&format!("error: {error}"));
    }
    match error.downcast_ref::<CaptureError>() {
        Some(error @ CaptureError::Library { .. }) => say_lines(&format!("error: {error}")),
        _ => say!("error: {error:#}"),
    }
}

/// A reader that closed its end (`| head`) has what it wanted.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe))
}

fn dispatch(command: &Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Cc(args) => return cc::run(Language::C, args),
        Command::Cpp(args) => return cc::run(Language::Cpp, args),
        Command::Fortran(args) => return cc::run(Language::Fortran, args),
        Command::Run(args) => return run::run(args),
        Command::Assemble(args) => return cc::assemble(args),
        Command::Collect(args) => cc::collect(args),
        Command::Caches(args) => caches::run(args),
        #[cfg(target_os = "linux")]
        Command::Capture(args) => return capture::run(args),
        #[cfg(not(target_os = "linux"))]
        Command::Capture(_) => {
            Err(UsageError("capture: Valgrind's log is taken through Linux's /proc; run it on Linux".into()).into())
        }
        Command::Formats(args) => formats::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Stats(args) => stats::run(args),
        Command::Analyze(args) => analyze::run(args),
        Command::Loops(args) => loops::run(args),
        Command::Why(args) => why::run(args),
        Command::Annotate(args) => annotate::run(args),
        Command::Sweep(args) => sweep::run(args),
        Command::Advise(args) => advise::run(args),
        Command::Chart(args) => charts::run(args),
        Command::Report(args) => report::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Tasks(args) => tasks::run(args),
        Command::Gpu(args) => gpu::run(args),
        Command::Kernel(args) => kernel::run(args),
        #[cfg(feature = "gpu")]
        Command::Snapshot(args) => snapshot::run(args),
        #[cfg(feature = "gpu")]
        Command::Story(args) => story::propose(args),
        #[cfg(feature = "gpu")]
        Command::Record(args) => record::run(args),
        #[cfg(feature = "viewer")]
        Command::View(args) => view::run(args),
        #[cfg(feature = "viewer")]
        Command::Start => view::start(),
        #[cfg(feature = "gpu")]
        Command::Demo(args) => demo::run(args),
        #[cfg(not(feature = "gpu"))]
        Command::Snapshot(_) | Command::Record(_) | Command::Story(_) | Command::Demo(_) => Err(left_out("gpu")),
        #[cfg(not(feature = "viewer"))]
        Command::View(_) | Command::Start => Err(left_out("viewer")),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// A command that this build was made without.
#[cfg(not(feature = "viewer"))]
fn left_out(feature: &str) -> anyhow::Error {
    UsageError(format!("this orrery was built without the feature `{feature}`; build it with default features")).into()
}
