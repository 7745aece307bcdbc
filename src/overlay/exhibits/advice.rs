//! What would help: known patterns of misses that this trace has, each with what usually helps and with what that would bring here, which
//! is simulated: `orrery advise` as a picture.
//!
//! ```text
//!  WHAT WOULD HELP   textbook
//!  1  B: a working set just over a level
//!  B, 294,912 bytes, is used again and again, and L2 holds 256KiB: ...
//!  Usually helps: parts that fit, each done with before the next (blocking) ...
//!  L2 now        902,188  ||||||||||||||||||||||||
//!  with it        17,255  |
//! ```

use super::prose::{self, LARGEST, PITCH, Part};
use super::sheet::look_from_top;
use super::{Exhibit, Gesture, Picture};
use crate::analysis::Advice;
use crate::overlay::answers::MOST;
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
use crate::units::{counted, grouped};
use egui::Pos2;

/// See the module.
#[derive(Default)]
pub struct AdviceExhibit;

impl Exhibit for AdviceExhibit {
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
        match studio.advice()? {
            Some(found) if !found.is_empty() => {
                prose::tell(&mut sheet, &told(&found, studio), &view.camera);
            }
            Some(_) => sheet.notice(
                &[
                    "No known pattern of misses has a remedy that pays here.",
                    "Patterns were looked for, and their remedies simulated.",
                    "Other caches (E) may show one; A compares two versions of a program.",
                ],
                PITCH,
            ),
            None if !studio.timeline().is_whole() => {
                sheet.notice(&["The trace is still being read.", "What would help is looked for then."], PITCH);
            }
            None => match studio.advice_failed() {
                Some(why) => sheet.notice(&["It could not be found.", why], PITCH),
                None => sheet.notice(
                    &[
                        "Looking for what would help.",
                        "The trace is played again with each remedy: some seconds a million references.",
                    ],
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
        look_from_top(camera, gesture, taken, LARGEST)
    }
}

/// The row of a source line that is called so.
fn row_of(studio: &Studio, line: &str) -> Option<usize> {
    let locations = &studio.tables().locations;
    let is_it = |place: &usize| {
        let of = locations.get(*place);
        of.is_some_and(|of| line.strip_prefix(&format!("{}:{}", of.file, of.line)).is_some_and(is_text))
    };
    studio.timeline().lines().places().iter().position(is_it)
}

/// Whether this is what follows the number of a line: nothing, or its text.
fn is_text(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(' ')
}

/// All advice for a trace.
fn told(found: &[Advice], studio: &Studio) -> Vec<Part> {
    let mut of = format!("simulated under {}", shown::name(&studio.timeline().config().name));
    if studio.timeline().len() > MOST {
        of.push_str(&format!(", of the first {} references", grouped(MOST)));
    }
    let mut parts = vec![Part::Title("What would help".into(), of)];
    for (n, advice) in (1..).zip(found) {
        let regions: Vec<_> = advice.regions.iter().map(|name| shown::name(name)).collect();
        let mut title = advice.pattern.title().to_owned();
        let same = |(_, other): &(usize, &Advice)| other.regions.iter().any(|region| advice.regions.contains(region));
        if let Some((other, _)) = (1..n).zip(found).find(same) {
            // They would do the same work twice.
            title.push_str(&format!("  (in place of {other})"));
        }
        parts.push(Part::Title(format!("{n}.  {}", regions.join(", ")), title));
        let [finding, helps, simulated] = advice.sentences().map(|words| shown::line(&words).into_owned());
        parts.push(Part::Paragraph(finding, palette::TEXT_BODY));
        parts.push(Part::Paragraph(helps, palette::TEXT));
        parts.push(Part::Paragraph(simulated, palette::TEXT_BODY));
        let level = advice.counterfactual.level_misses;
        if level.after < level.before {
            let name = shown::name(&advice.level);
            parts.push(Part::Bars(vec![
                (format!("{name} misses"), level.before, palette::MISS),
                ("with it".into(), level.after, palette::HIT),
            ]));
        }
        for place in &advice.places {
            let (line, level) = (shown::name(&place.line), shown::name(&advice.level));
            let what = format!("{level} misses of {}   {line}", counted(place.references, "reference"));
            let misses = grouped(place.misses);
            parts.push(match row_of(studio, &place.line) {
                Some(row) => Part::Row(misses, what, Target::Line(row)),
                None => Part::Paragraph(format!("{misses} {what}"), palette::TEXT_QUIET),
            });
        }
        if let Some(example) = advice.example {
            parts.push(Part::Row(
                grouped(example),
                "one of these misses: a click goes there".into(),
                Target::Tick(example),
            ));
        }
        parts.push(Part::Paragraph(String::new(), palette::TEXT_BODY));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Position;
    use crate::overlay::Parts;
    use crate::overlay::plane::Plane;
    use crate::overlay::tests::studio_of;
    use crate::reference::{Kind, Reference, Region, Tables};
    use crate::sim::config::preset;
    use std::sync::Arc;

    /// 256 rows of 64 doubles, walked down the columns, twice: each line is used once before it leaves a cache of 128 lines.
    fn columns() -> Studio {
        let region =
            Region { elem_type: "double".into(), shape: vec![256, 64].into(), ..Region::new("a", 0x10000, 256 * 512) };
        let walk = (0..2 * 64 * 256u64).map(|n| {
            let (column, row) = (n / 256 % 64, n % 256);
            Reference::new(Kind::Read, 0x10000 + row * 512 + column * 8, 8)
        });
        let tables = Tables { regions: vec![region], ..Tables::default() };
        studio_of(walk.collect(), tables, &preset("paper").expect("there"))
    }

    fn plane(studio: &mut Studio) -> Plane {
        let shot = Shot::still([900, 1400], Position::at(10), View::default(), Parts::default());
        match shot.take(studio, &mut AdviceExhibit).expect("in memory").picture {
            Picture::Plane(plane) => plane,
            _ => panic!("words are flat"),
        }
    }

    #[test]
    fn it_tells_what_orrery_advise_tells_with_bars_and_an_example_to_go_to() {
        let mut studio = columns();
        let found = crate::analysis::advise(studio.timeline().source().as_ref(), studio.timeline().config());
        let found = found.expect("in memory");
        assert!(!found.is_empty(), "a walk across rows has a remedy");
        let plane = plane(&mut studio);
        let all: Vec<&str> = plane.words.iter().map(|words| words.text.as_str()).collect();
        let all = all.join(" ");
        for sentence in found[0].sentences() {
            assert!(all.contains(&sentence), "{sentence} is not in {all}");
        }
        let example = found[0].example.expect("one that missed");
        assert!(plane.rows.iter().any(|(_, target)| *target == Target::Tick(example)));
        assert!(plane.bars.len() >= 2);
    }

    #[test]
    fn it_is_looked_for_beside_what_does_not_take_long_and_asked_for_once() {
        let mut studio = columns();
        studio.answer_elsewhere();
        assert!(plane(&mut studio).rows.is_empty());
        assert!(studio.wanted_answer(false, false).is_none(), "others do not wait for it");
        let asked = studio.wanted_answer(true, true).expect("also while it plays");
        assert!(asked.question.takes_long());
        assert!(studio.wanted_answer(true, true).is_none(), "told once");
        let stopped = asked.answer(&|| false).expect_err("nobody wants it any more");
        assert!(stopped.to_string().contains("nobody wants it"), "{stopped}");
        assert!(studio.take_answer(&asked.timeline, asked.answer(&|| true).expect("in memory")));
        assert!(!plane(&mut studio).rows.is_empty());
    }

    #[test]
    fn where_nothing_pays_it_says_so() {
        let mut studio = crate::overlay::tests::studio();
        studio.answer_elsewhere();
        plane(&mut studio);
        let asked = studio.wanted_answer(true, true).expect("asked");
        assert!(studio.take_answer(&asked.timeline, crate::overlay::Answer::Advice(Arc::default())));
        let plane = plane(&mut studio);
        assert!(plane.words.iter().any(|words| words.text.starts_with("No known pattern")), "{:?}", plane.words);
    }
}
