//! Counts on a thread of their own, while references come on another.

use super::Deferred;
use crate::reference::Reference;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Batches of references under way to the thread, at most.
const DEPTH: usize = 4;

/// The thread that plays references, and the way to it.
#[derive(Debug)]
pub struct Counter {
    full: SyncSender<Vec<Reference>>,
    empty: Receiver<Vec<Reference>>,
    thread: JoinHandle<Deferred>,
}

impl Counter {
    /// Counts by these; `None` where the system has no thread.
    #[must_use]
    pub fn start(mut deferred: Deferred) -> Option<Self> {
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
        let thread = Builder::new().name("count".into()).spawn(play).ok()?;
        Some(Self { full, empty, thread })
    }

    /// Plays the next references, behind those that are under way.
    pub fn play(&mut self, references: &[Reference]) {
        let mut batch = self.empty.try_recv().unwrap_or_default();
        batch.clear();
        batch.extend_from_slice(references);
        // Where the thread is no more, nobody counted: that is told at the end.
        let _ = self.full.send(batch);
    }

    /// What was counted of all references.
    #[must_use]
    pub fn end(self) -> Deferred {
        drop(self.full);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{MemoryTrace, Tables};
    use crate::sim::config::preset;
    use crate::sim::stats::collect;
    use crate::trace::synth::mix;

    #[test]
    fn what_is_counted_beside_is_what_is_counted_here() {
        let all: Vec<Reference> = mix(20_000, 3).collect();
        let caches = preset("paper").unwrap();
        let mut counter = Counter::start(Deferred::new(&caches).unwrap().unwrap()).unwrap();
        all.chunks(999).for_each(|part| counter.play(part));
        let trace = MemoryTrace::new(all, Tables::default());
        let counted = counter.end().stats(&trace, &caches, false, false).unwrap();
        assert_eq!(counted, collect(&trace, &caches, false).unwrap());
    }
}
