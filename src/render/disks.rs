//! Soft disks: temperature. The shader's own drawing is at the top of `shaders/disks.wgsl`.

use super::gpu_data::{DISK_ATTRIBUTES, DISK_VERTICES, DiskInstance};
use super::pipeline::{Look, pipeline};
use super::upload::Upload;
use crate::scene::Disk;

/// Long-lived: the pipeline.
pub struct DiskRenderer {
    pipeline: wgpu::RenderPipeline,
}

/// A frame's disks on the GPU.
pub struct DiskDrawData {
    upload: Upload<DiskInstance>,
}

impl DiskRenderer {
    pub(super) fn new(device: &wgpu::Device, format: wgpu::TextureFormat, layout: &wgpu::PipelineLayout) -> Self {
        let look = Look {
            topology: wgpu::PrimitiveTopology::TriangleList,
            ..Look::quads("disks", size_of::<DiskInstance>(), &DISK_ATTRIBUTES)
        };
        Self { pipeline: pipeline(device, format, layout, &look) }
    }

    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, data: &DiskDrawData) {
        if let Some(buffer) = data.upload.buffer() {
            pass.set_pipeline(&self.pipeline);
            pass.set_vertex_buffer(0, buffer.slice(..));
            pass.draw(0..DISK_VERTICES, 0..data.upload.count());
        }
    }
}

impl DiskDrawData {
    pub(super) fn new() -> Self {
        Self { upload: Upload::new("disks") }
    }

    pub(super) fn set(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, disks: &[Disk]) -> u64 {
        let seen = disks.iter().filter(|d| d.color[3] > 0);
        self.upload.set(device, queue, seen.map(|d| DiskInstance { shape: [d.r0, d.r1, d.soft, 0.0], color: d.color }));
        self.upload.written()
    }
}
