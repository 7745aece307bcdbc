//! Places of a graph in layers, after Sugiyama, Tagawa and Toda (1981): layers by longest paths, edges past a layer through places of
//! their own there, orders within layers by barycentres, coordinates as near to neighbours as widths allow.
//!
//! The same graph has the same places. Time grows with places times sweeps; nothing here calls itself.

/// A graph that is to be laid out. Edges that close a cycle are turned round for the layout.
pub(super) struct Layered {
    /// How wide each node is, across the flow.
    pub(super) widths: Vec<f64>,
    /// From node to node.
    pub(super) edges: Vec<(usize, usize)>,
}

/// Where nodes and edges are: a layer, and a coordinate across the flow, from 0 on.
#[derive(Debug, Default)]
pub(super) struct Laid {
    /// Of each node.
    pub(super) nodes: Vec<(usize, f64)>,
    /// Of each edge: where it passes, ends included, in the order from its first node to its second.
    pub(super) edges: Vec<Vec<(usize, f64)>>,
    pub(super) layers: usize,
    pub(super) width: f64,
}

/// Between neighbours in a layer.
const APART: f64 = 16.0;
/// Room of an edge that passes a layer.
const PASSING: f64 = 10.0;
/// Places of passing edges, at most: past them edges are straight.
const MOST_PASSING: usize = 20_000;
/// Sweeps for orders and for coordinates.
const SWEEPS: usize = 12;

/// A node, or a place where an edge passes.
struct Place {
    layer: usize,
    width: f64,
    above: Vec<usize>,
    below: Vec<usize>,
    at: f64,
}

/// Lays a graph out.
pub(super) fn laid(graph: &Layered) -> Laid {
    let count = graph.widths.len();
    let edges: Vec<(usize, usize)> = graph.edges.iter().map(|&(from, to)| (from.min(count), to.min(count))).collect();
    let layer = layers(count, &edges);
    let mut places: Vec<Place> = layer
        .iter()
        .zip(&graph.widths)
        .map(|(&layer, &width)| Place { layer, width, above: Vec::new(), below: Vec::new(), at: 0.0 })
        .collect();
    let mut paths: Vec<Vec<usize>> = Vec::with_capacity(edges.len());
    for &(from, to) in &edges {
        if from >= count || to >= count {
            paths.push(Vec::new());
            continue;
        }
        let turned = layer[from] > layer[to];
        let (top, bottom) = if turned { (to, from) } else { (from, to) };
        let mut path = vec![top];
        let between = layer[bottom].saturating_sub(layer[top] + 1);
        if places.len() + between <= count + MOST_PASSING {
            for passed in layer[top] + 1..layer[bottom] {
                places.push(Place { layer: passed, width: PASSING, above: Vec::new(), below: Vec::new(), at: 0.0 });
                path.push(places.len() - 1);
            }
        }
        path.push(bottom);
        for pair in path.windows(2).filter(|pair| pair[0] != pair[1]) {
            places[pair[0]].below.push(pair[1]);
            places[pair[1]].above.push(pair[0]);
        }
        if turned {
            path.reverse();
        }
        paths.push(path);
    }
    let depth = layer.iter().max().map_or(0, |last| last + 1);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); depth];
    places.iter().enumerate().for_each(|(at, place)| rows[place.layer].push(at));
    order(&mut places, &mut rows);
    settle(&mut places, &rows);
    let least = places.iter().map(|p| p.at - p.width / 2.0).fold(f64::INFINITY, f64::min);
    let least = if least.is_finite() { least } else { 0.0 };
    let width = places.iter().map(|p| p.at + p.width / 2.0 - least).fold(0.0, f64::max);
    let spot = |at: usize| places.get(at).map_or((0, 0.0), |p| (p.layer, p.at - least));
    Laid {
        nodes: (0..count).map(spot).collect(),
        edges: paths.iter().map(|path| path.iter().map(|at| spot(*at)).collect()).collect(),
        layers: depth,
        width,
    }
}

/// The layer of each node: after all that lead to it, and no earlier than it has to be. Nodes on cycles are taken as they come.
fn layers(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waits = vec![0usize; count];
    for &(from, to) in edges.iter().filter(|(from, to)| from != to && *from < count && *to < count) {
        below[from].push(to);
        waits[to] += 1;
    }
    let mut layer = vec![0usize; count];
    let mut done = vec![false; count];
    let mut order = Vec::with_capacity(count);
    let mut free: std::collections::VecDeque<usize> = (0..count).filter(|node| waits[*node] == 0).collect();
    let mut next_stuck = 0;
    while order.len() < count {
        let Some(node) = free.pop_front() else {
            // All that is left waits for one another: the first of them is taken.
            while done.get(next_stuck).copied().unwrap_or(false) {
                next_stuck += 1;
            }
            free.push_back(next_stuck);
            waits[next_stuck] = 0;
            continue;
        };
        if std::mem::replace(&mut done[node], true) {
            continue;
        }
        order.push(node);
        for &next in &below[node] {
            if done[next] {
                continue;
            }
            layer[next] = layer[next].max(layer[node] + 1);
            waits[next] = waits[next].saturating_sub(1);
            if waits[next] == 0 {
                free.push_back(next);
            }
        }
    }
    // What nothing leads to stands right before what it leads to.
    let mut entered = vec![false; count];
    edges.iter().filter(|(_, to)| *to < count).for_each(|(_, to)| entered[*to] = true);
    for node in (0..count).filter(|node| !entered[*node]) {
        if let Some(first) = below[node].iter().map(|next| layer[*next]).min() {
            layer[node] = first.saturating_sub(1);
        }
    }
    layer
}

/// Orders places within layers by where their neighbours are.
fn order(places: &mut [Place], rows: &mut [Vec<usize>]) {
    for row in &*rows {
        (0u32..).zip(row).for_each(|(n, at)| places[*at].at = f64::from(n));
    }
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        for step in 0..rows.len() {
            let row = if down { step } else { rows.len() - 1 - step };
            let mut keyed: Vec<(f64, usize)> = rows[row]
                .iter()
                .map(|&at| {
                    let neighbours = if down { &places[at].above } else { &places[at].below };
                    (mean(places, neighbours).unwrap_or(places[at].at), at)
                })
                .collect();
            // Equal ones stay as they were.
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            rows[row] = keyed.into_iter().map(|(_, at)| at).collect();
            (0u32..).zip(&rows[row]).for_each(|(n, at)| places[*at].at = f64::from(n));
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few neighbours")]
fn mean(places: &[Place], of: &[usize]) -> Option<f64> {
    (!of.is_empty()).then(|| of.iter().map(|at| places[*at].at).sum::<f64>() / of.len() as f64)
}

/// Coordinates: each place as near to its neighbours as those beside it allow (least squares in a fixed order).
fn settle(places: &mut [Place], rows: &[Vec<usize>]) {
    for row in rows {
        let mut next = 0.0;
        for &at in row {
            places[at].at = next + places[at].width / 2.0;
            next += places[at].width + APART;
        }
        row.iter().for_each(|at| places[*at].at -= next / 2.0);
    }
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        for step in 0..rows.len() {
            let row = &rows[if down { step } else { rows.len() - 1 - step }];
            let wished: Vec<f64> = row
                .iter()
                .map(|&at| {
                    let place = &places[at];
                    let near = if down { [&place.above, &place.below] } else { [&place.below, &place.above] };
                    let first = mean(places, near[0]);
                    let second = mean(places, near[1]);
                    // In the last sweeps both sides count.
                    match (first, second) {
                        (Some(a), Some(b)) if sweep + 4 >= SWEEPS => (a + b) / 2.0,
                        (Some(a), _) | (None, Some(a)) => a,
                        (None, None) => place.at,
                    }
                })
                .collect();
            spread(places, row, &wished);
        }
    }
}

/// Places a row as near to what is wished as can be, in its order and without overlap: pools of those that would, at their mean.
fn spread(places: &mut [Place], row: &[usize], wished: &[f64]) {
    let mut offsets = Vec::with_capacity(row.len());
    let mut offset = 0.0;
    for (n, &at) in row.iter().enumerate() {
        if n > 0 {
            offset += (places[row[n - 1]].width + places[at].width) / 2.0 + APART;
        }
        offsets.push(offset);
    }
    // Sum and number of those at one place.
    let mut pools: Vec<(f64, f64)> = Vec::new();
    for (wish, offset) in wished.iter().zip(&offsets) {
        pools.push((wish - offset, 1.0));
        while let [.., (a, n), (b, m)] = pools[..]
            && a / n > b / m
        {
            pools.truncate(pools.len() - 2);
            pools.push((a + b, n + m));
        }
    }
    let mut next = 0;
    for (sum, size) in pools {
        let base = sum / size;
        let mut left = size;
        while left > 0.5 {
            places[row[next]].at = base + offsets[next];
            next += 1;
            left -= 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{APART, Laid, Layered, laid};

    fn of(count: usize, edges: &[(usize, usize)]) -> Laid {
        laid(&Layered { widths: vec![20.0; count], edges: edges.to_vec() })
    }

    #[test]
    fn layers_follow_longest_paths_and_edges_pass_every_layer() {
        let found = of(5, &[(0, 1), (1, 2), (0, 2), (3, 2), (2, 4)]);
        let layers: Vec<usize> = found.nodes.iter().map(|(layer, _)| *layer).collect();
        // 3 stands right before 2.
        assert_eq!(layers, [0, 1, 2, 1, 3]);
        assert_eq!(found.edges[2].iter().map(|(layer, _)| *layer).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(found.layers, 4);
    }

    #[test]
    fn nothing_overlaps_and_crossings_are_undone() {
        let found = of(6, &[(0, 5), (1, 4), (2, 3)]);
        let at = |node: usize| found.nodes[node].1;
        // Each pair stands in one line.
        assert!(
            (at(0) - at(5)).abs() < 1e-6 && (at(1) - at(4)).abs() < 1e-6 && (at(2) - at(3)).abs() < 1e-6,
            "{found:?}"
        );
        for (a, b) in [(0, 1), (1, 2), (3, 4), (4, 5)] {
            assert!((at(a) - at(b)).abs() >= 20.0 + APART - 1e-6, "{found:?}");
        }
    }

    #[test]
    fn cycles_and_many_nodes_end() {
        let found = of(3, &[(0, 1), (1, 2), (2, 0), (1, 1)]);
        assert_eq!(found.nodes.len(), 3);
        let count = 100_000;
        let edges: Vec<(usize, usize)> =
            (1..count).map(|n| (n / 7, n)).chain((0..1000).map(|n| (n, count - 1 - n))).collect();
        let started = std::time::Instant::now();
        let found = of(count, &edges);
        assert!(found.width > 0.0 && started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }
}
