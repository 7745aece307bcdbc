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
    /// How often each instance stands in the buffer, one after the other.
    copies: usize,
    buffer: Option<wgpu::Buffer>,
    capacity: usize,
    held: Vec<T>,
    /// What was held before, and what was written last: kept for their memory.
    old: Vec<T>,
    written: Vec<T>,
}

/// Unchanged instances between two changed ones that are uploaded with them: a write costs more than a few bytes.
const JOIN: usize = 32;

impl<T: Pod + PartialEq> Upload<T> {
    pub(super) fn new(label: &'static str) -> Self {
        Self::of_usage(label, wgpu::BufferUsages::VERTEX)
    }

    /// As [`Upload::new`], for something else than instances or corners.
    pub(super) fn of_usage(label: &'static str, usage: wgpu::BufferUsages) -> Self {
        let (held, old, written) = (Vec::new(), Vec::new(), Vec::new());
        Self { label, usage, copies: 1, buffer: None, capacity: 0, held, old, written }
    }

    /// As [`Upload::new`], where each instance stands so many times in the buffer.
    pub(super) fn of_copies(label: &'static str, copies: usize) -> Self {
        Self { copies, ..Self::new(label) }
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
                size: (self.capacity * self.copies * size_of::<T>()) as u64,
                usage: self.usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }));
            sent.buffers = 1;
            sent.bytes = self.write(queue, 0, self.held.len());
            return sent;
        }
        let mut changed: Vec<(usize, usize)> = Vec::new();
        for i in (0..self.held.len()).filter(|&i| self.old.get(i) != self.held.get(i)) {
            match changed.last_mut() {
                Some((_, to)) if i - *to <= JOIN => *to = i + 1,
                _ => changed.push((i, i + 1)),
            }
        }
        sent.bytes += changed.into_iter().map(|(from, to)| self.write(queue, from, to)).sum::<u64>();
        sent.unchanged = u64::from(sent.lists > 0 && sent.bytes == 0);
        sent
    }

    /// Writes a part; gives its bytes.
    fn write(&mut self, queue: &wgpu::Queue, from: usize, to: usize) -> u64 {
        let Some(buffer) = self.buffer.as_ref().filter(|_| from < to) else { return 0 };
        let mut instances = &self.held[from..to];
        if self.copies > 1 {
            self.written.clear();
            self.written.extend(instances.iter().flat_map(|&instance| std::iter::repeat_n(instance, self.copies)));
            instances = &self.written;
        }
        let bytes: &[u8] = bytemuck::cast_slice(instances);
        queue.write_buffer(buffer, (from * self.copies * size_of::<T>()) as u64, bytes);
        bytes.len() as u64
    }

    /// Instances that the buffer has room for.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
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
