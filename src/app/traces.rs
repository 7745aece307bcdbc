//! The traces of a window: the one that is shown, and the one that is on its way and takes its place once it can be shown.

use super::against::{Against, Comparing};
use super::answering::{self, Answering};
use super::arrangement::Arrangement;
use super::clips::{self, Recording};
use super::desk::Desk;
use super::fault::Fault;
use super::indexing::{Load, Message, Report, Simulate, Task};
use super::layouts::NamedLayout;
use super::lives;
use super::notes::Beside;
use super::output::Output;
use super::seen::Asked;
use super::story_player::StoryPlayer;
use crate::axis::Position;
use crate::overlay::{Parts, StripKind, Studio};
use crate::reference::ReferenceSource;
use crate::scene::palette::Theme;
use crate::scene::{Choice, View};
use crate::sim::config::HierarchyConfig;
use crate::timeline::ClockKind;
use crate::trace::Format;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// Writes a picture (reference, width and height, RGBA rows) and gives the file's path.
pub type Save = Box<dyn FnMut(u64, [u32; 2], &[u8]) -> anyhow::Result<PathBuf>>;

/// Writes caches and gives the file's path.
pub type SaveCaches = Box<dyn FnMut(&HierarchyConfig) -> anyhow::Result<PathBuf>>;

/// What somebody asks to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The trace in this file.
    File(PathBuf),
    /// The bundled trace of this name.
    Lesson(String),
    /// This text, which somebody copied from a trace.
    Text(String),
    /// What this program does, with its arguments.
    Program(Vec<String>),
}

/// Bytes by which a text is told from others.
const HEAD: usize = 1 << 16;

impl Wanted {
    /// What somebody pasted, where it begins as the text of a trace does.
    pub(super) fn pasted(text: &str) -> Option<Self> {
        // An address alone is more likely to be a number that somebody looks for.
        let is_trace = text.trim().contains('\n') && Format::of(&text.as_bytes()[..text.len().min(HEAD)]).is_some();
        is_trace.then(|| Self::Text(text.to_owned()))
    }
}

/// Makes a trace of what is wanted. It is asked on the window's thread, so what takes time is left to [`Trace::load`].
pub type Opener = Box<dyn FnMut(&Wanted) -> anyhow::Result<Trace>>;

/// A trace that is to be opened.
pub struct Trace {
    /// What it is called while it is read.
    pub name: String,
    /// Opens the trace, on a thread of its own.
    pub load: Load,
    /// Writes stills.
    pub save: Save,
    /// Simulates other caches, on a thread of its own.
    pub simulate: Simulate,
    /// Writes caches.
    pub save_caches: SaveCaches,
    /// Where a program is recorded: counts up in it ask the program to end.
    pub stops: Option<Arc<AtomicU32>>,
    /// How it is shown at first.
    pub first: First,
}

/// How a trace is shown at first.
pub struct First {
    /// How the picture looks; speed and phase are the playhead's.
    pub view: View,
    /// Regions that are shown.
    pub choice: Choice,
    /// Parts that are shown.
    pub parts: Parts,
    /// What the panes show at first; none: one pane, with what suits the trace.
    pub panes: Arrangement,
    /// The layout, in place of panes.
    pub layout: Option<NamedLayout>,
    /// How many times as large as usual type is.
    pub text_scale: f32,
    /// The element that is pinned, as people write it.
    pub pin: Option<String>,
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
    /// What it is compared with.
    pub against: Option<Against>,
    /// How the window is coloured.
    pub theme: Theme,
    /// What the strip tells.
    pub strip: StripKind,
    /// What all of this was asked for by.
    pub asked: Asked,
}

/// Speed where the length is not known.
const FOLLOWED: f64 = 300.0;

/// Speed where none is given: the trace in a minute, within what the eye can follow; but a long one in two minutes.
fn default_speed(len: u64) -> f64 {
    (len as f64 / 60.0).clamp(4.0, 300.0).max(len as f64 / 120.0).round()
}

impl First {
    /// As the window is divided and type is sized now, where nothing else was asked for; `again`: it is the same program once more.
    fn like(mut self, now: &Desk, again: bool) -> Self {
        if self.layout.is_none() && self.panes.is_empty() {
            // There is nothing yet to compare the next one with.
            self.layout = now.layout_now().filter(|layout| *layout != NamedLayout::Compare);
            if again && self.layout.is_none() {
                self.panes = now.panes.arrangement().without_comparison();
            }
        }
        if self.text_scale == 1.0 {
            self.text_scale = now.text_scale;
        }
        self.view.calm |= now.session.calm();
        self
    }

    fn desk(self, studio: Studio) -> Desk {
        let usual = match studio.tasks() {
            // All that is shown in half a minute.
            Some(_) => {
                let shown = studio.first_stretch().ticks(studio.axis());
                (shown.end - shown.start) as f64 / 30.0
            }
            // Of one that still comes nobody knows how long it will be.
            None => studio.timeline().total().map_or(FOLLOWED, default_speed),
        };
        let tick =
            if studio.tasks().is_some() && self.tick == Position::START { studio.first_position() } else { self.tick };
        let camera = self.view.camera;
        let mut desk = Desk::new(studio, self.view, self.parts, &[], tick, usual);
        desk.text_scale = self.text_scale;
        desk.theme = self.theme;
        desk.session.set_strip_kind(self.strip);
        match self.layout {
            Some(layout) => {
                desk.lay_out(layout, 0.0);
                desk.pane_mut().set_camera(camera);
            }
            None => desk.divide(&self.panes, camera),
        }
        desk.sort_panes(&self.asked.state.sorts);
        desk.set_clock(self.clock);
        desk.choose(self.choice);
        if let Some(speed) = self.speed {
            desk.transport.set_speed(speed);
        }
        if let Some(words) = &self.pin {
            desk.pin_named(words, 0.0);
        }
        desk.opened_with(self.asked);
        desk.attach(self.beside);
        if self.follow {
            desk.transport.follow();
        } else if self.play && (!desk.transport.at_end() || desk.transport.axis().grows) {
            desk.transport.toggle();
        }
        desk
    }
}

/// A trace that is shown.
pub(super) struct Shown {
    /// What it is called.
    pub(super) name: String,
    /// The video under way.
    pub(super) recording: Option<Recording>,
    pub(super) desk: Desk,
    /// What the program prints of which it is; `None` where none is recorded.
    pub(super) output: Option<Output>,
    pub(super) save: Save,
    pub(super) save_caches: SaveCaches,
    pub(super) simulate: Simulate,
    /// The recording of the same program that was shown before: its file is still open where it was written over.
    pub(super) earlier: Option<Arc<dyn ReferenceSource>>,
    /// The newest simulation of other caches.
    simulation: Option<Task>,
    /// The newest reading of the life of what is pinned.
    life: Option<Task>,
    /// What is looked for in the trace just now: something, and something that takes long.
    pub(super) answering: [Option<Answering>; 2],
    /// What it is compared with.
    pub(super) comparing: Option<Comparing>,
    task: Task,
}

/// A trace of which nothing can be shown yet.
pub(super) struct Coming {
    /// What it is called.
    pub(super) name: String,
    /// References done, and all.
    pub(super) progress: (u64, u64),
    /// As of [`Shown`].
    pub(super) output: Option<Output>,
    first: First,
    save: Save,
    simulate: Simulate,
    save_caches: SaveCaches,
    task: Task,
}

/// See the module.
#[derive(Default)]
pub(super) struct Traces {
    pub(super) shown: Option<Shown>,
    pub(super) coming: Option<Coming>,
    /// The storyboard that is played, or that somebody will come back to.
    pub(super) story: Option<StoryPlayer>,
    /// Whether it is what is seen.
    pub(super) telling: bool,
}

/// What a message came to.
#[derive(Debug)]
pub(super) enum Taken {
    /// Nothing that shows.
    Nothing,
    /// Something else is to be drawn.
    Changed,
    /// Another trace is shown.
    Opened,
    /// A trace cannot be opened, or be read any more.
    Failed(anyhow::Error),
}

impl Traces {
    /// Begins to open a trace, in place of one that is on its way.
    ///
    /// # Errors
    /// When the system has no thread.
    pub(super) fn begin(
        &mut self,
        trace: Trace,
        post: impl Fn(Message) -> bool + Send + 'static,
    ) -> std::io::Result<()> {
        let Trace { name, load, save, simulate, save_caches, stops, first } = trace;
        let task = Task::begin("the trace could not be indexed", load, post)?;
        let output = stops.map(Output::of_running);
        self.coming = Some(Coming { name, progress: (0, 0), output, first, save, simulate, save_caches, task });
        Ok(())
    }

    /// The storyboard, where it is what is seen.
    pub(super) fn told(&mut self) -> Option<&mut StoryPlayer> {
        self.story.as_mut().filter(|_| self.telling)
    }

    /// What is shown is left: its notes are kept.
    pub(super) fn leave(&mut self) {
        if let Some(shown) = &mut self.shown {
            shown.desk.leave();
        }
    }

    /// The desk of the trace that is shown.
    pub(super) fn desk(&mut self) -> Option<&mut Desk> {
        self.shown.as_mut().map(|shown| &mut shown.desk)
    }

    /// Takes what a task told; of tasks that nobody wants any more nothing is taken.
    pub(super) fn take(&mut self, message: Message, now: f64) -> Taken {
        if let Some(coming) = self.coming.take_if(|coming| coming.task.told(&message)) {
            return self.come(coming, message.said);
        }
        let Some(shown) = &mut self.shown else { return Taken::Nothing };
        if shown.recording.as_ref().is_some_and(|recording| recording.told(&message)) {
            let changed = clips::take(&mut shown.recording, message.said, &mut shown.desk, now);
            return if changed { Taken::Changed } else { Taken::Nothing };
        }
        if shown.task.told(&message) {
            match message.said {
                // What is shown does not tell of it.
                Ok(Report::Progress(..) | Report::Life(_) | Report::Story(_) | Report::Answer(..)) => {
                    return Taken::Nothing;
                }
                Ok(Report::Ready(studio)) => shown.desk.replace(studio),
                Ok(Report::Words(words)) => shown.desk.say(words, now),
                Ok(Report::Fault(what, why)) => shown.desk.fault = Some(Fault::new(what, &why)),
                Ok(Report::Printed(bytes)) => shown.output.get_or_insert_default().print(&bytes),
                Ok(Report::Ended(words)) => {
                    shown.output.get_or_insert_default().end(words.clone());
                    let next = match shown.desk.has_earlier {
                        true => "A compares it with the recording before",
                        false => "Space plays it from the start, G shows what it printed",
                    };
                    shown.desk.say_for(format!("{words}; {next}, Q tells what would help"), 8.0, now);
                }
                Err(error) => return Taken::Failed(error),
            }
            return Taken::Changed;
        }
        if shown.simulation.as_ref().is_some_and(|task| task.told(&message)) {
            match message.said {
                Ok(Report::Progress(done, all)) => shown.desk.simulating(done, all),
                Ok(Report::Ready(studio)) => shown.desk.recache(studio, now),
                Ok(Report::Life(_) | Report::Story(_) | Report::Answer(..) | Report::Fault(..)) => {
                    return Taken::Nothing;
                }
                Ok(Report::Words(words)) => shown.desk.say(words, now),
                // No program is behind a simulation.
                Ok(Report::Printed(_) | Report::Ended(_)) => {}
                Err(error) => shown.desk.refuse(format!("{error:#}"), now),
            }
            return Taken::Changed;
        }
        if shown.life.as_ref().is_some_and(|task| task.told(&message)) {
            match message.said {
                Ok(Report::Life(life)) => shown.desk.take_life(life),
                Ok(_) => return Taken::Nothing,
                Err(error) => shown.desk.say(format!("{error:#}"), now),
            }
            return Taken::Changed;
        }
        let is_told = |answering: &&mut Option<Answering>| answering.as_ref().is_some_and(|some| some.told(&message));
        if let Some(answering) = shown.answering.iter_mut().find(is_told) {
            let changed = answering::take(answering, message.said, &mut shown.desk, now);
            return if changed { Taken::Changed } else { Taken::Nothing };
        }
        if shown.comparing.as_ref().is_some_and(|comparing| comparing.told(&message)) {
            let Shown { comparing: Some(comparing), desk, .. } = shown else { return Taken::Nothing };
            return if comparing.take(message.said, desk, now) { Taken::Changed } else { Taken::Nothing };
        }
        Taken::Nothing
    }

    /// Takes what the one on its way told.
    fn come(&mut self, mut coming: Coming, said: anyhow::Result<Report>) -> Taken {
        match said {
            Ok(Report::Ready(studio)) => {
                let Coming { name, mut first, output, save, simulate, save_caches, task, .. } = coming;
                let comparing = first.against.take().map(Comparing::new);
                let again = output.is_some() && self.shown.as_ref().is_some_and(|before| before.name == name);
                let first = match self.desk() {
                    Some(before) => first.like(before, again),
                    None => first,
                };
                let guide = self.desk().and_then(|before| before.guide);
                let earlier = self.shown.as_ref().filter(|before| output.is_some() && before.output.is_some());
                let earlier = earlier.map(|before| Arc::clone(before.desk.studio().timeline().source()));
                let mut desk = first.desk(studio);
                (desk.guide, desk.has_earlier) = (guide, earlier.is_some());
                self.leave();
                self.telling = false;
                // The one before is told to stop here.
                let (simulation, life, answering) = (None, None, [None, None]);
                let recording = None;
                self.shown = Some(Shown {
                    name,
                    recording,
                    desk,
                    output,
                    save,
                    save_caches,
                    simulate,
                    earlier,
                    simulation,
                    life,
                    answering,
                    comparing,
                    task,
                });
                return Taken::Opened;
            }
            Ok(Report::Progress(done, all)) => coming.progress = (done, all),
            Ok(Report::Story(story)) => {
                self.story = Some(StoryPlayer::new(*story));
                self.telling = true;
                return Taken::Opened;
            }
            // Before anything can be shown there is nowhere to say it; whoever says it says it on the terminal too.
            Ok(Report::Words(_) | Report::Fault(..) | Report::Life(_) | Report::Answer(..)) => {}
            Ok(Report::Printed(bytes)) => coming.output.get_or_insert_default().print(&bytes),
            Ok(Report::Ended(words)) => coming.output.get_or_insert_default().end(words),
            Err(error) => return Taken::Failed(error),
        }
        self.coming = Some(coming);
        Taken::Changed
    }
}

impl Shown {
    /// Simulates the trace under other caches; the simulation before is not wanted any more.
    pub(super) fn simulate(
        &mut self,
        config: HierarchyConfig,
        post: impl Fn(Message) -> bool + Send + 'static,
        now: f64,
    ) {
        let source = Arc::clone(self.desk.studio().timeline().source());
        let simulate = Arc::clone(&self.simulate);
        let work: Load = Box::new(move |report| simulate(source, config, report));
        match Task::begin("the caches could not be simulated", work, post) {
            Ok(task) => self.simulation = Some(task),
            Err(error) => self.desk.refuse(format!("the system has no thread to simulate on: {error}"), now),
        }
    }

    /// Has the life read of what was pinned just now; the reading before is not wanted any more.
    pub(super) fn read_life(&mut self, post: impl Fn(Message) -> bool + Send + 'static, now: f64) {
        let Some((timeline, bytes)) = self.desk.wanted_life() else { return };
        match Task::begin("the life of what is pinned could not be read", lives::read(timeline, bytes), post) {
            Ok(task) => self.life = Some(task),
            Err(error) => self.desk.say(format!("the system has no thread to read its life on: {error}"), now),
        }
    }
}

#[cfg(test)]
mod tests;
