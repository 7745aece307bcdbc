//! What the viewer says about the thing under the pointer. Plain values from the moment that is drawn.

use super::desk::Desk;
use crate::overlay::info::{entries_of, shape_of};
use crate::overlay::pen::percent;
use crate::reference::{Region, SourceError};
use crate::scene::frame::flags;
use crate::scene::motion::Path;
use crate::scene::palette::{self, Rgba};
use crate::scene::pick::{Pick, pick};
use crate::scene::{Glyph, Scene, Stage, pages};
use crate::sim::config::format_size;
use crate::sim::{Hierarchy, LevelCounters};
use crate::timeline::{Moment, Share};
use crate::units::{Addr, CacheId, LineAddr, SetIndex, grouped, to_count};
use std::cmp::Reverse;
use std::ops::Range;

/// A few lines beside the pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tip {
    /// What it is.
    pub title: String,
    /// Colour of its region.
    pub color: Option<Rgba>,
    /// More about it.
    pub lines: Vec<String>,
    /// A glyph to ring: index into the scene's list.
    pub glyph: Option<usize>,
}

/// About what is at `p` (world units) in the picture that `desk` drew last; a glyph counts up to `reach` from its centre.
#[must_use]
pub fn tip_at(desk: &Desk, p: [f32; 2], reach: f32) -> Option<Tip> {
    let (scene, info) = desk.drawn()?;
    let (studio, moment) = (desk.studio(), desk.studio().moment());
    let (stage, tables) = (studio.stage(), studio.tables());
    // At rest before a reference, the state is the one before it.
    let state = if scene.phase > 0.0 { moment.after } else { moment.before };
    match pick(scene, stage.home(), p, reach)? {
        Pick::Glyph(index) => {
            let glyph = scene.glyphs.get(index)?;
            if glyph.layer == pages::LAYER {
                return page(scene, stage, &tables.regions, &moment, state, index);
            }
            if glyph.layer == CPU_LAYER {
                return Some(Tip { title: "CPU".into(), lines: vec![now_line(&info.now.what)], ..Tip::default() });
            }
            let mut tip = data(stage, &tables.regions, &moment, state, glyph)?;
            tip.glyph = Some(index);
            Some(tip)
        }
        Pick::Slot { cache, set, rank } => {
            let name = scene.rings.names.get(cache)?.full.clone();
            let id = CacheId(u16::try_from(cache).ok()?);
            Some(Tip {
                title: name,
                lines: cache_lines(moment.before, state, id, SetIndex(set), rank),
                ..Tip::default()
            })
        }
        Pick::Entry { tlb, set, rank } => {
            let title = scene.rings.names.get(scene.rings.caches() + tlb)?.full.clone();
            let lines = tlb_lines(moment.before, state, tlb, SetIndex(set), rank);
            Some(Tip { title, lines, ..Tip::default() })
        }
        Pick::Region(index) => {
            let (region, row) = (tables.regions.get(index)?, info.regions.get(index)?);
            let misses = row.miss_rate.map(|rate| format!(", {} {} miss", percent(Some(rate)), info.innermost));
            let size = match region.elem_type.as_str() {
                "" => format!("{} bytes", grouped(region.bytes)),
                name => format!("{} × {name}, {} bytes", grouped(region.elements()), grouped(region.bytes)),
            };
            Some(Tip {
                title: region.declaration(),
                color: Some(palette::region(index)),
                lines: vec![
                    size,
                    format!("0x{:x} to 0x{:x}", region.base, region.end().saturating_sub(1)),
                    format!("{} references{}", grouped(row.references), misses.unwrap_or_default()),
                ],
                glyph: None,
            })
        }
    }
}

/// About a page that has an entry in a TLB: index of the entry's glyph.
fn page(
    scene: &Scene,
    stage: &Stage,
    regions: &[Region],
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
    let color = stage.page_color(page, u64::from(geometry.line_bytes), moment.tick);
    Some(Tip { title: format!("page {page}", page = page.0), color: Some(color), lines, glyph: Some(glyph) })
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
fn extent(stage: &Stage, glyph: &Glyph) -> Option<(usize, u64, u64)> {
    let (home, items) = (stage.home(), stage.items());
    if glyph.layer == HOME_LAYER {
        return home.extent(glyph.id);
    }
    let addr = glyph.id.saturating_mul(items.glyph_bytes);
    let (region, _) = home.item(addr, u64::MAX).or_else(|| home.item(addr, 0))?;
    let bytes = items.glyph_of(region);
    Some((region, addr, bytes - addr % bytes))
}

fn data(stage: &Stage, regions: &[Region], moment: &Moment<'_>, state: &Hierarchy, glyph: &Glyph) -> Option<Tip> {
    let (index, addr, bytes) = extent(stage, glyph)?;
    let region = regions.get(index)?;
    // A line or block may begin before its region and end after it.
    let first = addr.max(region.base);
    let last = addr.saturating_add(bytes - 1).min(region.end().saturating_sub(1)).max(first);
    let title = if last - first < u64::from(region.elem_bytes.max(1)) {
        region.element_name(first)
    } else {
        format!("{} … {}", region.element_name(first), region.element_name(last))
    };
    let mut lines = vec![format!("{}, {} bytes", Addr(first), grouped(last - first + 1))];
    lines.extend(whereabouts(state, first, last));
    if glyph.flags & flags::GHOST != 0 {
        lines.push("a ghost: this copy is not the innermost".into());
    } else if glyph.flight.path != Path::Rest && moment.reference.is_some() {
        lines.push("on the move".into());
    }
    lines.push(last_touch(moment, first, last));
    Some(Tip { title, color: Some(palette::region(index)), lines, glyph: None })
}

/// A line for each level that holds any of the bytes `first..=last`, the innermost first.
fn whereabouts(state: &Hierarchy, first: u64, last: u64) -> Vec<String> {
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

/// About a place of the strip: the reference there, its source line, the misses of the strip's column.
///
/// # Errors
/// When the trace cannot be read.
pub fn strip_tip(desk: &Desk, tick: u64, columns: usize) -> Result<Tip, SourceError> {
    let (timeline, tables) = (desk.studio().timeline(), desk.studio().tables());
    let len = desk.transport.total();
    let mut tip = Tip { title: format!("reference {}", grouped(tick)), ..Tip::default() };
    let Some(reference) = timeline.reference(tick)? else {
        let grows = desk.transport.grows();
        tip.title = if grows { "not read yet".into() } else { "end of the trace".into() };
        return Ok(tip);
    };
    let region = timeline.region_of(reference.addr, tick);
    let name =
        region.map_or_else(|| Addr(reference.addr).to_string(), |r| tables.regions[r].element_name(reference.addr));
    tip.color = region.map(palette::region);
    let levels = &desk.studio().moment().before.config().levels;
    let outcome = match timeline.outcomes().and_then(|o| o.get(tick)) {
        None => String::new(),
        Some(outcome) if !outcome.missed() => ", hit".into(),
        Some(outcome) => {
            format!(", miss, from {}", levels.get(outcome.served_by()).map_or("memory", |l| l.name.as_str()))
        }
    };
    tip.lines.push(format!("{} {name}{outcome}", reference.kind.verb()));
    if let Some(location) = tables.location(reference.pc) {
        if !location.text.is_empty() {
            tip.lines.push(location.text.clone());
        }
        tip.lines.push(format!("{}:{}", location.file, location.line));
    }
    let (shown, columns) = (desk.stretch().references(len), columns.max(1) as u64);
    let (here, all) = (u128::from(tick.saturating_sub(shown.start)), u128::from((shown.end - shown.start).max(1)));
    let column = u64::try_from(here * u128::from(columns) / all).unwrap_or(0);
    let edge = |c: u64| {
        let from_start = u64::try_from((u128::from(c) * all).div_ceil(u128::from(columns))).unwrap_or(len);
        shown.start + from_start
    };
    let (from, to) = (edge(column), edge(column + 1).min(timeline.len()));
    if to > from + 1 {
        tip.lines.extend(strip_lines(desk, from..to));
    }
    Ok(tip)
}

/// Regions that are named as those with most misses.
const MOST: usize = 3;

/// What happened in some references: misses of the innermost levels, by class, and whose they are. What is counted by wider parts
/// of the trace than that is told of those, as "around here".
fn strip_lines(desk: &Desk, references: Range<u64>) -> Vec<String> {
    let (studio, timeline) = (desk.studio(), desk.studio().timeline());
    let name = desk.drawn().map_or("", |(_, info)| info.innermost.as_str());
    let levels: Vec<usize> = studio.stage().innermost().map(|level| level.index()).collect();
    let word = |misses: u64| if misses == 1 { "miss" } else { "misses" };
    let (misses, classes, exactly) = match timeline.outcomes() {
        Some(outcomes) => {
            let (mut misses, mut classes) = (0, [0; 4]);
            for outcome in references.clone().filter_map(|tick| outcomes.get(tick)).filter(|o| o.missed()) {
                misses += 1;
                if let Some(class) = levels.iter().find_map(|&level| outcome.class(level)) {
                    classes[class as usize] += 1;
                }
            }
            (misses, classes, references.clone())
        }
        None => {
            let sums = levels.iter().map(|&level| timeline.summary().over(references.clone(), level));
            let (mut misses, mut exactly) = (0, references.clone());
            for (sums, of) in sums {
                (misses, exactly) = (misses + sums.demand_misses, of);
            }
            (misses, [0; 4], exactly)
        }
    };
    let here = |of: &Range<u64>| if *of == references { "here" } else { "around here" };
    let (count, place) = (grouped(exactly.end - exactly.start), here(&exactly));
    let mut lines = vec![format!("{} {name} {} in {count} references {place}", grouped(misses), word(misses))];
    let classes = classes.into_iter().zip(["compulsory", "capacity", "conflict", "coherence"]);
    let classes: Vec<String> =
        classes.filter(|(misses, _)| *misses > 0).map(|(misses, name)| format!("{} {name}", grouped(misses))).collect();
    if !classes.is_empty() {
        lines.push(classes.join(", "));
    }
    let (shares, wider) = timeline.regions_over(references.clone());
    let of = |share: &Share| levels.iter().map(|&level| share.misses[level]).sum::<u64>();
    let all: u64 = shares.iter().map(of).sum();
    let mut most: Vec<(u64, usize)> = shares.iter().map(of).zip(0..).filter(|(misses, _)| *misses > 0).collect();
    most.sort_by_key(|&(misses, region)| (Reverse(misses), region));
    most.truncate(MOST);
    if misses > 0 && shares.len() > 1 && !most.is_empty() {
        let share = |&(misses, region): &(u64, usize)| {
            format!("{} {}", studio.tables().regions[region].name, percent(Some(misses as f64 / all as f64)))
        };
        // Regions are counted in some hundred parts of the trace.
        let place = here(&wider);
        lines.push(format!("misses {place} by {}", most.iter().map(share).collect::<Vec<_>>().join(", ")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::desk::tests::{desk, desk_under};
    use super::*;
    use crate::overlay::{Parts, Studio};
    use crate::reference::{Kind, MemoryTrace, Reference, Tables};
    use crate::scene::layout::Closeness;
    use crate::scene::motion::position_at;
    use crate::scene::{Camera, Composition, View};
    use crate::sim::config::{HierarchyConfig, preset};
    use crate::timeline::{Options, Timeline};
    use std::sync::Arc;

    fn drawn_at(position: f64) -> Desk {
        let mut desk = desk();
        desk.transport.jump(position);
        desk.refresh().expect("in memory");
        desk
    }

    /// The tip at the glyph of the byte at `addr` that is no ghost and not at home.
    fn tip_of(desk: &Desk, addr: u64) -> Tip {
        let (scene, _) = desk.drawn().expect("drawn");
        let id = addr / desk.studio().stage().items().glyph_bytes;
        let glyph = scene.glyphs.iter().find(|g| g.id == id && (2..=3).contains(&g.layer)).expect("is in a cache");
        tip_at(desk, position_at(&scene.rings.sectors, &glyph.flight, scene.phase), 0.001).expect("something")
    }

    #[test]
    fn a_glyph_tells_name_address_place_and_last_touch() {
        // References 0, 1, 2 read A[0..3], 3 writes B[0]; paper has 32-byte lines, so one line of each is in L1 and L2.
        let desk = drawn_at(6.0);
        let a = tip_of(&desk, 0x1008);
        assert_eq!((a.title.as_str(), a.color), ("A[1]", Some(palette::region(0))));
        assert_eq!(a.lines[0], "0x1008, 8 bytes");
        assert!(a.lines[1].starts_with("in L1: set ") && !a.lines[1].contains("dirty"), "{a:?}");
        assert!(a.lines[2].starts_with("copy in L2: set "), "{a:?}");
        assert_eq!(a.lines.last().map(String::as_str), Some("last touched at 1, 5 ago"));
        let b = tip_of(&desk, 0x4000);
        assert_eq!(b.title, "B[0]");
        assert!(b.lines[1].starts_with("in L1") && b.lines[1].ends_with(", dirty"), "{b:?}");
        assert!(tip_of(&desk, 0x4008).lines.contains(&"not touched yet".to_owned()));
    }

    #[test]
    fn the_state_that_is_told_is_the_state_that_is_drawn() {
        // Reference 4 reads A[4], a line of its own: before it that is in memory only, during it on its way.
        let at_home = |desk: &Desk| {
            let (scene, _) = desk.drawn().expect("drawn");
            let glyph = scene.glyphs.iter().position(|g| g.layer == HOME_LAYER && g.id == 4).expect("there");
            let p = position_at(&scene.rings.sectors, &scene.glyphs[glyph].flight, 0.0);
            tip_at(desk, p, 0.001).expect("something")
        };
        let before = at_home(&drawn_at(4.0));
        assert_eq!(before.title, "A[4]");
        assert!(before.lines.contains(&"in memory only".to_owned()), "{before:?}");
        let during = tip_of(&drawn_at(4.5), 0x1020);
        assert!(during.lines[1].starts_with("in L1") && during.lines.contains(&"on the move".to_owned()), "{during:?}");
        assert!(during.lines.contains(&"touched by this reference".to_owned()));
    }

    #[test]
    fn a_dot_in_memory_tells_of_the_bytes_it_stands_for_at_each_fineness() {
        let region = Region {
            name: "A".into(),
            base: 1 << 20,
            bytes: 1 << 20,
            elem_bytes: 8,
            elem_type: "double".into(),
            shape: vec![1 << 17],
            row_major: true,
            lifetime: None,
        };
        let tables = Tables { regions: vec![region], ..Tables::default() };
        let references = (0..100).map(|n| Reference::new(Kind::Read, (1 << 20) + 8 * n, 8)).collect();
        let hierarchy = Hierarchy::new(&preset("textbook").expect("shipped")).expect("sound");
        let studio = Studio::new(Arc::new(MemoryTrace::new(references, tables)), hierarchy, &mut |_, _| true);
        let mut studio = studio.expect("in memory");
        studio.compose(Composition::Dots);
        let mut desk = Desk::new(studio, View::default(), Parts::default(), 100.0, 100.0);
        desk.set_reach([2.0, 1.2]);
        // Element 9 of line 1000, which nothing touched.
        let addr: u64 = (1 << 20) + 64_000 + 8;
        for (zoom, title, told) in [
            (1.0, "A[8000] … A[8015]", "0x10fa00, 128 bytes"),
            (6.0, "A[8000] … A[8007]", "0x10fa00, 64 bytes"),
            (400.0, "A[8001]", "0x10fa08, 8 bytes"),
        ] {
            let view = View { reach: [2.0, 1.2], camera: Camera { zoom, ..Camera::default() }, ..View::default() };
            let home = desk.studio().stage().home();
            let [r, theta] = home.blended(0, &home.detail(0, Closeness::of(&view)), addr, 1);
            let at = [r * theta.cos(), r * theta.sin()];
            desk.look_at(Camera { at, zoom });
            desk.refresh().expect("in memory");
            let tip = tip_at(&desk, at, 0.0005 / zoom).expect("a dot");
            assert_eq!((tip.title.as_str(), tip.lines[0].as_str()), (title, told), "at {zoom}");
            assert_eq!(tip.lines[1], "in memory only", "at {zoom}");
        }
    }

    #[test]
    fn rings_and_arcs_tell_their_counts() {
        let desk = drawn_at(1000.0);
        let (scene, _) = desk.drawn().expect("drawn");
        let empty = &scene.rings.sectors[0];
        let (mut found, mut angle) = (None, 0.0f32);
        while found.is_none() && angle < std::f32::consts::TAU {
            let r = 0.5 * (empty.r0 + empty.r1);
            found = tip_at(&desk, [r * angle.cos(), r * angle.sin()], 0.0).filter(|t| t.glyph.is_none());
            angle += 0.05;
        }
        let ring = found.expect("some place between glyphs");
        assert_eq!(ring.title, "L1");
        assert!(ring.lines[0].contains("2 sets × 8 ways, 32-byte lines"), "{ring:?}");
        let home = &desk.studio().stage().home().regions[1];
        let theta = home.theta0 + 0.5 * home.span;
        let arc = tip_at(&desk, [theta.cos(), theta.sin()], 0.001).expect("B's arc");
        assert_eq!(arc.title, "B[1024]");
        assert!(arc.lines[2].starts_with("250 references, ") && arc.lines[0].contains("double"), "{arc:?}");
    }

    #[test]
    fn a_page_tells_what_is_on_it_and_which_tlbs_hold_it() {
        let toml = "name = \"t\"\n[[level]]\nsize = 4096\nline = 64\nways = 1\n[[tlb]]\nname = \"DTLB\"\nentries = 2\nways = 2\n\
                    [[tlb]]\nname = \"L2 TLB\"\nentries = 8\nways = 4\n";
        let mut desk = desk_under(&HierarchyConfig::from_toml(toml, "test").expect("sound"));
        desk.transport.jump(600.0);
        desk.refresh().expect("in memory");
        // A goes from 0x1000 on and is read up to 0x22b8, B begins at 0x4000: pages 1, 2 and 4.
        let (scene, _) = desk.drawn().expect("drawn");
        let of = |page: u64, sector: f32| {
            let entry = |g: &&Glyph| g.layer == pages::LAYER && g.id == page && g.flight.to.cache == sector;
            let glyph = scene.glyphs.iter().find(entry)?;
            tip_at(&desk, position_at(&scene.rings.sectors, &glyph.flight, scene.phase), 0.001)
        };
        assert_eq!(of(1, 1.0), None, "page 1 has left the DTLB of two");
        let tip = of(4, 1.0).expect("B's page");
        assert_eq!((tip.title.as_str(), tip.color), ("page 4", Some(palette::region(1))));
        let lines = ["0x4000 to 0x4fff, 4KiB", "B: 4,096 bytes of it", "in DTLB: set 0, rank 0 of 2"];
        assert_eq!(tip.lines[..3], lines);
        // Page 2 came after it, and from then on the DTLB had both.
        assert_eq!(tip.lines[3..], ["in L2 TLB: set 0, rank 1 of 4"]);
        assert_eq!(of(1, 2.0).expect("A's page").lines[2], "in L2 TLB: set 1, rank 0 of 4");
        // A place of the second TLB that no page has.
        let (column, row) = scene.rings.racks[1].slot(1, 3);
        let [r, theta] = scene.rings.sectors[2].polar(column as f32, row as f32);
        let empty = tip_at(&desk, [r * theta.cos(), r * theta.sin()], 0.001).expect("a place");
        assert_eq!(empty.title, "L2 TLB");
        let [shape, hits, held, here] = &empty.lines[..] else { panic!("{empty:?}") };
        assert_eq!((shape.as_str(), held.as_str()), ("8 entries, 4-way, 4KiB pages", "3 of 8 entries held"));
        assert_eq!((hits.as_str(), here.as_str()), ("0 hits, 0 %", "here: set 1, rank 3, next to go (empty)"));
    }

    #[test]
    fn the_strip_names_the_reference_and_counts_its_columns_misses() {
        let desk = drawn_at(0.0);
        let tip = strip_tip(&desk, 4, 100).expect("in memory");
        assert_eq!(tip.title, "reference 4");
        assert_eq!(tip.lines[0], "read A[4], miss, from memory");
        assert!(tip.lines[1].ends_with("L1 misses in 10 references here"), "{tip:?}");
        let misses: u32 = tip.lines[1].split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
        assert!((3..=6).contains(&misses), "one for each line of A and one for B: {misses}");
        let [_, _, classes, regions] = &tip.lines[..] else { panic!("{tip:?}") };
        let classed: u32 = classes.split(", ").filter_map(|class| class.split(' ').next()?.parse::<u32>().ok()).sum();
        assert_eq!(classed, misses, "{classes}");
        assert!(regions.starts_with("misses around here by A ") && regions.contains(", B "), "{regions}");
        assert!(tip.lines[3].contains("around here"), "regions are counted by 1,024 references");
        assert_eq!(strip_tip(&desk, 1000, 100).expect("in memory").title, "end of the trace");
        assert_eq!(strip_tip(&desk, 5, 100_000).expect("in memory").lines.len(), 1, "a column of one reference");
    }

    #[test]
    fn misses_and_their_classes_in_the_strip_are_of_the_same_references() {
        // 20,000 references, a new line each: sums are kept of every fourth, so a column's edges lie between them.
        let references: Vec<Reference> =
            (0..20_000u64).map(|n| Reference::new(Kind::Read, 0x1000 + n * 7919 % 4096 * 64, 8)).collect();
        let studio = |len: usize, outcomes_up_to: u64| {
            let source = Arc::new(MemoryTrace::new(references[..len].to_vec(), Tables::default()));
            let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("sound");
            let options = Options { outcomes_up_to, ..Options::default() };
            Studio::of(Timeline::build(source, hierarchy, options, &mut |_, _| true).expect("in memory")).expect("read")
        };
        let tips = |outcomes_up_to: u64, len: usize, columns: usize| {
            let mut desk = Desk::new(studio(len, outcomes_up_to), View::default(), Parts::default(), 0.0, 100.0);
            desk.refresh().expect("in memory");
            let ticks = (0..len as u64).step_by(len / 23);
            ticks.map(|tick| strip_tip(&desk, tick, columns).expect("in memory")).collect::<Vec<_>>()
        };
        let number = |words: &str| -> u64 {
            words.split(' ').next().map(|n| n.replace(',', "")).and_then(|n| n.parse().ok()).expect("a number")
        };
        for columns in [7, 20, 333, 1023, 3001] {
            for len in [20_000, 9_999] {
                for tip in tips(u64::MAX, len, columns) {
                    assert!(tip.lines[1].ends_with("references here"), "{tip:?}");
                    let classed: u64 = tip.lines[2].split(", ").map(number).sum();
                    assert_eq!(classed, number(&tip.lines[1]), "{columns} columns of {len}: {tip:?}");
                }
                // Without what became of each, sums of wider parts are told as such.
                for tip in tips(0, len, columns) {
                    let (misses, of) = tip.lines[1].split_once(" in ").expect("misses in references");
                    let wide = len as u64 / columns as u64 + 1;
                    assert!(number(misses) <= number(of), "{tip:?}");
                    assert!(of.ends_with("around here") || number(of) <= wide, "{columns} columns of {len}: {tip:?}");
                }
            }
        }
    }
}
