//! Triangles of words and controls over a picture: what a layouter of text gives, with the textures of its glyphs.
//!
//! `egui-wgpu` draws the same, with a choice in its shader between two ways to look a texel up. A software adapter pays for both in
//! each pixel: words alone took 6 ms of the processor for a picture of 1280x720, and take 1.8 so.

use super::context::Context;
use super::gpu_data::{WORD_ATTRIBUTES, WordVertex};
use super::pass::pass;
use super::pipeline::{Look, pipeline};
use super::upload::Upload;
use std::collections::BTreeMap;
use std::ops::Range;

/// Triangles of one texture within one rectangle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordRun {
    /// Which texture.
    pub texture: u64,
    /// Nothing is drawn outside: left and upper edge, width and height in pixels, within the target.
    pub clip: [u32; 4],
    /// Which of the indices.
    pub indices: Range<u32>,
}

/// A part of a texture, or all of it.
#[derive(Clone, Copy, Debug)]
pub struct Texels<'a> {
    /// Column and row of its first texel; none for the whole of a texture of this size.
    pub at: Option<[u32; 2]>,
    /// Width and height.
    pub size: [u32; 2],
    /// Four bytes a texel, premultiplied, row by row.
    pub rgba: &'a [u8],
}

struct Glyphs {
    texture: wgpu::Texture,
    bind_group: wgpu::BindGroup,
}

/// Pipeline, textures, and the triangles of the newest frame.
pub struct WordRenderer {
    pipeline: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
    sampler: wgpu::Sampler,
    textures: BTreeMap<u64, Glyphs>,
    vertices: Upload<WordVertex>,
    indices: Upload<u32>,
    runs: Vec<WordRun>,
}

impl WordRenderer {
    /// For targets of `format`.
    #[must_use]
    pub fn new(context: &Context, format: wgpu::TextureFormat) -> Self {
        let device = &context.device;
        let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty,
            count: None,
        };
        let texture = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: true },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("words"),
            entries: &[entry(0, texture), entry(1, sampler)],
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("words"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let look = Look::triangles("words", size_of::<WordVertex>(), &WORD_ATTRIBUTES);
        Self {
            pipeline: pipeline(device, format, &pipeline_layout, &look),
            layout,
            sampler: device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("words"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
            textures: BTreeMap::new(),
            vertices: Upload::new("words"),
            indices: Upload::of_usage("indices of words", wgpu::BufferUsages::INDEX),
            runs: Vec::new(),
        }
    }

    /// Makes texture `id` hold `texels`. A part of a texture that does not hold it is passed over.
    pub fn set_texture(&mut self, context: &Context, id: u64, texels: Texels<'_>) {
        let Texels { at, size: [width, height], rgba } = texels;
        let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
        if at.is_none() {
            let glyphs = self.glyphs(context, size);
            self.textures.insert(id, glyphs);
        }
        let [x, y] = at.unwrap_or_default();
        let Some(Glyphs { texture, .. }) = self.textures.get(&id) else { return };
        if x + width > texture.width() || y + height > texture.height() {
            return;
        }
        let to = wgpu::TexelCopyTextureInfo { origin: wgpu::Origin3d { x, y, z: 0 }, ..texture.as_image_copy() };
        let rows =
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4 * width), rows_per_image: Some(height) };
        context.queue.write_texture(to, rgba, rows, size);
    }

    fn glyphs(&self, context: &Context, size: wgpu::Extent3d) -> Glyphs {
        let texture = context.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("glyphs"),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            // As displayed, as all of a picture.
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let bind_group = context.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("words"),
            layout: &self.layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(&view) },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::Sampler(&self.sampler) },
            ],
        });
        Glyphs { texture, bind_group }
    }

    /// Texture `id` is asked for no more.
    pub fn free_texture(&mut self, id: u64) {
        self.textures.remove(&id);
    }

    /// Uploads what changed since the last frame: corners, three indices a triangle, and what of them is drawn how.
    pub fn prepare(
        &mut self,
        context: &Context,
        vertices: impl Iterator<Item = WordVertex>,
        indices: impl Iterator<Item = u32>,
        runs: Vec<WordRun>,
    ) {
        self.vertices.set(&context.device, &context.queue, vertices);
        self.indices.set(&context.device, &context.queue, indices);
        self.runs = runs;
    }

    /// Draws what is prepared over what `view` holds.
    pub fn draw(&self, encoder: &mut wgpu::CommandEncoder, view: &wgpu::TextureView) {
        self.triangles(&mut pass(encoder, view, wgpu::LoadOp::Load));
    }

    /// Draws what is prepared over what is drawn in a pass.
    pub fn triangles(&self, pass: &mut wgpu::RenderPass<'_>) {
        let (Some(vertices), Some(indices)) = (self.vertices.buffer(), self.indices.buffer()) else { return };
        pass.set_pipeline(&self.pipeline);
        pass.set_vertex_buffer(0, vertices.slice(..));
        pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
        for WordRun { texture, clip: [x, y, width, height], indices } in &self.runs {
            let Some(Glyphs { bind_group, .. }) = self.textures.get(texture) else { continue };
            if *width > 0 && *height > 0 {
                pass.set_scissor_rect(*x, *y, *width, *height);
                pass.set_bind_group(0, bind_group, &[]);
                pass.draw_indexed(indices.clone(), 0, 0..1);
            }
        }
    }
}
