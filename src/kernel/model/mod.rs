//! What a run says of a kernel, for hardware with warps, banks, sectors and lines. These are model warps: hardware differs.

mod banks;
mod branching;
mod races;
mod values;

pub use banks::{Banks, SiteUse};
pub(super) use banks::{blocks, degree, ranges};
pub use branching::{Branching, Cost, Decided, Path, ProxyWarp};
pub use races::Race;
pub use values::ValueStats;

use super::code::{Act, Site};
use super::mask::Mask;
use super::program::{Program, Shared};
use super::record::{Access, Decision, Observer};
use banks::Memories;
use branching::Branchings;
use races::Races;
use std::collections::BTreeMap;

/// The hardware that is imagined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hardware {
    /// Items of a warp.
    pub warp: usize,
    /// Banks of workgroup memory.
    pub banks: u32,
    /// Bytes of a word of a bank.
    pub bank_bytes: u32,
    /// Bytes of a sector.
    pub sector: u32,
    /// Bytes of a line.
    pub line: u32,
}

impl Default for Hardware {
    fn default() -> Self {
        Self { warp: 32, banks: 32, bank_bytes: 4, sector: 32, line: 128 }
    }
}

/// Counts while a kernel runs.
#[derive(Debug)]
pub(super) struct Model {
    sites: Vec<Site>,
    shared: Vec<Shared>,
    branchings: Branchings,
    memories: Memories,
    races: Races,
    /// Items that carried out a statement of each line.
    heat: BTreeMap<u32, u64>,
    barriers: u64,
    groups: Vec<GroupUse>,
    items: u64,
    values: Vec<ValueStats>,
}

/// What the warps of a group cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupUse {
    /// Those that diverge.
    pub diverging: u64,
    /// Transactions of bank conflicts beyond one for each access.
    pub extra: u64,
    /// Sectors of storage, uniform memory and textures that accesses touch.
    pub sectors: u64,
}

/// All that was counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// Items that ran.
    pub work_items: u64,
    /// Their warps.
    pub warps: u64,
    /// Warps whose items went different ways.
    pub divergent_warps: u64,
    /// Events that were not kept: 0.
    pub lost: u64,
    /// Classes of warps.
    pub proxy_warps: Vec<ProxyWarp>,
    /// What divergence costs.
    pub cost: Cost,
    /// Decisions of warps by line, and how many of them parted the warp.
    pub parted: BTreeMap<u32, (u64, u64)>,
    /// What items decided, by line.
    pub decided: BTreeMap<u32, Decided>,
    /// Bank conflicts, by group.
    pub banks: Vec<Banks>,
    /// What the warps of each group cost, in the order of `banks`.
    pub groups: Vec<GroupUse>,
    /// Races.
    pub races: Vec<Race>,
    /// Accesses, by site.
    pub uses: Vec<SiteUse>,
    /// Statements that items carried out, by line.
    pub heat: BTreeMap<u32, u64>,
    /// Barriers that groups came to.
    pub barriers: u64,
    /// Values that were told, in the order of [`Program::emits`].
    pub values: Vec<ValueStats>,
}

impl Model {
    pub(super) fn new(program: &Program, sites: &[Site], hardware: Hardware) -> Self {
        Self {
            sites: sites.to_vec(),
            shared: program.shared.clone(),
            branchings: Branchings::new(hardware.warp),
            memories: Memories::new(hardware, sites.len()),
            races: Races::new(&program.shared, sites),
            heat: BTreeMap::new(),
            barriers: 0,
            groups: Vec::new(),
            items: 0,
            values: vec![ValueStats::default(); program.emits().len()],
        }
    }

    pub(super) fn counts(self) -> Counts {
        let (warps, divergent_warps) = self.branchings.warps();
        Counts {
            work_items: self.items,
            warps,
            divergent_warps,
            lost: self.branchings.lost,
            proxy_warps: self.branchings.proxy_warps(),
            cost: self.branchings.cost,
            parted: self.branchings.lines,
            decided: self.branchings.decided,
            banks: self.memories.groups,
            groups: self.groups,
            races: self.races.found(),
            uses: self.memories.sites,
            heat: self.heat,
            barriers: self.barriers,
            values: self.values,
        }
    }
}

impl Observer for Model {
    fn begin(&mut self, group: u64, items: usize) {
        self.items += items as u64;
        self.branchings.begin(items);
        self.memories.begin(group);
        self.races.begin();
    }

    fn access(&mut self, access: &Access<'_>) {
        let site = &self.sites[access.site];
        let space = self.shared[site.shared].space;
        self.memories.access(access, site, space, site.act == Act::Atomic);
        self.races.access(access, &self.sites, &self.shared);
    }

    fn decide(&mut self, line: u32, items: &Mask, decision: Decision) {
        self.branchings.decide(line, items, decision);
    }

    fn step(&mut self, line: u32, items: &Mask) {
        self.branchings.step(items);
        *self.heat.entry(line).or_default() += items.count() as u64;
    }

    fn barrier(&mut self, _line: u32, _items: &Mask, _kinds: (bool, bool)) {
        self.barriers += 1;
    }

    fn emit(&mut self, emit: usize, items: &Mask, values: &[f32]) {
        if let Some(stats) = self.values.get_mut(emit) {
            items.iter().for_each(|item| stats.add(values[item]));
        }
    }

    fn end(&mut self, group: u64) {
        let diverging = self.branchings.end(group);
        let extra = self.memories.groups.last().map_or(0, |banks| banks.extra);
        self.groups.push(GroupUse { diverging, extra, sectors: self.memories.touched });
    }
}
