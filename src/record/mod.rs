//! Frames to files: MP4, GIF, animated and numbered PNG, Y4M, PPM, and what an installed ffmpeg writes.
//!
//! ```text
//! calling thread            "record-convert"           "record-encode"
//! FrameSource  --RGBA-->    RGBA to I420 / palette  -->  H.264 / LZW, file
//!      ^---- empty buffers ----'       ^---- empty buffers ----'
//! ```
//!
//! The three stages overlap: while the source draws frame k+2, frame k+1 is converted and frame k encoded. Channels are
//! bounded and buffers go round, so memory stays at a few frames whatever the length. A [`FrameSource`] gives
//! them: [`Film`] those of a range of a trace. The stages know nothing of windows, caches and how frames come about; no clock touches what is written (times are measured for the summary only).

mod apng;
mod changes;
mod destination;
mod error;
mod ffmpeg;
mod film;
mod flashes;
mod gif;
mod groups;
mod h264;
mod mp4;
mod output;
mod palette;
mod pipeline;
pub(crate) mod png;
mod refine;
mod story_film;
mod turns;
mod uncompressed;
pub mod vector;
mod video;
mod yuv;

pub use error::{FrameError, RecordError};
pub use ffmpeg::Ffmpeg;
pub use film::Film;
pub use flashes::{Flashes, Held, LARGE, Light};
#[cfg(feature = "cli")]
pub(crate) use output::Partial;
pub use output::{Format, Output, Pattern, Wanted};
pub use pipeline::{Progress, Stages, Summary};
pub use refine::{Refined, Refinement};
pub use story_film::StoryFilm;
pub use turns::{in_turn, sources};

use destination::Destination;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Frames that a source may have under way at once, where it does not say otherwise.
pub const IN_FLIGHT: u64 = 3;

/// Frames a second that can be asked for.
pub const FPS: std::ops::RangeInclusive<u32> = 1..=120;

/// Draws frames by number. [`submit`](Self::submit) starts a frame (the GPU may work on),
/// [`collect`](Self::collect) finishes the oldest submitted one. Up to [`in_flight`](Self::in_flight) are under way at once.
pub trait FrameSource {
    /// Size of every frame in pixels.
    fn size(&self) -> (u32, u32);

    /// How many frames there are: `0..frames()` can be submitted, in any order and again.
    fn frames(&self) -> u64;

    /// How many frames may be under way at once.
    fn in_flight(&self) -> u64 {
        IN_FLIGHT
    }

    /// Starts frame `k`.
    ///
    /// # Errors
    /// When it cannot be drawn.
    fn submit(&mut self, k: u64) -> Result<(), FrameError>;

    /// Waits for the oldest submitted frame and stores it in `into` (contents are replaced, capacity is kept): tightly
    /// packed rows of RGBA, 8 bits each, sRGB, top row first. Alpha counts only where [`Options::transparent`] is asked for.
    ///
    /// # Errors
    /// When the frame was lost on the way.
    fn collect(&mut self, into: &mut Vec<u8>) -> Result<(), FrameError>;
}

/// How to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Frames a second, [`FPS`].
    pub fps: u32,
    /// Whether the frames' alpha is kept, in formats that can.
    pub transparent: bool,
    /// Parts of the recording that a player can jump to, in order; MP4 files and ffmpeg's have them.
    pub chapters: Vec<Chapter>,
}

impl Default for Options {
    fn default() -> Self {
        Self { fps: 30, transparent: false, chapters: Vec::new() }
    }
}

/// A part of a recording with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chapter {
    /// Its frames.
    pub frames: Range<u64>,
    /// What players list.
    pub title: String,
}

/// Draws all frames of `source` and writes them to `output`.
///
/// `stop` asks for an early end: frames already started are finished, and the file holds what was recorded (with no
/// frame done there is no file). `progress` is called on this thread after each frame. A file appears under its name only
/// when it is whole; numbered PNGs appear one by one, each whole.
///
/// # Errors
/// See [`RecordError`]; what was begun is removed.
pub fn record(
    source: &mut dyn FrameSource,
    output: &Output,
    options: &Options,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, RecordError> {
    check(source, output.format(), options)?;
    let (size, frames) = (source.size(), source.frames());
    let (path, fps, transparent) = (output.path.as_deref(), options.fps, options.transparent);
    let file = || path.unwrap_or(Path::new("-"));
    let stages = match &output.format {
        Format::Mp4 => match path {
            Some(path) => video::to_file(path, size, fps, (frames, &options.chapters))?,
            None => video::to_stream(Box::new(crate::shown::raw()), size, fps)?,
        },
        Format::Gif => gif::to_file(file(), source, fps, stop)?,
        Format::Apng => apng::to_file(file(), size, fps, transparent)?,
        Format::Png(pattern) => png::to_files(pattern, size, transparent)?,
        Format::Y4m => uncompressed::y4m(Destination::open(path)?, size, fps)?,
        Format::Ppm => uncompressed::ppm(Destination::open(path)?, size),
        Format::NumberedPpm(pattern) => uncompressed::numbered_ppm(pattern, size)?,
        Format::Ffmpeg(asked) => asked.workers(file(), size, fps, (transparent, &options.chapters))?,
    };
    pipeline::run(source, stages, stop, progress)
}

/// Like [`record`], into any writer: what `-` does with standard output. MP4 is fragmented then; Y4M and PPM are as they are in files.
///
/// # Errors
/// See [`RecordError`].
pub fn record_stream(
    source: &mut dyn FrameSource,
    (writer, format): (Box<dyn Write + Send>, &Format),
    options: &Options,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, RecordError> {
    check(source, format, options)?;
    let (size, fps) = (source.size(), options.fps);
    let stages = match format {
        Format::Y4m => uncompressed::y4m(Destination::to_stream(writer), size, fps)?,
        Format::Ppm => uncompressed::ppm(Destination::to_stream(writer), size),
        _ => video::to_stream(writer, size, fps)?,
    };
    pipeline::run(source, stages, stop, progress)
}

/// Whether a format takes pictures of `size` pixels, `fps` a second.
///
/// # Errors
/// What it takes.
pub fn check_format(format: &Format, (width, height): (u32, u32), fps: u32) -> Result<(), RecordError> {
    if !FPS.contains(&fps) {
        return Err(RecordError::FrameRate {
            fps,
            format: format.name().to_owned(),
            allowed: "give 1 to 120 to --output-framerate",
        });
    }
    match format {
        Format::Mp4 => h264::check_size(width, height)?,
        Format::Gif => gif::check(width, height, fps)?,
        _ => png::check_size(width, height)?,
    }
    Ok(())
}

fn check(source: &dyn FrameSource, format: &Format, options: &Options) -> Result<(), RecordError> {
    check_format(format, source.size(), options.fps)?;
    if options.transparent && !format.is_transparent() {
        return Err(RecordError::Opaque { format: format.name().to_owned() });
    }
    if source.frames() == 0 {
        return Err(RecordError::Empty);
    }
    Ok(())
}

/// A number that stands for a picture in tests of repeatability: FNV-1a with 64 bits (Fowler, Noll, Vo 1991), taken over
/// words of eight bytes, the rest padded with zeros. The same on every machine.
#[must_use]
pub fn frame_hash(rgba: &[u8]) -> u64 {
    let step = |hash: u64, word: u64| {
        // The product alone moves differences only upward; the fold brings high bits back down.
        let product = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        product ^ (product >> 47)
    };
    let (words, rest) = rgba.as_chunks::<8>();
    let hash = words.iter().fold(0xcbf2_9ce4_8422_2325, |h, w| step(h, u64::from_le_bytes(*w)));
    let mut tail = [0; 8];
    tail[..rest.len()].copy_from_slice(rest);
    step(step(hash, u64::from_le_bytes(tail)), rgba.len() as u64)
}
