//! Where bytes come from: a path or standard input, with gzip seen through and the format told from content.

use super::error::{Fault, Place, TraceError};
use super::formats::Format;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

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

/// Opens `path`, or standard input for `-`.
pub(super) fn open(path: &Path) -> Result<Input, TraceError> {
    if path == Path::new("-") {
        let name = "standard input".to_owned();
        return decompress(name, None, None, Content::new(Box::new(io::stdin())));
    }
    let name = path.display().to_string();
    let file = File::open(path)
        .map_err(|e| TraceError::io(&name, "the trace cannot be opened; check the path and its permissions", e))?;
    let twin = match file.metadata() {
        Ok(meta) if meta.is_file() => file.try_clone().ok(),
        _ => None,
    };
    decompress(name, Some(path.to_owned()), twin, Content::new(Box::new(file)))
}

/// Bytes in memory, as if a pipe had given them.
pub(super) fn of_bytes(name: &str, bytes: Vec<u8>) -> Result<Input, TraceError> {
    decompress(name.to_owned(), None, None, Content::new(Box::new(io::Cursor::new(bytes))))
}

fn decompress(name: String, path: Option<PathBuf>, plain: Option<File>, bytes: Content) -> Result<Input, TraceError> {
    if bytes.head().starts_with(&[0x1f, 0x8b]) {
        let bytes = Content::new(Box::new(MultiGzDecoder::new(bytes)));
        return Ok(Input { name, path, plain: None, bytes });
    }
    if bytes.head().is_empty() {
        if let Some(error) = bytes.pending {
            return Err(TraceError::io(&name, "the trace cannot be read", error));
        }
        return Err(empty_file(&name));
    }
    Ok(Input { name, path, plain, bytes })
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
    if head.is_empty() {
        return match &input.bytes.pending {
            Some(e) => Err(truncated_at_once(&input.name, e)),
            None => Err(empty_file(&input.name)),
        };
    }
    let (found, remedy) = describe(head);
    Err(TraceError::UnknownFormat(Fault::new(
        Place::file(&input.name),
        found,
        "a native .orrery (Parquet) file or the text of valgrind --tool=lackey --trace-mem=yes, either also as gzip",
        remedy,
    )))
}

fn truncated_at_once(name: &str, error: &io::Error) -> TraceError {
    TraceError::Damaged(Fault::new(
        Place::file(name),
        format!("a gzip stream that cannot be unpacked ({error})"),
        "whole gzip data",
        "test it with gzip -t, and copy or record it again",
    ))
}

/// Names what the first bytes are, and what to do about it.
fn describe(head: &[u8]) -> (String, String) {
    const PACKED: [(&[u8], &str, &str); 4] = [
        (b"\xfd7zXZ\0", "xz", "xz -dc"),
        (b"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"),
        (b"BZh", "bzip2", "bzip2 -dc"),
        (b"PK\x03\x04", "zip", "unzip -p"),
    ];
    if let Some((_, name, tool)) = PACKED.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return (format!("{name}-compressed data"), format!("unpack it first: {tool} FILE | orrery stats -"));
    }
    if head.contains(&0) {
        let hex: Vec<String> = head.iter().take(8).map(|b| format!("{b:02x}")).collect();
        return (format!("binary data that starts with {}", hex.join(" ")), "convert it to one of these".into());
    }
    let text = String::from_utf8_lossy(head);
    let line = text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
    (
        format!("text whose first line is `{}`", super::error::shorten(line)),
        "name the format with --format lackey if references come later in the file".into(),
    )
}
