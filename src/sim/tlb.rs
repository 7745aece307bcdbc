//! Translation buffers: caches of pages, asked before the data is. They are a path of their own beside the levels: a miss in
//! the outermost one is a page walk, whose own accesses are not simulated.

use super::cache::{Cache, Resident};
use super::config::Shapes;
use super::counters::LevelCounters;
use super::plan::{Plan, TlbInfo};
use super::policy::Note;
use super::request::Request;
use super::{Event, Geometry, Observer, Origin, RequestId};
use crate::units::{Addr, LineAddr, SetIndex};

/// The TLBs of all cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tlbs {
    spots: Vec<TlbInfo>,
    caches: Vec<Cache>,
    walks: u64,
}

impl Tlbs {
    pub(super) fn caches(&self) -> &[Cache] {
        &self.caches
    }

    pub(super) fn caches_mut(&mut self) -> (&mut [Cache], &mut u64) {
        (&mut self.caches, &mut self.walks)
    }

    pub(super) fn new(plan: &Plan, shapes: &Shapes) -> Self {
        let cache = |spot: &TlbInfo| {
            let tlb = &plan.config.tlbs[usize::from(spot.tlb)];
            let geometry = shapes.tlbs[usize::from(spot.tlb)];
            geometry.map(|geometry| Cache::new(geometry, tlb.policy, plan.config.seed, false))
        };
        Self {
            // Only TLBs that hold pages of the size in use have a spot.
            caches: plan.tlb_spots.iter().filter_map(cache).collect(),
            spots: plan.tlb_spots.clone(),
            walks: 0,
        }
    }

    /// Translates the pages of a request, from the first. Requests of TLBs have the numbers from `next` on; the number after them.
    #[inline]
    pub(super) fn translate<O: Observer>(
        &mut self,
        plan: &Plan,
        side: usize,
        request: Request,
        mut next: RequestId,
        observer: &mut O,
    ) -> RequestId {
        if self.caches.is_empty() {
            return next;
        }
        let shift = plan.config.memory.page.trailing_zeros();
        for page in (request.first >> shift..=request.last >> shift).map(LineAddr) {
            self.translate_page(&plan.tlb_paths[usize::from(request.core)][side], page, request, &mut next, observer);
        }
        next
    }

    fn translate_page<O: Observer>(
        &mut self,
        path: &[usize],
        page: LineAddr,
        request: Request,
        next: &mut RequestId,
        observer: &mut O,
    ) {
        let mut parent = None;
        for &at in path {
            let origin = Origin { request: *next, parent };
            (*next, parent) = (next.next(), Some(origin.request));
            let tlb = &mut self.caches[at];
            let set = tlb.geometry().set_of(page);
            let way = tlb.find(page, set);
            tlb.counters.count_access(request.kind);
            let hit = way.is_some();
            observer.event(Event::Translate { origin, tlb: self.spots[at].tlb, core: request.core, page, hit });
            if let Some(way) = way {
                tlb.touch(set, way);
                return;
            }
            tlb.counters.count_miss(request.kind);
            let (_, victim) = tlb.insert(page, set, false, Note::default());
            tlb.counters.fills += 1;
            tlb.counters.evictions += u64::from(victim.is_some());
        }
        self.walks += u64::from(!path.is_empty());
    }

    /// Number of TLBs at work, those of each core counted apart.
    #[must_use]
    pub fn len(&self) -> usize {
        self.caches.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.caches.is_empty()
    }

    /// Misses in the outermost TLB of their path.
    #[must_use]
    pub fn walks(&self) -> u64 {
        self.walks
    }

    /// Which TLB of the configuration the one at `at` is.
    ///
    /// # Panics
    /// Here and below: when there is none at `at`.
    #[must_use]
    pub fn tlb(&self, at: usize) -> usize {
        usize::from(self.spots[at].tlb)
    }

    /// Where it stands: which of the configuration's it is, whose, how far out.
    #[must_use]
    pub fn info(&self, at: usize) -> TlbInfo {
        self.spots[at]
    }

    /// The one that a core has of a TLB of the configuration; `None` where that holds other pages than those in use.
    #[must_use]
    pub fn find(&self, tlb: u8, core: u16) -> Option<usize> {
        self.spots.iter().position(|spot| spot.tlb == tlb && spot.core.is_none_or(|own| own == core))
    }

    /// Bytes that a clone takes.
    pub(super) fn state_bytes(&self) -> usize {
        size_of_val(self.spots.as_slice()) + self.caches.iter().map(Cache::state_bytes).sum::<usize>()
    }

    /// Its shape: lines are pages.
    #[must_use]
    pub fn geometry(&self, at: usize) -> &Geometry {
        self.caches[at].geometry()
    }

    /// Its counts.
    #[must_use]
    pub fn counters(&self, at: usize) -> &LevelCounters {
        &self.caches[at].counters
    }

    /// Counts of all that a TLB of the configuration has: one a core.
    #[must_use]
    pub fn sum(&self, tlb: usize) -> LevelCounters {
        let mut sum = LevelCounters::default();
        for (cache, _) in self.caches.iter().zip(&self.spots).filter(|(_, spot)| usize::from(spot.tlb) == tlb) {
            sum.add(&cache.counters);
        }
        sum
    }

    /// Pages of a set in eviction order, the next victim last.
    pub fn order(&self, at: usize, set: SetIndex) -> impl DoubleEndedIterator<Item = Resident> + '_ {
        self.caches[at].order(set)
    }

    /// Where the page of an address stands: its set and its place in the eviction order.
    #[must_use]
    pub fn rank(&self, at: usize, addr: Addr) -> Option<(SetIndex, u32)> {
        self.page_rank(at, self.caches[at].geometry().line_of(addr))
    }

    /// As [`Tlbs::rank`], of a page by its number.
    #[must_use]
    pub fn page_rank(&self, at: usize, page: LineAddr) -> Option<(SetIndex, u32)> {
        self.caches[at].rank(page)
    }
}
