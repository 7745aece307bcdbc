//! The program's source: each line that makes references, with how many and how many of them miss, up to this moment. The line of
//! the reference under way is lit.
//!
//! ```text
//!  SOURCE  L1 misses up to this reference
//!  ^ line                                       references   miss rate
//!  - matmul.c   main
//!  ======|  18   for (int k = 0; k < N; k++)           512       0.1 %
//!  ======| >19     sum += A[i][k] * B[k][j];         8,192      54.2 %
//! ```
//!
//! A click on the heading of a function folds its lines, and unfolds them. A click on the heading of a column sorts. By a number, lines
//! of all functions stand together, and each says its file; the sheet then begins with the first of them and does not follow.
//!
//! The text of these lines is the trace's own, so that it is there where the program's files are not. Where these are there, and say what the
//! trace says, the lines between stand there too, quietly; of long stretches without references the first and last lines. Sizes are in ems, as in [`super::numbers`]. The sheet
//! turns its pages to the line under way until somebody scrolls; the whole picture (a double click) has it follow again.

mod rows;

use self::rows::{Counted, Fold, Row, Run, is_flat, location, order, rows, runs, with_text};
use super::readings::{Reading, Readings, logged};
use super::sheet::{Sheet, scroll_bar};
use super::table::{Arranged, Column, PITCH, Sort, end_of, head};
use super::{Exhibit, Gesture, Picture};
use crate::overlay::csv;
use crate::overlay::fonts::Weight;
use crate::overlay::info::{Info, counted};
use crate::overlay::layout::Layout;
use crate::overlay::pen::{Target, percent};
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::{Tip, line_tip};
use crate::reference::{SourceError, SourceTexts, Tables};
use crate::scene::palette::{self, Rgba};
use crate::scene::{Camera, View};
use crate::timeline::{Share, Timeline};
use crate::units::{grouped, to_f32};
use egui::{Rect, pos2, vec2};
use std::collections::BTreeSet;

/// See the module.
pub struct SourceExhibit {
    readings: Readings,
    sort: Sort,
    folded: BTreeSet<Fold>,
    /// What was counted for the picture that was taken last.
    lines: Vec<Share>,
}

impl SourceExhibit {
    /// For the caches of a studio.
    #[must_use]
    pub fn new(studio: &Studio) -> Self {
        Self { readings: Readings::new(studio), sort: USUAL, folded: BTreeSet::new(), lines: Vec::new() }
    }
}

/// Type of a row, pixels, where type is not scaled.
const EM: f32 = 15.0;
/// How much type grows at most where there is room.
const MOST_GROWN: f32 = 1.5;
/// The largest that type becomes by zooming, of its size at first.
const LARGEST: f32 = 4.0;
/// Ems around the rows.
const MARGIN: f32 = 1.4;
/// Ems of the gutter whose bars say how many of all misses a line makes.
const GUTTER: f32 = 5.0;
/// Miss rate from which on a line's bar is as red as can be, and opacity of that of a line that hardly ever misses.
const OFTEN: f32 = 0.5;
const PALE: f32 = 0.35;
/// Ems from the gutter to the text, in which line numbers stand.
const NUMBERS: f32 = 3.4;
/// Ems of width from which on a row has all its columns.
const ALL_COLUMNS: f32 = 38.0;
/// Signs of the place of a line that are shown where it does not stand under its file.
const PLACE: usize = 18;

/// Ems of room in which some of a text is shown.
const LEAST_TEXT: f32 = 2.0;

/// Width in ems of a blank at the beginning of a line.
const INDENT: f32 = 0.28;

/// Before the heading of a function whose lines are folded, and are not: signs that the typeface has.
const FOLDED: &str = "+";
const UNFOLDED: &str = "−";

/// By place in the files.
const USUAL: Sort = Sort::BY_NAME;

pub(super) const COLUMNS: [Column; 4] = [
    Column { name: "line", width: 0.0, from: 0.0 },
    Column { name: "references", width: 6.5, from: ALL_COLUMNS },
    Column { name: "misses", width: 7.0, from: ALL_COLUMNS },
    Column { name: "miss rate", width: 5.5, from: 0.0 },
];

impl Exhibit for SourceExhibit {
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
        let Reading { info, lines } = self.readings.at(studio, shot, view)?;
        let (moment, timeline, tables) = (studio.moment(), studio.timeline(), studio.tables());
        self.lines = lines;
        let lines = Counted::of(timeline, &self.lines);
        let runs = if lines.is_empty() { Vec::new() } else { runs(timeline, tables, &self.folded) };
        let mut rows = rows(self.sort, &lines, &runs);
        if self.sort == USUAL {
            let number = |line| location(timeline, tables, line).map_or(0, |location| location.line);
            rows = with_text(rows, &runs, studio.sources(), number);
        }
        let current = moment.reference.map(|reference| timeline.lines().row(reference.pc));
        let source = Source {
            timeline,
            tables,
            sources: studio.sources(),
            info: &info,
            lines: &lines,
            runs: &runs,
            rows: &rows,
            sort: self.sort,
            current,
        };
        Ok((Picture::Plane(source.plane(layout, &view.camera)), info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: egui::Pos2, _: f32) -> Option<Tip> {
        let Picture::Plane(plane) = &taken.picture else { return None };
        match plane.rows.iter().find(|(area, _)| area.contains(at))?.1 {
            Target::Line(row) => line_tip(studio, row),
            Target::Fold(line) => {
                let runs = runs(studio.timeline(), studio.tables(), &self.folded);
                let run = runs.iter().find(|run| run.lines.contains(&line))?;
                let does = if run.folded { "a click shows its lines" } else { "a click folds its lines" };
                let together = run.together(&Counted::of(studio.timeline(), &self.lines));
                Some(Tip { title: run.name(), lines: vec![together, does.into()], ..Tip::default() })
            }
            _ => None,
        }
    }

    fn arranged(&self) -> Arranged {
        Arranged { folded: self.folded.clone(), ..Arranged::sorted(self.sort, USUAL) }
    }

    fn arrange(&mut self, to: Arranged) {
        (self.sort, self.folded) = (to.sort.unwrap_or(USUAL), to.folded);
    }

    fn sort(&mut self, column: u8) {
        self.sort = self.sort.turned(column.into(), USUAL);
    }

    fn fold(&mut self, studio: &Studio, line: usize) {
        let runs = runs(studio.timeline(), studio.tables(), &self.folded);
        let Some(run) = runs.iter().find(|run| run.lines.contains(&line)) else { return };
        let fold = run.fold();
        if !self.folded.remove(&fold) {
            self.folded.insert(fold);
        }
    }

    fn csv(&self, studio: &Studio, _: &Taken) -> String {
        let order = order(self.sort, &Counted::of(studio.timeline(), &self.lines));
        csv::lines(studio, &self.lines, &order)
    }

    fn look(&self, camera: Camera, gesture: Gesture, taken: &Taken) -> Camera {
        super::sheet::look(camera, gesture, taken, LARGEST)
    }
}

/// What a picture is made of.
struct Source<'a> {
    timeline: &'a Timeline,
    tables: &'a Tables,
    sources: &'a SourceTexts,
    info: &'a Info,
    /// By row of [`Timeline::lines`], the last for unknown instructions; nothing where no line is known.
    lines: &'a [Counted],
    runs: &'a [Run<'a>],
    rows: &'a [Row],
    sort: Sort,
    /// The line under way.
    current: Option<usize>,
}

/// Where the parts of a row stand, pixels.
struct Columns {
    left: f32,
    right: f32,
    shown: Vec<usize>,
    /// Where the bars of misses end.
    gutter: f32,
    /// Where numbers of lines, or their places, end and texts begin.
    text: f32,
    /// The most misses that a line makes.
    most: u64,
}

impl Source<'_> {
    fn plane(&self, layout: &Layout, camera: &Camera) -> Plane {
        let sight = Rect::from_min_max(layout.area.min, pos2(layout.area.right(), layout.strip.top()));
        let em = EM * layout.type_scale;
        let em = em * grown(sight, em, self.rows.len()) * camera.zoom;
        let mut sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
        if self.rows.is_empty() {
            nothing(&mut sheet);
            return sheet.plane;
        }
        // The headings stay; what is below them is scrolled.
        let (left, right) = (sight.left() + MARGIN * em, sight.right() - MARGIN * em);
        let more = format!("{} misses {}", self.info.innermost, counted(self.info));
        let y = sight.top() + 0.7 * MARGIN * em;
        let (shown, y) = head(&mut sheet, ["SOURCE", &more], &COLUMNS, self.sort, [left, right, y]);
        let body = Rect { min: pos2(sight.left(), y), ..sight };
        let ems = body.height() / em - 0.6;
        let depth = (self.rows.len() as f32 * PITCH - ems).max(0.0);
        let down = if camera.at[1] > 0.0 { camera.at[1].min(depth) } else { self.page(ems).min(depth) };
        (sheet.plane.depth, sheet.plane.down) = (depth, down);
        let most = self.lines.iter().map(|counted| counted.misses).max().unwrap_or(0);
        let gutter = if is_flat(self.sort) && right - left < ALL_COLUMNS * em { 0.4 * GUTTER } else { GUTTER };
        let text = left + (gutter + self.numbers()) * em;
        let columns = Columns { left, right, shown, gutter: left + gutter * em, text, most };
        sheet.sight = body;
        for (n, row) in self.rows.iter().enumerate() {
            let y = body.top() + (n as f32 * PITCH - down) * em;
            // Rows that would stand in the headings, or in the strip, are not shown.
            if y + 0.25 * em >= body.top() && y + 1.2 * em <= body.bottom() {
                let area = Rect::from_min_max(pos2(left, y), pos2(right, y + PITCH * em));
                match *row {
                    Row::Heading(run) => self.heading(&mut sheet, run, area),
                    Row::Line(line) => self.line(&mut sheet, line, area, &columns),
                    Row::Text(run, number) => {
                        let text = self.runs.get(run).and_then(|run| self.sources.line(run.file, number));
                        quiet(&mut sheet, &number.to_string(), text.unwrap_or_default(), area, &columns);
                    }
                    Row::LeftOut(lines) => {
                        quiet(
                            &mut sheet,
                            "…",
                            &format!("{} lines without references", grouped(lines.into())),
                            area,
                            &columns,
                        );
                    }
                }
            }
        }
        if depth > 0.05 {
            scroll_bar(&mut sheet.plane, body, em, down);
        }
        sheet.plane
    }

    /// Where the page with the line under way begins: pages are turned, rows do not creep. Sorted by a number, the first one.
    fn page(&self, ems: f32) -> f32 {
        if is_flat(self.sort) {
            return 0.0;
        }
        let at = self.rows.iter().position(|row| self.is_current(*row));
        // Pages overlap by half, so that what is around the row is seen too.
        let step = (0.5 * ems / PITCH).floor().max(1.0);
        at.map_or(0.0, |at| ((at as f32 / step).floor() * step - (0.5 * step).floor()).max(0.0) * PITCH)
    }

    /// Whether a row is that of the line under way, or of the folded function that has it.
    fn is_current(&self, row: Row) -> bool {
        self.current.is_some_and(|current| match row {
            Row::Heading(run) => self.runs.get(run).is_some_and(|run| run.folded && run.lines.contains(&current)),
            Row::Line(line) => line == current,
            Row::Text(..) | Row::LeftOut(_) => false,
        })
    }

    /// Ems between the gutter and the text: of the number of a line, or of its place.
    fn numbers(&self) -> f32 {
        if !is_flat(self.sort) {
            return NUMBERS;
        }
        let longest = (0..self.lines.len()).map(|line| self.place(line).chars().count()).max().unwrap_or(0);
        0.56 * longest as f32 + 1.0
    }

    /// Where a line is, in few signs: `matmul.c:12`.
    fn place(&self, line: usize) -> String {
        let Some(l) = location(self.timeline, self.tables, line) else { return String::new() };
        let name = l.file.rsplit(['/', '\\']).next().unwrap_or(&l.file);
        let place = format!("{name}:{}", l.line);
        // The number is what must stay.
        let over = place.chars().count().saturating_sub(PLACE);
        if over == 0 { place } else { format!("…{}", place.chars().skip(over + 1).collect::<String>()) }
    }

    /// File and function, above their lines; folded, with what these count together.
    fn heading(&self, sheet: &mut Sheet, at: usize, area: Rect) {
        let Some(run) = self.runs.get(at) else { return };
        let (em, y) = (sheet.em, area.top() + 0.2 * sheet.em);
        let is_current = self.is_current(Row::Heading(at));
        if is_current {
            Self::light(sheet, area);
        }
        let ink = if is_current { palette::TEXT } else { palette::TEXT_QUIET };
        let sign = if run.folded { FOLDED } else { UNFOLDED };
        sheet.left(pos2(area.left(), y), sign, Weight::SemiBold, 0.92, ink, em);
        let counts = if run.folded { format!("   ({})", run.together(self.lines)) } else { String::new() };
        let name = format!("{}{counts}", run.name());
        let x = area.left() + 1.2 * em;
        sheet.left(pos2(x, y), &name, Weight::SemiBold, 0.92, ink, area.right() - x);
        let seen = area.intersect(sheet.sight);
        if seen.is_positive() {
            sheet.plane.rows.push((seen, Target::Fold(run.lines.start)));
        }
    }

    /// Lights a row.
    fn light(sheet: &mut Sheet, area: Rect) {
        let em = sheet.em;
        sheet.bar(area.expand2(vec2(0.5 * em, -1.0)), palette::fade(palette::LIGHT, 0.12));
        let mark =
            Rect::from_min_max(pos2(area.left() - 0.7 * em, area.top()), pos2(area.left() - 0.5 * em, area.bottom()));
        sheet.bar(mark, palette::LIGHT);
    }

    fn line(&self, sheet: &mut Sheet, line: usize, area: Rect, columns: &Columns) {
        let Some(counted) = self.lines.get(line) else { return };
        let (em, y) = (sheet.em, area.top() + 0.2 * sheet.em);
        let location = location(self.timeline, self.tables, line);
        let (number, text, ink) = match location {
            None => (String::new(), "(unknown instructions)", palette::TEXT_QUIET),
            Some(l) => {
                let number = if is_flat(self.sort) { self.place(line) } else { l.line.to_string() };
                let known = self.sources.line(&l.file, l.line).unwrap_or(&l.text);
                (number, if known.is_empty() { l.function.as_str() } else { known }, palette::CODE)
            }
        };
        let is_current = self.is_current(Row::Line(line));
        if is_current {
            Self::light(sheet, area);
        }
        // The bar's length is the line's share of the most that any line misses; it is pale where the line seldom misses.
        let Columns { left, right, shown, gutter, text: x, most } = columns;
        let gutter = Rect::from_min_max(pos2(*left, y + 0.2 * em), pos2(*gutter, y + 0.95 * em));
        sheet.bar(gutter, palette::fade(palette::TRACK, 0.6));
        if counted.misses > 0 {
            let share = counted.misses as f64 / (*most).max(1) as f64;
            let width = (to_f32(share) * gutter.width()).max(1.0);
            let rate = counted.rate().map_or(0.0, to_f32);
            let ink = palette::fade(palette::MISS, PALE + (1.0 - PALE) * (rate / OFTEN).min(1.0));
            sheet.bar(Rect { max: pos2(gutter.left() + width, gutter.bottom()), ..gutter }, ink);
        }
        sheet.right(pos2(x - 0.6 * em, y), &number, 0.92, if is_current { palette::TEXT } else { palette::TEXT_QUIET });
        for &column in shown.iter().skip(1) {
            let (words, ink) = match column {
                1 => (grouped(counted.references), palette::TEXT_BODY),
                2 => (grouped(counted.misses), palette::TEXT_BODY),
                _ => (percent(counted.rate()), palette::TEXT),
            };
            sheet.right(pos2(end_of(&COLUMNS, shown, column, *right, em), y), &words, 1.0, ink);
        }
        let end = end_of(&COLUMNS, shown, 0, *right, em);
        let (weight, ink) = if is_current { (Weight::SemiBold, palette::TEXT) } else { (Weight::Regular, ink) };
        code(sheet, pos2(*x, y), text, weight, ink, end);
        sheet.plane.rows.push((area.intersect(sheet.sight), Target::Line(line)));
    }
}

/// A row that counts nothing: its number and text.
fn quiet(sheet: &mut Sheet, number: &str, text: &str, area: Rect, columns: &Columns) {
    let (em, y) = (sheet.em, area.top() + 0.2 * sheet.em);
    let end = end_of(&COLUMNS, &columns.shown, 0, columns.right, em);
    sheet.right(pos2(columns.text - 0.6 * em, y), number, 0.92, palette::fade(palette::TEXT_QUIET, 0.6));
    code(sheet, pos2(columns.text, y), text, Weight::Regular, palette::TEXT_QUIET, end);
}

/// A line of source, up to `end`. Its indent is the same in every weight of the type.
fn code(sheet: &mut Sheet, at: egui::Pos2, text: &str, weight: Weight, ink: Rgba, end: f32) {
    let told = text.trim_start_matches(' ');
    let x = at.x + (text.len() - told.len()) as f32 * INDENT * sheet.em;
    if end - x >= LEAST_TEXT * sheet.em {
        sheet.left(pos2(x, at.y), told, weight, 1.0, ink, end - x);
    }
}

/// How much type grows where few lines leave room; never so far that a column or a row is lost by it.
fn grown(sight: Rect, em: f32, rows: usize) -> f32 {
    let columns = sight.width() / (em * (ALL_COLUMNS + 2.0 * MARGIN + 12.0));
    let heights = sight.height() / (em * (0.7 * MARGIN + 4.2 + PITCH * rows as f32));
    columns.min(heights).clamp(1.0, MOST_GROWN)
}

/// Where the trace names no source line.
fn nothing(sheet: &mut Sheet) {
    let (em, at) = (sheet.em, sheet.sight.min + egui::vec2(MARGIN, MARGIN) * sheet.em);
    let width = sheet.sight.right() - MARGIN * em - at.x;
    let lines = [
        ("This trace names no source lines.", Weight::SemiBold, palette::TEXT),
        (
            "Programs that are built with -g and recorded by orrery run, cc or capture have them.",
            Weight::Regular,
            palette::TEXT_BODY,
        ),
        ("orrery convert --program adds them to traces of other tools.", Weight::Regular, palette::TEXT_BODY),
    ];
    for (n, (words, weight, ink)) in lines.into_iter().enumerate() {
        sheet.left(pos2(at.x, at.y + n as f32 * PITCH * em), words, weight, 1.0, ink, width);
    }
}

#[cfg(test)]
mod tests;
