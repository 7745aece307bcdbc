//! Bit-PLRU, also known as NRU, not recently used (Malamy, Patel, Hayes 1994; Jaleel et al. 2010): a bit a way, set on use.
//! When all would be set, the others are cleared. The victim is the lowest way whose bit is 0.

use super::{About, Family, Replacement, Set, View};
use std::cmp::Reverse;

pub(super) struct BitPlru;

impl Replacement for BitPlru {
    const ABOUT: About = About {
        word: "bit-plru",
        victim: "the first line whose bit is 0",
        source: "Malamy, Patel, Hayes 1994; as NRU in Jaleel et al. 2010",
        state: "a bit a way",
        family: Family::PseudoLru,
        ..About::NONE
    };

    fn state_len(ways: usize) -> usize {
        ways
    }

    fn hit(set: &mut Set<'_>, way: usize) -> usize {
        set.state[way] = 1;
        if set.state.iter().all(|bit| *bit == 1) {
            set.state.fill(0);
            set.state[way] = 1;
        }
        way
    }

    fn victim(set: &mut Set<'_>) -> usize {
        // A set of one way has no bit at 0.
        set.state.iter().position(|bit| *bit == 0).unwrap_or(0)
    }

    fn fill(set: &mut Set<'_>, way: usize) -> usize {
        Self::hit(set, way)
    }

    fn remove(set: &mut Set<'_>, way: usize) {
        set.state[way] = 0;
    }

    fn key(set: &View<'_>, way: usize, _: bool) -> (u64, Reverse<usize>) {
        (u64::from(set.state[way] == 0), Reverse(way))
    }
}
