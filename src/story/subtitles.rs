//! What is said, as files beside a film: WebVTT, SubRip, a transcript.

use std::fmt::Write;

/// Something that is said from one time to another, seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Cue {
    /// When it appears.
    pub start: f64,
    /// When it goes.
    pub end: f64,
    /// The words, values as they are when it goes.
    pub text: String,
    /// Number of the scene, from 0.
    pub scene: usize,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times of a film")]
fn clock(seconds: f64, point: char) -> String {
    let ms = (seconds.max(0.0) * 1000.0).round() as u64;
    format!("{:02}:{:02}:{:02}{point}{:03}", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000)
}

/// WebVTT (W3C 2019).
#[must_use]
pub fn webvtt(title: &str, cues: &[Cue]) -> String {
    // An arrow, an ampersand and a less-than sign mean something there.
    let fit = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\n', " ");
    let mut out = format!("WEBVTT - {}\n", fit(title));
    for (n, cue) in cues.iter().enumerate() {
        let _ = write!(out, "\n{}\n{} --> {}\n{}\n", n + 1, clock(cue.start, '.'), clock(cue.end, '.'), fit(&cue.text));
    }
    out
}

/// SubRip.
#[must_use]
pub fn srt(cues: &[Cue]) -> String {
    let mut out = String::new();
    for (n, cue) in cues.iter().enumerate() {
        let text = cue.text.replace("-->", "→").replace('\n', " ");
        let _ = write!(out, "{}\n{} --> {}\n{text}\n\n", n + 1, clock(cue.start, ','), clock(cue.end, ','));
    }
    out
}

/// A transcript in Markdown: a heading a scene with its time, what is said, and what is seen.
#[must_use]
pub fn markdown(title: &str, about: &str, scenes: &[(f64, String, String)], cues: &[Cue]) -> String {
    let mut out = format!("# {title}\n");
    if !about.is_empty() {
        let _ = write!(out, "\n{about}\n");
    }
    for (n, (start, called, seen)) in scenes.iter().enumerate() {
        let called = if called.is_empty() { format!("Scene {}", n + 1) } else { called.clone() };
        let time = clock(*start, '.');
        let _ = write!(out, "\n## {called}\n\n{}\n", &time[3..8]);
        for cue in cues.iter().filter(|cue| cue.scene == n) {
            let _ = write!(out, "\n{}\n", cue.text);
        }
        if !seen.is_empty() {
            let _ = write!(out, "\n*In the picture: {seen}*\n");
        }
    }
    out
}
