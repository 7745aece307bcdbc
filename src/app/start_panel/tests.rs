//! Checks of the module above.

use super::*;
use crate::app::start::RecentFile;
use crate::app::start::tests::page;
use crate::app::traces::Wanted;
use crate::overlay::fonts;
use egui::{Context, Event, PointerButton, Pos2, RawInput, Rect, Shape, pos2};
use std::time::Duration;

fn context() -> Context {
    let context = Context::default();
    fonts::install(&context);
    context.global_style_mut(|style| style.animation_time = 0.0);
    context
}

/// One frame of the page: what it asks for, and where words stand that it shows.
fn frame(
    context: &Context,
    page: &mut StartPage,
    size: [u32; 2],
    events: Vec<Event>,
) -> (Option<Asks>, Vec<(String, Rect)>) {
    let screen = Rect::from_min_size(Pos2::ZERO, vec2(size[0] as f32, size[1] as f32));
    let time = context.input(|i| i.time) + 0.05;
    let input = RawInput { screen_rect: Some(screen), time: Some(time), events, ..RawInput::default() };
    let mut asks = None;
    let mut output = context.run_ui(input, |ui| asks = show(ui, page, true));
    output.textures_delta.clear();
    let words = output.shapes.iter().filter_map(|clipped| match &clipped.shape {
        Shape::Text(text) => {
            // Words that stand at a right edge hang to the left of it.
            let area = text.galley.rect.translate(text.pos.to_vec2());
            clipped.clip_rect.intersects(area).then(|| (text.galley.text().to_owned(), area))
        }
        _ => None,
    });
    (asks, words.collect())
}

fn press(at: Pos2, pressed: bool) -> Event {
    Event::PointerButton { pos: at, button: PointerButton::Primary, pressed, modifiers: egui::Modifiers::NONE }
}

fn key(key: Key) -> Event {
    Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE }
}

/// What a click on the first of these words asks for.
fn click(context: &Context, page: &mut StartPage, size: [u32; 2], word: &str) -> Option<Asks> {
    let (_, words) = frame(context, page, size, vec![]);
    let at = words.iter().find(|(words, _)| words == word).unwrap_or_else(|| panic!("{word} in {words:?}")).1.center();
    let steps = [vec![Event::PointerMoved(at)], vec![press(at, true)], vec![press(at, false)], vec![]];
    steps.into_iter().filter_map(|events| frame(context, page, size, events).0).last()
}

#[test]
fn a_click_on_a_lesson_or_a_file_asks_for_it() {
    for size in [[1280, 720], [640, 360]] {
        let (context, mut page) = (context(), page());
        let lesson = Asks::Open(Wanted::Lesson("matmul16".into()));
        let file = Asks::Open(Wanted::File("/home/ada/heat.orrery".into()));
        assert_eq!(click(&context, &mut page, size, "heat.orrery"), Some(file));
        if size[0] > 1000 {
            assert_eq!(click(&context, &mut page, size, "matmul16"), Some(lesson));
        }
        assert_eq!(click(&context, &mut page, size, "RECENT"), None);
    }
}

#[test]
fn what_is_typed_goes_to_the_field_and_enter_asks_for_it() {
    let (context, mut page, size) = (context(), page(), [1024, 640]);
    frame(&context, &mut page, size, vec![]);
    assert!(context.text_edit_focused(), "from the first frame on");
    // A click anywhere leaves the field what it is.
    let aside = pos2(4.0, 600.0);
    for events in [vec![press(aside, true)], vec![press(aside, false)], vec![Event::Text("~/t".into())]] {
        assert_eq!(frame(&context, &mut page, size, events).0, None);
    }
    frame(&context, &mut page, size, vec![Event::Paste(".log\n".into())]);
    assert_eq!((page.typed.trim(), page.chosen), ("~/t.log", None));
    let asked = |path: &str| Some(Asks::Open(Wanted::File(path.into())));
    assert_eq!(frame(&context, &mut page, size, vec![key(Key::Enter)]).0, asked("/home/ada/t.log"));
    assert_eq!(click(&context, &mut page, size, "open"), asked("/home/ada/t.log"));
    assert_eq!(frame(&context, &mut page, size, vec![key(Key::Escape)]).0, None);
    assert_eq!(page.typed, "");
    assert_eq!(frame(&context, &mut page, size, vec![key(Key::Escape)]).0, Some(Asks::Back));
}

#[test]
fn tab_and_a_click_turn_to_the_other_field_and_enter_records_what_is_typed_there() {
    let (context, mut page, size) = (context(), page(), [1024, 640]);
    frame(&context, &mut page, size, vec![]);
    frame(&context, &mut page, size, vec![key(Key::Tab)]);
    frame(&context, &mut page, size, vec![]);
    for _ in 0..3 {
        frame(&context, &mut page, size, vec![]);
    }
    frame(&context, &mut page, size, vec![Event::Text("./a.out 'b c'".into())]);
    assert_eq!((page.typed.as_str(), page.program.as_str()), ("", "./a.out 'b c'"));
    let program = Some(Asks::Open(Wanted::Program(vec!["./a.out".into(), "b c".into()])));
    assert_eq!(frame(&context, &mut page, size, vec![key(Key::Enter)]).0, program);
    assert_eq!(click(&context, &mut page, size, "record"), program);
    // The first field is clicked, and has the keys from then on.
    let hint = "path of a trace: type it, paste it, or drop a file here";
    assert_eq!(click(&context, &mut page, size, hint), None);
    frame(&context, &mut page, size, vec![]);
    frame(&context, &mut page, size, vec![Event::Text("t".into())]);
    assert_eq!((page.typed.as_str(), page.program.as_str()), ("t", "./a.out 'b c'"));
}

#[test]
fn the_keys_bring_what_they_choose_into_sight() {
    for size in [[1024, 640], [640, 360]] {
        let (context, mut page) = (context(), page());
        page.recent = (0..12)
            .map(|n| RecentFile { path: format!("/t/{n}.log").into(), about: Some((n, Duration::from_secs(n))) })
            .collect();
        let last = page.entries() - 1;
        frame(&context, &mut page, size, vec![]);
        for _ in 0..last {
            assert_eq!(frame(&context, &mut page, size, vec![key(Key::ArrowDown)]).0, None);
        }
        assert_eq!(page.chosen, Some(last));
        for _ in 0..60 {
            frame(&context, &mut page, size, vec![]);
        }
        let (_, words) = frame(&context, &mut page, size, vec![]);
        let area = words.iter().find(|(words, _)| words == "mpm").unwrap_or_else(|| panic!("{size:?}: {words:?}")).1;
        assert!(area.top() > 0.0 && area.bottom() < size[1] as f32, "{size:?}: {area:?}");
        let asked = frame(&context, &mut page, size, vec![key(Key::Enter)]).0;
        assert_eq!(asked, Some(Asks::Open(Wanted::Lesson("mpm".into()))));
    }
}

#[test]
fn no_words_lie_over_others_at_any_size_however_long_they_are() {
    let context = context();
    let mut page = page();
    page.recent[0].path = format!("/home/{}/{}.orrery", "folder".repeat(40), "name".repeat(60)).into();
    page.message = Some(format!("{}: found no trace\n{}", "path/".repeat(60), "expected one\n".repeat(30)));
    for size in
        [[1920, 1080], [1280, 720], [1024, 640], [700, 500], [640, 360], [320, 240], [200, 900], [40, 30], [1, 1]]
    {
        frame(&context, &mut page, size, vec![]);
        let (_, words) = frame(&context, &mut page, size, vec![]);
        if size[0] < 600 {
            continue;
        }
        for (n, (a, first)) in words.iter().enumerate() {
            assert!(first.right() <= size[0] as f32, "{size:?}: {a} at {first:?}");
            for (b, second) in words[n + 1..].iter().filter(|(b, _)| b != a) {
                // What went wrong is clipped by its own frame, and scrolled there.
                let own = |words: &str| words.starts_with("path/");
                let over = first.intersect(*second);
                assert!(own(a) || own(b) || over.width() <= 0.5 || over.height() <= 0.5, "{size:?}: {a} on {b}");
            }
        }
    }
}

#[test]
fn what_is_typed_comes_before_the_key_behind_it_though_one_frame_brings_both() {
    let (context, size) = (context(), [1280, 720]);
    let mut page = page();
    page.show(Vec::new());
    frame(&context, &mut page, size, vec![]);
    let typed = |text: &str| Event::Text(text.into());
    // All that a slow frame brings: what was there is let go, a path is typed, one sign is taken back, and it is opened.
    page.typed = "/tmp/notes.txt".into();
    let events =
        vec![key(Key::Escape), typed("/tmp/anew.lo"), typed("h"), key(Key::Backspace), typed("g"), key(Key::Enter)];
    let mut asked = frame(&context, &mut page, size, events).0;
    for _ in 0..4 {
        asked = asked.or(frame(&context, &mut page, size, vec![]).0);
    }
    assert_eq!(page.typed, "/tmp/anew.log");
    assert_eq!(asked, Some(Asks::Open(Wanted::File("/tmp/anew.log".into()))));
    assert!(page.waiting.is_empty());
    // What is typed and let go at once leaves nothing.
    let asked = frame(&context, &mut page, size, vec![typed("x"), key(Key::Escape), typed("y")]).0;
    assert!(asked.is_none());
    for _ in 0..3 {
        assert_eq!(frame(&context, &mut page, size, vec![]).0, None);
    }
    assert_eq!(page.typed, "y");
}
