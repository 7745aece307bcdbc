//! Cells of large caches: patches of many slots each.

use super::gpu_data::{CELL_ATTRIBUTES, CellInstance};
use super::pipeline::{Look, pipeline};
use super::quads::Quads;
use super::upload::Sent;
use crate::scene::Cell;

/// Long-lived: the pipeline.
#[derive(Clone)]
pub struct CellRenderer {
    pipeline: wgpu::RenderPipeline,
}

/// A frame's cells on the GPU.
pub struct CellDrawData {
    quads: Quads<CellInstance>,
}

impl CellRenderer {
    pub(super) fn new(device: &wgpu::Device, format: wgpu::TextureFormat, layout: &wgpu::PipelineLayout) -> Self {
        let look = Look::triangles("cells", size_of::<CellInstance>(), &CELL_ATTRIBUTES);
        Self { pipeline: pipeline(device, format, layout, &look) }
    }

    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, data: &CellDrawData) {
        data.quads.draw(pass, &self.pipeline);
    }
}

impl CellDrawData {
    pub(super) fn new() -> Self {
        Self { quads: Quads::new("cells") }
    }

    pub(super) fn set(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, cells: &[Cell]) -> Sent {
        let instance = |cell: &Cell| {
            let [near, far] = bytemuck::cast(cell.corners);
            CellInstance { near, far, color: cell.color }
        };
        self.quads.set(device, queue, cells.iter().map(instance))
    }
}
