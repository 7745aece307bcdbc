//! The legend: a row for each mark that the picture at hand can show, and what it stands for, joins or leaves out.

use super::fonts::Weight;
use super::info::{Info, notes};
use super::labels::temperature_mark;
use super::layout::Layout;
use super::pen::{BODY, Pen, SMALL, color, heading};
use crate::scene::palette::{self, Rgba};
use egui::{Pos2, Rect, Shape, Stroke, pos2, vec2};

/// What a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Line(Rgba),
    Ghost,
    Rim,
    Hollow,
    Page,
    Flash,
    Burst,
    Patch,
    Disks,
    /// Who served, one after the other: as many rings, and memory.
    Served(usize),
    Bar,
    Spike,
    Arc,
}

/// The rows for a picture: marks that it cannot have are left out.
fn rows(info: &Info) -> Vec<(Mark, &'static str)> {
    let paths = info.tail > 1;
    // Of the large picture, which has sums beside single moves, or in their place.
    let (sums, moves) = (info.over.is_some(), !info.summed);
    let all = [
        (sums, Mark::Served(info.rings.len()), "served by L1, farther, memory"),
        (sums, Mark::Bar, "bar: references here, by server"),
        (sums, Mark::Spike, "spike: sets that miss most"),
        (info.summed, Mark::Line(palette::MISS), "beam: lines come in, by server"),
        (info.summed, Mark::Arc, "arc: lines are pushed out"),
        (moves, Mark::Line(palette::MISS), "miss: flies in"),
        (moves, Mark::Line(palette::EVICT), "eviction: drifts out"),
        (moves, Mark::Line(palette::HIT), "hit: slides to the head"),
        (paths && moves, Mark::Line(palette::GUIDE), "ages: one slot on"),
        (!moves, Mark::Flash, "flash: its line missed just now"),
        (moves, Mark::Burst, "flash in a ring: missed just now"),
        (true, Mark::Ghost, "ghost: a copy is elsewhere"),
        (true, Mark::Rim, "rim: newer than memory"),
        (info.prefetches, Mark::Hollow, "hollow: prefetched, not used yet"),
        (info.pages, Mark::Page, "bar: a page, its entry in a TLB"),
        (info.patches, Mark::Patch, "patch: lines of a large cache"),
        (info.disks, Mark::Disks, "disk: level is cold, idle, warm"),
    ];
    all.into_iter().filter(|(shown, ..)| *shown).map(|(_, mark, words)| (mark, words)).collect()
}

/// Distance between rows where there is room, and at least, points of type.
const PITCH: [f32; 2] = [21.0, 16.0];

pub(super) fn legend(pen: &Pen<'_>, layout: &Layout, info: &Info, y: f32) {
    let t = pen.t;
    let (x, last) = (layout.right.left(), layout.right.bottom() - 12.0 * t);
    heading(pen, x, y, "LEGEND");
    let mut y = y + 20.0 * t;
    let width = layout.right.width();
    let (mut rows, mut notes) = (rows(info), notes(info));
    if layout.compact {
        // What only the large picture has; the strip has the notes.
        rows.truncate(FEW);
        for (mark, words) in &mut rows {
            *words = match mark {
                Mark::Served(_) => "L1, farther, memory",
                Mark::Bar => "bar: references here",
                Mark::Line(c) if info.summed && *c == palette::MISS => "beam: lines come in",
                _ => *words,
            };
        }
        notes.clear();
    }
    let notes: Vec<String> = notes.iter().flat_map(|line| wrapped(pen, line, width)).collect();
    let [most, least] = PITCH.map(|pitch| pitch * t);
    let room = last - y - 8.0 * t - 18.0 * t * notes.len() as f32;
    let pitch = (room / rows.len() as f32).clamp(least, most);
    for (mark, words) in rows {
        if y + pitch > last {
            break;
        }
        draw(pen, pos2(x + 11.0 * t, y + 8.0 * t), mark);
        let size = if layout.compact { SMALL } else { BODY };
        pen.fitted(pos2(x + 32.0 * t, y), words, width - 32.0 * t, Weight::Regular, size, palette::TEXT_BODY);
        y += pitch;
    }
    y += 8.0 * t;
    for line in notes {
        if y < last {
            pen.fitted(pos2(x, y), &line, width, Weight::Regular, SMALL + 0.5, palette::TEXT_QUIET);
            y += 18.0 * t;
        }
    }
}

/// Rows in a picture that has little room.
const FEW: usize = 5;

/// A note on as many lines as it needs.
fn wrapped(pen: &Pen<'_>, note: &str, width: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in note.split(' ') {
        match lines.last_mut() {
            Some(line) if pen.fits(&format!("{line} {word}"), width, Weight::Regular, SMALL + 0.5) => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A mark as the picture has it, round a point.
fn draw(pen: &Pen<'_>, center: Pos2, mark: Mark) {
    // Of no region's colour: a mark is that of all of them.
    let (t, painter, sample) = (pen.t, pen.painter, palette::TEXT_BODY);
    let dot = |c: Rgba| painter.circle_filled(center, 3.8 * t, color(c));
    let ring = |r: f32, width: f32, c: Rgba| painter.circle_stroke(center, r * t, Stroke::new(width * t, color(c)));
    match mark {
        Mark::Line(c) => {
            let half = vec2(11.0 * t, 0.0);
            painter.line_segment([center - half, center + half], Stroke::new(2.0 * t, color(c)));
        }
        Mark::Ghost => {
            dot(palette::fade(sample, 0.26));
        }
        Mark::Rim => {
            dot(sample);
            ring(5.2, 1.2, palette::fade(palette::DIRTY, 0.6));
        }
        Mark::Hollow => {
            ring(3.8, 1.6, sample);
        }
        Mark::Page => {
            painter.rect_filled(Rect::from_center_size(center, vec2(8.0, 4.0) * t), 0.0, color(sample));
        }
        Mark::Flash => {
            painter.circle_filled(center, 7.5 * t, color(palette::fade(palette::FLASH, 0.22)));
            dot(palette::mix(sample, palette::FLASH, 0.75));
        }
        Mark::Burst => {
            dot(palette::mix(sample, palette::FLASH, 0.75));
            ring(7.0, 1.2, palette::fade(palette::BURST, 0.8));
        }
        Mark::Patch => {
            for n in [-1.0, 0.0, 1.0] {
                let area = Rect::from_center_size(center + vec2(5.5 * n * t, 0.0), vec2(5.0, 9.0) * t);
                painter.rect_filled(area, 0.0, color(palette::fade(sample, 0.34 - 0.12 * n)));
            }
        }
        Mark::Served(rings) => {
            let wide = 22.0 / (rings + 1) as f32;
            for ring in 0..=rings {
                let at = center + vec2((ring as f32 + 0.5) * wide - 11.0, 0.0) * t;
                let area = Rect::from_center_size(at, vec2(wide - 0.8, 8.0) * t);
                painter.rect_filled(area, 0.0, color(palette::served(ring, rings)));
            }
        }
        Mark::Bar => {
            for (n, [high, far]) in [[9.0, 3.0], [6.0, 4.0], [8.0, 2.0]].into_iter().enumerate() {
                let foot = center + vec2(5.5 * (n as f32 - 1.0), 4.5) * t;
                let ink = if n == 1 { 0.5 } else { 0.92 };
                let column =
                    |from: f32, to: f32| Rect::from_min_max(foot + vec2(-1.8, -to) * t, foot + vec2(1.8, -from) * t);
                painter.rect_filled(column(0.0, high - far), 0.0, color(palette::fade(sample, ink)));
                painter.rect_filled(column(high - far, high), 0.0, color(palette::fade(palette::served(2, 3), ink)));
            }
        }
        Mark::Spike => {
            let foot = Rect::from_center_size(center + vec2(0.0, 3.5 * t), vec2(20.0, 2.0) * t);
            painter.rect_filled(foot, 0.0, color(palette::fade(palette::MISS, 0.35)));
            let spike = Rect::from_min_max(center + vec2(-3.0, -4.5) * t, center + vec2(3.0, 4.5) * t);
            painter.rect_filled(spike, 0.0, color(palette::fade(palette::MISS, 0.9)));
        }
        Mark::Arc => {
            let half = vec2(11.0 * t, 0.0);
            painter.line_segment([center - half, center + half], Stroke::new(4.0 * t, color(palette::EVICT)));
        }
        Mark::Disks => {
            for (n, temperature) in [-1.0, 0.0, 1.0].into_iter().enumerate() {
                // On the ground as in the picture, but twice as strong: they are small here.
                let [r, g, b, a] = palette::temperature(temperature);
                let at = center + vec2(8.0 * (n as f32 - 1.0) * t, 0.0);
                painter.circle_filled(at, 4.2 * t, color([r, g, b, a.saturating_mul(2)]));
                // As beside the names of levels.
                if let Some(mark) = temperature_mark(temperature) {
                    let mark = mark.map(|corner| at + corner * 4.6 * t);
                    painter.add(Shape::convex_polygon(mark.to_vec(), color(palette::TEXT_BODY), Stroke::NONE));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mark_that_a_picture_can_show_has_a_row_and_no_other_has() {
        let none = rows(&Info::default());
        let all =
            rows(&Info { prefetches: true, pages: true, disks: true, patches: true, tail: 64, ..Info::default() });
        let has = |rows: &[(Mark, &str)], mark: Mark| rows.iter().any(|(m, _)| *m == mark);
        for mark in [Mark::Hollow, Mark::Page, Mark::Disks, Mark::Patch, Mark::Line(palette::GUIDE)] {
            assert!(has(&all, mark) && !has(&none, mark), "{mark:?}");
        }
        let summed = rows(&Info { summed: true, ..Info::default() });
        assert!(has(&summed, Mark::Flash) && !has(&summed, Mark::Burst), "one row for one thing");
        for mark in [Mark::Ghost, Mark::Rim, Mark::Burst, Mark::Line(palette::HIT)] {
            assert!(has(&all, mark) && has(&none, mark), "{mark:?}");
        }
    }
}
