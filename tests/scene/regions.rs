//! Each region has dots of its own size: what is beside an array, used or not, does not change what its dots stand for.
#![cfg(feature = "formats")]

use crate::support::regions::row;
use crate::support::scene::{Show, addr, data, is_ghost, paper};
use orrery::reference::{Kind, MemoryTrace, Reference, Region, Tables};
use orrery::scene::View;
use orrery::timeline::Place;
use orrery::timeline::cursor::innermost;
use orrery::trace::synth::Rng;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Arrays of bytes, shorts, ints, doubles and structs, some of which begin within a line, or within what would be a dot of the one
/// before; one has too many elements for dots, one is used by nobody.
fn regions() -> Vec<Region> {
    vec![
        row("doubles", 0x1000, 8, 300),
        row("bytes", 0x1964, 1, 77),
        row("ints", 0x19b4, 4, 50),
        row("structs", 0x2000, 24, 20),
        row("odd", 0x2204, 8, 9),
        row("shorts", 0x2400, 2, 100),
        row("large", 0x10_0000, 8, 20_000),
        row("unused", 0x20_0000, 1, 50_000),
    ]
}

fn show(regions: Vec<Region>) -> Show {
    let mut rng = Rng::new(8);
    let used: Vec<Region> = regions.iter().filter(|r| r.name != "unused").cloned().collect();
    let one = |_| {
        let of = &used[usize::try_from(rng.below(used.len() as u64)).expect("small")];
        let element = rng.below(of.elements().min(60));
        let kind = [Kind::Read, Kind::Write][usize::try_from(rng.below(2)).expect("small")];
        Reference::new(kind, of.base + element * u64::from(of.elem_bytes), of.elem_bytes)
    };
    let references = (0..3_000).map(one).collect();
    Show::of(Arc::new(MemoryTrace::new(references, Tables { regions, ..Tables::default() })))
}

#[test]
fn every_byte_in_a_cache_is_shown_by_one_dot_of_its_regions_size() {
    let all = regions();
    let mut show = show(all.clone());
    let sizes: Vec<u64> = (0..all.len()).map(|at| show.stage.items().glyph_of(at)).collect();
    assert_eq!(sizes, [8, 1, 4, 32, 8, 2, 32, 32]);
    assert_eq!(show.stage.items().describe_glyph(), "1 dot = 1 element (1 to 8 bytes) or line (32 bytes)");
    let holder = |at: u64| all.iter().position(|r| (r.base..r.end()).contains(&at));
    let (mut shown, mut of_region) = (0, BTreeMap::<usize, usize>::new());
    for tick in [500u64, 1_700, 2_999] {
        show.at(tick as f64 + 0.4, &View::default(), |scene, moment, stage| {
            let mut covered: BTreeMap<u64, u32> = BTreeMap::new();
            for glyph in data(scene).filter(|g| !is_ghost(g) && g.flight.to.cache >= 0.0) {
                let first = addr(glyph, stage);
                let own = holder(first).or_else(|| (first..first + 32).find_map(holder)).expect("of a region");
                let size = stage.items().glyph_of(own);
                *of_region.entry(own).or_default() += 1;
                for byte in first..first / size * size + size {
                    *covered.entry(byte).or_default() += 1;
                }
            }
            for (at, byte) in all.iter().flat_map(|r| r.base..r.end().min(r.base + 600)).enumerate() {
                let cached = innermost(moment.after, byte / 32, 32) != Place::Home;
                let count = covered.get(&byte).copied().unwrap_or(0);
                assert_eq!(count, u32::from(cached), "byte 0x{byte:x} ({at}) at {tick}");
                shown += u32::from(cached);
            }
        });
    }
    assert!(shown > 2_000 && of_region.len() >= 6, "{shown} bytes, {of_region:?}");
}

#[test]
fn what_is_beside_changes_no_dot() {
    let doubles = || row("A", 0x1000, 8, 6_000);
    let glyphs = |beside: Vec<Region>| {
        let regions = [vec![doubles()], beside].concat();
        let references = (0..2_000u64).map(|n| Reference::new(Kind::Read, 0x1000 + 8 * (n * 5 % 6_000), 8)).collect();
        let trace = MemoryTrace::new(references, Tables { regions, ..Tables::default() });
        let mut show = Show::under(Arc::new(trace), paper());
        show.at(1_500.0, &View::default(), |scene, _, stage| {
            // Not their radius: dots have one size at home and in caches, and memory's band is shared by all regions.
            let at = |g: &orrery::scene::Glyph| (addr(g, stage), g.flight.to.b.to_bits());
            let cached: Vec<_> = data(scene).filter(|g| g.flight.to.cache >= 0.0).map(at).collect();
            let homes =
                scene.glyphs.iter().filter(|g| g.layer == 0 && stage.home().extent(g.id).is_some_and(|e| e.0 == 0));
            (cached, homes.count())
        })
    };
    let alone = glyphs(vec![]);
    assert_eq!(alone.1, 6_000, "an element each");
    let unused = |elem_bytes, elements| vec![row("unused", 0x40_0000, elem_bytes, elements)];
    for beside in [unused(1, 6_000), unused(1, 50), unused(4, 1_000_000), unused(64, 100), unused(2, 100)] {
        assert!(glyphs(beside.clone()) == alone, "{beside:?}");
    }
}
