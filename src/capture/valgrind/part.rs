//! `NAME.orrery.part`: what a recording has seen so far, so that nothing is lost where `orrery capture` itself is killed.
//!
//! A native file cannot be read before its end is written. So Valgrind's text is kept beside it as it comes, each block as a
//! whole zstd frame: whatever stops the recording, the frames before are whole. `orrery convert` goes over them as the recording
//! would have, with the same names. At the end of a recording the file goes.

use super::Request;
use crate::capture::driven::{DriveError, Hear, Notice, refused};
use crate::shown::quoted;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The first line of such a file.
const MAGIC: &str = "ORRERY CAPTURE 1";

/// How hard blocks are packed: a tenth of their size, faster than they come.
const LEVEL: i32 = 1;

/// What was recorded how.
#[derive(Debug, Serialize, Deserialize)]
struct Asked {
    program: PathBuf,
    /// Length and time of last change: another file under its name has other names in it.
    length: u64,
    changed: Option<u128>,
    words: Vec<String>,
    data_only: bool,
    function: Option<String>,
    whole: bool,
    limit: Option<u64>,
}

/// A file that is being written.
pub(super) struct Part {
    path: PathBuf,
    /// `None` once the disk was full.
    file: Option<File>,
    hear: Hear,
    packer: zstd::bulk::Compressor<'static>,
}

/// Length and time of last change of a program.
fn stamp(program: &Path) -> (u64, Option<u128>) {
    let about = fs::metadata(program).ok();
    let since = |m: &fs::Metadata| m.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok();
    (about.as_ref().map_or(0, fs::Metadata::len), about.as_ref().and_then(since).map(|t| t.as_millis()))
}

/// The file beside `output`.
pub(super) fn beside(output: &Path) -> PathBuf {
    output.with_added_extension("part")
}

impl Part {
    /// Starts one beside `output`; none where that is no plain file. One that is there already is another's: a killed
    /// recording's, which is said, or one that goes on.
    pub(super) fn create(request: &Request, hear: &Hear) -> Result<Option<Self>, DriveError> {
        let output = &request.output;
        if output.as_os_str() == "-" || fs::metadata(output).is_ok_and(|m| !m.is_file()) {
            return Ok(None);
        }
        let usual = beside(output);
        if is_left(&usual) {
            hear(left(&usual, output));
        }
        let own = output.with_added_extension(format!("{}.part", std::process::id()));
        let create = |path: &Path| File::options().write(true).create_new(true).open(path);
        let (path, file) = match create(&usual) {
            Ok(file) => (usual, file),
            Err(_) => {
                let file = create(&own).map_err(refused(format!("{}: cannot be created", own.display())))?;
                (own, file)
            }
        };
        // Who finds it free finds it left.
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok();
        let program = std::path::absolute(&request.program)?;
        let (length, changed) = stamp(&program);
        let asked = Asked {
            program,
            length,
            changed,
            words: request.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            data_only: request.data_only,
            function: request.function.clone(),
            whole: request.whole,
            limit: request.limit,
        };
        let hear = Arc::clone(hear);
        let mut part = Self { path, file: Some(file), hear, packer: zstd::bulk::Compressor::new(LEVEL)? };
        let asked = serde_json::to_string(&asked).map_err(std::io::Error::from)?;
        part.put(format!("{MAGIC}\n{asked}\n").as_bytes());
        Ok(Some(part))
    }

    /// Keeps a block of text.
    pub(super) fn keep(&mut self, block: &[u8]) {
        if self.file.is_some()
            && let Ok(packed) = self.packer.compress(block)
        {
            self.put(&packed);
        }
    }

    /// Removes it: what it was for is whole.
    pub(super) fn remove(&mut self) {
        self.file = None;
        // Whoever took it away has it.
        let _ = fs::remove_file(&self.path);
    }

    /// Where it stays.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn put(&mut self, bytes: &[u8]) {
        if let Some(Err(error)) = self.file.as_mut().map(|file| file.write_all(bytes)) {
            // The recording goes on: what it writes itself needs less room.
            let path = self.path.display();
            (self.hear)(Notice::Warning(format!("{path}: {error}; if orrery is killed, what it recorded is lost")));
            self.file = None;
        }
    }
}

/// Whether the file is one, and nobody writes it any more.
fn is_left(path: &Path) -> bool {
    let Some(file) = plain(path) else { return false };
    is_part(&file) && flock(&file, FlockOperation::NonBlockingLockShared).is_ok()
}

/// The file, where it is a plain one: to open a pipe would wait for its other end, or end whoever writes there.
fn plain(path: &Path) -> Option<File> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    File::open(path).ok()
}

fn is_part(file: &File) -> bool {
    let (mut file, mut head) = (file, [0; MAGIC.len()]);
    file.read_exact(&mut head).is_ok() && head == *MAGIC.as_bytes()
}

/// Where what a killed recording of this name left is, and how to have it; `None` where the trace is newer.
#[must_use]
pub fn leftover(output: &Path) -> Option<Notice> {
    let part = beside(output);
    let written = |path: &Path| path.metadata().and_then(|m| m.modified()).ok();
    (written(output) <= written(&part) && is_left(&part)).then(|| left(&part, output))
}

fn left(part: &Path, output: &Path) -> Notice {
    Notice::Note(format!(
        "{}: left by a recording that was killed; `orrery convert {} -o {}` makes a trace of it, then remove it",
        part.display(),
        quoted(&part.display().to_string()),
        quoted(&output.display().to_string())
    ))
}

/// A leftover: what was asked, and its text.
pub(super) struct Left {
    pub(super) request: Request,
    /// Whether the program is still the file that was run.
    pub(super) is_same: bool,
    pub(super) text: Box<dyn Read + Send>,
}

/// Opens a leftover; `None` where the file is something else.
///
/// # Errors
/// When it is being written, or its first lines are damaged.
pub(super) fn open(path: &Path, output: &Path) -> Result<Option<Left>, DriveError> {
    let Some(file) = plain(path).filter(is_part) else { return Ok(None) };
    if flock(&file, FlockOperation::NonBlockingLockShared).is_err() {
        return Err(DriveError::Busy(path.to_owned()));
    }
    let mut reader = BufReader::new(File::open(path)?);
    let mut line = String::new();
    // Neither line is longer than arguments can be.
    (&mut reader).take(1 << 22).read_line(&mut line)?;
    line.clear();
    (&mut reader).take(1 << 22).read_line(&mut line)?;
    let asked: Asked =
        serde_json::from_str(&line).map_err(|source| DriveError::Damaged { part: path.to_owned(), source })?;
    let is_same = (asked.length, asked.changed) == stamp(&asked.program);
    let request = Request {
        program: asked.program,
        output: output.to_owned(),
        data_only: asked.data_only,
        function: asked.function,
        whole: asked.whole,
        limit: asked.limit,
        command: asked.words.into_iter().map(Into::into).collect(),
    };
    Ok(Some(Left { request, is_same, text: Box::new(Whole(zstd::Decoder::with_buffer(reader)?)) }))
}

/// Frames as far as they are whole: the last may have been cut by what stopped the recording.
struct Whole<R: BufRead>(zstd::Decoder<'static, R>);

impl<R: BufRead> Read for Whole<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buf) {
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(0),
            read => read,
        }
    }
}
