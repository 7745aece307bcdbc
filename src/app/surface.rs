//! The window's surface: made, configured again when the window changes, drawn into.
//!
//! ```text
//! panes, strip  --what changed-->  ground (a texture)  --copied-->  surface  <-- words, controls
//! ```
//!
//! Each part of the window has a rectangle of the ground of its own and is drawn there when it changes, and at no other time. A
//! frame copies the ground and draws the words over it. Where a surface cannot be copied to, all parts are drawn in each frame.

use super::presenter::Presenter;
use crate::overlay::{Area, Picture, Words};
use crate::render::{Bar, Context, Painter, RenderError, Sent, ThemePass, Viewport, begin};
use crate::scene::palette::Theme;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use winit::window::Window;

/// A window's pixels.
pub(super) struct Surface {
    /// Ends before the surface does.
    presenter: Presenter,
    instance: wgpu::Instance,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    pub(super) context: Context,
    /// What others are made like.
    pattern: Painter,
    canvases: Vec<Canvas>,
    /// What parts that are gone sent.
    sent: Sent,
    /// Frames shown.
    frames: u64,
    ground: Option<wgpu::Texture>,
    words: Words,
    /// Turns the dark picture into another theme.
    theme: Option<ThemePass>,
    /// What the driver complained about outside of any call.
    fault: Arc<Mutex<Option<String>>>,
}

/// A part of the window that is drawn below the words: a pane, or the strip. Places are points.
pub(super) struct Part<'a> {
    /// The same as long as it is the same part.
    pub(super) id: u64,
    pub(super) area: Area,
    /// `None`: bars alone.
    pub(super) picture: Option<&'a Picture>,
    /// Changes with the picture.
    pub(super) generation: u64,
    /// Where the picture stands in the window.
    pub(super) viewport: Viewport,
    pub(super) bars: &'a [Bar],
}

/// What became of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Presented {
    /// False: the window takes no frame now.
    pub(super) taken: bool,
    /// When the frame before it was shown, where that was not known yet.
    pub(super) before: Option<Instant>,
    /// When it was shown, where that is known.
    pub(super) this: Option<Instant>,
}

/// A part on the GPU.
struct Canvas {
    id: u64,
    painter: Painter,
    /// What it holds.
    held: Option<Held>,
}

/// What a canvas was prepared for; places are pixels.
#[derive(PartialEq)]
struct Held {
    area: [u32; 4],
    generation: u64,
    viewport: Viewport,
    bars: Vec<Bar>,
}

impl Held {
    fn new(part: &Part<'_>, scale: f32, size: [u32; 2]) -> Self {
        Self {
            area: pixels(part.area, scale, size),
            generation: part.generation,
            viewport: part.viewport.scaled(scale, size),
            bars: part.bars.iter().map(|bar| bar.scaled(scale)).collect(),
        }
    }
}

/// Left and upper edge, width and height in pixels of an area in points, within a window of `size` pixels.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "places in a window")]
fn pixels(area: Area, scale: f32, size: [u32; 2]) -> [u32; 4] {
    let side = |points: u32, axis: usize| ((points as f32 * scale).round() as u32).min(size[axis]);
    let [x0, y0] = [0, 1].map(|axis| side(area.at[axis], axis));
    let [x1, y1] = [0, 1].map(|axis| side(area.at[axis] + area.size[axis], axis));
    [x0, y0, x1 - x0, y1 - y0]
}

impl Surface {
    pub(super) fn new(window: &Arc<Window>, quietly: super::Quietly) -> Result<Self, RenderError> {
        let instance = crate::render::context::instance();
        // wgpu lists what each driver said; where there is no driver the list is empty braces.
        let lost = |e: wgpu::CreateSurfaceError| RenderError::NoAdapter(e.to_string().trim_end_matches(": {}").into());
        let surface = instance.create_surface(Arc::clone(window)).map_err(lost)?;
        let mut found = Err(RenderError::NoAdapter("not asked".into()));
        quietly(&mut || found = Context::for_surface(&instance, &surface));
        let (context, adapter) = found?;
        let capabilities = surface.get_capabilities(&adapter);
        let plain =
            |f: &&wgpu::TextureFormat| matches!(f, wgpu::TextureFormat::Bgra8Unorm | wgpu::TextureFormat::Rgba8Unorm);
        // Colours are written and blended as displayed, so an sRGB format would encode them twice.
        let format = capabilities.formats.iter().find(plain).or(capabilities.formats.first()).copied();
        let format = format.ok_or_else(|| RenderError::NoDevice {
            adapter: context.info.name.clone(),
            reason: "it cannot draw into this window".into(),
        })?;
        let size = window.inner_size();
        let config = wgpu::SurfaceConfiguration {
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | capabilities.usages & wgpu::TextureUsages::COPY_DST,
            format,
            color_space: wgpu::SurfaceColorSpace::Auto,
            width: size.width.max(1),
            height: size.height.max(1),
            present_mode: wgpu::PresentMode::AutoVsync,
            desired_maximum_frame_latency: 2,
            alpha_mode: wgpu::CompositeAlphaMode::Auto,
            view_formats: vec![],
        };
        let fault = Arc::new(Mutex::new(None));
        let (on_error, on_loss) = (Arc::clone(&fault), Arc::clone(&fault));
        let note = |at: &Mutex<Option<String>>, words: String| {
            at.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(words);
        };
        context.device.on_uncaptured_error(Arc::new(move |error| note(&on_error, error.to_string())));
        // Of a device that is dropped with its window nobody asks any more.
        context.device.set_device_lost_callback(move |_, words| {
            let words = if words.is_empty() { "its driver does not say why" } else { words.as_str() };
            note(&on_loss, format!("the device was lost: {words}"));
        });
        let (pattern, words) = (Painter::new(&context, format), Words::new(&context, format));
        let (canvases, sent, frames, ground) = (Vec::new(), Sent::default(), 0, None);
        let mut made = Self {
            presenter: Presenter::new(context.queue.clone()),
            instance,
            surface,
            config,
            context,
            pattern,
            canvases,
            sent,
            frames,
            ground,
            words,
            theme: None,
            fault,
        };
        made.configure();
        Ok(made)
    }

    /// Gives the device up, as a driver does that is reset: to see what the window does then.
    #[cfg(debug_assertions)]
    pub(super) fn lose(&self) {
        self.context.device.destroy();
    }

    /// Longest side that can be drawn, pixels.
    pub(super) fn longest(&self) -> u32 {
        self.context.device.limits().max_texture_dimension_2d
    }

    /// Shows everything in a theme from now on.
    pub(super) fn set_theme(&mut self, theme: Theme) {
        if self.theme.as_ref().map_or(Theme::Dark, ThemePass::theme) != theme {
            self.theme = ThemePass::new(&self.context, self.config.format, theme);
            self.ground = None;
        }
    }

    /// What frames sent to the GPU so far.
    pub(super) fn sent(&self) -> Sent {
        let mut sum = self.sent;
        self.canvases.iter().for_each(|canvas| sum += canvas.painter.sent());
        // Each part counted the frames that it was in.
        Sent { frames: self.frames, ..sum }
    }

    fn configure(&mut self) {
        self.surface.configure(&self.context.device, &self.config);
    }

    /// The surface's texture for a window of `size` pixels; `None` where there is none just now: try again later.
    fn acquire(&mut self, window: &Arc<Window>, size: [u32; 2]) -> Result<Option<wgpu::SurfaceTexture>, RenderError> {
        if [self.config.width, self.config.height] != size {
            [self.config.width, self.config.height] = size;
            self.configure();
        }
        // Outdated or lost surfaces are made good once and asked again.
        for _ in 0..2 {
            match self.surface.get_current_texture() {
                wgpu::CurrentSurfaceTexture::Success(texture) | wgpu::CurrentSurfaceTexture::Suboptimal(texture) => {
                    return Ok(Some(texture));
                }
                wgpu::CurrentSurfaceTexture::Timeout | wgpu::CurrentSurfaceTexture::Occluded => return Ok(None),
                wgpu::CurrentSurfaceTexture::Outdated | wgpu::CurrentSurfaceTexture::Validation => self.configure(),
                wgpu::CurrentSurfaceTexture::Lost => {
                    let lost = |e: wgpu::CreateSurfaceError| RenderError::Lost(e.to_string());
                    self.surface = self.instance.create_surface(Arc::clone(window)).map_err(lost)?;
                    self.configure();
                }
            }
        }
        Ok(None)
    }

    /// A texture as large as the window.
    fn texture(&self, label: &str, [width, height]: [u32; 2], usage: wgpu::TextureUsages) -> wgpu::Texture {
        self.context.device.create_texture(&wgpu::TextureDescriptor {
            label: Some(label),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: self.config.format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | usage,
            view_formats: &[],
        })
    }

    /// Has the canvases hold `parts`. Gives which of them changed, and whether parts came, went or stand elsewhere.
    fn hold(&mut self, parts: &[Part<'_>], scale: f32, size: [u32; 2]) -> (Vec<bool>, bool) {
        let mut moved = self.canvases.len() != parts.len();
        let mut canvases = Vec::new();
        let mut changed = Vec::new();
        for part in parts {
            let known = self.canvases.iter().position(|canvas| canvas.id == part.id);
            let mut canvas = match known {
                Some(at) => self.canvases.swap_remove(at),
                None => Canvas { id: part.id, painter: self.pattern.another(&self.context), held: None },
            };
            let wanted = Held::new(part, scale, size);
            moved |= canvas.held.as_ref().is_none_or(|held| held.area != wanted.area);
            changed.push(canvas.held.as_ref() != Some(&wanted));
            if canvas.held.as_ref() == Some(&wanted) {
                canvas.painter.again();
            } else {
                let Held { viewport, bars, .. } = &wanted;
                match part.picture.and_then(Picture::scene) {
                    Some(scene) => canvas.painter.prepare(&self.context, scene, bars, viewport),
                    None => {
                        let facets = part.picture.and_then(Picture::solids);
                        canvas.painter.prepare_solids(&self.context, facets, bars, (scale, size));
                    }
                }
                canvas.held = Some(wanted);
            }
            canvases.push(canvas);
        }
        for gone in std::mem::replace(&mut self.canvases, canvases) {
            self.sent += gone.painter.sent();
        }
        (changed, moved)
    }

    /// Draws the parts that `changed`, in their rectangles of `view`; `all`: everything, on a new ground.
    fn paint(&mut self, encoder: &mut wgpu::CommandEncoder, view: &wgpu::TextureView, changed: &[bool], all: bool) {
        if all {
            drop(begin(encoder, view));
        }
        for (canvas, changed) in self.canvases.iter_mut().zip(changed) {
            let Some(Held { area, .. }) = &canvas.held else { continue };
            if (*changed || all) && area[2] > 0 && area[3] > 0 {
                canvas.painter.draw_part(&self.context, encoder, view, *area);
            }
        }
    }

    /// Draws a frame and shows it. `waits`: before this comes back; otherwise while the next frame is laid out.
    pub(super) fn draw(
        &mut self,
        window: &Arc<Window>,
        size: [u32; 2],
        parts: &[Part<'_>],
        (egui, mut output): (&egui::Context, egui::FullOutput),
        waits: bool,
    ) -> Result<Presented, RenderError> {
        let before = self.presenter.finish().inspect_err(|_| output.textures_delta.clear())?;
        // What was lost since the last frame is told first, before anything is sent to what is no more. A poll that fails is such a loss.
        let polled = self.context.device.poll(wgpu::PollType::Poll).map_err(|error| error.to_string());
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(words) = fault.or(polled.err()) {
            output.textures_delta.clear();
            return Err(RenderError::Lost(words));
        }
        // egui wants its textures taken, or given up in so many words.
        let texture = self.acquire(window, size).inspect_err(|_| output.textures_delta.clear())?;
        let mut encoder = self.context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let Some(texture) = texture else {
            // The textures of egui come only once: they are kept although nothing is shown.
            let unseen = self.texture("unseen", size, wgpu::TextureUsages::empty());
            let view = unseen.create_view(&wgpu::TextureViewDescriptor::default());
            self.words.draw(&self.context, &mut encoder, &view, egui, output, size);
            self.context.queue.submit([encoder.finish()]);
            return Ok(Presented { taken: false, before, this: None });
        };
        let shown = texture.texture.create_view(&wgpu::TextureViewDescriptor::default());
        self.frames += 1;
        let (changed, moved) = self.hold(parts, output.pixels_per_point, size);
        // The picture is drawn where it is shown or, before it is turned into another theme, beside it.
        let mut theme = self.theme.take();
        let under = theme.as_mut().map_or(&texture.texture, |theme| theme.dark(&self.context, size)).clone();
        let view = under.create_view(&wgpu::TextureViewDescriptor::default());
        if theme.is_some() || self.config.usage.contains(wgpu::TextureUsages::COPY_DST) {
            let ground = self.ground.take().filter(|ground| [ground.width(), ground.height()] == size);
            let all = moved || ground.is_none();
            let ground = ground.unwrap_or_else(|| self.texture("ground", size, wgpu::TextureUsages::COPY_SRC));
            self.paint(&mut encoder, &ground.create_view(&wgpu::TextureViewDescriptor::default()), &changed, all);
            encoder.copy_texture_to_texture(
                ground.as_image_copy(),
                under.as_image_copy(),
                wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
            );
            self.ground = Some(ground);
        } else {
            self.paint(&mut encoder, &view, &changed, true);
        }
        self.words.draw(&self.context, &mut encoder, &view, egui, output, size);
        if let Some(theme) = &theme {
            theme.draw(&mut encoder, &shown);
        }
        self.theme = theme;
        window.pre_present_notify();
        self.presenter.present((encoder.finish(), texture));
        let this = if waits { self.presenter.finish()? } else { None };
        match self.fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(words) => Err(RenderError::Lost(words)),
            None => Ok(Presented { taken: true, before, this }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_touch_in_points_touch_in_pixels_and_none_is_outside() {
        for (scale, size) in
            [(1.0, [1283, 721]), (1.25, [1603, 901]), (1.5, [1924, 1081]), (2.0, [2566, 1442]), (0.9, [1154, 648])]
        {
            let parts = [Area { at: [0, 0], size: [641, 721] }, Area { at: [641, 0], size: [642, 721] }];
            let [left, right] = parts.map(|area| pixels(area, scale, size));
            assert_eq!(left[0] + left[2], right[0], "at {scale}");
            assert!(right[0] + right[2] <= size[0] && right[1] + right[3] <= size[1], "at {scale}: {right:?}");
        }
        assert_eq!(pixels(Area { at: [900, 900], size: [160, 120] }, 1.0, [800, 600]), [800, 600, 0, 0]);
    }
}
