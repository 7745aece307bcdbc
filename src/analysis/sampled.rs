//! Stack distances of a sample of lines, for traces too long for all of them.

use super::distance::Stack;
use super::histogram::Histogram;
use super::touch::Touches;
use crate::reference::Reference;

/// Groups of lines that the error is estimated from.
const GROUPS: usize = 8;
/// Student's t for 95 of 100, two-sided, with `GROUPS - 1` degrees of freedom.
const STUDENT: f64 = 2.365;
/// Lines of the sample below which distances are too coarse.
const RESOLVED: f64 = 8.0;
/// Resolution of rates: 2^-24.
const RATE_BITS: u32 = 24;

/// A rate that no sample can have.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is no share of lines to sample; expected 0.000001 to 1, as in 0.01 for one line of a hundred")]
pub struct SamplingError(pub f64);

/// Stack distances of a part of all lines, chosen by a hash of their number, each standing for as many as were left out: SHARDS with a
/// fixed rate (Waldspurger, Park, Garthwaite and Ahmad, "Efficient MRC Construction with SHARDS", FAST 2015), with its correction of
/// the number of accesses (SHARDS-adj). The same lines are chosen in each run.
///
/// A sample of one line in a hundred tells distances to a hundred lines or so, so nothing is told of caches of fewer than eight times as
/// many lines. The error is told with each number. It comes from eight groups of the chosen lines that are each a sample of their own, as half
/// of the width of the interval which holds the true value in 95 of 100 cases (Student's t, lines taken as chosen at random). Of a sample of
/// fewer than some 10,000 lines it is a guess: lines that are touched often are in it or not.
#[derive(Clone, Debug)]
pub struct SampledDistances {
    touches: Touches,
    rate: f64,
    /// Hashes below it, of [`RATE_BITS`] bits, are chosen.
    threshold: u64,
    all: Sample,
    groups: Vec<Sample>,
    /// Touches, chosen or not.
    accesses: u64,
}

#[derive(Clone, Debug)]
struct Sample {
    stack: Stack,
    histogram: Histogram,
    touched: u64,
}

impl Sample {
    fn new() -> Self {
        Self { stack: Stack::new(), histogram: Histogram::default(), touched: 0 }
    }

    #[inline]
    fn touch(&mut self, line: u64) {
        self.touched += 1;
        if let Some(distance) = self.stack.touch(line) {
            self.histogram.add(distance);
        }
    }

    /// Share of `accesses` that miss in a cache of so many lines, where each line stands for `1 / rate`.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate, between 0 and 1"
    )]
    fn miss_ratio(&self, lines: u64, rate: f64, accesses: u64) -> f64 {
        if accesses == 0 {
            return 0.0;
        }
        // Of a cache of n lines the sample has n * rate.
        let misses = self.stack.lines() + self.histogram.at_least((lines as f64 * rate).ceil() as u64);
        // Lines that are touched often may be chosen too often or too seldom: the difference counts as hits.
        let expected = accesses as f64 * rate;
        let ratio = misses as f64 / expected;
        ratio.clamp(0.0, 1.0)
    }
}

/// Bits of a line's number, well mixed (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
#[inline]
fn mixed(line: u64) -> u64 {
    let mut z = line.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl SampledDistances {
    /// Nothing touched yet. `rate` is the share of lines that are chosen, 0.000001 to 1.
    ///
    /// # Errors
    /// [`SamplingError`] for another rate.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^24")]
    pub fn new(touches: Touches, rate: f64) -> Result<Self, SamplingError> {
        if !(0.000_001..=1.0).contains(&rate) {
            return Err(SamplingError(rate));
        }
        let scale = f64::from(1u32 << RATE_BITS);
        let threshold = (rate * scale).round().max(1.0);
        Ok(Self {
            touches,
            rate: threshold / scale,
            threshold: threshold as u64,
            all: Sample::new(),
            groups: vec![Sample::new(); GROUPS],
            accesses: 0,
        })
    }

    /// Plays references, in their order.
    pub fn play(&mut self, references: &[Reference]) {
        let touches = self.touches;
        for reference in references {
            touches.each(reference, |line| self.touch(line));
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a few bits of a hash")]
    fn touch(&mut self, line: u64) {
        self.accesses += 1;
        let hash = mixed(line);
        if hash >> (64 - RATE_BITS) < self.threshold {
            self.all.touch(line);
            // Other bits of the hash say which group.
            self.groups[hash as usize % GROUPS].touch(line);
        }
    }

    /// Touches so far, chosen or not.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Touches of chosen lines.
    #[must_use]
    pub fn sampled(&self) -> u64 {
        self.all.touched
    }

    /// Share of lines that are chosen, as it is taken: a multiple of 2^-24.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The smallest cache that something can be told of, in lines: 8 lines of the sample, or 1 where all lines are in it.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 8 million")]
    pub fn least_lines(&self) -> u64 {
        if self.rate >= 1.0 { 1 } else { (RESOLVED / self.rate).ceil() as u64 }
    }

    /// Share of accesses that miss in a fully associative LRU cache of so many lines, and the error of that share: see the type. `None`
    /// below [`SampledDistances::least_lines`].
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a handful of groups")]
    pub fn miss_ratio(&self, lines: u64) -> Option<(f64, f64)> {
        if lines < self.least_lines() {
            return None;
        }
        if self.rate >= 1.0 {
            return Some((self.all.miss_ratio(lines, 1.0, self.accesses), 0.0));
        }
        let groups = GROUPS as f64;
        let of_group = |group: &Sample| group.miss_ratio(lines, self.rate / groups, self.accesses);
        let ratios: Vec<f64> = self.groups.iter().map(of_group).collect();
        let mean = ratios.iter().sum::<f64>() / groups;
        let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (groups - 1.0);
        Some((self.all.miss_ratio(lines, self.rate, self.accesses), STUDENT * (variance / groups).sqrt()))
    }
}
