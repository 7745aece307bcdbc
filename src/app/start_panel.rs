//! The start page, drawn.
//!
//! ```text
//! Orrery   See a program's memory move.
//! [ path of a trace ......................... ] open
//! RECENT                      LESSONS
//! heat.orrery  34 kB, ...     matmul16
//! /home/ada                   B misses again and again
//! ```

use super::start::{Asks, StartPage, ago, size};
use super::widgets::{card, word_button};
use crate::overlay::Tip;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::color;
use crate::scene::palette::{self, Rgba};
use crate::shown;
use egui::{
    Align, Align2, CornerRadius, CursorIcon, Frame, Id, Key, Label, Layout, Margin, Modifiers, Rect, Response,
    RichText, ScrollArea, Sense, TextEdit, Ui, UiBuilder, vec2,
};

/// Size of type.
const TYPE: f32 = 13.5;
const SMALL: f32 = 12.0;
/// Points of width that the page takes at most, and from which files and lessons stand side by side.
const WIDEST: f32 = 940.0;
const BESIDE: f32 = 620.0;
/// Height of an entry, and space within it.
const ROW: f32 = 42.0;
const PAD: f32 = 10.0;

/// Shows the page; what it asks for comes back. `behind`: a trace is open, to which Escape leads.
pub(super) fn show(ui: &mut Ui, page: &mut StartPage, behind: bool) -> Option<Asks> {
    let (mut asks, moved) = keys(ui, page);
    let screen = ui.ctx().content_rect();
    let margin = if screen.height() < 480.0 { 10.0 } else { 26.0 };
    let width = (screen.width() - 40.0).clamp(60.0, WIDEST);
    let area = Rect::from_center_size(screen.center(), vec2(width, screen.height()));
    ui.scope_builder(UiBuilder::new().max_rect(area), |ui| {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.set_max_width(width);
            ui.spacing_mut().item_spacing = vec2(8.0, 4.0);
            ui.add_space(margin);
            head(ui, behind);
            ui.add_space(10.0);
            asks = path(ui, page).or(asks.take());
            message(ui, page);
            ui.add_space(14.0);
            let room = ui.available_width();
            if room >= BESIDE {
                ui.columns(2, |sides| {
                    asks = recent(&mut sides[0], page, moved).or(asks.take());
                    asks = lessons(&mut sides[1], page, moved).or(asks.take());
                });
            } else {
                asks = recent(ui, page, moved).or(asks.take());
                ui.add_space(12.0);
                asks = lessons(ui, page, moved).or(asks.take());
            }
            ui.add_space(margin);
        });
    });
    asks
}

/// Keys go to the page before any field has them. Also whether another entry was chosen.
fn keys(ui: &Ui, page: &mut StartPage) -> (Option<Asks>, bool) {
    let pressed = |key| ui.input_mut(|i| i.consume_key(Modifiers::NONE, key));
    let mut moved = false;
    for (key, on) in [(Key::ArrowDown, true), (Key::ArrowUp, false)] {
        if pressed(key) {
            page.step(on);
            moved = true;
        }
    }
    if pressed(Key::Escape) {
        return (page.escape(), moved);
    }
    if pressed(Key::Enter) {
        return (page.enter(), moved);
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
        let hint = if behind { "Esc: back to the trace" } else { "Esc: leave" };
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(words(hint, SMALL, palette::TEXT_QUIET)));
    });
}

/// The field for a path.
fn path(ui: &mut Ui, page: &mut StartPage) -> Option<Asks> {
    let mut asks = None;
    ui.horizontal(|ui| {
        let field =
            line(ui, Id::unique("path"), &mut page.typed, "path of a trace: type it, paste it, or drop a file here");
        if field.changed() {
            page.type_in();
        }
        // Whatever is typed on this page is meant for the field.
        field.request_focus();
        if word_button(ui, "open", TYPE, !page.typed.is_empty()).clicked() {
            page.chosen = None;
            asks = page.enter();
        }
    });
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
    title(ui, "LESSONS: BUNDLED TRACES");
    let mut clicked = None;
    for (at, lesson) in (page.recent.len()..).zip(&page.lessons) {
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
        let inside = area.shrink2(vec2(PAD, 5.0));
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
