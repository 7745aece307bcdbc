//! Draws [`Info`] with an egui painter, in pixels, by the [`Layout`].

use super::arcs::arc_names;
use super::caches::caches;
use super::closeup::closeup;
use super::fonts::Weight;
use super::info::{Info, RegionRow};
use super::labels::{Type, labels};
use super::layout::{Layout, Parts};
use super::legend::legend;
use super::minimap::minimap;
use super::pen::{BODY, Drawn, Pen, SMALL, color, heading, percent};
use super::pins::pins;
use super::strip::{Strip, draw_strip};
use crate::render::Bar;
use crate::scene::palette::{self, Rgba};
use crate::scene::{Scene, Shade};
use crate::units::grouped;
use egui::emath::Rot2;
use egui::epaint::TextShape;
use egui::{Align2, Painter, Rect, Shape, Stroke, pos2, vec2};
use std::cmp::Reverse;

/// Draws the words of all visible parts and gives what goes with them.
pub fn draw(painter: &Painter, layout: &Layout, parts: &Parts, info: &Info, scene: &Scene, strip: &Strip) -> Drawn {
    let (pen, rings) = (Pen::new(painter, layout.type_scale), &scene.rings);
    pins(&pen, layout, &scene.pinned);
    if parts.labels {
        ring_labels(&pen, layout, scene);
    }
    if parts.labels && !layout.close {
        arc_names(&pen, layout, info, rings);
    }
    if parts.labels {
        closeup(&pen, layout, info, rings);
    }
    if layout.close {
        grounds(&pen, layout, parts);
        if parts.labels {
            minimap(&pen, layout, rings);
        }
    }
    let mut y = layout.left.top();
    if parts.title {
        y = title(&pen, layout, info, y);
    }
    if layout.upright() {
        y = layout.tables.top();
    }
    if parts.regions {
        let levels = info.caches.iter().filter(|row| row.core.is_none()).count() + info.tlbs.len();
        let below = if parts.caches { 36.0 + CACHE_ROW * levels as f32 } else { 0.0 };
        y = regions(&pen, layout, info, y, below * pen.t);
    }
    if parts.caches {
        caches(&pen, layout, info, y);
    }
    let mut y = layout.right.top();
    if parts.reference {
        y = reference(&pen, layout, info, y);
    }
    let with_legend = parts.legend && !layout.upright() && (!layout.compact || info.over.is_some());
    if with_legend {
        legend(&pen, layout, info, y);
    }
    if parts.strip {
        draw_strip(&pen, layout, info, strip, layout.compact || !with_legend);
    }
    pen.into_drawn()
}

/// Draws the strip where it is no picture's own; gives what goes under its words.
pub fn strip_alone(painter: &Painter, layout: &Layout, info: &Info, strip: &Strip) -> Vec<Bar> {
    let pen = Pen::new(painter, layout.type_scale);
    draw_strip(&pen, layout, info, strip, false);
    pen.into_drawn().bars
}

/// How much darker it is under words; and points over which that ends, in so many steps.
const DARKER: f32 = 0.80;
const FEATHER: f32 = 36.0;
const STEPS: u8 = 12;

/// The steps in which a ground ends: which part of its edge each covers, and its colour.
fn feather() -> impl Iterator<Item = ([f32; 2], Rgba)> {
    let steps = f32::from(STEPS);
    (0..STEPS).map(f32::from).map(move |n| {
        let left = 1.0 - (n + 0.5) / steps;
        ([n / steps, (n + 1.0) / steps], palette::fade(palette::BACKGROUND, DARKER * left * left * (3.0 - 2.0 * left)))
    })
}

/// Darkens what lies under words, where rings reach there.
fn grounds(pen: &Pen<'_>, layout: &Layout, parts: &Parts) {
    let ground = palette::fade(palette::BACKGROUND, DARKER);
    let area = layout.area;
    let margin = layout.strip.left() - area.left();
    let body = layout.strip.top();
    let add = |shown: bool, rect: Rect| {
        if shown {
            pen.bar(rect, ground);
        }
    };
    let tables = parts.regions || parts.caches;
    let words = parts.reference || parts.legend;
    // Towards the picture the ground ends softly: a rectangle would look like a thing.
    let soft = FEATHER * pen.t;
    if layout.upright() {
        let (top, bottom) = (layout.left.bottom(), layout.tables.top() - 8.0);
        add(parts.title, Rect::from_min_max(area.min, pos2(area.right(), top)));
        add(tables || words, Rect::from_min_max(pos2(area.left(), bottom), pos2(area.right(), body)));
        for (part, faded) in feather() {
            let rows = |from: f32, to: f32| Rect::from_min_max(pos2(area.left(), from), pos2(area.right(), to));
            let [near, far] = part.map(|part| part * soft);
            for (shown, rect) in
                [(parts.title, rows(top + near, top + far)), (tables || words, rows(bottom - far, bottom - near))]
            {
                if shown {
                    pen.bar(rect, faded);
                }
            }
        }
    } else {
        let (left, right) = (layout.left.right() + 0.5 * margin, layout.right.left() - 0.5 * margin);
        add(parts.title || tables, Rect::from_min_max(area.min, pos2(left, body)));
        add(words, Rect::from_min_max(pos2(right, area.top()), pos2(area.right(), body)));
        for (part, faded) in feather() {
            let columns = |from: f32, to: f32| Rect::from_min_max(pos2(from, area.top()), pos2(to, body));
            let [near, far] = part.map(|part| part * soft);
            for (shown, rect) in
                [(parts.title || tables, columns(left + near, left + far)), (words, columns(right - far, right - near))]
            {
                if shown {
                    pen.bar(rect, faded);
                }
            }
        }
    }
    pen.bar(Rect::from_min_max(pos2(area.left(), body), area.max), ground);
}

const TITLE: f32 = 19.0;
const BIG: f32 = 21.0;

fn title(pen: &Pen<'_>, layout: &Layout, info: &Info, y: f32) -> f32 {
    let x = layout.left.left();
    let t = pen.t;
    let size = if layout.compact { 16.0 } else { TITLE };
    let width = layout.room_at_the_corner(y + 1.3 * size * t);
    pen.fitted(pos2(x, y), &info.title, width, Weight::SemiBold, size, palette::TEXT);
    if info.subtitle.is_empty() {
        return y + 44.0 * t;
    }
    let width = layout.room_at_the_corner(y + (25.0 + 1.3 * BODY) * t);
    pen.fitted(pos2(x, y + 25.0 * t), &info.subtitle, width, Weight::Regular, BODY, palette::TEXT_QUIET);
    y + if layout.compact { 54.0 } else { 66.0 } * t
}

/// Rows that fit into so many pixels, within what is usual.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between the least and the most")]
fn rows_within(pixels: f32, row: f32) -> usize {
    (pixels / row).clamp(MIN_ROWS as f32, MAX_ROWS as f32) as usize
}

/// Rows of regions, at most and at least; the rest is summed in one row, by name and number.
const MAX_ROWS: usize = 10;
const MIN_ROWS: usize = 4;
/// Height of a row of the caches' table where there is little room, points of type.
const CACHE_ROW: f32 = 31.0;

/// The table of regions; what stands in the column after it takes `below` pixels.
fn regions(pen: &Pen<'_>, layout: &Layout, info: &Info, y: f32, below: f32) -> f32 {
    let t = pen.t;
    let (x, right) = (layout.tables.left(), layout.tables.right());
    let numbers = right - 60.0 * t;
    heading(pen, x, y, "REGIONS");
    if let Some(over) = info.over.filter(|_| !layout.compact) {
        // Which references all tables are of.
        let at = pos2(x + pen.width("REGIONS", Weight::SemiBold, SMALL) + 12.0 * t, y);
        let words = format!("last {}", grouped(over));
        pen.text(at, Align2::LEFT_TOP, &words, Weight::Medium, SMALL, palette::TEXT_BODY);
    }
    let miss = format!("{} miss", info.innermost);
    pen.text(pos2(right, y), Align2::RIGHT_TOP, &miss, Weight::Regular, SMALL, palette::TEXT_QUIET);
    if !layout.compact {
        pen.text(pos2(numbers, y), Align2::RIGHT_TOP, "refs", Weight::Regular, SMALL, palette::TEXT_QUIET);
    }
    let line = if layout.compact { 19.0 } else { 23.0 } * t;
    let mut y = y + 20.0 * t;
    let room = match (layout.upright(), layout.compact) {
        (true, _) => MIN_ROWS,
        (false, true) => rows_within(layout.tables.bottom() - below - y, line),
        (false, false) => MAX_ROWS,
    };
    // Of many, those that this picture touches, the most used first; of a few each has its place.
    let mut order = info.listed();
    let mut touched = order.len();
    if info.over.is_some() && order.len() > room {
        // Who was put first stays there.
        let first = info.order.first().len().min(order.len());
        order[first..].sort_by_key(|&n| Reverse(info.regions[n].references));
        touched = info.regions.iter().filter(|region| region.references > 0).count();
    }
    let shown = if order.len() > room { touched.min(room - 1) } else { order.len() };
    let mut row = |name: &str, short: &str, c: Option<(usize, Rgba, Shade)>, references: u64, rate: Option<f64>| {
        let mut ink = palette::TEXT;
        if let Some((region, c, shade)) = c {
            let (at, size) = (pos2(x + 5.0 * t, y + 8.0 * t), 4.6 * t);
            match shade {
                Shade::Full => pen.painter.circle_filled(at, size, color(c)),
                Shade::Dim => pen.painter.circle_filled(at, size, color(palette::fade(c, 0.4))),
                Shade::Hidden => {
                    pen.painter.circle_stroke(at, size - 0.8, Stroke::new(1.2, color(palette::fade(c, 0.5))))
                }
            };
            if shade != Shade::Full || info.over.is_some() && references == 0 {
                ink = palette::TEXT_QUIET;
            }
            let area = Rect::from_min_max(pos2(x, y - 2.0 * t), pos2(right, y - 2.0 * t + line));
            pen.row(area, region);
            pen.patch(Rect { max: pos2(x + 12.0 * t, area.bottom()), ..area }, region);
        }
        let count = if layout.compact { String::new() } else { grouped(references) };
        let edge = if layout.compact { right - 42.0 * t } else { numbers - pen.width(&count, Weight::Regular, BODY) };
        let width = edge - 8.0 * t - (x + 18.0 * t);
        let name = if pen.fits(name, width, Weight::Regular, BODY) { name } else { short };
        pen.fitted(pos2(x + 18.0 * t, y), name, width, Weight::Regular, BODY, ink);
        if !layout.compact {
            pen.text(
                pos2(numbers, y),
                Align2::RIGHT_TOP,
                &grouped(references),
                Weight::Regular,
                BODY,
                palette::TEXT_BODY,
            );
        }
        pen.text(pos2(right, y), Align2::RIGHT_TOP, &percent(rate), Weight::Regular, BODY, palette::TEXT_BODY);
        y += line;
    };
    for &n in &order[..shown] {
        let RegionRow { name, short, color, shade, references, miss_rate, .. } = &info.regions[n];
        row(name, short, Some((n, *color, *shade)), *references, *miss_rate);
    }
    if shown < info.regions.len() {
        let rest: Vec<&RegionRow> = order[shown..].iter().map(|&n| &info.regions[n]).collect();
        let references: u64 = rest.iter().map(|r| r.references).sum();
        let misses: f64 = rest.iter().map(|r| r.miss_rate.unwrap_or(0.0) * r.references as f64).sum();
        let rate = (references > 0).then(|| misses / references as f64);
        let more = format!("{} more", grouped(rest.len() as u64));
        row(&more, &more, None, references, rate);
    }
    y + if layout.compact { 8.0 } else { 22.0 } * t
}

fn reference(pen: &Pen<'_>, layout: &Layout, info: &Info, y: f32) -> f32 {
    let t = pen.t;
    let (x, width) = (layout.right.left(), layout.right.width());
    heading(pen, x, y, "REFERENCE");
    let y = y + 15.0 * t;
    let size = if layout.compact { 16.0 } else { BIG };
    let edge = pen.text(pos2(x, y), Align2::LEFT_TOP, &grouped(info.tick), Weight::SemiBold, size, palette::TEXT);
    let of = format!("of {}", grouped(info.len));
    // As large as there is room for.
    let from = edge + 9.0 * t;
    let of_size = if pen.fits(&of, x + width - from, Weight::Regular, BODY) { BODY } else { SMALL };
    let at = pos2(from, y + (size - of_size) * 0.95 * t);
    pen.text(at, Align2::LEFT_TOP, &of, Weight::Regular, of_size, palette::TEXT_QUIET);
    let mut y = y + (size + 10.0) * t;
    if let Some(over) = info.over.filter(|_| layout.compact) {
        let words = format!("tables: the last {}", grouped(over));
        pen.fitted(pos2(x, y), &words, width, Weight::Regular, SMALL, palette::TEXT_QUIET);
        y += 17.0 * t;
    }
    let what = if info.now.what.is_empty() { "end of the trace" } else { &info.now.what };
    let tint = info.now.color.unwrap_or(palette::TEXT);
    pen.fitted(pos2(x, y), what, width, Weight::SemiBold, 14.5, tint);
    y += 24.0 * t;
    let lines = if layout.compact { 3 } else { 7 };
    let joined = joined(&info.now.why, lines);
    // A reason that is longer than its place goes on in a row below; what would be cut is left out.
    let mut rows: Vec<&str> = Vec::new();
    for line in joined.iter().take(lines) {
        let of_line = pen.two_rows(line, width, BODY);
        if rows.len() + of_line.len() > lines + 1 {
            break;
        }
        rows.extend(of_line);
    }
    for line in rows {
        pen.fitted(pos2(x, y), line, width, Weight::Regular, BODY, palette::TEXT_BODY);
        y += 20.0 * t;
    }
    if !info.now.code.is_empty() {
        y = (y + 8.0 * t).max(layout.right.top() + if layout.compact { 0.0 } else { 172.0 * t });
        pen.fitted(pos2(x, y), &info.now.code, width, Weight::Medium, BODY, palette::CODE);
        y += 19.0 * t;
    }
    if !info.now.location.is_empty() && y < layout.right.bottom() - 12.0 * t {
        pen.fitted(pos2(x, y), &info.now.location, width, Weight::Regular, SMALL + 0.5, palette::TEXT_QUIET);
        y += 18.0 * t;
    }
    // The block keeps its height, so that the legend under it does not jump.
    (y + 16.0 * t).max(layout.right.top() + if layout.compact { 205.0 } else { 240.0 } * t)
}

/// Sentences in so many lines: where they are more, what levels said is one line (`L1 miss, L2 miss, L3 hit`), so that the reason of a
/// miss is still told.
fn joined(why: &[String], lines: usize) -> Vec<String> {
    let plain = |line: &String| line.split_once(" (set ").map(|(said, _)| said.to_owned());
    let said: Vec<String> = why.iter().map_while(plain).collect();
    if why.len() <= lines || said.len() < 2 {
        return why.to_vec();
    }
    // Where all levels missed, the last one says what came of it.
    let last = why.get(said.len()).filter(|line| line.contains(" miss: ")).cloned();
    let rest = said.len() + usize::from(last.is_some());
    let first = said.into_iter().chain(last).collect::<Vec<_>>().join(", ");
    std::iter::once(first).chain(why[rest..].iter().cloned()).collect()
}

/// Names of levels, each with the mark of its temperature where disks show it: a disk is told without its hue, too.
fn ring_labels(pen: &Pen<'_>, layout: &Layout, scene: &Scene) {
    let rings = &scene.rings;
    let temperatures = if scene.shows_temperature { &scene.temperatures[..] } else { &[] };
    let size = (layout.viewport.line_scale * 10.5 / pen.t).clamp(8.5, 11.5);
    let galley =
        |text: &str| pen.painter.layout_no_wrap(text.into(), pen.font(Weight::Medium, size), color(palette::TEXT_BODY));
    let world = |text: &str| {
        let area = galley(text).size() + vec2(8.0 * pen.t, 0.0);
        [area.x / layout.viewport.px_per_unit, area.y / layout.viewport.px_per_unit]
    };
    // Below nine pixels letters at an angle run together.
    let set = Type {
        brief: layout.compact,
        aslant: size * pen.t >= 9.0,
        size: &world,
        marks: MARK_ROOM * pen.t / layout.viewport.px_per_unit,
    };
    for label in labels(rings, &set) {
        let galley = galley(&label.text);
        let (at, half) = (layout.at(label.at), galley.size() * 0.5);
        let area = half + vec2(4.0, 0.0) * pen.t;
        let marks = label.temperature_marks(temperatures);
        let right = area.x + MARK_ROOM * pen.t * marks.len() as f32;
        if layout.close && !layout.upright() {
            // Closer up a label may come to stand among the tables: then it is left out.
            let free = layout.left.right() + half.x..layout.right.left() - right.max(half.x);
            if !free.contains(&at.x) || at.y + half.y > layout.strip.top() {
                continue;
            }
        }
        // A patch of ground: trails pass behind the words, not through them.
        let ground = palette::fade(palette::BACKGROUND, 0.85);
        let turn = Rot2::from_angle(label.angle);
        let placed = |corner: egui::Vec2| at + turn * corner;
        if label.angle == 0.0 {
            pen.bar(Rect::from_min_max(at - area, at + vec2(right, area.y)), ground);
            pen.painter.galley(at - half, galley, color(palette::TEXT_BODY));
        } else {
            let patch = [-area, vec2(right, -area.y), vec2(right, area.y), vec2(-area.x, area.y)].map(placed);
            pen.painter.add(Shape::convex_polygon(patch.to_vec(), color(ground), Stroke::NONE));
            let text = TextShape::new(at - turn * half, galley, color(palette::TEXT_BODY)).with_angle(label.angle);
            pen.painter.add(text);
        }
        for (n, mark) in marks.into_iter().enumerate() {
            // Upright wherever the name stands: up is warm.
            let middle = placed(vec2(half.x + (4.0 + MARK_ROOM * (n as f32 + 0.4)) * pen.t, 0.0));
            let mark = mark.map(|corner| middle + corner * 0.8 * MARK_ROOM * pen.t);
            pen.painter.add(Shape::convex_polygon(mark.to_vec(), color(palette::TEXT_BODY), Stroke::NONE));
        }
    }
    if !layout.compact {
        // Beside the disc, or below it where TLBs stand beside it.
        let (at, anchor) = if rings.composition.is_large() {
            ([0.0, 0.0], Align2::CENTER_CENTER)
        } else if rings.racks.is_empty() {
            ([rings.cpu + 0.012, 0.0], Align2::LEFT_CENTER)
        } else {
            ([0.0, rings.cpu + 0.004], Align2::CENTER_TOP)
        };
        pen.text(layout.at(at), anchor, "CPU", Weight::Medium, 10.0, palette::TEXT_BODY);
    }
}

/// Room for the mark of a temperature, points of type.
const MARK_ROOM: f32 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_lines_are_few_levels_share_one_and_the_reason_is_told() {
        let lines = |text: &str| text.split('|').map(str::to_owned).collect::<Vec<_>>();
        let three = lines("L1 miss (set 7)|L2 miss (set 7)|L3 hit (set 1)|conflict: L2 has 2 ways, too few");
        assert_eq!(joined(&three, 7), three);
        assert_eq!(joined(&three, 3), lines("L1 miss, L2 miss, L3 hit|conflict: L2 has 2 ways, too few"));
        let memory = lines("L1 miss (set 7)|L2 miss (set 7)|L3 miss: from memory|capacity: L3 has 64 lines, too few");
        assert_eq!(
            joined(&memory, 3),
            lines("L1 miss, L2 miss, L3 miss: from memory|capacity: L3 has 64 lines, too few")
        );
        let one = lines("L1 miss (set 7)|covers 2 lines, 1 missed|conflict: L2 has 2 ways, too few|L1 loses A[0]");
        assert_eq!(joined(&one, 3), one, "a level alone");
    }
}
