//! Files that are written whole, or not at all.

use super::UsageError;
use crate::files::{Draft, remedy};
use crate::shown;
use std::io::Write;
use std::path::Path;

/// Refuses to write over a file that is read, by whatever name; `why` it must be another one.
///
/// # Errors
/// [`UsageError`] where both are one file.
pub(super) fn not_over(flag: &str, output: &Path, read: &Path, why: &str) -> Result<(), UsageError> {
    if is_same(output, read) {
        let output = shown::name(&output.to_string_lossy()).into_owned();
        return Err(UsageError(format!(
            "{flag} {output}: found the file that is read; expected another one, because {why}"
        )));
    }
    Ok(())
}

/// Whether two names are of one file, which need not be there yet. Standard input and output (`-`) are none.
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let there = path.canonicalize().ok();
        there.or_else(|| Some(folder.canonicalize().ok()?.join(path.file_name()?)))
    };
    let is_file = |path: &Path| path != Path::new("-");
    is_file(a) && is_file(b) && place(a).is_some_and(|a| place(b) == Some(a))
}

/// Writes a file in place of what has its name; `-` is standard output.
///
/// # Errors
/// When it cannot be written; nothing is left then but what was there.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if path == Path::new("-") {
        let mut out = shown::raw();
        let written = out.write_all(bytes).and_then(|()| out.flush());
        return Ok(written.map_err(shown::unwritten)?);
    }
    let write = || {
        let draft = Draft::create(path)?;
        draft.file().write_all(bytes)?;
        draft.finish()
    };
    write().map_err(|error| {
        let remedy = remedy(path, &error, "name").map_or_else(String::new, |remedy| format!("; {remedy}"));
        anyhow::Error::new(error).context(format!("{}: cannot be written{remedy}", path.display()))
    })
}
