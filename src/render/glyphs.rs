//! Dots. The shader's own drawing is at the top of `shaders/glyphs.wgsl`.

use super::gpu_data::{GLYPH_ATTRIBUTES, GlyphInstance, unorm8};
use super::pass::pipeline;
use super::upload::Upload;
use crate::scene::motion::Endpoint;
use crate::scene::{Glyph, Scene};

/// Long-lived: the pipeline.
pub struct GlyphRenderer {
    pipeline: wgpu::RenderPipeline,
}

/// A frame's dots on the GPU.
pub struct GlyphDrawData {
    upload: Upload<GlyphInstance>,
}

impl GlyphRenderer {
    pub(super) fn new(device: &wgpu::Device, format: wgpu::TextureFormat, layout: &wgpu::PipelineLayout) -> Self {
        let stride = size_of::<GlyphInstance>() as u64;
        Self { pipeline: pipeline(device, "glyphs", format, layout, stride, &GLYPH_ATTRIBUTES) }
    }

    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, data: &GlyphDrawData) {
        if let Some(buffer) = data.upload.buffer() {
            pass.set_pipeline(&self.pipeline);
            pass.set_vertex_buffer(0, buffer.slice(..));
            pass.draw(0..4, 0..data.upload.count());
        }
    }
}

impl GlyphDrawData {
    pub(super) fn new() -> Self {
        Self { upload: Upload::new("glyphs") }
    }

    pub(super) fn set(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, scene: &Scene) -> u64 {
        self.upload.set(device, queue, scene.glyphs.iter().map(instance));
        self.upload.written()
    }
}

pub(super) fn endpoint(e: &Endpoint) -> [f32; 4] {
    [e.level, e.a, e.b, e.across]
}

fn instance(g: &Glyph) -> GlyphInstance {
    GlyphInstance {
        from: endpoint(&g.flight.from),
        to: endpoint(&g.flight.to),
        sweep: g.flight.sweep,
        radius: g.radius,
        color: g.color,
        glow: [unorm8(g.flash), unorm8(g.pulse), unorm8(g.burst), 0],
        path_flags: g.flight.path as u32 | g.flags << 8,
    }
}
