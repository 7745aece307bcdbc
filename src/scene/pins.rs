//! What is pinned: where some bytes are in the picture, at home and in every cache, and the set in which they compete for room.

use super::frame::{Glyph, flags};
use super::layout::Sector;
use super::motion::{Flight, Path, position_at};
use super::places::{Piece, Places};
use super::view::View;
use crate::sim::Hierarchy;
use crate::timeline::{Moment, Place};
use crate::units::{Addr, ByteRange, CacheId};

/// What a mark of something pinned is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinKind {
    /// Its innermost copy, which the program gets.
    Nearest,
    /// A copy farther out.
    Copy,
    /// Its place in memory.
    Home,
}

/// A mark round a dot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PinMark {
    /// Where, world units.
    pub at: [f32; 2],
    /// Radius of the dot, world units.
    pub radius: f32,
    /// What of the pinned bytes is there.
    pub kind: PinKind,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pinned {
    /// Homes first, then copies, the nearest last.
    pub marks: Vec<PinMark>,
    /// The slots of the set in the innermost cache that has them, from the CPU outward; empty where no cache has.
    pub arm: Vec<[f32; 2]>,
}

/// Dots that are marked, at most: pinned bytes may be those of many.
const MOST: usize = 64;

/// Finds what is pinned, and what has labels, among what is drawn.
pub(super) fn marked(places: &Places, moment: &Moment<'_>, view: &View, glyphs: &[Glyph]) -> (Pinned, Vec<Pinned>) {
    let of = |bytes: ByteRange| pinned(places, moment, view, glyphs, bytes);
    (view.pin.map_or_else(Pinned::default, of), view.labels.iter().map(|bytes| of(*bytes)).collect())
}

/// Finds `pin` among what is drawn.
fn pinned(places: &Places, moment: &Moment<'_>, view: &View, glyphs: &[Glyph], pin: ByteRange) -> Pinned {
    // At rest before a reference, the state is the one before it.
    let state = if view.phase > 0.0 { moment.after } else { moment.before };
    let mut pinned = Pinned::default();
    let pieces = pieces(places, pin, moment.tick);
    for piece in &pieces {
        let (at, radius) = resting(places, Place::Home, piece, view);
        pinned.marks.push(PinMark { at, radius, kind: PinKind::Home });
    }
    let first = pinned.marks.len();
    let is_moving =
        |glyph: &&Glyph| (1..=3).contains(&glyph.layer) && !matches!(glyph.flight.path, Path::Rest | Path::Slide);
    let moving: Vec<&Glyph> = glyphs.iter().filter(is_moving).collect();
    for piece in &pieces {
        copies(places, moment, state, (view, &moving), piece, &mut pinned.marks);
    }
    // What is nearest is drawn over the rest.
    pinned.marks[first..].sort_by_key(|mark| mark.kind == PinKind::Nearest);
    if let Some((cache, set)) = home_set(state, pin.first) {
        let sector = &places.rings.sectors[cache.index()];
        pinned.arm = arm_of(sector, set);
    }
    pinned
}

/// The pieces with glyphs of their own that hold some of the bytes.
fn pieces(places: &Places, pin: ByteRange, tick: u64) -> Vec<Piece> {
    let bytes = places.items.grain_bytes;
    let grains = pin.first / bytes..=pin.last / bytes;
    let all = grains.take(MOST).flat_map(|grain| places.pieces(grain, tick));
    let meets = |piece: &Piece| pin.meets(ByteRange::new(piece.addr, places.items.glyph_of(piece.region)));
    all.filter(meets).take(MOST).collect()
}

/// Where a piece stands at a place, and how large it is there.
fn resting(places: &Places, place: Place, piece: &Piece, view: &View) -> ([f32; 2], f32) {
    let flight = Flight::rest(places.endpoint(place, piece, false));
    let at = position_at(&places.rings.sectors, &flight, 0.0);
    (at, places.radius(place, piece.region, view.camera.zoom))
}

/// Marks the copies of a piece: where dots of it are drawn, there, on the move too; else where its slots are.
fn copies(
    places: &Places,
    moment: &Moment<'_>,
    state: &Hierarchy,
    (view, moving): (&View, &[&Glyph]),
    piece: &Piece,
    marks: &mut Vec<PinMark>,
) {
    let id = places.glyph_at(piece.addr, moment.tick);
    let mut flying = false;
    for glyph in moving.iter().filter(|glyph| glyph.id == id) {
        let at = position_at(&places.rings.sectors, &glyph.flight, view.phase);
        marks.push(PinMark { at, radius: glyph.radius, kind: PinKind::Nearest });
        flying |= glyph.flags & flags::GHOST == 0;
    }
    let mut nearest: Option<u8> = None;
    for cache in state.caches() {
        let (depth, bytes) = (state.info(cache).depth, state.geometry(cache).line_bytes);
        let Some((set, rank)) = state.rank(cache, Addr(piece.addr).line(bytes)) else { continue };
        let place = Place::Slot { depth, cache: cache.0, set: set.0, rank };
        let is_nearest = *nearest.get_or_insert(depth) == depth;
        if is_nearest && flying {
            continue;
        }
        let (at, radius) = resting(places, place, piece, view);
        let kind = if is_nearest { PinKind::Nearest } else { PinKind::Copy };
        marks.push(PinMark { at, radius, kind });
    }
}

/// The innermost cache that has a byte, and its set there.
fn home_set(state: &Hierarchy, addr: u64) -> Option<(CacheId, u32)> {
    let held = state.caches().filter_map(|cache| {
        let (set, _) = state.rank(cache, Addr(addr).line(state.geometry(cache).line_bytes))?;
        Some((state.info(cache).depth, (cache, set.0)))
    });
    held.min_by_key(|(depth, _)| *depth).map(|(_, place)| place)
}

/// Points along the arm of a set from the CPU outward, close enough for a smooth line, world units.
#[must_use]
pub fn arm_of(sector: &Sector, set: u32) -> Vec<[f32; 2]> {
    /// Points between two slots, and of an arm at least.
    const FINE: [u32; 2] = [2, 48];
    let last = sector.ways.saturating_sub(1) as f32;
    let steps = (sector.ways * FINE[0]).clamp(FINE[1], 4 * FINE[1]);
    let point = |n: u32| {
        let [r, theta] = sector.polar(set as f32, n as f32 / steps as f32 * (last + 1.0) - 0.5);
        [r * theta.cos(), r * theta.sin()]
    };
    (0..=steps).map(point).collect()
}
