//! `view`, and what only it has.

use super::{CacheArgs, PictureArgs, TraceArgs, clocks};
use crate::axis::Position;
use crate::timeline::ClockKind;
use clap::{Args, ValueEnum};

/// `view`
#[derive(Debug, Clone, Args)]
pub struct ViewArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub trace: TraceArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    /// Exhibits to open with, a pane each: side by side by commas, below each other by slashes, such as `rings,source/numbers`; with
    /// shares of width and height `60:rings:70/chart:30,40:source`; `A.tiles` shows what --against names. The list of exhibits is below
    #[arg(long, value_name = "A,B/C", value_delimiter = ',', conflicts_with_all = ["view", "layout"])]
    pub panes: Vec<String>,
    /// Panes and size of type that go together
    #[arg(long, value_enum, conflicts_with = "view")]
    pub layout: Option<LayoutName>,
    /// References a second at the start, or what --clock counts
    #[arg(short, long, value_name = "REFS/S", allow_negative_numbers = true)]
    pub speed: Option<f64>,
    /// What time stands for: references, misses, cycles (the caches' latencies), adaptive (slow near misses)
    #[arg(long, value_name = "CLOCK", default_value = "references", value_parser = clocks())]
    pub clock: ClockKind,
    /// Moment to open at
    #[arg(long, value_name = "N[.F]", default_value = "0", allow_negative_numbers = true)]
    pub tick: Position,
    /// Play from this moment
    #[arg(long = "in", value_name = "N[.F]", allow_negative_numbers = true)]
    pub in_point: Option<Position>,
    /// Play up to this moment
    #[arg(long = "out", value_name = "N[.F]", allow_negative_numbers = true)]
    pub out_point: Option<Position>,
    /// Play over and over
    #[arg(long = "loop")]
    pub over_and_over: bool,
    /// Begin as the window of this trace was left the last time; other flags go before that
    #[arg(long)]
    pub resume: bool,
    /// Start playing at once
    #[arg(long)]
    pub play: bool,
    /// Compile and run the programs that a storyboard names
    #[arg(long)]
    pub allow_run: bool,
    /// Say also how the index came about, and at the end what frames sent to the GPU
    #[arg(short, long)]
    pub verbose: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub picture: PictureArgs,
}

/// `--layout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LayoutName {
    /// The rings alone, large type
    Lecture,
    /// Rings, chart, source lines and numbers
    Engineer,
    /// The caches before, those of now, and what differs
    Compare,
}

/// Sizes of type, times the usual one.
const SIZES: std::ops::RangeInclusive<f32> = 0.75..=3.0;

/// `--text-scale`.
pub(super) fn text_scale(text: &str) -> Result<f32, String> {
    let scale = text.parse().ok().filter(|scale| SIZES.contains(scale));
    scale.ok_or_else(|| format!("expected a number from {} to {}, such as 1.5", SIZES.start(), SIZES.end()))
}
