//! A reel in words: what is said, and what each scene shows.

use super::{Panel, Reel};
use crate::overlay::described::described;
use crate::overlay::lettering::{Lettering, Runs};
use crate::reference::SourceError;
use crate::story::subtitles::{Cue, SceneText};
use crate::units::grouped;
use std::fmt::Write as _;

impl Reel {
    /// Each scene in words.
    ///
    /// # Errors
    /// When a trace cannot be read.
    pub fn described(&mut self) -> Result<Vec<SceneText>, SourceError> {
        let mut out = Vec::new();
        for (n, span) in self.spans().into_iter().enumerate() {
            let frame = self.ending(n)?;
            let mut seen: Vec<String> = Vec::new();
            // Panes of one trace tell of the same.
            for words in frame.pictures.iter().map(|taken| described(&taken.info)) {
                if !seen.contains(&words) {
                    seen.push(words);
                }
            }
            let seen = seen.join(" ");
            self.reuse(frame);
            out.push(SceneText { start: span.start, shows: self.shows(n), title: span.title, seen });
        }
        Ok(out)
    }

    /// What a scene shows and for how long, in words.
    fn shows(&self, n: usize) -> String {
        let scene = &self.scenes[n];
        let (seconds, [from, to]) = (scene.seconds, scene.ticks.map(grouped));
        let named = |panel: &Panel| {
            let (source, exhibit) = (&self.cast[panel.source].name, self.exhibits[panel.exhibit].row.name);
            (source.clone(), exhibit)
        };
        let Some((source, exhibit)) = scene.panels.first().map(named) else {
            return format!("Words alone, for {seconds:.1} s.");
        };
        let mut words = match from == to {
            true => format!("{source} at reference {from}, as {exhibit}, for {seconds:.1} s."),
            false => format!("{source} from reference {from} to {to}, as {exhibit}, in {seconds:.1} s."),
        };
        for (source, exhibit) in scene.panels.iter().skip(1).map(named) {
            let _ = write!(words, " Beside it: {source}, as {exhibit}.");
        }
        words
    }

    /// What is said, with its times: values are those at which it goes.
    ///
    /// # Errors
    /// When a trace cannot be read.
    pub fn cues(&mut self) -> Result<Vec<Cue>, SourceError> {
        let mut cues = Vec::new();
        for n in 0..self.scenes.len() {
            let start = self.firsts[n] as f64 / f64::from(self.fps);
            let seconds = self.scenes[n].seconds;
            let mut spans: Vec<(f64, f64)> = Vec::new();
            if let Some(quiz) = &self.scenes[n].quiz {
                spans.extend([(0.0, quiz.pause), (quiz.pause, quiz.pause + quiz.seconds)]);
            }
            if self.scenes[n].card.is_some() {
                spans.push((0.0, seconds));
            }
            spans.extend(self.scenes[n].captions.iter().map(|caption| (caption.from, caption.until.min(seconds))));
            for (from, until) in spans {
                let last = (until - 1.0 / f64::from(self.fps)).max(from);
                let k = if until >= seconds { self.firsts[n + 1] - 1 } else { self.frame_at(n, last) };
                let frame = self.frame(k)?;
                let text = said(&frame.lettering);
                self.reuse(frame);
                if !text.is_empty() && until > from {
                    // A scene may be a part of a frame shorter than what is asked of it.
                    let end = (start + until).min(self.firsts[n + 1] as f64 / f64::from(self.fps));
                    cues.push(Cue { start: start + from, end, text, scene: n });
                }
            }
        }
        Ok(cues)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time of a film, 0 or more")]
    fn frame_at(&self, n: usize, time: f64) -> u64 {
        (self.firsts[n] + (time * f64::from(self.fps)).floor() as u64).min(self.firsts[n + 1] - 1)
    }
}

/// The words of a frame that are said.
fn said(lettering: &Lettering) -> String {
    let plain = |runs: &Runs| runs.iter().map(|(words, _)| words.as_str()).collect::<String>();
    if let Some(quiz) = &lettering.quiz {
        let told = quiz.right.is_some() || !quiz.answer.is_empty();
        if told {
            let right = quiz
                .right
                .and_then(|right| quiz.choices.get(right))
                .map_or_else(String::new, |right| format!("{right}. "));
            return format!("{right}{}", plain(&quiz.answer));
        }
        return std::iter::once(&quiz.question).chain(&quiz.choices).cloned().collect::<Vec<_>>().join(" / ");
    }
    match &lettering.card {
        Some((title, text)) if text.is_empty() => title.clone(),
        Some((title, text)) => {
            let stop = if title.ends_with(['.', '?', '!', ':']) { "\n" } else { ".\n" };
            format!("{title}{stop}{}", plain(text))
        }
        None => plain(&lettering.caption),
    }
}
