//! The picture keeps the promises of the rings paper (Choudhury & Rosen 2011), checked on scenes of real traces:
//! time-lapse and temperature. Names carry the lines of the feature checklist.
#![cfg(feature = "formats")]

use crate::support::regions::span;
use crate::support::scene::{Show, TRACES, paper};
use orrery::reference::{MemoryTrace, Reference, Tables};
use orrery::scene::motion::{Endpoint, Path};
use orrery::scene::temperature::Scores;
use orrery::scene::{Segment, View, palette};
use orrery::sim::config::preset;
use orrery::sim::{AccessKind, Event};
use orrery::timeline::{Answered, Clock, ClockKind, Options, Pace, Place, Timeline};
use orrery::trace::synth;
use orrery::units::LevelId;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

#[test]
fn c29_fast_forward_skips_frames() {
    let source = Arc::new(synth::matmul(16, synth::MatmulOrder::Standard));
    let timeline = Timeline::build(source, paper(), Options::default(), &mut |_, _| true).expect("in memory");
    let (len, clock) = (timeline.len(), Arc::new(Clock::new(ClockKind::References, &Arc::new(timeline))));
    assert_eq!(len, 8448);
    for factor in [1u32, 2, 4, 8, 16, 64, 1024] {
        let pace = Pace { start: 0, stop: len, speed: 30.0 * f64::from(factor), fps: 30, clock: Arc::clone(&clock) };
        assert_eq!(pace.frames(), len.div_ceil(u64::from(factor)) + 1, "{factor}x");
    }
}

/// Lines that follow a whole path between two places.
fn whole_paths(segments: &[Segment], from: Place, to: Place, path: Path) -> usize {
    let is = |place: Place, e: Endpoint| match place {
        Place::Home => e.cache < 0.0,
        Place::Slot { cache, set, rank, .. } => (e.cache, e.a, e.b) == (f32::from(cache), set as f32, rank as f32),
    };
    let mut by_flight: BTreeMap<[u32; 4], f32> = BTreeMap::new();
    for s in segments.iter().filter(|s| s.flight.path == path && is(from, s.flight.from) && is(to, s.flight.to)) {
        let key = [s.flight.from.a, s.flight.from.across, s.flight.to.a, s.flight.to.across].map(f32::to_bits);
        *by_flight.entry(key).or_default() += s.s1 - s.s0;
    }
    by_flight.values().filter(|whole| **whole > 0.999).count()
}

#[test]
fn c30_pathlines_join_every_position_that_a_frame_skips() {
    let view = View { tail: 32, budget: 1_000_000, ..View::default() };
    for name in TRACES {
        let mut show = Show::open(name);
        let mut paths = 0;
        for tick in show.ticks(12) {
            show.at(tick as f64, &view, |scene, moment, _| {
                assert_eq!(scene.notes.bundling, "", "{name} at {tick}: room for every path");
                // The oldest have faded to nothing.
                for m in moment.log.moves((tick + 3).saturating_sub(32), tick) {
                    let path = match m.from.depth(9).cmp(&m.to.depth(9)) {
                        Ordering::Greater => Path::Straight,
                        Ordering::Less => Path::Arc,
                        Ordering::Equal => Path::Slide,
                    };
                    assert!(whole_paths(&scene.trails, m.from, m.to, path) >= 1, "{name} at {tick}: {m:?} has no line");
                    paths += 1;
                }
            });
        }
        assert!(paths > 20, "{name}: {paths}");
    }
}

#[test]
fn c31_c33_the_tail_changes_the_trail_and_nothing_else() {
    let mut show = Show::open("matmul16");
    let mut counts = Vec::new();
    let reference = show.scene(4000.5, &View { tail: 1, ..View::default() });
    for tail in [1, 16, 64, 200] {
        let scene = show.scene(4000.5, &View { tail, budget: 1_000_000, ..View::default() });
        assert!(scene.glyphs == reference.glyphs && scene.structure == reference.structure, "tail {tail}");
        assert!(scene.disks == reference.disks && scene.temperatures == reference.temperatures, "tail {tail}");
        counts.push(scene.trails.len());
    }
    assert!(counts.windows(2).all(|w| w[0] < w[1]), "{counts:?}");
    let none = show.scene(4000.5, &View { trails: false, ..View::default() });
    assert!(none.trails.is_empty() && none.glyphs == reference.glyphs);
}

#[test]
fn c32_older_is_fainter() {
    // One and the same line, as references go by: a miss whose flight is not flown again for a tail's length.
    let mut show = Show::open("matmul16");
    let view = View { tail: 40, budget: 1_000_000, ..View::default() };
    let mut checked = 0;
    for tick in (500..8000).step_by(37) {
        let home = show.at((tick + 39) as f64, &view, |_, moment, stage| {
            let m = *moment.log.moves(tick, tick + 1).iter().find(|m| m.from == Place::Home)?;
            let flown = moment.log.moves(tick, tick + 40).iter().filter(|o| o.grain == m.grain && o.from == m.from);
            let (region, item) = stage.home().item(m.grain * stage.items().grain_bytes, tick)?;
            (flown.count() == 1).then(|| stage.home().polar(region, item))
        });
        let Some([r, theta]) = home else { continue };
        let mut alphas = Vec::new();
        for age in 1..39 {
            let scene = show.scene((tick + age) as f64, &view);
            let ours = |s: &&Segment| s.flight.from.cache < 0.0 && (s.flight.from.a, s.flight.from.b) == (r, theta);
            // Lines are drawn oldest first: the last is the newest.
            let alpha = scene.trails.iter().rfind(ours).map(|s| s.alpha1);
            assert!(alpha.is_some() || age > 37, "tick {tick}: gone at age {age}");
            alphas.push(alpha.unwrap_or(0.0));
        }
        assert!(alphas.windows(2).all(|w| w[1] < w[0]), "tick {tick}: {alphas:?}");
        assert!(alphas[37] < 0.1 * alphas[0], "tick {tick}: {alphas:?}");
        checked += 1;
    }
    assert!(checked > 5, "{checked}");
}

#[test]
fn c34_a_disk_behind_each_level() {
    let mut show = Show::open("matmul16");
    let scene = show.scene(3000.0, &View::default());
    let disks: Vec<(f32, f32)> = scene.disks.iter().map(|d| (d.r0, d.r1)).collect();
    let rings: Vec<(f32, f32)> = scene.rings.rings.iter().map(|r| (r.r0, r.r1)).collect();
    assert_eq!(disks, rings);
    assert!(scene.disks.iter().all(|d| d.soft > 0.0));
    assert!(show.scene(3000.0, &View { temperature: false, ..View::default() }).disks.is_empty());
}

/// Whether a reference's demand accesses at `level` hit (or missed).
fn saw(events: &[Event], at: usize, wanted: bool) -> bool {
    events.iter().any(|e| match e {
        Event::Access { level, kind, hit, .. } => {
            level.index() == at && *kind != AccessKind::Writeback && *hit == wanted
        }
        _ => false,
    })
}

#[test]
fn c35_c36_temperature_is_the_mean_score_of_the_last_references() {
    let config = preset("paper").expect("a preset");
    let doubles = Answered { asking: [10, 0], bytes: [80, 0], ..Answered::default() };
    let cost = |level| Scores::of(&config, LevelId(level)).cost(&doubles);
    assert_eq!([cost(0), cost(1)], [3.0, 1.0], "an L1 miss costs more");
    for (name, window) in TRACES.iter().flat_map(|name| [1u64, 16, 256].map(|window| (*name, window))) {
        let mut show = Show::open(name);
        // Score of each reference at each level.
        let mut state = paper();
        let mut scores: Vec<([[bool; 2]; 2], f64)> = Vec::new();
        for r in show.references() {
            let mut events = Vec::new();
            state.access(&r, &mut events);
            let saw = [0, 1].map(|level| [true, false].map(|hit| saw(&events, level, hit)));
            scores.push((saw, f64::from(r.size)));
        }
        for tick in show.ticks(20) {
            let told = show.scene(tick as f64, &View { window, ..View::default() }).temperatures;
            let end = usize::try_from(tick).expect("small");
            let begin = end.saturating_sub(usize::try_from(window).expect("small"));
            let part = &scores[begin..end];
            let bytes = part.iter().map(|(_, bytes)| bytes).sum::<f64>().max(1.0) / part.len().max(1) as f64;
            for (level, coldest) in [(0, 32.0 / bytes - 1.0), (1, 1.0)] {
                // A miss of a part is a miss.
                let score = |[hit, missed]: [bool; 2]| match (hit, missed) {
                    (_, true) => -coldest,
                    (true, false) => 1.0,
                    (false, false) => 0.0,
                };
                let mean = part.iter().map(|(saw, _)| score(saw[level])).sum::<f64>() / window as f64;
                // Shown on -1 to 1: the coldest and the warmest it can get.
                let expected = if mean < 0.0 { mean / coldest } else { mean };
                let error = (f64::from(told[level]) - expected).abs();
                assert!(error < 1e-4, "{name} at {tick}, window {window}, level {level}: {told:?}, not {expected}");
            }
        }
    }
}

/// Temperatures at the end of a generated trace over an array of 8 KiB.
fn after(references: impl Iterator<Item = Reference>) -> Vec<f32> {
    let region = span("A", synth::BASE, 8 << 10);
    let tables = Tables { regions: vec![region], ..Tables::default() };
    let mut show = Show::of(Arc::new(MemoryTrace::new(references.collect(), tables)));
    show.scene(show.len as f64, &View::default()).temperatures
}

#[test]
fn c37_c38_reuse_warms_streams_break_even_idle_levels_return_to_nothing() {
    // Sixteen elements again and again: L1 as warm as it gets, L2 idle for longer than the window.
    assert_eq!(after(synth::stride(2_000, 8, 128)), [1.0, 0.0]);
    // A new line each time: as cold as it gets, at both.
    assert_eq!(after(synth::stride(2_000, 32, 8 << 10)), [-1.0, -1.0]);
    // A pure stream: three hits pay for a miss. L2 misses once in four references.
    assert_eq!(after(synth::stride(1_024, 8, 8 << 10)), [0.0, -0.25]);
    // Two references to each element: more reuse than breaks even. Seven hits, one miss: (7 - 3) / 8.
    let twice = synth::stride(512, 8, 8 << 10).flat_map(|r| [r, r]);
    assert_eq!(after(twice), [0.5, -0.125]);
    // Every second element: less. One hit, one miss: (1 - 3) / 2 of -3 at worst.
    let half = after(synth::stride(512, 16, 8 << 10));
    assert!((half[0] + 1.0 / 3.0).abs() < 1e-6, "{half:?}");
}

#[test]
fn c39_cold_is_blue_neutral_is_a_faint_grey_warm_is_red() {
    let [cold, neutral, warm] = [-1.0, 0.0, 1.0].map(palette::temperature);
    assert!(cold[2] > cold[0] && warm[0] > warm[2] && cold[3] > 60 && warm[3] > 60);
    // An idle level is told from no level, and from a warm or a cold one.
    let [r, g, b, alpha] = neutral;
    assert!(r.max(g).max(b) - r.min(g).min(b) < 24 && (10..40).contains(&alpha), "{neutral:?}");
    let alphas: Vec<u8> = (0..=10u8).map(|t| palette::temperature(f32::from(t) / 10.0)[3]).collect();
    assert!(alphas.windows(2).all(|w| w[0] < w[1]), "{alphas:?}");
}
