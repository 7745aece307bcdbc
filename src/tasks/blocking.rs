//! What tasks waited for: components and ports that were busy, told by milestones.

use super::set::TaskSet;
use super::words::Symbol;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The category of milestones at which a thing of the machine became free.
pub const HARDWARE_RESOURCE: &str = "hardware_resource";

/// A thing that tasks waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocking {
    /// What it is called: `GPU[1].L2TLB.MSHR`.
    pub what: Symbol,
    /// How often it was waited for.
    pub waits: u64,
    /// By how many tasks.
    pub tasks: u64,
}

/// The things of the machine that were waited for, the most often first; among equals in the order in which they were met (as
/// `top_blocking_resources` of Daisen).
#[must_use]
pub fn blocking(set: &TaskSet) -> Vec<Blocking> {
    let mut found = BTreeMap::new();
    let resource = set.words().find(HARDWARE_RESOURCE);
    // Milestones stand by task.
    for milestone in set.all_milestones().iter().filter(|milestone| Some(milestone.category) == resource) {
        let (waits, tasks, last) = found.entry(milestone.what).or_insert((0, 0, None));
        *waits += 1;
        *tasks += u64::from(*last != Some(milestone.task));
        *last = Some(milestone.task);
    }
    let mut out: Vec<Blocking> =
        found.into_iter().map(|(what, (waits, tasks, _))| Blocking { what, waits, tasks }).collect();
    out.sort_by_key(|row| Reverse(row.waits));
    out
}
