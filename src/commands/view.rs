//! `orrery view`: a trace in the window.

use super::UsageError;
use super::opener;
use super::picture::{asked, called, camera, choice, parts, size, viewed};
use super::stop::{self, Stopped};
use super::task_look::{self, is_tasks};
use super::view_state::{self, Saved};
use super::watch::{Look, against, simulate, watch, watch_kernel};
use crate::app::arrangement::Arrangement;
use crate::app::layouts::NamedLayout;
use crate::app::panes::MOST as MOST_PANES;
use crate::app::{self, Beside, First, Load, Options, Report, Trace};
use crate::cli::{LayoutName, ViewArgs};
use crate::files::Draft;
use crate::opening::{FileKind, remember};
use crate::overlay::exhibits::{EXHIBITS, ExhibitEntry};
use crate::record::png;
use crate::shown::say;
use crate::sim::config::HierarchyConfig;
use crate::trace::bundled::name_in;
use crate::units::grouped;
use anyhow::Context as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Opens the window on a trace and stays until it is closed.
///
/// # Errors
/// When the trace, the cache, a display or an adapter is not to be had.
pub fn run(args: &ViewArgs) -> anyhow::Result<()> {
    show(args, Some(trace(args, args.trace.trace != Path::new("-"))?))
}

/// Opens the window on its start page and stays until it is closed.
///
/// # Errors
/// When a display or an adapter is not to be had.
pub(super) fn start() -> anyhow::Result<()> {
    // Of a trace that nobody named nothing is asked but how others are opened.
    show(&opener::plain(Path::new("-"))?, None)
}

/// Whether the environment names a display, where a window needs that.
pub(super) fn has_display() -> bool {
    let named = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|v| std::env::var_os(v).is_some_and(|v| !v.is_empty()));
    named || !cfg!(target_os = "linux")
}

/// How the arguments want the trace simulated and called.
pub(super) fn look(args: &ViewArgs) -> Look {
    let (cache, picture, name) = (args.cache.clone(), args.picture.clone(), args.trace.trace.clone());
    Look { cache, picture, name, verbose: args.verbose }
}

/// The trace that the arguments name; where it is `kept`, the start page will know it.
///
/// # Errors
/// [`UsageError`].
pub(super) fn trace(args: &ViewArgs, kept: bool) -> anyhow::Result<Trace> {
    if let Some(story) = super::story::named(&args.trace.trace) {
        return super::story::trace(args, &story);
    }
    if is_tasks(&args.trace, &args.picture)? {
        if FileKind::of(&args.trace.trace, args.trace.format) == FileKind::Kernel {
            let (path, picture) = (args.trace.trace.clone(), args.picture.clone());
            let load =
                Box::new(move |report: &mut dyn FnMut(Report) -> bool| watch_kernel(&path, &picture, kept, report));
            return of(args, false, Beside::default(), load);
        }
        let (path, picture) = (args.trace.trace.clone(), args.picture.clone());
        let load = move |report: &mut dyn FnMut(Report) -> bool| {
            let first = task_look::first_studio(&path, &picture);
            let waits = first.is_some();
            if first.is_some_and(|studio| !report(Report::Ready(studio))) {
                return Ok(());
            }
            let studio = task_look::studio(&path, &picture)?;
            // What is bundled is no file.
            if kept && path.exists() {
                remember(&path);
            }
            let all = studio.tasks().map_or(0, |book| book.set().len() as u64);
            report(Report::Ready(studio));
            if waits {
                report(Report::Words(format!("all {} tasks are read", grouped(all))));
            }
            Ok(())
        };
        return of(args, false, Beside::default(), Box::new(load));
    }
    let (args, beside) = if kept { view_state::beside(args)? } else { (args.clone(), Beside::default()) };
    let (file, look) = (args.trace.clone(), look(&args));
    of(&args, false, beside, Box::new(move |report| watch(&file, &look, kept, report)))
}

/// A trace of what `load` reports, shown as the arguments have it; at the newest reference where `follow` is set.
///
/// # Errors
/// [`UsageError`].
pub(super) fn of(args: &ViewArgs, follow: bool, beside: Beside, load: Load) -> anyhow::Result<Trace> {
    let saved = Saved::default();
    let path = &args.trace.trace;
    let stem = called(path).unwrap_or_else(|| "orrery".into());
    let asked = view_state::asked(args, &saved)?;
    Ok(Trace {
        name: match name_in(path) {
            Some(lesson) => lesson.to_owned(),
            None => {
                path.file_name().filter(|s| *s != "-").map_or("orrery".into(), |s| s.to_string_lossy().into_owned())
            }
        },
        load,
        simulate: simulate(&args.trace, &look(args)),
        save_caches: {
            let stem = stem.clone();
            Box::new(move |config| {
                let path = save_caches(Path::new(""), &stem, config)?;
                saved.borrow_mut().push((config.clone(), path.clone()));
                Ok(path)
            })
        },
        save: Box::new(move |tick, size, rgba| save(Path::new(""), &stem, tick, size, rgba)),
        stops: None,
        first: First {
            beside,
            theme: args.picture.theme,
            strip: args.picture.strip,
            against: against(&args.trace, &look(args))?,
            asked,
            view: viewed(&args.picture, camera(&args.picture, first_row(args)?)?, args.speed.unwrap_or(1.0), 1.0)?,
            choice: choice(&args.picture)?,
            parts: parts(&args.picture),
            panes: panes(args)?,
            layout: args.layout.map(layout),
            text_scale: args.picture.text_scale,
            pin: args.picture.pin.clone(),
            tick: args.tick,
            speed: args.speed,
            clock: args.clock,
            play: args.play,
            follow,
        },
    })
}

/// Opens the window on a trace, or on its start page, and stays until it is closed.
///
/// # Errors
/// As [`run`].
pub(super) fn show(args: &ViewArgs, first: Option<Trace>) -> anyhow::Result<()> {
    let size = size(&args.picture)?;
    let (open, clips, over) = opener::opener(args);
    let stopped = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&stopped);
    let ran = app::run(Options {
        first,
        open,
        against: opener::against(args),
        clips,
        offer: opener::offer(),
        size,
        sent: match args.verbose {
            true => Box::new(|sent, waits| {
                say!("{}", sent.words());
                if !waits.is_empty() {
                    say!("{waits}");
                }
            }),
            false => Box::new(|_, _| ()),
        },
        quietly: super::quiet::quietly,
        stops: Box::new(move |close| {
            let stopped = Arc::clone(&heard);
            // The second one ends the program at once, where the window does not come to it.
            stop::on_heard_stop(move || !stopped.swap(true, Ordering::SeqCst) && close());
        }),
    });
    // Programs that the window recorded end with it; what they did until then is being kept.
    while over.recv().is_ok() {}
    ran?;
    match stopped.load(Ordering::SeqCst) {
        true => Err(Stopped("the window was closed in order".into()).into()),
        false => Ok(()),
    }
}

/// What `--panes`, or `--view`, asks the window to open with; nothing = one pane with what suits the trace.
pub(super) fn panes(args: &ViewArgs) -> Result<Arrangement, UsageError> {
    let panes = Arrangement::parse(&args.panes).map_err(|wrong| UsageError(format!("--panes {wrong}")))?;
    if panes.len() > MOST_PANES {
        let asked = panes.len();
        return Err(UsageError(format!("--panes: {asked} panes; a window has room for {MOST_PANES}")));
    }
    let alone: Vec<_> = asked(&args.picture).into_iter().collect();
    Ok(if panes.is_empty() { Arrangement::side_by_side(&alone) } else { panes })
}

/// The exhibit whose camera `--camera` is; `None` = what suits.
///
/// # Errors
/// As [`panes`].
pub(super) fn first_row(args: &ViewArgs) -> Result<Option<&'static ExhibitEntry>, UsageError> {
    Ok(panes(args)?.columns.first().and_then(|column| column.cells.first()).map(|cell| cell.row))
}

/// How `--sort` has the panes, in the words that are usual.
///
/// # Errors
/// Where a pane has no such column, or there are not so many that can be sorted.
pub(super) fn sorts(args: &ViewArgs) -> Result<Vec<String>, UsageError> {
    let refused = |wrong: String| UsageError(format!("--sort {wrong}"));
    let all = panes(args)?;
    let shown: Vec<_> = all.columns.iter().flat_map(|column| &column.cells).map(|cell| cell.row).collect();
    let sortable: Vec<_> = shown.iter().filter(|row| !row.columns.is_empty()).collect();
    let mut sorts = Vec::new();
    for (n, words) in args.picture.sort.iter().enumerate() {
        let said = |row: &ExhibitEntry| {
            let sort = row.sort(words).map_err(refused)?;
            Ok(sort.words(row.columns).unwrap_or_default())
        };
        sorts.push(match (words.is_empty(), sortable.get(n)) {
            (true, _) => String::new(),
            (false, Some(row)) => said(row)?,
            // Which exhibits a layout has depends on the trace: there one of them is to know the heading.
            (false, None) if args.layout.is_some() => {
                let known = EXHIBITS.iter().find(|row| !row.columns.is_empty() && row.sort(words).is_ok());
                let words = || format!("{words}: found no table with this heading; expected one such as misses");
                said(known.ok_or_else(|| refused(words()))?)?
            }
            (false, None) if sortable.is_empty() => said(shown.first().copied().unwrap_or(&EXHIBITS[0]))?,
            (false, None) => {
                let (asked, there) = (args.picture.sort.len(), sortable.len());
                let words = args.picture.sort.join(",");
                return Err(refused(format!("{words}: found {asked}; expected {there} at most, one for each table")));
            }
        });
    }
    sorts.truncate(sorts.iter().rposition(|words| !words.is_empty()).map_or(0, |last| last + 1));
    Ok(sorts)
}

/// The layout of this name.
pub(super) fn layout(name: LayoutName) -> NamedLayout {
    match name {
        LayoutName::Lecture => NamedLayout::Lecture,
        LayoutName::Engineer => NamedLayout::Engineer,
        LayoutName::Compare => NamedLayout::Compare,
    }
}

/// Names tried for a file before giving up.
const NAMES: u32 = 1000;

/// Writes a still of reference `tick` into `folder` as `STEM-TICK.png`, or `STEM-TICK-2.png` and so on. Returns the path.
fn save(folder: &Path, stem: &str, tick: u64, [width, height]: [u32; 2], rgba: &[u8]) -> anyhow::Result<PathBuf> {
    save_first(folder, &format!("{stem}-{tick}"), "png", &mut |file| Ok(png::still(file, rgba, (width, height))?))
}

/// Writes caches into `folder` as `STEM-caches.toml`, or `STEM-caches-2.toml` and so on. Returns the path.
fn save_caches(folder: &Path, stem: &str, config: &HierarchyConfig) -> anyhow::Result<PathBuf> {
    save_first(folder, &format!("{stem}-caches"), "toml", &mut |file| Ok(file.write_all(config.to_toml().as_bytes())?))
}

/// Writes a file into `folder` under the first free name of `NAME.ENDING`, `NAME-2.ENDING` and so on: never over another file. Returns
/// the path.
fn save_first(
    folder: &Path,
    name: &str,
    ending: &str,
    write: &mut dyn FnMut(&mut Draft) -> anyhow::Result<()>,
) -> anyhow::Result<PathBuf> {
    let place = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let failed = || format!("cannot write {name}.{ending} to {}", place.display());
    let numbered = |n: u32| {
        let suffix = if n == 1 { String::new() } else { format!("-{n}") };
        folder.join(format!("{name}{suffix}.{ending}"))
    };
    let mut file = Draft::within(&place.join(format!("{name}.{ending}"))).with_context(failed)?;
    write(&mut file).with_context(failed)?;
    let saved = file.finish_first((1..=NAMES).map(numbered)).with_context(failed)?;
    saved.with_context(|| format!("there are {NAMES} files {name}-N.{ending} already"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stills_never_overwrite_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let picture = |shade: u8| [shade; 2 * 2 * 4];
        let names: Vec<PathBuf> =
            (0..3).map(|shade| save(folder.path(), "mm", 2613, [2, 2], &picture(shade)).unwrap()).collect();
        for (name, expect) in names.iter().zip(["mm-2613.png", "mm-2613-2.png", "mm-2613-3.png"]) {
            assert_eq!(name.file_name().unwrap(), expect);
            assert!(std::fs::read(name).unwrap().starts_with(b"\x89PNG"));
        }
        assert_ne!(std::fs::read(&names[0]).unwrap(), std::fs::read(&names[1]).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no temporary file is left");
    }

    #[test]
    fn panes_are_opened_by_name_and_an_unknown_name_is_answered_with_those_there_are() {
        let asked = |words: &[&str]| {
            let all = ["orrery", "view", "t.orrery"].iter().chain(words).map(|word| (*word).into());
            let crate::cli::Command::View(args) = crate::commands::parse(all).command else { panic!("`view`") };
            panes(&args).map(|panes| panes.texts()).map_err(|error| error.0)
        };
        let some = |texts: &[&str]| Ok(texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(asked(&[]), some(&[]));
        assert_eq!(asked(&["--view", "large"]), some(&["large"]));
        assert_eq!(asked(&["--panes", "numbers,rings"]), some(&["numbers", "rings"]));
        assert_eq!(asked(&["--panes", "2:rings/source:3,numbers"]), some(&["2:rings/source:3", "numbers"]));
        let refused = asked(&["--panes", "rings,ring"]).expect_err("there is no such exhibit");
        assert!(refused.starts_with("--panes ring: expected one of rings, numbers, "), "{refused}");
        let ten = ["rings"; 10].join(",");
        assert_eq!(asked(&["--panes", &ten]), Err("--panes: 10 panes; a window has room for 9".into()));
    }

    #[test]
    fn tables_are_sorted_by_their_headings_and_an_unknown_one_is_answered_with_those_there_are() {
        let asked = |words: &[&str]| {
            let all = ["orrery", "view", "t.orrery"].iter().chain(words).map(|word| (*word).into());
            let crate::cli::Command::View(args) = crate::commands::parse(all).command else { panic!("`view`") };
            sorts(&args).map(|sorts| sorts.join(",")).map_err(|error| error.0)
        };
        let some = |words: &str| Ok(words.to_owned());
        assert_eq!(asked(&["--panes", "rings,source"]), some(""));
        // What cannot be sorted is passed over.
        assert_eq!(asked(&["--panes", "rings,source", "--sort", "Miss Rate:back"]), some("miss-rate:back"));
        assert_eq!(asked(&["--panes", "source/rings,regions", "--sort", ",size"]), some(",size"));
        assert_eq!(asked(&["--panes", "source/rings,regions", "--sort", "misses,"]), some("misses"));
        assert_eq!(asked(&["--view", "functions", "--sort", "lines"]), some("lines"));
        assert_eq!(asked(&["--layout", "engineer", "--sort", "misses"]), some("misses"));
        let expected =
            "--sort size: found no heading `size`; expected one of line, references, misses, miss-rate in `source`";
        assert_eq!(asked(&["--view", "source", "--sort", "size"]), Err(expected.into()));
        let wrong = |words: &[&str]| asked(words).expect_err("it is wrong");
        let rings = wrong(&["--view", "dots", "--sort", "misses"]);
        assert!(
            rings.starts_with("--sort misses: found `rings`, whose rows are not sorted; expected one of "),
            "{rings}"
        );
        let many = wrong(&["--panes", "rings,source", "--sort", "misses,misses"]);
        assert_eq!(many, "--sort misses,misses: found 2; expected 1 at most, one for each table");
        assert!(wrong(&["--layout", "engineer", "--sort", "beauty"]).contains("expected one such as misses"));
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap().path().join("gone");
        let error = save(&folder, "mm", 1, [2, 2], &[0; 16]).unwrap_err();
        assert!(format!("{error:#}").contains("gone"), "{error:#}");
    }
}
