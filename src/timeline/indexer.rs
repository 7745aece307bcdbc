//! Plays a trace once, chunk by chunk, and keeps what later seeks need. What is indexed can be used while the rest is not.

use super::answers::Marks;
use super::aside::{aside, joined};
use super::count::{Count, Finders, Over};
use super::index::Index;
use super::keyframes::Keeper;
use super::known::Known;
use super::setup::Setup;
use super::shelf::Shelf;
use super::summary::Counted;
use super::tally::Watch;
use super::{Options, Outcome, Outcomes, Simulated, Timeline};
use crate::reference::{Reference, ReferenceSource, SourceError};
use crate::sim::classes::Classifier;
use crate::sim::{Hierarchy, Observer, PlayCheck, Shards, SimError};
use std::sync::Arc;
use std::thread::JoinHandle;

/// References that are worth a thread to decode them.
const REFERENCES_WORTH_A_THREAD: u64 = 1 << 15;

/// Parts a hierarchy as [`Options::shards`] says.
fn shards_of(hierarchy: Hierarchy, most: usize) -> Shards {
    if most == 0 { Shards::for_machine(hierarchy) } else { Shards::new(hierarchy, most) }
}

/// Makes a [`Timeline`], or one after another of more and more of the trace.
pub struct Indexer {
    setup: Setup,
    options: Options,
    state: Shards,
    index: Index,
    keeper: Keeper,
    /// There while the index has outcomes: see [`Options::outcomes_up_to`].
    classifier: Option<Classifier>,
    finders: Finders,
    /// As of the last timeline: good while no other region is found, and no other table is there.
    known: Option<Known>,
    check: PlayCheck,
    /// The chunk after the last, while another thread decodes it.
    decoding: Option<JoinHandle<Result<Arc<[Reference]>, SourceError>>>,
}

impl Indexer {
    /// Nothing is indexed yet. The regions and source lines that `source` names now are those that count; `hierarchy` is empty.
    #[must_use]
    pub fn new(source: Arc<dyn ReferenceSource>, hierarchy: Hierarchy, options: Options) -> Self {
        let fits = !source.is_whole() || source.len() <= options.outcomes_up_to;
        let setup = Setup::new(source, hierarchy.clone(), options.chunks);
        let mut indexer = Self {
            index: Index::new(&setup, fits.then(Outcomes::default)),
            keeper: Keeper::new(&options),
            classifier: fits.then(|| Classifier::new(&hierarchy)),
            finders: Finders::new(setup.regions.clone(), &setup.lines),
            known: None,
            check: PlayCheck::new([hierarchy.config()]),
            decoding: None,
            state: shards_of(hierarchy, if fits { 1 } else { options.shards }),
            setup,
            options,
        };
        indexer.keep();
        indexer
    }

    /// References indexed so far.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.index.len
    }

    /// Whether nothing is indexed yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.len == 0
    }

    /// The trace.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn ReferenceSource> {
        &self.setup.source
    }

    /// Indexes the next chunk. False: there is none now; whether one may come yet, [`ReferenceSource::is_whole`] tells.
    ///
    /// # Errors
    /// When the source cannot be read, or the trace has a core that the configuration has not.
    pub fn advance(&mut self) -> Result<bool, SimError> {
        let source = Arc::clone(&self.setup.source);
        let (len, chunk_len) = (self.index.len, source.chunk_len());
        if len >= source.len() || !len.is_multiple_of(chunk_len) {
            return Ok(false);
        }
        let number = len / chunk_len;
        let chunk = match self.decoding.take() {
            Some(thread) => joined(thread)?,
            None => source.chunk(number)?,
        };
        if chunk_len >= REFERENCES_WORTH_A_THREAD && (number + 2) * chunk_len <= source.len() {
            self.decoding = aside("decode", move || source.chunk(number + 1));
        }
        self.check.look(&chunk, len)?;
        let mut rest = &chunk[..];
        while !rest.is_empty() {
            let at = self.index.len;
            if at > 0 {
                self.keep();
            }
            // Up to the next keyframe, or the next bucket.
            let mut next = self.keeper.edge_after(at).min(self.index.edge()) - at;
            // Where the classes end, borders are met as those without are.
            if self.classifier.is_none() || at + next > self.options.outcomes_up_to {
                next = next.min(self.index.summary.edge_after(at) - at);
            }
            let some = usize::try_from(next).map_or(rest.len(), |n| n.min(rest.len()));
            let (references, later) = rest.split_at(some);
            self.play(references);
            rest = later;
        }
        Ok(!chunk.is_empty())
    }

    fn play(&mut self, references: &[Reference]) {
        let from = self.index.len;
        let next = from + references.len() as u64;
        self.index.step();
        if next > self.options.outcomes_up_to && self.classifier.take().is_some() {
            // Longer than was to be seen when it began.
            self.index.outcomes = None;
            self.index.summary.without_classes();
            self.state = shards_of(self.state.hierarchy().into_owned(), self.options.shards);
        }
        let Self { state, index, classifier, finders, .. } = self;
        let Index { tally, summary, flows, phases, served, outcomes, .. } = index;
        match (classifier, outcomes) {
            (Some(classifier), Some(outcomes)) => {
                let levels = state.shape().levels();
                for (reference, tick) in references.iter().zip(from..) {
                    let mut watch = Watch::default();
                    if summary.is_border(tick) {
                        summary.border(tick, Counted { state, classifier: Some(classifier) });
                    }
                    let state = state.join();
                    classifier.begin();
                    phases.add(reference);
                    flows.begin(reference);
                    state.access(reference, &mut (&mut watch, (&mut *classifier, &mut *flows)));
                    outcomes.push(Outcome::new(&watch, levels, classifier));
                    let region = finders.add(tally, reference, tick, &watch);
                    if !tally.answers().drops(reference.kind) {
                        served.add(reference.addr, region, Marks::of(&watch));
                    }
                    summary.add(&watch);
                }
            }
            _ => {
                summary.border(from, Counted { state, classifier: None });
                let over = Over { summary, flows, phases, served };
                state.play(references, &mut Count::new(finders, tally, Some(over), from));
            }
        }
        self.index.reach(next);
    }

    /// Keeps a keyframe of what is, where one is to be.
    fn keep(&mut self) {
        self.keeper.step(self.index.len, &self.state, &self.index.tally);
    }

    /// With a shelf for keyframes that memory has no room for.
    #[must_use]
    pub fn with_shelf(self, shelf: Arc<dyn Shelf>) -> Self {
        Self { keeper: self.keeper.with_shelf(shelf), ..self }
    }

    /// What is indexed, as a timeline of its own: it stays as it is when the indexer goes on. Keyframes and outcomes are shared.
    #[must_use]
    pub fn timeline(&mut self) -> Timeline {
        let simulated = match (&self.classifier, self.state.count()) {
            (Some(_), _) => Simulated::Classified,
            (None, Ok(shards)) => Simulated::Shards(shards),
            (None, Err(why)) => Simulated::OneThread(why.clone()),
        };
        self.index.summary.settle(Counted { state: &self.state, classifier: self.classifier.as_ref() });
        self.index.flows.arrive();
        let keyframes = self.keeper.keyframes().clone();
        let timeline = Timeline::of(self.setup.clone(), self.index.clone(), keyframes, simulated, self.known.take());
        self.known = Some(timeline.known.clone());
        timeline
    }
}
