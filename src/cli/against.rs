//! The flags of comparisons.

use crate::timeline::StepBy;
use clap::Args;

/// What is compared.
#[derive(Args, Clone, Debug, Default)]
pub struct AgainstArgs {
    /// Compare with another trace, or with this one under other caches: a trace, a preset of caches or a TOML file of caches
    #[arg(long, value_name = "TRACE|CACHE")]
    pub against: Option<String>,
    /// What two traces go in step by: references, marks (those of one name), a source line such as matmul.c:12, or a line of each
    /// such as a.c:12=b.c:20; the default is marks where both have one, else references
    #[arg(long, value_name = "WHAT", requires = "against")]
    pub in_step: Option<StepBy>,
}
