//! Closer up a dot at home splits into those of its parts, down to an element: none is left out, none told wrongly, none jumps, and
//! a picture never holds too many.
#![cfg(feature = "formats")]

use crate::support::regions::span;
use crate::support::scene::{Show, distance, holders, paper};
use orrery::reference::{MemoryTrace, Tables};
use orrery::scene::layout::Closeness;
use orrery::scene::motion::Path;
use orrery::scene::palette::AT_HOME;
use orrery::scene::{Camera, Glyph, Scene, Stage, View};
use orrery::timeline::Place;
use orrery::trace::synth::{BASE, mix};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// As far as a picture of 1280x720 reaches.
const REACH: [f32; 2] = [2.01, 1.23];
/// Memory that no reference touches, and a few elements that no line begins with.
const IDLE: u64 = BASE + (64 << 20);
const ODD: u64 = BASE + (80 << 20) + 24;

/// 64 MiB of doubles in two arrays under small caches, and what nothing touches.
fn show() -> Show {
    let (half, idle) = (32 << 20, 1 << 20);
    let regions = vec![span("a", BASE, half), span("b", BASE + half, half), span("c", IDLE, idle), span("d", ODD, 40)];
    let trace = MemoryTrace::new(mix(20_000, 5).collect(), Tables { regions, ..Tables::default() });
    Show::under(Arc::new(trace), paper())
}

/// A view of the home of the byte at `addr`.
fn at_home(stage: &Stage, addr: u64, zoom: f32) -> View {
    let mut view = View { reach: REACH, trails: false, ..View::default() };
    view.camera.zoom = zoom;
    let (region, _) = stage.home().item(addr, 0).expect("of a region");
    let [r, theta] = stage.home().blended(region, &stage.home().detail(region, Closeness::of(&view)), addr, 1);
    View { camera: Camera { at: [r * theta.cos(), r * theta.sin()], zoom }, ..view }
}

fn homes(scene: &Scene) -> impl Iterator<Item = &Glyph> {
    scene.glyphs.iter().filter(|g| g.layer == 0)
}

fn place(glyph: &Glyph) -> [f32; 2] {
    glyph.flight.to.position(&[])
}

/// Whether a point is in the middle `share` of what a view shows.
fn within(view: &View, at: [f32; 2], share: f32) -> bool {
    (0..2).all(|axis| (at[axis] - view.camera.at[axis]).abs() < share * view.reach[axis] / view.camera.zoom)
}

#[test]
fn closest_each_element_in_sight_is_a_dot_that_tells_of_its_own_line() {
    let mut show = show();
    let (mut cached, mut dots) = (0, 0);
    for tick in [4_000u64, 11_000, 19_999] {
        let touched = show.references()[usize::try_from(tick).expect("small") - 1].addr;
        for middle in [touched, BASE + (7 << 20), IDLE + 4_096] {
            let view = at_home(&show.stage, middle, 900.0);
            show.at(tick as f64, &view, |scene, moment, stage| {
                assert_eq!(scene.notes.home, "1 dot in memory = 8 bytes (1 element)");
                let extent = |g: &Glyph| stage.home().extent(g.id).expect("a home's");
                let by_addr: BTreeMap<u64, &Glyph> = homes(scene).map(|g| (extent(g).1, g)).collect();
                assert_eq!(by_addr.len(), homes(scene).count(), "no element has two dots");
                let (region, _) = stage.home().item(middle, 0).expect("of a region");
                let detail = stage.home().detail(region, Closeness::of(&view));
                let all = (middle & !7).saturating_sub(1 << 14)..middle + (1 << 14);
                for addr in all.step_by(8).filter(|&addr| stage.home().item(addr, 0).is_some_and(|(r, _)| r == region))
                {
                    let [r, theta] = stage.home().blended(region, &detail, addr, 1);
                    if !within(&view, [r * theta.cos(), r * theta.sin()], 1.0) {
                        continue;
                    }
                    let glyph = by_addr.get(&addr).expect("every element in sight has a dot");
                    assert_eq!(extent(glyph), (region, addr, 8));
                    let leaves = |m: &orrery::timeline::Move| m.grain == addr / 32 && m.to == Place::Home;
                    if moment.log.moves(tick, tick + 1).iter().any(leaves) {
                        continue;
                    }
                    let held = !holders(moment.after, addr).is_empty();
                    let expected = 255.0 * if held { 0.16 } else { AT_HOME };
                    assert!((f32::from(glyph.color[3]) - expected).abs() <= 1.0, "{addr:#x} at {tick}: {glyph:?}");
                    cached += u32::from(held);
                    dots += 1;
                }
            });
        }
    }
    assert!(dots > 300 && cached >= 8, "{dots} dots, {cached} of them cached");
}

#[test]
fn a_hundredth_closer_looks_nearly_the_same_and_each_byte_is_told_once() {
    let mut show = show();
    let mut finest = 4_096;
    let mut before: Option<BTreeMap<u64, (f32, f32)>> = None;
    let mut zoom = 1.0f32;
    let middle = IDLE + (1 << 19) + 8;
    // The camera stands still: the place in the whole picture is not that of the element.
    let at = at_home(&show.stage, middle, 1000.0).camera.at;
    while zoom < 1000.0 {
        let view = View { reach: REACH, trails: false, camera: Camera { at, zoom }, ..View::default() };
        let scene = show.scene(9_000.0, &view);
        let extent = |g: &Glyph| show.stage.home().extent(g.id).expect("a home's");
        // What covers the byte in the middle is as opaque, all together, as one dot.
        let covers = |g: &&Glyph| (0..extent(g).2).contains(&middle.wrapping_sub(extent(g).1));
        let sum: f32 = homes(&scene).filter(covers).map(|g| f32::from(g.color[3])).sum();
        assert!((sum - AT_HOME * 255.0).abs() <= 2.0, "at {zoom}: {sum}");
        finest = homes(&scene).filter(covers).map(|g| extent(g).2).min().expect("seen").min(finest);
        let now: BTreeMap<u64, (f32, f32)> = homes(&scene)
            .filter(|g| within(&view, place(g), 0.9))
            .map(|g| (g.id, (f32::from(g.color[3]), g.radius)))
            .collect();
        let present: BTreeSet<u64> = homes(&scene).map(|g| g.id).collect();
        if let Some(before) = &before {
            let none = (0.0, 0.0);
            for (id, &(alpha, radius)) in &now {
                let (was, size) = before.get(id).copied().unwrap_or(none);
                // Appearing it is faint; as it stays neither opacity nor size jumps.
                assert!((alpha - was).abs() <= 13.0, "at {zoom}: {id:#x} from {was} to {alpha}");
                assert!(was == 0.0 || (radius / size - 1.0).abs() < 0.08, "at {zoom}: {id:#x} {size} to {radius}");
            }
            for (id, (was, _)) in before.iter().filter(|(id, _)| !now.contains_key(id)) {
                let moved = present.contains(id);
                assert!(moved || *was <= 13.0, "at {zoom}: {id:#x} goes from {was}");
            }
        }
        before = Some(now);
        zoom *= 1.01;
    }
    assert_eq!(finest, 8, "down to an element");
}

#[test]
fn a_picture_holds_no_more_dots_at_home_than_the_whole_one_may() {
    let mut show = show();
    let whole = homes(&show.scene(9_000.0, &View::default())).count();
    let (mut most, mut zoom) = (0, 1.1f32);
    while zoom < 1000.0 {
        for middle in [BASE + 8, BASE + (31 << 20), IDLE + (1 << 19), ODD] {
            let view = at_home(&show.stage, middle, zoom);
            let count = homes(&show.scene(9_000.0, &view)).count();
            assert!(count > 0, "at {zoom}");
            most = most.max(count);
        }
        zoom *= 1.3;
    }
    // Those that fade out with those that fade in, and what reaches over the edge.
    assert!(most <= 20_000 && most > 2_000, "{most}, {whole} in the whole picture");
}

#[test]
fn the_whole_picture_and_its_words_are_what_they_were() {
    let mut show = show();
    let scene = show.scene(9_000.0, &View::default());
    assert!(scene.notes.home.is_empty() && scene.notes.item.ends_with("in memory up to 8 KiB"), "{:?}", scene.notes);
    let home = show.stage.home();
    let all: Vec<u64> = homes(&scene).map(|g| g.id).collect();
    assert_eq!(all, (0..home.items()).collect::<Vec<_>>(), "a dot an item, by number");
    for (zoom, words) in
        [(10.0, "1 dot in memory = 2 KiB (256 elements)"), (64.0, "1 dot in memory = 32 bytes (4 elements)")]
    {
        let view = at_home(&show.stage, BASE + (16 << 20), zoom);
        let notes = show.scene(9_000.0, &view).notes;
        assert_eq!(notes.home, words, "at {zoom}");
        assert!(!notes.item.contains("in memory"), "it is said once: {notes:?}");
    }
}

#[test]
fn a_region_within_a_line_has_the_dots_of_its_own_bytes() {
    let mut show = show();
    let view = at_home(&show.stage, ODD + 16, 1000.0);
    let scene = show.scene(9_000.0, &View { camera: Camera { zoom: 40.0, ..view.camera }, ..view });
    let d = |g: &Glyph| show.stage.home().extent(g.id).filter(|(region, ..)| *region == 3);
    let mut own: Vec<(u64, u64)> = homes(&scene).filter_map(d).map(|(_, addr, bytes)| (addr, bytes)).collect();
    own.sort_unstable();
    assert_eq!(own.last().copied(), Some((ODD + 32, 8)), "{own:?}");
    assert!(own.iter().all(|(addr, bytes)| addr + bytes > ODD && *addr < ODD + 40), "{own:?}");
}

#[test]
fn what_comes_from_memory_starts_among_the_dots_of_its_line() {
    let mut show = show();
    let mut flights = 0;
    for tick in (5_000..6_000u64).step_by(37) {
        let addr = show.references()[usize::try_from(tick).expect("small")].addr;
        let view = at_home(&show.stage, addr, 700.0);
        show.at(tick as f64 + 0.02, &view, |scene, moment, stage| {
            let came = |m: &&orrery::timeline::Move| m.grain == addr / 32 && m.from == Place::Home;
            let Some(m) = moment.log.moves(tick, tick + 1).iter().find(came) else { return };
            let line = |g: &&Glyph| stage.home().extent(g.id).is_some_and(|(_, at, _)| at / 32 == m.grain);
            let dots: Vec<[f32; 2]> = homes(scene).filter(line).map(place).collect();
            assert_eq!(dots.len(), 4, "a line of 32 bytes");
            let middle = [0, 1].map(|axis| dots.iter().map(|p| p[axis]).sum::<f32>() / 4.0);
            let flying = |g: &&Glyph| {
                g.layer == 3 && g.id * stage.items().glyph_bytes == m.grain * 32 && g.flight.path == Path::Straight
            };
            let glyph = scene.glyphs.iter().find(flying).expect("on its way");
            let from = glyph.flight.from.position(&[]);
            let size = distance(dots[0], dots[3]);
            assert!(distance(from, middle) < 0.05 * size, "{from:?} and {middle:?}, dots {size} apart");
            flights += 1;
        });
    }
    assert!(flights > 5, "{flights}");
}

#[test]
fn what_flies_is_no_larger_at_home_than_the_dots_there() {
    let mut show = show();
    let size = |show: &mut Show, tick: u64, phase: f64, zoom: f32| {
        let addr = show.references()[usize::try_from(tick).expect("small")].addr;
        let view = at_home(&show.stage, addr, zoom);
        let scene = show.scene(tick as f64 + phase, &View { cull: false, ..view });
        let first = addr / 32 * 32 / show.stage.items().glyph_bytes;
        let flying = |g: &&Glyph| g.layer == 3 && g.id == first && g.flight.path == Path::Straight;
        let dot = homes(&scene).map(|g| g.radius).reduce(f32::min).expect("some");
        scene.glyphs.iter().find(flying).map(|g| (g.radius, dot))
    };
    let mut flights = 0;
    for tick in (5_000..6_000u64).step_by(37) {
        let Some((small, dot)) = size(&mut show, tick, 0.0001, 100.0) else { continue };
        let (whole, at_home) = size(&mut show, tick, 0.0001, 1.0).expect("as before");
        let (there, _) = size(&mut show, tick, 0.9999, 100.0).expect("as before");
        // A line begins as a dot a few times as large as an element's, and grows to what it is in a cache.
        assert!(small < 8.0 * dot && small < 0.2 * there, "at {tick}: {small}, {there}, elements {dot}");
        // In the whole picture it begins as the dots there are, and grows to what it is in a cache.
        assert!((whole / at_home - 1.0).abs() < 0.1 && there < 2.5 * whole, "at {tick}: {there}, {whole}, {at_home}");
        flights += 1;
    }
    assert!(flights > 5, "{flights}");
}
