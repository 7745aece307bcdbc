//! Where the bytes of a file that is being written go: beside its final name until it is whole.

use super::error::TraceError;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where bytes go until a file is whole. Dropped before that, it leaves nothing.
pub(super) enum Target {
    /// A temporary file beside the final one, renamed at the end.
    Renamed(PathBuf, tempfile::TempPath),
    /// A pipe or device: written as it is.
    Direct,
}

impl Target {
    /// Starts a file; `-` is standard output. What messages call it, and where to write.
    ///
    /// # Errors
    /// When the folder does not exist or cannot be written to.
    pub(super) fn create(path: &Path) -> Result<(String, Self, Box<dyn Write + Send>), TraceError> {
        if path == Path::new("-") {
            return Ok(("standard output".into(), Self::Direct, Box::new(io::stdout())));
        }
        let name = path.display().to_string();
        let (target, file) =
            open(path).map_err(|e| TraceError::io(&name, "cannot be created; check that its folder exists", e))?;
        Ok((name, target, Box::new(file)))
    }

    /// Gives a whole file its name.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub(super) fn finish(self) -> Result<(), TraceError> {
        if let Self::Renamed(path, temporary) = self {
            let name = path.display().to_string();
            temporary.persist(path).map_err(|e| write_error(&name, e.error))?;
        }
        Ok(())
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

fn open(path: &Path) -> io::Result<(Target, File)> {
    // Renaming over a pipe or a device would destroy it.
    if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return Ok((Target::Direct, File::options().write(true).open(path)?));
    }
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".orrery-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let (file, temporary) = builder.tempfile_in(folder)?.into_parts();
    Ok((Target::Renamed(path.to_owned(), temporary), file))
}
