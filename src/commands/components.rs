//! `orrery tasks FILE --components`: what each kind of component did beside the best that it showed, and beside a baseline.

use super::tasks::{duration, share};
use crate::shown;
use crate::tasks::report::{KindReport, Report, pairs};
use crate::tasks::{TaskBook, TaskSet, plain};
use crate::units::grouped;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

/// A run, as data.
#[derive(Serialize)]
struct Told {
    /// Seconds.
    seconds: f64,
    kinds: Vec<ToldKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<Box<Told>>,
}

/// A kind, as data; see [`KindReport`].
#[derive(Serialize)]
struct ToldKind {
    kind: String,
    members: usize,
    made: u64,
    served: u64,
    /// Seconds.
    mean_latency: f64,
    fast_latency: f64,
    /// Shares, 0 to 1.
    waits_for_others: f64,
    used: f64,
    /// Requests of the member with most of them over the mean of all.
    unevenness: f64,
    mean_at_once: f64,
    most_at_once: u32,
}

/// One run: its tasks, and what its components did.
struct Run {
    book: TaskBook,
    report: Report,
}

impl Run {
    fn of(book: TaskBook) -> Self {
        let report = Report::of(&book);
        Self { book, report }
    }

    fn seconds(&self, ticks: f64) -> f64 {
        ticks / self.book.set().ticks_per_second() as f64
    }

    fn time(&self) -> f64 {
        self.seconds(self.report.span as f64)
    }

    fn told(&self) -> Told {
        let kinds = self.report.kinds.iter().map(|kind| ToldKind {
            kind: kind.name.clone(),
            members: kind.members,
            made: kind.made,
            served: kind.served,
            mean_latency: self.seconds(kind.mean()),
            fast_latency: self.seconds(kind.fast as f64),
            waits_for_others: kind.waits(),
            used: kind.used(),
            unevenness: kind.unevenness(),
            mean_at_once: kind.at_once(self.report.span),
            most_at_once: kind.most,
        });
        Told { seconds: self.time(), kinds: kinds.collect(), baseline: None }
    }
}

/// Prints it.
///
/// # Errors
/// A failed write.
pub(super) fn tell(book: TaskBook, baseline: Option<TaskBook>, json: bool) -> anyhow::Result<()> {
    let run = Run::of(book);
    let baseline = baseline.map(Run::of);
    if json {
        let told = Told { baseline: baseline.map(|run| Box::new(run.told())), ..run.told() };
        return Ok(writeln!(shown::json(), "{}", serde_json::to_string(&told)?)?);
    }
    let mut out = shown::out();
    match baseline {
        Some(baseline) => against(&mut out, &run, &baseline),
        None => alone(&mut out, &run),
    }
}

/// `L2Cache, 16 of them`.
fn called(kind: &KindReport) -> String {
    if kind.members > 1 { format!("{}, {} of them", kind.name, kind.members) } else { kind.name.clone() }
}

fn alone(out: &mut impl Write, run: &Run) -> anyhow::Result<()> {
    let title = run.book.title();
    if run.report.kinds.is_empty() {
        let why = "found no request out with a request in below it, so it is not known who asks whom";
        return Ok(writeln!(out, "{title}: {why}")?);
    }
    writeln!(out, "{title}, {}", duration(run.time()))?;
    writeln!(
        out,
        "\n{:>12} {:>12} {:>12} {:>8} {:>9} {:>8} {:>8} {:>8}",
        "requests in", "mean", "fast tenth", "waits", "at once", "at most", "used", "uneven"
    )?;
    for kind in &run.report.kinds {
        let served = kind.served > 0;
        let told = |words: String| if served { words } else { "-".to_owned() };
        writeln!(
            out,
            "{:>12} {:>12} {:>12} {:>8} {:>9} {:>8} {:>8} {:>8}  {}",
            grouped(kind.served),
            told(duration(run.seconds(kind.mean()))),
            told(duration(run.seconds(kind.fast as f64))),
            told(share(kind.waits())),
            told(format!("{:.2}", kind.at_once(run.report.span))),
            kind.most,
            told(share(kind.used())),
            told(format!("{:.1}", kind.unevenness())),
            called(kind)
        )?;
    }
    writeln!(out, "\nfast tenth: a tenth of the requests took no longer")?;
    writeln!(out, "waits: share of a request's time in which it waited for others")?;
    writeln!(out, "at once, at most: requests in one of a kind (wavefronts, where it has any)")?;
    writeln!(out, "used: requests received, of those at the rate of the busiest hundredth of the run")?;
    writeln!(out, "uneven: requests of the one that has most, over the mean of all of its kind")?;
    let sentences = sentences(run);
    if !sentences.is_empty() {
        writeln!(out)?;
    }
    sentences.iter().try_for_each(|sentence| writeln!(out, "{sentence}"))?;
    Ok(())
}

/// How many times its share one of a kind has, from which on that is worth saying.
const UNEVEN: f64 = 1.5;
/// Category of what a wavefront does.
const INSTRUCTION: &str = "inst";

/// What stands out, each in a sentence.
fn sentences(run: &Run) -> Vec<String> {
    let mut out = Vec::new();
    let mut actions = actions(run.book.set(), INSTRUCTION);
    actions.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
    let all: u64 = actions.iter().map(|row| row.1).sum();
    if let Some(&(name, count)) = actions.first().filter(|_| actions.len() > 1) {
        let rest: Vec<String> = actions
            .iter()
            .skip(1)
            .take(3)
            .map(|(name, count)| format!("{} {name}", share(*count as f64 / all as f64)))
            .collect();
        out.push(format!("{} of instructions are {name}, {}.", share(count as f64 / all as f64), rest.join(", ")));
    }
    let served = || run.report.kinds.iter().filter(|kind| kind.served > 0);
    let slow = served().filter_map(|kind| Some((kind.slowness()?, kind))).filter(|row| row.0 >= 1.05);
    if let Some((times, kind)) = slow.max_by(|one, other| one.0.total_cmp(&other.0)) {
        out.push(format!(
            "{} is the farthest from its best: a request takes {}, {times:.1} times the {} of its fastest tenth.",
            kind.name,
            duration(run.seconds(kind.mean())),
            duration(run.seconds(kind.fast as f64))
        ));
    }
    let all: u128 = served().filter_map(KindReport::own).sum();
    let longest = served().filter_map(|kind| Some((kind.own()?, kind))).max_by_key(|row| row.0);
    if let Some((own, kind)) = longest.filter(|row| row.0 > 0) {
        out.push(format!(
            "Requests spend {} of their time at {}, where waits for others do not count.",
            share(own as f64 / all as f64),
            called(kind)
        ));
    }
    let uneven = served().filter(|kind| kind.members > 1 && kind.unevenness() >= UNEVEN);
    if let Some(kind) = uneven.max_by(|one, other| one.unevenness().total_cmp(&other.unevenness())) {
        out.push(format!(
            "The members of {} are asked unevenly: one of {} has {:.1} times its share.",
            kind.name,
            kind.members,
            kind.unevenness()
        ));
    }
    out
}

/// How many tasks of a category there are of each action.
fn actions<'a>(set: &'a TaskSet, category: &str) -> Vec<(&'a str, u64)> {
    let mut counts = vec![0u64; set.pairs().len()];
    (0..).take(set.len()).for_each(|task| counts[set.pair(task) as usize] += 1);
    let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
    for ((_, action), count) in set.pairs().zip(counts).filter(|((of, _), count)| *of == category && *count > 0) {
        *by_name.entry(plain(action)).or_default() += count;
    }
    by_name.into_iter().collect()
}

/// `1.18 times as fast`, `1.40 times as long`, `as long`.
fn faster(time: f64, baseline: f64) -> String {
    match baseline / time {
        ratio if !ratio.is_finite() || (0.995..1.005).contains(&ratio) => "as long".to_owned(),
        ratio if ratio > 1.0 => format!("{ratio:.2} times as fast"),
        ratio => format!("{:.2} times as long", 1.0 / ratio),
    }
}

fn against(out: &mut impl Write, run: &Run, baseline: &Run) -> anyhow::Result<()> {
    writeln!(
        out,
        "{}, {}, beside {}, {}: {}",
        run.book.title(),
        duration(run.time()),
        baseline.book.title(),
        duration(baseline.time()),
        faster(run.time(), baseline.time())
    )?;
    let pairs = pairs(&run.report, &baseline.report);
    if pairs.is_empty() {
        return Ok(writeln!(out, "neither has requests, so it is not known what components did")?);
    }
    writeln!(out, "\n{:>25} {:>25} {:>8} {:>17} {:>15}", "requests in", "mean", "times", "waits", "at once")?;
    let two = |one: Option<String>, other: Option<String>, width: usize| {
        let words = |words: Option<String>| words.unwrap_or_else(|| "-".to_owned());
        format!("{:>width$} < {:>width$}", words(one), words(other))
    };
    for (now, before) in pairs {
        let served = |kind: &&KindReport| kind.served > 0;
        let (a, b) = (now.filter(served), before.filter(served));
        let mean = |run: &Run, kind: &KindReport| run.seconds(kind.mean());
        let times = a.zip(b).map(|(a, b)| mean(run, a) / mean(baseline, b)).filter(|times| times.is_finite());
        let at_once = |run: &Run, kind: &KindReport| format!("{:.2}", kind.at_once(run.report.span));
        writeln!(
            out,
            "{} {} {:>8} {} {}  {}",
            two(now.map(|kind| grouped(kind.served)), before.map(|kind| grouped(kind.served)), 11),
            two(a.map(|kind| duration(mean(run, kind))), b.map(|kind| duration(mean(baseline, kind))), 11),
            times.map_or_else(|| "-".to_owned(), |times| format!("{times:.2}")),
            two(a.map(|kind| share(kind.waits())), b.map(|kind| share(kind.waits())), 7),
            two(a.map(|kind| at_once(run, kind)), b.map(|kind| at_once(baseline, kind)), 6),
            now.or(before).map(called).unwrap_or_default()
        )?;
    }
    writeln!(out, "\nleft of `<` is {}, right of it {}", run.book.title(), baseline.book.title())?;
    writeln!(
        out,
        "waits: share of a request's time in which it waited for others; at once: requests in one of a kind"
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_faster_slower_or_the_same() {
        assert_eq!(faster(56_199.0, 66_450.0), "1.18 times as fast");
        assert_eq!(faster(14.0, 10.0), "1.40 times as long");
        assert_eq!(faster(10.0, 10.02), "as long");
        assert_eq!(faster(0.0, 0.0), "as long");
    }
}
