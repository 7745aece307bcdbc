//! The event loop: the one place of the window that reads a clock.

use super::against::OpenAgainst;
use super::clips::{self, RecordClip};
use super::desk::Effect;
use super::display;
use super::indexing::Message;
use super::input::meaning;
use super::keys::Action;
use super::latency::Latency;
use super::losses::{self, Losses};
use super::start::{Asks, Offer, StartPage, path_of};
use super::story_panel::StoryAsks;
use super::traces::{Opener, Taken, Trace, Traces, Wanted};
use super::window::{FRAME, Face, Pane, picture};
use crate::render::{RenderError, Sent};
use crate::sim::config::HierarchyConfig;
use crate::trace::bundled::{SCHEME, find};
use anyhow::Context as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use winit::application::ApplicationHandler;
use winit::event::{ElementState, KeyEvent, StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoopProxy};
use winit::keyboard::NamedKey;
use winit::window::{Fullscreen, WindowId};

/// Runs what makes drivers speak, so that the user does not hear what is none of the user's.
pub type Quietly = fn(&mut dyn FnMut());

/// Takes what frames sent to the GPU, and how long input waited for its picture, in words; empty: there was none.
pub type Account = Box<dyn FnOnce(Sent, &str)>;

/// Has the window closed in order, from any thread; `false`: there is none any more.
pub type CloseWindow = Box<dyn Fn() -> bool + Send>;

/// What the window is opened with.
pub struct Options {
    /// The trace to begin with; where it cannot be opened the window ends. `None`: the start page.
    pub first: Option<Trace>,
    /// Opens others; where one cannot be opened the start page says why.
    pub open: Opener,
    /// Makes what a trace is compared with of a file.
    pub against: OpenAgainst,
    /// Makes videos.
    pub clips: RecordClip,
    /// What the start page offers.
    pub offer: Offer,
    /// Width and height, points.
    pub size: (u32, u32),
    /// Told, when the window is closed, what its frames sent to the GPU, and how long input waited.
    pub sent: Account,
    /// Runs the search for an adapter.
    pub quietly: Quietly,
    /// Given what has the window closed in order, from any thread; that gives `false` where there is none.
    pub stops: Box<dyn FnOnce(CloseWindow)>,
}

/// Opens the window and stays until it is closed.
///
/// # Errors
/// What the first trace's `load` gives; no display; [`crate::render::RenderError`].
pub fn run(options: Options) -> anyhow::Result<()> {
    let event_loop = display::event_loop()?;
    let Options { first, open, against, clips, offer, size, sent, quietly, stops } = options;
    let Offer { recent, lessons, home, is_first, is_source } = offer;
    let proxy = event_loop.create_proxy();
    stops(Box::new(move || proxy.send_event(Message::leave()).is_ok()));
    let mut viewer = Viewer {
        size,
        quietly,
        open,
        against,
        clips,
        recent,
        is_source,
        proxy: event_loop.create_proxy(),
        page: StartPage { lessons, home, ..StartPage::default() },
        traces: Traces::default(),
        ends: first.is_some(),
        guides: is_first,
        losses: Losses::default(),
        #[cfg(debug_assertions)]
        loses: std::env::var("ORRERY_TEST_LOSE_DEVICE").ok().and_then(|frames| frames.parse().ok()),
        text: first.as_ref().map_or(1.0, |trace| trace.first.text_scale),
        hovered: false,
        born: Instant::now(),
        pane: None,
        next_frame: None,
        last_frame: None,
        latency: Latency::default(),
        failure: None,
    };
    match first {
        Some(trace) => viewer.begin(trace)?,
        None => viewer.turn_to_page(),
    }
    // winit panics where somebody else destroys the window. Its own words are on standard error; who waits for the window's end
    // goes on.
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| event_loop.run_app(&mut viewer)));
    // However it ended: what was written about the trace, and where it was left, is kept.
    viewer.traces.leave();
    match ran {
        Ok(ran) => ran?,
        Err(_) => {
            anyhow::bail!("the window broke off: another program destroyed it, or this is a bug: please report it")
        }
    }
    if let Some(pane) = &viewer.pane {
        sent(pane.surface.sent(), &viewer.latency.words());
    }
    viewer.failure.map_or(Ok(()), Err)
}

/// A trace that is refused, or ready, within this time needs no waiting window.
const PATIENCE: Duration = Duration::from_millis(150);
/// Longest time that a frame lets pass: after a stall the picture goes on where it was, it does not jump.
const STALL: f64 = 0.1;

struct Viewer {
    size: (u32, u32),
    quietly: Quietly,
    open: Opener,
    against: OpenAgainst,
    clips: RecordClip,
    recent: Box<dyn FnMut() -> Vec<super::start::RecentFile>>,
    is_source: fn(&Path) -> bool,
    proxy: EventLoopProxy<Message>,
    page: StartPage,
    traces: Traces,
    /// Where the trace cannot be opened, or be read any more, the window ends: it is the one of the command line.
    ends: bool,
    /// Type, times the usual size: that of the trace shown last.
    text: f32,
    /// The first trace that is shown is shown with hints.
    guides: bool,
    losses: Losses,
    /// Frames after which a device is given up, to see what happens then.
    #[cfg(debug_assertions)]
    loses: Option<u64>,
    /// A file is held over the window.
    hovered: bool,
    born: Instant,
    pane: Option<Pane>,
    next_frame: Option<Instant>,
    last_frame: Option<Instant>,
    latency: Latency,
    failure: Option<anyhow::Error>,
}

impl Viewer {
    fn now(&self) -> f64 {
        self.born.elapsed().as_secs_f64()
    }

    fn fail(&mut self, event_loop: &ActiveEventLoop, error: anyhow::Error) {
        self.failure.get_or_insert(error);
        event_loop.exit();
    }

    fn open_window(&mut self, event_loop: &ActiveEventLoop) {
        if self.pane.is_some() || self.failure.is_some() {
            return;
        }
        match Pane::new(event_loop, self.size, self.quietly) {
            Ok(pane) => {
                pane.window.request_redraw();
                self.pane = Some(pane);
            }
            Err(error) => self.fail(event_loop, error),
        }
    }

    /// Where tasks of this window tell what they have to tell.
    fn post(&self) -> impl Fn(Message) -> bool + Send + 'static {
        let proxy = self.proxy.clone();
        // Fails where the window is closed: then nobody waits for it.
        move |message| proxy.send_event(message).is_ok()
    }

    fn begin(&mut self, trace: Trace) -> anyhow::Result<()> {
        let post = self.post();
        self.traces.begin(trace, post).context("the system has no thread to read the trace on")
    }

    /// Opens what somebody asks for; what is shown stays until there is something else to show.
    fn ask(&mut self, wanted: &Wanted) {
        self.ends = false;
        self.page.keep(wanted);
        if let Wanted::File(path) = wanted
            && (self.is_source)(path)
            && path.is_file()
        {
            self.turn_to_page();
            return self.page.propose(path);
        }
        let opened = (self.open)(wanted);
        if let Err(error) = opened.and_then(|trace| self.begin(trace)) {
            self.complain(&error);
        }
        self.redraw();
    }

    fn turn_to_page(&mut self) {
        if !self.page.open {
            let recent = (self.recent)();
            self.page.show(recent);
        }
        self.redraw();
    }

    /// Says on the page why something cannot be opened.
    fn complain(&mut self, error: &anyhow::Error) {
        self.turn_to_page();
        self.page.message = Some(format!("{error:#}"));
    }

    /// Does what the page asks for.
    fn answer(&mut self, event_loop: &ActiveEventLoop, asks: &Asks) {
        match asks {
            Asks::Open(wanted) => self.ask(wanted),
            Asks::Back if self.traces.shown.is_some() || self.traces.story.is_some() => self.page.open = false,
            Asks::Back => event_loop.exit(),
        }
        self.redraw();
    }

    /// Leaves a storyboard: for its trace, at the moment that is shown, or for the start page.
    fn turn_from_story(&mut self, asks: StoryAsks) {
        let Some(player) = &mut self.traces.story else { return };
        if asks == StoryAsks::Leave {
            self.traces.story = None;
            self.traces.telling = false;
            return self.turn_to_page();
        }
        let opened = match player.left() {
            Ok(None) => return,
            Ok(Some(trace)) => Ok(trace),
            Err(error) => Err(error),
        };
        if let Err(error) = opened.and_then(|trace| self.begin(trace)) {
            self.complain(&error);
        }
        self.redraw();
    }

    /// Leaves what is on its way.
    fn turn_back(&mut self, event_loop: &ActiveEventLoop) {
        if self.ends && self.traces.shown.is_none() {
            return event_loop.exit();
        }
        self.traces.coming = None;
        if self.traces.shown.is_none() {
            self.turn_to_page();
        }
    }

    /// Opens the file whose path was copied.
    fn paste(&mut self) {
        let Some(pane) = &mut self.pane else { return };
        let text = pane.egui.clipboard_text().unwrap_or_default();
        match path_of(&text, self.page.home.as_deref()).filter(|path| path.is_file()) {
            Some(path) => self.ask(&Wanted::File(path)),
            None => match Wanted::pasted(&text) {
                Some(wanted) => self.ask(&wanted),
                None => self
                    .say("what was copied is no path of a file and no text of a trace: `orrery formats` lists those"),
            },
        }
    }

    fn say(&mut self, words: impl Into<String>) {
        let now = self.now();
        if let Some(desk) = self.traces.desk() {
            desk.say(words, now);
        }
    }

    fn redraw(&self) {
        if let Some(pane) = &self.pane {
            pane.window.request_redraw();
        }
    }

    fn act(&mut self, event_loop: &ActiveEventLoop, action: Action) {
        let now = self.now();
        let waits = self.traces.coming.is_some();
        let effect = match self.traces.desk().filter(|_| !waits) {
            Some(desk) => desk.apply(action, now),
            None if action == Action::FullScreen => Some(Effect::FullScreen),
            None => {
                match action {
                    Action::Escape => self.turn_back(event_loop),
                    Action::Quit => event_loop.exit(),
                    _ => {}
                }
                None
            }
        };
        self.carry_out(event_loop, effect);
    }

    fn carry_out(&mut self, event_loop: &ActiveEventLoop, effect: Option<Effect>) {
        match effect {
            Some(Effect::Quit) => event_loop.exit(),
            Some(Effect::FullScreen) => self.full_screen(),
            Some(Effect::Still) => self.still(),
            Some(Effect::Clip) => {
                let (post, now) = (self.post(), self.now());
                let (Some(pane), Some(shown)) = (&self.pane, &mut self.traces.shown) else { return };
                let size = pane.window.inner_size().into();
                clips::turn(&mut shown.recording, &self.clips, &mut shown.desk, &shown.name, size, post, now);
            }
            Some(Effect::Open) => self.turn_to_page(),
            Some(Effect::Paste) => self.paste(),
            Some(Effect::Against(path)) => {
                let against = (self.against)(&path);
                if let Some(shown) = &mut self.traces.shown {
                    shown.compare_with(against);
                }
            }
            Some(Effect::Earlier) => {
                self.say("reading the recording before this one");
                if let Some(shown) = &mut self.traces.shown {
                    shown.compare_with_earlier();
                }
            }
            Some(Effect::Output) => match self.traces.shown.as_mut().and_then(|shown| shown.output.as_mut()) {
                Some(output) => output.open = !output.open,
                None => self.say("this trace is of no program that the window recorded"),
            },
            Some(Effect::RecordAgain) => match self.page.again() {
                Some(wanted) => self.ask(&wanted),
                None => self.say("no program was recorded here: Ctrl + O, and type its name"),
            },
            Some(Effect::Simulate(config)) => {
                let (post, now) = (self.post(), self.now());
                if let Some(shown) = &mut self.traces.shown {
                    shown.simulate(*config, post, now);
                }
            }
            Some(Effect::SaveCaches(config)) => self.keep_caches(&config),
            None => {}
        }
        self.redraw();
    }

    fn keep_caches(&mut self, config: &HierarchyConfig) {
        let Some(shown) = &mut self.traces.shown else { return };
        let words = match (shown.save_caches)(config) {
            Ok(path) => format!("saved {}", whole(path).display()),
            Err(error) => format!("{error:#}"),
        };
        self.say(words);
    }

    fn full_screen(&self) {
        if let Some(pane) = &self.pane {
            let wanted = pane.window.fullscreen().is_none();
            pane.window.set_fullscreen(wanted.then_some(Fullscreen::Borderless(None)));
        }
    }

    /// Draws the picture without the controls, as large as the window, and saves it.
    fn still(&mut self) {
        let (Some(pane), Some(shown)) = (&self.pane, &mut self.traces.shown) else { return };
        let size: [u32; 2] = pane.window.inner_size().into();
        let words = match picture(pane, &mut shown.desk, size) {
            Ok(rgba) => match (shown.save)(shown.desk.transport.tick(), size, &rgba) {
                Ok(path) => format!("saved {}, {} × {}", whole(path).display(), size[0], size[1]),
                Err(error) => format!("{error:#}"),
            },
            Err(error) => format!("{error:#}"),
        };
        self.say(words);
    }

    fn key(&mut self, event_loop: &ActiveEventLoop, event: &KeyEvent) {
        let Some(pane) = &self.pane else { return };
        let Some(action) = meaning(&event.logical_key, pane.modifiers) else { return };
        // Held down, a key goes on stepping; switches do not flutter.
        let repeats = matches!(
            action,
            Action::Step(_)
                | Action::Miss(_)
                | Action::Faster
                | Action::Slower
                | Action::Tail(_)
                | Action::Text(_)
                | Action::Mark(_)
                | Action::Line(_)
                | Action::Eviction(_)
                | Action::ToBookmark(_)
                | Action::Closer(_)
        );
        if !event.repeat || repeats {
            self.act(event_loop, action);
        }
    }

    fn frame(&mut self, event_loop: &ActiveEventLoop) {
        let begun = Instant::now();
        let now = self.now();
        self.text = self.traces.desk().map_or(self.text, |desk| desk.type_size());
        let Some(pane) = &mut self.pane else { return };
        let size: [u32; 2] = pane.window.inner_size().into();
        if size.contains(&0) {
            // Minimised.
            self.last_frame = None;
            return;
        }
        let passed = self.last_frame.map_or(0.0, |last| (begun - last).as_secs_f64().min(STALL));
        let Traces { shown, coming, story, telling } = &mut self.traces;
        let (behind, is_told) = (shown.is_some() || story.is_some(), story.is_some());
        let player = story.as_mut().filter(|_| *telling && !self.page.open && coming.is_none());
        let face = match (coming.as_mut(), shown) {
            _ if player.is_some() => {
                let Some(player) = player else { return };
                player.advance(passed);
                Face::Story(player)
            }
            (Some(coming), _) => Face::Waits(&coming.name, coming.progress, coming.output.as_mut()),
            (None, Some(shown)) if !self.page.open => {
                shown.desk.advance(passed);
                Face::Desk(&mut shown.desk, shown.output.as_mut(), is_told)
            }
            (None, _) => Face::Page(&mut self.page, behind),
        };
        #[cfg(debug_assertions)]
        if self.loses.is_some_and(|frames| pane.surface.sent().frames >= frames) {
            pane.surface.lose();
        }
        match pane.draw(size, face, self.text, self.hovered, now) {
            Ok(drawn) => {
                self.latency.frame(drawn.presented);
                self.last_frame = drawn.moving.then_some(begun);
                let wait = if drawn.moving { pane.frame_time } else { drawn.repaint };
                // A window that takes no frame is asked again after a while, not at once.
                let wait = if drawn.presented.taken { wait } else { wait.max(FRAME * 4) };
                self.next_frame = begun.checked_add(wait);
                for action in drawn.shown.asked {
                    self.act(event_loop, action);
                }
                if drawn.shown.effect.is_some() {
                    self.carry_out(event_loop, drawn.shown.effect);
                }
                if let Some(asks) = drawn.story {
                    self.turn_from_story(asks);
                }
                if drawn.back {
                    self.traces.telling = true;
                    self.redraw();
                }
                if let Some(words) = drawn.untold {
                    self.traces.story = None;
                    self.traces.telling = false;
                    self.complain(&anyhow::anyhow!("{words}"));
                }
                if let Some(asks) = drawn.asks {
                    self.answer(event_loop, &asks);
                }
                if let (Some(error), Some(desk)) = (drawn.shown.failed, self.traces.desk()) {
                    // A file may be written over while it is shown.
                    if !desk.stay(format!("{error}; this is what was read before"), now) {
                        return self.fail(event_loop, error.into());
                    }
                    self.redraw();
                }
            }
            Err(error) => self.recover(event_loop, error, now),
        }
    }

    /// Goes on with another device where the one before was lost.
    fn recover(&mut self, event_loop: &ActiveEventLoop, error: anyhow::Error, now: f64) {
        if !matches!(error.downcast_ref(), Some(RenderError::Lost(_))) {
            return self.fail(event_loop, error);
        }
        if !self.losses.count(now) {
            return self.fail(event_loop, anyhow::anyhow!("{}", losses::words(&error)));
        }
        let Some(pane) = self.pane.take() else { return };
        match pane.again(self.quietly) {
            Ok(pane) => {
                self.pane = Some(pane);
                self.last_frame = None;
                self.say("the graphics device was lost; this is drawn by another one");
                self.redraw();
            }
            Err(error) => self.fail(event_loop, anyhow::anyhow!("{}", losses::words(&error))),
        }
    }
}

/// A path that says the folder too, for whoever looks for the file.
fn whole(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

impl ApplicationHandler<Message> for Viewer {
    fn resumed(&mut self, _: &ActiveEventLoop) {
        if self.pane.is_none() {
            self.next_frame = Some(if self.page.open { self.born } else { self.born + PATIENCE });
        }
    }

    fn new_events(&mut self, event_loop: &ActiveEventLoop, _: StartCause) {
        if self.next_frame.is_some_and(|at| at <= Instant::now()) {
            self.next_frame = None;
            self.open_window(event_loop);
            self.redraw();
        }
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, message: Message) {
        if message.leaves() {
            return event_loop.exit();
        }
        let now = self.now();
        match self.traces.take(message, now) {
            Taken::Nothing => return,
            Taken::Changed => {}
            Taken::Opened => {
                self.page.open = false;
                if let Some(desk) = self.traces.desk().filter(|_| std::mem::take(&mut self.guides)) {
                    desk.show_around();
                }
                self.last_frame = None;
                let recent = (self.recent)();
                if let Some(desk) = self.traces.desk() {
                    let traces = self.page.lessons.iter().filter(|lesson| find(lesson.name).is_some());
                    let lessons = traces.map(|lesson| format!("{SCHEME}{}", lesson.name).into());
                    let there = recent.into_iter().filter(|file| file.about.is_some());
                    desk.others = there.map(|file| file.path).chain(lessons).collect();
                }
                self.open_window(event_loop);
            }
            Taken::Failed(error) if self.ends => return self.fail(event_loop, error),
            Taken::Failed(error) => self.complain(&error),
        }
        self.redraw();
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(pane) = &mut self.pane else { return };
        // On the page and in fields keys are text.
        let types = (self.page.open || self.traces.told().is_some()) && self.traces.coming.is_none()
            || pane.egui.egui_ctx().text_edit_focused();
        let is_input = match &event {
            // What is held changes nothing by itself, nor does a key that goes up.
            WindowEvent::KeyboardInput { event, is_synthetic: false, .. } => {
                let held = [NamedKey::Control, NamedKey::Shift, NamedKey::Alt, NamedKey::Super];
                event.state == ElementState::Pressed && held.iter().all(|key| event.logical_key != *key)
            }
            WindowEvent::MouseInput { .. } | WindowEvent::MouseWheel { .. } => true,
            _ => false,
        };
        if is_input || matches!(event, WindowEvent::CursorMoved { .. }) && pane.egui.egui_ctx().egui_is_using_pointer()
        {
            self.latency.input(Instant::now());
        }
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::RedrawRequested => self.frame(event_loop),
            WindowEvent::KeyboardInput { event: key, is_synthetic, .. }
                if !types
                    || matches!(meaning(&key.logical_key, pane.modifiers), Some(Action::FullScreen | Action::Quit)) =>
            {
                // Keys that were down already when the window got the focus were meant for somebody else.
                if key.state == ElementState::Pressed && !is_synthetic {
                    self.key(event_loop, &key);
                }
            }
            WindowEvent::DroppedFile(path) => {
                self.hovered = false;
                self.ask(&Wanted::File(path));
            }
            WindowEvent::HoveredFile(_) | WindowEvent::HoveredFileCancelled => {
                self.hovered = matches!(event, WindowEvent::HoveredFile(_));
                self.redraw();
            }
            event => {
                if pane.take(&event) {
                    pane.window.request_redraw();
                }
            }
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let ([life, soon, late, against], now) = ([(); 4].map(|()| self.post()), self.now());
        if let Some(shown) = &mut self.traces.shown {
            shown.read_life(life, now);
            shown.answer(false, soon, now);
            shown.answer(true, late, now);
            shown.open_against(against, now);
        }
        event_loop.set_control_flow(self.next_frame.map_or(ControlFlow::Wait, ControlFlow::WaitUntil));
    }
}
