//! Accesses of an array's elements over time as a tube: elements stand round a circle, slices of time along its axis, and the farther a
//! point is from the axis the more accesses an element had in a slice.
//!
//! ```text
//!            ______                  radius = CORE where nothing happened; from there outwards on one scale
//!    /\_____/      \____/\
//!   |  element 0 at the top          colour = whether the owner or others did it
//!    \____________________/
//!   slice 49 ..        .. slice 64
//! ```
//!
//! A point for each element and slice, a quad between each of them and the next element, the last one's next being the first: elements times
//! (slices - 1) quads without a seam.

use super::camera::Sight;
use super::frame::{Name, Says, apart};
use super::mesh::{About, Corner, Mesh, NOTHING, Point, cross, minus, unit};
use super::scale::{Reach, indices};
use crate::scene::palette;
use crate::units::to_f32;
use std::f32::consts::TAU;

/// The length of a tube, its radius where nothing happened, and the largest.
const LONG: f32 = 2.8;
const CORE: f32 = 0.22;
const RADIUS: f32 = 0.72;
/// How far outside of the tube lines along it are.
const LIFT: f32 = 0.012;
/// Straight parts of a circle.
const ROUND: u8 = 48;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Tube {
    /// Elements, or blocks of them, round the circle.
    pub parts: usize,
    /// Slices along the axis.
    pub slices: usize,
    /// The axis of radii.
    pub reach: Reach,
    /// Of each slice, of each part: how many, and what its colour tells, -1 to 1: local minus remote accesses as a share of all, where nothing else
    /// is said.
    numbers: Vec<(f64, f32)>,
    /// What colours tell, where it is something else: whether that is an amount.
    colored: Option<bool>,
}

impl Tube {
    /// Of so many parts; `numbers` has a row of them for each slice.
    #[must_use]
    pub fn new(parts: usize, numbers: Vec<(f64, f32)>) -> Self {
        let reach = Reach::of(numbers.iter().map(|(number, _)| *number));
        Self { parts, slices: numbers.len() / parts.max(1), reach, numbers, colored: None }
    }

    /// The same with colours that tell something else: an amount, or what has a sign.
    #[must_use]
    pub fn colored(self, colored: Option<bool>) -> Self {
        Self { colored, ..self }
    }

    /// The same with an axis of radii that reaches so far at least: one that stays while a window slides.
    #[must_use]
    pub fn reaching(self, most: f64) -> Self {
        let reach = Reach::of(self.numbers.iter().map(|(number, _)| *number).chain([most]));
        Self { reach, ..self }
    }

    fn number(&self, part: usize, slice: usize) -> (f64, f32) {
        self.numbers.get(slice * self.parts + part).copied().unwrap_or_default()
    }

    /// The radius of a number.
    #[must_use]
    pub fn radius(&self, number: f64) -> f32 {
        let share = if number.is_finite() { to_f32((number / self.reach.length()).clamp(0.0, 1.0)) } else { 0.0 };
        CORE + (RADIUS - CORE) * share
    }

    /// Where a slice is on the axis.
    #[must_use]
    pub fn along(&self, slice: usize) -> f32 {
        let all = self.slices.saturating_sub(1).max(1) as f32;
        LONG * (slice as f32 / all - 0.5)
    }

    /// A place round the axis, `part` parts from the top.
    fn round(&self, slice: usize, part: f32, radius: f32) -> Point {
        let turn = TAU * part / self.parts.max(1) as f32;
        [self.along(slice), radius * turn.cos(), radius * turn.sin()]
    }

    /// The point of a part in a slice.
    #[must_use]
    pub fn at(&self, part: usize, slice: usize) -> Point {
        self.round(slice, part as f32, self.radius(self.number(part, slice).0))
    }

    /// Lower and upper corner of all of it.
    #[must_use]
    pub fn bounds(&self) -> [Point; 2] {
        [[-0.5 * LONG, -RADIUS, -RADIUS], [0.5 * LONG, RADIUS, RADIUS]]
    }

    /// What the quad after a part and a slice is about.
    #[must_use]
    pub fn about(&self, part: usize, slice: usize) -> About {
        About::try_from(slice * self.parts + part).unwrap_or(NOTHING)
    }

    /// The part and the slice that a quad is about.
    #[must_use]
    pub fn told(&self, about: About) -> Option<[usize; 2]> {
        let about = about as usize;
        (about < self.numbers.len()).then(|| [about % self.parts, about / self.parts])
    }

    /// Adds the tube.
    pub fn add(&self, mesh: &mut Mesh) {
        let (parts, last) = (self.parts, self.slices.saturating_sub(1));
        let corner = |part: usize, slice: usize| {
            let at = self.at(part, slice);
            // As the surface lies between the neighbours.
            let along = minus(self.at(part, (slice + 1).min(last)), self.at(part, slice.saturating_sub(1)));
            let round = minus(self.at((part + 1) % parts, slice), self.at((part + parts - 1) % parts, slice));
            let normal = unit(cross(round, along));
            let color = match self.number(part, slice) {
                (_, share) if self.colored == Some(true) => palette::heat(share),
                (_, share) if self.colored == Some(false) => palette::owned(share, false),
                (number, share) if number > 0.0 => palette::owned(share, false),
                _ => palette::owned(0.0, false),
            };
            Corner { at, normal, color }
        };
        mesh.surface([parts, self.slices], true, corner, |part, slice| self.about(part, slice));
    }

    /// Adds a line along a part, a little outside of the tube.
    pub fn mark(&self, mesh: &mut Mesh, part: usize, ink: palette::Rgba) {
        let at = |slice: usize| self.round(slice, part as f32, self.radius(self.number(part, slice).0) + LIFT);
        for slice in 1..self.slices {
            mesh.wire([at(slice - 1), at(slice)], 2.4, ink);
        }
    }

    /// Adds circles at both ends, and gives the names, as many as stand apart in type of `em` pixels: slices below the tube, counted from
    /// `first`; radii at the end that is left, elements round the end that is right, each part by the number that `element`
    /// tells.
    pub fn frame(
        &self,
        mesh: &mut Mesh,
        sight: &Sight,
        em: f32,
        first: usize,
        element: impl Fn(usize) -> usize,
    ) -> Vec<Name> {
        let faint = palette::fade(palette::GUIDE, 0.3);
        let last = self.slices.saturating_sub(1);
        let across = |slice: usize| sight.at([self.along(slice), 0.0, 0.0]).0[0];
        let [left, right] = if across(0) <= across(last) { [0, last] } else { [last, 0] };
        let step =
            (RADIUS - CORE) * to_f32(self.reach.step / self.reach.length()) * sight.scale([self.along(left), 0.0, 0.0]);
        let numbers: Vec<f64> = self.reach.thinned(1.25 * em / step.max(1e-3)).collect();
        for slice in [left, right] {
            for number in &numbers {
                let radius = self.radius(*number);
                let point =
                    |n: u8| self.round(slice, f32::from(n) / f32::from(ROUND) * self.parts.max(1) as f32, radius);
                for n in 0..ROUND {
                    mesh.wire([point(n), point(n + 1)], 1.0, faint);
                }
            }
        }
        let foot = |slice: usize| [self.along(slice), -RADIUS, 0.0];
        mesh.wire([foot(0), foot(last)], 1.0, faint);
        let mut names = Vec::new();
        for number in numbers {
            let y = self.radius(number);
            names.push(Name {
                says: Says::Height(number, false),
                at: [self.along(left), y, 0.0],
                from: [self.along(right), y, 0.0],
            });
        }
        let top = [self.along(left), RADIUS, 0.0];
        names.push(Name { says: Says::Heights(false), at: top, from: [top[0], 0.0, 0.0] });
        for slice in indices(self.slices, apart(sight, em, self.slices, foot)) {
            let [x, y, z] = foot(slice);
            names.push(Name { says: Says::Column(first + slice), at: [x, y, z], from: [x, 0.0, 0.0] });
        }
        names.push(Name { says: Says::Columns, at: [0.0, -RADIUS, 0.0], from: [0.0; 3] });
        let center = [self.along(right), 0.0, 0.0];
        // Eight or so round a circle; those at its left would stand on the tube.
        let side = sight.at(center).0[0];
        for part in indices(self.parts, self.parts as f32 / 8.0) {
            let at = self.round(right, part as f32, RADIUS);
            if sight.at(at).0[0] < side {
                continue;
            }
            names.push(Name { says: Says::Row(element(part)), at, from: center });
        }
        names.push(Name { says: Says::Rows, at: self.round(right, self.parts as f32 / 4.0, RADIUS), from: center });
        names
    }
}

#[cfg(test)]
mod tests {
    use super::super::camera::Orbit;
    use super::super::mesh::dot;
    use super::*;
    use std::collections::BTreeMap;

    /// 5 elements in 4 slices: element 2 is busy, element 4 is another core's.
    fn tube() -> Tube {
        let numbers = (0..20).map(|n| match n % 5 {
            2 => (f64::from(n) + 2.0, 1.0),
            4 => (3.0, -1.0),
            _ => (0.0, 0.0),
        });
        Tube::new(5, numbers.collect())
    }

    #[test]
    fn radii_are_what_was_counted() {
        let tube = tube();
        assert_eq!((tube.parts, tube.slices), (5, 4));
        for (part, slice, number) in [(0, 0, 0.0), (2, 0, 4.0), (2, 3, 19.0), (4, 1, 3.0)] {
            let [x, y, z] = tube.at(part, slice);
            let expect = CORE + (RADIUS - CORE) * to_f32(number / tube.reach.length());
            assert!((y.hypot(z) - expect).abs() < 1e-5, "element {part} in slice {slice}");
            assert!((x - tube.along(slice)).abs() < 1e-6);
        }
        assert!(tube.at(0, 0)[1] > 0.0 && tube.at(0, 0)[2].abs() < 1e-6, "the first element is at the top");
        assert!(tube.along(0) < tube.along(3), "time goes along");
        // A longer axis makes radii smaller, in proportion.
        let longer = tube.clone().reaching(2.0 * tube.reach.length());
        assert_eq!(longer.reach.length(), 2.0 * tube.reach.length());
        assert!((2.0 * (longer.radius(3.0) - CORE) - (tube.radius(3.0) - CORE)).abs() < 1e-6);
        assert_eq!(tube.clone().reaching(0.0), tube);
        // Nothing at all, and no numbers, make a tube as well.
        let none = Tube::new(3, vec![(0.0, 0.0), (f64::NAN, f32::NAN), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]);
        assert!((0..3).all(|part| none.at(part, 0).iter().all(|v| v.is_finite())));
    }

    #[test]
    fn a_tube_is_closed_and_has_a_quad_for_each_element_between_two_slices() {
        let (tube, mut mesh) = (tube(), Mesh::default());
        tube.add(&mut mesh);
        assert_eq!(mesh.surfaces.len(), 2 * 5 * (4 - 1), "elements x (slices - 1) quads");
        // Every edge is of two triangles, each of which walks it its own way; but for those of the circles at both ends.
        let key = |at: Point| at.map(f32::to_bits);
        let mut edges: BTreeMap<[[u32; 3]; 2], [usize; 2]> = BTreeMap::new();
        for triangle in mesh.of_surfaces() {
            for n in 0..3 {
                let [a, b] = [triangle.corners[n].at, triangle.corners[(n + 1) % 3].at].map(key);
                let (edge, way) = if a < b { ([a, b], 0) } else { ([b, a], 1) };
                edges.entry(edge).or_default()[way] += 1;
            }
        }
        let open: Vec<_> = edges.iter().filter(|(_, ways)| **ways != [1, 1]).collect();
        assert_eq!(open.len(), 2 * 5);
        for ([a, b], ways) in open {
            assert_eq!(ways.iter().sum::<usize>(), 1);
            assert_eq!(a[0], b[0], "an edge of an end");
        }
    }

    #[test]
    fn local_and_remote_have_their_colours_and_surfaces_look_outwards() {
        let (tube, mut mesh) = (tube(), Mesh::default());
        tube.add(&mut mesh);
        let color = |part: usize, slice: usize| {
            let at = tube.at(part, slice);
            let corners = mesh.of_surfaces().flat_map(|t| t.corners);
            corners.into_iter().find(|corner| corner.at == at).map(|corner| corner.color)
        };
        assert_eq!(color(2, 1), Some(palette::owned(1.0, false)));
        assert_eq!(color(4, 1), Some(palette::owned(-1.0, false)));
        assert_eq!(color(0, 1), Some(palette::owned(0.0, false)));
        let even = Tube::new(6, vec![(1.0, 0.0); 18]);
        let mut mesh = Mesh::default();
        even.add(&mut mesh);
        for triangle in mesh.of_surfaces() {
            let [a, b, c] = triangle.corners.map(|corner| corner.at);
            let out = [0.0, a[1] + b[1] + c[1], a[2] + b[2] + c[2]];
            assert!(dot(cross(minus(b, a), minus(c, a)), out) > 0.0 && dot(triangle.corners[0].normal, out) > 0.0);
        }
    }

    #[test]
    fn a_quad_tells_its_element_and_slice_and_names_are_those_of_the_trace() {
        let tube = tube();
        for part in 0..5 {
            for slice in 0..4 {
                assert_eq!(tube.told(tube.about(part, slice)), Some([part, slice]));
            }
        }
        assert_eq!(tube.told(NOTHING), None);
        let sight = Sight::new(tube.bounds(), Orbit::of([0.0; 2]), 1.0, [0.0, 0.0, 800.0, 500.0]);
        let names = tube.frame(&mut Mesh::default(), &sight, 12.0, 49, |part| 3 * part);
        let says = |says: Says| names.iter().any(|name| name.says == says);
        assert!(says(Says::Column(49)) && says(Says::Column(52)) && !says(Says::Column(53)));
        assert!(
            names.iter().any(|name| matches!(name.says, Says::Row(part) if part % 3 == 0 && part < 15))
                && says(Says::Height(0.0, false))
        );
    }
}
