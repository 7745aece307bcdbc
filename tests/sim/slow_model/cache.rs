//! One cache of the model: sets are lists of ways, everything is found by looking at all of it.

use super::policy::{Tree, lot};
use orrery::sim::config::{HierarchyConfig, LevelConfig, Ways};
use orrery::sim::{Index, LevelCounters, Policy};
use std::collections::BTreeSet;

/// A line that is held.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) number: u128,
    /// By sector: whether it is here, whether it is newer than outside.
    pub(crate) valid: Vec<bool>,
    pub(crate) dirty: Vec<bool>,
    /// Came by prefetch, not used yet; and when it would have arrived.
    pub(crate) prefetched: bool,
    pub(crate) ready: u64,
    /// When it was filled and when it was used last, counted in steps of its cache.
    pub(crate) filled: u64,
    pub(crate) used: u64,
    /// LFU, bit-PLRU, RRIP.
    pub(crate) uses: u64,
    pub(crate) bit: bool,
    pub(crate) rrpv: u8,
}

impl Line {
    pub(crate) fn new(number: u128, sectors: usize) -> Self {
        Self {
            number,
            valid: vec![false; sectors],
            dirty: vec![false; sectors],
            prefetched: false,
            ready: 0,
            filled: 0,
            used: 0,
            uses: 0,
            bit: false,
            rrpv: 0,
        }
    }

    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty.contains(&true)
    }
}

/// Of one cache, or one TLB.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) ways: Vec<Option<Line>>,
    pub(crate) tree: Tree,
    /// Victims chosen, and fills by the bimodal rule: numbers of the draws.
    pub(crate) evictions: u64,
    pub(crate) bimodal: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Cache {
    pub(crate) level: usize,
    /// `None` = of all cores.
    pub(crate) core: Option<u16>,
    pub(crate) line: u128,
    pub(crate) sectors: usize,
    pub(crate) sets: Vec<Set>,
    pub(crate) policy: Policy,
    index: Index,
    slices: u128,
    pub(crate) seed: u64,
    /// DRRIP's PSEL.
    pub(crate) selector: i32,
    pub(crate) time: u64,
    /// What it will be asked for, for OPT, and how many of these have been asked.
    pub(crate) future: Vec<u128>,
    pub(crate) asked: usize,
    pub(crate) counters: LevelCounters,
    pub(crate) classes: Classes,
    /// Lines that a prefetch drove out and that did not come back.
    pub(crate) driven_out: BTreeSet<u128>,
}

/// A fully associative LRU cache of as many lines, the most recent first, and what else a miss's class depends on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    full: Vec<u128>,
    seen: BTreeSet<u128>,
    pub(crate) lost: BTreeSet<u128>,
    /// compulsory, capacity, conflict, coherence.
    pub(crate) counts: [u64; 4],
}

impl Cache {
    pub(crate) fn new(level: usize, core: Option<u16>, config: &LevelConfig, seed: u64) -> Self {
        let lines = usize::try_from(config.size / u64::from(config.line)).unwrap();
        Self {
            sectors: config.sector.map_or(1, |sector| (config.line / sector) as usize),
            index: config.index,
            slices: u128::from(config.slices.unwrap_or(1)),
            ..Self::shaped(level, core, u128::from(config.line), lines, config.ways, config.policy, seed)
        }
    }

    /// The TLB `tlb` of the configuration: a cache of pages.
    pub(crate) fn tlb(tlb: usize, core: Option<u16>, config: &HierarchyConfig) -> Self {
        let (seed, page, tlb_config) = (config.seed, u128::from(config.memory.page), &config.tlbs[tlb]);
        Self::shaped(tlb, core, page, tlb_config.entries as usize, tlb_config.ways, tlb_config.policy, seed)
    }

    fn shaped(
        level: usize,
        core: Option<u16>,
        line: u128,
        lines: usize,
        ways: Ways,
        policy: Policy,
        seed: u64,
    ) -> Self {
        let ways = match ways {
            Ways::Count(n) => n as usize,
            Ways::Full => lines,
        };
        let tree = if policy == Policy::TreePlru { Tree::over(0, ways) } else { Tree::Way(0) };
        let set = Set { ways: vec![None; ways], tree, evictions: 0, bimodal: 0 };
        Self {
            level,
            core,
            line,
            sectors: 1,
            sets: vec![set; lines / ways],
            policy,
            index: Index::Modulo,
            slices: 1,
            seed,
            selector: 511,
            time: 0,
            future: Vec::new(),
            asked: 0,
            counters: LevelCounters::default(),
            classes: Classes::default(),
            driven_out: BTreeSet::new(),
        }
    }

    pub(crate) fn set_of(&self, number: u128) -> usize {
        let sets = self.sets.len() as u128;
        let set = match self.index {
            Index::Modulo => number % sets,
            Index::XorFold => {
                let (mut rest, mut folded) = (number, 0);
                while rest > 0 && sets > 1 {
                    folded ^= rest % sets;
                    rest /= sets;
                }
                folded
            }
            Index::Slice => {
                let masks: [u128; 3] = [0x1b_5f57_5440, 0x2e_b5fa_a880, 0x3c_ccc9_3100];
                let mut slice = 0;
                for (bit, mask) in masks.iter().enumerate().filter(|(bit, _)| 1 << bit < self.slices) {
                    slice += u128::from(((number * self.line) & mask).count_ones() % 2) << bit;
                }
                slice * (sets / self.slices) + number % (sets / self.slices)
            }
        };
        usize::try_from(set).unwrap()
    }

    pub(crate) fn find(&mut self, number: u128) -> Option<&mut Line> {
        let set = self.set_of(number);
        self.sets[set].ways.iter_mut().flatten().find(|line| line.number == number)
    }

    /// All lines that share a byte with `first..end`, from the lowest.
    pub(crate) fn overlapping(&self, first: u128, end: u128) -> Vec<u128> {
        let held = self.sets.iter().flat_map(|set| set.ways.iter().flatten()).map(|line| line.number);
        let mut lines: Vec<u128> = held.filter(|n| n * self.line < end && first < (n + 1) * self.line).collect();
        lines.sort_unstable();
        lines
    }

    /// The sectors that bytes of one line touch.
    pub(crate) fn sectors_of(&self, first: u128, end: u128) -> Vec<usize> {
        let sector = self.line / self.sectors as u128;
        let start = first / self.line * self.line;
        let touched = |n: &usize| first < start + (*n as u128 + 1) * sector && start + *n as u128 * sector < end;
        (0..self.sectors).filter(touched).collect()
    }

    /// The bytes `first..end` of each run of a line's dirty sectors.
    pub(crate) fn dirty_bytes(&self, line: &Line) -> Vec<(u128, u128)> {
        let dirty: Vec<usize> = (0..self.sectors).filter(|n| line.dirty[*n]).collect();
        self.bytes_of(line.number, &dirty)
    }

    /// The bytes `first..end` of each run of neighbouring sectors.
    pub(crate) fn bytes_of(&self, number: u128, sectors: &[usize]) -> Vec<(u128, u128)> {
        let sector = self.line / self.sectors as u128;
        let mut runs: Vec<(u128, u128)> = Vec::new();
        for &n in sectors {
            let first = number * self.line + n as u128 * sector;
            match runs.last_mut() {
                Some((_, end)) if *end == first => *end += sector,
                _ => runs.push((first, first + sector)),
            }
        }
        runs
    }

    /// The line was used.
    pub(crate) fn touch(&mut self, number: u128) {
        self.time += 1;
        let set = self.set_of(number);
        let way = self.sets[set].ways.iter().position(|w| w.as_ref().is_some_and(|l| l.number == number)).unwrap();
        self.use_way(set, way);
        let line = self.sets[set].ways[way].as_mut().unwrap();
        line.rrpv = 0;
    }

    fn use_way(&mut self, set: usize, way: usize) {
        let set = &mut self.sets[set];
        set.tree.turn_away(way);
        let line = set.ways[way].as_mut().unwrap();
        line.used = self.time;
        line.uses += 1;
        line.bit = true;
        if set.ways.iter().all(|way| way.as_ref().is_some_and(|line| line.bit)) {
            for (other, line) in set.ways.iter_mut().enumerate() {
                line.as_mut().unwrap().bit = other == way;
            }
        }
    }

    /// Puts a line into the lowest empty way or else the victim's; gives the victim.
    pub(crate) fn insert(&mut self, mut line: Line) -> Option<Line> {
        self.time += 1;
        let set = self.set_of(line.number);
        let empty = self.sets[set].ways.iter().position(Option::is_none);
        let way = empty.unwrap_or_else(|| self.choose(set));
        self.driven_out.remove(&line.number);
        self.classes.lost.remove(&line.number);
        line.filled = self.time;
        line.rrpv = self.predict(set);
        let victim = self.sets[set].ways[way].replace(line);
        self.use_way(set, way);
        self.counters.fills += 1;
        if victim.is_some() {
            self.counters.evictions += 1;
            self.sets[set].evictions += 1;
        }
        victim
    }

    /// What RRIP thinks of a new line: 2 = far, 3 = next to leave.
    fn predict(&mut self, number: usize) -> u8 {
        let sets = self.sets.len();
        let constituency = (sets / 32).max(2);
        let bimodal = match self.policy {
            Policy::Brrip => true,
            Policy::Drrip if number.is_multiple_of(constituency) => {
                self.selector = (self.selector + 1).min(1023);
                false
            }
            Policy::Drrip if number % constituency == constituency - 1 => {
                self.selector = (self.selector - 1).max(0);
                true
            }
            Policy::Drrip => self.selector >= 512,
            _ => false,
        };
        if !bimodal {
            return 2;
        }
        let set = &mut self.sets[number];
        let drawn = lot(self.seed, number as u64, set.bimodal);
        set.bimodal += 1;
        if drawn.is_multiple_of(32) { 2 } else { 3 }
    }

    /// Takes a line out.
    pub(crate) fn remove(&mut self, number: u128) -> Line {
        let set = self.set_of(number);
        let held = |way: &&mut Option<Line>| way.as_ref().is_some_and(|line| line.number == number);
        let line = self.sets[set].ways.iter_mut().find(held).and_then(Option::take).unwrap();
        self.counters.invalidations += 1;
        line
    }

    /// Tells the classes of an access, and counts a miss.
    pub(crate) fn classify(&mut self, number: u128, counted_miss: bool) {
        let lines = self.sets.len() * self.sets[0].ways.len();
        let c = &mut self.classes;
        let held = c.full.contains(&number);
        c.full.retain(|n| *n != number);
        c.full.insert(0, number);
        c.full.truncate(lines);
        let first = c.seen.insert(number);
        if counted_miss {
            let lost = c.lost.contains(&number);
            c.counts[match (lost, first, held) {
                (true, ..) => 3,
                (_, true, _) => 0,
                (.., false) => 1,
                (.., true) => 2,
            }] += 1;
        }
    }
}
