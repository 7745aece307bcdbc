//! What whoever records a program has to say, on standard error.

use super::UsageError;
use crate::capture::{DriveError, Hear, Notice};
use crate::shown::{say, say_lines};
use std::path::Path;
use std::sync::Arc;

/// What is told of a file that was written, behind other words: `, 1024 bytes`; nothing of what has no length.
pub(super) fn length(output: &Path) -> String {
    let about = output.metadata().ok().filter(|about| about.is_file());
    about.map_or_else(String::new, |about| format!(", {} bytes", about.len()))
}

/// Says notices.
pub(super) fn hear() -> Hear {
    Arc::new(say_notice)
}

/// Says a notice.
pub(super) fn say_notice(notice: Notice) {
    match notice {
        Notice::Note(words) => say!("note: {words}"),
        Notice::Warning(words) => say!("warning: {words}"),
        Notice::Said(lines) => say_lines(&lines),
    }
}

/// Says notices in the midst of what a compiler says: there nobody knows whose they are.
pub(super) fn say_among_others(notice: Notice) {
    match notice {
        Notice::Note(words) | Notice::Warning(words) => say!("orrery: {words}"),
        said @ Notice::Said(_) => say_notice(said),
    }
}

/// Why nothing was recorded: a wrong command line has an exit code of its own.
pub(super) fn failed(error: DriveError) -> anyhow::Error {
    match &error {
        DriveError::NoFunction { .. } => UsageError(format!("--function {error}")).into(),
        _ if error.is_usage() => UsageError(error.to_string()).into(),
        _ => error.into(),
    }
}
