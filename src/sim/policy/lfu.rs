//! Least frequently used: uses since the fill, which counts as one; ties leave from the lowest way (Denning 1970).

use super::{About, Family, Replacement, Set, View};
use std::cmp::Reverse;

pub(super) struct Lfu;

impl Replacement for Lfu {
    const ABOUT: About = About {
        word: "lfu",
        victim: "the line with the fewest uses since its fill",
        source: "Denning 1970",
        state: "a count a way",
        family: Family::Count,
        ..About::NONE
    };

    fn state_len(ways: usize) -> usize {
        ways
    }

    fn hit(set: &mut Set<'_>, way: usize) -> usize {
        set.state[way] = set.state[way].saturating_add(1);
        way
    }

    fn victim(set: &mut Set<'_>) -> usize {
        set.state.iter().zip(0..).min().map_or(0, |(_, way)| way)
    }

    fn fill(set: &mut Set<'_>, way: usize) -> usize {
        set.state[way] = 1;
        way
    }

    fn remove(set: &mut Set<'_>, way: usize) {
        set.state[way] = 0;
    }

    fn key(set: &View<'_>, way: usize, _: bool) -> (u64, Reverse<usize>) {
        (u64::from(u32::MAX - set.state[way]), Reverse(way))
    }
}
