//! What a shard tells while it plays: kept, in the terms of the whole hierarchy, until all shards have played a block.

use super::split::Split;
use crate::reference::Reference;
use crate::sim::Event;
use crate::sim::observer::{Batch, Events, Gone, Lists, Observer, Wants};
use crate::units::{Addr, CacheId, LevelId, LineAddr, SetIndex};
use std::sync::Arc;

/// What one shard has told of a block.
#[derive(Clone, Debug)]
pub(super) struct ShardRecord {
    split: Split,
    shard: usize,
    /// By cache: log2 of the bytes of a line.
    line_bits: Arc<[u32]>,
    wants: Wants,
    pub(super) events: Vec<Event>,
    /// Where the events of each piece of a reference begin; in batches, of those pieces that are told by events.
    pub(super) begins: Vec<usize>,
    /// By level: places in the block of the references that missed.
    pub(super) misses: Vec<Vec<u16>>,
    /// By level: likewise of those that asked it, but for the level that each asked first.
    pub(super) asked: Vec<Vec<u16>>,
    /// See [`Moved`](crate::sim::Moved).
    pub(super) asking: CacheId,
    pub(super) came: Vec<Vec<LineAddr>>,
    /// See [`Batch::gone`].
    pub(super) gone: Vec<Gone>,
}

impl ShardRecord {
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

    pub(super) fn wants(&self) -> Wants {
        self.wants
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

/// What a shard has to tell, so that an observer of the whole is told what it wants.
pub(super) fn wants_of_shard(observer: &impl Observer) -> Wants {
    let wants = observer.wants();
    match wants.batches {
        // Accesses of a cache are not in their order where they come from several shards.
        Some(lists) if !lists.accesses => {
            let events = if lists.moves { Events::Moves } else { Events::Misses };
            Wants { events, batches: Some(lists), ..wants }
        }
        // All are told, so that their requests can be numbered.
        _ if !wants.is_nothing() => Wants { events: Events::All, batches: None, ..wants },
        _ => wants,
    }
}

/// Listens while a shard plays some references of a block.
pub(super) struct ShardObserver<'a> {
    pub(super) told: &'a mut ShardRecord,
    /// The place of each in the block.
    pub(super) places: &'a [u16],
    /// How many began.
    pub(super) at: usize,
    /// The level that the piece at play asked first.
    pub(super) first: Option<LevelId>,
}

impl Observer for ShardObserver<'_> {
    #[inline]
    fn wants(&self) -> Wants {
        self.told.wants
    }

    #[inline]
    fn event(&mut self, event: Event) {
        if let Some(Lists { moves, .. }) = self.told.wants.batches {
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
            if !moves {
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

    fn batch(&mut self, batch: &Batch<'_>) {
        for list in batch.misses {
            let place = |at: &u16| self.places[self.at + usize::from(*at)];
            self.told.misses[list.level.index()].extend(list.missed.iter().map(place));
            self.told.asked[list.level.index()].extend(list.asked.iter().map(place));
        }
        self.at += batch.references.len();
        let (split, shard) = (self.told.split, self.told.shard);
        let ShardRecord { asking, came, line_bits, gone, .. } = &mut *self.told;
        if let Some(moved) = batch.moved {
            *asking = moved.asking;
            let bits = line_bits[moved.asking.index()];
            came.resize_with(moved.came.len().max(came.len()), Vec::new);
            for (into, lines) in came.iter_mut().zip(moved.came) {
                into.extend(lines.iter().map(|line| LineAddr(split.line(line.0, bits, shard))));
            }
        }
        gone.extend(batch.gone.iter().map(|gone| Gone { addr: Addr(split.addr(gone.addr.0, shard)), ..*gone }));
    }
}
