//! How a glyph gets from one place to another.
//!
//! ```text
//! Straight   a miss flies in            a --------> b        eased, on the chord
//! Arc        an eviction flees          a               theta sweeps steadily, r stays near the border it leaves
//!                                        `.             and turns outward late (r ~ s^5): a wide circular motion
//!                                          `--.__ b
//! Slide      hit or ageing              rank moves along the arm, s at rest
//! ```
//!
//! Every flight lasts one tick, whatever its length, so far ones are fast (Choudhury & Rosen 2011, section IV-B).

use super::layout::Sector;
use crate::units::to_count;
use std::f32::consts::{PI, TAU};

/// A place a glyph can be: a slot of a cache, or a fixed polar position (home).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Endpoint {
    /// Number of the cache from 0, or [`Endpoint::POLAR`].
    pub cache: f32,
    /// Slot: set index. Polar: radius.
    pub a: f32,
    /// Slot: rank, 0 = most recent. Polar: angle, radians.
    pub b: f32,
    /// Offset across the arm, world units (items of one line stand side by side). Polar: unused, 0.
    pub across: f32,
}

impl Endpoint {
    /// `cache` of an endpoint that is a polar position.
    pub const POLAR: f32 = -1.0;

    /// A polar position.
    #[must_use]
    pub fn polar(r: f32, theta: f32) -> Self {
        Self { cache: Self::POLAR, a: r, b: theta, across: 0.0 }
    }

    /// A slot of a cache.
    #[must_use]
    pub fn slot(cache: usize, set: u32, rank: f32, across: f32) -> Self {
        Self { cache: cache as f32, a: set as f32, b: rank, across }
    }

    /// The sector a slot is in; `None` for a polar position.
    fn sector<'s>(&self, sectors: &'s [Sector]) -> Option<&'s Sector> {
        if self.cache < 0.0 { None } else { sectors.get(to_count(self.cache) as usize) }
    }

    /// `(r, theta)`, without the offset across. Theta is unwrapped.
    #[must_use]
    pub fn position_polar(&self, sectors: &[Sector]) -> [f32; 2] {
        self.sector(sectors).map_or([self.a, self.b], |sector| sector.polar(self.a, self.b))
    }

    /// `(x, y)` in world units.
    #[must_use]
    pub fn position(&self, sectors: &[Sector]) -> [f32; 2] {
        let [r, theta] = self.position_polar(sectors);
        let (sin, cos) = theta.sin_cos();
        let n = self.sector(sectors).map_or([0.0; 2], |sector| sector.across(r, theta));
        [r * cos + n[0] * self.across, r * sin + n[1] * self.across]
    }
}

/// The way between two endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Path {
    /// No motion: `to` counts.
    Rest = 0,
    /// Straight chord, eased.
    Straight = 1,
    /// Wide arc, `sweep` radians.
    Arc = 2,
    /// Along the arm: cache and set of `to`, rank from `from` to `to`.
    Slide = 3,
}

/// One glyph's move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight {
    /// Where it starts.
    pub from: Endpoint,
    /// Where it ends.
    pub to: Endpoint,
    /// How it goes.
    pub path: Path,
    /// Arc: angle swept, radians, so that `theta(from) + sweep` is `theta(to)` up to whole turns. Unused otherwise.
    pub sweep: f32,
    /// When it starts and when it arrives, ticks of the frame's axis since the frame's origin.
    pub times: [f32; 2],
}

/// What begins with the tick under way and ends with it, as all that one reference does.
pub const ONE_TICK: [f32; 2] = [0.0, 1.0];

/// An eviction that would have to sweep further back than this goes forward round the ring instead: evictions then
/// stream one way, like a vortex.
const BACK: f32 = 0.35 * PI;

impl Flight {
    /// Standing still.
    #[must_use]
    pub fn rest(at: Endpoint) -> Self {
        Self { from: at, to: at, path: Path::Rest, sweep: 0.0, times: ONE_TICK }
    }

    /// A straight flight in.
    #[must_use]
    pub fn straight(from: Endpoint, to: Endpoint) -> Self {
        Self { from, to, path: Path::Straight, sweep: 0.0, times: ONE_TICK }
    }

    /// A wide arc out; the sweep is decided here, once, so that no frame meets a branch cut.
    #[must_use]
    pub fn arc(from: Endpoint, to: Endpoint, sectors: &[Sector]) -> Self {
        let delta = to.position_polar(sectors)[1] - from.position_polar(sectors)[1];
        let mut sweep = delta - TAU * (delta / TAU).round();
        if sweep < -BACK {
            sweep += TAU;
        }
        Self { from, to, path: Path::Arc, sweep, times: ONE_TICK }
    }

    /// Along one arm.
    #[must_use]
    pub fn slide(from: Endpoint, to: Endpoint) -> Self {
        Self { from, to, path: Path::Slide, sweep: 0.0, times: ONE_TICK }
    }

    /// The same, from one time to another: before it rests where it starts, after it where it ends. One of no length, or of one that is
    /// less, is over as soon as it begins.
    #[must_use]
    pub fn during(self, start: f32, end: f32) -> Self {
        Self { times: [start, end], ..self }
    }

    /// How far on its path it is at a time, 0..=1: slow at both ends.
    #[must_use]
    pub fn eased(&self, now: f32) -> f32 {
        let [start, end] = self.times;
        ease(if end > start { (now - start) / (end - start) } else { (now >= start).into() })
    }
}

/// How far an arc of a small sweep swings out on its way, radians at half way: an eviction to a home straight ahead must not
/// look like a miss.
#[must_use]
fn bow(sweep: f32) -> f32 {
    let size = 0.2 * (1.0 - sweep.abs() / 0.5).max(0.0);
    if sweep < 0.0 { -size } else { size }
}

/// Slow at both ends: `3 s^2 - 2 s^3`.
#[must_use]
pub fn ease(s: f32) -> f32 {
    let s = s.clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

/// Position in world units at a time, ticks since the frame's origin.
#[must_use]
pub fn position_at(sectors: &[Sector], flight: &Flight, now: f32) -> [f32; 2] {
    place_on_path(sectors, flight, flight.eased(now))
}

/// Where a path is, and which way it goes there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnPath {
    /// World units.
    pub at: [f32; 2],
    /// Direction, of any length; 0 where it stands still.
    pub along: [f32; 2],
}

/// Position on the flight's path, `e` = [`Flight::eased`].
#[must_use]
pub fn place_on_path(sectors: &[Sector], flight: &Flight, e: f32) -> [f32; 2] {
    on_path(sectors, flight, e).at
}

/// Position and direction on the flight's path, `e` = [`Flight::eased`].
#[must_use]
pub fn on_path(sectors: &[Sector], flight: &Flight, e: f32) -> OnPath {
    Course::new(sectors, flight).at(e)
}

/// The path of a flight: what is the same all along it is computed once.
#[derive(Clone, Copy)]
pub struct Course<'s> {
    way: Way<'s>,
}

#[derive(Clone, Copy)]
enum Way<'s> {
    Rest([f32; 2]),
    Straight { start: [f32; 2], along: [f32; 2] },
    Arc { theta: f32, sweep: f32, bow: f32, radii: [f32; 2], fixes: [[f32; 2]; 2] },
    Slide { from: Endpoint, to: Endpoint, sector: Option<&'s Sector> },
}

impl<'s> Course<'s> {
    /// That of a flight whose slots are in these sectors.
    #[must_use]
    pub fn new(sectors: &'s [Sector], flight: &Flight) -> Self {
        let &Flight { from, to, sweep, .. } = flight;
        let ends = || (from.position(sectors), to.position(sectors));
        let way = match flight.path {
            Path::Rest => Way::Rest(to.position(sectors)),
            Path::Straight => {
                let (start, end) = ends();
                Way::Straight { start, along: [end[0] - start[0], end[1] - start[1]] }
            }
            Path::Arc => {
                // The offset across is folded into the polar endpoints, so the ribbon of a line's items opens and closes.
                let (a, b) = ends();
                let theta = from.position_polar(sectors)[1];
                let end = theta + sweep;
                let (ra, rb) = (a[0].hypot(a[1]), b[0].hypot(b[1]));
                // What the polar path misses of the exact endpoints (the angular part of the offsets) is blended in.
                let fix_a = [a[0] - ra * theta.cos(), a[1] - ra * theta.sin()];
                let fix_b = [b[0] - rb * end.cos(), b[1] - rb * end.sin()];
                Way::Arc { theta, sweep, bow: bow(sweep), radii: [ra, rb], fixes: [fix_a, fix_b] }
            }
            Path::Slide => Way::Slide { from, to, sector: to.sector(sectors) },
        };
        Self { way }
    }

    /// Position and direction, `e` = [`Flight::eased`].
    #[must_use]
    pub fn at(&self, e: f32) -> OnPath {
        match self.way {
            Way::Rest(at) => OnPath { at, along: [0.0; 2] },
            Way::Straight { start: [x, y], along } => OnPath { at: [x + along[0] * e, y + along[1] * e], along },
            Way::Arc { theta, sweep, bow, radii: [ra, rb], fixes: [fix_a, fix_b] } => {
                let theta = theta + sweep * e + bow * 4.0 * e * (1.0 - e);
                let turn = sweep + bow * 4.0 * (1.0 - 2.0 * e);
                let e4 = e.powi(4);
                let (r, outward) = (ra + (rb - ra) * e4 * e, 5.0 * (rb - ra) * e4);
                let (sin, cos) = theta.sin_cos();
                let fix = |axis: usize| fix_a[axis] * (1.0 - e) + fix_b[axis] * e;
                OnPath {
                    at: [r * cos + fix(0), r * sin + fix(1)],
                    along: [
                        outward * cos - r * turn * sin + fix_b[0] - fix_a[0],
                        outward * sin + r * turn * cos + fix_b[1] - fix_a[1],
                    ],
                }
            }
            Way::Slide { from, to, sector } => {
                let rank = from.b + (to.b - from.b) * e;
                let across = from.across + (to.across - from.across) * e;
                let [r, theta] = sector.map_or([to.a, rank], |sector| sector.polar(to.a, rank));
                let (sin, cos) = theta.sin_cos();
                // Along the arm: a quarter turn back from what lies across it.
                let n = sector.map_or([-sin, cos], |sector| sector.across(r, theta));
                let across = if sector.is_some() { across } else { 0.0 };
                let outward = if to.b == from.b { 0.0 } else { (to.b - from.b).signum() };
                OnPath {
                    at: [r * cos + n[0] * across, r * sin + n[1] * across],
                    along: [n[1] * outward, -n[0] * outward],
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{CacheShape, Rings};
    use super::*;

    /// Two halves of a ring within another.
    fn sectors() -> Vec<Sector> {
        let shape = |ring, sets, ways| CacheShape { ring, name: String::new(), core: None, sets, ways, line_bytes: 32 };
        Rings::new(&[shape(0, 2, 8), shape(1, 4, 16), shape(0, 3, 8)]).sectors
    }

    fn near(a: [f32; 2], b: [f32; 2]) -> bool {
        (a[0] - b[0]).hypot(a[1] - b[1]) < 1e-4
    }

    #[test]
    fn every_path_starts_and_ends_where_it_should() {
        let sectors = sectors();
        let slot = Endpoint::slot(0, 1, 7.0, 0.01);
        let far = Endpoint::slot(1, 2, 0.0, -0.02);
        for home_angle in [-3.0, -1.0, 0.0, 0.5, 3.1, 6.0] {
            let home = Endpoint::polar(0.9, home_angle);
            for flight in [
                Flight::straight(home, slot),
                Flight::arc(slot, home, &sectors),
                Flight::arc(slot, far, &sectors),
                Flight::slide(slot, Endpoint::slot(0, 1, 0.0, 0.01)),
                Flight::straight(slot, Endpoint::slot(2, 2, 0.0, 0.01)),
            ] {
                assert!(near(position_at(&sectors, &flight, 0.0), flight.from.position(&sectors)), "{flight:?}");
                assert!(near(position_at(&sectors, &flight, 1.0), flight.to.position(&sectors)), "{flight:?}");
                assert!(near(position_at(&sectors, &flight, 2.0), flight.to.position(&sectors)), "{flight:?}");
            }
        }
    }

    #[test]
    fn a_miss_flies_straight_and_an_eviction_does_not() {
        let sectors = sectors();
        let (slot, home) = (Endpoint::slot(1, 1, 15.0, 0.0), Endpoint::polar(0.9, 2.0));
        let bend = |flight: &Flight| {
            let [a, m, b] = [0.0, 0.5, 1.0].map(|s| position_at(&sectors, flight, s));
            let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
            ((m[0] - a[0]) * dy - (m[1] - a[1]) * dx).abs() / dx.hypot(dy)
        };
        assert!(bend(&Flight::straight(home, slot)) < 1e-5);
        assert!(bend(&Flight::arc(slot, home, &sectors)) > 0.02);
    }

    #[test]
    fn directions_are_those_of_the_way_between_two_near_places() {
        let sectors = sectors();
        let (slot, far) = (Endpoint::slot(0, 1, 7.0, 0.01), Endpoint::slot(1, 2, 3.0, -0.02));
        let (home, near) = (Endpoint::polar(0.9, -0.4), Endpoint::slot(1, 2, 9.0, -0.02));
        for flight in [
            Flight::straight(home, slot),
            Flight::arc(slot, home, &sectors),
            Flight::arc(slot, far, &sectors),
            Flight::slide(far, near),
            Flight::slide(near, far),
        ] {
            for n in 1..10u8 {
                let e = 0.1 * f32::from(n);
                let [a, b] = [e - 2e-3, e + 2e-3].map(|e| place_on_path(&sectors, &flight, e));
                let (way, along) = ([b[0] - a[0], b[1] - a[1]], on_path(&sectors, &flight, e).along);
                let dot = way[0] * along[0] + way[1] * along[1];
                let cos = dot / (way[0].hypot(way[1]) * along[0].hypot(along[1]));
                assert!(cos > 0.9995, "{flight:?} at {e}: {way:?}, {along:?}");
            }
        }
        let still = [Flight::rest(slot), Flight::slide(slot, slot)];
        assert!(still.iter().all(|flight| on_path(&sectors, flight, 0.5).along == [0.0; 2]));
    }

    #[test]
    fn flights_are_finite_even_when_they_go_nowhere() {
        let sectors = sectors();
        let centre = Endpoint::polar(0.0, 0.0);
        for flight in [Flight::rest(centre), Flight::straight(centre, centre), Flight::arc(centre, centre, &sectors)] {
            let OnPath { at, along } = on_path(&sectors, &flight, 0.3);
            assert!(at.iter().chain(&along).all(|v| v.is_finite()));
        }
    }

    #[test]
    fn evictions_stream_one_way() {
        let sectors = sectors();
        for n in 0..64 {
            let (a, b) = (Endpoint::polar(0.5, 0.37 * n as f32), Endpoint::polar(0.9, -0.91 * n as f32));
            let sweep = Flight::arc(a, b, &sectors).sweep;
            assert!((-BACK..TAU - BACK + 1e-4).contains(&sweep), "{sweep}");
        }
    }
}
