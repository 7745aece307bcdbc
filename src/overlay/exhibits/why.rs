//! Why the reference under the playhead missed or hit, in the sentences of `orrery why`, and the references that they are about: a click
//! goes there.
//!
//! ```text
//!  WHY   reference 2,614   matmul16.c:19   sum += A[i][k] * B[k][j];
//!  read B[3][15]: misses L1 set 1 (capacity: ...)
//!  GO TO
//!  2,581   last use of its line
//!  2,595   L1 gives its line up for B[10][14]
//!  3,043   next use of its line
//!      Q   what would help in all of the trace
//! ```

use super::prose::{self, LARGEST, PITCH, Part};
use super::{Exhibit, Gesture, Picture};
use crate::analysis::Explanation;
use crate::overlay::info::Info;
use crate::overlay::layout::Layout;
use crate::overlay::pen::Target;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::Tip;
use crate::reference::SourceError;
use crate::scene::palette;
use crate::scene::{Camera, View};
use crate::shown;
use crate::units::grouped;
use egui::Pos2;

/// See the module.
#[derive(Default)]
pub struct WhyExhibit;

impl Exhibit for WhyExhibit {
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
        let (info, mut sheet) = prose::open(studio, shot, view, layout);
        match studio.explained(info.tick)? {
            Some(told) => prose::tell(&mut sheet, &parts(&told), &view.camera),
            None if !studio.timeline().is_whole() => {
                sheet.notice(&["The trace is still being read.", "What a reference did is told then."], PITCH);
            }
            None if info.tick >= studio.timeline().len() => {
                sheet.notice(&["This is the end: no reference is under way.", "Go back by one (Left)."], PITCH);
            }
            None => match studio.explanation_failed(info.tick) {
                Some(why) => sheet.notice(&["It could not be found.", why], PITCH),
                None => sheet.notice(
                    &["Told where the playhead rests.", "The trace is played up to this reference to find it."],
                    PITCH,
                ),
            },
        }
        Ok((Picture::Plane(sheet.plane), info))
    }

    fn pick(&self, _: &Studio, _: &Taken, _: Pos2, _: f32) -> Option<Tip> {
        None
    }

    fn look(&self, camera: Camera, gesture: Gesture, taken: &Taken) -> Camera {
        super::sheet::look_from_top(camera, gesture, taken, LARGEST)
    }
}

/// The references that an explanation names, in order, and what they are.
fn named(told: &Explanation) -> Vec<(u64, String)> {
    let mut named: Vec<(u64, String)> = Vec::new();
    named.extend(told.last_use.map(|tick| (tick, "last use of its line".to_owned())));
    for access in &told.accesses {
        let left = access.left.as_ref();
        named.extend(left.map(|left| {
            let what = match left.cause {
                "evicted" => format!("{} gives its line up for {}", access.cache, left.by),
                cause => format!("{} loses its line ({cause}), by {}", access.cache, left.by),
            };
            (left.reference, what)
        }));
    }
    named.extend(told.next_use.map(|tick| (tick, "next use of its line".to_owned())));
    named.sort_by_key(|(tick, _)| *tick);
    named.dedup();
    named
}

/// All of it, from the top.
fn parts(told: &Explanation) -> Vec<Part> {
    let code = told.location.as_ref().map_or_else(String::new, |location| {
        shown::words(&format!("{}:{}   {}", location.file, location.line, location.text)).into_owned()
    });
    let mut parts = vec![Part::Title(format!("Reference {}", grouped(told.reference)), code)];
    parts.extend(told.sentences.iter().map(|words| Part::Paragraph(words.clone(), palette::TEXT_BODY)));
    parts.push(Part::Heading("GO TO"));
    let row = |(tick, what): (u64, String)| Part::Row(grouped(tick), what, Target::Tick(tick));
    parts.extend(named(told).into_iter().map(row));
    parts.push(Part::Row("Q".into(), "what would help in all of the trace".into(), Target::Exhibit("advice")));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Position;
    use crate::overlay::Parts;
    use crate::overlay::plane::Plane;
    use crate::overlay::tests::studio;

    fn plane(studio: &mut Studio, tick: u64) -> Plane {
        let shot = Shot::still([900, 600], Position::at(tick), View::default(), Parts::default());
        match shot.take(studio, &mut WhyExhibit).expect("in memory").picture {
            Picture::Plane(plane) => plane,
            _ => panic!("words are flat"),
        }
    }

    #[test]
    fn sentences_are_those_of_the_analysis_and_references_can_be_gone_to() {
        let mut studio = studio();
        let told = crate::analysis::explain(studio.timeline().source().as_ref(), studio.timeline().config(), 613);
        let told = told.expect("in memory");
        let plane = plane(&mut studio, 613);
        let all: Vec<&str> = plane.words.iter().map(|words| words.text.as_str()).collect();
        let all = all.join(" ");
        for sentence in &told.sentences {
            assert!(all.contains(sentence.as_str()), "{sentence} is not in {all}");
        }
        let ticks: Vec<u64> = plane
            .rows
            .iter()
            .filter_map(|(_, target)| match target {
                Target::Tick(tick) => Some(*tick),
                _ => None,
            })
            .collect();
        assert_eq!(ticks, named(&told).iter().map(|(tick, _)| *tick).collect::<Vec<_>>());
        assert!(!ticks.is_empty());
    }

    #[test]
    fn while_moments_pass_nothing_is_asked_and_the_newest_one_is_asked_where_they_rest() {
        let mut studio = studio();
        studio.answer_elsewhere();
        for tick in [10, 20] {
            assert!(plane(&mut studio, tick).rows.is_empty());
        }
        assert!(studio.wanted_answer(true, false).is_none());
        for tick in [30, 40] {
            plane(&mut studio, tick);
        }
        // It is stopped here: nothing is drawn anew for it.
        assert!(studio.wanted_answer(true, false).is_none());
        let asked = studio.wanted_answer(false, false).expect("it rests");
        assert_eq!(asked.question, crate::overlay::Question::Why(40));
        assert!(studio.take_answer(&asked.timeline, asked.answer(&|| true).expect("in memory")));
        assert!(plane(&mut studio, 40).words.len() > 2);
    }
}
