//! Several cores: before a store the other cores' copies go, before a request leaves a core's private caches the other
//! cores' dirty copies are written back.

use super::super::{AccessKind, Cause, Event, Observer, Origin};
use super::Hierarchy;
use crate::sim::request::Request;
use crate::units::{Addr, LineAddr};

impl Hierarchy {
    /// As [`Hierarchy::request`] at the innermost cache of a core, with what other cores have to do first.
    pub(super) fn play_coherent<O: Observer>(&mut self, cache: Option<usize>, request: Request, observer: &mut O) {
        let Some(cache) = cache else {
            let request = Request { origin: self.number(None), ..request };
            self.before_access(request, observer);
            self.before_leaving(request, request.origin, observer);
            self.access_memory(request, observer);
            return;
        };
        let leaves = !self.plan.spots[cache].private;
        let geometry = self.caches[cache].geometry();
        let (first, end) = (geometry.line_of(Addr(request.first)), geometry.line_of(Addr(request.last)));
        for line in (first.0..=end.0).map(LineAddr) {
            let geometry = self.caches[cache].geometry();
            let first = request.first.max(geometry.base_of(line).0);
            let last = request.last.min(geometry.last_of(line).0);
            let request = Request { origin: self.number(None), ..request };
            let piece = Request { first, last, ..request };
            self.before_access(piece, observer);
            if leaves {
                self.before_leaving(piece, piece.origin, observer);
            }
            self.access_line(cache, line, request, observer);
        }
    }

    /// Before a piece within one line of the innermost cache plays. That is within one unit, but where the innermost cache is
    /// shared (and only instructions are private, say) or there is none.
    fn before_access<O: Observer>(&mut self, piece: Request, observer: &mut O) {
        let Some(directory) = &self.directory else { return };
        for unit in directory.unit_of(piece.first)..=directory.unit_of(piece.last) {
            let Some(directory) = &self.directory else { return };
            let (first, last) = directory.span(unit);
            let (first, last) = (piece.first.max(first), piece.last.min(last));
            self.before_unit(unit, Request { first, last, ..piece }, observer);
        }
    }

    fn before_unit<O: Observer>(&mut self, unit: u64, piece: Request, observer: &mut O) {
        let Some(directory) = &mut self.directory else { return };
        let (core, origin) = (piece.core, piece.origin);
        if let Some(back) = directory.comes_back(core, unit, piece.first, piece.last) {
            let addr = Addr(directory.span(unit).0);
            observer.event(Event::Sharing { origin, unit: addr, core, by: back.by, falsely: back.falsely });
        }
        if piece.kind != AccessKind::Write {
            return;
        }
        for other in directory.others(core, unit) {
            self.write_dirt_back(other, unit, origin, observer);
            self.take(other, unit, origin, observer);
            if let Some(directory) = &mut self.directory {
                directory.took(core, unit, other);
            }
        }
        if let Some(directory) = &mut self.directory {
            directory.writes(core, unit, piece.first, piece.last);
        }
    }

    /// Before a read leaves the private caches, because of the request `cause`: other cores' dirty copies are written back, and stay.
    pub(super) fn before_leaving<O: Observer>(&mut self, request: Request, cause: Origin, observer: &mut O) {
        if request.kind.is_write() {
            return;
        }
        let Some(directory) = &self.directory else { return };
        let units = directory.unit_of(request.first)..=directory.unit_of(request.last);
        for unit in units {
            let Some(directory) = &self.directory else { return };
            for other in directory.others(request.core, unit) {
                self.write_dirt_back(other, unit, cause, observer);
            }
        }
    }

    /// Cleans a core's copies of a unit: dirt moves outward within the core where a larger copy is, and else to the first
    /// shared level or memory.
    fn write_dirt_back<O: Observer>(&mut self, core: u16, unit: u64, cause: Origin, observer: &mut O) {
        let mut any = false;
        self.each_copy(core, unit, |this, cache, line| {
            let set = this.caches[cache].geometry().set_of(line);
            let Some(way) = this.caches[cache].find(line, set) else { return };
            if !this.caches[cache].is_dirty(set, way) {
                return;
            }
            any = true;
            this.clean(cache, set, way, cause, observer);
            let dirty = this.take_dirty_sectors(cache, set, way);
            if this.merge_outward(cache, line, dirty) {
                return;
            }
            let mut to = Some(cache);
            while let Some(at) = to
                && this.plan.spots[at].private
            {
                to = this.plan.outward(at);
            }
            this.send_dirty(cache, (line, dirty), to, (core, cause), observer);
        });
        if any && let Some(directory) = &mut self.directory {
            directory.counters.interventions += 1;
        }
    }

    /// Makes an outer private copy of a line dirty in its stead, where these sectors of it are; `false` where there is none.
    fn merge_outward(&mut self, cache: usize, line: LineAddr, dirty: u32) -> bool {
        let geometry = self.caches[cache].geometry();
        let (first, last) = (geometry.base_of(line).0, geometry.last_of(line).0);
        let mut next = self.plan.outward(cache);
        while let Some(outer) = next.filter(|outer| self.plan.spots[*outer].private) {
            let geometry = self.caches[outer].geometry();
            let (outer_line, end) = (geometry.line_of(Addr(first)), geometry.line_of(Addr(last)));
            let set = geometry.set_of(outer_line);
            if outer_line == end
                && let Some(way) = self.caches[outer].find(outer_line, set)
            {
                let dirty = if self.plan.spots[cache].sectors > 1 { dirty } else { 1 };
                let runs = self.runs(cache, line, dirty);
                let sectors = runs.fold(0, |all, (first, last)| all | self.sectors(outer, first, last));
                self.caches[outer].set_dirty(set, way, true);
                if let Some(note) = self.caches[outer].note_mut(set, way) {
                    note.dirty |= sectors;
                    note.valid |= sectors;
                }
                return true;
            }
            next = self.plan.outward(outer);
        }
        false
    }

    /// Removes a core's copies of a unit.
    fn take<O: Observer>(&mut self, core: u16, unit: u64, cause: Origin, observer: &mut O) {
        self.each_copy(core, unit, |this, cache, line| {
            let set = this.caches[cache].geometry().set_of(line);
            if let Some(way) = this.caches[cache].find(line, set) {
                this.drop_line(cache, set, way, (Cause::Coherence, cause), observer);
            }
        });
    }

    /// Every line of a core's private caches that overlaps a unit, from the innermost cache outward, there or not.
    fn each_copy(&mut self, core: u16, unit: u64, mut visit: impl FnMut(&mut Self, usize, LineAddr)) {
        let Some((first, last)) = self.directory.as_ref().map(|directory| directory.span(unit)) else { return };
        for at in 0..self.plan.private[usize::from(core)].len() {
            let cache = self.plan.private[usize::from(core)][at];
            let geometry = self.caches[cache].geometry();
            let lines = geometry.line_of(Addr(first)).0..=geometry.line_of(Addr(last)).0;
            for line in lines.map(LineAddr) {
                visit(self, cache, line);
            }
        }
    }

    /// A line came into a cache.
    #[inline]
    pub(super) fn came(&mut self, cache: usize, line: LineAddr) {
        if let Some(directory) = &mut self.directory
            && let Some(core) = self.plan.spots[cache].info.core
        {
            let addr = self.caches[cache].geometry().base_of(line).0;
            directory.came(core, directory.unit_of(addr));
        }
    }

    /// A line left a cache.
    #[inline]
    pub(super) fn left(&mut self, cache: usize, line: LineAddr) {
        if self.directory.is_some() {
            self.left_private(cache, line);
        }
    }

    fn left_private(&mut self, cache: usize, line: LineAddr) {
        let Some(core) = self.plan.spots[cache].info.core else { return };
        let addr = self.caches[cache].geometry().base_of(line).0;
        let Some(unit) = self.directory.as_ref().map(|directory| directory.unit_of(addr)) else { return };
        let mut any = false;
        self.each_copy(core, unit, |this, cache, line| any |= this.holds(cache, line));
        if !any && let Some(directory) = &mut self.directory {
            directory.left(core, unit);
        }
    }
}
