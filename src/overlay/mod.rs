//! Text, tables, legend and strip over the picture: egui without a window, drawn into any view, the same for window,
//! stills and video. Knows numbers and names, no files and no windows.

mod answers;
mod arcs;
pub mod baseline;
mod caches;
pub mod chart_plane;
mod closeup;
pub mod compose;
mod csv;
pub mod described;
pub mod draw;
pub mod exhibits;
pub mod fonts;
pub mod info;
mod labels;
pub mod layout;
mod legend;
pub mod lettering;
mod minimap;
mod named;
mod over;
pub mod pen;
mod pins;
pub mod plane;
mod rows;
pub mod shot;
pub mod stretch;
mod strip;
pub mod studio;
pub mod tip;
pub mod vector;

pub use crate::timeline::StripKind;
pub use answers::{Answer, Asked, Question};
pub use baseline::Baseline;
pub use closeup::NamedDot;
pub use compose::{Composer, Offscreen, Sheet, ShotError, Words};
pub use exhibits::{Exhibit, Picture, RingExhibit};
pub use info::Info;
pub use layout::{Area, Layout, Parts};
pub use shot::{Playback, Shot, Taken};
pub use stretch::Stretch;
pub use strip::{Strip, height_of};
pub use studio::Studio;
pub use tip::Tip;

#[cfg(test)]
pub(crate) mod tests;
