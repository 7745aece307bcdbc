//! What people should hear of an opening, as values; as words where somebody says them.

use super::CopyError;
use crate::reference::MOST_REGIONS;
use crate::sim::config::{HierarchyConfig, format_size};
use crate::trace::TraceError;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Hears notes, on whichever thread they are found.
pub type Tell = Arc<dyn Fn(&Note) + Send + Sync>;

/// Something that people should hear. None of these ends an opening.
#[derive(Debug)]
pub enum Note {
    /// This trace is about to be opened; no words.
    Opens(PathBuf),
    /// What a reader says that it left out.
    Reader(String),
    /// The trace has more regions than a picture.
    ManyRegions(usize),
    /// A copy of a trace was damaged, and is gone.
    DamagedCopy {
        /// The copy.
        copy: PathBuf,
        /// What it was a copy of.
        trace: PathBuf,
    },
    /// No copy of the trace is kept.
    NoCopy {
        /// The folder, or why there is none.
        folder: String,
        /// Why.
        error: CopyError,
    },
    /// An index was damaged, and is gone.
    DamagedIndex(PathBuf),
    /// The index is not kept.
    NoIndex {
        /// The folder, or why there is none.
        folder: String,
        /// Why.
        error: io::Error,
    },
    /// The tasks that were kept of a file were damaged, and are gone.
    DamagedTasks(PathBuf),
    /// The tasks of a file are not kept.
    NoTasks {
        /// The folder, or why there is none.
        folder: String,
        /// Why.
        error: io::Error,
    },
    /// The caches chosen of the beginning are not those of what came after.
    OtherCaches {
        /// The caches from now on.
        config: Box<HierarchyConfig>,
        /// What of the trace asks for them.
        why: String,
    },
    /// The trace is broken; what came before is shown.
    Broken(TraceError),
    /// The file was written anew, and is shown as it is now.
    Changed(PathBuf),
    /// The file was written anew and cannot be read; what was shown stays.
    Unreadable {
        /// The file.
        trace: PathBuf,
        /// Why, with its causes.
        why: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opens(trace) => write!(f, "{} is opened", trace.display()),
            Self::Reader(notice) => f.write_str(notice),
            Self::ManyRegions(regions) => write!(
                f,
                "{regions} regions: a picture shows up to {MOST_REGIONS}, so that neighbours are joined; stats has each"
            ),
            Self::DamagedCopy { copy, trace } => {
                write!(f, "{}: found a damaged copy of {}, which is read anew", copy.display(), trace.display())
            }
            Self::NoCopy { folder, error } => write!(
                f,
                "{folder}: no copy of the trace is kept ({}); the next opening reads it again. XDG_CACHE_HOME names another folder",
                chain(error)
            ),
            Self::DamagedIndex(path) => write!(f, "{}: found a damaged index; it is made anew", path.display()),
            Self::NoIndex { folder, error } => write!(
                f,
                "{folder}: the index is not kept ({error}); the next opening makes it again. XDG_CACHE_HOME names another folder"
            ),
            Self::DamagedTasks(path) => {
                write!(f, "{}: found a damaged copy of tasks; the file is read anew", path.display())
            }
            Self::NoTasks { folder, error } => write!(
                f,
                "{folder}: the tasks are not kept ({error}); the next opening reads the file again. XDG_CACHE_HOME names another folder"
            ),
            Self::OtherCaches { config, why } => write!(f, "other caches from now on, {}: {why}", named(config)),
            Self::Broken(error) => write!(f, "{error}; showing what came before"),
            Self::Changed(trace) => write!(f, "{} has changed: this is what it holds now", trace.display()),
            Self::Unreadable { trace, .. } => {
                write!(f, "{} has changed and cannot be read; this is what was read before", trace.display())
            }
        }
    }
}

/// An error and its causes, as one sentence.
pub(super) fn chain<'a>(error: &'a (dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Caches in few words: `paper: L1 512B, L2 2KiB`.
fn named(config: &HierarchyConfig) -> String {
    let levels: Vec<String> =
        config.levels.iter().map(|level| format!("{} {}", level.name, format_size(level.size))).collect();
    format!("{}: {}", config.name, levels.join(", "))
}
