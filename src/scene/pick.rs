//! What is under the pointer: the inverse of the layout. Glyphs are asked where they are *drawn*, by
//! [`position_at`], so a glyph in flight is found in flight.

use super::frame::Scene;
use super::layout::{HomeLayout, Sector};
use super::motion::position_at;
use std::f32::consts::TAU;

/// Something in the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// A piece of data: index into [`Scene::glyphs`].
    Glyph(usize),
    /// A place on a ring with no glyph near.
    Slot {
        /// Number of the cache, from 0.
        cache: usize,
        /// Set of the nearest slot.
        set: u32,
        /// Rank of the nearest slot.
        rank: u32,
    },
    /// A place in a TLB with no glyph near.
    Entry {
        /// Number of the TLB, from 0, those of each core counted apart.
        tlb: usize,
        /// Set of the nearest entry.
        set: u32,
        /// Rank of the nearest entry.
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
        let [x, y] = position_at(&scene.rings.sectors, &glyph.flight, scene.now);
        let distance = (x - p[0]).hypot(y - p[1]);
        if distance <= glyph.radius.max(reach) && best.is_none_or(|(d, _)| distance <= d) {
            best = Some((distance, index));
        }
    }
    best.map(|(_, index)| index)
}

fn slot_at(scene: &Scene, p: [f32; 2]) -> Option<Pick> {
    let (r, theta) = (p[0].hypot(p[1]), p[1].atan2(p[0]));
    let (cache, sector) = scene.rings.sectors.iter().enumerate().find(|(_, sector)| sector.contains(r, theta))?;
    let (set, rank) = nearest_slot(sector, r, theta);
    let Some(tlb) = scene.rings.tlb_of(cache) else { return Some(Pick::Slot { cache, set, rank }) };
    let (set, rank) = scene.rings.racks[tlb].entry(set, rank)?;
    Some(Pick::Entry { tlb, set, rank })
}

/// Set and rank of the slot nearest to `(r, theta)`, which lies in the sector: of each rank near that radius the nearest
/// arm, of these the nearest slot.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the sector's own ranks and sets"
)]
pub fn nearest_slot(sector: &Sector, r: f32, theta: f32) -> (u32, u32) {
    let last = (sector.ways - 1) as f32;
    let share = (r * r - sector.r0 * sector.r0) / (sector.r1 * sector.r1 - sector.r0 * sector.r0);
    let middle = share * sector.ways as f32 - 0.5;
    let [x, y] = [r * theta.cos(), r * theta.sin()];
    // Half an arm's distance before the first arm is the sector's edge; the gap before that is nearest to it too.
    let before = if sector.is_whole() { 0.0 } else { 0.5 * sector.span / sector.sets as f32 + sector.gap };
    let mut best = (f32::INFINITY, (0, 0));
    for offset in -2i8..=2 {
        let rank = (middle.round() + f32::from(offset)).clamp(0.0, last);
        let arm = sector.polar(0.0, rank)[1];
        let along = (theta - arm + before).rem_euclid(TAU) - before;
        let set = (along / sector.span * sector.sets as f32).round().max(0.0) as u32;
        let set = if sector.is_whole() { set % sector.sets } else { set.min(sector.sets - 1) };
        let [slot_r, slot_theta] = sector.polar(set as f32, rank);
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
    use super::super::layout::{CacheShape, Rings, TlbShape};
    use super::super::motion::{Endpoint, Flight};
    use super::*;
    use crate::reference::Region;

    fn shape(ring: usize, sets: u32, ways: u32) -> CacheShape {
        CacheShape { ring, name: "L".into(), core: None, sets, ways, line_bytes: 32 }
    }

    fn rings() -> Rings {
        Rings::new(&[shape(0, 2, 8), shape(1, 4, 16)])
    }

    fn glyph(layer: u8, id: u64, flight: Flight) -> Glyph {
        let color = [1, 2, 3, 255];
        Glyph { layer, id, flight, radius: 0.008, color, flash: 0.0, pulse: 0.0, burst: 1.0, flags: 0 }
    }

    fn scene(now: f32, glyphs: Vec<Glyph>) -> Scene {
        Scene {
            rings: rings(),
            now,
            disks: vec![],
            cells: vec![],
            structure: vec![],
            trails: vec![],
            glyphs,
            pinned: crate::scene::Pinned::default(),
            labelled: Vec::new(),
            temperatures: vec![],
            shows_temperature: true,
            served: crate::scene::ServedShares::default(),
            notes: Notes::default(),
        }
    }

    fn home() -> HomeLayout {
        let region = |name: &str, base| Region { shape: vec![16, 16].into(), ..Region::new(name, base, 2048) };
        let rings = rings();
        HomeLayout::new(&[region("A", 0x1000), region("B", 0x2000)], 8, rings.home_r0, rings.home_r1)
    }

    #[test]
    fn every_slot_is_its_own_nearest() {
        for (sets, ways) in [(2, 8), (4, 16), (1, 64), (64, 8), (1024, 16), (7, 3), (1, 1), (4096, 1)] {
            for parts in [1u32, 2, 4] {
                let rings = Rings::new(&(0..parts).map(|_| shape(0, sets, ways)).collect::<Vec<_>>());
                for (cache, sector) in rings.sectors.iter().enumerate() {
                    for set in (0..sets).step_by(usize::try_from(sets / 50 + 1).expect("small")) {
                        for rank in 0..ways {
                            let [r, theta] = sector.polar(set as f32, rank as f32);
                            let told = nearest_slot(sector, r, theta);
                            assert_eq!(told, (set, rank), "{sets} sets x {ways} ways, {cache} of {parts}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn each_sector_answers_for_itself_and_a_gap_for_none() {
        let mut scene = scene(0.0, vec![]);
        scene.rings = Rings::new(&[shape(0, 2, 8), shape(1, 4, 16), shape(0, 3, 8), shape(0, 2, 8)]);
        let at = |r: f32, theta: f32| [r * theta.cos(), r * theta.sin()];
        for cache in [0usize, 2, 3] {
            let sector = scene.rings.sectors[cache];
            let [r, theta] = sector.polar(1.0, 5.0);
            let slot = Pick::Slot { cache, set: 1, rank: 5 };
            assert_eq!(pick(&scene, &home(), at(r, theta), 0.01), Some(slot));
            let edge = sector.edges()[1] + sector.turned(r);
            assert_eq!(pick(&scene, &home(), at(r, edge + sector.gap), 0.01), None);
            let inside = pick(&scene, &home(), at(r, edge - 0.01), 0.01);
            assert!(matches!(inside, Some(Pick::Slot { cache: c, set, .. }) if (c, set) == (cache, sector.sets - 1)));
        }
    }

    #[test]
    fn a_tlb_answers_for_its_entries_and_not_for_places_left_over() {
        let tlb = |ring, sets, ways| TlbShape { shape: shape(ring, sets, ways), place: 0 };
        let mut scene = scene(0.0, vec![]);
        scene.rings = Rings::with_tlbs(&[shape(0, 2, 8)], &[tlb(0, 1, 23), tlb(0, 4, 4), tlb(1, 32, 12)]);
        let mut left_over = 0;
        for (tlb, rack) in scene.rings.racks.clone().into_iter().enumerate() {
            let sector = scene.rings.sectors[1 + tlb];
            for (column, row) in (0..sector.sets).flat_map(|c| (0..sector.ways).map(move |r| (c, r))) {
                let [r, theta] = sector.polar(column as f32, row as f32);
                let found = pick(&scene, &home(), [r * theta.cos(), r * theta.sin()], 0.001);
                let expected = rack.entry(column, row).map(|(set, rank)| Pick::Entry { tlb, set, rank });
                assert_eq!(found, expected, "TLB {tlb}, column {column}, row {row}");
                left_over += u32::from(expected.is_none());
            }
        }
        assert!(left_over > 0, "23 entries fill no rectangle");
    }

    #[test]
    fn a_glyph_is_found_where_it_is_drawn_also_in_flight() {
        let flight = Flight::arc(Endpoint::slot(0, 1, 7.0, 0.01), Endpoint::polar(0.9, 2.0), &rings().sectors);
        for now in [0.0, 0.3, 0.7, 1.0] {
            let scene = scene(now, vec![glyph(3, 7, flight)]);
            let p = position_at(&scene.rings.sectors, &flight, now);
            assert_eq!(pick(&scene, &home(), p, 0.004), Some(Pick::Glyph(0)), "at {now}");
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
        let [r, theta] = scene.rings.sectors[1].polar(3.0, 11.0);
        let slot = Pick::Slot { cache: 1, set: 3, rank: 11 };
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
