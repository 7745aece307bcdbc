//! What happens to some lines while the trace runs.

use crate::reference::Reference;
use crate::sim::{Cause, Event, Hierarchy, Observer};
use crate::units::{ByteRange, CacheId, LineAddr};
use std::collections::BTreeMap;

/// How a line left a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Departure {
    /// During which reference.
    pub(super) tick: u64,
    /// First byte that it touched.
    pub(super) addr: u64,
    /// Why; `None` = it gave way to another line.
    pub(super) cause: Option<Cause>,
}

/// Follows the lines of one reference, in all caches.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// By cache: numbers of the lines, the first and the last.
    lines: Vec<(u64, u64)>,
    /// Lines that left and have not come back.
    left: BTreeMap<(CacheId, u64), Departure>,
    /// Bytes of the lines of the innermost level.
    bytes: ByteRange,
    last_use: Option<u64>,
    tick: u64,
    addr: u64,
}

impl Watch {
    pub(super) fn new(hierarchy: &Hierarchy, reference: &Reference) -> Self {
        let bytes = ByteRange::new(reference.addr, u64::from(reference.size));
        let lines = hierarchy.caches().map(|cache| {
            let lines = bytes.lines(hierarchy.geometry(cache).line_bytes);
            (*lines.start(), *lines.end())
        });
        let innermost = hierarchy.config().levels.first().map_or(64, |level| level.line);
        let whole = bytes.lines(innermost);
        let first = whole.start().saturating_mul(u64::from(innermost));
        let last = whole.end().saturating_mul(u64::from(innermost)).saturating_add(u64::from(innermost) - 1);
        Self {
            lines: lines.collect(),
            left: BTreeMap::new(),
            bytes: ByteRange { first, last },
            last_use: None,
            tick: 0,
            addr: 0,
        }
    }

    /// The reference that comes next.
    pub(super) fn begin_at(&mut self, tick: u64, reference: &Reference) {
        (self.tick, self.addr) = (tick, reference.addr);
        if self.touches(reference) {
            self.last_use = Some(tick);
        }
    }

    /// Whether a reference touches one of the lines of the innermost level.
    pub(super) fn touches(&self, reference: &Reference) -> bool {
        self.bytes.meets(ByteRange::new(reference.addr, u64::from(reference.size)))
    }

    /// How a line left a cache, where it was there and is no more.
    pub(super) fn departure(&self, cache: CacheId, line: LineAddr) -> Option<Departure> {
        self.left.get(&(cache, line.0)).copied()
    }

    /// The last reference that touched one of the lines.
    pub(super) fn last_use(&self) -> Option<u64> {
        self.last_use
    }

    fn watches(&self, cache: CacheId, line: LineAddr) -> bool {
        let (first, last) = self.lines[cache.index()];
        (first..=last).contains(&line.0)
    }
}

impl Observer for Watch {
    fn event(&mut self, event: Event) {
        let (cache, line, cause) = match event {
            Event::Fill { cache, line, .. } => {
                if self.watches(cache, line) {
                    self.left.remove(&(cache, line.0));
                }
                return;
            }
            Event::Evict { cache, line, .. } => (cache, line, None),
            Event::Invalidate { cache, line, cause, .. } => (cache, line, Some(cause)),
            _ => return,
        };
        if self.watches(cache, line) {
            self.left.insert((cache, line.0), Departure { tick: self.tick, addr: self.addr, cause });
        }
    }
}
