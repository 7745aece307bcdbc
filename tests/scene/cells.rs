//! Caches too large for dots are drawn as cells: each as opaque as it is full, whatever was drawn before.

use crate::support::regions::span;
use orrery::reference::{MemoryTrace, Region, Tables};
use orrery::scene::motion::Endpoint;
use orrery::scene::{Camera, Stage, View};
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use orrery::timeline::cursor::{grain_bytes, innermost};
use orrery::timeline::{Cursor, Moment, Options, Timeline};
use orrery::trace::synth::{BASE, MatmulOrder, Rng, matmul, mix};
use orrery::units::{CacheId, SetIndex};
use std::collections::BTreeMap;
use std::sync::Arc;

/// 64 MiB in two arrays, the second of which lives for half of the trace where `passing`.
fn timeline(name: &str, passing: bool) -> Arc<Timeline> {
    let half = |name: &str, base, lifetime| Region { lifetime, ..span(name, base, 32 << 20) };
    let regions = vec![half("a", BASE, None), half("b", BASE + (32 << 20), passing.then_some((0, 20_000)))];
    let trace = MemoryTrace::new(mix(40_000, 5).collect(), Tables { regions, ..Tables::default() });
    let hierarchy = Hierarchy::new(&preset(name).expect("a preset")).expect("sound");
    let options = Options::default();
    Arc::new(Timeline::build(Arc::new(trace), hierarchy, options, &mut |_, _| true).expect("in memory"))
}

/// Lines and ghosts in each cell of a cache, by its first set and rank.
fn counted(moment: &Moment<'_>, cache: CacheId, [sets, ranks]: [u32; 2]) -> BTreeMap<(u32, u32), (u32, u32)> {
    let (state, geometry) = (moment.after, moment.after.geometry(cache));
    let unit = grain_bytes(state);
    let mut out = BTreeMap::new();
    for set in 0..geometry.sets {
        for (resident, rank) in state.order(cache, SetIndex(set)).zip(0..) {
            let first = resident.line.base(geometry.line_bytes).0 / u64::from(unit);
            let ghost = innermost(state, first, unit).depth(9) < usize::from(state.info(cache).depth);
            let cell: &mut (u32, u32) = out.entry((set / sets * sets, rank / ranks * ranks)).or_default();
            *(if ghost { &mut cell.1 } else { &mut cell.0 }) += 1;
        }
    }
    out
}

#[test]
fn a_cell_is_as_opaque_as_it_is_full_and_a_frame_does_not_depend_on_others() {
    let mut cells = 0;
    for (name, passing) in [("textbook", false), ("textbook", true)] {
        let timeline = timeline(name, passing);
        let regions = &timeline.tables().regions;
        let mut stage = Stage::new(timeline.start(), regions);
        let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("in memory");
        let mut rng = Rng::new(7);
        for n in 0..12 {
            let tick = if n % 3 == 0 { rng.below(timeline.len()) } else { cursor.moment().tick + rng.below(3) };
            let view = View { phase: 0.5, ..View::default() };
            let moment = cursor.seek(tick, view.history()).expect("in memory");
            let scene = stage.frame(&moment, &view);
            assert_eq!(scene, Stage::new(timeline.start(), regions).frame(&moment, &view), "{name} at {tick}");
            let l3 = moment.after.caches().last().expect("three levels");
            assert!(scene.cells.iter().all(|cell| usize::from(cell.sector) == l3.index()));
            assert!(scene.notes.cells.contains("1 patch = 8 lines in L3"), "{}", scene.notes.cells);
            assert!(scene.glyphs.len() < 20_000, "{} dots: those of L3 are among them", scene.glyphs.len());
            let mut counted = counted(&moment, l3, [8, 1]);
            for cell in &scene.cells {
                let [sets, ranks] = [cell.sets, cell.ranks];
                assert_eq!((sets[1] - sets[0], ranks[1] - ranks[0]), (8, 1));
                // Half way between the slots beside each corner.
                for (corner, n) in cell.corners.iter().zip(0..) {
                    let rank = ranks[n >> 1] as f32 - 0.5;
                    let between = Endpoint { a: sets[n & 1] as f32 - 0.5, ..Endpoint::slot(l3.index(), 0, rank, 0.0) };
                    let [x, y] = between.position(&scene.rings.sectors);
                    assert!((corner[0] - x).hypot(corner[1] - y) < 1e-6, "{cell:?}: corner {n} is at {x}, {y}");
                }
                let (lines, ghosts) = counted.remove(&(sets[0], ranks[0])).expect("something is there");
                // Full: 0.5 at the head of an arm, 0.55 of that at its end, every other row a little less; ghosts 0.12.
                let row = ranks[0] as f32;
                let shade = (1.0 - 0.45 * row / 15.0) * if ranks[0] % 2 == 1 { 0.84 } else { 1.0 };
                let alpha = shade * (0.5 * lines as f32 + 0.12 * ghosts as f32) / 8.0 * 255.0;
                assert!((f32::from(cell.color[3]) - alpha).abs() < 1.0, "{cell:?}: {lines} lines, {ghosts} ghosts");
                cells += 1;
            }
            assert!(counted.is_empty(), "{} cells are not drawn", counted.len());
        }
    }
    assert!(cells > 10_000, "{cells}");
}

/// Closer up, dots come forward while cells fade; then those in sight are dots, each line one, and nothing else is.
#[test]
fn closer_up_the_lines_in_sight_are_dots() {
    let timeline = timeline("textbook", false);
    let mut stage = Stage::new(timeline.start(), &timeline.tables().regions);
    let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("in memory");
    let sector = *stage.rings().sectors.last().expect("three levels");
    let l3 = 2.0;
    let (r, theta) = (sector.radius(1.0), 0.7f32);
    let at = [r * theta.cos(), r * theta.sin()];
    let mut before = None;
    for zoom in [1.0f32, 1.5, 2.4, 3.2, 4.0, 6.0, 30.0, 300.0] {
        let view = View { phase: 0.4, camera: Camera { at, zoom }, ..View::default() };
        let moment = cursor.seek(39_000, view.history()).expect("in memory");
        let scene = stage.frame(&moment, &view);
        let here = |g: &&orrery::scene::Glyph| g.flight.to == g.flight.from && g.flight.to.cache == l3;
        let dots: Vec<_> = scene.glyphs.iter().filter(here).collect();
        let cell = scene.cells.iter().map(|cell| cell.color[3]).max().unwrap_or(0);
        let dot = dots.iter().map(|dot| dot.color[3]).max().unwrap_or(0);
        assert_eq!(cell == 0, scene.notes.cells.is_empty(), "at {zoom}");
        if let Some((cells, dots)) = before {
            assert!(cell <= cells && dot >= dots, "at {zoom}: cells {cells} to {cell}, dots {dots} to {dot}");
        }
        before = Some((cell, dot));
        match zoom {
            1.0 => assert!(dots.is_empty() && cell > 0),
            6.0.. => {
                assert!(scene.cells.is_empty() && dot == 255, "at {zoom}: {cell} and {dot}");
                let reach = 4.0 / zoom;
                // Dots whose middle is in sight, and those of which a part may be.
                let cache = moment.after.caches().last().expect("three levels");
                let lines = |reach: f32| -> usize {
                    let in_sight = |set: u32, rank: f32| {
                        let [r, theta] = sector.polar(set as f32, rank);
                        (r * theta.cos() - at[0]).abs() < reach && (r * theta.sin() - at[1]).abs() < reach
                    };
                    let held = |set: u32| moment.after.order(cache, SetIndex(set)).enumerate();
                    let seen = |set: u32| held(set).filter(|(rank, _)| in_sight(set, *rank as f32)).count();
                    (0..sector.sets).map(seen).sum()
                };
                let (least, most) = (lines(reach), lines(reach + 0.13 / zoom + 3.0 * sector.pitch));
                assert!(
                    least > 0 && (least..=most).contains(&dots.len()),
                    "at {zoom}: {least} to {most}, {}",
                    dots.len()
                );
            }
            _ => {}
        }
    }
}

#[test]
fn a_small_footprint_is_dots_in_a_cache_of_any_size() {
    let hierarchy = Hierarchy::new(&preset("textbook").expect("a preset")).expect("sound");
    let trace = matmul(16, MatmulOrder::Standard);
    let timeline =
        Timeline::build(Arc::new(trace), hierarchy, Options::default(), &mut |_, _| true).expect("in memory");
    let timeline = Arc::new(timeline);
    let mut stage = Stage::new(timeline.start(), &timeline.tables().regions);
    let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("in memory");
    let scene = stage.frame(&cursor.seek(4_000, 400).expect("in memory"), &View::default());
    assert!(scene.cells.is_empty() && scene.notes.cells.is_empty());
}

#[test]
fn in_a_small_picture_smaller_caches_are_cells_too_and_in_a_larger_one_again_dots() {
    let timeline = timeline("textbook", false);
    let regions = &timeline.tables().regions;
    let mut stage = Stage::new(timeline.start(), regions);
    let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("in memory");
    let mut drawn = |detail: f32, zoom: f32| {
        let view = View { detail, camera: Camera { zoom, ..Camera::default() }, ..View::default() };
        let moment = cursor.seek(30_000, view.history()).expect("in memory");
        let scene = stage.frame(&moment, &view);
        assert_eq!(scene, Stage::new(timeline.start(), regions).frame(&moment, &view), "detail {detail}");
        (scene.glyphs.len(), scene.cells.len(), scene.notes.cells)
    };
    let whole = drawn(1.0, 1.0);
    let (dots, cells, said) = drawn(0.4, 1.0);
    assert!(dots + 3_000 < whole.0, "{dots} dots of {}", whole.0);
    assert!(cells > 0 && cells < whole.1, "larger patches: {cells} of {}", whole.1);
    assert!(said.contains("in L2, ") && said.contains("in L3") && !whole.2.contains("L2"), "{said}; {}", whole.2);
    // A little smaller is the same; closer up there is room for dots.
    assert_eq!(drawn(0.36, 1.0), (dots, cells, said));
    assert!(!drawn(0.4, 4.0).2.contains("L2"));
    assert_eq!([1.0, 0.5].map(|detail| drawn(detail, 1.0)), [whole.clone(), whole]);
}
