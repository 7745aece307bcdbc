//! Native copies of foreign traces, in the user's cache folder: who opens a text a second time waits for no text to be read.

use super::room::Room;
use super::{Note, Opening, Tell, WORTH};
use crate::reference::{Reference, ReferenceSource, SourceError, Tables};
use crate::trace::{self, Feed, Growing, Started, TraceError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Bytes of all copies together, and of one.
const BYTES: u64 = 8 << 30;

fn room() -> Room {
    Room::new("read", "orrery", BYTES)
}

/// Opens a trace; its copy in its place, where there is one and the trace is as it was.
///
/// # Errors
/// As [`trace::start`].
pub(super) fn start(opening: &Opening) -> Result<Started, TraceError> {
    (opening.tell)(&Note::Opens(opening.path.clone()));
    let started = trace::start(&opening.path, opening.format)?;
    let Started::Growing(feed) = &started else { return Ok(started) };
    let path = feed.name().and_then(|name| room().path(&name)).filter(|path| path.symlink_metadata().is_ok());
    let Some(path) = path else { return Ok(started) };
    match feed.copy_at(&path) {
        Ok(Some(copy)) => {
            Room::used(&path);
            Ok(Started::Whole(Box::new(Healing { opening: opening.clone(), path, copy, anew: OnceLock::new() })))
        }
        Ok(None) => Ok(started),
        Err(_) => {
            drop_damaged(&path, opening);
            Ok(started)
        }
    }
}

/// Takes a damaged copy away, and says so.
fn drop_damaged(copy: &Path, Opening { path, tell, .. }: &Opening) {
    Room::remove(copy);
    tell(&Note::DamagedCopy { copy: copy.to_owned(), trace: path.clone() });
}

/// A copy that stands in for a trace. Where it turns out damaged, whoever is reading it, the trace is read anew and takes its
/// place from there on.
struct Healing {
    opening: Opening,
    path: PathBuf,
    copy: Box<dyn ReferenceSource>,
    anew: OnceLock<Result<Arc<Growing>, SourceError>>,
}

impl Healing {
    fn heal(&self) -> Result<Arc<Growing>, SourceError> {
        drop_damaged(&self.path, &self.opening);
        let Started::Growing(mut feed) = trace::start(&self.opening.path, self.opening.format)? else {
            return Err(self.changed());
        };
        while feed.advance()? {}
        let anew = Arc::clone(feed.trace());
        if (anew.len(), anew.identity()) != (self.copy.len(), self.copy.identity()) {
            return Err(self.changed());
        }
        keep(&feed, &self.opening.tell, &|| true);
        Ok(anew)
    }

    fn changed(&self) -> SourceError {
        let trace = self.opening.path.display();
        SourceError(format!("{trace}: found another trace than when it was opened; expected the same; open it again"))
    }
}

impl ReferenceSource for Healing {
    fn len(&self) -> u64 {
        self.copy.len()
    }

    fn chunk_len(&self) -> u64 {
        self.copy.chunk_len()
    }

    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
        if self.anew.get().is_none()
            && let Ok(chunk) = self.copy.chunk(index)
        {
            return Ok(chunk);
        }
        match self.anew.get_or_init(|| self.heal()) {
            Ok(anew) => anew.chunk(index),
            Err(error) => Err(error.clone()),
        }
    }

    fn batch(&self, from: u64, out: &mut Vec<Reference>) -> Result<(), SourceError> {
        if self.anew.get().is_none() && self.copy.batch(from, out).is_ok() {
            return Ok(());
        }
        match self.anew.get_or_init(|| self.heal()) {
            Ok(anew) => anew.batch(from, out),
            Err(error) => Err(error.clone()),
        }
    }

    fn tables(&self) -> &Tables {
        self.copy.tables()
    }

    fn cores(&self) -> Result<u32, SourceError> {
        match self.anew.get() {
            Some(Ok(anew)) => anew.cores(),
            _ => self.copy.cores(),
        }
    }

    fn notices(&self) -> &[String] {
        self.copy.notices()
    }

    fn identity(&self) -> Option<String> {
        self.copy.identity()
    }
}

/// Keeps a copy of a trace that was read to its end, and tells why where it cannot. It stops where `go` says no.
pub fn keep(feed: &Feed, tell: &Tell, go: &dyn Fn() -> bool) {
    let (trace, room) = (feed.trace(), room());
    let Some(name) = feed.name().filter(|_| trace.len() >= WORTH && trace.identity().is_some()) else {
        return;
    };
    if let Err(error) = write(feed, &room, &name, go) {
        tell(&Note::NoCopy { folder: room.shown(), error });
    }
}

/// Why no copy is kept.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The folder, or the file in it, cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The trace cannot be written as a native file.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// It would take more than all copies together may.
    #[error("it would take more than {} GiB", BYTES >> 30)]
    Long,
    /// The trace is not what was read any more.
    #[error("the trace has changed meanwhile")]
    Changed,
}

fn write(feed: &Feed, room: &Room, name: &str, go: &dyn Fn() -> bool) -> Result<(), CopyError> {
    let Some(path) = room.path(name) else { return Ok(room.folder().map(drop)?) };
    let draft = room.begin(&path)?;
    let long = || draft.file().metadata().is_ok_and(|about| !room.takes(about.len()));
    let shown = path.display().to_string();
    if feed.copy(&shown, draft.file().try_clone()?, &|| go() && !long())?.is_none() {
        return if long() { Err(CopyError::Long) } else { Ok(()) };
    }
    // Only what can be opened gets a name.
    if !feed.is_copy(&shown, draft.file().try_clone()?)? {
        return Err(CopyError::Changed);
    }
    Ok(room.end(draft, &path)?)
}
