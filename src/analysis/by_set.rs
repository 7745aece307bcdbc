//! Misses of every associativity at once.

use super::touch::Touches;
use crate::reference::Reference;

/// LRU stacks of the sets of a cache, each with its most recent lines: one pass tells the misses of every number of ways up to a limit
/// (Mattson, Gecsei, Slutz and Traiger, 1970, "congruence mapping"; Hill and Smith, "Evaluating Associativity in CPU Caches", 1989).
#[derive(Clone, Debug)]
pub struct SetStacks {
    touches: Touches,
    set_mask: u64,
    most_ways: usize,
    /// By set, most recent first.
    sets: Vec<Vec<u64>>,
    /// Touches by their place in the stack of their set.
    hits: Vec<u64>,
    accesses: u64,
}

impl SetStacks {
    /// `1 << set_bits` sets, indexed by the low bits of a line's number; caches of 1 to `most_ways` ways are told of. A touch takes as
    /// many steps as its place in the stack, `most_ways` at most.
    #[must_use]
    pub fn new(touches: Touches, set_bits: u32, most_ways: usize) -> Self {
        let sets = 1usize << set_bits.min(30);
        Self {
            touches,
            set_mask: sets as u64 - 1,
            most_ways,
            sets: vec![Vec::new(); sets],
            hits: vec![0; most_ways],
            accesses: 0,
        }
    }

    /// Plays references, in their order.
    pub fn play(&mut self, references: &[Reference]) {
        let touches = self.touches;
        for reference in references {
            touches.each(reference, |line| self.touch(line));
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "masked to the number of a set, of which there are few")]
    fn touch(&mut self, line: u64) {
        self.accesses += 1;
        let set = &mut self.sets[(line & self.set_mask) as usize];
        match set.iter().position(|other| *other == line) {
            Some(place) => {
                self.hits[place] += 1;
                set[..=place].rotate_right(1);
            }
            None => {
                if set.len() == self.most_ways {
                    set.pop();
                }
                set.insert(0, line);
            }
        }
    }

    /// Number of sets.
    #[must_use]
    pub fn sets(&self) -> usize {
        self.sets.len()
    }

    /// Touches so far.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Misses of an LRU cache with these sets and so many ways; `None` past the limit.
    #[must_use]
    pub fn misses(&self, ways: usize) -> Option<u64> {
        let hits = self.hits.get(..ways)?;
        Some(self.accesses - hits.iter().sum::<u64>())
    }
}
