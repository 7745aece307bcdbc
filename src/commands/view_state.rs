//! The command line of `orrery view` as what a window shows, and back: what is copied as a command, what is kept of how a window was left.

use super::UsageError;
use super::hierarchy::{DEFAULT_PRESET, hierarchy};
use super::picture::camera;
use super::view::{first_row, layout, panes, sorts};
use crate::app::state::{Flag, ViewState, split};
use crate::app::transport::PlayRange;
use crate::app::{Asked, Beside, KeepLeft};
use crate::cli::{CacheArgs, Cli, Command, ViewArgs, canonical};
use crate::opening::{self, Sidecar};
use crate::shown::say;
use crate::sim::config::{HierarchyConfig, LevelConfig, Ways, format_size, presets};
use crate::trace::bundled::name_in;
use clap::{Parser, ValueEnum};
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;

/// Caches that were saved in the window, and where.
pub(super) type Saved = Rc<RefCell<Vec<(HierarchyConfig, PathBuf)>>>;

/// What the window is opened with.
///
/// # Errors
/// Where a flag is wrong.
pub(super) fn asked(args: &ViewArgs, saved: &Saved) -> Result<Asked, UsageError> {
    if let (Some(from), Some(to)) = (args.in_point, args.out_point)
        && to <= from
    {
        return Err(UsageError(format!("--out {to}: expected a moment after --in {from}")));
    }
    let (cache, saved) = (args.cache.clone(), Rc::clone(saved));
    let express = move |config: &HierarchyConfig| express(&cache, &saved.borrow(), config).map(|args| flags(&args));
    Ok(Asked::new(state(args)?, Box::new(express)))
}

/// What is kept beside the trace, and what the window begins with: what was asked for, or with `--resume` also what it was left with.
///
/// # Errors
/// Where a flag is wrong.
pub(super) fn beside(args: &ViewArgs) -> Result<(ViewArgs, Beside), UsageError> {
    let lesson = name_in(&args.trace.trace);
    let sidecar = match lesson {
        Some(lesson) => Sidecar::of_lesson(lesson),
        None => Sidecar::beside(&args.trace.trace),
    };
    match sidecar {
        Some(sidecar) => of_notes(args, sidecar, lesson.is_some()),
        None => Ok((args.clone(), Beside::default())),
    }
}

/// What there is beside a trace that is recorded from now on: the notes of a recording that was there before it.
///
/// # Errors
/// Where a flag is wrong.
pub(super) fn beside_recording(args: &ViewArgs) -> Result<Beside, UsageError> {
    of_notes(args, Sidecar::of_recording(&args.trace.trace), false).map(|(_, beside)| beside)
}

/// `in_ours`: the notes are in a folder of ours, where how the window was left can always be kept.
fn of_notes(args: &ViewArgs, mut sidecar: Sidecar, in_ours: bool) -> Result<(ViewArgs, Beside), UsageError> {
    let (notes, fault) = match sidecar.read() {
        Ok(notes) => (notes, None),
        Err(error) => {
            say!("note: {error}");
            (Default::default(), Some(error.to_string()))
        }
    };
    let left = match notes.left.as_deref() {
        Some(command) => {
            let left = read(command);
            if left.is_none() {
                say!(
                    "note: {}: found no command in `left`, so nothing is known of how the window was left",
                    sidecar.path().display()
                );
            }
            left
        }
        None => opening::left(&args.trace.trace).as_deref().and_then(read),
    };
    let mut begin = args.clone();
    match (&left, args.resume) {
        (Some(left), true) => {
            let both = state(args)?.over(left.clone());
            begin = ViewArgs {
                trace: args.trace.clone(),
                play: args.play,
                verbose: args.verbose,
                ..of(&both).map_err(UsageError)?
            };
        }
        (None, true) if fault.is_none() => {
            say!("note: --resume: nothing is kept of how a window of this trace was left; it begins at the start");
        }
        _ => {}
    }
    let keep = Box::new(move |ours: &crate::trace::notes::Notes| Ok(sidecar.keep(ours)?));
    let trace = args.trace.trace.clone();
    let keep_left = Box::new(move |command: Option<&str>| opening::leave(&trace, command));
    let keep_left = if in_ours { None } else { Some(keep_left as KeepLeft) };
    Ok((begin, Beside { notes, fault, keep: Some(keep), left, keep_left }))
}

/// The state that a command says; `None` where it is none of `orrery view`.
fn read(command: &str) -> Option<ViewState> {
    let words = split(command)?;
    match parse(words).ok()? {
        Command::View(args) => state(&args).ok(),
        _ => None,
    }
}

fn parse(words: Vec<String>) -> Result<Command, clap::Error> {
    // As it is typed, and without a look at which files there are.
    let words = canonical(words.into_iter().map(OsString::from), |_| false);
    Cli::try_parse_from(words).map(|cli| cli.command)
}

/// The arguments that a state says.
fn of(state: &ViewState) -> Result<ViewArgs, String> {
    match parse(state.words()) {
        Ok(Command::View(args)) => Ok(args),
        Ok(_) => Err("--resume: what is kept is another command".into()),
        Err(error) => Err(format!("--resume: what is kept cannot be read: {error}")),
    }
}

/// The state that arguments say.
fn state(args: &ViewArgs) -> Result<ViewState, UsageError> {
    let picture = &args.picture;
    let some = |flag: &str, value: Option<String>| value.map(|value| (flag.to_owned(), Some(value)));
    let listed = |names: Vec<String>| (!names.is_empty()).then(|| names.join(","));
    let mut hidden: Vec<String> =
        picture.hide.iter().filter_map(|part| Some(part.to_possible_value()?.get_name().to_owned())).collect();
    hidden.sort();
    hidden.dedup();
    let others = [
        some("--hide", listed(hidden)),
        some("--title", picture.title.clone()),
        some("--size", picture.size.clone().filter(|size| size != super::picture::USUAL_SIZE)),
        some("--memory", Some(picture.memory).filter(|memory| *memory != USUAL_MEMORY).map(format_size)),
    ];
    Ok(ViewState {
        trace: args.trace.trace.to_string_lossy().into_owned(),
        reading: some("--format", args.trace.format.map(|format| format.name().to_owned())).into_iter().collect(),
        caches: flags(&args.cache),
        layout: args.layout.map(layout),
        panes: panes(args)?.texts(),
        sorts: sorts(args)?,
        text_scale: picture.text_scale,
        calm: picture.reduced_motion,
        camera: camera(picture, first_row(args)?)?,
        position: args.tick,
        range: PlayRange { from: args.in_point, to: args.out_point },
        pin: picture.pin.clone(),
        loops: args.over_and_over,
        clock: args.clock,
        speed: args.speed,
        tail: picture.tail.unwrap_or(crate::app::state::TAIL),
        window: picture.window,
        show: picture.show.clone(),
        dim: picture.dim.clone().unwrap_or_default(),
        dim_rest: picture.dim.as_ref().is_some_and(Vec::is_empty),
        colors: picture.regions.color.clone(),
        order: picture.regions.order.clone(),
        radii: picture.regions.radii,
        against: picture.compared.against.clone(),
        in_step: picture.compared.in_step.clone(),
        theme: picture.theme,
        strip: picture.strip,
        solids: picture.solids.look(),
        others: others.into_iter().flatten().collect(),
    })
}

/// Size and memory where none are asked for; a test holds them to what the command line says.
const USUAL_MEMORY: u64 = 64 << 20;

/// The flags of caches.
fn flags(args: &CacheArgs) -> Vec<Flag> {
    let CacheArgs { cache, l1, l2, l3, data_only, cores, seed, scores } = args;
    let valued = [
        ("--cache", cache.clone()),
        ("--l1", l1.clone()),
        ("--l2", l2.clone()),
        ("--l3", l3.clone()),
        ("--cores", cores.map(|n| n.to_string())),
        ("--seed", seed.map(|n| n.to_string())),
        ("--scores", scores.clone()),
    ];
    let valued = valued.into_iter().filter(|(_, value)| value.is_some()).map(|(flag, value)| (flag.to_owned(), value));
    valued.chain(data_only.then(|| ("--data-only".to_owned(), None))).collect()
}

/// The flags that say `config`, which was asked for by `own` and changed in the window: a preset, a preset or `own` with levels of other
/// sizes, or a file in which it was saved. Whatever is given makes these caches: it was tried.
fn express(own: &CacheArgs, saved: &[(HierarchyConfig, PathBuf)], config: &HierarchyConfig) -> Option<CacheArgs> {
    let bare = |config: &HierarchyConfig| HierarchyConfig { name: String::new(), ..config.clone() };
    let by_file = |args: &CacheArgs| {
        args.cache.as_deref().is_some_and(|name| name != crate::host::NAME && presets().iter().all(|p| p.name != name))
    };
    let is_it = |args: &CacheArgs| {
        let Ok(made) = hierarchy(args, DEFAULT_PRESET) else { return false };
        // Where neither a flag nor a file says how many cores there are, the trace does.
        let cores = if args.cores.is_none() && !by_file(args) { config.cores } else { made.cores };
        bare(&HierarchyConfig { cores, ..made }) == bare(config)
    };
    // What a file said of cores is to be said by a flag.
    let cores = own.cores.or(by_file(own).then_some(config.cores));
    let other = |cache: Option<&str>| CacheArgs {
        cache: cache.map(str::to_owned),
        cores,
        seed: own.seed,
        data_only: own.data_only,
        ..CacheArgs::default()
    };
    let plain = presets().iter().map(|preset| other(Some(preset.name)));
    let bases = [own.clone(), other(None)].into_iter().chain(presets().iter().map(|preset| other(Some(preset.name))));
    // Of each base as few levels as there are to be said; the innermost three can be.
    let reshaped = bases.flat_map(|base| {
        (1..8u8).map(move |which| {
            let level = |n: usize| (which >> n & 1 == 1).then(|| at_depth(config, n).map(shape)).flatten();
            let kept = |n: usize, own: &Option<String>| level(n).or_else(|| own.clone());
            CacheArgs { l1: kept(0, &base.l1), l2: kept(1, &base.l2), l3: kept(2, &base.l3), ..base.clone() }
        })
    });
    let file =
        saved.iter().rev().find(|(saved, _)| saved == config).map(|(_, path)| path.to_string_lossy().into_owned());
    let file = file.map(|path| CacheArgs { cache: Some(path), ..CacheArgs::default() });
    [own.clone()].into_iter().chain(plain).chain(reshaped).find(is_it).or(file)
}

/// The level that `--l1` (0) and its like mean: of split ones the one for data.
fn at_depth(config: &HierarchyConfig, depth: usize) -> Option<&LevelConfig> {
    let mut levels = config.depths().into_iter().zip(&config.levels);
    levels.find(|(d, level)| usize::from(*d) == depth && level.holds.serves(false)).map(|(_, level)| level)
}

/// `SIZE,WAYS,LINE,POLICY`, as `--l1` reads it.
fn shape(level: &LevelConfig) -> String {
    let ways = match level.ways {
        Ways::Full => "full".to_owned(),
        Ways::Count(ways) => ways.to_string(),
    };
    format!("{},{ways},{},{}", format_size(level.size), level.line, level.policy)
}

#[cfg(test)]
mod tests;

/// Checks with files, which are beside code: `tests/architecture.rs` takes no other file of commands for tests.
#[cfg(test)]
mod kept_tests {
    use super::tests::args;
    use crate::axis::Position;
    use crate::trace::notes::Notes;

    #[test]
    fn a_window_is_resumed_as_it_was_left_but_for_what_is_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let trace = folder.path().join("t.orrery");
        std::fs::write(&trace, "not looked at").expect("written");
        let with = |words: &[&str]| {
            let mut args = args(words);
            args.trace.trace.clone_from(&trace);
            args
        };
        let (begin, beside) = super::beside(&with(&["--resume"])).expect("sound");
        assert!(begin.tick == Position::START && beside.left.is_none() && beside.fault.is_none());
        let mut keep = beside.keep.expect("a file can be there");
        let left = Some("orrery view old.orrery --cache zen4 --tick 7 --tail 9".to_owned());
        keep(&Notes { left, ..Default::default() }).expect("written");
        let (begin, beside) = super::beside(&with(&["--resume", "--tail", "5"])).expect("sound");
        assert_eq!(
            (begin.tick, begin.picture.tail, begin.cache.cache.as_deref()),
            (Position::at(7), Some(5), Some("zen4"))
        );
        assert_eq!(begin.trace.trace, trace, "wherever it is now");
        assert_eq!(beside.left.map(|left| left.position), Some(Position::at(7)));
        let (begin, _) = super::beside(&with(&[])).expect("sound");
        assert_eq!((begin.tick, begin.cache.cache), (Position::START, None));
        // What is damaged is told and stays.
        let file = folder.path().join("t.orrery.notes.toml");
        std::fs::write(&file, "orrery_notes = 1\nleft = \"").expect("written");
        let (_, beside) = super::beside(&with(&["--resume"])).expect("sound");
        assert!(beside.fault.is_some_and(|words| words.contains("t.orrery.notes.toml:2:")));
    }
}
