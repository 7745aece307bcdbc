//! What is drawn, to the pixel, and what is recorded of it, to the byte; and that shaders and Rust agree.
#![cfg(all(feature = "cli", feature = "gpu"))]

mod flashes;
mod golden;
mod golden_selftest;
mod parts;
mod picture_ids;
mod record_faults;
mod record_files;
mod record_repeat;
mod shader_layout;
mod shader_valid;
mod sight;
mod themes;
#[cfg(feature = "viewer")]
mod window;

#[path = "../support/mod.rs"]
mod support;
