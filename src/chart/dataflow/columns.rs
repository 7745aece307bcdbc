//! A deep graph in several columns beside each other, where it would be too low to be read in one. What leads from one column to a later
//! one is cut at a container, which stands in both.

use crate::analysis::{GraphNode, NestGraph, NodeKind};
use crate::chart::layered::{Laid, Layered, laid};
use std::collections::BTreeMap;

/// Units between columns.
const GAP: f64 = 60.0;
/// What is said of a container that stands in a later column again, and where it stands for the first time.
const AGAIN: &str = "from before";
const ON: &str = "goes on";

/// A graph that stands in columns.
pub(super) struct Columned {
    /// With containers that stand twice; its edges are those that it had.
    pub(super) graph: NestGraph,
    pub(super) laid: Laid,
    /// Where one column ends and the next begins, across the flow.
    pub(super) rules: Vec<f64>,
}

/// The graph in one column.
pub(super) fn whole(graph: &NestGraph, width: &dyn Fn(&GraphNode) -> f64) -> Columned {
    let nodes: Vec<usize> = (0..graph.nodes.len()).collect();
    let edges: Vec<(usize, usize)> = graph.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let laid = laid(&Layered { widths: nodes.iter().map(|node| width(&graph.nodes[*node])).collect(), edges });
    Columned { graph: graph.clone(), laid, rules: Vec::new() }
}

/// The graph of [`whole`] in `count` columns.
pub(super) fn columned(one: &Columned, width: &dyn Fn(&GraphNode) -> f64, count: usize) -> Columned {
    let layers: Vec<usize> = one.laid.nodes.iter().map(|(layer, _)| *layer).collect();
    let cuts = cuts(&one.graph, &layers, one.laid.layers, count);
    let mut column: Vec<usize> = layers.iter().map(|layer| cuts.partition_point(|cut| cut <= layer)).collect();
    let mut graph = one.graph.clone();
    let mut again: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for number in 0..graph.edges.len() {
        let (from, to) = (graph.edges[number].from, graph.edges[number].to);
        let (Some(&start), Some(&end)) = (column.get(from), column.get(to)) else { continue };
        if start == end {
            continue;
        }
        // What is written goes on there; all else comes again here.
        let is_written = graph.nodes[to].kind == NodeKind::Container;
        let (node, place, detail) = if is_written { (to, start, ON) } else { (from, end, AGAIN) };
        let twin = *again.entry((node, place)).or_insert_with(|| {
            let mut twin = graph.nodes[node].clone();
            detail.clone_into(&mut twin.detail);
            graph.nodes.push(twin);
            column.push(place);
            graph.nodes.len() - 1
        });
        let edge = &mut graph.edges[number];
        if is_written {
            edge.to = twin;
        } else {
            edge.from = twin;
        }
    }
    let (laid, rules) = side_by_side(&graph, &column, cuts.len() + 1, width);
    Columned { graph, laid, rules }
}

/// Layers at which columns begin but the first: about even, and where few edges pass.
fn cuts(graph: &NestGraph, layers: &[usize], depth: usize, count: usize) -> Vec<usize> {
    // What passes from before a layer into it or beyond: a container once, however many read it there.
    let mut passing = vec![0i64; depth + 2];
    let mut passes = |from: usize, to: usize, weight: i64| {
        passing[from.min(to) + 1] += weight;
        passing[from.max(to) + 1] -= weight;
    };
    let mut last_read: BTreeMap<usize, usize> = BTreeMap::new();
    for edge in &graph.edges {
        let (Some(&from), Some(&to)) = (layers.get(edge.from), layers.get(edge.to)) else { continue };
        let is_container = |node: usize| graph.nodes[node].kind == NodeKind::Container;
        if is_container(edge.from) {
            let last = last_read.entry(edge.from).or_default();
            *last = to.max(*last);
        } else {
            // Loops stay with their tasks.
            passes(from, to, if is_container(edge.to) { 1 } else { 1000 });
        }
    }
    last_read.into_iter().for_each(|(node, last)| passes(layers[node], last, 1));
    for at in 1..passing.len() {
        passing[at] += passing[at - 1];
    }
    let slack = depth / (4 * count).max(1);
    let mut cuts: Vec<usize> = (1..count)
        .filter_map(|k| {
            let target = depth * k / count;
            let near = target.saturating_sub(slack).max(1)..=(target + slack).min(depth.saturating_sub(1));
            near.min_by_key(|at| (passing[*at], at.abs_diff(target)))
        })
        .collect();
    cuts.dedup();
    cuts
}

fn side_by_side(
    graph: &NestGraph,
    column: &[usize],
    count: usize,
    width: &dyn Fn(&GraphNode) -> f64,
) -> (Laid, Vec<f64>) {
    let mut all = Laid {
        nodes: vec![(0, 0.0); graph.nodes.len()],
        edges: vec![Vec::new(); graph.edges.len()],
        layers: 0,
        width: 0.0,
    };
    let mut rules = Vec::new();
    for number in 0..count {
        let nodes: Vec<usize> = (0..graph.nodes.len()).filter(|node| column[*node] == number).collect();
        let place: BTreeMap<usize, usize> = nodes.iter().enumerate().map(|(at, node)| (*node, at)).collect();
        let within: Vec<(usize, (usize, usize))> = graph
            .edges
            .iter()
            .enumerate()
            .filter_map(|(edge, of)| Some((edge, (*place.get(&of.from)?, *place.get(&of.to)?))))
            .collect();
        let widths = nodes.iter().map(|node| width(&graph.nodes[*node])).collect();
        let part = laid(&Layered { widths, edges: within.iter().map(|(_, ends)| *ends).collect() });
        if number > 0 {
            rules.push(all.width + GAP / 2.0);
            all.width += GAP;
        }
        let moved = |(layer, across): (usize, f64)| (layer, across + all.width);
        for (node, spot) in nodes.iter().zip(part.nodes) {
            all.nodes[*node] = moved(spot);
        }
        for ((edge, _), path) in within.iter().zip(part.edges) {
            all.edges[*edge] = path.into_iter().map(moved).collect();
        }
        all.layers = all.layers.max(part.layers);
        all.width += part.width;
    }
    (all, rules)
}

#[cfg(test)]
mod tests {
    use super::{AGAIN, ON, columned, whole};
    use crate::analysis::{Fold, Folding, NodeKind, nest_graph};
    use crate::nest::{Settings, loops};
    use std::fmt::Write as _;

    #[test]
    fn a_deep_graph_stands_in_columns_and_no_edge_is_lost() {
        let mut text = String::from("param N = 4\narray A0[N] of f64\n");
        for n in 0..20 {
            let next = n + 1;
            let _ = write!(
                text,
                "array A{next}[N] of f64\nfor i{n} in 0..N {{ A{next}[i{n}] += A{n}[i{n}] * A0[i{n}] }}\n"
            );
        }
        let volumes = loops::Source::parse("t.loops", &text).unwrap().volumes(&Settings::default()).unwrap();
        let graph = nest_graph(&volumes, &Folding::all(Fold::Tasks), 60);
        let width = |_: &crate::analysis::GraphNode| 60.0;
        let one = whole(&graph, &width);
        for count in [2, 3, 5] {
            let found = columned(&one, &width, count);
            assert_eq!(found.rules.len(), count - 1);
            assert!(found.laid.layers * count < one.laid.layers + 6 * count, "{} layers", found.laid.layers);
            assert_eq!(found.graph.edges.len(), graph.edges.len());
            for ((edge, path), before) in found.graph.edges.iter().zip(&found.laid.edges).zip(&graph.edges) {
                let name = |node: usize| found.graph.nodes[node].name.as_str();
                assert_eq!(
                    (name(edge.from), name(edge.to)),
                    (graph.nodes[before.from].name.as_str(), graph.nodes[before.to].name.as_str())
                );
                // It ends where its boxes are, in one column.
                assert_eq!(path.first(), Some(&found.laid.nodes[edge.from]));
                assert_eq!(path.last(), Some(&found.laid.nodes[edge.to]));
                let side = |node: usize| found.rules.partition_point(|rule| *rule < found.laid.nodes[node].1);
                assert_eq!(side(edge.from), side(edge.to));
            }
            let twins = &found.graph.nodes[graph.nodes.len()..];
            assert!(twins.iter().all(|node| node.kind == NodeKind::Container), "cut at containers");
            // What all read comes again in each later column.
            assert_eq!(twins.iter().filter(|node| node.name == "A0" && node.detail == AGAIN).count(), count - 1);
            assert!(twins.iter().all(|node| [AGAIN, ON].contains(&node.detail.as_str())));
        }
    }
}
