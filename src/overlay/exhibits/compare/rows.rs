//! The rows of a comparison: levels, regions and source lines of both, side by side.

use crate::overlay::baseline::Baseline;
use crate::overlay::exhibits::readings::Reading;
use crate::overlay::exhibits::table::{Column, Sort};
use crate::overlay::info::{Info, innermost};
use crate::overlay::pen::Target;
use crate::overlay::studio::Studio;
use crate::reference::SourceLocation;
use crate::scene::palette::Rgba;
use crate::timeline::{Share, Timeline};
use crate::units::LevelId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

/// Source lines that are listed, at most: those that differ most.
const MOST_LINES: usize = 24;

/// The headings of all tables. Where they stand follows from the room that there is.
pub(in crate::overlay::exhibits) const COLUMNS: [Column; 4] = [
    Column { name: "name", width: 0.0, from: 0.0 },
    Column { name: "A", width: 0.0, from: 0.0 },
    Column { name: "B", width: 0.0, from: 0.0 },
    Column { name: "B − A", width: 0.0, from: 0.0 },
];

/// One row: a name, what it is like, and misses of both.
pub(in crate::overlay) struct Row {
    pub(in crate::overlay) name: String,
    pub(in crate::overlay) more: String,
    pub(super) ink: Option<Rgba>,
    pub(in crate::overlay) before: Option<u64>,
    pub(in crate::overlay) now: Option<u64>,
    /// One of two traces may have it alone.
    pub(super) alone: bool,
    /// Shares of misses of both.
    pub(in crate::overlay) rates: [Option<f64>; 2],
    pub(super) target: Option<Target>,
}

impl Row {
    /// In how many misses both differ; what only one has differs in all of them.
    pub(super) fn difference(&self) -> u64 {
        self.now.unwrap_or(0).abs_diff(self.before.unwrap_or(0))
    }

    /// How many more misses there are now. What one of two traces has alone, the other makes no misses in.
    pub(in crate::overlay) fn more_now(&self) -> Option<i128> {
        let (now, before) =
            if self.alone { (self.now.or(Some(0)), self.before.or(Some(0))) } else { (self.now, self.before) };
        Some(i128::from(now?) - i128::from(before?))
    }
}

/// Tables, in order: heading and rows.
pub(super) type Tables = Vec<(&'static str, Vec<Row>)>;

/// Sorts the rows of a table; what is not there is less than all that is.
pub(super) fn order(sort: Sort, rows: &mut Vec<Row>) {
    let compare = |column: usize, a: usize, b: usize| {
        let (a, b): (&Row, &Row) = (&rows[a], &rows[b]);
        match column {
            0 => a.name.cmp(&b.name),
            1 => a.before.cmp(&b.before),
            2 => a.now.cmp(&b.now),
            _ => a.more_now().cmp(&b.more_now()),
        }
    };
    let order = sort.order((0..rows.len()).collect(), &compare);
    let mut left: Vec<Option<Row>> = rows.drain(..).map(Some).collect();
    rows.extend(order.into_iter().filter_map(|n| left[n].take()));
}

/// The tables.
pub(super) fn rows(studio: &Studio, now: &Reading, before: &Reading) -> Tables {
    let two = studio.baseline().is_some_and(Baseline::is_trace);
    let levels = levels(&now.info, &before.info);
    let regions = now.info.listed().into_iter().map(|n| {
        let row = &now.info.regions[n];
        // Regions are those of the trace: the same in both, in the same order, unless memory that has no name was clustered otherwise.
        let other = before.info.regions.get(n).filter(|other| other.name == row.name);
        let other = other.or_else(|| before.info.regions.iter().find(|other| other.name == row.name));
        Row {
            name: row.name.clone(),
            more: String::new(),
            ink: Some(row.color),
            before: other.map(|other| other.misses),
            now: Some(row.misses),
            alone: two,
            rates: [other.and_then(|other| other.miss_rate), row.miss_rate],
            target: Some(Target::Region(n)),
        }
    });
    // Regions that only the other trace has.
    let only = before.info.regions.iter().filter(|row| two && now.info.regions.iter().all(|now| now.name != row.name));
    let only = only.map(|row| Row {
        name: row.name.clone(),
        more: String::new(),
        ink: Some(row.color),
        before: Some(row.misses),
        now: None,
        alone: true,
        rates: [row.miss_rate, None],
        target: None,
    });
    let mut tables = vec![("LEVELS", levels)];
    if let Some(baseline) = studio.baseline().filter(|baseline| baseline.is_trace()) {
        tables.push(("LEVELS, WHOLE TRACES", whole(studio.timeline(), baseline.studio().timeline())));
    }
    tables.push(("REGIONS", regions.chain(only).collect()));
    let lines = if two { lines_of_two(studio, now, before) } else { lines(studio, now, before) };
    if !lines.is_empty() {
        tables.push(("LINES THAT DIFFER MOST", lines));
    }
    tables
}

/// Levels by name; one that the other machine has not is compared with nothing.
fn levels(now: &Info, before: &Info) -> Vec<Row> {
    let level = |info: &Info, name: &str| {
        info.caches
            .iter()
            .find(|row| row.core.is_none() && row.name == name)
            .map(|row| (row.misses, row.hit_rate, row.shape.clone()))
    };
    let mut names: Vec<&str> = Vec::new();
    for row in now.caches.iter().chain(&before.caches).filter(|row| row.core.is_none()) {
        if !names.contains(&row.name.as_str()) {
            names.push(&row.name);
        }
    }
    let row = |name: &str| {
        let (was, is) = (level(before, name), level(now, name));
        let shape = |of: &Option<(u64, Option<f64>, String)>| {
            of.as_ref().map_or("not there".to_owned(), |(.., shape)| shape.clone())
        };
        let (a, b) = (shape(&was), shape(&is));
        let rate =
            |of: &Option<(u64, Option<f64>, String)>| of.as_ref().and_then(|(_, rate, _)| rate.map(|rate| 1.0 - rate));
        Row {
            name: name.to_owned(),
            more: changed(&a, &b),
            ink: None,
            rates: [rate(&was), rate(&is)],
            before: was.map(|(misses, ..)| misses),
            now: is.map(|(misses, ..)| misses),
            alone: false,
            target: None,
        }
    };
    names.into_iter().map(row).collect()
}

/// Demand misses of levels, by name, in all of two traces, which may be of different lengths and end at different moments.
fn whole(now: &Timeline, before: &Timeline) -> Vec<Row> {
    let misses = |of: &Timeline, name: &str| {
        let level = of.config().levels.iter().position(|level| level.name == name)?;
        Some(of.summary().over(0..of.len(), level).0.demand_misses)
    };
    let row = |name: &str| Row {
        name: name.to_owned(),
        more: String::new(),
        ink: None,
        before: misses(before, name),
        now: misses(now, name),
        alone: false,
        rates: [None; 2],
        target: None,
    };
    let levels = now.config().levels.iter();
    let only = before.config().levels.iter().filter(|level| misses(now, &level.name).is_none());
    levels.chain(only).map(|level| row(&level.name)).collect()
}

/// What became of a shape, in few words: `512 B → 1 KiB`, or of the same size `2 sets × 8 ways → 4 sets × 4 ways`.
pub(super) fn changed(a: &str, b: &str) -> String {
    match (a.split_once(", "), b.split_once(", ")) {
        _ if a == b => a.to_owned(),
        (Some((size, a)), Some((other, b))) if size == other => format!("{a} → {b}"),
        (Some((a, _)), Some((b, _))) => format!("{a} → {b}"),
        _ => format!("{a} → {b}"),
    }
}

/// Source lines whose misses differ, those that differ most first.
fn lines(studio: &Studio, now: &Reading, before: &Reading) -> Vec<Row> {
    let Some(baseline) = studio.baseline() else { return Vec::new() };
    let (now, before) = (misses_of_lines(studio, now), misses_of_lines(baseline.studio(), before));
    let mut order: Vec<usize> = (0..now.len().min(before.len())).filter(|&n| now[n].1 != before[n].1).collect();
    order.sort_by_key(|&n| Reverse(now[n].1.abs_diff(before[n].1)));
    let row = |n: usize| {
        let location = location(studio, n);
        Row {
            name: location.map_or("unknown instructions".to_owned(), |l| format!("{}:{}", l.file, l.line)),
            more: location.map_or(String::new(), |l| l.text.clone()),
            ink: None,
            before: Some(before[n].1),
            now: Some(now[n].1),
            alone: false,
            rates: [rate(before[n]), rate(now[n])],
            target: Some(Target::Line(n)),
        }
    };
    order.into_iter().take(MOST_LINES).map(row).collect()
}

/// For each of `now` that has no partner yet, the first of `before` that is left with the same key; what has no key has no partner.
fn pair<K: Ord>(
    pairs: &mut [Option<usize>],
    left: &mut [bool],
    now: impl Fn(usize) -> Option<K>,
    before: impl Fn(usize) -> Option<K>,
) {
    let mut others: BTreeMap<K, VecDeque<usize>> = BTreeMap::new();
    for other in (0..left.len()).filter(|&other| left[other]) {
        if let Some(key) = before(other) {
            others.entry(key).or_default().push_back(other);
        }
    }
    for (n, partner) in pairs.iter_mut().enumerate().filter(|(_, partner)| partner.is_none()) {
        *partner = now(n).and_then(|key| others.get_mut(&key)?.pop_front());
        if let Some(other) = *partner {
            left[other] = false;
        }
    }
}

/// Lines of two traces, whose programs may differ. Those of one text belong together, the nth to the nth; of what is left, those of one
/// number in one function of files of one name: there the text was changed. Of each line of now that of before, and those of before that
/// are alone.
fn pairs(now: &[Option<&SourceLocation>], before: &[Option<&SourceLocation>]) -> (Vec<Option<usize>>, Vec<usize>) {
    let text = |l: Option<&SourceLocation>| {
        // Unknown instructions, which have none, belong to unknown ones.
        Some(l.map_or(String::new(), |l| match l.text.is_empty() {
            true => format!("{}:{}", file_name(&l.file), l.line),
            false => l.text.clone(),
        }))
    };
    let place = |l: Option<&SourceLocation>| l.map(|l| (file_name(&l.file).to_owned(), l.function.clone(), l.line));
    let (mut pairs, mut left) = (vec![None; now.len()], vec![true; before.len()]);
    pair(&mut pairs, &mut left, |n| text(now[n]), |n| text(before[n]));
    pair(&mut pairs, &mut left, |n| place(now[n]), |n| place(before[n]));
    (pairs, (0..before.len()).filter(|&other| left[other]).collect())
}

/// Source lines of two traces whose misses differ, those that differ most first.
fn lines_of_two(studio: &Studio, now: &Reading, before: &Reading) -> Vec<Row> {
    let Some(baseline) = studio.baseline() else { return Vec::new() };
    let (now, before) = (misses_of_lines(studio, now), misses_of_lines(baseline.studio(), before));
    let locations = |studio, len| (0..len).map(|n| location(studio, n)).collect::<Vec<_>>();
    let (pairs, alone) = pairs(&locations(studio, now.len()), &locations(baseline.studio(), before.len()));
    let mut rows: Vec<Row> = Vec::new();
    let row = |words: [Option<String>; 2], before: Option<(u64, u64)>, now: Option<(u64, u64)>, target| {
        let [here, there] = &words;
        let name = match (here, there) {
            (Some(here), Some(there)) if here != there => format!("{here} (A: {there})"),
            (Some(here), _) => here.clone(),
            (None, Some(there)) => format!("A: {there}"),
            (None, None) => String::new(),
        };
        let misses = |of: Option<(u64, u64)>| of.map(|(_, misses)| misses);
        let rates = [before.and_then(rate), now.and_then(rate)];
        Row {
            name,
            more: String::new(),
            ink: None,
            before: misses(before),
            now: misses(now),
            alone: true,
            rates,
            target,
        }
    };
    let text = |studio: &Studio, n: usize| location(studio, n).map_or(String::new(), |l| l.text.clone());
    for ((n, &counts), &other) in now.iter().enumerate().zip(&pairs) {
        let words = [Some(place(studio, n)), other.map(|other| place(baseline.studio(), other))];
        let mut row = row(words, other.map(|other| before[other]), Some(counts), Some(Target::Line(n)));
        let (here, there) = (text(studio, n), other.map(|other| text(baseline.studio(), other)));
        row.more = match there.filter(|there| *there != here && !there.is_empty()) {
            Some(there) => format!("{here}  (A: {there})"),
            None => here,
        };
        rows.push(row);
    }
    for other in alone {
        let mut row = row([None, Some(place(baseline.studio(), other))], Some(before[other]), None, None);
        row.more = text(baseline.studio(), other);
        rows.push(row);
    }
    rows.retain(|row| row.difference() > 0);
    rows.sort_by(|a, b| b.difference().cmp(&a.difference()).then_with(|| a.name.cmp(&b.name)));
    rows.truncate(MOST_LINES);
    rows
}

/// References and misses in the innermost caches, by source line.
fn misses_of_lines(studio: &Studio, reading: &Reading) -> Vec<(u64, u64)> {
    let levels: Vec<usize> = innermost(studio.timeline().start()).map(LevelId::index).collect();
    let sum = |share: &Share| levels.iter().map(|&level| share.misses[level]).sum::<u64>();
    reading.lines.iter().map(|share| (share.references, sum(share))).collect()
}

fn rate((references, misses): (u64, u64)) -> Option<f64> {
    (references > 0).then(|| misses as f64 / references as f64)
}

fn location(studio: &Studio, row: usize) -> Option<&SourceLocation> {
    studio.timeline().lines().places().get(row).and_then(|&place| studio.tables().locations.get(place))
}

/// Where a line is: `matmul.c:12`.
fn place(studio: &Studio, row: usize) -> String {
    location(studio, row).map_or("unknown instructions".to_owned(), |l| format!("{}:{}", file_name(&l.file), l.line))
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(file: &str, function: &str, line: u32, text: &str) -> SourceLocation {
        SourceLocation {
            path: String::new(),
            pc: 0,
            file: file.into(),
            line,
            function: function.into(),
            text: text.into(),
        }
    }

    /// With unknown instructions after the last of both.
    fn paired(now: &[SourceLocation], before: &[SourceLocation]) -> (Vec<Option<usize>>, Vec<usize>) {
        fn all(lines: &[SourceLocation]) -> Vec<Option<&SourceLocation>> {
            lines.iter().map(Some).chain([None]).collect()
        }
        pairs(&all(now), &all(before))
    }

    #[test]
    fn exchanged_loops_belong_together_by_their_text() {
        let now = [line("mm.c", "mm", 8, "for j"), line("mm.c", "mm", 9, "for i"), line("mm.c", "mm", 10, "sum")];
        let before = [line("mm.c", "mm", 8, "for i"), line("mm.c", "mm", 9, "for j"), line("mm.c", "mm", 10, "sum")];
        assert_eq!(paired(&now, &before), (vec![Some(1), Some(0), Some(2), Some(3)], vec![]));
    }

    #[test]
    fn what_no_text_pairs_is_paired_by_its_place() {
        let now =
            [line("b/mm.c", "mm", 8, "for k"), line("b/mm.c", "mm", 9, "sum += b[k]"), line("b/mm.c", "main", 3, "x")];
        let before = [
            line("a/mm.c", "mm", 8, "for i"),
            line("a/mm.c", "mm", 9, "sum += b[i]"),
            line("a/mm.c", "other", 3, "y"),
            line("a/mm.c", "mm", 20, "sum += b[k]"),
        ];
        // Line 9 has the text of line 20: what is left of before is line 9 itself, and line 3, which is of another function.
        assert_eq!(paired(&now, &before), (vec![Some(0), Some(3), None, Some(4)], vec![1, 2]));
        // Of one text, the first belongs to the first.
        let twice = [line("mm.c", "mm", 1, "t"), line("mm.c", "mm", 2, "t")];
        assert_eq!(paired(&twice, &twice).0, [Some(0), Some(1), Some(2)]);
        assert_eq!(paired(&twice[1..], &twice), (vec![Some(0), Some(2)], vec![1]));
    }
}
