//! Rows for tasks that overlap: each task, in the order of starts, goes to the lowest row that is free (Daisen). A row is free again
//! for a task that starts when the one before it ends, or later.

use super::Symbol;
use super::set::{TaskIndex, TaskSet};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The outermost tasks of a location: those that are a part of nothing, or of a task elsewhere; by start.
pub fn outermost(set: &TaskSet, location: Symbol) -> impl Iterator<Item = TaskIndex> {
    let here = set.tasks_at(location);
    here.clone().filter(move |&task| set.parent(task).is_none_or(|parent| !here.contains(&parent)))
}

/// The row of each interval, in their order, which is that of starts; and how many rows there are.
#[must_use]
pub fn rows(intervals: &[(u64, u64)]) -> (Vec<u32>, u32) {
    let mut free = BTreeSet::new();
    let mut busy = BinaryHeap::new();
    let mut count = 0;
    let rows = intervals.iter().map(|&(start, end)| {
        while let Some(&Reverse((until, row))) = busy.peek()
            && until <= start
        {
            busy.pop();
            free.insert(row);
        }
        let row = free.pop_first().unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        busy.push(Reverse((end, row)));
        row
    });
    let rows = rows.collect();
    (rows, count)
}
