//! One file that is being written.

use super::left::{Begun, fresh, is_at, lock, sweep};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

/// Links followed to where a file is, at most.
const LINKS: usize = 40;

/// A file that gets its name when it is whole. Dropped before that, it leaves nothing.
#[derive(Debug)]
pub struct Draft {
    file: File,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Without a name, in the folder of the target.
    Nameless(PathBuf),
    /// Under a hidden name beside the target.
    Begun(PathBuf, Begun),
    /// A pipe or device: written as it is.
    Direct,
}

impl Draft {
    /// Begins the file that will be `path` or, where that is a link, what it points to. A pipe or device is written as it is.
    ///
    /// # Errors
    /// When `path` is a folder, or its folder is not there or cannot be written to.
    pub fn create(path: &Path) -> io::Result<Self> {
        check_name(path)?;
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            // Renaming over a pipe or a device would destroy it.
            Ok(about) if !about.is_file() => {
                let file = File::options().write(true).open(path)?;
                return Ok(Self { file, state: State::Direct });
            }
            _ => {}
        }
        Self::within(&behind_links(path)?)
    }

    /// Begins the file that will be `target`, which is no link that is to be followed.
    ///
    /// # Errors
    /// When its folder is not there or cannot be written to.
    pub fn within(target: &Path) -> io::Result<Self> {
        let folder = folder_of(target);
        sweep(folder);
        if let Some(file) = nameless(folder) {
            return Ok(Self { file, state: State::Nameless(target.to_owned()) });
        }
        let (file, begun) = begin(folder)?;
        Ok(Self { file, state: State::Begun(target.to_owned(), begun) })
    }

    /// The file, for reading and writing.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// A path by which another program can open it while it is written, as long as this one runs; a pipe or device has none.
    #[must_use]
    pub fn reach(&self) -> Option<PathBuf> {
        match &self.state {
            State::Begun(_, begun) => Some(begun.0.clone()),
            State::Nameless(_) => reach(&self.file),
            State::Direct => None,
        }
    }

    /// Whether it is a pipe or device, which has no other moment than now.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        matches!(self.state, State::Direct)
    }

    /// Gives a whole file its name, in place of what has it.
    ///
    /// # Errors
    /// When that is not possible; nothing is left then but what was there.
    pub fn finish(self) -> io::Result<()> {
        let (target, begun) = match self.state {
            State::Direct => return Ok(()),
            State::Begun(target, begun) => (target, begun),
            State::Nameless(target) => match link(&self.file, &target) {
                Ok(()) => return Ok(()),
                Err(_) => {
                    let begun = name_beside(&self.file, folder_of(&target))?;
                    (target, begun)
                }
            },
        };
        fs::rename(&begun.0, &target)?;
        begun.forget();
        Ok(())
    }

    /// As [`finish`](Self::finish), under the first of `names` that nothing has: which it was, or `None` where all are taken.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn finish_first(self, names: impl IntoIterator<Item = PathBuf>) -> io::Result<Option<PathBuf>> {
        for name in names {
            let linked = match &self.state {
                State::Begun(_, begun) => fs::hard_link(&begun.0, &name),
                _ => link(&self.file, &name),
            };
            match linked {
                Ok(()) => return Ok(Some(name)),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                // No links on that file system: the name is free now, which is all that can be known.
                Err(_) if fs::symlink_metadata(&name).is_err() => {
                    let state = match self.state {
                        State::Begun(_, begun) => State::Begun(name.clone(), begun),
                        _ => State::Nameless(name.clone()),
                    };
                    return Self { state, ..self }.finish().map(|()| Some(name));
                }
                Err(_) => {}
            }
        }
        Ok(None)
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Draft {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What a path names once links are followed, whether it is there or not.
pub(crate) fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    for _ in 0..LINKS {
        match fs::symlink_metadata(&at) {
            Ok(about) if about.is_symlink() => {
                check_link(&at, &about)?;
                at = folder_of(&at).join(fs::read_link(&at)?);
            }
            _ => return Ok(at),
        }
    }
    Err(io::Error::other("found a link to itself; expected the name of a file"))
}

/// Refuses the name of a folder, which the system would refuse when the file is whole.
pub(crate) fn check_name(path: &Path) -> io::Result<()> {
    let ends_as_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    match ends_as_folder {
        true => Err(io::Error::other("found a name that ends in `/`; expected the name of a file")),
        false => Ok(()),
    }
}

/// Where all may write, only links of one's own or of the folder's owner are followed: `/proc/sys/fs/protected_symlinks`, which
/// holds for who opens a link and not for who reads it.
#[cfg(unix)]
fn check_link(link: &Path, about: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let folder = fs::metadata(folder_of(link))?;
    let is_shared = folder.mode() & 0o1002 == 0o1002;
    if !is_shared || about.uid() == rustix::process::geteuid().as_raw() || about.uid() == folder.uid() {
        return Ok(());
    }
    let found =
        "found a link of another user in a folder that everybody can write to; remove it or choose another name";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, found))
}

#[cfg(not(unix))]
fn check_link(_: &Path, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// A file without a name, which can be given one; `None` where the system has no such thing.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    if std::env::var_os("ORRERY_NAMED_DRAFTS").is_some() {
        return None; // So that tests reach the other way on any file system.
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    // The umask takes away what an ordinary file would not have.
    let file = File::from(rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
    // It is named by way of /proc, and locked before it is.
    (lock(&file) && Path::new(&handle(&file)).exists()).then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> Option<File> {
    None
}

#[cfg(target_os = "linux")]
fn handle(file: &File) -> String {
    format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file))
}

/// A path of a file without a name for other programs.
#[cfg(target_os = "linux")]
fn reach(file: &File) -> Option<PathBuf> {
    let path = format!("/proc/{}/fd/{}", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(file));
    Some(path.into())
}

#[cfg(not(target_os = "linux"))]
fn reach(_: &File) -> Option<PathBuf> {
    None
}

/// Gives a file without a name one that nothing has.
#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, handle(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A hidden name for a file without one; where none can be given, that of a copy.
fn name_beside(file: &File, folder: &Path) -> io::Result<Begun> {
    let begun = Begun::note(fresh(folder));
    if link(file, &begun.0).is_ok() {
        return Ok(begun);
    }
    begun.forget();
    let (mut copy, begun) = begin(folder)?;
    let mut from = file.try_clone()?;
    from.rewind()?;
    io::copy(&mut from, &mut copy)?;
    copy.sync_all()?;
    Ok(begun)
}

/// A file under a hidden name, locked.
fn begin(folder: &Path) -> io::Result<(File, Begun)> {
    for _ in 0..16 {
        let begun = Begun::note(fresh(folder));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        match options.open(&begun.0) {
            Ok(file) => {
                // Where no lock can be had nobody sweeps either. One that came between took the name away.
                lock(&file);
                if is_at(&file, &begun.0) {
                    return Ok((file, begun));
                }
                begun.forget();
            }
            Err(e) => {
                begun.forget();
                if e.kind() != io::ErrorKind::AlreadyExists {
                    return Err(e);
                }
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, symlink};

    fn names(folder: &Path) -> Vec<String> {
        let mut all: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        all.sort();
        all
    }

    /// Both ways, whatever this file system can do.
    fn drafts(target: &Path) -> Vec<Draft> {
        let (file, begun) = begin(folder_of(target)).unwrap();
        vec![Draft::create(target).unwrap(), Draft { file, state: State::Begun(behind_links(target).unwrap(), begun) }]
    }

    #[test]
    fn a_file_appears_whole_over_what_was_there_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("t");
        for before in [None, Some("before")] {
            for n in 0..2 {
                let _ = fs::remove_file(&target);
                before.into_iter().for_each(|text| fs::write(&target, text).unwrap());
                let mut draft = drafts(&target).swap_remove(n);
                draft.write_all(b"after").unwrap();
                assert_eq!(fs::read_to_string(&target).ok().as_deref(), before, "not yet");
                draft.finish().unwrap();
                assert_eq!(fs::read_to_string(&target).unwrap(), "after");
                assert_eq!(names(folder.path()), ["t"]);
            }
        }
        // As any new file, and not private as temporary ones are.
        let usual = folder.path().join("usual");
        fs::write(&usual, "").unwrap();
        assert_eq!(fs::metadata(&target).unwrap().mode(), fs::metadata(&usual).unwrap().mode());
        for draft in drafts(&target) {
            drop(draft);
        }
        assert_eq!(names(folder.path()), ["t", "usual"]);
    }

    #[test]
    fn links_are_written_through_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("deep/file"), "before").unwrap();
        symlink("deep/file", at("link")).unwrap();
        symlink(at("link"), at("second")).unwrap();
        symlink("deep/new", at("dangling")).unwrap();
        for (link, file) in [("link", "deep/file"), ("second", "deep/file"), ("dangling", "deep/new")] {
            for mut draft in drafts(&at(link)) {
                draft.write_all(link.as_bytes()).unwrap();
                draft.finish().unwrap();
                assert_eq!(fs::read_to_string(at(file)).unwrap(), link);
                assert!(at(link).is_symlink());
            }
        }
        assert_eq!(names(folder.path()), ["dangling", "deep", "link", "second"]);
        symlink("loop", at("loop")).unwrap();
        assert!(Draft::create(&at("loop")).is_err());
        assert!(Draft::create(folder.path()).is_err() && Draft::create(&at("none/t")).is_err());
    }

    #[test]
    fn links_of_others_in_a_folder_for_all_are_not_followed() {
        use std::os::unix::fs::{PermissionsExt, lchown};
        if rustix::process::geteuid().as_raw() != 0 {
            return; // Only the superuser can give things away.
        }
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        fs::write(folder.path().join("file"), "mine").unwrap();
        symlink("file", &link).unwrap();
        lchown(&link, Some(12345), None).unwrap();
        Draft::create(&link).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        let error = Draft::create(&link).unwrap_err().to_string();
        assert!(error.contains("another user"), "{error}");
    }

    #[test]
    fn the_first_free_name_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("t");
        let names = || (0..3).map(|n| folder.path().join(n.to_string()));
        for draft in drafts(&target) {
            assert!(draft.finish_first(names()).unwrap().is_some());
        }
        assert_eq!(Draft::create(&target).unwrap().finish_first(names()).unwrap(), Some(folder.path().join("2")));
        assert_eq!(Draft::create(&target).unwrap().finish_first(names()).unwrap(), None);
        assert_eq!(super::tests::names(folder.path()), ["0", "1", "2"]);
    }

    #[test]
    fn a_pipe_is_written_as_it_is() {
        let draft = Draft::create(Path::new("/dev/null")).unwrap();
        assert!(draft.is_direct());
        draft.finish().unwrap();
    }
}
