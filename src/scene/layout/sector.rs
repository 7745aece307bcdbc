//! One cache's part of a ring, and the slot formula.
//!
//! ```text
//!            ring of one cache                    ring of four: all arms wind alike, so the borders are arms too
//!          .-----------.                          .-----/-----.
//!        .'   arms     '.                       .'     / gap  '.
//!       |    .-----.     |                     |  3   .--.   0  |     edges() = [start, end] of the part at r0
//!       |   |  r0   |    |                     |-----(    )-----|     arms stand evenly between them, half a
//!       |    '-----'     |                     |  2   '--'   1  |     distance between arms from either edge
//!        '.            .'                       '.  gap /     .'
//!          '---- r1 --'                           '----/------'
//! ```
//!
//! Angles grow clockwise on screen (y points down), 0 is to the right.

use std::f32::consts::TAU;

/// A part of a ring, or all of it: the arms of one cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sector {
    /// Index of the ring it is on, 0 = innermost.
    pub ring: u16,
    /// Inner radius.
    pub r0: f32,
    /// Outer radius.
    pub r1: f32,
    /// Arms.
    pub sets: u32,
    /// Slots on an arm.
    pub ways: u32,
    /// Turn of an arm from `r0` to `r1`, radians; the same for all sectors of a ring.
    pub omega: f32,
    /// Distance between neighbouring slots, about.
    pub pitch: f32,
    /// Angle where the arm of set 0 starts at `r0`, radians.
    pub theta0: f32,
    /// Angle that the arms share, radians: neighbours are `span / sets` apart. A whole turn where the ring has one sector.
    pub span: f32,
    /// Angle left free on either side, radians; 0 where the ring has one sector.
    pub gap: f32,
}

impl Sector {
    /// Whether it has the ring to itself.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.span >= TAU
    }

    /// Radius of rank `k`, which may lie between two slots.
    #[must_use]
    pub fn radius(&self, rank: f32) -> f32 {
        let u = (rank + 0.5) / self.ways as f32;
        (self.r0 * self.r0 + u * (self.r1 * self.r1 - self.r0 * self.r0)).max(0.0).sqrt()
    }

    /// How far an arm has turned at radius `r`, radians: 0 at `r0`, `omega` at `r1`.
    #[must_use]
    pub fn turned(&self, r: f32) -> f32 {
        self.omega * (r - self.r0) / (self.r1 - self.r0)
    }

    /// `(r, theta)` of set `s`, rank `k`; both may lie between two slots. Theta is unwrapped: it grows along the arm.
    #[must_use]
    pub fn polar(&self, set: f32, rank: f32) -> [f32; 2] {
        let r = self.radius(rank);
        [r, self.theta0 + self.span * set / self.sets as f32 + self.turned(r)]
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

    /// Angles at `r0` between which its arms stand, radians: gaps lie outside.
    #[must_use]
    pub fn edges(&self) -> [f32; 2] {
        let start = self.theta0 - 0.5 * self.span / self.sets as f32;
        [start, start + self.span]
    }

    /// Angle of its middle at radius `r`, radians.
    #[must_use]
    pub fn middle(&self, r: f32) -> f32 {
        self.edges()[0] + 0.5 * self.span + self.turned(r)
    }

    /// Whether the point `(r, theta)`, with theta in any turn, lies between its edges and borders.
    #[must_use]
    pub fn contains(&self, r: f32, theta: f32) -> bool {
        (self.r0..=self.r1).contains(&r)
            && (self.is_whole() || (theta - self.edges()[0] - self.turned(r)).rem_euclid(TAU) <= self.span)
    }
}
