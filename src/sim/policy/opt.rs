//! Belady's OPT, also known as MIN (Belady 1966): the victim is the line whose next use is farthest ahead; of lines that are
//! never used again, the one in the lowest way. The positions come from a pass over the trace (`sim::prepare`).

use super::{About, Family, Replacement, Set, View};
use std::cmp::Reverse;

/// Position of a use that never comes.
pub(in crate::sim) const NEVER: u32 = u32::MAX;

pub(super) struct Opt;

impl Replacement for Opt {
    const ABOUT: About = About {
        word: "opt",
        victim: "the line whose next use is farthest ahead",
        source: "Belady 1966",
        state: "the next use of each way",
        family: Family::Future,
        needs_future: true,
        crosses_sets: true,
        ..About::NONE
    };

    fn state_len(ways: usize) -> usize {
        ways
    }

    fn hit(set: &mut Set<'_>, way: usize) -> usize {
        set.state[way] = set.next_use;
        way
    }

    fn victim(set: &mut Set<'_>) -> usize {
        set.state.iter().zip(0..).max_by_key(|&(next, way)| (next, Reverse(way))).map_or(0, |(_, way)| way)
    }

    fn fill(set: &mut Set<'_>, way: usize) -> usize {
        set.state[way] = set.next_use;
        way
    }

    fn remove(set: &mut Set<'_>, way: usize) {
        set.state[way] = 0;
    }

    fn key(set: &View<'_>, way: usize, _: bool) -> (u64, Reverse<usize>) {
        (u64::from(set.state[way]), Reverse(way))
    }
}
