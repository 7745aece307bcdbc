//! ChampSim's traces (`inc/trace_instruction.h`, 2017 on): one fixed-size record an executed instruction.
//!
//! | `input_instr`, 64 bytes | `cloudsuite_instr`, 96 bytes | what |
//! |---|---|---|
//! | 0..8 | 0..8 | instruction pointer |
//! | 8, 9 | 8, 9 | whether it is a branch, whether that was taken |
//! | 10..16 | 10..18 | registers written, then read |
//! | 16..32 | 24..56 | addresses written, 0 = none |
//! | 32..64 | 56..88 | addresses read, 0 = none |
//! | | 88..90 | address-space identifiers |
//!
//! An instruction gives a fetch, then its reads, then its writes. The format has no sizes: each is taken as 1 byte, so that
//! none straddles a line that ChampSim would not see it straddle.

use super::super::error::TraceError;
use super::super::input::Input;
use super::Opened;
use super::binary::{Binary, Bytes, Decode, is_canonical, u16_at, u64_at};
use crate::reference::{Kind, Reference, Tables};

/// Places of one of the two records, `N` bytes long.
struct Layout {
    name: &'static str,
    writes: std::ops::Range<usize>,
    reads: std::ops::Range<usize>,
    /// Address-space identifiers, 2 bytes.
    space: Option<usize>,
}

const PLAIN: usize = 64;
const CLOUD: usize = 96;

static PLAIN_LAYOUT: Layout = Layout { name: "input_instr", writes: 16..32, reads: 32..64, space: None };
static CLOUD_LAYOUT: Layout = Layout { name: "cloudsuite_instr", writes: 24..56, reads: 56..88, space: Some(88) };

struct ChampSim<const N: usize> {
    layout: &'static Layout,
    /// The first address space, and instructions of others.
    space: Option<u16>,
    others: u64,
    instructions: u64,
}

pub(super) fn open(input: Input) -> Result<Opened, TraceError> {
    Ok(opened::<PLAIN>(input, &PLAIN_LAYOUT))
}

pub(super) fn open_cloudsuite(input: Input) -> Result<Opened, TraceError> {
    Ok(opened::<CLOUD>(input, &CLOUD_LAYOUT))
}

fn opened<const N: usize>(input: Input, layout: &'static Layout) -> Opened {
    let decode = ChampSim::<N> { layout, space: None, others: 0, instructions: 0 };
    Opened::Once(Box::new(Binary::new(Bytes::new(input.name, Box::new(input.bytes)), decode)))
}

pub(super) fn looks_like(head: &[u8]) -> bool {
    all_plausible::<PLAIN>(head, &PLAIN_LAYOUT)
}

pub(super) fn looks_like_cloudsuite(head: &[u8]) -> bool {
    all_plausible::<CLOUD>(head, &CLOUD_LAYOUT)
}

/// There is no magic number: the pointer and the flags of all records of the head must be plausible, and the data addresses of
/// nearly all (converted traces have odd ones).
fn all_plausible<const N: usize>(head: &[u8], layout: &Layout) -> bool {
    let (records, _) = head.as_chunks::<N>();
    let instruction = |r: &[u8; N]| is_canonical(u64_at(r, 0)) && r[8] <= 1 && r[9] <= r[8];
    let data = |r: &[u8; N]| {
        let slots = layout.writes.clone().chain(layout.reads.clone()).step_by(8);
        slots.map(|at| u64_at(r, at)).all(|addr| addr == 0 || is_canonical(addr))
    };
    !records.is_empty()
        && records.iter().all(instruction)
        && records.iter().filter(|r| !data(r)).count() <= records.len() / 16
}

impl<const N: usize> Decode for ChampSim<N> {
    fn decode(&mut self, bytes: &mut Bytes, limit: usize, out: &mut Vec<Reference>) -> Result<bool, TraceError> {
        let layout = self.layout;
        bytes.records::<N>(|record, at| {
            // The flags tell a record from other bytes; addresses are taken as they are, for tracers differ.
            if record[8] > 1 || record[9] > 1 {
                return Err(at.damaged(
                    format!("an instruction with the branch flags {} and {}", record[8], record[9]),
                    "0 or 1 each",
                    "name the right format with --format: champsim (64 bytes a record) or cloudsuite (96 bytes)",
                ));
            }
            let pc = u64_at(record, 0);
            let one = |kind, addr| Reference { pc, ..Reference::new(kind, addr, 1) };
            out.push(one(Kind::Fetch, pc));
            for (kind, slots) in [(Kind::Read, &layout.reads), (Kind::Write, &layout.writes)] {
                let addresses = record[slots.clone()].as_chunks::<8>().0;
                let taken = addresses.iter().map(|b| u64::from_le_bytes(*b)).filter(|&addr| addr != 0);
                out.extend(taken.map(|addr| one(kind, addr)));
            }
            if let Some(space) = layout.space.map(|at| u16_at(record, at)) {
                self.others += u64::from(*self.space.get_or_insert(space) != space);
            }
            self.instructions += 1;
            Ok(out.len() < limit)
        })
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = vec!["the format has no sizes; each reference is taken as 1 byte".to_owned()];
        if self.others > 0 {
            remarks.push(format!("{} instructions of other address spaces are taken as of the first", self.others));
        }
        remarks
    }

    fn tables(&self) -> Tables {
        let made_by = format!("ChampSim {}, {} instructions", self.layout.name, self.instructions);
        Tables { made_by, ..Tables::default() }
    }

    fn expected(&self) -> &'static str {
        "records of 64 bytes (champsim) or 96 (cloudsuite)"
    }
}
