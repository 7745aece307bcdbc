//! Lines along flight paths: structure and trails. The shader's own drawing is at the top of `shaders/pathlines.wgsl`.

use super::glyphs::endpoint;
use super::gpu_data::{SEGMENT_ATTRIBUTES, SegmentInstance, unorm16};
use super::pipeline::{Look, pipeline};
use super::upload::{Sent, Upload};
use crate::scene::Segment;

/// Long-lived: the pipeline.
#[derive(Clone)]
pub struct PathlineRenderer {
    pipeline: wgpu::RenderPipeline,
}

/// Lines on the GPU.
pub struct PathlineDrawData {
    upload: Upload<SegmentInstance>,
}

impl PathlineRenderer {
    pub(super) fn new(device: &wgpu::Device, format: wgpu::TextureFormat, layout: &wgpu::PipelineLayout) -> Self {
        let look = Look::quads("pathlines", size_of::<SegmentInstance>(), &SEGMENT_ATTRIBUTES);
        Self { pipeline: pipeline(device, format, layout, &look) }
    }

    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, data: &PathlineDrawData) {
        if let Some(buffer) = data.upload.buffer() {
            pass.set_pipeline(&self.pipeline);
            pass.set_vertex_buffer(0, buffer.slice(..));
            pass.draw(0..4, 0..data.upload.count());
        }
    }
}

impl PathlineDrawData {
    pub(super) fn new(label: &'static str) -> Self {
        Self { upload: Upload::new(label) }
    }

    pub(super) fn set(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, segments: &[Segment]) -> Sent {
        self.upload.set(device, queue, segments.iter().map(instance))
    }
}

fn instance(s: &Segment) -> SegmentInstance {
    SegmentInstance {
        from: endpoint(&s.flight.from),
        to: endpoint(&s.flight.to),
        shape: [s.flight.sweep, s.s0, s.s1, s.width],
        color: s.color,
        alpha: [unorm16(s.alpha0), unorm16(s.alpha1)],
        path: s.flight.path as u32,
    }
}
