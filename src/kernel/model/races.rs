//! Races: two items at one word, one of them writing, and no barrier between them. Atomic operations race with none of their kind.

use crate::kernel::code::{Act, Site};
use crate::kernel::program::{Shared, Space};
use crate::kernel::record::Access;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Two places in the source that race.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Race {
    /// Which of the shared variables.
    pub shared: usize,
    /// The sites, the earlier access first.
    pub sites: [usize; 2],
    /// Where it was seen first: byte of the variable.
    pub address: u32,
    /// Groups and items that were seen first.
    pub items: [(u64, usize); 2],
    /// How many different words it was seen at; of workgroup memory each group has words of its own.
    pub words: u64,
}

/// Items of a group that were at a word, by site: one of them, and another if there is one.
#[derive(Debug, Clone, Copy)]
struct Visit {
    site: usize,
    item: usize,
    another: Option<usize>,
}

/// Groups that were at a word, by site: one of them, its first item there, and whether others were. As small as can be: a launch has
/// one for each word of a buffer and each site that accesses it.
#[derive(Debug, Clone, Copy)]
struct FarVisit {
    group: u64,
    site: u32,
    item: u16,
    others: bool,
    /// Where the next one of the word is, plus 1.
    next: u32,
}

/// All of them of one variable.
#[derive(Debug, Default)]
struct Far {
    /// By word: where its last one is, plus 1.
    words: Vec<u32>,
    visits: Vec<FarVisit>,
}

impl Far {
    fn of(&self, word: u32) -> impl Iterator<Item = &FarVisit> {
        let at = |next: u32| self.visits.get((next as usize).wrapping_sub(1));
        let first = self.words.get(word as usize).copied().unwrap_or(0);
        std::iter::successors(at(first), move |visit| at(visit.next))
    }

    fn note(&mut self, word: u32, site: usize, (group, item): (u64, usize)) {
        let word = word as usize;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let mut at = self.words[word];
        while let Some(visit) = self.visits.get_mut((at as usize).wrapping_sub(1)) {
            if visit.site as usize == site {
                visit.others |= visit.group != group;
                return;
            }
            at = visit.next;
        }
        let site = u32::try_from(site).unwrap_or(u32::MAX);
        let item = u16::try_from(item).unwrap_or(u16::MAX);
        let number = u32::try_from(self.visits.len() + 1).unwrap_or(0);
        // More than there are numbers for: no launch that is let run has so many.
        if number > 0 {
            self.visits.push(FarVisit { group, site, item, others: false, next: self.words[word] });
            self.words[word] = number;
        }
    }
}

/// Words of a pair of sites that were counted.
#[derive(Debug, Default)]
struct Counted {
    /// A bit for each word of a buffer.
    far: Vec<u64>,
    /// Words of workgroup memory: each group has its own.
    near: HashSet<u32>,
    group: u64,
}

impl Counted {
    /// Whether it is the first time.
    fn is_new(&mut self, word: u32, group: Option<u64>) -> bool {
        if let Some(group) = group {
            if self.group != group {
                self.near.clear();
                self.group = group;
            }
            return self.near.insert(word);
        }
        let (at, bit) = (word as usize / 64, 1u64 << (word % 64));
        if self.far.len() <= at {
            self.far.resize(at + 1, 0);
        }
        let is_new = self.far[at] & bit == 0;
        self.far[at] |= bit;
        is_new
    }
}

/// Keeps who was where since the last barrier.
#[derive(Debug)]
pub(super) struct Races {
    /// Since the last barrier, by variable and word: by phase of the variable's space.
    near: Vec<HashMap<u32, Vec<Visit>>>,
    phases: Vec<u64>,
    /// In groups before: no barrier is between groups.
    far: Vec<Far>,
    /// Variables that nobody can race for.
    silent: Vec<bool>,
    /// Bytes of a word of each variable: 4, or 2 or 1 where numbers of 16 or 8 bits lie side by side.
    words: Vec<u32>,
    found: BTreeMap<(usize, usize), (Race, Counted)>,
}

impl Races {
    pub(super) fn new(shared: &[Shared], sites: &[Site]) -> Self {
        let narrow = |n: usize| sites.iter().any(|site| site.shared == n && !site.bytes.is_multiple_of(4));
        // Texels of one byte are no whole word of 16 bits.
        let least = |n: usize| if sites.iter().any(|site| site.shared == n && site.bytes == 1) { 1 } else { 2 };
        let written = |n: usize| sites.iter().any(|site| site.shared == n && site.writes);
        Self {
            near: shared.iter().map(|_| HashMap::new()).collect(),
            far: shared.iter().map(|_| Far::default()).collect(),
            phases: vec![0; shared.len()],
            silent: (0..shared.len()).map(|n| !written(n)).collect(),
            words: (0..shared.len()).map(|n| if narrow(n) { least(n) } else { 4 }).collect(),
            found: BTreeMap::new(),
        }
    }

    pub(super) fn begin(&mut self) {
        self.near.iter_mut().for_each(HashMap::clear);
        self.phases.fill(0);
    }

    pub(super) fn access(&mut self, access: &Access<'_>, sites: &[Site], shared: &[Shared]) {
        let site = &sites[access.site];
        let n = site.shared;
        if self.silent[n] {
            return;
        }
        let space = shared[n].space;
        let phase = match space {
            Space::Workgroup => access.phases.workgroup,
            Space::Texture => access.phases.texture,
            Space::Storage | Space::Uniform => access.phases.storage,
        };
        if self.phases[n] != phase {
            self.phases[n] = phase;
            self.near[n].clear();
        }
        let width = self.words[n];
        let mut seen = Vec::new();
        for item in access.items.iter() {
            let start = access.addresses[item];
            for word in site.words(start, width).filter_map(|word| u32::try_from(word).ok()) {
                let here = (access.group, item);
                if let Some(visits) = self.near[n].get(&word) {
                    for visit in visits {
                        let other = if visit.item == item { visit.another } else { Some(visit.item) };
                        if let Some(other) = other.filter(|_| clash(&sites[visit.site], site)) {
                            seen.push((visit.site, word, (access.group, other), here));
                        }
                    }
                }
                note(self.near[n].entry(word).or_default(), access.site, item);
                if space == Space::Workgroup {
                    continue;
                }
                for visit in self.far[n].of(word) {
                    let (other, by) = (visit.site as usize, (visit.group, usize::from(visit.item)));
                    if (visit.group != access.group || visit.others) && clash(&sites[other], site) {
                        seen.push((other, word, by, here));
                    }
                }
                self.far[n].note(word, access.site, here);
            }
        }
        let group = (space == Space::Workgroup).then_some(access.group);
        for (other, word, before, here) in seen {
            let key = (other.min(access.site), other.max(access.site));
            let (race, counted) = self.found.entry(key).or_insert_with(|| {
                let (sites, items) = ([other, access.site], [before, here]);
                (Race { shared: n, sites, address: word * width, items, words: 0 }, Counted::default())
            });
            race.words += u64::from(counted.is_new(word, group));
        }
    }

    pub(super) fn found(&self) -> Vec<Race> {
        self.found.values().map(|(race, _)| race.clone()).collect()
    }
}

fn note(visits: &mut Vec<Visit>, site: usize, item: usize) {
    match visits.iter_mut().find(|visit| visit.site == site) {
        Some(visit) if visit.item != item => {
            visit.another.get_or_insert(item);
        }
        Some(_) => {}
        None => visits.push(Visit { site, item, another: None }),
    }
}

/// Whether two accesses of different items may not be at once.
fn clash(a: &Site, b: &Site) -> bool {
    (a.writes || b.writes) && !(a.act == Act::Atomic && b.act == Act::Atomic)
}
