//! Checks of the module above.

use super::*;
use crate::app::desk::tests::desk;
use crate::app::tiles::beside;
use crate::app::transport::FASTEST;
use crate::axis::Position;
use crate::overlay::Strip;
use crate::overlay::fonts;
use crate::overlay::pen::Target;
use egui::{Context, Event, PointerButton, Pos2, RawInput, Shape};

pub(in crate::app) fn context() -> Context {
    let context = Context::default();
    fonts::install(&context);
    context
}

/// One frame of the window, without a window.
pub(in crate::app) fn frame(context: &Context, desk: &mut Desk, size: [u32; 2], events: Vec<Event>) -> Vec<Action> {
    let time = context.input(|i| i.time) + 0.05;
    let screen = Rect::from_min_size(Pos2::ZERO, vec2(size[0] as f32, size[1] as f32));
    let input = RawInput { screen_rect: Some(screen), time: Some(time), events, ..RawInput::default() };
    let mut shown = Shown::default();
    let mut output = context.run_ui(input, |ui| shown = show(ui, desk, size, time));
    output.textures_delta.clear();
    let _ = context.tessellate(output.shapes, output.pixels_per_point);
    assert!(shown.failed.is_none(), "in memory");
    shown.asked
}

pub(in crate::app) fn press(at: Pos2, pressed: bool) -> Event {
    Event::PointerButton { pos: at, button: PointerButton::Primary, pressed, modifiers: egui::Modifiers::NONE }
}

#[test]
fn a_click_on_the_row_of_a_region_dims_hides_and_shows_it() {
    use crate::scene::Shade::{Dim, Full, Hidden};
    let (context, mut desk, size) = (context(), desk(), [1280, 720]);
    frame(&context, &mut desk, size, vec![]);
    // The second row, B's, wherever the rows are.
    let mut rows = Vec::new();
    let mut output = context.run_ui(RawInput::default(), |ui| {
        rows = desk.pane().taken().expect("drawn").words(ui.painter(), &Strip::default()).rows;
    });
    output.textures_delta.clear();
    let regions = [0, 1].map(|n| [Target::Region(n), Target::Color(n)]).concat();
    let expect = [&regions[..], &[Target::Caches]].concat();
    assert_eq!(rows.iter().map(|(_, row)| *row).collect::<Vec<_>>(), expect);
    let (at, patch) = (rows[2].0.center(), rows[3].0.center());
    let click_at = |desk: &mut Desk, at: Pos2| {
        for event in [Event::PointerMoved(at), press(at, true), press(at, false)] {
            frame(&context, desk, size, vec![event]);
        }
        frame(&context, desk, size, vec![]);
        desk.pane().taken().expect("drawn").info.regions.clone()
    };
    let click = |desk: &mut Desk| click_at(desk, at).iter().map(|row| row.shade).collect::<Vec<_>>();
    let camera = desk.pane().camera();
    for expect in [Dim, Hidden, Full] {
        let references = desk.pane().taken().expect("drawn").info.regions[1].references;
        assert_eq!(click(&mut desk), [Full, expect]);
        assert_eq!(desk.pane().taken().expect("drawn").info.regions[1].references, references, "counts stay");
    }
    // Its patch gives it the first colour that is free, and the one after it; with Shift its own again.
    for (expect, back) in [(2, false), (3, false), (1, true)] {
        if back {
            desk.follow(Target::Color(1), true, 0.0);
            frame(&context, &mut desk, size, vec![]);
        } else {
            click_at(&mut desk, patch);
        }
        let rows = &desk.pane().taken().expect("drawn").info.regions;
        assert_eq!([rows[0].color, rows[1].color], [palette::region(0), palette::region(expect)]);
        assert!(rows.iter().all(|row| row.shade == Full), "nothing is dimmed by it");
        // What is seen can be copied as a command.
        let command = desk.command().expect("caches of the command line");
        let flag = format!("--color 'B={}'", palette::own::hex(palette::region(expect)));
        assert_eq!([command.contains(&flag), command.contains("--color")], [!back; 2], "{command}");
    }
    assert_eq!(desk.pane().camera(), camera);
}

#[test]
fn every_size_down_to_nothing_is_survived_with_the_pointer_anywhere() {
    let context = context();
    let mut desk = desk();
    for size in [[1280, 720], [800, 600], [320, 240], [240, 320], [200, 2000], [2000, 90], [40, 30], [1, 1]] {
        desk.transport.jump(Position::of(37.4));
        for sheet in [true, false] {
            desk.sheet = sheet;
            for share in 0..12u8 {
                let [w, h] = size.map(|s| s as f32);
                let at = pos2(w * f32::from(share) / 11.0, h * f32::from(share * 7 % 12) / 11.0);
                frame(&context, &mut desk, size, vec![Event::PointerMoved(at)]);
            }
        }
        loading_at(&context, size);
    }
}

fn loading_at(context: &Context, size: [u32; 2]) {
    let screen = Rect::from_min_size(Pos2::ZERO, vec2(size[0] as f32, size[1] as f32));
    let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
    context.run_ui(input, |ui| loading(ui, "t.orrery", 3, 7)).textures_delta.clear();
}

/// Where words stand that a frame shows.
fn told(shapes: Vec<egui::epaint::ClippedShape>) -> Vec<(String, Rect)> {
    fn of(shape: Shape, out: &mut Vec<(String, Rect)>) {
        match shape {
            Shape::Vec(all) => all.into_iter().for_each(|shape| of(shape, out)),
            Shape::Text(text) => {
                out.push((text.galley.text().to_owned(), Rect::from_min_size(text.pos, text.galley.size())));
            }
            _ => {}
        }
    }
    let mut out = Vec::new();
    shapes.into_iter().for_each(|clipped| of(clipped.shape, &mut out));
    out
}

#[test]
fn nothing_on_the_bar_lies_over_anything_else_however_long_the_numbers() {
    let context = context();
    let mut desk = desk();
    desk.apply(Action::End, 0.0);
    desk.session.set_tail(LONGEST_TAIL);
    desk.transport.set_speed(FASTEST);
    let mut seen = [false; 2];
    for clock in 0..4 {
        for width in (240..1400).step_by(29).chain([640, 1024, 1280, 1920]) {
            let screen = Rect::from_min_size(Pos2::ZERO, vec2(width as f32, 640.0));
            let layout = layout(&desk, width, 640);
            let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
            let mut output = context.run_ui(input, |ui| drop(show(ui, &mut desk, [width, 640], 9.0)));
            output.textures_delta.clear();
            let size = (0.80 * bar_height(640) as f32).clamp(8.0, 36.0);
            let y = layout.strip.bottom() + 0.44 * bar_height(640) as f32;
            let mut on_bar = told(output.shapes);
            on_bar.retain(|(_, area)| area.center().y > layout.strip.bottom());
            seen[0] |= on_bar.iter().any(|(words, _)| *words == grouped(LONGEST_TAIL));
            seen[1] |= on_bar.iter().any(|(words, _)| words.starts_with(&rate(FASTEST)));
            // The three buttons on the left, and on the right those that there is room for.
            let icons = if on_bar.iter().any(|(words, _)| words.starts_with(&rate(FASTEST))) { 7.0 } else { 1.0 };
            let (left, right) = (layout.strip.left(), layout.strip.right());
            let span = |from: f32, to: f32| Rect::from_min_max(pos2(from, y - 9.0), pos2(to, y + 9.0));
            on_bar.retain(|(words, _)| words != "?");
            on_bar.push(("left buttons".into(), span(left, left + 2.6 * size + 6.0)));
            on_bar.push(("right buttons".into(), span(right - icons * (0.8 * size + 3.0) + 3.0, right)));
            for (n, (a, first)) in on_bar.iter().enumerate() {
                for (b, second) in &on_bar[n + 1..] {
                    let over = first.intersect(*second);
                    assert!(over.width() <= 0.5 || over.height() <= 0.5, "{width}, {clock}: {a} on {b}");
                }
            }
        }
        desk.apply(Action::Clock, 0.0);
        desk.transport.set_speed(FASTEST);
    }
    assert_eq!(seen, [true; 2], "the longest numbers were there");
}

#[test]
fn a_tip_stands_away_from_the_rings_while_they_move() {
    let mut desk = desk();
    let layout = layout(&desk, 1280, 720);
    let ([x, y], r) = (layout.viewport.center, layout.viewport.px_per_unit);
    desk.apply(Action::PlayPause, 0.0);
    assert!(desk.transport.moving());
    for (dx, dy) in [(0.1, 0.1), (-0.1, 0.1), (0.1, -0.1), (-0.1, -0.1)] {
        let pointer = pos2(x + dx * r, y + dy * r);
        let size = vec2(230.0, 100.0);
        let place = |moving| {
            let (at, anchor) = beside(&layout, pointer, moving);
            anchor.anchor_size(at, size)
        };
        let nearest = place(true).clamp(pos2(x, y));
        assert!(nearest.distance(pos2(x, y)) > r, "{:?} covers none of the picture", place(true));
        assert!(!place(false).contains(pos2(x, y)), "{:?} covers no CPU", place(false));
        assert!(!place(false).contains(pointer));
    }
}

#[test]
fn dragging_on_the_strip_moves_the_playhead() {
    let (context, size) = (context(), [1280, 720]);
    let mut desk = desk();
    desk.apply(Action::PlayPause, 0.0);
    let bars = layout(&desk, size[0], size[1]).bars();
    let at = |share: f32| pos2(bars.left() + share * bars.width(), bars.center().y);
    frame(&context, &mut desk, size, vec![Event::PointerMoved(at(0.25))]);
    frame(&context, &mut desk, size, vec![press(at(0.25), true)]);
    assert_eq!(desk.transport.tick(), 250);
    for (share, tick) in [(0.4002, 400), (0.5002, 500), (2.0, 1000), (0.7002, 700)] {
        frame(&context, &mut desk, size, vec![Event::PointerMoved(at(share))]);
        assert_eq!(desk.transport.tick(), tick);
        assert!(!desk.transport.moving(), "held");
    }
    frame(&context, &mut desk, size, vec![press(at(0.7), false)]);
    frame(&context, &mut desk, size, vec![]);
    assert!(desk.transport.moving(), "plays on");
}

#[test]
fn a_click_on_the_strip_goes_where_it_was_wherever_the_pointer_is_by_then() {
    let (context, size) = (context(), [1280, 720]);
    let mut desk = desk();
    let bars = layout(&desk, size[0], size[1]).bars();
    let at = |share: f32| pos2(bars.left() + share * bars.width(), bars.center().y);
    frame(&context, &mut desk, size, vec![Event::PointerMoved(at(0.2502))]);
    // Down, up and away within a frame; then away within the frame of the release.
    let away = Event::PointerMoved(at(0.26));
    let events = vec![press(at(0.2502), true), press(at(0.2502), false), away.clone()];
    frame(&context, &mut desk, size, events);
    assert_eq!(desk.transport.tick(), 250);
    frame(&context, &mut desk, size, vec![press(at(0.2702), true)]);
    frame(&context, &mut desk, size, vec![press(at(0.2702), false), away]);
    assert_eq!(desk.transport.tick(), 270);
}

#[test]
fn buttons_ask_and_a_typed_number_is_gone_to() {
    let (context, size) = (context(), [1280, 720]);
    let mut desk = desk();
    let strip = layout(&desk, size[0], size[1]).strip;
    let y = strip.bottom() + 0.44 * bar_height(size[1]) as f32;
    let click = |desk: &mut Desk, x: f32| {
        let at = pos2(x, y);
        let mut asked = Vec::new();
        for events in [vec![Event::PointerMoved(at)], vec![press(at, true)], vec![press(at, false)], vec![]] {
            asked.extend(frame(&context, desk, size, events));
        }
        asked
    };
    let left = strip.left();
    assert_eq!(click(&mut desk, left + 14.0), [Action::Step(-1)]);
    assert_eq!(click(&mut desk, left + 50.0), [Action::PlayPause]);
    assert_eq!(click(&mut desk, strip.right() - 14.0), [Action::Sheet]);
    assert!(click(&mut desk, left + 120.0).is_empty());
    assert_eq!(desk.typed.as_deref(), Some(""));
    assert!(context.text_edit_focused());
    let key =
        |key| Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: egui::Modifiers::NONE };
    frame(&context, &mut desk, size, vec![Event::Text("613".into())]);
    assert_eq!(desk.typed.as_deref(), Some("613"));
    frame(&context, &mut desk, size, vec![key(Key::Enter)]);
    frame(&context, &mut desk, size, vec![]);
    assert_eq!((desk.transport.tick(), desk.typed.clone()), (613, None));
    assert!(!context.text_edit_focused());
    assert!(click(&mut desk, left + 120.0).is_empty());
    frame(&context, &mut desk, size, vec![Event::Text("5".into())]);
    frame(&context, &mut desk, size, vec![key(Key::Escape)]);
    frame(&context, &mut desk, size, vec![]);
    assert_eq!((desk.transport.tick(), desk.typed.clone()), (613, None), "escape leaves the field and goes nowhere");
}

/// Two panes of a desk in a window of this size, the second opened by its key.
fn two(context: &Context, size: [u32; 2]) -> Desk {
    let mut desk = desk();
    frame(context, &mut desk, size, vec![]);
    desk.apply(Action::Split(Side::Right), 0.0);
    frame(context, &mut desk, size, vec![]);
    desk
}

/// Position of the playhead in each pane's picture.
fn ticks(desk: &Desk) -> Vec<u64> {
    desk.panes.seen().map(|(_, pane)| pane.taken().expect("drawn").info.tick).collect()
}

#[test]
fn two_panes_show_the_same_moment_wherever_the_playhead_goes() {
    let (context, size) = (context(), [1280, 720]);
    let mut desk = two(&context, size);
    assert_eq!(ticks(&desk), [0, 0]);
    let names: Vec<&str> = desk.panes.seen().map(|(_, pane)| pane.row().name).collect();
    assert_eq!(names, ["rings", "numbers"]);
    desk.transport.jump(Position::of(613.0));
    frame(&context, &mut desk, size, vec![]);
    assert_eq!(ticks(&desk), [613, 613]);
    // By the strip, which is one for both and as wide as the window.
    let bars = layout(&desk, size[0], size[1]).bars();
    let at = pos2(bars.left() + 0.25 * bars.width() + 0.1, bars.center().y);
    for events in [vec![Event::PointerMoved(at)], vec![press(at, true)], vec![press(at, false)], vec![]] {
        frame(&context, &mut desk, size, events);
    }
    assert_eq!(ticks(&desk), [250, 250]);
    desk.apply(Action::PlayPause, 0.0);
    for _ in 0..20 {
        desk.advance(0.05);
        frame(&context, &mut desk, size, vec![]);
        let seen = ticks(&desk);
        assert!(seen[0] == seen[1] && seen[0] == desk.transport.tick(), "{seen:?}");
    }
    assert!(desk.transport.tick() > 300);
    let [a, b] = [0, 1].map(|n| desk.panes.seen().nth(n).expect("two").1.taken().expect("drawn"));
    assert_eq!((&a.info.caches, &a.info.regions, &a.info.now), (&b.info.caches, &b.info.regions, &b.info.now));
}

#[test]
fn panes_share_the_window_above_the_strip_and_a_closed_one_leaves_its_room() {
    let (context, size) = (context(), [1280, 720]);
    let mut desk = two(&context, size);
    let strip = layout(&desk, size[0], size[1]).strip;
    let places: Vec<Rect> = desk.panes.seen().map(|(_, pane)| pane.place().area.rect()).collect();
    assert!(places[0].right() < places[1].left() && places[1].right() == 1280.0, "{places:?}");
    assert!((places[0].width() - places[1].width()).abs() <= 1.0);
    for place in &places {
        assert!(place.top() > 10.0 && place.bottom() <= strip.top() + 0.5, "between tabs and strip: {place:?}");
    }
    assert!(!desk.bars.is_empty(), "the strip is the window's");
    let whole = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0));
    desk.apply(Action::Close, 0.0);
    frame(&context, &mut desk, size, vec![]);
    frame(&context, &mut desk, size, vec![]);
    assert_eq!((desk.panes.len(), desk.pane().place().area.rect(), desk.pane().row().name), (1, whole, "rings"));
    assert!(desk.bars.is_empty() && desk.shot(desk.pane()).parts.strip, "the strip is the picture's");
    desk.apply(Action::Close, 0.0);
    assert_eq!(desk.toast(0.0).map(|t| t.0), Some("this is the only pane"));
}

#[test]
fn keys_are_for_the_pane_under_the_pointer_and_each_has_a_camera_of_its_own() {
    let (context, size) = (context(), [1280, 720]);
    let mut desk = two(&context, size);
    desk.apply(Action::Exhibit, 0.0);
    let cameras = |desk: &Desk| desk.panes.seen().map(|(_, pane)| pane.camera().zoom).collect::<Vec<_>>();
    frame(&context, &mut desk, size, vec![Event::PointerMoved(pos2(200.0, 300.0))]);
    frame(&context, &mut desk, size, vec![]);
    assert_eq!(desk.pane().row().name, "rings");
    desk.apply(Action::Closer(200), 0.0);
    assert_eq!(cameras(&desk), [2.0, 1.0]);
    frame(&context, &mut desk, size, vec![Event::PointerMoved(pos2(1000.0, 300.0))]);
    assert_eq!(desk.pane().row().name, "large");
    desk.apply(Action::Closer(150), 0.0);
    assert_eq!(cameras(&desk), [2.0, 1.5]);
    // Over the strip keys stay where they were; by Tab they go on, until the pointer goes elsewhere.
    frame(&context, &mut desk, size, vec![Event::PointerMoved(pos2(200.0, 640.0))]);
    assert_eq!(desk.pane().row().name, "large");
    desk.apply(Action::NextPane, 0.0);
    frame(&context, &mut desk, size, vec![]);
    desk.apply(Action::Whole, 0.0);
    assert_eq!(cameras(&desk), [1.0, 1.5]);
}

#[test]
fn a_pane_that_shows_the_same_is_not_taken_anew() {
    let (context, size) = (context(), [1280, 720]);
    let mut desk = two(&context, size);
    let generations = |desk: &Desk| desk.panes.seen().map(|(_, pane)| pane.generation()).collect::<Vec<_>>();
    let before = generations(&desk);
    for x in [100.0, 300.0, 900.0, 1100.0] {
        frame(&context, &mut desk, size, vec![Event::PointerMoved(pos2(x, 333.0))]);
    }
    assert_eq!(generations(&desk), before, "nothing changed but the pointer");
    desk.apply(Action::Closer(200), 0.0);
    frame(&context, &mut desk, size, vec![]);
    assert_eq!(generations(&desk), [before[0], before[1] + 1], "one camera, one picture");
    desk.transport.jump(Position::of(5.0));
    frame(&context, &mut desk, size, vec![]);
    assert_eq!(generations(&desk), [before[0] + 1, before[1] + 2]);
}

#[test]
fn the_cross_on_a_tab_closes_its_pane_and_a_name_beside_it_shows_that_exhibit() {
    let (context, size) = (context(), [1280, 720]);
    let mut desk = two(&context, size);
    let words = |desk: &mut Desk| {
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0));
        let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
        let mut output = context.run_ui(input, |ui| drop(show(ui, desk, size, 1.0)));
        output.textures_delta.clear();
        told(output.shapes)
    };
    let click = |desk: &mut Desk, at: Pos2| {
        for events in [vec![Event::PointerMoved(at)], vec![press(at, true)], vec![press(at, false)], vec![], vec![]] {
            frame(&context, desk, size, events);
        }
    };
    let names = |desk: &Desk| desk.panes.seen().map(|(_, pane)| pane.row().name).collect::<Vec<_>>();
    let larges: Vec<Rect> =
        words(&mut desk).into_iter().filter(|(word, _)| word == "large").map(|(_, at)| at).collect();
    assert_eq!(larges.len(), 2, "each pane offers all exhibits");
    let first = larges.iter().find(|at| at.right() < 640.0).expect("of the first pane");
    click(&mut desk, first.center());
    assert_eq!(names(&desk), ["large", "numbers"]);
    let tab = words(&mut desk).into_iter().find(|(word, at)| word == "large" && at.left() < 40.0).expect("its tab").1;
    // The cross is right of the title.
    click(&mut desk, pos2(tab.right() + 10.0, tab.center().y));
    assert_eq!(names(&desk), ["numbers"]);
}

#[test]
fn several_panes_survive_every_size() {
    let context = context();
    let mut desk = two(&context, [1280, 720]);
    for side in [Side::Below, Side::Right, Side::Below] {
        desk.apply(Action::Split(side), 0.0);
    }
    for size in [[1280, 720], [640, 360], [320, 240], [240, 900], [900, 90], [40, 30], [1, 1], [1280, 720]] {
        for step in 0..6u8 {
            desk.transport.jump(Position::of(f64::from(step) * 37.4));
            let [w, h] = size.map(|s| s as f32 / 6.0);
            frame(&context, &mut desk, size, vec![Event::PointerMoved(pos2(w * f32::from(step), h * f32::from(step)))]);
        }
        assert_eq!((desk.panes.len(), ticks(&desk)), (5, vec![187; 5]), "{size:?}");
    }
}

#[test]
fn a_pane_behind_another_tab_is_neither_drawn_nor_has_keys_and_is_in_step_when_it_comes_forward() {
    let (context, size) = (context(), [1280, 720]);
    let mut desk = two(&context, size);
    let ids: Vec<_> = desk.panes.seen().map(|(id, _)| id).collect();
    // As if the first tab were dropped onto the second.
    desk.panes.stack(ids[0], ids[1]);
    for _ in 0..3 {
        frame(&context, &mut desk, size, vec![]);
    }
    assert_eq!(desk.panes.seen().map(|(id, _)| id).collect::<Vec<_>>(), [ids[0]]);
    assert_eq!((desk.panes.len(), desk.panes.focus()), (2, ids[0]));
    let behind = |desk: &mut Desk| desk.panes.iter_mut().nth(1).map(|pane| pane.generation()).expect("two");
    let before = behind(&mut desk);
    desk.transport.jump(Position::of(500.0));
    frame(&context, &mut desk, size, vec![]);
    assert_eq!((ticks(&desk), behind(&mut desk)), (vec![500], before), "what is not seen is not taken");
    // Its tab is the second of two.
    let tab = {
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0));
        let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
        let mut output = context.run_ui(input, |ui| drop(show(ui, &mut desk, size, 1.0)));
        output.textures_delta.clear();
        let words = told(output.shapes).into_iter().filter(|(word, _)| word == "numbers");
        words.min_by(|(_, a), (_, b)| a.left().total_cmp(&b.left())).expect("a tab").1
    };
    let at = tab.center();
    for events in [vec![Event::PointerMoved(at)], vec![press(at, true)], vec![press(at, false)], vec![], vec![]] {
        frame(&context, &mut desk, size, events);
    }
    assert_eq!((desk.panes.seen().map(|(id, _)| id).collect::<Vec<_>>(), ticks(&desk)), (vec![ids[1]], vec![500]));
    assert_eq!(desk.panes.focus(), ids[1]);
}

#[test]
fn where_a_pane_is_closed_keys_are_for_the_one_that_is_under_the_pointer_then() {
    let (context, size) = (context(), [1280, 720]);
    let mut desk = two(&context, size);
    desk.apply(Action::Split(Side::Right), 0.0);
    frame(&context, &mut desk, size, vec![]);
    let ids: Vec<_> = desk.panes.seen().map(|(id, _)| id).collect();
    // In the middle one, near its right border.
    let area = desk.panes.focused().place().area;
    let middle = desk.panes.seen().nth(1).map(|(_, pane)| pane.place().area).expect("three");
    assert_ne!(area, middle);
    let [x, y] = [middle.at[0] + middle.size[0] - 12, middle.at[1] + 60].map(|n| n as f32);
    frame(&context, &mut desk, size, vec![Event::PointerMoved(pos2(x, y))]);
    assert_eq!(desk.panes.focus(), ids[1]);
    desk.apply(Action::Close, 0.0);
    // The pointer did not move; what is under it did.
    for _ in 0..2 {
        frame(&context, &mut desk, size, vec![]);
    }
    let under = desk.panes.seen().find(|(_, pane)| {
        let area = pane.place().area;
        (area.at[0]..area.at[0] + area.size[0]).any(|at| (at as f32 - x).abs() < 1.0)
    });
    assert_eq!(under.map(|(id, _)| id), Some(desk.panes.focus()));
    assert_eq!(desk.panes.focus(), ids[2], "and not its other neighbour");
}
