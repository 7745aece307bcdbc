//! Where things stand: the rings of the caches with their sectors, the arcs of memory.

mod arcs;
pub mod finer;
pub mod home;
pub mod racks;
pub mod radii;
pub mod rings;
pub mod sector;

pub use arcs::HomeArc;
pub use finer::{Closeness, Detail, Rung};
pub use home::{HomeLayout, HomeRegion};
pub use racks::{Rack, TlbShape};
pub use radii::Radii;
pub use rings::{CacheShape, MAX_SECTORS, Ring, Rings, SectorName};
pub use sector::Sector;
