//! Animated GIF: one palette from sample frames, then only what changes.
//!
//! A frame is stored as the smallest rectangle that holds all changed pixels, with unchanged pixels in it transparent (long
//! runs, which LZW packs well). Frames equal to the one before only lengthen it. GIF counts time in hundredths of a second;
//! starts are rounded from the exact time, so that a long clip does not drift.

use super::changes::changed;
use super::output::Partial;
use super::palette::{Histogram, Mapper};
use super::pipeline::{Convert, Encode, Workers, collect};
use super::{FrameSource, RecordError};
use gif::{DisposalMethod, Encoder, EncodingError, Frame, Repeat};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Frames that are drawn ahead to choose the palette.
const SAMPLES: u64 = 12;
/// Colours; the last index is for "unchanged".
const COLOURS: usize = 255;
const UNCHANGED: u8 = 255;

/// Says whether this size and rate fit a GIF.
pub(crate) fn check(width: u32, height: u32, fps: u32) -> Result<(), RecordError> {
    if fps > 50 {
        // Browsers and viewers slow frames of less than two hundredths down to ten.
        let allowed = "give 1 to 50 to --output-framerate; players slow faster GIFs down";
        return Err(RecordError::FrameRate { fps, format: "GIF".to_owned(), allowed });
    }
    if width == 0 || height == 0 || width.max(height) > u32::from(u16::MAX) {
        let allowed = "sides go from 1 to 65535; choose another --size".to_owned();
        return Err(RecordError::Size { width, height, format: "GIF", allowed });
    }
    Ok(())
}

/// Draws the samples, and readies the file that will be `path`.
pub(crate) fn to_file(
    path: &Path,
    source: &mut dyn FrameSource,
    fps: u32,
    stop: &AtomicBool,
) -> Result<Workers, RecordError> {
    let file = Partial::create(path)?;
    let palette = palette(source, stop)?;
    let (width, height) = source.size();
    let side = |n| u16::try_from(n).unwrap_or(u16::MAX);
    let fail = |e| encoding(path, 0, e);
    let mut encoder = Encoder::new(file, side(width), side(height), palette.as_flattened()).map_err(fail)?;
    encoder.set_repeat(Repeat::Infinite).map_err(fail)?;
    let convert = ToIndices(Mapper::new(&palette));
    let encode = Gif {
        encoder: Some(encoder),
        path: path.to_owned(),
        width: usize::from(side(width)),
        fps: u64::from(fps),
        before: Vec::new(),
        pending: None,
        frames: 0,
    };
    Ok(Workers { convert: vec![Box::new(convert)], encode: Box::new(encode) })
}

fn palette(source: &mut dyn FrameSource, stop: &AtomicBool) -> Result<Vec<[u8; 3]>, RecordError> {
    let mut histogram = Histogram::new();
    let mut rgba = Vec::new();
    let frames = source.frames();
    let samples = frames.min(SAMPLES);
    for n in 0..samples {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        // Spread over the clip, ends included.
        let frame = if samples == 1 { 0 } else { n * (frames - 1) / (samples - 1) };
        source.submit(frame).map_err(|source| RecordError::Frame { frame, source })?;
        collect(source, frame, &mut rgba)?;
        histogram.add(&rgba);
    }
    Ok(histogram.palette(COLOURS))
}

fn encoding(path: &Path, frame: u64, error: EncodingError) -> RecordError {
    match error {
        EncodingError::Io(e) => RecordError::io(path, "written", e),
        other => RecordError::Encoder { frame, reason: other.to_string() },
    }
}

struct ToIndices(Mapper);

impl Convert for ToIndices {
    fn convert(&mut self, rgba: &[u8], into: &mut Vec<u8>) -> Result<(), RecordError> {
        self.0.map(rgba, into);
        Ok(())
    }
}

/// A frame whose length is not known until the next one differs.
struct Pending {
    frame: Frame<'static>,
    /// Start in hundredths of a second.
    start: u64,
}

struct Gif {
    /// Taken by `finish`.
    encoder: Option<Encoder<Partial>>,
    path: PathBuf,
    width: usize,
    fps: u64,
    /// Indices of the frame before.
    before: Vec<u8>,
    pending: Option<Pending>,
    frames: u64,
}

impl Gif {
    /// Start of a frame in hundredths of a second, rounded.
    fn start(&self, frame: u64) -> u64 {
        (frame * 100 + self.fps / 2) / self.fps
    }

    /// The part of `now` that differs from the frame before, or `None` where nothing does.
    fn difference(&self, now: &[u8]) -> Option<Frame<'static>> {
        let side = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        let [left, top, width, height] = changed(now, &self.before, self.width)?;
        let rows = |of: &'_ [u8]| -> Vec<u8> {
            let rows = of.chunks_exact(self.width).skip(top).take(height);
            rows.flat_map(|row| &row[left..left + width]).copied().collect()
        };
        let mut buffer = rows(now);
        for (new, old) in buffer.iter_mut().zip(rows(&self.before)) {
            *new = if *new == old { UNCHANGED } else { *new };
        }
        Some(part((side(left), side(top)), (side(width), side(height)), buffer))
    }

    /// Writes the pending frame; it lasts until `end`.
    fn write_pending(&mut self, frame: u64, end: u64) -> Result<(), RecordError> {
        let (Some(mut pending), Some(encoder)) = (self.pending.take(), self.encoder.as_mut()) else { return Ok(()) };
        let mut left = end - pending.start;
        loop {
            let delay = u16::try_from(left).unwrap_or(u16::MAX);
            pending.frame.delay = delay;
            encoder.write_frame(&pending.frame).map_err(|e| encoding(&self.path, frame, e))?;
            left -= u64::from(delay);
            if left == 0 {
                return Ok(());
            }
            // Eleven minutes without a change: one pixel that changes nothing carries the rest.
            pending.frame = part((0, 0), (1, 1), vec![UNCHANGED]);
        }
    }
}

fn part((left, top): (u16, u16), (width, height): (u16, u16), buffer: Vec<u8>) -> Frame<'static> {
    Frame {
        left,
        top,
        width,
        height,
        buffer: buffer.into(),
        transparent: Some(UNCHANGED),
        dispose: DisposalMethod::Keep,
        ..Frame::default()
    }
}

impl Encode for Gif {
    fn encode(&mut self, frame: u64, data: &[u8]) -> Result<(), RecordError> {
        if let Some(difference) = self.difference(data) {
            let start = self.start(frame);
            self.write_pending(frame, start)?;
            self.pending = Some(Pending { frame: difference, start });
            self.before.clear();
            self.before.extend_from_slice(data);
        }
        self.frames = frame + 1;
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.encoder.as_ref().map_or(0, |e| e.get_ref().written())
    }

    fn finish(mut self: Box<Self>) -> Result<u64, RecordError> {
        self.write_pending(self.frames, self.start(self.frames))?;
        let Some(encoder) = self.encoder.take() else { return Ok(0) };
        let file = encoder.into_inner().map_err(|e| encoding(&self.path, self.frames, e))?;
        let bytes = file.written();
        file.commit(true)?;
        Ok(bytes)
    }
}
