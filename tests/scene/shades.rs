//! What a picture shows of which regions: what is hidden is nowhere in it, what is dimmed is faint, the rest is as it was.
#![cfg(feature = "formats")]

use crate::support::scene::{Show, addr, data};
use orrery::scene::{Choice, Scene, Shade, View};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Regions of the multiplication: A, B, C, each of 256 doubles.
fn shaded(shades: &[Shade], tail: u64) -> View {
    View { tail, budget: 1_000_000, shades: Arc::from(shades), ..View::default() }
}

/// Colours of dots at home, opacity apart, by item.
fn homes(scene: &Scene) -> BTreeSet<(u64, [u8; 3])> {
    let dots = scene.glyphs.iter().filter(|g| g.layer == 0);
    dots.map(|g| (g.id, [g.color[0], g.color[1], g.color[2]])).collect()
}

#[test]
fn hidden_regions_are_nowhere_and_others_as_they_were() {
    use Shade::{Dim, Full, Hidden};
    let mut show = Show::open("matmul16");
    let regions = show.regions();
    assert_eq!(regions.len(), 3);
    let of = |addr: u64| regions.iter().position(|r| (r.base..r.end()).contains(&addr));
    for tail in [1, 64, 400, 20_000] {
        for tick in [700.4, 4_000.5, 8_000.9] {
            let all = show.scene(tick, &shaded(&[], tail));
            let part = show.scene(tick, &shaded(&[Full, Hidden], tail));
            let stage = &show.stage;
            let seen = |scene: &Scene, region| data(scene).filter(|g| of(addr(g, stage)) == Some(region)).count();
            assert!(seen(&all, 1) > 0 && seen(&part, 1) == 0, "at {tick}");
            for region in [0, 2] {
                let glyphs = |scene: &Scene| -> Vec<_> {
                    data(scene).filter(|g| of(addr(g, stage)) == Some(region)).cloned().collect()
                };
                assert!(glyphs(&all) == glyphs(&part), "at {tick}: region {region} is changed");
            }
            assert!(homes(&part).is_subset(&homes(&all)) && homes(&part).len() < homes(&all).len());
            assert_eq!(all.temperatures, part.temperatures, "what is counted is the same");
            // Lines that begin or end among the homes of the hidden region.
            let angles: Vec<f32> = (0..256).map(|item| stage.home().polar(1, item)[1]).collect();
            let [from, to] = [f32::min, f32::max].map(|end| angles.iter().copied().reduce(end).expect("256"));
            let lead = |scene: &Scene| {
                let ends = scene.trails.iter().flat_map(|s| [s.flight.from, s.flight.to]);
                ends.filter(|end| end.cache < 0.0 && (from..=to).contains(&end.b)).count()
            };
            assert!(lead(&part) == 0 && (lead(&all) > 0 || tail == 1), "tail {tail} at {tick}: {}", lead(&all));
            // Faint is less opaque, and nothing else.
            let faint = show.scene(tick, &shaded(&[Full, Dim], tail));
            assert_eq!(faint.glyphs.len(), all.glyphs.len());
            let stage = &show.stage;
            for (a, b) in data(&all).zip(data(&faint)).filter(|(g, _)| of(addr(g, stage)) == Some(1)) {
                assert!(b.color[3] < a.color[3] / 4 && b.flight == a.flight, "{a:?} {b:?}");
            }
        }
    }
    // All hidden: no line and no dot but the CPU's.
    let none = show.scene(4_000.5, &shaded(&[Hidden; 3], 64));
    assert_eq!((none.trails.len(), none.glyphs.len()), (0, 1));
    let none = show.scene(8_400.5, &shaded(&[Hidden; 3], 100_000));
    assert_eq!((none.trails.len(), none.glyphs.len()), (0, 1), "flows");
}

#[test]
fn large_caches_and_closer_looks_hide_them_too() {
    let mut show = Show::open("matmul16");
    let camera = orrery::scene::Camera { at: [0.6, 0.5], zoom: 6.0 };
    let view = |shades: &[Shade]| View { camera, reach: [2.0, 1.2], ..shaded(shades, 8) };
    let all = show.scene(4_000.5, &view(&[]));
    let none = show.scene(4_000.5, &view(&[Shade::Hidden; 3]));
    assert!(all.glyphs.len() > 10 && none.glyphs.iter().all(|g| g.layer > 3), "{}", none.glyphs.len());
    let names = Choice { show: vec!["B".into()], rest: Shade::Hidden, ..Choice::default() };
    let shades = names.shades(&show.regions());
    assert_eq!(shades[..], [Shade::Hidden, Shade::Full, Shade::Hidden]);
}
