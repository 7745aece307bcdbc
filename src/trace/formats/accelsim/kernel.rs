//! One kernel: the text of a `.traceg`.

use super::super::super::error::{Fault, Place, TraceError, shorten};
use super::super::binary::Bytes;
use super::MULTIPROCESSORS;
use super::opcode::{self, Space};
use crate::reference::{Kind, Reference};
use std::ops::Range;

/// Lanes of a warp.
const LANES: u32 = 32;

/// What was met beside references, over all kernels.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) blocks: u64,
    shared: u64,
    other: u64,
    /// The opcode of the first instruction of `other`.
    first_other: String,
}

impl Counts {
    pub(super) fn passed(&self) -> Vec<(u64, &'static str)> {
        vec![(self.shared, "shared-memory instruction"), (self.other, "other memory instruction")]
    }

    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.other > 0 {
            remarks.push(format!("the first of the other memory instructions is {}", self.first_other));
        }
        if self.blocks > MULTIPROCESSORS {
            remarks.push(format!("{} thread blocks are dealt to {MULTIPROCESSORS} cores in turn", self.blocks));
        }
        remarks
    }
}

/// A kernel being read.
pub(super) struct Kernel {
    bytes: Bytes,
    line: u64,
    /// Upper half of its pcs.
    pc_base: u64,
    name: String,
    id: String,
    grid: [u64; 3],
    /// Before version 3 of the tracer each line starts with block and warp; with line information, with a line number.
    version: u64,
    line_numbers: bool,
    core: u16,
    /// Blocks begun, blocks ended.
    begun: u64,
    ended: u64,
    /// The first block has begun, and nobody took the title yet.
    title_due: bool,
    /// Place in the chunk of the first reference after the title.
    pub(super) first: usize,
    torn: Option<String>,
    /// Blocks, warps and all instructions in their order, for who wants more than references.
    pub(super) told: Option<Vec<Told>>,
    /// Work-items of a block.
    pub(super) block: [u64; 3],
    /// Bytes of shared memory of a block.
    pub(super) shared: u64,
}

/// What stands in a kernel, one after the other.
#[derive(Debug)]
pub(super) enum Told {
    Block,
    Warp,
    Did {
        class: Class,
        /// Its references, by their places in the chunk.
        lanes: Range<usize>,
        /// Numbers of registers.
        written: Vec<u16>,
        read: Vec<u16>,
    },
}

/// What an instruction does, as far as time goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Compute,
    Memory(Kind),
    Shared,
    Barrier,
}

impl Kernel {
    /// `number` counts kernels from 0.
    pub(super) fn new(bytes: Bytes, number: u64) -> Self {
        Self {
            bytes,
            line: 0,
            pc_base: number << 32,
            name: String::new(),
            id: String::new(),
            grid: [1; 3],
            version: u64::MAX,
            line_numbers: false,
            core: 0,
            begun: 0,
            ended: 0,
            title_due: false,
            first: 0,
            torn: None,
            told: None,
            block: [1; 3],
            shared: 0,
        }
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// `kernel 1 _Z9vectorAddPKfS0_Pfi`, once, when its first block begins.
    pub(super) fn take_title(&mut self) -> Option<String> {
        std::mem::take(&mut self.title_due).then(|| format!("kernel {} {}", self.id, self.name).trim_end().to_owned())
    }

    /// How it is cut short, where it is: in a line, in a block, or between blocks, which the size of the grid tells.
    pub(super) fn cut(&self) -> Option<String> {
        let blocks = self.grid.iter().fold(1u64, |product, n| product.saturating_mul(*n));
        let at = format!("{} is cut short at line {}", self.bytes.name(), self.line);
        match (&self.torn, self.bytes.cut()) {
            (Some(line), _) => Some(format!("{at} (`{line}`); kept what is whole")),
            (None, Some(cut)) => Some(format!("{at}: {cut}; kept what is whole")),
            (None, None) if self.begun > self.ended => Some(format!("{at}, within a thread block; kept what is whole")),
            (None, None) if self.begun < blocks => {
                Some(format!("{} holds {} of the {blocks} thread blocks of its grid", self.bytes.name(), self.begun))
            }
            (None, None) => None,
        }
    }

    /// Adds references, about `limit` at most; `false` at the end of the kernel.
    pub(super) fn decode(
        &mut self,
        limit: usize,
        out: &mut Vec<Reference>,
        counts: &mut Counts,
    ) -> Result<bool, TraceError> {
        while out.len() < limit {
            let Self { bytes, line, pc_base, core, version, line_numbers, .. } = self;
            let Some(text) = bytes.line()? else { return Ok(false) };
            *line += 1;
            let text = text.trim_ascii();
            let Some(&first) = text.first() else { continue };
            if first.is_ascii_hexdigit() && !text.contains(&b'=') {
                let text = String::from_utf8_lossy(text);
                let lead = if *version < 3 { 4 } else { 0 } + usize::from(*line_numbers);
                let reference = Reference { core: *core, ..Reference::new(Kind::Read, 0, 1) };
                let before = out.len();
                match instruction(&text, lead, *pc_base, reference, out, counts) {
                    Ok((class, written, read)) => {
                        if let Some(told) = &mut self.told {
                            let registers = |words: Vec<&str>| words.into_iter().filter_map(register).collect();
                            let (written, read) = (registers(written), registers(read));
                            told.push(Told::Did { class, lanes: before..out.len(), written, read });
                        }
                        continue;
                    }
                    Err(why) => {
                        out.truncate(before);
                        let text = text.into_owned();
                        return self.broken(&text, &why).map(|()| false);
                    }
                }
            }
            let text = String::from_utf8_lossy(text).into_owned();
            if let Err(why) = self.structure(&text, counts, out.len()) {
                return self.broken(&text, &why).map(|()| false);
            }
            if self.title_due {
                return Ok(true);
            }
        }
        Ok(true)
    }

    /// A line that is no instruction.
    fn structure(&mut self, text: &str, counts: &mut Counts, at: usize) -> Result<(), String> {
        match text {
            "#BEGIN_TB" => {
                self.title_due = self.begun == 0;
                self.first = at;
                self.begun += 1;
                counts.blocks += 1;
                self.told.iter_mut().for_each(|told| told.push(Told::Block));
                return Ok(());
            }
            "#END_TB" => {
                self.ended += 1;
                return Ok(());
            }
            _ if text.starts_with('#') => return Ok(()),
            _ => {}
        }
        let (key, value) = text.split_once('=').ok_or("neither an instruction nor `key = value`")?;
        let (key, value) = (key.trim(), value.trim());
        let triple = || {
            let mut parts = value.trim_matches(['(', ')']).split(',').map(|n| n.trim().parse::<u64>().ok());
            match (parts.next().flatten(), parts.next().flatten(), parts.next().flatten()) {
                (Some(x), Some(y), Some(z)) => Ok([x, y, z]),
                _ => Err(format!("three numbers are expected in {key}")),
            }
        };
        match key {
            "-kernel name" => self.name = shorten(value),
            "-kernel id" => self.id = shorten(value),
            "-grid dim" => self.grid = triple()?,
            "-block dim" => self.block = triple()?,
            "-shmem" => self.shared = value.parse().unwrap_or(0),
            "-accelsim tracer version" => self.version = value.parse().map_err(|_| "the version is no number")?,
            "-enable lineinfo" => self.line_numbers = value == "1",
            "thread block" => {
                let ([x, y, z], [wide, high, _]) = (triple()?, self.grid);
                // A header that lies only moves blocks to other cores.
                let number = z.wrapping_mul(high).wrapping_add(y).wrapping_mul(wide).wrapping_add(x);
                self.core = u16::try_from(number % MULTIPROCESSORS).unwrap_or(0);
            }
            "warp" if value.parse::<u64>().is_ok() => self.told.iter_mut().for_each(|told| told.push(Told::Warp)),
            "insts" if value.parse::<u64>().is_ok() => {}
            _ if key.starts_with('-') => {}
            _ => return Err("neither an instruction nor a header".into()),
        }
        Ok(())
    }

    /// A line that cannot be read: the torn last line of a file that is cut, or an error.
    fn broken(&mut self, text: &str, why: &str) -> Result<(), TraceError> {
        if self.bytes.line()?.is_none() {
            self.torn = Some(shorten(text));
            return Ok(());
        }
        Err(TraceError::BrokenLine(Fault::new(
            Place::line(self.bytes.name(), self.line),
            format!("`{}` ({why})", shorten(text)),
            "PC, mask, count and names of registers written, opcode, count and names of registers read, width, addresses",
            "mend or delete that line, as in `00a0 ffffffff 1 R4 LDG.E 1 R4 4 1 0x7fb0fc430e00 4 0`",
        )))
    }
}

fn hex(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok()
}

/// The number of a register: `R4`; of no other one, and not of the register that is always 0.
fn register(word: &str) -> Option<u16> {
    word.strip_prefix('R')?.parse().ok().filter(|number| *number != 255)
}

/// What an instruction does, and the registers that it writes and reads.
type Instruction<'a> = (Class, Vec<&'a str>, Vec<&'a str>);

/// Adds the references of one instruction. `lead` words stand before the pc; `blank` gives the core.
fn instruction<'a>(
    text: &'a str,
    lead: usize,
    pc_base: u64,
    blank: Reference,
    out: &mut Vec<Reference>,
    counts: &mut Counts,
) -> Result<Instruction<'a>, String> {
    let mut words = text.split_ascii_whitespace().skip(lead);
    let mut word = |what: &'static str| words.next().ok_or(what);
    let pc = hex(word("no pc")?).ok_or("the pc is not hexadecimal")?;
    let mask =
        hex(word("no mask")?).and_then(|m| u32::try_from(m).ok()).ok_or("the mask is not 32 bits in hexadecimal")?;
    let count = |word: &str| word.parse::<usize>().map_err(|_| "a count of registers is expected");
    let mut written = Vec::new();
    for _ in 0..count(word("no count of registers written")?)? {
        written.push(word("fewer registers than counted")?);
    }
    let opcode = word("no opcode")?;
    let mut read = Vec::new();
    for _ in 0..count(word("no count of registers read")?)? {
        read.push(word("fewer registers than counted")?);
    }
    let width: u64 = word("no width")?.parse().map_err(|_| "the width is no number")?;
    if width == 0 || mask == 0 {
        let class = if opcode.starts_with("BAR") { Class::Barrier } else { Class::Compute };
        return Ok((class, written, read));
    }
    let kind = match opcode::space(opcode) {
        Space::Cached(kind) => kind,
        Space::Shared => {
            counts.shared += 1;
            return Ok((Class::Shared, written, read));
        }
        Space::Other => {
            if counts.other == 0 {
                counts.first_other = shorten(opcode);
            }
            counts.other += 1;
            return Ok((Class::Compute, written, read));
        }
    };
    let size = opcode::bytes(opcode);
    let mode = word("no address mode")?;
    let mut addr = 0u64;
    let mut stride = 0u64;
    let delta = |word: &str| word.parse::<i64>().map(i64::cast_unsigned).map_err(|_| "a distance is no decimal number");
    for (n, lane) in (0..LANES).filter(|lane| mask & (1 << lane) != 0).enumerate() {
        addr = match (mode, n) {
            ("0", _) | ("1" | "2", 0) => {
                hex(word("fewer addresses than active lanes")?).ok_or("an address is not hexadecimal")?
            }
            ("1", 1) => {
                stride = delta(word("no stride")?)?;
                addr.wrapping_add(stride)
            }
            ("1", _) => addr.wrapping_add(stride),
            ("2", _) => addr.wrapping_add(delta(word("fewer distances than active lanes")?)?),
            _ => return Err(format!("the address mode {mode} is not 0, 1 or 2")),
        };
        if addr.checked_add(u64::from(size) - 1).is_none() {
            return Err("an address passes the end of the address space".into());
        }
        let lane = u8::try_from(lane).unwrap_or(0);
        out.push(Reference { kind, addr, size, lane, pc: pc_base | (pc & 0xffff_ffff), ..blank });
    }
    Ok((Class::Memory(kind), written, read))
}
