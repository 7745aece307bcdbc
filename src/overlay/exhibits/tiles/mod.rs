//! Arrays as tiles, one an element: how often each was touched, how often that missed, after how many other lines it was touched again;
//! what the reference under way touches, what is in the innermost cache. Beside them the loops, where references come from loops.
//!
//! ```text
//! +-----------+------------------------------+
//! | title     | measures, heat map           |
//! | for i     | A [9][10]      B [10][15]    |
//! |  for j    | ##########     ############  |
//! |   C += .. | ##########     ############  |
//! | read A..  | signs                        |
//! +-----------+------------------------------+
//! ```
//!
//! [`Camera::at`] counts ems from the upper left corner of the tiles, [`Camera::zoom`] gives them more room.

mod counted;
mod draw;
mod grid;
mod misses;
mod now;
mod signs;
mod values;

use super::readings::{Readings, logged};
use super::sheet::{Sheet, scroll_bar};
use super::table::{Arranged, Column, Sort};
use super::{Exhibit, Gesture, Picture};
use crate::overlay::info::{Info, counted as counted_words};
use crate::overlay::layout::Layout;
use crate::overlay::pen::Target;
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::{Tip, bytes_tip, region_tip};
use crate::reference::SourceError;
use crate::scene::{Camera, View};
use crate::units::{ByteRange, grouped};
use counted::{Counted, MOST, line_bytes};
use draw::Drawing;
use egui::{Pos2, Rect, pos2, vec2};
use grid::{Placed, Room, Shape, placed};
use misses::{FREE, Misses, lines_of};
use signs::{Scale, Signs};
use std::collections::BTreeMap;
use values::{Tiles, tiles};

/// See the module.
pub struct TileExhibit {
    readings: Readings,
    counted: Counted,
    /// How the elements of regions lie, by region; made when they are shown first.
    shapes: BTreeMap<usize, Shape>,
    sort: Sort,
    /// What was drawn last.
    drawn: Vec<(Placed, Tiles)>,
    /// Where tiles are seen, and pixels of an em there.
    seen: (Rect, f32),
}

impl TileExhibit {
    /// For the caches of a studio.
    #[must_use]
    pub fn new(studio: &Studio) -> Self {
        Self {
            readings: Readings::new(studio),
            counted: Counted::new(studio),
            shapes: BTreeMap::new(),
            sort: USUAL,
            drawn: Vec::new(),
            seen: (Rect::NOTHING, 1.0),
        }
    }
}

/// What colours tell: measures that are always offered, then misses of one set by its lines, a column for each number of them.
pub(super) const COLUMNS: [Column; 22] = [
    measure("accesses"),
    measure("misses"),
    measure("min distance"),
    measure("median distance"),
    measure("max distance"),
    measure("misses in 1 line"),
    measure("misses in 2 lines"),
    measure("misses in 4 lines"),
    measure("misses in 8 lines"),
    measure("misses in 16 lines"),
    measure("misses in 32 lines"),
    measure("misses in 64 lines"),
    measure("misses in 128 lines"),
    measure("misses in 256 lines"),
    measure("misses in 512 lines"),
    measure("misses in 1,024 lines"),
    measure("misses in 2,048 lines"),
    measure("misses in 4,096 lines"),
    measure("misses in 8,192 lines"),
    measure("misses in 16,384 lines"),
    measure("misses in 32,768 lines"),
    measure("misses in 65,536 lines"),
];
/// The number of the first column of distances, and of the first of misses of one set.
const DISTANCES: usize = 2;
const THRESHOLDS: usize = 5;

const fn measure(name: &'static str) -> Column {
    Column { name, width: 0.0, from: 0.0 }
}

/// The lines of the set whose misses a column tells.
fn threshold(column: usize) -> Option<u64> {
    let doublings = u32::try_from(column.checked_sub(THRESHOLDS)?).ok()?;
    (column < COLUMNS.len()).then(|| 1 << doublings)
}

/// The column that tells misses of one set of so many lines, a power of two.
fn column_of(lines: u64) -> Option<u8> {
    let column = THRESHOLDS + usize::try_from(lines.checked_ilog2()?).ok()?;
    (column < COLUMNS.len()).then(|| u8::try_from(column).ok())?
}

const USUAL: Sort = Sort::BY_NAME;

/// Type, pixels, where it is not scaled.
const EM: f32 = 14.5;
/// How often as much room tiles have at most.
const CLOSEST: f32 = 16.0;
/// Ems around everything.
const MARGIN: f32 = 1.4;
/// Ems of width from which on there is a column of loops, and of that.
const WIDE: f32 = 46.0;
const COLUMN: [f32; 2] = [14.0, 19.0];
/// References up to which stack distances are found for the table beside tiles that tell something else.
const MOST_TABLED: u64 = 300_000;
/// Regions that are shown at most: those with most references.
const MOST_REGIONS: usize = 24;

impl Exhibit for TileExhibit {
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
        let em = EM * layout.type_scale;
        let mut sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
        self.drawn.clear();
        let regions = shown(studio, &info);
        if regions.is_empty() {
            sheet.notice(&NOTHING, 1.6);
            return Ok((Picture::Plane(sheet.plane), info));
        }
        let wanted = info.counted.clone().unwrap_or(0..info.tick);
        let range = Counted::counts(&wanted);
        self.counted.count(studio.timeline(), range.clone())?;
        let of = counts_of(&info, &range, &wanted);

        // The column on the left, then the head, the tiles, and the signs below.
        let inner = sight.shrink(MARGIN * em);
        let wide = inner.width() / em >= WIDE;
        let mut body = inner;
        let mut below = None;
        if wide {
            let column = (0.27 * inner.width() / em).clamp(COLUMN[0], COLUMN[1]) * em;
            let area = Rect { max: pos2(inner.left() + column, inner.bottom()), ..inner };
            below = Some((area, now::column(&mut sheet, area, &info)));
            body.min.x += column + 2.2 * em;
        }
        let innermost = (info.innermost.as_str(), line_bytes(studio));
        let mut signs = Signs { area: body, of: &of, sort: self.sort, innermost, at: body.min };
        body.min.y = signs.head(&mut sheet, (!wide).then(|| now::line(&info)));
        body.max.y = signs.foot(&mut sheet, view.pin.is_some());
        self.seen = (body, em);

        let placed = self.placed(studio, &info, &regions, body, em, view.camera);
        let left_out = regions.len() - placed.len().min(regions.len());
        let Self { counted, shapes, sort, .. } = &mut *self;
        let by_distance = sort.column().is_some_and(|column| column >= DISTANCES);
        // The table beside the tiles takes them too, where they cost little.
        let tabled = below.filter(|_| range == wanted && range.end <= MOST && lines_of(studio).is_some());
        let cheap = range.end <= MOST_TABLED;
        let played = by_distance || tabled.is_some() && cheap;
        if played {
            counted.distances(studio, &range)?;
        }
        let distances = counted.played().filter(|_| played);
        if let (Some((area, from)), Some(distances)) = (tabled, distances) {
            let both = (&counted.elements, distances);
            let lines = sort.column().and_then(threshold);
            if let Some(misses) = Misses::new(studio, &info, both, &regions, (view.pin, lines)) {
                let free = free(&placed, body, em).filter(|_| view.camera.is_whole());
                misses.fill(&mut sheet, area, from, free);
            }
        }
        let all: Vec<(Placed, Tiles)> = placed
            .into_iter()
            .filter_map(|placed| {
                let shape = shapes.get(&placed.region)?;
                let wanted = distances.map(|all| (all, sort.column().and_then(threshold)));
                let tiles = tiles(&placed, shape, counted.elements.of(placed.region), wanted);
                Some((placed, tiles))
            })
            .collect();
        let line = (range == wanted).then(|| line_bytes(studio));
        let scale = Scale::new(self.sort, &all, studio.timeline().outcomes().is_some(), line);
        let within = studio.axis().clamp(shot.position).phase() > 0.0;
        let drawing = Drawing { studio, info: &info, view, shapes: &self.shapes, all: &all, scale: &scale, within };
        sheet.sight = body.expand2(vec2(0.3 * em, 0.0));
        drawing.fill(&mut sheet)?;
        sheet.sight = sight;
        signs.scale(&mut sheet, &scale, left_out);
        sheet.plane.depth = ((view.camera.zoom - 1.0) * body.height() / em).max(0.0);
        sheet.plane.down = view.camera.at[1];
        if sheet.plane.depth > 0.05 {
            scroll_bar(
                &mut sheet.plane,
                Rect { max: pos2(sight.right(), body.bottom()), ..body },
                em,
                view.camera.at[1],
            );
        }
        self.drawn = all;
        Ok((Picture::Plane(sheet.plane), info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        let Picture::Plane(plane) = &taken.picture else { return None };
        if let Some((_, Target::Region(region))) = plane.rows.iter().find(|(area, _)| area.contains(at)) {
            return region_tip(studio, &taken.info, *region);
        }
        let (placed, tiles) = self.drawn.iter().find(|(placed, _)| placed.at(at).is_some())?;
        let (tile, shape) = (placed.at(at).filter(|_| self.seen.0.contains(at))?, self.shapes.get(&placed.region)?);
        let region = studio.tables().regions.get(placed.region)?;
        let [first, last] = placed.grid.elements(tile);
        let addr = shape.address(region, first)?;
        let bytes = ByteRange::new(addr, u64::from(region.elem_bytes.max(1)));
        let within = taken.info.position.phase() > 0.0;
        let mut tip = bytes_tip(studio, &taken.info.colors, bytes, within);
        if first != last {
            let end = shape.address(region, last).map_or_else(String::new, |addr| region.element_name(addr));
            tip.title = format!("{} … {end}", region.element_name(addr));
            // What is known of the first element is not known of all.
            tip.lines.truncate(1);
            tip.lines[0] = format!("{} elements from 0x{addr:x} on", grouped(placed.grid.elements_of(tile)));
        }
        let missed = studio.timeline().outcomes().map(|_| taken.info.innermost.as_str());
        let words = tiles.words(tile, missed);
        tip.lines.splice(1..1, words);
        tip.about = Some(Target::Bytes(bytes));
        Some(tip)
    }

    fn look(&self, camera: Camera, gesture: Gesture, _: &Taken) -> Camera {
        super::sheet::look_around(camera, gesture, self.seen, CLOSEST)
    }

    fn arranged(&self) -> Arranged {
        Arranged::sorted(self.sort, USUAL)
    }

    fn arrange(&mut self, to: Arranged) {
        self.sort = to.sort.unwrap_or(USUAL);
    }

    /// Another measure is shown by its colours; the same one with its colours turned round.
    fn sort(&mut self, column: u8) {
        let column = usize::from(column);
        self.sort = if self.sort.column() == Some(column) { self.sort.flipped() } else { Sort::first(column) };
    }

    fn csv(&self, studio: &Studio, _: &Taken) -> String {
        values::csv(studio, &self.drawn, &self.shapes)
    }
}

impl TileExhibit {
    /// Where the tiles of these regions stand.
    fn placed(
        &mut self,
        studio: &Studio,
        info: &Info,
        regions: &[usize],
        body: Rect,
        em: f32,
        camera: Camera,
    ) -> Vec<Placed> {
        let line = line_bytes(studio);
        for &region in regions {
            let (per, of) = (self.counted.elements.per(region), &studio.tables().regions);
            if let Some(of) = of.get(region) {
                self.shapes.entry(region).or_insert_with(|| Shape::new(of, per, line));
            }
        }
        let shapes: Vec<(usize, &Shape)> =
            regions.iter().filter_map(|region| Some((*region, self.shapes.get(region)?))).collect();
        let mut order = regions.to_vec();
        order.sort_by_key(|&region| std::cmp::Reverse(info.regions.get(region).map_or(0, |row| row.references)));
        let room = Room {
            at: body.min - vec2(camera.at[0], camera.at[1]) * em,
            size: body.size() * camera.zoom,
            head: 2.65 * em,
            least: 9.5 * em,
            gap: vec2(2.4, 1.3) * em,
            tiles: [0.36 * em, 2.6 * em * camera.zoom],
        };
        placed(&shapes, &order, &room)
    }
}

/// Said in place of tiles.
const NOTHING: [&str; 4] = [
    "No array of this trace has a name.",
    "Tiles are elements of arrays: an address, a size of elements, a shape.",
    "`orrery capture` names the arrays of a program;",
    "`orrery convert --tables FILE.json` names those of a trace.",
];

/// Named regions with most references, as many as are shown, in the order in which they stand.
fn shown(studio: &Studio, info: &Info) -> Vec<usize> {
    let regions = &studio.tables().regions;
    let mut most: Vec<usize> = info.listed();
    most.retain(|&n| regions.get(n).is_some_and(|region| !region.is_unnamed() && region.bytes > 0));
    let touched = |n: &usize| info.regions.get(*n).map_or(0, |row| row.references);
    if most.len() > MOST_REGIONS {
        let mut by: Vec<usize> = most.clone();
        by.sort_by_key(|n| std::cmp::Reverse(touched(n)));
        by.truncate(MOST_REGIONS);
        most.retain(|n| by.contains(n));
    }
    most
}

/// What tiles leave free, where that is enough for a chart: right of the last ones, or below all.
fn free(placed: &[Placed], body: Rect, em: f32) -> Option<Rect> {
    let last = placed.last()?;
    let bottom = |placed: &Placed| placed.at.y + placed.grid.size.y * placed.tile;
    let lowest = placed.iter().map(bottom).fold(body.top(), f32::max);
    let end = placed.iter().filter(|one| one.head.y == last.head.y).map(|one| one.head.x + one.width);
    let right = pos2(end.fold(body.left(), f32::max) + 3.0 * em, last.head.y);
    let below = pos2(body.left(), lowest + 2.0 * em);
    let room = |from: Pos2| Rect::from_min_max(from, body.max);
    let fits = |room: &Rect| room.width() >= FREE[0] * em && room.height() >= FREE[1] * em;
    [room(right), room(below)].into_iter().find(fits)
}

/// What is counted, in words.
fn counts_of(info: &Info, range: &std::ops::Range<u64>, wanted: &std::ops::Range<u64>) -> String {
    if range.start > wanted.start {
        return format!("the last {} references", grouped(range.end - range.start));
    }
    counted_words(info)
}

#[cfg(test)]
mod tests;
