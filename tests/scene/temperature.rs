//! Temperature follows from the caches and the references alone: not from how dots are drawn, nor from what is beside.
#![cfg(feature = "formats")]

use crate::support::regions::row;
use crate::support::scene::{Show, TRACES, paper};
use orrery::reference::{Kind, MemoryTrace, Reference, Region, Tables};
use orrery::scene::{Camera, View};
use orrery::sim::Hierarchy;
use orrery::sim::config::{HierarchyConfig, preset};
use orrery::trace::synth;
use std::sync::Arc;

fn temperatures(references: &[Reference], regions: Vec<Region>, hierarchy: Hierarchy, view: &View) -> Vec<f32> {
    let tables = Tables { regions, ..Tables::default() };
    let mut show = Show::under(Arc::new(MemoryTrace::new(references.to_vec(), tables)), hierarchy);
    show.scene(show.len as f64, view).temperatures
}

#[test]
fn temperature_does_not_depend_on_what_a_dot_is() {
    let references: Vec<Reference> = synth::stride(3_000, 8, 40_000).collect();
    let doubles = |elements| row("A", synth::BASE, 8, elements);
    let view = View::default();
    let alone = temperatures(&references, vec![doubles(6_000)], paper(), &view);
    assert_eq!(alone[0], 0.0, "a stream breaks even");
    for regions in [
        vec![doubles(7_000)],
        vec![doubles(6_000), row("unused", 0x100, 1, 6_000)],
        vec![doubles(6_000), row("unused", 0x100, 1, 100)],
        vec![doubles(60_000)],
        vec![row("A", synth::BASE, 1, 48_000)],
        vec![row("A", synth::BASE, 64, 1_000)],
        vec![],
    ] {
        assert_eq!(temperatures(&references, regions.clone(), paper(), &view), alone, "{regions:?}");
    }
    for zoom in [3.0, 40.0, 1000.0] {
        let view = View { camera: Camera { at: [0.4, 0.1], zoom }, reach: [2.0, 1.1], ..View::default() };
        assert_eq!(temperatures(&references, vec![doubles(7_000)], paper(), &view), alone, "{zoom}");
    }
}

#[test]
fn streams_break_even_whatever_their_accesses_size() {
    for caches in ["paper", "textbook"] {
        let hierarchy = Hierarchy::new(&preset(caches).expect("a preset")).expect("sound");
        let line = u64::from(hierarchy.geometry(orrery::units::CacheId(0)).line_bytes);
        let mut size = 1u32;
        while u64::from(size) * 2 <= line {
            let references: Vec<Reference> =
                (0..4096u64).map(|n| Reference::new(Kind::Read, 0x1_0000 + n * u64::from(size), size)).collect();
            let told = temperatures(&references, vec![], hierarchy.clone(), &View::default());
            assert!(told[0].abs() < 1e-6, "{caches}, {size} bytes: {told:?}");
            size *= 2;
        }
        // Two at once, of bytes and of doubles.
        let references: Vec<Reference> = (0..4096u64)
            .flat_map(|n| {
                let byte = Reference::new(Kind::Read, 0x1_0000 + n, 1);
                [byte, Reference::new(Kind::Write, 0x10_0000 + 8 * n, 8)]
            })
            .collect();
        let told = temperatures(&references, vec![], hierarchy, &View { window: 1024, ..View::default() });
        assert!(told[0].abs() < 1e-6, "{caches}: {told:?}");
    }
}

#[test]
fn a_reference_over_two_lines_has_one_outcome() {
    // Each lies over the lines n and n + 1 of 32 bytes: the first is there, the second is not.
    let over: Vec<Reference> = (0..600u64).map(|n| Reference::new(Kind::Read, 28 + 32 * n, 8)).collect();
    assert_eq!(temperatures(&over, vec![], paper(), &View::default()), [-1.0, -1.0], "every reference misses");
    // Read and written back in one: the read misses.
    let modifies: Vec<Reference> = (0..600u64).map(|n| Reference::new(Kind::Modify, 32 * n, 8)).collect();
    assert_eq!(temperatures(&modifies, vec![], paper(), &View::default()), [-1.0, -1.0]);
}

#[test]
fn scores_are_what_the_configuration_says() {
    // One miss and three hits a line, in both windows.
    let references: Vec<Reference> = synth::stride(1_024, 8, 8 << 10).collect();
    let told = |scores: &str| {
        let mut config = preset("paper").expect("a preset");
        config.set_scores(scores, &Default::default()).expect("sound");
        let again = HierarchyConfig::from_toml(&config.to_toml(), "again").expect("its own");
        assert_eq!(again.to_toml(), config.to_toml());
        temperatures(&references, vec![], Hierarchy::new(&again).expect("sound"), &View::default())
    };
    assert_eq!(told("1:line,1:1"), [0.0, -0.25]);
    assert_eq!(told("1:line"), [0.0, -0.25], "what is not said stays");
    assert_eq!(told("2:line"), [0.0, -0.25], "a line earns twice as much");
    assert_eq!(told("1:1"), [0.5, -0.25]);
    assert_eq!(told("1:0,0:0"), [0.75, 0.0]);
    // 3 - 9 of -9 at worst, in four.
    assert!((told("1:9,1:1")[0] + 6.0 / 36.0).abs() < 1e-6);
    // L2 has nothing of it: a stream of lines breaks even at least as dear as a hit.
    assert_eq!(told("1:line,1:line"), [0.0, -0.25]);
}

/// A film at speed: its frames' temperatures are those of the references that each passes, from the counts where the log is
/// shorter.
#[test]
fn windows_longer_than_the_log_give_the_same_numbers() {
    for name in TRACES {
        let references = Show::open(name).references();
        let mut long = references.clone();
        while long.len() < 30_000 {
            long.extend_from_slice(&references);
        }
        let mut show = Show::of(Arc::new(MemoryTrace::new(long, Tables::default())));
        let view = |window| View { window, tail: 1, ..View::default() };
        for window in [8_192u64, 8_193, 16_667, 25_000] {
            for tick in [9_000u64, 20_000, 29_999] {
                let told = show.scene(tick as f64, &view(window)).temperatures;
                // The same by a log that is long enough.
                let logged = View { tail: 8_192, ..view(window) };
                let answers = show.at(tick as f64, &logged, |_, moment, _| moment.answers(window));
                let all = answers.of(None);
                assert_eq!(all.references, window.min(tick));
                let (hits, missed, bytes) = (all.hits(0) as f64, all.missed[0] as f64, all.bytes[0] as f64);
                let cost = (32.0 * all.asking[0] as f64 / bytes - 1.0).max(1.0);
                let mean = (hits - cost * missed) / window as f64;
                let expected = if mean < 0.0 { mean / cost } else { mean };
                assert!(
                    (f64::from(told[0]) - expected).abs() < 1e-5,
                    "{name} at {tick}, {window}: {told:?} {expected}"
                );
            }
        }
    }
}
