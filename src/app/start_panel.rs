//! The start page, drawn.
//!
//! ```text
//! Orrery   See a program's memory move.
//! [ path of a trace ......................... ] open
//! [ program to record ....................... ] record
//! RECENT                      LESSONS
//! heat.orrery  34 kB, ...     matmul16
//! /home/ada                   B misses again and again
//! ```

use super::complete::{MOST, names};
use super::start::{Asks, Field, StartPage, ago, size};
use super::traces::Wanted;
use super::widgets::{card, word_button};
use crate::overlay::Tip;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::color;
use crate::scene::palette::{self, Rgba};
use crate::shown;
use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{
    Align, Align2, CornerRadius, CursorIcon, Event, Frame, Id, Key, Label, Layout, Margin, Modifiers, Response,
    RichText, Role, ScrollArea, Sense, TextEdit, Ui, UiBuilder, WidgetInfo, vec2,
};

/// Size of type.
const TYPE: f32 = 13.5;
const SMALL: f32 = 12.0;
/// Points of width that the page takes at most, and from which files and lessons stand side by side.
const WIDEST: f32 = 940.0;
const BESIDE: f32 = 620.0;
/// Height of an entry, and space within it.
const ROW: f32 = 38.0;
const PAD: f32 = 10.0;

/// Shows the page; what it asks for comes back. `behind`: a trace is open, to which Escape leads.
#[must_use]
pub fn show(ui: &mut Ui, page: &mut StartPage, behind: bool) -> Option<Asks> {
    let typed = page.typed.clone();
    let (mut asks, moved) = keys(ui, page);
    if page.typed != typed {
        to_end(ui, &page.typed);
    }
    let screen = ui.ctx().content_rect();
    let width = (screen.width() - 48.0).clamp(60.0, WIDEST);
    let side = (0.5 * (screen.width() - width)).max(0.0);
    ui.scope_builder(UiBuilder::new().max_rect(screen), |ui| {
        // It is scrolled by the window's edge, so that the bar lies over nothing.
        let mut scrolled = ScrollArea::vertical().auto_shrink(false);
        // Whoever comes back to the page sees the fields.
        if std::mem::take(&mut page.is_new) {
            scrolled = scrolled.vertical_scroll_offset(0.0);
        }
        scrolled.show(ui, |ui| {
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            ui.horizontal_top(|ui| {
                ui.add_space(side);
                ui.vertical(|ui| {
                    ui.set_width(width);
                    ui.spacing_mut().item_spacing = vec2(8.0, 4.0);
                    asks = body(ui, page, behind, moved).or(asks.take());
                });
            });
        });
    });
    asks
}

fn body(ui: &mut Ui, page: &mut StartPage, behind: bool, moved: bool) -> Option<Asks> {
    let margin = if ui.ctx().content_rect().height() < 660.0 { 12.0 } else { 26.0 };
    ui.add_space(margin);
    head(ui, behind);
    ui.add_space(8.0);
    let mut asks = fields(ui, page);
    message(ui, page);
    ui.add_space(10.0);
    let typed = page.typed.clone();
    if ui.available_width() >= BESIDE {
        ui.columns(2, |sides| {
            asks = files(&mut sides[0], page, moved).or(asks.take());
            asks = lessons(&mut sides[1], page, moved).or(asks.take());
        });
    } else {
        asks = files(ui, page, moved).or(asks.take());
        ui.add_space(12.0);
        asks = lessons(ui, page, moved).or(asks.take());
    }
    if page.typed != typed {
        to_end(ui, &page.typed);
    }
    ui.add_space(margin);
    asks
}

/// The id of the field for a path.
fn path_id() -> Id {
    Id::unique(FIELDS[0].2)
}

/// Brings the cursor of the field for a path to the end of what stands there now.
fn to_end(ui: &Ui, typed: &str) {
    let Some(mut state) = TextEditState::load(ui.ctx(), path_id()) else { return };
    let end = CCursor::new(typed.chars().count());
    state.cursor.set_char_range(Some(CCursorRange::one(end)));
    state.store(ui.ctx(), path_id());
    ui.ctx().request_repaint();
}

/// Selects what stands in a field, so that what is typed next takes its place.
fn select_all(ui: &Ui, id: Id, typed: &str) {
    let Some(mut state) = TextEditState::load(ui.ctx(), id) else { return };
    let ends = [0, typed.chars().count()].map(CCursor::new);
    state.cursor.set_char_range(Some(CCursorRange::two(ends[0], ends[1])));
    state.store(ui.ctx(), id);
    ui.ctx().request_repaint();
}

/// Keys that the page takes before any field has them.
const KEYS: [Key; 5] = [Key::ArrowDown, Key::ArrowUp, Key::Tab, Key::Escape, Key::Enter];

/// A frame may bring what is typed and a key after it, of which the page would take the key first: that one, and all behind it, waits for
/// the next frame.
fn in_order(ui: &Ui, page: &mut StartPage) {
    let is_key = |event: &Event| matches!(event, Event::Key { key, pressed: true, .. } if KEYS.contains(key));
    let is_typed = |event: &Event| match event {
        Event::Text(_) | Event::Paste(_) => true,
        Event::Key { key, pressed, .. } => *pressed && matches!(key, Key::Backspace | Key::Delete),
        _ => false,
    };
    let mut events = std::mem::take(&mut page.waiting);
    ui.input_mut(|i| {
        events.append(&mut i.events);
        if let Some(typed) = events.iter().position(is_typed)
            && let Some(key) = events[typed..].iter().position(is_key)
        {
            page.waiting = events.split_off(typed + key);
        }
        i.events = events;
    });
    if !page.waiting.is_empty() {
        ui.ctx().request_repaint();
    }
}

/// Keys go to the page before any field has them. Also whether another entry was chosen.
fn keys(ui: &Ui, page: &mut StartPage) -> (Option<Asks>, bool) {
    in_order(ui, page);
    let pressed = |key| ui.input_mut(|i| i.consume_key(Modifiers::NONE, key));
    let mut moved = false;
    for (key, on) in [(Key::ArrowDown, true), (Key::ArrowUp, false)] {
        for _ in 0..ui.input_mut(|i| i.count_and_consume_key(Modifiers::NONE, key)) {
            page.step(on);
            moved = true;
        }
    }
    // The field would make one line of them.
    let pasted = ui.input_mut(|i| {
        let of = |event: &Event| if let Event::Paste(text) = event { Wanted::pasted(text) } else { None };
        let at = i.events.iter().position(|event| of(event).is_some())?;
        of(&i.events.remove(at))
    });
    if let Some(wanted) = pasted {
        return (Some(Asks::Open(wanted)), moved);
    }
    if pressed(Key::Tab) {
        page.tab(&names);
    }
    if pressed(Key::Escape) {
        return (page.escape(), moved);
    }
    if pressed(Key::Enter) {
        return (page.enter(&names), moved);
    }
    (None, moved)
}

fn words(text: impl Into<String>, size: f32, c: Rgba) -> RichText {
    RichText::new(text).font(Weight::Regular.at(size)).color(color(c))
}

fn head(ui: &mut Ui, behind: bool) {
    ui.horizontal(|ui| {
        ui.label(RichText::new("Orrery").font(Weight::SemiBold.at(21.0)).color(color(palette::TEXT)));
        ui.add_space(6.0);
        ui.label(words("See a program's memory move.", TYPE, palette::TEXT_QUIET));
        let hint = if behind { "Esc: back" } else { "Esc: leave" };
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(words(hint, SMALL, palette::TEXT_QUIET)));
    });
}

/// The fields that there are to type in, what to type there, and the word that does it.
const FIELDS: [(Field, &str, &str); 2] = [
    (Field::Path, "path of a trace: type it, paste it, or drop a file here", "open"),
    (Field::Program, "program to record, as ./a.out 100 or mm.c 100", "record"),
];

fn fields(ui: &mut Ui, page: &mut StartPage) -> Option<Asks> {
    let mut asks = None;
    // Whatever is typed on this page is meant for one of the fields: also what comes in one frame with a Tab, by which another has the keys,
    // or with Escape, at which egui takes them from all.
    if let Some((.., word)) = FIELDS.iter().find(|(field, ..)| *field == page.field) {
        ui.memory_mut(|memory| {
            if !memory.has_focus(Id::unique(*word)) {
                memory.request_focus(Id::unique(*word));
            }
        });
    }
    for (field, hint, word) in FIELDS {
        ui.horizontal(|ui| {
            let edit = line(ui, Id::unique(word), page.text(field), hint);
            // Not by focus alone: before a field has drawn once, egui gives that to others at a Tab.
            if (edit.is_pointer_button_down_on() || edit.clicked()) && page.field != field {
                page.turn_to(field);
                select_all(ui, Id::unique(word), page.text(field));
            }
            if edit.changed() {
                page.type_in(&names);
            }
            if page.field == field && !edit.has_focus() {
                edit.request_focus();
            }
            let is_there = !page.text(field).is_empty();
            if word_button(ui, word, TYPE, is_there).clicked() {
                page.turn_to(field);
                page.chosen = None;
                asks = page.enter(&names);
            }
        });
    }
    asks
}

/// A field that takes the row but for a word behind it.
fn line(ui: &mut Ui, id: Id, text: &mut String, hint: &str) -> Response {
    let width = (ui.available_width() - 76.0).max(40.0);
    let frame = Frame::new().fill(color(palette::TRACK)).corner_radius(5).inner_margin(Margin::symmetric(10, 7));
    let edit = TextEdit::singleline(text)
        .id(id)
        .font(Weight::Regular.at(TYPE))
        .text_color(color(palette::TEXT))
        .hint_text(words(hint, TYPE, palette::TEXT_QUIET))
        .frame(Frame::NONE)
        .margin(Margin::ZERO)
        .lock_focus(true)
        .char_limit(4096)
        .desired_width(width - 20.0);
    frame.show(ui, |ui| ui.add(edit)).inner
}

/// What went wrong, until something else is asked for.
fn message(ui: &mut Ui, page: &StartPage) {
    let Some(message) = &page.message else { return };
    ui.add_space(8.0);
    Frame::new().fill(color(palette::CARD)).corner_radius(6).inner_margin(Margin::symmetric(10, 8)).show(ui, |ui| {
        ui.horizontal_top(|ui| {
            let room = (ui.available_width() - 60.0).max(40.0);
            ui.vertical(|ui| {
                ui.set_width(room);
                ScrollArea::vertical().id_salt("message").max_height(120.0).show(ui, |ui| {
                    ui.add(Label::new(words(shown::lines(message), TYPE, palette::BURST)).wrap().selectable(true));
                });
            });
            if word_button(ui, "copy", SMALL, false).clicked() {
                ui.ctx().copy_text(message.clone());
            }
        });
    });
}

fn title(ui: &mut Ui, text: &str) {
    ui.label(RichText::new(text).font(Weight::Medium.at(SMALL)).color(color(palette::TEXT_QUIET)));
    ui.add_space(2.0);
}

/// Files: what the path that is typed may become, else those that were opened last.
fn files(ui: &mut Ui, page: &mut StartPage, moved: bool) -> Option<Asks> {
    if page.completions.is_empty() {
        return recent(ui, page, moved);
    }
    title(ui, "IN THIS FOLDER: TAB COMPLETES");
    let mut clicked = None;
    // The one that is chosen is among those that are seen.
    let all = page.completions.len();
    let first = page.chosen.filter(|at| *at < all).map_or(0, |at| (at + 1).saturating_sub(MOST));
    for (at, found) in page.completions.iter().enumerate().skip(first).take(MOST) {
        let name = found.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let about = if found.is_folder { "folder" } else { "" };
        let entry = Entry { name, about, below: &found.text, is_there: true };
        if entry.show(ui, page.chosen == Some(at), moved) {
            clicked = Some(at);
        }
    }
    if all > first + MOST {
        ui.label(words(format!("{} more", all - first - MOST), SMALL, palette::TEXT_QUIET));
    }
    clicked.and_then(|at| page.choose(at, &names))
}

fn recent(ui: &mut Ui, page: &StartPage, moved: bool) -> Option<Asks> {
    title(ui, "RECENT");
    if page.recent.is_empty() {
        ui.label(words("Traces that you open stand here.", TYPE, palette::TEXT_QUIET));
    }
    let mut clicked = None;
    for (at, file) in page.recent.iter().enumerate() {
        let name = file.path.file_name().unwrap_or(file.path.as_os_str()).to_string_lossy();
        let folder = file.path.parent().map(|folder| folder.to_string_lossy()).unwrap_or_default();
        let about = match file.about {
            Some((bytes, age)) => format!("{}, {}", size(bytes), ago(age)),
            None => "is not there any more".into(),
        };
        let entry = Entry { name: &name, about: &about, below: &folder, is_there: file.about.is_some() };
        if entry.show(ui, page.chosen == Some(at), moved) {
            clicked = Some(at);
        }
    }
    clicked.and_then(|at| page.wanted(at)).map(Asks::Open)
}

fn lessons(ui: &mut Ui, page: &StartPage, moved: bool) -> Option<Asks> {
    title(ui, "BUNDLED TRACES AND LESSONS");
    let mut clicked = None;
    for (at, lesson) in (page.files()..).zip(&page.lessons) {
        let entry = Entry { name: lesson.name, about: "", below: lesson.look, is_there: true };
        if entry.show(ui, page.chosen == Some(at), moved) {
            clicked = Some(at);
        }
    }
    clicked.and_then(|at| page.wanted(at)).map(Asks::Open)
}

/// Something to open: a name with a few words behind it, and a line below.
struct Entry<'a> {
    name: &'a str,
    about: &'a str,
    below: &'a str,
    is_there: bool,
}

impl Entry<'_> {
    /// Draws it; true where it was clicked.
    fn show(&self, ui: &mut Ui, chosen: bool, moved: bool) -> bool {
        let (area, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, chosen, self.name));
        if chosen && moved {
            response.scroll_to_me(None);
        }
        let painter = ui.painter_at(area);
        if chosen || response.hovered() {
            let fill = if chosen { palette::TRACK } else { palette::CARD };
            painter.rect_filled(area, CornerRadius::same(5), color(fill));
        }
        if response.hovered() {
            ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
        }
        let inside = area.shrink2(vec2(PAD, 3.0));
        let text = |text: &str, weight: Weight, size: f32, c: Rgba, width: f32| {
            let mut job =
                egui::text::LayoutJob::simple_singleline(shown::words(text).into_owned(), weight.at(size), color(c));
            job.wrap.max_width = width.max(10.0);
            job.wrap.max_rows = 1;
            job.wrap.break_anywhere = true;
            painter.layout_job(job)
        };
        let about = text(self.about, Weight::Regular, SMALL, palette::TEXT_QUIET, 0.6 * inside.width());
        let ink = if self.is_there { palette::TEXT } else { palette::TEXT_QUIET };
        let name = text(self.name, Weight::Medium, TYPE, ink, inside.width() - about.size().x - PAD);
        let below = text(self.below, Weight::Regular, SMALL, palette::TEXT_BODY, inside.width());
        painter.galley(inside.right_top() - vec2(about.size().x, -2.0), about, color(palette::TEXT));
        painter.galley(inside.left_bottom() - vec2(0.0, below.size().y), below, color(palette::TEXT));
        painter.galley(inside.left_top(), name, color(palette::TEXT));
        response.clicked()
    }
}

/// Says that a file that is held over the window can be dropped there.
pub(super) fn drop_hint(ui: &Ui) {
    let at = ui.ctx().content_rect().center();
    card(ui, at, Align2::CENTER_CENTER, &Tip { title: "drop to open".into(), ..Tip::default() });
}

#[cfg(test)]
mod tests;
