//! Extended din, the default of Dinero IV (`xdinfmt.c`, 1998): din with letters for labels, and sizes.
//!
//! ```text
//! r 7fff12a0 8            read of 8 bytes
//! w 7fff12a0 10 spilled   write of 16 bytes: the size is hexadecimal too; what follows is a comment
//! i 400a3c 4              instruction fetch
//! m 7fff0000 4            m miscellaneous, c copy-back, v invalidate: counted and skipped
//! ```
//!
//! Letters may be capitals. A line of one such letter, a blank and a word is a record attempt.
//!
//! `W 7ffe1000 8` might be Pin's too, where sizes are decimal: addresses there start with `0x`, here they need not. A text
//! without `0x` is taken for extended din; `--format pin` says otherwise.

use super::number::{self, WINDOW, as_size, hex, hex_until, short_until};
use super::text::{Grammar, Line, Words, counted, push, sample};
use crate::reference::{Kind, NO_LANE, Reference};
use crate::trace::native::MAX_SIZE;
use std::borrow::Cow;

#[derive(Default)]
pub(super) struct Xdin {
    /// Records of m, c and v.
    passed: u64,
}

/// By the first byte of a line: whether it is one of the usual letters, and the kind. A table, not a branch: what comes
/// next is hard to foresee.
const KINDS: [(bool, Kind); 256] = {
    let mut table = [(false, Kind::Read); 256];
    table[b'r' as usize] = (true, Kind::Read);
    table[b'w' as usize] = (true, Kind::Write);
    table[b'i' as usize] = (true, Kind::Fetch);
    table
};

impl Grammar for Xdin {
    const WORDS: Words = Words {
        tool: "Dinero",
        example: "r 7fff12a0 8",
        expected: "one of the letters r w i m c v, a hexadecimal address below 2^64, a hexadecimal size of 1 to 100000",
        remedy: "check that it is Dinero's extended text; digits for labels are --format din",
    };

    #[inline]
    fn fast(&mut self, window: &[u8; WINDOW]) -> Option<(Reference, usize)> {
        let (known, kind) = KINDS[usize::from(window[0])];
        let (addr, blank) = hex_until(window, 2, b' ')?;
        let (size, newline) = short_until::<16>(window, blank + 1, b'\n')?;
        if !known || window[1] != b' ' || size == 0 || size > MAX_SIZE {
            return None;
        }
        Some((Reference { addr, pc: 0, size, core: 0, lane: NO_LANE, kind }, newline + 1))
    }

    fn line(&mut self, line: &[u8], out: &mut Vec<Reference>) -> Line {
        let Some(attempt) = Attempt::of(line) else {
            return if line.trim_ascii().is_empty() { Line::Blank } else { Line::Other };
        };
        match (attempt.kind, attempt.reference()) {
            (None, Ok(_)) => {
                self.passed += 1;
                Line::Tool
            }
            (_, record) => push(record, out),
        }
    }

    fn notices(&self) -> Vec<String> {
        let records = counted(self.passed, "record");
        let notice = || format!("skipped {records} of letters m, c and v (miscellaneous, copy-back, invalidate)");
        (self.passed > 0).then(notice).into_iter().collect()
    }
}

/// A line that tries to be a record.
struct Attempt<'a> {
    /// `None` for m, c and v.
    kind: Option<Kind>,
    addr: &'a [u8],
    size: &'a [u8],
}

impl<'a> Attempt<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let kind = match words.next()? {
            b"r" | b"R" => Some(Kind::Read),
            b"w" | b"W" => Some(Kind::Write),
            b"i" | b"I" => Some(Kind::Fetch),
            b"m" | b"M" | b"c" | b"C" | b"v" | b"V" => None,
            _ => return None,
        };
        Some(Self { kind, addr: words.next()?, size: words.next().unwrap_or_default() })
    }

    fn reference(&self) -> Result<Reference, Cow<'static, str>> {
        let addr = hex(self.addr).map_err(|bad| bad.of("address"))?;
        let size = hex(self.size);
        if size == Err(number::Bad::NotHex) {
            return Err(number::Bad::NotHex.of("size"));
        }
        number::reference(self.kind.unwrap_or(Kind::Read), addr, as_size(size)?)
    }
}

/// Whether every line that text starts with is a record, and some address lacks `0x`.
pub(super) fn looks_like(head: &[u8]) -> bool {
    let mut bare = false;
    let all = sample(head).all(|line| {
        let attempt = Attempt::of(line).filter(|attempt| attempt.reference().is_ok());
        bare |= attempt.as_ref().is_some_and(|attempt| !attempt.addr.starts_with(b"0x"));
        attempt.is_some()
    });
    all && bare
}
