//! The entries of a `.zip` one after the other, read from the front: pipes and archives that are cut work as well.
//!
//! drmemtrace writes its chunks as entries in their order, so their local headers are all that is needed. Entries may be
//! deflated or stored; each is compared with its checksum.

use super::binary::{Bytes, u16_at, u32_at};
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use std::io::{self, BufRead, Read};

const LOCAL: &[u8; 4] = b"PK\x03\x04";
const DESCRIPTOR: &[u8; 4] = b"PK\x07\x08";

/// Bytes of a local header before its name.
const HEADER: usize = 30;

/// Whether content that starts so is a `.zip` with at least one entry.
pub(super) fn is(head: &[u8]) -> bool {
    head.starts_with(LOCAL)
}

/// The unpacked bytes of all entries.
pub(super) struct Entries {
    state: State,
    crc: Crc,
    /// What the local header says of the checksum; unknown where it follows the data.
    expected: Option<u32>,
}

enum State {
    Between(Bytes),
    Deflated(DeflateDecoder<Bytes>),
    Stored { bytes: Bytes, left: u64 },
    Ended,
}

impl Entries {
    pub(super) fn new(bytes: Bytes) -> Self {
        Self { state: State::Between(bytes), crc: Crc::new(), expected: None }
    }

    /// Reads a local header; what comes after the last entry ends the stream.
    fn enter(&mut self, mut bytes: Bytes) -> io::Result<State> {
        let header = bytes.window(HEADER).map_err(io::Error::other)?;
        if !is(header) {
            let whole = header.starts_with(b"PK\x01\x02") || header.starts_with(b"PK\x05\x06");
            return if whole { Ok(State::Ended) } else { Err(cut("an archive without its directory")) };
        }
        if header.len() < HEADER {
            return Err(cut("half a header"));
        }
        let (flags, method) = (u16_at(header, 6), u16_at(header, 8));
        let (crc, packed) = (u32_at(header, 14), u32_at(header, 18));
        let skip = HEADER + usize::from(u16_at(header, 26)) + usize::from(u16_at(header, 28));
        let follows = flags & 8 != 0;
        self.expected = (!follows).then_some(crc);
        self.crc.reset();
        if bytes.window(skip).map_err(io::Error::other)?.len() < skip {
            return Err(cut("half a header"));
        }
        bytes.advance(skip);
        match (flags & 1, method) {
            (0, 8) => Ok(State::Deflated(DeflateDecoder::new(bytes))),
            (0, 0) if !follows && packed != u32::MAX => Ok(State::Stored { bytes, left: u64::from(packed) }),
            (0, 0) => Err(bad("a stored entry of unknown length")),
            (0, other) => Err(bad(&format!("an entry packed by method {other}; deflate it"))),
            _ => Err(bad("an encrypted entry")),
        }
    }

    /// Leaves an entry: its checksum must be right, and a descriptor behind the data is passed over.
    fn leave(&mut self, mut bytes: Bytes) -> io::Result<State> {
        // Something always follows: another header, or the archive's directory.
        if bytes.fill_buf()?.is_empty() {
            return Err(cut("half an entry"));
        }
        let expected = match self.expected.take() {
            Some(crc) => crc,
            None => {
                let rest = bytes.window(24 + 4).map_err(io::Error::other)?;
                let signed = if rest.starts_with(DESCRIPTOR) { 4 } else { 0 };
                let crc = u32_at(rest, signed);
                // Sizes have 4 bytes each, or 8 in large archives: the next header tells.
                let short = rest.get(signed + 12..).is_some_and(|next| next.starts_with(b"PK"));
                let length = signed + if short { 12 } else { 20 };
                if rest.len() < length {
                    return Err(cut("half a data descriptor"));
                }
                bytes.advance(length);
                crc
            }
        };
        if self.crc.sum() != expected {
            return Err(bad("an entry that does not match its checksum"));
        }
        Ok(State::Between(bytes))
    }
}

impl Read for Entries {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.state, State::Ended) {
                State::Ended => return Ok(0),
                State::Between(bytes) => self.state = self.enter(bytes)?,
                State::Deflated(mut data) => {
                    let n = data.read(out)?;
                    self.crc.update(&out[..n]);
                    if n > 0 {
                        self.state = State::Deflated(data);
                        return Ok(n);
                    }
                    self.state = self.leave(data.into_inner())?;
                }
                State::Stored { bytes, left: 0 } => self.state = self.leave(bytes)?,
                State::Stored { mut bytes, left } => {
                    let rest = bytes.fill_buf()?;
                    let most = usize::try_from(left).unwrap_or(usize::MAX);
                    let n = rest.len().min(out.len()).min(most);
                    if n == 0 {
                        return Err(cut("half an entry"));
                    }
                    out[..n].copy_from_slice(&rest[..n]);
                    bytes.consume(n);
                    self.crc.update(&out[..n]);
                    self.state = State::Stored { bytes, left: left - n as u64 };
                    return Ok(n);
                }
            }
        }
    }
}

fn cut(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("zip: {what}"))
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("zip: {what}"))
}
