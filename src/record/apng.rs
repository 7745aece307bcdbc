//! Animated PNG (PNG, third edition, W3C 2025): all colours, and transparency where it is asked for.
//!
//! ```text
//! signature IHDR acTL  fcTL IDAT  fcTL fdAT  fcTL fdAT ...  IEND
//! ```
//!
//! A frame holds the smallest rectangle of what changed; one that changes nothing makes the one before it last longer. How many frames
//! there are is written at the end, into the place that was left for it in front.

use super::RecordError;
use super::changes::changed;
use super::output::Partial;
use super::pipeline::{Convert, Encode, Workers};
use super::png::pack;
use png::{ColorType, Filter};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
/// Where `acTL` stands: behind the signature and `IHDR`.
const COUNT_AT: u64 = 8 + 25;
/// Numbers before the pixels of a rectangle: left, top, width, height.
const HEAD: usize = 16;

/// The file that will be `path`.
pub(crate) fn to_file(path: &Path, size: (u32, u32), fps: u32, transparent: bool) -> Result<Workers, RecordError> {
    let mut file = Partial::create(path)?;
    let colors: u8 = if transparent { 6 } else { 2 };
    let mut header = [size.0.to_be_bytes(), size.1.to_be_bytes()].concat();
    header.extend_from_slice(&[8, colors, 0, 0, 0]);
    let begin = |file: &mut Partial| {
        file.write_all(&SIGNATURE)?;
        file.write_all(&chunk(*b"IHDR", &header))?;
        file.write_all(&count(0))
    };
    begin(&mut file).map_err(|e| RecordError::io(path, "written", e))?;
    let convert = Changes { size, transparent, before: Vec::new(), part: Vec::new() };
    let encode = Apng { file: Some(file), path: path.to_owned(), fps, frames: 0, last: 0, number: 0, pending: None };
    Ok(Workers { convert: vec![Box::new(convert)], encode: Box::new(encode) })
}

/// `acTL`: so many frames, for ever.
fn count(frames: u32) -> Vec<u8> {
    chunk(*b"acTL", &[frames.to_be_bytes(), 0_u32.to_be_bytes()].concat())
}

fn chunk(kind: [u8; 4], body: &[u8]) -> Vec<u8> {
    let mut out = u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes().to_vec();
    out.extend_from_slice(&kind);
    out.extend_from_slice(body);
    let sum = crc32fast::hash(&out[4..]);
    out.extend_from_slice(&sum.to_be_bytes());
    out
}

/// Frames to the packed rectangle of what changed; nothing where nothing did.
struct Changes {
    size: (u32, u32),
    transparent: bool,
    before: Vec<u8>,
    part: Vec<u8>,
}

impl Convert for Changes {
    fn convert(&mut self, rgba: &[u8], into: &mut Vec<u8>) -> Result<(), RecordError> {
        into.clear();
        let (across, pixels_now) = (self.size.0 as usize, rgba.as_chunks::<4>().0);
        let Some(place) = changed(pixels_now, self.before.as_chunks::<4>().0, across) else { return Ok(()) };
        let [left, top, width, height] = place;
        self.part.clear();
        for line in pixels_now.chunks_exact(across).skip(top).take(height) {
            let line = &line[left..left + width];
            match self.transparent {
                true => self.part.extend_from_slice(line.as_flattened()),
                false => self.part.extend(line.iter().flat_map(|p| [p[0], p[1], p[2]])),
            }
        }
        let place = place.map(|side| u32::try_from(side).unwrap_or(u32::MAX));
        let color = if self.transparent { ColorType::Rgba } else { ColorType::Rgb };
        let mut packed = Vec::new();
        pack(&mut packed, &self.part, (place[2], place[3]), color, Filter::Up)
            .map_err(|e| RecordError::Encoder { frame: 0, reason: e.to_string() })?;
        into.extend(place.iter().flat_map(|n| n.to_be_bytes()));
        into.extend(pixels(&packed));
        self.before.clear();
        self.before.extend_from_slice(rgba);
        Ok(())
    }
}

/// The content of all `IDAT` chunks of a PNG that [`pack`] made.
fn pixels(png: &[u8]) -> Vec<u8> {
    let (mut data, mut rest) = (Vec::new(), &png[SIGNATURE.len()..]);
    while let Some((len, tail)) = rest.split_first_chunk::<4>() {
        let len = u32::from_be_bytes(*len) as usize;
        if tail.starts_with(b"IDAT") {
            data.extend_from_slice(&tail[4..4 + len]);
        }
        rest = &tail[len + 8..];
    }
    data
}

struct Apng {
    /// Taken by `finish`.
    file: Option<Partial>,
    path: PathBuf,
    fps: u32,
    /// Frames written to the file.
    frames: u32,
    /// Frames that came.
    last: u64,
    /// Of the next `fcTL` or `fdAT`.
    number: u32,
    /// What is shown from this frame on, until the next that differs.
    pending: Option<(u64, Vec<u8>)>,
}

impl Apng {
    /// Writes the pending frame; it is shown until frame `end`.
    fn write_pending(&mut self, end: u64) -> Result<(), RecordError> {
        let (Some((start, data)), Some(file)) = (self.pending.take(), self.file.as_mut()) else { return Ok(()) };
        let (head, pixels) = data.split_at(HEAD);
        let mut left = end - start;
        let mut write = |bytes: &[u8]| file.write_all(bytes).map_err(|e| RecordError::io(&self.path, "written", e));
        let mut show = |number: &mut u32, head: &[u8], pixels: &[u8], frames: u64| {
            let [num, den] = [frames, u64::from(self.fps)].map(|n| u16::try_from(n).unwrap_or(u16::MAX).to_be_bytes());
            // Width and height come before the corner here; what is shown stays, and it replaces what was there.
            let control = [&number.to_be_bytes(), &head[8..], &head[..8], &num, &den, &[0, 0]].concat();
            *number += 1;
            write(&chunk(*b"fcTL", &control))?;
            match *number {
                1 => write(&chunk(*b"IDAT", pixels)),
                _ => {
                    let body = [&number.to_be_bytes(), pixels].concat();
                    *number += 1;
                    write(&chunk(*b"fdAT", &body))
                }
            }
        };
        // What nothing changes for longer than a delay can say is shown again.
        while left > 0 {
            let now = left.min(u64::from(u16::MAX));
            show(&mut self.number, head, pixels, now)?;
            self.frames += 1;
            left -= now;
        }
        Ok(())
    }
}

impl Encode for Apng {
    fn encode(&mut self, frame: u64, data: &[u8]) -> Result<(), RecordError> {
        if !data.is_empty() {
            self.write_pending(frame)?;
            self.pending = Some((frame, data.to_vec()));
        }
        self.last = frame + 1;
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.file.as_ref().map_or(0, Partial::written)
    }

    fn finish(mut self: Box<Self>) -> Result<u64, RecordError> {
        self.write_pending(self.last)?;
        let Some(mut file) = self.file.take() else { return Ok(0) };
        let mut end = || {
            file.write_all(&chunk(*b"IEND", &[]))?;
            file.flush()?;
            file.seek(SeekFrom::Start(COUNT_AT))?;
            file.write_all(&count(self.frames))
        };
        end().map_err(|e| RecordError::io(&self.path, "written", e))?;
        let bytes = file.written() - count(0).len() as u64;
        file.commit(true)?;
        Ok(bytes)
    }
}
