//! Where the elements of regions stand as tiles: two inner dimensions are a grid, outer ones stand side by side and below each other in
//! turn, one dimension is a row that wraps. Where there are more elements than there is room for, a tile stands for several.

use crate::reference::Region;
use egui::{Pos2, Rect, Vec2, pos2, vec2};

/// Elements that are told apart by index, at most.
const MOST_SHAPED: u64 = crate::analysis::MOST_SLOTS;
/// Tiles between two blocks of an outer dimension, times how far out it is.
const APART: f32 = 0.7;
/// A row of up to so many tiles does not wrap.
const ONE_ROW: u64 = 20;
/// Rows for each column, or columns for each row, from which on they stand in bands.
const LONG: u64 = 4;
/// With fewer tiles than this no region becomes coarser.
const FEW: u64 = 128;

/// The elements of a region by their indices.
pub(super) struct Shape {
    /// Extents over 1, the outermost first; one or more.
    pub(super) extents: Vec<u64>,
    /// By slot of its counts the number of the element, the last index counted fastest; `None` = the same number.
    order: Option<Vec<u32>>,
    /// Elements of a slot.
    per: u64,
    /// Why the elements stand in the order of memory, where they have a shape.
    pub(super) why_flat: Option<&'static str>,
    /// Elements of a line, if it has several.
    line: u64,
}

/// A slot that is no element.
const PADDING: u32 = u32::MAX;

impl Shape {
    /// Of a region, `per` elements of which are counted together.
    pub(super) fn new(region: &Region, per: u64, line_bytes: u32) -> Self {
        let elem = u64::from(region.elem_bytes.max(1));
        let line = (u64::from(line_bytes) / elem).max(1);
        let places = region.bytes.div_ceil(elem).max(1);
        let flat = |why_flat| Self { extents: vec![places], order: None, per, why_flat, line };
        if region.shape.is_empty() {
            return flat(None);
        }
        let product = region.shape.iter().fold(1u64, |n, &extent| n.saturating_mul(extent.max(1)));
        if per > 1 || product > MOST_SHAPED {
            return flat(Some("in the order of memory: too large for its shape"));
        }
        let Ok(layout) = region.layout() else { return flat(Some("in the order of memory: its shape does not fit")) };
        let mut extents: Vec<u64> = region.shape.iter().copied().filter(|extent| *extent > 1).collect();
        if extents.is_empty() {
            extents.push(1);
        }
        if !region.is_strided() && region.row_major && product == places {
            return Self { extents, order: None, per, why_flat: None, line };
        }
        let mut order = vec![PADDING; usize::try_from(places).unwrap_or(0)];
        for (number, element) in (0..product).zip(0u32..) {
            let place = layout.address_of_number(number).map(|addr| (addr - region.base) / elem);
            let Some(slot) = place.and_then(|place| order.get_mut(usize::try_from(place).ok()?)) else { continue };
            if *slot != PADDING {
                return flat(Some("in the order of memory: elements share addresses"));
            }
            *slot = element;
        }
        Self { extents, order: Some(order), per, why_flat: None, line }
    }

    /// The number of the first element of a slot.
    pub(super) fn element(&self, slot: usize) -> Option<u64> {
        match &self.order {
            None => Some(slot as u64 * self.per),
            Some(order) => order.get(slot).copied().filter(|number| *number != PADDING).map(u64::from),
        }
    }

    /// The address of the element of a number.
    pub(super) fn address(&self, region: &Region, number: u64) -> Option<u64> {
        let elem = u64::from(region.elem_bytes.max(1));
        let flat = || region.base.checked_add(number.checked_mul(elem)?).filter(|addr| *addr < region.end());
        if self.order.is_some() { region.layout().ok()?.address_of_number(number) } else { flat() }
    }

    /// Bytes of a slot.
    pub(super) fn slot_bytes(&self, region: &Region) -> u64 {
        u64::from(region.elem_bytes.max(1)).saturating_mul(self.per)
    }

    /// Elements a tile, at first: one, or as many as are counted together.
    fn first_factors(&self) -> Vec<u64> {
        let mut factors = vec![1; self.extents.len()];
        if let Some(last) = factors.last_mut() {
            *last = self.per;
        }
        factors
    }
}

/// What a band has a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Along {
    Rows,
    Columns,
}

/// The tiles of a region, where they stand in it, in tiles.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid {
    extents: Vec<u64>,
    /// Elements of a tile along each.
    pub(super) factors: Vec<u64>,
    /// Tiles along each.
    counts: Vec<u64>,
    /// Tiles of a row, of one dimension.
    wraps: Option<u64>,
    /// Of two dimensions that are far higher than wide, rows of a band: bands stand side by side. Of far wider ones, columns of a band,
    /// and bands stand below each other.
    band: Option<(u64, Along)>,
    /// What a step along each dimension is, in tiles across or down.
    pitches: Vec<f32>,
    /// In tiles.
    pub(super) size: Vec2,
}

impl Grid {
    /// With `factors` elements a tile, in a room so many tiles wide; what can be folded is `wide` times as wide as high.
    fn new(shape: &Shape, factors: &[u64], room: f32, wide: f32) -> Self {
        let extents = shape.extents.clone();
        let counts: Vec<u64> = extents.iter().zip(factors).map(|(extent, factor)| extent.div_ceil(*factor)).collect();
        let mut grid = Self {
            pitches: vec![1.0; counts.len()],
            factors: factors.to_vec(),
            wraps: None,
            band: None,
            size: vec2(1.0, 1.0),
            extents,
            counts,
        };
        if let [count] = grid.counts[..] {
            let row = grid.row(count, shape.line.div_ceil(factors[0]), [room, wide]);
            grid.wraps = Some(row);
            grid.size = vec2(row.min(count) as f32, count.div_ceil(row.max(1)) as f32);
            return grid;
        }
        if let [rows, columns] = grid.counts[..]
            && rows.max(columns) > LONG * rows.min(columns)
        {
            let (long, short) = (rows.max(columns), rows.min(columns) as f32);
            let along = if rows > columns { Along::Rows } else { Along::Columns };
            let band = banded(long, short, along, [room, wide]);
            let bands = long.div_ceil(band) as f32;
            let sides = [bands * (short + APART) - APART, band as f32];
            grid.band = Some((band, along));
            grid.size = if along == Along::Rows { vec2(sides[0], sides[1]) } else { vec2(sides[1], sides[0]) };
            return grid;
        }
        for (out, at) in (0..grid.counts.len()).rev().enumerate() {
            let count = grid.counts[at] as f32;
            let level = (out / 2) as f32;
            let side = if out % 2 == 0 { &mut grid.size.x } else { &mut grid.size.y };
            // Further out blocks stand farther apart.
            let pitch = if out < 2 { 1.0 } else { *side + APART * level };
            grid.pitches[at] = pitch;
            *side = if out < 2 { count } else { pitch * (count - 1.0) + *side };
        }
        grid
    }

    /// Tiles of a row of one dimension: lines begin with it where they can.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand; 1 or more")]
    fn row(&self, count: u64, line: u64, [room, wide]: [f32; 2]) -> u64 {
        let room = (room.max(1.0) as u64).max(1);
        if count <= ONE_ROW.min(room) {
            return count.max(1);
        }
        let row = (count as f64 * f64::from(wide)).sqrt().ceil() as u64;
        let by = if (2..=32).contains(&line) { line } else { 8 };
        let row = row.next_multiple_of(by);
        if row <= room { row } else { (room / by * by).max(room.min(by)) }
    }

    /// How many tiles there are.
    pub(super) fn tiles(&self) -> u64 {
        self.counts.iter().fold(1, |n: u64, &count| n.saturating_mul(count))
    }

    /// Elements of a whole tile.
    pub(super) fn whole(&self) -> u64 {
        self.factors.iter().fold(1, |n: u64, factor| n.saturating_mul(*factor))
    }

    /// The same in words: `4 × 4`.
    pub(super) fn factor(&self) -> Option<String> {
        let over: Vec<String> = self.factors.iter().filter(|f| **f > 1).map(|f| crate::units::grouped(*f)).collect();
        (!over.is_empty()).then(|| over.join(" × "))
    }

    /// The tile of an element by its number.
    pub(super) fn tile(&self, mut element: u64) -> Option<usize> {
        let (mut tile, mut times) = (0u64, 1u64);
        for at in (0..self.extents.len()).rev() {
            let index = if at == 0 { element } else { element % self.extents[at] };
            element /= self.extents[at];
            if index >= self.extents[at] {
                return None;
            }
            tile += index / self.factors[at] * times;
            times *= self.counts[at];
        }
        usize::try_from(tile).ok()
    }

    /// The first element of a tile, and the last one.
    pub(super) fn elements(&self, tile: usize) -> [u64; 2] {
        let (mut left, mut times) = (tile as u64, 1u64);
        let mut ends = [0u64; 2];
        for at in (0..self.extents.len()).rev() {
            let first = left % self.counts[at] * self.factors[at];
            left /= self.counts[at];
            ends[0] += first * times;
            ends[1] += (first + self.factors[at] - 1).min(self.extents[at] - 1) * times;
            times *= self.extents[at];
        }
        ends
    }

    /// Elements of a tile: at the edges of an array it may have fewer than others.
    pub(super) fn elements_of(&self, tile: usize) -> u64 {
        let mut left = tile as u64;
        let mut elements = 1u64;
        for at in (0..self.extents.len()).rev() {
            let first = left % self.counts[at] * self.factors[at];
            left /= self.counts[at];
            elements = elements.saturating_mul(self.factors[at].min(self.extents[at].saturating_sub(first)));
        }
        elements
    }

    /// Where a tile stands, in tiles.
    pub(super) fn place(&self, tile: usize) -> Vec2 {
        if let Some(row) = self.wraps {
            let row = usize::try_from(row.max(1)).unwrap_or(usize::MAX);
            return vec2((tile % row) as f32, (tile / row) as f32);
        }
        if let (Some((band, along)), &[rows, columns]) = (self.band, &self.counts[..]) {
            let (row, column) = (tile as u64 / columns, tile as u64 % columns);
            let apart = |number: u64, short: u64| number as f32 * (short as f32 + APART);
            return match along {
                Along::Rows => vec2(column as f32 + apart(row / band, columns), (row % band) as f32),
                Along::Columns => vec2((column % band) as f32, row as f32 + apart(column / band, rows)),
            };
        }
        let mut left = tile as u64;
        let mut at = Vec2::ZERO;
        for (out, dimension) in (0..self.counts.len()).rev().enumerate() {
            let step = (left % self.counts[dimension]) as f32 * self.pitches[dimension];
            left /= self.counts[dimension];
            *(if out % 2 == 0 { &mut at.x } else { &mut at.y }) += step;
        }
        at
    }

    /// The tile at a place, in tiles; `None` between two.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 or more; saturates")]
    pub(super) fn at(&self, at: Vec2) -> Option<usize> {
        if at.x < 0.0 || at.y < 0.0 {
            return None;
        }
        if let Some(row) = self.wraps {
            let (x, y) = (at.x as u64, at.y as u64);
            let tile = y.checked_mul(row)?.checked_add(x)?;
            return usize::try_from(tile).ok().filter(|_| x < row && tile < self.tiles());
        }
        if let (Some((band, along)), &[rows, columns]) = (self.band, &self.counts[..]) {
            let (across, down, short) = match along {
                Along::Rows => (at.x, at.y, columns),
                Along::Columns => (at.y, at.x, rows),
            };
            let pitch = short as f32 + APART;
            let number = (across / pitch) as u64;
            let (own, part) = ((across - number as f32 * pitch) as u64, down as u64);
            let long = number.checked_mul(band)?.checked_add(part)?;
            let (row, column) = if along == Along::Rows { (long, own) } else { (own, long) };
            let is_there = own < short && part < band && row < rows && column < columns;
            return usize::try_from(row * columns + column).ok().filter(|_| is_there);
        }
        let (mut left, mut tile) = (at, 0u64);
        for (dimension, &count) in self.counts.iter().enumerate() {
            let across = (self.counts.len() - 1 - dimension).is_multiple_of(2);
            let side = if across { &mut left.x } else { &mut left.y };
            let index = (*side / self.pitches[dimension]) as u64;
            if index >= count {
                return None;
            }
            *side -= index as f32 * self.pitches[dimension];
            tile = tile * count + index;
        }
        usize::try_from(tile).ok()
    }
}

/// Rows, or columns, of a band, of so many that are `short` tiles across.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 or more")]
fn banded(long: u64, short: f32, along: Along, [room, wide]: [f32; 2]) -> u64 {
    let pitch = short + APART;
    let bands = match along {
        Along::Rows => (long as f32 * wide / pitch).sqrt().round().min(((room + APART) / pitch).floor()),
        Along::Columns => (long as f32 / (wide * pitch)).sqrt().round().max((long as f32 / room.max(1.0)).ceil()),
    };
    long.div_ceil(bands.max(1.0) as u64).max(1)
}

/// Tiles of a region that have their place.
pub(super) struct Placed {
    pub(super) region: usize,
    pub(super) grid: Grid,
    /// Upper left corner of its words; tiles stand below them.
    pub(super) head: Pos2,
    /// Upper left corner of its first tile.
    pub(super) at: Pos2,
    /// Pixels of a tile.
    pub(super) tile: f32,
    /// Pixels across that are its own.
    pub(super) width: f32,
}

impl Placed {
    /// Where a tile is.
    pub(super) fn area(&self, tile: usize) -> Rect {
        Rect::from_min_size((self.at + self.grid.place(tile) * self.tile).round(), Vec2::splat(self.tile))
    }

    /// The part of it that is coloured: between tiles there is a gap.
    pub(super) fn face(&self, tile: usize) -> Rect {
        let area = self.area(tile);
        let gap = if self.tile < 8.0 { 0.0 } else { (0.06 * self.tile).round().clamp(1.0, 3.0) };
        Rect { max: area.max - Vec2::splat(gap), ..area }
    }

    /// The tile at a pixel.
    pub(super) fn at(&self, at: Pos2) -> Option<usize> {
        self.grid.at((at - self.at) / self.tile)
    }
}

/// What room there is, in pixels: where it begins, its size, how high words over tiles are, how wide they are at least, what is between
/// two regions, and the smallest and largest tile.
pub(super) struct Room {
    pub(super) at: Pos2,
    pub(super) size: Vec2,
    pub(super) head: f32,
    pub(super) least: f32,
    pub(super) gap: Vec2,
    pub(super) tiles: [f32; 2],
}

/// Places regions with tiles as large as there is room for, all of one size; those that there is no room for at all are left out from the
/// end of `order`, which has the most important first. `shapes` stand in the order in which they are shown.
pub(super) fn placed(shapes: &[(usize, &Shape)], order: &[usize], room: &Room) -> Vec<Placed> {
    let mut shown: Vec<(usize, &Shape, Vec<u64>)> =
        shapes.iter().map(|(region, shape)| (*region, *shape, shape.first_factors())).collect();
    let mut least = order.iter().rev();
    loop {
        // Whole pixels, so that all gaps are alike.
        let [smallest, largest] = room.tiles.map(|tile| tile.floor().max(1.0));
        let mut tile = largest;
        while tile >= smallest {
            // What can be folded is as wide as the room, or wider, so that there is room for others below.
            let wide = (room.size.x / room.size.y.max(1.0)).clamp(0.5, 4.0);
            let stood = [3.0, wide, 2.0 * wide].into_iter().find_map(|wide| stood(&shown, (tile, wide), room));
            if let Some(placed) = stood {
                return placed;
            }
            tile = (tile * 0.97).floor().min(tile - 1.0);
        }
        let tiles = |(_, shape, factors): &(usize, &Shape, Vec<u64>)| Grid::new(shape, factors, 1e6, 1.0).tiles();
        let Some(most) = (0..shown.len()).max_by_key(|&n| tiles(&shown[n])) else { return Vec::new() };
        let (count, several) = (tiles(&shown[most]), shown.len() > 1);
        if count > if several { FEW } else { 1 } {
            let (_, shape, factors) = &mut shown[most];
            coarser(shape, factors);
        } else if let (true, Some(region)) = (several, least.next()) {
            shown.retain(|(own, ..)| own != region);
        } else {
            return Vec::new();
        }
    }
}

/// Twice as many elements a tile, along the longer one of the inner dimensions; of an outer one where these are short.
fn coarser(shape: &Shape, factors: &mut [u64]) {
    let counts: Vec<u64> = shape.extents.iter().zip(factors.iter()).map(|(extent, f)| extent.div_ceil(*f)).collect();
    let inner = counts.len().saturating_sub(2);
    let longest = |from: usize| (from..counts.len()).max_by_key(|&at| (counts[at], at));
    let at = longest(inner).filter(|&at| counts[at] > 4).or_else(|| longest(0));
    if let Some(factor) = at.and_then(|at| factors.get_mut(at)) {
        *factor = factor.saturating_mul(2);
    }
}

/// The regions in rows with tiles of this size, those that are folded so many times as wide as high; `None` where they do not fit.
fn stood(shown: &[(usize, &Shape, Vec<u64>)], (tile, wide): (f32, f32), room: &Room) -> Option<Vec<Placed>> {
    let mut out = Vec::with_capacity(shown.len());
    let (mut x, mut y, mut row) = (0.0f32, 0.0f32, 0.0f32);
    for (region, shape, factors) in shown {
        let grid = Grid::new(shape, factors, room.size.x / tile, wide);
        let size = vec2((grid.size.x * tile).max(room.least), grid.size.y * tile + room.head);
        if grid.size.x * tile > room.size.x + 0.5 {
            return None;
        }
        if x > 0.0 && x + size.x > room.size.x + 0.5 {
            (x, y, row) = (0.0, y + row + room.gap.y, 0.0);
        }
        let head = (room.at + vec2(x, y)).round();
        let at = pos2(head.x, (head.y + room.head).round());
        out.push(Placed { region: *region, grid, head, at, tile, width: size.x });
        x += size.x + room.gap.x;
        row = row.max(size.y);
        if y + row > room.size.y + 0.5 {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(shape: &[u64], strides: &[i64], places: u64) -> Region {
        Region { shape: shape.into(), strides: strides.into(), elem_bytes: 4, ..Region::new("A", 0x1000, 4 * places) }
    }

    fn room(width: f32, height: f32) -> Room {
        let (gap, tiles) = (vec2(20.0, 10.0), [5.0, 40.0]);
        Room { at: pos2(7.0, 9.0), size: vec2(width, height), head: 20.0, least: 60.0, gap, tiles }
    }

    #[test]
    fn every_element_has_a_tile_and_every_tile_is_found_where_it_stands() {
        for (shape, strides, places, wide) in [
            (vec![16, 16], vec![], 256, 600.0),
            (vec![9, 10], vec![1, 9], 90, 300.0),
            (vec![12, 12, 5], vec![60, 5, 1], 720, 900.0),
            (vec![3, 2, 4, 5], vec![], 120, 500.0),
            (vec![512, 2], vec![], 1024, 500.0),
            (vec![4, 128], vec![], 512, 500.0),
            (vec![3, 5_000], vec![], 15_000, 300.0),
            (vec![70_000, 3], vec![], 210_000, 640.0),
            (vec![1000], vec![], 1000, 400.0),
            (vec![100, 120, 30], vec![], 360_000, 500.0),
            (vec![1_000_000], vec![], 1_000_000, 700.0),
            (vec![1, 1], vec![], 1, 100.0),
        ] {
            let region = region(&shape, &strides, places);
            let shape = Shape::new(&region, 1, 64);
            assert_eq!(shape.why_flat, None);
            let all = placed(&[(0, &shape)], &[0], &room(wide, 500.0));
            let [placed] = &all[..] else { panic!("one region: {}", all.len()) };
            let product: u64 = shape.extents.iter().product();
            let mut seen = vec![0u64; usize::try_from(placed.grid.tiles()).expect("few")];
            for number in 0..product {
                let tile = placed.grid.tile(number).expect("it has one");
                seen[tile] += 1;
                let [first, last] = placed.grid.elements(tile);
                assert!((first..=last).contains(&number), "{number} of {first}..={last}");
            }
            assert!(seen.iter().all(|n| *n > 0), "no tile is empty");
            let whole: u64 = placed.grid.factors.iter().product();
            assert!(seen.iter().all(|n| *n <= whole));
            assert_eq!(placed.grid.factor().is_some(), whole > 1);
            let said: Vec<u64> = (0..seen.len()).map(|tile| placed.grid.elements_of(tile)).collect();
            assert_eq!(said, seen, "elements of each tile");
            for tile in 0..seen.len() {
                let area = placed.area(tile);
                assert_eq!(placed.at(area.center()), Some(tile));
                assert!(area.right() <= 7.0 + wide + 1.0 && area.bottom() <= 9.0 + 501.0, "{area:?}");
            }
            assert_eq!(placed.at(pos2(6.0, 300.0)), None);
        }
    }

    #[test]
    fn elements_stand_by_index_wherever_they_lie() {
        // By columns, and with a row of padding.
        let shape = Shape::new(&region(&[3, 2], &[1, 4], 8), 1, 64);
        let numbers: Vec<Option<u64>> = (0..8).map(|slot| shape.element(slot)).collect();
        assert_eq!(numbers, [Some(0), Some(2), Some(4), None, Some(1), Some(3), Some(5), None]);
        let shared = Shape::new(&region(&[3, 4], &[0, 1], 4), 1, 64);
        assert_eq!((shared.extents.as_slice(), shared.why_flat.is_some()), (&[4u64][..], true));
        let grid = Grid::new(&Shape::new(&region(&[2, 3, 2, 2], &[], 24), 1, 64), &[1; 4], 99.0, 3.0);
        // Two inner dimensions are 2 by 2; three of them across, two of those down.
        assert_eq!(grid.size, vec2(2.0 * (2.0 + APART) + 2.0, 2.0 + APART + 2.0));
    }

    #[test]
    fn what_there_is_no_room_for_is_left_out_from_the_end_of_the_order() {
        let shapes: Vec<Shape> = (0..9).map(|_| Shape::new(&region(&[4, 4], &[], 16), 1, 64)).collect();
        let all: Vec<(usize, &Shape)> = shapes.iter().enumerate().collect();
        let order: Vec<usize> = (0..9).rev().collect();
        let some = placed(&all, &order, &room(130.0, 110.0));
        let regions: Vec<usize> = some.iter().map(|placed| placed.region).collect();
        assert!(!regions.is_empty() && regions.len() < 9 && regions.contains(&8), "{regions:?}");
        assert!(regions.is_sorted());
    }
}
