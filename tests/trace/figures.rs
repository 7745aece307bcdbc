//! The bundled traces, played through the `paper` hierarchy, give the figures that the rings picture rests on.
//! The traces are recordings of compiled C programs (`traces/README.md`); a count that moves here is a changed recording.
#![cfg(feature = "formats")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use orrery::reference::{Kind, Reference, ReferenceSource};
use orrery::sim::{Event, Hierarchy, Observer, config, stats};
use orrery::trace;
use orrery::units::LevelId;
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("traces").join(format!("{name}.orrery"))
}

fn open(name: &str) -> Box<dyn ReferenceSource> {
    trace::open(&path(name), None).unwrap()
}

fn all(source: &dyn ReferenceSource) -> Vec<Reference> {
    (0..source.len().div_ceil(source.chunk_len())).flat_map(|i| source.chunk(i).unwrap().to_vec()).collect()
}

/// References, and L1 misses by region in order of the regions.
fn l1_misses(name: &str) -> (u64, Vec<(String, u64)>) {
    let source = open(name);
    let stats = stats::collect(&*source, &config::preset("paper").unwrap(), false).unwrap();
    let misses =
        stats.regions.iter().filter(|r| r.references > 0).map(|r| (r.name.to_owned(), r.misses.counts()[0])).collect();
    (source.len(), misses)
}

#[test]
fn multiplies_miss_as_the_paper_shows() {
    for (name, references, a, b, c) in [
        ("matmul16", 8448, 544, 4096, 256),
        ("matmul16_transposed", 8448, 64, 1024, 64),
        ("matmul16_blocked", 10_240, 252, 256, 232),
        ("matmul12_blocked", 4320, 108, 108, 54),
    ] {
        let expected = vec![("A".to_owned(), a), ("B".to_owned(), b), ("C".to_owned(), c)];
        assert_eq!(l1_misses(name), (references, expected), "{name}");
    }
}

#[test]
fn a_stream_misses_once_a_line() {
    assert_eq!(l1_misses("array_init"), (1024, vec![("A".to_owned(), 256)]));
}

/// Demand misses of L1 and L2 (write-backs that miss in L2 left out) that `references` cause.
fn misses(hierarchy: &mut Hierarchy, references: &[Reference]) -> [u64; 2] {
    #[derive(Default)]
    struct Count([u64; 2]);
    impl Observer for Count {
        fn event(&mut self, event: Event) {
            if let Event::Access { level, kind, hit: false, .. } = event
                && kind.is_demand()
            {
                self.0[level.index()] += 1;
            }
        }
    }
    let mut count = Count::default();
    references.iter().for_each(|r| hierarchy.access(r, &mut count));
    count.0
}

#[test]
fn bubble_sort_stops_missing_where_its_sweep_fits() {
    let source = open("bubble_sort");
    let references = all(&*source);
    assert_eq!(references.len(), 523_264);
    assert_eq!(references.iter().filter(|r| r.kind == Kind::Write).count(), 523_264 / 2);
    let mut hierarchy = Hierarchy::new(&config::preset("paper").unwrap()).unwrap();
    let mut rest = references.as_slice();
    let mut by_sweep = Vec::new();
    for length in (2..=512).rev() {
        // Two reads and two writes a compare.
        let (sweep, later) = rest.split_at(4 * (length - 1));
        rest = later;
        by_sweep.push((length, misses(&mut hierarchy, sweep)));
    }
    assert!(rest.is_empty());
    let first_calm = |level: usize| {
        let last = by_sweep.iter().rposition(|(_, m)| m[level] > 0).unwrap();
        by_sweep[last + 1].0
    };
    assert_eq!(first_calm(0), 63, "the first sweep from which on L1 does not miss");
    assert_eq!(first_calm(1), 255, "the first sweep from which on L2 does not miss");
    // Before that, every sweep misses: the end is the first calm, not a lull.
    assert!(by_sweep.iter().all(|(length, m)| (*length <= 63) == (m[0] == 0) && (*length <= 255) == (m[1] == 0)));
    assert_eq!(hierarchy.resident(LevelId(0)), 16);
}

#[test]
fn merge_sort_starts_missing_where_a_merge_outgrows_a_level() {
    let source = open("merge_sort");
    let references = all(&*source);
    let mut hierarchy = Hierarchy::new(&config::preset("paper").unwrap()).unwrap();
    let mut by_length = std::collections::BTreeMap::new();
    let mut at = 0;
    // The sort is depth first, and a merge of n elements makes exactly 4 n references: read, write, copy back.
    visit(512, &mut |length| {
        let m = misses(&mut hierarchy, &references[at..at + 4 * length]);
        at += 4 * length;
        let sum: &mut [u64; 2] = by_length.entry(length).or_default();
        sum[0] += m[0];
        sum[1] += m[1];
    });
    assert_eq!(at, references.len());
    // 256 lines, each touched for the first time by the merges of 2: 12.5 % of 2,048 references.
    assert_eq!(by_length[&2], [256, 256]);
    for length in [4, 8, 16, 32] {
        assert_eq!(by_length[&length], [0, 0], "merges of {length}");
    }
    assert!((480..=512).contains(&by_length[&64][0]), "{by_length:?}");
    assert_eq!([by_length[&128][0], by_length[&256][0], by_length[&512][0]], [512, 512, 512]);
    assert_eq!([by_length[&64][1], by_length[&128][1]], [0, 0]);
    assert!((480..=512).contains(&by_length[&256][1]), "{by_length:?}");
    assert_eq!(by_length[&512][1], 512);
}

/// "The algorithm tends to sweep through the values in order, resulting in good cache performance": once a line. With four
/// elements in one, what a loop touches once misses 25.0 %.
#[test]
fn particles_stream_through_the_caches_of_the_bigger_simulation() {
    let source = open("mpm");
    let (references, tables) = (all(&*source), source.tables());
    let starts: Vec<usize> = tables.marks.iter().map(|m| usize::try_from(m.reference).unwrap()).collect();
    let names: Vec<&str> = tables.marks.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["clear the grid", "momentum", "forces", "move the grid", "carry particles", "stress"]);
    let config = config::preset("paper-x4").unwrap();
    let stats = stats::collect(&*source, &config, false).unwrap();
    let of = |name: &str| stats.regions.iter().find(|r| r.name == name).unwrap();
    for name in ["mass", "momentum", "constitutive"] {
        assert_eq!(of(name).misses.counts()[0] * 4, of(name).references, "{name}");
        assert_eq!(of(name).misses.counts()[1], of(name).misses.counts()[0], "{name}: nothing of it is in L2 either");
    }
    // Loop by loop: of the particles' arrays every line that is touched is missed once, whatever the grid does beside.
    let mut hierarchy = Hierarchy::new(&config).unwrap();
    let map = orrery::reference::RegionMap::new(&tables.regions);
    for (phase, name) in names.iter().enumerate() {
        let until = starts.get(phase + 1).copied().unwrap_or(references.len());
        let mut counts = std::collections::BTreeMap::<&str, (u64, u64, std::collections::BTreeSet<u64>)>::new();
        for r in &references[starts[phase]..until] {
            let region = &tables.regions[map.find(r.addr, 0).unwrap()].name;
            let missed = misses(&mut hierarchy, std::slice::from_ref(r))[0];
            let count = counts.entry(region).or_default();
            (count.0, count.1) = (count.0 + 1, count.1 + missed);
            count.2.insert(r.addr / 32);
        }
        for (array, (touched, missed, lines)) in counts.iter().filter(|(array, _)| !array.starts_with("grid")) {
            assert_eq!(*missed, lines.len() as u64, "{name}: {array}, of {touched} references");
        }
        let rates: Vec<&str> = counts.iter().filter(|(_, (n, m, _))| 4 * m == *n).map(|(array, _)| *array).collect();
        match *name {
            "momentum" => assert_eq!(rates, ["mass", "momentum", "position", "velocity"]),
            "stress" => assert_eq!(rates, ["constitutive", "position"]),
            _ => {}
        }
    }
}

fn visit(length: usize, merge: &mut impl FnMut(usize)) {
    if length >= 2 {
        visit(length / 2, merge);
        visit(length / 2, merge);
        merge(length);
    }
}

#[test]
fn recordings_carry_what_a_picture_needs() {
    for (name, title, regions, marks) in [
        ("matmul16", "16×16 matrix multiply", 3, 0),
        ("matmul16_transposed", "16×16 matrix multiply", 3, 0),
        ("matmul16_blocked", "16×16 matrix multiply", 3, 0),
        ("matmul12_blocked", "12×12 matrix multiply", 3, 0),
        ("array_init", "Array initialisation", 1, 0),
        ("bubble_sort", "Bubble sort", 1, 8),
        ("merge_sort", "Merge sort", 2, 15),
        ("mpm", "Material point method", 10, 6),
    ] {
        let source = open(name);
        let tables = source.tables();
        assert_eq!(
            (tables.title.as_str(), tables.regions.len(), tables.marks.len()),
            (title, regions, marks),
            "{name}"
        );
        assert!(!tables.subtitle.is_empty() && tables.made_by.contains("orrery cc"), "{name}");
        assert!(source.notices().is_empty(), "{name}: {:?}", source.notices());
        assert!(tables.marks.iter().all(|m| m.reference < source.len()), "{name}");
        let map = orrery::reference::RegionMap::new(&tables.regions);
        for r in all(&*source) {
            assert!(map.find(r.addr, 0).is_some(), "{name}: {r:x?} lies in no region");
            let location = tables.location(r.pc).unwrap_or_else(|| panic!("{name}: no source line for pc {:#x}", r.pc));
            assert!(location.file.ends_with(".c") && !location.text.is_empty() && !location.function.is_empty());
        }
    }
    let merge = open("merge_sort");
    assert_eq!(merge.tables().marks[0], orrery::reference::Mark { reference: 1280, name: "merge of 64".into() });
}

#[test]
fn sums_in_one_line_are_falsely_shared_and_sums_apart_are_not() {
    for (name, misses, falsely) in [("false_sharing", 512, 508), ("false_sharing_padded", 4, 0)] {
        let source = open(name);
        assert_eq!((source.len(), source.cores().unwrap()), (1536, 4), "{name}");
        let config = config::HierarchyConfig { cores: 4, ..config::preset("paper").unwrap() };
        let stats = orrery::sim::stats::collect(&*source, &config, false).unwrap();
        let sums = stats.regions.iter().find(|r| r.name == "sums").unwrap();
        assert_eq!((sums.references, sums.misses.iter().next()), (1024, Some((&"L1".into(), misses))), "{name}");
        let sharing = stats.sharing.unwrap();
        assert_eq!((sharing.coherence_misses, sharing.false_sharing), (falsely, falsely), "{name}");
        assert_eq!(stats.levels[0].coherence, falsely);
        match &sharing.lines[..] {
            [line] => assert_eq!((line.region.as_deref(), &line.cores[..]), (Some("sums"), &[0, 1, 2, 3][..])),
            lines => assert!(falsely == 0 && lines.is_empty(), "{lines:?}"),
        }
    }
}
