//! All that the simulator tells the world.

use super::fast::scan::ASK_BITS;
use crate::reference::Reference;
use crate::units::{Addr, CacheId, LevelId, LineAddr, SetIndex};

/// What an access asks of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// Data is wanted: a load, or the request of an inner level for a line it misses.
    Read,
    /// A store of the program, also one that a level inside sends on.
    Write,
    /// Instructions are wanted.
    Fetch,
    /// An inner level hands a dirty line back.
    Writeback,
    /// The prefetcher of an inner level wants a line.
    Prefetch,
}

impl AccessKind {
    /// Whether the program waits for the answer: all but write-backs and prefetches.
    #[must_use]
    pub fn is_demand(self) -> bool {
        !matches!(self, Self::Writeback | Self::Prefetch)
    }

    /// Whether the access leaves its line dirty.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::Writeback)
    }

    /// The kind of the request that a miss of this kind sends to the next level: stores and write-backs read the line.
    #[must_use]
    pub fn request(self) -> Self {
        if self.is_write() { Self::Read } else { self }
    }
}

/// Why a line left a cache that did not need its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// An inclusive level outside evicted it: back-invalidation.
    Inclusion,
    /// Another core wrote it.
    Coherence,
    /// It moved inward, out of an exclusive level.
    Promotion,
}

/// One thing that happened. Line numbers are in units of the named level's line.
///
/// Order within one access that misses: `Access`, `Invalidate` of the victim's copies inside (at an inclusive level), `Evict`
/// (if a line had to go), `Fill`, all events of the request to the next level (absent where a store covers the line), of
/// the store that is sent on (write-through), of the dirty victim's write-back. With `writeback_first` the last come before the
/// request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A cache was asked for a line.
    Access {
        /// Where: the level.
        level: LevelId,
        /// Where: its cache.
        cache: CacheId,
        /// Which line.
        line: LineAddr,
        /// Its set.
        set: SetIndex,
        /// What was asked.
        kind: AccessKind,
        /// Whether the line was there.
        hit: bool,
    },
    /// A line came in.
    Fill {
        /// Where: the level.
        level: LevelId,
        /// Where: its cache.
        cache: CacheId,
        /// Which line.
        line: LineAddr,
        /// Its set.
        set: SetIndex,
        /// Whether it is dirty from the start: filled by a store or a write-back.
        dirty: bool,
        /// Whether the cache's own prefetcher asked for it.
        prefetch: bool,
    },
    /// A line gave way to the fill that follows.
    Evict {
        /// Where: the level.
        level: LevelId,
        /// Where: its cache.
        cache: CacheId,
        /// Which line.
        line: LineAddr,
        /// Its set.
        set: SetIndex,
        /// Whether it is written back to the next level; the write-back's own events come later.
        dirty: bool,
    },
    /// A line was removed.
    Invalidate {
        /// Where: the level.
        level: LevelId,
        /// Where: its cache.
        cache: CacheId,
        /// Which line.
        line: LineAddr,
        /// Its set.
        set: SetIndex,
        /// Whether it was dirty; its data goes with the cause.
        dirty: bool,
        /// Why.
        cause: Cause,
    },
    /// A clean victim came to an exclusive cache that has its line already (two inner caches had it): its order is
    /// renewed.
    Renew {
        /// Where: the level.
        level: LevelId,
        /// Where: its cache.
        cache: CacheId,
        /// Which line.
        line: LineAddr,
        /// Its set.
        set: SetIndex,
    },
    /// A dirty line is written back and stays, clean: [`Hierarchy::flush`](super::Hierarchy::flush), or another core
    /// reads it.
    Clean {
        /// Where: the level.
        level: LevelId,
        /// Where: its cache.
        cache: CacheId,
        /// Which line.
        line: LineAddr,
        /// Its set.
        set: SetIndex,
    },
    /// A core comes back to a line that other cores' stores had taken from it; said before its access.
    Sharing {
        /// First byte of the unit of coherence: the largest line of the private levels.
        unit: Addr,
        /// The core that comes back.
        core: u16,
        /// The core whose store took the line.
        by: u16,
        /// False sharing: no byte it touches now was written by another core since.
        falsely: bool,
    },
    /// A TLB was asked for a page. A miss in the outermost one is a page walk.
    Translate {
        /// Which TLB, from 0 (an index into the configuration's).
        tlb: u8,
        /// The core.
        core: u16,
        /// Page number: address divided by the page size in use.
        page: LineAddr,
        /// Whether it was there.
        hit: bool,
    },
    /// The outermost level, or the CPU where nothing caches, reads from memory.
    MemoryRead {
        /// First byte.
        addr: Addr,
        /// Bytes read, 1 or more.
        bytes: u64,
    },
    /// The outermost level writes to memory.
    MemoryWrite {
        /// First byte.
        addr: Addr,
        /// Bytes written, 1 or more.
        bytes: u64,
    },
}

/// Who is told. The simulator is generic over this, so `()` costs nothing.
pub trait Observer {
    /// Takes one event; events come in the order in which things happen.
    fn event(&mut self, event: Event);

    /// What follows is of this reference: said by [`Hierarchy::play`](super::Hierarchy::play) only.
    #[inline(always)]
    fn begin(&mut self, _: &Reference) {}

    /// Whether it wants to be told of anything but accesses that miss. [`Hierarchy::play`](super::Hierarchy::play) leaves the
    /// rest out for one that does not, where that is faster.
    #[inline]
    fn wants_all(&self) -> bool {
        true
    }

    /// Whether it wants to be told of fills and evictions too, where it does not want all.
    #[inline]
    fn wants_moves(&self) -> bool {
        self.wants_all()
    }

    /// Whether it ignores all events, so that none has to be made.
    #[inline]
    fn is_silent(&self) -> bool {
        false
    }

    /// Whether accesses may come as lists, each cache's by itself, where they are had as such. What a list holds is not
    /// told as events, and references whose accesses are in lists do not begin.
    #[inline]
    fn takes_lists(&self) -> bool {
        false
    }

    /// Takes the next accesses of a cache; nothing was prefetched into it or taken from it for coherence between them.
    #[inline]
    fn list(&mut self, _: AccessList<'_>) {}

    /// Whether references that were played at once may come as a [`Played`]: those neither begin, nor are their events told.
    #[inline]
    fn takes_played(&self) -> bool {
        false
    }

    /// Takes the next references and their demand misses.
    #[inline]
    fn played(&mut self, _: Played<'_>) {}

    /// Takes what the references of the last [`Played`] moved, where [`Observer::wants_moves`]; in one piece or more.
    #[inline]
    fn moved(&mut self, _: Moved<'_>) {}

    /// Whether it wants to be told where lines went that caches gave up.
    #[inline]
    fn wants_gone(&self) -> bool {
        false
    }

    /// Takes a line that went outward, where [`Observer::wants_gone`]; after all else of its reference, or of those that are told
    /// at once.
    #[inline]
    fn gone(&mut self, _: Gone) {}

    /// Takes all events of one of the references of the last [`Played`], or of a part of it, whose moves are in no
    /// [`Moved`]. Its misses are told already.
    #[inline]
    fn among(&mut self, _: &[Event]) {}
}

/// References that were played at once, and which of them missed.
#[derive(Clone, Copy, Debug)]
pub struct Played<'a> {
    /// The references, in their order; some may be of a kind that the caches leave out.
    pub references: &'a [Reference],
    /// By level that anything was asked of, from the CPU outward: the places among `references` of those whose demand asks it
    /// (none at the level that is asked first: all do) and of those whose demand misses there, in no certain order.
    pub(super) misses: &'a [(LevelId, [&'a [u16]; 2])],
    /// Whether some may be played in pieces, or read and write in two: then a place may be in a list more than once.
    pub(super) pieces: bool,
}

impl<'a> Played<'a> {
    /// Each level with the places, among the references, of those that missed there.
    pub fn misses(self) -> impl Iterator<Item = (LevelId, &'a [u16])> {
        self.misses.iter().map(|(level, [_, missed])| (*level, *missed))
    }

    /// Each level behind the first with the places, among the references, of those whose demand came to it.
    pub fn asked(self) -> impl Iterator<Item = (LevelId, &'a [u16])> {
        self.misses.iter().map(|(level, [asked, _])| (*level, *asked))
    }

    /// Whether each reference is in a list once at most.
    #[must_use]
    pub fn is_whole(self) -> bool {
        !self.pieces
    }
}

/// A line of the smallest size of the hierarchy that was nearest to the CPU in one cache, and is farther out when the reference
/// that caused it is done: in the nearest cache that has it then, or in memory alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gone {
    /// Where it was.
    pub from: CacheId,
    /// Its first byte.
    pub addr: Addr,
    /// Where it is; `None` = memory.
    pub to: Option<CacheId>,
}

/// Lines that came in, of caches that are on the way of loads and stores and have lines of one size. Each list is in no
/// certain order.
#[derive(Clone, Copy, Debug)]
pub struct Moved<'a> {
    /// The innermost cache.
    pub asking: CacheId,
    /// Lines that came to it, by how many caches outward had them not: first those from the next cache (and those that a
    /// store covers, so that nobody is asked for them), last those from memory.
    pub came: &'a [Vec<LineAddr>],
}

/// Accesses of one cache, in their order. A store that goes with a load (a modify) may be left out.
#[derive(Clone, Copy, Debug)]
pub struct AccessList<'a> {
    /// The cache.
    pub cache: CacheId,
    /// Lines, in units of the cache's line size, each with something else in its low [`AccessList::SHIFT`] bits.
    pub(super) asks: &'a [u64],
    /// 0 = a miss; as long. `None` where all hit.
    pub(super) matched: Option<&'a [u8]>,
}

impl<'a> AccessList<'a> {
    /// Bits below a line.
    pub(super) const SHIFT: u32 = ASK_BITS;

    /// Each access: its line, and whether it hit.
    pub fn iter(self) -> impl Iterator<Item = (LineAddr, bool)> + 'a {
        let hit = move |n: usize| self.matched.is_none_or(|matched| matched[n] != 0);
        self.asks.iter().enumerate().map(move |(n, ask)| (LineAddr(ask >> Self::SHIFT), hit(n)))
    }
}

impl Observer for () {
    #[inline(always)]
    fn is_silent(&self) -> bool {
        true
    }

    #[inline(always)]
    fn wants_all(&self) -> bool {
        false
    }

    #[inline(always)]
    fn event(&mut self, _: Event) {}
}

impl<O: Observer + ?Sized> Observer for &mut O {
    #[inline]
    fn event(&mut self, event: Event) {
        (**self).event(event);
    }

    #[inline]
    fn begin(&mut self, reference: &Reference) {
        (**self).begin(reference);
    }

    #[inline]
    fn wants_all(&self) -> bool {
        (**self).wants_all()
    }

    #[inline]
    fn wants_moves(&self) -> bool {
        (**self).wants_moves()
    }

    #[inline]
    fn is_silent(&self) -> bool {
        (**self).is_silent()
    }

    #[inline]
    fn takes_lists(&self) -> bool {
        (**self).takes_lists()
    }

    #[inline]
    fn list(&mut self, list: AccessList<'_>) {
        (**self).list(list);
    }

    #[inline]
    fn takes_played(&self) -> bool {
        (**self).takes_played()
    }

    #[inline]
    fn played(&mut self, played: Played<'_>) {
        (**self).played(played);
    }

    #[inline]
    fn moved(&mut self, moved: Moved<'_>) {
        (**self).moved(moved);
    }

    #[inline]
    fn wants_gone(&self) -> bool {
        (**self).wants_gone()
    }

    #[inline]
    fn gone(&mut self, gone: Gone) {
        (**self).gone(gone);
    }

    #[inline]
    fn among(&mut self, events: &[Event]) {
        (**self).among(events);
    }
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline]
    fn event(&mut self, event: Event) {
        self.0.event(event);
        self.1.event(event);
    }

    #[inline]
    fn begin(&mut self, reference: &Reference) {
        self.0.begin(reference);
        self.1.begin(reference);
    }

    #[inline]
    fn wants_all(&self) -> bool {
        self.0.wants_all() || self.1.wants_all()
    }

    #[inline]
    fn wants_moves(&self) -> bool {
        self.0.wants_moves() || self.1.wants_moves()
    }

    #[inline]
    fn wants_gone(&self) -> bool {
        self.0.wants_gone() || self.1.wants_gone()
    }

    #[inline]
    fn gone(&mut self, gone: Gone) {
        self.0.gone(gone);
        self.1.gone(gone);
    }

    #[inline]
    fn is_silent(&self) -> bool {
        self.0.is_silent() && self.1.is_silent()
    }
}

/// Keeps every event: for tests and short ranges.
impl Observer for Vec<Event> {
    fn event(&mut self, event: Event) {
        self.push(event);
    }
}
