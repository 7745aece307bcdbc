//! Lists of shapes to pixels, by wgpu. Knows a [`crate::scene::Scene`], nothing of caches, windows or files.

pub mod bars;
pub mod cells;
pub mod context;
pub mod disks;
pub mod glyphs;
pub mod gpu_data;
pub mod pass;
pub mod pathlines;
mod pipeline;
mod quads;
pub mod shaders;
pub mod solids;
pub mod target;
pub mod themes;
mod upload;
pub mod words;

pub use bars::Bar;
pub use context::{Context, RenderError};
pub use pass::{Painter, Viewport, begin};
pub use target::Target;
pub use themes::ThemePass;
pub use upload::Sent;
pub use words::{Texels, WordRenderer, WordRun};
