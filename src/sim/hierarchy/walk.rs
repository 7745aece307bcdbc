//! What one request causes, from the CPU outward.

use super::super::cache::Evicted;
use super::super::config::Prefetch;
use super::super::plan::{FETCH, Spot, cache_id};
use super::super::policy::{Note, Outcome};
use super::super::prefetch::{Candidates, Trigger};
use super::super::request::Request;
use super::super::{AccessKind, Cause, Event, Observer, Origin, RequestId};
use super::Hierarchy;
use super::sectors::mask;
use crate::units::{Addr, LineAddr, SetIndex};

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
            let origin = self.number(request.origin.parent);
            return self.access_memory(Request { origin, ..request }, observer);
        };
        let geometry = self.caches[cache].geometry();
        let (mut line, end) = (geometry.line_of(Addr(request.first)), geometry.line_of(Addr(request.last)));
        let mut answer = Answer::default();
        loop {
            let origin = self.number(request.origin.parent);
            answer = answer.and(self.access_line(cache, line, Request { origin, ..request }, observer));
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
            let origin = self.number(request.origin.parent);
            if let (set, Outcome::Miss(word)) = self.touch_plain(cache, line, (request.kind, origin), observer) {
                self.miss_plain(cache, (line, set, word), Request { origin, ..request }, observer);
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
        (kind, origin): (AccessKind, Origin),
        observer: &mut O,
    ) -> (SetIndex, Outcome) {
        let level = self.plan.spots[cache].info.level;
        let c = &mut self.caches[cache];
        let set = c.geometry().set_of(line);
        c.counters.count_access(kind);
        let outcome = c.access_plain(line, set, kind.is_write());
        let hit = outcome == Outcome::Hit;
        observer.event(Event::Access { origin, level, cache: cache_id(cache), line, set, kind, hit });
        (set, outcome)
    }

    /// A number for the next request; it was made by `parent`.
    #[inline(always)]
    pub(super) fn number(&mut self, parent: Option<RequestId>) -> Origin {
        let request = self.next_request;
        self.next_request = request.next();
        Origin { request, parent }
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
        match self.touch_plain(cache, line, (request.kind, request.origin), observer) {
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
        let (kind, origin) = (request.kind, request.origin);
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
            observer.event(Event::Evict { origin, level, cache: id, line, set, dirty });
        }
        observer.event(Event::Fill { origin, level, cache: id, line, set, dirty: kind.is_write(), prefetch: false });
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
            let writeback = Request::writeback(first, first + (bytes - 1), request.core, origin);
            self.request(next_of_victim, writeback, observer);
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
        let (level, kind, origin) = (spot.info.level, request.kind, request.origin);
        let c = &mut self.caches[cache];
        c.counters.count_access(kind);
        if spot.opt {
            c.tick();
        }
        let geometry = c.geometry();
        let set = geometry.set_of(line);
        let piece = request.within(geometry.base_of(line).0, geometry.last_of(line).0);
        let touched = self.sectors(cache, piece.first, piece.last);
        let wanted = self.wanted_sectors(cache, piece, touched);
        let id = cache_id(cache);
        let Some(way) = self.caches[cache].find(line, set) else {
            observer.event(Event::Access { origin, level, cache: id, line, set, kind, hit: false });
            let answer = self.miss_general(cache, (line, set), (touched, wanted), piece, observer);
            self.after_access(cache, line, piece, Trigger::Miss, observer);
            return answer;
        };
        if spot.gives[side_of(&spot, piece)] && !kind.is_write() {
            observer.event(Event::Access { origin, level, cache: id, line, set, kind, hit: true });
            let dirty = self.caches[cache].is_dirty(set, way);
            self.drop_line(cache, set, way, (Cause::Promotion, origin), observer);
            return Answer { dirty, latency: spot.latency };
        }
        let way = self.caches[cache].touch(set, way);
        let (note, missing) = (self.caches[cache].note(set, way), wanted);
        let missing = if spot.sectors > 1 { missing & !note.valid } else { 0 };
        let hit = missing == 0;
        observer.event(Event::Access { origin, level, cache: id, line, set, kind, hit });
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
            return self.ask_next(cache, (piece.first, piece.last), piece, observer);
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
        let origin = request.origin;
        let counters = &mut self.caches[cache].counters;
        counters.fills += 1;
        if let Some(victim) = &mut victim {
            counters.evictions += 1;
            if spot.inclusive {
                self.remove_inside(cache, victim, origin, observer);
            }
            let Evicted { line, dirty, .. } = *victim;
            observer.event(Event::Evict { origin, level, cache: id, line, set, dirty });
            self.left(cache, line);
        }
        observer.event(Event::Fill { origin, level, cache: id, line, set, dirty, prefetch });
        self.came(cache, line);
        if !self.prefetchers.is_empty()
            && let Some(prefetcher) = self.prefetchers.get_mut(cache)
        {
            // An unused prefetch that drives out another harms nobody.
            prefetcher.filled(line, victim.filter(|v| prefetch && !v.note.prefetched).map(|v| v.line));
        }
        let first = self.plan.config.order.writeback_first;
        if let Some(victim) = victim.filter(|_| first) {
            self.send_victim(cache, victim, (request.core, origin), observer);
        }
        let mut answer = Answer { dirty: false, latency: spot.latency };
        if wanted != 0 {
            answer = self.fetch(cache, (line, set), wanted, request, observer);
        }
        if let Some(store) = store {
            self.send_store(cache, store, observer);
        }
        if let Some(victim) = victim.filter(|_| !first) {
            self.send_victim(cache, victim, (request.core, origin), observer);
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
        let mut answer = Answer::default();
        for (first, last) in self.runs(cache, line, sectors) {
            self.caches[cache].counters.bytes_in += last - first + 1;
            answer = answer.and(self.ask_next(cache, (first, last), request, observer));
        }
        if answer.dirty
            && let Some(way) = self.caches[cache].find(line, set)
        {
            // A line out of an exclusive level brings its dirt along.
            self.caches[cache].set_dirty(set, way, true);
        }
        Answer { dirty: false, ..answer }
    }

    /// Asks the cache behind one for bytes from `first` to `last` that a request needs.
    fn ask_next<O: Observer>(
        &mut self,
        cache: usize,
        (first, last): (u64, u64),
        piece: Request,
        observer: &mut O,
    ) -> Answer {
        let request = piece.of(first, last, piece.kind.request());
        let spot = &self.plan.spots[cache];
        let next = spot.next[side_of(spot, request)];
        let asking = piece.origin;
        if spot.private && !next.is_some_and(|next| self.plan.spots[next].private) {
            self.before_leaving(request, asking, observer);
        }
        self.request(next, request, observer)
    }

    /// Sends the bytes of a store, or of a write-back that a write-through cache passes on, to the next level.
    fn send_store<O: Observer>(&mut self, cache: usize, store: Request, observer: &mut O) -> Answer {
        self.caches[cache].counters.bytes_out += store.last - store.first + 1;
        self.request(self.plan.outward(cache), store.of(store.first, store.last, store.kind), observer)
    }

    /// Where a victim goes: dirty ones to the next level, clean ones too where that is exclusive.
    fn send_victim<O: Observer>(
        &mut self,
        cache: usize,
        victim: Evicted,
        (core, cause): (u16, Origin),
        observer: &mut O,
    ) {
        let spot = &self.plan.spots[cache];
        let next = spot.next[spot.side];
        if victim.dirty {
            return self.send_dirty(cache, (victim.line, victim.note.dirty), next, (core, cause), observer);
        }
        if spot.feeds_exclusive
            && let Some(next) = next
        {
            self.caches[cache].counters.bytes_out += u64::from(self.caches[cache].geometry().line_bytes);
            self.enter(next, victim.line, (core, cause), observer);
        }
    }

    /// Counts a write-back and hands the line, or its dirty sectors, to `to`, for a core and because of a request.
    pub(super) fn send_dirty<O: Observer>(
        &mut self,
        cache: usize,
        (line, sectors): (LineAddr, u32),
        to: Option<usize>,
        (core, cause): (u16, Origin),
        observer: &mut O,
    ) {
        self.caches[cache].counters.writebacks += 1;
        let sectors = if self.plan.spots[cache].sectors > 1 { sectors } else { 1 };
        for (first, last) in self.runs(cache, line, sectors) {
            self.caches[cache].counters.bytes_out += last - first + 1;
            self.request(to, Request::writeback(first, last, core, cause), observer);
        }
    }

    /// A clean victim enters an exclusive cache.
    fn enter<O: Observer>(&mut self, cache: usize, line: LineAddr, (core, cause): (u16, Origin), observer: &mut O) {
        let origin = self.number(Some(cause.request));
        let set = self.caches[cache].geometry().set_of(line);
        if let Some(way) = self.caches[cache].find(line, set) {
            self.caches[cache].touch(set, way);
            let level = self.plan.spots[cache].info.level;
            observer.event(Event::Renew { origin, level, cache: cache_id(cache), line, set });
            return;
        }
        let note = Note { valid: 1, ..Note::default() };
        let (_, victim) = self.caches[cache].insert(line, set, false, note);
        let request = Request { origin, ..Request::writeback(0, 0, core, cause) };
        let filled = Filled { line, set, victim, wanted: 0, dirty: false, prefetch: false, store: None };
        self.fill(cache, filled, request, observer);
    }

    /// Removes what inner caches hold of an inclusive cache's victim; their dirt becomes the victim's.
    fn remove_inside<O: Observer>(&mut self, cache: usize, victim: &mut Evicted, cause: Origin, observer: &mut O) {
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
                        victim.note.dirty |= self.sectors(cache, first, last);
                    }
                }
                self.drop_line(inner, set, way, (Cause::Inclusion, cause), observer);
            }
        }
    }

    /// Removes a line and says why, and because of which request.
    pub(super) fn drop_line<O: Observer>(
        &mut self,
        cache: usize,
        set: SetIndex,
        way: usize,
        (cause, origin): (Cause, Origin),
        observer: &mut O,
    ) {
        let Some(Evicted { line, dirty, .. }) = self.caches[cache].remove(set, way) else { return };
        self.caches[cache].counters.invalidations += 1;
        let level = self.plan.spots[cache].info.level;
        observer.event(Event::Invalidate { origin, level, cache: cache_id(cache), line, set, dirty, cause });
        self.left(cache, line);
    }

    pub(super) fn access_memory<O: Observer>(&mut self, request: Request, observer: &mut O) -> Answer {
        let (addr, bytes, origin) = (Addr(request.first), request.last - request.first + 1, request.origin);
        if request.kind.is_write() {
            self.memory.writes += 1;
            self.memory.bytes_written += bytes;
            observer.event(Event::MemoryWrite { origin, addr, bytes });
        } else {
            self.memory.reads += 1;
            self.memory.bytes_read += bytes;
            observer.event(Event::MemoryRead { origin, addr, bytes });
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
        let origin = self.number(Some(piece.origin.request));
        let request = Request { kind: AccessKind::Prefetch, fetch, origin, ..piece };
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
