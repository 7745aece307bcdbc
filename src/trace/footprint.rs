//! Regions for memory that nobody named: every reference needs a home in the picture.

use crate::reference::{Kind, Reference, Region, RegionMap};
use std::collections::BTreeMap;

/// Touched bytes closer than this belong to one region: a heap or a stack is not torn at each hole.
const GAP: u64 = 64 * 1024;
/// Clusters kept while references come in; past it the nearest are joined, which bounds memory on scattered traces.
const WORKING: usize = 4096;
/// Regions given at the end: as many as a legend can hold.
const REGIONS: usize = 12;
/// Regions begin and end on multiples of this: no cache line of common size straddles two.
const GRAIN: u64 = 64;

/// Clusters the addresses of references outside named regions into a few contiguous regions, chunk by chunk.
#[derive(Clone, Debug)]
pub struct Footprint {
    named: RegionMap,
    /// Bounds of the named regions, in order: a cluster does not grow across one while it can be avoided.
    walls: Vec<u64>,
    /// Clusters by first byte.
    clusters: BTreeMap<u64, Cluster>,
    /// The cluster of the last reference: most references stay where they are.
    last: Option<(u64, u64)>,
    tick: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cluster {
    /// Last byte touched.
    last: u64,
    /// Data references by size: 1, 2, 4, 8, 16 bytes and more.
    sizes: [u64; 5],
    fetches: u64,
}

impl Cluster {
    fn join(&mut self, other: &Self) {
        self.last = self.last.max(other.last);
        self.fetches += other.fetches;
        for (mine, theirs) in self.sizes.iter_mut().zip(other.sizes) {
            *mine += theirs;
        }
    }
}

impl Footprint {
    /// Leaves out references that start in one of `named`.
    #[must_use]
    pub fn new(named: &[Region]) -> Self {
        let mut walls: Vec<u64> = named.iter().map(|r| r.base).collect();
        walls.sort_unstable();
        Self { named: RegionMap::new(named), walls, clusters: BTreeMap::new(), last: None, tick: 0 }
    }

    /// Takes the next references of the trace, from its first on.
    pub fn add(&mut self, references: &[Reference]) {
        for r in references {
            if self.named.find(r.addr, self.tick).is_none() {
                self.touch(r);
            }
            self.tick += 1;
        }
    }

    fn touch(&mut self, r: &Reference) {
        let end = r.addr.saturating_add(u64::from(r.size.max(1)) - 1);
        let mut one = Cluster { last: end, ..Cluster::default() };
        match r.kind {
            Kind::Fetch => one.fetches = 1,
            _ => one.sizes[r.size.max(1).ilog2().min(4) as usize] = 1,
        }
        if let Some((first, last)) = self.last
            && (first..=last).contains(&r.addr)
            && end <= last
            && let Some(cluster) = self.clusters.get_mut(&first)
        {
            cluster.join(&one);
            return;
        }
        let mut first = r.addr;
        let before = self.clusters.range(..=r.addr).next_back().map(|(&f, c)| (f, *c));
        if let Some((f, cluster)) = before
            && self.near(cluster.last, r.addr)
        {
            first = f;
            one.join(&cluster);
        }
        while let Some((f, cluster)) = self.clusters.range(first.saturating_add(1)..).next().map(|(&f, c)| (f, *c))
            && self.near(one.last, f)
        {
            self.clusters.remove(&f);
            one.join(&cluster);
        }
        self.last = Some((first, one.last));
        self.clusters.insert(first, one);
        if self.clusters.len() > WORKING {
            reduce(&mut self.clusters, WORKING / 2, |_, _| true);
            self.last = None;
        }
    }

    /// Whether a cluster that ends at `last` and one that begins at `first` are one, with no named region between.
    fn near(&self, last: u64, first: u64) -> bool {
        first <= last || (first - last <= GAP && !self.walled(last, first))
    }

    fn walled(&self, last: u64, first: u64) -> bool {
        self.walls.partition_point(|&w| w <= last) < self.walls.partition_point(|&w| w <= first)
    }

    /// The regions, by address; at most 12, named by their address ranges. They overlap named regions only where
    /// references are so scattered among these that 12 would not do otherwise.
    #[must_use]
    pub fn finish(self) -> Vec<Region> {
        let walls = &self.walls;
        let mut clusters = self.clusters.clone();
        reduce(&mut clusters, REGIONS, |last, first| {
            walls.partition_point(|&w| w <= last) == walls.partition_point(|&w| w <= first)
        });
        reduce(&mut clusters, REGIONS, |_, _| true);
        let mut regions: Vec<Region> = Vec::new();
        for (first, cluster) in clusters {
            let data: u64 = cluster.sizes.iter().sum();
            // Ties go to the larger size; code has no elements, so 16 bytes stand for a few instructions.
            let common = (0..5).max_by_key(|&i| (cluster.sizes[i], i)).unwrap_or(3);
            let elem_bytes = if data == 0 { 16 } else { 1u32 << common };
            let mut base = first & !(GRAIN - 1);
            if let Some(before) = regions.last() {
                base = base.max(before.end());
            }
            let end = (cluster.last | (GRAIN - 1)).saturating_add(1);
            let what = if data == 0 { "code " } else { "" };
            regions.push(Region {
                name: format!("{what}0x{base:x}..0x{end:x}"),
                base,
                bytes: end - base,
                elem_bytes,
                elem_type: String::new(),
                shape: Vec::new(),
                row_major: true,
                lifetime: None,
            });
        }
        regions
    }
}

/// Joins neighbours with the smallest gaps, lowest address first among equals, until at most `most` clusters remain or
/// `may` (last byte of one, first of the next) forbids the rest.
fn reduce(clusters: &mut BTreeMap<u64, Cluster>, most: usize, may: impl Fn(u64, u64) -> bool) {
    if clusters.len() <= most {
        return;
    }
    let list: Vec<(u64, Cluster)> = clusters.iter().map(|(&f, &c)| (f, c)).collect();
    let mut gaps: Vec<(u64, usize)> = list
        .windows(2)
        .enumerate()
        .filter(|(_, w)| may(w[0].1.last, w[1].0))
        .map(|(i, w)| (w[1].0.saturating_sub(w[0].1.last), i + 1))
        .collect();
    gaps.sort_unstable();
    gaps.truncate(list.len() - most);
    let mut joined: Vec<usize> = gaps.into_iter().map(|(_, i)| i).collect();
    joined.sort_unstable();
    let mut out: Vec<(u64, Cluster)> = Vec::new();
    for (i, (first, cluster)) in list.into_iter().enumerate() {
        match out.last_mut() {
            Some(before) if joined.binary_search(&i).is_ok() => before.1.join(&cluster),
            _ => out.push((first, cluster)),
        }
    }
    *clusters = out.into_iter().collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(base: u64, bytes: u64) -> Region {
        serde_json::from_str(&format!(r#"{{"name":"A","base":{base},"bytes":{bytes},"elem_bytes":8}}"#)).unwrap()
    }

    fn names(regions: &[Region]) -> Vec<&str> {
        regions.iter().map(|r| r.name.as_str()).collect()
    }

    #[test]
    fn near_addresses_join_far_ones_do_not_and_code_is_told_apart() {
        let mut footprint = Footprint::new(&[]);
        let mut fetch = Reference::new(Kind::Fetch, 0x40_1000, 3);
        footprint.add(&[fetch]);
        fetch.addr = 0x40_1fff;
        footprint.add(&[
            fetch,
            Reference::new(Kind::Read, 0x1000_0008, 4),
            Reference::new(Kind::Write, 0x1000_8000, 4),
        ]);
        footprint.add(&[Reference::new(Kind::Read, u64::MAX - 3, 4)]);
        let regions = footprint.finish();
        assert_eq!(
            names(&regions),
            ["code 0x401000..0x402040", "0x10000000..0x10008040", "0xffffffffffffffc0..0xffffffffffffffff"]
        );
        assert_eq!(regions.iter().map(|r| r.elem_bytes).collect::<Vec<_>>(), [16, 4, 4]);
    }

    #[test]
    fn named_regions_are_left_out_and_not_crossed() {
        let mut footprint = Footprint::new(&[named(0x1100, 0x100)]);
        let at = |a| Reference::new(Kind::Read, a, 8);
        footprint.add(&[at(0x1000), at(0x1100), at(0x11f8), at(0x1200), at(0x1240)]);
        assert_eq!(names(&footprint.finish()), ["0x1000..0x1040", "0x1200..0x1280"]);
    }

    #[test]
    fn scattered_references_give_twelve_regions_that_hold_them_all_in_any_chunking() {
        let references: Vec<Reference> =
            (0..20_000u64).map(|i| Reference::new(Kind::Read, i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8, 8)).collect();
        let mut whole = Footprint::new(&[]);
        whole.add(&references);
        let mut pieces = Footprint::new(&[]);
        references.chunks(7).for_each(|c| pieces.add(c));
        let regions = whole.finish();
        assert_eq!(regions, pieces.finish());
        assert_eq!(regions.len(), 12);
        let map = RegionMap::new(&regions);
        assert!(references.iter().all(|r| map.find(r.addr, 0).is_some()));
        assert!(regions.windows(2).all(|w| w[0].end() <= w[1].base));
    }
}
