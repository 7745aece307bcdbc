//! Words as vectors: what egui was told to draw, before it is made of triangles.

use super::curve::{circle, polygon, rectangle};
use super::{Ink, Item, Letters, Paint, Step, VectorError};
use crate::overlay::fonts::{Weight, is_right_to_left};
use egui::emath::{GuiRounding as _, Rot2};
use egui::epaint::{CircleShape, ClippedShape, ColorMode, PathShape, RectShape, TextShape};
use egui::{Color32, Pos2, Rect, Shape, Stroke, StrokeKind, pos2};

/// Draws egui's shapes into a list, points times `scale`.
pub(super) fn words(shapes: &[ClippedShape], scale: f32, items: &mut Vec<Item>) -> Result<(), VectorError> {
    let mut writer = WordsWriter { scale, items, clip: None };
    for ClippedShape { clip_rect, shape, .. } in shapes {
        let bounds = shape.visual_bounding_rect();
        if matches!(shape, Shape::Noop) || !clip_rect.intersects(bounds) {
            continue;
        }
        // Most stand well within: a clip that cuts nothing is none.
        writer.clip((!clip_rect.contains_rect(bounds)).then_some(*clip_rect));
        writer.shape(shape)?;
    }
    writer.clip(None);
    Ok(())
}

struct WordsWriter<'a> {
    scale: f32,
    items: &'a mut Vec<Item>,
    clip: Option<Rect>,
}

impl WordsWriter<'_> {
    fn clip(&mut self, clip: Option<Rect>) {
        if clip != self.clip {
            self.clip = clip;
            let sides = clip.map(|r| [r.left(), r.top(), r.right(), r.bottom()].map(|side| side * self.scale));
            self.items.push(Item::Clip(sides));
        }
    }

    fn shape(&mut self, shape: &Shape) -> Result<(), VectorError> {
        let refused = |found| Err(VectorError { found });
        match shape {
            Shape::Noop => {}
            Shape::Vec(shapes) => return shapes.iter().try_for_each(|shape| self.shape(shape)),
            Shape::Circle(circle) => self.circle(circle),
            Shape::LineSegment { points, stroke } => self.line(*points, *stroke),
            Shape::Path(path) => return self.path(path),
            Shape::Rect(rect) => return self.rect(rect),
            Shape::Text(text) => self.text(text),
            Shape::Ellipse(_) => return refused("an ellipse"),
            Shape::Band(_) => return refused("a band"),
            Shape::Mesh(_) => return refused("a mesh of triangles"),
            Shape::QuadraticBezier(_) | Shape::CubicBezier(_) => return refused("a curve of egui's own"),
            Shape::Callback(_) => return refused("what is drawn by a callback"),
        }
        Ok(())
    }

    fn at(&self, p: Pos2) -> Pos2 {
        pos2(p.x * self.scale, p.y * self.scale)
    }

    fn add(&mut self, steps: Vec<Step>, paint: Paint, color: Color32) {
        if color != Color32::TRANSPARENT {
            self.items.push(Item::Path { steps, paint, ink: ink(color) });
        }
    }

    fn circle(&mut self, CircleShape { center, radius, fill, stroke }: &CircleShape) {
        let (at, radius) = (self.at(*center), radius * self.scale);
        if *fill != Color32::TRANSPARENT {
            self.items.push(Item::Dot { at, radius, ink: ink(*fill) });
        }
        if !stroke.is_empty() {
            let width = stroke.width * self.scale;
            self.items.push(Item::Ring { at, radius, width, ink: ink(stroke.color) });
        }
    }

    fn line(&mut self, ends: [Pos2; 2], stroke: Stroke) {
        if stroke.is_empty() {
            return;
        }
        // What is upright or level stands on whole pixels, as egui has it.
        let [mut a, mut b] = ends;
        if a.x == b.x {
            stroke.round_center_to_pixel(self.scale, &mut a.x);
            b.x = a.x;
        }
        if a.y == b.y {
            stroke.round_center_to_pixel(self.scale, &mut a.y);
            b.y = a.y;
        }
        let steps = vec![Step::Move(self.at(a)), Step::Line(self.at(b))];
        self.add(steps, Paint::Stroke(stroke.width * self.scale), stroke.color);
    }

    fn path(&mut self, PathShape { points, closed, fill, stroke }: &PathShape) -> Result<(), VectorError> {
        let mut steps = polygon(points.iter().map(|p| self.at(*p)));
        self.add(steps.clone(), Paint::Fill, *fill);
        if stroke.width > 0.0 {
            let ColorMode::Solid(color) = stroke.color else {
                return Err(VectorError { found: "a line of changing colour" });
            };
            if !closed {
                steps.pop();
            }
            self.add(steps, Paint::Stroke(stroke.width * self.scale), color);
        }
        Ok(())
    }

    fn rect(&mut self, shape: &RectShape) -> Result<(), VectorError> {
        if shape.blur_width > 0.0 || shape.brush.is_some() || shape.angle != 0.0 {
            return Err(VectorError { found: "a rectangle that is blurred, turned or has a picture" });
        }
        let mut rect = shape.rect;
        if shape.round_to_pixels.unwrap_or(true) {
            if shape.stroke.is_empty() || shape.stroke_kind == StrokeKind::Outside {
                rect = rect.round_to_pixels(self.scale);
            } else if shape.stroke_kind == StrokeKind::Middle {
                for side in [&mut rect.min.x, &mut rect.min.y, &mut rect.max.x, &mut rect.max.y] {
                    shape.stroke.round_center_to_pixel(self.scale, side);
                }
            } else {
                rect = rect.round_to_pixels(self.scale);
            }
        }
        let steps = self.rounded(rect, f32::from(shape.corner_radius.nw));
        self.add(steps, Paint::Fill, shape.fill);
        if !shape.stroke.is_empty() {
            let by = match shape.stroke_kind {
                StrokeKind::Inside => -0.5,
                StrokeKind::Middle => 0.0,
                StrokeKind::Outside => 0.5,
            } * shape.stroke.width;
            let steps = self.rounded(rect.expand(by), f32::from(shape.corner_radius.nw) + by);
            self.add(steps, Paint::Stroke(shape.stroke.width * self.scale), shape.stroke.color);
        }
        Ok(())
    }

    /// A rectangle with round corners.
    fn rounded(&self, rect: Rect, corner: f32) -> Vec<Step> {
        let (min, max) = (self.at(rect.min), self.at(rect.max));
        let r = (corner * self.scale).min(0.5 * (max.x - min.x)).min(0.5 * (max.y - min.y));
        if r <= 0.0 {
            return rectangle([min.x, min.y, max.x, max.y]);
        }
        // The four quarters of a circle, apart.
        let quarter = |center: Pos2, n: usize| {
            let steps = circle(center, r);
            let start = match steps[n] {
                Step::Move(p) | Step::Curve(_, _, p) => p,
                _ => center,
            };
            (start, steps[n + 1])
        };
        let mut out = Vec::new();
        let corners = [
            pos2(max.x - r, max.y - r),
            pos2(min.x + r, max.y - r),
            pos2(min.x + r, min.y + r),
            pos2(max.x - r, min.y + r),
        ];
        for (n, center) in corners.into_iter().enumerate() {
            let (start, curve) = quarter(center, n);
            out.push(if n == 0 { Step::Move(start) } else { Step::Line(start) });
            out.push(curve);
        }
        out.push(Step::Close);
        out
    }

    // ---- text

    fn text(&mut self, shape: &TextShape) {
        let TextShape { pos, galley, fallback_color, override_text_color, opacity_factor, angle, .. } = shape;
        let turn = Rot2::from_angle(*angle);
        let origin = pos.round_to_pixels(self.scale);
        let job = &galley.job;
        // Which section a character is in: rows leave out line breaks and nothing else, but where a text was cut short.
        let mut byte = 0;
        // There is a glyph for each character, which for a mark over a letter says that letter: the text has what was written. Words
        // from right to left have more glyphs, in the order of the line.
        let written: Vec<char> = job.text.chars().filter(|c| *c != '\n').collect();
        let is_in_order = written.len() == galley.rows.iter().map(|placed| placed.row.glyphs.len()).sum::<usize>();
        let mut written = written.into_iter().filter(|_| is_in_order);
        for placed in &galley.rows {
            let row_at = origin + turn * placed.pos.to_vec2();
            let mut runs: Vec<(Color32, usize, Letters)> = Vec::new();
            for glyph in &placed.row.glyphs {
                let letter = written.next().unwrap_or(glyph.chr);
                // egui adds an empty glyph once more for each letter that is written from right to left.
                if is_right_to_left(letter) && glyph.advance_width == 0.0 && glyph.uv_rect.is_nothing() {
                    continue;
                }
                let section = job
                    .sections
                    .iter()
                    .position(|s| s.byte_range.start.0 <= byte && byte < s.byte_range.end.0)
                    .unwrap_or(job.sections.len().saturating_sub(1));
                byte += letter.len_utf8();
                let Some(format) = job.sections.get(section).map(|s| &s.format) else { continue };
                let color = match override_text_color {
                    Some(color) => *color,
                    None if format.color == Color32::PLACEHOLDER => *fallback_color,
                    None => format.color,
                };
                let goes_on = runs.last().is_some_and(|(c, s, _)| (*c, *s) == (color, section));
                if !goes_on {
                    // A line does not begin with a space.
                    if letter.is_whitespace() {
                        continue;
                    }
                    let letters = Letters {
                        at: self.at(row_at + turn * glyph.pos.to_vec2()),
                        angle: *angle,
                        size: format.font_id.size * self.scale,
                        weight: Weight::of(&format.font_id.family),
                        ink: ink(color.gamma_multiply(*opacity_factor)),
                        text: String::new(),
                        places: vec![0.0],
                    };
                    runs.push((color, section, letters));
                }
                let Some((.., letters)) = runs.last_mut() else { continue };
                let from = (turn.inverse() * (letters.at - self.at(row_at))).x;
                letters.text.push(letter);
                // A character begins where its glyph does, which may be closer to the last than that is wide.
                if let Some(last) = letters.places.last_mut() {
                    *last = glyph.pos.x * self.scale - from;
                }
                letters.places.push((glyph.pos.x + glyph.advance_width) * self.scale - from);
            }
            byte += usize::from(placed.ends_with_newline);
            for (.., mut letters) in runs {
                while letters.text.ends_with(char::is_whitespace) {
                    letters.text.pop();
                    letters.places.pop();
                }
                if letters.ink.opacity > 0.0 {
                    self.items.push(Item::Letters(letters));
                }
            }
        }
    }
}

/// A colour of egui's, which is premultiplied.
fn ink(color: Color32) -> Ink {
    let [r, g, b, a] = color.to_srgba_unmultiplied();
    Ink { color: [r, g, b], opacity: f32::from(a) / 255.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::fonts;
    use egui::{Align2, LayerId};

    /// The words of a drawing in which this is written.
    fn drawn(text: &str) -> String {
        let context = egui::Context::default();
        fonts::install(&context);
        let mut output = context.run_ui(egui::RawInput::default(), |ui| {
            let painter = ui.ctx().layer_painter(LayerId::background());
            painter.text(Pos2::ZERO, Align2::LEFT_TOP, text, Weight::Regular.at(14.0), Color32::WHITE);
        });
        output.textures_delta.clear();
        let mut items = Vec::new();
        words(&output.shapes, 1.0, &mut items).expect("text alone");
        let letters = items.iter().filter_map(|item| match item {
            Item::Letters(letters) => Some(letters.text.as_str()),
            _ => None,
        });
        letters.collect()
    }

    #[test]
    fn words_are_drawn_as_they_were_written() {
        for text in [
            "double a[7]",
            "x\u{302} + e\u{301}tat",
            "\u{928}\u{92e}\u{938}\u{94d}\u{924}\u{947}",
            "\u{43c}\u{438}\u{306}",
        ] {
            assert_eq!(drawn(text), text);
        }
    }
}
