//! How references were answered: at each level, how many asked it and for how many it had not all. One outcome a reference and
//! level, however many lines and accesses it makes: what temperatures are made of.

use super::tally::{MAX_LEVELS, Watch};
use crate::reference::{Kind, Reference};
use crate::sim::{Batch, Hierarchy};
use serde::{Deserialize, Serialize};
use std::ops::Sub;

/// References of one core, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// All references, those too that no cache is asked for.
    pub references: u64,
    /// Those that ask for data, and those that fetch instructions; without what the configuration drops.
    pub asking: [u64; 2],
    /// Bytes they ask for, of each no more than the smallest line has.
    pub bytes: [u64; 2],
    /// By level: those that asked it.
    pub asked: [u64; MAX_LEVELS],
    /// By level: those of them for which it had not all.
    pub missed: [u64; MAX_LEVELS],
}

impl Answered {
    fn each(&mut self, other: &Self, with: fn(&mut u64, u64)) {
        with(&mut self.references, other.references);
        for (own, other) in [(&mut self.asking, &other.asking), (&mut self.bytes, &other.bytes)] {
            own.iter_mut().zip(other).for_each(|(own, other)| with(own, *other));
        }
        for (own, other) in [(&mut self.asked, &other.asked), (&mut self.missed, &other.missed)] {
            own.iter_mut().zip(other).for_each(|(own, other)| with(own, *other));
        }
    }

    /// Those that a level had all of.
    #[must_use]
    pub fn hits(&self, level: usize) -> u64 {
        self.asked[level] - self.missed[level]
    }
}

/// Counts by core where a level has a cache for each, else of all together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    rows: Vec<Answered>,
    #[serde(skip)]
    asks: Asks,
}

/// What has to be known of the caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Asks {
    /// Bytes of the smallest line.
    line: u32,
    /// Fetches are left out.
    data_only: bool,
    /// Level that is asked first, for data and for instructions; [`MAX_LEVELS`] = none is.
    first: [u8; 2],
}

/// What one reference did, as bits: level *l* is bit *l*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) asked: u8,
    pub(super) missed: u8,
}

impl Marks {
    pub(super) fn of(watch: &Watch) -> Self {
        let bits = |counts: &[u32; MAX_LEVELS]| counts.iter().zip(0..).fold(0, |m, (&n, l)| m | (u8::from(n > 0) << l));
        let missed = bits(&watch.misses);
        Self { asked: bits(&watch.hits) | missed, missed }
    }

    /// Adds a demand access.
    #[inline(always)]
    pub(super) fn add(&mut self, level: usize, hit: bool) {
        let bit = 1u8.checked_shl(u32::try_from(level).unwrap_or(u32::MAX)).unwrap_or(0);
        self.asked |= bit;
        self.missed |= if hit { 0 } else { bit };
    }
}

impl Answers {
    /// Of no reference.
    #[must_use]
    pub fn new(hierarchy: &Hierarchy) -> Self {
        let config = hierarchy.config();
        let private = hierarchy.caches().any(|cache| hierarchy.info(cache).core.is_some());
        let line = hierarchy.caches().map(|cache| hierarchy.geometry(cache).line_bytes).min().unwrap_or(1);
        let first = |fetch| config.levels.iter().zip(0u8..).find(|(l, _)| l.holds.serves(fetch)).map(|(_, n)| n);
        let none = u8::try_from(MAX_LEVELS).unwrap_or(u8::MAX);
        let first = [false, true].map(|fetch| first(fetch).unwrap_or(none));
        let rows = if private { usize::from(config.cores) } else { 1 };
        Self { rows: vec![Answered::default(); rows], asks: Asks { line, data_only: config.data_only, first } }
    }

    /// Those of one core; `None` = of all.
    #[must_use]
    pub fn of(&self, core: Option<u16>) -> Answered {
        match core.and_then(|core| self.rows.get(usize::from(core))) {
            Some(row) => *row,
            None => {
                let mut sum = Answered::default();
                self.rows.iter().for_each(|row| sum.each(row, |a, b| *a += b));
                sum
            }
        }
    }

    /// As many rows, all 0.
    pub(super) fn none(&self) -> Self {
        Self { rows: vec![Answered::default(); self.rows.len()], asks: self.asks }
    }

    /// Takes the counts of another of the same caches; `None` where it is of others.
    pub(super) fn restore(&mut self, other: Self) -> Option<()> {
        (other.rows.len() == self.rows.len()).then(|| self.rows = other.rows)
    }

    /// Counts a reference: what it asks for. The row for [`Answers::mark`], and the level it asks first, if any.
    #[inline(always)]
    pub(super) fn begin(&mut self, kind: Kind, size: u32, core: u16) -> (usize, u8) {
        let Asks { line, data_only, first } = self.asks;
        let at = usize::from(core).min(self.rows.len() - 1);
        let (row, side) = (&mut self.rows[at], usize::from(kind == Kind::Fetch));
        row.references += 1;
        let drops = data_only && side == 1;
        row.asking[side] += u64::from(!drops);
        row.bytes[side] += if drops { 0 } else { u64::from(size.clamp(1, line)) };
        (at, if drops { u8::try_from(MAX_LEVELS).unwrap_or(u8::MAX) } else { first[side] })
    }

    /// Whether the caches leave out references of a kind: fetches, where only data counts.
    #[inline(always)]
    pub(super) fn drops(&self, kind: Kind) -> bool {
        self.asks.data_only && kind == Kind::Fetch
    }

    /// The level that a reference asks first; [`MAX_LEVELS`] = none.
    #[inline(always)]
    pub(super) fn first(&self, kind: Kind) -> u8 {
        let Asks { data_only, first, .. } = self.asks;
        let side = usize::from(kind == Kind::Fetch);
        if data_only && side == 1 { u8::try_from(MAX_LEVELS).unwrap_or(u8::MAX) } else { first[side] }
    }

    /// Counts what a reference did.
    #[inline(always)]
    pub(super) fn mark(&mut self, row: usize, marks: Marks) {
        let row = &mut self.rows[row];
        let (mut asked, missed) = (marks.asked, marks.missed);
        while asked != 0 {
            let level = asked.trailing_zeros() as usize;
            row.asked[level] += 1;
            row.missed[level] += u64::from(missed >> level & 1);
            asked &= asked - 1;
        }
    }

    /// Counts a reference and what it did.
    pub(super) fn add(&mut self, kind: Kind, size: u32, core: u16, marks: Marks) {
        let (row, _) = self.begin(kind, size, core);
        self.mark(row, marks);
    }

    /// Counts the references of a batch: caches that are played so are of no core.
    pub(super) fn batch(&mut self, batch: &Batch<'_>) {
        for Reference { kind, size, core, .. } in batch.references {
            let (row, first) = self.begin(*kind, *size, *core);
            if let Some(asked) = self.rows[row].asked.get_mut(usize::from(first)) {
                *asked += 1;
            }
        }
        let row = &mut self.rows[0];
        let count = |places: &[u16]| if batch.in_pieces { distinct(places) } else { places.len() as u64 };
        for list in batch.misses.iter().filter(|list| list.level.index() < MAX_LEVELS) {
            row.asked[list.level.index()] += count(list.asked);
            row.missed[list.level.index()] += count(list.missed);
        }
    }
}

/// How many different places there are.
fn distinct(places: &[u16]) -> u64 {
    let mut seen = vec![0u64; 1 << 10];
    let mut count = 0;
    for &place in places {
        let (word, bit) = (&mut seen[usize::from(place >> 6)], 1 << (place & 63));
        count += u64::from(*word & bit == 0);
        *word |= bit;
    }
    count
}

impl Sub<&Self> for Answers {
    type Output = Self;

    /// What came after `before`.
    fn sub(mut self, before: &Self) -> Self {
        self.rows.iter_mut().zip(&before.rows).for_each(|(row, before)| row.each(before, |a, b| *a -= b));
        self
    }
}
