//! What can be wrong with a kernel, its launch and its buffers.

/// A kernel that cannot be run, and why. Each message names the place, what was found, what was expected and what helps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// Text that is no valid WGSL: naga's own words, with line and column. May be several lines.
    #[error("{0}")]
    Source(String),
    /// No entry, or more than one without a choice.
    #[error("{0}")]
    Entry(String),
    /// An override without a value, or a value without an override.
    #[error("{0}")]
    Override(String),
    /// A launch of nothing, or of more than there may be.
    #[error("{0}")]
    Launch(String),
    /// A buffer that is not there, or of the wrong kind or size.
    #[error("{0}")]
    Binding(String),
    /// Valid WGSL that is not run here.
    #[error("{file}:{line}: {what} is not recorded; {remedy}")]
    Unsupported {
        /// Name of the source.
        file: String,
        /// Line, the first being 1.
        line: u32,
        /// What was found.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// More steps than a group may take.
    #[error(
        "{file}:{line}: group {group} has not ended after {steps} steps, an endless loop perhaps; expected an end; --steps allows more"
    )]
    Steps {
        /// Name of the source.
        file: String,
        /// Where it was.
        line: u32,
        /// Which group.
        group: u64,
        /// How many steps it may take.
        steps: u64,
    },
    /// An adapter that is not there, does not take the kernel, or went away.
    #[error("{0}")]
    Adapter(String),
    /// Nobody waits for it any more.
    #[error("the run was cancelled")]
    Cancelled,
    /// More than memory has room for, or than anybody waits for.
    #[error("{0}")]
    TooMuch(String),
}
