//! The same trace under two machines, or two traces: their numbers side by side, and a strip of which of the two misses more, where.
//!
//! ```text
//!  COMPARE                                          A: paper        B: 1 KiB
//!  name                                      A           B   B - A
//!  LEVELS
//!  L1   512 B, 2 sets x 8 ways          4,512       2,204   -2,308  <=====|
//!  REGIONS
//!  A[16][16]                              320         256      -64       =|
//!  LINES ...
//!  WHO MISSES MORE   (above: B, below: A)
//!  ..##....._____###...
//! ```
//!
//! Both are at the same reference or, where they are two traces, at references that belong together: see
//! [`crate::timeline::in_step`]. A click on a heading sorts the rows of each table. Sizes are in ems, as in [`super::numbers`].

mod rows;

pub(super) use self::rows::COLUMNS;
pub(in crate::overlay) use self::rows::Row;
use self::rows::{Tables as Rows, order, rows};
use super::readings::{Readings, logged};
use super::sheet::{SMALL, Sheet, scroll_bar};
use super::table::{Arranged, Column as Heading, Sort};
use super::{Exhibit, Gesture, Picture};
use crate::axis::Position;
use crate::overlay::baseline::Baseline;
use crate::overlay::csv;
use crate::overlay::fonts::Weight;
use crate::overlay::info::{Info, counted};
use crate::overlay::layout::Layout;
use crate::overlay::pen::{Target, percent};
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::stretch::Stretch;
use crate::overlay::strip::Strip;
use crate::overlay::studio::Studio;
use crate::overlay::tip::{Tip, line_tip, region_tip};
use crate::reference::SourceError;
use crate::scene::palette::{self, Rgba};
use crate::scene::{Camera, View};
use crate::timeline::StepBy;
use crate::units::{grouped, to_f32};
use egui::{Pos2, Rect, pos2};

/// See the module.
pub struct CompareExhibit {
    now: Readings,
    /// Of what it is compared with.
    before: Option<Readings>,
    strip: Option<Difference>,
    /// By no column, rows are as they belong together, lines by how much they differ.
    sort: Sort,
    /// Of the picture that was taken last, in the order that is seen.
    rows: Rows,
}

/// Misses a reference in the innermost level by column: this one's less the other's.
struct Difference {
    of: (usize, Stretch, u64),
    columns: Vec<f32>,
}

impl CompareExhibit {
    /// For the caches of a studio, and of the one that it is compared with.
    #[must_use]
    pub fn new(studio: &Studio) -> Self {
        Self {
            now: Readings::new(studio),
            before: studio.baseline().map(|baseline| Readings::new(baseline.studio())),
            strip: None,
            sort: Sort::default(),
            rows: Rows::new(),
        }
    }
}

/// Type of a row, pixels, where type is not scaled.
const EM: f32 = 14.5;
/// The largest that type becomes by zooming, of its size at first.
const LARGEST: f32 = 4.0;
/// Ems from row to row.
const PITCH: f32 = 1.6;
/// Ems around the rows.
const MARGIN: f32 = 1.4;
/// Ems of a column of numbers.
const COLUMN: f32 = 7.2;
/// Ems of the bars that show differences.
const BARS: f32 = 8.0;
/// Ems of a column of numbers without rates.
const NARROW: f32 = 5.5;
/// Ems of width from which on there are rates.
const WITH_RATES: f32 = 36.0;
/// Ems of width from which on there are bars beside numbers.
const WITH_BARS: f32 = 46.0;
/// Ems of the name of a table.
const HEADING: f32 = 1.5;
/// Ems of height of the strip.
const STRIP: f32 = 4.0;
/// Fewer misses, and more.
const FEWER: Rgba = palette::COLD;
const MORE: Rgba = palette::MISS;

impl Exhibit for CompareExhibit {
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
        let now = self.now.at(studio, shot, view)?;
        let sight = Rect::from_min_max(layout.area.min, pos2(layout.area.right(), layout.strip.top()));
        let em = EM * layout.type_scale * view.camera.zoom;
        let mut sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
        let other = studio.baseline_shot(shot);
        let before = match (studio.baseline_mut(), &mut self.before) {
            (Some(baseline), Some(readings)) => {
                Some(readings.at(baseline, &other, &View { reach: view.reach, ..other.view.clone() })?)
            }
            _ => None,
        };
        match before {
            None => {
                self.rows.clear();
                nothing(&mut sheet);
            }
            Some(before) => {
                self.rows = rows(studio, &now, &before);
                self.rows.iter_mut().for_each(|(_, rows)| order(self.sort, rows));
                self.difference(studio, shot, sight.width());
                let strip = self.strip.as_ref().map_or(&[][..], |strip| &strip.columns);
                let stretch = shot.playback.stretch;
                let by = studio.baseline().and_then(Baseline::by);
                Tables { now: &now.info, before: &before.info, by, rows: &self.rows, sort: self.sort, strip, stretch }
                    .fill(&mut sheet, &view.camera);
            }
        }
        Ok((Picture::Plane(sheet.plane), now.info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        let Picture::Plane(plane) = &taken.picture else { return None };
        match plane.rows.iter().find(|(area, _)| area.contains(at))?.1 {
            Target::Region(region) => region_tip(studio, &taken.info, region),
            Target::Line(row) => line_tip(studio, row),
            _ => None,
        }
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

    fn csv(&self, _: &Studio, _: &Taken) -> String {
        csv::compared(&self.rows)
    }

    fn look(&self, camera: Camera, gesture: Gesture, taken: &Taken) -> Camera {
        super::sheet::look_from_top(camera, gesture, taken, LARGEST)
    }
}

impl CompareExhibit {
    /// Makes the strip's columns anew where it shows something else.
    fn difference(&mut self, studio: &Studio, shot: &Shot, width: f32) {
        let columns = usize::try_from(crate::units::to_count(width / 3.0)).unwrap_or(1).clamp(1, 2_000);
        let of = (columns, shot.playback.stretch, studio.axis().len);
        if self.strip.as_ref().is_none_or(|strip| strip.of != of) {
            let misses = |strip: &Strip, n: usize| strip.column(n).iter().sum::<f32>();
            let (now, before) = strips(studio, columns, of.1);
            let columns = (0..columns).map(|n| misses(&now, n) - misses(&before, n)).collect();
            self.strip = Some(Difference { of, columns });
        }
    }
}

/// The strips of both, in columns that belong together.
fn strips(studio: &Studio, columns: usize, stretch: Stretch) -> (Strip, Strip) {
    let Some(baseline) = studio.baseline() else { return Default::default() };
    if !baseline.is_trace() {
        return (studio.strip_of(columns, stretch), baseline.studio().strip_of(columns, stretch));
    }
    let border = |n: usize| stretch.at(studio.axis(), n as f64 / columns as f64);
    let between = |from: Position, to: Position| from.tick()..to.ceil().tick().max(from.tick() + 1);
    let now = (0..columns).map(|n| between(border(n), border(n + 1)));
    let before = (0..columns).map(|n| between(baseline.position(border(n)), baseline.position(border(n + 1))));
    (studio.strip_over(now), baseline.studio().strip_over(before))
}

/// Says how there is something to compare.
fn nothing(sheet: &mut Sheet) {
    sheet.notice(
        &[
            "Nothing to compare with.",
            "Change the caches (E): what they were before",
            "is then compared with what they are.",
            "Or find another trace (Ctrl+P): compare with ...",
        ],
        PITCH,
    );
}

/// What a picture is made of.
struct Tables<'a> {
    now: &'a Info,
    before: &'a Info,
    /// What two traces go in step by.
    by: Option<&'a StepBy>,
    rows: &'a Rows,
    sort: Sort,
    strip: &'a [f32],
    stretch: Stretch,
}

impl Tables<'_> {
    fn fill(&self, sheet: &mut Sheet, camera: &Camera) {
        let (em, sight) = (sheet.em, sheet.sight);
        let (left, right) = (sight.left() + MARGIN * em, sight.right() - MARGIN * em);
        let top = self.head(sheet, left, right, sight.top() + MARGIN * em);
        let top = self.headings(sheet, [left, right, top]);
        let foot = sight.bottom() - (STRIP + 2.4) * em;
        let with_strip = foot - top > 8.0 * em;
        let body = Rect::from_min_max(
            pos2(sight.left(), top),
            pos2(sight.right(), if with_strip { foot } else { sight.bottom() }),
        );
        let height: f32 = self.rows.iter().map(|(_, rows)| HEADING + 0.7 + rows.len() as f32 * PITCH).sum();
        let depth = (height - body.height() / em).max(0.0);
        let down = camera.at[1].clamp(0.0, depth);
        (sheet.plane.depth, sheet.plane.down) = (depth, down);
        sheet.sight = body;
        let mut y = body.top() - down * em;
        for (name, rows) in self.rows {
            let most = rows.iter().filter_map(Row::more_now).map(i128::unsigned_abs).max().unwrap_or(0);
            y = heading(sheet, [left, right, y], name);
            for row in rows {
                if y >= body.top() - 0.25 * em && y <= body.bottom() - em {
                    one(sheet, row, [left, right, y], most);
                }
                y += PITCH * em;
            }
            y += 0.7 * em;
        }
        if depth > 0.05 {
            scroll_bar(&mut sheet.plane, body, em, down);
        }
        sheet.sight = sight;
        if with_strip {
            self.strip(sheet, Rect::from_min_max(pos2(left, foot + 0.4 * em), pos2(right, sight.bottom() - 0.6 * em)));
        }
    }

    /// Which two machines, and which references.
    fn head(&self, sheet: &mut Sheet, left: f32, right: f32, y: f32) -> f32 {
        let em = sheet.em;
        let caches = |info: &Info| {
            if info.caches_name.is_empty() { "these caches".to_owned() } else { info.caches_name.clone() }
        };
        let [a, b] = [self.before, self.now].map(caches);
        let (titles, words) = match self.by {
            None if a == b => (vec![format!("A: {a}, before     B: {b}, now")], misses(self.now)),
            None => (vec![format!("A: {a}     B: {b}")], misses(self.now)),
            Some(by) => {
                let title = |letter: char, info: &Info, caches: &str| {
                    let under = if a == b { String::new() } else { format!(" ({caches})") };
                    let parts = [&info.title, &info.subtitle].into_iter().filter(|part| !part.is_empty());
                    let parts: Vec<&str> = parts.map(String::as_str).collect();
                    format!("{letter}: {}{under}", parts.join(", "))
                };
                let under = if a == b { format!("both under {a}, ") } else { String::new() };
                let place = |info: &Info| format!("{} of {}", grouped(info.tick), grouped(info.axis.total));
                let words = match &self.now.counted {
                    Some(_) => format!("A {}, B {}", counted(self.before), counted(self.now)),
                    None => format!("A at {}, B at {}", place(self.before), place(self.now)),
                };
                // How far each of them is decides what the numbers say: it is never cut off.
                let titles = vec![title('A', self.before, &a), title('B', self.now, &b)];
                (titles, format!("{words}\nmisses {under}in step by {by}; less is better"))
            }
        };
        let mut y = y;
        for title in titles {
            sheet.left(pos2(left, y), &title, Weight::SemiBold, 1.15, palette::TEXT, right - left);
            y += 1.7 * em;
        }
        for words in words.lines() {
            sheet.left(pos2(left, y), words, Weight::Regular, 0.9, palette::TEXT_QUIET, right - left);
            y += 1.4 * em;
        }
        y + 0.5 * em
    }

    /// The headings of the columns, which stay while tables are scrolled; gives where these begin.
    fn headings(&self, sheet: &mut Sheet, [left, right, y]: [f32; 3]) -> f32 {
        let (em, end, width) = (sheet.em, numbers(sheet.em, left, right), column(sheet.em, left, right));
        let last = COLUMNS.len() - 1;
        for (n, Heading { name, .. }) in COLUMNS.iter().enumerate() {
            let to = end - (last - n) as f32 * width;
            let from = if n == 0 { left } else { to - width };
            let words = format!("{}{name}", self.sort.sign(n));
            let ink = if self.sort.column() == Some(n) { palette::TEXT } else { palette::TEXT_QUIET };
            if n == 0 {
                sheet.left(pos2(left, y), &words, Weight::Medium, SMALL, ink, to - left);
            } else {
                sheet.right(pos2(to, y), &words, SMALL, ink);
            }
            let area = Rect::from_min_max(pos2(from, y - 0.2 * em), pos2(to, y + 1.3 * em)).intersect(sheet.sight);
            if area.is_positive() {
                sheet.plane.rows.push((area, Target::Column(u8::try_from(n).unwrap_or(u8::MAX), name)));
            }
        }
        sheet.bar(Rect::from_min_max(pos2(left, y + 1.4 * em), pos2(right, y + 1.4 * em + 1.0)), palette::TRACK);
        y + 1.8 * em
    }

    /// Which misses more, where: B above the middle, A below it.
    fn strip(&self, sheet: &mut Sheet, area: Rect) {
        let em = sheet.em;
        let words = format!("WHO MISSES MORE IN {}, OVER THE TRACE: B above, A below", self.now.innermost);
        sheet.left(area.min, &words, Weight::Medium, SMALL, palette::TEXT_QUIET, area.width());
        let bars = Rect { min: pos2(area.left(), area.top() + 1.5 * em), ..area };
        let (middle, half) = (bars.center().y, 0.5 * bars.height());
        sheet.bar(bars, palette::fade(palette::TRACK, 0.55));
        sheet.plane.times.push(bars);
        let width = bars.width() / self.strip.len().max(1) as f32;
        for (n, &more) in self.strip.iter().enumerate().filter(|(_, more)| **more != 0.0) {
            // As in the strip below: height is the root, so that little is seen too.
            let height = half * more.abs().min(1.0).sqrt();
            let x = bars.left() + n as f32 * width;
            let (y0, y1) = if more > 0.0 { (middle - height, middle) } else { (middle, middle + height) };
            sheet.bar(Rect::from_min_max(pos2(x, y0), pos2(x + width, y1)), if more > 0.0 { MORE } else { FEWER });
        }
        sheet.bar(
            Rect::from_min_max(pos2(bars.left(), middle - 0.5), pos2(bars.right(), middle + 0.5)),
            palette::TEXT_QUIET,
        );
        let (axis, stretch, position) = (self.now.axis, self.stretch, self.now.position);
        if stretch.shows(axis, position) {
            let x = bars.left() + bars.width() * to_f32(stretch.place(axis, position).clamp(0.0, 1.0));
            sheet.bar(
                Rect::from_min_max(pos2(x - 0.7, bars.top() - 2.0), pos2(x + 0.7, bars.bottom() + 2.0)),
                palette::LIGHT,
            );
        }
    }
}

/// The name of a table above its rows; gives where these begin.
fn heading(sheet: &mut Sheet, [left, right, y]: [f32; 3], name: &str) -> f32 {
    let em = sheet.em;
    if y >= sheet.sight.top() - 0.3 * em {
        sheet.left(pos2(left, y), name, Weight::SemiBold, SMALL, palette::TEXT_QUIET, right - left);
    }
    y + HEADING * em
}

fn misses(info: &Info) -> String {
    format!("misses {}; less is better", counted(info))
}

/// Whether there is room for rates beside numbers.
fn with_rates(em: f32, left: f32, right: f32) -> bool {
    right - left >= WITH_RATES * em
}

/// The width of a column of numbers.
fn column(em: f32, left: f32, right: f32) -> f32 {
    if with_rates(em, left, right) { COLUMN * em } else { NARROW * em }
}

/// Where the last column of numbers ends.
fn numbers(em: f32, left: f32, right: f32) -> f32 {
    if right - left >= WITH_BARS * em { right - (BARS + 1.0) * em } else { right }
}

/// A row: name, both numbers with their rates, the difference, and a bar to the right where B misses more, to the left where A does.
fn one(sheet: &mut Sheet, row: &Row, [left, right, y]: [f32; 3], most: u128) {
    let em = sheet.em;
    let (end, with_bars) = (numbers(em, left, right), right - left >= WITH_BARS * em);
    let (rates, column) = (with_rates(em, left, right), column(em, left, right));
    let mut x = left;
    if let Some(ink) = row.ink {
        let patch = Rect::from_min_max(pos2(left, y + 0.25 * em), pos2(left + 0.75 * em, y + em));
        sheet.bar(patch, ink);
        x += 1.3 * em;
    }
    let number = |n: Option<u64>, rate: Option<f64>| match (n, rate) {
        (None, _) => "–".to_owned(),
        (Some(n), Some(rate)) if rates => format!("{} · {}", grouped(n), percent(Some(rate))),
        (Some(n), _) => grouped(n),
    };
    let columns = [number(row.now, row.rates[1]), number(row.before, row.rates[0])];
    for (n, words) in columns.iter().enumerate() {
        sheet.right(pos2(end - (n as f32 + 1.0) * column, y), words, 0.95, palette::TEXT_BODY);
    }
    let room = end - 3.0 * column - x;
    let name = format!("{}  {}", row.name, row.more);
    sheet.left(pos2(x, y), name.trim_end(), Weight::Regular, 1.0, palette::TEXT, room);
    if let Some(target) = row.target {
        let area =
            Rect::from_min_max(pos2(left, y - 0.2 * em), pos2(right, y + (PITCH - 0.2) * em)).intersect(sheet.sight);
        if area.is_positive() {
            sheet.plane.rows.push((area, target));
        }
    }
    let Some(more) = row.more_now() else { return };
    let size = more.unsigned_abs();
    let words = match more {
        0 => "same".to_owned(),
        _ => format!("{}{}", if more > 0 { "+" } else { "−" }, grouped(u64::try_from(size).unwrap_or(u64::MAX))),
    };
    let ink = match more {
        0 => palette::TEXT_QUIET,
        1.. => palette::words(MORE),
        _ => palette::words(FEWER),
    };
    sheet.right(pos2(end, y), &words, 0.95, ink);
    if with_bars && size > 0 {
        let middle = right - 0.5 * BARS * em;
        let width = 0.5 * BARS * em * to_f32(size as f64 / most.max(1) as f64);
        let (x0, x1) = if more > 0 { (middle, middle + width) } else { (middle - width, middle) };
        sheet.bar(
            Rect::from_min_max(pos2(x0, y + 0.3 * em), pos2(x1.max(x0 + 1.0), y + 0.95 * em)),
            if more > 0 { MORE } else { FEWER },
        );
        sheet.bar(
            Rect::from_min_max(pos2(middle - 0.5, y + 0.1 * em), pos2(middle + 0.5, y + 1.15 * em)),
            palette::TEXT_QUIET,
        );
    }
}

#[cfg(test)]
mod tests;
