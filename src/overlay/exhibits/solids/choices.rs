//! What can be chosen by a click on the words above solids, and what it makes of what is looked at.

use super::counted::Counted;
use crate::overlay::exhibits::Chosen;
use crate::scene::solids::camera::PRESETS;
use crate::scene::solids::{Form, Glyphs, Isovalues, Measure, Orbit, Projection, SolidLook};
use crate::scene::{Camera, View};
use crate::timeline::Aggregate;

/// A choice, by number of the column and its name.
pub(super) type Choice = (u8, &'static str);
pub(super) const MEASURE: Choice = (0, "measure");
pub(super) const FORM: Choice = (1, "form");
pub(super) const GLYPHS: Choice = (2, "glyphs");
pub(super) const VALUES: Choice = (3, "isovalues");
const AGGREGATE: Choice = (4, "aggregate");
const PLACE: Choice = (5, "camera");
const PROJECTION: Choice = (6, "projection");

/// The one after, round and round; the first after one that is not there.
fn next<T: Clone + PartialEq>(all: &[T], now: &T) -> T {
    let at = all.iter().position(|one| one == now).map_or(0, |at| at + 1);
    all[at % all.len()].clone()
}

/// How many values a click takes, one after the other.
fn counts() -> [Isovalues; 5] {
    [5, 7, 9, 1, 3].map(Isovalues::Even)
}

/// Measures that are amounts, 0 or more: a radius and a glyph have no sign.
fn amounts() -> Vec<Measure> {
    Measure::ALL.into_iter().map(|(measure, ..)| measure).filter(|measure| *measure != Measure::Difference).collect()
}

/// The measure, or the amount that stands for it.
pub(super) fn amount(measure: Measure) -> Measure {
    if measure == Measure::Difference { Measure::Accesses } else { measure }
}

/// The name of where one looks from; `None` = it was turned.
fn preset(camera: Camera) -> Option<usize> {
    let here = Orbit::of(camera.at);
    let is_here =
        |orbit: Orbit| (orbit.azimuth - here.azimuth).abs() < 0.5 && (orbit.altitude - here.altitude).abs() < 0.5;
    PRESETS.iter().position(|(_, orbit)| is_here(*orbit))
}

/// The choices that all solids have.
pub(super) fn common(counted: &Counted, look: &SolidLook, camera: Camera) -> Vec<(String, Choice)> {
    let mut choices = Vec::new();
    if counted.grid.elements_a_block() > 1 {
        choices.push((format!("{} of a block", look.aggregate), AGGREGATE));
    }
    let place = preset(camera).map_or("turned".to_owned(), |n| format!("from the {}", PRESETS[n].0));
    let place = place.replace("from the above", "from above").replace("from the below", "from below");
    choices.push((place, PLACE));
    choices.push((look.projection.name().to_owned(), PROJECTION));
    choices
}

/// What a click makes of what is looked at; `signed`: the picture shows numbers with a sign.
pub(super) fn chosen(column: u8, view: &View, signed: bool) -> Option<Chosen> {
    let look = SolidLook::clone(&view.solids);
    let all = || Measure::ALL.map(|(measure, ..)| measure).to_vec();
    let look = match column {
        column if column == MEASURE.0 && signed => SolidLook { measure: next(&all(), &look.measure), ..look },
        column if column == MEASURE.0 => SolidLook { measure: next(&amounts(), &amount(look.measure)), ..look },
        column if column == FORM.0 => SolidLook { form: next(&Form::ALL.map(|(form, _)| form), &look.form), ..look },
        column if column == GLYPHS.0 => {
            SolidLook { glyphs: next(&Glyphs::ALL.map(|(glyphs, _)| glyphs), &look.glyphs), ..look }
        }
        column if column == VALUES.0 => SolidLook { isovalues: next(&counts(), &look.isovalues), ..look },
        column if column == AGGREGATE.0 => {
            SolidLook { aggregate: next(&Aggregate::ALL.map(|(aggregate, _)| aggregate), &look.aggregate), ..look }
        }
        column if column == PROJECTION.0 => {
            SolidLook { projection: next(&Projection::ALL.map(|(projection, _)| projection), &look.projection), ..look }
        }
        column if column == PLACE.0 => {
            let at = preset(view.camera).map_or(0, |n| n + 1) % PRESETS.len();
            return Some(Chosen::Camera(Camera { at: PRESETS[at].1.at(), zoom: 1.0 }));
        }
        _ => return None,
    };
    Some(Chosen::Look(look))
}

/// What is counted, in words.
pub(super) fn measured(look: &SolidLook) -> String {
    let kind = look.kind.map_or_else(String::new, |kind| format!(", {} only", kind.name()));
    let core = look.core.map_or_else(String::new, |core| format!(" of core {core}"));
    format!("{}{core}{kind}", look.measure.what())
}

/// What is looked at after a click.
#[cfg(test)]
pub(super) fn clicked(exhibit: &dyn super::Exhibit, choice: Choice, look: SolidLook) -> SolidLook {
    match exhibit.choose(choice.0, &View { solids: look.into(), ..View::default() }) {
        Some(Chosen::Look(look)) => look,
        other => panic!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clicks_go_round_all_that_can_be_chosen() {
        let mut view = View::default();
        let mut seen = Vec::new();
        for _ in 0..Measure::ALL.len() {
            let Some(Chosen::Look(look)) = chosen(MEASURE.0, &view, true) else { panic!("a measure") };
            seen.push(look.measure);
            view.solids = look.into();
        }
        seen.dedup();
        assert_eq!((seen.len(), view.solids.measure), (Measure::ALL.len(), Measure::Difference));
        // An amount stands for what has a sign.
        let Some(Chosen::Look(look)) = chosen(MEASURE.0, &view, false) else { panic!("a measure") };
        assert_eq!(look.measure, Measure::Reads, "after accesses");
        let mut places = Vec::new();
        for _ in PRESETS {
            let Some(Chosen::Camera(camera)) = chosen(PLACE.0, &view, true) else { panic!("a place") };
            view.camera = camera;
            places.push(preset(camera).expect("one with a name"));
        }
        assert_eq!(places, [1, 2, 3, 4, 0]);
        assert!(chosen(99, &view, true).is_none());
    }
}
