//! Two numbers for locality.

use super::distance::Stack;
use super::touch::Touches;
use crate::reference::{Kind, Reference};
use serde::Serialize;

/// References that a stride looks back over.
const BACK: usize = 32;
/// Bytes of the words that strides and reuse are counted in.
const WORD: u64 = 8;
/// Log2 of the words among which reuse counts: 2^20 words, 8 MiB.
const REACH_BITS: u32 = 20;

/// Scores of spatial and temporal locality, 0 to 1, of the loads and stores of a trace (after Weinberg, McCracken, Strohmaier and Snavely,
/// "Quantifying Locality in the Memory Access Patterns of HPC Applications", SC 2005).
///
/// - *Spatial*: each reference counts `1 / stride`, where its stride is the least distance, in words of 8 bytes, to one of the 32 references
///   before it. A stride of 0 is reuse and counts nothing. The score is the mean over all references that are no reuse: 1 = each
///   steps to a neighbour.
/// - *Temporal*: each touch of a word counts `1 - log2(d + 1) / 20`, where `d` is the number of other words touched since its last touch, and
///   nothing at first touches and past 2^20 words. The score is the mean: 1 = always the same word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LocalityScores {
    /// See above; `None` where no reference is without reuse.
    pub spatial: Option<f64>,
    /// See above; `None` without references.
    pub temporal: Option<f64>,
}

/// Counts for [`LocalityScores`].
#[derive(Clone, Debug)]
pub struct Locality {
    /// Words of the last references, the oldest overwritten next.
    recent: [u64; BACK],
    /// How many of them there are.
    held: usize,
    at: usize,
    strides: f64,
    strided: u64,
    stack: Stack,
    reuse: f64,
    touched: u64,
}

impl Default for Locality {
    fn default() -> Self {
        Self::new()
    }
}

impl Locality {
    /// Nothing played yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            recent: [0; BACK],
            held: 0,
            at: 0,
            strides: 0.0,
            strided: 0,
            stack: Stack::new(),
            reuse: 0.0,
            touched: 0,
        }
    }

    /// Plays references, in their order; instruction fetches count nothing.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn play(&mut self, references: &[Reference]) {
        let words = Touches::new(WORD.trailing_zeros(), true);
        for reference in references.iter().filter(|r| r.kind != Kind::Fetch) {
            let word = reference.addr / WORD;
            let stride = self.recent[..self.held].iter().map(|other| other.abs_diff(word)).min();
            match stride {
                Some(0) => {}
                Some(stride) => {
                    self.strides += 1.0 / stride as f64;
                    self.strided += 1;
                }
                None => self.strided += 1,
            }
            self.recent[self.at] = word;
            self.at = (self.at + 1) % BACK;
            self.held = (self.held + 1).min(BACK);
            let Self { stack, reuse, touched, .. } = self;
            words.each(reference, |word| {
                *touched += 1;
                if let Some(distance) = stack.touch(word) {
                    *reuse += (1.0 - (f64::from(distance) + 1.0).log2() / f64::from(REACH_BITS)).max(0.0);
                }
            });
        }
    }

    /// The scores of what was played.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn scores(&self) -> LocalityScores {
        let mean = |sum: f64, count: u64| (count > 0).then(|| sum / count as f64);
        LocalityScores { spatial: mean(self.strides, self.strided), temporal: mean(self.reuse, self.touched) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(addresses: impl Iterator<Item = u64>) -> (f64, f64) {
        let references: Vec<Reference> = addresses.map(|a| Reference::new(Kind::Read, a, 8)).collect();
        let mut locality = Locality::new();
        locality.play(&references);
        let scores = locality.scores();
        (scores.spatial.unwrap_or(-1.0), scores.temporal.unwrap_or(-1.0))
    }

    #[test]
    fn streams_are_spatial_and_loops_are_temporal() {
        // A stream: the first word has no neighbour.
        let (spatial, temporal) = scores((0..1_000).map(|n| 8 * n));
        assert!((spatial - 0.999).abs() < 1e-9 && temporal == 0.0, "{spatial} {temporal}");
        // Every fourth word.
        assert!((scores((0..1_001).map(|n| 32 * n)).0 - 0.25 * 1_000.0 / 1_001.0).abs() < 1e-9);
        // One word: the first touch counts nothing; no reference but it is without reuse.
        let (spatial, temporal) = scores((0..1_000).map(|_| 64));
        assert!(spatial == 0.0 && (temporal - 0.999).abs() < 1e-9, "{spatial} {temporal}");
        // A loop over 1,024 words, of 20 bits: 1 - 10 / 20 for all but the first time round.
        let (_, temporal) = scores((0..10_240).map(|n| 8 * (n % 1_024)));
        assert!((temporal - 0.9 * 0.5).abs() < 1e-9, "{temporal}");
        assert_eq!(scores(std::iter::empty()), (-1.0, -1.0));
    }
}
