//! What a file holds: told in one place, by its name and its first bytes, for all commands.

use crate::daisen;
use crate::trace::bundled::STORY_SCHEME;
use crate::trace::{Format, TraceError};
use std::path::Path;

/// What is named where a trace may be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// References, or what nobody knows: whoever reads it says what is wrong with it.
    References,
    /// Tasks of a simulated machine.
    Tasks,
    /// A shader, or a bundled kernel.
    Kernel,
    /// A storyboard, or a bundled lesson that has one.
    Storyboard,
}

impl FileKind {
    /// What a path names: references where `format` says so.
    #[must_use]
    pub fn of(path: &Path, format: Option<Format>) -> Self {
        let name = path.to_string_lossy();
        if format.is_some() {
            Self::References
        } else if name.starts_with(STORY_SCHEME) || name.ends_with(".story.toml") {
            Self::Storyboard
        } else if is_kernel(path) {
            Self::Kernel
        } else if daisen::is_task_file(path) {
            Self::Tasks
        } else {
            Self::References
        }
    }

    /// Why what `path` names is no trace, and what shows it. `None` where reading it tells: of references, of tasks, and of what
    /// is not there.
    #[must_use]
    pub fn why_no_trace(self, path: &Path) -> Option<TraceError> {
        if !is_there(path) {
            return None;
        }
        let path = path.display();
        let (found, remedy) = match self {
            Self::References | Self::Tasks => return None,
            Self::Kernel => (
                "a kernel",
                format!(
                    "`orrery kernel {path} -o FILE.orrery` makes one of its accesses, `orrery kernel {path}` counts them, \
                     `orrery {path}` shows them"
                ),
            ),
            Self::Storyboard => {
                ("a storyboard", format!("`orrery {path}` plays it, `orrery record {path} -o FILE.mp4` makes its film"))
            }
        };
        Some(TraceError::Computed(format!("{path}: found {found}; expected a trace; {remedy}")))
    }
}

/// Whether it is a file or bundled. (Of bundled storyboards only whoever plays them knows the names.)
fn is_there(path: &Path) -> bool {
    let name = path.to_string_lossy();
    #[cfg(feature = "kernel")]
    if let Some(kernel) = name.strip_prefix(crate::kernel::bundled::SCHEME) {
        return crate::kernel::bundled::find(kernel).is_some();
    }
    name.starts_with(STORY_SCHEME) || path.exists()
}

#[cfg(feature = "kernel")]
fn is_kernel(path: &Path) -> bool {
    path.to_string_lossy().starts_with(crate::kernel::bundled::SCHEME)
        || path.extension().is_some_and(|end| end.eq_ignore_ascii_case("wgsl"))
}

#[cfg(not(feature = "kernel"))]
fn is_kernel(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_first_bytes_tell_what_a_file_holds() {
        let folder = tempfile::tempdir().unwrap();
        let tasks = folder.path().join("tasks");
        std::fs::write(&tasks, b"SQLite format 3\0").unwrap();
        let kind = |name: &str| FileKind::of(Path::new(name), None);
        assert_eq!(FileKind::of(&tasks, None), FileKind::Tasks);
        assert_eq!(FileKind::of(&tasks, Format::named("csv")), FileKind::References);
        assert_eq!(kind("story:hash-join"), FileKind::Storyboard);
        assert_eq!(kind("films/a.story.toml"), FileKind::Storyboard);
        assert_eq!(kind("a.toml"), FileKind::References);
        assert_eq!(kind("-"), FileKind::References);
        assert_eq!(kind("lesson:matmul16"), FileKind::References);
        let why = FileKind::Storyboard.why_no_trace(Path::new("story:x")).map(|error| error.to_string());
        assert!(why.is_some_and(|why| why.contains("found a storyboard") && why.contains("record story:x")));
        assert!(FileKind::Storyboard.why_no_trace(&folder.path().join("missing.story.toml")).is_none());
        assert!(FileKind::Tasks.why_no_trace(&tasks).is_none());
    }

    #[cfg(feature = "kernel")]
    #[test]
    fn shaders_are_kernels() {
        assert_eq!(FileKind::of(Path::new("a.WGSL"), None), FileKind::Kernel);
        assert_eq!(FileKind::of(Path::new("kernel:reduce-modulo"), None), FileKind::Kernel);
    }
}
