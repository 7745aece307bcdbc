//! Numbers counted while a program records itself: `orrery run --stats` asks for them, the collector of the program counts.

use super::hierarchy::{DEFAULT_PRESET, hierarchy};
use super::open::open_cache;
use super::stats;
use crate::capture::asked::Question;
use crate::cli::CacheArgs;
use crate::reference::{Reference, ReferenceSource};
use crate::sim::stats::{Counter, Deferred};
use crate::trace::native::NativeTrace;
use std::path::Path;

/// Counts under way.
pub(super) struct Live {
    asked: Question<CacheArgs>,
    /// Caches at play, those that it will most likely be; `None` where they foresee, or there is no thread to be had.
    counter: Option<Counter>,
}

impl Live {
    /// For the recording `output`, where that is asked for.
    pub(super) fn asked(output: &Path) -> Option<Self> {
        let asked: Question<CacheArgs> = Question::about(output)?;
        // Whatever is wrong with the caches was said before the program began.
        let config = hierarchy(&asked.what, DEFAULT_PRESET).ok()?;
        let counter = Deferred::new(&config).ok().flatten().and_then(Counter::start);
        Some(Self { asked, counter })
    }

    /// Plays the next references.
    pub(super) fn play(&mut self, references: &[Reference]) {
        self.counter.iter_mut().for_each(|counter| counter.play(references));
    }

    /// Leaves the numbers of the recording, which is whole at `output`.
    ///
    /// # Errors
    /// When it cannot be read, or the numbers not be written.
    pub(super) fn finish(self, output: &Path) -> anyhow::Result<()> {
        let Some(counter) = self.counter else { return Ok(()) };
        let deferred = counter.end();
        let source = NativeTrace::open(output)?;
        let caches = open_cache(&self.asked.what, &source as &dyn ReferenceSource)?;
        let stats = deferred.stats(&source, &caches.config, false, false)?;
        let mut numbers = Vec::new();
        stats::print(source.tables(), &caches, &stats, false, &mut numbers)?;
        Ok(self.asked.answer(&numbers)?)
    }
}
