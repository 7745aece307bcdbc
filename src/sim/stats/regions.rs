//! Rows of regions, of which there may be a million: names behind each other, and names of levels shared.

use super::RegionStats;
use serde::Serializer;
use serde::ser::SerializeMap;
use std::sync::Arc;

/// Names of regions, one behind the other: there may be a million.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    text: String,
    ends: Vec<usize>,
}

impl Names {
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut all = Self::default();
        for name in names {
            all.text.push_str(name);
            all.ends.push(all.text.len());
        }
        all
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(start..end)
    }
}

/// A row a region; the last, of what is in none, where it has references.
pub(super) fn region_rows(names: &Names, levels: &[Arc<str>], references: &[u64], misses: &[u64]) -> Vec<RegionStats> {
    let row = |(row, &references): (usize, &u64)| RegionStats {
        name: names.get(row).unwrap_or_default().to_owned(),
        references,
        misses: misses_of(levels, misses, row),
    };
    let mut regions: Vec<_> = references.iter().enumerate().map(row).collect();
    regions.pop_if(|other| other.references == 0);
    regions
}

/// One row of `table`, with the names of the levels.
pub(super) fn misses_of(levels: &[Arc<str>], table: &[u64], row: usize) -> Vec<(Arc<str>, u64)> {
    let counts = &table[row * levels.len()..][..levels.len()];
    levels.iter().cloned().zip(counts.iter().copied()).collect()
}

/// Counts by level, as a map.
pub(super) fn as_map<S: Serializer>(entries: &[(Arc<str>, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(entries.len()))?;
    for (name, count) in entries {
        map.serialize_entry(&**name, count)?;
    }
    map.end()
}
