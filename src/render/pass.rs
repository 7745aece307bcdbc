//! Draws a scene into any view: disks, cells, structure, trails, glyphs, the light of glyphs, bars, in this order; or solids, then bars.

use super::bars::{Bar, BarDrawData, BarRenderer};
use super::cells::{CellDrawData, CellRenderer};
use super::context::Context;
use super::disks::{DiskDrawData, DiskRenderer};
use super::glyphs::{GlyphDrawData, GlyphRenderer};
use super::gpu_data::Frame;
use super::pathlines::{PathlineDrawData, PathlineRenderer};
use super::pipeline::uniform;
use super::solids::{SolidDrawData, SolidRenderer};
use super::upload::Sent;
use crate::scene::solids::Facets;
use crate::scene::{Scene, palette};

/// Where in a target the rings stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Target size, pixels.
    pub size: [u32; 2],
    /// Centre of the rings, pixels from the upper left.
    pub center: [f32; 2],
    /// Pixels for one world unit (the radius of memory's rim).
    pub px_per_unit: f32,
    /// Pixels for one pixel of a picture 720 high: line widths grow with it.
    pub line_scale: f32,
}

impl Viewport {
    /// The rings alone, as large as fits.
    #[must_use]
    pub fn fit(width: u32, height: u32) -> Self {
        let short = width.min(height) as f32;
        Self {
            size: [width, height],
            center: [0.5 * width as f32, 0.5 * height as f32],
            px_per_unit: 0.48 * short,
            line_scale: short / 720.0,
        }
    }

    /// The same place where every pixel became `factor` pixels, in a target of `size`.
    #[must_use]
    pub fn scaled(&self, factor: f32, size: [u32; 2]) -> Self {
        Self {
            size,
            center: self.center.map(|c| c * factor),
            px_per_unit: self.px_per_unit * factor,
            line_scale: self.line_scale * factor,
        }
    }

    /// Pixel of a point in world units.
    #[must_use]
    pub fn px_from_world(&self, p: [f32; 2]) -> [f32; 2] {
        [self.center[0] + p[0] * self.px_per_unit, self.center[1] + p[1] * self.px_per_unit]
    }

    /// World point of a pixel.
    #[must_use]
    pub fn world_from_px(&self, p: [f32; 2]) -> [f32; 2] {
        [(p[0] - self.center[0]) / self.px_per_unit, (p[1] - self.center[1]) / self.px_per_unit]
    }

    /// What every shader of a frame knows.
    #[must_use]
    pub fn frame(&self) -> Frame {
        let [w, h] = self.size.map(|s| s as f32);
        Frame {
            scale: [2.0 * self.px_per_unit / w, -2.0 * self.px_per_unit / h],
            offset: [2.0 * self.center[0] / w - 1.0, 1.0 - 2.0 * self.center[1] / h],
            half_size: [0.5 * w, 0.5 * h],
            px_per_unit: self.px_per_unit,
            line_scale: self.line_scale.max(0.6),
        }
    }
}

/// The uniform of a frame, which every stage may read.
const FRAME: wgpu::BindGroupLayoutEntry = wgpu::BindGroupLayoutEntry {
    binding: 0,
    visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
    ty: uniform(size_of::<Frame>()),
    count: None,
};

/// What draws shapes, whosever they are.
#[derive(Clone)]
struct Renderers {
    bind_layout: wgpu::BindGroupLayout,
    disks: DiskRenderer,
    cells: CellRenderer,
    pathlines: PathlineRenderer,
    glyphs: GlyphRenderer,
    bars: BarRenderer,
    solids: SolidRenderer,
}

/// Everything that outlives a frame, and the newest frame's data.
pub struct Painter {
    format: wgpu::TextureFormat,
    frame_buffer: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    renderers: Renderers,
    disk_data: DiskDrawData,
    cell_data: CellDrawData,
    structure: PathlineDrawData,
    trails: PathlineDrawData,
    glyph_data: GlyphDrawData,
    bar_data: BarDrawData,
    solid_data: SolidDrawData,
    /// A rectangle under the picture where it is a part of a target.
    ground: BarDrawData,
    /// Whether there is a scene below the bars.
    has_scene: bool,
    /// What the last frame sent, and all so far.
    sent: [Sent; 2],
}

impl Painter {
    /// Pipelines for targets of `format`. Colours are blended as displayed, so the format is not an sRGB one.
    #[must_use]
    pub fn new(context: &Context, format: wgpu::TextureFormat) -> Self {
        let device = &context.device;
        let bind_layout = device
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("frame"), entries: &[FRAME] });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("scene"),
            bind_group_layouts: &[Some(&bind_layout)],
            immediate_size: 0,
        });
        let renderers = Renderers {
            disks: DiskRenderer::new(device, format, &layout),
            cells: CellRenderer::new(device, format, &layout),
            pathlines: PathlineRenderer::new(device, format, &layout),
            glyphs: GlyphRenderer::new(device, format, &layout),
            bars: BarRenderer::new(device, format, &layout),
            solids: SolidRenderer::new(device, format),
            bind_layout,
        };
        Self::with(device, format, renderers)
    }

    /// A painter of another picture for targets of the same format, by the same pipelines.
    #[must_use]
    pub fn another(&self, context: &Context) -> Self {
        Self::with(&context.device, self.format, self.renderers.clone())
    }

    fn with(device: &wgpu::Device, format: wgpu::TextureFormat, renderers: Renderers) -> Self {
        let frame_buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("frame"),
            size: size_of::<Frame>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("frame"),
            layout: &renderers.bind_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: frame_buffer.as_entire_binding() }],
        });
        let solid_data = SolidDrawData::new(device, &renderers.solids);
        Self {
            format,
            frame_buffer,
            bind_group,
            renderers,
            disk_data: DiskDrawData::new(),
            cell_data: CellDrawData::new(),
            structure: PathlineDrawData::new("structure"),
            trails: PathlineDrawData::new("trails"),
            glyph_data: GlyphDrawData::new(),
            bar_data: BarDrawData::new(),
            solid_data,
            ground: BarDrawData::new(),
            has_scene: false,
            sent: [Sent::default(); 2],
        }
    }

    /// The format it draws in.
    #[must_use]
    pub fn format(&self) -> wgpu::TextureFormat {
        self.format
    }

    /// What all frames sent so far; words over the picture, which are egui's, come on top.
    #[must_use]
    pub fn sent(&self) -> Sent {
        self.sent[1]
    }

    /// The same picture is drawn once more: nothing is sent.
    pub fn again(&mut self) {
        let Sent { lists, .. } = self.sent[0];
        self.account(Sent { lists, unchanged: lists, ..Sent::default() });
    }

    fn account(&mut self, frame: Sent) {
        let frame = Sent { frames: 1, most: frame.bytes, ..frame };
        self.sent[0] = frame;
        self.sent[1] += frame;
    }

    /// Uploads what changed since the last scene. `bars` are drawn over it.
    pub fn prepare(&mut self, context: &Context, scene: &Scene, bars: &[Bar], viewport: &Viewport) {
        let (device, queue) = (&context.device, &context.queue);
        queue.write_buffer(&self.frame_buffer, 0, bytemuck::bytes_of(&viewport.frame()));
        let mut sent = Sent { bytes: size_of::<Frame>() as u64, ..Sent::default() };
        sent += self.disk_data.set(device, queue, &scene.disks, viewport.px_per_unit);
        sent += self.cell_data.set(device, queue, &scene.cells);
        let sectors = &scene.rings.sectors;
        sent += self.structure.set(device, queue, (&scene.structure, sectors));
        sent += self.trails.set(device, queue, (&scene.trails, sectors));
        sent += self.glyph_data.set(device, queue, scene);
        sent += self.bar_data.set(device, queue, bars);
        sent += self.no_solids(context);
        self.has_scene = true;
        self.account(sent);
    }

    /// Nothing solid is drawn.
    fn no_solids(&mut self, context: &Context) -> Sent {
        let to = (&context.device, &context.queue);
        self.solid_data.set(to, &self.renderers.solids, None, 1.0, [1; 2])
    }

    /// As [`Painter::prepare`], of a picture of `size` pixels that has bars alone.
    pub fn prepare_bars(&mut self, context: &Context, bars: &[Bar], size: [u32; 2]) {
        self.prepare_solids(context, None, bars, (1.0, size));
    }

    /// As [`Painter::prepare`], of a picture of `size` pixels, `scale` for one of the places that solids have, whose bars are over solids.
    pub fn prepare_solids(
        &mut self,
        context: &Context,
        facets: Option<&Facets>,
        bars: &[Bar],
        (scale, size): (f32, [u32; 2]),
    ) {
        let [width, height] = size;
        let (device, queue) = (&context.device, &context.queue);
        let frame = Viewport::fit(width, height).frame();
        queue.write_buffer(&self.frame_buffer, 0, bytemuck::bytes_of(&frame));
        let mut sent = Sent { bytes: size_of::<Frame>() as u64, ..Sent::default() };
        sent += self.bar_data.set(device, queue, bars);
        sent += self.solid_data.set((device, queue), &self.renderers.solids, facets, scale, size);
        self.has_scene = false;
        self.account(sent);
    }

    /// Draws what is prepared over the ground into `view`.
    pub fn draw(&self, encoder: &mut wgpu::CommandEncoder, view: &wgpu::TextureView) {
        self.before_pass(encoder);
        self.draw_shapes(&mut begin(encoder, view));
    }

    /// Draws what must be there before a pass into a view begins.
    pub fn before_pass(&self, encoder: &mut wgpu::CommandEncoder) {
        self.renderers.solids.render(encoder, &self.solid_data);
    }

    /// Draws what is prepared over the ground into a part of `view`: left and upper edge, width and height in pixels. What is
    /// outside of it stays.
    pub fn draw_part(
        &mut self,
        context: &Context,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::TextureView,
        [x, y, width, height]: [u32; 4],
    ) {
        let [left, top, right, bottom] = [x, y, x + width, y + height].map(|side| side as f32);
        let ground = Bar { sides: [left, top, right, bottom], color: palette::BACKGROUND };
        self.ground.set(&context.device, &context.queue, &[ground]);
        self.before_pass(encoder);
        let mut pass = pass(encoder, view, wgpu::LoadOp::Load);
        pass.set_scissor_rect(x, y, width, height);
        pass.set_bind_group(0, &self.bind_group, &[]);
        self.renderers.bars.draw(&mut pass, &self.ground);
        self.draw_shapes(&mut pass);
    }

    /// Draws what is prepared in a pass over a ground that is there, after [`Painter::before_pass`].
    pub fn draw_shapes(&self, pass: &mut wgpu::RenderPass<'_>) {
        let Renderers { disks, cells, pathlines, glyphs, bars, solids, .. } = &self.renderers;
        solids.over(pass, &self.solid_data);
        pass.set_bind_group(0, &self.bind_group, &[]);
        if self.has_scene {
            disks.draw(pass, &self.disk_data);
            cells.draw(pass, &self.cell_data);
            pathlines.draw(pass, &self.structure);
            pathlines.draw(pass, &self.trails);
            glyphs.draw(pass, &self.glyph_data);
        }
        bars.draw(pass, &self.bar_data);
    }
}

/// The ground as wgpu has it.
fn ground() -> wgpu::Color {
    let [r, g, b, _] = palette::BACKGROUND.map(|c| f64::from(c) / 255.0);
    wgpu::Color { r, g, b, a: 1.0 }
}

/// Begins a pass that fills all of `view` with the ground.
pub fn begin<'a>(encoder: &'a mut wgpu::CommandEncoder, view: &wgpu::TextureView) -> wgpu::RenderPass<'a> {
    pass(encoder, view, wgpu::LoadOp::Clear(ground()))
}

pub(super) fn pass<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    view: &wgpu::TextureView,
    load: wgpu::LoadOp<wgpu::Color>,
) -> wgpu::RenderPass<'a> {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("scene"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
        })],
        ..Default::default()
    })
}
