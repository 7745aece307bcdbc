//! The window: winit, a wgpu surface, one egui pass that draws the words of the picture and the controls over the scene.
//!
//! ```text
//! Viewer (winit)  --seconds, keys-->  Desk (no window)        -->  Shot  -->  Taken (picture, words)
//!       |                               Session: what is open                     |
//!       |                               Transport: when                           |
//!       |                               Panes: which exhibit, which camera        |
//!       '-- Surface (wgpu) <-- Painter <------------------------------------------'
//!                          <-- Words   <-- panel (controls, tips)
//! ```
//!
//! The clock is read in [`viewer`] and nowhere else; what a test would want is in modules that know no window.

pub mod caches;
mod caches_panel;
pub mod complete;
pub mod desk;
mod display;
mod indexing;
mod input;
pub mod keys;
pub mod output;
mod output_panel;
pub mod pane;
pub mod panel;
pub mod panes;
pub mod scrub;
pub mod session;
pub mod start;
mod start_panel;
mod tiles;
pub mod tip;
pub mod traces;
pub mod transport;
pub mod viewer;
pub mod widgets;
pub mod words;

mod surface;

pub use indexing::{Load, Report, Simulate};
pub use traces::{First, Opener, SaveCaches, Trace, Wanted};
pub use viewer::{Account, Options, Quietly, run};
