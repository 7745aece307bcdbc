//! A growing GPU buffer of instances that uploads only what changed since the last frame, and the account of it.

use crate::units::grouped;
use bytemuck::Pod;
use std::ops::AddAssign;

/// What frames sent to the GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Frames drawn.
    pub frames: u64,
    /// Bytes of them all.
    pub bytes: u64,
    /// Bytes of the frame that sent most.
    pub most: u64,
    /// Lists of shapes that were drawn.
    pub lists: u64,
    /// Those of them of which nothing had changed.
    pub unchanged: u64,
    /// Buffers made.
    pub buffers: u64,
}

impl Sent {
    /// In words, of at least one frame; empty for none.
    #[must_use]
    pub fn words(&self) -> String {
        if self.frames == 0 {
            return String::new();
        }
        format!(
            "GPU: {} frames, {} bytes each, {} at most, only what changed; {} % of lists had not; {} buffers made",
            grouped(self.frames),
            grouped(self.bytes / self.frames),
            grouped(self.most),
            100 * self.unchanged / self.lists.max(1),
            grouped(self.buffers),
        )
    }
}

impl AddAssign for Sent {
    fn add_assign(&mut self, other: Self) {
        self.frames += other.frames;
        self.bytes += other.bytes;
        self.most = self.most.max(other.most);
        self.lists += other.lists;
        self.unchanged += other.unchanged;
        self.buffers += other.buffers;
    }
}

/// Instances on the GPU, with the copy they were uploaded from.
pub(super) struct Upload<T> {
    label: &'static str,
    usage: wgpu::BufferUsages,
    buffer: Option<wgpu::Buffer>,
    capacity: usize,
    held: Vec<T>,
    /// What was held before: kept for its memory.
    old: Vec<T>,
}

/// Unchanged instances between two changed ones that are uploaded with them: a write costs more than a few bytes.
const JOIN: usize = 32;

impl<T: Pod + PartialEq> Upload<T> {
    pub(super) fn new(label: &'static str) -> Self {
        Self::of_usage(label, wgpu::BufferUsages::VERTEX)
    }

    /// As [`Upload::new`], for something else than instances or corners.
    pub(super) fn of_usage(label: &'static str, usage: wgpu::BufferUsages) -> Self {
        Self { label, usage, buffer: None, capacity: 0, held: Vec::new(), old: Vec::new() }
    }

    /// Makes the GPU hold `instances`. Gives what of [`Sent`] is this list's.
    pub(super) fn set(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        instances: impl Iterator<Item = T>,
    ) -> Sent {
        std::mem::swap(&mut self.held, &mut self.old);
        self.held.clear();
        self.held.extend(instances);
        let mut sent = Sent { lists: u64::from(!self.held.is_empty()), ..Sent::default() };
        if self.held.len() > self.capacity {
            self.capacity = self.held.len().next_power_of_two().max(256);
            self.buffer = Some(device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(self.label),
                size: (self.capacity * size_of::<T>()) as u64,
                usage: self.usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }));
            sent.buffers = 1;
            sent.bytes = self.write(queue, 0, self.held.len());
            return sent;
        }
        let mut range: Option<(usize, usize)> = None;
        for i in (0..self.held.len()).filter(|&i| self.old.get(i) != self.held.get(i)) {
            range = match range {
                Some((from, to)) if i - to <= JOIN => Some((from, i + 1)),
                done => {
                    sent.bytes += done.map_or(0, |(from, to)| self.write(queue, from, to));
                    Some((i, i + 1))
                }
            };
        }
        sent.bytes += range.map_or(0, |(from, to)| self.write(queue, from, to));
        sent.unchanged = u64::from(sent.lists > 0 && sent.bytes == 0);
        sent
    }

    /// Writes a part; gives its bytes.
    fn write(&self, queue: &wgpu::Queue, from: usize, to: usize) -> u64 {
        let Some(buffer) = self.buffer.as_ref().filter(|_| from < to) else { return 0 };
        let bytes: &[u8] = bytemuck::cast_slice(&self.held[from..to]);
        queue.write_buffer(buffer, (from * size_of::<T>()) as u64, bytes);
        bytes.len() as u64
    }

    /// The buffer, where there is anything to draw.
    pub(super) fn buffer(&self) -> Option<&wgpu::Buffer> {
        self.buffer.as_ref().filter(|_| !self.held.is_empty())
    }

    /// Number of instances.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.held.len()).unwrap_or(u32::MAX)
    }
}
