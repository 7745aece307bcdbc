//! Large caches as cells: where a slot is smaller than a pixel or two, a dot a line says no more than a patch of mean colour,
//! and costs a hundred times as much.
//!
//! ```text
//! set    0   1   2   3 | 4   5   6   7        a cell = some neighbouring sets, a rank each (or some ranks, where there
//! rank 0 A   A   .   B | B   B   B   B        are many): mean colour of its lines, as opaque as it is full
//!      1 A   .   .   . | B   C   B   .
//! ```
//!
//! What lies in each slot is remembered between frames and looked up again only for sets that changed; that is for speed
//! alone, a fresh [`Cells`] gives the same.

use super::frame::Cell;
use super::homes::Cached;
use super::layout::Sector;
use super::palette;
use super::places::Places;
use super::view::{Camera, View};
use crate::reference::{Region, RegionFinder};
use crate::sim::{Hierarchy, Policy};
use crate::units::{Addr, CacheId, LineAddr, SetIndex, to_count};
use std::f32::consts::TAU;

/// When a cache is drawn as cells, and how they look.
#[derive(Debug, PartialEq)]
struct Looks {
    /// Distance between slots below which it may be cells, world units.
    pitch: f32,
    /// Lines that it must have, and that the trace must touch.
    lines: u64,
    /// Cells all round a ring, at most.
    columns: f32,
    /// Opacity of a full cell at the head of its arm, and of one full of ghosts.
    full: f32,
    ghosts: f32,
    /// A cell has the colour of the region that has most of it, else the mean colour.
    most: bool,
}

/// Where dots are finer than 1.6 pixels of a picture 720 high.
const FINE: Looks = Looks { pitch: 0.0054, lines: 8_192, columns: 1024.0, full: 0.50, ghosts: 0.12, most: false };
/// In the large picture: finer than 5 pixels.
const LARGE: Looks = Looks { pitch: 0.0165, lines: 1024, columns: 128.0, full: 0.80, ghosts: 0.55, most: true };
/// Sets that it must have: the arms of a few wind too far for a patch to follow.
const SETS: u32 = 64;
/// Cells from the head of an arm to its end, at most.
const ROWS: u32 = 32;
/// What is left of it at the end of the arm, whose lines are the next to go.
const OLD: f32 = 0.55;
/// What every other row keeps of it, so that rows can be told apart.
const EVEN: f32 = 0.84;

/// One of three steps of detail: a window that grows or shrinks makes cells anew a few times alone. Down to half the size dots stay as they
/// are: they begin to touch, but they show the arms.
fn step(detail: f32) -> f32 {
    const STEPS: [[f32; 2]; 2] = [[0.5, 1.0], [0.35, 0.35]];
    STEPS.into_iter().find(|[from, _]| detail >= *from).map_or(0.25, |[_, step]| step)
}

/// The caches of a hierarchy that are drawn as cells.
#[derive(Debug)]
pub(super) struct Cells {
    fields: Vec<Field>,
    /// Bytes of all regions.
    bytes: u64,
    /// The detail that they are for: see [`step`].
    detail: f32,
}

/// One of them.
#[derive(Debug)]
struct Field {
    cache: CacheId,
    looks: &'static Looks,
    /// Distance between slots below which it may be cells, world units.
    pitch: f32,
    /// Sets and ranks of a cell.
    each: [u32; 2],
    /// Cells around and along.
    grid: [usize; 2],
    /// Where cells touch, world units: one more than cells around and along, column by column.
    nodes: Vec<[f32; 2]>,
    /// Whether a set's words say all of its order.
    is_list: bool,
    /// The words for which `slots` holds; empty = none.
    words: Vec<u64>,
    slots: Vec<Slot>,
    /// Slots that are marked as ghosts while a frame is made.
    ghosts: Vec<usize>,
    /// By cell: colour times opacity, and opacity, summed over its slots.
    sums: Vec<[f32; 4]>,
    /// By cell: regions and their opacity, where the colour is that of the region that has most.
    shares: Vec<Vec<(u32, f32)>>,
}

/// What lies in a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Slot {
    /// Region plus one; 0 = empty, or of no region.
    region: u32,
    /// Number of the home item of its first byte.
    item: u32,
    ghost: bool,
}

/// Finds what lies at an address.
#[derive(Debug)]
pub(super) struct Finder {
    regions: RegionFinder,
    /// Whether what lies at an address never changes.
    pub(super) lasting: bool,
}

impl Finder {
    pub(super) fn new(regions: &[Region], places: &Places) -> Self {
        let lasting = regions.iter().all(|region| region.lifetime.is_none());
        Self { regions: RegionFinder::new(places.home.map().clone()), lasting }
    }
}

impl Cells {
    /// Chooses the caches that are drawn as cells.
    pub(super) fn new(hierarchy: &Hierarchy, regions: &[Region], places: &Places) -> Self {
        let bytes = regions.iter().fold(0u64, |sum, region| sum.saturating_add(region.bytes));
        Self::of(hierarchy, (bytes, 1.0), places)
    }

    /// As [`Cells::new`], where rings are as thick as they are now, in a picture of so much detail.
    pub(super) fn again(&self, hierarchy: &Hierarchy, places: &Places, detail: f32) -> Self {
        Self::of(hierarchy, (self.bytes, step(detail)), places)
    }

    /// Whether they are those of a picture of so much detail.
    pub(super) fn are_for(&self, detail: f32) -> bool {
        self.detail == step(detail)
    }

    /// For regions of so many bytes, in a picture of so much detail.
    fn of(hierarchy: &Hierarchy, (bytes, detail): (u64, f32), places: &Places) -> Self {
        let looks = if places.composition.is_large() { &LARGE } else { &FINE };
        let field = |cache: CacheId| {
            let (geometry, sector) = (hierarchy.geometry(cache), &places.rings.sectors[cache.index()]);
            let lines = geometry.lines().min(bytes / u64::from(geometry.line_bytes));
            // As many lines as fill the same share of a smaller picture.
            let many = lines as f32 >= looks.lines as f32 * detail * detail;
            let fine = sector.pitch * detail < looks.pitch && sector.sets >= SETS && many;
            fine.then(|| Field::new(hierarchy, cache, sector, (looks, detail)))
        };
        Self { fields: hierarchy.caches().filter_map(field).collect(), bytes, detail }
    }

    /// How far the dots of a cache that may be cells have come forward, 0 = cells alone, 1 = dots alone: closer up there is room
    /// for them.
    pub(super) fn dots(&self, cache: CacheId, sector: &Sector, camera: &Camera) -> f32 {
        let Some(field) = self.fields.iter().find(|field| field.cache == cache) else { return 1.0 };
        let t = (sector.pitch * camera.zoom / field.pitch - 1.0).clamp(0.0, 1.0);
        let dots = t * t * (3.0 - 2.0 * t);
        // What would be left of the cells is less than a screen shows.
        if dots > 0.996 { 1.0 } else { dots }
    }

    /// Sets of a cache some of whose slots may be in sight.
    pub(super) fn sets_in_sight<'a>(sector: &'a Sector, view: &'a View) -> impl Iterator<Item = u32> + 'a {
        // Points along the first arm, and how far it goes between two of them, at most; the others are turned from it.
        const POINTS: u16 = 9;
        let arm: [[f32; 2]; POINTS as usize] = std::array::from_fn(|n| {
            let rank = n as f32 / f32::from(POINTS - 1) * (sector.ways - 1) as f32;
            let [r, theta] = sector.polar(0.0, rank);
            [r * theta.cos(), r * theta.sin()]
        });
        let length = |pair: &[[f32; 2]]| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1]);
        let piece = arm.windows(2).map(length).fold(0.0, f32::max);
        // A dot reaches less than that far beside its arm.
        let around = piece + 8.0 * sector.pitch;
        (0..sector.sets).filter(move |&set| {
            let (sin, cos) = (sector.span * set as f32 / sector.sets as f32).sin_cos();
            arm.iter().any(|[x, y]| view.sees([x * cos - y * sin, x * sin + y * cos], around))
        })
    }

    /// Whether none is.
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Whether a cache is drawn as cells.
    pub(super) fn has(&self, cache: CacheId) -> bool {
        self.fields.iter().any(|field| field.cache == cache)
    }

    /// In words, what a cell is; empty where there is none.
    pub(super) fn describe(&self, hierarchy: &Hierarchy, places: &Places, camera: &Camera) -> String {
        let mut said: Vec<String> = Vec::new();
        let drawn = |field: &&Field| self.dots(field.cache, &places.rings.sectors[field.cache.index()], camera) < 1.0;
        for field in self.fields.iter().filter(drawn) {
            let name = &hierarchy.config().levels[hierarchy.info(field.cache).level.index()].name;
            let [sets, ranks] = field.each;
            let words = match sets * ranks {
                1 => format!("1 line in {name}"),
                lines => format!("{lines} lines in {name}"),
            };
            if !said.contains(&words) {
                said.push(words);
            }
        }
        if said.is_empty() { String::new() } else { format!("1 patch = {}", said.join(", ")) }
    }

    /// Brings a cache's cells up to date, counts its lines as cached in `cached` (by home item), and adds the cells to `out`.
    /// `within` are the grains on the rings inside, in order: what stands there too is a ghost here.
    #[expect(clippy::too_many_arguments, reason = "one call site; a struct would only rename them")]
    pub(super) fn draw(
        &mut self,
        state: &Hierarchy,
        cache: CacheId,
        places: &Places,
        finder: &mut Finder,
        (tick, view): (u64, &View),
        within: &[u64],
        cached: &mut Cached,
        out: &mut Vec<Cell>,
    ) {
        let left = 1.0 - self.dots(cache, &places.rings.sectors[cache.index()], &view.camera);
        let Some(field) = self.fields.iter_mut().find(|field| field.cache == cache) else { return };
        field.update(state, places, finder, tick);
        field.mark_ghosts(state, places, within);
        field.count(state, places, cached);
        let sector = &places.rings.sectors[cache.index()];
        if left > 0.0 {
            let Looks { full, ghosts, .. } = *field.looks;
            // In a small picture they stand for dots that would touch each other.
            let full = (full / self.detail.sqrt()).min(0.9);
            field.paint([full * left, if view.ghosts { ghosts * left } else { 0.0 }], sector, view, out);
        }
        for &at in &field.ghosts {
            field.slots[at].ghost = false;
        }
    }
}

/// Glyphs and items of the line in a slot that is not empty.
fn parts(places: &Places, slot: &Slot, line_bytes: u64) -> (u64, u64) {
    let region = (slot.region - 1) as usize;
    (line_bytes / places.items.glyph_of(region), (line_bytes / places.items.home_of(region)).max(1))
}

impl Field {
    fn new(hierarchy: &Hierarchy, cache: CacheId, sector: &Sector, (looks, detail): (&'static Looks, f32)) -> Self {
        let columns = to_count(looks.columns * detail * sector.span / TAU).clamp(1, sector.sets);
        let each = [sector.sets.div_ceil(columns).next_power_of_two(), sector.ways.div_ceil(ROWS)];
        let grid = [sector.sets.div_ceil(each[0]) as usize, sector.ways.div_ceil(each[1]) as usize];
        let slots = vec![Slot::default(); sector.sets as usize * sector.ways as usize];
        let policy = hierarchy.config().levels[hierarchy.info(cache).level.index()].policy;
        let is_list = matches!(policy, Policy::Lru | Policy::Fifo | Policy::Mru);
        let sums = vec![[0.0; 4]; grid[0] * grid[1]];
        let shares = if looks.most { vec![Vec::new(); sums.len()] } else { Vec::new() };
        let nodes = nodes(sector, each, grid);
        let (pitch, words, ghosts) = (looks.pitch / detail, Vec::new(), Vec::new());
        Self { cache, looks, pitch, each, grid, nodes, is_list, words, slots, ghosts, sums, shares }
    }

    /// Looks up what lies in each set that is not as it was.
    fn update(&mut self, state: &Hierarchy, places: &Places, finder: &mut Finder, tick: u64) {
        let geometry = state.geometry(self.cache);
        let ways = geometry.ways as usize;
        let words = state.words(self.cache);
        let keeps = self.is_list && finder.lasting && self.words.len() == words.len();
        for (set, slots) in (0u32..).zip(self.slots.chunks_exact_mut(ways)) {
            let span = set as usize * ways..(set as usize + 1) * ways;
            if keeps && self.words[span.clone()] == words[span] {
                continue;
            }
            let mut order = state.order(self.cache, SetIndex(set));
            for slot in slots {
                *slot = order.next().map_or_else(Slot::default, |resident| {
                    let addr = resident.line.base(geometry.line_bytes).0;
                    let home = places.home.item_by(&mut finder.regions, addr, tick);
                    home.map_or_else(Slot::default, |(region, item)| {
                        let number = places.home.regions[region].first_item + item;
                        let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
                        Slot { region: small(region as u64 + 1), item: small(number), ghost: false }
                    })
                });
            }
        }
        self.words.clear();
        self.words.extend_from_slice(words);
    }

    /// Marks the lines that stand further in too.
    fn mark_ghosts(&mut self, state: &Hierarchy, places: &Places, within: &[u64]) {
        let geometry = state.geometry(self.cache);
        let grain_bytes = u32::try_from(places.items.grain_bytes).unwrap_or(u32::MAX);
        self.ghosts.clear();
        let mut last = None;
        for &grain in within {
            let line: LineAddr = Addr(LineAddr(grain).base(grain_bytes).0).line(geometry.line_bytes);
            if last.replace(line) == Some(line) {
                continue;
            }
            if let Some((set, rank)) = state.rank(self.cache, line) {
                let at = set.0 as usize * geometry.ways as usize + rank as usize;
                if let Some(slot) = self.slots.get_mut(at) {
                    slot.ghost = true;
                    self.ghosts.push(at);
                }
            }
        }
    }

    /// Counts each line that is no ghost as cached: a line that begins in a region counts for it as a whole.
    fn count(&self, state: &Hierarchy, places: &Places, cached: &mut Cached) {
        let line_bytes = u64::from(state.geometry(self.cache).line_bytes);
        if !places.closeness.is_whole() {
            self.count_parts(state, places, cached);
        }
        for slot in self.slots.iter().filter(|slot| slot.region > 0 && !slot.ghost) {
            let (glyphs, items) = parts(places, slot, line_bytes);
            let each = u16::try_from(glyphs / items).unwrap_or(u16::MAX);
            for count in cached.items_mut(slot.item as usize, usize::try_from(items).unwrap_or(1)) {
                *count = count.saturating_add(each);
            }
        }
    }

    /// As [`Field::count`], for the parts of items that are looked at closely: which bytes a line holds is asked anew, of few.
    fn count_parts(&self, state: &Hierarchy, places: &Places, cached: &mut Cached) {
        let geometry = state.geometry(self.cache);
        let line_bytes = u64::from(geometry.line_bytes);
        let data = |slot: &Slot| slot.region > 0 && !slot.ghost;
        let close = |slot: &Slot, cached: &Cached| {
            let (_, items) = parts(places, slot, line_bytes);
            (0..items).any(|n| cached.is_close(u64::from(slot.item) + n))
        };
        for (set, slots) in (0u32..).zip(self.slots.chunks_exact(geometry.ways as usize)) {
            if !slots.iter().any(|slot| data(slot) && close(slot, cached)) {
                continue;
            }
            for (slot, resident) in slots.iter().zip(state.order(self.cache, SetIndex(set))) {
                let Some(region) = slot.region.checked_sub(1).filter(|_| data(slot)) else { continue };
                let (region, first) = (region as usize, resident.line.base(geometry.line_bytes).0);
                let home = &places.home.regions[region];
                let bytes = places.items.glyph_of(region);
                for addr in (first..first + line_bytes).step_by(usize::try_from(bytes).unwrap_or(1)) {
                    let item = addr.saturating_sub(home.base) / home.item_bytes;
                    if item < home.items && cached.is_close(home.first_item + item) {
                        cached.count_part(places, region, item, addr);
                    }
                }
            }
        }
    }

    fn paint(&mut self, [full, ghosts]: [f32; 2], sector: &Sector, view: &View, out: &mut Vec<Cell>) {
        let [sets, ranks] = self.each;
        self.sums.fill([0.0; 4]);
        self.shares.iter_mut().for_each(Vec::clear);
        let rows = self.grid[1];
        let ways = sector.ways as usize;
        for (set, slots) in (0u32..).zip(self.slots.chunks_exact(ways)) {
            let column = (set / sets) as usize * rows;
            for (rank, slot) in (0u32..).zip(slots) {
                let Some(region) = slot.region.checked_sub(1) else { continue };
                let alpha = view.shade(region as usize) * if slot.ghost { ghosts } else { full };
                let [r, g, b, _] = view.colors.of(region as usize).map(f32::from);
                let cell = column + (rank / ranks) as usize;
                if let Some(shares) = self.shares.get_mut(cell) {
                    match shares.iter_mut().find(|(of, _)| *of == region) {
                        Some((_, share)) => *share += alpha,
                        None => shares.push((region, alpha)),
                    }
                }
                let sum = &mut self.sums[cell];
                *sum = [sum[0] + alpha * r, sum[1] + alpha * g, sum[2] + alpha * b, sum[3] + alpha];
            }
        }
        for (at, sum) in (0usize..).zip(&self.sums) {
            if sum[3] <= 0.0 {
                continue;
            }
            let (column, row) = (u32::try_from(at / rows).unwrap_or(0), u32::try_from(at % rows).unwrap_or(0));
            let (from, low) = (column * sets, row * ranks);
            let (to, high) = ((from + sets).min(sector.sets), (low + ranks).min(sector.ways));
            let node = at + column as usize;
            let corners = [node, node + rows + 1, node + 1, node + rows + 2].map(|node| self.nodes[node]);
            if !sees(corners, view) {
                continue;
            }
            let room = ((to - from) * (high - low)) as f32;
            let byte = |n: f32| palette::unit_to_byte(n / 255.0);
            let [r, g, b, alpha] = *sum;
            let age = row as f32 / (rows - 1).max(1) as f32;
            let shade = (1.0 - (1.0 - OLD) * age) * if row % 2 == 1 { EVEN } else { 1.0 };
            let opacity = palette::unit_to_byte(shade * alpha / room);
            // Of equal shares that of the first region.
            let most = self.shares.get(at).and_then(|shares| {
                shares.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|(region, _)| *region)
            });
            let color = match most.map(|region| view.colors.of(region as usize)) {
                Some([r, g, b, _]) => [r, g, b, opacity],
                None => [byte(r / alpha), byte(g / alpha), byte(b / alpha), opacity],
            };
            let number = u16::try_from(self.cache.index()).unwrap_or(u16::MAX);
            out.push(Cell { sector: number, sets: [from, to], ranks: [low, high], corners, color });
        }
    }
}

/// The places between slots at which cells of so many sets and ranks touch.
fn nodes(sector: &Sector, [sets, ranks]: [u32; 2], [columns, rows]: [usize; 2]) -> Vec<[f32; 2]> {
    let steps =
        |each: u32, cells: usize, most: u32| (0u32..).take(cells + 1).map(move |n| (n * each).min(most) as f32 - 0.5);
    let place = |arm: f32, rank: f32| {
        let [r, theta] = sector.polar(arm, rank);
        [r * theta.cos(), r * theta.sin()]
    };
    steps(sets, columns, sector.sets)
        .flat_map(|arm| steps(ranks, rows, sector.ways).map(move |rank| place(arm, rank)))
        .collect()
}

/// Whether a patch between these corners may be in sight.
fn sees(corners: [[f32; 2]; 4], view: &View) -> bool {
    if !view.culls() {
        return true;
    }
    let side =
        |axis: usize, pick: fn(f32, f32) -> f32| corners.map(|c| c[axis]).into_iter().reduce(pick).unwrap_or(0.0);
    let (low, high) = ([0, 1].map(|axis| side(axis, f32::min)), [0, 1].map(|axis| side(axis, f32::max)));
    view.sees_box(low, high, 0.001)
}
