//! A state: its nodes in order, maps as loops, tasklets as accesses.

use super::super::expr::{Expr, Op};
use super::super::fault::NestError;
use super::super::form::Form;
use super::super::lexer::short;
use super::super::tree::{Access, Check, Loop, Node, Statement};
use super::data::{Data, Frame, Range};
use super::json::{Link, attribute, flag, index_of, kind, label, list_of, text_of};
use super::{Lower, Skip, Trouble};
use crate::reference::Kind;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A state with its edges by node.
pub(super) struct State<'g> {
    pub(super) name: String,
    pub(super) nodes: &'g [Value],
    pub(super) links: Vec<Link<'g>>,
    /// Edges by number, in the order of the file.
    pub(super) into: Vec<Vec<usize>>,
    pub(super) out: Vec<Vec<usize>>,
    /// The entry of the scope that each node is in.
    pub(super) scope: Vec<Option<usize>>,
    /// Nodes by scope, in the order of the file.
    inside: BTreeMap<Option<usize>, Vec<usize>>,
}

impl<'g> State<'g> {
    pub(super) fn of(state: &'g Value, lower: &Lower<'_>) -> Result<Self, NestError> {
        let name = format!("state `{}`", short(label(state)));
        let nodes = list_of(state.get("nodes"));
        let links: Vec<Link<'g>> = list_of(state.get("edges")).iter().filter_map(Link::of).collect();
        let mut into = vec![Vec::new(); nodes.len()];
        let mut out = vec![Vec::new(); nodes.len()];
        for (number, link) in links.iter().enumerate() {
            if link.from >= nodes.len() || link.to >= nodes.len() {
                let found = format!("an edge from node {} to node {} of {}", link.from, link.to, nodes.len());
                return Err(lower.wrong(&name, found, "nodes that are there"));
            }
            out[link.from].push(number);
            into[link.to].push(number);
        }
        let mut scope: Vec<Option<usize>> =
            nodes.iter().map(|node| index_of(node.get("scope_entry")).filter(|entry| *entry < nodes.len())).collect();
        if nodes.iter().all(|node| node.get("scope_entry").is_none())
            && let Some(scopes) = state.get("scope_dict").and_then(Value::as_object)
        {
            for (entry, inside) in scopes {
                for node in list_of(Some(inside)).iter().filter_map(|node| index_of(Some(node))) {
                    if let Some(scope) = scope.get_mut(node) {
                        *scope = entry.parse().ok().filter(|entry: &usize| *entry < nodes.len());
                    }
                }
            }
        }
        let mut inside: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        scope.iter().enumerate().for_each(|(node, scope)| inside.entry(*scope).or_default().push(node));
        Ok(Self { name, nodes, links, into, out, scope, inside })
    }

    fn is_exit(&self, node: usize) -> bool {
        kind(&self.nodes[node]).ends_with("Exit")
    }

    /// Nodes of a scope in topological order; of those that are free at the same time the first in the file.
    fn ordered(&self, scope: Option<usize>, lower: &Lower<'_>) -> Result<Vec<usize>, NestError> {
        let inside = self.inside.get(&scope).map_or(&[][..], Vec::as_slice);
        let inside: Vec<usize> = inside.iter().copied().filter(|node| !self.is_exit(*node)).collect();
        // A map stands for all that is in it.
        let stands = |node: usize| if self.is_exit(node) { self.scope[node] } else { Some(node) };
        let place: BTreeMap<usize, usize> = inside.iter().enumerate().map(|(at, node)| (*node, at)).collect();
        let mut waits = vec![0usize; inside.len()];
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); inside.len()];
        for link in &self.links {
            let ends = stands(link.from).zip(stands(link.to));
            let Some((from, to)) = ends.and_then(|(a, b)| Some((*place.get(&a)?, *place.get(&b)?))) else { continue };
            if from != to {
                after[from].push(to);
                waits[to] += 1;
            }
        }
        let mut free: BTreeSet<usize> = (0..inside.len()).filter(|at| waits[*at] == 0).collect();
        let mut order = Vec::with_capacity(inside.len());
        while let Some(at) = free.pop_first() {
            order.push(inside[at]);
            for next in &after[at] {
                waits[*next] -= 1;
                if waits[*next] == 0 {
                    free.insert(*next);
                }
            }
        }
        if order.len() < inside.len() {
            let stuck = inside.iter().zip(&waits).find(|(_, waits)| **waits > 0).map_or(0, |(node, _)| *node);
            let found = format!("a cycle of edges through `{}`", short(label(&self.nodes[stuck])));
            return Err(lower.wrong(&self.name, found, "a state without cycles"));
        }
        Ok(order)
    }

    /// As messages name a node.
    pub(super) fn place(&self, node: usize) -> String {
        let what = match kind(&self.nodes[node]) {
            "Tasklet" => "tasklet",
            "AccessNode" => "copy of",
            "MapEntry" => "map",
            "NestedSDFG" => "nested graph",
            _ => "node",
        };
        format!("{}, {what} `{}`", self.name, short(label(&self.nodes[node])))
    }
}

impl Lower<'_> {
    /// All of a state.
    pub(super) fn state(&mut self, state: &Value, frame: &Frame<'_>) -> Result<Vec<Node>, NestError> {
        let state = State::of(state, self)?;
        self.scope(&state, None, frame)
    }

    fn scope(&mut self, state: &State<'_>, scope: Option<usize>, frame: &Frame<'_>) -> Result<Vec<Node>, NestError> {
        self.deeper(&state.name)?;
        let order = state.ordered(scope, self)?;
        let mut frame = frame.clone();
        self.bind_views(state, &order, &mut frame)?;
        let mut out = Vec::new();
        for node in order {
            let made = self.node(state, node, &frame);
            match made {
                Ok(nodes) => out.extend(nodes),
                Err(Trouble::Wrong(error)) => return Err(error),
                Err(Trouble::Skip(Skip(why))) => self.gap(why),
            }
        }
        self.depth -= 1;
        Ok(out)
    }

    fn node(&mut self, state: &State<'_>, node: usize, frame: &Frame<'_>) -> Result<Vec<Node>, Trouble> {
        let value = &state.nodes[node];
        match kind(value) {
            "AccessNode" => self.copies(state, node, frame),
            "Tasklet" => self.tasklet(state, node, frame),
            "MapEntry" => self.map(state, node, frame),
            "NestedSDFG" => self.nested(state, node, frame),
            "LibraryNode" => Err(Skip(format!(
                "{}, {}: a library node; expand it in DaCe: sdfg.expand_library_nodes()",
                self.name,
                state.place(node)
            ))
            .into()),
            "ConsumeEntry" => Err(Skip(format!(
                "{}, {}: a consume scope, which ends when a stream is empty; record the program instead",
                self.name,
                state.place(node)
            ))
            .into()),
            other => Err(Skip(format!(
                "{}, {}: a `{}`, which is not known here",
                self.name,
                state.place(node),
                short(other)
            ))
            .into()),
        }
    }

    /// A new statement for a node.
    pub(super) fn node_statement(&mut self, state: &State<'_>, node: usize) -> usize {
        let value = &state.nodes[node];
        let info = attribute(value, "debuginfo");
        let code = text_of(attribute(value, "code"));
        let part = |name: &str| info.and_then(|info| info.get(name));
        let line = part("start_line").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
        let file = text_of(part("filename")).to_owned();
        self.nest.statements.push(Statement {
            name: format!("{}, {}", self.name, state.place(node)),
            line: if file.is_empty() { 0 } else { line },
            file,
            text: if code.is_empty() {
                label(value).to_owned()
            } else {
                code.lines().next().unwrap_or_default().to_owned()
            },
            operations: super::super::symbolic::operations(code),
            state: state.name.clone(),
        });
        self.nest.statements.len() - 1
    }

    fn tasklet(&mut self, state: &State<'_>, node: usize, frame: &Frame<'_>) -> Result<Vec<Node>, Trouble> {
        let statement = self.node_statement(state, node);
        let mut out = Vec::new();
        let place = state.place(node);
        let into = state.into[node].iter().map(|number| (*number, true));
        for (number, reads) in into.chain(state.out[node].iter().map(|number| (*number, false))) {
            let memlet = state.links[number].data;
            let name = text_of(attribute(memlet, "data"));
            if name.is_empty() {
                continue;
            }
            let wcr = attribute(memlet, "wcr").is_some();
            let kind = match (reads, wcr) {
                (true, _) => Kind::Read,
                (false, true) => Kind::Modify,
                (false, false) => Kind::Write,
            };
            let Some(data) = frame.data.get(name) else {
                return Err(self
                    .wrong(&place, format!("a memlet of `{}`", short(name)), "a container of the graph")
                    .into());
            };
            let data = data.clone();
            if data.transient && data.is_scalar && flag(memlet, "dynamic") {
                // Of a register nobody counts.
                continue;
            }
            out.extend(self.touches(
                memlet,
                &data,
                (kind, statement),
                frame,
                &format!("{place}, memlet `{}`", short(name)),
            )?);
        }
        Ok(out)
    }

    /// All elements of a memlet, in rows.
    fn touches(
        &mut self,
        memlet: &Value,
        data: &Data,
        (kind, statement): (Kind, usize),
        frame: &Frame<'_>,
        place: &str,
    ) -> Result<Vec<Node>, Trouble> {
        if let Some(why) = &data.refused {
            return Err(Skip(why.clone()).into());
        }
        if flag(memlet, "dynamic") {
            return Err(Skip(format!(
                "{}, {place}: a dynamic memlet, of which nobody knows before it runs what it touches; give it an exact subset and \
                 volume in DaCe, or record the program",
                self.name
            ))
            .into());
        }
        let ranges = match attribute(memlet, "subset") {
            Some(subset) => self.ranges(subset, frame, place)?,
            None => whole(data),
        };
        if ranges.len() != data.shape.len() {
            let found = format!("{} ranges for {} dimensions", ranges.len(), data.shape.len());
            return Err(self.wrong(place, found, "one for each dimension").into());
        }
        let volume = attribute(memlet, "volume").or_else(|| attribute(memlet, "num_accesses"));
        let volume = volume.map(|volume| self.expr(volume, frame, place)).transpose()?;
        let extent = |range: &Range| range.fixed().or_else(|| self.known(&range.extent()));
        let count = ranges.iter().map(extent).try_fold(1i64, |n, extent| n.checked_mul(extent?));
        if let Some((volume, count)) = volume.and_then(|volume| self.known(&volume)).zip(count)
            && (1..count).contains(&volume)
            && self.missing.is_empty()
        {
            return Err(Skip(format!(
                "{}, {place}: {volume} of {count} elements, and which is known at run time only; record the program instead",
                self.name
            ))
            .into());
        }
        let (indices, loops) = self.indices(&ranges);
        let access = Node::Access(element(data, kind, statement, &indices));
        Ok(vec![within(loops, vec![access])])
    }

    /// Indices of the elements of ranges, and the loops that go through them, the outermost first.
    pub(super) fn indices(&mut self, ranges: &[Range]) -> (Vec<Expr>, Vec<(usize, Expr)>) {
        let mut loops = Vec::new();
        let mut indices = Vec::new();
        for range in ranges {
            if range.is_single() {
                indices.push(range.start.clone());
                continue;
            }
            let slot = self.slot("element");
            loops.push((slot, range.extent()));
            indices.push(range.start.clone().plus(Expr::slot(slot).times(range.step.clone())));
        }
        (indices, loops)
    }

    fn map(&mut self, state: &State<'_>, node: usize, frame: &Frame<'_>) -> Result<Vec<Node>, Trouble> {
        let value = &state.nodes[node];
        let place = state.place(node);
        let mut inner = frame.clone();
        // What bounds a map may come by an edge.
        for link in state.into[node].iter().map(|number| &state.links[*number]) {
            let connector = link.to_connector;
            if connector.is_empty() || connector.starts_with("IN_") {
                continue;
            }
            let source = text_of(attribute(link.data, "data")).to_owned();
            let data = frame.data.get(&source).filter(|data| data.is_scalar && !data.transient);
            let Some(data) = data.cloned() else {
                return Err(super::reads_data(&format!("{}, {place}", self.name), connector, &source).into());
            };
            self.asked.insert(data.source.clone());
            let set = self.settings.get(&data.source);
            let value = set.or_else(|| {
                let set = self.settings.get(connector)?;
                self.asked.insert(connector.to_owned());
                Some(set)
            });
            if value.is_none() {
                self.missing.insert(data.source.clone());
            }
            let value = self.valued(&data.source, value.unwrap_or(1));
            inner.names.insert(connector.to_owned(), value);
        }
        let params: Vec<&str> = list_of(attribute(value, "params")).iter().filter_map(Value::as_str).collect();
        let Some(range) = attribute(value, "range") else {
            return Err(self.wrong(&place, "no range", "one for each parameter").into());
        };
        let ranges = list_of(range.get("ranges"));
        if ranges.len() != params.len() || params.is_empty() {
            let found = format!("{} ranges for {} parameters", ranges.len(), params.len());
            return Err(self.wrong(&place, found, "one for each").into());
        }
        let mut loops = Vec::new();
        for (param, range) in params.iter().zip(ranges) {
            let one = serde_json::json!({ "ranges": [range] });
            let Range { start, end, step } = self
                .ranges(&one, &inner, &place)?
                .pop()
                .ok_or_else(|| self.wrong(&place, "no range", "one for each parameter"))?;
            let past = if self.known(&step).is_some_and(|step| step < 0) { -1 } else { 1 };
            let slot = self.slot(param);
            inner.names.insert((*param).to_owned(), Expr::slot(slot));
            loops.push((slot, [start, end.plus(Expr::num(past)), step]));
        }
        let mut body = self.scope(state, Some(node), &inner)?;
        while let Some((slot, bounds)) = loops.pop() {
            body = vec![Node::Loop(Box::new(Loop::new(slot, bounds, body)))];
        }
        Ok(body)
    }
}

/// Ranges of all elements.
fn whole(data: &Data) -> Vec<Range> {
    let range = |extent: &Expr| Range {
        start: Expr::num(0),
        end: super::data::folded(extent.clone().with(Expr::num(1), Op::Sub)),
        step: Expr::num(1),
    };
    data.shape.iter().map(range).collect()
}

/// The access of one element.
pub(super) fn element(data: &Data, kind: Kind, statement: usize, indices: &[Expr]) -> Access {
    let checks = indices.iter().zip(&data.shape).zip(&data.offset).enumerate();
    let checks = checks.map(|(dimension, ((index, extent), shift))| Check {
        index: Form::of(index.clone().plus(shift.clone())),
        extent: Form::of(extent.clone()),
        dimension,
    });
    Access::new(data.container, kind, statement, data.place(indices), checks.collect())
}

/// Nodes within loops over numbers from 0.
pub(super) fn within(mut loops: Vec<(usize, Expr)>, mut body: Vec<Node>) -> Node {
    while let Some((slot, extent)) = loops.pop() {
        let bounds = [Expr::num(0), super::data::folded(extent), Expr::num(1)];
        body = vec![Node::Loop(Box::new(Loop::new(slot, bounds, body).hidden()))];
    }
    match body.pop() {
        Some(node) if body.is_empty() => node,
        last => {
            body.extend(last);
            let always = super::super::tree::Branch {
                condition: Form::num(1),
                yes: super::super::tree::Block::of(body),
                no: super::super::tree::Block::default(),
            };
            Node::If(Box::new(always))
        }
    }
}
