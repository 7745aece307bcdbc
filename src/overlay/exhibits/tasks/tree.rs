//! One task in the tree: what it is a part of, from the outermost down, and all that are parts of it, a row each. From a request at a DRAM
//! up to the instruction that caused it is one line of rows.

use super::super::sheet::Sheet;
use super::scope::{Across, Scope, ending, head, label, outline};
use crate::overlay::fonts::Weight;
use crate::overlay::pen::Target;
use crate::scene::palette;
use crate::tasks::{TaskIndex, TaskSet, plain};
use crate::units::{grouped, to_count};
use egui::{Rect, pos2};
use std::ops::Range;

/// Ems of a row, at least and at most.
const ROW: [f32; 2] = [1.32, 1.9];
/// Ems of the names.
const NAMES: [f32; 2] = [6.5, 13.0];
/// Of the picture, what names may take.
const SHARE: f32 = 0.28;
/// Parts that are shown with their own parts.
const FEW: usize = 3;
/// Parts that are listed at most.
const MOST_PARTS: usize = 2_000;
/// What something is a part of may be so many times as long, and still is seen as a whole.
const LONGER: u64 = 8;

/// What a row shows.
enum Row {
    Task(TaskIndex),
    /// So many more above that are left out, or below.
    Above(usize),
    More(usize),
}

/// Draws the chosen task, so many ems down where it `scrolls`; gives how far down one can go.
pub(super) fn draw(sheet: &mut Sheet, scope: &Scope<'_>, area: Rect, down: f32, scrolls: bool) -> f32 {
    let em = scope.em;
    let set = scope.book.set();
    let Some(chosen) = scope.look.task else {
        let top = head(sheet, area, "TASK", "none is chosen");
        let words = "click a bar: this is where it shows what it is a part of, and its parts";
        sheet.left(pos2(area.left(), top), words, Weight::Regular, 0.95, palette::TEXT_QUIET, area.width());
        return 0.0;
    };
    let chain: Vec<TaskIndex> = set.ancestors(chosen).into_iter().rev().collect();
    let task = set.task(chosen);
    let words = match chain.first().filter(|first| **first != chosen) {
        Some(&first) => {
            let outer = set.task(first);
            format!("{} from {}", named(task.category, task.action), named(outer.category, outer.action))
        }
        None => named(task.category, task.action),
    };
    let top = head(sheet, area, "TASK", &words);
    let room = (area.bottom() - 1.3 * em - top) / em;
    let fits = to_count((room / ROW[0]).floor()).max(3) as usize;
    let mut rows = listed(set, chosen, &chain, fits);
    if !scrolls {
        fit(&mut rows, chain.len(), fits);
    }
    let pitch = (room / rows.len().max(1) as f32).clamp(ROW[0], ROW[1]);
    let depth = (rows.len() as f32 * pitch - room).max(0.0);
    let down = down.min(depth);
    let names = (SHARE * area.width() / em).clamp(NAMES[0], NAMES[1]) * em;
    let bottom = (top + rows.len() as f32 * pitch * em).min(area.bottom() - 1.3 * em);
    let chart = Rect::from_min_max(pos2(area.left() + names, top), pos2(area.right(), bottom));
    let ticks = span(scope, set, chosen, &chain);
    let across = Across { ticks, left: chart.left(), right: chart.right() };
    across.numbers(sheet, scope, [chart.top(), chart.bottom()]);
    let sight = sheet.sight;
    sheet.sight =
        Rect::from_min_max(pos2(area.left(), top - 2.0), pos2(area.right() + 2.0, bottom + 2.0)).intersect(sight);
    for (n, row) in rows.iter().enumerate() {
        let y = top + (n as f32 * pitch - down) * em;
        let line = Rect::from_min_max(pos2(chart.left(), y), pos2(chart.right(), y + (pitch - 0.3) * em));
        if line.bottom() < top || line.top() > bottom {
            continue;
        }
        match *row {
            Row::Task(task) => one(sheet, scope, task, chosen, &across, line, names),
            Row::Above(count) | Row::More(count) => {
                let count = grouped(count as u64);
                let words = match row {
                    Row::Above(_) => format!("… part of {count} more"),
                    _ => format!("… {count} more below"),
                };
                sheet.left(line.min, &words, Weight::Regular, 0.86, palette::TEXT_QUIET, line.width());
            }
        }
    }
    sheet.sight = sight;
    across.playhead(sheet, scope, chart);
    depth
}

fn named(category: &str, action: &str) -> String {
    format!("{category} {}", plain(action)).trim_end().to_owned()
}

/// The rows: the chain down to the chosen task, then its parts. Where the chain alone fills the room, the middle of it gives way.
fn listed(set: &TaskSet, chosen: TaskIndex, chain: &[TaskIndex], fits: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = chain.iter().map(|&task| Row::Task(task)).collect();
    let mut parts = Vec::new();
    below(set, chosen, &mut parts);
    let count = set.children(chosen).len();
    // Few parts with all that is below them go on down; of many the parts alone are listed.
    if count <= FEW || parts.len() <= fits.saturating_sub(rows.len()) {
        rows.extend(parts.into_iter().map(Row::Task));
    } else {
        let mut direct: Vec<TaskIndex> = set.children(chosen).to_vec();
        direct.sort_by_key(|&part| (set.start(part), part));
        let left_out = direct.len().saturating_sub(MOST_PARTS);
        rows.extend(direct.into_iter().take(MOST_PARTS).map(Row::Task));
        if left_out > 0 {
            rows.push(Row::More(left_out));
        }
    }
    rows
}

/// Leaves out what there is no room for: first what is farthest above, then the last of the parts. The first `chain` rows are those down to
/// the chosen task.
fn fit(rows: &mut Vec<Row>, chain: usize, fits: usize) {
    let parts = rows.len() - chain;
    let room = fits - parts.min(fits / 2);
    if rows.len() > fits && chain > room {
        let above = chain + 1 - room.max(2);
        rows.splice(..above, [Row::Above(above)]);
    }
    if rows.len() > fits {
        let below = rows.len() + 1 - fits;
        let already = match rows.pop() {
            Some(Row::More(count)) => count,
            Some(row) => {
                rows.push(row);
                0
            }
            None => 0,
        };
        let kept = rows.len().saturating_sub(below.min(parts));
        let left_out = rows.len() - kept;
        rows.truncate(kept);
        if left_out > 0 {
            rows.push(Row::More(left_out + already));
        }
    }
}

/// All below a task, each before its own parts, by start.
fn below(set: &TaskSet, task: TaskIndex, into: &mut Vec<TaskIndex>) {
    let mut wait = vec![task];
    while let Some(next) = wait.pop() {
        if next != task {
            // A circle among parents ends here.
            if into.len() >= MOST_PARTS || into.contains(&next) {
                return;
            }
            into.push(next);
        }
        let mut parts: Vec<TaskIndex> = set.children(next).iter().copied().take(MOST_PARTS).collect();
        parts.sort_by_key(|&part| (std::cmp::Reverse(set.start(part)), part));
        wait.extend(parts);
    }
}

/// What of the run is shown: what the strip shows where that is a part of it with the task in it; else what the task is a part of, as far out as the task
/// itself can still be seen.
fn span(scope: &Scope<'_>, set: &TaskSet, chosen: TaskIndex, chain: &[TaskIndex]) -> Range<u64> {
    let is_seen = set.start(chosen) < scope.ticks.end && set.end(chosen) >= scope.ticks.start;
    if !scope.shot.playback.stretch.is_whole() && is_seen {
        return scope.ticks.clone();
    }
    let took = (set.end(chosen) - set.start(chosen)).max(1);
    let suits = |&&task: &&TaskIndex| set.end(task) - set.start(task) <= took.saturating_mul(LONGER);
    let outer = chain.iter().find(suits).copied().unwrap_or(chosen);
    let (start, end) = (set.start(outer), set.end(outer));
    let around = ((end - start) / 40).max(1);
    start.saturating_sub(around)..(end + around).min(scope.axis.total)
}

fn one(
    sheet: &mut Sheet,
    scope: &Scope<'_>,
    task: TaskIndex,
    chosen: TaskIndex,
    across: &Across,
    line: Rect,
    names: f32,
) {
    let em = scope.em;
    let set = scope.book.set();
    let (start, end) = (set.start(task), set.end(task));
    sheet.bar(line, palette::fade(palette::TRACK, 0.42));
    let ink = if task == chosen { palette::LIGHT } else { palette::TEXT_BODY };
    let location = scope.book.short(set.location_of(task));
    let fits = to_count((names - em) / (0.5 * em)) as usize;
    let shown = ending(location, fits);
    sheet.right(pos2(line.left() - 0.6 * em, line.center().y - 0.55 * em), &shown, 0.88, ink);
    if across.shows(start, end) {
        let [x0, x1] = [start, end].map(|tick| across.x(tick));
        let bar = Rect::from_min_max(pos2(x0, line.top()), pos2(x1.max(x0 + 1.5), line.bottom()));
        let color = scope.ink(task);
        sheet.bar(bar, color);
        waits(sheet, scope, task, across, bar);
        let kind = set.task(task);
        let words = format!("{}  {}", named(kind.category, kind.action), scope.duration(end - start));
        label(sheet, bar, &words, color, Some(line.right()));
        if task == chosen {
            outline(sheet, bar, palette::LIGHT);
        }
    }
    let row = Rect { min: pos2(line.left() - names, line.top()), ..line };
    sheet.plane.rows.push((row.intersect(sheet.sight), Target::Task(task)));
}

/// Along the foot of a bar: a tick where a wait was over.
fn waits(sheet: &mut Sheet, scope: &Scope<'_>, task: TaskIndex, across: &Across, bar: Rect) {
    let mut last = f32::MIN;
    for milestone in scope.book.set().milestones(task) {
        let x = across.x(milestone.time);
        if x - last < 3.0 || !bar.expand(1.0).contains(pos2(x, bar.center().y)) {
            continue;
        }
        last = x;
        let tick = Rect::from_min_max(pos2(x - 0.6, bar.bottom() - 0.3 * bar.height()), pos2(x + 0.6, bar.bottom()));
        sheet.bar(tick, palette::fade(palette::BACKGROUND, 0.75));
    }
}
