//! What `snapshot`, `record` and `view` share: the studio, the look, progress while indexing.

use super::UsageError;
use super::against::{baseline, compared};
use super::open::{cache_choice, failed, opening};
use super::quiet::quietly;
use super::task_look::{self, is_tasks};
use crate::cli::{CacheArgs, Part, PictureArgs, TraceArgs};
use crate::opening::source_texts;
use crate::overlay::exhibits::{self, Arranged, ExhibitEntry, Subject};
use crate::overlay::{Exhibit, Parts, Studio};
use crate::reference::{NameError, Tables, bytes_named};
use crate::render::context::Preference;
use crate::render::{Context, RenderError};
use crate::scene::solids::camera::PRESETS;
use crate::scene::{Camera, Choice, Composition, Shade, View, view::CLOSEST};
use crate::shown::is_seen;
use crate::trace::bundled::name_in;
use crate::units::ByteRange;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Opens and indexes what the flags name. A bar shows the way where it takes longer than a blink.
///
/// # Errors
/// When the trace or the cache is not to be had, or `go` says no on the way.
pub fn studio(
    trace: &TraceArgs,
    cache: &CacheArgs,
    picture: &PictureArgs,
    go: &dyn Fn() -> bool,
) -> anyhow::Result<Studio> {
    compared(cache, picture)?;
    if is_tasks(trace, picture)? {
        return task_look::studio(&trace.trace, picture);
    }
    let mut studio = Studio::of(with_bar("indexing", go, |progress| {
        opening(trace).timeline(&cache_choice(cache), picture.memory, progress).map_err(failed)
    })?)?;
    give_title(&mut studio, &trace.trace, picture);
    give_sources(&mut studio, &trace.trace);
    let with =
        with_bar("indexing what it is compared with", go, |progress| baseline(&studio, cache, picture, progress))?;
    studio.compare_with(with);
    Ok(studio)
}

/// Does `work` under a bar that shows the way where it takes longer than a blink.
fn with_bar<T>(
    what: &str,
    go: &dyn Fn() -> bool,
    work: impl FnOnce(&mut dyn FnMut(u64, u64) -> bool) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let begun = Instant::now();
    let mut bar: Option<ProgressBar> = None;
    let done = work(&mut |done: u64, all: u64| {
        // Nobody knows how much there is to be read.
        if bar.is_none() && all > 0 && begun.elapsed() > Duration::from_millis(300) && is_seen() {
            let words = format!("{what} {{bar:32}} {{human_pos}} of {{human_len}} references, {{eta}} left");
            let style = ProgressStyle::with_template(&words).unwrap_or_else(|_| ProgressStyle::default_bar());
            bar = Some(ProgressBar::new(all).with_style(style));
        }
        if let Some(bar) = &bar {
            bar.set_position(done);
        }
        go()
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    done
}

/// The fastest device there is, without a word of its driver's that is none of the user's.
///
/// # Errors
/// Where there is none.
pub fn context() -> Result<Context, RenderError> {
    let mut context = Err(RenderError::NoAdapter("not asked".into()));
    quietly(&mut || context = Context::headless(Preference::Fastest));
    context
}

/// The exhibit that `--view` asks for; `None` = what suits.
#[must_use]
pub fn asked(picture: &PictureArgs) -> Option<&'static ExhibitEntry> {
    picture.view.exhibit().and_then(|name| exhibits::named(&name))
}

/// How `--sort` has the rows of the one exhibit of a still or a video.
///
/// # Errors
/// Where that exhibit has no such column.
pub fn arranged(picture: &PictureArgs) -> Result<Arranged, UsageError> {
    // What suits is one of the rings, which all have no rows.
    let row = asked(picture).unwrap_or_else(|| exhibits::of_composition(Composition::Dots));
    let sort = match &picture.sort[..] {
        [] => None,
        [words] => Some(row.sort(words).map_err(|wrong| UsageError(format!("--sort {wrong}")))?),
        several => {
            let found = several.join(",");
            return Err(UsageError(format!(
                "--sort {found}: found {}; expected one, as there is one exhibit",
                several.len()
            )));
        }
    };
    Ok(Arranged { sort, ..Arranged::default() })
}

/// What `--view` and `--sort` ask to be shown of a studio.
///
/// # Errors
/// As [`arranged`].
pub fn exhibit(picture: &PictureArgs, studio: &Studio) -> Result<Box<dyn Exhibit>, UsageError> {
    let row = asked(picture).unwrap_or_else(|| exhibits::suited(studio));
    let subject = Subject::of(studio);
    if !row.of.contains(&subject) {
        let offered = exhibits::offered(subject).map(|row| row.name).collect::<Vec<_>>().join(", ");
        let name = |subject: Subject| match subject {
            Subject::Tasks => "a file of tasks",
            Subject::Trace => "a trace",
            Subject::Kernel => "a kernel",
        };
        let (is, shows) = (name(subject), row.of.first().map_or("nothing", |of| name(*of)));
        return Err(UsageError(format!(
            "--view {}: found {is}, and this shows {shows}; expected one of {offered}",
            row.name
        )));
    }
    Ok(row.open_arranged(studio, arranged(picture)?))
}

/// What a trace is called by its path: without folder and ending; `None` for standard input.
pub(super) fn called(trace: &Path) -> Option<String> {
    let name = match name_in(trace) {
        Some(lesson) => return Some(lesson.to_owned()),
        None => trace.file_stem()?.to_string_lossy(),
    };
    (name != "-").then(|| name.into_owned())
}

/// Gives a studio the title that is asked for or, where the trace has none, the file's name.
pub fn give_title(studio: &mut Studio, trace: &Path, picture: &PictureArgs) {
    if let Some(title) = &picture.title {
        studio.set_title(title.clone());
    } else if studio.tables().title.is_empty() {
        studio.set_title(called(trace).unwrap_or_else(|| "standard input".into()));
    }
}

/// Gives a studio the sources of the program that are still there.
pub(super) fn give_sources(studio: &mut Studio, trace: &Path) {
    let texts = source_texts(studio.timeline().tables(), trace);
    studio.set_sources(&texts);
}

/// Size of pictures where nobody asks for another.
pub(super) const USUAL_SIZE: &str = "1280x720";

/// Width and height of `--size`.
///
/// # Errors
/// [`UsageError`] where it is no size.
pub fn size(picture: &PictureArgs) -> Result<(u32, u32), UsageError> {
    let words = picture.size.as_deref().unwrap_or(USUAL_SIZE);
    sides(words).ok_or_else(|| UsageError(format!("--size {words}: {SIZES}")))
}

/// What is said of words that are no size.
pub(super) const SIZES: &str = "expected WIDTHxHEIGHT in pixels, each 16 to 16384, such as 1280x720";

/// Width and height in words.
pub(super) fn sides(words: &str) -> Option<(u32, u32)> {
    let (w, h) = words.split_once(['x', 'X'])?;
    let side = |s: &str| s.parse::<u32>().ok().filter(|n| (16..=16384).contains(n));
    Some((side(w)?, side(h)?))
}

/// Which parts are shown.
#[must_use]
pub fn parts(picture: &PictureArgs) -> Parts {
    let shown = |part: Part| !picture.hide.contains(&part);
    Parts {
        title: shown(Part::Title),
        regions: shown(Part::Regions),
        caches: shown(Part::Caches),
        reference: shown(Part::Reference),
        legend: shown(Part::Legend),
        strip: shown(Part::Strip),
        labels: shown(Part::Labels),
    }
}

/// Where `--camera` looks.
///
/// # Errors
/// [`UsageError`] where that is no place.
pub(super) fn camera(picture: &PictureArgs, row: Option<&ExhibitEntry>) -> Result<Camera, UsageError> {
    let Some(words) = &picture.camera else { return Ok(Camera::default()) };
    let is_solid = row.is_some_and(ExhibitEntry::is_solid);
    if let Some((_, orbit)) = PRESETS.iter().find(|(name, _)| is_solid && name == words) {
        return Ok(Camera { at: orbit.at(), zoom: 1.0 });
    }
    let numbers: Option<Vec<f32>> =
        words.split(',').map(|word| word.trim().parse().ok().filter(|n: &f32| n.is_finite())).collect();
    let is_sheet = row.is_some_and(ExhibitEntry::is_sheet);
    match numbers.as_deref().and_then(|numbers| <[f32; 3]>::try_from(numbers).ok()) {
        Some([x, y, zoom]) if (Camera { at: [x, y], zoom }).is_sound(is_sheet) => Ok(Camera { at: [x, y], zoom }),
        _ if is_solid => Err(UsageError(format!(
            "--camera {words}: expected {}, or ROUND,UP,ZOOM: degrees that the camera went round and up, 0 to 360, and 1 to \
             {CLOSEST} times as close, such as 30,10,2",
            PRESETS.map(|(name, _)| name).join(", ")
        ))),
        _ if is_sheet => Err(UsageError(format!(
            "--camera {words}: expected X,Y,ZOOM: how far it is scrolled to the right and down, in heights of its type, and 1 to \
             {CLOSEST} times as close, such as 0,12,2"
        ))),
        _ => Err(UsageError(format!(
            "--camera {words}: expected X,Y,ZOOM: a point within 1.05 of the centre (0,0 is the CPU, memory's rim is at 1, y \
             points down) and 1 to {CLOSEST} times as close, such as 0.3,-0.2,8"
        ))),
    }
}

/// Which regions are drawn.
///
/// # Errors
/// [`UsageError`] where `--dim` has nothing to dim.
pub fn choice(picture: &PictureArgs) -> Result<Choice, UsageError> {
    let show = picture.show.clone();
    let (dim, rest) = match &picture.dim {
        None => (Vec::new(), Shade::Hidden),
        Some(names) if !names.is_empty() => (names.clone(), Shade::Hidden),
        Some(_) if show.is_empty() => {
            return Err(UsageError(
                "--dim: expected --show A,B, whose others it dims, or the names of what to dim, as in --dim=C,D".into(),
            ));
        }
        Some(_) => (Vec::new(), Shade::Dim),
    };
    let colors = picture.regions.color.iter().map(|(name, color)| (name.clone(), Some(*color))).collect();
    Ok(Choice { show, dim, rest, colors, order: picture.regions.order.clone(), ..Choice::default() })
}

/// The view with each region of a trace drawn as it is asked for, what is pinned marked, and what of tasks is looked at.
///
/// # Errors
/// [`UsageError`] where a name is none of a region, with the nearest and those that there are; where a task is not there.
pub fn dressed(view: View, picture: &PictureArgs, studio: &Studio) -> Result<View, UsageError> {
    let tables = studio.tables();
    if let Some(name) = picture.solids.array.as_deref().filter(|name| tables.regions.iter().all(|r| r.name != **name)) {
        return Err(UsageError(super::regions::unknown("--array", name, tables)));
    }
    if let Some(words) = crate::overlay::exhibits::refused_solids(studio, &picture.solids.look()) {
        return Err(UsageError(words));
    }
    let (choice, regions) = (choice(picture)?, &tables.regions);
    match unknown(&choice, tables) {
        Some(words) => Err(UsageError(words)),
        None => Ok(View {
            shades: choice.shades(regions),
            colors: choice.colors(regions),
            order: choice.order(regions),
            pin: pin(picture, tables)?,
            tasks: Arc::new(studio.tasks().map(|book| book.first().look.clone()).unwrap_or_default()),
            ..view
        }),
    }
}

/// What to say of the first name that is none of a region.
pub(super) fn unknown(choice: &Choice, tables: &Tables) -> Option<String> {
    let name = choice.unknown(&tables.regions)?;
    let is_in = |names: &[String]| names.iter().any(|other| other == name);
    let flag = match (is_in(&choice.show), is_in(&choice.dim), is_in(&choice.order)) {
        (true, ..) => "--show",
        (_, true, _) => "--dim",
        (_, _, true) => "--order",
        _ => "--color",
    };
    Some(super::regions::unknown(flag, name, tables))
}

/// The bytes that `--pin` names.
///
/// # Errors
/// [`UsageError`] where it names none of the trace.
fn pin(picture: &PictureArgs, tables: &Tables) -> Result<Option<ByteRange>, UsageError> {
    let Some(words) = &picture.pin else { return Ok(None) };
    match bytes_named(&tables.regions, words) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(NameError::Region(name)) => Err(UsageError(super::regions::unknown("--pin", &name, tables))),
        Err(error) => Err(UsageError(format!("--pin: found `{words}`; {error}"))),
    }
}

/// Tail where none is asked for: enough to see a pattern, short enough to see what is new.
const TAIL: u64 = 64;

/// The look at `speed` references a second. At `step` references a frame the tail covers at least what a frame skips.
///
/// # Errors
/// [`UsageError`] where a figure is out of range.
pub fn view(picture: &PictureArgs, speed: f64, step: f64) -> Result<View, UsageError> {
    viewed(picture, camera(picture, asked(picture))?, speed, step)
}

/// As [`view`], with a camera that is known.
///
/// # Errors
/// As there.
pub(super) fn viewed(picture: &PictureArgs, camera: Camera, speed: f64, step: f64) -> Result<View, UsageError> {
    if picture.tail == Some(0) || picture.window == 0 {
        return Err(UsageError(
            "--tail and --window are numbers of references, 1 or more (--tail 1 = no trail)".into(),
        ));
    }
    if !(speed.is_finite() && speed > 0.0) {
        return Err(UsageError(format!(
            "--speed {speed}: expected references a second (or what --clock counts), more than 0"
        )));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; saturates")]
    let skipped = step.ceil() as u64;
    let (shown, solids) = (|part: Part| !picture.hide.contains(&part), picture.solids.look());
    if let Some((from, to)) = solids.window.filter(|(_, to)| *to > solids.slices) {
        return Err(UsageError(format!(
            "--slice {from}..{to}: found {to}; expected {} or less, the slices that the trace is cut into; --slices N cuts finer",
            solids.slices
        )));
    }
    Ok(View {
        camera,
        speed,
        tail: picture.tail.unwrap_or(TAIL).max(skipped),
        window: picture.window,
        calm: picture.reduced_motion,
        radii: picture.regions.radii,
        trails: shown(Part::Trails),
        ghosts: shown(Part::Ghosts),
        temperature: shown(Part::Temperature),
        solids: Arc::new(solids),
        ..View::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::exhibits::{EXHIBITS, Sort};

    #[test]
    fn slices_past_the_last_one_are_refused() {
        let asked = |words: &[&str]| {
            let all = ["orrery", "snapshot", "t.orrery", "-o", "x.png"].iter().chain(words).map(|word| (*word).into());
            let crate::cli::Command::Snapshot(args) = crate::commands::parse(all).command else { panic!("`snapshot`") };
            view(&args.picture, 100.0, 1.0).map(|view| view.solids.window).map_err(|error| error.0)
        };
        assert_eq!(asked(&["--slice", "60..64"]), Ok(Some((60, 64))));
        assert_eq!(asked(&["--slice", "111..126", "--slices", "126"]), Ok(Some((111, 126))));
        let error = asked(&["--slice", "111..126"]).expect_err("there are 64");
        assert!(error.starts_with("--slice 111..126: found 126; expected 64 or less") && error.contains("--slices"));
    }

    #[test]
    fn the_rows_of_a_still_are_sorted_by_a_heading_of_its_exhibit() {
        let asked = |words: &[&str]| {
            let all = ["orrery", "snapshot", "t.orrery", "-o", "x.png"].iter().chain(words).map(|word| (*word).into());
            let crate::cli::Command::Snapshot(args) = crate::commands::parse(all).command else { panic!("`snapshot`") };
            arranged(&args.picture).map(|arranged| arranged.sort).map_err(|error| error.0)
        };
        assert_eq!(asked(&["--view", "source"]), Ok(None));
        let columns = exhibits::named("source").expect("there").columns;
        let sort = Sort::parse(columns, "misses:back").expect("a heading");
        assert_eq!(asked(&["--view", "source", "--sort", "Misses:back"]), Ok(Some(sort)));
        assert_eq!(sort.words(columns).as_deref(), Some("misses:back"));
        // All columns of all exhibits can be asked for by their headings.
        for row in EXHIBITS.iter().filter(|row| !row.columns.is_empty()) {
            for column in row.columns {
                let sort = row.sort(column.name).expect("a heading");
                assert_eq!(asked(&["--view", row.name, "--sort", &column.word()]), Ok(Some(sort)), "{}", row.name);
            }
        }
        let wrong = |words: &[&str]| asked(words).expect_err("it is wrong");
        assert!(wrong(&["--sort", "misses"]).starts_with("--sort misses: found `rings`, whose rows are not sorted; "));
        assert!(wrong(&["--view", "regions", "--sort", "lines"]).contains("expected one of region, address, size, "));
        assert!(wrong(&["--view", "regions", "--sort", "size,misses"]).contains("found 2; expected one"));
    }
}
