//! Stills as vectors: a [`Drawing`] as the bytes of an SVG or a PDF file. The same drawing gives the same bytes.
//!
//! | | SVG | PDF |
//! |---|---|---|
//! | words | `<text>` in the typeface's name, as long as the program draws them | the typeface itself, embedded; searchable |
//! | lines that fade | a gradient along the line | steps |
//! | glows | radial gradients | soft masks |

mod fonts;
mod number;
mod pdf;
mod svg;

pub use pdf::pdf;
pub use svg::svg;

use crate::overlay::vector::Drawing;
use std::path::Path;

/// A format of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorFormat {
    /// Scalable Vector Graphics 1.1, with blending as of CSS.
    Svg,
    /// Portable Document Format 1.7.
    Pdf,
}

impl VectorFormat {
    /// That of a file's name; `None` = the ending is none of vectors.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        [("svg", Self::Svg), ("pdf", Self::Pdf)]
            .into_iter()
            .find(|(e, _)| ending.eq_ignore_ascii_case(e))
            .map(|(_, f)| f)
    }

    /// The bytes of a file that shows `drawing`.
    #[must_use]
    pub fn bytes(self, drawing: &Drawing) -> Vec<u8> {
        match self {
            Self::Svg => svg(drawing).into_bytes(),
            Self::Pdf => pdf(drawing),
        }
    }
}
