//! What the words of the pictures mean, over a dimmed picture: in two columns where the window is wide, and scrolled where it is small.

use super::desk::Desk;
use super::widgets::floating;
use crate::overlay::exhibits::MEANINGS;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::color;
use crate::scene::palette;
use egui::{Align2, Area, CornerRadius, Id, Label, LayerId, Order, RichText, ScrollArea, Sense, Ui, vec2};

/// Size of type.
const TYPE: f32 = 12.5;
/// Points of width of a column, of its words, and between columns.
const COLUMN: f32 = 520.0;
const WORD: f32 = 104.0;
const GAP: f32 = 24.0;

/// Shows it; a click beside it closes it.
pub(super) fn show(ui: &Ui, desk: &mut Desk) {
    let screen = ui.ctx().content_rect();
    let dim = LayerId::new(Order::Middle, Id::unique("words dim"));
    let veil = color(palette::fade(palette::BACKGROUND, 0.7));
    ui.ctx().layer_painter(dim).rect_filled(screen, CornerRadius::ZERO, veil);
    let beside = ui.interact(screen, Id::unique("words away"), Sense::click());
    let room = screen.size() - vec2(60.0, 60.0);
    let two = room.x >= 2.0 * COLUMN + GAP;
    let width = if two { 2.0 * COLUMN + GAP } else { room.x.min(1.3 * COLUMN) };
    let area = Area::new(Id::unique("words")).order(Order::Foreground).pivot(Align2::CENTER_CENTER);
    area.fixed_pos(screen.center()).constrain(true).show(ui.ctx(), |ui| {
        floating().show(ui, |ui| {
            ui.set_width(width);
            let title = RichText::new("What the words mean").font(Weight::SemiBold.at(TYPE + 2.0));
            ui.label(title.color(color(palette::TEXT)));
            ui.add_space(6.0);
            let height = (room.y - 50.0).max(60.0);
            ScrollArea::vertical().max_height(height).min_scrolled_height(height).show(ui, |ui| {
                if !two {
                    return meanings(ui, &MEANINGS, width - 14.0);
                }
                let (left, right) = MEANINGS.split_at(MEANINGS.len().div_ceil(2));
                ui.horizontal_top(|ui| {
                    ui.spacing_mut().item_spacing.x = GAP;
                    for half in [left, right] {
                        ui.vertical(|ui| meanings(ui, half, COLUMN - 7.0));
                    }
                });
            });
        });
    });
    if beside.clicked() {
        desk.words = false;
        ui.ctx().request_repaint();
    }
}

fn meanings(ui: &mut Ui, all: &[(&str, &str)], width: f32) {
    ui.set_width(width);
    ui.spacing_mut().item_spacing = vec2(0.0, 5.0);
    for (word, what) in all {
        ui.horizontal_top(|ui| {
            let word = RichText::new(*word).font(Weight::SemiBold.at(TYPE)).color(color(palette::TEXT));
            ui.allocate_ui(vec2(WORD, 0.0), |ui| {
                ui.set_width(WORD);
                ui.label(word);
            });
            let what = RichText::new(*what).font(Weight::Regular.at(TYPE)).color(color(palette::TEXT_BODY));
            ui.vertical(|ui| {
                ui.set_width(width - WORD);
                ui.add(Label::new(what).wrap());
            });
        });
    }
}
