//! `orrery capture --with drmemtrace`: DynamoRIO records the program into a temporary folder; its view tool then tells the
//! records of all threads in the order of their time stamps, and what it tells is converted as it comes.

use super::{default_output, ended, program};
use crate::cli::{CaptureArgs, Command as Cli};
use crate::commands::{UsageError, convert, parse};
use crate::shown::say;
use anyhow::{Context, bail};
use std::ffi::OsString;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Records a program and writes its native file.
///
/// # Errors
/// When the program or DynamoRIO is not to be had, or nothing was recorded.
pub(super) fn run(args: &CaptureArgs) -> anyhow::Result<ExitCode> {
    let lackey_only =
        [(args.function.is_some(), "--function"), (args.limit.is_some(), "--limit"), (args.follow, "--follow")];
    if let Some((_, flag)) = lackey_only.iter().find(|(given, _)| *given) {
        return Err(UsageError(format!(
            "{flag}: not with --with drmemtrace, which records a whole run before it tells; use lackey"
        ))
        .into());
    }
    let path = program(args)?;
    let drrun = find()?;
    let folder = crate::files::Scratch::new().context("the folder for temporary files cannot be written to")?;
    let start = |name: &str| format!("{name} cannot be started");
    let status = Command::new(&drrun)
        .args(["-t", "drmemtrace", "-offline", "-outdir"])
        .arg(folder.path())
        .arg("--")
        .arg(&path)
        .args(&args.command[1..])
        .status()
        .with_context(|| start("drrun"))?;
    let recorded = recorded(folder.path())?;

    let (reader, writer) = io::pipe().context("no pipe can be made")?;
    let mut view = Command::new(&drrun)
        .args(["-t", "drmemtrace", "-tool", "view", "-indir"])
        .arg(&recorded)
        // The tool tells its records on standard error.
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()
        .with_context(|| start("drrun"))?;
    let output = args.output.clone().unwrap_or_else(|| default_output(&path));
    let mut words: Vec<OsString> = ["orrery", "convert", "--format", "drmemtrace-view"].map(Into::into).into();
    words.extend([format!("/proc/self/fd/{}", reader.as_raw_fd()).into(), "--output".into(), output.into_os_string()]);
    words.extend(["--program".into(), path.clone().into_os_string()]);
    if args.data_only {
        words.extend(["--kind".into(), "read,write,modify".into()]);
    }
    let converted = match parse(words).command {
        Cli::Convert(args) => convert::run(&args),
        _ => bail!("the arguments of `convert` are not understood: a bug, please report it"),
    };
    drop(reader);
    let viewed = view.wait().context("drrun cannot be waited for")?;
    converted
        .with_context(|| format!("what drrun -t drmemtrace recorded of {} cannot be converted", path.display()))?;
    if !viewed.success() {
        say!("warning: drrun -tool view ended with {viewed}; kept what it told before");
    }
    Ok(ended(&path, Some(status), false))
}

/// DynamoRIO's launcher.
fn find() -> anyhow::Result<PathBuf> {
    let home = std::env::var_os("DYNAMORIO_HOME").map(|home| PathBuf::from(home).join("bin64/drrun"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = home.into_iter().chain(std::env::split_paths(&path).map(|folder| folder.join("drrun")));
    places.find(|place| place.is_file()).ok_or_else(|| {
        anyhow::anyhow!(
            "drrun: found no such program; expected DynamoRIO's launcher in PATH or in $DYNAMORIO_HOME/bin64; install DynamoRIO 10 \
             or later from dynamorio.org, or leave out --with drmemtrace"
        )
    })
}

/// The folder of the recording, which drrun names by program and process: the first of them where the program forked.
fn recorded(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    match found.len() {
        0 => bail!(
            "drrun -t drmemtrace: found no recording; expected a folder drmemtrace.*.dir; run it by hand to see why"
        ),
        1 => {}
        more => say!("warning: {more} processes were recorded; keeping the first"),
    }
    Ok(found.swap_remove(0))
}
