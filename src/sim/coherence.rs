//! Who holds what: a directory of the units that private caches hold (Censier, Feautrier 1978), and what cores took from each
//! other. With it, MESI (Papamarcos, Patel 1984) is: a unit that one core holds is exclusive, or modified where a copy is dirty;
//! a unit that several hold is shared, and clean.
//!
//! The *unit* is the largest line of the private levels, so that no two cores disagree about a part of one.

use super::hash::LineMap;
use serde::{Deserialize, Serialize};

/// What cores did to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharingCounters {
    /// Units that a store took from a core that held them.
    pub taken: u64,
    /// Of another core's requests and stores: those that had to wait until a core had written dirty data back.
    pub interventions: u64,
    /// Accesses that found their unit taken by another core's store: coherence misses of the innermost level.
    pub returns: u64,
    /// Those that touched no byte another core had written since: false sharing (Torrellas, Lam, Hennessy 1994).
    pub false_sharing: u64,
}

/// Cores, a bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CoreSet {
    /// The first 64.
    low: u64,
    /// The others, 64 each; the last is not 0.
    high: Vec<u64>,
}

impl CoreSet {
    pub(super) fn insert(&mut self, core: u16) {
        let (word, bit) = (usize::from(core / 64), 1 << (core % 64));
        match word.checked_sub(1) {
            None => self.low |= bit,
            Some(at) => {
                if at >= self.high.len() {
                    self.high.resize(at + 1, 0);
                }
                self.high[at] |= bit;
            }
        }
    }

    pub(super) fn remove(&mut self, core: u16) {
        let (word, bit) = (usize::from(core / 64), 1 << (core % 64));
        match word.checked_sub(1) {
            None => self.low &= !bit,
            Some(at) => {
                if let Some(word) = self.high.get_mut(at) {
                    *word &= !bit;
                }
                while self.high.last() == Some(&0) {
                    self.high.pop();
                }
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.low == 0 && self.high.is_empty()
    }

    /// From the lowest.
    pub(super) fn iter(&self) -> impl Iterator<Item = u16> + use<> {
        let (mut word, mut base, mut rest) = (self.low, 0u16, self.high.clone().into_iter());
        std::iter::from_fn(move || {
            while word == 0 {
                (word, base) = (rest.next()?, base + 64);
            }
            let core = base + u16::try_from(word.trailing_zeros()).ok()?;
            word &= word - 1;
            Some(core)
        })
    }
}

/// One unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Unit {
    /// Cores with a copy of some of it.
    holders: CoreSet,
    /// Cores that a store took it from and that have not come back.
    lost: Vec<Lost>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Lost {
    core: u16,
    /// The last core that wrote it since.
    by: u16,
    /// Parts that other cores wrote since, a bit for each 64th of the unit, or byte where that is more.
    written: u64,
}

/// A core comes back to a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Return {
    pub(super) by: u16,
    pub(super) falsely: bool,
}

/// All units held or lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Directory {
    shift: u32,
    #[serde(with = "super::hash::in_order")]
    units: LineMap<Unit>,
    pub(super) counters: SharingCounters,
}

impl Directory {
    /// Units are of `1 << shift` bytes.
    pub(super) fn shift(&self) -> u32 {
        self.shift
    }

    /// For units of `1 << shift` bytes.
    pub(super) fn new(shift: u32) -> Self {
        Self { shift, units: LineMap::default(), counters: SharingCounters::default() }
    }

    /// The unit that holds a byte.
    pub(super) fn unit_of(&self, addr: u64) -> u64 {
        addr >> self.shift
    }

    /// First and last byte of a unit.
    pub(super) fn span(&self, unit: u64) -> (u64, u64) {
        let base = unit << self.shift;
        (base, base | ((1 << self.shift) - 1))
    }

    /// The core got some of the unit.
    pub(super) fn came(&mut self, core: u16, unit: u64) {
        let unit = self.units.entry(unit).or_default();
        unit.holders.insert(core);
        unit.lost.retain(|lost| lost.core != core);
    }

    /// The core has nothing of the unit any more.
    pub(super) fn left(&mut self, core: u16, unit: u64) {
        if let Some(entry) = self.units.get_mut(&unit) {
            entry.holders.remove(core);
            if entry.holders.is_empty() && entry.lost.is_empty() {
                self.units.remove(&unit);
            }
        }
    }

    /// The other cores that hold some of the unit, from the lowest.
    pub(super) fn others(&self, core: u16, unit: u64) -> impl Iterator<Item = u16> + use<> {
        let holders = self.units.get(&unit).map(|unit| unit.holders.iter());
        holders.into_iter().flatten().filter(move |other| *other != core)
    }

    /// The core touches bytes `first..=last` of the unit: whether it had lost it, and to whom.
    pub(super) fn comes_back(&mut self, core: u16, unit: u64, first: u64, last: u64) -> Option<Return> {
        let touched = self.parts(first, last);
        let lost = &mut self.units.get_mut(&unit)?.lost;
        let lost = lost.swap_remove(lost.iter().position(|lost| lost.core == core)?);
        let falsely = lost.written & touched == 0;
        self.counters.returns += 1;
        self.counters.false_sharing += u64::from(falsely);
        Some(Return { by: lost.by, falsely })
    }

    /// The core's store took the unit from `from`.
    pub(super) fn took(&mut self, core: u16, unit: u64, from: u16) {
        self.counters.taken += 1;
        self.units.entry(unit).or_default().lost.push(Lost { core: from, by: core, written: 0 });
    }

    /// The core writes bytes `first..=last` of the unit.
    pub(super) fn writes(&mut self, core: u16, unit: u64, first: u64, last: u64) {
        let written = self.parts(first, last);
        let Some(unit) = self.units.get_mut(&unit) else { return };
        for lost in unit.lost.iter_mut().filter(|lost| lost.core != core) {
            lost.by = core;
            lost.written |= written;
        }
    }

    /// Parts of a unit that bytes of it touch.
    fn parts(&self, first: u64, last: u64) -> u64 {
        let part = self.shift.saturating_sub(6);
        let number = |addr: u64| (addr & ((1 << self.shift) - 1)) >> part;
        let (first, last) = (number(first), number(last));
        (u64::MAX >> (63 - (last - first))) << first
    }

    pub(super) fn state_bytes(&self) -> usize {
        self.units.capacity() * (size_of::<(u64, Unit)>() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::config::MAX_CORES;

    #[test]
    fn sharing_is_false_where_the_bytes_differ() {
        let mut directory = Directory::new(6);
        directory.came(0, 5);
        directory.came(1, 5);
        assert_eq!(directory.others(0, 5).collect::<Vec<_>>(), [1]);
        let base = 5 << 6;
        // Core 0 writes bytes 0..8 and takes the unit; core 1 comes back to other bytes, then to the same.
        directory.left(1, 5);
        directory.took(0, 5, 1);
        directory.writes(0, 5, base, base + 7);
        assert_eq!(directory.comes_back(1, 5, base + 8, base + 15), Some(Return { by: 0, falsely: true }));
        directory.came(1, 5);
        directory.left(1, 5);
        directory.took(0, 5, 1);
        directory.writes(0, 5, base, base + 7);
        directory.writes(2, 5, base + 32, base + 32);
        assert_eq!(directory.comes_back(1, 5, base + 30, base + 33), Some(Return { by: 2, falsely: false }));
        assert_eq!(directory.comes_back(1, 5, base, base), None, "once");
        assert_eq!(directory.counters, SharingCounters { taken: 2, interventions: 0, returns: 2, false_sharing: 1 });
    }

    #[test]
    fn all_cores_and_large_units_fit() {
        let mut directory = Directory::new(12);
        for core in 0..MAX_CORES {
            directory.came(core, 1);
        }
        assert_eq!(directory.others(63, 1).count(), usize::from(MAX_CORES) - 1);
        let some: Vec<u16> = directory.others(0, 1).filter(|core| core % 63 == 1).collect();
        assert_eq!(some[..4], [1, 64, 127, 190]);
        assert_eq!(directory.parts(4096, 8191), u64::MAX);
        assert_eq!(directory.parts(4096, 4096 + 63), 1);
        for core in (0..MAX_CORES).rev() {
            directory.left(core, 1);
            let left: Vec<u16> = directory.others(u16::MAX, 1).collect();
            assert_eq!(left, (0..core).collect::<Vec<_>>());
        }
        assert!(directory.units.is_empty());
    }
}
