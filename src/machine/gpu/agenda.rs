//! What is to happen, by cycle; of the same cycle, what was noted first comes first.
//!
//! Nearly all of it lies a few hundred cycles ahead, so that there is a list for each of the next cycles, and a heap for what is farther.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cycles that have a list of their own.
const NEAR: u64 = 1024;

/// See the module.
pub(super) struct Agenda<T> {
    near: Vec<Vec<T>>,
    /// How many are noted in `near`.
    count: usize,
    /// The cycle under way, and how many of its list were taken.
    now: u64,
    taken: usize,
    far: BinaryHeap<Reverse<(u64, u64, T)>>,
    noted: u64,
}

impl<T: Copy + Ord> Agenda<T> {
    pub(super) fn new() -> Self {
        let near = (0..NEAR).map(|_| Vec::new()).collect();
        Self { near, count: 0, now: 0, taken: 0, far: BinaryHeap::new(), noted: 0 }
    }

    fn list(&mut self, time: u64) -> &mut Vec<T> {
        &mut self.near[usize::try_from(time % NEAR).unwrap_or(0)]
    }

    /// Notes what is to happen at a cycle, this one or a later one.
    pub(super) fn note(&mut self, time: u64, what: T) {
        let time = time.max(self.now);
        if time < self.now + NEAR {
            self.count += 1;
            self.list(time).push(what);
        } else {
            self.noted += 1;
            self.far.push(Reverse((time, self.noted, what)));
        }
    }

    /// What comes next, and when.
    pub(super) fn next(&mut self) -> Option<(u64, T)> {
        loop {
            let (now, taken) = (self.now, self.taken);
            if let Some(&what) = self.list(now).get(taken) {
                self.taken += 1;
                self.count -= 1;
                return Some((now, what));
            }
            self.list(now).clear();
            self.taken = 0;
            self.now = match self.count {
                0 => self.far.peek()?.0.0,
                _ => now + 1,
            };
            // What comes near goes to its list before anything else is noted there.
            while let Some(&Reverse((time, _, what))) = self.far.peek()
                && time < self.now + NEAR
            {
                self.far.pop();
                self.count += 1;
                self.list(time).push(what);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_order_of_time_and_of_notes(
            first in prop::collection::vec(0u64..5_000, 1..40),
            later in prop::collection::vec(0u64..3_000, 0..200),
        ) {
            let mut agenda = Agenda::new();
            let mut heap = BinaryHeap::new();
            let mut number = 0u64;
            let mut note = |agenda: &mut Agenda<u64>, heap: &mut BinaryHeap<Reverse<(u64, u64)>>, time| {
                number += 1;
                agenda.note(time, number);
                heap.push(Reverse((time, number)));
            };
            first.iter().for_each(|&time| note(&mut agenda, &mut heap, time));
            let mut ahead = later.iter();
            while let Some(Reverse((time, expected))) = heap.pop() {
                prop_assert_eq!(agenda.next(), Some((time, expected)));
                if let Some(by) = ahead.next() {
                    note(&mut agenda, &mut heap, time + by);
                }
            }
            prop_assert_eq!(agenda.next(), None);
        }
    }
}
