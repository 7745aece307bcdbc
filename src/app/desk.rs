//! The viewer without its window: a session, a playhead, panes, and what lies over them. Everything here can be tested without a
//! display; the clock comes in as a number.

use super::arrangement::Arrangement;
use super::caches::CacheEdit;
use super::caches_panel::{CacheCard, CardAsks};
use super::fault::Fault;
use super::finder::Finder;
use super::guide::Guide;
use super::keys::Action;
use super::layouts::NamedLayout;
use super::notes::NoteBook;
use super::pane::Pane;
use super::panes::{Panes, Side};
use super::seen::Asked;
use super::session::Session;
use super::transport::{PlayRange, Transport, longer, shorter};
use crate::axis::{Axis, AxisUnit, Position};
use crate::overlay::exhibits::{self, ExhibitEntry, Gesture, Subject};
use crate::overlay::pen::rate;
use crate::overlay::{Area, Layout, Offscreen, Parts, Shot, ShotError, Strip, Studio};
use crate::reference::SourceError;
use crate::render::{Bar, Context};
use crate::scene::layout::Radii;
use crate::scene::palette::Theme;
use crate::scene::{Camera, Choice, View};
use crate::sim::config::HierarchyConfig;
use crate::tasks::{TaskBook, TaskIndex};
use crate::timeline::{ClockKind, StepBy};
use crate::units::{grouped, parse_seconds};
use std::path::PathBuf;
use std::sync::Arc;

/// What the window has to do itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Into full screen or back.
    FullScreen,
    /// Save the picture.
    Still,
    /// Record the program once more.
    RecordAgain,
    /// Record what the pane shows, or end that.
    Clip,
    /// Simulate the trace under these caches, and show it so.
    Simulate(Box<HierarchyConfig>),
    /// Write these caches to a file.
    SaveCaches(Box<HierarchyConfig>),
    /// Turn to the start page.
    Open,
    /// Open the file whose path was copied.
    Paste,
    /// Compare with the trace in this file.
    Against(PathBuf),
    /// Compare with the recording of the same program before this one.
    Earlier,
    /// Open or close what the recorded program prints.
    Output,
    /// Leave.
    Quit,
}

/// The state of the viewer.
pub struct Desk {
    /// What is open.
    pub session: Session,
    /// The playhead.
    pub transport: Transport,
    /// What shows it.
    pub panes: Panes,
    /// The parts that were not hidden on the command line.
    pub(super) parts: Parts,
    /// What lies under the words of the strip where it is no pane's, points of the window.
    pub bars: Vec<Bar>,
    /// The list of keys is open.
    pub sheet: bool,
    /// The list of words is open.
    pub words: bool,
    /// What was typed so far where the reference number stands; `None` = nobody types.
    pub typed: Option<String>,
    /// The card of the caches, once it was opened.
    pub(super) caches: Option<CacheCard>,
    /// Bookmarks and notes.
    pub(super) notes: NoteBook,
    /// What the window was opened with.
    pub(super) asked: Asked,
    /// What is to be put on the clipboard.
    pub(super) copied: Option<String>,
    /// The finder, while it is open.
    pub(super) finder: Option<Finder>,
    /// What it is compared with, as it was named, and what two traces were asked to go in step by.
    pub(super) against: Option<(String, Option<StepBy>)>,
    /// Up to when the next Escape quits, seconds of the window's clock.
    quits_until: f64,
    /// Other traces that there are to compare with: files, and lessons as they are named where a file is expected.
    pub(super) others: Vec<PathBuf>,
    /// The same program was recorded before, and shown.
    pub(super) has_earlier: bool,
    /// How all of the window is coloured.
    pub theme: Theme,
    /// The hints, while they are shown.
    pub(super) guide: Option<Guide>,
    /// What was done last, for the hints.
    pub(super) acted: Option<Action>,
    /// The layout that was asked for last; panes may be others since.
    pub(super) layout: Option<NamedLayout>,
    /// How many times as large as usual type is wanted, 0.75 to 3.
    pub text_scale: f32,
    /// Why what is shown is not what its file holds now.
    pub(super) fault: Option<Fault>,
    /// Tasks that were chosen, and how many of them were when the one was that is shown.
    pub(super) chosen_before: Vec<TaskIndex>,
    pub(super) chosen_at: usize,
    toast: Option<(String, f64)>,
}

/// Seconds that a message stays.
pub const TOAST_SECONDS: f64 = 3.0;
/// Seconds within which a second Escape quits.
pub const QUIT_SECONDS: f64 = TOAST_SECONDS;

impl Desk {
    /// Paused at `position`, at `speed` references a second, with a pane for each of `rows`; for none of them, with the exhibit in
    /// which the trace is read best.
    #[must_use]
    pub fn new(
        studio: Studio,
        view: View,
        parts: Parts,
        rows: &[&'static ExhibitEntry],
        position: Position,
        speed: f64,
    ) -> Self {
        let transport = Transport::new(studio.axis(), position, speed);
        let panes = match rows {
            [] => Panes::arranged(&super::layouts::suited(&studio), view.camera, &studio),
            rows => Panes::new(rows, view.camera, &studio),
        };
        let session = Session::new(studio, view);
        let mut desk = Self {
            session,
            transport,
            panes,
            parts,
            bars: Vec::new(),
            sheet: false,
            words: false,
            typed: None,
            caches: None,
            notes: NoteBook::default(),
            asked: Asked::default(),
            copied: None,
            finder: None,
            against: None,
            quits_until: f64::NEG_INFINITY,
            others: Vec::new(),
            has_earlier: false,
            theme: Theme::default(),
            guide: None,
            acted: None,
            layout: None,
            text_scale: 1.0,
            fault: None,
            chosen_before: Vec::new(),
            chosen_at: 0,
            toast: None,
        };
        desk.grow();
        desk.transport.jump(position);
        desk
    }

    /// Takes more of the same trace, or its end; the playhead stays where it is.
    pub fn replace(&mut self, studio: Studio) {
        self.fault = None;
        let usual = super::layouts::is_suited(&self.panes, self.session.studio());
        self.take(studio, false);
        // A kernel that tells values since it was edited has a pane for them, where the panes are the usual ones.
        if usual && !super::layouts::is_suited(&self.panes, self.session.studio()) {
            self.divide(&Arrangement::default(), Camera::default());
        }
    }

    fn take(&mut self, studio: Studio, compares: bool) {
        let before = self.session.studio();
        let untouched = self.transport.position() == before.first_position();
        let tasks = before.tasks().cloned();
        self.session.replace(studio, compares);
        let studio = self.session.studio();
        if let (Some(before), Some(after)) = (tasks, studio.tasks()) {
            let again = |task: &TaskIndex| after.again(&before, *task);
            self.chosen_before = self.chosen_before.iter().filter_map(again).collect();
            self.chosen_at = self.chosen_at.min(self.chosen_before.len());
            if untouched {
                self.transport.grow(studio.axis());
                self.transport.jump(studio.first_position());
            }
        }
        self.panes.iter_mut().for_each(|pane| pane.reopen(studio));
        self.grow();
    }

    fn grow(&mut self) {
        self.transport.grow(self.session.studio().axis());
    }

    /// Shows these regions.
    pub fn choose(&mut self, choice: Choice) {
        self.session.choose(choice);
    }

    /// The trace under its caches.
    #[must_use]
    pub fn studio(&self) -> &Studio {
        self.session.studio()
    }

    /// What time stands for.
    #[must_use]
    pub fn clock(&self) -> ClockKind {
        self.session.clock().kind()
    }

    /// Another clock; the speed becomes one that takes as long for the whole trace.
    pub fn set_clock(&mut self, kind: ClockKind) {
        self.session.set_clock(kind, &mut self.transport);
    }

    /// The pane that keys are for.
    #[must_use]
    pub fn pane(&self) -> &Pane {
        self.panes.focused()
    }

    /// As [`Desk::pane`], to be changed.
    pub fn pane_mut(&mut self) -> &mut Pane {
        self.panes.focused_mut()
    }

    /// The shot that a pane shows now.
    #[must_use]
    pub fn shot(&self, pane: &Pane) -> Shot {
        pane.shot(&self.session, &self.transport, self.parts)
    }

    /// Where the strip and the controls stand in a window of `width` x `height` points with `reserved` points of controls at the
    /// bottom, and everything else in a picture that fills it.
    #[must_use]
    pub fn layout(&self, width: u32, height: u32, reserved: u32) -> Layout {
        Layout::new(width.max(160), height.max(120), reserved as f32, &self.parts)
    }

    /// Lets `seconds` pass.
    pub fn advance(&mut self, seconds: f64) -> bool {
        let Self { transport, session, .. } = self;
        transport.advance_by(seconds, |position, time| session.clock().ahead(position, time))
    }

    /// Brings the panes that are seen up to date, all or, where the trace cannot be read, none.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn refresh(&mut self) -> Result<(), SourceError> {
        let Self { session, transport, panes, parts, .. } = self;
        session.follow(transport);
        let history = panes.seen().map(|(_, pane)| pane.history(session, transport)).max().unwrap_or(0);
        session.studio_mut().keep(history);
        let mut taken = Vec::new();
        for pane in panes.seen_mut() {
            let shot = pane.shot(session, transport, *parts);
            taken.push(pane.take(session.studio_mut(), shot)?);
        }
        for (pane, taken) in panes.seen_mut().zip(taken) {
            if let Some(taken) = taken {
                pane.install(taken);
            }
        }
        Ok(())
    }

    /// Goes back to what is drawn already, where another moment cannot be had, and says `words`. `false`: nothing is drawn.
    pub fn stay(&mut self, words: String, now: f64) -> bool {
        let Some(position) = self.panes.seen().find_map(|(_, pane)| pane.position()) else { return false };
        self.transport.jump(position);
        let Self { session, transport, panes, parts, .. } = self;
        // Until something else is asked for, this is what is shown.
        for pane in panes.seen_mut() {
            let shot = pane.shot(session, transport, *parts);
            pane.stay(shot);
        }
        self.say(words, now);
        true
    }

    /// The strip in `columns` columns.
    pub fn strip(&mut self, columns: usize) -> &Strip {
        self.session.strip(columns)
    }

    /// The window's title: `orrery - 2,613 of 8,448 - 16×16 matrix multiply`.
    #[must_use]
    pub fn title(&self) -> String {
        let axis = self.transport.axis();
        let (tick, len) = (axis.words(self.transport.tick()), axis.length());
        format!("orrery - {tick} of {len} - {}", crate::shown::name(&self.studio().tables().title))
    }

    /// Says something for [`TOAST_SECONDS`] from `now`.
    pub fn say(&mut self, words: impl Into<String>, now: f64) {
        self.say_for(words, TOAST_SECONDS, now);
    }

    /// Says something that takes longer to read.
    pub(super) fn say_for(&mut self, words: impl Into<String>, seconds: f64, now: f64) {
        self.toast = Some((words.into(), now + seconds));
    }

    /// What is being said at `now`, and for how many seconds still.
    #[must_use]
    pub fn toast(&self, now: f64) -> Option<(&str, f64)> {
        self.toast.as_ref().map(|(words, end)| (words.as_str(), end - now)).filter(|&(_, left)| left > 0.0)
    }

    /// Goes to the reference that was typed: `2613`, `2,613`, `50%`. Words that are no number are answered.
    pub fn go_to(&mut self, typed: &str, now: f64) {
        let is_time = |book: &&Arc<TaskBook>| matches!(book.set().unit(), AxisUnit::Seconds { .. });
        let is_share = typed.trim().ends_with('%') || typed.trim().is_empty();
        if let Some(book) = self.studio().tasks().filter(is_time).filter(|_| !is_share) {
            let ticks_per_second = book.set().ticks_per_second() as f64;
            return match parse_seconds(typed) {
                Some(seconds) => self.transport.jump(Position::of(seconds * ticks_per_second)),
                None => self.say(format!("“{typed}” is no time: expected one such as 8.97us, or 50%"), now),
            };
        }
        let plain: String = typed.chars().filter(|c| !matches!(c, ',' | ' ' | '_' | '\'')).collect();
        let position = match plain.strip_suffix('%') {
            Some(share) => share.parse::<f64>().ok().map(|p| (p / 100.0 * self.transport.axis().total as f64).floor()),
            None => plain.parse::<f64>().ok(),
        };
        match position.filter(|p| p.is_finite()) {
            Some(position) => {
                let (axis, position) = (self.transport.axis(), Position::of(position));
                self.transport.jump(position);
                if position > axis.end() && axis.grows {
                    self.say(format!("{} references so far: reading goes on", grouped(axis.len)), now);
                }
            }
            None if plain.is_empty() => {}
            None => {
                let Axis { unit, total, .. } = self.transport.axis();
                self.say(format!("“{typed}” is no number of {}: expected 0 to {}", unit.name(), grouped(total)), now);
            }
        }
    }

    /// Does what a key or a button says; what only the window can do comes back.
    pub fn apply(&mut self, action: Action, now: f64) -> Option<Effect> {
        self.acted = Some(action);
        if self.studio().tasks().is_some() && self.apply_to_tasks(action, now) {
            return None;
        }
        let closes = [Action::Words, Action::Sheet, Action::Escape, Action::Finder, Action::Quit, Action::FullScreen];
        if self.words && !closes.contains(&action) {
            // Who types a word that is looked for does not mean what lies behind the list.
            return None;
        }
        match action {
            Action::PlayPause => self.transport.toggle(),
            Action::Step(by) => self.transport.step(by),
            Action::Miss(forward) => self.seek_miss(forward, now),
            Action::Start => self.transport.jump(Position::START),
            Action::End => self.transport.follow(),
            Action::Faster => self.transport.faster(),
            Action::Slower => self.transport.slower(),
            Action::Speed(preset) => self.transport.set_speed(self.transport.preset(preset)),
            Action::Clock => {
                self.set_clock(self.clock().next());
                let (speed, kind) = (rate(self.transport.speed()), self.clock());
                self.say(format!("clock: {}, {speed} {}", kind.name(), kind.unit()), now);
            }
            Action::Eviction(forward) => self.seek_eviction(forward, now),
            Action::Line(forward) if self.pinned().is_some() => self.seek_touch(forward, now),
            Action::Line(forward) => self.seek_same_line(forward, now),
            Action::Mark(forward) => self.seek_mark(forward, now),
            Action::Compare if self.has_earlier && self.studio().baseline().is_none() => return Some(Effect::Earlier),
            Action::Compare => self.compare(now),
            Action::Machine => self.turn_machine(now),
            Action::CopyNumbers => self.copy_numbers(now),
            Action::Inspect => self.inspect(now),
            Action::Advice => self.open_beside("advice", now),
            Action::LookAtPin => self.look_at_pin(now),
            Action::Bookmark => self.name_here(now),
            Action::ToBookmark(forward) => self.seek_bookmark(forward, now),
            Action::Notes => self.turn_notes(now),
            Action::GoBack => self.go_back(now),
            Action::CopyCommand => self.copy_command(now),
            Action::Finder => self.turn_finder(),
            Action::Point(first) => self.turn_point(first, now),
            Action::Loop => {
                self.transport.turn_loop();
                self.say(if self.transport.loops() { "over and over" } else { "once" }, now);
            }
            Action::Tail(true) => self.session.set_tail(longer(self.session.tail())),
            Action::Tail(false) => self.session.set_tail(shorter(self.session.tail())),
            Action::Closer(factor) => self.pane_mut().look(Gesture::Closer(f32::from(factor) / 100.0, None)),
            Action::Whole => self.pane_mut().look(Gesture::Whole),
            Action::Caches => self.turn_caches(now),
            Action::Undo(again) => {
                let card = self.caches.as_mut();
                return card.is_some_and(|card| card.edit.undo(again)).then(|| self.simulate()).flatten();
            }
            Action::Exhibit => self.show(exhibits::after(self.pane().row(), Subject::of(self.studio())), now),
            Action::Split(side) => self.split(side, now),
            Action::Close => {
                if !self.panes.close(self.panes.focus()) {
                    self.say("this is the only pane", now);
                }
            }
            Action::NextPane => self.panes.next(),
            Action::Layout(layout) => self.lay_out(layout, now),
            Action::Text(by) => self.turn_type(by, now),
            Action::Region(up) => self.move_region(up, now),
            Action::Panels => self.pane_mut().turn_panels(),
            Action::Strip => {
                let timeline = self.studio().timeline();
                let rings = timeline.start().caches().map(|cache| timeline.start().info(cache).depth).max();
                let classed = timeline.outcomes().is_some();
                let kind = self.session.strip_kind().next(rings.map_or(0, |depth| usize::from(depth) + 1), classed);
                self.session.set_strip_kind(kind);
            }
            Action::Radii => {
                self.session.set_radii(self.session.radii().next());
                let words = match self.session.radii() {
                    Radii::Fit => "rings: as thick as they fit",
                    Radii::Scale => "rings: area as capacity",
                };
                self.say(words, now);
            }
            Action::Theme => {
                self.theme = self.theme.next();
                self.say(format!("theme: {}", self.theme.name()), now);
            }
            Action::Sheet => (self.sheet, self.words) = (!self.sheet, false),
            Action::Words => (self.words, self.sheet) = (!self.words, false),
            Action::Escape if self.sheet || self.words => (self.sheet, self.words) = (false, false),
            // Their fields have the keys, but not before they were drawn.
            Action::Escape if self.finder.is_some() => self.turn_finder(),
            Action::Escape if self.notes.naming.is_some() => self.named(false, now),
            Action::Escape if self.notes.open => self.turn_notes(now),
            Action::Escape if self.caches.as_ref().is_some_and(|card| card.open) => self.turn_caches(now),
            Action::Escape if self.guide.is_some() => self.guide = None,
            Action::Escape if self.pinned().is_some() => self.pin(None),
            // Who pressed it once too often to close a card has lost nothing.
            Action::Escape if now > self.quits_until => {
                self.quits_until = now + QUIT_SECONDS;
                let kept = if self.notes.keeps() { "; R comes back to here" } else { "" };
                self.say(format!("Esc once more quits, and so does Ctrl + Q{kept}"), now);
            }
            Action::Escape | Action::Quit => return Some(Effect::Quit),
            Action::FullScreen => return Some(Effect::FullScreen),
            Action::Still => return Some(Effect::Still),
            Action::Clip => return Some(Effect::Clip),
            Action::Open => return Some(Effect::Open),
            Action::Paste => return Some(Effect::Paste),
            Action::Output => return Some(Effect::Output),
            Action::RecordAgain => return Some(Effect::RecordAgain),
        }
        None
    }

    /// Puts the numbers of the pane that keys are for on the clipboard.
    fn copy_numbers(&mut self, now: f64) {
        let csv = self.pane().csv(self.session.studio());
        match csv.lines().count() {
            0 | 1 => self.say("this pane has no numbers to copy", now),
            rows => {
                self.copied = Some(csv);
                self.say(format!("copied {} rows as comma-separated values", grouped(rows as u64 - 1)), now);
            }
        }
    }

    /// Opens another pane beside the one that keys are for.
    fn split(&mut self, side: Side, now: f64) {
        let Self { session, panes, .. } = self;
        if !panes.split(panes.focus(), side, session.studio()) {
            self.say("there is no room for more panes", now);
        }
    }

    /// Shows another exhibit in the pane that keys are for.
    pub fn show(&mut self, row: &'static ExhibitEntry, now: f64) {
        let Self { session, panes, .. } = self;
        panes.focused_mut().show(row, session.studio());
        self.say(format!("{}: {}", row.name, row.what), now);
    }

    /// The picture of the pane that keys are for, as large as `offscreen`, without controls.
    ///
    /// # Errors
    /// When the trace cannot be read, or the picture not be drawn.
    pub fn still(&mut self, offscreen: &mut Offscreen, context: &Context) -> Result<Vec<u8>, ShotError> {
        offscreen.set_scale(self.type_size());
        let size = offscreen.points();
        let Self { session, transport, panes, parts, .. } = self;
        panes.focused_mut().still(session, transport, *parts, |studio, exhibit, shot| {
            offscreen.still(context, studio, exhibit, &Shot { target: size, area: Area::whole(size), ..shot })
        })
    }

    /// Opens the card of the caches, or closes it.
    pub(super) fn turn_caches(&mut self, now: f64) {
        let timeline = self.session.studio().timeline();
        if !timeline.is_whole() {
            return self.say("the trace is still being read: its caches can be changed when all of it is there", now);
        }
        let config = timeline.config();
        let card = self.caches.get_or_insert_with(|| CacheCard::new(CacheEdit::new(config.clone())));
        card.open = !card.open;
    }

    /// Does what the card of the caches asks for.
    pub(super) fn asked(&mut self, asks: CardAsks, now: f64) -> Option<Effect> {
        match asks {
            CardAsks::Simulate => self.simulate(),
            CardAsks::Compare => {
                self.compare_with_these(now);
                None
            }
            CardAsks::Save => {
                let card = self.caches.as_ref()?;
                Some(Effect::SaveCaches(Box::new(card.edit.now().clone())))
            }
        }
    }

    /// Has the caches of the card simulated.
    fn simulate(&mut self) -> Option<Effect> {
        let card = self.caches.as_mut()?;
        card.progress = Some((0, 0));
        Some(Effect::Simulate(Box::new(card.edit.now().clone())))
    }

    /// How far the simulation of other caches is.
    pub fn simulating(&mut self, done: u64, all: u64) {
        if let Some(card) = &mut self.caches {
            card.progress = Some((done, all));
        }
    }

    /// Shows the trace under other caches, at the same place: once all of it is simulated.
    pub fn recache(&mut self, studio: Studio, now: f64) {
        let timeline = studio.timeline();
        if !timeline.is_whole() || timeline.len() < self.transport.axis().len {
            return;
        }
        if let Some(card) = &mut self.caches {
            card.progress = None;
        }
        let had = self.studio().baseline().is_some();
        let waits = self.layout_now() == Some(NamedLayout::Compare);
        self.take(studio, true);
        if !had && self.studio().baseline().is_some() {
            if waits {
                self.lay_out(NamedLayout::Compare, now);
            } else {
                self.say("A compares with the caches before", now);
            }
        }
    }

    /// Says why other caches cannot be simulated.
    pub fn refuse(&mut self, words: String, now: f64) {
        if let Some(card) = &mut self.caches {
            card.progress = None;
        }
        self.say(words, now);
    }

    /// Sets the in or the out point, or takes it away, and says what is played.
    fn turn_point(&mut self, first: bool, now: f64) {
        self.transport.mark(first);
        let number = |at: Position| grouped(at.tick());
        let words = match self.transport.range() {
            PlayRange { from: None, to: None } => "all of it is played".into(),
            PlayRange { from: Some(from), to: None } => format!("played from reference {}", number(from)),
            PlayRange { from: None, to: Some(to) } => format!("played up to reference {}", number(to)),
            PlayRange { from: Some(from), to: Some(to) } => {
                format!("played from reference {} up to {}; L for over and over", number(from), number(to))
            }
        };
        self.say(words, now);
    }
}

#[cfg(test)]
pub(super) mod tests;
