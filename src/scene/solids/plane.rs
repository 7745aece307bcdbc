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

use super::mesh::{About, Corner, Mesh, Point, Triangle, cross, minus, unit};
use super::scale::Reach;
use crate::scene::palette::{self, Rgba};
use crate::units::to_f32;

/// The longer side of the plane, and all heights together.
const SIDE: f32 = 2.0;
/// Shorter side of the plane, at least, as long as its elements are no broader than this.
const NARROWEST: f32 = 0.4;
const BROADEST: f32 = 0.15;
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
/// Elements from which on towers need more room, and how much: a sheet of as many has a fifth of their triangles.
const MANY: usize = 2500;
const TOWERS_OF_MANY: f32 = 0.8;
/// Up to so many times as much room, a form is on its way to the next one.
const BLEND: f32 = 1.12;

/// A form, and which other one it becomes: how far it has, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// What is drawn.
    pub form: Form,
    /// What it becomes as there is less room.
    pub becomes: Option<(Form, f32)>,
}

impl From<Form> for Shape {
    fn from(form: Form) -> Self {
        Self { form, becomes: None }
    }
}

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
    pub fn chosen(self, room: f32, heights: &Heights) -> Shape {
        let is_row = heights.rows < 2 || heights.columns < 2;
        let sound = |form: Self| if form == Self::Sheet && is_row { Self::Towers } else { form };
        if self != Self::Auto {
            return sound(self).into();
        }
        let towers = if heights.rows * heights.columns < MANY { TOWERS } else { TOWERS_OF_MANY };
        let (form, next, least) = match room {
            room if room >= SPHERES => (Self::Spheres, Self::Towers, SPHERES),
            room if room >= towers => (Self::Towers, Self::Sheet, towers),
            _ => return sound(Self::Sheet).into(),
        };
        let share = 1.0 - (room / least - 1.0) / (BLEND - 1.0);
        Shape { form, becomes: Some((next, share)).filter(|(next, share)| *share > 0.0 && sound(*next) != form) }
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
    /// Sides of an element, across and back: equal, unless one of them would be too small.
    pub pitch: [f32; 2],
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
        let even = SIDE / rows.max(columns) as f32;
        // A few rows of many elements are broader than they are.
        let pitch = [columns, rows].map(|many| even.max(NARROWEST / many as f32).min(BROADEST.max(even)));
        Self {
            pitch,
            half: [0.5 * pitch[0] * columns as f32, 0.5 * pitch[1] * rows as f32],
            extents: [rows, columns],
            reach,
            unit: f64::from(HEIGHT) / reach.length(),
        }
    }

    /// The shorter side of an element.
    #[must_use]
    pub fn side(&self) -> f32 {
        self.pitch[0].min(self.pitch[1])
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
        let along = |n: usize, axis: usize| (n as f32 + 0.5) * self.pitch[axis] - self.half[axis];
        [along(column, 0), along(row, 1)]
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

/// What colours tell in place of heights: whether it has a sign, the largest, and the number of each element.
pub type By<'a> = (bool, f64, &'a [f64]);

/// Adds the elements; colours repeat heights, or tell something else.
pub fn add(mesh: &mut Mesh, heights: &Heights, ground: &Ground, shape: impl Into<Shape>, by: Option<By<'_>>) {
    let most = largest(heights);
    let ink = |n: usize, number: f64, down: bool| match by {
        Some((signed, most, numbers)) => color(numbers.get(n).copied().unwrap_or(0.0), most, false, signed),
        None => color(number, most, down, heights.signed),
    };
    let Shape { form, becomes } = shape.into();
    let left = becomes.map_or(1.0, |(_, share)| 1.0 - share);
    for (form, share) in [Some((form, left)), becomes].into_iter().flatten().filter(|(_, share)| *share > 0.0) {
        match form {
            Form::Sheet => {
                for down in [false, true].into_iter().take(if heights.below.is_empty() { 1 } else { 2 }) {
                    sheet(mesh, heights, ground, &ink, (down, share));
                }
            }
            Form::Spheres => each(heights, |n, at, numbers| spheres(mesh, ground, (n, at), numbers, (&ink, share))),
            Form::Towers | Form::Auto => {
                each(heights, |n, at, numbers| towers(mesh, ground, (n, at), numbers, (&ink, share)));
            }
        }
    }
}

/// The colour of an element's number, up or down.
type Ink<'a> = &'a dyn Fn(usize, f64, bool) -> Rgba;

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
    (ink, size): (Ink<'_>, f32),
) {
    let [x, z] = ground.at(row, column);
    let stalk = palette::fade(palette::GUIDE, 0.55);
    for (down, number) in [false, true].into_iter().zip(numbers) {
        let Some(number) = number.filter(|number| *number != 0.0) else { continue };
        let y = ground.y(if down { -number } else { number });
        mesh.wire([[x, 0.0, z], [x, y, z]], 1.4, stalk);
        let radius = size * ground.side().min(0.25) * if down { 0.21 } else { 0.27 };
        mesh.ball([x, y, z], radius, ink(about as usize, number, down), about);
    }
}

fn towers(
    mesh: &mut Mesh,
    ground: &Ground,
    (about, [row, column]): Element,
    numbers: [Option<f64>; 2],
    (ink, size): (Ink<'_>, f32),
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
        let half = ground.pitch.map(|side| size * side * if slender { 0.24 } else { 0.42 });
        let ink = ink(about as usize, number, down);
        mesh.tower(at, half, [0.0, own], [palette::mix(ink, palette::BACKGROUND, 0.35), ink], about);
    }
}

fn sheet(mesh: &mut Mesh, heights: &Heights, ground: &Ground, ink: Ink<'_>, (down, share): (bool, f32)) {
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
        Corner { at: point(row, column), normal, color: ink(row * columns + column, number(row, column), down) }
    };
    let about = |row: usize, column: usize| About::try_from(row * columns + column).unwrap_or(super::mesh::NOTHING);
    if share >= 1.0 {
        mesh.surface([rows, columns], false, corner, about);
        return;
    }
    // On its way: seen through.
    let mut own = Mesh::default();
    own.surface([rows, columns], false, corner, about);
    let faint = |corner: Corner| Corner { color: palette::fade(corner.color, share), ..corner };
    mesh.panes.extend(own.of_surfaces().map(|face| Triangle { corners: face.corners.map(faint), about: face.about }));
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
        add(&mut mesh, &heights, &ground, Form::Towers, None);
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
        add(&mut mesh, &heights, &ground, Form::Spheres, None);
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
        add(&mut mesh, &heights, &ground, Form::Sheet, None);
        assert_eq!(mesh.surfaces.len(), 2 * 2 * 2, "two sheets of (rows - 1) x (columns - 1) quads");
        let all: Vec<_> = mesh.of_surfaces().collect();
        let at = |n: usize| all[n].corners.map(|corner| corner.at);
        let point = |row: usize, column: usize, number: f64| {
            let [x, z] = ground.at(row, column);
            [x, ground.y(number), z]
        };
        // Each four are cut along the shorter way.
        assert_eq!(at(0), [point(1, 0, 2.0), point(1, 1, 2.0), point(0, 1, -4.0)]);
        assert_eq!(at(4), [point(1, 0, 1.0), point(1, 1, 0.0), point(0, 0, -3.0)]);
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
        let alone = [2.0, 1.0, 0.5].map(|room| chosen(Form::Auto, room));
        assert_eq!(alone, [Form::Spheres, Form::Towers, Form::Sheet].map(Shape::from));
        assert_eq!(chosen(Form::Spheres, 0.1), Form::Spheres.into(), "as is asked for");
        let row = Heights { rows: 1, columns: 6, above: vec![1.0; 6], ..Heights::default() };
        assert_eq!(Form::Auto.chosen(0.1, &row), Form::Towers.into(), "a row has no surface");
        assert_eq!(Form::Auto.chosen(TOWERS * 1.01, &row).becomes, None);
    }

    #[test]
    fn a_form_becomes_the_next_one_without_a_step() {
        let heights = heights();
        let mut before: Option<(Form, f32)> = None;
        for n in 0..400 {
            let room = 1.8 - 0.0035 * n as f32;
            let Shape { form, becomes } = Form::Auto.chosen(room, &heights);
            let (next, share) = becomes.unwrap_or((form, 0.0));
            match before {
                Some((own, was)) if own == form => assert!(share >= was && share - was < 0.1, "{room}"),
                Some((_, was)) => assert!(was > 0.9 && share < 0.1, "all of the one, nothing of the other: {room}"),
                None => assert_eq!((form, next), (Form::Spheres, Form::Spheres)),
            }
            before = Some((form, share));
        }
        assert_eq!(before, Some((Form::Sheet, 0.0)));
        // Half way, both are there: the towers narrower, the sheet seen through.
        let ground = Ground::of(&heights);
        let shape = Shape { form: Form::Towers, becomes: Some((Form::Sheet, 0.5)) };
        let (mut both, mut towers) = (Mesh::default(), Mesh::default());
        add(&mut both, &heights, &ground, shape, None);
        add(&mut towers, &heights, &ground, Form::Towers, None);
        assert_eq!(both.closed.len(), towers.closed.len());
        assert_eq!(both.panes.len(), 8);
        assert!(both.panes.iter().flat_map(|t| t.corners).all(|c| (120..136).contains(&c.color[3])));
    }
}
