//! What the checks of scenes share: real traces on stage under the preset `paper`, and words for what is seen.

use orrery::axis::Position;
use orrery::reference::{Reference, ReferenceSource};
use orrery::scene::frame::flags;
use orrery::scene::{Glyph, Scene, Stage, View};
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use orrery::timeline::{Cursor, Moment, Options, Timeline};
use orrery::trace;
use orrery::units::{Addr, CacheId};
use std::path::Path;
use std::sync::Arc;

/// Traces recorded from real programs.
pub(crate) const TRACES: [&str; 4] = ["array_init", "matmul16", "matmul12_blocked", "mpm"];

/// A trace on stage.
pub(crate) struct Show {
    source: Arc<dyn ReferenceSource>,
    cursor: Cursor,
    pub(crate) stage: Stage,
    pub(crate) len: u64,
}

impl Show {
    /// A bundled trace, under `paper`.
    pub(crate) fn open(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("traces/{name}.orrery"));
        Self::of(Arc::from(trace::open(&path, None).expect(name)))
    }

    /// Any trace, under `paper`.
    pub(crate) fn of(source: Arc<dyn ReferenceSource>) -> Self {
        Self::under(source, paper())
    }

    /// Any trace under any caches.
    pub(crate) fn under(source: Arc<dyn ReferenceSource>, hierarchy: Hierarchy) -> Self {
        let stage = Stage::new(&hierarchy, &source.tables().regions);
        let timeline = Timeline::build(Arc::clone(&source), hierarchy, Options::default(), &mut |_, _| true);
        let timeline = Arc::new(timeline.expect("readable"));
        let len = timeline.len();
        Self { source, cursor: Cursor::new(timeline).expect("readable"), stage, len }
    }

    /// Looks at the scene at a position, with its moment.
    pub(crate) fn at<T>(
        &mut self,
        position: f64,
        view: &View,
        see: impl FnOnce(&Scene, &Moment<'_>, &Stage) -> T,
    ) -> T {
        let position = Position::of(position);
        let (tick, view) = (position.tick(), View { phase: position.phase(), ..view.clone() });
        let moment = self.cursor.seek_over(tick, view.history(), view.window).expect("readable");
        let scene = self.stage.frame(&moment, &view);
        see(&scene, &moment, &self.stage)
    }

    /// The scene at a position.
    pub(crate) fn scene(&mut self, position: f64, view: &View) -> Scene {
        let position = Position::of(position);
        let (tick, view) = (position.tick(), View { phase: position.phase(), ..view.clone() });
        let moment = self.cursor.seek_over(tick, view.history(), view.window).expect("readable");
        self.stage.frame(&moment, &view)
    }

    /// About `count` ticks over the whole trace, its end too.
    pub(crate) fn ticks(&self, count: u64) -> Vec<u64> {
        // An odd step, so that every part of a loop's body is met.
        let step = (self.len / count).max(1) | 1;
        (0..self.len).step_by(usize::try_from(step).expect("small")).chain([self.len - 1, self.len]).collect()
    }

    /// The regions of the trace.
    pub(crate) fn regions(&self) -> Vec<orrery::reference::Region> {
        self.source.tables().regions.clone()
    }

    /// All references.
    pub(crate) fn references(&self) -> Vec<Reference> {
        let chunks = self.source.len().div_ceil(self.source.chunk_len());
        (0..chunks).flat_map(|n| self.source.chunk(n).expect("readable").to_vec()).collect()
    }
}

/// Empty caches of the preset `paper`.
pub(crate) fn paper() -> Hierarchy {
    Hierarchy::new(&preset("paper").expect("a preset")).expect("sound")
}

/// Runs a check over about `per_trace` moments of every trace.
pub(crate) fn everywhere(per_trace: u64, view: &View, mut check: impl FnMut(&Scene, &Moment<'_>, &Stage, &str)) {
    for name in TRACES {
        let mut show = Show::open(name);
        let ticks = show.ticks(per_trace);
        assert!(ticks.len() as u64 * 10 >= per_trace * 9, "{name}: {} moments", ticks.len());
        for tick in ticks {
            let at = format!("{name} at {tick}");
            show.at(tick as f64 + 0.4, view, |scene, moment, stage| check(scene, moment, stage, &at));
        }
    }
}

/// Glyphs of data in caches or on their way from or to them.
pub(crate) fn data(scene: &Scene) -> impl Iterator<Item = &Glyph> {
    scene.glyphs.iter().filter(|g| (1..=3).contains(&g.layer))
}

/// Byte address that such a glyph stands for.
pub(crate) fn addr(glyph: &Glyph, stage: &Stage) -> u64 {
    glyph.id * stage.items().glyph_bytes
}

/// Numbers of the dots of the bytes `[from, from + bytes)`, which are whole grains: each region's dots are of its own size.
pub(crate) fn dots(stage: &Stage, from: u64, bytes: u64) -> Vec<u64> {
    let items = stage.items();
    let mut out: Vec<(usize, u64, u64)> = Vec::new();
    for addr in (from..from + bytes).step_by(usize::try_from(items.glyph_bytes).expect("small")) {
        let Some((region, _)) = stage.home().item(addr, 0) else { continue };
        let size = items.glyph_of(region);
        // One dot for all that lies in one piece of a region's size and in one grain.
        let cell = (region, addr / size, addr / items.grain_bytes);
        if out.last().is_none_or(|last| (last.0, last.1) != (cell.0, cell.1)) {
            out.push((cell.0, cell.1, addr / items.glyph_bytes));
        }
    }
    out.into_iter().map(|(.., id)| id).collect()
}

/// The number of the dot that stands for a byte.
pub(crate) fn dot_of(stage: &Stage, addr: u64) -> u64 {
    let grain = stage.items().grain_bytes;
    let all = dots(stage, addr / grain * grain, grain);
    *all.iter().rfind(|id| **id <= addr / stage.items().glyph_bytes).expect("an array's byte")
}

/// The cache a glyph ends at, under `paper` the level; `None` at home.
pub(crate) fn level(glyph: &Glyph) -> Option<usize> {
    (0u16..512).position(|c| f32::from(c) == glyph.flight.to.cache)
}

pub(crate) fn is_ghost(glyph: &Glyph) -> bool {
    glyph.flags & flags::GHOST != 0
}

pub(crate) fn distance(a: [f32; 2], b: [f32; 2]) -> f32 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// How far `m` lies off the line from `a` to `b`.
pub(crate) fn off_line(m: [f32; 2], a: [f32; 2], b: [f32; 2]) -> f32 {
    let cross = (m[0] - a[0]) * (b[1] - a[1]) - (m[1] - a[1]) * (b[0] - a[0]);
    cross.abs() / distance(a, b).max(1e-9)
}

/// Caches that hold the byte, innermost first.
pub(crate) fn holders(hierarchy: &Hierarchy, addr: u64) -> Vec<usize> {
    let holds = |c: &CacheId| hierarchy.rank(*c, Addr(addr).line(hierarchy.geometry(*c).line_bytes)).is_some();
    hierarchy.caches().filter(holds).map(CacheId::index).collect()
}
