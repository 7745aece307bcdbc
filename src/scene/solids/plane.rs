//! Numbers of the elements of an array as heights over a plane and depths below it: spheres on stalks, towers, or one sheet.
//!
//! ```text
//!      o        above = up where it is positive    _         ____
//!   o  |        below = down where it is          | |_      /    \___     row 0 is at the back, column 0 at the left of a
//! --|--+--  ----  positive; both with their sign  |_|_|  --/---------\--  camera that is not turned
//!   o           from the plane, on one scale
//!  spheres                                        towers     sheet
//! ```
//!
//! Where both numbers of an element lead to the same side, the shorter tower stands round the longer one, so that both ends are seen.

use super::mesh::{About, Corner, Mesh, Point, cross, minus, unit};
use super::scale::Reach;
use crate::scene::palette::{self, Rgba};
use crate::units::to_f32;

/// The longer side of the plane, and all heights together.
const SIDE: f32 = 2.0;
const HEIGHT: f32 = 1.15;

/// How elements are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Form {
    /// As there is room for.
    #[default]
    Auto,
    /// A sphere on a stalk each.
    Spheres,
    /// A tower each.
    Towers,
    /// One surface through all.
    Sheet,
}

/// Room of an element in the middle of the plane, in the size of type, from which on it has a sphere, and from which on a tower. In a
/// picture of 1280x720 type is 22 pixels large: 34 pixels, and 12.
pub const SPHERES: f32 = 1.5;
/// See [`SPHERES`].
pub const TOWERS: f32 = 0.55;

impl Form {
    /// All of them, with their names.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::Auto, "auto"), (Self::Spheres, "spheres"), (Self::Towers, "towers"), (Self::Sheet, "sheet")];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(form, _)| *form == self).map_or("auto", |(_, name)| name)
    }

    /// What it is where an element has so much room, in the size of type: `Auto` becomes one of the others, and a sheet needs two rows and two columns.
    #[must_use]
    pub fn chosen(self, room: f32, heights: &Heights) -> Self {
        let form = match self {
            Self::Auto if room >= SPHERES => Self::Spheres,
            Self::Auto if room >= TOWERS => Self::Towers,
            Self::Auto => Self::Sheet,
            form => form,
        };
        if form == Self::Sheet && (heights.rows < 2 || heights.columns < 2) { Self::Towers } else { form }
    }
}

/// What is drawn: a number up and one down for each element.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heights {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Upwards where positive, by element, row by row.
    pub above: Vec<f64>,
    /// Downwards where positive; none = nothing is drawn of it.
    pub below: Vec<f64>,
    /// Whether numbers have a sign, local minus remote; else they are amounts, 0 or more.
    pub signed: bool,
}

/// Where the plane and its heights are in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Side of an element.
    pub pitch: f32,
    /// Half of the plane, across and back.
    pub half: [f32; 2],
    /// Rows and columns.
    pub extents: [usize; 2],
    /// The axis of heights.
    pub reach: Reach,
    /// Height of 1.
    pub unit: f64,
}

impl Ground {
    /// Of these heights.
    #[must_use]
    pub fn of(heights: &Heights) -> Self {
        let reach = Reach::of(heights.above.iter().copied().chain(heights.below.iter().map(|down| -down)));
        Self::over([heights.rows, heights.columns], reach)
    }

    /// Of so many rows and columns, with this axis of heights.
    #[must_use]
    pub fn over(extents: [usize; 2], reach: Reach) -> Self {
        let [rows, columns] = extents.map(|extent| extent.max(1));
        let pitch = SIDE / rows.max(columns) as f32;
        Self {
            pitch,
            half: [0.5 * pitch * columns as f32, 0.5 * pitch * rows as f32],
            extents: [rows, columns],
            reach,
            unit: f64::from(HEIGHT) / reach.length(),
        }
    }

    /// Lower and upper corner of all of it.
    #[must_use]
    pub fn bounds(&self) -> [Point; 2] {
        let [x, z] = self.half;
        [[-x, self.y(-self.reach.down), -z], [x, self.y(self.reach.up), z]]
    }

    /// The height of a number.
    #[must_use]
    pub fn y(&self, number: f64) -> f32 {
        if number.is_finite() { to_f32(number * self.unit) } else { 0.0 }
    }

    /// The middle of an element on the plane, across and back.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> [f32; 2] {
        let along = |n: usize, half: f32| (n as f32 + 0.5) * self.pitch - half;
        [along(column, self.half[0]), along(row, self.half[1])]
    }
}

/// The largest number, either way: the end of the scale of colours.
#[must_use]
pub fn largest(heights: &Heights) -> f64 {
    heights.above.iter().chain(&heights.below).filter(|n| n.is_finite()).fold(0.0, |most: f64, n| most.max(n.abs()))
}

/// The colour of a number, of which the largest is `most`.
#[must_use]
pub fn color(number: f64, most: f64, down: bool, signed: bool) -> Rgba {
    let share = if most > 0.0 && number.is_finite() { to_f32((number / most).clamp(-1.0, 1.0)) } else { 0.0 };
    if signed { palette::owned(share, down) } else { palette::heat(share) }
}

/// Adds the elements.
pub fn add(mesh: &mut Mesh, heights: &Heights, ground: &Ground, form: Form) {
    let most = largest(heights);
    match form {
        Form::Sheet => {
            sheet(mesh, heights, ground, most, false);
            if !heights.below.is_empty() {
                sheet(mesh, heights, ground, most, true);
            }
        }
        Form::Spheres => {
            each(heights, |n, at, numbers| spheres(mesh, ground, (n, at), numbers, (most, heights.signed)))
        }
        Form::Towers | Form::Auto => {
            each(heights, |n, at, numbers| towers(mesh, ground, (n, at), numbers, (most, heights.signed)));
        }
    }
}

/// Number, place and heights of each element: up, and down where that is drawn.
fn each(heights: &Heights, mut see: impl FnMut(About, [usize; 2], [Option<f64>; 2])) {
    for row in 0..heights.rows {
        for column in 0..heights.columns {
            let n = row * heights.columns + column;
            let numbers = [heights.above.get(n).copied(), heights.below.get(n).copied()];
            see(About::try_from(n).unwrap_or(super::mesh::NOTHING), [row, column], numbers);
        }
    }
}

type Element = (About, [usize; 2]);

fn spheres(
    mesh: &mut Mesh,
    ground: &Ground,
    (about, [row, column]): Element,
    numbers: [Option<f64>; 2],
    (most, signed): (f64, bool),
) {
    let [x, z] = ground.at(row, column);
    let stalk = palette::fade(palette::GUIDE, 0.55);
    for (down, number) in [false, true].into_iter().zip(numbers) {
        let Some(number) = number.filter(|number| *number != 0.0) else { continue };
        let y = ground.y(if down { -number } else { number });
        mesh.wire([[x, 0.0, z], [x, y, z]], 1.4, stalk);
        let radius = ground.pitch.min(0.25) * if down { 0.21 } else { 0.27 };
        mesh.ball([x, y, z], radius, color(number, most, down, signed), about);
    }
}

fn towers(
    mesh: &mut Mesh,
    ground: &Ground,
    (about, [row, column]): Element,
    numbers: [Option<f64>; 2],
    (most, signed): (f64, bool),
) {
    let at = ground.at(row, column);
    let ends: [f32; 2] = [0, 1].map(|n| {
        let number = numbers[n].unwrap_or(0.0);
        ground.y(if n == 1 { -number } else { number })
    });
    let meet = ends[0] * ends[1] > 0.0;
    for down in [false, true] {
        let (own, other) = (ends[usize::from(down)], ends[usize::from(!down)]);
        let Some(number) = numbers[usize::from(down)].filter(|_| own.abs() > 1e-6) else { continue };
        let slender = meet && (own.abs() > other.abs() || own == other && down);
        let half = ground.pitch * if slender { 0.24 } else { 0.42 };
        let ink = color(number, most, down, signed);
        mesh.tower(at, [half; 2], [0.0, own], [palette::mix(ink, palette::BACKGROUND, 0.35), ink], about);
    }
}

fn sheet(mesh: &mut Mesh, heights: &Heights, ground: &Ground, most: f64, down: bool) {
    let (rows, columns) = (heights.rows, heights.columns);
    let numbers = if down { &heights.below } else { &heights.above };
    let number = |row: usize, column: usize| numbers.get(row * columns + column).copied().unwrap_or(0.0);
    let point = |row: usize, column: usize| {
        let ([x, z], number) = (ground.at(row, column), number(row, column));
        [x, ground.y(if down { -number } else { number }), z]
    };
    let corner = |row: usize, column: usize| {
        // As the surface lies between the neighbours.
        let across = minus(point(row, (column + 1).min(columns - 1)), point(row, column.saturating_sub(1)));
        let back = minus(point((row + 1).min(rows - 1), column), point(row.saturating_sub(1), column));
        let normal = unit(cross(back, across));
        Corner { at: point(row, column), normal, color: color(number(row, column), most, down, heights.signed) }
    };
    let about = |row: usize, column: usize| About::try_from(row * columns + column).unwrap_or(super::mesh::NOTHING);
    mesh.surface([rows, columns], false, corner, about);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heights() -> Heights {
        // Local reads, remote reads, nothing; local writes, remote writes, nothing.
        Heights {
            rows: 2,
            columns: 3,
            above: vec![8.0, -4.0, 0.0, 2.0, 2.0, 2.0],
            below: vec![3.0, 6.0, 0.0, -1.0, 0.0, 2.0],
            signed: true,
        }
    }

    /// Highest and lowest point of what is about an element.
    fn ends(mesh: &Mesh, about: About) -> [f32; 2] {
        let own = mesh.closed.iter().filter(|t| t.about == about).flat_map(|t| t.corners).map(|c| c.at[1]);
        own.fold([f32::MIN, f32::MAX], |[top, foot], y| [top.max(y), foot.min(y)])
    }

    #[test]
    fn towers_end_where_their_numbers_are() {
        let (heights, mut mesh) = (heights(), Mesh::default());
        let ground = Ground::of(&heights);
        add(&mut mesh, &heights, &ground, Form::Towers);
        let y = |number: f64| ground.y(number);
        assert_eq!(ends(&mesh, 0), [y(8.0), y(-3.0)], "local reads up, local writes down");
        assert_eq!(ends(&mesh, 1), [0.0, y(-6.0)], "remote reads and local writes both lead down");
        assert_eq!(ends(&mesh, 3), [y(2.0), 0.0], "remote writes lead up");
        assert_eq!(ends(&mesh, 2), [f32::MIN, f32::MAX], "nothing of what has no number");
        // The shorter one stands round the longer.
        let width = |end: f32| {
            let lid = mesh.closed.iter().filter(|t| t.about == 1 && t.corners.iter().all(|c| c.at[1] == end));
            lid.flat_map(|t| t.corners).map(|c| c.at[0]).fold(f32::MIN, f32::max) - ground.at(0, 1)[0]
        };
        assert!(width(y(-4.0)) > width(y(-6.0)) && width(y(-6.0)) > 0.0);
    }

    #[test]
    fn spheres_stand_at_the_ends_of_their_stalks() {
        let (heights, mut mesh) = (heights(), Mesh::default());
        let ground = Ground::of(&heights);
        add(&mut mesh, &heights, &ground, Form::Spheres);
        assert_eq!(mesh.wires.len(), 9, "none of what has no number");
        for wire in &mesh.wires {
            let [foot, end] = wire.ends;
            assert_eq!([foot[0], foot[1], foot[2]], [end[0], 0.0, end[2]]);
        }
        let heights: Vec<f32> = mesh.wires.iter().map(|wire| wire.ends[1][1]).collect();
        let expect = [8.0, -3.0, -4.0, -6.0, 2.0, 1.0, 2.0, 2.0, -2.0].map(|number| ground.y(number));
        assert_eq!(heights, expect);
    }

    #[test]
    fn a_sheet_goes_through_all_elements() {
        let (heights, mut mesh) = (heights(), Mesh::default());
        let ground = Ground::of(&heights);
        add(&mut mesh, &heights, &ground, Form::Sheet);
        assert_eq!(mesh.surfaces.len(), 2 * 2 * 2, "two sheets of (rows - 1) x (columns - 1) quads");
        let all: Vec<_> = mesh.of_surfaces().collect();
        let at = |n: usize| all[n].corners.map(|corner| corner.at);
        let point = |row: usize, column: usize, number: f64| {
            let [x, z] = ground.at(row, column);
            [x, ground.y(number), z]
        };
        assert_eq!(at(0), [point(1, 0, 2.0), point(1, 1, 2.0), point(0, 1, -4.0)]);
        assert_eq!(at(4), [point(1, 0, 1.0), point(1, 1, 0.0), point(0, 1, -6.0)]);
        assert!(mesh.corners.iter().all(|c| c.normal[1] > 0.0), "light from above is on top");
    }

    #[test]
    fn colours_say_sign_and_share() {
        let all: Vec<Rgba> = [8.0, 4.0, 0.0, -4.0, -8.0].iter().map(|n| color(*n, 8.0, false, true)).collect();
        for pair in all.windows(2) {
            assert_ne!(pair[0], pair[1]);
        }
        assert_eq!(color(0.0, 8.0, true, true), all[2], "nothing is nothing, above and below");
        assert_ne!(color(8.0, 8.0, true, true), all[0], "writes are not reads");
        // Numbers that are all 0 or no numbers have a colour.
        assert_eq!(color(0.0, 0.0, false, true), all[2]);
        assert_eq!(color(f64::NAN, 8.0, false, true), all[2]);
    }

    #[test]
    fn what_is_drawn_follows_from_the_room_of_an_element() {
        let heights = heights();
        let chosen = |form: Form, room: f32| form.chosen(room, &heights);
        assert_eq!([1.5, 1.0, 0.5].map(|room| chosen(Form::Auto, room)), [Form::Spheres, Form::Towers, Form::Sheet]);
        assert_eq!(chosen(Form::Spheres, 0.1), Form::Spheres, "as is asked for");
        let row = Heights { rows: 1, columns: 6, above: vec![1.0; 6], ..Heights::default() };
        assert_eq!(Form::Auto.chosen(0.1, &row), Form::Towers, "a row has no surface");
    }
}
