//! Files that are written whole, or not at all.

use crate::files::Draft;
use crate::shown;
use anyhow::Context;
use std::io::Write;
use std::path::Path;

/// Writes a file in place of what has its name; `-` is standard output.
///
/// # Errors
/// When it cannot be written; nothing is left then but what was there.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if path == Path::new("-") {
        let mut out = shown::raw();
        out.write_all(bytes)?;
        return Ok(out.flush()?);
    }
    let write = || {
        let draft = Draft::create(path)?;
        draft.file().write_all(bytes)?;
        draft.finish()
    };
    write().with_context(|| format!("{}: cannot be written", path.display()))
}
