//! `orrery cc`, `orrery c++`, `orrery fortran`: compilers whose programs record themselves; and their helpers.

use super::heard::say_among_others;
use super::live::Live;
use crate::capture::{self, Language, Part, Toolchain};
use crate::cli::{AssembleArgs, CcArgs, CollectArgs};
use crate::reference::Reference;
use crate::shown::{quoted, say};
use anyhow::bail;
use std::path::Path;
use std::process::{ExitCode, ExitStatus};

/// Compiles, and ends as the compiler does.
///
/// # Errors
/// When there is no compiler, or the recording library cannot be made.
pub(super) fn run(language: Language, args: &CcArgs) -> anyhow::Result<ExitCode> {
    Ok(exit_code(Toolchain::find(language)?.run(&args.arguments, &say_among_others)?))
}

/// The exit code of another program as ours; the shell's way for one that a signal ended.
pub(super) fn exit_code(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|n| 128 + n);
    #[cfg(not(unix))]
    let signal = None;
    ExitCode::from(u8::try_from(status.code().or(signal).unwrap_or(1)).unwrap_or(1))
}

/// Stands in for the assembler.
///
/// # Errors
/// When there is none.
pub(super) fn assemble(args: &AssembleArgs) -> anyhow::Result<ExitCode> {
    Ok(ExitCode::from(u8::try_from(capture::assemble(&args.arguments, &say_among_others)?).unwrap_or(1)))
}

/// Collects the references of a running program, which ends when standard input does.
///
/// # Errors
/// When its spool cannot be read, or the native file not be written; the spool then stays.
pub(super) fn collect(args: &CollectArgs) -> anyhow::Result<()> {
    let wait = capture::input_ends()?;
    let part = args.part.display();
    let mut live = Live::asked(&args.output);
    let see = |references: &[Reference]| live.iter_mut().for_each(|live| live.play(references));
    let collected = capture::collect_seen(&args.part, &args.output, Part::Consumed, wait, see).map_err(|e| {
        anyhow::Error::from(e).context(format!(
            "{part}: kept; orrery convert {} -o {} tries again",
            quoted(&args.part.to_string_lossy()),
            quoted(&args.output.to_string_lossy())
        ))
    })?;
    for notice in &collected.notices {
        say!("orrery: {}: {notice}", args.output.display());
    }
    if collected.references == 0 {
        say!(
            "orrery: {}: not written, for no reference was recorded; check that the program's parts were compiled by orrery cc",
            args.output.display()
        );
    }
    if let Some(live) = live.filter(|_| collected.references > 0) {
        live.finish(&args.output)?;
    }
    Ok(())
}

/// Converts the spool that a program left, with names; the spool stays. Gives the number of references; `None` where the
/// trace is no spool.
///
/// # Errors
/// When it cannot be read, or the native file not be written.
pub(super) fn convert(part: &Path, output: &Path) -> anyhow::Result<Option<u64>> {
    if !capture::is_spool(part) {
        return Ok(None);
    }
    let collected = capture::collect(part, output, Part::Kept, |_| true)?;
    collected.notices.iter().for_each(|notice| say!("warning: {notice}"));
    if collected.references == 0 {
        bail!(
            "{}: no reference was recorded; check that the program's parts were compiled by orrery cc",
            part.display()
        );
    }
    Ok(Some(collected.references))
}
