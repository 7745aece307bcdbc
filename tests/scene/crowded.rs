//! Long trails of a real program under caches of today: where they are most crowded they still leave most of what lies under
//! them to be seen, and each kind of path is seen beside the others.
#![cfg(feature = "formats")]
#![expect(clippy::cast_possible_truncation, reason = "counts of steps and cells of a small picture")]

use crate::support::regions::square;
use crate::support::scene::Show;
use orrery::reference::{MemoryTrace, Reference, Tables};
use orrery::scene::motion::place_on_path;
use orrery::scene::{Scene, View, palette};
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use std::sync::Arc;

const N: u64 = 320;

/// A stencil over two arrays, by columns: each step jumps a row.
fn stencil() -> Show {
    let region = |name: &str, base| square(name, base, N);
    let (now, next) = (1 << 20, 1 << 21);
    let cell = |base: u64, i: u64, j: u64| base + 8 * (i * N + j);
    let mut references = Vec::new();
    for (j, i) in (1..80).flat_map(|j| (1..N - 1).map(move |i| (j, i))) {
        for (i, j) in [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)] {
            references.push(Reference::new(orrery::reference::Kind::Read, cell(now, i, j), 8));
        }
        references.push(Reference::new(orrery::reference::Kind::Write, cell(next, i, j), 8));
    }
    let tables = Tables { regions: vec![region("now", now), region("next", next)], ..Tables::default() };
    let hierarchy = Hierarchy::new(&preset("textbook").expect("shipped")).expect("sound");
    Show::under(Arc::new(MemoryTrace::new(references, tables)), hierarchy)
}

/// What paths of a colour cover of a disc round the rings' centre, drawn on each other: 0 = nothing, 1 = all.
fn covered(scene: &Scene, color: palette::Rgba, radius: f32) -> f32 {
    const SIDE: usize = 96;
    let square = 2.0 * radius / SIDE as f32;
    let mut open = vec![1.0f32; SIDE * SIDE];
    for segment in scene.trails.iter().filter(|s| s.color == color) {
        let [a, b] = [segment.s0, segment.s1].map(|s| place_on_path(&scene.rings.sectors, &segment.flight, s));
        let length = (b[0] - a[0]).hypot(b[1] - a[1]);
        let steps = (length / square * 4.0).ceil().max(1.0);
        for step in 0..steps as u16 {
            let s = (f32::from(step) + 0.5) / steps;
            let at = [0, 1].map(|axis| (a[axis] + (b[axis] - a[axis]) * s + radius) / square);
            if at.iter().all(|v| (0.0..SIDE as f32).contains(v)) {
                let alpha = segment.alpha0 + (segment.alpha1 - segment.alpha0) * s;
                let share = alpha * segment.width / 310.0 * length / steps / (square * square);
                open[at[1] as usize * SIDE + at[0] as usize] *= 1.0 - share.min(1.0);
            }
        }
    }
    let middle = SIDE as f32 * 0.5;
    let inside = |n: &usize| ((n % SIDE) as f32 + 0.5 - middle).hypot((n / SIDE) as f32 + 0.5 - middle) < middle;
    let cells: Vec<f32> = (0..SIDE * SIDE).filter(inside).map(|n| 1.0 - open[n]).collect();
    cells.iter().sum::<f32>() / cells.len() as f32
}

#[test]
fn the_inner_rings_are_never_one_blaze() {
    let mut show = stencil();
    let at = show.len as f64 - 100.0;
    for tail in [4_096, 16_384, 65_536, 1_000_000] {
        let scene = show.scene(at, &View { tail, ..View::default() });
        for ring in [0, 1] {
            let radius = scene.rings.rings[ring].r1;
            let [miss, evict, hit] =
                [palette::MISS, palette::EVICT, palette::HIT].map(|color| covered(&scene, color, radius));
            let told = format!("trail {tail}, ring {ring}: misses {miss}, evictions {evict}, hits {hit}");
            assert!(miss < 0.62 && evict < 0.62 && hit < 0.35, "{told}");
            assert!(miss > 0.08, "paths of misses are seen: {told}");
            assert!(ring == 0 || evict > 0.05, "paths of evictions are seen: {told}");
            eprintln!("{told}");
        }
    }
}
