//! A picture off screen: a texture to draw into and buffers to read it back, several frames in flight.

use super::context::{Context, RenderError};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, channel};

/// Format of pictures off screen: bytes as displayed, blended as displayed.
pub const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// A texture and its way back to memory.
pub struct Target {
    width: u32,
    height: u32,
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    free: Vec<wgpu::Buffer>,
    pending: VecDeque<Pending>,
}

struct Pending {
    buffer: wgpu::Buffer,
    ready: Receiver<Result<(), wgpu::BufferAsyncError>>,
    submission: wgpu::SubmissionIndex,
}

impl Target {
    /// A target of `width` x `height` pixels, each 16 or more.
    ///
    /// # Errors
    /// [`RenderError::Size`] or [`RenderError::Large`].
    pub fn new(context: &Context, width: u32, height: u32) -> Result<Self, RenderError> {
        let most = context.device.limits().max_texture_dimension_2d;
        if !(16..=most).contains(&width) || !(16..=most).contains(&height) {
            return Err(RenderError::Size { width, height, most });
        }
        let pitch = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let most = context.device.limits().max_buffer_size;
        if u64::from(pitch) * u64::from(height) > most {
            return Err(RenderError::Large { width, height, most });
        }
        let texture = context.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("target"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        Ok(Self { width, height, texture, view, free: Vec::new(), pending: VecDeque::new() })
    }

    /// Width and height, pixels.
    #[must_use]
    pub fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// What to draw into.
    #[must_use]
    pub fn view(&self) -> &wgpu::TextureView {
        &self.view
    }

    /// Bytes of a row in a read-back buffer: padded to 256.
    fn pitch(&self) -> u32 {
        (self.width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT)
    }

    /// Submits what `encoder` drew and starts its way back; [`Target::collect`] gives it, oldest first.
    pub fn submit(&mut self, context: &Context, mut encoder: wgpu::CommandEncoder) {
        let pitch = self.pitch();
        let buffer = self.free.pop().unwrap_or_else(|| {
            context.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("readback"),
                size: u64::from(pitch) * u64::from(self.height),
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            })
        });
        encoder.copy_texture_to_buffer(
            self.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(pitch),
                    rows_per_image: Some(self.height),
                },
            },
            wgpu::Extent3d { width: self.width, height: self.height, depth_or_array_layers: 1 },
        );
        let submission = context.queue.submit([encoder.finish()]);
        let (sender, ready) = channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            // A closed channel means that nobody waits any more.
            let _ = sender.send(result);
        });
        self.pending.push_back(Pending { buffer, ready, submission });
    }

    /// Waits for the oldest submitted frame and copies it as tightly packed RGBA rows. False: none is in flight.
    ///
    /// # Errors
    /// [`RenderError::Lost`].
    pub fn collect(&mut self, context: &Context, into: &mut Vec<u8>) -> Result<bool, RenderError> {
        let Some(pending) = self.pending.pop_front() else { return Ok(false) };
        context
            .device
            .poll(wgpu::PollType::Wait { submission_index: Some(pending.submission), timeout: None })
            .map_err(|e| RenderError::Lost(e.to_string()))?;
        pending
            .ready
            .recv()
            .map_err(|e| RenderError::Lost(e.to_string()))?
            .map_err(|e| RenderError::Lost(e.to_string()))?;
        into.clear();
        {
            let view = pending.buffer.get_mapped_range(..).map_err(|e| RenderError::Lost(e.to_string()))?;
            let row = self.width as usize * 4;
            for line in view.chunks_exact(self.pitch() as usize) {
                into.extend_from_slice(&line[..row]);
            }
        }
        pending.buffer.unmap();
        self.free.push(pending.buffer);
        Ok(true)
    }
}
