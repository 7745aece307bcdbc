//! What stands beside the pictures of tasks: the chosen task in words (Table 1 of Daisen, 2021), what the colours mean, what tasks waited
//! for.

use super::super::sheet::{SMALL, Sheet};
use super::scope::{Scope, ending};
use crate::overlay::fonts::Weight;
use crate::overlay::pen::Target;
use crate::overlay::tip::Tip;
use crate::scene::{cubehelix, palette};
use crate::tasks::{TaskBook, TaskIndex};
use crate::units::{grouped, to_count, to_f32};
use egui::{Rect, pos2};

/// Ems of a row.
const ROW: f32 = 1.5;
/// Ems of the names of what is said.
const NAMES: f32 = 6.0;
/// Things that tasks waited for that are listed, at most.
const MOST_WAITS: usize = 6;
/// Kinds that are listed, at most.
const MOST_KINDS: usize = 14;

/// Pixels of height that are wanted.
pub(super) fn height(scope: &Scope<'_>) -> f32 {
    let rows = 10.0 + 2.2 + MOST_WAITS as f32 + 2.0;
    rows * ROW * scope.em
}

/// Draws them in an area.
pub(super) fn draw(sheet: &mut Sheet, scope: &Scope<'_>, waits: &[(String, u64)], area: Rect) {
    let em = scope.em;
    let listed = waits.len().min(MOST_WAITS);
    let foot = if listed > 0 { (listed as f32 + 2.0) * ROW * em } else { 0.0 };
    // What waits gives way first.
    let foot = if area.height() - foot < 6.0 * ROW * em { 0.0 } else { foot };
    let middle = area.bottom() - foot;
    let across = area.left() + 0.6 * area.width();
    let end = middle - if foot > 0.0 { em } else { 0.0 };
    chosen(sheet, scope, Rect::from_min_max(area.min, pos2(across - em, end)));
    let seen = seen(scope, sheet);
    legend(sheet, scope, &seen, Rect::from_min_max(pos2(across, area.top()), pos2(area.right(), end)));
    if foot > 0.0 {
        where_it_waits(sheet, scope, &waits[..listed], Rect { min: pos2(area.left(), middle), ..area });
    }
}

pub(super) fn heading(sheet: &mut Sheet, area: Rect, words: &str) -> f32 {
    sheet.left(area.min, words, Weight::SemiBold, SMALL, palette::TEXT_QUIET, area.width());
    area.top() + 1.15 * ROW * sheet.em
}

/// The chosen task, a row for each thing that is known of it.
///
/// Gives where they end.
pub(super) fn chosen(sheet: &mut Sheet, scope: &Scope<'_>, area: Rect) -> f32 {
    let em = scope.em;
    let mut y = heading(sheet, area, "CHOSEN");
    let Some(task) = scope.look.task else {
        sheet.left(pos2(area.left(), y), "no task", Weight::Regular, 0.95, palette::TEXT_QUIET, area.width());
        return y + ROW * em;
    };
    for (name, words) in told(scope.book, task) {
        if y + em > area.bottom() {
            break;
        }
        sheet.left(pos2(area.left(), y), name, Weight::Regular, 0.92, palette::TEXT_QUIET, NAMES * em);
        let x = area.left() + NAMES * em;
        sheet.left(pos2(x, y), &words, Weight::Regular, 0.95, palette::TEXT, area.right() - x);
        y += ROW * em;
    }
    y
}

/// What is known of a task: names and words.
fn told(book: &TaskBook, task: TaskIndex) -> Vec<(&'static str, String)> {
    let set = book.set();
    let one = set.task(task);
    let (took, unit) = (one.end - one.start, set.unit());
    let step = (took / 100).max(1);
    let mut rows = vec![
        ("what", format!("{}  {}", one.category, one.action).trim_end().to_owned()),
        ("where", set.locations().word(one.location).to_owned()),
        ("start", unit.words(one.start, step)),
        ("end", unit.words(one.end, step)),
        ("took", took_words(book, task)),
    ];
    match (one.parent, set.dangling_parent(task)) {
        (Some(parent), _) => {
            let parent = set.task(parent);
            rows.push(("part of", format!("{}  {}", parent.category, parent.action).trim_end().to_owned()));
        }
        (None, Some(missing)) => rows.push(("part of", format!("{missing}, which the file does not have"))),
        (None, None) => rows.push(("part of", "nothing".into())),
    }
    rows.push(("parts", grouped(set.children(task).len() as u64)));
    let tags: Vec<&str> = set.tags(task).iter().map(|tag| set.words().word(tag.what)).collect();
    if !tags.is_empty() {
        rows.push(("tags", tags.join(", ")));
    }
    let milestones = set.milestones(task);
    if !milestones.is_empty() {
        let mut before = one.start;
        let waits = milestones.iter().map(|milestone| {
            let waited = milestone.time.saturating_sub(std::mem::replace(&mut before, milestone.time));
            let words = set.words();
            let what = words.word(milestone.what);
            let what = if what.is_empty() { words.word(milestone.category) } else { what };
            (waited, what)
        });
        // The longest waits say most.
        let mut waits: Vec<(u64, &str)> = waits.filter(|(waited, _)| *waited > 0).collect();
        waits.sort_by_key(|&(waited, _)| std::cmp::Reverse(waited));
        let waits: Vec<String> =
            waits.iter().take(3).map(|(t, what)| format!("{} {what}", unit.duration(*t))).collect();
        if !waits.is_empty() {
            rows.push(("waited", waits.join(", ")));
        }
    }
    rows.push(("id", set.id(task)));
    rows
}

/// How long a task took, and how that compares with others of its kind there.
fn took_words(book: &TaskBook, task: TaskIndex) -> String {
    let set = book.set();
    let took = set.end(task) - set.start(task);
    let mut words = set.unit().duration(took);
    let alike = set.tasks_at(set.location_of(task)).filter(|&other| set.pair(other) == set.pair(task));
    let (sum, count) =
        alike.fold((0u128, 0u128), |(sum, n), other| (sum + u128::from(set.end(other) - set.start(other)), n + 1));
    if count > 1 && sum > 0 {
        let mean = sum as f64 / count as f64;
        words.push_str(&format!(
            ", {:.1} times the mean of {}",
            took as f64 / mean,
            grouped(u64::try_from(count).unwrap_or(u64::MAX))
        ));
    }
    words
}

/// Kinds of the tasks that can be clicked, wherever in the picture.
fn seen(scope: &Scope<'_>, sheet: &Sheet) -> Vec<bool> {
    let mut seen = vec![false; scope.book.kinds().len()];
    for (_, target) in &sheet.plane.rows {
        if let Target::Task(task) = target {
            seen[scope.book.kind(*task)] = true;
        }
    }
    seen
}

/// What the colours in the picture mean; a click on one has it stand out.
pub(super) fn legend(sheet: &mut Sheet, scope: &Scope<'_>, seen: &[bool], area: Rect) {
    let em = scope.em;
    let mut y = heading(sheet, area, "COLOURS");
    let kinds = scope.book.kinds();
    let listed: Vec<usize> = (0..kinds.len()).filter(|&kind| seen[kind] || scope.look.lit == Some(kind)).collect();
    let fits = (to_count((area.bottom() - y) / (ROW * em)) as usize).min(MOST_KINDS);
    let shown = if fits < listed.len() { fits.saturating_sub(1) } else { listed.len() };
    for &kind in &listed[..shown] {
        let name = &kinds[kind];
        let quiet = scope.look.lit.is_some_and(|lit| lit != kind);
        sheet.bar(
            Rect::from_min_max(pos2(area.left(), y + 0.2 * em), pos2(area.left() + 0.85 * em, y + 1.05 * em)),
            scope.kind_ink(kind),
        );
        let words = if quiet { palette::TEXT_QUIET } else { palette::TEXT };
        let x = area.left() + 1.5 * em;
        sheet.left(pos2(x, y), name, Weight::Regular, 0.95, words, area.right() - x);
        let row = Rect::from_min_max(pos2(area.left(), y), pos2(area.right(), y + ROW * em));
        sheet.plane.rows.push((row, Target::Kind(kind)));
        y += ROW * em;
    }
    if shown < listed.len() {
        let more = format!("{} more", listed.len() - shown);
        sheet.left(pos2(area.left(), y), &more, Weight::Regular, 0.9, palette::TEXT_QUIET, area.width());
    }
}

/// The things of the machine that were waited for most often in the whole run.
pub(super) fn where_it_waits(sheet: &mut Sheet, scope: &Scope<'_>, waits: &[(String, u64)], area: Rect) {
    let em = scope.em;
    let mut y = heading(sheet, area, "WHERE IT WAITS");
    let most = waits.iter().map(|row| row.1).max().unwrap_or(1);
    let names = (0.45 * area.width()).min(18.0 * em);
    for (name, times) in waits {
        let short = scope.book.shortened(name);
        let fits = to_count(names / (0.5 * em)) as usize;
        let shown = ending(short, fits);
        sheet.right(pos2(area.left() + names, y), &shown, 0.92, palette::TEXT);
        let from = area.left() + names + 0.7 * em;
        let length = (area.right() - 3.5 * em - from).max(4.0) * to_f32(*times as f64 / most as f64);
        let bar = Rect::from_min_max(pos2(from, y + 0.15 * em), pos2(from + length.max(1.5), y + 1.15 * em));
        sheet.bar(bar, palette::fade(palette::WARM, 0.85));
        sheet.left(
            pos2(bar.right() + 0.5 * em, y),
            &grouped(*times),
            Weight::Regular,
            0.92,
            palette::TEXT_BODY,
            6.0 * em,
        );
        y += ROW * em;
    }
}

/// About a task.
pub(super) fn tip(book: &TaskBook, task: TaskIndex) -> Tip {
    let mut rows = told(book, task).into_iter();
    let title = rows.next().map(|(_, words)| words).unwrap_or_default();
    let color = Some(cubehelix::color(book.kind(task), book.kinds().len()));
    let lines = rows.map(|(name, words)| if name == "where" { words } else { format!("{name}  {words}") }).collect();
    Tip { title, color, lines, about: Some(Target::Task(task)), ..Tip::default() }
}
