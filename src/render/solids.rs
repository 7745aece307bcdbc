//! Solids: triangles in pixels with depth, drawn into a picture of their own that then lies under all that is flat.
//!
//! ```text
//! triangles -> [4 samples a pixel, depth] -> one sample a pixel, transparent ground -> over the ground of the target
//!   what covers, then what is seen through                                             bars and words follow
//! ```
//!
//! Places, colours and light are those of [`crate::scene::solids`]: nothing is computed here.

use super::gpu_data::{SOLID_ATTRIBUTES, SolidArea, SolidVertex};
use super::pipeline::uniform;
use super::shaders;
use super::upload::{Sent, Upload};
use crate::scene::solids::Facets;

/// Samples of a pixel: what every adapter has.
const SAMPLES: u32 = 4;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Long-lived: the pipelines.
#[derive(Clone)]
pub struct SolidRenderer {
    format: wgpu::TextureFormat,
    /// Of what draws triangles, and of what lays their picture over another.
    layouts: [wgpu::BindGroupLayout; 2],
    /// What has no alpha, then what has one: lines.
    covers: [wgpu::RenderPipeline; 2],
    seen_through: wgpu::RenderPipeline,
    over: wgpu::RenderPipeline,
}

/// The picture that triangles are drawn into.
struct Own {
    size: [u32; 2],
    samples: wgpu::TextureView,
    depth: wgpu::TextureView,
    picture: wgpu::TextureView,
    over: wgpu::BindGroup,
}

/// A frame's triangles on the GPU.
pub struct SolidDrawData {
    upload: Upload<SolidVertex>,
    /// Numbers of corners, three for each triangle.
    triangles: Upload<u32>,
    /// How many of them cover, without lines and with them.
    covering: [u32; 2],
    area: wgpu::Buffer,
    bind: wgpu::BindGroup,
    own: Option<Own>,
}

/// Sides of the picture are whole multiples of this, pixels: a camera that goes on seldom needs another one.
const STEP: u32 = 64;

/// Where there is anything to see, within where it may be drawn: samples that nothing covers cost as much as others.
fn seen(facets: &Facets) -> [f32; 4] {
    let [left, top, right, bottom] = facets.area;
    let mut ends = [right, bottom, left, top];
    for [x, y] in facets.corners.iter().map(|corner| corner.at) {
        ends = [ends[0].min(x), ends[1].min(y), ends[2].max(x), ends[3].max(y)];
    }
    [ends[0].max(left), ends[1].max(top), ends[2].min(right), ends[3].min(bottom)]
}

impl SolidRenderer {
    pub(super) fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Self {
        let area = wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
            ty: uniform(size_of::<SolidArea>()),
            count: None,
        };
        let picture = wgpu::BindGroupLayoutEntry {
            binding: 1,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Texture {
                sample_type: wgpu::TextureSampleType::Float { filterable: false },
                view_dimension: wgpu::TextureViewDimension::D2,
                multisampled: false,
            },
            count: None,
        };
        let layout = |entries: &[wgpu::BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("solids"), entries })
        };
        let layouts = [layout(&[area]), layout(&[area, picture])];
        let module = shaders::module(device, "solids");
        let pipeline = |entry: [&'static str; 2], layout: usize, depth: Option<bool>, blends: bool| {
            let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("solids"),
                bind_group_layouts: &[Some(&layouts[layout])],
                immediate_size: 0,
            });
            let corners = [Some(wgpu::VertexBufferLayout {
                array_stride: size_of::<SolidVertex>() as u64,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &SOLID_ATTRIBUTES,
            })];
            let topology = match depth {
                Some(_) => wgpu::PrimitiveTopology::TriangleList,
                None => wgpu::PrimitiveTopology::TriangleStrip,
            };
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some("solids"),
                layout: Some(&pipeline_layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some(entry[0]),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers: if depth.is_some() { &corners } else { &[] },
                },
                primitive: wgpu::PrimitiveState { topology, ..Default::default() },
                depth_stencil: depth.map(|writes| wgpu::DepthStencilState {
                    format: DEPTH,
                    depth_write_enabled: Some(writes),
                    depth_compare: Some(wgpu::CompareFunction::LessEqual),
                    stencil: wgpu::StencilState::default(),
                    bias: wgpu::DepthBiasState::default(),
                }),
                multisample: wgpu::MultisampleState {
                    count: if depth.is_some() { SAMPLES } else { 1 },
                    ..Default::default()
                },
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some(entry[1]),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    targets: &[Some(wgpu::ColorTargetState {
                        format,
                        blend: blends.then_some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                        write_mask: wgpu::ColorWrites::ALL,
                    })],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        let main = ["vs_main", "fs_main"];
        let covers = [false, true].map(|blends| pipeline(main, 0, Some(true), blends));
        let seen_through = pipeline(main, 0, Some(false), true);
        let over = pipeline(["vs_over", "fs_over"], 1, None, true);
        Self { format, layouts, covers, seen_through, over }
    }

    /// Draws the triangles into their own picture.
    pub(super) fn render(&self, encoder: &mut wgpu::CommandEncoder, data: &SolidDrawData) {
        let (Some(own), Some(corners), Some(triangles)) = (&data.own, data.upload.buffer(), data.triangles.buffer())
        else {
            return;
        };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("solids"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &own.samples,
                depth_slice: None,
                resolve_target: Some(&own.picture),
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Discard,
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &own.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_bind_group(0, &data.bind, &[]);
        pass.set_vertex_buffer(0, corners.slice(..));
        pass.set_index_buffer(triangles.slice(..), wgpu::IndexFormat::Uint32);
        let [opaque, solid] = data.covering;
        let [whole, lines] = &self.covers;
        let parts = [(whole, 0..opaque), (lines, opaque..solid), (&self.seen_through, solid..data.triangles.count())];
        for (pipeline, part) in parts.into_iter().filter(|(_, part)| !part.is_empty()) {
            pass.set_pipeline(pipeline);
            pass.draw_indexed(part, 0, 0..1);
        }
    }

    /// Lays that picture over what a pass drew.
    pub(super) fn over(&self, pass: &mut wgpu::RenderPass<'_>, data: &SolidDrawData) {
        if let Some(own) = data.own.as_ref().filter(|_| data.upload.buffer().is_some()) {
            pass.set_bind_group(0, &own.over, &[]);
            pass.set_pipeline(&self.over);
            pass.draw(0..4, 0..1);
        }
    }
}

impl SolidDrawData {
    pub(super) fn new(device: &wgpu::Device, renderer: &SolidRenderer) -> Self {
        let area = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("solids"),
            size: size_of::<SolidArea>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bind = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("solids"),
            layout: &renderer.layouts[0],
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: area.as_entire_binding() }],
        });
        let triangles = Upload::of_usage("solids", wgpu::BufferUsages::INDEX);
        Self { upload: Upload::new("solids"), triangles, covering: [0; 2], area, bind, own: None }
    }

    /// Makes the GPU hold what is seen, `scale` pixels a point, in a target of `size` pixels; `None` = nothing.
    pub(super) fn set(
        &mut self,
        (device, queue): (&wgpu::Device, &wgpu::Queue),
        renderer: &SolidRenderer,
        facets: Option<&Facets>,
        scale: f32,
        size: [u32; 2],
    ) -> Sent {
        let corner = |seen: &crate::scene::solids::Seen| {
            let [x, y] = seen.at;
            SolidVertex { at: [x, y, seen.depth], color: seen.color }
        };
        let corners = facets.map_or(&[][..], |facets| &facets.corners[..]);
        let mut sent = self.upload.set(device, queue, corners.iter().map(corner));
        let triangles = facets.map_or(&[][..], |facets| &facets.triangles[..]);
        sent += self.triangles.set(device, queue, triangles.iter().flatten().copied());
        let Some(facets) = facets else { return sent };
        self.covering = [facets.opaque, facets.solid].map(|n| u32::try_from(3 * n).unwrap_or(u32::MAX));
        let [left, top, right, bottom] = seen(facets).map(|side| side * scale);
        let from = [left.floor().max(0.0), top.floor().max(0.0)];
        let long = [right.ceil() - from[0], bottom.ceil() - from[1]];
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pixels of a target, 1 or more")]
        let own: [u32; 2] = [0, 1].map(|n| (long[n].clamp(1.0, size[n] as f32) as u32).next_multiple_of(STEP));
        let area = SolidArea {
            area: [from[0], from[1], own[0] as f32, own[1] as f32],
            target_size: size.map(|side| side as f32),
            scale,
            _pad0: 0.0,
        };
        queue.write_buffer(&self.area, 0, bytemuck::bytes_of(&area));
        sent.bytes += size_of::<SolidArea>() as u64;
        if self.own.as_ref().is_none_or(|held| held.size != own) {
            self.own = Some(self.picture(device, renderer, own));
        }
        sent
    }

    fn picture(&self, device: &wgpu::Device, renderer: &SolidRenderer, size: [u32; 2]) -> Own {
        let texture = |format: wgpu::TextureFormat, samples: u32, usage: wgpu::TextureUsages| {
            let [width, height] = size;
            let texture = device.create_texture(&wgpu::TextureDescriptor {
                label: Some("solids"),
                size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: samples,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | usage,
                view_formats: &[],
            });
            texture.create_view(&wgpu::TextureViewDescriptor::default())
        };
        let none = wgpu::TextureUsages::empty();
        let picture = texture(renderer.format, 1, wgpu::TextureUsages::TEXTURE_BINDING);
        let over = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("solids"),
            layout: &renderer.layouts[1],
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: self.area.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::TextureView(&picture) },
            ],
        });
        let (samples, depth) = (texture(renderer.format, SAMPLES, none), texture(DEPTH, SAMPLES, none));
        Own { size, samples, depth, picture, over }
    }
}
