//! What became of each reference, in four bytes: who served it, and why each level missed.

use super::tally::Watch;
use crate::sim::classes::{Classifier, MissClass};
use crate::units::LevelId;
use std::sync::Arc;

/// Levels whose miss class fits beside the server.
const CLASSED: usize = 8;
/// Bit that tells a miss of the first level.
const MISSED: u32 = 28;

/// Bits 0..4: level that served (0 = innermost, the number of levels = memory); then three bits a level: 0 = no
/// miss, 1 compulsory, 2 capacity, 3 conflict, 4 coherence; then one bit: the
/// first level it came to missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome(u32);

impl Outcome {
    /// From what was seen of the reference and what the classifier says of its newest misses.
    #[must_use]
    pub fn new(watch: &Watch, levels: usize, classifier: &Classifier) -> Self {
        let mut bits = u32::try_from(watch.served_by(levels)).unwrap_or(0) & 15;
        bits |= u32::from(watch.missed) << MISSED;
        for level in 0..levels.min(CLASSED) {
            if watch.misses[level] > 0 {
                let class = u8::try_from(level).ok().and_then(|l| classifier.last_class(LevelId(l)));
                let code = match class {
                    None => 0,
                    Some(MissClass::Compulsory) => 1,
                    Some(MissClass::Capacity) => 2,
                    Some(MissClass::Conflict) => 3,
                    Some(MissClass::Coherence) => 4,
                };
                bits |= code << (4 + 3 * level);
            }
        }
        Self(bits)
    }

    /// Level that served the reference; the number of levels stands for memory.
    #[must_use]
    pub fn served_by(self) -> usize {
        (self.0 & 15) as usize
    }

    /// Whether the first level it came to had not all of it.
    #[must_use]
    pub fn missed(self) -> bool {
        self.0 >> MISSED & 1 == 1
    }

    /// Why `level` missed; `None` if it did not.
    #[must_use]
    pub fn class(self, level: usize) -> Option<MissClass> {
        if level >= CLASSED {
            return None;
        }
        match (self.0 >> (4 + 3 * level)) & 7 {
            1 => Some(MissClass::Compulsory),
            2 => Some(MissClass::Capacity),
            3 => Some(MissClass::Conflict),
            4 => Some(MissClass::Coherence),
            _ => None,
        }
    }
}

/// References in a chunk of [`Outcomes`], as a power of two.
const CHUNK_BITS: u32 = 16;

/// One outcome a reference. Cheap to clone, however long: chunks that are full are shared.
#[derive(Clone, Debug, Default)]
pub struct Outcomes {
    full: Vec<Arc<[Outcome]>>,
    /// The last ones, fewer than a chunk.
    open: Vec<Outcome>,
}

impl Outcomes {
    /// Adds the next reference's.
    pub fn push(&mut self, outcome: Outcome) {
        self.open.push(outcome);
        if self.open.len() == 1 << CHUNK_BITS {
            self.full.push(self.open.as_slice().into());
            self.open.clear();
        }
    }

    /// Chunk by chunk as bytes, for [`Outcomes::read`].
    pub(super) fn chunks(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        let bytes = |chunk: &[Outcome]| chunk.iter().flat_map(|outcome| outcome.0.to_le_bytes()).collect();
        (0..=self.full.len()).map(move |chunk| bytes(self.chunk(chunk)))
    }

    /// Adds what [`Outcomes::chunks`] gave.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        bytes.as_chunks().0.iter().for_each(|bits| self.push(Outcome(u32::from_le_bytes(*bits))));
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        ((self.full.len() as u64) << CHUNK_BITS) + self.open.len() as u64
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Those of a chunk.
    fn chunk(&self, chunk: usize) -> &[Outcome] {
        self.full.get(chunk).map_or(&self.open, |chunk| chunk)
    }

    /// Outcome of reference `tick`.
    #[inline]
    #[must_use]
    pub fn get(&self, tick: u64) -> Option<Outcome> {
        let chunk = usize::try_from(tick >> CHUNK_BITS).ok().filter(|&chunk| chunk <= self.full.len())?;
        self.chunk(chunk).get((tick & ((1 << CHUNK_BITS) - 1)) as usize).copied()
    }

    /// The nearest reference after (`forward`) or before `tick` that missed in the innermost level.
    #[must_use]
    pub fn find_miss(&self, tick: u64, forward: bool) -> Option<u64> {
        let missed = |o: &Outcome| o.missed();
        let place = |tick: u64| ((tick >> CHUNK_BITS) as usize, (tick & ((1 << CHUNK_BITS) - 1)) as usize);
        let number = |chunk: usize, at: usize| ((chunk as u64) << CHUNK_BITS) + at as u64;
        if forward {
            let (first, from) = place(tick.checked_add(1).filter(|&tick| tick < self.len())?);
            let rest = self.chunk(first)[from..].iter().position(missed).map(|at| number(first, from + at));
            let mut later = first + 1..=self.full.len();
            rest.or_else(|| later.find_map(|chunk| Some(number(chunk, self.chunk(chunk).iter().position(missed)?))))
        } else {
            let (last, to) = place(tick.min(self.len()));
            let rest = self.chunk(last)[..to].iter().rposition(missed).map(|at| number(last, at));
            let mut earlier = (0..last).rev();
            rest.or_else(|| earlier.find_map(|chunk| Some(number(chunk, self.chunk(chunk).iter().rposition(missed)?))))
        }
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        usize::try_from(self.len()).unwrap_or(usize::MAX) * size_of::<Outcome>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_miss_is_found_across_chunks() {
        let hit = Outcome(0);
        let miss = Outcome(1 << MISSED);
        let at = [5u64, 65_535, 65_536, 200_000];
        let mut outcomes = Outcomes::default();
        for tick in 0..200_001 {
            outcomes.push(if at.contains(&tick) { miss } else { hit });
        }
        assert_eq!(outcomes.len(), 200_001);
        for tick in (0..300).chain(65_400..65_700).chain(199_900..200_100) {
            let next = at.iter().copied().find(|&m| m > tick);
            assert_eq!(outcomes.find_miss(tick, true), next, "after {tick}");
            let last = at.iter().copied().rev().find(|&m| m < tick);
            assert_eq!(outcomes.find_miss(tick, false), last, "before {tick}");
            assert_eq!(outcomes.get(tick).map(Outcome::missed), (tick <= 200_000).then(|| at.contains(&tick)));
        }
        let mut even = Outcomes::default();
        (0..65_536).for_each(|_| even.push(miss));
        assert_eq!((even.find_miss(65_535, true), even.find_miss(65_536, false)), (None, Some(65_535)));
        assert_eq!(even.get(65_536), None);
    }
}
