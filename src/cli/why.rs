//! `orrery why` and `orrery annotate`.

use super::{CacheArgs, TraceArgs};
use clap::Args;

const WHY_EXAMPLES: &str = "\
Examples:
  orrery why lesson:matmul16 2613
  orrery why t.orrery 1,000,000 --cache skylake-sp --json";

/// `why`
#[derive(Debug, Clone, Args)]
#[command(after_help = WHY_EXAMPLES)]
pub struct WhyArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub trace: TraceArgs,
    /// Number of the reference, the first being 0
    #[arg(value_name = "REFERENCE", value_parser = number)]
    pub reference: u64,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    /// Print JSON: accesses, classes, what left, last and next use, and the sentences
    #[arg(long)]
    pub json: bool,
}

const ANNOTATE_EXAMPLES: &str = "\
Examples:
  orrery annotate t.orrery
  orrery annotate t.orrery --file matmul.c --context 20 --cache host";

/// `annotate`
#[derive(Debug, Clone, Args)]
#[command(after_help = ANNOTATE_EXAMPLES)]
pub struct AnnotateArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub trace: TraceArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    /// Only these source files, by the end of their names
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub file: Vec<String>,
    /// Lines without references that are printed around those with some, where the source is still there
    #[arg(long, value_name = "LINES", default_value_t = 4)]
    pub context: u32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A number, with or without signs between thousands.
fn number(text: &str) -> Result<u64, String> {
    let digits = text.replace([',', '_'], "");
    digits.parse().map_err(|_| "expected the number of a reference, the first being 0, as in 2613".into())
}
