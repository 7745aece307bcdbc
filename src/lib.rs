//! Orrery plays a program's memory references through a simulated memory hierarchy and draws what moves.
//!
//! ```text
//! trace  ->  sim  ->  timeline  ->  scene  ->  render  ->  overlay  ->  app | record
//! ```
//!
//! Data flows left to right, imports point right to left (`tests/architecture.rs` holds the rule), and everything before
//! `app` gives the same output for the same input. Read the modules in the order below; `ARCHITECTURE.md` says what each
//! one must not know.

// What is said goes through `shown`.
#![warn(clippy::print_stderr)]

pub mod units;

pub mod reference;

pub mod shown;

pub mod files;

pub mod symbols;

pub mod trace;

pub mod capture;

#[cfg(feature = "traced")]
pub mod traced;

pub mod sim;

pub mod timeline;

pub mod scene;

#[cfg(feature = "gpu")]
pub mod render;

#[cfg(feature = "gpu")]
pub mod overlay;

#[cfg(feature = "gpu")]
pub mod record;

#[cfg(feature = "viewer")]
pub mod app;

pub mod cli;
pub mod commands;
