//! One PNG a frame. Frames are independent, so several are compressed at once.

use super::RecordError;
use super::output::Pattern;
use super::pipeline::{Convert, Workers};
use super::uncompressed::Numbered;
use png::{BitDepth, ColorType, Compression, Encoder, EncodingError, Filter};
use std::io::Write;

/// More compressors than this only fight the renderer for cores.
const MAX_WORKERS: usize = 4;

/// Says whether pictures of this size can be written.
pub(crate) fn check_size(width: u32, height: u32) -> Result<(), RecordError> {
    if width == 0 || height == 0 {
        let allowed = "both sides must be 1 or more; choose another --size".to_owned();
        return Err(RecordError::Size { width, height, format: "PNG", allowed });
    }
    Ok(())
}

/// One picture, packed as small as that goes at once: tightly packed rows of RGBA, 8 bits each, sRGB, top row first.
///
/// # Errors
/// When it cannot be written, or `rgba` is not of that size.
#[cfg(feature = "cli")]
pub(crate) fn still(into: impl Write, rgba: &[u8], size: (u32, u32)) -> Result<(), EncodingError> {
    pack(into, rgba, size, ColorType::Rgba, Filter::Adaptive)
}

/// Packs pixels of three or four channels.
pub(super) fn pack(
    into: impl Write,
    pixels: &[u8],
    (width, height): (u32, u32),
    color: ColorType,
    filter: Filter,
) -> Result<(), EncodingError> {
    let mut encoder = Encoder::new(into, width, height);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    encoder.set_filter(filter);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()
}

/// PNGs named by `pattern`, whose folder must be there and writable.
pub(crate) fn to_files(pattern: &Pattern, size: (u32, u32), transparent: bool) -> Result<Workers, RecordError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let compress = || -> Box<dyn Convert> { Box::new(Compress { size, transparent, rgb: Vec::new() }) };
    let convert = (0..cores.clamp(1, MAX_WORKERS)).map(|_| compress()).collect();
    Ok(Workers { convert, encode: Box::new(Numbered::new(pattern)?) })
}

struct Compress {
    size: (u32, u32),
    transparent: bool,
    rgb: Vec<u8>,
}

impl Convert for Compress {
    fn convert(&mut self, rgba: &[u8], into: &mut Vec<u8>) -> Result<(), RecordError> {
        into.clear();
        let packed = if self.transparent {
            pack(into, rgba, self.size, ColorType::Rgba, Filter::Up)
        } else {
            // Opaque frames: three channels are a quarter less to pack, and nobody wonders about alpha.
            self.rgb.clear();
            self.rgb.extend(rgba.as_chunks::<4>().0.iter().flat_map(|p| [p[0], p[1], p[2]]));
            pack(into, &self.rgb, self.size, ColorType::Rgb, Filter::Up)
        };
        packed.map_err(|e| RecordError::Encoder { frame: 0, reason: e.to_string() })
    }
}
