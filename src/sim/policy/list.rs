//! Policies whose sets are lists in eviction order: the next victim last, empty ways at the end.
//!
//! LRU and FIFO differ in one thing: whether a hit moves its line to the head. MRU keeps the same list as LRU, turned
//! round: the line just used is the next to leave.

use super::{DIRTY, Policy, Replacement, Set};

/// What became of an access to a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Outcome {
    /// The line was there.
    Hit,
    /// It was not, and is now; the word of the line that left for it, or 0.
    Miss(u64),
}

/// Accesses `key` (tag and `VALID`, no other flag) in a set of 1 way or more without notes; `dirty` is `DIRTY` or 0. In one
/// pass, for LRU and FIFO ([`Policy::is_plain`]).
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
fn held(set: &Set<'_>) -> usize {
    set.empty().unwrap_or(set.words.len())
}

/// `way` of a list was emptied: those behind it move up.
fn close(set: &mut Set<'_>, way: usize) {
    let end = set.words.len();
    set.move_to_back(way, end);
}

pub(super) struct Lru;

impl Replacement for Lru {
    fn hit(set: &mut Set<'_>, way: usize) -> usize {
        set.move_to_front(way);
        0
    }

    fn fill(set: &mut Set<'_>, way: usize) -> usize {
        set.move_to_front(way);
        0
    }

    fn remove(set: &mut Set<'_>, way: usize) {
        close(set, way);
    }
}

pub(super) struct Fifo;

impl Replacement for Fifo {
    fn hit(_: &mut Set<'_>, way: usize) -> usize {
        way
    }

    fn fill(set: &mut Set<'_>, way: usize) -> usize {
        set.move_to_front(way);
        0
    }

    fn remove(set: &mut Set<'_>, way: usize) {
        close(set, way);
    }
}

pub(super) struct Mru;

impl Replacement for Mru {
    fn hit(set: &mut Set<'_>, way: usize) -> usize {
        let held = held(set);
        set.move_to_back(way, held);
        held - 1
    }

    fn fill(_: &mut Set<'_>, way: usize) -> usize {
        // The lowest empty way is the one behind all lines; the victim's was the last.
        way
    }

    fn remove(set: &mut Set<'_>, way: usize) {
        close(set, way);
    }
}
