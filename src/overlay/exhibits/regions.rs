//! All regions as a table: what each is, how much of the references and misses are its. A click on a row dims, hides and shows the
//! region, with Shift it is seen alone; a click on its patch gives it another colour; a click on a heading sorts.

use super::readings::{Readings, logged};
use super::sheet::{Sheet, look_from_top};
use super::table::{Arranged, Column, Row, Sort, Table};
use super::{Exhibit, Gesture, Picture};
use crate::overlay::csv;
use crate::overlay::info::{Info, RegionRow, counted};
use crate::overlay::layout::Layout;
use crate::overlay::pen::{Target, percent};
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::{Tip, region_tip};
use crate::reference::{Region, SourceError};
use crate::scene::palette;
use crate::scene::{Camera, Shade, View};
use crate::sim::config::format_size;
use crate::units::grouped;
use egui::{Pos2, Rect, pos2};
use std::cmp::Ordering;

/// See the module.
pub struct RegionExhibit {
    readings: Readings,
    sort: Sort,
}

impl RegionExhibit {
    /// For the caches of a studio.
    #[must_use]
    pub fn new(studio: &Studio) -> Self {
        Self { readings: Readings::new(studio), sort: Sort::default() }
    }
}

/// Type of a row, pixels, where type is not scaled.
const EM: f32 = 14.5;
/// The largest that type becomes by zooming, of its size at first.
const LARGEST: f32 = 4.0;

pub(super) const COLUMNS: [Column; 7] = [
    Column { name: "region", width: 0.0, from: 0.0 },
    Column { name: "address", width: 9.0, from: 60.0 },
    Column { name: "size", width: 6.0, from: 48.0 },
    Column { name: "references", width: 7.5, from: 24.0 },
    Column { name: "of all", width: 5.0, from: 54.0 },
    Column { name: "misses", width: 7.0, from: 34.0 },
    Column { name: "miss rate", width: 6.0, from: 0.0 },
];

/// Compares two regions by a column.
fn compare(column: usize, rows: &[RegionRow], regions: &[Region], a: usize, b: usize) -> Ordering {
    let bytes = |n: usize| regions.get(n).map_or(0, |region| region.bytes);
    let base = |n: usize| regions.get(n).map_or(0, |region| region.base);
    match column {
        0 => rows[a].name.cmp(&rows[b].name),
        1 => base(a).cmp(&base(b)),
        2 => bytes(a).cmp(&bytes(b)),
        3 | 4 => rows[a].references.cmp(&rows[b].references),
        5 => rows[a].misses.cmp(&rows[b].misses),
        _ => rows[a].miss_rate.unwrap_or(-1.0).total_cmp(&rows[b].miss_rate.unwrap_or(-1.0)),
    }
}

impl Exhibit for RegionExhibit {
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
        let mut sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
        let (rows, regions) = (&info.regions, &studio.tables().regions);
        if rows.is_empty() {
            sheet.notice(&["The trace has no regions.", "`orrery convert` can name some."], super::table::PITCH);
            return Ok((Picture::Plane(sheet.plane), info));
        }
        let all: u64 = rows.iter().map(|row| row.references).sum();
        let order = self.sort.order(info.listed(), &|column, a, b| compare(column, rows, regions, a, b));
        let row = |n: usize| {
            let (row, region) = (&rows[n], regions.get(n));
            let (strength, ink) = match row.shade {
                Shade::Full => (1.0, palette::TEXT),
                Shade::Dim => (0.4, palette::TEXT_QUIET),
                Shade::Hidden => (0.15, palette::TEXT_QUIET),
            };
            let name = match row.shade {
                Shade::Full => row.name.clone(),
                Shade::Dim => format!("{} (dim)", row.name),
                Shade::Hidden => format!("{} (hidden)", row.name),
            };
            let cells = vec![
                name,
                region.map_or(String::new(), |region| format!("0x{:x}", region.base)),
                region.map_or(String::new(), |region| format_size(region.bytes)),
                grouped(row.references),
                percent((all > 0).then(|| row.references as f64 / all as f64)),
                grouped(row.misses),
                percent(row.miss_rate),
            ];
            Row { patch: Some(palette::fade(row.color, strength)), cells, ink, target: Some(Target::Region(n)) }
        };
        let more = format!("{}, {} misses {}", grouped(rows.len() as u64), info.innermost, counted(&info));
        let table =
            Table { title: "REGIONS", more: &more, columns: &COLUMNS, order: &order, sort: self.sort, row: &row };
        table.fill(&mut sheet, &view.camera);
        Ok((Picture::Plane(sheet.plane), info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        let Picture::Plane(plane) = &taken.picture else { return None };
        match plane.rows.iter().find(|(area, _)| area.contains(at))?.1 {
            Target::Region(region) => region_tip(studio, &taken.info, region),
            _ => None,
        }
    }

    fn look(&self, camera: Camera, gesture: Gesture, taken: &Taken) -> Camera {
        look_from_top(camera, gesture, taken, LARGEST)
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

    fn csv(&self, studio: &Studio, taken: &Taken) -> String {
        let (rows, regions) = (&taken.info.regions, &studio.tables().regions);
        let order = self.sort.order(taken.info.listed(), &|column, a, b| compare(column, rows, regions, a, b));
        csv::regions(&taken.info, regions, &order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Position;
    use crate::overlay::Parts;
    use crate::overlay::tests::studio;

    fn words(exhibit: &mut RegionExhibit, studio: &mut Studio, size: [u32; 2]) -> (Taken, Vec<String>) {
        let shot = Shot::still(size, Position::at(700), View::default(), Parts::default());
        let taken = shot.take(studio, exhibit).expect("in memory");
        let Picture::Plane(plane) = &taken.picture else { panic!("a table is a plane") };
        let words = plane.words.iter().map(|words| words.text.clone()).collect();
        (taken, words)
    }

    #[test]
    fn a_row_for_each_region_sorted_as_headings_say() {
        let mut studio = studio();
        let mut exhibit = RegionExhibit::new(&studio);
        let names =
            |words: &[String]| -> Vec<String> { words.iter().filter(|w| w.ends_with("[1024]")).cloned().collect() };
        let (taken, first) = words(&mut exhibit, &mut studio, [1280, 720]);
        assert_eq!(names(&first), ["A[1024]", "B[1024]"]);
        for part in ["0x1000", "8KiB", "525", "175", "75 %"] {
            assert!(first.iter().any(|word| word == part), "{part} in {first:?}");
        }
        let headings = |taken: &Taken| match &taken.picture {
            Picture::Plane(plane) => plane.rows.iter().filter(|(_, t)| matches!(t, Target::Column(..))).count(),
            Picture::Rings(_) | Picture::Machine(..) | Picture::Solids(..) => 0,
        };
        assert_eq!(headings(&taken), COLUMNS.len());
        exhibit.sort(3);
        exhibit.sort(3);
        let (taken, turned) = words(&mut exhibit, &mut studio, [1280, 720]);
        assert_eq!(names(&turned), ["B[1024]", "A[1024]"], "the least first");
        assert!(turned.contains(&"↑ references".to_owned()), "{turned:?}");
        let csv = exhibit.csv(&studio, &taken);
        assert_eq!(
            csv.lines().next().zip(csv.lines().nth(1)),
            Some(("region,address,bytes,references,misses,miss_rate", "B[1024],0x4000,8192,175,1,0.005714"))
        );
        let (taken, _) = words(&mut exhibit, &mut studio, [320, 240]);
        assert_eq!(headings(&taken), 3, "in a small pane name, references and rate are left");
    }
}
