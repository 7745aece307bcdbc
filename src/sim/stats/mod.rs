//! Exact numbers: per level, per region, memory. [`Stats`] serializes to the JSON that `orrery stats --json` promises, keys
//! in that order.
//!
//! - A reference belongs to the region that holds its first byte while it runs; those outside all regions make a last row,
//!   [`OTHER`], if there are any.
//! - The misses of a region, or of a source line, at a level are the demand misses (read, write, fetch; not write-backs) that its references cause
//!   there: a reference that straddles two lines may miss twice.
//! - A source line is a line of a file within one function; all its instructions are one row. Rows per source line are
//!   kept where asked for ([`Detail::lines`]); references whose instruction has no known line make a last row, [`UNKNOWN`].
//! - A `Modify` is one reference, and both a read and a write, of its bytes each.
//! - Fetches dropped by `data_only` are counted apart and are no part of the JSON.

use super::check::{PlayCheck, SimError};
use super::classes::Classifier;
use super::config::{ConfigError, HierarchyConfig};
use super::foresight::prepare;
use super::hierarchy::Hierarchy;
use super::{Batch, Event, Events, LevelMisses, Lists, Observer, Wants};
use crate::reference::{
    Reference, ReferenceSource, RegionNames, SourceError, SourceLocation, Tables, all_of, in_order,
};
use crate::units::{LevelId, grouped};
use serde::Serialize;
use std::sync::Arc;

mod attribution;
use attribution::{Attribution, Counted, Rows};

mod beside;
mod counter;
use beside::Beside;

mod collect;
pub use collect::{collect, collect_detail, collect_once};

mod deferred;
pub use counter::Counter;
pub use deferred::Deferred;

mod extras;
use extras::SharingWatch;
pub use extras::{CoreStats, MOST_LINES, PrefetchStats, SharedLine, SharingStats, TlbStats};

mod range;
pub use range::{ReferenceRange, collect_range};

mod regions;
use regions::misses_of;
pub use regions::{RegionMisses, RegionStats, RegionTable};

/// Name of the row for references outside all regions.
pub const OTHER: &str = "(other)";

/// File of the row for references whose source line is not known.
pub const UNKNOWN: &str = "(unknown)";

/// What to count beside levels, memory and regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Why each miss; without, the classes of [`LevelStats`] are all 0 and the run takes a fraction of the time.
    pub classes: bool,
    /// By source line.
    pub lines: bool,
}

/// What the promised JSON needs: classes, no source lines.
impl Default for Detail {
    fn default() -> Self {
        Self { classes: true, lines: false }
    }
}

/// What a trace did to a hierarchy.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// The references themselves.
    pub trace: TraceStats,
    /// From the CPU outward.
    pub levels: Vec<LevelStats>,
    /// Behind the last level.
    pub memory: MemoryStats,
    /// In the order of the trace's table, then [`OTHER`].
    pub regions: RegionTable,
    /// In the order of file, line and function, those with references; then [`UNKNOWN`]. Empty unless asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineStats>,
    /// Fetches left out by `data_only`.
    #[serde(skip)]
    pub dropped_fetches: u64,
    /// Translation buffers, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tlbs: Vec<TlbStats>,
    /// Translations that the outermost TLB of their path had not; absent without TLBs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_walks: Option<u64>,
    /// What cores did to each other, where there are several with caches of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<SharingStats>,
    /// Highest core number seen, plus one.
    #[serde(skip)]
    pub cores: u32,
}

/// The references themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TraceStats {
    /// References played.
    pub references: u64,
    /// Loads, modifies included.
    pub reads: u64,
    /// Stores, modifies included.
    pub writes: u64,
    /// Instruction fetches.
    pub fetches: u64,
    /// Bytes that the reads, writes and fetches ask for.
    pub bytes: u64,
}

impl TraceStats {
    /// References that read and write, in words behind the number of writes; empty where there are none.
    #[must_use]
    pub fn modifies(&self) -> String {
        let both = (self.reads + self.writes + self.fetches).saturating_sub(self.references);
        if both == 0 { String::new() } else { format!(" ({} that modify are both)", grouped(both)) }
    }
}

/// One level. See [`LevelCounters`](super::LevelCounters) for the counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "named as in LevelCounters, Geometry and ClassCounts")]
#[non_exhaustive]
pub struct LevelStats {
    pub name: String,
    pub sets: u32,
    pub ways: u32,
    pub line: u32,
    pub read_accesses: u64,
    pub read_misses: u64,
    pub write_accesses: u64,
    pub write_misses: u64,
    pub fetch_accesses: u64,
    pub fetch_misses: u64,
    pub fills: u64,
    pub evictions: u64,
    pub writebacks: u64,
    pub invalidations: u64,
    pub compulsory: u64,
    pub capacity: u64,
    pub conflict: u64,
    /// 0 with one core, and then no part of the JSON.
    #[serde(skip_serializing_if = "is_zero")]
    pub coherence: u64,
    pub resident: u64,
    pub dirty: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// Accesses without the write-backs of levels inside, and those of them that missed.
    pub demand_accesses: u64,
    pub demand_misses: u64,
    /// Share of the demand accesses that hit, 0 to 1: [`LevelCounters::hit_rate`](super::LevelCounters::hit_rate).
    pub demand_hit_rate: Option<f64>,
    /// Requests of prefetchers inside; in the JSON where there were any, as are those that missed.
    #[serde(skip_serializing_if = "is_zero")]
    pub prefetch_accesses: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub prefetch_misses: u64,
    /// Its own prefetcher, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefetch: Option<PrefetchStats>,
    /// Each core's cache, where it has one a core.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<CoreStats>,
}

impl LevelStats {
    /// Accesses of every kind, write-backs of levels inside too.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.read_accesses + self.write_accesses + self.fetch_accesses
    }

    /// Misses of every kind, write-backs of levels inside too.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.read_misses + self.write_misses + self.fetch_misses
    }
}

/// Requests of the last level to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "named as in MemoryCounters")]
#[non_exhaustive]
pub struct MemoryStats {
    pub reads: u64,
    pub writes: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
}

/// One source line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LineStats {
    /// File name as the trace has it, or [`UNKNOWN`].
    pub file: String,
    /// Line, from 1; 0 = unknown.
    pub line: u32,
    /// Function; empty = unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub function: String,
    /// The text of that line; empty = not stored.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// References of its instructions.
    pub references: u64,
    /// Demand misses by level name, from the CPU outward.
    #[serde(serialize_with = "regions::as_map")]
    pub misses: Vec<(Arc<str>, u64)>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Why there are no statistics.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// The caches are wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The references cannot be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Trace and caches do not go together.
    #[error(transparent)]
    Sim(#[from] SimError),
}

/// References between two looks at whether their sites need care.
const BLOCK: usize = 1 << 14;

/// A hierarchy at play with everything counted.
#[derive(Clone, Debug)]
pub struct StatsCollector {
    hierarchy: Hierarchy,
    classifier: Option<Classifier>,
    misses: RowMisses,
    attribution: Attribution,
    /// Names by region, then of the row for the others.
    names: RegionNames,
    /// Source lines by row; empty unless asked for.
    lines: Option<Vec<SourceLocation>>,
}

/// Demand misses by region and by source line: row by row, a count per level.
#[derive(Clone, Debug)]
struct RowMisses {
    levels: usize,
    /// Rows of the reference at play.
    rows: Rows,
    by_region: Vec<u64>,
    by_line: Vec<u64>,
    sharing: SharingWatch,
    /// Rows of the references of a batch.
    batch: Vec<Rows>,
}

impl RowMisses {
    #[inline(always)]
    fn batch(&mut self, batch: &Batch<'_>, mut rows: impl FnMut(&Reference) -> Rows) {
        if batch.misses.is_empty() {
            batch.references.iter().for_each(|reference| _ = rows(reference));
            return;
        }
        self.batch.clear();
        self.batch.extend(batch.references.iter().map(rows));
        for &LevelMisses { level, missed, .. } in batch.misses {
            for place in missed {
                let rows = self.batch[usize::from(*place)];
                self.by_region[rows.region() * self.levels + level.index()] += 1;
                self.by_line[rows.line() * self.levels + level.index()] += 1;
            }
        }
    }
}

impl Observer for RowMisses {
    #[inline(always)]
    fn event(&mut self, event: Event) {
        if let Event::Access { level, kind, hit: false, .. } = event
            && kind.is_demand()
        {
            self.by_region[self.rows.region() * self.levels + level.index()] += 1;
            self.by_line[self.rows.line() * self.levels + level.index()] += 1;
        } else {
            self.sharing.event(event);
        }
    }
}

impl StatsCollector {
    /// Empty caches; regions from the trace's tables.
    ///
    /// # Errors
    /// When the configuration is wrong.
    pub fn new(config: &HierarchyConfig, tables: &Tables) -> Result<Self, ConfigError> {
        Ok(Self::with(Hierarchy::new(config)?, tables, Detail::default()))
    }

    /// For caches that are still empty; source lines, where asked for, from the tables too.
    #[must_use]
    pub fn with(hierarchy: Hierarchy, tables: &Tables, detail: Detail) -> Self {
        let names = RegionNames::new(&tables.regions, OTHER);
        let attribution = Attribution::new(tables, detail.lines, hierarchy.config().data_only);
        let lines: Vec<_> = attribution.places().iter().map(|&place| tables.locations[place].clone()).collect();
        let levels = hierarchy.levels();
        let misses = RowMisses {
            levels,
            rows: Rows::default(),
            by_region: vec![0; names.len() * levels],
            by_line: vec![0; (lines.len() + 1) * levels],
            sharing: SharingWatch::default(),
            batch: Vec::new(),
        };
        Self {
            classifier: detail.classes.then(|| Classifier::new(&hierarchy)),
            misses,
            attribution,
            names,
            lines: detail.lines.then_some(lines),
            hierarchy,
        }
    }

    /// Plays the next reference.
    pub fn play(&mut self, reference: &Reference) {
        self.play_all(std::slice::from_ref(reference));
    }

    /// Plays the next references; many at once go faster.
    pub fn play_all(&mut self, references: &[Reference]) {
        match self.classifier.take() {
            None => self.play_told(references, &mut ()),
            Some(mut classifier) => {
                self.play_told(references, &mut classifier);
                self.classifier = Some(classifier);
            }
        }
    }

    /// Plays the next references, and tells `also`.
    fn play_told<O: Observer>(&mut self, references: &[Reference], also: &mut O) {
        for block in references.chunks(BLOCK) {
            let care = self.attribution.needs_care(block);
            let Self { hierarchy, attribution, misses, .. } = self;
            let also = &mut *also;
            if care {
                hierarchy.play(block, &mut Watch::<true, _> { attribution, misses, also });
            } else {
                hierarchy.play(block, &mut Watch::<false, _> { attribution, misses, also });
                self.attribution.passed(block.len());
            }
        }
    }

    /// Plays all that a source has; the classes of a long one on a thread of their own.
    ///
    /// # Errors
    /// When the source fails, or has a reference of a core that there is not, or too many long ones.
    fn play_source(&mut self, source: &dyn ReferenceSource) -> Result<(), StatsError> {
        self.play_in_order(all_of(source), source.len() > source.chunk_len())
    }

    /// Plays the references that `next` gives; with `is_long`, reading and classes have threads of their own.
    fn play_in_order(
        &mut self,
        next: impl FnMut(&mut Vec<Reference>) -> Result<(), SourceError> + Send,
        is_long: bool,
    ) -> Result<(), StatsError> {
        let mut checked = PlayCheck::new([self.hierarchy.config()]);
        let mut check = |from, references: &[Reference]| checked.look(references, from).map_err(StatsError::from);
        std::thread::scope(|scope| {
            let beside = self.classifier.take_if(|_| is_long).map(|classifier| Beside::start(classifier, scope));
            let mut beside = match beside {
                Some(Ok(beside)) => beside,
                here => {
                    if let Some(Err(classifier)) = here {
                        self.classifier = Some(classifier);
                    }
                    return in_order(next, is_long, |from, references| {
                        check(from, references)?;
                        self.play_all(references);
                        Ok(())
                    });
                }
            };
            let played = in_order(next, is_long, |from, references| {
                check(from, references)?;
                self.play_told(references, &mut beside);
                Ok(())
            });
            self.classifier = beside.finish();
            played
        })
    }

    /// Writes dirty lines back. What that misses belongs to no region and no source line.
    pub fn flush(&mut self) {
        match &mut self.classifier {
            Some(classifier) => self.hierarchy.flush(classifier),
            None => self.hierarchy.flush(&mut ()),
        }
    }

    /// The caches as they stand.
    #[must_use]
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// The numbers so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let counted = self.attribution.counted();
        let mut stats = self.all_but_regions(&counted);
        let (names, misses) = (self.names.clone(), self.misses.by_region.clone());
        stats.regions = RegionTable::new(names, self.level_names(), counted.by_region, misses);
        stats
    }

    fn all_but_regions(&self, counted: &Counted) -> Stats {
        let memory = self.hierarchy.memory_counters();
        Stats {
            trace: counted.trace,
            levels: (0u8..).map(LevelId).take(self.hierarchy.levels()).map(|id| self.level(id)).collect(),
            memory: MemoryStats {
                reads: memory.reads,
                writes: memory.writes,
                bytes_read: memory.bytes_read,
                bytes_written: memory.bytes_written,
            },
            regions: RegionTable::default(),
            lines: self.lines.as_deref().map(|lines| self.lines(lines, &counted.by_line)).unwrap_or_default(),
            dropped_fetches: counted.dropped_fetches,
            tlbs: extras::tlbs(&self.hierarchy),
            page_walks: (!self.hierarchy.tlbs().is_empty()).then(|| self.hierarchy.tlbs().walks()),
            sharing: extras::sharing(&self.hierarchy, &self.misses.sharing, self.attribution.regions(), &self.names),
            cores: self.attribution.cores(),
        }
    }

    /// As [`StatsCollector::stats`], for the end: what was counted of a million regions is not copied.
    #[must_use]
    pub fn into_stats(self) -> Stats {
        let counted = self.attribution.counted();
        let (mut stats, levels) = (self.all_but_regions(&counted), self.level_names());
        stats.regions = RegionTable::new(self.names, levels, counted.by_region, self.misses.by_region);
        stats
    }

    fn level_names(&self) -> Vec<Arc<str>> {
        self.hierarchy.config().levels.iter().map(|level| level.name.as_str().into()).collect()
    }

    fn lines(&self, lines: &[SourceLocation], references: &[u64]) -> Vec<LineStats> {
        let levels = self.level_names();
        let row = |(row, &references): (usize, &u64)| {
            let line = lines.get(row);
            LineStats {
                file: line.map_or(UNKNOWN, |l| &l.file).to_owned(),
                line: line.map_or(0, |l| l.line),
                function: line.map(|l| l.function.clone()).unwrap_or_default(),
                text: line.map(|l| l.text.clone()).unwrap_or_default(),
                references,
                misses: misses_of(&levels, &self.misses.by_line, row),
            }
        };
        references.iter().enumerate().filter(|(_, references)| **references > 0).map(row).collect()
    }

    fn level(&self, id: LevelId) -> LevelStats {
        let (geometry, counters) = (self.hierarchy.level_geometry(id), self.hierarchy.level_counters(id));
        let classes = self.classifier.as_ref().map(|classifier| classifier.counts(id)).unwrap_or_default();
        LevelStats {
            name: self.hierarchy.config().levels[id.index()].name.clone(),
            sets: geometry.sets,
            ways: geometry.ways,
            line: geometry.line_bytes,
            read_accesses: counters.read_accesses,
            read_misses: counters.read_misses,
            write_accesses: counters.write_accesses,
            write_misses: counters.write_misses,
            fetch_accesses: counters.fetch_accesses,
            fetch_misses: counters.fetch_misses,
            fills: counters.fills,
            evictions: counters.evictions,
            writebacks: counters.writebacks,
            invalidations: counters.invalidations,
            compulsory: classes.compulsory,
            capacity: classes.capacity,
            conflict: classes.conflict,
            coherence: classes.coherence,
            resident: self.hierarchy.resident(id),
            dirty: self.hierarchy.dirty(id),
            bytes_in: counters.bytes_in,
            bytes_out: counters.bytes_out,
            demand_accesses: counters.demand_accesses(),
            demand_misses: counters.demand_misses(),
            demand_hit_rate: counters.hit_rate(),
            prefetch_accesses: counters.prefetch_accesses,
            prefetch_misses: counters.prefetch_misses,
            prefetch: extras::prefetch(&self.hierarchy, id),
            cores: extras::cores(&self.hierarchy, id, self.classifier.as_ref()),
        }
    }
}

/// Counts references and what they miss, and tells another observer. `CARE` is as [`Attribution::needs_care`] says.
struct Watch<'a, const CARE: bool, O> {
    attribution: &'a mut Attribution,
    misses: &'a mut RowMisses,
    also: O,
}

impl<const CARE: bool, O: Observer> Observer for Watch<'_, CARE, O> {
    #[inline(always)]
    fn event(&mut self, event: Event) {
        self.also.event(event);
        self.misses.event(event);
    }

    #[inline(always)]
    fn wants(&self) -> Wants {
        let lists = Lists { misses: true, ..Lists::default() };
        self.also.wants().and(Wants { events: Events::Misses, gone: false, batches: Some(lists) })
    }

    #[inline(always)]
    fn batch(&mut self, batch: &Batch<'_>) {
        self.also.batch(batch);
        self.misses.batch(batch, |reference| self.attribution.count::<CARE>(reference));
    }

    #[inline(always)]
    fn begin(&mut self, reference: &Reference) {
        self.misses.rows = self.attribution.count::<CARE>(reference);
    }
}
