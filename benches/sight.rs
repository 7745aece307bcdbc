//! What a frame is made of and costs the closer a camera comes, with and without what is out of sight: `cargo bench --bench sight`.
//!
//! 2 M references over 64 MiB under `textbook` (an L3 of 131,072 lines), 1280x720, a trail of 64; medians of 20 frames of playing, a reference each,
//! on the software adapter where there is one. The camera looks at where L3 meets memory.
#![expect(clippy::print_stdout, reason = "a bench's output is its result")]

use orrery::axis::Position;
use orrery::overlay::{Layout, Parts, RingExhibit, Studio};
use orrery::reference::{MemoryTrace, Region, Tables};
use orrery::render::context::Preference;
use orrery::render::{Context, Painter, Target, target};
use orrery::scene::{Camera, View};
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use orrery::trace::synth::{BASE, mix};
use std::sync::Arc;
use std::time::Instant;

const SIZE: (u32, u32) = (1280, 720);
const SAMPLES: u32 = 20;

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

fn main() {
    let region = |name: &str, base| Region::new(name, base, 32 << 20);
    let regions = vec![region("a", BASE), region("b", BASE + (32 << 20))];
    let trace = MemoryTrace::new(mix(2_000_000, 5).collect(), Tables { regions, ..Tables::default() });
    let hierarchy = Hierarchy::new(&preset("textbook").expect("a preset")).expect("sound");
    let mut studio = Studio::new(Arc::new(trace), hierarchy, &mut |_, _| true).expect("in memory");
    let mut rings = RingExhibit::suited(&studio);
    let context = Context::headless(Preference::Software).expect("an adapter: mesa-vulkan-drivers has one in software");
    let mut target = Target::new(&context, SIZE.0, SIZE.1).expect("it can hold such a picture");
    println!("{}, {}x{}", context.describe(), SIZE.0, SIZE.1);
    println!(
        "| Zoom | | Dots | Segments | Patches | Bytes sent | Scene, ms | Frame, ms |\n|---|---|---|---|---|---|---|---|"
    );
    for (zoom, cull) in [1.0f32, 10.0, 100.0, 1000.0].into_iter().flat_map(|zoom| [(zoom, false), (zoom, true)]) {
        let camera = Camera { at: [0.72, 0.28], zoom }.clamped();
        let layout = Layout::new(SIZE.0, SIZE.1, 0.0, &Parts::default()).seen_by(&camera);
        let view = View { camera, reach: layout.reach, cull, ..View::default() };
        let mut painter = Painter::new(&context, target::FORMAT);
        let (mut scenes, mut frames, mut made, mut rgba) = (Vec::new(), Vec::new(), [0; 3], Vec::new());
        for n in 0..=SAMPLES {
            let begun = Instant::now();
            let (scene, _) =
                rings.scene(&mut studio, Position::of(1_500_000.5 + f64::from(n)), &view).expect("in memory");
            let shapes = begun.elapsed();
            painter.prepare(&context, &scene, &[], &layout.viewport);
            let mut encoder = context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            painter.draw(&mut encoder, target.view());
            target.submit(&context, encoder);
            target.collect(&context, &mut rgba).expect("it was submitted");
            made = [scene.glyphs.len(), scene.trails.len(), scene.cells.len()];
            rings.reuse(scene);
            // The first makes buffers.
            if n > 0 {
                scenes.push(shapes.as_secs_f64() * 1e3);
                frames.push(begun.elapsed().as_secs_f64() * 1e3);
            }
        }
        let (sent, [dots, segments, patches]) = (painter.sent(), made);
        println!(
            "| {zoom} | {} | {dots} | {segments} | {patches} | {} | {:.2} | {:.2} |",
            if cull { "in sight" } else { "all" },
            (sent.bytes - sent.most) / (sent.frames - 1),
            median(scenes),
            median(frames)
        );
    }
}
