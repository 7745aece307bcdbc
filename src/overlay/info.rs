//! The words and numbers beside the picture, computed from a moment. Plain values: tested without drawing.

use crate::reference::{Kind, Reference, Tables};
use crate::scene::palette::{self, Rgba};
use crate::scene::{Notes, Scene};
use crate::sim::event::{AccessKind, Event};
use crate::sim::{Hierarchy, MissClass};
use crate::timeline::cursor::levels;
use crate::timeline::{Moment, Timeline};
use crate::units::{LevelId, grouped};

/// One region's row.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionRow {
    /// Its declaration: `A[16][16]`.
    pub name: String,
    /// Its bare name, where there is no room for the declaration.
    pub short: String,
    /// Its colour.
    pub color: Rgba,
    /// References so far.
    pub references: u64,
    /// Innermost level's misses for each reference so far, 0 and up; `None` before the first.
    pub miss_rate: Option<f64>,
}

/// One cache's row.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheRow {
    /// `L1`.
    pub name: String,
    /// `2 sets × 8 ways`.
    pub shape: String,
    /// Demand hits so far.
    pub hits: u64,
    /// Share of demand accesses that hit; `None` before the first.
    pub hit_rate: Option<f64>,
    /// -1 cold ..= 1 warm.
    pub temperature: f32,
}

/// The reference under way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Now {
    /// `read  B[2][15]`; empty at the end of the trace.
    pub what: String,
    /// Colour of its region.
    pub color: Option<Rgba>,
    /// What happens and why, a line each.
    pub why: Vec<String>,
    /// Source line's text; empty = unknown.
    pub code: String,
    /// `matmul.c:14`; empty = unknown.
    pub location: String,
}

/// Everything written beside the picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Info {
    /// Title.
    pub title: String,
    /// A second line.
    pub subtitle: String,
    /// Regions, as in the trace.
    pub regions: Vec<RegionRow>,
    /// Caches, from the CPU outward.
    pub caches: Vec<CacheRow>,
    /// Reference under way, from 0.
    pub tick: u64,
    /// Share of the trace that is done, with phase.
    pub position: f64,
    /// References in the trace.
    pub len: u64,
    /// The reference under way.
    pub now: Now,
    /// The newest mark at or before the reference; empty = none.
    pub mark: String,
    /// References of trail.
    pub tail: u64,
    /// Speed: references a second; 0 = a still.
    pub speed: f64,
    /// What the picture joins or leaves out.
    pub notes: Notes,
    /// Name of the innermost level.
    pub innermost: String,
}

impl Info {
    /// Gathers what a frame says.
    #[must_use]
    pub fn new(timeline: &Timeline, tables: &Tables, moment: &Moment<'_>, scene: &Scene) -> Self {
        let hierarchy = moment.before;
        let regions = tables
            .regions
            .iter()
            .enumerate()
            .map(|(index, region)| {
                let references = moment.tally.references(index);
                let misses = moment.tally.misses(index, 0);
                RegionRow {
                    name: region.declaration(),
                    short: region.name.split("..").next().unwrap_or_default().to_owned(),
                    color: palette::region(index),
                    references,
                    miss_rate: (references > 0).then(|| misses as f64 / references as f64),
                }
            })
            .collect();
        // Demand only: what reaches an outer level is what the one inside missed; write-backs are traffic, not reuse.
        let mut accesses = moment.before.counters(LevelId(0)).accesses();
        let caches = levels(hierarchy)
            .map(|level| {
                let misses = moment.tally.all_misses(level.index());
                let hits = accesses.saturating_sub(misses);
                let row = CacheRow {
                    name: scene.rings.names[level.index()].clone(),
                    shape: shape(hierarchy, level),
                    hits,
                    hit_rate: (accesses > 0).then(|| hits as f64 / accesses as f64),
                    temperature: scene.temperatures[level.index()],
                };
                accesses = misses;
                row
            })
            .collect();
        let mark = tables.marks.iter().rev().find(|m| m.reference <= moment.tick);
        Self {
            title: tables.title.clone(),
            subtitle: tables.subtitle.clone(),
            regions,
            caches,
            tick: moment.tick,
            position: (moment.tick as f64 + f64::from(scene.phase)) / (moment.len.max(1)) as f64,
            len: moment.len,
            now: moment.reference.map_or_else(Now::default, |r| now(timeline, tables, moment, &r)),
            mark: mark.map(|m| m.name.clone()).unwrap_or_default(),
            tail: 0,
            speed: 0.0,
            notes: scene.notes.clone(),
            innermost: scene.rings.names.first().cloned().unwrap_or_default(),
        }
    }
}

/// `2 sets × 8 ways`.
#[must_use]
pub fn shape(hierarchy: &Hierarchy, level: LevelId) -> String {
    let g = hierarchy.geometry(level);
    match (g.sets, g.ways) {
        (1, ways) => format!("{} lines, full", grouped(u64::from(ways))),
        (sets, 1) => format!("{} sets, direct", grouped(u64::from(sets))),
        (sets, ways) => format!("{} sets × {ways} ways", grouped(u64::from(sets))),
    }
}

fn now(timeline: &Timeline, tables: &Tables, moment: &Moment<'_>, r: &Reference) -> Now {
    let region = timeline.region_of(r.addr, moment.tick);
    let name = region.map_or_else(|| format!("0x{:x}", r.addr), |index| tables.regions[index].element_name(r.addr));
    let location = tables.location(r.pc);
    let mut why = why(tables, moment, r);
    if why.is_empty() {
        why.push("passes no cache (left out)".into());
    }
    Now {
        what: format!("{}  {name}", r.kind.verb()),
        color: region.map(palette::region),
        why,
        code: location.map(|l| l.text.clone()).unwrap_or_default(),
        location: location.map(|l| format!("{}:{}", l.file, l.line)).unwrap_or_default(),
    }
}

/// What happened, in sentences: where it missed and hit, why it missed, what had to go.
fn why(tables: &Tables, moment: &Moment<'_>, r: &Reference) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let config = &moment.before.config().levels;
    let name = |level: LevelId| config.get(level.index()).map_or("?", |l| l.name.as_str());
    let mut deepest_miss = None;
    let mut pieces = 0;
    for event in moment.events {
        if let Event::Access { level, set, kind, hit, .. } = *event {
            if kind == AccessKind::Writeback || (r.kind == Kind::Modify && kind == AccessKind::Write) {
                continue;
            }
            pieces += u32::from(level.0 == 0);
            // A reference over several lines says it once, for the first.
            if pieces > 1 {
                continue;
            }
            let verb = if hit { "hit" } else { "miss" };
            lines.push(format!("{} {verb} (set {})", name(level), set.0));
            if !hit {
                deepest_miss = Some(level);
            }
        }
    }
    if let Some(level) = deepest_miss
        && level.index() + 1 == moment.before.levels()
        && let Some(last) = lines.last_mut()
    {
        *last = format!("{} miss: from memory", name(level));
    }
    if pieces > 1 {
        lines.push(format!("covers {pieces} lines"));
    }
    if let Some(level) = deepest_miss
        && let Some(class) = moment.outcome.and_then(|o| o.class(level.index()))
    {
        let g = moment.before.geometry(level);
        lines.push(match class {
            MissClass::Compulsory => "compulsory: first touch".into(),
            MissClass::Capacity => {
                format!("capacity: more than {} lines in use", grouped(u64::from(g.sets) * u64::from(g.ways)))
            }
            MissClass::Conflict => format!("conflict: {} ways are too few", g.ways),
        });
    }
    let evicted = moment.events.iter().find_map(|e| match *e {
        Event::Evict { level, line, dirty, .. } if level.0 == 0 => Some((level, line, dirty)),
        _ => None,
    });
    if let Some((level, line, dirty)) = evicted {
        let addr = line.base(moment.before.geometry(level).line_bytes).0;
        let owner = tables.regions.iter().find(|g| (g.base..g.end()).contains(&addr));
        let what = owner.map_or_else(|| format!("0x{addr:x}"), |g| g.element_name(addr));
        let how = if dirty { ", dirty: written back" } else { "" };
        lines.push(format!("pushes out {what}…{how}"));
    }
    lines
}
