//! What the policies share whose sets are lists in eviction order: the next victim last, empty ways at the end.
//!
//! LRU and FIFO differ in one thing: whether a hit moves its line to the head. MRU keeps the same list as LRU, turned
//! round: the line just used is the next to leave.

use super::{DIRTY, Policy, Set};

/// What became of an access to a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Outcome {
    /// The line was there.
    Hit,
    /// It was not, and is now; the word of the line that left for it, or 0.
    Miss(u64),
}

/// Accesses `key` (tag and `VALID`, no other flag) in a set of 1 way or more without notes; `dirty` is `DIRTY` or 0. In one
/// pass, for policies that age ([`About::ages`](super::About::ages)).
#[inline(always)]
pub(in crate::sim) fn access(set: &mut [u64], key: u64, dirty: u64, policy: Policy) -> Outcome {
    // Most accesses of real programs go to the line at the head, where no list policy has anything to move.
    if set[0] & !DIRTY == key {
        set[0] |= dirty;
        return Outcome::Hit;
    }
    match policy {
        Policy::Fifo => access_fifo(set, key, dirty),
        _ => access_lru(set, key, dirty),
    }
}

/// Looks for the line and ages those before it in one pass: at the end of a miss the pass has dropped the victim.
#[inline]
fn access_lru(set: &mut [u64], key: u64, dirty: u64) -> Outcome {
    let mut carried = set[0];
    for slot in &mut set[1..] {
        let here = std::mem::replace(slot, carried);
        if here & !DIRTY == key {
            set[0] = here | dirty;
            return Outcome::Hit;
        }
        carried = here;
    }
    set[0] = key | dirty;
    Outcome::Miss(carried)
}

#[inline]
fn access_fifo(set: &mut [u64], key: u64, dirty: u64) -> Outcome {
    if let Some(word) = set[1..].iter_mut().find(|word| **word & !DIRTY == key) {
        *word |= dirty;
        return Outcome::Hit;
    }
    let mut carried = key | dirty;
    for slot in set {
        carried = std::mem::replace(slot, carried);
    }
    Outcome::Miss(carried)
}

/// Lines in the set, which stand at its front.
pub(super) fn held(set: &Set<'_>) -> usize {
    set.empty().unwrap_or(set.words.len())
}

/// `way` of a list was emptied: those behind it move up.
pub(super) fn close(set: &mut Set<'_>, way: usize) {
    let end = set.words.len();
    set.move_to_back(way, end);
}
