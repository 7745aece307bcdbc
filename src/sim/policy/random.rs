//! Random replacement, reproducible: the victim is a function of seed, set, and how often the set has evicted, so that it is
//! known beforehand (and drawn as the next to leave), and sets do not depend on each other.

use super::{About, Family, Replacement, Set, View, lot};
use std::cmp::Reverse;

/// Seeded random (Belady 1966).
pub(super) struct Random;

#[expect(clippy::cast_possible_truncation, reason = "below the number of ways")]
fn drawn(seed: u64, set: u32, evictions: u32, ways: usize) -> usize {
    (lot(seed, set, evictions) % ways as u64) as usize
}

impl Replacement for Random {
    const ABOUT: About = About {
        word: "random",
        victim: "a line drawn by lot, from a seed",
        source: "Belady 1966",
        state: "the evictions so far",
        family: Family::Lot,
        draws: true,
        ..About::NONE
    };

    fn state_len(_: usize) -> usize {
        1
    }

    fn hit(_: &mut Set<'_>, way: usize) -> usize {
        way
    }

    fn victim(set: &mut Set<'_>) -> usize {
        let way = drawn(set.seed, set.number, set.state[0], set.words.len());
        set.state[0] = set.state[0].wrapping_add(1);
        way
    }

    fn fill(_: &mut Set<'_>, way: usize) -> usize {
        way
    }

    fn remove(_: &mut Set<'_>, _: usize) {}

    fn key(set: &View<'_>, way: usize, full: bool) -> (u64, Reverse<usize>) {
        let next = full && way == drawn(set.seed, set.number, set.state[0], set.words.len());
        (u64::from(next), Reverse(usize::MAX - way))
    }
}
