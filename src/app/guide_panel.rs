//! The hints, drawn: a card at the top of the window.

use super::desk::Desk;
use super::guide::{Guide, HINTS};
use super::widgets::{floating, word_button};
use crate::overlay::Layout;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::color;
use crate::scene::palette;
use egui::{Align, Align2, Area, Id, Label, Layout as Flow, Order, RichText, Ui, pos2, vec2};

/// Size of type.
const TYPE: f32 = 13.5;
/// Points of width, where there is room.
const WIDTH: f32 = 380.0;

/// Shows the hint of now, if there is one.
pub(super) fn show(ui: &Ui, desk: &mut Desk, layout: &Layout) {
    desk.guide_on();
    // The card of the caches has that place.
    let has_room = desk.caches.as_ref().is_none_or(|card| !card.open);
    let Some((number, hint)) = desk.guide.and_then(Guide::hint).filter(|_| has_room) else { return };
    let screen = ui.ctx().content_rect();
    let width = WIDTH.min(screen.width() - 60.0).max(120.0);
    // Away from what is pinned, from the strip, and from the place where the window says what happens.
    let place = pos2(layout.strip.center().x, screen.top() + 14.0);
    let area = Area::new(Id::unique("hint")).order(Order::Foreground).movable(true).constrain(true);
    area.pivot(Align2::CENTER_TOP).default_pos(place).show(ui.ctx(), |ui| {
        floating().show(ui, |ui| {
            ui.set_width(width);
            ui.spacing_mut().item_spacing = vec2(6.0, 4.0);
            ui.horizontal(|ui| {
                let title = RichText::new(hint.title()).font(Weight::SemiBold.at(TYPE + 1.5));
                ui.label(title.color(color(palette::TEXT)));
                let count = RichText::new(format!("{number} of {}", HINTS.len())).font(Weight::Regular.at(TYPE - 1.5));
                ui.with_layout(Flow::right_to_left(Align::Center), |ui| {
                    ui.label(count.color(color(palette::TEXT_QUIET)));
                });
            });
            let words = RichText::new(hint.words()).font(Weight::Regular.at(TYPE)).color(color(palette::TEXT_BODY));
            ui.add(Label::new(words).wrap());
            ui.horizontal(|ui| {
                let on = if number < HINTS.len() { "next" } else { "done" };
                if word_button(ui, on, TYPE, true).clicked() {
                    desk.next_hint();
                    ui.ctx().request_repaint();
                }
                ui.with_layout(Flow::right_to_left(Align::Center), |ui| {
                    if word_button(ui, "no more hints   Esc", TYPE - 1.5, false).clicked() {
                        desk.guide = None;
                        ui.ctx().request_repaint();
                    }
                });
            });
        });
    });
}
