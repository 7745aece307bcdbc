//! Where bytes come from: a path or standard input, with compression seen through and the format told from content.

use super::bundled;
use super::error::{Fault, Place, TraceError};
use super::formats::Format;
use super::packed::{PackedError, Packing};
use crate::nest::Settings;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes looked at to tell a format: past any banner that a program prints before its first reference.
const HEAD: usize = 64 * 1024;

/// An opened trace, its first bytes known.
pub(super) struct Input {
    /// The path as the user wrote it, or `standard input`.
    pub(super) name: String,
    /// The path, for formats whose parts stand beside it; none for standard input.
    pub(super) path: Option<PathBuf>,
    /// The file itself where it can be read at any place: a plain file without compression.
    pub(super) plain: Option<File>,
    /// The content from its first byte, decompressed.
    pub(super) bytes: Content,
    /// Bytes read so far, as they stand in the file.
    pub(super) read: Arc<AtomicU64>,
    /// What stands behind `?` in the path: values of parameters.
    pub(super) settings: Settings,
}

/// Counts what is read through it.
struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// A byte stream with its head kept for inspection. An error met while filling the head is given again at its place.
pub(super) struct Content {
    head: Vec<u8>,
    at: usize,
    pending: Option<io::Error>,
    rest: Box<dyn Read + Send>,
}

impl Content {
    pub(super) fn new(mut rest: Box<dyn Read + Send>) -> Self {
        let mut head = Vec::new();
        let pending = rest.by_ref().take(HEAD as u64).read_to_end(&mut head).err();
        Self { head, at: 0, pending, rest }
    }

    /// The first bytes, up to [`HEAD`].
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }
}

impl Read for Content {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.head.get(self.at..).unwrap_or_default();
        if !left.is_empty() {
            let n = left.len().min(buf.len());
            buf[..n].copy_from_slice(&left[..n]);
            self.at += n;
            return Ok(n);
        }
        match self.pending.take() {
            Some(error) => Err(error),
            None => self.rest.read(buf),
        }
    }
}

/// Whether a path means standard input.
pub(super) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Opens `path`; standard input for `-`, and a bundled trace for `lesson:NAME`.
pub(super) fn open(path: &Path) -> Result<Input, TraceError> {
    if is_stdin(path) {
        let name = "standard input".to_owned();
        return decompress(name, None, None, io::stdin());
    }
    let name = path.display().to_string();
    if let Some(lesson) = bundled::name_in(path) {
        let Some(found) = bundled::find(lesson) else {
            let names: Vec<&str> = bundled::BUNDLED.iter().map(|bundled| bundled.name).collect();
            let there_are = io::Error::new(io::ErrorKind::NotFound, format!("there are {}", names.join(", ")));
            return Err(TraceError::io(&name, format!("no bundled trace is called {lesson:?}"), there_are));
        };
        return of_bytes(&name, found.bytes.to_vec());
    }
    let (path, settings) = with_settings(path)?;
    if let Some(nest) = bundled::nest_name_in(path) {
        let Some(found) = bundled::find_nest(nest) else {
            let names: Vec<&str> = bundled::NESTS.iter().map(|bundled| bundled.name).collect();
            let there_are = io::Error::new(io::ErrorKind::NotFound, format!("there are {}", names.join(", ")));
            return Err(TraceError::io(&name, format!("no bundled nest of loops is called {nest:?}"), there_are));
        };
        return of_bytes(&name, found.text.as_bytes().to_vec()).map(|input| Input { settings, ..input });
    }
    let input = open_file(name, path)?;
    Ok(Input { settings, ..input })
}

/// The file that a path names, without values of parameters behind it; `None` of what travels in the program (`lesson:NAME`, `loops:NAME`).
#[must_use]
pub fn file_of(path: &Path) -> Option<&Path> {
    let file = with_settings(path).map_or(path, |(file, _)| file);
    (bundled::name_in(path).is_none() && bundled::nest_name_in(file).is_none()).then_some(file)
}

/// A path with values of parameters behind it, `x.loops?N=64,M=32`, parted; one that is there as it stands is taken so.
fn with_settings(path: &Path) -> Result<(&Path, Settings), TraceError> {
    let mut settings = Settings::default();
    let whole = (path, Settings::default());
    let Some((file, pairs)) = path.to_str().and_then(|text| text.rsplit_once('?')) else { return Ok(whole) };
    if path.symlink_metadata().is_ok() {
        return Ok(whole);
    }
    for pair in pairs.split([',', '&']) {
        let (name, value) = Settings::pair(pair).map_err(|expected| {
            let remedy = "write FILE?NAME=VALUE,NAME=VALUE";
            let (found, expected) = expected.split_once("; expected ").unwrap_or((&expected, "NAME=VALUE"));
            let found = found.trim_start_matches("found ");
            TraceError::Invalid(Fault::new(Place::file(path.display().to_string()), found, expected, remedy))
        })?;
        settings.set(&name, value);
    }
    Ok((Path::new(file), settings))
}

fn open_file(name: String, path: &Path) -> Result<Input, TraceError> {
    let file = File::open(path)
        .map_err(|e| TraceError::io(&name, "the trace cannot be opened; check the path and its permissions", e))?;
    let twin = match file.metadata() {
        Ok(meta) if meta.is_file() => file.try_clone().ok(),
        _ => None,
    };
    decompress(name, Some(path.to_owned()), twin, file)
}

/// Bytes in memory, as if a pipe had given them.
pub(super) fn of_bytes(name: &str, bytes: Vec<u8>) -> Result<Input, TraceError> {
    decompress(name.to_owned(), None, None, io::Cursor::new(bytes))
}

fn decompress(
    name: String,
    path: Option<PathBuf>,
    plain: Option<File>,
    inner: impl Read + Send + 'static,
) -> Result<Input, TraceError> {
    let read = Arc::new(AtomicU64::new(0));
    let bytes = Content::new(Box::new(Counted { inner, read: Arc::clone(&read) }));
    if let Some(packing) = Packing::of(bytes.head()) {
        return Ok(Input {
            name,
            path,
            plain: None,
            bytes: Content::new(packing.unpack(bytes)),
            read,
            settings: Settings::default(),
        });
    }
    if bytes.head().is_empty() {
        if let Some(error) = bytes.pending {
            return Err(TraceError::io(&name, "the trace cannot be read", error));
        }
        return Err(empty_file(&name));
    }
    Ok(Input { name, path, plain, bytes, read, settings: Settings::default() })
}

fn empty_file(name: &str) -> TraceError {
    TraceError::Empty(Fault::new(
        Place::file(name),
        "an empty file (0 bytes)",
        "a trace with at least one reference",
        "check that the program which wrote it ran to its end",
    ))
}

/// Tells the format from the first bytes of the (decompressed) content.
pub(super) fn detect(input: &Input) -> Result<Format, TraceError> {
    let head = input.bytes.head();
    if let Some(format) = Format::of(head) {
        return Ok(format);
    }
    // Whatever is wrong in such a file, it is loops that are meant.
    if input.path.as_deref().and_then(Path::extension).is_some_and(|end| end == "loops") {
        return Ok(Format::LOOPS);
    }
    if input.path.as_deref().and_then(Path::extension).is_some_and(|end| end == "sdfg" || end == "sdfgz") {
        return Ok(Format::SDFG);
    }
    match &input.bytes.pending {
        // What little came says nothing: why no more came does.
        Some(error) => return Err(unreadable(&input.name, error)),
        None if head.is_empty() => return Err(empty_file(&input.name)),
        None => {}
    }
    let (found, remedy) = describe(head);
    Err(TraceError::UnknownFormat(Fault::new(
        Place::file(&input.name),
        found,
        "a native .orrery (Parquet) file or another of the formats that `orrery formats` lists, plain or packed by \
         gzip, xz, zstd or bzip2",
        remedy,
    )))
}

/// Nothing at all could be had of a stream.
fn unreadable(name: &str, error: &io::Error) -> TraceError {
    match PackedError::of(error) {
        Some(packed) => packed.fault(Place::file(name)),
        None => TraceError::Damaged(Fault::new(
            Place::file(name),
            format!("a stream that cannot be read ({error})"),
            "a trace",
            "copy or record it again",
        )),
    }
}

/// Names what the first bytes are, and what to do about it.
fn describe(head: &[u8]) -> (String, String) {
    if let Some(packing) = Packing::of(head) {
        return (format!("{packing} data inside packed data"), "unpack it once first".into());
    }
    if head.starts_with(b"PK\x03\x04") {
        return ("zip-compressed data".into(), "unpack it first: unzip -p FILE | orrery stats -".into());
    }
    if head.starts_with(b"SQLite format 3\0") {
        return ("a database of SQLite".into(), "if it is one of Daisen, ask `orrery tasks FILE`".into());
    }
    if head.contains(&0) {
        let hex: Vec<String> = head.iter().take(8).map(|b| format!("{b:02x}")).collect();
        return (
            format!("binary data that starts with {}", hex.join(" ")),
            "name its format with --format NAME, or convert it to one of these".into(),
        );
    }
    let text = String::from_utf8_lossy(head);
    let line = text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
    (
        format!("text whose first line is `{}`", super::error::shorten(line)),
        "name its format with --format NAME (`orrery formats` lists them) if references come later in the file".into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_trace_is_described() {
        for (head, found, remedy) in [
            (&b"hello\n"[..], "text whose first line is `hello`", "--format NAME"),
            (b"\x7fELF\0\0", "binary data that starts with 7f 45 4c 46 00 00", "--format NAME"),
            (b"\x1f\x8b\x08", "gzip data inside packed data", "unpack it once"),
            (b"PK\x03\x04", "zip", "unzip -p"),
            (b"SQLite format 3\0\x10", "a database of SQLite", "orrery tasks"),
        ] {
            let described = describe(head);
            assert!(described.0.contains(found) && described.1.contains(remedy), "{described:?}");
        }
    }
}
