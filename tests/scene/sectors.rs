//! Split, private, inclusive, exclusive and prefetching caches on stage: every copy stands in its own sector, moves from
//! where it was, and carries its signs. What a scene should hold is worked out from the hierarchy alone.
#![cfg(feature = "formats")]

use crate::support::regions::row;
use crate::support::scene::{Show, addr, data, is_ghost, level};
use orrery::reference::{Kind, MemoryTrace, Reference, Tables};
use orrery::scene::frame::flags;
use orrery::scene::motion::{Endpoint, Path};
use orrery::scene::{Glyph, View};
use orrery::sim::config::HierarchyConfig;
use orrery::sim::{Event, Hierarchy};
use orrery::trace::synth::Rng;
use orrery::units::{Addr, SetIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An array of doubles.
/// A level of 32-byte lines.
fn of(name: &str, lines: u64, ways: u32, more: &str) -> String {
    format!("[[level]]\nname = \"{name}\"\nsize = {}\nline = 32\nways = {ways}\n{more}\n", lines * 32)
}

fn hierarchy(top: &str, levels: &[String]) -> Hierarchy {
    let text = format!("name = \"test\"\n{top}\n{}", levels.concat());
    Hierarchy::new(&HierarchyConfig::from_toml(&text, "test").expect("sound")).expect("sound")
}

/// Every relation that a configuration can have, each as small as paper's.
fn hierarchies() -> Vec<(&'static str, Hierarchy)> {
    let (data, code) = ("holds = \"data\"", "holds = \"instructions\"");
    vec![
        ("split", hierarchy("", &[of("L1I", 16, 8, code), of("L1D", 16, 4, data), of("L2", 64, 16, "")])),
        ("four cores", hierarchy("cores = 4", &[of("L1", 16, 8, ""), of("L2", 64, 16, "shared = true")])),
        (
            "four cores, split, private L2",
            hierarchy(
                "cores = 4",
                &[
                    of("L1I", 8, 2, code),
                    of("L1D", 8, 4, data),
                    of("L2", 32, 8, ""),
                    of("L3", 128, 16, "shared = true"),
                ],
            ),
        ),
        ("inclusive", hierarchy("", &[of("L1", 16, 8, ""), of("L2", 32, 8, "inclusion = \"inclusive\"")])),
        ("exclusive", hierarchy("", &[of("L1", 16, 8, ""), of("L2", 32, 8, "inclusion = \"exclusive\"")])),
        ("prefetch", hierarchy("", &[of("L1", 16, 8, "prefetch = \"next-line\""), of("L2", 64, 16, "")])),
        ("tree", hierarchy("", &[of("L1", 16, 8, "policy = \"tree-plru\""), of("L2", 64, 16, "policy = \"srrip\"")])),
    ]
}

/// References of all cores: their own part of an array, and some to all.
fn references(cores: u64, count: u64, seed: u64) -> Vec<Reference> {
    let mut rng = Rng::new(seed);
    (0..count)
        .map(|n| {
            let core = rng.below(cores);
            let kind = [Kind::Read, Kind::Read, Kind::Write, Kind::Modify, Kind::Fetch]
                [usize::try_from(rng.below(5)).expect("small")];
            let addr = match (kind, rng.below(4)) {
                (Kind::Fetch, _) => 0x1000 + rng.below(64) * 8,
                (_, 0) => 0x4000 + rng.below(16) * 8,
                _ => 0x8000 + core * 512 + (n / 3 * 8 + rng.below(8) * 8) % 512,
            };
            Reference { core: u16::try_from(core).expect("small"), ..Reference::new(kind, addr, 8) }
        })
        .collect()
}

fn show(hierarchy: Hierarchy, references: Vec<Reference>) -> Show {
    let regions = vec![row("code", 0x1000, 8, 64), row("common", 0x4000, 8, 16), row("own", 0x8000, 8, 256)];
    let tables = Tables { regions, ..Tables::default() };
    Show::under(Arc::new(MemoryTrace::new(references, tables)), hierarchy)
}

#[test]
fn every_copy_stands_in_its_sector_with_its_signs() {
    for (name, hierarchy) in hierarchies() {
        let cores = u64::from(hierarchy.config().cores);
        let mut show = show(hierarchy, references(cores, 1_500, 11));
        let (mut drawn, mut ghosts, mut hollow) = (0, 0, 0);
        for tick in (0..=show.len).step_by(7) {
            show.at(tick as f64 + 0.3, &View::default(), |scene, moment, stage| {
                let state = moment.after;
                let mut expected = BTreeMap::new();
                let held = |cache, at| state.rank(cache, Addr(at).line(state.geometry(cache).line_bytes)).is_some();
                for cache in state.caches() {
                    let inside: Vec<_> =
                        state.caches().filter(|c| state.info(*c).depth < state.info(cache).depth).collect();
                    for set in 0..state.geometry(cache).sets {
                        for (resident, rank) in state.order(cache, SetIndex(set)).zip(0u32..) {
                            for item in resident.line.0 * 4..resident.line.0 * 4 + 4 {
                                let ghost = inside.iter().any(|&c| held(c, item * 8));
                                let sign = |is, flag| if is { flag } else { 0 };
                                let flags = sign(ghost, flags::GHOST)
                                    | sign(resident.dirty, flags::DIRTY)
                                    | sign(resident.prefetched, flags::HOLLOW);
                                expected.insert((cache.index(), set, rank, item), flags);
                            }
                        }
                    }
                }
                let mut found = BTreeMap::new();
                // What was taken away fades where it stood: it is no copy any more.
                for glyph in data(scene).filter(|g| g.color[3] == 255) {
                    let Some(cache) = level(glyph) else { continue };
                    let Endpoint { a, b, .. } = glyph.flight.to;
                    let number = |v: f32| (0..1_000u32).find(|n| *n as f32 == v).expect("a whole number");
                    let old = found.insert((cache, number(a), number(b), glyph.id), glyph.flags);
                    assert_eq!(old, None, "{name} at {tick}: item {} drawn twice", glyph.id);
                    let [r, theta] = glyph.flight.to.position_polar(&scene.rings.sectors);
                    let owners = scene.rings.sectors.iter().filter(|s| s.contains(r, theta)).count();
                    assert!(owners == 1 && scene.rings.sectors[cache].contains(r, theta), "{name} at {tick}");
                    drawn += 1;
                    ghosts += u32::from(is_ghost(glyph));
                    hollow += u32::from(glyph.flags & flags::HOLLOW != 0);
                }
                expected.retain(|key, _| stage.home().item(key.3 * 8, tick).is_some());
                assert_eq!(found, expected, "{name} at {tick}");
            });
        }
        assert!(drawn > 5_000, "{name}: {drawn}");
        assert_eq!(ghosts == 0, name == "exclusive", "{name}: {ghosts} ghosts");
        assert_eq!(hollow > 0, name == "prefetch", "{name}: {hollow} hollow");
    }
}

/// A number for an endpoint.
fn key(e: Endpoint) -> [u32; 3] {
    [e.cache, e.a, e.b].map(f32::to_bits)
}

#[test]
fn whatever_moves_starts_where_it_was() {
    for (name, hierarchy) in hierarchies() {
        let cores = u64::from(hierarchy.config().cores);
        let mut show = show(hierarchy, references(cores, 1_200, 5));
        let mut before: BTreeSet<(u64, [u32; 3])> = BTreeSet::new();
        let (mut moves, mut straight_between) = (0, 0);
        for tick in 0..show.len {
            show.at(tick as f64 + 0.3, &View::default(), |scene, moment, stage| {
                let all: Vec<Glyph> = data(scene).filter(|g| g.color[3] == 255).copied().collect();
                for glyph in &all {
                    let flight = glyph.flight;
                    if flight.path == Path::Rest {
                        // At rest it was there before, or it is a ghost that came.
                        let was = before.contains(&(glyph.id, key(flight.to)));
                        assert!(was || is_ghost(glyph), "{name} at {tick}: item {} appears", glyph.id);
                        continue;
                    }
                    moves += 1;
                    if flight.from.cache < 0.0 {
                        assert_eq!(flight.path, Path::Straight, "{name} at {tick}");
                        continue;
                    }
                    assert!(before.contains(&(glyph.id, key(flight.from))), "{name} at {tick}: from nowhere");
                    let ring = |e: Endpoint| {
                        let cache = (0u16..512).position(|c| f32::from(c) == e.cache);
                        cache.map_or(u16::MAX, |c| scene.rings.sectors[c].ring)
                    };
                    let (from, to) = (ring(flight.from), ring(flight.to));
                    let expected = if flight.from.cache == flight.to.cache {
                        Path::Slide
                    } else if from < to {
                        Path::Arc
                    } else {
                        Path::Straight
                    };
                    assert_eq!(flight.path, expected, "{name} at {tick}: ring {from} to {to}");
                    straight_between += u32::from(flight.path == Path::Straight && from == to);
                }
                before = all.iter().map(|g| (g.id, key(g.flight.to))).collect();
                // Nothing of it depends on how the moment was reached.
                assert!(moment.reference.is_some() && stage.items().glyph_bytes == 8);
            });
        }
        assert!(moves > 1_000, "{name}: {moves}");
        assert_eq!(straight_between > 20, cores > 1, "{name}: {straight_between} from core to core");
    }
}

#[test]
fn what_another_core_takes_away_flies_to_it_or_fades() {
    // Cores 0 and 1 read a line; core 1 writes it, then core 0 does.
    let step = |core, kind| Reference { core, ..Reference::new(kind, 0x4000, 8) };
    let references = vec![
        step(0, Kind::Read),
        step(1, Kind::Read),
        step(1, Kind::Write),
        step(0, Kind::Write),
        step(1, Kind::Read),
        step(0, Kind::Write),
    ];
    let caches = hierarchy("cores = 2", &[of("L1", 16, 8, ""), of("L2", 64, 16, "shared = true")]);
    let mut show = show(caches, references);
    let mut at = |tick: u64| {
        show.at(tick as f64 + 0.5, &View::default(), |scene, moment, stage| {
            let lost = moment.events.iter().filter(|e| matches!(e, Event::Invalidate { .. })).count();
            let of_line = |g: &&Glyph| addr(g, stage) == 0x4000 && !is_ghost(g);
            let all: Vec<_> = data(scene)
                .filter(of_line)
                .map(|g| (g.flight.path, g.flight.from.cache, g.flight.to.cache, g.color[3]))
                .collect();
            (lost, all)
        })
    };
    assert_eq!(at(0), (0, vec![(Path::Straight, Endpoint::POLAR, 0.0, 255)]));
    // A second copy: it comes from the first.
    let (lost, copies) = at(1);
    assert_eq!((lost, copies.len()), (0, 2));
    assert!(copies.contains(&(Path::Rest, 0.0, 0.0, 255)) && copies.contains(&(Path::Straight, 0.0, 1.0, 255)));
    // Taken from core 0, which had the first copy: it flies to the writer.
    assert_eq!(at(2), (1, vec![(Path::Straight, 0.0, 1.0, 255)]));
    assert_eq!(at(3), (1, vec![(Path::Straight, 1.0, 0.0, 255)]));
    assert_eq!(at(4).1.len(), 2);
    // Taken from core 1, whose copy is the second: half faded at half time.
    let (lost, copies) = at(5);
    assert_eq!(lost, 1);
    assert!(
        copies.contains(&(Path::Rest, 0.0, 0.0, 255)) && copies.contains(&(Path::Rest, 1.0, 1.0, 128)),
        "{copies:?}"
    );
}

#[test]
fn only_the_copy_of_the_core_that_asks_glows() {
    // Core 0 missed at 0, core 1 at 1; core 0 hits at 2.
    let references = [0, 1, 0].map(|core| Reference { core, ..Reference::new(Kind::Read, 0x4000, 8) }).to_vec();
    let caches = hierarchy("cores = 2", &[of("L1", 16, 8, ""), of("L2", 64, 16, "shared = true")]);
    let mut show = show(caches, references);
    let mut at = |tick: u64| {
        // So slow that a second is over before the next reference.
        let view = View { speed: 0.1, ..View::default() };
        show.at(tick as f64, &view, |scene, _, stage| {
            let of_item = data(scene).filter(|g| addr(g, stage) == 0x4000 && !is_ghost(g));
            of_item.map(|g| (level(g), g.pulse > 0.9, g.flash > 0.4, g.burst < 1.0)).collect::<BTreeSet<_>>()
        })
    };
    assert_eq!(at(0), BTreeSet::from([(Some(0), true, true, true)]));
    assert_eq!(at(1), BTreeSet::from([(Some(0), false, false, false), (Some(1), true, true, true)]));
    assert_eq!(at(2), BTreeSet::from([(Some(0), true, false, false), (Some(1), false, false, false)]));
}

#[test]
fn each_cache_has_its_own_temperature_and_disk() {
    // Core 0 reads one element again and again, core 1 a new line each time, core 2 and 3 do nothing.
    let references = (0..600u64)
        .map(|n| {
            let (core, addr) = if n % 2 == 0 { (0, 0x4000) } else { (1, 0x8000 + n / 2 % 64 * 32) };
            Reference { core, ..Reference::new(Kind::Read, addr, 8) }
        })
        .collect();
    let caches = hierarchy("cores = 4", &[of("L1", 16, 8, ""), of("L2", 32, 16, "shared = true")]);
    let mut show = show(caches, references);
    let scene = show.scene(600.0, &View { window: 256, ..View::default() });
    assert_eq!(scene.temperatures[..4], [1.0, -1.0, 0.0, 0.0]);
    assert!(scene.temperatures[4] < 0.0, "L2 misses");
    assert_eq!(scene.disks.len(), 5);
    for (disk, sector) in scene.disks.iter().zip(&scene.rings.sectors) {
        assert_eq!((disk.r0, disk.r1), (sector.r0, sector.r1));
        assert_eq!(disk.fade > 0.0, !sector.is_whole());
        // From gap to gap.
        let [start, end] = sector.edges();
        assert!(sector.is_whole() || (disk.theta0 < start && disk.theta0 + disk.span > end));
    }
}
