//! Rows of regions, of which there may be a million: columns, so that a row is a few words and no memory of its own.

use crate::reference::RegionNames;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// What was counted of each region, in the order of the trace's table; the last row may be [`OTHER`](super::OTHER). Serializes as a
/// list of [`RegionStats`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionTable {
    names: RegionNames,
    levels: Vec<Arc<str>>,
    references: Vec<u64>,
    /// Row by row, a count for each level.
    misses: Vec<u64>,
}

/// One region: a row of a [`RegionTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RegionStats<'a> {
    /// Its name, or [`OTHER`](super::OTHER).
    pub name: &'a str,
    /// References whose first byte is in it.
    pub references: u64,
    /// Demand misses by level name, from the CPU outward.
    pub misses: RegionMisses<'a>,
}

/// The misses of a region by level, from the CPU outward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionMisses<'a> {
    levels: &'a [Arc<str>],
    counts: &'a [u64],
}

impl<'a> RegionMisses<'a> {
    /// Without names of levels.
    #[must_use]
    pub fn counts(self) -> &'a [u64] {
        self.counts
    }

    /// With them.
    pub fn iter(self) -> impl ExactSizeIterator<Item = (&'a Arc<str>, u64)> {
        self.levels.iter().zip(self.counts.iter().copied())
    }

    /// As a row of a source line has them.
    pub(crate) fn by_level(self) -> Vec<(Arc<str>, u64)> {
        self.iter().map(|(name, count)| (Arc::clone(name), count)).collect()
    }
}

/// A map, in the order of the levels.
impl Serialize for RegionMisses<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        put_map(self.iter().map(|(name, count)| (&**name, count)), serializer)
    }
}

impl RegionTable {
    /// A row a region; the last, of what is in none, where it has references.
    pub(super) fn new(
        mut names: RegionNames,
        levels: Vec<Arc<str>>,
        mut references: Vec<u64>,
        mut misses: Vec<u64>,
    ) -> Self {
        if references.pop_if(|others| *others == 0).is_some() {
            names.pop();
            misses.truncate(references.len() * levels.len());
        }
        Self { names, levels, references, misses }
    }

    /// Rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.references.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.references.is_empty()
    }

    /// The row with this number.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<RegionStats<'_>> {
        (row < self.len()).then(|| self.row(row))
    }

    /// All rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = RegionStats<'_>> {
        (0..self.len()).map(|row| self.row(row))
    }

    fn row(&self, row: usize) -> RegionStats<'_> {
        let levels = self.levels.as_slice();
        let misses = RegionMisses { levels, counts: &self.misses[row * levels.len()..][..levels.len()] };
        RegionStats { name: self.names.get(row).unwrap_or_default(), references: self.references[row], misses }
    }

    /// Takes what was counted before. Its rows are the same, but that of [`OTHER`](super::OTHER) may be missing.
    pub(super) fn less(&mut self, before: &Self) {
        let counts = self.references.iter_mut().zip(&before.references);
        counts.chain(self.misses.iter_mut().zip(&before.misses)).for_each(|(now, before)| *now -= before);
    }

    /// Leaves out rows without references.
    pub(super) fn retain_referred(&mut self) {
        let Self { names, levels, references, misses } = self;
        let is_kept = |row: usize| references[row] > 0;
        names.retain(is_kept);
        let mut at = 0..;
        misses.retain(|_| at.next().is_some_and(|at| is_kept(at / levels.len())));
        references.retain(|references| *references > 0);
    }
}

impl Serialize for RegionTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// One row of `table`, with the names of the levels.
pub(super) fn misses_of(levels: &[Arc<str>], table: &[u64], row: usize) -> Vec<(Arc<str>, u64)> {
    let counts = &table[row * levels.len()..][..levels.len()];
    levels.iter().cloned().zip(counts.iter().copied()).collect()
}

/// Counts by level, as a map.
pub(super) fn as_map<S: Serializer>(entries: &[(Arc<str>, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    put_map(entries.iter().map(|(name, count)| (&**name, *count)), serializer)
}

fn put_map<'a, S: Serializer>(
    entries: impl ExactSizeIterator<Item = (&'a str, u64)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(entries.len()))?;
    for (name, count) in entries {
        map.serialize_entry(name, &count)?;
    }
    map.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Region;

    fn table(references: Vec<u64>) -> RegionTable {
        let names = RegionNames::new(&[Region::new("A", 0, 8), Region::new("B", 8, 8)], "(other)");
        let misses = references.iter().flat_map(|n| [*n, n / 2]).collect();
        RegionTable::new(names, vec!["L1".into(), "L2".into()], references, misses)
    }

    #[test]
    fn rows_are_words_of_columns_and_memory_without_a_name_has_one_where_it_is_touched() {
        let all = table(vec![4, 0, 6]);
        let rows: Vec<_> = all.iter().map(|row| (row.name, row.references, row.misses.counts())).collect();
        assert_eq!(rows, [("A", 4, &[4, 2][..]), ("B", 0, &[0, 0]), ("(other)", 6, &[6, 3])]);
        let named = table(vec![4, 0, 0]);
        assert_eq!((named.len(), named.misses.len(), named.get(2)), (2, 4, None));
    }

    #[test]
    fn rows_serialize_as_a_list_and_those_without_references_can_be_left_out() {
        let mut all = table(vec![5, 3, 6]);
        all.less(&table(vec![1, 3, 0]));
        all.retain_referred();
        let expected = r#"[{"name":"A","references":4,"misses":{"L1":4,"L2":2}},{"name":"(other)","references":6,"misses":{"L1":6,"L2":3}}]"#;
        assert_eq!(serde_json::to_string(&all).expect("plain"), expected);
    }
}
