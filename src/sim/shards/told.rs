//! What a shard tells while it plays: kept, in the terms of the whole hierarchy, until all shards have played a block.

use super::split::Split;
use crate::reference::Reference;
use crate::sim::{Event, Gone, Moved, Observer, Played};
use crate::units::{Addr, CacheId, LevelId, LineAddr, SetIndex};
use std::sync::Arc;

/// What an observer takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wants {
    pub(super) nothing: bool,
    pub(super) all: bool,
    pub(super) moves: bool,
    /// See [`Observer::wants_gone`].
    pub(super) gone: bool,
    /// See [`Observer::takes_played`]: then only what moved is told, and the misses.
    pub(super) played: bool,
}

impl Wants {
    pub(super) fn of(observer: &impl Observer) -> Self {
        Self {
            nothing: observer.is_silent(),
            all: observer.wants_all(),
            moves: observer.wants_moves(),
            gone: observer.wants_gone(),
            played: observer.takes_played() && !observer.takes_lists(),
        }
    }
}

/// What one shard has told of a block.
#[derive(Clone, Debug)]
pub(super) struct Told {
    split: Split,
    shard: usize,
    /// By cache: log2 of the bytes of a line.
    line_bits: Arc<[u32]>,
    wants: Wants,
    pub(super) events: Vec<Event>,
    /// Where the events of each piece of a reference begin; with `played`, of those pieces that are told by events.
    pub(super) begins: Vec<usize>,
    /// By level: places in the block of the references that missed.
    pub(super) misses: Vec<Vec<u16>>,
    /// By level: likewise of those that asked it, but for the level that each asked first.
    pub(super) asked: Vec<Vec<u16>>,
    /// See [`Moved`].
    pub(super) asking: CacheId,
    pub(super) came: Vec<Vec<LineAddr>>,
    /// See [`Observer::gone`].
    pub(super) gone: Vec<Gone>,
}

impl Told {
    pub(super) fn new(split: Split, shard: usize, line_bits: Arc<[u32]>, levels: usize) -> Self {
        Self {
            split,
            shard,
            line_bits,
            wants: Wants::default(),
            events: Vec::new(),
            begins: Vec::new(),
            misses: vec![Vec::new(); levels],
            asked: vec![Vec::new(); levels],
            asking: CacheId(0),
            came: Vec::new(),
            gone: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self, wants: Wants) {
        self.wants = wants;
        self.events.clear();
        self.begins.clear();
        self.misses.iter_mut().chain(&mut self.asked).for_each(Vec::clear);
        self.came.iter_mut().for_each(Vec::clear);
        self.gone.clear();
    }

    pub(super) fn wants_gone(&self) -> bool {
        self.wants.gone
    }

    /// The events of the piece whose number is `at`.
    pub(super) fn piece(&self, at: usize) -> &[Event] {
        let end = self.begins.get(at + 1).copied().unwrap_or(self.events.len());
        &self.events[self.begins[at]..end]
    }

    fn set(&self, cache: CacheId, set: SetIndex) -> SetIndex {
        SetIndex(self.split.set(set.0, self.line_bits[cache.index()], self.shard))
    }

    fn line(&self, cache: CacheId, line: LineAddr) -> LineAddr {
        LineAddr(self.split.line(line.0, self.line_bits[cache.index()], self.shard))
    }

    /// An event as the whole hierarchy would tell it.
    fn widened(&self, mut event: Event) -> Event {
        match &mut event {
            Event::Access { cache, line, set, .. }
            | Event::Fill { cache, line, set, .. }
            | Event::Evict { cache, line, set, .. }
            | Event::Invalidate { cache, line, set, .. }
            | Event::Renew { cache, line, set, .. }
            | Event::Clean { cache, line, set, .. } => {
                (*line, *set) = (self.line(*cache, *line), self.set(*cache, *set));
            }
            Event::MemoryRead { addr, .. } | Event::MemoryWrite { addr, .. } => {
                *addr = Addr(self.split.addr(addr.0, self.shard));
            }
            // Of cores and TLBs, which are not parted.
            Event::Sharing { .. } | Event::Translate { .. } => {}
        }
        event
    }
}

/// Listens while a shard plays some references of a block.
pub(super) struct Ear<'a> {
    pub(super) told: &'a mut Told,
    /// The place of each in the block.
    pub(super) places: &'a [u16],
    /// How many began.
    pub(super) at: usize,
    /// The level that the piece at play asked first.
    pub(super) first: Option<LevelId>,
}

impl Observer for Ear<'_> {
    #[inline]
    fn event(&mut self, event: Event) {
        if self.told.wants.played {
            if let Event::Access { level, kind, hit, .. } = event
                && kind.is_demand()
            {
                let place = self.places[self.at - 1];
                if !hit {
                    self.told.misses[level.index()].push(place);
                }
                if *self.first.get_or_insert(level) != level {
                    self.told.asked[level.index()].push(place);
                }
            }
            if !self.told.wants.moves {
                return;
            }
        }
        let event = self.told.widened(event);
        self.told.events.push(event);
    }

    #[inline]
    fn begin(&mut self, _: &Reference) {
        self.at += 1;
        self.first = None;
        self.told.begins.push(self.told.events.len());
    }

    #[inline]
    fn wants_all(&self) -> bool {
        self.told.wants.all
    }

    #[inline]
    fn wants_moves(&self) -> bool {
        self.told.wants.moves
    }

    #[inline]
    fn takes_played(&self) -> bool {
        self.told.wants.played
    }

    #[inline]
    fn played(&mut self, played: Played<'_>) {
        for (level, missed) in played.misses() {
            let places = missed.iter().map(|&at| self.places[self.at + usize::from(at)]);
            self.told.misses[level.index()].extend(places);
        }
        for (level, asked) in played.asked() {
            let places = asked.iter().map(|&at| self.places[self.at + usize::from(at)]);
            self.told.asked[level.index()].extend(places);
        }
        self.at += played.references.len();
    }

    #[inline]
    fn wants_gone(&self) -> bool {
        self.told.wants.gone
    }

    #[inline]
    fn gone(&mut self, gone: Gone) {
        let addr = Addr(self.told.split.addr(gone.addr.0, self.told.shard));
        self.told.gone.push(Gone { addr, ..gone });
    }

    #[inline]
    fn moved(&mut self, moved: Moved<'_>) {
        let (split, shard) = (self.told.split, self.told.shard);
        let Told { asking, came, line_bits, .. } = &mut *self.told;
        *asking = moved.asking;
        let widened = |into: &mut Vec<LineAddr>, cache: CacheId, lines: &[LineAddr]| {
            let bits = line_bits[cache.index()];
            into.extend(lines.iter().map(|line| LineAddr(split.line(line.0, bits, shard))));
        };
        came.resize_with(moved.came.len().max(came.len()), Vec::new);
        for (into, lines) in came.iter_mut().zip(moved.came) {
            widened(into, moved.asking, lines);
        }
    }
}
