//! Closer up, the whole picture once more, small: its rings, and the part of them that is seen.

use super::layout::Layout;
use super::pen::{Pen, color};
use crate::scene::layout::Rings;
use crate::scene::palette;
use egui::{Pos2, Rect, Stroke, StrokeKind, Vec2, pos2, vec2};

/// Radius of the small picture, pixels of type 1.
const RADIUS: f32 = 40.0;
/// Pixels between it and what stands beside it.
const GAP: f32 = 14.0;
/// The smaller side of a picture that has room for it, in its radii.
const ROOM: f32 = 7.0;

/// Draws it where a camera looks closer and there is room; where it stands.
pub(super) fn minimap(pen: &Pen<'_>, layout: &Layout, rings: &Rings) -> Option<Rect> {
    let (radius, gap) = (RADIUS * pen.t, GAP * pen.t);
    let free = free(layout);
    if !layout.close || free.width().min(free.height()) < ROOM * radius {
        return None;
    }
    let center = free.max - vec2(radius + 2.0 * gap, radius + gap);
    let at = |world: [f32; 2]| center + vec2(world[0], world[1]) * radius;
    let line = |strength: f32| Stroke::new(1.0_f32.max(0.8 * pen.t), color(palette::fade(palette::GUIDE, strength)));
    pen.painter.circle_filled(center, radius * 1.06, color(palette::fade(palette::BACKGROUND, 0.95)));
    pen.painter.circle_stroke(center, radius * rings.rim, line(0.75));
    for ring in &rings.rings {
        pen.painter.circle_stroke(center, radius * ring.r1, line(0.45));
    }
    pen.painter.circle_filled(center, (radius * rings.cpu).max(1.5), color(palette::LIGHT));
    let seen = Rect::from_two_pos(at(world(layout, free.min)), at(world(layout, free.max)));
    let place = Rect::from_center_size(center, Vec2::splat(2.12 * radius));
    // A part that would be a point is a small square.
    let seen = Rect::from_center_size(seen.center(), seen.size().max(Vec2::splat(5.0 * pen.t)));
    let stroke = Stroke::new(1.4 * pen.t, color(palette::LIGHT));
    pen.painter.rect_stroke(seen.intersect(place), 1.0, stroke, StrokeKind::Middle);
    Some(place)
}

/// The part of a picture in which rings are seen beside words.
fn free(layout: &Layout) -> Rect {
    let bottom = if layout.upright() { layout.tables.top() } else { layout.strip.top() };
    let (left, right) = if layout.upright() {
        (layout.area.left(), layout.area.right())
    } else {
        (layout.left.right(), layout.right.left())
    };
    let top = if layout.upright() { layout.left.bottom() } else { layout.area.top() };
    Rect::from_min_max(pos2(left, top), pos2(right, bottom.max(top)))
}

fn world(layout: &Layout, at: Pos2) -> [f32; 2] {
    layout.viewport.world_from_px([at.x, at.y])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Position;
    use crate::overlay::tests::studio;
    use crate::overlay::{Parts, Picture, RingExhibit, Shot};
    use crate::scene::{Camera, Composition, View};

    /// Where the small picture stands in a picture of this size, looked at from so close.
    fn place(size: [u32; 2], zoom: f32) -> Option<Rect> {
        let mut studio = studio();
        let mut rings = RingExhibit::new(&studio, Composition::Dots);
        let camera = if zoom > 1.0 { Camera { at: [0.3, 0.2], zoom } } else { Camera::default() };
        let view = View { camera, ..View::default() };
        let shot = Shot::still(size, Position::at(700), view, Parts::default());
        let taken = shot.take(&mut studio, &mut rings).expect("in memory");
        let Picture::Rings(scene) = &taken.picture else { panic!("rings were asked for") };
        let egui = egui::Context::default();
        crate::overlay::fonts::install(&egui);
        let mut found = None;
        let mut output = egui.run_ui(egui::RawInput::default(), |ui| {
            let painter = ui.ctx().layer_painter(egui::LayerId::background());
            found = minimap(&Pen::new(&painter, taken.layout.type_scale), &taken.layout, &scene.rings);
        });
        output.textures_delta.clear();
        let layout = taken.layout;
        if let Some(place) = found {
            assert!(layout.area.contains_rect(place) && place.bottom() <= layout.strip.top(), "{place:?}");
            assert!(layout.upright() || place.right() <= layout.right.left(), "{place:?} lies on the legend");
        }
        found
    }

    #[test]
    fn it_stands_beside_the_words_closer_up_and_only_where_there_is_room() {
        for size in [[1280, 720], [1024, 640], [800, 1100], [3840, 2160]] {
            assert!(place(size, 4.0).is_some(), "{size:?}");
            assert_eq!(place(size, 1.0), None, "{size:?}: all of it is seen");
        }
        assert_eq!(place([320, 240], 4.0), None);
    }
}
