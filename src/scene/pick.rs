//! What is under the pointer: the inverse of the layout. Glyphs are asked where they are *drawn*, by
//! [`position_at`], so a glyph in flight is found in flight.

use super::frame::Scene;
use super::layout::{HomeLayout, Ring};
use super::motion::position_at;
use std::f32::consts::TAU;

/// Something in the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// A piece of data: index into [`Scene::glyphs`].
    Glyph(usize),
    /// A place on a ring with no glyph near.
    Slot {
        /// Level from 0.
        level: usize,
        /// Set of the nearest slot.
        set: u32,
        /// Rank of the nearest slot.
        rank: u32,
    },
    /// The band or arc of a region, away from its dots: index of the region.
    Region(usize),
}

/// What is at `p` (world units). A glyph counts up to `reach` from its centre, or its own radius if that is more: of
/// several the nearest, of several at one place the one drawn last.
#[must_use]
pub fn pick(scene: &Scene, home: &HomeLayout, p: [f32; 2], reach: f32) -> Option<Pick> {
    if !(p[0].is_finite() && p[1].is_finite()) {
        return None;
    }
    glyph_at(scene, p, reach).map(Pick::Glyph).or_else(|| slot_at(scene, p)).or_else(|| region_at(scene, home, p))
}

fn glyph_at(scene: &Scene, p: [f32; 2], reach: f32) -> Option<usize> {
    let mut best: Option<(f32, usize)> = None;
    for (index, glyph) in scene.glyphs.iter().enumerate().filter(|(_, g)| g.color[3] > 0) {
        let [x, y] = position_at(&scene.rings.levels, &glyph.flight, scene.phase);
        let distance = (x - p[0]).hypot(y - p[1]);
        if distance <= glyph.radius.max(reach) && best.is_none_or(|(d, _)| distance <= d) {
            best = Some((distance, index));
        }
    }
    best.map(|(_, index)| index)
}

fn slot_at(scene: &Scene, p: [f32; 2]) -> Option<Pick> {
    let r = p[0].hypot(p[1]);
    let (level, ring) = scene.rings.levels.iter().enumerate().find(|(_, ring)| (ring.r0..=ring.r1).contains(&r))?;
    let (set, rank) = nearest_slot(ring, r, p[1].atan2(p[0]));
    Some(Pick::Slot { level, set, rank })
}

/// Set and rank of the slot nearest to `(r, theta)`, which lies on the ring: of each rank near that radius the nearest
/// arm, of these the nearest slot.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the ring's own ranks and sets")]
pub fn nearest_slot(ring: &Ring, r: f32, theta: f32) -> (u32, u32) {
    let last = (ring.ways - 1) as f32;
    let share = (r * r - ring.r0 * ring.r0) / (ring.r1 * ring.r1 - ring.r0 * ring.r0);
    let middle = share * ring.ways as f32 - 0.5;
    let [x, y] = [r * theta.cos(), r * theta.sin()];
    let mut best = (f32::INFINITY, (0, 0));
    for offset in -2i8..=2 {
        let rank = (middle.round() + f32::from(offset)).clamp(0.0, last);
        let arm = ring.polar(0.0, rank)[1];
        let set = ((theta - arm).rem_euclid(TAU) / TAU * ring.sets as f32).round() as u32 % ring.sets;
        let [slot_r, slot_theta] = ring.polar(set as f32, rank);
        let distance = (slot_r * slot_theta.cos() - x).hypot(slot_r * slot_theta.sin() - y);
        if distance < best.0 {
            best = (distance, (set, rank as u32));
        }
    }
    best.1
}

fn region_at(scene: &Scene, home: &HomeLayout, p: [f32; 2]) -> Option<Pick> {
    let r = p[0].hypot(p[1]);
    if !(scene.rings.home_r0..=scene.rings.rim + 0.02).contains(&r) {
        return None;
    }
    let theta = p[1].atan2(p[0]);
    let inside = |from: f32, span: f32| (theta - from).rem_euclid(TAU) <= span;
    home.regions.iter().position(|region| inside(region.theta0, region.span)).map(Pick::Region)
}

#[cfg(test)]
mod tests {
    use super::super::frame::{Glyph, Notes};
    use super::super::layout::{LevelShape, Rings};
    use super::super::motion::{Endpoint, Flight};
    use super::*;
    use crate::reference::Region;

    fn rings() -> Rings {
        let shape = |sets, ways| LevelShape { name: "L".into(), sets, ways, line_bytes: 32 };
        Rings::new(&[shape(2, 8), shape(4, 16)])
    }

    fn glyph(layer: u8, id: u64, flight: Flight) -> Glyph {
        let color = [1, 2, 3, 255];
        Glyph { layer, id, flight, radius: 0.008, color, flash: 0.0, pulse: 0.0, burst: 1.0, flags: 0 }
    }

    fn scene(phase: f32, glyphs: Vec<Glyph>) -> Scene {
        Scene {
            rings: rings(),
            phase,
            disks: vec![],
            structure: vec![],
            trails: vec![],
            glyphs,
            temperatures: vec![],
            notes: Notes::default(),
        }
    }

    fn home() -> HomeLayout {
        let region = |name: &str, base| Region {
            name: name.into(),
            base,
            bytes: 2048,
            elem_bytes: 8,
            elem_type: String::new(),
            shape: vec![16, 16],
            row_major: true,
            lifetime: None,
        };
        let rings = rings();
        HomeLayout::new(&[region("A", 0x1000), region("B", 0x2000)], 8, rings.home_r0, rings.home_r1)
    }

    #[test]
    fn every_slot_is_its_own_nearest() {
        let shape = |sets, ways| LevelShape { name: "L".into(), sets, ways, line_bytes: 32 };
        for (sets, ways) in [(2, 8), (4, 16), (1, 64), (64, 8), (1024, 16), (7, 3), (1, 1), (4096, 1)] {
            let ring = Rings::new(&[shape(sets, ways)]).levels[0];
            for set in (0..sets).step_by(usize::try_from(sets / 50 + 1).expect("small")) {
                for rank in 0..ways {
                    let [r, theta] = ring.polar(set as f32, rank as f32);
                    assert_eq!(nearest_slot(&ring, r, theta), (set, rank), "{sets} sets x {ways} ways");
                }
            }
        }
    }

    #[test]
    fn a_glyph_is_found_where_it_is_drawn_also_in_flight() {
        let flight = Flight::arc(Endpoint::slot(0, 1, 7.0, 0.01), Endpoint::polar(0.9, 2.0), &rings().levels);
        for phase in [0.0, 0.3, 0.7, 1.0] {
            let scene = scene(phase, vec![glyph(3, 7, flight)]);
            let p = position_at(&scene.rings.levels, &flight, phase);
            assert_eq!(pick(&scene, &home(), p, 0.004), Some(Pick::Glyph(0)), "phase {phase}");
            assert_ne!(pick(&scene, &home(), [p[0] + 0.02, p[1]], 0.004), Some(Pick::Glyph(0)));
        }
    }

    #[test]
    fn the_nearest_wins_then_the_one_on_top_and_the_unseen_never() {
        let at = |x: f32| Flight::rest(Endpoint::polar(x, 0.0));
        let mut ghost = glyph(3, 9, at(0.5));
        ghost.color[3] = 0;
        let scene = scene(0.0, vec![glyph(0, 1, at(0.5)), glyph(2, 2, at(0.5)), glyph(2, 3, at(0.51)), ghost]);
        assert_eq!(pick(&scene, &home(), [0.5, 0.0], 0.02), Some(Pick::Glyph(1)));
        assert_eq!(pick(&scene, &home(), [0.507, 0.0], 0.02), Some(Pick::Glyph(2)));
    }

    #[test]
    fn away_from_glyphs_there_are_slots_then_regions_then_nothing() {
        let scene = scene(0.0, vec![]);
        let home = home();
        let [r, theta] = scene.rings.levels[1].polar(3.0, 11.0);
        let slot = Pick::Slot { level: 1, set: 3, rank: 11 };
        assert_eq!(pick(&scene, &home, [r * theta.cos(), r * theta.sin()], 0.01), Some(slot));
        for (index, region) in home.regions.iter().enumerate() {
            let theta = region.theta0 + 0.9 * region.span;
            assert_eq!(pick(&scene, &home, [theta.cos(), theta.sin()], 0.01), Some(Pick::Region(index)));
        }
        assert_eq!(pick(&scene, &home, [0.0, -1.0], 0.01), None, "the gap between the arcs");
        assert_eq!(pick(&scene, &home, [1.3, 0.0], 0.01), None);
        assert_eq!(pick(&scene, &home, [0.05, 0.0], 0.01), None, "between CPU and L1");
        assert_eq!(pick(&scene, &home, [f32::NAN, 0.0], 0.01), None);
    }
}
