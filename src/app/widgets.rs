//! The few controls the window has, drawn in the palette: icon buttons, a thin slider, a card of lines.

use super::scrub::place;
use crate::overlay::Tip;
use crate::overlay::fonts::Weight;
use crate::overlay::pen::color;
use crate::scene::palette::{self, Rgba};
use crate::shown;
use egui::{
    Align2, Color32, CornerRadius, CursorIcon, Frame, Margin, Painter, Pos2, Rect, Response, Role, Sense, Shape,
    Stroke, Ui, WidgetInfo, pos2, vec2,
};

/// Drawn signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Icon {
    Play,
    Pause,
    Back,
    On,
    FullScreen,
    Camera,
    /// A roll of film.
    Film,
    /// Two frames, side by side and apart.
    Compare,
    Help,
    /// A window parted into left and right.
    Right,
    /// A window parted into above and below.
    Below,
    /// Rings round a dot.
    Caches,
    /// A light bulb.
    Advice,
}

/// Colour of signs and words that can be clicked.
fn ink(response: &Response) -> Color32 {
    let c = if response.is_pointer_button_down_on() || response.hovered() { palette::TEXT } else { palette::TEXT_BODY };
    color(c)
}

/// A round button; the hint says what it does and by which key.
pub fn icon_button(ui: &mut Ui, area: Rect, icon: Icon, hint: &str) -> Response {
    let response = ui.interact(area, ui.scope_id().with(("icon", icon as u8)), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, hint));
    let painter = ui.painter();
    if response.hovered() {
        painter.circle_filled(area.center(), 0.5 * area.width(), color(palette::TRACK));
        ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
        let tip = Tip { title: hint.into(), ..Tip::default() };
        card(ui, pos2(area.center().x, area.top() - 6.0), Align2::CENTER_BOTTOM, &tip);
    }
    sign(ui.painter(), area.center(), 0.5 * area.width(), icon, ink(&response));
    response
}

/// A word that can be clicked; the one that is `chosen` is brighter.
pub fn word_button(ui: &mut Ui, word: &str, size: f32, chosen: bool) -> Response {
    let c = if chosen { palette::TEXT } else { palette::TEXT_QUIET };
    let galley = ui.painter().layout_no_wrap(word.to_owned(), Weight::Medium.at(size), color(c));
    let (_, area) = ui.allocate_space(galley.size() + vec2(14.0, 6.0));
    let response = ui.interact(area, ui.scope_id().with(("word", word)), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, chosen, word));
    if response.hovered() {
        ui.painter().rect_filled(area, CornerRadius::same(4), color(palette::TRACK));
        ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
    }
    ui.painter().galley(area.center() - 0.5 * galley.size(), galley, color(c));
    response
}

/// The sign in a circle of radius `r`.
fn sign(painter: &Painter, c: Pos2, r: f32, icon: Icon, ink: Color32) {
    let at = |x: f32, y: f32| pos2(c.x + x * r, c.y + y * r);
    let polygon = |points: Vec<Pos2>| painter.add(Shape::convex_polygon(points, ink, Stroke::NONE));
    let bar = |x: f32, w: f32, h: f32| {
        painter.rect_filled(Rect::from_center_size(at(x, 0.0), vec2(w * r, h * r)), CornerRadius::same(1), ink);
    };
    let line = Stroke::new((0.1 * r).max(1.2), ink);
    match icon {
        Icon::Play => {
            polygon(vec![at(-0.26, -0.44), at(0.5, 0.0), at(-0.26, 0.44)]);
        }
        Icon::Pause => {
            bar(-0.2, 0.22, 0.82);
            bar(0.2, 0.22, 0.82);
        }
        Icon::Back => {
            bar(-0.36, 0.14, 0.66);
            polygon(vec![at(0.36, -0.34), at(-0.22, 0.0), at(0.36, 0.34)]);
        }
        Icon::On => {
            bar(0.36, 0.14, 0.66);
            polygon(vec![at(-0.36, -0.34), at(0.22, 0.0), at(-0.36, 0.34)]);
        }
        Icon::FullScreen => {
            for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let points = vec![at(0.14 * x, 0.4 * y), at(0.4 * x, 0.4 * y), at(0.4 * x, 0.14 * y)];
                painter.add(Shape::line(points, line));
            }
        }
        Icon::Camera => {
            let body = Rect::from_center_size(at(0.0, 0.06), vec2(1.0 * r, 0.7 * r));
            painter.rect_stroke(body, CornerRadius::same(2), line, egui::StrokeKind::Middle);
            painter.circle_stroke(at(0.0, 0.06), 0.2 * r, line);
            painter.line_segment([at(-0.16, -0.4), at(0.16, -0.4)], line);
        }
        Icon::Film => {
            let body = Rect::from_center_size(c, vec2(1.0 * r, 0.8 * r));
            painter.rect_stroke(body, CornerRadius::same(2), line, egui::StrokeKind::Middle);
            for x in [-0.26, 0.26] {
                painter.line_segment([at(x, -0.4), at(x, 0.4)], line);
            }
            for y in [-0.14, 0.14] {
                painter.line_segment([at(-0.5, y), at(-0.26, y)], line);
                painter.line_segment([at(0.26, y), at(0.5, y)], line);
            }
        }
        Icon::Compare => {
            for x in [-0.34, 0.34] {
                let frame = Rect::from_center_size(at(x, 0.0), vec2(0.46 * r, 0.8 * r));
                painter.rect_stroke(frame, CornerRadius::same(2), line, egui::StrokeKind::Middle);
            }
        }
        Icon::Right | Icon::Below => {
            let frame = Rect::from_center_size(c, vec2(1.0 * r, 0.8 * r));
            painter.rect_stroke(frame, CornerRadius::same(2), line, egui::StrokeKind::Middle);
            let ends = match icon {
                Icon::Right => [at(0.0, -0.4), at(0.0, 0.4)],
                _ => [at(-0.5, 0.0), at(0.5, 0.0)],
            };
            painter.line_segment(ends, line);
        }
        Icon::Caches => {
            painter.circle_filled(c, 0.12 * r, ink);
            painter.circle_stroke(c, 0.32 * r, line);
            painter.circle_stroke(c, 0.56 * r, line);
        }
        Icon::Advice => {
            // An arc over a neck, and the socket below.
            let arc = |n: u8| {
                let angle = (0.75 + 1.5 * f32::from(n) / 16.0) * std::f32::consts::PI;
                at(0.34 * angle.cos(), -0.14 + 0.34 * angle.sin())
            };
            let bulb = [at(-0.15, 0.3)].into_iter().chain((0..=16).map(arc)).chain([at(0.15, 0.3)]);
            painter.add(Shape::line(bulb.collect(), line));
            painter.line_segment([at(-0.15, 0.34), at(0.15, 0.34)], line);
            painter.line_segment([at(-0.1, 0.5), at(0.1, 0.5)], line);
        }
        Icon::Help => {
            painter.text(c, Align2::CENTER_CENTER, "?", Weight::Medium.at(1.0 * r), ink);
        }
    }
}

/// The frame of what lies over the picture.
pub fn floating() -> Frame {
    Frame::new()
        .fill(color(palette::CARD).to_opaque())
        .stroke(Stroke::new(1.0, color(palette::fade(palette::GUIDE, 0.28))))
        .corner_radius(10)
        .inner_margin(Margin::same(14))
}

/// A thin slider that shows and gives a share, 0..=1. `Some` while it is moved.
pub fn slider(ui: &mut Ui, area: Rect, name: &str, share: f64) -> Option<f64> {
    let response = ui.interact(area, ui.scope_id().with(("slider", name)), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::slider(true, share, name));
    let track = Rect::from_center_size(area.center(), vec2(area.width(), 3.0));
    let x = place(track.left(), track.width(), share);
    let knob = pos2(x, track.center().y);
    let painter = ui.painter();
    painter.rect_filled(track, CornerRadius::same(2), color(palette::TRACK));
    let done = Rect::from_min_max(track.min, pos2(x, track.max.y));
    painter.rect_filled(done, CornerRadius::same(2), color(palette::TEXT_QUIET));
    let active = response.hovered() || response.dragged();
    painter.circle_filled(knob, if active { 6.0 } else { 5.0 }, color(palette::LIGHT));
    if active {
        ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
    }
    let held = response.dragged() || response.clicked() || response.is_pointer_button_down_on();
    let pointer = response.interact_pointer_pos().filter(|_| held)?;
    Some(f64::from((pointer.x - track.left()) / track.width().max(1.0)).clamp(0.0, 1.0))
}

/// A card of lines above everything; `anchor` says which side of it is at `at`. It is kept inside the window.
pub fn card(ui: &Ui, at: Pos2, anchor: Align2, tip: &Tip) {
    card_within(ui, at, anchor, tip, 420.0);
}

/// As [`card`]; lines are broken where words take more than `widest` points.
/// Where it stands comes back.
pub fn card_within(ui: &Ui, at: Pos2, anchor: Align2, tip: &Tip, widest: f32) -> Rect {
    const PAD: f32 = 9.0;
    let painter = ui.ctx().layer_painter(egui::LayerId::new(egui::Order::Tooltip, egui::Id::unique("card")));
    let screen = ui.ctx().content_rect();
    let widest = (screen.width() - 4.0 * PAD).clamp(40.0, widest.max(40.0));
    let text = |words: &str, weight: Weight, size: f32, c: Rgba| {
        painter.layout(shown::words(words).into_owned(), weight.at(size), color(c), widest)
    };
    let title = text(&tip.title, Weight::Medium, 13.0, palette::TEXT);
    let lines: Vec<_> = tip.lines.iter().map(|l| text(l, Weight::Regular, 12.0, palette::TEXT_BODY)).collect();
    let dot = if tip.color.is_some() { 15.0 } else { 0.0 };
    let width = lines.iter().map(|g| g.size().x).fold(title.size().x + dot, f32::max);
    let gap = if lines.is_empty() { 0.0 } else { 4.0 };
    let height = title.size().y + gap + lines.iter().map(|g| g.size().y + 2.0).sum::<f32>();
    let mut area = anchor.anchor_size(at, vec2(width + 2.0 * PAD, height + 2.0 * PAD - 4.0));
    let inside = screen.shrink(4.0);
    area = area.translate(vec2((inside.right() - area.right()).min(0.0), (inside.bottom() - area.bottom()).min(0.0)));
    area = area.translate(vec2((inside.left() - area.left()).max(0.0), (inside.top() - area.top()).max(0.0)));
    painter.rect_filled(area, CornerRadius::same(6), color(palette::CARD));
    let edge = Stroke::new(1.0, color(palette::fade(palette::GUIDE, 0.28)));
    painter.rect_stroke(area, CornerRadius::same(6), edge, egui::StrokeKind::Inside);
    let mut y = area.top() + PAD - 2.0;
    if let Some(c) = tip.color {
        painter.circle_filled(pos2(area.left() + PAD + 4.0, y + 0.5 * title.size().y), 4.0, color(c));
    }
    let first = title.size().y;
    painter.galley(pos2(area.left() + PAD + dot, y), title, color(palette::TEXT));
    y += first + gap;
    for line in lines {
        let step = line.size().y + 2.0;
        painter.galley(pos2(area.left() + PAD, y), line, color(palette::TEXT));
        y += step;
    }
    area
}
