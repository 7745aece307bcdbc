//! What happens when: misses by class, and which arrays are touched where, over a number of stretches of a trace.

use super::whose::Whose;
use crate::reference::{Reference, Tables};
use crate::sim::{Classifier, Event, Hierarchy, MissClass, Observer};
use crate::units::LevelId;
use serde::Serialize;

/// Rows of the map of addresses.
const ROWS: usize = 96;
/// Rows that a region has at least.
const LEAST_ROWS: usize = 4;
/// Regions that have rows of their own.
pub(crate) const MOST_REGIONS: usize = 12;
/// Regions that have rows at any rate, and the share of references, one in so many, from which on others have.
const FIRST: usize = 4;
const SHARE: u64 = 2_000;

/// One stretch of references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stretch {
    /// Demand accesses of the level.
    pub accesses: u64,
    /// Those that missed: compulsory, capacity, conflict, coherence.
    pub classes: [u64; 4],
}

/// A region's part of the map of addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Band {
    /// Its number in the trace.
    pub region: usize,
    /// Its name.
    pub name: String,
    /// Its first byte and its bytes.
    pub base: u64,
    /// Bytes.
    pub bytes: u64,
    /// The rows it has; those before it are others'.
    pub rows: usize,
}

/// Counts a level's misses by class over time, and references over time and addresses: an [`Observer`].
#[derive(Clone, Debug)]
pub struct OverTime {
    level: LevelId,
    each: u64,
    classifier: Classifier,
    whose: Whose,
    /// By region: its first row, and its band.
    bands: Vec<Option<(usize, usize)>>,
    named: Vec<Band>,
    stretches: Vec<Stretch>,
    /// By row, then stretch: references.
    map: Vec<Vec<u64>>,
    begun: u64,
}

impl OverTime {
    /// Of a hierarchy that is still empty, and a trace of `length` references in at most `stretches` stretches. The map has the regions
    /// that `touched` (bytes or references, by region) ranks first; their parts grow with the
    /// logarithms of their bytes.
    #[must_use]
    pub fn new(
        hierarchy: &Hierarchy,
        level: LevelId,
        length: u64,
        stretches: usize,
        tables: &Tables,
        touched: &[u64],
    ) -> Self {
        let each = length.div_ceil(stretches.max(1) as u64).max(1);
        let count = usize::try_from(length.div_ceil(each)).unwrap_or(stretches);
        let mut first: Vec<usize> =
            (0..tables.regions.len()).filter(|n| touched.get(*n).copied().unwrap_or(0) > 0).collect();
        first.sort_by_key(|n| (std::cmp::Reverse(touched[*n]), *n));
        first.truncate(MOST_REGIONS);
        let all: u64 = touched.iter().sum();
        let mut place = 0;
        first.retain(|n| {
            place += 1;
            place <= FIRST || touched[*n].saturating_mul(SHARE) >= all
        });
        first.sort_by_key(|n| (tables.regions[*n].base, *n));
        // Sizes that differ by a thousand are seen side by side.
        let weight = |n: &usize| {
            let bits = u64::from(tables.regions[*n].bytes.max(2).ilog2());
            // A few bytes need no more than their least rows.
            bits.saturating_sub(5).max(1).pow(2)
        };
        let all: u64 = first.iter().map(weight).sum::<u64>().max(1);
        let mut bands = vec![None; tables.regions.len()];
        let (mut named, mut row) = (Vec::new(), 0);
        for (place, n) in first.iter().enumerate() {
            let region = &tables.regions[*n];
            let rows = usize::try_from(ROWS as u64 * weight(n) / all).unwrap_or(LEAST_ROWS).max(LEAST_ROWS);
            bands[*n] = Some((row, place));
            named.push(Band { region: *n, name: region.name.clone(), base: region.base, bytes: region.bytes, rows });
            row += rows;
        }
        Self {
            level,
            each,
            classifier: Classifier::new(hierarchy),
            whose: Whose::new(tables),
            bands,
            named,
            stretches: vec![Stretch::default(); count],
            map: vec![vec![0; count]; row],
            begun: 0,
        }
    }

    /// References of a stretch.
    #[must_use]
    pub fn each(&self) -> u64 {
        self.each
    }

    /// All stretches, in their order.
    #[must_use]
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// Regions of the map, by address.
    #[must_use]
    pub fn bands(&self) -> &[Band] {
        &self.named
    }

    /// References by row of the map and stretch.
    #[must_use]
    pub fn map(&self) -> &[Vec<u64>] {
        &self.map
    }

    fn now(&self) -> usize {
        usize::try_from(self.begun.saturating_sub(1) / self.each)
            .unwrap_or(0)
            .min(self.stretches.len().saturating_sub(1))
    }
}

impl Observer for OverTime {
    fn begin(&mut self, reference: &Reference) {
        self.begun += 1;
        let region = self.whose.begin(reference);
        if let Some(Some((row, place))) = self.bands.get(region) {
            let Band { base, bytes, rows, .. } = self.named[*place];
            let within = u128::from(reference.addr - base) * rows as u128 / u128::from(bytes.max(1));
            let row = row + usize::try_from(within).unwrap_or(0).min(rows - 1);
            let now = self.now();
            self.map[row][now] += 1;
        }
    }

    fn event(&mut self, event: Event) {
        self.classifier.begin();
        self.classifier.event(event);
        if let Event::Access { level, kind, hit, .. } = event
            && level == self.level
            && kind.is_demand()
        {
            let class = self.classifier.last_class(level).filter(|_| !hit);
            let now = self.now();
            let Some(stretch) = self.stretches.get_mut(now) else { return };
            stretch.accesses += 1;
            if let Some(class) = class {
                let place = match class {
                    MissClass::Compulsory => 0,
                    MissClass::Capacity => 1,
                    MissClass::Conflict => 2,
                    MissClass::Coherence => 3,
                };
                stretch.classes[place] += 1;
            }
        }
    }
}
