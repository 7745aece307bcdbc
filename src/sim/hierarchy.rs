//! Levels joined: who asks whom, in which order.

use super::cache::{Cache, LevelCounters, Resident};
use super::config::{ConfigError, HierarchyConfig};
use super::fast::scan::Fetches;
use super::fast::{self, Around, Plain};
use super::policy::Outcome;
use super::{AccessKind, Event, Geometry, Observer};
use crate::reference::{Kind, Reference};
use crate::units::{Addr, LevelId, LineAddr, SetIndex};
use std::sync::Arc;

/// Traffic between the outermost level and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounters {
    /// Requests that read.
    pub reads: u64,
    /// Requests that write.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}

/// The state of all levels and their counts. Plain data: a clone is a keyframe, equality is equality of everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    config: Arc<HierarchyConfig>,
    /// From the CPU outward, 1 to 8.
    levels: Vec<Cache>,
    memory: MemoryCounters,
}

impl Hierarchy {
    /// Empty caches of this configuration.
    ///
    /// # Errors
    /// What [`HierarchyConfig::check`] finds.
    pub fn new(config: &HierarchyConfig) -> Result<Self, ConfigError> {
        let geometries = config.check()?;
        let levels = geometries.into_iter().zip(&config.levels).map(|(g, l)| Cache::new(g, l.policy)).collect();
        Ok(Self { config: Arc::new(config.clone()), levels, memory: MemoryCounters::default() })
    }

    /// Plays one reference. No allocation, no failure; with `()` as observer, no event.
    #[inline]
    pub fn access<O: Observer>(&mut self, reference: &Reference, observer: &mut O) {
        let first = reference.addr;
        // Bytes past 2^64 do not exist; a size of 0 is taken as 1.
        let last = first.saturating_add(u64::from(reference.size.max(1)) - 1);
        let kind = match reference.kind {
            Kind::Read => AccessKind::Read,
            Kind::Write | Kind::Modify => AccessKind::Write,
            Kind::Fetch => AccessKind::Fetch,
        };
        if reference.kind == Kind::Modify {
            self.request(0, first, last, AccessKind::Read, observer);
        }
        if reference.kind == Kind::Fetch && self.config.data_only {
            return;
        }
        self.request(0, first, last, kind, observer);
    }

    /// Plays references in order: the same as [`Hierarchy::access`] for each, and many times as fast where nobody
    /// watches and the levels allow (see `fast`).
    pub fn play<O: Observer>(&mut self, references: &[Reference], observer: &mut O) {
        if !observer.is_silent() {
            return references.iter().for_each(|r| self.access(r, observer));
        }
        let fetches = if self.config.data_only { Fetches::Dropped } else { Fetches::Here };
        fast::play(self, references, fetches);
    }

    /// Cuts bytes `first..=last` at the line boundaries of `level` and does each piece; past the last level is memory.
    #[inline]
    fn request<O: Observer>(&mut self, level: usize, first: u64, last: u64, kind: AccessKind, observer: &mut O) {
        let Some(cache) = self.levels.get(level) else {
            return self.access_memory(first, last, kind, observer);
        };
        let (mut line, end) = (cache.geometry().line_of(Addr(first)), cache.geometry().line_of(Addr(last)));
        loop {
            self.access_line(level, line, (first, last), kind, observer);
            if line == end {
                break;
            }
            line.0 += 1;
        }
    }

    /// One access: the piece of bytes `span` (inclusive) that lies in `line`.
    #[inline]
    fn access_line<O: Observer>(
        &mut self,
        level: usize,
        line: LineAddr,
        span: (u64, u64),
        kind: AccessKind,
        observer: &mut O,
    ) {
        let cache = &mut self.levels[level];
        let set = cache.geometry().set_of(line);
        let outcome = cache.access(line, set, kind);
        let hit = outcome == Outcome::Hit;
        observer.event(Event::Access { level: level_id(level), line, set, kind, hit });
        if let Outcome::Miss(victim) = outcome {
            let geometry = cache.geometry();
            let covered = kind.is_write() && span.0 <= geometry.base_of(line).0 && geometry.last_of(line).0 <= span.1;
            self.miss(level, Miss { line, set, kind, covered, victim }, observer);
        }
    }

    /// What a miss causes once the line has taken its victim's place.
    #[inline(never)]
    fn miss<O: Observer>(&mut self, level: usize, miss: Miss, observer: &mut O) {
        let Miss { line, set, kind, covered, victim } = miss;
        let id = level_id(level);
        let cache = &mut self.levels[level];
        cache.count_miss(kind);
        let victim = cache.decode(victim, set);
        if let Some(Resident { line, dirty }) = victim {
            cache.counters.evictions += 1;
            observer.event(Event::Evict { level: id, line, set, dirty });
        }
        observer.event(Event::Fill { level: id, line, set, dirty: kind.is_write() });
        if !covered {
            let (first, last) = (cache.geometry().base_of(line), cache.geometry().last_of(line));
            cache.counters.bytes_in += u64::from(cache.geometry().line_bytes);
            self.request(level + 1, first.0, last.0, kind.request(), observer);
        }
        if let Some(Resident { line, dirty: true }) = victim {
            self.levels[level].count_writeback();
            self.write_back(level, line, observer);
        }
    }

    /// Sends a line of `level` to the next level.
    fn write_back<O: Observer>(&mut self, level: usize, line: LineAddr, observer: &mut O) {
        let geometry = self.levels[level].geometry();
        let (first, last) = (geometry.base_of(line), geometry.last_of(line));
        self.request(level + 1, first.0, last.0, AccessKind::Writeback, observer);
    }

    fn access_memory<O: Observer>(&mut self, first: u64, last: u64, kind: AccessKind, observer: &mut O) {
        let (addr, bytes) = (Addr(first), last - first + 1);
        if kind.is_write() {
            self.memory.writes += 1;
            self.memory.bytes_written += bytes;
            observer.event(Event::MemoryWrite { addr, bytes });
        } else {
            self.memory.reads += 1;
            self.memory.bytes_read += bytes;
            observer.event(Event::MemoryRead { addr, bytes });
        }
    }

    /// Writes every dirty line back, from the innermost level outward, set by set, the next victim first. Lines stay,
    /// clean; the write-backs are ordinary accesses of the outer levels.
    pub fn flush<O: Observer>(&mut self, observer: &mut O) {
        for level in 0..self.levels.len() {
            for set in (0..self.levels[level].geometry().sets).map(SetIndex) {
                while let Some(line) = self.levels[level].clean_oldest(set) {
                    observer.event(Event::Clean { level: level_id(level), line, set });
                    self.write_back(level, line, observer);
                }
            }
        }
    }

    /// Number of levels, 1 to 8.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The configuration it was made from.
    #[must_use]
    pub fn config(&self) -> &HierarchyConfig {
        &self.config
    }

    /// Shape of a level.
    ///
    /// # Panics
    /// Here and below: when the level does not exist.
    #[must_use]
    pub fn geometry(&self, level: LevelId) -> &Geometry {
        self.levels[level.index()].geometry()
    }

    /// Lines of a set in eviction order: from the most recent to the next victim.
    pub fn order(&self, level: LevelId, set: SetIndex) -> impl DoubleEndedIterator<Item = Resident> + '_ {
        self.levels[level.index()].order(set)
    }

    /// Where a line stands in a level: its set and its place in the eviction order, 0 = most recent.
    #[must_use]
    pub fn rank(&self, level: LevelId, line: LineAddr) -> Option<(SetIndex, u32)> {
        self.levels[level.index()].rank(line)
    }

    /// Lines in a level.
    #[must_use]
    pub fn resident(&self, level: LevelId) -> u64 {
        let counters = self.counters(level);
        counters.fills - counters.evictions - counters.invalidations
    }

    /// Dirty lines in a level, by a pass over its state.
    #[must_use]
    pub fn dirty(&self, level: LevelId) -> u64 {
        self.levels[level.index()].dirty()
    }

    /// Counts of a level.
    #[must_use]
    pub fn counters(&self, level: LevelId) -> &LevelCounters {
        &self.levels[level.index()].counters
    }

    /// Counts of memory.
    #[must_use]
    pub fn memory_counters(&self) -> &MemoryCounters {
        &self.memory
    }

    /// Bytes that a clone takes.
    #[must_use]
    pub fn state_bytes(&self) -> usize {
        size_of::<Self>() + self.levels.iter().map(Cache::state_bytes).sum::<usize>()
    }
}

impl Around for Hierarchy {
    fn levels(&self) -> usize {
        self.levels.len()
    }

    #[inline]
    fn plain(&mut self, level: usize) -> Option<Plain<'_>> {
        self.levels.get_mut(level)?.plain()
    }

    fn access(&mut self, reference: &Reference) {
        Hierarchy::access(self, reference, &mut ());
    }

    fn miss(&mut self, line: LineAddr, kind: AccessKind, covered: bool, victim: u64) {
        let set = self.levels[0].geometry().set_of(line);
        Hierarchy::miss(self, 0, Miss { line, set, kind, covered, victim }, &mut ());
    }

    fn request(&mut self, level: usize, line: LineAddr, kind: AccessKind) {
        let geometry = self.levels[0].geometry();
        let (first, last) = (geometry.base_of(line), geometry.last_of(line));
        Hierarchy::request(self, level, first.0, last.0, kind, &mut ());
    }

    fn memory(&mut self, reads: u64, writes: u64) {
        let line_bytes = u64::from(self.levels[0].geometry().line_bytes);
        self.memory.reads += reads;
        self.memory.writes += writes;
        self.memory.bytes_read += reads * line_bytes;
        self.memory.bytes_written += writes * line_bytes;
    }
}

/// A miss, once its line has taken the place of `victim` (a word, 0 for an empty way).
struct Miss {
    line: LineAddr,
    set: SetIndex,
    kind: AccessKind,
    covered: bool,
    victim: u64,
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "at most 8 levels")]
fn level_id(level: usize) -> LevelId {
    LevelId(level as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hierarchy_can_be_shared_between_threads() {
        fn plain<T: Clone + Send + Sync + 'static>() {}
        plain::<Hierarchy>();
    }
}
