//! Every control and every exhibit as who uses no mouse meets them: by their names, through the tree that egui gives to screen readers.

use super::*;
use crate::app::desk::tests::desk;
use crate::overlay::exhibits::EXHIBITS;
use crate::overlay::{Picture, fonts};
use crate::units::ByteRange;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

/// A window of this size on a desk.
pub(super) fn window<'a>(desk: Desk, size: [u32; 2]) -> Harness<'a, Desk> {
    let mut fonts_set = false;
    Harness::builder().with_size(vec2(size[0] as f32, size[1] as f32)).build_ui_state(
        move |ui, desk| {
            if !std::mem::replace(&mut fonts_set, true) {
                // They are there from the next frame on.
                fonts::install(ui.ctx());
                return ui.ctx().request_repaint();
            }
            let now = ui.input(|i| i.time);
            let shown = show(ui, desk, size, now);
            for action in shown.asked {
                desk.apply(action, now);
            }
            assert!(shown.failed.is_none(), "in memory");
        },
        desk,
    )
}

#[test]
fn every_exhibit_is_opened_and_told_in_words_at_two_sizes() {
    for size in [[1280, 720], [640, 360]] {
        for row in EXHIBITS {
            let mut desk = desk();
            desk.transport.jump(crate::axis::Position::at(613));
            desk.pin(Some(ByteRange::new(0x4000, 8)));
            let life =
                desk.wanted_life().map(|(timeline, bytes)| timeline.life(bytes, &mut |_| true).expect("in memory"));
            desk.take_life(std::sync::Arc::new(life.expect("pinned just now")));
            desk.show(row, 0.0);
            let mut window = window(desk, size);
            window.run_steps(3);
            let words = format!("{}: two arrays, reference 613 of 1,000.", row.name);
            let area = window.get_by_label_contains(&words).rect();
            assert!(
                area.width() > 0.8 * size[0] as f32 && area.height() > 0.6 * size[1] as f32,
                "{}: {area}",
                row.name
            );
            let taken = window.state().pane().taken().expect("drawn");
            let is_empty = match &taken.picture {
                Picture::Rings(scene) => scene.glyphs.is_empty() && scene.cells.is_empty(),
                Picture::Plane(plane) | Picture::Machine(_, plane) | Picture::Solids(_, plane) => {
                    plane.words.is_empty()
                }
            };
            assert!(!is_empty, "{} at {size:?}", row.name);
        }
    }
}

#[test]
fn every_button_of_the_bar_has_a_name_and_does_what_its_key_does() {
    let mut window = window(desk(), [1280, 720]);
    window.run_steps(3);
    for name in ["strip", "speed", "trail"] {
        assert!(window.query_by_label(name).is_some(), "{name}");
    }
    window.get_by_label_contains("play   Space").click();
    window.run_steps(2);
    assert!(window.state().transport.playing());
    window.get_by_label_contains("pause   Space").click();
    window.run_steps(2);
    assert!(!window.state().transport.playing());
    window.get_by_label_contains("another pane").click();
    window.run_steps(2);
    assert_eq!(window.state().panes.len(), 2);
    window.get_by_label_contains("keys   ?").click();
    window.run_steps(2);
    assert!(window.state().sheet);
}

#[test]
fn exhibits_of_tabs_and_rows_of_tables_are_pressed_by_name() {
    let mut window = window(desk(), [1280, 720]);
    window.run_steps(3);
    window.state_mut().apply(Action::Split(Side::Right), 0.0);
    window.run_steps(3);
    let names: Vec<&str> = EXHIBITS.iter().map(|row| row.name).collect();
    let first = window.state().pane().row().name;
    let other = names.iter().find(|name| **name != first && **name != "rings").expect("several");
    window.get_all_by_label(other).next().expect("a word on a tab").click();
    window.run_steps(3);
    assert!(window.state().panes.seen().any(|(_, pane)| pane.row().name == *other));
    // A region's row: dimmed.
    window.get_all_by_label("region 1").next().expect("B's row").click();
    window.run_steps(3);
    let shades = |window: &Harness<'_, Desk>| -> Vec<_> {
        let seen = window.state().panes.seen();
        seen.filter_map(|(_, pane)| pane.taken()).map(|taken| taken.info.regions[1].shade).collect()
    };
    assert!(shades(&window).contains(&crate::scene::Shade::Dim), "{:?}", shades(&window));
}

#[test]
fn what_is_pinned_is_inspected_and_its_events_lead_to_references() {
    let mut window = window(desk(), [1280, 720]);
    window.state_mut().pin(Some(ByteRange::new(0x4000, 8)));
    let (timeline, bytes) = window.state_mut().wanted_life().expect("pinned just now");
    assert!(window.state_mut().wanted_life().is_none(), "told once");
    let life = std::sync::Arc::new(timeline.life(bytes, &mut |_| true).expect("in memory"));
    window.state_mut().take_life(std::sync::Arc::clone(&life));
    window.run_steps(3);
    window.state_mut().apply(Action::Inspect, 0.0);
    window.run_steps(3);
    assert_eq!(window.state().pane().row().name, "inspector");
    // The third reference is the first to B[0].
    assert_eq!((life.steps()[0].tick, life.counts(1000)), (3, (250, life.steps().last().expect("busy").misses)));
    let tick = life.steps()[2].tick;
    window.get_by_label(&format!("reference {tick}")).click();
    window.run_steps(3);
    assert_eq!(window.state().transport.tick(), tick);
    window.state_mut().apply(Action::Line(true), 0.0);
    assert_eq!(window.state().transport.tick(), life.steps()[3].tick);
    window.state_mut().apply(Action::Line(false), 0.0);
    assert_eq!(window.state().transport.tick(), tick);
    // Its set mates can be pinned in its place.
    let mate = window.get_all_by_label_contains("bytes at 0x").next().map(|node| node.accesskit_node().label());
    let name = mate.flatten().expect("a set mate");
    window.get_all_by_label(&name).next().expect("there").click();
    window.run_steps(3);
    let pinned = window.state().pinned().expect("still something");
    assert_eq!(format!("bytes at 0x{:x}", pinned.first), name);
    window.state_mut().apply(Action::Escape, 0.0);
    assert_eq!(window.state().pinned(), None);
}
