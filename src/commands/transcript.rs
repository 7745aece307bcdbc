//! What is said in a storyboard, as files beside its film: subtitles, and a transcript with a still of each scene.

use super::UsageError;
use super::finish;
use super::written::write_whole;
use crate::cli::RecordArgs;
use crate::files::{Draft, make_folder};
use crate::record::{FrameSource, StoryFilm, png};
use crate::scene::palette::Theme;
use crate::story::{Cue, Reel, SceneText, markdown, srt, webvtt};
use anyhow::Context as _;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

/// What the files of `--captions` tell.
pub(super) struct Words {
    title: String,
    about: String,
    cues: Vec<Cue>,
    scenes: Vec<SceneText>,
    files: Vec<PathBuf>,
}

/// The format of a file of `--captions`.
///
/// # Errors
/// Where its name ends otherwise.
pub(super) fn format(path: &Path) -> Result<&'static str, UsageError> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let known = ["vtt", "srt", "md"];
    let found = known.into_iter().find(|known| ending.as_deref() == Some(known));
    found.ok_or_else(|| {
        UsageError(format!("--captions {}: expected a name that ends in .vtt, .srt or .md", path.display()))
    })
}

/// What the files that are asked for will tell; `None` where none is.
///
/// # Errors
/// When a trace cannot be read.
pub(super) fn words(files: &[PathBuf], reel: &mut Reel) -> anyhow::Result<Option<Words>> {
    if files.is_empty() {
        return Ok(None);
    }
    let (cues, scenes) = (reel.cues()?, reel.described()?);
    let (title, about) = (reel.title().to_owned(), reel.about().to_owned());
    Ok(Some(Words { title, about, cues, scenes, files: files.to_vec() }))
}

impl Words {
    /// Writes all files, without pictures.
    ///
    /// # Errors
    /// When one cannot be written.
    pub(super) fn write(&self) -> anyhow::Result<()> {
        self.files.iter().try_for_each(|path| self.file(path, &[]))
    }

    /// Writes all files; a transcript with a still of each scene in a folder beside it.
    ///
    /// # Errors
    /// When a still cannot be drawn, or a file cannot be written.
    pub(super) fn illustrated(&self, film: &mut StoryFilm, (args, theme): (&RecordArgs, Theme)) -> anyhow::Result<()> {
        let mut stills: Vec<Vec<u8>> = Vec::new();
        for path in &self.files {
            if format(path)? != "md" {
                self.file(path, &[])?;
                continue;
            }
            if stills.is_empty() {
                stills = drawn(film, self.scenes.len(), (args, theme))?;
            }
            let folder = path.with_extension("stills");
            let wrong = |path: &Path| format!("{}: cannot be written", path.display());
            make_folder(&folder).with_context(|| wrong(&folder))?;
            let mut links = Vec::new();
            for (n, still) in (1..).zip(&stills) {
                let name = format!("{n:02}.png");
                let file = folder.join(&name);
                let mut draft = Draft::create(&file).with_context(|| wrong(&file))?;
                draft.write_all(still).with_context(|| wrong(&file))?;
                draft.finish().with_context(|| wrong(&file))?;
                links.push(format!("{}/{name}", folder.file_name().unwrap_or_default().to_string_lossy()));
            }
            self.file(path, &links)?;
        }
        Ok(())
    }

    fn file(&self, path: &Path, stills: &[String]) -> anyhow::Result<()> {
        let text = match format(path)? {
            "vtt" => webvtt(&self.title, &self.cues),
            "srt" => srt(&self.cues),
            _ => markdown(&self.title, &self.about, &self.scenes, &self.cues, stills),
        };
        write_whole(path, text.as_bytes())
    }
}

/// Each scene as it ends, as PNG.
fn drawn(film: &mut StoryFilm, scenes: usize, (args, theme): (&RecordArgs, Theme)) -> anyhow::Result<Vec<Vec<u8>>> {
    let refine = &args.finish.refine;
    let size = film.size();
    let side = |side: u32| side / refine.supersample;
    let (mut out, mut spare) = (Vec::new(), Vec::new());
    for n in 0..scenes {
        let mut rgba = film.scene_still(n)?;
        finish::refinement(refine, theme).apply(&mut rgba, size, &mut spare);
        let mut packed = Cursor::new(Vec::new());
        png::still(&mut packed, &rgba, (side(size.0), side(size.1)))?;
        out.push(packed.into_inner());
    }
    Ok(out)
}
