//! The program's source: each line that makes references, with how many and how many of them miss, up to this moment. The line of
//! the reference under way is lit.
//!
//! ```text
//!  SOURCE  up to this reference                references   L1 miss
//!  matmul.c   main
//!  ======|  18   for (int k = 0; k < N; k++)           512     0.1 %
//!  ======| >19     sum += A[i][k] * B[k][j];         8,192    54.2 %
//! ```
//!
//! The text is the trace's own, so that it is there where the program's files are not. Sizes are in ems, as in [`super::numbers`]. The sheet
//! turns its pages to the line under way until somebody scrolls; the whole picture (a double click) has it follow again.

use super::readings::{Reading, Readings, logged};
use super::sheet::{SMALL, Sheet, scroll_bar};
use super::{Exhibit, Gesture, Picture};
use crate::overlay::csv;
use crate::overlay::fonts::Weight;
use crate::overlay::info::{Info, counted, innermost};
use crate::overlay::layout::Layout;
use crate::overlay::pen::{Target, percent};
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::{Tip, line_tip};
use crate::reference::{SourceError, Tables};
use crate::scene::palette;
use crate::scene::{Camera, View};
use crate::timeline::{Share, Timeline};
use crate::units::{LevelId, grouped, to_f32};
use egui::{Rect, pos2};

/// See the module.
pub struct SourceExhibit {
    readings: Readings,
    /// What was counted for the picture that was taken last.
    lines: Vec<Share>,
}

impl SourceExhibit {
    /// For the caches of a studio.
    #[must_use]
    pub fn new(studio: &Studio) -> Self {
        Self { readings: Readings::new(studio), lines: Vec::new() }
    }
}

/// Type of a row, pixels, where type is not scaled.
const EM: f32 = 15.0;
/// How much type grows at most where there is room.
const MOST_GROWN: f32 = 1.5;
/// The largest that type becomes by zooming, of its size at first.
const LARGEST: f32 = 4.0;
/// Ems from row to row.
const PITCH: f32 = 1.6;
/// Ems around the rows.
const MARGIN: f32 = 1.4;
/// Ems of the gutter whose bars say how many of all misses a line makes.
const GUTTER: f32 = 5.0;
/// Ems from the gutter to the text, in which line numbers stand.
const NUMBERS: f32 = 3.4;
/// Ems of width from which on a row has its count of references too.
const ALL_COLUMNS: f32 = 38.0;

/// What is said of a line.
#[derive(Clone, Copy)]
struct Counted {
    references: u64,
    misses: u64,
}

impl Counted {
    /// Of the innermost levels.
    fn of(share: &Share, innermost: &[usize]) -> Self {
        Self { references: share.references, misses: innermost.iter().map(|&level| share.misses[level]).sum() }
    }

    fn rate(self) -> Option<f64> {
        (self.references > 0).then(|| self.misses as f64 / self.references as f64)
    }
}

/// A row of the sheet.
enum Row {
    /// File and function, where another begins.
    Heading(String, String),
    /// Row of [`Timeline::lines`].
    Line(usize),
    /// References of unknown instructions.
    Unknown,
}

/// What stands under each other: lines by file, then by number, with a heading where file or function is another.
fn rows(timeline: &Timeline, tables: &Tables, unknown: bool) -> Vec<Row> {
    let mut lines: Vec<(usize, &crate::reference::SourceLocation)> = timeline
        .lines()
        .places()
        .iter()
        .enumerate()
        .filter_map(|(row, &place)| Some((row, tables.locations.get(place)?)))
        .collect();
    lines.sort_by_key(|(_, l)| (&l.file, l.line, &l.function));
    let mut rows = Vec::with_capacity(lines.len() + 8);
    let mut last: Option<(&str, &str)> = None;
    for (row, l) in lines {
        let here = (l.file.as_str(), l.function.as_str());
        if last.is_none_or(|last| last.0 != here.0 || (last.1 != here.1 && !here.1.is_empty())) {
            rows.push(Row::Heading(l.file.clone(), l.function.clone()));
            last = Some(here);
        }
        rows.push(Row::Line(row));
    }
    if unknown {
        rows.push(Row::Unknown);
    }
    rows
}

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
        let innermost: Vec<usize> = innermost(timeline.start()).map(LevelId::index).collect();
        self.lines = lines;
        let lines: Vec<Counted> = self.lines.iter().map(|share| Counted::of(share, &innermost)).collect();
        let current = moment.reference.map(|reference| timeline.lines().row(reference.pc));
        let sheet = Source { timeline, tables, info: &info, lines: &lines, current };
        Ok((Picture::Plane(sheet.plane(layout, &view.camera)), info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: egui::Pos2, _: f32) -> Option<Tip> {
        let Picture::Plane(plane) = &taken.picture else { return None };
        match plane.rows.iter().find(|(area, _)| area.contains(at))?.1 {
            Target::Line(row) => line_tip(studio, row),
            _ => None,
        }
    }

    fn csv(&self, studio: &Studio, _: &Taken) -> String {
        csv::lines(studio, &self.lines)
    }

    fn look(&self, camera: Camera, gesture: Gesture, taken: &Taken) -> Camera {
        super::sheet::look(camera, gesture, taken, LARGEST)
    }
}

/// What a picture is made of.
struct Source<'a> {
    timeline: &'a Timeline,
    tables: &'a Tables,
    info: &'a Info,
    /// By row of [`Timeline::lines`], the last for unknown instructions; nothing where no line is known.
    lines: &'a [Counted],
    /// The row under way.
    current: Option<usize>,
}

impl Source<'_> {
    fn plane(&self, layout: &Layout, camera: &Camera) -> Plane {
        let sight = Rect::from_min_max(layout.area.min, pos2(layout.area.right(), layout.strip.top()));
        let unknown = self.lines.last().is_some_and(|counted| counted.references > 0);
        let rows = if self.lines.is_empty() { Vec::new() } else { rows(self.timeline, self.tables, unknown) };
        let em = EM * layout.type_scale;
        let em = em * grown(sight, em, rows.len()) * camera.zoom;
        let mut sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
        if rows.is_empty() {
            nothing(&mut sheet);
            return sheet.plane;
        }
        // The heading stays; what is below it is scrolled.
        let top = sight.top() + MARGIN * em;
        let body = Rect { min: pos2(sight.left(), top + 2.2 * em), ..sight };
        let ems = body.height() / em - 0.6;
        let depth = (rows.len() as f32 * PITCH - ems).max(0.0);
        let down = if camera.at[1] > 0.0 { camera.at[1].min(depth) } else { self.page(&rows, ems).min(depth) };
        (sheet.plane.depth, sheet.plane.down) = (depth, down);
        let most = self.lines.iter().map(|counted| counted.misses).max().unwrap_or(0);
        let (left, right) = (sight.left() + MARGIN * em, sight.right() - MARGIN * em);
        self.heading(&mut sheet, left, right, top);
        sheet.sight = body;
        for (n, row) in rows.iter().enumerate() {
            let y = body.top() + (n as f32 * PITCH - down) * em;
            if y + PITCH * em >= body.top() && y <= body.bottom() {
                self.row(&mut sheet, row, Rect::from_min_max(pos2(left, y), pos2(right, y + PITCH * em)), most);
            }
        }
        if depth > 0.05 {
            scroll_bar(&mut sheet.plane, body, em, down);
        }
        sheet.plane
    }

    /// Where the page with the row under way begins: pages are turned, rows do not creep.
    fn page(&self, rows: &[Row], ems: f32) -> f32 {
        let at = rows.iter().position(|row| match row {
            Row::Line(line) => Some(*line) == self.current,
            Row::Unknown => self.current.is_some_and(|current| current + 1 == self.lines.len()),
            Row::Heading(..) => false,
        });
        // Pages overlap by half, so that what is around the row is seen too.
        let step = (0.5 * ems / PITCH).floor().max(1.0);
        at.map_or(0.0, |at| ((at as f32 / step).floor() - 0.5).max(0.0) * step * PITCH)
    }

    fn heading(&self, sheet: &mut Sheet, left: f32, right: f32, y: f32) {
        let (em, quiet) = (sheet.em, palette::TEXT_QUIET);
        sheet.left(pos2(left, y), "SOURCE", Weight::SemiBold, SMALL, quiet, f32::INFINITY);
        let width = right - left - 24.0 * em;
        sheet.left(pos2(left + 5.4 * em, y), &counted(self.info), Weight::Regular, SMALL, quiet, width);
        sheet.right(pos2(right, y), &format!("{} miss", self.info.innermost), SMALL, quiet);
        if right - left >= ALL_COLUMNS * em {
            sheet.right(pos2(right - 5.5 * em, y), "misses", SMALL, quiet);
            sheet.right(pos2(right - 12.5 * em, y), "references", SMALL, quiet);
        }
        sheet.bar(Rect::from_min_max(pos2(left, y + 1.4 * em), pos2(right, y + 1.4 * em + 1.0)), palette::TRACK);
    }

    fn row(&self, sheet: &mut Sheet, row: &Row, area: Rect, most: u64) {
        let em = sheet.em;
        let (left, right, y) = (area.left(), area.right(), area.top() + 0.2 * em);
        let (line, number, text, ink) = match row {
            Row::Heading(file, function) => {
                let name = if function.is_empty() { file.clone() } else { format!("{file}  ·  {function}") };
                sheet.left(pos2(left, y), &name, Weight::SemiBold, 0.92, palette::TEXT_QUIET, right - left);
                return;
            }
            Row::Unknown => (self.lines.len() - 1, String::new(), "(unknown instructions)", palette::TEXT_QUIET),
            Row::Line(line) => {
                let place = self.timeline.lines().places().get(*line);
                let Some(l) = place.and_then(|&place| self.tables.locations.get(place)) else { return };
                let text = if l.text.is_empty() { l.function.as_str() } else { l.text.as_str() };
                (*line, l.line.to_string(), text, palette::CODE)
            }
        };
        let Some(counted) = self.lines.get(line) else { return };
        let is_current = self.current == Some(line);
        if is_current {
            sheet.bar(area.expand2(egui::vec2(0.5 * em, -1.0)), palette::fade(palette::LIGHT, 0.12));
            let mark = Rect::from_min_max(pos2(left - 0.7 * em, area.top()), pos2(left - 0.5 * em, area.bottom()));
            sheet.bar(mark, palette::LIGHT);
        }
        // The bar's length is the line's share of the most that any line misses.
        let gutter = Rect::from_min_max(pos2(left, y + 0.2 * em), pos2(left + GUTTER * em, y + 0.95 * em));
        sheet.bar(gutter, palette::fade(palette::TRACK, 0.6));
        if counted.misses > 0 {
            let share = counted.misses as f64 / most.max(1) as f64;
            let width = (to_f32(share) * gutter.width()).max(1.0);
            sheet.bar(Rect { max: pos2(gutter.left() + width, gutter.bottom()), ..gutter }, palette::MISS);
        }
        let x = left + (GUTTER + NUMBERS) * em;
        sheet.right(pos2(x - 0.6 * em, y), &number, 0.92, if is_current { palette::TEXT } else { palette::TEXT_QUIET });
        sheet.right(pos2(right, y), &percent(counted.rate()), 1.0, palette::TEXT);
        let mut end = right - 4.5 * em;
        if right - left >= ALL_COLUMNS * em {
            sheet.right(pos2(right - 5.5 * em, y), &grouped(counted.misses), 1.0, palette::TEXT_BODY);
            sheet.right(pos2(right - 12.5 * em, y), &grouped(counted.references), 1.0, palette::TEXT_BODY);
            end = right - 19.0 * em;
        }
        let weight = if is_current { Weight::SemiBold } else { Weight::Regular };
        sheet.left(pos2(x, y), text, weight, 1.0, if is_current { palette::TEXT } else { ink }, end - x);
        sheet.plane.rows.push((area.intersect(sheet.sight), Target::Line(line)));
    }
}

/// How much type grows where few lines leave room; never so far that a column or a row is lost by it.
fn grown(sight: Rect, em: f32, rows: usize) -> f32 {
    let columns = sight.width() / (em * (ALL_COLUMNS + 2.0 * MARGIN + 12.0));
    let heights = sight.height() / (em * (2.0 * MARGIN + 2.2 + PITCH * rows as f32));
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
mod tests {
    use super::*;
    use crate::axis::Position;
    use crate::overlay::layout::Parts;
    use crate::reference::{Kind, MemoryTrace, Reference, ReferenceSource, SourceLocation};
    use crate::sim::Hierarchy;
    use crate::sim::config::preset;
    use std::sync::Arc;

    /// Lines 1 to `lines` of a file in turn, and an instruction of no line; each reference misses.
    fn studio(lines: u32, length: u64) -> Studio {
        let pc = |n: u64| if n % 10 == 9 { 0 } else { 0x1000 + n % u64::from(lines) };
        let references =
            (0..length).map(|n| Reference { pc: pc(n), ..Reference::new(Kind::Read, n * 4096, 8) }).collect();
        let location = |line: u32| SourceLocation {
            pc: 0x1000 + u64::from(line - 1),
            file: if line > 3 { "b.c".into() } else { "a.c".into() },
            line,
            function: "f".into(),
            text: format!("x{line}();"),
        };
        let tables = Tables { locations: (1..=lines).map(location).collect(), ..Tables::default() };
        let source: Arc<dyn ReferenceSource> = Arc::new(MemoryTrace::new(references, tables));
        let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("sound");
        Studio::new(source, hierarchy, &mut |_, _| true).expect("in memory")
    }

    fn plane(studio: &mut Studio, size: [u32; 2], tick: u64, camera: Camera) -> Taken {
        let mut exhibit = SourceExhibit::new(studio);
        let shot = Shot::still(size, Position::at(tick), View { camera, ..View::default() }, Parts::default());
        shot.take(studio, &mut exhibit).expect("in memory")
    }

    fn of(taken: &Taken) -> &Plane {
        let Picture::Plane(plane) = &taken.picture else { panic!("no plane") };
        plane
    }

    fn words(taken: &Taken) -> Vec<&str> {
        of(taken).words.iter().map(|words| words.text.as_str()).collect()
    }

    #[test]
    fn lines_have_their_counts_and_text_by_file() {
        let mut studio = studio(4, 41);
        let taken = plane(&mut studio, [1280, 720], 40, Camera::default());
        let words = words(&taken);
        for word in ["a.c  ·  f", "b.c  ·  f", "x1();", "x4();", "(unknown instructions)", "100 %", "10", "8"] {
            assert!(words.contains(&word), "{word} in {words:?}");
        }
        assert_eq!(of(&taken).rows.iter().map(|(_, row)| *row).collect::<Vec<_>>(), [0, 1, 2, 3, 4].map(Target::Line));
        // The bar of the line under way is the one that is wider than its row.
        let row = of(&taken).rows[0].0;
        let lit = of(&taken).bars.iter().filter(|bar| bar.sides[0] < row.left() && bar.sides[2] > row.right());
        let lit: Vec<f32> = lit.map(|bar| 0.5 * (bar.sides[1] + bar.sides[3])).collect();
        assert!(lit.len() == 1 && (row.top()..row.bottom()).contains(&lit[0]), "{lit:?} in {row:?}");
        let tip = SourceExhibit::new(&studio).pick(&studio, &taken, row.center(), 6.0).expect("a row");
        assert_eq!((tip.title.as_str(), tip.lines[2].as_str()), ("a.c:1", "10 references up to this one"));
    }

    #[test]
    fn the_sheet_follows_until_somebody_scrolls() {
        let mut studio = studio(300, 2_000);
        let sight = |taken: &Taken, line: usize| of(taken).rows.iter().any(|(_, row)| *row == Target::Line(line));
        for tick in [0u64, 12, 148, 280, 291, 600, 895] {
            let taken = plane(&mut studio, [640, 360], tick, Camera::default());
            let line = if tick % 10 == 9 { 300 } else { usize::try_from(tick % 300).expect("small") };
            assert!(sight(&taken, line), "line {line} at {tick}");
        }
        let exhibit = SourceExhibit::new(&studio);
        let taken = plane(&mut studio, [640, 360], 148, Camera::default());
        let down = of(&taken).down;
        assert!(down > 10.0);
        let camera = exhibit.look(Camera::default(), Gesture::Wheel(3.0 * of(&taken).unit, egui::Pos2::ZERO), &taken);
        let scrolled = plane(&mut studio, [640, 360], 20, camera);
        assert!((of(&scrolled).down - (down - 3.0)).abs() < 1e-3, "stays there, wherever the playhead is");
        let up = exhibit.look(camera, Gesture::Wheel(1e6, egui::Pos2::ZERO), &scrolled);
        assert!(of(&plane(&mut studio, [640, 360], 290, up)).down < 0.01, "the top is a place to stay at");
        assert_eq!(exhibit.look(camera, Gesture::Whole, &scrolled), Camera::default());
    }

    #[test]
    fn a_trace_without_lines_says_what_would_give_them() {
        let references = (0..99).map(|n| Reference::new(Kind::Read, n * 64, 8)).collect();
        let source: Arc<dyn ReferenceSource> = Arc::new(MemoryTrace::new(references, Tables::default()));
        let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("sound");
        let mut studio = Studio::new(source, hierarchy, &mut |_, _| true).expect("in memory");
        let taken = plane(&mut studio, [640, 360], 50, Camera::default());
        assert!(words(&taken).iter().any(|words| words.contains("--program")));
    }
}
