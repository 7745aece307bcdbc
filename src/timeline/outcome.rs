//! What became of each reference, in four bytes: who served it, and why each level missed.

use super::tally::Watch;
use crate::sim::classes::{Classifier, MissClass};
use crate::units::LevelId;

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

/// One outcome a reference.
#[derive(Clone, Debug, Default)]
pub struct Outcomes(Vec<Outcome>);

impl Outcomes {
    /// Adds the next reference's.
    pub fn push(&mut self, outcome: Outcome) {
        self.0.push(outcome);
    }

    /// Outcome of reference `tick`.
    #[must_use]
    pub fn get(&self, tick: u64) -> Option<Outcome> {
        self.0.get(usize::try_from(tick).ok()?).copied()
    }

    /// The nearest reference after (`forward`) or before `tick` that missed in the innermost level.
    #[must_use]
    pub fn find_miss(&self, tick: u64, forward: bool) -> Option<u64> {
        let tick = usize::try_from(tick).ok()?;
        let missed = |o: &Outcome| o.missed();
        let at = if forward {
            let from = (tick + 1).min(self.0.len());
            from + self.0[from..].iter().position(missed)?
        } else {
            self.0[..tick.min(self.0.len())].iter().rposition(missed)?
        };
        Some(at as u64)
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.len() * size_of::<Outcome>()
    }
}
