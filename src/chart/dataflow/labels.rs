//! Words beside the arrows of a graph, where nothing is in their way.

use super::drawing::Drawing;
use super::{SMALL, SMALL_SIGN};
use crate::analysis::{GraphEdge, NestGraph, in_words, size_in_words};
use crate::chart::canvas::{Anchor, At, Chart, wide};
use crate::chart::role::Role;

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

impl Drawing<'_> {
    /// Words beside edges, those that move most first; where there is no room, a pointer tells.
    pub(super) fn labels(&mut self, chart: &mut Chart) {
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
}

pub(super) fn edge_said(graph: &NestGraph, edge: &GraphEdge) -> String {
    let name = |node: usize| graph.nodes.get(node).map_or("", |node| node.name.as_str());
    let elements = in_words(&edge.elements, false);
    format!("{} to {}: {}; elements {elements}", name(edge.from), name(edge.to), edge.volume())
}

/// Whether there is something to be told of an edge.
fn moves(edge: &GraphEdge) -> bool {
    edge.bytes.value != Some(0)
}

pub(super) fn meets(a: &[f64; 4], b: &[f64; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// Points of a path no farther apart than words are high.
pub(super) fn sampled(path: &[At]) -> Vec<At> {
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
