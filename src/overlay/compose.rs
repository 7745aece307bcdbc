//! A whole picture: what was taken, by the painter, words over it by egui, into any view.

use super::exhibits::Exhibit;
use super::fonts;
use super::shot::{Playback, Shot, Taken};
use super::strip::Strip;
use super::studio::Studio;
use crate::reference::SourceError;
use crate::render::gpu_data::WordVertex;
use crate::render::{
    Bar, Context, Painter, RenderError, Target, Texels, ThemePass, WordRenderer, WordRun, begin, target,
};
use crate::scene::palette::Theme;
use egui::epaint::{ClippedPrimitive, ImageData, ImageDelta, Mesh, Primitive, TextureId};
use egui::{LayerId, RawInput, ViewportId};

/// What fills a target: pictures beside each other, which were laid out in areas of their own, and what is written over all of them.
pub struct Sheet<'a> {
    /// The pictures, each with its strip; where there is none, the ground alone is drawn.
    pub pictures: &'a [(&'a Taken, &'a Strip)],
    /// What is written over them.
    pub over: &'a dyn Fn(&egui::Painter),
}

/// What egui made of a sheet.
pub(super) struct Lettered {
    /// By picture: rectangles under its words, points.
    pub(super) bars: Vec<Vec<Bar>>,
    /// The words.
    pub(super) output: egui::FullOutput,
}

impl Sheet<'_> {
    /// Has the words of all pictures, and what is written over them, laid out, for a target of `size` pixels of which each point has
    /// `scale`.
    pub(super) fn letter(&self, egui: &egui::Context, size: [u32; 2], scale: f32) -> Lettered {
        let screen =
            egui::Rect::from_min_size(egui::Pos2::ZERO, egui::Vec2::from(size.map(|side| side as f32)) / scale);
        // No clock: egui gets time 0 in every frame, so nothing of it can depend on when a frame is drawn.
        let mut input = RawInput { screen_rect: Some(screen), time: Some(0.0), ..RawInput::default() };
        input.viewports.entry(ViewportId::ROOT).or_default().native_pixels_per_point = Some(scale);
        let mut bars = Vec::new();
        let output = egui.run_ui(input, |ui| {
            let painter = ui.ctx().layer_painter(LayerId::background());
            bars = self.pictures.iter().map(|(taken, strip)| taken.words(&painter, strip).bars).collect();
            (self.over)(&painter);
        });
        Lettered { bars, output }
    }
}

/// Draws pictures without a window.
pub struct Composer {
    painter: Painter,
    /// Of the second picture of a sheet, and those after it.
    others: Vec<Painter>,
    egui: egui::Context,
    words: Words,
}

impl Composer {
    /// For targets of `format`.
    #[must_use]
    pub fn new(context: &Context, format: wgpu::TextureFormat) -> Self {
        let egui = egui::Context::default();
        fonts::install(&egui);
        Self { painter: Painter::new(context, format), others: Vec::new(), egui, words: Words::new(context, format) }
    }

    /// The scene's painter.
    #[must_use]
    pub fn painter(&self) -> &Painter {
        &self.painter
    }

    /// Records the drawing of one picture, which fills its target, into `encoder`.
    pub fn draw(
        &mut self,
        context: &Context,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::TextureView,
        taken: &Taken,
        strip: &Strip,
    ) {
        let sheet = Sheet { pictures: &[(taken, strip)], over: &|_| {} };
        self.draw_scaled(context, encoder, view, &sheet, (taken.layout.viewport.size, 1.0));
    }

    /// As [`Composer::draw`] a sheet whose pictures were laid out in points, of which each is `scale` pixels of a target of `size`.
    fn draw_scaled(
        &mut self,
        context: &Context,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::TextureView,
        sheet: &Sheet<'_>,
        (size, scale): ([u32; 2], f32),
    ) {
        let Lettered { bars, output } = sheet.letter(&self.egui, size, scale);
        self.others.truncate(sheet.pictures.len().saturating_sub(1));
        while self.others.len() + 1 < sheet.pictures.len() {
            self.others.push(self.painter.another(context));
        }
        let painters = std::iter::once(&mut self.painter).chain(&mut self.others);
        for ((painter, (taken, _)), bars) in painters.zip(sheet.pictures).zip(&bars) {
            let viewport = taken.layout.viewport.scaled(scale, size);
            let bars: Vec<_> = bars.iter().map(|bar| bar.scaled(scale)).collect();
            match taken.picture.scene() {
                Some(scene) => painter.prepare(context, scene, &bars, &viewport),
                None => painter.prepare_solids(context, taken.picture.solids(), &bars, (scale, size)),
            }
            painter.before_pass(encoder);
        }
        self.words.prepare(context, &self.egui, output, size);
        // One pass for all: a software adapter goes over all tiles of a picture for each.
        let mut pass = begin(encoder, view);
        let painters = std::iter::once(&self.painter).chain(&self.others);
        for (painter, (taken, _)) in painters.zip(sheet.pictures) {
            let [x, y, width, height] = match sheet.pictures.len() {
                1 => [0, 0, size[0], size[1]],
                _ => pixels(taken.layout.area, scale, size),
            };
            pass.set_scissor_rect(x, y, width, height);
            painter.draw_shapes(&mut pass);
        }
        self.words.renderer.triangles(&mut pass);
    }
}

/// Width and height in points of a picture of `size` pixels of which each point has `scale`.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size in pixels over a small factor")]
pub fn points(size: [u32; 2], scale: f32) -> [u32; 2] {
    size.map(|side| (side as f32 / scale).round().max(1.0) as u32)
}

/// Left and upper edge, width and height in pixels of an area in points, within a target of `size` pixels. An empty area
/// has no width or no height.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "places in a picture")]
fn pixels(area: egui::Rect, scale: f32, size: [u32; 2]) -> [u32; 4] {
    let side = |points: f32, axis: usize| ((points * scale).round().max(0.0) as u32).min(size[axis]);
    let [x0, y0] = [side(area.left(), 0), side(area.top(), 1)];
    let [x1, y1] = [side(area.right(), 0), side(area.bottom(), 1)];
    [x0, y0, x1.saturating_sub(x0), y1.saturating_sub(y0)]
}

/// Why a shot gives no picture.
#[derive(Debug, thiserror::Error)]
pub enum ShotError {
    /// The trace cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It cannot be drawn.
    #[error(transparent)]
    Render(#[from] RenderError),
}

/// Takes shots and draws them into memory: stills, and the frames of films. Several may be under way.
pub struct Offscreen {
    composer: Composer,
    target: Target,
    theme: Option<ThemePass>,
    scale: f32,
}

impl Offscreen {
    /// For pictures of `size` pixels.
    ///
    /// # Errors
    /// When the adapter cannot hold such a picture.
    pub fn new(context: &Context, [width, height]: [u32; 2]) -> Result<Self, RenderError> {
        let target = Target::new(context, width, height)?;
        Ok(Self { composer: Composer::new(context, target::FORMAT), target, theme: None, scale: 1.0 })
    }

    /// The same, in a theme.
    #[must_use]
    pub fn with_theme(self, context: &Context, theme: Theme) -> Self {
        Self { theme: ThemePass::new(context, target::FORMAT, theme), ..self }
    }

    /// Another for the same pictures, of a device of its own.
    ///
    /// # Errors
    /// When the adapter cannot hold such a picture.
    pub fn another(&self, context: &Context) -> Result<Self, RenderError> {
        let theme = self.theme.as_ref().map(ThemePass::theme).unwrap_or_default();
        let mut other = Self::new(context, self.size())?.with_theme(context, theme);
        other.set_scale(self.scale);
        Ok(other)
    }

    /// Width and height, pixels.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.target.size().into()
    }

    /// Lays pictures out in points from now on, each of which is so many pixels: type and tables become as many times as large.
    pub fn set_scale(&mut self, scale: f32) {
        self.scale = scale;
    }

    /// Width and height that a shot is to have, points.
    #[must_use]
    pub fn points(&self) -> [u32; 2] {
        points(self.size(), self.scale)
    }

    /// What draws.
    #[must_use]
    pub fn composer(&self) -> &Composer {
        &self.composer
    }

    /// Takes `shot`, draws it and starts its way back to memory; [`Offscreen::collect`] gives it, oldest first.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn submit(
        &mut self,
        context: &Context,
        studio: &mut Studio,
        exhibit: &mut dyn Exhibit,
        shot: &Shot,
        strip: &Strip,
    ) -> Result<(), SourceError> {
        let taken = shot.take(studio, exhibit)?;
        self.submit_sheet(context, &Sheet { pictures: &[(&taken, strip)], over: &|_| {} });
        exhibit.reuse(taken.picture);
        Ok(())
    }

    /// Draws pictures that were taken, and what is written over them, and starts their way back to memory; [`Offscreen::collect`] gives
    /// them as one picture, oldest first.
    pub fn submit_sheet(&mut self, context: &Context, sheet: &Sheet<'_>) {
        let mut encoder = context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let scaled = (self.size(), self.scale);
        match &mut self.theme {
            None => self.composer.draw_scaled(context, &mut encoder, self.target.view(), sheet, scaled),
            Some(theme) => {
                let dark = theme.dark(context, self.target.size().into());
                let view = dark.create_view(&wgpu::TextureViewDescriptor::default());
                self.composer.draw_scaled(context, &mut encoder, &view, sheet, scaled);
                theme.draw(&mut encoder, self.target.view());
            }
        }
        self.target.submit(context, encoder);
    }

    /// Waits for the oldest picture under way and gives its RGBA rows. False: none is under way.
    ///
    /// # Errors
    /// [`RenderError::Lost`].
    pub fn collect(&mut self, context: &Context, into: &mut Vec<u8>) -> Result<bool, RenderError> {
        self.target.collect(context, into)
    }

    /// One picture, from shot to RGBA rows.
    ///
    /// # Errors
    /// When the trace cannot be read, or the picture not be drawn.
    pub fn still(
        &mut self,
        context: &Context,
        studio: &mut Studio,
        exhibit: &mut dyn Exhibit,
        shot: &Shot,
    ) -> Result<Vec<u8>, ShotError> {
        let Playback { stretch, strip, .. } = shot.playback;
        let strip = studio.strip_of_kind(shot.layout().strip_columns(), stretch, strip);
        self.submit(context, studio, exhibit, shot, &strip)?;
        let mut rgba = Vec::new();
        self.collect(context, &mut rgba)?;
        Ok(rgba)
    }
}

/// Draws what egui laid out over what a view holds: for pictures and for the window alike.
pub struct Words {
    renderer: WordRenderer,
    /// Textures that the newest picture was the last to need.
    free: Vec<u64>,
}

impl Words {
    /// For targets of `format`.
    #[must_use]
    pub fn new(context: &Context, format: wgpu::TextureFormat) -> Self {
        Self { renderer: WordRenderer::new(context, format), free: Vec::new() }
    }

    /// Records the drawing of `output`, which `egui` gave, into a view of `size` pixels.
    pub fn draw(
        &mut self,
        context: &Context,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::TextureView,
        egui: &egui::Context,
        output: egui::FullOutput,
        size: [u32; 2],
    ) {
        self.prepare(context, egui, output, size);
        self.renderer.draw(encoder, view);
    }

    /// Uploads `output`, which `egui` gave, for a target of `size` pixels.
    #[expect(clippy::iter_over_hash_type, reason = "textures do not depend on each other")]
    fn prepare(&mut self, context: &Context, egui: &egui::Context, mut output: egui::FullOutput, size: [u32; 2]) {
        for id in self.free.drain(..) {
            self.renderer.free_texture(id);
        }
        let scale = output.pixels_per_point;
        let jobs = egui.tessellate(output.shapes, scale);
        for (id, deltas) in std::mem::take(&mut output.textures_delta.set) {
            for ImageDelta { image: ImageData::Color(image), pos, .. } in &deltas {
                let at = pos.map(|pos| pos.map(to_u32));
                let texels = Texels { at, size: image.size.map(to_u32), rgba: image.as_raw() };
                self.renderer.set_texture(context, key(id), texels);
            }
        }
        let mut runs: Vec<WordRun> = Vec::with_capacity(jobs.len());
        let mut corners = 0;
        // Indices count from the first corner of their own mesh.
        let mut indices = Vec::new();
        for (mesh, clip) in meshes(&jobs) {
            let from = to_u32(indices.len());
            indices.extend(mesh.indices.iter().map(|index| corners + index));
            corners += to_u32(mesh.vertices.len());
            let indices = from..to_u32(indices.len());
            runs.push(WordRun { texture: key(mesh.texture_id), clip: pixels(*clip, scale, size), indices });
        }
        let [width, height] = size.map(|side| side as f32 / scale);
        let vertices = meshes(&jobs).flat_map(|(mesh, _)| &mesh.vertices).map(|corner| WordVertex {
            position: [2.0 * corner.pos.x / width - 1.0, 1.0 - 2.0 * corner.pos.y / height],
            at: corner.uv.into(),
            color: corner.color.to_array(),
        });
        self.renderer.prepare(context, vertices, indices.into_iter(), runs);
        self.free.extend(std::mem::take(&mut output.textures_delta.free).into_iter().map(key));
    }
}

/// Triangles that egui made, and the rectangle in points outside of which nothing of them is drawn. Nobody paints by callbacks.
fn meshes(jobs: &[ClippedPrimitive]) -> impl Iterator<Item = (&Mesh, &egui::Rect)> {
    jobs.iter().filter_map(|ClippedPrimitive { clip_rect, primitive }| match primitive {
        Primitive::Mesh(mesh) => Some((mesh, clip_rect)),
        Primitive::Callback(_) => None,
    })
}

/// The number of a texture. All are egui's own: nobody gives it others.
fn key(id: TextureId) -> u64 {
    let (TextureId::Managed(id) | TextureId::User(id)) = id;
    id
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
