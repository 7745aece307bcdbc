//! The viewer without its window: a studio, a playhead, how it looks, what is open. Everything here can be tested without a
//! display; the clock comes in as a number.

use super::keys::Action;
use super::transport::{PRESETS, Transport, longer, shorter};
use crate::overlay::pen::rate;
use crate::overlay::{Info, Layout, Parts, Stretch, Studio};
use crate::reference::SourceError;
use crate::scene::{Camera, Choice, Scene, Shade, View};
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
    strip: Vec<f32>,
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
            strip: Vec::new(),
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
        self.drawn = None;
        self.strip.clear();
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

    /// Misses a reference by column of the strip, for `columns` columns.
    pub fn strip(&mut self, columns: usize) -> &[f32] {
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
            self.strip.clear();
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
pub(super) mod tests {
    use super::*;
    use crate::reference::{Kind, Mark, MemoryTrace, Reference, Region, Tables};
    use crate::sim::Hierarchy;
    use crate::sim::config::{HierarchyConfig, preset};
    use std::sync::Arc;

    /// 1,000 references over two arrays: A is streamed through, B[0] is touched every fourth time.
    pub(in crate::app) fn desk() -> Desk {
        desk_under(&preset("paper").expect("there"))
    }

    /// As [`desk`], under other caches.
    pub(in crate::app) fn desk_under(config: &HierarchyConfig) -> Desk {
        let region = |name: &str, base| Region {
            name: name.into(),
            base,
            bytes: 8 * 1024,
            elem_bytes: 8,
            elem_type: "double".into(),
            shape: vec![1024],
            row_major: true,
            lifetime: None,
        };
        let references = (0..1000u64)
            .map(|n| match n % 4 {
                3 => Reference::new(Kind::Write, 0x4000, 8),
                _ => Reference::new(Kind::Read, 0x1000 + 8 * n, 8),
            })
            .collect();
        let mark = |reference, name: &str| Mark { reference, name: name.into() };
        let tables = Tables {
            title: "two arrays".into(),
            regions: vec![region("A", 0x1000), region("B", 0x4000)],
            marks: vec![mark(100, "first"), mark(600, "second")],
            ..Tables::default()
        };
        let hierarchy = Hierarchy::new(config).expect("good");
        let trace = Arc::new(MemoryTrace::new(references, tables));
        let studio = Studio::new(trace, hierarchy, &mut |_, _| true).expect("in memory");
        Desk::new(studio, View::default(), Parts::default(), 0.0, 100.0)
    }

    #[test]
    fn the_title_says_where_the_playhead_is() {
        let mut desk = desk();
        assert_eq!(desk.title(), "orrery - 0 of 1,000 - two arrays");
        desk.apply(Action::PlayPause, 0.0);
        desk.advance(1.234);
        assert_eq!(desk.title(), "orrery - 123 of 1,000 - two arrays");
        desk.apply(Action::End, 0.0);
        assert_eq!(desk.title(), "orrery - 1,000 of 1,000 - two arrays");
    }

    #[test]
    fn misses_are_jumped_to_and_really_are_misses() {
        let mut desk = desk();
        let mut seen = Vec::new();
        for _ in 0..5 {
            desk.apply(Action::Miss(true), 0.0);
            seen.push(desk.transport.tick());
        }
        assert!(seen.windows(2).all(|w| w[0] < w[1]) && !desk.transport.moving(), "{seen:?}");
        let outcomes = desk.studio().timeline().outcomes().expect("short");
        assert!(seen.iter().all(|&t| outcomes.get(t).expect("inside").missed()));
        desk.transport.jump(seen[4] as f64 + 0.5);
        desk.apply(Action::Miss(false), 0.0);
        assert_eq!(desk.transport.position(), seen[4] as f64, "its own start first");
        desk.apply(Action::Miss(false), 0.0);
        assert_eq!(desk.transport.tick(), seen[3]);
        desk.apply(Action::End, 0.0);
        desk.apply(Action::Miss(true), 5.0);
        assert_eq!(desk.transport.tick(), 1000);
        assert_eq!(desk.toast(5.0).map(|t| t.0), Some("no miss after this"));
        assert_eq!(desk.toast(5.1 + TOAST_SECONDS), None);
    }

    #[test]
    fn marks_are_jumped_to_and_named() {
        let mut desk = desk();
        for (forward, tick, words) in [
            (true, 100, "first"),
            (true, 600, "second"),
            (true, 600, "no mark after this"),
            (false, 100, "first"),
            (false, 100, "no mark before this"),
        ] {
            desk.apply(Action::Mark(forward), 0.0);
            assert_eq!((desk.transport.tick(), desk.toast(0.0).map(|t| t.0)), (tick, Some(words)));
        }
    }

    #[test]
    fn escape_closes_the_sheet_before_it_leaves() {
        let mut desk = desk();
        desk.apply(Action::Sheet, 0.0);
        assert!(desk.sheet);
        assert_eq!(desk.apply(Action::Escape, 0.0), None);
        assert!(!desk.sheet);
        assert_eq!(desk.apply(Action::Escape, 0.0), Some(Effect::Quit));
    }

    #[test]
    fn a_number_can_be_typed() {
        let mut desk = desk();
        for (typed, position) in
            [("613", 613.0), ("1,000", 1000.0), ("50%", 500.0), ("99999", 1000.0), ("-4", 0.0), ("7.5", 7.5)]
        {
            desk.go_to(typed, 0.0);
            assert_eq!(desk.transport.position(), position, "{typed}");
        }
        for typed in ["x", "nan", "1e999", "%"] {
            desk.go_to(typed, 0.0);
            assert_eq!(desk.transport.position(), 7.5);
            assert!(desk.toast(0.0).is_some_and(|t| t.0.contains(typed)));
        }
    }

    #[test]
    fn the_scene_is_made_again_only_when_it_changes() {
        let mut desk = desk();
        desk.refresh().expect("in memory");
        desk.refresh().expect("in memory");
        assert_eq!(desk.generation(), 1);
        desk.apply(Action::Panels, 0.0);
        desk.refresh().expect("in memory");
        assert_eq!(desk.generation(), 1, "panels are no part of the scene");
        assert!(!desk.parts().regions && desk.parts().strip);
        desk.apply(Action::Tail(true), 0.0);
        desk.refresh().expect("in memory");
        desk.transport.jump(4.0);
        desk.refresh().expect("in memory");
        assert_eq!(desk.generation(), 3);
        assert_eq!(desk.drawn().map(|(_, info)| (info.tick, info.tail)), Some((4, 128)));
    }

    /// A trace whose file may break.
    struct Breaks {
        references: Vec<Reference>,
        tables: Tables,
        broken: std::sync::atomic::AtomicBool,
    }

    impl crate::reference::ReferenceSource for Breaks {
        fn len(&self) -> u64 {
            self.references.len() as u64
        }
        fn chunk_len(&self) -> u64 {
            500
        }
        fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
            if self.broken.load(std::sync::atomic::Ordering::SeqCst) {
                return Err(SourceError("written over".into()));
            }
            let first = usize::try_from(500 * index).expect("small");
            Ok(self.references[first..].iter().take(500).copied().collect())
        }
        fn tables(&self) -> &Tables {
            &self.tables
        }
    }

    #[test]
    fn where_a_trace_cannot_be_read_any_more_the_picture_stays_and_later_ones_are_right() {
        let references = (0..40_000u64).map(|n| Reference::new(Kind::Read, n * 40 % 6_000, 8)).collect();
        let trace = Arc::new(Breaks { references, tables: Tables::default(), broken: false.into() });
        let studio = || {
            let hierarchy = Hierarchy::new(&preset("paper").expect("there")).expect("good");
            let source = Arc::clone(&trace) as Arc<dyn crate::reference::ReferenceSource>;
            Studio::new(source, hierarchy, &mut |_, _| true).expect("whole")
        };
        let mut desk = Desk::new(studio(), View::default(), Parts::default(), 0.0, 100.0);
        desk.refresh().expect("whole");
        trace.broken.store(true, std::sync::atomic::Ordering::SeqCst);
        let mut failed = 0;
        for to in [39_000.0, 7_777.0, 30_123.0, 400.0, 20_000.0] {
            desk.transport.jump(to);
            if let Err(error) = desk.refresh() {
                failed += 1;
                assert!(desk.stay(error.to_string(), 0.0));
                assert!(desk.toast(0.0).is_some_and(|(words, _)| words.contains("written over")));
            }
            assert!(desk.drawn().is_some_and(|(_, info)| info.tick == desk.transport.tick()));
            desk.refresh().expect("what is shown needs no file");
        }
        assert!(failed >= 3, "{failed}");
        trace.broken.store(false, std::sync::atomic::Ordering::SeqCst);
        let mut fresh = Desk::new(studio(), View::default(), Parts::default(), 0.0, 100.0);
        for to in [31_500.0, 31_600.0, 12.0, 39_999.0] {
            for desk in [&mut desk, &mut fresh] {
                desk.transport.jump(to);
                desk.refresh().expect("whole again");
            }
            let [one, other] = [&desk, &fresh].map(|desk| desk.drawn().expect("drawn"));
            assert!(one.0.glyphs == other.0.glyphs && one.1 == other.1, "at {to}");
        }
    }

    #[test]
    fn another_clock_takes_as_long_for_the_whole_trace() {
        let mut desk = desk();
        let seconds = |desk: &Desk| desk.clock.len() / desk.transport.speed();
        assert_eq!((desk.clock(), seconds(&desk)), (ClockKind::References, 10.0));
        for kind in [ClockKind::Misses, ClockKind::Cycles, ClockKind::Adaptive, ClockKind::References] {
            assert!(desk.apply(Action::Clock, 0.0).is_none());
            assert_eq!(desk.clock(), kind);
            assert!((seconds(&desk) - 10.0).abs() < 1e-6, "{kind:?}: {} s", seconds(&desk));
            assert!(desk.toast(1.0).expect("said").0.contains(kind.name()));
            // Played in steps, it ends when it should, and not before.
            desk.apply(Action::Start, 0.0);
            desk.apply(Action::PlayPause, 0.0);
            for _ in 0..99 {
                desk.advance(0.1);
            }
            assert!(desk.transport.playing() && desk.transport.position() < 1000.0, "{kind:?}");
            desk.advance(0.1001);
            assert!(desk.transport.at_end(), "{kind:?}: {}", desk.transport.position());
        }
    }

    #[test]
    fn a_fast_run_has_a_trail_as_long_as_a_frame() {
        let mut desk = desk();
        desk.apply(Action::Speed(8), 0.0);
        assert_eq!(desk.look().tail, 64);
        desk.apply(Action::PlayPause, 0.0);
        assert_eq!(desk.look().tail, 1667);
        desk.transport.set_speed(1e9);
        assert_eq!(desk.look().tail, 16_666_667, "whatever the speed, nothing is skipped");
        assert_eq!(desk.tail(), 64);
    }

    #[test]
    fn a_part_of_the_strip_is_a_part_of_the_whole_and_the_playhead_turns_its_pages() {
        let mut desk = desk();
        let whole = desk.strip(100).to_vec();
        desk.show_stretch(Stretch::default().closer(2.0, 0.0, 1000));
        assert_eq!(desk.stretch().references(1000), 0..500);
        // As wide columns of half the trace are those of the first half of all.
        assert_eq!(desk.strip(50), &whole[..50]);
        desk.transport.jump(730.0);
        desk.refresh().expect("in memory");
        let (_, info) = desk.drawn().expect("just drawn");
        assert!(info.stretch.shows(0.73) && info.stretch == desk.stretch(), "{:?}", info.stretch);
        // Who looks elsewhere while nothing plays is left there.
        desk.show_stretch(Stretch::default().closer(10.0, 0.0, 1000));
        desk.refresh().expect("in memory");
        assert_eq!(desk.stretch().references(1000), 0..100);
        desk.transport.jump(731.0);
        desk.refresh().expect("in memory");
        assert!(desk.stretch().shows(0.731));
    }
}
