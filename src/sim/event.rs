//! All that the simulator tells the world.

use crate::units::{Addr, LevelId, LineAddr, SetIndex};

/// What an access asks of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// Data is wanted: a load, or the request of an inner level for a line it misses.
    Read,
    /// A store of the program.
    Write,
    /// Instructions are wanted.
    Fetch,
    /// An inner level hands a dirty line back.
    Writeback,
}

impl AccessKind {
    /// Whether somebody waits for the answer: all but write-backs.
    #[must_use]
    pub fn is_demand(self) -> bool {
        !matches!(self, Self::Writeback)
    }

    /// Whether the access leaves its line dirty.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::Writeback)
    }

    /// The kind of the request that a miss of this kind sends to the next level: stores and write-backs read the line.
    #[must_use]
    pub fn request(self) -> Self {
        if self == Self::Fetch { Self::Fetch } else { Self::Read }
    }
}

/// One thing that happened. Line numbers are in units of the named level's line.
///
/// Order within one access that misses: `Access`, `Evict` (if a line had to go), `Fill`, all events of the request to the
/// next level (absent where a store covers the line), all events of the dirty victim's write-back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A level was asked for a line.
    Access {
        /// Where.
        level: LevelId,
        /// Which line.
        line: LineAddr,
        /// The set that holds or will hold it.
        set: SetIndex,
        /// What was asked.
        kind: AccessKind,
        /// Whether the line was there.
        hit: bool,
    },
    /// A line came in as the most recent of its set.
    Fill {
        /// Where.
        level: LevelId,
        /// Which line.
        line: LineAddr,
        /// Its set.
        set: SetIndex,
        /// Whether it is dirty from the start: filled by a store or a write-back.
        dirty: bool,
    },
    /// A line gave way to the fill that follows.
    Evict {
        /// Where.
        level: LevelId,
        /// Which line.
        line: LineAddr,
        /// Its set.
        set: SetIndex,
        /// Whether it is written back to the next level; the write-back's own events come later.
        dirty: bool,
    },
    /// A dirty line is written back and stays, clean ([`Hierarchy::flush`](super::Hierarchy::flush)).
    Clean {
        /// Where.
        level: LevelId,
        /// Which line.
        line: LineAddr,
        /// Its set.
        set: SetIndex,
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

    /// Whether it ignores all events, so that none has to be made.
    #[inline]
    fn is_silent(&self) -> bool {
        false
    }
}

impl Observer for () {
    #[inline(always)]
    fn is_silent(&self) -> bool {
        true
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
    fn is_silent(&self) -> bool {
        (**self).is_silent()
    }
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline]
    fn event(&mut self, event: Event) {
        self.0.event(event);
        self.1.event(event);
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
