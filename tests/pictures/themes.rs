//! A picture in a light theme is the dark one, pixel by pixel, as `scene::palette::themed` says, words and all.

use crate::support::device::device;
use orrery::axis::Position;
use orrery::overlay::{Offscreen, Parts, RingExhibit, Shot, Studio};
use orrery::render::Context;
use orrery::scene::palette::{Theme, themed};
use orrery::scene::{Composition, View};
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use std::path::Path;
use std::sync::Arc;

const SIZE: [u32; 2] = [480, 270];

fn still(context: &Context, studio: &mut Studio, theme: Theme) -> Vec<u8> {
    let mut rings = RingExhibit::new(studio, Composition::Dots);
    let shot = Shot::still(SIZE, Position::of(2613.5), View::default(), Parts::default());
    let mut offscreen = Offscreen::new(context, SIZE).expect("small").with_theme(context, theme);
    offscreen.still(context, studio, &mut rings, &shot).expect("in memory")
}

#[test]
fn a_light_picture_is_the_dark_one_turned() {
    let Some(context) = device("themes") else { return };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/matmul16.orrery");
    let source = Arc::from(orrery::trace::open(&path, None).expect("bundled"));
    let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("valid");
    let mut studio = Studio::new(source, hierarchy, &mut |_, _| true).expect("in memory");
    let dark = still(&context, &mut studio, Theme::Dark);
    for theme in [Theme::Light, Theme::Print] {
        let light = still(&context, &mut studio, theme);
        let mut changed = 0;
        for (n, (dark, light)) in dark.chunks_exact(4).zip(light.chunks_exact(4)).enumerate() {
            let dark = [dark[0], dark[1], dark[2], 255];
            let expected = themed(dark, theme);
            // Print multiplies what was rounded once.
            let apart = (0..4).map(|c| expected[c].abs_diff(light[c])).max();
            assert!(apart <= Some(1), "{theme:?}, pixel {n}: {dark:?} is {light:?}, not {expected:?}");
            changed += usize::from(expected != dark);
        }
        assert!(changed > light.len() / 4 * 9 / 10, "{changed}: nearly all of a dark picture is ground");
    }
}
