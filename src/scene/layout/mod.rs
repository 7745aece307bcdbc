//! Where things stand: the rings of the caches with their sectors, the arcs of memory.

pub mod home;
pub mod rings;
pub mod sector;

pub use home::{HomeLayout, HomeRegion};
pub use rings::{CacheShape, Ring, Rings, SectorName};
pub use sector::Sector;
