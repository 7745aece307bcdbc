//! A set of tasks as it is shown: its title, its locations in order, and what of it somebody looks at.

use super::metrics::{Edges, Metric};
use super::set::{TaskIndex, TaskSet};
use super::traffic::Traffic;
use super::{REQUEST_IN, Symbol};
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

/// Tasks with all that every picture of them needs.
#[derive(Clone, Debug)]
pub struct TaskBook {
    set: TaskSet,
    edges: Edges,
    title: String,
    subtitle: String,
    /// Locations with tasks, by name.
    listed: Vec<Symbol>,
    /// By location: ticks of all its tasks together.
    busy: Vec<u128>,
    /// Begins every name of a location that is shown without it.
    prefix: String,
    /// Category and action together are told by colours; else the category alone.
    by_action: bool,
    /// The place of each pair among the colours.
    inks: Vec<usize>,
    names: Vec<String>,
    /// Whether there are requests in.
    requests: bool,
    first: FirstSight,
    traffic: OnceLock<Arc<Traffic>>,
}

/// How tasks are shown at first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FirstSight {
    /// What of them is looked at.
    pub look: TaskLook,
    /// The part of the run; of none, all of it.
    pub part: Option<Range<u64>>,
    /// When; of none, wherever pictures of it usually are.
    pub tick: Option<u64>,
}

/// Kinds that are told apart by colour, at most; of more the categories are.
const MOST_KINDS: usize = 36;

impl TaskBook {
    /// Of a set, called `title`; `edges` as its file counts.
    #[must_use]
    pub fn new(set: TaskSet, edges: Edges, title: impl Into<String>, subtitle: impl Into<String>) -> Self {
        let all = set.locations();
        let mut listed: Vec<Symbol> =
            all.iter().map(|(symbol, _)| symbol).filter(|&symbol| !set.tasks_at(symbol).is_empty()).collect();
        listed.sort_by(|&a, &b| natural(all.word(a), all.word(b)));
        let sum = |symbol: Symbol| set.tasks_at(symbol).map(|task| u128::from(set.end(task) - set.start(task))).sum();
        let busy = all.iter().map(|(symbol, _)| sum(symbol)).collect();
        let prefix = common(listed.iter().map(|&symbol| all.word(symbol)));
        let kinds = |by_action: bool| -> Vec<String> {
            set.pairs()
                .map(|(category, action)| match by_action && !action.is_empty() && action != category {
                    true => format!("{category} {}", plain(action)),
                    false => category.to_owned(),
                })
                .collect()
        };
        let sorted = |mut names: Vec<String>| {
            names.sort_unstable();
            names.dedup();
            names
        };
        let by_action = sorted(kinds(true)).len() <= MOST_KINDS;
        let names = sorted(kinds(by_action));
        let inks = kinds(by_action).iter().map(|name| names.binary_search(name).unwrap_or(0)).collect();
        let requests = set.pairs().any(|(category, _)| category == REQUEST_IN);
        let (title, subtitle) = (title.into(), subtitle.into());
        Self {
            set,
            edges,
            title,
            subtitle,
            listed,
            busy,
            prefix,
            by_action,
            inks,
            names,
            requests,
            first: FirstSight::default(),
            traffic: OnceLock::new(),
        }
    }

    /// To be shown so at first.
    #[must_use]
    pub fn with_first(self, first: FirstSight) -> Self {
        Self { first, ..self }
    }

    /// How it is shown at first.
    #[must_use]
    pub fn first(&self) -> &FirstSight {
        &self.first
    }

    /// The tasks.
    #[must_use]
    pub fn set(&self) -> &TaskSet {
        &self.set
    }

    /// Where tasks on the edges of bins count.
    #[must_use]
    pub fn edges(&self) -> Edges {
        self.edges
    }

    /// What it is called.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What it is.
    #[must_use]
    pub fn subtitle(&self) -> &str {
        &self.subtitle
    }

    /// Who asks whom: worked out when it is asked for first.
    #[must_use]
    pub fn traffic(&self) -> &Arc<Traffic> {
        self.traffic.get_or_init(|| Arc::new(Traffic::of(self)))
    }

    /// The task of `before` in this reading, or run: of the same id, at the same location from the same time on.
    #[must_use]
    pub fn again(&self, before: &TaskBook, task: TaskIndex) -> Option<TaskIndex> {
        let place = |book: &Self, task| book.set.locations().word(book.set.location_of(task)).to_owned();
        let found = self.set.find(&before.set.id(task))?;
        let is_same = place(before, task) == place(self, found) && before.set.start(task) == self.set.start(found);
        is_same.then_some(found)
    }

    /// Locations that have tasks, by name.
    #[must_use]
    pub fn listed(&self) -> &[Symbol] {
        &self.listed
    }

    /// The name of a location without what all of them begin with: `SA[0].L1VCache[0]`.
    #[must_use]
    pub fn short(&self, location: Symbol) -> &str {
        self.shortened(self.set.locations().word(location))
    }

    /// A name, of a location or below one, without what all locations begin with.
    #[must_use]
    pub fn shortened<'a>(&self, name: &'a str) -> &'a str {
        name.strip_prefix(&self.prefix).filter(|rest| !rest.is_empty()).unwrap_or(name)
    }

    /// The mean number of tasks at a location over the whole run.
    #[must_use]
    pub fn pressure(&self, location: Symbol) -> f64 {
        let (from, to) = self.set.span();
        self.busy.get(location.index()).map_or(0.0, |&busy| busy as f64 / (to - from).max(1) as f64)
    }

    /// The location at which most tasks are at once.
    #[must_use]
    pub fn busiest(&self) -> Option<Symbol> {
        let busy = |symbol: &Symbol| self.busy.get(symbol.index()).copied().unwrap_or(0);
        self.listed.iter().copied().rev().max_by_key(|symbol| busy(symbol))
    }

    /// What is looked at where nobody asked for anything: from a request that goes as deep as any, one half way down.
    #[must_use]
    pub fn first_look(&self) -> TaskLook {
        let set = &self.set;
        let mut depths = vec![0u16; set.len()];
        let mut path: Vec<TaskIndex> = Vec::new();
        // An access of memory says more than what its address is; of those one that goes deepest.
        let accesses: Vec<bool> = set.pairs().map(|(_, action)| !action.contains("Translation")).collect();
        let mut deepest: Option<((bool, u16), TaskIndex)> = None;
        for task in (0..).take(set.len()) {
            // Up to one whose depth is known, then down again; a circle ends where depths end.
            path.clear();
            let mut next = Some(task);
            while let Some(one) = next.filter(|&one| depths[one as usize] == 0 && path.len() < usize::from(u16::MAX)) {
                path.push(one);
                next = set.parent(one);
            }
            let mut depth = next.map_or(0, |known| depths[known as usize]);
            for &one in path.iter().rev() {
                depth = depth.saturating_add(1);
                depths[one as usize] = depth;
            }
            let depth = depths[task as usize];
            let rank = (accesses[set.pair(task) as usize], depth);
            if deepest.is_none_or(|(most, _)| rank > most) {
                deepest = Some((rank, task));
            }
        }
        let Some((_, deepest)) = deepest else { return TaskLook::default() };
        let chain = set.ancestors(deepest);
        let served = |task: &TaskIndex| set.task_category(*task) == REQUEST_IN;
        let requests: Vec<TaskIndex> = chain.iter().copied().filter(served).collect();
        let task = requests.get(requests.len() / 3).copied().unwrap_or(deepest);
        TaskLook { task: Some(task), ..TaskLook::default() }
    }

    /// Whether colours tell category and action; else they tell the category.
    #[must_use]
    pub fn by_action(&self) -> bool {
        self.by_action
    }

    /// What colours tell apart, by name; the number of one is its place among the colours, whatever is in sight.
    #[must_use]
    pub fn kinds(&self) -> &[String] {
        &self.names
    }

    /// The number of a task's kind among [`Self::kinds`].
    #[must_use]
    pub fn kind(&self, task: TaskIndex) -> usize {
        self.inks[self.set.pair(task) as usize]
    }

    /// Whether the set has requests in, so that what is in flight are those; else all tasks are.
    #[must_use]
    pub fn has_requests(&self) -> bool {
        self.requests
    }

    /// Locations whose name `is_wanted`, in an order.
    #[must_use]
    pub fn locations(&self, order: LocationOrder, is_wanted: impl Fn(&str) -> bool) -> Vec<Symbol> {
        let all = self.set.locations();
        let mut found: Vec<Symbol> =
            self.listed.iter().copied().filter(|&symbol| is_wanted(all.word(symbol))).collect();
        match order {
            LocationOrder::Name => {}
            LocationOrder::Kind => found.sort_by_key(|&symbol| kind_of(all.word(symbol))),
            LocationOrder::Pressure => {
                found.sort_by(|&a, &b| self.pressure(b).total_cmp(&self.pressure(a)));
            }
        }
        found
    }

    /// The location that a word names: its whole name, or without what all of them begin with.
    #[must_use]
    pub fn location_named(&self, name: &str) -> Option<Symbol> {
        let own = |&&symbol: &&Symbol| self.set.locations().word(symbol) == name;
        let short = |&&symbol: &&Symbol| self.short(symbol) == name;
        self.listed.iter().find(own).or_else(|| self.listed.iter().find(short)).copied()
    }
}

/// In which order locations stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LocationOrder {
    /// By name, numbers as numbers.
    #[default]
    Name,
    /// Those of one kind together: all L1 caches, then all L2 banks.
    Kind,
    /// The busiest first.
    Pressure,
}

impl LocationOrder {
    /// All of them, and what they are called.
    pub const ALL: [(Self, &str); 3] = [(Self::Name, "name"), (Self::Kind, "kind"), (Self::Pressure, "pressure")];

    /// The one after it, round and round.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Name => Self::Kind,
            Self::Kind => Self::Pressure,
            Self::Pressure => Self::Name,
        }
    }
}

impl fmt::Display for LocationOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|row| row.0 == *self).map_or("name", |row| row.1))
    }
}

impl FromStr for LocationOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|row| row.1 == text).map(|row| row.0);
        found.ok_or_else(|| format!("found `{text}`; expected name, kind or pressure"))
    }
}

/// Something of a kernel that a pointer rests on, where the tasks are those of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// What an item did in a row.
    Event {
        /// Which row of the group.
        row: usize,
        /// Which item of the group.
        item: usize,
    },
    /// A bank.
    Bank(u32),
    /// An item of the group.
    Item(usize),
    /// A line of the source.
    Line(u32),
}

/// What of a set somebody looks at; all pictures of it share that.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskLook {
    /// The task that is chosen.
    pub task: Option<TaskIndex>,
    /// The location that is chosen; of none, that of the task.
    pub location: Option<Symbol>,
    /// What the charts tell, on the left and on the right axis.
    pub metrics: [Option<Metric>; 2],
    /// A regular expression that names of locations match; empty = all.
    pub filter: String,
    /// In which order locations stand.
    pub order: LocationOrder,
    /// The kind that stands out (see [`TaskBook::kinds`]).
    pub lit: Option<usize>,
    /// What is pointed at, of a kernel.
    pub spot: Option<Spot>,
}

impl TaskLook {
    /// The same look at another reading of the same run, or at another run: locations are found again by their names, and tasks by their
    /// ids where they are at the same location from the same time on; what is not found is chosen no more.
    #[must_use]
    pub fn at_another(&self, before: &TaskBook, after: &TaskBook) -> Self {
        let location = |symbol: Symbol| after.set.locations().find(before.set.locations().word(symbol));
        let kind = |kind: usize| after.names.iter().position(|name| *name == before.names[kind]);
        Self {
            task: self.task.and_then(|task| after.again(before, task)),
            location: self.location.and_then(location),
            lit: self.lit.and_then(kind),
            ..self.clone()
        }
    }
}

impl Default for TaskLook {
    fn default() -> Self {
        Self {
            task: None,
            location: None,
            // As Daisen has it.
            metrics: [Some(Metric::ReqInCount), Some(Metric::AvgLatency)],
            filter: String::new(),
            order: LocationOrder::default(),
            lit: None,
            spot: None,
        }
    }
}

/// An action without the package of its type: `*mem.ReadReq` is `ReadReq`.
#[must_use]
pub fn plain(action: &str) -> &str {
    match action.strip_prefix('*') {
        Some(typed) => typed.rsplit('.').next().unwrap_or(typed),
        None => action,
    }
}

/// A name without numbers that count: `GPU[1].SA[3].CU[0]` is `CU.SA.GPU`; what it is comes before where it is. Numbers in brackets count,
/// and those at the end of a word; the one of `L2` does not.
pub(super) fn kind_of(name: &str) -> String {
    name.rsplit('.').map(uncounted).collect::<Vec<_>>().join(".")
}

/// A part of a name without the number that counts it: `L2Cache[3]` is `L2Cache`, `Dispatcher0` is `Dispatcher`, `L2` is `L2`.
pub(super) fn uncounted(part: &str) -> String {
    let mut plain = String::new();
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('[') {
        let digits = after.len() - after.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
        plain.push_str(before);
        rest = match after[digits..].strip_prefix(']').filter(|_| digits > 0) {
            Some(behind) => behind,
            None => {
                plain.push('[');
                after
            }
        };
    }
    plain.push_str(rest);
    let word = plain.trim_end_matches(|sign: char| sign.is_ascii_digit());
    let is_counted = word.len() < plain.len() && word.chars().rev().take_while(|sign| sign.is_alphabetic()).count() > 1;
    let kept = if is_counted { word.len() } else { plain.len() };
    plain.truncate(kept);
    plain
}

/// Names in order, numbers in them as numbers.
#[must_use]
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let (mut one, mut other) = (a.bytes().peekable(), b.bytes().peekable());
    let number = |bytes: &mut std::iter::Peekable<std::str::Bytes<'_>>| {
        let mut value = 0u128;
        while let Some(digit) = bytes.next_if(u8::is_ascii_digit) {
            value = value.saturating_mul(10).saturating_add(u128::from(digit - b'0'));
        }
        value
    };
    loop {
        let by = match (one.peek(), other.peek()) {
            (None, None) => return a.cmp(b),
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => number(&mut one).cmp(&number(&mut other)),
            _ => one.next().cmp(&other.next()),
        };
        if by.is_ne() {
            return by;
        }
    }
}

/// The first part of most names, with its dot, where no other part is of the same kind: `GPU[1].` where there is one GPU.
fn common<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    let heads = || names.clone().filter_map(|name| name.split_once('.').map(|(head, _)| head));
    let Some(head) = heads().find(|head| head.contains('[')) else { return String::new() };
    let count = names.clone().count();
    let own = heads().filter(|other| *other == head).count();
    let alone = names.clone().all(|name| {
        let other = name.split('.').next().unwrap_or(name);
        other == head || kind_of(other) != kind_of(head)
    });
    if alone && 2 * own > count { format!("{head}.") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::super::{NewTask, TaskId, TaskSetBuilder};
    use super::*;

    fn book(tasks: &[(&str, &str, &str, u64, u64)]) -> TaskBook {
        let mut builder = TaskSetBuilder::new(1_000);
        for (n, &(location, category, action, start, end)) in tasks.iter().enumerate() {
            let (category, action) = (builder.word(category), builder.word(action));
            let location = builder.location(location);
            let id = TaskId::Number(n as u64 + 1);
            builder.push(NewTask { id: &id, parent: None, category, action, location, start, end }).expect("few");
        }
        TaskBook::new(builder.finish().set, Edges::Neither, "t", "")
    }

    #[test]
    fn locations_stand_by_name_kind_or_pressure_and_lose_what_they_share() {
        let book = book(&[
            ("GPU[1].L2[10]", "req_in", "ReadReq", 0, 10),
            ("GPU[1].L2[9]", "req_in", "ReadReq", 0, 60),
            ("GPU[1].CU[0]", "inst", "VMem", 0, 30),
            ("GPU[1].CU[0].L2[1]", "inst", "VMem", 0, 5),
            ("Driver", "cmd", "", 0, 100),
        ]);
        let names = |order, pattern: &str| -> Vec<String> {
            let found = book.locations(order, |name| name.contains(pattern));
            found.into_iter().map(|symbol| book.short(symbol).to_owned()).collect()
        };
        assert_eq!(names(LocationOrder::Name, ""), ["Driver", "CU[0]", "CU[0].L2[1]", "L2[9]", "L2[10]"]);
        assert_eq!(names(LocationOrder::Kind, "L2"), ["CU[0].L2[1]", "L2[9]", "L2[10]"]);
        assert_eq!(names(LocationOrder::Kind, ""), ["CU[0]", "Driver", "CU[0].L2[1]", "L2[9]", "L2[10]"]);
        assert_eq!(names(LocationOrder::Pressure, ""), ["Driver", "L2[9]", "CU[0]", "L2[10]", "CU[0].L2[1]"]);
        assert_eq!(book.busiest().map(|symbol| book.short(symbol)), Some("Driver"));
        let found = ["L2[9]", "GPU[1].L2[9]", "L2[8]"].map(|name| book.location_named(name).is_some());
        assert_eq!(found, [true, true, false]);
    }

    #[test]
    fn of_two_gpus_each_name_says_which() {
        let book = book(&[("GPU[1].L2", "a", "", 0, 1), ("GPU[2].L2", "a", "", 0, 1)]);
        assert!(book.listed().iter().all(|&symbol| book.short(symbol).starts_with("GPU[")));
    }

    #[test]
    fn kinds_are_numbered_by_name_and_too_many_are_told_by_category() {
        let few = book(&[("a", "req_out", "W", 0, 1), ("a", "req_in", "*R", 0, 1), ("b", "req_in", "*R", 0, 1)]);
        assert_eq!(few.kinds(), ["req_in R", "req_out W"]);
        let kinds = (0..3).map(|task| few.kinds()[few.kind(task)].as_str()).collect::<Vec<_>>();
        assert_eq!(kinds.iter().filter(|kind| **kind == "req_in R").count(), 2);
        let actions: Vec<String> = (0..60).map(|n| format!("action{n}")).collect();
        let many: Vec<_> = actions.iter().map(|action| ("a", "inst", action.as_str(), 0, 1)).collect();
        let many = book(&many);
        assert_eq!((many.kinds(), many.by_action()), (&["inst".to_owned()][..], false));
    }

    #[test]
    fn a_kind_is_a_name_without_what_counts() {
        for (name, kind) in [
            ("GPU[1].SA[3].L1VCache[10]", "L1VCache.SA.GPU"),
            ("L2", "L2"),
            ("core 3.L1D", "L1D.core 3"),
            ("CommandProcessor.Dispatcher0", "Dispatcher.CommandProcessor"),
            ("DRAM12", "DRAM"),
            ("a[x].b[]", "b[].a[x]"),
            ("CU[0][3]", "CU"),
        ] {
            assert_eq!(kind_of(name), kind);
        }
    }

    #[test]
    fn numbers_in_names_are_numbers() {
        let mut names = ["L2[10]", "L2[9]", "L2", "L2[9].x", "L10", "L2[09]"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["L2", "L2[09]", "L2[9]", "L2[9].x", "L2[10]", "L10"]);
    }
}
