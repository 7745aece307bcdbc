//! All that the simulator tells the world.

use crate::reference::Kind;
use crate::units::{Addr, CacheId, LevelId, LineAddr, SetIndex};
use std::num::NonZeroU32;

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
    /// What a reference asks first: a modify reads before it writes.
    #[inline(always)]
    #[must_use]
    pub fn of(kind: Kind) -> Self {
        match kind {
            Kind::Read | Kind::Modify => Self::Read,
            Kind::Write => Self::Write,
            Kind::Fetch => Self::Fetch,
        }
    }

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

/// Number of a request within its reference, from 1 on, in the order in which requests are made. A request asks one cache for one
/// line, one TLB for one page, or memory for bytes; a victim that moves to an exclusive cache and a line that a prefetcher brings in
/// are requests too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(NonZeroU32);

impl RequestId {
    /// The first of a reference.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// The one after it. The numbers end at 2^32 - 1, which no reference reaches: it has 2^20 bytes at most.
    #[inline(always)]
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// As a number, 1 or more.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0.get()
    }

    /// As many numbers later.
    #[must_use]
    pub(super) fn later(self, by: u32) -> Self {
        Self(self.0.saturating_add(by))
    }
}

/// Where an event belongs in the tree of requests that one reference makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The request that it is, or that caused it.
    pub request: RequestId,
    /// The request that led to that request; `None` = the reference itself asked for it.
    pub parent: Option<RequestId>,
}

impl Origin {
    /// The first request of a reference.
    pub const FIRST: Self = Self { request: RequestId::FIRST, parent: None };

    /// What the request `request` leads to, under this number.
    #[inline(always)]
    #[must_use]
    pub(super) fn under(self, request: RequestId) -> Self {
        Self { request, parent: Some(self.request) }
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
        /// Its own number, and the request that led to it.
        origin: Origin,
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
        /// The request that caused it.
        origin: Origin,
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
        /// The request that caused it.
        origin: Origin,
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
        /// The request that caused it.
        origin: Origin,
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
        /// The request that caused it.
        origin: Origin,
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
        /// The request that caused it.
        origin: Origin,
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
        /// The request that caused it.
        origin: Origin,
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
        /// Its own number, and the TLB asked before it.
        origin: Origin,
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
        /// Its own number, and the access that needs the bytes.
        origin: Origin,
        /// First byte.
        addr: Addr,
        /// Bytes read, 1 or more.
        bytes: u64,
    },
    /// The outermost level writes to memory.
    MemoryWrite {
        /// Its own number, and the access that sends the bytes.
        origin: Origin,
        /// First byte.
        addr: Addr,
        /// Bytes written, 1 or more.
        bytes: u64,
    },
}

impl Event {
    /// Where it belongs in the tree of requests of its reference.
    #[must_use]
    pub fn origin(&self) -> Origin {
        let mut event = *self;
        *event.origin_mut()
    }

    fn origin_mut(&mut self) -> &mut Origin {
        match self {
            Self::Access { origin, .. }
            | Self::Fill { origin, .. }
            | Self::Evict { origin, .. }
            | Self::Invalidate { origin, .. }
            | Self::Renew { origin, .. }
            | Self::Clean { origin, .. }
            | Self::Sharing { origin, .. }
            | Self::Translate { origin, .. }
            | Self::MemoryRead { origin, .. }
            | Self::MemoryWrite { origin, .. } => origin,
        }
    }

    /// Makes all numbers of requests later by as many: the event is of a part of a reference that was played alone.
    pub(super) fn renumber(&mut self, by: u32) {
        let origin = self.origin_mut();
        origin.request = origin.request.later(by);
        origin.parent = origin.parent.map(|parent| parent.later(by));
    }
}
