//! Plain rectangles in pixels, over the scene and under the words: strip, meters, patches. A text renderer would sample its
//! texture for each of their pixels, which costs a software adapter more than the whole scene.

use super::gpu_data::{BAR_ATTRIBUTES, BarInstance};
use super::pipeline::{Look, pipeline};
use super::quads::Quads;
use super::upload::Sent;
use crate::scene::palette::Rgba;

/// One rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Left, top, right, bottom, pixels from the upper left of the target.
    pub sides: [f32; 4],
    /// Colour, straight alpha.
    pub color: Rgba,
}

impl Bar {
    /// The same rectangle where every pixel became `factor` pixels.
    #[must_use]
    pub fn scaled(&self, factor: f32) -> Self {
        Self { sides: self.sides.map(|side| side * factor), color: self.color }
    }
}

/// Long-lived: the pipeline.
#[derive(Clone)]
pub struct BarRenderer {
    pipeline: wgpu::RenderPipeline,
}

/// A frame's rectangles on the GPU.
pub struct BarDrawData {
    quads: Quads<BarInstance>,
}

impl BarRenderer {
    pub(super) fn new(device: &wgpu::Device, format: wgpu::TextureFormat, layout: &wgpu::PipelineLayout) -> Self {
        let look = Look::triangles("bars", size_of::<BarInstance>(), &BAR_ATTRIBUTES);
        Self { pipeline: pipeline(device, format, layout, &look) }
    }

    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, data: &BarDrawData) {
        data.quads.draw(pass, &self.pipeline);
    }
}

impl BarDrawData {
    pub(super) fn new() -> Self {
        Self { quads: Quads::new("bars") }
    }

    pub(super) fn set(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, bars: &[Bar]) -> Sent {
        self.quads.set(device, queue, bars.iter().map(|b| BarInstance { sides: b.sides, color: b.color }))
    }
}
