//! Regions stand in the order that is asked for, and what is put elsewhere is the same.
#![cfg(feature = "formats")]

use crate::support::scene::Show;
use orrery::scene::motion::position_at;
use orrery::scene::{RegionOrder, Scene, Stage, View};

/// Angles of the dots at home, by region, clockwise from the top, and how far out each stands.
fn homes(scene: &Scene, stage: &Stage) -> Vec<Vec<[f32; 2]>> {
    let mut by_region = vec![Vec::new(); stage.home().regions.len()];
    for glyph in scene.glyphs.iter().filter(|glyph| glyph.layer == 0) {
        let (region, ..) = stage.home().extent(glyph.id).expect("a dot at home");
        let [x, y] = position_at(&scene.rings.sectors, &glyph.flight, scene.now);
        let theta = (y.atan2(x) + std::f32::consts::FRAC_PI_2).rem_euclid(std::f32::consts::TAU);
        by_region[region].push([x.hypot(y), theta]);
    }
    by_region
}

#[test]
fn homes_and_flights_go_where_the_order_has_them_and_back() {
    let mut show = Show::open("matmul16");
    let view = |first: &[usize]| View { order: RegionOrder::new(first.iter().copied()), ..View::default() };
    let plain = show.scene(4_000.5, &view(&[]));
    for first in [&[2][..], &[1], &[2, 1], &[1, 2]] {
        let order = RegionOrder::new(first.iter().copied());
        let scene = show.scene(4_000.5, &view(first));
        let homes = homes(&scene, &show.stage);
        let spans = homes.iter().map(|dots| {
            assert!(!dots.is_empty());
            let thetas = dots.iter().map(|[_, theta]| *theta);
            [thetas.clone().fold(f32::MAX, f32::min), thetas.fold(0.0, f32::max)]
        });
        let spans: Vec<[f32; 2]> = spans.collect();
        for pair in order.all(3).windows(2) {
            assert!(spans[pair[0]][1] < spans[pair[1]][0], "{first:?}: {spans:?}");
        }
        // Nothing comes or goes, and all that stands in caches is where it was.
        assert_eq!(scene.glyphs.len(), plain.glyphs.len());
        let at_rest = |scene: &Scene| -> Vec<_> {
            let in_caches = scene.glyphs.iter().filter(|g| g.layer == 2);
            in_caches
                .map(|g| (g.id, g.color, position_at(&scene.rings.sectors, &g.flight, 1.0).map(f32::to_bits)))
                .collect()
        };
        assert!(at_rest(&scene) == at_rest(&plain) && !at_rest(&plain).is_empty());
        let homes_now = |scene: &Scene| scene.glyphs.iter().filter(|g| g.layer == 0).map(|g| g.id).collect::<Vec<_>>();
        assert_eq!(homes_now(&scene), homes_now(&plain), "the same items have dots at home");
    }
    assert!(show.scene(4_000.5, &view(&[])) == plain, "what was drawn in between leaves no trace");
}
