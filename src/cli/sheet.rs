//! Several moments on one picture, and the numbers behind it.

use super::RefineArgs;
use clap::Args;
use std::path::PathBuf;

/// What makes a still a sheet of several.
#[derive(Debug, Clone, Default, Args)]
pub struct SheetArgs {
    /// A sheet of pictures, one each so many references, from the first on
    #[arg(long, value_name = "REFERENCES", conflicts_with_all = ["at", "tails", "tick"])]
    pub every: Option<u64>,
    /// A sheet of these moments, as --tick has them; `marks` is each mark of the trace
    #[arg(long, value_name = "N,N,marks", value_delimiter = ',', conflicts_with_all = ["tails", "tick"])]
    pub at: Vec<String>,
    /// A sheet of one moment with trails of each of these lengths, such as 1,16,64,256
    #[arg(long, value_name = "REFERENCES,...", value_delimiter = ',', conflicts_with = "tail")]
    pub tails: Option<Vec<u64>>,
    /// Pictures in a row of the sheet; as square as goes where nothing is said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub columns: Option<u32>,
    /// Write the numbers behind the picture too, as CSV: of caches and regions, or the table that is drawn
    #[arg(long, value_name = "FILE")]
    pub numbers: Option<PathBuf>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub refine: RefineArgs,
}
