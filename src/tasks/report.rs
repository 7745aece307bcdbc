//! What the components of a machine did beside the best that they showed: how fast they answered and could, how many requests they took
//! and could, how much of the time they only waited for others; and the same of two runs side by side.
//!
//! A file of tasks does not say what its components were built for. What one of a kind did at its best in the run is what any of them
//! can: the time in which a tenth of the requests was answered, and the most requests that one member received in a hundredth of the run.

use super::book::TaskBook;
use super::set::{TaskIndex, TaskSet};
use super::traffic::{Component, Traffic};
use super::{REQUEST_IN, REQUEST_OUT, Symbol};

/// Parts of the run of which the busiest is looked for.
const PARTS: usize = 100;
/// Steps within steps of a component, at most.
const MOST_STEPS: u32 = 4;

/// What the components of one kind did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KindReport {
    /// What they are called, without numbers.
    pub name: String,
    /// How many there are.
    pub members: usize,
    /// Requests that they made.
    pub made: u64,
    /// Requests that they served.
    pub served: u64,
    /// Ticks of all requests that they served, summed.
    pub ticks: u128,
    /// Of these the ticks in which they waited for answers of others.
    pub below: u128,
    /// The ticks in which the fastest tenth of the requests was answered; 0 where none was served.
    pub fast: u64,
    /// Requests that the member with most of them served.
    pub heaviest: u64,
    /// Requests that one member received in the busiest hundredth of the run.
    pub busiest: u64,
    /// Requests in, or wavefronts where there are any, that one member held at once at most.
    pub most: u32,
}

impl KindReport {
    /// Ticks of a request, as a mean; 0 where none was served.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.ticks as f64 / self.served.max(1) as f64
    }

    /// Share of the time of its requests in which it waited for others, 0 to 1.
    #[must_use]
    pub fn waits(&self) -> f64 {
        self.below as f64 / self.ticks.max(1) as f64
    }

    /// How many times as long as one of the fastest tenth a request took, as a mean; none where those take no time.
    #[must_use]
    pub fn slowness(&self) -> Option<f64> {
        (self.fast > 0).then(|| self.mean() / self.fast as f64)
    }

    /// How many times its share the member with most requests served: 1 where all served as many.
    #[must_use]
    pub fn unevenness(&self) -> f64 {
        self.heaviest as f64 * self.members as f64 / self.served.max(1) as f64
    }

    /// Ticks of requests in which they did not wait for others; none where that is not known, because what it asks is not told as a
    /// part of what it serves.
    #[must_use]
    pub fn own(&self) -> Option<u128> {
        (self.made == 0 || self.below > 0).then(|| self.ticks - self.below)
    }

    /// Requests received, as a share of those that all members would have received at the rate of the busiest hundredth; 0 to 1.
    #[must_use]
    pub fn used(&self) -> f64 {
        let most = self.busiest as f64 * PARTS as f64 * self.members as f64;
        if most > 0.0 { self.served as f64 / most } else { 0.0 }
    }

    /// Requests at one member at once, as a mean over the run.
    #[must_use]
    pub fn at_once(&self, span: u64) -> f64 {
        self.ticks as f64 / span.max(1) as f64 / self.members.max(1) as f64
    }
}

/// All kinds of a machine, those that are asked by nobody first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Ticks from the first start to the last end.
    pub span: u64,
    /// A row for each kind.
    pub kinds: Vec<KindReport>,
}

impl Report {
    /// Of all tasks of a book.
    #[must_use]
    pub fn of(book: &TaskBook) -> Self {
        let (set, traffic) = (book.set(), book.traffic());
        let (from, to) = set.span();
        let mut order: Vec<usize> = (0..traffic.kinds.len()).collect();
        order.sort_by_key(|&kind| (traffic.kinds[kind].depth, kind));
        let kinds = order.into_iter().map(|number| {
            let kind = &traffic.kinds[number];
            let members = &traffic.components[kind.components.start as usize..kind.components.end as usize];
            let mut row = KindReport {
                name: kind.name.clone(),
                members: members.len(),
                most: kind.most,
                ..KindReport::default()
            };
            let mut times = Vec::new();
            members.iter().for_each(|member| row.add(set, traffic, member, [from, to], &mut times));
            if !times.is_empty() {
                let tenth = (times.len() - 1) / 10;
                row.fast = *times.select_nth_unstable(tenth).1;
            }
            row
        });
        Self { span: to - from, kinds: kinds.collect() }
    }
}

impl KindReport {
    fn add(
        &mut self,
        set: &TaskSet,
        traffic: &Traffic,
        member: &Component,
        [from, to]: [u64; 2],
        times: &mut Vec<u64>,
    ) {
        let mut parts = [0u64; PARTS];
        let is = |symbol: &str| -> Vec<bool> { set.pairs().map(|(category, _)| category == symbol).collect() };
        let (inward, outward) = (is(REQUEST_IN), is(REQUEST_OUT));
        let kind = |task: TaskIndex| set.pair(task) as usize;
        let here = |&part: &Symbol| set.tasks_at(part);
        let before = self.served;
        let (mut waits, mut steps) = (Vec::new(), Vec::new());
        for task in member.parts.iter().flat_map(here) {
            if outward[kind(task)] {
                self.made += 1;
            }
            if !inward[kind(task)] {
                continue;
            }
            let (start, end) = (set.start(task), set.end(task));
            self.served += 1;
            self.ticks += u128::from(end - start);
            times.push(end - start);
            let part = u128::from(start - from) * PARTS as u128 / u128::from(to - from).max(1);
            parts[usize::try_from(part).unwrap_or(0).min(PARTS - 1)] += 1;
            // What it asks may be a part of its own steps: of a transaction of a cache.
            steps.push((task, 0));
            while let Some((step, depth)) = steps.pop() {
                for &child in traffic.parts(set, step) {
                    if outward[kind(child)] {
                        waits.push((set.start(child).max(start), set.end(child).min(end)));
                    } else if depth < MOST_STEPS && !inward[kind(child)] {
                        steps.push((child, depth + 1));
                    }
                }
            }
            // Answers that it waits for may overlap.
            waits.sort_unstable();
            let mut reached = start;
            for (since, until) in waits.drain(..) {
                self.below += u128::from(until.saturating_sub(since.max(reached)));
                reached = reached.max(until);
            }
        }
        self.heaviest = self.heaviest.max(self.served - before);
        self.busiest = self.busiest.max(parts.into_iter().max().unwrap_or(0));
    }
}

/// One kind in two runs; of one that is in one of them alone, none in the other.
pub type Pair<'a> = (Option<&'a KindReport>, Option<&'a KindReport>);

/// Kinds of two runs by name: those of the first in its order, then what only the second has.
#[must_use]
pub fn pairs<'a>(one: &'a Report, other: &'a Report) -> Vec<Pair<'a>> {
    let named = |report: &'a Report, name: &str| report.kinds.iter().find(|kind| kind.name == name);
    let first = one.kinds.iter().map(|kind| (Some(kind), named(other, &kind.name)));
    let rest = other.kinds.iter().filter(|kind| named(one, &kind.name).is_none()).map(|kind| (None, Some(kind)));
    first.chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::super::metrics::Edges;
    use super::super::{NewTask, TaskId, TaskSetBuilder};
    use super::*;

    /// A request of a unit: the cache, when it was received and answered, and what that asked of memory meanwhile.
    type Asked<'a> = (u8, u64, u64, &'a [(u64, u64)]);

    /// Of two caches that ask one memory.
    fn book(requests: &[Asked<'_>]) -> TaskBook {
        let mut builder = TaskSetBuilder::new(1_000);
        let mut number = 0;
        let mut push = |location: String, category: &str, parent: Option<u64>, start: u64, end: u64| {
            number += 1;
            let (id, parent) = (TaskId::Number(number), parent.map(TaskId::Number));
            let (category, action) = (builder.word(category), builder.word("ReadReq"));
            let location = builder.location(&location);
            let task = NewTask { id: &id, parent: parent.as_ref(), category, action, location, start, end };
            builder.push(task).expect("few");
            number
        };
        for &(cache, start, end, asked) in requests {
            let out = push("CU".into(), REQUEST_OUT, None, start, end);
            let inward = push(format!("L1[{cache}]"), REQUEST_IN, Some(out), start, end);
            for &(since, until) in asked {
                let out = push(format!("L1[{cache}]"), REQUEST_OUT, Some(inward), since, until);
                push("DRAM".into(), REQUEST_IN, Some(out), since, until);
            }
        }
        TaskBook::new(builder.finish().set, Edges::Neither, "", "")
    }

    #[test]
    fn what_kinds_did_is_counted_by_hand() {
        let book =
            book(&[(0, 0, 10, &[]), (0, 1, 41, &[(5, 30), (20, 40)]), (1, 2, 22, &[(5, 15)]), (1, 500, 1000, &[])]);
        let report = Report::of(&book);
        assert_eq!(report.span, 1000);
        let [unit, cache, memory] = &report.kinds[..] else { panic!("three kinds: {report:?}") };
        assert_eq!((unit.name.as_str(), unit.made, unit.served, unit.fast), ("CU", 4, 0, 0));
        assert_eq!((cache.name.as_str(), cache.members, cache.made, cache.served), ("L1", 2, 3, 4));
        // 10 + 40 + 20 + 500; waits from 5 to 40 and from 5 to 15; both of the first begin in the first hundredth.
        assert_eq!((cache.ticks, cache.below, cache.fast, cache.busiest, cache.most), (570, 45, 10, 2, 2));
        assert_eq!((cache.slowness(), cache.unevenness(), cache.own()), (Some(14.25), 1.0, Some(525)));
        assert_eq!((cache.used(), cache.at_once(1000)), (4.0 / 400.0, 0.285));
        assert_eq!((memory.served, memory.ticks, memory.own()), (3, 55, Some(55)));
    }

    #[test]
    fn kinds_of_two_runs_are_put_together_by_name() {
        let one = Report::of(&book(&[(0, 0, 10, &[(1, 2)])]));
        let other = Report::of(&book(&[(0, 0, 5, &[])]));
        let told = |pair: &Pair| (pair.0.map(KindReport::mean), pair.1.map(KindReport::mean));
        let rows: Vec<_> = pairs(&one, &other).iter().map(told).collect();
        assert_eq!(rows, [(Some(0.0), Some(0.0)), (Some(10.0), Some(5.0)), (Some(1.0), None)]);
        assert_eq!(pairs(&other, &one).len(), 3);
    }
}
