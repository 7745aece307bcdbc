//! Draws what is pinned: a ring round each of its dots, a line from its home, and the set in which it competes for room.

use super::layout::Layout;
use super::pen::{Pen, color};
use crate::scene::palette;
use crate::scene::{PinKind, Pinned};
use egui::{Pos2, Shape, Stroke};

/// Pixels between a dot and the ring round it.
const AWAY: f32 = 3.0;
/// Least radius of a ring, pixels.
const LEAST: f32 = 5.0;

pub(super) fn pins(pen: &Pen<'_>, layout: &Layout, pinned: &Pinned) {
    let t = pen.t;
    let stroke = |width: f32, strength: f32| Stroke::new(width * t, color(palette::fade(palette::LIGHT, strength)));
    let painter = pen.painter;
    if pinned.arm.len() > 1 {
        let points: Vec<Pos2> = pinned.arm.iter().map(|&at| layout.at(at)).collect();
        painter.add(Shape::line(points, stroke(1.2, 0.32)));
    }
    let of = |kind: PinKind| pinned.marks.iter().filter(move |mark| mark.kind == kind);
    let nearest = of(PinKind::Nearest).next_back();
    if let (Some(home), Some(nearest)) = (of(PinKind::Home).next(), nearest) {
        // From where it is to where it came from.
        let ends = [layout.at(home.at), layout.at(nearest.at)];
        painter.extend(Shape::dashed_line(&ends, stroke(1.0, 0.30), 3.0 * t, 5.0 * t));
    }
    for mark in &pinned.marks {
        let radius = (mark.radius * layout.viewport.px_per_unit + AWAY * t).max(LEAST * t);
        let (width, strength) = match mark.kind {
            PinKind::Nearest => (1.8, 1.0),
            PinKind::Copy => (1.2, 0.65),
            PinKind::Home => (1.2, 0.8),
        };
        painter.circle_stroke(layout.at(mark.at), radius, stroke(width, strength));
    }
}
