//! An array of three dimensions as isosurfaces: see [`crate::scene::solids::iso`]. They are of 8 slices before the playhead, so that they
//! move while a trace plays, or of those that are asked for. Their values stay while it plays: those that lie evenly do so between the
//! least and the largest number of any window as long.

use super::choices::{self, MEASURE, VALUES, measured};
use super::counted::{Counted, INTERVAL, Wanted};
use super::ends::Ends;
use super::memo::Memo;
use super::words::{Axes, Head, Scale, name_axes, plain};
use super::{EM, MARGIN, NAMES, notice, say, sight_of, turned};
use crate::overlay::exhibits::sheet::Sheet;
use crate::overlay::exhibits::{Chosen, Exhibit, Gesture, Picture};
use crate::overlay::info::Info;
use crate::overlay::layout::Layout;
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::Tip;
use crate::reference::SourceError;
use crate::scene::solids::Ground;
use crate::scene::solids::iso::{self, Field, Patch};
use crate::scene::solids::{Measure, Mesh, SolidLook, frame, plane};
use crate::scene::{Camera, View, palette};
use egui::{Pos2, Rect, pos2};

/// See the module.
#[derive(Default)]
pub struct IsoExhibit {
    /// What was counted for the picture that was taken last, and by which measure it was drawn.
    counted: Option<(Counted, Measure)>,
    memo: Memo,
    ends: Ends,
    /// The surfaces that were drawn last, and of what: as long as only the camera goes, they are put in order alone.
    drawn: Option<(Field, Vec<f64>, Vec<Patch>)>,
}

/// Why an array has no surfaces.
fn unfit(counted: &Counted, ends: [f64; 2]) -> Option<[String; 3]> {
    let blocks = &counted.grid.blocks;
    let name = &counted.array;
    let wanted = "Isosurfaces are of an array with three dimensions, two elements or more along each.".to_owned();
    let other = "--array NAME takes another one; --view plane shows this one.".to_owned();
    if blocks.len() != 3 {
        let found = if blocks.len() == 1 { "one dimension" } else { "two dimensions" };
        let found = match counted.grid.fixed.iter().flatten().count() {
            0 => format!("{name}: it has {found}."),
            _ => format!("{name}: of what --elements takes, {found} is left.")
                .replace("two dimensions is", "two dimensions are"),
        };
        return Some([found, wanted, other]);
    }
    if blocks.iter().any(|extent| *extent < 2) {
        return Some([format!("{name}: one of its dimensions has one element."), wanted, other]);
    }
    (ends[0] >= ends[1]).then(|| {
        let found = match plain(ends[0]).as_str() {
            "0" => "nothing of it is counted".to_owned(),
            number => format!("{number} is counted of each element"),
        };
        [
            format!("{name}: {found}, so no surface lies between elements."),
            "Surfaces are where numbers of neighbours differ.".to_owned(),
            "--measure WHAT counts something else, --slice FROM..TO at another time.".to_owned(),
        ]
    })
}

impl Exhibit for IsoExhibit {
    fn history(&self, _: &View) -> u64 {
        0
    }

    fn frame(
        &mut self,
        studio: &mut Studio,
        shot: &Shot,
        view: &View,
        layout: &Layout,
    ) -> Result<(Picture, Info), SourceError> {
        let mut info = shot.strip_info(studio);
        info.dress(view);
        let sight = Rect::from_min_max(layout.area.min, pos2(layout.area.right(), layout.strip.top()));
        let em = EM * layout.type_scale;
        let mut sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
        let look = SolidLook { color: None, ..(*view.solids).clone() };
        self.counted = None;
        let counted =
            match Counted::of(studio, &look, info.tick, Wanted { latest: INTERVAL, dimensions: 3, by_core: false })? {
                Ok(counted) => counted,
                Err(why) => {
                    notice(&mut sheet, &why);
                    return Ok((Picture::Plane(sheet.plane), info));
                }
            };
        let ends = self.ends.of(&counted, &look, INTERVAL, |window| counted.numbers_of(None, look.measure, window));
        if let Some(lines) = unfit(&counted, ends) {
            sheet.notice(&[&lines[0], &lines[1], &lines[2]], 1.6);
            return Ok((Picture::Plane(sheet.plane), info));
        }
        let signed = look.measure == Measure::Difference;
        let most = ends[0].abs().max(ends[1].abs());
        let scale = Scale {
            words: if signed { "remote, local" } else { look.measure.what() },
            ends: [if signed { -most } else { 0.0 }, most],
            unit: "",
            color: Box::new(move |n| plane::color(n, most, false, signed)),
        };
        let values = look.isovalues.of(ends);
        let extents = [counted.grid.blocks[0], counted.grid.blocks[1], counted.grid.blocks[2]];
        let field = Field::new(extents, counted.numbers(look.measure, &counted.window, &mut self.memo).to_vec());
        let inner = sight.shrink(MARGIN * em);
        let told: Vec<String> = values.iter().map(|value| plain(*value)).collect();
        let mut choices = vec![(measured(&look), MEASURE), (format!("surfaces at {}", told.join(", ")), VALUES)];
        choices.extend(choices::common(&counted, &look, view.camera));
        let head =
            Head { title: counted.title(&info.title, false), choices, when: counted.told(&look), scales: vec![scale] };
        let top = head.height(inner, em);
        let note = note(&counted, &field, &values);
        let below = if note.is_some() { 1.2 } else { 0.0 };
        let body = [
            inner.left() + NAMES[0] * em,
            top + 0.3 * em,
            inner.right() - NAMES[0] * em,
            (inner.bottom() - (NAMES[1] + below) * em).max(top + em),
        ];
        let line = (layout.area.height() / 720.0).clamp(0.6, 4.0);
        let ground = field.ground();
        let seen = sight_of(ground.bounds(), view, body);
        let mut mesh = Mesh::default();
        let names = frame::add(&mut mesh, &ground, &seen, em, false);
        // The floor is of planes, not of zero.
        mesh.panes.clear();
        let drawn = self.drawn.take().filter(|(of, at, _)| *of == field && *at == values);
        let mut patches = drawn.map_or_else(|| field.surfaces(&values), |(_, _, patches)| patches);
        field.order(&mut patches, &values, iso::in_elements(&ground, seen.eye()));
        let ink =
            |value: f64| palette::fade(plane::color(value, most, false, signed), iso::cover(value / most.max(1e-9)));
        let colors: Vec<palette::Rgba> = values.iter().map(|value| ink(*value)).collect();
        iso::add(&mut mesh, &field, &ground, &patches, &colors);
        signs(studio, &mut mesh, &ground, (&counted, view, &info))?;
        head.fill(&mut sheet, inner);
        if view.camera.zoom <= 1.0 + 1e-3 || names.len() < 400 {
            let rows = Axes::of(&counted);
            let indices = [rows.indices[0], rows.indices[1], counted.index(2)];
            let axes = Axes { heights: ["plane", ""], indices, ..rows };
            name_axes(&mut sheet, &names, &seen, &axes, top);
        }
        if let Some(note) = note {
            say(&mut sheet, inner, &note);
        }
        let facets = seen.see(&mesh, line, [sight.left(), top, sight.right(), sight.bottom()]);
        self.drawn = Some((field, values, patches));
        self.counted = Some((counted, look.measure));
        Ok((Picture::Solids(facets, sheet.plane), info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        let (facets, (counted, measure)) = (taken.picture.solids()?, self.counted.as_ref()?);
        let block = facets.find([at.x, at.y])? as usize;
        let mut tip = counted.tip(studio, taken, block)?;
        let number = counted.numbers_of(None, *measure, &counted.window).get(block).copied().unwrap_or(0.0);
        tip.lines.insert(0, format!("{}: {}", measure.what(), plain(number)));
        Some(tip)
    }

    fn look(&self, camera: Camera, gesture: Gesture, _: &Taken) -> Camera {
        turned(camera, gesture)
    }

    fn choose(&self, column: u8, view: &View) -> Option<Chosen> {
        choices::chosen(column, view, true)
    }

    fn csv(&self, _: &Studio, _: &Taken) -> String {
        self.counted.as_ref().map(|(counted, _)| counted.csv_of_all()).unwrap_or_default()
    }
}

/// What one has to know to read the picture rightly.
fn note(counted: &Counted, field: &Field, values: &[f64]) -> Option<String> {
    let mut notes: Vec<String> = counted.notes();
    let [least, most] = field.ends();
    // A value below all numbers encloses all elements, one above them none.
    let missing: Vec<String> =
        values.iter().filter(|value| **value <= least || **value > most).map(|value| plain(*value)).collect();
    if !missing.is_empty() {
        let ends = format!("numbers here are {} to {}", plain(least), plain(most));
        notes.push(format!("no surface at {}: {ends}", missing.join(", ")));
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// What is pinned, and what the reference under way touches, as boxes round their elements.
fn signs(
    studio: &Studio,
    mesh: &mut Mesh,
    ground: &Ground,
    (counted, view, info): (&Counted, &View, &Info),
) -> Result<(), SourceError> {
    let [_, rows, columns] = [counted.grid.blocks[0], counted.grid.blocks[1], counted.grid.blocks[2]];
    for (addr, ink) in counted.marked(studio, view, info.tick)? {
        let Some(region) = studio.tables().regions.get(counted.grid.of.region) else { continue };
        let Some(block) = counted.block_of(region, addr) else { continue };
        let [x, z] = ground.at(block / columns % rows, block % columns);
        let y = ground.y((block / columns / rows) as f64);
        let half = 0.5 * ground.side().max(0.03);
        let corner = |n: usize| {
            let side = |bit: usize| if n >> bit & 1 == 0 { -half } else { half };
            [x + side(0), y + side(1), z + side(2)]
        };
        for n in 0..8usize {
            for bit in 0..3 {
                if n >> bit & 1 == 0 {
                    mesh.wire([corner(n), corner(n | 1 << bit)], 1.6, ink);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
