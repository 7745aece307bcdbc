//! A storyboard over its traces: each frame is a pure function of its number.

mod colors;
mod compile;
mod legs;
mod panels;
#[cfg(test)]
mod tests;
mod told;
mod track;

use super::StoryError;
use super::board::Storyboard;
use super::camera;
use super::values::{Counts, Run, Template, Told, counts_at};
use crate::axis::Position;
use crate::overlay::exhibits::{Arranged, ExhibitEntry, Sort};
use crate::overlay::lettering::{Lettering, PlacedLabel, QuizCard, Runs, Transition, Veil};
use crate::overlay::{Exhibit, Info, Shot, Strip, Studio, Taken};
use crate::reference::SourceError;
use crate::scene::palette::RegionColors;
use crate::scene::{Camera, View};
use crate::timeline::InStep;
use crate::units::to_f32;
use egui::Pos2;
use legs::Legs;
use track::{Track, Way};

/// A source and the numbers of its whole trace.
struct Cast {
    name: String,
    studio: Studio,
    /// Colours of its regions: those of the same names in other sources.
    colors: RegionColors,
    whole: Counts,
}

impl Cast {
    fn another(&self) -> Result<Self, SourceError> {
        let (name, colors, whole) = (self.name.clone(), self.colors.clone(), self.whole.clone());
        Ok(Self { name, studio: self.studio.another()?, colors, whole })
    }
}

/// One of a scene's pictures.
#[derive(Clone)]
struct Panel {
    /// Number of its source, and of its exhibit.
    source: usize,
    exhibit: usize,
    step: Step,
    /// Everything but position, speed and camera.
    shot: Shot,
    strip: Strip,
    /// Where the camera goes, each with when and how long, seconds; none where the exhibit has no rings.
    looks: Vec<(f64, f64, Look)>,
    /// What it follows.
    tracks: Vec<Track>,
}

/// How a picture goes in step with the first one.
#[derive(Clone)]
enum Step {
    /// At the same reference, or as marks and lines say.
    By(InStep),
    /// From its start to its end while the first goes from its own start to its own end.
    Share,
}

/// Where a camera looks.
#[derive(Clone, Copy, Debug)]
enum Look {
    At(Camera),
    /// At what the track of this number follows, so many times as close.
    Follow(usize, f32),
}

/// What a label or an outline is about.
#[derive(Clone, Debug)]
enum Mark {
    /// What has the label of this number in the view.
    Label(usize),
    /// World points.
    Points(Vec<[f32; 2]>),
}

/// Something from one time to another, seconds after the scene began.
#[derive(Clone)]
struct Timed<T> {
    from: f64,
    until: f64,
    what: T,
}

impl<T> Timed<T> {
    fn is_at(&self, time: f64) -> bool {
        (self.from..self.until).contains(&time)
    }
}

#[derive(Clone)]
struct Question {
    question: String,
    choices: Vec<String>,
    right: Option<usize>,
    pause: f64,
    seconds: f64,
    answer: Template,
}

#[derive(Clone)]
struct Scene {
    title: String,
    frames: u64,
    seconds: f64,
    legs: Option<Legs>,
    /// First and last tick, of the first picture.
    ticks: [u64; 2],
    panels: Vec<Panel>,
    /// Counts before the scene, by source; `None` where nobody asks.
    before: Vec<Option<Counts>>,
    captions: Vec<Timed<Template>>,
    labels: Vec<Timed<(Mark, Template)>>,
    highlights: Vec<Mark>,
    card: Option<(String, Template)>,
    quiz: Option<Question>,
    /// Seconds in which it appears; half of them the scene before goes in.
    fade: f64,
    /// How it appears.
    transition: Transition,
}

/// An exhibit of a source, with its rows in an order.
struct Opened {
    /// The number of the source.
    source: usize,
    row: &'static ExhibitEntry,
    sort: Option<Sort>,
    exhibit: Box<dyn Exhibit>,
}

impl Opened {
    fn of(source: usize, row: &'static ExhibitEntry, sort: Option<Sort>, studio: &Studio) -> Self {
        let exhibit = row.open_arranged(studio, Arranged { sort, ..Arranged::default() });
        Self { source, row, sort, exhibit }
    }

    fn another(&self, cast: &[Cast]) -> Self {
        Self::of(self.source, self.row, self.sort, &cast[self.source].studio)
    }
}

/// See the module.
pub struct Reel {
    story: Storyboard,
    title: String,
    about: String,
    cast: Vec<Cast>,
    exhibits: Vec<Opened>,
    scenes: Vec<Scene>,
    /// Frame with which each scene begins, and one past the last.
    firsts: Vec<u64>,
    size: [u32; 2],
    fps: u32,
    band: f32,
    caption_scale: f32,
}

/// A frame: pictures with their strips, and what is written over them.
pub struct Frame {
    /// Pictures with the number of their panel.
    pub pictures: Vec<Taken>,
    /// What is written over them.
    pub lettering: Lettering,
    scene: usize,
}

/// A scene on the film's own time.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneSpan {
    /// What it is called.
    pub title: String,
    /// First frame, and one past the last.
    pub frames: std::ops::Range<u64>,
    /// When it begins, seconds.
    pub start: f64,
    /// How long it is, seconds.
    pub seconds: f64,
    /// After how many it is seen without what it came out of.
    pub seen: f64,
    /// The ticks between which its first picture goes.
    pub ticks: [u64; 2],
    /// The name of its first picture's source; empty = it has no picture.
    pub source: String,
    /// Seconds after which the answer to its question is told; `None` = it asks none.
    pub pause: Option<f64>,
}

impl Panel {
    /// Looks for what its camera follows about a time.
    fn follow(
        &mut self,
        time: f64,
        (legs, ticks): (&Legs, [u64; 2]),
        (cast, exhibit): (&mut Cast, &mut dyn Exhibit),
    ) -> Result<(), SourceError> {
        let Self { looks, tracks, shot, step, .. } = self;
        let len = cast.studio.timeline().len();
        let at = |time: f64| other(step, ticks, len, legs.at(time).0);
        for (_, _, look) in under_way(looks, time) {
            if let Look::Follow(track, _) = look {
                let mut way = Way { studio: &mut cast.studio, exhibit: &mut *exhibit, shot, at: &at };
                tracks[*track].look(time, &mut way)?;
            }
        }
        Ok(())
    }

    /// Where its camera looks at a time.
    fn camera(&self, time: f64) -> Camera {
        let camera = |look: &Look| match look {
            Look::At(camera) => *camera,
            Look::Follow(track, zoom) => Camera { at: self.tracks[*track].at(time), zoom: *zoom }.clamped(),
        };
        let looks = under_way(&self.looks, time);
        let mut now = looks.first().map_or_else(Camera::default, |look| camera(&look.2));
        for (at, moves, look) in looks.iter().skip(1) {
            let share = if *moves > 0.0 { to_f32((time - at) / moves) } else { 1.0 };
            now = camera::between(now, camera(look), share);
        }
        now
    }
}

/// The moves of a camera that say where it is at a time: the last one that has ended, and those that have begun since.
fn under_way(looks: &[(f64, f64, Look)], time: f64) -> &[(f64, f64, Look)] {
    let begun = looks.partition_point(|look| look.0 <= time);
    let first = looks[..begun].iter().rposition(|(at, moves, _)| at + moves <= time).unwrap_or(0);
    &looks[first..begun.max(looks.len().min(1)).max(first)]
}

/// Where a picture is while the first one of its scene is at `position`, between the ticks of the scene; `len` is that of its trace.
fn other(step: &Step, ticks: [u64; 2], len: u64, position: Position) -> Position {
    match step {
        Step::By(step) => step.other(position),
        Step::Share => {
            let [from, to] = ticks.map(Position::at);
            let all = to.since(from);
            let share = if all > 0.0 { position.since(from) / all } else { 0.0 };
            Position::START.plus(share * len as f64).min(Position::at(len))
        }
    }
}

impl Reel {
    /// A storyboard over studios of all its sources, by their names, for pictures of `size` points.
    ///
    /// # Errors
    /// [`StoryError`] with the place of what is wrong: a name that is not there, a range that is empty, a caption that is too long.
    pub fn new(
        story: &Storyboard,
        sources: Vec<(String, Studio)>,
        size: [u32; 2],
        fps: u32,
    ) -> Result<Self, StoryError> {
        compile::reel(story, sources, size, fps)
    }

    /// The same once more, to be gone about in by somebody else.
    ///
    /// # Errors
    /// When a trace cannot be read.
    pub fn another(&self) -> Result<Self, SourceError> {
        let cast = self.cast.iter().map(Cast::another).collect::<Result<Vec<Cast>, SourceError>>()?;
        let exhibits = self.exhibits.iter().map(|opened| opened.another(&cast)).collect();
        Ok(Self {
            story: self.story.clone(),
            title: self.title.clone(),
            about: self.about.clone(),
            cast,
            exhibits,
            scenes: self.scenes.clone(),
            firsts: self.firsts.clone(),
            ..*self
        })
    }

    /// The same for pictures of another size, and another number of frames a second.
    ///
    /// # Errors
    /// As [`Reel::new`]: where captions have no room there.
    pub fn again(self, size: [u32; 2], fps: u32) -> Result<Self, StoryError> {
        let sources = self.cast.into_iter().map(|cast| (cast.name, cast.studio)).collect();
        Self::new(&self.story, sources, size, fps)
    }

    /// Has its pictures be the upper left part of a target of so many points.
    pub fn within(&mut self, target: [u32; 2]) {
        self.scenes.iter_mut().flat_map(|scene| &mut scene.panels).for_each(|panel| panel.shot.target = target);
    }

    /// Width and height of its pictures, points.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// The studio of a source.
    #[must_use]
    pub fn studio(&self, source: &str) -> Option<&Studio> {
        self.cast.iter().find(|cast| cast.name == source).map(|cast| &cast.studio)
    }

    /// How the first picture of a frame looks, but for its camera.
    #[must_use]
    pub fn view(&self, frame: &Frame) -> View {
        self.scenes[frame.scene].panels.first().map_or_else(View::default, |panel| panel.shot.view.clone())
    }

    /// Number of frames.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.firsts.last().copied().unwrap_or(0)
    }

    /// Frames a second.
    #[must_use]
    pub fn fps(&self) -> u32 {
        self.fps
    }

    /// What the story is called.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What it is about.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Leaves captions out of the pictures, which keep their places.
    pub fn without_captions(&mut self) {
        self.scenes.iter_mut().flat_map(|scene| &mut scene.panels).for_each(|panel| panel.shot.reserved = 0);
        self.band = 0.0;
    }

    /// Nothing flies: what moves fades where it was and appears where it goes.
    pub fn with_reduced_motion(&mut self) {
        self.scenes.iter_mut().flat_map(|scene| &mut scene.panels).for_each(|panel| panel.shot.view.calm = true);
    }

    /// Leaves all scenes out but the one of this number, from 0.
    ///
    /// `false`: there is no such scene.
    #[must_use]
    pub fn keep_scene(&mut self, number: usize) -> bool {
        if number >= self.scenes.len() {
            return false;
        }
        let scene = self.scenes.swap_remove(number);
        self.firsts = vec![0, scene.frames];
        self.scenes = vec![scene];
        true
    }

    /// A scene as it ends, before it goes for the next one.
    ///
    /// # Errors
    /// When a trace cannot be read.
    pub fn ending(&mut self, scene: usize) -> Result<Frame, SourceError> {
        let last = self.firsts.get(scene + 1).copied().unwrap_or_else(|| self.frames());
        let mut frame = self.frame(last.saturating_sub(1))?;
        frame.lettering.veil = Veil::default();
        Ok(frame)
    }

    /// Its scenes, in order.
    #[must_use]
    pub fn spans(&self) -> Vec<SceneSpan> {
        let span = |(scene, ends): (&Scene, &[u64])| SceneSpan {
            title: scene.title.clone(),
            frames: ends[0]..ends[1],
            start: ends[0] as f64 / f64::from(self.fps),
            seconds: scene.frames as f64 / f64::from(self.fps),
            seen: 0.5 * scene.fade,
            ticks: scene.ticks,
            source: scene.panels.first().map_or_else(String::new, |panel| self.cast[panel.source].name.clone()),
            pause: scene.quiz.as_ref().map(|quiz| quiz.pause),
        };
        self.scenes.iter().zip(self.firsts.windows(2)).map(span).collect()
    }

    /// The scene that frame `k` is of, and the time in it.
    fn at(&self, k: u64) -> (usize, f64) {
        let n = self.firsts.partition_point(|first| *first <= k).saturating_sub(1).min(self.scenes.len() - 1);
        let scene = &self.scenes[n];
        let local = k - self.firsts[n];
        // The last frame stands at the end.
        let time = if local + 1 >= scene.frames { scene.seconds } else { local as f64 / f64::from(self.fps) };
        (n, time)
    }

    /// The strips of a frame's pictures.
    #[must_use]
    pub fn strips(&self, frame: &Frame) -> Vec<&Strip> {
        self.scenes[frame.scene].panels.iter().map(|panel| &panel.strip).collect()
    }

    /// Takes back pictures that are drawn.
    pub fn reuse(&mut self, frame: Frame) {
        for (panel, taken) in self.scenes[frame.scene].panels.iter().zip(frame.pictures) {
            self.exhibits[panel.exhibit].exhibit.reuse(taken.picture);
        }
    }

    /// Frame `k`: the same for the same `k`, whatever was drawn before.
    ///
    /// # Errors
    /// When a trace cannot be read.
    pub fn frame(&mut self, k: u64) -> Result<Frame, SourceError> {
        let (n, time) = self.at(k);
        // The last frame of a scene stands at its end, which may be later than a frame after the one before.
        let before = k.saturating_sub(1).max(self.firsts[n]) - self.firsts[n];
        let before = before as f64 / f64::from(self.fps);
        self.follow(n, time)?;
        let scene = &self.scenes[n];
        let mut pictures = Vec::with_capacity(scene.panels.len());
        let mut told: Vec<Option<(Counts, Info)>> = self.cast.iter().map(|_| None).collect();
        for (at, panel) in scene.panels.iter().enumerate() {
            let shot = self.shot(n, at, (before, time));
            let studio = &mut self.cast[panel.source].studio;
            let exhibit = self.exhibits[panel.exhibit].exhibit.as_mut();
            let taken = shot.take(studio, exhibit)?;
            if told[panel.source].is_none() {
                let counts = counts_at(studio, taken.info.position.tick())?;
                told[panel.source] = Some((counts, taken.info.clone()));
            }
            pictures.push(taken);
        }
        let lettering = self.lettering(n, time, &pictures, &told);
        Ok(Frame { pictures, lettering, scene: n })
    }

    /// Looks for what the cameras of a scene follow about a time.
    fn follow(&mut self, n: usize, time: f64) -> Result<(), SourceError> {
        let Self { scenes, cast, exhibits, .. } = self;
        let scene = &mut scenes[n];
        let Some(legs) = &scene.legs else { return Ok(()) };
        for panel in &mut scene.panels {
            panel.follow(
                time,
                (legs, scene.ticks),
                (&mut cast[panel.source], exhibits[panel.exhibit].exhibit.as_mut()),
            )?;
        }
        Ok(())
    }

    /// The shot of a panel at a time of its scene.
    fn shot(&self, n: usize, at: usize, (before, time): (f64, f64)) -> Shot {
        let scene = &self.scenes[n];
        let (panel, legs) = (&scene.panels[at], scene.legs.as_ref());
        let position = |time: f64| legs.map_or(Position::START, |legs| self.stepped(scene, panel, legs.at(time).0));
        let now = position(time);
        let rate = legs.map_or(1.0, |legs| legs.rate(time));
        let passed = now.tick().saturating_sub(position(before).tick()).max(1);
        let base = &panel.shot.view;
        let camera = panel.camera(time);
        let view =
            View { speed: rate, tail: base.tail.max(passed), window: base.window.max(passed), camera, ..base.clone() };
        let mut shot = Shot { position: now, view, ..panel.shot.clone() };
        shot.playback.speed = if legs.is_some_and(|legs| legs.at(time).1 > 0.0) { rate } else { 0.0 };
        shot
    }

    /// Where a panel is while the first one of its scene is at `position`.
    fn stepped(&self, scene: &Scene, panel: &Panel, position: Position) -> Position {
        other(&panel.step, scene.ticks, self.cast[panel.source].studio.timeline().len(), position)
    }

    fn lettering(&self, n: usize, time: f64, pictures: &[Taken], told: &[Option<(Counts, Info)>]) -> Lettering {
        let scene = &self.scenes[n];
        let empty = Counts::default();
        let sides: Vec<&str> =
            (0..self.cast.len()).map(|source| panels::side(&self.scenes[n].panels, source)).collect();
        let told: Vec<Option<Told<'_>>> = told
            .iter()
            .zip(&self.cast)
            .enumerate()
            .map(|(source, (told, cast))| {
                let (now, info) = told.as_ref()?;
                let scene = scene.before[source].as_ref().unwrap_or(&empty);
                Some(Told { now: now.clone(), scene, whole: &cast.whole, info, side: sides[source] })
            })
            .collect();
        let words = |template: &Template| -> Runs {
            let of = |source: usize| told.get(source).and_then(Option::as_ref);
            template.words(&of).into_iter().map(|run| self.run(scene, run)).collect()
        };
        let intro = scene.quiz.as_ref().map_or(0.0, |quiz| quiz.pause + quiz.seconds);
        let quiz = scene.quiz.as_ref().filter(|_| time < intro).map(|quiz| {
            let is_told = time >= quiz.pause;
            QuizCard {
                question: quiz.question.clone(),
                choices: quiz.choices.clone(),
                right: quiz.right.filter(|_| is_told),
                answer: if is_told { words(&quiz.answer) } else { Runs::new() },
                left: to_f32(1.0 - time / quiz.pause.max(1e-9)),
            }
        });
        let mut lettering = Lettering {
            card: scene.card.as_ref().map(|(title, text)| (title.clone(), words(text))),
            caption: scene
                .captions
                .iter()
                .rfind(|caption| caption.is_at(time))
                .map_or_else(Runs::new, |c| words(&c.what)),
            band: if scene.card.is_some() { 0.0 } else { self.band },
            caption_scale: self.caption_scale,
            quiz,
            veil: self.veil(n, time),
            ..Lettering::default()
        };
        if let Some(first) = pictures.first() {
            let within = first.layout.area;
            let within = egui::Rect::from_min_max(within.min, egui::pos2(within.right(), first.layout.strip.top()));
            let middle = first.layout.at([0.0, 0.0]);
            for label in &scene.labels {
                let at = place(&label.what.0, first).map(|at| first.layout.at(at)).filter(|at| within.contains(*at));
                let Some(at) = at else { continue };
                // Also of those that come later, so that no label moves when they do; what moves would push labels about.
                if let Mark::Points(_) = &label.what.0 {
                    lettering.places.push(at);
                }
                if label.is_at(time) {
                    lettering.labels.push(PlacedLabel { words: words(&label.what.1), at, middle, within });
                }
            }
            for mark in &scene.highlights {
                lettering.outlines.extend(outlines(mark, first));
            }
        }
        lettering
    }

    /// A run of words with its colour.
    fn run(&self, scene: &Scene, run: Run) -> (String, Option<crate::scene::palette::Rgba>) {
        let color = run.region.as_ref().and_then(|(source, name)| {
            let regions = &self.cast[*source].studio.tables().regions;
            let region = regions.iter().position(|region| region.name == *name)?;
            let panel = scene.panels.iter().find(|panel| panel.source == *source);
            Some(panel.map_or_else(RegionColors::default, |panel| panel.shot.view.colors.clone()).of(region))
        });
        (run.words, color)
    }

    /// The ground over a scene that appears, or goes for the next one.
    fn veil(&self, n: usize, time: f64) -> Veil {
        let scene = &self.scenes[n];
        let into = if scene.fade > 0.0 { 1.0 - time / (0.5 * scene.fade) } else { 0.0 };
        let (next, way) = self.scenes.get(n + 1).map_or((0.0, Transition::Fade), |next| (next.fade, next.transition));
        let out = if next > 0.0 { 1.0 - (scene.seconds - time) / (0.5 * next) } else { 0.0 };
        let (share, comes, way) = if into >= out { (into, true, scene.transition) } else { (out, false, way) };
        if share > 0.0 { Veil { share: to_f32(share.min(1.0)), comes, way } } else { Veil::default() }
    }
}

/// Where a mark is, world units.
fn place(mark: &Mark, taken: &Taken) -> Option<[f32; 2]> {
    match mark {
        Mark::Label(label) => camera::nearest(taken.picture.scene()?, *label),
        Mark::Points(points) => points.get(points.len() / 2).copied(),
    }
}

/// The lines of a mark, in points of the target.
fn outlines(mark: &Mark, taken: &Taken) -> Vec<Vec<Pos2>> {
    match mark {
        Mark::Points(points) => vec![points.iter().map(|at| taken.layout.at(*at)).collect()],
        Mark::Label(label) => {
            let marks = taken.picture.scene().and_then(|scene| scene.labelled.get(*label)).map(|pinned| &pinned.marks);
            let around = |mark: &crate::scene::PinMark| {
                let (at, radius) = (taken.layout.at(mark.at), mark.radius * taken.layout.viewport.px_per_unit + 4.0);
                (0..=32u8)
                    .map(|n| at + egui::Vec2::angled(f32::from(n) / 32.0 * std::f32::consts::TAU) * radius)
                    .collect()
            };
            marks.into_iter().flatten().map(around).collect()
        }
    }
}
