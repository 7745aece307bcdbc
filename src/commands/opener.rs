//! Opens what somebody asks for in the window: as `orrery view` and `orrery demo` would, with what the command line said of caches and
//! pictures.

use super::watch::{Look, with_trace};
use super::{clips, demo, view};
use crate::app::start::{Lesson, Offer, RecentFile};
use crate::app::{OpenAgainst, Opener, RecordClip, Wanted};
use crate::capture::Language;
use crate::cli::{AgainstArgs, Cli, Command, PictureArgs, TraceArgs, ViewArgs};
use crate::files::Scratch;
use crate::opening::{first_start, recent};
use crate::story::bundled;
use crate::trace::bundled::{BUNDLED, STORY_SCHEME, find};
use anyhow::{Context as _, bail};
use clap::Parser as _;
use std::ffi::OsString;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

/// The arguments of `view` for a trace of which nothing else is said.
///
/// # Errors
/// Where the grammar of the command line has none: a bug.
pub(super) fn plain(trace: &Path) -> anyhow::Result<ViewArgs> {
    let words = ["orrery", "view", "--"].map(OsString::from);
    match Cli::try_parse_from(words.into_iter().chain([trace.as_os_str().to_owned()]))?.command {
        Command::View(args) => Ok(args),
        _ => bail!("the arguments of `view` are not understood: a bug, please report it"),
    }
}

/// Opens traces as `like` has it, in what is no property of one trace. Once the opener is gone, what comes with it ends when all that was
/// recorded for it is whole.
pub(super) fn opener(like: &ViewArgs) -> (Opener, RecordClip, Receiver<()>) {
    let (recording, over) = channel();
    let clips = clips::recorder(recording.clone());
    let (cache, clock) = (like.cache.clone(), like.clock);
    let (verbose, picture) = (like.verbose, like.picture.clone());
    let alike = move |args: &mut ViewArgs| {
        (args.verbose, args.picture.memory, args.picture.window) = (verbose, picture.memory, picture.window);
        (args.picture.text_scale, args.picture.reduced_motion) = (picture.text_scale, picture.reduced_motion);
        args.picture.hide.clone_from(&picture.hide);
    };
    let alike_lesson = alike.clone();
    let of_file = move |path: &Path| -> anyhow::Result<ViewArgs> {
        let path = std::path::absolute(path).with_context(|| format!("{}: is no path", path.display()))?;
        let mut args = ViewArgs { cache: cache.clone(), clock, ..plain(&path)? };
        alike(&mut args);
        Ok(args)
    };
    // Where pasted text is kept, as long as the window is there.
    let (mut folder, mut pasted): (Option<Scratch>, u32) = (None, 0);
    let open: Opener = Box::new(move |wanted| match wanted {
        Wanted::File(path) => view::trace(&of_file(path)?, true),
        Wanted::Text(text) => {
            let folder = match &mut folder {
                Some(folder) => folder,
                none => none.insert(Scratch::new().context("there is no folder for temporary files")?),
            };
            pasted += 1;
            let path = folder.put(&format!("pasted-{pasted}.txt"), text.as_bytes());
            let path = path.context("what was pasted cannot be kept for reading")?;
            view::trace(&of_file(&path)?, false)
        }
        Wanted::Program(words) => record(words, &of_file, &recording),
        Wanted::Lesson(name) => {
            if bundled::find(name).is_some() {
                let mut args = plain(Path::new(&format!("{STORY_SCHEME}{name}")))?;
                alike_lesson(&mut args);
                return view::trace(&args, false);
            }
            let lesson = find(name).with_context(|| format!("no bundled trace is called {name}"))?;
            let mut args = demo::shown(Path::new(&lesson.path()), lesson.cache)?;
            alike_lesson(&mut args);
            view::trace(&args, true)
        }
    });
    (open, clips, over)
}

/// Makes what is compared with of a file, opened as `like` has it.
pub(super) fn against(like: &ViewArgs) -> OpenAgainst {
    let look = view::look(like);
    Box::new(move |path| {
        let compared = AgainstArgs::default();
        let look = Look { picture: PictureArgs { compared, ..look.picture.clone() }, ..look.clone() };
        with_trace(TraceArgs { trace: path.to_owned(), format: None }, &look)
    })
}

#[cfg(target_os = "linux")]
use super::recorded::trace as record;

/// Programs are recorded on Linux.
#[cfg(not(target_os = "linux"))]
fn record(
    _: &[String],
    _: &impl Fn(&Path) -> anyhow::Result<ViewArgs>,
    _: &std::sync::mpsc::Sender<()>,
) -> anyhow::Result<crate::app::Trace> {
    bail!("programs are recorded on Linux only; record there, and open the file here")
}

/// What the start page offers.
pub(super) fn offer() -> Offer {
    let stories = bundled::STORIES.iter().map(|story| Lesson { name: story.name, look: story.look });
    let lessons = BUNDLED.iter().map(|lesson| Lesson { name: lesson.name, look: lesson.look }).chain(stories).collect();
    let known = || recent().into_iter().map(|file| RecentFile { path: file.path, about: file.about }).collect();
    let is_source = |path: &Path| Language::of(path).is_some();
    Offer { recent: Box::new(known), lessons, home: std::env::home_dir(), is_first: first_start(), is_source }
}
