//! The tables as a picture of their own, larger than beside the rings and with all their rows: this reference, levels, TLBs and
//! regions. What does not fit is scrolled to.
//!
//! ```text
//! wide                               narrow
//! +---------------+----------------+ +------------+
//! | reference     | regions        | | reference  |
//! | levels        |   a            | | levels     |
//! | TLBs          |   b ...        | | TLBs       |
//! +---------------+----------------+ | regions ...|
//!                                    +------------+
//! ```
//!
//! Sizes are in ems, a row's type being one em. [`Camera::at`] counts ems down from the top, [`Camera::zoom`] enlarges the type.

use super::readings::{Readings, logged};
use super::sheet::{SMALL, Sheet, scroll_bar};
use super::table::{Arranged, Sort};
use super::{Column as Heading, Exhibit, Gesture, Picture};
use crate::overlay::csv;
use crate::overlay::fonts::Weight;
use crate::overlay::info::{Info, RegionRow, counted};
use crate::overlay::layout::Layout;
use crate::overlay::pen::{Target, percent};
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::{Tip, region_tip};
use crate::reference::SourceError;
use crate::scene::palette;
use crate::scene::{Camera, Shade, View};
use crate::units::grouped;
use egui::{Pos2, Rect, pos2, vec2};
use std::cmp::Ordering;

/// See the module.
pub struct NumberExhibit {
    readings: Readings,
    /// Of the table of regions; by no column, they are as in the trace.
    sort: Sort,
}

impl NumberExhibit {
    /// For the caches of a studio.
    #[must_use]
    pub fn new(studio: &Studio) -> Self {
        Self { readings: Readings::new(studio), sort: Sort::default() }
    }
}

/// Type of a row, pixels, where type is not scaled; beside the rings it is 13.5.
const EM: f32 = 16.0;
/// How much type grows at most where there is room.
const MOST_GROWN: f32 = 1.6;
/// Times as small as type gets where all is in sight then.
const LEAST_SHRUNK: f32 = 0.68;
/// The largest that type becomes by zooming, of its size at first.
const LARGEST: f32 = 4.0;
/// Ems from row to row.
const PITCH: f32 = 1.75;
/// Ems of width from which on regions stand beside the other tables.
const TWO_COLUMNS: f32 = 54.0;
/// Ems from which on a table shows all its columns.
const ALL_COLUMNS: f32 = 25.0;
/// Ems around the tables.
const MARGIN: f32 = 1.4;
/// Width of a digit, ems.
const DIGIT: f32 = 0.62;

/// The headings of the table of regions. Where they stand follows from the room that there is.
pub(super) const COLUMNS: [Heading; 3] = [
    Heading { name: "region", width: 0.0, from: 0.0 },
    Heading { name: "references", width: 7.0, from: ALL_COLUMNS },
    Heading { name: "miss rate", width: 5.0, from: 0.0 },
];

/// Compares two regions by a column.
fn compare(column: usize, a: &RegionRow, b: &RegionRow) -> Ordering {
    match column {
        0 => a.name.cmp(&b.name),
        1 => a.references.cmp(&b.references),
        _ => a.miss_rate.unwrap_or(-1.0).total_cmp(&b.miss_rate.unwrap_or(-1.0)),
    }
}

/// The order of the regions of a moment.
fn order(sort: Sort, info: &Info) -> Vec<usize> {
    let rows = &info.regions;
    sort.order(info.listed(), &|column, a, b| compare(column, &rows[a], &rows[b]))
}

impl Exhibit for NumberExhibit {
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
        let shown = Shown { info: &info, sort: self.sort, order: order(self.sort, &info) };
        Ok((Picture::Plane(tables(&shown, layout, &view.camera)), info))
    }

    fn arranged(&self) -> Arranged {
        Arranged::sorted(self.sort, Sort::default())
    }

    fn arrange(&mut self, to: Arranged) {
        self.sort = to.sort.unwrap_or_default();
    }

    fn sort(&mut self, column: u8) {
        self.sort = self.sort.turned(column.into(), Sort::default());
    }

    fn csv(&self, _: &Studio, taken: &Taken) -> String {
        csv::tables_in(&taken.info, &order(self.sort, &taken.info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        let Picture::Plane(plane) = &taken.picture else { return None };
        match plane.rows.iter().find(|(area, _)| area.contains(at))?.1 {
            Target::Region(region) => region_tip(studio, &taken.info, region),
            _ => None,
        }
    }

    fn look(&self, camera: Camera, gesture: Gesture, taken: &Taken) -> Camera {
        let Picture::Plane(plane) = &taken.picture else { return camera };
        let down = |by: f32| Camera { at: [0.0, camera.at[1] - by / plane.unit], ..camera };
        let zoomed = |zoom: f32| Camera { zoom: zoom.clamp(1.0, LARGEST), ..camera };
        let Camera { at: [_, y], zoom } = match gesture {
            Gesture::Closer(factor, _) => zoomed(camera.zoom * factor),
            Gesture::Wheel(by, _) => down(by),
            Gesture::Drag(by) => down(by.y),
            Gesture::Whole => Camera::default(),
        };
        Camera { at: [0.0, y.clamp(0.0, plane.depth.max(0.0))], zoom }
    }
}

/// What is shown of a moment.
struct Shown<'a> {
    info: &'a Info,
    sort: Sort,
    /// Of its regions.
    order: Vec<usize>,
}

/// What tables are made of.
impl Sheet {
    /// The heading of a table, a line under it, and the names of its two columns of numbers.
    fn heading(&mut self, column: &Column, y: f32, name: &str, more: &str, [counts, rate]: [&str; 2]) -> f32 {
        let (em, quiet) = (self.em, palette::TEXT_QUIET);
        let end = column.right - 5.5 * em;
        self.left(pos2(column.left, y), name, Weight::SemiBold, SMALL, quiet, f32::INFINITY);
        let from = column.left + (0.75 * name.chars().count() as f32 * SMALL + 1.0) * em;
        let to = if column.all { end - DIGIT * counts.chars().count() as f32 * em } else { end };
        self.left(pos2(from, y), more, Weight::Regular, SMALL, palette::TEXT_BODY, to - from);
        self.right(pos2(column.right, y), rate, SMALL, quiet);
        if column.all {
            self.right(pos2(end, y), counts, SMALL, quiet);
        }
        let line = Rect::from_min_max(pos2(column.left, y + 1.4 * em), pos2(column.right, y + 1.4 * em + 1.0));
        self.bar(line, palette::TRACK);
        y + 1.9 * em
    }

    /// Count and rate of a row; gives where they begin.
    fn numbers(&mut self, column: &Column, y: f32, count: u64, rate: Option<f64>) -> f32 {
        let (em, end, count) = (self.em, column.right - 5.5 * self.em, grouped(count));
        self.right(pos2(column.right, y), &percent(rate), 1.0, palette::TEXT);
        if !column.all {
            return column.right - 4.0 * em;
        }
        self.right(pos2(end, y), &count, 1.0, palette::TEXT_BODY);
        end - (DIGIT * count.chars().count() as f32 + 0.6) * em
    }
}

/// Where tables stand under each other.
struct Column {
    left: f32,
    right: f32,
    /// Whether there is room for all columns of a table.
    all: bool,
}

/// The tables of a moment. Where they leave room their type grows, but no table loses a column by that.
fn tables(shown: &Shown<'_>, layout: &Layout, camera: &Camera) -> Plane {
    let sight = Rect::from_min_max(layout.area.min, pos2(layout.area.right(), layout.strip.top()));
    let em = EM * layout.type_scale;
    let (_, bottom) = laid_out(shown, sight, em, 0.0);
    let width = sight.width() / em;
    let columns = [TWO_COLUMNS, ALL_COLUMNS].map(|least| least + 2.0 * MARGIN);
    let most = columns.into_iter().find(|least| width >= *least).map_or(1.0, |least| width / least);
    let fitting = sight.height() / (bottom - sight.top()).max(1.0);
    // Somewhat smaller type is better than rows out of sight; where that is not enough they are scrolled to.
    let least = if fitting >= LEAST_SHRUNK { LEAST_SHRUNK } else { 1.0 };
    let grown = fitting.min(most).clamp(least, MOST_GROWN);
    let em = em * grown * camera.zoom;
    let (mut plane, bottom) = laid_out(shown, sight, em, camera.at[1]);
    (plane.unit, plane.down) = (em, camera.at[1]);
    // Type that was grown to fill the height ends there but for rounding.
    plane.depth = Some((bottom - sight.bottom()) / em + camera.at[1]).filter(|depth| *depth > 0.05).unwrap_or(0.0);
    if plane.depth > 0.0 {
        scroll_bar(&mut plane, sight, em, camera.at[1]);
    }
    if camera.at[1] > plane.depth + 0.01 {
        // Scrolled where there was less room.
        return tables(shown, layout, &Camera { at: [0.0, plane.depth], ..*camera });
    }
    plane
}

/// The tables with type of `em` pixels, scrolled down by so many ems, and where they end.
fn laid_out(shown: &Shown<'_>, sight: Rect, em: f32, down: f32) -> (Plane, f32) {
    let info = shown.info;
    let mut sheet = Sheet { plane: Plane::default(), em, sight };
    let (left, right) = (sight.left() + MARGIN * em, sight.right() - MARGIN * em);
    // Rounding must not take a column away from type that was grown up to it.
    let width = (right - left) / em + 0.01;
    let column = |left: f32, right: f32| Column { left, right, all: (right - left) / em + 0.01 >= ALL_COLUMNS };
    let top = sight.top() + (MARGIN - down) * em;
    let bottom = if width >= TWO_COLUMNS {
        let middle = 0.5 * (left + right);
        let (one, other) = (column(left, middle - 1.5 * em), column(middle + 1.5 * em, right));
        let y = reference(&mut sheet, &one, top, info);
        let first = caches(&mut sheet, &one, y, info);
        first.max(regions(&mut sheet, &other, top, shown))
    } else {
        let one = column(left, right);
        let y = reference(&mut sheet, &one, top, info);
        let y = caches(&mut sheet, &one, y, info);
        regions(&mut sheet, &one, y, shown)
    };
    (sheet.plane, bottom)
}

/// The reference under way, from `y` on; gives where the next table begins.
fn reference(sheet: &mut Sheet, column: &Column, y: f32, info: &Info) -> f32 {
    let (em, width) = (sheet.em, column.right - column.left);
    let at = |y: f32| pos2(column.left, y);
    let line = Rect::from_min_max(at(y + 1.4 * em), pos2(column.right, y + 1.4 * em + 1.0));
    sheet.left(at(y), "REFERENCE", Weight::SemiBold, SMALL, palette::TEXT_QUIET, f32::INFINITY);
    // Of which trace, as this may stand beside another.
    let from = at(y) + vec2(9.0 * em * SMALL, 0.0);
    sheet.left(from, &info.title, Weight::Regular, SMALL, palette::TEXT_BODY, column.right - from.x);
    sheet.bar(line, palette::TRACK);
    let of = format!("{} of {}", grouped(info.tick), grouped(info.len));
    let mut y = y + 1.8 * em;
    sheet.left(at(y), &of, Weight::SemiBold, 1.3, palette::TEXT, width);
    y += 2.1 * em;
    let what = if info.now.what.is_empty() { "end of the trace" } else { &info.now.what };
    sheet.left(at(y), what, Weight::SemiBold, 1.1, info.now.color.unwrap_or(palette::TEXT), width);
    y += 1.7 * em;
    // As many lines as most references have, so that the tables below stay where they are.
    let lines = LINES - if sheet.sight.height() < LOW * em { 2 } else { 0 };
    let until = y + lines as f32 * 1.4 * em;
    let code = [(&info.now.code, palette::CODE), (&info.now.location, palette::TEXT_QUIET)];
    let lines = info.now.why.iter().map(|line| (line, palette::TEXT_BODY)).chain(code);
    for (line, color) in lines.filter(|(line, _)| !line.is_empty()) {
        sheet.left(at(y), line, Weight::Regular, 0.95, color, width);
        y += 1.4 * em;
    }
    y.max(until) + 1.2 * em
}

/// Lines about a reference for which there is always room.
const LINES: usize = 6;
/// Ems below which a sheet is low: there is room for two lines less.
const LOW: f32 = 26.0;

/// Levels and TLBs.
fn caches(sheet: &mut Sheet, column: &Column, y: f32, info: &Info) -> f32 {
    let em = sheet.em;
    let name =
        Rect::from_min_max(pos2(column.left, y - 0.2 * em), pos2(0.5 * (column.left + column.right), y + 1.3 * em));
    if name.intersect(sheet.sight).is_positive() {
        sheet.plane.rows.push((name.intersect(sheet.sight), Target::Caches));
    }
    let mut y = sheet.heading(column, y, "CACHES", &info.caches_name, ["misses", "miss rate"]);
    for row in &info.caches {
        let (indent, weight) = if row.core.is_some() { (em, Weight::Regular) } else { (0.0, Weight::SemiBold) };
        let x = column.left + indent;
        let end = sheet.numbers(column, y, row.misses, row.miss_rate());
        named(sheet, x, y, end, weight, [&row.name, &row.shape]);
        let bar = Rect::from_min_max(pos2(x, y + 1.5 * em), pos2(column.right, y + 1.72 * em));
        temperature(sheet, bar, row.temperature);
        y += (PITCH + 0.5) * em;
    }
    let quiet = palette::TEXT_QUIET;
    sheet.left(pos2(column.left, y - 0.4 * em), "cold", Weight::Regular, SMALL, quiet, f32::INFINITY);
    sheet.right(pos2(column.right, y - 0.4 * em), "warm", SMALL, quiet);
    y += 1.2 * em;
    if !info.tlbs.is_empty() {
        y = sheet.heading(column, y + 0.4 * em, "TLBS", "", ["misses", "miss rate"]);
        for row in &info.tlbs {
            let end = sheet.numbers(column, y, row.misses, row.miss_rate());
            named(sheet, column.left, y, end, Weight::SemiBold, [&row.name, &row.shape]);
            y += PITCH * em;
        }
        let width = column.right - column.left;
        sheet.left(pos2(column.left, y), "page walks", Weight::Regular, 1.0, palette::TEXT_BODY, width);
        sheet.right(pos2(column.right, y), &grouped(info.walks), 1.0, palette::TEXT);
        y += PITCH * em;
    }
    y + 0.8 * em
}

/// A name, and quieter what it is like, up to `end`.
fn named(sheet: &mut Sheet, x: f32, y: f32, end: f32, weight: Weight, [name, shape]: [&str; 2]) {
    let em = sheet.em;
    sheet.left(pos2(x, y), name, weight, 1.0, palette::TEXT, end - x);
    let from = x + (0.64 * name.chars().count() as f32 + 0.8) * em;
    // The size alone where there is no room for the rest.
    let fits = |words: &str| 0.52 * words.chars().count() as f32 * em <= end - from;
    let short = shape.split_once(", ").map_or(shape, |(size, _)| size);
    if let Some(words) = [shape, short].into_iter().find(|words| fits(words)) {
        sheet.left(pos2(from, y + 0.1 * em), words, Weight::Regular, 0.9, palette::TEXT_QUIET, end - from);
    }
}

/// From the middle to the left = cold, to the right = warm.
fn temperature(sheet: &mut Sheet, bar: Rect, temperature: f32) {
    sheet.bar(bar, palette::TRACK);
    let middle = bar.center().x;
    let end = middle + 0.5 * bar.width() * temperature.clamp(-1.0, 1.0);
    let fill = Rect::from_min_max(pos2(middle.min(end), bar.top()), pos2(middle.max(end), bar.bottom()));
    sheet.bar(fill, if temperature < 0.0 { palette::COLD } else { palette::WARM });
    let tick = Rect::from_center_size(bar.center(), vec2(0.1 * sheet.em, bar.height() + 0.2 * sheet.em));
    sheet.bar(tick, palette::TEXT_QUIET);
}

/// All regions, a row each.
fn regions(sheet: &mut Sheet, column: &Column, y: f32, shown: &Shown<'_>) -> f32 {
    let (em, info) = (sheet.em, shown.info);
    let signed = |n: usize, words: &str| format!("{}{words}", shown.sort.sign(n));
    let miss = signed(2, &format!("{} miss", info.innermost));
    let of = info.counted.as_ref().map_or(String::new(), |_| counted(info));
    let top = y;
    let mut y = sheet.heading(column, y, &signed(0, "REGIONS"), &of, [&signed(1, "references"), &miss]);
    for (n, row) in shown.order.iter().filter_map(|&n| Some((n, info.regions.get(n)?))) {
        let area = Rect::from_min_max(pos2(column.left, y - 0.2 * em), pos2(column.right, y + (PITCH - 0.2) * em));
        if area.intersects(sheet.sight) {
            let end = sheet.numbers(column, y, row.references, row.miss_rate);
            let (share, ink) = match row.shade {
                Shade::Full => (1.0, palette::TEXT),
                Shade::Dim => (0.4, palette::TEXT_QUIET),
                Shade::Hidden => (0.15, palette::TEXT_QUIET),
            };
            let patch = Rect::from_min_size(pos2(column.left, y + 0.25 * em), vec2(0.75 * em, 0.75 * em));
            sheet.bar(patch, palette::fade(row.color, share));
            let x = column.left + 1.3 * em;
            let fits = 0.58 * row.name.chars().count() as f32 * em <= end - x;
            let name = if fits { &row.name } else { &row.short };
            sheet.left(pos2(x, y), name, Weight::Regular, 1.0, ink, end - x);
            sheet.plane.rows.push((area.intersect(sheet.sight), Target::Region(n)));
            let patch = Rect { max: pos2(x - 0.3 * em, area.bottom()), ..area };
            sheet.plane.rows.push((patch.intersect(sheet.sight), Target::Color(n)));
        }
        y += PITCH * em;
    }
    // Behind the rows, where the headings are in sight.
    let middle = column.right - 5.0 * em;
    let names = if column.all { middle - 8.0 * em } else { middle };
    for (n, from, to) in [(0, column.left, names), (1, names, middle), (2, middle, column.right)] {
        let area = Rect::from_min_max(pos2(from, top - 0.2 * em), pos2(to, top + 1.3 * em)).intersect(sheet.sight);
        if area.is_positive() {
            sheet.plane.rows.push((area, Target::Column(n, COLUMNS[usize::from(n)].name)));
        }
    }
    y + 0.5 * em
}

#[cfg(test)]
mod tests;
