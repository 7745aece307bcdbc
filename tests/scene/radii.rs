//! Rings to scale: the same dots in rings whose area is as capacity, homes where they were, and words for what is not to scale.
#![cfg(feature = "formats")]

use crate::support::scene::Show;
use orrery::scene::layout::Radii;
use orrery::scene::motion::position_at;
use orrery::scene::{Scene, View};
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use orrery::trace;
use std::path::Path;
use std::sync::Arc;

fn view(radii: Radii) -> View {
    View { radii, budget: 1_000_000, ..View::default() }
}

/// Dots of a layer: what each is, and where it stands.
fn dots(scene: &Scene, layer: u8) -> Vec<(u64, [u32; 2])> {
    let of = scene.glyphs.iter().filter(|glyph| glyph.layer == layer);
    of.map(|g| (g.id, position_at(&scene.rings.sectors, &g.flight, 1.0).map(f32::to_bits))).collect()
}

#[test]
fn dots_keep_their_slots_and_homes_their_places() {
    let mut show = Show::open("matmul16");
    let fit = show.scene(4_000.5, &view(Radii::Fit));
    let scale = show.scene(4_000.5, &view(Radii::Scale));
    assert_eq!(dots(&fit, 0), dots(&scale, 0), "homes");
    let ids = |scene: &Scene| dots(scene, 2).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(ids(&fit), ids(&scale));
    assert!(dots(&fit, 2) != dots(&scale, 2) && !ids(&fit).is_empty());
    // L2 of `paper` holds four times as much as L1, and has four times its area.
    let area = |n: usize| scale.rings.rings[n].r1.powi(2) - scale.rings.rings[n].r0.powi(2);
    assert!((area(1) / area(0) - 4.0).abs() < 0.01, "{} {}", area(0), area(1));
    assert_eq!((fit.notes.scale.as_str(), scale.notes.scale.as_str()), ("", "rings: area as capacity"));
    assert!(show.scene(4_000.5, &view(Radii::Fit)) == fit, "what was drawn in between leaves no trace");
}

#[test]
fn a_ring_that_is_too_thin_is_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/mpm.orrery");
    let hierarchy = Hierarchy::new(&preset("textbook").expect("a preset")).expect("sound");
    let mut show = Show::under(Arc::from(trace::open(&path, None).expect("bundled")), hierarchy);
    let scene = show.scene(30_000.5, &view(Radii::Scale));
    let widened: Vec<bool> = scene.rings.rings.iter().map(|ring| ring.widened).collect();
    assert_eq!(widened, [true, true, false], "32 KiB, 256 KiB and 8 MiB");
    assert_eq!(scene.notes.scale, "rings: area as capacity; not to scale: L1, L2");
    assert!(scene.rings.rings.iter().all(|ring| ring.r1 - ring.r0 > 0.04), "each is seen");
}
