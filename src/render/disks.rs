//! Soft disks: temperature. The shader's own drawing is at the top of `shaders/disks.wgsl`.

use super::gpu_data::{DISK_ATTRIBUTES, DiskInstance};
use super::pipeline::{Look, pipeline};
use super::upload::{Sent, Upload};
use crate::scene::Disk;
use crate::units::to_count;
use std::f32::consts::TAU;
use std::ops::Range;

/// Long-lived: the pipeline.
#[derive(Clone)]
pub struct DiskRenderer {
    pipeline: wgpu::RenderPipeline,
}

/// A frame's disks on the GPU.
pub struct DiskDrawData {
    upload: Upload<DiskInstance>,
    /// Neighbours of one mesh: their vertices, and which they are.
    runs: Vec<(u32, Range<u32>)>,
}

impl DiskRenderer {
    pub(super) fn new(device: &wgpu::Device, format: wgpu::TextureFormat, layout: &wgpu::PipelineLayout) -> Self {
        let look = Look::meshes("disks", size_of::<DiskInstance>(), &DISK_ATTRIBUTES);
        Self { pipeline: pipeline(device, format, layout, &look) }
    }

    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, data: &DiskDrawData) {
        if let Some(buffer) = data.upload.buffer() {
            pass.set_pipeline(&self.pipeline);
            pass.set_vertex_buffer(0, buffer.slice(..));
            for (vertices, disks) in &data.runs {
                pass.draw(0..*vertices, disks.clone());
            }
        }
    }
}

impl DiskDrawData {
    pub(super) fn new() -> Self {
        Self { upload: Upload::new("disks"), runs: Vec::new() }
    }

    pub(super) fn set(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, disks: &[Disk], px_per_unit: f32) -> Sent {
        let seen = || disks.iter().filter(|d| d.color[3] > 0).map(|disk| instance(disk, px_per_unit));
        let sent = self.upload.set(device, queue, seen());
        self.runs.clear();
        for (disk, at) in seen().zip(0..) {
            match self.runs.last_mut() {
                Some((vertices, run)) if *vertices == vertices_of(disk.mesh) => run.end = at + 1,
                _ => self.runs.push((vertices_of(disk.mesh), at..at + 1)),
            }
        }
        sent
    }
}

/// How far a chord may lie from its arc, pixels, where an edge is sharp, and where it is soft; and which part of a soft edge that is.
/// More columns cost a software adapter more than the pixels that they cover.
const APART: [f32; 2] = [0.025, 0.25];
const APART_OF_SOFT: f32 = 1.0 / 96.0;
/// Columns at most.
const MOST_COLUMNS: u32 = 1024;
/// Bands of a disk that is wound: straight pieces along its ends, and one that fades on either side. Of another one is enough.
const WOUND_BANDS: u32 = 12;

/// A disk as the GPU gets it, where a world unit has so many pixels.
#[must_use]
pub fn instance(d: &Disk, px_per_unit: f32) -> DiskInstance {
    let apart = (APART_OF_SOFT * px_per_unit * d.soft).clamp(APART[0], APART[1]);
    let radius = px_per_unit * (d.r1 + d.soft);
    let around = 0.5 * TAU * (0.5 * radius / apart).sqrt();
    let least = if d.fade > 0.0 { 1 } else { 3 };
    let columns = to_count(around * d.span / TAU).clamp(least, MOST_COLUMNS);
    let bands = if d.turn == 0.0 { 1 } else { WOUND_BANDS };
    DiskInstance {
        shape: [d.r0, d.r1, d.soft, d.fade],
        arc: [d.theta0, d.span, d.turn, 0.0],
        color: d.color,
        mesh: columns | bands << 16,
    }
}

/// Vertices of a mesh: two triangles for each column of each band.
#[must_use]
pub fn vertices_of(mesh: u32) -> u32 {
    (mesh & 0xffff) * (mesh >> 16) * 6
}
