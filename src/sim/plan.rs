//! Which caches a configuration makes, and who asks whom: worked out once, never changed.

use super::Geometry;
use super::config::{
    Allocate, ConfigError, HierarchyConfig, Holds, Inclusion, LevelConfig, Prefetch, Shapes, WritePolicy,
};
use super::fast::scan::Exceptions;
use crate::reference::Kind;
use crate::units::{CacheId, LevelId};

/// Where a cache stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheInfo {
    /// Its level: index into the configuration's.
    pub level: LevelId,
    /// Its core; `None` where all share it, or there is only one.
    pub core: Option<u16>,
    /// Levels between it and the CPU on its longest path: caches of equal depth share a ring.
    pub depth: u8,
}

/// Side of a path: loads and stores, or fetches.
pub(super) const DATA: usize = 0;
pub(super) const FETCH: usize = 1;

/// What a cache's place in the hierarchy makes it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the configuration")]
pub(super) struct Spot {
    pub(super) info: CacheInfo,
    /// LRU or FIFO, write-back, write-allocate, not exclusive, no sectors, no prefetcher: one pass does it all.
    pub(super) plain: bool,
    /// Plain, and nothing outside it but requests and write-backs follows from a miss: not inclusive, no exclusive level next,
    /// requests before write-backs, no other core.
    pub(super) simple: bool,
    pub(super) through: bool,
    pub(super) no_allocate: bool,
    pub(super) exclusive: bool,
    /// By side: exclusive, and a hit moves the line to a cache inside. Where none serves the side, the line stays.
    pub(super) gives: [bool; 2],
    pub(super) inclusive: bool,
    /// One of several of its level, so that others' copies matter.
    pub(super) private: bool,
    /// Of a line, 1 to 32.
    pub(super) sectors: u32,
    pub(super) prefetch: Prefetch,
    pub(super) opt: bool,
    pub(super) latency: u32,
    /// Side on which its victims leave.
    pub(super) side: usize,
    /// The next cache on each side; `None` = memory.
    pub(super) next: [Option<usize>; 2],
    /// Whether victims go to an exclusive cache, the clean ones too.
    pub(super) feeds_exclusive: bool,
}

/// Where a TLB stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlbInfo {
    /// Index into the configuration's TLBs.
    pub tlb: u8,
    /// Its core; `None` where all share it, or there is only one.
    pub core: Option<u16>,
    /// TLBs that are asked before it on its longest path.
    pub depth: u8,
}

/// Where nothing but accesses happens at references, and all loads and stores take one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FastPath {
    /// The caches on it, from the CPU outward, one or more.
    pub(super) caches: Vec<usize>,
    /// What does not take it: dropped fetches, or fetches that have caches of their own; and where it is not one way,
    /// modifies, because what the read causes may take the line away before the write.
    pub(super) exceptions: Exceptions,
    /// Whether nothing comes back inward from any cache but what was asked for, and write-backs come after requests: then
    /// a cache may play many requests before the next plays what they cause.
    pub(super) one_way: bool,
}

/// All that follows from a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) config: HierarchyConfig,
    pub(super) spots: Vec<Spot>,
    /// By cache: those inside it, where it is inclusive.
    pub(super) inner: Vec<Vec<usize>>,
    /// By level: its first cache, and how many it has.
    pub(super) of_level: Vec<(usize, usize)>,
    /// By core: the innermost cache of each side; `None` = memory.
    pub(super) first: Vec<[Option<usize>; 2]>,
    /// By core: its private caches from the inside, where there are several cores.
    pub(super) private: Vec<Vec<usize>>,
    /// log2 of the unit of coherence: the largest line of the private levels. `None` where nothing is private.
    pub(super) unit_shift: Option<u32>,
    /// Bytes of the smallest line.
    pub(super) grain_bytes: u32,
    pub(super) tlb_spots: Vec<TlbInfo>,
    /// By core and side: TLBs from the CPU outward, indices into `tlb_spots`.
    pub(super) tlb_paths: Vec<[Vec<usize>; 2]>,
    /// Something beyond plain accesses happens at references: TLBs, coherence, prefetchers.
    pub(super) extras: bool,
    /// See [`fast`](super::fast); `None` where there is more to do, or no cache for data.
    pub(super) fast: Option<FastPath>,
}

impl Plan {
    pub(super) fn new(config: &HierarchyConfig) -> Result<(Self, Shapes), ConfigError> {
        let shapes = config.check()?;
        let cores = config.cores;
        let count = |level: &LevelConfig| if level.shared { 1 } else { usize::from(cores) };
        let mut of_level = Vec::new();
        let mut start = 0;
        for level in &config.levels {
            of_level.push((start, count(level)));
            start += count(level);
        }
        let cache_of = |level: usize, core: u16| {
            let (start, count) = of_level[level];
            if count == 1 { start } else { start + usize::from(core) }
        };
        let depths = config.depths();
        let (mut spots, mut inner) = (Vec::new(), Vec::new());
        for (n, level) in config.levels.iter().enumerate() {
            for core in (0..cores).take(count(level)) {
                spots.push(spot(config, n, (core, depths[n]), cache_of));
                let inside = config.inside(n).flat_map(|inner| {
                    let (start, count) = of_level[inner];
                    // A private level has only its own core's caches inside.
                    let all = start..start + count;
                    all.filter(move |&cache| level.shared || cores == 1 || cache - start == usize::from(core))
                });
                inner.push(if level.inclusion == Inclusion::Inclusive { inside.collect() } else { Vec::new() });
            }
        }
        let innermost = |fetch| config.levels.iter().position(|level| level.holds.serves(fetch));
        let first = |core| [false, true].map(|fetch| innermost(fetch).map(|level| cache_of(level, core)));
        let is_private = |level: &&LevelConfig| cores > 1 && !level.shared;
        let private = |core| {
            let levels = config.levels.iter().enumerate().filter(|(_, level)| is_private(level));
            levels.map(|(n, _)| cache_of(n, core)).collect()
        };
        let unit = config.levels.iter().filter(is_private).map(|level| level.line).max();
        let (tlb_spots, tlb_paths) = tlbs(config, &shapes.tlbs);
        let prefetches = config.levels.iter().any(|level| level.prefetch != Prefetch::None);
        let mut plan = Self {
            fast: None,
            first: (0..cores).map(first).collect(),
            private: (0..cores).map(private).collect(),
            unit_shift: unit.map(u32::trailing_zeros),
            grain_bytes: config.levels.iter().map(|level| level.line).min().unwrap_or(1),
            extras: unit.is_some() || !tlb_spots.is_empty() || prefetches,
            config: config.clone(),
            spots,
            inner,
            of_level,
            tlb_spots,
            tlb_paths,
        };
        plan.fast = plan.fast_path();
        Ok((plan, shapes))
    }

    fn fast_path(&self) -> Option<FastPath> {
        // With several cores and private caches there are extras, so here all cores are alike.
        let first = self.first.first().filter(|_| !self.extras)?;
        let path = |side: usize| {
            let next = move |cache: &usize| self.spots[*cache].next[side];
            std::iter::successors(first[side], next).collect::<Vec<usize>>()
        };
        let caches = path(DATA);
        let order = &self.config.order;
        let one_way = self.config.levels.iter().all(|level| level.inclusion == Inclusion::Nine)
            && !order.writeback_first
            && !order.fetch_on_full_line_write;
        let mut exceptions = Exceptions { dropped: 0, back: if one_way { 0 } else { Exceptions::bit(Kind::Modify) } };
        if self.config.data_only {
            exceptions.dropped = Exceptions::bit(Kind::Fetch);
        } else if caches != path(FETCH) {
            exceptions.back |= Exceptions::bit(Kind::Fetch);
        }
        (!caches.is_empty()).then_some(FastPath { caches, exceptions, one_way })
    }

    /// Where the victims of a cache go; `None` = memory.
    pub(super) fn outward(&self, cache: usize) -> Option<usize> {
        let spot = &self.spots[cache];
        spot.next[spot.side]
    }

    /// Caches of a level.
    pub(super) fn caches_of(&self, level: LevelId) -> impl Iterator<Item = CacheId> + use<> {
        let (start, count) = self.of_level[level.index()];
        (start..start + count).map(cache_id)
    }
}

/// The number of a cache: at most 2,048.
#[expect(clippy::cast_possible_truncation, reason = "at most 2,048 caches")]
pub(super) fn cache_id(index: usize) -> CacheId {
    CacheId(index as u16)
}

#[expect(clippy::cast_possible_truncation, reason = "at most 512 cores")]
fn core_id(core: usize) -> u16 {
    core as u16
}

#[expect(clippy::cast_possible_truncation, reason = "at most 8 levels")]
fn level_id(level: usize) -> LevelId {
    LevelId(level as u8)
}

fn spot(config: &HierarchyConfig, n: usize, (core, depth): (u16, u8), cache_of: impl Fn(usize, u16) -> usize) -> Spot {
    let level = &config.levels[n];
    let side = if level.holds == Holds::Instructions { FETCH } else { DATA };
    let next_level = [false, true].map(|fetch| config.next(n, fetch));
    let through = level.write == WritePolicy::Through;
    let no_allocate = level.allocate == Allocate::None;
    let exclusive = level.inclusion == Inclusion::Exclusive;
    let keeps = |inner: usize| config.levels[inner].inclusion != Inclusion::Exclusive;
    let keeper = |fetch| (0..n).any(|inner| config.levels[inner].holds.serves(fetch) && keeps(inner));
    let several = config.cores > 1 && !level.shared;
    let plain = level.policy.about().ages
        && !(through || no_allocate || exclusive)
        && level.sectors() == 1
        && level.prefetch == Prefetch::None;
    let inclusive = level.inclusion == Inclusion::Inclusive;
    let is_exclusive = |next: Option<usize>| next.is_some_and(|n| config.levels[n].inclusion == Inclusion::Exclusive);
    let simple =
        plain && !inclusive && !several && !config.order.writeback_first && !next_level.into_iter().any(is_exclusive);
    Spot {
        info: CacheInfo { level: level_id(n), core: several.then_some(core), depth },
        plain,
        simple,
        through,
        no_allocate,
        exclusive,
        gives: [false, true].map(|fetch| exclusive && keeper(fetch)),
        inclusive,
        private: several,
        sectors: level.sectors(),
        prefetch: level.prefetch,
        opt: level.policy.about().needs_future,
        latency: level.latency,
        side,
        next: next_level.map(|next| next.map(|next| cache_of(next, core))),
        feeds_exclusive: is_exclusive(next_level[side]),
    }
}

type TlbPaths = Vec<[Vec<usize>; 2]>;

fn tlbs(config: &HierarchyConfig, shapes: &[Option<Geometry>]) -> (Vec<TlbInfo>, TlbPaths) {
    let mut spots = Vec::new();
    let mut paths: TlbPaths = vec![Default::default(); usize::from(config.cores)];
    let used = config.tlbs.iter().zip(shapes).zip(0u8..).filter(|((_, shape), _)| shape.is_some());
    for ((tlb, _), number) in used {
        for (core, path) in paths.iter_mut().enumerate() {
            let sides = [(DATA, false), (FETCH, true)].into_iter().filter(|(_, fetch)| tlb.holds.serves(*fetch));
            if core == 0 || !tlb.shared {
                let depth = sides.clone().map(|(side, _)| path[side].len()).max().unwrap_or(0);
                let own = (config.cores > 1 && !tlb.shared).then_some(core_id(core));
                spots.push(TlbInfo { tlb: number, core: own, depth: u8::try_from(depth).unwrap_or(u8::MAX) });
            }
            for (side, _) in sides {
                path[side].push(spots.len() - 1);
            }
        }
    }
    (spots, paths)
}
