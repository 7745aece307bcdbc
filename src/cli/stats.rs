//! `orrery stats`.

use super::{CacheArgs, TraceArgs};
use crate::analysis::Grouping;
use clap::Args;

/// Rows of a table where nobody says how many.
pub const ROWS: usize = 40;

const STATS_EXAMPLES: &str = "\
Examples:
  orrery stats t.orrery                              `paper` caches where 64 KiB or less are touched, else `textbook`
  orrery stats t.orrery --cache mine.toml --json     your own caches; the numbers as data
  orrery stats t.orrery --l1 32KiB,8,64 --l2 1MiB,16,64
  orrery stats t.orrery --by-line                    which lines of the program miss
  orrery stats t.orrery --by function,core           by function and core; which source lines cause most misses
  gzip -dc prog.log.gz | orrery stats - --data-only  lackey text from a pipe, without instruction fetches";

/// `stats`
#[derive(Debug, Args)]
#[command(after_help = STATS_EXAMPLES)]
pub struct StatsArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub trace: TraceArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Count only the references with these numbers, the first being 0, in caches that those before them have warmed; regions
    /// that they do not touch are left out. A large picture at --tick TO with --tail TO-FROM has the same numbers
    #[arg(long, value_name = "FROM..TO", conflicts_with = "flush")]
    pub range: Option<String>,
    /// Write dirty lines back at the end, and count that
    #[arg(long)]
    pub flush: bool,
    /// Count by source line too; the trace must name its source lines (orrery convert --program)
    #[arg(long)]
    pub by_line: bool,
    /// Count why lines missed (compulsory, capacity, conflict) beside --by-line too, which then takes up to twice as long;
    /// without --by-line, and in JSON, they are always counted
    #[arg(long)]
    pub classes: bool,
    /// Count by these, too, and name the source lines that cause most misses: the trace is played once more for it
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = super::analyze::groupings(), conflicts_with_all = ["range", "flush"])]
    pub by: Vec<Grouping>,
    /// Rows of a table at most, those that miss most; 0 = all. JSON has all
    #[arg(long, value_name = "N", default_value_t = ROWS)]
    pub rows: usize,
}
