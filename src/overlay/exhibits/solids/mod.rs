//! An array's elements as solids over a plane, seen by a camera that goes round them: heights are accesses in a window of slices of time.
//!
//! ```text
//! large[64][65]: local minus remote accesses       reads  -63 |####----####| 63      head, with scales
//! slices 0 to 40 of 64                             writes ...
//!              ___
//!   40 |   ___/   \__                              body: solids, names of axes round them
//!    0 |__/__________\__
//! ```
//!
//! [`Camera::at`] counts degrees from the usual place, round and up ([`Orbit::of`]); [`Camera::zoom`] is a longer lens. A drag turns, the
//! wheel goes closer.

mod choices;
mod counted;
mod ends;
mod iso;
mod memo;
mod scatter;
mod tube;
mod words;

use super::sheet::Sheet;
use super::{Chosen, Exhibit, Gesture, Picture};
use crate::overlay::fonts::Weight;
use crate::overlay::info::Info;
use crate::overlay::layout::Layout;
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::Tip;
use crate::reference::SourceError;
use crate::scene::palette;
use crate::scene::solids::mesh::Point;
use crate::scene::solids::{Form, Ground, Measure, Mesh, Orbit, Sight, frame, plane};
use crate::scene::{Camera, View};
use choices::{FORM, MEASURE, measured};
use counted::{Counted, NoCounts, Wanted};
use egui::{Pos2, Rect, pos2, vec2};
use memo::Memo;
use words::{Axes, Head, Scale, name_axes};

pub use counted::refused;
pub use iso::IsoExhibit;
pub use scatter::ScatterExhibit;
pub use tube::TubeExhibit;

/// See the module.
#[derive(Default)]
pub struct PlaneExhibit {
    /// What was counted for the picture that was taken last.
    counted: Option<Counted>,
    shape: Option<plane::Shape>,
    memo: Memo,
}

/// Type, pixels, where it is not scaled.
const EM: f32 = 14.0;
/// Ems around everything; left free for names at the sides of solids, and below.
const MARGIN: f32 = 1.0;
const NAMES: [f32; 2] = [5.0, 1.5];
/// How much closer one can look.
pub(super) const CLOSEST: f32 = 40.0;
/// Degrees for a pixel of a drag.
const TURN: f32 = 0.4;

impl Exhibit for PlaneExhibit {
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
        let look = &*view.solids;
        self.counted = None;
        let counted =
            match Counted::of(studio, look, info.tick, Wanted { latest: usize::MAX, dimensions: 2, by_core: false })? {
                Ok(counted) => counted,
                Err(why) => {
                    notice(&mut sheet, &why);
                    return Ok((Picture::Plane(sheet.plane), info));
                }
            };
        let heights = counted.heights(look, &mut self.memo);
        let colored = counted.colors(look, &mut self.memo);
        let ground = Ground::of(&heights);
        let inner = sight.shrink(MARGIN * em);
        // Room for names is found before it is known how large the solids become.
        let most = plane::largest(&heights);
        let scale = |words: &'static str, down: bool| Scale {
            words,
            ends: [if heights.signed { -most } else { 0.0 }, most],
            unit: "",
            color: Box::new(move |n| plane::color(n, most, down, heights.signed)),
        };
        let by = colored.as_ref().map(|(measure, numbers)| {
            let most = numbers.iter().fold(0.0, |most: f64, n| most.max(n.abs()));
            (*measure == Measure::Difference, most, &numbers[..])
        });
        let scales = match (look.measure, &colored) {
            (_, Some((measure, _))) => {
                let (signed, most) = by.map_or((false, 0.0), |(signed, most, _)| (signed, most));
                let color = Box::new(move |n| plane::color(n, most, false, signed));
                vec![Scale { words: measure.what(), ends: [if signed { -most } else { 0.0 }, most], unit: "", color }]
            }
            (Measure::Difference, None) => vec![scale("reads, up", false), scale("writes, down", true)],
            (measure, None) => vec![scale(measure.what(), false)],
        };
        let height = if colored.is_some() { "height: " } else { "" };
        let choices = vec![(format!("{height}{}", measured(look)), MEASURE)];
        let mut head = Head { title: counted.title(&info.title, true), choices, when: counted.told(look), scales };
        let top = head.height(inner, em);
        let note = counted.note(look);
        let below = if note.is_some() { 1.2 } else { 0.0 };
        let body = Rect::from_min_max(
            pos2(inner.left() + NAMES[0] * em, top + 0.3 * em),
            pos2(inner.right() - NAMES[0] * em, inner.bottom() - (NAMES[1] + below) * em),
        );
        let line = (layout.area.height() / 720.0).clamp(0.6, 4.0);
        let place = [body.left(), body.top(), body.right(), body.bottom().max(body.top() + em)];

        let seen = sight_of(ground.bounds(), view, place);
        let shape = look.form.chosen(seen.scale([0.0; 3]) * ground.side() / em, &heights);
        let mut mesh = Mesh::default();
        let names = frame::add(&mut mesh, &ground, &seen, em, heights.signed);
        plane::add(&mut mesh, &heights, &ground, shape, by);
        signs(studio, &mut mesh, &ground, (&counted, view, &info))?;
        let chosen = if look.form == Form::Auto {
            format!("{}, as there is room", shape.form.name())
        } else {
            shape.form.name().into()
        };
        head.choices.push((chosen, FORM));
        head.choices.extend(choices::common(&counted, look, view.camera));
        head.fill(&mut sheet, inner);
        if view.camera.zoom <= 1.0 + 1e-3 || names.len() < 400 {
            let told = if heights.signed { ["reads, up", "writes, down"] } else { [""; 2] };
            let axes = Axes { heights: told, ..Axes::of(&counted) };
            name_axes(&mut sheet, &names, &seen, &axes, top);
        }
        if let Some(note) = note {
            say(&mut sheet, inner, &note);
        }
        let facets = seen.see(&mesh, line, [sight.left(), top, sight.right(), sight.bottom()]);
        (self.counted, self.shape) = (Some(counted), Some(shape));
        Ok((Picture::Solids(facets, sheet.plane), info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        let (facets, counted) = (taken.picture.solids()?, self.counted.as_ref()?);
        counted.tip(studio, taken, counted.element(facets.find([at.x, at.y])? as usize)?)
    }

    fn look(&self, camera: Camera, gesture: Gesture, _: &Taken) -> Camera {
        turned(camera, gesture)
    }

    fn choose(&self, column: u8, view: &View) -> Option<Chosen> {
        choices::chosen(column, view, true)
    }

    fn csv(&self, _: &Studio, _: &Taken) -> String {
        self.counted.as_ref().map(Counted::csv).unwrap_or_default()
    }
}

/// The camera of solids after a gesture: a drag goes round them, the wheel closer.
pub(super) fn turned(camera: Camera, gesture: Gesture) -> Camera {
    let closer = |by: f32| Camera { zoom: (camera.zoom * by).clamp(1.0, CLOSEST), ..camera };
    match gesture {
        Gesture::Closer(by, _) => closer(by),
        Gesture::Wheel(by, _) => closer((by / 400.0).exp()),
        Gesture::Drag(by) => {
            let at = Orbit::of(camera.at).turned(-TURN * by.x, TURN * by.y).at();
            Camera { at, ..camera }
        }
        Gesture::Whole => Camera::default(),
    }
}

/// How a box is seen in an area.
fn sight_of(bounds: [Point; 2], view: &View, area: [f32; 4]) -> Sight {
    Sight::projected(bounds, (Orbit::of(view.camera.at), view.solids.projection), view.camera.zoom, area)
}

/// Writes what one has to know below everything.
fn say(sheet: &mut Sheet, inner: Rect, note: &str) {
    let at = pos2(inner.left(), inner.bottom() - 1.2 * sheet.em);
    sheet.left(at, note, Weight::Regular, 0.9, palette::TEXT_QUIET, inner.width());
}

/// Says why there is nothing to show.
fn notice(sheet: &mut Sheet, why: &NoCounts) {
    let lines = why.lines();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    sheet.notice(&lines, 1.6);
}

/// What is pinned, and what the reference under way touches, as frames on the plane.
fn signs(
    studio: &Studio,
    mesh: &mut Mesh,
    ground: &Ground,
    (counted, view, info): (&Counted, &View, &Info),
) -> Result<(), SourceError> {
    for (addr, ink) in counted.marked(studio, view, info.tick)? {
        let Some(region) = studio.tables().regions.get(counted.grid.of.region) else { continue };
        let Some([row, column]) = counted.cell_of(region, addr) else { continue };
        let [x, z] = ground.at(row, column);
        let half = ground.pitch.map(|side| 0.5 * side.max(0.03));
        let corner = |n: usize| {
            let (right, near) = (matches!(n % 4, 1 | 2), matches!(n % 4, 2 | 3));
            [if right { x + half[0] } else { x - half[0] }, 0.0, if near { z + half[1] } else { z - half[1] }]
        };
        for n in 0..4 {
            mesh.wire([corner(n), corner(n + 1)], 2.4, ink);
        }
        if ink == palette::BURST {
            let [low, top] = ground.bounds();
            mesh.wire([[x, low[1], z], [x, top[1], z]], 1.6, ink);
        }
    }
    Ok(())
}

/// A gap between parts of the head, ems.
const GAP: f32 = 1.4;

/// The room of a scale of colours.
fn scale_room(inner: Rect, em: f32) -> egui::Vec2 {
    vec2((8.5 * em).min(inner.width()), 3.6 * em)
}

#[cfg(test)]
mod tests;
