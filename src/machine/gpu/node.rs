//! What requests go through: caches, TLBs, page walks, DRAM channels. Each has a queue, serves one request a cycle, and knows how many may
//! be under way.

use super::config::GpuDram;
use crate::reference::{Kind, Reference};
use crate::sim::{Event, Hierarchy, Observer};
use crate::units::{Addr, CacheId};
use std::collections::{HashMap, VecDeque};

/// The number of a node.
pub(super) type NodeId = u32;
/// The number of a request.
pub(super) type RequestId = u32;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    Read,
    Write,
    Translate,
}

/// What a node is.
pub(super) enum What {
    /// Holds lines, or pages.
    Cache {
        lines: Box<Hierarchy>,
        /// Bytes that are asked for at once.
        sector: u64,
        /// Misses under way: by sector, who waits for it.
        misses: HashMap<u64, Vec<RequestId>>,
        most: usize,
    },
    /// Walks page tables.
    Walker { under_way: u32, most: u32 },
    /// A channel of memory.
    Dram { config: GpuDram, rows: Vec<Option<u64>>, free: u64 },
}

/// See the module.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) what: What,
    pub(super) latency: u64,
    /// Who is asked for what it does not have.
    pub(super) below: Vec<NodeId>,
    /// Cycles to and from there.
    pub(super) wire: u64,
    pub(super) queue: VecDeque<RequestId>,
    /// Requests on the way into the queue, which have a place there.
    pub(super) coming: usize,
    pub(super) room: usize,
    /// Requests that found no room below; while there are any it takes no other.
    pub(super) put_off: VecDeque<RequestId>,
    /// Those that wait for room in its queue.
    pub(super) waiting: VecDeque<NodeId>,
    /// An event will have it serve.
    pub(super) awake: bool,
    /// The first cycle in which it can serve again.
    pub(super) free: u64,
    pub(super) numbers: Numbers,
}

/// What happened at a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) requests: u64,
    pub(super) hits: u64,
    pub(super) misses: u64,
    /// Requests for a sector that was under way already.
    pub(super) merged: u64,
    pub(super) answered: u64,
    /// Cycles from receipt to answer, of all that were answered.
    pub(super) cycles: u64,
    pub(super) bytes: u64,
}

/// What the lines of a cache make of an access.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) hit: bool,
    /// What is to be brought in.
    pub(super) read: bool,
    /// What is to be written below: first byte, bytes, and whether it is the store itself that is sent on.
    pub(super) writes: Vec<(u64, u64, bool)>,
}

impl Observer for Outcome {
    fn event(&mut self, event: Event) {
        match event {
            Event::Access { hit, .. } => self.hit = hit,
            Event::MemoryRead { .. } => self.read = true,
            Event::MemoryWrite { addr, bytes, .. } => self.writes.push((addr.0, bytes, false)),
            _ => {}
        }
    }
}

/// Asks the lines of a cache for some bytes.
pub(super) fn ask(lines: &mut Hierarchy, ask: Ask, addr: u64, bytes: u32) -> Outcome {
    let kind = if ask == Ask::Write { Kind::Write } else { Kind::Read };
    let mut outcome = Outcome::default();
    lines.access(&Reference::new(kind, addr, bytes), &mut outcome);
    if ask == Ask::Write {
        for (first, count, own) in &mut outcome.writes {
            *own = *first == addr && *count == u64::from(bytes);
        }
    }
    outcome
}

/// Whether a line is there, whatever of it.
pub(super) fn holds(lines: &Hierarchy, addr: u64) -> bool {
    let cache = CacheId(0);
    let line = lines.geometry(cache).line_of(Addr(addr));
    lines.rank(cache, line).is_some()
}

impl Node {
    /// Whether one more request may be sent here.
    pub(super) fn has_room(&self) -> bool {
        self.queue.len() + self.coming < self.room
    }

    /// What it is built for: cycles of a request that waits for nothing and finds what it asks for, and requests a cycle.
    pub(super) fn best(&self) -> (u64, f64) {
        match &self.what {
            What::Cache { .. } => (self.latency, 1.0),
            What::Walker { most, .. } => (self.latency, (f64::from(*most) / self.latency as f64).min(1.0)),
            What::Dram { config, .. } => (u64::from(config.row_hit), 1.0 / f64::from(config.interval)),
        }
    }

    /// Of those below, the one that has an address.
    pub(super) fn below_for(&self, addr: u64, interleave: u64) -> Option<NodeId> {
        let count = u32::try_from(self.below.len()).unwrap_or(u32::MAX);
        match count {
            0 => None,
            1 => Some(self.below[0]),
            _ => Some(self.below[super::bank_of(addr, interleave, count) as usize]),
        }
    }
}
