//! Where each piece of data stands and how it gets from one place to another, for glyphs and trails alike.

use super::composition::Composition;
use super::items::Items;
use super::layout::{CacheShape, Closeness, HomeLayout, MAX_SECTORS, Radii, Ring, Rings, Rung, TlbShape};
use super::motion::{Endpoint, Flight, Path};
use crate::reference::Region;
use crate::sim::Hierarchy;
use crate::timeline::cursor::grain_bytes;
use crate::timeline::{Move, Place};
use crate::units::to_count;
use std::collections::BTreeMap;
use std::f32::consts::TAU;

/// Radius of a glyph at rest where there is room, world units.
const DOT: f32 = 0.0085;

/// The least that dots everywhere become for the sake of one size, world units: those that have room for more stay so large.
const SMALLEST: f32 = 0.0048;

/// The least angle of an arc of memory in the large picture, radians: 9 pixels of a picture 720 high.
const ARC: f32 = 0.028;

/// Radius of a dot at home, of the distance to the next.
const HOME: f32 = 0.40;

/// Rings, homes, and what one dot stands for.
#[derive(Clone, Debug)]
pub struct Places {
    /// Radii and the slot formula.
    pub rings: Rings,
    /// Homes of everything the trace touches.
    pub home: HomeLayout,
    /// Sizes of the pieces.
    pub items: Items,
    /// TLBs for whose sectors there is no room.
    pub tlbs_left_out: usize,
    /// Whether all glyphs are of one size.
    uniform: bool,
    /// Radius of a dot at rest wherever there is room for it, world units: what is the same has one size at home and in all caches.
    pub(super) dot: f32,
    /// How the picture is composed.
    pub(super) composition: Composition,
    /// How closely homes are looked at: set by each frame from its view, before anything is placed.
    pub(super) closeness: Closeness,
}

/// A piece of a grain that has a glyph of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// First byte.
    pub(super) addr: u64,
    pub(super) region: usize,
    /// Its item at home.
    pub(super) item: u64,
}

impl Places {
    /// Lays out the rings of `hierarchy` and the homes of `regions` (which cover all that the trace touches). Caches and TLBs that
    /// are named `idle` have little room.
    #[must_use]
    pub fn new(hierarchy: &Hierarchy, regions: &[Region], composition: Composition, idle: &[String]) -> Self {
        let (caches, mut tlbs) = (shapes(hierarchy), tlb_shapes(hierarchy));
        let tlbs_left_out = if caches.len() + tlbs.len() > MAX_SECTORS { tlbs.drain(..).count() } else { 0 };
        let rings = Rings::composed(&caches, &tlbs, composition, idle, Radii::Fit);
        let items = Items::choose(regions, u64::from(grain_bytes(hierarchy)));
        let least = if composition.is_large() { ARC } else { 0.0 };
        let mut home = HomeLayout::by(regions, |region| items.home_of(region), least, rings.home_r0, rings.home_r1);
        (home.line_bytes, home.along) = (items.grain_bytes, composition.is_large());
        let uniform = items.is_uniform();
        let closeness = Closeness::default();
        let mut places = Self { rings, home, items, tlbs_left_out, uniform, dot: DOT, composition, closeness };
        places.dot = places.common_dot();
        places
    }

    /// Has the thickness of rings follow something else. Homes stay where they are.
    pub(super) fn ring_by(&mut self, hierarchy: &Hierarchy, idle: &[String], radii: Radii) {
        let (caches, mut tlbs) = (shapes(hierarchy), tlb_shapes(hierarchy));
        if self.tlbs_left_out > 0 {
            tlbs.clear();
        }
        self.rings = Rings::composed(&caches, &tlbs, self.composition, idle, radii);
        self.dot = self.common_dot();
    }

    /// The size for which there is room everywhere, where dots at home stand for the same as those in caches.
    fn common_dot(&self) -> f32 {
        let regions = 0..self.home.regions.len();
        if regions.clone().any(|region| self.home.regions[region].item_bytes > self.items.glyph_of(region)) {
            return DOT;
        }
        // In caches, room follows from the size of glyphs: one region of each size tells.
        let sizes: BTreeMap<u64, usize> = regions.clone().map(|region| (self.items.glyph_of(region), region)).collect();
        let homes = regions.map(|region| self.room(Place::Home, region, 1.0));
        let slot = |cache| Place::Slot { depth: 0, cache, set: 0, rank: 0 };
        let caches = (0u16..).take(self.rings.caches());
        let slots = caches.flat_map(|cache| sizes.values().map(move |region| (slot(cache), *region)));
        homes.chain(slots.map(|(place, region)| self.room(place, region, 1.0))).fold(DOT, f32::min).max(SMALLEST)
    }

    /// Region and home item of an address at reference `tick`; what outlives its region keeps the home of the
    /// region nearest in time. `None` for an address that no region ever held.
    #[must_use]
    pub fn item(&self, addr: u64, tick: u64) -> Option<(usize, u64)> {
        self.home.item(addr, tick)
    }

    /// Glyphs of one line of a cache, all of a region's.
    fn glyphs_per_line(&self, cache: usize, region: usize) -> u64 {
        (self.line_bytes(cache) / self.items.glyph_of(region)).max(1)
    }

    /// The pieces of a grain that have glyphs, in order: each region's are of its own size. None where no region is.
    pub(super) fn pieces(&self, grain: u64, tick: u64) -> impl Iterator<Item = Piece> + '_ {
        let (mut at, bytes) = (0, self.items.grain_bytes);
        let first = grain * bytes;
        std::iter::from_fn(move || {
            while at < bytes {
                let addr = first + at;
                let Some((region, item)) = self.item(addr, tick) else {
                    at += self.items.glyph_bytes;
                    continue;
                };
                let size = self.items.glyph_of(region);
                at = addr / size * size + size - first;
                return Some(Piece { addr, region, item });
            }
            None
        })
    }

    /// How many paths the pieces of a grain take.
    pub(super) fn lanes(&self, grain: u64, tick: u64) -> usize {
        if self.uniform {
            return usize::try_from(self.items.grain_bytes / self.items.glyph_bytes).unwrap_or(1);
        }
        self.pieces(grain, tick).count()
    }

    /// Number of the glyph that shows a byte: that of its first byte, in units of the smallest glyph.
    pub(super) fn glyph_at(&self, addr: u64, tick: u64) -> u64 {
        let mut first = addr;
        if !self.uniform {
            let pieces = self.pieces(addr / self.items.grain_bytes, tick).take_while(|piece| piece.addr <= addr);
            first = pieces.last().map_or(addr, |piece| piece.addr);
        }
        first / self.items.glyph_bytes
    }

    /// Endpoint of a piece of a grain at a place. With `middle`, the place of the whole line.
    pub(super) fn endpoint(&self, place: Place, piece: &Piece, middle: bool) -> Endpoint {
        let &Piece { addr, region, .. } = piece;
        match place {
            Place::Home => {
                let detail = self.home.detail(region, self.closeness);
                let [r, theta] = self.home.blended(region, &detail, addr, self.items.glyph_of(region));
                Endpoint::polar(r, theta)
            }
            Place::Slot { cache, set, rank, .. } => {
                let cache = usize::from(cache);
                let across = if middle { 0.0 } else { self.across(cache, piece) };
                Endpoint::slot(cache, set, rank as f32, across)
            }
        }
    }

    /// Offset of a piece across the arm: those of a line side by side.
    fn across(&self, cache: usize, piece: &Piece) -> f32 {
        let count = self.glyphs_per_line(cache, piece.region);
        let lane = piece.addr / self.items.glyph_of(piece.region) % count;
        (lane as f32 - 0.5 * (count - 1) as f32) * self.lane_pitch(self.rings.sectors[cache].pitch, count)
    }

    fn lane_pitch(&self, pitch: f32, count: u64) -> f32 {
        (0.68 * pitch / count as f32).min(2.6 * DOT)
    }

    /// Bytes of a line of a cache.
    fn line_bytes(&self, cache: usize) -> u64 {
        self.items.grain_bytes << self.rings.line_shifts.get(cache).copied().unwrap_or(0)
    }

    /// Radius of a glyph at a place: the common size, less where slots are crowded.
    pub(super) fn radius(&self, place: Place, region: usize, zoom: f32) -> f32 {
        self.seen(self.room(place, region, zoom), zoom)
    }

    /// Radius of a glyph for which there is room at a place.
    fn room(&self, place: Place, region: usize, zoom: f32) -> f32 {
        match place {
            Place::Home => {
                let detail = self.home.detail(region, self.closeness);
                let of = |rung: &Rung| HOME * rung.pitch();
                detail.blend(self.home.regions[region].item_bytes, self.items.glyph_of(region), of)
            }
            Place::Slot { cache, .. } => {
                let cache = usize::from(cache);
                let count = self.glyphs_per_line(cache, region);
                let sector = &self.rings.sectors[cache];
                let pitch = sector.pitch;
                if count > 1 {
                    0.44 * self.lane_pitch(pitch, count)
                } else {
                    // Arms stand closer than the slots of one. In the whole picture that makes lines of a ring's dots; closer up
                    // each dot is to be seen.
                    let apart = sector.span * 0.5 * (sector.r0 + sector.r1) / sector.sets as f32;
                    let close = (0.5 * zoom.log2()).clamp(0.0, 1.0);
                    let least = (0.36 * pitch).min(0.42 * apart);
                    0.36 * pitch * (1.0 - close) + least * close
                }
            }
        }
    }

    /// Radius of a dot at home of one fineness.
    pub(super) fn home_radius(&self, rung: &Rung, zoom: f32) -> f32 {
        self.seen(HOME * rung.pitch(), zoom)
    }

    /// Never too small to be seen, as far as the picture is the whole one.
    fn seen(&self, room: f32, zoom: f32) -> f32 {
        room.clamp(0.0012 / zoom, self.dot)
    }

    /// Angle between neighbouring slots of an arm as the eye sees it, about, radians.
    pub(super) fn turn(&self, cache: usize) -> f32 {
        let sector = &self.rings.sectors[cache];
        sector.omega / sector.ways as f32
    }

    /// The flight of a piece of what a move moves.
    pub(super) fn flight(&self, m: &Move, piece: &Piece, middle: bool) -> Flight {
        let [from, to] = [m.from, m.to].map(|place| self.endpoint(place, piece, middle));
        match path_of(m) {
            Path::Straight => Flight::straight(from, to),
            Path::Arc => Flight::arc(from, to, &self.rings.sectors),
            Path::Slide => Flight::slide(from, to),
            Path::Rest => Flight::rest(to),
        }
    }

    /// A number for a place, the same for places that are drawn as one: `cells` around a circle and along an arm, or 0
    /// for the exact place.
    pub(super) fn neighbourhood(&self, place: Place, grain: u64, tick: u64, cells: u32) -> u64 {
        let scaled = |value: u64, of: u64, cells: u32| {
            let cells = u64::from(cells);
            if cells == 0 || of <= cells {
                value
            } else {
                u64::try_from(u128::from(value) * u128::from(cells) / u128::from(of)).unwrap_or(u64::MAX)
            }
        };
        match place {
            Place::Home => {
                let item = self.item(grain * self.items.grain_bytes, tick);
                let number = item.map_or(0, |(region, item)| self.home.regions[region].first_item + item);
                1 << 63 | scaled(number, self.home.items(), cells)
            }
            Place::Slot { cache, set, rank, .. } => {
                let sector = &self.rings.sectors[usize::from(cache)];
                // A part of the circle has a part of its cells.
                let around = if cells == 0 { 0 } else { to_count(cells as f32 * sector.span / TAU).clamp(1, cells) };
                let rank_cells = if cells == 0 { rank } else { rank * 4 / sector.ways.max(4) };
                // A cache has 2^26 lines at most, a hierarchy some hundred caches.
                u64::from(cache) << 52
                    | scaled(u64::from(set), u64::from(sector.sets), around) << 26
                    | u64::from(rank_cells)
            }
        }
    }
}

/// Names of the rings of a hierarchy, innermost first.
#[must_use]
pub fn ring_names(hierarchy: &Hierarchy) -> Vec<String> {
    Rings::new(&shapes(hierarchy)).rings.iter().map(Ring::common_name).collect()
}

/// The caches of a hierarchy as the layout needs them.
fn shapes(hierarchy: &Hierarchy) -> Vec<CacheShape> {
    let levels = &hierarchy.config().levels;
    hierarchy
        .caches()
        .map(|cache| {
            let (g, info) = (hierarchy.geometry(cache), hierarchy.info(cache));
            let name = levels[info.level.index()].name.clone();
            let (sets, ways, line_bytes) = (g.sets, g.ways, g.line_bytes);
            CacheShape { ring: usize::from(info.depth), name, core: info.core, sets, ways, line_bytes }
        })
        .collect()
}

/// The TLBs of a hierarchy as the layout needs them. In a core they stand in the order in which the innermost caches do:
/// that of data where the cache of data does.
fn tlb_shapes(hierarchy: &Hierarchy) -> Vec<TlbShape> {
    let (config, tlbs) = (hierarchy.config(), hierarchy.tlbs());
    let first = |fetch: bool| config.levels.iter().position(|level| level.holds.serves(fetch)).unwrap_or(usize::MAX);
    (0..tlbs.len())
        .map(|at| {
            let (g, info) = (tlbs.geometry(at), tlbs.info(at));
            let tlb = &config.tlbs[usize::from(info.tlb)];
            let (sets, ways, line_bytes) = (g.sets, g.ways, g.line_bytes);
            let ring = usize::from(info.depth);
            let shape = CacheShape { ring, name: tlb.name.clone(), core: info.core, sets, ways, line_bytes };
            let later = if tlb.holds.serves(false) { first(false) > first(true) } else { first(true) > first(false) };
            TlbShape { shape, place: u8::from(later) }
        })
        .collect()
}

/// Inward moves fly straight, outward ones arc, moves within a cache slide. What goes from one cache to another of the same
/// depth was missed there: it flies straight too.
pub(super) fn path_of(m: &Move) -> Path {
    let cache = |p: Place| match p {
        Place::Slot { cache, .. } => Some(cache),
        Place::Home => None,
    };
    if cache(m.from) == cache(m.to) {
        return Path::Slide;
    }
    let depth = |p: Place| p.depth(usize::MAX);
    if depth(m.from) < depth(m.to) { Path::Arc } else { Path::Straight }
}
