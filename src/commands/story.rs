//! `orrery record` of a storyboard: its traces are opened and its programs run, and then it is a film.

use super::UsageError;
use super::finish;
use super::heard::{failed as not_recorded, hear};
use super::hierarchy::hierarchy;
use super::open::{cache_choice, failed, opening};
use super::picture::{SIZES, context, give_sources, give_title, sides, size};
use super::record::framerate;
use super::written::write_whole;
use super::{run, stop, transcript};
#[cfg(feature = "viewer")]
use crate::app::{Beside, Explore, Load, Report, Story, Trace};
use crate::capture::{Language, Recording, Running, Streams, Toolchain};
#[cfg(feature = "viewer")]
use crate::cli::ViewArgs;
use crate::cli::{CacheArgs, Compose, PictureArgs, ProposeArgs, RecordArgs, RunArgs, SECONDS, TraceArgs, WINDOW};
use crate::files::{Scratch, read_text};
use crate::opening::{CacheChoice, FileKind};
use crate::overlay::Studio;
use crate::record::{Chapter, Options, Output, RecordError, StoryFilm, Summary, check_format};
use crate::scene::layout::Radii;
use crate::scene::palette::Theme;
use crate::shown::{is_seen, out, say};
use crate::sim::config::{HierarchyConfig, Touched};
use crate::story::bundled;
use crate::story::{Opened as Named, Reel, Source, Storyboard, unknown};
use crate::timeline::{ClockKind, StripKind};
use crate::trace::bundled::STORY_SCHEME as SCHEME;
use crate::trace::file_of;
use anyhow::{Context as _, bail};
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Bytes of a storyboard, at most.
const MOST_BYTES: u64 = 4 << 20;
/// Seconds that a program of a storyboard may run where the storyboard does not say.
const LIMIT: f64 = 60.0;

/// Where a storyboard is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// A file.
    File(PathBuf),
    /// One that came with the program.
    Bundled(String),
}

/// The storyboard that a path names; `None` where it names a trace.
pub(super) fn named(path: &Path) -> Option<Place> {
    if FileKind::of(path, None) != FileKind::Storyboard {
        return None;
    }
    let bundled = path.to_string_lossy().strip_prefix(SCHEME).map(|name| Place::Bundled(name.to_owned()));
    Some(bundled.unwrap_or_else(|| Place::File(path.to_owned())))
}

/// Reads a storyboard.
fn read(place: &Place) -> anyhow::Result<Storyboard> {
    match place {
        Place::Bundled(name) => {
            let Some(story) = bundled::find(name) else {
                let names: Vec<&str> = bundled::STORIES.iter().map(|story| story.name).collect();
                return Err(UsageError(format!("{SCHEME}{name}: {}", unknown(name, &names))).into());
            };
            Ok(Storyboard::parse(story.text, &format!("{SCHEME}{name}"))?)
        }
        Place::File(path) => {
            let shown = path.display();
            let text = read_text(path, MOST_BYTES)
                .with_context(|| format!("{shown}: cannot be read; expected a storyboard, a file in TOML"))?;
            Ok(Storyboard::parse(&text, &shown.to_string())?)
        }
    }
}

/// Records a storyboard until it is done or `stop`.
///
/// # Errors
/// When the storyboard, a trace, a program, the adapter or the output is not to be had.
pub(super) fn film(args: &RecordArgs, place: &Place, stop: &AtomicBool) -> anyhow::Result<Summary> {
    if let Some(flag) = misplaced(args) {
        return Err(UsageError(format!(
            "{flag}: found a storyboard, which says this itself; expected --size, --output-framerate, --text-scale, --theme, \
             --reduced-motion and the flags of storyboards"
        ))
        .into());
    }
    let story = read(place)?;
    let board = &story.board;
    let output = if args.story.dry_run { None } else { Some(finish::output(args)?) };
    for path in &args.story.captions {
        transcript::format(path)?;
    }
    let size = match (&args.picture.size, &board.size) {
        (None, Some(words)) => {
            sides(words).ok_or_else(|| story.board_fault("size", &format!("found `{words}`; {SIZES}")))?
        }
        _ => size(&args.picture)?,
    };
    if let Some(fps) = board.fps.filter(|fps| !(1..=120).contains(fps)) {
        return Err(story.board_fault("fps", &format!("found {fps}; expected 1 to 120 frames a second")).into());
    }
    let fps = finish::rate(args, framerate(args, board.fps)?);
    // A preview is smaller and slower than what is said.
    if let Some(output) = output.as_ref().filter(|_| !args.finish.preview) {
        takes(args, &story, output, (size, fps))?;
    }
    let (drawn, scale) = finish::drawn(args, size)?;
    let theme = theme(args, &story)?;
    let go = || !stop.load(Ordering::Relaxed);
    let wish = Wish { allow_run: args.story.allow_run, picture: args.picture.clone() };
    let opened = open(&story, place, &wish, &go)?;
    let mut traces = Vec::new();
    if args.finish.manifest {
        for source in &opened {
            // The trace of a program is gone afterwards.
            let program = board.source.get(&source.name).and_then(|of| of.program.as_ref());
            let file = program.map_or_else(|| source.trace.trace.clone(), |program| folder(place).join(program));
            traces.push(finish::trace_entry(&source.name, &file, &source.studio)?);
        }
    }
    let sources = opened.into_iter().map(|source| (source.name, source.studio)).collect();
    let points = points(drawn, scale);
    let mut reel = Reel::new(&story, sources, points, fps)?;
    if args.story.no_captions {
        reel.without_captions();
    }
    if args.picture.reduced_motion {
        reel.with_reduced_motion();
    }
    if let Some(number) = args.story.scene {
        let count = reel.spans().len();
        if !reel.keep_scene(number.wrapping_sub(1)) {
            return Err(UsageError(format!(
                "--scene {number}: expected 1 to {count}, as the storyboard has {count} scenes"
            ))
            .into());
        }
    }
    let words = transcript::words(&args.story.captions, &mut reel)?;
    let Some(output) = output else {
        words.map_or(Ok(()), |words| words.write())?;
        return dry_run(&reel, size);
    };
    let spans = reel.spans().into_iter();
    let chapters = spans.map(|span| Chapter { frames: span.frames, title: span.title }).filter(|c| !c.title.is_empty());
    let options = Options { fps, chapters: chapters.collect(), ..Options::default() };
    let mut film = StoryFilm::new(context()?, reel, drawn, scale)?.with_theme(theme);
    let held = !(args.finish.any_flashes || story.board.any_flashes);
    let mut others = finish::others(&mut film, |film, context| film.another(context).ok());
    let summary = finish::film((&mut film, &mut others), args, (&output, theme, held), options, stop)?;
    finish::manifest(args, (&output, &summary), &film.adapter(), &traces)?;
    match words {
        // Who stops does not wait for pictures.
        Some(words) if summary.stopped => words.write()?,
        Some(words) => words.illustrated(&mut film, (args, theme))?,
        None => {}
    }
    Ok(summary)
}

/// Whether a format takes the size and the rate that a storyboard says: else its own lines are what is wrong.
fn takes(args: &RecordArgs, story: &Storyboard, output: &Output, (size, fps): ((u32, u32), u32)) -> anyhow::Result<()> {
    let Err(error) = check_format(output.format(), size, fps) else { return Ok(()) };
    let own = match &error {
        RecordError::Size { .. } if args.picture.size.is_none() => story.board.size.as_ref().map(|_| "size"),
        RecordError::FrameRate { .. } if args.output_framerate.is_none() => story.board.fps.map(|_| "fps"),
        _ => None,
    };
    Err(match own {
        Some(key) => story.board_fault(key, &error.to_string()).into(),
        None => finish::usage(error),
    })
}

/// The sources that scenes show, in the order in which they come.
fn in_use(story: &Storyboard) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for scene in story.scenes() {
        let beside = scene.beside.iter().filter_map(|beside| beside.source.as_ref());
        for name in scene.source.iter().chain(beside) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size in pixels over a small factor")]
fn points((width, height): (u32, u32), scale: f32) -> [u32; 2] {
    [width, height].map(|side| (side as f32 / scale).round().max(1.0) as u32)
}

/// The folder that paths of a storyboard start from.
fn folder(place: &Place) -> PathBuf {
    match place {
        Place::File(path) => path.parent().unwrap_or(Path::new("")).to_owned(),
        Place::Bundled(_) => PathBuf::new(),
    }
}

fn theme(args: &RecordArgs, story: &Storyboard) -> anyhow::Result<Theme> {
    let Some(name) = story.board.theme.as_ref().filter(|_| args.picture.theme == Theme::default()) else {
        return Ok(args.picture.theme);
    };
    let names: Vec<&str> = Theme::ALL.iter().map(|theme| theme.1).collect();
    let theme = Theme::ALL.into_iter().find(|theme| theme.1 == name);
    Ok(theme.ok_or_else(|| story.board_fault("theme", &unknown(name, &names)))?.0)
}

/// Whether programs may be run, and how pictures of traces are made.
#[derive(Clone)]
struct Wish {
    allow_run: bool,
    picture: PictureArgs,
}

/// A source that was opened.
struct Opened {
    name: String,
    studio: Studio,
    trace: TraceArgs,
    caches: CacheArgs,
    /// Where the trace of a program is, as long as it is needed.
    scratch: Option<Scratch>,
}

/// The traces of all sources that are shown, each under its caches, indexed.
fn open(story: &Storyboard, place: &Place, wish: &Wish, go: &dyn Fn() -> bool) -> anyhow::Result<Vec<Opened>> {
    let folder = folder(place);
    let known = in_use(story).into_iter().filter_map(|name| story.board.source.get(&name).map(|source| (name, source)));
    known.map(|(name, source)| studio(story, &name, source, (&folder, place), wish, go)).collect()
}

fn studio(
    story: &Storyboard,
    name: &str,
    source: &Source,
    (folder, place): (&Path, &Place),
    wish: &Wish,
    go: &dyn Fn() -> bool,
) -> anyhow::Result<Opened> {
    let fault = |key: &str, words: &str| story.source_fault(name, key, words);
    let mut kept = None;
    let trace = match (&source.trace, &source.program) {
        (Some(trace), None) => match file_of(Path::new(trace)) {
            None => PathBuf::from(trace),
            Some(file) => {
                let path = folder.join(trace);
                if !folder.join(file).exists() {
                    return Err(fault(
                        "trace",
                        &format!(
                            "found no file {}; expected a path beside the storyboard, lesson:NAME or loops:NAME",
                            path.display()
                        ),
                    )
                    .into());
                }
                path
            }
        },
        (None, Some(program)) => {
            let scratch = Scratch::new().context("the folder for temporary files cannot be written to")?;
            let path = source_file(story, name, program, (folder, place), &scratch)?;
            allowed(wish, place, &path, source)?;
            let trace = run_program(story, name, source, &path, &scratch)?;
            kept = Some(scratch);
            trace
        }
        _ => return Err(fault("trace", "expected either `trace` or `program`").into()),
    };
    // A file of caches lies beside the storyboard too.
    let cache = source.cache.as_ref().map(|cache| {
        let beside = folder.join(cache);
        if cache.ends_with(".toml") && beside.exists() { beside.to_string_lossy().into_owned() } else { cache.clone() }
    });
    let Source { l1, l2, l3, cores, data_only, .. } = source.clone();
    let caches = CacheArgs { cache, l1, l2, l3, cores, data_only, ..CacheArgs::default() };
    let trace = TraceArgs { trace, format: None };
    let choice = match &source.caches {
        None => {
            if let Err(error) = hierarchy(&caches, Touched::PRESETS[1]) {
                let said = error.to_string();
                // A flag stands for the key of its name.
                let (key, words) = match said.strip_prefix("--").and_then(|rest| rest.split_once(' ')) {
                    Some((key, words)) if ["cache", "l1", "l2", "l3", "cores"].contains(&key) => (key, words),
                    _ => ("cache", said.as_str()),
                };
                return Err(fault(key, words).into());
            }
            cache_choice(&caches)
        }
        Some(_) if caches.cache.is_some() || caches.l1.is_some() => {
            return Err(fault("caches", "found `cache` or `l1` besides; expected one of them").into());
        }
        Some(text) => {
            let config =
                HierarchyConfig::from_toml(text, "caches").map_err(|error| fault("caches", &error.to_string()))?;
            CacheChoice::asked(Ok(config))
        }
    };
    let timeline = opening(&trace).timeline(&choice, wish.picture.memory, &mut |_, _| go()).map_err(|error| {
        let told = format!("source {name}");
        failed(error).context(told)
    })?;
    let mut studio = Studio::of(timeline)?;
    let picture = PictureArgs { title: source.title.clone(), ..wish.picture.clone() };
    let called = source.program.as_ref().map_or(trace.trace.clone(), PathBuf::from);
    give_title(&mut studio, &called, &picture);
    give_sources(&mut studio, &trace.trace);
    Ok(Opened { name: name.to_owned(), studio, trace, caches, scratch: kept })
}

/// The source file of a program; that of a bundled storyboard is written to the scratch folder.
fn source_file(
    story: &Storyboard,
    name: &str,
    program: &str,
    (folder, place): (&Path, &Place),
    scratch: &Scratch,
) -> anyhow::Result<PathBuf> {
    if let Place::Bundled(_) = place {
        let text = bundled::program(program).with_context(|| format!("{program}: no such program is bundled"))?;
        return Ok(scratch.put(program, text.as_bytes())?);
    }
    let path = folder.join(program);
    if !path.is_file() {
        let words = format!("found no file {}; expected a source file beside the storyboard", path.display());
        return Err(story.source_fault(name, "program", &words).into());
    }
    Ok(path)
}

/// Whether the program of a storyboard may be run: who made the storyboard may not be who records it.
fn allowed(wish: &Wish, place: &Place, program: &Path, source: &Source) -> anyhow::Result<()> {
    if wish.allow_run || matches!(place, Place::Bundled(_)) {
        return Ok(());
    }
    let words = std::iter::once(program.display().to_string()).chain(source.arguments.iter().cloned());
    let mut words = words.collect::<Vec<_>>().join(" ");
    if !source.flags.is_empty() {
        words = format!("{words}, compiled with {}", source.flags.join(" "));
    }
    if !(is_seen() && std::io::IsTerminal::is_terminal(&std::io::stdin())) {
        return Err(UsageError(format!(
            "the storyboard wants to compile and run {words}; read it, and where you trust it give --allow-run"
        ))
        .into());
    }
    say!("the storyboard wants to compile and run {words}; is that all right? [y/N]");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("standard input cannot be read")?;
    if !matches!(answer.trim(), "y" | "Y" | "yes") {
        return Err(stop::Stopped("the program was not run".into()).into());
    }
    Ok(())
}

/// Compiles and records a program; gives its trace.
fn run_program(
    story: &Storyboard,
    name: &str,
    source: &Source,
    path: &Path,
    scratch: &Scratch,
) -> anyhow::Result<PathBuf> {
    let fault = |words: &str| story.source_fault(name, "program", words);
    let limit = source.limit.unwrap_or(LIMIT);
    if !(limit.is_finite() && (0.1..=86400.0).contains(&limit)) {
        return Err(story.source_fault(name, "limit", &format!("found {limit}; expected 0.1 to 86400 seconds")).into());
    }
    let shown = path.display();
    let language = Language::of(path)
        .ok_or_else(|| fault(&format!("found {shown}; expected a source file: .c, .cpp, .cc, .cxx, .f90, .f, .s")))?;
    let before = ["orrery", "run", "--no-view"].map(OsString::from);
    let flags = source.flags.iter().flat_map(|flag| ["--flag".into(), OsString::from(flag)]);
    let words = before.into_iter().chain(flags).chain(["--".into(), path.as_os_str().to_owned()]);
    let crate::cli::Command::Run(args) = super::parse(words).command else {
        bail!("the arguments of `run` are not understood: a bug, please report it")
    };
    let args: RunArgs = args;
    let program = scratch.path().join("program");
    let (ended, said) = Toolchain::find(language)?.build(&run::words(&args, &program), &|notice| hear()(notice))?;
    if !ended.success() {
        let words = fault(&format!("does not compile ({ended}):\n{}", said.trim_end()));
        return Err(super::NotCompiled(words.to_string()).into());
    }
    let output = scratch.path().join(format!("{name}.orrery"));
    let recording = Recording::begin(&output, hear()).map_err(not_recorded)?;
    let arguments: Vec<OsString> = source.arguments.iter().map(OsString::from).collect();
    let running = Running::start(&program, &arguments, recording.own(), [], Some(Streams::silent()))
        .with_context(|| format!("{shown} cannot be started"))?;
    let stops = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&stops);
    let stopping = stop::on_stop(move || counter.fetch_add(1, Ordering::SeqCst) < u32::MAX);
    let ended = running.watch_for(&stops, Duration::from_secs_f64(limit));
    stop::is_over(stopping);
    let (ended, late) = ended.with_context(|| format!("{shown} cannot be waited for"))?;
    if stops.load(Ordering::SeqCst) > 0 {
        return Err(stop::Stopped(format!("{shown} was recorded for the storyboard")).into());
    }
    if late {
        return Err(fault(&format!(
            "found that it runs longer than {limit} s; give it less to do, or write limit = SECONDS"
        ))
        .into());
    }
    if !ended.success() {
        return Err(fault(&format!("found that it failed ({ended}); expected that it ends with 0")).into());
    }
    if !recording.end().map_err(not_recorded)? {
        return Err(fault("found that it recorded nothing; expected a program that touches memory of its own").into());
    }
    Ok(output)
}

/// Proposes a storyboard for a trace.
///
/// # Errors
/// When the trace or the caches are not to be had, or the file cannot be written.
pub(super) fn propose(args: &ProposeArgs) -> anyhow::Result<()> {
    let ProposeArgs { trace, cache, output } = args;
    if named(&trace.trace).is_some() {
        return Err(UsageError(format!("{}: found a storyboard; expected a trace", trace.trace.display())).into());
    }
    if trace.trace == Path::new("-") {
        return Err(UsageError("-: expected a file, which the storyboard can name".into()).into());
    }
    if let Some(output) = output.as_ref().filter(|output| !output.to_string_lossy().ends_with(".story.toml")) {
        return Err(UsageError(format!("-o {}: expected a name that ends in .story.toml", output.display())).into());
    }
    let timeline = opening(trace).timeline(&cache_choice(cache), MEMORY, &mut |_, _| true).map_err(failed)?;
    let mut studio = Studio::of(timeline)?;
    if studio.tables().title.is_empty() {
        studio.set_title(super::picture::called(&trace.trace).unwrap_or_default());
    }
    // Seen from the storyboard's own folder.
    let path = match (file_of(&trace.trace), output) {
        (Some(_), Some(output)) => beside(&trace.trace, output)?,
        _ => trace.trace.to_string_lossy().into_owned(),
    };
    let text = |text: &Option<String>| text.as_ref().map(|text| format!("{text:?}"));
    let chosen = cache.cache.clone().or_else(|| {
        let by_touch = [&cache.l1, &cache.l2, &cache.l3].iter().all(|level| level.is_none());
        by_touch.then(|| studio.timeline().config().name.clone())
    });
    let keys = [
        ("cache", text(&chosen)),
        ("l1", text(&cache.l1)),
        ("l2", text(&cache.l2)),
        ("l3", text(&cache.l3)),
        ("cores", cache.cores.map(|cores| cores.to_string())),
        ("data_only", cache.data_only.then(|| "true".to_owned())),
    ];
    let caches: Vec<(&str, String)> = keys.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
    let board = crate::story::propose(&studio, &Named { trace: &path, caches: &caches });
    match output {
        Some(path) => write_whole(path, board.as_bytes()),
        None => Ok(out().write_all(board.as_bytes())?),
    }
}

/// Memory of an index, bytes.
const MEMORY: u64 = 64 << 20;

/// The path of a trace as a file beside `output` names it: relative where both are in one folder.
fn beside(trace: &Path, output: &Path) -> anyhow::Result<String> {
    let whole = |path: &Path| std::path::absolute(path).with_context(|| format!("{}: is no path", path.display()));
    let (trace, output) = (whole(trace)?, whole(output)?);
    let near = output.parent().and_then(|folder| trace.strip_prefix(folder).ok());
    Ok(near.unwrap_or(&trace).to_string_lossy().into_owned())
}

/// What the film comes to, in words.
fn dry_run(reel: &Reel, (width, height): (u32, u32)) -> anyhow::Result<Summary> {
    let (frames, fps) = (reel.frames(), reel.fps());
    let mut out = out();
    let seconds = frames as f64 / f64::from(fps);
    writeln!(out, "{}: {seconds:.1} s, {frames} frames of {width}x{height}, {fps} frames/s", reel.title())?;
    for (n, span) in reel.spans().iter().enumerate() {
        let title = if span.title.is_empty() { "-" } else { &span.title };
        let shows = match span.source.as_str() {
            "" => "a card".to_owned(),
            source if span.ticks[0] == span.ticks[1] => format!("{source}, reference {}", span.ticks[0]),
            source => format!("{source}, references {} to {}", span.ticks[0], span.ticks[1]),
        };
        writeln!(out, "{:>3}  {:>6.1} s  {:>5.1} s  {title}: {shows}", n + 1, span.start, span.seconds)?;
    }
    let none = Duration::ZERO;
    let stages = crate::record::Stages { draw: none, convert: none, encode: none };
    Ok(Summary { frames, total: frames, bytes: 0, elapsed: none, stages, stopped: false })
}

/// The first flag that a storyboard takes no notice of.
fn misplaced(args: &RecordArgs) -> Option<&'static str> {
    let RecordArgs {
        trace,
        cache,
        picture,
        speed,
        seconds,
        start_ref,
        stop_ref,
        start_position,
        stop_position,
        clock,
        ..
    } = args;
    let all = [
        (trace.format.is_some(), "--format"),
        (cache.cache.is_some(), "--cache"),
        (cache.l1.is_some(), "--l1"),
        (cache.l2.is_some(), "--l2"),
        (cache.l3.is_some(), "--l3"),
        (cache.data_only, "--data-only"),
        (cache.cores.is_some(), "--cores"),
        (cache.seed.is_some(), "--seed"),
        (cache.scores.is_some(), "--scores"),
        (picture.tail.is_some(), "--tail"),
        (picture.camera.is_some(), "--camera"),
        (picture.pin.is_some(), "--pin"),
        (picture.title.is_some(), "--title"),
        (!picture.hide.is_empty(), "--hide"),
        (!picture.show.is_empty(), "--show"),
        (picture.dim.is_some(), "--dim"),
        (picture.view != Compose::Auto, "--view"),
        (!picture.sort.is_empty(), "--sort"),
        (picture.compared.against.is_some(), "--against"),
        (!picture.regions.color.is_empty(), "--color"),
        (!picture.regions.order.is_empty(), "--order"),
        (picture.regions.radii != Radii::default(), "--radii"),
        (picture.window != WINDOW, "--window"),
        (picture.strip != StripKind::Served, "--strip"),
        (*seconds != SECONDS, "--seconds"),
        (speed.is_some(), "--speed"),
        (*clock != ClockKind::References, "--clock"),
        (start_ref.is_some(), "--start-ref"),
        (stop_ref.is_some(), "--stop-ref"),
        (start_position.is_some(), "--start-position"),
        (stop_position.is_some(), "--stop-position"),
    ];
    all.into_iter().find(|(given, _)| *given).map(|(_, flag)| flag)
}

/// A storyboard for the window: played there, and left for its traces.
///
/// # Errors
/// [`UsageError`].
#[cfg(feature = "viewer")]
pub(super) fn trace(args: &ViewArgs, place: &Place) -> anyhow::Result<Trace> {
    let wish = Wish { allow_run: args.allow_run, picture: args.picture.clone() };
    let (place, like) = (place.clone(), args.clone());
    let size = super::picture::size(&args.picture)?;
    let load: Load = Box::new(move |report| {
        let story = read(&place)?;
        let wanted = std::cell::RefCell::new(report);
        let opened = open(&story, &place, &wish, &|| (*wanted.borrow_mut())(Report::Progress(0, 0)))?;
        let (mut sources, mut known) = (Vec::new(), Vec::new());
        for Opened { name, studio, trace, caches, scratch } in opened {
            sources.push((name.clone(), studio));
            known.push((name, trace, caches, scratch));
        }
        let reel = Reel::new(&story, sources, [size.0, size.1], crate::app::story_player::FPS)?;
        let explore: Explore = Box::new(move |source| {
            let found = known.iter().find(|(name, ..)| name == source);
            let (_, trace, caches, _) = found.with_context(|| format!("{source}: no such source"))?;
            super::view::trace(&ViewArgs { trace: trace.clone(), cache: caches.clone(), ..like.clone() }, false)
        });
        (*wanted.borrow_mut())(Report::Story(Box::new(Story { reel, explore })));
        Ok(())
    });
    super::view::of(args, false, Beside::default(), load)
}
