//! Pictures that were taken, and what is written over them, as one drawing.

use super::curve::rectangle;
use super::scene::{SceneWriter, ink};
use super::solids::solids;
use super::themed::turn;
use super::words::words;
use super::{Drawing, Item, Paint, VectorError};
use crate::overlay::compose::{Lettered, Sheet};
use crate::overlay::fonts;
use crate::scene::palette::{self, Theme};
use egui::Rect;

/// Draws a sheet that was laid out in points, each of which is `scale` of the `space`, in a theme.
///
/// # Errors
/// Where the words hold a shape that is none of vectors.
pub fn drawing(sheet: &Sheet<'_>, (space, scale): ([u32; 2], f32), theme: Theme) -> Result<Drawing, VectorError> {
    let egui = egui::Context::default();
    fonts::install(&egui);
    let Lettered { bars, mut output } = sheet.letter(&egui, space, scale);
    // The pixels of letters are of no use to vectors.
    output.textures_delta.clear();
    let mut items = Vec::new();
    let is_alone = sheet.pictures.len() == 1;
    for ((taken, _), bars) in sheet.pictures.iter().zip(&bars) {
        let area = taken.layout.area * scale;
        let sight = if is_alone {
            Rect::from_min_size(egui::Pos2::ZERO, [space[0] as f32, space[1] as f32].into())
        } else {
            area
        };
        if !is_alone {
            items.push(Item::Clip(Some([area.left(), area.top(), area.right(), area.bottom()])));
        }
        if let Some(scene) = taken.picture.scene() {
            SceneWriter::new(scene, taken.layout.viewport.scaled(scale, space), sight, &mut items).draw();
        }
        if let Some(facets) = taken.picture.solids() {
            solids(facets, scale, &mut items);
        }
        for bar in bars {
            let [left, top, right, bottom] = bar.sides.map(|side| side * scale);
            if left < right && top < bottom && bar.color[3] > 0 {
                let steps = rectangle([left, top, right, bottom]);
                items.push(Item::Path { steps, paint: Paint::Crisp, ink: ink(bar.color, 1.0) });
            }
        }
        if !is_alone {
            items.push(Item::Clip(None));
        }
    }
    words(&output.shapes, scale, &mut items)?;
    let [r, g, b, _] = palette::BACKGROUND;
    let title = sheet.pictures.first().map(|(taken, _)| taken.info.title.clone()).unwrap_or_default();
    let size = space.map(|side| side as f32);
    let mut drawing = Drawing { space: size, size: space, ground: Some([r, g, b]), title, items };
    turn(&mut drawing, theme);
    Ok(drawing)
}
