//! Bookmarks as they are seen: triangles on the strip, the field for a name, the card that lists them with their notes.
//!
//! ```text
//! NOTES                                           x
//!   2,613    the first row is done  B has left ...  x
//!   5,000    bookmark at 5,000                      x
//! name  [the first row is done                    ]
//! note  [B has left L1 by now.                    ]
//! ```

use super::desk::Desk;
use super::finder::exact;
use super::scrub;
use super::widgets::{card, floating};
use crate::overlay::fonts::Weight;
use crate::overlay::pen::color;
use crate::overlay::{Layout, Tip};
use crate::scene::palette;
use crate::shown;
use crate::trace::notes::{Bookmark, LONGEST_NAME, LONGEST_NOTE};
use egui::{
    Align, Align2, Area, Button, CursorIcon, Id, Key, Label, Layout as Flow, Order, Rect, RichText, ScrollArea, Sense,
    Shape, Stroke, TextEdit, Ui, pos2, vec2,
};

/// Size of type.
const TYPE: f32 = 13.0;
/// Points of width of the card, where there is room.
const WIDTH: f32 = 380.0;
/// Points of height of a row.
const ROW: f32 = 22.0;
/// Half of a triangle's width, and its height, points.
const TRIANGLE: [f32; 2] = [4.5, 7.0];
/// Bookmarks nearer to each other on the strip than so many points are one triangle.
const APART: f32 = 4.0;

fn words(text: impl Into<String>, c: palette::Rgba) -> RichText {
    RichText::new(text).font(Weight::Regular.at(TYPE)).color(color(c))
}

/// Colour of a bookmark: that of code for one of this trace, quiet for one of another.
fn ink(bookmark: &Bookmark) -> palette::Rgba {
    if bookmark.of.is_some() { palette::TEXT_QUIET } else { palette::CODE }
}

/// The triangles above the strip: a click goes there, the pointer over one is told its name.
pub(super) fn ticks(ui: &Ui, desk: &mut Desk, bars: Rect) {
    let (axis, stretch) = (desk.transport.axis(), desk.session.stretch());
    let [half, height] = TRIANGLE;
    let (mut last, mut asked) = (f32::MIN, None);
    for bookmark in desk.notes.within(axis).iter().filter(|b| stretch.shows(axis, b.at)) {
        let x = scrub::place(bars.left(), bars.width(), stretch.place(axis, bookmark.at));
        if x - last < APART {
            continue;
        }
        last = x;
        let top = bars.top() - height - 2.0;
        let area = Rect::from_min_max(pos2(x - half, top), pos2(x + half, top + height));
        let corners = vec![area.left_top(), area.right_top(), pos2(x, area.bottom())];
        // An edge as dark as the ground tells it from what it stands before.
        let edge = Stroke::new(1.0, color(palette::BACKGROUND));
        ui.painter().add(Shape::convex_polygon(corners, color(ink(bookmark)), edge));
        let response = ui.interact(area.expand(2.0), Id::unique(("bookmark", bookmark.at)), Sense::click());
        if response.hovered() {
            ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
            card(ui, pos2(x, top - 8.0), Align2::CENTER_BOTTOM, &tip(bookmark));
        }
        if response.clicked() {
            asked = Some(bookmark.at);
        }
    }
    if let Some(at) = asked {
        desk.transport.jump(at);
        ui.ctx().request_repaint();
    }
}

/// What is said of a bookmark that the pointer is over.
fn tip(bookmark: &Bookmark) -> Tip {
    let mut lines = vec![format!("bookmark at reference {}", exact(bookmark.at))];
    lines.extend(bookmark.note.lines().take(3).map(str::to_owned));
    lines.extend(of_another(bookmark));
    Tip { title: bookmark.name.clone(), lines, ..Tip::default() }
}

fn of_another(bookmark: &Bookmark) -> Option<String> {
    bookmark
        .of
        .as_ref()
        .map(|of| format!("set in another trace: {}", if of.title.is_empty() { "untitled" } else { &of.title }))
}

/// Where the card stood in the last frame, while it is open.
pub(super) fn area(ui: &Ui, desk: &Desk) -> Option<Rect> {
    desk.notes.open.then(|| ui.ctx().memory(|memory| memory.area_rect(Id::unique("notes"))))?
}

/// The field for a name and the card, where they are open.
pub(super) fn show(ui: &Ui, desk: &mut Desk, layout: &Layout, right: f32, now: f64) {
    naming(ui, desk, layout, now);
    if !desk.notes.open {
        return;
    }
    let screen = ui.ctx().content_rect();
    let width = WIDTH.min(screen.width() - 60.0).max(120.0);
    let area = Area::new(Id::unique("notes")).order(Order::Foreground).movable(true).constrain(true);
    area.pivot(Align2::RIGHT_BOTTOM).default_pos(pos2(right, layout.strip.top() - 18.0)).show(ui.ctx(), |ui| {
        floating().show(ui, |ui| {
            ui.set_width(width);
            ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
            // A list of any length stays in the window, with the fields below it.
            let room = (layout.strip.top() - 320.0).clamp(2.0 * ROW, 260.0);
            let left = list(ui, desk, room);
            if left.closed {
                desk.turn_notes(now);
                return;
            }
            if left.here {
                desk.name_here(now);
            }
            let edited = edit(ui, desk);
            if left.changed || edited {
                desk.keep_notes(now);
                ui.ctx().request_repaint();
            }
        });
    });
}

/// What a pass over the list leaves for others to do.
#[derive(Default)]
struct Left {
    closed: bool,
    changed: bool,
    /// A bookmark is to be set where the playhead is.
    here: bool,
}

fn list(ui: &mut Ui, desk: &mut Desk, room: f32) -> Left {
    let mut left = Left::default();
    ui.horizontal(|ui| {
        ui.label(RichText::new("Notes").font(Weight::SemiBold.at(TYPE + 2.0)).color(color(palette::TEXT)));
        ui.with_layout(Flow::right_to_left(Align::Center), |ui| {
            left.closed = ui.add(Button::new(words("×", palette::TEXT_BODY))).on_hover_text("close   T").clicked();
            left.here = ui.add(Button::new(words("bookmark here", palette::TEXT_BODY))).on_hover_text("M").clicked();
        });
    });
    if let Some(fault) = desk.notes.fault() {
        ui.label(words(shown::words(fault), palette::BURST));
    }
    let (mut go, mut gone) = (None, None);
    let all = desk.notes.within(desk.transport.axis());
    let beyond = desk.notes.bookmarks().len() - all.len();
    if all.is_empty() {
        ui.label(words("There are no bookmarks yet. The button or M sets one here.", palette::TEXT_QUIET));
    }
    let chosen = desk.notes.chosen;
    ScrollArea::vertical().id_salt("bookmarks").max_height(room).show_rows(ui, ROW, all.len(), |ui, seen| {
        for n in seen {
            let Some(bookmark) = all.get(n) else { continue };
            ui.allocate_ui_with_layout(vec2(ui.available_width(), ROW), Flow::left_to_right(Align::Center), |ui| {
                let flow = Flow::right_to_left(Align::Center);
                let at = words(exact(bookmark.at), palette::TEXT_QUIET);
                ui.allocate_ui_with_layout(vec2(76.0, ROW), flow, |ui| ui.add(Label::new(at).truncate()));
                ui.add_space(8.0);
                ui.with_layout(Flow::right_to_left(Align::Center), |ui| {
                    if ui
                        .add(Button::new(words("×", palette::TEXT_QUIET)).frame(false))
                        .on_hover_text("delete")
                        .clicked()
                    {
                        gone = Some(n);
                    }
                    ui.with_layout(Flow::left_to_right(Align::Center), |ui| {
                        let text = match bookmark.note.lines().find(|line| !line.trim().is_empty()) {
                            Some(first) => format!("{}  ·  {first}", bookmark.name),
                            None => bookmark.name.clone(),
                        };
                        let text =
                            words(shown::words(&text), if chosen == Some(n) { palette::TEXT } else { ink(bookmark) });
                        let name = ui.add(Label::new(text).truncate().selectable(false).sense(Sense::click()));
                        if name.on_hover_cursor(CursorIcon::PointingHand).clicked() {
                            go = Some((n, bookmark.at));
                        }
                    });
                });
            });
        }
    });
    if chosen.is_none() && !all.is_empty() {
        ui.label(words("Click a name: then you can write a note about it.", palette::TEXT_QUIET));
    }
    if beyond > 0 {
        let words_of = if beyond == 1 { "1 bookmark lies".to_owned() } else { format!("{beyond} bookmarks lie") };
        ui.label(words(format!("{words_of} past the end of this trace."), palette::TEXT_QUIET));
    }
    if let Some((n, at)) = go {
        // What was typed about another one is kept now.
        left.changed |= desk.notes.chosen.replace(n).is_some_and(|before| before != n);
        desk.transport.jump(at);
        ui.ctx().request_repaint();
    }
    if let Some(n) = gone {
        desk.notes.delete(n);
        left.changed = true;
    }
    left
}

/// The chosen bookmark in full, and the one that was deleted last. True: something changed.
fn edit(ui: &mut Ui, desk: &mut Desk) -> bool {
    let mut changed = false;
    if let Some(n) = desk.notes.chosen {
        changed |= chosen(ui, desk, n);
    }
    if let Some(name) = desk.notes.last_gone().map(|bookmark| format!("bring back “{}”", shown::name(&bookmark.name)))
        && ui.add(Button::new(words(name, palette::TEXT_BODY)).truncate()).clicked()
    {
        desk.notes.bring_back();
        changed = true;
    }
    changed
}

fn chosen(ui: &mut Ui, desk: &mut Desk, n: usize) -> bool {
    let Some(bookmark) = desk.notes.get_mut(n) else { return false };
    let mut changed = false;
    ui.separator();
    if let Some(other) = of_another(bookmark) {
        ui.label(words(shown::words(&other), palette::TEXT_QUIET));
    }
    // What is typed is kept as it is until the field is left: a name has no blanks at its ends.
    let id = Id::unique(("name of", bookmark.at));
    let mut name = ui.data_mut(|data| data.get_temp::<String>(id)).unwrap_or_else(|| bookmark.name.clone());
    let field = TextEdit::singleline(&mut name)
        .desired_width(f32::INFINITY)
        .char_limit(LONGEST_NAME)
        .font(Weight::Medium.at(TYPE))
        .text_color(color(palette::TEXT));
    let of_name = ui.add(field);
    let field = TextEdit::multiline(&mut bookmark.note)
        .desired_width(f32::INFINITY)
        .desired_rows(3)
        .char_limit(LONGEST_NOTE)
        .hint_text(words("a note", palette::TEXT_QUIET))
        .font(Weight::Regular.at(TYPE))
        .text_color(color(palette::TEXT_BODY));
    let of_note = ScrollArea::vertical().id_salt("note").max_height(120.0).show(ui, |ui| ui.add(field)).inner;
    changed |= of_note.lost_focus();
    if of_name.changed() {
        ui.data_mut(|data| data.insert_temp(id, name.clone()));
        if let Some(to) = desk.notes.rename(n, &name) {
            desk.notes.chosen = Some(to);
        }
    }
    if of_name.lost_focus() {
        ui.data_mut(|data| data.remove::<String>(id));
        changed = true;
    }
    changed
}

/// The field for the name of a bookmark, above the strip.
fn naming(ui: &Ui, desk: &mut Desk, layout: &Layout, now: f64) {
    let Some(naming) = &mut desk.notes.naming else { return };
    let (mut keep, mut done) = (false, false);
    let area = Area::new(Id::unique("naming")).order(Order::Foreground).movable(false).constrain(true);
    let place = pos2(layout.strip.center().x, layout.strip.top() - 14.0);
    area.pivot(Align2::CENTER_BOTTOM).fixed_pos(place).show(ui.ctx(), |ui| {
        floating().show(ui, |ui| {
            ui.set_max_width((ui.ctx().content_rect().width() - 60.0).clamp(80.0, 420.0));
            let title = format!("Bookmark at reference {}", exact(naming.at));
            ui.label(RichText::new(title).font(Weight::Medium.at(TYPE)).color(color(palette::TEXT)));
            let field = TextEdit::singleline(&mut naming.text)
                .id(Id::unique("bookmark's name"))
                .desired_width(360.0)
                .char_limit(LONGEST_NAME)
                .hint_text(words("its name: Enter keeps it, Esc does not", palette::TEXT_QUIET))
                .font(Weight::Regular.at(TYPE))
                .text_color(color(palette::TEXT));
            let response = ui.add(field);
            if response.lost_focus() {
                (done, keep) = (true, ui.input(|i| i.key_pressed(Key::Enter)));
            } else {
                response.request_focus();
            }
        });
    });
    if done {
        desk.named(keep, now);
        ui.ctx().request_repaint();
    }
}
