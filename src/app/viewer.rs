//! The event loop: the one place of the window that reads a clock.

use super::desk::{Desk, Effect};
use super::display::{self, on_screen, points};
use super::indexing::{Load, Message, Report, Simulate, Simulation, index};
use super::keys::{Action, Chord, Key, action};
use super::notes::Beside;
use super::panel;
use super::seen::Asked;
use super::surface::{Part, Surface};
use crate::axis::Position;
use crate::overlay::exhibits::ExhibitEntry;
use crate::overlay::{Area, Offscreen, Parts, Studio, fonts};
use crate::reference::SourceError;
use crate::render::{Sent, Viewport};
use crate::scene::{Choice, View};
use crate::sim::config::HierarchyConfig;
use crate::timeline::ClockKind;
use anyhow::Context as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{ElementState, KeyEvent, StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow};
use winit::keyboard::{Key as Logical, ModifiersState, NamedKey};
use winit::window::{Fullscreen, Window, WindowId};

/// Writes a picture (reference, width and height, RGBA rows) and gives the file's path.
pub type Save = Box<dyn FnMut(u64, [u32; 2], &[u8]) -> anyhow::Result<PathBuf>>;

/// Writes caches and gives the file's path.
pub type SaveCaches = Box<dyn FnMut(&HierarchyConfig) -> anyhow::Result<PathBuf>>;

/// Runs what makes drivers speak, so that the user does not hear what is none of the user's.
pub type Quietly = fn(&mut dyn FnMut());

/// Takes what frames sent to the GPU.
pub type Account = Box<dyn FnOnce(Sent)>;

/// What the window is opened with.
pub struct Options {
    /// Opens the trace, on a thread of its own.
    pub load: Load,
    /// Writes stills.
    pub save: Save,
    /// Simulates other caches, on a thread of its own.
    pub simulate: Simulate,
    /// Writes caches.
    pub save_caches: SaveCaches,
    /// Width and height, points.
    pub size: (u32, u32),
    /// How the picture looks; speed and phase are the playhead's.
    pub view: View,
    /// Regions that are shown.
    pub choice: Choice,
    /// Parts that are shown.
    pub parts: Parts,
    /// What the panes show at first; none: one pane, with what suits the trace.
    pub panes: Vec<&'static ExhibitEntry>,
    /// Where to begin.
    pub tick: Position,
    /// References a second; `None`: by the trace's length.
    pub speed: Option<f64>,
    /// What time stands for.
    pub clock: ClockKind,
    /// Play at once.
    pub play: bool,
    /// Keep to the end while the trace grows.
    pub follow: bool,
    /// What there is about the trace beside it.
    pub beside: Beside,
    /// What all of this was asked for by.
    pub asked: Asked,
    /// Told, when the window is closed, what its frames sent to the GPU.
    pub sent: Account,
    /// Runs the search for an adapter.
    pub quietly: Quietly,
}

/// Opens the window and stays until it is closed.
///
/// # Errors
/// What `load` gives; no display; [`crate::render::RenderError`].
pub fn run(options: Options) -> anyhow::Result<()> {
    let event_loop = display::event_loop()?;
    let proxy = event_loop.create_proxy();
    let Options {
        load,
        save,
        simulate,
        save_caches,
        size,
        view,
        choice,
        parts,
        panes,
        tick,
        speed,
        clock,
        play,
        follow,
        beside,
        asked,
        sent,
        quietly,
    } = options;
    let sender = proxy.clone();
    std::thread::Builder::new().name("index".into()).spawn(move || index(load, &sender))?;
    let mut viewer = Viewer {
        start: Start { size, view, choice, parts, panes, tick, speed, clock, play, follow, beside, asked, quietly },
        save,
        save_caches,
        simulation: Simulation::new(simulate, proxy),
        born: Instant::now(),
        pane: None,
        desk: None,
        progress: (0, 0),
        next_frame: None,
        last_frame: None,
        failure: None,
    };
    // winit panics where somebody else destroys the window. Its own words are on standard error; who waits for the window's end
    // goes on.
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| event_loop.run_app(&mut viewer))) {
        Ok(ran) => ran?,
        Err(_) => {
            anyhow::bail!("the window broke off: another program destroyed it, or this is a bug: please report it")
        }
    }
    viewer.desk.iter_mut().for_each(Desk::leave);
    if let Some(pane) = &viewer.pane {
        sent(pane.surface.sent());
    }
    viewer.failure.map_or(Ok(()), Err)
}

/// A trace that is refused, or ready, within this time needs no waiting window.
const PATIENCE: Duration = Duration::from_millis(150);
/// Longest time that a frame lets pass: after a stall the picture goes on where it was, it does not jump.
const STALL: f64 = 0.1;
/// Time between frames where the monitor does not say.
const FRAME: Duration = Duration::from_micros(16_667);

struct Start {
    size: (u32, u32),
    view: View,
    choice: Choice,
    parts: Parts,
    panes: Vec<&'static ExhibitEntry>,
    tick: Position,
    speed: Option<f64>,
    clock: ClockKind,
    play: bool,
    follow: bool,
    beside: Beside,
    asked: Asked,
    quietly: Quietly,
}

/// The window and all that belongs to it.
struct Pane {
    surface: Surface,
    egui: egui_winit::State,
    modifiers: ModifiersState,
    title: String,
    frame_time: Duration,
    window: Arc<Window>,
}

struct Viewer {
    start: Start,
    save: Save,
    save_caches: SaveCaches,
    simulation: Simulation,
    born: Instant,
    pane: Option<Pane>,
    desk: Option<Desk>,
    progress: (u64, u64),
    next_frame: Option<Instant>,
    last_frame: Option<Instant>,
    failure: Option<anyhow::Error>,
}

/// Speed where none is given: the trace in a minute, within what the eye can follow.
fn default_speed(len: u64) -> f64 {
    (len as f64 / 60.0).clamp(4.0, 300.0).round()
}

impl Viewer {
    fn now(&self) -> f64 {
        self.born.elapsed().as_secs_f64()
    }

    fn fail(&mut self, event_loop: &ActiveEventLoop, error: anyhow::Error) {
        self.failure.get_or_insert(error);
        event_loop.exit();
    }

    fn open(&mut self, event_loop: &ActiveEventLoop) {
        if self.pane.is_some() || self.failure.is_some() {
            return;
        }
        match Pane::new(event_loop, self.start.size, self.start.quietly) {
            Ok(pane) => {
                pane.window.request_redraw();
                self.pane = Some(pane);
            }
            Err(error) => self.fail(event_loop, error),
        }
    }

    /// Shows a trace for the first time.
    fn begin(&mut self, event_loop: &ActiveEventLoop, studio: Studio) {
        let Start { parts, tick, speed, clock, play, follow, .. } = self.start;
        let (view, choice) = (self.start.view.clone(), self.start.choice.clone());
        let timeline = studio.timeline();
        let usual = default_speed(timeline.total().unwrap_or(u64::MAX));
        let mut desk = Desk::new(studio, view, parts, &self.start.panes, tick, usual);
        desk.set_clock(clock);
        desk.choose(choice);
        if let Some(speed) = speed {
            desk.transport.set_speed(speed);
        }
        desk.opened_with(std::mem::take(&mut self.start.asked));
        desk.attach(std::mem::take(&mut self.start.beside));
        if follow {
            desk.transport.follow();
        } else if play && (!desk.transport.at_end() || desk.transport.axis().grows) {
            desk.transport.toggle();
        }
        self.desk = Some(desk);
        self.open(event_loop);
    }

    fn redraw(&self) {
        if let Some(pane) = &self.pane {
            pane.window.request_redraw();
        }
    }

    fn act(&mut self, event_loop: &ActiveEventLoop, action: Action) {
        let now = self.now();
        let effect = match &mut self.desk {
            Some(desk) => desk.apply(action, now),
            None if action == Action::Escape => Some(Effect::Quit),
            None if action == Action::FullScreen => Some(Effect::FullScreen),
            None => None,
        };
        self.carry_out(event_loop, effect);
    }

    fn carry_out(&mut self, event_loop: &ActiveEventLoop, effect: Option<Effect>) {
        match effect {
            Some(Effect::Quit) => event_loop.exit(),
            Some(Effect::FullScreen) => self.full_screen(),
            Some(Effect::Still) => self.still(),
            Some(Effect::Simulate(config)) => self.simulate(*config),
            Some(Effect::SaveCaches(config)) => self.keep_caches(&config),
            None => {}
        }
        self.redraw();
    }

    fn simulate(&mut self, config: HierarchyConfig) {
        let now = self.now();
        let Some(desk) = &mut self.desk else { return };
        let source = Arc::clone(desk.studio().timeline().source());
        if let Err(error) = self.simulation.begin(source, config) {
            desk.refuse(format!("the system has no thread to simulate on: {error}"), now);
        }
    }

    fn keep_caches(&mut self, config: &HierarchyConfig) {
        let now = self.now();
        let words = match (self.save_caches)(config) {
            Ok(path) => format!("saved {}", path.display()),
            Err(error) => format!("{error:#}"),
        };
        if let Some(desk) = &mut self.desk {
            desk.say(words, now);
        }
    }

    fn full_screen(&self) {
        if let Some(pane) = &self.pane {
            let wanted = pane.window.fullscreen().is_none();
            pane.window.set_fullscreen(wanted.then_some(Fullscreen::Borderless(None)));
        }
    }

    /// Draws the picture without the controls, as large as the window, and saves it.
    fn still(&mut self) {
        let now = self.now();
        let (Some(pane), Some(desk)) = (&self.pane, &mut self.desk) else { return };
        let size: [u32; 2] = pane.window.inner_size().into();
        let words = match picture(pane, desk, size) {
            Ok(rgba) => match (self.save)(desk.transport.tick(), size, &rgba) {
                Ok(path) => format!("saved {}, {} × {}", path.display(), size[0], size[1]),
                Err(error) => format!("{error:#}"),
            },
            Err(error) => format!("{error:#}"),
        };
        desk.say(words, now);
    }

    fn key(&mut self, event_loop: &ActiveEventLoop, event: &KeyEvent) {
        let Some(pane) = &self.pane else { return };
        let Some(chord) = chord(&event.logical_key, pane.modifiers) else { return };
        let Some(action) = action(chord) else { return };
        // Held down, a key goes on stepping; switches do not flutter.
        let repeats = matches!(
            action,
            Action::Step(_)
                | Action::Miss(_)
                | Action::Faster
                | Action::Slower
                | Action::Tail(_)
                | Action::Mark(_)
                | Action::Closer(_)
        );
        if !event.repeat || repeats {
            self.act(event_loop, action);
        }
    }

    fn frame(&mut self, event_loop: &ActiveEventLoop) {
        let begun = Instant::now();
        let now = self.now();
        let Some(pane) = &mut self.pane else { return };
        let size: [u32; 2] = pane.window.inner_size().into();
        if size.contains(&0) {
            // Minimised.
            self.last_frame = None;
            return;
        }
        if let Some(desk) = &mut self.desk {
            let passed = self.last_frame.map_or(0.0, |last| (begun - last).as_secs_f64().min(STALL));
            desk.advance(passed);
        }
        match pane.draw(size, &mut self.desk, self.progress, now) {
            Ok(drawn) => {
                let moving = self.desk.as_ref().is_some_and(|d| d.transport.moving());
                self.last_frame = moving.then_some(begun);
                let wait = if moving { pane.frame_time } else { drawn.repaint };
                // A window that takes no frame is asked again after a while, not at once.
                let wait = if drawn.presented { wait } else { wait.max(FRAME * 4) };
                self.next_frame = begun.checked_add(wait);
                for action in drawn.asked {
                    self.act(event_loop, action);
                }
                if drawn.effect.is_some() {
                    self.carry_out(event_loop, drawn.effect);
                }
                if let (Some(error), Some(desk)) = (drawn.failed, &mut self.desk) {
                    // A file may be written over while it is shown.
                    if !desk.stay(format!("{error}; this is what was read before"), now) {
                        return self.fail(event_loop, error.into());
                    }
                    self.redraw();
                }
            }
            Err(error) => self.fail(event_loop, error),
        }
    }
}

/// What a frame leaves behind.
struct Drawn {
    presented: bool,
    asked: Vec<Action>,
    effect: Option<Effect>,
    failed: Option<SourceError>,
    repaint: Duration,
}

impl Pane {
    fn new(event_loop: &ActiveEventLoop, (width, height): (u32, u32), quietly: Quietly) -> anyhow::Result<Self> {
        let monitor = event_loop.primary_monitor().or_else(|| event_loop.available_monitors().next());
        let monitor = monitor.map(|m| points(m.size().into(), m.scale_factor()));
        let [width, height] = on_screen([width, height], monitor);
        let attributes = Window::default_attributes()
            .with_title("orrery")
            .with_inner_size(LogicalSize::new(width, height))
            .with_min_inner_size(LogicalSize::new(320, 240));
        let window = event_loop.create_window(attributes).context("the window cannot be opened")?;
        let window = Arc::new(window);
        let surface = Surface::new(&window, quietly)?;
        let context = egui::Context::default();
        context.set_fonts(fonts::definitions());
        context.set_visuals(egui::Visuals::dark());
        context.global_style_mut(|style| style.animation_time = 0.0);
        #[expect(clippy::cast_possible_truncation, reason = "a small factor")]
        let scale = window.scale_factor() as f32;
        let side = usize::try_from(surface.longest()).ok();
        let egui = egui_winit::State::new(context, egui::ViewportId::ROOT, &window, Some(scale), window.theme(), side);
        let monitor = window.current_monitor().and_then(|m| m.refresh_rate_millihertz());
        let frame_time =
            monitor.map_or(FRAME, |mhz| Duration::from_secs_f64(1000.0 / f64::from(mhz.clamp(24_000, 480_000))));
        Ok(Self { surface, egui, modifiers: ModifiersState::empty(), title: String::new(), frame_time, window })
    }

    fn draw(
        &mut self,
        size: [u32; 2],
        desk: &mut Option<Desk>,
        (done, all): (u64, u64),
        now: f64,
    ) -> anyhow::Result<Drawn> {
        let input = self.egui.take_egui_input(&self.window);
        let egui = self.egui.egui_ctx().clone();
        let mut shown = panel::Shown::default();
        let inside = points(size, self.window.scale_factor());
        let mut output = egui.run_ui(input, |ui| match desk.as_mut() {
            Some(desk) => shown = panel::show(ui, desk, inside, now),
            None => panel::loading(ui, "orrery", done, all),
        });
        let repaint = output.viewport_output.get(&egui::ViewportId::ROOT).map_or(Duration::MAX, |v| v.repaint_delay);
        self.egui.handle_platform_output(&self.window, std::mem::take(&mut output.platform_output));
        let parts = desk.as_ref().map(|desk| parts(desk, inside)).unwrap_or_default();
        let presented = self.surface.draw(&self.window, size, &parts, &egui, output)?;
        let title = desk.as_ref().map_or_else(|| "orrery".to_owned(), Desk::title);
        if title != self.title {
            self.window.set_title(&title);
            self.title = title;
        }
        Ok(Drawn { presented, asked: shown.asked, effect: shown.effect, failed: shown.failed, repaint })
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

/// What the pane that keys are for shows, without controls, as RGBA.
fn picture(pane: &Pane, desk: &mut Desk, size: [u32; 2]) -> anyhow::Result<Vec<u8>> {
    let context = &pane.surface.context;
    Ok(desk.still(&mut Offscreen::new(context, size)?, context)?)
}

/// winit's key as ours; `None` for keys that mean nothing here.
fn chord(key: &Logical, held: ModifiersState) -> Option<Chord> {
    let key = match key {
        Logical::Named(NamedKey::Space) => Key::Space,
        Logical::Named(NamedKey::ArrowLeft) => Key::Left,
        Logical::Named(NamedKey::ArrowRight) => Key::Right,
        Logical::Named(NamedKey::Home) => Key::Home,
        Logical::Named(NamedKey::End) => Key::End,
        Logical::Named(NamedKey::Escape) => Key::Escape,
        Logical::Named(NamedKey::Enter) => Key::Enter,
        Logical::Named(NamedKey::Tab) => Key::Tab,
        Logical::Named(NamedKey::F11) => Key::F11,
        Logical::Named(NamedKey::F12) => Key::F12,
        Logical::Character(text) => match text.as_str() {
            " " => Key::Space,
            text => Key::Char(text.chars().next()?.to_ascii_lowercase()),
        },
        _ => return None,
    };
    let command = cfg!(target_os = "macos") && held.super_key();
    Some(Chord { key, shift: held.shift_key(), ctrl: held.control_key() || command, alt: held.alt_key() })
}

impl ApplicationHandler<Message> for Viewer {
    fn resumed(&mut self, _: &ActiveEventLoop) {
        if self.pane.is_none() {
            self.next_frame = Some(self.born + PATIENCE);
        }
    }

    fn new_events(&mut self, event_loop: &ActiveEventLoop, _: StartCause) {
        if self.next_frame.is_some_and(|at| at <= Instant::now()) {
            self.next_frame = None;
            self.open(event_loop);
            self.redraw();
        }
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, message: Message) {
        match message {
            Message::Report(Report::Progress(done, all)) => {
                self.progress = (done, all);
                if self.desk.is_some() {
                    // What is shown does not tell of it.
                    return;
                }
            }
            Message::Report(Report::Ready(studio)) => match &mut self.desk {
                Some(desk) => desk.replace(studio),
                None => self.begin(event_loop, studio),
            },
            Message::Report(Report::Words(words)) => {
                let now = self.now();
                if let Some(desk) = &mut self.desk {
                    desk.say(words, now);
                }
            }
            Message::Failed(error) => return self.fail(event_loop, error),
            Message::Simulated(number, said) if self.simulation.is_newest(number) => {
                let now = self.now();
                let Some(desk) = &mut self.desk else { return };
                match said {
                    Ok(Report::Progress(done, all)) => desk.simulating(done, all),
                    Ok(Report::Ready(studio)) => desk.recache(studio),
                    Ok(Report::Words(words)) => desk.say(words, now),
                    Err(error) => desk.refuse(format!("{error:#}"), now),
                }
            }
            Message::Simulated(..) => return,
        }
        self.redraw();
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(pane) = &mut self.pane else { return };
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::RedrawRequested => self.frame(event_loop),
            WindowEvent::KeyboardInput { event: key, is_synthetic, .. }
                if !pane.egui.egui_ctx().text_edit_focused() =>
            {
                // Keys that were down already when the window got the focus were meant for somebody else.
                if key.state == ElementState::Pressed && !is_synthetic {
                    self.key(event_loop, &key);
                }
            }
            event => {
                if let WindowEvent::ModifiersChanged(modifiers) = &event {
                    pane.modifiers = modifiers.state();
                }
                let seen = matches!(event, WindowEvent::Resized(_) | WindowEvent::Occluded(false));
                if pane.egui.on_window_event(&pane.window, &event).repaint || seen {
                    pane.window.request_redraw();
                }
            }
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        event_loop.set_control_flow(self.next_frame.map_or(ControlFlow::Wait, ControlFlow::WaitUntil));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_window_system_are_ours() {
        let none = ModifiersState::empty();
        let character = |c: &str| Logical::Character(c.into());
        let meaning = |key: &Logical, held| chord(key, held).and_then(action);
        assert_eq!(meaning(&Logical::Named(NamedKey::Space), none), Some(Action::PlayPause));
        assert_eq!(meaning(&character("H"), ModifiersState::SHIFT), Some(Action::Panels));
        assert_eq!(meaning(&character("?"), ModifiersState::SHIFT), Some(Action::Sheet));
        let right = Logical::Named(NamedKey::ArrowRight);
        assert_eq!(meaning(&right, ModifiersState::CONTROL), Some(Action::Miss(true)));
        assert_eq!(meaning(&right, ModifiersState::SHIFT), Some(Action::Step(10)));
        assert_eq!(meaning(&Logical::Named(NamedKey::Enter), ModifiersState::ALT), Some(Action::FullScreen));
        assert_eq!(meaning(&Logical::Named(NamedKey::Tab), none), Some(Action::NextPane));
        assert_eq!(meaning(&Logical::Named(NamedKey::PageUp), none), None);
    }

    #[test]
    fn a_trace_takes_a_minute_unless_that_is_too_fast_or_slow_to_see() {
        assert_eq!(default_speed(8_448), 141.0);
        assert_eq!(default_speed(10), 4.0);
        assert_eq!(default_speed(20_000_000), 300.0);
    }
}
