//! A machine at a moment of its run, told by tasks: components as sectors of rings ([`MachineLayout`]), each request a glyph.
//!
//! ```text
//!  made       received   served        whom it asked answer     answered   arrived
//!   |            |          |                |          |            |         |
//!   o===========.|..waits..|================o----------o=============|=========o
//!     flies to the port      flies to its slot   rests     flies back, straight
//! ```
//!
//! Flights last as long as the tasks that they are of: a request is on its way until the one that got it asks somebody else, and its
//! answer from when that was answered. One that is served without asking flies half of the time and comes back in the other half.
//! A store goes out in a wide arc, everything else straight. Requests of one instruction to one component are a bundle: a line as wide
//! as they are many. What waits for a port or for room waits outside the port.

mod flights;
mod layout;

pub use layout::{MachineLayout, MachineRing, NoRings};

use super::frame::{Disk, Glyph, Notes, Scene, Segment};
use super::large::ServedShares;
use super::layout::Rings;
use super::motion::{Endpoint, Flight};
use super::palette::{self, Rgba};
use super::pins::Pinned;
use super::sight;
use super::view::View;
use super::{calm, cubehelix};
use crate::axis::Position;
use crate::tasks::{ComponentId, TaskBook, Traffic};
use crate::units::to_f32;
use std::f32::consts::TAU;
use std::sync::Arc;

/// The long-lived part: where everything stands, and what never changes.
pub struct MachineStage {
    traffic: Arc<Traffic>,
    layout: MachineLayout,
    structure: Vec<Segment>,
    rings: Rings,
    /// Ticks that a request takes, usually.
    usual: u64,
}

/// What a component has to do at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// What it holds.
    pub held: u32,
    /// What waits at its port.
    pub waiting: u32,
}

/// A machine at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineMoment {
    /// Its shapes. The number of a glyph is that of its task.
    pub scene: Scene,
    /// By component.
    pub loads: Vec<Load>,
    /// By kind of tasks: whether its colour is in the picture.
    pub seen: Vec<bool>,
}

/// How far borders stand off the slots.
const OFF: f32 = 0.006;
/// Radius of a dot, of the distance between slots; and at most.
const DOT: f32 = 0.44;
const LARGEST: f32 = 0.0105;

impl MachineStage {
    /// Lays out the components of a book.
    ///
    /// # Errors
    /// When it cannot be drawn as rings.
    pub fn new(book: &TaskBook) -> Result<Self, NoRings> {
        let traffic = Arc::clone(book.traffic());
        let layout = MachineLayout::new(&traffic)?;
        let structure = structure(&layout);
        let usual = flights::usual(book, &traffic);
        Ok(Self { traffic, layout, structure, rings: Rings::new(&[]), usual })
    }

    /// Where everything stands.
    #[must_use]
    pub fn layout(&self) -> &MachineLayout {
        &self.layout
    }

    /// Who asks whom.
    #[must_use]
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Ticks over which answers leave trails: as many as a request takes usually, for a trail of the usual length.
    #[must_use]
    pub fn trail(&self, view: &View) -> u64 {
        let usual = View::default().tail;
        if view.trails { (self.usual.saturating_mul(view.tail) / usual).max(1) } else { 0 }
    }

    /// The picture of a moment.
    #[must_use]
    pub fn frame(&self, book: &TaskBook, position: Position, view: &View) -> MachineMoment {
        let view = View { phase: position.phase(), ..view.clone() };
        let mut told = flights::tell(self, book, position, &view);
        let disks = if view.temperature { self.heat(&told.loads) } else { Vec::new() };
        let mut glyphs = std::mem::take(&mut told.glyphs);
        if let Some(center) = self.layout.center.map(|_| self.layout.middle) {
            glyphs.push(still(u64::MAX, 4, [0.0, 0.0], center * 0.62, palette::LIGHT));
        }
        if view.calm {
            glyphs = calm::still(glyphs, view.phase);
        }
        glyphs.sort_by_key(|glyph| (glyph.layer, glyph.id));
        sight::glyphs(&[], &view, &mut glyphs);
        sight::segments(&[], &view, &mut told.trails);
        let scene = Scene {
            rings: self.rings.clone(),
            now: view.phase,
            disks,
            cells: Vec::new(),
            structure: self.structure.clone(),
            trails: told.trails,
            glyphs,
            pinned: Pinned::default(),
            labelled: Vec::new(),
            temperatures: Vec::new(),
            shows_temperature: view.temperature,
            served: ServedShares::default(),
            notes: Notes { bundling: told.bundling, ..Notes::default() },
        };
        MachineMoment { scene, loads: told.loads, seen: told.seen }
    }

    /// A disk behind each sector: lighter the more it holds of what one of its kind ever holds, red where something waits.
    fn heat(&self, loads: &[Load]) -> Vec<Disk> {
        let each = self.layout.rings.iter().flat_map(|ring| &ring.components);
        each.map(|&component| {
            let (sector, load) = (&self.layout.sectors[component as usize], loads[component as usize]);
            let most = self.traffic.kinds[self.traffic.component(component).kind].most.max(4) as f32;
            let color = palette::pressure(load.held as f32 / most, load.waiting as f32 / most);
            Disk::behind(sector, 0.008, color)
        })
        .collect()
    }
}

/// The colour of a task's kind, as in all pictures of tasks; quieter where another kind stands out.
fn ink(book: &TaskBook, view: &View, kind: usize) -> Rgba {
    cubehelix::shown(kind, book.kinds().len(), view.tasks.lit)
}

/// A glyph that stands still.
fn still(id: u64, layer: u8, [r, theta]: [f32; 2], radius: f32, color: Rgba) -> Glyph {
    let flight = Flight::rest(Endpoint::polar(r, theta));
    Glyph { layer, id, flight, radius, color, flash: 0.0, pulse: 0.0, burst: 1.0, flags: 0 }
}

/// Radius of a dot in a component.
fn dot(layout: &MachineLayout, component: ComponentId) -> f32 {
    (DOT * layout.sectors[component as usize].pitch).min(LARGEST)
}

/// Borders of rings and sectors.
fn structure(layout: &MachineLayout) -> Vec<Segment> {
    let mut out = Vec::new();
    let mut line = |from: [f32; 2], to: [f32; 2], alpha: f32| {
        let end = |[r, theta]: [f32; 2]| Endpoint::polar(r, theta);
        out.push(Segment {
            flight: Flight::straight(end(from), end(to)),
            s0: 0.0,
            s1: 1.0,
            width: 1.0,
            color: palette::GUIDE,
            alpha0: alpha,
            alpha1: alpha,
        });
    };
    let mut circle = |r: f32, alpha: f32| {
        const PIECES: u16 = 120;
        let at = |piece: u16| [r, TAU * f32::from(piece) / f32::from(PIECES)];
        for piece in 0..PIECES {
            line(at(piece), at(piece + 1), alpha);
        }
    };
    for ring in &layout.rings {
        circle(ring.r0 - OFF, 0.17);
        circle(ring.r1 + OFF, 0.17);
    }
    for ring in layout.rings.iter().filter(|ring| ring.components.len() > 1) {
        // Of very many a border each would be a grey disk.
        let alpha = (0.30 * 48.0 / ring.components.len() as f32).clamp(0.06, 0.30);
        for &component in &ring.components {
            let sector = &layout.sectors[component as usize];
            let edge = sector.edges()[0] - sector.gap;
            const PIECES: u16 = 6;
            let at = |piece: u16| {
                let r = ring.r0 - OFF + (ring.r1 - ring.r0 + 2.0 * OFF) * f32::from(piece) / f32::from(PIECES);
                [r, edge + sector.turned(r)]
            };
            for piece in 0..PIECES {
                line(at(piece), at(piece + 1), alpha);
            }
        }
    }
    out
}

/// A number of ticks from the frame's origin, with its sign.
fn since(origin: u64, tick: u64) -> f32 {
    if tick >= origin { to_f32((tick - origin) as f64) } else { -to_f32((origin - tick) as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::gpu::{self, GpuConfig, Job, KernelEntry, simulate};
    use crate::scene::motion::position_at;
    use crate::tasks::metrics::Edges;
    use crate::tasks::{NewTask, REQUEST_IN, REQUEST_OUT, TaskId, TaskSetBuilder};
    use std::collections::BTreeSet;

    fn gpu(kernel: &str, size: u64) -> TaskBook {
        let config = GpuConfig { arrays: 2, units: 2, banks: 4, ..gpu::preset("r9nano").expect("there") };
        let program = KernelEntry::named(kernel).expect("there").with(&[("N".into(), size)]).expect("sound");
        let run = simulate(&config, &mut Job::alone(kernel, program), true, &mut |_, _| true).expect("it runs");
        TaskBook::new(run.tasks.expect("kept"), Edges::Neither, kernel, "")
    }

    /// Requests between named places: from, to.
    fn asks(ways: &[(&str, &str)]) -> TaskBook {
        let mut builder = TaskSetBuilder::new(1_000);
        let mut newest = 0;
        for (n, &(from, to)) in ways.iter().enumerate() {
            let start = 10 * n as u64;
            let mut parent = None;
            for (category, place, times) in
                [(REQUEST_OUT, from, (start, start + 9)), (REQUEST_IN, to, (start + 2, start + 7))]
            {
                newest += 1;
                let (category, action, location) =
                    (builder.word(category), builder.word("ReadReq"), builder.location(place));
                let id = TaskId::Number(newest);
                let (start, end) = times;
                let task = NewTask { id: &id, parent: parent.as_ref(), category, action, location, start, end };
                builder.push(task).expect("few");
                parent = Some(id);
            }
        }
        TaskBook::new(builder.finish().set, Edges::Neither, "asks", "")
    }

    #[test]
    fn a_gpu_is_told_by_its_requests_alone() {
        let book = gpu("matmul", 32);
        let traffic = book.traffic();
        let rings: Vec<(&str, usize, u32, bool, bool)> = traffic
            .kinds
            .iter()
            .map(|kind| (kind.name.as_str(), kind.components.len(), kind.depth, kind.translates, kind.is_last))
            .collect();
        for expected in [
            ("Dispatcher", 1, 0, false, false),
            ("CU", 4, 1, false, false),
            ("L1VCache", 4, 2, false, false),
            ("L1VTLB", 4, 2, true, false),
            ("L2Cache", 4, 3, false, false),
            ("L2TLB", 1, 3, true, false),
            ("DRAM", 4, 4, false, true),
            ("MMU", 1, 4, true, true),
        ] {
            assert!(rings.contains(&expected), "{expected:?} in {rings:?}");
        }
        let caches: Vec<&str> =
            traffic.kinds.iter().filter(|kind| kind.is_cache).map(|kind| kind.name.as_str()).collect();
        assert!(
            caches.contains(&"L1VCache") && !caches.contains(&"DRAM") && !caches.contains(&"Dispatcher"),
            "{caches:?}"
        );
        let set = book.set();
        // Each request is on one link.
        let pairs = (0..).take(set.len()).filter(|&task| {
            let out = set.parent(task).is_some_and(|parent| set.task_category(parent) == REQUEST_OUT);
            out && set.task_category(task) == REQUEST_IN
        });
        assert_eq!(traffic.links.iter().map(|link| link.requests).sum::<u64>(), pairs.count() as u64);
        let owner = |name: &str| {
            let location = set.locations().find(name).expect("there");
            set.locations().word(traffic.component(traffic.owner(location).expect("a part")).location)
        };
        assert_eq!(owner("SA[1].CU[0].VMem"), "SA[1].CU[0]");
        assert_eq!(owner("L2Cache[3]"), "L2Cache[3]");
    }

    #[test]
    fn a_circle_has_depths_and_rings_too() {
        let book = asks(&[("A", "B"), ("B", "C"), ("C", "A"), ("A", "B"), ("B", "C"), ("B", "B")]);
        let traffic = book.traffic();
        let mut depths: Vec<(&str, u32)> = traffic.kinds.iter().map(|kind| (kind.name.as_str(), kind.depth)).collect();
        depths.sort_unstable();
        assert_eq!(depths, [("A", 0), ("B", 1), ("C", 2)]);
        let stage = MachineStage::new(&book).expect("three");
        assert_eq!(stage.layout().rings.len(), 2);
    }

    #[test]
    fn sectors_hold_their_slots_and_are_found_by_place() {
        for kernel in ["matmul", "pagerank"] {
            let book = gpu(kernel, 64);
            let stage = MachineStage::new(&book).expect("a small GPU");
            let layout = stage.layout();
            let mut edge = layout.middle;
            for ring in &layout.rings {
                assert!(ring.r0 > edge && ring.r1 > ring.r0 && ring.r1 < 1.0, "{ring:?}");
                edge = ring.r1;
            }
            for (component, sector) in (0u32..).zip(&layout.sectors) {
                if layout.center == Some(component) {
                    assert_eq!(layout.at([0.0, 0.0]), Some(component));
                    continue;
                }
                let mut met: Vec<[f32; 2]> = Vec::new();
                for slot in 0..sector.sets * sector.ways {
                    let [r, theta] = layout.slot(component, Some(slot));
                    let p = [r * theta.cos(), r * theta.sin()];
                    assert_eq!(layout.at(p), Some(component), "slot {slot}");
                    assert!(met.iter().all(|q| (p[0] - q[0]).hypot(p[1] - q[1]) > 0.5 * sector.pitch), "slot {slot}");
                    met.push(p);
                }
                // What waits stands outside.
                let [r, theta] = layout.port(component, 0);
                assert!(r < sector.r0 && layout.at([r * theta.cos(), r * theta.sin()]).is_none());
            }
        }
    }

    #[test]
    fn each_request_under_way_is_one_dot_and_all_that_components_hold_is_counted() {
        let book = gpu("pagerank", 256);
        let (set, traffic) = (book.set(), book.traffic());
        let stage = MachineStage::new(&book).expect("a small GPU");
        let last = set.span().1;
        let mut waited = 0;
        for n in 0..40 {
            let tick = last * n / 40;
            let MachineMoment { scene, loads, seen } =
                stage.frame(&book, Position::of(tick as f64 + 0.25), &View::default());
            let dots: Vec<u64> = scene.glyphs.iter().map(|glyph| glyph.id).collect();
            assert_eq!(dots.iter().collect::<BTreeSet<_>>().len(), dots.len(), "no task is there twice");
            let is_open = |task: &u32| set.start(*task) <= tick && set.end(*task) > tick;
            let open: Vec<u32> = (0..).take(set.len()).filter(is_open).collect();
            for &task in &open {
                let served = set.task_category(task) == REQUEST_IN;
                // Work-groups have no slot in a unit that has wavefronts.
                if served && traffic.slot(task).is_some() {
                    assert!(dots.contains(&u64::from(task)), "{} at {tick}", set.id(task));
                }
            }
            let held = open.iter().filter(|&&task| traffic.slot(task).is_some()).count();
            let told: u32 = loads.iter().map(|load| load.held + load.waiting).sum();
            assert_eq!(told as usize, held, "at {tick}");
            waited += loads.iter().map(|load| load.waiting).sum::<u32>();
            for glyph in &scene.glyphs {
                let [x, y] = position_at(&[], &glyph.flight, scene.now);
                assert!(x.hypot(y) < 1.0, "{glyph:?}");
            }
            assert!(open.is_empty() || seen.contains(&true));
            let again = stage.frame(&book, Position::of(tick as f64 + 0.25), &View::default());
            assert!(again.scene == scene, "the same picture");
        }
        assert!(waited > 0, "something waits in a busy run");
    }

    #[test]
    fn nothing_jumps_but_in_a_queue() {
        let book = gpu("matmul", 32);
        let set = book.set();
        let stage = MachineStage::new(&book).expect("a small GPU");
        let view = View { trails: false, ..View::default() };
        let position = |glyph: &Glyph, now: f32| position_at(&[], &glyph.flight, now);
        let waits = |task: u64| !set.milestones(u32::try_from(task).expect("a task")).is_empty();
        let mut seen = 0;
        let from = set.span().1 / 3;
        for tick in from..from + 200 {
            let [before, after] = [tick, tick + 1].map(|tick| stage.frame(&book, Position::at(tick), &view).scene);
            for glyph in before.glyphs.iter().filter(|glyph| glyph.layer < 4 && !waits(glyph.id)) {
                let Some(next) = after.glyphs.iter().find(|other| other.id == glyph.id) else { continue };
                let (a, b) = (position(glyph, 1.0), position(next, 0.0));
                assert!((a[0] - b[0]).hypot(a[1] - b[1]) < 1e-3, "task {} at {tick}: {a:?} to {b:?}", glyph.id);
                seen += 1;
            }
        }
        assert!(seen > 500, "{seen}");
    }

    #[test]
    fn what_cannot_be_told_from_each_other_is_not_drawn() {
        let none = TaskBook::new(TaskSetBuilder::new(1).finish().set, Edges::Neither, "", "");
        assert_eq!(MachineStage::new(&none).err(), Some(NoRings::NoRequests));
        let names: Vec<String> = (0..1_300).map(|n| format!("L2[{n}]")).collect();
        let ways: Vec<(&str, &str)> = names.iter().map(|name| ("CU", name.as_str())).collect();
        assert_eq!(MachineStage::new(&asks(&ways)).err(), Some(NoRings::TooMany { components: 1_301, kinds: 2 }));
    }
}
