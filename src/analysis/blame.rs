//! Who causes the misses: references and demand misses by region, source line, function, set and core, and the lines that cause most.

use super::attributed::{Grouped, Grouping};
use crate::reference::{Reference, Tables};
use crate::sim::stats::{OTHER, UNKNOWN};
use crate::sim::{ClassCounts, Classifier, Event, Hierarchy, Observer};
use crate::units::LevelId;
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts references and demand misses (read, write, fetch; not write-backs) by any groupings: an [`Observer`]. The rows of each grouping
/// add up to the hierarchy's own counters.
#[derive(Clone, Debug)]
pub struct Blame {
    levels: usize,
    /// Tells why lines missed the innermost level, where that is wanted.
    classifier: Option<Classifier>,
    played: u64,
    tables: Vec<Table>,
    /// Finders of the line and region under way, for offenders.
    line: Grouped,
    region: Grouped,
    pair: (usize, usize),
    /// Misses by line and region.
    pairs: BTreeMap<(usize, usize), Vec<u64>>,
    /// A reference of each that missed: one in the middle of those so far.
    examples: BTreeMap<(usize, usize), u64>,
}

#[derive(Clone, Debug)]
struct Table {
    grouping: Grouping,
    grouped: Grouped,
    rows: Vec<BlameRow>,
    /// The row under way.
    now: usize,
}

/// One region, line, function, set or core.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BlameRow {
    /// Its name.
    pub name: String,
    /// References of it.
    pub references: u64,
    /// Demand misses that they cause, by level from the CPU outward.
    pub misses: Vec<u64>,
    /// Those of the innermost level by class, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<ClassCounts>,
}

/// The rows of one grouping.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlameTable {
    /// What rows are of.
    pub by: Grouping,
    /// In the order of the trace's tables; those with references.
    pub rows: Vec<BlameRow>,
}

/// A source line that causes many of a level's misses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Offender {
    /// File, line and text.
    pub line: String,
    /// Its demand misses at the level.
    pub misses: u64,
    /// Of all demand misses of the level, 0 to 1.
    pub share: f64,
    /// Whose lines it misses, the most first: name and misses.
    pub regions: Vec<(String, u64)>,
}

impl Blame {
    /// Of a hierarchy that is still empty; names are those of the trace's tables.
    #[must_use]
    pub fn new(hierarchy: &Hierarchy, groupings: &[Grouping], tables: &Tables) -> Self {
        let innermost = hierarchy.level_geometry(LevelId(0));
        let table = |grouping: &Grouping| Table {
            grouping: *grouping,
            grouped: Grouped::new(*grouping, tables, innermost),
            rows: Vec::new(),
            now: 0,
        };
        Self {
            levels: hierarchy.config().levels.len(),
            classifier: None,
            played: 0,
            tables: groupings.iter().map(table).collect(),
            line: Grouped::new(Grouping::Line, tables, innermost),
            region: Grouped::new(Grouping::Region, tables, innermost),
            pair: (0, 0),
            pairs: BTreeMap::new(),
            examples: BTreeMap::new(),
        }
    }

    /// Misses of the innermost level are told by class, too; that takes up to as long again. `hierarchy` is that of [`Blame::new`].
    #[must_use]
    pub fn with_classes(mut self, hierarchy: &Hierarchy) -> Self {
        self.classifier = Some(Classifier::new(hierarchy));
        self
    }

    /// The rows of each grouping.
    #[must_use]
    pub fn tables(&self) -> Vec<BlameTable> {
        let table = |table: &Table| BlameTable {
            by: table.grouping,
            rows: table.rows.iter().filter(|row| row.references > 0).cloned().collect(),
        };
        self.tables.iter().map(table).collect()
    }

    /// References that missed the innermost level, by number: one of each source line and region that miss most at a level.
    #[must_use]
    pub fn worst(&self, level: usize, most: usize) -> Vec<u64> {
        let mut pairs: Vec<(u64, u64)> = (self.pairs.iter())
            .filter_map(|(pair, misses)| Some((misses.get(level).copied()?, *self.examples.get(pair)?)))
            .collect();
        pairs.sort_by_key(|(misses, example)| (std::cmp::Reverse(*misses), *example));
        pairs.into_iter().take(most).map(|(_, example)| example).collect()
    }

    /// The source lines that cause most misses of a level, at most `most` of them; those of unknown lines are nobody's.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn offenders(&self, level: usize, most: usize) -> Vec<Offender> {
        let at = |misses: &Vec<u64>| misses.get(level).copied().unwrap_or(0);
        let all: u64 = self.pairs.values().map(at).sum();
        let mut lines: BTreeMap<usize, Vec<(String, u64)>> = BTreeMap::new();
        for ((line, region), misses) in self.pairs.iter().filter(|(_, misses)| at(misses) > 0) {
            lines.entry(*line).or_default().push((self.region.name(*region), at(misses)));
        }
        let mut offenders: Vec<Offender> = lines
            .into_iter()
            .map(|(line, mut regions)| {
                regions.sort_by_key(|(_, misses)| std::cmp::Reverse(*misses));
                let misses = regions.iter().map(|(_, misses)| misses).sum();
                let share = misses as f64 / all.max(1) as f64;
                Offender { line: self.line.name(line), misses, share, regions }
            })
            .filter(|offender| offender.line != UNKNOWN)
            .collect();
        offenders.sort_by_key(|offender| std::cmp::Reverse(offender.misses));
        offenders.truncate(most);
        offenders
    }
}

impl Offender {
    /// `matmul16.c:19  sum += A[i][k] * B[k][j]; causes 94.8 % of L1's misses, 88.0 % of them in B, 12.0 % in A`.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn sentence(&self, level: &str) -> String {
        let mut words = format!("{} causes {:.1} % of {level}'s misses", self.line, 100.0 * self.share);
        if let Some((region, misses)) = self.regions.first() {
            let whose = if region == OTHER { "memory without a name" } else { region };
            match self.regions.len() {
                1 => words.push_str(&format!(", all of them in {whose}")),
                _ => {
                    let share = |misses: u64| 100.0 * misses as f64 / self.misses.max(1) as f64;
                    words.push_str(&format!(", {:.1} % of them in {whose}", share(*misses)));
                    // Others that have much of it, too.
                    for (region, misses) in self.regions[1..].iter().take(2).filter(|(_, n)| share(*n) >= 10.0) {
                        let whose = if region == OTHER { "memory without a name" } else { region };
                        words.push_str(&format!(", {:.1} % in {whose}", share(*misses)));
                    }
                }
            }
        }
        words
    }
}

impl Observer for Blame {
    fn begin(&mut self, reference: &Reference) {
        let number = self.played;
        self.played += 1;
        for table in &mut self.tables {
            table.now = table.grouped.row(reference, number);
            while table.rows.len() <= table.now {
                let name = table.grouped.name(table.rows.len());
                let classes = self.classifier.as_ref().map(|_| ClassCounts::default());
                table.rows.push(BlameRow { name, references: 0, misses: vec![0; self.levels], classes });
            }
            table.rows[table.now].references += 1;
        }
        self.pair = (self.line.row(reference, number), self.region.row(reference, number));
    }

    fn event(&mut self, event: Event) {
        if let Some(classifier) = &mut self.classifier {
            classifier.begin();
            classifier.event(event);
        }
        let Event::Access { level, kind, hit: false, .. } = event else { return };
        if !kind.is_demand() {
            return;
        }
        let class = self.classifier.as_ref().filter(|_| level.index() == 0).and_then(|all| all.last_class(level));
        for table in &mut self.tables {
            let row = &mut table.rows[table.now];
            row.misses[level.index()] += 1;
            if let (Some(classes), Some(class)) = (&mut row.classes, class) {
                *classes.of(class) += 1;
            }
        }
        let misses = self.pairs.entry(self.pair).or_insert_with(|| vec![0; self.levels]);
        misses[level.index()] += 1;
        if level.index() == 0 && misses[0].is_power_of_two() {
            self.examples.insert(self.pair, self.played - 1);
        }
    }
}
