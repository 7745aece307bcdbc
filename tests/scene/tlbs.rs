//! TLBs on stage: every entry stands in its place in the colour of its page, appears on a walk, goes to the head when it is
//! renewed, fades when it is evicted; and data is drawn as if there were none. What a scene should hold is worked out from
//! the hierarchy alone.
#![cfg(feature = "formats")]

use crate::support::regions::span;
use crate::support::scene::Show;
use orrery::reference::{Kind, MemoryTrace, Reference, Region, Tables};
use orrery::scene::frame::flags;
use orrery::scene::motion::{Path, ease, position_at};
use orrery::scene::palette::{self, Rgba};
use orrery::scene::{Glyph, Scene, View, pages};
use orrery::sim::Hierarchy;
use orrery::sim::config::HierarchyConfig;
use orrery::trace::synth::Rng;
use orrery::units::SetIndex;
use std::collections::BTreeMap;
use std::sync::Arc;

const PAGE: u64 = 512;

fn regions() -> Vec<Region> {
    vec![
        span("code", 0x1000, 0x600),
        span("a", 0x4000, 0x1100),
        span("b", 0x5100, 0x580),
        Region { lifetime: Some((0, 300)), ..span("early", 0x8000, 0x700) },
        Region { lifetime: Some((300, 10_000)), ..span("late", 0x8000, 0x700) },
    ]
}

fn hierarchy(top: &str, tlbs: &[&str]) -> Hierarchy {
    let tlbs: String = tlbs.iter().map(|tlb| format!("[[tlb]]\npages = [\"512\"]\n{tlb}\n")).collect();
    let text = format!(
        "name = \"test\"\n{top}\n[[level]]\nname = \"L1\"\nsize = 512\nline = 32\nways = 8\n[[level]]\nname = \"L2\"\n\
         size = 2048\nline = 32\nways = 16\nshared = true\n{tlbs}[memory]\npage = \"512\"\n"
    );
    Hierarchy::new(&HierarchyConfig::from_toml(&text, "test").expect("sound")).expect("sound")
}

fn references(cores: u64, count: u64, seed: u64) -> Vec<Reference> {
    let mut rng = Rng::new(seed);
    (0..count)
        .map(|n| {
            let (kind, addr) = match rng.below(5) {
                0 => (Kind::Fetch, 0x1000 + rng.below(0x5f8)),
                1 => (Kind::Modify, 0x8000 + rng.below(0x6f8)),
                2 => (Kind::Write, 0x5000 + rng.below(0x600)),
                _ => (Kind::Read, 0x4000 + (n * 24 + rng.below(64)) % 0x1600),
            };
            let core = u16::try_from(rng.below(cores)).expect("small");
            Reference { core, ..Reference::new(kind, addr, 8) }
        })
        .collect()
}

fn show(hierarchy: Hierarchy, references: Vec<Reference>) -> Show {
    let tables = Tables { regions: regions(), ..Tables::default() };
    Show::under(Arc::new(MemoryTrace::new(references, tables)), hierarchy)
}

fn entries(scene: &Scene) -> impl Iterator<Item = &Glyph> {
    scene.glyphs.iter().filter(|g| g.layer == pages::LAYER)
}

/// The colour of a page, byte by byte.
fn colour(page: u64, tick: u64) -> Rgba {
    let mut held = BTreeMap::new();
    for addr in page * PAGE..(page + 1) * PAGE {
        let lives = |r: &Region| r.lifetime.is_none_or(|(from, to)| (from..to).contains(&tick));
        let on = |r: &Region| (r.base..r.base + r.bytes).contains(&addr);
        if let Some(region) = regions().iter().position(|r| on(r) && lives(r)) {
            *held.entry(region).or_insert(0u64) += 1;
        }
    }
    let all: u64 = held.values().sum();
    held.iter().find(|(_, bytes)| **bytes * 2 > all).map_or(palette::NEUTRAL, |(region, _)| palette::region(*region))
}

fn machines() -> Vec<(&'static str, Hierarchy)> {
    let (data, code) = ("holds = \"data\"", "holds = \"instructions\"");
    let split: [&str; 3] = [
        &format!("name = \"DTLB\"\nentries = 5\nways = \"full\"\n{data}"),
        &format!("name = \"ITLB\"\nentries = 2\nways = \"full\"\n{code}"),
        "name = \"L2 TLB\"\nentries = 12\nways = 3",
    ];
    vec![
        ("one", hierarchy("", &["name = \"TLB\"\nentries = 7\nways = \"full\""])),
        ("split", hierarchy("", &split)),
        (
            "cores",
            hierarchy(
                "cores = 3",
                &[
                    "name = \"TLB\"\nentries = 4\nways = \"full\"",
                    "name = \"T2\"\nentries = 8\nways = \"full\"\nshared = true",
                ],
            ),
        ),
        ("no list", hierarchy("", &["name = \"TLB\"\nentries = 8\nways = 4\npolicy = \"tree-plru\""])),
    ]
}

/// Entries by TLB, column, row and page: colour without its alpha, and alpha.
type Drawn = BTreeMap<(usize, u32, u32, u64), ([u8; 3], u8)>;

#[test]
fn every_entry_stands_in_its_place_with_its_colour() {
    for (name, hierarchy) in machines() {
        let cores = u64::from(hierarchy.config().cores);
        let mut show = show(hierarchy, references(cores, 600, 3));
        let (mut came, mut left, mut neutral) = (0, 0, 0);
        for tick in 0..=show.len {
            show.at(tick as f64 + 0.3, &View::default(), |scene, moment, _| {
                let (before, after) = (moment.before.tlbs(), moment.after.tlbs());
                let mut expected = Drawn::new();
                for at in 0..after.len() {
                    let rack = scene.rings.racks[at];
                    for set in 0..after.geometry(at).sets {
                        let mut add = |page: u64, rank, alpha: f32| {
                            let (column, row) = rack.slot(set, rank);
                            let [r, g, b, _] = colour(page, tick);
                            neutral += u32::from([r, g, b] == palette::NEUTRAL[..3]);
                            let alpha = palette::fade([0, 0, 0, 255], alpha)[3];
                            expected.insert((at, column, row, page), ([r, g, b], alpha));
                        };
                        for (page, rank) in after.order(at, SetIndex(set)).map(|r| r.line).zip(0u32..) {
                            let was_there = before.page_rank(at, page).is_some();
                            add(page.0, rank, if was_there { 1.0 } else { ease(0.3) });
                            came += u32::from(!was_there);
                        }
                        for (page, rank) in before.order(at, SetIndex(set)).map(|r| r.line).zip(0u32..) {
                            if after.page_rank(at, page).is_none() {
                                add(page.0, rank, 1.0 - ease(0.3));
                                left += 1;
                            }
                        }
                    }
                }
                let mut found = Drawn::new();
                for glyph in entries(scene) {
                    assert_eq!(glyph.flags, flags::PAGE);
                    let number = |v: f32| (0..1_000u32).find(|n| *n as f32 == v).expect("a whole number");
                    let [sector, column, row] =
                        [glyph.flight.to.cache, glyph.flight.to.a, glyph.flight.to.b].map(number);
                    let at = scene.rings.tlb_of(sector as usize).expect("a TLB");
                    let [r, g, b, alpha] = glyph.color;
                    let old = found.insert((at, column, row, glyph.id), ([r, g, b], alpha));
                    assert_eq!(old, None, "{name} at {tick}: page {} twice", glyph.id);
                }
                assert_eq!(found, expected, "{name} at {tick}");
            });
        }
        assert!(came > 40 && left > 20 && neutral > 20, "{name}: {came} came, {left} left, {neutral} neutral");
    }
}

#[test]
fn entries_move_within_their_band_from_where_they_were() {
    let mut followed = 0;
    for (name, hierarchy) in machines() {
        let cores = u64::from(hierarchy.config().cores);
        let mut show = show(hierarchy, references(cores, 400, 8));
        let mut moved = 0;
        for tick in 0..show.len {
            show.at(tick as f64 + 0.5, &View::default(), |scene, moment, _| {
                let sectors = &scene.rings.sectors;
                for glyph in entries(scene).filter(|g| g.flight.path != Path::Rest) {
                    let at = (0..scene.rings.racks.len())
                        .find(|at| (scene.rings.caches() + at) as f32 == glyph.flight.to.cache)
                        .expect("a TLB");
                    let tlbs = moment.before.tlbs();
                    let (set, rank) = tlbs.page_rank(at, orrery::units::LineAddr(glyph.id)).expect("was there");
                    let (column, row) = scene.rings.racks[at].slot(set.0, rank);
                    assert_eq!((glyph.flight.from.a, glyph.flight.from.b), (column as f32, row as f32), "{name}");
                    // A short chord leaves the band by a hair, a way round it not at all.
                    let sector = &sectors[scene.rings.caches() + at];
                    for s in 0..=8u8 {
                        let [x, y] = position_at(sectors, &glyph.flight, f32::from(s) / 8.0);
                        let r = x.hypot(y);
                        let slack = 0.05 * sector.r0;
                        assert!((sector.r0 - slack..=sector.r1 + slack).contains(&r), "{name} at {tick}: {r}");
                    }
                    let end = position_at(sectors, &glyph.flight, 1.0);
                    let to = glyph.flight.to.position(sectors);
                    assert!((end[0] - to[0]).hypot(end[1] - to[1]) < 1e-4, "{name} at {tick}: arrives");
                    moved += 1;
                    followed += u32::from(glyph.flight.path == Path::Arc);
                }
            });
        }
        assert!(moved > 100, "{name}: {moved}");
    }
    assert!(followed > 50, "{followed} went round the band");
}

#[test]
fn a_walk_flashes_more_than_a_later_tlbs_hit_and_both_fade() {
    // Page 32, then 33 (which pushes 32 out of the first TLB), then 32 again.
    let at = |addr| Reference::new(Kind::Read, addr, 8);
    let mut references = vec![at(0x4000), at(0x4200), at(0x4000)];
    references.extend((0..40).map(|_| at(0x4008)));
    let tlbs = ["name = \"TLB\"\nentries = 1\nways = \"full\"", "name = \"T2\"\nentries = 8\nways = \"full\""];
    let mut show = show(hierarchy("", &tlbs), references);
    let mut flash = |position: f64| {
        let scene = show.scene(position, &View { speed: 8.0, ..View::default() });
        let first = entries(&scene).find(|g| g.flight.to.cache == 2.0 && g.color[3] == 255);
        first.map_or(0.0, |g| g.flash)
    };
    assert_eq!(flash(0.0), 0.0, "nothing is there yet");
    let (walk, hit) = (flash(1.0), flash(3.0));
    assert!(walk > 0.45 && (0.15..0.3).contains(&hit), "{walk} and {hit}");
    assert!(flash(4.0) < hit && flash(3.5) < hit);
    assert!(flash(20.0) < 0.01);
}

#[test]
fn data_is_drawn_as_if_there_were_no_tlb_but_further_out() {
    let mut with = show(machines().remove(1).1, references(1, 300, 4));
    let mut without = show(hierarchy("", &[]), references(1, 300, 4));
    for tick in (0..300).step_by(7) {
        let (a, b) =
            (with.scene(tick as f64 + 0.4, &View::default()), without.scene(tick as f64 + 0.4, &View::default()));
        let data = |scene: &Scene| -> Vec<(u8, u64, u32, f32, Rgba)> {
            let data = scene.glyphs.iter().filter(|g| g.layer != pages::LAYER);
            data.map(|g| (g.layer, g.id, g.flags, g.flash, g.color)).collect()
        };
        assert_eq!(data(&a), data(&b), "at {tick}");
        assert_eq!((a.disks.len(), &a.temperatures), (b.disks.len(), &b.temperatures));
        assert!(a.rings.rings[0].r0 > b.rings.rings[0].r0 && b.notes.omitted.is_empty());
        assert_eq!(entries(&b).count(), 0);
    }
}

#[test]
fn tlbs_for_which_there_is_no_room_are_left_out_and_said_so() {
    // 3 levels of 512 cores and a shared one: 1,537 sectors; a TLB each makes 2,049.
    let level = |n: u32| format!("[[level]]\nname = \"L{n}\"\nsize = 1024\nline = 32\nways = 2\n");
    let levels: String = (1..4).map(level).collect();
    let text = |tlbs: &str| {
        format!("name = \"many\"\ncores = 512\n{levels}{}shared = true\n{tlbs}", level(4).replace("1024", "65536"))
    };
    let of = |tlbs: &str| {
        let hierarchy = HierarchyConfig::from_toml(&text(tlbs), "test").expect("sound");
        let mut show = show(Hierarchy::new(&hierarchy).expect("sound"), references(64, 20, 1));
        show.scene(20.0, &View::default())
    };
    let full = of("[[tlb]]\nname = \"TLB\"\nentries = 4\nways = \"full\"\n");
    assert_eq!((full.rings.sectors.len(), full.rings.racks.len()), (1537, 0));
    assert_eq!(full.notes.omitted, "TLBs are not drawn: too many caches");
    assert_eq!(full.rings.rings[0].r0, 0.105, "and take no room");
    assert_eq!(entries(&full).count(), 0);
    let shared = of("[[tlb]]\nname = \"TLB\"\nentries = 4\nways = \"full\"\nshared = true\n");
    assert_eq!((shared.rings.sectors.len(), shared.rings.racks.len()), (1538, 1));
    assert!(shared.notes.omitted.is_empty() && entries(&shared).count() > 0);
}
