//! Beside a graph: states, loops and statements in the order of control, what each moves, and the whole graph once more, small.

use super::laid::{LaidGraph, area};
use super::parameters::Parameters;
use crate::analysis::{Fold, Folding, GraphPart, size_in_words, state_name, states};
use crate::nest::{Item, Volumes};
use crate::overlay::chart_plane::Place;
use crate::overlay::exhibits::sheet::{SMALL, Sheet, whole};
use crate::overlay::fonts::Weight;
use crate::overlay::info::Info;
use crate::overlay::pen::Target;
use crate::scene::Camera;
use crate::scene::palette;
use crate::units::{counted, to_f32};
use egui::{Rect, Vec2, pos2, vec2};

/// Ems from row to row.
const PITCH: f32 = 1.45;
/// Ems by which a row is farther right than what it is in.
const INSET: f32 = 0.9;
/// Before the name of a part that is folded, and of one that is not: signs that the typeface has.
pub(super) const SIGNS: [&str; 2] = ["+", "−"];

/// A row: how deep it is, what it says, what it moves, the part that a press folds, the items that it tells of, its first statement.
pub(super) struct Row {
    depth: f32,
    words: String,
    bytes: Option<u64>,
    part: Option<GraphPart>,
    items: std::ops::Range<usize>,
    first: Option<usize>,
}

/// Fills the column beside a graph; `seen` is how it is looked at, and where.
pub(super) fn fill(
    sheet: &mut Sheet,
    column: Rect,
    info: &Info,
    (laid, parameters, own): (&LaidGraph, &Parameters, &Volumes),
    lit: &[bool],
    (camera, body): (Camera, Rect),
) {
    let (em, width) = (sheet.em, column.width());
    let mut y = column.top();
    sheet.left(pos2(column.left(), y), &info.title, Weight::SemiBold, 1.2, palette::TEXT, width);
    y += 1.75 * em;
    y = parameters.fill(sheet, column, own, y + 0.2 * em) + 0.2 * em;
    let accesses = counted(laid.volumes.accesses(), "access");
    sheet.left(pos2(column.left(), y), &accesses, Weight::Regular, SMALL, palette::TEXT_QUIET, width);
    y += 2.1 * em;
    let map = (!camera.is_whole()).then(|| small(sheet, column, laid, lit, (camera, body))).flatten();
    let bottom = map.map_or(column.bottom(), |map| map.top() - em);
    let rows = &laid.rows;
    let statement = info.now.loops.as_ref().map(|at| at.number);
    // The row of what is done is in sight.
    let under_way = statement.and_then(|now| rows.iter().rposition(|row| holds(laid, row, now)));
    let fitting = whole((bottom - y) / (PITCH * em));
    let from = under_way.map_or(0, |row| row.saturating_sub(fitting / 2)).min(rows.len().saturating_sub(fitting));
    let most = rows.iter().filter_map(|row| row.bytes).max().unwrap_or(1).max(1);
    for (n, row) in rows.iter().enumerate().skip(from).take(fitting) {
        let left = column.left() + row.depth * INSET * em;
        let place = Rect::from_min_max(pos2(column.left(), y), pos2(column.right(), y + PITCH * em));
        let is_now = under_way == Some(n);
        if is_now {
            sheet.bar(place.expand2(vec2(0.3 * em, 0.0)), palette::fade(palette::GUIDE, 0.16));
        }
        // How much it moves of all that moves, and how much that is.
        let bytes = row.bytes.map(size_in_words).unwrap_or_default();
        let room = 5.2 * em;
        if let Some(of) = row.bytes {
            let share = to_f32(of as f64 / most as f64);
            let bar = Rect::from_min_max(
                pos2(column.right() - room * share, y + 1.18 * em),
                pos2(column.right(), y + 1.3 * em),
            );
            sheet.bar(bar, palette::fade(palette::SERIES[1], 0.8));
        }
        sheet.right(pos2(column.right(), y + 0.1 * em), &bytes, SMALL, palette::TEXT_BODY);
        let mut x = left;
        if let Some(part) = row.part {
            let sign = SIGNS[usize::from(laid.folding.is_open(part))];
            sheet.left(pos2(x, y + 0.05 * em), sign, Weight::SemiBold, 0.95, palette::TEXT, em);
            x += 0.95 * em;
        }
        let ink = if is_now { palette::TEXT } else { palette::TEXT_BODY };
        let weight = if row.depth < 0.5 { Weight::Medium } else { Weight::Regular };
        sheet.left(pos2(x, y + 0.08 * em), &row.words, weight, 0.88, ink, column.right() - room - 0.6 * em - x);
        if let Some(tick) = row.first.and_then(|statement| laid.first_of(statement)) {
            sheet.plane.rows.push((place, Target::Tick(tick)));
        }
        if let Some(part) = row.part {
            let sign = Rect::from_min_size(pos2(left - 0.3 * em, y), Vec2::new(1.2, PITCH) * em);
            sheet.plane.rows.push((sign, Target::Part(part)));
        }
        y += PITCH * em;
    }
}

/// Whether a row tells of a statement.
fn holds(laid: &LaidGraph, row: &Row, statement: usize) -> bool {
    laid.volumes.items()[row.items.clone()].iter().any(|item| item.tasks.iter().any(|task| task.statement == statement))
        && row.first.is_none_or(|first| row.part.is_some() || first == statement)
}

/// The rows of an outline: parts that are closed have none for what is in them.
pub(super) fn rows(volumes: &Volumes, folding: &Folding) -> Vec<Row> {
    let items = volumes.items();
    let mut rows = Vec::new();
    for state in states(items) {
        let part = GraphPart { fold: Fold::States, item: state.start };
        let within = &items[state.clone()];
        // A state of one item says nothing that the item does not say.
        let is_told = within.len() > 1 || !within[0].state.is_empty();
        if is_told {
            rows.push(Row {
                depth: 0.0,
                words: state_name(&within[0]),
                bytes: moved(within),
                part: Some(part),
                first: first(within),
                items: state.clone(),
            });
            if !folding.is_open(part) {
                continue;
            }
        }
        let depth = if is_told { 1.0 } else { 0.0 };
        for item in state {
            let of = &items[item];
            let part = GraphPart { fold: Fold::Loops, item };
            let is_loop = !of.loops.is_empty();
            if is_loop {
                let words = format!("for {}", of.loops.join(", "));
                let (bytes, one) = (moved(std::slice::from_ref(of)), first(std::slice::from_ref(of)));
                rows.push(Row { depth, words, bytes, part: Some(part), items: item..item + 1, first: one });
            }
            if is_loop && !folding.is_open(part) {
                continue;
            }
            let depth = if is_loop { depth + 1.0 } else { depth };
            rows.extend(of.tasks.iter().map(|task| Row {
                depth,
                words: task.text.clone(),
                bytes: task.bytes.value,
                part: None,
                items: item..item + 1,
                first: Some(task.statement),
            }));
        }
    }
    rows
}

fn moved(items: &[Item]) -> Option<u64> {
    let tasks = items.iter().flat_map(|item| &item.tasks);
    tasks.map(|task| task.bytes.value).try_fold(0u64, |sum, bytes| sum.checked_add(bytes?))
}

fn first(items: &[Item]) -> Option<usize> {
    Some(items.iter().flat_map(|item| &item.tasks).next()?.statement)
}

/// The whole graph, small, and what of it is seen; where it stands.
fn small(
    sheet: &mut Sheet,
    column: Rect,
    laid: &LaidGraph,
    lit: &[bool],
    (camera, body): (Camera, Rect),
) -> Option<Rect> {
    let em = sheet.em;
    let [width, height] = laid.drawn.chart.size();
    let unit = to_f32((f64::from(column.width()) / width).min(f64::from(0.3 * column.height()) / height));
    let size = vec2(to_f32(width), to_f32(height)) * unit;
    if size.y < 2.0 * em {
        return None;
    }
    let map = Rect::from_min_size(pos2(column.left(), column.bottom() - size.y), size);
    sheet.bar(map.expand(0.3 * em), palette::fade(palette::GUIDE, 0.1));
    let place = Place { corner: map.min, unit };
    for (node, sides) in laid.drawn.boxes.iter().enumerate() {
        let is_lit = lit.get(node).copied().unwrap_or(false);
        let is_container = laid.drawn.graph.nodes[node].container.is_some();
        let ink = match (is_lit, is_container) {
            (true, _) => palette::LIGHT,
            (false, true) => palette::fade(palette::GUIDE, 0.55),
            (false, false) => palette::fade(palette::SERIES[1], 0.7),
        };
        let sides = area(place, sides);
        sheet.bar(Rect::from_center_size(sides.center(), sides.size().max(Vec2::splat(1.5))), ink);
    }
    // What is seen, in shares of the whole.
    let whole = body.size() * camera.zoom;
    let from = vec2(camera.at[0], camera.at[1]) * em;
    let on = |at: Vec2| map.min + vec2(at.x / whole.x * size.x, at.y / whole.y * size.y);
    let seen = Rect::from_min_max(on(from), on(from + body.size())).intersect(map);
    sheet.frame(seen, (0.1 * em).max(1.0), palette::LIGHT);
    Some(map)
}
