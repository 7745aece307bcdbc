//! Regions that the program named itself, each until its memory is named again.

use crate::reference::Region;
use std::collections::BTreeMap;

/// What the program named, in that order. A name costs O(log n): there may be a million.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedRegions {
    /// Those whose lifetime is empty are none.
    all: Vec<Region>,
    /// Those that are not named again yet, by their first byte; they do not overlap.
    live: BTreeMap<u64, usize>,
    /// Of bytes that had a name: by the first of some, the end of them, and when their newest name ended.
    ended: BTreeMap<u64, (u64, u64)>,
}

impl NamedRegions {
    /// Names a region from the later of `from` and the end of the last name on; older names of its memory end `now`.
    pub(super) fn add(&mut self, mut region: Region, from: u64, now: u64) {
        let (base, end) = (region.base, region.end());
        let of = |at: &usize| self.all.get(*at).map_or(0, Region::end);
        let older = self.live.range(..end).rev().take_while(|(_, at)| of(at) > base);
        let older: Vec<(u64, usize)> = older.map(|(base, at)| (*base, *at)).collect();
        for (base, at) in older {
            self.live.remove(&base);
            let Some(old) = self.all.get_mut(at) else { continue };
            let began = old.lifetime.map_or(0, |(from, _)| from);
            old.lifetime = Some((began, now));
            if began < now {
                let end = old.end();
                self.note_end(base, end, now);
            } else if at + 1 == self.all.len() {
                self.all.pop();
            }
        }
        let overlapping = self.ended.range(..end).rev().take_while(|(_, (end, _))| *end > base);
        let last = overlapping.map(|(_, (_, to))| *to).max().unwrap_or(0);
        region.lifetime = Some((from.max(last), u64::MAX));
        self.live.insert(base, self.all.len());
        self.all.push(region);
    }

    fn note_end(&mut self, base: u64, end: u64, to: u64) {
        let older = self.ended.range(..end).rev().take_while(|(_, (end, _))| *end > base);
        let older: Vec<(u64, (u64, u64))> = older.map(|(base, rest)| (*base, *rest)).collect();
        for (older_base, (older_end, older_to)) in older {
            self.ended.remove(&older_base);
            if older_base < base {
                self.ended.insert(older_base, (base, older_to));
            }
            if older_end > end {
                self.ended.insert(end, (older_end, older_to));
            }
        }
        self.ended.insert(base, (end, to));
    }

    /// Those that had a lifetime, in the order of their naming.
    pub(super) fn all(&self) -> impl Iterator<Item = &Region> {
        self.all.iter().filter(|region| region.lifetime.is_none_or(|(from, to)| from < to))
    }

    /// For questions about what overlaps.
    pub(super) fn by_base(&self) -> ByBase<'_> {
        let mut regions: Vec<&Region> = self.all().collect();
        regions.sort_by_key(|region| region.base);
        let mut reach = 0;
        let reaches = regions.iter().map(|region| {
            reach = region.end().max(reach);
            reach
        });
        ByBase { reaches: reaches.collect(), regions }
    }
}

/// Regions by their first byte.
pub(super) struct ByBase<'a> {
    regions: Vec<&'a Region>,
    /// The furthest end of each and those before it.
    reaches: Vec<u64>,
}

impl ByBase<'_> {
    /// Those that have a byte of `base..end`.
    pub(super) fn overlapping(&self, base: u64, end: u64) -> impl Iterator<Item = &Region> {
        let before = self.regions.partition_point(|region| region.base < end);
        let behind = self.regions[..before].iter().zip(&self.reaches[..before]).rev();
        behind.take_while(move |(_, reach)| **reach > base).map(|(region, _)| *region).filter(move |r| r.end() > base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same by a look at each region.
    fn add_to(all: &mut Vec<Region>, mut region: Region, from: u64, now: u64) {
        let (base, end) = (region.base, region.end());
        for old in all.iter_mut().filter(|old| old.base < end && base < old.end()) {
            old.lifetime = old.lifetime.map(|(from, to)| (from, to.min(now)));
        }
        all.retain(|old| old.lifetime.is_none_or(|(from, to)| from < to));
        let ends = all.iter().filter(|old| old.base < end && base < old.end()).filter_map(|old| old.lifetime);
        let last = ends.map(|(_, to)| to).filter(|to| *to < u64::MAX).max().unwrap_or(0);
        region.lifetime = Some((from.max(last), u64::MAX));
        all.push(region);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn names_end_as_a_look_at_each_says(
            named in prop::collection::vec((0u64..60, 1u64..20, 0u64..3, 0u64..4), 1..60), at in 0u64..60, bytes in 1u64..20
        ) {
            let (mut ours, mut each, mut now) = (NamedRegions::default(), Vec::new(), 0);
            for (number, (base, bytes, later, ago)) in named.into_iter().enumerate() {
                now += later;
                let region = Region { elem_bytes: 1, ..Region::new(number.to_string(), base, bytes) };
                let from = now.saturating_sub(ago);
                ours.add(region.clone(), from, now);
                add_to(&mut each, region, from, now);
            }
            prop_assert_eq!(ours.all().cloned().collect::<Vec<_>>(), each.clone());
            let by_base = ours.by_base();
            let mut found: Vec<&str> = by_base.overlapping(at, at + bytes).map(|r| r.name.as_str()).collect();
            let overlaps = |r: &&Region| r.base < at + bytes && at < r.end();
            let mut expected: Vec<&str> = each.iter().filter(overlaps).map(|r| r.name.as_str()).collect();
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
