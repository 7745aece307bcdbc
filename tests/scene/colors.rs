//! A colour that a region is given is everywhere where its first one was, and nothing else is changed.
#![cfg(feature = "formats")]

use crate::support::scene::Show;
use orrery::scene::palette::{RegionColors, Rgba, region};
use orrery::scene::{Camera, Composition, Scene, Stage, View};
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use orrery::timeline::{Cursor, Options, Timeline};
use orrery::trace;
use std::path::Path;
use std::sync::Arc;

/// A colour that nothing of the palette has.
const YELLOW: [u8; 3] = [255, 255, 0];
/// Red, green, blue of all that has the colour of a region: dots, patches, bars and arcs; trails have colours of their own.
fn colors(scene: &Scene) -> Vec<[u8; 3]> {
    let glyphs = scene.glyphs.iter().map(|g| g.color);
    let all = glyphs.chain(scene.cells.iter().map(|c| c.color)).chain(scene.disks.iter().map(|d| d.color));
    all.chain(scene.structure.iter().map(|s| s.color)).map(|[r, g, b, _]| [r, g, b]).collect()
}

/// How many colours are changed; each was that of the region, and is now the one that it was given.
fn changed(number: usize, first: &Scene, given: &Scene) -> usize {
    let [r, g, b, _]: Rgba = region(number);
    let (first, given) = (colors(first), colors(given));
    assert_eq!(first.len(), given.len(), "no more and no fewer shapes");
    for (was, is) in first.iter().zip(&given) {
        let expect = if *was == [r, g, b] { YELLOW } else { *was };
        assert_eq!(*is, expect, "was {was:?}");
    }
    first.iter().zip(&given).filter(|(was, is)| was != is).count()
}

/// The colours where number `region` is given one.
fn given(region: usize) -> RegionColors {
    let yellow = Some([YELLOW[0], YELLOW[1], YELLOW[2], 255]);
    RegionColors::new((0..=region).map(|n| yellow.filter(|_| n == region)))
}

#[test]
fn dots_homes_and_arcs_are_recoloured_and_nothing_else() {
    let mut show = Show::open("matmul16");
    let closer = Camera { at: [0.3, 0.3], zoom: 3.0 };
    for camera in [Camera::default(), closer] {
        for tick in [700.4, 4_000.5] {
            let view = View { camera, ..View::default() };
            let first = show.scene(tick, &view);
            let other = show.scene(tick, &View { colors: given(1), ..view.clone() });
            assert!(changed(1, &first, &other) > 20, "at {tick}");
            assert_eq!(first.trails, other.trails);
            // What was drawn in between leaves no trace.
            assert!(colors(&show.scene(tick, &view)) == colors(&first), "at {tick}");
        }
    }
}

#[test]
fn patches_and_bars_of_the_large_picture_are_recoloured_and_nothing_else() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/mpm.orrery");
    let source: Arc<_> = Arc::from(trace::open(&path, None).expect("bundled"));
    let hierarchy = Hierarchy::new(&preset("textbook").expect("a preset")).expect("sound");
    let timeline = Timeline::build(source, hierarchy, Options::default(), &mut |_, _| true).expect("readable");
    let timeline = Arc::new(timeline);
    let mut stage = Stage::composed(timeline.start(), &timeline.tables().regions, Composition::Large);
    let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("readable");
    let view = View { tail: 4_096, window: 4_096, ..View::default() };
    let moment = cursor.seek_tallied(30_000, view.history(), view.window).expect("readable");
    let first = stage.frame(&moment, &view);
    let other = stage.frame(&moment, &View { colors: given(8), ..view.clone() });
    // Patches of several regions have the colour of most.
    let (changed, cells) = (changed(8, &first, &other), first.cells.len());
    assert!(changed > 20 && cells > 20, "{changed} of all, {cells} patches");
}
