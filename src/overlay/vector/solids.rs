//! Solids as outlines: triangles, the farthest first. Outlines have no depth, so where triangles pass through each other the one whose
//! middle is nearer is seen whole; and they have one colour, the mean of their corners'.

use super::scene::ink;
use super::{Item, Paint, Step};
use crate::scene::solids::{Facets, Seen};
use egui::pos2;

/// Adds what is seen, `scale` of the space for a point.
pub(super) fn solids(facets: &Facets, scale: f32, items: &mut Vec<Item>) {
    let mut all: Vec<[Seen; 3]> = facets.each().map(|(corners, _)| corners).collect();
    let depth = |corners: &[Seen]| corners.iter().map(|corner| corner.depth).sum::<f32>();
    // What is seen through is in its order already.
    all[..facets.solid].sort_by(|a, b| depth(b).total_cmp(&depth(a)));
    for corners in all {
        let place = |n: usize| pos2(corners[n].at[0] * scale, corners[n].at[1] * scale);
        let steps = vec![Step::Move(place(0)), Step::Line(place(1)), Step::Line(place(2)), Step::Close];
        let sum = |n: usize| corners.iter().map(|corner| u32::from(corner.color[n])).sum::<u32>();
        let mean = [0, 1, 2, 3].map(|n| u8::try_from((sum(n) + 1) / 3).unwrap_or(u8::MAX));
        // Whole pixels: neighbours leave no seam.
        let paint = if mean[3] == u8::MAX { Paint::Crisp } else { Paint::Fill };
        items.push(Item::Path { steps, paint, ink: ink(mean, 1.0) });
    }
}
