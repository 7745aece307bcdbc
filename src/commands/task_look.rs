//! Files of tasks where traces are named too: which ones they are, and what of them the flags ask for.

use super::open::say_note;
use super::picture::called;
use super::{UsageError, kernel};
use crate::axis::AxisUnit;
use crate::cli::{PictureArgs, TaskLookArgs, TraceArgs};
use crate::kernel::Cancel;
use crate::opening::{self, FileKind, Tell};
use crate::overlay::Studio;
use crate::shown::say;
use crate::sim::config::nearest;
use crate::tasks::metrics::Metric;
use crate::tasks::{FirstSight, TaskBook, TaskLook};
use crate::trace::file_of;
use crate::units::grouped;
use anyhow::Context as _;
use std::path::Path;
use std::sync::Arc;

/// Whether what is named is a file of tasks, or a kernel, which is shown as tasks.
///
/// # Errors
/// [`UsageError`] where it is a trace, and flags are for tasks.
pub(super) fn is_tasks(trace: &TraceArgs, picture: &PictureArgs) -> Result<bool, UsageError> {
    let kind = FileKind::of(&trace.trace, trace.format);
    let is_kernel = kind == FileKind::Kernel;
    if let Some(flag) = picture.launch.first_given().filter(|_| !is_kernel) {
        return Err(UsageError(format!("{flag}: found no kernel; expected a shader, FILE.wgsl, or kernel:NAME")));
    }
    if matches!(kind, FileKind::Kernel | FileKind::Tasks) {
        return Ok(true);
    }
    match picture.tasks.first_given() {
        None => Ok(false),
        // Whoever opens it says so.
        Some(_) if trace.trace.as_os_str() != "-" && file_of(&trace.trace).is_some_and(|file| !file.exists()) => {
            Ok(false)
        }
        Some(flag) => Err(UsageError(format!("{flag}: found a trace; expected a file of tasks"))),
    }
}

/// The tasks of a file, ready to be shown as the flags ask; what had to be left out is said.
///
/// # Errors
/// When it cannot be read; [`UsageError`] where flags name a task or a location that there is not.
pub(super) fn studio(path: &Path, picture: &PictureArgs) -> anyhow::Result<Studio> {
    if FileKind::of(path, None) == FileKind::Kernel {
        return kernel_studio(path, picture, false, &Cancel::default());
    }
    let tell: Tell = Arc::new(say_note);
    let file = opening::tasks(path, &tell).with_context(|| path.display().to_string())?;
    for notice in &file.notices {
        say!("{}: {notice}", path.display());
    }
    let title = picture.title.clone().or_else(|| called(path)).unwrap_or_default();
    let book = TaskBook::new(file.set, file.dialect.edges(), title, "");
    let first = first(&picture.tasks, &book)?;
    Ok(Studio::of_tasks(book.with_first(first))?)
}

/// What a kernel did, ready to be shown as the flags ask; `again`: it was shown before, and what they ask for may be there no more.
///
/// # Errors
/// When it cannot be read or run; [`UsageError`] where flags name a task or a location that there is not, unless it is run again.
pub(super) fn kernel_studio(
    path: &Path,
    picture: &PictureArgs,
    again: bool,
    cancel: &Cancel,
) -> anyhow::Result<Studio> {
    let book = Arc::new(kernel::book(path, &picture.launch, cancel)?);
    let title = picture.title.clone().or_else(|| called(path)).unwrap_or_default();
    let tasks = opening::kernel_tasks(&book, &title);
    let mut first = match first(&picture.tasks, &tasks) {
        Err(_) if again => self::first(&TaskLookArgs::default(), &tasks)?,
        first => first?,
    };
    if picture.tasks.metrics.is_empty() {
        // Warps make no requests.
        first.look.metrics = [Some(Metric::ConcurrentTask), None];
    }
    Ok(Studio::of_kernel(book, tasks.with_first(first))?)
}

/// The first tasks of a file that takes long to read, until all of them are: none where the flags ask for what is not among them.
pub(super) fn first_studio(path: &Path, picture: &PictureArgs) -> Option<Studio> {
    if FileKind::of(path, None) == FileKind::Kernel {
        return None;
    }
    let file = opening::first_tasks(path)?;
    let title = picture.title.clone().or_else(|| called(path)).unwrap_or_default();
    let words = format!("the first {}; the others are being read", grouped(file.set.len() as u64));
    let book = TaskBook::new(file.set, file.dialect.edges(), title, words);
    let first = first(&picture.tasks, &book).ok()?;
    Studio::of_tasks(book.with_first(first)).ok()
}

/// What the flags ask to be shown.
fn first(args: &TaskLookArgs, book: &TaskBook) -> Result<FirstSight, UsageError> {
    let set = book.set();
    let task = match &args.task {
        None => None,
        Some(id) => Some(set.find(id).ok_or_else(|| {
            UsageError(format!("--task {id}: found no task of this id; expected one such as {}", example(book)))
        })?),
    };
    let location = match &args.location {
        None => None,
        Some(name) => Some(book.location_named(name).ok_or_else(|| {
            let names: Vec<&str> = book.listed().iter().map(|&location| set.locations().word(location)).collect();
            let hint = nearest(name, &names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
            UsageError(format!("--location {name}: found no such location{hint}"))
        })?),
    };
    let usual = match (task, location) {
        (None, None) => book.first_look(),
        // Of a location, what took longest there.
        (None, Some(location)) => {
            let task = set.tasks_at(location).rev().max_by_key(|&task| set.end(task) - set.start(task));
            TaskLook { task, ..TaskLook::default() }
        }
        (Some(_), _) => TaskLook::default(),
    };
    let metrics = match args.metrics[..] {
        [] => usual.metrics,
        [left] => [Some(left), None],
        [left, right, ..] => [Some(left), Some(right)],
    };
    let filter = args.filter.clone();
    let look =
        TaskLook { task: task.or(usual.task), location, metrics, filter, order: args.charts, ..TaskLook::default() };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 or more; saturates")]
    let ticks = |seconds: f64| (seconds * set.ticks_per_second() as f64).round() as u64;
    let end = set.span().1;
    let part = match &args.part {
        None => None,
        Some(part) if ticks(part.start) < end => Some(ticks(part.start)..ticks(part.end).min(end)),
        Some(_) => {
            return Err(UsageError(format!(
                "--part: found a part after the end of the run; it ends at {}",
                set.axis().length()
            )));
        }
    };
    if args.time.is_some() && set.axis().unit == AxisUnit::Rows {
        let words = "--time: found what counts rows and has no time; expected --tick and a row, as in --tick 20";
        return Err(UsageError(words.into()));
    }
    let tick = args.time.map(ticks);
    if tick.is_some_and(|tick| tick > end) {
        return Err(UsageError(format!(
            "--time: found a time after the end of the run; it ends at {}",
            set.axis().length()
        )));
    }
    Ok(FirstSight { look, part, tick })
}

/// The id of a task that there is.
fn example(book: &TaskBook) -> String {
    if book.set().is_empty() { "those of the file, which has none".into() } else { format!("`{}`", book.set().id(0)) }
}
