//! A whole picture: the scene by the painter, words over it by egui, into any view.

use super::draw::draw;
use super::fonts;
use super::info::Info;
use super::layout::{Layout, Parts};
use super::strip::Strip;
use crate::render::{Context, Painter};
use crate::scene::Scene;
use egui::{LayerId, RawInput, Rect, pos2, vec2};
use egui_wgpu::{Renderer, RendererOptions, ScreenDescriptor};

/// Draws pictures without a window.
pub struct Composer {
    painter: Painter,
    egui: egui::Context,
    words: Words,
}

impl Composer {
    /// For targets of `format`.
    #[must_use]
    pub fn new(context: &Context, format: wgpu::TextureFormat) -> Self {
        let egui = egui::Context::default();
        egui.set_fonts(fonts::definitions());
        egui.set_pixels_per_point(1.0);
        Self { painter: Painter::new(context, format), egui, words: Words::new(context, format) }
    }

    /// The scene's painter.
    #[must_use]
    pub fn painter(&self) -> &Painter {
        &self.painter
    }

    /// Records the drawing of one picture into `encoder`.
    #[expect(clippy::too_many_arguments, reason = "each is a different thing the picture is made of")]
    pub fn draw(
        &mut self,
        context: &Context,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::TextureView,
        scene: &Scene,
        layout: &Layout,
        parts: &Parts,
        info: &Info,
        strip: &Strip,
    ) {
        let [width, height] = layout.viewport.size;
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(width as f32, height as f32));
        // No clock: egui gets time 0 in every frame, so nothing of it can depend on when a frame is drawn.
        let input = RawInput { screen_rect: Some(screen), time: Some(0.0), ..RawInput::default() };
        let mut bars = Vec::new();
        let output = self.egui.run_ui(input, |ui| {
            let painter = ui.ctx().layer_painter(LayerId::background());
            bars = draw(&painter, layout, parts, info, &scene.rings, strip).bars;
        });
        self.painter.prepare(context, scene, &bars, &layout.viewport);
        self.painter.draw(encoder, view);
        self.words.draw(context, encoder, view, &self.egui, output, layout.viewport.size);
    }
}

/// Draws what egui laid out over what a view holds: for pictures and for the window alike.
pub struct Words {
    renderer: Renderer,
}

impl Words {
    /// For targets of `format`.
    #[must_use]
    pub fn new(context: &Context, format: wgpu::TextureFormat) -> Self {
        // Filtering in the shader, which would make text equal on all adapters, doubles its cost on a software one.
        let options = RendererOptions { predictable_texture_filtering: false, ..RendererOptions::PREDICTABLE };
        Self { renderer: Renderer::new(&context.device, format, options) }
    }

    /// Records the drawing of `output`, which `egui` gave, into a view of `size` pixels.
    #[expect(clippy::iter_over_hash_type, reason = "textures do not depend on each other")]
    pub fn draw(
        &mut self,
        context: &Context,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::TextureView,
        egui: &egui::Context,
        mut output: egui::FullOutput,
        size: [u32; 2],
    ) {
        let jobs = egui.tessellate(output.shapes, output.pixels_per_point);
        let descriptor = ScreenDescriptor { size_in_pixels: size, pixels_per_point: output.pixels_per_point };
        for (id, deltas) in std::mem::take(&mut output.textures_delta.set) {
            for delta in &deltas {
                self.renderer.update_texture(&context.device, &context.queue, id, delta);
            }
        }
        let extra = self.renderer.update_buffers(&context.device, &context.queue, encoder, &jobs, &descriptor);
        debug_assert!(extra.is_empty(), "no paint callbacks are used");
        {
            let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("overlay"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store },
                })],
                ..Default::default()
            });
            self.renderer.render(&mut pass.forget_lifetime(), &jobs, &descriptor);
        }
        for id in std::mem::take(&mut output.textures_delta.free) {
            self.renderer.free_texture(&id);
        }
    }
}
