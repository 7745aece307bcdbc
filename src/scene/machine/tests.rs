use super::*;
use crate::machine::gpu::{self, GpuConfig, KernelEntry, simulate};
use crate::scene::motion::position_at;
use crate::tasks::metrics::Edges;
use crate::tasks::{NewTask, REQUEST_IN, REQUEST_OUT, TaskId, TaskSetBuilder};
use std::collections::BTreeSet;

fn gpu(kernel: &str, size: u64) -> TaskBook {
    let config = GpuConfig { arrays: 2, units: 2, banks: 4, ..gpu::preset("r9nano").expect("there") };
    let program = KernelEntry::named(kernel).expect("there").with(&[("N".into(), size)]).expect("sound");
    let run = simulate(&config, program.as_ref(), kernel, true, &mut |_, _| true).expect("it runs");
    TaskBook::new(run.tasks.expect("kept"), Edges::Neither, kernel, "")
}

/// Requests between named places: from, to.
fn asks(ways: &[(&str, &str)]) -> TaskBook {
    let mut builder = TaskSetBuilder::new(1_000);
    let mut newest = 0;
    for (n, &(from, to)) in ways.iter().enumerate() {
        let start = 10 * n as u64;
        let mut parent = None;
        for (category, place, times) in
            [(REQUEST_OUT, from, (start, start + 9)), (REQUEST_IN, to, (start + 2, start + 7))]
        {
            newest += 1;
            let (category, action, location) =
                (builder.word(category), builder.word("ReadReq"), builder.location(place));
            let id = TaskId::Number(newest);
            let (start, end) = times;
            let task = NewTask { id: &id, parent: parent.as_ref(), category, action, location, start, end };
            builder.push(task).expect("few");
            parent = Some(id);
        }
    }
    TaskBook::new(builder.finish().set, Edges::Neither, "asks", "")
}

#[test]
fn a_gpu_is_told_by_its_requests_alone() {
    let book = gpu("matmul", 32);
    let traffic = book.traffic();
    let rings: Vec<(&str, usize, u32, bool, bool)> = traffic
        .kinds
        .iter()
        .map(|kind| (kind.name.as_str(), kind.components.len(), kind.depth, kind.translates, kind.is_last))
        .collect();
    for expected in [
        ("Dispatcher", 1, 0, false, false),
        ("CU", 4, 1, false, false),
        ("L1VCache", 4, 2, false, false),
        ("L1VTLB", 4, 2, true, false),
        ("L2Cache", 4, 3, false, false),
        ("L2TLB", 1, 3, true, false),
        ("DRAM", 4, 4, false, true),
        ("MMU", 1, 4, true, true),
    ] {
        assert!(rings.contains(&expected), "{expected:?} in {rings:?}");
    }
    let caches: Vec<&str> = traffic.kinds.iter().filter(|kind| kind.is_cache).map(|kind| kind.name.as_str()).collect();
    assert!(caches.contains(&"L1VCache") && !caches.contains(&"DRAM") && !caches.contains(&"Dispatcher"), "{caches:?}");
    let set = book.set();
    // Each request is on one link.
    let pairs = (0..).take(set.len()).filter(|&task| {
        let out = set.parent(task).is_some_and(|parent| set.task_category(parent) == REQUEST_OUT);
        out && set.task_category(task) == REQUEST_IN
    });
    assert_eq!(traffic.links.iter().map(|link| link.requests).sum::<u64>(), pairs.count() as u64);
    let owner = |name: &str| {
        let location = set.locations().find(name).expect("there");
        set.locations().word(traffic.component(traffic.owner(location).expect("a part")).location)
    };
    assert_eq!(owner("SA[1].CU[0].VMem"), "SA[1].CU[0]");
    assert_eq!(owner("L2Cache[3]"), "L2Cache[3]");
}

#[test]
fn a_circle_has_depths_and_rings_too() {
    let book = asks(&[("A", "B"), ("B", "C"), ("C", "A"), ("A", "B"), ("B", "C"), ("B", "B")]);
    let traffic = book.traffic();
    let mut depths: Vec<(&str, u32)> = traffic.kinds.iter().map(|kind| (kind.name.as_str(), kind.depth)).collect();
    depths.sort_unstable();
    assert_eq!(depths, [("A", 0), ("B", 1), ("C", 2)]);
    let stage = MachineStage::new(&book).expect("three");
    assert_eq!(stage.layout().rings.len(), 2);
}

#[test]
fn sectors_hold_their_slots_and_are_found_by_place() {
    for kernel in ["matmul", "pagerank"] {
        let book = gpu(kernel, 64);
        let stage = MachineStage::new(&book).expect("a small GPU");
        let layout = stage.layout();
        let mut edge = layout.middle;
        for ring in &layout.rings {
            assert!(ring.r0 > edge && ring.r1 > ring.r0 && ring.r1 < 1.0, "{ring:?}");
            edge = ring.r1;
        }
        for (component, sector) in (0u32..).zip(&layout.sectors) {
            if layout.center == Some(component) {
                assert_eq!(layout.at([0.0, 0.0]), Some(component));
                continue;
            }
            let mut met: Vec<[f32; 2]> = Vec::new();
            for slot in 0..sector.sets * sector.ways {
                let [r, theta] = layout.slot(component, Some(slot));
                let p = [r * theta.cos(), r * theta.sin()];
                assert_eq!(layout.at(p), Some(component), "slot {slot}");
                assert!(met.iter().all(|q| (p[0] - q[0]).hypot(p[1] - q[1]) > 0.5 * sector.pitch), "slot {slot}");
                met.push(p);
            }
            // What waits stands outside.
            let [r, theta] = layout.port(component, 0);
            assert!(r < sector.r0 && layout.at([r * theta.cos(), r * theta.sin()]).is_none());
        }
    }
}

#[test]
fn each_request_under_way_is_one_dot_and_all_that_components_hold_is_counted() {
    let book = gpu("pagerank", 256);
    let (set, traffic) = (book.set(), book.traffic());
    let stage = MachineStage::new(&book).expect("a small GPU");
    let last = set.span().1;
    let mut waited = 0;
    for n in 0..40 {
        let tick = last * n / 40;
        let MachineMoment { scene, loads, seen } =
            stage.frame(&book, Position::of(tick as f64 + 0.25), &View::default());
        let dots: Vec<u64> = scene.glyphs.iter().map(|glyph| glyph.id).collect();
        assert_eq!(dots.iter().collect::<BTreeSet<_>>().len(), dots.len(), "no task is there twice");
        let is_open = |task: &u32| set.start(*task) <= tick && set.end(*task) > tick;
        let open: Vec<u32> = (0..).take(set.len()).filter(is_open).collect();
        for &task in &open {
            let served = set.task_category(task) == REQUEST_IN;
            // Work-groups have no slot in a unit that has wavefronts.
            if served && traffic.slot(task).is_some() {
                assert!(dots.contains(&u64::from(task)), "{} at {tick}", set.id(task));
            }
        }
        let held = open.iter().filter(|&&task| traffic.slot(task).is_some()).count();
        let told: u32 = loads.iter().map(|load| load.held + load.waiting).sum();
        assert_eq!(told as usize, held, "at {tick}");
        waited += loads.iter().map(|load| load.waiting).sum::<u32>();
        for glyph in &scene.glyphs {
            let [x, y] = position_at(&[], &glyph.flight, scene.now);
            assert!(x.hypot(y) < 1.0, "{glyph:?}");
        }
        assert!(open.is_empty() || seen.contains(&true));
        let again = stage.frame(&book, Position::of(tick as f64 + 0.25), &View::default());
        assert!(again.scene == scene, "the same picture");
    }
    assert!(waited > 0, "something waits in a busy run");
}

#[test]
fn nothing_jumps_but_in_a_queue() {
    let book = gpu("matmul", 32);
    let set = book.set();
    let stage = MachineStage::new(&book).expect("a small GPU");
    let view = View { trails: false, ..View::default() };
    let position = |glyph: &Glyph, now: f32| position_at(&[], &glyph.flight, now);
    let waits = |task: u64| !set.milestones(u32::try_from(task).expect("a task")).is_empty();
    let mut seen = 0;
    let from = set.span().1 / 3;
    for tick in from..from + 200 {
        let [before, after] = [tick, tick + 1].map(|tick| stage.frame(&book, Position::at(tick), &view).scene);
        for glyph in before.glyphs.iter().filter(|glyph| glyph.layer < 4 && !waits(glyph.id)) {
            let Some(next) = after.glyphs.iter().find(|other| other.id == glyph.id) else { continue };
            let (a, b) = (position(glyph, 1.0), position(next, 0.0));
            assert!((a[0] - b[0]).hypot(a[1] - b[1]) < 1e-3, "task {} at {tick}: {a:?} to {b:?}", glyph.id);
            seen += 1;
        }
    }
    assert!(seen > 500, "{seen}");
}

#[test]
fn what_cannot_be_told_from_each_other_is_not_drawn() {
    let none = TaskBook::new(TaskSetBuilder::new(1).finish().set, Edges::Neither, "", "");
    assert_eq!(MachineStage::new(&none).err(), Some(NoRings::NoRequests));
    let names: Vec<String> = (0..1_300).map(|n| format!("L2[{n}]")).collect();
    let ways: Vec<(&str, &str)> = names.iter().map(|name| ("CU", name.as_str())).collect();
    assert_eq!(MachineStage::new(&asks(&ways)).err(), Some(NoRings::TooMany { components: 1_301, kinds: 2 }));
}
