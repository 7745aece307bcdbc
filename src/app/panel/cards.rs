//! Each card and page as who uses no mouse meets it, in a roomy window and in a small one: what it is before, a control pressed by its
//! name, what it is afterwards.

use super::access::window;
use super::*;
use crate::app::caches::CacheEdit;
use crate::app::desk::tests::desk;
use crate::app::guide::{Guide, HINTS};
use crate::app::output::Output;
use crate::app::output_panel;
use crate::app::start::tests::page;
use crate::app::start::{Asks, StartPage};
use crate::app::start_panel;
use crate::app::traces::Wanted;
use crate::axis::Position;
use crate::overlay::fonts;
use egui::Event;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Sizes of windows, points.
const SIZES: [[u32; 2]; 2] = [[1280, 720], [640, 360]];

/// A window of this size on a state that `show` shows.
fn on<'a, S: 'a>(state: S, size: [u32; 2], show: impl Fn(&mut Ui, &mut S) + 'a) -> Harness<'a, S> {
    let mut fonts_set = false;
    Harness::builder().with_size(vec2(size[0] as f32, size[1] as f32)).build_ui_state(
        move |ui, state| {
            if !std::mem::replace(&mut fonts_set, true) {
                fonts::install(ui.ctx());
                return ui.ctx().request_repaint();
            }
            show(ui, state);
        },
        state,
    )
}

#[test]
fn levels_are_added_taken_away_and_brought_back_on_the_card_of_the_caches() {
    for size in SIZES {
        let mut window = window(desk(), size);
        window.run_steps(2);
        window.get_by_label_contains("change the caches").click();
        // A card that was not seen before finds its place first.
        window.run_steps(8);
        let levels = |window: &Harness<'_, Desk>| {
            window.state().caches.as_ref().filter(|card| card.open).map(|card| CacheEdit::now(&card.edit).levels.len())
        };
        let first = levels(&window).expect("the bar opens the card");
        window.get_by_label("add a level").click_accesskit();
        window.run_steps(3);
        assert_eq!(levels(&window), Some(first + 1), "{size:?}");
        window.get_by_label("undo").click_accesskit();
        window.run_steps(3);
        assert_eq!(levels(&window), Some(first), "{size:?}");
        window.get_by_label("redo").click_accesskit();
        window.run_steps(3);
        assert_eq!(levels(&window), Some(first + 1), "{size:?}");
    }
}

#[test]
fn a_bookmark_is_gone_to_and_deleted_on_the_card_of_notes() {
    for size in SIZES {
        let mut desk = desk();
        desk.notes.set(Position::at(613), "the second row");
        desk.apply(Action::Notes, 0.0);
        let mut window = window(desk, size);
        window.run_steps(3);
        assert!(window.state().notes.open && window.state().transport.tick() == 0);
        window.get_by_label_contains("the second row").click();
        window.run_steps(3);
        assert_eq!(window.state().transport.tick(), 613, "{size:?}");
        // The first cross closes the card, the second one is the bookmark's.
        window.get_all_by_label("×").nth(1).expect("beside its name").click();
        window.run_steps(3);
        assert!(window.state().notes.bookmarks().is_empty(), "{size:?}");
        window.get_all_by_label("×").next().expect("of the card").click();
        window.run_steps(3);
        assert!(!window.state().notes.open, "{size:?}");
    }
}

#[test]
fn what_is_found_is_pressed_by_its_words() {
    for size in SIZES {
        let mut desk = desk();
        desk.apply(Action::Finder, 0.0);
        let mut window = window(desk, size);
        window.run_steps(2);
        window.state_mut().type_in_finder("engineer");
        window.run_steps(2);
        window.get_by_label_contains("layout engineer").click();
        window.run_steps(3);
        let desk = window.state();
        assert!(desk.finder.is_none() && desk.panes.len() == 3, "{size:?}: {}", desk.panes.len());
    }
}

#[test]
fn hints_are_gone_through_by_their_buttons_and_ended_by_one() {
    for size in SIZES {
        let mut window = window(desk(), size);
        window.state_mut().show_around();
        for (number, hint) in (1..).zip(HINTS) {
            window.run_steps(3);
            assert_eq!(window.state().guide.and_then(Guide::hint), Some((number, hint)), "{size:?}");
            assert!(window.query_by_label(hint.title()).is_some(), "{size:?}: {}", hint.title());
            window.get_by_label(if number < HINTS.len() { "next" } else { "done" }).click();
        }
        window.run_steps(3);
        assert_eq!(window.state().guide, None, "{size:?}");
        window.state_mut().show_around();
        window.run_steps(3);
        window.get_by_label_contains("no more hints").click();
        window.run_steps(3);
        assert_eq!(window.state().guide, None, "{size:?}");
    }
}

#[test]
fn the_list_of_keys_is_closed_by_a_click_and_no_button_is_pressed_below_it() {
    for size in SIZES {
        let mut window = window(desk(), size);
        window.run_steps(2);
        window.get_by_label_contains("keys   ?").click();
        window.run_steps(3);
        assert!(window.state().sheet, "{size:?}");
        let play = window.get_by_label_contains("play   Space").rect().center();
        window.drag_at(play);
        window.drop_at(play);
        window.run_steps(3);
        assert!(!window.state().sheet && !window.state().transport.playing(), "{size:?}");
    }
}

#[test]
fn what_a_program_prints_opens_and_closes() {
    for size in SIZES {
        let mut output = Output::default();
        output.print(b"sum 42\n");
        output.end("sum has ended, exit status: 0".into());
        let corner = pos2(size[0] as f32 - 20.0, size[1] as f32 - 60.0);
        let mut window = on(output, size, move |ui, output| output_panel::show(ui, output, corner));
        window.run_steps(3);
        assert!(!window.state().open && window.query_by_label("sum 42").is_none(), "{size:?}");
        window.get_by_label("output").click();
        window.run_steps(3);
        assert!(window.state().open && window.query_by_label("sum 42").is_some(), "{size:?}");
        window.get_by_label("output").click();
        window.run_steps(3);
        assert!(!window.state().open, "{size:?}");
    }
}

#[test]
fn a_program_that_runs_is_stopped_by_a_press() {
    for size in SIZES {
        let stops: Arc<AtomicU32> = Arc::default();
        let corner = pos2(size[0] as f32 - 20.0, size[1] as f32 - 60.0);
        let output = Output::of_running(Arc::clone(&stops));
        let mut window = on(output, size, move |ui, output| output_panel::show(ui, output, corner));
        window.run_steps(3);
        window.get_by_label("stop").click();
        window.run_steps(3);
        assert_eq!(stops.load(Ordering::SeqCst), 1, "{size:?}");
        assert!(window.query_by_label("stop").is_none() && window.query_by_label("stopping").is_some(), "{size:?}");
        window.state_mut().end("it has ended, signal: 2 (SIGINT)".into());
        window.run_steps(3);
        assert!(window.query_by_label("ended").is_some(), "{size:?}");
    }
}

#[test]
fn lessons_and_files_of_the_start_page_are_pressed_by_their_names() {
    for size in SIZES {
        let mut window = on((page(), None), size, |ui, (page, asked): &mut (StartPage, Option<Asks>)| {
            *asked = start_panel::show(ui, page, false).or(asked.take());
        });
        window.run_steps(3);
        assert_eq!(window.state().1, None);
        for (name, wanted) in
            [("heat.orrery", Wanted::File("/home/ada/heat.orrery".into())), ("mpm", Wanted::Lesson("mpm".into()))]
        {
            window.get_by_label(name).click();
            window.run_steps(3);
            assert_eq!(window.state_mut().1.take(), Some(Asks::Open(wanted)), "{size:?}");
        }
    }
}

#[test]
fn the_text_of_a_trace_is_pasted_as_one_and_other_text_as_words() {
    let mut window = on((page(), None), SIZES[0], |ui, (page, asked): &mut (StartPage, Option<Asks>)| {
        *asked = start_panel::show(ui, page, false).or(asked.take());
    });
    window.run_steps(3);
    let text = " L 1000,8\n L 1008,8\n S 2000,8\n";
    window.event(Event::Paste(text.into()));
    window.run_steps(2);
    assert_eq!(window.state_mut().1.take(), Some(Asks::Open(Wanted::Text(text.into()))));
    for other in ["/tmp/a trace.log", "two lines\nof a letter", " L 1000,8"] {
        window.event(Event::Paste(other.into()));
        window.run_steps(2);
        assert_eq!(window.state_mut().1.take(), None, "{other:?}");
    }
    assert!(window.state().0.typed.starts_with("/tmp/a trace.log"), "{:?}", window.state().0.typed);
}
