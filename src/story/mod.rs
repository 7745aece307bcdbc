//! Storyboards: a lesson as a file, from which a film is made and which a window plays.
//!
//! ```text
//! text  --Storyboard::parse-->  Storyboard  --Reel::new, with a studio for each source-->  Reel  --frame k-->  pictures and lettering
//! ```
//!
//! A [`Storyboard`] is what is written: scenes with a range of a trace, a pace, a camera, captions with live values, labels, questions.
//! A [`Reel`] is that over traces that are indexed: each frame follows from its number alone. Nothing here reads files, runs programs
//! or knows how frames are stored.

mod board;
pub mod bundled;
mod camera;
mod error;
mod moment;
mod of_clip;
mod propose;
mod reel;
mod subtitles;
mod values;

pub use board::{Board, Moment, Scene, Source, Storyboard};
pub use error::{StoryError, unknown};
pub use of_clip::{ClipStory, of_clip};
pub use propose::{Opened, propose};
pub use reel::{Frame, Reel, SceneSpan};
pub use subtitles::{Cue, SceneText, markdown, srt, webvtt};
pub use values::{Counts, Run, Template, counts_at};
