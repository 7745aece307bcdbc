//! The rules of the model, and where a set breaks them. Whatever makes tasks is held against these.

use super::set::{TaskIndex, TaskSet};
use super::{REQUEST_IN, REQUEST_OUT};

/// A rule that a task breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Its parents go round in a circle.
    Circle,
    /// It is a request in, and what it is a part of is no request out.
    NoRequestOut,
    /// It is a request in that begins before, or ends after, its request out.
    OutsideRequest,
    /// It begins before, or ends after, what it is a part of.
    OutsideParent,
}

impl Rule {
    /// What should hold.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Circle => "no task is a part of itself",
            Self::NoRequestOut => "a request in is a part of a request out",
            Self::OutsideRequest => "a request in lies within its request out",
            Self::OutsideParent => "a task lies within what it is a part of",
        }
    }
}

/// All breaches, by task.
#[must_use]
pub fn breaches(set: &TaskSet) -> Vec<(TaskIndex, Rule)> {
    let mut out = Vec::new();
    let circles = circles(set);
    for (task, circle) in (0..TaskIndex::MAX).zip(circles) {
        if circle {
            out.push((task, Rule::Circle));
        }
        let Some(parent) = set.parent(task) else { continue };
        let (category, above) = (set.task_category(task), set.task_category(parent));
        let outside = set.start(task) < set.start(parent) || set.end(task) > set.end(parent);
        match (category, above) {
            (REQUEST_IN, REQUEST_OUT) if outside => out.push((task, Rule::OutsideRequest)),
            (REQUEST_IN, REQUEST_OUT) => {}
            (REQUEST_IN, _) => out.push((task, Rule::NoRequestOut)),
            _ if outside => out.push((task, Rule::OutsideParent)),
            _ => {}
        }
    }
    out
}

/// For each task, whether it is in a circle of parents.
fn circles(set: &TaskSet) -> Vec<bool> {
    let mut out = vec![false; set.len()];
    // By which walk a task was first reached; 0 = by none.
    let mut reached = vec![0u32; set.len()];
    for (walk, from) in (1u32..).zip(0..out.len()) {
        let mut at = from;
        while reached[at] == 0 {
            reached[at] = walk;
            match set.parent(TaskIndex::try_from(at).unwrap_or(TaskIndex::MAX)) {
                Some(parent) => at = parent as usize,
                None => break,
            }
        }
        // Reached a second time by the same walk, and not by having ended there.
        let ended = set.parent(TaskIndex::try_from(at).unwrap_or(TaskIndex::MAX)).is_none();
        if reached[at] == walk && !ended {
            while !out[at] {
                out[at] = true;
                at = set.parents[at] as usize;
            }
        }
    }
    out
}
