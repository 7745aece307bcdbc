//! The tasks of one location as bars: each in the uppermost row that is free (the up-floating layout of Daisen, 2021); tasks at the same
//! location that are a part of another stand within its bar, those of one level equally high.

use super::super::sheet::Sheet;
use super::scope::{Across, Scope, ems, head, label, many, outline};
use super::waits::Waits;
use crate::overlay::pen::Target;
use crate::scene::palette;
use crate::tasks::lanes::{outermost, rows};
use crate::tasks::metrics::{Bins, Metric, series};
use crate::tasks::{Symbol, TaskIndex, plain};
use crate::units::{grouped, to_f32};
use egui::{Rect, pos2};

/// Height of a row: at least, and at most, ems.
const ROW: [f32; 2] = [0.45, 2.1];
/// Tasks in sight from which on their number is drawn in place of them.
const DENSE: usize = 40_000;
/// Levels of tasks within tasks.
const LEVELS: usize = 3;
/// Pixels of a column of a crowd.
const COLUMN: f32 = 2.0;

/// The rows of the tasks of a location, worked out once.
#[derive(Default)]
pub(super) struct Lanes {
    of: Option<Symbol>,
    tasks: Vec<TaskIndex>,
    rows: Vec<u32>,
    count: u32,
    /// The latest end of each task and all before it.
    ends: Vec<u64>,
}

impl Lanes {
    fn turn(&mut self, scope: &Scope<'_>, location: Symbol) {
        if self.of == Some(location) {
            return;
        }
        let set = scope.book.set();
        self.tasks = outermost(set, location).collect();
        let times: Vec<(u64, u64)> = self.tasks.iter().map(|&task| (set.start(task), set.end(task))).collect();
        (self.rows, self.count) = rows(&times);
        let mut latest = 0;
        let ends = times.iter().map(|&(_, end)| {
            latest = latest.max(end);
            latest
        });
        self.ends = ends.collect();
        self.of = Some(location);
    }

    /// Of the tasks that are in sight, the first and one past the last; those between that end before are among them.
    fn seen(&self, scope: &Scope<'_>, across: &Across) -> std::ops::Range<usize> {
        let set = scope.book.set();
        let first = self.ends.partition_point(|&end| end < across.ticks.start);
        let last = self.tasks.partition_point(|&task| set.start(task) <= across.ticks.end);
        first..last.max(first)
    }
}

/// Draws the tasks of the chosen location, so many ems down; gives how far down one can go.
pub(super) fn draw(
    sheet: &mut Sheet,
    scope: &Scope<'_>,
    (lanes, waits): (&mut Lanes, &mut Waits),
    area: Rect,
    down: f32,
) -> f32 {
    let em = scope.em;
    let Some(location) = scope.location() else { return 0.0 };
    lanes.turn(scope, location);
    let (area, foot) = waits.room(scope, location, area);
    if let Some(foot) = foot {
        waits.draw(sheet, scope, location, foot);
    }
    // The number of tasks stands at the right where there is room for it.
    let name = scope.book.set().locations().word(location);
    let said_at = area.right() - 11.0 * em;
    let has_room = area.left() + (8.5 + ems(name)) * em < said_at;
    let top = head(sheet, area, "COMPONENT", name);
    let chart = Rect::from_min_max(pos2(area.left(), top), pos2(area.right(), area.bottom() - 1.3 * em));
    sheet.bar(chart, palette::fade(palette::TRACK, 0.5));
    let across = Across { ticks: scope.ticks.clone(), left: chart.left(), right: chart.right() };
    across.numbers(sheet, scope, [chart.top(), chart.bottom()]);
    sheet.plane.times.push(chart);
    let seen = lanes.seen(scope, &across);
    let said;
    let mut depth = 0.0;
    if seen.len() > DENSE {
        crowd(sheet, scope, location, &across, chart);
        said = format!("{} tasks here: their number", grouped(seen.len() as u64));
    } else {
        let room = chart.height() / em - 0.4;
        // As high as there is room for those in sight.
        let set = scope.book.set();
        let visible: Vec<usize> = seen.filter(|&n| set.end(lanes.tasks[n]) >= across.ticks.start).collect();
        let count = visible.iter().map(|&n| lanes.rows[n] + 1).max().unwrap_or(0);
        let pitch = (room / count.max(1) as f32).clamp(ROW[0], ROW[1]);
        depth = (count as f32 * pitch - room).max(0.0);
        let down = down.min(depth);
        said = format!("{}, {count} at once", many(visible.len(), "task"));
        let sight = sheet.sight;
        sheet.sight = sight.intersect(chart);
        let first = chart.top() + (0.2 - down) * em;
        bars(sheet, scope, lanes, &visible, &across, [first, pitch * em]);
        sheet.sight = sight;
    }
    if has_room {
        sheet.right(pos2(area.right(), area.top()), &said, 0.86, palette::TEXT_QUIET);
    }
    across.playhead(sheet, scope, chart);
    depth
}

fn bars(
    sheet: &mut Sheet,
    scope: &Scope<'_>,
    lanes: &Lanes,
    visible: &[usize],
    across: &Across,
    [first, pitch]: [f32; 2],
) {
    let set = scope.book.set();
    let gap = if pitch > 5.0 { 1.5 } else { 0.5 };
    // Of bars narrower than a pixel the first of each pixel of a row is drawn.
    let mut last = vec![f32::MIN; lanes.count as usize];
    let mut outlined = None;
    let mut level: Vec<(TaskIndex, Rect)> = Vec::new();
    for &n in visible {
        let (task, row) = (lanes.tasks[n], lanes.rows[n]);
        let top = first + row as f32 * pitch;
        if top > sheet.sight.bottom() || top + pitch < sheet.sight.top() {
            continue;
        }
        let [x0, x1] = [set.start(task), set.end(task)].map(|tick| across.x(tick));
        let is_chosen = scope.look.task == Some(task);
        if x1 - x0 < 0.7 && x0.floor() <= last[row as usize] && !is_chosen {
            continue;
        }
        last[row as usize] = x1.max(x0).floor();
        let bar = Rect::from_min_max(pos2(x0, top), pos2(x1.max(x0 + 1.0), top + pitch - gap));
        level.push((task, bar));
        if is_chosen {
            outlined = Some(bar);
        }
    }
    let here = lanes.of.map_or(0..0, |location| set.tasks_at(location));
    for depth in 0..LEVELS {
        let mut within: Vec<(TaskIndex, Rect, Vec<TaskIndex>)> = Vec::new();
        for (task, bar) in level {
            let ink = scope.ink(task);
            sheet.bar(bar, if depth == 0 { ink } else { palette::fade(ink, 0.95) });
            let seen = bar.intersect(sheet.sight);
            if seen.is_positive() {
                sheet.plane.rows.push((seen, Target::Task(task)));
            }
            if scope.look.task == Some(task) {
                outlined = Some(bar);
            }
            let parts: Vec<TaskIndex> = match bar.width() > 6.0 && bar.height() > 8.0 && depth + 1 < LEVELS {
                true => set.children(task).iter().copied().filter(|child| here.contains(child)).collect(),
                false => Vec::new(),
            };
            if parts.is_empty() {
                label(sheet, bar, plain(set.task(task).action), ink, None);
            } else {
                within.push((task, bar, parts));
            }
        }
        // Parts of one level are equally high: as high as those have room that are most at once.
        let laid: Vec<(Rect, Vec<TaskIndex>, Vec<u32>, u32)> = within
            .into_iter()
            .map(|(_, bar, mut parts)| {
                parts.sort_by_key(|&part| set.start(part));
                let times: Vec<(u64, u64)> = parts.iter().map(|&part| (set.start(part), set.end(part))).collect();
                let (rows, count) = rows(&times);
                (bar, parts, rows, count)
            })
            .collect();
        let most = laid.iter().map(|row| row.3).max().unwrap_or(1).max(1);
        level = Vec::new();
        for (bar, parts, rows, _) in laid {
            let room = 0.74 * bar.height();
            let pitch = room / most as f32;
            let top = bar.bottom() - room;
            let mut last = vec![f32::MIN; most as usize];
            for (part, row) in parts.into_iter().zip(rows) {
                let [x0, x1] = [set.start(part), set.end(part)].map(|tick| across.x(tick));
                // As above, of those that are too narrow the first of each pixel; and none that is out of sight.
                let is_narrow = x1 - x0 < 0.7 && x0.floor() <= last[row as usize] && scope.look.task != Some(part);
                if is_narrow || !across.shows(set.start(part), set.end(part)) {
                    continue;
                }
                last[row as usize] = x1.max(x0).floor();
                let y = top + row as f32 * pitch;
                level.push((part, Rect::from_min_max(pos2(x0, y), pos2(x1.max(x0 + 1.0), y + (pitch - 1.0).max(0.6)))));
            }
        }
    }
    if let Some(bar) = outlined {
        outline(sheet, bar, palette::LIGHT);
    }
}

/// How many tasks there are at once, where there are too many for bars.
fn crowd(sheet: &mut Sheet, scope: &Scope<'_>, location: Symbol, across: &Across, chart: Rect) {
    let columns = crate::units::to_count(chart.width() / COLUMN).max(1) as usize;
    let bins = Bins { from: across.ticks.start, to: across.ticks.end, count: columns, edges: scope.book.edges() };
    let levels = series(scope.book.set(), Metric::ConcurrentTask, location, &bins);
    let most = levels.iter().map(|point| point.1).fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    let width = chart.width() / columns as f32;
    for (n, (_, level)) in levels.iter().enumerate().filter(|(_, point)| point.1 > 0.0) {
        let height = (to_f32(level / most) * (chart.height() - 4.0)).max(1.0);
        let x = chart.left() + n as f32 * width;
        // The rows float up.
        let bar = Rect::from_min_max(pos2(x, chart.top()), pos2(x + width, chart.top() + height));
        sheet.bar(bar, palette::fade(palette::SERIES[0], 0.8));
    }
    let words = format!("{most:.0} at once");
    sheet.right(pos2(chart.right() - 0.4 * scope.em, chart.bottom() - 1.2 * scope.em), &words, 0.8, palette::TEXT_BODY);
}
