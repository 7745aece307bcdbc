//! Turns a moment into a [`Scene`]. Long-lived: rings, homes and structure are laid out once, lists are reused.

use super::beams;
use super::calm;
use super::cells::{Cells, Finder};
use super::composition::Composition;
use super::curves;
use super::density;
use super::flows;
use super::frame::{Cell, Disk, Glyph, Notes, Scene, Segment, flags};
use super::glow::{Glow, Glows, glows};
use super::homes::Cached;
use super::items::Items;
use super::large::{Large, ServedShares};
use super::layout::{Closeness, HomeLayout, Rings};
use super::motion::{Endpoint, Flight, Path, ease};
use super::order::RegionOrder;
use super::pages::{self, Owners};
use super::palette::{self, RegionColors};
use super::pins::marked;
use super::places::{Piece, Places, path_of};
use super::structure::structure;
use super::temperature::Thermometer;
use super::trails::{Span, trails};
use super::view::View;
use super::{sight, stacked};
use crate::reference::Region;
use crate::sim::{Event, Hierarchy, Resident};
use crate::timeline::cursor::{innermost, levels};
use crate::timeline::{Moment, Move, Place};
use crate::units::{CacheId, LineAddr, SetIndex};
use std::collections::BTreeSet;

mod dress;

/// The long-lived part of the scene.
pub struct Stage {
    places: Places,
    thermometer: Thermometer,
    /// By level: its ring.
    rings_of_levels: Vec<u8>,
    structure: Vec<Segment>,
    /// The colours that the structure has, and the order of homes.
    colors: RegionColors,
    order: RegionOrder,
    /// What of memory is in caches, in the frame being built.
    cached: Cached,
    /// Lists that are kept for their memory.
    spare: Spare,
    /// Whose the pages in TLBs are.
    owners: Owners,
    /// Caches too large for dots.
    cells: Cells,
    finder: Finder,
    /// Caches and TLBs that nothing comes into.
    idle: Vec<String>,
}

impl Stage {
    /// Lays out the rings of `hierarchy` and the homes of `regions` (which cover all that the trace touches).
    #[must_use]
    pub fn new(hierarchy: &Hierarchy, regions: &[Region]) -> Self {
        Self::composed(hierarchy, regions, Composition::Dots)
    }

    /// The composition in which these caches are read best: large where a cache is so full of lines that dots would melt.
    #[must_use]
    pub fn composition_for(hierarchy: &Hierarchy, regions: &[Region]) -> Composition {
        let dots = Places::new(hierarchy, regions, Composition::Dots, &[]);
        if Cells::new(hierarchy, regions, &dots).is_empty() { Composition::Dots } else { Composition::Large }
    }

    /// As [`Stage::new`], of another picture.
    #[must_use]
    pub fn composed(hierarchy: &Hierarchy, regions: &[Region], composition: Composition) -> Self {
        Self::of_trace(hierarchy, regions, composition, true)
    }

    /// As [`Stage::composed`], for a trace that fetches instructions or does not: in the large picture, caches and TLBs that hold
    /// nothing else then have little room.
    #[must_use]
    pub fn of_trace(hierarchy: &Hierarchy, regions: &[Region], composition: Composition, fetches: bool) -> Self {
        let idle = if fetches || !composition.is_large() { Vec::new() } else { for_instructions(hierarchy) };
        let places = Places::new(hierarchy, regions, composition, &idle);
        let thermometer = Thermometer::new(hierarchy);
        let ring = |level| hierarchy.caches_of(level).next().map_or(0, |cache| hierarchy.info(cache).depth);
        let rings_of_levels = levels(hierarchy).map(ring).collect();
        let cached = Cached::new(&places.home);
        let (colors, order) = (RegionColors::default(), RegionOrder::default());
        let structure = structure(&places.rings, &places.home, &colors);
        let (cells, finder) = (Cells::new(hierarchy, regions, &places), Finder::new(regions, &places));
        let (spare, owners) = (Spare::default(), Owners::default());
        Self {
            places,
            thermometer,
            rings_of_levels,
            structure,
            colors,
            order,
            cached,
            spare,
            owners,
            cells,
            finder,
            idle,
        }
    }

    /// Sizes of the pieces.
    #[must_use]
    pub fn items(&self) -> &Items {
        &self.places.items
    }

    /// Radii and slots.
    #[must_use]
    pub fn rings(&self) -> &Rings {
        &self.places.rings
    }

    /// Homes.
    #[must_use]
    pub fn home(&self) -> &HomeLayout {
        &self.places.home
    }

    /// By level: its ring.
    #[must_use]
    pub fn rings_of_levels(&self) -> &[u8] {
        &self.rings_of_levels
    }

    /// Colour of an entry of a TLB: of the region that holds most of its page at a tick.
    #[must_use]
    pub fn page_color(&self, colors: &RegionColors, page: LineAddr, page_bytes: u64, tick: u64) -> palette::Rgba {
        pages::page_color(&self.places.home, colors, page, page_bytes, tick)
    }

    /// The picture of a moment.
    pub fn frame(&mut self, moment: &Moment<'_>, view: &View) -> Scene {
        self.places.closeness = Closeness::of(view);
        self.dress(moment.before, view);
        self.cached.begin(&self.places, view);
        let (items, told) = (&self.places.items, self.cached.told(&self.places));
        let home = items.describe_home(&told);
        let item = if home.is_empty() { items.describe() } else { items.describe_glyph() };
        let cells = self.cells.describe(moment.after, &self.places, &view.camera);
        let mut notes = Notes { scale: self.scale(), item, home, cells, ..Notes::default() };
        if self.places.tlbs_left_out > 0 {
            notes.omitted = "TLBs are not drawn: too many caches".into();
        } else if !self.idle.is_empty() {
            notes.omitted = format!("{}: the trace has no fetches", self.idle.join(", "));
        }
        let temperatures = self.thermometer.read(moment, view.window);
        let mut disks = if view.temperature { self.disks(&temperatures) } else { Vec::new() };
        let mut served = ServedShares { arcs: self.places.home.arcs.clone(), ..ServedShares::default() };
        if self.places.composition.is_large() {
            let from = moment.tick.saturating_sub(view.window);
            let large = Large { places: &self.places, rings_of_levels: &self.rings_of_levels, view, from };
            served = large.draw(moment, &mut disks);
        }
        let mut segments = std::mem::take(&mut self.spare.trails);
        segments.clear();
        if view.trails {
            let span = Span { tick: moment.tick, phase: view.phase, tail: view.tail.max(1), budget: view.budget };
            let is_large = self.places.composition.is_large();
            let flowing = if is_large { beams::share(span.tail) } else { flows::share(span.tail) };
            let [moves, sums] = flows::budgets(view.budget, flowing);
            if flowing < 1.0 {
                let last = Span { tail: flows::logged(span.tail), budget: moves, ..span };
                notes.bundling = trails(&self.places, moment.log, last, view, &mut segments);
                for segment in segments.iter_mut().filter(|_| flowing > 0.0) {
                    segment.alpha0 *= 1.0 - flowing;
                    segment.alpha1 *= 1.0 - flowing;
                }
            }
            if flowing > 0.0 {
                let span = Span { budget: sums, ..span };
                notes.bundling = if is_large {
                    beams::beams(&self.places, moment, span, (flowing, view), &mut segments)
                } else {
                    flows::flows(&self.places, moment.flows, span, (flowing, view), &mut segments)
                };
            }
            density::thin(&self.places.rings.sectors, view.camera.zoom, &mut segments);
            stacked::merge(&mut segments);
            curves::refine(view.camera.zoom, view.budget, &mut segments);
            sight::segments(&self.places.rings.sectors, view, &mut segments);
        }
        let mut cells = std::mem::take(&mut self.spare.cells);
        cells.clear();
        let mut glyphs = self.glyphs(moment, view, &mut cells);
        if view.calm {
            glyphs = calm::still(glyphs, view.phase);
        }
        let (pinned, labelled) = marked(&self.places, moment, view, &glyphs);
        let mut structure = std::mem::take(&mut self.spare.structure);
        structure.clone_from(&self.structure);
        Scene {
            rings: self.places.rings.clone(),
            now: view.phase,
            disks,
            cells,
            structure,
            trails: segments,
            glyphs,
            pinned,
            labelled,
            temperatures,
            shows_temperature: view.temperature,
            served,
            notes,
        }
    }

    /// Takes back a scene for the memory of its lists.
    pub fn reuse(&mut self, scene: Scene) {
        let Scene { cells, structure, trails, glyphs, .. } = scene;
        self.spare = Spare { cells, structure, trails, glyphs, ..std::mem::take(&mut self.spare) };
    }

    fn disks(&self, temperatures: &[f32]) -> Vec<Disk> {
        let soft = 0.05;
        let sectors = self.places.rings.sectors.iter().zip(temperatures);
        sectors.map(|(sector, &t)| Disk::behind(sector, soft, palette::temperature(t))).collect()
    }

    fn glyphs(&mut self, moment: &Moment<'_>, view: &View, cells: &mut Vec<Cell>) -> Vec<Glyph> {
        let mut out = std::mem::take(&mut self.spare.unsorted);
        out.clear();
        let glows = glows(&self.places, &self.rings_of_levels, moment, view);
        let moving = moment.log.moves(moment.tick, moment.tick + 1);
        let hot = hot_sets(moment, moving);
        self.resident(moment, view, moving, &hot, &glows, &mut out, cells);
        for m in moving.iter().filter(|m| m.to == Place::Home) {
            self.leaving(m, view, &mut out);
        }
        self.lost(moment, moving, view, &mut out);
        pages::entries(&self.places, &mut self.owners, moment, view, &mut out);
        if !self.places.composition.is_large() {
            out.push(Glyph {
                layer: 4,
                id: 0,
                flight: Flight::rest(Endpoint::polar(0.0, 0.0)),
                radius: self.places.rings.cpu,
                color: palette::LIGHT,
                flash: 0.0,
                pulse: 0.0,
                burst: 1.0,
                flags: 0,
            });
        }
        sight::glyphs(&self.places.rings.sectors, view, &mut out);
        let (before, forward) = (out.len(), self.places.composition.home_dots(&view.camera));
        if forward > 0.0 {
            self.cached.draw(&self.places, view, &mut out);
            for glyph in out[before..].iter_mut().filter(|_| forward < 1.0) {
                glyph.color = palette::fade(glyph.color, forward);
            }
        }
        let mut sorted = std::mem::take(&mut self.spare.glyphs);
        by_layer_and_id(&out, &mut self.spare.keys, &mut sorted);
        self.spare.unsorted = out;
        sorted
    }

    #[expect(clippy::too_many_arguments, reason = "one call site; a struct would only rename them")]
    fn resident(
        &mut self,
        moment: &Moment<'_>,
        view: &View,
        moving: &[Move],
        hot: &[(u16, u32)],
        glows: &Glows,
        out: &mut Vec<Glyph>,
        cells: &mut Vec<Cell>,
    ) {
        // Grains on the rings within, sorted: what stands there is the data, what stands further out a ghost. Copies on one
        // ring, in the caches of several cores, are all data.
        let mut within = std::mem::take(&mut self.spare.within);
        let mut here = std::mem::take(&mut self.spare.here);
        within.clear();
        for depth in (0u8..).take(self.places.rings.rings.len()) {
            here.clear();
            for cache in moment.after.caches().filter(|cache| moment.after.info(*cache).depth == depth) {
                let (geometry, core) = (moment.after.geometry(cache), moment.after.info(cache).core);
                let grains_per_line = u64::from(geometry.line_bytes) / self.places.items.grain_bytes;
                let as_cells = self.cells.has(cache);
                if as_cells {
                    let Self { cells: fields, places, finder, cached, .. } = self;
                    fields.draw(moment.after, cache, places, finder, (moment.tick, view), &within, cached, cells);
                    self.among_cells(moment, view, moving, hot, cache, &within, glows, out);
                    if usize::from(depth) + 1 == self.places.rings.rings.len() {
                        // Nothing asks what stands on the last ring.
                        continue;
                    }
                }
                for set in 0..geometry.sets {
                    let is_hot = hot.contains(&(cache.0, set));
                    for (resident, rank) in moment.after.order(cache, SetIndex(set)).zip(0u32..) {
                        let place = Place::Slot { depth, cache: cache.0, set, rank };
                        for n in 0..grains_per_line {
                            let grain = resident.line.0 * grains_per_line + n;
                            let ghost = within.binary_search(&grain).is_ok();
                            if as_cells {
                                here.push(grain);
                                continue;
                            }
                            let m = if is_hot { self.motion_of(moment, moving, grain, place, ghost) } else { None };
                            let Resident { dirty, prefetched, .. } = resident;
                            let tick = moment.tick;
                            let signs = Signs { dirty, prefetched, ghost, core, tick, counts: true };
                            self.grain_glyphs(view, grain, place, m, signs, glows, out);
                            here.push(grain);
                        }
                    }
                }
            }
            within.append(&mut here);
            within.sort_unstable();
        }
        (self.spare.within, self.spare.here) = (within, here);
    }

    /// The glyphs of a cache that is drawn as cells: of what comes into it and, so close that there is room for them, of all
    /// that is in sight.
    #[expect(clippy::too_many_arguments, reason = "one call site; a struct would only rename them")]
    fn among_cells(
        &mut self,
        moment: &Moment<'_>,
        view: &View,
        moving: &[Move],
        hot: &[(u16, u32)],
        cache: CacheId,
        within: &[u64],
        glows: &Glows,
        out: &mut Vec<Glyph>,
    ) {
        let sector = self.places.rings.sectors[cache.index()];
        let dots = self.cells.dots(cache, &sector, &view.camera);
        let hot: BTreeSet<u32> = hot.iter().filter(|(of, _)| *of == cache.0).map(|(_, set)| *set).collect();
        let mut sets = hot.clone();
        if dots > 0.0 {
            sets.extend(Cells::sets_in_sight(&sector, view));
        }
        let (geometry, core) = (moment.after.geometry(cache), moment.after.info(cache).core);
        let depth = moment.after.info(cache).depth;
        let grains_per_line = u64::from(geometry.line_bytes) / self.places.items.grain_bytes;
        for set in sets {
            for (resident, rank) in moment.after.order(cache, SetIndex(set)).zip(0u32..) {
                let [r, theta] = sector.polar(set as f32, rank as f32);
                let seen = dots > 0.0 && view.sees([r * theta.cos(), r * theta.sin()], 8.0 * sector.pitch);
                let place = Place::Slot { depth, cache: cache.0, set, rank };
                for grain in resident.line.0 * grains_per_line..(resident.line.0 + 1) * grains_per_line {
                    let ghost = within.binary_search(&grain).is_ok();
                    let m = if hot.contains(&set) { self.motion_of(moment, moving, grain, place, ghost) } else { None };
                    let comes = m.is_some_and(|m| path_of(&m) != Path::Slide);
                    if !comes && !seen {
                        continue;
                    }
                    let first = out.len();
                    let Resident { dirty, prefetched, .. } = resident;
                    let signs = Signs { dirty, prefetched, ghost, core, tick: moment.tick, counts: false };
                    self.grain_glyphs(view, grain, place, m, signs, glows, out);
                    for glyph in out[first..].iter_mut().filter(|_| !comes) {
                        glyph.color = palette::fade(glyph.color, dots);
                    }
                }
            }
        }
    }

    /// Where a cache has a grain's line; `None` = nowhere.
    fn slot_of(&self, state: &Hierarchy, cache: CacheId, grain: u64) -> Option<Place> {
        let line = LineAddr(grain).base(self.grain_bytes()).line(state.geometry(cache).line_bytes);
        let (set, rank) = state.rank(cache, line)?;
        Some(Place::Slot { depth: state.info(cache).depth, cache: cache.0, set: set.0, rank })
    }

    fn grain_bytes(&self) -> u32 {
        u32::try_from(self.places.items.grain_bytes).unwrap_or(u32::MAX)
    }

    /// The move that brings a grain's glyph (or its ghost) to `place` during this reference; `None` = it rests.
    fn motion_of(&self, moment: &Moment<'_>, moving: &[Move], grain: u64, place: Place, ghost: bool) -> Option<Move> {
        let Place::Slot { cache, .. } = place else { return None };
        let own = self.slot_of(moment.before, CacheId(cache), grain);
        let logged = moving.iter().find(|m| m.grain == grain && m.to == place);
        let from = match (logged, own) {
            // A ghost that was not there before simply appears at the head.
            (_, own) if ghost => own?,
            (Some(m), _) => m.from,
            (None, Some(own)) => own,
            // A further copy on one ring comes from where the first was.
            (None, None) => innermost(moment.before, grain, self.grain_bytes()),
        };
        (from != place).then_some(Move { tick: moment.tick, grain, from, to: place })
    }

    /// Copies that another level or core took away, and that are drawn nowhere else: they fade where they stood.
    fn lost(&self, moment: &Moment<'_>, moving: &[Move], view: &View, out: &mut Vec<Glyph>) {
        let mut seen: Vec<(CacheId, LineAddr)> = Vec::new();
        for event in moment.events {
            let Event::Invalidate { cache, line, .. } = *event else { continue };
            if seen.contains(&(cache, line)) || moment.after.rank(cache, line).is_some() {
                continue;
            }
            seen.push((cache, line));
            let bytes = moment.before.geometry(cache).line_bytes;
            let per_line = u64::from(bytes) / self.places.items.grain_bytes;
            for grain in line.0 * per_line..(line.0 + 1) * per_line {
                let Some(place) = self.slot_of(moment.before, cache, grain) else { continue };
                if moving.iter().any(|m| m.grain == grain && m.from == place) {
                    continue;
                }
                let ghost = innermost(moment.before, grain, self.grain_bytes()).depth(usize::MAX) < place.depth(0);
                if ghost && !view.ghosts {
                    continue;
                }
                for piece in self.places.pieces(grain, moment.tick) {
                    let shade = view.shade(piece.region);
                    if shade <= 0.0 {
                        continue;
                    }
                    out.push(Glyph {
                        layer: 1,
                        id: piece.addr / self.places.items.glyph_bytes,
                        flight: Flight::rest(self.places.endpoint(place, &piece, false)),
                        radius: self.places.radius(place, piece.region, view.camera.zoom),
                        color: palette::fade(view.colors.of(piece.region), shade * (1.0 - view.phase)),
                        flash: 0.0,
                        pulse: 0.0,
                        burst: 1.0,
                        flags: if ghost { flags::GHOST } else { 0 },
                    });
                }
            }
        }
    }

    /// Radius of a glyph at `place`, or on its way there: from its size where it comes from to that where it goes.
    fn radius(&self, m: Option<&Move>, place: Place, region: usize, view: &View) -> f32 {
        let at = |place: Place| self.places.radius(place, region, view.camera.zoom);
        m.map_or_else(|| at(place), |m| at(m.from) + (at(m.to) - at(m.from)) * ease(view.phase))
    }

    #[expect(clippy::too_many_arguments, reason = "one call site; a struct would only rename them")]
    fn grain_glyphs(
        &mut self,
        view: &View,
        grain: u64,
        place: Place,
        m: Option<Move>,
        signs: Signs,
        glows: &Glows,
        out: &mut Vec<Glyph>,
    ) {
        for piece in self.places.pieces(grain, signs.tick) {
            let Piece { addr, region, item } = piece;
            if !signs.ghost && signs.counts {
                self.cached.count(&self.places, region, item, addr);
            }
            let shade = view.shade(region);
            if shade <= 0.0 || signs.ghost && !view.ghosts {
                continue;
            }
            let flight = match &m {
                Some(m) => self.places.flight(m, &piece, false),
                None => Flight::rest(self.places.endpoint(place, &piece, false)),
            };
            let mut glow = Glow { burst: 1.0, ..Glow::default() };
            if !signs.ghost {
                glow = glows.of(signs.core, grain, addr / self.places.items.glyph_bytes);
                if signs.prefetched {
                    // What nobody waited for is no miss.
                    glow.flash = 0.0;
                }
            }
            let flies = m.is_some_and(|m| path_of(&m) != Path::Slide);
            out.push(Glyph {
                layer: if signs.ghost {
                    1
                } else if flies || glow.flash > 0.05 {
                    3
                } else {
                    2
                },
                id: addr / self.places.items.glyph_bytes,
                flight,
                radius: self.radius(m.as_ref(), place, region, view),
                color: palette::fade(view.colors.of(region), shade),
                flash: glow.flash * shade,
                pulse: glow.pulse * shade,
                burst: glow.burst,
                flags: sign(signs.ghost, flags::GHOST)
                    | sign(signs.dirty, flags::DIRTY)
                    | sign(signs.prefetched, flags::HOLLOW),
            });
        }
    }

    /// Glyphs that end at home: the last copy was evicted.
    fn leaving(&mut self, m: &Move, view: &View, out: &mut Vec<Glyph>) {
        for piece in self.places.pieces(m.grain, m.tick) {
            let Piece { addr, region, item } = piece;
            let flight = self.places.flight(m, &piece, false);
            self.cached.count(&self.places, region, item, addr);
            let shade = view.shade(region);
            if shade <= 0.0 {
                continue;
            }
            out.push(Glyph {
                layer: 3,
                id: addr / self.places.items.glyph_bytes,
                flight,
                radius: self.radius(Some(m), Place::Home, region, view),
                color: palette::fade(view.colors.of(region), shade),
                flash: 0.0,
                pulse: 0.0,
                burst: 1.0,
                flags: 0,
            });
        }
    }
}

/// Names of the caches and TLBs that hold instructions alone.
fn for_instructions(hierarchy: &Hierarchy) -> Vec<String> {
    let (config, at_work) = (hierarchy.config(), hierarchy.tlbs());
    let levels = config.levels.iter().filter(|level| !level.holds.serves(false)).map(|level| level.name.clone());
    let mut numbers: Vec<usize> = (0..at_work.len()).map(|at| at_work.tlb(at)).collect();
    numbers.dedup();
    let tlbs = numbers.into_iter().map(|number| &config.tlbs[number]).filter(|tlb| !tlb.holds.serves(false));
    levels.chain(tlbs.map(|tlb| tlb.name.clone())).collect()
}

/// Lists of the last frames.
#[derive(Default)]
struct Spare {
    cells: Vec<Cell>,
    structure: Vec<Segment>,
    trails: Vec<Segment>,
    glyphs: Vec<Glyph>,
    /// Glyphs as they were made, and what they are sorted by.
    unsorted: Vec<Glyph>,
    keys: Vec<u128>,
    /// Grains on the rings within, and on the ring at hand.
    within: Vec<u64>,
    here: Vec<u64>,
}

#[derive(Clone, Copy)]
struct Signs {
    dirty: bool,
    prefetched: bool,
    ghost: bool,
    /// The core whose cache it is in; `None` = of all.
    core: Option<u16>,
    tick: u64,
    /// Whether nobody else counts it as cached.
    counts: bool,
}

fn sign(is: bool, flag: u32) -> u32 {
    if is { flag } else { 0 }
}

/// Glyphs in the order they are drawn; equals stay as they were. A cache of a hundred thousand lines makes as many glyphs:
/// small keys are sorted, each glyph is moved once.
fn by_layer_and_id(glyphs: &[Glyph], keys: &mut Vec<u128>, sorted: &mut Vec<Glyph>) {
    let key = |(g, at): (&Glyph, u32)| u128::from(g.layer) << 96 | u128::from(g.id) << 32 | u128::from(at);
    keys.clear();
    keys.extend(glyphs.iter().zip(0u32..).map(key));
    keys.sort_unstable();
    let at = |key: u128| usize::try_from(key & u128::from(u32::MAX)).unwrap_or(0);
    sorted.clear();
    sorted.extend(keys.iter().map(|&key| glyphs[at(key)]));
}

/// Sets in which something moves during this reference.
fn hot_sets(moment: &Moment<'_>, moving: &[Move]) -> Vec<(u16, u32)> {
    let mut hot: Vec<(u16, u32)> = moment
        .log
        .touches(moment.tick, moment.tick + 1)
        .iter()
        .map(|t| (t.cache, t.set))
        .chain(moving.iter().flat_map(|m| [m.from, m.to]).filter_map(|p| match p {
            Place::Slot { cache, set, .. } => Some((cache, set)),
            Place::Home => None,
        }))
        .chain(moment.events.iter().filter_map(|e| match *e {
            // The first line of a set makes none older.
            Event::Fill { cache, set, .. } => Some((cache.0, set.0)),
            _ => None,
        }))
        .collect();
    hot.sort_unstable();
    hot.dedup();
    hot
}
