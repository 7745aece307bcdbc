//! A video of what the window shows, beside the window.

use super::picture::context;
use crate::app::{Clip, RecordClip, Report};
use crate::files::Draft;
use crate::record::{Film, Held, Options, Output, record};
use crate::story::of_clip;
use anyhow::Context as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

/// Names that are tried for a video.
const NAMES: u32 = 9999;

/// Makes videos; `over` is held until they are whole.
pub(super) fn recorder(over: Sender<()>) -> RecordClip {
    Arc::new(move |clip, report| {
        let _held = over.clone();
        to_file(clip, Path::new(""), report)
    })
}

/// Writes `STEM-clip.mp4`, or `STEM-clip-2.mp4` and so on, into `folder`, and beside it `STEM-clip.story.toml`.
fn to_file(clip: Clip, folder: &Path, report: &mut dyn FnMut(Report) -> bool) -> anyhow::Result<()> {
    let path = free(folder, &clip.stem).context("all names for videos are taken in this folder")?;
    let output = Output::parse(&path)?;
    let Clip {
        studio,
        row,
        view,
        parts,
        size: [width, height],
        pace,
        theme,
        stretch,
        text_scale,
        arranged,
        life,
        story,
        ..
    } = clip;
    let board = story.map(|story| of_clip(&story, &pace));
    let (exhibit, fps) = (row.open_arranged(&studio, arranged), pace.fps);
    let film = Film::new(context()?, studio, exhibit, (width, height), parts, view, pace)?;
    let mut film = film.with_life(life).with_text_scale(text_scale).with_theme(theme).with_stretch(stretch);
    let stop = AtomicBool::new(false);
    let mut held = Held::new(&mut film, fps);
    let summary = record(&mut held, &output, &Options { fps, ..Options::default() }, &stop, &mut |progress| {
        if !report(Report::Progress(progress.done, progress.total)) {
            stop.store(true, Ordering::Relaxed);
        }
    })?;
    let words = match summary.frames {
        0 => "no frame was done, so no video is there".to_owned(),
        frames => {
            let (path, seconds) = (std::path::absolute(&path).unwrap_or(path), frames as f64 / f64::from(fps));
            let told = match &board {
                Ok(text) => {
                    let board = path.with_extension("story.toml");
                    write(&board, text).with_context(|| format!("{}: cannot be written", board.display()))?;
                    format!("and {}", board.file_name().unwrap_or_default().to_string_lossy())
                }
                Err(why) => format!("no storyboard: {why}"),
            };
            format!("saved {}: {seconds:.1} s, {frames} frames; {told}", path.display())
        }
    };
    report(Report::Words(words));
    Ok(())
}

/// The first name that no file has.
fn free(folder: &Path, stem: &str) -> Option<PathBuf> {
    (1..=NAMES)
        .map(|n| folder.join(if n == 1 { format!("{stem}-clip.mp4") } else { format!("{stem}-clip-{n}.mp4") }))
        .find(|path| [path, &path.with_extension("story.toml")].iter().all(|path| path.symlink_metadata().is_err()))
}

/// A text whole or not at all.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut draft = Draft::create(path)?;
    draft.write_all(text.as_bytes())?;
    draft.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::exhibits::{Arranged, suited};
    use crate::overlay::tests::studio;
    use crate::overlay::{Parts, Stretch};
    use crate::scene::View;
    use crate::scene::palette::Theme;
    use crate::story::{ClipStory, Storyboard};
    use crate::timeline::{Clock, ClockKind, Pace};

    #[test]
    fn a_video_has_its_storyboard_beside_it() {
        if context().is_err() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let story = ClipStory {
            title: "two \"arrays\"".into(),
            trace: "t.orrery".into(),
            caches: vec![("cache", "\"paper\"".into())],
            view: "rings",
            camera: None,
            tail: 8,
            window: 16,
            pin: None,
            show: vec!["A".into()],
            dim: Vec::new(),
            hide: vec!["strip"],
            strip: "served".into(),
            colors: vec![("A".into(), "#ffcc00".into())],
            size: [160, 120],
            theme: "dark",
        };
        for (story, words) in [
            (Ok(story.clone()), "saved "),
            (Ok(story), "; and t-clip-2.story.toml"),
            (Err("nobody can say it".to_owned()), "no storyboard: nobody can say it"),
        ] {
            let studio = studio();
            let clock = std::sync::Arc::new(Clock::new(ClockKind::References, studio.timeline()));
            let clip = Clip {
                stem: "t".into(),
                row: suited(&studio),
                view: View::default(),
                parts: Parts::default(),
                size: [160, 120],
                pace: Pace { start: 0, stop: 4, speed: 30.0, fps: 30, clock },
                stretch: Stretch::default(),
                theme: Theme::default(),
                text_scale: 1.0,
                arranged: Arranged::default(),
                life: None,
                story,
                studio,
            };
            let mut told = String::new();
            let mut report = |report: Report| {
                if let Report::Words(words) = report {
                    told = words;
                }
                true
            };
            to_file(clip, folder.path(), &mut report).expect("it can be written");
            assert!(told.contains(words) && told.contains("5 frames"), "{told}");
        }
        let mut names: Vec<String> = std::fs::read_dir(folder.path())
            .expect("a folder")
            .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        let expected = ["t-clip-2.mp4", "t-clip-2.story.toml", "t-clip-3.mp4", "t-clip.mp4", "t-clip.story.toml"];
        assert_eq!(names, expected);
        let text = std::fs::read_to_string(folder.path().join("t-clip.story.toml")).expect("a text");
        let board = Storyboard::parse(&text, "t-clip").expect("a storyboard").board;
        assert_eq!(board.title, "two \"arrays\"");
        assert_eq!(board.colors["A"], "#ffcc00");
        let scene = board.scene[0].get_ref();
        assert_eq!(
            (&scene.show[..], &scene.hide[..], scene.tail),
            (&["A".to_owned()][..], &["strip".to_owned()][..], Some(8))
        );
    }
}
