//! Who asks whom: kinds of components from the left, which nobody asks, to the right, where memory is; in each box a cell for each
//! component, lighter the more it holds; on each way how many requests are received in a unit of time, just before the playhead.

use super::super::sheet::{SMALL, Sheet};
use super::overview::short;
use super::scope::{Scope, ems};
use crate::axis::AxisUnit;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::Target;
use crate::overlay::plane::{Line, Words};
use crate::scene::palette;
use crate::tasks::{Kind, Traffic};
use crate::units::{grouped, to_count, to_f32};
use egui::{Align2, Pos2, Rect, pos2};
use std::collections::BTreeMap;

/// Ems of width of a box, at most and at least, and between two below each other.
const BOX: [f32; 2] = [11.5, 6.0];
const BETWEEN: f32 = 1.3;
/// What of the room of a column its boxes take.
const SHARE: f32 = 0.56;
/// Ems of a cell, at most and at least.
const CELL: [f32; 2] = [1.3, 0.35];
/// Of what the strip shows, the part over which requests are counted.
const WINDOW: u64 = 100;
/// Kinds that have boxes, at most.
const MOST: usize = 60;
/// Widths of ways, pixels of type of 10: with next to nothing, and with as much as the busiest.
const WAY: [f32; 2] = [0.8, 6.0];
/// Straight pieces of a way.
const PIECES: u8 = 24;

/// Draws it in an area.
pub(super) fn draw(sheet: &mut Sheet, scope: &Scope<'_>, area: Rect) {
    let em = scope.em;
    let set = scope.book.set();
    let traffic = scope.book.traffic();
    if traffic.links.is_empty() || traffic.kinds.len() > MOST {
        let words = match traffic.links.is_empty() {
            true => "no component asks another: nobody asks anybody".to_owned(),
            false => format!("{} kinds of components are too many for one picture", traffic.kinds.len()),
        };
        sheet.notice(&[&words], 1.8);
        return;
    }
    let axis_end = set.span().1;
    let tick = scope.axis.clamp(scope.shot.position).tick().min(axis_end);
    let window = ((scope.ticks.end - scope.ticks.start) / WINDOW).max(1);
    // At the beginning there is less before the playhead.
    let window = window.min(tick.max(1));
    let from = tick.saturating_sub(window);
    let held = traffic.held(set, tick);
    let received = traffic.received(set, from..tick.max(1));
    let head = format!("requests received in the {} before the playhead", scope.duration(window));
    sheet.left(area.min, "TOPOLOGY", Weight::SemiBold, SMALL, palette::TEXT_QUIET, f32::INFINITY);
    let x = area.left() + 6.6 * em;
    sheet.left(pos2(x, area.top() - 0.08 * em), &head, Weight::Regular, 0.95, palette::TEXT_BODY, area.right() - x);
    let body = Rect { min: pos2(area.left(), area.top() + 2.2 * em), ..area };
    let boxes = boxes(traffic, em, body);
    let mut ways: BTreeMap<(usize, usize), u64> =
        traffic.links.iter().map(|link| ((kind(traffic, link.from), kind(traffic, link.to)), 0)).collect();
    for ((from, to), count) in received {
        *ways.entry((kind(traffic, from), kind(traffic, to))).or_default() += count;
    }
    let most = ways.values().copied().max().unwrap_or(0).max(1);
    let mut labels = Vec::new();
    let rate = |count: u64| count as f64 / set.seconds(window);
    // One unit for all, in which the quietest way has a number that is read.
    let unit =
        unit(set.unit(), ways.values().copied().filter(|&count| count > 0).map(rate).fold(f64::INFINITY, f64::min));
    for (&(from, to), &count) in &ways {
        let share = to_f32(count as f64 / most as f64).sqrt();
        let busy = count > 0;
        let points = way(boxes[from], boxes[to], em);
        let ink = if busy { palette::mix(palette::GUIDE, palette::served(1, 3), share) } else { palette::GUIDE };
        let color = palette::fade(ink, if busy { 0.40 + 0.45 * share } else { 0.14 });
        let width = (WAY[0] + (WAY[1] - WAY[0]) * share) * em / 10.0;
        if busy {
            let words = format!("{}{}", short(rate(count) / unit.0), unit.1);
            labels.push((beside(&points, &words, em), words));
        }
        sheet.plane.lines.push(Line { points, width: width.max(0.8), color });
    }
    for (at, words) in labels {
        sheet.text(Words {
            at: pos2(at.x, at.y - 0.6 * em),
            anchor: Align2::CENTER_TOP,
            text: words,
            weight: Weight::Medium,
            size: 0.86,
            color: palette::TEXT,
            width: f32::INFINITY,
        });
    }
    for (kind, &area) in traffic.kinds.iter().zip(&boxes) {
        component_box(sheet, scope, (traffic, &held), kind, area);
    }
}

/// A unit of rates, and its name: that in which `least` is 1 or more.
fn unit(axis: AxisUnit, least: f64) -> (f64, &'static str) {
    match axis {
        AxisUnit::Seconds { .. } => {
            let rows = [(1e9, " /ns"), (1e6, " /µs"), (1e3, " /ms")];
            rows.into_iter().find(|(scale, _)| least.is_finite() && least >= *scale).unwrap_or((1.0, " /s"))
        }
        _ => (1.0, ""),
    }
}

/// Where words stand beside the middle of a way: above one that runs across, right of one that runs down.
fn beside(points: &[Pos2], words: &str, em: f32) -> Pos2 {
    let middle = usize::from(PIECES) / 2;
    let (at, along) = (points[middle], points[middle + 1] - points[middle - 1]);
    match along.y.abs() > 0.5 * along.x.abs() {
        true => pos2(at.x + (0.43 * ems(words) + 0.55) * em, at.y),
        false => pos2(at.x, at.y - 1.1 * em),
    }
}

fn kind(traffic: &Traffic, component: u32) -> usize {
    traffic.component(component).kind
}

/// A box for each kind, by number.
fn boxes(traffic: &Traffic, em: f32, body: Rect) -> Vec<Rect> {
    let last = traffic.kinds.iter().map(|kind| kind.depth).max().unwrap_or(0);
    let mut columns: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (n, kind) in traffic.kinds.iter().enumerate() {
        let depth = if kind.is_last { last } else { kind.depth };
        columns.entry(depth).or_default().push(n);
    }
    let mut out = vec![Rect::NOTHING; traffic.kinds.len()];
    let pitch = body.width() / columns.len().max(1) as f32;
    let width = (SHARE * pitch).clamp(BOX[1] * em, BOX[0] * em).min(0.9 * pitch);
    // In the middle of their columns, the first and the last at the edges.
    let spare = if columns.len() > 1 { (body.width() - width) / (columns.len() - 1) as f32 } else { 0.0 };
    for (at, kinds) in columns.values().enumerate() {
        let wanted = |kind: &Kind| {
            let cells = kind.components.len();
            let across = (((width / em) - 1.0) / CELL[0]).floor().max(1.0);
            (2.6 + CELL[0] * (cells as f32 / across).ceil().max(1.0)).min(9.0)
        };
        let heights: Vec<f32> = kinds.iter().map(|&kind| wanted(&traffic.kinds[kind])).collect();
        let all = heights.iter().sum::<f32>() + BETWEEN * (kinds.len() - 1) as f32;
        let scale = (body.height() / em / all).min(1.0);
        let free = (body.height() / em - all * scale) / (kinds.len() + 1) as f32;
        let mut y = body.top() + free * em;
        let x = body.left() + spare * at as f32;
        for (&kind, height) in kinds.iter().zip(heights) {
            let height = height * scale * em;
            out[kind] = Rect::from_min_size(pos2(x, y), egui::vec2(width, height));
            y += height + (BETWEEN * scale + free) * em;
        }
    }
    out
}

/// From the side of one box to the side of another, as a smooth curve.
fn way(from: Rect, to: Rect, em: f32) -> Vec<Pos2> {
    let (start, end) = if to.left() >= from.right() {
        (pos2(from.right(), from.center().y), pos2(to.left(), to.center().y))
    } else if to.right() <= from.left() {
        (pos2(from.left(), from.center().y), pos2(to.right(), to.center().y))
    } else {
        // One above the other.
        (pos2(from.right(), from.center().y), pos2(to.right(), to.center().y))
    };
    let bend = if (start.x - end.x).abs() < em { 3.0 * em } else { 0.5 * (end.x - start.x) };
    let [a, b] = [pos2(start.x + bend, start.y), pos2(end.x - if bend == 3.0 * em { -bend } else { bend }, end.y)];
    let at = |share: f32| {
        let (u, v) = (1.0 - share, share);
        let [p, q, r, s] = [u * u * u, 3.0 * u * u * v, 3.0 * u * v * v, v * v * v];
        pos2(p * start.x + q * a.x + r * b.x + s * end.x, p * start.y + q * a.y + r * b.y + s * end.y)
    };
    (0..=PIECES).map(|n| at(f32::from(n) / f32::from(PIECES))).collect()
}

/// A kind: its name, and a cell for each of its components.
fn component_box(sheet: &mut Sheet, scope: &Scope<'_>, (traffic, held): (&Traffic, &[u32]), kind: &Kind, area: Rect) {
    let em = scope.em;
    sheet.bar(area, palette::mix(palette::BACKGROUND, palette::TRACK, 0.9));
    let members = kind.components.clone();
    let name = match members.len() {
        1 => kind.name.clone(),
        many => format!("{} ×{many}", kind.name),
    };
    let sum: u64 = members.clone().map(|component| u64::from(held[component as usize])).sum();
    let inside = area.shrink(0.5 * em);
    let said = format!("{} now", grouped(sum));
    let beside = inside.width() > (ems(&name) + 0.86 * ems(&said) + 1.0) * em;
    sheet.left(inside.min, &name, Weight::Medium, 0.95, palette::TEXT, inside.width());
    if beside {
        sheet.right(pos2(inside.right(), inside.top() + 0.1 * em), &said, 0.82, palette::TEXT_QUIET);
    }
    let room = Rect { min: pos2(inside.left(), inside.top() + 1.6 * em), ..inside };
    let count = members.len() as f32;
    let side = (room.width() * room.height().max(1.0) / count).sqrt().clamp(CELL[1] * em, CELL[0] * em);
    let across = (room.width() / side).floor().max(1.0);
    let side = side.min(room.width() / across).min(room.height() / (count / across).ceil()).max(1.5);
    let across = to_count((room.width() / side).floor()).max(1);
    for (n, component) in (0u32..).zip(members) {
        let at = room.min + egui::vec2((n % across) as f32, (n / across) as f32) * side;
        let cell = Rect::from_min_size(at, egui::Vec2::splat(side - (0.12 * side).clamp(0.5, 2.0)));
        if cell.bottom() > area.bottom() {
            break;
        }
        let share = held[component as usize] as f32 / kind.most.max(1) as f32;
        let location = traffic.component(component).location;
        sheet.bar(
            cell,
            palette::mix(palette::mix(palette::TRACK, palette::NEUTRAL, 0.25), palette::served(1, 3), share),
        );
        if scope.look.location == Some(location) {
            super::scope::outline(sheet, cell, palette::LIGHT);
        }
        sheet.plane.rows.push((cell, Target::Location(location)));
    }
}
