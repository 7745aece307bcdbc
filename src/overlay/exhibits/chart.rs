//! Misses over time: a chart for each level, then one for each region. A click goes there, a drag with Shift sets the in and the out
//! point.
//!
//! ```text
//!  LEVELS      misses a reference
//!  L1  42 %    |___.-''-.___.-''-.__ | 100 %
//!  L2   9 %    |_____..______..______|
//!  REGIONS     L1 misses, and references behind them
//!  A           |..###..###..###..
//!  B           |##...##...##...##
//! ```
//!
//! The charts cover what the strip shows. Sizes are in ems, as in [`super::numbers`].

use super::readings::{Readings, logged};
use super::sheet::{SMALL, Sheet, scroll_bar};
use super::{Exhibit, Gesture, Picture};
use crate::axis::Position;
use crate::overlay::fonts::Weight;
use crate::overlay::info::{Info, innermost};
use crate::overlay::layout::Layout;
use crate::overlay::pen::{Target, percent};
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::stretch::Stretch;
use crate::overlay::studio::Studio;
use crate::overlay::tip::{Tip, region_tip};
use crate::reference::SourceError;
use crate::scene::palette::{self, Rgba};
use crate::scene::{Camera, View};
use crate::timeline::Share;
use crate::timeline::cursor::levels;
use crate::units::{LevelId, to_f32};
use egui::{Pos2, Rect, pos2};
use std::ops::Range;

/// See the module.
pub struct ChartExhibit {
    readings: Readings,
    drawn: Option<Series>,
}

impl ChartExhibit {
    /// For the caches of a studio.
    #[must_use]
    pub fn new(studio: &Studio) -> Self {
        Self { readings: Readings::new(studio), drawn: None }
    }
}

/// Type of a row, pixels, where type is not scaled.
const EM: f32 = 14.5;
/// The largest that type becomes by zooming, of its size at first.
const LARGEST: f32 = 4.0;
/// Ems around the charts.
const MARGIN: f32 = 1.4;
/// Ems from one chart to the next, at least, and at most where there is room; and between them.
const PITCH: [f32; 2] = [3.1, 7.5];
const APART: f32 = 0.6;
/// Ems in which names stand.
const NAMES: f32 = 11.0;
/// Pixels of a column, and columns at most: each costs a difference of two counts.
const COLUMN: f32 = 3.0;
const MOST_COLUMNS: usize = 400;
/// Regions that have a chart, at most: those that miss most.
const MOST_REGIONS: usize = 64;

/// What is charted, by column.
struct Series {
    /// Columns, what the strip shows, and how much of the trace there is.
    of: (usize, Stretch, u64),
    /// By level: misses a reference.
    levels: Vec<Vec<f32>>,
    /// By region that is shown: its number, then of all references of a column its own, and its misses in the innermost level.
    regions: Vec<(usize, Vec<[f32; 2]>)>,
}

impl Series {
    fn new(studio: &Studio, of: (usize, Stretch, u64)) -> Self {
        let (timeline, (columns, stretch, _)) = (studio.timeline(), of);
        let shown = stretch.ticks(studio.axis());
        let strip = |level: LevelId| timeline.summary().strip(level.index(), columns, shown.clone());
        let innermost: Vec<usize> = innermost(timeline.start()).map(LevelId::index).collect();
        let misses = |share: &Share| innermost.iter().map(|&level| share.misses[level]).sum::<u64>();
        let columns: Vec<Vec<Share>> =
            (0..columns).map(|n| timeline.regions_over(column(&shown, columns, n)).0).collect();
        let count = columns.iter().map(Vec::len).max().unwrap_or(0);
        let all: Vec<u64> = columns.iter().map(|shares| shares.iter().map(|share| share.references).sum()).collect();
        let of_region = |region: usize| -> Vec<[f32; 2]> {
            let cell = |(shares, &all): (&Vec<Share>, &u64)| {
                let share = shares.get(region).copied().unwrap_or_default();
                [share.references, misses(&share)].map(|n| to_f32(n as f64 / all.max(1) as f64))
            };
            columns.iter().zip(&all).map(cell).collect()
        };
        let mut most: Vec<(u64, usize)> =
            (0..count).map(|n| (columns.iter().filter_map(|shares| shares.get(n)).map(misses).sum(), n)).collect();
        most.sort_by_key(|&(misses, region)| (std::cmp::Reverse(misses), region));
        most.truncate(MOST_REGIONS);
        // Regions stand as everywhere else, so that their rows stay while something else is shown.
        most.sort_by_key(|&(_, region)| region);
        Self {
            of,
            levels: levels(timeline.start()).map(strip).collect(),
            regions: most.into_iter().map(|(_, region)| (region, of_region(region))).collect(),
        }
    }
}

/// The references of a column.
fn column(shown: &Range<u64>, columns: usize, n: usize) -> Range<u64> {
    let place = |n: usize| {
        let part = u128::from(shown.end - shown.start) * n as u128 / columns.max(1) as u128;
        shown.start + u64::try_from(part).unwrap_or(0)
    };
    place(n)..place(n + 1).max(place(n) + 1)
}

impl Exhibit for ChartExhibit {
    fn history(&self, view: &View) -> u64 {
        logged(view)
    }

    fn frame(
        &mut self,
        studio: &mut Studio,
        shot: &Shot,
        view: &View,
        layout: &Layout,
    ) -> Result<(Picture, Info), SourceError> {
        let info = self.readings.at(studio, shot, view)?.info;
        let sight = Rect::from_min_max(layout.area.min, pos2(layout.area.right(), layout.strip.top()));
        let em = EM * layout.type_scale * view.camera.zoom;
        let sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
        let (left, right) = (sight.left() + (MARGIN + NAMES) * em, sight.right() - MARGIN * em);
        let columns =
            usize::try_from(crate::units::to_count((right - left) / COLUMN)).unwrap_or(1).clamp(1, MOST_COLUMNS);
        let of = (columns, shot.playback.stretch, studio.axis().len);
        if self.drawn.as_ref().is_none_or(|series| series.of != of) {
            self.drawn = Some(Series::new(studio, of));
        }
        let Some(series) = &self.drawn else { return Ok((Picture::Plane(sheet.plane), info)) };
        let charts = Charts { studio, info: &info, shot, series, across: [left, right] };
        Ok((Picture::Plane(charts.plane(sheet, &view.camera)), info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        let Picture::Plane(plane) = &taken.picture else { return None };
        match plane.rows.iter().find(|(area, _)| area.contains(at))?.1 {
            Target::Region(region) => region_tip(studio, &taken.info, region),
            _ => None,
        }
    }

    fn look(&self, camera: Camera, gesture: Gesture, taken: &Taken) -> Camera {
        super::sheet::look_from_top(camera, gesture, taken, LARGEST)
    }
}

/// What a picture is made of.
struct Charts<'a> {
    studio: &'a Studio,
    info: &'a Info,
    shot: &'a Shot,
    series: &'a Series,
    /// Where charts begin and end.
    across: [f32; 2],
}

impl Charts<'_> {
    fn plane(&self, mut sheet: Sheet, camera: &Camera) -> Plane {
        let (em, sight) = (sheet.em, sheet.sight);
        let rows = (self.series.levels.len() + self.series.regions.len()).max(1) as f32;
        let around = 2.0 * 2.2 + 2.0 * MARGIN;
        let pitch = ((sight.height() / em - around) / rows).clamp(PITCH[0], PITCH[1]);
        let height = rows * pitch + around;
        let depth = (height - sight.height() / em).max(0.0);
        let down = camera.at[1].clamp(0.0, depth);
        (sheet.plane.depth, sheet.plane.down) = (depth, down);
        let mut y = sight.top() + (MARGIN - down) * em;
        y = self.heading(&mut sheet, y, "LEVELS", "misses for each reference");
        for (level, misses) in self.series.levels.iter().enumerate() {
            let name = self.studio.timeline().config().levels.get(level).map_or("?", |level| level.name.as_str());
            let rate =
                self.info.caches.iter().find(|row| row.core.is_none() && row.name == name).and_then(|row| row.hit_rate);
            let chart = self.chart(
                &mut sheet,
                [y, pitch - APART],
                (name, None),
                &format!("{} miss", percent(rate.map(|rate| 1.0 - rate))),
            );
            // The colour of who had to serve them.
            let ink = palette::served(level + 1, self.series.levels.len());
            let most = bars(&mut sheet, chart, misses.iter().copied(), ink, 0.0);
            self.scale(&mut sheet, chart, most);
            y += pitch * em;
        }
        let words = format!("{} misses, and references behind them, of all references", self.info.innermost);
        y = self.heading(&mut sheet, y + 0.6 * em, "REGIONS", &words);
        let mut listed: Vec<_> = self.series.regions.iter().collect();
        listed.sort_by_key(|(region, _)| self.info.order.place(*region));
        for (region, shares) in listed {
            let Some(row) = self.info.regions.get(*region) else { continue };
            let chart = self.chart(
                &mut sheet,
                [y, pitch - APART],
                (&row.name, Some(row.color)),
                &format!("{} miss", percent(row.miss_rate)),
            );
            let most =
                bars(&mut sheet, chart, shares.iter().map(|share| share[0]), palette::fade(row.color, 0.22), 0.0);
            bars(&mut sheet, chart, shares.iter().map(|share| share[1]), row.color, most);
            self.scale(&mut sheet, chart, most);
            let name = Rect::from_min_max(
                pos2(sight.left() + 0.6 * MARGIN * em, chart.top()),
                pos2(chart.left() - 0.4 * em, chart.bottom()),
            );
            if name.intersect(sight).is_positive() {
                sheet.plane.rows.push((name.intersect(sight), Target::Region(*region)));
            }
            y += pitch * em;
        }
        let all = Rect::from_min_max(pos2(self.across[0], sight.top()), pos2(self.across[1], y.min(sight.bottom())));
        sheet.plane.times.push(all);
        self.playhead(&mut sheet, all);
        if depth > 0.05 {
            scroll_bar(&mut sheet.plane, sight, em, down);
        }
        sheet.plane
    }

    fn heading(&self, sheet: &mut Sheet, y: f32, name: &str, what: &str) -> f32 {
        let (em, quiet) = (sheet.em, palette::TEXT_QUIET);
        let left = sheet.sight.left() + MARGIN * em;
        sheet.left(pos2(left, y), name, Weight::SemiBold, SMALL, quiet, f32::INFINITY);
        let [from, to] = self.across;
        sheet.left(pos2(from, y), what, Weight::Regular, SMALL, quiet, to - from);
        y + 1.8 * em
    }

    /// Name, number and ground of a chart; gives where it is.
    fn chart(&self, sheet: &mut Sheet, [y, height]: [f32; 2], (name, ink): (&str, Option<Rgba>), number: &str) -> Rect {
        let em = sheet.em;
        let (left, width) = (sheet.sight.left() + MARGIN * em, (NAMES - 3.2) * em);
        let mut x = left;
        if let Some(ink) = ink {
            sheet.bar(Rect::from_min_max(pos2(left, y + 0.35 * em), pos2(left + 0.7 * em, y + 1.05 * em)), ink);
            x += 1.1 * em;
        }
        sheet.left(pos2(x, y + 0.1 * em), name, Weight::Medium, 0.95, palette::TEXT, width - (x - left));
        sheet.left(pos2(x, y + 1.3 * em), number, Weight::Regular, 0.85, palette::TEXT_QUIET, width - (x - left));
        let [from, to] = self.across;
        let chart = Rect::from_min_max(pos2(from, y), pos2(to, y + height * em));
        sheet.bar(chart, palette::fade(palette::TRACK, 0.45));
        chart
    }

    /// What the highest bar stands for.
    fn scale(&self, sheet: &mut Sheet, chart: Rect, most: f32) {
        if most > 0.0 {
            let at = pos2(chart.left() - 0.5 * sheet.em, chart.top());
            sheet.right(at, &percent(Some(f64::from(most))), 0.75, palette::TEXT_QUIET);
        }
    }

    /// The playhead, and what lies outside the in and out points dimmed.
    fn playhead(&self, sheet: &mut Sheet, all: Rect) {
        let (axis, stretch) = (self.info.axis, self.shot.playback.stretch);
        let place = |at: Position| all.left() + all.width() * to_f32(stretch.place(axis, at).clamp(0.0, 1.0));
        let [from, to] = self.shot.playback.range;
        let dim = palette::fade(palette::BACKGROUND, 0.6);
        if let Some(from) = from {
            sheet.bar(Rect { max: pos2(place(from), all.bottom()), ..all }, dim);
        }
        if let Some(to) = to {
            sheet.bar(Rect { min: pos2(place(to), all.top()), ..all }, dim);
        }
        if stretch.shows(axis, self.info.position) {
            let x = place(self.info.position);
            sheet.bar(Rect::from_min_max(pos2(x - 0.7, all.top()), pos2(x + 0.7, all.bottom())), palette::LIGHT);
        }
    }
}

/// Bars from the foot of a chart; the highest fills it, unless `most` says what does. What it stands for.
fn bars(sheet: &mut Sheet, chart: Rect, shares: impl Iterator<Item = f32> + Clone, ink: Rgba, most: f32) -> f32 {
    let most = if most > 0.0 { most } else { shares.clone().fold(0.0, f32::max) };
    let width = chart.width() / shares.clone().count().max(1) as f32;
    for (n, share) in shares.enumerate().filter(|(_, share)| *share > 0.0) {
        let height = (chart.height() * (share / most).min(1.0)).max(1.0);
        let x = chart.left() + n as f32 * width;
        sheet.bar(Rect::from_min_max(pos2(x, chart.bottom() - height), pos2(x + width, chart.bottom())), ink);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::tests::studio;
    use crate::overlay::{Parts, Playback};

    #[test]
    fn charts_sum_to_what_the_tables_count() {
        let studio = studio();
        let columns = 10;
        let series = Series::new(&studio, (columns, Stretch::default(), 1000));
        let all = studio.timeline().regions_over(0..1000).0;
        assert_eq!(series.levels.len(), studio.timeline().start().levels());
        assert!(series.levels[0].iter().all(|share| (0.0..=1.0).contains(share)) && series.levels[0][0] > 0.0);
        assert_eq!(series.regions.iter().map(|(region, _)| *region).collect::<Vec<_>>(), [0, 1]);
        for (region, shares) in &series.regions {
            assert_eq!(shares.len(), columns);
            // A streams: three of four references are its own in every part.
            let expected = all[*region].references as f64 / 1000.0;
            assert!(shares.iter().all(|share| (f64::from(share[0]) - expected).abs() < 0.02), "{shares:?}");
            assert!(shares.iter().all(|share| share[1] <= share[0]), "misses are some of the references");
        }
    }

    #[test]
    fn columns_cover_the_references_once_and_none_is_empty() {
        for (shown, columns) in [(0..1000, 7), (5..6, 1), (10..2000, 400), (0..3, 10)] {
            let all: Vec<Range<u64>> = (0..columns).map(|n| column(&shown, columns, n)).collect();
            assert!(all.iter().all(|column| column.start < column.end), "{all:?}");
            assert_eq!(all[0].start, shown.start);
            if columns as u64 <= shown.end - shown.start {
                assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start), "{all:?}");
                assert_eq!(all[columns - 1].end, shown.end);
            }
        }
    }

    #[test]
    fn a_place_in_a_chart_is_one_in_the_part_that_the_strip_shows() {
        let mut studio = studio();
        let mut chart = ChartExhibit::new(&studio);
        let axis = studio.axis();
        let stretch = Stretch::default().closer(axis, 4.0, Position::at(500));
        let shot = Shot::still([900, 600], Position::at(500), View::default(), Parts::default());
        let shot = Shot { playback: Playback { stretch, ..Playback::default() }, ..shot };
        let taken = shot.take(&mut studio, &mut chart).expect("in memory");
        let Picture::Plane(plane) = &taken.picture else { panic!("charts are a plane") };
        let area = plane.times[0];
        let shown = stretch.ticks(axis);
        for (x, tick) in [(area.left() + 0.1, shown.start), (area.center().x, 500), (area.right() - 0.1, shown.end)] {
            let found = taken.time_at(pos2(x, area.center().y)).expect("in the chart").tick();
            assert!(found.abs_diff(tick) <= 2, "{found} for {tick}");
        }
    }
}
