//! A graph with everything in its place: what is worked out once, for a room, a measure and what is folded.

use super::outline::{Row, rows};
use crate::analysis::{Fold, Folding, GraphNode, GraphPart, HeatScale, NestGraph, NodeKind, in_words, nest_graph};
use crate::chart::{DrawnGraph, Look, NodeHeat, dataflow_bare, is_legible_bare, is_roomy_bare};
use crate::nest::Volumes;
use crate::overlay::chart_plane::Place;
use crate::overlay::info::Info;
use crate::overlay::pen::Target;
use crate::overlay::studio::Studio;
use crate::overlay::tip::Tip;
use crate::scene::palette::Theme;
use egui::{Pos2, Rect, Vec2};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

/// Pixels of a unit of the chart, where type is not scaled and the graph has no room to spare.
const UNIT: f32 = 1.3;
/// How many times as large it is where there is room: of the whole graph, and closer up.
const GROWN: [f32; 2] = [1.5, 2.0];
/// Boxes of loops and states, at most: of the whole graph, and closer up.
const MOST: [f32; 2] = [60.0, 600.0];
/// The least room, units.
const LEAST: [f64; 2] = [120.0, 80.0];
/// Pixels from an arrow at which it is pointed at.
const REACH: f32 = 6.0;

/// What a graph is laid out for.
pub(super) struct GraphRequest<'a> {
    /// Pixels in which it is seen.
    pub(super) size: Vec2,
    /// How often as much room it has.
    pub(super) zoom: f32,
    pub(super) type_scale: f32,
    pub(super) heat: NodeHeat,
    pub(super) scale: HeatScale,
    pub(super) parts: &'a BTreeMap<GraphPart, bool>,
}

/// See the module.
pub(super) struct LaidGraph {
    pub(super) volumes: Arc<Volumes>,
    pub(super) drawn: DrawnGraph,
    pub(super) folding: Folding,
    /// Of the outline beside it.
    pub(super) rows: Vec<Row>,
    /// Pixels of a unit.
    pub(super) unit: f32,
    of: (Vec2, f32, f32, NodeHeat, HeatScale, BTreeMap<GraphPart, bool>),
    /// The first access of each statement that is asked about.
    firsts: BTreeMap<usize, Option<u64>>,
}

impl LaidGraph {
    /// Lays it out: the finest that can be read, but for parts that somebody opened or closed.
    pub(super) fn new(studio: &Studio, volumes: Arc<Volumes>, wanted: &GraphRequest<'_>) -> Self {
        let unit = UNIT * wanted.type_scale;
        let look = |grown: f32| {
            let side = |pixels: f32, least: f64| f64::from(pixels * wanted.zoom / (unit * grown)).max(least);
            Look { theme: Theme::Dark, size: [side(wanted.size.x, LEAST[0]), side(wanted.size.y, LEAST[1])] }
        };
        let most = crate::units::to_count((MOST[0] * wanted.zoom * wanted.zoom).min(MOST[1]));
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let made = |base: Fold, most: usize| {
            let folding = Folding { base, parts: wanted.parts.clone() };
            (nest_graph(&volumes, &folding, most), folding)
        };
        let is_read = |(graph, _): &(NestGraph, Folding)| is_legible_bare(graph, look(1.0));
        let finest = Fold::ALL.into_iter().map(|base| made(base, most));
        let mut whole = finest.filter(|(graph, _)| graph.left_out == 0);
        // Fewer parts that can be read are worth more than many that cannot.
        let (graph, folding) = whole.find(is_read).unwrap_or_else(|| {
            let fewer = (0..4).map(|halvings| made(Fold::States, (most >> halvings).max(8)));
            fewer.into_iter().find(is_read).unwrap_or_else(|| made(Fold::States, most))
        });
        let largest = (GROWN[0] * wanted.zoom).min(GROWN[1]);
        let steps = [2.0, 1.75, 1.5, 1.25].into_iter().filter(|grown| *grown <= largest);
        let grown = steps.into_iter().find(|grown| is_roomy_bare(&graph, look(*grown))).unwrap_or(1.0);
        let drawn = dataflow_bare(&graph, volumes.title(), wanted.scale, wanted.heat, look(grown));
        let walk = studio.walk();
        // Those of boxes, and of the outline that stands beside them.
        let asked: BTreeSet<usize> = graph.nodes.iter().filter_map(|node| node.statements.first().copied()).collect();
        let firsts = asked.into_iter().map(|n| (n, walk.and_then(|walk| walk.first_of(n)))).collect();
        let of = (wanted.size, wanted.zoom, wanted.type_scale, wanted.heat, wanted.scale, wanted.parts.clone());
        let rows = rows(&volumes, &folding);
        Self { volumes, drawn, folding, rows, unit: unit * grown, of, firsts }
    }

    /// Whether it is what is wanted.
    pub(super) fn is(&self, volumes: &Arc<Volumes>, wanted: &GraphRequest<'_>) -> bool {
        let (size, zoom, type_scale, heat, scale, parts) = &self.of;
        Arc::ptr_eq(&self.volumes, volumes)
            && (*size, *zoom, *type_scale) == (wanted.size, wanted.zoom, wanted.type_scale)
            && (*heat, *scale) == (wanted.heat, wanted.scale)
            && parts == wanted.parts
    }

    /// The boxes of what is done at the moment, and of the array that is touched, beside them.
    pub(super) fn lit(&self, studio: &Studio, info: &Info) -> Vec<bool> {
        let mut lit = vec![false; self.drawn.graph.nodes.len()];
        let Some(statement) = info.now.loops.as_ref().map(|at| at.number) else { return lit };
        for (node, lit) in self.drawn.graph.nodes.iter().zip(&mut lit) {
            *lit = node.statements.contains(&statement);
        }
        let touched = info.now.region.and_then(|region| studio.tables().regions.get(region));
        let is_touched = |node: usize| {
            let container = self.drawn.graph.nodes.get(node).and_then(|node| node.container);
            let name = container.and_then(|n| self.volumes.containers().get(n)).map(|container| &container.name);
            name.is_some() && name == touched.map(|region| &region.name)
        };
        let done = lit.clone();
        for edge in &self.drawn.graph.edges {
            for (end, other) in [(edge.from, edge.to), (edge.to, edge.from)] {
                lit[end] |= done[other] && is_touched(end);
            }
        }
        lit
    }

    /// The first access of what a box does; of an array, of what reads it, or wrote it, there.
    pub(super) fn first(&self, node: usize) -> Option<u64> {
        let of = |node: usize| {
            let statement = self.drawn.graph.nodes.get(node)?.statements.first()?;
            self.firsts.get(statement).copied().flatten()
        };
        of(node).or_else(|| {
            let beside = self.drawn.graph.edges.iter().filter_map(|edge| match (edge.from == node, edge.to == node) {
                (true, _) => Some(edge.to),
                (_, true) => Some(edge.from),
                _ => None,
            });
            beside.filter_map(of).min()
        })
    }

    /// The first access of a statement that is the first one of a box.
    pub(super) fn first_of(&self, statement: usize) -> Option<u64> {
        self.firsts.get(&statement).copied().flatten()
    }

    /// The box at a place.
    pub(super) fn node_at(&self, place: Place, at: Pos2) -> Option<usize> {
        self.drawn.boxes.iter().position(|sides| area(place, sides).contains(at))
    }

    /// What is said of the arrow at a place.
    pub(super) fn edge_at(&self, place: Place, at: Pos2) -> Option<&str> {
        let far = |path: &Vec<(f64, f64)>| {
            let points: Vec<Pos2> = path.iter().map(|at| place.at(*at)).collect();
            points.windows(2).map(|pair| from_segment(at, pair[0], pair[1])).fold(f32::INFINITY, f32::min)
        };
        let ways = self.drawn.paths.iter().map(far).zip(&self.drawn.said);
        let nearest = ways.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
        (nearest.0 <= REACH).then_some(nearest.1.as_str())
    }

    /// What is said of a box.
    pub(super) fn tip(&self, node: usize) -> Tip {
        let Some(of) = self.drawn.graph.nodes.get(node) else { return Tip::default() };
        let mut lines = Vec::new();
        let title = match of.kind {
            NodeKind::Container => {
                lines.push(of.detail.clone());
                of.name.clone()
            }
            NodeKind::Loops => {
                lines.push(format!("iterations {}", in_words(&of.executions, false)));
                format!("for {}", of.name)
            }
            NodeKind::Task => {
                lines.push(format!("executions {}", in_words(&of.executions, false)));
                of.name.clone()
            }
            NodeKind::State => of.name.clone(),
        };
        lines.push(format!("bytes {}", of.volume()));
        if of.kind != NodeKind::Container {
            lines.push(format!("operations {}", in_words(&of.operations, false)));
            let each = of.operations.per(&of.bytes).map(|each| format!(" = {each:.3}"));
            if let (Some(text), Some(each)) = (of.operations.per_text(&of.bytes), each) {
                lines.push(format!("operations a byte {text}{each}"));
            }
        }
        if !of.state.is_empty() && of.kind != NodeKind::State {
            lines.push(format!("in {}", of.state));
        }
        if of.source.1 > 0 {
            lines.push(format!("{}:{}", of.source.0, of.source.1));
        }
        let about = self.first(node).map(Target::Tick);
        lines.push(match about {
            Some(_) => "a click goes to its first access".into(),
            None => "it makes no access in the first iterations".into(),
        });
        Tip { title, lines, about, ..Tip::default() }
    }

    /// Boxes, then arrows, as comma-separated values.
    pub(super) fn csv(&self) -> String {
        let quoted = |words: &str| format!("\"{}\"", words.replace('"', "\"\""));
        let value = |amount: &crate::nest::Amount| amount.value.map_or_else(String::new, |value| value.to_string());
        let text = |amount: &crate::nest::Amount| quoted(amount.text.as_deref().unwrap_or_default());
        let kind = |node: &GraphNode| match node.kind {
            NodeKind::Container => "container",
            NodeKind::Loops => "loops",
            NodeKind::Task => "task",
            NodeKind::State => "state",
        };
        let mut out = String::from("kind,name,state,executions,operations,bytes,expression of bytes\n");
        for node in &self.drawn.graph.nodes {
            let numbers = [&node.executions, &node.operations, &node.bytes].map(value).join(",");
            let names = [&node.name, &node.state].map(|words| quoted(words)).join(",");
            let _ = writeln!(out, "{},{names},{numbers},{}", kind(node), text(&node.bytes));
        }
        out += "\nfrom,to,container,elements,bytes,expression of bytes\n";
        let name = |node: usize| quoted(self.drawn.graph.nodes.get(node).map_or("", |node| &node.name));
        for edge in &self.drawn.graph.edges {
            let container = edge.container.and_then(|n| self.volumes.containers().get(n)).map_or("", |c| &c.name);
            let numbers = [&edge.elements, &edge.bytes].map(value).join(",");
            let (from, to) = (name(edge.from), name(edge.to));
            let _ = writeln!(out, "{from},{to},{},{numbers},{}", quoted(container), text(&edge.bytes));
        }
        out
    }
}

/// Where a box is.
pub(super) fn area(place: Place, [left, top, right, bottom]: &[f64; 4]) -> Rect {
    Rect::from_min_max(place.at((*left, *top)), place.at((*right, *bottom)))
}

/// How far a place is from a segment.
fn from_segment(at: Pos2, a: Pos2, b: Pos2) -> f32 {
    let (along, to) = (b - a, at - a);
    let length = along.length_sq();
    let share = if length > 0.0 { (to.dot(along) / length).clamp(0.0, 1.0) } else { 0.0 };
    (to - along * share).length()
}
