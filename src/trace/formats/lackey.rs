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

use super::number::{self, WINDOW, as_size, decimal, hex, hex_until, is_hex, short_until};
use super::text::{Grammar, Line, Text, Words, push};
use crate::reference::{Kind, NO_LANE, Reference};
use crate::trace::error::TraceError;
use std::borrow::Cow;
use std::io::Read;

/// Reads references from lackey text, in order, holding one block of it.
pub struct Reader<R>(Text<Lackey, R>);

impl<R: Read> Reader<R> {
    /// `name` is what messages call the input.
    pub fn new(name: impl Into<String>, input: R) -> Self {
        Self(Text::new(Lackey::default(), name, input))
    }

    /// Replaces `out` by the next references: at least one and about `limit` at most, or none at the end.
    ///
    /// # Errors
    /// On a broken line (with its number), on damaged packed data, on a failing read, and at the end of a text that held no
    /// references at all.
    pub fn next_chunk(&mut self, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        self.0.next_chunk(limit, out)
    }

    /// Sentences for the user about what was skipped or lost; complete once the end is reached.
    pub fn notices(&self) -> Vec<String> {
        self.0.notices()
    }
}

/// The last `I` line's address is the pc of what follows.
#[derive(Default)]
pub(super) struct Lackey {
    pc: u64,
}

impl Lackey {
    fn with_pc(&mut self, mut reference: Reference) -> Reference {
        // A choice between values, not a branch: which lines are fetches is hard to foresee.
        self.pc = if reference.kind == Kind::Fetch { reference.addr } else { self.pc };
        reference.pc = self.pc;
        reference
    }
}

/// By the second byte of a line: the first byte that goes with it, and the kind. The third is a blank.
const KINDS: [(u8, Kind); 256] = {
    // No line starts with a newline: what is not set goes with nothing.
    let mut table = [(b'\n', Kind::Read); 256];
    table[b' ' as usize] = (b'I', Kind::Fetch);
    table[b'L' as usize] = (b' ', Kind::Read);
    table[b'S' as usize] = (b' ', Kind::Write);
    table[b'M' as usize] = (b' ', Kind::Modify);
    table
};

impl Grammar for Lackey {
    const WORDS: Words = Words {
        tool: "Valgrind",
        example: " L 1ffefffe80,8",
        expected: "a hexadecimal address below 2^64, a comma, a decimal size of 1 to 1048576",
        remedy: "record with valgrind --tool=lackey --trace-mem=yes",
    };

    #[inline]
    fn fast(&mut self, window: &[u8; WINDOW]) -> Option<(Reference, usize)> {
        let (first, kind) = KINDS[usize::from(window[1])];
        let (addr, comma) = hex_until(window, 3, b',')?;
        let (size, newline) = short_until::<10>(window, comma + 1, b'\n')?;
        if window[0] != first || window[2] != b' ' || size == 0 || first == b'\n' {
            return None;
        }
        Some((self.with_pc(Reference { addr, pc: 0, size, core: 0, lane: NO_LANE, kind }), newline + 1))
    }

    fn line(&mut self, line: &[u8], out: &mut Vec<Reference>) -> Line {
        match classify(line) {
            Ok(record) => push(record.map(|reference| self.with_pc(reference)), out),
            Err(line) => line,
        }
    }
}

/// Whether text that starts so holds lackey records: one record, or Valgrind's own banner of this tool.
pub(in crate::trace) fn looks_like(head: &[u8]) -> bool {
    let banner = |line: &[u8]| line.starts_with(b"==") && line.windows(6).any(|w| w == b"Lackey");
    !head.contains(&0) && head.split(|&b| b == b'\n').any(|line| classify(line).is_ok() || banner(line))
}

/// A line that is a record or tries to be one; otherwise what it is.
fn classify(line: &[u8]) -> Result<Result<Reference, Cow<'static, str>>, Line> {
    let line = line.trim_ascii_end();
    if line.is_empty() {
        return Err(Line::Blank);
    }
    if [b"==", b"--", b"**"].iter().any(|mark| line.starts_with(*mark)) && line.get(2).is_some_and(u8::is_ascii_digit) {
        return Err(Line::Tool);
    }
    let line = line.trim_ascii_start();
    let Some((&letter, rest)) = line.split_first() else { return Err(Line::Blank) };
    if line.starts_with(b"SB ") && rest[1..].trim_ascii().iter().all(|&b| is_hex(b)) {
        return Err(Line::Tool);
    }
    let kind = match letter {
        b'I' => Kind::Fetch,
        b'L' => Kind::Read,
        b'S' => Kind::Write,
        b'M' => Kind::Modify,
        _ => return Err(Line::Other),
    };
    if !rest.first().is_some_and(u8::is_ascii_whitespace) {
        return Err(Line::Other);
    }
    let word = rest.trim_ascii_start();
    let digits = word.strip_prefix(b"0x").or(word.strip_prefix(b"0X")).unwrap_or(word);
    let attempt =
        !word.iter().any(u8::is_ascii_whitespace) && (word.contains(&b',') || digits.iter().all(|&b| is_hex(b)));
    if attempt { Ok(record(kind, word)) } else { Err(Line::Other) }
}

fn record(kind: Kind, word: &[u8]) -> Result<Reference, Cow<'static, str>> {
    let comma = word.iter().position(|&b| b == b',').ok_or("no comma and size")?;
    let addr = hex(&word[..comma]).map_err(|bad| bad.of("address"))?;
    number::reference(kind, addr, as_size(decimal(&word[comma + 1..]))?)
}
