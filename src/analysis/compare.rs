//! Two runs beside each other: another trace, or the same under other caches. Counters by level, and the regions and source lines that
//! gained or lost most misses.

use crate::sim::stats::{LevelStats, LineStats, RegionStats, Stats};
use serde::Serialize;
use std::sync::Arc;

/// A count of both runs; `None` = the run has no such thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// Of the first run.
    pub a: Option<u64>,
    /// Of the second run.
    pub b: Option<u64>,
}

impl Pair {
    /// How much more the second run has; what is not there counts 0.
    #[must_use]
    pub fn difference(self) -> i128 {
        i128::from(self.b.unwrap_or(0)) - i128::from(self.a.unwrap_or(0))
    }

    fn of_a(count: u64) -> Self {
        Self { a: Some(count), b: None }
    }

    fn of_b(count: u64) -> Self {
        Self { a: None, b: Some(count) }
    }

    /// Whether either run has any.
    #[must_use]
    pub fn is_any(self) -> bool {
        self.a.unwrap_or(0) > 0 || self.b.unwrap_or(0) > 0
    }
}

/// A counter and its name, as in the JSON of `stats`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// `demand_misses`.
    pub name: &'static str,
    /// Of both runs.
    pub counts: Pair,
}

/// The counters of a level, of memory or of a TLB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelPair {
    /// `L1`; `memory`.
    pub name: String,
    /// Those that the runs have.
    pub counters: Vec<Counted>,
}

/// A region or source line of both runs. There may be a million.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its name, which pairs it.
    pub name: String,
    /// Its references.
    pub references: Pair,
    /// Levels of both runs, those of the first first; shared by all rows.
    levels: Arc<[Arc<str>]>,
    /// Its demand misses by level.
    misses: Box<[Pair]>,
}

impl Changed {
    /// Its misses at a level.
    #[must_use]
    pub fn misses(&self, level: &str) -> Pair {
        self.by_level().find(|(name, _)| *name == level).map(|(_, pair)| pair).unwrap_or_default()
    }

    /// Its misses at each level that a run of it has.
    pub fn by_level(&self) -> impl Iterator<Item = (&str, Pair)> {
        let all = self.levels.iter().map(|level| &**level).zip(self.misses.iter().copied());
        all.filter(|(_, pair)| pair.a.is_some() || pair.b.is_some())
    }

    /// Adds the other to it, whose name is the same.
    fn add(&mut self, other: &Self) {
        let pairs = self.misses.iter_mut().zip(&other.misses).chain([(&mut self.references, &other.references)]);
        for (own, more) in pairs {
            for (own, more) in [(&mut own.a, more.a), (&mut own.b, more.b)] {
                *own = more.map_or(*own, |more| Some(own.unwrap_or(0) + more));
            }
        }
    }
}

/// Two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// References, reads, writes, fetches, bytes.
    pub trace: Vec<Counted>,
    /// Levels by their names, those of the first run first; then TLBs and memory.
    pub levels: Vec<LevelPair>,
    /// By their names.
    pub regions: Vec<Changed>,
    /// By file, function and text; by number where no text is known, since lines of changed programs move.
    pub lines: Vec<Changed>,
}

impl Comparison {
    /// Compares two runs, and takes them apart. Source lines are compared where both counted them.
    #[must_use]
    pub fn of(mut a: Stats, mut b: Stats) -> Self {
        let levels = of_both(&a, &b);
        let region = |r: RegionStats<'_>| (r.name.to_owned(), r.references, r.misses.by_level());
        let line = |l: LineStats| (line_name(&l), l.references, l.misses);
        let mut regions = Rows::new(Arc::clone(&levels));
        for (of, pair) in [(&mut a, Pair::of_a as fn(u64) -> Pair), (&mut b, Pair::of_b)] {
            // The table is dropped before the next one is read.
            let table = std::mem::take(&mut of.regions);
            regions.add(table.iter().map(region), pair);
        }
        let mut lines = Rows::new(levels);
        lines.add(std::mem::take(&mut a.lines).into_iter().map(line), Pair::of_a);
        lines.add(std::mem::take(&mut b.lines).into_iter().map(line), Pair::of_b);
        let pair = |name, a, b| Counted { name, counts: Pair { a: Some(a), b: Some(b) } };
        let trace = vec![
            pair("references", a.trace.references, b.trace.references),
            pair("reads", a.trace.reads, b.trace.reads),
            pair("writes", a.trace.writes, b.trace.writes),
            pair("fetches", a.trace.fetches, b.trace.fetches),
            pair("bytes", a.trace.bytes, b.trace.bytes),
        ];
        let memory = vec![
            pair("reads", a.memory.reads, b.memory.reads),
            pair("writes", a.memory.writes, b.memory.writes),
            pair("bytes_read", a.memory.bytes_read, b.memory.bytes_read),
            pair("bytes_written", a.memory.bytes_written, b.memory.bytes_written),
        ];
        let mut levels = paired(&a.levels, &b.levels, |level| level.name.clone())
            .into_iter()
            .map(|(name, a, b)| LevelPair { name, counters: counters(a, b) })
            .collect::<Vec<_>>();
        levels.extend(paired(&a.tlbs, &b.tlbs, |tlb| tlb.name.clone()).into_iter().map(|(name, a, b)| {
            let count = |name, of: fn(&crate::sim::stats::TlbStats) -> u64| Counted {
                name,
                counts: Pair { a: a.map(of), b: b.map(of) },
            };
            LevelPair { name, counters: vec![count("accesses", |t| t.accesses), count("misses", |t| t.misses)] }
        }));
        levels.push(LevelPair { name: "memory".into(), counters: memory });
        Self { trace, levels, regions: regions.all, lines: lines.all }
    }

    /// How many regions and source lines, by name, refer in both runs; what has no name is none.
    #[must_use]
    pub fn in_common(&self) -> (usize, usize) {
        let named = |row: &&Changed| !row.name.starts_with('(');
        let both = |row: &&Changed| row.references.a.unwrap_or(0) > 0 && row.references.b.unwrap_or(0) > 0;
        let count = |rows: &[Changed]| rows.iter().filter(named).filter(both).count();
        (count(&self.regions), count(&self.lines))
    }

    /// Rows whose misses at a level differ, those that differ most first.
    #[must_use]
    pub fn most<'a>(rows: &'a [Changed], level: &str) -> Vec<&'a Changed> {
        let mut most: Vec<&Changed> = rows.iter().filter(|row| row.misses(level).difference() != 0).collect();
        most.sort_by_key(|row| std::cmp::Reverse(row.misses(level).difference().unsigned_abs()));
        most
    }
}

/// The last part of the file's name, the function, and the text; without text the number.
fn line_name(line: &LineStats) -> String {
    let file = line.file.rsplit(['/', '\\']).next().unwrap_or(&line.file);
    match (line.text.is_empty(), line.line) {
        (false, _) => format!("{file}  {}", line.text),
        (true, 0) => file.to_owned(),
        (true, number) => format!("{file}:{number}  {}", line.function).trim_end().to_owned(),
    }
}

/// Things of both by name, those of the first first.
fn paired<'a, T>(a: &'a [T], b: &'a [T], name: impl Fn(&T) -> String) -> Vec<(String, Option<&'a T>, Option<&'a T>)> {
    let mut rows: Vec<_> = a
        .iter()
        .map(|own| {
            let named = name(own);
            let other = b.iter().find(|other| name(other) == named);
            (named, Some(own), other)
        })
        .collect();
    for other in b {
        let named = name(other);
        if !rows.iter().any(|(name, ..)| *name == named) {
            rows.push((named, None, Some(other)));
        }
    }
    rows
}

/// Reads a counter.
type Read = fn(&LevelStats) -> u64;

fn counters(a: Option<&LevelStats>, b: Option<&LevelStats>) -> Vec<Counted> {
    let all: [(&'static str, Read); 14] = [
        ("demand_accesses", |l| l.demand_accesses),
        ("demand_misses", |l| l.demand_misses),
        ("compulsory", |l| l.compulsory),
        ("capacity", |l| l.capacity),
        ("conflict", |l| l.conflict),
        ("coherence", |l| l.coherence),
        ("fills", |l| l.fills),
        ("evictions", |l| l.evictions),
        ("writebacks", |l| l.writebacks),
        ("invalidations", |l| l.invalidations),
        ("prefetch_accesses", |l| l.prefetch_accesses),
        ("prefetch_misses", |l| l.prefetch_misses),
        ("bytes_in", |l| l.bytes_in),
        ("bytes_out", |l| l.bytes_out),
    ];
    all.into_iter().map(|(name, of)| Counted { name, counts: Pair { a: a.map(of), b: b.map(of) } }).collect()
}

/// Names of the levels of both runs, those of the first first.
fn of_both(a: &Stats, b: &Stats) -> Arc<[Arc<str>]> {
    let mut names: Vec<Arc<str>> = Vec::new();
    for level in a.levels.iter().chain(&b.levels) {
        if names.iter().all(|name| **name != *level.name) {
            names.push(level.name.as_str().into());
        }
    }
    names.into()
}

/// A name, references and misses by level.
type Row = (String, u64, Vec<(Arc<str>, u64)>);

/// Rows by name, in the order in which they come; rows of one name add up.
struct Rows {
    levels: Arc<[Arc<str>]>,
    all: Vec<Changed>,
    /// Places in `all`, by name.
    by_name: Vec<u32>,
}

impl Rows {
    fn new(levels: Arc<[Arc<str>]>) -> Self {
        Self { levels, all: Vec::new(), by_name: Vec::new() }
    }

    /// Adds the rows of one run; `pair` makes a count of that run.
    fn add(&mut self, rows: impl ExactSizeIterator<Item = Row>, pair: fn(u64) -> Pair) {
        let known = self.all.len();
        if known == 0 {
            self.all.reserve_exact(rows.len());
        }
        for (name, references, misses) in rows {
            let at = |level: &Arc<str>| misses.iter().find(|(name, _)| name == level).map(|(_, count)| pair(*count));
            let misses = self.levels.iter().map(|level| at(level).unwrap_or_default()).collect();
            let row = Changed { name, references: pair(references), levels: Arc::clone(&self.levels), misses };
            match self.by_name.binary_search_by(|&place| self.all[place as usize].name.cmp(&row.name)) {
                Ok(found) => self.all[self.by_name[found] as usize].add(&row),
                Err(_) => self.all.push(row),
            }
        }
        self.join(known);
    }

    /// Joins rows of one name among those from `known` on.
    fn join(&mut self, known: usize) {
        let all = &mut self.all;
        let mut places: Vec<u32> = (0u32..).take(all.len()).skip(known).collect();
        places.sort_by(|&a, &b| all[a as usize].name.cmp(&all[b as usize].name));
        let mut is_joined = vec![false; all.len() - known];
        let mut first: Option<usize> = None;
        for place in places.into_iter().map(|place| place as usize) {
            match first {
                Some(first) if all[first].name == all[place].name => {
                    is_joined[place - known] = true;
                    let row = all[place].clone();
                    all[first].add(&row);
                }
                _ => first = Some(place),
            }
        }
        let mut is_joined = std::iter::repeat_n(false, known).chain(is_joined);
        all.retain(|_| !is_joined.next().unwrap_or(false));
        self.by_name = (0u32..).take(all.len()).collect();
        self.by_name.sort_by(|&a, &b| all[a as usize].name.cmp(&all[b as usize].name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(of_a: &[(&str, u64)], of_b: &[(&str, u64)]) -> Vec<Changed> {
        let row = |&(name, count): &(&str, u64)| (name.to_owned(), count, vec![("L1".into(), count / 2)]);
        let mut rows = Rows::new(Arc::new(["L1".into(), "L2".into()]));
        rows.add(of_a.iter().map(row), Pair::of_a);
        rows.add(of_b.iter().map(row), Pair::of_b);
        rows.all
    }

    #[test]
    fn rows_of_one_name_add_up_and_keep_the_order_in_which_they_came() {
        let rows = rows(&[("z", 2), ("a", 4), ("z", 6)], &[("new", 10), ("a", 20), ("new", 30), ("b", 40), ("a", 2)]);
        let seen: Vec<_> =
            rows.iter().map(|r| (r.name.as_str(), r.references.a, r.references.b, r.misses("L1"))).collect();
        let pair = |a, b| Pair { a, b };
        let expected = [
            ("z", Some(8), None, pair(Some(4), None)),
            ("a", Some(4), Some(22), pair(Some(2), Some(11))),
            ("new", None, Some(40), pair(None, Some(20))),
            ("b", None, Some(40), pair(None, Some(20))),
        ];
        assert_eq!(seen, expected);
        // A level of neither run is not told, and counts nothing.
        assert!(rows.iter().all(|row| row.by_level().count() == 1 && row.misses("L2") == Pair::default()));
    }
}
