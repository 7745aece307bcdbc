//! Counting what moves: from events one by one, or from lists of many.

use super::Flows;
use super::groups::MEMORY;
use crate::reference::Reference;
use crate::sim::{AccessKind, Batch, Event, Events, Gone, Lists, Moved, Observer, RequestId, Wants};
use crate::units::{Addr, CacheId, LineAddr};
use std::sync::Arc;

/// A line on its way in: where it came to, and who had it not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// The request whose answer it waits for.
    request: RequestId,
    /// Who has it, unless a request says otherwise: a cache, or [`MEMORY`].
    from: u16,
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
    pub(in crate::timeline) fn arrive(&mut self) {
        if let Some(Pending { from, wants, .. }) = self.pending.take() {
            self.come(wants, from);
        }
    }

    /// Counts a line that comes in, from a cache or from [`MEMORY`].
    #[inline(always)]
    fn come(&mut self, Wanting { cache, group, addr }: Wanting, from: u16) {
        let Some(table) = self.groups.fills(cache, from) else { return };
        let from = if from == MEMORY { self.block(addr) } else { self.groups.caches[usize::from(from)].of_addr(addr) };
        self.open[table.at(from, group)] += 1;
    }

    /// As [`Flows::come`], for many lines of one cache's size that as many caches outward missed; the lines of those have one size.
    fn come_all(&mut self, cache: CacheId, missed: usize, lines: &[LineAddr]) {
        let groups = Arc::clone(&self.groups);
        let here = &groups.caches[cache.index()];
        let Some(table) = groups.fills(cache, here.outward[missed]) else { return };
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
        let (Some(table), from) = (self.groups.out(from, to), here.of_addr(addr)) else { return };
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
            Event::Access { origin, cache, line, kind, hit, .. } => {
                // Of what the request asks for, the line itself counts: some ask for several.
                if let Some(pending) = &mut self.pending
                    && kind != AccessKind::Writeback
                    && origin.parent == Some(pending.request)
                    && self.groups.caches[cache.index()].line_of(pending.wants.addr) == line
                {
                    if hit {
                        pending.from = cache.0;
                        return self.arrive();
                    }
                    (pending.request, pending.from) = (origin.request, self.groups.caches[cache.index()].outward[0]);
                }
            }
            Event::MemoryRead { origin, .. } => {
                if let Some(pending) = &mut self.pending
                    && origin.parent == Some(pending.request)
                {
                    pending.from = MEMORY;
                }
            }
            Event::Fill { origin, cache, line, set, prefetch, .. } => {
                let here = &self.groups.caches[cache.index()];
                if here.depth == 0 || prefetch {
                    let (addr, group, from) = (here.base(line), here.of(set), here.outward[0]);
                    self.arrive();
                    let wants = Wanting { cache, group, addr };
                    self.pending = Some(Pending { request: origin.request, from, wants });
                }
            }
            _ => {}
        }
    }

    #[inline(always)]
    fn begin(&mut self, _: &Reference) {
        self.arrive();
    }

    #[inline(always)]
    fn wants(&self) -> Wants {
        let lists = Lists { moves: true, ..Lists::default() };
        Wants { events: Events::Moves, gone: true, batches: Some(lists) }
    }

    fn batch(&mut self, batch: &Batch<'_>) {
        if let Some(Moved { asking, came }) = batch.moved {
            for (missed, lines) in came.iter().enumerate() {
                self.come_all(asking, missed, lines);
            }
        }
        for &gone in batch.gone {
            self.leave(gone);
        }
        if !batch.events.is_empty() {
            self.arrive();
            batch.events.iter().for_each(|event| self.event(*event));
        }
    }
}
