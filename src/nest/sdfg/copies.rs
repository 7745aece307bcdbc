//! Copies between containers, views, and nested graphs: where one container is a part of another.

use super::super::expr::{Expr, Op};
use super::super::fault::NestError;
use super::super::form::Form;
use super::super::lexer::short;
use super::super::tree::Node;
use super::data::{Data, Frame, Range, folded};
use super::json::{Link, attribute, flag, kind, text_of};
use super::state::{State, element, within};
use super::{Lower, Skip, Trouble};
use crate::reference::Kind;
use serde_json::Value;
use std::collections::BTreeMap;

impl Lower<'_> {
    /// Copies that start at a container, and those that bring it something through a map.
    pub(super) fn copies(&mut self, state: &State<'_>, node: usize, frame: &Frame<'_>) -> Result<Vec<Node>, Trouble> {
        let here = text_of(attribute(&state.nodes[node], "data"));
        let mut out = Vec::new();
        for number in &state.into[node] {
            let link = &state.links[*number];
            if kind(&state.nodes[link.from]).ends_with("Entry")
                && let Some(from) = far_end(state, *number, true)
            {
                out.extend(self.copy(state, node, link, [from, here], frame)?);
            }
        }
        for number in &state.out[node] {
            let link = &state.links[*number];
            let to = match kind(&state.nodes[link.to]) {
                "AccessNode" if link.from_connector == "views" || link.to_connector == "views" => continue,
                "AccessNode" => Some(text_of(attribute(&state.nodes[link.to], "data"))),
                other if other.ends_with("Exit") => far_end(state, *number, false),
                _ => None,
            };
            if let Some(to) = to {
                out.extend(self.copy(state, node, link, [here, to], frame)?);
            }
        }
        Ok(out)
    }

    fn copy(
        &mut self,
        state: &State<'_>,
        node: usize,
        link: &Link<'_>,
        names: [&str; 2],
        frame: &Frame<'_>,
    ) -> Result<Option<Node>, Trouble> {
        let memlet = link.data;
        let named = text_of(attribute(memlet, "data"));
        if named.is_empty() {
            return Ok(None);
        }
        let place = format!("{} to `{}`", state.place(node), short(names[1]));
        let mut both = Vec::new();
        for name in names {
            let Some(data) = frame.data.get(name) else {
                return Err(self
                    .wrong(&place, format!("a copy of `{}`", short(name)), "a container of the graph")
                    .into());
            };
            if let Some(why) = &data.refused {
                return Err(Skip(why.clone()).into());
            }
            both.push(data.clone());
        }
        if flag(memlet, "dynamic") {
            let words =
                "a dynamic copy, of which nobody knows before it runs what it touches; give it an exact subset in DaCe";
            return Err(Skip(format!("{}, {place}: {words}", self.name)).into());
        }
        // Of two of one name, the flag says which.
        let of_source = if names[0] == names[1] {
            attribute(memlet, "is_data_src").and_then(Value::as_bool).unwrap_or(true)
        } else {
            named == names[0]
        };
        let mut subset = |name: &str| match attribute(memlet, name) {
            Some(subset) => self.ranges(subset, frame, &place).map(Some),
            None => Ok(None),
        };
        let (mine, other) = (subset("subset")?, subset("other_subset")?);
        let (from, to) = if of_source { (mine, other) } else { (other, mine) };
        let (from, to) = match (from, to) {
            (Some(from), Some(to)) => (from, to),
            (Some(from), None) => {
                let to = alike(&from, &both[1]);
                (from, to.unwrap_or_default())
            }
            (None, Some(to)) => {
                let from = alike(&to, &both[0]);
                (from.unwrap_or_default(), to)
            }
            (None, None) => {
                let all = |data: &Data| alike(&ranges_of(&data.shape), data).unwrap_or_default();
                (all(&both[0]), all(&both[1]))
            }
        };
        let wide = |ranges: &[Range]| ranges.iter().filter(|range| !range.is_single()).count();
        let same = wide(&from) == wide(&to)
            && from.len() == both[0].shape.len()
            && to.len() == both[1].shape.len()
            && from.iter().filter(|r| !r.is_single()).zip(to.iter().filter(|r| !r.is_single())).all(|(a, b)| {
                match (a.fixed(), b.fixed()) {
                    (Some(a), Some(b)) => a == b,
                    _ => true,
                }
            });
        if !same {
            return Err(Skip(format!(
                "{}, {place}: a copy between subsets of different shapes; write it as a map in DaCe",
                self.name
            ))
            .into());
        }
        let statement = self.node_statement(state, node);
        let (reads, loops) = self.indices(&from);
        let mut slots = loops.iter().map(|(slot, _)| *slot);
        let writes: Vec<Expr> = to
            .iter()
            .map(|range| {
                let slot = if range.is_single() { None } else { slots.next() };
                let step = |slot: usize| Expr::slot(slot).times(range.step.clone());
                slot.map_or_else(|| range.start.clone(), |slot| range.start.clone().plus(step(slot)))
            })
            .collect();
        let write = if attribute(memlet, "wcr").is_some() { Kind::Modify } else { Kind::Write };
        let body = vec![
            Node::Access(element(&both[0], Kind::Read, statement, &reads)),
            Node::Access(element(&both[1], write, statement, &writes)),
        ];
        Ok(Some(within(loops, body)))
    }

    /// Says of each view in a scope which container it is a part of.
    pub(super) fn bind_views(
        &mut self,
        state: &State<'_>,
        order: &[usize],
        frame: &mut Frame<'_>,
    ) -> Result<(), NestError> {
        // A view of a view waits until that is bound.
        for _ in 0..8 {
            let mut waits = false;
            for node in order {
                let value = &state.nodes[*node];
                let name = text_of(attribute(value, "data"));
                let descs = attribute(frame.sdfg, "_arrays");
                let Some(desc) = descs.and_then(|descs| descs.get(name)).filter(|desc| kind(desc).ends_with("View"))
                else {
                    continue;
                };
                if kind(value) != "AccessNode" {
                    continue;
                }
                let links = || state.into[*node].iter().chain(&state.out[*node]).map(|number| &state.links[*number]);
                let is_container = |other: usize| kind(&state.nodes[other]) == "AccessNode";
                let marked = links().find(|l| {
                    (l.to == *node && l.to_connector == "views") || (l.from == *node && l.from_connector == "views")
                });
                let only = || {
                    links()
                        .find(|l| l.to == *node && is_container(l.from))
                        .or_else(|| links().find(|l| l.from == *node && is_container(l.to)))
                };
                let Some(link) = marked.or_else(only) else { continue };
                let other = if link.to == *node { link.from } else { link.to };
                let viewed = text_of(attribute(&state.nodes[other], "data")).to_owned();
                match frame.data.get(&viewed).cloned() {
                    Some(data) if data.refused.is_none() => {
                        let mine = text_of(attribute(link.data, "data")) == viewed;
                        let subset = attribute(link.data, if mine { "subset" } else { "other_subset" });
                        match self.part(&data, subset, desc, frame, &format!("view `{}`", short(name))) {
                            Ok(part) => drop(frame.data.insert(name.to_owned(), part)),
                            Err(Trouble::Wrong(error)) => return Err(error),
                            Err(Trouble::Skip(Skip(why))) => {
                                if let Some(data) = frame.data.get_mut(name) {
                                    data.refused = Some(why);
                                }
                            }
                        }
                    }
                    _ => waits = true,
                }
            }
            if !waits {
                break;
            }
        }
        Ok(())
    }

    /// A container that is a part of another, by the subset of that one where it starts.
    fn part(
        &mut self,
        of: &Data,
        subset: Option<&Value>,
        desc: &Value,
        frame: &Frame<'_>,
        place: &str,
    ) -> Result<Data, Trouble> {
        let start = match subset {
            Some(subset) => self.ranges(subset, frame, place)?.into_iter().map(|range| range.start).collect(),
            None => vec![Expr::num(0); of.shape.len()],
        };
        self.part_at(of, &start, desc, frame, place)
    }

    fn part_at(
        &mut self,
        of: &Data,
        start: &[Expr],
        desc: &Value,
        inner: &Frame<'_>,
        place: &str,
    ) -> Result<Data, Trouble> {
        let size = super::json::element(attribute(desc, "dtype")).map(|(bytes, _)| bytes);
        if size != Some(of.elem_bytes) {
            let words = "elements of another size than the container that it is a part of; use one type in both";
            return Err(Skip(format!("{}, {place}: {words}", self.name)).into());
        }
        if start.len() != of.shape.len() {
            let found = format!("{} ranges for {} dimensions", start.len(), of.shape.len());
            return Err(self.wrong(place, found, "one for each dimension").into());
        }
        let [shape, strides, offset] = self.layout(desc, inner, place)?;
        let mut base = of.place(start);
        if let Some(shift) = attribute(desc, "start_offset") {
            base = base.plus(self.expr(shift, inner, place)?);
        }
        let is_scalar = kind(desc) == "Scalar";
        let whole = of.whole && of.is_scalar;
        let (container, source, transient) = (of.container, of.source.clone(), of.transient);
        Ok(Data {
            container,
            base,
            shape,
            strides,
            offset,
            is_scalar,
            transient,
            whole,
            source,
            elem_bytes: of.elem_bytes,
            refused: None,
        })
    }

    /// A graph within a graph: its containers are parts of those outside, its symbols have values from there.
    pub(super) fn nested(&mut self, state: &State<'_>, node: usize, frame: &Frame<'_>) -> Result<Vec<Node>, Trouble> {
        let value = &state.nodes[node];
        let place = state.place(node);
        let Some(sdfg) = attribute(value, "sdfg").filter(|sdfg| sdfg.is_object()) else {
            return Err(self.wrong(&place, "a nested graph that is not in the file", "one that is").into());
        };
        self.deeper(&place)?;
        let mut inner = Frame::root(sdfg);
        let mut sets = Vec::new();
        let assigned = super::flow::assigned(sdfg);
        let mapping: BTreeMap<&String, &Value> =
            attribute(value, "symbol_mapping").and_then(Value::as_object).into_iter().flatten().collect();
        for (name, outer) in mapping {
            let meaning = self.expr(outer, frame, &format!("{place}, symbol `{}`", short(name)))?;
            if assigned.contains(name.as_str()) {
                let slot = self.slot(name);
                sets.push(Node::Set { slot, value: Form::of(meaning) });
                inner.names.insert(name.clone(), Expr::slot(slot));
            } else {
                inner.names.insert(name.clone(), meaning);
            }
        }
        let descs = attribute(sdfg, "_arrays");
        let links = state.into[node].iter().map(|n| (&state.links[*n], true));
        let links: Vec<(&Link<'_>, bool)> =
            links.chain(state.out[node].iter().map(|n| (&state.links[*n], false))).collect();
        for (link, is_in) in links {
            let connector = if is_in { link.to_connector } else { link.from_connector };
            let outer = text_of(attribute(link.data, "data"));
            let Some(desc) = descs.and_then(|descs| descs.get(connector)) else { continue };
            if outer.is_empty() || inner.data.contains_key(connector) {
                continue;
            }
            let place = format!("{place}, connector `{}`", short(connector));
            let Some(data) = frame.data.get(outer).cloned() else {
                return Err(self
                    .wrong(&place, format!("a memlet of `{}`", short(outer)), "a container of the graph")
                    .into());
            };
            if let Some(why) = &data.refused {
                return Err(Skip(why.clone()).into());
            }
            let start: Vec<Expr> = match attribute(link.data, "subset") {
                Some(subset) => self.ranges(subset, frame, &place)?.into_iter().map(|range| range.start).collect(),
                None => vec![Expr::num(0); data.shape.len()],
            };
            let part = self.part_at(&data, &start, desc, &inner, &place)?;
            inner.data.insert(connector.to_owned(), part);
        }
        self.containers(&mut inner, false)?;
        let nodes = self.graph(sdfg, &mut inner)?;
        self.depth -= 1;
        sets.extend(nodes);
        Ok(sets)
    }
}

/// The container at the far end of an edge that goes through maps.
fn far_end<'g>(state: &State<'g>, first: usize, back: bool) -> Option<&'g str> {
    let mut number = first;
    for _ in 0..state.nodes.len() {
        let link = &state.links[number];
        let (node, connector, from, to) = if back {
            (link.from, link.from_connector, "OUT_", "IN_")
        } else {
            (link.to, link.to_connector, "IN_", "OUT_")
        };
        let value = &state.nodes[node];
        if kind(value) == "AccessNode" {
            return Some(text_of(attribute(value, "data")));
        }
        let wanted = format!("{to}{}", connector.strip_prefix(from)?);
        let edges = if back { &state.into[node] } else { &state.out[node] };
        number = *edges.iter().find(|n| {
            let link = &state.links[**n];
            (if back { link.to_connector } else { link.from_connector }) == wanted
        })?;
    }
    None
}

fn ranges_of(shape: &[Expr]) -> Vec<Range> {
    let end = |extent: &Expr| folded(extent.clone().with(Expr::num(1), Op::Sub));
    shape.iter().map(|extent| Range { start: Expr::num(0), end: end(extent), step: Expr::num(1) }).collect()
}

/// As many elements of another container, from its first on.
fn alike(ranges: &[Range], other: &Data) -> Option<Vec<Range>> {
    let from_zero = |range: &Range| Range {
        start: Expr::num(0),
        end: folded(range.extent().with(Expr::num(1), Op::Sub)),
        step: Expr::num(1),
    };
    if ranges.len() == other.shape.len() {
        return Some(ranges.iter().map(from_zero).collect());
    }
    let wide: Vec<Range> = ranges.iter().filter(|range| !range.is_single()).map(from_zero).collect();
    if wide.len() == other.shape.len() {
        return Some(wide);
    }
    let zero = || Range { start: Expr::num(0), end: Expr::num(0), step: Expr::num(1) };
    wide.is_empty().then(|| other.shape.iter().map(|_| zero()).collect())
}
