//! Results of sweeps in a folder: files of some cells each, written by one process or by many.

use crate::analysis::CellCounts;
use crate::files::{Draft, read_text};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Longest file of results that is read.
const MOST_BYTES: u64 = 1 << 30;
/// End of the names of these files.
const ENDING: &str = ".cells.json";

/// What a sweep is of: results that differ in any of it do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SweepOf {
    /// Version of the program that counted.
    pub version: String,
    /// The trace, as it was named.
    pub trace: String,
    /// SHA-256 of its file, or what stands for it.
    pub digest: String,
    /// The caches that are varied, as TOML.
    pub base: String,
    /// Keys and values.
    pub vary: Vec<(String, Vec<String>)>,
}

impl SweepOf {
    /// Cells of the whole sweep.
    #[must_use]
    pub fn cells(&self) -> u64 {
        self.vary.iter().map(|(_, values)| values.len() as u64).product()
    }
}

/// Some cells of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepPart {
    /// What it is of.
    pub of: SweepOf,
    /// In the order of their numbers.
    pub cells: Vec<CellCounts>,
}

/// Why results cannot be had, or kept.
#[derive(Debug, thiserror::Error)]
pub enum CellsError {
    /// A file or folder that cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file that is none of ours.
    #[error("{}: found no results of a sweep ({error}); remove it, and its cells are counted again", path.display())]
    Damaged {
        /// Which.
        path: PathBuf,
        /// Why.
        error: String,
    },
}

/// A folder of results.
#[derive(Clone, Debug)]
pub struct SweepFolder(PathBuf);

impl SweepFolder {
    /// That folder, made where it is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(path: &Path) -> Result<Self, CellsError> {
        std::fs::create_dir_all(path).map_err(|error| CellsError::Io { path: path.into(), error })?;
        Ok(Self(path.into()))
    }

    /// That folder, which is there.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self(path.into())
    }

    /// Keeps some cells, whole or not at all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep(&self, part: &SweepPart) -> Result<(), CellsError> {
        let digest: String = part.of.digest.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
        let (first, last) = (part.cells.first().map_or(0, |c| c.cell), part.cells.last().map_or(0, |c| c.cell));
        let path = self.0.join(format!("{digest}-{first:06}-{last:06}{ENDING}"));
        let write = || {
            let draft = Draft::create(&path)?;
            let mut out = std::io::BufWriter::new(draft.file());
            serde_json::to_writer(&mut out, part)?;
            out.write_all(b"\n")?;
            out.flush()?;
            drop(out);
            draft.finish()
        };
        write().map_err(|error| CellsError::Io { path: path.clone(), error })
    }

    /// All parts in it, in the order of their files' names. Files of other names are nobody's business.
    ///
    /// # Errors
    /// When the folder or a file cannot be read, or a file is damaged.
    pub fn parts(&self) -> Result<Vec<SweepPart>, CellsError> {
        let unread = |path: &Path| {
            let path = path.to_owned();
            move |error| CellsError::Io { path, error }
        };
        let entries = std::fs::read_dir(&self.0).map_err(unread(&self.0))?;
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.map_err(unread(&self.0))?.path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ENDING)) {
                paths.push(path);
            }
        }
        paths.sort();
        let mut parts = Vec::new();
        for path in paths {
            let text = read_text(&path, MOST_BYTES).map_err(unread(&path))?;
            let part: Result<SweepPart, _> = serde_json::from_str(&text);
            parts.push(part.map_err(|error| CellsError::Damaged { path, error: error.to_string() })?);
        }
        Ok(parts)
    }
}
