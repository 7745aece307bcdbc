//! A picture as vectors: what was taken, as one flat list of outlines and words in the order they are drawn, without a GPU. Its
//! writers (`record::vector`) know nothing else.
//!
//! ```text
//! Scene: disks, cells, structure, trails, glyphs, light  --scene-->  |
//! Solids: triangles, the farthest first                --solids--> |
//! Plane and words: rectangles                             ------>    |  Item, Item, ...  --themed-->  SVG, PDF
//! Words: egui's shapes                                    --words--> |
//! ```
//!
//! What the shaders define per pixel is said here once more as outlines: the places are those of `scene::motion`, the widths and
//! opacities those of `shaders/*.wgsl`. `tests/commands/vectors.rs` holds both together, by a picture of each.

mod curve;
mod draw;
mod scene;
mod solids;
mod themed;
mod words;

pub use curve::circle;
pub use draw::drawing;

use super::fonts::Weight;
use egui::Pos2;

/// A whole picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Width and height of the space that places are in.
    pub space: [f32; 2],
    /// Width and height that it is shown at, pixels.
    pub size: [u32; 2],
    /// The ground; `None` = transparent.
    pub ground: Option<[u8; 3]>,
    /// What the picture is of, for readers that show a title.
    pub title: String,
    /// What is drawn, from back to front.
    pub items: Vec<Item>,
}

/// A colour, and how much of it covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ink {
    /// Red, green and blue, as displayed.
    pub color: [u8; 3],
    /// 0 = nothing, 1 = all.
    pub opacity: f32,
}

/// A step of an outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Begins anew somewhere.
    Move(Pos2),
    /// A straight line.
    Line(Pos2),
    /// A cubic Bézier curve: two points that it is drawn to, and its end.
    Curve(Pos2, Pos2, Pos2),
    /// Back to where it began.
    Close,
}

/// What is done with an outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Paint {
    /// Its inside is filled.
    Fill,
    /// So too, by whole pixels: what shares an edge leaves no seam.
    Crisp,
    /// A line of this width is drawn along it.
    Stroke(f32),
}

/// How much of a glow is seen, from its middle (or from `from`) outward: shares of the radius, rising, and opacities.
pub type Stops = Vec<(f32, f32)>;

/// Words in a line, of one weight and colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Letters {
    /// Where their baseline begins.
    pub at: Pos2,
    /// How far they are turned about there, radians, clockwise.
    pub angle: f32,
    /// Size of type.
    pub size: f32,
    /// Weight of the typeface.
    pub weight: Weight,
    /// Their ink.
    pub ink: Ink,
    /// The words.
    pub text: String,
    /// Where each of their characters begins, and where the last ends, from `at` along the line.
    pub places: Vec<f32>,
}

/// One thing that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// An outline.
    Path {
        /// The outline.
        steps: Vec<Step>,
        /// What is done with it.
        paint: Paint,
        /// By which ink.
        ink: Ink,
    },
    /// A straight line whose opacity goes from one to the other.
    Fading {
        /// Both ends.
        ends: [Pos2; 2],
        /// Its width.
        width: f32,
        /// The ink; its opacity counts for both ends.
        ink: Ink,
        /// Opacity at both ends, times the ink's.
        opacity: [f32; 2],
    },
    /// A filled circle.
    Dot {
        /// The middle.
        at: Pos2,
        /// The radius.
        radius: f32,
        /// The ink.
        ink: Ink,
    },
    /// A circle's line.
    Ring {
        /// The middle.
        at: Pos2,
        /// The radius of the line's middle.
        radius: f32,
        /// The line's width.
        width: f32,
        /// The ink.
        ink: Ink,
    },
    /// What fades from the middle outward, within an outline.
    Glow {
        /// The middle.
        at: Pos2,
        /// The radius at which shares are 1.
        radius: f32,
        /// Where it is drawn.
        within: Vec<Step>,
        /// How much is seen.
        stops: Stops,
        /// The ink.
        ink: Ink,
        /// It adds light rather than covers.
        adds: bool,
    },
    /// Words.
    Letters(Letters),
    /// From here on to the next of its kind, only what is within this rectangle is seen (left, top, right, bottom); `None` = all.
    Clip(Option<[f32; 4]>),
}

/// Why a picture cannot be drawn as vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the words of the picture hold {found}; vectors have lines, circles, rectangles, curves and text; use a name that ends in .png"
)]
pub struct VectorError {
    /// What was found.
    pub found: &'static str,
}
