//! Static re-reference interval prediction (Jaleel, Theobald, Steely, Emer 2010): a fill begins at 2, so that a line has to be used
//! once to be kept.

use super::rrip::{self, LONG};
use super::{About, Family, Replacement, Set, View};
use std::cmp::Reverse;

pub(super) struct Srrip;

impl Replacement for Srrip {
    const ABOUT: About = About {
        word: "srrip",
        victim: "the first line that is predicted to be used last",
        source: "Jaleel, Theobald, Steely, Emer 2010",
        state: "2 bits a way",
        family: Family::Prediction,
        ..About::NONE
    };

    fn state_len(ways: usize) -> usize {
        ways
    }

    fn hit(set: &mut Set<'_>, way: usize) -> usize {
        rrip::use_again(set, way)
    }

    fn victim(set: &mut Set<'_>) -> usize {
        rrip::victim(set)
    }

    fn fill(set: &mut Set<'_>, way: usize) -> usize {
        set.state[way] = LONG;
        way
    }

    fn remove(set: &mut Set<'_>, way: usize) {
        rrip::forget(set, way);
    }

    fn key(set: &View<'_>, way: usize, _: bool) -> (u64, Reverse<usize>) {
        rrip::key(set, way)
    }
}
