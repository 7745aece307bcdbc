//! Names along the arcs of memory that are long enough, in the large picture.
//!
//! ```text
//!        heads        a name stands outside its arc, upright, at the middle of it or as near to that as the picture and the tables
//!     .--------.      leave room; where there is none outside, it stands inside, at the foot of the bars
//!    /  ######  \
//! ```

use super::fonts::Weight;
use super::info::Info;
use super::layout::Layout;
use super::pen::{Pen, color};
use crate::scene::layout::{HomeArc, Rings};
use crate::scene::palette::{self, Rgba};
use egui::emath::Rot2;
use egui::epaint::TextShape;
use egui::{Pos2, Rect, Shape, Stroke, Vec2, pos2, vec2};
use std::f32::consts::{FRAC_PI_2, PI};

/// Size of type, points, and pixels at least: smaller letters at an angle run together.
const SIZE: f32 = 11.0;
const LEAST: f32 = 9.0;
/// A name that is longer is cut, pixels; what is left of one is not shorter than [`SHORTEST`].
const LONGEST: f32 = 132.0;
const SHORTEST: f32 = 34.0;
/// Places that are tried on each side of the middle of an arc.
const TRIES: u8 = 24;

pub(super) fn arc_names(pen: &Pen<'_>, layout: &Layout, info: &Info, rings: &Rings) {
    // In the small picture names stand beside dots, in the table.
    if info.over.is_none() {
        return;
    }
    for arc in &*info.arcs {
        let regions = arc.regions.iter().filter_map(|&n| info.regions.get(n));
        let is_used = regions.map(|region| region.references).sum::<u64>() > 0;
        // Several together have no colour of their own.
        let ink = match (is_used, &arc.regions[..]) {
            (false, _) => palette::TEXT_QUIET,
            (true, [_]) => palette::words(info.colors.arc(&arc.regions)),
            (true, _) => palette::TEXT_BODY,
        };
        name(pen, layout, rings, arc, ink);
    }
}

fn name(pen: &Pen<'_>, layout: &Layout, rings: &Rings, arc: &HomeArc, ink: Rgba) {
    let font = Weight::Medium.at((SIZE * pen.t).max(LEAST));
    let wide = |text: &str| pen.painter.layout_no_wrap(text.into(), font.clone(), color(ink));
    let px = layout.viewport.px_per_unit;
    let room = (arc.span * rings.rim * px - 6.0).min(LONGEST * pen.t.max(1.0));
    let Some(text) = cut(&arc.name, |text| wide(text).size().x <= room) else { return };
    let galley = wide(&text);
    if galley.size().x < SHORTEST && text != arc.name {
        return;
    }
    let half = 0.5 * galley.size();
    let outside = rings.rim + (half.y + 3.0) / px;
    let inside = rings.home_r0 + (half.y + 2.0) / px;
    for (r, is_inside) in [(outside, false), (inside, true)] {
        let Some(theta) = place(layout, arc, r, half) else { continue };
        let at = layout.at([r * theta.cos(), r * theta.sin()]);
        let turn = upright(theta);
        if is_inside {
            let area = half + vec2(3.0, 0.0);
            let patch = [vec2(-area.x, -area.y), vec2(area.x, -area.y), area, vec2(-area.x, area.y)];
            let patch = patch.iter().map(|&corner| at + Rot2::from_angle(turn) * corner).collect();
            let ground = color(palette::fade(palette::BACKGROUND, 0.7));
            pen.painter.add(Shape::convex_polygon(patch, ground, Stroke::NONE));
        }
        let corner = at - Rot2::from_angle(turn) * half;
        pen.painter.add(TextShape::new(corner, galley, color(ink)).with_angle(turn));
        return;
    }
}

/// The angle nearest to the middle of an arc at which a name of this half size at radius `r` stands within the arc, inside the
/// picture and clear of the tables.
fn place(layout: &Layout, arc: &HomeArc, r: f32, half: Vec2) -> Option<f32> {
    let px = layout.viewport.px_per_unit;
    let free = 0.5 * arc.span - (half.x + 1.0) / (r * px);
    let step = free.max(0.0) / f32::from(TRIES);
    let middle = arc.theta0 + 0.5 * arc.span;
    let tries = (0..=TRIES).flat_map(|n| [f32::from(n), -f32::from(n)]).map(|n| middle + n * step);
    tries.filter(|_| free > -0.01).find(|theta| {
        let at = layout.at([r * theta.cos(), r * theta.sin()]);
        let turn = Rot2::from_angle(upright(*theta));
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .into_iter()
            .all(|(x, y)| is_free(layout, at + turn * vec2(x * half.x, y * half.y)))
    })
}

/// Whether no table and no border of the picture is there.
fn is_free(layout: &Layout, at: Pos2) -> bool {
    let [width, height] = layout.viewport.size.map(|side| side as f32);
    let foot = if layout.upright() { layout.tables.top() } else { layout.strip.top() };
    let picture = Rect::from_min_max(pos2(2.0, 2.0), pos2(width - 2.0, height.min(foot) - 4.0));
    let between = layout.upright() || (layout.left.right()..=layout.right.left()).contains(&at.x);
    picture.contains(at) && between
}

/// Tangential; in the lower half the other way round, so that it is read upright.
fn upright(theta: f32) -> f32 {
    let turn = (theta + PI).rem_euclid(PI) - FRAC_PI_2;
    if turn.abs() < 1e-3 { 0.0 } else { turn }
}

/// As much of a text as fits, with an ellipsis where it is cut; `None` where that leaves fewer than three letters.
fn cut(text: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    if fits(text) {
        return Some(text.to_owned());
    }
    let letters: Vec<char> = text.chars().collect();
    let shortened = |n: usize| format!("{}…", letters[..n].iter().collect::<String>().trim_end());
    (3..letters.len()).rev().map(shortened).find(|text| fits(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::Parts;

    #[test]
    fn names_stand_inside_the_picture_and_clear_of_tables() {
        let mut placed = 0;
        for (w, h) in [(1280, 720), (640, 360), (720, 1280), (1920, 1080)] {
            let layout = Layout::new(w, h, 0.0, &Parts::default());
            for n in 0u8..24 {
                let arc = HomeArc { theta0: f32::from(n) * 0.26, span: 0.5, name: String::new(), regions: Vec::new() };
                let r = 1.0 + 8.0 / layout.viewport.px_per_unit;
                let Some(theta) = place(&layout, &arc, r, vec2(20.0, 6.0)) else { continue };
                placed += 1;
                assert!(theta >= arc.theta0 && theta <= arc.theta0 + arc.span);
                let at = layout.at([r * theta.cos(), r * theta.sin()]);
                assert!(is_free(&layout, at), "{w}x{h}: {at:?}");
                let turn = upright(theta);
                assert!(turn.abs() <= FRAC_PI_2 + 1e-4, "read upright: {turn}");
                assert!((turn.cos() * theta.cos() + turn.sin() * theta.sin()).abs() < 1e-3, "along the arc");
            }
        }
        assert!(placed > 60, "{placed}");
    }

    #[test]
    fn a_name_is_cut_where_its_arc_is_short() {
        let fits = |most: usize| move |text: &str| text.chars().count() <= most;
        assert_eq!(cut("heads", fits(5)).as_deref(), Some("heads"));
        assert_eq!(cut("a long name", fits(8)).as_deref(), Some("a long…"));
        assert_eq!(cut("heads", fits(3)), None);
    }
}
