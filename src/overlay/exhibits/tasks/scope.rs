//! What all pictures of tasks are drawn from: the tasks, what of them is looked at, and when.

use super::super::sheet::{SMALL, Sheet};
use crate::axis::{Axis, Position};
use crate::overlay::fonts::Weight;
use crate::overlay::plane::Words;
use crate::overlay::shot::Shot;
use crate::overlay::strip::round_step;
use crate::scene::cubehelix;
use crate::scene::palette::{self, Rgba};
use crate::tasks::{Symbol, TaskBook, TaskIndex, TaskLook};
use crate::units::{counted, to_f32};
use egui::{Align2, Pos2, Rect, pos2};
use std::ops::Range;

/// See the module.
pub(super) struct Scope<'a> {
    pub(super) book: &'a TaskBook,
    pub(super) look: &'a TaskLook,
    pub(super) shot: &'a Shot,
    pub(super) axis: Axis,
    /// What the strip shows: all pictures are of it.
    pub(super) ticks: Range<u64>,
    pub(super) em: f32,
}

impl<'a> Scope<'a> {
    pub(super) fn new(book: &'a TaskBook, look: &'a TaskLook, shot: &'a Shot, em: f32) -> Self {
        let axis = book.set().axis();
        Self { book, look, shot, axis, ticks: shot.playback.stretch.ticks(axis), em }
    }

    /// The location whose tasks are shown: the chosen one, that of the chosen task, the busiest.
    pub(super) fn location(&self) -> Option<Symbol> {
        let of_task = self.look.task.map(|task| self.book.set().location_of(task));
        self.look.location.or(of_task).or_else(|| self.book.busiest())
    }

    /// The colour of a task's kind, wherever it is drawn; quieter where another kind stands out.
    pub(super) fn ink(&self, task: TaskIndex) -> Rgba {
        self.kind_ink(self.book.kind(task))
    }

    pub(super) fn kind_ink(&self, kind: usize) -> Rgba {
        cubehelix::shown(kind, self.book.kinds().len(), self.look.lit)
    }

    /// How long something takes.
    pub(super) fn duration(&self, ticks: u64) -> String {
        self.axis.unit.duration(ticks)
    }
}

/// What of an axis stands between two sides.
#[derive(Clone, Debug)]
pub(super) struct Across {
    pub(super) ticks: Range<u64>,
    pub(super) left: f32,
    pub(super) right: f32,
}

impl Across {
    /// Where a tick stands, at an edge where it is beyond. The origin is taken off before anything is rounded.
    pub(super) fn x(&self, tick: u64) -> f32 {
        let tick = tick.clamp(self.ticks.start, self.ticks.end);
        let share = (tick - self.ticks.start) as f64 / (self.ticks.end - self.ticks.start).max(1) as f64;
        self.left + (self.right - self.left) * to_f32(share)
    }

    /// Whether something from one tick to another is in sight.
    pub(super) fn shows(&self, start: u64, end: u64) -> bool {
        start <= self.ticks.end && end >= self.ticks.start
    }

    /// Times below, and lines up to `top` that lead to them.
    pub(super) fn numbers(&self, sheet: &mut Sheet, scope: &Scope<'_>, [top, y]: [f32; 2]) {
        let em = scope.em;
        let span = self.ticks.end - self.ticks.start;
        let most = ((self.right - self.left) / (7.5 * em)).max(1.0);
        let Some(step) = round_step(span, most) else { return };
        let mut at = self.ticks.start.div_ceil(step).saturating_mul(step);
        while at <= self.ticks.end {
            let x = self.x(at);
            sheet.bar(Rect::from_min_max(pos2(x - 0.5, top), pos2(x + 0.5, y)), palette::fade(palette::LIGHT, 0.08));
            // At the edges words stay inside.
            let anchor = match (x - self.left, self.right - x) {
                (near, _) if near < 2.5 * em => Align2::LEFT_TOP,
                (_, near) if near < 2.5 * em => Align2::RIGHT_TOP,
                _ => Align2::CENTER_TOP,
            };
            sheet.text(Words {
                at: pos2(x, y + 0.15 * em),
                anchor,
                text: scope.axis.unit.words_like(at, step, self.ticks.end),
                weight: Weight::Regular,
                size: 0.8,
                color: palette::TEXT_QUIET,
                width: f32::INFINITY,
            });
            let Some(next) = at.checked_add(step) else { return };
            at = next;
        }
    }

    /// The playhead from `top` to `bottom`, and what lies outside the in and out points dimmed.
    pub(super) fn playhead(&self, sheet: &mut Sheet, scope: &Scope<'_>, area: Rect) {
        let [from, to] = scope.shot.playback.range.map(|point: Option<Position>| point.map(|at| self.x(at.tick())));
        let dim = palette::fade(palette::BACKGROUND, 0.6);
        if let Some(x) = from {
            sheet.bar(Rect { max: pos2(x, area.bottom()), ..area }, dim);
        }
        if let Some(x) = to {
            sheet.bar(Rect { min: pos2(x, area.top()), ..area }, dim);
        }
        let tick = scope.axis.clamp(scope.shot.position).tick();
        if self.ticks.contains(&tick) {
            let x = self.x(tick);
            let line = Rect::from_min_max(pos2(x - 0.6, area.top()), pos2(x + 0.6, area.bottom()));
            sheet.bar(line, palette::fade(palette::LIGHT, 0.55));
        }
    }
}

/// The end of a name that is too long for so many signs: it says more than the beginning.
pub(super) fn ending(name: &str, fits: usize) -> String {
    let count = name.chars().count();
    match count > fits {
        true => std::iter::once('…').chain(name.chars().skip(count + 1 - fits.max(1))).collect(),
        false => name.to_owned(),
    }
}

/// How wide words are about, ems: a plane is made without a font. It is somewhat more than they take.
pub(super) fn ems(words: &str) -> f32 {
    let of = |sign: char| match sign {
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        'i' | 'l' | 'j' | 't' | 'f' | 'r' | 'I' | '.' | ',' | ':' | '[' | ']' | '(' | ')' | '\'' | ' ' | '|' => 0.38,
        sign if sign.is_uppercase() => 0.74,
        sign if sign.is_ascii() => 0.63,
        _ => 1.0,
    };
    words.chars().map(of).sum()
}

/// `1 task`, `2,064 tasks`.
pub(super) fn many(count: usize, word: &str) -> String {
    counted(count as u64, word)
}

/// The title of the whole; gives what is left below it.
pub(super) fn title(sheet: &mut Sheet, scope: &Scope<'_>, body: Rect) -> Rect {
    if !scope.shot.parts.title {
        return body;
    }
    let (em, book) = (scope.em, scope.book);
    let set = book.set();
    let (from, to) = set.span();
    let title = book.title();
    sheet.left(body.min, title, Weight::Regular, 1.55, palette::TEXT, 0.42 * body.width());
    let mut parts = vec![many(set.len(), "task"), many(book.listed().len(), "location"), scope.duration(to - from)];
    if !book.subtitle().is_empty() {
        parts.insert(0, book.subtitle().to_owned());
    }
    let words = parts.join("  ·  ");
    // Beside the title where it is short; else it gives way.
    let x = body.left() + ((1.6 * ems(title) + 1.2) * em).min(0.43 * body.width());
    sheet.left(pos2(x, body.top() + 0.55 * em), &words, Weight::Regular, 1.0, palette::TEXT_QUIET, body.right() - x);
    Rect { min: pos2(body.left(), body.top() + 2.9 * em), ..body }
}

/// The quiet word above a part, and after it what it is of; gives where the part begins.
pub(super) fn head(sheet: &mut Sheet, area: Rect, name: &str, of: &str) -> f32 {
    let em = sheet.em;
    let x = area.left() + (0.92 * ems(name) + 0.8) * em;
    sheet.left(area.min, name, Weight::SemiBold, SMALL, palette::TEXT_QUIET, f32::INFINITY);
    sheet.left(pos2(x, area.top() - 0.08 * em), of, Weight::Regular, 1.0, palette::TEXT, area.right() - x);
    area.top() + 1.7 * em
}

/// A bar with a name in it, or beside it on its right where it is too narrow and `beside` says so.
pub(super) fn label(sheet: &mut Sheet, bar: Rect, words: &str, ink: Rgba, beside: Option<f32>) {
    let em = sheet.em;
    let size = (0.78 * bar.height() / em).clamp(0.6, 0.86);
    let length = ems(words) * size * em;
    let y = bar.center().y - 0.62 * size * em;
    if bar.width() > length.min(4.0 * em) + 0.6 * em && bar.height() >= 0.7 * em {
        let on = if is_light(ink) { palette::BACKGROUND } else { palette::TEXT };
        sheet.left(pos2(bar.left() + 0.4 * em, y), words, Weight::Medium, size, on, bar.width() - 0.6 * em);
        return;
    }
    let Some(edge) = beside else { return };
    let quiet = palette::TEXT_QUIET;
    if edge - bar.right() > length + 0.8 * em {
        sheet.left(pos2(bar.right() + 0.4 * em, y), words, Weight::Regular, size, quiet, edge - bar.right());
    } else {
        sheet.right(pos2(bar.left() - 0.4 * em, y), words, size, quiet);
    }
}

fn is_light([r, g, b, _]: Rgba) -> bool {
    0.30 * f32::from(r) + 0.59 * f32::from(g) + 0.11 * f32::from(b) > 118.0
}

/// An outline of a bar.
pub(super) fn outline(sheet: &mut Sheet, bar: Rect, color: Rgba) {
    let w = 1.4;
    let around = bar.expand(1.5);
    let Pos2 { x: right, y: bottom } = around.max;
    for side in [
        Rect { max: pos2(right, around.top() + w), ..around },
        Rect { min: pos2(around.left(), bottom - w), ..around },
        Rect { max: pos2(around.left() + w, bottom), ..around },
        Rect { min: pos2(right - w, around.top()), ..around },
    ] {
        sheet.bar(side, color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picosecond_stands_still_in_the_third_hour() {
        let origin = 3 * 3600 * 1_000_000_000_000u64;
        let across = Across { ticks: origin..origin + 1_000, left: 100.0, right: 1_100.0 };
        for tick in 0..=1_000u16 {
            assert_eq!(across.x(origin + u64::from(tick)), 100.0 + f32::from(tick));
        }
        assert!(across.shows(origin - 5, origin) && !across.shows(0, origin - 1));
        assert_eq!([across.x(0), across.x(u64::MAX)], [100.0, 1_100.0]);
    }
}
