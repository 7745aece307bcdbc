//! What the collector of a program that records itself does besides, while it records: it counts for `orrery run --stats`, and tells a
//! window what it reads.

use super::hierarchy::{DEFAULT_PRESET, hierarchy};
use super::open::open_cache;
use super::stats;
use crate::capture::asked::Question;
#[cfg(target_os = "linux")]
use crate::capture::followed::Teller;
use crate::cli::CacheArgs;
use crate::reference::{Reference, ReferenceSource};
use crate::sim::stats::{Counter, Deferred};
use crate::trace::native::NativeTrace;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What whoever starts the program asks of its collector.
#[derive(Serialize, Deserialize)]
pub(super) enum Wish {
    /// The numbers of `stats` under these caches.
    Count(CacheArgs),
    /// Each reference, told to this socket.
    Follow(PathBuf),
}

/// Counts under way.
pub(super) struct Counting {
    asked: Question<Wish>,
    cache: CacheArgs,
    /// Caches at play, those that it will most likely be; `None` where they foresee, or there is no thread to be had.
    counter: Option<Counter>,
}

/// What is done besides.
pub(super) enum Live {
    /// References are counted.
    Count(Box<Counting>),
    /// References are told.
    #[cfg(target_os = "linux")]
    Follow(Teller),
}

impl Live {
    /// For the recording `output`, where that is asked for.
    pub(super) fn asked(output: &Path) -> Option<Self> {
        let asked: Question<Wish> = Question::about(output)?;
        match &asked.what {
            Wish::Count(cache) => {
                let cache = cache.clone();
                // Whatever is wrong with the caches was said before the program began.
                let config = hierarchy(&cache, DEFAULT_PRESET).ok()?;
                let counter = Deferred::new(&config).ok().flatten().and_then(Counter::start);
                Some(Self::Count(Box::new(Counting { asked, cache, counter })))
            }
            #[cfg(target_os = "linux")]
            Wish::Follow(socket) => Some(Self::Follow(Teller::to(socket))),
            #[cfg(not(target_os = "linux"))]
            Wish::Follow(_) => None,
        }
    }

    /// Takes the next references.
    pub(super) fn play(&mut self, references: &[Reference]) {
        match self {
            Self::Count(counting) => counting.counter.iter_mut().for_each(|counter| counter.play(references)),
            #[cfg(target_os = "linux")]
            Self::Follow(teller) => teller.tell(references),
        }
    }

    /// Leaves the numbers of the recording, which is whole at `output`, where they are asked for.
    ///
    /// # Errors
    /// When it cannot be read, or the numbers not be written.
    pub(super) fn finish(self, output: &Path) -> anyhow::Result<()> {
        let counting = match self {
            Self::Count(counting) => *counting,
            #[cfg(target_os = "linux")]
            Self::Follow(_) => return Ok(()),
        };
        let Counting { asked, cache, counter: Some(counter) } = counting else { return Ok(()) };
        let deferred = counter.end();
        let source = NativeTrace::open(output)?;
        let caches = open_cache(&cache, &source as &dyn ReferenceSource)?;
        let stats = deferred.stats(&source, &caches.config, false, false)?;
        let mut numbers = Vec::new();
        stats::print(source.tables(), &caches, &stats, (false, crate::cli::ROWS), &mut numbers)?;
        Ok(asked.answer(&numbers)?)
    }
}
