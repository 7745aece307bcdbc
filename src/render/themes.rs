//! The last pass of a picture that is not dark: it turns a finished picture into another theme, words and all.

use super::context::Context;
use super::pipeline::uniform;
use super::shaders;
use crate::scene::palette::{self, Theme};

/// Turns pictures of one theme and one format.
pub struct ThemePass {
    theme: Theme,
    pipeline: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
    gain: wgpu::Buffer,
    format: wgpu::TextureFormat,
    /// Where the dark picture is drawn.
    dark: Option<(wgpu::Texture, wgpu::BindGroup)>,
}

impl ThemePass {
    /// For targets of `format`; none for the theme that pictures are drawn in.
    #[must_use]
    pub fn new(context: &Context, format: wgpu::TextureFormat, theme: Theme) -> Option<Self> {
        if theme == Theme::Dark {
            return None;
        }
        let device = &context.device;
        let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty,
            count: None,
        };
        let gain = palette::gain(theme);
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("theme"),
            entries: &[
                entry(0, uniform(size_of_val(&gain))),
                entry(
                    1,
                    wgpu::BindingType::Texture {
                        sample_type: wgpu::TextureSampleType::Float { filterable: false },
                        view_dimension: wgpu::TextureViewDimension::D2,
                        multisampled: false,
                    },
                ),
            ],
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("theme"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let module = shaders::module(device, "themes");
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("theme"),
            layout: Some(&pipeline_layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vs_main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fs_main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(format.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("theme"),
            size: size_of_val(&gain) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        context.queue.write_buffer(&buffer, 0, bytemuck::bytes_of(&gain));
        Some(Self { theme, pipeline, layout, gain: buffer, format, dark: None })
    }

    /// The theme it turns pictures into.
    #[must_use]
    pub fn theme(&self) -> Theme {
        self.theme
    }

    /// Where the dark picture of `size` pixels is to be drawn, or copied to.
    pub fn dark(&mut self, context: &Context, [width, height]: [u32; 2]) -> &wgpu::Texture {
        let fits = self.dark.as_ref().is_some_and(|(dark, _)| [dark.width(), dark.height()] == [width, height]);
        let known = self.dark.take().filter(|_| fits);
        let (dark, _) = self.dark.insert(known.unwrap_or_else(|| {
            let dark = context.device.create_texture(&wgpu::TextureDescriptor {
                label: Some("dark"),
                size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: self.format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT
                    | wgpu::TextureUsages::TEXTURE_BINDING
                    | wgpu::TextureUsages::COPY_DST,
                view_formats: &[],
            });
            let view = dark.create_view(&wgpu::TextureViewDescriptor::default());
            let bind_group = context.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("theme"),
                layout: &self.layout,
                entries: &[
                    wgpu::BindGroupEntry { binding: 0, resource: self.gain.as_entire_binding() },
                    wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::TextureView(&view) },
                ],
            });
            (dark, bind_group)
        }));
        dark
    }

    /// Draws what stands in [`ThemePass::dark`] in its theme into `view`, which is as large.
    pub fn draw(&self, encoder: &mut wgpu::CommandEncoder, view: &wgpu::TextureView) {
        let Some((_, bind_group)) = &self.dark else { return };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("theme"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store },
            })],
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, bind_group, &[]);
        pass.draw(0..3, 0..1);
    }
}
