//! Frames a second of arrays as solids: `cargo bench --bench solids`.
//!
//! Four cores read and write elements of one array at random, 400,000 references, in memory. A frame is all of it, from the shot to the pixels of
//! a picture of 1280x720 in memory, words and strip too, on the software adapter where there is one; its time is the median of 40. *Playing*: the
//! playhead goes on by a 64th of a slice from frame to frame. *Turning*: the camera goes round by a degree. *Made* is what of it the CPU spends on
//! counts, triangles and their order.
#![expect(clippy::print_stdout, reason = "a bench's output is its result")]

use orrery::axis::Position;
use orrery::overlay::exhibits::named;
use orrery::overlay::{Offscreen, Parts, Shot, Studio};
use orrery::reference::{Kind, MemoryTrace, Reference, Region, Tables};
use orrery::render::Context;
use orrery::render::context::Preference;
use orrery::scene::solids::{Form, SolidLook};
use orrery::scene::{Camera, View};
use orrery::sim::Hierarchy;
use orrery::sim::config::{HierarchyConfig, preset};
use orrery::trace::synth::Rng;
use std::sync::Arc;
use std::time::Instant;

const SIZE: [u32; 2] = [1280, 720];
const SAMPLES: u32 = 40;
const REFERENCES: u64 = 400_000;

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

fn studio(shape: &[u64]) -> Studio {
    let elements: u64 = shape.iter().product();
    let region = Region { elem_type: "double".into(), shape: shape.into(), ..Region::new("A", 0x1000, 8 * elements) };
    let mut rng = Rng::new(1994);
    let one = |rng: &mut Rng| {
        let kind = if rng.below(3) == 0 { Kind::Write } else { Kind::Read };
        // Low numbers more often, so that surfaces have a form.
        let n = rng.below(elements).min(rng.below(elements));
        let core = u16::try_from(rng.below(4)).unwrap_or(0);
        Reference { core, ..Reference::new(kind, 0x1000 + 8 * n, 8) }
    };
    let all = (0..REFERENCES).map(|_| one(&mut rng)).collect();
    let config = HierarchyConfig { cores: 4, ..preset("textbook").expect("a preset") };
    let trace = MemoryTrace::new(all, Tables { regions: vec![region], ..Tables::default() });
    Studio::new(Arc::new(trace), Hierarchy::new(&config).expect("sound"), &mut |_, _| true).expect("in memory")
}

fn main() {
    let context = Context::headless(Preference::Software).expect("an adapter: mesa-vulkan-drivers has one in software");
    println!("{}, {}x{}", context.describe(), SIZE[0], SIZE[1]);
    println!("| What | | Triangles | Made, ms | Frame, ms | Frames/s |\n|---|---|---|---|---|---|");
    let look = SolidLook::default;
    let cases: [(&str, &str, &[u64], SolidLook); 6] = [
        ("words and axes alone, 2x2 elements", "plane", &[2, 2], look()),
        ("scatter, 32x32 elements", "scatter", &[32, 32], look()),
        ("sheet, 64x65 elements", "plane", &[64, 65], SolidLook { form: Form::Sheet, ..look() }),
        ("tube, 64 elements, 200 slices", "tube", &[64], SolidLook { slices: 200, window: Some((0, 200)), ..look() }),
        ("isosurfaces, 16x16x16 elements", "iso", &[16, 16, 16], look()),
        ("plane, 10^6 elements as blocks", "plane", &[1000, 1000], look()),
    ];
    for (what, exhibit, shape, look) in cases {
        let mut studio = studio(shape);
        let mut exhibit = (named(exhibit).expect("there").open)(&studio);
        let mut offscreen = Offscreen::new(&context, SIZE).expect("it can hold such a picture");
        for turns in [false, true] {
            let (mut made, mut frames, mut triangles, mut rgba) = (Vec::new(), Vec::new(), 0, Vec::new());
            for n in 0..=SAMPLES {
                let (turned, tick) = if turns { (n as f32, 300_000) } else { (0.0, 300_000 + 100 * u64::from(n)) };
                let camera = Camera { at: [turned, 0.0], zoom: 1.0 };
                let view = View { camera, solids: Arc::new(look.clone()), ..View::default() };
                let shot = Shot::still(SIZE, Position::at(tick), view, Parts::default());
                let strip = studio.strip(shot.layout().strip_columns());
                let begun = Instant::now();
                let taken = shot.take(&mut studio, exhibit.as_mut()).expect("in memory");
                let shapes = begun.elapsed();
                triangles = taken.picture.solids().map_or(0, |facets| facets.about.len());
                let begun = Instant::now();
                offscreen.submit(&context, &mut studio, exhibit.as_mut(), &shot, &strip).expect("in memory");
                offscreen.collect(&context, &mut rgba).expect("it was submitted");
                // The first counts, and makes buffers.
                if n > 0 {
                    made.push(shapes.as_secs_f64() * 1e3);
                    frames.push(begun.elapsed().as_secs_f64() * 1e3);
                }
            }
            let (made, frame) = (median(made), median(frames));
            let way = if turns { "turning" } else { "playing" };
            println!("| {what} | {way} | {triangles} | {made:.1} | {frame:.1} | {:.0} |", 1e3 / frame);
        }
    }
}
