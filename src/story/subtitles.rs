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

/// Words in their lines, none of them empty: an empty one ends a cue.
fn lines(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// WebVTT (W3C 2019).
#[must_use]
pub fn webvtt(title: &str, cues: &[Cue]) -> String {
    // An arrow, an ampersand and a less-than sign mean something there.
    let fit = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut out = format!("WEBVTT - {}\n", fit(&title.replace('\n', " ")));
    for (n, cue) in cues.iter().enumerate() {
        let _ = write!(
            out,
            "\n{}\n{} --> {}\n{}\n",
            n + 1,
            clock(cue.start, '.'),
            clock(cue.end, '.'),
            fit(&lines(&cue.text))
        );
    }
    out
}

/// SubRip.
#[must_use]
pub fn srt(cues: &[Cue]) -> String {
    let mut out = String::new();
    for (n, cue) in cues.iter().enumerate() {
        let text = lines(&cue.text.replace("-->", "→"));
        let _ = write!(out, "{}\n{} --> {}\n{text}\n\n", n + 1, clock(cue.start, ','), clock(cue.end, ','));
    }
    out
}

/// A scene in words.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneText {
    /// When it begins, seconds.
    pub start: f64,
    /// What it is called; empty = nothing.
    pub title: String,
    /// What it shows, and for how long.
    pub shows: String,
    /// What is seen as it ends; empty = words alone.
    pub seen: String,
}

/// A transcript in Markdown: a heading a scene with its time, its still where there is one, what is said, and what is seen. `stills` are
/// the paths of the stills from where the transcript lies, one a scene, or none.
#[must_use]
pub fn markdown(title: &str, about: &str, scenes: &[SceneText], cues: &[Cue], stills: &[String]) -> String {
    let mut out = format!("# {title}\n");
    if !about.is_empty() {
        let _ = write!(out, "\n{about}\n");
    }
    for (n, SceneText { start, title, shows, seen }) in scenes.iter().enumerate() {
        let called = if title.is_empty() { format!("Scene {}", n + 1) } else { title.clone() };
        let time = clock(*start, '.');
        let _ = write!(out, "\n## {called}\n\n{}. {shows}\n", &time[3..8]);
        if let Some(still) = stills.get(n) {
            // What is seen is said below.
            let _ = write!(out, "\n![{}, as it ends](<{}>)\n", escaped(&called, "\\[]"), escaped(still, "\\<>"));
        }
        for cue in cues.iter().filter(|cue| cue.scene == n) {
            let _ = write!(out, "\n{}\n", cue.text);
        }
        if !seen.is_empty() {
            let _ = write!(out, "\n*In the picture: {seen}*\n");
        }
    }
    out
}

/// Text in which signs have no meaning of their own, on one line.
fn escaped(text: &str, signs: &str) -> String {
    let sign = |c: char| match c {
        '\n' | '\r' => " ".to_owned(),
        c if signs.contains(c) => format!("\\{c}"),
        c => c.to_string(),
    };
    text.chars().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_has_a_still_a_scene_and_words_that_break_no_link() {
        let scene = |start, title: &str, seen: &str| SceneText {
            start,
            title: title.into(),
            shows: "s at reference 3, as rings, for 2.0 s.".into(),
            seen: seen.into(),
        };
        let scenes = [scene(0.0, "", "A[3] misses."), scene(62.0, "T[2]", "")];
        let cues = [Cue { start: 0.0, end: 1.0, text: "said".into(), scene: 0 }];
        let shows = "s at reference 3, as rings, for 2.0 s.";
        let stills = ["a <b>.stills/01.png".into(), "x/02.png".into()];
        assert_eq!(
            markdown("t", "what", &scenes, &cues, &stills),
            format!(
                "# t\n\nwhat\n\n## Scene 1\n\n00:00. {shows}\n\n![Scene 1, as it ends](<a \\<b\\>.stills/01.png>)\n\nsaid\n\n\
                 *In the picture: A[3] misses.*\n\n## T[2]\n\n01:02. {shows}\n\n![T\\[2\\], as it ends](<x/02.png>)\n"
            )
        );
        assert!(!markdown("t", "", &scenes, &cues, &[]).contains("!["));
    }
}
