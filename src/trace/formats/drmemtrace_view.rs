//! Text of DynamoRIO's `drrun -t drmemtrace -tool view` (`clients/drcachesim/tools/view.cpp`), which goes to standard error.
//!
//! ```text
//! Output format:
//! <--record#-> <--instr#->: <---tid---> <record details>
//! ------------------------------------------------------------
//!            1           0:        4711 <marker: version 7>
//!           12           1:        4711 ifetch       3 byte(s) @ 0x00007f9c5aed9ba3 48 89 e7   mov    %rsp, %rdi
//!           13           1:        4711 write        8 byte(s) @ 0x00007ffd5b9a4f78 by PC 0x00007f9c5aed9ba6
//! ------------------------------------------------------------
//!           14           2: W0.T4712    read         4 byte(s) @ 0x00007ffd5b9a4f78 by PC 0x00007f9c5aed9ba6
//! ```
//!
//! A line of two numbers, a colon and a thread is a record; one with `byte(s) @` that fails is broken. Markers, rules and
//! headers are the tool's; prefetches, cache flushes and instructions that are not fetched
//! again (`rep` strings) are counted and skipped. Threads become cores.

use super::cores::Cores;
use super::number::{self, as_size, decimal, hex};
use super::text::{Grammar, Line, Words, counted, push, sample};
use crate::reference::{Kind, Reference};
use std::borrow::Cow;

pub(super) struct View {
    threads: Cores,
    /// Prefetches, flushes, rounds of a repeated instruction.
    hints: u64,
}

impl Default for View {
    fn default() -> Self {
        Self { threads: Cores::of("thread"), hints: 0 }
    }
}

impl Grammar for View {
    const WORDS: Words = Words {
        tool: "drmemtrace",
        example: "13  1:  4711 write  8 byte(s) @ 0x00007ffd5b9a4f78 by PC 0x00007f9c5aed9ba6",
        expected: "two decimal numbers, a colon, a thread, a kind, a size, `byte(s) @`, a hexadecimal address below 2^64",
        remedy: "make it with drrun -t drmemtrace -tool view -indir DIR 2> FILE",
    };

    fn line(&mut self, line: &[u8], out: &mut Vec<Reference>) -> Line {
        let line = line.trim_ascii();
        let rule = |line: &[u8]| line.iter().all(|&b| b == b'-');
        let header = |line: &[u8]| line.starts_with(b"Output format:") || line.starts_with(b"<--record#");
        let Some(record) = Record::of(line) else {
            return match line {
                [] => Line::Blank,
                line if rule(line) || header(line) || line.starts_with(b"View tool results:") => Line::Tool,
                line if line.windows(9).any(|w| w == b"byte(s) @") => {
                    Line::Broken("no record number and thread".into())
                }
                _ => Line::Other,
            };
        };
        let kind = match record.kind {
            b"ifetch" => Kind::Fetch,
            b"read" => Kind::Read,
            b"write" => Kind::Write,
            // <marker: ...>
            word if word.starts_with(b"<") => return Line::Tool,
            // Disassembly on a line of its own has no size and address; prefetches, flushes and the rounds of a repeated
            // string instruction, which is fetched once, have.
            _ => {
                self.hints += u64::from(record.details().is_some());
                return Line::Tool;
            }
        };
        let reference = record.reference(kind);
        let with_core = reference.and_then(|r| Ok(Reference { core: self.threads.core(record.thread)?, ..r }));
        push(with_core, out)
    }

    fn notices(&self) -> Vec<String> {
        let hints = counted(self.hints, "record");
        let hints = (self.hints > 0)
            .then(|| format!("skipped {hints} of prefetches, cache flushes and instructions not fetched"));
        self.threads.notice().into_iter().chain(hints).collect()
    }
}

/// A line with record number, instruction number and thread.
struct Record<'a> {
    thread: u64,
    /// The first word after the thread.
    kind: &'a [u8],
    /// What follows that word.
    rest: &'a [u8],
}

impl<'a> Record<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let (numbers, rest) = line.split_at(line.iter().position(|&b| b == b':')?);
        let mut numbers = numbers.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let two = decimal(numbers.next()?).is_ok() && decimal(numbers.next()?).is_ok() && numbers.next().is_none();
        let (thread, rest) = word(&rest[1..]);
        // `W0.T4711`: workload and thread.
        let digits = thread.iter().rposition(|&b| b == b'T').map_or(thread, |t| &thread[t + 1..]);
        let thread = decimal(digits).ok().filter(|_| two)?;
        let (kind, rest) = word(rest);
        Some(Self { thread, kind, rest })
    }

    /// The size's word and what follows `byte(s) @`.
    fn details(&self) -> Option<(&'a [u8], &'a [u8])> {
        let mark = b"byte(s) @";
        let at = self.rest.windows(mark.len()).position(|w| w == mark)?;
        let size = self.rest[..at].trim_ascii();
        // `non-fetched instr 3 byte(s)`: the size is the last word.
        let size = size.iter().rposition(u8::is_ascii_whitespace).map_or(size, |blank| &size[blank + 1..]);
        Some((size, &self.rest[at + mark.len()..]))
    }

    fn reference(&self, kind: Kind) -> Result<Reference, Cow<'static, str>> {
        let (size, rest) = self.details().ok_or("no size and address")?;
        let size = as_size(decimal(size))?;
        let (addr, rest) = word(rest);
        let addr = hex(addr).map_err(|bad| bad.of("address"))?;
        let mut reference = number::reference(kind, addr, size)?;
        reference.pc = match rest.trim_ascii_start().strip_prefix(b"by PC") {
            _ if kind == Kind::Fetch => addr,
            Some(pc) => hex(word(pc).0).map_err(|bad| bad.of("PC"))?,
            None => 0,
        };
        Ok(reference)
    }
}

/// The first word, and what follows it.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_start();
    text.split_at(text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len()))
}

/// Whether a line among the first is a record or a marker of that tool.
pub(super) fn looks_like(head: &[u8]) -> bool {
    sample(head).filter_map(Record::of).any(|r| r.kind.starts_with(b"<marker:") || r.details().is_some())
}
