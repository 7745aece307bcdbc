//! Re-reference interval prediction (Jaleel, Theobald, Steely, Emer 2010): two bits a way say how far ahead the next use is
//! thought to be, 0 = near, 3 = distant. A hit makes it 0. The victim is the lowest way at 3; while there is none, all age.
//!
//! - SRRIP fills at 2, so that a line has to be used once to be kept.
//! - BRRIP fills at 3, and at 2 once in 32 times, so that a part of a working set that is too large stays.
//! - DRRIP lets sets duel: of every `max(2, sets / 32)` sets the first always fills as SRRIP and the last as BRRIP, a counter
//!   of 10 bits tells which of the two misses more, and the other sets fill as the better one does.

use super::{Replacement, Set, View, lot};
use std::cmp::Reverse;

const DISTANT: u32 = 3;
const LONG: u32 = 2;
const ONE_IN: u64 = 32;
/// Top of the selector; it starts at half, where SRRIP rules.
const SELECTOR_MAX: u16 = 1023;
/// Where the selector starts.
pub(in crate::sim) const SELECTOR_START: u16 = SELECTOR_MAX / 2;

fn victim(set: &mut Set<'_>) -> usize {
    let ways = set.words.len();
    let state = &mut set.state[..ways];
    let farthest = state.iter().copied().max().unwrap_or(DISTANT);
    for rrpv in state.iter_mut() {
        *rrpv += DISTANT - farthest;
    }
    state.iter().position(|rrpv| *rrpv == DISTANT).unwrap_or(0)
}

/// BRRIP's draw: counts the set's fills in the state behind its ways.
fn bimodal(set: &mut Set<'_>) -> u32 {
    let fills = &mut set.state[set.words.len()];
    let near = lot(set.seed, set.number, *fills).is_multiple_of(ONE_IN);
    *fills = fills.wrapping_add(1);
    if near { LONG } else { DISTANT }
}

fn key(set: &View<'_>, way: usize) -> (u64, Reverse<usize>) {
    (u64::from(set.state[way]), Reverse(way))
}

fn use_again(set: &mut Set<'_>, way: usize) -> usize {
    set.state[way] = 0;
    way
}

fn forget(set: &mut Set<'_>, way: usize) {
    set.state[way] = DISTANT;
}

pub(super) struct Srrip;

impl Replacement for Srrip {
    fn hit(set: &mut Set<'_>, way: usize) -> usize {
        use_again(set, way)
    }

    fn victim(set: &mut Set<'_>) -> usize {
        victim(set)
    }

    fn fill(set: &mut Set<'_>, way: usize) -> usize {
        set.state[way] = LONG;
        way
    }

    fn remove(set: &mut Set<'_>, way: usize) {
        forget(set, way);
    }

    fn key(set: &View<'_>, way: usize, _: bool) -> (u64, Reverse<usize>) {
        key(set, way)
    }
}

pub(super) struct Brrip;

impl Replacement for Brrip {
    fn hit(set: &mut Set<'_>, way: usize) -> usize {
        use_again(set, way)
    }

    fn victim(set: &mut Set<'_>) -> usize {
        victim(set)
    }

    fn fill(set: &mut Set<'_>, way: usize) -> usize {
        set.state[way] = bimodal(set);
        way
    }

    fn remove(set: &mut Set<'_>, way: usize) {
        forget(set, way);
    }

    fn key(set: &View<'_>, way: usize, _: bool) -> (u64, Reverse<usize>) {
        key(set, way)
    }
}

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
    fn hit(set: &mut Set<'_>, way: usize) -> usize {
        use_again(set, way)
    }

    fn victim(set: &mut Set<'_>) -> usize {
        victim(set)
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
        forget(set, way);
    }

    fn key(set: &View<'_>, way: usize, _: bool) -> (u64, Reverse<usize>) {
        key(set, way)
    }
}
