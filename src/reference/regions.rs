//! Which region holds an address at a moment.
//!
//! Regions may overlap and may come and go; the one that begins last in memory wins. They stand in a flat array by base,
//! with a pyramid of summaries over it (eight to one), so that whole blocks that ended, or have not begun, are passed over at
//! once. Runs of references rarely leave the stretch of memory that the last answer holds for: see [`RegionFinder`].

use super::Region;
use std::sync::Arc;

/// Nodes that one summary covers, as a power of two.
const FANOUT_BITS: u32 = 3;

/// Looks a region up by address and reference number: O(log regions), but where many overlap at the same time. A clone shares the regions.
#[derive(Clone, Debug, Default)]
pub struct RegionMap {
    /// Row 0: the regions, by base. Then summaries of eight nodes each, up to a single one.
    rows: Arc<[Vec<Node>]>,
}

/// A region, or a summary: nothing below it reaches past `last`, begins before `from`, or ends after `to`.
#[derive(Clone, Copy, Debug)]
struct Node {
    base: u64,
    last: u64,
    from: u64,
    to: u64,
    region: u32,
}

/// A stretch of memory and time in which one answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First byte.
    pub first: u64,
    /// Last byte.
    pub last: u64,
    /// First reference.
    pub from: u64,
    /// One past the last reference.
    pub to: u64,
    /// Place of the region in the slice that [`RegionMap::new`] got; `None` where no region lives.
    pub region: Option<u32>,
}

impl Stretch {
    /// Holds for nothing.
    pub const NOTHING: Self = Self { first: 0, last: 0, from: 0, to: 0, region: None };

    /// Whether it answers for this address and reference number.
    #[inline]
    #[must_use]
    pub fn holds(&self, addr: u64, tick: u64) -> bool {
        self.first <= addr && addr <= self.last && self.from <= tick && tick < self.to
    }
}

impl RegionMap {
    /// Indexes `regions`; the numbers that [`RegionMap::find`] gives are positions in this slice.
    #[must_use]
    pub fn new(regions: &[Region]) -> Self {
        let node = |(r, region): (&Region, u32)| {
            let (from, to) = r.lifetime.unwrap_or((0, u64::MAX));
            Node { base: r.base, last: r.base.saturating_add(r.bytes.saturating_sub(1)), from, to, region }
        };
        // Room for all at once, and sorted in place: there may be a million.
        let mut row: Vec<Node> = Vec::with_capacity(regions.len());
        row.extend(regions.iter().zip(0u32..).filter(|(r, _)| r.bytes > 0).map(node));
        row.sort_unstable_by_key(|n| (n.base, n.from, n.region));
        let mut rows = Vec::new();
        while row.len() > 1 {
            let summary = |nodes: &[Node]| {
                let join = |a: Node, b: &Node| Node {
                    last: a.last.max(b.last),
                    from: a.from.min(b.from),
                    to: a.to.max(b.to),
                    ..a
                };
                nodes.iter().fold(nodes[0], join)
            };
            let next = row.chunks(1 << FANOUT_BITS).map(summary).collect();
            rows.push(std::mem::replace(&mut row, next));
        }
        rows.push(row);
        Self { rows: rows.into() }
    }

    /// The region that holds `addr` while reference number `tick` runs.
    #[must_use]
    pub fn find(&self, addr: u64, tick: u64) -> Option<usize> {
        self.locate(addr, tick).region.map(|region| region as usize)
    }

    /// As [`RegionMap::find`], with the stretch around `addr` and `tick` for which the answer is the same (not always the
    /// longest).
    #[must_use]
    pub fn locate(&self, addr: u64, tick: u64) -> Stretch {
        let spans = self.rows.first().map(Vec::as_slice).unwrap_or_default();
        let until = spans.partition_point(|s| s.base <= addr);
        let mut search = Search { rows: &self.rows, addr, tick, first: 0, from: 0, to: u64::MAX };
        let found = search.last_before(until);
        let mut stretch = Stretch {
            first: search.first,
            last: spans.get(until).map_or(u64::MAX, |next| next.base - 1),
            from: search.from,
            to: search.to,
            region: None,
        };
        if let Some(n) = found {
            stretch.first = stretch.first.max(n.base);
            stretch.last = stretch.last.min(n.last);
            stretch.from = stretch.from.max(n.from);
            stretch.to = stretch.to.min(n.to);
            stretch.region = Some(n.region);
        }
        stretch
    }

    /// As [`RegionMap::find`]; where none lives then, the one that ended last before, else the one that begins first.
    #[must_use]
    pub fn nearest(&self, addr: u64, tick: u64) -> Option<usize> {
        let spans = self.rows.first().map(Vec::as_slice).unwrap_or_default();
        let until = spans.partition_point(|s| s.base <= addr);
        let held = spans[..until].iter().filter(|s| addr <= s.last);
        let distance = |s: &&Node| {
            if tick < s.from { (1, s.from - tick) } else { (0, tick.saturating_add(1).saturating_sub(s.to)) }
        };
        self.find(addr, tick).or_else(|| held.min_by_key(distance).map(|n| n.region as usize))
    }
}

/// One look-up. `first`, `from` and `to` bound where every node passed over is passed over for the same reason.
struct Search<'a> {
    rows: &'a [Vec<Node>],
    addr: u64,
    tick: u64,
    first: u64,
    from: u64,
    to: u64,
}

impl Search<'_> {
    /// The last of the first `until` regions that holds.
    fn last_before(&mut self, mut until: usize) -> Option<Node> {
        for row in 0..self.rows.len() {
            let block = until >> FANOUT_BITS;
            let found = self.last_in(row, block << FANOUT_BITS, until);
            if found.is_some() {
                return found;
            }
            until = block;
        }
        // The top row has one node: a block that is not full.
        None
    }

    /// The last region below nodes `start..end` of a row that holds.
    fn last_in(&mut self, row: usize, start: usize, end: usize) -> Option<Node> {
        let rows = self.rows;
        for at in (start..end).rev() {
            let node = rows[row][at];
            if !self.may_hold(&node) {
                continue;
            }
            let Some(below) = row.checked_sub(1) else { return Some(node) };
            let start = at << FANOUT_BITS;
            let found = self.last_in(below, start, rows[below].len().min(start + (1 << FANOUT_BITS)));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn may_hold(&mut self, node: &Node) -> bool {
        if node.last < self.addr {
            self.first = self.first.max(node.last + 1);
        } else if self.tick < node.from {
            self.to = self.to.min(node.from);
        } else if node.to <= self.tick {
            self.from = self.from.max(node.to);
        } else {
            return true;
        }
        false
    }
}

/// Slots of a [`RegionFinder`], as a power of two.
const SLOT_BITS: u32 = 8;

/// A [`RegionMap`] that remembers its answers, by page of 4 KiB: most references go where others went.
#[derive(Clone, Debug)]
pub struct RegionFinder {
    map: RegionMap,
    slots: Vec<Stretch>,
}

impl RegionFinder {
    /// Remembers nothing yet.
    #[must_use]
    pub fn new(map: RegionMap) -> Self {
        Self { map, slots: vec![Stretch::NOTHING; 1 << SLOT_BITS] }
    }

    /// The regions themselves.
    #[must_use]
    pub fn map(&self) -> &RegionMap {
        &self.map
    }

    /// As [`RegionMap::locate`].
    #[inline]
    pub fn locate(&mut self, addr: u64, tick: u64) -> Stretch {
        // Multiplicative hashing (Knuth 1973), so that arrays a power of two apart do not share a slot.
        let slot = ((addr >> 12).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOT_BITS)) as usize;
        let slot = &mut self.slots[slot & ((1 << SLOT_BITS) - 1)];
        if !slot.holds(addr, tick) {
            *slot = self.map.locate(addr, tick);
        }
        *slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn region(name: &str, base: u64, bytes: u64, lifetime: Option<(u64, u64)>) -> Region {
        Region { lifetime, ..Region::new(name, base, bytes) }
    }

    #[test]
    fn regions_are_found_by_address_and_time() {
        let early = region("early", 0x100, 0x40, Some((0, 10)));
        let late = region("late", 0x100, 0x80, Some((10, 20)));
        let map = RegionMap::new(&[region("top", u64::MAX - 7, 8, None), early, late]);
        assert_eq!(map.find(0x100, 9), Some(1));
        assert_eq!(map.find(0x13f, 10), Some(2));
        assert_eq!(map.find(0x17f, 10), Some(2));
        assert_eq!(map.find(0x17f, 3), None);
        assert_eq!(map.find(0x180, 10), None);
        // What outlives its region, or comes before it, has the nearest one in time.
        assert_eq!(map.nearest(0x100, 25), Some(2));
        assert_eq!(map.nearest(0x100, 5), Some(1));
        assert_eq!(map.nearest(0x17f, 3), Some(2));
        assert_eq!(map.nearest(0x180, 3), None);
        assert_eq!(map.find(u64::MAX, 0), Some(0));
        assert_eq!(map.find(0, 0), None);
        assert_eq!(RegionMap::new(&[]).find(0, 0), None);
        assert_eq!(RegionMap::default().nearest(0, 0), None);
    }

    /// What the map promises, by a walk over all regions: of those that hold, the one that sorts last.
    fn slow(regions: &[Region], addr: u64, tick: u64) -> Option<u32> {
        let holds = |r: &Region| {
            let (from, to) = r.lifetime.unwrap_or((0, u64::MAX));
            r.base <= addr && addr - r.base < r.bytes && from <= tick && tick < to
        };
        let key = |(r, n): &(&Region, u32)| (r.base, r.lifetime.map_or(0, |l| l.0), *n);
        regions.iter().zip(0..).filter(|(r, _)| holds(r)).max_by_key(key).map(|(_, n)| n)
    }

    fn regions() -> impl Strategy<Value = Vec<Region>> {
        let bytes = prop_oneof![4 => 1u64..20, 1 => 1u64..300];
        let base = prop_oneof![6 => 0u64..300, 1 => (0u64..40).prop_map(|n| u64::MAX - n)];
        let lifetime = prop::option::of((0u64..40, 1u64..20).prop_map(|(from, length)| (from, from + length)));
        let region = (base, bytes, lifetime).prop_map(|(base, bytes, lifetime)| {
            region("r", base, bytes.min((u64::MAX - base).saturating_add(1)), lifetime)
        });
        prop::collection::vec(region, 0..100)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn answers_are_those_of_a_walk_and_hold_all_over_their_stretch(
            regions in regions(),
            asked in prop::collection::vec((0u64..340, 0u64..64), 1..200)
        ) {
            let map = RegionMap::new(&regions);
            let mut finder = RegionFinder::new(map.clone());
            for (n, (addr, tick)) in asked.into_iter().enumerate() {
                // Some at the top of memory.
                let addr = if n % 8 == 0 { u64::MAX - addr } else { addr };
                let expect = slow(&regions, addr, tick);
                let stretch = map.locate(addr, tick);
                prop_assert_eq!(stretch.region, expect);
                prop_assert!(stretch.holds(addr, tick));
                prop_assert_eq!(finder.locate(addr, tick).region, expect, "remembered");
                let around = (addr.saturating_sub(9)..=addr.saturating_add(9)).step_by(3);
                for (a, t) in around.flat_map(|a| (0..64).step_by(5).map(move |t| (a, t))) {
                    if stretch.holds(a, t) {
                        prop_assert_eq!(slow(&regions, a, t), expect, "{:?} at {}, {}", stretch, a, t);
                    }
                }
            }
        }
    }
}
