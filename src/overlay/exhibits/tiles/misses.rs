//! Under the loops: what an estimate by stack distances says of misses, beside those of the innermost cache; and the distances
//! themselves.

use super::super::sheet::{SMALL, Sheet};
use super::signs::one_set;
use super::{COLUMNS, column_of};
use crate::analysis::{ElementDistances, Elements, Histogram};
use crate::overlay::fonts::Weight;
use crate::overlay::info::{Info, innermost};
use crate::overlay::pen::Target;
use crate::overlay::studio::Studio;
use crate::scene::palette::{self, Rgba};
use crate::sim::Policy;
use crate::sim::config::{Allocate, Prefetch};
use crate::units::{ByteRange, grouped, to_f32};
use egui::{Align2, Rect, pos2, vec2};

/// Rows of the table at most; where there are more regions, those that miss most have one.
const ROWS: usize = 6;
/// Ems from row to row.
const PITCH: f32 = 1.45;
/// Ems of the histogram, with its words.
const HISTOGRAM: f32 = 9.4;
/// And at most, where there is more room.
const WIDEST: f32 = 30.0;
const HIGHEST: f32 = 13.0;
/// Ems that it needs beside the tiles.
pub(super) const FREE: [f32; 2] = [17.0, HISTOGRAM];

/// The misses of a region.
struct Row {
    name: String,
    ink: Rgba,
    first: u64,
    estimate: u64,
    own: u64,
}

/// What is shown.
pub(super) struct Misses {
    rows: Vec<Row>,
    sums: [u64; 3],
    /// Lines of the set: those that were chosen, or as many as the innermost cache has; and the name of that.
    lines: u64,
    chosen: bool,
    name: String,
    /// Why it may miss more often than one set.
    reasons: String,
    /// Distances of what the third one names, and first touches.
    histogram: (Histogram, u64, String),
}

/// Lines of the innermost cache; `None` where there are several of them, each of which has its own order of lines.
pub(super) fn lines_of(studio: &Studio) -> Option<u64> {
    let start = studio.timeline().start();
    let mut caches = innermost(start).flat_map(|level| start.caches_of(level));
    let (first, next) = (caches.next()?, caches.next());
    let geometry = start.geometry(first);
    next.is_none().then(|| u64::from(geometry.sets) * u64::from(geometry.ways))
}

/// What the innermost level does otherwise than one set whose oldest line goes.
fn reasons(studio: &Studio) -> String {
    let start = studio.timeline().start();
    let Some(level) = innermost(start).next() else { return String::new() };
    let Some(config) = studio.timeline().config().levels.get(level.index()) else { return String::new() };
    let reasons = [
        (start.level_geometry(level).sets > 1, "conflicts"),
        (config.policy != Policy::default(), "its policy"),
        (config.prefetch != Prefetch::None, "its prefetches"),
        (config.allocate != Allocate::Write, "stores it does not keep"),
    ];
    let reasons: Vec<&str> = reasons.into_iter().filter(|(is, _)| *is).map(|(_, why)| why).collect();
    reasons.join(" or ")
}

impl Misses {
    /// Of these regions; the counts of `info` are of the same references as the distances.
    pub(super) fn new(
        studio: &Studio,
        info: &Info,
        (elements, distances): (&Elements, &ElementDistances),
        regions: &[usize],
        (pin, chosen): (Option<ByteRange>, Option<u64>),
    ) -> Option<Self> {
        let lines = chosen.or(lines_of(studio))?;
        let row = |&region: &usize| {
            let row = info.regions.get(region)?;
            let first = distances.first_touches(region);
            let again = distances.histogram(region).map_or(0, |all| all.at_least(lines));
            Some(Row { name: row.short.clone(), ink: row.color, first, estimate: first + again, own: row.misses })
        };
        let mut rows: Vec<Row> = regions.iter().filter_map(row).collect();
        let sums = rows.iter().fold([0; 3], |[a, b, c], row| [a + row.first, b + row.estimate, c + row.own]);
        if rows.len() > ROWS {
            let mut order: Vec<u64> = rows.iter().map(|row| row.own.max(row.estimate)).collect();
            order.sort_unstable_by_key(|misses| std::cmp::Reverse(*misses));
            let least = order[ROWS - 1];
            rows.retain(|row| row.own.max(row.estimate) >= least);
            rows.truncate(ROWS);
        }
        let histogram = pinned(studio, info, (elements, distances), pin).unwrap_or_else(|| {
            let mut all = Histogram::dense();
            for (distance, count) in regions.iter().filter_map(|&r| distances.histogram(r)).flat_map(Histogram::pairs) {
                all.add_many(distance, count);
            }
            (all, sums[0], "all arrays".to_owned())
        });
        Some(Self {
            rows,
            sums,
            lines,
            chosen: chosen.is_some(),
            name: info.innermost.clone(),
            reasons: reasons(studio),
            histogram,
        })
    }

    /// Fills the lower part of a column, as far as there is room below `from`; the distances stand in `free` where it is given.
    pub(super) fn fill(&self, sheet: &mut Sheet, area: Rect, from: f32, free: Option<Rect>) {
        let em = sheet.em;
        let room = (area.bottom() - from) / em;
        let table = (self.rows.len() as f32 + 1.0) * PITCH + 4.6;
        let both = free.is_none() && room >= table + HISTOGRAM;
        if let Some(free) = free {
            let size = free.size().min(vec2(WIDEST, HIGHEST) * em);
            self.distances(sheet, Rect::from_min_size(free.min, size));
        }
        if room < table {
            return;
        }
        let y = area.bottom() - (table + if both { HISTOGRAM } else { 0.0 }) * em;
        let y = self.table(sheet, area, y) + 1.0 * em;
        if both {
            self.distances(sheet, Rect { min: pos2(area.left(), y), ..area });
        }
    }

    fn table(&self, sheet: &mut Sheet, area: Rect, mut y: f32) -> f32 {
        let (em, quiet) = (sheet.em, palette::TEXT_QUIET);
        let ends = [0.0, 4.2, 8.6].map(|ems| area.right() - ems * em);
        sheet.left(pos2(area.left(), y), "MISSES", Weight::SemiBold, SMALL, quiet, f32::INFINITY);
        for (end, words) in ends.into_iter().zip([self.name.as_str(), "one set", "first"]) {
            sheet.right(pos2(end, y), words, SMALL, quiet);
        }
        y += 1.35 * em;
        sheet.bar(Rect::from_min_max(pos2(area.left(), y), pos2(area.right(), y + 1.0)), palette::TRACK);
        y += 0.3 * em;
        let all = [self.sums[2], self.sums[1], self.sums[0]];
        let rows = self.rows.iter().map(|row| (row.name.as_str(), Some(row.ink), [row.own, row.estimate, row.first]));
        for (name, ink, counts) in rows.chain([("all", None, all)]) {
            let mut x = area.left();
            if let Some(ink) = ink {
                let patch = Rect::from_min_max(pos2(x, y + 0.3 * em), pos2(x + 0.65 * em, y + 0.95 * em));
                sheet.bar(patch, ink);
                x += 1.1 * em;
            }
            sheet.left(pos2(x, y), name, Weight::Regular, 0.92, palette::TEXT, area.right() - 11.0 * em - x);
            for (end, count) in ends.into_iter().zip(counts) {
                sheet.right(pos2(end, y), &grouped(count), 0.92, palette::TEXT_BODY);
            }
            y += PITCH * em;
        }
        let width = area.width();
        let (own, estimate) = (self.sums[2], self.sums[1]);
        let differs = match own.cmp(&estimate) {
            std::cmp::Ordering::Equal => format!("{} misses as often as one set would", self.name),
            std::cmp::Ordering::Greater => {
                format!("{} more in {}: {}", grouped(own - estimate), self.name, self.reasons)
            }
            std::cmp::Ordering::Less => format!("{} fewer in {}", grouped(estimate - own), self.name),
        };
        let what = format!("{}, the oldest goes", one_set(self.lines));
        // Of other lines than those of the cache the misses differ anyway.
        let differs = if self.chosen { "a press on a bar moves the line".into() } else { differs };
        for line in [what, differs] {
            sheet.left(pos2(area.left(), y), &line, Weight::Regular, 0.8, quiet, width);
            y += 1.2 * em;
        }
        y
    }

    /// How often each distance was, in bars of doubling width, and which ones miss.
    fn distances(&self, sheet: &mut Sheet, area: Rect) {
        let (em, quiet) = (sheet.em, palette::TEXT_QUIET);
        let (histogram, first, of) = &self.histogram;
        let title = format!("STACK DISTANCE · {of}");
        sheet.left(area.min, &title, Weight::SemiBold, SMALL, quiet, area.width());
        let pairs = histogram.pairs();
        let bars = pairs
            .last()
            .map_or(1, |(most, _)| bucket(*most) + 1)
            .max(bucket(u32::try_from(self.lines).unwrap_or(u32::MAX)) + 2);
        let mut counts = vec![0u64; bars];
        pairs.iter().for_each(|(distance, count)| counts[bucket(*distance)] += count);
        let most = counts.iter().copied().chain([*first]).max().unwrap_or(1).max(1);
        let bottom = area.bottom().min(area.top() + HIGHEST * em) - 1.6 * em;
        let chart = Rect::from_min_max(pos2(area.left(), area.top() + 3.9 * em), pos2(area.right(), bottom));
        // The last place is that of first touches, a little apart.
        let pitch = chart.width() / (bars as f32 + 1.6);
        sheet.bar(
            Rect { min: pos2(chart.left(), chart.bottom()), max: pos2(chart.right(), chart.bottom() + 1.0) },
            palette::TRACK,
        );
        let bar = |sheet: &mut Sheet, x: f32, count: u64, ink: Rgba| {
            if count > 0 {
                let height = (chart.height() * to_f32(count as f64 / most as f64)).max(1.5);
                let min = pos2(x + 0.08 * pitch, chart.bottom() - height);
                sheet.bar(Rect { min, max: pos2(x + 0.92 * pitch, chart.bottom()) }, ink);
                let fits = |words: &String| pitch > (0.43 * words.len() as f32 + 0.25) * em;
                let words = Some(grouped(count)).filter(fits).unwrap_or_else(|| thousands(count));
                if fits(&words) {
                    let middle = pos2(x + 0.5 * pitch, min.y - 1.05 * em);
                    sheet.center(middle, &words, Weight::Regular, 0.72, palette::TEXT_BODY);
                }
            }
        };
        let at = |place: f32| chart.left() + place * pitch;
        let edge = place(self.lines);
        for (n, count) in counts.iter().enumerate() {
            let ink = if n as f32 + 0.5 < edge { palette::SERIES[0] } else { palette::MISS };
            bar(sheet, at(n as f32), *count, ink);
            // A press has this distance and greater ones miss.
            if let Some(column) = n.checked_sub(1).and_then(|n| column_of(1 << n)) {
                let min = pos2(at(n as f32), chart.top());
                let place =
                    Rect { min, max: pos2(at(n as f32 + 1.0), chart.bottom() + 1.4 * em) }.intersect(sheet.sight);
                if place.is_positive() {
                    sheet.plane.rows.push((place, Target::Column(column, COLUMNS[usize::from(column)].name)));
                }
            }
            if n % 2 == 1 || n == 0 {
                let from = if n == 0 { 0 } else { 1u64 << (n - 1) };
                let middle = pos2(at(n as f32 + 0.5), chart.bottom() + 0.3 * em);
                sheet.center(middle, &short(from), Weight::Regular, 0.72, quiet);
            }
        }
        bar(sheet, chart.right() - 1.1 * pitch, *first, palette::CLASSES[1]);
        let middle = pos2(chart.right() - 0.6 * pitch, chart.bottom() + 0.3 * em);
        sheet.center(middle, "first", Weight::Regular, 0.72, quiet);
        let x = at(edge);
        sheet.bar(
            Rect::from_min_max(pos2(x - 0.75, chart.top() - 2.1 * em), pos2(x + 0.75, chart.bottom())),
            palette::LIGHT,
        );
        let words = match self.chosen {
            true => one_set(self.lines),
            false => format!("{}: {} lines", self.name, grouped(self.lines)),
        };
        let right = x + 7.0 * em > chart.right();
        let (side, anchor) = if right { (-0.4, Align2::RIGHT_TOP) } else { (0.4, Align2::LEFT_TOP) };
        sheet.text(crate::overlay::plane::Words {
            at: pos2(x + side * em, chart.top() - 2.3 * em),
            anchor,
            text: words,
            weight: Weight::Regular,
            size: 0.78,
            color: palette::TEXT_BODY,
            width: f32::INFINITY,
        });
    }
}

/// The distances of the element that is pinned.
fn pinned(
    studio: &Studio,
    info: &Info,
    (elements, distances): (&Elements, &ElementDistances),
    pin: Option<ByteRange>,
) -> Option<(Histogram, u64, String)> {
    let pin = pin?;
    let region = studio.timeline().region_near(pin.first, info.tick)?;
    let of = studio.tables().regions.get(region)?;
    let mut all = Histogram::default();
    distances.of_address(region, pin.first).into_iter().for_each(|distance| all.add(distance));
    let elem = u64::from(of.elem_bytes.max(1));
    let slot = pin.first.checked_sub(of.base)? / elem.saturating_mul(elements.per(region));
    let counts = elements.of(region).get(usize::try_from(slot).ok()?).copied().unwrap_or_default();
    let first = counts.accesses().saturating_sub(all.total());
    Some((all, first, of.element_name(pin.first)))
}

/// The bar of a distance: 0, 1, 2 and 3, 4 to 7, and so on.
fn bucket(distance: u32) -> usize {
    usize::try_from(u32::BITS - distance.leading_zeros()).unwrap_or(0)
}

/// Where so many lines are among the bars.
fn place(lines: u64) -> f32 {
    if lines == 0 { 0.0 } else { 1.0 + to_f32((lines as f64).log2()) }
}

/// A count in few signs.
fn thousands(n: u64) -> String {
    match n {
        0..=999 => n.to_string(),
        1_000..=999_999 => format!("{:.1}k", n as f64 / 1e3),
        _ => format!("{:.1}M", n as f64 / 1e6),
    }
}

/// A power of two in few signs.
fn short(n: u64) -> String {
    match n {
        0..=9_999 => n.to_string(),
        10_000..=9_999_999 => format!("{}k", n >> 10),
        _ => format!("{}M", n >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_double_and_a_capacity_stands_between_two() {
        assert_eq!([0, 1, 2, 3, 4, 7, 8].map(bucket), [0, 1, 2, 2, 3, 3, 4]);
        // Of 8 lines, distances of 8 and more miss.
        assert_eq!((place(8), bucket(8), bucket(7)), (4.0, 4, 3));
    }
}
