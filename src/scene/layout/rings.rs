//! Concentric rings: one annulus a level, memory outermost, and the slot formula.
//!
//! ```text
//!            memory        u = (k + 1/2)/W, k = 0 most recent, W-1 = next victim
//!          .---------.     r = sqrt(r0^2 + u (r1^2 - r0^2))        equal area for each rank
//!        .'    L2     '.   theta = 2 pi s/S + Omega (r - r0)/(r1 - r0)
//!       |   .------.    |  Omega = sqrt(2 pi (r1 - r0) W / (S r_mean)), at most 1.6 turns
//!       |  |  L1    |   |
//!       |  |  (CPU) |   |  so the distance between slots along an arm and between arms is about the same
//!        '. '------' .'
//!          '-------'
//! ```
//!
//! Angles grow clockwise on screen (y points down), 0 is to the right. World units: the outer rim of memory is 1.

use crate::units::to_f32;
use std::f32::consts::{PI, TAU};

/// The shape of one level, as the layout needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelShape {
    /// Name shown on the ring.
    pub name: String,
    /// Number of sets, 1 or more: the number of arms.
    pub sets: u32,
    /// Ways of a set, 1 or more: the slots on an arm.
    pub ways: u32,
    /// Bytes of a line.
    pub line_bytes: u32,
}

impl LevelShape {
    fn lines(&self) -> f32 {
        to_f32(f64::from(self.sets) * f64::from(self.ways))
    }
}

/// One level's annulus and the numbers of its slot formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    /// Inner radius.
    pub r0: f32,
    /// Outer radius.
    pub r1: f32,
    /// Arms.
    pub sets: u32,
    /// Slots on an arm.
    pub ways: u32,
    /// Turn of an arm from `r0` to `r1`, radians.
    pub omega: f32,
    /// Distance between neighbouring slots, about.
    pub pitch: f32,
}

/// Longest winding of an arm, radians: past this the eye loses the arm.
const MAX_TURN: f32 = 1.6 * TAU;

impl Ring {
    fn new(r0: f32, r1: f32, shape: &LevelShape) -> Self {
        let (sets, ways) = (shape.sets as f32, shape.ways as f32);
        let mean = 0.5 * (r0 + r1);
        let omega = (TAU * (r1 - r0) * ways / (sets * mean)).sqrt().min(MAX_TURN);
        let pitch = (PI * (r1 * r1 - r0 * r0) / (sets * ways)).sqrt();
        Self { r0, r1, sets: shape.sets, ways: shape.ways, omega, pitch }
    }

    /// Radius of rank `k`, which may lie between two slots.
    #[must_use]
    pub fn radius(&self, rank: f32) -> f32 {
        let u = (rank + 0.5) / self.ways as f32;
        (self.r0 * self.r0 + u * (self.r1 * self.r1 - self.r0 * self.r0)).max(0.0).sqrt()
    }

    /// `(r, theta)` of set `s`, rank `k`; `k` may lie between two slots. Theta is unwrapped: it grows along the arm.
    #[must_use]
    pub fn polar(&self, set: f32, rank: f32) -> [f32; 2] {
        let r = self.radius(rank);
        [r, TAU * set / self.sets as f32 + self.omega * (r - self.r0) / (self.r1 - self.r0)]
    }

    /// Unit vector across the arm at `(r, theta)`, to the left of outward travel along it.
    #[must_use]
    pub fn across(&self, r: f32, theta: f32) -> [f32; 2] {
        // Along the arm d(theta)/dr is constant, so the tangent in the local (radial, angular) frame is (1, r dtheta/dr).
        let slope = r * self.omega / (self.r1 - self.r0);
        let inverse = 1.0 / (1.0 + slope * slope).sqrt();
        let (sin, cos) = theta.sin_cos();
        let (radial, angular) = (-slope * inverse, inverse);
        [radial * cos - angular * sin, radial * sin + angular * cos]
    }
}

/// All rings of a hierarchy, from the CPU outward.
#[derive(Clone, Debug, PartialEq)]
pub struct Rings {
    /// Radius of the CPU's disc.
    pub cpu: f32,
    /// One ring a level, innermost first.
    pub levels: Vec<Ring>,
    /// Names, as shown.
    pub names: Vec<String>,
    /// Each level's line size as a power of two times the smallest one.
    pub line_shifts: Vec<u32>,
    /// Inner radius of memory's band.
    pub home_r0: f32,
    /// Outer radius of memory's band.
    pub home_r1: f32,
    /// Radius of the coloured arcs that name the regions.
    pub rim: f32,
}

const CPU: f32 = 0.022;
const FIRST: f32 = 0.105;
const GAP: f32 = 0.042;
const HOME: [f32; 2] = [0.755, 0.968];

impl Rings {
    /// Lays the levels out. A level's thickness grows with the logarithm of its lines, so area grows with capacity while
    /// an L1 stays legible beside an L3.
    #[must_use]
    pub fn new(shapes: &[LevelShape]) -> Self {
        let first = shapes.first().map_or(1.0, LevelShape::lines).max(1.0);
        let weight = |s: &LevelShape| (1.0 + 0.16 * (s.lines().max(1.0) / first).log2()).clamp(0.6, 2.4);
        let total: f32 = shapes.iter().map(weight).sum();
        let count = shapes.len() as f32;
        // With many levels the gaps shrink so that the rings keep at least three quarters of the room.
        let room = HOME[0] - FIRST;
        let gap = GAP.min(0.25 * room / count.max(1.0));
        let band = room - gap * count;
        let mut r = FIRST;
        let levels = shapes
            .iter()
            .map(|s| {
                let thickness = band * weight(s) / total.max(f32::MIN_POSITIVE);
                let ring = Ring::new(r, r + thickness, s);
                r += thickness + gap;
                ring
            })
            .collect();
        let names = shapes.iter().map(|s| s.name.clone()).collect();
        let smallest = shapes.iter().map(|s| s.line_bytes).min().unwrap_or(1).max(1);
        let line_shifts = shapes.iter().map(|s| (s.line_bytes / smallest).max(1).ilog2()).collect();
        Self { cpu: CPU, levels, names, line_shifts, home_r0: HOME[0], home_r1: HOME[1], rim: 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(sets: u32, ways: u32) -> LevelShape {
        LevelShape { name: "L".into(), sets, ways, line_bytes: 64 }
    }

    #[test]
    fn rings_are_ordered_and_inside_memory_for_one_to_eight_levels() {
        for count in 1..=8 {
            let shapes: Vec<_> = (0..count).map(|i| shape(64 << i, 8)).collect();
            let rings = Rings::new(&shapes);
            let mut edge = rings.cpu;
            for ring in &rings.levels {
                assert!(ring.r0 > edge && ring.r1 > ring.r0, "{count} levels: {ring:?}");
                edge = ring.r1;
            }
            assert!(rings.home_r0 > edge && rings.rim > rings.home_r1);
        }
    }

    #[test]
    fn area_grows_with_capacity() {
        let rings = Rings::new(&[shape(64, 8), shape(1024, 16), shape(8192, 16)]);
        let area = |r: &Ring| r.r1 * r.r1 - r.r0 * r.r0;
        assert!(rings.levels.windows(2).all(|w| area(&w[1]) > area(&w[0])));
    }

    #[test]
    fn rank_orders_radius_and_the_last_rank_is_at_the_outer_border() {
        for (sets, ways) in [(2, 8), (4, 16), (1, 64), (1024, 16), (16384, 1)] {
            let ring = Rings::new(&[shape(sets, ways)]).levels[0];
            let radii: Vec<f32> = (0..ways).map(|k| ring.radius(k as f32)).collect();
            assert!(radii.windows(2).all(|w| w[0] < w[1]));
            assert!(radii.iter().all(|r| (ring.r0..=ring.r1).contains(r)));
            assert!((ring.radius(ways as f32 - 0.5) - ring.r1).abs() < 1e-6);
        }
    }

    #[test]
    fn slots_of_the_paper_preset_are_spaced_evenly() {
        // Along the arm and to the nearest slot of another arm the distance stays within a factor of two of the pitch.
        let rings = Rings::new(&[shape(2, 8), shape(4, 16)]);
        for ring in &rings.levels {
            let place = |s: u32, k: u32| {
                let [r, t] = ring.polar(s as f32, k as f32);
                [r * t.cos(), r * t.sin()]
            };
            let slots: Vec<_> = (0..ring.sets).flat_map(|s| (0..ring.ways).map(move |k| (s, k))).collect();
            for &(s, k) in &slots {
                let nearest = slots
                    .iter()
                    .filter(|&&other| other != (s, k))
                    .map(|&(s2, k2)| {
                        let ([x, y], [u, v]) = (place(s, k), place(s2, k2));
                        (x - u).hypot(y - v)
                    })
                    .fold(f32::MAX, f32::min);
                assert!(nearest > 0.45 * ring.pitch, "set {s} rank {k}: {nearest} of {}", ring.pitch);
            }
        }
    }

    #[test]
    fn across_is_a_unit_vector_at_right_angles_to_the_arm() {
        let ring = Rings::new(&[shape(4, 16)]).levels[0];
        for k in 0..15u8 {
            let at = |k: f32| {
                let [r, t] = ring.polar(1.0, k);
                [r * t.cos(), r * t.sin()]
            };
            let (a, b) = (at(f32::from(k) - 0.01), at(f32::from(k) + 0.01));
            let [r, t] = ring.polar(1.0, f32::from(k));
            let n = ring.across(r, t);
            assert!((n[0].hypot(n[1]) - 1.0).abs() < 1e-5);
            let along = [b[0] - a[0], b[1] - a[1]];
            let dot = (along[0] * n[0] + along[1] * n[1]) / along[0].hypot(along[1]);
            assert!(dot.abs() < 1e-2, "rank {k}: {dot}");
        }
    }
}
