//! Dynamic re-reference interval prediction (Jaleel, Theobald, Steely, Emer 2010): sets duel. Of every `max(2, sets / 32)` sets the
//! first always fills as SRRIP and the last as BRRIP, a counter of 10 bits tells which of the two misses more, and the other sets
//! fill as the better one does.

use super::rrip::{self, LONG, bimodal};
use super::{About, Family, Replacement, Set, View};
use std::cmp::Reverse;

/// Top of the selector; it starts at half, where SRRIP rules.
const SELECTOR_MAX: u16 = 1023;
/// Where the selector starts.
pub(in crate::sim) const SELECTOR_START: u16 = SELECTOR_MAX / 2;

pub(super) struct Drrip;

/// Whom a set follows.
enum Leader {
    Srrip,
    Brrip,
    None,
}

fn leader(set: u32, sets: u32) -> Leader {
    let constituency = (sets / 32).max(2);
    match set % constituency {
        0 => Leader::Srrip,
        n if n == constituency - 1 => Leader::Brrip,
        _ => Leader::None,
    }
}

impl Replacement for Drrip {
    const ABOUT: About = About {
        word: "drrip",
        victim: "the first line that is predicted to be used last",
        source: "Jaleel, Theobald, Steely, Emer 2010",
        state: "2 bits a way and the fills so far; 10 bits a cache",
        family: Family::Prediction,
        draws: true,
        crosses_sets: true,
        least_sets: 2,
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
        // Every fill is a miss.
        let bimodally = match leader(set.number, set.sets) {
            Leader::Srrip => {
                *set.selector = (*set.selector + 1).min(SELECTOR_MAX);
                false
            }
            Leader::Brrip => {
                *set.selector = set.selector.saturating_sub(1);
                true
            }
            Leader::None => *set.selector > SELECTOR_START,
        };
        set.state[way] = if bimodally { bimodal(set) } else { LONG };
        way
    }

    fn remove(set: &mut Set<'_>, way: usize) {
        rrip::forget(set, way);
    }

    fn key(set: &View<'_>, way: usize, _: bool) -> (u64, Reverse<usize>) {
        rrip::key(set, way)
    }
}
