//! `orrery analyze`.

use super::{CacheArgs, TraceArgs};
use crate::analysis::Grouping;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

const ANALYZE_EXAMPLES: &str = "\
Examples:
  orrery analyze t.orrery                            all of it, as tables
  orrery analyze t.orrery --miss-ratio --by region   misses of every cache size, by array
  orrery analyze t.orrery --stack-distance --line 64 --json
  orrery analyze long.orrery --sample 0.01           a sample of one line in a hundred, with its error
  orrery analyze t.orrery --displaced --level L2     which array pushes which out of L2";

/// `analyze`
#[derive(Debug, Clone, Args)]
#[command(after_help = ANALYZE_EXAMPLES)]
pub struct AnalyzeArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub trace: TraceArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    #[command(flatten, next_help_heading = "What to print; all of it where nothing is named")]
    #[expect(missing_docs, reason = "flattened group")]
    pub parts: AnalyzeParts,
    /// Bytes of a line, a power of two; default: as the innermost level has
    #[arg(long, value_name = "BYTES", value_parser = line_bytes)]
    pub line: Option<u32>,
    /// Stack distances and miss ratios by these, too
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = groupings())]
    pub by: Vec<Grouping>,
    /// References of a window of --working-set; default: a hundredth of the trace
    #[arg(long, value_name = "REFERENCES", value_parser = clap::value_parser!(u64).range(1..))]
    pub window: Option<u64>,
    /// The level, by name, that --sets and --displaced look at; default: the innermost
    #[arg(long, value_name = "NAME")]
    pub level: Option<String>,
    /// Print JSON. Of --stack-distance alone: {"line", "accesses", "cold", "histogram": [[distance, count], ...]}
    #[allow(rustdoc::broken_intra_doc_links, reason = "words of the help, where brackets are brackets")]
    #[arg(long)]
    pub json: bool,
}

/// Parts of `analyze`.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct AnalyzeParts {
    /// Stack distances: how many other lines were touched since a line's last touch (Mattson 1970). A modify is two accesses; a
    /// reference over two lines touches both
    #[arg(long)]
    pub stack_distance: bool,
    /// Misses of every fully associative LRU cache
    #[arg(long)]
    pub miss_ratio: bool,
    /// Misses of every associativity with the sets of the innermost level, or with so many (a power of two)
    #[arg(long, value_name = "SETS", num_args = 0..=1, require_equals = true, default_missing_value = "0", value_parser = sets)]
    pub ways: Option<u32>,
    /// Miss ratios from a sample: this share of all lines, each standing for the others (SHARDS, 2015), with the error
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub sample: Option<f64>,
    /// Working sets over time: different lines in a window of references (Denning 1968)
    #[arg(long)]
    pub working_set: bool,
    /// Scores of spatial and temporal locality
    #[arg(long)]
    pub locality: bool,
    /// How evenly the sets of a level are used
    #[arg(long)]
    pub sets: bool,
    /// How many bytes of a line are used before it leaves the innermost cache
    #[arg(long)]
    pub line_use: bool,
    /// Which array pushes out which
    #[arg(long)]
    pub displaced: bool,
}

pub(super) fn groupings() -> impl TypedValueParser<Value = Grouping> {
    let named = |name: String| Grouping::ALL.into_iter().find(|(_, word)| *word == name);
    PossibleValuesParser::new(Grouping::ALL.map(|(_, name)| name))
        .map(move |name| named(name).map_or(Grouping::Region, |(grouping, _)| grouping))
}

fn line_bytes(text: &str) -> Result<u32, String> {
    let bytes = text.parse().ok().filter(|bytes| crate::analysis::line_shift(*bytes).is_some());
    bytes.ok_or_else(|| "expected a power of two of 1 to 1048576, as in 64".into())
}

fn sets(text: &str) -> Result<u32, String> {
    let sets = text.parse().ok().filter(|sets: &u32| *sets == 0 || (sets.is_power_of_two() && *sets <= 1 << 20));
    sets.ok_or_else(|| "expected a power of two of 1 to 1048576, as in 64".into())
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.000_001..=1.0).contains(rate));
    rate.ok_or_else(|| "expected a share of all lines, 0.000001 to 1, as in 0.01 for one line of a hundred".into())
}
