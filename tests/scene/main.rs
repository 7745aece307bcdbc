//! What a moment is drawn as, in shapes: held against the caches themselves, without a pixel.

mod cells;
mod colors;
mod crowded;
mod finer;
mod flights;
mod lapse;
mod large;
mod moves;
mod order;
mod palette;
mod places;
mod radii;
mod regions;
mod sectors;
mod shades;
mod temperature;
mod tlbs;

#[path = "../support/mod.rs"]
mod support;
