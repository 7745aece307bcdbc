//! The window itself: made, and drawn frame by frame.

use super::desk::Desk;
use super::display::{on_screen, points, rows_outside, unwound, zoom};
use super::output::Output;
use super::start::{Asks, StartPage};
use super::story_panel::StoryAsks;
use super::story_player::StoryPlayer;
use super::surface::{Part, Presented, Surface};
use super::viewer::Quietly;
use super::{output_panel, panel, start_panel, story_panel};
use crate::overlay::{Area, Offscreen, fonts};
use crate::render::{RenderError, Viewport};
use crate::scene::palette::Theme;
use anyhow::Context as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use winit::dpi::{LogicalSize, PhysicalSize};
use winit::event::WindowEvent;
use winit::event_loop::ActiveEventLoop;
use winit::keyboard::ModifiersState;
use winit::window::Window;

/// Time after which a window stands where its system has put it.
const SETTLES: Duration = Duration::from_secs(2);
/// Time between frames where the monitor does not say.
pub(super) const FRAME: Duration = Duration::from_micros(16_667);

/// The window and all that belongs to it.
pub(super) struct Pane {
    pub(super) surface: Surface,
    pub(super) egui: egui_winit::State,
    pub(super) modifiers: ModifiersState,
    title: String,
    pub(super) frame_time: Duration,
    /// That of the trace which was shown last.
    theme: Theme,
    opened: Instant,
    pub(super) window: Arc<Window>,
}

/// What the window shows.
pub(super) enum Face<'a> {
    /// A trace; whether a storyboard waits behind it.
    Desk(&'a mut Desk, Option<&'a mut Output>, bool),
    /// Where a trace is open, it is behind the page.
    Page(&'a mut StartPage, bool),
    /// A storyboard.
    Story(&'a mut StoryPlayer),
    /// The name of what is read, references done, and all.
    Waits(&'a str, (u64, u64), Option<&'a mut Output>),
}

/// What a frame leaves behind.
pub(super) struct Drawn {
    pub(super) presented: Presented,
    /// The picture goes on by itself.
    pub(super) moving: bool,
    pub(super) shown: panel::Shown,
    pub(super) asks: Option<Asks>,
    pub(super) story: Option<StoryAsks>,
    /// Why a storyboard cannot be shown any more.
    pub(super) untold: Option<String>,
    /// Somebody wants to go back to the storyboard.
    pub(super) back: bool,
    pub(super) repaint: Duration,
}

impl Pane {
    pub(super) fn new(
        event_loop: &ActiveEventLoop,
        (width, height): (u32, u32),
        quietly: Quietly,
    ) -> anyhow::Result<Self> {
        let monitor = event_loop.primary_monitor().or_else(|| event_loop.available_monitors().next());
        let monitor = monitor.map(|m| points(m.size().into(), m.scale_factor()));
        let [width, height] = on_screen([width, height], monitor);
        let attributes = Window::default_attributes()
            .with_title("orrery")
            .with_inner_size(LogicalSize::new(width, height))
            .with_min_inner_size(LogicalSize::new(320, 240));
        let window = event_loop.create_window(attributes).context("the window cannot be opened")?;
        Self::on(Arc::new(window), egui::Memory::default(), quietly)
    }

    /// The same window on a device that is asked for anew, where the one before was lost. Cards stay where they are.
    pub(super) fn again(self, quietly: Quietly) -> anyhow::Result<Self> {
        let (window, modifiers, opened) = (Arc::clone(&self.window), self.modifiers, self.opened);
        let memory = self.egui.egui_ctx().memory(Clone::clone);
        // A window has one surface at a time.
        drop(self);
        Ok(Self { modifiers, opened, ..Self::on(window, memory, quietly)? })
    }

    fn on(window: Arc<Window>, memory: egui::Memory, quietly: Quietly) -> anyhow::Result<Self> {
        let surface = Surface::new(&window, quietly)?;
        let context = egui::Context::default();
        context.memory_mut(|held| *held = memory);
        fonts::install(&context);
        let mut visuals = egui::Visuals::dark();
        // A picture in which nothing happens stays as it is, and is not drawn again and again.
        visuals.text_cursor.blink = false;
        context.set_visuals(visuals);
        // Size of type is the desk's.
        context.options_mut(|options| options.zoom_with_keyboard = false);
        context.global_style_mut(|style| style.animation_time = 0.0);
        #[expect(clippy::cast_possible_truncation, reason = "a small factor")]
        let scale = window.scale_factor() as f32;
        let side = usize::try_from(surface.longest()).ok();
        let egui = egui_winit::State::new(context, egui::ViewportId::ROOT, &window, Some(scale), window.theme(), side);
        let monitor = window.current_monitor().and_then(|m| m.refresh_rate_millihertz());
        let frame_time =
            monitor.map_or(FRAME, |mhz| Duration::from_secs_f64(1000.0 / f64::from(mhz.clamp(24_000, 480_000))));
        let (modifiers, title, theme) = (ModifiersState::empty(), String::new(), Theme::default());
        Ok(Self { surface, egui, modifiers, title, frame_time, theme, opened: Instant::now(), window })
    }

    /// Takes an event of the window; whether it is to be drawn again.
    pub(super) fn take(&mut self, event: &WindowEvent) -> bool {
        match event {
            WindowEvent::ModifiersChanged(modifiers) => self.modifiers = modifiers.state(),
            WindowEvent::Moved(_) => self.fit(),
            _ => {}
        }
        let seen = matches!(event, WindowEvent::Resized(_) | WindowEvent::Occluded(false));
        self.egui.on_window_event(&self.window, event).repaint || seen
    }

    /// Makes the window lower where its title bar has pushed the controls along its lower edge out of the screen. Only in the first
    /// seconds: after that somebody may have moved it.
    fn fit(&self) {
        if self.opened.elapsed() > SETTLES || self.window.fullscreen().is_some() {
            return;
        }
        let (Ok(at), Some(monitor)) = (self.window.inner_position(), self.window.current_monitor()) else { return };
        let size = self.window.inner_size();
        let rows = rows_outside(at.y - monitor.position().y, size.height, monitor.size().height);
        if rows > 0 {
            // Where the system does not do it at once, it tells of it by an event.
            let _ = self.window.request_inner_size(PhysicalSize::new(size.width, size.height - rows));
        }
    }

    /// Draws and shows a frame, with type of `text` times the usual size.
    pub(super) fn draw(
        &mut self,
        size: [u32; 2],
        mut face: Face<'_>,
        text: f32,
        hovered: bool,
        now: f64,
    ) -> anyhow::Result<Drawn> {
        let egui = self.egui.egui_ctx().clone();
        let zoom = zoom(points(size, self.window.scale_factor()), text);
        // At once: `set_zoom_factor` would have the next frame's input in other points than the frame.
        egui.options_mut(|options| options.zoom_factor = zoom);
        let input = self.egui.take_egui_input(&self.window);
        let (mut shown, mut asks) = (panel::Shown::default(), None);
        let (mut story, mut untold, mut back) = (None, None, false);
        let inside = points(size, self.window.scale_factor() * f64::from(zoom));
        let mut output = egui.run_ui(input, |ui| {
            match &mut face {
                Face::Story(player) => {
                    let (asked, failed) = story_panel::show(ui, player, inside);
                    (story, untold) = (asked.or(story.take()), failed.or(untold.take()));
                }
                Face::Desk(desk, output, told) => {
                    shown = panel::show(ui, desk, inside, now);
                    // Once the program has ended, its line would only be in the way.
                    let is_free = !desk.sheet && !desk.words;
                    let is_seen = |output: &Output| is_free && (output.open || output.ended().is_none());
                    if let Some(output) = output.as_mut().filter(|output| is_seen(output)) {
                        let strip = panel::layout(desk, inside[0], inside[1]).strip;
                        output_panel::show(ui, output, strip.right_top() - egui::vec2(0.0, 14.0));
                    }
                    back |= *told && !desk.sheet && !desk.words && story_panel::way_back(ui);
                }
                Face::Page(page, behind) => asks = start_panel::show(ui, page, *behind).or(asks.take()),
                Face::Waits(name, (done, all), output) => {
                    panel::loading(ui, name, *done, *all);
                    if let Some(output) = output {
                        output_panel::show(ui, output, ui.ctx().content_rect().right_bottom() - egui::vec2(26.0, 26.0));
                    }
                }
            }
            if hovered {
                start_panel::drop_hint(ui);
            }
        });
        let repaint = output.viewport_output.get(&egui::ViewportId::ROOT).map_or(Duration::MAX, |v| v.repaint_delay);
        self.egui.handle_platform_output(&self.window, std::mem::take(&mut output.platform_output));
        let desk = match &face {
            Face::Desk(desk, ..) => Some(&**desk),
            _ => None,
        };
        let player = match &face {
            Face::Story(player) => Some(&**player),
            _ => None,
        };
        self.theme = desk.map_or(self.theme, |desk| desk.theme);
        self.surface.set_theme(self.theme);
        let parts = match (desk, player) {
            (Some(desk), _) => parts(desk, inside),
            (None, Some(player)) => pictures(player, inside),
            (None, None) => Vec::new(),
        };
        let moving = desk.is_some_and(|desk| desk.transport.moving()) || player.is_some_and(StoryPlayer::moving);
        let (surface, window) = (&mut self.surface, &self.window);
        // A device that is lost in the midst of a frame may end in a panic of what draws.
        let drawn = unwound(|| surface.draw(window, size, &parts, (&egui, output), !moving));
        let presented = drawn.map_err(RenderError::Lost)??;
        let title = match &face {
            Face::Desk(desk, ..) => desk.title(),
            Face::Story(player) => player.window_title(),
            Face::Page(..) => "orrery - start".into(),
            Face::Waits(..) => "orrery".into(),
        };
        if title != self.title {
            self.window.set_title(&title);
            self.title = title;
        }
        Ok(Drawn { presented, moving, shown, asks, story, untold, back, repaint })
    }
}

/// What the GPU draws of a desk in a window of `size` points: the panes that are seen, and the strip where it is no pane's.
fn parts(desk: &Desk, [width, height]: [u32; 2]) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    for (id, pane) in desk.panes.seen() {
        let Some(taken) = pane.taken() else { continue };
        let (area, generation) = (pane.place().area, pane.generation());
        let (picture, viewport) = (Some(&taken.picture), taken.layout.viewport);
        parts.push(Part { id: id.0, area, picture, generation, viewport, bars: &pane.bars });
    }
    let bottom = parts.iter().map(|part| part.area.at[1] + part.area.size[1]).max().unwrap_or(0);
    if bottom < height {
        let area = Area { at: [0, bottom], size: [width, height - bottom] };
        let viewport = Viewport::fit(width, height);
        parts.push(Part { id: u64::MAX, area, picture: None, generation: 0, viewport, bars: &desk.bars });
    }
    parts
}

/// What the GPU draws of a storyboard in a window of so many points: its pictures, and the ground below them.
fn pictures(player: &StoryPlayer, [width, height]: [u32; 2]) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let Some((frame, _)) = player.frame() else { return parts };
    for ((id, taken), bars) in (0u64..).zip(&frame.pictures).zip(&player.bars) {
        let (area, viewport) = (Area::near(taken.layout.area), taken.layout.viewport);
        let (picture, generation) = (Some(&taken.picture), player.generation());
        parts.push(Part { id: STORY + id, area, picture, generation, viewport, bars });
    }
    let bottom = parts.iter().map(|part| part.area.at[1] + part.area.size[1]).max().unwrap_or(0);
    if bottom < height {
        let area = Area { at: [0, bottom], size: [width, height - bottom] };
        let viewport = Viewport::fit(width, height);
        parts.push(Part { id: u64::MAX, area, picture: None, generation: 0, viewport, bars: &[] });
    }
    parts
}

/// Numbers of a storyboard's pictures, which no pane has.
const STORY: u64 = 1 << 40;

/// What the pane that keys are for shows, without controls, as RGBA.
pub(super) fn picture(pane: &Pane, desk: &mut Desk, size: [u32; 2]) -> anyhow::Result<Vec<u8>> {
    let context = &pane.surface.context;
    let theme = desk.theme;
    Ok(desk.still(&mut Offscreen::new(context, size)?.with_theme(context, theme), context)?)
}
