//! The window.

pub mod desk;
pub mod keys;
pub mod transport;
