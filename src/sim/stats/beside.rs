//! Classes of misses on a thread of their own: what caches are asked for is copied and sent there.

use crate::sim::classes::Classifier;
use crate::sim::observer::{AccessList, Lists, Observer, Wants};
use crate::sim::{Cause, Event, observer};
use crate::units::CacheId;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, ScopedJoinHandle, available_parallelism};

/// Accesses and events sent at once, about: they stay in a processor's own cache.
const BATCH: usize = 1 << 14;
/// Batches under way, at most.
const DEPTH: usize = 8;

/// What happened, in order.
#[derive(Debug, Default)]
struct Batch {
    parts: Vec<Part>,
    /// Of all lists, one behind the other.
    asks: Vec<u64>,
    matched: Vec<u8>,
}

#[derive(Debug)]
enum Part {
    /// The next `length` of the asks; and of `matched`, unless all hit.
    List {
        cache: CacheId,
        length: usize,
        all_hit: bool,
    },
    Event(Event),
}

impl Batch {
    fn clear(&mut self) {
        self.parts.clear();
        self.asks.clear();
        self.matched.clear();
    }

    fn tell(&self, classifier: &mut Classifier) {
        let (mut asks, mut matched) = (self.asks.as_slice(), self.matched.as_slice());
        for part in &self.parts {
            match *part {
                Part::Event(event) => classifier.event(event),
                Part::List { cache, length, all_hit } => {
                    let (these, later) = asks.split_at(length);
                    let (hits, rest) = matched.split_at(if all_hit { 0 } else { length });
                    (asks, matched) = (later, rest);
                    let list = AccessList { cache, asks: these, matched: (!all_hit).then_some(hits) };
                    classifier.batch(&observer::Batch { accesses: &[list], ..observer::Batch::default() });
                }
            }
        }
    }
}

/// An observer that sends what a classifier wants to know.
#[derive(Debug)]
pub(super) struct Beside<'scope> {
    now: Batch,
    full: SyncSender<Batch>,
    empty: Receiver<Batch>,
    thread: ScopedJoinHandle<'scope, Option<Classifier>>,
}

impl<'scope> Beside<'scope> {
    /// A thread for a classifier, which comes back where there is no processor for it, or no thread to be had.
    pub(super) fn start<'env>(
        classifier: Classifier,
        scope: &'scope std::thread::Scope<'scope, 'env>,
    ) -> Result<Self, Classifier> {
        if available_parallelism().is_ok_and(|processors| processors.get() < 2) {
            return Err(classifier);
        }
        let (full, batches) = sync_channel::<Batch>(DEPTH);
        let (used, empty): (Sender<Batch>, _) = channel();
        // Handed over once the thread is there: it is not lost with one that cannot be had.
        let (hand, taken) = sync_channel::<Classifier>(1);
        let classify = move || {
            let mut classifier = taken.recv().ok()?;
            for mut batch in batches {
                batch.tell(&mut classifier);
                batch.clear();
                // At the end nobody fills it.
                let _ = used.send(batch);
            }
            Some(classifier)
        };
        let Ok(thread) = Builder::new().name("classes".into()).spawn_scoped(scope, classify) else {
            return Err(classifier);
        };
        match hand.send(classifier) {
            Ok(()) => Ok(Self { now: Batch::default(), full, empty, thread }),
            Err(back) => Err(back.0),
        }
    }

    fn send_full(&mut self) {
        if self.now.asks.len() + self.now.parts.len() >= BATCH {
            self.send();
        }
    }

    fn send(&mut self) {
        let next = self.empty.try_recv().unwrap_or_default();
        // Where the thread is no more, its panic is told at the end.
        let _ = self.full.send(std::mem::replace(&mut self.now, next));
    }

    /// Waits until all is classified, and gives the classifier back.
    pub(super) fn finish(mut self) -> Option<Classifier> {
        self.send();
        drop(self.full);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Observer for Beside<'_> {
    #[inline(always)]
    fn wants(&self) -> Wants {
        let lists = Lists { accesses: true, ..Lists::default() };
        Wants { batches: Some(lists), ..Wants::ALL_EVENTS }
    }

    #[inline]
    fn batch(&mut self, batch: &observer::Batch<'_>) {
        for list in batch.accesses {
            self.now.parts.push(Part::List {
                cache: list.cache,
                length: list.asks.len(),
                all_hit: list.matched.is_none(),
            });
            self.now.asks.extend_from_slice(list.asks);
            self.now.matched.extend_from_slice(list.matched.unwrap_or_default());
            self.send_full();
        }
    }

    #[inline]
    fn event(&mut self, event: Event) {
        let told = matches!(
            event,
            Event::Access { .. } | Event::Fill { .. } | Event::Invalidate { cause: Cause::Coherence, .. }
        );
        if told {
            self.now.parts.push(Part::Event(event));
            self.send_full();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Detail, StatsCollector, collect_detail};
    use crate::reference::{Kind, MemoryTrace, Reference, ReferenceSource, Tables};
    use crate::sim::config;
    use crate::sim::foresight::prepare;

    #[test]
    fn classes_are_the_same_beside() {
        let mut state = 7_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for (name, cores) in [("paper", 1), ("textbook", 1), ("zen4", 4)] {
            let references: Vec<Reference> = (0..200_000)
                .map(|n| {
                    let kind =
                        [Kind::Read, Kind::Read, Kind::Write, Kind::Modify][usize::try_from(draw(4)).unwrap_or(0)];
                    let near = if draw(3) == 0 { draw(1 << 22) } else { n % 4096 * 8 };
                    let core = u16::try_from(draw(cores)).unwrap_or(0);
                    Reference { core, ..Reference::new(kind, 0x1000 + near, 8) }
                })
                .collect();
            let mut config = config::preset(name).expect("there is one");
            config.cores = u16::try_from(cores).unwrap_or(1);
            let source = MemoryTrace::new(references.clone(), Tables::default());
            assert!(source.len() > source.chunk_len(), "long enough for a thread of its own");
            let detail = Detail { classes: true, lines: false };
            let beside = collect_detail(&source, &config, detail, true).expect("sound");
            let hierarchy = prepare(&config, &source).expect("sound");
            let mut here = StatsCollector::with(hierarchy, source.tables(), detail);
            here.play_all(&references);
            here.flush();
            assert_eq!(beside, here.stats(), "{name}");
            assert!(beside.levels[0].capacity > 0 && beside.levels[0].compulsory > 0, "{name}");
        }
    }
}
