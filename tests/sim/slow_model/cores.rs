//! Several cores: before a store every other core's copies go, before a read leaves the private caches dirty copies are written
//! back. Who holds what is found by asking every cache.

use super::cache::{Cache, Line};
use super::model::{Ask, Model, pieces};
use orrery::sim::{AccessKind, SharingCounters};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub(crate) struct Cores {
    /// Bytes of the unit of coherence.
    unit: u128,
    /// By unit and core that lost it to a store: places other cores wrote since.
    lost: BTreeMap<(u128, u16), BTreeSet<u128>>,
    pub(crate) counters: SharingCounters,
}

impl Cores {
    pub(crate) fn new(unit: u128) -> Self {
        Self { unit, lost: BTreeMap::new(), counters: SharingCounters::default() }
    }
}

impl Model {
    /// A core's piece of a reference, before it plays.
    pub(crate) fn meet(&mut self, ask: Ask, first: u128, end: u128) {
        let Some(bytes) = self.cores.as_ref().map(|cores| cores.unit) else { return };
        for (first, end) in pieces(first, end, bytes) {
            self.meet_unit(ask, first, end);
        }
    }

    fn meet_unit(&mut self, ask: Ask, first: u128, end: u128) {
        let cores = self.cores.as_mut().unwrap();
        // Places are bytes, or sixty-fourths of a larger unit.
        let (unit, grain) = (first / cores.unit, (cores.unit / 64).max(1));
        let places: BTreeSet<u128> = (first / grain..=(end - 1) / grain).collect();
        if let Some(written) = cores.lost.remove(&(unit, ask.core)) {
            cores.counters.returns += 1;
            cores.counters.false_sharing += u64::from(written.is_disjoint(&places));
        }
        if ask.kind != AccessKind::Write {
            return;
        }
        for other in (0..self.config.cores).filter(|other| *other != ask.core) {
            if self.take(other, unit) {
                self.cores.as_mut().unwrap().lost.insert((unit, other), BTreeSet::new());
            }
        }
        for ((lost, _), written) in &mut self.cores.as_mut().unwrap().lost {
            if *lost == unit {
                written.extend(&places);
            }
        }
    }

    /// The lines of a unit in a core's private caches: (cache, line), from the innermost cache.
    fn copies(&self, core: u16, unit: u128) -> Vec<(usize, u128)> {
        let bytes = self.cores.as_ref().unwrap().unit;
        let own = self.caches.iter().enumerate().filter(|(_, cache)| cache.core == Some(core));
        let lines = |(n, cache): (usize, &Cache)| {
            let lines = cache.overlapping(unit * bytes, (unit + 1) * bytes);
            lines.into_iter().map(move |line| (n, line)).collect::<Vec<_>>()
        };
        own.flat_map(lines).collect()
    }

    /// A unit leaves a core; whether it was there.
    fn take(&mut self, core: u16, unit: u128) -> bool {
        if self.copies(core, unit).is_empty() {
            return false;
        }
        self.intervene(core, unit);
        for (cache, number) in self.copies(core, unit) {
            self.caches[cache].remove(number);
            self.caches[cache].classes.lost.insert(number);
        }
        self.cores.as_mut().unwrap().counters.taken += 1;
        true
    }

    /// A core's request leaves its private caches: others write back what they have of it.
    pub(crate) fn share(&mut self, core: u16, first: u128, end: u128) {
        let Some(bytes) = self.cores.as_ref().map(|cores| cores.unit) else { return };
        for (first, _) in pieces(first, end, bytes) {
            for other in (0..self.config.cores).filter(|other| *other != core) {
                self.intervene(other, first / bytes);
            }
        }
    }

    /// A core's dirty lines of a unit become clean: their data goes to a copy farther out in its private caches, else to the
    /// first cache that is shared.
    fn intervene(&mut self, core: u16, unit: u128) {
        let mut waited = false;
        for (cache, number) in self.copies(core, unit) {
            let Some(held) = self.caches[cache].find(number) else { continue };
            let line = held.clone();
            held.dirty.fill(false);
            if line.is_dirty() {
                waited = true;
                if !self.merge_outward(cache, &line) {
                    let shared = self.first_shared(cache);
                    self.hand_over(cache, &line, shared, core);
                }
            }
        }
        self.cores.as_mut().unwrap().counters.interventions += u64::from(waited);
    }

    /// Dirty bytes go to the next private copy that has room for the whole line; `false` where there is none.
    fn merge_outward(&mut self, cache: usize, line: &Line) -> bool {
        let bytes = self.caches[cache].line;
        let first = line.number * bytes;
        for outer in self.private_beyond(cache) {
            let number = first / self.caches[outer].line;
            if bytes <= self.caches[outer].line && self.caches[outer].find(number).is_some() {
                for (from, to) in self.caches[cache].dirty_bytes(line) {
                    let sectors = self.caches[outer].sectors_of(from, to);
                    let copy = self.caches[outer].find(number).unwrap();
                    for n in sectors {
                        (copy.valid[n], copy.dirty[n]) = (true, true);
                    }
                }
                return true;
            }
        }
        false
    }

    /// A private cache filled a line: what its core had lost is back.
    pub(crate) fn regain(&mut self, cache: usize, number: u128) {
        let line = self.caches[cache].line;
        if let (Some(cores), Some(core)) = (&mut self.cores, self.caches[cache].core) {
            cores.lost.remove(&(number * line / cores.unit, core));
        }
    }
}
