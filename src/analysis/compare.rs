//! Two runs beside each other: another trace, or the same under other caches. Counters by level, and the regions and source lines that
//! gained or lost most misses.

use crate::sim::stats::{LevelStats, LineStats, RegionStats, Stats};
use serde::Serialize;
use std::collections::BTreeMap;
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

/// A region or source line of both runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its name, which pairs it.
    pub name: String,
    /// Its references.
    pub references: Pair,
    /// Its demand misses by level, levels of the first run first.
    pub misses: Vec<(String, Pair)>,
}

impl Changed {
    /// Its misses at a level.
    #[must_use]
    pub fn misses(&self, level: &str) -> Pair {
        self.misses.iter().find(|(name, _)| name == level).map(|(_, pair)| *pair).unwrap_or_default()
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
    /// Compares two runs. Source lines are compared where both counted them.
    #[must_use]
    pub fn of(a: &Stats, b: &Stats) -> Self {
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
        let region = |r: &RegionStats| (r.name.clone(), r.references, r.misses.clone());
        let line = |l: &LineStats| (line_name(l), l.references, l.misses.clone());
        Self {
            trace,
            levels,
            regions: changed(a.regions.iter().map(region), b.regions.iter().map(region)),
            lines: changed(a.lines.iter().map(line), b.lines.iter().map(line)),
        }
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

/// A name, references and misses by level.
type Row = (String, u64, Vec<(Arc<str>, u64)>);

/// Rows by name, in the order in which they come; rows of one name add up.
fn changed(a: impl Iterator<Item = Row>, b: impl Iterator<Item = Row>) -> Vec<Changed> {
    let mut rows: Vec<Changed> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut add = |(name, references, misses): Row, side: fn(&mut Pair) -> &mut Option<u64>| {
        let place = *places.entry(name.clone()).or_insert_with(|| {
            rows.push(Changed { name, references: Pair::default(), misses: Vec::new() });
            rows.len() - 1
        });
        let row = &mut rows[place];
        *side(&mut row.references).get_or_insert(0) += references;
        for (level, count) in misses {
            let place = row.misses.iter().position(|(name, _)| **name == *level).unwrap_or_else(|| {
                row.misses.push((level.to_string(), Pair::default()));
                row.misses.len() - 1
            });
            *side(&mut row.misses[place].1).get_or_insert(0) += count;
        }
    };
    a.for_each(|row| add(row, |pair| &mut pair.a));
    b.for_each(|row| add(row, |pair| &mut pair.b));
    rows
}
