//! One level: its sets, their words, its counts.

use super::fast::Plain;
use super::fast::scan::Shape;
use super::policy::{self, DIRTY, FLAG_BITS, Outcome, Policy, VALID};
use super::simd::Isa;
use super::words::Words;
use super::{AccessKind, Geometry};
use crate::units::{LineAddr, SetIndex};

/// A line that a level holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Which, in units of the level's line.
    pub line: LineAddr,
    /// Whether the next level has older data.
    pub dirty: bool,
}

/// What a level has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelCounters {
    /// Accesses that wanted data; at outer levels also those that inner stores cause.
    pub read_accesses: u64,
    /// Those that found nothing.
    pub read_misses: u64,
    /// Stores, and write-backs from inside.
    pub write_accesses: u64,
    /// Those that found nothing.
    pub write_misses: u64,
    /// Accesses that wanted instructions.
    pub fetch_accesses: u64,
    /// Those that found nothing.
    pub fetch_misses: u64,
    /// Lines that came in, fetched or not.
    pub fills: u64,
    /// Lines that left for another, clean or dirty.
    pub evictions: u64,
    /// Dirty lines sent to the next level, by eviction or flush. Clean evictions are `evictions - writebacks` as long
    /// as nothing was flushed.
    pub writebacks: u64,
    /// Lines removed by another level or core; 0 in this build.
    pub invalidations: u64,
    /// Bytes fetched from the next level.
    pub bytes_in: u64,
    /// Bytes written to the next level.
    pub bytes_out: u64,
}

impl LevelCounters {
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

/// The state of one level: flat, so that a copy is one `memcpy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cache {
    geometry: Geometry,
    policy: Policy,
    /// `sets * ways` words, set by set, each set in eviction order (see [`policy`]).
    words: Words,
    pub(super) counters: LevelCounters,
    /// For a level that is plain (see [`fast`](super::fast)).
    plain: Option<(Shape, Isa)>,
}

impl Cache {
    pub(super) fn new(geometry: Geometry, policy: Policy) -> Self {
        let words = usize::try_from(geometry.lines()).unwrap_or(usize::MAX);
        let plain = Shape::of(&geometry).filter(|_| policy == Policy::Lru);
        let plain = plain.map(|shape| (shape, Isa::best(shape.ways)));
        Self { geometry, policy, words: Words::new(words), counters: LevelCounters::default(), plain }
    }

    #[inline]
    pub(super) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Accesses a line: counts it, renews its order on a hit, replaces the set's victim by it on a miss.
    #[inline(always)]
    pub(super) fn access(&mut self, line: LineAddr, set: SetIndex, kind: AccessKind) -> Outcome {
        match kind {
            AccessKind::Read => self.counters.read_accesses += 1,
            AccessKind::Write | AccessKind::Writeback => self.counters.write_accesses += 1,
            AccessKind::Fetch => self.counters.fetch_accesses += 1,
        }
        let key = self.key(line);
        let dirty = if kind.is_write() { DIRTY } else { 0 };
        let policy = self.policy;
        policy::access(self.set_mut(set), key, dirty, policy)
    }

    /// Counts the miss and its fill.
    pub(super) fn count_miss(&mut self, kind: AccessKind) {
        match kind {
            AccessKind::Read => self.counters.read_misses += 1,
            AccessKind::Write | AccessKind::Writeback => self.counters.write_misses += 1,
            AccessKind::Fetch => self.counters.fetch_misses += 1,
        }
        self.counters.fills += 1;
    }

    /// What a word of this set means; `None` for an empty way.
    #[inline]
    pub(super) fn decode(&self, word: u64, set: SetIndex) -> Option<Resident> {
        (word != 0)
            .then(|| Resident { line: self.geometry.line_from(word >> FLAG_BITS, set), dirty: word & DIRTY != 0 })
    }

    /// Lines of a set, from the most recent to the next victim.
    pub(super) fn order(&self, set: SetIndex) -> impl DoubleEndedIterator<Item = Resident> + '_ {
        self.set(set).iter().filter_map(move |&word| self.decode(word, set))
    }

    /// Place of a line in its set's eviction order, 0 = most recent.
    pub(super) fn rank(&self, line: LineAddr) -> Option<(SetIndex, u32)> {
        let set = self.geometry.set_of(line);
        let key = self.key(line);
        let (_, rank) = self.set(set).iter().zip(0u32..).find(|(word, _)| **word & !DIRTY == key)?;
        Some((set, rank))
    }

    pub(super) fn dirty(&self) -> u64 {
        self.words.iter().filter(|word| **word & DIRTY != 0).count() as u64
    }

    /// Marks the oldest dirty line of a set clean and counts its write-back.
    pub(super) fn clean_oldest(&mut self, set: SetIndex) -> Option<LineAddr> {
        let word = self.set_mut(set).iter_mut().rfind(|word| **word & DIRTY != 0)?;
        *word &= !DIRTY;
        let word = *word;
        self.count_writeback();
        self.decode(word, set).map(|r| r.line)
    }

    pub(super) fn count_writeback(&mut self) {
        self.counters.writebacks += 1;
        self.counters.bytes_out += u64::from(self.geometry.line_bytes);
    }

    /// The level for the fast loops, if it is plain.
    #[inline]
    pub(super) fn plain(&mut self) -> Option<Plain<'_>> {
        let (shape, isa) = self.plain?;
        Some(Plain { shape, isa, words: &mut self.words, counters: &mut self.counters })
    }

    pub(super) fn state_bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.words)
    }

    #[inline]
    fn key(&self, line: LineAddr) -> u64 {
        (self.geometry.tag_of(line) << FLAG_BITS) | VALID
    }

    #[inline]
    fn set(&self, set: SetIndex) -> &[u64] {
        let ways = self.geometry.ways as usize;
        let start = set.0 as usize * ways;
        &self.words[start..start + ways]
    }

    #[inline]
    fn set_mut(&mut self, set: SetIndex) -> &mut [u64] {
        let ways = self.geometry.ways as usize;
        let start = set.0 as usize * ways;
        &mut self.words[start..start + ways]
    }
}
