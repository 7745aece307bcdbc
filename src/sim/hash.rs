//! Maps and sets by line number, fast and the same on every run.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map by line number. Only looked up, never walked, so its order tells nobody anything.
pub(crate) type LineMap<V> = HashMap<u64, V, BuildHasherDefault<LineHasher>>;

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

/// Stores a map in the order of its keys: the same map gives the same bytes.
pub(super) mod in_order {
    use super::LineMap;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    pub(in crate::sim) fn serialize<V: Serialize, S: Serializer>(
        map: &LineMap<V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        map.iter().collect::<BTreeMap<_, _>>().serialize(serializer)
    }

    pub(in crate::sim) fn deserialize<'de, V: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<LineMap<V>, D::Error> {
        Ok(BTreeMap::deserialize(deserializer)?.into_iter().collect())
    }
}

impl Serialize for LineSet {
    /// In order, as [`in_order`].
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.iter().collect::<BTreeSet<_>>().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LineSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(BTreeSet::deserialize(deserializer)?.into_iter().collect()))
    }
}

/// Multiplies a line number by 2^64 / golden ratio and folds the halves of the product together: the standard hasher's
/// guard against hostile keys costs several times more.
#[derive(Clone, Default)]
pub(crate) struct LineHasher(u64);

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
