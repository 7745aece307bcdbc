//! The classic text of Dinero (`dinfmt.c` of Dinero IV, 1998): what thirty years of course work is written in.
//!
//! ```text
//! 0 7fff12a0              label 0: read
//! 1 0x7fff12a4 spilled    label 1: write; what follows the address is a comment
//! 2 400a3c                label 2: instruction fetch
//! 3 7fff0000              3 miscellaneous, 4 copy-back, 5 invalidate: counted and skipped
//! ```
//!
//! Label and address are both hexadecimal. There are no sizes: as in Dinero each reference is the 4-byte word that its
//! address lies in. A line whose first word is one or two hexadecimal digits is a record attempt.

use super::number::{Bad, WINDOW, hex, hex_until, is_hex};
use super::text::{Grammar, Line, Words, counted, sample};
use crate::reference::{Kind, Reference};
use std::borrow::Cow;

/// Bytes of a word.
const WORD: u32 = 4;

#[derive(Default)]
pub(super) struct Din {
    /// Records of labels 3 to 5.
    passed: u64,
    /// Addresses within a word.
    inside: u64,
}

/// What a record is.
#[derive(Debug, PartialEq, Eq)]
enum Record {
    Reference(Kind, u64),
    /// Labels 3 to 5.
    Passed,
}

impl Din {
    #[inline]
    fn word(&mut self, kind: Kind, addr: u64) -> Reference {
        let start = addr & !u64::from(WORD - 1);
        self.inside += u64::from(start != addr);
        Reference::new(kind, start, WORD)
    }
}

impl Grammar for Din {
    const WORDS: Words = Words {
        tool: "Dinero",
        example: "0 7fff12a0",
        expected: "a label of 0 to 5, a blank, a hexadecimal address below 2^64",
        remedy: "check that it is Dinero's classic text; r, w and i for labels is --format xdin",
    };

    #[inline]
    fn fast(&mut self, window: &[u8; WINDOW]) -> Option<(Reference, usize)> {
        let kind = label(u64::from(window[0].wrapping_sub(b'0')))?;
        if window[1] != b' ' {
            return None;
        }
        let (addr, newline) = hex_until(window, 2, b'\n')?;
        Some((self.word(kind, addr), newline + 1))
    }

    fn line(&mut self, line: &[u8], out: &mut Vec<Reference>) -> Line {
        match record(line) {
            None if line.trim_ascii().is_empty() => Line::Blank,
            None => Line::Other,
            Some(Ok(Record::Reference(kind, addr))) => {
                let word = self.word(kind, addr);
                out.push(word);
                Line::Records
            }
            Some(Ok(Record::Passed)) => {
                self.passed += 1;
                Line::Tool
            }
            Some(Err(why)) => Line::Broken(why),
        }
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if self.passed > 0 {
            let records = counted(self.passed, "record");
            notices.push(format!("skipped {records} of labels 3 to 5 (miscellaneous, copy-back, invalidate)"));
        }
        if self.inside > 0 {
            let records = counted(self.inside, "record");
            notices.push(format!("{records} of an address inside a 4-byte word: the whole word counts, as in Dinero"));
        }
        notices
    }
}

/// The kind of labels 0 to 2.
fn label(number: u64) -> Option<Kind> {
    match number {
        0 => Some(Kind::Read),
        1 => Some(Kind::Write),
        2 => Some(Kind::Fetch),
        _ => None,
    }
}

/// A record, a record attempt that fails and why, or `None` for anything else.
fn record(line: &[u8]) -> Option<Result<Record, Cow<'static, str>>> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let first = words.next()?;
    let digits = first.strip_prefix(b"0x").unwrap_or(first);
    if digits.is_empty() || digits.len() > 2 || !digits.iter().all(|&b| is_hex(b)) {
        return None;
    }
    let number = hex(digits).unwrap_or(u64::MAX);
    let addr = hex(words.next().unwrap_or_default()).map_err(|bad: Bad| bad.of("address"));
    Some(match (addr, label(number)) {
        _ if number > 5 => Err("the label is none of 0 to 5".into()),
        (Err(why), _) => Err(why),
        (Ok(addr), Some(kind)) => Ok(Record::Reference(kind, addr)),
        (Ok(_), None) => Ok(Record::Passed),
    })
}

/// Whether every line that text starts with is a record.
pub(super) fn looks_like(head: &[u8]) -> bool {
    let mut lines = sample(head).peekable();
    lines.peek().is_some() && lines.all(|line| matches!(record(line), Some(Ok(_))))
}
