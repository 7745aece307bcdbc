//! A plane that is filled from its top, with sizes in ems: what exhibits of rows and tables are made on.

use super::{Gesture, Picture, prose};
use crate::overlay::fonts::Weight;
use crate::overlay::pen::Target;
use crate::overlay::plane::{Plane, Words};
use crate::overlay::shot::Taken;
use crate::render::Bar;
use crate::scene::Camera;
use crate::scene::palette::{self, Rgba};
use egui::{Align2, Pos2, Rect, pos2, vec2};

/// Small type, ems.
pub(super) const SMALL: f32 = 0.84;

/// Puts words and bars where they belong, those that are in sight.
pub(super) struct Sheet {
    pub(super) plane: Plane,
    pub(super) em: f32,
    pub(super) sight: Rect,
}

impl Sheet {
    /// Keeps words that are in sight; their size is in ems.
    pub(super) fn text(&mut self, words: Words) {
        let y = words.at.y;
        // Words of which most is below would stand in what is drawn there.
        if y + 0.8 * words.size * self.em <= self.sight.bottom()
            && y + 2.0 * self.em >= self.sight.top()
            && !words.text.is_empty()
        {
            self.plane.words.push(Words { size: words.size * self.em, ..words });
        }
    }

    pub(super) fn left(&mut self, at: Pos2, words: &str, weight: Weight, size: f32, color: Rgba, width: f32) {
        let (anchor, text, width) = (Align2::LEFT_TOP, words.to_owned(), width.max(0.0));
        self.text(Words { at, anchor, text, weight, size, color, width });
    }

    pub(super) fn center(&mut self, at: Pos2, words: &str, weight: Weight, size: f32, color: Rgba) {
        let (anchor, text) = (Align2::CENTER_TOP, words.to_owned());
        self.text(Words { at, anchor, text, weight, size, color, width: f32::INFINITY });
    }

    /// Says in the middle that there is nothing to show, then what to do; `pitch` ems from line to line.
    pub(super) fn notice(&mut self, lines: &[&str], pitch: f32) {
        let (em, middle) = (self.em, self.sight.center());
        let columns = whole((self.sight.width() / em - 2.0) / prose::SIGN).max(8);
        let lines = lines
            .iter()
            .enumerate()
            .flat_map(|(n, words)| prose::wrapped(words, columns).into_iter().map(move |line| (n == 0, line)));
        let lines: Vec<(bool, String)> = lines.collect();
        for (n, (is_first, words)) in lines.iter().enumerate() {
            let y = middle.y + (n as f32 - 0.5 * lines.len() as f32) * pitch * em;
            let (weight, ink) =
                if *is_first { (Weight::Medium, palette::TEXT) } else { (Weight::Regular, palette::TEXT_QUIET) };
            self.center(pos2(middle.x, y), words, weight, 1.0, ink);
        }
    }

    pub(super) fn right(&mut self, at: Pos2, words: &str, size: f32, color: Rgba) {
        let (anchor, text, weight) = (Align2::RIGHT_TOP, words.to_owned(), Weight::Regular);
        self.text(Words { at, anchor, text, weight, size, color, width: f32::INFINITY });
    }

    /// A line round an area, inside of it.
    pub(super) fn frame(&mut self, area: Rect, width: f32, ink: Rgba) {
        let width = width.min(0.5 * area.width());
        let Rect { min, max } = area;
        self.bar(Rect { min, max: pos2(max.x, min.y + width) }, ink);
        self.bar(Rect { min: pos2(min.x, max.y - width), max }, ink);
        self.bar(Rect { min: pos2(min.x, min.y + width), max: pos2(min.x + width, max.y - width) }, ink);
        self.bar(Rect { min: pos2(max.x - width, min.y + width), max: pos2(max.x, max.y - width) }, ink);
    }

    /// A rectangle; what of it is out of sight is cut off.
    pub(super) fn bar(&mut self, area: Rect, color: Rgba) {
        let area = area.intersect(self.sight);
        if area.is_positive() {
            let sides = [area.left(), area.top(), area.right(), area.bottom()];
            self.plane.bars.push(Bar { sides, color });
        }
    }
}

/// Something to choose, by the heading of a column.
pub(super) struct Choice {
    /// What it is called here.
    pub(super) name: &'static str,
    /// Number and name of the column.
    pub(super) column: (usize, &'static str),
    pub(super) chosen: bool,
    /// Ems more than usual before it.
    pub(super) apart: f32,
}

/// Size of what can be chosen, and width of a sign of it in ems of its size: more than the mean.
const CHOICE: f32 = 0.95;
const SIGN: f32 = 0.56;
/// Ems from row to row of it.
const CHOICE_PITCH: f32 = 1.7;

/// What can be chosen, in rows as long as an area is wide, from its top; gives where the last row stands.
pub(super) fn choices(sheet: &mut Sheet, area: Rect, all: impl IntoIterator<Item = Choice>) -> f32 {
    let em = sheet.em;
    let (mut x, mut y) = (area.left(), area.top());
    for Choice { name, column: (number, heading), chosen, apart } in all {
        x += apart * em;
        let width = SIGN * CHOICE * name.chars().count() as f32 * em;
        if x > area.left() && x + width > area.right() {
            (x, y) = (area.left(), y + CHOICE_PITCH * em);
        }
        let (weight, ink) =
            if chosen { (Weight::SemiBold, palette::TEXT) } else { (Weight::Regular, palette::TEXT_QUIET) };
        sheet.left(pos2(x, y), name, weight, CHOICE, ink, width + em);
        if chosen {
            let below = Rect::from_min_size(pos2(x, y + 1.35 * em), vec2(width, 0.12 * em));
            sheet.bar(below, palette::SERIES[0]);
        }
        let place = Rect::from_min_max(pos2(x - 0.3 * em, y - 0.2 * em), pos2(x + width + 0.3 * em, y + 1.5 * em));
        let place = place.intersect(sheet.sight);
        if let (true, Ok(number)) = (place.is_positive(), u8::try_from(number)) {
            sheet.plane.rows.push((place, Target::Column(number, heading)));
        }
        x += width + 1.5 * em;
    }
    y
}

/// The whole part of a number of things that there is room for.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 or more; saturates")]
pub(super) fn whole(n: f32) -> usize {
    n.max(0.0) as usize
}

/// The camera of a sheet after a gesture: scrolled by wheel and drag, its type up to `largest` times as large.
pub(super) fn look(camera: Camera, gesture: Gesture, taken: &Taken, largest: f32) -> Camera {
    let Picture::Plane(plane) = &taken.picture else { return camera };
    // 0 follows what is under way: who scrolls to the top stays a little below it.
    let to = |y: f32| Camera { at: [0.0, y.clamp(1e-3, plane.depth.max(1e-3))], ..camera };
    match gesture {
        Gesture::Closer(factor, _) => Camera { zoom: (camera.zoom * factor).clamp(1.0, largest), ..camera },
        Gesture::Wheel(by, _) => to(plane.down - by / plane.unit),
        Gesture::Drag(by) => to(plane.down - by.y / plane.unit),
        Gesture::Whole => Camera::default(),
    }
}

/// The camera of what lies on a plane after a gesture, where [`Camera::at`] counts ems from its upper left corner and zoom gives it up to
/// `closest` times as much room as where it is `seen`, with an em of so many pixels.
pub(super) fn look_around(camera: Camera, gesture: Gesture, (seen, em): (Rect, f32), closest: f32) -> Camera {
    let Camera { at: [x, y], zoom } = camera;
    let (at, zoom) = match gesture {
        Gesture::Closer(factor, place) => {
            let held = (place.unwrap_or(seen.center()) - seen.min) / em;
            let closer = (zoom * factor).clamp(1.0, closest);
            let grown = closer / zoom;
            ([(x + held.x) * grown - held.x, (y + held.y) * grown - held.y], closer)
        }
        Gesture::Wheel(by, _) => ([x, y - by / em], zoom),
        Gesture::Drag(by) => ([x - by.x / em, y - by.y / em], zoom),
        Gesture::Whole => return Camera::default(),
    };
    let far = (seen.size() / em) * (zoom - 1.0);
    Camera { at: [at[0].clamp(0.0, far.x.max(0.0)), at[1].clamp(0.0, far.y.max(0.0))], zoom }
}

/// As [`look`], of a sheet that follows nothing: its top is its top.
pub(super) fn look_from_top(camera: Camera, gesture: Gesture, taken: &Taken, largest: f32) -> Camera {
    let looked = look(camera, gesture, taken, largest);
    if looked.at[1] <= 1e-3 { Camera { at: [0.0; 2], ..looked } } else { looked }
}

/// How much there is above and below, at the right edge.
pub(super) fn scroll_bar(plane: &mut Plane, sight: Rect, em: f32, down: f32) {
    let all = plane.depth + sight.height() / em;
    let y = |ems: f32| sight.top() + sight.height() * (ems / all).clamp(0.0, 1.0);
    let [left, right] = [0.45, 0.2].map(|ems| sight.right() - ems * em);
    let sides = [left, y(down), right, y(down + sight.height() / em)];
    plane.bars.push(Bar { sides, color: palette::fade(palette::TEXT_QUIET, 0.6) });
}
