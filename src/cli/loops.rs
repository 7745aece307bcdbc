//! `orrery loops`.

use super::chart::size;
use super::themes;
use crate::analysis::{Fold, HeatScale};
use crate::chart::NodeHeat;
use crate::nest::Settings;
use crate::scene::palette::Theme;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const LOOPS_EXAMPLES: &str = "\
Examples:
  orrery loops loops:matmul --set N=64 --capacity 8,512     a bundled nest at another size
  orrery loops mm.loops --line 64 --capacity 8 --json       the numbers as data
  orrery loops mm.sdfg --set N=16 --set M=16 --set K=16     a graph of DaCe
  orrery loops row.loops column.loops --compare             what a change of layout or order is worth
  orrery loops loops:hdiff --at 4711                        which iteration makes that access
  orrery loops mm.sdfg --set N=64 --graph mm.svg            containers, loops and tasks, and what moves between them
  orrery loops loops:matmul --volumes                       the same as expressions in the parameters, in a table
  orrery stats 'mm.loops?N=64' --cache skylake-sp           the same accesses under a real hierarchy";

impl ValueEnum for HeatScale {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.what()))
    }
}

impl ValueEnum for Fold {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.what()))
    }
}

impl ValueEnum for NodeHeat {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.what()))
    }
}

/// `loops`
#[derive(Debug, Clone, Args)]
#[command(after_help = LOOPS_EXAMPLES)]
pub struct LoopsArgs {
    /// A .loops file, an .sdfg or .sdfgz of DaCe, or loops:NAME for a bundled one; two with --compare
    #[arg(required = true, num_args = 1..=2, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Value of a parameter or symbol
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = Settings::pair)]
    pub set: Vec<(String, i64)>,
    /// Bytes of a line, a power of two
    #[arg(long, value_name = "BYTES", default_value_t = 64, value_parser = line_bytes)]
    pub line: u32,
    /// Lines of fully associative LRU caches whose misses are told
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    pub capacity: Vec<u64>,
    /// Count transient containers, too: those that live inside only, which are taken for registers otherwise
    #[arg(long)]
    pub transients: bool,
    /// Two files side by side: lines, misses and bytes, and their difference
    #[arg(long)]
    pub compare: bool,
    /// Tell the iteration of one access, by its number, the first being 0
    #[arg(long, value_name = "ACCESS", conflicts_with_all = ["compare", "json"])]
    pub at: Option<u64>,
    /// Print JSON: {"line", "accesses", "cold", "histogram": [[distance, count], ...], "containers": {"A": {...}}}
    #[allow(rustdoc::broken_intra_doc_links, reason = "words of the help, where brackets are brackets")]
    #[arg(long)]
    pub json: bool,
    /// Tell how much each part moves and computes, as expressions in the parameters; with --json each node and edge of the graph
    #[arg(long, conflicts_with_all = ["compare", "at", "capacity", "transients"])]
    pub volumes: bool,
    /// Draw the dataflow as a graph into this file, .svg or .png; `-` is an SVG on standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["compare", "at", "json", "volumes"], help_heading = "Pictures")]
    pub graph: Option<PathBuf>,
    /// How amounts become colours
    #[arg(long, value_enum, requires = "graph", default_value = "mean", help_heading = "Pictures")]
    pub scale: HeatScale,
    /// What the colours of loops and tasks tell
    #[arg(long, value_enum, requires = "graph", default_value = "volume", help_heading = "Pictures")]
    pub boxes: NodeHeat,
    /// What becomes one box; default: the finest that can be read
    #[arg(long, value_enum, help_heading = "Pictures")]
    pub fold: Option<Fold>,
    /// Size in pixels; -1920x1080 says the same as --size 1920x1080
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size, requires = "graph", help_heading = "Pictures")]
    pub size: (u32, u32),
    /// dark, light or print (on white)
    #[arg(long, value_name = "THEME", default_value = "dark", value_parser = themes(), requires = "graph", help_heading = "Pictures")]
    pub theme: Theme,
}

fn line_bytes(text: &str) -> Result<u32, String> {
    let bytes = text.parse().ok().filter(|bytes| crate::analysis::line_shift(*bytes).is_some());
    bytes.ok_or_else(|| "expected a power of two of 1 to 1048576, as in 64".into())
}
