//! Counts by region over any part of the trace: tallies kept at borders, of which two make a difference.

use super::Tally;
use super::tally::{MAX_LEVELS, Row};
use std::ops::Range;
use std::sync::Arc;

/// References between borders, at least.
const SPAN: u64 = 1024;
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

/// Tallies at equal distances. Where there are more than fit, every other one goes: distances double. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Tallies {
    span: u64,
    /// Packed, before reference `span`, 2 `span` ...
    kept: Vec<Arc<[u8]>>,
    bytes: usize,
}

impl Tallies {
    pub(super) fn new() -> Self {
        Self { span: SPAN, kept: Vec::new(), bytes: 0 }
    }

    /// The reference after `tick` before which the next border is: [`Tallies::step`] must be told of it.
    pub(super) fn edge_after(&self, tick: u64) -> u64 {
        (tick / self.span + 1) * self.span
    }

    /// Says that reference `tick` is next, and what was counted before it.
    pub(super) fn step(&mut self, tick: u64, tally: &Tally) {
        if tick == 0 || !tick.is_multiple_of(self.span) {
            return;
        }
        let packed: Arc<[u8]> = tally.packed().into();
        self.bytes += packed.len();
        self.kept.push(packed);
        while self.kept.len() > 1 && (self.kept.len() > BORDERS || self.bytes > BYTES) {
            self.span *= 2;
            let mut border = 0u64;
            self.kept.retain(|_| {
                border += 1;
                border.is_multiple_of(2)
            });
            self.bytes = self.kept.iter().map(|tally| tally.len()).sum();
        }
    }

    /// For [`Tallies::read`].
    pub(super) fn stored(&self) -> (u64, Vec<Vec<u8>>) {
        (self.span, self.kept.iter().map(|tally| tally.to_vec()).collect())
    }

    pub(super) fn read((span, kept): (u64, Vec<Vec<u8>>)) -> Self {
        let bytes = kept.iter().map(Vec::len).sum();
        Self { span: span.max(1), kept: kept.into_iter().map(Into::into).collect(), bytes }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The last border up to `tick`, or the first from there on, of a trace of `len` references with `end` after the last.
    fn border(&self, tick: u64, up: bool, (empty, end, len): (&Tally, &Tally, u64)) -> Option<(u64, Tally)> {
        let border = if up { tick.div_ceil(self.span) } else { tick / self.span };
        let mut tally = empty.clone();
        match border.checked_sub(1).map(usize::try_from) {
            None => Some((0, tally)),
            Some(at) => match self.kept.get(at.ok()?) {
                Some(packed) => tally.restore(packed).map(|()| (border * self.span, tally)),
                None if up => Some((len, end.clone())),
                // Past the last one.
                None => self.border(self.kept.len() as u64 * self.span, false, (empty, end, len)),
            },
        }
    }

    /// What each row counted in some references, and in which exactly: up to the borders outside them.
    pub(super) fn over(
        &self,
        references: Range<u64>,
        rows: &[Row],
        levels: usize,
        trace: (&Tally, &Tally, u64),
    ) -> Option<(Vec<Share>, Range<u64>)> {
        let (from, before) = self.border(references.start, false, trace)?;
        let (to, after) = self.border(references.end, true, trace)?;
        let share = |row: &Row| {
            let references = after.references(row).saturating_sub(before.references(row));
            let mut share = Share { references, ..Share::default() };
            for (level, misses) in share.misses.iter_mut().take(levels).enumerate() {
                *misses = after.misses(row, level).saturating_sub(before.misses(row, level));
            }
            share
        };
        Some((rows.iter().map(share).collect(), from..to))
    }
}
