//! Quads, all of a list in one draw.
//!
//! ```text
//! instances   a                 b                       what a shape is, once for each of its corners
//! corners     0  1  2  3        4  5  6  7              in the shader: vertex_index & 3
//! indices     0 1 2   2 1 3     4 5 6   6 5 7           two triangles a quad
//! ```
//!
//! An instance of four corners says the same with a quarter of the bytes. A software adapter shades the corners of each instance for
//! themselves, though, whereas it shades the corners of a list sixteen at a time: 11,500 dots took 12 ms of its processor as instances.

use super::upload::{Sent, Upload};
use bytemuck::Pod;

/// Corners of a quad, and of its two triangles.
const CORNERS: usize = 4;
const TRIANGLES: [u32; 6] = [0, 1, 2, 2, 1, 3];

/// Quads on the GPU.
pub(super) struct Quads<T> {
    corners: Upload<T>,
    /// Which corners make triangles, for at least as many quads as there are.
    indices: Option<wgpu::Buffer>,
}

impl<T: Pod + PartialEq> Quads<T> {
    pub(super) fn new(label: &'static str) -> Self {
        Self { corners: Upload::of_copies(label, CORNERS), indices: None }
    }

    /// Makes the GPU hold `instances`. Gives what of [`Sent`] is theirs.
    pub(super) fn set(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        instances: impl Iterator<Item = T>,
    ) -> Sent {
        let mut sent = self.corners.set(device, queue, instances);
        let size = (self.corners.capacity() * size_of_val(&TRIANGLES)) as u64;
        if self.indices.as_ref().is_none_or(|indices| indices.size() < size) && size > 0 {
            let quads = 0..u32::try_from(self.corners.capacity()).unwrap_or(u32::MAX);
            let indices: Vec<u32> = quads.flat_map(|quad| TRIANGLES.map(|corner| 4 * quad + corner)).collect();
            let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("corners of quads"),
                size,
                usage: wgpu::BufferUsages::INDEX | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&indices));
            self.indices = Some(buffer);
            sent.buffers += 1;
            sent.bytes += size;
        }
        sent
    }

    /// Draws them all.
    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, pipeline: &wgpu::RenderPipeline) {
        let (Some(corners), Some(indices)) = (self.corners.buffer(), &self.indices) else { return };
        pass.set_pipeline(pipeline);
        pass.set_vertex_buffer(0, corners.slice(..));
        pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..6 * self.corners.count(), 0, 0..1);
    }
}
