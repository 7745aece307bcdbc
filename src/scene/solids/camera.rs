//! A camera on an orbit round the middle of what it sees, and what it sees: triangles in pixels, with depth and light.
//!
//! ```text
//!        y                 azimuth: turned round y, 0 = along -z
//!        |   * camera      altitude: up from the plane, 90 = from above
//!        |  /
//!        | / altitude      The field of view is narrow and what is seen stands DISTANCE away, so far edges are a little smaller than
//!   -----+------ x         near ones and comparisons of heights stay fair. Zooming is a longer lens: nothing gets behind the camera.
//!       /
//!      z
//! ```

use super::mesh::{About, Corner, Mesh, Point, dot, minus, plus, times, unit};
use crate::scene::palette::Rgba;

/// How far away the middle is, in radii of what is seen.
const DISTANCE: f32 = 4.2;
/// As far away as parallel lines of sight are, in the same.
const FAR: f32 = 1e4;
/// Least light: a side that is turned away keeps so much of its colour. Light scales all channels alike, so that hue stays and colours
/// of faces that are turned alike compare exactly.
const SHADE: f32 = 0.62;
/// Where light comes from, as the camera sees it: from the upper left and from behind it.
const LIGHT: Point = [-0.35, 0.62, 0.70];

/// Where one looks from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// Degrees round the upright axis.
    pub azimuth: f32,
    /// Degrees above the plane, -90 to 90.
    pub altitude: f32,
}

/// Where a camera that was not turned looks from.
pub const USUAL: Orbit = Orbit { azimuth: 322.0, altitude: 24.0 };

/// Ways to look that have a name, and where from.
pub const PRESETS: [(&str, Orbit); 5] = [
    ("corner", USUAL),
    ("front", Orbit { azimuth: 0.0, altitude: 12.0 }),
    ("side", Orbit { azimuth: 270.0, altitude: 12.0 }),
    ("above", Orbit { azimuth: 0.0, altitude: 89.0 }),
    ("below", Orbit { azimuth: 322.0, altitude: -24.0 }),
];

/// Highest and lowest that one looks from: exactly from above nothing says what is up.
const HIGHEST: f32 = 89.0;

impl Orbit {
    /// The orbit that [`Camera::at`](crate::scene::Camera) says where it counts degrees from [`USUAL`]: to the right, and up; both go round
    /// at 360 and begin at 0.
    #[must_use]
    pub fn of(at: [f32; 2]) -> Self {
        let up = (at[1] + 180.0).rem_euclid(360.0) - 180.0;
        Self {
            azimuth: (USUAL.azimuth + at[0]).rem_euclid(360.0),
            altitude: (USUAL.altitude + up).clamp(-HIGHEST, HIGHEST),
        }
    }

    /// See [`Orbit::of`].
    #[must_use]
    pub fn at(self) -> [f32; 2] {
        let round = |degrees: f32| if degrees.abs() < 1e-3 { 0.0 } else { degrees.rem_euclid(360.0) };
        [round(self.azimuth - USUAL.azimuth), round(self.altitude.clamp(-HIGHEST, HIGHEST) - USUAL.altitude)]
    }

    /// The same turned by so many degrees.
    #[must_use]
    pub fn turned(self, azimuth: f32, altitude: f32) -> Self {
        Self { azimuth: self.azimuth + azimuth, altitude: (self.altitude + altitude).clamp(-HIGHEST, HIGHEST) }
    }
}

/// How what is far is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Projection {
    /// A little smaller than what is near.
    #[default]
    Perspective,
    /// As large: what is parallel stays so, and lengths along one direction compare exactly.
    Orthographic,
}

impl Projection {
    /// Both, with their names.
    pub const ALL: [(Self, &'static str); 2] =
        [(Self::Perspective, "perspective"), (Self::Orthographic, "orthographic")];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        if self == Self::Perspective { "perspective" } else { "orthographic" }
    }
}

impl std::fmt::Display for Projection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Projection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text).map(|(projection, _)| projection);
        found.ok_or_else(|| format!("found `{text}`; expected perspective or orthographic"))
    }
}

/// A corner on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Pixels across and down.
    pub at: [f32; 2],
    /// 0 = nearest, 1 = farthest.
    pub depth: f32,
    /// Its colour in this light, straight alpha.
    pub color: Rgba,
}

/// Triangles on the screen, and what each is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facets {
    /// Left, top, right and bottom edge of where they are drawn, pixels of the target.
    pub area: [f32; 4],
    /// Corners, which triangles may share.
    pub corners: Vec<Seen>,
    /// Triangles by the numbers of their corners: those that cover, then lines, which cover too but may have an alpha, then those that are seen
    /// through, the farthest first.
    pub triangles: Vec<[u32; 3]>,
    /// How many triangles cover, without lines and with them.
    pub opaque: usize,
    /// See [`Facets::opaque`].
    pub solid: usize,
    /// By triangle.
    pub about: Vec<About>,
}

/// How a box in space is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sight {
    /// What is in the middle, in space.
    middle: Point,
    radius: f32,
    projection: Projection,
    /// Right, up and back, as the camera has them.
    axes: [Point; 3],
    /// Where the middle is on the screen, and pixels of a unit there.
    center: [f32; 2],
    px: f32,
    /// Where light comes from, of length 1.
    light: Point,
}

impl Sight {
    /// Of a box with these corners, whole within an area (left, top, right, bottom) at zoom 1.
    #[must_use]
    pub fn new(bounds: [Point; 2], orbit: Orbit, zoom: f32, area: [f32; 4]) -> Self {
        Self::projected(bounds, (orbit, Projection::Perspective), zoom, area)
    }

    /// As [`Sight::new`], in either projection.
    #[must_use]
    pub fn projected(
        [low, high]: [Point; 2],
        (orbit, projection): (Orbit, Projection),
        zoom: f32,
        area: [f32; 4],
    ) -> Self {
        let (turn, tilt) = (orbit.azimuth.to_radians(), orbit.altitude.to_radians());
        // From the middle to the camera.
        let back = [tilt.cos() * turn.sin(), tilt.sin(), tilt.cos() * turn.cos()];
        let right = [turn.cos(), 0.0, -turn.sin()];
        let up = [-tilt.sin() * turn.sin(), tilt.cos(), -tilt.sin() * turn.cos()];
        let middle = [0, 1, 2].map(|n| 0.5 * (low[n] + high[n]));
        let half = minus(high, middle);
        let radius = dot(half, half).sqrt().max(1e-6);
        let center = [0.5 * (area[0] + area[2]), 0.5 * (area[1] + area[3])];
        let axes = [right, up, back];
        let mut sight = Self { middle, radius, projection, axes, center, px: 1.0, light: unit(LIGHT) };
        // As large as fits: the box's corners tell how far it reaches to each side.
        let mut reach = [[f32::MAX, f32::MIN]; 2];
        for n in 0..8 {
            let corner = [0, 1, 2].map(|axis| if n >> axis & 1 == 0 { low[axis] } else { high[axis] });
            let at = sight.at(corner).0;
            for axis in 0..2 {
                let from = at[axis] - center[axis];
                reach[axis] = [reach[axis][0].min(from), reach[axis][1].max(from)];
            }
        }
        let size = [area[2] - area[0], area[3] - area[1]];
        let fits = [0, 1].map(|axis| size[axis].max(1.0) / (reach[axis][1] - reach[axis][0]).max(1e-6));
        sight.px = fits[0].min(fits[1]) * zoom;
        // In the middle as it is seen, not as it is.
        sight.center = [0, 1].map(|axis| center[axis] - 0.5 * (reach[axis][0] + reach[axis][1]) * sight.px);
        sight
    }

    /// Where the camera is, in space.
    #[must_use]
    pub fn eye(&self) -> Point {
        let away = if self.projection == Projection::Perspective { DISTANCE } else { FAR };
        plus(self.middle, times(self.axes[2], away * self.radius))
    }

    /// Where a point is on the screen, and its depth.
    #[must_use]
    pub fn at(&self, point: Point) -> ([f32; 2], f32) {
        let [x, y, z] = self.axes.map(|axis| dot(axis, minus(point, self.middle)));
        let away = (DISTANCE * self.radius - z).max(1e-3 * self.radius);
        let (near, far) = ((DISTANCE - 1.2) * self.radius, (DISTANCE + 1.2) * self.radius);
        // What is linear on the screen, as depth buffers want it.
        let (grown, depth) = match self.projection {
            Projection::Perspective => {
                (DISTANCE * self.radius / away * self.px, (far - near * far / away) / (far - near))
            }
            Projection::Orthographic => (self.px, (away - near) / (far - near)),
        };
        ([self.center[0] + x * grown, self.center[1] - y * grown], depth.clamp(0.0, 1.0))
    }

    /// Pixels of a unit of length where a point is.
    #[must_use]
    pub fn scale(&self, point: Point) -> f32 {
        if self.projection == Projection::Orthographic {
            return self.px;
        }
        let away = DISTANCE * self.radius - dot(self.axes[2], minus(point, self.middle));
        DISTANCE * self.radius / away.max(1e-3 * self.radius) * self.px
    }

    /// How far along the way to the camera a direction leads, -1 to 1.
    #[must_use]
    pub fn towards(&self, direction: Point) -> f32 {
        dot(unit(direction), self.axes[2])
    }

    /// The colour of a surface with this normal, whichever side is seen.
    #[must_use]
    pub fn lit(&self, color: Rgba, normal: Point) -> Rgba {
        let [x, y, z] = self.axes.map(|axis| dot(axis, normal));
        let seen = if z < 0.0 { [-x, -y, -z] } else { [x, y, z] };
        let light = dot(seen, self.light).max(0.0);
        let share = SHADE + (1.0 - SHADE) * light;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
        let dim = |v: u8| (f32::from(v) * share + 0.5) as u8;
        [dim(color[0]), dim(color[1]), dim(color[2]), color[3]]
    }

    fn seen(&self, corner: &Corner) -> Seen {
        let (at, depth) = self.at(corner.at);
        Seen { at, depth, color: self.lit(corner.color, corner.normal) }
    }

    /// All of a mesh as it is seen; `line` pixels for one of a picture 720 high.
    #[must_use]
    pub fn see(&self, mesh: &Mesh, line: f32, area: [f32; 4]) -> Facets {
        let mut facets = Facets { area, ..Facets::default() };
        for triangle in &mesh.closed {
            let at = triangle.corners.map(|corner| self.at(corner.at));
            let [a, b, c] = at.map(|(at, _)| at);
            // Turned away: corners go round the other way. Down is more on a screen.
            if (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) >= 0.0 {
                continue;
            }
            let seen = |n: usize| {
                let ((at, depth), corner) = (at[n], triangle.corners[n]);
                Seen { at, depth, color: self.lit(corner.color, corner.normal) }
            };
            facets.add([0, 1, 2].map(seen), triangle.about);
        }
        let first = facets.next();
        facets.corners.extend(mesh.corners.iter().map(|corner| self.seen(corner)));
        // From the nearer end of a surface on: what is behind it is then found to be so before it is drawn.
        let depth = |face: Option<&([u32; 3], About)>| {
            let corner = face.and_then(|(corners, _)| facets.corners.get((first + corners[0]) as usize));
            corner.map_or(0.0, |corner| corner.depth)
        };
        let back = depth(mesh.surfaces.first()) > depth(mesh.surfaces.last());
        let mut surfaces: Vec<([u32; 3], About)> =
            mesh.surfaces.iter().map(|(corners, about)| (corners.map(|n| first + n), *about)).collect();
        if back {
            surfaces.reverse();
        }
        facets.triangles.extend(surfaces.iter().map(|(corners, _)| *corners));
        facets.about.extend(surfaces.iter().map(|(_, about)| *about));
        facets.opaque = facets.about.len();
        for wire in &mesh.wires {
            let [(a, near), (b, far)] = wire.ends.map(|end| self.at(end));
            let along = [b[0] - a[0], b[1] - a[1]];
            let length = (along[0] * along[0] + along[1] * along[1]).sqrt();
            if length < 1e-3 {
                continue;
            }
            let half = 0.5 * (wire.width * line).max(0.8);
            let aside = [-along[1] / length * half, along[0] / length * half];
            let corner = |at: [f32; 2], side: f32, depth: f32| Seen {
                at: [at[0] + side * aside[0], at[1] + side * aside[1]],
                depth,
                color: wire.color,
            };
            let first = facets.next();
            facets.corners.extend([
                corner(a, 1.0, near),
                corner(b, 1.0, far),
                corner(b, -1.0, far),
                corner(a, -1.0, near),
            ]);
            facets.triangles.extend([[0, 1, 2], [0, 2, 3]].map(|of| of.map(|n: u32| first + n)));
            facets.about.extend([super::mesh::NOTHING; 2]);
        }
        facets.solid = facets.about.len();
        let mut panes: Vec<([Seen; 3], About)> =
            mesh.panes.iter().map(|pane| ([0, 1, 2].map(|n| self.seen(&pane.corners[n])), pane.about)).collect();
        let depth = |corners: &[Seen; 3]| corners.iter().map(|corner| corner.depth).sum::<f32>();
        panes.sort_by(|(a, _), (b, _)| depth(b).total_cmp(&depth(a)));
        let layers = mesh.layers.iter().map(|layer| (layer.corners.map(|corner| self.seen(&corner)), layer.about));
        for (corners, about) in panes.into_iter().chain(layers) {
            facets.add(corners, about);
        }
        facets
    }
}

impl Facets {
    /// The number of the next corner.
    fn next(&self) -> u32 {
        u32::try_from(self.corners.len()).unwrap_or(u32::MAX)
    }

    fn add(&mut self, corners: [Seen; 3], about: About) {
        let first = self.next();
        self.corners.extend(corners);
        self.triangles.push([first, first + 1, first + 2]);
        self.about.push(about);
    }

    /// All triangles with what they are about.
    pub fn each(&self) -> impl DoubleEndedIterator<Item = ([Seen; 3], About)> + ExactSizeIterator + '_ {
        let corner = |n: u32| self.corners[n as usize];
        self.triangles.iter().zip(&self.about).map(move |(triangle, about)| (triangle.map(corner), *about))
    }

    /// What is nearest at a place, of all that is about something.
    #[must_use]
    pub fn find(&self, at: [f32; 2]) -> Option<About> {
        let mut nearest: Option<(f32, About)> = None;
        for ([a, b, c], about) in self.each() {
            if about == super::mesh::NOTHING {
                continue;
            }
            let side =
                |a: [f32; 2], b: [f32; 2], p: [f32; 2]| (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
            let all = side(a.at, b.at, c.at);
            let shares = [side(b.at, c.at, at), side(c.at, a.at, at), side(a.at, b.at, at)].map(|part| part / all);
            if all.abs() < 1e-9 || shares.iter().any(|share| *share < 0.0) {
                continue;
            }
            let depth = shares[0] * a.depth + shares[1] * b.depth + shares[2] * c.depth;
            if nearest.is_none_or(|(least, _)| depth < least) {
                nearest = Some((depth, about));
            }
        }
        nearest.map(|(_, about)| about)
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::cross;
    use super::*;

    const AREA: [f32; 4] = [100.0, 50.0, 900.0, 650.0];
    const BOX: [Point; 2] = [[-1.0, -0.4, -0.8], [1.0, 0.6, 0.8]];

    #[test]
    fn a_box_fills_its_area_from_anywhere_and_what_is_near_is_in_front() {
        for azimuth in [0.0, 33.0, 120.0, 322.0] {
            for altitude in [-89.0, -20.0, 0.0, 24.0, 89.0] {
                let sight = Sight::new(BOX, Orbit { azimuth, altitude }, 1.0, AREA);
                let mut reach = [f32::MAX, f32::MAX, f32::MIN, f32::MIN];
                for n in 0..8 {
                    let corner = [0, 1, 2].map(|axis| BOX[n >> axis & 1][axis]);
                    let ([x, y], depth) = sight.at(corner);
                    assert!((0.0..=1.0).contains(&depth));
                    reach = [reach[0].min(x), reach[1].min(y), reach[2].max(x), reach[3].max(y)];
                }
                let within = |n: usize| if n < 2 { reach[n] >= AREA[n] - 0.1 } else { reach[n] <= AREA[n] + 0.1 };
                assert!((0..4).all(within), "{reach:?}");
                let gaps = [reach[0] - AREA[0], reach[1] - AREA[1]];
                assert!(gaps.iter().any(|gap| gap.abs() < 0.1), "{gaps:?}: as large as fits");
                // Towards the camera depth falls.
                let back = sight.axes[2];
                assert!(sight.at(back).1 < sight.at([0.0; 3]).1);
                assert!(sight.scale(back) > sight.scale([0.0; 3]), "what is near is larger");
            }
        }
    }

    #[test]
    fn an_orbit_is_told_by_two_numbers_that_are_0_where_it_was_not_turned() {
        assert_eq!(Orbit::of([0.0, 0.0]), USUAL);
        assert_eq!(USUAL.at(), [0.0, 0.0]);
        for (_, orbit) in PRESETS {
            let back = Orbit::of(orbit.at());
            assert!((back.azimuth - orbit.azimuth).abs() < 1e-3 && (back.altitude - orbit.altitude).abs() < 1e-3);
            assert!(orbit.at().iter().all(|v| (0.0..360.0).contains(v)), "a camera of the command line");
        }
        assert_eq!(USUAL.turned(0.0, 500.0).altitude, HIGHEST);
    }

    #[test]
    fn light_keeps_hue_and_never_less_than_a_share() {
        let sight = Sight::new(BOX, USUAL, 1.0, AREA);
        for normal in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]] {
            let [r, g, b, a] = sight.lit([200, 100, 50, 255], normal);
            assert!(
                a == 255
                    && r >= 123
                    && (i32::from(r) - 2 * i32::from(g)).abs() <= 2
                    && (i32::from(r) - 4 * i32::from(b)).abs() <= 4
            );
        }
    }

    #[test]
    fn of_closed_solids_what_is_turned_away_is_not_drawn_and_nothing_else_is_left_out() {
        let mut mesh = Mesh::default();
        mesh.ball([0.2, 0.0, -0.1], 0.4, [255; 4], 1);
        mesh.tower([-0.6, 0.3], [0.1; 2], [0.0, 0.5], [[255; 4]; 2], 2);
        mesh.tower([0.7, 0.3], [0.1; 2], [0.0, -0.3], [[255; 4]; 2], 3);
        for azimuth in [0.0, 33.0, 120.0, 322.0] {
            for altitude in [-89.0, -20.0, 0.0, 24.0, 89.0] {
                let sight = Sight::new(BOX, Orbit { azimuth, altitude }, 1.0, AREA);
                let seen = sight.see(&mesh, 1.0, AREA).about.len();
                let turned_here = mesh.closed.iter().filter(|triangle| {
                    let [a, b, c] = triangle.corners.map(|corner| corner.at);
                    dot(cross(minus(b, a), minus(c, a)), minus(sight.eye(), a)) > 1e-7
                });
                let expect = turned_here.count();
                assert!(seen.abs_diff(expect) <= 8, "{seen} of {}, expected {expect}", mesh.closed.len());
                assert!(seen < mesh.closed.len() * 6 / 10 && seen > mesh.closed.len() / 3, "{seen}");
            }
        }
    }

    #[test]
    fn what_is_pointed_at_is_the_nearest() {
        let mut mesh = Mesh::default();
        mesh.ball([0.0, 0.0, 0.7], 0.2, [255; 4], 1);
        mesh.ball([0.0, 0.0, -0.7], 0.4, [255; 4], 2);
        let sight = Sight::new(BOX, Orbit { azimuth: 0.0, altitude: 0.0 }, 1.0, AREA);
        let facets = sight.see(&mesh, 1.0, AREA);
        assert_eq!(facets.triangles.len(), facets.about.len());
        assert_eq!(facets.find(sight.at([0.0, 0.0, 0.7]).0), Some(1));
        assert_eq!(facets.find(sight.at([0.33, 0.0, -0.7]).0), Some(2));
        assert_eq!(facets.find([101.0, 51.0]), None);
    }
}
