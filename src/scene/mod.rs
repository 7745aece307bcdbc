//! A moment as plain lists of shapes in world units: where every piece of data is, how it moves, what trails it leaves.
//!
//! Knows nothing of GPUs, windows or text layout; builds and tests on a machine with no graphics.

mod beams;
mod calm;
mod cells;
mod composition;
pub mod cubehelix;
mod curves;
mod density;
mod ends;
pub mod flows;
pub mod frame;
mod glow;
mod homes;
pub mod items;
mod large;
pub mod layout;
pub mod machine;
pub mod motion;
mod order;
pub mod pages;
pub mod palette;
pub mod pick;
pub mod pins;
pub mod places;
pub mod shades;
mod sight;
pub mod solids;
mod stacked;
pub mod stage;
pub mod structure;
pub mod temperature;
pub mod trails;
pub mod view;

pub use composition::Composition;
pub use ends::Ends;
pub use frame::{Cell, Disk, Glyph, Notes, Scene, Segment};
pub use items::Items;
pub use large::ServedShares;
pub use order::RegionOrder;
pub use pins::{PinKind, PinMark, Pinned, arm_of};
pub use places::Places;
pub use shades::Choice;
pub use stage::Stage;
pub use view::{Camera, Shade, View};
