//! Text of `valgrind --tool=lackey --trace-mem=yes`, and the hand-made traces of courses that imitate it.
//!
//! ```text
//! ==4711== Lackey, an example Valgrind tool     skipped, counted
//! I  0401000,3                                  fetch: hexadecimal address, decimal size
//!  L 1ffefffe80,8                               load
//!  S 04b3c018,4                                 store
//!  M 0421c7cc,4                                 load, then store at the same address
//! SB 04001000                                   superblock (--trace-superblocks=yes), skipped, counted
//! hello, world                                  the program's own output, skipped, counted
//! ```
//!
//! A line is a record attempt when it is one letter of `I L S M`, blanks, and one word that holds a comma or is all
//! hexadecimal digits; such a line must parse. Everything else between is somebody's output. Blanks may be few or many,
//! leading zeros may be missing, lines may end in CR LF. The pc of a data reference is the address of the last `I`.

use super::super::error::{Fault, Place, TraceError, shorten};
use super::super::native::MAX_SIZE;
use crate::reference::{Kind, NO_LANE, Reference};
use std::io::{self, Read};

/// Bytes read at a time. A line longer than this is no record.
const BLOCK: usize = 1 << 20;

/// What was met beside references. None of it is ever silent: [`Reader::notices`] words it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Lines of Valgrind itself: `==pid==`, `--pid--`, `**pid**`. Every trace has some.
    pub valgrind: u64,
    /// `SB` lines.
    pub superblocks: u64,
    /// Lines of anything else: the program's own output.
    pub other: u64,
}

/// Why the text ended before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cut {
    /// The gzip stream stops in the middle.
    Gzip,
    /// The last line is half a record.
    Line(String),
}

/// Reads references from lackey text, in order, holding one block of it.
pub struct Reader<R> {
    input: R,
    name: String,
    buf: Vec<u8>,
    /// Bytes of `buf` consumed, and bytes of `buf` that are filled.
    at: usize,
    filled: usize,
    /// Lines consumed.
    line: u64,
    pc: u64,
    read: u64,
    skipped: Skipped,
    cut: Option<Cut>,
    ended: bool,
    /// Within a line too long for `buf`.
    in_long_line: bool,
}

impl<R: Read> Reader<R> {
    /// `name` is what messages call the input.
    pub fn new(name: impl Into<String>, input: R) -> Self {
        Self {
            input,
            name: name.into(),
            buf: vec![0; BLOCK],
            at: 0,
            filled: 0,
            line: 0,
            pc: 0,
            read: 0,
            skipped: Skipped::default(),
            cut: None,
            ended: false,
            in_long_line: false,
        }
    }

    /// Replaces `out` by the next references: at least one and about `limit` at most, or none at the end.
    ///
    /// # Errors
    /// On a broken line (with its number), on damaged gzip, on a failing read, and at the end of a text that held no
    /// references at all.
    pub fn next_chunk(&mut self, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        out.clear();
        while out.len() < limit {
            let end = match self.whole_lines() {
                Some(end) => end,
                None if self.ended => break,
                None => {
                    self.fill()?;
                    continue;
                }
            };
            self.parse(end, limit, out)?;
        }
        self.read += out.len() as u64;
        if self.read == 0 {
            return Err(self.empty());
        }
        Ok(())
    }

    /// What was skipped so far.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Sentences for the user about what was skipped or lost; complete once the end is reached.
    pub fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if self.skipped.other > 0 {
            notices.push(format!(
                "{}: skipped {} that are no references (the program's own output?)",
                self.name,
                lines(self.skipped.other)
            ));
        }
        match &self.cut {
            Some(Cut::Gzip) => notices.push(format!(
                "{}: the gzip stream is cut short; kept the {} references that are whole (up to line {})",
                self.name, self.read, self.line
            )),
            Some(Cut::Line(text)) => notices.push(format!(
                "{}: the last line is cut short (`{}`); kept the {} references before it",
                self.name,
                shorten(text),
                self.read
            )),
            None => {}
        }
        notices
    }

    fn empty(&self) -> TraceError {
        let s = self.skipped;
        let found = match &self.cut {
            Some(_) => "a trace that is cut short before its first whole reference".to_owned(),
            None if s == Skipped::default() => "no references".to_owned(),
            None => format!(
                "no references, only {} of Valgrind's and {} of other text",
                lines(s.valgrind + s.superblocks),
                lines(s.other)
            ),
        };
        TraceError::Empty(Fault::new(
            Place::file(&self.name),
            found,
            "at least one line such as ` L 1ffefffe80,8`",
            "record with valgrind --tool=lackey --trace-mem=yes",
        ))
    }

    /// One past the last newline among the bytes not yet consumed; at the end of the text, past its last byte.
    fn whole_lines(&mut self) -> Option<usize> {
        let rest = &self.buf[self.at..self.filled];
        if let Some(newline) = rest.iter().rposition(|&b| b == b'\n') {
            return Some(self.at + newline + 1);
        }
        if self.ended && !rest.is_empty() {
            self.last_line();
        }
        None
    }

    /// The bytes after the last newline of the text: a whole line without its newline, or the torn half of one.
    fn last_line(&mut self) {
        let text = String::from_utf8_lossy(&self.buf[self.at..self.filled]).into_owned();
        if self.in_long_line {
            self.at = self.filled;
            self.skipped.other += 1;
            return;
        }
        let torn = self.cut.is_some() || matches!(classify(text.as_bytes()), Line::Broken(_));
        if torn {
            self.at = self.filled;
            self.cut.get_or_insert(Cut::Line(text));
        } else if self.filled < self.buf.len() {
            self.buf[self.filled] = b'\n';
            self.filled += 1;
        } else {
            self.at = self.filled;
            self.skipped.other += 1;
        }
    }

    /// Moves what is left to the front and reads more behind it.
    fn fill(&mut self) -> Result<(), TraceError> {
        self.buf.copy_within(self.at..self.filled, 0);
        self.filled -= self.at;
        self.at = 0;
        if self.filled == self.buf.len() {
            // No newline in a whole block: output of a program. Drop it and go on to the newline.
            self.filled = 0;
            self.in_long_line = true;
        }
        loop {
            match self.input.read(&mut self.buf[self.filled..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                    self.ended = true;
                    self.cut = Some(Cut::Gzip);
                }
                Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
                    return Err(TraceError::Damaged(Fault::new(
                        Place::line(&self.name, self.line + 1),
                        format!("damaged gzip data ({e})"),
                        "whole gzip data",
                        "test it with gzip -t, and copy or record it again",
                    )));
                }
                Err(e) => return Err(TraceError::io(&self.name, "the trace cannot be read", e)),
            }
            return Ok(());
        }
    }

    /// Consumes whole lines up to `end`, or until `out` is full.
    fn parse(&mut self, end: usize, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        if self.in_long_line {
            let rest = &self.buf[self.at..end];
            self.at += rest.iter().position(|&b| b == b'\n').map_or(rest.len(), |n| n + 1);
            self.in_long_line = false;
            self.line += 1;
            self.skipped.other += 1;
        }
        while self.at < end && out.len() < limit {
            let text = &self.buf[self.at..end];
            if let Some((reference, length)) = fast(text) {
                self.line += 1;
                self.at += length;
                out.push(with_pc(reference, &mut self.pc));
                continue;
            }
            let length = text.iter().position(|&b| b == b'\n').map_or(text.len(), |n| n + 1);
            let line = &text[..length];
            self.line += 1;
            match classify(line) {
                Line::Record(reference) => out.push(with_pc(reference, &mut self.pc)),
                Line::Valgrind => self.skipped.valgrind += 1,
                Line::Superblock => self.skipped.superblocks += 1,
                Line::Blank => {}
                Line::Other => self.skipped.other += 1,
                Line::Broken(why) => {
                    return Err(TraceError::BrokenLine(Fault::new(
                        Place::line(&self.name, self.line),
                        format!("`{}` ({why})", shorten(String::from_utf8_lossy(line).trim_end())),
                        format!("a hexadecimal address below 2^64, a comma, a decimal size of 1 to {MAX_SIZE}"),
                        "mend or delete that line, as in ` L 1ffefffe80,8`",
                    )));
                }
            }
            self.at += length;
        }
        Ok(())
    }
}

impl<R: Read + Send> super::Reader for Reader<R> {
    fn next_chunk(&mut self, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        Reader::next_chunk(self, limit, out)
    }

    fn notices(&self) -> Vec<String> {
        Reader::notices(self)
    }
}

fn lines(n: u64) -> String {
    if n == 1 { "1 line".into() } else { format!("{n} lines") }
}

fn with_pc(mut reference: Reference, pc: &mut u64) -> Reference {
    if reference.kind == Kind::Fetch {
        *pc = reference.addr;
    }
    reference.pc = *pc;
    reference
}

/// Whether text that starts so holds lackey records: one record, or Valgrind's own banner of this tool.
pub(in crate::trace) fn looks_like(head: &[u8]) -> bool {
    let record = |line: &[u8]| matches!(classify(line), Line::Record(_) | Line::Broken(_));
    let banner = |line: &[u8]| line.starts_with(b"==") && line.windows(6).any(|w| w == b"Lackey");
    !head.contains(&0) && head.split(|&b| b == b'\n').any(|line| record(line) || banner(line))
}

/// What one line is.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Record(Reference),
    Valgrind,
    Superblock,
    Blank,
    Other,
    /// A record attempt that fails, and why.
    Broken(&'static str),
}

/// 0 to 15 for a hexadecimal digit, 0xff for any other byte.
const HEX: [u8; 256] = {
    let mut table = [0xff; 256];
    let mut digit = 0u8;
    while digit < 10 {
        table[(b'0' + digit) as usize] = digit;
        digit += 1;
    }
    while digit < 16 {
        table[(b'a' + digit - 10) as usize] = digit;
        table[(b'A' + digit - 10) as usize] = digit;
        digit += 1;
    }
    table
};

/// The record at the start of `text`, and the length of its line, where it is written just as lackey writes it and
/// nothing about it needs care. `None` leaves the line to [`classify`].
#[inline]
fn fast(text: &[u8]) -> Option<(Reference, usize)> {
    let (kind, mut at) = match text.get(..3)? {
        b"I  " => (Kind::Fetch, 3),
        b" L " => (Kind::Read, 3),
        b" S " => (Kind::Write, 3),
        b" M " => (Kind::Modify, 3),
        _ => return None,
    };
    let start = at;
    let mut addr = 0u64;
    loop {
        let digit = HEX[usize::from(*text.get(at)?)];
        if digit > 15 {
            break;
        }
        addr = (addr << 4) | u64::from(digit);
        at += 1;
    }
    // 15 digits cannot overflow, nor can the largest size added to them.
    if at == start || at - start > 15 || text[at] != b',' {
        return None;
    }
    let first = at + 1;
    at = first;
    let mut size = 0u32;
    loop {
        let digit = text.get(at)?.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        size = size.wrapping_mul(10).wrapping_add(u32::from(digit));
        at += 1;
    }
    let plain = text[at] == b'\n' && (1..=6).contains(&(at - first)) && size > 0;
    plain.then(|| (Reference { addr, pc: 0, size, core: 0, lane: NO_LANE, kind }, at + 1))
}

/// Judges a line of any kind, with or without its newline.
fn classify(line: &[u8]) -> Line {
    let line = line.trim_ascii_end();
    if line.is_empty() {
        return Line::Blank;
    }
    if [b"==", b"--", b"**"].iter().any(|mark| line.starts_with(*mark)) && line.get(2).is_some_and(u8::is_ascii_digit) {
        return Line::Valgrind;
    }
    let line = line.trim_ascii_start();
    let Some((&letter, rest)) = line.split_first() else { return Line::Blank };
    if line.starts_with(b"SB ") && rest[1..].trim_ascii().iter().all(|&b| HEX[usize::from(b)] < 16) {
        return Line::Superblock;
    }
    let kind = match letter {
        b'I' => Kind::Fetch,
        b'L' => Kind::Read,
        b'S' => Kind::Write,
        b'M' => Kind::Modify,
        _ => return Line::Other,
    };
    if !rest.first().is_some_and(u8::is_ascii_whitespace) {
        return Line::Other;
    }
    let word = rest.trim_ascii_start();
    let digits = word.strip_prefix(b"0x").or(word.strip_prefix(b"0X")).unwrap_or(word);
    let attempt = !word.iter().any(u8::is_ascii_whitespace)
        && (word.contains(&b',') || digits.iter().all(|&b| HEX[usize::from(b)] < 16));
    if !attempt {
        return Line::Other;
    }
    match record(kind, digits) {
        Ok(reference) => Line::Record(reference),
        Err(why) => Line::Broken(why),
    }
}

fn record(kind: Kind, word: &[u8]) -> Result<Reference, &'static str> {
    let comma = word.iter().position(|&b| b == b',').ok_or("no comma and size")?;
    let (address, size) = (&word[..comma], &word[comma + 1..]);
    if address.is_empty() {
        return Err("no address");
    }
    let mut addr = 0u64;
    for &b in address {
        let digit = HEX[usize::from(b)];
        if digit > 15 {
            return Err("the address is not hexadecimal");
        }
        if addr >> 60 != 0 {
            return Err("the address is longer than 64 bits");
        }
        addr = (addr << 4) | u64::from(digit);
    }
    if size.is_empty() {
        return Err("no size");
    }
    if !size.iter().all(u8::is_ascii_digit) {
        return Err("the size is not a decimal number");
    }
    let size = size.iter().fold(0u64, |n, b| n.saturating_mul(10).saturating_add(u64::from(b - b'0')));
    let size = match u32::try_from(size) {
        Ok(0) => return Err("a size of 0 touches nothing"),
        Ok(size) if size <= MAX_SIZE => size,
        _ => return Err("no instruction touches so many bytes"),
    };
    if addr.checked_add(u64::from(size) - 1).is_none() {
        return Err("it passes the end of the address space");
    }
    Ok(Reference { addr, pc: 0, size, core: 0, lane: NO_LANE, kind })
}
