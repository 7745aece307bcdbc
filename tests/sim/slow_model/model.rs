//! The hierarchy of the model: what a reference causes, straight from the contract. Addresses have 128 bits, so nothing
//! wraps; every request is a list of bytes `first..end`.

use super::cache::{Cache, Line};
use super::cores::Cores;
use super::prefetch::{Prefetcher, Trigger};
use orrery::reference::{Kind, Reference};
use orrery::sim::config::{Allocate, HierarchyConfig, Holds, Inclusion, LevelConfig, WritePolicy};
use orrery::sim::{AccessKind, MemoryCounters};

/// What is asked of a cache or of memory, and for whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) kind: AccessKind,
    /// Side: instructions, or data.
    pub(crate) fetch: bool,
    pub(crate) core: u16,
    pub(crate) pc: u64,
}

/// What comes back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    /// A dirty line moved inward.
    pub(crate) dirty: bool,
    /// Cycles of the farthest that answered.
    pub(crate) latency: u64,
}

impl Answer {
    fn and(self, other: Self) -> Self {
        Self { dirty: self.dirty || other.dirty, latency: self.latency.max(other.latency) }
    }
}

pub(crate) struct Model {
    pub(crate) config: HierarchyConfig,
    /// From the CPU outward, within a level by core.
    pub(crate) caches: Vec<Cache>,
    pub(crate) tlbs: Vec<Cache>,
    pub(crate) walks: u64,
    pub(crate) memory: MemoryCounters,
    /// Write-backs of the reference that was played last: from which cache, to which one or to memory, and which bytes.
    pub(crate) written_back: Vec<(usize, Option<usize>, u128, u128)>,
    pub(crate) cores: Option<Cores>,
    prefetchers: Vec<Prefetcher>,
    clock: u64,
    /// Playing level by level: requests for the next level.
    later: Option<Vec<(Ask, u128, u128)>>,
}

/// Caches of a level that is shared or not.
fn copies(config: &HierarchyConfig, shared: bool) -> Vec<Option<u16>> {
    if shared || config.cores == 1 { vec![None] } else { (0..config.cores).map(Some).collect() }
}

impl Model {
    pub(crate) fn new(config: &HierarchyConfig) -> Self {
        let mut caches = Vec::new();
        for (n, level) in config.levels.iter().enumerate() {
            caches.extend(copies(config, level.shared).into_iter().map(|c| Cache::new(n, c, level, config.seed)));
        }
        let mut tlbs = Vec::new();
        for (n, tlb) in config.tlbs.iter().enumerate().filter(|(_, tlb)| tlb.pages.contains(&config.memory.page)) {
            tlbs.extend(copies(config, tlb.shared).into_iter().map(|core| Cache::tlb(n, core, config)));
        }
        let private = caches.iter().filter(|cache| cache.core.is_some());
        let cores = private.map(|cache| cache.line).max().map(Cores::new);
        let prefetchers = caches.iter().map(|cache| Prefetcher::new(config.levels[cache.level].prefetch)).collect();
        let memory = MemoryCounters::default();
        Self {
            config: config.clone(),
            caches,
            tlbs,
            walks: 0,
            memory,
            written_back: Vec::new(),
            cores,
            prefetchers,
            clock: 0,
            later: None,
        }
    }

    pub(crate) fn level(&self, cache: usize) -> &LevelConfig {
        &self.config.levels[self.caches[cache].level]
    }

    /// The caches that requests of a core pass on a side, from the CPU outward.
    fn path(&self, core: u16, fetch: bool) -> Vec<usize> {
        let on = |n: &usize| {
            let cache = &self.caches[*n];
            cache.core.is_none_or(|own| own == core) && self.config.levels[cache.level].holds.serves(fetch)
        };
        (0..self.caches.len()).filter(on).collect()
    }

    fn next(&self, cache: usize, fetch: bool) -> Option<usize> {
        let path = self.path(self.caches[cache].core.unwrap_or(0), fetch);
        path.into_iter().find(|&n| self.caches[n].level > self.caches[cache].level)
    }

    /// The caches on the way of a cache's victims, each sending them on as it does its own.
    fn beyond(&self, cache: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(cache), |&at| self.next(at, self.side(at))).skip(1)
    }

    /// Those of the same core.
    pub(crate) fn private_beyond(&self, cache: usize) -> Vec<usize> {
        self.beyond(cache).filter(|&n| self.caches[n].core.is_some()).collect()
    }

    /// The first that all cores share.
    pub(crate) fn first_shared(&self, cache: usize) -> Option<usize> {
        self.beyond(cache).find(|&n| self.caches[n].core.is_none())
    }

    /// The side on which victims leave a cache: fetches' from one that holds instructions only.
    fn side(&self, cache: usize) -> bool {
        self.level(cache).holds == Holds::Instructions
    }

    pub(crate) fn play(&mut self, r: &Reference) {
        if r.kind == Kind::Fetch && self.config.data_only {
            return;
        }
        self.clock += 1;
        self.written_back.clear();
        let first = u128::from(r.addr);
        let end = (first + u128::from(r.size.max(1))).min(1 << 64);
        let kinds: &[AccessKind] = match r.kind {
            Kind::Read => &[AccessKind::Read],
            Kind::Write => &[AccessKind::Write],
            Kind::Modify => &[AccessKind::Read, AccessKind::Write],
            Kind::Fetch => &[AccessKind::Fetch],
        };
        for &kind in kinds {
            let ask = Ask { kind, fetch: r.kind == Kind::Fetch, core: r.core, pc: r.pc };
            self.translate(ask, first, end);
            let to = self.path(r.core, ask.fetch).first().copied();
            if self.cores.is_none() {
                self.ask(None, to, ask, first, end);
                continue;
            }
            let line = to.map_or(1 << 64, |to| self.caches[to].line);
            for (first, end) in pieces(first, end, line) {
                self.meet(ask, first, end);
                self.ask(None, to, ask, first, end);
            }
        }
    }

    /// A whole trace where some level has OPT: level by level, so that each knows all it will be asked for.
    pub(crate) fn play_by_levels(&mut self, trace: &[Reference]) {
        self.later = Some(Vec::new());
        for r in trace {
            self.play(r);
        }
        for level in 0..self.caches.len() {
            let requests = self.later.replace(Vec::new()).unwrap();
            let serves = |ask: &Ask| self.config.levels[level].holds.serves(ask.fetch);
            let mine = requests.iter().filter(|(ask, ..)| serves(ask));
            let line = self.caches[level].line;
            let lines = mine.flat_map(|(_, first, end)| pieces(*first, *end, line)).map(|(first, _)| first / line);
            self.caches[level].future = lines.collect();
            for (ask, first, end) in requests {
                if !self.config.levels[level].holds.serves(ask.fetch) {
                    self.later.as_mut().unwrap().push((ask, first, end));
                    continue;
                }
                for (first, end) in pieces(first, end, line) {
                    self.access(level, ask, first, end);
                }
            }
        }
        for (ask, first, end) in self.later.take().unwrap() {
            self.ask(None, None, ask, first, end);
        }
    }

    fn translate(&mut self, ask: Ask, first: u128, end: u128) {
        let serves = |tlb: &Cache| {
            self.config.tlbs[tlb.level].holds.serves(ask.fetch) && tlb.core.is_none_or(|own| own == ask.core)
        };
        let path: Vec<usize> = (0..self.tlbs.len()).filter(|n| serves(&self.tlbs[*n])).collect();
        for (first, _) in pieces(first, end, u128::from(self.config.memory.page)) {
            let mut found = path.is_empty();
            for &n in &path {
                let tlb = &mut self.tlbs[n];
                let page = first / tlb.line;
                found = tlb.find(page).is_some();
                count(&mut tlb.counters, ask.kind, !found);
                if found {
                    tlb.touch(page);
                    break;
                }
                tlb.insert(Line::new(page, 1));
            }
            self.walks += u64::from(!found);
        }
    }

    /// Bytes are asked of a cache or, at the end of the path, of memory.
    pub(crate) fn ask(&mut self, from: Option<usize>, to: Option<usize>, ask: Ask, first: u128, end: u128) -> Answer {
        if let Some(later) = &mut self.later {
            later.push((ask, first, end));
            return Answer::default();
        }
        if let (AccessKind::Writeback, Some(from)) = (ask.kind, from) {
            self.written_back.push((from, to, first, end));
        }
        let private = |cache: Option<usize>| cache.is_some_and(|cache| self.caches[cache].core.is_some());
        let leaves = (from.is_none() || private(from)) && !private(to);
        if leaves && matches!(ask.kind, AccessKind::Read | AccessKind::Fetch | AccessKind::Prefetch) {
            self.share(ask.core, first, end);
        }
        let Some(to) = to else {
            let bytes = u64::try_from(end - first).unwrap();
            if ask.kind.is_write() {
                self.memory.writes += 1;
                self.memory.bytes_written += bytes;
            } else {
                self.memory.reads += 1;
                self.memory.bytes_read += bytes;
            }
            return Answer { dirty: false, latency: self.config.memory.latency.into() };
        };
        let mut answer = Answer::default();
        for (first, end) in pieces(first, end, self.caches[to].line) {
            answer = answer.and(self.access(to, ask, first, end));
        }
        answer
    }

    /// One piece of one line.
    fn access(&mut self, cache: usize, ask: Ask, first: u128, end: u128) -> Answer {
        self.caches[cache].asked += 1;
        let number = first / self.caches[cache].line;
        let answer = Answer { dirty: false, latency: self.level(cache).latency.into() };
        if self.level(cache).inclusion == Inclusion::Exclusive && ask.kind != AccessKind::Writeback {
            return self.access_exclusive(cache, ask, first, end, answer);
        }
        let whole = self.config.order.fetch_on_full_line_write;
        let overwrites = ask.kind == AccessKind::Writeback || ask.kind == AccessKind::Write && !whole;
        let through = self.level(cache).write == WritePolicy::Through;
        let touched = self.caches[cache].sectors_of(first, end);
        // What a store writes over need not be here.
        let covered =
            |n: &usize| self.caches[cache].bytes_of(number, &[*n]).iter().all(|(f, e)| first <= *f && *e <= end);
        let wanted: Vec<usize> = touched.iter().copied().filter(|n| !(overwrites && covered(n))).collect();
        let here = self.caches[cache].find(number).map(|line| line.valid.clone());
        let missing: Vec<usize> = wanted.into_iter().filter(|n| here.as_ref().is_none_or(|valid| !valid[*n])).collect();
        let hit = here.is_some() && missing.is_empty();
        self.see(cache, ask.kind, number, !hit);

        let (clock, mut trigger) = (self.clock, Trigger::Miss);
        let mut answer = if hit { answer } else { Answer::default() };
        let mut victim = None;
        let stays_away = !hit && ask.kind == AccessKind::Write && self.level(cache).allocate == Allocate::None;
        if !stays_away {
            let c = &mut self.caches[cache];
            if here.is_some() {
                c.touch(number);
            } else {
                victim = c.insert(Line::new(number, c.sectors));
                self.regain(cache, number);
            }
            let c = &mut self.caches[cache];
            let line = c.find(number).unwrap();
            for &n in &touched {
                line.valid[n] = true;
                line.dirty[n] |= ask.kind.is_write() && !through;
            }
            if hit {
                let first_use = ask.kind.is_demand() && line.prefetched;
                trigger = if first_use { Trigger::FirstUse } else { Trigger::Hit };
                if first_use {
                    line.prefetched = false;
                    let late = clock < line.ready;
                    c.counters.prefetch_used += 1;
                    c.counters.prefetch_late += u64::from(late);
                }
            }
            let victim = victim.map(|victim| self.merge_inside(cache, victim));
            if self.config.order.writeback_first {
                self.depart(cache, victim.as_ref(), ask.core);
            }
            let request = Ask {
                kind: if ask.kind.is_write() { AccessKind::Read } else { ask.kind },
                fetch: if ask.kind == AccessKind::Writeback { self.side(cache) } else { ask.fetch },
                ..ask
            };
            for (first, end) in self.caches[cache].bytes_of(number, &missing) {
                answer = answer.and(self.bring(cache, request, first, end));
            }
            if answer.dirty
                && let Some(line) = self.caches[cache].find(number)
            {
                line.dirty[0] = true;
            }
            answer.dirty = false;
            if ask.kind.is_write() && through {
                self.send_on(cache, ask, first, end);
            }
            if !self.config.order.writeback_first {
                self.depart(cache, victim.as_ref(), ask.core);
            }
        } else {
            // A store that is sent on renews the line it belongs to, should other sectors of it be here.
            if here.is_some() {
                self.caches[cache].touch(number);
            }
            self.send_on(cache, ask, first, end);
        }
        if ask.kind.is_demand() {
            self.prefetch(cache, ask, number, first, trigger);
        }
        answer
    }

    /// A demand, a prefetch or a store at an exclusive level.
    fn access_exclusive(&mut self, cache: usize, ask: Ask, first: u128, end: u128, answer: Answer) -> Answer {
        let number = first / self.caches[cache].line;
        let hit = self.caches[cache].find(number).is_some();
        self.see(cache, ask.kind, number, !hit);
        if ask.kind == AccessKind::Write {
            if hit {
                self.caches[cache].touch(number);
            }
            if hit && self.level(cache).write == WritePolicy::Back {
                self.caches[cache].find(number).unwrap().dirty[0] = true;
            } else {
                self.send_on(cache, ask, first, end);
            }
            return Answer::default();
        }
        let keeper = |inner: &LevelConfig| inner.holds.serves(ask.fetch) && inner.inclusion != Inclusion::Exclusive;
        if hit && !self.config.levels[..self.caches[cache].level].iter().any(keeper) {
            // Nobody inside can take it.
            self.caches[cache].touch(number);
            return answer;
        }
        if hit {
            let line = self.caches[cache].remove(number);
            return Answer { dirty: line.is_dirty(), ..answer };
        }
        let next = self.next(cache, ask.fetch);
        self.ask(Some(cache), next, ask, first, end)
    }

    /// Counts an access, and what else looks at accesses.
    fn see(&mut self, cache: usize, kind: AccessKind, number: u128, missed: bool) {
        let c = &mut self.caches[cache];
        count(&mut c.counters, kind, missed);
        c.classify(number, missed && kind != AccessKind::Prefetch);
        if missed && kind.is_demand() && c.driven_out.remove(&number) {
            c.counters.prefetch_pollution += 1;
        }
    }

    /// Bytes come in from the next level.
    fn bring(&mut self, cache: usize, ask: Ask, first: u128, end: u128) -> Answer {
        self.caches[cache].counters.bytes_in += u64::try_from(end - first).unwrap();
        let next = self.next(cache, ask.fetch);
        self.ask(Some(cache), next, ask, first, end)
    }

    /// A store or a write-back goes on to the next level as it came.
    fn send_on(&mut self, cache: usize, ask: Ask, first: u128, end: u128) {
        self.caches[cache].counters.bytes_out += u64::try_from(end - first).unwrap();
        let fetch = if ask.kind == AccessKind::Writeback { self.side(cache) } else { ask.fetch };
        let next = self.next(cache, fetch);
        self.ask(Some(cache), next, Ask { fetch, ..ask }, first, end);
    }

    /// An inclusive level loses a line: all copies inside go, and their dirty bytes with it.
    fn merge_inside(&mut self, cache: usize, mut victim: Line) -> Line {
        if self.level(cache).inclusion != Inclusion::Inclusive {
            return victim;
        }
        let (bytes, core, level) = (self.caches[cache].line, self.caches[cache].core, self.caches[cache].level);
        let holds = self.level(cache).holds;
        let start = victim.number * bytes;
        for inner in 0..cache {
            let (theirs, at) = (self.level(inner).holds, &self.caches[inner]);
            let meets = [false, true].into_iter().any(|fetch| theirs.serves(fetch) && holds.serves(fetch));
            if !meets || at.level == level || core.is_some() && at.core != core {
                continue;
            }
            for number in at.overlapping(start, start + bytes) {
                let line = self.caches[inner].remove(number);
                for (from, to) in self.caches[inner].dirty_bytes(&line) {
                    self.caches[cache].sectors_of(from, to).into_iter().for_each(|n| victim.dirty[n] = true);
                }
            }
        }
        victim
    }

    /// A victim leaves for the next level, if there is reason to.
    fn depart(&mut self, cache: usize, victim: Option<&Line>, core: u16) {
        let Some(victim) = victim else { return };
        let fetch = self.side(cache);
        let next = self.next(cache, fetch);
        if victim.is_dirty() {
            self.hand_over(cache, victim, next, core);
        } else if let Some(next) = next
            && self.level(next).inclusion == Inclusion::Exclusive
        {
            self.caches[cache].counters.bytes_out += u64::try_from(self.caches[cache].line).unwrap();
            if self.caches[next].find(victim.number).is_some() {
                self.caches[next].touch(victim.number);
            } else {
                let mut line = Line::new(victim.number, 1);
                line.valid[0] = true;
                let out = self.caches[next].insert(line);
                self.regain(next, victim.number);
                self.depart(next, out.as_ref(), core);
            }
        }
    }

    /// The dirty sectors of a line are written back.
    pub(crate) fn hand_over(&mut self, cache: usize, line: &Line, to: Option<usize>, core: u16) {
        let ask = Ask { kind: AccessKind::Writeback, fetch: self.side(cache), core, pc: 0 };
        self.caches[cache].counters.writebacks += 1;
        for (first, end) in self.caches[cache].dirty_bytes(line) {
            self.caches[cache].counters.bytes_out += u64::try_from(end - first).unwrap();
            self.ask(Some(cache), to, ask, first, end);
        }
    }

    fn prefetch(&mut self, cache: usize, ask: Ask, number: u128, addr: u128, trigger: Trigger) {
        let bytes = self.caches[cache].line;
        for wanted in self.prefetchers[cache].wants(number, addr, ask.pc, bytes, trigger) {
            if self.caches[cache].find(wanted).is_some() {
                continue;
            }
            let c = &mut self.caches[cache];
            let mut line = Line::new(wanted, c.sectors);
            line.valid.fill(true);
            line.prefetched = true;
            let victim = c.insert(line);
            c.counters.prefetch_fills += 1;
            if let Some(victim) = victim.as_ref().filter(|victim| !victim.prefetched) {
                c.driven_out.insert(victim.number);
            }
            self.regain(cache, wanted);
            let victim = victim.map(|victim| self.merge_inside(cache, victim));
            if self.config.order.writeback_first {
                self.depart(cache, victim.as_ref(), ask.core);
            }
            let request = Ask { kind: AccessKind::Prefetch, ..ask };
            let answer = self.bring(cache, request, wanted * bytes, (wanted + 1) * bytes);
            let ready = self.clock + answer.latency;
            if let Some(line) = self.caches[cache].find(wanted) {
                line.ready = ready;
                line.dirty[0] |= answer.dirty;
            }
            if !self.config.order.writeback_first {
                self.depart(cache, victim.as_ref(), ask.core);
            }
        }
    }

    /// Every dirty line is written back and stays: from the inside out, set by set, the next victim first.
    pub(crate) fn flush(&mut self) {
        for cache in 0..self.caches.len() {
            for set in 0..self.caches[cache].sets.len() {
                while let Some(number) = self.oldest_dirty(cache, set) {
                    let held = self.caches[cache].find(number).unwrap();
                    let line = held.clone();
                    held.dirty.fill(false);
                    // A line that stays is no victim: an exclusive level that does not hold it has no use for it.
                    let way: Vec<usize> = self.beyond(cache).collect();
                    let to = way.into_iter().find(|&n| {
                        self.level(n).inclusion != Inclusion::Exclusive || self.caches[n].find(number).is_some()
                    });
                    let core = self.caches[cache].core.unwrap_or(0);
                    self.hand_over(cache, &line, to, core);
                }
            }
        }
    }

    fn oldest_dirty(&self, cache: usize, set: usize) -> Option<u128> {
        let cache = &self.caches[cache];
        let order = cache.order(set).into_iter().rev();
        let mut lines = order.filter_map(|way| cache.sets[set].ways[way].as_ref());
        lines.find(|line| line.is_dirty()).map(|line| line.number)
    }
}

/// `first..end` cut at multiples of `line`.
pub(crate) fn pieces(first: u128, end: u128, line: u128) -> Vec<(u128, u128)> {
    let (mut at, mut all) = (first, Vec::new());
    while at < end {
        let next = ((at / line + 1) * line).min(end);
        all.push((at, next));
        at = next;
    }
    all
}

pub(crate) fn count(counters: &mut orrery::sim::LevelCounters, kind: AccessKind, missed: bool) {
    let (accesses, misses) = match kind {
        AccessKind::Read => (&mut counters.read_accesses, &mut counters.read_misses),
        AccessKind::Write | AccessKind::Writeback => (&mut counters.write_accesses, &mut counters.write_misses),
        AccessKind::Fetch => (&mut counters.fetch_accesses, &mut counters.fetch_misses),
        AccessKind::Prefetch => (&mut counters.prefetch_accesses, &mut counters.prefetch_misses),
    };
    *accesses += 1;
    *misses += u64::from(missed);
    if kind == AccessKind::Writeback {
        counters.writeback_accesses += 1;
        counters.writeback_misses += u64::from(missed);
    }
}
