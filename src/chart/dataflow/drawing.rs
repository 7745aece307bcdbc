//! Boxes and arrows of a graph where its plan has them.

use super::labels::{edge_said, meets, sampled};
use super::{
    FOLD_SIGN, NodeHeat, Plan, SIGN, SMALL, SMALL_SIGN, TWO_LINES, TYPE, legend_words, lines_of, short_of, width_of,
};
use crate::analysis::{GraphEdge, GraphNode, Heat, HeatScale, NestGraph, NodeKind, in_words};
use crate::chart::canvas::{Anchor, At, Chart, Look, signs, wide};
use crate::chart::role::{HEATS, Role};
use crate::shown;

/// Where boxes, the signs in them with their colours, and edges are.
pub(super) struct GraphPlaces {
    pub(super) boxes: Vec<[f64; 4]>,
    pub(super) signs: Vec<Option<(At, Role)>>,
    pub(super) paths: Vec<Vec<At>>,
}

pub(super) struct Drawing<'a> {
    pub(super) graph: &'a NestGraph,
    pub(super) plan: &'a Plan,
    edge_heat: Heat,
    node_heat: Heat,
    scale: HeatScale,
    nodes: NodeHeat,
    /// Points along each edge.
    pub(super) paths: Vec<Vec<At>>,
    /// Where each edge is held across: at its start, and at its end.
    ports: Vec<[f64; 2]>,
    /// Left, top, right and bottom of what is in the way of words.
    pub(super) taken: Vec<[f64; 4]>,
    pub(super) size: [f64; 2],
}

fn step(share: f64, least: u8) -> u8 {
    let room = f64::from(HEATS - 1 - least);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 9")]
    let step = (share * room).round() as u8;
    least + step
}

impl<'a> Drawing<'a> {
    pub(super) fn new(plan: &'a Plan, scale: HeatScale, nodes: NodeHeat, look: Look) -> Self {
        let graph = &plan.graph;
        let edge_heat = Heat::new(scale, graph.edges.iter().filter_map(|edge| edge.bytes.value));
        let working = graph.nodes.iter().filter(|node| node.kind != NodeKind::Container);
        let node_heat = Heat::new(scale, working.filter_map(|node| nodes.of(node)));
        let (paths, ports, taken) = (Vec::new(), vec![[0.0; 2]; graph.edges.len()], Vec::new());
        let mut drawing =
            Self { graph, plan, edge_heat, node_heat, scale, nodes, paths, ports, taken, size: look.size };
        drawing.hold();
        let rules = plan.rules.iter().map(|rule| plan.left + rule * plan.narrowed);
        drawing.taken = (0..graph.nodes.len()).map(|node| drawing.area(node)).collect();
        drawing.taken.extend(rules.map(|x| [x - 2.0, 0.0, x + 2.0, look.size[1]]));
        drawing.paths = (0..graph.edges.len()).map(|edge| drawing.path(edge)).collect();
        drawing
    }

    /// Draws edges, boxes and words.
    pub(super) fn all(&mut self, chart: &mut Chart) {
        for rule in &self.plan.rules {
            let x = self.plan.left + rule * self.plan.narrowed;
            let (from, to) = (self.plan.top, self.plan.top + self.plan.pitch * layers(self.plan));
            chart.line((x, from), (x, to), Role::Grid, 1.0, false);
        }
        self.states(chart);
        self.edges(chart);
        self.boxes(chart);
        self.labels(chart);
    }

    /// Frames round what states of a graph do, with their names, where there are several and none lies in another.
    fn states(&mut self, chart: &mut Chart) {
        let mut found: Vec<(&str, [f64; 4])> = Vec::new();
        let working = self.graph.nodes.iter().enumerate().filter(|(_, node)| node.kind != NodeKind::Container);
        for (number, node) in working {
            if node.state.is_empty() || node.kind == NodeKind::State {
                return;
            }
            let area = self.area(number);
            match found.iter_mut().find(|(name, _)| *name == node.state) {
                Some((_, all)) => *all = joined(*all, area),
                None => found.push((&node.state, area)),
            }
        }
        // A bar of loops stands out of its box; the name has a line over that.
        let around = |[left, top, right, bottom]: [f64; 4]| [left - 9.0, top - 6.0, right + 9.0, bottom + 6.0];
        let frames: Vec<(&str, [f64; 4])> = found.into_iter().map(|(name, area)| (name, around(area))).collect();
        let apart = frames.iter().enumerate().all(|(n, (_, a))| frames[n + 1..].iter().all(|(_, b)| !meets(a, b)));
        if frames.len() < 2 || !apart {
            return;
        }
        let along: Vec<At> = self.paths.iter().flat_map(|path| sampled(path)).collect();
        for (name, [left, top, right, bottom]) in frames {
            for (from, to) in [
                ((left, top), (right, top)),
                ((right, top), (right, bottom)),
                ((right, bottom), (left, bottom)),
                ((left, bottom), (left, top)),
            ] {
                chart.line(from, to, Role::Grid, 1.2, false);
            }
            // On its left or right, where it is in nobody's way.
            let words = shown::short(&name.replace('`', ""), 28).into_owned();
            let long = wide(&words) * SMALL_SIGN;
            let is_free = |[left, top, right, bottom]: [f64; 4]| {
                let crossed = |(x, y): &At| (left - 3.0..right + 3.0).contains(x) && (top..bottom).contains(y);
                left > 4.0
                    && right < self.size[0] - 4.0
                    && !self.taken.iter().any(|other| meets(&[left, top, right, bottom], other))
                    && !along.iter().any(crossed)
            };
            let beside = [left - 6.0 - long, right + 6.0];
            let places = [top + 1.0, bottom - 11.0].map(|y| beside.map(|x| [x, y, x + long, y + 10.0]));
            if let Some(place) = places.into_iter().flatten().find(|place| is_free(*place)) {
                chart.text((place[0], place[3] - 1.5), Anchor::Start, SMALL, Role::Quiet, &words);
                self.taken.push(place);
            }
        }
    }

    /// What colours stand for.
    pub(super) fn legend(&self) -> String {
        let (from, to) = self.edge_heat.ends();
        legend_words([from, to], self.scale, self.nodes)
    }

    /// What is said of each edge.
    pub(super) fn said(&self) -> Vec<String> {
        self.graph.edges.iter().map(|edge| edge_said(self.graph, edge)).collect()
    }

    /// Where boxes, the signs in them, and edges are.
    pub(super) fn places(self) -> GraphPlaces {
        let boxes: Vec<[f64; 4]> = (0..self.graph.nodes.len()).map(|node| self.area(node)).collect();
        let signs = boxes.iter().zip(&self.graph.nodes).map(|([left, top, right, bottom], node)| {
            let is_large = bottom - top >= 11.0 && right - left >= 3.0 * FOLD_SIGN;
            (node.part.is_some() && self.plan.signed && is_large)
                .then(|| ((right - FOLD_SIGN / 2.0 - 1.0, (top + bottom) / 2.0), self.inks(node)[1]))
        });
        let signs = signs.collect();
        GraphPlaces { boxes, signs, paths: self.paths }
    }

    fn area(&self, node: usize) -> [f64; 4] {
        let ((x, y), (w, h)) = self.frame(node);
        [x - w / 2.0, y - h / 2.0, x + w / 2.0, y + h / 2.0]
    }

    fn spot(&self, (layer, across): (usize, f64)) -> At {
        #[expect(clippy::cast_precision_loss, reason = "a few layers")]
        let y = self.plan.top + (layer as f64 + 0.5) * self.plan.pitch;
        (self.plan.left + across * self.plan.narrowed, y)
    }

    /// Middle and size of a box.
    fn frame(&self, node: usize) -> (At, At) {
        let at = self.spot(self.plan.laid.nodes.get(node).copied().unwrap_or_default());
        let wide = self.graph.nodes.get(node).map_or(0.0, |node| width_of(node, self.plan.signed));
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

    pub(super) fn edge_share(&self, edge: &GraphEdge) -> f64 {
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

    /// Of a box and of the words in it.
    fn inks(&self, node: &GraphNode) -> [Role; 2] {
        if node.kind == NodeKind::Container {
            return [Role::Ground, Role::Ink];
        }
        let shade = step(self.nodes.of(node).map_or(0.0, |value| self.node_heat.share(value)), 0);
        [Role::Heat(shade), Role::OnHeat(shade)]
    }

    fn boxes(&self, chart: &mut Chart) {
        for (number, node) in self.graph.nodes.iter().enumerate() {
            let ((x, y), (w, h)) = self.frame(number);
            let corner = (x - w / 2.0, y - h / 2.0);
            let [fill, ink] = self.inks(node);
            chart.rect(corner, (w, h), fill, &said(node));
            kind_marks(chart, node, corner, (w, h));
            let [first, second] = lines_of(node);
            // Beside a sign, if there is one.
            let sign = if self.plan.signed && node.part.is_some() { FOLD_SIGN } else { 0.0 };
            let (x, w) = (x - sign / 2.0, w - sign);
            // A second line is whole, shorter, or not there.
            let fits = |line: &String| !line.is_empty() && wide(line) * SMALL_SIGN <= w - 4.0;
            let second = [second, short_of(node)].into_iter().find(fits).filter(|_| h >= TWO_LINES);
            if h >= 11.0 {
                let first = shown::short(&first, signs(w - 5.0, SIGN)).into_owned();
                let below = if second.is_some() { -2.5 } else { 3.5 };
                chart.text((x, y + below), Anchor::Middle, TYPE, ink, &first);
            }
            if let Some(second) = second {
                chart.text((x, y + 9.0), Anchor::Middle, SMALL, ink, &second);
            }
        }
    }
}

/// What holds both areas.
fn joined(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]
}

#[expect(clippy::cast_precision_loss, reason = "a few layers")]
fn layers(plan: &Plan) -> f64 {
    plan.laid.layers as f64
}

/// What tells kinds apart: containers have a frame in their own colour, loops a bar above and below, states a frame.
fn kind_marks(chart: &mut Chart, node: &GraphNode, corner: At, size: At) {
    marks(chart, node.kind, node.container.unwrap_or(0), corner, size);
}

pub(super) fn marks(chart: &mut Chart, kind: NodeKind, container: usize, (x, y): At, (w, h): At) {
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
