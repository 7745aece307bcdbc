//! `orrery chart` and `orrery report`.

use super::{CacheArgs, TraceArgs, themes};
use crate::scene::palette::Theme;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What a chart shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChartKind {
    /// Misses of every cache size, the levels marked
    MissRatio,
    /// How often each stack distance occurred
    StackDistance,
    /// Misses of a level over time, by class
    Classes,
    /// Accesses and misses of each set of a level
    Sets,
    /// Which parts of which arrays are touched when
    Map,
    /// Whose references push whose lines out of a level
    Displaced,
}

const CHART_EXAMPLES: &str = "\
Examples:
  orrery chart t.orrery miss-ratio -o curve.svg
  orrery chart t.orrery classes --level L2 --theme print -o classes.svg
  orrery sweep t.orrery --vary L1.size=1KiB..64KiB --vary L1.ways=1,2,4,8 --l1 1KiB,1,64 --chart sweep.svg
  rsvg-convert curve.svg -o curve.png                   a PNG of it";

/// `chart`
#[derive(Debug, Clone, Args)]
#[command(after_help = CHART_EXAMPLES)]
pub struct ChartArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub trace: TraceArgs,
    /// What to draw
    #[arg(value_enum)]
    pub kind: ChartKind,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    /// File to write, .svg; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// The level, by name, that classes, sets and displaced look at; default: the innermost
    #[arg(long, value_name = "NAME")]
    pub level: Option<String>,
    /// Size in pixels; -1920x1080 says the same as --size 1920x1080
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size)]
    pub size: (u32, u32),
    /// dark, light or print (on white)
    #[arg(long, value_name = "THEME", default_value = "light", value_parser = themes())]
    pub theme: Theme,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  orrery report t.orrery -o report.html
  orrery report t.orrery --cache host -o report.html";

/// `report`
#[derive(Debug, Clone, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub trace: TraceArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    /// File to write: one page of HTML, complete by itself; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let side = |side: &str| side.parse().ok().filter(|side| (64..=16_384).contains(side));
    let sides = text.split_once(['x', 'X']).and_then(|(width, height)| Some((side(width)?, side(height)?)));
    sides.ok_or_else(|| "expected width and height of 64 to 16384 pixels, as in 1280x720".into())
}
