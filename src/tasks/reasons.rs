//! Why the tasks of a location do not go on: how many of them wait for each category of milestone, over time.
//!
//! Daisen's stacked chart `ConcurrentTaskMilestones`, by its own formulas, which differ between its versions ([`Edges`]):
//!
//! - *Akita 3 and 4*: a task that touches a bin, its edges with it, counts there once: under its latest milestone at or before the
//!   start of the bin, or under its first one where there is none before. Tasks without milestones do not count.
//! - *Akita 5*: from a milestone back to the one before it, or to the start of the task, the task waited for that milestone. Such a
//!   stretch counts as a whole in each bin that it touches, so a bin may count a task under more than one reason.

use super::metrics::{Bins, Edges};
use super::set::TaskSet;
use super::words::Symbol;
use std::collections::BTreeMap;

/// How many tasks wait, by reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasons {
    /// Categories of milestones, by name; with each the number of tasks in every bin.
    pub bands: Vec<(String, Vec<f64>)>,
}

impl Reasons {
    /// Of the tasks at some locations.
    #[must_use]
    pub fn of(set: &TaskSet, locations: &[Symbol], bins: &Bins) -> Self {
        if bins.count == 0 || bins.to <= bins.from {
            return Self::default();
        }
        let mut steps = Steps { count: bins.count, by_reason: BTreeMap::new() };
        for task in locations.iter().flat_map(|&location| set.tasks_at(location)) {
            let milestones = set.milestones(task);
            if milestones.is_empty() || set.end(task) < bins.from || set.start(task) > bins.to {
                continue;
            }
            match bins.edges {
                Edges::Neither => steps.latest(set, (set.start(task), set.end(task)), milestones, bins),
                Edges::Later => steps.waited((set.start(task), set.end(task)), milestones, bins),
            }
        }
        let mut bands: Vec<(String, Vec<f64>)> = steps
            .by_reason
            .into_iter()
            .map(|(reason, steps)| (set.words().word(reason).to_owned(), summed(&steps, bins.count)))
            .collect();
        bands.sort_by(|one, other| one.0.cmp(&other.0));
        Self { bands }
    }

    /// Of all reasons together.
    #[must_use]
    pub fn total(&self, count: usize) -> Vec<f64> {
        let mut out = vec![0.0; count];
        for (_, band) in &self.bands {
            out.iter_mut().zip(band).for_each(|(sum, value)| *sum += value);
        }
        out
    }
}

/// By reason: by how many more tasks a bin has than the one before it.
struct Steps {
    count: usize,
    by_reason: BTreeMap<Symbol, Vec<i64>>,
}

impl Steps {
    fn add(&mut self, reason: Symbol, from: usize, to: usize) {
        let (from, to) = (from.min(self.count), to.min(self.count));
        if from < to {
            let steps = self.by_reason.entry(reason).or_insert_with(|| vec![0; self.count + 1]);
            steps[from] += 1;
            steps[to] -= 1;
        }
    }

    /// As Daisen of Akita 4 counts a task.
    fn latest(&mut self, set: &TaskSet, (start, end): (u64, u64), milestones: &[super::Milestone], bins: &Bins) {
        // Bins of which the end is at the start of the task or later, and the start at its end or before.
        let first = bins.first_edge_from(set, start).saturating_sub(1);
        let last = bins.first_edge_after(set, end).min(bins.count);
        let mut told = first;
        for (n, milestone) in milestones.iter().enumerate() {
            // What is told at one time counts under what is told first.
            let is_first = n == 0 || milestones[n - 1].time < milestone.time;
            if !is_first {
                continue;
            }
            let next = milestones[n + 1..].iter().find(|next| next.time > milestone.time);
            let until = next.map_or(last, |next| bins.first_edge_from(set, next.time).min(last));
            self.add(milestone.category, told, until);
            told = told.max(until);
        }
    }

    /// As Daisen of Akita 5 does: in whole ticks, so that what lies on an edge lies on it.
    fn waited(&mut self, (start, end): (u64, u64), milestones: &[super::Milestone], bins: &Bins) {
        if end <= bins.from || start >= bins.to {
            return;
        }
        let (count, width) = (bins.count as u128, u128::from(bins.to - bins.from));
        let at = |tick: u64| u128::from(tick.saturating_sub(bins.from)) * count;
        let mut since = start;
        for milestone in milestones {
            let (from, to) = (std::mem::replace(&mut since, milestone.time), milestone.time);
            if to > bins.from && from < bins.to {
                let whole = |bin: u128| usize::try_from(bin).unwrap_or(usize::MAX);
                self.add(milestone.category, whole(at(from) / width), whole(at(to).div_ceil(width)));
            }
        }
    }
}

fn summed(steps: &[i64], count: usize) -> Vec<f64> {
    let mut now = 0;
    let levels = steps.iter().take(count).map(|step| {
        now += step;
        now as f64
    });
    levels.collect()
}
