//! Where the bytes of a trace that is being written go: a draft until it is whole, or standard output.

use super::error::TraceError;
use crate::files::{Draft, remedy};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Bytes written at once. Parquet's own writer hands on 8 KiB at a time, and a call for each costs as much as the copying.
const AT_ONCE: usize = 1 << 18;

/// Where bytes go until a file is whole. Dropped before that, it leaves nothing.
pub(super) struct Target {
    name: String,
    /// None is standard output.
    draft: Option<Draft>,
}

impl Target {
    /// Starts a file; `-` is standard output. What messages call it, and where to write.
    ///
    /// # Errors
    /// When the folder does not exist or cannot be written to.
    pub(super) fn create(path: &Path) -> Result<(String, Self, Box<dyn Write + Send>), TraceError> {
        if path == Path::new("-") {
            let name = "standard output".to_owned();
            let out = BufWriter::with_capacity(AT_ONCE, crate::shown::raw());
            return Ok((name.clone(), Self { name, draft: None }, Box::new(out)));
        }
        let name = path.display().to_string();
        let begun = Draft::create(path).and_then(|draft| Ok((draft.file().try_clone()?, draft)));
        let (file, draft) = begun.map_err(|error| {
            let remedy = remedy(path, &error, "name").map_or_else(String::new, |remedy| format!("; {remedy}"));
            TraceError::io(&name, format!("cannot be created{remedy}"), error)
        })?;
        Ok((name.clone(), Self { name, draft: Some(draft) }, Box::new(BufWriter::with_capacity(AT_ONCE, file))))
    }

    /// Gives a whole file its name.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub(super) fn finish(self) -> Result<(), TraceError> {
        self.draft.map_or(Ok(()), |draft| draft.finish().map_err(|e| write_error(&self.name, e)))
    }
}

/// Words what the operating system said to a write.
pub(super) fn write_error(name: &str, error: io::Error) -> TraceError {
    let action = match error.kind() {
        io::ErrorKind::StorageFull => "the trace cannot be written; free space on that disk",
        io::ErrorKind::BrokenPipe => "the reader of the trace closed its end",
        _ => "the trace cannot be written",
    };
    TraceError::io(name, action, error)
}
