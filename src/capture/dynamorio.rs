//! Runs a program under DynamoRIO's drmemtrace, which records it into a folder; its view tool then tells the records of all threads in
//! the order of their time stamps, as text for the reader of `drmemtrace-view`.

use super::driven::{DriveError, Hear, Notice, refused};
use crate::files::Scratch;
use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

/// A program that was recorded.
pub struct Recorded {
    drrun: PathBuf,
    /// How the program ended.
    pub status: ExitStatus,
    /// The folder of the recording, within one that goes with this.
    recording: PathBuf,
    _folder: Scratch,
}

impl Recorded {
    /// Records a program with its arguments, to its end.
    ///
    /// # Errors
    /// When DynamoRIO is not to be had, or nothing was recorded.
    pub fn new(program: &Path, arguments: &[OsString], hear: &Hear) -> Result<Self, DriveError> {
        let drrun = find()?;
        let folder = Scratch::new().map_err(refused("the folder for temporary files cannot be written to"))?;
        let status = Command::new(&drrun)
            .args(["-t", "drmemtrace", "-offline", "-outdir"])
            .arg(folder.path())
            .arg("--")
            .arg(program)
            .args(arguments)
            .status()
            .map_err(refused("drrun cannot be started"))?;
        let recording = recording(folder.path(), hear)?;
        Ok(Self { drrun, status, recording, _folder: folder })
    }

    /// Begins to tell what was recorded.
    ///
    /// # Errors
    /// When the tool cannot be started.
    pub fn tell(&self) -> Result<Telling, DriveError> {
        let (reader, writer) = io::pipe().map_err(refused("no pipe can be made"))?;
        let tool = Command::new(&self.drrun)
            .args(["-t", "drmemtrace", "-tool", "view", "-indir"])
            .arg(&self.recording)
            // The tool tells its records on standard error.
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .spawn()
            .map_err(refused("drrun cannot be started"))?;
        Ok(Telling { reader, tool })
    }
}

/// The records of a program as they are told.
pub struct Telling {
    reader: PipeReader,
    tool: Child,
}

impl Telling {
    /// What to open to read them.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.reader.as_raw_fd()).into()
    }

    /// How the tool ended. Nobody reads any more: a tool that is not done ends by that.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn end(mut self) -> Result<ExitStatus, DriveError> {
        drop(self.reader);
        self.tool.wait().map_err(refused("drrun cannot be waited for"))
    }
}

/// DynamoRIO's launcher.
fn find() -> Result<PathBuf, DriveError> {
    let home = std::env::var_os("DYNAMORIO_HOME").map(|home| PathBuf::from(home).join("bin64/drrun"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = home.into_iter().chain(std::env::split_paths(&path).map(|folder| folder.join("drrun")));
    places.find(|place| place.is_file()).ok_or(DriveError::NoRecorder(
        "drrun: found no such program; expected DynamoRIO's launcher in PATH or in $DYNAMORIO_HOME/bin64; install DynamoRIO 10 or \
         later from dynamorio.org, or leave out --with drmemtrace",
    ))
}

/// The folder of the recording, which drrun names by program and process: the first of them where the program forked.
fn recording(folder: &Path, hear: &Hear) -> Result<PathBuf, DriveError> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    if found.len() > 1 {
        hear(Notice::Warning(format!("{} processes were recorded; keeping the first", found.len())));
    }
    found.into_iter().next().ok_or_else(|| {
        DriveError::Nothing(
            "drrun -t drmemtrace: found no recording; expected a folder drmemtrace.*.dir; run it by hand to see why"
                .into(),
        )
    })
}
