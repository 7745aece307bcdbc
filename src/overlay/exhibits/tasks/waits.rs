//! Below the bars of a location: how many of its tasks wait, stacked by what they wait for, over the same time.

use super::super::sheet::{SMALL, Sheet};
use super::scope::{Across, Scope, ems};
use crate::overlay::fonts::Weight;
use crate::scene::palette::{self, Rgba};
use crate::tasks::Symbol;
use crate::tasks::metrics::Bins;
use crate::tasks::reasons::Reasons;
use crate::units::{to_count, to_f32};
use egui::{Rect, pos2};
use std::ops::Range;

/// Ems of height of the stack, with its heading; and what the bars keep at least.
const HIGH: f32 = 6.4;
const BARS: f32 = 20.0;
/// Pixels of a column.
const COLUMN: f32 = 3.0;
/// What tasks wait for in the files of Akita; each has its colour whatever else is there.
const KNOWN: [&str; 10] = [
    "data",
    "hardware_resource",
    "network_transfer",
    "queue",
    "dependency",
    "translation",
    "subtask",
    "network_busy",
    "work",
    "other",
];

/// The stack, as long as it is of the same location and time.
#[derive(Default)]
pub(super) struct Waits {
    of: Option<(Symbol, Range<u64>, usize)>,
    reasons: Reasons,
    /// The location that was last asked about, and whether its tasks have milestones.
    has: Option<(Symbol, bool)>,
}

impl Waits {
    /// Takes what it needs of the foot of an area; gives what is left of it.
    pub(super) fn room(&mut self, scope: &Scope<'_>, location: Symbol, area: Rect) -> (Rect, Option<Rect>) {
        if self.has.is_none_or(|(of, _)| of != location) {
            let set = scope.book.set();
            let all = set.all_milestones();
            // Milestones stand by task, tasks by location.
            let here = set.tasks_at(location);
            let first = all.partition_point(|milestone| milestone.task < here.start);
            self.has = Some((location, all.get(first).is_some_and(|milestone| milestone.task < here.end)));
        }
        let has = self.has.is_some_and(|(_, has)| has);
        let em = scope.em;
        if !has || area.height() < (HIGH + BARS) * em {
            return (area, None);
        }
        let middle = area.bottom() - HIGH * em;
        (
            Rect { max: pos2(area.right(), middle - 0.9 * em), ..area },
            Some(Rect { min: pos2(area.left(), middle), ..area }),
        )
    }

    /// Draws it.
    pub(super) fn draw(&mut self, sheet: &mut Sheet, scope: &Scope<'_>, location: Symbol, area: Rect) {
        let em = scope.em;
        let columns = to_count(area.width() / COLUMN).max(2) as usize;
        let key = (location, scope.ticks.clone(), columns);
        if self.of.as_ref() != Some(&key) {
            let (from, to) = (scope.ticks.start, scope.ticks.end);
            let bins = Bins { from, to, count: columns, edges: scope.book.edges() };
            self.reasons = Reasons::of(scope.book.set(), &[location], &bins);
            self.of = Some(key);
        }
        let bands = &self.reasons.bands;
        let total = self.reasons.total(columns);
        let most = total.iter().copied().fold(0.0, f64::max);
        sheet.left(area.min, "WAITS FOR", Weight::SemiBold, SMALL, palette::TEXT_QUIET, f32::INFINITY);
        let mut x = area.left() + 7.0 * em;
        for (reason, _) in bands {
            let words = reason.replace('_', " ");
            let width = (1.2 + 0.9 * ems(&words) + 1.2) * em;
            if x + width > area.right() - 6.0 * em {
                break;
            }
            let top = area.top() + 0.25 * em;
            sheet.bar(Rect::from_min_max(pos2(x, top), pos2(x + 0.8 * em, top + 0.75 * em)), ink(reason));
            let at = pos2(x + 1.2 * em, area.top() - 0.05 * em);
            sheet.left(at, &words, Weight::Regular, 0.9, palette::TEXT_BODY, f32::INFINITY);
            x += width;
        }
        let words = if most > 0.0 { format!("{most:.0} at most") } else { "none here".to_owned() };
        sheet.right(pos2(area.right(), area.top()), &words, 0.86, palette::TEXT_QUIET);
        let chart = Rect { min: pos2(area.left(), area.top() + 1.7 * em), ..area };
        sheet.bar(chart, palette::fade(palette::TRACK, 0.5));
        let width = chart.width() / columns as f32;
        let mut heights = vec![0.0; columns];
        for (reason, band) in bands.iter().filter(|_| most > 0.0) {
            let color = ink(reason);
            for (column, value) in band.iter().enumerate().filter(|(_, value)| **value > 0.0) {
                let x = chart.left() + column as f32 * width;
                let y = |height: f64| chart.bottom() - to_f32(height / most) * (chart.height() - 2.0);
                let (low, high) = (heights[column], heights[column] + value);
                sheet.bar(Rect::from_min_max(pos2(x, y(high)), pos2(x + width, y(low))), color);
                heights[column] = high;
            }
        }
        let across = Across { ticks: scope.ticks.clone(), left: chart.left(), right: chart.right() };
        across.playhead(sheet, scope, chart);
        sheet.plane.times.push(chart);
    }
}

fn ink(reason: &str) -> Rgba {
    let known = KNOWN.iter().position(|known| *known == reason);
    // A reason that Akita does not have: by its letters, so that it has one colour in all files.
    let other = || KNOWN.len() + reason.bytes().map(usize::from).sum::<usize>() % 2;
    palette::fade(palette::region(known.unwrap_or_else(other)), 0.9)
}
