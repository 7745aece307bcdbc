//! Checks of the module above.

use super::*;
use crate::axis::Position;
use crate::overlay::Stretch;
use crate::overlay::tests::studio;
use crate::reference::{Kind, Reference, Tables};
use crate::sim::Hierarchy;
use crate::sim::config::preset;
use std::sync::Arc;

/// 1,000 references over two arrays: A is streamed through, B[0] is touched every fourth time.
pub(in crate::app) fn desk() -> Desk {
    Desk::new(studio(), View::default(), Parts::default(), &[], Position::START, 100.0)
}

#[test]
fn the_title_says_where_the_playhead_is() {
    let mut desk = desk();
    assert_eq!(desk.title(), "orrery - 0 of 1,000 - two arrays");
    desk.apply(Action::PlayPause, 0.0);
    desk.advance(1.234);
    assert_eq!(desk.title(), "orrery - 123 of 1,000 - two arrays");
    desk.apply(Action::End, 0.0);
    assert_eq!(desk.title(), "orrery - 1,000 of 1,000 - two arrays");
}

#[test]
fn misses_are_jumped_to_and_really_are_misses() {
    let mut desk = desk();
    let mut seen = Vec::new();
    for _ in 0..5 {
        desk.apply(Action::Miss(true), 0.0);
        seen.push(desk.transport.tick());
    }
    assert!(seen.windows(2).all(|w| w[0] < w[1]) && !desk.transport.moving(), "{seen:?}");
    let outcomes = desk.studio().timeline().outcomes().expect("short");
    assert!(seen.iter().all(|&t| outcomes.get(t).expect("inside").missed()));
    desk.transport.jump(Position::at(seen[4]).plus(0.5));
    desk.apply(Action::Miss(false), 0.0);
    assert_eq!(desk.transport.position(), Position::at(seen[4]), "its own start first");
    desk.apply(Action::Miss(false), 0.0);
    assert_eq!(desk.transport.tick(), seen[3]);
    desk.apply(Action::End, 0.0);
    desk.apply(Action::Miss(true), 5.0);
    assert_eq!(desk.transport.tick(), 1000);
    assert_eq!(desk.toast(5.0).map(|t| t.0), Some("no miss after this"));
    assert_eq!(desk.toast(5.1 + TOAST_SECONDS), None);
}

#[test]
fn marks_are_jumped_to_and_named() {
    let mut desk = desk();
    for (forward, tick, words) in [
        (true, 100, "first"),
        (true, 600, "second"),
        (true, 600, "no mark after this"),
        (false, 100, "first"),
        (false, 100, "no mark before this"),
    ] {
        desk.apply(Action::Mark(forward), 0.0);
        assert_eq!((desk.transport.tick(), desk.toast(0.0).map(|t| t.0)), (tick, Some(words)));
    }
}

#[test]
fn escape_closes_the_sheet_before_it_leaves() {
    let mut desk = desk();
    desk.apply(Action::Sheet, 0.0);
    assert!(desk.sheet);
    assert_eq!(desk.apply(Action::Escape, 0.0), None);
    assert!(!desk.sheet);
    // Who types a word while the list of words is shown does not mean what is behind it.
    assert_eq!(desk.apply(Action::Words, 0.0), None);
    let clock = desk.clock();
    for action in [Action::Clock, Action::Bookmark, Action::Still, Action::Split(Side::Right)] {
        assert_eq!(desk.apply(action, 0.0), None);
    }
    assert!(desk.words && desk.clock() == clock && desk.notes.naming.is_none() && desk.panes.len() == 1);
    assert_eq!(desk.apply(Action::Escape, 0.0), None);
    assert!(!desk.words);
    // One says what the next one does, for as long as it can be read.
    assert_eq!(desk.apply(Action::Escape, 0.0), None);
    assert_eq!(desk.toast(0.0).map(|t| t.0), Some("Esc once more quits, and so does Ctrl + Q"), "nothing is kept here");
    assert_eq!(desk.apply(Action::Escape, QUIT_SECONDS + 0.1), None);
    assert_eq!(desk.apply(Action::Escape, QUIT_SECONDS + 0.2), Some(Effect::Quit));
}

#[test]
fn a_number_can_be_typed() {
    let mut desk = desk();
    for (typed, position) in
        [("613", 613.0), ("1,000", 1000.0), ("50%", 500.0), ("99999", 1000.0), ("-4", 0.0), ("7.5", 7.5)]
    {
        desk.go_to(typed, 0.0);
        assert_eq!(desk.transport.position(), Position::of(position), "{typed}");
    }
    for typed in ["x", "nan", "1e999", "%"] {
        desk.go_to(typed, 0.0);
        assert_eq!(desk.transport.position(), Position::of(7.5));
        assert!(desk.toast(0.0).is_some_and(|t| t.0.contains(typed)));
    }
}

#[test]
fn the_scene_is_made_again_only_when_it_changes() {
    let mut desk = desk();
    desk.refresh().expect("in memory");
    desk.refresh().expect("in memory");
    assert_eq!(desk.pane().generation(), 1);
    desk.apply(Action::Sheet, 0.0);
    desk.refresh().expect("in memory");
    assert_eq!(desk.pane().generation(), 1, "the sheet is no part of the picture");
    desk.apply(Action::Panels, 0.0);
    assert!(!desk.shot(desk.pane()).parts.regions && desk.shot(desk.pane()).parts.strip);
    desk.apply(Action::Panels, 0.0);
    desk.apply(Action::Tail(true), 0.0);
    desk.refresh().expect("in memory");
    desk.transport.jump(Position::of(4.0));
    desk.refresh().expect("in memory");
    assert_eq!(desk.pane().generation(), 3);
    assert_eq!(desk.pane().taken().map(|taken| (taken.info.tick, taken.info.tail)), Some((4, 128)));
}

/// A trace whose file may break.
struct Breaks {
    references: Vec<Reference>,
    tables: Tables,
    broken: std::sync::atomic::AtomicBool,
}

impl crate::reference::ReferenceSource for Breaks {
    fn len(&self) -> u64 {
        self.references.len() as u64
    }
    fn chunk_len(&self) -> u64 {
        500
    }
    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
        if self.broken.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(SourceError("written over".into()));
        }
        let first = usize::try_from(500 * index).expect("small");
        Ok(self.references[first..].iter().take(500).copied().collect())
    }
    fn tables(&self) -> &Tables {
        &self.tables
    }
}

#[test]
fn where_a_trace_cannot_be_read_any_more_the_picture_stays_and_later_ones_are_right() {
    let references = (0..40_000u64).map(|n| Reference::new(Kind::Read, n * 40 % 6_000, 8)).collect();
    let trace = Arc::new(Breaks { references, tables: Tables::default(), broken: false.into() });
    let studio = || {
        let hierarchy = Hierarchy::new(&preset("paper").expect("there")).expect("good");
        let source = Arc::clone(&trace) as Arc<dyn crate::reference::ReferenceSource>;
        Studio::new(source, hierarchy, &mut |_, _| true).expect("whole")
    };
    let mut desk = Desk::new(studio(), View::default(), Parts::default(), &[], Position::START, 100.0);
    desk.refresh().expect("whole");
    trace.broken.store(true, std::sync::atomic::Ordering::SeqCst);
    let mut failed = 0;
    for to in [39_000.0, 7_777.0, 30_123.0, 400.0, 20_000.0] {
        desk.transport.jump(Position::of(to));
        if let Err(error) = desk.refresh() {
            failed += 1;
            assert!(desk.stay(error.to_string(), 0.0));
            assert!(desk.toast(0.0).is_some_and(|(words, _)| words.contains("written over")));
        }
        assert!(desk.pane().taken().is_some_and(|taken| taken.info.tick == desk.transport.tick()));
        desk.refresh().expect("what is shown needs no file");
    }
    assert!(failed >= 3, "{failed}");
    trace.broken.store(false, std::sync::atomic::Ordering::SeqCst);
    let mut fresh = Desk::new(studio(), View::default(), Parts::default(), &[], Position::START, 100.0);
    for to in [31_500.0, 31_600.0, 12.0, 39_999.0] {
        for desk in [&mut desk, &mut fresh] {
            desk.transport.jump(Position::of(to));
            desk.refresh().expect("whole again");
        }
        let [one, other] = [&desk, &fresh].map(|desk| desk.pane().taken().expect("drawn"));
        assert!(one == other, "at {to}");
    }
    // Of two panes none goes on where the other cannot.
    desk.apply(Action::Split(Side::Below), 0.0);
    desk.refresh().expect("whole");
    trace.broken.store(true, std::sync::atomic::Ordering::SeqCst);
    for to in [20_000.0, 3_000.0, 33_333.0] {
        desk.transport.jump(Position::of(to));
        if let Err(error) = desk.refresh() {
            assert!(desk.stay(error.to_string(), 0.0));
        }
        let ticks: Vec<u64> = desk.panes.seen().map(|(_, pane)| pane.taken().expect("drawn").info.tick).collect();
        assert!(ticks == [desk.transport.tick(); 2], "{ticks:?}");
    }
}

#[test]
fn a_trace_that_grows_is_shown_by_all_panes() {
    let mut desk = desk();
    desk.apply(Action::Split(Side::Right), 0.0);
    desk.refresh().expect("in memory");
    let shown =
        |desk: &Desk| desk.panes.seen().map(|(_, pane)| pane.taken().expect("drawn").info.len).collect::<Vec<_>>();
    assert_eq!(shown(&desk), [1000, 1000]);
    let references = (0..3000u64).map(|n| Reference::new(Kind::Read, 0x1000 + 8 * n, 8)).collect();
    let trace = Arc::new(crate::reference::MemoryTrace::new(references, Tables::default()));
    let hierarchy = Hierarchy::new(&preset("paper").expect("there")).expect("good");
    desk.replace(Studio::new(trace, hierarchy, &mut |_, _| true).expect("in memory"));
    desk.refresh().expect("in memory");
    let names: Vec<&str> = desk.panes.seen().map(|(_, pane)| pane.row().name).collect();
    assert_eq!((shown(&desk), names), (vec![3000, 3000], vec!["rings", "numbers"]));
}

#[test]
fn another_clock_takes_as_long_for_the_whole_trace() {
    let mut desk = desk();
    let seconds = |desk: &Desk| desk.session.clock().len() / desk.transport.speed();
    assert_eq!((desk.clock(), seconds(&desk)), (ClockKind::References, 10.0));
    for kind in [ClockKind::Misses, ClockKind::Cycles, ClockKind::Adaptive, ClockKind::References] {
        assert!(desk.apply(Action::Clock, 0.0).is_none());
        assert_eq!(desk.clock(), kind);
        assert!((seconds(&desk) - 10.0).abs() < 1e-6, "{kind:?}: {} s", seconds(&desk));
        assert!(desk.toast(1.0).expect("said").0.contains(kind.name()));
        // Played in steps, it ends when it should, and not before.
        desk.apply(Action::Start, 0.0);
        desk.apply(Action::PlayPause, 0.0);
        for _ in 0..99 {
            desk.advance(0.1);
        }
        assert!(desk.transport.playing() && desk.transport.position() < Position::at(1000), "{kind:?}");
        desk.advance(0.1001);
        assert!(desk.transport.at_end(), "{kind:?}: {}", desk.transport.position());
    }
}

#[test]
fn a_fast_run_has_a_trail_as_long_as_a_frame() {
    let mut desk = desk();
    desk.apply(Action::Speed(8), 0.0);
    assert_eq!(desk.session.look(&desk.transport).tail, 64);
    desk.apply(Action::PlayPause, 0.0);
    assert_eq!(desk.session.look(&desk.transport).tail, 1667);
    assert_eq!(desk.session.look(&desk.transport).window, 1667, "temperature is of all that a frame skips");
    desk.transport.set_speed(1e9);
    assert_eq!(desk.session.look(&desk.transport).tail, 16_666_667, "whatever the speed, nothing is skipped");
    assert_eq!(desk.session.tail(), 64);
}

#[test]
fn a_part_of_the_strip_is_a_part_of_the_whole_and_the_playhead_turns_its_pages() {
    let mut desk = desk();
    let whole = desk.strip(100).clone();
    desk.session.show_stretch(Stretch::default().closer(desk.transport.axis(), 2.0, Position::START));
    assert_eq!(desk.session.stretch().ticks(desk.transport.axis()), 0..500);
    // As wide columns of half the trace are those of the first half of all.
    assert_eq!(*desk.strip(50), whole.first(50));
    desk.transport.jump(Position::of(730.0));
    desk.refresh().expect("in memory");
    let info = &desk.pane().taken().expect("just drawn").info;
    assert!(
        info.stretch.shows(info.axis, Position::at(730)) && info.stretch == desk.session.stretch(),
        "{:?}",
        info.stretch
    );
    // Who looks elsewhere while nothing plays is left there.
    desk.session.show_stretch(Stretch::default().closer(desk.transport.axis(), 10.0, Position::START));
    desk.refresh().expect("in memory");
    assert_eq!(desk.session.stretch().ticks(desk.transport.axis()), 0..100);
    desk.transport.jump(Position::of(731.0));
    desk.refresh().expect("in memory");
    assert!(desk.session.stretch().shows(desk.transport.axis(), Position::at(731)));
}

#[test]
fn other_caches_are_simulated_shown_at_the_same_place_and_taken_back() {
    use crate::app::caches::Change;
    let mut desk = desk();
    desk.transport.jump(Position::of(613.5));
    desk.pane_mut().look(Gesture::Whole);
    desk.refresh().expect("in memory");
    let shape = |desk: &Desk| desk.pane().taken().expect("drawn").info.caches[0].shape.clone();
    let (before, first) = (shape(&desk), desk.studio().timeline().config().clone());
    assert_eq!(desk.apply(Action::Undo(false), 0.0), None, "nothing was changed");
    desk.apply(Action::Caches, 0.0);
    let card = desk.caches.as_mut().expect("opened");
    assert!(card.open && card.change(&Change::Wayed(0, true)));
    let Some(Effect::Simulate(config)) = desk.asked(CardAsks::Simulate, 0.0) else { panic!("asked for") };
    let source = Arc::clone(desk.studio().timeline().source());
    let simulated = |config: &HierarchyConfig| {
        Studio::new(Arc::clone(&source), Hierarchy::new(config).expect("sound"), &mut |_, _| true).expect("in memory")
    };
    desk.recache(simulated(&config), 0.0);
    desk.refresh().expect("in memory");
    assert!(shape(&desk) != before && desk.transport.position() == Position::of(613.5));
    let Some(Effect::Simulate(config)) = desk.apply(Action::Undo(false), 0.0) else { panic!("taken back") };
    assert_eq!(*config, first);
    desk.recache(simulated(&config), 0.0);
    desk.refresh().expect("in memory");
    assert_eq!(shape(&desk), before);
    // Escape closes the card and no more.
    assert_eq!(desk.apply(Action::Escape, 0.0), None);
}
