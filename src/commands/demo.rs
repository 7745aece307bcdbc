//! `orrery demo`: numbers, a clip and the window for a bundled trace, without a file at hand.

use super::{UsageError, record, stats};
use crate::cli::{Cli, Command, DemoArgs};
use crate::trace::bundled::{BUNDLED, find};
use clap::Parser;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Runs the three steps, each as the command line would.
///
/// # Errors
/// As the commands it runs; [`UsageError`] where no trace of that name is bundled.
pub fn run(args: &DemoArgs) -> anyhow::Result<()> {
    let Some(bundled) = find(&args.name) else {
        let names: Vec<_> = BUNDLED.iter().map(|b| b.name).collect();
        return Err(UsageError(format!("no bundled trace `{}`; there are: {}", args.name, names.join(", "))).into());
    };
    let trace = PathBuf::from(bundled.path());
    if let Command::Stats(args) = parse(&["stats", "--cache", bundled.cache], &trace, &[])? {
        stats::run(&args)?;
    }
    let output = [OsString::from("--output"), args.output.clone().into()];
    if let Command::Record(args) = parse(&["record", "--cache", bundled.cache, "--tail", "96"], &trace, &output)? {
        record::run(&args)?;
    }
    window(args, &trace, bundled.cache)
}

/// A command as if typed, so that the demo shows what the user would get.
fn parse(words: &[&str], trace: &Path, rest: &[OsString]) -> anyhow::Result<Command> {
    let words = std::iter::once("orrery").chain(words.iter().copied()).map(OsString::from);
    let all = words.chain(std::iter::once(trace.into())).chain(rest.iter().cloned());
    Ok(Cli::try_parse_from(all)?.command)
}

#[cfg(feature = "viewer")]
fn window(args: &DemoArgs, trace: &Path, cache: &str) -> anyhow::Result<()> {
    if args.no_window || !super::view::has_display() {
        return Ok(());
    }
    let args = shown(trace, cache)?;
    super::view::show(&args, Some(super::view::trace(&args, false)?))
}

/// How the window shows a bundled trace.
///
/// # Errors
/// Where the command line does not understand it: a bug.
#[cfg(feature = "viewer")]
pub(super) fn shown(trace: &Path, cache: &str) -> anyhow::Result<crate::cli::ViewArgs> {
    match parse(&["view", "--cache", cache, "--play", "--speed", "40", "--tail", "96"], trace, &[])? {
        Command::View(args) => Ok(args),
        _ => anyhow::bail!("the arguments of `view` are not understood: a bug, please report it"),
    }
}

#[cfg(not(feature = "viewer"))]
fn window(_: &DemoArgs, _: &Path, _: &str) -> anyhow::Result<()> {
    Ok(())
}
