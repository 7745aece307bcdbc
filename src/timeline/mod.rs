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
mod aside;
pub mod chunks;
pub mod clock;
mod count;
pub mod cursor;
mod evictions;
pub mod flows;
pub mod grid;
pub mod in_step;
mod index;
mod indexer;
mod keyframes;
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
mod setup;
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
pub use phases::is_phase;
pub use served::{Served, ServedBlock};
pub use shelf::{Shelf, Slip};
pub use strip_kind::{NoStrip, StripKind};
pub use summary::{Summary, Sums};
pub use tallies::Share;
pub use tally::Tally;

use crate::axis::{Axis, AxisUnit};
use crate::reference::{Kind, LineMap, ReferenceSource, SourceError, Tables};
use crate::sim::config::HierarchyConfig;
use crate::sim::shards::Unsharded;
use crate::sim::{Hierarchy, SimError};
use chunks::Piece;
use index::Index;
use keyframes::Keyframes;
use known::Known;
use setup::Setup;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
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

/// An indexed trace under one cache configuration, or the part of one that is indexed so far: see [`Indexer`].
pub struct Timeline {
    setup: Setup,
    index: Index,
    keyframes: Keyframes,
    known: Known,
    /// References of the whole trace; `None` where it still grows.
    total: Option<u64>,
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

    /// The timeline of an index. `known` is that of an earlier one, and is used again where it is still right.
    fn of(setup: Setup, index: Index, keyframes: Keyframes, simulated: Simulated, known: Option<Known>) -> Self {
        let known = Known::of(&setup, &index, known);
        let total = known.whole.then(|| setup.source.len());
        Self { setup, index, keyframes, known, total, simulated }
    }

    /// Number of references that are indexed.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.index.len
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
        self.total == Some(self.index.len)
    }

    /// The trace's own tables, with a region for all memory that it touches and does not name, and marks where phases and bursts
    /// of misses begin.
    #[must_use]
    pub fn tables(&self) -> &Arc<Tables> {
        &self.known.tables
    }

    /// The source lines that are counted: those that the trace knew when it was indexed.
    #[must_use]
    pub fn lines(&self) -> &LineMap {
        &self.setup.lines
    }

    /// Where the counts of each region are.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.known.rows
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
        self.is_empty() || self.index.tally.answers().of(None).asking[1] > 0
    }

    /// The trace behind it.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn ReferenceSource> {
        &self.setup.source
    }

    /// Whether both are of the same source, which no other trace has taken the place of.
    #[must_use]
    pub fn is_of_source(&self, other: &Self) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.setup.source), Arc::as_ptr(&other.setup.source))
    }

    /// The caches, empty.
    #[must_use]
    pub fn start(&self) -> &Hierarchy {
        &self.setup.start
    }

    /// The caches that it is played through.
    #[must_use]
    pub fn config(&self) -> &HierarchyConfig {
        self.start().config()
    }

    /// What each level did, in any part of the trace.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.index.summary
    }

    /// How many lines went which way, in any part of the trace.
    #[must_use]
    pub fn flows(&self) -> &Flows {
        &self.index.flows
    }

    /// What each of [`Timeline::rows`] counted in some references, and in which exactly: up to the borders outside them at which
    /// counts are kept, some hundreds over the whole trace.
    #[must_use]
    pub fn regions_over(&self, references: Range<u64>) -> (Vec<Share>, Range<u64>) {
        let references = references.start.min(self.index.len)..references.end.min(self.index.len);
        let trace = (&self.setup.empty, &self.index.tally, self.index.len);
        let over = self.index.tallies.over(references.clone(), &self.known.rows, self.config().levels.len(), trace);
        over.unwrap_or_else(|| (vec![Share::default(); self.rows().len()], references))
    }

    /// How all references that are indexed were answered.
    #[must_use]
    pub fn answered(&self) -> Answered {
        self.index.tally.answers().of(None)
    }

    /// Who served the references to which part of memory, in any part of the trace.
    #[must_use]
    pub fn served(&self) -> &Served {
        &self.index.served
    }

    /// What became of each reference; `None` for a trace too long to keep it.
    #[must_use]
    pub fn outcomes(&self) -> Option<&Outcomes> {
        self.index.outcomes.as_ref()
    }

    /// References between keyframes.
    #[must_use]
    pub fn spacing(&self) -> u64 {
        self.keyframes.spacing()
    }

    /// Bytes held by keyframes, without the tags that they share.
    #[must_use]
    pub fn keyframe_bytes(&self) -> usize {
        self.keyframes.bytes()
    }

    /// Bytes held by keyframes, outcomes and the summary.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.keyframes.shared_bytes() + self.keyframe_bytes() + self.index.bytes()
    }

    /// The region that holds an address while reference `tick` runs.
    #[must_use]
    pub fn region_of(&self, addr: u64, tick: u64) -> Option<usize> {
        self.known.map.find(addr, tick)
    }

    /// As [`Timeline::region_of`]; where none lives then, the one nearest in time.
    #[must_use]
    pub fn region_near(&self, addr: u64, tick: u64) -> Option<usize> {
        self.known.map.nearest(addr, tick)
    }

    /// The state before reference `tick` (`tick <= len()`), by replay from the nearest keyframe.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn at(&self, tick: u64) -> Result<Hierarchy, SourceError> {
        let mut state = Hierarchy::clone(&self.setup.start);
        let mut at = self.restore_before(tick, &mut state, &mut self.setup.empty.clone());
        let end = tick.min(self.len());
        while at < end {
            let some = self.piece(at..end)?;
            state.play(&some, &mut ());
            at += some.len() as u64;
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
        Ok(self.piece(tick..tick + 1)?.first().copied())
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
            let some = self.piece(at..end)?;
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
        self.index.outcomes.as_ref()?.find_miss(tick, forward)
    }

    /// Reference before which the last keyframe before `tick` is.
    fn keyframe_before(&self, tick: u64) -> u64 {
        self.keyframes.before(tick)
    }

    /// As [`Keyframes::restore_before`].
    fn restore_before(&self, tick: u64, state: &mut Hierarchy, tally: &mut Tally) -> u64 {
        self.keyframes.restore_before(tick, &self.setup, state, tally)
    }

    /// The first of some references, as many as are in one chunk.
    fn piece(&self, references: Range<u64>) -> Result<Piece, SourceError> {
        let Setup { source, chunks, .. } = &self.setup;
        let chunk = chunks.get(source.as_ref(), references.start / source.chunk_len())?;
        Ok(Piece::of(chunk, references, source.chunk_len()))
    }

    /// Whether the configuration leaves references of this kind out.
    fn drops(&self, kind: Kind) -> bool {
        self.setup.empty.answers().drops(kind)
    }
}
