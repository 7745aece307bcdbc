//! Native copies of foreign traces, in the user's cache folder: who opens a text a second time waits for no text to be read.

use super::room::Room;
use crate::cli::TraceArgs;
#[cfg(feature = "gpu")]
use crate::trace::Feed;
use crate::trace::{self, Started, TraceError};
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of all copies together, and of one.
const BYTES: u64 = 8 << 30;

fn room() -> Room {
    Room::new("read", "orrery", BYTES)
}

/// A trace that was opened.
pub(super) struct Opened {
    pub(super) started: Started,
    /// Where the copy is that stands in for it. It is removed where it turns out damaged.
    #[cfg_attr(not(feature = "viewer"), expect(dead_code, reason = "who cannot begin anew tells of the damage"))]
    pub(super) copy: Option<PathBuf>,
}

/// Opens a trace; its copy in its place, where there is one and the trace is as it was.
///
/// # Errors
/// As [`trace::start`].
pub(super) fn start(args: &TraceArgs) -> Result<Opened, TraceError> {
    #[cfg(target_os = "linux")]
    super::capture::tell_of_leftover(&args.trace);
    let started = trace::start(&args.trace, args.format)?;
    let Started::Growing(feed) = &started else { return Ok(Opened { started, copy: None }) };
    let path = feed.name().map(|name| room().path(&name)).filter(|path| path.exists());
    let Some(path) = path else { return Ok(Opened { started, copy: None }) };
    match feed.copy_at(&path) {
        Ok(Some(source)) => {
            Room::used(&path);
            return Ok(Opened { started: Started::Whole(source), copy: Some(path) });
        }
        Ok(None) => {}
        Err(_) => {
            let _ = fs::remove_file(&path);
            tell_damaged(&path, args);
        }
    }
    Ok(Opened { started, copy: None })
}

/// Says that a copy was damaged.
pub(super) fn tell_damaged(copy: &Path, args: &TraceArgs) {
    eprintln!("note: {}: found a damaged copy of {}, which is read anew", copy.display(), args.trace.display());
}

/// Keeps a copy of a trace that was read to its end, and tells why where it cannot. It stops where `go` says no.
#[cfg(feature = "gpu")]
pub(super) fn keep(feed: &Feed, go: &dyn Fn() -> bool) {
    use crate::reference::ReferenceSource as _;
    let (trace, room) = (feed.trace(), room());
    let Some(name) = feed.name().filter(|_| trace.len() >= super::room::WORTH && trace.identity().is_some()) else {
        return;
    };
    if let Err(error) = write(feed, &room, &room.path(&name), go) {
        eprintln!(
            "note: {}: no copy of the trace is kept ({error:#}); the next opening reads it again. XDG_CACHE_HOME names another \
             folder",
            room.folder.display()
        );
    }
}

#[cfg(feature = "gpu")]
fn write(feed: &Feed, room: &Room, path: &Path, go: &dyn Fn() -> bool) -> anyhow::Result<()> {
    let file = room.begin()?;
    let long = || file.as_file().metadata().is_ok_and(|about| !room.takes(about.len()));
    if feed.copy(&file.path().display().to_string(), file.reopen()?, &|| go() && !long())?.is_none() {
        anyhow::ensure!(!long(), "it would take more than {} GiB", BYTES >> 30);
        return Ok(());
    }
    // Only what can be opened gets a name.
    anyhow::ensure!(feed.copy_at(file.path())?.is_some(), "the trace has changed meanwhile");
    Ok(room.end(file, path)?)
}
