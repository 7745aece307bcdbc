//! An array's elements over time as a tube: see [`crate::scene::solids::tube`]. It is of 15 slices before the playhead, so that it slides
//! while a trace plays, or of those that are asked for.

use super::choices::{self, MEASURE, amount, measured};
use super::counted::{Counted, Wanted, left_out, of_block};
use super::ends::Ends;
use super::words::{Axes, Head, Scale, name_axes};
use super::{EM, MARGIN, NAMES, notice, say, sight_of, turned};
use crate::overlay::exhibits::sheet::Sheet;
use crate::overlay::exhibits::{Chosen, Exhibit, Gesture, Picture};
use crate::overlay::info::Info;
use crate::overlay::layout::Layout;
use crate::overlay::pen::Target;
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::{Tip, bytes_tip};
use crate::reference::SourceError;
use crate::scene::solids::tube::Tube;
use crate::scene::solids::{Measure, Mesh, SolidLook, plane};
use crate::scene::{Camera, View, palette};
use crate::timeline::Aggregate;
use crate::units::{ByteRange, grouped, to_f32};
use egui::{Pos2, Rect, pos2};
use std::ops::Range;

/// Slices before the playhead where nobody asks for others.
const LATEST: usize = 15;
/// Parts round the circle at most: neighbours are counted together from there on.
const MOST_PARTS: usize = 128;

/// See the module.
#[derive(Default)]
pub struct TubeExhibit {
    /// What was counted for the picture that was taken last.
    counted: Option<Rolled>,
    ends: Ends,
}

/// What was counted, round a circle.
struct Rolled {
    counted: Counted,
    tube: Tube,
    /// Blocks of the grid for a part.
    per: usize,
    /// Slices that are drawn: those of the window but for empty ones at its ends.
    slices: Range<usize>,
    /// The largest number that colours tell, where they tell a measure.
    brightest: f64,
}

/// Blocks of the grid for a part, and parts.
fn parts(counted: &Counted) -> [usize; 2] {
    let per = counted.grid.len().div_ceil(MOST_PARTS).max(1);
    [per, counted.grid.len().div_ceil(per)]
}

/// What each part has in a slice.
fn numbers(counted: &Counted, look: &SolidLook, measure: Measure, slice: usize) -> Vec<f64> {
    let ([per, parts], len) = (parts(counted), counted.grid.len());
    let all = counted.numbers_of(None, measure, &(slice..slice + 1));
    let number = |part: usize| {
        let blocks = part * per..((part + 1) * per).min(len);
        let own = all[blocks.clone()].iter().copied();
        match look.aggregate {
            Aggregate::Sum => own.sum(),
            Aggregate::Min => own.fold(f64::INFINITY, f64::min),
            Aggregate::Max => own.fold(f64::NEG_INFINITY, f64::max),
            Aggregate::Mean => {
                let elements = blocks.map(|block| counted.grid.elements_of(block) as f64);
                let (sum, many) = own.zip(elements).fold((0.0, 0.0), |(sum, many), (n, of)| (sum + n * of, many + of));
                if many > 0.0 { sum / many } else { 0.0 }
            }
        }
    };
    (0..parts).map(number).collect()
}

impl Rolled {
    fn new(counted: Counted, look: &SolidLook) -> Self {
        let (len, window) = (counted.grid.len(), counted.window.clone());
        let [per, parts] = parts(&counted);
        let colors: Option<Vec<Vec<f64>>> =
            look.color.map(|measure| window.clone().map(|slice| numbers(&counted, look, measure, slice)).collect());
        let brightest = colors.iter().flatten().flatten().fold(0.0, |most: f64, n| most.max(n.abs()));
        let row = |slice: usize| -> Vec<(f64, f32)> {
            let own = numbers(&counted, look, look.measure, slice);
            let part = |part: usize| {
                let number = look.kept(own[part]);
                if let Some(colors) = &colors {
                    return (number, to_f32(colors[slice - window.start][part] / brightest.max(1e-9)));
                }
                let (mut local, mut all) = (0, 0);
                for block in part * per..((part + 1) * per).min(len) {
                    let counts = counted.grid.counts(block, slice..slice + 1);
                    local += counts.local_reads + counts.local_writes;
                    all += counts.accesses();
                }
                let share = if all > 0 { to_f32(2.0 * local as f64 / all as f64 - 1.0) } else { 0.0 };
                (number, share)
            };
            (0..parts).map(part).collect()
        };
        let rows: Vec<Vec<(f64, f32)>> = window.clone().map(row).collect();
        let is_empty = |row: &Vec<(f64, f32)>| row.iter().all(|(number, _)| *number == 0.0);
        let first = rows.iter().take_while(|row| is_empty(row)).count();
        let last = rows.iter().rposition(|row| !is_empty(row)).map_or(first, |last| last + 1);
        let heat = look.color.is_some_and(|measure| measure != Measure::Difference);
        let tube = Tube::new(parts, rows[first..last].concat()).colored(look.color.map(|_| heat));
        Self { tube, per, slices: window.start + first..window.start + last, brightest, counted }
    }

    /// What one has to know to read the picture rightly.
    fn notes(&self, look: &SolidLook) -> Vec<String> {
        let window = &self.counted.window;
        let left_out = [self.slices.start - window.start, window.end - self.slices.end];
        let mut notes = Vec::new();
        match left_out {
            [0, 0] => {}
            [before, 0] => notes.push(format!("{before} empty at the start left out")),
            [0, after] => notes.push(format!("{after} empty at the end left out")),
            [before, after] => notes.push(format!("{before} empty at the start and {after} at the end left out")),
        }
        let elements = self.counted.grid.elements_a_block() * self.per as u64;
        if elements > 1 {
            let what = of_block(look.aggregate);
            notes.push(format!("a part of the circle stands for {} elements: {what}", grouped(elements)));
        }
        if self.counted.grid.cores < 2 {
            notes.push("all references are of one core, so every access is local".to_owned());
        }
        notes
    }
}

impl Exhibit for TubeExhibit {
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
        // A radius has no sign: colours tell who.
        let measure = amount(view.solids.measure);
        let look = SolidLook { measure, ..(*view.solids).clone() };
        self.counted = None;
        let rolled =
            match Counted::of(studio, &look, info.tick, Wanted { latest: LATEST, dimensions: 2, by_core: false })? {
                Ok(counted) => Rolled::new(counted, &look),
                Err(why) => {
                    notice(&mut sheet, &why);
                    return Ok((Picture::Plane(sheet.plane), info));
                }
            };
        // The axis of radii stays while the window slides.
        let rolled = match look.window {
            Some(_) => rolled,
            None => {
                let counted = &rolled.counted;
                let [_, most] = self.ends.of(counted, &look, 1, |slice| numbers(counted, &look, measure, slice.start));
                Rolled { tube: rolled.tube.reaching(most), ..rolled }
            }
        };
        let (tube, counted) = (&rolled.tube, &rolled.counted);
        if tube.slices < 2 || tube.parts < 3 {
            let found = match (tube.slices, tube.parts) {
                (0, _) => match look.threshold {
                    Some(least) if least > 0 => {
                        format!("{}: no element has {} or more in {}.", counted.array, grouped(least), counted.when())
                    }
                    _ => format!("{}: nothing is counted in {}.", counted.array, counted.when()),
                },
                (1, _) => format!("{}: all of it is in slice {}.", counted.array, rolled.slices.start),
                (_, 1) => format!("{}: one element is counted.", counted.array),
                (_, parts) => format!("{}: {parts} elements are counted.", counted.array),
            };
            sheet.notice(
                &[
                    &found,
                    "A tube has two slices of time or more, and three elements round it.",
                    "--slice FROM..TO takes others, --slices N cuts finer.",
                ],
                1.6,
            );
            return Ok((Picture::Plane(sheet.plane), info));
        }
        let inner = sight.shrink(MARGIN * em);
        let who = match look.color {
            Some(measure) => {
                let (most, signed) = (rolled.brightest, measure == Measure::Difference);
                let color = Box::new(move |n| plane::color(n, most, false, signed));
                Scale { words: measure.what(), ends: [if signed { -most } else { 0.0 }, most], unit: "", color }
            }
            None => Scale {
                words: "remote, local",
                ends: [-100.0, 100.0],
                unit: "%",
                color: Box::new(|percent| palette::owned(to_f32(percent / 100.0), false)),
            },
        };
        let mut choices = vec![(format!("radius: {}", measured(&look)), MEASURE)];
        choices.extend(choices::common(counted, &look, view.camera));
        let head =
            Head { title: counted.title(&info.title, false), choices, when: counted.told(&look), scales: vec![who] };
        let top = head.height(inner, em);
        let mut notes = rolled.notes(&look);
        notes.extend(left_out(&look));
        let below = if notes.is_empty() { 0.0 } else { 1.2 };
        let body = [
            inner.left() + NAMES[0] * em,
            top + 0.3 * em,
            inner.right() - NAMES[0] * em,
            (inner.bottom() - (NAMES[1] + below) * em).max(top + em),
        ];
        let line = (layout.area.height() / 720.0).clamp(0.6, 4.0);
        let seen = sight_of(tube.bounds(), view, body);
        let mut mesh = Mesh::default();
        let names =
            tube.frame(&mut mesh, &seen, em, rolled.slices.start, |part| counted.grid.first_element(part * rolled.per));
        tube.add(&mut mesh);
        if let Some(region) = studio.tables().regions.get(counted.grid.of.region) {
            for (addr, ink) in counted.marked(studio, view, info.tick)? {
                if let Some(block) = counted.block_of(region, addr) {
                    tube.mark(&mut mesh, block / rolled.per, ink);
                }
            }
        }
        head.fill(&mut sheet, inner);
        name_axes(
            &mut sheet,
            &names,
            &seen,
            &Axes { row: "element", column: "slice", heights: [measure.what(), ""], indices: [[0, 1]; 3] },
            top,
        );
        if !notes.is_empty() {
            say(&mut sheet, inner, &notes.join("; "));
        }
        let facets = seen.see(&mesh, line, [sight.left(), top, sight.right(), sight.bottom()]);
        self.counted = Some(rolled);
        Ok((Picture::Solids(facets, sheet.plane), info))
    }

    fn pick(&self, studio: &Studio, taken: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        let (facets, rolled) = (taken.picture.solids()?, self.counted.as_ref()?);
        let [part, slice] = rolled.tube.told(facets.find([at.x, at.y])?)?;
        let grid = &rolled.counted.grid;
        let region = studio.tables().regions.get(grid.of.region)?;
        let first = part * rolled.per;
        let last = (first + rolled.per).min(grid.len()) - 1;
        let from = rolled.counted.addresses(region, first)?[0];
        let to = rolled.counted.addresses(region, last)?[1];
        let bytes = ByteRange::new(from, u64::from(region.elem_bytes.max(1)));
        let mut tip = bytes_tip(studio, &taken.info.colors, bytes, taken.info.position.phase() > 0.0);
        if first != last || from != to {
            tip.title = format!("{} … {}", region.element_name(from), region.element_name(to));
            tip.lines.clear();
        }
        let slice = rolled.slices.start + slice;
        let sum = |of: &dyn Fn(&crate::timeline::GridCounts) -> u64| -> u64 {
            (first..=last).map(|block| of(&grid.counts(block, slice..slice + 1))).sum()
        };
        let local = sum(&|counts| counts.local_reads + counts.local_writes);
        let remote = sum(&|counts| counts.remote_reads + counts.remote_writes);
        let words = format!("slice {slice}: {} local, {} remote accesses", grouped(local), grouped(remote));
        tip.lines.splice(0..0, [words]);
        tip.about = Some(Target::Bytes(bytes));
        Some(tip)
    }

    fn look(&self, camera: Camera, gesture: Gesture, _: &Taken) -> Camera {
        turned(camera, gesture)
    }

    fn choose(&self, column: u8, view: &View) -> Option<Chosen> {
        choices::chosen(column, view, false)
    }

    fn csv(&self, _: &Studio, _: &Taken) -> String {
        let Some(rolled) = &self.counted else { return String::new() };
        let mut text = "slice,block,local,remote\n".to_owned();
        for slice in rolled.slices.clone() {
            for block in 0..rolled.counted.grid.len() {
                let counts = rolled.counted.grid.counts(block, slice..slice + 1);
                let (local, remote) =
                    (counts.local_reads + counts.local_writes, counts.remote_reads + counts.remote_writes);
                text.push_str(&format!("{slice},{block},{local},{remote}\n"));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Position;
    use crate::overlay::Parts;
    use crate::overlay::tests::studio;
    use std::sync::Arc;

    fn taken(exhibit: &mut TubeExhibit, size: [u32; 2], at: u64, window: Option<(u32, u32)>) -> Taken {
        let view = View { solids: Arc::new(SolidLook { window, ..SolidLook::default() }), ..View::default() };
        Shot::still(size, Position::at(at), view, Parts::default()).take(&mut studio(), exhibit).expect("in memory")
    }

    fn words(taken: &Taken) -> Vec<String> {
        taken.picture.plane().map(|plane| plane.words.iter().map(|w| w.text.clone()).collect()).unwrap_or_default()
    }

    #[test]
    fn the_window_slides_with_the_playhead_unless_slices_are_asked_for() {
        let mut exhibit = TubeExhibit::default();
        let mut slices = |at: u64, window: Option<(u32, u32)>| {
            let taken = taken(&mut exhibit, [900, 600], at, window);
            (exhibit.counted.as_ref().map(|rolled| rolled.slices.clone()), taken)
        };
        let (early, late) = (slices(500, None).0.expect("counted"), slices(900, None).0.expect("counted"));
        assert_eq!((early.len(), late.len()), (15, 15));
        assert!(early.start < late.start);
        let (asked, taken) = slices(900, Some((3, 9)));
        assert_eq!(asked, Some(3..9));
        assert!(taken.picture.solids().is_some());
        assert!(words(&taken).iter().any(|words| words.starts_with("slices 3 to 9 of 64")), "{:?}", words(&taken));
    }

    #[test]
    fn radii_stay_comparable_while_the_window_slides() {
        let mut exhibit = TubeExhibit::default();
        let mut reach = |at: u64| {
            taken(&mut exhibit, [900, 600], at, None);
            exhibit.counted.as_ref().map(|rolled| rolled.tube.reach)
        };
        let first = reach(500);
        assert!(first.is_some() && [reach(700), reach(900)].iter().all(|other| *other == first));
    }

    #[test]
    fn fewer_than_two_slices_are_no_tube_and_that_is_said() {
        for (at, window) in [(0, None), (900, Some((7, 8)))] {
            let taken = taken(&mut TubeExhibit::default(), [900, 600], at, window);
            assert!(taken.picture.solids().is_none());
            assert!(
                words(&taken).iter().any(|words| words.starts_with("A tube has two slices")),
                "{:?}",
                words(&taken)
            );
        }
    }

    #[test]
    fn a_place_tells_its_elements_and_its_slice() {
        let mut exhibit = TubeExhibit::default();
        for size in [[1280, 720], [640, 360], [320, 240]] {
            let taken = taken(&mut exhibit, size, 900, None);
            let facets = taken.picture.solids().expect("solids");
            assert!(facets.corners.iter().all(|c| c.at.iter().all(|v| v.is_finite())));
            let nearest = facets.each().filter(|(_, about)| *about != u32::MAX);
            let depth = |corners: &[crate::scene::solids::Seen; 3]| corners.iter().map(|c| c.depth).sum::<f32>();
            let (corners, _) = nearest.min_by(|(a, _), (b, _)| depth(a).total_cmp(&depth(b))).expect("one");
            let [x, y] = [0, 1].map(|n| corners.iter().map(|c| c.at[n]).sum::<f32>() / 3.0);
            let tip = exhibit.pick(&studio(), &taken, pos2(x, y), 4.0).expect("an element");
            assert!(tip.lines[0].starts_with("slice ") && tip.lines[0].contains("remote"), "{:?}", tip.lines);
            assert!(matches!(tip.about, Some(Target::Bytes(_))));
        }
    }
}
