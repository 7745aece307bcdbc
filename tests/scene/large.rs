//! The large picture: chosen where dots would melt, true by the numbers, and made of dots again closer up.
#![cfg(feature = "formats")]

use crate::support::regions::span;
use orrery::reference::{Kind, MemoryTrace, Reference, Region, Tables};
use orrery::scene::{Camera, Composition, Disk, Scene, Stage, View};
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use orrery::timeline::{Cursor, Options, Timeline};
use orrery::trace;
use orrery::trace::synth::{BASE, mix};
use std::f32::consts::TAU;
use std::path::Path;
use std::sync::Arc;

/// 64 MiB in two arrays, of which the second is not touched in the first half.
fn timeline(caches: &str) -> Arc<Timeline> {
    let regions = vec![span("a", BASE, 32 << 20), span("b", BASE + (32 << 20), 32 << 20)];
    let within = |(n, r): (usize, Reference)| match n < 40_000 {
        true => Reference { addr: BASE + (r.addr - BASE) % (32 << 20), ..r },
        false => r,
    };
    let references = mix(80_000, 5).enumerate().map(within).collect();
    let trace = MemoryTrace::new(references, Tables { regions, ..Tables::default() });
    let hierarchy = Hierarchy::new(&preset(caches).expect("a preset")).expect("sound");
    Arc::new(Timeline::build(Arc::new(trace), hierarchy, Options::default(), &mut |_, _| true).expect("in memory"))
}

#[test]
fn lessons_are_dots_and_programs_are_large() {
    for name in ["array_init", "matmul16", "matmul12_blocked", "mpm"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("traces/{name}.orrery"));
        let source = trace::open(&path, None).expect(name);
        for caches in ["paper", "textbook", "zen4"] {
            let hierarchy = Hierarchy::new(&preset(caches).expect("a preset")).expect("sound");
            assert_eq!(
                Stage::composition_for(&hierarchy, &source.tables().regions),
                Composition::Dots,
                "{name}, {caches}"
            );
        }
    }
    for caches in ["textbook", "zen4"] {
        let timeline = timeline(caches);
        assert_eq!(
            Stage::composition_for(timeline.start(), &timeline.tables().regions),
            Composition::Large,
            "{caches}"
        );
    }
}

#[test]
fn shares_are_those_of_the_references_of_the_picture() {
    let timeline = timeline("textbook");
    let mut stage = Stage::composed(timeline.start(), &timeline.tables().regions, Composition::Large);
    let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("in memory");
    let outcomes = timeline.outcomes().expect("short enough");
    for (tick, window) in [(1, 1), (500, 64), (30_000, 4_096), (79_000, 20_000), (80_000, 80_000)] {
        let view = View { tail: window, window, ..View::default() };
        let moment = cursor.seek_tallied(tick, view.history(), window).expect("in memory");
        let scene = stage.frame(&moment, &view);
        let mut expect = [0.0f32; 4];
        for n in tick - window..tick {
            expect[outcomes.get(n).expect("kept").served_by()] += 1.0 / window as f32;
        }
        assert_eq!(scene.served.by_ring.len(), 4);
        for (found, expect) in scene.served.by_ring.iter().zip(expect) {
            assert!((found - expect).abs() < 1e-3, "{tick}, {window}: {:?}, {expect:?}", scene.served.by_ring);
        }
        let shares = moment.shares(window, 3).expect("told of the window");
        assert_eq!(shares.iter().map(|share| share.references).sum::<u64>(), window);
    }
}

#[test]
fn memory_is_bars_from_afar_and_dots_from_close_up() {
    let timeline = timeline("textbook");
    let regions = &timeline.tables().regions;
    let mut stage = Stage::composed(timeline.start(), regions, Composition::Large);
    let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("in memory");
    let at = |stage: &Stage, region: usize| {
        let home = &stage.home().regions[region];
        let theta = home.theta0 + 0.5 * home.span;
        [0.9 * theta.cos(), 0.9 * theta.sin()]
    };
    let mut look = |tick, zoom: f32| {
        let camera = if zoom > 1.0 { Camera { at: at(&stage, 0), zoom } } else { Camera::default() };
        let view = View { tail: 20_000, window: 20_000, camera, ..View::default() };
        let moment = cursor.seek_tallied(tick, view.history(), view.window).expect("in memory");
        let scene = stage.frame(&moment, &view);
        assert_eq!(scene, Stage::composed(timeline.start(), regions, Composition::Large).frame(&moment, &view));
        // What stands in memory's band, by region.
        let bars = [0, 1].map(|region: usize| {
            let home = &stage.home().regions[region];
            let inside = |theta: f32| (theta - home.theta0).rem_euclid(std::f32::consts::TAU) < home.span;
            let band = scene.disks.iter().filter(|disk| disk.r0 > 0.79 && disk.span < 0.2);
            band.filter(|disk| inside(disk.theta0 + 0.5 * disk.span)).count()
        });
        (bars, scene.glyphs.iter().filter(|glyph| glyph.layer == 0).count())
    };
    let ([a, b], dots) = look(30_000, 1.0);
    assert!(a > 100 && b == 0 && dots == 0, "{a} and {b} bars, {dots} dots: b is not touched yet");
    let ([a, b], _) = look(80_000, 1.0);
    assert!(a > 100 && b > 100, "{a} and {b}");
    let ([a, _], dots) = look(30_000, 2.4);
    assert!(a > 10 && dots > 10, "on the way both are seen: {a}, {dots}");
    let (bars, dots) = look(30_000, 8.0);
    assert!(bars == [0, 0] && dots > 100, "{bars:?}, {dots}");
}

/// The picture of the last `window` references before `tick`, and the stage that it stands on.
fn picture(
    references: Vec<Reference>,
    regions: Vec<Region>,
    caches: &str,
    (tick, window): (u64, u64),
) -> (Scene, Stage) {
    let trace = MemoryTrace::new(references, Tables { regions, ..Tables::default() });
    let hierarchy = Hierarchy::new(&preset(caches).expect("a preset")).expect("sound");
    // As of a trace too long for the outcome of each reference: counts are kept at borders.
    let options = Options { outcomes_up_to: 0, ..Options::default() };
    let timeline = Timeline::build(Arc::new(trace), hierarchy, options, &mut |_, _| true).expect("in memory");
    let timeline = Arc::new(timeline);
    let mut stage = Stage::composed(timeline.start(), &timeline.tables().regions, Composition::Large);
    let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("in memory");
    let view = View { tail: window, window, ..View::default() };
    let moment = cursor.seek_tallied(tick, view.history(), window).expect("in memory");
    let scene = stage.frame(&moment, &view);
    (scene, stage)
}

/// What stands in memory's band on the arc with this name, without its ground.
fn bars<'s>(scene: &'s Scene, stage: &Stage, name: &str) -> Vec<&'s Disk> {
    let home = stage.home();
    let arc = home.arcs.iter().find(|arc| arc.name == name).unwrap_or_else(|| panic!("{:?}", home.arcs));
    let ground = arc.span * 0.999;
    let inside = |disk: &&Disk| {
        let middle = disk.theta0 + 0.5 * disk.span;
        disk.r0 > 0.79 && disk.span < ground && (middle - arc.theta0).rem_euclid(TAU) < arc.span
    };
    scene.disks.iter().filter(inside).collect()
}

/// How far the highest of some bars reaches.
fn height(bars: &[&Disk], stage: &Stage) -> f32 {
    let rim = stage.rings().home_r1;
    bars.iter().map(|bar| rim - bar.r0).fold(0.0, f32::max)
}

#[test]
fn only_what_the_picture_touches_has_bars() {
    // A small array beside a large one, touched before the picture begins and not since.
    let regions = vec![span("small", BASE - 1024, 1024), span("large", BASE, 32 << 20), span("far", 1 << 40, 32 << 20)];
    let at = |n: u64| match n {
        0..30_000 => BASE - 1024 + n * 8 % 1024,
        30_000..60_000 => (1 << 40) + n * 4096 % (32 << 20),
        _ => BASE + n * 4096 % (32 << 20),
    };
    let references: Vec<Reference> = (0..100_000).map(|n| Reference::new(Kind::Read, at(n), 8)).collect();
    // A few, which are known one by one, and so many that borders of counts are outside them.
    for (tick, window) in [(90_000, 64), (100_000, 39_990), (99_990, 39_900)] {
        let (scene, stage) = picture(references.clone(), regions.clone(), "textbook", (tick, window));
        assert!(!bars(&scene, &stage, "large").is_empty(), "{window} before {tick}");
        for name in ["small", "far"] {
            assert_eq!(bars(&scene, &stage, name).len(), 0, "{name}: {window} before {tick}");
        }
    }
}

#[test]
fn a_freed_array_keeps_its_bars() {
    let region = |name: &str, lifetime| Region { lifetime: Some(lifetime), ..span(name, BASE, 16 << 20) };
    let regions = vec![region("first", (0, 50_000)), region("second", (50_000, 60_000))];
    let references = (0..60_000).map(|n| Reference::new(Kind::Read, BASE + n * 4096 % (16 << 20), 8)).collect();
    let (scene, stage) = picture(references, regions, "textbook", (60_000, 60_000));
    let [first, second] = ["first", "second"].map(|name| height(&bars(&scene, &stage, name), &stage));
    assert!(first > second && second > 0.0, "{first}, {second}: five times as many references");
}

#[test]
fn as_many_references_are_as_high_a_bar_whatever_the_size_of_the_array() {
    let regions = vec![span("large", BASE, 32 << 20), span("small", 1 << 40, 4096)];
    // Each goes to one place of the large array, or to one of the small one: four times as many.
    let at = |n: u64| if n.is_multiple_of(5) { BASE + 64 } else { (1 << 40) + 64 };
    let references = (0..50_000).map(|n| Reference::new(Kind::Read, at(n), 8)).collect();
    let (scene, stage) = picture(references, regions, "textbook", (50_000, 40_000));
    let [large, small] = ["large", "small"].map(|name| height(&bars(&scene, &stage, name), &stage));
    assert!((small / large - 2.0).abs() < 0.1, "the root of four: {small} and {large}");
    assert!((30_000..=33_000).contains(&scene.served.highest), "{}", scene.served.highest);
}

#[test]
fn a_few_misses_are_no_storm() {
    let regions = vec![span("a", BASE, 32 << 20)];
    // Some lines that hit, and one reference of `every` that misses in one group of sets.
    let trace = |every: u64| -> Vec<Reference> {
        let at =
            |n: u64| if n.is_multiple_of(every) { BASE + (1 << 20) + n / every * 4096 } else { BASE + n * 8 % 4096 };
        (0..60_000).map(|n| Reference::new(Kind::Read, at(n), 8)).collect()
    };
    let spikes = |every: u64| {
        let (scene, stage) = picture(trace(every), regions.clone(), "textbook", (60_000, 50_000));
        let foot = stage.rings().rings[0].r1;
        let beside = scene.disks.iter().filter(|disk| (0.005..0.02).contains(&(disk.r0 - foot)) && disk.span < 0.5);
        beside.map(|disk| disk.r1 - disk.r0).fold(0.0, f32::max)
    };
    let [storm, some, calm] = [8, 400, 20_000].map(spikes);
    assert!(storm > 0.025 && some < 0.7 * storm && calm == 0.0, "{storm}, {some}, {calm}");
}

#[test]
fn caches_of_instructions_have_little_room_where_there_are_none() {
    let regions = vec![span("a", BASE, 32 << 20)];
    let hierarchy = Hierarchy::new(&preset("skylake-sp").expect("a preset")).expect("sound");
    let spans = |fetches| {
        let stage = Stage::of_trace(&hierarchy, &regions, Composition::Large, fetches);
        let rings = stage.rings();
        let named = |name: &str| rings.names.iter().position(|n| n.full == name).expect("one of them");
        ["L1I", "L1D", "ITLB", "DTLB"].map(|name| rings.sectors[named(name)].span)
    };
    let [l1i, l1d, itlb, dtlb] = spans(false);
    assert!(l1i < 0.1 * l1d && itlb < 0.2 * dtlb, "{l1i}, {l1d}, {itlb}, {dtlb}");
    let [l1i, l1d, ..] = spans(true);
    assert!((l1i - l1d).abs() < 0.1, "{l1i}, {l1d}");
    // What the trace has is known from its index.
    for kind in [Kind::Read, Kind::Fetch] {
        let references = (0..100).map(|n| Reference::new(kind, BASE + 8 * n, 8)).collect();
        let trace = Arc::new(MemoryTrace::new(references, Tables { regions: regions.clone(), ..Tables::default() }));
        let timeline = Timeline::build(trace, hierarchy.clone(), Options::default(), &mut |_, _| true);
        assert_eq!(timeline.expect("in memory").has_fetches(), kind == Kind::Fetch);
    }
}

#[test]
fn thousands_of_blocks_share_arcs_that_are_seen() {
    let blocks = (0..4000).map(|n| span(&format!("page #{n}"), BASE + n * 8192, 4096));
    let regions: Vec<Region> = blocks.chain([span("table", 1 << 40, 8 << 20)]).collect();
    let at = |n: u64| if n.is_multiple_of(4) { (1 << 40) + n * 64 % (8 << 20) } else { BASE + n % 4000 * 8192 };
    let references = (0..50_000).map(|n| Reference::new(Kind::Read, at(n), 8)).collect();
    let (scene, stage) = picture(references, regions, "textbook", (50_000, 40_000));
    let names: Vec<&str> = scene.served.arcs.iter().map(|arc| arc.name.as_str()).collect();
    assert_eq!(names, ["page ×4,000", "table"]);
    assert!(scene.served.arcs.iter().all(|arc| arc.span > 0.3), "{:?}", scene.served.arcs);
    assert!(names.iter().all(|name| bars(&scene, &stage, name).len() > 20));
    // Dots have their own places on the arc, one region beside the other.
    let home = stage.home();
    let arc = &home.arcs[0];
    let places: Vec<f32> = arc.regions.iter().map(|&region| home.regions[region].theta0).collect();
    assert!(places.is_sorted() && places[0] >= arc.theta0 && places[3999] < arc.theta0 + arc.span);
}
