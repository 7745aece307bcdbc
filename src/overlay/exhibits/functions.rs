//! The program's functions as a table: references and misses of all their lines together. A click on a row goes to the next reference of
//! the function's line with most misses; a click on a heading sorts.

use super::readings::{Readings, logged};
use super::sheet::{Sheet, look_from_top};
use super::table::{Arranged, Column, Row, Sort, Table};
use super::{Exhibit, Gesture, Picture};
use crate::overlay::csv;
use crate::overlay::info::{Info, counted, innermost};
use crate::overlay::layout::Layout;
use crate::overlay::pen::{Target, percent};
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::{Tip, line_tip};
use crate::reference::SourceError;
use crate::scene::palette;
use crate::scene::{Camera, View};
use crate::timeline::Share;
use crate::units::{LevelId, grouped};
use egui::{Pos2, Rect, pos2};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// See the module.
pub struct FunctionExhibit {
    readings: Readings,
    sort: Sort,
    /// Of the picture that was taken last.
    functions: Vec<Function>,
}

impl FunctionExhibit {
    /// For the caches of a studio.
    #[must_use]
    pub fn new(studio: &Studio) -> Self {
        Self { readings: Readings::new(studio), sort: USUAL, functions: Vec::new() }
    }
}

/// What a function did.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::overlay) struct Function {
    /// Its name; of lines of no known function, that of their file.
    pub(in crate::overlay) name: String,
    pub(in crate::overlay) file: String,
    pub(in crate::overlay) lines: usize,
    pub(in crate::overlay) references: u64,
    /// In the innermost levels.
    pub(in crate::overlay) misses: u64,
    /// Row in `Timeline::lines` of its line with the most misses.
    worst: usize,
}

impl Function {
    fn rate(&self) -> Option<f64> {
        (self.references > 0).then(|| self.misses as f64 / self.references as f64)
    }
}

/// Type of a row, pixels, where type is not scaled.
const EM: f32 = 14.5;
/// The largest that type becomes by zooming, of its size at first.
const LARGEST: f32 = 4.0;

pub(super) const COLUMNS: [Column; 6] = [
    Column { name: "function", width: 0.0, from: 0.0 },
    Column { name: "lines", width: 4.0, from: 46.0 },
    Column { name: "references", width: 7.5, from: 28.0 },
    Column { name: "misses", width: 7.0, from: 22.0 },
    Column { name: "of all misses", width: 7.0, from: 38.0 },
    Column { name: "miss rate", width: 6.0, from: 0.0 },
];
/// Number of the column of misses.
const MISSES: usize = 3;
/// The function with most misses at the top.
const USUAL: Sort = Sort::largest(MISSES);

/// The functions of a program, by file and name, from the counts of its lines.
fn functions(studio: &Studio, lines: &[Share]) -> Vec<Function> {
    let (timeline, tables) = (studio.timeline(), studio.tables());
    let levels: Vec<usize> = innermost(timeline.start()).map(LevelId::index).collect();
    let mut found: BTreeMap<(&str, &str), (Function, u64)> = BTreeMap::new();
    for (row, (place, share)) in timeline.lines().places().iter().zip(lines).enumerate() {
        let Some(location) = tables.locations.get(*place) else { continue };
        let misses: u64 = levels.iter().map(|&level| share.misses[level]).sum();
        let name = if location.function.is_empty() { &location.file } else { &location.function };
        let (function, most) = found.entry((&location.file, name)).or_insert_with(|| {
            let (name, file) = (name.clone(), location.file.clone());
            (Function { name, file, lines: 0, references: 0, misses: 0, worst: row }, 0)
        });
        function.lines += 1;
        function.references += share.references;
        function.misses += misses;
        if misses > *most {
            (function.worst, *most) = (row, misses);
        }
    }
    found.into_values().map(|(function, _)| function).collect()
}

fn compare(column: usize, a: &Function, b: &Function) -> Ordering {
    match column {
        0 => a.name.cmp(&b.name),
        1 => a.lines.cmp(&b.lines),
        2 => a.references.cmp(&b.references),
        3 | 4 => a.misses.cmp(&b.misses),
        _ => a.rate().unwrap_or(-1.0).total_cmp(&b.rate().unwrap_or(-1.0)),
    }
}

impl Exhibit for FunctionExhibit {
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
        let reading = self.readings.at(studio, shot, view)?;
        let (info, lines) = (reading.info, reading.lines);
        self.functions = functions(studio, &lines);
        let functions = &self.functions;
        let sight = Rect::from_min_max(layout.area.min, pos2(layout.area.right(), layout.strip.top()));
        let em = EM * layout.type_scale * view.camera.zoom;
        let mut sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
        if functions.is_empty() {
            let words = ["The trace knows no source lines.", "Record the program with debugging information (-g)."];
            sheet.notice(&words, super::table::PITCH);
            return Ok((Picture::Plane(sheet.plane), info));
        }
        let all: u64 = functions.iter().map(|function| function.misses).sum();
        let order = self
            .sort
            .order((0..functions.len()).collect(), &|column, a, b| compare(column, &functions[a], &functions[b]));
        let row = |n: usize| {
            let function = &functions[n];
            let cells = vec![
                if function.name == function.file {
                    function.name.clone()
                } else {
                    format!("{}()   {}", function.name, function.file)
                },
                grouped(function.lines as u64),
                grouped(function.references),
                grouped(function.misses),
                percent((all > 0).then(|| function.misses as f64 / all as f64)),
                percent(function.rate()),
            ];
            Row { patch: None, cells, ink: palette::TEXT, target: Some(Target::Line(function.worst)) }
        };
        let more = format!("{} misses {}", info.innermost, counted(&info));
        let table =
            Table { title: "FUNCTIONS", more: &more, columns: &COLUMNS, order: &order, sort: self.sort, row: &row };
        table.fill(&mut sheet, &view.camera);
        Ok((Picture::Plane(sheet.plane), info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        let Picture::Plane(plane) = &taken.picture else { return None };
        match plane.rows.iter().find(|(area, _)| area.contains(at))?.1 {
            Target::Line(row) => line_tip(studio, row),
            _ => None,
        }
    }

    fn look(&self, camera: Camera, gesture: Gesture, taken: &Taken) -> Camera {
        look_from_top(camera, gesture, taken, LARGEST)
    }

    fn arranged(&self) -> Arranged {
        Arranged::sorted(self.sort, USUAL)
    }

    fn arrange(&mut self, to: Arranged) {
        self.sort = to.sort.unwrap_or(USUAL);
    }

    fn sort(&mut self, column: u8) {
        self.sort = self.sort.turned(column.into(), USUAL);
    }

    fn csv(&self, _: &Studio, _: &Taken) -> String {
        let functions = &self.functions;
        let order = self
            .sort
            .order((0..functions.len()).collect(), &|column, a, b| compare(column, &functions[a], &functions[b]));
        csv::functions(order.into_iter().map(|n| &functions[n]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Position;
    use crate::overlay::Parts;
    use crate::overlay::tests::studio_of;
    use crate::reference::{Kind, Reference, SourceLocation, Tables};
    use crate::sim::config::preset;

    #[test]
    fn lines_of_one_function_are_counted_together_the_one_with_most_misses_first() {
        let location = |pc: u64, line: u32, function: &str| SourceLocation {
            path: String::new(),
            pc,
            line,
            file: "mm.c".into(),
            function: function.into(),
            text: String::new(),
        };
        let tables = Tables {
            locations: vec![location(1, 7, "fill"), location(2, 9, "add"), location(3, 10, "add")],
            ..Tables::default()
        };
        // `fill` stays on one line of memory, `add` walks on: its second line alone.
        let reference = |n: u64| match n % 4 {
            0 | 1 => Reference { pc: 1, ..Reference::new(Kind::Write, 0x1000, 8) },
            2 => Reference { pc: 2, ..Reference::new(Kind::Read, 0x1008, 8) },
            _ => Reference { pc: 3, ..Reference::new(Kind::Read, 0x10_0000 + 64 * n, 8) },
        };
        let mut studio = studio_of((0..400).map(reference).collect(), tables, &preset("paper").expect("there"));
        let mut exhibit = FunctionExhibit::new(&studio);
        let shot = Shot::still([900, 600], Position::at(400), View::default(), Parts::default());
        let taken = shot.take(&mut studio, &mut exhibit).expect("in memory");
        let csv = exhibit.csv(&studio, &taken);
        assert_eq!(
            csv,
            "function,file,lines,references,misses,miss_rate\nadd,mm.c,2,200,100,0.500000\nfill,mm.c,1,200,1,0.005000\n"
        );
        assert_eq!(exhibit.functions[0].worst, 2, "line 10 of add");
        exhibit.sort(2);
        exhibit.sort(0);
        let shot = Shot { position: Position::at(399), ..shot };
        let taken = shot.take(&mut studio, &mut exhibit).expect("in memory");
        let Picture::Plane(plane) = &taken.picture else { panic!("a table is a plane") };
        let names: Vec<&str> =
            plane.words.iter().map(|words| words.text.as_str()).filter(|text| text.contains("()")).collect();
        assert_eq!(names, ["add()   mm.c", "fill()   mm.c"]);
        assert!(plane.rows.iter().any(|(_, target)| *target == Target::Line(2)));
    }
}
