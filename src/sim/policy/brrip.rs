//! Bimodal re-reference interval prediction (Jaleel, Theobald, Steely, Emer 2010): a fill begins at 3, and at 2 once in 32 times, so
//! that a part of a working set that is too large stays.

use super::rrip::{self, bimodal};
use super::{About, Family, Replacement, Set, View};
use std::cmp::Reverse;

pub(super) struct Brrip;

impl Replacement for Brrip {
    const ABOUT: About = About {
        word: "brrip",
        victim: "the first line that is predicted to be used last",
        source: "Jaleel, Theobald, Steely, Emer 2010",
        state: "2 bits a way and the fills so far",
        family: Family::Prediction,
        draws: true,
        ..About::NONE
    };

    fn state_len(ways: usize) -> usize {
        // And the fills so far.
        ways + 1
    }

    fn hit(set: &mut Set<'_>, way: usize) -> usize {
        rrip::use_again(set, way)
    }

    fn victim(set: &mut Set<'_>) -> usize {
        rrip::victim(set)
    }

    fn fill(set: &mut Set<'_>, way: usize) -> usize {
        set.state[way] = bimodal(set);
        way
    }

    fn remove(set: &mut Set<'_>, way: usize) {
        rrip::forget(set, way);
    }

    fn key(set: &View<'_>, way: usize, _: bool) -> (u64, Reverse<usize>) {
        rrip::key(set, way)
    }
}
