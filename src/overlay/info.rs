//! The words and numbers beside the picture, computed from a moment. Plain values: tested without drawing.

use super::closeup::NamedDot;
use super::pen::rate;
pub use super::rows::{CacheRow, Now, RegionRow, TlbRow};
use super::stretch::Stretch;
use super::studio::Studio;
use crate::axis::{Axis, Position};
use crate::reference::{Kind, LoopsAt, Reference, Tables};
use crate::scene::layout::{HomeArc, Ring};
use crate::scene::palette::{self, RegionColors};
use crate::scene::{Notes, RegionOrder, Scene, Shade, View};
use crate::sim::config::{Prefetch, format_size};
use crate::sim::{AccessKind, Cause, Event, Hierarchy, LevelCounters, MissClass, Origin, RequestId};
use crate::timeline::cursor::levels;
use crate::timeline::{ClockKind, Life, Moment, Timeline, Translation, translations};
use crate::units::{CacheId, LevelId, LineAddr, grouped};
use std::ops::Range;
use std::sync::Arc;

/// Everything written beside the picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Info {
    /// Title.
    pub title: String,
    /// A second line.
    pub subtitle: String,
    /// Regions, as in the trace.
    pub regions: Vec<RegionRow>,
    /// Levels, from the CPU outward; after a level with a cache for each core the rows of these.
    pub caches: Vec<CacheRow>,
    /// What the configuration of the caches is called.
    pub caches_name: String,
    /// TLBs that hold pages of the size in use, in the order written.
    pub tlbs: Vec<TlbRow>,
    /// Page walks so far.
    pub walks: u64,
    /// Whether TLBs are drawn, so that there are bars.
    pub pages: bool,
    /// Reference under way, from 0.
    pub tick: u64,
    /// What positions are places on.
    pub axis: Axis,
    /// Where the moment is.
    pub position: Position,
    /// References in the trace, as many as are known of.
    pub len: u64,
    /// What the strip shows.
    pub stretch: Stretch,
    /// In and out points: what is played.
    pub range: [Option<Position>; 2],
    /// Names of dots, closer up.
    pub dots: Vec<NamedDot>,
    /// What is pinned; empty = nothing.
    pub pinned: String,
    /// The life of what is pinned, as far as it is known.
    pub life: Option<Arc<Life>>,
    /// Share of them that is indexed; `None` = all, and no more will come.
    pub indexed: Option<f64>,
    /// The reference under way.
    pub now: Now,
    /// The newest mark at or before the reference; empty = none.
    pub mark: String,
    /// Where marks are, in order.
    pub marks: Vec<Position>,
    /// References of trail.
    pub tail: u64,
    /// Speed, in `unit`; 0 = a still.
    pub speed: f64,
    /// What a speed counts: [`ClockKind::unit`](crate::timeline::ClockKind::unit).
    pub unit: &'static str,
    /// What the picture joins or leaves out.
    pub notes: Notes,
    /// Whether trails are sums alone.
    pub summed: bool,
    /// Names of the rings, innermost first.
    pub rings: Vec<String>,
    /// References before this one that the tables are of; `None` = all of them.
    pub over: Option<u64>,
    /// References that the tables are of, between the in and the out point; `None` = those before this one.
    pub counted: Option<Range<u64>>,
    /// Name of the innermost level.
    pub innermost: String,
    /// Whether any cache fetches unasked, so that there are hollow dots.
    pub prefetches: bool,
    /// Whether disks of temperature are drawn.
    pub disks: bool,
    /// Whether caches are drawn as patches.
    pub patches: bool,
    /// The arcs of memory, and what the highest bar stands for in the large picture.
    pub arcs: Arc<[HomeArc]>,
    /// References of the highest bar; 0 = there is none.
    pub highest: u64,
    /// Colours that were given to regions.
    pub colors: RegionColors,
    /// In which order regions stand.
    pub order: RegionOrder,
}

impl Info {
    /// Gathers what a frame says beside the picture that shows `scene`.
    #[must_use]
    pub fn new(timeline: &Timeline, tables: &Tables, moment: &Moment<'_>, position: Position, scene: &Scene) -> Self {
        let rings: Vec<String> = scene.rings.rings.iter().map(Ring::common_name).collect();
        Self {
            pages: !scene.rings.racks.is_empty(),
            notes: scene.notes.clone(),
            summed: scene.served.summed,
            disks: scene.shows_temperature,
            patches: !scene.cells.is_empty(),
            arcs: Arc::clone(&scene.served.arcs),
            highest: scene.served.highest,
            ..Self::of(timeline, tables, moment, position, &scene.temperatures, rings)
        }
    }

    /// Gathers what can be said of a moment at `position` without a scene: `temperatures` by cache, `rings` by their names.
    #[must_use]
    pub fn of(
        timeline: &Timeline,
        tables: &Tables,
        moment: &Moment<'_>,
        position: Position,
        temperatures: &[f32],
        rings: Vec<String>,
    ) -> Self {
        let hierarchy = moment.before;
        let regions = tables
            .regions
            .iter()
            .zip(moment.rows)
            .enumerate()
            .map(|(index, (region, row))| {
                let references = moment.tally.references(row);
                let misses: u64 = innermost(hierarchy).map(|level| moment.tally.misses(row, level.index())).sum();
                RegionRow {
                    name: region.declaration(),
                    short: region.name.split("..").next().unwrap_or_default().to_owned(),
                    color: palette::region(index),
                    shade: Shade::Full,
                    references,
                    misses,
                    miss_rate: (references > 0).then(|| misses as f64 / references as f64),
                }
            })
            .collect();
        let caches = levels(hierarchy).flat_map(|level| rows(hierarchy, level, temperatures)).collect();
        Self {
            regions,
            caches,
            caches_name: hierarchy.config().name.clone(),
            tlbs: tlb_rows(hierarchy),
            walks: hierarchy.tlbs().walks(),
            tick: moment.tick,
            now: moment.reference.map_or_else(Now::default, |r| now(timeline, tables, moment, &r)),
            prefetches: hierarchy.config().levels.iter().any(|l| l.prefetch != Prefetch::None),
            ..Self::of_time(timeline, tables, position, rings)
        }
    }

    /// Gathers what can be said of a position without a look at the caches there: all that the strip says.
    pub(super) fn of_time(timeline: &Timeline, tables: &Tables, position: Position, rings: Vec<String>) -> Self {
        let (axis, tick) = (timeline.axis(), position.tick());
        let mark = tables.marks.iter().rev().find(|m| m.reference <= tick);
        Self {
            title: tables.title.clone(),
            subtitle: tables.subtitle.clone(),
            tick,
            axis,
            position,
            len: axis.total,
            indexed: axis.grows.then(|| axis.share(axis.end())),
            mark: mark.map(|m| m.name.clone()).unwrap_or_default(),
            marks: tables.marks.iter().map(|m| Position::at(m.reference)).collect(),
            unit: ClockKind::References.unit(),
            innermost: rings.first().cloned().unwrap_or_default(),
            rings,
            ..Self::default()
        }
    }
}

impl Info {
    /// What can be said of a moment of a studio of tasks.
    pub(super) fn of_tasks(studio: &Studio, position: Position) -> Self {
        let (axis, tables) = (studio.axis(), studio.tables());
        Self {
            title: tables.title.clone(),
            subtitle: tables.subtitle.clone(),
            tick: position.tick(),
            axis,
            position,
            len: axis.total,
            ..Self::default()
        }
    }

    /// The numbers of all regions, in the order in which they stand.
    pub(super) fn listed(&self) -> Vec<usize> {
        self.order.all(self.regions.len())
    }

    /// Says how much of each region is seen, and in which colour. Of a region that is not seen the row stays, and can be told.
    pub(super) fn dress(&mut self, view: &View) {
        (self.colors, self.order) = (view.colors.clone(), view.order.clone());
        for (n, row) in self.regions.iter_mut().enumerate() {
            row.shade = view.shades.get(n).copied().unwrap_or_default();
            row.color = self.colors.of(n);
        }
        self.now.color = self.now.region.map(|region| palette::words(self.colors.of(region)));
    }
}

/// The references that tables count, in words: `up to this reference`, `references 100 to 600`.
pub(super) fn counted(info: &Info) -> String {
    match &info.counted {
        None => "up to this reference".to_owned(),
        Some(range) => format!("references {} to {}", grouped(range.start), grouped(range.end)),
    }
}

/// The TLBs of the configuration that are at work, by number.
pub(super) fn tlbs_of(hierarchy: &Hierarchy) -> Vec<usize> {
    let tlbs = hierarchy.tlbs();
    let mut numbers: Vec<usize> = (0..tlbs.len()).map(|at| tlbs.tlb(at)).collect();
    numbers.dedup();
    numbers
}

/// What the picture stands for, joins or leaves out, in short lines.
#[must_use]
pub fn notes(info: &Info) -> Vec<String> {
    // No longer than what there was so far.
    let trail = match info.tail.min(info.tick.max(1)) {
        0 | 1 => "no trail".to_owned(),
        n => format!("trail {} references", grouped(n)),
    };
    let bars = match info.highest {
        0 => String::new(),
        n => format!("height of bars: root; highest {} references", grouped(n)),
    };
    let speed = if info.speed > 0.0 { format!("{} {}", rate(info.speed), info.unit) } else { String::new() };
    let lines = [
        info.notes.scale.clone(),
        info.notes.item.clone(),
        info.notes.home.clone(),
        info.notes.cells.clone(),
        bars,
        info.notes.omitted.clone(),
        trail,
        info.notes.bundling.clone(),
        speed,
    ];
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}

/// Levels that are asked first: those of the innermost ring.
pub fn innermost(hierarchy: &Hierarchy) -> impl Iterator<Item = LevelId> + '_ {
    let first = |level: &LevelId| hierarchy.caches_of(*level).any(|cache| hierarchy.info(cache).depth == 0);
    levels(hierarchy).filter(first)
}

/// A level's row, then those of its caches where there are several.
fn rows(hierarchy: &Hierarchy, level: LevelId, temperatures: &[f32]) -> Vec<CacheRow> {
    let caches: Vec<CacheId> = hierarchy.caches_of(level).collect();
    let temperature = |cache: &CacheId| temperatures.get(cache.index()).copied().unwrap_or(0.0);
    let row = |name: String, shape: String, counters: &LevelCounters, temperature, core| {
        let (hits, hit_rate) = (counters.demand_hits(), counters.hit_rate());
        let misses = counters.demand_accesses() - hits;
        CacheRow { name, shape, hits, misses, hit_rate, temperature, core }
    };
    let name = hierarchy.config().levels[level.index()].name.clone();
    let size = sized(hierarchy.config().levels[level.index()].size);
    let shape = format!("{size}, {}", shape(hierarchy, level));
    let shape = if caches.len() > 1 { format!("{shape} each") } else { shape };
    let mean = caches.iter().map(temperature).sum::<f32>() / caches.len().max(1) as f32;
    let mut out = vec![row(name, shape, &hierarchy.level_counters(level), mean, None)];
    if caches.len() > 1 {
        let of_core = |cache: &CacheId| {
            let core = hierarchy.info(*cache).core.unwrap_or(0);
            row(format!("core {core}"), String::new(), hierarchy.counters(*cache), temperature(cache), Some(core))
        };
        out.extend(caches.iter().map(of_core));
    }
    out
}

/// A row for each TLB of the configuration that is at work.
fn tlb_rows(hierarchy: &Hierarchy) -> Vec<TlbRow> {
    let tlbs = hierarchy.tlbs();
    let row = |number: usize| {
        let at = (0..tlbs.len()).find(|&at| tlbs.tlb(at) == number)?;
        let (g, sum) = (tlbs.geometry(at), tlbs.sum(number));
        let (shape, each) = (entries_of(g.sets, g.ways), tlbs.info(at).core.is_some());
        // Shorter where there is more to say.
        let shape = if each || g.sets > 1 { shape.replace(" entries", "") } else { shape };
        Some(TlbRow {
            name: hierarchy.config().tlbs[number].name.clone(),
            shape: if each { format!("{shape} each") } else { shape },
            hits: sum.demand_hits(),
            misses: sum.demand_accesses() - sum.demand_hits(),
            hit_rate: sum.hit_rate(),
        })
    };
    tlbs_of(hierarchy).into_iter().filter_map(row).collect()
}

/// The shape of a TLB: `64 entries, full`, `1,536 entries, 12-way`.
#[must_use]
pub fn entries_of(sets: u32, ways: u32) -> String {
    match (sets, ways) {
        (1, 1) => "1 entry".into(),
        (1, ways) => format!("{} entries, full", grouped(u64::from(ways))),
        (sets, 1) => format!("{} entries, direct", grouped(u64::from(sets))),
        (sets, ways) => format!("{} entries, {ways}-way", grouped(u64::from(sets) * u64::from(ways))),
    }
}

/// `32 KiB`.
pub(super) fn sized(bytes: u64) -> String {
    let words = format_size(bytes);
    let unit = words.find(|c: char| !c.is_ascii_digit()).unwrap_or(words.len());
    format!("{} {}", &words[..unit], &words[unit..])
}

/// `2 sets × 8 ways`.
#[must_use]
pub fn shape(hierarchy: &Hierarchy, level: LevelId) -> String {
    let g = hierarchy.level_geometry(level);
    shape_of(g.sets, g.ways)
}

/// As [`shape`], of numbers.
#[must_use]
pub fn shape_of(sets: u32, ways: u32) -> String {
    match (sets, ways) {
        (1, 1) => "1 line".into(),
        (1, ways) => format!("{} lines, full", grouped(u64::from(ways))),
        (sets, 1) => format!("{} sets, direct", grouped(u64::from(sets))),
        (sets, ways) => format!("{} sets × {ways} ways", grouped(u64::from(sets))),
    }
}

fn now(timeline: &Timeline, tables: &Tables, moment: &Moment<'_>, r: &Reference) -> Now {
    let region = timeline.region_of(r.addr, moment.tick);
    let name = region.map_or_else(|| format!("0x{:x}", r.addr), |index| tables.regions[index].element_name(r.addr));
    let location = tables.location(r.pc);
    let mut why = why(timeline, tables, moment, r);
    if why.is_empty() {
        why.push("passes no cache (left out)".into());
    }
    let loops = timeline.source().loops_at(moment.tick);
    let first = loops.iter().map(LoopsAt::words).filter(|words| !words.is_empty());
    why.splice(0..0, first.chain(translated(moment)));
    let by = if moment.before.config().cores > 1 { format!("core {}: ", r.core) } else { String::new() };
    Now {
        what: format!("{by}{}  {name}", r.kind.verb()),
        region,
        color: region.map(|region| palette::words(palette::region(region))),
        why,
        code: location.map(|l| l.text.clone()).unwrap_or_default(),
        location: location.map(|l| format!("{}:{}", l.file, l.line)).unwrap_or_default(),
        loops,
    }
}

/// What a reference whose page was not in the TLB that is asked first had to do: `DTLB miss: page walk`.
fn translated(moment: &Moment<'_>) -> Option<String> {
    let all = translations(moment.events);
    let name = |tlb: u8| moment.before.config().tlbs.get(usize::from(tlb)).map_or("?", |t| t.name.as_str());
    let walks = all.iter().filter(|t| t.hit.is_none()).count();
    let of = |t: &Translation| t.missed.iter().map(|&tlb| name(tlb)).collect::<Vec<_>>().join(", ");
    if let Some(walked) = all.iter().find(|t| t.hit.is_none()) {
        let walk = if walks == 1 { "page walk".into() } else { format!("{walks} page walks") };
        return Some(format!("{} miss: {walk}", of(walked)));
    }
    let late = all.iter().find(|t| !t.missed.is_empty())?;
    Some(format!("{} miss, {} hit", of(late), late.hit.map_or("?", name)))
}

/// What happened, in sentences: where it missed and hit, why it missed, what had to go. Of a reference over several lines,
/// the first piece that missed speaks.
fn why(timeline: &Timeline, tables: &Tables, moment: &Moment<'_>, r: &Reference) -> Vec<String> {
    let pieces = pieces(moment, r.kind);
    let missed = |p: &&&[Event]| matches!(p.first(), Some(Event::Access { hit: false, .. }));
    let Some(piece) = pieces.iter().find(missed).or(pieces.first()) else { return Vec::new() };
    let config = &moment.before.config().levels;
    let name = |level: LevelId| config.get(level.index()).map_or("?", |l| l.name.as_str());
    let mut lines: Vec<String> = Vec::new();
    let mut deepest_miss = None;
    // The accesses that the piece waits for: a prefetch and what it asks for are none of them.
    let mut asked: Vec<RequestId> = Vec::new();
    let (mut served, mut fetched) = (false, false);
    for event in *piece {
        let Origin { request, parent } = event.origin();
        let waits = parent.is_none_or(|parent| asked.contains(&parent));
        match *event {
            Event::Access { level, set, kind, hit, .. } if waits && kind.is_demand() => {
                let verb = if hit { "hit" } else { "miss" };
                lines.push(format!("{} {verb} (set {})", name(level), set.0));
                deepest_miss = if hit { deepest_miss } else { Some(level) };
                served |= hit;
                asked.push(request);
            }
            Event::MemoryRead { .. } => fetched |= waits,
            _ => {}
        }
    }
    if let (Some(level), false, Some(last)) = (deepest_miss, served, lines.last_mut()) {
        let how = if fetched { "from memory" } else { "stored whole, nothing fetched" };
        *last = format!("{} miss: {how}", name(level));
    }
    if pieces.len() > 1 {
        let misses = pieces.iter().filter(missed).count();
        lines.push(format!("covers {} lines, {misses} missed", pieces.len()));
    }
    if let Some(level) = deepest_miss
        && let Some(class) = moment.outcome.and_then(|o| o.class(level.index()))
    {
        let g = moment.before.level_geometry(level);
        lines.push(match class {
            MissClass::Compulsory => "compulsory: first touch".into(),
            // Which cache it is of has to be said: more than one was asked.
            MissClass::Capacity => {
                let held = u64::from(g.sets) * u64::from(g.ways);
                format!("capacity: {} has {} lines, too few", name(level), grouped(held))
            }
            MissClass::Conflict if g.ways == 1 => format!("conflict: another line took its place in {}", name(level)),
            MissClass::Conflict => format!("conflict: {} has {} ways, too few", name(level), g.ways),
            MissClass::Coherence => sharing(moment.events),
        });
    }
    lines.extend(departures(timeline, tables, moment));
    lines
}

/// What had to go, or moved inward, and why.
fn departures(timeline: &Timeline, tables: &Tables, moment: &Moment<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let config = &moment.before.config().levels;
    let name = |level: LevelId| config.get(level.index()).map_or("?", |l| l.name.as_str());
    let owner = |level: LevelId, line: LineAddr| {
        let addr = line.base(moment.before.level_geometry(level).line_bytes).0;
        let region = timeline.region_near(addr, moment.tick);
        region.map_or_else(|| format!("0x{addr:x}"), |g| tables.regions[g].element_name(addr))
    };
    let dirt = |dirty: bool| if dirty { ", dirty" } else { "" };
    let innermost = |cache: CacheId| moment.before.info(cache).depth == 0;
    let evicted = moment.events.iter().find_map(|e| match *e {
        Event::Evict { level, cache, line, dirty, .. } if innermost(cache) => Some((level, line, dirty)),
        _ => None,
    });
    if let Some((level, line, dirty)) = evicted {
        lines.push(format!("pushes out the line of {}{}", owner(level, line), dirt(dirty)));
    }
    let taken = moment.events.iter().find_map(|e| match *e {
        Event::Invalidate {
            level, line, dirty, cause: cause @ (Cause::Inclusion | Cause::Coherence), cache, ..
        } => Some((level, line, dirty, cause, cache)),
        _ => None,
    });
    if let Some((level, line, dirty, cause, cache)) = taken {
        let what = owner(level, line);
        lines.push(match (cause, moment.before.info(cache).core) {
            (Cause::Coherence, Some(core)) => format!("takes the line from core {core}"),
            _ => format!("{} loses {what} too{}", name(level), dirt(dirty)),
        });
    }
    if let Some(Event::Invalidate { level, .. }) =
        moment.events.iter().find(|e| matches!(e, Event::Invalidate { cause: Cause::Promotion, .. }))
    {
        lines.push(format!("leaves {}, which is exclusive", name(*level)));
    }
    lines
}

/// Whose store took the line that a core comes back to.
fn sharing(events: &[Event]) -> String {
    let told = events.iter().find_map(|e| match *e {
        Event::Sharing { by, falsely: true, .. } => Some(format!("false sharing: core {by} wrote beside it")),
        Event::Sharing { by, .. } => Some(format!("coherence: core {by} wrote it")),
        _ => None,
    });
    told.unwrap_or_else(|| "coherence: another core wrote the line".into())
}

/// The events of each line-sized piece of a reference: from an access that the reference itself makes to the next one. The write
/// half of a `Modify`, which finds what the read half brought, is left out.
fn pieces<'a>(moment: &Moment<'a>, kind: Kind) -> Vec<&'a [Event]> {
    let events = moment.events;
    let first = |e: &Event| matches!(e, Event::Access { origin: Origin { parent: None, .. }, .. });
    let starts: Vec<usize> = (0..events.len()).filter(|&i| first(&events[i])).collect();
    let half = |e: &Event| matches!(e, Event::Access { kind: AccessKind::Write, .. });
    starts
        .iter()
        .zip(starts.iter().skip(1).chain(std::iter::once(&events.len())))
        .map(|(&from, &to)| &events[from..to])
        .filter(|piece| kind != Kind::Modify || !piece.first().is_some_and(half))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::{RingExhibit, Studio};
    use crate::reference::MemoryTrace;
    use crate::scene::View;
    use crate::sim::config::HierarchyConfig;

    /// What is said of reference `tick` under an L1 of `lines` 64-byte lines, direct-mapped, and a larger L2.
    fn said(references: Vec<Reference>, lines: u64, tick: u64) -> (Vec<String>, Vec<CacheRow>) {
        let level = |name: &str, lines: u64| {
            format!("[[level]]\nname = \"{name}\"\nsize = {}\nline = 64\nways = 1\n", lines * 64)
        };
        let toml = format!("name = \"t\"\n{}{}", level("L1", lines), level("L2", 4 * lines));
        let hierarchy = Hierarchy::new(&HierarchyConfig::from_toml(&toml, "test").expect("sound")).expect("sound");
        let source = Arc::new(MemoryTrace::new(references, Tables::default()));
        let mut studio = Studio::new(source, hierarchy, &mut |_, _| true).expect("in memory");
        let (_, info) =
            RingExhibit::suited(&studio).scene(&mut studio, Position::at(tick), &View::default()).expect("in memory");
        (info.now.why, info.caches)
    }

    #[test]
    fn a_store_of_a_whole_line_fetches_nothing_and_asks_nobody() {
        let references = (1..5).map(|n| Reference::new(Kind::Write, n * 0x1000, 64)).collect();
        let (why, caches) = said(references, 8, 3);
        assert_eq!(why[0], "L1 miss: stored whole, nothing fetched");
        assert_eq!((caches[0].hits, caches[0].hit_rate), (0, Some(0.0)));
        assert_eq!(
            (caches[1].hits, caches[1].hit_rate.is_some()),
            (0, caches[1].hits > 0 || caches[1].hit_rate.is_some())
        );
    }

    #[test]
    fn of_two_lines_the_one_that_missed_speaks() {
        let references = vec![Reference::new(Kind::Read, 0x1000, 8), Reference::new(Kind::Read, 0x1038, 16)];
        let (why, _) = said(references, 8, 1);
        assert_eq!(why[..3], ["L1 miss (set 1)", "L2 miss: from memory", "covers 2 lines, 1 missed"]);
    }

    #[test]
    fn a_translation_that_missed_is_told_first_and_counted() {
        let toml = "name = \"t\"\n[[level]]\nsize = 4096\nline = 64\nways = 1\n[[tlb]]\nname = \"DTLB\"\nentries = 1\nways = 1\n\
                    holds = \"data\"\n[[tlb]]\nname = \"L2 TLB\"\nentries = 8\nways = 4\n[[tlb]]\nname = \"huge\"\n\
                    entries = 8\nways = 8\npages = [\"2MiB\"]\n";
        let hierarchy = Hierarchy::new(&HierarchyConfig::from_toml(toml, "test").expect("sound")).expect("sound");
        // Pages 1 (a walk), 1, 2 (a walk), 1 (the second TLB has it), 7 and 8 in one reference.
        let at = |addr| Reference::new(Kind::Read, addr, 8);
        let references = vec![at(0x1000), at(0x1008), at(0x2000), at(0x1000), at(0x8ffc - 0x1000)];
        let source = Arc::new(MemoryTrace::new(references, Tables::default()));
        let mut studio = Studio::new(source, hierarchy, &mut |_, _| true).expect("in memory");
        let mut rings = RingExhibit::suited(&studio);
        let mut said = |tick: u64| rings.scene(&mut studio, Position::at(tick), &View::default()).expect("in memory").1;
        assert_eq!(said(0).now.why[0], "DTLB, L2 TLB miss: page walk");
        assert!(said(1).now.why[0].starts_with("L1 hit"), "hits are not told");
        assert_eq!(said(3).now.why[0], "DTLB miss, L2 TLB hit");
        assert_eq!(said(4).now.why[0], "DTLB, L2 TLB miss: 2 page walks");
        let end = said(5);
        assert_eq!((end.walks, end.pages), (4, true));
        let rows: Vec<_> = end.tlbs.iter().map(|r| (r.name.as_str(), r.shape.as_str(), r.hits, r.hit_rate)).collect();
        let expected = [("DTLB", "1 entry", 1, Some(1.0 / 6.0)), ("L2 TLB", "8, 4-way", 1, Some(0.2))];
        assert_eq!(rows, expected, "one that holds other pages is left out");
        assert_eq!(entries_of(1, 64), "64 entries, full");
    }

    #[test]
    fn a_modify_is_told_once() {
        let (why, _) = said(vec![Reference::new(Kind::Modify, 0x1000, 8)], 8, 0);
        assert_eq!(why, ["L1 miss (set 0)", "L2 miss: from memory", "compulsory: first touch"]);
    }

    #[test]
    fn the_numbers_beside_the_picture_are_those_of_stats() {
        use crate::sim::config::preset;
        use crate::sim::stats::collect;
        use crate::trace::bundled::find;
        let path = std::path::PathBuf::from(find("matmul16").expect("bundled").path());
        let source: Arc<dyn crate::reference::ReferenceSource> = crate::trace::open(&path, None).expect("whole").into();
        let config = preset("paper").expect("shipped");
        let stats = collect(source.as_ref(), &config, false).expect("in memory");
        let hierarchy = Hierarchy::new(&config).expect("sound");
        let mut studio = Studio::new(Arc::clone(&source), hierarchy, &mut |_, _| true).expect("in memory");
        let (_, info) = RingExhibit::suited(&studio)
            .scene(&mut studio, Position::at(source.len()), &View::default())
            .expect("in memory");
        for (row, level) in info.caches.iter().zip(&stats.levels) {
            assert_eq!((&row.name, row.hits), (&level.name, level.demand_accesses - level.demand_misses));
            assert_eq!(row.hit_rate, level.demand_hit_rate, "{}", row.name);
        }
        for (row, region) in info.regions.iter().zip(stats.regions.iter()) {
            assert_eq!((&row.short, row.references), (&region.name.to_owned(), region.references));
            let rate = region.misses.counts()[0] as f64 / region.references as f64;
            assert_eq!(row.miss_rate, Some(rate), "{}", row.short);
        }
        assert!(info.now.what.is_empty() && info.position == info.axis.end());
    }
}
