//! A chart for each location: what happens there over the part of the run that the strip shows.

use super::super::sheet::{SMALL, Sheet};
use super::scope::{Across, Scope, ems, outline};
use crate::axis::AxisUnit;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::Target;
use crate::overlay::plane::Line;
use crate::overlay::shot::Taken;
use crate::overlay::tip::Tip;
use crate::scene::palette;
use crate::tasks::metrics::{Bins, Metric, Point, series};
use crate::tasks::{Symbol, TaskBook};
use crate::units::{grouped, to_count, to_f32};
use egui::{Rect, pos2};
use regex::{Regex, RegexBuilder};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

/// Ems of width and height of a chart, at least, and between two.
const CELL: [f32; 2] = [12.2, 6.6];
const APART: f32 = 1.1;
/// Points of a chart, at most, and pixels of one.
const MOST_POINTS: usize = 160;
const POINT: f32 = 2.5;
/// Bytes that a regular expression may take, compiled.
const MOST_BYTES: usize = 1 << 20;

/// Of a location, a metric and a number of points.
type Key = (Symbol, Metric, usize);

/// The points of charts, as long as they are of the same part of the run.
#[derive(Default)]
pub(super) struct Charts {
    of: Range<u64>,
    // Looked up, never walked through.
    series: HashMap<Key, Vec<Point>>,
    filter: Option<(String, Result<Regex, String>)>,
}

impl Charts {
    /// Draws as many charts as there is room for, so many ems down; gives how far down one can go.
    pub(super) fn draw(&mut self, sheet: &mut Sheet, scope: &Scope<'_>, area: Rect, down: f32) -> f32 {
        let em = scope.em;
        if self.of != scope.ticks {
            (self.of, self.series) = (scope.ticks.clone(), HashMap::new());
        }
        let (locations, wrong) = self.locations(scope);
        let top = self.head(sheet, scope, area, locations.len(), wrong.as_deref());
        let body = Rect { min: pos2(area.left(), top), ..area };
        let columns = to_count((body.width() / (CELL[0] * em)).floor()).max(1) as usize;
        let width = (body.width() + APART * em) / columns as f32;
        let count = locations.len().div_ceil(columns);
        // Where all of them have room they share it.
        let height = (body.height() / em / count.max(1) as f32).clamp(CELL[1], 1.9 * CELL[1]);
        let depth = (count as f32 * height - body.height() / em).max(0.0);
        let down = down.min(depth);
        let sight = sheet.sight;
        sheet.sight = body.expand(2.0);
        for (n, &location) in locations.iter().enumerate() {
            let y = body.top() + ((n / columns) as f32 * height - down) * em;
            let x = body.left() + (n % columns) as f32 * width;
            let cell = Rect::from_min_max(pos2(x, y), pos2(x + width - APART * em, y + (height - 0.9) * em));
            // One that is cut off at the bottom of a picture that is not scrolled is left out.
            if cell.bottom() > body.top() + 1.5 * em && cell.bottom() <= body.bottom() + 0.3 * em {
                self.chart(sheet, scope, location, cell);
            }
        }
        sheet.sight = sight;
        depth
    }

    /// The locations that are wanted, and what is wrong with the expression.
    fn locations(&mut self, scope: &Scope<'_>) -> (Vec<Symbol>, Option<String>) {
        let look = scope.look;
        if self.filter.as_ref().is_none_or(|(words, _)| *words != look.filter) {
            self.filter = Some((look.filter.clone(), expression(&look.filter)));
        }
        match &self.filter {
            Some((_, Ok(regex))) => (scope.book.locations(look.order, |name| regex.is_match(name)), None),
            Some((_, Err(wrong))) => (scope.book.locations(look.order, |_| true), Some(wrong.clone())),
            None => (Vec::new(), None),
        }
    }

    /// What is charted; each word can be turned to the next.
    fn head(&self, sheet: &mut Sheet, scope: &Scope<'_>, area: Rect, count: usize, wrong: Option<&str>) -> f32 {
        let (em, look) = (scope.em, scope.look);
        let y = area.top();
        sheet.left(area.min, "OVERVIEW", Weight::SemiBold, SMALL, palette::TEXT_QUIET, f32::INFINITY);
        let mut x = area.left() + 6.4 * em;
        for ((metric, ink), axis) in look.metrics.iter().zip(palette::SERIES).zip(0u8..) {
            let words = metric.map_or("nothing", Metric::words);
            sheet.bar(Rect::from_min_max(pos2(x, y + 0.6 * em), pos2(x + em, y + 0.72 * em)), ink);
            let width = 0.9 * ems(words) * em;
            sheet.left(pos2(x + 1.4 * em, y - 0.05 * em), words, Weight::Medium, 0.9, ink, f32::INFINITY);
            let row = Rect::from_min_max(pos2(x, y - 0.1 * em), pos2(x + 1.4 * em + width, y + 1.3 * em));
            sheet.plane.rows.push((row, Target::Axis(axis)));
            x = row.right() + 1.3 * em;
        }
        let order = format!("by {}", look.order);
        let row = Rect::from_min_max(pos2(x, y - 0.1 * em), pos2(x + 5.2 * em, y + 1.3 * em));
        if row.right() < area.right() {
            sheet.left(pos2(x, y - 0.05 * em), &order, Weight::Regular, 0.9, palette::TEXT_BODY, f32::INFINITY);
            sheet.plane.rows.push((row, Target::Order));
        }
        let said = match wrong {
            Some(wrong) => wrong.to_owned(),
            None if look.filter.is_empty() => String::new(),
            None => format!("{} of {} match  {}", count, scope.book.listed().len(), look.filter),
        };
        if said.is_empty() {
            return y + 1.9 * em;
        }
        let ink = if wrong.is_some() { palette::words(palette::MISS) } else { palette::TEXT_BODY };
        sheet.left(pos2(area.left(), y + 1.5 * em), &said, Weight::Regular, 0.9, ink, area.width());
        y + 3.3 * em
    }

    fn chart(&mut self, sheet: &mut Sheet, scope: &Scope<'_>, location: Symbol, cell: Rect) {
        let em = scope.em;
        let is_chosen = scope.location() == Some(location);
        let ink = if is_chosen { palette::LIGHT } else { palette::TEXT };
        sheet.left(cell.min, scope.book.short(location), Weight::Regular, 0.92, ink, cell.width());
        let chart = Rect { min: pos2(cell.left(), cell.top() + 1.45 * em), ..cell };
        sheet.bar(chart, palette::fade(palette::TRACK, 0.5));
        let across = Across { ticks: scope.ticks.clone(), left: chart.left(), right: chart.right() };
        let points = (to_count(chart.width() / POINT) as usize).clamp(2, MOST_POINTS);
        let clip = chart.intersect(sheet.sight);
        for (side, (metric, ink)) in scope.look.metrics.iter().zip(palette::SERIES).enumerate() {
            let Some(metric) = *metric else { continue };
            let series = self.series.entry((location, metric, points)).or_insert_with(|| {
                let bins =
                    Bins { from: scope.ticks.start, to: scope.ticks.end, count: points, edges: scope.book.edges() };
                series(scope.book.set(), metric, location, &bins)
            });
            let most = series.iter().map(|(_, value)| *value).fold(0.0, f64::max);
            let high = chart.height() - 1.3 * em;
            let width = chart.width() / points as f32;
            let line = |(n, (_, value)): (usize, &Point)| {
                let share = if most > 0.0 { to_f32(value / most) } else { 0.0 };
                pos2(chart.left() + (n as f32 + 0.5) * width, chart.bottom() - 1.0 - share * high)
            };
            let line: Vec<_> = series.iter().enumerate().map(line).collect();
            if clip.is_positive() && line.iter().all(|at| clip.expand(1.0).contains(*at)) {
                let flat = most <= 0.0;
                let color = if flat { palette::fade(ink, 0.35) } else { ink };
                sheet.plane.lines.push(Line { points: line, width: 0.11 * em, color });
            }
            let number = value_words(metric, most, scope.axis.unit, scope.book.set().ticks_per_second());
            let quiet = palette::fade(ink, if most > 0.0 { 1.0 } else { 0.5 });
            let y = chart.top() + 0.12 * em;
            match side {
                0 => sheet.left(pos2(chart.left() + 0.3 * em, y), &number, Weight::Regular, 0.8, quiet, f32::INFINITY),
                _ => sheet.right(pos2(chart.right() - 0.3 * em, y), &number, 0.8, quiet),
            }
        }
        across.playhead(sheet, scope, chart);
        if is_chosen {
            outline(sheet, chart, palette::fade(palette::LIGHT, 0.5));
        }
        let seen = cell.intersect(sheet.sight);
        if seen.is_positive() {
            sheet.plane.times.push(chart.intersect(sheet.sight));
            sheet.plane.rows.push((seen, Target::Location(location)));
        }
    }
}

/// The expression, or what is wrong with it.
pub(super) fn expression(words: &str) -> Result<Regex, String> {
    RegexBuilder::new(words).case_insensitive(true).size_limit(MOST_BYTES).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => format!("filter `{words}`: found an expression that is too large"),
        // The last line of its words says what is wrong; those before point at the place.
        error => {
            let why = error.to_string();
            let last = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            format!("filter `{words}`: {last}")
        }
    })
}

/// A value of a metric, for people: `37 /µs`, `122 ns`, `2.5`.
pub(super) fn value_words(metric: Metric, value: f64, unit: AxisUnit, ticks_per_second: u64) -> String {
    match metric {
        Metric::ReqInCount | Metric::ReqCompleteCount => match unit {
            AxisUnit::Seconds { .. } => {
                let rows = [(1e9, "/ns"), (1e6, "/µs"), (1e3, "/ms"), (1.0, "/s")];
                let (scale, name) = rows.into_iter().find(|(scale, _)| value >= *scale).unwrap_or((1.0, "/s"));
                if value > 0.0 { format!("{} {name}", short(value / scale)) } else { "0".into() }
            }
            _ => short(value),
        },
        Metric::AvgLatency if value > 0.0 => {
            let ticks = value * ticks_per_second as f64;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 or more; saturates")]
            unit.duration(ticks.round() as u64)
        }
        _ => short(value),
    }
}

/// A number in about three digits.
pub(super) fn short(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        v if v >= 1e15 => format!("{v:.2e}"),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1e15")]
        v if v >= 99.95 => grouped(v.round() as u64),
        v if v >= 9.995 => format!("{v:.1}").trim_end_matches(".0").to_owned(),
        v if v >= 0.01 => {
            let text = format!("{v:.2}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        v => format!("{v:.1e}"),
    }
}

/// About a location.
pub(super) fn tip(book: &TaskBook, location: Symbol) -> Tip {
    let set = book.set();
    let tasks = set.tasks_at(location);
    let mut lines = vec![
        format!("{} tasks", grouped(u64::from(tasks.end - tasks.start))),
        format!("{} at once on average", short(book.pressure(location))),
    ];
    let requests: Vec<u64> = tasks
        .filter(|&task| set.task_category(task) == crate::tasks::REQUEST_IN)
        .map(|task| set.end(task) - set.start(task))
        .collect();
    if !requests.is_empty() {
        let sum: u128 = requests.iter().map(|&ticks| u128::from(ticks)).sum();
        let mean = u64::try_from(sum / requests.len() as u128).unwrap_or(u64::MAX);
        lines.push(format!("{} requests in, {} on average", grouped(requests.len() as u64), set.unit().duration(mean)));
    }
    let title = set.locations().word(location).to_owned();
    Tip { title, lines, about: Some(Target::Location(location)), ..Tip::default() }
}

/// Every location in a row, over the part of the run that is shown: what it did there.
pub(super) fn csv(book: &TaskBook, taken: &Taken) -> String {
    let set = book.set();
    let shown = taken.info.stretch.ticks(taken.info.axis);
    let bins = Bins { from: shown.start, to: shown.end, count: 1, edges: book.edges() };
    let mut text = String::from("location");
    Metric::ALL.iter().for_each(|metric| {
        let _ = write!(text, ",{metric}");
    });
    text.push('\n');
    for &location in book.listed() {
        let _ = write!(text, "\"{}\"", set.locations().word(location).replace('"', "\"\""));
        for metric in Metric::ALL {
            let value = series(set, metric, location, &bins).first().map_or(0.0, |point| point.1);
            let _ = write!(text, ",{value}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_in_few_digits_with_their_unit() {
        let unit = AxisUnit::Seconds { ticks: 1_000_000_000_000_000 };
        let words = |metric, value| value_words(metric, value, unit, 1_000_000_000_000_000);
        assert_eq!(words(Metric::ReqInCount, 37.04e6), "37 /µs");
        assert_eq!(words(Metric::ReqInCount, 0.0), "0");
        assert_eq!(words(Metric::AvgLatency, 1.22e-7), "122 ns");
        assert_eq!(words(Metric::ConcurrentTask, 2.5), "2.5");
        assert_eq!(words(Metric::ConcurrentTask, 12_345.6), "12,346");
        assert_eq!(words(Metric::PendingReqOut, 0.0004), "4.0e-4");
        assert_eq!(value_words(Metric::ReqInCount, 0.25, AxisUnit::Cycles, 1), "0.25");
    }

    #[test]
    fn a_wrong_expression_is_answered_and_a_huge_one_refused() {
        assert!(expression("l1v|L2").expect("sound").is_match("GPU[1].SA[0].L1VCache[0]"));
        let wrong = expression("L1(").expect_err("unclosed");
        assert_eq!(wrong, "filter `L1(`: unclosed group");
        let huge = expression(&"(a{999}){999}".repeat(3)).expect_err("too large");
        assert!(huge.ends_with("too large"), "{huge}");
    }
}
