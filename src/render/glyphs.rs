//! Dots, and over them the light of those that missed. The shader's own drawing is at the top of `shaders/glyphs.wgsl`.

use super::gpu_data::{GLYPH_ATTRIBUTES, GlyphInstance, unorm8};
use super::pipeline::{Look, pipeline};
use super::quads::Quads;
use super::upload::Sent;
use crate::scene::motion::position_at;
use crate::scene::{Glyph, Scene};

/// Long-lived: the pipelines.
#[derive(Clone)]
pub struct GlyphRenderer {
    bodies: wgpu::RenderPipeline,
    lights: wgpu::RenderPipeline,
}

/// A frame's dots on the GPU.
pub struct GlyphDrawData {
    bodies: Quads<GlyphInstance>,
    /// Those with a flash or a burst: few, so that the many need neither their pixels nor their arithmetic.
    lights: Quads<GlyphInstance>,
}

impl GlyphRenderer {
    pub(super) fn new(device: &wgpu::Device, format: wgpu::TextureFormat, layout: &wgpu::PipelineLayout) -> Self {
        let bodies = Look::triangles("glyphs", size_of::<GlyphInstance>(), &GLYPH_ATTRIBUTES);
        let lights = Look { entry: ["vs_light", "fs_light"], ..bodies };
        Self { bodies: pipeline(device, format, layout, &bodies), lights: pipeline(device, format, layout, &lights) }
    }

    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, data: &GlyphDrawData) {
        data.bodies.draw(pass, &self.bodies);
        data.lights.draw(pass, &self.lights);
    }
}

/// Flashes fainter than this have no halo: `FLASH_SEEN` in `glyphs.wgsl`.
pub const FLASH_SEEN: f32 = 0.02;

impl GlyphDrawData {
    pub(super) fn new() -> Self {
        Self { bodies: Quads::new("glyphs"), lights: Quads::new("lights") }
    }

    pub(super) fn set(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, scene: &Scene) -> Sent {
        let mut sent = self.bodies.set(device, queue, scene.glyphs.iter().map(|glyph| instance(scene, glyph)));
        let lit = scene.glyphs.iter().filter(|g| g.flash > FLASH_SEEN || g.burst < 1.0);
        sent += self.lights.set(device, queue, lit.map(|glyph| instance(scene, glyph)));
        sent
    }
}

/// A glyph of a scene as the GPU gets it. Where it is is computed here, once: a shader would do so at each of four corners.
#[must_use]
pub fn instance(scene: &Scene, glyph: &Glyph) -> GlyphInstance {
    GlyphInstance {
        center: position_at(&scene.rings.sectors, &glyph.flight, scene.now),
        radius: glyph.radius,
        color: glyph.color,
        glow: [unorm8(glyph.flash), unorm8(glyph.pulse), unorm8(glyph.burst), 0],
        flags: glyph.flags,
    }
}
