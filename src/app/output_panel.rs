//! What a recorded program prints, in the lower right corner: a line that opens a card.

use super::output::Output;
use super::widgets::word_button;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::color;
use crate::scene::palette;
use egui::{Align2, Area, Frame, Id, Label, Margin, Order, Pos2, RichText, ScrollArea, Stroke, Ui, vec2};

/// Size of type.
const TYPE: f32 = 12.5;
/// Width and height of the card's text, at most.
const TEXT: [f32; 2] = [520.0, 220.0];

/// Shows it with its lower right corner at `corner`.
pub(super) fn show(ui: &Ui, output: &mut Output, corner: Pos2) {
    let area = Area::new(Id::unique(if output.open { "output" } else { "output line" })).order(Order::Foreground);
    area.pivot(Align2::RIGHT_BOTTOM).fixed_pos(corner).constrain(true).show(ui.ctx(), |ui| {
        let frame = Frame::new()
            .fill(color(palette::CARD).to_opaque())
            .stroke(Stroke::new(1.0, color(palette::fade(palette::GUIDE, 0.28))))
            .corner_radius(8)
            .inner_margin(Margin::symmetric(10, 6));
        frame.show(ui, |ui| {
            ui.spacing_mut().item_spacing = vec2(6.0, 4.0);
            ui.horizontal(|ui| {
                if word_button(ui, "output", TYPE, true).clicked() {
                    output.open = !output.open;
                }
                // In a small window the legend is beside it.
                ui.label(words(output.state(!output.open)).color(color(palette::TEXT_QUIET)));
                if output.can_stop() {
                    let hint = "end the program, as Ctrl-C does; what it did so far stays recorded";
                    if word_button(ui, "stop", TYPE, false).on_hover_text(hint).clicked() {
                        output.stop();
                    }
                }
                if output.open && word_button(ui, "copy", TYPE, false).clicked() {
                    ui.ctx().copy_text(output.lines().join("\n"));
                }
            });
            if output.open {
                lines(ui, output);
            }
        });
    });
}

fn words(text: &str) -> RichText {
    RichText::new(text).font(Weight::Regular.at(TYPE)).color(color(palette::TEXT_BODY))
}

fn lines(ui: &mut Ui, output: &Output) {
    let screen = ui.ctx().content_rect().size();
    let [width, height] = [TEXT[0].min(screen.x - 60.0).max(60.0), TEXT[1].min(0.5 * screen.y).max(30.0)];
    ScrollArea::both().max_width(width).max_height(height).min_scrolled_width(width).stick_to_bottom(true).show(
        ui,
        |ui| {
            if output.dropped() > 0 {
                let more = format!("{} lines before these are not kept", output.dropped());
                ui.label(words(&more).color(color(palette::TEXT_QUIET)));
            }
            let lines = output.lines();
            if lines.is_empty() {
                ui.label(words("Nothing was printed so far.").color(color(palette::TEXT_QUIET)));
            }
            for line in lines {
                ui.add(Label::new(words(&line)).extend().selectable(true));
            }
        },
    );
}
