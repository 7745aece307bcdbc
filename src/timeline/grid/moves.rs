//! Lines that the caches which are asked first gave up: whose they were, and why.

use crate::sim::event::{Cause, Event};
use crate::sim::{Hierarchy, Observer};
use crate::units::LineAddr;

/// A line that a cache gave up.
#[derive(Clone, Copy)]
pub(super) struct Gone {
    /// Its first byte, and how many there are.
    pub(super) addr: u64,
    pub(super) bytes: u64,
    /// Whose cache it was; `None` = all cores share it.
    pub(super) core: Option<u16>,
    /// Another core's store, or a cache outside, took it; else another line did.
    pub(super) invalid: bool,
}

/// Takes down what is given up while references are played.
pub(super) struct Moves {
    /// By cache, of those that are asked first: its core, and bytes of a line.
    first: Vec<Option<(Option<u16>, u32)>>,
    pub(super) gone: Vec<Gone>,
}

impl Moves {
    pub(super) fn new(hierarchy: &Hierarchy) -> Self {
        let levels = &hierarchy.config().levels;
        let of = |cache| {
            let info = hierarchy.info(cache);
            let level = levels.get(info.level.index()).filter(|_| info.depth == 0)?;
            Some((info.core, level.line))
        };
        Self { first: hierarchy.caches().map(of).collect(), gone: Vec::new() }
    }

    fn note(&mut self, cache: usize, line: LineAddr, invalid: bool) {
        if let Some((core, bytes)) = self.first.get(cache).copied().flatten() {
            self.gone.push(Gone { addr: line.base(bytes).0, bytes: bytes.into(), core, invalid });
        }
    }
}

impl Observer for Moves {
    fn event(&mut self, event: Event) {
        match event {
            Event::Evict { cache, line, .. } => self.note(cache.index(), line, false),
            Event::Invalidate { cache, line, cause: Cause::Coherence | Cause::Inclusion, .. } => {
                self.note(cache.index(), line, true);
            }
            _ => {}
        }
    }
}
