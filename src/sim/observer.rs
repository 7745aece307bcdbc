//! Who is told what the simulator does, and in which form.

use super::event::Event;
use super::fast::scan::ASK_BITS;
use crate::reference::Reference;
use crate::units::{Addr, CacheId, LevelId, LineAddr};

/// Who is told. The simulator is generic over this, so `()` costs nothing.
///
/// References come in their order, in one of two forms. Either [`Observer::begin`] says which reference follows, and its events come
/// one by one; or, where the observer takes batches and the caches allow it, many references come at once as a [`Batch`]. An observer
/// takes both forms: a batch is faster, and no batch is promised.
pub trait Observer {
    /// What it wants to know; the same at each call. By default all events, and no batches.
    #[inline(always)]
    fn wants(&self) -> Wants {
        Wants::ALL_EVENTS
    }

    /// Takes one event; events come in the order in which things happen. More may come than are wanted.
    fn event(&mut self, event: Event);

    /// What follows is of this reference. [`Hierarchy::access`](super::Hierarchy::access) does not say it.
    #[inline(always)]
    fn begin(&mut self, _: &Reference) {}

    /// Takes many references at once, which neither begin nor are told by events; or where lines of a single reference went.
    #[inline]
    fn batch(&mut self, _: &Batch<'_>) {}
}

/// What an observer wants to know. A pair of observers wants what either of them wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Which events, of references that come one by one.
    pub events: Events,
    /// Whether [`Batch::gone`] is wanted: where lines went that caches gave up. It comes in both forms.
    pub gone: bool,
    /// Whether many references may come at once, and which lists are wanted of them.
    pub batches: Option<Lists>,
}

/// Which events are wanted. Each has those of the kind before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Events {
    /// None.
    #[default]
    None,
    /// Accesses that miss, and what cores do to each other.
    Misses,
    /// What comes in and goes out, too.
    Moves,
    /// All, hits too.
    All,
}

/// Which lists of a [`Batch`] are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// Who missed: [`Batch::misses`].
    pub misses: bool,
    /// What came in: [`Batch::moved`].
    pub moves: bool,
    /// Every access of every cache: [`Batch::accesses`].
    pub accesses: bool,
}

impl Wants {
    /// Nothing: no event has to be made.
    pub const NOTHING: Self = Self { events: Events::None, gone: false, batches: None };
    /// All events, each reference by itself.
    pub const ALL_EVENTS: Self = Self { events: Events::All, gone: false, batches: None };

    /// Whether nothing is wanted.
    #[inline(always)]
    #[must_use]
    pub const fn is_nothing(self) -> bool {
        matches!(self.events, Events::None) && !self.gone && self.batches.is_none()
    }

    /// Whether batches are taken.
    #[inline(always)]
    #[must_use]
    pub const fn takes_batches(self) -> bool {
        self.batches.is_some()
    }

    /// The lists that are wanted of batches; none where no batch is taken.
    #[inline(always)]
    pub(super) fn lists(self) -> Lists {
        self.batches.unwrap_or_default()
    }

    /// What two observers want together. Batches come where both take them.
    #[inline(always)]
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self.is_nothing() {
            return other;
        }
        if other.is_nothing() {
            return self;
        }
        let both = |(a, b): (Lists, Lists)| Lists {
            misses: a.misses || b.misses,
            moves: a.moves || b.moves,
            accesses: a.accesses || b.accesses,
        };
        Self {
            events: if self.events >= other.events { self.events } else { other.events },
            gone: self.gone || other.gone,
            batches: self.batches.zip(other.batches).map(both),
        }
    }
}

/// References that were played at once, or a part of what they did: a batch may come in several parts, the first with all references
/// and misses. Lists that are not wanted are empty.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Batch<'a> {
    /// The references, in their order; some may be of a kind that the caches leave out. Empty in later parts, and where only
    /// lines went somewhere.
    pub references: &'a [Reference],
    /// By level that anything was asked of, from the CPU outward: who missed.
    pub misses: &'a [LevelMisses<'a>],
    /// Whether a reference may be in one of those lists more than once: it was played in pieces, or as a read and a write.
    pub in_pieces: bool,
    /// Accesses of each cache, in their order.
    pub accesses: &'a [AccessList<'a>],
    /// What came in; `None` = nothing did, or `events` tells it.
    pub moved: Option<Moved<'a>>,
    /// Where lines went that caches gave up, after all that came in.
    pub gone: &'a [Gone],
    /// All events of one of the references, or of a part of it, whose moves are not in `moved`. Its misses are in `misses` all the
    /// same. Numbers of requests are those within this list.
    pub events: &'a [Event],
}

/// Which references of a batch missed at a level. No list is in a certain order.
#[derive(Clone, Copy, Debug)]
pub struct LevelMisses<'a> {
    /// The level.
    pub level: LevelId,
    /// Places, in the batch, of the references whose demand came to it; empty at the level that is asked first, which all come to.
    pub asked: &'a [u16],
    /// Places of those whose demand missed there.
    pub missed: &'a [u16],
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
    fn wants(&self) -> Wants {
        Wants::NOTHING
    }

    #[inline(always)]
    fn event(&mut self, _: Event) {}
}

impl<O: Observer + ?Sized> Observer for &mut O {
    #[inline(always)]
    fn wants(&self) -> Wants {
        (**self).wants()
    }

    #[inline(always)]
    fn event(&mut self, event: Event) {
        (**self).event(event);
    }

    #[inline(always)]
    fn begin(&mut self, reference: &Reference) {
        (**self).begin(reference);
    }

    #[inline(always)]
    fn batch(&mut self, batch: &Batch<'_>) {
        (**self).batch(batch);
    }
}

/// Both are told the same, the first one first.
impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline(always)]
    fn wants(&self) -> Wants {
        self.0.wants().and(self.1.wants())
    }

    #[inline(always)]
    fn event(&mut self, event: Event) {
        self.0.event(event);
        self.1.event(event);
    }

    #[inline(always)]
    fn begin(&mut self, reference: &Reference) {
        self.0.begin(reference);
        self.1.begin(reference);
    }

    #[inline(always)]
    fn batch(&mut self, batch: &Batch<'_>) {
        self.0.batch(batch);
        self.1.batch(batch);
    }
}

/// Keeps every event: for tests and short ranges.
impl Observer for Vec<Event> {
    fn event(&mut self, event: Event) {
        self.push(event);
    }
}
