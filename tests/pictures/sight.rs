//! What is not in sight is neither made nor sent, and no pixel shows it; what did not change is not sent again.

use crate::support::device::device;
use crate::support::regions::span;
use crate::support::scene::Show;
use orrery::reference::{MemoryTrace, Tables};
use orrery::render::{Context, Painter, Sent, Target, Viewport, target};
use orrery::scene::{Camera, Scene, View};
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use orrery::trace::synth::{BASE, mix};
use std::sync::Arc;

const SIZE: [u32; 2] = [320, 200];
/// Pixels of the rings' radius in the whole picture.
const RADIUS: f32 = 90.0;

/// 64 MiB under three levels, of which the last is drawn as cells.
fn show() -> Show {
    let region = |name: &str, base| span(name, base, 32 << 20);
    let regions = vec![region("a", BASE), region("b", BASE + (32 << 20))];
    let trace = MemoryTrace::new(mix(40_000, 5).collect(), Tables { regions, ..Tables::default() });
    Show::under(Arc::new(trace), Hierarchy::new(&preset("textbook").expect("a preset")).expect("sound"))
}

fn view(camera: Camera, cull: bool) -> View {
    let reach = SIZE.map(|side| 0.5 * side as f32 / RADIUS);
    View { camera, reach, cull, tail: 400, ..View::default() }
}

fn viewport(camera: &Camera) -> Viewport {
    let px = RADIUS * camera.zoom;
    let center = [0, 1].map(|axis| 0.5 * SIZE[axis] as f32 - camera.at[axis] * px);
    Viewport { size: SIZE, center, px_per_unit: px, line_scale: RADIUS / 310.0 }
}

fn draw(context: &Context, painter: &mut Painter, target: &mut Target, scene: &Scene, camera: &Camera) -> Vec<u8> {
    painter.prepare(context, scene, &[], &viewport(camera));
    let mut encoder = context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    painter.draw(&mut encoder, target.view());
    target.submit(context, encoder);
    let mut rgba = Vec::new();
    target.collect(context, &mut rgba).expect("it was submitted");
    rgba
}

#[test]
fn a_picture_without_what_is_out_of_sight_is_the_same_to_the_pixel() {
    let Some(context) = device("render_sight") else { return };
    let mut show = show();
    let mut painter = Painter::new(&context, target::FORMAT);
    let mut target = Target::new(&context, SIZE[0], SIZE[1]).expect("small");
    let (mut kept, mut all, mut lit) = (0, 0, 0);
    for (n, position) in [12_345.4, 39_000.02, 39_002.7].into_iter().enumerate() {
        for at in [[0.05, 0.02], [0.35, -0.3], [-0.62, 0.3], [0.71, 0.5], [0.0, -0.88]] {
            for zoom in [1.3, 3.0, 10.0, 70.0, 1000.0] {
                // Not all of them each time.
                let camera = Camera { at, zoom: zoom * (1.0 - 0.07 * n as f32).max(1.0 / zoom) };
                let [culled, whole] = [true, false].map(|cull| show.scene(position, &view(camera, cull)));
                kept += culled.glyphs.len() + culled.trails.len() + culled.cells.len();
                all += whole.glyphs.len() + whole.trails.len() + whole.cells.len();
                let seen = draw(&context, &mut painter, &mut target, &culled, &camera);
                let expected = draw(&context, &mut painter, &mut target, &whole, &camera);
                assert!(seen == expected, "at {position}, {camera:?}");
                lit += usize::from(seen.chunks_exact(4).any(|px| px[..3].iter().any(|&c| c > 60)));
            }
        }
    }
    assert!(kept * 2 < all, "{kept} of {all} shapes are made");
    assert!(lit > 40, "{lit} of 75 pictures show anything");
}

#[test]
fn the_closer_the_fewer_shapes() {
    let mut show = show();
    let mut count = |zoom: f32, cull: bool| {
        let scene = show.scene(39_000.5, &view(Camera { at: [0.8, 0.35], zoom }, cull));
        (scene.glyphs.len(), scene.trails.len(), scene.cells.len())
    };
    let (whole, uncut) = (count(1.0, true), count(1.0, false));
    assert_eq!(whole, uncut, "the whole picture leaves nothing out");
    assert!(whole.0 > 10_000 && whole.1 > 100 && whole.2 > 1_000, "{whole:?}");
    for zoom in [10.0, 100.0, 1000.0] {
        let (glyphs, segments, cells) = count(zoom, true);
        assert!(glyphs < 16_000 && segments < whole.1 / 2 && cells == 0, "at {zoom}: {glyphs}, {segments}, {cells}");
    }
    assert!(count(1000.0, true).0 < 2_000);
}

#[test]
fn what_did_not_change_is_not_sent_again_and_nothing_new_is_made_for_it() {
    let Some(context) = device("render_sight") else { return };
    let mut show = show();
    let mut painter = Painter::new(&context, target::FORMAT);
    let mut target = Target::new(&context, SIZE[0], SIZE[1]).expect("small");
    let camera = Camera::default();
    let mut send = |painter: &mut Painter, position: f64| {
        let before = painter.sent();
        let scene = show.scene(position, &view(camera, true));
        draw(&context, painter, &mut target, &scene, &camera);
        let now = painter.sent();
        assert_eq!(now.frames, before.frames + 1);
        (
            now.bytes - before.bytes,
            now.lists - before.lists,
            now.unchanged - before.unchanged,
            now.buffers - before.buffers,
        )
    };
    let (first, lists, unchanged, buffers) = send(&mut painter, 39_000.25);
    // All but the disks have a buffer of corners and one that says which of them make triangles.
    let made = 2 * lists - 1;
    assert!(
        first > 500_000 && unchanged == 0 && (5..=7).contains(&lists) && buffers == made,
        "{first}, {buffers} of {lists}"
    );
    let (again, same, unchanged, buffers) = send(&mut painter, 39_000.25);
    assert_eq!((same, unchanged, buffers), (lists, lists, 0));
    assert!(again < 100, "what every shader knows: {again}");
    // On in the same reference: glows and trails fade, the rest stays.
    let (later, _, unchanged, buffers) = send(&mut painter, 39_000.5);
    assert!(later < first / 2 && unchanged > 0 && buffers == 0, "{later} of {first}, {unchanged} unchanged");
    painter.again();
    let all = painter.sent();
    assert_eq!((all.frames, all.most), (4, first));
    assert!(all.words().starts_with("GPU: 4 frames, ") && Sent::default().words().is_empty(), "{}", all.words());
}

#[test]
fn lists_of_a_scene_that_is_given_back_are_used_again() {
    let mut show = show();
    let mut frames = Vec::new();
    for n in 0..6 {
        let scene = show.scene(39_000.0 + 0.1 * f64::from(n), &view(Camera::default(), true));
        frames.push([scene.glyphs.as_ptr() as usize, scene.structure.as_ptr() as usize, scene.cells.as_ptr() as usize]);
        show.stage.reuse(scene);
    }
    assert!(frames[1..].iter().all(|places| *places == frames[0]), "{frames:x?}");
}
