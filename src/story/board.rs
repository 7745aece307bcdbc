//! A storyboard as it is written: plain values, and where in the file each of them stands.

use super::StoryError;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// Scenes that a storyboard has, at most.
const MOST_SCENES: usize = 1000;
/// Bytes that a storyboard has, at most.
const MOST_BYTES: usize = 4 << 20;

/// A storyboard: where its pictures come from, and its scenes in the order in which they are shown.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// What it is called.
    pub title: String,
    /// What it is about, in a sentence or two.
    #[serde(default)]
    pub about: String,
    /// Width and height in pixels, as `1280x720`.
    pub size: Option<String>,
    /// Frames a second.
    pub fps: Option<u32>,
    /// `dark`, `light` or `print`.
    pub theme: Option<String>,
    /// Whether flashes are shown as they are; else there are no more than three large ones a second.
    #[serde(default)]
    pub any_flashes: bool,
    /// Colours of regions by name, as `#ffcc00`. A region of a name has one colour in all sources, with or without this.
    #[serde(default)]
    pub colors: BTreeMap<String, String>,
    /// Traces under their caches, by the names that scenes call them.
    #[serde(default)]
    pub source: BTreeMap<String, Source>,
    /// The scenes.
    #[serde(default)]
    pub scene: Vec<Spanned<Scene>>,
}

/// A trace, or a program that is compiled and recorded, under its caches.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The trace: a path beside the storyboard, or `lesson:NAME`.
    pub trace: Option<String>,
    /// The source file of a program, beside the storyboard.
    pub program: Option<String>,
    /// What the program is given.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// What the compiler is given, such as `-O2` or `-DN=64`.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Seconds that the program may run.
    pub limit: Option<f64>,
    /// A preset, or a configuration file beside the storyboard.
    pub cache: Option<String>,
    /// A configuration, in place of its file.
    pub caches: Option<String>,
    /// The innermost level, as `--l1` has it.
    pub l1: Option<String>,
    /// The second level.
    pub l2: Option<String>,
    /// The third level.
    pub l3: Option<String>,
    /// Cores.
    pub cores: Option<u16>,
    /// Whether instruction fetches are dropped.
    #[serde(default)]
    pub data_only: bool,
    /// Title, in place of the trace's own.
    pub title: Option<String>,
}

/// A place in a trace, as it is written: the number of a reference, or words.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum Moment {
    /// A reference, by number.
    Reference(u64),
    /// `end`, `mark sweep 3`, `miss 5 of B`: `docs/storyboards.md` lists them.
    Words(String),
}

/// One scene.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// What it is called: a chapter of the video.
    #[serde(default)]
    pub title: String,
    /// Which source it shows; that of the scene before where it says nothing.
    pub source: Option<String>,
    /// The exhibit: `rings`, `numbers`, `source`, `chart` and others.
    pub view: Option<String>,
    /// What its rows or its colours go by, as `--sort` has it.
    pub sort: Option<String>,
    /// Where it begins; where the scene before ended, if that is of the same source.
    pub from: Option<Moment>,
    /// Where it ends; where it begins, if it says nothing: a still.
    pub to: Option<Moment>,
    /// Seconds from `from` to `to`, or how long a still is shown.
    pub seconds: Option<f64>,
    /// In place of `seconds`: what the clock counts, a second.
    pub speed: Option<f64>,
    /// What time stands for: `references`, `misses`, `cycles` or `adaptive`.
    pub clock: Option<String>,
    /// Seconds that the picture rests before it begins.
    #[serde(default)]
    pub before: f64,
    /// Seconds that it rests after it has ended.
    #[serde(default)]
    pub after: f64,
    /// Where it goes slowly.
    #[serde(default)]
    pub slow: Vec<Slow>,
    /// Where the camera goes as the scene begins.
    pub camera: Option<String>,
    /// Seconds that the camera takes to get there.
    pub moves: Option<f64>,
    /// Where the camera goes later.
    #[serde(default)]
    pub looks: Vec<Look>,
    /// References whose paths stay visible.
    pub tail: Option<u64>,
    /// References over which temperature is the mean.
    pub window: Option<u64>,
    /// Regions that are drawn alone.
    #[serde(default)]
    pub show: Vec<String>,
    /// Regions that are drawn faintly.
    #[serde(default)]
    pub dim: Vec<String>,
    /// An element that is marked wherever it is.
    pub pin: Option<String>,
    /// Parts of the picture that are left out.
    #[serde(default)]
    pub hide: Vec<String>,
    /// What the strip tells.
    pub strip: Option<String>,
    /// Elements, sets and levels that are outlined.
    #[serde(default)]
    pub highlight: Vec<String>,
    /// What is said, all the time.
    pub caption: Option<String>,
    /// What is said, one after the other.
    #[serde(default)]
    pub captions: Vec<Caption>,
    /// Words beside things that move.
    #[serde(default)]
    pub labels: Vec<Label>,
    /// Other pictures beside this one.
    #[serde(default)]
    pub beside: Vec<Beside>,
    /// Words alone, in place of a picture.
    pub card: Option<Card>,
    /// A question, a pause, and the answer.
    pub quiz: Option<Quiz>,
    /// Seconds in which the scene appears.
    pub fade: Option<f64>,
    /// How it appears: `fade`, `cut`, `wipe` or `iris`.
    pub transition: Option<String>,
}

impl Scene {
    /// Takes the break off that ends the last line of words of several lines.
    fn trim(&mut self) {
        let card = self.card.iter_mut().flat_map(|card| [&mut card.title, &mut card.text]);
        let captions = self.caption.iter_mut().chain(self.captions.iter_mut().map(|caption| &mut caption.text));
        let labels = self.labels.iter_mut().map(|label| &mut label.text);
        let quiz = self.quiz.iter_mut();
        let quiz = quiz.flat_map(|quiz| [&mut quiz.question, &mut quiz.answer].into_iter().chain(&mut quiz.choices));
        for words in card.chain(captions).chain(labels).chain(quiz) {
            words.truncate(words.trim_end_matches(['\r', '\n']).len());
        }
    }
}

/// A stretch that is played at another speed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slow {
    /// Its middle.
    pub at: Moment,
    /// What the clock counts, a second.
    pub speed: f64,
    /// How many references it has.
    #[serde(default = "Slow::references")]
    pub references: u64,
}

impl Slow {
    fn references() -> u64 {
        8
    }
}

/// A move of the camera.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// Seconds after the scene began.
    pub at: f64,
    /// Where it goes.
    pub camera: String,
    /// Seconds that it takes to get there.
    pub moves: Option<f64>,
}

/// What is said for a while.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caption {
    /// The words, with values in braces.
    pub text: String,
    /// Seconds after the scene began.
    #[serde(default)]
    pub at: f64,
    /// Seconds after the scene began; until the next one where it says nothing.
    pub until: Option<f64>,
}

/// Words beside something that may move.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// An element, a set, a level, or `cpu`.
    pub of: String,
    /// The words, with values in braces.
    pub text: String,
    /// Seconds after the scene began.
    #[serde(default)]
    pub at: f64,
    /// Seconds after the scene began; to its end where it says nothing.
    pub until: Option<f64>,
}

/// Another picture beside the first.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// Which source; that of the scene where it says nothing.
    pub source: Option<String>,
    /// The exhibit.
    pub view: Option<String>,
    /// What its rows or its colours go by.
    pub sort: Option<String>,
    /// How both go in step: `references`, `marks`, `FILE:LINE`, or `share` (both begin and end together).
    pub step: Option<String>,
}

/// Words alone.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// In large type.
    pub title: String,
    /// Below it, with values in braces.
    #[serde(default)]
    pub text: String,
}

/// A question to those who watch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quiz {
    /// The question.
    pub question: String,
    /// What may be chosen.
    #[serde(default)]
    pub choices: Vec<String>,
    /// Which choice is right, from 1.
    pub right: Option<usize>,
    /// Seconds to think.
    #[serde(default = "Quiz::pause")]
    pub pause: f64,
    /// The answer, with values in braces.
    pub answer: String,
    /// Seconds that the answer is shown.
    #[serde(default = "Quiz::pause")]
    pub seconds: f64,
}

impl Quiz {
    fn pause() -> f64 {
        4.0
    }
}

/// A storyboard and its text, so that faults can be told with their lines.
#[derive(Clone, Debug)]
pub struct Storyboard {
    /// What it says.
    pub board: Board,
    text: String,
    origin: String,
}

impl Storyboard {
    /// Reads the text of a file that people call `origin`.
    ///
    /// # Errors
    /// [`StoryError`] with the line, the key and the nearest word.
    pub fn parse(text: &str, origin: &str) -> Result<Self, StoryError> {
        if text.len() > MOST_BYTES {
            return Err(StoryError::new(
                origin,
                None,
                format!("found {} bytes; expected {MOST_BYTES} at most", text.len()),
            ));
        }
        let mut board: Board = toml::from_str(text).map_err(|error| StoryError::of_toml(&error, text, origin))?;
        board.scene.iter_mut().for_each(|scene| scene.get_mut().trim());
        let story = Self { board, text: text.to_owned(), origin: origin.to_owned() };
        let scenes = story.board.scene.len();
        if !(1..=MOST_SCENES).contains(&scenes) {
            return Err(
                story.fault(None, &format!("found {scenes} scenes; expected 1 to {MOST_SCENES}, each as [[scene]]"))
            );
        }
        Ok(story)
    }

    /// The scenes.
    pub fn scenes(&self) -> impl ExactSizeIterator<Item = &Scene> {
        self.board.scene.iter().map(Spanned::get_ref)
    }

    /// What people call the file.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// A fault, at no certain line or at a byte of the text.
    #[must_use]
    pub fn fault(&self, at: Option<usize>, words: &str) -> StoryError {
        StoryError::new(&self.origin, at.map(|at| line_of(&self.text, at)), words.to_owned())
    }

    /// A fault of a key of the whole file.
    #[must_use]
    pub fn board_fault(&self, key: &str, words: &str) -> StoryError {
        let at = self.key_in(0..0, key, "[");
        self.fault(Some(at), &format!("{key}: {words}"))
    }

    /// A fault of a key of a scene, numbered from 0.
    #[must_use]
    pub fn scene_fault(&self, scene: usize, key: &str, words: &str) -> StoryError {
        let Some(spanned) = self.board.scene.get(scene) else { return self.fault(None, words) };
        let title = &spanned.get_ref().title;
        let called = if title.is_empty() { String::new() } else { format!(" ({title})") };
        let at = self.key_in(spanned.span(), key, "[[scene]]");
        self.fault(Some(at), &format!("scene {}{called}: {key}: {words}", scene + 1))
    }

    /// A fault of the colour of a region.
    #[must_use]
    pub fn color_fault(&self, region: &str, words: &str) -> StoryError {
        let Some(at) = self.text.find("[colors]") else { return self.board_fault("colors", words) };
        self.fault(Some(self.key_in(at..at, region, "[")), &format!("colors: {words}"))
    }

    /// A fault of a key of a source.
    #[must_use]
    pub fn source_fault(&self, name: &str, key: &str, words: &str) -> StoryError {
        let headings = [format!("[source.{name}]"), format!("[source.\"{name}\"]")];
        let at = headings.iter().find_map(|heading| self.text.find(heading.as_str()));
        let at = at.map(|at| self.key_in(at..at, key, "["));
        self.fault(at, &format!("source {name}: {key}: {words}"))
    }

    /// Where a key stands in a table that begins at a place and ends before the next line that begins with `next`.
    fn key_in(&self, table: Range<usize>, key: &str, next: &str) -> usize {
        let key = key.split(['.', '[', ' ']).next().unwrap_or(key);
        let start = self.text[..table.start].rfind('\n').map_or(0, |at| at + 1);
        let mut at = start;
        for (n, line) in self.text[start..].split_inclusive('\n').enumerate() {
            let begins = line.trim_start();
            if n > 0 && begins.starts_with(next) {
                break;
            }
            let named = begins.strip_prefix(key).map(str::trim_start).is_some_and(|rest| rest.starts_with('='));
            if named || begins.trim_start_matches('[').starts_with(&format!("scene.{key}]")) {
                return at;
            }
            at += line.len();
        }
        start
    }
}

/// The line, from 1, of a byte.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes().get(..at).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count()
}
