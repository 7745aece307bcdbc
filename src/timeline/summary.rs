//! Misses over the trace in buckets, for the strip along the bottom.

use super::tally::{MAX_LEVELS, Watch};
use crate::units::LevelId;
use serde::{Deserialize, Serialize};

/// Buckets at most: more than any strip has pixels.
const BUCKETS: usize = 1 << 13;

/// Demand misses by level in equal spans of references. Where there are more than fit, neighbours are joined: spans double.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// References in a bucket; a power of two.
    span: u64,
    levels: usize,
    /// References so far.
    len: u64,
    misses: Vec<[u32; MAX_LEVELS]>,
}

impl Summary {
    /// Of no reference yet.
    #[must_use]
    pub fn new(levels: usize) -> Self {
        Self { span: 1, levels, len: 0, misses: Vec::new() }
    }

    /// Adds reference `tick`; ticks come in order.
    #[inline]
    pub fn add(&mut self, tick: u64, watch: &Watch) {
        self.begin(tick);
        if let Some(row) = self.misses.last_mut() {
            for (sum, misses) in row.iter_mut().zip(watch.misses) {
                *sum = sum.saturating_add(misses);
            }
        }
    }

    /// Says that reference `tick` is next; ticks come in order. Those between the borders of buckets may be left out.
    #[inline]
    pub(super) fn begin(&mut self, tick: u64) {
        // The span is a power of two.
        let bucket = usize::try_from(tick >> self.span.trailing_zeros()).unwrap_or(usize::MAX);
        if bucket >= self.misses.len() {
            self.open();
        }
        self.len = tick + 1;
    }

    /// One more bucket, after joining others where there is no room.
    #[cold]
    fn open(&mut self) {
        if self.misses.len() == BUCKETS {
            for n in 0..BUCKETS / 2 {
                let (a, b) = (self.misses[2 * n], self.misses[2 * n + 1]);
                self.misses[n] = std::array::from_fn(|level| a[level].saturating_add(b[level]));
            }
            self.misses.truncate(BUCKETS / 2);
            self.span *= 2;
        }
        self.misses.push([0; MAX_LEVELS]);
    }

    /// Adds demand misses of references in the newest bucket; `level` is below [`MAX_LEVELS`].
    #[inline]
    pub(super) fn miss(&mut self, level: usize, misses: u32) {
        if let Some(row) = self.misses.last_mut() {
            row[level] = row[level].saturating_add(misses);
        }
    }

    /// The reference after `tick` before which a new bucket begins: [`Summary::begin`] must be told of it.
    pub(super) fn edge_after(&self, tick: u64) -> u64 {
        (tick / self.span + 1) * self.span
    }

    /// Says how many references there were.
    pub(super) fn reach(&mut self, len: u64) {
        self.len = len;
    }

    /// References in a bucket.
    #[must_use]
    pub fn span(&self) -> u64 {
        self.span
    }

    /// Misses by level of the references `span * n` to `span * (n + 1)`; none past the end.
    #[must_use]
    pub fn bucket(&self, n: usize) -> [u32; MAX_LEVELS] {
        self.misses.get(n).copied().unwrap_or_default()
    }

    /// Misses of some levels together in full buckets of at least `least` references, 1024 of them at most; and their span.
    pub(super) fn misses(&self, levels: &[LevelId], least: u64) -> (Vec<u64>, u64) {
        let full = usize::try_from(self.len / self.span).unwrap_or(usize::MAX).min(self.misses.len());
        let mut joined = 1;
        while joined * 1024 < full || (joined as u64) * self.span < least {
            joined *= 2;
        }
        let of = |row: &[u32; MAX_LEVELS]| levels.iter().map(|level| u64::from(row[level.index()])).sum::<u64>();
        let sums = self.misses[..full].chunks_exact(joined).map(|rows| rows.iter().map(of).sum());
        (sums.collect(), joined as u64 * self.span)
    }

    /// Misses a reference at `level`, for each of `columns` equal parts of a trace of `of` references, 0 and up; 0 where
    /// nothing is known yet. A column narrower than a bucket shows its bucket.
    #[must_use]
    pub fn strip(&self, level: usize, columns: usize, of: u64) -> Vec<f32> {
        let buckets = usize::try_from(of.max(self.len).div_ceil(self.span)).unwrap_or(usize::MAX);
        let known = self.misses.len();
        if known == 0 || level >= self.levels {
            return vec![0.0; columns];
        }
        (0..columns)
            .map(|c| {
                let (from, to) = (c * buckets / columns, ((c + 1) * buckets).div_ceil(columns));
                let (from, to) = (from.min(known), to.max(from + 1).min(known));
                let sum: u64 = self.misses[from..to].iter().map(|m| u64::from(m[level])).sum();
                let first = from as u64 * self.span;
                let last = (to as u64 * self.span).min(self.len);
                sum as f32 / (last.saturating_sub(first)).max(1) as f32
            })
            .collect()
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.misses.len() * size_of::<[u32; MAX_LEVELS]>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_give_misses_a_reference_at_any_width() {
        let mut summary = Summary::new(1);
        let mut miss = Watch::default();
        miss.misses[0] = 1;
        let hit = Watch::default();
        for tick in 0..20_000 {
            summary.add(tick, if tick < 10_000 { &miss } else { &hit });
        }
        for columns in [1, 2, 10, 1000, 50_000] {
            let strip = summary.strip(0, columns, 20_000);
            assert_eq!(strip.len(), columns);
            let mean = strip.iter().sum::<f32>() / columns as f32;
            assert!((mean - 0.5).abs() < 0.01, "{columns}: {mean}");
        }
        assert_eq!(summary.strip(0, 2, 20_000), [1.0, 0.0]);
        assert_eq!(summary.strip(0, 4, 40_000), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(summary.span(), 4);
    }
}
