//! Many references at once: what the fast loops need of a hierarchy.

use super::super::fast::scan::Exceptions;
use super::super::fast::{self, Line, Place, Plain, Surroundings};
use super::super::plan::cache_id;
use super::super::{AccessKind, Observer, Origin, RequestId};
use super::{Hierarchy, Leaving};
use crate::reference::{Kind, Reference};
use crate::sim::request::Request;
use crate::units::Addr;

impl Hierarchy {
    /// Plays references in order: the same as [`Hierarchy::access`] of each, and many times as fast where nobody watches
    /// and the caches allow. The observer is told by [`Observer::begin`] where each reference begins.
    pub fn play<O: Observer>(&mut self, references: &[Reference], observer: &mut O) {
        match self.exceptions() {
            Some(exceptions) if observer.wants().is_nothing() => fast::play(self, references, exceptions),
            Some(exceptions) => fast::play_watched(self, references, exceptions, observer),
            None => {
                for reference in references {
                    observer.begin(reference);
                    self.access(reference, observer);
                }
            }
        }
    }

    /// What does not take the fast path; `None` where there is none.
    pub(in crate::sim) fn exceptions(&self) -> Option<Exceptions> {
        self.plan.fast.as_ref().map(|path| path.exceptions)
    }

    /// A cache on the fast path, counted from the CPU.
    #[inline]
    fn on_path(&self, at: usize) -> Option<usize> {
        self.plan.fast.as_ref().and_then(|path| path.caches.get(at)).copied()
    }
}

impl Surroundings for Hierarchy {
    fn caches(&self) -> usize {
        self.plan.fast.as_ref().map_or(0, |path| path.caches.len())
    }

    fn is_one_way(&self) -> bool {
        self.plan.fast.as_ref().is_some_and(|path| path.one_way)
    }

    #[inline]
    fn plain(&mut self, at: usize) -> Option<Plain<'_>> {
        let cache = self.on_path(at).filter(|cache| self.plan.spots[*cache].plain)?;
        self.caches[cache].plain()
    }

    fn access<O: Observer>(&mut self, reference: &Reference, observer: &mut O) {
        Hierarchy::access(self, reference, observer);
    }

    #[inline]
    fn number(&mut self, parent: Option<RequestId>) -> Origin {
        Hierarchy::number(self, parent)
    }

    #[inline]
    fn finish(&mut self) {
        self.next_request = RequestId::FIRST;
    }

    #[inline]
    fn place(&self, at: usize) -> Place {
        let Some(cache) = self.on_path(at) else { return Place::default() };
        Place { level: self.plan.spots[cache].info.level, cache: cache_id(cache) }
    }

    fn miss<O: Observer>(&mut self, reference: &Reference, victim: u64, origin: Origin, observer: &mut O) {
        let Some(cache) = self.on_path(0) else { return };
        let geometry = self.caches[cache].geometry();
        let line = geometry.line_of(Addr(reference.addr));
        let set = geometry.set_of(line);
        let kind = AccessKind::of(reference.kind);
        if reference.kind == Kind::Modify {
            // The loop has marked it for the write, which is still to come.
            self.caches[cache].set_dirty(set, 0, false);
        }
        let last = reference.addr + (u64::from(reference.size.max(1)) - 1);
        let request = Request { first: reference.addr, last, kind, core: 0, pc: reference.pc, fetch: false, origin };
        self.miss_plain(cache, (line, set, victim), request, observer);
    }

    fn request<O: Observer>(&mut self, at: usize, line: Line, kind: AccessKind, cause: Origin, observer: &mut O) {
        let first = line.number.0 << line.bits;
        let last = first | ((1 << line.bits) - 1);
        // Its own number is given where it is cut into lines.
        let origin = Origin { parent: Some(cause.request), ..cause };
        let request = Request { first, last, kind, core: 0, pc: 0, fetch: false, origin };
        Hierarchy::request(self, self.on_path(at), request, observer);
    }

    fn is_all(&self) -> bool {
        self.plan.fast.as_ref().is_some_and(|path| path.caches.len() == self.caches.len())
    }

    fn tell_gone<O: Observer>(&self, leaving: Leaving<'_, O>) {
        Hierarchy::tell_gone(self, leaving);
    }

    fn memory(&mut self, bytes: u64, reads: u64, writes: u64) {
        self.memory.reads += reads;
        self.memory.writes += writes;
        self.memory.bytes_read += reads * bytes;
        self.memory.bytes_written += writes * bytes;
    }
}
