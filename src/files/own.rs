//! Folders and files of one's own: nobody else made them, and nobody else can change them or put others in their place.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Where the user's environment says that caches go, and what to call ours there.
fn candidates() -> Vec<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| Path::new(v).is_absolute()).map(PathBuf::from);
    let home = || set("HOME").map(|home| home.join(".cache"));
    let cache = set("XDG_CACHE_HOME").or_else(home).map(|cache| cache.join("orrery"));
    cache.into_iter().chain([std::env::temp_dir().join(temporary_name())]).collect()
}

/// Ours among temporary files: with the user's number, for each user needs another.
fn temporary_name() -> String {
    #[cfg(unix)]
    return format!("orrery-{}", me());
    #[cfg(not(unix))]
    "orrery".into()
}

/// The user's cache folder for Orrery: `orrery` in `XDG_CACHE_HOME` or in `~/.cache`, or `orrery-UID` among temporary files where
/// these are not set, not the user's own or not to be written to. It is made where it is not there, and nobody else can write to it.
///
/// # Errors
/// When none of these can be had; it says why of each.
pub fn cache_folder() -> io::Result<PathBuf> {
    let mut findings = Vec::new();
    for candidate in candidates() {
        match own_folder(&candidate) {
            Ok(folder) => return Ok(folder),
            Err(e) => {
                findings.push(e.to_string());
                if !matches!(e.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) {
                    break;
                }
            }
        }
    }
    let found = findings.join("; ");
    Err(io::Error::other(format!("{found}; set XDG_CACHE_HOME to a folder that is yours alone (chmod 700)")))
}

/// The folder for temporary files where no other user can exchange what is in it, else one in the cache folder.
pub(super) fn temporary() -> io::Result<PathBuf> {
    let shared = std::env::temp_dir();
    #[cfg(unix)]
    return safe_way(&shared, false).or_else(|_| own_folder(&cache_folder()?.join("work")));
    #[cfg(not(unix))]
    Ok(shared)
}

#[cfg(not(unix))]
mod system {
    use super::*;

    /// Makes a folder with those above it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn own_folder(path: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(path)?;
        Ok(path.to_owned())
    }

    /// Whether a plain file is there.
    #[must_use]
    pub fn is_own_file(path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|about| about.is_file())
    }

    /// Opens a plain file.
    ///
    /// # Errors
    /// When there is none.
    pub fn open_own(path: &Path) -> io::Result<File> {
        is_own_file(path).then(|| File::open(path)).unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()))
    }

    pub(in super::super) fn open_own_folder(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    pub(in super::super) fn make(path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }
}

#[cfg(not(unix))]
pub use system::{is_own_file, open_own, own_folder};
#[cfg(not(unix))]
pub(super) use system::{make, open_own_folder};

#[cfg(unix)]
mod system {
    use super::*;
    use rustix::fs::{Mode, OFlags};
    use std::ffi::OsString;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
    use std::path::Component;

    /// Links on the way to a folder, at most.
    const LINKS: usize = 40;
    /// Write permission of the group and of all.
    const OTHERS: u32 = 0o022;
    const STICKY: u32 = 0o1000;

    /// The user's number.
    pub(super) fn me() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    /// Whether a user is the system: the superuser, and who owns the root of all folders. In a namespace of users that has no
    /// number for the superuser outside, that is who stands for all without a number.
    fn is_system(user: u32) -> bool {
        user == 0 || fs::metadata("/").is_ok_and(|root| root.uid() == user)
    }

    fn refused(path: &Path, finding: &str) -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, format!("{} {finding}", path.display()))
    }

    fn no_folder(path: &Path) -> io::Error {
        io::Error::new(io::ErrorKind::NotADirectory, format!("{} is no folder", path.display()))
    }

    /// Makes a folder of the user alone.
    pub(in super::super) fn make(path: &Path) -> io::Result<()> {
        let made = fs::DirBuilder::new().mode(0o700).create(path);
        made.map_err(|e| io::Error::new(e.kind(), format!("{} cannot be made: {e}", path.display())))
    }

    /// Whether nobody but the system and the user can exchange what is in a folder on the way.
    fn check_way(path: &Path, about: &Metadata) -> io::Result<()> {
        if about.uid() != me() && !is_system(about.uid()) {
            return Err(refused(path, "belongs to another user"));
        }
        if about.mode() & OTHERS != 0 && about.mode() & STICKY == 0 {
            return Err(refused(path, "can be written to by others"));
        }
        Ok(())
    }

    /// The folder that a path leads to, each step of which is safe: folders of the system or the user, in which others cannot
    /// exchange what is there, and links that the system or the user made. What is missing is made where `making` says so.
    pub(super) fn safe_way(path: &Path, making: bool) -> io::Result<PathBuf> {
        let mut steps: Vec<OsString> = Vec::new();
        let push = |steps: &mut Vec<OsString>, path: &Path| {
            steps.extend(path.components().rev().filter(|c| *c != Component::CurDir).map(|c| c.as_os_str().to_owned()));
        };
        push(&mut steps, &std::path::absolute(path)?);
        let (mut at, mut links) = (PathBuf::from("/"), 0);
        while let Some(step) = steps.pop() {
            if step == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&step);
            let about = match fs::symlink_metadata(&next) {
                Err(e) if e.kind() == io::ErrorKind::NotFound && making => match make(&next) {
                    Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
                    _ => fs::symlink_metadata(&next)?,
                },
                about => about?,
            };
            if about.is_symlink() {
                links += 1;
                if links > LINKS {
                    return Err(refused(&next, "is a link to itself"));
                }
                if about.uid() != me() && !is_system(about.uid()) {
                    return Err(refused(&next, "is a link that another user made"));
                }
                let to = fs::read_link(&next)?;
                if to.is_absolute() {
                    at = PathBuf::from("/");
                }
                push(&mut steps, &to);
                continue;
            }
            if !about.is_dir() {
                return Err(no_folder(&next));
            }
            check_way(&next, &about)?;
            at = next;
        }
        Ok(at)
    }

    /// A folder of the user's own: made, with those above it, where it is not there (mode 0700), and refused where another
    /// user made it or can write to it, where it is a link, or where another could put theirs in its place. Where it is to be
    /// found without a link on the way.
    ///
    /// # Errors
    /// When it cannot be had so; it says why.
    pub fn own_folder(path: &Path) -> io::Result<PathBuf> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(refused(path, "is no folder of one's own"));
        };
        let path = safe_way(above, true)?.join(name);
        match make(&path) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
            _ => {}
        }
        let about = fs::symlink_metadata(&path)?;
        if about.is_symlink() {
            return Err(refused(&path, "is a link"));
        }
        if !about.is_dir() {
            return Err(no_folder(&path));
        }
        if about.uid() != me() {
            return Err(refused(&path, "belongs to another user"));
        }
        if about.mode() & OTHERS != 0 {
            return Err(refused(&path, "can be written to by others, so that what is in it may be theirs"));
        }
        if about.mode() & 0o7777 != 0o700 {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
        }
        Ok(path)
    }

    /// Whether a path is a plain file of the user's that nobody else can write to.
    #[must_use]
    pub fn is_own_file(path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|about| about.is_file() && is_own(&about))
    }

    fn is_own(about: &Metadata) -> bool {
        about.uid() == me() && about.mode() & OTHERS == 0
    }

    /// Opens a plain file of the user's own for reading. A link is not followed, a pipe not waited for.
    ///
    /// # Errors
    /// When it is none, or cannot be opened.
    pub fn open_own(path: &Path) -> io::Result<File> {
        open(path, OFlags::empty()).and_then(|(file, about)| {
            if !about.is_file() {
                return Err(refused(path, "is no plain file"));
            }
            Ok(file)
        })
    }

    pub(in super::super) fn open_own_folder(path: &Path) -> io::Result<File> {
        Ok(open(path, OFlags::DIRECTORY)?.0)
    }

    fn open(path: &Path, flags: OFlags) -> io::Result<(File, Metadata)> {
        let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        let about = file.metadata()?;
        if about.uid() != me() {
            return Err(refused(path, "belongs to another user"));
        }
        Ok((file, about))
    }
}

#[cfg(unix)]
pub use system::{is_own_file, open_own, own_folder};
#[cfg(unix)]
pub(super) use system::{make, open_own_folder};
#[cfg(unix)]
use system::{me, safe_way};

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn refusal(path: &Path, part: &str) {
        let error = own_folder(path).unwrap_err().to_string();
        assert!(error.contains(part), "{}: {error}", path.display());
    }

    #[test]
    fn a_folder_of_ones_own_is_made_private_with_those_above() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("a/b/orrery");
        assert_eq!(own_folder(&path).unwrap(), fs::canonicalize(&path).unwrap());
        assert_eq!((mode_of(&path), mode_of(&base.path().join("a"))), (0o700, 0o700));
        mode(&path, 0o755);
        own_folder(&path).unwrap();
        assert_eq!(mode_of(&path), 0o700, "nobody could have written to it: it is made private");
    }

    #[test]
    fn folders_that_others_can_write_to_are_refused() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("orrery");
        for open in [0o777, 0o1777, 0o770, 0o702] {
            fs::create_dir_all(&path).unwrap();
            mode(&path, open);
            refusal(&path, "written to by others");
        }
        mode(&path, 0o700);
        // Above it only where the sticky bit keeps others from exchanging it.
        for (open, sound) in [(0o777, false), (0o775, false), (0o1777, true), (0o755, true), (0o700, true)] {
            mode(base.path(), open);
            assert_eq!(own_folder(&path).is_ok(), sound, "{open:o}");
        }
    }

    #[test]
    fn what_is_no_folder_or_a_link_is_refused_but_for_links_of_ones_own_above() {
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name);
        fs::create_dir(at("there")).unwrap();
        symlink(at("there"), at("orrery")).unwrap();
        refusal(&at("orrery"), "is a link");
        fs::write(at("file"), "").unwrap();
        refusal(&at("file"), "is no folder");
        refusal(&at("file/orrery"), "is no folder");
        symlink("there", at("cache")).unwrap();
        let there = fs::canonicalize(at("there")).unwrap();
        assert_eq!(own_folder(&at("cache/orrery")).unwrap(), there.join("orrery"));
        symlink("loop", at("loop")).unwrap();
        refusal(&at("loop/orrery"), "link to itself");
        symlink(at("nothing"), at("dangling")).unwrap();
        assert_eq!(
            own_folder(&at("dangling/orrery")).unwrap().parent(),
            Some(&*fs::canonicalize(at("nothing")).unwrap())
        );
    }

    #[test]
    fn what_another_user_made_is_refused() {
        if me() != 0 {
            return; // Only the superuser can give things away.
        }
        let base = tempfile::tempdir().unwrap();
        mode(base.path(), 0o1777);
        let at = |name: &str| base.path().join(name);
        fs::create_dir(at("orrery")).unwrap();
        mode(&at("orrery"), 0o700);
        chown(at("orrery"), Some(12345), None).unwrap();
        refusal(&at("orrery"), "another user");
        refusal(&at("orrery/deeper"), "another user");
        fs::create_dir(at("mine")).unwrap();
        symlink(at("mine"), at("theirs")).unwrap();
        lchown(at("theirs"), Some(12345), None).unwrap();
        refusal(&at("theirs/orrery"), "a link that another user made");

        let file = at("mine/as");
        fs::write(&file, "").unwrap();
        assert!(is_own_file(&file) && open_own(&file).is_ok());
        mode(&file, 0o666);
        assert!(!is_own_file(&file));
        mode(&file, 0o600);
        chown(&file, Some(12345), None).unwrap();
        assert!(!is_own_file(&file) && open_own(&file).is_err());
    }

    #[test]
    fn links_and_pipes_are_not_opened() {
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name);
        fs::write(at("file"), "").unwrap();
        symlink(at("file"), at("link")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
            .unwrap();
        assert!(open_own(&at("file")).is_ok());
        for name in ["link", "pipe", "none", "."] {
            assert!(open_own(&at(name)).is_err() && !is_own_file(&at(name)), "{name}");
        }
    }
}
