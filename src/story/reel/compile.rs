//! A storyboard's words into what a reel goes by. All that can be wrong is found here, before a frame is drawn.

use super::super::StoryError;
use super::super::board::{self, Storyboard};
use super::super::error::unknown;
use super::super::moment::tick;
use super::super::values::{Counts, Template, counts_at};
use super::colors::colors;
use super::legs::{Leg, Legs};
use super::{Cast, Look, Opened, Panel, Question, Reel, Scene, Step, Timed};
use crate::axis::Position;
use crate::overlay::Studio;
use crate::overlay::exhibits::{self, Subject};
use crate::overlay::fonts::is_right_to_left;
use crate::overlay::lettering::{CAPTION_SCALES, MOST_LINES, Measure, QuizCard, Transition, band, is_whole};
use crate::scene::Camera;
use crate::timeline::ClockKind;
use crate::units::to_f32;
use std::sync::Arc;

/// Seconds of a scene that does not say how long it is: of a still, and of a stretch.
const SECONDS: [f64; 2] = [4.0, 10.0];
/// Seconds of a film, at most.
const LONGEST: f64 = 4.0 * 3600.0;
/// Choices of a question, at most: as many as can be read in its time.
const MOST_CHOICES: usize = 6;
/// Seconds in which a scene appears where pictures change.
const FADE: f64 = 0.8;

/// What `{reference.why}` and `{reference.what}` may be at length.
const WHY: &str =
    "L1 miss (set 1); L2 hit (set 3); capacity: L1 has 16 lines, too few; pushes out the line of A[10][12], dirty";
const WHAT: &str = "read B[10][12] (8 bytes)";

/// What is known while scenes are read one after the other.
pub(super) struct Compiler<'a> {
    pub(super) story: &'a Storyboard,
    pub(super) reel: Reel,
    measure: Measure,
    /// By source: where the scene before ended.
    ended: Vec<u64>,
    /// What the scene before showed: source and exhibit of each picture, and where its camera was left.
    pub(super) before: Option<Before>,
    last_source: Option<usize>,
    /// Lines of the longest caption, and its scene.
    lines: usize,
    longest: usize,
}

/// Source and exhibit of each picture of a scene, and where its camera was left.
pub(super) type Before = (Vec<(usize, usize)>, Option<Camera>);

pub(super) fn reel(
    story: &Storyboard,
    sources: Vec<(String, Studio)>,
    size: [u32; 2],
    fps: u32,
) -> Result<Reel, StoryError> {
    let colors = colors(story, &sources)?;
    let mut cast = Vec::new();
    for ((name, mut studio), colors) in sources.into_iter().zip(colors) {
        if studio.tasks().is_some() {
            return Err(story.source_fault(&name, "trace", "found a file of tasks; expected a trace of references"));
        }
        let len = studio.timeline().len();
        let whole = counts_at(&mut studio, len).map_err(|error| story.source_fault(&name, "trace", &error.0))?;
        cast.push(Cast { name, studio, colors, whole });
    }
    let ended = vec![0; cast.len()];
    let board = &story.board;
    let reel = Reel {
        story: story.clone(),
        title: board.title.clone(),
        about: board.about.clone(),
        cast,
        exhibits: Vec::new(),
        scenes: Vec::new(),
        firsts: vec![0],
        size,
        fps,
        band: 0.0,
        caption_scale: 1.0,
    };
    let mut compiler = Compiler {
        story,
        reel,
        measure: Measure::default(),
        ended,
        before: None,
        last_source: None,
        lines: 0,
        longest: 0,
    };
    for scale in CAPTION_SCALES {
        (compiler.reel.caption_scale, compiler.lines) = (scale, 0);
        let fitting = story.scenes().enumerate().try_for_each(|(n, scene)| compiler.captions_fit(n, scene));
        match fitting {
            Ok(()) if compiler.lines <= MOST_LINES => break,
            // What is too long in the smallest type is told.
            Ok(()) if scale > CAPTION_SCALES[CAPTION_SCALES.len() - 1] => {}
            Ok(()) => return Err(compiler.too_long()),
            Err(error) => return Err(error),
        }
    }
    compiler.reel.band = band(compiler.lines, size, compiler.reel.caption_scale);
    for (n, scene) in story.scenes().enumerate() {
        compiler.words_fit(n, scene)?;
        let scene = compiler.scene(n, scene)?;
        let first = compiler.reel.frames();
        compiler.reel.firsts.push(first + scene.frames);
        compiler.reel.scenes.push(scene);
    }
    let seconds = compiler.reel.frames() as f64 / f64::from(fps);
    if seconds > LONGEST {
        return Err(story.fault(None, &format!("found {seconds:.0} seconds in all; expected {LONGEST:.0} at most")));
    }
    Ok(compiler.reel)
}

/// A length that may be asked for.
pub(super) fn length(seconds: f64, least: f64) -> Result<f64, String> {
    if seconds.is_finite() && (least..=LONGEST).contains(&seconds) {
        return Ok(seconds);
    }
    Err(format!("found {seconds}; expected {least} to {LONGEST:.0} seconds"))
}

impl Compiler<'_> {
    /// Words that all can be drawn, and captions that there is room for.
    fn captions_fit(&mut self, n: usize, scene: &board::Scene) -> Result<(), StoryError> {
        let fault = |key: &str, words: &str| self.story.scene_fault(n, key, words);
        let quiz = scene.quiz.iter().flat_map(|quiz| {
            let words = [&quiz.question, &quiz.answer].into_iter().chain(&quiz.choices);
            words.map(|words| ("quiz", words))
        });
        let card = scene.card.iter().flat_map(|card| [("card", &card.title), ("card", &card.text)]);
        let captions = scene.caption.iter().chain(scene.captions.iter().map(|caption| &caption.text));
        let captions = captions.map(|words| ("caption", words));
        let labels = scene.labels.iter().map(|label| ("labels", &label.text));
        for (key, words) in quiz.chain(card).chain(labels).chain(captions.clone()) {
            if let Some(c) = self.measure.missing(words) {
                let why = match is_right_to_left(c) {
                    true => {
                        "of a script that is written from right to left; expected one that is written from left to right"
                    }
                    false => {
                        "which no font of this machine has; expected another letter, or install a font that has it"
                    }
                };
                return Err(fault(key, &format!("found `{c}` (U+{:04X}), {why}", c as u32)));
            }
        }
        for (_, words) in captions {
            if !is_whole(words) {
                let found = words.chars().count();
                return Err(fault(
                    "caption",
                    &format!("found {found} letters; expected {MOST_LINES} lines at most: make two of it"),
                ));
            }
            // Values are no longer than what names them, but for sentences, which are as long as this one.
            let told = words.replace("{reference.why}", WHY).replace("{reference.what}", WHAT);
            let lines = |words: &str| self.measure.lines(words, self.reel.size, self.reel.caption_scale);
            // No caption is refused for what it may say at some moment: it is written smaller then.
            let lines = lines(words).max(lines(&told).min(MOST_LINES));
            if lines > self.lines {
                (self.lines, self.longest) = (lines, n);
            }
        }
        Ok(())
    }

    /// Cards, questions and labels that there is room for, if not in a small picture then in one that is 720 high.
    fn words_fit(&self, n: usize, scene: &board::Scene) -> Result<(), StoryError> {
        let [width, height] = self.reel.size;
        let (tall, scale) = (height.max(720), 720.0 / f64::from(height.clamp(1, 720)));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a width in pixels")]
        let size = [(f64::from(width) * scale).round() as u32, tall];
        let band = self.reel.band * to_f32(scale);
        let long = |key: &str, what: &str, remedy: &str| {
            let words = format!("found {what} that has no room in a picture of {width}x{height}; {remedy}");
            Err(self.story.scene_fault(n, key, &words))
        };
        if let Some(card) = scene.card.as_ref().filter(|card| !self.measure.card_fits(&card.title, &card.text, size)) {
            let words = card.title.chars().count() + card.text.chars().count();
            return long("card", &format!("a card of {words} letters"), "expected fewer: make two scenes of it");
        }
        if let Some(quiz) = &scene.quiz {
            let (question, choices, right) = (quiz.question.clone(), quiz.choices.clone(), None);
            let asked = QuizCard { question, choices, right, answer: vec![(quiz.answer.clone(), None)], left: 0.0 };
            if !self.measure.quiz_fits(&asked, size, band) {
                return long("quiz", "a question with its answer", "expected shorter ones: say the rest in a caption");
            }
        }
        match scene.labels.iter().find(|label| !self.measure.label_fits(&label.text, size)) {
            Some(_) => long("labels", "a label", "expected a few words: say the rest in a caption"),
            None => Ok(()),
        }
    }

    /// What to say of the longest caption.
    fn too_long(&self) -> StoryError {
        let (lines, width) = (self.lines, self.reel.size[0]);
        let words =
            format!("found {lines} lines in a picture {width} wide; expected {MOST_LINES} at most: make two of it");
        self.story.scene_fault(self.longest, "caption", &words)
    }

    pub(super) fn source(&self, n: usize, key: &str, name: Option<&String>) -> Result<Option<usize>, StoryError> {
        let Some(name) = name else { return Ok(self.last_source) };
        let at = self.reel.cast.iter().position(|cast| cast.name == *name);
        // Also those that no scene shows: one of them may be meant.
        let known: Vec<&str> = self.story.board.source.keys().map(String::as_str).collect();
        at.map(Some).ok_or_else(|| self.story.scene_fault(n, key, &unknown(name, &known)))
    }

    /// The number of an exhibit of a source.
    pub(super) fn exhibit(&mut self, n: usize, source: usize, asked: &board::Beside) -> Result<usize, StoryError> {
        let studio = &self.reel.cast[source].studio;
        let row = match &asked.view {
            None => exhibits::suited(studio),
            Some(name) => {
                let names: Vec<&str> = exhibits::offered(Subject::Trace).map(|row| row.name).collect();
                let row = exhibits::offered(Subject::Trace).find(|row| row.name == name);
                row.ok_or_else(|| self.story.scene_fault(n, "view", &unknown(name, &names)))?
            }
        };
        if row.name == "compare" {
            let words = "found `compare`, which needs other caches or another trace to compare with, and a storyboard gives it none; expected \
                         another view, or two pictures: `beside` shows another source in step";
            return Err(self.story.scene_fault(n, "view", words));
        }
        let sort = asked.sort.as_ref().map(|words| row.sort(words)).transpose();
        let sort = sort.map_err(|wrong| self.story.scene_fault(n, "sort", &wrong))?;
        let is_it = |one: &Opened| one.source == source && one.row.name == row.name && one.sort == sort;
        Ok(self.reel.exhibits.iter().position(is_it).unwrap_or_else(|| {
            self.reel.exhibits.push(Opened::of(source, row, sort, studio));
            self.reel.exhibits.len() - 1
        }))
    }

    fn scene(&mut self, n: usize, scene: &board::Scene) -> Result<Scene, StoryError> {
        let story = self.story;
        let fault = |key: &'static str| move |words: String| story.scene_fault(n, key, &words);
        let source = self.source(n, "source", scene.source.as_ref())?;
        let quiz = scene.quiz.as_ref();
        let intro = match quiz {
            Some(quiz) => {
                length(quiz.pause, 0.1).map_err(fault("quiz"))? + length(quiz.seconds, 0.1).map_err(fault("quiz"))?
            }
            None => 0.0,
        };
        let shown = if scene.card.is_some() { None } else { source };
        let mut panels = Vec::new();
        let (mut legs, mut ticks) = (None, [0, 0]);
        if let Some(source) = shown {
            let (way, ends) = self.legs(n, scene, source, intro)?;
            panels = self.panels(n, scene, source, (&way, ends, intro))?;
            (legs, ticks) = (Some(way), ends);
        } else if scene.card.is_none() {
            let names: Vec<&str> = story.board.source.keys().map(String::as_str).collect();
            let known =
                if names.is_empty() { "[source.NAME] with trace = \"FILE\"".to_owned() } else { names.join(", ") };
            return Err(story.scene_fault(
                n,
                "source",
                &format!("found none; expected the name of a source: {known}; or a card"),
            ));
        }
        let seconds = match &legs {
            Some(legs) => legs.seconds(),
            None => length(scene.seconds.unwrap_or(SECONDS[0]), 0.1).map_err(fault("seconds"))? + intro,
        };
        let frames = frames(seconds, self.reel.fps);
        let before = self.before(n, &panels, ticks[0])?;
        let (mut marks, mut highlights) = (Vec::new(), Vec::new());
        for (at, label) in scene.labels.iter().enumerate() {
            marks.push(self.mark(n, "labels", &label.of, &panels, at)?);
        }
        for (at, words) in scene.highlight.iter().enumerate() {
            highlights.push(self.mark(n, "highlight", words, &panels, scene.labels.len() + at)?);
        }
        let sources: Vec<(&str, &Counts)> =
            self.reel.cast.iter().map(|cast| (cast.name.as_str(), &cast.whole)).collect();
        let own = shown.or(source).unwrap_or(usize::MAX);
        let visible: Vec<usize> = panels.iter().map(|panel: &Panel| panel.source).collect();
        let template = |key: &'static str, text: &str| -> Result<Template, StoryError> {
            let template = Template::parse(text, own, &sources).map_err(fault(key))?;
            if let Some(unseen) = template.sources().find(|source| !visible.contains(source)) {
                let name = sources[unseen].0;
                let (found, whole) = (unseen_value(text), format!("as in {{{name}:whole.references}}"));
                let words = match scene.card {
                    Some(_) => format!(
                        "found {found} of {name}, and a card shows no moment of a trace; expected a value of a whole trace, {whole}"
                    ),
                    None => format!(
                        "found {found} of {name}, which the scene does not show; expected one of a source in sight (`beside` shows \
                         another), or of its whole trace, {whole}"
                    ),
                };
                return Err(story.scene_fault(n, key, &words));
            }
            Ok(template)
        };
        let captions = captions(scene, seconds, intro, &template)
            .map_err(|error| error.unwrap_or_else(|words| fault("captions")(words)))?;
        let mut labels = Vec::new();
        for (label, mark) in scene.labels.iter().zip(marks) {
            let until = label.until.map_or(seconds, |until| until + intro);
            let until = if until >= seconds { f64::INFINITY } else { until };
            if !(0.0..seconds - intro).contains(&label.at) || until <= label.at + intro {
                let (at, end) = (label.at, seconds - intro);
                let words = format!(
                    "found one at {at} s; expected a time within the {end:.1} s of the scene, before its own end"
                );
                return Err(fault("labels")(words));
            }
            labels.push(Timed { from: label.at + intro, until, what: (mark, template("labels", &label.text)?) });
        }
        let question = match quiz {
            None => None,
            Some(quiz) => {
                if quiz.choices.len() > MOST_CHOICES {
                    let found = quiz.choices.len();
                    let words = format!("choices: found {found}; expected {MOST_CHOICES} at most");
                    return Err(story.scene_fault(n, "quiz", &words));
                }
                let right = quiz.right.map(|right| right.wrapping_sub(1));
                if right.is_some_and(|right| right >= quiz.choices.len()) {
                    let (found, most) = (quiz.right.unwrap_or(0), quiz.choices.len());
                    let expected = match most {
                        0 => "`choices` for it, such as [\"Yes\", \"No\"]".to_owned(),
                        most => format!("the number of a choice, 1 to {most}"),
                    };
                    return Err(story.scene_fault(n, "quiz", &format!("right: found {found}; expected {expected}")));
                }
                let (question, choices) = (quiz.question.clone(), quiz.choices.clone());
                let answer = template("quiz", &quiz.answer)?;
                Some(Question { question, choices, right, pause: quiz.pause, seconds: quiz.seconds, answer })
            }
        };
        let card = match &scene.card {
            None => None,
            Some(card) => Some((card.title.clone(), template("card", &card.text)?)),
        };
        let now: Vec<(usize, usize)> = panels.iter().map(|panel| (panel.source, panel.exhibit)).collect();
        let changed = self.before.as_ref().is_none_or(|(before, _)| *before != now);
        let (transition, fade) = self.transition(n, scene, (changed, seconds))?;
        // Where a move ends that the scene was too short for, or where what is followed was last.
        let left = match panels.first_mut().and_then(|panel| Some((panel.looks.last().copied()?, panel))) {
            Some(((_, _, Look::At(camera)), _)) => Some(camera),
            Some(((at, moves, Look::Follow(..)), panel)) => {
                let Reel { cast, exhibits, .. } = &mut self.reel;
                let end = seconds.max(at + moves);
                if let Some(legs) = &legs {
                    let (source, exhibit) = (panel.source, panel.exhibit);
                    let seen =
                        panel.follow(end, (legs, ticks), (&mut cast[source], exhibits[exhibit].exhibit.as_mut()));
                    seen.map_err(|error| fault("camera")(error.0))?;
                }
                Some(panel.camera(end))
            }
            None => None,
        };
        self.before = Some((now, left));
        if let Some(source) = shown {
            self.ended[source] = ticks[1];
        }
        self.last_source = source;
        let title = scene.title.clone();
        Ok(Scene {
            title,
            frames,
            seconds,
            legs,
            ticks,
            panels,
            before,
            captions,
            labels,
            highlights,
            card,
            quiz: question,
            fade,
            transition,
        })
    }

    /// How a scene appears, and in how many seconds.
    fn transition(
        &self,
        n: usize,
        scene: &board::Scene,
        (changed, seconds): (bool, f64),
    ) -> Result<(Transition, f64), StoryError> {
        let fault = |key: &str, words: &str| self.story.scene_fault(n, key, words);
        let transition = match &scene.transition {
            None => Transition::Fade,
            Some(name) => {
                let names = Transition::ALL.map(|(_, name)| name);
                let known = Transition::ALL.into_iter().find(|(_, known)| known == name);
                known.ok_or_else(|| fault("transition", &unknown(name, &names)))?.0
            }
        };
        if transition == Transition::Cut {
            return match scene.fade {
                Some(_) => Err(fault("transition", "found `cut` beside `fade`; a cut takes no time: leave `fade` out")),
                None => Ok((transition, 0.0)),
            };
        }
        let usual = if changed || scene.transition.is_some() { FADE.min(seconds) } else { 0.0 };
        let fade = length(scene.fade.unwrap_or(usual), 0.0).map_err(|words| fault("fade", &words))?;
        Ok((transition, fade))
    }

    /// The way through the trace, and its first and last tick.
    fn legs(&self, n: usize, scene: &board::Scene, source: usize, intro: f64) -> Result<(Legs, [u64; 2]), StoryError> {
        let story = self.story;
        let fault = |key: &'static str| move |words: String| story.scene_fault(n, key, &words);
        let studio = &self.reel.cast[source].studio;
        let timeline = studio.timeline();
        let from = match &scene.from {
            Some(from) => tick(from, timeline).map_err(fault("from"))?,
            None => self.ended[source],
        };
        let to = match &scene.to {
            Some(to) => tick(to, timeline).map_err(fault("to"))?,
            None => from,
        };
        if to < from {
            return Err(story.scene_fault(
                n,
                "to",
                &format!("found {to}, before `from`, which is {from}; expected {from} or more"),
            ));
        }
        let kind = match &scene.clock {
            None => ClockKind::References,
            Some(name) => {
                let names = ClockKind::ALL.map(ClockKind::name);
                let kind = ClockKind::ALL.into_iter().find(|kind| kind.name() == name);
                kind.ok_or_else(|| story.scene_fault(n, "clock", &unknown(name, &names)))?
            }
        };
        let clock = Arc::new(studio.clock(kind));
        let rest = |tick: u64, seconds: f64| Leg::Rest { at: Position::at(tick), seconds };
        let (before, after) =
            (length(scene.before, 0.0).map_err(fault("before"))?, length(scene.after, 0.0).map_err(fault("after"))?);
        let mut legs = vec![rest(from, intro + before)];
        if from == to {
            if scene.to.is_some() {
                return Err(story.scene_fault(
                    n,
                    "to",
                    &format!("found {to}, where `from` is too; expected a range, or no `to` for a still"),
                ));
            }
            let still = if quiz_alone(scene) { 0.0 } else { scene.seconds.unwrap_or(SECONDS[0]) };
            legs.push(rest(from, length(still, 0.0).map_err(fault("seconds"))?));
        } else {
            let all = clock.between(Position::at(from), Position::at(to));
            let speed = match (scene.speed, scene.seconds) {
                (Some(_), Some(_)) => {
                    return Err(story.scene_fault(
                        n,
                        "speed",
                        "found both `speed` and `seconds`; expected one of them",
                    ));
                }
                (Some(speed), None) if speed.is_finite() && speed > 0.0 => speed,
                (Some(speed), None) => {
                    return Err(story.scene_fault(n, "speed", &format!("found {speed}; expected more than 0")));
                }
                (None, seconds) => all / length(seconds.unwrap_or(SECONDS[1]), 0.03).map_err(fault("seconds"))?,
            };
            let mut slow: Vec<(u64, u64, f64)> = Vec::new();
            for stretch in &scene.slow {
                let at = tick(&stretch.at, timeline).map_err(fault("slow"))?;
                let half = stretch.references.max(1).div_ceil(2);
                let (a, b) = (at.saturating_sub(half).max(from), at.saturating_add(half).min(to));
                if !(stretch.speed.is_finite() && stretch.speed > 0.0) {
                    let words = format!("speed: found {}; expected more than 0", stretch.speed);
                    return Err(story.scene_fault(n, "slow", &words));
                }
                if a >= b {
                    let words =
                        format!("at: found reference {at}; expected one within the scene, which shows {from} to {to}");
                    return Err(story.scene_fault(n, "slow", &words));
                }
                slow.push((a, b, stretch.speed));
            }
            slow.sort_by_key(|stretch| stretch.0);
            let mut at = from;
            let mut play = |from: u64, to: u64, speed: f64| {
                let ends = [from, to].map(Position::at);
                if to > from {
                    legs.push(Leg::Play {
                        from: ends[0],
                        to: ends[1],
                        seconds: clock.between(ends[0], ends[1]) / speed,
                    });
                }
            };
            for (a, b, slowly) in slow {
                let a = a.max(at);
                play(at, a, speed);
                play(a, b.max(a), slowly);
                at = b.max(a);
            }
            play(at, to, speed);
        }
        legs.push(rest(to, after));
        let legs = Legs { legs, clock };
        length(legs.seconds(), 0.01).map_err(fault(if scene.speed.is_some() { "speed" } else { "seconds" }))?;
        Ok((legs, [from, to]))
    }

    /// Counts before a scene, of the sources in sight.
    fn before(&mut self, n: usize, panels: &[Panel], from: u64) -> Result<Vec<Option<Counts>>, StoryError> {
        let mut before: Vec<Option<Counts>> = self.reel.cast.iter().map(|_| None).collect();
        for panel in panels {
            let studio = &mut self.reel.cast[panel.source].studio;
            let at = match &panel.step {
                Step::By(step) => step.other(Position::at(from)).tick(),
                Step::Share => 0,
            };
            let at = at.min(studio.timeline().len());
            let counts = counts_at(studio, at).map_err(|error| self.story.scene_fault(n, "source", &error.0))?;
            before[panel.source].get_or_insert(counts);
        }
        Ok(before)
    }
}

/// Whether a scene is a question alone.
fn quiz_alone(scene: &board::Scene) -> bool {
    scene.quiz.is_some() && scene.seconds.is_none() && scene.caption.is_none() && scene.captions.is_empty()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a length of a film, above 0")]
fn frames(seconds: f64, fps: u32) -> u64 {
    ((seconds * f64::from(fps)).round() as u64).max(1)
}

type Captions = Result<Vec<Timed<Template>>, Result<StoryError, String>>;

/// The value, or the values, of words that are not in sight.
fn unseen_value(text: &str) -> String {
    let values: Vec<&str> =
        text.match_indices('{').filter_map(|(at, _)| text[at..].split_inclusive('}').next()).collect();
    match values[..] {
        [one] => one.to_owned(),
        _ => "a value".to_owned(),
    }
}

fn captions(
    scene: &board::Scene,
    seconds: f64,
    intro: f64,
    template: &dyn Fn(&'static str, &str) -> Result<Template, StoryError>,
) -> Captions {
    if scene.caption.is_some() && !scene.captions.is_empty() {
        return Err(Err("found `caption` beside `captions`; expected one of them".into()));
    }
    if let Some(text) = &scene.caption {
        let what = template("caption", text).map_err(Ok)?;
        return Ok(vec![Timed { from: intro, until: f64::INFINITY, what }]);
    }
    let mut out = Vec::new();
    for (at, caption) in scene.captions.iter().enumerate() {
        let from = caption.at + intro;
        let next = scene.captions.get(at + 1).map(|next| next.at + intro);
        let until = caption.until.map(|until| until + intro).or(next).unwrap_or(f64::INFINITY);
        if !(from >= intro && until > from && from < seconds) {
            let end = seconds - intro;
            let found = match caption.until {
                Some(until) => format!("from {} to {until} s", caption.at),
                None => format!("at {} s", caption.at),
            };
            return Err(Err(format!(
                "found one {found}; expected times that rise, within the {end:.1} s of the scene"
            )));
        }
        out.push(Timed { from, until, what: template("captions", &caption.text).map_err(Ok)? });
    }
    Ok(out)
}
