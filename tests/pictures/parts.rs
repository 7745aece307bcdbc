//! A picture that is a part of a larger target, as a pane of the window is: the same as alone, and nothing outside of it changes.

use crate::support::device::device;
use orrery::axis::Position;
use orrery::overlay::{Area, Parts, Picture, RingExhibit, Shot, Studio, Taken};
use orrery::render::{Context, Painter, Target, begin, target};
use orrery::scene::{Composition, View};
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use std::path::Path;
use std::sync::Arc;

/// The target, and the part of it.
const SIZE: [u32; 2] = [500, 340];
const PART: Area = Area { at: [170, 60], size: [300, 250] };

fn studio() -> Studio {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/matmul16.orrery");
    let source = Arc::from(orrery::trace::open(&path, None).expect("bundled"));
    let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("valid");
    Studio::new(source, hierarchy, &mut |_, _| true).expect("in memory")
}

/// Has a painter hold what was taken.
fn prepare(context: &Context, painter: &mut Painter, taken: &Taken) {
    let Picture::Rings(scene) = &taken.picture else { panic!("rings were asked for") };
    painter.prepare(context, scene, &[], &taken.layout.viewport);
}

/// What `draw` leaves in a target of `size` pixels, RGBA.
fn drawn(
    context: &Context,
    size: [u32; 2],
    draw: impl FnOnce(&mut wgpu::CommandEncoder, &wgpu::TextureView),
) -> Vec<u8> {
    let mut target = Target::new(context, size[0], size[1]).expect("small");
    let mut encoder = context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    draw(&mut encoder, target.view());
    target.submit(context, encoder);
    let mut rgba = Vec::new();
    target.collect(context, &mut rgba).expect("it was submitted");
    rgba
}

#[test]
fn a_pane_shows_the_picture_that_it_would_show_alone() {
    let Some(context) = device("parts") else { return };
    let mut studio = studio();
    let mut painter = Painter::new(&context, target::FORMAT);
    let mut other = painter.another(&context);
    for composition in [Composition::Dots, Composition::Large] {
        let mut rings = RingExhibit::new(&studio, composition);
        let alone = Shot::still(PART.size, Position::of(2613.5), View::default(), Parts::default());
        let within = Shot { target: SIZE, area: PART, ..alone.clone() };
        let [alone, within] = [alone, within].map(|shot| shot.take(&mut studio, &mut rings).expect("in memory"));
        assert!(alone.picture == within.picture && alone.info == within.info, "the same picture elsewhere");
        prepare(&context, &mut painter, &alone);
        let expected = drawn(&context, PART.size, |encoder, view| painter.draw(encoder, view));
        // Another painter of the same pipelines has drawn all of the target before.
        let whole = Shot::still(SIZE, Position::at(700), View::default(), Parts::default());
        let whole = whole.take(&mut studio, &mut rings).expect("in memory");
        prepare(&context, &mut other, &whole);
        let before = drawn(&context, SIZE, |encoder, view| other.draw(encoder, view));
        prepare(&context, &mut painter, &within);
        let [[x, y], [w, h]] = [PART.at, PART.size];
        let found = drawn(&context, SIZE, |encoder, view| {
            other.draw(encoder, view);
            painter.draw_part(&context, encoder, view, [x, y, w, h]);
        });
        let pixel = |rgba: &[u8], width: u32, x: u32, y: u32| {
            let at = 4 * (y * width + x) as usize;
            [rgba[at], rgba[at + 1], rgba[at + 2], rgba[at + 3]]
        };
        let (mut lit, mut off) = (0, 0);
        for (px, py) in (0..SIZE[1]).flat_map(|py| (0..SIZE[0]).map(move |px| (px, py))) {
            let here = pixel(&found, SIZE[0], px, py);
            if px < x || px >= x + w || py < y || py >= y + h {
                assert_eq!(here, pixel(&before, SIZE[0], px, py), "outside, at {px}, {py}");
                continue;
            }
            let there = pixel(&expected, w, px - x, py - y);
            lit += u32::from(there[..3].iter().any(|&c| c > 60));
            // Places farther from the corner are rounded otherwise: here and there a level, nowhere another picture.
            off += u32::from(here.iter().zip(there).any(|(a, b)| a.abs_diff(b) > 6));
        }
        assert!(lit > 2_000, "{composition:?}: {lit} pixels show anything");
        assert!(off < 40, "{composition:?}: {off} pixels differ");
    }
}

#[test]
fn a_cleared_target_is_the_ground() {
    let Some(context) = device("parts") else { return };
    let ground = orrery::scene::palette::BACKGROUND;
    let rgba = drawn(&context, [20, 16], |encoder, view| drop(begin(encoder, view)));
    assert!(rgba.chunks_exact(4).all(|px| px == ground), "{:?}", &rgba[..4]);
}
