//! The viewer without its window: a studio, a playhead, how it looks, what is open. Everything here can be tested without a
//! display; the clock comes in as a number.

use super::keys::Action;
use super::transport::{PRESETS, Transport, longer, shorter};
use crate::overlay::pen::rate;
use crate::overlay::{Info, Layout, Parts, Stretch, Strip, Studio};
use crate::reference::SourceError;
use crate::scene::{Camera, Choice, Composition, Scene, Shade, View};
use crate::timeline::{Clock, ClockKind};
use crate::units::grouped;

/// What the window has to do itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Into full screen or back.
    FullScreen,
    /// Save the picture.
    Still,
    /// Leave.
    Quit,
}

/// What is drawn, and what it was drawn for.
struct Drawn {
    position: f64,
    view: View,
    scene: Scene,
    info: Info,
}

/// The state of the viewer.
pub struct Desk {
    studio: Studio,
    /// The playhead.
    pub transport: Transport,
    /// How the picture looks; `tail` is the one the user set.
    view: View,
    /// Regions that are shown, by name.
    choice: Choice,
    parts: Parts,
    panels: bool,
    /// The list of keys is open.
    pub sheet: bool,
    /// What was typed so far where the reference number stands; `None` = nobody types.
    pub typed: Option<String>,
    toast: Option<(String, f64)>,
    clock: Clock,
    strip: Strip,
    /// Which picture was asked for in the window.
    composition: Option<Composition>,
    /// What it shows.
    stretch: Stretch,
    /// The position that it followed last.
    followed: f64,
    drawn: Option<Drawn>,
    /// Changes with every new scene.
    generation: u64,
}

/// Seconds that a message stays.
pub const TOAST_SECONDS: f64 = 3.0;

/// Frames a second that the trail of a fast run is made for: it covers at least what a frame skips.
const FRAMES: f64 = 60.0;

impl Desk {
    /// Paused at `position`, at `speed` references a second.
    #[must_use]
    pub fn new(studio: Studio, view: View, parts: Parts, position: f64, speed: f64) -> Self {
        let transport = Transport::new(studio.timeline().len(), position, speed);
        let clock = Clock::new(ClockKind::References, studio.timeline());
        let mut desk = Self {
            studio,
            transport,
            view,
            choice: Choice::default(),
            parts,
            panels: true,
            sheet: false,
            typed: None,
            toast: None,
            clock,
            strip: Strip::default(),
            composition: None,
            stretch: Stretch::default(),
            followed: 0.0,
            drawn: None,
            generation: 0,
        };
        desk.grow();
        desk.transport.jump(position);
        desk
    }

    /// Takes more of the same trace, or its end; the playhead stays where it is.
    pub fn replace(&mut self, studio: Studio) {
        self.clock = Clock::new(self.clock.kind(), studio.timeline());
        self.studio = studio;
        if let Some(composition) = self.composition {
            self.studio.compose(composition);
        }
        self.drawn = None;
        self.strip = Strip::default();
        self.shade();
        self.grow();
    }

    /// Shows these regions.
    pub fn choose(&mut self, choice: Choice) {
        self.choice = choice;
        self.shade();
    }

    /// The next way to see the regions of this one's name: in full, faintly, not at all; or, `alone`, them and no others.
    pub fn turn(&mut self, region: usize, alone: bool) {
        let Some(name) = self.studio.tables().regions.get(region).map(|region| region.name.clone()) else { return };
        if alone {
            self.choice.only(&name, &self.studio.tables().regions);
        } else {
            let next = match self.view.shades.get(region).copied().unwrap_or_default() {
                Shade::Full => Shade::Dim,
                Shade::Dim => Shade::Hidden,
                Shade::Hidden => Shade::Full,
            };
            self.choice.say(&name, next);
        }
        self.shade();
    }

    fn shade(&mut self) {
        self.view.shades = self.choice.shades(&self.studio.tables().regions);
    }

    fn grow(&mut self) {
        let timeline = self.studio.timeline();
        let (len, total) = (timeline.len(), timeline.total().unwrap_or(timeline.len()));
        let grows = !timeline.is_whole();
        self.transport.grow(len, total, grows);
    }

    /// The trace under its cache.
    #[must_use]
    pub fn studio(&self) -> &Studio {
        &self.studio
    }

    /// References of trail that the user set.
    #[must_use]
    pub fn tail(&self) -> u64 {
        self.view.tail
    }

    /// Sets the trail's length.
    pub fn set_tail(&mut self, tail: u64) {
        self.view.tail = tail.max(1);
    }

    /// Where the viewer looks.
    #[must_use]
    pub fn camera(&self) -> Camera {
        self.view.camera
    }

    /// Looks elsewhere.
    pub fn look_at(&mut self, camera: Camera) {
        self.view.camera = camera.clamped();
    }

    /// How far the picture reaches: [`Layout::reach`].
    pub fn set_reach(&mut self, reach: [f32; 2]) {
        self.view.reach = reach;
    }

    /// What time stands for.
    #[must_use]
    pub fn clock(&self) -> ClockKind {
        self.clock.kind()
    }

    /// Another clock; the speed becomes one that takes as long for the whole trace.
    pub fn set_clock(&mut self, kind: ClockKind) {
        let clock = Clock::new(kind, self.studio.timeline());
        let ratio = clock.len() / self.clock.len();
        if ratio.is_finite() && ratio > 0.0 {
            self.transport.set_speed(self.transport.speed() * ratio);
        }
        self.clock = clock;
    }

    /// The parts that are shown now.
    #[must_use]
    pub fn parts(&self) -> Parts {
        if self.panels {
            return self.parts;
        }
        let Parts { strip, labels, .. } = self.parts;
        Parts { title: false, regions: false, caches: false, reference: false, legend: false, strip, labels }
    }

    /// The parts that are shown in a window of `width` x `height` points: the tables give way where they would lie on the
    /// rings.
    #[must_use]
    pub fn fitting(&self, [width, height]: [u32; 2]) -> Parts {
        let Parts { strip, labels, .. } = self.parts();
        if width < 480 && height < 420 {
            return Parts {
                title: false,
                regions: false,
                caches: false,
                reference: false,
                legend: false,
                strip,
                labels,
            };
        }
        self.parts()
    }

    /// Where things stand in a window of `width` x `height` points with `reserved` points of controls at the bottom. A
    /// window smaller than a picture can be is treated as larger than it is.
    #[must_use]
    pub fn layout(&self, width: u32, height: u32, reserved: f32) -> Layout {
        let size = [width.max(160), height.max(120)];
        Layout::new(size[0], size[1], reserved, &self.fitting(size)).seen_by(&self.view.camera)
    }

    /// How the picture is drawn now.
    #[must_use]
    pub fn look(&self) -> View {
        let (position, speed) = (self.transport.position(), self.transport.speed());
        let skipped = self.skipped();
        let speed = self.clock.rate(position, speed);
        View { speed, tail: self.view.tail.max(skipped), window: self.view.window.max(skipped), ..self.view.clone() }
    }

    /// References that a frame passes, about.
    fn skipped(&self) -> u64 {
        let (position, speed) = (self.transport.position(), self.transport.speed());
        let skipped = match self.clock.kind() {
            ClockKind::References => speed / FRAMES,
            _ => self.clock.ahead(position, speed / FRAMES) - position,
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "speeds are bounded and positive")]
        if self.transport.playing() { skipped.ceil() as u64 } else { 1 }
    }

    /// Lets `seconds` pass.
    pub fn advance(&mut self, seconds: f64) -> bool {
        let Self { transport, clock, .. } = self;
        transport.advance_by(seconds, |position, time| clock.ahead(position, time))
    }

    /// Brings the scene up to date.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn refresh(&mut self) -> Result<(), SourceError> {
        let (position, view) = (self.transport.position(), self.look());
        let total = self.transport.total().max(1) as f64;
        if self.followed != position {
            // Who goes on past the end of the strip is followed.
            self.followed = position;
            self.show_stretch(self.stretch.turned_to((position / total).min(1.0)));
        }
        if self.drawn.as_ref().is_some_and(|d| d.position == position && d.view == view) {
            return Ok(());
        }
        let (scene, mut info) = self.studio.frame(position, &view)?;
        if let Some(last) = self.drawn.take() {
            self.studio.reuse(last.scene);
        }
        // Who follows goes as fast as the trace comes.
        info.speed = if self.transport.follows() { 0.0 } else { self.transport.speed() };
        info.stretch = self.stretch;
        info.unit = self.clock.kind().unit();
        self.generation += 1;
        self.drawn = Some(Drawn { position, view, scene, info });
        Ok(())
    }

    /// Goes back to what is drawn already, where another moment cannot be had, and says `words`. `false`: nothing is drawn.
    pub fn stay(&mut self, words: String, now: f64) -> bool {
        let Some(mut drawn) = self.drawn.take() else { return false };
        self.transport.jump(drawn.position);
        // Until something else is asked for, this is what is shown.
        (drawn.position, drawn.view) = (self.transport.position(), self.look());
        self.drawn = Some(drawn);
        self.say(words, now);
        true
    }

    /// A number that changes with the scene: what it was uploaded for need not be uploaded again.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// What [`Desk::refresh`] made.
    #[must_use]
    pub fn drawn(&self) -> Option<(&Scene, &Info)> {
        self.drawn.as_ref().map(|d| (&d.scene, &d.info))
    }

    /// The strip in `columns` columns.
    pub fn strip(&mut self, columns: usize) -> &Strip {
        if self.strip.len() != columns {
            self.strip = self.studio.strip_of(columns, self.stretch);
        }
        &self.strip
    }

    /// The part of the trace that the strip shows.
    #[must_use]
    pub fn stretch(&self) -> Stretch {
        self.stretch
    }

    /// Shows another part.
    pub fn show_stretch(&mut self, stretch: Stretch) {
        if stretch != self.stretch {
            self.stretch = stretch;
            self.strip = Strip::default();
            self.drawn = None;
        }
    }

    /// The window's title: `orrery - 2,613 of 8,448 - 16×16 matrix multiply`.
    #[must_use]
    pub fn title(&self) -> String {
        let (tick, len) = (grouped(self.transport.tick()), grouped(self.transport.total()));
        format!("orrery - {tick} of {len} - {}", crate::shown::name(&self.studio.tables().title))
    }

    /// Says something for [`TOAST_SECONDS`] from `now`.
    pub fn say(&mut self, words: impl Into<String>, now: f64) {
        self.toast = Some((words.into(), now + TOAST_SECONDS));
    }

    /// What is being said at `now`, and for how many seconds still.
    #[must_use]
    pub fn toast(&self, now: f64) -> Option<(&str, f64)> {
        self.toast.as_ref().map(|(words, end)| (words.as_str(), end - now)).filter(|&(_, left)| left > 0.0)
    }

    /// Goes to the reference that was typed: `2613`, `2,613`, `50%`. Words that are no number are answered.
    pub fn go_to(&mut self, typed: &str, now: f64) {
        let plain: String = typed.chars().filter(|c| !matches!(c, ',' | ' ' | '_' | '\'')).collect();
        let position = match plain.strip_suffix('%') {
            Some(share) => share.parse::<f64>().ok().map(|p| (p / 100.0 * self.transport.total() as f64).floor()),
            None => plain.parse::<f64>().ok(),
        };
        match position.filter(|p| p.is_finite()) {
            Some(position) => {
                self.transport.jump(position);
                if position > self.transport.len() as f64 && self.transport.grows() {
                    self.say(format!("{} references so far: reading goes on", grouped(self.transport.len())), now);
                }
            }
            None if plain.is_empty() => {}
            None => self.say(
                format!("“{typed}” is no reference number: expected 0 to {}", grouped(self.transport.total())),
                now,
            ),
        }
    }

    /// Does what a key or a button says; what only the window can do comes back.
    pub fn apply(&mut self, action: Action, now: f64) -> Option<Effect> {
        match action {
            Action::PlayPause => self.transport.toggle(),
            Action::Step(by) => self.transport.step(by),
            Action::Miss(forward) => self.seek_miss(forward, now),
            Action::Start => self.transport.jump(0.0),
            Action::End => self.transport.follow(),
            Action::Faster => self.transport.faster(),
            Action::Slower => self.transport.slower(),
            Action::Speed(preset) => self.transport.set_speed(PRESETS[preset.min(PRESETS.len() - 1)]),
            Action::Clock => {
                self.set_clock(self.clock.kind().next());
                let (speed, kind) = (rate(self.transport.speed()), self.clock.kind());
                self.say(format!("clock: {}, {speed} {}", kind.name(), kind.unit()), now);
            }
            Action::Mark(forward) => self.seek_mark(forward, now),
            Action::Tail(true) => self.set_tail(longer(self.view.tail)),
            Action::Tail(false) => self.set_tail(shorter(self.view.tail)),
            Action::Closer(factor) => {
                let Camera { at, .. } = self.view.camera;
                self.look_at(self.view.camera.closer(f32::from(factor) / 100.0, at));
            }
            Action::Whole => self.look_at(Camera::default()),
            Action::Composition => {
                let (composition, words) = match self.studio.composition() {
                    Composition::Dots => (Composition::Large, "the large picture: sums"),
                    Composition::Large => (Composition::Dots, "a dot for each line"),
                };
                self.composition = Some(composition);
                self.studio.compose(composition);
                self.drawn = None;
                self.say(words.to_owned(), now);
            }
            Action::Panels => self.panels = !self.panels,
            Action::Sheet => self.sheet = !self.sheet,
            Action::Escape if self.sheet => self.sheet = false,
            Action::Escape => return Some(Effect::Quit),
            Action::FullScreen => return Some(Effect::FullScreen),
            Action::Still => return Some(Effect::Still),
        }
        None
    }

    fn seek_miss(&mut self, forward: bool, now: f64) {
        let timeline = self.studio.timeline();
        if timeline.outcomes().is_none() {
            return self.say("this trace is too long to keep the place of every miss", now);
        }
        // From the middle of a miss, the previous one is the start of this one.
        let inside = self.transport.position().fract() > 0.0;
        let from = self.transport.tick() + u64::from(!forward && inside);
        match timeline.find_miss(from, forward) {
            Some(tick) => self.transport.jump(tick as f64),
            None => self.say(if forward { "no miss after this" } else { "no miss before this" }, now),
        }
    }

    fn seek_mark(&mut self, forward: bool, now: f64) {
        let marks = &self.studio.tables().marks;
        let position = self.transport.position();
        let found = if forward {
            marks.iter().find(|m| m.reference as f64 > position)
        } else {
            marks.iter().rev().find(|m| (m.reference as f64) < position)
        };
        match found.map(|m| (m.reference, m.name.clone())) {
            Some((reference, name)) => {
                self.transport.jump(reference as f64);
                self.say(name, now);
            }
            None if marks.is_empty() => self.say("this trace has no marks", now),
            None => self.say(if forward { "no mark after this" } else { "no mark before this" }, now),
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
