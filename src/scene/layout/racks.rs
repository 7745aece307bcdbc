//! Where the entries of TLBs stand: a band of their own between the CPU and the innermost caches, a rack of entries each.
//!
//! ```text
//!        .--------------------.       bands from the CPU outward: the TLBs that are asked first, then the next ones
//!      .'   L2 TLB rack         '.
//!     |   .----------------.      |   a set takes one or more neighbouring columns, its order runs through them as
//!     |  |  DTLB  |  ITLB   |     |   through a snake, so that a step of age is a step to the next place:
//!     |  |      (CPU)       |     |
//!     |   '----------------'      |      outward   3 4 .   0 = most recent, the last one = next victim
//!      '.                       .'       |         2 5 8
//!        '--------------------'          |         1 6 7
//!                                     CPU side     0 (...)
//! ```
//!
//! Columns are straight, not spiral: bands are thin, TLBs often one set of many ways, and a rack must read as another kind
//! of thing than a cache.

use super::rings::{CacheShape, Ring, SectorName, clockwise, describe, lay_out, name};
use super::{Radii, Rings, Sector};
use std::f32::consts::FRAC_PI_2;

/// The shape of one TLB, as the layout needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlbShape {
    /// As of a cache: lines are pages, the ring is its band, 0 = asked first.
    pub shape: CacheShape,
    /// Its place among those of its core on its band, clockwise, where that is not the order in which they come.
    pub place: u8,
}

/// How the entries of a TLB stand in its sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rack {
    /// Sets of the TLB.
    pub sets: u32,
    /// Ways of a set.
    pub ways: u32,
    /// Columns that a set takes; the sector's `sets` are columns.
    pub columns: u32,
    /// Places in a column; the sector's `ways` are rows.
    pub rows: u32,
}

/// Inner radius of the innermost band: the CPU's name stands below it.
const FIRST: f32 = 0.078;
/// Thickness of a band.
const THICK: f32 = 0.034;
/// Free way outside a band: a name stands there.
const GAP: f32 = 0.038;
/// Room that all bands may take; more of them are thinner.
const ROOM: f32 = 0.22;
/// Rows at most.
const MAX_ROWS: u32 = 64;

impl Rack {
    /// The columns and rows for which entries stand about as far apart round the ring as inward, in a sector that is
    /// `aspect` times as long as thick.
    #[must_use]
    pub fn new(sets: u32, ways: u32, aspect: f32) -> Self {
        let (sets, ways) = (sets.max(1), ways.max(1));
        let uneven = |rows: u32| {
            let columns = ways.div_ceil(rows);
            (aspect * rows as f32 / (sets as f32 * columns as f32)).ln().abs()
        };
        let rows = (1..=ways.min(MAX_ROWS)).min_by(|&a, &b| uneven(a).total_cmp(&uneven(b))).unwrap_or(1);
        let columns = ways.div_ceil(rows);
        Self { sets, ways, columns, rows: ways.div_ceil(columns) }
    }

    /// Column and row of the entry at `rank` of `set`.
    #[must_use]
    pub fn slot(&self, set: u32, rank: u32) -> (u32, u32) {
        let (column, step) = (rank / self.rows, rank % self.rows);
        let row = if column.is_multiple_of(2) { step } else { self.rows - 1 - step };
        (set * self.columns + column, row)
    }

    /// Set and rank of the entry in a column and row; `None` where the last column of a set has places left over.
    #[must_use]
    pub fn entry(&self, column: u32, row: u32) -> Option<(u32, u32)> {
        let (set, column) = (column / self.columns, column % self.columns);
        let step = if column.is_multiple_of(2) { row } else { self.rows - 1 - row };
        let rank = column * self.rows + step;
        (rank < self.ways).then_some((set, rank))
    }
}

/// The bands of some TLBs: for each band its radii, and the radius where the caches begin.
pub(super) fn bands(count: usize) -> (Vec<[f32; 2]>, f32) {
    let scale = (ROOM / (count as f32 * (THICK + GAP))).min(1.0);
    let at = |n: usize| FIRST + n as f32 * scale * (THICK + GAP);
    ((0..count).map(|n| [at(n), at(n) + scale * THICK]).collect(), at(count))
}

/// What is laid out of TLBs.
pub(super) struct Racked {
    pub(super) rings: Vec<Ring>,
    /// By TLB.
    pub(super) sectors: Vec<Sector>,
    pub(super) names: Vec<SectorName>,
    pub(super) racks: Vec<Rack>,
}

/// Lays out the TLBs on bands of these radii, those named `idle` with little room; their rings are numbered from `ring`.
pub(super) fn rack((tlbs, idle): (&[TlbShape], &[String]), bands: &[[f32; 2]], ring: u16) -> Racked {
    let shapes: Vec<CacheShape> = tlbs.iter().map(|tlb| tlb.shape.clone()).collect();
    let mut laid: Vec<(usize, Sector, Rack)> = Vec::with_capacity(tlbs.len());
    let mut rings = Vec::with_capacity(bands.len());
    for ((depth, &[r0, r1]), ring) in depths(&shapes).into_iter().zip(bands).zip(ring..) {
        let mut members = clockwise(&shapes, depth);
        members.sort_by_key(|&n| (shapes[n].core.map_or(u32::MAX, u32::from), tlbs[n].place));
        for (&n, sector) in members.iter().zip(lay_out((ring, Radii::Fit), [r0, r1], (&shapes, idle), &members, 0.0)) {
            let rack = Rack::new(sector.sets, sector.ways, sector.span * 0.5 * (r0 + r1) / (r1 - r0));
            laid.push((n, folded(sector, rack), rack));
        }
        rings.push(describe([r0, r1], &shapes, &members));
    }
    laid.sort_by_key(|(n, ..)| *n);
    Racked {
        rings,
        sectors: laid.iter().map(|(_, sector, _)| *sector).collect(),
        names: shapes.iter().map(name).collect(),
        racks: laid.iter().map(|(.., rack)| *rack).collect(),
    }
}

/// The depths there are, the innermost first.
pub(super) fn depths(shapes: &[CacheShape]) -> Vec<usize> {
    let mut depths: Vec<usize> = shapes.iter().map(|s| s.ring).collect();
    depths.sort_unstable();
    depths.dedup();
    depths
}

/// The sector with columns for sets and rows for ways. One that has its band to itself begins at the top.
fn folded(sector: Sector, rack: Rack) -> Sector {
    let start = if sector.is_whole() { -FRAC_PI_2 } else { sector.edges()[0] };
    let (sets, ways) = (rack.sets * rack.columns, rack.rows);
    let area = 0.5 * sector.span * (sector.r1 * sector.r1 - sector.r0 * sector.r0);
    let pitch = (area / (sets as f32 * ways as f32)).sqrt();
    Sector { sets, ways, pitch, theta0: start + 0.5 * sector.span / sets as f32, ..sector }
}

impl Rings {
    /// Sectors that are caches: those of TLBs come after them.
    #[must_use]
    pub fn caches(&self) -> usize {
        self.sectors.len() - self.racks.len()
    }

    /// The TLB whose sector this is; `None` where it is a cache's.
    #[must_use]
    pub fn tlb_of(&self, sector: usize) -> Option<usize> {
        sector.checked_sub(self.caches())
    }

    /// One name for all TLBs, where each cannot have its own: that of the only one, or `TLBs`.
    #[must_use]
    pub fn tlb_name(&self) -> &str {
        match &self.tlb_rings[..] {
            [only] if !only.name.contains(", ") => &only.name,
            _ => "TLBs",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::TAU;

    fn tlb(ring: usize, name: &str, core: Option<u16>, sets: u32, ways: u32) -> TlbShape {
        TlbShape { shape: CacheShape { ring, name: name.into(), core, sets, ways, line_bytes: 4096 }, place: 0 }
    }

    fn cache(ring: usize, core: Option<u16>) -> CacheShape {
        CacheShape { ring, name: format!("L{ring}"), core, sets: 64, ways: 8, line_bytes: 64 }
    }

    #[test]
    fn each_entry_has_a_place_and_age_goes_step_by_step() {
        for (sets, ways, aspect) in
            [(1, 64, 7.0), (1, 72, 7.0), (128, 24, 20.0), (512, 1, 30.0), (1, 1, 1.0), (16, 4, 3.0), (1, 4096, 40.0)]
        {
            let rack = Rack::new(sets, ways, aspect);
            let mut seen = std::collections::BTreeSet::new();
            for (set, rank) in (0..sets).flat_map(|set| (0..ways).map(move |rank| (set, rank))) {
                let (column, row) = rack.slot(set, rank);
                assert!(column < sets * rack.columns && row < rack.rows, "{rack:?}");
                assert_eq!(rack.entry(column, row), Some((set, rank)), "{rack:?}");
                assert!(seen.insert((column, row)), "{rack:?}: two at {column}, {row}");
                if rank > 0 {
                    let (before, beside) = rack.slot(set, rank - 1);
                    assert_eq!(column.abs_diff(before) + row.abs_diff(beside), 1, "{rack:?} at {rank}");
                }
            }
            let places = sets * rack.columns * rack.rows;
            let empty = (0..sets * rack.columns)
                .flat_map(|column| (0..rack.rows).map(move |row| (column, row)))
                .filter(|&(column, row)| rack.entry(column, row).is_none())
                .count();
            assert_eq!(u32::try_from(empty).expect("few"), places - sets * ways, "{rack:?}");
        }
    }

    #[test]
    fn entries_stand_about_as_far_apart_either_way() {
        for (sets, ways, aspect) in [(1, 64, 7.0), (1, 72, 7.0), (128, 24, 20.0), (16, 4, 3.5), (256, 4, 40.0)] {
            let rack = Rack::new(sets, ways, aspect);
            let uneven = aspect * rack.rows as f32 / (sets * rack.columns) as f32;
            assert!((0.5..=2.0).contains(&uneven), "{rack:?}: {uneven}");
        }
    }

    #[test]
    fn bands_stand_between_the_cpu_and_the_caches_whatever_their_number() {
        for count in 1..=8 {
            let tlbs: Vec<TlbShape> = (0..count).map(|n| tlb(n, &format!("T{n}"), None, 1, 64)).collect();
            let rings = Rings::with_tlbs(&[cache(0, None), cache(1, None)], &tlbs);
            assert_eq!((rings.caches(), rings.tlb_rings.len(), rings.racks.len()), (2, count, count));
            assert_eq!((rings.tlb_of(1), rings.tlb_of(2)), (None, Some(0)));
            let mut edge = rings.cpu;
            for ring in rings.tlb_rings.iter().chain(&rings.rings) {
                assert!(ring.r0 > edge && ring.r1 > ring.r0, "{count}: {ring:?}");
                edge = ring.r1;
            }
            assert!(edge < rings.home_r0);
            for (ring, n) in rings.tlb_rings.iter().zip(0..) {
                assert_eq!(ring.sectors, [2 + n], "sectors of TLBs come after those of caches");
            }
        }
    }

    #[test]
    fn without_tlbs_nothing_is_different() {
        let shapes = [cache(0, None), cache(1, Some(0)), cache(1, Some(1))];
        let rings = Rings::with_tlbs(&shapes, &[]);
        assert_eq!(rings, Rings::new(&shapes));
        assert_eq!((rings.rings[0].r0, rings.caches()), (0.105, 3));
    }

    #[test]
    fn a_core_has_its_tlbs_where_it_has_its_caches() {
        let cores = |name: &str, place, ways| {
            let of = |core| TlbShape { place, ..tlb(0, name, Some(core), 1, ways) };
            (0..4).map(of).collect::<Vec<_>>()
        };
        // ITLB comes first in the file, but its place is the second.
        let mut tlbs = cores("ITLB", 1, 48);
        tlbs.extend(cores("DTLB", 0, 64));
        tlbs.push(tlb(1, "L2 TLB", None, 128, 8));
        let caches: Vec<CacheShape> = (0..4).map(|core| cache(0, Some(core))).collect();
        let rings = Rings::with_tlbs(&caches, &tlbs);
        assert_eq!(rings.tlb_rings[0].sectors, [8, 4, 9, 5, 10, 6, 11, 7], "core by core, data first");
        assert_eq!(rings.names[8].full, "DTLB core 0");
        assert_eq!(rings.tlb_name(), "TLBs");
        for core in 0..4usize {
            let middle = |n: usize| rings.sectors[n].middle(rings.sectors[n].r1);
            let of_core = 0.5 * (middle(4 + core) + middle(8 + core));
            assert!((of_core - middle(core)).abs() < 0.1 * TAU, "core {core}");
            assert!(middle(8 + core) < middle(4 + core));
        }
        // Every entry of every TLB lies in its own sector only.
        for (tlb, rack) in rings.racks.iter().enumerate() {
            let n = rings.caches() + tlb;
            for (set, rank) in (0..rack.sets).flat_map(|set| (0..rack.ways).map(move |rank| (set, rank))) {
                let (column, row) = rack.slot(set, rank);
                let [r, theta] = rings.sectors[n].polar(column as f32, row as f32);
                let owners: Vec<usize> =
                    (0..rings.sectors.len()).filter(|&o| rings.sectors[o].contains(r, theta)).collect();
                assert_eq!(owners, [n], "set {set}, rank {rank}");
            }
        }
    }
}
