//! What each level did over the trace, for the strip along the bottom: sums up to each of many borders, so that those of any
//! part are a difference.
//!
//! ```text
//! reference   0     span    2 span   3 span            len
//! sums        0 ----- + ------ + ------ + ---- ... ---- now
//! ```

use super::ladder::edge_after;
use super::tally::{MAX_LEVELS, Watch};
use crate::sim::classes::Classifier;
use crate::sim::{LevelCounters, Shards};
use crate::units::LevelId;
use serde::{Deserialize, Serialize};
use std::ops::{Range, Sub};

/// Buckets at most: more than any strip has pixels.
const BUCKETS: usize = 1 << 13;

/// What a level did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// Accesses of every kind but prefetches that found their line.
    pub hits: u64,
    /// Those that did not.
    pub misses: u64,
    /// Those misses that the program waits for: all but write-backs.
    pub demand_misses: u64,
    /// `misses` by class: compulsory, capacity, conflict, coherence. All 0 where the trace is too long to class them.
    pub classes: [u64; 4],
}

impl Sub for Sums {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            hits: self.hits - before.hits,
            misses: self.misses - before.misses,
            demand_misses: self.demand_misses - before.demand_misses,
            classes: std::array::from_fn(|class| self.classes[class] - before.classes[class]),
        }
    }
}

/// Sums by level up to borders at equal distances. Where there are more than fit, every other one goes: distances double.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// References between borders; a power of two.
    span: u64,
    levels: usize,
    /// References so far.
    len: u64,
    /// Level by level: before reference 0, `span`, 2 `span` ...
    before: Vec<Sums>,
    /// After the last reference; without hits, misses and classes until [`Summary::settle`].
    now: Vec<Sums>,
}

/// Where the counts of a level are had from.
#[derive(Clone, Copy)]
pub(super) struct Counted<'a> {
    pub(super) state: &'a Shards,
    pub(super) classifier: Option<&'a Classifier>,
}

impl Counted<'_> {
    fn add_to(self, level: usize, sums: &mut Sums) {
        let Ok(id) = u8::try_from(level).map(LevelId) else { return };
        let counters: LevelCounters = self.state.level_counters(id);
        (sums.hits, sums.misses) = (counters.accesses() - counters.misses(), counters.misses());
        if let Some(classifier) = self.classifier {
            let counts = classifier.counts(id);
            sums.classes = [counts.compulsory, counts.capacity, counts.conflict, counts.coherence];
        }
    }
}

impl Summary {
    /// Of no reference yet.
    #[must_use]
    pub fn new(levels: usize) -> Self {
        let nothing = vec![Sums::default(); levels];
        Self { span: 1, levels, len: 0, before: nothing.clone(), now: nothing }
    }

    /// Whether a border is before reference `tick`, or would be: [`Summary::border`] must be told of it.
    #[inline]
    pub(super) fn is_border(&self, tick: u64) -> bool {
        tick & (self.span - 1) == 0
    }

    /// Says that reference `tick` is next, at a border, and what was counted before it.
    #[cold]
    pub(super) fn border(&mut self, tick: u64, counted: Counted<'_>) {
        if tick == 0 || !self.is_border(tick) {
            return;
        }
        self.settle(counted);
        if self.before.len() == (BUCKETS + 1) * self.levels {
            let levels = self.levels;
            for border in 1..=BUCKETS / 2 {
                self.before.copy_within(2 * border * levels..(2 * border + 1) * levels, border * levels);
            }
            self.before.truncate((BUCKETS / 2 + 1) * levels);
            self.span *= 2;
        }
        if self.is_border(tick) {
            debug_assert_eq!(self.before.len() as u64, tick / self.span * self.levels as u64, "no border is left out");
            self.before.extend_from_slice(&self.now);
        }
    }

    /// Brings what is counted elsewhere up to date.
    pub(super) fn settle(&mut self, counted: Counted<'_>) {
        for (level, sums) in self.now.iter_mut().enumerate() {
            counted.add_to(level, sums);
        }
    }

    /// Says that misses are not classed any more: classes of a part of the trace would pass for those of all of it.
    pub(super) fn without_classes(&mut self) {
        self.before.iter_mut().chain(&mut self.now).for_each(|sums| sums.classes = [0; 4]);
    }

    /// Adds a reference.
    #[inline]
    pub(super) fn add(&mut self, watch: &Watch) {
        for (sums, misses) in self.now.iter_mut().zip(watch.misses) {
            sums.demand_misses += u64::from(misses);
        }
    }

    /// Adds demand misses of a level that there is.
    #[inline]
    pub(super) fn miss(&mut self, level: usize, misses: usize) {
        self.now[level].demand_misses += misses as u64;
    }

    /// The reference after `tick` before which the next border is.
    pub(super) fn edge_after(&self, tick: u64) -> u64 {
        edge_after(tick, self.span)
    }

    /// Says how many references there were.
    pub(super) fn reach(&mut self, len: u64) {
        self.len = len;
    }

    /// References between two borders.
    #[must_use]
    pub fn span(&self) -> u64 {
        self.span
    }

    /// How many buckets have something in them; the last may not be full.
    fn buckets(&self) -> u64 {
        self.len.div_ceil(self.span)
    }

    /// Sums of a level before a border, up to the end.
    fn before(&self, border: u64, level: usize) -> Sums {
        let at = usize::try_from(border).unwrap_or(usize::MAX).saturating_mul(self.levels).saturating_add(level);
        let is_past = border * self.span > self.len || at >= self.before.len();
        if is_past { self.now[level] } else { self.before[at] }
    }

    /// Sums of a level between two borders.
    fn between(&self, borders: Range<u64>, level: usize) -> Sums {
        if level >= self.levels || borders.is_empty() {
            return Sums::default();
        }
        self.before(borders.end, level) - self.before(borders.start, level)
    }

    /// What `level` did in some references, and in which exactly: up to the borders outside them.
    #[must_use]
    pub fn over(&self, references: Range<u64>, level: usize) -> (Sums, Range<u64>) {
        let borders = references.start / self.span..references.end.min(self.len).div_ceil(self.span);
        let exactly = borders.start * self.span..(borders.end * self.span).min(self.len);
        (self.between(borders, level), exactly)
    }

    /// Demand misses by level of the references `span * n` to `span * (n + 1)`; none past the end.
    #[must_use]
    pub fn bucket(&self, n: usize) -> [u64; MAX_LEVELS] {
        let n = n as u64;
        std::array::from_fn(|level| match n < self.buckets() {
            true => self.between(n..n + 1, level).demand_misses,
            false => 0,
        })
    }

    /// Demand misses of some levels together in full buckets of at least `least` references, 1024 of them at most; and their
    /// span.
    pub(super) fn misses(&self, levels: &[LevelId], least: u64) -> (Vec<u64>, u64) {
        let full = self.len / self.span;
        let mut joined = 1;
        while joined * 1024 < full || joined * self.span < least {
            joined *= 2;
        }
        let of = |n: u64, level: LevelId| self.between(n * joined..(n + 1) * joined, level.index()).demand_misses;
        let sums = (0..full / joined).map(|n| levels.iter().map(|level| of(n, *level)).sum());
        (sums.collect(), joined * self.span)
    }

    /// Demand misses a reference at `level`, for each of `columns` equal parts of `references`, 0 and up; 0 where nothing is
    /// known yet. A column narrower than a bucket shows its bucket. Takes time in proportion to the columns.
    #[must_use]
    pub fn strip(&self, level: usize, columns: usize, references: Range<u64>) -> Vec<f32> {
        let (first, known) = (references.start / self.span, self.buckets());
        let buckets = references.end.div_ceil(self.span).saturating_sub(first);
        let columns = columns as u64;
        let misses = |c: u64| {
            let (from, to) = (first + c * buckets / columns, first + ((c + 1) * buckets).div_ceil(columns));
            let (from, to) = (from.min(known), to.max(from + 1).min(known));
            let references = (to * self.span).min(self.len).saturating_sub(from * self.span).max(1);
            self.between(from..to, level).demand_misses as f32 / references as f32
        };
        (0..columns).map(misses).collect()
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        (self.before.len() + self.now.len()) * size_of::<Sums>()
    }

    /// Whether it can be of a trace of so many references under so many levels: what comes from a file may not be.
    pub(super) fn fits(&self, levels: usize, len: u64) -> bool {
        let borders = self.span.is_power_of_two().then(|| len / self.span + 1);
        // The border at the very end is not there until something comes after it.
        let fits = |borders: u64| {
            let there = (self.before.len() / self.levels.max(1)) as u64;
            self.before.len().is_multiple_of(self.levels.max(1)) && (there == borders || there + 1 == borders)
        };
        let ordered = |a: &Sums, b: &Sums| {
            let classes = a.classes.iter().zip(b.classes).all(|(a, b)| *a <= b);
            a.hits <= b.hits && a.misses <= b.misses && a.demand_misses <= b.demand_misses && classes
        };
        let rows: Vec<&[Sums]> = self.before.chunks(self.levels.max(1)).chain([&self.now[..]]).collect();
        let rising = rows.windows(2).all(|pair| pair[0].iter().zip(pair[1]).all(|(a, b)| ordered(a, b)));
        (self.levels, self.len, self.now.len()) == (levels, len, levels) && borders.is_some_and(fits) && rising
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Hierarchy;
    use crate::sim::config::preset;

    fn of(len: u64, misses: impl Fn(u64) -> bool) -> Summary {
        let hierarchy = Hierarchy::new(&preset("paper").expect("a preset")).expect("sound");
        let (mut summary, shards) = (Summary::new(1), Shards::new(hierarchy, 1));
        let counted = Counted { state: &shards, classifier: None };
        let mut miss = Watch::default();
        miss.misses[0] = 1;
        let hit = Watch::default();
        for tick in 0..len {
            if summary.is_border(tick) {
                summary.border(tick, counted);
            }
            summary.add(if misses(tick) { &miss } else { &hit });
            summary.reach(tick + 1);
        }
        summary
    }

    #[test]
    fn columns_give_misses_a_reference_at_any_width() {
        let summary = of(20_000, |tick| tick < 10_000);
        for columns in [1, 2, 10, 1000, 50_000] {
            let strip = summary.strip(0, columns, 0..20_000);
            assert_eq!(strip.len(), columns);
            let mean = strip.iter().sum::<f32>() / columns as f32;
            assert!((mean - 0.5).abs() < 0.01, "{columns}: {mean}");
        }
        assert_eq!(summary.strip(0, 2, 0..20_000), [1.0, 0.0]);
        assert_eq!(summary.strip(0, 4, 0..40_000), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(summary.strip(0, 4, 8_000..12_000), [1.0, 1.0, 0.0, 0.0]);
        assert_eq!(summary.strip(0, 3, 19_999..1 << 40), [0.0; 3]);
        assert_eq!(summary.span(), 4);
    }

    #[test]
    fn sums_of_any_part_are_those_of_its_buckets() {
        let misses = |tick: u64| tick.is_multiple_of(7) || tick / 1000 == 3;
        for len in [1, 5, 8_191, 8_192, 8_193, 16_385, 30_001] {
            let summary = of(len, misses);
            assert!(summary.fits(1, len), "{len}");
            for [from, to] in [[0, len], [len / 3, len / 2], [len / 2, len / 2 + 1], [len - 1, len + 50]] {
                let (sums, exactly) = summary.over(from..to, 0);
                assert!(exactly.start <= from && exactly.end >= to.min(len), "{exactly:?} of {from}..{to}");
                assert!(exactly.end - exactly.start < to - from + 2 * summary.span());
                let expect = exactly.clone().filter(|tick| misses(*tick)).count() as u64;
                assert_eq!(sums.demand_misses, expect, "{exactly:?} of {len}");
            }
            let buckets = usize::try_from(len / summary.span() + 2).expect("small");
            let sum: u64 = (0..buckets).map(|n| summary.bucket(n)[0]).sum();
            assert_eq!(sum, (0..len).filter(|tick| misses(*tick)).count() as u64);
        }
    }
}
