//! Files that appear whole or not at all, and folders that nobody else writes to.
//!
//! A [`Draft`] has no name while it is written: there is nothing to leave behind, however the program ends. Where the file
//! system cannot do that it is a hidden file beside its place, which a stop removes ([`remove_begun`]) and, after a stop that
//! nobody can catch, the next draft in that folder: whose writer lives is locked, so it is told from what nobody ends.
//!
//! ```text
//! create: resolve links -> open without a name (O_TMPFILE)      else .orrery-PID-xxxxxx.part, locked and noted
//! finish: link to the name; where that is taken: link to .orrery-PID-xxxxxx.part, rename over it
//! ```
//!
//! One rule for links: the file that a link points to is written, wherever it is and whether it is there yet; the link
//! stays. Links that another user put into a folder that all may write to are refused, as Linux does where it is told to.

#[cfg(feature = "cli")]
mod digest;
mod draft;
mod left;
mod own;

#[cfg(feature = "cli")]
pub use digest::{sha256, sha256_of};
pub use draft::Draft;
#[cfg(feature = "capture")]
pub(crate) use draft::{behind_links, check_name};
pub use left::{Scratch, on_begun, remove_begun};
pub use own::{cache_folder, is_own_file, open_own, own_folder};

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Makes a folder, where it is not there yet.
///
/// # Errors
/// When that is not possible.
pub fn make_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// What to do about a file that could not be created or written, where the reason is one that people meet; `what` they choose anew, such
/// as a flag.
pub(crate) fn remedy(path: &Path, error: &io::Error, what: &str) -> Option<String> {
    // An error with words of its own says what to do.
    error.raw_os_error()?;
    let parent = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = parent.map_or_else(|| "this folder".to_owned(), |folder| folder.display().to_string());
    match error.kind() {
        // Behind a link it is another folder that is missing.
        io::ErrorKind::NotFound if parent.is_some_and(|folder| !folder.exists()) => Some(format!(
            "the folder {folder} does not exist; make it first: mkdir -p {}",
            crate::shown::quoted(&folder)
        )),
        io::ErrorKind::NotADirectory if parent.is_some_and(|folder| folder.exists() && !folder.is_dir()) => {
            Some(format!("{folder} is not a folder; choose another {what}, in another folder"))
        }
        io::ErrorKind::IsADirectory => Some(format!("a folder has that name; choose another {what}")),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Some(format!("you may not write in {folder}; choose another {what}, in another folder"))
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Some("the disk is full; delete files that you do not need".to_owned())
        }
        _ => None,
    }
}

/// All of a text file of at most `most` bytes, from a file or a pipe.
///
/// # Errors
/// When it cannot be read, is longer, is a device (which may never end) or no text in UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let bytes = read_bytes(path, most)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "found no text in UTF-8"))
}

/// All of a file of at most `most` bytes, from a file or a pipe.
///
/// # Errors
/// When it cannot be read, is longer, or is a device (which may never end).
pub fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = about.file_type();
        if kind.is_char_device() && !is_empty_device(&about) || kind.is_block_device() {
            return Err(io::Error::other("found a device; expected a file or a pipe"));
        }
    }
    let mut bytes = Vec::new();
    if about.len() <= most {
        file.take(most + 1).read_to_end(&mut bytes)?;
    }
    if about.len().max(bytes.len() as u64) > most {
        return Err(io::Error::other(format!("found more than {most} bytes, which is the most that is read")));
    }
    Ok(bytes)
}

/// `/dev/null` is a device and an empty file to everybody.
#[cfg(unix)]
fn is_empty_device(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == about.rdev())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_to_a_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_text(&path, 5).unwrap(), "12345");
        assert!(read_text(&path, 4).unwrap_err().to_string().contains("more than 4 bytes"));
        std::fs::write(&path, b"\xff").unwrap();
        assert!(read_text(&path, 4).unwrap_err().to_string().contains("UTF-8"));
        assert!(read_text(&folder.path().join("none"), 4).is_err());
        #[cfg(target_os = "linux")]
        {
            assert!(read_text(Path::new("/dev/zero"), 1 << 20).unwrap_err().to_string().contains("a device"));
            assert_eq!(read_text(Path::new("/dev/null"), 4).unwrap(), "");
            // Files that say that they have no bytes.
            assert!(read_text(Path::new("/proc/self/status"), 1 << 20).unwrap().contains("Pid"));
            assert!(read_text(Path::new("/proc/self/status"), 8).is_err());
        }
    }
}
