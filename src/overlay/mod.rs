//! Text, tables, legend and strip over the picture: egui without a window, drawn into any view, the same for window,
//! stills and video. Knows numbers and names, no files and no windows.

mod arcs;
mod caches;
pub mod compose;
pub mod draw;
pub mod fonts;
pub mod info;
mod labels;
pub mod layout;
mod legend;
mod over;
pub mod pen;
pub mod stretch;
mod strip;
pub mod studio;

pub use compose::{Composer, Words};
pub use info::Info;
pub use layout::{Layout, Parts};
pub use stretch::Stretch;
pub use strip::Strip;
pub use studio::Studio;
