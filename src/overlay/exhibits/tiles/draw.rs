//! Draws tiles: the heat map, what is held in the innermost cache, what is touched now and was just before, what is pinned.

use super::super::sheet::Sheet;
use super::grid::{Placed, Shape};
use super::signs::Scale;
use super::values::{Tiles, Value};
use crate::overlay::fonts::Weight;
use crate::overlay::info::{Info, innermost};
use crate::overlay::pen::Target;
use crate::overlay::studio::Studio;
use crate::reference::{Kind, Reference, Region, SourceError};
use crate::scene::palette::{self, Rgba};
use crate::scene::{Shade, View};
use crate::sim::Hierarchy;
use crate::units::{ByteRange, SetIndex, counted, grouped};
use egui::{Rect, pos2, vec2};
use std::collections::BTreeMap;

/// References before the one under way that are still seen, fading.
const LATEST: u64 = 12;
/// Ems of a tile from which on its number is written in it.
const NUMBERED: f32 = 1.45;
/// Pixels of a tile from which on a line round it is told from its neighbour's.
const FRAMED: f32 = 7.0;

/// What a picture is made of.
pub(super) struct Drawing<'a> {
    pub(super) studio: &'a Studio,
    pub(super) info: &'a Info,
    pub(super) view: &'a View,
    pub(super) shapes: &'a BTreeMap<usize, Shape>,
    pub(super) all: &'a [(Placed, Tiles)],
    pub(super) scale: &'a Scale,
    /// The reference is under way.
    pub(super) within: bool,
}

impl Drawing<'_> {
    /// Fills a sheet, whose sight is where tiles are seen.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub(super) fn fill(&self, sheet: &mut Sheet) -> Result<(), SourceError> {
        for (placed, tiles) in self.all {
            self.head(sheet, placed, tiles);
            self.heat(sheet, placed, tiles);
        }
        for line in self.held() {
            self.mark(line, |placed, tile, region| {
                let ink = palette::fade(self.info.colors.of(region), 0.95);
                let area = placed.face(tile);
                if placed.tile >= FRAMED {
                    sheet.frame(area, (0.055 * placed.tile).round().clamp(1.0, 2.0), ink);
                } else {
                    let side = (0.4 * placed.tile).round().max(1.0);
                    sheet.bar(Rect::from_min_size(area.min, vec2(side, side)), ink);
                }
            });
        }
        if let Some(pin) = self.view.pin {
            self.pinned(sheet, pin);
        }
        self.touched(sheet)
    }

    fn region(&self, region: usize) -> Option<&Region> {
        self.studio.tables().regions.get(region)
    }

    /// How much of a region is seen.
    fn strength(&self, region: usize) -> f32 {
        match self.info.regions.get(region).map(|row| row.shade) {
            Some(Shade::Dim) => 0.3,
            Some(Shade::Hidden) => 0.06,
            _ => 1.0,
        }
    }

    /// Name and sum over the tiles.
    fn head(&self, sheet: &mut Sheet, placed: &Placed, tiles: &Tiles) {
        let (em, at) = (sheet.em, placed.head);
        let (Some(region), Some(row)) = (self.region(placed.region), self.info.regions.get(placed.region)) else {
            return;
        };
        let area = Rect::from_min_size(at, vec2(placed.width, 2.4 * em));
        // Words that are cut off by the edge would be in what is beside it.
        if at.x < sheet.sight.left() - 1.0 || at.y < sheet.sight.top() - 1.0 || at.x + 3.0 * em > sheet.sight.right() {
            return;
        }
        let strength = self.strength(placed.region).max(0.4);
        let patch = Rect::from_min_size(at + vec2(0.0, 0.25 * em), vec2(0.7, 0.7) * em);
        sheet.bar(patch, palette::fade(row.color, strength));
        let width = (placed.width + 1.8 * em).min(sheet.sight.right() - at.x);
        let ink = palette::fade(palette::TEXT, strength);
        sheet.left(at + vec2(1.05 * em, 0.0), &row.name, Weight::SemiBold, 0.95, ink, width - 1.05 * em);
        let mut words: Vec<String> = Vec::new();
        if let Some(factor) = placed.grid.factor() {
            words.push(format!("1 tile = {factor} elements"));
        }
        words.push(self.scale.sum(tiles, row.misses));
        if tiles.padding > 0 {
            words.push(format!("{} of padding", grouped(tiles.padding)));
        }
        words.push(element_type(region));
        words.extend(self.shapes.get(&placed.region).and_then(|shape| shape.why_flat).map(str::to_owned));
        words.extend(by_columns(region));
        words.retain(|word| !word.is_empty());
        let words = words.join(" · ");
        sheet.left(at + vec2(0.0, 1.28 * em), &words, Weight::Regular, 0.8, palette::TEXT_QUIET, width);
        let area = area.intersect(sheet.sight);
        if area.is_positive() {
            sheet.plane.rows.push((area, Target::Region(placed.region)));
        }
    }

    /// The tiles in the colours of what they tell.
    fn heat(&self, sheet: &mut Sheet, placed: &Placed, tiles: &Tiles) {
        let (size, strength) = (placed.tile, self.strength(placed.region));
        let numbered = size >= NUMBERED * sheet.em && strength >= 1.0 && !self.scale.is_missing();
        for tile in 0..tiles.counts.len() {
            let area = placed.face(tile);
            if !area.intersects(sheet.sight) {
                continue;
            }
            let value = tiles.value(tile, self.scale.column);
            let ink = self.scale.color(value);
            sheet.bar(area, palette::fade(ink, strength));
            if let (true, Value::Is(n @ 1..=9_999)) = (numbered, value)
                && sheet.sight.contains_rect(area)
            {
                let digits = n.to_string();
                let fit = 0.8 * size / (0.62 * digits.len() as f32 * sheet.em);
                let type_size = fit.min(0.72);
                let at = pos2(area.center().x, area.center().y - 0.62 * type_size * sheet.em);
                if type_size >= 0.5 {
                    sheet.center(at, &digits, Weight::Regular, type_size, palette::fade(palette::on(ink), 0.85));
                }
            }
        }
    }

    /// The lines that the innermost caches hold.
    fn held(&self) -> Vec<ByteRange> {
        let moment = self.studio.moment();
        let state: &Hierarchy = if self.within { moment.after } else { moment.before };
        let mut lines: Vec<ByteRange> = Vec::new();
        for cache in innermost(state).flat_map(|level| state.caches_of(level)) {
            let geometry = state.geometry(cache);
            let bytes = geometry.line_bytes;
            let residents = (0..geometry.sets).flat_map(|set| state.order(cache, SetIndex(set)));
            lines.extend(residents.map(|resident| ByteRange::new(resident.line.base(bytes).0, bytes.into())));
        }
        lines.sort_unstable_by_key(|line| (line.first, line.last));
        lines.dedup();
        lines
    }

    /// Gives each tile that has a byte of `bytes`, once.
    fn mark(&self, bytes: ByteRange, mut mark: impl FnMut(&Placed, usize, usize)) {
        for (placed, _) in self.all {
            let Some((region, shape)) = self.region(placed.region).zip(self.shapes.get(&placed.region)) else {
                continue;
            };
            let lives = region.lifetime.is_none_or(|(from, to)| (from..to).contains(&self.info.tick));
            let (first, last) = (bytes.first.max(region.base), bytes.last.min(region.end().saturating_sub(1)));
            if first > last || !lives {
                continue;
            }
            let slot =
                |addr: u64| usize::try_from((addr - region.base) / shape.slot_bytes(region)).unwrap_or(usize::MAX);
            let mut done = None;
            for slot in slot(first)..=slot(last) {
                let tile = shape.element(slot).and_then(|element| placed.grid.tile(element));
                if let Some(tile) = tile.filter(|tile| done != Some(*tile)) {
                    mark(placed, tile, placed.region);
                    done = Some(tile);
                }
            }
        }
    }

    /// What is pinned, and what shares its lines.
    fn pinned(&self, sheet: &mut Sheet, pin: ByteRange) {
        let line = u64::from(super::line_bytes(self.studio));
        let (first, last) = (pin.first / line * line, pin.last / line * line + (line - 1));
        self.mark(ByteRange { first, last }, |placed, tile, _| {
            let area = placed.face(tile);
            let height = (0.16 * placed.tile).max(2.0);
            sheet.bar(Rect { min: pos2(area.left(), area.bottom() - height), ..area }, palette::SERIES[0]);
        });
        self.mark(pin, |placed, tile, _| {
            sheet.frame(placed.face(tile).expand(1.0), (0.12 * placed.tile).clamp(2.0, 4.0), palette::SERIES[0]);
        });
    }

    /// What the reference under way touches, over what the last ones did.
    fn touched(&self, sheet: &mut Sheet) -> Result<(), SourceError> {
        let tick = self.info.tick;
        let mut latest: Vec<(u64, Reference)> = Vec::new();
        let range = tick.saturating_sub(LATEST)..tick.saturating_add(1);
        self.studio.timeline().each(range, |at, reference| latest.push((tick - at, *reference)))?;
        for (age, reference) in latest {
            let bytes = ByteRange::new(reference.addr, reference.size.max(1).into());
            let strength = 0.75 * (1.0 - age as f32 / (LATEST + 1) as f32);
            self.mark(bytes, |placed, tile, _| {
                let area = placed.face(tile);
                let width =
                    if age == 0 { (0.14 * placed.tile).clamp(2.0, 4.0) } else { (0.07 * placed.tile).clamp(1.0, 2.0) };
                let ink = palette::fade(palette::LIGHT, if age == 0 { 1.0 } else { strength });
                let area = if age == 0 { area.expand(0.5 * width) } else { area };
                touch(sheet, area, width, ink, reference.kind, age == 0);
            });
        }
        Ok(())
    }
}

/// The sign of a touch: a frame, of a write with its middle filled.
pub(super) fn touch(sheet: &mut Sheet, area: Rect, width: f32, ink: Rgba, kind: Kind, now: bool) {
    if now {
        // Dark inside of the light frame, so that it is seen on light tiles.
        sheet.frame(area.shrink(width), 1.0, palette::fade(palette::BACKGROUND, 0.8));
    }
    sheet.frame(area, width, ink);
    if now && matches!(kind, Kind::Write | Kind::Modify) {
        let side = 0.34 * area.width();
        let corner = Rect::from_min_max(pos2(area.right() - side, area.top()), pos2(area.right(), area.top() + side));
        sheet.bar(corner, ink);
    }
}

fn element_type(region: &Region) -> String {
    match region.elem_type.as_str() {
        "" => format!("{} each", counted(region.elem_bytes.into(), "byte")),
        name => name.to_owned(),
    }
}

/// Of two dimensions whose first index lies closer in memory.
fn by_columns(region: &Region) -> Option<String> {
    let by = match (&region.strides[..], &region.shape[..]) {
        ([rows, columns], _) => rows.unsigned_abs() < columns.unsigned_abs(),
        ([], [_, _]) => !region.row_major,
        _ => return None,
    };
    Some(if by { "by columns" } else { "by rows" }.to_owned())
}
