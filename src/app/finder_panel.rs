//! The finder as it is seen: a field over the window, and under it the rows that fit.

use super::desk::{Desk, Effect};
use super::finder::{Finder, LONGEST, Row};
use super::widgets::floating;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::color;
use crate::scene::palette;
use crate::shown;
use crate::units::grouped;
use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{
    Align2, Area, CornerRadius, CursorIcon, FontId, Id, Key, Modifiers, Order, Rect, RichText, Role, Sense, TextEdit,
    Ui, WidgetInfo, pos2, vec2,
};

/// Points of width, where there is room.
const WIDTH: f32 = 580.0;
/// Points of height of a row.
const ROW: f32 = 26.0;
/// Size of type.
const TYPE: f32 = 13.5;

/// What keys and mouse ask of it.
#[derive(Default)]
struct Asked {
    close: bool,
    choose: Option<usize>,
    /// Enter: the chosen row, once what was typed is found.
    enter: bool,
    typed: Option<String>,
}

/// Shows it where it is open; what only the window can do comes back.
pub(super) fn show(ui: &Ui, desk: &mut Desk, now: f64) -> Option<Effect> {
    let finder = desk.finder.as_mut()?;
    let screen = ui.ctx().content_rect();
    let width = WIDTH.min(screen.width() - 48.0).max(160.0);
    // In a low window only as many rows as have room.
    let room = ((screen.height() - 150.0) / ROW).max(1.0);
    let mut asked = Asked::default();
    let area = Area::new(Id::unique("finder")).order(Order::Foreground).movable(false).constrain(true);
    let place = pos2(screen.center().x, screen.top() + (0.12 * screen.height()).min(90.0));
    let shown = area.pivot(Align2::CENTER_TOP).fixed_pos(place).show(ui.ctx(), |ui| {
        floating().show(ui, |ui| {
            ui.set_width(width);
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            field(ui, finder, &mut asked);
            ui.add_space(8.0);
            let rows = finder.found().len();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few rows")]
            let seen = rows.min(room as usize);
            // The chosen one is among those that are seen.
            let first = (finder.chosen + 1).saturating_sub(seen);
            for n in first..first + seen {
                let (_, area) = ui.allocate_space(vec2(ui.available_width(), ROW));
                let response = ui.interact(area, Id::unique(("found", n)), Sense::click());
                let name = || finder.found().get(n).map_or("", |found| found.words.as_str());
                response.widget_info(|| WidgetInfo::selected(Role::Button, true, n == finder.chosen, name()));
                // A pointer that rests chooses nothing against the keys.
                if response.hovered() && ui.input(|i| i.pointer.delta() != egui::Vec2::ZERO) {
                    finder.chosen = n;
                }
                if response.on_hover_cursor(CursorIcon::PointingHand).clicked() {
                    asked.choose = Some(n);
                }
                if let Some(found) = finder.found().get(n) {
                    row(ui, area, found, n == finder.chosen);
                }
            }
            let more = finder.fit - rows.min(finder.fit) + (rows - seen);
            let said = match (rows, more) {
                (0, _) => {
                    "nothing found: try other words, such as caches, theme, video or a line of the source".to_owned()
                }
                (_, 0) => return,
                (_, more) => format!("and {} more: type on to see them", grouped(more as u64)),
            };
            let (_, area) = ui.allocate_space(vec2(ui.available_width(), ROW));
            text(ui, area, &said, &Weight::Regular.at(TYPE - 1.0), palette::TEXT_QUIET);
        });
    });
    asked.close |= shown.response.clicked_elsewhere();
    if let Some(typed) = asked.typed.take() {
        desk.type_in_finder(&typed);
        ui.ctx().request_repaint();
    }
    if let Some(finder) = desk.finder.as_ref().filter(|finder| asked.enter && !finder.found().is_empty()) {
        asked.choose = Some(finder.chosen);
    }
    if let Some(n) = asked.choose {
        ui.ctx().request_repaint();
        return desk.found(n, now);
    }
    if asked.close {
        desk.finder = None;
        ui.ctx().request_repaint();
    }
    None
}

/// The field, which has all keys while the finder is open.
fn field(ui: &mut Ui, finder: &mut Finder, asked: &mut Asked) {
    let (up, down, enter) = ui.input_mut(|i| {
        let up = i.count_and_consume_key(Modifiers::NONE, Key::ArrowUp);
        let down = i.count_and_consume_key(Modifiers::NONE, Key::ArrowDown);
        let keys = [Key::P, Key::K].map(|key| i.consume_key(Modifiers::COMMAND, key));
        asked.close = keys.contains(&true) || i.consume_key(Modifiers::NONE, Key::Escape);
        (up, down, i.consume_key(Modifiers::NONE, Key::Enter))
    });
    let mut typed = finder.typed().to_owned();
    let hint = RichText::new(
        "a command, a mark, a source line, an element, an address, a set, a number, a file to compare with",
    );
    let hint = hint.font(Weight::Regular.at(TYPE)).color(color(palette::TEXT_QUIET));
    let field = TextEdit::singleline(&mut typed)
        .id(Id::unique("finder's field"))
        .desired_width(f32::INFINITY)
        .char_limit(LONGEST)
        .hint_text(hint)
        .font(Weight::Medium.at(TYPE + 1.5))
        .text_color(color(palette::TEXT))
        .margin(vec2(10.0, 7.0));
    let response = ui.add(field);
    if !asked.close {
        response.request_focus();
    }
    asked.typed = (typed != finder.typed()).then_some(typed);
    (0..up).for_each(|_| finder.step(false));
    (0..down).for_each(|_| finder.step(true));
    asked.enter = enter;
}

/// One row: words on the left, keys or a reference on the right.
fn row(ui: &Ui, area: Rect, row: &Row, chosen: bool) {
    if chosen {
        ui.painter().rect_filled(area, CornerRadius::same(5), color(palette::fade(palette::LIGHT, 0.1)));
    }
    let inside = area.shrink2(vec2(10.0, 0.0));
    let beside = shown::short(&row.beside, 32);
    let quiet = color(palette::TEXT_QUIET);
    let right =
        ui.painter().text(inside.right_center(), Align2::RIGHT_CENTER, beside, Weight::Regular.at(TYPE - 1.0), quiet);
    let left = Rect { max: pos2(right.left() - 12.0, inside.bottom()), ..inside };
    let ink = if chosen { palette::TEXT } else { palette::TEXT_BODY };
    text(ui, left, &shown::words(&row.words), &Weight::Regular.at(TYPE), ink);
}

/// Words in one line, with an ellipsis where they are longer than their place.
fn text(ui: &Ui, area: Rect, words: &str, font: &FontId, ink: palette::Rgba) {
    let mut job = LayoutJob::single_section(words.to_owned(), TextFormat::simple(font.clone(), color(ink)));
    job.wrap = TextWrapping::truncate_at_width(area.width().max(1.0));
    let galley = ui.painter().layout_job(job);
    let at = pos2(area.left(), area.center().y - 0.5 * galley.size().y);
    ui.painter().galley(at, galley, color(ink));
}
