//! A flat picture: rectangles and words at places in a target, for exhibits that are no rings. Plain values, made without a font
//! or a GPU.

use super::fonts::Weight;
use super::info::Info;
use super::layout::{Layout, Parts};
use super::pen::{Drawn, Pen, Target, color};
use super::strip::{Strip, draw_strip};
use crate::render::Bar;
use crate::scene::palette::Rgba;
use egui::{Align2, Painter, Pos2, Rect, Shape, Stroke};

/// Words at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Words {
    /// The place, pixels of the target.
    pub at: Pos2,
    /// Which side of the words is there.
    pub anchor: Align2,
    /// The words.
    pub text: String,
    /// Their weight.
    pub weight: Weight,
    /// Their size, pixels.
    pub size: f32,
    /// Their colour.
    pub color: Rgba,
    /// Where they end with an ellipsis, pixels from `at`; infinite = never. Of words that stand left of `at` it must be infinite.
    pub width: f32,
}

/// A line through some places.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The places, pixels of the target.
    pub points: Vec<Pos2>,
    /// Its width, pixels.
    pub width: f32,
    /// Its colour.
    pub color: Rgba,
}

/// See the module. What is out of sight is left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plane {
    /// Rectangles, pixels of the target; they are under the words.
    pub bars: Vec<Bar>,
    /// Lines over the rectangles and under the words.
    pub lines: Vec<Line>,
    /// Words.
    pub words: Vec<Words>,
    /// What is seen through a window in it: bars, lines and words that end at its sides.
    pub inset: Option<Box<(Rect, Plane)>>,
    /// Where rows are that can be clicked, and what they are about.
    pub rows: Vec<(Rect, Target)>,
    /// Where a drag across goes through the rows that are there.
    pub sliders: Vec<Rect>,
    /// Where a place across stands for one in the part of the trace that the strip shows.
    pub times: Vec<Rect>,
    /// There the wheel goes closer in time and a drag moves on in it; else a press moves the playhead.
    pub zooms: bool,
    /// Pixels of one unit of [`Camera::at`](crate::scene::Camera).
    pub unit: f32,
    /// How far it can be scrolled down, in that unit.
    pub depth: f32,
    /// How far it is.
    pub down: f32,
}

/// Draws a plane, and the strip where it is shown; gives what goes under the words.
pub(super) fn draw_plane(
    painter: &Painter,
    plane: &Plane,
    layout: &Layout,
    parts: &Parts,
    info: &Info,
    strip: &Strip,
) -> Drawn {
    let above = Rect { max: egui::pos2(layout.area.right(), layout.strip.top()), ..layout.area };
    let clipped = painter.with_clip_rect(above.intersect(painter.clip_rect()));
    lines_and_words(&clipped, plane);
    let mut drawn = Drawn { bars: plane.bars.clone(), rows: plane.rows.clone() };
    if let Some((window, within)) = plane.inset.as_deref() {
        let window = window.intersect(above);
        lines_and_words(&clipped.with_clip_rect(window.intersect(clipped.clip_rect())), within);
        drawn.bars.extend(within.bars.iter().filter_map(|bar| cut(*bar, window)));
    }
    if parts.strip {
        let pen = Pen::new(painter, layout.type_scale);
        draw_strip(&pen, layout, info, strip, false);
        drawn.bars.extend(pen.into_drawn().bars);
    }
    drawn
}

/// What of a bar is within a window.
fn cut(bar: Bar, window: Rect) -> Option<Bar> {
    let [left, top, right, bottom] = bar.sides;
    let area = Rect { min: egui::pos2(left, top), max: egui::pos2(right, bottom) }.intersect(window);
    area.is_positive().then_some(Bar { sides: [area.left(), area.top(), area.right(), area.bottom()], ..bar })
}

fn lines_and_words(painter: &Painter, plane: &Plane) {
    for Line { points, width, color: ink } in &plane.lines {
        painter.add(Shape::line(points.clone(), Stroke::new(*width, color(*ink))));
    }
    let pen = Pen::new(painter, 1.0);
    for words in &plane.words {
        let Words { at, anchor, text, weight, size, color, width } = words;
        if width.is_finite() {
            pen.fitted(*at, text, *width, *weight, *size, *color);
        } else {
            pen.text(*at, *anchor, text, *weight, *size, *color);
        }
    }
}
