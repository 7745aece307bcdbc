//! What the viewer says about a place of the strip. Plain values from the timeline.

use super::desk::Desk;
use crate::overlay::Tip;
use crate::overlay::info::innermost;
use crate::overlay::pen::percent;
use crate::reference::{Mark, SourceError};
use crate::tasks::TaskBook;
use crate::tasks::metrics::{Bins, in_flight};
use crate::timeline::{Share, is_phase};
use crate::units::{Addr, grouped};
use std::cmp::Reverse;
use std::ops::Range;

/// About a place of the strip: the reference there, its source line, the misses of the strip's column.
///
/// # Errors
/// When the trace cannot be read.
pub fn strip_tip(desk: &Desk, tick: u64, columns: usize) -> Result<Tip, SourceError> {
    if let Some(book) = desk.studio().tasks() {
        return Ok(strip_tip_of_tasks(desk, book, tick, columns));
    }
    let (timeline, tables) = (desk.studio().timeline(), desk.studio().tables());
    let axis = desk.transport.axis();
    let len = axis.total;
    let mut tip = Tip { title: format!("reference {}", grouped(tick)), ..Tip::default() };
    let Some(reference) = timeline.reference(tick)? else {
        tip.title = if axis.grows { "not read yet".into() } else { "end of the trace".into() };
        return Ok(tip);
    };
    let region = timeline.region_of(reference.addr, tick);
    let name =
        region.map_or_else(|| Addr(reference.addr).to_string(), |r| tables.regions[r].element_name(reference.addr));
    tip.color = region.map(|region| desk.session.view().colors.of(region));
    let levels = &desk.studio().moment().before.config().levels;
    let outcome = match timeline.outcomes().and_then(|o| o.get(tick)) {
        None => String::new(),
        Some(outcome) if !outcome.missed() => ", hit".into(),
        Some(outcome) => {
            format!(", miss, from {}", levels.get(outcome.served_by()).map_or("memory", |l| l.name.as_str()))
        }
    };
    tip.lines.push(format!("{} {name}{outcome}", reference.kind.verb()));
    if let Some(location) = tables.location(reference.pc) {
        if !location.text.is_empty() {
            tip.lines.push(location.text.clone());
        }
        tip.lines.push(format!("{}:{}", location.file, location.line));
    }
    let (shown, columns) = (desk.session.stretch().ticks(axis), columns.max(1) as u64);
    let (here, all) = (u128::from(tick.saturating_sub(shown.start)), u128::from((shown.end - shown.start).max(1)));
    let column = u64::try_from(here * u128::from(columns) / all).unwrap_or(0);
    let edge = |c: u64| {
        let from_start = u64::try_from((u128::from(c) * all).div_ceil(u128::from(columns))).unwrap_or(len);
        shown.start + from_start
    };
    let (from, to) = (edge(column), edge(column + 1).min(timeline.len()));
    if to > from + 1 {
        tip.lines.extend(strip_lines(desk, from..to));
    }
    if let Some(mark) = tables.marks.iter().rev().find(|mark| mark.reference <= tick) {
        tip.lines.extend(mark_lines(mark));
    }
    Ok(tip)
}

/// The last mark, and what it means where the timeline found it.
fn mark_lines(mark: &Mark) -> Vec<String> {
    let line = |name: &str| format!("{name}, from reference {} on", grouped(mark.reference));
    if !is_phase(&mark.name) {
        return vec![line(&mark.name)];
    }
    let what = "(a phase begins where the program turns to other code or other data)";
    vec![line(mark.name.strip_suffix(" begins").unwrap_or(&mark.name)), what.into()]
}

/// About a place of the strip of tasks: the time, and how many are under way there.
fn strip_tip_of_tasks(desk: &Desk, book: &TaskBook, tick: u64, columns: usize) -> Tip {
    let axis = desk.transport.axis();
    let shown = desk.session.stretch().ticks(axis);
    let width = ((shown.end - shown.start) / columns.max(1) as u64).max(1);
    let from = tick.saturating_sub(width / 2);
    let bins = Bins { from, to: from.saturating_add(width), count: 1, edges: book.edges() };
    let level = in_flight(book, &bins).first().copied().unwrap_or(0.0);
    let what = if book.has_requests() { "requests" } else { "tasks" };
    let title = axis.unit.words_like(tick, (width / 4).max(1), axis.total);
    Tip { title, lines: vec![format!("{level:.1} {what} under way")], ..Tip::default() }
}

/// Regions that are named as those with most misses.
const MOST: usize = 3;

/// What happened in some references: misses of the innermost levels, by class, and whose they are. What is counted by wider parts
/// of the trace than that is told of those, as "around here".
fn strip_lines(desk: &Desk, references: Range<u64>) -> Vec<String> {
    let (studio, timeline) = (desk.studio(), desk.studio().timeline());
    let name = desk.pane().taken().map_or("", |taken| taken.info.innermost.as_str());
    let levels: Vec<usize> = innermost(timeline.start()).map(|level| level.index()).collect();
    let word = |misses: u64| if misses == 1 { "miss" } else { "misses" };
    let (misses, classes, exactly) = match timeline.outcomes() {
        Some(outcomes) => {
            let (mut misses, mut classes) = (0, [0; 4]);
            for outcome in references.clone().filter_map(|tick| outcomes.get(tick)).filter(|o| o.missed()) {
                misses += 1;
                if let Some(class) = levels.iter().find_map(|&level| outcome.class(level)) {
                    classes[class as usize] += 1;
                }
            }
            (misses, classes, references.clone())
        }
        None => {
            let sums = levels.iter().map(|&level| timeline.summary().over(references.clone(), level));
            let (mut misses, mut exactly) = (0, references.clone());
            for (sums, of) in sums {
                (misses, exactly) = (misses + sums.demand_misses, of);
            }
            (misses, [0; 4], exactly)
        }
    };
    let here = |of: &Range<u64>| if *of == references { "here" } else { "around here" };
    let (count, place) = (grouped(exactly.end - exactly.start), here(&exactly));
    let mut lines = vec![format!("{} {name} {} in {count} references {place}", grouped(misses), word(misses))];
    let classes = classes.into_iter().zip(["compulsory", "capacity", "conflict", "coherence"]);
    let classes: Vec<String> =
        classes.filter(|(misses, _)| *misses > 0).map(|(misses, name)| format!("{} {name}", grouped(misses))).collect();
    if !classes.is_empty() {
        lines.push(classes.join(", "));
    }
    let (shares, wider) = timeline.regions_over(references.clone());
    let of = |share: &Share| levels.iter().map(|&level| share.misses[level]).sum::<u64>();
    let all: u64 = shares.iter().map(of).sum();
    let mut most: Vec<(u64, usize)> = shares.iter().map(of).zip(0..).filter(|(misses, _)| *misses > 0).collect();
    most.sort_by_key(|&(misses, region)| (Reverse(misses), region));
    most.truncate(MOST);
    if misses > 0 && shares.len() > 1 && !most.is_empty() {
        let share = |&(misses, region): &(u64, usize)| {
            format!("{} {}", studio.tables().regions[region].name, percent(Some(misses as f64 / all as f64)))
        };
        // Regions are counted in some hundred parts of the trace.
        let place = here(&wider);
        lines.push(format!("misses {place} by {}", most.iter().map(share).collect::<Vec<_>>().join(", ")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::desk::tests::desk;
    use super::*;
    use crate::axis::Position;
    use crate::overlay::{Parts, Studio};
    use crate::reference::{Kind, MemoryTrace, Reference, Tables};
    use crate::scene::View;
    use crate::sim::Hierarchy;
    use crate::sim::config::preset;
    use crate::timeline::{Options, Timeline};
    use std::sync::Arc;

    fn drawn_at(position: f64) -> Desk {
        let mut desk = desk();
        desk.transport.jump(Position::of(position));
        desk.refresh().expect("in memory");
        desk
    }

    #[test]
    fn the_strip_names_the_reference_and_counts_its_columns_misses() {
        let desk = drawn_at(0.0);
        let tip = strip_tip(&desk, 4, 100).expect("in memory");
        assert_eq!(tip.title, "reference 4");
        assert_eq!(tip.lines[0], "read A[4], miss, from memory");
        assert!(tip.lines[1].ends_with("L1 misses in 10 references here"), "{tip:?}");
        let misses: u32 = tip.lines[1].split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
        assert!((3..=6).contains(&misses), "one for each line of A and one for B: {misses}");
        let [_, _, classes, regions] = &tip.lines[..] else { panic!("{tip:?}") };
        let classed: u32 = classes.split(", ").filter_map(|class| class.split(' ').next()?.parse::<u32>().ok()).sum();
        assert_eq!(classed, misses, "{classes}");
        assert!(regions.starts_with("misses around here by A ") && regions.contains(", B "), "{regions}");
        assert!(tip.lines[3].contains("around here"), "regions are counted by 1,024 references");
        assert_eq!(strip_tip(&desk, 1000, 100).expect("in memory").title, "end of the trace");
        assert_eq!(strip_tip(&desk, 5, 100_000).expect("in memory").lines.len(), 1, "a column of one reference");
    }

    #[test]
    fn the_strip_says_what_a_phase_is_and_leaves_the_programs_own_marks_alone() {
        let said = |name: &str| mark_lines(&Mark { reference: 221_184, name: name.into() });
        let what = "(a phase begins where the program turns to other code or other data)";
        assert_eq!(said("phase: main() on B"), ["phase: main() on B, from reference 221,184 on", what]);
        assert_eq!(said("another phase begins"), ["another phase, from reference 221,184 on", what]);
        assert_eq!(said("phase 2 begins"), ["phase 2 begins, from reference 221,184 on"]);
    }

    #[test]
    fn misses_and_their_classes_in_the_strip_are_of_the_same_references() {
        // 20,000 references, a new line each: sums are kept of every fourth, so a column's edges lie between them.
        let references: Vec<Reference> =
            (0..20_000u64).map(|n| Reference::new(Kind::Read, 0x1000 + n * 7919 % 4096 * 64, 8)).collect();
        let studio = |len: usize, outcomes_up_to: u64| {
            let source = Arc::new(MemoryTrace::new(references[..len].to_vec(), Tables::default()));
            let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("sound");
            let options = Options { outcomes_up_to, ..Options::default() };
            Studio::of(Timeline::build(source, hierarchy, options, &mut |_, _| true).expect("in memory")).expect("read")
        };
        let tips = |outcomes_up_to: u64, len: usize, columns: usize| {
            let mut desk =
                Desk::new(studio(len, outcomes_up_to), View::default(), Parts::default(), &[], Position::START, 100.0);
            desk.refresh().expect("in memory");
            let ticks = (0..len as u64).step_by(len / 23);
            ticks.map(|tick| strip_tip(&desk, tick, columns).expect("in memory")).collect::<Vec<_>>()
        };
        let number = |words: &str| -> u64 {
            words.split(' ').next().map(|n| n.replace(',', "")).and_then(|n| n.parse().ok()).expect("a number")
        };
        for columns in [7, 20, 333, 1023, 3001] {
            for len in [20_000, 9_999] {
                for tip in tips(u64::MAX, len, columns) {
                    assert!(tip.lines[1].ends_with("references here"), "{tip:?}");
                    let classed: u64 = tip.lines[2].split(", ").map(number).sum();
                    assert_eq!(classed, number(&tip.lines[1]), "{columns} columns of {len}: {tip:?}");
                }
                // Without what became of each, sums of wider parts are told as such.
                for tip in tips(0, len, columns) {
                    let (misses, of) = tip.lines[1].split_once(" in ").expect("misses in references");
                    let wide = len as u64 / columns as u64 + 1;
                    assert!(number(misses) <= number(of), "{tip:?}");
                    assert!(of.ends_with("around here") || number(of) <= wide, "{columns} columns of {len}: {tip:?}");
                }
            }
        }
    }
}
