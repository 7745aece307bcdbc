//! The sheet that charts are drawn on.

use super::role::{Role, hex};
use crate::scene::palette::Theme;
use crate::shown;
use std::fmt::Write as _;

/// Units of a chart that is drawn at a size in pixels: the shorter side has so many, the longer one more.
const UNITS: [f64; 2] = [640.0, 360.0];
/// Units that a chart has at least: with less, nothing can be read.
const LEAST: [f64; 2] = [280.0, 200.0];
/// Text that stands in XML or HTML, in elements and in attributes alike; what acts is written out.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for sign in shown::words(text).chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            sign => out.push(sign),
        }
    }
    out
}

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At its first sign.
    Start,
    /// At its middle.
    Middle,
    /// At its last sign.
    End,
}

/// A place on a chart, units from its upper left corner.
pub type At = (f64, f64);

/// What a chart is made of, later ones over earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Words on a baseline.
    Text {
        /// Where they are held.
        at: At,
        /// Which part of them is there.
        anchor: Anchor,
        /// Units of their height.
        size: f64,
        /// Their colour.
        role: Role,
        /// Whether they are strong.
        strong: bool,
        /// The words.
        words: String,
    },
    /// A rectangle.
    Rect {
        /// Its upper left corner.
        at: At,
        /// Its width and height.
        size: At,
        /// Its colour.
        role: Role,
        /// What is said where a pointer rests on it; may be empty.
        said: String,
    },
    /// Lines from place to place.
    Line {
        /// The places.
        points: Vec<At>,
        /// Their colour.
        role: Role,
        /// Their width.
        width: f64,
        /// Whether they have gaps.
        dashed: bool,
    },
    /// Columns without gaps between two borders.
    Columns {
        /// Where the columns begin, and where the last one ends.
        edges: Vec<f64>,
        /// Upper and lower border of each column.
        borders: Vec<(f64, f64)>,
        /// Their colour.
        role: Role,
    },
    /// A place without a colour where a pointer may rest.
    Spot {
        /// Its upper left corner.
        at: At,
        /// Its width and height.
        size: At,
        /// What is said there.
        said: String,
    },
    /// A part of a ring.
    Sector {
        /// The centre of the ring.
        at: At,
        /// Its inner and outer radius.
        radii: At,
        /// Where it begins and ends: turns from the top, to the right.
        turns: At,
        /// Its colour.
        role: Role,
        /// What is said where a pointer rests on it.
        said: String,
    },
    /// A disc.
    Dot {
        /// Its centre.
        at: At,
        /// Its radius.
        radius: f64,
        /// Its colour.
        role: Role,
        /// What is said where a pointer rests on it.
        said: String,
    },
}

/// Colours of a chart, and how much room it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The theme whose colours stand in the file.
    pub theme: Theme,
    /// Width and height, units; type has 9 to 15 of them.
    pub size: [f64; 2],
}

impl Look {
    /// For a picture of so many pixels: type grows with it, and what is left over on one side is used.
    #[must_use]
    pub fn of_pixels(theme: Theme, (width, height): (u32, u32)) -> Self {
        let [width, height] = [f64::from(width.max(1)), f64::from(height.max(1))];
        let scale = (width / UNITS[0]).min(height / UNITS[1]);
        Self { theme, size: [width / scale, height / scale] }
    }

    /// For a room of so many units, or the least that can be read.
    #[must_use]
    pub fn of_units(theme: Theme, [width, height]: [f64; 2]) -> Self {
        Self { theme, size: [width.max(LEAST[0]), height.max(LEAST[1])] }
    }
}

/// A chart that is drawn.
#[derive(Clone, Debug)]
pub struct Chart {
    look: Look,
    title: String,
    shapes: Vec<Shape>,
    /// Left, top, right and bottom of where a place across stands for a reference, from the first to the last one.
    references: Option<[f64; 4]>,
    /// Where the legend may begin, on the row of the title and on that of the name of the axis.
    free: [f64; 2],
}

/// Baselines: of the title, of what it is of, and of the name of the axis on the left.
const ROWS: [f64; 3] = [24.0, 41.0, 62.0];

impl Chart {
    /// A sheet with nothing on it, not even its title.
    pub(super) fn bare(look: Look, title: &str) -> Self {
        let (title, free) = (title.to_owned(), [16.0; 2]);
        let mut chart = Self { look, title, shapes: Vec::new(), references: None, free };
        let [width, height] = look.size;
        chart.rect((0.0, 0.0), (width, height), Role::Ground, "");
        chart
    }

    pub(super) fn new(look: Look, title: &str, about: &str) -> Self {
        let mut chart = Self::bare(look, title);
        chart.free[0] = 16.0 + 8.2 * wide(title);
        let [width, _] = look.size;
        let words = shown::short(title, signs(width - 32.0, 8.2)).into_owned();
        chart.shapes.push(Shape::Text {
            at: (16.0, ROWS[0]),
            anchor: Anchor::Start,
            size: 15.0,
            role: Role::Ink,
            strong: true,
            words,
        });
        chart.text((16.0, ROWS[1]), Anchor::Start, 11.0, Role::Quiet, &shown::short(about, signs(width - 32.0, 5.8)));
        chart
    }

    /// Its width and height, units.
    #[must_use]
    pub fn size(&self) -> [f64; 2] {
        self.look.size
    }

    /// The theme whose colours it has.
    #[must_use]
    pub fn theme(&self) -> Theme {
        self.look.theme
    }

    /// What it shows.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What it is made of, later ones over earlier ones.
    #[must_use]
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Left, top, right and bottom of where a place across stands for a reference, where any does.
    #[must_use]
    pub fn references(&self) -> Option<[f64; 4]> {
        self.references
    }

    pub(super) fn set_references(&mut self, area: [f64; 4]) {
        self.references = Some(area);
    }

    /// The file, of this many pixels.
    #[must_use]
    pub fn svg(&self, (width, height): (u32, u32)) -> String {
        let [w, h] = self.look.size;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {w:.0} {h:.0}\" role=\"img\" \
             font-family=\"'Noto Sans','DejaVu Sans',system-ui,sans-serif\">\n<title>{}</title>\n{}</svg>\n",
            escaped(&self.title),
            self.body()
        )
    }

    /// For a page, as wide as there is room.
    #[must_use]
    pub fn inline(&self) -> String {
        let [w, h] = self.look.size;
        format!(
            "<svg class=\"chart\" viewBox=\"0 0 {w:.0} {h:.0}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
            escaped(&self.title),
            self.body()
        )
    }

    fn body(&self) -> String {
        let mut out = String::new();
        for shape in &self.shapes {
            write(&mut out, shape, self.look.theme);
        }
        out
    }

    pub(super) fn text(&mut self, at: At, anchor: Anchor, size: f64, role: Role, words: &str) {
        self.shapes.push(Shape::Text { at, anchor, size, role, strong: false, words: words.to_owned() });
    }

    /// The name of the axis on the left, above it.
    pub(super) fn left_name(&mut self, words: &str) {
        let words = shown::short(words, signs(self.look.size[0] - 32.0, 6.2)).into_owned();
        self.free[1] = 16.0 + 6.2 * wide(&words);
        self.text((16.0, ROWS[2]), Anchor::Start, 11.0, Role::Quiet, &words);
    }

    /// A rectangle from a corner, and what is said of it where a pointer rests.
    pub(super) fn rect(&mut self, at: At, size: At, role: Role, said: &str) {
        self.shapes.push(Shape::Rect { at, size, role, said: said.to_owned() });
    }

    pub(super) fn line(&mut self, from: At, to: At, role: Role, width: f64, dashed: bool) {
        self.shapes.push(Shape::Line { points: vec![from, to], role, width, dashed });
    }

    pub(super) fn curve(&mut self, points: Vec<At>, role: Role, width: f64) {
        self.shapes.push(Shape::Line { points, role, width, dashed: false });
    }

    pub(super) fn columns(&mut self, edges: Vec<f64>, borders: Vec<(f64, f64)>, role: Role) {
        self.shapes.push(Shape::Columns { edges, borders, role });
    }

    /// Says something where a pointer rests.
    pub(super) fn spot(&mut self, at: At, size: At, said: String) {
        self.shapes.push(Shape::Spot { at, size, said });
    }

    #[cfg(feature = "kernel")]
    pub(super) fn strong(&mut self, at: At, anchor: Anchor, size: f64, role: Role, words: &str) {
        self.shapes.push(Shape::Text { at, anchor, size, role, strong: true, words: words.to_owned() });
    }

    #[cfg(feature = "kernel")]
    /// A part of a ring, and what is said of it.
    pub(super) fn sector(&mut self, at: At, radii: At, turns: At, role: Role, said: &str) {
        self.shapes.push(Shape::Sector { at, radii, turns, role, said: said.to_owned() });
    }

    pub(super) fn dot(&mut self, at: At, radius: f64, role: Role, said: &str) {
        self.shapes.push(Shape::Dot { at, radius, role, said: said.to_owned() });
    }

    /// Colours and words on the right: beside the title, or below it where that leaves no room.
    pub(super) fn legend(&mut self, entries: &[(Role, &str)]) {
        let right = self.look.size[0] - 16.0;
        let all: f64 = entries.iter().map(|(_, words)| 6.3 * wide(words) + 28.0).sum();
        let row = if right - all >= self.free[0] || right - all < self.free[1] { ROWS[0] } else { ROWS[2] };
        if right - all < self.free[0].min(self.free[1]) {
            return;
        }
        let mut x = right;
        for (role, words) in entries.iter().rev() {
            let wide = 6.3 * wide(words);
            self.rect((x - wide - 14.0, row - 9.0), (10.0, 10.0), *role, "");
            self.text((x - wide, row), Anchor::Start, 11.0, Role::Body, words);
            x -= wide + 28.0;
        }
    }
}

/// Columns that words take.
#[expect(clippy::cast_precision_loss, reason = "a few columns")]
pub(super) fn wide(words: &str) -> f64 {
    shown::width(words) as f64
}

/// Signs of so many units each that there is room for.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few signs")]
pub(super) fn signs(room: f64, each: f64) -> usize {
    (room / each).max(4.0) as usize
}

/// Writes one shape as SVG.
fn write(out: &mut String, shape: &Shape, theme: Theme) {
    let fill = |role: Role| format!("class=\"f-{}\" fill=\"{}\"", role.class(), hex(role.color(theme)));
    // To a string nothing fails.
    let _ = match shape {
        Shape::Text { at: (x, y), anchor, size, role, strong, words } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let weight = if *strong { " font-weight=\"600\"" } else { "" };
            let (fill, words) = (fill(*role), escaped(words));
            writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\"{weight} {fill}>{words}</text>"
            )
        }
        Shape::Rect { at: (x, y), size: (width, height), role, said } => {
            let fill = fill(*role);
            let _ = write!(out, "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" {fill}");
            match said.is_empty() {
                true => writeln!(out, "/>"),
                false => writeln!(out, "><title>{}</title></rect>", escaped(said)),
            }
        }
        Shape::Line { points, role, width, dashed } => {
            let dash = if *dashed { " stroke-dasharray=\"4 3\"" } else { "" };
            let (class, color) = (role.class(), hex(role.color(theme)));
            writeln!(
                out,
                "<path d=\"{}\" class=\"s-{class}\" stroke=\"{color}\" fill=\"none\" stroke-width=\"{width}\" \
                 stroke-linejoin=\"round\"{dash}/>",
                path(points.iter().copied())
            )
        }
        Shape::Columns { edges, borders, role } => {
            let above = borders.iter().enumerate().flat_map(|(n, (top, _))| [(edges[n], *top), (edges[n + 1], *top)]);
            let below = borders.iter().enumerate().rev();
            let below = below.flat_map(|(n, (_, bottom))| [(edges[n + 1], *bottom), (edges[n], *bottom)]);
            writeln!(out, "<path d=\"{}Z\" {}/>", path(above.chain(below)), fill(*role))
        }
        Shape::Spot { at: (x, y), size: (width, height), said } => {
            let said = escaped(said);
            writeln!(
                out,
                "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"none\" \
                 pointer-events=\"all\"><title>{said}</title></rect>"
            )
        }
        Shape::Sector { at, radii: (inner, outer), turns, role, said } => {
            let there = arc(*at, *outer, *turns);
            let back = arc(*at, *inner, *turns);
            let (fill, said) = (fill(*role), escaped(said));
            let _ = write!(out, "<path d=\"{}Z\" {fill}>", path(there.into_iter().chain(back.into_iter().rev())));
            writeln!(out, "<title>{said}</title></path>")
        }
        Shape::Dot { at: (x, y), radius, role, said } => {
            let (fill, said) = (fill(*role), escaped(said));
            writeln!(out, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius}\" {fill}><title>{said}</title></circle>")
        }
    };
}

/// Places along a part of a circle, near enough to each other that it looks round.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few places"
)]
#[must_use]
pub fn arc((x, y): At, radius: f64, (from, to): At) -> Vec<At> {
    let steps = (96.0 * (to - from).abs()).ceil().clamp(2.0, 192.0) as usize;
    let on = |n: usize| {
        let turn = std::f64::consts::TAU * (from + (to - from) * n as f64 / steps as f64);
        (x + radius * turn.sin(), y - radius * turn.cos())
    };
    (0..=steps).map(on).collect()
}

fn path(points: impl Iterator<Item = At>) -> String {
    let mut out = String::new();
    for (n, (x, y)) in points.enumerate() {
        let _ = write!(out, "{}{x:.2} {y:.2}", if n == 0 { 'M' } else { 'L' });
    }
    out
}
