//! Memory's band: one arc a region, in address order, each item at a fixed home. Of thousands of regions some share an arc: `arcs`.
//!
//! Within an arc the items keep the array's own shape where it is known: columns along the arc, rows inward (row 0
//! outermost), so that a column walk looks like one. Where the shape is unknown or too fine to read, items stand in
//! address order on as many rows as makes the spacing even. Closer up an item splits into finer ones: `finer`.

use super::arcs::{self, HomeArc, Shared};
use crate::reference::{Region, RegionFinder, RegionMap};
use crate::scene::RegionOrder;
use crate::units::to_count;
use std::collections::BTreeMap;
use std::f32::consts::FRAC_PI_2;
use std::sync::Arc;

/// One region's arc.
#[derive(Clone, Debug, PartialEq)]
pub struct HomeRegion {
    /// First byte, rounded down to an item.
    pub base: u64,
    /// Bytes an item stands for; a power of two.
    pub item_bytes: u64,
    /// Items in it.
    pub items: u64,
    /// Items along the arc.
    pub columns: u64,
    /// Items inward.
    pub rows: u64,
    /// Angle where the arc starts, radians, clockwise from the right.
    pub theta0: f32,
    /// Angle the arc spans, radians.
    pub span: f32,
    /// Number of this home's first item, counted over all regions.
    pub first_item: u64,
    /// First byte and last byte of the region itself.
    pub own: [u64; 2],
    /// Bytes of an element, 1 and up.
    pub element: u64,
    /// Bytes of the finest dot: an element, rounded up to a power of two; an item's at most.
    pub finest: u64,
}

/// Homes of everything the trace touches.
#[derive(Clone, Debug)]
pub struct HomeLayout {
    /// Bytes of a line, into which larger items split before they split into elements; a power of two.
    pub line_bytes: u64,
    /// As the regions were given.
    pub regions: Vec<HomeRegion>,
    /// The arcs that they stand in, in order round the circle.
    pub arcs: Arc<[HomeArc]>,
    map: RegionMap,
    /// First byte and number of each region, by first byte.
    starts: Vec<(u64, usize)>,
    pub(in crate::scene) r0: f32,
    pub(in crate::scene) r1: f32,
    /// Addresses grow along the arc: items stand inward first. Else they stand along the arc first, as an array's rows do.
    pub along: bool,
    /// The arcs, and where each region begins, in the order of the trace.
    first: (Arc<[HomeArc]>, Arc<[f32]>),
}

/// Where regions stand round the circle.
struct Places {
    arcs: Arc<[HomeArc]>,
    /// Where each region begins, and the angle that it spans.
    regions: Vec<[f32; 2]>,
}

impl Places {
    fn new(regions: &[Region], items: &[f32], least: f32) -> Self {
        let shared = arcs::arcs(regions, items, least);
        let sums: Vec<f32> = shared.iter().map(|arc| arc.items).collect();
        let gap = arcs::gap(shared.len());
        let mut theta = start(gap);
        let mut places = vec![[0.0; 2]; regions.len()];
        let mut arcs = Vec::with_capacity(shared.len());
        for (Shared { name, regions, .. }, span) in shared.into_iter().zip(arcs::spans(&sums)) {
            let all: f32 = regions.iter().map(|&n| items[n].sqrt()).sum::<f32>().max(f32::MIN_POSITIVE);
            let mut from = theta;
            for &n in &regions {
                places[n] = [from, span * items[n].sqrt() / all];
                from += places[n][1];
            }
            arcs.push(HomeArc { theta0: theta, span, name, regions });
            theta += span + gap;
        }
        Self { arcs: arcs.into(), regions: places }
    }
}

/// Where the first arc begins, the gap between arcs being so wide.
fn start(gap: f32) -> f32 {
    -FRAC_PI_2 + 0.5 * gap
}

/// Stretches of memory that are looked at for one page, at most: one of 1 GiB may have millions of regions.
const STRETCHES: usize = 4096;

/// Rows inward past which dots no longer read as dots.
const MAX_ROWS: u64 = 40;

impl HomeLayout {
    /// As [`HomeLayout::by`], with items of one size.
    #[must_use]
    pub fn new(regions: &[Region], item_bytes: u64, r0: f32, r1: f32) -> Self {
        let line_bytes = item_bytes.max(1).next_power_of_two();
        Self { line_bytes, ..Self::by(regions, |_| item_bytes, 0.0, r0, r1) }
    }

    /// Lays out `regions` between the radii `r0` and `r1`, by the number of a region the bytes of its items. The share of the
    /// circle that a region gets grows with the square root of its items. Where that is less than an angle of `least` for some,
    /// regions share arcs: see [`HomeArc`].
    #[must_use]
    pub fn by(regions: &[Region], item_bytes: impl Fn(usize) -> u64, least: f32, r0: f32, r1: f32) -> Self {
        let counts: Vec<(u64, u64, u64)> = regions
            .iter()
            .enumerate()
            .map(|(at, r)| {
                let item_bytes = item_bytes(at).max(1).next_power_of_two();
                let base = r.base / item_bytes * item_bytes;
                let last = r.base.saturating_add(r.bytes.max(1) - 1) / item_bytes;
                (base, last - base / item_bytes + 1, item_bytes)
            })
            .collect();
        let places = Places::new(regions, &counts.iter().map(|&(_, n, _)| n as f32).collect::<Vec<_>>(), least);
        let mut first_item = 0;
        let homes = regions
            .iter()
            .zip(&counts)
            .zip(&places.regions)
            .map(|((region, &(base, items, item_bytes)), &[theta0, span])| {
                let arc_length = span * 0.5 * (r0 + r1);
                let (columns, rows) = grid(region, items, item_bytes, arc_length / (r1 - r0));
                let own = [region.base, region.base.saturating_add(region.bytes.max(1) - 1)];
                let element = u64::from(region.elem_bytes.max(1));
                let finest = element.next_power_of_two().min(item_bytes);
                let home = HomeRegion {
                    base,
                    item_bytes,
                    items,
                    columns,
                    rows,
                    theta0,
                    span,
                    first_item,
                    own,
                    element,
                    finest,
                };
                first_item += items;
                home
            })
            .collect();
        let mut starts: Vec<(u64, usize)> = regions.iter().enumerate().map(|(i, r)| (r.base, i)).collect();
        starts.sort_unstable();
        Self {
            line_bytes: 1,
            regions: homes,
            first: (Arc::clone(&places.arcs), places.regions.iter().map(|[theta0, _]| *theta0).collect()),
            arcs: places.arcs,
            map: RegionMap::new(regions),
            starts,
            r0,
            r1,
            along: false,
        }
    }

    /// Has the regions stand in this order. Each keeps its number, its items, its span and its grid. Where several share an arc, the arc
    /// stands where the first of them does.
    pub(in crate::scene) fn put(&mut self, order: &RegionOrder) {
        let (arcs, begins) = &self.first;
        self.arcs = Arc::clone(arcs);
        for (home, &theta0) in self.regions.iter_mut().zip(&**begins) {
            home.theta0 = theta0;
        }
        if order.is_plain() {
            return;
        }
        let first: BTreeMap<usize, usize> = order.first().iter().copied().zip(0..).collect();
        let place = |at: usize| arcs[at].regions.iter().filter_map(|region| first.get(region)).min();
        let mut put: Vec<usize> = (0..arcs.len()).collect();
        put.sort_by_key(|&at| place(at).map_or((true, at), |place| (false, *place)));
        let gap = arcs::gap(arcs.len());
        let mut theta = start(gap);
        let moved = |at: usize| {
            let arc = HomeArc { theta0: theta, ..arcs[at].clone() };
            for &region in &arc.regions {
                self.regions[region].theta0 = theta + (begins[region] - arcs[at].theta0);
            }
            theta += arc.span + gap;
            arc
        };
        self.arcs = put.into_iter().map(moved).collect();
    }

    /// Number of items over all regions.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.regions.last().map_or(0, |r| r.first_item + r.items)
    }

    /// The region and item of an address at reference `tick` (nearest in time, where none lives then); `None` for an
    /// address that no region ever held.
    #[must_use]
    pub fn item(&self, addr: u64, tick: u64) -> Option<(usize, u64)> {
        let region = self.map.nearest(addr, tick).or_else(|| {
            // An item's first byte may lie before a region that does not start at an item's border.
            let &(base, region) = self.starts.get(self.starts.partition_point(|&(base, _)| base <= addr))?;
            let item_bytes = self.regions[region].item_bytes;
            (base / item_bytes == addr / item_bytes).then_some(region)
        })?;
        let home = &self.regions[region];
        let item = addr.saturating_sub(home.base) / home.item_bytes;
        Some((region, item.min(home.items - 1)))
    }

    /// What regions lie where.
    pub(in crate::scene) fn map(&self) -> &RegionMap {
        &self.map
    }

    /// As [`HomeLayout::item`], by a finder of [`HomeLayout::map`]: quicker where many addresses are asked for.
    pub(in crate::scene) fn item_by(&self, finder: &mut RegionFinder, addr: u64, tick: u64) -> Option<(usize, u64)> {
        let Some(region) = finder.locate(addr, tick).region else { return self.item(addr, tick) };
        let home = &self.regions[region as usize];
        let item = addr.saturating_sub(home.base) / home.item_bytes;
        Some((region as usize, item.min(home.items - 1)))
    }

    /// The regions that hold bytes of `first..=last` at reference `tick` and how many, most first.
    #[must_use]
    pub fn held(&self, first: u64, last: u64, tick: u64) -> Vec<(usize, u64)> {
        self.held_while(first, last, tick).0
    }

    /// As [`HomeLayout::held`], with references `[from, to)` for which that is so.
    pub(in crate::scene) fn held_while(&self, first: u64, last: u64, tick: u64) -> (Vec<(usize, u64)>, [u64; 2]) {
        let mut held: BTreeMap<u32, u64> = BTreeMap::new();
        let (mut from, mut to, mut at) = (0, u64::MAX, first);
        for _ in 0..STRETCHES {
            let stretch = self.map.locate(at, tick);
            (from, to) = (stretch.from.max(from), stretch.to.min(to));
            let end = stretch.last.min(last);
            if let Some(region) = stretch.region {
                *held.entry(region).or_default() += end - at + 1;
            }
            if end >= last {
                break;
            }
            at = end + 1;
        }
        let mut held: Vec<(usize, u64)> = held.into_iter().map(|(region, bytes)| (region as usize, bytes)).collect();
        held.sort_by_key(|&(region, bytes)| (std::cmp::Reverse(bytes), region));
        (held, [from, to])
    }

    /// `(r, theta)` of an item's home.
    #[must_use]
    pub fn polar(&self, region: usize, item: u64) -> [f32; 2] {
        self.place(region, self.cell(region, item))
    }

    /// `(r, theta)` of a place in a region's grid.
    pub(super) fn place(&self, region: usize, [column, row]: super::finer::Cell) -> [f32; 2] {
        let home = &self.regions[region];
        let theta = home.theta0 + home.span * (column as f32 + 0.5) / home.columns as f32;
        let r = self.r1 - (self.r1 - self.r0) * (row as f32 + 0.5) / home.rows as f32;
        [r, theta]
    }

    /// Radius of the middle of the band.
    #[must_use]
    pub fn middle(&self) -> f32 {
        0.5 * (self.r0 + self.r1)
    }

    /// Distance between neighbouring items of a region, the smaller of along and inward, in world units.
    #[must_use]
    pub fn pitch(&self, region: usize) -> f32 {
        let home = &self.regions[region];
        let inward = (self.r1 - self.r0) / home.rows as f32;
        let along = home.span * 0.5 * (self.r0 + self.r1) / home.columns as f32;
        inward.min(along)
    }
}

/// Columns and rows for `items`; `aspect` is arc length over band height.
fn grid(region: &Region, items: u64, item_bytes: u64, aspect: f32) -> (u64, u64) {
    let items = items.max(1);
    if let Some(row_bytes) = region.layout().ok().and_then(|layout| layout.row_bytes()) {
        let whole = row_bytes.is_multiple_of(item_bytes) && row_bytes > 0 && region.base.is_multiple_of(item_bytes);
        // The last row may end early, where its padding is not part of the region.
        let (columns, rows) = (row_bytes / item_bytes, items.div_ceil((row_bytes / item_bytes).max(1)));
        if whole && (2..=MAX_ROWS).contains(&rows) {
            // A shape far from the band's own would leave slivers; then even spacing tells more.
            let skew = columns as f32 / rows as f32 / aspect;
            if (0.08..=12.0).contains(&skew) {
                return (columns, rows);
            }
        }
    }
    let even = (items as f32 / aspect.max(0.01)).sqrt();
    let rows = u64::from(to_count(even - 0.5)).clamp(1, MAX_ROWS.min(items));
    (items.div_ceil(rows), rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::TAU;

    fn region(name: &str, base: u64, shape: &[u64]) -> Region {
        Region { shape: shape.into(), ..Region::new(name, base, shape.iter().product::<u64>() * 8) }
    }

    fn three() -> [Region; 3] {
        [region("A", 0x1000, &[16, 16]), region("B", 0x1800, &[16, 16]), region("C", 0x2000, &[16, 16])]
    }

    #[test]
    fn regions_stand_in_the_order_that_is_asked_for_and_go_back() {
        let regions: Vec<Region> = (0..5)
            .map(|n| region(["A", "B #1", "C", "B #2", "D"][n], 0x1000 + 0x1000 * n as u64, &[4 << n, 8]))
            .collect();
        for least in [0.0, 1.0] {
            let plain = HomeLayout::by(&regions, |_| 8, least, 0.78, 0.97);
            let shares = plain.arcs.len() < 5;
            assert_eq!(shares, least > 0.0);
            let mut home = plain.clone();
            for order in [[4, 1], [2, 0]] {
                home.put(&RegionOrder::new(order));
                let stands = |home: &HomeLayout| -> Vec<usize> {
                    let mut all: Vec<usize> = (0..5).collect();
                    all.sort_by(|a, b| home.regions[*a].theta0.total_cmp(&home.regions[*b].theta0));
                    all
                };
                if !shares {
                    assert_eq!(stands(&home), RegionOrder::new(order).all(5));
                }
                let mut end = -FRAC_PI_2;
                for arc in &*home.arcs {
                    assert!(arc.theta0 > end, "arcs lie beside each other");
                    end = arc.theta0 + arc.span;
                    for &n in &arc.regions {
                        let (own, was) = (&home.regions[n], &plain.regions[n]);
                        assert!(own.theta0 > arc.theta0 - 1e-5 && own.theta0 + own.span < end + 1e-5, "in its arc");
                        assert_eq!(HomeRegion { theta0: was.theta0, ..own.clone() }, *was, "nothing else is changed");
                    }
                }
                assert!(end < TAU - FRAC_PI_2);
            }
            home.put(&RegionOrder::default());
            assert_eq!((&home.regions, &home.arcs), (&plain.regions, &plain.arcs));
        }
    }

    #[test]
    fn a_column_walk_moves_inward_at_one_angle() {
        let home = HomeLayout::new(&three(), 8, 0.78, 0.97);
        let b = |row: u64, column: u64| {
            let (region, item) = home.item(0x1800 + (row * 16 + column) * 8, 0).expect("inside B");
            assert_eq!(region, 1);
            home.polar(region, item)
        };
        for row in 1..16 {
            assert_eq!(b(row, 5)[1], b(0, 5)[1]);
            assert!(b(row, 5)[0] < b(row - 1, 5)[0]);
        }
        assert!(b(0, 6)[1] > b(0, 5)[1]);
    }

    #[test]
    fn a_column_of_an_array_with_strides_stands_at_one_angle() {
        // Rows of 16 with one element of padding, behind the last one too or not, and as columns.
        for (strides, bytes) in [([17, 1], 16 * 17 * 8), ([17, 1], (15 * 17 + 16) * 8), ([1, 17], 16 * 17 * 8)] {
            let padded = |of: Region| Region { bytes, strides: strides.into(), ..of };
            let regions =
                [("A", 0x1000), ("B", 0x2000), ("C", 0x3000)].map(|(name, base)| padded(region(name, base, &[16, 16])));
            let home = HomeLayout::new(&regions, 8, 0.78, 0.97);
            assert_eq!((home.regions[1].columns, home.regions[1].rows), (17, 16), "{strides:?}");
            let layout = regions[1].layout().expect("sound");
            let polar = |slow: u64, fast: u64| {
                let indices = if strides[0] > strides[1] { [slow, fast] } else { [fast, slow] };
                let (region, item) = home.item(layout.address(&indices).expect("an element"), 0).expect("inside B");
                home.polar(region, item)
            };
            for slow in 1..16 {
                assert_eq!(polar(slow, 5)[1], polar(0, 5)[1]);
                assert!(polar(slow, 5)[0] < polar(slow - 1, 5)[0]);
            }
        }
    }

    #[test]
    fn arcs_do_not_overlap_and_fill_the_circle() {
        let home = HomeLayout::new(&three(), 8, 0.78, 0.97);
        let mut end = -FRAC_PI_2;
        for r in &home.regions {
            assert!(r.theta0 > end && r.span > 1.0);
            end = r.theta0 + r.span;
        }
        assert!(end < -FRAC_PI_2 + TAU);
        assert_eq!(home.items(), 768);
    }

    #[test]
    fn an_unaligned_region_owns_the_item_its_first_byte_is_in() {
        let mut odd = region("odd", 0x1010, &[4]);
        odd.bytes = 0x20;
        let home = HomeLayout::new(&[odd], 64, 0.78, 0.97);
        assert_eq!(home.item(0x1000, 0), Some((0, 0)));
        assert_eq!(home.item(0x102f, 0), Some((0, 0)));
        assert_eq!(home.item(0x1040, 0), None);
        assert_eq!(home.item(0xfff, 0), None);
    }

    #[test]
    fn huge_and_topmost_regions_lay_out_without_overflow() {
        let mut top = region("top", u64::MAX - 4095, &[512]);
        top.bytes = 4096;
        let mut huge = region("huge", 0, &[]);
        huge.bytes = 1 << 40;
        let home = HomeLayout::new(&[huge, top], 1 << 28, 0.78, 0.97);
        let (region, item) = home.item(u64::MAX, 0).expect("inside");
        assert!(home.polar(region, item).iter().all(|v| v.is_finite()));
        assert!(home.items() <= 4098);
    }
}
