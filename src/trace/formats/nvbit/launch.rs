//! The kernels of a trace of `mem_trace`, with their warps.
//!
//! The tool tells instructions on memory alone, without registers. So a warp waits for what it loaded before it stores or does something
//! atomic, and at its end; what it computes takes no time.

use super::super::super::error::{Fault, Place, TraceError};
use super::super::super::input::Input;
use super::super::binary::Bytes;
use super::super::launches::{Kernels, Launch, MOST, WarpStep, refused};
use super::super::number::hex;
use super::super::text::Grammar;
use super::{LANES, Nvbit, Record, access, field, kernel_name};
use crate::reference::Kind;
use std::collections::BTreeMap;

/// Launches whose names are kept until their instructions come, at most.
const AHEAD: usize = 4096;

/// See the module.
pub(in super::super) struct Launches {
    name: String,
    bytes: Bytes,
    line: u64,
    /// By number of the launch: name, and bytes of shared memory.
    told: BTreeMap<u64, (String, u64)>,
    /// The first instruction of the next launch.
    next: Option<Did>,
}

/// One instruction of a warp.
struct Did {
    launch: u64,
    /// Block, by its last number first: in the order in which they are started.
    block: [u64; 3],
    warp: u64,
    step: WarpStep,
}

impl Launches {
    pub(in super::super) fn of(input: Input) -> Self {
        let name = input.name.clone();
        let bytes = Bytes::new(input.name, Box::new(input.bytes));
        Self { name, bytes, line: 0, told: BTreeMap::new(), next: None }
    }

    /// The next instruction on memory.
    fn instruction(&mut self) -> Result<Option<Did>, TraceError> {
        if let Some(next) = self.next.take() {
            return Ok(Some(next));
        }
        while let Some(line) = self.bytes.line()? {
            self.line += 1;
            let line = line.trim_ascii();
            match Record::of(line) {
                Some(Record::Launch(text)) => {
                    let number = |label: &[u8]| field(text, label).and_then(|text| text.parse::<u64>().ok());
                    let told = (kernel_name(text), number(b"shmem ").unwrap_or(0));
                    if self.told.len() < AHEAD {
                        self.told.insert(number(b"grid launch id ").unwrap_or(0), told);
                    }
                }
                Some(Record::Access(opcode, addresses)) => match did(line, opcode, addresses) {
                    Ok(did) => return Ok(Some(did)),
                    Err(found) => return Err(self.broken(&found)),
                },
                None if line.starts_with(b"MEMTRACE:") => return Err(self.broken("no opcode and addresses")),
                None => {}
            }
        }
        Ok(None)
    }

    fn broken(&self, found: &str) -> TraceError {
        let words = Nvbit::WORDS;
        TraceError::Damaged(Fault::new(Place::line(&self.name, self.line), found, words.expected, words.remedy))
    }
}

impl Kernels for Launches {
    fn notices(&self) -> Vec<String> {
        vec![
            "NVBit tells no registers: a warp waits for its loads before it stores, and computing takes no time"
                .to_owned(),
        ]
    }

    fn read(&mut self) -> Result<Option<Launch>, TraceError> {
        let Some(first) = self.instruction()? else { return Ok(None) };
        let number = first.launch;
        let mut blocks: BTreeMap<[u64; 3], BTreeMap<u64, Vec<WarpStep>>> = BTreeMap::new();
        let (mut held, mut next) = (0, Some(first));
        while let Some(did) = next.take() {
            if did.launch != number {
                self.next = Some(did);
                break;
            }
            let warp = blocks.entry(did.block).or_default().entry(did.warp).or_default();
            let waits = match &did.step {
                WarpStep::Memory(kind, lanes) => {
                    held += lanes.len();
                    *kind != Kind::Read
                }
                _ => false,
            };
            if waits && !matches!(warp.last(), None | Some(WarpStep::Wait)) {
                warp.push(WarpStep::Wait);
            }
            warp.push(did.step);
            if held > MOST {
                return Err(refused(&self.name, self.line, "a kernel of more than 50,000,000 accesses of lanes"));
            }
            next = self.instruction()?;
        }
        let (name, shared) = self.told.remove(&number).unwrap_or_else(|| (format!("launch {number}"), 0));
        let blocks = blocks.into_values().map(|warps| warps.into_values().collect()).collect();
        Ok(Some(Launch { name, shared, blocks, notice: None }))
    }
}

/// What a line says that a warp did.
fn did(line: &[u8], opcode: &[u8], addresses: &[u8]) -> Result<Did, String> {
    let number = |label: &[u8]| field(line, label).and_then(|text| text.parse::<u64>().ok());
    let launch = number(b"grid_launch_id ").unwrap_or(0);
    let cta = field(line, b"CTA ").ok_or("no block: `CTA x,y,z`")?;
    let parts: Vec<u64> = cta.split(',').map_while(|part| part.trim().parse().ok()).collect();
    let [x, y, z] = parts[..] else { return Err(format!("a block of `{cta}`")) };
    let warp = number(b"warp ").ok_or("no warp: `warp 3`")?;
    let opcode = opcode.trim_ascii();
    let step = match access(opcode).map_err(std::borrow::Cow::into_owned)? {
        Some((kind, width)) => {
            let mut lanes = Vec::with_capacity(LANES);
            let words = addresses.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            for word in words.take(LANES) {
                let addr = hex(word).map_err(|bad| bad.of("address").into_owned())?;
                if addr != 0 {
                    lanes.push((addr, u32::try_from(width).unwrap_or(u32::MAX)));
                }
            }
            WarpStep::Memory(kind, lanes)
        }
        // Local memory is kept in registers and caches of its own here.
        None if opcode.starts_with(b"LDL") || opcode.starts_with(b"STL") => WarpStep::Compute,
        None => WarpStep::Shared,
    };
    Ok(Did { launch, block: [z, y, x], warp, step })
}
