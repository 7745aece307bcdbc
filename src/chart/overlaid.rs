//! Charts of two runs over each other.

use super::axis::{LEFT, TOP, count, counts, size, steps};
use super::canvas::{Chart, Look};
use super::curves::{DISTANCE_AXIS, by_doubling, doublings, from_doubling, largest, levels, miss_points};
use super::kind::ChartKind;
use super::role::Role;
use crate::analysis::{Charted, OverTime, SetUse, StackDistances};
use crate::sim::config::HierarchyConfig;
use crate::units::grouped;

/// One of two runs.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// What was counted of it.
    pub found: &'a Charted,
    /// Its caches.
    pub config: &'a HierarchyConfig,
    /// What it is called.
    pub name: &'a str,
}

/// Bars of sets at most.
const BARS: usize = 64;
/// The roles of the first and of the second run.
const ROLES: [Role; 2] = [Role::Series(0), Role::Series(1)];

impl ChartKind {
    /// The kinds that two runs have over each other.
    pub const OVERLAID: [Self; 4] = [Self::MissRatio, Self::StackDistance, Self::Classes, Self::Sets];
}

impl Run<'_> {
    fn distances(&self) -> Option<&StackDistances> {
        self.found.survey.distances.as_ref()
    }

    fn line(&self) -> f64 {
        f64::from(self.found.survey.line_bytes)
    }

    fn level(&self) -> &str {
        self.config.levels.get(self.found.of.level.index()).map_or("", |level| level.name.as_str())
    }
}

/// Draws two runs in one chart; `of` says which they are. `None` of a kind that is not among [`ChartKind::OVERLAID`], or where counts are
/// not there.
#[must_use]
pub fn overlaid(kind: ChartKind, runs: &[Run; 2], of: &str, look: Look) -> Option<Chart> {
    let mut chart = match kind {
        ChartKind::MissRatio => miss_ratios(runs, of, look),
        ChartKind::StackDistance => distances(runs, of, look),
        ChartKind::Classes => over_time(runs, of, look),
        ChartKind::Sets => sets(runs, of, look),
        ChartKind::Map | ChartKind::Displaced => None,
    }?;
    chart.legend(&[(ROLES[0], runs[0].name), (ROLES[1], runs[1].name)]);
    Some(chart)
}

/// Misses of every fully associative LRU cache; the levels of the first run are marked, and those of the second that it has not.
#[expect(clippy::cast_precision_loss, reason = "counts as places on a chart")]
fn miss_ratios(runs: &[Run; 2], of: &str, look: Look) -> Option<Chart> {
    let mut chart = Chart::new(look, "Misses by cache size, fully associative LRU", of);
    let both = [runs[0].distances()?, runs[1].distances()?];
    let lines = runs.map(|run| run.line());
    let ends = [0, 1].map(|n| largest(both[n], lines[n], runs[n].config));
    let scale = chart.across(lines[0].min(lines[1]), ends[0].max(ends[1]), true);
    let percent = |n: usize, held: u64| 100.0 * both[n].misses(held) as f64 / both[n].accesses().max(1) as f64;
    let most = percent(0, 1).max(percent(1, 1)).max(1.0);
    let y = chart.y_axis("accesses that miss, %", &steps(most), &|value| format!("{}%", count(value)));
    let sizes = doublings(scale.from, scale.to);
    chart.x_axis("bytes of the cache", &sizes.iter().map(|v| (scale.at(*v), size(*v))).collect::<Vec<_>>());
    let bottom = chart.bottom();
    for pair in sizes.windows(2) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lines of a cache, from 1 on")]
        let missed = |n: usize| percent(n, (pair[0] / lines[n]).floor().max(1.0) as u64);
        let said = format!(
            "{}: {:.1}% of the accesses of {} miss, {:.1}% of those of {}",
            size(pair[0]),
            missed(0),
            runs[0].name,
            missed(1),
            runs[1].name
        );
        let wide = scale.at(pair[1]) - scale.at(pair[0]);
        chart.spot(((scale.at(pair[0]) - wide / 2.0).max(LEFT), TOP), (wide, bottom - TOP), said);
    }
    for n in [0, 1] {
        chart.curve(miss_points(both[n], lines[n], scale, y), ROLES[n], 2.0);
    }
    let mut marks = levels(runs[0].config, 1.0);
    marks.extend(levels(runs[1].config, 1.0).into_iter().filter(|mark| !levels(runs[0].config, 1.0).contains(mark)));
    chart.marks(scale, &marks);
    Some(chart)
}

/// Pairs of bars, each with what it is of.
#[expect(clippy::cast_precision_loss, reason = "counts as places on a chart")]
fn pairs(chart: &mut Chart, names: [&str; 2], unit: &str, bars: &[(String, [u64; 2])]) -> Vec<(f64, String)> {
    let most = bars.iter().flat_map(|(_, pair)| *pair).max().unwrap_or(1).max(1);
    let steps = steps(most as f64);
    let y = chart.y_axis(unit, &steps, &counts(steps.last().copied().unwrap_or(1.0)));
    let (wide, bottom) = ((chart.right() - LEFT) / bars.len().max(1) as f64, chart.bottom());
    let mut labels = Vec::new();
    for (n, (name, pair)) in bars.iter().enumerate() {
        let x = LEFT + wide * n as f64;
        for (which, value) in pair.iter().enumerate() {
            let top = y.at(*value as f64);
            let said = format!("{name}: {} of {}", grouped(*value), names[which]);
            let left = x + wide * [0.08, 0.5][which];
            chart.rect((left, top), (0.42 * wide, (bottom - top).max(0.0)), ROLES[which], &said);
        }
        labels.push((x + wide / 2.0, name.clone()));
    }
    labels
}

/// How often each stack distance occurred.
fn distances(runs: &[Run; 2], of: &str, look: Look) -> Option<Chart> {
    let mut chart = Chart::new(look, "Stack distances", of);
    let both = [runs[0].distances()?, runs[1].distances()?];
    let counted = both.map(by_doubling);
    let many = counted[0].len().max(counted[1].len());
    let at = |n: usize| [0, 1].map(|which: usize| counted[which].get(n).copied().unwrap_or(0));
    let mut bars: Vec<(String, [u64; 2])> =
        (0u32..).zip(0..many).map(|(name, n)| (from_doubling(name), at(n))).collect();
    bars.push(("first".into(), both.map(StackDistances::cold)));
    let labels = pairs(&mut chart, runs.map(|run| run.name), "accesses", &bars);
    chart.x_axis(DISTANCE_AXIS, &labels);
    Some(chart)
}

/// Misses of the sets of a level. Two levels with other numbers of sets are cut into as many parts.
fn sets(runs: &[Run; 2], of: &str, look: Look) -> Option<Chart> {
    let mut chart = Chart::new(look, &format!("Misses by set of {}", level(runs)), of);
    let both: [&[SetUse]; 2] =
        [runs[0].found.survey.pressure.as_ref()?.sets(), runs[1].found.survey.pressure.as_ref()?.sets()];
    let same = both[0].len() == both[1].len();
    let parts = both[0].len().min(both[1].len()).clamp(1, BARS);
    // The first set of the nth part.
    let first = |which: usize, n: usize| n * both[which].len() / parts;
    let misses = |which: usize, n: usize| -> u64 {
        both[which][first(which, n)..first(which, n + 1)].iter().map(|set| set.misses).sum()
    };
    let bars: Vec<(String, [u64; 2])> = (0..parts)
        .map(|n| {
            let name = if same { first(0, n).to_string() } else { format!("{}/{}", first(0, n), first(1, n)) };
            (name, [misses(0, n), misses(1, n)])
        })
        .collect();
    let each = both[0].len() / parts;
    let unit = if each > 1 { format!("misses of {each} sets") } else { "misses of a set".into() };
    let labels = pairs(&mut chart, runs.map(|run| run.name), if same { &unit } else { "misses of sets" }, &bars);
    chart.x_axis(if same { "set" } else { "set of the first / of the second" }, &labels);
    Some(chart)
}

/// Both levels by name.
fn level(runs: &[Run; 2]) -> String {
    let [a, b] = runs.each_ref().map(Run::level);
    if a == b { a.into() } else { format!("{a} and {b}") }
}

/// Misses of a level as each run goes on; runs of other lengths are as wide.
#[expect(clippy::cast_precision_loss, reason = "counts as places on a chart")]
fn over_time(runs: &[Run; 2], of: &str, look: Look) -> Option<Chart> {
    let mut chart = Chart::new(look, &format!("Misses of {} as the runs go on", level(runs)), of);
    let both: [&OverTime; 2] = [runs[0].found.over.as_ref()?, runs[1].found.over.as_ref()?];
    // Of a stretch that asks the level for nothing there is no share.
    let shares = both.map(|over| -> Vec<(usize, f64)> {
        let asked = over.stretches().iter().enumerate().filter(|(_, stretch)| stretch.accesses > 0);
        asked.map(|(n, s)| (n, 100.0 * s.classes.iter().sum::<u64>() as f64 / s.accesses as f64)).collect()
    });
    let most = shares.iter().flatten().map(|(_, share)| *share).fold(1.0, f64::max);
    let y = chart.y_axis("demand accesses that miss, %", &steps(most), &|value| format!("{}%", count(value)));
    let scale = chart.across(0.0, 100.0, false);
    let labels: Vec<(f64, String)> =
        steps(100.0).into_iter().map(|n| (scale.at(n), format!("{}%", count(n)))).collect();
    let lengths = runs.map(|run| run.found.of.references);
    let said = if lengths[0] == lengths[1] {
        format!("part of the {} references", grouped(lengths[0]))
    } else {
        format!("part of the run: {} and {} references", grouped(lengths[0]), grouped(lengths[1]))
    };
    chart.x_axis(&said, &labels);
    for n in [0, 1] {
        let (each, length) = (both[n].each() as f64, lengths[n].max(1) as f64);
        let at = |edge: usize| scale.at((100.0 * edge as f64 * each / length).min(100.0));
        let points = shares[n].iter().flat_map(|(k, share)| [(at(*k), y.at(*share)), (at(k + 1), y.at(*share))]);
        chart.curve(points.collect(), ROLES[n], 2.0);
    }
    Some(chart)
}
