//! gem5's packet traces as text: what `util/decode_packet_trace.py` makes of them.
//!
//! ```text
//! r,140737488347072,8,500              command, address, size, tick
//! w,4202496,4,2,1000                   flags before the tick
//! 17,r,4202500,4,256,1500,4198400      packet number first; pc last
//! u,0,64,0,2000                        any other command: counted and skipped
//! ```
//!
//! Everything is **decimal**, addresses too. Four numbers after the command are read with flags, which gem5's own probes
//! always record, and without a pc. A read with the flag 256 (`Request::INST_FETCH`) is an instruction fetch. Ticks are
//! not kept: order is what counts here.

use super::number::{self, as_size, decimal};
use super::text::{Grammar, Line, Words, counted, push, sample};
use crate::reference::{Kind, Reference};
use std::borrow::Cow;

/// `Request::INST_FETCH` of `src/mem/request.hh`.
const FETCH: u64 = 0x100;

#[derive(Default)]
pub(super) struct Gem5 {
    /// Packets of command `u`.
    passed: u64,
}

impl Grammar for Gem5 {
    const WORDS: Words = Words {
        tool: "gem5",
        example: "r,140737488347072,8,2,500",
        expected: "[packet,]command,address,size[,flags],tick[,pc]: r, w or u, and decimal numbers",
        remedy: "make it with util/decode_packet_trace.py of gem5",
    };

    fn line(&mut self, line: &[u8], out: &mut Vec<Reference>) -> Line {
        match attempt(line) {
            None if line.trim_ascii().is_empty() => Line::Blank,
            None => Line::Other,
            Some(Ok(None)) => {
                self.passed += 1;
                Line::Tool
            }
            Some(Ok(Some(reference))) => push(Ok(reference), out),
            Some(Err(why)) => Line::Broken(why),
        }
    }

    fn notices(&self) -> Vec<String> {
        let packets = counted(self.passed, "packet");
        let notice = || format!("skipped {packets} that are neither plain reads nor plain writes (command u)");
        (self.passed > 0).then(notice).into_iter().collect()
    }
}

/// A record (`None` for command `u`), a record attempt that fails and why, or `None` for anything else. An attempt has
/// the command as its first field, or as its second after a number.
fn attempt(line: &[u8]) -> Option<Result<Option<Reference>, Cow<'static, str>>> {
    let mut fields = line.split(|&b| b == b',').map(<[u8]>::trim_ascii);
    let mut command = fields.next()?;
    if decimal(command).is_ok() {
        command = fields.next()?;
    }
    let kind = match command {
        b"r" => Some(Kind::Read),
        b"w" => Some(Kind::Write),
        b"u" => None,
        _ => return None,
    };
    // Address, size, then up to three more; a place more, to see that there is none.
    let mut rest = [&[][..]; 6];
    let mut count = 0;
    for field in fields {
        *rest.get_mut(count)? = field;
        count += 1;
    }
    if count == 0 {
        return None;
    }
    Some(record(kind, &rest[..count]))
}

fn record(kind: Option<Kind>, fields: &[&[u8]]) -> Result<Option<Reference>, Cow<'static, str>> {
    let number =
        |at: usize, what: &str| decimal(fields.get(at).copied().unwrap_or_default()).map_err(|bad| bad.of(what));
    let addr = number(0, "address")?;
    let size = as_size(decimal(fields.get(1).copied().unwrap_or_default()))?;
    let (flags, pc) = match fields.len() {
        0..=3 => {
            number(2, "tick")?;
            (0, 0)
        }
        4 => {
            number(3, "tick")?;
            (number(2, "flags")?, 0)
        }
        5 => {
            number(3, "tick")?;
            (number(2, "flags")?, number(4, "pc")?)
        }
        _ => return Err("more fields than a packet has".into()),
    };
    let Some(kind) = kind else { return Ok(None) };
    let fetch = kind == Kind::Read && flags & FETCH != 0;
    let mut reference = number::reference(if fetch { Kind::Fetch } else { kind }, addr, size)?;
    reference.pc = if fetch && pc == 0 { addr } else { pc };
    Ok(Some(reference))
}

/// Whether every line that text starts with is a packet.
pub(super) fn looks_like(head: &[u8]) -> bool {
    let mut lines = sample(head).peekable();
    lines.peek().is_some() && lines.all(|line| matches!(attempt(line), Some(Ok(_))))
}
