//! `orrery tasks`: a file of tasks in numbers.

use super::UsageError;
use super::components;
use super::convert::parse_range;
use super::open::{open_cache, open_trace, say_note};
use super::written::not_over;
use crate::cli::{TasksArgs, TraceArgs};
use crate::daisen::{self, Dialect, TaskFile, TaskText};
use crate::machine::cpu;
use crate::opening::{self, FileKind, Tell};
use crate::shown::{self, say};
use crate::sim::config::nearest;
use crate::tasks::blocking::blocking;
use crate::tasks::metrics::{Bins, Metric, Point, series_of};
use crate::tasks::reasons::Reasons;
use crate::tasks::rules::breaches;
use crate::tasks::{Summary, Symbol, TaskBook, TaskSet, plain, summary};
use crate::trace::file_of;
use crate::units::grouped;
use anyhow::Context as _;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Prints what the file holds, or a metric over time.
///
/// # Errors
/// [`UsageError`] for a metric or a location that there is not; a file that cannot be read; a failed write.
pub(super) fn run(args: &TasksArgs) -> anyhow::Result<()> {
    let metric = args.metric.as_deref().map(str::parse::<Metric>).transpose();
    let metric = metric.map_err(|error| UsageError(format!("--metric: {error}")))?;
    check_output(args.output.as_deref(), &args.dialect)?;
    if let Some(output) = &args.output {
        not_over("-o", output, &args.file, "what is no task (metrics, source) is not written")?;
    }
    let file = match FileKind::of(&args.file, None) {
        FileKind::Tasks if args.range.is_none() => read(&args.file)?,
        FileKind::References if args.range.is_none() && !is_there(args) => read(&args.file)?,
        _ => of_trace(args)?,
    };
    if let Some(output) = &args.output {
        return write_tasks(&file.set, output, &args.dialect);
    }
    let points = match (metric, args.location.as_deref()) {
        (Some(metric), Some(location)) => Some(measured(&file, metric, location, args.bins as usize)?),
        _ => None,
    };
    if args.components {
        let baseline = args.against.as_deref().map(|path| Ok::<_, anyhow::Error>(book(read(path)?, path)));
        return components::tell(book(file, &args.file), baseline.transpose()?, args.json);
    }
    match (points, args.json) {
        (Some(series), true) => json(&mut shown::json(), &series),
        (Some(series), false) => table(&mut shown::out(), &series),
        (None, true) => json(&mut shown::json(), &Told::of(&file.set)),
        (None, false) => words(&mut shown::out(), &file),
    }
}

/// The tasks of a file; what is wrong with it is said.
fn read(path: &Path) -> anyhow::Result<TaskFile> {
    let tell: Tell = Arc::new(say_note);
    let file = opening::tasks(path, &tell).with_context(|| path.display().to_string())?;
    for notice in &file.notices {
        say!("{}: {notice}", path.display());
    }
    Ok(file)
}

/// Says what is wrong with `-o` and `--as` before anybody waits for the tasks.
///
/// # Errors
/// [`UsageError`] where that cannot be written to standard output, or the file's folder is not there.
pub(super) fn check_output(output: Option<&Path>, dialect: &str) -> Result<(), UsageError> {
    let Some(output) = output else { return Ok(()) };
    if output.as_os_str() == "-" {
        return match TaskText::ALL.into_iter().any(|(_, name)| name == dialect) {
            true => Ok(()),
            false => Err(UsageError(format!("-o -: found --as {dialect}; expected jsonl or chrome"))),
        };
    }
    match output.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => Err(UsageError(format!(
            "-o {}: found no folder {}; expected one that exists",
            output.display(),
            folder.display()
        ))),
        None => Ok(()),
    }
}

/// Writes tasks as --as says; [`check_output`] comes before.
///
/// # Errors
/// A failed write.
pub(super) fn write_tasks(set: &TaskSet, output: &Path, dialect: &str) -> anyhow::Result<()> {
    if let Some((text, _)) = TaskText::ALL.into_iter().find(|(_, name)| *name == dialect) {
        if output.as_os_str() == "-" {
            return Ok(text.write(set, &mut shown::raw().lock()).map_err(shown::unwritten)?);
        }
        return text.write_file(set, output).with_context(|| output.display().to_string());
    }
    let dialect = Dialect::ALL.into_iter().find(|(_, name)| *name == dialect).map_or(Dialect::V4, |row| row.0);
    daisen::write(set, output, dialect).with_context(|| output.display().to_string())
}

/// References that are told at most: each makes some ten tasks.
const MOST_REFERENCES: u64 = 2_000_000;

/// Whether there is something to be read; what is not there is told as a file of tasks.
fn is_there(args: &TasksArgs) -> bool {
    args.file.as_os_str() == "-" || file_of(&args.file).is_none_or(Path::exists)
}

/// The references of a trace as tasks.
fn of_trace(args: &TasksArgs) -> anyhow::Result<TaskFile> {
    let trace = TraceArgs { trace: args.file.clone(), format: None };
    let source = open_trace(&trace)?;
    let caches = open_cache(&args.cache, source.as_ref())?;
    let len = source.len();
    let (from, to) = match &args.range {
        Some(text) => parse_range(text)?,
        None => (0, len),
    };
    if from >= to || from >= len {
        let text = args.range.as_deref().unwrap_or("0..0");
        return Err(UsageError(format!("--range {text}: the trace has {len} references, numbered from 0")).into());
    }
    let to = to.min(len);
    if to - from > MOST_REFERENCES {
        return Err(UsageError(format!(
            "found {} references; expected {} at most: choose a part with --range FROM..TO",
            grouped(to - from),
            grouped(MOST_REFERENCES)
        ))
        .into());
    }
    let set = cpu::tasks_of(source.as_ref(), &caches.config, from..to)?;
    Ok(TaskFile { set, dialect: Dialect::V4, notices: Vec::new() })
}

/// A metric of a location, as data.
#[derive(Serialize)]
struct Series {
    metric: &'static str,
    location: String,
    /// Middle of a bin in seconds, and its value.
    points: Vec<Point>,
    /// Of `ConcurrentTaskMilestones`: for each reason the value of each bin.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    reasons: BTreeMap<String, Vec<f64>>,
}

fn measured(file: &TaskFile, metric: Metric, location: &str, bins: usize) -> anyhow::Result<Series> {
    let set = &file.set;
    let locations = locations(file, location)?;
    let bins = Bins::whole(set, bins, file.dialect.edges());
    let points = series_of(set, metric, &locations, &bins);
    let reasons = match metric {
        Metric::ConcurrentTaskMilestones => Reasons::of(set, &locations, &bins).bands.into_iter().collect(),
        _ => BTreeMap::new(),
    };
    Ok(Series { metric: metric.name(), location: location.to_owned(), points, reasons })
}

/// The locations that a name stands for.
fn locations(file: &TaskFile, wanted: &str) -> Result<Vec<Symbol>, UsageError> {
    let all = file.set.locations();
    let below = |name: &str| name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'));
    // Akita 5 splits a component into locations of one category each, and means all of them by its name.
    let scope = file.dialect == Dialect::V5;
    let found: Vec<Symbol> =
        all.iter().filter(|&(_, name)| name == wanted || (scope && below(name))).map(|(symbol, _)| symbol).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let used = all.iter().filter(|&(location, _)| !file.set.tasks_at(location).is_empty());
    let names: Vec<&str> = used.map(|(_, name)| name).collect();
    let hint = nearest(wanted, &names).map_or_else(String::new, |name| format!("did you mean `{name}`? "));
    if names.is_empty() {
        return Err(UsageError(format!("--location {wanted}: found no location, because the file has no tasks")));
    }
    let few: Vec<&str> = names.iter().copied().take(8).collect();
    let more = if names.len() > few.len() { ", ..." } else { "" };
    Err(UsageError(format!(
        "--location {wanted}: found no such location; {hint}expected one of {}: {}{more}",
        grouped(names.len() as u64),
        few.join(", ")
    )))
}

/// What `--summary --json` tells.
#[derive(Serialize)]
struct Told {
    start: f64,
    end: f64,
    tasks: u64,
    locations: u64,
    dangling_parents: u64,
    kinds: BTreeMap<String, u64>,
    req_in: BTreeMap<String, Served>,
}

/// The requests that a location served.
#[derive(Serialize)]
struct Served {
    count: u64,
    /// Seconds.
    mean: f64,
    max_concurrency: u64,
}

impl Told {
    fn of(set: &TaskSet) -> Self {
        let summary = summary(set);
        let served = summary.requests_in.iter().map(|at| {
            let told = Served { count: at.count, mean: at.mean, max_concurrency: at.max_concurrency };
            (set.locations().word(at.location).to_owned(), told)
        });
        Self {
            start: summary.start,
            end: summary.end,
            tasks: summary.tasks,
            locations: summary.locations,
            dangling_parents: summary.dangling_parents,
            kinds: summary.kinds,
            req_in: served.collect(),
        }
    }
}

fn json(out: &mut impl Write, value: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string(value)?;
    Ok(writeln!(out, "{text}")?)
}

fn table(out: &mut impl Write, series: &Series) -> anyhow::Result<()> {
    writeln!(out, "{} of {}", series.metric, series.location)?;
    if !series.reasons.is_empty() {
        let names: Vec<&str> = series.reasons.keys().map(String::as_str).collect();
        writeln!(out, "{:>12}  {:>14}  of these: {}", "", "all", names.join(", "))?;
    }
    for (bin, (seconds, value)) in series.points.iter().enumerate() {
        let reasons: String = series.reasons.values().map(|band| format!("  {:>14.6e}", band[bin])).collect();
        writeln!(out, "{:>12}  {value:>14.6e}{reasons}", duration(*seconds))?;
    }
    Ok(())
}

/// Seconds in the unit in which they are a number from 1 to 999: `17.84 µs`.
pub(super) fn duration(seconds: f64) -> String {
    if seconds == 0.0 {
        return "0 s".to_owned();
    }
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    let (unit, name) = units.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or((1e-12, "ps"));
    format!("{:.2} {name}", seconds / unit)
}

fn words(out: &mut impl Write, file: &TaskFile) -> anyhow::Result<()> {
    let set = &file.set;
    let summary = summary(set);
    writeln!(
        out,
        "{} tasks at {} locations, from {} to {}; {}",
        grouped(summary.tasks),
        grouped(summary.locations),
        duration(summary.start),
        duration(summary.end),
        file.dialect.name()
    )?;
    if summary.dangling_parents > 0 {
        writeln!(out, "{} of them are parts of tasks that are not in the file", summary.dangling_parents)?;
    }
    let mut broken = BTreeMap::new();
    for (_, rule) in breaches(set) {
        *broken.entry(rule).or_insert(0) += 1;
    }
    for (rule, count) in broken {
        writeln!(out, "{} tasks break a rule of the model: {}", grouped(count), rule.words())?;
    }
    if set.is_empty() {
        return Ok(());
    }
    let mut kinds: Vec<_> = summary.kinds.iter().collect();
    kinds.sort_by_key(|&(name, &count)| (std::cmp::Reverse(count), name.clone()));
    writeln!(out, "\n{:>12}  category", "tasks")?;
    let mut by_pair = vec![0; set.pairs().len()];
    (0..).take(set.len()).for_each(|task| by_pair[set.pair(task) as usize] += 1);
    for (name, count) in kinds {
        writeln!(out, "{:>12}  {name}{}", grouped(*count), parts(set, &by_pair, name, *count))?;
    }
    served(out, set, &summary)?;
    let blocking = blocking(set);
    if !blocking.is_empty() {
        writeln!(out, "\n{:>12}  {:>12}  what tasks waited for", "waits", "tasks")?;
    }
    for row in blocking.iter().take(10) {
        let what = set.words().word(row.what);
        writeln!(out, "{:>12}  {:>12}  {what}", grouped(row.waits), grouped(row.tasks))?;
    }
    if blocking.len() > 10 {
        writeln!(out, "{:>12}  others", grouped(blocking.len() as u64 - 10))?;
    }
    Ok(())
}

fn book(file: TaskFile, path: &Path) -> TaskBook {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    TaskBook::new(file.set, file.dialect.edges(), shown::name(&name), "")
}

/// Actions of a category that are listed, at most.
const MOST_ACTIONS: usize = 6;

/// Of which actions the tasks of a category are: `: VALU 64 %, Scalar 23 %`; empty where there is one alone.
fn parts(set: &TaskSet, by_pair: &[u64], category: &str, all: u64) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for ((_, action), count) in set.pairs().zip(by_pair).filter(|((of, _), _)| *of == category) {
        *counts.entry(plain(action)).or_default() += count;
    }
    if counts.len() < 2 {
        return String::new();
    }
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
    let mut words: Vec<String> = counts
        .iter()
        .take(MOST_ACTIONS)
        .map(|(name, count)| format!("{} {}", name, share(*count as f64 / all as f64)))
        .collect();
    if counts.len() > MOST_ACTIONS {
        words.push(format!("{} others", counts.len() - MOST_ACTIONS));
    }
    format!(": {}", words.join(", "))
}

/// `64 %`, `0.3 %`.
pub(super) fn share(part: f64) -> String {
    let percent = 100.0 * part;
    if percent < 1.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

fn served(out: &mut impl Write, set: &TaskSet, summary: &Summary) -> anyhow::Result<()> {
    if summary.requests_in.is_empty() {
        return Ok(());
    }
    // Who is busy longest comes first.
    let mut served: Vec<_> = summary.requests_in.iter().collect();
    served.sort_by(|a, b| (b.mean * b.count as f64).total_cmp(&(a.mean * a.count as f64)));
    writeln!(out, "\n{:>12}  {:>12}  {:>12}  location", "requests in", "mean", "most at once")?;
    for at in served {
        let name = set.locations().word(at.location);
        writeln!(
            out,
            "{:>12}  {:>12}  {:>12}  {name}",
            grouped(at.count),
            duration(at.mean),
            grouped(at.max_concurrency)
        )?;
    }
    Ok(())
}
