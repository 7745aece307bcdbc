//! Through the tree of a nest, with the loops around and what is known of their bounds.

use super::poly::{Atom, Atoms, Made, Poly, value_of};
use super::ratio::Ratio;
use super::sums::{Product, Range};
use super::text::Pen;
use super::{Amount, Item, Moved, Task};
use crate::nest::count::{Cache, Counter, least, prepare};
use crate::nest::form::Form;
use crate::nest::machine::{Machine, Region, Step};
use crate::nest::tree::{Access, Block, Branch, Loop, Nest, Node};
use crate::reference::Kind;
use std::collections::BTreeMap;

/// Blocks whose accesses are counted because no expression is known to be right, at most.
const MOST_COUNTED: usize = 256;

/// A sum that grows.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    products: Option<Vec<Product>>,
    value: Option<u64>,
}

impl Default for Sum {
    fn default() -> Self {
        Self { products: Some(Vec::new()), value: Some(0) }
    }
}

impl Sum {
    pub(super) fn add(&mut self, products: Option<&[Product]>, value: Option<u64>) {
        self.value = self.value.zip(value).and_then(|(a, b)| a.checked_add(b));
        let Some(products) = products else {
            self.products = None;
            return;
        };
        for product in products.iter().filter(|product| !product.number.is_zero()) {
            let Some(sum) = &mut self.products else { return };
            match sum.iter_mut().find(|other| other.factors == product.factors) {
                None => sum.push(product.clone()),
                Some(other) => match other.number.plus(product.number) {
                    Some(number) => other.number = number,
                    None => self.products = None,
                },
            }
        }
    }

    fn scaled(&self, by: u64) -> Self {
        let scaled = |products: &Vec<Product>| products.iter().map(|product| product.scaled(by)).collect();
        Self {
            products: self.products.as_ref().and_then(scaled),
            value: self.value.and_then(|value| value.checked_mul(by)),
        }
    }

    pub(super) fn finish(self, pen: &Pen<'_>) -> Amount {
        let kept = |products: Vec<Product>| products.into_iter().filter(|p| !p.number.is_zero()).collect::<Vec<_>>();
        let products = self.products.map(kept);
        Amount { text: products.as_deref().and_then(|products| pen.sum(products)), value: self.value, products }
    }
}

/// How a part is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Always, under these values of parameters.
    Always,
    /// As indices or a control flow say.
    Sometimes,
}

/// A loop around.
struct Around<'a> {
    l: &'a Loop,
    range: Option<Range>,
    /// Whether it is known not to end before it starts.
    proven: bool,
}

/// How often a block is done.
#[derive(Clone)]
struct Times {
    product: Option<Product>,
    value: Option<u64>,
}

#[derive(Default)]
struct RawMoved {
    container: usize,
    reads: Sum,
    writes: Sum,
    updates: Sum,
}

struct RawTask {
    statement: usize,
    executions: Option<Sum>,
    /// Updates that compute: writes with conflict resolution of graphs.
    resolved: Sum,
    moved: Vec<RawMoved>,
}

struct RawItem {
    state: String,
    loops: Vec<usize>,
    tasks: Vec<RawTask>,
}

struct Visitor<'a> {
    nest: &'a Nest,
    atoms: Atoms,
    /// What slots are that are set on the way; `None` = nobody knows.
    known: BTreeMap<usize, Option<Poly>>,
    around: Vec<Around<'a>>,
    /// Values of atoms so far.
    values: Vec<Option<i128>>,
    items: Vec<RawItem>,
    counted: usize,
}

/// All that is done, in the order of control, and the atoms of its expressions.
pub(super) fn items(nest: &Nest) -> (Atoms, Vec<Item>) {
    let mut visitor = Visitor {
        nest,
        atoms: Atoms::default(),
        known: BTreeMap::new(),
        around: Vec::new(),
        values: Vec::new(),
        items: Vec::new(),
        counted: 0,
    };
    // Parameters first: where atoms are written, they stand in this order.
    for slot in &nest.parameters {
        let _ = visitor.atoms.slot(*slot);
    }
    visitor.block(&nest.root, Way::Always);
    let Visitor { atoms, items, .. } = visitor;
    let pen = Pen { atoms: &atoms, slots: &nest.slots };
    let finished = items.into_iter().map(|item| finish_item(nest, item, &pen)).collect();
    (atoms, finished)
}

fn finish_item(nest: &Nest, item: RawItem, pen: &Pen<'_>) -> Item {
    let tasks: Vec<Task> = item.tasks.into_iter().map(|task| finish_task(nest, task, pen)).collect();
    Item {
        state: item.state,
        loops: item.loops.iter().filter_map(|slot| nest.slots.get(*slot).cloned()).collect(),
        iterations: tasks.first().map(|task| task.executions.clone()).unwrap_or_default(),
        tasks,
    }
}

fn finish_task(nest: &Nest, task: RawTask, pen: &Pen<'_>) -> Task {
    let number = task.statement;
    let statement = nest.statements.get(number).cloned().unwrap_or_default();
    let executions = task.executions.unwrap_or(Sum { products: None, value: None });
    let mut operations = executions.scaled(statement.operations);
    if statement.operations == 0 {
        operations = Sum::default();
    }
    operations.add(task.resolved.products.as_deref(), task.resolved.value);
    let mut all = Sum::default();
    let moved = task.moved.into_iter().map(|moved| {
        let bytes = nest.containers.get(moved.container).map_or(1, |container| u64::from(container.elem_bytes));
        let [mut into, mut out] = [moved.reads.clone(), moved.writes.clone()];
        for sum in [&mut into, &mut out] {
            sum.add(moved.updates.products.as_deref(), moved.updates.value);
        }
        let [into, out] = [into.scaled(bytes), out.scaled(bytes)];
        for sum in [&into, &out] {
            all.add(sum.products.as_deref(), sum.value);
        }
        Moved {
            container: moved.container,
            reads: moved.reads.finish(pen),
            writes: moved.writes.finish(pen),
            updates: moved.updates.finish(pen),
            bytes_in: into.finish(pen),
            bytes_out: out.finish(pen),
        }
    });
    let moved = moved.collect();
    Task {
        statement: number,
        is_copy: statement.name.contains(", copy of `") && !statement.state.is_empty(),
        name: statement.name,
        text: statement.text,
        source: (statement.file, statement.line),
        executions: executions.finish(pen),
        operations: operations.finish(pen),
        moved,
        bytes: all.finish(pen),
    }
}

impl<'a> Visitor<'a> {
    fn block(&mut self, block: &'a Block, way: Way) {
        // All accesses of a block are made as often.
        let mut times: Option<Times> = None;
        for node in &block.nodes {
            match node {
                Node::Access(access) => {
                    let now = times.take().unwrap_or_else(|| self.times(block, way));
                    self.access(access, &now);
                    times = Some(now);
                }
                Node::Loop(l) => {
                    let around = self.around(l);
                    self.around.push(around);
                    self.block(&l.body, way);
                    self.around.pop();
                }
                Node::If(branch) => self.branch(branch, way),
                Node::Set { slot, value } => {
                    let meaning = self.atoms.of_form(value, &self.known);
                    self.known.insert(*slot, meaning);
                }
                Node::Machine(machine) => self.machine(machine, way),
            }
        }
    }

    fn branch(&mut self, branch: &'a Branch, way: Way) {
        let mut slots = Vec::new();
        branch.condition.slots(&mut slots);
        let fixed = slots.iter().all(|slot| self.nest.parameters.contains(slot));
        match branch.condition.eval(&self.nest.initial) {
            Ok(truth) if fixed => self.block(if truth != 0 { &branch.yes } else { &branch.no }, way),
            _ => {
                self.block(&branch.yes, Way::Sometimes);
                self.block(&branch.no, Way::Sometimes);
            }
        }
    }

    fn machine(&mut self, machine: &'a Machine, way: Way) {
        if is_straight(&machine.region) {
            self.straight(machine, &machine.region, way);
            return;
        }
        for slot in &machine.assigned {
            self.known.insert(*slot, None);
        }
        for block in &machine.blocks {
            self.block(block, Way::Sometimes);
        }
    }

    fn straight(&mut self, machine: &'a Machine, region: &'a Region, way: Way) {
        let mut at = region.start;
        while let Some(step) = region.steps.get(at) {
            match step {
                Step::Work(block) => machine.blocks.get(*block).into_iter().for_each(|block| self.block(block, way)),
                Step::Region(inner) => self.straight(machine, inner, way),
                _ => {}
            }
            let Some(edge) = region.edges.get(at).and_then(|edges| edges.first()) else { break };
            let new: Vec<_> =
                edge.assign.iter().map(|(slot, form)| (*slot, self.atoms.of_form(form, &self.known))).collect();
            self.known.extend(new);
            at = edge.to;
        }
    }

    /// What is known of a loop within those around.
    fn around(&mut self, l: &'a Loop) -> Around<'a> {
        let range = self.range(l);
        let proven = range.as_ref().is_some_and(|range| self.is_proven(l, range));
        Around { l, range, proven }
    }

    fn range(&mut self, l: &Loop) -> Option<Range> {
        let [from, to, step] = [&l.from, &l.to, &l.step].map(|form| self.atoms.of_form(form, &self.known));
        let (from, to, step) = (from?, to?, step?);
        // Which way it goes is a matter of values.
        let by = self.value(&step)?;
        if by == 0 {
            return None;
        }
        let (far, size) =
            if by > 0 { (to.minus(&from)?, step.clone()) } else { (from.minus(&to)?, step.scaled(Ratio::whole(-1))?) };
        let ends_early = self.value(&far).is_some_and(|far| far < 0);
        let far = if ends_early { self.atoms.made(Made::Max, &far, &Poly::num(0))? } else { far };
        let trips = self.atoms.made(Made::Ceil, &far, &size)?;
        Some(Range { slot: l.slot, from, to, step, far, trips })
    }

    fn value(&mut self, poly: &Poly) -> Option<i128> {
        self.atoms.evaluate(&self.nest.initial, &mut self.values);
        value_of(poly, &self.values)
    }

    fn is_proven(&self, l: &Loop, range: &Range) -> bool {
        // What depends on parameters alone has its value.
        let outer = |poly: &Poly| self.atoms.slots(poly).iter().any(|slot| !self.nest.parameters.contains(slot));
        if !outer(&range.from) && !outer(&range.to) {
            return true;
        }
        if self.is_tile(range) {
            return true;
        }
        let Some((from, to)) = l.from.affine().zip(l.to.affine()) else { return false };
        let rises = l.step.eval(&self.nest.initial).is_ok_and(|step| step > 0);
        let (end, start) = if rises { (to, from) } else { (from, to) };
        let loops: Vec<&Loop> = self.around.iter().map(|around| around.l).collect();
        let length = end.combined(start, -1);
        length.and_then(|length| least(&length, &loops, &self.nest.initial)).is_some_and(|length| length >= 0)
    }

    /// Whether it goes over a tile: from the index of a loop around to that one's next index or its end, whichever comes first.
    fn is_tile(&self, range: &Range) -> bool {
        let single = |poly: &Poly| match &poly.terms.keys().collect::<Vec<_>>()[..] {
            [only] => match only[..] {
                [(atom, 1)] => self.atoms.list().get(atom),
                _ => None,
            },
            _ => None,
        };
        let (Some(Atom::Slot(slot)), Some(Atom::Made(Made::Min, both))) = (single(&range.from), single(&range.to))
        else {
            return false;
        };
        let outer = self.around.iter().filter_map(|around| around.range.as_ref()).find(|outer| outer.slot == *slot);
        outer.is_some_and(|outer| {
            let next = range.from.plus(&outer.step);
            both.contains(&outer.to) && next.is_some_and(|next| both.contains(&next))
        })
    }

    /// How often a block is done, all loops around together.
    fn times(&mut self, block: &Block, way: Way) -> Times {
        let ranges: Option<Vec<&Range>> = self.around.iter().map(|around| around.range.as_ref()).collect();
        let product = ranges.filter(|_| way == Way::Always).and_then(|ranges| {
            let atoms = &mut self.atoms;
            let product = ranges.into_iter().rev().try_fold(Product::one(), |p, range| p.summed(atoms, range))?;
            // An index that nobody summed is no parameter.
            let slots = product.factors.iter().flat_map(|factor| atoms.slots(factor)).collect::<Vec<_>>();
            slots.iter().all(|slot| self.nest.parameters.contains(slot)).then_some(product)
        });
        self.atoms.evaluate(&self.nest.initial, &mut self.values);
        let told = product.as_ref().and_then(|product| product.value(&self.values));
        if told.is_some() && self.around.iter().all(|around| around.proven) {
            return Times { product, value: told };
        }
        let value = self.count(block);
        // What counting does not bear out is no closed form.
        Times { product: product.filter(|_| told.is_some() && told == value), value }
    }

    /// Counts how often a block is done that makes accesses, by counting the first access of it alone.
    fn count(&mut self, block: &Block) -> Option<u64> {
        self.counted += 1;
        if self.counted > MOST_COUNTED {
            return None;
        }
        let root = alone(&self.nest.root, block);
        let mut nest = Nest { root, ..self.nest.clone() };
        prepare(&mut nest);
        let cache = Cache::default();
        let mut values = nest.initial.clone();
        Counter::new(&nest, &cache).block(&nest.root, &mut values).ok()
    }

    fn access(&mut self, access: &Access, times: &Times) {
        let state = self.nest.statements.get(access.statement).map_or("", |statement| statement.state.as_str());
        let shown = self.around.iter().filter(|around| around.l.shown);
        let loops: Vec<usize> = shown.map(|around| around.l.slot).collect();
        let is_last = self.items.last().is_some_and(|item| item.loops == loops && item.state == state);
        if !is_last {
            self.items.push(RawItem { state: state.to_owned(), loops, tasks: Vec::new() });
        }
        let executions = self.executions(times);
        let products = times.product.as_ref().map(std::slice::from_ref);
        let Some(item) = self.items.last_mut() else { return };
        // Accesses of one statement follow one another.
        let last = item.tasks.len().checked_sub(1).filter(|at| item.tasks[*at].statement == access.statement);
        let at = last.unwrap_or_else(|| {
            let (executions, resolved, moved) = (None, Sum::default(), Vec::new());
            item.tasks.push(RawTask { statement: access.statement, executions, resolved, moved });
            item.tasks.len() - 1
        });
        let task = &mut item.tasks[at];
        if task.executions.is_none() {
            task.executions = executions;
        }
        if access.kind == Kind::Modify && !state.is_empty() {
            task.resolved.add(products, times.value);
        }
        let at = task.moved.iter().position(|moved| moved.container == access.container).unwrap_or_else(|| {
            task.moved.push(RawMoved { container: access.container, ..RawMoved::default() });
            task.moved.len() - 1
        });
        let moved = &mut task.moved[at];
        let sum = match access.kind {
            Kind::Write => &mut moved.writes,
            Kind::Modify => &mut moved.updates,
            _ => &mut moved.reads,
        };
        sum.add(products, times.value);
    }

    /// How often a statement is done one of whose accesses is made so often: rows of elements are loops that nobody wrote.
    fn executions(&mut self, times: &Times) -> Option<Sum> {
        let mut sum = Sum::default();
        if self.around.iter().all(|around| around.l.shown) {
            sum.add(times.product.as_ref().map(std::slice::from_ref), times.value);
            return Some(sum);
        }
        times.product.as_ref()?;
        let shown: Vec<&Around<'_>> = self.around.iter().filter(|around| around.l.shown).collect();
        let atoms = &mut self.atoms;
        let mut product = Product::one();
        for around in shown.iter().rev() {
            product = product.summed(atoms, around.range.as_ref().filter(|_| around.proven)?)?;
        }
        atoms.evaluate(&self.nest.initial, &mut self.values);
        let value = product.value(&self.values);
        sum.add(Some(&[product]), value);
        Some(sum)
    }
}

/// Whether states follow one another without conditions.
fn is_straight(region: &Region) -> bool {
    if region.repeats.is_some() {
        return false;
    }
    let mut at = region.start;
    for _ in 0..=region.steps.len() {
        let Some(step) = region.steps.get(at) else { return true };
        let fits = match step {
            Step::Work(_) => true,
            Step::Region(inner) => is_straight(inner),
            _ => false,
        };
        match region.edges.get(at).map(Vec::as_slice) {
            _ if !fits => return false,
            None | Some([]) => return true,
            Some([edge]) if edge.condition.as_ref().and_then(Form::constant).is_some_and(|truth| truth != 0) => {
                at = edge.to
            }
            Some([edge]) if edge.condition.is_none() => at = edge.to,
            Some(_) => return false,
        }
    }
    false
}

/// The tree with nothing in it but the first access of a block.
fn alone(block: &Block, target: &Block) -> Block {
    let mut taken = false;
    let is_target = std::ptr::eq(block, target);
    let mut nodes = Vec::new();
    for node in &block.nodes {
        match node {
            Node::Access(access) => {
                if is_target && !taken {
                    taken = true;
                    nodes.push(Node::Access(access.clone()));
                }
            }
            Node::Loop(l) => {
                let body = alone(&l.body, target);
                if !body.nodes.is_empty() {
                    let [from, to, step] = [&l.from, &l.to, &l.step].map(Form::clone);
                    nodes.push(Node::Loop(Box::new(Loop { from, to, step, body, ..Loop::clone(l) })));
                }
            }
            Node::If(branch) => {
                let (yes, no) = (alone(&branch.yes, target), alone(&branch.no, target));
                nodes.push(Node::If(Box::new(Branch { condition: branch.condition.clone(), yes, no })));
            }
            Node::Set { slot, value } => nodes.push(Node::Set { slot: *slot, value: value.clone() }),
            Node::Machine(machine) => {
                let blocks = machine.blocks.iter().map(|block| alone(block, target)).collect();
                nodes.push(Node::Machine(Box::new(Machine { blocks, ..Machine::clone(machine) })));
            }
        }
    }
    Block { nodes, ..Block::default() }
}
