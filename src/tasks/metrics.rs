//! What happens at a location over time, by the formulas of Daisen.
//!
//! Time is cut into bins of equal width `B`. Rates count tasks whose start (or end) lies in a bin, over `B`; levels are the mean number
//! of tasks at once, weighted by time. Times are seconds: a rate is in requests a second, a latency in seconds.
//!
//! | [`Metric`] | Value of a bin |
//! |---|---|
//! | `ReqInCount` | requests in that start in it, / B |
//! | `ReqCompleteCount` | requests in that end in it, / B |
//! | `AvgLatency` | mean of end - start of requests in that end in it; 0 where none does |
//! | `ConcurrentTask` | mean number of tasks of all categories |
//! | `BufferPressure` | mean number of requests in between the start of their parent and their own; without a parent from time 0 |
//! | `PendingReqOut` | mean number of requests out |
//! | `RequestBufferPressure` | mean number of messages `*Req`, `*Request` in incoming buffers |
//! | `ResponseBufferPressure` | mean number of messages `*Rsp`, `*Response` in incoming buffers |
//! | `ConcurrentTaskMilestones` | tasks that wait, by what they wait for: see [`super::reasons`]; as one number the sum of them |
//!
//! Edges are those of Daisen's own code. Version 4 counts what lies strictly between the edges of a bin; version 5 counts what lies on the
//! edge between two bins to the later one, and nothing at the start and at the end of the whole ([`Edges`]).
//!
//! Tasks are gone through once, however many bins there are. Levels are summed in whole ticks, so that they are exact.

use super::book::TaskBook;
use super::reasons::Reasons;
use super::set::TaskSet;
use super::{INCOMING_BUFFER, REQUEST_IN, REQUEST_OUT, Symbol};
use std::fmt;
use std::str::FromStr;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Requests that come in.
    ReqInCount,
    /// Requests that are answered.
    ReqCompleteCount,
    /// How long answered requests took.
    AvgLatency,
    /// Tasks at once.
    ConcurrentTask,
    /// Requests that were sent and not yet received.
    BufferPressure,
    /// Requests that wait for their answer.
    PendingReqOut,
    /// Requests in incoming buffers.
    RequestBufferPressure,
    /// Answers in incoming buffers.
    ResponseBufferPressure,
    /// Tasks that wait for something.
    ConcurrentTaskMilestones,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::ReqInCount,
        Self::ReqCompleteCount,
        Self::AvgLatency,
        Self::ConcurrentTask,
        Self::BufferPressure,
        Self::PendingReqOut,
        Self::RequestBufferPressure,
        Self::ResponseBufferPressure,
        Self::ConcurrentTaskMilestones,
    ];

    /// Its name in Daisen: `ReqInCount`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReqInCount => "ReqInCount",
            Self::ReqCompleteCount => "ReqCompleteCount",
            Self::AvgLatency => "AvgLatency",
            Self::ConcurrentTask => "ConcurrentTask",
            Self::BufferPressure => "BufferPressure",
            Self::PendingReqOut => "PendingReqOut",
            Self::RequestBufferPressure => "RequestBufferPressure",
            Self::ResponseBufferPressure => "ResponseBufferPressure",
            Self::ConcurrentTaskMilestones => "ConcurrentTaskMilestones",
        }
    }

    /// For people: `requests in`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::ReqInCount => "requests in",
            Self::ReqCompleteCount => "requests answered",
            Self::AvgLatency => "mean latency",
            Self::ConcurrentTask => "tasks at once",
            Self::BufferPressure => "requests on their way",
            Self::PendingReqOut => "requests out",
            Self::RequestBufferPressure => "requests in buffers",
            Self::ResponseBufferPressure => "answers in buffers",
            Self::ConcurrentTaskMilestones => "tasks that wait",
        }
    }

    fn wants(self, category: &str, action: &str) -> bool {
        let buffered = |endings: [&str; 2]| {
            // As SQL's LIKE: in any case of letters.
            let action = action.to_ascii_lowercase();
            category == INCOMING_BUFFER && endings.iter().any(|ending| action.ends_with(ending))
        };
        match self {
            Self::ReqInCount | Self::ReqCompleteCount | Self::AvgLatency | Self::BufferPressure => {
                category == REQUEST_IN
            }
            Self::ConcurrentTask | Self::ConcurrentTaskMilestones => true,
            Self::PendingReqOut => category == REQUEST_OUT,
            Self::RequestBufferPressure => buffered(["req", "request"]),
            Self::ResponseBufferPressure => buffered(["rsp", "response"]),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no metric; expected one of {names}", names = Metric::ALL.map(Metric::name).join(", "))]
pub struct NoMetric(pub String);

impl FromStr for Metric {
    type Err = NoMetric;

    fn from_str(text: &str) -> Result<Self, NoMetric> {
        Self::ALL.into_iter().find(|metric| metric.name() == text).ok_or_else(|| NoMetric(text.to_owned()))
    }
}

/// Whose rule says in which bin a task counts that starts or ends on an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edges {
    /// In none: Daisen of Akita 3 and 4.
    #[default]
    Neither,
    /// In the later one; in none at the start and the end of the whole: Daisen of Akita 5.
    Later,
}

/// One bin: its middle in seconds, and its value.
pub type Point = (f64, f64);

/// Bins of equal width over a part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bins {
    /// First tick.
    pub from: u64,
    /// The tick at which the last one ends.
    pub to: u64,
    /// How many there are.
    pub count: usize,
    /// Where tasks on edges count.
    pub edges: Edges,
}

impl Bins {
    /// So many bins over all of a set.
    #[must_use]
    pub fn whole(set: &TaskSet, count: usize, edges: Edges) -> Self {
        let (from, to) = set.span();
        Self { from, to, count, edges }
    }

    /// Where each bin begins, seconds; the last edge is that at which the last one ends.
    fn edge(&self, set: &TaskSet, bin: usize) -> f64 {
        let (first, last) = (set.seconds(self.from), set.seconds(self.to));
        bin as f64 * ((last - first) / self.count as f64) + first
    }

    /// The first edge for which something holds that holds for all after it; one more than there are edges where it holds for none.
    fn first_edge(&self, set: &TaskSet, tick: u64, holds: impl Fn(f64, f64) -> bool) -> usize {
        let seconds = set.seconds(tick);
        let ticks = u128::from(tick.clamp(self.from, self.to) - self.from) * self.count as u128;
        let near = bin_of(ticks, u128::from(self.to - self.from));
        // Edges are rounded: whole ticks are near enough to begin with.
        let mut edge = near.saturating_sub(1);
        while edge <= self.count && !holds(self.edge(set, edge), seconds) {
            edge += 1;
        }
        edge
    }

    /// The first edge that is not before a tick.
    pub(super) fn first_edge_from(&self, set: &TaskSet, tick: u64) -> usize {
        self.first_edge(set, tick, |edge, at| edge >= at)
    }

    /// The first edge that is after a tick.
    pub(super) fn first_edge_after(&self, set: &TaskSet, tick: u64) -> usize {
        self.first_edge(set, tick, |edge, at| edge > at)
    }

    /// In which bin a moment counts, by the operations of Daisen's own code in their order, so that rounding is the same too.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..count")]
    fn bin(&self, seconds: f64, first: f64, last: f64, width: f64) -> Option<usize> {
        let edge = |bin: usize| bin as f64 * width + first;
        match self.edges {
            Edges::Later if seconds > first && seconds < last => {
                Some(((seconds - first) / width) as usize).filter(|&bin| bin < self.count)
            }
            Edges::Later => None,
            Edges::Neither => {
                let near = (((seconds - first) / width).max(0.0) as usize).min(self.count);
                (near.saturating_sub(1)..=near + 1)
                    .find(|&bin| bin < self.count && seconds > edge(bin) && seconds < edge(bin + 1))
            }
        }
    }
}

/// A metric of a location, a point a bin. Without a bin, or where they have no width, there are none.
#[must_use]
pub fn series(set: &TaskSet, metric: Metric, location: Symbol, bins: &Bins) -> Vec<Point> {
    series_of(set, metric, &[location], bins)
}

/// The same of several locations together: of a component with all that is named below it.
#[must_use]
pub fn series_of(set: &TaskSet, metric: Metric, locations: &[Symbol], bins: &Bins) -> Vec<Point> {
    if bins.count == 0 || bins.to <= bins.from {
        return Vec::new();
    }
    let (first, last) = (set.seconds(bins.from), set.seconds(bins.to));
    let width = (last - first) / bins.count as f64;
    let wanted: Vec<bool> = wanted(set, metric);
    let tasks = || {
        let all = locations.iter().flat_map(|&location| set.tasks_at(location));
        all.filter(|&task| wanted[set.pair(task) as usize])
    };
    let values = match metric {
        Metric::ReqInCount => {
            let times = tasks().map(|task| (set.seconds(set.start(task)), 0.0));
            counted(bins, first, last, width, times).into_iter().map(|(count, _)| count / width).collect()
        }
        Metric::ReqCompleteCount => {
            let times = tasks().map(|task| (set.seconds(set.end(task)), 0.0));
            counted(bins, first, last, width, times).into_iter().map(|(count, _)| count / width).collect()
        }
        Metric::AvgLatency => {
            let times = tasks().map(|task| {
                let (start, end) = (set.start(task), set.end(task));
                (set.seconds(end), set.seconds(end - start))
            });
            let sums = counted(bins, first, last, width, times);
            sums.into_iter().map(|(count, sum)| if count > 0.0 { sum / count } else { 0.0 }).collect()
        }
        Metric::BufferPressure => {
            levels(bins, tasks().map(|task| (set.parent(task).map_or(0, |parent| set.start(parent)), set.start(task))))
        }
        Metric::ConcurrentTaskMilestones => Reasons::of(set, locations, bins).total(bins.count),
        Metric::ConcurrentTask
        | Metric::PendingReqOut
        | Metric::RequestBufferPressure
        | Metric::ResponseBufferPressure => levels(bins, tasks().map(|task| (set.start(task), set.end(task)))),
    };
    let middle = |bin: usize| bin as f64 * width + first + 0.5 * width;
    values.into_iter().enumerate().map(|(bin, value)| (middle(bin), value)).collect()
}

/// How many requests are under way in each bin, of all locations together; where there is no request in, how many tasks.
#[must_use]
pub fn in_flight(book: &TaskBook, bins: &Bins) -> Vec<f64> {
    let set = book.set();
    if bins.count == 0 || bins.to <= bins.from {
        return Vec::new();
    }
    let wanted: Vec<bool> = match book.has_requests() {
        true => set.pairs().map(|(category, _)| category == REQUEST_IN).collect(),
        false => vec![true; set.pairs().len()],
    };
    let all = book.listed().iter().flat_map(|&location| set.tasks_at(location));
    levels(bins, all.filter(|&task| wanted[set.pair(task) as usize]).map(|task| (set.start(task), set.end(task))))
}

/// By category and action, whether a metric counts such tasks.
fn wanted(set: &TaskSet, metric: Metric) -> Vec<bool> {
    set.pairs().map(|(category, action)| metric.wants(category, action)).collect()
}

/// How many times lie in each bin, and the sum of what comes with them.
fn counted(bins: &Bins, first: f64, last: f64, width: f64, times: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut out = vec![(0.0, 0.0); bins.count];
    for (seconds, value) in times {
        if let Some(bin) = bins.bin(seconds, first, last, width) {
            out[bin].0 += 1.0;
            out[bin].1 += value;
        }
    }
    out
}

/// The mean number of intervals at once. A bin's edges are whole in units of a tick over the number of bins.
fn levels(bins: &Bins, intervals: impl Iterator<Item = (u64, u64)>) -> Vec<f64> {
    let count = bins.count as u128;
    let width = u128::from(bins.to - bins.from);
    // Of each bin what covers a part of it, and by how many more than the one before it is covered as a whole.
    let mut parts = vec![0u128; bins.count];
    let mut steps = vec![0i64; bins.count + 1];
    for (start, end) in intervals {
        let (start, end) = (start.clamp(bins.from, bins.to), end.clamp(bins.from, bins.to));
        if end <= start {
            continue;
        }
        let (start, end) = (u128::from(start - bins.from) * count, u128::from(end - bins.from) * count);
        let (one, other) = (bin_of(start, width), bin_of(end, width));
        if one == other {
            parts[one] += end - start;
            continue;
        }
        parts[one] += (one as u128 + 1) * width - start;
        steps[one + 1] += 1;
        steps[other] -= 1;
        // One that ends with the last bin covers it whole.
        if other < bins.count {
            parts[other] += end - other as u128 * width;
        }
    }
    let mut whole = 0;
    let means = parts.iter().zip(&steps).map(|(&part, &step)| {
        whole += step;
        part as f64 / width as f64 + whole as f64
    });
    means.collect()
}

fn bin_of(at: u128, width: u128) -> usize {
    usize::try_from(at / width).unwrap_or(usize::MAX)
}
