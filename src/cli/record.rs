//! `record`: a range of a trace, or a storyboard, to which file and how.

use super::{CacheArgs, PictureArgs, RefineArgs, StoryArgs, TraceArgs, clocks};
use crate::timeline::ClockKind;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;

/// `--seconds` where it is not given.
pub const SECONDS: f64 = 30.0;
/// Formats that `--to` names.
const FORMATS: [&str; 6] = ["mp4", "gif", "apng", "png", "y4m", "ppm"];

const RECORD_EXAMPLES: &str = "\
Examples:
  orrery record t.orrery -o f.mp4                    the whole trace in 30 seconds
  orrery record t.orrery -o f.mp4 --speed 4 --start-ref 2600 --stop-ref 2650
  orrery record t.orrery -o f.gif -640x360 -r 20 --seconds 8
  orrery record t.orrery -o frames/%05d.png          numbered pictures, lossless
  orrery record t.orrery -o f.webm --audio voice.wav another format with narration, by ffmpeg
  orrery record t.orrery -o f.mov --encoder 'prores_ks -profile:v 3'
  orrery record t.orrery -o - | ffplay -             as it is made
  orrery record t.orrery -o - --to y4m | x264 --demuxer y4m - -o f.mkv
  orrery record lesson.story.toml -o lesson.mp4      a storyboard: scenes, captions, questions
  orrery record story:why-columns-miss -o f.mp4      a bundled one

Ctrl-C ends a recording early and leaves a whole file of what was recorded;
before the first frame there is none, and the exit code is 130.";

/// How frames become a file.
#[derive(Debug, Clone, Default, Args)]
pub struct FinishArgs {
    /// Format, where the name of the file does not say it
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(FORMATS))]
    pub to: Option<String>,
    /// Let the installed ffmpeg encode the film, by this one of its encoders and with these options, such as 'libx264 -crf 0'
    #[arg(long, value_name = "ENCODER", allow_hyphen_values = true)]
    pub encoder: Option<String>,
    /// Sound that goes with the pictures, such as a narration; the installed ffmpeg writes the file. Where the sound is shorter, silence follows
    #[arg(long, value_name = "FILE")]
    pub audio: Option<PathBuf>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub refine: RefineArgs,
    /// A quick look: half the size, at most 10 frames a second
    #[arg(long)]
    pub preview: bool,
    /// Show flashes as they are: else no more than three large ones a second, which can be dangerous to people with photosensitive epilepsy
    #[arg(long)]
    pub any_flashes: bool,
    /// Write beside the file, as NAME.manifest.json, from what it was made: version, command, trace and its digest, caches, adapter
    #[arg(long)]
    pub manifest: bool,
}

/// `record`
#[derive(Debug, Args)]
#[command(after_help = RECORD_EXAMPLES)]
pub struct RecordArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub trace: TraceArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    /// File to write: .mp4, .gif, .apng, .y4m, .ppm, a pattern such as frames/%05d.png, or what an installed ffmpeg writes: .webm, .mkv,
    /// .mov, .avi, .webp; `-` is standard output, MP4 where --to says nothing else
    #[arg(
        short,
        long,
        value_name = "FILE",
        required = false,
        default_value_if("dry_run", "true", "-"),
        required_unless_present = "dry_run"
    )]
    pub output: PathBuf,
    /// Say also what the index holds and what a frame sends to the GPU
    #[arg(short, long)]
    pub verbose: bool,
    /// Frames a second, 1 to 120; 30 where nothing else is said
    #[arg(short = 'r', long, value_name = "FPS")]
    pub output_framerate: Option<u32>,
    /// References a second, or what --clock counts; default: so that the range lasts --seconds
    #[arg(short, long, value_name = "REFS/S", allow_negative_numbers = true)]
    pub speed: Option<f64>,
    /// What time stands for: references, misses, cycles (the caches' latencies), adaptive (slow near misses)
    #[arg(long, value_name = "CLOCK", default_value = "references", value_parser = clocks())]
    pub clock: ClockKind,
    /// Length of the clip where --speed is not given
    #[arg(long, default_value_t = SECONDS, allow_negative_numbers = true)]
    pub seconds: f64,
    /// First reference
    #[arg(long, value_name = "N", conflicts_with = "start_position")]
    pub start_ref: Option<u64>,
    /// One past the last reference
    #[arg(long, value_name = "N", conflicts_with = "stop_position")]
    pub stop_ref: Option<u64>,
    /// Start as a share of the trace, 0 to 1
    #[arg(short = 'p', long, value_name = "0..1", allow_negative_numbers = true)]
    pub start_position: Option<f64>,
    /// End as a share of the trace, 0 to 1
    #[arg(long, value_name = "0..1", allow_negative_numbers = true)]
    pub stop_position: Option<f64>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub finish: FinishArgs,
    #[command(flatten, next_help_heading = "Storyboards")]
    #[expect(missing_docs, reason = "flattened group")]
    pub story: StoryArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub picture: PictureArgs,
}
