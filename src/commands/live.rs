//! Numbers counted while a program records itself: `orrery run --stats` asks for them, the collector of the program counts.
//!
//! The program stands between the two, so what is asked for is in a file that its environment names, and the numbers go into
//! one beside that. Programs that the program starts have that environment too: only the recording of that name counts.

use super::hierarchy::{DEFAULT_PRESET, hierarchy};
use super::open::open_cache;
use super::stats;
use crate::cli::CacheArgs;
use crate::reference::{Reference, ReferenceSource};
use crate::sim::stats::Deferred;
use crate::trace::native::NativeTrace;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// The variable that names the file.
pub(super) const ASKED: &str = "ORRERY_COUNT";

/// What is asked for.
#[derive(Debug, Serialize, Deserialize)]
struct Asked {
    /// The recording.
    output: PathBuf,
    cache: CacheArgs,
}

/// Numbers that are asked for.
#[derive(Debug)]
pub(super) struct Request {
    path: PathBuf,
}

impl Request {
    /// Asks for the numbers of the recording `output`, by a file in `folder`, under these caches.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn new(folder: &Path, output: &Path, cache: &CacheArgs) -> anyhow::Result<Self> {
        let path = folder.join("count");
        let asked = Asked { output: output.to_owned(), cache: cache.clone() };
        fs::write(&path, serde_json::to_vec(&asked)?)
            .with_context(|| format!("{}: cannot be written", path.display()))?;
        Ok(Self { path })
    }

    /// What the program is to have in its environment.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The numbers, as they are to be printed; `None` where nobody counted.
    pub(super) fn answer(&self) -> Option<Vec<u8>> {
        fs::read(answer_beside(&self.path)).ok()
    }
}

fn answer_beside(asked: &Path) -> PathBuf {
    let mut name = OsString::from(asked);
    name.push(".numbers");
    name.into()
}

/// Counts under way, on a thread of their own.
pub(super) struct Live {
    asked: PathBuf,
    cache: CacheArgs,
    /// `None` where the caches foresee, or there is no thread to be had.
    counter: Option<Counter>,
}

/// Batches of references under way to the thread, at most.
const DEPTH: usize = 4;

/// The thread that plays references, and the way to it.
struct Counter {
    full: SyncSender<Vec<Reference>>,
    empty: Receiver<Vec<Reference>>,
    /// Caches at play, those that it will most likely be.
    thread: JoinHandle<Deferred>,
}

impl Counter {
    fn start(mut deferred: Deferred) -> Option<Self> {
        let (full, batches) = sync_channel::<Vec<Reference>>(DEPTH);
        let (used, empty) = channel();
        let play = move || {
            for batch in batches {
                deferred.play(&batch);
                // At the end nobody fills it.
                let _ = used.send(batch);
            }
            deferred
        };
        let thread = std::thread::Builder::new().name("count".into()).spawn(play).ok()?;
        Some(Self { full, empty, thread })
    }
}

impl Live {
    /// For the recording `output`, where that is asked for.
    pub(super) fn asked(output: &Path) -> Option<Self> {
        let path = PathBuf::from(std::env::var_os(ASKED)?);
        let Asked { output: wanted, cache } = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        if wanted != output {
            return None;
        }
        // Whatever is wrong with the caches was said before the program began.
        let config = hierarchy(&cache, DEFAULT_PRESET).ok()?;
        let counter = Deferred::new(&config).ok().flatten().and_then(Counter::start);
        Some(Self { asked: path, cache, counter })
    }

    /// Plays the next references.
    pub(super) fn play(&mut self, references: &[Reference]) {
        if let Some(Counter { full, empty, .. }) = &mut self.counter {
            let mut batch = empty.try_recv().unwrap_or_default();
            batch.clear();
            batch.extend_from_slice(references);
            // Where the thread is no more, nobody counted: that is told at the end.
            let _ = full.send(batch);
        }
    }

    /// Leaves the numbers of the recording, which is whole at `output`.
    ///
    /// # Errors
    /// When it cannot be read, or the numbers not be written.
    pub(super) fn finish(self, output: &Path) -> anyhow::Result<()> {
        let Some(Counter { full, thread, .. }) = self.counter else { return Ok(()) };
        drop(full);
        let deferred = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let source = NativeTrace::from_file(output.display().to_string(), File::open(output)?)?;
        let caches = open_cache(&self.cache, &source as &dyn ReferenceSource)?;
        let stats = deferred.stats(&source, &caches.config, false, false)?;
        let mut numbers = Vec::new();
        stats::print(source.tables(), &caches, &stats, false, &mut numbers)?;
        // Whole, or not there.
        let answer = answer_beside(&self.asked);
        let part = answer.with_added_extension("part");
        fs::write(&part, numbers)?;
        Ok(fs::rename(part, answer)?)
    }
}
