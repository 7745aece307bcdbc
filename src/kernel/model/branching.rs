//! Which way items went: branchings, proxy warps, what divergence costs.

use crate::kernel::mask::Mask;
use crate::kernel::record::Decision;
use std::collections::BTreeMap;

/// All decisions of an item, in order.
pub type Path = Vec<Decision>;

/// Items of a warp that decided alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branching {
    /// A digit for each `if`: 1 where its condition held.
    pub pattern: String,
    /// The same with the tests of loops among them: 1 where the loop went on.
    pub pattern_with_loops: String,
    /// The cases of each `switch`, in order; nothing where there was none.
    pub cases: Vec<u32>,
    /// How many items.
    pub lanes: usize,
}

/// Warps whose items branch alike, item by item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyWarp {
    /// How many they are.
    pub warps: u64,
    /// Whether the items of one went different ways.
    pub divergent: bool,
    /// The ways, those of most items first.
    pub branchings: Vec<Branching>,
    /// The first of them: group, and warp of the group.
    pub first: (u64, usize),
}

/// What divergence costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Statements that warps carried out: one for each that any item of the warp was at.
    pub warp_steps: u64,
    /// Statements that items carried out.
    pub item_steps: u64,
    /// Statements of each warp's busiest item: what its warp would carry out had all items gone that way.
    pub longest: u64,
    /// Places for items in those warp steps: lanes of each warp.
    pub lane_steps: u64,
}

/// What items decided at a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decided {
    /// Items for which the condition of an `if` held, each time; and for which it did not.
    pub ifs: [u64; 2],
    /// Items that went on in a loop, and that did not.
    pub loops: [u64; 2],
    /// Items by case of a `switch`, the first being 0.
    pub cases: BTreeMap<u32, u64>,
}

impl Decided {
    fn add(&mut self, decision: Decision, items: u64) {
        match decision {
            Decision::If(held) => self.ifs[usize::from(!held)] += items,
            Decision::Loop(goes) => self.loops[usize::from(!goes)] += items,
            Decision::Case(case) => *self.cases.entry(case).or_default() += items,
        }
    }
}

/// Decisions of all items of a group that are kept.
const MOST_DECISIONS: u64 = 1 << 27;

/// Collects decisions, group by group.
#[derive(Debug)]
pub(super) struct Branchings {
    warp: usize,
    items: usize,
    paths: Vec<Path>,
    /// Statements of each item, and of each warp.
    steps: Vec<u64>,
    warp_steps: Vec<u64>,
    classes: BTreeMap<Vec<Path>, (u64, (u64, usize))>,
    decisions: u64,
    pub(super) cost: Cost,
    /// By line: decisions of warps, and those that parted a warp.
    pub(super) lines: BTreeMap<u32, (u64, u64)>,
    /// By line: what items decided.
    pub(super) decided: BTreeMap<u32, Decided>,
    /// The last decision's line and items, to see whether the other way was taken by others of a warp, and the items of warps that were
    /// parted by it so far.
    last: Option<(u32, Mask, Mask)>,
    /// Decisions that were not kept.
    pub(super) lost: u64,
}

impl Branchings {
    pub(super) fn new(warp: usize) -> Self {
        Self {
            warp,
            items: 0,
            paths: Vec::new(),
            steps: Vec::new(),
            warp_steps: Vec::new(),
            classes: BTreeMap::new(),
            decisions: 0,
            cost: Cost::default(),
            lines: BTreeMap::new(),
            decided: BTreeMap::new(),
            last: None,
            lost: 0,
        }
    }

    pub(super) fn begin(&mut self, items: usize) {
        self.items = items;
        self.paths = vec![Path::new(); items];
        self.steps = vec![0; items];
        self.warp_steps = vec![0; items.div_ceil(self.warp)];
        self.decisions = 0;
        self.last = None;
    }

    pub(super) fn step(&mut self, items: &Mask) {
        self.last = None;
        let mut warp = usize::MAX;
        for item in items.iter() {
            self.steps[item] += 1;
            if item / self.warp != warp {
                warp = item / self.warp;
                self.warp_steps[warp] += 1;
            }
        }
    }

    pub(super) fn decide(&mut self, line: u32, items: &Mask, decision: Decision) {
        let count = items.count() as u64;
        self.decided.entry(line).or_default().add(decision, count);
        self.decisions += count;
        if self.decisions > MOST_DECISIONS {
            self.lost += count;
            return;
        }
        // The ways of one condition come one after the other: a warp with items in two of them is parted here.
        let last = self.last.filter(|(at, ..)| *at == line);
        let (before, mut parted) = last.map_or((Mask::NONE, Mask::NONE), |(_, items, parted)| (items, parted));
        let counted = self.lines.entry(line).or_default();
        for warp in 0..self.items.div_ceil(self.warp) {
            let all = warp * self.warp..self.items.min((warp + 1) * self.warp);
            let any = |mask: &Mask| all.clone().any(|n| mask.has(n));
            match (any(items), any(&before), any(&parted)) {
                (false, ..) | (true, true, true) => {}
                (true, false, _) => counted.0 += 1,
                // Once, into however many ways.
                (true, true, false) => {
                    counted.1 += 1;
                    all.for_each(|n| parted.insert(n));
                }
            }
        }
        self.last = Some((line, before.or(items), parted));
        items.iter().for_each(|item| self.paths[item].push(decision));
    }

    /// A group has ended; how many of its warps diverge.
    pub(super) fn end(&mut self, group: u64) -> u64 {
        let all = std::mem::take(&mut self.paths);
        for (warp, paths) in all.chunks(self.warp).enumerate() {
            let class = self.classes.entry(paths.to_vec()).or_insert((0, (group, warp)));
            class.0 += 1;
            let steps = &self.steps[warp * self.warp..warp * self.warp + paths.len()];
            let cost = &mut self.cost;
            cost.warp_steps += self.warp_steps[warp];
            cost.item_steps += steps.iter().sum::<u64>();
            cost.longest += steps.iter().max().copied().unwrap_or(0);
            cost.lane_steps += self.warp_steps[warp] * paths.len() as u64;
        }
        all.chunks(self.warp).filter(|paths| is_parted(paths)).count() as u64
    }

    /// Classes, those of most warps first.
    pub(super) fn proxy_warps(&self) -> Vec<ProxyWarp> {
        let mut out: Vec<ProxyWarp> = self
            .classes
            .iter()
            .map(|(paths, (warps, first))| {
                let mut ways: BTreeMap<&Path, usize> = BTreeMap::new();
                paths.iter().for_each(|path| *ways.entry(path).or_default() += 1);
                let mut branchings: Vec<Branching> = ways.iter().map(|(path, lanes)| branching(path, *lanes)).collect();
                branchings.sort_by(|a, b| b.lanes.cmp(&a.lanes).then_with(|| order(a).cmp(&order(b))));
                ProxyWarp { warps: *warps, divergent: ways.len() > 1, branchings, first: *first }
            })
            .collect();
        out.sort_by(|a, b| {
            let patterns = |proxy: &ProxyWarp| -> Vec<(String, String, Vec<u32>, usize)> {
                proxy
                    .branchings
                    .iter()
                    .map(|b| (b.pattern.clone(), b.pattern_with_loops.clone(), b.cases.clone(), b.lanes))
                    .collect()
            };
            b.warps.cmp(&a.warps).then_with(|| patterns(a).cmp(&patterns(b))).then(a.first.cmp(&b.first))
        });
        out
    }

    pub(super) fn warps(&self) -> (u64, u64) {
        self.classes.iter().fold((0, 0), |(all, divergent), (paths, (warps, _))| {
            (all + warps, divergent + if is_parted(paths) { *warps } else { 0 })
        })
    }
}

/// Whether items of a warp went different ways.
fn is_parted(paths: &[Path]) -> bool {
    paths.iter().any(|path| Some(path) != paths.first())
}

fn order(branching: &Branching) -> (&str, &str, &[u32]) {
    (&branching.pattern, &branching.pattern_with_loops, &branching.cases)
}

fn branching(path: &Path, lanes: usize) -> Branching {
    let digit = |bit: bool| if bit { '1' } else { '0' };
    let ifs = path.iter().filter_map(|decision| match decision {
        Decision::If(bit) => Some(digit(*bit)),
        _ => None,
    });
    let with_loops = path.iter().filter_map(|decision| match decision {
        Decision::If(bit) | Decision::Loop(bit) => Some(digit(*bit)),
        Decision::Case(_) => None,
    });
    let cases = path.iter().filter_map(|decision| match decision {
        Decision::Case(case) => Some(*case),
        _ => None,
    });
    Branching { pattern: ifs.collect(), pattern_with_loops: with_loops.collect(), cases: cases.collect(), lanes }
}
