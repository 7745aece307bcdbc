//! An array as a scatter of glyphs: see [`crate::scene::solids::scatter`]. It is of 8 slices before the playhead, so that it slides while a
//! trace plays, or of those that are asked for. Its axis of heights stays while it plays.

use super::choices::{self, GLYPHS, MEASURE, amount, measured};
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
use crate::scene::solids::scale::Reach;
use crate::scene::solids::scatter::{self, Glyph};
use crate::scene::solids::{Glyphs, Ground, Measure, Mesh, SolidLook, frame, plane};
use crate::scene::{Camera, View, palette};
use crate::timeline::GridCounts;
use crate::units::to_f32;
use egui::{Pos2, Rect, pos2};
use std::ops::Range;
use std::sync::Arc;

/// See the module.
#[derive(Default)]
pub struct ScatterExhibit {
    /// What was counted for the picture that was taken last, and how it was drawn.
    counted: Option<(Counted, SolidLook, Vec<Glyph>)>,
    ends: Ends,
    memo: Memo,
}

/// What each element has by a measure in a window, by core that has glyphs of its own.
fn numbers(counted: &Counted, look: &SolidLook, measure: Measure, window: &Range<usize>) -> Vec<Vec<f64>> {
    let of = |core: usize| (look.glyphs == Glyphs::Processor).then_some(core);
    (0..cores(counted, look.glyphs)).map(|core| counted.numbers_of(of(core), measure, window)).collect()
}

/// Cores that have glyphs of their own.
fn cores(counted: &Counted, glyphs: Glyphs) -> usize {
    if glyphs == Glyphs::Processor { (counted.grid.cores as usize).max(1) } else { 1 }
}

/// What an element has in a window: of one core, or of all.
fn counts(counted: &Counted, look: &SolidLook, [core, drawn]: [usize; 2], window: &Range<usize>) -> GridCounts {
    let Some(block) = counted.element(drawn) else { return GridCounts::default() };
    match look.glyphs {
        Glyphs::Processor => counted.grid.counts_of(core, block, window.clone()),
        Glyphs::Owner | Glyphs::Local => counted.grid.counts(block, window.clone()),
    }
}

/// All glyphs: one where a number is not 0; and the largest of the numbers that colours tell, where they tell a measure.
fn glyphs(counted: &Counted, look: &SolidLook, memo: &mut Memo) -> (Vec<Glyph>, f64) {
    let elements = counted.rows * counted.columns;
    let all = cores(counted, look.glyphs);
    let mut list = |measure: Measure, core: usize| {
        let of = (look.glyphs == Glyphs::Processor).then_some(core);
        let key = (false, measure, look.aggregate, of, counted.window.clone());
        memo.of(&counted.grid, key, || counted.numbers_of(of, measure, &counted.window))
    };
    let numbers: Vec<Arc<[f64]>> = (0..all).map(|core| list(look.measure, core)).collect();
    let by: Option<Vec<Arc<[f64]>>> = look.color.map(|measure| (0..all).map(|core| list(measure, core)).collect());
    let most = by.iter().flatten().flat_map(|list| list.iter()).fold(0.0, |most: f64, n| most.max(n.abs()));
    let signed = look.color == Some(Measure::Difference);
    let mut glyphs = Vec::new();
    for drawn in 0..elements {
        for core in 0..all {
            let Some(element) = counted.element(drawn) else { continue };
            let number = look.kept(numbers[core].get(element).copied().unwrap_or(0.0));
            if number == 0.0 {
                continue;
            }
            let counts = counts(counted, look, [core, drawn], &counted.window);
            let owner = counted.element(drawn).and_then(|block| counted.grid.owners.get(block).copied().flatten());
            let color = match look.glyphs {
                _ if let Some(by) = &by => {
                    plane::color(by[core].get(element).copied().unwrap_or(0.0), most, false, signed)
                }
                Glyphs::Processor => palette::region(core),
                Glyphs::Owner => owner.map_or(palette::NEUTRAL, |core| palette::region(core.into())),
                Glyphs::Local => palette::owned(share(&counts), false),
            };
            let about = scatter::about(core, drawn, elements);
            let cell = [drawn / counted.columns, drawn % counted.columns];
            glyphs.push(Glyph { cell, of: [core, all], number, color, about });
        }
    }
    (glyphs, most)
}

/// Local minus remote accesses as a share of all, -1 to 1.
fn share(counts: &GridCounts) -> f32 {
    let local = counts.local_reads + counts.local_writes;
    to_f32(2.0 * local as f64 / counts.accesses().max(1) as f64 - 1.0)
}

/// What colours tell.
fn scale(glyphs: Glyphs, cores: u32) -> Scale {
    let words = match glyphs {
        Glyphs::Processor => "core that accessed",
        Glyphs::Owner => "core that owns",
        Glyphs::Local => {
            let color = Box::new(|percent| palette::owned(to_f32(percent / 100.0), false));
            return Scale { words: "remote, local", ends: [-100.0, 100.0], unit: "%", color };
        }
    };
    let last = f64::from(cores.max(1)) - 1.0;
    // A band for each core.
    let core = move |n: f64| (n / last.max(1e-9) * f64::from(cores.max(1))).clamp(0.0, last);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the number of cores")]
    let color = Box::new(move |n: f64| palette::region(core(n) as usize));
    Scale { words, ends: [0.0, last], unit: "", color }
}

impl Exhibit for ScatterExhibit {
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
        let measure = amount(view.solids.measure);
        let look = SolidLook { measure, ..(*view.solids).clone() };
        self.counted = None;
        let by_core = look.glyphs == Glyphs::Processor;
        let counted = match Counted::of(studio, &look, info.tick, Wanted { latest: INTERVAL, dimensions: 2, by_core })?
        {
            Ok(counted) => counted,
            Err(why) => {
                notice(&mut sheet, &why);
                return Ok((Picture::Plane(sheet.plane), info));
            }
        };
        let [_, most] =
            self.ends.of(&counted, &look, INTERVAL, |window| numbers(&counted, &look, measure, window).concat());
        let (glyphs, brightest) = glyphs(&counted, &look, &mut self.memo);
        let ground = Ground::over([counted.rows, counted.columns], Reach::of([most].into_iter()));
        let inner = sight.shrink(MARGIN * em);
        let told = match look.glyphs {
            Glyphs::Processor => "a glyph an element and core",
            Glyphs::Owner | Glyphs::Local => "a glyph an element",
        };
        let mut choices = vec![(format!("height: {}", measured(&look)), MEASURE), (told.to_owned(), GLYPHS)];
        choices.extend(choices::common(&counted, &look, view.camera));
        let scale = match look.color {
            Some(measure) => {
                let signed = measure == Measure::Difference;
                let color = Box::new(move |n| plane::color(n, brightest, false, signed));
                let least = if signed { -brightest } else { 0.0 };
                Scale { words: measure.what(), ends: [least, brightest], unit: "", color }
            }
            None => scale(look.glyphs, counted.grid.cores),
        };
        let head =
            Head { title: counted.title(&info.title, true), choices, when: counted.told(&look), scales: vec![scale] };
        let top = head.height(inner, em);
        let note = counted.note(&look);
        let below = if note.is_some() { 1.2 } else { 0.0 };
        let body = [
            inner.left() + NAMES[0] * em,
            top + 0.3 * em,
            inner.right() - NAMES[0] * em,
            (inner.bottom() - (NAMES[1] + below) * em).max(top + em),
        ];
        let line = (layout.area.height() / 720.0).clamp(0.6, 4.0);
        let seen = sight_of(ground.bounds(), view, body);
        let mut mesh = Mesh::default();
        let names = frame::add(&mut mesh, &ground, &seen, em, false);
        scatter::add(&mut mesh, &glyphs, &ground, seen.scale([0.0; 3]) * ground.side() / em);
        super::signs(studio, &mut mesh, &ground, (&counted, view, &info))?;
        head.fill(&mut sheet, inner);
        if view.camera.zoom <= 1.0 + 1e-3 || names.len() < 400 {
            let axes = Axes { heights: [measure.what(), ""], ..Axes::of(&counted) };
            name_axes(&mut sheet, &names, &seen, &axes, top);
        }
        if let Some(note) = note {
            say(&mut sheet, inner, &note);
        }
        let facets = seen.see(&mesh, line, [sight.left(), top, sight.right(), sight.bottom()]);
        self.counted = Some((counted, look, glyphs));
        Ok((Picture::Solids(facets, sheet.plane), info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        let (facets, (counted, look, glyphs)) = (taken.picture.solids()?, self.counted.as_ref()?);
        let [core, drawn] = scatter::told(facets.find([at.x, at.y])?, counted.rows * counted.columns);
        let mut tip = counted.tip(studio, taken, counted.element(drawn)?)?;
        let about = scatter::about(core, drawn, counted.rows * counted.columns);
        let number = glyphs.iter().find(|glyph| glyph.about == about).map_or(0.0, |glyph| glyph.number);
        let number = plain(number);
        let who = if look.glyphs == Glyphs::Processor { format!(" of core {core}") } else { String::new() };
        tip.lines.insert(0, format!("{}{who}: {number}", look.measure.what()));
        Some(tip)
    }

    fn look(&self, camera: Camera, gesture: Gesture, _: &Taken) -> Camera {
        turned(camera, gesture)
    }

    fn choose(&self, column: u8, view: &View) -> Option<Chosen> {
        choices::chosen(column, view, false)
    }

    fn csv(&self, _: &Studio, _: &Taken) -> String {
        let Some((_, look, glyphs)) = &self.counted else { return String::new() };
        let mut text = "row,column,core,number\n".to_owned();
        for glyph in glyphs {
            let core = if look.glyphs == Glyphs::Processor { glyph.of[0].to_string() } else { "all".into() };
            text.push_str(&format!("{},{},{core},{}\n", glyph.cell[0], glyph.cell[1], glyph.number));
        }
        text
    }
}

#[cfg(test)]
mod tests;
