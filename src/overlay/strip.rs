//! The strip along the bottom: misses over the trace, or over a stretch of it.

use super::fonts::Weight;
use super::info::{Info, notes};
use super::layout::Layout;
use super::pen::{Pen, SMALL, color};
use crate::scene::palette;
use crate::units::{grouped, to_f32};
use egui::{Align2, Rect, pos2};

/// Draws it. `strip` is misses a reference by column, 0..=1 and above.
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
