//! Frames as they are, for other programs: Y4M (YUV4MPEG2, as the MJPEG tools define it) and PPM (Netpbm, `P6`).
//!
//! ```text
//! Y4M   YUV4MPEG2 W1280 H720 F30:1 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED\n   then for each frame:  FRAME\n  Y U V
//! PPM   for each frame:  P6\n1280 720\n255\n  R G B R G B ...
//! ```
//!
//! Both may be files or streams. Y4M has the planes that the MP4 is encoded from (BT.709, limited range, 4:2:0), PPM has the pixels.

use super::RecordError;
use super::destination::Destination;
use super::output::Partial;
use super::output::Pattern;
use super::pipeline::{Convert, Encode, Workers};
use super::yuv::Planes;

/// Y4M into `destination`.
pub(crate) fn y4m(mut destination: Destination, (width, height): (u32, u32), fps: u32) -> Result<Workers, RecordError> {
    let planes = Planes::new(width as usize, height as usize);
    let (w, h) = (planes.width, planes.height);
    destination.put(format!("YUV4MPEG2 W{w} H{h} F{fps}:1 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED\n").as_bytes())?;
    Ok(Workers { convert: vec![Box::new(ToY4m(planes, Vec::new()))], encode: Box::new(Append(destination)) })
}

/// PPM, one picture behind the other, into `destination`.
pub(crate) fn ppm(destination: Destination, size: (u32, u32)) -> Workers {
    Workers { convert: vec![Box::new(ToPpm(size))], encode: Box::new(Append(destination)) }
}

/// One PPM a frame, named by `pattern`.
///
/// # Errors
/// Where the folder cannot be written to.
pub(crate) fn numbered_ppm(pattern: &Pattern, size: (u32, u32)) -> Result<Workers, RecordError> {
    Ok(Workers { convert: vec![Box::new(ToPpm(size))], encode: Box::new(Numbered::new(pattern)?) })
}

struct ToY4m(Planes, Vec<u8>);

impl Convert for ToY4m {
    fn convert(&mut self, rgba: &[u8], into: &mut Vec<u8>) -> Result<(), RecordError> {
        self.0.convert(rgba, &mut self.1);
        into.clear();
        into.extend_from_slice(b"FRAME\n");
        into.extend_from_slice(&self.1);
        Ok(())
    }
}

struct ToPpm((u32, u32));

impl Convert for ToPpm {
    fn convert(&mut self, rgba: &[u8], into: &mut Vec<u8>) -> Result<(), RecordError> {
        let (width, height) = self.0;
        into.clear();
        into.extend_from_slice(format!("P6\n{width} {height}\n255\n").as_bytes());
        into.extend(rgba.as_chunks::<4>().0.iter().flat_map(|p| [p[0], p[1], p[2]]));
        Ok(())
    }
}

/// One frame behind the other.
struct Append(Destination);

impl Encode for Append {
    fn encode(&mut self, _: u64, data: &[u8]) -> Result<(), RecordError> {
        self.0.put(data)
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn finish(self: Box<Self>) -> Result<u64, RecordError> {
        self.0.commit()
    }
}

/// One file a frame, each whole.
pub(crate) struct Numbered {
    pattern: Pattern,
    bytes: u64,
}

impl Numbered {
    /// Files named by `pattern`.
    ///
    /// # Errors
    /// Where the folder is not there or not writable.
    pub(crate) fn new(pattern: &Pattern) -> Result<Self, RecordError> {
        // Says what is wrong with the folder before anything is drawn; the file is gone at once.
        drop(Partial::create(&pattern.path(0))?);
        Ok(Self { pattern: pattern.clone(), bytes: 0 })
    }
}

impl Encode for Numbered {
    fn encode(&mut self, frame: u64, data: &[u8]) -> Result<(), RecordError> {
        let path = self.pattern.path(frame);
        let mut file = Partial::create(&path)?;
        std::io::Write::write_all(&mut file, data).map_err(|e| RecordError::io(&path, "written", e))?;
        file.commit(false)?;
        self.bytes += data.len() as u64;
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn finish(self: Box<Self>) -> Result<u64, RecordError> {
        Ok(self.bytes)
    }
}
