//! Lines along flight paths: structure and trails. The shader's own drawing is at the top of `shaders/pathlines.wgsl`.

use super::gpu_data::{SEGMENT_ATTRIBUTES, SegmentInstance, unorm16};
use super::pipeline::{Look, pipeline};
use super::quads::Quads;
use super::upload::Sent;
use crate::scene::layout::Sector;
use crate::scene::motion::OnPath;
use crate::scene::{Ends, Segment};

/// Long-lived: the pipeline.
#[derive(Clone)]
pub struct PathlineRenderer {
    pipeline: wgpu::RenderPipeline,
}

/// Lines on the GPU.
pub struct PathlineDrawData {
    quads: Quads<SegmentInstance>,
}

impl PathlineRenderer {
    pub(super) fn new(device: &wgpu::Device, format: wgpu::TextureFormat, layout: &wgpu::PipelineLayout) -> Self {
        let look = Look::triangles("pathlines", size_of::<SegmentInstance>(), &SEGMENT_ATTRIBUTES);
        Self { pipeline: pipeline(device, format, layout, &look) }
    }

    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, data: &PathlineDrawData) {
        data.quads.draw(pass, &self.pipeline);
    }
}

impl PathlineDrawData {
    pub(super) fn new(label: &'static str) -> Self {
        Self { quads: Quads::new(label) }
    }

    pub(super) fn set(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        (segments, sectors): (&[Segment], &[Sector]),
    ) -> Sent {
        self.quads.set(device, queue, instances(segments, sectors))
    }
}

/// Stretches as the GPU gets them. Where they lie is computed here, once an end: a shader would do so at each of their four corners, which
/// costs a software adapter as much as their pixels.
fn instances(segments: &[Segment], sectors: &[Sector]) -> impl Iterator<Item = SegmentInstance> {
    let mut ends = Ends::new(sectors);
    segments.iter().filter(|segment| is_seen(segment)).map(move |segment| {
        let [start, end] = ends.of(segment).map(with_normal);
        let alpha = [unorm16(segment.alpha0), unorm16(segment.alpha1)];
        SegmentInstance { start, end, width: segment.width, color: segment.color, alpha }
    })
}

/// Whether a stretch can change a pixel: in a picture of eight bits a channel, less than half a step of white on black does not.
fn is_seen(segment: &Segment) -> bool {
    segment.alpha0.max(segment.alpha1) * f32::from(segment.color[3]) >= 0.5
}

/// A place, and the path's unit normal there.
fn with_normal(OnPath { at: [x, y], along }: OnPath) -> [f32; 4] {
    let span = along[0].hypot(along[1]);
    if span > 1e-7 { [x, y, -along[1] / span, along[0] / span] } else { [x, y, 0.0, 1.0] }
}
