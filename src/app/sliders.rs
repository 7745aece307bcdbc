//! Sliders in pictures: while one is dragged, the row of it that the pointer is at is followed, also where the pointer leaves it.

use crate::overlay::exhibits::Picture;
use crate::overlay::pen::Target;
use crate::overlay::shot::Taken;
use egui::{CursorIcon, Id, Rect, Sense, Ui};
use egui_tiles::TileId;

/// What a slider of this picture is dragged to. To be asked before the rows, which are pressed.
pub(super) fn slid(ui: &Ui, id: TileId, taken: Option<&Taken>) -> Option<Target> {
    let Picture::Plane(plane) = &taken?.picture else { return None };
    let mut to = None;
    for (number, slider) in plane.sliders.iter().enumerate() {
        let response = ui.interact(*slider, Id::unique(("slider", id, number)), Sense::drag());
        if !response.dragged() {
            continue;
        }
        ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
        // A pointer that rests asks for nothing anew.
        if response.drag_delta().x != 0.0 {
            to = response.interact_pointer_pos().and_then(|at| row_at(&plane.rows, *slider, at.x)).or(to);
        }
    }
    to
}

/// The row of a slider at a place across, or the one nearest to it.
fn row_at(rows: &[(Rect, Target)], slider: Rect, x: f32) -> Option<Target> {
    let own = rows.iter().filter(|(area, _)| slider.contains(area.center()));
    let far = |area: &Rect| (area.left() - x).max(x - area.right()).max(0.0);
    own.min_by(|(a, _), (b, _)| far(a).total_cmp(&far(b))).map(|(_, target)| *target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{pos2, vec2};

    #[test]
    fn a_drag_is_at_the_nearest_row_of_its_slider() {
        let row = |n: i64, y: u8| {
            let at = pos2(100.0 + 10.0 * n as f32, f32::from(y));
            (Rect::from_min_size(at, vec2(8.0, 10.0)), Target::Parameter(y, n))
        };
        let rows: Vec<(Rect, Target)> = (0..4).map(|n| row(n, 0)).chain((0..4).map(|n| row(n, 20))).collect();
        let slider = Rect::from_min_max(pos2(100.0, 20.0), pos2(140.0, 30.0));
        for (x, value) in [(0.0, 0), (104.0, 0), (111.0, 1), (138.5, 3), (900.0, 3)] {
            assert_eq!(row_at(&rows, slider, x), Some(Target::Parameter(20, value)), "{x}");
        }
        assert_eq!(row_at(&rows, Rect::from_min_size(pos2(0.0, 50.0), vec2(9.0, 9.0)), 3.0), None);
    }
}
