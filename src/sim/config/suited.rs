//! Which preset suits a trace where nobody asks for caches: how much memory its references touch decides.

use crate::reference::{Kind, Reference, ReferenceSource, SourceError};
use std::collections::HashSet;

/// Bytes that a trace touches, at most, for the caches of `paper` (L2: 2 KiB) to tell more than a real CPU's do.
pub const SMALL: u64 = 64 << 10;
/// Memory is counted by lines of so many bytes, whatever caches it goes through.
const LINE: u64 = 64;

/// Lines that references touch, counted until there are too many for a small trace. It only grows, so what is chosen at the
/// end of a trace that grows is what is chosen of it as a whole.
pub struct Touched {
    /// Whether fetches are left out.
    data_only: bool,
    lines: HashSet<u64>,
    /// The line met last, by its last bits: most references go where others went just before.
    recent: [u64; RECENT],
    /// References looked at.
    seen: u64,
}

const RECENT: usize = 64;

impl Touched {
    /// Presets: of a small trace, and of any other.
    pub const PRESETS: [&'static str; 2] = ["paper", "textbook"];

    /// Nothing yet.
    #[must_use]
    pub fn new(data_only: bool) -> Self {
        Self { data_only, lines: HashSet::new(), recent: [u64::MAX; RECENT], seen: 0 }
    }

    /// Looks at what is there of a trace and was not looked at before.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn look(&mut self, source: &dyn ReferenceSource) -> Result<(), SourceError> {
        let (len, chunk) = (source.len(), source.chunk_len().max(1));
        while self.is_small() && self.seen < len {
            let references = source.chunk(self.seen / chunk)?;
            self.take(&references);
            self.seen = (self.seen + chunk).min(len);
        }
        Ok(())
    }

    fn take(&mut self, references: &[Reference]) {
        for r in references {
            if self.data_only && r.kind == Kind::Fetch {
                continue;
            }
            let last = r.addr.saturating_add(u64::from(r.size).saturating_sub(1)) / LINE;
            for line in r.addr / LINE..=last {
                #[expect(clippy::cast_possible_truncation, reason = "the last bits are meant")]
                let recent = &mut self.recent[line as usize % RECENT];
                if *recent != line {
                    *recent = line;
                    self.lines.insert(line);
                    if !self.is_small() {
                        return;
                    }
                }
            }
        }
    }

    /// Whether it is a small trace so far.
    #[must_use]
    pub fn is_small(&self) -> bool {
        self.lines.len() as u64 <= SMALL / LINE
    }

    /// The preset for it.
    #[must_use]
    pub fn preset(&self) -> &'static str {
        Self::PRESETS[usize::from(!self.is_small())]
    }

    /// Why that one: `the references touch 6 KiB, no more than 64 KiB`.
    #[must_use]
    pub fn why(&self) -> String {
        let limit = kib(SMALL);
        if self.is_small() {
            format!("the references touch {}, no more than {limit}", kib(self.lines.len() as u64 * LINE))
        } else {
            format!("the references touch more than {limit}")
        }
    }
}

/// `6 KiB`, `4.1 KiB`.
fn kib(bytes: u64) -> String {
    let tenths = (bytes * 10).div_ceil(1 << 10);
    if tenths.is_multiple_of(10) {
        format!("{} KiB", tenths / 10)
    } else {
        format!("{}.{} KiB", tenths / 10, tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{MemoryTrace, Region, Tables};

    fn trace(references: Vec<Reference>, regions: Vec<Region>) -> MemoryTrace {
        MemoryTrace::new(references, Tables { regions, ..Tables::default() })
    }

    fn preset(source: &dyn ReferenceSource, data_only: bool) -> (&'static str, String) {
        let mut touched = Touched::new(data_only);
        touched.look(source).unwrap();
        (touched.preset(), touched.why())
    }

    #[test]
    fn what_is_touched_decides_and_not_what_is_named() {
        let read = |addr| Reference::new(Kind::Read, addr, 8);
        let small: Vec<_> = (0..100_000u64).map(|n| read(n % 512 * 8)).collect();
        let large: Vec<_> = (0..100_000u64).map(|n| read(n * 8)).collect();
        let region = Region { elem_type: "double".into(), ..Region::new("named", 0, 1 << 30) };
        for regions in [vec![], vec![region.clone()], vec![Region { bytes: 64, ..region }]] {
            let found = preset(&trace(small.clone(), regions.clone()), false);
            assert_eq!(found, ("paper", "the references touch 4 KiB, no more than 64 KiB".into()));
            let found = preset(&trace(large.clone(), regions), false);
            assert_eq!(found, ("textbook", "the references touch more than 64 KiB".into()));
        }
        // Of one reference each byte counts, and fetches do where they are played.
        let wide = vec![Reference::new(Kind::Write, 32, 1 << 20)];
        assert_eq!(preset(&trace(wide, vec![]), false).0, "textbook");
        let fetches: Vec<_> = (0..5_000u64).map(|n| Reference::new(Kind::Fetch, n * 64, 4)).chain([read(7)]).collect();
        assert_eq!(preset(&trace(fetches.clone(), vec![]), false).0, "textbook");
        assert_eq!(preset(&trace(fetches, vec![]), true).0, "paper");
        assert_eq!(
            preset(&trace(vec![read(u64::MAX - 7)], vec![]), false).1,
            "the references touch 0.1 KiB, no more than 64 KiB"
        );
        // The last line that fits, and one more.
        for (lines, expect) in [(1024, "paper"), (1025, "textbook")] {
            let all = (0..lines).map(|n| read(n * 64)).collect();
            assert_eq!(preset(&trace(all, vec![]), false).0, expect);
        }
    }
}
