//! A growing GPU buffer of instances that uploads only what changed since the last frame.

use bytemuck::Pod;

/// Instances on the GPU, with the copy they were uploaded from.
pub(super) struct Upload<T> {
    label: &'static str,
    buffer: Option<wgpu::Buffer>,
    capacity: usize,
    held: Vec<T>,
    /// Bytes written by the last call.
    written: u64,
}

/// Unchanged instances between two changed ones that are uploaded with them: a write costs more than a few bytes.
const JOIN: usize = 32;

impl<T: Pod + PartialEq> Upload<T> {
    pub(super) fn new(label: &'static str) -> Self {
        Self { label, buffer: None, capacity: 0, held: Vec::new(), written: 0 }
    }

    /// Makes the GPU hold `instances`.
    pub(super) fn set(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, instances: impl Iterator<Item = T>) {
        let old = std::mem::take(&mut self.held);
        self.held.reserve(old.len());
        self.held.extend(instances);
        self.written = 0;
        if self.held.len() > self.capacity || self.buffer.is_none() {
            self.capacity = self.held.len().next_power_of_two().max(256);
            self.buffer = Some(device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(self.label),
                size: (self.capacity * size_of::<T>()) as u64,
                usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }));
            self.write(queue, 0, self.held.len());
            return;
        }
        let changed = |i: usize| old.get(i) != self.held.get(i);
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for i in (0..self.held.len()).filter(|&i| changed(i)) {
            match ranges.last_mut() {
                Some((_, end)) if i - *end <= JOIN => *end = i + 1,
                _ => ranges.push((i, i + 1)),
            }
        }
        for (from, to) in ranges {
            self.write(queue, from, to);
        }
    }

    fn write(&mut self, queue: &wgpu::Queue, from: usize, to: usize) {
        if let (Some(buffer), true) = (&self.buffer, from < to) {
            let bytes: &[u8] = bytemuck::cast_slice(&self.held[from..to]);
            queue.write_buffer(buffer, (from * size_of::<T>()) as u64, bytes);
            self.written += bytes.len() as u64;
        }
    }

    /// The buffer, where there is anything to draw.
    pub(super) fn buffer(&self) -> Option<&wgpu::Buffer> {
        self.buffer.as_ref().filter(|_| !self.held.is_empty())
    }

    /// Number of instances.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.held.len()).unwrap_or(u32::MAX)
    }

    /// Bytes the last [`Upload::set`] sent.
    pub(super) fn written(&self) -> u64 {
        self.written
    }
}
