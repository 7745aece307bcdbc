//! Who pushes out whom.

use super::whose::Whose;
use crate::reference::{Reference, Tables};
use crate::sim::{Event, Observer};
use crate::units::LevelId;
use serde::Serialize;
use std::collections::BTreeMap;

/// Evictions of a level by whose reference needed the place and whose line had to go: an [`Observer`]. A line belongs to the region that
/// holds its first byte, or else to the one that holds its last.
#[derive(Clone, Debug)]
pub struct Displacements {
    level: LevelId,
    line_bytes: u64,
    whose: Whose,
    /// The region of the reference under way.
    by: usize,
    counts: BTreeMap<(usize, usize), u64>,
}

/// How many lines of one region the references of one have pushed out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Displacement {
    /// The region whose references needed the place.
    pub by: String,
    /// The region whose lines had to go.
    pub of: String,
    /// How many lines.
    pub lines: u64,
}

impl Displacements {
    /// Evictions of a level with lines of so many bytes; names are those of the trace's tables.
    #[must_use]
    pub fn new(level: LevelId, line_bytes: u32, tables: &Tables) -> Self {
        Self::of(level, line_bytes, Whose::new(tables))
    }

    /// As [`Self::new`], of regions that are known.
    pub(super) fn of(level: LevelId, line_bytes: u32, whose: Whose) -> Self {
        Self { level, line_bytes: u64::from(line_bytes), whose, by: 0, counts: BTreeMap::new() }
    }

    /// Pairs that occurred, in the order of the trace's regions.
    #[must_use]
    pub fn pairs(&self) -> Vec<Displacement> {
        let pair = |(&(by, of), &lines): (&(usize, usize), &u64)| Displacement {
            by: self.whose.name(by).into(),
            of: self.whose.name(of).into(),
            lines,
        };
        self.counts.iter().map(pair).collect()
    }
}

impl Observer for Displacements {
    fn begin(&mut self, reference: &Reference) {
        self.by = self.whose.begin(reference);
    }

    fn event(&mut self, event: Event) {
        if let Event::Evict { level, line, .. } = event
            && level == self.level
        {
            let of = self.whose.of_line(line.0.saturating_mul(self.line_bytes), self.line_bytes);
            *self.counts.entry((self.by, of)).or_insert(0) += 1;
        }
    }
}
