//! Where lines go that leave a cache: one meaning for all who ask.
//!
//! Data is where it is nearest to the CPU. A line that a cache gives up goes to the nearest cache that has it when its reference is
//! done: the next one where it was written back to or has a copy already, an exclusive one that takes victims in; else it goes to
//! memory, though a clean line is only dropped. Where a cache nearer to the CPU has it still, nothing goes anywhere.

use super::super::Event;
use super::super::observer::{Batch, Events, Gone, Observer, Wants};
use super::super::plan::cache_id;
use super::Hierarchy;
use crate::reference::Reference;
use crate::units::{Addr, CacheId, LineAddr};
use std::collections::BTreeSet;

/// A few lines of caches, most often without memory of their own.
#[derive(Default)]
struct Few {
    first: [(u16, u64); 6],
    len: usize,
    more: Vec<(u16, u64)>,
    /// The same as `more`, where those are [`MANY`] or more: a reference of 1 MiB has up to 131,072 grains.
    found: BTreeSet<(u16, u64)>,
}

/// Lines up to which a look at each is the fastest.
const MANY: usize = 64;

impl Few {
    #[inline]
    fn push(&mut self, cache: CacheId, line: LineAddr) {
        match self.first.get_mut(self.len) {
            Some(place) => *place = (cache.0, line.0),
            None => {
                self.more.push((cache.0, line.0));
                if self.more.len() == MANY {
                    self.found.extend(&self.more);
                } else if self.more.len() > MANY {
                    self.found.insert((cache.0, line.0));
                }
            }
        }
        self.len += 1;
    }

    fn iter(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.first.iter().take(self.len).chain(&self.more).copied()
    }

    fn has(&self, cache: CacheId, line: LineAddr) -> bool {
        let line = (cache.0, line.0);
        if self.found.is_empty() {
            return self.iter().any(|one| one == line);
        }
        self.first.contains(&line) || self.found.contains(&line)
    }
}

/// Listens to what one reference does, and passes it on.
pub(in crate::sim) struct Leaving<'a, O> {
    observer: &'a mut O,
    /// Lines that were there before and were removed.
    left: Few,
    /// Lines that came in.
    came: Few,
}

impl<'a, O> Leaving<'a, O> {
    pub(in crate::sim) fn new(observer: &'a mut O) -> Self {
        Self { observer, left: Few::default(), came: Few::default() }
    }
}

impl<O: Observer> Observer for Leaving<'_, O> {
    #[inline]
    fn event(&mut self, event: Event) {
        match event {
            Event::Fill { cache, line, .. } => self.came.push(cache, line),
            Event::Evict { cache, line, .. } | Event::Invalidate { cache, line, .. } if !self.came.has(cache, line) => {
                self.left.push(cache, line);
            }
            _ => {}
        }
        self.observer.event(event);
    }

    #[inline]
    fn begin(&mut self, reference: &Reference) {
        self.observer.begin(reference);
    }

    #[inline(always)]
    fn wants(&self) -> Wants {
        let Wants { events, .. } = self.observer.wants();
        Wants { events: events.max(Events::Moves), ..Wants::NOTHING }
    }
}

impl Hierarchy {
    /// Plays the pieces of one reference: where lines went is told once all are done.
    pub(in crate::sim) fn access_pieces<O: Observer>(&mut self, pieces: &[Reference], observer: &mut O) {
        let mut leaving = Leaving::new(observer);
        for piece in pieces {
            leaving.begin(piece);
            self.access_once(piece, &mut leaving);
        }
        self.tell_gone(leaving);
    }

    /// Tells where what left went, once its reference is done.
    pub(in crate::sim) fn tell_gone<O: Observer>(&self, leaving: Leaving<'_, O>) {
        let Leaving { observer, left, came } = leaving;
        let grain = u64::from(self.plan.grain_bytes);
        let mut told = Few::default();
        let mut all = Vec::new();
        for (cache, line) in left.iter() {
            let geometry = self.caches[usize::from(cache)].geometry();
            let (first, pieces) = (geometry.base_of(LineAddr(line)).0, u64::from(geometry.line_bytes) / grain);
            for addr in (0..pieces).map(|piece| first + piece * grain) {
                if left.len > 1 || pieces > 1 {
                    if told.has(CacheId(0), LineAddr(addr)) {
                        continue;
                    }
                    told.push(CacheId(0), LineAddr(addr));
                }
                let [before, after] = self.nearest(Addr(addr), &left, &came);
                if let Some((depth, from)) = before
                    && after.is_none_or(|(other, _)| other > depth)
                {
                    all.push(Gone { from, addr: Addr(addr), to: after.map(|(_, to)| to) });
                }
            }
        }
        if !all.is_empty() {
            observer.batch(&Batch { gone: &all, ..Batch::default() });
        }
    }

    /// The cache nearest to the CPU that held a byte before a reference, and the one that holds it now, each with its depth: of
    /// several at a depth the first.
    fn nearest(&self, addr: Addr, left: &Few, came: &Few) -> [Option<(u8, CacheId)>; 2] {
        let [mut before, mut after] = [None::<(u8, CacheId)>; 2];
        for (at, (cache, spot)) in self.caches.iter().zip(&self.plan.spots).enumerate() {
            let (id, depth) = (cache_id(at), spot.info.depth);
            let nearer = |found: Option<(u8, CacheId)>| found.is_none_or(|(other, _)| depth < other);
            if !nearer(before) && !nearer(after) {
                continue;
            }
            let line = cache.geometry().line_of(addr);
            let (removed, filled) = (left.has(id, line), came.has(id, line));
            // What was removed and did not come back is not there.
            let holds = (filled || !removed) && self.holds(at, line);
            if holds && nearer(after) {
                after = Some((depth, id));
            }
            if (removed || holds && !filled) && nearer(before) {
                before = Some((depth, id));
            }
        }
        [before, after]
    }
}
