//! Every glyph of real moments is drawn, in its place: the vertex code of `glyphs.wgsl` with a fragment stage that writes
//! numbers instead of colours, into a target of numbers. The set of numbers is compared exactly, each centroid with the
//! place that `scene::motion` gives, to half a pixel. Holds on any adapter.

use crate::support::device::device;
use crate::support::scene::Show;
use orrery::render::glyphs::instance;
use orrery::render::gpu_data::{Frame, GLYPH_ATTRIBUTES, GlyphInstance};
use orrery::render::shaders::{SOURCES, compose_text};
use orrery::render::{Context, Viewport};
use orrery::scene::motion::position_at;
use orrery::scene::{Glyph, Scene, View};

const SIDE: u32 = 1024;

/// Discs of 1.5 pixels, so that each covers some pixel centres and few overlap; 0 is nobody.
const IDS: &str = "
struct Number { @builtin(position) position: vec4f, @location(0) px: vec2f, @location(1) @interpolate(flat) id: u32 }

@vertex
fn vs_id(dot: Dot, @builtin(instance_index) n: u32) -> Number {
    let corner = corner_at(dot, 2.0);
    return Number(vec4f(corner.xy, 0.0, 1.0), corner.zw, n + 1u);
}

@fragment
fn fs_id(in: Number) -> @location(0) u32 {
    if length(in.px) > 1.5 { discard; }
    return in.id;
}
";

struct Ids {
    pipeline: wgpu::RenderPipeline,
}

impl Ids {
    fn new(context: &Context) -> Self {
        let device = &context.device;
        let glyphs = SOURCES.iter().find(|(name, _)| *name == "glyphs").expect("glyphs.wgsl").1;
        let text = compose_text("picture_ids", &format!("{glyphs}{IDS}")).expect("composes");
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("picture_ids"),
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
        let buffer = wgpu::VertexBufferLayout {
            array_stride: size_of::<GlyphInstance>() as u64,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &GLYPH_ATTRIBUTES,
        };
        let target = wgpu::ColorTargetState {
            format: wgpu::TextureFormat::R32Uint,
            blend: None,
            write_mask: wgpu::ColorWrites::ALL,
        };
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("picture_ids"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vs_id"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[Some(buffer)],
            },
            primitive: wgpu::PrimitiveState { topology: wgpu::PrimitiveTopology::TriangleStrip, ..Default::default() },
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fs_id"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(target)],
            }),
            multiview_mask: None,
            cache: None,
        });
        Self { pipeline }
    }

    /// For each glyph: pixels it covers and their centroid.
    fn draw(&self, context: &Context, scene: &Scene, glyphs: &[&Glyph]) -> Vec<(u32, [f32; 2])> {
        let device = &context.device;
        let buffer = |bytes: &[u8], usage| {
            let size = bytes.len().next_multiple_of(4) as u64;
            let usage = usage | wgpu::BufferUsages::COPY_DST;
            let buffer =
                device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
            context.queue.write_buffer(&buffer, 0, bytes);
            buffer
        };
        let frame: Frame = Viewport::fit(SIDE, SIDE).frame();
        let uniform = buffer(bytemuck::bytes_of(&frame), wgpu::BufferUsages::UNIFORM);
        let all: Vec<GlyphInstance> = glyphs.iter().map(|g| instance(scene, g)).collect();
        let instances = buffer(bytemuck::cast_slice(&all), wgpu::BufferUsages::VERTEX);
        let size = wgpu::Extent3d { width: SIDE, height: SIDE, depth_or_array_layers: 1 };
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::R32Uint,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let back = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(SIDE * SIDE * 4),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() }],
        });
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: None,
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &view,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                        store: wgpu::StoreOp::Store,
                    },
                })],
                ..Default::default()
            });
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.set_vertex_buffer(0, instances.slice(..));
            pass.draw(0..4, 0..u32::try_from(all.len()).expect("few"));
        }
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &back,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(SIDE * 4),
                    rows_per_image: Some(SIDE),
                },
            },
            size,
        );
        context.queue.submit([encoder.finish()]);
        back.map_async(wgpu::MapMode::Read, .., |result| result.expect("mapped"));
        device.poll(wgpu::PollType::wait_indefinitely()).expect("the device draws");
        let numbers: Vec<u32> = bytemuck::pod_collect_to_vec(&back.get_mapped_range(..).expect("mapped"));
        let mut out = vec![(0u32, [0.0f32; 2]); glyphs.len()];
        for (at, number) in (0u32..).zip(numbers).filter(|(_, number)| *number > 0) {
            let (count, sum) = &mut out[number as usize - 1];
            *count += 1;
            *sum = [sum[0] + (at % SIDE) as f32 + 0.5, sum[1] + (at / SIDE) as f32 + 0.5];
        }
        for (count, sum) in &mut out {
            *sum = sum.map(|v| v / *count as f32);
        }
        out
    }
}

#[test]
fn every_glyph_of_a_moment_is_drawn_in_its_place() {
    let Some(context) = device("picture_ids") else { return };
    let ids = Ids::new(&context);
    let viewport = Viewport::fit(SIDE, SIDE);
    let (mut drawn, mut hidden, mut worst, mut kinds) = (0u32, 0u32, 0.0f32, [0u32; 4]);
    for (name, positions) in [("matmul16", [0.0, 2613.4, 5000.75]), ("array_init", [300.2, 700.9, 1024.0])] {
        let mut show = Show::open(name);
        for position in positions {
            let scene = show.scene(position, &View::default());
            // A layer at a time, so that only neighbours may overlap.
            for layer in 0..=4u8 {
                let glyphs: Vec<&Glyph> = scene.glyphs.iter().filter(|g| g.layer == layer).collect();
                if glyphs.is_empty() {
                    continue;
                }
                let places: Vec<[f32; 2]> = glyphs
                    .iter()
                    .map(|g| viewport.px_from_world(position_at(&scene.rings.sectors, &g.flight, scene.now)))
                    .collect();
                for (n, (pixels, centroid)) in ids.draw(&context, &scene, &glyphs).into_iter().enumerate() {
                    let apart = |m: &[f32; 2]| (m[0] - places[n][0]).hypot(m[1] - places[n][1]);
                    // A later glyph nearer than two radii takes some of its pixels.
                    let overlapped = places[n + 1..].iter().any(|p| apart(p) < 3.5);
                    let glyph = glyphs[n];
                    if overlapped {
                        hidden += 1;
                        continue;
                    }
                    assert!(pixels > 0, "{name} at {position}: {glyph:?} is not drawn");
                    assert!(
                        apart(&centroid) < 0.5,
                        "{name} at {position}: {glyph:?} at {centroid:?}, not {:?}",
                        places[n]
                    );
                    worst = worst.max(apart(&centroid));
                    kinds[glyph.flight.path as usize] += 1;
                    drawn += 1;
                }
            }
        }
    }
    eprintln!("{drawn} glyphs drawn in their places, worst {worst:.2} px ({kinds:?} by path); {hidden} overlapped");
    assert!(drawn > 3_000 && hidden * 4 < drawn, "{drawn} drawn, {hidden} overlapped");
    assert!(kinds[1] >= 4 && kinds[2] + kinds[3] >= 4, "{kinds:?}");
}
