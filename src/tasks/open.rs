//! The tasks that are under way at a moment, found without going through those that are over: tasks stand by location and start, and of
//! every so many neighbours the latest end is known.

use super::Symbol;
use super::set::{TaskIndex, TaskSet};
use std::ops::Range;

/// Neighbours of which the latest end is known.
const BLOCK: usize = 64;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct OpenIndex {
    latest: Vec<u64>,
}

impl OpenIndex {
    /// Of all tasks of a set.
    #[must_use]
    pub fn new(set: &TaskSet) -> Self {
        let latest = set.ends.chunks(BLOCK).map(|ends| ends.iter().copied().max().unwrap_or(0)).collect();
        Self { latest }
    }

    /// The tasks of a location that start at `times.end` at the latest and end at `times.start` or later, by start.
    pub fn during<'a>(
        &'a self,
        set: &'a TaskSet,
        location: Symbol,
        times: Range<u64>,
    ) -> impl Iterator<Item = TaskIndex> + 'a {
        let here = set.tasks_at(location);
        let (first, last) = (here.start as usize, here.end as usize);
        let last = first + set.starts[first..last].partition_point(|&start| start <= times.end);
        let blocks = if first < last { first / BLOCK..(last - 1) / BLOCK + 1 } else { 0..0 };
        let late = blocks.filter(move |&block| self.latest[block] >= times.start);
        let each = late.flat_map(move |block| (block * BLOCK).max(first)..((block + 1) * BLOCK).min(last));
        each.filter(move |&task| set.ends[task] >= times.start)
            .map(|task| TaskIndex::try_from(task).unwrap_or(super::NO_TASK))
    }

    /// The tasks of a location that are under way at a tick: started, and not over.
    pub fn at<'a>(&'a self, set: &'a TaskSet, location: Symbol, tick: u64) -> impl Iterator<Item = TaskIndex> + 'a {
        self.during(set, location, tick..tick).filter(move |&task| set.end(task) > tick)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NewTask, TaskId, TaskSetBuilder};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn what_is_found_is_what_a_look_at_all_of_them_finds(
            tasks in prop::collection::vec((0u8..3, 0u64..400, 0u64..90), 0..400),
            from in 0u64..500,
            length in 0u64..50,
        ) {
            let mut builder = TaskSetBuilder::new(1_000);
            for (n, &(place, start, length)) in tasks.iter().enumerate() {
                let (word, location) = (builder.word("a"), builder.location(&format!("L{place}")));
                let id = TaskId::Number(n as u64 + 1);
                let (category, action, end) = (word, word, start + length);
                builder.push(NewTask { id: &id, parent: None, category, action, location, start, end }).expect("few");
            }
            let set = builder.finish().set;
            let index = OpenIndex::new(&set);
            for (location, _) in set.locations().iter() {
                let found: Vec<TaskIndex> = index.during(&set, location, from..from + length).collect();
                let is_during = |&task: &TaskIndex| set.start(task) <= from + length && set.end(task) >= from;
                let expected: Vec<TaskIndex> = set.tasks_at(location).filter(is_during).collect();
                prop_assert_eq!(found, expected);
                let found: Vec<TaskIndex> = index.at(&set, location, from).collect();
                let is_open = |&task: &TaskIndex| set.start(task) <= from && set.end(task) > from;
                prop_assert_eq!(found, set.tasks_at(location).filter(is_open).collect::<Vec<_>>());
            }
        }
    }
}
