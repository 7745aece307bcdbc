//! Words round solids: what is counted and when, scales of colours with their numbers, names of axes. None overlaps another.

use super::counted::Counted;
use super::{GAP, scale_room};
use crate::overlay::exhibits::sheet::Sheet;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::Target;
use crate::overlay::plane::Words;
use crate::scene::palette::{self, Rgba};
use crate::scene::solids::Sight;
use crate::scene::solids::frame::{Name, Says};
use egui::{Align2, Rect, Vec2, pos2, vec2};

/// Width of a sign, ems of its size: more than the mean.
const SIGN: f32 = 0.56;
/// Steps of a scale of colours.
const STEPS: u8 = 48;

/// A whole number with a sign as print has it.
fn number(n: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count; saturates")]
    let amount = n.abs().round() as u64;
    let sign = if n < -0.5 { "\u{2212}" } else { "" };
    format!("{sign}{}", crate::units::grouped(amount))
}

/// A number as print has it: with a decimal where it is not whole.
pub(super) fn plain(n: f64) -> String {
    let rounded = (10.0 * n).round() / 10.0;
    if rounded.fract() == 0.0 {
        return number(rounded);
    }
    let sign = if rounded < 0.0 { "\u{2212}" } else { "" };
    let tenth = (10.0 * rounded.abs()).round() % 10.0;
    format!("{sign}{}.{tenth:.0}", number(rounded.abs().floor()))
}

/// A scale of colours: what it tells, its ends, what stands behind their numbers, the colour of a number.
pub(super) struct Scale {
    pub(super) words: &'static str,
    pub(super) ends: [f64; 2],
    pub(super) unit: &'static str,
    pub(super) color: Box<dyn Fn(f64) -> Rgba>,
}

/// What stands above solids.
pub(super) struct Head {
    /// Which array, of what.
    pub(super) title: String,
    /// What can be chosen by a click, with its column.
    pub(super) choices: Vec<(String, (u8, &'static str))>,
    /// Which slices, of whom.
    pub(super) when: String,
    pub(super) scales: Vec<Scale>,
}

impl Head {
    /// Whether scales stand beside the words rather than below them.
    fn is_beside(&self, inner: Rect, em: f32) -> bool {
        let room = scale_room(inner, em);
        inner.width() > 26.0 * em + self.scales.len() as f32 * (room.x + GAP * em)
    }

    /// Where it ends.
    pub(super) fn height(&self, inner: Rect, em: f32) -> f32 {
        let below = if self.is_beside(inner, em) { 0.0 } else { scale_room(inner, em).y };
        inner.top() + 4.6 * em + below
    }

    /// Writes it.
    pub(super) fn fill(&self, sheet: &mut Sheet, inner: Rect) {
        let em = sheet.em;
        let count = self.scales.len() as f32;
        let room = scale_room(inner, em);
        let beside = self.is_beside(inner, em);
        let width = if beside { inner.width() - count * (room.x + GAP * em) } else { inner.width() };
        let at = |line: f32| pos2(inner.left(), inner.top() + line * em);
        sheet.left(at(0.0), &self.title, Weight::SemiBold, 1.3, palette::TEXT, width);
        let mut x = inner.left();
        for (words, (number, column)) in &self.choices {
            let size = vec2(SIGN * words.chars().count() as f32 * em, 1.4 * em);
            if x + size.x > inner.left() + width {
                break;
            }
            let place = Rect::from_min_size(pos2(x, at(1.75).y), size);
            sheet.left(place.min, words, Weight::Medium, 1.0, palette::TEXT_BODY, width);
            sheet.plane.rows.push((place.expand(0.2 * em), Target::Column(*number, column)));
            x += size.x + 1.2 * em;
        }
        sheet.left(at(3.2), &self.when, Weight::Regular, 0.92, palette::TEXT_QUIET, width);
        let from =
            if beside { pos2(inner.right() - count * room.x - (count - 1.0) * GAP * em, inner.top()) } else { at(4.6) };
        for (n, scale) in self.scales.iter().enumerate() {
            let step = if beside { room.x + GAP * em } else { (inner.width() + GAP * em) / count };
            let area =
                Rect::from_min_size(pos2(from.x + n as f32 * step, from.y), vec2(room.x.min(step - GAP * em), room.y));
            scale.draw(sheet, area);
        }
    }
}

impl Scale {
    /// With the numbers at its ends, and 0 in the middle where that is its middle.
    fn draw(&self, sheet: &mut Sheet, area: Rect) {
        let em = sheet.em;
        let [least, most] = self.ends;
        sheet.left(area.min, self.words, Weight::Regular, 0.92, palette::TEXT_BODY, area.width());
        let (top, bottom) = (area.top() + 1.5 * em, area.top() + 2.2 * em);
        for step in 0..STEPS {
            let edge = |n: u8| area.left() + area.width() * f32::from(n) / f32::from(STEPS);
            let middle = (f64::from(step) + 0.5) / f64::from(STEPS);
            let color = (self.color)(least + (most - least) * middle);
            sheet.bar(Rect::from_min_max(pos2(edge(step), top), pos2(edge(step + 1), bottom)), color);
        }
        let y = bottom + 0.25 * em;
        let told = |n: f64| format!("{}{}", number(n), self.unit);
        sheet.left(pos2(area.left(), y), &told(least), Weight::Regular, 0.84, palette::TEXT_QUIET, area.width());
        if least < 0.0 {
            sheet.center(pos2(area.center().x, y), "0", Weight::Regular, 0.84, palette::TEXT_QUIET);
        }
        sheet.right(pos2(area.right(), y), &told(most), 0.84, palette::TEXT_QUIET);
    }
}

/// What axes are called: that along rows, that along columns, and heights upwards and downwards.
pub(super) struct Axes<'a> {
    pub(super) row: &'a str,
    pub(super) column: &'a str,
    pub(super) heights: [&'a str; 2],
    /// Index of the first row and of the first column, and of what stands at height 0; and how many of the array's one of the picture is.
    pub(super) indices: [[u64; 2]; 3],
}

impl Axes<'_> {
    /// Of rows and columns that are counted; heights have no name yet, and are numbers.
    pub(super) fn of(counted: &Counted) -> Self {
        let indices = [counted.index(1), counted.index(0), [0, 1]];
        Self { row: "row", column: "column", heights: [""; 2], indices }
    }
}

/// Writes names of axes where they are, those that overlap no other; nothing stands higher than `top`.
pub(super) fn name_axes(sheet: &mut Sheet, names: &[Name], seen: &Sight, axes: &Axes<'_>, top: f32) {
    let em = sheet.em;
    let mut taken: Vec<Rect> = Vec::new();
    // What axes are, then numbers.
    let rank = |name: &Name| match name.says {
        Says::Rows | Says::Columns | Says::Heights(_) => 0,
        Says::Height(..) => 1,
        Says::Row(_) | Says::Column(_) => 2,
    };
    let index = |axis: usize, n: u64| (axes.indices[axis][0] + n * axes.indices[axis][1]).to_string();
    let mut order: Vec<&Name> = names.iter().collect();
    order.sort_by_key(|name| rank(name));
    for name in order {
        let (at, from) = (seen.at(name.at).0, seen.at(name.from).0);
        let away = vec2(at[0] - from[0], at[1] - from[1]);
        let away = if away.length() > 1e-3 { away / away.length() } else { Vec2::DOWN };
        let at = pos2(at[0], at[1]);
        let (text, place, size, ink) = match name.says {
            Says::Row(n) => (index(0, n as u64), at + away * 0.95 * em, 0.84, palette::TEXT_QUIET),
            Says::Column(n) => (index(1, n as u64), at + away * 0.95 * em, 0.84, palette::TEXT_QUIET),
            Says::Rows => (axes.row.to_owned(), at + away * 2.4 * em, 0.92, palette::TEXT_BODY),
            Says::Columns => (axes.column.to_owned(), at + away * 2.4 * em, 0.92, palette::TEXT_BODY),
            Says::Height(value, down) => {
                let value = if down { -value } else { value };
                let [first, per] = axes.indices[2].map(|n| n as f64);
                let value = first + value * per;
                let side = if away.x < 0.0 { -0.7 } else { 0.7 };
                (number(value), at + vec2(side * em, 0.0), 0.84, palette::TEXT_QUIET)
            }
            Says::Heights(down) => {
                let words = axes.heights[usize::from(down)].to_owned();
                (words, at + vec2(0.0, -1.3 * em), 0.92, palette::TEXT_BODY)
            }
        };
        if text.is_empty() {
            continue;
        }
        let long = vec2(SIGN * text.chars().count() as f32 * size * em, 1.25 * size * em);
        let anchor = match name.says {
            Says::Height(..) if away.x < 0.0 => Align2::RIGHT_CENTER,
            Says::Height(..) => Align2::LEFT_CENTER,
            // Beside the numbers, whichever side that is.
            Says::Rows | Says::Columns if away.x < -0.3 => Align2::RIGHT_CENTER,
            Says::Rows | Says::Columns if away.x > 0.3 => Align2::LEFT_CENTER,
            _ => Align2::CENTER_CENTER,
        };
        let area = anchor.anchor_size(place, long);
        let free = area.top() >= top - 0.2 * em && sheet.sight.contains_rect(area);
        if !free || taken.iter().any(|other| other.intersects(area)) {
            continue;
        }
        taken.push(area);
        sheet.text(Words { at: place, anchor, text, weight: Weight::Regular, size, color: ink, width: f32::INFINITY });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_signs_and_groups() {
        assert_eq!([0.0, 12.0, -3.0, 12345.0].map(number), ["0", "12", "\u{2212}3", "12,345"]);
        assert_eq!(number(f64::NAN), "0");
        assert_eq!([2.0, 2.04, 2.5, -0.25, 1234.96].map(plain), ["2", "2", "2.5", "\u{2212}0.3", "1,235"]);
    }
}
