//! What is open: a trace under its caches, and all that every pane shows alike: trail, shades, clock, the part of the strip.

use super::transport::{PlayRange, Transport};
use crate::axis::Position;
use crate::overlay::{Baseline, Playback, Stretch, Strip, StripKind, Studio};
use crate::scene::layout::Radii;
use crate::scene::solids::SolidLook;
use crate::scene::{Choice, Shade, View};
use crate::tasks::TaskLook;
use crate::timeline::{Clock, ClockKind, Life, Timeline};
use crate::units::ByteRange;
use std::sync::Arc;

/// See the module.
pub struct Session {
    studio: Studio,
    /// How pictures look; `tail` is the one the user set, the camera is a pane's.
    view: View,
    /// Regions that are shown, by name.
    choice: Choice,
    clock: Clock,
    strip: Strip,
    /// What part of the trace the strip shows, and what it tells of it.
    stretch: Stretch,
    strip_kind: StripKind,
    /// The position that the strip followed last.
    followed: Position,
    /// The life of what is pinned, as far as it is read.
    life: Option<Arc<Life>>,
    /// Somebody should read it.
    wants_life: bool,
}

/// Frames a second that the trail of a fast run is made for: it covers at least what a frame skips.
const FRAMES: f64 = 60.0;

impl Session {
    /// On the clock of references, the strip showing all.
    #[must_use]
    pub fn new(mut studio: Studio, view: View) -> Self {
        studio.answer_elsewhere();
        let clock = studio.clock(ClockKind::References);
        let look = studio.tasks().map(|book| book.first().look.clone()).unwrap_or_default();
        let view = View { tasks: Arc::new(look), ..view };
        let stretch = studio.first_stretch();
        let mut session = Self {
            studio,
            view,
            choice: Choice::default(),
            clock,
            strip: Strip::default(),
            stretch,
            strip_kind: StripKind::default(),
            followed: Position::START,
            life: None,
            wants_life: false,
        };
        session.shade();
        session
    }

    /// Takes more of the same trace, or its end.
    ///
    /// `compares`: it is the same trace under caches that were changed, which are compared with those before.
    pub fn replace(&mut self, mut studio: Studio, compares: bool) {
        studio.answer_elsewhere();
        let same = studio.timeline().config() == self.studio.timeline().config();
        // Of a trace that grows under the same caches, what is known stays true until more is wanted.
        self.life = self.life.take().filter(|_| same);
        let known = self.life.as_ref().map_or(0, |life| life.known());
        self.wants_life =
            self.view.pin.is_some() && (studio.timeline().is_whole() || known < studio.timeline().len() / 2);
        self.clock = studio.clock(self.clock.kind());
        if let (Some(before), Some(after)) = (self.studio.tasks(), studio.tasks()) {
            // What nobody has changed begins as the whole of it would.
            let look = match *self.view.tasks == before.first().look {
                true => after.first().look.clone(),
                false => self.view.tasks.at_another(before, after),
            };
            self.view.tasks = Arc::new(look);
            if before.set().unit() != after.set().unit() {
                self.stretch = studio.first_stretch();
            }
        }
        let mut before = std::mem::replace(&mut self.studio, studio);
        // What other caches are compared with stays as long as it is of this trace; the first time it is what was there before them.
        let baseline = before.take_baseline().or_else(|| (compares && !same).then(|| Baseline::caches(before)));
        let here = self.studio.timeline();
        let baseline =
            baseline.filter(|baseline| baseline.is_trace() || baseline.studio().timeline().is_of_source(here));
        let baseline = baseline.map(|baseline| baseline.again(&self.studio));
        self.studio.compare_with(baseline);
        self.strip = Strip::default();
        self.shade();
    }

    /// The trace under its caches.
    #[must_use]
    pub fn studio(&self) -> &Studio {
        &self.studio
    }

    /// As [`Session::studio`], to take shots of.
    pub fn studio_mut(&mut self) -> &mut Studio {
        &mut self.studio
    }

    /// What is pinned.
    #[must_use]
    pub fn pinned(&self) -> Option<ByteRange> {
        self.view.pin
    }

    /// Pins some bytes, or nothing. What is pinned already stays as it is.
    pub fn pin(&mut self, bytes: Option<ByteRange>) {
        if self.view.pin != bytes {
            (self.view.pin, self.life, self.wants_life) = (bytes, None, bytes.is_some());
        }
    }

    /// The trace and the bytes whose life somebody should read now; told once.
    #[must_use]
    pub fn wanted_life(&mut self) -> Option<(Arc<Timeline>, ByteRange)> {
        let wanted = std::mem::take(&mut self.wants_life);
        self.view.pin.filter(|_| wanted).map(|bytes| (Arc::clone(self.studio.timeline()), bytes))
    }

    /// Takes a life, as far as it is read, unless more of it is known.
    pub fn take_life(&mut self, life: Arc<Life>) {
        let is_more = self.life.as_ref().is_none_or(|known| known.known() <= life.known());
        if is_more && self.view.pin.is_some_and(|pin| pin.first == life.bytes().first) {
            self.life = Some(life);
        }
    }

    /// The life of what is pinned, as far as it is read.
    #[must_use]
    pub fn life(&self) -> Option<&Arc<Life>> {
        self.life.as_ref()
    }

    /// What of tasks is looked at.
    #[must_use]
    pub fn task_look(&self) -> &TaskLook {
        &self.view.tasks
    }

    /// Looks at something else of them.
    pub fn task_look_mut(&mut self) -> &mut TaskLook {
        Arc::make_mut(&mut self.view.tasks)
    }

    /// What of arrays is looked at as solids.
    #[must_use]
    pub fn solid_look(&self) -> &SolidLook {
        &self.view.solids
    }

    /// Looks at something else of them.
    pub fn look_at_solids(&mut self, look: SolidLook) {
        self.view.solids = Arc::new(look);
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

    /// The next colour of the regions of this one's name, or, `back`, their first one.
    pub fn recolor(&mut self, region: usize, back: bool) {
        self.choice.recolor(region, back, &self.studio.tables().regions);
        self.shade();
    }

    /// Has the regions of this one's name change places with those before (`up`) or after them. Whether there are any.
    pub fn shift(&mut self, region: usize, up: bool) -> bool {
        let shifted = self.choice.shift(region, up, &self.studio.tables().regions);
        self.shade();
        shifted
    }

    fn shade(&mut self) {
        let regions = &self.studio.tables().regions;
        (self.view.shades, self.view.colors) = (self.choice.shades(regions), self.choice.colors(regions));
        self.view.order = self.choice.order(regions);
    }

    /// How pictures look that skip nothing, but for the camera.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.view
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

    /// What the thickness of rings follows.
    #[must_use]
    pub fn radii(&self) -> Radii {
        self.view.radii
    }

    /// Has it follow something else.
    pub fn set_radii(&mut self, radii: Radii) {
        self.view.radii = radii;
    }

    /// Whether nothing flies.
    #[must_use]
    pub fn calm(&self) -> bool {
        self.view.calm
    }

    /// Has nothing fly, or all of it.
    pub fn set_calm(&mut self, calm: bool) {
        self.view.calm = calm;
    }

    /// What time stands for.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Another clock; the speed becomes one that takes as long for the whole trace.
    pub fn set_clock(&mut self, kind: ClockKind, transport: &mut Transport) {
        let clock = self.studio.clock(kind);
        let ratio = clock.len() / self.clock.len();
        if ratio.is_finite() && ratio > 0.0 {
            transport.set_speed(transport.speed() * ratio);
        }
        self.clock = clock;
    }

    /// How every pane's picture is drawn now, but for its camera.
    #[must_use]
    pub fn look(&self, transport: &Transport) -> View {
        let skipped = self.skipped(transport);
        let speed = self.clock.rate(transport.position(), transport.speed());
        View { speed, tail: self.view.tail.max(skipped), window: self.view.window.max(skipped), ..self.view.clone() }
    }

    /// References that a frame passes, about.
    fn skipped(&self, transport: &Transport) -> u64 {
        let (position, speed) = (transport.position(), transport.speed());
        let skipped = match self.clock.kind() {
            ClockKind::References => speed / FRAMES,
            _ => self.clock.ahead(position, speed / FRAMES).since(position),
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "speeds are bounded and positive")]
        if transport.playing() { skipped.ceil() as u64 } else { 1 }
    }

    /// What pictures say of the way they are played.
    #[must_use]
    pub fn playback(&self, transport: &Transport) -> Playback {
        // Who follows goes as fast as the trace comes.
        let speed = if transport.follows() { 0.0 } else { transport.speed() };
        let PlayRange { from, to } = transport.range();
        Playback {
            speed,
            unit: self.clock.kind().unit(),
            stretch: self.stretch,
            strip: self.strip_kind,
            range: [from, to],
        }
    }

    /// The strip in `columns` columns.
    pub fn strip(&mut self, columns: usize) -> &Strip {
        if self.strip.len() != columns {
            self.strip = self.studio.strip_of_kind(columns, self.stretch, self.strip_kind);
        }
        &self.strip
    }

    /// What the strip tells.
    #[must_use]
    pub fn strip_kind(&self) -> StripKind {
        self.strip_kind
    }

    /// Has the strip tell something else.
    pub fn set_strip_kind(&mut self, kind: StripKind) {
        (self.strip_kind, self.strip) = (kind, Strip::default());
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
        }
    }

    /// Has the strip follow the playhead past its end.
    pub fn follow(&mut self, transport: &Transport) {
        let position = transport.position();
        if self.followed != position {
            self.followed = position;
            self.show_stretch(self.stretch.turned_to(transport.axis(), position));
        }
    }
}
