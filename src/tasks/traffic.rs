//! Who asks whom: the components of a simulated machine and the ways between them, found from its requests alone.
//!
//! A request is two tasks: `req_out` where it is made, and below it `req_in` where it is served. Each such pair is one request on the
//! *link* from the one component to the other. A component is a location that makes or serves requests, with the locations below it
//! (`CU[0].VMem` belongs to `CU[0]`). Components whose names differ in numbers alone are of one *kind* (`SA[0].L1VCache[3]` and
//! `SA[1].L1VCache[0]`). The *depth* of a kind is how many kinds stand between it and what is asked by nobody, on the longest way; a
//! link that would close a circle does not count.

use super::book::{TaskBook, kind_of, natural};
use super::lanes::rows;
use super::open::OpenIndex;
use super::set::{TaskIndex, TaskSet};
use super::{REQUEST_IN, REQUEST_OUT, Symbol};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Number of a component in [`Traffic::components`].
pub type ComponentId = u32;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    /// Those that make or serve requests, by kind, then by name.
    pub components: Vec<Component>,
    /// Kinds of components, those that are asked by nobody first.
    pub kinds: Vec<Kind>,
    /// By the component that asks, then by the one that is asked.
    pub links: Vec<Link>,
    /// Which tasks are under way.
    pub open: OpenIndex,
    /// By location: the component it belongs to.
    owners: Vec<Option<ComponentId>>,
    /// By task: the slot of its component in which it is; `NO_SLOT` where it is in none.
    slots: Vec<u32>,
    /// By task: where its parts begin among those of all tasks.
    parts: Vec<u32>,
}

/// No slot.
const NO_SLOT: u32 = u32::MAX;

/// One component.
#[derive(Clone, Debug)]
pub struct Component {
    /// Where its requests are.
    pub location: Symbol,
    /// Its own location, then those below it.
    pub parts: Vec<Symbol>,
    /// Number in [`Traffic::kinds`].
    pub kind: usize,
    /// Tasks that it holds at once, at most: requests in, or wavefronts where it has any.
    pub most: u32,
}

/// Components that differ in numbers alone.
#[derive(Clone, Debug)]
pub struct Kind {
    /// What they are called, without numbers and without what all names begin with: `L1VCache`.
    pub name: String,
    /// Its members.
    pub components: Range<ComponentId>,
    /// See [`Traffic`].
    pub depth: u32,
    /// Most of what is asked of it is where an address lies.
    pub translates: bool,
    /// It asks nobody.
    pub is_last: bool,
    /// Some of its requests it answers by itself and some it does not: it hits and misses.
    pub is_cache: bool,
    /// The most that one of its members holds at once.
    pub most: u32,
}

/// A way on which requests go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Who asks.
    pub from: ComponentId,
    /// Who is asked.
    pub to: ComponentId,
    /// Requests in the whole run.
    pub requests: u64,
    /// The fewest ticks from the creation of a request until its receipt.
    pub hop: u64,
}

/// Category of what computes: a group of threads in step.
const WAVEFRONT: &str = "wavefront";
/// Share of requests answered without asking anybody, from which on a kind hits and misses; and up to which.
const ANSWERED: [f64; 2] = [0.02, 0.98];

impl Traffic {
    /// Of all requests of a book: goes through all tasks.
    #[must_use]
    pub fn of(book: &TaskBook) -> Self {
        let set = book.set();
        let is = Categories::of(set);
        let mut counts: HashMap<(Symbol, Symbol), (u64, u64)> = HashMap::new();
        for (location, _) in set.locations().iter() {
            for task in set.tasks_at(location).filter(|&task| is.request_in(set, task)) {
                let Some(parent) = set.parent(task).filter(|&parent| is.request_out(set, parent)) else { continue };
                let from = set.location_of(parent);
                let hop = set.start(task).saturating_sub(set.start(parent));
                let row = counts.entry((from, location)).or_insert((0, u64::MAX));
                *row = (row.0 + 1, row.1.min(hop));
            }
        }
        let mut out = Self { open: OpenIndex::new(set), parts: parts(set), ..Self::default() };
        let heads = out.components_of(book, &counts);
        out.owners = owners(set, &heads);
        for (at, owner) in out.owners.iter().enumerate() {
            let symbol = Symbol(u32::try_from(at).unwrap_or(u32::MAX));
            if let Some(component) = owner.and_then(|owner| out.components.get_mut(owner as usize))
                && component.location != symbol
            {
                component.parts.push(symbol);
            }
        }
        let mut links: BTreeMap<(ComponentId, ComponentId), (u64, u64)> = BTreeMap::new();
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable();
        for ((from, to), (requests, hop)) in counts {
            let (Some(from), Some(to)) = (out.owners[from.index()], out.owners[to.index()]) else { continue };
            let row = links.entry((from, to)).or_insert((0, u64::MAX));
            *row = (row.0 + requests, row.1.min(hop));
        }
        out.links = links.into_iter().map(|((from, to), (requests, hop))| Link { from, to, requests, hop }).collect();
        out.tell_depths();
        out.tell_slots(set, &is);
        out
    }

    /// Makes components and kinds of all locations with requests on links; gives the component of each such location.
    fn components_of(
        &mut self,
        book: &TaskBook,
        counts: &HashMap<(Symbol, Symbol), (u64, u64)>,
    ) -> HashMap<Symbol, ComponentId> {
        let set = book.set();
        let word = |symbol: Symbol| set.locations().word(symbol);
        let mut ends: Vec<Symbol> = counts.keys().flat_map(|&(from, to)| [from, to]).collect();
        ends.sort_unstable();
        ends.dedup();
        // What lies below another one is a part of it.
        let all: HashMap<&str, Symbol> = ends.iter().map(|&symbol| (word(symbol), symbol)).collect();
        let is_part = |symbol: &Symbol| above(word(*symbol)).any(|name| all.contains_key(name));
        let mut kinds: BTreeMap<String, Vec<Symbol>> = BTreeMap::new();
        for symbol in ends.iter().copied().filter(|symbol| !is_part(symbol)) {
            kinds.entry(kind_of(book.short(symbol))).or_default().push(symbol);
        }
        let mut heads = HashMap::new();
        for (kind, mut members) in kinds {
            members.sort_by(|&a, &b| natural(word(a), word(b)));
            let first = self.next();
            for location in members {
                heads.insert(location, self.next());
                let (parts, kind) = (vec![location], self.kinds.len());
                self.components.push(Component { location, parts, kind, most: 0 });
            }
            self.kinds.push(Kind {
                name: kind.split('.').next().unwrap_or_default().to_owned(),
                components: first..self.next(),
                depth: 0,
                translates: false,
                is_last: true,
                is_cache: false,
                most: 0,
            });
        }
        heads
    }

    fn next(&self) -> ComponentId {
        ComponentId::try_from(self.components.len()).unwrap_or(ComponentId::MAX)
    }

    /// Says how deep each kind is.
    fn tell_depths(&mut self) {
        let kind = |component: ComponentId| self.components[component as usize].kind;
        let mut sums: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for link in &self.links {
            let ends = (kind(link.from), kind(link.to));
            if ends.0 != ends.1 {
                *sums.entry(ends).or_default() += link.requests;
            }
        }
        // The busiest links first: of a circle that one is left out on which least goes.
        let mut ways: Vec<((usize, usize), u64)> = sums.into_iter().collect();
        ways.sort_by_key(|&(ends, requests)| (Reverse(requests), ends));
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); self.kinds.len()];
        for ((from, to), _) in ways {
            if !leads(&below, to, from) {
                below[from].push(to);
            }
        }
        let mut asked = vec![false; self.kinds.len()];
        below.iter().flatten().for_each(|&to| asked[to] = true);
        let mut depths = vec![0u32; self.kinds.len()];
        // Without circles each round settles one depth more.
        for _ in 0..self.kinds.len() {
            for (from, to) in below.iter().enumerate().flat_map(|(from, all)| all.iter().map(move |&to| (from, to))) {
                depths[to] = depths[to].max(depths[from] + 1);
            }
        }
        // What nobody asks stands right before whom it asks, but for what all begins with.
        for from in (0..self.kinds.len()).filter(|&from| !asked[from]) {
            let next = below[from].iter().map(|&to| depths[to]).min().unwrap_or(1);
            depths[from] = next.saturating_sub(1);
        }
        for (kind, (depth, below)) in self.kinds.iter_mut().zip(depths.into_iter().zip(&below)) {
            (kind.depth, kind.is_last) = (depth, below.is_empty());
        }
    }

    /// Gives what components hold a slot each, and says what kinds are.
    fn tell_slots(&mut self, set: &TaskSet, is: &Categories) {
        self.slots = vec![NO_SLOT; set.len()];
        let mut asks = vec![false; set.len()];
        for task in (0..).take(set.len()).filter(|&task| is.request_out(set, task)) {
            if let Some(parent) = set.parent(task) {
                asks[parent as usize] = true;
            }
        }
        let mut sums = vec![[0u64; 3]; self.kinds.len()];
        for component in &mut self.components {
            let [requests, translations, alone] = &mut sums[component.kind];
            let mut held: Vec<TaskIndex> = Vec::new();
            let mut waves: Vec<TaskIndex> = Vec::new();
            for task in component.parts.iter().flat_map(|&part| set.tasks_at(part)) {
                if is.wavefront(set, task) {
                    waves.push(task);
                } else if is.request_in(set, task) {
                    held.push(task);
                    *requests += 1;
                    *translations += u64::from(is.translation(set, task));
                    *alone += u64::from(!asks[task as usize]);
                }
            }
            let mut held = if waves.is_empty() { held } else { waves };
            held.sort_by_key(|&task| (set.start(task), task));
            let times: Vec<(u64, u64)> = held.iter().map(|&task| (set.start(task), set.end(task))).collect();
            let (rows, count) = rows(&times);
            for (&task, row) in held.iter().zip(rows) {
                self.slots[task as usize] = row;
            }
            component.most = count;
        }
        for (kind, [requests, translations, alone]) in self.kinds.iter_mut().zip(sums) {
            let share = |part: u64| part as f64 / requests.max(1) as f64;
            kind.translates = share(translations) > 0.5;
            kind.is_cache = (ANSWERED[0]..=ANSWERED[1]).contains(&share(alone));
            let members = kind.components.start as usize..kind.components.end as usize;
            kind.most = self.components[members].iter().map(|component| component.most).max().unwrap_or(0);
        }
    }

    /// The component that a location belongs to.
    #[must_use]
    pub fn owner(&self, location: Symbol) -> Option<ComponentId> {
        self.owners.get(location.index()).copied().flatten()
    }

    /// In which slot of its component a task is, where it is in one. No two tasks are in one slot at a time.
    #[must_use]
    pub fn slot(&self, task: TaskIndex) -> Option<u32> {
        self.slots.get(task as usize).copied().filter(|&slot| slot != NO_SLOT)
    }

    /// One component.
    ///
    /// # Panics
    /// Where there are not so many.
    #[must_use]
    pub fn component(&self, component: ComponentId) -> &Component {
        &self.components[component as usize]
    }

    /// How many tasks each component holds at a tick.
    #[must_use]
    pub fn held(&self, set: &TaskSet, tick: u64) -> Vec<u32> {
        let held = |component: &Component| {
            let here = component.parts.iter().flat_map(|&part| self.open.at(set, part, tick));
            u32::try_from(here.filter(|&task| self.slot(task).is_some()).count()).unwrap_or(u32::MAX)
        };
        self.components.iter().map(held).collect()
    }

    /// Requests that were received from one tick up to another, which is not among them: by the component that asked and the one asked.
    #[must_use]
    pub fn received(&self, set: &TaskSet, times: Range<u64>) -> BTreeMap<(ComponentId, ComponentId), u64> {
        let mut counts = BTreeMap::new();
        for (to, component) in (0..).zip(&self.components) {
            for task in component.parts.iter().flat_map(|&part| self.open.during(set, part, times.clone())) {
                if !times.contains(&set.start(task)) || set.task_category(task) != REQUEST_IN {
                    continue;
                }
                let out = set.parent(task).filter(|&parent| set.task_category(parent) == REQUEST_OUT);
                if let Some(from) = out.and_then(|out| self.owner(set.location_of(out))) {
                    *counts.entry((from, to)).or_insert(0) += 1;
                }
            }
        }
        counts
    }

    /// The parts of a task, as [`TaskSet::children`], without a search.
    #[must_use]
    pub fn parts<'a>(&self, set: &'a TaskSet, task: TaskIndex) -> &'a [TaskIndex] {
        let at = task as usize;
        &set.children[self.parts[at] as usize..self.parts[at + 1] as usize]
    }

    /// Where a request goes: below the task `out`, the request in and the component that serves it.
    #[must_use]
    pub fn served_by(&self, set: &TaskSet, out: TaskIndex) -> Option<(TaskIndex, ComponentId)> {
        let inward = |&&task: &&TaskIndex| set.task_category(task) == REQUEST_IN;
        let task = *self.parts(set, out).iter().find(inward)?;
        Some((task, self.owner(set.location_of(task))?))
    }
}

/// By task, and once more at the end: where its parts begin among those of all.
fn parts(set: &TaskSet) -> Vec<u32> {
    let mut out = vec![0u32; set.len() + 1];
    for &child in &set.children {
        if let Some(parent) = set.parent(child) {
            out[parent as usize + 1] += 1;
        }
    }
    let mut sum = 0;
    for count in &mut out {
        sum += *count;
        *count = sum;
    }
    out
}

/// The names above a name, the nearest first: `SA[0].CU[1]`, then `SA[0]` of `SA[0].CU[1].VMem`.
fn above(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(name.rsplit_once('.').map(|(head, _)| head), |name| {
        name.rsplit_once('.').map(|(head, _)| head)
    })
}

/// By location: the component that it is, or that it is a part of.
fn owners(set: &TaskSet, heads: &HashMap<Symbol, ComponentId>) -> Vec<Option<ComponentId>> {
    let by_name: HashMap<&str, ComponentId> =
        heads.iter().map(|(&symbol, &component)| (set.locations().word(symbol), component)).collect();
    let owner =
        |name: &str| by_name.get(name).copied().or_else(|| above(name).find_map(|name| by_name.get(name).copied()));
    set.locations().iter().map(|(_, name)| owner(name)).collect()
}

/// Whether one gets from one kind to another.
fn leads(below: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut met = vec![false; below.len()];
    let mut left = vec![from];
    while let Some(kind) = left.pop() {
        if kind == to {
            return true;
        }
        if !std::mem::replace(&mut met[kind], true) {
            left.extend(&below[kind]);
        }
    }
    false
}

/// By the number of a pair of category and action: what it is.
struct Categories {
    request_in: Vec<bool>,
    request_out: Vec<bool>,
    wavefront: Vec<bool>,
    translation: Vec<bool>,
}

impl Categories {
    fn of(set: &TaskSet) -> Self {
        let told =
            |is: &dyn Fn(&str, &str) -> bool| set.pairs().map(|(category, action)| is(category, action)).collect();
        Self {
            request_in: told(&|category, _| category == REQUEST_IN),
            request_out: told(&|category, _| category == REQUEST_OUT),
            wavefront: told(&|category, _| category == WAVEFRONT),
            translation: told(&|_, action| action.contains("Translation")),
        }
    }

    fn request_in(&self, set: &TaskSet, task: TaskIndex) -> bool {
        self.request_in[set.pair(task) as usize]
    }

    fn request_out(&self, set: &TaskSet, task: TaskIndex) -> bool {
        self.request_out[set.pair(task) as usize]
    }

    fn wavefront(&self, set: &TaskSet, task: TaskIndex) -> bool {
        self.wavefront[set.pair(task) as usize]
    }

    fn translation(&self, set: &TaskSet, task: TaskIndex) -> bool {
        self.translation[set.pair(task) as usize]
    }
}
