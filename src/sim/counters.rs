//! What a cache counts.

use super::AccessKind;
use serde::{Deserialize, Serialize};

/// What a cache has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelCounters {
    /// Accesses that wanted data; at outer levels also those that inner stores cause.
    pub read_accesses: u64,
    /// Those that found nothing.
    pub read_misses: u64,
    /// Stores, and write-backs from inside.
    pub write_accesses: u64,
    /// Those that found nothing.
    pub write_misses: u64,
    /// Write-backs from inside: part of `write_accesses`. Nobody waits for them.
    pub writeback_accesses: u64,
    /// Those that found nothing; part of `write_misses`.
    pub writeback_misses: u64,
    /// Accesses that wanted instructions.
    pub fetch_accesses: u64,
    /// Those that found nothing.
    pub fetch_misses: u64,
    /// Requests of prefetchers inside.
    pub prefetch_accesses: u64,
    /// Those that found nothing.
    pub prefetch_misses: u64,
    /// Lines that came in, fetched or not.
    pub fills: u64,
    /// Lines that left for another, clean or dirty.
    pub evictions: u64,
    /// Dirty lines sent to the next level: evicted, flushed, or handed over to another core. Clean evictions are
    /// `evictions - writebacks` as long as there is one core and nothing was flushed.
    pub writebacks: u64,
    /// Lines removed by another level or core, or moved inward out of an exclusive level.
    pub invalidations: u64,
    /// Bytes fetched from the next level.
    pub bytes_in: u64,
    /// Bytes written to the next level.
    pub bytes_out: u64,
    /// Lines that its own prefetcher brought in; part of `fills`.
    pub prefetch_fills: u64,
    /// Those that were used before they left.
    pub prefetch_used: u64,
    /// Those whose first use came before the line would have arrived, at one reference a cycle; part of `prefetch_used`.
    pub prefetch_late: u64,
    /// Demand misses on lines that a prefetch had driven out: pollution.
    pub prefetch_pollution: u64,
}

macro_rules! add_all {
    ($self:ident, $other:ident, $($field:ident),*) => { $( $self.$field += $other.$field; )* };
}

impl LevelCounters {
    /// Accesses of every kind but prefetch requests.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.read_accesses + self.write_accesses + self.fetch_accesses
    }

    /// Misses of every kind but prefetch requests.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.read_misses + self.write_misses + self.fetch_misses
    }

    /// Accesses that the program waits for: reads, stores and fetches, without write-backs from inside and prefetch requests.
    #[must_use]
    pub fn demand_accesses(&self) -> u64 {
        self.accesses() - self.writeback_accesses
    }

    /// Those that found their line.
    #[must_use]
    pub fn demand_hits(&self) -> u64 {
        self.demand_accesses() - self.demand_misses()
    }

    /// Those that did not.
    #[must_use]
    pub fn demand_misses(&self) -> u64 {
        self.misses() - self.writeback_misses
    }

    /// The hit rate wherever one number stands for a cache: the share of demand accesses that hit, 0 to 1; `None` before the
    /// first.
    #[must_use]
    pub fn hit_rate(&self) -> Option<f64> {
        let accesses = self.demand_accesses();
        (accesses > 0).then(|| self.demand_hits() as f64 / accesses as f64)
    }

    /// Adds the counts of another cache of the level.
    pub fn add(&mut self, other: &Self) {
        add_all!(
            self,
            other,
            read_accesses,
            read_misses,
            write_accesses,
            write_misses,
            writeback_accesses,
            writeback_misses,
            fetch_accesses,
            fetch_misses,
            prefetch_accesses,
            prefetch_misses,
            fills,
            evictions,
            writebacks,
            invalidations,
            bytes_in,
            bytes_out,
            prefetch_fills,
            prefetch_used,
            prefetch_late,
            prefetch_pollution
        );
    }

    #[inline(always)]
    pub(super) fn count_access(&mut self, kind: AccessKind) {
        match kind {
            AccessKind::Read => self.read_accesses += 1,
            AccessKind::Write => self.write_accesses += 1,
            AccessKind::Writeback => {
                self.write_accesses += 1;
                self.writeback_accesses += 1;
            }
            AccessKind::Fetch => self.fetch_accesses += 1,
            AccessKind::Prefetch => self.prefetch_accesses += 1,
        }
    }

    pub(super) fn count_miss(&mut self, kind: AccessKind) {
        match kind {
            AccessKind::Read => self.read_misses += 1,
            AccessKind::Write => self.write_misses += 1,
            AccessKind::Writeback => {
                self.write_misses += 1;
                self.writeback_misses += 1;
            }
            AccessKind::Fetch => self.fetch_misses += 1,
            AccessKind::Prefetch => self.prefetch_misses += 1,
        }
    }
}
