//! What one part of a hierarchy asks another for: a value of its own, so that TLBs, caches and sectors need not know who walks.

use super::{AccessKind, Origin};

/// Bytes that somebody asks a cache or memory for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// First byte.
    pub(super) first: u64,
    /// Last byte, inclusive.
    pub(super) last: u64,
    pub(super) kind: AccessKind,
    /// For whom.
    pub(super) core: u16,
    /// Of the instruction behind it, 0 = unknown.
    pub(super) pc: u64,
    /// For a prefetch: that a fetch set it off, so that it stays among instructions.
    pub(super) fetch: bool,
    /// Where it belongs in the tree of requests of its reference. Its own number holds from where it is cut into lines.
    pub(super) origin: Origin,
}

impl Request {
    /// Dirty bytes leave a cache of a core, because of the request `cause`.
    pub(super) fn writeback(first: u64, last: u64, core: u16, cause: Origin) -> Self {
        let origin = cause.under(cause.request);
        Self { first, last, kind: AccessKind::Writeback, core, pc: 0, fetch: false, origin }
    }

    /// What this request asks the next cache for.
    pub(super) fn of(self, first: u64, last: u64, kind: AccessKind) -> Self {
        let origin = self.origin.under(self.origin.request);
        Self { first, last, kind, origin, ..self }
    }

    /// The piece in one line.
    pub(super) fn within(self, base: u64, last: u64) -> Self {
        Self { first: self.first.max(base), last: self.last.min(last), ..self }
    }
}
