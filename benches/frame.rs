//! A frame on the GPU against the least that could draw it: `cargo bench --bench frame`.
//!
//! The scene goes through [`Painter`] as in a video: upload of what changed, draw, wait. Beside it, in the same run and
//! frame by frame in turn, a bare draw of as many quads with the same centres, sizes and directions: two corners' worth
//! of vertex maths, one flat colour, the same blending, its buffer uploaded once. The budget is 1.5 times that (DESIGN
//! section 9). Prefers a software adapter; `FRAME_ADAPTER=gpu` asks for hardware.
#![expect(clippy::print_stdout, reason = "a bench's output is its result")]

use bytemuck::{Pod, Zeroable};
use orrery::render::context::Preference;
use orrery::render::glyphs::FLASH_SEEN;
use orrery::render::gpu_data::unorm16;
use orrery::render::{Context, Painter, Target, Viewport, target};
use orrery::scene::frame::flags;
use orrery::scene::layout::{CacheShape, Rings};
use orrery::scene::motion::{Endpoint, Flight, Path, ease, place_on_path, position_at};
use orrery::scene::{Glyph, Notes, Scene, Segment, palette};
use orrery::trace::synth::Rng;
use std::f32::consts::TAU;
use std::time::{Duration, Instant};

const SIZE: (u32, u32) = (1280, 720);

/// A quad of the bare draw: corners are `center +- along +- across`, pixels.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Quad {
    center: [f32; 2],
    along: [f32; 2],
    across: [f32; 2],
    color: [u8; 4],
}

const BARE: &str = "
struct Out { @builtin(position) position: vec4f, @location(0) @interpolate(flat) color: vec4f }
@vertex fn vs_main(
    @builtin(vertex_index) i: u32, @location(0) center: vec2f, @location(1) along: vec2f,
    @location(2) across: vec2f, @location(3) color: vec4f,
) -> Out {
    let unit = vec2f(f32(i & 1u), f32(i >> 1u)) * 2.0 - 1.0;
    let px = center + unit.x * along + unit.y * across;
    return Out(vec4f(px.x / 640.0 - 1.0, 1.0 - px.y / 360.0, 0.0, 1.0), vec4f(color.rgb * color.a, color.a));
}
@fragment fn fs_main(in: Out) -> @location(0) vec4f { return in.color; }
";

fn rings() -> Rings {
    let cache = |ring, sets, ways| CacheShape { ring, name: String::new(), core: None, sets, ways, line_bytes: 64 };
    Rings::new(&[cache(0, 64, 8), cache(1, 512, 8), cache(2, 1024, 16)])
}

/// A frame as a busy trace makes them: most glyphs rest in slots and at home, a few fly, one in fifty has just missed.
fn scene(glyphs: u32, segments: u32) -> Scene {
    let mut rng = Rng::new(7);
    let rings = rings();
    let unit = |rng: &mut Rng| {
        #[expect(clippy::cast_possible_truncation, reason = "a random number in 0..1")]
        let v = rng.unit() as f32;
        v
    };
    let pick = |rng: &mut Rng, below: u32| u32::try_from(rng.below(u64::from(below))).unwrap_or(0);
    let place = |rng: &mut Rng, n: u32| {
        if n % 5 < 2 {
            return (Endpoint::polar(0.78 + 0.18 * unit(rng), TAU * unit(rng)), 0.0035);
        }
        let level = [0, 1, 1, 2, 2, 2][pick(rng, 6) as usize];
        let ring = &rings.sectors[level];
        let slot = Endpoint::slot(level, pick(rng, ring.sets), pick(rng, ring.ways) as f32, 0.0);
        (slot, (0.36 * ring.pitch).clamp(0.0012, 0.0085))
    };
    let list = (0..glyphs)
        .map(|n| {
            let (to, radius) = place(&mut rng, n);
            let (from, _) = place(&mut rng, n + 2);
            let flight = match n % 200 {
                0 => Flight::straight(from, to),
                1 => Flight::arc(from, to, &rings.sectors),
                2..6 if to.cache >= 0.0 => Flight::slide(Endpoint { b: to.b + 1.0, ..to }, to),
                _ => Flight::rest(to),
            };
            let hot = n % 50 == 0;
            let sign = if n.is_multiple_of(9) { flags::GHOST } else { 0 } | if n % 7 == 1 { flags::DIRTY } else { 0 };
            Glyph {
                layer: 2,
                id: u64::from(n),
                flight,
                radius,
                color: palette::region(n as usize),
                flash: if hot { 0.6 } else { 0.0 },
                pulse: if hot { 0.4 } else { 0.0 },
                burst: if hot { 0.3 } else { 1.0 },
                flags: sign,
            }
        })
        .collect();
    let mut trails: Vec<Segment> = Vec::new();
    while trails.len() < segments as usize {
        let n = u32::try_from(trails.len()).unwrap_or(0);
        let (a, b) = (place(&mut rng, n).0, place(&mut rng, n + 1).0);
        let (flight, pieces) = match pick(&mut rng, 8) {
            0 | 1 => (Flight::straight(a, b), 1),
            2 => (Flight::arc(a, b, &rings.sectors), 14),
            _ if a.cache >= 0.0 => (Flight::slide(a, Endpoint { b: a.b + 1.0, ..a }), 1),
            _ => (Flight::straight(a, Endpoint { b: a.b + 0.05, ..a }), 1),
        };
        for piece in 0..pieces.min(segments as usize - trails.len()) {
            let at = |p: usize| p as f32 / pieces as f32;
            trails.push(Segment {
                flight,
                s0: at(piece),
                s1: at(piece + 1),
                width: 1.15,
                color: if flight.path == Path::Arc { palette::EVICT } else { palette::MISS },
                alpha0: 0.2,
                alpha1: 0.5,
            });
        }
    }
    Scene {
        rings,
        now: 0.5,
        disks: Vec::new(),
        cells: Vec::new(),
        structure: Vec::new(),
        trails,
        glyphs: list,
        pinned: orrery::scene::Pinned::default(),
        labelled: Vec::new(),
        temperatures: vec![0.0; 3],
        shows_temperature: true,
        served: orrery::scene::ServedShares::default(),
        notes: Notes::default(),
    }
}

/// The quads that the shaders make of a scene, by the same arithmetic (`glyphs.wgsl`, `pathlines.wgsl`).
fn quads(scene: &Scene, viewport: &Viewport) -> Vec<Quad> {
    let rings = &scene.rings.sectors;
    let line_scale = viewport.line_scale.max(0.6);
    let segments = scene.trails.iter().map(|s| {
        let at = |e: f32| viewport.px_from_world(place_on_path(rings, &s.flight, e));
        let (a, b) = (at(s.s0), at(s.s1));
        let along = [0.5 * (b[0] - a[0]), 0.5 * (b[1] - a[1])];
        let length = along[0].hypot(along[1]).max(1e-6);
        let half = (0.5 * s.width * line_scale).max(0.5) + 0.5;
        Quad {
            center: [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])],
            along,
            across: [-along[1] / length * half, along[0] / length * half],
            color: palette::fade(s.color, 0.5 * (s.alpha0 + s.alpha1)),
        }
    });
    let quad = |g: &Glyph, extent: f32| Quad {
        center: viewport.px_from_world(position_at(rings, &g.flight, scene.now)),
        along: [extent, 0.0],
        across: [0.0, extent],
        color: g.color,
    };
    let radius = |g: &Glyph| (g.radius * viewport.px_per_unit * (1.0 + 0.75 * g.pulse)).max(0.8);
    let bodies = scene.glyphs.iter().map(|g| {
        let rim = g.flags & flags::DIRTY != 0 && 0.6 * radius(g) > 0.7;
        quad(g, radius(g) + if rim { 1.7 } else { 0.5 })
    });
    let lit = scene.glyphs.iter().filter(|g| g.flash > FLASH_SEEN || g.burst < 1.0);
    let lights = lit.map(|g| {
        let halo = if g.flash > FLASH_SEEN { 2.8 * radius(g) } else { 0.0 };
        let burst = if g.burst < 1.0 { radius(g) * (1.2 + 3.2 * g.burst) + 1.2 } else { 0.0 };
        quad(g, halo.max(burst))
    });
    segments.chain(bodies).chain(lights).collect()
}

/// The bare draw: a pipeline and one buffer.
struct Bare {
    pipeline: wgpu::RenderPipeline,
    buffer: wgpu::Buffer,
    count: u32,
}

impl Bare {
    fn new(context: &Context, quads: &[Quad]) -> Self {
        let device = &context.device;
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("bare"),
            source: wgpu::ShaderSource::Wgsl(BARE.into()),
        });
        let attributes = wgpu::vertex_attr_array![0 => Float32x2, 1 => Float32x2, 2 => Float32x2, 3 => Unorm8x4];
        let layout = wgpu::VertexBufferLayout {
            array_stride: size_of::<Quad>() as u64,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &attributes,
        };
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("bare"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vs_main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[Some(layout)],
            },
            primitive: wgpu::PrimitiveState { topology: wgpu::PrimitiveTopology::TriangleStrip, ..Default::default() },
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fs_main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(wgpu::ColorTargetState {
                    format: target::FORMAT,
                    blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                    write_mask: wgpu::ColorWrites::ALL,
                })],
            }),
            multiview_mask: None,
            cache: None,
        });
        let bytes: &[u8] = bytemuck::cast_slice(quads);
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("bare"),
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        context.queue.write_buffer(&buffer, 0, bytes);
        Self { pipeline, buffer, count: u32::try_from(quads.len()).unwrap_or(u32::MAX) }
    }

    fn draw(&self, encoder: &mut wgpu::CommandEncoder, view: &wgpu::TextureView) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("bare"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store },
            })],
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_vertex_buffer(0, self.buffer.slice(..));
        pass.draw(0..4, 0..self.count);
    }
}

fn wait(context: &Context, encoder: wgpu::CommandEncoder) {
    let submission = context.queue.submit([encoder.finish()]);
    context
        .device
        .poll(wgpu::PollType::Wait { submission_index: Some(submission), timeout: None })
        .expect("the device draws");
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

/// The frame after `scene`: the phase moves on, and one glyph in fifty glows otherwise.
fn advance(scene: &mut Scene, frame: u32) {
    scene.now = (frame % 16) as f32 / 16.0;
    for glyph in scene.glyphs.iter_mut().step_by(50) {
        glyph.color = palette::region(frame as usize);
    }
}

fn compare(context: &Context, glyphs: u32, segments: u32, rounds: u32) -> f64 {
    let viewport = Viewport::fit(SIZE.0, SIZE.1);
    let mut scene = scene(glyphs, segments);
    let quads = quads(&scene, &viewport);
    assert!(quads.len() >= (glyphs + segments) as usize, "as many quads as shapes, or more");
    assert_eq!(unorm16(ease(1.0)), u16::MAX, "flights end where they should");
    let bare = Bare::new(context, &quads);
    let mut painter = Painter::new(context, target::FORMAT);
    let target = Target::new(context, SIZE.0, SIZE.1).expect("a picture of 1280x720");
    let encoder = || context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let (mut prepares, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for frame in 0..rounds + 5 {
        advance(&mut scene, frame);
        let begun = Instant::now();
        painter.prepare(context, &scene, &[], &viewport);
        let prepared = begun.elapsed();
        let mut e = encoder();
        painter.draw(&mut e, target.view());
        wait(context, e);
        let whole = begun.elapsed();
        let begun = Instant::now();
        let mut e = encoder();
        bare.draw(&mut e, target.view());
        wait(context, e);
        let least = begun.elapsed();
        // The first frames make buffers and compile.
        if frame >= 5 {
            prepares.push(prepared);
            ours.push(whole);
            theirs.push(least);
        }
    }
    let (prepare, whole, least) = (median(&mut prepares), median(&mut ours), median(&mut theirs));
    let ratio = whole / least;
    println!(
        "{glyphs:>7} glyphs {segments:>6} segments   frame {whole:8.2} ms (of it upload {prepare:6.2})   bare {least:8.2} \
         ms   ratio {ratio:.2}"
    );
    ratio
}

fn main() {
    let preference = if std::env::var("FRAME_ADAPTER").is_ok_and(|v| v == "gpu") {
        Preference::Fastest
    } else {
        Preference::Software
    };
    let context = match Context::headless(preference) {
        Ok(context) => context,
        Err(error) => {
            println!("skipped: {error}");
            return;
        }
    };
    println!("{}, {}x{}; medians of interleaved frames", context.describe(), SIZE.0, SIZE.1);
    compare(&context, 1_000, 500, 101);
    let ratio = compare(&context, 10_000, 5_000, 101);
    compare(&context, 100_000, 50_000, 21);
    println!("apart:");
    compare(&context, 10_000, 0, 51);
    compare(&context, 1, 5_000, 51);
    let verdict = if ratio <= 1.5 { "within" } else { "OVER" };
    println!("10,000 glyphs and 5,000 segments: {ratio:.2} times the bare draw, {verdict} the budget of 1.5");
}
