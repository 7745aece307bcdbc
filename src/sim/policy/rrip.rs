//! What re-reference interval prediction has in common (Jaleel, Theobald, Steely, Emer 2010): two bits a way say how far ahead the next use is
//! thought to be, 0 = near, 3 = distant. A hit makes it 0. The victim is the lowest way at 3; while there is none, all age.
//!
//! The three policies differ in where a fill begins: `srrip`, `brrip`, `drrip`.

use super::{Set, View, lot};
use std::cmp::Reverse;

/// The next use is thought to be far ahead.
pub(super) const DISTANT: u32 = 3;
/// The next use is thought to come, but not soon.
pub(super) const LONG: u32 = 2;
/// Of so many fills one begins as [`LONG`].
const ONE_IN: u64 = 32;

pub(super) fn victim(set: &mut Set<'_>) -> usize {
    let ways = set.words.len();
    let state = &mut set.state[..ways];
    let farthest = state.iter().copied().max().unwrap_or(DISTANT);
    for rrpv in state.iter_mut() {
        *rrpv += DISTANT - farthest;
    }
    state.iter().position(|rrpv| *rrpv == DISTANT).unwrap_or(0)
}

/// BRRIP's draw: counts the set's fills in the state behind its ways.
pub(super) fn bimodal(set: &mut Set<'_>) -> u32 {
    let fills = &mut set.state[set.words.len()];
    let near = lot(set.seed, set.number, *fills).is_multiple_of(ONE_IN);
    *fills = fills.wrapping_add(1);
    if near { LONG } else { DISTANT }
}

pub(super) fn key(set: &View<'_>, way: usize) -> (u64, Reverse<usize>) {
    (u64::from(set.state[way]), Reverse(way))
}

pub(super) fn use_again(set: &mut Set<'_>, way: usize) -> usize {
    set.state[way] = 0;
    way
}

pub(super) fn forget(set: &mut Set<'_>, way: usize) {
    set.state[way] = DISTANT;
}
