//! What all text formats have in common: blocks of whole lines, what is skipped, and how a text ends.
//!
//! A format is a [`Grammar`]: it reads one line. [`Text`] gives it lines without their newline, however long the text is and
//! however its bytes arrive: lines end in LF or CR LF, the last one may lack its end, a line longer than a block is nobody's
//! record, and bytes need not be UTF-8. A line that tries to be a record and fails ends the reading with its number; what is
//! no record at all is counted, and the count is told.

use super::number::WINDOW;
use super::{Input, Opened};
use crate::reference::{Reference, Tables};
use crate::trace::error::{Fault, Place, TraceError, shorten};
use crate::trace::packed::PackedError;
use std::borrow::Cow;
use std::io::{self, Read};

/// Bytes read at a time. A line longer than this is no record.
const BLOCK: usize = 256 << 10;

/// Lines of a text that [`sample`] gives.
const SAMPLE: usize = 200;

/// What one line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// References: they are in `out` now.
    Records,
    /// The tool's own, as in every trace of its kind, or a record that is no reference and that the grammar counts itself.
    Tool,
    /// Nothing.
    Blank,
    /// Somebody else's text.
    Other,
    /// A record attempt that fails, and why.
    Broken(Cow<'static, str>),
}

impl From<Result<Reference, Cow<'static, str>>> for Line {
    /// For use with [`push`].
    fn from(record: Result<Reference, Cow<'static, str>>) -> Self {
        match record {
            Ok(_) => Self::Records,
            Err(why) => Self::Broken(why),
        }
    }
}

/// Adds the reference of a line that holds one.
pub(super) fn push(record: Result<Reference, Cow<'static, str>>, out: &mut Vec<Reference>) -> Line {
    out.extend(record.as_ref().ok());
    record.into()
}

/// How messages speak of a format.
pub(super) struct Words {
    /// Whose lines are [`Line::Tool`]: `Valgrind`.
    pub(super) tool: &'static str,
    /// One record.
    pub(super) example: &'static str,
    /// What a record is made of: `a hexadecimal address, a comma, a decimal size`.
    pub(super) expected: &'static str,
    /// Where to get such a trace: an imperative.
    pub(super) remedy: &'static str,
}

/// A text format.
pub(super) trait Grammar: Send {
    /// How messages speak of it.
    const WORDS: Words;

    /// References that one line makes at most.
    const PER_LINE: usize = 1;

    /// The reference of the line that the window starts with, and the line's length with its newline, where it is written
    /// just as the tool writes it and nothing about it needs care. It must not look past the first newline: what follows
    /// may be anything. `None` leaves the line to [`Grammar::line`].
    #[inline]
    fn fast(&mut self, _window: &[u8; WINDOW]) -> Option<(Reference, usize)> {
        None
    }

    /// Judges a line of any kind, without its newline, and adds its references to `out`.
    fn line(&mut self, line: &[u8], out: &mut Vec<Reference>) -> Line;

    /// What the user must know beside what was skipped or lost, without the name of the file.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the text says of regions, marks and itself.
    fn tables(&self) -> Tables {
        Tables::default()
    }
}

/// Why the text ended before its end.
enum Cut {
    /// What unpacks it says so.
    Stream(String),
    /// The last line is half a record.
    Line(String),
}

/// Reads references from text, in order, holding one block of it.
pub(super) struct Text<G, R> {
    grammar: G,
    input: R,
    name: String,
    /// A block, and a window more, so that there is a window at its last byte.
    buf: Vec<u8>,
    /// Bytes of `buf` consumed, and bytes of `buf` that are filled.
    at: usize,
    filled: usize,
    /// Lines consumed.
    line: u64,
    /// References given.
    read: u64,
    /// Lines of the tool and of others.
    tool: u64,
    other: u64,
    cut: Option<Cut>,
    ended: bool,
    /// Within a line too long for `buf`.
    in_long_line: bool,
}

/// Opens an input as text of this grammar.
pub(super) fn open(grammar: impl Grammar + 'static, input: Input) -> Opened {
    Opened::Once(Box::new(Text::new(grammar, input.name, input.bytes)))
}

impl<G: Grammar, R: Read> Text<G, R> {
    /// `name` is what messages call the input.
    pub(super) fn new(grammar: G, name: impl Into<String>, input: R) -> Self {
        Self {
            grammar,
            input,
            name: name.into(),
            buf: vec![0; BLOCK + WINDOW],
            at: 0,
            filled: 0,
            line: 0,
            read: 0,
            tool: 0,
            other: 0,
            cut: None,
            ended: false,
            in_long_line: false,
        }
    }

    /// Replaces `out` by the next references: at least one and about `limit` at most, or none at the end.
    ///
    /// # Errors
    /// On a broken line (with its number), on damaged packed data, on a failing read, and at the end of a text that held
    /// no references at all.
    pub(super) fn next_chunk(&mut self, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        out.clear();
        let limit = (limit + 1).saturating_sub(G::PER_LINE).max(1);
        while out.len() < limit {
            match self.whole_lines() {
                Some(end) => self.parse(end, limit, out)?,
                None if self.ended => {
                    self.last_line(out);
                    break;
                }
                None => self.fill()?,
            }
        }
        self.read += out.len() as u64;
        if self.read == 0 {
            return Err(self.empty());
        }
        Ok(())
    }

    /// Sentences for the user about what was skipped or lost; complete once the end is reached.
    pub(super) fn notices(&self) -> Vec<String> {
        let mut notices = self.grammar.notices();
        if self.other > 0 {
            let lines = counted(self.other, "line");
            notices.push(format!("skipped {lines} that are no references (the program's own output?)"));
        }
        let whole = counted(self.read, "reference");
        match &self.cut {
            Some(Cut::Stream(what)) => {
                notices.push(format!("{what}; kept the {whole} before that (up to line {})", self.line));
            }
            Some(Cut::Line(text)) => {
                notices.push(format!("the last line is cut short (`{}`); kept the {whole} before it", shorten(text)));
            }
            None => {}
        }
        notices.into_iter().map(|notice| format!("{}: {notice}", self.name)).collect()
    }

    fn empty(&self) -> TraceError {
        let found = match &self.cut {
            Some(Cut::Stream(what)) => format!("no whole reference ({what})"),
            Some(Cut::Line(text)) => format!("no whole reference, only `{}`", shorten(text)),
            None if self.tool + self.other == 0 => "no references".to_owned(),
            None => format!(
                "no references, only {} of {}'s and {} of other text",
                counted(self.tool, "line"),
                G::WORDS.tool,
                counted(self.other, "line")
            ),
        };
        TraceError::Empty(Fault::new(
            Place::file(&self.name),
            found,
            format!("at least one line such as `{}`", G::WORDS.example),
            G::WORDS.remedy,
        ))
    }

    fn broken(&self, line: &[u8], why: &str) -> TraceError {
        TraceError::BrokenLine(Fault::new(
            Place::line(&self.name, self.line),
            format!("`{}` ({why})", shorten(String::from_utf8_lossy(line).trim_end())),
            G::WORDS.expected,
            format!("mend or delete that line, as in `{}`", G::WORDS.example),
        ))
    }

    /// One past the last newline among the bytes not yet consumed.
    fn whole_lines(&self) -> Option<usize> {
        self.buf[self.at..self.filled].iter().rposition(|&b| b == b'\n').map(|newline| self.at + newline + 1)
    }

    /// Consumes the bytes after the last newline of the text: a whole line without its newline, or the torn half of one.
    fn last_line(&mut self, out: &mut Vec<Reference>) {
        let text = &self.buf[self.at..self.filled];
        self.at = self.filled;
        if std::mem::take(&mut self.in_long_line) {
            self.other += 1;
            return;
        }
        // After a cut it is torn, even where it looks whole.
        if text.is_empty() || self.cut.is_some() {
            return;
        }
        let before = out.len();
        let line = self.grammar.line(text, out);
        if matches!(line, Line::Broken(_)) {
            out.truncate(before);
            self.cut = Some(Cut::Line(String::from_utf8_lossy(text).into_owned()));
            return;
        }
        self.line += 1;
        self.tool += u64::from(line == Line::Tool);
        self.other += u64::from(line == Line::Other);
    }

    /// Moves what is left to the front and reads more behind it.
    fn fill(&mut self) -> Result<(), TraceError> {
        self.buf.copy_within(self.at..self.filled, 0);
        self.filled -= self.at;
        self.at = 0;
        if self.filled == BLOCK {
            // No newline in a whole block: output of a program. Drop it and go on to the newline.
            self.filled = 0;
            self.in_long_line = true;
        }
        loop {
            match self.input.read(&mut self.buf[self.filled..BLOCK]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => match PackedError::of(&e) {
                    Some(packed @ PackedError::Cut(_)) => self.cut = Some(Cut::Stream(packed.to_string())),
                    Some(packed) => return Err(packed.fault(Place::line(&self.name, self.line + 1))),
                    None if e.kind() == io::ErrorKind::UnexpectedEof => {
                        self.cut = Some(Cut::Stream("the stream is cut short".into()));
                    }
                    None => return Err(TraceError::io(&self.name, "the trace cannot be read", e)),
                },
            }
            self.ended |= self.cut.is_some();
            break;
        }
        if self.line == 0 && self.buf[..self.filled].starts_with(MARK) {
            self.at = MARK.len();
        }
        Ok(())
    }

    /// Consumes whole lines up to `end`, or until `out` is full.
    fn parse(&mut self, end: usize, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        if std::mem::take(&mut self.in_long_line) {
            let rest = &self.buf[self.at..end];
            self.at += rest.iter().position(|&b| b == b'\n').map_or(rest.len(), |n| n + 1);
            self.line += 1;
            self.other += 1;
        }
        let (mut at, mut lines) = (self.at, self.line);
        while at < end && out.len() < limit {
            let window = self.buf.get(at..).and_then(|rest| rest.first_chunk());
            if let Some((reference, length)) = window.and_then(|window| self.grammar.fast(window)) {
                out.push(reference);
                at += length;
                lines += 1;
                continue;
            }
            let text = &self.buf[at..end];
            let length = text.iter().position(|&b| b == b'\n').unwrap_or(text.len());
            let line = &text[..length];
            at += length + 1;
            lines += 1;
            match self.grammar.line(line, out) {
                Line::Records | Line::Blank => {}
                Line::Tool => self.tool += 1,
                Line::Other => self.other += 1,
                Line::Broken(why) => {
                    self.line = lines;
                    return Err(self.broken(line, &why));
                }
            }
        }
        (self.at, self.line) = (at, lines);
        Ok(())
    }
}

impl<G: Grammar, R: Read + Send> super::Reader for Text<G, R> {
    fn next_chunk(&mut self, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        Text::next_chunk(self, limit, out)
    }

    fn notices(&self) -> Vec<String> {
        Text::notices(self)
    }

    fn tables(&self) -> Tables {
        self.grammar.tables()
    }
}

/// `1 line`, `2 lines`.
pub(super) fn counted(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// The mark of UTF-8, which some editors put first.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The first whole lines of a text that are not blank, trimmed, for telling its format; none where it is no text.
pub(super) fn sample(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = if head.contains(&0) { &[] } else { head.strip_prefix(MARK).unwrap_or(head) };
    // A torn line says little, unless there is no other.
    let whole = text.iter().rposition(|&b| b == b'\n').map_or(text, |newline| &text[..newline]);
    whole.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()).take(SAMPLE)
}

/// A word in small letters, within `space`; nothing where it is longer than any word that counts.
pub(super) fn lower<'a>(word: &[u8], space: &'a mut [u8; 8]) -> &'a [u8] {
    let Some(space) = space.get_mut(..word.len()) else { return &[] };
    space.copy_from_slice(word);
    space.make_ascii_lowercase();
    space
}
