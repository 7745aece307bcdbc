//! Many tasks, by location and start.

use super::TaskId;
use super::ids::{Ids, Parts};
use super::words::{Symbol, Symbols};
use crate::axis::{Axis, AxisUnit};
use std::collections::HashSet;
use std::ops::Range;

/// A task of a [`TaskSet`]: its place in the order of locations and starts.
pub type TaskIndex = u32;

/// No task.
pub const NO_TASK: TaskIndex = TaskIndex::MAX;

/// One task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task<'a> {
    /// Its place in the set.
    pub index: TaskIndex,
    /// What kind of thing it is: `req_in`.
    pub category: &'a str,
    /// What is done: `ReadReq`.
    pub action: &'a str,
    /// Where.
    pub location: Symbol,
    /// First tick.
    pub start: u64,
    /// The tick at which it was over; `start` or later.
    pub end: u64,
    /// What it is a part of. A parent that is named and that there is not is none.
    pub parent: Option<TaskIndex>,
}

/// What a task waited for until then, or (as a tag) what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Milestone {
    /// The task.
    pub task: TaskIndex,
    /// When the wait was over.
    pub time: u64,
    /// What kind of thing it waited for: `hardware_resource`, `data`. Tags have none (the word is empty).
    pub category: Symbol,
    /// What: `GPU[1].L2TLB.MSHR`; of a tag: `read-hit`.
    pub what: Symbol,
    /// Where it was told.
    pub location: Symbol,
}

/// See the module. Made by a [`super::TaskSetBuilder`].
#[derive(Clone, Debug)]
pub struct TaskSet {
    pub(super) ticks_per_second: u64,
    pub(super) unit: AxisUnit,
    pub(super) starts: Vec<u64>,
    pub(super) ends: Vec<u64>,
    pub(super) parents: Vec<TaskIndex>,
    /// Number in `pairs`.
    pub(super) kinds: Vec<u32>,
    pub(super) pairs: Vec<(Symbol, Symbol)>,
    pub(super) ids: Ids,
    /// Categories and actions, and the words of milestones.
    pub(super) words: Symbols,
    pub(super) locations: Symbols,
    /// Where the tasks of each location end.
    pub(super) bounds: Vec<TaskIndex>,
    /// All tasks that have a parent, by parent and start.
    pub(super) children: Vec<TaskIndex>,
    /// By task and time.
    pub(super) milestones: Vec<Milestone>,
    pub(super) tags: Vec<Milestone>,
    /// Tasks whose parent there is not, and what it is called.
    pub(super) dangling: Vec<(TaskIndex, Box<str>)>,
    pub(super) span: (u64, u64),
}

fn index(task: usize) -> TaskIndex {
    TaskIndex::try_from(task).unwrap_or(NO_TASK)
}

impl TaskSet {
    /// How many tasks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Ticks of a second.
    #[must_use]
    pub fn ticks_per_second(&self) -> u64 {
        self.ticks_per_second
    }

    /// A tick, in seconds.
    #[must_use]
    pub fn seconds(&self, ticks: u64) -> f64 {
        ticks as f64 / self.ticks_per_second as f64
    }

    /// What ticks are.
    #[must_use]
    pub fn unit(&self) -> AxisUnit {
        self.unit
    }

    /// First start and last end of all tasks; (0, 0) of none.
    #[must_use]
    pub fn span(&self) -> (u64, u64) {
        self.span
    }

    /// The axis on which all tasks lie.
    #[must_use]
    pub fn axis(&self) -> Axis {
        Axis::whole(self.unit(), self.span.1)
    }

    /// The task of this place.
    ///
    /// # Panics
    /// Where there are not so many.
    #[must_use]
    pub fn task(&self, task: TaskIndex) -> Task<'_> {
        let at = task as usize;
        let (category, action) = self.pairs[self.kinds[at] as usize];
        Task {
            index: task,
            category: self.words.word(category),
            action: self.words.word(action),
            location: self.location_of(task),
            start: self.starts[at],
            end: self.ends[at],
            parent: self.parent(task),
        }
    }

    /// Where a task is.
    #[must_use]
    pub fn location_of(&self, task: TaskIndex) -> Symbol {
        Symbol(index(self.bounds.partition_point(|&end| end <= task)))
    }

    /// First tick of a task.
    #[must_use]
    pub fn start(&self, task: TaskIndex) -> u64 {
        self.starts[task as usize]
    }

    /// The tick at which a task was over.
    #[must_use]
    pub fn end(&self, task: TaskIndex) -> u64 {
        self.ends[task as usize]
    }

    /// What a task is a part of.
    #[must_use]
    pub fn parent(&self, task: TaskIndex) -> Option<TaskIndex> {
        Some(self.parents[task as usize]).filter(|&parent| parent != NO_TASK)
    }

    /// What a task's parent is called, where it is named and there is none of this name.
    #[must_use]
    pub fn dangling_parent(&self, task: TaskIndex) -> Option<&str> {
        let at = self.dangling.binary_search_by_key(&task, |(child, _)| *child).ok()?;
        Some(&self.dangling[at].1)
    }

    /// Tasks whose parent is named and is not there.
    #[must_use]
    pub fn dangling(&self) -> usize {
        self.dangling.len()
    }

    /// The number of a task's category and action together: see [`Self::pairs`].
    #[must_use]
    pub fn pair(&self, task: TaskIndex) -> u32 {
        self.kinds[task as usize]
    }

    /// What kind of thing a task is.
    #[must_use]
    pub fn task_category(&self, task: TaskIndex) -> &str {
        self.words.word(self.pairs[self.pair(task) as usize].0)
    }

    /// Categories with actions that occur, by number.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.pairs.iter().map(|&(category, action)| (self.words.word(category), self.words.word(action)))
    }

    /// What a task is called.
    #[must_use]
    pub fn id(&self, task: TaskIndex) -> String {
        self.ids.name(task as usize, self.locations.word(self.location_of(task)))
    }

    /// What a task is called, where that is a number.
    #[must_use]
    pub fn id_number(&self, task: TaskIndex) -> Option<u64> {
        self.ids.number(task as usize)
    }

    /// The task that is called so: looks through all of them.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<TaskIndex> {
        let wanted = Parts::of(&TaskId::Text(id));
        self.locations.iter().find_map(|(location, name)| {
            self.tasks_at(location).find(|&task| self.ids.parts(task as usize, name) == wanted)
        })
    }

    /// Names of locations, in the order in which they were met; some may have no task.
    #[must_use]
    pub fn locations(&self) -> &Symbols {
        &self.locations
    }

    /// Words of categories, actions and milestones.
    #[must_use]
    pub fn words(&self) -> &Symbols {
        &self.words
    }

    /// The tasks of a location, by start; of those that start together the longest first.
    #[must_use]
    pub fn tasks_at(&self, location: Symbol) -> Range<TaskIndex> {
        let at = location.index();
        let Some(&end) = self.bounds.get(at) else { return 0..0 };
        let start = at.checked_sub(1).map_or(0, |before| self.bounds[before]);
        start..end
    }

    /// The parts of a task, by location and start.
    #[must_use]
    pub fn children(&self, task: TaskIndex) -> &[TaskIndex] {
        let from = self.children.partition_point(|&child| self.parents[child as usize] < task);
        let len = self.children[from..].partition_point(|&child| self.parents[child as usize] == task);
        &self.children[from..from + len]
    }

    /// The milestones of a task, by time.
    #[must_use]
    pub fn milestones(&self, task: TaskIndex) -> &[Milestone] {
        of_task(&self.milestones, task)
    }

    /// The tags of a task, by time.
    #[must_use]
    pub fn tags(&self, task: TaskIndex) -> &[Milestone] {
        of_task(&self.tags, task)
    }

    /// All milestones, by task and time.
    #[must_use]
    pub fn all_milestones(&self) -> &[Milestone] {
        &self.milestones
    }

    /// All tags, by task and time.
    #[must_use]
    pub fn all_tags(&self) -> &[Milestone] {
        &self.tags
    }

    /// From the task up to one that is a part of nothing, itself first. Ends where a task would come twice.
    #[must_use]
    pub fn ancestors(&self, task: TaskIndex) -> Vec<TaskIndex> {
        let mut chain = vec![task];
        let mut met = HashSet::from([task]);
        while let Some(parent) = self.parent(chain[chain.len() - 1])
            && met.insert(parent)
        {
            chain.push(parent);
        }
        chain
    }
}

fn of_task(all: &[Milestone], task: TaskIndex) -> &[Milestone] {
    let from = all.partition_point(|milestone| milestone.task < task);
    let len = all[from..].partition_point(|milestone| milestone.task == task);
    &all[from..from + len]
}
