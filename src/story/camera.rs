//! Where a storyboard's camera looks, in words, and how it gets there.
//!
//! ```text
//! whole            the whole picture
//! ring L1          a level, as large as fits
//! set 3 of L1      an arm
//! home of B        a region in memory
//! B[3][4]          an element, in memory; `follow B[3][4]`: wherever it is
//! follow           what the program touches
//! 0.3,-0.2,8       a point and how many times as close, as --camera has it
//! ... x 6          any of these but the first so many times as close
//! ```

use super::error::{listed, unknown};
use crate::reference::{NameError, Tables, bytes_named};
use crate::scene::layout::{Ring, Rings};
use crate::scene::{Camera, PinKind, Scene, arm_of, view::CLOSEST};
use crate::sim::config::nearest as nearest_word;
use crate::units::ByteRange;

/// Where a camera looks.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Aim {
    /// At a place that stays.
    At(Camera),
    /// At the home of an element.
    Home(ByteRange, f32),
    /// At an element wherever it is.
    Follow(ByteRange, f32),
    /// At what the program touches.
    Touched(f32),
}

/// What a camera may look at.
const FORMS: &str = "a camera looks at `whole`, `ring L1`, `set 3 of L1`, `home of A`, `A[3][4]`, `follow A[3][4]`, `follow`, or X,Y,ZOOM";

/// Times as close where a storyboard does not say.
const CLOSE: f32 = 5.0;

/// Reads words; `rings` are those of the picture.
///
/// # Errors
/// What was found, and what was expected.
pub(super) fn parse(words: &str, rings: &Rings, tables: &Tables) -> Result<Aim, String> {
    let words = words.trim();
    if words == "whole" {
        return Ok(Aim::At(Camera::default()));
    }
    if let Some(aim) = numbers(words) {
        return aim;
    }
    let (words, zoom) = match words.rsplit_once(" x ") {
        Some((words, zoom)) => {
            let zoom = zoom.trim().parse::<f32>().ok().filter(|zoom| (1.0..=CLOSEST).contains(zoom));
            (words.trim(), Some(zoom.ok_or_else(|| format!("found `x {words}`; expected x 1 to x {CLOSEST}"))?))
        }
        None => (words, None),
    };
    if let Some(name) = words.strip_prefix("ring ") {
        let rim = rings.rings[ring(name.trim(), rings)?].r1;
        return Ok(Aim::At(Camera { at: [0.0, 0.0], zoom: zoom.unwrap_or(0.92 / rim).clamp(1.0, CLOSEST) }));
    }
    if let Some((set, level)) = words.strip_prefix("set ").and_then(|rest| rest.split_once(" of ")) {
        let arm = arm(set, level, rings)?;
        let [x0, y0, x1, y1] = arm.iter().fold([f32::MAX, f32::MAX, f32::MIN, f32::MIN], |[a, b, c, d], [x, y]| {
            [a.min(*x), b.min(*y), c.max(*x), d.max(*y)]
        });
        let extent = (x1 - x0).max(y1 - y0).max(0.01);
        let zoom = zoom.unwrap_or((1.5 / extent).clamp(1.0, 12.0));
        return Ok(Aim::At(Camera { at: [0.5 * (x0 + x1), 0.5 * (y0 + y1)], zoom }));
    }
    if words == "follow" {
        return Ok(Aim::Touched(zoom.unwrap_or(CLOSE)));
    }
    let (words, follows) = match words.strip_prefix("follow ") {
        Some(rest) => (rest, true),
        None => (words.strip_prefix("home of ").unwrap_or(words), false),
    };
    let bytes = bytes(words, tables).map_err(|error| format!("{error}; {FORMS}"))?;
    let zoom = zoom.unwrap_or(CLOSE);
    Ok(if follows { Aim::Follow(bytes, zoom) } else { Aim::Home(bytes, zoom) })
}

/// The bytes of an element.
///
/// # Errors
/// What was found, and what was expected.
pub(super) fn bytes(words: &str, tables: &Tables) -> Result<ByteRange, String> {
    bytes_named(&tables.regions, words).map_err(|error| match error {
        NameError::Region(name) => {
            let names: Vec<&str> = tables.regions.iter().map(|region| region.name.as_str()).collect();
            // Of `kyes[3]` the name is `kyes`.
            let hint = name.split_once('[').and_then(|(of, index)| Some((nearest_word(of.trim(), &names)?, index)));
            match hint {
                Some((of, index)) => {
                    format!("region: found `{name}` (did you mean `{of}[{index}`?); expected one of {}", listed(&names))
                }
                None => format!("region: {}", unknown(&name, &names)),
            }
        }
        error => format!("found `{words}`; {error}"),
    })
}

fn numbers(words: &str) -> Option<Result<Aim, String>> {
    if words.matches(',').count() != 2 || words.contains('[') {
        return None;
    }
    let numbers: Vec<f32> = words.split(',').filter_map(|word| word.trim().parse().ok()).collect();
    Some(match numbers[..] {
        [x, y, zoom] if (1.0..=CLOSEST).contains(&zoom) && x.abs().max(y.abs()) <= 1.05 => {
            Ok(Aim::At(Camera { at: [x, y], zoom }))
        }
        _ => Err(format!(
            "found `{words}`; expected X,Y,ZOOM: a point within 1.05 of the centre and 1 to {CLOSEST} times as close"
        )),
    })
}

/// The number of the ring that a level is on.
///
/// # Errors
/// What was found, and what was expected.
pub(super) fn ring(name: &str, rings: &Rings) -> Result<usize, String> {
    let is_on = |ring: &Ring| ring.name.split(", ").any(|level| level == name) || ring.common_name() == name;
    let names: Vec<String> = rings.rings.iter().map(Ring::common_name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    rings.rings.iter().position(is_on).ok_or_else(|| format!("level: {}", unknown(name, &names)))
}

/// Points along the arm of a set, from the CPU outward.
///
/// # Errors
/// What was found, and what was expected.
pub(super) fn arm(set: &str, level: &str, rings: &Rings) -> Result<Vec<[f32; 2]>, String> {
    let at = ring(level.trim(), rings)?;
    let sector = rings.rings[at].sectors.first().map(|at| &rings.sectors[*at]);
    let sector = sector.ok_or_else(|| format!("level: {level} has no cache"))?;
    let set: u32 = set.trim().parse().ok().filter(|set| *set < sector.sets).ok_or_else(|| {
        format!("found set {set}; expected 0 to {}, as {level} has {} sets", sector.sets - 1, sector.sets)
    })?;
    Ok(arm_of(sector, set))
}

/// The middle of the homes of what has the label of number `label` in a scene.
#[must_use]
pub(super) fn home(scene: &Scene, label: usize) -> Option<[f32; 2]> {
    let marks = &scene.labelled.get(label)?.marks;
    marks.iter().find(|mark| mark.kind == PinKind::Home).map(|mark| mark.at)
}

/// The nearest copy of what has the label of number `label` in a scene, or its home.
#[must_use]
pub(super) fn nearest(scene: &Scene, label: usize) -> Option<[f32; 2]> {
    scene.labelled.get(label)?.marks.last().map(|mark| mark.at)
}

/// Between two looks: 0 is `from`, 1 is `to`. The way is one of a steady zoom round one point, so that nothing rushes by.
#[must_use]
pub(super) fn between(from: Camera, to: Camera, share: f32) -> Camera {
    let s = share.clamp(0.0, 1.0);
    let s = s * s * s * s.mul_add(s.mul_add(6.0, -15.0), 10.0);
    let zoom = from.zoom * (to.zoom / from.zoom).powf(s);
    let (near, far) = (1.0 / from.zoom, 1.0 / to.zoom);
    let way = if (near - far).abs() > 1e-4 { (near - 1.0 / zoom) / (near - far) } else { s };
    let at = [0, 1].map(|axis| (to.at[axis] - from.at[axis]).mul_add(way, from.at[axis]));
    Camera { at, zoom }.clamped()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_looks_the_way_is_steady_and_ends_where_it_should() {
        let (from, to) = (Camera::default(), Camera { at: [0.5, -0.25], zoom: 8.0 });
        assert_eq!(between(from, to, 0.0), from);
        assert_eq!(between(from, to, 1.0), to.clamped());
        assert_eq!(between(from, to, 7.0), to.clamped());
        let mut before = from;
        for n in 1..=20u8 {
            let now = between(from, to, f32::from(n) / 20.0);
            assert!(now.zoom >= before.zoom && now.at[0] >= before.at[0], "{now:?} after {before:?}");
            before = now;
        }
        // One point stays where it is on the screen all the way.
        let held = [0, 1].map(|axis| (to.at[axis] * to.zoom - from.at[axis] * from.zoom) / (to.zoom - from.zoom));
        for share in [0.3, 0.5, 0.8] {
            let now = between(from, to, share);
            for axis in [0, 1] {
                let place = (held[axis] - now.at[axis]) * now.zoom;
                assert!((place - (held[axis] - from.at[axis]) * from.zoom).abs() < 1e-3, "{share}: {now:?}");
            }
        }
        let (a, b) = (Camera { at: [0.1, 0.2], zoom: 4.0 }, Camera { at: [0.3, 0.2], zoom: 4.0 });
        assert!((between(a, b, 0.5).at[0] - 0.2).abs() < 1e-5);
    }
}
