//! The table of caches: a row a level; where a level has a cache for each core and there is room, a row for each of these.

use super::fonts::Weight;
use super::info::{CacheRow, Info};
use super::layout::Layout;
use super::pen::{BODY, Pen, SMALL, heading, percent};
use crate::scene::palette;
use crate::units::{grouped, to_count};
use egui::{Align2, Rect, pos2, vec2};

/// Least distance between rows, points of type.
const LEAST: f32 = 23.0;

pub(super) fn caches(pen: &Pen<'_>, layout: &Layout, info: &Info, y: f32) {
    let t = pen.t;
    // In an upright picture the caches stand beside the regions if there is room, else below.
    let (x, right) = (layout.tables.left(), layout.tables.right());
    let numbers = right - 60.0 * t;
    heading(pen, x, y, "CACHES");
    pen.text(pos2(right, y), Align2::RIGHT_TOP, "miss rate", Weight::Regular, SMALL, palette::TEXT_QUIET);
    if !layout.compact {
        pen.text(pos2(numbers, y), Align2::RIGHT_TOP, "misses", Weight::Regular, SMALL, palette::TEXT_QUIET);
    }
    // Which caches these are, between the heading and the columns'.
    let from = x + pen.width("CACHES", Weight::SemiBold, SMALL) + 16.0 * t;
    let to = if layout.compact { right - 52.0 * t } else { numbers - 44.0 * t };
    pen.fitted(pos2(from, y), &info.caches_name, to - from, Weight::Medium, SMALL, palette::TEXT_BODY);
    pen.caches(Rect::from_min_max(pos2(x - 4.0 * t, y - 2.0 * t), pos2(to, y + 16.0 * t)));
    let mut y = y + 20.0 * t;
    let last = layout.tables.bottom();
    // A row each, and one for page walks.
    let tlbs = if info.tlbs.is_empty() { 0 } else { info.tlbs.len() + 1 };
    let rows = chosen(&info.caches, fitting((last - y) / t).saturating_sub(tlbs));
    let pitch = if layout.compact || rows.len() + tlbs > 4 { 31.0 } else { 44.0 } * t;
    // Rows move together before one is left out; one that is left out is counted.
    let pitch = pitch.min((last - y - LEAST * t * tlbs as f32) / rows.len().max(1) as f32).max(LEAST * t);
    let shown = (1..=rows.len()).rev().find(|&n| y + pitch * n as f32 <= last + 1.0).unwrap_or(0);
    for (n, row) in rows.iter().map(|&row| &info.caches[row]).enumerate() {
        if n + 1 >= shown.max(1) && shown < rows.len() {
            let more = format!("{} more", rows.len() - n);
            pen.text(pos2(x, y), Align2::LEFT_TOP, &more, Weight::Regular, BODY, palette::TEXT_QUIET);
            return;
        }
        let (indent, weight) = if row.core.is_some() { (12.0 * t, Weight::Regular) } else { (0.0, Weight::SemiBold) };
        words(pen, layout, pos2(x + indent, y), weight, [&row.name, &row.shape], row.misses, row.miss_rate());
        let bar = Rect::from_min_max(pos2(x + indent, y + 20.0 * t), pos2(right, y + 23.0 * t));
        temperature_bar(pen, bar, row.temperature);
        y += pitch;
    }
    if !layout.compact && y < last && (tlbs == 0 || pitch > 43.0 * t) {
        let y = y - pitch + 27.0 * t;
        pen.text(pos2(x, y), Align2::LEFT_TOP, "cold", Weight::Regular, SMALL, palette::TEXT_QUIET);
        pen.text(pos2(right, y), Align2::RIGHT_TOP, "warm", Weight::Regular, SMALL, palette::TEXT_QUIET);
    }
    if tlbs > 0 {
        tlb_rows(pen, layout, info, y);
    }
}

/// Name, shape, misses and miss rate of one row.
fn words(
    pen: &Pen<'_>,
    layout: &Layout,
    at: egui::Pos2,
    weight: Weight,
    [name, shape]: [&str; 2],
    misses: u64,
    miss_rate: Option<f64>,
) {
    let (t, right) = (pen.t, layout.tables.right());
    let numbers = right - 60.0 * t;
    let edge = pen.text(at, Align2::LEFT_TOP, name, weight, BODY, palette::TEXT);
    let misses = if layout.compact { String::new() } else { grouped(misses) };
    let left = if layout.compact { right - 42.0 * t } else { numbers - pen.width(&misses, Weight::Regular, BODY) };
    let from = pos2(edge + 7.0 * t, at.y + 1.5 * t);
    // The size alone where there is no room for more: the ring's label has sets and ways.
    let room = left - 6.0 * t - from.x;
    let fits = pen.width(shape, Weight::Regular, SMALL + 0.5) <= room;
    let shape = shape.split_once(", ").map_or(shape, |(size, _)| if fits { shape } else { size });
    pen.fitted(from, shape, room, Weight::Regular, SMALL + 0.5, palette::TEXT_QUIET);
    if !layout.compact {
        pen.text(pos2(numbers, at.y), Align2::RIGHT_TOP, &misses, Weight::Regular, BODY, palette::TEXT_BODY);
    }
    pen.text(pos2(right, at.y), Align2::RIGHT_TOP, &percent(miss_rate), Weight::Medium, BODY, palette::TEXT);
}

/// A row for each TLB and one for page walks, from `y` on, as many as there is room for; the walks are told last but
/// left out last.
fn tlb_rows(pen: &Pen<'_>, layout: &Layout, info: &Info, y: f32) {
    let (t, x, right) = (pen.t, layout.tables.left(), layout.tables.right());
    let room = to_count(((layout.tables.bottom() + 1.0 - y) / (LEAST * t)).floor()) as usize;
    let shown = room.saturating_sub(1).min(info.tlbs.len());
    let mut y = y;
    for row in &info.tlbs[..shown] {
        // Names of TLBs can be long: a shape of which nothing but an ellipsis would be left is left out.
        let room = right - 110.0 * t - x - pen.width(&row.name, Weight::SemiBold, BODY);
        let shape = if layout.compact || room > 0.0 { row.shape.as_str() } else { "" };
        words(pen, layout, pos2(x, y), Weight::SemiBold, [&row.name, shape], row.misses, row.miss_rate());
        y += LEAST * t;
    }
    if room > 0 {
        pen.text(pos2(x, y), Align2::LEFT_TOP, "page walks", Weight::Regular, BODY, palette::TEXT_BODY);
        let walks = grouped(info.walks);
        pen.text(pos2(right, y), Align2::RIGHT_TOP, &walks, Weight::Regular, BODY, palette::TEXT_BODY);
    }
}

/// From the middle to the left = cold, to the right = warm.
fn temperature_bar(pen: &Pen<'_>, bar: Rect, temperature: f32) {
    pen.bar(bar, palette::TRACK);
    let middle = bar.center().x;
    let end = middle + 0.5 * bar.width() * temperature.clamp(-1.0, 1.0);
    let fill = Rect::from_min_max(pos2(middle.min(end), bar.top()), pos2(middle.max(end), bar.bottom()));
    pen.bar(fill, if temperature < 0.0 { palette::COLD } else { palette::WARM });
    let tick = Rect::from_center_size(bar.center(), vec2(1.2 * pen.t, bar.height() + 3.0 * pen.t));
    pen.bar(tick, palette::TEXT_QUIET);
}

/// Rows of the least distance that fit into `height`, points of type.
fn fitting(height: f32) -> usize {
    to_count((height + 1.0) / LEAST - 1.0) as usize
}

/// The rows to show: each level's, and from the inside those of its cores as long as all of a level's fit into `room`.
fn chosen(rows: &[CacheRow], room: usize) -> Vec<usize> {
    let mut left = room.saturating_sub(rows.iter().filter(|row| row.core.is_none()).count());
    let mut out = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        out.push(at);
        let cores = rows[at + 1..].iter().take_while(|row| row.core.is_some()).count();
        if cores <= left {
            out.extend(at + 1..=at + cores);
            left -= cores;
        }
        at += 1 + cores;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels of so many cores, 1 = shared.
    fn rows(cores: &[u16]) -> Vec<CacheRow> {
        let row = |core| CacheRow {
            misses: 0,
            name: String::new(),
            shape: String::new(),
            hits: 0,
            hit_rate: None,
            temperature: 0.0,
            core,
        };
        let of_level = |&n: &u16| std::iter::once(None).chain((0..if n > 1 { n } else { 0 }).map(Some)).map(row);
        cores.iter().flat_map(of_level).collect()
    }

    #[test]
    fn cores_have_rows_of_their_own_where_all_of_a_level_fit() {
        assert_eq!(chosen(&rows(&[1, 1, 1]), 8), [0, 1, 2]);
        assert_eq!(chosen(&rows(&[2, 2, 1]), 7), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(chosen(&rows(&[2, 2, 1]), 6), [0, 1, 2, 3, 6], "the inner level's first");
        assert_eq!(chosen(&rows(&[4, 2, 1]), 5), [0, 5, 6, 7, 8], "a level that fits, past one that does not");
        assert_eq!(chosen(&rows(&[4, 2, 1]), 4), [0, 5, 8]);
        assert_eq!(chosen(&rows(&[4, 2, 1]), 0), [0, 5, 8], "levels are never left out here");
        assert_eq!((fitting(230.0), fitting(22.5), fitting(0.0), fitting(-9.0)), (10, 1, 0, 0));
    }
}
