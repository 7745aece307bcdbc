//! Exact numbers: per level, per region, memory. [`Stats`] serializes to the JSON that `orrery stats --json` promises, keys
//! in that order.
//!
//! - A reference belongs to the region that holds its first byte while it runs; those outside all regions make a last row,
//!   [`OTHER`], if there are any.
//! - A region's misses at a level are the demand misses (read, write, fetch; not write-backs) that references to it cause
//!   there: a reference that straddles two lines may miss twice.
//! - A `Modify` is one reference, and both a read and a write, of its bytes each.
//! - Fetches dropped by `data_only` are counted apart and are no part of the JSON.

use super::classes::Classifier;
use super::config::{ConfigError, HierarchyConfig};
use super::foresight::{SimError, check_core, prepare};
use super::hierarchy::Hierarchy;
use super::{Event, Observer};
use crate::reference::{Kind, Reference, ReferenceSource, RegionMap, SourceError, Tables};
use crate::units::LevelId;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Name of the row for references outside all regions.
pub const OTHER: &str = "(other)";

/// What a trace did to a hierarchy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// The references themselves.
    pub trace: TraceStats,
    /// From the CPU outward.
    pub levels: Vec<LevelStats>,
    /// Behind the last level.
    pub memory: MemoryStats,
    /// In the order of the trace's table, then [`OTHER`].
    pub regions: Vec<RegionStats>,
    /// Fetches left out by `data_only`.
    #[serde(skip)]
    pub dropped_fetches: u64,
    /// Highest core number seen, plus one; all share the caches of this build.
    #[serde(skip)]
    pub cores: u32,
}

/// The references themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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

/// One level. See [`LevelCounters`](super::LevelCounters) for the counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "named as in LevelCounters, Geometry and ClassCounts")]
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
    pub resident: u64,
    pub dirty: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

impl LevelStats {
    /// Accesses of every kind.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.read_accesses + self.write_accesses + self.fetch_accesses
    }

    /// Misses of every kind.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.read_misses + self.write_misses + self.fetch_misses
    }
}

/// Requests of the last level to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "named as in MemoryCounters")]
pub struct MemoryStats {
    pub reads: u64,
    pub writes: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
}

/// One region.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RegionStats {
    /// Its name, or [`OTHER`].
    pub name: String,
    /// References whose first byte is in it.
    pub references: u64,
    /// Demand misses by level name, from the CPU outward.
    #[serde(serialize_with = "as_map")]
    pub misses: Vec<(String, u64)>,
}

fn as_map<S: Serializer>(entries: &[(String, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(entries.len()))?;
    for (name, count) in entries {
        map.serialize_entry(name, count)?;
    }
    map.end()
}

/// Why there are no statistics.
#[derive(Debug, thiserror::Error)]
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

/// Plays a whole trace, chunk by chunk; `flush` writes dirty lines back at the end and counts that.
///
/// # Errors
/// When the configuration is wrong or the source fails.
pub fn collect(source: &dyn ReferenceSource, config: &HierarchyConfig, flush: bool) -> Result<Stats, StatsError> {
    let mut collector = StatsCollector::with(prepare(config, source)?, source.tables());
    for chunk in 0..source.len().div_ceil(source.chunk_len().max(1)) {
        for reference in source.chunk(chunk)?.iter() {
            check_core(config, reference, collector.tick)?;
            collector.play(reference);
        }
    }
    if flush {
        collector.flush();
    }
    Ok(collector.stats())
}

/// A hierarchy at play with everything counted.
#[derive(Clone, Debug)]
pub struct StatsCollector {
    hierarchy: Hierarchy,
    watch: (Classifier, RegionMisses),
    map: RegionMap,
    /// By region, then one for the others.
    names: Vec<String>,
    references: Vec<u64>,
    trace: TraceStats,
    /// Number of the next reference, dropped ones included.
    tick: u64,
    dropped_fetches: u64,
    cores: u32,
}

/// Demand misses of the region at play.
#[derive(Clone, Debug)]
struct RegionMisses {
    levels: usize,
    /// Row of the reference at play.
    row: usize,
    /// Row by row, a count per level.
    misses: Vec<u64>,
}

impl Observer for RegionMisses {
    #[inline]
    fn event(&mut self, event: Event) {
        if let Event::Access { level, kind, hit: false, .. } = event
            && kind.is_demand()
        {
            self.misses[self.row * self.levels + level.index()] += 1;
        }
    }
}

impl StatsCollector {
    /// Empty caches; regions from the trace's tables.
    ///
    /// # Errors
    /// When the configuration is wrong.
    pub fn new(config: &HierarchyConfig, tables: &Tables) -> Result<Self, ConfigError> {
        Ok(Self::with(Hierarchy::new(config)?, tables))
    }

    /// For caches that are still empty.
    #[must_use]
    pub fn with(hierarchy: Hierarchy, tables: &Tables) -> Self {
        let names: Vec<String> =
            tables.regions.iter().map(|region| region.name.clone()).chain([OTHER.to_owned()]).collect();
        let levels = hierarchy.levels();
        let misses = RegionMisses { levels, row: 0, misses: vec![0; names.len() * levels] };
        Self {
            watch: (Classifier::new(&hierarchy), misses),
            map: RegionMap::new(&tables.regions),
            references: vec![0; names.len()],
            names,
            hierarchy,
            trace: TraceStats::default(),
            tick: 0,
            dropped_fetches: 0,
            cores: 0,
        }
    }

    /// Plays the next reference.
    pub fn play(&mut self, reference: &Reference) {
        let tick = self.tick;
        self.tick += 1;
        self.cores = self.cores.max(u32::from(reference.core) + 1);
        if reference.kind == Kind::Fetch && self.hierarchy.config().data_only {
            self.dropped_fetches += 1;
            return;
        }
        let (reads, writes, fetches) = match reference.kind {
            Kind::Read => (1, 0, 0),
            Kind::Write => (0, 1, 0),
            Kind::Modify => (1, 1, 0),
            Kind::Fetch => (0, 0, 1),
        };
        self.trace.references += 1;
        self.trace.reads += reads;
        self.trace.writes += writes;
        self.trace.fetches += fetches;
        self.trace.bytes += u64::from(reference.size) * (reads + writes + fetches);

        let row = self.map.find(reference.addr, tick).unwrap_or(self.names.len() - 1);
        self.references[row] += 1;
        self.watch.1.row = row;
        self.hierarchy.access(reference, &mut self.watch);
    }

    /// Writes dirty lines back. What that misses belongs to no region.
    pub fn flush(&mut self) {
        self.hierarchy.flush(&mut self.watch.0);
    }

    /// The caches as they stand.
    #[must_use]
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// The numbers so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let ids = || (0u8..).map(LevelId).take(self.hierarchy.levels());
        let memory = self.hierarchy.memory_counters();
        let region = |(row, name): (usize, &String)| RegionStats {
            name: name.clone(),
            references: self.references[row],
            misses: ids()
                .zip(&self.hierarchy.config().levels)
                .map(|(id, level)| {
                    (level.name.clone(), self.watch.1.misses[row * self.hierarchy.levels() + id.index()])
                })
                .collect(),
        };
        let mut regions: Vec<RegionStats> = self.names.iter().enumerate().map(region).collect();
        regions.pop_if(|other| other.references == 0);
        Stats {
            trace: self.trace,
            levels: ids().map(|id| self.level(id)).collect(),
            memory: MemoryStats {
                reads: memory.reads,
                writes: memory.writes,
                bytes_read: memory.bytes_read,
                bytes_written: memory.bytes_written,
            },
            regions,
            dropped_fetches: self.dropped_fetches,
            cores: self.cores,
        }
    }

    fn level(&self, id: LevelId) -> LevelStats {
        let (geometry, counters) = (self.hierarchy.level_geometry(id), self.hierarchy.level_counters(id));
        let classes = self.watch.0.counts(id);
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
            resident: self.hierarchy.resident(id),
            dirty: self.hierarchy.dirty(id),
            bytes_in: counters.bytes_in,
            bytes_out: counters.bytes_out,
        }
    }
}
