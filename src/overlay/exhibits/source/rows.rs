//! What stands under each other in the source: the lines of each function under its heading, or all lines by a number.

use crate::overlay::exhibits::table::Sort;
use crate::overlay::info::innermost;
use crate::overlay::pen::percent;
use crate::reference::{SourceLocation, SourceTexts, Tables};
use crate::timeline::{Share, Timeline};
use crate::units::{self, LevelId};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;

/// A run that is folded, by the place of its first line, which stays what it is under other caches: see
/// [`Arranged::folded`](crate::overlay::exhibits::Arranged).
pub(super) type Fold = (String, String, u32);

/// What is counted of a line, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) references: u64,
    /// In the innermost levels.
    pub(super) misses: u64,
}

impl Counted {
    /// Of each line.
    pub(super) fn of(timeline: &Timeline, lines: &[Share]) -> Vec<Self> {
        let levels: Vec<usize> = innermost(timeline.start()).map(LevelId::index).collect();
        let misses = |share: &Share| levels.iter().map(|&level| share.misses[level]).sum();
        lines.iter().map(|share| Self { references: share.references, misses: misses(share) }).collect()
    }

    /// Of all of these together.
    pub(super) fn sum(lines: &[Self]) -> Self {
        lines.iter().fold(Self::default(), |sum, line| Self {
            references: sum.references + line.references,
            misses: sum.misses + line.misses,
        })
    }

    pub(super) fn rate(self) -> Option<f64> {
        (self.references > 0).then(|| self.misses as f64 / self.references as f64)
    }
}

/// Lines that follow each other in one function of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run<'a> {
    pub(super) file: &'a str,
    /// Empty = unknown.
    pub(super) function: &'a str,
    /// Number of its first line.
    number: u32,
    /// Its heading alone is shown.
    pub(super) folded: bool,
    /// Rows of [`Timeline::lines`].
    pub(super) lines: Range<usize>,
}

/// The location of a row of [`Timeline::lines`]; `None` for unknown instructions.
pub(super) fn location<'a>(timeline: &Timeline, tables: &'a Tables, line: usize) -> Option<&'a SourceLocation> {
    tables.locations.get(*timeline.lines().places().get(line)?)
}

impl Run<'_> {
    /// File and function.
    pub(super) fn name(&self) -> String {
        if self.function.is_empty() { self.file.to_owned() } else { format!("{}  ·  {}", self.file, self.function) }
    }

    /// What its lines, which are among `lines`, count together: `12 lines, 8,192 references, 54 % miss`.
    pub(super) fn together(&self, lines: &[Counted]) -> String {
        let counted = Counted::sum(lines.get(self.lines.clone()).unwrap_or_default());
        let (lines, references) =
            (units::counted(self.lines.len() as u64, "line"), units::counted(counted.references, "reference"));
        let rate = counted.rate().map_or(String::new(), |rate| format!(", {} miss", percent(Some(rate))));
        format!("{lines}, {references}{rate}")
    }

    /// What it is folded as.
    pub(super) fn fold(&self) -> Fold {
        (self.file.to_owned(), self.function.to_owned(), self.number)
    }
}

/// All lines, which are by file and number: a run begins where file or function is another.
pub(super) fn runs<'a>(timeline: &Timeline, tables: &'a Tables, folded: &BTreeSet<Fold>) -> Vec<Run<'a>> {
    let mut runs: Vec<Run<'a>> = Vec::new();
    for line in 0..timeline.lines().len() {
        let Some(l) = location(timeline, tables, line) else { continue };
        match runs.last_mut() {
            Some(run) if run.file == l.file && (run.function == l.function || l.function.is_empty()) => {
                run.lines.end = line + 1;
            }
            _ => {
                let (file, function) = (l.file.as_str(), l.function.as_str());
                runs.push(Run { file, function, number: l.line, folded: false, lines: line..line + 1 });
            }
        }
    }
    if !folded.is_empty() {
        runs.iter_mut().for_each(|run| run.folded = folded.contains(&run.fold()));
    }
    runs
}

/// Compares two lines by a column of the sheet.
fn compare(column: usize, lines: &[Counted], a: usize, b: usize) -> Ordering {
    match column {
        0 => a.cmp(&b),
        1 => lines[a].references.cmp(&lines[b].references),
        2 => lines[a].misses.cmp(&lines[b].misses),
        _ => lines[a].rate().unwrap_or(-1.0).total_cmp(&lines[b].rate().unwrap_or(-1.0)),
    }
}

/// Whether lines stand by a number, and not under the headings of their functions.
pub(super) fn is_flat(sort: Sort) -> bool {
    sort.column().is_some_and(|column| column > 0)
}

/// The lines in the order that `sort` says, the last of `lines` being of unknown instructions: by place these stay last. By a number, those
/// that made no references are last, whichever way round.
pub(super) fn order(sort: Sort, lines: &[Counted]) -> Vec<usize> {
    let known = lines.len().saturating_sub(1);
    let sorted = if is_flat(sort) { lines.len() } else { known };
    let mut order = sort.order((0..sorted).collect(), &|column, a, b| compare(column, lines, a, b));
    order.extend(sorted..lines.len());
    if is_flat(sort) {
        order.sort_by_key(|&line| lines[line].references == 0);
    }
    order
}

/// A row of the sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// That of a run, by number.
    Heading(usize),
    /// That of a line; the one after the last is of unknown instructions.
    Line(usize),
    /// A line of the text without references: of the file of a run, by its number there.
    Text(usize, u32),
    /// So many lines of the text that are left out.
    LeftOut(u32),
}

/// Lines of text around those that make references.
const AROUND: u32 = 4;
/// Fewest lines that are left out in one place.
const LEAST_LEFT_OUT: u32 = 5;

/// Puts the text between rows that are in their usual order, where it is known: `number` gives the number of a line in its file.
///
/// Between near lines of a function all of the text is shown. Between far lines, before the first line and after the last one, a few lines
/// are shown. Before and after a function they end at an empty line, which mostly stands between functions. Before it they also end at a
/// line that begins with `}` or `#`: in C and its relatives that is no part of the function.
pub(super) fn with_text(
    rows: Vec<Row>,
    runs: &[Run<'_>],
    sources: &SourceTexts,
    number: impl Fn(usize) -> u32,
) -> Vec<Row> {
    let mut out = Vec::with_capacity(2 * rows.len());
    // File and number of the last line that is there, and the run whose text goes on after it.
    let (mut there, mut open) = (("", 0), None);
    for row in rows {
        match row {
            Row::Heading(at) => {
                let run = &runs[at];
                let first = number(run.lines.start);
                if let Some(open) = open.take() {
                    let until = if there.0 == run.file { first } else { u32::MAX };
                    there.1 = behind(&mut out, (open, &runs[open]), sources, there.1, until);
                }
                let after = if there.0 == run.file { there.1 } else { 0 };
                out.push(row);
                if run.folded {
                    there = (run.file, number(run.lines.end - 1));
                } else {
                    let is_apart = |line: &u32| {
                        is_blank(sources, run.file, *line)
                            || sources.line(run.file, *line).is_some_and(|text| text.starts_with(['}', '#']))
                    };
                    let from = first.saturating_sub(AROUND).max(after + 1);
                    let from = (from..first).rev().find(is_apart).map_or(from, |apart| apart + 1);
                    text(&mut out, at, sources, run.file, from..first);
                    there = (run.file, first.saturating_sub(1));
                    open = Some(at);
                }
                continue;
            }
            Row::Line(line) => {
                if let Some(at) = open.filter(|at| runs[*at].lines.contains(&line)) {
                    let (file, number) = (runs[at].file, number(line));
                    between(&mut out, at, sources, file, there.1 + 1..number);
                    there = (file, number);
                } else if let Some(open) = open.take() {
                    // What follows is of unknown instructions.
                    behind(&mut out, (open, &runs[open]), sources, there.1, u32::MAX);
                }
            }
            Row::Text(..) | Row::LeftOut(_) => {}
        }
        out.push(row);
    }
    if let Some(open) = open {
        behind(&mut out, (open, &runs[open]), sources, there.1, u32::MAX);
    }
    out
}

/// Whether a line is there and empty.
fn is_blank(sources: &SourceTexts, file: &str, line: u32) -> bool {
    sources.line(file, line).is_some_and(|line| line.trim().is_empty())
}

/// Rows of these lines, as far as they are known.
fn text(out: &mut Vec<Row>, run: usize, sources: &SourceTexts, file: &str, lines: Range<u32>) {
    let last = sources.lines(file).map_or(0, |lines| u32::try_from(lines.len()).unwrap_or(u32::MAX));
    out.extend((lines.start..lines.end.min(last.saturating_add(1))).map(|line| Row::Text(run, line)));
}

/// What stands between two lines of a function.
fn between(out: &mut Vec<Row>, run: usize, sources: &SourceTexts, file: &str, lines: Range<u32>) {
    let count = lines.end.saturating_sub(lines.start);
    if sources.lines(file).is_none() || count < 2 * AROUND + LEAST_LEFT_OUT {
        return text(out, run, sources, file, lines);
    }
    text(out, run, sources, file, lines.start..lines.start + AROUND);
    out.push(Row::LeftOut(count - 2 * AROUND));
    text(out, run, sources, file, lines.end - AROUND..lines.end);
}

/// What stands after the `last` line of a run, before line `until` of the same file; the last line that is there then.
fn behind(out: &mut Vec<Row>, (at, run): (usize, &Run<'_>), sources: &SourceTexts, last: u32, until: u32) -> u32 {
    let end = last.saturating_add(1 + AROUND).min(until);
    let end = (last.saturating_add(1)..end).find(|line| is_blank(sources, run.file, *line)).unwrap_or(end);
    text(out, at, sources, run.file, last.saturating_add(1)..end);
    end.saturating_sub(1).max(last)
}

/// The rows in this order. Instructions that are unknown have one where they make references.
pub(super) fn rows(sort: Sort, lines: &[Counted], runs: &[Run<'_>]) -> Vec<Row> {
    let unknown = lines.len().saturating_sub(1);
    let is_there = |line: &usize| *line != unknown || lines.get(unknown).is_some_and(|line| line.references > 0);
    let order = order(sort, lines);
    if is_flat(sort) {
        return order.into_iter().filter(is_there).map(Row::Line).collect();
    }
    let mut rows = Vec::with_capacity(lines.len() + runs.len());
    let mut last = None;
    for line in order.into_iter().filter(is_there) {
        let run = runs.partition_point(|run| run.lines.end <= line);
        if run < runs.len() && last != Some(run) {
            rows.push(Row::Heading(run));
            last = Some(run);
        }
        if runs.get(run).is_none_or(|run| !run.folded) {
            rows.push(Row::Line(line));
        }
    }
    rows
}
