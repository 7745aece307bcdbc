//! The picture keeps the promises of the rings paper (Choudhury & Rosen 2011), checked on scenes of real traces: how
//! things move and glow. Names carry the lines of the feature checklist.
#![cfg(feature = "formats")]

use crate::support::scene::{
    Show, TRACES, addr, data, distance, dot_of, dots, everywhere, holders, is_ghost, level, off_line,
};
use orrery::scene::motion::{Flight, Path, position_at};
use orrery::scene::{Glyph, View};
use orrery::sim::{AccessKind, Event};
use orrery::timeline::Moment;
use orrery::units::CacheId;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn c14_a_hit_slides_to_the_head_of_its_arm() {
    let mut slides = 0;
    everywhere(120, &View::default(), |scene, moment, stage, at| {
        let first = moment.events.iter().find_map(|e| match *e {
            Event::Access { cache: CacheId(0), line, set, hit, .. } => Some((line, set, hit)),
            _ => None,
        });
        let Some((line, set, true)) = first else { return };
        let (_, rank) = moment.before.rank(CacheId(0), line).expect("a hit was there");
        let bytes = u64::from(moment.before.geometry(CacheId(0)).line_bytes);
        let rings = &scene.rings.sectors;
        for glyph in data(scene).filter(|g| level(g) == Some(0) && addr(g, stage) / bytes == line.0) {
            assert_eq!((glyph.flight.to.a, glyph.flight.to.b), (set.0 as f32, 0.0), "{at}");
            if rank == 0 {
                assert_eq!(glyph.flight.path, Path::Rest, "{at}");
                continue;
            }
            assert_eq!((glyph.flight.path, glyph.flight.from.b), (Path::Slide, rank as f32), "{at}");
            let place = |s: u8| position_at(rings, &glyph.flight, f32::from(s) / 16.0);
            let radii: Vec<f32> = (0..=16u8).map(|s| place(s)[0].hypot(place(s)[1])).collect();
            // Beside the arm's middle the radius may lag a little; it never leaves the ring.
            let aside = glyph.flight.to.across.abs();
            assert!(radii.windows(2).all(|w| w[1] <= w[0] + 0.2 * aside + 1e-6), "{at}: {radii:?}");
            let inside = rings[0].r0 - aside..=rings[0].r1 + aside;
            assert!(radii.iter().all(|r| inside.contains(r)), "{at}: {radii:?}");
            slides += 1;
        }
    });
    assert!(slides > 100, "{slides}");
}

#[test]
fn c15_c19_a_miss_brings_all_elements_of_its_line_straight_in() {
    let mut lines = 0;
    everywhere(150, &View::default(), |scene, moment, stage, at| {
        assert_eq!((stage.items().glyph_bytes, stage.items().grain_bytes), (8, 32), "{at}: a dot is an element");
        for event in moment.events {
            let Event::Fill { cache: CacheId(0), line, set, .. } = *event else { continue };
            let bytes = u64::from(moment.after.geometry(CacheId(0)).line_bytes);
            if moment.after.rank(CacheId(0), line).is_none_or(|(_, rank)| rank > 0) {
                continue;
            }
            let of_line = |g: &&Glyph| level(g) == Some(0) && addr(g, stage) / bytes == line.0;
            let items: Vec<&Glyph> = data(scene).filter(of_line).collect();
            let whole = (0..4).all(|n| stage.home().item((line.0 * 4 + n) * 8, 0).is_some());
            let expected = dots(stage, line.0 * bytes, bytes).len();
            assert!(expected == 4 || expected == 1, "{at}: elements, or a line");
            assert!(!whole || items.len() == expected, "{at}: {} of {expected} dots of a line", items.len());
            for glyph in items {
                let Flight { from, to, path, .. } = glyph.flight;
                assert_eq!((path, to.cache, to.a, to.b), (Path::Straight, 0.0, set.0 as f32, 0.0), "{at}");
                let served_by = holders(moment.before, addr(glyph, stage)).first().copied();
                assert_eq!(served_by.map_or(-1.0, |l| l as f32), from.cache, "{at}: flies in from where it was");
                let [a, m, b] = [0.0, 0.37, 1.0].map(|s| position_at(&scene.rings.sectors, &glyph.flight, s));
                assert!(off_line(m, a, b) < 1e-5, "{at}: bends");
            }
            lines += 1;
        }
    });
    assert!(lines > 50, "{lines}");
}

#[test]
fn c18_all_moves_take_one_tick_so_far_ones_are_fast() {
    let mut flights = 0;
    everywhere(60, &View::default(), |scene, _, _, at| {
        let rings = &scene.rings.sectors;
        for glyph in data(scene).filter(|g| g.flight.path != Path::Rest) {
            let place = |s| position_at(rings, &glyph.flight, s);
            assert!(distance(place(0.0), glyph.flight.from.position(rings)) < 1e-5, "{at}: starts at 0");
            assert!(distance(place(1.0), glyph.flight.to.position(rings)) < 1e-5, "{at}: arrives at 1");
            if glyph.flight.path == Path::Straight {
                // Half way at half time, at a speed of 1.5 lengths a tick, whatever the length.
                let length = distance(place(0.0), place(1.0));
                assert!((distance(place(0.0), place(0.5)) - 0.5 * length).abs() < 1e-5, "{at}");
                let speed = distance(place(0.49), place(0.51)) / 0.02;
                assert!((speed / length - 1.5).abs() < 0.01, "{at}: {speed} for {length}");
            }
            flights += 1;
        }
    });
    assert!(flights > 500, "{flights}");
}

#[test]
fn c20_c21_evictions_flee_in_arcs_from_l1_to_l2_to_memory() {
    let mut ways: BTreeMap<(usize, Option<usize>), u32> = BTreeMap::new();
    // How far each leaves its chord, in chords.
    let mut bends: Vec<f32> = Vec::new();
    let mut show = Show::open("array_init");
    for tick in 0..show.len {
        show.at(tick as f64 + 0.5, &View::default(), |scene, _, stage| {
            for glyph in data(scene).filter(|g| g.flight.path == Path::Arc) {
                let from = (0u8..2).position(|l| f32::from(l) == glyph.flight.from.cache).expect("leaves a cache");
                *ways.entry((from, level(glyph))).or_default() += 1;
                let at = |s: u8| position_at(&scene.rings.sectors, &glyph.flight, f32::from(s) / 16.0);
                let bend = (1..16).map(|s| off_line(at(s), at(0), at(16))).fold(0.0, f32::max);
                bends.push(bend / distance(at(0), at(16)));
                assert!(stage.home().item(addr(glyph, stage), tick).is_some());
            }
        });
    }
    bends.sort_by(f32::total_cmp);
    // Even where the new place lies straight ahead, and well off the chord otherwise.
    assert!(
        bends[0] > 0.015 && bends[bends.len() / 10] > 0.03 && bends[bends.len() / 2] > 0.1,
        "{:?}",
        &bends[..bends.len() / 2]
    );
    // Dirty data ages ring by ring: none skips L2.
    let way = |from, to| ways.get(&(from, to)).copied().unwrap_or(0);
    assert!(way(0, Some(1)) > 100 && way(1, None) > 100, "{ways:?}");
    assert_eq!(ways.len(), 2, "{ways:?}");
}

/// The first byte that the reference under way touches, and whether it misses in L1.
fn touched(moment: &Moment<'_>) -> Option<(u64, bool)> {
    let missed = moment.events.iter().any(
        |e| matches!(e, Event::Access { cache: CacheId(0), kind, hit: false, .. } if *kind != AccessKind::Writeback),
    );
    moment.reference.map(|r| (r.addr, missed))
}

#[test]
fn c23_c25_c26_red_and_pulse_come_with_the_miss_and_fade() {
    let view = View { speed: 1.0, tail: 8, ..View::default() };
    let (mut misses, mut hits) = (0, 0);
    for name in TRACES {
        let mut show = Show::open(name);
        for tick in show.ticks(60).into_iter().filter(|t| *t < Show::open(name).len) {
            let mut before: Option<Glyph> = None;
            for step in 0..8u8 {
                let position = tick as f64 + 0.12 * f64::from(step);
                let (glyph, missed) = show.at(position, &view, |scene, moment, stage| {
                    let (at, missed) = touched(moment).expect("a reference");
                    let glyph = data(scene).find(|g| !is_ghost(g) && g.id == dot_of(stage, at));
                    (*glyph.expect("what is touched is in a cache"), missed)
                });
                match before {
                    None => {
                        // Together, and at their peak.
                        assert_eq!(glyph.pulse, 1.0, "{name} at {tick}");
                        // A line that missed one second ago still glows a little.
                        assert_eq!((glyph.flash > 0.7, glyph.flash > 0.1), (missed, missed), "{name} at {tick}");
                        assert_eq!(glyph.burst < 1.0, missed, "{name} at {tick}");
                        (misses, hits) = (misses + u32::from(missed), hits + u32::from(!missed));
                    }
                    Some(before) => {
                        assert!(glyph.pulse < before.pulse, "{name} at {position}: the pulse fades");
                        assert!(!missed || glyph.flash < before.flash, "{name} at {position}: the flash fades");
                        assert!(glyph.burst >= before.burst, "{name} at {position}: the burst widens");
                    }
                }
                before = Some(glyph);
            }
        }
    }
    assert!(misses > 30 && hits > 30, "{misses} misses, {hits} hits");
}

#[test]
fn c23_nothing_else_is_red() {
    let view = View { speed: 8.0, ..View::default() };
    everywhere(40, &view, |scene, moment, stage, at| {
        // What was touched in the last 1.2 seconds, and what of it missed.
        let steps = moment.log.steps((moment.tick + 1).saturating_sub(10), moment.tick + 1);
        let grain = stage.items().grain_bytes;
        let missed: BTreeSet<u64> = steps.iter().filter(|s| s.misses != 0).map(|s| s.addr / grain).collect();
        let used: BTreeSet<u64> = steps.iter().map(|s| dot_of(stage, s.addr)).collect();
        for glyph in data(scene) {
            let line = addr(glyph, stage) / grain;
            assert!(glyph.flash == 0.0 || missed.contains(&line), "{at}: item {} glows and did not miss", glyph.id);
            assert!(glyph.pulse == 0.0 || used.contains(&glyph.id), "{at}: item {} pulses untouched", glyph.id);
            assert!(glyph.burst == 1.0 || used.contains(&glyph.id), "{at}: item {} bursts untouched", glyph.id);
        }
        let home = |g: &&Glyph| g.layer == 0;
        assert!(scene.glyphs.iter().filter(home).all(|g| (g.flash, g.pulse, g.burst) == (0.0, 0.0, 1.0)), "{at}");
    });
}

#[test]
fn c27_what_no_reference_touches_stands_still() {
    let mut still = 0;
    everywhere(60, &View::default(), |scene, moment, stage, at| {
        let asked: BTreeSet<(usize, u64)> = moment
            .events
            .iter()
            .filter_map(|e| match *e {
                Event::Access { cache, set, .. } => Some((cache.index(), u64::from(set.0))),
                _ => None,
            })
            .collect();
        for glyph in data(scene) {
            let Some(l) = level(glyph) else { continue };
            let bytes = u64::from(moment.after.geometry(CacheId(u16::try_from(l).expect("small"))).line_bytes);
            let set = addr(glyph, stage) / bytes % u64::from(scene.rings.sectors[l].sets);
            if asked.contains(&(l, set)) {
                continue;
            }
            // What an inner ring drops comes out to its copy here, though nobody asked this set.
            let dropped = !is_ghost(glyph) && holders(moment.before, addr(glyph, stage)).first() != Some(&l);
            assert!(dropped || glyph.flight == Flight::rest(glyph.flight.to), "{at}: item {}", glyph.id);
            still += 1;
        }
    });
    assert!(still > 5_000, "{still}");
}

#[test]
fn c40_initialising_an_array_walks_round_the_ring() {
    let mut show = Show::open("array_init");
    let (mut last, mut lines, mut backward): (Option<f32>, BTreeSet<u64>, u64) = (None, BTreeSet::new(), 0);
    for tick in 0..show.len {
        show.at(tick as f64, &View::default(), |_, moment, stage| {
            for event in moment.events {
                let Event::Fill { cache: CacheId(0), line, .. } = *event else { continue };
                assert!(lines.insert(line.0), "tick {tick}: line {} comes in twice", line.0);
                let (region, item) = stage.home().item(line.base(32).0, tick).expect("the array");
                let [_, theta] = stage.home().polar(region, item);
                backward += u64::from(last.is_some_and(|before| theta < before));
                last = Some(theta);
            }
        });
    }
    // 1,024 doubles are 256 lines, each filled once; back only where a row of the array's arc ends.
    assert_eq!(lines.len(), 256);
    assert_eq!(backward, show.stage.home().regions[0].rows - 1);
}
