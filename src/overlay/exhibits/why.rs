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
//! ```

use super::sheet::{SMALL, Sheet, scroll_bar};
use super::{Exhibit, Gesture, Picture};
use crate::analysis::Explanation;
use crate::overlay::fonts::Weight;
use crate::overlay::info::Info;
use crate::overlay::layout::Layout;
use crate::overlay::pen::Target;
use crate::overlay::plane::Plane;
use crate::overlay::shot::{Shot, Taken};
use crate::overlay::studio::Studio;
use crate::overlay::tip::Tip;
use crate::reference::SourceError;
use crate::scene::palette;
use crate::scene::{Camera, View};
use crate::shown;
use crate::units::grouped;
use egui::{Pos2, Rect, pos2};

/// See the module.
#[derive(Default)]
pub struct WhyExhibit;

/// Type of a row, pixels, where type is not scaled.
const EM: f32 = 15.0;
/// The largest that type becomes by zooming, of its size at first.
const LARGEST: f32 = 4.0;
/// Ems from row to row, and around the rows.
const PITCH: f32 = 1.6;
const MARGIN: f32 = 1.4;
/// Ems of a sign, on average.
const SIGN: f32 = 0.52;
/// Ems that a line of words has at most: longer ones are hard to follow.
const WIDEST: f32 = 60.0;
/// Ems of the numbers of references.
const NUMBERS: f32 = 7.0;

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
        let mut info = shot.strip_info(studio);
        info.dress(view);
        let sight = Rect::from_min_max(layout.area.min, pos2(layout.area.right(), layout.strip.top()));
        let em = EM * layout.type_scale * view.camera.zoom.max(1.0);
        let mut sheet = Sheet { plane: Plane { unit: em, ..Plane::default() }, em, sight };
        match studio.explained(info.tick)? {
            Some(told) => tell(&mut sheet, &told, &view.camera),
            None if !studio.timeline().is_whole() => {
                sheet.notice(&["The trace is still being read.", "What a reference did is told then."], PITCH);
            }
            None if info.tick >= studio.timeline().len() => {
                sheet.notice(&["This is the end: no reference is under way.", "Go back by one (,)."], PITCH);
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

/// Words in lines of so many columns, parted between words.
fn wrapped(words: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let line = lines.last_mut().expect("there is one");
        if !line.is_empty() && shown::width(line) + 1 + shown::width(word) > columns {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines
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

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "columns of a picture")]
fn tell(sheet: &mut Sheet, told: &Explanation, camera: &Camera) {
    let (em, sight) = (sheet.em, sheet.sight);
    let left = sight.left() + MARGIN * em;
    let width = (sight.width() - 2.0 * MARGIN * em).min(WIDEST * em);
    let columns = (width / (SIGN * em)).max(8.0) as usize;
    let sentences: Vec<Vec<String>> = told.sentences.iter().map(|words| wrapped(words, columns)).collect();
    let named = named(told);
    let rows = sentences.iter().map(|lines| lines.len() as f32 + 0.5).sum::<f32>() + named.len() as f32;
    let height = 2.0 * MARGIN + 2.4 + PITCH * rows + 1.9;
    let depth = (height - sight.height() / em).max(0.0);
    let down = camera.at[1].clamp(0.0, depth);
    (sheet.plane.depth, sheet.plane.down) = (depth, down);
    let mut y = sight.top() + (MARGIN - down) * em;
    let title = format!("Reference {}", grouped(told.reference));
    sheet.left(pos2(left, y), &title, Weight::SemiBold, 1.1, palette::TEXT, width);
    if let Some(location) = &told.location {
        let x = left + (0.62 * title.len() as f32 + 1.0) * em;
        let words = format!("{}:{}   {}", location.file, location.line, location.text);
        let words = shown::words(&words).into_owned();
        sheet.left(pos2(x, y + 0.12 * em), &words, Weight::Regular, 0.95, palette::TEXT_QUIET, left + width - x);
    }
    y += 2.4 * em;
    for lines in &sentences {
        for line in lines {
            sheet.left(pos2(left, y), line, Weight::Regular, 1.0, palette::TEXT_BODY, f32::INFINITY);
            y += PITCH * em;
        }
        y += 0.5 * PITCH * em;
    }
    if !named.is_empty() {
        sheet.left(pos2(left, y), "GO TO", Weight::SemiBold, SMALL, palette::TEXT_QUIET, width);
        y += 1.9 * em;
    }
    for (tick, what) in &named {
        sheet.right(pos2(left + (NUMBERS - 1.0) * em, y), &grouped(*tick), 1.0, palette::words(palette::LIGHT));
        let x = left + NUMBERS * em;
        sheet.left(pos2(x, y), what, Weight::Regular, 1.0, palette::TEXT_BODY, left + width - x);
        let area = Rect::from_min_max(pos2(left, y - 0.2 * em), pos2(left + width, y + (PITCH - 0.2) * em));
        if area.intersect(sight).is_positive() {
            sheet.plane.rows.push((area.intersect(sight), Target::Tick(*tick)));
        }
        y += PITCH * em;
    }
    if depth > 0.05 {
        scroll_bar(&mut sheet.plane, sight, em, down);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Position;
    use crate::overlay::Parts;
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
        assert!(studio.wanted_answer(true).is_none());
        for tick in [30, 40] {
            plane(&mut studio, tick);
        }
        // It is stopped here: nothing is drawn anew for it.
        assert!(studio.wanted_answer(true).is_none());
        let asked = studio.wanted_answer(false).expect("it rests");
        assert_eq!(asked.question, crate::overlay::Question::Why(40));
        assert!(studio.take_answer(&asked.timeline, asked.answer(&|| true).expect("in memory")));
        assert!(plane(&mut studio, 40).words.len() > 2);
    }

    #[test]
    fn long_words_and_many_words_are_parted_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensibilities is one", 6), ["incomprehensibilities", "is one"]);
        assert_eq!(wrapped("", 6), [""]);
    }
}
