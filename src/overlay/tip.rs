//! What is said about the thing under the pointer. Plain values from the moment that is drawn.

use super::info::{Info, entries_of, shape_of};
use super::named;
use super::pen::{Target, percent};
use super::studio::Studio;
use crate::reference::Region;
use crate::scene::frame::flags;
use crate::scene::motion::Path;
use crate::scene::palette::{RegionColors, Rgba};
use crate::scene::pick::{Pick, pick};
use crate::scene::{Glyph, Scene, Stage, pages};
use crate::sim::config::format_size;
use crate::sim::{Hierarchy, LevelCounters};
use crate::timeline::Moment;
use crate::units::{self, Addr, ByteRange, CacheId, LineAddr, SetIndex, grouped, to_count};
use egui::Pos2;

/// A few lines beside the pointer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tip {
    /// What it is.
    pub title: String,
    /// Colour of its region.
    pub color: Option<Rgba>,
    /// More about it.
    pub lines: Vec<String>,
    /// What it is about, to be ringed: centre and radius, pixels of the target.
    pub around: Option<(Pos2, f32)>,
    /// What a click on it is about.
    pub about: Option<Target>,
}

/// About what is at `p` (world units) in a scene of the rings; a glyph counts up to `reach` from its centre. With a glyph's number
/// in the scene's list.
pub(super) fn tip_at(
    studio: &Studio,
    stage: &Stage,
    scene: &Scene,
    info: &Info,
    p: [f32; 2],
    reach: f32,
) -> Option<(Tip, Option<usize>)> {
    let (moment, tables) = (studio.moment(), studio.tables());
    // At rest before a reference, the state is the one before it.
    let state = if scene.now > 0.0 { moment.after } else { moment.before };
    let tip = match pick(scene, stage.home(), p, reach)? {
        Pick::Glyph(index) => {
            let glyph = scene.glyphs.get(index)?;
            if glyph.layer == CPU_LAYER {
                return Some((
                    Tip { title: "CPU".into(), lines: vec![now_line(&info.now.what)], ..Tip::default() },
                    None,
                ));
            }
            let tip = match glyph.layer {
                pages::LAYER => page(scene, stage, (&tables.regions, &info.colors), &moment, state, index)?,
                _ => data(stage, (&tables.regions, &info.colors), &moment, state, glyph)?,
            };
            return Some((tip, Some(index)));
        }
        Pick::Slot { cache, set, rank } => {
            let name = scene.rings.names.get(cache)?.full.clone();
            let id = CacheId(u16::try_from(cache).ok()?);
            let lines = cache_lines(moment.before, state, id, SetIndex(set), rank);
            Tip { title: name, lines, about: held(state, id, SetIndex(set), rank), ..Tip::default() }
        }
        Pick::Entry { tlb, set, rank } => {
            let title = scene.rings.names.get(scene.rings.caches() + tlb)?.full.clone();
            let lines = tlb_lines(moment.before, state, tlb, SetIndex(set), rank);
            Tip { title, lines, ..Tip::default() }
        }
        Pick::Region(index) => region_tip(studio, info, index)?,
    };
    Some((tip, None))
}

/// About a region, by its number.
pub(super) fn region_tip(studio: &Studio, info: &Info, index: usize) -> Option<Tip> {
    let (region, row) = (studio.tables().regions.get(index)?, info.regions.get(index)?);
    let misses = row.miss_rate.map(|rate| format!(", {} {} miss", percent(Some(rate)), info.innermost));
    let size = match region.elem_type.as_str() {
        "" => format!("{} bytes", grouped(region.bytes)),
        name => format!("{} × {name}, {} bytes", grouped(region.elements()), grouped(region.bytes)),
    };
    let mut lines = vec![size];
    lines.extend(strides(region));
    lines.push(format!("0x{:x} to 0x{:x}", region.base, region.end().saturating_sub(1)));
    lines.push(format!("{}{}", units::counted(row.references, "reference"), misses.unwrap_or_default()));
    Some(Tip { title: region.declaration(), color: Some(row.color), lines, ..Tip::default() })
}

/// How a region's elements lie, where that does not follow from its shape: `strides 17, 1 from element 2`.
fn strides(region: &Region) -> Option<String> {
    let strides: Vec<String> = region.strides.iter().map(i64::to_string).collect();
    match (strides.is_empty(), region.offset) {
        (true, 0) => None,
        (true, offset) => Some(format!("begins at element {}", grouped(offset))),
        (false, 0) => Some(format!("strides {}", strides.join(", "))),
        (false, offset) => Some(format!("strides {} from element {}", strides.join(", "), grouped(offset))),
    }
}

/// About a source line, by its row in the timeline.
pub(super) fn line_tip(studio: &Studio, row: usize) -> Option<Tip> {
    let (timeline, moment) = (studio.timeline(), studio.moment());
    let counted = *moment.lines().get(row)?;
    let location = timeline.lines().places().get(row).and_then(|&place| studio.tables().locations.get(place));
    let title = location.map_or("unknown instructions".into(), |l| format!("{}:{}", l.file, l.line));
    let mut lines: Vec<String> = location.into_iter().flat_map(|l| [l.function.clone(), l.text.clone()]).collect();
    lines.retain(|line| !line.is_empty());
    lines.push(format!("{} up to this one", units::counted(counted.references, "reference")));
    for (level, misses) in timeline.config().levels.iter().zip(counted.misses) {
        lines.push(format!("{} misses in {}", grouped(misses), level.name));
    }
    lines.push("a click goes to its next reference".into());
    Some(Tip { title, lines, ..Tip::default() })
}

/// About a page that has an entry in a TLB: index of the entry's glyph.
fn page(
    scene: &Scene,
    stage: &Stage,
    (regions, colors): (&[Region], &RegionColors),
    moment: &Moment<'_>,
    state: &Hierarchy,
    glyph: usize,
) -> Option<Tip> {
    let entry = scene.glyphs.get(glyph)?;
    let tlbs = state.tlbs();
    let (at, page) = (scene.rings.tlb_of(to_count(entry.flight.to.cache) as usize)?, LineAddr(entry.id));
    let geometry = tlbs.geometry(at);
    let (first, last) = (geometry.base_of(page).0, geometry.last_of(page).0);
    let mut lines = vec![format!("{} to 0x{last:x}, {}", Addr(first), format_size(u64::from(geometry.line_bytes)))];
    let held = stage.home().held(first, last, moment.tick);
    for (region, bytes) in held.iter().take(MOST_REGIONS) {
        let name = regions.get(*region).map_or("?", |r| r.name.as_str());
        lines.push(format!("{name}: {} bytes of it", grouped(*bytes)));
    }
    match held.len() {
        0 => lines.push("no region is on it now".into()),
        n if n > MOST_REGIONS => lines.push(format!("and {} more regions", n - MOST_REGIONS)),
        _ => {}
    }
    let name = |at: usize| scene.rings.names.get(scene.rings.caches() + at).map_or("?", |n| n.full.as_str());
    // The entry itself first, then those of other TLBs.
    let found = std::iter::once(at).chain((0..tlbs.len()).filter(|&other| other != at));
    let place = |at: usize| {
        let (set, rank) = tlbs.page_rank(at, page)?;
        Some(format!("in {}: set {}, rank {rank} of {}", name(at), set.0, tlbs.geometry(at).ways))
    };
    let places: Vec<String> = found.filter_map(place).collect();
    if places.is_empty() {
        lines.push(format!("leaves {}", name(at)));
    }
    lines.extend(places.into_iter().take(MOST_PLACES));
    let color = stage.page_color(colors, page, u64::from(geometry.line_bytes), moment.tick);
    Some(Tip { title: format!("page {page}", page = page.0), color: Some(color), lines, ..Tip::default() })
}

/// Regions of a page, and TLBs that hold it, that are named at most.
const MOST_REGIONS: usize = 3;
const MOST_PLACES: usize = 4;

/// Shape, counts and content of a TLB, and of the entry at `rank` of `set`. Counts are those of the tables, `counted`.
fn tlb_lines(counted: &Hierarchy, state: &Hierarchy, tlb: usize, set: SetIndex, rank: u32) -> Vec<String> {
    let tlbs = state.tlbs();
    let g = tlbs.geometry(tlb);
    let held: usize = (0..g.sets).map(|set| tlbs.order(tlb, SetIndex(set)).count()).sum();
    let full = u32::try_from(tlbs.order(tlb, set).count()).unwrap_or(u32::MAX) > rank;
    let c = counted.tlbs().counters(tlb);
    vec![
        format!("{}, {} pages", entries_of(g.sets, g.ways), format_size(u64::from(g.line_bytes))),
        told(c),
        format!("{} of {} entries held", grouped(held as u64), grouped(u64::from(g.sets) * u64::from(g.ways))),
        format!("here: set {}, {}{}", set.0, order_word(rank, g.ways), if full { "" } else { " (empty)" }),
    ]
}

/// A place in eviction order in words.
fn order_word(rank: u32, ways: u32) -> String {
    match rank {
        0 => "most recent".to_owned(),
        r if r + 1 == ways => format!("rank {r}, next to go"),
        r => format!("rank {r} of {ways}"),
    }
}

/// Demand hits and hit rate.
fn told(counters: &LevelCounters) -> String {
    match counters.hit_rate() {
        None => "not asked yet".to_owned(),
        rate => format!("{} hits, {}", grouped(counters.demand_hits()), percent(rate)),
    }
}

/// Shape, counts and content of a cache, and of the slot at `rank` of `set`. Counts are those of the tables, `counted`.
fn cache_lines(counted: &Hierarchy, state: &Hierarchy, cache: CacheId, set: SetIndex, rank: u32) -> Vec<String> {
    let geometry = state.geometry(cache);
    let lines = u64::from(geometry.sets) * u64::from(geometry.ways);
    let place = order_word(rank, geometry.ways);
    let full = u32::try_from(state.order(cache, set).count()).unwrap_or(u32::MAX) > rank;
    let c = counted.counters(cache);
    let told = told(c);
    let (mut held, mut dirty, mut prefetched) = (0, 0, 0);
    for resident in (0..geometry.sets).flat_map(|set| state.order(cache, SetIndex(set))) {
        held += 1;
        dirty += u64::from(resident.dirty);
        prefetched += u64::from(resident.prefetched);
    }
    let unused = match prefetched {
        0 => String::new(),
        n => format!(", {} prefetched and not used yet", grouped(n)),
    };
    vec![
        format!("{}, {}-byte lines", shape_of(geometry.sets, geometry.ways), geometry.line_bytes),
        told,
        format!("{} of {} lines held, {} dirty{unused}", grouped(held), grouped(lines), grouped(dirty)),
        format!("here: set {}, {place}{}", set.0, if full { "" } else { " (empty)" }),
    ]
}

/// Layer of the CPU's disc in a scene.
const CPU_LAYER: u8 = 4;
/// Layer of the dots at home.
const HOME_LAYER: u8 = 0;

fn now_line(what: &str) -> String {
    if what.is_empty() { "the trace has ended".into() } else { format!("now: {what}") }
}

/// Region, first byte and length of what a glyph stands for.
pub(super) fn extent(stage: &Stage, glyph: &Glyph) -> Option<(usize, u64, u64)> {
    let (home, items) = (stage.home(), stage.items());
    if glyph.layer == HOME_LAYER {
        return home.extent(glyph.id);
    }
    let addr = glyph.id.saturating_mul(items.glyph_bytes);
    let (region, _) = home.item(addr, u64::MAX).or_else(|| home.item(addr, 0))?;
    let bytes = items.glyph_of(region);
    Some((region, addr, bytes - addr % bytes))
}

fn data(
    stage: &Stage,
    (regions, colors): (&[Region], &RegionColors),
    moment: &Moment<'_>,
    state: &Hierarchy,
    glyph: &Glyph,
) -> Option<Tip> {
    let (index, addr, bytes) = extent(stage, glyph)?;
    let region = regions.get(index)?;
    // A line or block may begin before its region and end after it.
    let first = addr.max(region.base);
    let last = addr.saturating_add(bytes - 1).min(region.end().saturating_sub(1)).max(first);
    let mut lines = vec![format!("{}, {} bytes", Addr(first), grouped(last - first + 1))];
    lines.extend(whereabouts(state, first, last));
    if glyph.flags & flags::GHOST != 0 {
        lines.push("a ghost: this copy is not the innermost".into());
    } else if glyph.flight.path != Path::Rest && moment.reference.is_some() {
        lines.push("on the move".into());
    }
    lines.push(last_touch(moment, first, last));
    let (title, about) = (named::of_region(region, first, last), Some(Target::Bytes(ByteRange { first, last })));
    Some(Tip { title, color: Some(colors.of(index)), lines, around: None, about })
}

/// About some bytes that are pinned, wherever they are at this moment; `within`: its reference is under way.
#[must_use]
pub fn bytes_tip(studio: &Studio, colors: &RegionColors, bytes: ByteRange, within: bool) -> Tip {
    let moment = studio.moment();
    let state = if within { moment.after } else { moment.before };
    let (title, region) = named::bytes(studio, bytes, moment.tick);
    let ByteRange { first, last } = bytes;
    let mut lines = vec![format!("{}, {} bytes", Addr(first), grouped(bytes.bytes()))];
    lines.extend(whereabouts(state, first, last));
    lines.push(last_touch(&moment, first, last));
    let about = Some(Target::Bytes(bytes));
    Tip { title, color: region.map(|region| colors.of(region)), lines, around: None, about }
}

/// The line in a slot of a cache, to be pinned.
fn held(state: &Hierarchy, cache: CacheId, set: SetIndex, rank: u32) -> Option<Target> {
    let bytes = state.geometry(cache).line_bytes;
    let resident = state.order(cache, set).nth(usize::try_from(rank).ok()?)?;
    Some(Target::Bytes(ByteRange::new(resident.line.base(bytes).0, u64::from(bytes))))
}

/// A line for each level that holds any of the bytes `first..=last`, the innermost first.
pub(super) fn whereabouts(state: &Hierarchy, first: u64, last: u64) -> Vec<String> {
    let mut lines = Vec::new();
    for cache in state.caches() {
        let geometry = state.geometry(cache);
        let (from, to) = (Addr(first).line(geometry.line_bytes).0, Addr(last).line(geometry.line_bytes).0);
        let name = state.name(cache);
        let verb = if lines.is_empty() { "in" } else { "copy in" };
        if from < to {
            let whole = (from..=to).take(MOST_LINES).count();
            let held = (from..=to).take(MOST_LINES).filter(|&l| state.rank(cache, crate::units::LineAddr(l)).is_some());
            match held.count() {
                0 => {}
                held => lines.push(format!("{verb} {name}: {held} of {whole} lines")),
            }
        } else if let Some((set, rank)) = state.rank(cache, crate::units::LineAddr(from)) {
            let resident = state.order(cache, set).find(|r| r.line.0 == from);
            let dirty = if resident.is_some_and(|r| r.dirty) { ", dirty" } else { "" };
            let unused = if resident.is_some_and(|r| r.prefetched) { ", prefetched and not used yet" } else { "" };
            lines.push(format!("{verb} {name}: set {}, rank {rank} of {}{dirty}{unused}", set.0, geometry.ways));
        }
    }
    if lines.is_empty() {
        lines.push("in memory only".into());
    }
    lines
}

/// Lines of a block that are looked up, at most.
const MOST_LINES: usize = 4096;

fn last_touch(moment: &Moment<'_>, first: u64, last: u64) -> String {
    let (from, to) = (moment.log.start(), moment.tick + 1);
    let steps = moment.log.steps(from, to);
    match steps.iter().rposition(|s| (first..=last).contains(&s.addr)) {
        Some(at) if from + at as u64 == moment.tick => "touched by this reference".into(),
        Some(at) => {
            let tick = from + at as u64;
            format!("last touched at {}, {} ago", grouped(tick), grouped(moment.tick - tick))
        }
        None if from == 0 => "not touched yet".into(),
        None => format!("not touched in the last {}", grouped(moment.tick - from)),
    }
}

#[cfg(test)]
mod tests;
