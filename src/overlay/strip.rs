//! The strip along the bottom: misses over the trace, or over a stretch of it.

use super::fonts::Weight;
use super::info::{Info, notes};
use super::layout::Layout;
use super::pen::{Pen, SMALL, color};
use crate::axis::{AxisUnit, Position};
use crate::scene::palette::{self, Rgba};
use crate::timeline::StripKind;
use crate::units::{grouped, to_count, to_f32};
use egui::{Align2, Pos2, Rect, pos2};

/// Names of the classes of misses, in their order.
pub(super) const CLASSES: [&str; 4] = ["compulsory", "capacity", "conflict", "coherence"];

/// The parts of each column: see [`Strip::column`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strip {
    kind: StripKind,
    columns: Vec<Vec<f32>>,
    /// What the whole height stands for, where that is not fixed.
    most: f32,
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
        Self { kind: StripKind::Served, columns, most: 1.0 }
    }

    /// Of parts that are what `kind` says.
    #[must_use]
    pub fn of_parts(kind: StripKind, columns: Vec<Vec<f32>>) -> Self {
        Self { kind, columns, most: 1.0 }
    }

    /// Of how many requests are under way, column by column; the highest fills the strip.
    #[must_use]
    pub fn of_levels(levels: &[f64]) -> Self {
        let most = levels.iter().copied().fold(0.0, f64::max);
        let share = |level: &f64| vec![to_f32(level / most.max(f64::MIN_POSITIVE))];
        Self { kind: StripKind::InFlight, columns: levels.iter().map(share).collect(), most: to_f32(most) }
    }

    /// What it tells.
    #[must_use]
    pub fn kind(&self) -> StripKind {
        self.kind
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

    /// The parts of a column, of all references: what the second ring served, the third ... and memory; what a ring missed; what missed
    /// by class. Of temperatures, each ring's, -1 to 1.
    #[must_use]
    pub fn column(&self, n: usize) -> &[f32] {
        self.columns.get(n).map_or(&[], Vec::as_slice)
    }

    /// The first `count` columns.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        Self { columns: self.columns[..count.min(self.columns.len())].to_vec(), ..*self }
    }

    /// The colour of a part, of so many.
    fn ink(&self, part: usize, parts: usize) -> Rgba {
        match self.kind {
            StripKind::Served => palette::served(part + 1, parts),
            StripKind::Level(_) | StripKind::Temperature => palette::MISS,
            StripKind::Classes => palette::CLASSES[part.min(CLASSES.len() - 1)],
            StripKind::InFlight => palette::SERIES[0],
        }
    }
}

/// Parts of columns that go on from their neighbour's at the same pixels in the same colour: drawn as one.
struct StripRuns<'a> {
    pen: &'a Pen<'a>,
    /// The newest of each part.
    last: Vec<Option<(Rect, Rgba)>>,
}

impl<'a> StripRuns<'a> {
    fn new(pen: &'a Pen<'a>) -> Self {
        Self { pen, last: Vec::new() }
    }

    fn add(&mut self, part: usize, area: Rect, ink: Rgba) {
        let scale = self.pen.painter.pixels_per_point();
        let [top, bottom] = [area.top(), area.bottom()].map(|y| (y * scale).round() / scale);
        if top >= bottom {
            return;
        }
        let area = Rect::from_min_max(pos2(area.left(), top), pos2(area.right(), bottom));
        if self.last.len() <= part {
            self.last.resize(part + 1, None);
        }
        match &mut self.last[part] {
            Some((run, of))
                if *of == ink && run.y_range() == area.y_range() && (run.right() - area.left()).abs() < 0.01 =>
            {
                run.max.x = area.right();
            }
            last => {
                if let Some((run, of)) = last.replace((area, ink)) {
                    self.pen.bar(run, of);
                }
            }
        }
    }

    fn end(self) {
        self.last.into_iter().flatten().for_each(|(run, ink)| self.pen.bar(run, ink));
    }
}

/// The height of a column, as a share of the strip's height, 0 to 1. It is the square root of the misses a reference, so that few misses
/// can be seen.
#[must_use]
pub fn height_of(misses: f32) -> f32 {
    misses.clamp(0.0, 1.0).sqrt()
}

/// Points of type from which on a strip has room to say what its height is, and what that is.
const WIDE: f32 = 900.0;
const SCALE: &str = "  (full height: 100 %, half: 25 %)";

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
    let mut runs = StripRuns::new(pen);
    for n in 0..strip.len() {
        let parts = strip.column(n);
        let x0 = bars.left() + column * n as f32;
        let strength = if x0 <= playhead { 0.86 } else { 0.34 };
        if strip.kind == StripKind::Temperature {
            // A row for each ring, the innermost above.
            let row = bars.height() / parts.len().max(1) as f32;
            for (ring, temperature) in parts.iter().enumerate().filter(|(_, t)| t.abs() > 0.005) {
                let top = bars.top() + row * ring as f32;
                let [r, g, b, _] = palette::temperature(*temperature);
                let ink = palette::fade([r, g, b, 255], strength * (0.25 + 0.75 * temperature.abs()));
                runs.add(ring, Rect::from_min_max(pos2(x0, top), pos2(x0 + column, top + row - 1.0)), ink);
            }
            continue;
        }
        let misses: f32 = parts.iter().sum();
        if misses <= 0.0 {
            continue;
        }
        let share = if strip.kind == StripKind::InFlight { misses } else { height_of(misses) };
        let height = (bars.height() * share).max(1.0);
        let mut foot = bars.bottom();
        for (part, share) in parts.iter().enumerate().rev() {
            let top = foot - height * share / misses;
            let area = Rect::from_min_max(pos2(x0, top), pos2(x0 + column, foot));
            runs.add(part, area, palette::fade(strip.ink(part, parts.len()), strength));
            foot = top;
        }
    }
    runs.end();
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
    let mut edge = words(pen, strip, info, pos2(bars.left(), y));
    let is_root = matches!(strip.kind, StripKind::Served | StripKind::Level(_) | StripKind::Classes);
    if is_root && bars.width() > WIDE * t {
        let at = pos2(edge, y);
        edge = pen.text(at, Align2::LEFT_TOP, SCALE, Weight::Regular, SMALL, palette::TEXT_QUIET);
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
            let step = ((shown.end - shown.start) / 1_000).max(1);
            let words = |tick| axis.unit.words_like(tick, step, info.len);
            format!("{} to {} of {}", words(shown.start), words(shown.end), axis.unit.duration(info.len))
        }
        None if axis.unit == AxisUnit::References => grouped(info.len),
        None => axis.unit.duration(info.len),
        Some(share) if share < 1.0 => format!("{:.0} % of {} indexed", (share * 100.0).floor(), grouped(info.len)),
        Some(_) => format!("{} so far", grouped(info.len)),
    };
    pen.text(pos2(bars.right(), y), Align2::RIGHT_TOP, &end, Weight::Regular, SMALL, palette::TEXT_QUIET);
    let last = bars.right() - pen.width(&end, Weight::Regular, SMALL);
    numbers(pen, bars, info, y, [if with_notes { f32::MAX } else { edge }, last]);
    if with_notes {
        // Where there is no legend to say it.
        let room = bars.right() - pen.width(&end, Weight::Regular, SMALL) - 28.0 * t - edge;
        // Whole notes, those that there is room for; of the first one as much as there is.
        let said = notes(info).into_iter().fold(String::new(), |said, note| {
            let more = if said.is_empty() { note } else { format!("{said}  ·  {note}") };
            if said.is_empty() || pen.width(&more, Weight::Regular, SMALL) <= room { more } else { said }
        });
        pen.fitted(pos2(edge + 14.0 * t, y), &said, room, Weight::Regular, SMALL, palette::TEXT_QUIET);
    }
}

/// Says under a strip what it tells, each part in its colour; gives where the words end.
fn words(pen: &Pen<'_>, strip: &Strip, info: &Info, at: Pos2) -> f32 {
    let gap = 6.0 * pen.t;
    let quiet = |at, words: &str| pen.text(at, Align2::LEFT_TOP, words, Weight::Regular, SMALL, palette::TEXT_QUIET);
    let named = |edge: f32, words: &str, ink| {
        pen.text(pos2(edge + gap, at.y), Align2::LEFT_TOP, words, Weight::Medium, SMALL, ink)
    };
    match strip.kind {
        StripKind::Served => {
            // Whose misses, and who served them.
            let mut edge = quiet(at, &format!("{} misses served by", info.innermost));
            let servers = info.rings.iter().skip(1).map(String::as_str).chain(["memory"]);
            for (server, ring) in servers.zip(1..) {
                edge = named(edge, server, palette::served(ring, info.rings.len()));
            }
            edge
        }
        StripKind::Level(number) => {
            let ring = info.rings.get(usize::from(number) - 1);
            match ring {
                Some(ring) => named(at.x - gap, &format!("{ring} misses"), palette::words(palette::MISS)),
                None => quiet(at, &format!("there is no level {number}")),
            }
        }
        StripKind::Classes if (0..strip.len()).all(|n| strip.column(n).iter().all(|part| *part == 0.0)) => {
            quiet(at, &format!("classes of {} misses: none known here", info.innermost))
        }
        StripKind::Classes => {
            let mut edge = quiet(at, &format!("{} misses:", info.innermost));
            let occurs =
                |class: usize| (0..strip.len()).any(|n| strip.column(n).get(class).is_some_and(|part| *part > 0.0));
            for (class, ink) in palette::CLASSES.into_iter().enumerate().filter(|(class, _)| occurs(*class)) {
                edge = named(edge, CLASSES[class], palette::words(ink));
            }
            edge
        }
        StripKind::InFlight => quiet(
            at,
            &format!(
                "under way at all locations together, {} at once at most",
                grouped(to_count(strip.most.round()).into())
            ),
        ),
        StripKind::Temperature => {
            let edge = quiet(at, &format!("temperature of {}:", info.rings.join(", ")));
            let edge = named(edge, "cold", palette::words(palette::COLD));
            named(edge, "warm", palette::words(palette::WARM))
        }
    }
}

/// Numbers of references under the strip, at round distances, where nothing else is written.
fn numbers(pen: &Pen<'_>, bars: Rect, info: &Info, y: f32, [from, to]: [f32; 2]) {
    let (axis, shown) = (info.axis, info.stretch.ticks(info.axis));
    let Some(step) = round_step(shown.end.saturating_sub(shown.start), bars.width() / (120.0 * pen.t)) else { return };
    let place = |at| bars.left() + bars.width() * to_f32(info.stretch.place(axis, Position::at(at)).clamp(0.0, 1.0));
    let mut at = shown.start.div_ceil(step).saturating_mul(step);
    while at < shown.end {
        let x = place(at);
        if at > shown.start {
            let tick = Rect::from_min_max(pos2(x - 0.5, bars.bottom() - 4.0 * pen.t), pos2(x + 0.5, bars.bottom()));
            pen.bar(tick, palette::fade(palette::LIGHT, 0.35));
            let words = axis.unit.words_like(at, step, shown.end);
            let half = 0.5 * pen.width(&words, Weight::Regular, SMALL);
            if x - half > from + 18.0 * pen.t && x + half < to - 18.0 * pen.t {
                pen.text(pos2(x, y), Align2::CENTER_TOP, &words, Weight::Regular, SMALL, palette::TEXT_QUIET);
            }
        }
        let Some(next) = at.checked_add(step) else { return };
        at = next;
    }
}

/// The least of 1, 2, 5, 10, 20 ... of which no more than `most` lie in `ticks`.
pub(super) fn round_step(ticks: u64, most: f32) -> Option<u64> {
    if ticks == 0 || most < 1.0 {
        return None;
    }
    let wanted = ticks as f64 / f64::from(most);
    let steps = (0..20).flat_map(|power| [1, 2, 5].map(|first| 10u64.checked_pow(power)?.checked_mul(first)));
    steps.flatten().find(|step| *step as f64 >= wanted)
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
    fn numbers_stand_at_round_distances() {
        for (ticks, most, step) in [(8_448, 10.0, 1_000), (8_448, 5.0, 2_000), (64, 10.0, 10), (3, 10.0, 1)] {
            assert_eq!(round_step(ticks, most), Some(step), "{ticks} in {most}");
        }
        assert_eq!((round_step(0, 9.0), round_step(9, 0.5)), (None, None));
        assert!(round_step(u64::MAX, 2.0).is_some());
    }

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
