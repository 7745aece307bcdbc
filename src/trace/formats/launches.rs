//! Kernels of a GPU that were traced with their warps: what is simulated in time, where references alone are not enough.

use super::super::error::{Fault, Place, TraceError};
use super::super::input;
use super::{accelsim, nvbit};
use crate::reference::Kind;
use std::path::Path;

/// What a warp does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WarpStep {
    /// An instruction that asks nothing of memory.
    Compute,
    /// Addresses and bytes of the lanes that are on.
    Memory(Kind, Vec<(u64, u32)>),
    /// Shared memory is accessed.
    Shared,
    /// All warps of the block wait for each other.
    Barrier,
    /// The next one needs what was loaded.
    Wait,
}

/// A kernel that was traced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Its name.
    pub name: String,
    /// Bytes of shared memory of a block.
    pub shared: u64,
    /// By block, by warp, what it does.
    pub blocks: Vec<Vec<Vec<WarpStep>>>,
    /// What people should hear.
    pub notice: Option<String>,
}

/// Lane accesses that are held at once, at most.
pub(super) const MOST: usize = 50_000_000;

/// Reads kernels of one format.
pub(super) trait Kernels: Send {
    /// The next one; none at the end.
    fn read(&mut self) -> Result<Option<Launch>, TraceError>;
    /// Sentences for people about what was left out; complete at the end.
    fn notices(&self) -> Vec<String>;
}

/// The kernels of a file, one after the other; none after an error.
pub struct Launches {
    kernels: Box<dyn Kernels>,
    over: bool,
}

impl Launches {
    /// Sentences for people about what was left out; complete at the end.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        self.kernels.notices()
    }
}

impl Iterator for Launches {
    type Item = Result<Launch, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let read = self.kernels.read();
        self.over = !matches!(read, Ok(Some(_)));
        read.transpose()
    }
}

/// The kernels of a file of Accel-Sim or NVBit, plain or packed; none where it is of another format, which has no warps.
///
/// # Errors
/// When it cannot be read.
pub fn launches(path: &Path) -> Result<Option<Launches>, TraceError> {
    let input = input::open(path)?;
    let head = input.bytes.head();
    let kernels: Box<dyn Kernels> = if accelsim::looks_like(head) {
        Box::new(accelsim::Launches::of(input)?)
    } else if nvbit::looks_like(head) {
        Box::new(nvbit::Launches::of(input))
    } else {
        return Ok(None);
    };
    Ok(Some(Launches { kernels, over: false }))
}

/// What is no kernel that can be run.
pub(super) fn refused(name: &str, line: u64, found: &str) -> TraceError {
    TraceError::Damaged(Fault::new(
        Place::line(name, line),
        found,
        "kernels with thread blocks, warps and instructions, each of some million accesses",
        "trace a smaller problem, or fewer kernels",
    ))
}
