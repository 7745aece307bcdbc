//! Leaves out what is not in sight: exactly so, since where a shape is at the frame's phase is known here too
//! ([`super::motion`]). Structure is left as it is: the same in every frame, it is sent to the GPU once.

use super::ends::Ends;
use super::frame::{Glyph, Segment};
use super::layout::Sector;
use super::motion::position_at;
use super::view::View;

/// How far a shape may be drawn off its place, world units.
const ERROR: f32 = 1e-4;
/// What of a shape has a size in pixels, world units at zoom 1: rims, widths of lines, which in a small picture are more.
const PIXELS: f32 = 0.12;
/// Reach of a glyph's light in radii: a burst at its end of a dot at the height of its pulse.
const LIGHT: f32 = 4.4 * 1.75;
/// Reach of a bar's corner at the height of its pulse; a dot's is less.
const BODY: f32 = 2.2;

/// Keeps the glyphs in sight, in their order.
pub(super) fn glyphs(sectors: &[Sector], view: &View, glyphs: &mut Vec<Glyph>) {
    if !view.culls() {
        return;
    }
    let pixels = PIXELS / view.camera.zoom + ERROR;
    glyphs.retain(|glyph| {
        let reach = if glyph.flash > 0.0 || glyph.burst < 1.0 { LIGHT } else { BODY };
        view.sees(position_at(sectors, &glyph.flight, view.phase), reach * glyph.radius + pixels)
    });
}

/// Keeps the stretches in sight, in their order. A stretch is drawn straight between its ends.
pub(super) fn segments(sectors: &[Sector], view: &View, segments: &mut Vec<Segment>) {
    if !view.culls() {
        return;
    }
    let pixels = PIXELS / view.camera.zoom + ERROR;
    let mut ends = Ends::new(sectors);
    segments.retain(|segment| {
        let [start, end] = ends.of(segment).map(|on| on.at);
        view.sees_box(start, end, pixels)
    });
}
