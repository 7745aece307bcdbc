//! Triangles in space with their colours: what shapes are made of before a camera sees them.

use crate::scene::palette::Rgba;

/// A point or a direction: across to the right, up, and towards the viewer of a camera that is not turned.
pub type Point = [f32; 3];

/// The sum of two.
#[must_use]
pub fn plus(a: Point, b: Point) -> Point {
    [0, 1, 2].map(|n| a[n] + b[n])
}

/// The way from `b` to `a`.
#[must_use]
pub fn minus(a: Point, b: Point) -> Point {
    [0, 1, 2].map(|n| a[n] - b[n])
}

/// So many times as long.
#[must_use]
pub fn times(a: Point, by: f32) -> Point {
    a.map(|v| v * by)
}

/// How far two directions agree.
#[must_use]
pub fn dot(a: Point, b: Point) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// At right angles to both.
#[must_use]
pub fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The same direction with length 1; up where it has no length.
#[must_use]
pub fn unit(a: Point) -> Point {
    let length = dot(a, a).sqrt();
    if length > 1e-12 { times(a, 1.0 / length) } else { [0.0, 1.0, 0.0] }
}

/// What a triangle or a line is about: an element of a grid by the number of its block; [`NOTHING`] = none.
pub type About = u32;
/// See [`About`].
pub const NOTHING: About = u32::MAX;

/// A corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Where it is.
    pub at: Point,
    /// Away from the surface, of length 1.
    pub normal: Point,
    /// Its colour in full light.
    pub color: Rgba,
}

/// A triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    /// Its corners.
    pub corners: [Corner; 3],
    /// What it is about.
    pub about: About,
}

/// A straight line, as wide as it is on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// Both ends.
    pub ends: [Point; 2],
    /// Width, pixels of a picture 720 high.
    pub width: f32,
    /// Its colour, which no light changes.
    pub color: Rgba,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// What covers what is behind it, of solids that are closed: turned outwards, and not seen from within.
    pub closed: Vec<Triangle>,
    /// Corners of surfaces, which their triangles share.
    pub corners: Vec<Corner>,
    /// What covers what is behind it, seen from both sides: triangles by the numbers of their corners, and what each is about.
    pub surfaces: Vec<([u32; 3], About)>,
    /// Lines.
    pub wires: Vec<Wire>,
    /// What is seen through: drawn over all that, the farthest first.
    pub panes: Vec<Triangle>,
    /// What is seen through as well, over all others: drawn as it is put here, the farthest first.
    pub layers: Vec<Triangle>,
}

impl Mesh {
    /// Adds a flat face of a closed solid, with corners in order, each with its colour.
    fn face(&mut self, at: [Point; 4], color: [Rgba; 4], about: About) {
        let normal = unit(cross(minus(at[2], at[0]), minus(at[3], at[1])));
        let [a, b, c, d] = [0, 1, 2, 3].map(|n| Corner { at: at[n], normal, color: color[n] });
        self.closed.push(Triangle { corners: [a, b, c], about });
        self.closed.push(Triangle { corners: [a, c, d], about });
    }

    /// Adds a surface through rows of corners, each beside its neighbours; `closes`: the last row is beside the first. What lies
    /// between a corner, the next one of its row and those of the next row is about what `about` says, by row and column.
    pub fn surface(
        &mut self,
        [rows, columns]: [usize; 2],
        closes: bool,
        corner: impl Fn(usize, usize) -> Corner,
        about: impl Fn(usize, usize) -> About,
    ) {
        let first = self.corners.len();
        self.corners.extend((0..rows * columns).map(|n| corner(n / columns, n % columns)));
        let number =
            |row: usize, column: usize| u32::try_from(first + row % rows * columns + column).unwrap_or(u32::MAX);
        for row in 0..if closes { rows } else { rows.saturating_sub(1) } {
            for column in 0..columns.saturating_sub(1) {
                let about = about(row, column);
                let [a, b] = [number(row + 1, column), number(row + 1, column + 1)];
                let [c, d] = [number(row, column + 1), number(row, column)];
                // Along the shorter way across, so that a ridge between two corners stays one.
                let far = |a: u32, b: u32| {
                    let way = minus(self.corners[a as usize].at, self.corners[b as usize].at);
                    dot(way, way)
                };
                let halves = if far(a, c) <= far(b, d) { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] };
                self.surfaces.extend(halves.map(|corners| (corners, about)));
            }
        }
    }

    /// The triangles of surfaces, each with its corners.
    pub fn of_surfaces(&self) -> impl Iterator<Item = Triangle> + '_ {
        let corner = |n: u32| self.corners[n as usize];
        self.surfaces.iter().map(move |(corners, about)| Triangle { corners: corners.map(corner), about: *about })
    }

    /// Adds an upright box, from one height to another, the colour of each.
    pub fn tower(&mut self, middle: [f32; 2], half: [f32; 2], heights: [f32; 2], color: [Rgba; 2], about: About) {
        let ([x, z], [w, d], [foot, top]) = (middle, half, heights);
        let ring = [[x - w, z + d], [x + w, z + d], [x + w, z - d], [x - w, z - d]];
        let corner = |n: usize, y: f32| [ring[n % 4][0], y, ring[n % 4][1]];
        for n in 0..4 {
            let sides = [corner(n, foot), corner(n + 1, foot), corner(n + 1, top), corner(n, top)];
            // Away from the middle whichever end is higher.
            let sides = if top >= foot { sides } else { [sides[3], sides[2], sides[1], sides[0]] };
            let color = if top >= foot {
                [color[0], color[0], color[1], color[1]]
            } else {
                [color[1], color[1], color[0], color[0]]
            };
            self.face(sides, color, about);
        }
        let lid = if top >= foot { [0, 1, 2, 3] } else { [3, 2, 1, 0] };
        self.face(lid.map(|n| corner(n, top)), [color[1]; 4], about);
        let [a, b, c, d] = lid;
        self.face([d, c, b, a].map(|n| corner(n, foot)), [color[0]; 4], about);
    }

    /// Adds a ball.
    pub fn ball(&mut self, middle: Point, radius: f32, color: Rgba, about: About) {
        const ROUND: usize = 20;
        const UP: usize = 12;
        let at = |row: usize, column: usize| {
            let (tilt, turn) =
                (std::f32::consts::PI * row as f32 / UP as f32, std::f32::consts::TAU * column as f32 / ROUND as f32);
            let normal = [tilt.sin() * turn.sin(), tilt.cos(), tilt.sin() * turn.cos()];
            Corner { at: plus(middle, times(normal, radius)), normal, color }
        };
        for row in 0..UP {
            for column in 0..ROUND {
                let [a, b, c, d] = [at(row, column), at(row + 1, column), at(row + 1, column + 1), at(row, column + 1)];
                // Rows at the poles are triangles.
                if row > 0 {
                    self.closed.push(Triangle { corners: [a, b, d], about });
                }
                if row + 1 < UP {
                    self.closed.push(Triangle { corners: [b, c, d], about });
                }
            }
        }
    }

    /// Adds a line.
    pub fn wire(&mut self, ends: [Point; 2], width: f32, color: Rgba) {
        self.wires.push(Wire { ends, width, color });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: Rgba = [200, 100, 50, 255];

    /// Every triangle is turned away from `middle`, as its normals are.
    fn is_turned_out(mesh: &Mesh, middle: Point) {
        for Triangle { corners: [a, b, c], .. } in &mesh.closed {
            let own = cross(minus(b.at, a.at), minus(c.at, a.at));
            let out = minus(times(plus(plus(a.at, b.at), c.at), 1.0 / 3.0), middle);
            assert!(dot(own, out) > 0.0 && dot(own, a.normal) > 0.0, "{a:?} {b:?} {c:?}");
        }
    }

    #[test]
    fn towers_and_balls_are_closed_and_turned_outwards() {
        for [foot, top] in [[0.0, 2.0], [0.0, -1.0]] {
            let mut mesh = Mesh::default();
            mesh.tower([1.0, -1.0], [0.4, 0.3], [foot, top], [INK; 2], 7);
            assert_eq!(mesh.closed.len(), 12, "four sides and two ends");
            is_turned_out(&mesh, [1.0, 0.5 * (foot + top), -1.0]);
            assert!(mesh.closed.iter().all(|t| t.about == 7));
        }
        let mut mesh = Mesh::default();
        mesh.ball([1.0, 2.0, 3.0], 0.5, INK, 3);
        is_turned_out(&mesh, [1.0, 2.0, 3.0]);
        let far = |c: &Corner| (dot(minus(c.at, [1.0, 2.0, 3.0]), minus(c.at, [1.0, 2.0, 3.0])).sqrt() - 0.5).abs();
        assert!(mesh.closed.iter().flat_map(|t| t.corners).all(|c| far(&c) < 1e-5));
    }
}
