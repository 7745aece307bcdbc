//! Words round solids: what is counted and when, scales of colours with their numbers, names of axes. None overlaps another.

use super::counted::Counted;
use super::{FORM, GAP, MEASURE, scale_room};
use crate::overlay::exhibits::sheet::Sheet;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::Target;
use crate::overlay::plane::Words;
use crate::scene::palette;
use crate::scene::solids::frame::{Name, Says};
use crate::scene::solids::{Form, Heights, Measure, Sight, SolidLook, plane};
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

/// What stands above solids.
pub(super) struct Head<'a> {
    pub(super) counted: &'a Counted,
    pub(super) look: &'a SolidLook,
    pub(super) heights: &'a Heights,
    pub(super) title: &'a str,
}

impl Head<'_> {
    /// Scales of colours: what each tells, and whether downwards.
    fn scales(&self) -> Vec<(String, bool)> {
        match self.look.measure {
            Measure::Difference => {
                vec![("reads, up".into(), false), ("writes, down".into(), true)]
            }
            measure => vec![(measure.what().to_owned(), false)],
        }
    }

    /// Whether scales stand beside the words rather than below them.
    fn is_beside(&self, inner: Rect, em: f32) -> bool {
        let room = scale_room(inner, em);
        inner.width() > 26.0 * em + self.scales().len() as f32 * (room.x + GAP * em)
    }

    /// Where it ends.
    pub(super) fn height(&self, inner: Rect, em: f32) -> f32 {
        let below = if self.is_beside(inner, em) { 0.0 } else { scale_room(inner, em).y };
        inner.top() + 4.6 * em + below
    }

    /// Writes it.
    pub(super) fn fill(&self, sheet: &mut Sheet, inner: Rect, form: Form) {
        let em = sheet.em;
        let scales = self.scales();
        let room = scale_room(inner, em);
        let beside = self.is_beside(inner, em);
        let width = if beside { inner.width() - scales.len() as f32 * (room.x + GAP * em) } else { inner.width() };
        let at = |line: f32| pos2(inner.left(), inner.top() + line * em);
        let title = if self.title.is_empty() { String::new() } else { format!("{}: ", self.title) };
        sheet.left(at(0.0), &format!("{title}{}", self.counted.array), Weight::SemiBold, 1.3, palette::TEXT, width);
        // What can be chosen by a click.
        let core = self.look.core.map_or_else(String::new, |core| format!(" of core {core}"));
        let measure = format!("{}{core}", self.look.measure.what());
        let chosen = if self.look.form == Form::Auto {
            format!("{}, as there is room", form.name())
        } else {
            form.name().into()
        };
        let mut x = inner.left();
        for (words, (number, column)) in [(measure, MEASURE), (chosen, FORM)] {
            let size = vec2(SIGN * words.chars().count() as f32 * em, 1.4 * em);
            if x + size.x > inner.left() + width {
                break;
            }
            let place = Rect::from_min_size(pos2(x, at(1.75).y), size);
            sheet.left(place.min, &words, Weight::Medium, 1.0, palette::TEXT_BODY, width);
            sheet.plane.rows.push((place.expand(0.2 * em), Target::Column(number, column)));
            x += size.x + 1.2 * em;
        }
        let cores = match self.counted.grid.cores {
            1 => "1 core".to_owned(),
            n => format!("{n} cores"),
        };
        let when = format!("{}; {cores}, owner {}", self.counted.when(), self.look.owner);
        sheet.left(at(3.2), &when, Weight::Regular, 0.92, palette::TEXT_QUIET, width);
        let from = if beside {
            pos2(inner.right() - scales.len() as f32 * room.x - (scales.len() - 1) as f32 * GAP * em, inner.top())
        } else {
            at(4.6)
        };
        for (n, (words, down)) in scales.iter().enumerate() {
            let step = if beside { room.x + GAP * em } else { (inner.width() + GAP * em) / scales.len() as f32 };
            let area =
                Rect::from_min_size(pos2(from.x + n as f32 * step, from.y), vec2(room.x.min(step - GAP * em), room.y));
            self.scale(sheet, area, words, *down);
        }
    }

    /// A scale of colours, with the numbers at its ends.
    fn scale(&self, sheet: &mut Sheet, area: Rect, words: &str, down: bool) {
        let em = sheet.em;
        let (most, signed) = (plane::largest(self.heights), self.heights.signed);
        sheet.left(area.min, words, Weight::Regular, 0.92, palette::TEXT_BODY, area.width());
        let (top, bottom) = (area.top() + 1.5 * em, area.top() + 2.2 * em);
        let least = if signed { -most } else { 0.0 };
        for step in 0..STEPS {
            let edge = |n: u8| area.left() + area.width() * f32::from(n) / f32::from(STEPS);
            let middle = (f64::from(step) + 0.5) / f64::from(STEPS);
            let color = plane::color(least + (most - least) * middle, most, down, signed);
            sheet.bar(Rect::from_min_max(pos2(edge(step), top), pos2(edge(step + 1), bottom)), color);
        }
        let y = bottom + 0.25 * em;
        sheet.left(pos2(area.left(), y), &number(least), Weight::Regular, 0.84, palette::TEXT_QUIET, area.width());
        if signed {
            sheet.center(pos2(area.center().x, y), "0", Weight::Regular, 0.84, palette::TEXT_QUIET);
        }
        sheet.right(pos2(area.right(), y), &number(most), 0.84, palette::TEXT_QUIET);
    }
}

/// Writes names of axes where they are, those that overlap no other; nothing stands higher than `top`.
pub(super) fn name_axes(sheet: &mut Sheet, names: &[Name], seen: &Sight, heights: &Heights, top: f32) {
    let em = sheet.em;
    let mut taken: Vec<Rect> = Vec::new();
    // What axes are, then numbers.
    let rank = |name: &Name| match name.says {
        Says::Rows | Says::Columns | Says::Heights(_) => 0,
        Says::Height(..) => 1,
        Says::Row(_) | Says::Column(_) => 2,
    };
    let mut order: Vec<&Name> = names.iter().collect();
    order.sort_by_key(|name| rank(name));
    for name in order {
        let (at, from) = (seen.at(name.at).0, seen.at(name.from).0);
        let away = vec2(at[0] - from[0], at[1] - from[1]);
        let away = if away.length() > 1e-3 { away / away.length() } else { Vec2::DOWN };
        let at = pos2(at[0], at[1]);
        let (text, place, size, ink) = match name.says {
            Says::Row(n) | Says::Column(n) => (n.to_string(), at + away * 0.95 * em, 0.84, palette::TEXT_QUIET),
            Says::Rows => ("row".to_owned(), at + away * 2.4 * em, 0.92, palette::TEXT_BODY),
            Says::Columns => ("column".to_owned(), at + away * 2.4 * em, 0.92, palette::TEXT_BODY),
            Says::Height(value, down) => {
                let value = if down { -value } else { value };
                let side = if away.x < 0.0 { -0.7 } else { 0.7 };
                (number(value), at + vec2(side * em, 0.0), 0.84, palette::TEXT_QUIET)
            }
            Says::Heights(down) => {
                let words = match (heights.signed, down) {
                    (true, false) => "reads, up",
                    (true, true) => "writes, down",
                    (false, _) => continue,
                };
                (words.to_owned(), at + vec2(0.0, -1.3 * em), 0.92, palette::TEXT_BODY)
            }
        };
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
    }
}
