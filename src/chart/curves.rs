//! Charts of stack distances.

use super::axis::{LEFT, Scale, count, counts, size, steps};
use super::canvas::{Chart, Look};
use super::role::Role;
use crate::analysis::{MOST_WAYS, SetStacks, StackDistances};
use crate::sim::config::{HierarchyConfig, format_size};
use crate::units::counted;

/// Units between two steps of a curve at least.
const CLOSEST: f64 = 0.4;

/// Sizes of the levels, with their names.
#[expect(clippy::cast_precision_loss, reason = "bytes of a cache, as a place on an axis")]
pub(super) fn levels(config: &HierarchyConfig, unit: f64) -> Vec<(f64, String)> {
    let mark = |level: &crate::sim::config::LevelConfig| {
        (level.size as f64 / unit, format!("{} {}", level.name, format_size(level.size)))
    };
    config.levels.iter().map(mark).collect()
}

/// Powers of two from one number to another, each that is a power of `each`.
pub(super) fn doublings(from: f64, to: f64) -> Vec<f64> {
    let count = (to / from).log2().ceil().max(1.0);
    let each = (count / 10.0).ceil().max(1.0);
    let mut values = Vec::new();
    let mut n = 0.0;
    while n <= count {
        values.push(from * n.exp2());
        n += each;
    }
    values
}

/// Places of the curve of misses by cache size, with lines of so many bytes: a step at each size where misses change.
#[expect(clippy::cast_precision_loss, reason = "counts as places on a chart")]
pub(super) fn miss_points(distances: &StackDistances, line: f64, x: Scale, y: Scale) -> Vec<(f64, f64)> {
    let accesses = distances.accesses().max(1) as f64;
    let percent = |misses: u64| 100.0 * misses as f64 / accesses;
    let mut last = percent(distances.misses(1));
    let mut points = vec![(x.at(line), y.at(last))];
    let mut seen = f64::NEG_INFINITY;
    for (lines, misses) in distances.miss_curve() {
        let place = x.at(lines.max(1) as f64 * line);
        // Steps closer than can be seen are one step.
        if place - seen < CLOSEST {
            last = percent(misses);
            if let Some(end) = points.last_mut() {
                end.1 = y.at(last);
            }
            continue;
        }
        seen = place;
        points.push((place, y.at(last)));
        last = percent(misses);
        points.push((place, y.at(last)));
    }
    points.push((x.ends[1], y.at(last)));
    points
}

/// Where the curve of misses by cache size ends, in bytes: the largest size that matters, of what is touched and of levels near that.
#[expect(clippy::cast_precision_loss, reason = "bytes as a place on a chart")]
pub(super) fn largest(distances: &StackDistances, line: f64, config: &HierarchyConfig) -> f64 {
    let reach = distances.miss_curve().last().map_or(1, |(lines, _)| *lines).max(2) as f64 * line;
    let sizes = config.levels.iter().map(|level| level.size as f64).filter(|size| *size <= 64.0 * reach);
    (sizes.fold(reach, f64::max) * 1.5).log2().ceil().exp2()
}

/// Misses of every fully associative LRU cache, and of those with the sets of the innermost level, by size; the levels are marked.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts as places on a chart")]
pub fn miss_ratio(
    distances: &StackDistances,
    ways: Option<&SetStacks>,
    line: u32,
    config: &HierarchyConfig,
    of: &str,
    look: Look,
) -> Chart {
    let mut chart = Chart::new(look, "Misses by cache size", of);
    let (line, accesses) = (f64::from(line), distances.accesses().max(1) as f64);
    let scale = chart.across(line, largest(distances, line, config), true);
    let percent = |misses: u64| 100.0 * misses as f64 / accesses;
    let most = percent(distances.misses(1)).max(1.0);
    let y = chart.y_axis("accesses that miss, %", &steps(most), &|value| format!("{}%", count(value)));
    chart.x_axis(
        "bytes of the cache",
        &doublings(scale.from, scale.to).iter().map(|v| (scale.at(*v), size(*v))).collect::<Vec<_>>(),
    );
    let (top, bottom) = (super::axis::TOP, chart.bottom());
    let lines_of = |bytes: f64| (bytes / line).floor().max(1.0);
    for (from, to) in doublings(scale.from, scale.to).windows(2).map(|pair| (pair[0], pair[1])) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lines of a cache, from 1 on")]
        let missed = percent(distances.misses(lines_of(from) as u64));
        let said = format!("a fully associative cache of {}: {missed:.1}% of the accesses miss", size(from));
        let left = (scale.at(from) - (scale.at(to) - scale.at(from)) / 2.0).max(LEFT);
        chart.spot((left, top), (scale.at(to) - scale.at(from), bottom - top), said);
    }
    let points = miss_points(distances, line, scale, y);
    chart.curve(points, Role::Series(0), 2.0);
    let mut legend = vec![(Role::Series(0), "fully associative LRU")];
    let sets;
    if let Some(stacks) = ways {
        for ways in (1..=MOST_WAYS).filter(|ways| ways.is_power_of_two()) {
            let Some(misses) = stacks.misses(ways) else { break };
            let bytes = (stacks.sets() * ways) as f64 * line;
            if bytes <= scale.to {
                let (sets, ways) = (counted(stacks.sets() as u64, "set"), counted(ways as u64, "way"));
                let said = format!("{sets} x {ways}, {}: {}", size(bytes), counted(misses, "miss"));
                chart.dot((scale.at(bytes), y.at(percent(misses))), 3.5, Role::Series(1), &said);
            }
        }
        sets = format!("{} of 1 to {MOST_WAYS} ways", counted(stacks.sets() as u64, "set"));
        legend.push((Role::Series(1), &sets));
    }
    chart.marks(scale, &levels(config, 1.0));
    chart.legend(&legend);
    chart
}

/// What the axis of stack distances says.
pub(super) const DISTANCE_AXIS: &str =
    "other lines touched since the line's last touch (4+: 4 to 7; 1K = 1,024); first = first touch";

/// Accesses by stack distance: of 0, of 1, of 2 and 3, of 4 to 7 and so on; first touches are in none of them.
pub(super) fn by_doubling(distances: &StackDistances) -> Vec<u64> {
    let histogram = distances.histogram();
    let mut counts = Vec::new();
    let mut from = 0u64;
    while histogram.at_least(from) > 0 && counts.len() < 40 {
        let to = (2 * from).max(1);
        counts.push(histogram.at_least(from) - histogram.at_least(to));
        from = to;
    }
    counts
}

/// The distances of the nth of them, as an axis says them.
pub(super) fn from_doubling(n: u32) -> String {
    match n {
        0..=1 => n.to_string(),
        2..=10 => format!("{}+", 1u64 << (n - 1)),
        _ => format!("{}K+", 1u64 << (n - 1).min(63) >> 10),
    }
}

/// How often each stack distance occurred, by powers of two; the last bar is first touches. The levels are marked at the lines they hold.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts as places on a chart")]
pub fn distances(distances: &StackDistances, line: u32, config: &HierarchyConfig, of: &str, look: Look) -> Chart {
    let mut chart = Chart::new(look, "Stack distances", of);
    let mut bars: Vec<(String, u64)> =
        by_doubling(distances).into_iter().zip(0..).map(|(count, n)| (from_doubling(n), count)).collect();
    let ends = bars.len();
    bars.push(("first".into(), distances.cold()));
    let most = bars.iter().map(|(_, n)| *n).max().unwrap_or(1);
    let steps = steps(most as f64);
    let y = chart.y_axis("accesses", &steps, &counts(steps.last().copied().unwrap_or(1.0)));
    let (wide, bottom) = ((chart.right() - LEFT) / bars.len() as f64, chart.bottom());
    let mut labels = Vec::new();
    for (n, (name, accesses)) in bars.iter().enumerate() {
        let x = LEFT + wide * n as f64;
        let role = if n + 1 == bars.len() { Role::Class(0) } else { Role::Series(0) };
        let top = y.at(*accesses as f64);
        let said = format!("{name}: {}", counted(*accesses, "access"));
        chart.rect((x + 0.08 * wide, top), (0.84 * wide, (bottom - top).max(0.0)), role, &said);
        labels.push((x + wide / 2.0, name.clone()));
    }
    chart.x_axis(DISTANCE_AXIS, &labels);
    // A cache of so many lines misses what is to the right of it: bars are powers of two, and places between them go with the logarithm.
    let place = |lines: f64| if lines < 1.0 { 0.0 } else { 1.0 + lines.log2() };
    let scale = chart.across(0.0, bars.len() as f64, false);
    let end = ends as f64;
    let marks: Vec<(f64, String)> = levels(config, f64::from(line))
        .into_iter()
        .map(|(lines, name)| (place(lines), format!("{name}, {} lines", count(lines.floor()))))
        .filter(|(at, _)| *at <= end)
        .collect();
    chart.marks(scale, &marks);
    chart
}
