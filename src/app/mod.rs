//! The window: winit, a wgpu surface, one egui pass that draws the words of the picture and the controls over the scene.
//!
//! ```text
//! Viewer (winit)  --seconds, keys-->  Desk (playhead, look: no window)  -->  Studio  -->  Scene, Info
//!       |                               ^                                                     |
//!       '-- Surface (wgpu) <-- Painter <|-----------------------------------------------------'
//!                         <-- Words   <-- panel (controls, tips) --'
//! ```
//!
//! The clock is read in [`viewer`] and nowhere else; what a test would want is in modules that know no window.

pub mod desk;
mod display;
pub mod keys;
pub mod panel;
pub mod scrub;
pub mod tip;
pub mod transport;
pub mod viewer;
pub mod widgets;

mod surface;

pub use viewer::{Account, Load, Options, Quietly, Report, run};
