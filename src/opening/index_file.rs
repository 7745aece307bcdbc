//! The index of a trace under its caches, kept in the user's cache folder: the second opening finds it there.
//!
//! ```text
//! magic  keyframes, outcomes ...  directory  key  | where the directory is, its checksum, length of the key, magic
//! ```
//!
//! The key says of which trace, caches and version it is. An index that is another's, damaged or cut short is made anew.

use super::room::{Room, sum};
use super::{Note, Tell, WORTH};
use crate::files::open_own;
use crate::reference::ReferenceSource;
use crate::sim::{Hierarchy, SimError};
use crate::timeline::{Indexer, Options, Shelf, Slip, Timeline};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// First and last bytes of an index.
const MAGIC: &[u8; 8] = b"ORRYINDX";
/// Of what the bytes between mean. A change of the simulator that changes its counts is a new version too.
const VERSION: u32 = 10;
/// Bytes at the end of a file: place, length and checksum of the directory, length of the key, magic.
const TRAILER: usize = 8 + 8 + 4 + 4 + 8;
/// Bytes of keyframes in a file: so many a reference, within bounds. Traces take some three.
const BYTES_A_REFERENCE: u64 = 2;
const LEAST: u64 = 64 << 20;
const MOST: u64 = 1 << 30;
/// Bytes of all indexes together.
const ALL: u64 = 4 << 30;

fn room() -> Room {
    Room::new("index", "index", ALL)
}

/// Where the index of one trace under one hierarchy is, or would be.
pub(super) struct IndexFile {
    room: Room,
    path: Option<PathBuf>,
    key: String,
}

/// A file of bytes that grows at its end.
struct FileShelf {
    file: Mutex<File>,
}

impl Shelf for FileShelf {
    fn put(&self, bytes: &[u8]) -> Option<Slip> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let at = file.seek(SeekFrom::End(0)).ok()?;
        file.write_all(bytes).ok()?;
        Some(Slip { at, bytes: u32::try_from(bytes.len()).ok()?, sum: sum(bytes) })
    }

    fn get(&self, slip: &Slip) -> Option<Vec<u8>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // The length comes from a file: no more than is there is taken memory for.
        let end = slip.at.checked_add(u64::from(slip.bytes))?;
        (end <= file.metadata().ok()?.len()).then_some(())?;
        file.seek(SeekFrom::Start(slip.at)).ok()?;
        let mut bytes = vec![0; slip.bytes as usize];
        file.read_exact(&mut bytes).ok()?;
        (sum(&bytes) == slip.sum).then_some(bytes)
    }
}

impl IndexFile {
    /// Of a trace that says what it is, and is long enough to be worth it.
    pub(super) fn of(source: &dyn ReferenceSource, hierarchy: &Hierarchy) -> Option<Self> {
        if source.len() < WORTH {
            return None;
        }
        let version = env!("CARGO_PKG_VERSION");
        // Names and latencies come from the configuration that it is opened with.
        let (trace, caches) = (source.identity()?, hierarchy.config().simulated().to_toml());
        let key = format!("index {VERSION} by orrery {version} of\n{trace}\nunder\n{caches}");
        let room = room();
        Some(Self { path: room.path(&key), room, key })
    }

    /// The index, where there is one that is whole.
    pub(super) fn load(
        &self,
        source: &Arc<dyn ReferenceSource>,
        hierarchy: &Hierarchy,
        tell: &Tell,
    ) -> Option<Timeline> {
        let path = self.path.as_ref()?;
        let file = match open_own(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return None,
            file => file,
        };
        let made = file.ok().and_then(|file| self.read(file, source, hierarchy));
        match &made {
            Some(_) => Room::used(path),
            None => {
                Room::remove(path);
                tell(&Note::DamagedIndex(path.clone()));
            }
        }
        made
    }

    fn read(&self, mut file: File, source: &Arc<dyn ReferenceSource>, hierarchy: &Hierarchy) -> Option<Timeline> {
        let len = file.metadata().ok()?.len();
        let mut trailer = [0; TRAILER];
        file.seek(SeekFrom::Start(len.checked_sub(TRAILER as u64)?)).ok()?;
        file.read_exact(&mut trailer).ok()?;
        let long = |at: usize| Some(u64::from_le_bytes(trailer[at..at + 8].try_into().ok()?));
        let short = |at: usize| Some(u32::from_le_bytes(trailer[at..at + 4].try_into().ok()?));
        if &trailer[24..] != MAGIC {
            return None;
        }
        let key = Slip { at: long(0)?.checked_add(long(8)?)?, bytes: short(20)?, sum: sum(self.key.as_bytes()) };
        let directory = Slip { at: long(0)?, bytes: u32::try_from(long(8)?).ok()?, sum: short(16)? };
        let shelf = Arc::new(FileShelf { file: Mutex::new(file) });
        (shelf.get(&key)? == self.key.as_bytes()).then_some(())?;
        let directory = shelf.get(&directory)?;
        let shelf: Arc<dyn Shelf> = shelf;
        Timeline::restore(Arc::clone(source), hierarchy.clone(), Options::default(), &shelf, &directory)
    }

    /// Keeps an index, and tells why where it cannot.
    pub(super) fn save(&self, timeline: &Timeline, tell: &Tell) {
        if let Err(error) = self.write(timeline) {
            tell(&Note::NoIndex { folder: self.room.shown(), error });
        }
    }

    fn write(&self, timeline: &Timeline) -> io::Result<()> {
        let Some(path) = &self.path else { return self.room.folder().map(drop) };
        let draft = self.room.begin(path)?;
        let shelf = FileShelf { file: Mutex::new(draft.file().try_clone()?) };
        let full = || io::Error::other("no space is left, or a keyframe is damaged");
        shelf.put(MAGIC).ok_or_else(full)?;
        let directory = timeline.store(&shelf).ok_or_else(full)?;
        let slip = shelf.put(&directory).ok_or_else(full)?;
        let key = shelf.put(self.key.as_bytes()).ok_or_else(full)?;
        let mut trailer = Vec::with_capacity(TRAILER);
        trailer.extend(slip.at.to_le_bytes());
        trailer.extend(u64::from(slip.bytes).to_le_bytes());
        trailer.extend(slip.sum.to_le_bytes());
        trailer.extend(key.bytes.to_le_bytes());
        trailer.extend(MAGIC);
        shelf.put(&trailer).ok_or_else(full)?;
        self.room.end(draft, path)
    }

    /// A file for keyframes that memory has no room for; it is gone with the program.
    pub(super) fn shelf() -> Option<Arc<dyn Shelf>> {
        let file = room().folder().and_then(tempfile::tempfile_in);
        let file = file.or_else(|_| tempfile::tempfile()).ok()?;
        Some(Arc::new(FileShelf { file: Mutex::new(file) }))
    }
}

/// A whole trace's timeline: from the index that is kept in the user's cache folder, or made anew with keyframes of `memory` bytes in
/// memory and, where the trace is long enough, kept there. `progress` gets (references done, all); it stops the work by `false`,
/// and the timeline ends there. `tell` hears of an index that is damaged or cannot be kept.
///
/// # Errors
/// When the source cannot be read, or the trace has a core that the hierarchy has not.
pub fn timeline(
    source: &Arc<dyn ReferenceSource>,
    hierarchy: Hierarchy,
    memory: u64,
    tell: &Tell,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<Timeline, SimError> {
    let file = IndexFile::of(source.as_ref(), &hierarchy);
    if let Some(timeline) = file.as_ref().and_then(|file| file.load(source, &hierarchy, tell)) {
        return Ok(timeline);
    }
    let mut indexer = indexer(source, hierarchy, memory);
    while indexer.advance()? && progress(indexer.len(), source.len()) {}
    let timeline = indexer.timeline();
    if let Some(file) = file.filter(|_| timeline.is_whole()) {
        file.save(&timeline, tell);
    }
    Ok(timeline)
}

/// An indexer that keeps keyframes of `memory` bytes and has somewhere to put the others.
pub(super) fn indexer(source: &Arc<dyn ReferenceSource>, hierarchy: Hierarchy, memory: u64) -> Indexer {
    let keyframe_bytes = usize::try_from(memory).unwrap_or(usize::MAX);
    // A short trace fits into memory: no file is opened for it.
    let is_short = source.is_whole() && source.len() < WORTH;
    let Some(shelf) = (!is_short).then(IndexFile::shelf).flatten() else {
        return Indexer::new(Arc::clone(source), hierarchy, Options { keyframe_bytes, ..Options::default() });
    };
    // Of a trace that grows nobody knows how long it gets.
    let len = if source.is_whole() { source.len() } else { u64::MAX };
    let shelf_bytes = len.saturating_mul(BYTES_A_REFERENCE).clamp(LEAST, MOST);
    let options = Options { keyframe_bytes, shelf_bytes, ..Options::default() };
    Indexer::new(Arc::clone(source), hierarchy, options).with_shelf(shelf)
}
