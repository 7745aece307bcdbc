//! H.264 by OpenH264, set for thin bright lines on a dark ground.
//!
//! Measured on 60 frames of 1280x720 with antialiased lines, dots and text, on a 2-core machine with the encoder built without
//! assembler (single runs; repeats took up to a quarter longer):
//!
//! | Usage, complexity, quantizer | ms a frame | Mbit/s | PSNR of Y | of bright Y |
//! |---|---|---|---|---|
//! | camera, low, 26 | 6.1 | 2.6 | 40.6 dB | 35.3 dB |
//! | camera, low, 22 | 6.0 | 3.7 | 44.3 dB | 39.4 dB |
//! | camera, low, 20 | 6.1 | 4.3 | 46.0 dB | 41.3 dB |
//! | **camera, low, 18** | **6.2** | **5.0** | **47.6 dB** | **43.1 dB** |
//! | camera, medium, 20 | 7.6 | 4.2 | 46.0 dB | 41.3 dB |
//! | screen, low, 22 | 25.6 | 3.6 | 44.3 dB | 39.3 dB |
//!
//! With `nasm` on the machine that builds, the encoder gets its SIMD routines: 3.0 to 3.6 ms for the
//! same pictures and the same bytes a frame at quantizer 20, and 4.1 in place of 10.6 ms where the whole picture pans.
//!
//! "Screen" searches whole frames for text that scrolled, which is time lost here. The quantizer is held fixed: lines stay as
//! crisp in a busy moment as in a quiet one, and a quiet moment costs next to nothing. (Of the encoder's rate controls
//! only "buffer-based" takes a fixed quantizer without printing a warning to standard error.) One thread a group, because
//! slices would be the only way to use more: see [`super::groups`].

use super::RecordError;
use super::mp4::Track;
use super::yuv::Planes;
use openh264::OpenH264API;
use openh264::encoder::{
    BitRate, Complexity, Encoder, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, Level, QpRange,
    RateControlMode, UsageType, VuiConfig,
};
use openh264::formats::YUVSlices;

/// The quantizer of every macroblock, 12 (fine) to 51.
const QP: u8 = 18;
/// Asked for by the encoder and not used with a fixed quantizer; so low that it raises no level.
const NOMINAL_RATE: BitRate = BitRate::from_bps(64_000);
/// What the encoder accepts: either way round.
const LONGEST: u32 = 3840;
const SHORTEST_OF_LONGEST: u32 = 2160;
const SMALLEST: u32 = 16;

/// H.264 (2021), table A-1: level, macroblocks a second, macroblocks a frame.
const LEVELS: [(Level, u32, u32); 17] = [
    (Level::Level_1_0, 1_485, 99),
    (Level::Level_1_1, 3_000, 396),
    (Level::Level_1_2, 6_000, 396),
    (Level::Level_1_3, 11_880, 396),
    (Level::Level_2_0, 11_880, 396),
    (Level::Level_2_1, 19_800, 792),
    (Level::Level_2_2, 20_250, 1_620),
    (Level::Level_3_0, 40_500, 1_620),
    (Level::Level_3_1, 108_000, 3_600),
    (Level::Level_3_2, 216_000, 5_120),
    (Level::Level_4_0, 245_760, 8_192),
    (Level::Level_4_1, 245_760, 8_192),
    (Level::Level_4_2, 522_240, 8_704),
    (Level::Level_5_0, 589_824, 22_080),
    (Level::Level_5_1, 983_040, 36_864),
    (Level::Level_5_2, 2_073_600, 36_864),
    // Beyond the table; decoders in software play it all the same.
    (Level::Level_5_2, u32::MAX, 36_864),
];

/// Says whether pictures of this size can be encoded.
pub(crate) fn check_size(width: u32, height: u32) -> Result<(), RecordError> {
    let (long, short) = (width.max(height), width.min(height));
    if short >= SMALLEST && long <= LONGEST && short <= SHORTEST_OF_LONGEST {
        return Ok(());
    }
    let allowed = format!(
        "its encoder takes {SMALLEST}x{SMALLEST} to {LONGEST}x{SHORTEST_OF_LONGEST} or {SHORTEST_OF_LONGEST}x{LONGEST}; \
         choose such a --size, or write PNGs (-o frames/%05d.png)"
    );
    Err(RecordError::Size { width, height, format: "MP4", allowed })
}

/// The lowest level whose limits hold a picture and rate.
fn level(planes: &Planes, fps: u32) -> Level {
    let blocks = |n: usize| u32::try_from(n.div_ceil(16)).unwrap_or(u32::MAX);
    let (across, down) = (blocks(planes.width), blocks(planes.height));
    let frame = across.saturating_mul(down);
    let fits = |&&(_, second, most): &&(Level, u32, u32)| {
        // No side may be longer than sqrt(8 * frame limit).
        frame <= most && frame.saturating_mul(fps) <= second && across.max(down).pow(2) <= 8 * most
    };
    LEVELS.iter().find(fits).map_or(Level::Level_5_2, |l| l.0)
}

/// What was made of a picture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coded {
    /// Its number.
    pub(crate) frame: u64,
    /// NAL units, each behind its length.
    pub(crate) data: Vec<u8>,
    /// Whether it needs no other.
    pub(crate) key: bool,
    /// The parameter sets, where it brought some: each group does.
    pub(crate) sets: Option<(Vec<u8>, Vec<u8>)>,
}

/// Encodes I420 pictures of one size: of each group one after the other.
pub(crate) struct H264 {
    /// That of the group under way: a new one for each, so that no group knows of another.
    encoder: Option<Encoder>,
    planes: Planes,
    fps: u32,
    last: Coded,
}

impl H264 {
    pub(crate) fn new(planes: Planes, fps: u32) -> Self {
        Self { encoder: None, planes, fps, last: Coded::default() }
    }

    fn begin(&self, frame: u64) -> Result<Encoder, RecordError> {
        let config = EncoderConfig::new()
            .usage_type(UsageType::CameraVideoRealTime)
            .complexity(Complexity::Low)
            .rate_control_mode(RateControlMode::Bufferbased)
            .qp(QpRange::new(QP, QP))
            .bitrate(NOMINAL_RATE)
            .max_frame_rate(FrameRate::from_hz(fps_f32(self.fps)))
            .intra_frame_period(IntraFramePeriod::from_num_frames(self.planes.group(self.fps)))
            .level(level(&self.planes, self.fps))
            .skip_frames(false)
            .scene_change_detect(false)
            .adaptive_quantization(false)
            .background_detection(false)
            .num_threads(1)
            .vui(VuiConfig::bt709());
        Encoder::with_api_config(OpenH264API::from_source(), config)
            .map_err(|e| RecordError::Encoder { frame, reason: e.to_string() })
    }

    /// Encodes a picture: any that begins a group, or the one after the last.
    pub(crate) fn encode(&mut self, frame: u64, i420: &[u8]) -> Result<&Coded, RecordError> {
        let fault = |reason: String| RecordError::Encoder { frame, reason };
        let (w, h) = (self.planes.width, self.planes.height);
        let source = YUVSlices::new(self.planes.split(i420), (w, h), (w, w / 2, w / 2));
        if self.encoder.is_none() || frame.is_multiple_of(u64::from(self.planes.group(self.fps))) {
            self.encoder = Some(self.begin(frame)?);
        }
        let Some(encoder) = &mut self.encoder else { return Err(fault("it has no encoder".to_owned())) };
        let bits = encoder.encode(&source).map_err(|e| fault(e.to_string()))?;
        let coded = &mut self.last;
        (coded.frame, coded.key) = (frame, matches!(bits.frame_type(), FrameType::IDR));
        coded.data.clear();
        let (mut sps, mut pps) = (None, None);
        let layers = (0..bits.num_layers()).filter_map(|n| bits.layer(n));
        for layer in layers {
            for nal in (0..layer.nal_count()).filter_map(|n| layer.nal_unit(n)) {
                let nal = without_start_code(nal);
                match nal.first().map(|b| b & 0x1f) {
                    Some(7) => sps = Some(nal.to_vec()),
                    Some(8) => pps = Some(nal.to_vec()),
                    Some(_) => {
                        let len = u32::try_from(nal.len()).map_err(|_| fault("a slice of 4 GiB".to_owned()))?;
                        coded.data.extend_from_slice(&len.to_be_bytes());
                        coded.data.extend_from_slice(nal);
                    }
                    None => {}
                }
            }
        }
        coded.sets = sps.zip(pps);
        if coded.data.is_empty() {
            return Err(fault("the encoder gave no picture".to_owned()));
        }
        Ok(&self.last)
    }
}

/// What the container must say of pictures that came with these parameter sets.
///
/// # Errors
/// Where they are none.
pub(crate) fn track(planes: &Planes, fps: u32, coded: &Coded) -> Result<Track, RecordError> {
    let Some((sps, pps)) = coded.sets.clone().filter(|(sps, _)| sps.len() >= 4) else {
        return Err(RecordError::Encoder { frame: coded.frame, reason: "it gave no parameter sets".to_owned() });
    };
    let side = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
    let (width, height) = (side(planes.width), side(planes.height));
    Ok(Track { width, height, fps, sps, pps, group: planes.group(fps) })
}

/// Frame rates are at most 120, which `f32` holds exactly.
fn fps_f32(fps: u32) -> f32 {
    f32::from(u16::try_from(fps).unwrap_or(u16::MAX))
}

fn without_start_code(nal: &[u8]) -> &[u8] {
    nal.strip_prefix(&[0, 0, 0, 1]).or_else(|| nal.strip_prefix(&[0, 0, 1])).unwrap_or(nal)
}
