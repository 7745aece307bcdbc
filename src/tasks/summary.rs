//! A set of tasks in numbers.

use super::set::TaskSet;
use super::{REQUEST_IN, Symbol};
use std::collections::BTreeMap;

/// The requests that a location served.
#[derive(Clone, Debug, PartialEq)]
pub struct LocationSummary {
    /// The location.
    pub location: Symbol,
    /// How many there were.
    pub count: u64,
    /// How long one took, seconds, as a mean.
    pub mean: f64,
    /// The most that were there at once. One that ends when another starts does not overlap it; one that takes no time does not
    /// count.
    pub max_concurrency: u64,
}

/// A whole set in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// First start, seconds.
    pub start: f64,
    /// Last end, seconds.
    pub end: f64,
    /// Tasks.
    pub tasks: u64,
    /// Locations that have a task.
    pub locations: u64,
    /// Tasks whose parent is named and is not there.
    pub dangling_parents: u64,
    /// Tasks of each category, by its name.
    pub kinds: BTreeMap<String, u64>,
    /// Locations that served requests, in the order in which they were met.
    pub requests_in: Vec<LocationSummary>,
}

/// What a set holds.
#[must_use]
pub fn summary(set: &TaskSet) -> Summary {
    let mut by_pair = vec![0u64; set.pairs().len()];
    for task in 0..set.len() {
        by_pair[set.pair(super::TaskIndex::try_from(task).unwrap_or(super::NO_TASK)) as usize] += 1;
    }
    let mut kinds = BTreeMap::new();
    for ((category, _), count) in set.pairs().zip(by_pair) {
        *kinds.entry(category.to_owned()).or_default() += count;
    }
    kinds.retain(|_, count| *count > 0);
    let requests_in = set.locations().iter().filter_map(|(location, _)| served(set, location)).collect();
    let (start, end) = set.span();
    Summary {
        start: set.seconds(start),
        end: set.seconds(end),
        tasks: set.len() as u64,
        locations: set.locations().iter().filter(|&(location, _)| !set.tasks_at(location).is_empty()).count() as u64,
        dangling_parents: set.dangling() as u64,
        kinds,
        requests_in,
    }
}

fn served(set: &TaskSet, location: Symbol) -> Option<LocationSummary> {
    let requests = || set.tasks_at(location).filter(|&task| set.task_category(task) == REQUEST_IN);
    let count = requests().count() as u64;
    if count == 0 {
        return None;
    }
    let ticks: u128 = requests().map(|task| u128::from(set.end(task) - set.start(task))).sum();
    Some(LocationSummary {
        location,
        count,
        mean: ticks as f64 / count as f64 / set.ticks_per_second() as f64,
        max_concurrency: most_at_once(requests().map(|task| (set.start(task), set.end(task)))),
    })
}

/// The most intervals that overlap; each is from its start up to, not with, its end.
pub fn most_at_once(intervals: impl Iterator<Item = (u64, u64)>) -> u64 {
    // At one moment ends come before starts.
    let mut changes: Vec<(u64, i64)> =
        intervals.filter(|(start, end)| end > start).flat_map(|(start, end)| [(start, 1), (end, -1)]).collect();
    changes.sort_unstable();
    let mut now = 0i64;
    let most = changes.iter().map(|&(_, step)| {
        now += step;
        now
    });
    most.max().map_or(0, i64::unsigned_abs)
}
