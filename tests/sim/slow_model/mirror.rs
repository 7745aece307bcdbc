//! What the events alone say: contents by cache, counts, traffic of memory. It has to equal what the simulator holds.

use orrery::sim::config::{Allocate, HierarchyConfig, Holds, WritePolicy};
use orrery::sim::{AccessKind, Cause, Event, Hierarchy, LevelCounters, MemoryCounters, SharingCounters};
use orrery::units::{CacheId, LevelId, LineAddr, SetIndex};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Held {
    dirty: bool,
    prefetched: bool,
    /// Number of the fill that brought it.
    fill: u64,
}

pub(crate) struct Mirror<'a> {
    config: &'a HierarchyConfig,
    real: &'a Hierarchy,
    lines: BTreeMap<(CacheId, LineAddr), Held>,
    counts: BTreeMap<CacheId, LevelCounters>,
    fills: u64,
    /// Copies inside were dirty: so will be the victim told next.
    merged: bool,
    /// The newest event said that a line is clean now; the next private copy outward, which has its dirt unless a write-back
    /// follows.
    handed: Option<(CacheId, LineAddr)>,
    /// Kind of the newest access, of all and of each cache.
    asked: Option<AccessKind>,
    asked_of: BTreeMap<CacheId, AccessKind>,
    memory: MemoryCounters,
    sharing: SharingCounters,
    /// Questions to each TLB of the configuration, and those not answered.
    translated: BTreeMap<u8, (u64, u64)>,
}

impl<'a> Mirror<'a> {
    /// Takes all events; of the simulator it looks at shapes only.
    pub(crate) fn of(real: &'a Hierarchy, events: &[Event]) -> Self {
        let mut mirror = Self {
            config: real.config(),
            real,
            lines: BTreeMap::new(),
            counts: BTreeMap::new(),
            fills: 0,
            merged: false,
            handed: None,
            asked: None,
            asked_of: BTreeMap::new(),
            memory: MemoryCounters::default(),
            sharing: SharingCounters::default(),
            translated: BTreeMap::new(),
        };
        for event in events {
            if let Some(to) = mirror.handed.take() {
                let follows = |cache: CacheId| real.info(cache).core == real.info(to.0).core;
                if !matches!(event, Event::Access { kind: AccessKind::Writeback, cache, .. } if follows(*cache)) {
                    mirror.lines.get_mut(&to).unwrap().dirty = true;
                }
            }
            mirror.take(*event);
            if let Event::Access { kind, cache, .. } = event {
                mirror.asked = Some(*kind);
                mirror.asked_of.insert(*cache, *kind);
            }
        }
        mirror
    }

    fn counts(&mut self, level: LevelId, cache: CacheId) -> &mut LevelCounters {
        assert_eq!(self.real.info(cache).level, level);
        self.counts.entry(cache).or_default()
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Access { level, cache, line, kind, hit, .. } => self.access(level, cache, line, kind, hit),
            Event::Fill { level, cache, line, dirty, prefetch, .. } => {
                let counts = self.counts(level, cache);
                counts.fills += 1;
                counts.prefetch_fills += u64::from(prefetch);
                self.fills += 1;
                let held = Held { dirty, prefetched: prefetch, fill: self.fills };
                assert_eq!(self.lines.insert((cache, line), held), None, "{event:?}: it is there already");
            }
            Event::Evict { level, cache, line, dirty, .. } => {
                self.counts(level, cache).evictions += 1;
                let held = self.lines.remove(&(cache, line)).unwrap_or_else(|| panic!("{event:?}: it is not there"));
                assert_eq!(dirty, held.dirty | std::mem::take(&mut self.merged), "{event:?}");
            }
            Event::Invalidate { level, cache, line, dirty, cause, .. } => {
                self.counts(level, cache).invalidations += 1;
                let held = self.lines.remove(&(cache, line)).unwrap_or_else(|| panic!("{event:?}: it is not there"));
                assert_eq!(dirty, held.dirty, "{event:?}");
                match cause {
                    Cause::Inclusion => self.merged |= dirty,
                    Cause::Coherence => {}
                    Cause::Promotion if dirty => self.bring_dirt(level, line, self.asked),
                    Cause::Promotion => {}
                }
            }
            Event::Renew { cache, line, .. } => assert!(self.lines.contains_key(&(cache, line)), "{event:?}"),
            Event::Clean { cache, line, .. } => {
                let held = self.lines.get_mut(&(cache, line)).unwrap_or_else(|| panic!("{event:?}: it is not there"));
                assert!(held.dirty, "{event:?}: it is clean");
                held.dirty = false;
                self.handed = self.copy_outside(cache, line);
            }
            Event::Sharing { falsely, core, by, .. } => {
                assert_ne!(core, by);
                self.sharing.returns += 1;
                self.sharing.false_sharing += u64::from(falsely);
            }
            Event::Translate { tlb, hit, .. } => {
                let (asked, missed) = self.translated.entry(tlb).or_default();
                *asked += 1;
                *missed += u64::from(!hit);
            }
            Event::MemoryRead { bytes, .. } => {
                self.memory.reads += 1;
                self.memory.bytes_read += bytes;
            }
            Event::MemoryWrite { bytes, .. } => {
                self.memory.writes += 1;
                self.memory.bytes_written += bytes;
            }
            _ => panic!("an event that the model does not know: {event:?}"),
        }
    }

    fn access(&mut self, level: LevelId, cache: CacheId, line: LineAddr, kind: AccessKind, hit: bool) {
        super::model::count(self.counts(level, cache), kind, !hit);
        let own = &self.config.levels[level.index()];
        let Some(held) = self.lines.get_mut(&(cache, line)) else {
            assert!(!hit, "{cache:?} {line:?} hits, and is not there");
            return;
        };
        assert!(hit || own.sectors() > 1, "{cache:?} {line:?} misses, and is there");
        let sent_on = kind == AccessKind::Write && !hit && own.allocate == Allocate::None;
        held.dirty |= kind.is_write() && own.write == WritePolicy::Back && !sent_on;
        held.prefetched &= !kind.is_demand();
    }

    /// A dirty line left an exclusive level for the cache on the request's side that was filled last.
    fn bring_dirt(&mut self, level: LevelId, line: LineAddr, kind: Option<AccessKind>) {
        let asks = |cache: CacheId, held: &Held| {
            let inner = self.real.info(cache).level;
            let holds = self.config.levels[inner.index()].holds;
            let side = match kind {
                Some(AccessKind::Fetch) => holds != Holds::Data,
                Some(AccessKind::Read) => holds != Holds::Instructions,
                _ => held.prefetched || self.asked_of.get(&cache) == Some(&AccessKind::Prefetch),
            };
            inner < level && side
        };
        let copies =
            self.lines.iter_mut().filter(|((cache, held_line), held)| *held_line == line && asks(*cache, held));
        if let Some((_, held)) = copies.max_by_key(|(_, held)| held.fill) {
            held.dirty = true;
        }
    }

    /// The next copy of a whole line in the private caches of its core, on the way of its cache's victims.
    fn copy_outside(&self, cache: CacheId, line: LineAddr) -> Option<(CacheId, LineAddr)> {
        let (own, shape) = (self.real.info(cache), self.real.geometry(cache));
        let levels = &self.config.levels;
        let outward = |&at: &usize| {
            let fetch = levels[at].holds == Holds::Instructions;
            (at + 1..levels.len()).find(|&n| levels[n].holds.serves(fetch))
        };
        let copy = |level: usize| {
            let of_level = |outer: &CacheId| self.real.info(*outer).level.index() == level;
            let same_core = |outer: &CacheId| own.core.is_some() && self.real.info(*outer).core == own.core;
            let outer = self.real.caches().find(|outer| of_level(outer) && same_core(outer))?;
            let geometry = self.real.geometry(outer);
            let line = geometry.line_of(shape.base_of(line));
            let held = geometry.line_bytes >= shape.line_bytes && self.lines.contains_key(&(outer, line));
            held.then_some((outer, line))
        };
        std::iter::successors(Some(own.level.index()), outward).skip(1).find_map(copy)
    }

    pub(crate) fn same(&self) {
        let (real, mut number) = (self.real, 0);
        for cache in real.caches() {
            let name = real.name(cache);
            for set in (0..real.geometry(cache).sets).map(SetIndex) {
                for resident in real.order(cache, set) {
                    let told = self.lines.get(&(cache, resident.line)).map(|held| (held.dirty, held.prefetched));
                    assert_eq!(told, Some((resident.dirty, resident.prefetched)), "{name}: {resident:?} in events");
                    number += 1;
                }
            }
            let c = real.counters(cache);
            let told = self.counts.get(&cache).copied().unwrap_or_default();
            let expect = LevelCounters {
                writebacks: 0,
                bytes_in: 0,
                bytes_out: 0,
                prefetch_used: 0,
                prefetch_late: 0,
                prefetch_pollution: 0,
                ..*c
            };
            assert_eq!(told, expect, "what events told of {name}");
        }
        assert_eq!(number, self.lines.len(), "lines that events told of");
        assert_eq!(&self.memory, real.memory_counters(), "what events told of memory");
        let sharing = real.sharing().copied().unwrap_or_default();
        assert_eq!(
            (self.sharing.returns, self.sharing.false_sharing),
            (sharing.returns, sharing.false_sharing),
            "what events told of sharing"
        );
        for tlb in (0u8..).take(self.config.tlbs.len()) {
            let sum = real.tlbs().sum(tlb.into());
            let told = self.translated.get(&tlb).copied().unwrap_or_default();
            assert_eq!(told, (sum.accesses(), sum.misses()), "what events told of TLB {tlb}");
        }
    }
}
