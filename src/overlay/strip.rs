//! The strip along the bottom: misses over the trace, or over a stretch of it.

use super::draw::{Pen, SMALL, color, notes};
use super::fonts::Weight;
use super::info::Info;
use super::layout::Layout;
use crate::scene::palette;
use crate::units::{grouped, to_f32};
use egui::{Align2, Rect, pos2};
use std::ops::Range;

/// References that the strip shows, at least.
const LEAST: f64 = 64.0;

/// The part of a trace that the strip shows, as shares of the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    from: f64,
    to: f64,
}

impl Default for Stretch {
    /// All of it.
    fn default() -> Self {
        Self { from: 0.0, to: 1.0 }
    }
}

impl Stretch {
    /// Whether it is all of the trace.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self == Self::default()
    }

    /// Where a share of the trace is in it: 0 at its left end, 1 at its right.
    #[must_use]
    pub fn place(self, share: f64) -> f64 {
        (share - self.from) / (self.to - self.from)
    }

    /// The share of the trace that is at a place.
    #[must_use]
    pub fn share(self, place: f64) -> f64 {
        self.from + place * (self.to - self.from)
    }

    /// Whether it shows a share of the trace.
    #[must_use]
    pub fn shows(self, share: f64) -> bool {
        (self.from..=self.to).contains(&share)
    }

    /// Its references, of a trace of `len`.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and len")]
    pub fn references(self, len: u64) -> Range<u64> {
        (self.from * len as f64).round() as u64..((self.to * len as f64).round() as u64).min(len)
    }

    /// Narrower by a factor (wider below 1) round `share`, which stays at its place; of a trace of `len` references.
    #[must_use]
    pub fn closer(self, factor: f64, share: f64, len: u64) -> Self {
        let least = (LEAST / len.max(1) as f64).min(1.0);
        let width = ((self.to - self.from) / factor.max(1e-9)).clamp(least, 1.0);
        let from = share - self.place(share).clamp(0.0, 1.0) * width;
        Self::fitting(from, width)
    }

    /// Farther on by so many of its widths.
    #[must_use]
    pub fn moved(self, widths: f64) -> Self {
        let width = self.to - self.from;
        Self::fitting(self.from + widths * width, width)
    }

    /// The same, or as wide where it shows `share`: as one turns a page.
    #[must_use]
    pub fn turned_to(self, share: f64) -> Self {
        let place = self.place(share);
        if (0.0..=1.0).contains(&place) {
            self
        } else {
            self.moved(if place > 1.0 { place - 0.1 } else { place - 0.9 })
        }
    }

    fn fitting(from: f64, width: f64) -> Self {
        if width >= 1.0 {
            return Self::default();
        }
        let from = from.clamp(0.0, 1.0 - width);
        Self { from, to: from + width }
    }
}

pub(super) fn draw_strip(pen: &Pen<'_>, layout: &Layout, info: &Info, strip: &[f32], with_notes: bool) {
    let t = pen.t;
    let bars = layout.bars();
    let place = |share: f64| bars.left() + bars.width() * to_f32(info.stretch.place(share).clamp(0.0, 1.0));
    let known = Rect::from_min_max(bars.min, pos2(place(info.indexed.unwrap_or(1.0)), bars.bottom()));
    pen.bar(known, palette::fade(palette::TRACK, 0.55));
    if known.right() < bars.right() {
        // What is still to come: a line that waits to be filled.
        let line = pos2(known.right(), bars.bottom() - (1.0 * t).max(1.0));
        pen.bar(Rect::from_min_max(line, bars.max), palette::fade(palette::TRACK, 0.55));
    }
    let playhead = place(info.position);
    // Height is the root of misses a reference: 1 fills the strip, 6 in 100 still show. The scale is fixed, so strips of
    // two traces compare.
    let column = bars.width() / strip.len().max(1) as f32;
    for (i, &misses) in strip.iter().enumerate() {
        if misses <= 0.0 {
            continue;
        }
        let height = (bars.height() * misses.min(1.0).sqrt()).max(1.0);
        let x0 = bars.left() + column * i as f32;
        let area = Rect::from_min_max(pos2(x0, bars.bottom() - height), pos2(x0 + column, bars.bottom()));
        let done = x0 <= playhead;
        pen.bar(area, palette::fade(palette::MISS, if done { 0.78 } else { 0.30 }));
    }
    // Marks: a tick at the upper edge; of those that would touch, the first.
    let mut last = f32::MIN;
    for &mark in info.marks.iter().filter(|mark| info.stretch.shows(**mark)) {
        let x = place(mark);
        if x - last >= 3.0 * t {
            let tick =
                Rect::from_min_max(pos2(x - 0.5 * t, bars.top() - 4.0 * t), pos2(x + 0.5 * t, bars.top() + 5.0 * t));
            pen.bar(tick, palette::fade(palette::LIGHT, 0.5));
            last = x;
        }
    }
    let line = Rect::from_min_max(
        pos2(playhead - 0.9 * t, bars.top() - 3.0 * t),
        pos2(playhead + 0.9 * t, bars.bottom() + 4.0 * t),
    );
    if info.stretch.shows(info.position) {
        pen.bar(line, palette::LIGHT);
        pen.painter.circle_filled(pos2(playhead, bars.top() - 4.0 * t), 4.0 * t, color(palette::LIGHT));
    }
    let y = bars.bottom() + 7.0 * t;
    let words = format!("{} misses", info.innermost);
    let name = if info.mark.is_empty() { words } else { format!("{words}  ·  {}", info.mark) };
    let edge = pen.text(pos2(bars.left(), y), Align2::LEFT_TOP, &name, Weight::Regular, SMALL, palette::TEXT_QUIET);
    let shown = info.stretch.references(info.len);
    let end = match info.indexed {
        _ if !info.stretch.is_whole() => {
            format!("{} to {} of {}", grouped(shown.start), grouped(shown.end), grouped(info.len))
        }
        None => grouped(info.len),
        Some(share) if share < 1.0 => format!("{:.0} % of {} indexed", (share * 100.0).floor(), grouped(info.len)),
        Some(_) => format!("{} so far", grouped(info.len)),
    };
    pen.text(pos2(bars.right(), y), Align2::RIGHT_TOP, &end, Weight::Regular, SMALL, palette::TEXT_QUIET);
    if with_notes {
        // Where there is no legend to say it.
        let room = bars.right() - pen.width(&end, Weight::Regular, SMALL) - 28.0 * t - edge;
        let said = notes(info).join("  ·  ");
        pen.fitted(pos2(edge + 14.0 * t, y), &said, room, Weight::Regular, SMALL, palette::TEXT_QUIET);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_keeps_what_is_pointed_at_and_stays_in_the_trace() {
        let mut stretch = Stretch::default();
        assert!(stretch.is_whole() && stretch.references(1000) == (0..1000));
        for _ in 0..200 {
            let place = stretch.place(0.7);
            stretch = stretch.closer(1.2, 0.7, 1_000_000_000);
            assert!((stretch.place(0.7) - place).abs() < 1e-6, "{stretch:?}");
            assert!((stretch.share(stretch.place(0.7)) - 0.7).abs() < 1e-12);
        }
        let references = stretch.references(1_000_000_000);
        assert!((64..=66).contains(&(references.end - references.start)), "{references:?}");
        assert!(references.contains(&700_000_000));
        for _ in 0..200 {
            stretch = stretch.closer(1.0 / 1.2, 0.1, 1_000_000_000);
        }
        assert!(stretch.is_whole(), "{stretch:?}");
        assert!(Stretch::default().closer(1e9, 0.5, 10).is_whole(), "a short trace is shown as it is");
    }

    #[test]
    fn pages_turn_where_the_playhead_leaves() {
        let stretch = Stretch::default().closer(10.0, 0.5, 1 << 30);
        assert_eq!(stretch.turned_to(0.5), stretch);
        for share in [0.0, 0.3, 0.62, 0.99, 1.0] {
            let turned = stretch.turned_to(share);
            assert!(turned.shows(share), "{share}: {turned:?}");
            assert!((turned.to - turned.from - 0.1).abs() < 1e-9);
        }
        let on = stretch.turned_to(0.6);
        assert!((on.place(0.6) - 0.1).abs() < 1e-9, "there is room ahead: {on:?}");
        assert_eq!(stretch.moved(-100.0).references(1000), 0..100);
    }
}
