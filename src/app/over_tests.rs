//! Checks of what lies over the picture and is typed in: the name of a bookmark, the card of notes, the finder.

use super::desk::Desk;
use super::desk::tests::desk;
use super::keys::Action;
use super::panel::tests::{context, frame, press};
use crate::axis::Position;
use egui::{Context, Event, Key, Modifiers, Pos2, RawInput, Rect, Shape, vec2};

const SIZE: [u32; 2] = [1280, 720];

fn key(key: Key) -> Event {
    Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE }
}

/// Frames with these events, one after another, and one more.
fn frames(context: &Context, desk: &mut Desk, all: Vec<Event>) {
    for event in all {
        frame(context, desk, SIZE, vec![event]);
    }
    frame(context, desk, SIZE, vec![]);
}

/// The words of a frame and where they are.
fn told(context: &Context, desk: &mut Desk) -> Vec<(String, Rect)> {
    fn gather(shape: &Shape, into: &mut Vec<(String, Rect)>) {
        match shape {
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| gather(shape, into)),
            Shape::Text(text) => into.push((text.galley.text().to_owned(), text.visual_bounding_rect())),
            _ => {}
        }
    }
    let screen = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 720.0));
    let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
    let mut output = context.run_ui(input, |ui| drop(super::panel::show(ui, desk, SIZE, 9.0)));
    output.textures_delta.clear();
    let mut words = Vec::new();
    output.shapes.iter().for_each(|clipped| gather(&clipped.shape, &mut words));
    words
}

fn place(words: &[(String, Rect)], name: &str) -> Option<Pos2> {
    words.iter().find(|(word, _)| word.contains(name)).map(|(_, at)| at.center())
}

fn click(context: &Context, desk: &mut Desk, at: Pos2) {
    frames(context, desk, vec![Event::PointerMoved(at), press(at, true), press(at, false)]);
}

#[test]
fn a_name_is_typed_kept_by_enter_and_forgotten_by_escape() {
    let (context, mut desk) = (context(), desk());
    desk.transport.jump(Position::at(250));
    desk.apply(Action::Bookmark, 0.0);
    frames(&context, &mut desk, vec![]);
    assert!(context.text_edit_focused(), "keys are text");
    frames(&context, &mut desk, vec![Event::Text("row one".into()), key(Key::Enter)]);
    let names = |desk: &Desk| desk.notes.bookmarks().iter().map(|b| b.name.clone()).collect::<Vec<_>>();
    assert_eq!((names(&desk), context.text_edit_focused()), (vec!["row one".to_owned()], false));
    desk.transport.jump(Position::at(500));
    desk.apply(Action::Bookmark, 0.0);
    frames(&context, &mut desk, vec![]);
    frames(&context, &mut desk, vec![Event::Text("no".into()), key(Key::Escape)]);
    assert_eq!((names(&desk).len(), desk.notes.naming.is_none()), (1, true));
    // Its triangle above the strip: a quarter of the way.
    let bars = super::panel::layout(&desk, SIZE[0], SIZE[1]).bars();
    click(&context, &mut desk, egui::pos2(bars.left() + 0.25 * bars.width(), bars.top() - 6.0));
    assert_eq!(desk.transport.position(), Position::at(250));
}

#[test]
fn the_card_goes_to_a_bookmark_takes_its_note_and_deletes_it() {
    let (context, mut desk) = (context(), desk());
    desk.notes.set(Position::at(613), "the second row");
    desk.apply(Action::Notes, 0.0);
    frames(&context, &mut desk, vec![]);
    let words = told(&context, &mut desk);
    click(&context, &mut desk, place(&words, "the second row").expect("listed"));
    assert_eq!((desk.transport.tick(), desk.notes.chosen), (613, Some(0)));
    let words = told(&context, &mut desk);
    click(&context, &mut desk, place(&words, "a note").expect("a field for it"));
    assert!(context.text_edit_focused());
    frames(
        &context,
        &mut desk,
        vec![Event::Text("first line".into()), key(Key::Enter), Event::Text("second 長さ".into())],
    );
    assert_eq!(desk.notes.bookmarks()[0].note, "first line\nsecond 長さ");
    let words = told(&context, &mut desk);
    // The cross of its row: those of the card and of the row, from above.
    let crosses: Vec<Pos2> = words.iter().filter(|(word, _)| word == "×").map(|(_, at)| at.center()).collect();
    assert_eq!(crosses.len(), 2);
    click(&context, &mut desk, crosses[1]);
    assert!(desk.notes.bookmarks().is_empty());
    let words = told(&context, &mut desk);
    click(&context, &mut desk, place(&words, "bring back").expect("a button for it"));
    assert_eq!(desk.notes.bookmarks()[0].note, "first line\nsecond 長さ");
    let words = told(&context, &mut desk);
    let cross = words.iter().find(|(word, _)| word == "×").expect("of the card").1.center();
    click(&context, &mut desk, cross);
    assert!(!desk.notes.open);
}

#[test]
fn the_finder_is_typed_into_stepped_through_and_closed() {
    let (context, mut desk) = (context(), desk());
    let open = |desk: &mut Desk, typed: &str| {
        desk.apply(Action::Finder, 0.0);
        frames(&context, desk, vec![]);
        frames(&context, desk, vec![Event::Text(typed.into())]);
    };
    open(&mut desk, "mark");
    assert!(context.text_edit_focused());
    let shown = told(&context, &mut desk);
    assert!(place(&shown, "go to mark first").is_some() && place(&shown, "next mark").is_some());
    let rows: Vec<String> = desk.finder.as_ref().expect("open").found().iter().map(|row| row.words.clone()).collect();
    let second = rows.iter().position(|row| row == "go to mark second").expect("found");
    for _ in 0..second {
        frame(&context, &mut desk, SIZE, vec![key(Key::ArrowDown)]);
    }
    frames(&context, &mut desk, vec![key(Key::Enter)]);
    assert_eq!((desk.transport.tick(), desk.finder.is_none()), (600, true));
    // By mouse.
    open(&mut desk, "first");
    let row = place(&told(&context, &mut desk), "go to mark first").expect("found");
    click(&context, &mut desk, row);
    assert_eq!((desk.transport.tick(), desk.finder.is_none()), (100, true));
    // A paste of megabytes is cut, and Escape closes the finder alone.
    open(&mut desk, "");
    frames(&context, &mut desk, vec![Event::Paste("x\n".repeat(1 << 20)), key(Key::Escape)]);
    assert!(desk.finder.is_none());
    open(&mut desk, "zzz");
    assert!(
        place(
            &told(&context, &mut desk),
            "nothing found: try other words, such as caches, theme, video or a line of the source"
        )
        .is_some()
    );
    // A click beside it closes it too.
    click(&context, &mut desk, egui::pos2(30.0, 500.0));
    assert!(desk.finder.is_none());
}

#[test]
fn what_lies_over_the_picture_survives_every_size() {
    let (context, mut desk) = (context(), desk());
    for n in 0..300 {
        desk.notes.set(Position::at(n * 3), &format!("{n} {}", "long name 長さ 🦀 ".repeat(9)));
    }
    desk.apply(Action::Notes, 0.0);
    desk.notes.chosen = Some(3);
    for size in [[1280, 720], [1024, 640], [640, 360], [320, 240], [240, 900], [900, 90], [40, 30], [1, 1]] {
        desk.apply(Action::Bookmark, 0.0);
        desk.finder = None;
        desk.apply(Action::Finder, 0.0);
        for share in 0..4u8 {
            let [w, h] = size.map(|s| s as f32 / 4.0 * f32::from(share));
            frame(&context, &mut desk, size, vec![Event::PointerMoved(egui::pos2(w, h))]);
        }
        desk.finder = None;
        frame(&context, &mut desk, size, vec![]);
    }
    assert_eq!(desk.notes.bookmarks().len(), 300);
}
