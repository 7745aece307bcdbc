//! Concentric rings round the CPU, memory outermost: each holds the caches of one depth, as sectors.
//!
//! ```text
//!            memory        u = (k + 1/2)/W, k = 0 most recent, W-1 = next victim
//!          .---------.     r = sqrt(r0^2 + u (r1^2 - r0^2))        equal area for each rank
//!        .'    L2     '.   theta = theta0 + span s/S + Omega (r - r0)/(r1 - r0)
//!       |   .------.    |  Omega = sqrt(2 pi (r1 - r0) W / (S r_mean)), at most 1.6 turns
//!       |  | L1I|L1D|   |
//!       |  |  (CPU) |   |  so the distance between slots along an arm and between arms is about the same
//!        '. '------' .'
//!          '-------'       theta0 = 0, span = 2 pi where a cache has its ring to itself
//! ```
//!
//! In `Omega` S is the sum of the sets of a ring and W the most ways in it, so that all its arms wind alike. World units:
//! the outer rim of memory is 1.

use super::racks::{self, Rack, TlbShape};
use super::radii::{Radii, to_scale};
use super::{Sector, racks::depths};
use crate::scene::Composition;
use crate::units::to_f32;
use std::f32::consts::{FRAC_PI_2, TAU};

/// The shape of one cache, as the layout needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheShape {
    /// Depth, 0 = nearest the CPU: caches of one depth share a ring.
    pub ring: usize,
    /// Name of its level.
    pub name: String,
    /// The core it belongs to; `None` where it serves all.
    pub core: Option<u16>,
    /// Number of sets, 1 or more: the number of arms.
    pub sets: u32,
    /// Ways of a set, 1 or more: the slots on an arm.
    pub ways: u32,
    /// Bytes of a line.
    pub line_bytes: u32,
}

impl CacheShape {
    fn bytes(&self) -> u64 {
        u64::from(self.sets) * u64::from(self.ways) * u64::from(self.line_bytes)
    }

    fn lines(&self) -> f32 {
        to_f32(f64::from(self.sets) * f64::from(self.ways))
    }
}

/// The name of a sector, long and short; the same where there is nothing to shorten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SectorName {
    /// `L1D core 2`.
    pub full: String,
    /// `L1D 2`.
    pub short: String,
}

/// An annulus.
#[derive(Clone, Debug, PartialEq)]
pub struct Ring {
    /// Inner radius.
    pub r0: f32,
    /// Outer radius.
    pub r1: f32,
    /// Names of the levels on it, without cores: `L1I, L1D`.
    pub name: String,
    /// Cores that have caches of their own on it, 0 where it is shared.
    pub cores: usize,
    /// Indices into [`Rings::sectors`], clockwise.
    pub sectors: Vec<usize>,
    /// It has the least width, which is more than its capacity has to scale.
    pub widened: bool,
}

impl Ring {
    /// The same with sectors that come after `first` others.
    fn after(mut self, first: usize) -> Self {
        self.sectors.iter_mut().for_each(|n| *n += first);
        self
    }

    /// One name for all that is on it: what the names have in common (`L1` of `L1I` and `L1D`), or all of them.
    #[must_use]
    pub fn common_name(&self) -> String {
        let mut names = self.name.split(", ");
        let first = names.next().unwrap_or_default();
        let common = names.fold(first, |common, name| {
            let end = common.char_indices().find(|&(i, c)| !name[i.min(name.len())..].starts_with(c));
            &common[..end.map_or(common.len(), |(i, _)| i)]
        });
        if common.chars().count() < 2 { self.name.clone() } else { common.trim_end().to_owned() }
    }
}

/// All rings of a hierarchy, from the CPU outward.
#[derive(Clone, Debug, PartialEq)]
pub struct Rings {
    /// Radius of the CPU's disc.
    pub cpu: f32,
    /// One sector a cache, in the order of the caches; then one a TLB, in the order of the TLBs.
    pub sectors: Vec<Sector>,
    /// Their names.
    pub names: Vec<SectorName>,
    /// The rings of the caches, innermost first.
    pub rings: Vec<Ring>,
    /// The bands of the TLBs, innermost first, all inside the caches' rings.
    pub tlb_rings: Vec<Ring>,
    /// How the entries of each TLB stand in its sector.
    pub racks: Vec<Rack>,
    /// Bytes of each cache.
    pub sizes: Vec<u64>,
    /// Each cache's line size as a power of two times the smallest one.
    pub line_shifts: Vec<u32>,
    /// How the picture is composed.
    pub composition: Composition,
    /// What the thickness of rings follows.
    pub radii: Radii,
    /// Inner radius of memory's band.
    pub home_r0: f32,
    /// Outer radius of memory's band.
    pub home_r1: f32,
    /// Radius of the coloured arcs that name the regions.
    pub rim: f32,
}

/// Sectors that a picture may have: as many as there may be caches.
pub const MAX_SECTORS: usize = crate::sim::config::MAX_CACHES;

const CPU: f32 = 0.022;
const FIRST: f32 = 0.105;
const GAP: f32 = 0.042;
const HOME: [f32; 2] = [0.755, 0.968];
/// Likewise in the large picture: room for who served the CPU, for spikes and for bars.
const LARGE_FIRST: f32 = 0.135;
const LARGE_GAP: f32 = 0.060;
const LARGE_HOME: [f32; 2] = [0.800, 0.968];
/// Longest winding of an arm, radians: past this the eye loses the arm.
const MAX_TURN: f32 = 1.6 * TAU;
/// Free way on either side of a sector, half way out on its ring, and the share of the sector it may take.
const SECTOR_GAP: f32 = 0.010;
const SECTOR_GAP_SHARE: f32 = 0.08;
/// What of its share of a ring a cache gets that no reference of the trace asks.
const IDLE: f32 = 0.06;

/// Room grows with the logarithm of lines, so an L1 stays legible beside an L3.
fn weight(lines: f32, of: f32) -> f32 {
    (1.0 + 0.16 * (lines.max(1.0) / of).log2()).clamp(0.6, 2.4)
}

impl Rings {
    /// Lays out the caches; sector *n* is that of `shapes[n]`. A ring's thickness grows with the logarithm of its lines, so
    /// area grows with capacity, and so do the shares of sectors that differ.
    #[must_use]
    pub fn new(shapes: &[CacheShape]) -> Self {
        Self::with_tlbs(shapes, &[])
    }

    /// As [`Rings::new`], with TLBs on bands of their own inside: sector *caches + n* is that of `tlbs[n]`.
    #[must_use]
    pub fn with_tlbs(shapes: &[CacheShape], tlbs: &[TlbShape]) -> Self {
        Self::composed(shapes, tlbs, Composition::Dots, &[], Radii::Fit)
    }

    /// As [`Rings::with_tlbs`]; in the large picture rings are as thick as each other. Those that are named `idle` have little
    /// room where they share a ring: nothing ever comes into them. To scale, area is as capacity: [`Radii`].
    #[must_use]
    pub fn composed(
        shapes: &[CacheShape],
        tlbs: &[TlbShape],
        composition: Composition,
        idle: &[String],
        radii: Radii,
    ) -> Self {
        let is_large = composition.is_large();
        let (home, widest_gap) = if is_large { (LARGE_HOME, LARGE_GAP) } else { (HOME, GAP) };
        let members: Vec<Vec<usize>> = depths(shapes).iter().map(|&depth| clockwise(shapes, depth)).collect();
        let lines = |members: &Vec<usize>| members.iter().map(|&n| shapes[n].lines()).sum::<f32>();
        let first = members.first().map_or(1.0, lines).max(1.0);
        let weight = |members: &Vec<usize>| if is_large { 1.0 } else { weight(lines(members), first) };
        let total: f32 = members.iter().map(weight).sum();
        let count = members.len() as f32;
        // With many rings the gaps shrink so that the rings keep at least three quarters of the room.
        let tlb_depths: Vec<CacheShape> = tlbs.iter().map(|tlb| tlb.shape.clone()).collect();
        let (bands, inside) = racks::bands(depths(&tlb_depths).len());
        let own = if is_large { LARGE_FIRST } else { FIRST };
        let first_r = if tlbs.is_empty() { own } else { inside.max(own) };
        let room = home[0] - first_r;
        let gap = widest_gap.min(0.25 * room / count.max(1.0));
        let band = room - gap * count;
        let bytes = |members: &Vec<usize>| members.iter().map(|&n| shapes[n].bytes() as f64).sum::<f64>();
        let widths: Vec<(f32, bool)> = match radii {
            Radii::Fit => {
                members.iter().map(|members| (band * weight(members) / total.max(f32::MIN_POSITIVE), false)).collect()
            }
            Radii::Scale => to_scale(&members.iter().map(bytes).collect::<Vec<_>>(), [first_r, home[0]], gap),
        };
        let mut r = first_r;
        let mut sectors: Vec<(usize, Sector)> = Vec::with_capacity(shapes.len());
        let mut rings = Vec::with_capacity(members.len());
        for ((members, ring), (thickness, widened)) in members.into_iter().zip(0u16..).zip(widths) {
            let edges = [r, r + thickness];
            let omega = winding(edges, shapes, &members);
            let laid = lay_out((ring, radii), edges, (shapes, idle), &members, omega);
            rings.push(Ring { widened, ..describe(edges, shapes, &members) });
            sectors.extend(members.into_iter().zip(laid));
            r += thickness + gap;
        }
        sectors.sort_by_key(|(n, _)| *n);
        let racked = racks::rack((tlbs, idle), &bands, u16::try_from(rings.len()).unwrap_or(u16::MAX));
        let smallest = shapes.iter().map(|s| s.line_bytes).min().unwrap_or(1).max(1);
        let line_shifts = shapes.iter().map(|s| (s.line_bytes / smallest).max(1).ilog2()).collect();
        Self {
            cpu: CPU,
            sectors: sectors.into_iter().map(|(_, sector)| sector).chain(racked.sectors).collect(),
            names: shapes.iter().map(name).chain(racked.names).collect(),
            rings,
            tlb_rings: racked.rings.into_iter().map(|ring| ring.after(shapes.len())).collect(),
            racks: racked.racks,
            sizes: shapes.iter().map(CacheShape::bytes).collect(),
            line_shifts,
            home_r0: home[0],
            home_r1: home[1],
            composition,
            radii,
            rim: 1.0,
        }
    }
}

/// Caches of a depth in the order in which they go round: core by core, what serves all cores last.
pub(super) fn clockwise(shapes: &[CacheShape], depth: usize) -> Vec<usize> {
    let mut members: Vec<usize> = (0..shapes.len()).filter(|&n| shapes[n].ring == depth).collect();
    members.sort_by_key(|&n| (shapes[n].core.map_or(u32::MAX, u32::from), n));
    members
}

pub(super) fn name(shape: &CacheShape) -> SectorName {
    let name = &shape.name;
    match shape.core {
        None => SectorName { full: name.clone(), short: name.clone() },
        Some(core) => SectorName { full: format!("{name} core {core}"), short: format!("{name} {core}") },
    }
}

pub(super) fn describe([r0, r1]: [f32; 2], shapes: &[CacheShape], members: &[usize]) -> Ring {
    let mut names: Vec<&str> = Vec::new();
    let mut cores: Vec<u16> = Vec::new();
    for &n in members {
        if !names.contains(&shapes[n].name.as_str()) {
            names.push(&shapes[n].name);
        }
        cores.extend(shapes[n].core);
    }
    cores.dedup();
    Ring { r0, r1, name: names.join(", "), cores: cores.len(), sectors: members.to_vec(), widened: false }
}

/// How far the arms of a ring turn, radians: so that slots stand as far apart along an arm as between arms.
fn winding([r0, r1]: [f32; 2], shapes: &[CacheShape], members: &[usize]) -> f32 {
    let sets: f32 = members.iter().map(|&n| shapes[n].sets as f32).sum();
    let ways = members.iter().map(|&n| shapes[n].ways).max().unwrap_or(1) as f32;
    let mean = 0.5 * (r0 + r1);
    (TAU * (r1 - r0) * ways / (sets * mean)).sqrt().min(MAX_TURN)
}

/// The sectors of one ring, in the order of `members`, with arms that turn by `omega`.
pub(super) fn lay_out(
    (ring, radii): (u16, Radii),
    [r0, r1]: [f32; 2],
    (shapes, idle): (&[CacheShape], &[String]),
    members: &[usize],
    omega: f32,
) -> Vec<Sector> {
    let shape = |n: &usize| &shapes[*n];
    let mean = 0.5 * (r0 + r1);
    let sector = |n: &usize, theta0: f32, span: f32, gap: f32| {
        let (sets, ways) = (shape(n).sets, shape(n).ways);
        let pitch = (0.5 * span * (r1 * r1 - r0 * r0) / (sets as f32 * ways as f32)).sqrt();
        Sector { ring, r0, r1, sets, ways, omega, pitch, theta0, span, gap }
    };
    if let [only] = members {
        return vec![sector(only, 0.0, TAU, 0.0)];
    }
    let least = members.iter().map(|n| shape(n).lines()).fold(f32::INFINITY, f32::min);
    let used = |n: &usize| if idle.contains(&shape(n).name) { IDLE } else { 1.0 };
    let width = |n: &usize| match radii {
        Radii::Fit => weight(shape(n).lines(), least),
        Radii::Scale => to_f32(shape(n).bytes() as f64),
    };
    let widths: Vec<f32> = members.iter().map(|n| used(n) * width(n)).collect();
    let total: f32 = widths.iter().sum();
    // The first core's sectors, or the first sector where cores share the ring, stand at the top of the outer border: on
    // rings of several cores each core keeps to its own direction.
    let cores = members.iter().any(|n| shape(n).core != shape(&members[0]).core);
    let firsts = if cores { members.iter().filter(|n| shape(n).core == shape(&members[0]).core).count() } else { 1 };
    let mut start = -FRAC_PI_2 - omega - 0.5 * TAU * widths[..firsts].iter().sum::<f32>() / total;
    members
        .iter()
        .zip(widths)
        .map(|(n, width)| {
            let width = TAU * width / total;
            let gap = (SECTOR_GAP / mean).min(SECTOR_GAP_SHARE * width);
            let span = width - 2.0 * gap;
            let theta0 = start + gap + 0.5 * span / shape(n).sets as f32;
            start += width;
            sector(n, theta0, span, gap)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(ring: usize, core: Option<u16>, sets: u32, ways: u32) -> CacheShape {
        CacheShape { ring, name: format!("L{}", ring + 1), core, sets, ways, line_bytes: 64 }
    }

    fn alone(sets: u32, ways: u32) -> Sector {
        Rings::new(&[shape(0, None, sets, ways)]).sectors[0]
    }

    /// Split L1I and L1D of each core, a private L2 each, one shared L3.
    fn cores(count: u16) -> Vec<CacheShape> {
        let each = |name: &str, ring, sets, ways| {
            let name = name.to_owned();
            (0..count).map(move |core| CacheShape { name: name.clone(), ..shape(ring, Some(core), sets, ways) })
        };
        let mut shapes: Vec<CacheShape> = each("L1I", 0, 64, 8).collect();
        shapes.extend(each("L1D", 0, 64, 12));
        shapes.extend(each("L2", 1, 1024, 8));
        shapes.push(shape(2, None, 8192, 16));
        shapes
    }

    #[test]
    fn rings_are_ordered_and_inside_memory_for_one_to_eight_levels() {
        for count in 1..=8 {
            let shapes: Vec<_> = (0..count).map(|i| shape(i, None, 64 << i, 8)).collect();
            let rings = Rings::new(&shapes);
            let mut edge = rings.cpu;
            for ring in &rings.rings {
                assert!(ring.r0 > edge && ring.r1 > ring.r0, "{count} levels: {ring:?}");
                edge = ring.r1;
            }
            assert!(edge < rings.home_r0 && rings.home_r1 < rings.rim);
            assert!(rings.sectors.iter().zip(&rings.rings).all(|(s, r)| (s.r0, s.r1) == (r.r0, r.r1) && s.is_whole()));
        }
    }

    #[test]
    fn area_grows_with_capacity() {
        let rings = Rings::new(&[shape(0, None, 64, 8), shape(1, None, 1024, 16), shape(2, None, 8192, 16)]);
        let area = |r: &Ring| r.r1 * r.r1 - r.r0 * r.r0;
        assert!(rings.rings.windows(2).all(|w| area(&w[1]) > area(&w[0])));
    }

    #[test]
    fn to_scale_a_line_has_as_much_room_in_every_cache() {
        let shapes = [
            CacheShape { name: "L1I".into(), ..shape(0, None, 64, 8) },
            CacheShape { name: "L1D".into(), ..shape(0, None, 64, 12) },
            shape(1, None, 256, 16),
        ];
        for composition in [Composition::Dots, Composition::Large] {
            let rings = Rings::composed(&shapes, &[], composition, &[], Radii::Scale);
            assert!(rings.rings.iter().all(|ring| !ring.widened));
            // But for the ways between sectors.
            let line = |s: &Sector| (s.span + 2.0 * s.gap) * (s.r1 * s.r1 - s.r0 * s.r0) / (s.sets * s.ways) as f32;
            let areas: Vec<f32> = rings.sectors.iter().map(line).collect();
            assert!(areas.iter().all(|area| (area / areas[0] - 1.0).abs() < 1e-3), "{areas:?}");
            // Nothing else is where it was not.
            let fit = Rings::composed(&shapes, &[], composition, &[], Radii::Fit);
            assert_eq!((fit.home_r0, &fit.names, fit.sizes.len()), (rings.home_r0, &rings.names, 3));
            let end = |rings: &Rings| rings.rings.last().map_or(0.0, |ring| ring.r1);
            assert!((end(&fit) - end(&rings)).abs() < 1e-4);
        }
        let far = [shape(0, None, 64, 8), shape(1, None, 8192, 16)];
        let rings = Rings::composed(&far, &[], Composition::Dots, &[], Radii::Scale);
        assert_eq!(rings.rings.iter().map(|ring| ring.widened).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn rank_orders_radius_and_the_last_rank_is_at_the_outer_border() {
        for (sets, ways) in [(2, 8), (4, 16), (1, 64), (1024, 16), (16384, 1)] {
            let sector = alone(sets, ways);
            let radii: Vec<f32> = (0..ways).map(|k| sector.radius(k as f32)).collect();
            assert!(radii.windows(2).all(|w| w[0] < w[1]));
            assert!(radii.iter().all(|r| (sector.r0..=sector.r1).contains(r)));
            assert!((sector.radius(ways as f32 - 0.5) - sector.r1).abs() < 1e-6);
        }
    }

    #[test]
    fn a_cache_alone_on_its_ring_has_all_of_it() {
        // The very numbers of a ring without sectors: pictures of single caches do not depend on there being any.
        for (sets, ways) in [(2, 8), (64, 8), (1, 64), (1000, 12)] {
            let s = alone(sets, ways);
            assert_eq!((s.theta0, s.span, s.gap), (0.0, TAU, 0.0));
            let mean = 0.5 * (s.r0 + s.r1);
            let omega = (TAU * (s.r1 - s.r0) * ways as f32 / (sets as f32 * mean)).sqrt().min(MAX_TURN);
            let area = std::f32::consts::PI * (s.r1 * s.r1 - s.r0 * s.r0);
            assert_eq!((s.omega, s.pitch), (omega, (area / (sets as f32 * ways as f32)).sqrt()));
            let r = s.radius(1.0);
            assert_eq!(s.polar(1.0, 1.0)[1], TAU * 1.0 / sets as f32 + omega * (r - s.r0) / (s.r1 - s.r0));
        }
    }

    #[test]
    fn sectors_tile_their_ring_and_no_slot_lies_in_a_gap() {
        for count in [2u16, 3, 4, 16, 64] {
            let rings = Rings::new(&cores(count));
            assert_eq!(rings.sectors.len(), 3 * usize::from(count) + 1);
            for ring in rings.rings.iter().filter(|r| r.sectors.len() > 1) {
                let of = |n: usize| &rings.sectors[n];
                let around = ring.sectors.iter().zip(ring.sectors.iter().cycle().skip(1));
                for (at, (&a, &b)) in around.enumerate() {
                    let turn = if at + 1 == ring.sectors.len() { TAU } else { 0.0 };
                    let between = of(b).edges()[0] + turn - of(a).edges()[1];
                    assert!((between - of(a).gap - of(b).gap).abs() < 1e-4, "{count} cores: {between}");
                    assert!(of(a).gap > 0.0 && of(a).gap < 0.1 * of(a).span);
                    assert_eq!(of(a).omega, of(b).omega);
                }
                for &n in &ring.sectors {
                    let s = of(n);
                    for (set, rank) in [(0, 0), (s.sets - 1, 0), (0, s.ways - 1), (s.sets - 1, s.ways - 1)] {
                        let [r, theta] = s.polar(set as f32, rank as f32);
                        let owners: Vec<usize> =
                            (0..rings.sectors.len()).filter(|&o| rings.sectors[o].contains(r, theta)).collect();
                        assert_eq!(owners, [n], "{count} cores, set {set}, rank {rank}");
                    }
                }
            }
        }
    }

    #[test]
    fn each_core_keeps_to_its_direction_and_equals_share_evenly() {
        let rings = Rings::new(&cores(4));
        assert_eq!(rings.rings[0].sectors, [0, 4, 1, 5, 2, 6, 3, 7], "core by core, L1I before L1D");
        assert_eq!(rings.rings.iter().map(|r| r.cores).collect::<Vec<_>>(), [4, 4, 0]);
        assert_eq!((rings.rings[0].name.as_str(), rings.rings[0].common_name().as_str()), ("L1I, L1D", "L1"));
        assert_eq!(rings.rings[2].common_name(), "L3");
        let unlike = Ring { name: "Dé, Dñ".into(), ..rings.rings[0].clone() };
        assert_eq!(unlike.common_name(), "Dé, Dñ");
        assert_eq!((rings.names[6].full.as_str(), rings.names[6].short.as_str()), ("L1D core 2", "L1D 2"));
        assert_eq!(rings.names[12].full, "L3");
        for core in 0..4u8 {
            let quarter = -FRAC_PI_2 + f32::from(core) * 0.25 * TAU;
            let (l1i, l1d, l2) = (usize::from(core), usize::from(core) + 4, usize::from(core) + 8);
            let middle = |n: usize| rings.sectors[n].middle(rings.sectors[n].r1);
            assert!((middle(l2) - quarter).abs() < 1e-4, "core {core}");
            assert!(middle(l1i) < quarter && middle(l1d) > quarter && middle(l1d) - middle(l1i) < 0.2 * TAU);
            assert!(rings.sectors[l1d].span > rings.sectors[l1i].span, "the larger one gets more");
        }
        // Two halves, one above and one below.
        let split = Rings::new(&[shape(0, None, 64, 8), shape(0, None, 64, 8), shape(1, None, 512, 8)]);
        let [a, b] = [split.sectors[0], split.sectors[1]];
        assert_eq!(a.span, b.span);
        assert!((a.middle(a.r1) + FRAC_PI_2).abs() < 1e-5 && (b.middle(b.r1) - FRAC_PI_2).abs() < 1e-5);
    }

    #[test]
    fn what_nobody_asks_has_little_room() {
        let named = |name: &str| CacheShape { name: name.into(), ..shape(0, None, 64, 8) };
        let caches = [named("L1I"), named("L1D"), shape(1, None, 512, 8)];
        let tlb = |name: &str| TlbShape { shape: CacheShape { name: name.into(), ..shape(0, None, 1, 64) }, place: 0 };
        let tlbs = [tlb("ITLB"), tlb("DTLB")];
        let rings = Rings::composed(&caches, &tlbs, Composition::Large, &["L1I".into(), "ITLB".into()], Radii::Fit);
        for (idle, used) in [(0, 1), (3, 4)] {
            let [idle, used] = [idle, used].map(|n| rings.sectors[n].span);
            assert!(idle < 0.08 * used && idle > 0.1 && used > 0.9 * TAU, "{idle}, {used}");
        }
        let all = Rings::composed(&caches, &tlbs, Composition::Large, &[], Radii::Fit);
        assert_eq!(all.sectors[0].span, all.sectors[1].span);
    }

    #[test]
    fn slots_of_the_paper_preset_are_spaced_evenly() {
        // Along the arm and to the nearest slot of another arm the distance stays within a factor of two of the pitch, of
        // one cache on a ring as of four.
        let single = vec![shape(0, None, 2, 8), shape(1, None, 4, 16)];
        let private = (0..4).map(|c| shape(0, Some(c), 2, 8)).chain([shape(1, None, 4, 16)]).collect();
        for shapes in [single, private] {
            let rings = Rings::new(&shapes);
            let place = |n: usize, s: u32, k: u32| {
                let [r, t] = rings.sectors[n].polar(s as f32, k as f32);
                [r * t.cos(), r * t.sin()]
            };
            for ring in &rings.rings {
                let slots: Vec<_> = ring
                    .sectors
                    .iter()
                    .flat_map(|&n| (0..rings.sectors[n].sets).map(move |s| (n, s)))
                    .flat_map(|(n, s)| (0..rings.sectors[n].ways).map(move |k| (n, s, k)))
                    .collect();
                for &(n, s, k) in &slots {
                    let nearest = slots
                        .iter()
                        .filter(|&&other| other != (n, s, k))
                        .map(|&(m, s2, k2)| {
                            let ([x, y], [u, v]) = (place(n, s, k), place(m, s2, k2));
                            (x - u).hypot(y - v)
                        })
                        .fold(f32::MAX, f32::min);
                    let pitch = rings.sectors[n].pitch;
                    assert!(nearest > 0.45 * pitch, "cache {n} set {s} rank {k}: {nearest} of {pitch}");
                }
            }
        }
    }

    #[test]
    fn across_is_a_unit_vector_at_right_angles_to_the_arm() {
        let sector = alone(4, 16);
        for k in 0..15u8 {
            let at = |k: f32| {
                let [r, t] = sector.polar(1.0, k);
                [r * t.cos(), r * t.sin()]
            };
            let (a, b) = (at(f32::from(k) - 0.01), at(f32::from(k) + 0.01));
            let [r, t] = sector.polar(1.0, f32::from(k));
            let n = sector.across(r, t);
            assert!((n[0].hypot(n[1]) - 1.0).abs() < 1e-5);
            let along = [b[0] - a[0], b[1] - a[1]];
            let dot = (along[0] * n[0] + along[1] * n[1]) / along[0].hypot(along[1]);
            assert!(dot.abs() < 1e-2, "rank {k}: {dot}");
        }
    }
}
