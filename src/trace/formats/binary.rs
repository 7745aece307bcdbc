//! What readers of binary formats share: buffered bytes that know their place, ends that are cut, counts of what was passed
//! over, numbers for cores.
//!
//! A format is a [`Decode`]: it takes bytes and gives references. [`Binary`] makes a [`Reader`] of it, which knows the rest:
//! where a stream of compressed data or a record stops in the middle, and that a trace without references is an error.

use super::super::error::{Fault, Place, TraceError};
use super::super::native::MAX_SIZE;
use super::super::packed::PackedError;
use super::Reader;
use crate::reference::{Kind, Reference, Tables};
use std::collections::HashMap;
use std::io::{self, BufRead, Read};

/// Bytes held at a time, and so the most that one record can have.
pub(super) const BLOCK: usize = 1 << 20;

/// Bytes of a stream, buffered, with their place in it.
pub(super) struct Bytes {
    input: Box<dyn Read + Send>,
    name: String,
    buf: Vec<u8>,
    /// Bytes of `buf` consumed, and bytes of `buf` that are filled.
    at: usize,
    filled: usize,
    /// Bytes of the stream before `buf`.
    before: u64,
    ended: bool,
    /// The compressed stream around these bytes stopped before its end.
    stream_cut: bool,
    /// Bytes of a last record that is not whole.
    torn: usize,
}

impl Bytes {
    /// `name` is what messages call the input.
    pub(super) fn new(name: impl Into<String>, input: Box<dyn Read + Send>) -> Self {
        let (name, buf) = (name.into(), Vec::new());
        Self { input, name, buf, at: 0, filled: 0, before: 0, ended: false, stream_cut: false, torn: 0 }
    }

    /// What messages call the input.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Place of the next byte in the stream (after decompression), from 0.
    pub(super) fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    /// The bytes that follow: `need` of them or more, where the stream has as many. `need` is [`BLOCK`] at most.
    ///
    /// # Errors
    /// When the input cannot be read or unpacked. A compressed stream that stops early is no error: see [`Bytes::cut`].
    pub(super) fn window(&mut self, need: usize) -> Result<&[u8], TraceError> {
        while self.filled - self.at < need && !self.ended {
            if self.buf.is_empty() {
                self.buf = vec![0; BLOCK];
            }
            self.buf.copy_within(self.at..self.filled, 0);
            self.before += self.at as u64;
            self.filled -= self.at;
            self.at = 0;
            match self.input.read(&mut self.buf[self.filled..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => (self.ended, self.stream_cut) = (true, true),
                Err(ref e) if let Some(packed) = PackedError::of(e) => {
                    return Err(packed.fault(Place::offset(&self.name, self.before + self.filled as u64)));
                }
                Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
                    return Err(self.damaged(
                        self.before + self.filled as u64,
                        format!("compressed data that is damaged ({e})"),
                        "whole compressed data",
                        "test it with the tool that packed it, and copy or record it again",
                    ));
                }
                Err(e) => return Err(TraceError::io(&self.name, "the trace cannot be read", e)),
            }
        }
        Ok(&self.buf[self.at..self.filled])
    }

    /// The next `count` bytes, which the last window had, and their place.
    pub(super) fn held(&self, count: usize) -> (&[u8], At<'_>) {
        let end = (self.at + count).min(self.filled);
        (&self.buf[self.at..end], At { name: &self.name, offset: self.offset() })
    }

    /// Moves the next `count` bytes onto the end of `out`, which grows only with what is there; `false` where the stream ends
    /// before.
    ///
    /// # Errors
    /// As [`Bytes::window`].
    pub(super) fn append(&mut self, count: u64, out: &mut Vec<u8>) -> Result<bool, TraceError> {
        let mut left = count;
        while left > 0 {
            let rest = self.window(1)?;
            if rest.is_empty() {
                self.torn = usize::try_from(count - left).unwrap_or(usize::MAX).max(1);
                return Ok(false);
            }
            let n = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            out.extend_from_slice(&rest[..n]);
            self.advance(n);
            left -= n as u64;
        }
        Ok(true)
    }

    /// The next line without its end; `None` at the end of the stream. A last line that stops early for the stream's sake is
    /// given up.
    ///
    /// # Errors
    /// As [`Bytes::window`], and for a line longer than [`BLOCK`].
    pub(super) fn line(&mut self) -> Result<Option<&[u8]>, TraceError> {
        let mut looked = 0;
        loop {
            let rest = &self.buf[self.at..self.filled];
            if let Some(n) = rest.get(looked..).and_then(|new| new.iter().position(|&b| b == b'\n')) {
                let start = self.at;
                self.at += looked + n + 1;
                return Ok(Some(self.buf[start..start + looked + n].trim_ascii_end()));
            }
            looked = rest.len();
            if self.ended {
                let start = self.at;
                self.at = self.filled;
                let keep = looked > 0 && !self.stream_cut;
                return Ok(keep.then(|| self.buf[start..].get(..looked).unwrap_or_default().trim_ascii_end()));
            }
            if looked >= BLOCK {
                return Err(self.damaged(
                    self.offset(),
                    "a line of a million bytes",
                    "a text of lines",
                    "name the right format",
                ));
            }
            self.window(looked + 1)?;
        }
    }

    /// Passes over `count` bytes of the last window.
    pub(super) fn advance(&mut self, count: usize) {
        self.at = (self.at + count).min(self.filled);
    }

    /// Gives up the bytes left over at the end: a record that is not whole.
    pub(super) fn tear(&mut self) {
        // Once at the end there is nothing left, however often one asks.
        self.torn = self.torn.max(self.filled - self.at);
        self.at = self.filled;
    }

    /// Calls `each` with every whole record of `N` bytes that is buffered and its place in the stream, until it answers
    /// `false`. The answer is whether there is more.
    ///
    /// # Errors
    /// Those of `each`, and as [`Bytes::window`].
    pub(super) fn records<const N: usize>(
        &mut self,
        mut each: impl FnMut(&[u8; N], &At<'_>) -> Result<bool, TraceError>,
    ) -> Result<bool, TraceError> {
        if self.window(N)?.len() < N {
            self.tear();
            return Ok(false);
        }
        let (records, _) = self.buf[self.at..self.filled].as_chunks::<N>();
        let mut at = At { name: &self.name, offset: self.before + self.at as u64 };
        let start = at.offset;
        for record in records {
            let more = each(record, &at)?;
            at.offset += N as u64;
            if !more {
                break;
            }
        }
        let consumed = at.offset - start;
        self.at += usize::try_from(consumed).unwrap_or(usize::MAX).min(self.filled - self.at);
        Ok(true)
    }

    /// Why the stream ended early, where it did.
    pub(super) fn cut(&self) -> Option<String> {
        match (self.stream_cut, self.torn) {
            (true, _) => Some("the compressed data is cut short".into()),
            (false, 0) => None,
            (false, n) => Some(format!("the last record is cut short after {n} bytes")),
        }
    }

    /// An error at a byte of this stream.
    pub(super) fn damaged(&self, offset: u64, found: impl Into<String>, expected: &str, remedy: &str) -> TraceError {
        At { name: &self.name, offset }.damaged(found, expected, remedy)
    }
}

impl Read for Bytes {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let rest = self.fill_buf()?;
        let n = rest.len().min(out.len());
        out[..n].copy_from_slice(&rest[..n]);
        self.consume(n);
        Ok(n)
    }
}

/// For decoders that take a `BufRead`: a stream that stopped early ends as a whole one does, and [`Bytes`] remembers it.
impl BufRead for Bytes {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.window(1).map_err(io::Error::other)
    }

    fn consume(&mut self, amount: usize) {
        self.advance(amount);
    }
}

/// Where a record stands.
pub(super) struct At<'a> {
    /// What messages call the input.
    pub(super) name: &'a str,
    /// First byte of the record, from 0.
    pub(super) offset: u64,
}

impl At<'_> {
    /// An error at this record.
    pub(super) fn damaged(&self, found: impl Into<String>, expected: &str, remedy: &str) -> TraceError {
        TraceError::Damaged(Fault::new(Place::offset(self.name, self.offset), found, expected, remedy))
    }

    /// A reference, checked; `None` for one of 0 bytes, which touches nothing and is to be counted.
    ///
    /// # Errors
    /// For more than [`MAX_SIZE`] bytes, and for bytes past the end of the address space.
    #[inline]
    pub(super) fn reference(&self, kind: Kind, addr: u64, size: u64) -> Result<Option<Reference>, TraceError> {
        if size == 0 {
            return Ok(None);
        }
        match u32::try_from(size) {
            Ok(size) if size <= MAX_SIZE && addr.checked_add(u64::from(size) - 1).is_some() => {
                Ok(Some(Reference::new(kind, addr, size)))
            }
            _ => Err(self.damaged(
                format!("a {} of {size} bytes at 0x{addr:x}", kind.verb()),
                &format!("1 to {MAX_SIZE} bytes that end below 2^64"),
                "name the right format with --format, or record the trace again",
            )),
        }
    }
}

/// References from bytes.
pub(super) trait Decode: Send {
    /// Adds references to `out`, about `limit` at most. The answer is whether there is more to decode.
    ///
    /// # Errors
    /// Where the bytes are no trace of this format.
    fn decode(&mut self, bytes: &mut Bytes, limit: usize, out: &mut Vec<Reference>) -> Result<bool, TraceError>;

    /// What was passed over: how many, and the word for one of them. Zeros are left out.
    fn passed(&self) -> Vec<(u64, &'static str)> {
        Vec::new()
    }

    /// Other things the user must know, each a sentence without the name of the file.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the format says of the trace.
    fn tables(&self) -> Tables {
        Tables::default()
    }

    /// What a trace of this format holds, for the message about one that holds nothing.
    fn expected(&self) -> &'static str;
}

/// A format as a reader.
pub(super) struct Binary<D> {
    bytes: Bytes,
    decode: D,
    read: u64,
}

impl<D: Decode> Binary<D> {
    pub(super) fn new(bytes: Bytes, decode: D) -> Self {
        Self { bytes, decode, read: 0 }
    }

    fn empty(&self) -> TraceError {
        let found = match (self.bytes.cut(), list(&self.decode.passed())) {
            (Some(cut), _) => format!("no references: {cut}"),
            (None, Some(passed)) => format!("no references, only {passed}"),
            (None, None) => "no references".into(),
        };
        TraceError::Empty(Fault::new(
            Place::file(self.bytes.name()),
            found,
            self.decode.expected(),
            "check the format, or record the trace again",
        ))
    }
}

impl<D: Decode> Reader for Binary<D> {
    fn next_chunk(&mut self, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        out.clear();
        while out.len() < limit && self.decode.decode(&mut self.bytes, limit, out)? {}
        self.read += out.len() as u64;
        if self.read == 0 { Err(self.empty()) } else { Ok(()) }
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        notices.extend(list(&self.decode.passed()).map(|passed| format!("passed over {passed}")));
        notices.extend(self.decode.remarks());
        notices.extend(self.bytes.cut().map(|cut| format!("{cut}; kept the {} references that are whole", self.read)));
        notices.into_iter().map(|notice| format!("{}: {notice}", self.bytes.name())).collect()
    }

    fn tables(&self) -> Tables {
        self.decode.tables()
    }
}

/// `3 markers, 1 cache flush`; `None` where all counts are 0.
pub(super) fn list(counts: &[(u64, &str)]) -> Option<String> {
    let one = |&(n, word): &(u64, &str)| match n {
        1 => format!("1 {word}"),
        _ if word.ends_with('h') => format!("{n} {word}es"),
        _ => word.strip_suffix('y').map_or(format!("{n} {word}s"), |stem| format!("{n} {stem}ies")),
    };
    let words: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(one).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Numbers for cores: threads and the like, in the order in which they are first seen.
#[derive(Default)]
pub(super) struct Cores {
    known: HashMap<u64, u16>,
    /// More than 65,536 of them: the rest shares numbers.
    pub(super) crowded: bool,
}

impl Cores {
    /// The number of `id`.
    pub(super) fn of(&mut self, id: u64) -> u16 {
        if let Some(&core) = self.known.get(&id) {
            return core;
        }
        match u16::try_from(self.known.len()) {
            Ok(core) => {
                self.known.insert(id, core);
                core
            }
            Err(_) => {
                self.crowded = true;
                u16::try_from(id & 0xffff).unwrap_or(u16::MAX)
            }
        }
    }

    /// What to tell where numbers are shared; `what` is a plural.
    pub(super) fn remark(&self, what: &str) -> Option<String> {
        self.crowded.then(|| format!("more than 65536 {what}: those past them share cores"))
    }
}

/// A little-endian number of 8 bytes at `at`; 0 where they are not all there.
#[inline]
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b))
}

/// A little-endian number of 4 bytes at `at`; 0 where they are not all there.
#[inline]
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b))
}

/// A little-endian number of 2 bytes at `at`; 0 where they are not all there.
#[inline]
pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |b| u16::from_le_bytes(*b))
}

/// Whether an address could be one of a 64-bit program: its upper 16 bits are all alike, and it is
/// past the first 64 KiB, which no system hands out.
pub(super) fn is_canonical(addr: u64) -> bool {
    addr >= 0x1_0000 && matches!(addr >> 48, 0 | 0xffff)
}
