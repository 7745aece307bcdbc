//! Where the components of a machine stand: those that are asked by nobody inside, memory on the rim, each kind on a ring with those
//! that are as deep, each component a sector of its ring, as near as can be to who asks it.
//!
//! ```text
//!          .----------.        rim: what asks nobody (channels of DRAM)
//!        .'  L2 banks  '.      a thin ring inside another: what says where addresses lie (TLBs), of the same depth
//!       |   .------.     |
//!       |  | L1V 0  |    |     a sector has a slot for each task that it holds at once, filled from inside
//!       |  |  (D)   |    |     in the gap inside a ring requests wait at the port of a sector
//!        '. '------'   .'
//!          '----------'        in the middle: the one that everything begins with
//! ```
//!
//! World units: the rim is within 1.

use crate::scene::layout::Sector;
use crate::tasks::{ComponentId, Traffic};
use crate::units::{to_count, to_f32};
use std::collections::BTreeMap;
use std::f32::consts::{FRAC_PI_2, TAU};

/// One ring.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineRing {
    /// Inner radius.
    pub r0: f32,
    /// Outer radius.
    pub r1: f32,
    /// Kinds that stand on it, by [`Traffic::kinds`].
    pub kinds: Vec<usize>,
    /// Its components, clockwise.
    pub components: Vec<ComponentId>,
    /// Width of the gap inside it, where requests wait.
    pub gap: f32,
}

/// Where everything stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineLayout {
    /// From the middle outward.
    pub rings: Vec<MachineRing>,
    /// By component; of the one in the middle a whole ring of no width.
    pub sectors: Vec<Sector>,
    /// The one in the middle.
    pub center: Option<ComponentId>,
    /// Radius of the middle.
    pub middle: f32,
}

/// Why a machine is not drawn as rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRings {
    /// There are no requests between components.
    NoRequests,
    /// There are more components, or kinds of them, than can be told from each other.
    TooMany {
        /// Components.
        components: usize,
        /// Kinds.
        kinds: usize,
    },
}

/// Components and kinds that can be drawn.
const MOST: [usize; 2] = [1_200, 40];
const MIDDLE: f32 = 0.045;
/// Where the first ring begins: with a few components, and with very many.
const INNER: [f32; 2] = [0.105, 0.215];
const FEW: f32 = 8.0;
const VERY_MANY: f32 = 96.0;
const RIM: f32 = 0.965;
/// Widest gap between rings, and the share of all room that gaps take at most.
const GAP: f32 = 0.062;
const GAPS: f32 = 0.42;
/// Thickness of a thin ring beside that of another.
const THIN: f32 = 0.42;
/// Free way between neighbouring sectors, and the share of a sector it takes at most.
const BETWEEN: [f32; 2] = [0.010, 0.16];
/// Least and greatest distance between slots.
const PITCH: [f32; 2] = [0.0078, 0.030];
/// How far borders turn from the inner to the outer edge, for a ring as thick as its radius.
const TURN: f32 = 0.55;
/// Who is asked by some near each other stands at their angle: length of the mean of unit vectors to them.
const NEAR: f32 = 0.5;

impl MachineLayout {
    /// Of all components of a machine.
    ///
    /// # Errors
    /// When it cannot be drawn as rings.
    pub fn new(traffic: &Traffic) -> Result<Self, NoRings> {
        let (components, kinds) = (traffic.components.len(), traffic.kinds.len());
        if components == 0 {
            return Err(NoRings::NoRequests);
        }
        if components > MOST[0] || kinds > MOST[1] {
            return Err(NoRings::TooMany { components, kinds });
        }
        let center = center(traffic);
        let groups = groups(traffic, center);
        let weight = |thin: bool| if thin { THIN } else { 1.0 };
        let total: f32 = groups.keys().map(|&(_, thick)| weight(!thick)).sum();
        let first = groups
            .values()
            .next()
            .map_or(0, |kinds| kinds.iter().map(|&kind| traffic.kinds[kind].components.len()).sum());
        let crowd = ((to_f32(first as f64) - FEW) / (VERY_MANY - FEW)).clamp(0.0, 1.0);
        let inner = INNER[0] + (INNER[1] - INNER[0]) * crowd;
        let room = RIM - inner;
        let gap = GAP.min(GAPS * room / groups.len() as f32);
        // Before the innermost ring there is the middle.
        let band = room - gap * (groups.len() as f32 - 1.0);
        let empty = Sector {
            ring: 0,
            r0: 0.0,
            r1: MIDDLE,
            sets: 1,
            ways: 1,
            omega: 0.0,
            pitch: MIDDLE,
            theta0: 0.0,
            span: TAU,
            gap: 0.0,
        };
        let mut out = Self { sectors: vec![empty; components], center, middle: MIDDLE, rings: Vec::new() };
        let mut angles: Vec<Option<f32>> = vec![None; components];
        let mut r0 = inner;
        for ((_, thick), kinds) in groups {
            let r1 = r0 + band * weight(!thick) / total;
            let order = order(traffic, &kinds, &angles);
            out.ring(traffic, [r0, r1], &order, &mut angles);
            let inside = if out.rings.is_empty() { (inner - MIDDLE).min(GAP) } else { gap };
            out.rings.push(MachineRing { r0, r1, kinds, components: order, gap: inside });
            r0 = r1 + gap;
        }
        Ok(out)
    }

    /// Sectors of one ring, in order; says at which angle each is.
    fn ring(&mut self, traffic: &Traffic, [r0, r1]: [f32; 2], order: &[ComponentId], angles: &mut [Option<f32>]) {
        let mean = 0.5 * (r0 + r1);
        let omega = TURN * (r1 - r0) / mean;
        let width = TAU / order.len() as f32;
        let ring = u16::try_from(self.rings.len()).unwrap_or(u16::MAX);
        for (n, &component) in order.iter().enumerate() {
            let most = traffic.kinds[traffic.component(component).kind].most.max(1);
            let gap = if order.len() == 1 { 0.0 } else { (BETWEEN[0] / mean).min(BETWEEN[1] * width) };
            let span = width - 2.0 * gap;
            let (sets, ways) = slots(most, span * mean, r1 - r0);
            // The first sector begins at the top.
            let start = -FRAC_PI_2 + width * n as f32 - 0.5 * omega;
            let theta0 = start + gap + 0.5 * span / sets as f32;
            let pitch = (span * mean / sets as f32).min((r1 - r0) / ways as f32);
            let sector = Sector { ring, r0, r1, sets, ways, omega, pitch, theta0, span, gap };
            angles[component as usize] = Some(start + 0.5 * omega + 0.5 * width);
            self.sectors[component as usize] = sector;
        }
    }

    /// Radius and angle of a slot of a component; where it has no place for so many, of the middle of its outer edge.
    #[must_use]
    pub fn slot(&self, component: ComponentId, slot: Option<u32>) -> [f32; 2] {
        let sector = &self.sectors[component as usize];
        if self.center == Some(component) {
            return [0.0, 0.0];
        }
        match slot.filter(|&slot| slot < sector.sets * sector.ways) {
            Some(slot) => {
                // From the middle of the inner edge to both sides, then outward.
                let (column, rank) = (slot % sector.sets, slot / sector.sets);
                let middle = (sector.sets - 1) / 2;
                let set = match column % 2 {
                    0 => middle - column / 2,
                    _ => middle + column.div_ceil(2),
                };
                sector.polar(set as f32, rank as f32)
            }
            None => {
                let r = 0.5 * (sector.r0 + sector.r1);
                [r, sector.middle(r)]
            }
        }
    }

    /// Where the request waits that is number `place` at the port of a component.
    #[must_use]
    pub fn port(&self, component: ComponentId, place: usize) -> [f32; 2] {
        let sector = &self.sectors[component as usize];
        let gap = self.rings.get(usize::from(sector.ring)).map_or(GAP, |ring| ring.gap);
        let step = (0.20 * gap).max(0.006);
        let first = sector.r0 - 0.30 * gap;
        let columns = (to_count(sector.span * first / step) as usize).clamp(1, 9);
        let (row, column) = (place / columns, place % columns);
        let r = first - step * row.min(2) as f32;
        let off = column.div_ceil(2) as f32 * if column % 2 == 0 { -1.0 } else { 1.0 };
        [r, sector.middle(sector.r0) + off * step / first]
    }

    /// The component at a place.
    #[must_use]
    pub fn at(&self, [x, y]: [f32; 2]) -> Option<ComponentId> {
        let (r, theta) = (x.hypot(y), y.atan2(x));
        if r <= self.middle {
            return self.center;
        }
        let ring = self.rings.iter().find(|ring| (ring.r0..=ring.r1).contains(&r))?;
        ring.components.iter().copied().find(|&component| self.sectors[component as usize].contains(r, theta))
    }
}

/// The one that everything begins with: the only component of its kind, asked by nobody, with one task at a time at most, of those the one with most below it.
fn center(traffic: &Traffic) -> Option<ComponentId> {
    // What holds several tasks has them seen on a ring.
    let first = |kind: &&crate::tasks::Kind| kind.depth == 0 && kind.components.len() == 1 && kind.most <= 1;
    let asks = |component: ComponentId| traffic.links.iter().filter(|link| link.from == component).count();
    let firsts = traffic.kinds.iter().filter(first).map(|kind| kind.components.start);
    firsts.max_by_key(|&component| (asks(component), std::cmp::Reverse(component)))
}

/// Kinds by ring: depth, and whether it is a ring of full thickness.
fn groups(traffic: &Traffic, center: Option<ComponentId>) -> BTreeMap<(u32, bool), Vec<usize>> {
    let last = traffic.kinds.iter().map(|kind| kind.depth).max().unwrap_or(0);
    let mut groups: BTreeMap<(u32, bool), Vec<usize>> = BTreeMap::new();
    for (n, kind) in traffic.kinds.iter().enumerate() {
        if center == Some(kind.components.start) && kind.components.len() == 1 {
            continue;
        }
        // Memory is the rim, however few stand before it.
        let depth = if kind.is_last && !kind.translates { last } else { kind.depth };
        groups.entry((depth, !kind.translates)).or_default().push(n);
    }
    groups
}

/// The components of a ring, clockwise: each as near as can be to those that ask it; those that are asked from all round come last.
fn order(traffic: &Traffic, kinds: &[usize], angles: &[Option<f32>]) -> Vec<ComponentId> {
    let mut near: Vec<(f32, ComponentId)> = Vec::new();
    let mut shared: Vec<ComponentId> = Vec::new();
    let mut sums: BTreeMap<ComponentId, [f32; 3]> = BTreeMap::new();
    for link in &traffic.links {
        let Some(angle) = angles[link.from as usize] else { continue };
        let weight = to_f32(link.requests as f64);
        let sum = sums.entry(link.to).or_default();
        *sum = [sum[0] + weight * angle.cos(), sum[1] + weight * angle.sin(), sum[2] + weight];
    }
    for component in kinds.iter().flat_map(|&kind| traffic.kinds[kind].components.clone()) {
        match sums.get(&component) {
            Some([x, y, all]) if x.hypot(*y) > NEAR * all => {
                near.push(((y.atan2(*x) + FRAC_PI_2).rem_euclid(TAU), component));
            }
            _ => shared.push(component),
        }
    }
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    near.into_iter().map(|(_, component)| component).chain(shared).collect()
}

/// Columns and ranks of slots for so many tasks on an area: as far apart along as across. Where that were too close there are fewer;
/// where they are few they stand wide apart along the ring.
fn slots(most: u32, along: f32, across: f32) -> (u32, u32) {
    let pitch = (along * across / most as f32).sqrt().clamp(PITCH[0], PITCH[1]);
    let fits = |length: f32| to_count(length / pitch).max(1);
    let sets = fits(along).min(most);
    (sets, fits(across).min(most.div_ceil(sets)))
}
