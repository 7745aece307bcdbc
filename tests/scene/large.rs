//! The large picture: chosen where dots would melt, true by the numbers, and made of dots again closer up.
#![cfg(feature = "formats")]

use crate::support::regions::span;
use orrery::reference::{MemoryTrace, Reference, Tables};
use orrery::scene::{Camera, Composition, Stage, View};
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use orrery::timeline::{Cursor, Options, Timeline};
use orrery::trace;
use orrery::trace::synth::{BASE, mix};
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
