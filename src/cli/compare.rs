//! `orrery compare`.

use super::{CacheArgs, formats};
use crate::chart::ChartKind;
use crate::trace::Format;
use clap::Args;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;
use std::path::PathBuf;

const COMPARE_EXAMPLES: &str = "\
Examples:
  orrery compare before.orrery after.orrery                    two traces, under the same caches
  orrery compare t.orrery --cache paper --with textbook        one trace under two caches
  orrery compare before.orrery after.orrery --level L2 --rows 50 --csv
  orrery compare before.orrery after.orrery --chart curves.svg          the miss-ratio curves of both, in one chart
  orrery compare before.orrery after.orrery --chart sets.png --chart-kind sets";

/// `compare`
#[derive(Debug, Clone, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct CompareArgs {
    /// The first trace
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// The second trace; without it, the first once more under the caches of --with
    #[arg(value_name = "B", required_unless_present = "with")]
    pub b: Option<PathBuf>,
    /// Format of the traces, where their content does not tell (see `orrery formats`)
    #[arg(long, value_parser = formats())]
    pub format: Option<Format>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    /// Caches of the second: a preset, `host` or a TOML file; default: those of the first
    #[arg(long, value_name = "PRESET|FILE")]
    pub with: Option<String>,
    /// The level, by name, whose misses order regions and lines; default: the innermost
    #[arg(long, value_name = "NAME")]
    pub level: Option<String>,
    /// Regions and lines that are printed, those that differ most
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rows: usize,
    /// Draw both over each other, too; .svg or .png
    #[arg(long, value_name = "FILE")]
    pub chart: Option<PathBuf>,
    /// What that chart shows; the level of classes and sets is that of --level
    #[arg(long, value_name = "KIND", default_value = "miss-ratio", requires = "chart", value_parser = overlaid())]
    pub chart_kind: ChartKind,
    /// Print JSON: all counters, regions and lines
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print CSV: table, name, counter, a, b, difference
    #[arg(long)]
    pub csv: bool,
}

/// The charts that two runs have over each other.
fn overlaid() -> impl clap::builder::TypedValueParser<Value = ChartKind> {
    PossibleValuesParser::new(
        ChartKind::OVERLAID.map(|kind| clap::builder::PossibleValue::new(kind.name()).help(kind.what())),
    )
    .try_map(|name| ChartKind::OVERLAID.into_iter().find(|kind| kind.name() == name).ok_or("no chart of two runs"))
}
