//! The strip as a scrub bar: pixels to references and back, and what its heights mean.

use crate::overlay::fonts::Weight;
use crate::overlay::height_of;
use crate::overlay::pen::color;
use crate::scene::palette;
use egui::{Align2, CornerRadius, Painter, Pos2, Rect, pos2, vec2};

/// Points above and below the bars in which a click still counts.
const MARGIN: f32 = 7.0;

/// Where the pointer takes hold of the strip.
#[must_use]
pub fn grip(bars: Rect) -> Rect {
    bars.expand2(egui::vec2(4.0, MARGIN))
}

/// Share of the strip at a pointer position, 0..=1; beyond the ends it is the end.
#[must_use]
pub fn share(bars: Rect, pointer: Pos2) -> f64 {
    let width = f64::from(bars.width());
    if width > 0.0 { (f64::from(pointer.x - bars.left()) / width).clamp(0.0, 1.0) } else { 0.0 }
}

/// Where a share of a stretch is, in points.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "a place on the screen")]
pub fn place(left: f32, width: f32, share: f64) -> f32 {
    left + width * share.clamp(0.0, 1.0) as f32
}

/// Heights that are labelled: misses a reference, and the label.
const HEIGHTS: [(f32, &str); 2] = [(1.0, "100 % miss"), (0.25, "25 %")];
/// Size of type of heights, points.
const TYPE: f32 = 10.0;

/// Says what heights of the strip mean, at the end that the pointer is farther from.
pub fn heights(painter: &Painter, bars: Rect, pointer: Pos2) {
    let ink = color(palette::fade(palette::LIGHT, 0.4));
    let left = pointer.x > bars.center().x;
    for (misses, words) in HEIGHTS {
        let y = bars.bottom() - height_of(misses) * bars.height();
        painter.hline(bars.x_range(), y, (0.5, ink));
        let (x, anchor) =
            if left { (bars.left() + 4.0, Align2::LEFT_TOP) } else { (bars.right() - 4.0, Align2::RIGHT_TOP) };
        let galley = painter.layout_no_wrap(words.to_owned(), Weight::Regular.at(TYPE), color(palette::TEXT));
        let area = anchor.anchor_size(pos2(x, y + 1.0), galley.size());
        painter.rect_filled(area.expand2(vec2(3.0, 0.0)), CornerRadius::same(2), color(palette::CARD));
        painter.galley(area.min, galley, color(palette::TEXT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_trace_is_within_the_bars() {
        let bars = Rect::from_min_max(pos2(28.0, 600.0), pos2(1228.0, 630.0));
        for (x, expect) in [(0.0, 0.0), (28.0, 0.0), (328.0, 0.25), (628.0, 0.5), (1228.0, 1.0), (5000.0, 1.0)] {
            assert_eq!(share(bars, pos2(x, 610.0)), expect, "{x}");
        }
        assert_eq!(share(Rect::from_min_max(pos2(9.0, 0.0), pos2(9.0, 0.0)), pos2(9.0, 0.0)), 0.0);
        assert_eq!([0.0, 0.5, 9.0].map(|s| place(28.0, 1200.0, s)), [28.0, 628.0, 1228.0]);
        assert!(grip(bars).contains(pos2(24.5, 595.0)));
    }
}
