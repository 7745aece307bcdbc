//! Counts by region and by span of time, while many references are played at once.

use super::summary::Summary;
use super::tally::{MAX_LEVELS, Tally};
use crate::reference::{Reference, RegionFinder};
use crate::sim::{Event, Observer};

/// Counts each reference to its region and each demand miss to the region and bucket of its reference. Wants to be told of
/// misses only, so that hits cost next to nothing.
pub(super) struct Count<'a> {
    regions: &'a mut RegionFinder,
    tally: &'a mut Tally,
    summary: Option<&'a mut Summary>,
    /// The next reference.
    tick: u64,
    /// Row of the tally of the reference at play.
    row: usize,
}

impl<'a> Count<'a> {
    /// From reference `tick` on.
    pub(super) fn new(
        regions: &'a mut RegionFinder,
        tally: &'a mut Tally,
        summary: Option<&'a mut Summary>,
        tick: u64,
    ) -> Self {
        Self { regions, tally, summary, tick, row: 0 }
    }
}

impl Observer for Count<'_> {
    #[inline(always)]
    fn event(&mut self, event: Event) {
        let Event::Access { level, kind, hit: false, .. } = event else { return };
        if kind.is_demand() && level.index() < MAX_LEVELS {
            self.tally.miss(self.row, level.index());
            if let Some(summary) = &mut self.summary {
                summary.miss(level.index());
            }
        }
    }

    #[inline(always)]
    fn begin(&mut self, reference: &Reference) {
        let region = self.regions.locate(reference.addr, self.tick).region;
        self.row = self.tally.begin(reference, region.map(|region| region as usize));
        if let Some(summary) = &mut self.summary {
            summary.begin(self.tick);
        }
        self.tick += 1;
    }

    #[inline(always)]
    fn wants_all(&self) -> bool {
        false
    }
}
