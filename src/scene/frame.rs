//! What a frame consists of: flat lists of shapes in world units, in the order they are drawn. No GPU here.

use super::large::ServedShares;
use super::layout::{Rings, Sector};
use super::motion::Flight;
use super::palette::Rgba;
use super::pins::Pinned;
use std::f32::consts::TAU;

/// Signs a glyph carries beside its colour.
pub mod flags {
    /// A copy elsewhere is the real one: drawn fainter.
    pub const GHOST: u32 = 1;
    /// Holds data that memory does not have yet: drawn with a rim.
    pub const DIRTY: u32 = 2;
    /// Prefetched and not used yet: drawn hollow.
    pub const HOLLOW: u32 = 4;
    /// An entry of a TLB, not data: drawn as a bar that lies along the ring.
    pub const PAGE: u32 = 8;
}

/// One piece of data, or one of its ghosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glyph {
    /// Drawn from low to high: 0 home, 1 ghosts, 2 resident, 3 on the move, 4 the CPU, 5 entries of TLBs.
    pub layer: u8,
    /// Number of the item, of an entry of a TLB that of its page; ties within a layer sort by it.
    pub id: u64,
    /// Where it is and how it moves; [`Scene::now`] says how far it is.
    pub flight: Flight,
    /// Radius at rest, world units.
    pub radius: f32,
    /// Colour, straight alpha.
    pub color: Rgba,
    /// Red flash after a miss, 0..=1.
    pub flash: f32,
    /// Growth after an access, 0..=1.
    pub pulse: f32,
    /// Ring burst after a miss: 0 = just begun, 1 = over (and not drawn).
    pub burst: f32,
    /// [`flags`].
    pub flags: u32,
}

/// A stretch of a flight's path, drawn as a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The flight whose path it follows.
    pub flight: Flight,
    /// Where it starts on the path, 0..=1 as [`Flight::eased`].
    pub s0: f32,
    /// Where it ends, `s0..=1`.
    pub s1: f32,
    /// Line width, pixels of a picture 720 high.
    pub width: f32,
    /// Colour.
    pub color: Rgba,
    /// Alpha at `s0`, 0..=1, times the colour's.
    pub alpha0: f32,
    /// Alpha at `s1`.
    pub alpha1: f32,
}

/// Neighbouring slots of a large cache, drawn as one patch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The sector.
    pub sector: u16,
    /// First set, and one past the last.
    pub sets: [u32; 2],
    /// First rank, and one past the last.
    pub ranks: [u32; 2],
    /// Its corners, world units: first set and first rank, next set, next rank, both.
    pub corners: [[f32; 2]; 4],
    /// Mean colour of what lies there; alpha by how many slots hold something.
    pub color: Rgba,
}

/// A soft disk behind a ring, or behind a part of it, wound like the arms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disk {
    /// Full colour from here ...
    pub r0: f32,
    /// ... to here.
    pub r1: f32,
    /// Fades to nothing over this distance on both sides.
    pub soft: f32,
    /// Angle where it begins at `r0`, radians.
    pub theta0: f32,
    /// Angle it spans, radians.
    pub span: f32,
    /// Turn from `r0` to `r1`, radians.
    pub turn: f32,
    /// Angle over which it fades to nothing at both ends, radians; 0 = it has no ends, and spans the whole circle.
    pub fade: f32,
    /// Colour.
    pub color: Rgba,
}

impl Disk {
    /// All round.
    #[must_use]
    pub fn whole(r0: f32, r1: f32, soft: f32, color: Rgba) -> Self {
        Self { r0, r1, soft, theta0: 0.0, span: TAU, turn: 0.0, fade: 0.0, color }
    }

    /// Behind a sector: to the middle of the gaps, where it has faded to nothing.
    #[must_use]
    pub fn behind(sector: &Sector, soft: f32, color: Rgba) -> Self {
        let whole = Self::whole(sector.r0, sector.r1, soft, color);
        if sector.is_whole() {
            return whole;
        }
        let (theta0, span) = (sector.edges()[0] - sector.gap, sector.span + 2.0 * sector.gap);
        Self { theta0, span, turn: sector.omega, fade: 2.0 * sector.gap, ..whole }
    }
}

/// What the picture leaves out or joins, in words for the viewer; empty = nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// That the area of rings is as capacity, and of which it is not; empty = rings are as thick as they fit.
    pub scale: String,
    /// What one dot stands for: `1 dot = 1 element (8 bytes)`.
    pub item: String,
    /// What a dot at home stands for where that is less than in the whole picture; empty = it is not.
    pub home: String,
    /// What is drawn as cells, and what one stands for; empty = nothing.
    pub cells: String,
    /// How trails are bundled; empty = each path is drawn.
    pub bundling: String,
    /// What is not drawn for want of room; empty = nothing.
    pub omitted: String,
}

/// A whole frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Radii and the slot formula.
    pub rings: Rings,
    /// Ticks since the frame's origin, from which the times of its flights count: the origin is where the tick under way begins.
    pub now: f32,
    /// Soft disks, innermost first.
    pub disks: Vec<Disk>,
    /// Large caches, by sector, then set, then rank; patches that are empty or out of sight are left out.
    pub cells: Vec<Cell>,
    /// Borders, guide arms and region arcs: the same in every frame.
    pub structure: Vec<Segment>,
    /// Trails: hits and ageing, then all others, each oldest first; what of them is in sight.
    pub trails: Vec<Segment>,
    /// Glyphs in sight, by layer, then id.
    pub glyphs: Vec<Glyph>,
    /// What is pinned.
    pub pinned: Pinned,
    /// What has labels, in the order of `View::labels`.
    pub labelled: Vec<Pinned>,
    /// Temperature of each cache, -1 ..= 1.
    pub temperatures: Vec<f32>,
    /// Whether disks show them.
    pub shows_temperature: bool,
    /// Who served the references of the picture; of none where it is not the large one.
    pub served: ServedShares,
    /// What the picture joins or leaves out.
    pub notes: Notes,
}
