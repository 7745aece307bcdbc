//! What one request causes, from the CPU outward.

use super::super::cache::Evicted;
use super::super::config::Prefetch;
use super::super::plan::{FETCH, Spot, cache_id};
use super::super::policy::{Note, Outcome};
use super::super::prefetch::{Candidates, Trigger};
use super::super::{AccessKind, Cause, Event, Observer};
use super::Hierarchy;
use crate::units::{Addr, LineAddr, SetIndex};

/// Bytes that somebody asks a cache or memory for.
#[derive(Clone, Copy, Debug)]
pub(in crate::sim) struct Request {
    /// First byte.
    pub(in crate::sim) first: u64,
    /// Last byte, inclusive.
    pub(in crate::sim) last: u64,
    pub(in crate::sim) kind: AccessKind,
    /// For whom.
    pub(in crate::sim) core: u16,
    /// Of the instruction behind it, 0 = unknown.
    pub(in crate::sim) pc: u64,
    /// For a prefetch: that a fetch set it off, so that it stays among instructions.
    pub(in crate::sim) fetch: bool,
}

impl Request {
    /// Dirty bytes leave a cache of a core.
    pub(super) fn writeback(first: u64, last: u64, core: u16) -> Self {
        Self { first, last, kind: AccessKind::Writeback, core, pc: 0, fetch: false }
    }

    /// Of the same origin, for other bytes.
    fn of(self, first: u64, last: u64, kind: AccessKind) -> Self {
        Self { first, last, kind, ..self }
    }

    /// The piece in one line.
    fn within(self, base: u64, last: u64) -> Self {
        Self { first: self.first.max(base), last: self.last.min(last), ..self }
    }
}

/// What comes back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answer {
    /// The line moved inward, out of an exclusive level, and is dirty.
    dirty: bool,
    /// Cycles until the one who has it answers.
    latency: u32,
}

impl Answer {
    fn and(self, other: Self) -> Self {
        Self { dirty: self.dirty | other.dirty, latency: self.latency.max(other.latency) }
    }
}

/// A line that has just been put into a cache.
struct Filled {
    line: LineAddr,
    set: SetIndex,
    /// What had to go for it.
    victim: Option<Evicted>,
    /// Sectors to fetch.
    wanted: u32,
    /// Dirty from the start.
    dirty: bool,
    /// The cache's own prefetcher asked for it.
    prefetch: bool,
    /// Bytes to send on once it is there: a store at a write-through cache.
    store: Option<Request>,
}

impl Hierarchy {
    /// Cuts a request at the line boundaries of `cache` and does each piece; `None` is memory.
    #[inline]
    pub(super) fn request<O: Observer>(&mut self, cache: Option<usize>, request: Request, observer: &mut O) -> Answer {
        let Some(cache) = cache else {
            return self.access_memory(request, observer);
        };
        let geometry = self.caches[cache].geometry();
        let (mut line, end) = (geometry.line_of(Addr(request.first)), geometry.line_of(Addr(request.last)));
        let mut answer = Answer::default();
        loop {
            answer = answer.and(self.access_line(cache, line, request, observer));
            if line == end {
                return answer;
            }
            line.0 += 1;
        }
    }

    /// As [`Hierarchy::request`] at a plain cache. The request is put together in memory only for what misses.
    #[inline(always)]
    pub(super) fn request_plain<O: Observer>(&mut self, cache: usize, request: Request, observer: &mut O) {
        let geometry = self.caches[cache].geometry();
        let (mut line, end) = (geometry.line_of(Addr(request.first)), geometry.line_of(Addr(request.last)));
        loop {
            if let (set, Outcome::Miss(word)) = self.touch_plain(cache, line, request.kind, observer) {
                self.miss_plain(cache, (line, set, word), request, observer);
            }
            if line == end {
                return;
            }
            line.0 += 1;
        }
    }

    /// One access of a plain cache, without what a miss causes.
    #[inline(always)]
    fn touch_plain<O: Observer>(
        &mut self,
        cache: usize,
        line: LineAddr,
        kind: AccessKind,
        observer: &mut O,
    ) -> (SetIndex, Outcome) {
        let level = self.plan.spots[cache].info.level;
        let c = &mut self.caches[cache];
        let set = c.geometry().set_of(line);
        c.counters.count_access(kind);
        let outcome = c.access_plain(line, set, kind.is_write());
        let hit = outcome == Outcome::Hit;
        observer.event(Event::Access { level, cache: cache_id(cache), line, set, kind, hit });
        (set, outcome)
    }

    /// One access: the piece of a request that lies in `line`.
    #[inline]
    pub(super) fn access_line<O: Observer>(
        &mut self,
        cache: usize,
        line: LineAddr,
        request: Request,
        observer: &mut O,
    ) -> Answer {
        let spot = &self.plan.spots[cache];
        if !spot.plain {
            return self.access_general(cache, line, request, observer);
        }
        let latency = spot.latency;
        match self.touch_plain(cache, line, request.kind, observer) {
            (_, Outcome::Hit) => Answer { dirty: false, latency },
            (set, Outcome::Miss(word)) => self.miss_plain(cache, (line, set, word), request, observer),
        }
    }

    /// What a miss at a plain cache causes once the line has taken its victim's place.
    #[inline(never)]
    pub(super) fn miss_plain<O: Observer>(
        &mut self,
        cache: usize,
        (line, set, word): (LineAddr, SetIndex, u64),
        request: Request,
        observer: &mut O,
    ) -> Answer {
        let c = &mut self.caches[cache];
        c.counters.count_miss(request.kind);
        let note = Note::default();
        let victim = c.decode(word, set).map(|old| Evicted { line: old.line, dirty: old.dirty, note });
        let geometry = c.geometry();
        let kind = request.kind;
        let covered = kind.is_write()
            && request.first <= geometry.base_of(line).0
            && geometry.last_of(line).0 <= request.last
            && !(kind == AccessKind::Write && self.plan.config.order.fetch_on_full_line_write);
        if !self.plan.spots[cache].simple {
            let wanted = u32::from(!covered);
            let filled = Filled { line, set, victim, wanted, dirty: kind.is_write(), prefetch: false, store: None };
            return self.fill(cache, filled, request, observer);
        }
        // The same, without what cannot be: most misses of most hierarchies come this way.
        let (first, last) = (geometry.base_of(line).0, geometry.last_of(line).0);
        let spot = &self.plan.spots[cache];
        let (level, id, latency) = (spot.info.level, cache_id(cache), spot.latency);
        let (next, next_of_victim) = (spot.next[side_of(spot, request)], spot.next[spot.side]);
        let bytes = last - first + 1;
        c.counters.fills += 1;
        c.counters.evictions += u64::from(victim.is_some());
        if let Some(Evicted { line, dirty, .. }) = victim {
            observer.event(Event::Evict { level, cache: id, line, set, dirty });
        }
        observer.event(Event::Fill { level, cache: id, line, set, dirty: kind.is_write(), prefetch: false });
        let mut answer = Answer { dirty: false, latency };
        if !covered {
            c.counters.bytes_in += bytes;
            answer = self.request(next, request.of(first, last, kind.request()), observer);
        }
        if let Some(Evicted { line, dirty: true, .. }) = victim {
            let c = &mut self.caches[cache];
            c.counters.writebacks += 1;
            c.counters.bytes_out += bytes;
            let first = c.geometry().base_of(line).0;
            self.request(next_of_victim, Request::writeback(first, first + (bytes - 1), request.core), observer);
        }
        answer
    }

    /// One access of a cache of any kind.
    #[inline(never)]
    fn access_general<O: Observer>(
        &mut self,
        cache: usize,
        line: LineAddr,
        request: Request,
        observer: &mut O,
    ) -> Answer {
        let spot = self.plan.spots[cache];
        let (level, kind) = (spot.info.level, request.kind);
        let c = &mut self.caches[cache];
        c.counters.count_access(kind);
        if spot.opt {
            c.tick();
        }
        let geometry = c.geometry();
        let set = geometry.set_of(line);
        let piece = request.within(geometry.base_of(line).0, geometry.last_of(line).0);
        let touched = self.sectors(cache, piece);
        let wanted = self.wanted_sectors(cache, piece, touched);
        let id = cache_id(cache);
        let Some(way) = self.caches[cache].find(line, set) else {
            observer.event(Event::Access { level, cache: id, line, set, kind, hit: false });
            let answer = self.miss_general(cache, (line, set), (touched, wanted), piece, observer);
            self.after_access(cache, line, piece, Trigger::Miss, observer);
            return answer;
        };
        if spot.gives[side_of(&spot, piece)] && !kind.is_write() {
            observer.event(Event::Access { level, cache: id, line, set, kind, hit: true });
            let dirty = self.caches[cache].is_dirty(set, way);
            self.drop_line(cache, set, way, Cause::Promotion, observer);
            return Answer { dirty, latency: spot.latency };
        }
        let way = self.caches[cache].touch(set, way);
        let (note, missing) = (self.caches[cache].note(set, way), wanted);
        let missing = if spot.sectors > 1 { missing & !note.valid } else { 0 };
        let hit = missing == 0;
        observer.event(Event::Access { level, cache: id, line, set, kind, hit });
        let through = spot.through && kind.is_write();
        let no_sector = spot.no_allocate && kind == AccessKind::Write && !hit;
        let mut answer = Answer { dirty: false, latency: spot.latency };
        if !hit {
            self.caches[cache].counters.count_miss(kind);
        }
        let mut trigger = if hit { Trigger::Hit } else { Trigger::Miss };
        if note.prefetched && kind.is_demand() {
            trigger = Trigger::FirstUse;
            let late = note.ready > self.clock;
            let c = &mut self.caches[cache];
            c.counters.prefetch_used += 1;
            c.counters.prefetch_late += u64::from(late);
        }
        let is_dirty = kind.is_write() && !through && !no_sector;
        if let Some(note) = self.caches[cache].note_mut(set, way) {
            note.prefetched &= !kind.is_demand();
            if !no_sector {
                note.valid |= touched;
                note.dirty |= if is_dirty { touched } else { 0 };
            }
        }
        if is_dirty {
            self.caches[cache].set_dirty(set, way, true);
        }
        if missing != 0 && !no_sector {
            answer = self.fetch(cache, (line, set), missing, piece, observer);
        }
        if through || no_sector {
            self.send_store(cache, piece, observer);
        }
        self.after_access(cache, line, piece, trigger, observer);
        answer
    }

    /// What the absence of a line causes.
    fn miss_general<O: Observer>(
        &mut self,
        cache: usize,
        (line, set): (LineAddr, SetIndex),
        (touched, wanted): (u32, u32),
        piece: Request,
        observer: &mut O,
    ) -> Answer {
        let spot = self.plan.spots[cache];
        let kind = piece.kind;
        self.caches[cache].counters.count_miss(kind);
        if kind.is_demand()
            && let Some(prefetcher) = self.prefetchers.get_mut(cache)
            && prefetcher.missed(line)
        {
            self.caches[cache].counters.prefetch_pollution += 1;
        }
        if spot.exclusive && !kind.is_write() {
            return self.ask_next(cache, piece, observer);
        }
        if kind == AccessKind::Write && (spot.no_allocate || spot.exclusive) {
            return self.send_store(cache, piece, observer);
        }
        let through = spot.through && kind.is_write();
        let dirty = kind.is_write() && !through;
        let note = Note { valid: touched, dirty: if dirty { touched } else { 0 }, ..Note::default() };
        let (_, victim) = self.caches[cache].insert(line, set, dirty, note);
        let store = through.then_some(piece);
        self.fill(cache, Filled { line, set, victim, wanted, dirty, prefetch: false, store }, piece, observer)
    }

    /// The rest of a miss: says who left and who came, then fetches, sends a store on, writes the victim back.
    fn fill<O: Observer>(&mut self, cache: usize, filled: Filled, request: Request, observer: &mut O) -> Answer {
        let spot = self.plan.spots[cache];
        let (level, id) = (spot.info.level, cache_id(cache));
        let Filled { line, set, mut victim, wanted, dirty, prefetch, store } = filled;
        let counters = &mut self.caches[cache].counters;
        counters.fills += 1;
        if let Some(victim) = &mut victim {
            counters.evictions += 1;
            if spot.inclusive {
                self.remove_inside(cache, victim, observer);
            }
            let Evicted { line, dirty, .. } = *victim;
            observer.event(Event::Evict { level, cache: id, line, set, dirty });
            self.left(cache, line);
        }
        observer.event(Event::Fill { level, cache: id, line, set, dirty, prefetch });
        self.came(cache, line);
        if !self.prefetchers.is_empty()
            && let Some(prefetcher) = self.prefetchers.get_mut(cache)
        {
            // An unused prefetch that drives out another harms nobody.
            prefetcher.filled(line, victim.filter(|v| prefetch && !v.note.prefetched).map(|v| v.line));
        }
        let first = self.plan.config.order.writeback_first;
        if let Some(victim) = victim.filter(|_| first) {
            self.send_victim(cache, victim, request.core, observer);
        }
        let mut answer = Answer { dirty: false, latency: spot.latency };
        if wanted != 0 {
            answer = self.fetch(cache, (line, set), wanted, request, observer);
        }
        if let Some(store) = store {
            self.send_store(cache, store, observer);
        }
        if let Some(victim) = victim.filter(|_| !first) {
            self.send_victim(cache, victim, request.core, observer);
        }
        answer
    }

    /// Asks the next level for sectors of a line that is in the cache already.
    fn fetch<O: Observer>(
        &mut self,
        cache: usize,
        (line, set): (LineAddr, SetIndex),
        sectors: u32,
        request: Request,
        observer: &mut O,
    ) -> Answer {
        let kind = request.kind.request();
        let mut answer = Answer::default();
        for (first, last) in self.runs(cache, line, sectors) {
            self.caches[cache].counters.bytes_in += last - first + 1;
            answer = answer.and(self.ask_next(cache, request.of(first, last, kind), observer));
        }
        if answer.dirty
            && let Some(way) = self.caches[cache].find(line, set)
        {
            // A line out of an exclusive level brings its dirt along.
            self.caches[cache].set_dirty(set, way, true);
        }
        Answer { dirty: false, ..answer }
    }

    /// A request that leaves a cache outward.
    fn ask_next<O: Observer>(&mut self, cache: usize, request: Request, observer: &mut O) -> Answer {
        let spot = &self.plan.spots[cache];
        let next = spot.next[side_of(spot, request)];
        if spot.private && !next.is_some_and(|next| self.plan.spots[next].private) {
            self.before_leaving(request, observer);
        }
        self.request(next, request, observer)
    }

    /// Sends the bytes of a store, or of a write-back that a write-through cache passes on, to the next level.
    fn send_store<O: Observer>(&mut self, cache: usize, store: Request, observer: &mut O) -> Answer {
        self.caches[cache].counters.bytes_out += store.last - store.first + 1;
        self.request(self.plan.outward(cache), store, observer)
    }

    /// Where a victim goes: dirty ones to the next level, clean ones too where that is exclusive.
    fn send_victim<O: Observer>(&mut self, cache: usize, victim: Evicted, core: u16, observer: &mut O) {
        let spot = &self.plan.spots[cache];
        let next = spot.next[spot.side];
        if victim.dirty {
            return self.send_dirty(cache, victim.line, victim.note.dirty, next, core, observer);
        }
        if spot.feeds_exclusive
            && let Some(next) = next
        {
            self.caches[cache].counters.bytes_out += u64::from(self.caches[cache].geometry().line_bytes);
            self.enter(next, victim.line, core, observer);
        }
    }

    /// Counts a write-back and hands the line, or its dirty sectors, to `to`.
    pub(super) fn send_dirty<O: Observer>(
        &mut self,
        cache: usize,
        line: LineAddr,
        sectors: u32,
        to: Option<usize>,
        core: u16,
        observer: &mut O,
    ) {
        self.caches[cache].counters.writebacks += 1;
        let sectors = if self.plan.spots[cache].sectors > 1 { sectors } else { 1 };
        for (first, last) in self.runs(cache, line, sectors) {
            self.caches[cache].counters.bytes_out += last - first + 1;
            self.request(to, Request::writeback(first, last, core), observer);
        }
    }

    /// A clean victim enters an exclusive cache.
    fn enter<O: Observer>(&mut self, cache: usize, line: LineAddr, core: u16, observer: &mut O) {
        let set = self.caches[cache].geometry().set_of(line);
        if let Some(way) = self.caches[cache].find(line, set) {
            self.caches[cache].touch(set, way);
            let level = self.plan.spots[cache].info.level;
            observer.event(Event::Renew { level, cache: cache_id(cache), line, set });
            return;
        }
        let note = Note { valid: 1, ..Note::default() };
        let (_, victim) = self.caches[cache].insert(line, set, false, note);
        let request = Request::writeback(0, 0, core);
        let filled = Filled { line, set, victim, wanted: 0, dirty: false, prefetch: false, store: None };
        self.fill(cache, filled, request, observer);
    }

    /// Removes what inner caches hold of an inclusive cache's victim; their dirt becomes the victim's.
    fn remove_inside<O: Observer>(&mut self, cache: usize, victim: &mut Evicted, observer: &mut O) {
        let geometry = self.caches[cache].geometry();
        let (first, last) = (geometry.base_of(victim.line), geometry.last_of(victim.line));
        for at in 0..self.plan.inner[cache].len() {
            let inner = self.plan.inner[cache][at];
            let geometry = self.caches[inner].geometry();
            for line in (geometry.line_of(first).0..=geometry.line_of(last).0).map(LineAddr) {
                let geometry = self.caches[inner].geometry();
                let set = geometry.set_of(line);
                let Some(way) = self.caches[inner].find(line, set) else { continue };
                if self.caches[inner].is_dirty(set, way) {
                    victim.dirty = true;
                    let sectored = self.plan.spots[inner].sectors > 1;
                    let dirty = if sectored { self.caches[inner].note(set, way).dirty } else { 1 };
                    for (first, last) in self.runs(inner, line, dirty) {
                        victim.note.dirty |= self.sectors(cache, Request::writeback(first, last, 0));
                    }
                }
                self.drop_line(inner, set, way, Cause::Inclusion, observer);
            }
        }
    }

    /// Removes a line and says why.
    pub(super) fn drop_line<O: Observer>(
        &mut self,
        cache: usize,
        set: SetIndex,
        way: usize,
        cause: Cause,
        observer: &mut O,
    ) {
        let Some(Evicted { line, dirty, .. }) = self.caches[cache].remove(set, way) else { return };
        self.caches[cache].counters.invalidations += 1;
        let level = self.plan.spots[cache].info.level;
        observer.event(Event::Invalidate { level, cache: cache_id(cache), line, set, dirty, cause });
        self.left(cache, line);
    }

    /// The sectors that a piece of a line touches, a bit each.
    pub(super) fn sectors(&self, cache: usize, piece: Request) -> u32 {
        let count = self.plan.spots[cache].sectors;
        if count == 1 {
            return 1;
        }
        let line_bytes = u64::from(self.caches[cache].geometry().line_bytes);
        let sector = line_bytes / u64::from(count);
        let number = |addr: u64| (addr & (line_bytes - 1)) / sector;
        let (first, last) = (number(piece.first), number(piece.last));
        mask(first, last)
    }

    /// Of those, the ones that have to be there for it: all but what a store covers.
    fn wanted_sectors(&self, cache: usize, piece: Request, touched: u32) -> u32 {
        let keeps = piece.kind == AccessKind::Write && self.plan.config.order.fetch_on_full_line_write;
        if !piece.kind.is_write() || keeps {
            return touched;
        }
        let line_bytes = u64::from(self.caches[cache].geometry().line_bytes);
        let sector = line_bytes / u64::from(self.plan.spots[cache].sectors);
        let (first, last) = (piece.first & (line_bytes - 1), piece.last & (line_bytes - 1));
        let whole = |n: &u32| {
            let (start, end) = (u64::from(*n) * sector, u64::from(*n) * sector + (sector - 1));
            first <= start && end <= last
        };
        (0..32u32).filter(|n| touched >> n & 1 == 1 && !whole(n)).fold(0, |mask, n| mask | 1 << n)
    }

    /// The bytes of each run of neighbouring sectors.
    pub(super) fn runs(&self, cache: usize, line: LineAddr, sectors: u32) -> impl Iterator<Item = (u64, u64)> + use<> {
        let geometry = self.caches[cache].geometry();
        let (base, last) = (geometry.base_of(line).0, geometry.last_of(line).0);
        let count = self.plan.spots[cache].sectors;
        let sector = u64::from(geometry.line_bytes / count);
        let mut rest = sectors;
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            if count == 1 {
                rest = 0;
                return Some((base, last));
            }
            let start = rest.trailing_zeros();
            let length = (rest >> start).trailing_ones();
            rest &= !mask(u64::from(start), u64::from(start + length - 1));
            let first = base + u64::from(start) * sector;
            Some((first, first + (u64::from(length) * sector - 1)))
        })
    }

    fn access_memory<O: Observer>(&mut self, request: Request, observer: &mut O) -> Answer {
        let (addr, bytes) = (Addr(request.first), request.last - request.first + 1);
        if request.kind.is_write() {
            self.memory.writes += 1;
            self.memory.bytes_written += bytes;
            observer.event(Event::MemoryWrite { addr, bytes });
        } else {
            self.memory.reads += 1;
            self.memory.bytes_read += bytes;
            observer.event(Event::MemoryRead { addr, bytes });
        }
        Answer { dirty: false, latency: self.plan.config.memory.latency }
    }

    /// Lets the cache's prefetcher see a demand access, and plays what it asks for.
    fn after_access<O: Observer>(
        &mut self,
        cache: usize,
        line: LineAddr,
        piece: Request,
        trigger: Trigger,
        observer: &mut O,
    ) {
        let spot: Spot = self.plan.spots[cache];
        if spot.prefetch == Prefetch::None || !piece.kind.is_demand() {
            return;
        }
        let shift = self.caches[cache].geometry().line_bytes.trailing_zeros();
        let Some(prefetcher) = self.prefetchers.get_mut(cache) else { return };
        let candidates: Candidates = prefetcher.observe(line, Addr(piece.first), piece.pc, shift, trigger);
        for line in candidates.iter() {
            self.prefetch(cache, line, piece, observer);
        }
    }

    /// Brings a line in because a prefetcher asks for it.
    fn prefetch<O: Observer>(&mut self, cache: usize, line: LineAddr, piece: Request, observer: &mut O) {
        let spot = self.plan.spots[cache];
        let c = &mut self.caches[cache];
        let set = c.geometry().set_of(line);
        if c.find(line, set).is_some() {
            return;
        }
        let all = mask(0, u64::from(spot.sectors) - 1);
        let note = Note { valid: all, dirty: 0, prefetched: true, ready: 0 };
        let (_, victim) = c.insert(line, set, false, note);
        c.counters.prefetch_fills += 1;
        let fetch = piece.kind == AccessKind::Fetch;
        let request = Request { kind: AccessKind::Prefetch, fetch, ..piece };
        let filled = Filled { line, set, victim, wanted: all, dirty: false, prefetch: true, store: None };
        let answer = self.fill(cache, filled, request, observer);
        let ready = self.clock + u64::from(answer.latency);
        let c = &mut self.caches[cache];
        if let Some(way) = c.find(line, set)
            && let Some(note) = c.note_mut(set, way)
        {
            note.ready = ready;
        }
    }
}

/// The side on which a request travels on from a cache.
fn side_of(spot: &Spot, request: Request) -> usize {
    match request.kind {
        AccessKind::Fetch => FETCH,
        AccessKind::Prefetch if request.fetch => FETCH,
        _ => spot.side,
    }
}

/// Bits `first..=last` of at most 32.
fn mask(first: u64, last: u64) -> u32 {
    let all = u32::MAX >> (31 - (last - first).min(31));
    all << first.min(31)
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn masks_are_runs_of_ones() {
        assert_eq!([mask(0, 0), mask(0, 31), mask(31, 31), mask(2, 4)], [1, u32::MAX, 1 << 31, 0b11100]);
    }
}
