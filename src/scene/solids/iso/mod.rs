//! Isosurfaces of numbers in three dimensions: where a number that is linear between neighbours has one value. Each cube of eight
//! neighbours is cut into six tetrahedra along its diagonal, all cubes alike, so that tetrahedra of neighbours share their faces and
//! surfaces have no holes (marching tetrahedra: Doi and Koide 1991; the cut is Kuhn's, 1960).
//!
//! ```text
//!      y = plane      a point between each two neighbours, one at or above the value and one below it:
//!      |
//!      |____ x = column       one of four inside: a triangle       two of four: two triangles in one plane
//!     /
//!    z = row          surfaces are turned to where numbers are smaller
//! ```
//!
//! Surfaces are seen through, so the farthest are drawn first. Their order is exact from any eye, not one of middles: cubes by the distance of
//! their layers from the eye, tetrahedra of a cube by how many of the planes x = y, y = z, x = z lie between the eye and them, surfaces of a
//! tetrahedron by how far their value is from what its linear number is at the eye.

mod values;

pub use values::{Isovalues, NoIsovalues};

use super::mesh::{About, Corner, Mesh, NOTHING, Point, Triangle, cross, dot, minus, plus, times, unit};
use super::plane::Ground;
use super::scale::{Reach, step};
use crate::scene::palette::{self, Rgba};
use crate::units::to_f32;

/// The longest side of what is seen, and how high and how flat it may be.
const SIDE: f32 = 1.6;
const HEIGHTS: [f32; 2] = [0.4, 1.6];
/// Steps of the axis of planes, at most.
const STEPS: u32 = 8;
/// How much a surface covers: of a value next to none, and of one next to the largest.
const COVER: [f32; 2] = [0.16, 0.52];

/// How much a surface covers whose value is such a share of the largest number, -1 to 1: what is less is outside of what is more.
#[must_use]
pub fn cover(share: f64) -> f32 {
    let share = if share.is_finite() { to_f32(share.abs().min(1.0)) } else { 0.0 };
    COVER[0] + (COVER[1] - COVER[0]) * share
}

/// The six ways from the first corner of a cube to the last: which axis is walked first, second and third.
const WAYS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// A number for each element of three dimensions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// Columns, planes and rows: along x, y and z.
    pub extents: [usize; 3],
    /// By element; columns fastest, then rows, then planes, as memory has them.
    numbers: Vec<f64>,
    /// Where numbers fall at each element: differences of its neighbours.
    falls: Vec<Point>,
}

/// A triangle of a surface, in elements: a corner at (2, 0, 1) is at column 2 of row 1 of plane 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patch {
    /// Its corners.
    pub at: [Point; 3],
    /// Where numbers fall, at each corner, not of length 1.
    pub down: [Point; 3],
    /// Which surface it is of.
    pub surface: usize,
    /// The first corner of its cube.
    cube: [usize; 3],
    /// Which of [`WAYS`] its tetrahedron is.
    way: usize,
    /// The number that is linear in its tetrahedron: at the cube's first corner, and how it grows along the axes.
    first: f64,
    grows: [f64; 3],
}

impl Field {
    /// Of so many planes, rows and columns; numbers that are not finite, or not there, are 0.
    #[must_use]
    pub fn new([planes, rows, columns]: [usize; 3], mut numbers: Vec<f64>) -> Self {
        numbers.resize(planes * rows * columns, 0.0);
        numbers.iter_mut().filter(|number| !number.is_finite()).for_each(|number| *number = 0.0);
        let mut field = Self { extents: [columns, planes, rows], numbers, falls: Vec::new() };
        for y in 0..planes {
            for z in 0..rows {
                for x in 0..columns {
                    field.falls.push(field.falls([x, y, z]));
                }
            }
        }
        field
    }

    /// The least number and the largest.
    #[must_use]
    pub fn ends(&self) -> [f64; 2] {
        let ends = |[least, most]: [f64; 2], n: &f64| [least.min(*n), most.max(*n)];
        let found = self.numbers.iter().fold([f64::INFINITY, f64::NEG_INFINITY], ends);
        if found[0] <= found[1] { found } else { [0.0; 2] }
    }

    /// The number of an element in memory's order.
    fn element(&self, [x, y, z]: [usize; 3]) -> usize {
        (y * self.extents[2] + z) * self.extents[0] + x
    }

    fn number(&self, at: [usize; 3]) -> f64 {
        self.numbers.get(self.element(at)).copied().unwrap_or(0.0)
    }

    /// Where numbers fall at an element: differences of its neighbours.
    fn falls(&self, at: [usize; 3]) -> Point {
        std::array::from_fn(|axis| {
            let (mut from, mut to) = (at, at);
            from[axis] = at[axis].saturating_sub(1);
            to[axis] = (at[axis] + 1).min(self.extents[axis] - 1);
            let apart = (to[axis] - from[axis]).max(1);
            to_f32((self.number(from) - self.number(to)) / apart as f64)
        })
    }

    /// The point between two elements where the number is `value`, and where numbers fall there: the same whichever is named first.
    fn between(&self, a: [usize; 3], b: [usize; 3], value: f64) -> (Point, Point) {
        let (a, b) = if self.element(a) < self.element(b) { (a, b) } else { (b, a) };
        let (from, to) = (self.number(a), self.number(b));
        let share = to_f32(((value - from) / (to - from)).clamp(0.0, 1.0));
        let mixed = |a: Point, b: Point| plus(a, times(minus(b, a), share));
        let falls = |at: [usize; 3]| self.falls.get(self.element(at)).copied().unwrap_or_default();
        (mixed(a.map(|n| n as f32), b.map(|n| n as f32)), mixed(falls(a), falls(b)))
    }

    /// The surfaces of these values, in no order that matters.
    #[must_use]
    pub fn surfaces(&self, values: &[f64]) -> Vec<Patch> {
        let mut patches = Vec::new();
        let [across, up, back] = self.extents.map(|extent| extent.saturating_sub(1));
        for y in 0..up {
            for z in 0..back {
                for x in 0..across {
                    let corner = |n: usize| self.number([x + (n & 1), y + (n >> 1 & 1), z + (n >> 2)]);
                    let (least, most) = (0..8).map(corner).fold((f64::MAX, f64::MIN), |(a, b), n| (a.min(n), b.max(n)));
                    // Elements at the value are inside.
                    if !values.iter().any(|value| least < *value && *value <= most) {
                        continue;
                    }
                    for way in 0..WAYS.len() {
                        self.cut([x, y, z], way, values, &mut patches);
                    }
                }
            }
        }
        patches
    }

    /// Adds what surfaces have in one tetrahedron.
    fn cut(&self, cube: [usize; 3], way: usize, values: &[f64], patches: &mut Vec<Patch>) {
        let mut ends = [cube; 4];
        let mut grows = [0.0; 3];
        for (n, axis) in WAYS[way].into_iter().enumerate() {
            for end in &mut ends[n + 1..] {
                end[axis] += 1;
            }
            grows[axis] = self.number(ends[n + 1]) - self.number(ends[n]);
        }
        let numbers = ends.map(|end| self.number(end));
        for (surface, value) in values.iter().enumerate() {
            // Those inside first.
            let (mut sorted, mut within) = ([0, 1, 2, 3], 0);
            for n in 0..4 {
                if numbers[n] >= *value {
                    // To the front; the others keep their order.
                    sorted[..=n].rotate_right(1);
                    within += 1;
                }
            }
            let (inside, outside) = sorted.split_at(within);
            let point = |a: usize, b: usize| self.between(ends[a], ends[b], *value);
            let (points, faces): ([(Point, Point); 4], &[[usize; 3]]) = match (inside, outside) {
                ([a], [b, c, d]) | ([b, c, d], [a]) => {
                    let last = point(*a, *d);
                    ([point(*a, *b), point(*a, *c), last, last], &[[0, 1, 2]])
                }
                ([a, b], [c, d]) => {
                    ([point(*a, *c), point(*a, *d), point(*b, *d), point(*b, *c)], &[[0, 1, 2], [0, 2, 3]])
                }
                _ => continue,
            };
            let middle = |of: &[usize]| {
                let sum = of.iter().fold([0.0; 3], |sum, n| plus(sum, ends[*n].map(|v| v as f32)));
                times(sum, 1.0 / of.len() as f32)
            };
            let out = minus(middle(outside), middle(inside));
            for face in faces {
                let mut corners = face.map(|n| points[n]);
                let at = corners.map(|(at, _)| at);
                let own = cross(minus(at[1], at[0]), minus(at[2], at[0]));
                // Where the value is that of an element, corners may be one.
                if at[0] == at[1] || at[1] == at[2] || at[2] == at[0] {
                    continue;
                }
                if dot(own, out) < 0.0 {
                    corners.swap(1, 2);
                }
                let (at, down) = (corners.map(|(at, _)| at), corners.map(|(_, down)| down));
                patches.push(Patch { at, down, surface, cube, way, first: numbers[0], grows });
            }
        }
    }

    /// Puts patches in order, the farthest from an eye first; the eye in elements, as corners are.
    pub fn order(&self, patches: &mut [Patch], values: &[f64], eye: Point) {
        // How many layers of cubes lie farther from the eye than one.
        let ranks: [Vec<u32>; 3] = std::array::from_fn(|axis| {
            let cubes = self.extents[axis].saturating_sub(1);
            let away = |n: usize| (n as f32 + 0.5 - eye[axis]).abs();
            let mut order: Vec<usize> = (0..cubes).collect();
            order.sort_by(|a, b| away(*b).total_cmp(&away(*a)));
            let mut ranks = vec![0; cubes];
            for (rank, n) in (0..).zip(order) {
                ranks[n] = rank;
            }
            ranks
        });
        let key = |patch: &Patch| {
            let local: [f32; 3] = std::array::from_fn(|axis| eye[axis] - patch.cube[axis] as f32);
            let way = WAYS[patch.way];
            let crossed = [(0, 1), (0, 2), (1, 2)].into_iter().filter(|(a, b)| local[way[*a]] < local[way[*b]]).count();
            let there = (0..3).fold(patch.first, |number, axis| number + patch.grows[axis] * f64::from(local[axis]));
            let away = values.get(patch.surface).map_or(0.0, |value| (value - there).abs());
            let [x, y, z] = [0, 1, 2].map(|axis| ranks[axis].get(patch.cube[axis]).copied().unwrap_or(0));
            (x, y, z, 3 - crossed, away)
        };
        let mut keyed: Vec<_> = patches.iter().enumerate().map(|(n, patch)| (key(patch), n)).collect();
        keyed.sort_by(|(a, _), (b, _)| (a.0, a.1, a.2, a.3).cmp(&(b.0, b.1, b.2, b.3)).then(b.4.total_cmp(&a.4)));
        let ordered: Vec<Patch> = keyed.iter().map(|(_, n)| patches[*n]).collect();
        patches.copy_from_slice(&ordered);
    }

    /// The element that is nearest to the middle of a patch, in memory's order.
    #[must_use]
    pub fn nearest(&self, patch: &Patch) -> About {
        let sum = patch.at.iter().fold([0.0; 3], |sum, at| plus(sum, *at));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 or more; saturates")]
        let at = std::array::from_fn(|n| ((sum[n] / 3.0).round() as usize).min(self.extents[n].saturating_sub(1)));
        About::try_from(self.element(at)).unwrap_or(NOTHING)
    }

    /// The box that elements stand in: rows and columns on its floor, planes upwards.
    #[must_use]
    pub fn ground(&self) -> Ground {
        let [columns, planes, rows] = self.extents.map(|extent| extent.max(1));
        let pitch = SIDE / columns.max(rows).max(planes.min(2 * columns.max(rows))) as f32;
        let all = planes.saturating_sub(1).max(1);
        let last = all as f64;
        // A step that leads to the last plane, or a round one past it.
        let even =
            (1..=all).find(|by| all % by == 0 && all / by <= STEPS as usize).filter(|by| 2 * by <= all || all == 1);
        let by = even.map_or_else(|| step(last, STEPS), |by| by as f64);
        let reach = Reach { up: (last / by - 1e-9).ceil() * by, down: 0.0, step: by };
        let high = (pitch * to_f32(last)).clamp(HEIGHTS[0], HEIGHTS[1]);
        let half = [0.5 * pitch * columns as f32, 0.5 * pitch * rows as f32];
        Ground { pitch: [pitch; 2], half, extents: [rows, columns], reach, unit: f64::from(high) / last }
    }
}

/// Adds patches as they are ordered to what is seen through, each surface in its colour, which says how much it covers, too.
pub fn add(mesh: &mut Mesh, field: &Field, ground: &Ground, patches: &[Patch], colors: &[Rgba]) {
    let [x, z] = ground.at(0, 0);
    let scale = [ground.pitch[0], to_f32(ground.unit), ground.pitch[1]];
    let place = |at: Point| plus([x, 0.0, z], std::array::from_fn(|n| at[n] * scale[n]));
    for patch in patches {
        let color = colors.get(patch.surface).copied().unwrap_or(palette::NEUTRAL);
        let corner = |n: usize| {
            let normal = unit(std::array::from_fn(|axis| patch.down[n][axis] / scale[axis]));
            Corner { at: place(patch.at[n]), normal, color }
        };
        mesh.layers.push(Triangle { corners: [corner(0), corner(1), corner(2)], about: field.nearest(patch) });
    }
}

/// A point in space, in elements.
#[must_use]
pub fn in_elements(ground: &Ground, point: Point) -> Point {
    let [x, z] = ground.at(0, 0);
    [(point[0] - x) / ground.pitch[0], point[1] / to_f32(ground.unit).max(1e-12), (point[2] - z) / ground.pitch[1]]
}

#[cfg(test)]
mod tests;
