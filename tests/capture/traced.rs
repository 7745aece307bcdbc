//! Arrays that record who touches them: the counts are the loops', the file is the same each time, Orrery reads it.

use orrery::reference::{Kind, Reference, ReferenceSource, Region};
use orrery::trace;
use orrery::traced::{Recorder, Traced};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

#[path = "../../examples/bubble_sort.rs"]
#[expect(dead_code, unreachable_pub, reason = "a program of its own, whose main writes into the folder it runs in")]
mod bubble_sort;

fn of(recorder: &Recorder) -> Vec<Reference> {
    recorder.trace().references().to_vec()
}

/// Reads, writes and modifies in a region.
fn counts(all: &[Reference], region: &Region) -> [usize; 3] {
    let of = |kind| {
        let inside = |r: &&Reference| r.kind == kind && (region.base..region.end()).contains(&r.addr);
        all.iter().filter(inside).count()
    };
    [of(Kind::Read), of(Kind::Write), of(Kind::Modify)]
}

fn multiply(recorder: &Recorder, n: usize) -> Traced<f64> {
    let a = recorder.matrix("A", n, n, |row, column| (row * n + column) as f64);
    let b = recorder.matrix("B", n, n, |row, column| if row == column { 2.0 } else { 0.0 });
    let mut c = recorder.matrix("C", n, n, |_, _| -1.0);
    recorder.mark("clear");
    c.fill(0.0);
    recorder.mark("multiply");
    for i in 0..n {
        for j in 0..n {
            for k in 0..n {
                let product = a.get((i, k)) * b.get((k, j));
                c.update((i, j), |sum| sum + product);
            }
        }
    }
    c
}

#[test]
fn a_multiplication_touches_each_array_as_its_loops_say() {
    const N: usize = 6;
    let recorder = Recorder::new("multiply");
    let c = multiply(&recorder, N);
    assert_eq!(c.values(), (0..N * N).map(|n| 2.0 * n as f64).collect::<Vec<_>>());
    let trace = recorder.trace();
    let tables = trace.tables();
    let regions: Vec<(&str, u64, &[u64])> =
        tables.regions.iter().map(|r| (r.name.as_str(), r.base, &r.shape[..])).collect();
    // 288 bytes each, up to the next multiple of 64.
    let square: &[u64] = &[6, 6];
    assert_eq!(
        regions,
        [("A", 0x1000_0000, square), ("B", 0x1000_0000 + 320, square), ("C", 0x1000_0000 + 640, square)]
    );
    assert!(tables.regions.iter().all(|r| (r.elem_type.as_str(), r.elem_bytes, r.bytes) == ("f64", 8, 288)));
    let all = trace.references();
    let cubed = N.pow(3);
    assert_eq!(counts(all, &tables.regions[0]), [cubed, 0, 0]);
    assert_eq!(counts(all, &tables.regions[1]), [cubed, 0, 0]);
    assert_eq!(counts(all, &tables.regions[2]), [0, N * N, cubed]);
    assert_eq!(all.len(), 3 * cubed + N * N);
    // Row by row in memory: the first two products.
    let at = |base: u64, row: u64, column: u64| base + 8 * (6 * row + column);
    let (a, b, c) = (regions[0].1, regions[1].1, regions[2].1);
    let first: Vec<u64> = all[N * N..][..6].iter().map(|r| r.addr).collect();
    assert_eq!(first, [at(a, 0, 0), at(b, 0, 0), c, at(a, 0, 1), at(b, 1, 0), c]);
    let marks: Vec<(u64, &str)> = tables.marks.iter().map(|m| (m.reference, m.name.as_str())).collect();
    assert_eq!(marks, [(0, "clear"), (36, "multiply")]);
}

#[test]
fn each_touch_has_the_line_that_did_it() {
    let recorder = Recorder::new("lines");
    let mut a = recorder.array("a", [1u8, 2, 3]);
    let line = line!() + 1;
    let sum = a.get(0) + a.get(1);
    a.set(2, sum);
    for value in &a {
        assert!(value > 0);
    }
    let trace = recorder.trace();
    let locations = &trace.tables().locations;
    let pcs: Vec<u64> = trace.references().iter().map(|r| r.pc).collect();
    // Two of one line, then a line each; a loop is one place.
    assert_eq!(pcs, [0x40_0000, 0x40_0004, 0x40_0008, 0x40_000c, 0x40_000c, 0x40_000c]);
    let seen: Vec<(u32, &str)> = locations.iter().map(|l| (l.line, l.text.as_str())).collect();
    let sum = "let sum = a.get(0) + a.get(1);";
    assert_eq!(seen, [(line, sum), (line, sum), (line + 1, "a.set(2, sum);"), (line + 2, "for value in &a {")]);
    assert!(locations.iter().all(|l| Path::new(&l.file).ends_with("tests/capture/traced.rs")), "{locations:?}");
}

#[test]
fn every_way_to_touch_an_array() {
    let recorder = Recorder::new("ways");
    let mut a = recorder.array("a", vec![10u32, 20, 30]);
    a.swap(0, 2);
    a.update(1, |value| value + 1);
    recorder.pause();
    a.set(0, 99);
    recorder.mark("within a pause");
    recorder.resume();
    a.fill(7);
    assert_eq!(a.iter().take(2).sum::<u32>(), 14);
    assert_eq!((a.len(), a.is_empty(), a.iter().len()), (3, false, 3));
    let seen: Vec<(Kind, u64)> = of(&recorder).iter().map(|r| (r.kind, (r.addr - 0x1000_0000) / 4)).collect();
    use Kind::{Modify, Read, Write};
    let expect = [
        (Read, 0),
        (Read, 2),
        (Write, 0),
        (Write, 2),
        (Modify, 1),
        (Write, 0),
        (Write, 1),
        (Write, 2),
        // An iterator reads what is asked for, no more.
        (Read, 0),
        (Read, 1),
    ];
    assert_eq!(seen, expect);
    assert_eq!(recorder.trace().tables().marks[0].reference, 5);
    assert_eq!(format!("{a:?}"), "[7, 7, 7]");
}

#[test]
fn a_matrix_lies_as_its_strides_say() {
    let recorder = Recorder::new("strides");
    let padded = recorder.matrix_with_strides("padded", [3, 4], [5, 1], |row, column| 10 * row + column);
    let columns = recorder.matrix_with_strides("columns", [3, 4], [1, 3], |row, column| 10 * row + column);
    let none = recorder.matrix_with_strides("none", [0, 4], [5, 1], |_, _| 0);
    for a in [&padded, &columns] {
        assert_eq!((a.get((2, 1)), a.get(9), a.values()[9]), (21, 21, 21));
    }
    assert_eq!((padded.iter().sum::<usize>(), none.is_empty()), (4 * 30 + 3 * 6, true));
    let trace = recorder.trace();
    let [at, behind] = [&trace.tables().regions[0], &trace.tables().regions[1]];
    let addresses: Vec<u64> = trace.references().iter().map(|r| r.addr).collect();
    let (padded, columns) = (at.base + 8 * (2 * 5 + 1), behind.base + 8 * (2 + 3));
    assert_eq!(addresses[..4], [padded, padded, columns, columns]);
    let places: Vec<u64> = addresses[4..].iter().map(|addr| (addr - at.base) / 8).collect();
    assert_eq!(places, [0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13]);
    // What the tables say of both is where they were touched.
    assert_eq!(
        (at.element_name(padded), behind.element_name(columns)),
        ("padded[2][1]".into(), "columns[2][1]".into())
    );
    assert_eq!(at.element_name(at.base + 8 * 4), "padded + 32 bytes (padding)");
    assert_eq!((at.bytes, behind.bytes, behind.base - at.base), (8 * 14, 8 * 12, 128));
}

#[test]
fn elements_that_would_share_an_address_are_no_matrix() {
    for (shape, strides) in [([3, 4], [3, 1]), ([3, 4], [1, 2]), ([2, 1], [0, 1]), ([2, 2], [usize::MAX, 1])] {
        let made = std::panic::catch_unwind(|| {
            let _ = Recorder::new("overlap").matrix_with_strides("A", shape, strides, |_, _| 0u8);
        });
        let told = made.expect_err("it overlaps");
        let told = told.downcast_ref::<String>().map_or("", String::as_str);
        assert!(told.contains("share an address") && told.contains(&format!("{strides:?}")), "{shape:?}: {told}");
    }
    // A row or column of one needs no stride.
    let one = Recorder::new("one row").matrix_with_strides("A", [1, 4], [0, 1], |_, column| column);
    assert_eq!(one.get((0, 3)), 3);
}

#[test]
fn arrays_come_and_go() {
    let recorder = Recorder::new("merge");
    let a = recorder.array("a", [1i64, 2]);
    let _ = a.get(0);
    {
        let b = recorder.array("b", [3i64; 8]);
        let _ = (b.get(0), b.get(1));
        drop(recorder.array("never touched", [1u8]));
    }
    let _ = recorder.array::<f32>("empty", []);
    recorder.gap(1000);
    let c = recorder.array("c", [4i16]);
    let _ = (a.get(1), c.get(0));
    let trace = recorder.trace();
    let lives: Vec<_> = trace.tables().regions.iter().map(|r| (r.name.as_str(), r.lifetime)).collect();
    assert_eq!(lives, [("a", None), ("b", Some((1, 3))), ("c", Some((3, 5)))]);
    let c = &trace.tables().regions[2];
    // `never touched` ends at 0x1000_0081; the gap begins where the empty array stands.
    assert_eq!((c.base, c.base % 64), ((0x1000_00c0u64 + 1000).next_multiple_of(64), 0));
}

#[test]
fn what_is_not_there_is_named() {
    let message = |touch: fn(&mut Traced<u8>)| {
        let failed = std::panic::catch_unwind(|| touch(&mut Recorder::new("bounds").matrix("m", 2, 3, |_, _| 0)));
        failed.unwrap_err().downcast_ref::<String>().unwrap().clone()
    };
    assert_eq!(message(|m| assert_eq!(m.get(6), 0)), "element 6 of a matrix of 2 by 3");
    assert_eq!(message(|m| m.set((0, 3), 1)), "element (0, 3) of a matrix of 2 by 3");
    assert_eq!(message(|m| m.swap(0, (2, 0))), "element (2, 0) of a matrix of 2 by 3");
    assert_eq!(
        message(|m| m.update((usize::MAX, 2), |v| v)),
        format!("element ({}, 2) of a matrix of 2 by 3", usize::MAX)
    );

    let folder = tempfile::tempdir().unwrap();
    let error = Recorder::new("nothing").write(folder.path().join("t.orrery")).unwrap_err().to_string();
    assert!(error.contains("t.orrery") && error.contains("no references") && error.contains("get, set"), "{error}");
    let recorder = Recorder::new("folder");
    let _ = recorder.array("a", [1]).get(0);
    let error = recorder.write(folder.path().join("no/such/t.orrery")).unwrap_err().to_string();
    assert!(error.contains("no/such/t.orrery") && error.contains("does not exist; make it first"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_example_writes_the_same_file_each_time_and_stats_count_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let n = 16u64;
    let written: Vec<u64> =
        ["a.orrery", "b.orrery"].iter().map(|name| bubble_sort::record(16).write(path(name)).unwrap()).collect();
    assert_eq!(fs::read(path("a.orrery")).unwrap(), fs::read(path("b.orrery")).unwrap());

    // The largest first: every comparison, of which there are n (n - 1) / 2, ends in an exchange.
    let comparisons = n * (n - 1) / 2;
    assert_eq!(written, [6 * comparisons; 2]);
    let output = Command::new(env!("CARGO_BIN_EXE_orrery"))
        .args(["stats", "--json", "--by-line", "--cache", "paper"])
        .arg(path("a.orrery"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
    let trace = |key: &str| stats["trace"][key].as_u64().unwrap();
    assert_eq!((trace("reads"), trace("writes")), (4 * comparisons, 2 * comparisons));
    assert_eq!(trace("bytes"), 4 * 6 * comparisons);
    assert_eq!(stats["regions"][0]["name"], "a");
    assert_eq!(stats["regions"][0]["references"], 6 * comparisons);
    // 16 numbers are two lines of 32 bytes.
    assert_eq!(stats["regions"][0]["misses"]["L1"], 2);
    let lines: Vec<(&str, u64)> = stats["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| (l["text"].as_str().unwrap_or("-"), l["references"].as_u64().unwrap()))
        .collect();
    assert_eq!(lines[..2], [("if a.get(i) > a.get(i + 1) {", 2 * comparisons), ("a.swap(i, i + 1);", 4 * comparisons)]);

    let source = trace::open(&path("a.orrery"), None).unwrap();
    let tables = source.tables();
    assert_eq!((tables.title.as_str(), tables.marks.len()), ("Bubble sort", 15));
    assert_eq!(tables.marks[1].name, "14 left");
    assert_eq!(tables.marks[1].reference, 6 * 15);
    // The first exchange, written out: read both, exchange both.
    let first: Vec<(Kind, u64, u64)> =
        source.chunk(0).unwrap()[..6].iter().map(|r| (r.kind, r.addr - 0x1000_0000, r.pc)).collect();
    let (read, write) = (Kind::Read, Kind::Write);
    assert_eq!(
        first,
        [
            (read, 0, 0x40_0000),
            (read, 4, 0x40_0004),
            (read, 0, 0x40_0008),
            (read, 4, 0x40_0008),
            (write, 0, 0x40_0008),
            (write, 4, 0x40_0008)
        ]
    );
}
