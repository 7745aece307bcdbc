//! Source lines as rows of counts: which row an instruction belongs to. Instructions of one line of one function share a row.

use super::Tables;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Instructions that a [`LineFinder`] remembers, as a power of two.
const SITE_BITS: u32 = 10;
const SITES: usize = 1 << SITE_BITS;

/// Rows by program counter. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineMap(Arc<Known>);

#[derive(Debug, Default, PartialEq, Eq)]
struct Known {
    /// Sorted.
    pcs: Vec<u64>,
    /// Row of each pc.
    rows: Vec<u32>,
    /// By row, its first location. Rows are in the order of file, line, function.
    places: Vec<usize>,
}

impl LineMap {
    /// The lines of the trace's locations.
    #[must_use]
    pub fn new(tables: &Tables) -> Self {
        let mut by_line = BTreeMap::new();
        for (place, l) in tables.locations.iter().enumerate() {
            by_line.entry((&l.file, l.line, &l.function)).or_insert_with(Vec::new).push(place);
        }
        let mut pcs: Vec<(u64, u32)> = by_line
            .values()
            .zip(0..)
            .flat_map(|(places, row)| places.iter().map(move |&place| (tables.locations[place].pc, row)))
            .collect();
        // A pc with two locations has the one of the first row.
        pcs.sort_unstable();
        pcs.dedup_by_key(|(pc, _)| *pc);
        let places = by_line.values().map(|places| places[0]).collect();
        let (pcs, rows) = pcs.into_iter().unzip();
        Self(Arc::new(Known { pcs, rows, places }))
    }

    /// The row of an instruction; that of unknown ones is [`LineMap::len`].
    #[must_use]
    pub fn row(&self, pc: u64) -> usize {
        let Known { pcs, rows, places } = &*self.0;
        pcs.binary_search(&pc).map_or(places.len(), |at| rows[at] as usize)
    }

    /// By row, the place of its first location in [`Tables::locations`].
    #[must_use]
    pub fn places(&self) -> &[usize] {
        &self.0.places
    }

    /// Rows of known lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.places.len()
    }

    /// Whether no line is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.places.is_empty()
    }
}

/// A [`LineMap`] that remembers the rows of the instructions asked for last.
#[derive(Clone, Debug)]
pub struct LineFinder {
    map: LineMap,
    /// Program counters and their rows.
    sites: Box<[(u64, u32); SITES]>,
}

impl LineFinder {
    /// Nothing is remembered yet.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "there are fewer lines than 2^32")]
    pub fn new(map: LineMap) -> Self {
        // The slot of pc 0 knows it; the others wait for what is not theirs.
        let mut sites = Box::new([(0, 0); SITES]);
        sites[0] = (0, map.row(0) as u32);
        sites[1..].fill((u64::MAX, map.row(u64::MAX) as u32));
        Self { map, sites }
    }

    /// The lines.
    #[must_use]
    pub fn map(&self) -> &LineMap {
        &self.map
    }

    /// As [`LineMap::row`].
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "few bits are left, and there are fewer lines than 2^32")]
    pub fn row(&mut self, pc: u64) -> usize {
        let site = &mut self.sites[(pc ^ (pc >> SITE_BITS)) as usize % SITES];
        if site.0 != pc {
            *site = (pc, self.map.row(pc) as u32);
        }
        site.1 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::SourceLocation;
    use proptest::prelude::*;

    fn tables(places: &[(u64, u32)]) -> Tables {
        let location = |&(pc, line): &(u64, u32)| SourceLocation {
            path: String::new(),
            pc,
            file: if line > 5 { "b.c".into() } else { "a.c".into() },
            line,
            function: "f".into(),
            text: String::new(),
        };
        Tables { locations: places.iter().map(location).collect(), ..Tables::default() }
    }

    #[test]
    fn instructions_of_a_line_share_a_row() {
        let tables = tables(&[(16, 3), (24, 9), (32, 3), (40, 4)]);
        let map = LineMap::new(&tables);
        assert_eq!([16, 24, 32, 40, 41, 0].map(|pc| map.row(pc)), [0, 2, 0, 1, 3, 3]);
        assert_eq!(map.places().iter().map(|&place| tables.locations[place].line).collect::<Vec<_>>(), [3, 4, 9]);
        assert!(LineMap::new(&Tables::default()).is_empty());
    }

    proptest! {
        #[test]
        fn what_is_remembered_is_what_is_known(
            places in prop::collection::vec((any::<u64>(), 1u32..9), 0..40),
            asked in prop::collection::vec(0usize..60, 1..200),
        ) {
            let map = LineMap::new(&tables(&places));
            let mut finder = LineFinder::new(map.clone());
            for n in asked {
                // Known ones, their neighbours, and the ends.
                let pc = places.get(n).map_or([0, u64::MAX, 1][n % 3], |(pc, _)| pc ^ (n as u64 % 3));
                prop_assert_eq!(finder.row(pc), map.row(pc));
            }
        }
    }
}
