//! Closer up there is more to read: the name of each dot under it, the number of each set at the end of its arm, as far as there is
//! room. What would lie on something that is written already is left out.

use super::fonts::Weight;
use super::info::Info;
use super::layout::Layout;
use super::named;
use super::pen::{Pen, color};
use super::tip::extent;
use crate::reference::Region;
use crate::scene::layout::Rings;
use crate::scene::motion::position_at;
use crate::scene::{Scene, Stage, palette};
use egui::{Align2, Pos2, Rect, pos2, vec2};

/// A dot with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedDot {
    /// Its middle, world units.
    pub at: [f32; 2],
    /// Its radius, world units.
    pub radius: f32,
    /// What it stands for: the first element of a line.
    pub name: String,
}

/// Least radius of a dot that has its name under it, pixels.
const LEAST_DOT: f32 = 6.0;
/// Dots that are named, at most.
const MOST_DOTS: usize = 400;
/// Least distance between arms whose sets are numbered, pixels.
const LEAST_ARMS: f32 = 46.0;
/// Sets of a cache that are looked at, at most.
const MOST_SETS: u32 = 1 << 16;
/// Size of type.
const TYPE: f32 = 10.0;

/// Names for the dots that are large enough for it, those on the move and in caches first.
pub(super) fn named_dots(stage: &Stage, regions: &[Region], scene: &Scene, layout: &Layout) -> Vec<NamedDot> {
    if !layout.close {
        return Vec::new();
    }
    let scale = layout.viewport.px_per_unit;
    let large = scene.glyphs.iter().rev().filter(|glyph| glyph.layer <= 3 && glyph.radius * scale >= LEAST_DOT);
    let named = large.filter_map(|glyph| {
        let at = position_at(&scene.rings.sectors, &glyph.flight, scene.now);
        if !layout.area.contains(layout.at(at)) {
            return None;
        }
        let (region, addr, bytes) = extent(stage, glyph)?;
        let region = regions.get(region)?;
        let (first, last) = (addr.max(region.base), addr.saturating_add(bytes - 1));
        let name = named::of_region(region, first, last.min(region.end().saturating_sub(1)).max(first));
        // Of a line, where it begins: its dots stand too close for more.
        let name = name.split_once(" … ").map_or(name.clone(), |(first, _)| format!("{first} …"));
        Some(NamedDot { at, radius: glyph.radius, name })
    });
    named.take(MOST_DOTS).collect()
}

/// Writes the names of dots and the numbers of sets.
pub(super) fn closeup(pen: &Pen<'_>, layout: &Layout, info: &Info, rings: &Rings) {
    if !layout.close {
        return;
    }
    let mut taken: Vec<Rect> = Vec::new();
    let scale = layout.viewport.px_per_unit;
    let mut write = |at: Pos2, words: &str, weight: Weight, ink: palette::Rgba| {
        let font = pen.font(weight, TYPE);
        let galley = pen.painter.layout_no_wrap(words.to_owned(), font, color(ink));
        let area = Align2::CENTER_TOP.anchor_size(at, galley.size()).expand2(vec2(2.0, 0.0));
        let free = layout.upright() || (layout.left.right()..layout.right.left()).contains(&at.x);
        let inside = free && layout.area.contains_rect(area) && area.bottom() < layout.strip.top();
        if inside && !taken.iter().any(|other| other.intersects(area)) {
            pen.bar(area, palette::fade(palette::BACKGROUND, 0.6));
            pen.painter.galley(area.min + vec2(2.0, 0.0), galley, color(ink));
            taken.push(area);
        }
    };
    for sector in rings.sectors.iter().take(rings.caches()) {
        if sector.span * sector.r1 / sector.sets as f32 * scale < LEAST_ARMS * pen.t {
            continue;
        }
        for set in 0..sector.sets.min(MOST_SETS) {
            let [r, theta] = sector.polar(set as f32, sector.ways as f32 - 0.4);
            let at = layout.at([r * theta.cos(), r * theta.sin()]);
            if layout.area.contains(at) {
                write(
                    pos2(at.x, at.y - 0.5 * TYPE * pen.t),
                    &format!("set {set}"),
                    Weight::Medium,
                    palette::TEXT_QUIET,
                );
            }
        }
    }
    for dot in &info.dots {
        let at = layout.at(dot.at);
        let below = pos2(at.x, at.y + dot.radius * scale + 2.0 * pen.t);
        write(below, &dot.name, Weight::Regular, palette::TEXT_BODY);
    }
}
