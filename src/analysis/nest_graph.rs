//! Volumes of a nest as a graph: containers, loops and tasks, and what goes from one to another.
//!
//! A container that is written is another node from there on, so that data flows one way: what reads it comes before what updates it.

use crate::nest::{Amount, Item, Moved, Task, Volumes};
use crate::units::grouped;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// How much is folded into one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fold {
    /// Nothing: loops and the tasks within them.
    Tasks,
    /// Tasks into the loops around them.
    Loops,
    /// All of a state, or of an outermost loop.
    States,
}

impl Fold {
    /// All of them, the finest first.
    pub const ALL: [Self; 3] = [Self::Tasks, Self::Loops, Self::States];

    /// As a flag names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tasks => "tasks",
            Self::Loops => "loops",
            Self::States => "states",
        }
    }

    /// What one box is, one sentence.
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Self::Tasks => "Each statement and each group of loops",
            Self::Loops => "Loops with the statements in them",
            Self::States => "A state of a graph, or an outermost loop",
        }
    }
}

/// A part that is one box or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GraphPart {
    /// [`Fold::States`] = a state, or an outermost loop; [`Fold::Loops`] = loops with their tasks.
    pub fold: Fold,
    /// The first of [`Volumes::items`] in it.
    pub item: usize,
}

/// How much is folded, part by part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folding {
    /// Of parts that nobody opened or closed.
    pub base: Fold,
    /// Parts that somebody opened (`true`) or closed.
    pub parts: BTreeMap<GraphPart, bool>,
}

impl Folding {
    /// All parts alike.
    #[must_use]
    pub const fn all(base: Fold) -> Self {
        Self { base, parts: BTreeMap::new() }
    }

    /// Whether a part is seen as what is in it.
    #[must_use]
    pub fn is_open(&self, part: GraphPart) -> bool {
        self.parts.get(&part).copied().unwrap_or(self.base < part.fold)
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    /// A container as it is from there on.
    Container,
    /// Loops, or a map.
    Loops,
    /// A statement, tasklet or copy.
    Task,
    /// A state, or an outermost loop with all in it.
    State,
}

/// A node.
#[derive(Clone, Debug)]
pub struct GraphNode {
    /// What it is.
    pub kind: NodeKind,
    /// Its name: of the container, of the loops (`i, j, k`), of the task.
    pub name: String,
    /// Of containers shape and type: `9 x 10 f32`.
    pub detail: String,
    /// State of a graph that it is in; empty where there is none.
    pub state: String,
    /// Number of the container.
    pub container: Option<usize>,
    /// How often it is done; of containers nothing.
    pub executions: Amount,
    /// Operations in it.
    pub operations: Amount,
    /// Bytes that it moves; of containers those that come and go.
    pub bytes: Amount,
    /// File and line; 0 = unknown.
    pub source: (String, u32),
    /// The part that it is, or is in; of containers none.
    pub part: Option<GraphPart>,
    /// Whether that part is folded into it.
    pub is_folded: bool,
    /// Numbers of the statements that are done in it, in the order of control.
    pub statements: Vec<usize>,
}

/// What goes from one node to another.
#[derive(Clone, Debug)]
pub struct GraphEdge {
    /// Number of the node that it comes from.
    pub from: usize,
    /// Number of the node that it goes to.
    pub to: usize,
    /// Number of the container; `None` = of several.
    pub container: Option<usize>,
    /// Elements.
    pub elements: Amount,
    /// Bytes.
    pub bytes: Amount,
}

/// A graph of what moves.
#[derive(Clone, Debug)]
pub struct NestGraph {
    /// Nodes, in the order of control.
    pub nodes: Vec<GraphNode>,
    /// Edges.
    pub edges: Vec<GraphEdge>,
    /// How much is folded.
    pub fold: Fold,
    /// Parts that were left out because there were too many, those that move least.
    pub left_out: usize,
}

struct Building<'v> {
    volumes: &'v Volumes,
    graph: NestGraph,
    /// The node that a container is now.
    now: BTreeMap<usize, usize>,
}

/// What parts in a row move, by container.
#[derive(Default)]
struct Traffic<'v> {
    /// Containers in the order in which they are touched, with what reads and writes them.
    all: Vec<(usize, Vec<&'v Moved>)>,
    places: BTreeMap<usize, usize>,
}

impl<'v> Traffic<'v> {
    fn add(&mut self, moved: &'v Moved) {
        let place = *self.places.entry(moved.container).or_insert(self.all.len());
        match self.all.get_mut(place) {
            Some((_, list)) => list.push(moved),
            None => self.all.push((moved.container, vec![moved])),
        }
    }
}

fn moves(amount: &Amount) -> bool {
    amount.value != Some(0)
}

/// Tasks that are boxes of their own, at most.
const MOST_TASKS: usize = 2000;

/// The graph of a nest's volumes, of no more than `most` parts; tasks past 2,000 are folded into their loops.
#[must_use]
pub fn nest_graph(volumes: &Volumes, folding: &Folding, most: usize) -> NestGraph {
    let tasks = volumes.items().iter().map(|item| item.tasks.len()).sum::<usize>();
    let too_many = folding.base == Fold::Tasks && tasks > MOST_TASKS.max(most);
    let fold = if too_many { Fold::Loops } else { folding.base };
    let folding = Folding { base: fold, parts: folding.parts.clone() };
    let graph = NestGraph { nodes: Vec::new(), edges: Vec::new(), fold, left_out: 0 };
    let mut building = Building { volumes, graph, now: BTreeMap::new() };
    let mut boxes = boxes(volumes.items(), &folding);
    if boxes.len() > most {
        // Those that move most are kept, in their order.
        let weight = |(_, items): &(Boxed, Range<usize>)| {
            let tasks = volumes.items()[items.clone()].iter().flat_map(|item| &item.tasks);
            tasks.fold(0u64, |sum, task| sum.saturating_add(task.bytes.value.unwrap_or(u64::MAX)))
        };
        let mut ranked: Vec<usize> = (0..boxes.len()).collect();
        ranked.sort_by_cached_key(|at| std::cmp::Reverse(weight(&boxes[*at])));
        ranked.truncate(most);
        ranked.sort_unstable();
        building.graph.left_out = boxes.len() - ranked.len();
        boxes = ranked.into_iter().map(|at| boxes[at].clone()).collect();
    }
    for (boxed, items) in boxes {
        match boxed {
            Boxed::Open => building.item(items.start),
            Boxed::Loops => building.whole(Fold::Loops, items),
            Boxed::State => building.whole(Fold::States, items),
        }
    }
    building.containers();
    building.graph
}

/// How items are drawn.
#[derive(Clone, Copy)]
enum Boxed {
    /// Loops, and each task of them.
    Open,
    Loops,
    State,
}

/// Items that are drawn together, and how.
fn boxes(items: &[Item], folding: &Folding) -> Vec<(Boxed, Range<usize>)> {
    let mut out = Vec::new();
    for state in states(items) {
        if !folding.is_open(GraphPart { fold: Fold::States, item: state.start }) {
            out.push((Boxed::State, state));
            continue;
        }
        for item in state {
            let is_open = folding.is_open(GraphPart { fold: Fold::Loops, item });
            out.push((if is_open { Boxed::Open } else { Boxed::Loops }, item..item + 1));
        }
    }
    out
}

/// Items of one state, or of one outermost loop, after each other.
#[must_use]
pub fn states(items: &[Item]) -> Vec<Range<usize>> {
    let same = |a: &Item, b: &Item| {
        if a.state.is_empty() { a.loops.first() == b.loops.first() && !a.loops.is_empty() } else { a.state == b.state }
    };
    let mut from = 0;
    let runs = items.chunk_by(same).map(|run| {
        let range = from..from + run.len();
        from = range.end;
        range
    });
    runs.collect()
}

/// What people call a state, or an outermost loop.
#[must_use]
pub fn state_name(first: &Item) -> String {
    match (first.state.is_empty(), first.loops.first()) {
        (false, _) => first.state.clone(),
        (true, Some(outermost)) => format!("for {outermost}"),
        (true, None) => first.tasks.first().map(|task| task.text.clone()).unwrap_or_default(),
    }
}

impl<'v> Building<'v> {
    fn node(&mut self, node: GraphNode) -> usize {
        self.graph.nodes.push(node);
        self.graph.nodes.len() - 1
    }

    fn container(&mut self, container: usize) -> usize {
        let known = self.volumes.containers().get(container);
        let name = known.map_or(String::new(), |c| c.name.clone());
        let detail = known.map_or(String::new(), |c| {
            let shape = c.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" x ");
            if shape.is_empty() { c.elem_type.clone() } else { format!("{shape} {}", c.elem_type) }
        });
        self.node(GraphNode {
            kind: NodeKind::Container,
            name,
            detail,
            state: String::new(),
            container: Some(container),
            executions: Amount::default(),
            operations: Amount::default(),
            bytes: Amount::default(),
            source: (String::new(), 0),
            part: None,
            is_folded: false,
            statements: Vec::new(),
        })
    }

    /// The node of a container that is read.
    fn read(&mut self, container: usize) -> usize {
        if let Some(now) = self.now.get(&container) {
            return *now;
        }
        let node = self.container(container);
        self.now.insert(container, node);
        node
    }

    fn into(&mut self, from: usize, to: usize, container: usize, moved: &[&Moved]) {
        let elements = self.volumes.sum(moved.iter().flat_map(|moved| [&moved.reads, &moved.updates]));
        let bytes = self.volumes.sum(moved.iter().map(|moved| &moved.bytes_in));
        self.graph.edges.push(GraphEdge { from, to, container: Some(container), elements, bytes });
    }

    fn out(&mut self, from: usize, container: usize, moved: &[&Moved]) {
        let to = self.container(container);
        self.now.insert(container, to);
        let elements = self.volumes.sum(moved.iter().flat_map(|moved| [&moved.writes, &moved.updates]));
        let bytes = self.volumes.sum(moved.iter().map(|moved| &moved.bytes_out));
        self.graph.edges.push(GraphEdge { from, to, container: Some(container), elements, bytes });
    }

    fn task(&mut self, task: &Task, state: &str, part: GraphPart) -> usize {
        self.node(GraphNode {
            kind: NodeKind::Task,
            name: if task.is_copy { format!("copy {}", task.text) } else { task.text.clone() },
            detail: String::new(),
            state: state.to_owned(),
            container: None,
            executions: task.executions.clone(),
            operations: task.operations.clone(),
            bytes: task.bytes.clone(),
            source: task.source.clone(),
            part: Some(part),
            is_folded: false,
            statements: vec![task.statement],
        })
    }

    /// What items read that they did not make before.
    fn entering(items: &'v [Item]) -> Traffic<'v> {
        let (mut traffic, mut made) = (Traffic::default(), BTreeSet::new());
        for task in items.iter().flat_map(|item| &item.tasks) {
            for moved in task.moved.iter().filter(|moved| moves(&moved.bytes_in) && !made.contains(&moved.container)) {
                traffic.add(moved);
            }
            made.extend(task.moved.iter().filter(|moved| moves(&moved.bytes_out)).map(|moved| moved.container));
        }
        traffic
    }

    /// Loops with each task in them.
    fn item(&mut self, number: usize) {
        let volumes = self.volumes;
        let item = &volumes.items()[number];
        let part = GraphPart { fold: Fold::Loops, item: number };
        let loops = (!item.loops.is_empty()).then(|| {
            self.node(GraphNode {
                kind: NodeKind::Loops,
                name: item.loops.join(", "),
                detail: String::new(),
                state: item.state.clone(),
                container: None,
                executions: item.iterations.clone(),
                operations: volumes.sum(item.tasks.iter().map(|task| &task.operations)),
                bytes: volumes.sum(item.tasks.iter().map(|task| &task.bytes)),
                source: item.tasks.first().map(|task| task.source.clone()).unwrap_or_default(),
                part: Some(part),
                is_folded: false,
                statements: item.tasks.iter().map(|task| task.statement).collect(),
            })
        });
        if let Some(loops) = loops {
            for (container, moved) in Self::entering(std::slice::from_ref(item)).all {
                let from = self.read(container);
                self.into(from, loops, container, &moved);
            }
        }
        let mut made = BTreeSet::new();
        for task in &item.tasks {
            let node = self.task(task, &item.state, part);
            let mut within: Vec<&Moved> = Vec::new();
            for moved in task.moved.iter().filter(|moved| moves(&moved.bytes_in)) {
                if loops.is_some() && !made.contains(&moved.container) {
                    within.push(moved);
                } else {
                    let from = self.read(moved.container);
                    self.into(from, node, moved.container, &[moved]);
                }
            }
            // What lives on what tasks before it made is held by them.
            let held = within.is_empty() && task.moved.iter().any(|moved| made.contains(&moved.container));
            if let Some(from) = loops.filter(|_| !held) {
                let elements = volumes.sum(within.iter().flat_map(|moved| [&moved.reads, &moved.updates]));
                let bytes = volumes.sum(within.iter().map(|moved| &moved.bytes_in));
                let container = if let [one] = within[..] { Some(one.container) } else { None };
                self.graph.edges.push(GraphEdge { from, to: node, container, elements, bytes });
            }
            for moved in task.moved.iter().filter(|moved| moves(&moved.bytes_out)) {
                self.out(node, moved.container, &[moved]);
                made.insert(moved.container);
            }
        }
    }

    /// Items as one node.
    fn whole(&mut self, fold: Fold, items: Range<usize>) {
        let volumes = self.volumes;
        let start = items.start;
        let part = &volumes.items()[items];
        let tasks = || part.iter().flat_map(|item| &item.tasks);
        let Some(first) = part.first() else { return };
        let is_state = fold == Fold::States;
        let name = match (is_state, first.loops.is_empty()) {
            (true, _) => state_name(first),
            (false, false) => first.loops.join(", "),
            (false, true) => first.tasks.first().map(|task| task.text.clone()).unwrap_or_default(),
        };
        let node = self.node(GraphNode {
            kind: match (is_state, first.loops.is_empty()) {
                (true, _) => NodeKind::State,
                (false, false) => NodeKind::Loops,
                (false, true) => NodeKind::Task,
            },
            name,
            detail: String::new(),
            state: first.state.clone(),
            container: None,
            executions: if let [one] = part { one.iterations.clone() } else { Amount::default() },
            operations: volumes.sum(tasks().map(|task| &task.operations)),
            bytes: volumes.sum(tasks().map(|task| &task.bytes)),
            source: first.tasks.first().map(|task| task.source.clone()).unwrap_or_default(),
            part: Some(GraphPart { fold, item: start }),
            is_folded: true,
            statements: tasks().map(|task| task.statement).collect(),
        });
        for (container, moved) in Self::entering(part).all {
            let from = self.read(container);
            self.into(from, node, container, &moved);
        }
        let mut leaving = Traffic::default();
        tasks()
            .flat_map(|task| &task.moved)
            .filter(|moved| moves(&moved.bytes_out))
            .for_each(|moved| leaving.add(moved));
        for (container, moved) in leaving.all {
            self.out(node, container, &moved);
        }
    }

    /// Says of containers what comes and goes.
    fn containers(&mut self) {
        let mut of: Vec<Vec<&Amount>> = vec![Vec::new(); self.graph.nodes.len()];
        for edge in &self.graph.edges {
            for end in [edge.from, edge.to] {
                of[end].push(&edge.bytes);
            }
        }
        let sums: Vec<Amount> = of.into_iter().map(|amounts| self.volumes.sum(amounts)).collect();
        for (node, sum) in self.graph.nodes.iter_mut().zip(sums) {
            if node.kind == NodeKind::Container {
                node.bytes = sum;
            }
        }
    }
}

impl GraphNode {
    /// What it moves as an expression and a value, for people.
    #[must_use]
    pub fn volume(&self) -> String {
        in_words(&self.bytes, true)
    }
}

impl GraphEdge {
    /// What goes along it as an expression and a value, for people.
    #[must_use]
    pub fn volume(&self) -> String {
        in_words(&self.bytes, true)
    }
}

/// `I * J * 4 = 400 B`; where there is no closed form `400 B (counted)`.
#[must_use]
pub fn in_words(amount: &Amount, is_bytes: bool) -> String {
    let value = match amount.value {
        Some(value) if is_bytes => size_in_words(value),
        Some(value) => grouped(value),
        None => "not counted".into(),
    };
    match &amount.text {
        Some(text) if amount.value.is_none_or(|value| *text != value.to_string()) => format!("{text} = {value}"),
        None if amount.value.is_some() => format!("{value} (counted)"),
        _ => value,
    }
}

/// `5,400 B`, `1.3 MiB`.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "rounded for people")]
pub fn size_in_words(bytes: u64) -> String {
    for (unit, shift) in [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        if bytes >= 10 << shift || (shift > 10 && bytes >= 1 << shift) {
            return format!("{:.1} {unit}", bytes as f64 / (1u64 << shift) as f64);
        }
    }
    format!("{} B", grouped(bytes))
}
