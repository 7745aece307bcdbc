//! Storyboards: what of `record` is for them alone, and `story`.

use super::{CacheArgs, TraceArgs};
use clap::Args;
use std::path::PathBuf;

/// How a storyboard is made into a film.
#[derive(Debug, Clone, Default, Args)]
pub struct StoryArgs {
    /// Say what a storyboard comes to, scene by scene, and draw nothing; files of --captions are written
    #[arg(long)]
    pub dry_run: bool,
    /// Leave captions out of the pictures
    #[arg(long)]
    pub no_captions: bool,
    /// Write what is said to this file too: .vtt (WebVTT), .srt (SubRip) or .md (a transcript); may be given several times
    #[arg(long, value_name = "FILE")]
    pub captions: Vec<PathBuf>,
    /// Compile and run the programs that a storyboard names without asking
    #[arg(long)]
    pub allow_run: bool,
    /// Draw this scene alone, by its number from 1
    #[arg(long, value_name = "N")]
    pub scene: Option<usize>,
}

impl StoryArgs {
    /// The first of these flags that is given.
    #[must_use]
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            (self.dry_run, "--dry-run"),
            (self.no_captions, "--no-captions"),
            (!self.captions.is_empty(), "--captions"),
            (self.allow_run, "--allow-run"),
            (self.scene.is_some(), "--scene"),
        ];
        all.into_iter().find(|(given, _)| *given).map(|(_, flag)| flag)
    }
}

const EXAMPLES: &str = "\
Examples:
  orrery story t.orrery -o t.story.toml              propose a storyboard
  orrery t.story.toml                                play it in the window
  orrery record t.story.toml -o t.mp4                make the film";

/// `story`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ProposeArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub trace: TraceArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened group")]
    pub cache: CacheArgs,
    /// File to write, NAME.story.toml; standard output without it
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
