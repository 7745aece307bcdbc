//! Dataflow of a nest as a graph in layers: containers, loops and tasks, and what moves between them, coloured by how much.

use super::canvas::{Anchor, At, Chart, Look, signs, wide};
use super::layered::{Laid, Layered, laid};
use super::role::{HEATS, Role};
use crate::analysis::{GraphEdge, GraphNode, Heat, HeatScale, NestGraph, NodeKind, in_words, size_in_words};
use crate::shown;

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

    fn words(self) -> &'static str {
        match self {
            Self::Volume => "bytes moved",
            Self::Operations => "operations",
            Self::Intensity => "operations a byte",
        }
    }
}

/// Above and below the graph, units.
const HEAD: f64 = 54.0;
const FOOT: f64 = 30.0;
/// Beside it.
const SIDE: f64 = 16.0;
/// Layers no nearer than this are told apart.
const PITCH: f64 = 26.0;
/// Narrower than this share of their words, boxes tell nothing.
const NARROW: f64 = 0.62;
/// Type in boxes and on edges.
const TYPE: f64 = 10.0;
const SMALL: f64 = 9.0;
/// Units of a sign of either.
const SIGN: f64 = 5.7;
const SMALL_SIGN: f64 = 5.1;

/// Edges that words are looked for, at most.
const MOST_LABELS: usize = 200;
/// Shares of an edge's height where words may stand, on its right or left, the best first.
const PLACES: [(f64, bool); 10] = [
    (0.5, true),
    (0.5, false),
    (0.38, true),
    (0.38, false),
    (0.62, true),
    (0.62, false),
    (0.26, true),
    (0.26, false),
    (0.74, true),
    (0.74, false),
];

/// Where all is, in units of the chart.
struct Plan {
    laid: Laid,
    pitch: f64,
    /// What is left of widths.
    narrowed: f64,
    left: f64,
    box_high: f64,
}

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

fn plan(graph: &NestGraph, look: Look) -> Plan {
    let widths = graph.nodes.iter().map(|node| {
        let [first, second] = lines_of(node).map(|line| wide(&line));
        (first * SIGN).max(second * SMALL_SIGN).clamp(44.0, 190.0) + 14.0
    });
    let widths = widths.collect();
    let edges = graph.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let laid = laid(&Layered { widths, edges });
    let [width, height] = look.size;
    let room = (width - 2.0 * SIDE, height - HEAD - FOOT);
    #[expect(clippy::cast_precision_loss, reason = "a few layers")]
    let pitch = (room.1 / laid.layers.max(1) as f64).min(84.0);
    let narrowed = (room.0 / laid.width.max(1.0)).min(1.0);
    let left = SIDE + (room.0 - laid.width * narrowed) / 2.0;
    Plan { laid, pitch, narrowed, left, box_high: (pitch * 0.56).clamp(2.0, 30.0) }
}

/// Whether all its words can be read at this size.
#[must_use]
pub fn is_legible(graph: &NestGraph, look: Look) -> bool {
    let plan = plan(graph, look);
    plan.pitch >= PITCH && plan.narrowed >= NARROW
}

/// Draws a graph; edges are coloured by their bytes, boxes by what `nodes` says, both spread over a scale of colours by `scale`.
#[must_use]
pub fn dataflow(graph: &NestGraph, of: [&str; 2], scale: HeatScale, nodes: NodeHeat, look: Look) -> Chart {
    let mut chart = Chart::new(look, of[0], of[1]);
    let mut drawing = Drawing::new(graph, scale, nodes, plan(graph, look), look);
    drawing.edges(&mut chart);
    drawing.boxes(&mut chart);
    drawing.labels(&mut chart);
    drawing.legend(&mut chart, scale, nodes);
    chart
}

struct Drawing<'a> {
    graph: &'a NestGraph,
    plan: Plan,
    edge_heat: Heat,
    node_heat: Heat,
    nodes: NodeHeat,
    top: f64,
    /// Points along each edge.
    paths: Vec<Vec<At>>,
    /// Where each edge is held across: at its start, and at its end.
    ports: Vec<[f64; 2]>,
    /// Left, top, right and bottom of what is in the way of words.
    taken: Vec<[f64; 4]>,
    size: [f64; 2],
}

fn step(share: f64, least: u8) -> u8 {
    let room = f64::from(HEATS - 1 - least);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 9")]
    let step = (share * room).round() as u8;
    least + step
}

impl<'a> Drawing<'a> {
    fn new(graph: &'a NestGraph, scale: HeatScale, nodes: NodeHeat, plan: Plan, look: Look) -> Self {
        let edge_heat = Heat::new(scale, graph.edges.iter().filter_map(|edge| edge.bytes.value));
        let working = graph.nodes.iter().filter(|node| node.kind != NodeKind::Container);
        let node_heat = Heat::new(scale, working.filter_map(|node| nodes.of(node)));
        #[expect(clippy::cast_precision_loss, reason = "a few layers")]
        let high = plan.pitch * plan.laid.layers as f64;
        let top = HEAD + (look.size[1] - HEAD - FOOT - high).max(0.0) / 2.0;
        let (paths, ports, taken) = (Vec::new(), vec![[0.0; 2]; graph.edges.len()], Vec::new());
        let mut drawing = Self { graph, plan, edge_heat, node_heat, nodes, top, paths, ports, taken, size: look.size };
        drawing.hold();
        drawing.taken = (0..graph.nodes.len())
            .map(|node| {
                let ((x, y), (w, h)) = drawing.frame(node);
                [x - w / 2.0, y - h / 2.0, x + w / 2.0, y + h / 2.0]
            })
            .collect();
        drawing.paths = (0..graph.edges.len()).map(|edge| drawing.path(edge)).collect();
        drawing
    }

    fn spot(&self, (layer, across): (usize, f64)) -> At {
        #[expect(clippy::cast_precision_loss, reason = "a few layers")]
        let y = self.top + (layer as f64 + 0.5) * self.plan.pitch;
        (self.plan.left + across * self.plan.narrowed, y)
    }

    /// Middle and size of a box.
    fn frame(&self, node: usize) -> (At, At) {
        let at = self.spot(self.plan.laid.nodes.get(node).copied().unwrap_or_default());
        let [first, second] = self.graph.nodes.get(node).map(lines_of).unwrap_or_default().map(|line| wide(&line));
        let wide = (first * SIGN).max(second * SMALL_SIGN).clamp(44.0, 190.0) + 14.0;
        (at, ((wide * self.plan.narrowed).max(2.0), self.plan.box_high))
    }

    /// Says where along the sides of boxes edges are held: in the order of where they come from.
    fn hold(&mut self) {
        // Ends by box, side and place.
        let mut ends: Vec<(usize, usize, f64, usize)> = Vec::with_capacity(2 * self.ports.len());
        for (number, (edge, path)) in self.graph.edges.iter().zip(&self.plan.laid.edges).enumerate() {
            let across = |spot: Option<&(usize, f64)>| spot.map_or(0.0, |(_, across)| *across);
            ends.push((edge.from, 0, across(path.get(1)), number));
            ends.push((edge.to, 1, across(path.iter().rev().nth(1)), number));
        }
        ends.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)).then(a.3.cmp(&b.3)));
        for side in ends.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let ((x, _), (w, _)) = self.frame(side[0].0);
            for (place, (_, end, _, edge)) in side.iter().enumerate() {
                #[expect(clippy::cast_precision_loss, reason = "a few edges")]
                let share = (place as f64 + 1.0) / (side.len() as f64 + 1.0);
                self.ports[*edge][*end] = x + w * 0.7 * (share - 0.5);
            }
        }
    }

    fn path(&self, edge: usize) -> Vec<At> {
        let Some(spots) = self.plan.laid.edges.get(edge) else { return Vec::new() };
        let half = self.plan.box_high / 2.0;
        let mut stops: Vec<At> = Vec::new();
        for (at, spot) in spots.iter().enumerate() {
            let (x, y) = self.spot(*spot);
            if at == 0 {
                stops.push((self.ports[edge][0], y + half));
            } else if at + 1 == spots.len() {
                stops.push((self.ports[edge][1], y - half - 1.5));
            } else {
                // Straight past the boxes of a layer.
                stops.extend([(x, y - half), (x, y + half)]);
            }
        }
        let mut points: Vec<At> = stops.first().copied().into_iter().collect();
        for pair in stops.windows(2) {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let straight = (x0 - x1).abs() < 0.5;
            let count = if straight { 1 } else { 14 };
            for n in 1..=count {
                let t = f64::from(n) / f64::from(count);
                // A cubic whose ends stand upright.
                let s = t * t * (3.0 - 2.0 * t);
                points.push((x0 + (x1 - x0) * s, y0 + (y1 - y0) * t));
            }
        }
        points
    }

    fn edge_share(&self, edge: &GraphEdge) -> f64 {
        edge.bytes.value.map_or(0.0, |bytes| self.edge_heat.share(bytes))
    }

    fn edges(&self, chart: &mut Chart) {
        // The faint first, so that the strong cover them.
        let mut order: Vec<usize> = (0..self.graph.edges.len()).collect();
        order.sort_by_key(|edge| (self.graph.edges[*edge].bytes.value, *edge));
        for edge in order {
            let share = self.edge_share(&self.graph.edges[edge]);
            let (role, width) = (Role::Heat(step(share, 2)), 1.3 + 3.2 * share);
            let points = &self.paths[edge];
            chart.curve(points.clone(), role, width);
            if let Some(&(x, y)) = points.last() {
                // Edges end upright.
                let size = 4.0 + width * 0.6;
                let wing = |side: f64| (x + side * size * 0.62, y - size);
                chart.curve(vec![wing(1.0), (x, y), wing(-1.0)], role, width.min(2.2));
            }
        }
    }

    fn boxes(&self, chart: &mut Chart) {
        for (number, node) in self.graph.nodes.iter().enumerate() {
            let ((x, y), (w, h)) = self.frame(number);
            let corner = (x - w / 2.0, y - h / 2.0);
            let (fill, ink) = match node.kind {
                NodeKind::Container => (Role::Ground, Role::Ink),
                _ => {
                    let shade = step(self.nodes.of(node).map_or(0.0, |value| self.node_heat.share(value)), 0);
                    (Role::Heat(shade), Role::OnHeat(shade))
                }
            };
            chart.rect(corner, (w, h), fill, &said(node));
            kind_marks(chart, node, corner, (w, h));
            let [first, second] = lines_of(node);
            let two = h >= 24.0 && !second.is_empty();
            if h >= 11.0 {
                let first = shown::short(&first, signs(w - 8.0, SIGN)).into_owned();
                chart.text((x, if two { y - 2.5 } else { y + 3.5 }), Anchor::Middle, TYPE, ink, &first);
            }
            if two {
                let second = shown::short(&second, signs(w - 6.0, SMALL_SIGN)).into_owned();
                chart.text((x, y + 9.0), Anchor::Middle, SMALL, ink, &second);
            }
        }
    }

    /// Words beside edges, those that move most first; where there is no room, a pointer tells.
    fn labels(&mut self, chart: &mut Chart) {
        let mut order: Vec<usize> = (0..self.graph.edges.len()).collect();
        order.sort_by_key(|edge| (std::cmp::Reverse(self.graph.edges[*edge].bytes.value), *edge));
        for (number, at) in order.iter().filter_map(|n| Some((*n, middle(&self.paths[*n], 0.5)?))) {
            let said = edge_said(self.graph, &self.graph.edges[number]);
            chart.spot((at.0 - 8.0, at.1 - 6.0), (16.0, 12.0), said);
        }
        if self.plan.pitch - self.plan.box_high < 11.0 {
            return;
        }
        // Nothing is written over an edge.
        let along: Vec<At> = self.paths.iter().flat_map(|path| sampled(path)).collect();
        for number in order.into_iter().take(MOST_LABELS) {
            let edge = &self.graph.edges[number];
            let short = edge.bytes.value.map_or_else(String::new, size_in_words);
            let own = sampled(&self.paths[number]);
            let thick = 3.0 + (1.3 + 3.2 * self.edge_share(edge)) / 2.0;
            let fits = [edge.volume(), short]
                .into_iter()
                .filter(|words| moves(edge) && !words.is_empty() && wide(words) <= 46.0);
            let found = fits.flat_map(|words| PLACES.map(|(place, right)| (words.clone(), place, right))).find_map(
                |(words, place, right)| {
                    let (_, y) = middle(&self.paths[number], place)?;
                    let long = wide(&words) * SMALL_SIGN;
                    // Beside all of the edge that is as high as the words.
                    let near = own.iter().filter(|(_, at)| (y - 6.5..y + 5.5).contains(at)).map(|(x, _)| *x);
                    let left = if right {
                        near.fold(f64::NEG_INFINITY, f64::max) + thick
                    } else {
                        near.fold(f64::INFINITY, f64::min) - thick - long
                    };
                    let area = [left, y - 5.5, left + long, y + 4.5];
                    let is_free = left > 4.0
                        && left + long < self.size[0] - 4.0
                        && !self.taken.iter().any(|other| meets(&area, other))
                        && !along
                            .iter()
                            .any(|(x, y)| (area[0] - 1.0..area[2] + 1.0).contains(x) && (area[1]..area[3]).contains(y));
                    is_free.then_some((words, area))
                },
            );
            if let Some((words, area)) = found {
                chart.text((area[0], area[3] - 1.5), Anchor::Start, SMALL, Role::Body, &words);
                self.taken.push(area);
            }
        }
    }

    fn legend(&self, chart: &mut Chart, scale: HeatScale, nodes: NodeHeat) {
        let y = self.size[1] - 12.0;
        let mut x = SIDE;
        for n in 2..HEATS {
            chart.rect((x, y - 8.0), (9.0, 9.0), Role::Heat(n), "");
            x += 9.0;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes are no less than 0")]
        let [from, to] = <[f64; 2]>::from(self.edge_heat.ends()).map(|end| size_in_words(end as u64));
        let past = if matches!(scale, HeatScale::Mean | HeatScale::Median) { " and more" } else { "" };
        let kind = match scale {
            HeatScale::Mean => ", twice the mean",
            HeatScale::Median => ", twice the median",
            HeatScale::Histogram => ", by rank",
            HeatScale::Linear => "",
            HeatScale::Exponential => ", by logarithms",
        };
        let boxes = if nodes == NodeHeat::Volume { "arrows and boxes" } else { "arrows" };
        let mut words = format!("{boxes}: {from} to {to}{past}{kind}");
        if nodes != NodeHeat::Volume {
            words += &format!("; boxes: {}", nodes.words());
        }
        chart.text((x + 6.0, y), Anchor::Start, SMALL, Role::Body, &words);
        let mut right = self.size[0] - SIDE;
        let used = x + 6.0 + wide(&words) * SMALL_SIGN + 12.0;
        for (kind, words) in [(NodeKind::Task, "task"), (NodeKind::Loops, "loops"), (NodeKind::Container, "container")]
        {
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
}

/// What tells kinds apart: containers have a frame in their own colour, loops a bar above and below, states a frame.
fn kind_marks(chart: &mut Chart, node: &GraphNode, corner: At, size: At) {
    marks(chart, node.kind, node.container.unwrap_or(0), corner, size);
}

fn marks(chart: &mut Chart, kind: NodeKind, container: usize, (x, y): At, (w, h): At) {
    let mut line = |from: At, to: At, role: Role, width: f64| chart.line(from, to, role, width, false);
    let frame =
        [((x, y), (x + w, y)), ((x + w, y), (x + w, y + h)), ((x + w, y + h), (x, y + h)), ((x, y + h), (x, y))];
    match kind {
        NodeKind::Container => {
            let role = Role::Region(u8::try_from(container % 12).unwrap_or(0));
            frame.iter().for_each(|(from, to)| line(*from, *to, role, 1.4));
            line((x + 1.5, y), (x + 1.5, y + h), role, 3.0);
        }
        NodeKind::Loops => {
            line((x - 3.0, y), (x + w + 3.0, y), Role::Quiet, 1.6);
            line((x - 3.0, y + h), (x + w + 3.0, y + h), Role::Quiet, 1.6);
        }
        NodeKind::State => frame.iter().for_each(|(from, to)| line(*from, *to, Role::Quiet, 1.2)),
        NodeKind::Task => {}
    }
}

/// What is said of a node where a pointer rests.
fn said(node: &GraphNode) -> String {
    let mut out = match node.kind {
        NodeKind::Container => format!("{}, {}", node.name, node.detail),
        NodeKind::Loops => format!("for {}: {} iterations", node.name, in_words(&node.executions, false)),
        NodeKind::Task | NodeKind::State => node.name.clone(),
    };
    if !node.state.is_empty() && node.kind != NodeKind::State {
        out += &format!("; {}", node.state);
    }
    out += &format!("; bytes {}", node.volume());
    if node.kind != NodeKind::Container {
        out += &format!("; operations {}", in_words(&node.operations, false));
        if let Some(each) = node.operations.per_text(&node.bytes) {
            out += &format!("; operations a byte {each}");
        }
    }
    if node.source.1 > 0 {
        out += &format!("; {}:{}", node.source.0, node.source.1);
    }
    out
}

fn edge_said(graph: &NestGraph, edge: &GraphEdge) -> String {
    let name = |node: usize| graph.nodes.get(node).map_or("", |node| node.name.as_str());
    let elements = in_words(&edge.elements, false);
    format!("{} to {}: {}; elements {elements}", name(edge.from), name(edge.to), edge.volume())
}

/// Whether there is something to be told of an edge.
fn moves(edge: &GraphEdge) -> bool {
    edge.bytes.value != Some(0)
}

fn meets(a: &[f64; 4], b: &[f64; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// Points of a path no farther apart than words are high.
fn sampled(path: &[At]) -> Vec<At> {
    let mut out = Vec::new();
    for pair in path.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let far = (x1 - x0).abs().max((y1 - y0).abs());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few points")]
        let count = (far / 3.0).ceil().clamp(1.0, 400.0) as u32;
        for n in 0..=count {
            let t = f64::from(n) / f64::from(count);
            out.push((x0 + (x1 - x0) * t, y0 + (y1 - y0) * t));
        }
    }
    out
}

/// The place at a share of a path's height.
fn middle(path: &[At], share: f64) -> Option<At> {
    let (first, last) = (path.first()?, path.last()?);
    let y = first.1 + (last.1 - first.1) * share;
    let at = path.windows(2).find(|pair| pair[1].1 >= y)?;
    let t = if at[1].1 > at[0].1 { (y - at[0].1) / (at[1].1 - at[0].1) } else { 0.0 };
    Some((at[0].0 + (at[1].0 - at[0].0) * t, y))
}

#[cfg(test)]
mod tests {
    use super::{NodeHeat, dataflow, is_legible};
    use crate::analysis::{Fold, HeatScale, NodeKind, nest_graph};
    use crate::chart::{Look, Shape};
    use crate::nest::{Settings, Volumes, loops};
    use crate::scene::palette::Theme;

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
                    assert!(boxes[n + 1..].iter().all(|b| !super::meets(a, b)), "{fold:?} {size:?}");
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
    fn many_parts_are_folded_in_time() {
        let started = std::time::Instant::now();
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
        assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    }
}
