//! A machine at a moment of its run, told by tasks: components as sectors of rings ([`layout`]), each request a glyph.
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
#[cfg(test)]
mod tests;

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
            temperatures: Vec::new(),
            served: ServedShares::default(),
            notes: Notes { bundling: told.bundling, ..Notes::default() },
        };
        MachineMoment { scene, loads: told.loads, seen: told.seen }
    }

    /// A disk behind each sector, the warmer the more of what its kind ever holds is there.
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
    let ink = cubehelix::color(kind, book.kinds().len());
    if view.tasks.lit.is_none_or(|lit| lit == kind) { ink } else { palette::mix(ink, palette::TRACK, 0.82) }
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
