//! Maps and sets by line number, fast and the same on every run.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map by line number. Only looked up, never walked, so its order tells nobody anything.
pub(super) type LineMap<V> = HashMap<u64, V, BuildHasherDefault<LineHasher>>;

/// Likewise a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LineSet(HashSet<u64, BuildHasherDefault<LineHasher>>);

impl LineSet {
    pub(super) fn insert(&mut self, line: u64) -> bool {
        self.0.insert(line)
    }

    pub(super) fn contains(&self, line: u64) -> bool {
        !self.0.is_empty() && self.0.contains(&line)
    }

    pub(super) fn remove(&mut self, line: u64) -> bool {
        !self.0.is_empty() && self.0.remove(&line)
    }
}

/// Multiplies a line number by 2^64 / golden ratio and folds the halves of the product together: the standard hasher's
/// guard against hostile keys costs several times more.
#[derive(Clone, Default)]
pub(super) struct LineHasher(u64);

impl Hasher for LineHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the two halves of a 128-bit product")]
    fn write_u64(&mut self, n: u64) {
        let product = u128::from(self.0 ^ n ^ 0x5851_f42d_4c95_7f2d) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}
