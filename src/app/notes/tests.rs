//! Checks of the module above.

use super::*;
use crate::app::desk::tests::desk;
use crate::app::keys::Action;
use crate::timeline::ClockKind;
use std::cell::RefCell;
use std::rc::Rc;

/// A desk as a window has it that was opened without any flag.
fn opened() -> Desk {
    let mut desk = desk();
    desk.opened_with(crate::app::Asked::default());
    desk
}

/// A desk whose notes are kept in a value, and that value. Where it is `None`, nothing can be kept.
fn kept(notes: Notes) -> (Desk, Rc<RefCell<Option<Notes>>>) {
    let file = Rc::new(RefCell::new(Some(notes.clone())));
    let into = Rc::clone(&file);
    let keep: KeepNotes = Box::new(move |ours| {
        let mut file = into.borrow_mut();
        anyhow::ensure!(file.is_some(), "t.notes.toml: cannot be written");
        *file = Some(ours.clone());
        Ok(ours.clone())
    });
    let mut desk = opened();
    desk.attach(Beside { notes, keep: Some(keep), ..Beside::default() });
    (desk, file)
}

fn set(desk: &mut Desk, at: f64, name: &str) {
    desk.transport.jump(Position::of(at));
    desk.apply(Action::Bookmark, 0.0);
    desk.notes.naming.as_mut().expect("asked for a name").text = name.into();
    desk.named(true, 0.0);
}

fn names(desk: &Desk) -> Vec<&str> {
    desk.notes.bookmarks().iter().map(|bookmark| bookmark.name.as_str()).collect()
}

fn said(desk: &Desk) -> &str {
    desk.toast(0.0).map_or("", |toast| toast.0)
}

#[test]
fn bookmarks_are_set_gone_to_and_kept_at_once() {
    let (mut desk, file) = kept(Notes::default());
    desk.apply(Action::ToBookmark(true), 0.0);
    assert_eq!(said(&desk), "there are no bookmarks: M sets one here");
    set(&mut desk, 613.5, "größe 長さ 🦀");
    set(&mut desk, 40.0, "  ");
    set(&mut desk, 900.0, "a\nb\u{7}");
    assert_eq!(names(&desk), ["bookmark at 40", "größe 長さ 🦀", "a b"]);
    let written = file.borrow().clone().expect("kept");
    assert_eq!(written.bookmarks, desk.notes.bookmarks());
    assert_eq!(written.about, Some(About { title: "two arrays".into(), references: Some(1000) }));
    desk.apply(Action::Start, 0.0);
    for (forward, at, words) in [
        (true, 40.0, "bookmark at 40"),
        (true, 613.5, "größe 長さ 🦀"),
        (true, 900.0, "a b"),
        (true, 900.0, "no bookmark after this"),
        (false, 613.5, "größe 長さ 🦀"),
        (false, 40.0, "bookmark at 40"),
        (false, 40.0, "no bookmark before this"),
    ] {
        desk.apply(Action::ToBookmark(forward), 0.0);
        assert_eq!((desk.transport.position(), said(&desk)), (Position::of(at), words));
    }
    // Escape keeps nothing.
    desk.apply(Action::Start, 0.0);
    desk.apply(Action::Bookmark, 0.0);
    desk.named(false, 0.0);
    assert_eq!(names(&desk).len(), 3);
    // Where there is one, it is given another name.
    set(&mut desk, 40.0, "the first line");
    assert_eq!(names(&desk)[0], "the first line");
    assert_eq!(file.borrow().as_ref().map(|notes| notes.bookmarks.len()), Some(3));
}

#[test]
fn a_deleted_bookmark_comes_back_until_the_card_closes() {
    let (mut desk, file) = kept(Notes::default());
    set(&mut desk, 10.0, "a");
    set(&mut desk, 20.0, "b");
    desk.apply(Action::Notes, 0.0);
    desk.notes.get_mut(0).expect("a").note = "why".into();
    desk.notes.delete(0);
    desk.notes.delete(9);
    assert_eq!((names(&desk), desk.notes.last_gone().map(|b| b.name.clone())), (vec!["b"], Some("a".into())));
    desk.notes.bring_back();
    assert_eq!((names(&desk), desk.notes.bookmarks()[0].note.as_str()), (vec!["a", "b"], "why"));
    desk.notes.delete(1);
    assert_eq!(desk.apply(Action::Escape, 0.0), None, "closes the card");
    assert!(!desk.notes.open && desk.notes.last_gone().is_none());
    assert_eq!(file.borrow().as_ref().map(|notes| notes.bookmarks.len()), Some(1), "kept when it closes");
    // A name that is taken at its place is left as it was.
    set(&mut desk, 10.0, "c");
    assert_eq!(names(&desk), ["c"]);
    assert_eq!(
        (desk.notes.rename(0, "  "), desk.notes.rename(0, "d"), desk.notes.rename(7, "e")),
        (None, Some(0), None)
    );
}

#[test]
fn what_cannot_be_kept_is_told_once_and_stays_in_the_window() {
    let (mut desk, file) = kept(Notes::default());
    *file.borrow_mut() = None;
    set(&mut desk, 10.0, "a");
    assert_eq!(said(&desk), "t.notes.toml: cannot be written");
    desk.say("something else", 0.0);
    set(&mut desk, 20.0, "b");
    assert_eq!((said(&desk), names(&desk)), ("something else", vec!["a", "b"]));
    assert!(desk.notes.fault().is_some(), "the card says it as long as it is so");
    *file.borrow_mut() = Some(Notes::default());
    set(&mut desk, 30.0, "c");
    assert_eq!((file.borrow().as_ref().map(|notes| notes.bookmarks.len()), desk.notes.fault()), (Some(3), None));
}

#[test]
fn bookmarks_of_another_trace_are_told_and_shown_within_this_one() {
    let mut notes = Notes { about: Some(About { title: "other".into(), references: Some(5000) }), ..Notes::default() };
    for at in [10, 1000, 1001, 4000] {
        notes.put(Bookmark { at: Position::at(at), name: at.to_string(), note: String::new(), of: None });
    }
    let (mut desk, file) = kept(notes);
    desk.greet(0.0);
    assert!(said(&desk).contains("of another one, of 5,000 references"), "{}", said(&desk));
    let axis = desk.transport.axis();
    let shown: Vec<&str> = desk.notes.within(axis).iter().map(|b| b.name.as_str()).collect();
    assert_eq!(shown, ["10", "1000"]);
    assert!(desk.notes.bookmarks().iter().all(|b| b.of.as_ref().is_some_and(|of| of.title == "other")));
    desk.apply(Action::ToBookmark(true), 0.0);
    desk.apply(Action::ToBookmark(true), 0.0);
    desk.apply(Action::ToBookmark(true), 0.0);
    assert_eq!((desk.transport.tick(), said(&desk)), (1000, "no bookmark after this"));
    // Those past the end are kept all the same.
    set(&mut desk, 5.0, "mine");
    let of: Vec<bool> = file.borrow().as_ref().expect("kept").bookmarks.iter().map(|b| b.of.is_some()).collect();
    assert_eq!(of, [false, true, true, true, true]);
}

#[test]
fn a_window_says_where_it_was_left_and_goes_back_there() {
    let mut first = desk();
    first.transport.jump(Position::of(613.5));
    first.apply(Action::Point(true), 0.0);
    first.apply(Action::Loop, 0.0);
    first.apply(Action::Clock, 0.0);
    first.apply(Action::Tail(true), 0.0);
    first.session.turn(1, false);
    first.apply(Action::Split(crate::app::panes::Side::Right), 0.0);
    let left = first.state_to_leave();
    assert_eq!(left.panes, ["rings", "numbers"]);
    let mut second = desk();
    second.attach(Beside { left: Some(left.clone()), ..Beside::default() });
    second.greet(0.0);
    assert_eq!(said(&second), "R goes back to where you left, reference 613");
    second.apply(Action::GoBack, 0.0);
    assert_eq!(second.state_to_leave(), left);
    assert_eq!((second.clock(), said(&second)), (ClockKind::Misses, "as you left it, reference 613"));
    // Nothing is kept: it is said.
    let mut third = desk();
    third.greet(0.0);
    assert_eq!(said(&third), "");
    third.apply(Action::GoBack, 0.0);
    assert!(said(&third).starts_with("nothing is kept"));
}

#[test]
fn how_a_window_is_left_is_kept_beside_bookmarks_and_who_only_looked_leaves_no_file() {
    let (mut desk, file) = kept(Notes::default());
    desk.notes.beside.keep_left = Some(Box::new(|_| ()));
    desk.leave();
    assert_eq!(file.borrow().as_ref().and_then(|notes| notes.left.clone()), None);
    desk.transport.jump(Position::at(7));
    desk.leave();
    assert_eq!(file.borrow().as_ref().and_then(|notes| notes.left.clone()), None, "nothing to come back to");
    desk.notes.set(Position::at(5), "here");
    desk.leave();
    let left = file.borrow().as_ref().and_then(|notes| notes.left.clone());
    assert_eq!(left.as_deref(), Some("orrery view '' --tick 7"));
}

#[test]
fn in_a_folder_of_ours_how_a_window_is_left_is_always_kept_and_esc_says_so() {
    let (mut desk, file) = kept(Notes::default());
    desk.transport.jump(Position::at(7));
    desk.apply(Action::Escape, 0.0);
    assert_eq!(said(&desk), "Esc once more quits, and so does Ctrl + Q; R comes back to here");
    desk.leave();
    let left = file.borrow().as_ref().and_then(|notes| notes.left.clone());
    assert_eq!(left.as_deref(), Some("orrery view '' --tick 7"));
}

#[test]
fn where_no_notes_are_kept_how_the_window_is_left_is_kept_elsewhere() {
    let kept = Rc::new(RefCell::new(Vec::new()));
    let keeps = Rc::clone(&kept);
    let mut desk = opened();
    desk.attach(Beside {
        keep_left: Some(Box::new(move |command: Option<&str>| keeps.borrow_mut().push(command.map(str::to_owned)))),
        ..Beside::default()
    });
    desk.transport.jump(Position::at(7));
    desk.leave();
    desk.notes.set(Position::at(5), "here");
    desk.leave();
    assert_eq!(*kept.borrow(), [Some("orrery view '' --tick 7".to_owned()), None], "the notes have it from then on");
}

#[test]
fn the_command_is_copied_and_caches_that_are_in_no_file_are_told() {
    let mut desk = opened();
    desk.transport.jump(Position::of(2.5));
    desk.session.turn(0, true);
    desk.apply(Action::CopyCommand, 0.0);
    assert_eq!(desk.copied.take().as_deref(), Some("orrery view '' --tick 2.5 --show A"));
    assert!(said(&desk).starts_with("copied: "));
    desk.apply(Action::Caches, 0.0);
    let card = desk.caches.as_mut().expect("open");
    assert!(card.change(&crate::app::caches::Change::Sized(0, true)));
    desk.apply(Action::CopyCommand, 0.0);
    assert!(desk.copied.is_none() && said(&desk).contains("save them"), "{}", said(&desk));
    desk.apply(Action::Undo(false), 0.0);
    desk.apply(Action::CopyCommand, 0.0);
    assert!(desk.copied.is_some());
}
