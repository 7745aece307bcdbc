//! How a picture is composed: for a few dozen lines, or for the caches of a real machine.
//!
//! ```text
//! dots    memory's items, and lines in caches, are dots; rings grow with their lines       who reads a loop of a lesson
//! large   large caches are patches, memory is bars by who served it, rings are as thick    who looks for what a program
//!         as each other, the CPU shows who served, paths are sums                          loses over millions of references
//! ```
//!
//! The rings, arms, colours and arcs are the same. Closer up the large picture goes over into dots.

use super::view::Camera;

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Composition {
    /// Every piece of data is a dot.
    #[default]
    Dots,
    /// Sums, for more than an eye can follow.
    Large,
}

/// Zoom at which the bars of memory begin to give way to dots, and at which none is left.
const DOTS: [f32; 2] = [1.6, 3.2];

impl Composition {
    /// How far the dots at home have come forward, 0 = none is seen, 1 = they alone are.
    #[must_use]
    pub(super) fn home_dots(self, camera: &Camera) -> f32 {
        match self {
            Self::Dots => 1.0,
            Self::Large => {
                let t = ((camera.zoom - DOTS[0]) / (DOTS[1] - DOTS[0])).clamp(0.0, 1.0);
                t * t * (3.0 - 2.0 * t)
            }
        }
    }

    /// Whether it is [`Composition::Large`].
    #[must_use]
    pub fn is_large(self) -> bool {
        self == Self::Large
    }
}
