//! What can go wrong between a frame and its file, in words that name the place and the way out.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

/// Why a source could not draw or deliver a frame.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct FrameError {
    reason: Box<dyn Error + Send + Sync>,
}

impl FrameError {
    /// From a message or any error.
    pub fn new(reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { reason: reason.into() }
    }
}

/// Why a recording failed. Whatever it was, nothing half-written lies under the final name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The output path names no format that can be written.
    #[error("{path}: {finding}; {remedy}")]
    Output {
        /// As it was given.
        path: PathBuf,
        /// What is wrong with it.
        finding: String,
        /// What to write in its place.
        remedy: String,
    },
    /// Frames a second out of range for the format.
    #[error("{fps} frames/s cannot be written to {format}: {allowed}")]
    FrameRate {
        /// As it was asked for.
        fps: u32,
        /// By name.
        format: String,
        /// What is allowed, and why.
        allowed: &'static str,
    },
    /// Picture size out of range for the format.
    #[error("a picture of {width}x{height} cannot be written to {format}: {allowed}")]
    Size {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
        /// By name.
        format: &'static str,
        /// What is allowed, and what to do.
        allowed: String,
    },
    /// The format has no transparency.
    #[error("{format} has no transparent ground; use frames/%05d.png, .apng, .webm, .mov or .webp with --transparent")]
    Opaque {
        /// By name.
        format: String,
    },
    /// There is nothing to record.
    #[error("no frame to record: the range is empty; give a --start-ref below --stop-ref, or more --seconds")]
    Empty,
    /// A file or stream could not be created, written or renamed.
    #[error("{}: cannot be {what}{hint}", .path.display())]
    Io {
        /// The file, or `standard output`.
        path: PathBuf,
        /// "created", "written", "moved into place".
        what: &'static str,
        /// The likely cause and remedy, in parentheses, or nothing.
        hint: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The encoder refused or failed.
    #[error("frame {frame} could not be encoded: {reason}")]
    Encoder {
        /// Frame, from 0.
        frame: u64,
        /// The encoder's word.
        reason: String,
    },
    /// The source failed.
    #[error("frame {frame} could not be drawn")]
    Frame {
        /// Frame, from 0.
        frame: u64,
        /// The source's reason.
        #[source]
        source: FrameError,
    },
}

impl RecordError {
    /// Whether the command line is at fault (exit code 2) and not the machine (exit code 1).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Output { .. } | Self::FrameRate { .. } | Self::Size { .. } | Self::Opaque { .. } | Self::Empty
        )
    }

    /// For a fault of the system while `what` was done to `path`, with the remedy for the common causes.
    pub(crate) fn io(path: &Path, what: &'static str, source: io::Error) -> Self {
        let hint =
            crate::files::remedy(path, &source, "--output").map_or_else(String::new, |remedy| format!(" ({remedy})"));
        Self::Io { path: path.to_owned(), what, hint, source }
    }
}
