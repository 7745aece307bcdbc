//! Counts by region over any part of the trace: tallies kept at borders, of which two make a difference.

use super::Tally;
use super::ladder::{Border, Ladder};
use super::tally::{MAX_LEVELS, Row};
use std::ops::{Range, Sub};

/// Borders at most, and bytes of all tallies.
const BORDERS: usize = 512;
const BYTES: usize = 8 << 20;

/// References and demand misses of a region in a part of the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// References.
    pub references: u64,
    /// Demand misses by level.
    pub misses: [u64; MAX_LEVELS],
}

/// What was counted after `before` was.
impl Sub for Share {
    type Output = Self;

    fn sub(mut self, before: Self) -> Self {
        self.references = self.references.saturating_sub(before.references);
        self.misses.iter_mut().zip(before.misses).for_each(|(own, before)| *own = own.saturating_sub(before));
        self
    }
}

impl Share {
    /// What each row counted between two tallies.
    pub(super) fn between(before: &Tally, after: &Tally, rows: &[Row], levels: usize) -> Vec<Self> {
        let share = |row: &Row| {
            let references = after.references(row).saturating_sub(before.references(row));
            let mut share = Self { references, ..Self::default() };
            for (level, misses) in share.misses.iter_mut().take(levels).enumerate() {
                *misses = after.misses(row, level).saturating_sub(before.misses(row, level));
            }
            share
        };
        rows.iter().map(share).collect()
    }
}

/// Tallies at equal distances. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Tallies(Ladder);

impl Tallies {
    pub(super) fn new() -> Self {
        Self(Ladder::new(BORDERS, BYTES))
    }

    /// The reference after `tick` before which the next border is: [`Tallies::step`] must be told of it.
    pub(super) fn edge_after(&self, tick: u64) -> u64 {
        self.0.edge_after(tick)
    }

    /// Says that reference `tick` is next, and what was counted before it.
    pub(super) fn step(&mut self, tick: u64, tally: &Tally) {
        self.0.step(tick, || tally.packed());
    }

    /// For [`Tallies::read`].
    pub(super) fn stored(&self) -> (u64, Vec<Vec<u8>>) {
        self.0.stored()
    }

    pub(super) fn read(stored: (u64, Vec<Vec<u8>>)) -> Self {
        Self(Self::new().0.read(stored))
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// What each row counted in some references, and in which exactly: up to the borders outside them. Of a trace of `len`
    /// references with `end` after the last.
    pub(super) fn over(
        &self,
        references: Range<u64>,
        rows: &[Row],
        levels: usize,
        (empty, end, len): (&Tally, &Tally, u64),
    ) -> Option<(Vec<Share>, Range<u64>)> {
        let borders = self.0.around(&references);
        let tally = |border: Border<'_>| match border {
            Border::Start => Some(empty.clone()),
            Border::Before(_, packed) => {
                let mut tally = empty.clone();
                tally.restore(packed).map(|()| tally)
            }
            Border::End => Some(end.clone()),
        };
        let (before, after) = (tally(borders[0])?, tally(borders[1])?);
        let shares = Share::between(&before, &after, rows, levels);
        Some((shares, borders[0].tick(len)..borders[1].tick(len)))
    }
}
