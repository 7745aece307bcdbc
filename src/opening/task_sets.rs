//! The tasks of a file, kept in the user's cache folder as they were read: a long file is read once.
//!
//! ```text
//! magic  length of the key, key  notices  tasks (TaskSet::pack)  CRC-32 of all that
//! ```
//!
//! The key says of which file it is and which version wrote it. What is another's, damaged or cut short is made anew.

use super::room::Room;
use super::{Note, Tell};
use crate::daisen::{self, DaisenError, Dialect, TaskFile};
use crate::files::open_own;
use crate::tasks::TaskSet;
use crate::trace::Stamp;
use flate2::Crc;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"ORRYTASK";
/// Of what the bytes between mean, and of what is read out of a file.
const VERSION: u32 = 1;
/// Bytes of a file from which it is worth keeping its tasks.
const WORTH: u64 = 16 << 20;
/// Tasks that are shown until all are read.
const FIRST: u64 = 200_000;
/// Bytes of all that are kept.
const ALL: u64 = 4 << 30;
/// Bytes read or written at once.
const PIECE: usize = 1 << 20;
/// Longest key, and longest notice.
const LONGEST: u64 = 1 << 20;

/// Reads the tasks of a file, or finds them as they were read before.
///
/// # Errors
/// As [`daisen::read`].
pub fn tasks(path: &Path, tell: &Tell) -> Result<TaskFile, DaisenError> {
    let Some(kept) = Kept::of(path) else { return daisen::read(path) };
    if let Some(found) = kept.load(tell) {
        return Ok(found);
    }
    let file = daisen::read(path)?;
    // What was written to while it was read is another file by now.
    if Kept::of(path).is_some_and(|now| now.key == kept.key)
        && let Err(error) = kept.save(&file)
    {
        tell(&Note::NoTasks { folder: kept.room.shown(), error });
    }
    Ok(file)
}

/// Of a file that takes long to read its first tasks, to be shown until all of them are: none where it is read at once, or where its
/// tasks are kept.
#[must_use]
pub fn first_tasks(path: &Path) -> Option<TaskFile> {
    let kept = Kept::of(path)?;
    if kept.path.as_ref().is_some_and(|path| path.exists()) {
        return None;
    }
    // What is wrong with it is said by whoever reads all of it.
    daisen::read_first(path, FIRST).ok().flatten().filter(|file| !file.set.is_empty())
}

/// Where the tasks of one file are, or would be.
struct Kept {
    room: Room,
    path: Option<PathBuf>,
    key: String,
}

/// Bytes that went by, summed up.
struct Summed<T> {
    inner: T,
    crc: Crc,
}

impl<T: Read> Read for Summed<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        self.crc.update(&bytes[..count]);
        Ok(count)
    }
}

impl<T: Write> Write for Summed<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.crc.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl Kept {
    /// Of a file that is long enough to be worth it.
    fn of(path: &Path) -> Option<Self> {
        if path.metadata().ok()?.len() < WORTH {
            return None;
        }
        // SQLite keeps the latest writes in files beside it.
        let beside = |ending: &str| {
            let mut name = OsString::from(path);
            name.push(ending);
            Stamp::of(Path::new(&name))
        };
        let stamps = [Stamp::of(path)?, beside("-wal")?, beside("-journal")?];
        let version = env!("CARGO_PKG_VERSION");
        let key = format!("tasks {VERSION} by orrery {version} of\n{stamps:?}");
        let room = Room::new("tasks", "tasks", ALL);
        Some(Self { path: room.path(&key), room, key })
    }

    fn load(&self, tell: &Tell) -> Option<TaskFile> {
        let path = self.path.as_ref()?;
        let file = match open_own(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return None,
            file => file,
        };
        match file.and_then(|file| self.read(file)) {
            Ok(found) => {
                Room::used(path);
                Some(found)
            }
            Err(_) => {
                Room::remove(path);
                tell(&Note::DamagedTasks(path.clone()));
                None
            }
        }
    }

    fn read(&self, file: File) -> io::Result<TaskFile> {
        let damaged = || io::Error::from(io::ErrorKind::InvalidData);
        let mut input = Summed { inner: BufReader::with_capacity(PIECE, file), crc: Crc::new() };
        let mut magic = [0; 8];
        input.read_exact(&mut magic)?;
        let key = text(&mut input)?;
        let dialect = Dialect::ALL.into_iter().map(|row| row.0).nth(long(&mut input)?).ok_or_else(damaged)?;
        let mut notices = Vec::new();
        for _ in 0..long(&mut input)? {
            notices.push(text(&mut input)?);
        }
        if &magic != MAGIC || key != self.key {
            return Err(damaged());
        }
        let set = TaskSet::unpack(&mut input)?;
        let expected = input.crc.sum();
        let mut sum = [0; 4];
        input.inner.read_exact(&mut sum)?;
        (u32::from_le_bytes(sum) == expected).then_some(TaskFile { set, dialect, notices }).ok_or_else(damaged)
    }

    fn save(&self, file: &TaskFile) -> io::Result<()> {
        let Some(path) = &self.path else { return self.room.folder().map(drop) };
        let draft = self.room.begin(path)?;
        let inner = BufWriter::with_capacity(PIECE, draft.file().try_clone()?);
        let mut out = Summed { inner, crc: Crc::new() };
        out.write_all(MAGIC)?;
        put(&mut out, &self.key)?;
        let dialect = Dialect::ALL.iter().position(|row| row.0 == file.dialect).unwrap_or(0);
        out.write_all(&(dialect as u64).to_le_bytes())?;
        out.write_all(&(file.notices.len() as u64).to_le_bytes())?;
        file.notices.iter().try_for_each(|notice| put(&mut out, notice))?;
        file.set.pack(&mut out)?;
        let sum = out.crc.sum();
        out.inner.write_all(&sum.to_le_bytes())?;
        out.inner.flush()?;
        drop(out);
        if !self.room.takes(draft.file().metadata()?.len()) {
            return Ok(());
        }
        self.room.end(draft, path)
    }
}

fn put(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(&(text.len() as u64).to_le_bytes())?;
    out.write_all(text.as_bytes())
}

fn long(input: &mut impl Read) -> io::Result<usize> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    usize::try_from(u64::from_le_bytes(bytes)).map_err(|_| io::ErrorKind::InvalidData.into())
}

fn text(input: &mut impl Read) -> io::Result<String> {
    let len = long(input)?;
    if len as u64 > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; len];
    input.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
}
