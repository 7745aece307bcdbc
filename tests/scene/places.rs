//! The picture keeps the promises of the rings paper (Choudhury & Rosen 2011), checked on scenes of real traces: where
//! things stand. Names carry the lines of the feature checklist; what a scene should hold is worked out here from
//! [`Hierarchy`](orrery::sim::Hierarchy) alone.
#![cfg(feature = "formats")]

use crate::support::scene::{Show, TRACES, addr, data, dots, everywhere, holders, is_ghost, level};
use orrery::scene::frame::flags;
use orrery::scene::layout::{CacheShape, Rings};
use orrery::scene::motion::{Flight, Path, position_at};
use orrery::scene::{Glyph, View, palette};
use orrery::units::{CacheId, SetIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::f32::consts::TAU;

#[test]
fn c6_c7_the_cpu_is_the_centre_and_rings_follow_in_order() {
    everywhere(3, &View::default(), |scene, _, _, at| {
        let cpu: Vec<&Glyph> = scene.glyphs.iter().filter(|g| g.layer == 4).collect();
        assert_eq!(cpu.len(), 1, "{at}");
        assert_eq!(position_at(&scene.rings.sectors, &cpu[0].flight, 0.5), [0.0, 0.0], "{at}");
        let mut edge = cpu[0].radius;
        for ring in &scene.rings.rings {
            assert!(ring.r0 > edge && ring.r1 > ring.r0, "{at}: {ring:?}");
            edge = ring.r1;
        }
        assert!(scene.rings.home_r0 > edge && scene.rings.home_r1 > scene.rings.home_r0, "{at}");
    });
}

#[test]
fn c8_c9_any_number_of_levels_lays_out_and_larger_levels_get_more_room() {
    let shape = |ring: usize| CacheShape {
        ring,
        name: format!("L{ring}"),
        core: None,
        sets: 16 << (2 * ring),
        ways: 8,
        line_bytes: 64,
    };
    for count in 1..=8 {
        let rings = Rings::new(&(0..count).map(shape).collect::<Vec<_>>());
        let area = |n: usize| rings.rings[n].r1.powi(2) - rings.rings[n].r0.powi(2);
        for n in 1..rings.rings.len() {
            assert!(rings.rings[n].r0 > rings.rings[n - 1].r1, "{count} levels: {n} overlaps");
            assert!(area(n) > area(n - 1), "{count} levels: level {n} is larger and has less room");
        }
    }
}

#[test]
fn c10_an_arm_for_each_set_from_the_inner_border() {
    let mut show = Show::open("matmul16");
    let scene = show.scene(100.0, &View::default());
    for (level, sets) in [(0u8, 2), (1, 4)] {
        let arms: BTreeSet<u32> = scene
            .structure
            .iter()
            .filter(|s| s.flight.path == Path::Slide && s.flight.to.cache == f32::from(level))
            .map(|s| s.flight.to.a.to_bits())
            .collect();
        assert_eq!(arms.len(), sets, "arms of level {level}");
        let ring = &scene.rings.sectors[usize::from(level)];
        assert_eq!(ring.radius(-0.5), ring.r0);
        assert!((ring.radius(ring.ways as f32 - 0.5) - ring.r1).abs() < 1e-6);
        // Interlocking: the arms of a ring start evenly round it.
        let starts: Vec<f32> = (0..ring.sets).map(|s| ring.polar(s as f32, 0.0)[1]).collect();
        for pair in starts.windows(2) {
            assert!((pair[1] - pair[0] - TAU / ring.sets as f32).abs() < 1e-5);
        }
    }
}

#[test]
fn c11_c12_c17_glyphs_stand_where_the_simulator_has_them_and_each_extra_copy_is_a_ghost() {
    let mut ghosts = 0;
    everywhere(60, &View::default(), |scene, moment, stage, at| {
        // Every item of every resident line: level, set, rank, item, dirt.
        let glyph_bytes = stage.items().glyph_bytes;
        let mut expected = BTreeSet::new();
        for l in moment.after.caches() {
            let geometry = moment.after.geometry(l);
            let bytes = u64::from(geometry.line_bytes);
            for set in 0..geometry.sets {
                for (rank, resident) in moment.after.order(l, SetIndex(set)).enumerate() {
                    for item in dots(stage, resident.line.base(geometry.line_bytes).0, bytes) {
                        // The set is a property of the address alone.
                        assert_eq!(item * glyph_bytes / bytes % u64::from(geometry.sets), u64::from(set));
                        expected.insert((l.index(), set, rank, item, resident.dirty));
                    }
                }
            }
        }
        let mut found = BTreeSet::new();
        for glyph in data(scene) {
            let Some(l) = level(glyph) else { continue };
            let ring = &scene.rings.sectors[l];
            let set = (0..ring.sets).find(|s| *s as f32 == glyph.flight.to.a).expect("a set");
            let rank = (0..ring.ways as usize).find(|r| *r as f32 == glyph.flight.to.b).expect("a rank");
            let dirty = glyph.flags & flags::DIRTY != 0;
            assert!(found.insert((l, set, rank, glyph.id, dirty)), "{at}: item {} drawn twice", glyph.id);
            let holders = holders(moment.after, addr(glyph, stage));
            assert_eq!(is_ghost(glyph), holders[0] != l, "{at}: item {} at level {l}, held by {holders:?}", glyph.id);
            ghosts += u32::from(is_ghost(glyph));
        }
        // What lies past a region's end belongs to no array, has no dot and is not drawn.
        assert_eq!(expected.difference(&found).next(), None, "{at}: resident and not drawn");
        assert_eq!(found.difference(&expected).next(), None, "{at}: drawn and not resident");
    });
    assert!(ghosts > 10_000, "{ghosts}");
}

#[test]
fn c13_under_lru_the_distance_is_the_time_since_use() {
    for name in TRACES {
        let mut show = Show::open(name);
        let references = show.references();
        let mut compared = 0;
        for tick in show.ticks(25) {
            show.at(tick as f64 + 0.9, &View::default(), |scene, moment, stage| {
                let line = u64::from(moment.after.geometry(CacheId(0)).line_bytes);
                // When each line of L1 was touched last: only references reach L1.
                let mut last: BTreeMap<u64, usize> = BTreeMap::new();
                for (n, r) in references.iter().enumerate().take(usize::try_from(tick + 1).expect("small")) {
                    for l in r.addr / line..=(r.addr + u64::from(r.size) - 1) / line {
                        last.insert(l, n);
                    }
                }
                let mut arms: BTreeMap<u32, Vec<(f32, usize)>> = BTreeMap::new();
                for glyph in data(scene).filter(|g| level(g) == Some(0)) {
                    let radius = glyph.flight.to.position_polar(&scene.rings.sectors)[0];
                    let used = last[&(addr(glyph, stage) / line)];
                    arms.entry(glyph.flight.to.a.to_bits()).or_default().push((radius, used));
                }
                for (_, mut arm) in arms {
                    arm.sort_by(|a, b| a.0.total_cmp(&b.0));
                    assert!(arm.windows(2).all(|w| w[0].1 >= w[1].1), "{name} at {tick}: {arm:?}");
                    compared += arm.len();
                }
            });
        }
        assert!(compared > 500, "{name}: {compared}");
    }
}

#[test]
fn c16_homes_never_move_and_copies_elsewhere_make_them_fainter() {
    for name in TRACES {
        let mut show = Show::open(name);
        let mut homes: BTreeMap<u64, Flight> = BTreeMap::new();
        let (mut full, mut faint) = (0, 0);
        for tick in show.ticks(20) {
            show.at(tick as f64 + 0.6, &View::default(), |scene, moment, stage| {
                // Data on its way home is drawn as a glyph of its own.
                let coming: BTreeSet<u64> =
                    data(scene).filter(|g| level(g).is_none()).map(|g| addr(g, stage)).collect();
                for glyph in scene.glyphs.iter().filter(|g| g.layer == 0) {
                    assert_eq!(glyph.flight.path, Path::Rest);
                    assert_eq!(*homes.entry(glyph.id).or_insert(glyph.flight), glyph.flight, "{name} at {tick}");
                    let all = &stage.home().regions;
                    let region = all.iter().rposition(|r| r.first_item <= glyph.id).expect("a region");
                    let at = all[region].base
                        + (glyph.id - all[region].first_item) * stage.home().regions[region].item_bytes;
                    let elsewhere = !holders(moment.after, at).is_empty() || coming.contains(&at);
                    let most = palette::fade(palette::region(region), 0.72)[3];
                    assert_eq!(glyph.color[3] < most, elsewhere, "{name} at {tick}: item {} at home", glyph.id);
                    (full, faint) = (full + u32::from(!elsewhere), faint + u32::from(elsewhere));
                }
            });
        }
        assert!(full > 100 && faint > 100, "{name}: {full} full, {faint} faint");
    }
}

#[test]
fn c22_colour_is_the_home_region() {
    let mut regions = BTreeSet::new();
    everywhere(30, &View::default(), |scene, moment, stage, at| {
        for glyph in data(scene) {
            let (region, _) = stage.home().item(addr(glyph, stage), moment.tick).expect("an array's item");
            assert_eq!(glyph.color, palette::region(region), "{at}: item {}", glyph.id);
            regions.insert(region);
        }
    });
    assert!(regions.len() >= 5, "{regions:?}");
}

#[test]
fn c24_at_rest_all_of_a_ring_are_of_one_size() {
    let mut compared = 0;
    everywhere(10, &View::default(), |scene, _, stage, at| {
        // Dots that stand for the same: an element and a line may differ.
        let mut sizes: BTreeMap<(usize, u64), BTreeSet<u32>> = BTreeMap::new();
        for glyph in data(scene).filter(|g| g.flight.path == Path::Rest) {
            let (region, _) = stage.home().item(addr(glyph, stage), 0).expect("an array's item");
            if let Some(level) = level(glyph) {
                let of = (level, stage.items().glyph_of(region));
                sizes.entry(of).or_default().insert(glyph.radius.to_bits());
            }
        }
        assert!(sizes.values().all(|s| s.len() == 1), "{at}: {sizes:?}");
        // Where dots at home stand for what those in caches do, all of the picture are of one size.
        let home = stage.home();
        let alike = (0..home.regions.len()).all(|n| home.regions[n].item_bytes == stage.items().glyph_of(n));
        if alike && stage.items().is_uniform() {
            let rests = data(scene).filter(|g| g.flight.path == Path::Rest);
            let all: BTreeSet<u32> = rests.map(|glyph| glyph.radius.to_bits()).collect();
            assert!(all.len() == 1, "{at}: {all:?}");
            compared += 1;
        }
    });
    assert!(compared > 10, "home and caches were compared {compared} times");
}
