//! Where things stand: the rings of the caches, the arcs of memory.

pub mod home;
pub mod rings;

pub use home::{HomeLayout, HomeRegion};
pub use rings::{LevelShape, Ring, Rings};
