//! Native copies of foreign traces, in the user's cache folder: who opens a text a second time waits for no text to be read.

use super::room::Room;
use crate::cli::TraceArgs;
use crate::reference::{Reference, ReferenceSource, SourceError, Tables};
use crate::shown::say;
#[cfg(feature = "gpu")]
use crate::trace::Feed;
use crate::trace::{self, Growing, Started, TraceError};
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
pub(super) fn start(args: &TraceArgs) -> Result<Started, TraceError> {
    #[cfg(target_os = "linux")]
    super::capture::tell_of_leftover(&args.trace);
    let started = trace::start(&args.trace, args.format)?;
    let Started::Growing(feed) = &started else { return Ok(started) };
    let path = feed.name().and_then(|name| room().path(&name)).filter(|path| path.symlink_metadata().is_ok());
    let Some(path) = path else { return Ok(started) };
    match feed.copy_at(&path) {
        Ok(Some(copy)) => {
            Room::used(&path);
            Ok(Started::Whole(Box::new(Healing { args: args.clone(), path, copy, anew: OnceLock::new() })))
        }
        Ok(None) => Ok(started),
        Err(_) => {
            drop_damaged(&path, args);
            Ok(started)
        }
    }
}

/// Takes a damaged copy away, and says so.
fn drop_damaged(copy: &Path, args: &TraceArgs) {
    Room::remove(copy);
    say!("note: {}: found a damaged copy of {}, which is read anew", copy.display(), args.trace.display());
}

/// A copy that stands in for a trace. Where it turns out damaged, whoever is reading it, the trace is read anew and takes its
/// place from there on.
struct Healing {
    args: TraceArgs,
    path: PathBuf,
    copy: Box<dyn ReferenceSource>,
    anew: OnceLock<Result<Arc<Growing>, SourceError>>,
}

impl Healing {
    fn heal(&self) -> Result<Arc<Growing>, SourceError> {
        drop_damaged(&self.path, &self.args);
        let Started::Growing(mut feed) = trace::start(&self.args.trace, self.args.format)? else {
            return Err(self.changed());
        };
        while feed.advance()? {}
        let anew = Arc::clone(feed.trace());
        if (anew.len(), anew.identity()) != (self.copy.len(), self.copy.identity()) {
            return Err(self.changed());
        }
        #[cfg(feature = "gpu")]
        keep(&feed, &|| true);
        Ok(anew)
    }

    fn changed(&self) -> SourceError {
        let trace = self.args.trace.display();
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
#[cfg(feature = "gpu")]
pub(super) fn keep(feed: &Feed, go: &dyn Fn() -> bool) {
    let (trace, room) = (feed.trace(), room());
    let Some(name) = feed.name().filter(|_| trace.len() >= super::room::WORTH && trace.identity().is_some()) else {
        return;
    };
    if let Err(error) = write(feed, &room, &name, go) {
        say!(
            "note: {}: no copy of the trace is kept ({error:#}); the next opening reads it again. XDG_CACHE_HOME names another \
             folder",
            room.shown()
        );
    }
}

#[cfg(feature = "gpu")]
fn write(feed: &Feed, room: &Room, name: &str, go: &dyn Fn() -> bool) -> anyhow::Result<()> {
    let Some(path) = room.path(name) else { return Ok(room.folder().map(drop)?) };
    let draft = room.begin(&path)?;
    let long = || draft.file().metadata().is_ok_and(|about| !room.takes(about.len()));
    let shown = path.display().to_string();
    if feed.copy(&shown, draft.file().try_clone()?, &|| go() && !long())?.is_none() {
        anyhow::ensure!(!long(), "it would take more than {} GiB", BYTES >> 30);
        return Ok(());
    }
    // Only what can be opened gets a name.
    anyhow::ensure!(feed.is_copy(&shown, draft.file().try_clone()?)?, "the trace has changed meanwhile");
    Ok(room.end(draft, &path)?)
}
