//! Stack distances by what touched, or was touched: region, source line, function, set, core.

use super::distance::{Stack, miss_curve};
use super::histogram::Histogram;
use super::touch::Touches;
use crate::reference::{LineFinder, LineMap, Reference, RegionFinder, RegionMap, RegionNames, Tables};
use crate::sim::Geometry;
use crate::sim::stats::{OTHER, UNKNOWN};
use crate::units::Addr;
use serde::Serialize;
use std::collections::BTreeMap;

/// What rows of counts are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grouping {
    /// The region that holds the reference's first byte while it runs.
    Region,
    /// The source line of the instruction.
    Line,
    /// The function of the instruction.
    Function,
    /// The set of the innermost level that the reference's first byte falls into.
    Set,
    /// The core that referred.
    Core,
}

impl Grouping {
    /// All of them, each with the word that names it.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Region, "region"),
        (Self::Line, "line"),
        (Self::Function, "function"),
        (Self::Set, "set"),
        (Self::Core, "core"),
    ];
}

impl Grouping {
    /// The word that names it.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.into_iter().find(|(grouping, _)| *grouping == self).map_or("", |(_, word)| word)
    }
}

/// Which row a reference belongs to, under one grouping. Rows are in the order of the trace's tables.
#[derive(Clone, Debug)]
pub(super) struct Grouped {
    /// By row; empty for regions, whose names `find` has.
    names: Vec<String>,
    find: Find,
}

#[derive(Clone, Debug)]
enum Find {
    Region(RegionFinder, RegionNames),
    /// Rows of lines, then what these become.
    Line(LineFinder, Vec<usize>),
    Set(Geometry),
    Core,
}

impl Grouped {
    /// `innermost` is the shape of the innermost level.
    pub(super) fn new(grouping: Grouping, tables: &Tables, innermost: &Geometry) -> Self {
        let lines = |name: &dyn Fn(usize) -> String| {
            let map = LineMap::new(tables);
            let mut rows = BTreeMap::new();
            let mut names = Vec::new();
            let mut becomes: Vec<usize> = Vec::new();
            for place in map.places().iter().copied() {
                let name = name(place);
                becomes.push(*rows.entry(name.clone()).or_insert_with(|| {
                    names.push(name);
                    names.len() - 1
                }));
            }
            becomes.push(names.len());
            names.push(UNKNOWN.into());
            Self { names, find: Find::Line(LineFinder::new(map), becomes) }
        };
        match grouping {
            Grouping::Region => {
                let finder = RegionFinder::new(RegionMap::new(&tables.regions));
                Self { names: Vec::new(), find: Find::Region(finder, RegionNames::new(&tables.regions, OTHER)) }
            }
            Grouping::Line => lines(&|place| {
                let location = &tables.locations[place];
                let mut name = format!("{}:{}", location.file, location.line);
                if !location.text.is_empty() {
                    name.push_str("  ");
                    name.push_str(&location.text);
                }
                name
            }),
            Grouping::Function => lines(&|place| {
                let function = &tables.locations[place].function;
                if function.is_empty() { UNKNOWN.into() } else { function.clone() }
            }),
            Grouping::Set => Self { names: Vec::new(), find: Find::Set(*innermost) },
            Grouping::Core => Self { names: Vec::new(), find: Find::Core },
        }
    }

    /// The row of a reference with this number.
    #[inline]
    pub(super) fn row(&mut self, reference: &Reference, number: u64) -> usize {
        match &mut self.find {
            Find::Region(finder, names) => {
                finder.locate(reference.addr, number).region.map_or(names.len() - 1, |region| region as usize)
            }
            Find::Line(finder, becomes) => becomes[finder.row(reference.pc)],
            Find::Set(innermost) => innermost.set_of(innermost.line_of(Addr(reference.addr))).0 as usize,
            Find::Core => usize::from(reference.core),
        }
    }

    pub(super) fn name(&self, row: usize) -> String {
        let name = match &self.find {
            Find::Region(_, names) => names.get(row),
            _ => self.names.get(row).map(String::as_str),
        };
        name.map_or_else(|| row.to_string(), str::to_owned)
    }
}

/// Stack distances of touches that belong together. The stack is that of all touches, so the rows of a grouping add up to the whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DistanceRow {
    /// Name of the region, line, function or core.
    pub name: String,
    /// Touches.
    pub accesses: u64,
    /// First touches of a line.
    pub cold: u64,
    /// How often each distance occurred.
    pub histogram: Histogram,
}

impl DistanceRow {
    /// Misses of this row in a fully associative LRU cache of so many lines that all share.
    #[must_use]
    pub fn misses(&self, lines: u64) -> u64 {
        self.cold + self.histogram.at_least(lines)
    }

    /// As [`StackDistances::miss_curve`](super::StackDistances::miss_curve), of this row.
    #[must_use]
    pub fn miss_curve(&self) -> Vec<(u64, u64)> {
        miss_curve(&self.histogram, self.accesses)
    }
}

/// Stack distances by a grouping.
#[derive(Clone, Debug)]
pub struct Attributed {
    touches: Touches,
    stack: Stack,
    grouped: Grouped,
    rows: Vec<DistanceRow>,
    /// References so far.
    played: u64,
}

impl Attributed {
    /// Nothing touched yet; names are those of the trace's tables, sets those of a level of this shape.
    #[must_use]
    pub fn new(touches: Touches, grouping: Grouping, tables: &Tables, innermost: &Geometry) -> Self {
        Self {
            touches,
            stack: Stack::new(),
            grouped: Grouped::new(grouping, tables, innermost),
            rows: Vec::new(),
            played: 0,
        }
    }

    /// Plays the references that follow.
    pub fn play(&mut self, references: &[Reference]) {
        let touches = self.touches;
        for reference in references {
            let row = self.grouped.row(reference, self.played);
            self.played += 1;
            while self.rows.len() <= row {
                let name = self.grouped.name(self.rows.len());
                self.rows.push(DistanceRow { name, accesses: 0, cold: 0, histogram: Histogram::default() });
            }
            let (row, stack) = (&mut self.rows[row], &mut self.stack);
            touches.each(reference, |line| {
                row.accesses += 1;
                match stack.touch(line) {
                    Some(distance) => row.histogram.add(distance),
                    None => row.cold += 1,
                }
            });
        }
    }

    /// Rows that were touched, in the order of the trace's tables; what no row of them names is the last.
    #[must_use]
    pub fn rows(&self) -> Vec<&DistanceRow> {
        self.rows.iter().filter(|row| row.accesses > 0).collect()
    }
}
