//! Caches joined: the state of all of them and their counts. What an access causes is in `walk`, what concerns several cores
//! in `cores`.

mod cores;
mod leaving;
mod pack;
mod play;
mod sectors;
mod walk;

pub use pack::{Packed, Packer};

use super::cache::{Cache, Resident};
use super::coherence::{Directory, SharingCounters};
use super::config::{ConfigError, HierarchyConfig, Place};
use super::counters::LevelCounters;
use super::plan::{CacheInfo, DATA, FETCH, Plan, cache_id};
use super::prefetch::Prefetcher;
use super::request::Request;
use super::shards::Split;
use super::tlb::Tlbs;
use super::{AccessKind, Event, Geometry, Observer, Origin, RequestId};
use crate::reference::{Kind, Reference};
use crate::units::{CacheId, LevelId, LineAddr, SetIndex};
pub(super) use leaving::Leaving;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Traffic between the outermost level and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryCounters {
    /// Requests that read.
    pub reads: u64,
    /// Requests that write.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}

/// The state of all caches and their counts. Plain data: a clone is a keyframe, equality is equality of everything.
#[derive(Debug, PartialEq, Eq)]
pub struct Hierarchy {
    plan: Arc<Plan>,
    /// From the CPU outward, within a level by core.
    caches: Vec<Cache>,
    memory: MemoryCounters,
    /// References so far, where a prefetcher wants to know.
    clock: u64,
    /// Number of the next request of the reference at play; between references the first.
    next_request: RequestId,
    /// One a cache, or none at all.
    prefetchers: Vec<Prefetcher>,
    directory: Option<Directory>,
    tlbs: Tlbs,
}

impl Clone for Hierarchy {
    fn clone(&self) -> Self {
        let Self { plan, caches, memory, clock, next_request, prefetchers, directory, tlbs } = self;
        Self {
            plan: plan.clone(),
            caches: caches.clone(),
            memory: *memory,
            clock: *clock,
            next_request: *next_request,
            prefetchers: prefetchers.clone(),
            directory: directory.clone(),
            tlbs: tlbs.clone(),
        }
    }

    /// Into the memory that is there: most of a copy of megabytes is the system's search for room.
    fn clone_from(&mut self, other: &Self) {
        let Self { plan, caches, memory, clock, next_request, prefetchers, directory, tlbs } = other;
        self.plan.clone_from(plan);
        self.caches.clone_from(caches);
        self.memory = *memory;
        self.clock = *clock;
        self.next_request = *next_request;
        self.prefetchers.clone_from(prefetchers);
        self.directory.clone_from(directory);
        self.tlbs.clone_from(tlbs);
    }
}

impl Hierarchy {
    /// Empty caches of this configuration.
    ///
    /// # Errors
    /// What [`HierarchyConfig::check`] finds; [`ConfigError::OptNeedsTrace`] for a level with OPT, which
    /// [`prepare`](super::prepare) makes.
    pub fn new(config: &HierarchyConfig) -> Result<Self, ConfigError> {
        if let Some(n) = config.levels.iter().position(|level| level.policy.about().needs_future) {
            config.check()?;
            let part = Some(("level", n + 1, config.levels[n].name.clone()));
            let place = Box::new(Place { origin: config.name.clone(), line: None, part });
            return Err(ConfigError::OptNeedsTrace { place });
        }
        Self::without_future(config)
    }

    /// As [`Hierarchy::new`], but OPT knows of no future yet.
    pub(super) fn without_future(config: &HierarchyConfig) -> Result<Self, ConfigError> {
        let (plan, shapes) = Plan::new(config)?;
        let cache = |spot: &super::plan::Spot| {
            let level = spot.info.level.index();
            let notes = spot.sectors > 1 || spot.prefetch != super::config::Prefetch::None;
            Cache::new(shapes.levels[level], config.levels[level].policy, config.seed, notes)
        };
        let prefetches = plan.spots.iter().any(|spot| spot.prefetch != super::config::Prefetch::None);
        let prefetcher = |spot: &super::plan::Spot| Prefetcher::new(spot.prefetch);
        Ok(Self {
            caches: plan.spots.iter().map(cache).collect(),
            memory: MemoryCounters::default(),
            clock: 0,
            next_request: RequestId::FIRST,
            prefetchers: if prefetches { plan.spots.iter().map(prefetcher).collect() } else { Vec::new() },
            directory: plan.unit_shift.map(Directory::new),
            tlbs: Tlbs::new(&plan, &shapes),
            plan: Arc::new(plan),
        })
    }

    /// Tells OPT what the accesses of a cache will be: for each the number of the next one to its line.
    pub(super) fn foresee(&mut self, cache: CacheId, future: Arc<[u32]>) {
        self.caches[cache.index()].foresee(future);
    }

    /// Plays one reference. No failure; with `()` as observer, no event. A core past the configuration's plays as the
    /// last: [`PlayCheck`](super::PlayCheck) finds such references.
    #[inline]
    pub fn access<O: Observer>(&mut self, reference: &Reference, observer: &mut O) {
        if observer.wants().gone {
            let mut leaving = Leaving::new(observer);
            self.access_once(reference, &mut leaving);
            return self.tell_gone(leaving);
        }
        self.access_once(reference, observer);
    }

    /// As [`Hierarchy::access`], without a word of where lines went.
    #[inline(always)]
    fn access_once<O: Observer>(&mut self, reference: &Reference, observer: &mut O) {
        let first = reference.addr;
        // Bytes past 2^64 do not exist; a size of 0 is taken as 1.
        let last = first.saturating_add(u64::from(reference.size.max(1)) - 1);
        let (kind, side) = match reference.kind {
            Kind::Read => (AccessKind::Read, DATA),
            Kind::Write | Kind::Modify => (AccessKind::Write, DATA),
            Kind::Fetch => (AccessKind::Fetch, FETCH),
        };
        if reference.kind == Kind::Fetch && self.plan.config.data_only {
            return;
        }
        if self.plan.extras {
            self.clock += 1;
        }
        let core = reference.core.min(self.plan.config.cores - 1);
        let cache = self.plan.first[usize::from(core)][side];
        let request = Request { first, last, kind, core, pc: reference.pc, fetch: false, origin: Origin::FIRST };
        if reference.kind == Kind::Modify {
            self.pass(cache, side, Request { kind: AccessKind::Read, ..request }, observer);
        }
        self.pass(cache, side, request, observer);
        self.next_request = RequestId::FIRST;
    }

    /// One pass of a reference over its bytes.
    #[inline(always)]
    fn pass<O: Observer>(&mut self, cache: Option<usize>, side: usize, request: Request, observer: &mut O) {
        match cache {
            Some(cache) if !self.plan.extras && self.plan.spots[cache].plain => {
                self.request_plain(cache, request, observer);
            }
            _ => self.pass_general(cache, side, request, observer),
        }
    }

    #[inline(never)]
    fn pass_general<O: Observer>(&mut self, cache: Option<usize>, side: usize, request: Request, observer: &mut O) {
        if self.plan.extras {
            self.next_request = self.tlbs.translate(&self.plan, side, request, self.next_request, observer);
            if self.directory.is_some() {
                return self.play_coherent(cache, request, observer);
            }
        }
        self.request(cache, request, observer);
    }

    /// Writes every dirty line back, from the innermost level outward, set by set, the next victim first. Lines stay,
    /// clean; the write-backs are ordinary accesses of the outer levels. They pass by exclusive levels that do not hold
    /// the line. Each line is a request of its own, as if a reference had asked for it.
    pub fn flush<O: Observer>(&mut self, observer: &mut O) {
        for cache in 0..self.caches.len() {
            for set in (0..self.caches[cache].geometry().sets).map(SetIndex) {
                while let Some(way) = self.caches[cache].oldest_dirty(set) {
                    let origin = self.number(None);
                    self.clean(cache, set, way, origin, observer);
                    let Some(line) = self.caches[cache].line_at(set, way) else { break };
                    let spot = self.plan.spots[cache];
                    let mut to = self.plan.outward(cache);
                    while let Some(next) = to
                        && self.plan.spots[next].exclusive
                        && !self.holds(next, line)
                    {
                        to = self.plan.outward(next);
                    }
                    let dirty = self.take_dirty_sectors(cache, set, way);
                    self.send_dirty(cache, (line, dirty), to, (spot.info.core.unwrap_or(0), origin), observer);
                    self.next_request = RequestId::FIRST;
                }
            }
        }
    }

    /// Number of levels, 1 to 8.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.plan.config.levels.len()
    }

    /// The configuration it was made from.
    #[must_use]
    pub fn config(&self) -> &HierarchyConfig {
        &self.plan.config
    }

    /// All caches: from the CPU outward, within a level by core.
    pub fn caches(&self) -> impl DoubleEndedIterator<Item = CacheId> + use<> {
        (0..self.caches.len()).map(cache_id)
    }

    /// The caches of a level: one, or one a core.
    ///
    /// # Panics
    /// Here and below: when the level or the cache does not exist.
    pub fn caches_of(&self, level: LevelId) -> impl Iterator<Item = CacheId> + use<> {
        self.plan.caches_of(level)
    }

    /// Where a cache stands.
    #[must_use]
    pub fn info(&self, cache: CacheId) -> CacheInfo {
        self.plan.spots[cache.index()].info
    }

    /// The cache that a cache's victims go to; `None` = memory.
    #[must_use]
    pub fn outward(&self, cache: CacheId) -> Option<CacheId> {
        let spot = &self.plan.spots[cache.index()];
        spot.next[spot.side].map(cache_id)
    }

    /// All caches, or memory (`None`), that a cache asks for lines: where those of data and those of instructions part behind it, two.
    pub(crate) fn asks(&self, cache: CacheId) -> [Option<CacheId>; 2] {
        self.plan.spots[cache.index()].next.map(|next| next.map(cache_id))
    }

    /// Name for people: the level's, and the core's number where it has several caches (`L1D of core 2`).
    #[must_use]
    pub fn name(&self, cache: CacheId) -> String {
        let info = self.info(cache);
        let name = &self.plan.config.levels[info.level.index()].name;
        info.core.map_or_else(|| name.clone(), |core| format!("{name} of core {core}"))
    }

    /// Shape of a cache.
    #[must_use]
    pub fn geometry(&self, cache: CacheId) -> &Geometry {
        self.caches[cache.index()].geometry()
    }

    /// Shape of the caches of a level.
    #[must_use]
    pub fn level_geometry(&self, level: LevelId) -> &Geometry {
        self.caches[self.plan.of_level[level.index()].0].geometry()
    }

    /// Lines of a set in eviction order, the next victim last.
    pub fn order(&self, cache: CacheId, set: SetIndex) -> impl DoubleEndedIterator<Item = Resident> + '_ {
        self.caches[cache.index()].order(set)
    }

    /// Where a line stands in a cache: its set and its place in the eviction order, 0 = farthest from eviction.
    #[must_use]
    pub fn rank(&self, cache: CacheId, line: LineAddr) -> Option<(SetIndex, u32)> {
        self.caches[cache.index()].rank(line)
    }

    /// Lines in the caches of a level.
    #[must_use]
    pub fn resident(&self, level: LevelId) -> u64 {
        let counters = self.level_counters(level);
        counters.fills - counters.evictions - counters.invalidations
    }

    /// Dirty lines in the caches of a level, by a pass over their state.
    #[must_use]
    pub fn dirty(&self, level: LevelId) -> u64 {
        self.caches_of(level).map(|cache| self.caches[cache.index()].dirty()).sum()
    }

    /// Counts of a cache.
    #[must_use]
    pub fn counters(&self, cache: CacheId) -> &LevelCounters {
        &self.caches[cache.index()].counters
    }

    /// Counts of a level: the sum over its caches.
    #[must_use]
    pub fn level_counters(&self, level: LevelId) -> LevelCounters {
        let mut sum = LevelCounters::default();
        for cache in self.caches_of(level) {
            sum.add(self.counters(cache));
        }
        sum
    }

    /// Counts of memory.
    #[must_use]
    pub fn memory_counters(&self) -> &MemoryCounters {
        &self.memory
    }

    /// What cores did to each other; `None` with one core or no private level.
    #[must_use]
    pub fn sharing(&self) -> Option<&SharingCounters> {
        self.directory.as_ref().map(|directory| &directory.counters)
    }

    /// The TLBs.
    #[must_use]
    pub fn tlbs(&self) -> &Tlbs {
        &self.tlbs
    }

    /// A number for each way of each set of a cache, set by set: while those of a set stay the same, so do its lines, and,
    /// where the policy keeps lists (LRU, FIFO, MRU), their order.
    #[must_use]
    pub fn words(&self, cache: CacheId) -> &[u64] {
        self.caches[cache.index()].words()
    }

    /// Bytes that a clone takes.
    #[must_use]
    pub fn state_bytes(&self) -> usize {
        let caches: usize = self.caches.iter().map(Cache::state_bytes).sum();
        let directory = self.directory.as_ref().map_or(0, Directory::state_bytes);
        size_of::<Self>() + caches + directory + self.tlbs.state_bytes() + size_of_val(self.prefetchers.as_slice())
    }

    /// What a shard has of it, with no count.
    pub(super) fn part(&self, split: Split, shard: usize) -> Self {
        let caches = self.caches.iter().map(|cache| cache.part(split, shard)).collect();
        Self { caches, memory: MemoryCounters::default(), ..self.clone() }
    }

    /// Takes back what a shard has made of its part.
    pub(super) fn take_part(&mut self, part: &Self) {
        self.caches.iter_mut().zip(&part.caches).for_each(|(cache, part)| cache.take_part(part));
        self.memory.reads += part.memory.reads;
        self.memory.writes += part.memory.writes;
        self.memory.bytes_read += part.memory.bytes_read;
        self.memory.bytes_written += part.memory.bytes_written;
    }

    fn holds(&self, cache: usize, line: LineAddr) -> bool {
        let cache = &self.caches[cache];
        cache.find(line, cache.geometry().set_of(line)).is_some()
    }

    /// Marks a dirty line clean and says so; its data is the caller's to send.
    fn clean<O: Observer>(&mut self, cache: usize, set: SetIndex, way: usize, origin: Origin, observer: &mut O) {
        if let Some(line) = self.caches[cache].line_at(set, way) {
            self.caches[cache].set_dirty(set, way, false);
            let level = self.plan.spots[cache].info.level;
            observer.event(Event::Clean { origin, level, cache: cache_id(cache), line, set });
        }
    }

    /// The dirty sectors of a line, which is clean from now on.
    fn take_dirty_sectors(&mut self, cache: usize, set: SetIndex, way: usize) -> u32 {
        self.caches[cache].note_mut(set, way).map_or(0, |note| std::mem::take(&mut note.dirty))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hierarchy_can_be_shared_between_threads() {
        fn plain<T: Clone + Send + Sync + 'static>() {}
        plain::<Hierarchy>();
    }
}
