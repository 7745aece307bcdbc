//! `orrery loops`.

use crate::nest::Settings;
use clap::Args;
use std::path::PathBuf;

const LOOPS_EXAMPLES: &str = "\
Examples:
  orrery loops loops:matmul --set N=64 --capacity 8,512     a bundled nest at another size
  orrery loops mm.loops --line 64 --capacity 8 --json       the numbers as data
  orrery loops mm.sdfg --set N=16 --set M=16 --set K=16     a graph of DaCe
  orrery loops row.loops column.loops --compare             what a change of layout or order is worth
  orrery loops loops:hdiff --at 4711                        which iteration makes that access
  orrery stats 'mm.loops?N=64' --cache skylake-sp           the same accesses under a real hierarchy";

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
}

fn line_bytes(text: &str) -> Result<u32, String> {
    let bytes = text.parse().ok().filter(|bytes| crate::analysis::line_shift(*bytes).is_some());
    bytes.ok_or_else(|| "expected a power of two of 1 to 1048576, as in 64".into())
}
