//! Tasks in any order into a [`TaskSet`].

use super::TaskId;
use super::ids::{Ids, Parts};
use super::set::{Milestone, NO_TASK, TaskIndex, TaskSet};
use super::words::{Symbol, Symbols};
use crate::axis::AxisUnit;
use rayon::slice::ParallelSliceMut;
use std::collections::HashMap;

/// A task that is added.
#[derive(Clone, Copy, Debug)]
pub struct NewTask<'a> {
    /// What it is called; no two may be called the same.
    pub id: &'a TaskId<'a>,
    /// What it is a part of; it may be added later.
    pub parent: Option<&'a TaskId<'a>>,
    /// A word of [`TaskSetBuilder::word`].
    pub category: Symbol,
    /// A word of [`TaskSetBuilder::word`].
    pub action: Symbol,
    /// A location of [`TaskSetBuilder::location`].
    pub location: Symbol,
    /// First tick.
    pub start: u64,
    /// The tick at which it was over.
    pub end: u64,
}

/// What was told of a task that may be added later.
#[derive(Clone, Copy, Debug)]
struct Told {
    digest: u64,
    time: u64,
    category: Symbol,
    what: Symbol,
    location: Option<Symbol>,
}

/// Makes a [`TaskSet`].
#[derive(Clone, Debug)]
pub struct TaskSetBuilder {
    ticks_per_second: u64,
    unit: AxisUnit,
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// Names of parents, and whether there is one.
    parents: Ids,
    has_parent: Vec<bool>,
    kinds: Vec<u32>,
    pairs: Vec<(Symbol, Symbol)>,
    pair_numbers: HashMap<(Symbol, Symbol), u32>,
    locations_of: Vec<Symbol>,
    ids: Ids,
    words: Symbols,
    locations: Symbols,
    milestones: Vec<Told>,
    tags: Vec<Told>,
    reversed: u64,
}

/// What came of the tasks that were added.
#[derive(Clone, Debug)]
pub struct Built {
    /// The tasks.
    pub set: TaskSet,
    /// Tasks that ended before they started: they are left out.
    pub reversed: u64,
    /// Tasks that are called as another one is: what names it means the first in the order of locations and starts.
    pub repeated: u64,
    /// Milestones and tags of tasks that there are not: they are left out.
    pub orphans: u64,
}

/// There can be no more than 2^32 - 1 tasks in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than 4,294,967,294 tasks; expected a part of the run")]
pub struct TooMany;

impl TaskSetBuilder {
    /// Of tasks whose times are parts of a second, so many of them (1 or more).
    #[must_use]
    pub fn new(ticks_per_second: u64) -> Self {
        let ticks_per_second = ticks_per_second.max(1);
        Self {
            ticks_per_second,
            unit: AxisUnit::Seconds { ticks: ticks_per_second },
            starts: Vec::new(),
            ends: Vec::new(),
            parents: Ids::default(),
            has_parent: Vec::new(),
            kinds: Vec::new(),
            pairs: Vec::new(),
            pair_numbers: HashMap::new(),
            locations_of: Vec::new(),
            ids: Ids::default(),
            words: Symbols::default(),
            locations: Symbols::default(),
            milestones: Vec::new(),
            tags: Vec::new(),
            reversed: 0,
        }
    }

    /// Of tasks whose times are cycles of a clock of unknown speed. Where seconds are wanted, a cycle is a nanosecond.
    #[must_use]
    pub fn of_cycles() -> Self {
        Self { unit: AxisUnit::Cycles, ..Self::new(1_000_000_000) }
    }

    /// Of tasks whose times are rows of what a kernel did: their order, and no time. Where seconds are wanted, a row is a nanosecond.
    #[must_use]
    pub fn of_rows() -> Self {
        Self { unit: AxisUnit::Rows, ..Self::new(1_000_000_000) }
    }

    /// The number of a category, an action or a word of a milestone.
    pub fn word(&mut self, word: &str) -> Symbol {
        self.words.add(word)
    }

    /// The number of a location.
    pub fn location(&mut self, name: &str) -> Symbol {
        self.locations.add(name)
    }

    /// The name of a location's number.
    #[must_use]
    pub fn location_name(&self, location: Symbol) -> &str {
        self.locations.word(location)
    }

    /// Tasks so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Adds a task. One that ends before it starts is counted and left out.
    ///
    /// # Errors
    /// When there are too many.
    pub fn push(&mut self, task: NewTask<'_>) -> Result<(), TooMany> {
        if task.end < task.start {
            self.reversed += 1;
            return Ok(());
        }
        if self.starts.len() >= NO_TASK as usize {
            return Err(TooMany);
        }
        self.starts.push(task.start);
        self.ends.push(task.end);
        let pair = (task.category, task.action);
        let number = *self.pair_numbers.entry(pair).or_insert_with(|| {
            self.pairs.push(pair);
            u32::try_from(self.pairs.len() - 1).unwrap_or(u32::MAX)
        });
        self.kinds.push(number);
        self.locations_of.push(task.location);
        self.ids.push(task.id, self.locations.word(task.location));
        self.has_parent.push(task.parent.is_some());
        // A number costs no text.
        self.parents.push(task.parent.unwrap_or(&TaskId::Number(0)), NOWHERE);
        Ok(())
    }

    /// Adds a milestone of a task: until then it waited for `what`, a thing of this category. Without a location it is the task's own.
    pub fn milestone(
        &mut self,
        task: &TaskId<'_>,
        time: u64,
        category: Symbol,
        what: Symbol,
        location: Option<Symbol>,
    ) {
        self.milestones.push(Told { digest: Parts::of(task).digest(), time, category, what, location });
    }

    /// Adds a tag of a task: what came of it, and when.
    pub fn tag(&mut self, task: &TaskId<'_>, time: u64, what: Symbol) {
        let category = self.words.add("");
        self.tags.push(Told { digest: Parts::of(task).digest(), time, category, what, location: None });
    }

    /// Sorts and joins all that was added.
    #[must_use]
    pub fn finish(self) -> Built {
        let Self { starts, ends, kinds, locations_of, mut ids, mut parents, has_parent, locations, .. } = self;
        // By location first, in the order of the file, which is often that of time.
        let mut bounds = vec![0; locations.len() + 1];
        for location in &locations_of {
            bounds[location.index() + 1] += 1;
        }
        for at in 1..bounds.len() {
            bounds[at] += bounds[at - 1];
        }
        let mut order = vec![0; starts.len()];
        let mut next = bounds.clone();
        for (at, location) in (0..).zip(&locations_of) {
            let place: &mut TaskIndex = &mut next[location.index()];
            order[*place as usize] = at;
            *place += 1;
        }
        drop(next);
        bounds.remove(0);
        let mut from = 0;
        for &to in &bounds {
            // Stable: what was added first comes first among equals.
            order[from..to as usize].sort_by_key(|&old| (starts[old as usize], u64::MAX - ends[old as usize]));
            from = to as usize;
        }
        let moved = |column: Vec<u64>| -> Vec<u64> { order.iter().map(|&old| column[old as usize]).collect() };
        let starts = moved(starts);
        let ends = moved(ends);
        let kinds = order.iter().map(|&old| kinds[old as usize]).collect();
        let locations_of: Vec<Symbol> = order.iter().map(|&old| locations_of[old as usize]).collect();
        let has_parent: Vec<bool> = order.iter().map(|&old| has_parent[old as usize]).collect();
        ids.reorder(&order);
        parents.reorder(&order);
        drop(order);

        let mut by_digest: Vec<(u64, TaskIndex)> = (0..count(starts.len()))
            .map(|at| {
                let location = locations.word(locations_of[at as usize]);
                (ids.parts(at as usize, location).digest(), at)
            })
            .collect();
        by_digest.par_sort_unstable();
        let repeated = by_digest.windows(2).filter(|two| two[0].0 == two[1].0).count() as u64;
        let mut dangling = Vec::new();
        let mut found = vec![NO_TASK; starts.len()];
        let wanted = (0..starts.len()).filter(|&at| has_parent[at]).map(|at| (parents.parts(at, NOWHERE).digest(), at));
        join(&by_digest, wanted, |at, task| match task {
            Some(task) => found[at] = task,
            None => dangling.push((count(at), parents.name(at, NOWHERE).into())),
        });
        dangling.sort_unstable();
        drop((parents, has_parent));
        let parents = found;
        let mut orphans = 0;
        let mut told = |all: Vec<Told>| {
            let mut out = Vec::with_capacity(all.len());
            let mut tasks = vec![NO_TASK; all.len()];
            join(&by_digest, all.iter().map(|told| told.digest).zip(0..), |at, task| {
                tasks[at] = task.unwrap_or(NO_TASK);
            });
            for (Told { time, category, what, location, .. }, task) in all.into_iter().zip(tasks) {
                if task == NO_TASK {
                    orphans += 1;
                    continue;
                }
                let location = location.unwrap_or(locations_of[task as usize]);
                out.push(Milestone { task, time, category, what, location });
            }
            // Stable: those of one moment stay as they were told.
            out.sort_by_key(|milestone: &Milestone| (milestone.task, milestone.time));
            out
        };
        let milestones = told(self.milestones);
        let tags = told(self.tags);
        drop(by_digest);

        let mut children: Vec<TaskIndex> =
            (0..count(starts.len())).filter(|&task| parents[task as usize] != NO_TASK).collect();
        children.par_sort_unstable_by_key(|&child| (parents[child as usize], child));
        let span = (starts.iter().min().copied().unwrap_or(0), ends.iter().max().copied().unwrap_or(0));
        let set = TaskSet {
            ticks_per_second: self.ticks_per_second,
            unit: self.unit,
            starts,
            ends,
            parents,
            kinds,
            pairs: self.pairs,
            ids,
            words: self.words,
            locations,
            bounds,
            children,
            milestones,
            tags,
            dangling,
            span,
        };
        Built { set, reversed: self.reversed, repeated, orphans }
    }
}

/// A location that no name has, so that names of parents keep theirs.
const NOWHERE: &str = "\0";

fn count(tasks: usize) -> TaskIndex {
    TaskIndex::try_from(tasks).unwrap_or(NO_TASK)
}

/// Digests that are looked for together.
const TOGETHER: usize = 1 << 20;

/// Gives the first task of each digest that is wanted, with what it is wanted for. Both lists are gone through in order of digests, a million
/// of those that are wanted at a time: a look from one end of memory to the other for each of them would take five times as long.
fn join(
    by_digest: &[(u64, TaskIndex)],
    mut wanted: impl Iterator<Item = (u64, usize)>,
    mut found: impl FnMut(usize, Option<TaskIndex>),
) {
    let mut some: Vec<(u64, usize)> = Vec::new();
    loop {
        some.clear();
        some.extend(wanted.by_ref().take(TOGETHER));
        if some.is_empty() {
            return;
        }
        some.par_sort_unstable();
        let mut left = by_digest;
        for &(digest, what) in &some {
            // Where few are wanted of many, most are passed over.
            let mut step = 1;
            while left.get(step).is_some_and(|&(other, _)| other < digest) {
                left = &left[step..];
                step *= 2;
            }
            let end = (step + 1).min(left.len());
            left = &left[left[..end].partition_point(|&(other, _)| other < digest)..];
            found(what, left.first().filter(|&&(other, _)| other == digest).map(|&(_, task)| task));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_there_is_found_and_nothing_else(
            mut digests in prop::collection::vec(prop_oneof![any::<u64>(), 0u64..9, (u64::MAX - 9)..=u64::MAX], 0..300),
            other in any::<u64>(),
        ) {
            digests.sort_unstable();
            let all: Vec<(u64, TaskIndex)> = digests.iter().copied().zip(0..).collect();
            let wanted: Vec<u64> = digests.iter().rev().copied().chain([other, 0, u64::MAX, other]).collect();
            let mut got = vec![Some(NO_TASK); wanted.len()];
            join(&all, wanted.iter().copied().zip(0..), |at, task| got[at] = task);
            for (digest, got) in wanted.into_iter().zip(got) {
                let first = all.iter().find(|&&(one, _)| one == digest).map(|&(_, task)| task);
                prop_assert_eq!(got, first);
            }
        }
    }
}
