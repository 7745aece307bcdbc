//! What is begun under a name: noted, so that a stop removes it, and swept where nobody could.

use super::own;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// How names of what is begun begin, and end. Between them stand the process's number and letters by chance.
const PREFIX: &str = ".orrery-";
const SUFFIX: &str = ".part";
/// Entries of a folder that are looked at for what others left.
const LOOKED_AT: usize = 100_000;

/// Files and folders that this process began and has not ended.
static BEGUN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Folders that were swept.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static NOTICE: OnceLock<fn()> = OnceLock::new();

/// Has `notice` called before anything is begun under a name: who catches signals does so from then on.
pub fn on_begun(notice: fn()) {
    let _ = NOTICE.set(notice);
}

/// Removes what this process began under a name. For the end of a program that is stopped.
pub fn remove_begun() {
    for path in std::mem::take(&mut *BEGUN.lock().unwrap_or_else(PoisonError::into_inner)) {
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
}

/// A name that stands for something begun; dropped, it is as if nothing had been.
#[derive(Debug)]
pub(super) struct Begun(pub(super) PathBuf);

impl Begun {
    /// Takes note of a name before anything has it.
    pub(super) fn note(path: PathBuf) -> Self {
        if let Some(notice) = NOTICE.get() {
            notice();
        }
        BEGUN.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
        Self(path)
    }

    /// It has another name by now, or is gone.
    pub(super) fn forget(self) {
        BEGUN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
        std::mem::forget(self);
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0).or_else(|_| fs::remove_dir_all(&self.0));
        BEGUN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// A name in `folder` that nothing has.
pub(super) fn fresh(folder: &Path) -> PathBuf {
    use std::hash::{BuildHasher, RandomState};
    // The standard library's own chance; the name only has to be free, and is tried again where it is not.
    let chance = RandomState::new().hash_one(std::process::id());
    folder.join(format!("{PREFIX}{}-{chance:016x}{SUFFIX}", std::process::id()))
}

/// Locks what is begun, for as long as it is open: while its process lives, that is.
pub(super) fn lock(file: &File) -> bool {
    #[cfg(unix)]
    return rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok();
    #[cfg(not(unix))]
    {
        let _ = file;
        true
    }
}

/// Whether a file still has this name: a sweep may have come between its making and its lock.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |a: fs::Metadata, b: fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    file.metadata().ok().zip(fs::symlink_metadata(path).ok()).is_some_and(|(a, b)| same(a, b))
}

#[cfg(not(unix))]
pub(super) fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Removes what processes that are gone began in a folder; once a process and folder.
pub(super) fn sweep(folder: &Path) {
    if !SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned()) {
        return;
    }
    sweep_now(folder);
}

/// Ours by name and owner, and not locked.
fn sweep_now(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.take(LOOKED_AT).flatten() {
        let name = entry.file_name();
        if !name.to_str().is_some_and(is_begun) {
            continue;
        }
        let path = entry.path();
        // What cannot be opened or locked is somebody's.
        let Ok(file) = own::open_own(&path).or_else(|_| own::open_own_folder(&path)) else { continue };
        if cfg!(unix) && lock(&file) && is_at(&file, &path) {
            let is_folder = file.metadata().is_ok_and(|about| about.is_dir());
            let _ = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}

fn is_begun(name: &str) -> bool {
    let inner = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(SUFFIX));
    inner.and_then(|inner| inner.split_once('-')).is_some_and(|(process, chance)| {
        process.parse::<u32>().is_ok() && chance.len() == 16 && chance.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

/// A folder for what is needed while a command runs, of this user alone; dropped or stopped, it is gone with all in it.
#[derive(Debug)]
pub struct Scratch {
    begun: Option<Begun>,
    /// Open for its lock.
    _lock: File,
}

/// Tries to make a folder and to lock it before anybody sweeps it away. On a busy machine each may be lost when sweep follows sweep.
const TRIES: u32 = 256;

impl Scratch {
    /// A folder among temporary files. Where others could put theirs in its place (`TMPDIR` may name any folder), it is one
    /// in the user's cache folder.
    ///
    /// # Errors
    /// When there is no place for it.
    pub fn new() -> io::Result<Self> {
        Self::within(&own::temporary()?)
    }

    /// A folder in `folder`, which has to be safe.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn within(folder: &Path) -> io::Result<Self> {
        sweep(folder);
        for _ in 0..TRIES {
            let begun = Begun::note(fresh(folder));
            match own::make(&begun.0) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                    begun.forget();
                    continue;
                }
                Err(e) => {
                    begun.forget();
                    return Err(e);
                }
            }
            let open = match own::open_own_folder(&begun.0) {
                Ok(open) => open,
                // Another's sweep came between its making and its lock, and took it for something left.
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) => return Err(e),
            };
            if lock(&open) && is_at(&open, &begun.0) || cfg!(not(unix)) {
                return Ok(Self { begun: Some(begun), _lock: open });
            }
        }
        Err(io::Error::other("no folder can be locked there"))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.begun.as_ref().map_or(Path::new(""), |begun| &begun.0)
    }

    /// Writes a file of this name into it, and gives its path.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = self.path().join(name);
        fs::write(&path, bytes)?;
        Ok(path)
    }

    /// Gives it a name to stay by.
    ///
    /// # Errors
    /// When something has that name; the folder is gone then.
    pub fn keep(mut self, path: &Path) -> io::Result<()> {
        let Some(begun) = self.begun.take() else { return Ok(()) };
        fs::rename(&begun.0, path)?;
        begun.forget();
        Ok(())
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_left_is_swept_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let dead = [".orrery-1-0123456789abcdef.part", ".orrery-999999-00000000deadbeef.part"];
        let others =
            [".orrery-1-0123456789abcdef.par", ".orrery-x-0123456789abcdef.part", "notes.part", ".orrery-notes"];
        dead.iter().chain(&others).for_each(|name| fs::write(at(name), "x").unwrap());
        let folder_left = ".orrery-7-00000000000000aa.part";
        fs::create_dir(at(folder_left)).unwrap();
        fs::write(at(folder_left).join("as"), "x").unwrap();
        // One whose writer lives, and a link that leads elsewhere.
        let living = at(".orrery-1-00000000000000bb.part");
        let held = File::create(&living).unwrap();
        assert!(lock(&held));
        let link = at(".orrery-1-00000000000000cc.part");
        std::os::unix::fs::symlink(at("notes.part"), &link).unwrap();

        sweep_now(folder.path());
        assert!(dead.iter().all(|name| !at(name).exists()) && !at(folder_left).exists());
        assert!(others.iter().all(|name| at(name).exists()) && living.exists() && link.is_symlink());
        drop(held);
        sweep_now(folder.path());
        assert!(!living.exists());
    }

    #[test]
    fn a_sweep_between_the_making_of_a_folder_and_its_lock_costs_a_try() {
        let folder = tempfile::tempdir().unwrap();
        let made = std::sync::atomic::AtomicU32::new(0);
        let all = std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while made.load(std::sync::atomic::Ordering::Relaxed) < 2_000 {
                        sweep_now(folder.path());
                    }
                });
            }
            let make = || {
                let scratch = Scratch::within(folder.path());
                made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                scratch.map(|scratch| scratch.path().is_dir())
            };
            let all: Vec<io::Result<bool>> = (0..2_000).map(|_| make()).collect();
            all
        });
        assert!(
            all.iter().all(|made| matches!(made, Ok(true))),
            "{:?}",
            all.iter().find(|made| !matches!(made, Ok(true)))
        );
    }

    #[test]
    fn a_folder_for_a_while_is_locked_private_and_goes() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::within(folder.path()).unwrap();
        let path = scratch.path().to_owned();
        fs::write(path.join("x"), "x").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        sweep_now(folder.path());
        assert!(path.exists(), "its owner lives");
        drop(scratch);
        assert!(!path.exists());
        let scratch = Scratch::within(folder.path()).unwrap();
        fs::write(scratch.path().join("x"), "x").unwrap();
        scratch.keep(&folder.path().join("kept")).unwrap();
        assert!(folder.path().join("kept/x").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
