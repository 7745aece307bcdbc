//! The spool of a program built by `orrery cc`, `NAME.orrery.part`: what is left where no collector made a native file of it.

mod facts;
mod modules;
mod named;
mod spool;
mod thread;

pub use facts::{Block, Entry, Facts, Heap, HeapRegion, Made, Named};
pub use modules::{Change, Mapped};
pub use spool::{Ending, MAGIC, Program, Released, Spool};

use crate::reference::{Reference, Tables};
use crate::trace::error::{Fault, Place, TraceError};
use crate::trace::input::Input;
use std::io::Seek;

/// Whether content that starts so is a spool.
pub(super) fn looks_like(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// References of a spool that no longer grows.
pub(super) struct Reader {
    spool: Spool,
    name: String,
}

impl Reader {
    /// A spool is read at many places: what comes from a pipe or packed is copied into a file first.
    pub(super) fn open(input: Input) -> Result<Self, TraceError> {
        let Input { name, plain, mut bytes, .. } = input;
        let failed = |e| TraceError::io(&name, "the spool cannot be copied to a temporary file", e);
        let file = match plain {
            Some(file) => file,
            None => {
                let mut copy = tempfile::tempfile().map_err(failed)?;
                std::io::copy(&mut bytes, &mut copy).map_err(failed)?;
                copy.rewind().map_err(failed)?;
                copy
            }
        };
        Ok(Self { spool: Spool::open(name.clone(), file)?, name })
    }

    fn named(&self) -> (Tables, Vec<String>) {
        let name = |r: &HeapRegion| Named { name: site_name(r.span.made, r.span.site), ..Named::default() };
        self.spool.facts().tables(self.spool.given(), name)
    }
}

/// The name of a heap block of whose call nothing is known.
#[must_use]
pub fn site_name(made: Made, site: u64) -> String {
    if site == 0 { made.word().into() } else { format!("{} of 0x{site:x}", made.word()) }
}

impl super::Reader for Reader {
    fn next_chunk(&mut self, limit: usize, out: &mut Vec<Reference>) -> Result<(), TraceError> {
        out.clear();
        self.spool.advance(true, limit, out)?;
        self.spool.take_entries();
        self.spool.take_changes();
        if out.is_empty() && self.spool.given() == 0 {
            return Err(TraceError::Empty(Fault::new(
                Place::file(&self.name),
                "no references",
                "at least one",
                "check that the program was built by orrery cc, and its parts compiled by it, not only linked",
            )));
        }
        Ok(())
    }

    fn notices(&self) -> Vec<String> {
        self.named().1
    }

    fn names_come_late(&self) -> bool {
        true
    }

    fn tables(&self) -> Tables {
        self.named().0
    }
}
