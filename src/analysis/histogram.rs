//! How often each number occurred.

use crate::sim::hash::LineMap;
use serde::{Serialize, Serializer};

/// Numbers below this are counted in a list, which grows as far as they reach; higher ones in a map, unless all are to be in the list.
const NEAR: usize = 1 << 12;

/// How often each number below 2^32 occurred. Serializes as a list of pairs, `[[number, count], ...]`, in rising order.
#[derive(Clone, Debug)]
pub struct Histogram {
    near: Vec<u64>,
    far: LineMap<u64>,
    /// Numbers below it go to the list.
    reach: usize,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { near: Vec::new(), far: LineMap::default(), reach: NEAR }
    }
}

impl Histogram {
    /// For many different numbers that are not far apart: eight bytes for each number up to the highest.
    #[must_use]
    pub fn dense() -> Self {
        Self { reach: usize::MAX, ..Self::default() }
    }

    /// Counts a number.
    #[inline]
    pub fn add(&mut self, number: u32) {
        self.add_many(number, 1);
    }

    /// Counts a number so many times.
    #[inline]
    pub fn add_many(&mut self, number: u32, count: u64) {
        let place = number as usize;
        if let Some(counted) = self.near.get_mut(place) {
            *counted += count;
        } else if place < self.reach {
            self.near.resize((place + 1).max(2 * self.near.len()).min(self.reach), 0);
            self.near[place] = count;
        } else {
            *self.far.entry(u64::from(number)).or_insert(0) += count;
        }
    }

    /// Numbers that occurred, in rising order, each with its count.
    #[must_use]
    #[expect(clippy::iter_over_hash_type, reason = "sorted before anybody sees it")]
    #[expect(clippy::cast_possible_truncation, reason = "numbers of u32")]
    pub fn pairs(&self) -> Vec<(u32, u64)> {
        let near = self.near.iter().zip(0u32..).map(|(count, number)| (number, *count));
        let mut pairs: Vec<(u32, u64)> = near.filter(|(_, count)| *count > 0).collect();
        let first = pairs.len();
        for (number, count) in &self.far {
            pairs.push((*number as u32, *count));
        }
        pairs[first..].sort_unstable();
        pairs
    }

    /// All that was counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.near.iter().sum::<u64>() + self.far.values().sum::<u64>()
    }

    /// How many of the counted numbers are `least` or more.
    #[must_use]
    pub fn at_least(&self, least: u64) -> u64 {
        let skipped = usize::try_from(least).unwrap_or(usize::MAX).min(self.near.len());
        let near: u64 = self.near[skipped..].iter().sum();
        near + self.far.iter().filter(|(number, _)| **number >= least).map(|(_, count)| count).sum::<u64>()
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.pairs() == other.pairs()
    }
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.pairs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_kinds_count_alike(numbers in prop::collection::vec(prop_oneof![0u32..20, 0u32..9_000], 0..300)) {
            let (mut sparse, mut dense) = (Histogram::default(), Histogram::dense());
            for n in &numbers {
                sparse.add(*n);
                dense.add(*n);
            }
            prop_assert_eq!(&sparse, &dense);
            prop_assert_eq!(sparse.total(), numbers.len() as u64);
            for least in [0, 5, 4_096, 5_000, 1 << 40] {
                let slow = numbers.iter().filter(|n| u64::from(**n) >= least).count() as u64;
                prop_assert_eq!([sparse.at_least(least), dense.at_least(least)], [slow, slow]);
            }
        }
    }
}
