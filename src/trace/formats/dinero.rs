//! Dinero IV's binary input (`binaryfmt.c`, 1997): records of 8 bytes, little-endian.
//!
//! | byte | what |
//! |---|---|
//! | 0..4 | address |
//! | 4..6 | size in bytes |
//! | 6 | type: 0 read, 1 write, 2 instruction, 3 miscellaneous, 4 copy back, 5 invalidate |
//! | 7 | padding |
//!
//! A miscellaneous reference is simulated by Dinero as a read, and so it is read here. Copy-backs and invalidations are orders
//! to the cache and no references: they are counted and told.

use super::super::error::TraceError;
use super::super::input::Input;
use super::binary::{Binary, Bytes, Decode, u16_at, u32_at};
use super::{Opened, drmemtrace};
use crate::reference::{Kind, Reference, Tables};

const RECORD: usize = 8;

/// Sizes past this are not what a processor asks for at once: such bytes are something else.
const PLAUSIBLE: u16 = 256;

#[derive(Default)]
struct Dinero {
    misc: u64,
    copy_backs: u64,
    invalidations: u64,
    empty: u64,
}

pub(super) fn open(input: Input) -> Result<Opened, TraceError> {
    Ok(Opened::Once(Box::new(Binary::new(Bytes::new(input.name, Box::new(input.bytes)), Dinero::default()))))
}

/// There is no magic number: all records of the head must be plausible.
pub(super) fn looks_like(head: &[u8]) -> bool {
    let (records, _) = head.as_chunks::<RECORD>();
    let plausible = |r: &[u8; RECORD]| (1..=PLAUSIBLE).contains(&u16_at(r, 4)) && r[6] <= 5 && r[7] == 0;
    !records.is_empty() && records.iter().all(plausible) && u32_at(head, 0) != u32::MAX && !drmemtrace::looks_like(head)
}

impl Decode for Dinero {
    fn decode(&mut self, bytes: &mut Bytes, limit: usize, out: &mut Vec<Reference>) -> Result<bool, TraceError> {
        bytes.records::<RECORD>(|record, at| {
            let kind = match record[6] {
                0 => Kind::Read,
                1 => Kind::Write,
                2 => Kind::Fetch,
                3 => {
                    self.misc += 1;
                    Kind::Read
                }
                4 => {
                    self.copy_backs += 1;
                    return Ok(true);
                }
                5 => {
                    self.invalidations += 1;
                    return Ok(true);
                }
                other => {
                    return Err(at.damaged(
                        format!("a record of type {other}"),
                        "type 0 (read) to 5 (invalidate)",
                        "name the right format with --format",
                    ));
                }
            };
            match at.reference(kind, u64::from(u32_at(record, 0)), u64::from(u16_at(record, 4)))? {
                Some(reference) => out.push(reference),
                None => self.empty += 1,
            }
            Ok(out.len() < limit)
        })
    }

    fn passed(&self) -> Vec<(u64, &'static str)> {
        vec![(self.copy_backs, "copy-back"), (self.invalidations, "invalidation"), (self.empty, "zero-byte reference")]
    }

    fn remarks(&self) -> Vec<String> {
        let misc = (self.misc > 0).then(|| format!("{} miscellaneous references are taken as reads", self.misc));
        misc.into_iter().collect()
    }

    fn tables(&self) -> Tables {
        Tables { made_by: "Dinero IV binary trace".into(), ..Tables::default() }
    }

    fn expected(&self) -> &'static str {
        "records of 8 bytes with a read, a write or an instruction"
    }
}
