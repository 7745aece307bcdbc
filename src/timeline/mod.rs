//! Any moment of a trace, by replay: keyframes of the whole cache state every so many references, the trace read in
//! chunks through a bounded cache, a [`Cursor`] that stands at one tick and remembers the moves that led there.
//!
//! ```text
//! tick 0        K          2K         3K
//!      |--------|----------|----------|---->   keyframes: hierarchy + tally
//!                          '--> replay --[== window, logged ==] tick
//! ```
//!
//! Reference *n* happens during tick [n, n+1). Seeking anywhere gives exactly the state and log that playing there gives.

pub mod answers;
pub mod chunks;
pub mod clock;
mod count;
pub mod cursor;
mod evictions;
pub mod flows;
pub mod grid;
pub mod in_step;
mod indexer;
mod known;
mod ladder;
pub mod life;
pub mod log;
pub mod outcome;
pub mod pace;
pub mod pages;
mod phase_names;
mod phases;
mod search;
pub mod served;
pub mod shelf;
mod strip_kind;
pub mod summary;
mod tallies;
pub mod tally;

pub use answers::{Answered, Answers};
pub use clock::{Clock, ClockKind};
pub use cursor::{Cursor, Moment};
pub use flows::{Flow, Flows, Group};
pub use grid::check as check_grid;
pub use grid::{Aggregate, Distribution, Grid, GridCounts, GridError, GridKind, GridOf, GridPart};
pub use in_step::{InStep, NoStep, StepBy, StepError};
pub use indexer::Indexer;
pub use life::{Life, LifeStep};
pub use log::{Log, Move, PageFill, Place, Step, Touch};
pub use outcome::{Outcome, Outcomes};
pub use pace::Pace;
pub use pages::{Translation, translations};
pub use served::{Served, ServedBlock};
pub use shelf::{Shelf, Slip};
pub use strip_kind::{NoStrip, StripKind};
pub use summary::{Summary, Sums};
pub use tallies::Share;
pub use tally::Tally;

use crate::axis::{Axis, AxisUnit};
use crate::reference::{LineMap, ReferenceSource, RegionMap, SourceError, Tables};
use crate::sim::config::HierarchyConfig;
use crate::sim::shards::Unsharded;
use crate::sim::{Hierarchy, Packed, Packer, SimError};
use chunks::ChunkCache;
use phases::Phases;
use shelf::Kept;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};
use tallies::Tallies;
use tally::Row;

/// How an index is built.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Memory that keyframes may hold, bytes; more go on a shelf where there is one, else their spacing doubles.
    pub keyframe_bytes: usize,
    /// Bytes of keyframes that may be on a shelf; past it their spacing doubles.
    pub shelf_bytes: u64,
    /// First spacing of keyframes, references.
    pub spacing: u64,
    /// Longest trace for which every reference's outcome and miss class is kept (four bytes each).
    pub outcomes_up_to: u64,
    /// Chunks of decoded references kept.
    pub chunks: usize,
    /// Shards that the caches are played in at once, at most; 0 = as many as the machine has threads for.
    pub shards: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            keyframe_bytes: 256 << 20,
            shelf_bytes: 1 << 30,
            spacing: 1 << 14,
            outcomes_up_to: 1 << 24,
            chunks: 8,
            shards: 0,
        }
    }
}

/// State and counts at one tick, packed.
#[derive(Clone, Debug)]
struct Keyframe {
    state: Packed,
    /// A [`Tally`].
    tally: Box<[u8]>,
}

impl Keyframe {
    fn bytes(&self) -> usize {
        self.state.bytes() + self.tally.len()
    }

    /// Brings a hierarchy and a tally to what they were; `None` where it is damaged.
    fn restore(&self, packer: &RwLock<Packer>, state: &mut Hierarchy, tally: &mut Tally) -> Option<()> {
        let packer = packer.read().unwrap_or_else(PoisonError::into_inner);
        packer.unpack(&self.state, state)?;
        tally.restore(&self.tally)
    }
}

/// An indexed trace under one cache configuration, or the part of one that is indexed so far: see [`Indexer`].
pub struct Timeline {
    source: Arc<dyn ReferenceSource>,
    chunks: Arc<ChunkCache>,
    len: u64,
    total: Option<u64>,
    /// The caches, empty, and the counts before the first reference.
    start: Arc<Hierarchy>,
    tally: Tally,
    packer: Arc<RwLock<Packer>>,
    /// The counts after the last reference.
    end: Tally,
    keyframes: Vec<Kept>,
    spacing: u64,
    tables: Arc<Tables>,
    named: RegionMap,
    lines: LineMap,
    regions: RegionMap,
    rows: Vec<Row>,
    summary: Summary,
    flows: Flows,
    phases: Phases,
    tallies: Tallies,
    served: Served,
    outcomes: Option<Outcomes>,
    simulated: Simulated,
}

/// How the index of a timeline came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Simulated {
    /// It was found as it is kept.
    Before,
    /// In so many shards at once.
    Shards(usize),
    /// In one, because of this.
    OneThread(Unsharded),
    /// In one, because the class of every miss was wanted.
    Classified,
}

impl fmt::Display for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before => write!(f, "found as it was kept"),
            Self::Shards(shards) => write!(f, "simulated in {shards} shards of the sets at once"),
            Self::OneThread(why) => write!(f, "simulated by one thread: {why}"),
            Self::Classified => {
                write!(f, "simulated by one thread: the class of a miss depends on what a cache of one set would hold")
            }
        }
    }
}

impl Timeline {
    /// Plays the whole trace once and keeps what later seeks need. `progress` gets (references done, all) now and then
    /// and stops the work by returning `false`; the timeline then ends there.
    ///
    /// # Errors
    /// When the source cannot be read, or the trace has a core that the configuration has not.
    pub fn build(
        source: Arc<dyn ReferenceSource>,
        hierarchy: Hierarchy,
        options: Options,
        progress: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<Self, SimError> {
        let mut indexer = Indexer::new(source, hierarchy, options);
        while indexer.advance()? && progress(indexer.len(), indexer.source().len()) {}
        Ok(indexer.timeline())
    }

    /// Number of references that are indexed.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Its references, as what positions are places on.
    #[must_use]
    pub fn axis(&self) -> Axis {
        let len = self.len();
        Axis { unit: AxisUnit::References, len, total: self.total().unwrap_or(len), grows: !self.is_whole() }
    }

    /// Number of references of the whole trace; `None` where it still grows.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// Whether all of the trace is indexed, and no more will come.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.total == Some(self.len)
    }

    /// The trace's own tables, with a region for all memory that it touches and does not name, and marks where phases and bursts
    /// of misses begin.
    #[must_use]
    pub fn tables(&self) -> &Arc<Tables> {
        &self.tables
    }

    /// The source lines that are counted: those that the trace knew when it was indexed.
    #[must_use]
    pub fn lines(&self) -> &LineMap {
        &self.lines
    }

    /// Where the counts of each region are.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// How its index came about.
    #[must_use]
    pub fn simulated(&self) -> &Simulated {
        &self.simulated
    }

    /// Whether there is no reference at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether any reference fetches instructions, as far as is indexed.
    #[must_use]
    pub fn has_fetches(&self) -> bool {
        self.is_empty() || self.end.answers().of(None).asking[1] > 0
    }

    /// The trace behind it.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn ReferenceSource> {
        &self.source
    }

    /// Whether both are of the same source, which no other trace has taken the place of.
    #[must_use]
    pub fn is_of_source(&self, other: &Self) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.source), Arc::as_ptr(&other.source))
    }

    /// The caches, empty.
    #[must_use]
    pub fn start(&self) -> &Hierarchy {
        &self.start
    }

    /// The caches that it is played through.
    #[must_use]
    pub fn config(&self) -> &HierarchyConfig {
        self.start().config()
    }

    /// What each level did, in any part of the trace.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// How many lines went which way, in any part of the trace.
    #[must_use]
    pub fn flows(&self) -> &Flows {
        &self.flows
    }

    /// What each of [`Timeline::rows`] counted in some references, and in which exactly: up to the borders outside them at which
    /// counts are kept, some hundreds over the whole trace.
    #[must_use]
    pub fn regions_over(&self, references: Range<u64>) -> (Vec<Share>, Range<u64>) {
        let references = references.start.min(self.len)..references.end.min(self.len);
        let trace = (&self.tally, &self.end, self.len);
        let over = self.tallies.over(references.clone(), &self.rows, self.config().levels.len(), trace);
        over.unwrap_or_else(|| (vec![Share::default(); self.rows.len()], references))
    }

    /// How all references that are indexed were answered.
    #[must_use]
    pub fn answered(&self) -> Answered {
        self.end.answers().of(None)
    }

    /// Who served the references to which part of memory, in any part of the trace.
    #[must_use]
    pub fn served(&self) -> &Served {
        &self.served
    }

    /// What became of each reference; `None` for a trace too long to keep it.
    #[must_use]
    pub fn outcomes(&self) -> Option<&Outcomes> {
        self.outcomes.as_ref()
    }

    /// References between keyframes.
    #[must_use]
    pub fn spacing(&self) -> u64 {
        self.spacing
    }

    /// Bytes held by keyframes, without the tags that they share.
    #[must_use]
    pub fn keyframe_bytes(&self) -> usize {
        self.keyframes.iter().map(Kept::here).sum()
    }

    /// Bytes held by keyframes, outcomes and the summary.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let keyframes = self.keyframe_bytes();
        let packer = self.packer.read().unwrap_or_else(PoisonError::into_inner).bytes();
        let sums = self.summary.bytes() + self.flows.bytes() + self.tallies.bytes() + self.served.bytes();
        packer + keyframes + self.outcomes.as_ref().map_or(0, Outcomes::bytes) + sums
    }

    /// The region that holds an address while reference `tick` runs.
    #[must_use]
    pub fn region_of(&self, addr: u64, tick: u64) -> Option<usize> {
        self.regions.find(addr, tick)
    }

    /// As [`Timeline::region_of`]; where none lives then, the one nearest in time.
    #[must_use]
    pub fn region_near(&self, addr: u64, tick: u64) -> Option<usize> {
        self.regions.nearest(addr, tick)
    }

    /// The state before reference `tick` (`tick <= len()`), by replay from the nearest keyframe.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn at(&self, tick: u64) -> Result<Hierarchy, SourceError> {
        let mut state = Hierarchy::clone(&self.start);
        let mut at = self.restore_before(tick, &mut state, &mut self.tally.clone());
        let end = tick.min(self.len());
        while at < end {
            let chunk = self.chunks.get(self.source.as_ref(), at / self.source.chunk_len())?;
            let rest = self.rest_of(&chunk, at, end);
            state.play(rest, &mut ());
            at += rest.len() as u64;
        }
        Ok(state)
    }

    /// Reference number `tick`; `None` past the end.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn reference(&self, tick: u64) -> Result<Option<crate::reference::Reference>, SourceError> {
        if tick >= self.len() {
            return Ok(None);
        }
        let chunk = self.chunks.get(self.source.as_ref(), tick / self.source.chunk_len())?;
        Ok(self.rest_of(&chunk, tick, tick + 1).first().copied())
    }

    /// Gives the references of a range that are indexed, in their order, each with its number.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn each(
        &self,
        references: Range<u64>,
        mut see: impl FnMut(u64, &crate::reference::Reference),
    ) -> Result<(), SourceError> {
        let (mut at, end) = (references.start, references.end.min(self.len()));
        while at < end {
            let chunk = self.chunks.get(self.source.as_ref(), at / self.source.chunk_len())?;
            let some = self.rest_of(&chunk, at, end);
            if some.is_empty() {
                break;
            }
            some.iter().zip(at..).for_each(|(reference, tick)| see(tick, reference));
            at += some.len() as u64;
        }
        Ok(())
    }

    /// The next (`forward`) or previous reference from `tick` on that missed in the innermost level.
    #[must_use]
    pub fn find_miss(&self, tick: u64, forward: bool) -> Option<u64> {
        self.outcomes.as_ref()?.find_miss(tick, forward)
    }

    /// Reference before which the last keyframe before `tick` is.
    fn keyframe_before(&self, tick: u64) -> u64 {
        let last = self.keyframes.len().saturating_sub(1);
        usize::try_from(tick / self.spacing).map_or(last, |index| index.min(last)) as u64 * self.spacing
    }

    /// Brings a hierarchy and a tally to the last keyframe before `tick` that can be had; the reference before which it is. One
    /// that is damaged on its shelf costs time and nothing else: the one before stands in.
    fn restore_before(&self, tick: u64, state: &mut Hierarchy, tally: &mut Tally) -> u64 {
        let mut at = self.keyframe_before(tick);
        loop {
            let kept = usize::try_from(at / self.spacing).ok().and_then(|index| self.keyframes.get(index));
            let keyframe = kept.and_then(Kept::keyframe);
            if keyframe.is_some_and(|keyframe| keyframe.restore(&self.packer, state, tally).is_some()) {
                return at;
            }
            if at == 0 {
                state.clone_from(&self.start);
                tally.clone_from(&self.tally);
                return 0;
            }
            at -= self.spacing;
        }
    }

    /// The part of `chunk` that holds references `from..to`, `from` being in this chunk.
    fn rest_of<'c>(
        &self,
        chunk: &'c [crate::reference::Reference],
        from: u64,
        to: u64,
    ) -> &'c [crate::reference::Reference] {
        let start = usize::try_from(from % self.source.chunk_len()).unwrap_or(usize::MAX).min(chunk.len());
        let want = usize::try_from(to - from).unwrap_or(usize::MAX);
        &chunk[start..start.saturating_add(want).min(chunk.len())]
    }
}
