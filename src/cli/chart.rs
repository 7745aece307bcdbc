//! `orrery chart` and `orrery report`.

use super::{CacheArgs, TraceArgs, themes};
use crate::chart::ChartKind;
use crate::scene::palette::Theme;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

impl ValueEnum for ChartKind {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.what()))
    }
}

const CHART_EXAMPLES: &str = "\
Examples:
  orrery chart t.orrery miss-ratio -o curve.svg
  orrery chart t.orrery classes --level L2 --theme print -o classes.svg
  orrery sweep t.orrery --vary L1.size=1KiB..64KiB --vary L1.ways=1,2,4,8 --l1 1KiB,1,64 --chart sweep.svg
  orrery chart t.orrery map -1920x1080 -o map.png       as pixels
  orrery snapshot t.orrery --view map -o map.pdf        the same as a PDF, with the strip below";

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
    /// File to write, .svg or .png; `-` is an SVG on standard output
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

pub(super) fn size(text: &str) -> Result<(u32, u32), String> {
    let side = |side: &str| side.parse().ok().filter(|side| (64..=16_384).contains(side));
    let sides = text.split_once(['x', 'X']).and_then(|(width, height)| Some((side(width)?, side(height)?)));
    sides.ok_or_else(|| "expected width and height of 64 to 16384 pixels, as in 1280x720".into())
}
