//! Sentences, headings and rows on a sheet, from its top: what exhibits are made of that tell something.
//!
//! ```text
//!  Title   quiet words beside it
//!  A paragraph, parted into lines between its words, none of which is so long
//!  that it is hard to follow.
//!  HEADING
//!        2,581   a row, which may be clicked
//!  misses        902,188  ||||||||||||||||||||||||
//!  with it        17,255  |
//! ```

use super::sheet::{SMALL, Sheet, scroll_bar};
use crate::overlay::fonts::Weight;
use crate::overlay::info::Info;
use crate::overlay::layout::Layout;
use crate::overlay::pen::Target;
use crate::overlay::plane::Plane;
use crate::overlay::shot::Shot;
use crate::overlay::studio::Studio;
use crate::scene::palette::{self, Rgba};
use crate::scene::{Camera, View};
use crate::shown;
use crate::units::grouped;
use egui::{Rect, pos2, vec2};

/// Type of a row, pixels, where type is not scaled.
const EM: f32 = 15.0;
/// The largest that type becomes by zooming, of its size at first.
pub(super) const LARGEST: f32 = 4.0;
/// Ems from row to row, and around the rows.
pub(super) const PITCH: f32 = 1.6;
const MARGIN: f32 = 1.4;
/// Ems of a sign, on average.
pub(super) const SIGN: f32 = 0.52;
/// Ems that a line of words has at most: longer ones are hard to follow.
const WIDEST: f32 = 60.0;
/// Ems of what stands before a row.
const BEFORE: f32 = 7.0;
/// Of the bars: ems of their words, of their numbers, and of the longest bar at most.
const NAMES: f32 = 9.0;
const NUMBERS: f32 = 8.0;
const LONGEST_BAR: f32 = 24.0;

/// What stands below what is before it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// A heading, and quiet words beside it.
    Title(String, String),
    /// Sentences.
    Paragraph(String, Rgba),
    /// A small heading over rows.
    Heading(&'static str),
    /// A number, what it is, and what a click on it is about.
    Row(String, String, Target),
    /// A word, and what it means.
    Meaning(&'static str, String),
    /// Numbers to be compared, with what they are of and their colour.
    Bars(Vec<(String, u64, Rgba)>),
}

/// A part as it is laid out: its words in lines.
struct Laid<'a> {
    part: &'a Part,
    lines: Vec<String>,
    /// Ems.
    height: f32,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "columns of a picture")]
fn columns(width: f32) -> usize {
    (width / SIGN).max(8.0) as usize
}

/// `width`: ems that a line may have.
fn lay(part: &Part, width: f32) -> Laid<'_> {
    let (lines, height) = match part {
        Part::Title(..) => (Vec::new(), 2.4),
        Part::Paragraph(words, _) => {
            let lines = wrapped(words, columns(width));
            let height = PITCH * (lines.len() as f32 + 0.5);
            (lines, height)
        }
        Part::Heading(_) => (Vec::new(), 1.9),
        Part::Row(..) => (Vec::new(), PITCH),
        Part::Meaning(_, words) => {
            let lines = wrapped(words, columns(width - NAMES));
            let height = PITCH * (lines.len() as f32 + 0.25);
            (lines, height)
        }
        Part::Bars(bars) => (Vec::new(), PITCH * (bars.len() as f32 + 0.5)),
    };
    Laid { part, lines, height }
}

/// What the strip below tells, and an empty sheet over it, whose type is as large as the camera is close.
pub(super) fn open(studio: &Studio, shot: &Shot, view: &View, layout: &Layout) -> (Info, Sheet) {
    let mut info = shot.strip_info(studio);
    info.dress(view);
    let sight = Rect::from_min_max(layout.area.min, pos2(layout.area.right(), layout.strip.top()));
    let em = EM * layout.type_scale * view.camera.zoom.max(1.0);
    (info, Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight })
}

/// Puts the parts on the sheet, one below the other, scrolled as the camera says.
pub(super) fn tell(sheet: &mut Sheet, parts: &[Part], camera: &Camera) {
    let (em, sight) = (sheet.em, sheet.sight);
    let left = sight.left() + MARGIN * em;
    let width = (sight.width() - 2.0 * MARGIN * em).min(WIDEST * em);
    let laid: Vec<Laid<'_>> = parts.iter().map(|part| lay(part, width / em)).collect();
    let height = 2.0 * MARGIN + laid.iter().map(|laid| laid.height).sum::<f32>();
    let depth = (height - sight.height() / em).max(0.0);
    let down = camera.at[1].clamp(0.0, depth);
    (sheet.plane.depth, sheet.plane.down) = (depth, down);
    let mut y = sight.top() + (MARGIN - down) * em;
    for Laid { part, lines, height } in &laid {
        put(sheet, part, lines, [left, y], width);
        y += height * em;
    }
    if depth > 0.05 {
        scroll_bar(&mut sheet.plane, sight, em, down);
    }
}

fn put(sheet: &mut Sheet, part: &Part, lines: &[String], [left, y]: [f32; 2], width: f32) {
    let (em, right) = (sheet.em, left + width);
    match part {
        Part::Title(title, beside) => {
            sheet.left(pos2(left, y), title, Weight::SemiBold, 1.1, palette::TEXT, width);
            let x = left + (0.62 * title.chars().count() as f32 + 1.0) * em;
            sheet.left(pos2(x, y + 0.12 * em), beside, Weight::Regular, 0.95, palette::TEXT_QUIET, right - x);
        }
        Part::Paragraph(_, ink) => {
            for (n, line) in lines.iter().enumerate() {
                let at = pos2(left, y + n as f32 * PITCH * em);
                sheet.left(at, line, Weight::Regular, 1.0, *ink, f32::INFINITY);
            }
        }
        Part::Heading(words) => {
            sheet.left(pos2(left, y), words, Weight::SemiBold, SMALL, palette::TEXT_QUIET, width);
        }
        Part::Row(number, what, target) => {
            sheet.right(pos2(left + (BEFORE - 1.0) * em, y), number, 1.0, palette::words(palette::LIGHT));
            let x = left + BEFORE * em;
            sheet.left(pos2(x, y), what, Weight::Regular, 1.0, palette::TEXT_BODY, right - x);
            let area = Rect::from_min_max(pos2(left, y - 0.2 * em), pos2(right, y + (PITCH - 0.2) * em));
            let area = area.intersect(sheet.sight);
            if area.is_positive() {
                sheet.plane.rows.push((area, *target));
            }
        }
        Part::Meaning(word, _) => {
            sheet.left(pos2(left, y), word, Weight::SemiBold, 1.0, palette::TEXT, (NAMES - 0.5) * em);
            for (n, line) in lines.iter().enumerate() {
                let at = pos2(left + NAMES * em, y + n as f32 * PITCH * em);
                sheet.left(at, line, Weight::Regular, 1.0, palette::TEXT_BODY, f32::INFINITY);
            }
        }
        Part::Bars(bars) => {
            let most = bars.iter().map(|(_, n, _)| *n).max().unwrap_or(0).max(1);
            let begin = left + (NAMES + NUMBERS) * em;
            let room = (right - begin).clamp(0.0, LONGEST_BAR * em);
            for (n, (what, count, ink)) in bars.iter().enumerate() {
                let y = y + n as f32 * PITCH * em;
                sheet.left(pos2(left, y), what, Weight::Regular, 1.0, palette::TEXT_QUIET, (NAMES - 0.5) * em);
                sheet.right(pos2(begin - 0.8 * em, y), &grouped(*count), 1.0, palette::TEXT_BODY);
                let long = (room * (*count as f32 / most as f32)).max(0.15 * em);
                sheet.bar(Rect::from_min_size(pos2(begin, y + 0.2 * em), vec2(long, 0.9 * em)), *ink);
            }
        }
    }
}

/// Words in lines of so many columns, parted between words.
pub(super) fn wrapped(words: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let line = lines.last_mut().expect("there is one");
        if !line.is_empty() && shown::width(line) + 1 + shown::width(word) > columns {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_and_many_words_are_parted_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensibilities is one", 6), ["incomprehensibilities", "is one"]);
        assert_eq!(wrapped("", 6), [""]);
    }

    fn sheet(height: f32) -> Sheet {
        let sight = Rect::from_min_size(pos2(0.0, 0.0), vec2(900.0, height));
        Sheet { plane: Plane { unit: EM, ..Plane::default() }, em: EM, sight }
    }

    #[test]
    fn parts_stand_below_each_other_and_what_is_too_much_is_scrolled_to() {
        let row = |n: u64| Part::Row(n.to_string(), "row".into(), Target::Tick(n));
        let parts: Vec<Part> = (0..40).map(row).collect();
        let mut whole = sheet(2000.0);
        tell(&mut whole, &parts, &Camera::default());
        assert!(whole.plane.depth == 0.0 && whole.plane.rows.len() == 40);
        let tops: Vec<f32> = whole.plane.rows.iter().map(|(area, _)| area.top()).collect();
        assert!(tops.windows(2).all(|pair| (pair[1] - pair[0] - PITCH * EM).abs() < 0.01), "{tops:?}");
        let mut small = sheet(300.0);
        tell(&mut small, &parts, &Camera { at: [0.0, 1e6], zoom: 1.0 });
        assert!(small.plane.depth > 0.0 && small.plane.down == small.plane.depth);
        let seen: Vec<Target> = small.plane.rows.iter().map(|(_, target)| *target).collect();
        assert!(seen.contains(&Target::Tick(39)) && !seen.contains(&Target::Tick(0)), "{seen:?}");
    }

    #[test]
    fn bars_are_as_long_as_their_numbers_are_large() {
        let bars = [1000, 250, 0].map(|n| ("misses".to_owned(), n, palette::MISS));
        let mut sheet = sheet(600.0);
        tell(&mut sheet, &[Part::Bars(bars.to_vec())], &Camera::default());
        let long: Vec<f32> = sheet.plane.bars.iter().map(|bar| bar.sides[2] - bar.sides[0]).collect();
        assert!((long[0] - LONGEST_BAR * EM).abs() < 0.01 && (long[1] * 4.0 - long[0]).abs() < 0.01, "{long:?}");
        assert!(long[2] > 0.0 && long[2] < 0.02 * long[0], "none is a mark: {long:?}");
    }
}
