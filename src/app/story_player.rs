//! A storyboard in the window, without its window: which frame, what plays, where it waits.

use crate::axis::Position;
use crate::overlay::Studio;
use crate::reference::SourceError;
use crate::render::Bar;
use crate::scene::View;
use crate::story::{Frame, Reel, SceneSpan, StoryError};

/// Makes a trace to be explored of the name of a storyboard's source.
pub type Explore = Box<dyn FnMut(&str) -> anyhow::Result<super::Trace> + Send>;

/// A storyboard that can be shown.
pub struct Story {
    /// Its frames.
    pub reel: Reel,
    /// Opens its traces by themselves.
    pub explore: Explore,
}

/// Where somebody leaves a story to look around.
pub struct Moment {
    /// Of which source.
    pub source: String,
    /// Its trace under its caches.
    pub studio: Studio,
    /// Where.
    pub position: Position,
    /// How it looked.
    pub view: View,
}

/// Frames a second of a story in a window.
pub const FPS: u32 = 60;

/// Plays a storyboard.
pub struct StoryPlayer {
    /// `None` only while it is laid out anew.
    reel: Option<Reel>,
    explore: Explore,
    spans: Vec<SceneSpan>,
    /// Seconds since the start.
    time: f64,
    playing: bool,
    /// The scene whose question was waited at.
    answered: Option<usize>,
    /// Whether it rests at the end of each scene.
    pub by_scenes: bool,
    frame: Option<Frame>,
    drawn: Option<u64>,
    /// Counts frames that were taken.
    generation: u64,
    size: [u32; 2],
    /// What goes under the words of each picture.
    pub(super) bars: Vec<Vec<Bar>>,
}

impl StoryPlayer {
    /// At its start, playing.
    #[must_use]
    pub fn new(story: Story) -> Self {
        let Story { reel, explore } = story;
        let spans = reel.spans();
        Self {
            reel: Some(reel),
            explore,
            spans,
            time: 0.0,
            playing: true,
            answered: None,
            by_scenes: false,
            frame: None,
            drawn: None,
            generation: 0,
            size: [0, 0],
            bars: Vec::new(),
        }
    }

    /// What it is called.
    #[must_use]
    pub fn title(&self) -> &str {
        self.reel.as_ref().map_or("", Reel::title)
    }

    /// The window's title: `orrery - scene 3 of 8 - Why the standard multiply is slow`.
    #[must_use]
    pub fn window_title(&self) -> String {
        let (scene, scenes) = (self.scene() + 1, self.spans.len());
        format!("orrery - scene {scene} of {scenes} - {}", crate::shown::name(self.title()))
    }

    /// Its scenes.
    #[must_use]
    pub fn spans(&self) -> &[SceneSpan] {
        &self.spans
    }

    /// Seconds of all of it.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.spans.last().map_or(0.0, |last| last.start + last.seconds)
    }

    /// Seconds since its start.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Whether it goes on by itself.
    #[must_use]
    pub fn playing(&self) -> bool {
        self.playing
    }

    /// The number of the scene that is shown, from 0.
    #[must_use]
    pub fn scene(&self) -> usize {
        self.spans.partition_point(|span| span.start <= self.time + 1e-9).saturating_sub(1)
    }

    /// Goes on by so many seconds, as far as nothing is waited for.
    pub fn advance(&mut self, passed: f64) {
        if !self.playing {
            return;
        }
        let scene = self.scene();
        let Some(span) = self.spans.get(scene) else { return };
        let mut until = self.seconds();
        let mut rests = true;
        if let Some(question) = span.pause.filter(|_| self.answered != Some(scene)) {
            // The answer comes when somebody asks for it.
            until = span.start + question - 0.5 / f64::from(FPS);
            if self.time >= until {
                // It was gone past by hand.
                (until, rests) = (self.seconds(), true);
            }
        }
        let end = span.start + span.seconds;
        if self.by_scenes && until > end {
            until = end - 0.5 / f64::from(FPS);
        }
        self.time = (self.time + passed).min(until);
        if self.time >= until && rests {
            self.playing = false;
        }
    }

    /// Whether it rests at a question whose answer was not asked for yet.
    #[must_use]
    pub fn rests_at_question(&self) -> bool {
        let scene = self.scene();
        let question = self.spans.get(scene).and_then(|span| Some(span.start + span.pause?));
        let is_there = |question: f64| (question - 1.0 / f64::from(FPS)..question).contains(&self.time);
        !self.playing && self.answered != Some(scene) && question.is_some_and(is_there)
    }

    /// Whether a question is seen whose answer is not.
    #[must_use]
    pub fn is_asking(&self) -> bool {
        let quiz = self.frame().and_then(|(frame, _)| frame.lettering.quiz.as_ref());
        quiz.is_some_and(|quiz| quiz.answer.is_empty()) && self.answered != Some(self.scene())
    }

    /// Goes to the answer of the question that is seen.
    pub fn answer(&mut self) {
        let scene = self.scene();
        let Some(question) = self.spans.get(scene).and_then(|span| Some(span.start + span.pause?)) else { return };
        (self.time, self.answered, self.playing) = (self.time.max(question), Some(scene), true);
    }

    /// Traces that are shown: none in a scene of words alone.
    #[must_use]
    pub fn pictures(&self) -> usize {
        self.frame().map_or(0, |(frame, _)| frame.pictures.len())
    }

    /// Plays or pauses. At a question it goes on to the answer, at the end of a scene to the next one, at the end to the start.
    pub fn toggle(&mut self) {
        if self.playing {
            self.playing = false;
            return;
        }
        self.playing = true;
        if self.time >= self.seconds() {
            (self.time, self.answered) = (0.0, None);
            return;
        }
        let scene = self.scene();
        let Some(span) = self.spans.get(scene) else { return };
        if let Some(question) = span.pause.filter(|_| self.answered != Some(scene))
            && self.time >= span.start + question - 1.0 / f64::from(FPS)
        {
            self.answered = Some(scene);
            self.time = self.time.max(span.start + question);
        }
        let end = span.start + span.seconds;
        if self.time >= end - 1.0 / f64::from(FPS) {
            self.time = end;
        }
    }

    /// Goes to a time.
    pub fn seek(&mut self, time: f64) {
        (self.time, self.answered) = (time.clamp(0.0, self.seconds()), None);
    }

    /// Goes to the start of the next scene, or of this one and then of the one before. Where it rests, to where that scene is seen.
    pub fn turn(&mut self, on: bool) {
        let scene = self.scene();
        let to = match on {
            true => self.spans.get(scene + 1).map_or(self.seconds(), |next| next.start),
            false => {
                let is_late = |span: &SceneSpan| self.time - span.start > span.seen + 1.0;
                let back = if self.spans.get(scene).is_some_and(is_late) { scene } else { scene.saturating_sub(1) };
                self.spans.get(back).map_or(0.0, |span| span.start + if self.playing { 0.0 } else { span.seen })
            }
        };
        self.seek(to);
        self.playing |= on;
    }

    /// Whether the next frame differs from the last one by itself.
    #[must_use]
    pub fn moving(&self) -> bool {
        self.playing
    }

    /// Lays it out for pictures of `size` points in a target of `target` points, and takes the frame of now.
    ///
    /// # Errors
    /// When a trace cannot be read.
    pub fn take(&mut self, size: [u32; 2], target: [u32; 2]) -> Result<(), TakeError> {
        if self.size != size
            && let Some(mut reel) = self.reel.take()
        {
            if let Some(frame) = self.frame.take() {
                reel.reuse(frame);
            }
            let reel = reel.again(size, FPS)?;
            self.spans = reel.spans();
            (self.reel, self.size, self.drawn) = (Some(reel), size, None);
        }
        let Some(reel) = &mut self.reel else { return Ok(()) };
        reel.within(target);
        let k = frame_at(self.time).min(reel.frames().saturating_sub(1));
        if self.drawn != Some(k) {
            if let Some(frame) = self.frame.take() {
                reel.reuse(frame);
            }
            self.frame = Some(reel.frame(k)?);
            self.drawn = Some(k);
            self.generation += 1;
        }
        Ok(())
    }

    /// The frame that was taken last, and the reel that it is of.
    #[must_use]
    pub fn frame(&self) -> Option<(&Frame, &Reel)> {
        self.frame.as_ref().zip(self.reel.as_ref())
    }

    /// Changes with the frame.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Pauses, and gives what is shown to be looked at freely; `None` where there is a card.
    ///
    /// # Errors
    /// When a trace cannot be read.
    pub fn leave(&mut self) -> Result<Option<Moment>, SourceError> {
        self.playing = false;
        let scene = self.scene();
        let (Some((frame, reel)), Some(span)) = (self.frame(), self.spans.get(scene)) else { return Ok(None) };
        let Some(studio) = reel.studio(&span.source) else { return Ok(None) };
        let Some(first) = frame.pictures.first() else { return Ok(None) };
        let (position, view) = (first.info.position, reel.view(frame));
        Ok(Some(Moment { source: span.source.clone(), studio: studio.another()?, position, view }))
    }

    /// As [`StoryPlayer::leave`], as a trace that a window opens at once, as its own would.
    ///
    /// # Errors
    /// When a trace cannot be read, or not be opened.
    pub fn left(&mut self) -> anyhow::Result<Option<super::Trace>> {
        let Some(Moment { source, studio, position, view }) = self.leave()? else { return Ok(None) };
        let mut trace = (self.explore)(&source)?;
        trace.first.tick = position;
        (trace.first.view.tail, trace.first.view.window) = (view.tail, view.window);
        trace.load = Box::new(move |report| {
            report(super::Report::Ready(studio));
            Ok(())
        });
        Ok(Some(trace))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time of a film, 0 or more")]
fn frame_at(time: f64) -> u64 {
    (time * f64::from(FPS)).floor() as u64
}

/// Why there is no frame.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// It cannot be laid out in a window of this size.
    #[error(transparent)]
    Story(#[from] StoryError),
    /// A trace cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::overlay::tests::studio;
    use crate::story::Storyboard;

    const TEXT: &str = "
        title = 'a story'
        [source.s]
        trace = 'in memory'
        [[scene]]
        card = { title = 'first' }
        seconds = 2
        [[scene]]
        title = 'second'
        source = 's'
        from = 10
        to = 20
        seconds = 4
        caption = '{references}'
        [scene.quiz]
        question = 'why?'
        pause = 3
        answer = 'so'
        seconds = 1
        [[scene]]
        to = 30
        seconds = 2
    ";

    pub(in crate::app) fn player() -> StoryPlayer {
        let story = Storyboard::parse(TEXT, "test").expect("it is right");
        let reel = Reel::new(&story, vec![("s".into(), studio())], [640, 400], FPS).expect("it is right");
        StoryPlayer::new(Story { reel, explore: Box::new(|_| anyhow::bail!("nobody asks")) })
    }

    #[test]
    fn it_waits_for_the_answer_and_at_the_end() {
        let mut player = player();
        assert_eq!((player.seconds(), player.scene(), player.playing()), (12.0, 0, true));
        player.advance(2.5);
        assert_eq!((player.scene(), player.playing()), (1, true));
        player.advance(100.0);
        assert!(!player.playing() && player.time() > 4.9 && player.time() < 5.0, "{}", player.time());
        assert!(player.rests_at_question());
        player.take([640, 400], [640, 446]).expect("in memory");
        assert!(player.is_asking());
        let mut early = self::player();
        early.advance(4.0);
        early.take([640, 400], [640, 446]).expect("in memory");
        assert!(early.is_asking() && !early.rests_at_question(), "while it counts down");
        early.answer();
        early.take([640, 400], [640, 446]).expect("in memory");
        assert!(!early.is_asking() && early.playing() && early.time() == 5.0, "{}", early.time());
        player.advance(1.0);
        assert!(player.time() < 5.0, "who waits stays");
        player.take([640, 400], [640, 446]).expect("in memory");
        assert!(
            player.frame().is_some_and(|(frame, _)| frame
                .lettering
                .quiz
                .as_ref()
                .is_some_and(|quiz| quiz.answer.is_empty()))
        );
        player.toggle();
        assert!(!player.rests_at_question(), "it tells");
        player.take([640, 400], [640, 446]).expect("in memory");
        assert!(
            player.frame().is_some_and(|(frame, _)| frame
                .lettering
                .quiz
                .as_ref()
                .is_some_and(|quiz| !quiz.answer.is_empty()))
        );
        player.advance(100.0);
        assert!(!player.playing() && player.time() == 12.0);
        player.toggle();
        assert!(player.playing() && player.time() == 0.0, "it starts over");
    }

    #[test]
    fn scenes_are_turned_and_may_be_rested_at() {
        let mut player = player();
        player.turn(true);
        assert_eq!((player.scene(), player.time()), (1, 2.0));
        assert!(player.window_title().starts_with("orrery - scene 2 of 3 - "), "{}", player.window_title());
        player.turn(true);
        assert_eq!((player.scene(), player.time()), (2, 10.0));
        player.seek(11.5);
        player.turn(false);
        assert_eq!(player.time(), 10.0, "first to the start of the scene");
        player.turn(false);
        assert_eq!(player.time(), 2.0, "then to the one before");
        // Who rests sees the scene, not the dark that it comes out of.
        player.toggle();
        let seen: Vec<f64> = player.spans().iter().map(|span| span.start + span.seen).collect();
        assert_eq!(seen, [0.4, 2.4, 10.0], "the last one goes on without a fade");
        player.seek(11.9);
        for scene in [2, 1, 0] {
            player.turn(false);
            assert_eq!((player.scene(), player.time()), (scene, seen[scene]));
        }
        player.toggle();
        player.by_scenes = true;
        player.seek(0.0);
        player.advance(100.0);
        assert!(!player.playing() && player.scene() == 0 && player.time() > 1.9);
        player.toggle();
        assert_eq!((player.scene(), player.playing()), (1, true));
    }

    #[test]
    fn who_looks_around_gets_the_moment_and_the_story_stays() {
        let mut player = player();
        player.take([640, 400], [640, 446]).expect("in memory");
        assert!(player.leave().expect("in memory").is_none(), "a card has nothing to look at");
        player.seek(8.0);
        player.take([800, 500], [800, 546]).expect("in memory");
        let caption = |player: &StoryPlayer| player.frame().map(|(frame, _)| frame.lettering.caption[0].0.clone());
        assert_eq!(caption(&player).as_deref(), Some("15"));
        let moment = player.leave().expect("in memory").expect("a picture");
        assert_eq!((moment.source.as_str(), moment.position), ("s", Position::at(15)));
        assert_eq!(moment.studio.timeline().len(), 1000);
        assert!(!player.playing() && player.time() == 8.0);
        let (generation, frame) = (player.generation(), player.frame().map(|(frame, _)| frame.pictures.clone()));
        player.take([800, 500], [800, 546]).expect("in memory");
        assert_eq!(player.generation(), generation, "nothing is drawn twice");
        player.seek(3.0);
        player.take([800, 500], [800, 546]).expect("in memory");
        player.seek(8.0);
        player.take([800, 500], [800, 546]).expect("in memory");
        assert_eq!(player.frame().map(|(frame, _)| frame.pictures.clone()), frame, "the same wherever one comes from");
    }
    #[test]
    fn the_window_shows_what_the_film_shows() {
        let story = Storyboard::parse(TEXT, "test").expect("it is right");
        let mut film = Reel::new(&story, vec![("s".into(), studio())], [640, 400], FPS / 2).expect("it is right");
        let mut player = player();
        // Two frames of the window for each of the film; the last of a scene stands at its end in both.
        for k in (0..film.frames()).step_by(7) {
            let time = k as f64 / f64::from(FPS / 2);
            let frame = film.frame(k).expect("in memory");
            player.seek(time + 1e-6);
            player.take([640, 400], [640, 400]).expect("in memory");
            let (shown, _) = player.frame().expect("taken");
            let is_last = film.spans().iter().any(|span| span.frames.end == k + 1);
            if !is_last {
                // Not `assert_eq`, which would print thousands of dots.
                assert!(shown.lettering == frame.lettering, "words at {time} s");
                assert!(shown.pictures == frame.pictures, "pictures at {time} s");
            }
            film.reuse(frame);
        }
    }
}
