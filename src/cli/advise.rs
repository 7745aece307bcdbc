//! `orrery advise`.

use super::{CacheArgs, TraceArgs};
use clap::Args;

const ADVISE_EXAMPLES: &str = "\
Examples:
  orrery advise t.orrery
  orrery advise t.orrery --cache host --json";

/// `advise`
#[derive(Debug, Clone, Args)]
#[command(after_help = ADVISE_EXAMPLES)]
pub struct AdviseArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub trace: TraceArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
