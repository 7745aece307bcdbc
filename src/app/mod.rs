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

mod against;
mod answering;
pub mod arrangement;
pub mod caches;
mod caches_panel;
mod clips;
mod compare;
pub mod complete;
pub mod desk;
mod display;
mod fault;
mod finder;
mod finder_panel;
mod guide;
mod guide_panel;
mod indexing;
mod input;
#[cfg(test)]
mod kernel_tests;
pub mod keys;
mod latency;
pub mod layouts;
mod lives;
mod losses;
mod notes;
mod notes_panel;
pub mod output;
mod output_panel;
#[cfg(test)]
mod over_tests;
pub mod pane;
pub mod panel;
pub mod panes;
mod presenter;
pub mod scrub;
mod seek;
mod seen;
mod selection;
pub mod session;
mod sheet;
mod sliders;
pub mod start;
pub mod start_panel;
pub mod state;
mod story_panel;
pub mod story_player;
mod task_desk;
mod task_keys;
mod tiles;
pub mod tip;
pub mod traces;
pub mod transport;
pub mod viewer;
pub mod widgets;
pub mod words;
mod words_sheet;

mod surface;
mod window;

pub use against::{Against, OpenAgainst};
pub use clips::{Clip, RecordClip};
pub use indexing::{Load, Report, Simulate};
pub use notes::{Beside, KeepLeft, KeepNotes};
pub use seen::{Asked, Express};
pub use story_player::{Explore, Story};
pub use traces::{First, Opener, SaveCaches, Trace, Wanted};
pub use viewer::{Account, CloseWindow, Options, Quietly, run};
