//! Text of NVBit's `mem_trace` tool (`tools/mem_trace/mem_trace.cu`): the addresses of a GPU's warps, lane by lane.
//!
//! ```text
//! MEMTRACE: CTX 0x000055d0 - LAUNCH - Kernel pc 0x7f.. - Kernel name vecadd(int*) - grid launch id 0 - grid size 2,1,1 - ...
//! MEMTRACE: CTX 0x000055d0 - grid_launch_id 0 - CTA 0,0,0 - warp 3 - LDG.E.64 - 0x00007f10 0x00007f18 ... (32 addresses)
//! ```
//!
//! A lane's address of 0 means that the lane is off. The width comes from the opcode: `.U8` and `.S8` are 1 byte, `.U16` and
//! `.S16` 2, `.64` 8, `.128` 16, anything else 4. Loads read, stores write, atomics and reductions modify. Shared and local
//! memory (`LDS`, `STS`, `LDL`, `STL`, ...) are not the memory that a cache hierarchy stands before: counted and skipped. A
//! launch is a mark. The tool gives no pc, and no multiprocessor: all is core 0. A line that starts with `MEMTRACE:` and has
//! an opcode and addresses must parse.

mod launch;

use super::number::{self, hex};
use super::text::{Grammar, Line, Words, counted, sample};
use crate::reference::{Kind, Mark, Reference, Tables};
use std::borrow::Cow;

pub(super) use launch::Launches;

/// Lanes of a warp.
const LANES: usize = 32;

/// Marks that are kept.
const MARKS: usize = 100_000;

/// Bytes of a kernel's name that are kept: templates make long ones.
const NAME: usize = 120;

#[derive(Default)]
pub(super) struct Nvbit {
    /// References given.
    read: u64,
    /// Instructions on shared or local memory.
    near: u64,
    marks: Vec<Mark>,
    /// Launches past [`MARKS`].
    unmarked: u64,
}

/// What a line says.
enum Record<'a> {
    Launch(&'a [u8]),
    Access(&'a [u8], &'a [u8]),
}

impl<'a> Record<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let rest = line.trim_ascii().strip_prefix(b"MEMTRACE:")?;
        if let Some(at) = find(rest, b"- LAUNCH -") {
            return Some(Self::Launch(&rest[at..]));
        }
        // Opcode and addresses are what the last two dashes part.
        let addresses = rest.windows(3).rposition(|w| w == b" - ")?;
        let opcode = rest[..addresses].windows(3).rposition(|w| w == b" - ")?;
        Some(Self::Access(&rest[opcode + 3..addresses], &rest[addresses + 3..]))
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|w| w == what)
}

/// What stands after a label, up to the next dash.
fn field(text: &[u8], label: &[u8]) -> Option<String> {
    let from = find(text, label)? + label.len();
    let rest = &text[from..];
    let value = rest[..find(rest, b" - ").unwrap_or(rest.len())].trim_ascii();
    Some(String::from_utf8_lossy(value).chars().filter(|c| !c.is_control()).take(NAME).collect())
}

/// What a launch calls its kernel.
fn kernel_name(text: &[u8]) -> String {
    field(text, b"Kernel name ").filter(|name| !name.is_empty()).unwrap_or_else(|| "kernel".into())
}

/// Kind and width in bytes; `None` for shared and local memory.
fn access(opcode: &[u8]) -> Result<Option<(Kind, u64)>, Cow<'static, str>> {
    let mut parts = opcode.split(|&b| b == b'.');
    let kind = match parts.next().unwrap_or_default() {
        b"LDS" | b"STS" | b"LDSM" | b"STSM" | b"ATOMS" | b"LDL" | b"STL" => return Ok(None),
        b"LD" | b"LDG" | b"LDGSTS" | b"LDC" => Kind::Read,
        b"ST" | b"STG" => Kind::Write,
        b"ATOM" | b"ATOMG" | b"RED" | b"REDG" => Kind::Modify,
        other => return Err(format!("unknown opcode {}", String::from_utf8_lossy(other)).into()),
    };
    let width = parts.find_map(|part| match part {
        b"U8" | b"S8" | b"8" => Some(1),
        b"U16" | b"S16" | b"16" => Some(2),
        b"64" | b"U64" | b"S64" | b"F64" => Some(8),
        b"128" => Some(16),
        _ => None,
    });
    Ok(Some((kind, width.unwrap_or(4))))
}

impl Nvbit {
    fn launch(&mut self, text: &[u8]) {
        if self.marks.len() == MARKS {
            self.unmarked += 1;
            return;
        }
        let field = |label: &[u8]| field(text, label);
        let name = kernel_name(text);
        let grid = field(b"grid size ").map(|grid| format!(" grid {grid}"));
        let block = field(b"block size ").map(|block| format!(" block {block}"));
        let name = format!("{name}{}{}", grid.unwrap_or_default(), block.unwrap_or_default());
        self.marks.push(Mark { reference: self.read, name });
    }

    fn access(&mut self, opcode: &[u8], addresses: &[u8], out: &mut Vec<Reference>) -> Result<(), Cow<'static, str>> {
        let access = access(opcode.trim_ascii())?;
        let before = out.len();
        let mut lane = 0u8;
        for word in addresses.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
            if usize::from(lane) == LANES {
                return Err("more than 32 addresses".into());
            }
            if !word.starts_with(b"0x") {
                return Err("an address without 0x".into());
            }
            let addr = hex(word).map_err(|bad| bad.of("address"))?;
            if let Some((kind, width)) = access.filter(|_| addr != 0) {
                out.push(Reference { lane, ..number::reference(kind, addr, width)? });
            }
            lane += 1;
        }
        if usize::from(lane) != LANES {
            return Err(format!("{} in place of 32", counted(u64::from(lane), "lane")).into());
        }
        self.near += u64::from(access.is_none());
        self.read += (out.len() - before) as u64;
        Ok(())
    }
}

impl Grammar for Nvbit {
    const WORDS: Words = Words {
        tool: "NVBit",
        example: "MEMTRACE: CTX 0x55d0 - CTA 0,0,0 - warp 3 - LDG.E - 0x7f10 0x7f14 ...",
        expected: "`MEMTRACE:`, fields between ` - `, a memory opcode, 32 hexadecimal addresses with 0x",
        remedy: "record with LD_PRELOAD=mem_trace.so PROGRAM",
    };

    const PER_LINE: usize = LANES;

    fn line(&mut self, line: &[u8], out: &mut Vec<Reference>) -> Line {
        let line = line.trim_ascii();
        match Record::of(line) {
            Some(Record::Launch(text)) => {
                self.launch(text);
                Line::Tool
            }
            Some(Record::Access(opcode, addresses)) => {
                let before = out.len();
                self.access(opcode, addresses, out).map_or_else(
                    |why| {
                        out.truncate(before);
                        Line::Broken(why)
                    },
                    |()| Line::Records,
                )
            }
            None if line.starts_with(b"MEMTRACE:") => Line::Broken("no opcode and addresses".into()),
            None if line.is_empty() => Line::Blank,
            None if line.iter().all(|&b| b == b'-') || find(line, b"NVBit (").is_some() => Line::Tool,
            None => Line::Other,
        }
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if self.near > 0 {
            let instructions = counted(self.near, "instruction");
            notices.push(format!("skipped {instructions} on shared or local memory"));
        }
        if self.unmarked > 0 {
            notices.push(format!("kept the first {MARKS} launches as marks, not the {} after them", self.unmarked));
        }
        notices
    }

    fn tables(&self) -> Tables {
        Tables { marks: self.marks.clone(), made_by: "NVBit mem_trace".into(), ..Tables::default() }
    }
}

/// Whether a line among the first is this tool's.
pub(super) fn looks_like(head: &[u8]) -> bool {
    sample(head).any(|line| line.starts_with(b"MEMTRACE:"))
}
