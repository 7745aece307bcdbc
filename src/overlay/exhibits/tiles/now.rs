//! Beside the tiles: the loops that are under way as boxes within one another, the statement, the reference and what came of it.

use super::super::sheet::{SMALL, Sheet, whole};
use crate::overlay::fonts::Weight;
use crate::overlay::info::Info;
use crate::overlay::pen::Target;
use crate::reference::LoopAt;
use crate::scene::palette;
use crate::units::{grouped, to_f32};
use egui::{Rect, pos2};

/// Ems of a loop's header with its bar, and of one without.
const HEADER: f32 = 2.45;
const LOW_HEADER: f32 = 1.65;
/// Ems by which a box is narrower than the one around it, and where it is low.
const INSET: [f32; 2] = [0.55, 0.2];
/// Pixels across of a part of a bar that can be pressed, at least.
const PART: f32 = 5.0;
/// Ems from line to line.
const PITCH: f32 = 1.4;
/// Width of a sign, ems of its size: more than the mean, so that words are broken rather than cut.
const SIGN: f32 = 0.55;

/// Lines about a reference for which room is kept, so that what is below stays where it is.
const LINES: f32 = 6.0;

/// Fills a column; gives where it ends.
pub(super) fn column(sheet: &mut Sheet, area: Rect, info: &Info) -> f32 {
    let em = sheet.em;
    let width = area.width();
    let mut y = area.top();
    sheet.left(pos2(area.left(), y), &info.title, Weight::SemiBold, 1.2, palette::TEXT, width);
    y += 1.75 * em;
    for line in broken(&info.subtitle, signs(width, SMALL, em), 2) {
        sheet.left(pos2(area.left(), y), &line, Weight::Regular, SMALL, palette::TEXT_QUIET, width);
        y += 1.25 * em;
    }
    let of = format!("reference {} of {}", grouped(info.tick), grouped(info.len));
    sheet.left(pos2(area.left(), y), &of, Weight::Regular, SMALL, palette::TEXT_QUIET, width);
    y += 2.1 * em;
    let loops = info.now.loops.as_ref().map_or(&[][..], |at| at.loops.as_slice());
    let room = (area.bottom() - y) / em;
    // Where it is low, loops have no bars, and a statement has one line.
    let low = loops.len() as f32 * HEADER + 5.0 * PITCH + 4.0 > room;
    let (header, step) = if low { (LOW_HEADER, INSET[1]) } else { (HEADER, INSET[0]) };
    let fitting = loops.len().min(whole((room - 3.0 * PITCH) / header));
    let inner = width - (2.0 * fitting as f32 * step + 0.8) * em;
    let code = broken(&info.now.code, signs(inner, SMALL, em), if low { 1 } else { 4 });
    let body = if code.is_empty() { 0.0 } else { code.len() as f32 * 1.3 + 0.9 };
    let top = y;
    let end = top + (fitting as f32 * header + body + fitting as f32 * 0.35) * em;
    // The outermost first: the innermost lies on top.
    let shown = &loops[loops.len() - fitting..];
    for (n, at) in shown.iter().enumerate() {
        let inset = n as f32 * step * em;
        let bottom = end - n as f32 * 0.35 * em;
        let frame = Rect::from_min_max(pos2(area.left() + inset, y), pos2(area.right() - inset, bottom));
        one(sheet, frame, at, low);
        y += header * em;
    }
    y += 0.45 * em;
    let left = area.left() + (fitting as f32 * step + if fitting > 0 { 0.15 } else { 0.0 }) * em;
    for line in &code {
        sheet.left(pos2(left, y), line, Weight::Regular, SMALL, palette::CODE, inner + 0.7 * em);
        y += 1.3 * em;
    }
    y = y.max(end) + 1.0 * em;
    let what = if info.now.what.is_empty() { "the trace has ended" } else { &info.now.what };
    sheet.left(pos2(area.left(), y), what, Weight::SemiBold, 1.05, info.now.color.unwrap_or(palette::TEXT), width);
    y += 1.6 * em;
    let end = y + (LINES * PITCH + 0.6) * em;
    let words = info.now.loops.as_ref().map(crate::reference::LoopsAt::words).unwrap_or_default();
    // The loops are said above.
    for line in info.now.why.iter().filter(|line| **line != words) {
        for part in broken(line, signs(width, 0.9, em), 2) {
            if y + PITCH * em > area.bottom().min(end) {
                return end;
            }
            sheet.left(pos2(area.left(), y), &part, Weight::Regular, 0.9, palette::TEXT_BODY, width);
            y += PITCH * em;
        }
    }
    end
}

/// The same in one line, where there is no room for a column.
pub(super) fn line(info: &Info) -> String {
    let words = info.now.loops.as_ref().map(crate::reference::LoopsAt::words).unwrap_or_default();
    let what = if info.now.what.is_empty() { "the trace has ended" } else { &info.now.what };
    if words.is_empty() { what.to_owned() } else { format!("{words}   {what}") }
}

/// A loop: its header, what its index is, and how far that is.
fn one(sheet: &mut Sheet, frame: Rect, at: &LoopAt, low: bool) {
    let em = sheet.em;
    sheet.bar(frame, palette::fade(palette::GUIDE, 0.07));
    let head = Rect { max: pos2(frame.right(), frame.top() + 1.5 * em), ..frame };
    sheet.bar(head, palette::fade(palette::GUIDE, 0.10));
    let now = format!("{} = {}", at.name, at.value);
    let own = SIGN * now.chars().count() as f32 * em;
    let (y, room) = (frame.top() + 0.16 * em, frame.width() - 1.6 * em - own);
    sheet.left(pos2(frame.left() + 0.5 * em, y), &at.header(), Weight::Regular, 0.9, palette::TEXT_BODY, room);
    let right = pos2(frame.right() - 0.5 * em, y);
    sheet.right(right, &now, 0.95, palette::TEXT);
    if low || at.ends.is_none() {
        return;
    }
    let (left, right) = (frame.left() + 0.5 * em, frame.right() - 0.5 * em);
    let track = Rect::from_min_max(pos2(left, frame.top() + 1.78 * em), pos2(right, frame.top() + 2.08 * em));
    sheet.bar(track, palette::fade(palette::GUIDE, 0.18));
    let share = |trip: u64| track.left() + track.width() * to_f32(trip as f64 / at.trips().max(1) as f64);
    let (from, to) = (share(at.trip()), share(at.trip() + 1));
    sheet.bar(Rect { max: pos2(to, track.bottom()), ..track }, palette::fade(palette::SERIES[0], 0.45));
    // A press goes to the first reference of an iteration, or of the first of several where they are many.
    let parts = at.trips().min(u64::from(crate::units::to_count(track.width() / PART)).max(1));
    let slider = Rect::from_min_max(pos2(left, track.top() - 0.3 * em), pos2(right, track.bottom() + 0.3 * em));
    sheet.plane.sliders.push(slider.intersect(sheet.sight));
    for part in 0..parts {
        let place = |part: u64| track.left() + track.width() * to_f32(part as f64 / parts as f64);
        let area = Rect::from_min_max(
            pos2(place(part), track.top() - 0.3 * em),
            pos2(place(part + 1), track.bottom() + 0.3 * em),
        );
        let trip = u64::try_from(u128::from(part) * u128::from(at.trips()) / u128::from(parts)).unwrap_or(0);
        if let Some(tick) = at.first_of(trip) {
            sheet.plane.rows.push((area.intersect(sheet.sight), Target::Tick(tick)));
        }
    }
    // The iteration under way, at least as wide as can be seen.
    let (from, to) = (from.min(to - 0.2 * em).max(left), to.max(left + 0.2 * em));
    let knob = Rect::from_min_max(pos2(from, track.top() - 0.1 * em), pos2(to, track.bottom() + 0.1 * em));
    sheet.bar(knob, palette::LIGHT);
}

/// Signs for which there is room.
fn signs(width: f32, size: f32, em: f32) -> usize {
    whole(width / (SIGN * size * em))
}

/// Words in lines of so many signs, broken between words; the last of `most` lines has all that is left.
fn broken(words: &str, signs: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut depth = 0i32;
    let parts = words.split(|sign: char| {
        depth += i32::from(sign == '[') - i32::from(sign == ']');
        // Indices stay together.
        sign.is_whitespace() && depth <= 0
    });
    for word in parts.filter(|word| !word.is_empty()) {
        let full = lines.len() >= most;
        match lines.last_mut().filter(|line| full || line.chars().count() + 1 + word.chars().count() <= signs) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_broken_between_words_and_none_is_lost() {
        assert_eq!(broken("C[i, j] += A[i, k] * B[k, j]", 14, 4), ["C[i, j] +=", "A[i, k] *", "B[k, j]"]);
        assert_eq!(broken("one two three four", 7, 2), ["one two", "three four"]);
        assert!(broken("", 7, 2).is_empty());
    }
}
