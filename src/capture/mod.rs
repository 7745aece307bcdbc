//! A program of one's own, recorded: `orrery cc` builds it, running it writes `NAME.orrery`.
//!
//! ```text
//! orrery cc  ->  gcc or clang  ->  text of the assembler  ->  orrery assemble  ->  as  ->  object with calls in it
//!                                                                                            + capture/*.c, hooks.S
//! ./program  ->  NAME.orrery.part (the spool: 16 bytes a reference)  ->  orrery collect  ->  NAME.orrery
//! ```
//!
//! Instructions are what is recorded, not expressions: whatever language, optimisation or library of macros they came from,
//! each that touches memory says so before it runs. (The compilers' own hooks for sanitizers see less: arrays of a function
//! whose address does not leave it, and constant tables, go past them from `-O1` on.) Not recorded: slots of the stack frame
//! at fixed places outside arrays and structures, where compilers keep what finds no register; return addresses and saved registers; the linker's tables.
//!
//! [`assemble`] stands in for the assembler, [`Toolchain`] is what the compiler is told, [`collect`] turns a spool into a
//! native file. Whoever starts such a program has its file by [`Recording`] and [`Running`], and asks its collector by [`asked`].
//!
//! Programs that nobody builds anew are recorded by others, on Linux: `valgrind` (lackey) and `dynamorio` (drmemtrace) run them, and
//! [`naming`] finds the names of what they touch. Nothing is printed here: what people should hear is a [`Notice`].

mod arrays;
pub mod asked;
mod assemble;
mod collect;
mod driven;
#[cfg(target_os = "linux")]
pub mod dynamorio;
#[cfg(target_os = "linux")]
pub mod followed;
mod intel;
mod names;
pub mod naming;
mod noted;
mod program;
mod recording;
mod slots;
mod streams;
mod text;
mod toolchain;
#[cfg(target_os = "linux")]
pub mod valgrind;
mod weave;
mod writing;

pub use assemble::assemble;
pub use collect::{Collected, Part, collect, collect_seen, input_ends, is_spool};
pub use driven::{DriveError, Hear, Notice};
pub use program::Running;
pub use recording::{Recording, leftovers};
pub use streams::Streams;
pub use toolchain::{Language, Toolchain};

use crate::trace::TraceError;
use std::io;

/// Why a program could not be built for recording, or its references not be collected.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// A program that is needed does not start.
    #[error("{program} cannot be started ({source}); {remedy}")]
    Missing {
        /// As it was called.
        program: String,
        /// What to install or set.
        remedy: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// What is named as the compiler calls us.
    #[error(
        "{0} calls orrery again, which would call it again; set ORRERY_CC (ORRERY_CXX, ORRERY_FC) to the compiler itself"
    )]
    Recursion(String),
    /// What is named as the compiler does not say which it is.
    #[error("{variable}={compiler}: --version fails; name a compiler, as gcc or clang\n{said}")]
    NoVersion {
        /// What names it.
        variable: &'static str,
        /// As it was called.
        compiler: String,
        /// What it said on standard error.
        said: String,
    },
    /// The recording library does not compile.
    #[error("{compiler} cannot compile the recording library:\n{output}")]
    Library {
        /// As it was called.
        compiler: String,
        /// What it said.
        output: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {action}")]
    Io {
        /// Which.
        path: String,
        /// What was tried.
        action: &'static str,
        /// What the operating system said.
        source: io::Error,
    },
    /// The machine or the compiler is none that can be recorded.
    #[error("{0}")]
    Unsupported(String),
    /// The spool cannot be read, or the native file not be written.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

fn io_error(path: impl Into<String>, action: &'static str) -> impl FnOnce(io::Error) -> CaptureError {
    let path = path.into();
    move |source| CaptureError::Io { path, action, source }
}
