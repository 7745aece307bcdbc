//! `NAME.orrery.part`: what a recording has seen so far, so that nothing is lost where `orrery capture` itself is killed.
//!
//! A native file cannot be read before its end is written. So Valgrind's text is kept beside it as it comes, each block as a
//! whole zstd frame: whatever stops the recording, the frames before are whole. `orrery convert` goes over them as the recording
//! would have, with the same names. At the end of a recording the file goes.

use crate::cli::CaptureArgs;
use crate::shown::say;
use anyhow::{Context, bail};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

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
    pub(super) fn create(output: &Path, program: &Path, args: &CaptureArgs) -> anyhow::Result<Option<Self>> {
        if output == Path::new("-") || fs::metadata(output).is_ok_and(|m| !m.is_file()) {
            return Ok(None);
        }
        let usual = beside(output);
        if is_left(&usual) {
            tell(&usual, output);
        }
        let own = output.with_added_extension(format!("{}.part", std::process::id()));
        let create = |path: &Path| File::options().write(true).create_new(true).open(path);
        let (path, file) = match create(&usual) {
            Ok(file) => (usual, file),
            Err(_) => (own.clone(), create(&own).with_context(|| format!("{}: cannot be created", own.display()))?),
        };
        // Who finds it free finds it left.
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok();
        let program = std::path::absolute(program)?;
        let (length, changed) = stamp(&program);
        let asked = Asked {
            program,
            length,
            changed,
            words: args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            data_only: args.data_only,
            function: args.function.clone(),
            whole: args.whole,
            limit: args.limit,
        };
        let mut part = Self { path, file: Some(file), packer: zstd::bulk::Compressor::new(LEVEL)? };
        part.put(format!("{MAGIC}\n{}\n", serde_json::to_string(&asked)?).as_bytes());
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
            say!("warning: {}: {error}; if orrery is killed, what it recorded is lost", self.path.display());
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

/// Says where what a killed recording of this name left is, and how to have it; nothing where the trace is newer.
pub(in crate::commands) fn tell_of_leftover(output: &Path) {
    let part = beside(output);
    let written = |path: &Path| path.metadata().and_then(|m| m.modified()).ok();
    if written(output) <= written(&part) && is_left(&part) {
        tell(&part, output);
    }
}

fn tell(part: &Path, output: &Path) {
    say!(
        "note: {0}: left by a recording that was killed; `orrery convert {0} -o {1}` makes a trace of it, and removing it \
         forgets it",
        part.display(),
        output.display()
    );
}

/// A leftover: what was asked, and its text.
pub(super) struct Left {
    /// As the command line was.
    pub(super) args: CaptureArgs,
    /// The program, and whether it is still the file that was run.
    pub(super) program: PathBuf,
    pub(super) is_same: bool,
    pub(super) text: Box<dyn Read + Send>,
}

/// Opens a leftover; `None` where the file is something else.
///
/// # Errors
/// When it is being written, or its first lines are damaged.
pub(super) fn open(path: &Path, output: &Path) -> anyhow::Result<Option<Left>> {
    let Some(file) = plain(path).filter(is_part) else { return Ok(None) };
    let shown = path.display();
    if flock(&file, FlockOperation::NonBlockingLockShared).is_err() {
        bail!("{shown}: is being written by `orrery capture`; wait until it ends");
    }
    let mut reader = BufReader::new(File::open(path)?);
    let mut line = String::new();
    // Neither line is longer than arguments can be.
    (&mut reader).take(1 << 22).read_line(&mut line)?;
    line.clear();
    (&mut reader).take(1 << 22).read_line(&mut line)?;
    let asked: Asked = serde_json::from_str(&line)
        .with_context(|| format!("{shown}: the second line does not say what was recorded; the file is damaged"))?;
    let is_same = (asked.length, asked.changed) == stamp(&asked.program);
    let args = CaptureArgs {
        output: Some(output.to_owned()),
        data_only: asked.data_only,
        function: asked.function,
        whole: asked.whole,
        limit: asked.limit,
        with: crate::cli::Recorder::Lackey,
        follow: false,
        cache: None,
        command: asked.words.into_iter().map(Into::into).collect(),
    };
    Ok(Some(Left { args, program: asked.program, is_same, text: Box::new(Whole(zstd::Decoder::with_buffer(reader)?)) }))
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
