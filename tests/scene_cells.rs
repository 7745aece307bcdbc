//! Caches too large for dots are drawn as cells: each as opaque as it is full, whatever was drawn before.

use orrery::reference::{MemoryTrace, Region, Tables};
use orrery::scene::{Stage, View};
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
    let half = |name: &str, base, lifetime| Region {
        name: name.into(),
        base,
        bytes: 32 << 20,
        elem_bytes: 8,
        elem_type: String::new(),
        shape: vec![],
        row_major: true,
        lifetime,
    };
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
            assert!(scene.notes.cells.contains("L3: 1 patch = 8 lines"), "{}", scene.notes.cells);
            assert!(scene.glyphs.len() < 20_000, "{} dots: those of L3 are among them", scene.glyphs.len());
            let mut counted = counted(&moment, l3, [8, 1]);
            for cell in &scene.cells {
                let [sets, ranks] = [cell.sets, cell.ranks];
                assert_eq!((sets[1] - sets[0], ranks[1] - ranks[0]), (8, 1));
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
