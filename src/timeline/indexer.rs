//! Plays a trace once, chunk by chunk, and keeps what later seeks need. What is indexed can be used while the rest is not.

use super::answers::Marks;
use super::chunks::ChunkCache;
use super::count::{Count, Finders, Over};
use super::known::Known;
use super::phase_names;
use super::phases::{self, Phases};
use super::served::Served;
use super::shelf::{Kept, Shelf};
use super::summary::Counted;
use super::tallies::Tallies;
use super::tally::Watch;
use super::{Flows, Keyframe, Options, Outcome, Outcomes, Simulated, Summary, Tally, Timeline};
use crate::reference::{LineMap, Reference, ReferenceSource, Region, SourceError, few_regions};
use crate::sim::classes::Classifier;
use crate::sim::{Hierarchy, Long, Observer, Packer, Shards, SimError, check_core};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;

/// What is worth a thread: references to decode, or eighths of bytes to pack.
const WORTH: u64 = 1 << 15;

/// Does work in a thread of its own; `None` where the system has none left.
fn aside<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Option<JoinHandle<T>> {
    std::thread::Builder::new().name(name.into()).spawn(work).ok()
}

fn joined<T>(thread: JoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn pack(packer: &RwLock<Packer>, state: &Hierarchy, tally: &Tally) -> Keyframe {
    let mut packer = packer.write().unwrap_or_else(PoisonError::into_inner);
    Keyframe { state: packer.pack(state), tally: tally.packed() }
}

/// Parts a hierarchy as [`Options::shards`] says.
fn shards_of(hierarchy: Hierarchy, most: usize) -> Shards {
    if most == 0 { Shards::for_machine(hierarchy) } else { Shards::new(hierarchy, most) }
}

/// Makes a [`Timeline`], or one after another of more and more of the trace.
pub struct Indexer {
    source: Arc<dyn ReferenceSource>,
    options: Options,
    chunks: Arc<ChunkCache>,
    /// References indexed.
    tick: u64,
    state: Shards,
    tally: Tally,
    summary: Summary,
    flows: Flows,
    phases: Phases,
    tallies: Tallies,
    served: Served,
    /// Both or none: see [`Options::outcomes_up_to`].
    classified: Option<(Classifier, Outcomes)>,
    named: Vec<Region>,
    finders: Finders,
    /// As of the last timeline: good while no other region is found, and no other table is there.
    known: Option<Known>,
    start: Arc<Hierarchy>,
    packer: Arc<RwLock<Packer>>,
    keyframes: Vec<Kept>,
    /// Where keyframes go that memory has no room for.
    shelf: Option<Arc<dyn Shelf>>,
    /// Keyframes at the front that are on the shelf.
    shelved: usize,
    /// The newest keyframe, while another thread packs it.
    packing: Option<JoinHandle<Keyframe>>,
    /// What long references touched so far.
    long: Long,
    /// The chunk after the last, while another thread decodes it.
    decoding: Option<JoinHandle<Result<Arc<[Reference]>, SourceError>>>,
    spacing: u64,
    /// Bytes of the keyframes.
    held: usize,
}

impl Indexer {
    /// Nothing is indexed yet. The regions and source lines that `source` names now are those that count; `hierarchy` is empty.
    #[must_use]
    pub fn new(source: Arc<dyn ReferenceSource>, hierarchy: Hierarchy, options: Options) -> Self {
        let named = few_regions(&source.tables().regions);
        let lines = LineMap::new(source.tables());
        let levels = hierarchy.levels();
        let fits = !source.is_whole() || source.len() <= options.outcomes_up_to;
        let shards = if fits { 1 } else { options.shards };
        let mut indexer = Self {
            options,
            chunks: Arc::new(ChunkCache::new(options.chunks)),
            tick: 0,
            tally: Tally::new(&named, &lines, &hierarchy),
            summary: Summary::new(levels),
            flows: Flows::new(&hierarchy, source.len()),
            phases: Phases::new(),
            tallies: Tallies::new(),
            served: Served::new(levels, &named),
            classified: fits.then(|| (Classifier::new(&hierarchy), Outcomes::default())),
            finders: Finders::new(&named, &lines),
            named,
            known: None,
            start: Arc::new(hierarchy.clone()),
            packer: Arc::default(),
            keyframes: Vec::new(),
            shelf: None,
            shelved: 0,
            packing: None,
            long: Long::default(),
            decoding: None,
            spacing: options.spacing.max(1),
            held: 0,
            state: shards_of(hierarchy, shards),
            source,
        };
        indexer.keep();
        indexer
    }

    /// References indexed so far.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.tick
    }

    /// Whether nothing is indexed yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tick == 0
    }

    /// The trace.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn ReferenceSource> {
        &self.source
    }

    /// Indexes the next chunk. False: there is none now; whether one may come yet, [`ReferenceSource::is_whole`] tells.
    ///
    /// # Errors
    /// When the source cannot be read, or the trace has a core that the configuration has not.
    pub fn advance(&mut self) -> Result<bool, SimError> {
        let chunk_len = self.source.chunk_len();
        if self.tick >= self.source.len() || !self.tick.is_multiple_of(chunk_len) {
            return Ok(false);
        }
        let number = self.tick / chunk_len;
        let chunk = match self.decoding.take() {
            Some(thread) => joined(thread)?,
            None => self.source.chunk(number)?,
        };
        if chunk_len >= WORTH && (number + 2) * chunk_len <= self.source.len() {
            let source = Arc::clone(&self.source);
            self.decoding = aside("decode", move || source.chunk(number + 1));
        }
        self.long.note(&chunk, self.tick)?;
        let mut rest = &chunk[..];
        while !rest.is_empty() {
            if self.tick > 0 && self.tick.is_multiple_of(self.spacing) {
                self.keep();
            }
            // Up to the next keyframe, or the next bucket.
            let edge = self.flows.edge_after(self.tick).min(self.phases.edge_after(self.tick));
            let edge = edge.min(self.tallies.edge_after(self.tick)).min(self.served.edge_after(self.tick));
            let mut next = (self.spacing - self.tick % self.spacing).min(edge - self.tick);
            // Where the classes end, borders are met as those without are.
            if self.classified.is_none() || self.tick + next > self.options.outcomes_up_to {
                next = next.min(self.summary.edge_after(self.tick) - self.tick);
            }
            let some = usize::try_from(next).map_or(rest.len(), |n| n.min(rest.len()));
            let (references, later) = rest.split_at(some);
            self.play(references)?;
            rest = later;
        }
        Ok(!chunk.is_empty())
    }

    fn play(&mut self, references: &[Reference]) -> Result<(), SimError> {
        for (reference, tick) in references.iter().zip(self.tick..) {
            check_core(self.start.config(), reference, tick)?;
        }
        let next = self.tick + references.len() as u64;
        self.flows.step(self.tick);
        self.phases.step(self.tick);
        self.tallies.step(self.tick, &self.tally);
        self.served.step(self.tick);
        if next > self.options.outcomes_up_to {
            // Longer than was to be seen when it began.
            if self.classified.take().is_some() {
                self.summary.without_classes();
                self.state = shards_of(self.state.hierarchy().into_owned(), self.options.shards);
            }
        }
        let Self { state, tally, summary, flows, phases, served, finders, .. } = self;
        match &mut self.classified {
            Some((classifier, outcomes)) => {
                let levels = state.shape().levels();
                for (reference, tick) in references.iter().zip(self.tick..) {
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
            None => {
                summary.border(self.tick, Counted { state, classifier: None });
                let over = Over { summary, flows, phases, served };
                state.play(references, &mut Count::new(finders, tally, Some(over), self.tick));
            }
        }
        self.flows.reach(next);
        self.summary.reach(next);
        self.tick = next;
        Ok(())
    }

    /// Keeps a keyframe of what is; where they outgrow their budget, every other one goes.
    fn keep(&mut self) {
        self.packed();
        if !self.tick.is_multiple_of(self.spacing) {
            // The one before doubled the spacing.
            return;
        }
        if self.start.state_bytes() as u64 >= WORTH * 8 {
            let (packer, state, tally) =
                (Arc::clone(&self.packer), self.state.hierarchy().into_owned(), self.tally.clone());
            self.packing = aside("pack", move || pack(&packer, &state, &tally));
            if self.packing.is_some() {
                return;
            }
        }
        self.add(pack(&self.packer, &self.state.hierarchy(), &self.tally));
    }

    /// Takes the keyframe that is being packed.
    fn packed(&mut self) {
        if let Some(thread) = self.packing.take() {
            self.add(joined(thread));
        }
    }

    fn add(&mut self, keyframe: Keyframe) {
        self.held += keyframe.bytes();
        self.keyframes.push(Kept::Here(Arc::new(keyframe)));
        // The oldest go first: who plays while a trace grows asks for the newest.
        while self.held > self.options.keyframe_bytes
            && let Some(shelf) = self.shelf.clone()
            && let Some(oldest) = self.keyframes.get_mut(self.shelved)
        {
            let here = oldest.here();
            if oldest.shelve(&shelf) {
                self.held -= here;
                self.shelved += 1;
            } else {
                self.shelf = None;
            }
        }
        let there: u64 = self.keyframes[..self.shelved].iter().map(Kept::there).sum();
        let full = self.held > self.options.keyframe_bytes || there > self.options.shelf_bytes;
        if full && self.keyframes.len() > 2 {
            self.spacing *= 2;
            let mut n = 0u64;
            self.keyframes.retain(|_| {
                n += 1;
                !n.is_multiple_of(2)
            });
            self.shelved = self.shelved.div_ceil(2);
            self.held = self.keyframes[self.shelved..].iter().map(Kept::here).sum();
        }
    }

    /// With a shelf for keyframes that memory has no room for.
    #[must_use]
    pub fn with_shelf(mut self, shelf: Arc<dyn Shelf>) -> Self {
        self.shelf = Some(shelf);
        self
    }

    /// What is indexed, as a timeline of its own: it stays as it is when the indexer goes on. Keyframes and outcomes are shared.
    #[must_use]
    pub fn timeline(&mut self) -> Timeline {
        self.packed();
        let classifier = self.classified.as_ref().map(|(classifier, _)| classifier);
        self.summary.settle(Counted { state: &self.state, classifier });
        let found = self.tally.found().regions();
        let whole = self.source.is_whole();
        let own = self.source.tables();
        // Of a trace that goes on, what runs would be looked up again and again.
        let all = whole && self.tick == self.source.len();
        let (lines, regions) = (self.finders.lines.map(), (&self.named[..], self.finders.regions.map()));
        let name = |range| all.then(|| phase_names::name(self.source.as_ref(), lines, regions, range).ok()?)?;
        let answered = self.tally.answers().of(None);
        let marks = phases::marks(&own.marks, &self.phases, (&self.summary, &answered), &self.start, &name);
        let same = |known: &Known| known.found == found && known.whole == whole && known.tables.marks == marks;
        let known = match self.known.take().filter(same) {
            Some(known) => known,
            None => Known::new(own, &self.named, found, marks, whole),
        };
        self.known = Some(known.clone());
        Timeline {
            source: Arc::clone(&self.source),
            chunks: Arc::clone(&self.chunks),
            len: self.tick,
            total: whole.then(|| self.source.len()),
            start: Arc::clone(&self.start),
            tally: Tally::new(&self.named, self.finders.lines.map(), &self.start),
            end: self.tally.clone(),
            packer: Arc::clone(&self.packer),
            keyframes: self.keyframes.clone(),
            spacing: self.spacing,
            named: self.finders.regions.map().clone(),
            lines: self.finders.lines.map().clone(),
            regions: known.map,
            tables: known.tables,
            rows: known.rows,
            summary: self.summary.clone(),
            flows: self.flows.settled(),
            phases: self.phases.clone(),
            tallies: self.tallies.clone(),
            served: self.served.clone(),
            outcomes: self.classified.as_ref().map(|(_, outcomes)| outcomes.clone()),
            simulated: match (&self.classified, self.state.count()) {
                (Some(_), _) => Simulated::Classified,
                (None, Ok(shards)) => Simulated::Shards(shards),
                (None, Err(why)) => Simulated::OneThread(why.clone()),
            },
        }
    }
}
