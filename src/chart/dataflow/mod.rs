//! Dataflow of a nest as a graph in layers: containers, loops and tasks, and what moves between them, coloured by how much.

mod columns;
mod drawing;
mod labels;

use super::canvas::{Anchor, At, Chart, Look, wide};
use super::layered::Laid;
use super::role::{HEATS, Role};
use crate::analysis::{GraphNode, HeatScale, NestGraph, NodeKind, in_words, size_in_words};
use drawing::{Drawing, GraphPlaces, marks};

/// What the colours of loops and tasks go by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeHeat {
    /// Bytes that they move.
    #[default]
    Volume,
    /// Operations.
    Operations,
    /// Operations for each byte.
    Intensity,
}

impl NodeHeat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Volume, Self::Operations, Self::Intensity];

    /// As a flag names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Volume => "volume",
            Self::Operations => "operations",
            Self::Intensity => "intensity",
        }
    }

    /// What it tells, one sentence.
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Self::Volume => "Bytes that a part moves",
            Self::Operations => "Arithmetic operations of a part",
            Self::Intensity => "Operations for each byte that is moved",
        }
    }

    /// What is measured of a node, in whole numbers that have one order; thousandths of operations a byte.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a ratio of counts is no less than 0")]
    fn of(self, node: &GraphNode) -> Option<u64> {
        match self {
            Self::Volume => node.bytes.value,
            Self::Operations => node.operations.value,
            Self::Intensity => node.operations.per(&node.bytes).map(|ratio| (ratio * 1000.0) as u64),
        }
    }

    /// What it tells, between other words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Volume => "bytes moved",
            Self::Operations => "operations",
            Self::Intensity => "operations a byte",
        }
    }
}

/// Units above and below the graph: with title and legend, and without.
const ROOM: [f64; 2] = [54.0, 30.0];
const BARE_ROOM: [f64; 2] = [6.0, 6.0];
/// Beside it.
const SIDE: f64 = 16.0;
/// Layers no nearer than this are told apart.
const PITCH: f64 = 26.0;
/// Boxes as high as this have two lines.
const TWO_LINES: f64 = 24.0;
/// Narrower than this share of their words, boxes tell nothing.
const NARROW: f64 = 0.62;
/// Type in boxes and on edges.
const TYPE: f64 = 10.0;
const SMALL: f64 = 9.0;
/// Units of a sign of either.
const SIGN: f64 = 5.7;
const SMALL_SIGN: f64 = 5.1;

/// Where all is, in units of the chart.
struct Plan {
    /// What is drawn: containers may stand in it twice.
    graph: NestGraph,
    laid: Laid,
    /// Between columns, across the flow.
    rules: Vec<f64>,
    pitch: f64,
    /// What is left of widths.
    narrowed: f64,
    left: f64,
    top: f64,
    box_high: f64,
    /// Room for a sign in boxes that can be folded or unfolded.
    signed: bool,
}

/// Units of a sign in a box, and what is beside it.
const FOLD_SIGN: f64 = 13.0;
/// Columns that a graph stands in at most.
const MOST_COLUMNS: usize = 6;
/// How much more can be read of it with one column more, at least.
const PAYS: f64 = 1.2;
/// From layer to layer, where boxes have two lines and arrows have words.
const ENOUGH: f64 = 46.0;
/// Layers are no farther from each other.
const FAR: f64 = 84.0;

fn lines_of(node: &GraphNode) -> [String; 2] {
    match node.kind {
        NodeKind::Container => [node.name.clone(), node.detail.clone()],
        NodeKind::Loops => [format!("for {}", node.name), in_words(&node.executions, false)],
        NodeKind::Task | NodeKind::State => {
            let each = node.operations.per(&node.bytes).filter(|each| *each > 0.0);
            let each = each.map_or(String::new(), |each| format!(", {each:.2} op/B"));
            [node.name.clone(), format!("{} op{each}", node.operations.value.map_or("?".into(), crate::units::grouped))]
        }
    }
}

/// What stands in place of the second line where that has no room.
fn short_of(node: &GraphNode) -> String {
    let value = |value: Option<u64>, unit: &str| {
        value.map_or_else(String::new, |value| format!("{}{unit}", crate::units::grouped(value)))
    };
    match node.kind {
        NodeKind::Container => String::new(),
        NodeKind::Loops => value(node.executions.value, ""),
        NodeKind::Task | NodeKind::State => value(node.operations.value, " op"),
    }
}

/// Units that a box is wide, where there is room.
fn width_of(node: &GraphNode, signed: bool) -> f64 {
    let [first, second] = lines_of(node).map(|line| wide(&line));
    let sign = if signed && node.part.is_some() { FOLD_SIGN } else { 0.0 };
    (first * SIGN).max(second * SMALL_SIGN).clamp(44.0, 190.0) + 14.0 + sign
}

fn plan(graph: &NestGraph, room: [f64; 2], signed: bool, look: Look) -> Plan {
    let width = |node: &GraphNode| width_of(node, signed);
    let one = columns::whole(graph, &width);
    let mut best = None;
    for count in 2..=MOST_COLUMNS.min(one.laid.layers / 3) {
        let (pitch, narrowed) = fitted(best.as_ref().unwrap_or(&one), room, look);
        // Deeper than wide: columns pay.
        if pitch / ENOUGH >= narrowed {
            break;
        }
        let more = columns::columned(&one, &width, count);
        let (higher, narrower) = fitted(&more, room, look);
        if (higher / ENOUGH).min(narrower) > PAYS * (pitch / ENOUGH).min(narrowed) {
            best = Some(more);
        }
    }
    let best = best.unwrap_or(one);
    let (pitch, narrowed) = fitted(&best, room, look);
    let ([head, foot], [width, height]) = (room, look.size);
    #[expect(clippy::cast_precision_loss, reason = "a few layers")]
    let high = pitch * best.laid.layers.max(1) as f64;
    let left = SIDE + (width - 2.0 * SIDE - best.laid.width * narrowed) / 2.0;
    let top = head + (height - head - foot - high).max(0.0) / 2.0;
    let columns::Columned { graph, laid, rules } = best;
    Plan { graph, laid, rules, pitch, narrowed, left, top, box_high: (pitch * 0.56).clamp(2.0, 30.0), signed }
}

/// From layer to layer, and what is left of widths.
fn fitted(of: &columns::Columned, [head, foot]: [f64; 2], look: Look) -> (f64, f64) {
    let [width, height] = look.size;
    #[expect(clippy::cast_precision_loss, reason = "a few layers")]
    let layers = of.laid.layers.max(1) as f64;
    (((height - head - foot) / layers).min(FAR), ((width - 2.0 * SIDE) / of.laid.width.max(1.0)).min(1.0))
}

impl Plan {
    fn is_legible(&self) -> bool {
        self.pitch >= PITCH && self.narrowed >= NARROW
    }
}

/// Whether all its words can be read at this size, with title and legend.
#[must_use]
pub fn is_legible(graph: &NestGraph, look: Look) -> bool {
    plan(graph, ROOM, false, look).is_legible()
}

/// As [`is_legible`], without them, and with signs in boxes that can be folded.
#[must_use]
pub fn is_legible_bare(graph: &NestGraph, look: Look) -> bool {
    plan(graph, BARE_ROOM, true, look).is_legible()
}

/// Whether boxes also have room for their second line, and all of their width.
#[must_use]
pub fn is_roomy_bare(graph: &NestGraph, look: Look) -> bool {
    let plan = plan(graph, BARE_ROOM, true, look);
    plan.box_high >= TWO_LINES && plan.narrowed >= 1.0
}

/// Draws a graph; edges are coloured by their bytes, boxes by what `nodes` says, both spread over a scale of colours by `scale`.
#[must_use]
pub fn dataflow(graph: &NestGraph, of: [&str; 2], scale: HeatScale, nodes: NodeHeat, look: Look) -> Chart {
    let mut chart = Chart::new(look, of[0], of[1]);
    let plan = plan(graph, ROOM, false, look);
    let mut drawing = Drawing::new(&plan, scale, nodes, look);
    drawing.all(&mut chart);
    legend(&mut chart, &drawing.legend(), look);
    chart
}

/// A graph without title and legend, and where all of it is, in units.
pub struct DrawnGraph {
    /// What is drawn.
    pub chart: Chart,
    /// The graph: containers that lead from one column to another stand in it twice.
    pub graph: NestGraph,
    /// Left, top, right and bottom of each box, by node.
    pub boxes: Vec<[f64; 4]>,
    /// Where the sign stands that says whether a box is folded, and its colour, by node: of those that can be, where they are large enough.
    pub signs: Vec<Option<(At, Role)>>,
    /// The way of each edge.
    pub paths: Vec<Vec<At>>,
    /// What is said of each edge.
    pub said: Vec<String>,
    /// What colours stand for.
    pub legend: String,
}

/// As [`dataflow`], without title and legend: for pictures that have their own, and in which it can be pressed.
#[must_use]
pub fn dataflow_bare(graph: &NestGraph, title: &str, scale: HeatScale, nodes: NodeHeat, look: Look) -> DrawnGraph {
    let mut chart = Chart::bare(look, title);
    let plan = plan(graph, BARE_ROOM, true, look);
    let mut drawing = Drawing::new(&plan, scale, nodes, look);
    drawing.all(&mut chart);
    let (legend, said) = (drawing.legend(), drawing.said());
    let GraphPlaces { boxes, signs, paths } = drawing.places();
    DrawnGraph { chart, graph: plan.graph, boxes, signs, paths, said, legend }
}

/// Words under a graph, and the forms of its boxes.
fn legend(chart: &mut Chart, words: &str, look: Look) {
    let y = look.size[1] - 12.0;
    let mut x = SIDE;
    for n in 2..HEATS {
        chart.rect((x, y - 8.0), (9.0, 9.0), Role::Heat(n), "");
        x += 9.0;
    }
    chart.text((x + 6.0, y), Anchor::Start, SMALL, Role::Body, words);
    let mut right = look.size[0] - SIDE;
    let used = x + 6.0 + wide(words) * SMALL_SIGN + 12.0;
    for (kind, words) in [(NodeKind::Task, "task"), (NodeKind::Loops, "loops"), (NodeKind::Container, "container")] {
        right -= wide(words) * SMALL_SIGN;
        if right - 24.0 < used {
            break;
        }
        chart.text((right, y), Anchor::Start, SMALL, Role::Body, words);
        let corner = (right - 20.0, y - 8.0);
        let fill = if kind == NodeKind::Container { Role::Ground } else { Role::Heat(3) };
        chart.rect(corner, (16.0, 10.0), fill, "");
        marks(chart, kind, 0, corner, (16.0, 10.0));
        right -= 34.0;
    }
}

/// What colours from `from` to `to` bytes stand for.
fn legend_words([from, to]: [f64; 2], scale: HeatScale, nodes: NodeHeat) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes are no less than 0")]
    let [from, to] = [from, to].map(|end| size_in_words(end as u64));
    let past = if matches!(scale, HeatScale::Mean | HeatScale::Median) { " and more" } else { "" };
    let kind = match scale {
        HeatScale::Mean => ", twice the mean",
        HeatScale::Median => ", twice the median",
        HeatScale::Histogram => ", by rank",
        HeatScale::Linear => "",
        HeatScale::Exponential => ", by logarithms",
    };
    let boxes = if nodes == NodeHeat::Volume { "arrows and boxes" } else { "arrows" };
    let boxed = if nodes == NodeHeat::Volume { String::new() } else { format!("; boxes: {}", nodes.words()) };
    format!("{boxes}: {from} to {to}{past}{kind}{boxed}")
}

#[cfg(test)]
mod tests {
    use super::labels::meets;
    use super::{NodeHeat, dataflow, is_legible};
    use crate::analysis::{Fold, Folding, HeatScale, NestGraph, NodeKind};
    use crate::chart::{Look, Shape};
    use crate::nest::{Settings, Volumes, loops};
    use crate::scene::palette::Theme;

    fn nest_graph(volumes: &Volumes, fold: Fold, most: usize) -> NestGraph {
        crate::analysis::nest_graph(volumes, &Folding::all(fold), most)
    }

    fn volumes(text: &str) -> Volumes {
        loops::Source::parse("t.loops", text).unwrap().volumes(&Settings::default()).unwrap()
    }

    const CHAIN: &str = "param N = 8\narray A[N, N] of f64\narray B[N, N] of f64\narray C[N, N] of f64\n\
    for i in 0..N, j in 0..N { B[i, j] = A[i, j] * 2 }\nfor i in 0..N, j in 0..N { C[i, j] += B[i, j] * A[j, i] }";

    #[test]
    fn a_graph_says_what_moves_where() {
        let graph = nest_graph(&volumes(CHAIN), Fold::Tasks, 60);
        let names: Vec<(NodeKind, &str)> = graph.nodes.iter().map(|node| (node.kind, node.name.as_str())).collect();
        let count = |kind: NodeKind| names.iter().filter(|(k, _)| *k == kind).count();
        // A; B when it is written; C before and after.
        assert_eq!((count(NodeKind::Container), count(NodeKind::Loops), count(NodeKind::Task)), (4, 2, 2), "{names:?}");
        let of = |from: &str, to: &str| {
            let edge = graph.edges.iter().find(|e| graph.nodes[e.from].name == from && graph.nodes[e.to].name == to);
            edge.map(|edge| edge.volume())
        };
        assert_eq!(of("A", "i, j").as_deref(), Some("N * N * 8 = 512 B"));
        assert_eq!(of("i, j", "C[i, j] += B[i, j] * A[j, i]").as_deref(), Some("N * N * 24 = 1,536 B"));
        assert_eq!(of("C[i, j] += B[i, j] * A[j, i]", "C").as_deref(), Some("N * N * 8 = 512 B"));
        let folded = nest_graph(&volumes(CHAIN), Fold::Loops, 60);
        assert_eq!(folded.nodes.len(), 6);
        // A is used by both loops, and is one box.
        let a = folded.nodes.iter().position(|node| node.name == "A").unwrap();
        assert_eq!(folded.edges.iter().filter(|edge| edge.from == a).count(), 2);
    }

    #[test]
    fn words_cover_neither_boxes_nor_each_other() {
        for fold in Fold::ALL {
            for size in [(1280, 720), (640, 360), (300, 900)] {
                let graph = nest_graph(&volumes(CHAIN), fold, 60);
                let look = Look::of_pixels(Theme::Dark, size);
                let chart = dataflow(&graph, ["t", "of"], HeatScale::Mean, NodeHeat::Volume, look);
                let boxes = chart.shapes().iter().filter_map(|shape| match shape {
                    Shape::Rect { at, size, said, .. } if !said.is_empty() => {
                        Some([at.0, at.1, at.0 + size.0, at.1 + size.1])
                    }
                    _ => None,
                });
                let boxes: Vec<[f64; 4]> = boxes.collect();
                assert_eq!(boxes.len(), graph.nodes.len());
                for (n, a) in boxes.iter().enumerate() {
                    assert!(boxes[n + 1..].iter().all(|b| !meets(a, b)), "{fold:?} {size:?}");
                    assert!(
                        a[0] >= 0.0 && a[2] <= chart.size()[0] && a[3] <= chart.size()[1],
                        "{fold:?} {size:?} {a:?}"
                    );
                }
            }
        }
        let graph = nest_graph(&volumes(CHAIN), Fold::Tasks, 60);
        assert!(is_legible(&graph, Look::of_pixels(Theme::Dark, (640, 360))));
        let chart =
            dataflow(&graph, ["t", "of"], HeatScale::Mean, NodeHeat::Volume, Look::of_pixels(Theme::Dark, (640, 360)));
        assert!(chart.svg((640, 360)).contains("N * N * 8 = 512 B"));
    }

    #[test]
    fn states_beside_each_other_have_frames_with_their_names() {
        let mut graph = nest_graph(&volumes(CHAIN), Fold::Tasks, 60);
        let look = Look::of_pixels(Theme::Dark, (1280, 720));
        let grid = |graph: &NestGraph| {
            let chart = dataflow(graph, ["t", "of"], HeatScale::Mean, NodeHeat::Volume, look);
            let is_grid = |shape: &&Shape| matches!(shape, Shape::Line { role: crate::chart::Role::Grid, .. });
            (chart.shapes().iter().filter(is_grid).count(), chart.svg((1280, 720)))
        };
        let (without, _) = grid(&graph);
        let parts: Vec<Option<usize>> = graph.nodes.iter().map(|node| Some(node.part?.item)).collect();
        for (node, part) in graph.nodes.iter_mut().zip(&parts) {
            node.state = part.map_or(String::new(), |part| format!("state `s{part}`"));
        }
        let (framed, svg) = grid(&graph);
        assert_eq!(framed, without + 4 * 2);
        assert!(svg.contains("state s0") && svg.contains("state s1"));
        // Of one state alone, or of states within each other, nothing is framed.
        graph.nodes.iter_mut().for_each(|node| node.state = "state `s0`".into());
        assert_eq!(grid(&graph).0, without);
        let working = graph.nodes.iter_mut().zip(&parts).filter(|(_, part)| part.is_some());
        for (number, (node, _)) in working.enumerate() {
            node.state = format!("state `s{}`", number % 2);
        }
        assert_eq!(grid(&graph).0, without);
    }

    #[test]
    fn many_parts_are_folded() {
        let mut text = String::from("param N = 8\narray A[N] of f64\n");
        for n in 0..20_000 {
            text += &format!("for i{n} in 0..N {{ A[i{n}] += {n} }}\n");
        }
        let volumes = volumes(&text);
        let graph = nest_graph(&volumes, Fold::States, 60);
        assert_eq!(graph.left_out, 20_000 - 60);
        let look = Look::of_pixels(Theme::Dark, (1280, 720));
        let _ = dataflow(&graph, ["t", "of"], HeatScale::Histogram, NodeHeat::Intensity, look);
        let all = nest_graph(&volumes, Fold::Tasks, usize::MAX);
        let _ = dataflow(&all, ["t", "of"], HeatScale::Histogram, NodeHeat::Operations, look);
        // Each loop is there, with what leads to it and away.
        assert_eq!(all.left_out, 0);
        assert!(all.nodes.len() >= 20_000 && all.edges.len() >= 20_000, "{} {}", all.nodes.len(), all.edges.len());
        assert!(graph.nodes.len() < 200, "{}", graph.nodes.len());
    }
}
