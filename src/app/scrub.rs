//! The strip as a scrub bar: pixels to references and back.

use egui::{Pos2, Rect};

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

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

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
