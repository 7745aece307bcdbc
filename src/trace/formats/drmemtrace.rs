//! DynamoRIO's drmemtrace, the final trace (`common/trace_entry.h`, version 7): packed records of 12 bytes, little-endian.
//!
//! | byte | what |
//! |---|---|
//! | 0..2 | type, see [`class`] |
//! | 2..4 | size: bytes of data, length of an instruction, kind of a marker |
//! | 4..12 | address, thread, version, or the bytes of an encoding |
//!
//! The first record is a header. An instruction comes before its data, which takes its pc from it; encodings come before
//! their instruction. A *bundle* is a run of instructions behind the last one, given by their lengths. A thread record says
//! whose all that follows is: threads become cores, numbered as they appear.
//!
//! The trace is one stream, plain or gzip, or the chunks of a `.zip`, in their order (see [`super::zip`]).

use super::super::error::TraceError;
use super::super::input::Input;
use super::binary::{Binary, Bytes, Cores, Decode, u16_at, u64_at};
use super::{Opened, zip};
use crate::reference::{Kind, Reference, Tables};
use std::io::Read;

const RECORD: usize = 12;

/// The newest version of the format this was written for.
const NEWEST: u64 = 7;

/// Versions past this are other bytes.
const PLAUSIBLE_VERSION: u64 = 64;

const HEADER: u16 = 25;
const HIGHEST: u16 = 49;

/// What the types of records mean here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Data(Kind),
    Prefetch,
    HardwarePrefetch,
    Instruction,
    /// An instruction that is executed again without being fetched: a turn of `rep movs`.
    NoFetch,
    Bundle,
    Flush,
    Thread,
    Header,
    Footer,
    Marker,
    /// Needs no word: end of a flush, end of a thread, process, encoding.
    Silent,
    Unknown,
}

fn class(kind: u16) -> Class {
    match kind {
        0 => Class::Data(Kind::Read),
        1 => Class::Data(Kind::Write),
        2..=9 | 32..=46 => Class::Prefetch,
        10..=16 | 30 | 31 | 48 | 49 => Class::Instruction,
        17 => Class::Bundle,
        18 | 20 => Class::Flush,
        22 => Class::Thread,
        HEADER => Class::Header,
        26 => Class::Footer,
        27 => Class::HardwarePrefetch,
        28 => Class::Marker,
        29 => Class::NoFetch,
        19 | 21 | 23 | 24 | 47 => Class::Silent,
        _ => Class::Unknown,
    }
}

#[derive(Default)]
struct DrMemTrace {
    version: Option<u64>,
    pc: u64,
    /// One past the last instruction: where a bundle goes on.
    next: u64,
    core: u16,
    cores: Cores,
    prefetches: u64,
    hardware_prefetches: u64,
    flushes: u64,
    markers: u64,
    empty: u64,
    /// Whether the last record of all was a footer.
    closed: bool,
}

pub(super) fn open(input: Input) -> Result<Opened, TraceError> {
    let zipped = zip::is(input.bytes.head());
    let bytes = Bytes::new(&*input.name, Box::new(input.bytes));
    let bytes = if zipped { Bytes::new(input.name, Box::new(zip::Entries::new(bytes))) } else { bytes };
    Ok(Opened::Once(Box::new(Binary::new(bytes, DrMemTrace::default()))))
}

/// A header with a version, then records of known types; the same at the start of a `.zip`.
pub(super) fn looks_like(head: &[u8]) -> bool {
    if zip::is(head) {
        let mut start = Vec::new();
        let entries = zip::Entries::new(Bytes::new("", Box::new(std::io::Cursor::new(head.to_vec()))));
        // The head may stop within the first entry: what could be unpacked is enough.
        let _ = entries.take(64 * RECORD as u64).read_to_end(&mut start);
        return !zip::is(&start) && looks_like(&start);
    }
    let (records, _) = head.as_chunks::<RECORD>();
    let headed = |r: &[u8; RECORD]| {
        u16_at(r, 0) == HEADER && u16_at(r, 2) == 0 && (1..=PLAUSIBLE_VERSION).contains(&u64_at(r, 4))
    };
    records.first().is_some_and(headed) && records.iter().all(|r| u16_at(r, 0) <= HIGHEST)
}

impl Decode for DrMemTrace {
    fn decode(&mut self, bytes: &mut Bytes, limit: usize, out: &mut Vec<Reference>) -> Result<bool, TraceError> {
        bytes.records::<RECORD>(|record, at| {
            let (kind, size, addr) = (u16_at(record, 0), u16_at(record, 2), u64_at(record, 4));
            let class = class(kind);
            if self.version.is_none() && class != Class::Header {
                return Err(at.damaged(
                    format!("a first record of type {kind}"),
                    "a header (type 25)",
                    "give the final trace: make it from raw files with drraw2trace, or name the right format",
                ));
            }
            let mut add = |kind, addr, pc, size: u16| -> Result<(), TraceError> {
                match at.reference(kind, addr, u64::from(size))? {
                    Some(reference) => out.push(Reference { pc, core: self.core, ..reference }),
                    None => self.empty += 1,
                }
                Ok(())
            };
            self.closed = false;
            match class {
                Class::Data(kind) => add(kind, addr, self.pc, size)?,
                Class::Instruction => {
                    add(Kind::Fetch, addr, addr, size)?;
                    (self.pc, self.next) = (addr, addr.wrapping_add(u64::from(size)));
                }
                Class::NoFetch => (self.pc, self.next) = (addr, addr.wrapping_add(u64::from(size))),
                Class::Bundle => {
                    let Some(lengths) = record.get(4..4 + usize::from(size)).filter(|l| !l.is_empty()) else {
                        return Err(at.damaged(
                            format!("a bundle of {size} instructions"),
                            "1 to 8",
                            "copy the trace again from where it came, or record it again",
                        ));
                    };
                    for &length in lengths {
                        add(Kind::Fetch, self.next, self.next, u16::from(length))?;
                        (self.pc, self.next) = (self.next, self.next.wrapping_add(u64::from(length)));
                    }
                }
                Class::Thread => self.core = self.cores.of(addr),
                Class::Header => self.version = Some(addr),
                Class::Footer => self.closed = true,
                Class::Prefetch => self.prefetches += 1,
                Class::HardwarePrefetch => self.hardware_prefetches += 1,
                Class::Flush => self.flushes += 1,
                Class::Marker => self.markers += 1,
                Class::Silent => {}
                Class::Unknown => {
                    return Err(at.damaged(
                        format!("a record of type {kind}"),
                        "a type of 0 to 49",
                        "copy the trace again from where it came, or ask for a reader of its version",
                    ));
                }
            }
            Ok(out.len() < limit)
        })
    }

    fn passed(&self) -> Vec<(u64, &'static str)> {
        vec![
            (self.markers, "marker"),
            (self.prefetches, "software prefetch"),
            (self.hardware_prefetches, "hardware prefetch"),
            (self.flushes, "cache flush"),
            (self.empty, "zero-byte reference"),
        ]
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = self.cores.remark("threads").into_iter().collect();
        if let Some(version) = self.version.filter(|&v| v > NEWEST) {
            remarks.push(format!("version {version} of the format is newer than {NEWEST}, the newest known here"));
        }
        if !self.closed {
            remarks.push("the trace does not end with a footer: its end may be missing".into());
        }
        remarks
    }

    fn tables(&self) -> Tables {
        let version = self.version.unwrap_or(0);
        Tables { made_by: format!("DynamoRIO drmemtrace, format version {version}"), ..Tables::default() }
    }

    fn expected(&self) -> &'static str {
        "records of 12 bytes with instructions or data"
    }
}
