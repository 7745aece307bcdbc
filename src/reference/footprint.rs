//! Regions for memory that nobody named: every reference needs a home in the picture.
//!
//! Touched bytes are gathered into clusters while references come in. Clusters grow and join, they are never parted: what
//! was counted for one at some moment belongs to one region at every later moment, so that counts of a prefix of a trace
//! stay true as the trace goes on.

use super::{Kind, Reference, Region};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Touched bytes closer than this belong to one region: a heap or a stack is not torn at each hole.
const GAP: u64 = 64 * 1024;
/// Clusters at most: past it the nearest are joined, until half of them are left, which bounds memory on scattered traces.
const CLUSTERS: usize = 64;
/// Regions given: as many as a legend can hold.
const REGIONS: usize = 12;
/// Regions begin and end on multiples of this: no cache line of common size straddles two.
const GRAIN: u64 = 64;

/// Clusters the addresses of references outside named regions into a few contiguous regions. Each cluster has a *slot*, a
/// small number that stays its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {
    /// Bounds of the named regions, in order: a cluster does not grow across one while it can be avoided.
    /// They are known without it and not stored.
    #[serde(skip)]
    walls: Arc<[u64]>,
    /// By slot.
    clusters: Vec<Cluster>,
    /// Slots in use, by first byte.
    order: Vec<u8>,
    /// Slots that were left.
    free: Vec<u8>,
    /// The slot of the last reference: most references stay where they are.
    recent: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Cluster {
    /// First byte touched.
    first: u64,
    /// Last byte touched.
    last: u64,
    /// Data references by size: 1, 2, 4, 8, 16 bytes and more.
    sizes: [u64; 5],
    fetches: u64,
}

impl Cluster {
    fn join(&mut self, other: &Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.fetches += other.fetches;
        for (mine, theirs) in self.sizes.iter_mut().zip(other.sizes) {
            *mine += theirs;
        }
    }

    #[inline]
    fn count(&mut self, r: &Reference) {
        match r.kind {
            Kind::Fetch => self.fetches += 1,
            _ => self.sizes[r.size.max(1).ilog2().min(4) as usize] += 1,
        }
    }
}

impl Footprint {
    /// No cluster yet. None will grow across the first byte of one of `named`, while that can be avoided.
    #[must_use]
    pub fn new(named: &[Region]) -> Self {
        let mut walls: Vec<u64> = named.iter().map(|r| r.base).collect();
        walls.sort_unstable();
        walls.dedup();
        Self { walls: walls.into(), clusters: Vec::new(), order: Vec::new(), free: Vec::new(), recent: 0 }
    }

    /// Takes the next reference that no named region holds, and gives the slot of its cluster. Where clusters join, `join` is
    /// told (slot that is left, slot that stays), before.
    #[inline]
    pub fn touch(&mut self, r: &Reference, join: &mut impl FnMut(usize, usize)) -> usize {
        let end = r.addr.saturating_add(u64::from(r.size.max(1)) - 1);
        if let Some(cluster) = self.clusters.get_mut(usize::from(self.recent))
            && cluster.first <= r.addr
            && end <= cluster.last
        {
            cluster.count(r);
            return usize::from(self.recent);
        }
        self.find(r, end, join)
    }

    fn find(&mut self, r: &Reference, end: u64, join: &mut impl FnMut(usize, usize)) -> usize {
        let after = self.order.partition_point(|&slot| self.cluster(slot).first <= r.addr);
        let before = after.checked_sub(1).filter(|&at| self.near(self.cluster(self.order[at]).last, r.addr));
        let next = self.order.get(after).filter(|&&slot| self.near(end, self.cluster(slot).first));
        let mut at = match (before, next) {
            (Some(at), _) => at,
            (None, Some(_)) => after,
            (None, None) => {
                let slot = self.free.pop().unwrap_or_else(|| {
                    self.clusters.push(Cluster::default());
                    u8::try_from(self.clusters.len() - 1).unwrap_or(u8::MAX)
                });
                self.clusters[usize::from(slot)] = Cluster { first: r.addr, last: end, ..Cluster::default() };
                self.order.insert(after, slot);
                after
            }
        };
        let slot = self.order[at];
        let cluster = &mut self.clusters[usize::from(slot)];
        cluster.first = cluster.first.min(r.addr);
        cluster.last = cluster.last.max(end);
        cluster.count(r);
        while let Some(&other) = self.order.get(at + 1)
            && self.near(self.cluster(slot).last, self.cluster(other).first)
        {
            self.join(at + 1, join);
        }
        if self.order.len() == CLUSTERS {
            self.reduce(join);
            at = self.order.partition_point(|&slot| self.cluster(slot).first <= r.addr) - 1;
        }
        self.recent = self.order[at];
        usize::from(self.recent)
    }

    fn cluster(&self, slot: u8) -> &Cluster {
        &self.clusters[usize::from(slot)]
    }

    /// Joins the cluster at a place of the order to the one before.
    fn join(&mut self, at: usize, join: &mut impl FnMut(usize, usize)) {
        let (left, stays) = (self.order.remove(at), self.order[at - 1]);
        join(usize::from(left), usize::from(stays));
        let cluster = std::mem::take(&mut self.clusters[usize::from(left)]);
        self.clusters[usize::from(stays)].join(&cluster);
        self.free.push(left);
    }

    fn reduce(&mut self, join: &mut impl FnMut(usize, usize)) {
        for within_walls in [true, false] {
            let spans: Vec<(u64, u64)> =
                self.order.iter().map(|&slot| (self.cluster(slot).first, self.cluster(slot).last)).collect();
            let joined = joined(&spans, CLUSTERS / 2, |last, first| !within_walls || !self.walled(last, first));
            for at in joined.into_iter().rev() {
                self.join(at, join);
            }
        }
    }

    /// Whether a cluster that ends at `last` and one that begins at `first` are one, with no named region between.
    fn near(&self, last: u64, first: u64) -> bool {
        first <= last || (first - last <= GAP && !self.walled(last, first))
    }

    fn walled(&self, last: u64, first: u64) -> bool {
        self.walls.partition_point(|&w| w <= last) < self.walls.partition_point(|&w| w <= first)
    }

    /// Slots of the clusters that begin in `first..end`.
    pub fn slots(&self, first: u64, end: u64) -> impl Iterator<Item = usize> + '_ {
        let from = self.order.partition_point(move |&slot| self.cluster(slot).first < first);
        let begins = move |slot: &&u8| self.cluster(**slot).first < end;
        self.order[from..].iter().take_while(begins).map(|&slot| usize::from(slot))
    }

    /// The regions, by address; at most 12, named by their address ranges. They overlap named regions only where
    /// references are so scattered among these that 12 would not do otherwise.
    #[must_use]
    pub fn regions(&self) -> Vec<Region> {
        let mut clusters: Vec<Cluster> = self.order.iter().map(|&slot| *self.cluster(slot)).collect();
        for within_walls in [true, false] {
            let spans: Vec<(u64, u64)> = clusters.iter().map(|c| (c.first, c.last)).collect();
            for at in
                joined(&spans, REGIONS, |last, first| !within_walls || !self.walled(last, first)).into_iter().rev()
            {
                let cluster = clusters.remove(at);
                clusters[at - 1].join(&cluster);
            }
        }
        let mut regions: Vec<Region> = Vec::new();
        for cluster in clusters {
            let data: u64 = cluster.sizes.iter().sum();
            // Ties go to the larger size; code has no elements, so 16 bytes stand for a few instructions.
            let common = (0..5).max_by_key(|&i| (cluster.sizes[i], i)).unwrap_or(3);
            let elem_bytes = if data == 0 { 16 } else { 1u32 << common };
            let mut base = cluster.first & !(GRAIN - 1);
            if let Some(before) = regions.last() {
                base = base.max(before.end());
            }
            let end = (cluster.last | (GRAIN - 1)).saturating_add(1);
            let what = if data == 0 { "code " } else { "" };
            regions
                .push(Region { elem_bytes, ..Region::new(format!("{what}0x{base:x}..0x{end:x}"), base, end - base) });
        }
        regions
    }

    /// Becomes another of the same named regions, which was stored without them.
    pub fn restore(&mut self, other: Self) {
        *self = Self { walls: Arc::clone(&self.walls), ..other };
    }
}

/// Which of `spans` (first and last byte, in order) join the one before so that `most` remain: those behind the smallest gaps,
/// lowest address first among equals; `may` (last byte of one, first of the next) forbids others.
fn joined(spans: &[(u64, u64)], most: usize, may: impl Fn(u64, u64) -> bool) -> Vec<usize> {
    let mut gaps: Vec<(u64, usize)> = spans
        .windows(2)
        .zip(1..)
        .filter(|(w, _)| may(w[0].1, w[1].0))
        .map(|(w, at)| (w[1].0.saturating_sub(w[0].1), at))
        .collect();
    gaps.sort_unstable();
    gaps.truncate(spans.len().saturating_sub(most));
    let mut joined: Vec<usize> = gaps.into_iter().map(|(_, at)| at).collect();
    joined.sort_unstable();
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::RegionMap;

    fn named(base: u64, bytes: u64) -> Region {
        serde_json::from_str(&format!(r#"{{"name":"A","base":{base},"bytes":{bytes},"elem_bytes":8}}"#)).unwrap()
    }

    fn names(regions: &[Region]) -> Vec<&str> {
        regions.iter().map(|r| r.name.as_str()).collect()
    }

    fn touch(footprint: &mut Footprint, references: &[Reference]) {
        for r in references {
            footprint.touch(r, &mut |_, _| {});
        }
    }

    #[test]
    fn near_addresses_join_far_ones_do_not_and_code_is_told_apart() {
        let mut footprint = Footprint::new(&[]);
        let (fetch, later) = (Reference::new(Kind::Fetch, 0x40_1000, 3), Reference::new(Kind::Fetch, 0x40_1fff, 3));
        let (read, write) = (Reference::new(Kind::Read, 0x1000_0008, 4), Reference::new(Kind::Write, 0x1000_8000, 4));
        touch(&mut footprint, &[fetch, later, read, write, Reference::new(Kind::Read, u64::MAX - 3, 4)]);
        let regions = footprint.regions();
        assert_eq!(
            names(&regions),
            ["code 0x401000..0x402040", "0x10000000..0x10008040", "0xffffffffffffffc0..0xffffffffffffffff"]
        );
        assert_eq!(regions.iter().map(|r| r.elem_bytes).collect::<Vec<_>>(), [16, 4, 4]);
    }

    #[test]
    fn named_regions_are_not_crossed() {
        let mut footprint = Footprint::new(&[named(0x1100, 0x100)]);
        let at = |a| Reference::new(Kind::Read, a, 8);
        touch(&mut footprint, &[at(0x1000), at(0x1200), at(0x1240)]);
        assert_eq!(names(&footprint.regions()), ["0x1000..0x1040", "0x1200..0x1280"]);
    }

    #[test]
    fn a_stack_grows_downward_in_one_slot() {
        let mut footprint = Footprint::new(&[]);
        for n in (0..1000).rev() {
            let slot =
                footprint.touch(&Reference::new(Kind::Write, 0x7fff_0000 + 64 * n, 8), &mut |_, _| panic!("joined"));
            assert_eq!(slot, 0);
        }
    }

    #[test]
    fn scattered_references_give_twelve_regions_that_hold_them_all() {
        let references: Vec<Reference> =
            (0..20_000u64).map(|i| Reference::new(Kind::Read, i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8, 8)).collect();
        let mut footprint = Footprint::new(&[]);
        touch(&mut footprint, &references);
        let regions = footprint.regions();
        assert_eq!(regions.len(), 12);
        let map = RegionMap::new(&regions);
        assert!(references.iter().all(|r| map.find(r.addr, 0).is_some()));
        assert!(regions.windows(2).all(|w| w[0].end() <= w[1].base));
    }

    #[test]
    fn what_was_counted_at_any_moment_belongs_to_one_region_at_the_end() {
        for spread in [18, 24, 40] {
            let references: Vec<Reference> = (0..4_000u64)
                .map(|i| {
                    Reference::new(Kind::Read, (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24) & ((1 << spread) - 1), 4)
                })
                .collect();
            let mut footprint = Footprint::new(&[]);
            let mut counts = vec![0u64; CLUSTERS];
            let mut kept = Vec::new();
            for (r, n) in references.iter().zip(0usize..) {
                if n % 500 == 0 {
                    kept.push((n, footprint.clone(), counts.clone()));
                }
                let slot = footprint.touch(r, &mut |from, into| {
                    let moved = std::mem::take(&mut counts[from]);
                    counts[into] += moved;
                });
                counts[slot] += 1;
            }
            let regions = footprint.regions();
            kept.push((references.len(), footprint, counts));
            for (n, footprint, counts) in kept {
                for region in &regions {
                    let told: u64 = footprint.slots(region.base, region.end()).map(|slot| counts[slot]).sum();
                    let inside = references[..n].iter().filter(|r| (region.base..region.end()).contains(&r.addr));
                    assert_eq!(told, inside.count() as u64, "{} before {n}, spread {spread}", region.name);
                }
            }
        }
    }
}
