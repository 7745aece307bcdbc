//! Checks of the module above.

use super::*;
use crate::app::desk::tests::desk;
use crate::nest::{NestText, Settings, Walk};
use crate::overlay::{Parts, Studio};
use crate::scene::View;
use crate::sim::Hierarchy;
use crate::sim::config::preset;
use std::sync::Arc;

fn first(desk: &mut Desk, typed: &str) -> String {
    desk.finder = None;
    desk.apply(Action::Finder, 0.0);
    let finder = desk.finder.as_mut().expect("open");
    finder.type_in(typed);
    finder.found().first().map_or(String::new(), |row| row.words.clone())
}

#[test]
fn what_is_typed_finds_actions_exhibits_marks_bookmarks_and_references() {
    let mut desk = desk();
    desk.notes.set(Position::of(7.5), "Größe wächst");
    for (typed, words) in [
        ("next miss", "next miss"),
        ("MISS prev", "previous miss"),
        ("caches", "change the caches"),
        ("show num", "show numbers: this reference, levels, TLBs and regions as tables"),
        ("mark sec", "go to mark second"),
        ("grosse", "go to bookmark Größe wächst"),
        ("2,613", "go to reference 2,613"),
        ("50%", "go to 50 % of the trace"),
        ("7.5", "go to reference 7.5"),
        // Words that are on no row.
        ("paper", "another theme: dark, light, print"),
        ("between", "in point: play from here"),
        ("screenshot", "save the picture as PNG"),
        ("font size", "larger type"),
        (
            "locality",
            "locality: Of time: what was used is used again soon. Of place: what lies beside it is used soon.",
        ),
        ("record again", "record the program once more, and compare"),
        ("zzzz", ""),
    ] {
        assert_eq!(first(&mut desk, typed), words, "{typed}");
    }
    // All is there when nothing is typed, each action once.
    desk.finder = None;
    desk.apply(Action::Finder, 0.0);
    let finder = desk.finder.as_ref().expect("open");
    assert_eq!((finder.found().len(), finder.chosen), (SHOWN, 0));
    let times = |action| finder.rows.iter().filter(|row| matches!(row.does, Does::Act(a) if a == action)).count();
    assert_eq!([times(Action::Finder), times(Action::Faster), times(Action::Miss(true))], [1, 1, 1]);
    let miss = finder.rows.iter().find(|row| row.words == "next miss").expect("there");
    assert_eq!(miss.beside, "Ctrl + Right");
}

#[test]
fn a_row_does_what_it_says_and_the_finder_closes() {
    let mut desk = desk();
    desk.notes.set(Position::of(7.5), "here");
    for (typed, position) in
        [("mark first", 100.0), ("bookmark here go", 7.5), ("250", 250.0), ("start of", 0.0), ("25%", 250.0)]
    {
        first(&mut desk, typed);
        assert_eq!(desk.found(0, 0.0), None);
        assert_eq!((desk.transport.position(), desk.finder.is_none()), (Position::of(position), true), "{typed}");
    }
    first(&mut desk, "full screen");
    assert_eq!(desk.found(0, 0.0), Some(Effect::FullScreen));
    first(&mut desk, "show source");
    desk.found(0, 0.0);
    assert_eq!(desk.pane().row().name, "source");
    // A row that is not there does nothing.
    first(&mut desk, "zzzz");
    assert_eq!(desk.found(3, 0.0), None);
    assert_eq!(desk.found(0, 0.0), None, "it is closed");
}

/// A desk with two loops, one after the other, the second of which makes accesses from 64 on.
fn desk_of_loops() -> Desk {
    let text = "array A[8, 8] of f64\narray B[8, 8] of f64\nfor i in 0..8, j in 0..8 { read A[i, j] }\n\
        for i in 0..8, j in 0..8 { B[i, j] += A[j, i] }";
    let text = NestText { name: "t.loops".into(), text: text.into(), settings: Settings::default(), is_graph: false };
    let walk = Walk::new(text.nest().expect("read"), 64).expect("counted").of_text(text);
    let hierarchy = Hierarchy::new(&preset("paper").expect("a preset")).expect("sound");
    let studio = Studio::new(Arc::new(walk), hierarchy, &mut |_, _| true).expect("in memory");
    Desk::new(studio, View::default(), Parts::default(), &[], Position::START, 100.0)
}

#[test]
fn statements_of_loops_are_found_by_their_text_and_their_line() {
    let mut desk = desk_of_loops();
    for typed in ["+= a", "loops:4", "B[i, j]"] {
        assert_eq!(first(&mut desk, typed), "go to B[i, j] += A[j, i]", "{typed}");
        let row = desk.finder.as_ref().expect("open").found()[0].clone();
        assert_eq!(row.beside, "t.loops:4");
        assert_eq!(desk.found(0, 0.0), None);
        assert_eq!(desk.transport.position(), Position::at(64), "its first access");
    }
    assert_eq!(first(&mut desk, "read"), "go to read A[i, j]");
    desk.found(0, 0.0);
    assert_eq!(desk.transport.position(), Position::START);
}

#[test]
fn the_keys_go_round_the_rows_that_are_shown() {
    let rows = (0..40).map(|n| Row::new(format!("row {n}"), "", Does::Go(Position::at(n)))).collect();
    let mut finder = Finder::new(rows, false);
    finder.step(false);
    assert_eq!(finder.chosen, SHOWN - 1);
    finder.step(true);
    assert_eq!(finder.chosen, 0);
    finder.step(true);
    finder.type_in("row 7");
    assert_eq!((finder.chosen, finder.found().len(), finder.fit), (0, 4, 4));
    assert_eq!(finder.found()[0].words, "row 7", "17, 27 and 37 have it within");
    finder.type_in("nothing");
    finder.step(true);
    finder.step(false);
    assert_eq!((finder.chosen, finder.found().len()), (0, 0));
}

#[test]
fn what_begins_a_name_or_a_word_goes_before_what_is_within_one() {
    let rows = ["the last one", "blast", "last of all", "a last", "at last"];
    let mut finder =
        Finder::new(rows.iter().map(|words| Row::new(*words, "", Does::Go(Position::START))).collect(), false);
    finder.type_in("LAST");
    let found: Vec<&str> = finder.found().iter().map(|row| row.words.as_str()).collect();
    assert_eq!(found, ["last of all", "a last", "at last", "the last one", "blast"]);
    finder.type_in("all last");
    assert_eq!(finder.found().len(), 1);
}

#[test]
fn many_marks_and_a_huge_paste_stay_quick() {
    let rows: Vec<Row> = (0..100_000u64)
        .map(|n| {
            Row::new(format!("go to mark phase {n} of the program, línea {}", n % 997), "", Does::Go(Position::at(n)))
        })
        .collect();
    let begun = std::time::Instant::now();
    let mut finder = Finder::new(rows, false);
    for typed in ["p", "phase 99", "phase 99999", "linea 3 phase"] {
        finder.type_in(typed);
        assert!(finder.fit > 0 && finder.found().len() <= SHOWN, "{typed}");
    }
    assert_eq!(finder.found()[0].words, "go to mark phase 3 of the program, línea 3");
    finder.type_in(&"x y é 🦀 ".repeat(1 << 20));
    assert_eq!((finder.typed().chars().count(), finder.fit), (LONGEST, 0));
    finder.type_in(&"9".repeat(1 << 20));
    assert_eq!(finder.fit, 0, "no number of 64 bits");
    // Tens of milliseconds; what grows with the square of either would take minutes.
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
