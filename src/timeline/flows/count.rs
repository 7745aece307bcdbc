//! Counting what moves: from events one by one, or from lists of many.

use super::Flows;
use super::groups::MEMORY;
use crate::reference::Reference;
use crate::sim::{Event, Gone, Moved, Observer};
use crate::units::{Addr, CacheId, LineAddr};
use std::sync::Arc;

/// A line on its way in: where it came to, and who had it not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// The cache that would have it next; [`MEMORY`] = no cache is left.
    awaited: u16,
    /// Caches outward that missed.
    missed: u16,
    wants: Wanting,
}

/// A cache that wants a line.
#[derive(Clone, Copy, Debug)]
struct Wanting {
    cache: CacheId,
    /// Of its sets.
    group: usize,
    addr: Addr,
}

impl Flows {
    /// The line on its way is there: who had it is known.
    #[inline(always)]
    pub(super) fn arrive(&mut self) {
        if let Some(Pending { missed, wants, .. }) = self.pending.take() {
            self.come(wants, usize::from(missed));
        }
    }

    /// Counts a line that comes in, from behind as many caches as missed.
    #[inline(always)]
    fn come(&mut self, Wanting { cache, group, addr }: Wanting, missed: usize) {
        let here = &self.groups.caches[cache.index()];
        let (table, from) = (here.fills[missed], here.outward[missed]);
        let from = if from == MEMORY { self.block(addr) } else { self.groups.caches[usize::from(from)].of_addr(addr) };
        self.open[table.at(from, group)] += 1;
    }

    /// As [`Flows::come`], for many lines of one cache's size; those of the caches outward are the same.
    fn come_all(&mut self, cache: CacheId, missed: usize, lines: &[LineAddr]) {
        let groups = Arc::clone(&self.groups);
        let here = &groups.caches[cache.index()];
        let table = here.fills[missed];
        match groups.caches.get(usize::from(here.outward[missed])) {
            Some(there) => {
                for &line in lines {
                    self.open[table.at(there.of(there.set_of(line)), here.of(here.set_of(line)))] += 1;
                }
            }
            None => {
                for &line in lines {
                    let block = self.block(here.base(line));
                    self.open[table.at(block, here.of(here.set_of(line)))] += 1;
                }
            }
        }
    }

    /// Counts a line that goes out.
    #[inline]
    pub(super) fn leave(&mut self, Gone { from, addr, to }: Gone) {
        let here = &self.groups.caches[from.index()];
        let (table, from) = (here.out(to), here.of_addr(addr));
        let to = match to {
            Some(cache) => self.groups.caches[cache.index()].of_addr(addr),
            None => self.block(addr),
        };
        self.open[table.at(from, to)] += 1;
    }
}

impl Observer for Flows {
    #[inline(always)]
    fn event(&mut self, event: Event) {
        match event {
            Event::Access { cache, line, hit, .. } => {
                if let Some(pending) = &mut self.pending
                    && pending.awaited == cache.0
                    && self.groups.caches[cache.index()].line_of(pending.wants.addr) == line
                {
                    if hit {
                        return self.arrive();
                    }
                    pending.missed += 1;
                    let outward = &self.groups.caches[pending.wants.cache.index()].outward;
                    pending.awaited = outward[usize::from(pending.missed)];
                }
            }
            Event::Fill { cache, line, set, prefetch, .. } => {
                let here = &self.groups.caches[cache.index()];
                if here.depth == 0 || prefetch {
                    let (addr, group, awaited) = (here.base(line), here.of(set), here.outward[0]);
                    self.arrive();
                    self.pending = Some(Pending { awaited, missed: 0, wants: Wanting { cache, group, addr } });
                }
            }
            _ => {}
        }
    }

    #[inline(always)]
    fn begin(&mut self, _: &Reference) {
        self.arrive();
    }

    fn moved(&mut self, moved: Moved<'_>) {
        for (missed, lines) in moved.came.iter().enumerate() {
            self.come_all(moved.asking, missed, lines);
        }
    }

    fn among(&mut self, events: &[Event]) {
        self.arrive();
        events.iter().for_each(|event| self.event(*event));
    }

    #[inline(always)]
    fn wants_gone(&self) -> bool {
        true
    }

    #[inline(always)]
    fn gone(&mut self, gone: Gone) {
        self.leave(gone);
    }

    #[inline(always)]
    fn takes_played(&self) -> bool {
        true
    }

    #[inline(always)]
    fn wants_all(&self) -> bool {
        false
    }

    #[inline(always)]
    fn wants_moves(&self) -> bool {
        true
    }
}
