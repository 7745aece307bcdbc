//! The strip along the bottom: misses over the trace, or over a stretch of it.

use super::fonts::Weight;
use super::info::{Info, notes};
use super::layout::Layout;
use super::pen::{Pen, SMALL, color};
use crate::axis::Position;
use crate::scene::palette::{self, Rgba};
use crate::units::{grouped, to_f32};
use egui::{Align2, Rect, pos2};

/// Who served the references of each column: what missed in the innermost ring, parted by the ring that had it, memory last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strip {
    /// References of a column that were served from outside the innermost ring, by ring from the second on, of all references.
    columns: Vec<Vec<f32>>,
}

impl Strip {
    /// Of misses a reference by ring, innermost first, column by column.
    #[must_use]
    pub fn of_misses(mut columns: Vec<Vec<f32>>) -> Self {
        // What a ring missed and the next did not was served by the next.
        for column in &mut columns {
            for ring in 0..column.len() {
                let farther = column.get(ring + 1).copied().unwrap_or(0.0);
                column[ring] = (column[ring] - farther).max(0.0);
            }
        }
        Self { columns }
    }

    /// How many columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// What of a column the second ring served, the third ... and memory.
    #[must_use]
    pub fn column(&self, n: usize) -> &[f32] {
        self.columns.get(n).map_or(&[], Vec::as_slice)
    }

    /// The first `count` columns.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        Self { columns: self.columns[..count.min(self.columns.len())].to_vec() }
    }
}

/// Draws it.
pub(super) fn draw_strip(pen: &Pen<'_>, layout: &Layout, info: &Info, strip: &Strip, with_notes: bool) {
    let t = pen.t;
    let bars = layout.bars();
    let axis = info.axis;
    let place = |at| bars.left() + bars.width() * to_f32(info.stretch.place(axis, at).clamp(0.0, 1.0));
    let known =
        Rect::from_min_max(bars.min, pos2(if axis.grows { place(axis.end()) } else { bars.right() }, bars.bottom()));
    pen.bar(known, palette::fade(palette::TRACK, 0.55));
    if known.right() < bars.right() {
        // What is still to come: a line that waits to be filled.
        let line = pos2(known.right(), bars.bottom() - (1.0 * t).max(1.0));
        pen.bar(Rect::from_min_max(line, bars.max), palette::fade(palette::TRACK, 0.55));
    }
    let playhead = place(info.position);
    // Height is the root of misses a reference: 1 fills the strip, 6 in 100 still show. The scale is fixed, so strips of
    // two traces compare. What memory served is at the foot, nearer rings above, by their shares.
    let column = bars.width() / strip.len().max(1) as f32;
    for n in 0..strip.len() {
        let served = strip.column(n);
        let misses: f32 = served.iter().sum();
        if misses <= 0.0 {
            continue;
        }
        let height = (bars.height() * misses.min(1.0).sqrt()).max(1.0);
        let x0 = bars.left() + column * n as f32;
        let strength = if x0 <= playhead { 0.86 } else { 0.34 };
        let mut foot = bars.bottom();
        for (ring, share) in served.iter().enumerate().rev() {
            let top = foot - height * share / misses;
            let area = Rect::from_min_max(pos2(x0, top), pos2(x0 + column, foot));
            pen.bar(area, palette::fade(palette::served(ring + 1, served.len()), strength));
            foot = top;
        }
    }
    lane(pen, bars, info);
    // What lies outside the in and out points is dimmed; at each a bracket that opens towards what is played.
    for (point, inward) in info.range.into_iter().zip([1.0, -1.0]) {
        let Some(point) = point else { continue };
        let x = place(point);
        let (left, right) = if inward > 0.0 { (bars.left(), x) } else { (x, bars.right()) };
        pen.bar(
            Rect::from_min_max(pos2(left, bars.top()), pos2(right, bars.bottom())),
            palette::fade(palette::BACKGROUND, 0.7),
        );
        if info.stretch.shows(axis, point) {
            let ink = palette::fade(palette::LIGHT, 0.85);
            let side = |x0: f32, x1: f32, y0: f32, y1: f32| {
                pen.bar(Rect::from_min_max(pos2(x0.min(x1), y0), pos2(x0.max(x1), y1)), ink);
            };
            let (top, bottom) = (bars.top() - 3.0 * t, bars.bottom() + 3.0 * t);
            side(x, x + inward * 1.4 * t, top, bottom);
            side(x, x + inward * 5.0 * t, top, top + 1.4 * t);
            side(x, x + inward * 5.0 * t, bottom - 1.4 * t, bottom);
        }
    }
    // Marks: a tick at the upper edge; of those that would touch, the first.
    let mut last = f32::MIN;
    for &mark in info.marks.iter().filter(|mark| info.stretch.shows(axis, **mark)) {
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
    if info.stretch.shows(axis, info.position) {
        pen.bar(line, palette::LIGHT);
        pen.painter.circle_filled(pos2(playhead, bars.top() - 4.0 * t), 4.0 * t, color(palette::LIGHT));
    }
    let y = bars.bottom() + 7.0 * t;
    // Whose misses, and who served them, each in its colour.
    let words = format!("{} misses served by", info.innermost);
    let mut edge =
        pen.text(pos2(bars.left(), y), Align2::LEFT_TOP, &words, Weight::Regular, SMALL, palette::TEXT_QUIET);
    let servers = info.rings.iter().skip(1).map(String::as_str).chain(["memory"]);
    for (server, ring) in servers.zip(1..) {
        let at = pos2(edge + 6.0 * t, y);
        let ink = palette::served(ring, info.rings.len());
        edge = pen.text(at, Align2::LEFT_TOP, server, Weight::Medium, SMALL, ink);
    }
    if !info.mark.is_empty() {
        let mark = format!("  ·  {}", info.mark);
        let at = pos2(edge, y);
        edge = pen.text(at, Align2::LEFT_TOP, &mark, Weight::Regular, SMALL, palette::TEXT_QUIET);
    }
    if !info.pinned.is_empty() {
        let words = format!("  ·  pinned: {}", info.pinned);
        edge = pen.text(pos2(edge, y), Align2::LEFT_TOP, &words, Weight::Medium, SMALL, palette::TEXT_BODY);
    }
    let shown = info.stretch.ticks(axis);
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

/// Pixels under the strip in which the life of what is pinned is drawn: where it begins, and how high it is.
const LANE: [f32; 2] = [1.5, 4.0];

/// Where what is pinned lived: a line in the colour of the ring, bright in the innermost and quiet in memory.
fn lane(pen: &Pen<'_>, bars: Rect, info: &Info) {
    let Some(life) = &info.life else { return };
    let place = |tick| {
        let share = info.stretch.place(info.axis, Position::at(tick)).clamp(0.0, 1.0);
        bars.left() + bars.width() * to_f32(share)
    };
    let top = bars.bottom() + LANE[0] * pen.t;
    let mut end = f32::MIN;
    for (stay, ring) in life.stays(info.stretch.ticks(info.axis)) {
        // Of stays that are less than a pixel, the first of each pixel.
        let (x0, x1) = (place(stay.start).max(end), place(stay.end));
        if x1 - x0 >= 0.5 || x0.floor() > end.floor() {
            end = x1.max(x0 + 1.0);
            let area = Rect::from_min_max(pos2(x0, top), pos2(end, top + LANE[1] * pen.t));
            pen.bar(area, lived(ring, life.rings()));
        }
    }
}

/// Colour of a ring on which something lived, of so many; this number stands for memory.
pub(super) fn lived(ring: u8, rings: u8) -> Rgba {
    let ink = if ring < rings { palette::served(usize::from(ring), usize::from(rings)) } else { palette::TRACK };
    palette::fade(ink, 0.9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_ring_missed_the_next_served_or_one_behind_it() {
        let strip = Strip::of_misses(vec![vec![0.5, 0.2, 0.05], vec![0.0; 3], vec![0.25, 0.5, 0.0]]);
        let sums: Vec<Vec<f32>> =
            (0..3).map(|n| strip.column(n).iter().map(|s| (s * 100.0).round()).collect()).collect();
        // A ring that misses more than it was asked for (a prefetcher asked too) serves nobody.
        assert_eq!(sums, [[30.0, 15.0, 5.0], [0.0; 3], [0.0, 50.0, 0.0]]);
        assert_eq!((strip.len(), strip.first(2).len(), strip.column(9).len()), (3, 2, 0));
    }
}
