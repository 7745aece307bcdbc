//! The window's surface: made, configured again when the window changes, drawn into.

use crate::overlay::{Layout, Words};
use crate::render::{Bar, Context, Painter, RenderError, Sent, Viewport};
use crate::scene::{Scene, palette};
use std::sync::{Arc, Mutex, PoisonError};
use winit::window::Window;

/// A window's pixels.
pub(super) struct Surface {
    instance: wgpu::Instance,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    pub(super) context: Context,
    painter: Painter,
    words: Words,
    /// What is uploaded: generation of the scene, where it stands, the bars over it.
    uploaded: Option<(u64, Viewport, Vec<Bar>)>,
    /// What the driver complained about outside of any call.
    fault: Arc<Mutex<Option<String>>>,
}

/// What is drawn below the words.
pub(super) struct Ground<'a> {
    pub(super) scene: &'a Scene,
    pub(super) generation: u64,
    pub(super) layout: &'a Layout,
    /// In points, as the layout.
    pub(super) bars: &'a [Bar],
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
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
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
        context.device.set_device_lost_callback(move |reason, words| {
            // Dropping the device is no loss.
            if reason != wgpu::DeviceLostReason::Destroyed {
                note(&on_loss, format!("the device was lost: {words}"));
            }
        });
        let (painter, words) = (Painter::new(&context, format), Words::new(&context, format));
        let mut made = Self { instance, surface, config, context, painter, words, uploaded: None, fault };
        made.configure();
        Ok(made)
    }

    /// Longest side that can be drawn, pixels.
    pub(super) fn longest(&self) -> u32 {
        self.context.device.limits().max_texture_dimension_2d
    }

    /// What frames sent to the GPU so far.
    pub(super) fn sent(&self) -> Sent {
        self.painter.sent()
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

    /// Draws a frame and shows it. False: the window takes no frame now.
    pub(super) fn draw(
        &mut self,
        window: &Arc<Window>,
        size: [u32; 2],
        ground: Option<&Ground<'_>>,
        egui: &egui::Context,
        mut output: egui::FullOutput,
    ) -> Result<bool, RenderError> {
        // egui wants its textures taken, or given up in so many words.
        let texture = self.acquire(window, size).inspect_err(|_| output.textures_delta.clear())?;
        let device = &self.context.device;
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let Some(texture) = texture else {
            // The textures of egui come only once: they are kept although nothing is shown.
            let unseen = device.create_texture(&wgpu::TextureDescriptor {
                label: Some("unseen"),
                size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: self.config.format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            let view = unseen.create_view(&wgpu::TextureViewDescriptor::default());
            self.words.draw(&self.context, &mut encoder, &view, egui, output, size);
            self.context.queue.submit([encoder.finish()]);
            return Ok(false);
        };
        let view = texture.texture.create_view(&wgpu::TextureViewDescriptor::default());
        match ground {
            Some(ground) => {
                let scale = output.pixels_per_point;
                let bars = ground.bars.iter().map(|bar| bar.scaled(scale)).collect();
                let wanted = Some((ground.generation, ground.layout.viewport.scaled(scale, size), bars));
                if self.uploaded != wanted {
                    self.uploaded = wanted;
                    if let Some((_, viewport, bars)) = &self.uploaded {
                        self.painter.prepare(&self.context, ground.scene, bars, viewport);
                    }
                } else {
                    self.painter.again();
                }
                self.painter.draw(&mut encoder, &view);
            }
            None => clear(&mut encoder, &view),
        }
        self.words.draw(&self.context, &mut encoder, &view, egui, output, size);
        self.context.queue.submit([encoder.finish()]);
        window.pre_present_notify();
        self.context.queue.present(texture);
        match self.fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(words) => Err(RenderError::Lost(words)),
            None => Ok(true),
        }
    }
}

fn clear(encoder: &mut wgpu::CommandEncoder, view: &wgpu::TextureView) {
    let [r, g, b, _] = palette::BACKGROUND.map(|c| f64::from(c) / 255.0);
    let load = wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a: 1.0 });
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("ground"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
        })],
        ..Default::default()
    });
}
