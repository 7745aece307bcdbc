//! Control flow: states and regions, with what leads from one to another.

use super::super::expr::{Expr, Op};
use super::super::fault::NestError;
use super::super::form::Form;
use super::super::lexer::short;
use super::super::machine::{Edge, Machine, Region, Repeat, Step};
use super::super::tree::{Block, Loop, Node};
use super::data::Frame;
use super::json::{Link, attribute, index_of, kind, label, list_of, text_of};
use super::{Lower, Skip, Trouble};
use serde_json::Value;
use std::collections::BTreeSet;

/// Names that a graph gives values, but for those of graphs within it.
pub(super) fn assigned(region: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut regions = vec![region];
    while let Some(region) = regions.pop() {
        for edge in list_of(region.get("edges")) {
            let data = attribute(edge, "data");
            let assignments = data.and_then(|data| attribute(data, "assignments")).and_then(Value::as_object);
            names.extend(assignments.into_iter().flatten().map(|(name, _)| name.clone()));
        }
        for statement in ["init_statement", "update_statement"] {
            names.extend(statements(text_of(attribute(region, statement))).into_iter().map(|(name, _)| name));
        }
        for node in list_of(region.get("nodes")) {
            if matches!(
                kind(node),
                "LoopRegion" | "ControlFlowRegion" | "ConditionalBlock" | "FunctionCallRegion" | "NamedRegion"
            ) {
                regions.push(node);
            }
        }
        regions.extend(list_of(region.get("branches")).iter().filter_map(|branch| list_of(Some(branch)).get(1)));
    }
    names
}

/// `i = 0; j = 1` as names and values.
fn statements(text: &str) -> Vec<(String, String)> {
    let parts = text.split([';', '\n']).filter_map(|part| part.split_once('='));
    let named = parts.map(|(name, value)| (name.trim().to_owned(), value.trim().trim_start_matches('=').to_owned()));
    named.filter(|(name, _)| name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.is_empty()).collect()
}

/// Blocks and slots of a control flow that is being made.
#[derive(Default)]
struct Making {
    blocks: Vec<Block>,
}

impl Lower<'_> {
    /// All of a graph; its containers are in the frame.
    pub(super) fn graph(&mut self, sdfg: &Value, frame: &mut Frame<'_>) -> Result<Vec<Node>, NestError> {
        // Symbols that get values on the way. Where they have one at the start, it is set already.
        let mut fresh = Vec::new();
        let mut all = Vec::new();
        for name in assigned(sdfg) {
            let slot = match frame.names.get(&name).map(|expr| expr.slots().next()) {
                Some(Some(slot)) => slot,
                _ => {
                    let slot = self.slot(&name);
                    if let Some(value) = self.settings.get(&name) {
                        self.asked.insert(name.clone());
                        self.nest.initial[slot] = value;
                    }
                    fresh.push(slot);
                    frame.names.insert(name, Expr::slot(slot));
                    slot
                }
            };
            all.push(slot);
        }
        match self.region_nodes(sdfg, frame, &all, &fresh) {
            Ok(nodes) => Ok(nodes),
            Err(Trouble::Wrong(error)) => Err(error),
            Err(Trouble::Skip(Skip(why))) => {
                self.gap(why);
                Ok(Vec::new())
            }
        }
    }

    /// A region as nodes: one after the other where nothing branches, else as a machine.
    fn region_nodes(
        &mut self,
        region: &Value,
        frame: &Frame<'_>,
        all: &[usize],
        fresh: &[usize],
    ) -> Result<Vec<Node>, Trouble> {
        if let Some(order) = straight(region) {
            let steps = list_of(region.get("nodes"));
            let mut out = Vec::new();
            for at in order {
                match kind(&steps[at]) {
                    "SDFGState" => out.extend(self.state(&steps[at], frame)?),
                    _ => match self.plain_loop(&steps[at], frame)? {
                        Some(node) => out.push(node),
                        None => return self.machine(region, frame, all, fresh),
                    },
                }
            }
            return Ok(out);
        }
        self.machine(region, frame, all, fresh)
    }

    fn machine(
        &mut self,
        region: &Value,
        frame: &Frame<'_>,
        all: &[usize],
        fresh: &[usize],
    ) -> Result<Vec<Node>, Trouble> {
        let mut making = Making::default();
        let made = self.region(region, frame, &mut making)?;
        let mut assigned = Vec::new();
        made.assigned(&mut |slot| assigned.push(slot));
        assigned.sort_unstable();
        assigned.dedup();
        assigned.retain(|slot| all.contains(slot));
        let fresh = fresh.iter().copied().filter(|slot| assigned.contains(slot)).collect();
        let Making { blocks } = making;
        Ok(vec![Node::Machine(Box::new(Machine {
            number: 0,
            region: made,
            blocks,
            assigned,
            fresh,
            outer: Vec::new(),
        }))])
    }

    fn region(&mut self, region: &Value, frame: &Frame<'_>, making: &mut Making) -> Result<Region, Trouble> {
        let name = match label(region) {
            "" => text_of(attribute(region, "name")),
            label => label,
        };
        let place = format!("control flow of `{}`", short(name));
        self.deeper(&place)?;
        let nodes = list_of(region.get("nodes"));
        let mut made = Region { start: start(region), ..Region::default() };
        for node in nodes {
            let step = match kind(node) {
                "SDFGState" => self.work(node, frame, making)?,
                "LoopRegion" => match self.plain_loop(node, frame)? {
                    Some(node) => push(making, vec![node]),
                    None => {
                        let mut inner = self.region(node, frame, making)?;
                        inner.repeats = Some(self.repeat(node, frame)?);
                        Step::Region(Box::new(inner))
                    }
                },
                "ControlFlowRegion" | "NamedRegion" | "FunctionCallRegion" => {
                    Step::Region(Box::new(self.region(node, frame, making)?))
                }
                "ConditionalBlock" => {
                    let mut branches = Vec::new();
                    for branch in list_of(node.get("branches")) {
                        let [condition, content] = list_of(Some(branch)) else {
                            return Err(self
                                .wrong(&place, "a branch without content", "a condition and a region")
                                .into());
                        };
                        let condition = match text_of(Some(condition)) {
                            "" => None,
                            text => Some(Form::of(self.text_expr(text, frame, &place)?)),
                        };
                        branches.push((condition, self.region(content, frame, making)?));
                    }
                    Step::Choose(branches)
                }
                "BreakBlock" => Step::Break,
                "ContinueBlock" => Step::Continue,
                "ReturnBlock" => Step::Return,
                other => {
                    let found = format!("a block of the type `{}`", short(other));
                    return Err(self.wrong(&place, found, "a state, a loop or a condition").into());
                }
            };
            made.steps.push(step);
            made.edges.push(Vec::new());
        }
        for edge in list_of(region.get("edges")) {
            let Some(link) = Link::of(edge) else { continue };
            if link.from >= nodes.len() || link.to >= nodes.len() {
                let found = format!("an edge from {} to {} of {} states", link.from, link.to, nodes.len());
                return Err(self.wrong(&place, found, "states that are there").into());
            }
            let condition = match attribute(link.data, "condition").map(|condition| text_of(Some(condition))) {
                None | Some("" | "1" | "True") => None,
                Some(text) => Some(Form::of(self.text_expr(text, frame, &place)?)),
            };
            let mut assign = Vec::new();
            for (name, value) in attribute(link.data, "assignments").and_then(Value::as_object).into_iter().flatten() {
                let Some(slot) = frame.names.get(name).and_then(|expr| expr.slots().next()) else { continue };
                assign.push((slot, Form::of(self.expr(value, frame, &place)?)));
            }
            made.edges[link.from].push(Edge { to: link.to, condition, assign });
        }
        self.depth -= 1;
        Ok(made)
    }

    fn work(&mut self, state: &Value, frame: &Frame<'_>, making: &mut Making) -> Result<Step, Trouble> {
        let nodes = self.state(state, frame)?;
        Ok(push(making, nodes))
    }

    fn assignments(&mut self, text: &str, frame: &Frame<'_>) -> Result<Vec<(usize, Form)>, Trouble> {
        let mut out = Vec::new();
        for (name, value) in statements(text) {
            let Some(slot) = frame.names.get(&name).and_then(|expr| expr.slots().next()) else { continue };
            out.push((slot, Form::of(self.text_expr(&value, frame, &format!("loop over `{}`", short(&name)))?)));
        }
        Ok(out)
    }

    fn repeat(&mut self, node: &Value, frame: &Frame<'_>) -> Result<Repeat, Trouble> {
        let place = format!("loop `{}`", short(label(node)));
        let text = |name: &str| text_of(attribute(node, name)).to_owned();
        let condition = text("loop_condition");
        let condition = if condition.is_empty() { "1".to_owned() } else { condition };
        let yes = |name: &str, default: bool| attribute(node, name).and_then(Value::as_bool).unwrap_or(default);
        Ok(Repeat {
            init: self.assignments(&text("init_statement"), frame)?,
            condition: Form::of(self.text_expr(&condition, frame, &place)?),
            update: self.assignments(&text("update_statement"), frame)?,
            inverted: yes("inverted", false),
            updates_first: yes("update_before_condition", true),
        })
    }

    /// A loop over one index by a constant step, whose body neither leaves it nor assigns anything.
    fn plain_loop(&mut self, node: &Value, frame: &Frame<'_>) -> Result<Option<Node>, Trouble> {
        if kind(node) != "LoopRegion" {
            return Ok(None);
        }
        let variable = text_of(attribute(node, "loop_variable"));
        let own: BTreeSet<&str> = [variable].into();
        let inside = inner_assigned(node);
        let init = statements(text_of(attribute(node, "init_statement")));
        let update = statements(text_of(attribute(node, "update_statement")));
        let ([(first, from)], [(second, next)]) = (&init[..], &update[..]) else { return Ok(None) };
        let leaves = holds(node, &["BreakBlock", "ContinueBlock", "ReturnBlock"]);
        let slot = frame.names.get(variable).and_then(|expr| expr.slots().next());
        let inverted = attribute(node, "inverted").and_then(Value::as_bool).unwrap_or(false);
        let Some(slot) = slot.filter(|_| first == variable && second == variable && !leaves && !inverted) else {
            return Ok(None);
        };
        if inside.iter().any(|name| !own.contains(name.as_str())) || inside.contains(variable) {
            return Ok(None);
        }
        let place = format!("loop `{}`", short(label(node)));
        let from = self.text_expr(from, frame, &place)?;
        let next = self.text_expr(next, frame, &place)?;
        let condition = self.text_expr(text_of(attribute(node, "loop_condition")), frame, &place)?;
        let step = Form::of(next.with(Expr::slot(slot), Op::Sub)).constant();
        let Some(step) = step.filter(|step| *step != 0) else { return Ok(None) };
        let Some(to) = bound(&condition, slot, step > 0) else { return Ok(None) };
        let nodes = self.region_nodes(node, frame, &[], &[])?;
        Ok(Some(Node::Loop(Box::new(Loop::new(slot, [from, to, Expr::num(step)], nodes)))))
    }
}

/// Names that the body of a loop assigns, but for indices of loops in it.
fn inner_assigned(node: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut regions = vec![(node, true)];
    while let Some((region, is_first)) = regions.pop() {
        for edge in list_of(region.get("edges")) {
            let data = attribute(edge, "data");
            let assignments = data.and_then(|data| attribute(data, "assignments")).and_then(Value::as_object);
            names.extend(assignments.into_iter().flatten().map(|(name, _)| name.clone()));
        }
        if !is_first {
            let own = text_of(attribute(region, "loop_variable"));
            for statement in ["init_statement", "update_statement"] {
                let assigned = statements(text_of(attribute(region, statement))).into_iter().map(|(name, _)| name);
                names.extend(assigned.filter(|name| name != own));
            }
        }
        let inner = list_of(region.get("nodes")).iter().filter(|node| !matches!(kind(node), "SDFGState"));
        regions.extend(inner.map(|node| (node, false)));
        let branches = list_of(region.get("branches")).iter().filter_map(|branch| list_of(Some(branch)).get(1));
        regions.extend(branches.map(|node| (node, false)));
    }
    names
}

/// Whether a block of one of these types is anywhere inside.
fn holds(node: &Value, types: &[&str]) -> bool {
    let mut regions = vec![node];
    while let Some(region) = regions.pop() {
        if types.contains(&kind(region)) {
            return true;
        }
        regions.extend(list_of(region.get("nodes")).iter().filter(|node| kind(node) != "SDFGState"));
        regions.extend(list_of(region.get("branches")).iter().filter_map(|branch| list_of(Some(branch)).get(1)));
    }
    false
}

/// The first value of an index past the end, from `i < N` and the like.
fn bound(condition: &Expr, slot: usize, rises: bool) -> Option<Expr> {
    let (last, rest) = condition.ops().split_last()?;
    let strict = match last {
        Op::Less => true,
        Op::AtMost => false,
        _ => return None,
    };
    let is_index = |op: &Op| *op == Op::Slot(slot);
    let parts: &[Op] = if rises && rest.first().is_some_and(is_index) {
        &rest[1..]
    } else if !rises && rest.last().is_some_and(is_index) {
        &rest[..rest.len() - 1]
    } else {
        return None;
    };
    let end = Expr::of_ops(parts)?;
    if end.slots().any(|other| other == slot) {
        return None;
    }
    let past = match (strict, rises) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => -1,
    };
    Some(end.plus(Expr::num(past)))
}

fn push(making: &mut Making, nodes: Vec<Node>) -> Step {
    making.blocks.push(Block::of(nodes));
    Step::Work(making.blocks.len() - 1)
}

/// The block that a region starts with.
fn start(region: &Value) -> usize {
    let named = ["start_block", "start_state"]
        .into_iter()
        .find_map(|name| index_of(region.get(name)).or_else(|| index_of(attribute(region, name))));
    named.unwrap_or_else(|| {
        let entered: BTreeSet<usize> =
            list_of(region.get("edges")).iter().filter_map(|edge| index_of(edge.get("dst"))).collect();
        (0..list_of(region.get("nodes")).len()).find(|at| !entered.contains(at)).unwrap_or(0)
    })
}

/// Blocks in their order, where each leads to the next without a condition or a value, and all of them are states or loops.
fn straight(region: &Value) -> Option<Vec<usize>> {
    let nodes = list_of(region.get("nodes"));
    if nodes.iter().any(|node| !matches!(kind(node), "SDFGState" | "LoopRegion")) {
        return None;
    }
    let mut next = vec![None; nodes.len()];
    for link in list_of(region.get("edges")).iter().filter_map(Link::of) {
        let condition = attribute(link.data, "condition").map(|condition| text_of(Some(condition)));
        let plain = matches!(condition, None | Some("" | "1" | "True"));
        let assigns = attribute(link.data, "assignments").and_then(Value::as_object).is_some_and(|a| !a.is_empty());
        let place = next.get_mut(link.from)?;
        if !plain || assigns || place.is_some() || link.to >= nodes.len() {
            return None;
        }
        *place = Some(link.to);
    }
    let mut order = Vec::new();
    let mut at = (!nodes.is_empty()).then(|| start(region));
    while let Some(node) = at {
        if order.len() > nodes.len() {
            return None;
        }
        order.push(node);
        at = *next.get(node)?;
    }
    Some(order)
}
