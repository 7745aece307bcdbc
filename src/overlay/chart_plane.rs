//! Charts as flat pictures: a [`Plane`] among the words of a pane, or all of a picture by itself.

use super::fonts::Weight;
use super::pen::{Pen, color};
use super::plane::{Line, Plane, Words};
use crate::chart::{Anchor, At, Chart, Role, Shape as Drawn, arc};
use crate::render::Bar;
use crate::scene::palette::{RegionColors, Rgba, Theme};
use crate::units::to_f32;
use egui::{Align2, Mesh, Painter, Pos2, Rect, Shape, Stroke, pos2};

/// Units of a dash, and of the gap after it.
const DASH: [f64; 2] = [4.0, 3.0];
/// Corners of a disc.
const CORNERS: usize = 16;

/// Where a chart stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its upper left corner, pixels.
    pub(super) corner: Pos2,
    /// Pixels of a unit.
    pub(super) unit: f32,
}

impl Place {
    pub(super) fn at(self, (x, y): At) -> Pos2 {
        pos2(self.corner.x + self.unit * to_f32(x), self.corner.y + self.unit * to_f32(y))
    }

    fn area(self, at: At, (width, height): At) -> Rect {
        Rect::from_min_max(self.at(at), self.at((at.0 + width, at.1 + height)))
    }

    /// Where a place across stands for a reference, from the first to the last one that is charted.
    pub(super) fn references(self, chart: &Chart) -> Option<Rect> {
        let [left, top, right, bottom] = chart.references()?;
        Some(Rect::from_min_max(self.at((left, top)), self.at((right, bottom))))
    }
}

/// Puts a chart onto a plane, and gives what is said where a pointer rests, the uppermost last.
pub(super) fn put(
    plane: &mut Plane,
    chart: &Chart,
    place: Place,
    theme: Theme,
    own: &RegionColors,
) -> Vec<(Rect, String)> {
    let ink = |role: Role| match role {
        Role::Region(n) => own.own(n.into()).unwrap_or_else(|| role.color(theme)),
        role => role.color(theme),
    };
    let mut said_at = Vec::new();
    let bar = |plane: &mut Plane, area: Rect, color: Rgba| {
        plane.bars.push(Bar { sides: [area.left(), area.top(), area.right(), area.bottom()], color });
    };
    for shape in chart.shapes() {
        match shape {
            Drawn::Text { at, anchor, size, role, strong, words } => {
                let anchor = match anchor {
                    Anchor::Start => Align2::LEFT_CENTER,
                    Anchor::Middle => Align2::CENTER_CENTER,
                    Anchor::End => Align2::RIGHT_CENTER,
                };
                let weight = if *strong { Weight::SemiBold } else { Weight::Regular };
                plane.words.push(Words {
                    // The middle of small letters is above their baseline by about a third of the type.
                    at: place.at((at.0, at.1 - 0.34 * size)),
                    anchor,
                    text: words.clone(),
                    weight,
                    size: place.unit * to_f32(*size),
                    color: ink(*role),
                    width: f32::INFINITY,
                });
            }
            Drawn::Rect { at, size, role, said } => {
                let area = place.area(*at, *size);
                if *role != Role::Ground {
                    bar(plane, area, ink(*role));
                }
                if !said.is_empty() {
                    said_at.push((area, said.clone()));
                }
            }
            Drawn::Spot { at, size, said } => said_at.push((place.area(*at, *size), said.clone())),
            Drawn::Line { points, role, width, dashed } => {
                let (width, color) = ((place.unit * to_f32(*width)).max(1.0), ink(*role));
                let straight = matches!(points[..], [from, to] if from.0 == to.0 || from.1 == to.1);
                // What runs along an axis lies below what follows it, as bars do.
                for [from, to] in if straight { pieces(points, *dashed) } else { Vec::new() } {
                    let half = 0.5 * width;
                    let [from, to] = [place.at(from), place.at(to)];
                    let across = if from.y == to.y { [0.0, half] } else { [half, 0.0] };
                    let [x, y] = across;
                    bar(plane, Rect::from_min_max(pos2(from.x - x, from.y - y), pos2(to.x + x, to.y + y)), color);
                }
                if !straight {
                    plane.lines.push(Line { points: points.iter().map(|at| place.at(*at)).collect(), width, color });
                }
            }
            Drawn::Columns { edges, borders, role } => {
                for (pair, (top, bottom)) in edges.windows(2).zip(borders) {
                    if bottom > top {
                        bar(plane, place.area((pair[0], *top), (pair[1] - pair[0], bottom - top)), ink(*role));
                    }
                }
            }
            Drawn::Sector { at, radii: (inner, outer), turns, role, said } => {
                let points = arc(*at, 0.5 * (inner + outer), *turns).into_iter().map(|at| place.at(at)).collect();
                plane.lines.push(Line { points, width: place.unit * to_f32(outer - inner), color: ink(*role) });
                if !said.is_empty() {
                    // Piece by piece, as rectangles.
                    for piece in arc(*at, 0.5 * (inner + outer), *turns).windows(2) {
                        let half = 0.5 * (outer - inner);
                        let [(a, b), (c, d)] = [piece[0], piece[1]];
                        let corner = (a.min(c) - 0.7 * half, b.min(d) - 0.7 * half);
                        let size = ((a - c).abs() + 1.4 * half, (b - d).abs() + 1.4 * half);
                        said_at.push((place.area(corner, size), said.clone()));
                    }
                }
            }
            Drawn::Dot { at, radius, role, said } => {
                // A ring of half the radius, as wide as that radius, is a disc.
                let corner = |n: usize| {
                    let turn = std::f64::consts::TAU * n as f64 / CORNERS as f64;
                    place.at((at.0 + 0.5 * radius * turn.cos(), at.1 + 0.5 * radius * turn.sin()))
                };
                let points = (0..=CORNERS).map(corner).collect();
                plane.lines.push(Line { points, width: place.unit * to_f32(*radius), color: ink(*role) });
                let (corner, side) = ((at.0 - radius, at.1 - radius), (2.0 * radius, 2.0 * radius));
                said_at.push((place.area(corner, side), said.clone()));
            }
        }
    }
    said_at
}

/// A line along an axis, or the dashes that it is made of; from the left, from above.
fn pieces(points: &[At], dashed: bool) -> Vec<[At; 2]> {
    let &[a, b] = points else { return Vec::new() };
    let (from, to) = if (a.0, a.1) <= (b.0, b.1) { (a, b) } else { (b, a) };
    if !dashed {
        return vec![[from, to]];
    }
    let length = (to.0 - from.0) + (to.1 - from.1);
    let on = |n: f64| {
        let share = (n / length).clamp(0.0, 1.0);
        (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1))
    };
    let mut dashes = Vec::new();
    let mut n = 0.0;
    while n < length {
        dashes.push([on(n), on(n + DASH[0])]);
        n += DASH[0] + DASH[1];
    }
    dashes
}

/// Draws a chart that fills a picture of `unit` pixels a unit.
pub fn paint(painter: &Painter, chart: &Chart, unit: f32) {
    let theme = chart.theme();
    let place = Place { corner: Pos2::ZERO, unit };
    let [width, height] = chart.size();
    painter.rect_filled(place.area((0.0, 0.0), (width, height)), 0.0, color(Role::Ground.color(theme)));
    let mut plane = Plane::default();
    put(&mut plane, chart, place, theme, &RegionColors::default());
    // Whole columns of pixels: neighbours leave no seam between them.
    let mut bars = Mesh::default();
    for Bar { sides: [left, top, right, bottom], color: ink } in &plane.bars {
        let (from, to) = (left.round(), right.round());
        let area = Rect::from_min_max(
            pos2(from, *top),
            pos2(if right - left > 0.5 { to.max(from + 1.0) } else { to }, *bottom),
        );
        bars.add_colored_rect(area, color(*ink));
    }
    painter.add(Shape::mesh(bars));
    for Line { points, width, color: ink } in plane.lines {
        painter.add(Shape::line(points, Stroke::new(width, color(ink))));
    }
    let pen = Pen::new(painter, 1.0);
    for Words { at, anchor, text, weight, size, color, .. } in &plane.words {
        pen.text(*at, *anchor, text, *weight, *size, *color);
    }
}
