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

/// Items that were at a word, by site: one of them, and another if there is one.
#[derive(Debug, Clone, Copy)]
struct Visit {
    site: usize,
    group: u64,
    item: usize,
    /// Another item that was there, and whether others of other groups were.
    another: Option<(u64, usize)>,
    other_groups: bool,
}

/// Keeps who was where since the last barrier.
#[derive(Debug)]
pub(super) struct Races {
    /// Since the last barrier, by variable and word: by phase of the variable's space.
    near: Vec<HashMap<u32, Vec<Visit>>>,
    phases: Vec<u64>,
    /// In groups before: no barrier is between groups.
    far: Vec<HashMap<u32, Vec<Visit>>>,
    /// Variables that nobody can race for.
    silent: Vec<bool>,
    /// Bytes of a word of each variable: 4, or 2 or 1 where numbers of 16 or 8 bits lie side by side.
    words: Vec<u32>,
    found: BTreeMap<(usize, usize), Race>,
    /// Words that were counted, by sites: of workgroup memory each group has words of its own.
    counted: HashSet<(usize, usize, u64, u32)>,
}

impl Races {
    pub(super) fn new(shared: &[Shared], sites: &[Site]) -> Self {
        let narrow = |n: usize| sites.iter().any(|site| site.shared == n && !site.bytes.is_multiple_of(4));
        // Texels of one byte are no whole word of 16 bits.
        let least = |n: usize| if sites.iter().any(|site| site.shared == n && site.bytes == 1) { 1 } else { 2 };
        let written = |n: usize| sites.iter().any(|site| site.shared == n && site.writes);
        Self {
            near: shared.iter().map(|_| HashMap::new()).collect(),
            far: shared.iter().map(|_| HashMap::new()).collect(),
            phases: vec![0; shared.len()],
            silent: (0..shared.len()).map(|n| !written(n)).collect(),
            words: (0..shared.len()).map(|n| if narrow(n) { least(n) } else { 4 }).collect(),
            found: BTreeMap::new(),
            counted: HashSet::new(),
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
                        let first = Some((visit.group, visit.item));
                        let other = if visit.item == item { visit.another } else { first };
                        if let Some(other) = other.filter(|_| clash(&sites[visit.site], site)) {
                            seen.push((visit.site, word * width, other, here));
                        }
                    }
                }
                if space != Space::Workgroup
                    && let Some(visits) = self.far[n].get(&word)
                {
                    for visit in visits {
                        let other = visit.group != access.group || visit.other_groups;
                        if other && clash(&sites[visit.site], site) {
                            seen.push((visit.site, word * width, (visit.group, visit.item), here));
                        }
                    }
                }
                note(self.near[n].entry(word).or_default(), access.site, here);
                if space != Space::Workgroup {
                    note(self.far[n].entry(word).or_default(), access.site, here);
                }
            }
        }
        for (other, address, before, here) in seen {
            let key = (other.min(access.site), other.max(access.site));
            let race = self.found.entry(key).or_insert(Race {
                shared: n,
                sites: [other, access.site],
                address,
                items: [before, here],
                words: 0,
            });
            let group = if space == Space::Workgroup { access.group } else { 0 };
            if self.counted.insert((key.0, key.1, group, address)) {
                race.words += 1;
            }
        }
    }

    pub(super) fn found(&self) -> Vec<Race> {
        self.found.values().cloned().collect()
    }
}

fn note(visits: &mut Vec<Visit>, site: usize, (group, item): (u64, usize)) {
    match visits.iter_mut().find(|visit| visit.site == site) {
        Some(visit) => {
            if visit.item != item || visit.group != group {
                visit.another.get_or_insert((group, item));
            }
            visit.other_groups |= visit.group != group;
        }
        None => visits.push(Visit { site, group, item, another: None, other_groups: false }),
    }
}

/// Whether two accesses of different items may not be at once.
fn clash(a: &Site, b: &Site) -> bool {
    (a.writes || b.writes) && !(a.act == Act::Atomic && b.act == Act::Atomic)
}
