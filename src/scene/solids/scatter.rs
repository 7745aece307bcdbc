//! A scatter in three dimensions: a glyph for each number of an element, over the element's place on the plane at the height of the number.
//! Glyphs of one element stand beside each other, so that equal numbers hide none (Hackstadt, Malony and Mohr 1994).
//!
//! ```text
//!        o           glyph: its colour tells who
//!     o  |  o        stalk, where elements have room
//!  ---|--+--|---     plane: rows and columns
//! ```

use super::mesh::{About, Corner, Mesh, NOTHING, Point, Triangle, cross, minus, unit};
use super::plane::{Ground, SPHERES};
use crate::scene::palette::{self, Rgba};
use crate::units::to_f32;
use std::f32::consts::TAU;

/// What glyphs are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Glyphs {
    /// One for each core that refers to an element, which its colour tells.
    #[default]
    Processor,
    /// One for each element, its colour that of the core which owns it.
    Owner,
    /// One for each element, its colour the share of local and remote accesses.
    Local,
}

impl Glyphs {
    /// All of them, with their names.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Processor, "processor"), (Self::Owner, "owner"), (Self::Local, "local-remote")];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(glyphs, _)| *glyphs == self).map_or("processor", |(_, name)| name)
    }
}

/// A glyph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glyph {
    /// Its element's row and column.
    pub cell: [usize; 2],
    /// Which of how many that share the element's place.
    pub of: [usize; 2],
    /// The number that it stands at.
    pub number: f64,
    /// Its colour.
    pub color: Rgba,
    /// What it is about.
    pub about: About,
}

/// Glyphs that are balls at most; more of them have eight faces.
const BALLS: usize = 400;
/// How far from the middle of their element glyphs stand that share one, and how large one is, in sides of an element.
const ASIDE: f32 = 0.27;
const SIZE: [f32; 2] = [0.34, 0.2];
/// The least size of a glyph: one of so many is still seen.
const LEAST: f32 = 0.004;

impl Glyph {
    /// Where it is.
    #[must_use]
    pub fn at(&self, ground: &Ground) -> Point {
        let [x, z] = ground.at(self.cell[0], self.cell[1]);
        let y = ground.y(self.number);
        if self.of[1] < 2 {
            return [x, y, z];
        }
        let turn = TAU * (to_f32(self.of[0] as f64) + 0.5) / to_f32(self.of[1] as f64);
        [x + ASIDE * ground.pitch[0] * turn.sin(), y, z + ASIDE * ground.pitch[1] * turn.cos()]
    }
}

/// Adds glyphs, of which an element has so much room in the size of type.
pub fn add(mesh: &mut Mesh, glyphs: &[Glyph], ground: &Ground, room: f32) {
    let stalk = palette::fade(palette::GUIDE, 0.5);
    for glyph in glyphs {
        let at = glyph.at(ground);
        if room >= SPHERES {
            mesh.wire([[at[0], 0.0, at[2]], at], 1.2, stalk);
        }
        let side = (ground.pitch[0] * ground.pitch[1]).sqrt();
        let size = (side.min(0.25) * SIZE[usize::from(glyph.of[1] > 1)]).max(LEAST);
        if glyphs.len() <= BALLS {
            mesh.ball(at, 0.8 * size, glyph.color, glyph.about);
        } else {
            diamond(mesh, at, size, glyph.color, glyph.about);
        }
    }
}

/// Eight faces round a point.
fn diamond(mesh: &mut Mesh, at: Point, size: f32, color: Rgba, about: About) {
    let tip = |axis: usize, side: f32| {
        let mut tip = at;
        tip[axis] += side * size;
        tip
    };
    for n in 0..8u8 {
        let side = |axis: u8| if n >> axis & 1 == 0 { 1.0 } else { -1.0 };
        let mut ends = [tip(0, side(0)), tip(1, side(1)), tip(2, side(2))];
        // Turned outwards.
        if side(0) * side(1) * side(2) < 0.0 {
            ends.swap(0, 1);
        }
        let normal = unit(cross(minus(ends[1], ends[0]), minus(ends[2], ends[0])));
        mesh.closed.push(Triangle { corners: ends.map(|at| Corner { at, normal, color }), about });
    }
}

/// What a glyph of a core and an element is about, of so many elements; see [`told`].
#[must_use]
pub fn about(core: usize, drawn: usize, elements: usize) -> About {
    About::try_from(core * elements + drawn).unwrap_or(NOTHING)
}

/// The core and the element that a glyph is about.
#[must_use]
pub fn told(about: About, elements: usize) -> [usize; 2] {
    let about = about as usize;
    [about / elements.max(1), about % elements.max(1)]
}

#[cfg(test)]
mod tests {
    use super::super::mesh::{dot, plus, times};
    use super::super::scale::Reach;
    use super::*;

    fn ground() -> Ground {
        Ground::over([2, 3], Reach { up: 10.0, down: 0.0, step: 2.0 })
    }

    fn glyph(cell: [usize; 2], of: [usize; 2], number: f64) -> Glyph {
        Glyph { cell, of, number, color: [9, 8, 7, 255], about: about(of[0], cell[0] * 3 + cell[1], 6) }
    }

    #[test]
    fn glyphs_stand_over_their_elements_at_the_height_of_their_numbers() {
        let ground = ground();
        let alone = glyph([1, 2], [0, 1], 6.0).at(&ground);
        let [x, z] = ground.at(1, 2);
        assert_eq!(alone, [x, ground.y(6.0), z]);
        assert!((ground.y(10.0) - 2.0 * ground.y(5.0)).abs() < 1e-6, "heights are in proportion");
        // Four that share an element hide none of each other and stay in its place.
        let shared = [0, 1, 2, 3].map(|n| glyph([1, 2], [n, 4], 6.0).at(&ground));
        for (n, a) in shared.iter().enumerate() {
            assert!((a[0] - x).abs() < 0.5 * ground.side() && (a[2] - z).abs() < 0.5 * ground.side());
            for b in &shared[n + 1..] {
                let away = minus(*a, *b);
                assert!(dot(away, away).sqrt() > 1.6 * SIZE[1] * ground.side().min(0.25) * 0.99, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn few_are_balls_on_stalks_and_many_have_eight_faces_turned_outwards() {
        let ground = ground();
        let mut mesh = Mesh::default();
        add(&mut mesh, &[glyph([0, 0], [0, 1], 4.0), glyph([0, 1], [0, 1], 0.0)], &ground, 2.0);
        assert_eq!(mesh.wires.len(), 2);
        assert_eq!(mesh.wires[0].ends[1][1], ground.y(4.0));
        let many: Vec<Glyph> = (0..=BALLS).map(|n| glyph([0, n % 3], [0, 1], n as f64)).collect();
        let mut mesh = Mesh::default();
        add(&mut mesh, &many, &ground, 0.5);
        assert!(mesh.wires.is_empty(), "no room for stalks");
        assert_eq!(mesh.closed.len(), 8 * many.len());
        for (eight, glyph) in mesh.closed.chunks(8).zip(&many) {
            let middle = glyph.at(&ground);
            for triangle in eight {
                let [a, b, c] = triangle.corners.map(|corner| corner.at);
                let out = minus(times(plus(plus(a, b), c), 1.0 / 3.0), middle);
                assert!(dot(cross(minus(b, a), minus(c, a)), out) > 0.0 && dot(triangle.corners[0].normal, out) > 0.0);
                assert_eq!(triangle.about, glyph.about);
            }
        }
    }

    #[test]
    fn a_glyph_tells_its_core_and_its_element() {
        for core in 0..5 {
            for drawn in 0..6 {
                assert_eq!(told(about(core, drawn, 6), 6), [core, drawn]);
            }
        }
    }
}
