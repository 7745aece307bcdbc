//! A chart of what [`analysis`](crate::analysis) finds in a trace under its caches: the same as `orrery chart` draws. Sets, classes and
//! evictions are those of the level that the strip shows, else of the innermost one. Where places across stand for references, a click
//! goes there and a drag with Shift sets the in and the out point.

use super::sheet::Sheet;
use super::{Exhibit, Gesture, Picture};
use crate::analysis::Charted;
use crate::axis::Position;
use crate::chart::{ChartKind, Look};
use crate::overlay::chart_plane::{Place, put};
use crate::overlay::info::Info;
use crate::overlay::layout::Layout;
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::Tip;
use crate::reference::SourceError;
use crate::scene::palette::{self, Theme};
use crate::scene::{Camera, View};
use crate::units::{grouped, to_f32};
use egui::{Pos2, Rect, pos2};

/// See the module.
pub struct AnalysisExhibit {
    kind: ChartKind,
    /// What is said where a pointer rests on the picture that was taken last, the uppermost last.
    said: Vec<(Rect, String)>,
}

impl AnalysisExhibit {
    /// With one kind of chart.
    #[must_use]
    pub fn new(kind: ChartKind) -> Self {
        Self { kind, said: Vec::new() }
    }
}

/// Pixels of a unit of a chart, where type is not scaled: type of 11 units is as large as other words of pictures.
const UNIT: f32 = 1.15;
/// The largest that type becomes by zooming, of its size at first.
const LARGEST: f32 = 4.0;
/// Ems from line to line of a notice, and pixels of an em.
const PITCH: f32 = 1.7;
const EM: f32 = 14.5;

impl Exhibit for AnalysisExhibit {
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
        let level = studio.level_shown(shot.playback.strip);
        self.said.clear();
        let Some(found) = studio.charted(level, self.kind.parts())? else {
            let em = EM * layout.type_scale;
            let mut sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
            let failed =
                studio.charts_failed(level, self.kind.parts()).map(|why| format!("It could not be counted: {why}"));
            let why = match &failed {
                Some(words) => words.as_str(),
                None if studio.timeline().is_whole() => "It is being counted.",
                None => "The trace is still being read.",
            };
            sheet.notice(&[why, self.kind.what()], PITCH);
            return Ok((Picture::Plane(sheet.plane), info));
        };
        let unit = UNIT * layout.type_scale * view.camera.zoom.max(1.0);
        let room = [sight.width(), sight.height()].map(|side| f64::from(side / unit));
        let look = Look::of_units(Theme::Dark, room);
        // Less room than the least that can be read: the chart is as small as it must be.
        let unit = (0..2).map(|n| unit * to_f32(room[n] / look.size[n])).fold(unit, f32::min);
        let mut plane = Plane { unit, ..Plane::default() };
        if let Some(chart) = self.kind.draw(&found, studio.timeline().config(), &of(&info, &found), look) {
            let place = Place { corner: sight.min, unit };
            let times = place.references(&chart);
            self.said = put(&mut plane, &chart, place, Theme::Dark, &view.colors);
            if let Some(times) = times {
                self.time(&mut plane, times, (&info, shot), found.of.references);
            }
        }
        Ok((Picture::Plane(plane), info))
    }

    fn pick(&self, _: &Studio, _: &Taken, at: Pos2, _: f32) -> Option<Tip> {
        let (_, said) = self.said.iter().rfind(|(area, _)| area.contains(at))?;
        Some(Tip { title: said.clone(), ..Tip::default() })
    }

    fn look(&self, camera: Camera, gesture: Gesture, _: &Taken) -> Camera {
        match gesture {
            Gesture::Closer(factor, _) => Camera { zoom: (camera.zoom * factor).clamp(1.0, LARGEST), ..camera },
            Gesture::Wheel(by, _) => Camera { zoom: (camera.zoom * (by / 400.0).exp()).clamp(1.0, LARGEST), ..camera },
            Gesture::Drag(_) => camera,
            Gesture::Whole => Camera::default(),
        }
    }
}

/// Which trace and caches a chart is of.
fn of(info: &Info, found: &Charted) -> String {
    let part = match found.of.references < info.len {
        true => format!("; the first {} references", grouped(found.of.references)),
        false => String::new(),
    };
    let words = [info.title.as_str(), info.caches_name.as_str()];
    let words: Vec<&str> = words.into_iter().filter(|words| !words.is_empty()).collect();
    format!("{}{part}", words.join("; "))
}

impl AnalysisExhibit {
    /// The playhead, and what lies outside of the in and out points dimmed; a place within what the strip shows can be pressed.
    fn time(&self, plane: &mut Plane, times: Rect, (info, shot): (&Info, &Shot), charted: u64) {
        let share = |at: Position| to_f32((at.since(Position::START) / charted.max(1) as f64).clamp(0.0, 1.0));
        let x = |at: Position| times.left() + times.width() * share(at);
        let bar =
            |from: f32, to: f32, color| crate::render::Bar { sides: [from, times.top(), to, times.bottom()], color };
        let dim = palette::fade(palette::BACKGROUND, 0.6);
        let [from, to] = shot.playback.range;
        if let Some(from) = from {
            plane.bars.push(bar(times.left(), x(from), dim));
        }
        if let Some(to) = to {
            plane.bars.push(bar(x(to), times.right(), dim));
        }
        if info.position <= Position::at(charted) {
            let here = x(info.position);
            plane.bars.push(bar(here - 0.7, here + 0.7, palette::LIGHT));
        }
        // Of what the strip shows, this much is charted here.
        let shown = info.stretch.ticks(info.axis);
        let (left, right) = (x(Position::at(shown.start)), x(Position::at(shown.end)));
        if shown.end <= charted && right > left {
            plane.times.push(Rect { min: pos2(left, times.top()), max: pos2(right, times.bottom()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::Parts;
    use crate::overlay::tests::studio;

    fn taken(exhibit: &mut AnalysisExhibit, studio: &mut Studio, size: [u32; 2]) -> Taken {
        let shot = Shot::still(size, Position::at(400), View::default(), Parts::default());
        shot.take(studio, exhibit).expect("in memory")
    }

    #[test]
    fn every_kind_is_drawn_in_rooms_of_all_forms() {
        for kind in ChartKind::ALL {
            let (mut studio, mut exhibit) = (studio(), AnalysisExhibit::new(kind));
            for size in [[1280, 720], [640, 360], [360, 700], [320, 180]] {
                let taken = taken(&mut exhibit, &mut studio, size);
                let Picture::Plane(plane) = &taken.picture else { panic!("charts are flat") };
                assert!(plane.words.len() > 6 && !plane.bars.is_empty(), "{} at {size:?}", kind.name());
                let area = taken.layout.area.expand(0.5);
                let within = |bar: &crate::render::Bar| {
                    let [left, top, right, bottom] = bar.sides;
                    area.contains(pos2(left, top)) && area.contains(pos2(right, bottom))
                };
                assert!(plane.bars.iter().all(within), "{} at {size:?}", kind.name());
                assert!(plane.words.iter().all(|words| area.contains(words.at)), "{} at {size:?}", kind.name());
                assert_eq!(plane.times.len(), usize::from(kind.parts().over_time), "{}", kind.name());
            }
        }
    }

    #[test]
    fn a_place_in_a_chart_over_time_is_a_reference() {
        let (mut studio, mut exhibit) = (studio(), AnalysisExhibit::new(ChartKind::Map));
        let taken = taken(&mut exhibit, &mut studio, [900, 600]);
        let Picture::Plane(plane) = &taken.picture else { panic!("charts are flat") };
        let times = plane.times[0];
        for share in [0.0, 0.25, 0.9] {
            let at = pos2(times.left() + 0.01 + share * times.width(), times.center().y);
            let found = taken.time_at(at).expect("in the chart").tick();
            let expected = u64::from(crate::units::to_count(share * taken.info.len as f32));
            assert!(found.abs_diff(expected) <= 2, "{found} for {expected}");
        }
    }

    #[test]
    fn what_cannot_be_counted_is_said_and_not_asked_for_again() {
        let (mut studio, mut exhibit) = (studio(), AnalysisExhibit::new(ChartKind::Sets));
        studio.answer_elsewhere();
        let _ = taken(&mut exhibit, &mut studio, [900, 600]);
        let asked = studio.wanted_answer(true, false).expect("asked for");
        studio.fail_answer(&asked, "the file is gone");
        let said = taken(&mut exhibit, &mut studio, [900, 600]);
        let Picture::Plane(plane) = &said.picture else { panic!("words") };
        assert!(plane.words.iter().any(|words| words.text == "It could not be counted: the file is gone"));
        assert!(studio.wanted_answer(true, false).is_none(), "not again");
        // Another question is another one.
        let _ = taken(&mut AnalysisExhibit::new(ChartKind::MissRatio), &mut studio, [900, 600]);
        assert!(studio.wanted_answer(true, false).is_some());
    }

    #[test]
    fn what_is_counted_elsewhere_is_asked_for_once_and_shown_when_it_is_there() {
        let (mut studio, mut exhibit) = (studio(), AnalysisExhibit::new(ChartKind::Sets));
        studio.answer_elsewhere();
        let words = |taken: &Taken| match &taken.picture {
            Picture::Plane(plane) => plane.words.iter().any(|words| words.text == "It is being counted."),
            _ => false,
        };
        assert!(words(&taken(&mut exhibit, &mut studio, [900, 600])));
        let asked = studio.wanted_answer(true, false).expect("asked for");
        assert!(studio.wanted_answer(true, false).is_none(), "told once");
        let before = studio.answers_taken();
        assert!(studio.take_answer(&asked.timeline, asked.answer(&|| true).expect("in memory")));
        assert!(studio.answers_taken() > before);
        assert!(!words(&taken(&mut exhibit, &mut studio, [900, 600])));
        assert!(studio.wanted_answer(true, false).is_none());
    }

    #[test]
    fn the_level_that_the_strip_shows_is_charted() {
        let (mut studio, mut exhibit) = (studio(), AnalysisExhibit::new(ChartKind::Sets));
        for (strip, level) in [(crate::timeline::StripKind::Served, 0), (crate::timeline::StripKind::Level(2), 1)] {
            let mut shot = Shot::still([900, 600], Position::at(400), View::default(), Parts::default());
            shot.playback.strip = strip;
            let taken = shot.take(&mut studio, &mut exhibit).expect("in memory");
            let Picture::Plane(plane) = &taken.picture else { panic!("charts are flat") };
            let name = &studio.timeline().config().levels[level].name;
            assert!(plane.words.iter().any(|words| words.text.contains(&format!("sets of {name}"))), "{name}");
        }
    }
}
