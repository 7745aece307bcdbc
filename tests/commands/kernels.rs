//! Kernels in WGSL: what comes out of them, and what is said of their warps, banks, races and faults.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::calls::{printed, refused, run};
use orrery::kernel::bundled::BUNDLED;
use orrery::kernel::{Bound, Content, Counts, Extent, KernelError, Launch, Program, Recording, Run, Space, bound};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub(crate) fn launch(items: [u64; 3], binds: &[(&str, &str)]) -> Launch {
    let mut launch = Launch::of(Extent::Items(items));
    for (name, words) in binds {
        let Ok(Bound::Content(content, length)) = bound(words) else { panic!("{words}") };
        launch.bound.insert((*name).to_owned(), (content, length));
    }
    launch
}

pub(crate) fn program(text: &str) -> Program {
    Program::new("test.wgsl", text, None, &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs a kernel with `items` items, and what the buffer `out` holds then.
fn ran(text: &str, items: u64, binds: &[(&str, &str)]) -> (Run, Vec<f64>) {
    let program = program(text);
    let run = program.run(&launch([items, 1, 1], binds)).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let at = program.shared.iter().position(|shared| shared.name == "out");
    let out = at.map(|at| program.numbers(&program.shared[at], &run.after[at]).unwrap());
    (run, out.unwrap_or_default())
}

/// A kernel of one group around these statements: `i` is the item, `out` its buffer of floats.
pub(crate) fn body(items: u32, before: &str, statements: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<f32>;\n{before}\n\
         @compute @workgroup_size({items})\nfn main(@builtin(local_invocation_index) i: u32) {{\n{statements}\n}}"
    )
}

/// The patterns of the only class of warps: ifs, with loops, items.
fn ways(counts: &Counts) -> Vec<(String, String, usize)> {
    assert_eq!(counts.proxy_warps.len(), 1, "{:?}", counts.proxy_warps);
    let ways = counts.proxy_warps[0].branchings.iter();
    ways.map(|way| (way.pattern.clone(), way.pattern_with_loops.clone(), way.lanes)).collect()
}

pub(crate) fn bundled(name: &str) -> (Program, Launch) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = orrery::opening::KernelFile::open(Path::new(&format!("kernel:{name}"))).unwrap();
    let settings = &file.settings;
    // Of several launches the first.
    let own = settings.launch.first().cloned().unwrap_or_default();
    let entry = own.entry.as_deref().or(settings.entry.as_deref());
    let program = Program::new(name, &file.text, entry, &settings.set).unwrap();
    let three = |numbers: &[u64]| {
        let mut out = [1; 3];
        out.iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
        out
    };
    let extent =
        match (own.global.as_ref().or(settings.global.as_ref()), own.groups.as_ref().or(settings.groups.as_ref())) {
            (Some(items), _) => Extent::Items(three(items)),
            (_, groups) => Extent::Groups(three(groups.unwrap())),
        };
    let mut launch = Launch::of(extent);
    launch.bound = file.contents(&[]).unwrap();
    assert!(folder.join(format!("kernels/{name}.wgsl")).exists());
    (program, launch)
}

pub(crate) fn after(program: &Program, run: &Run, name: &str) -> Vec<f64> {
    let at = program.shared.iter().position(|shared| shared.name == name).unwrap();
    program.numbers(&program.shared[at], &run.after[at]).unwrap()
}

#[test]
fn three_reductions_differ_as_the_thesis_says() {
    // Name, divergent warps, (accesses, conflicting, extra, most ways) of group 0.
    let expected = [
        ("reduce-modulo", 32, (36, 0, 0, 1)),
        ("reduce-strided", 16, (21, 15, 15, 2)),
        ("reduce-sequential", 16, (21, 0, 0, 1)),
    ];
    for (name, divergent, banks) in expected {
        let (program, launch) = bundled(name);
        let run = program.run(&launch).unwrap();
        let counts = &run.counts;
        assert_eq!((counts.work_items, counts.warps, counts.divergent_warps), (1024, 32, divergent), "{name}");
        assert_eq!(counts.banks.len(), 16);
        for group in &counts.banks {
            assert_eq!((group.accesses, group.conflicting, group.extra, group.max_degree), banks, "{name}");
        }
        assert!(counts.races.is_empty() && run.lone.is_empty() && run.outside.is_empty() && counts.lost == 0);
        let sums = after(&program, &run, "g_odata");
        let expected: Vec<f64> = (0..16).map(|group| (0..64).map(|n| f64::from(group * 64 + n)).sum()).collect();
        assert_eq!(sums, expected, "{name}");
    }
    let (program, launch) = bundled("reduce-strided");
    let counts = program.run(&launch).unwrap().counts;
    let shown: Vec<_> = counts
        .proxy_warps
        .iter()
        .map(|proxy| {
            let ways = proxy.branchings.iter().map(|way| (way.pattern.as_str(), way.lanes));
            (proxy.warps, proxy.divergent, ways.collect::<Vec<_>>())
        })
        .collect();
    let busy = [("11000000", 16), ("11100000", 8), ("11110000", 4), ("11111000", 2), ("11111100", 1), ("11111111", 1)];
    assert_eq!(shown, [(16, false, vec![("10000000", 32)]), (16, true, busy.to_vec())]);
    assert_eq!(counts.proxy_warps[0].branchings[0].pattern_with_loops, "110101010101000");
}

#[test]
fn data_is_printed_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let source = "var<workgroup> s: array<u32, 4>;\n\
                  @compute @workgroup_size(4)\n\
                  fn main(@builtin(local_invocation_index) i: u32) {\n\
                  for (var k = 0u; k < i; k++) { if k == 1u { s[i] += k; } }\n}\n";
    fs::write(folder.path().join("k.wgsl"), source).unwrap();
    let text = printed(folder.path(), "kernel k.wgsl --global 4 --json");
    let expected = concat!(
        r#"{"work_items":4,"warps":1,"divergent_warps":1,"lost":0,"proxy_warps":[{"warps":1,"divergent":true,"branchings":["#,
        r#"{"pattern":"","pattern_with_loops":"0","lanes":1},{"pattern":"0","pattern_with_loops":"100","lanes":1},"#,
        r#"{"pattern":"01","pattern_with_loops":"10110","lanes":1},{"pattern":"010","pattern_with_loops":"1011100","lanes":1}"#,
        r#"]}],"banks":[{"group":0,"accesses":2,"conflicting":0,"extra":0,"max_degree":1}],"races":[],"sites":["#,
        r#"{"line":4,"kind":"read","name":"s"},{"line":4,"kind":"write","name":"s"}]}"#,
        "\n"
    );
    assert_eq!(text, expected);
    // Every class and way of a bundled kernel, as data and by the library.
    let text = printed(folder.path(), "kernel kernel:sobel --json");
    let data: Value = serde_json::from_str(&text).unwrap();
    let (program, launch) = bundled("sobel");
    let counts = program.run(&launch).unwrap().counts;
    assert_eq!(data["proxy_warps"].as_array().unwrap().len(), counts.proxy_warps.len());
    let lanes: u64 =
        data["proxy_warps"][0]["branchings"].as_array().unwrap().iter().map(|b| b["lanes"].as_u64().unwrap()).sum();
    assert_eq!((lanes, data["proxy_warps"][0]["warps"].as_u64()), (32, Some(96)));
}

#[test]
fn conditions_are_told_apart() {
    // && and || are no branches of their own; a test of a loop is in the second pattern alone.
    let (run, _) =
        ran(&body(4, "", "if i < 3u && i > 0u || i == 7u { out[i] = 1.0; } else if i == 0u { out[i] = 2.0; }"), 4, &[]);
    assert_eq!(
        ways(&run.counts),
        [("1".into(), "1".into(), 2), ("00".into(), "00".into(), 1), ("01".into(), "01".into(), 1)]
    );
    let while_loop = "var k = 0u; while k < 2u && i < 9u { k++; if k == 9u { break; } }";
    let (run, _) = ran(&body(4, "", while_loop), 4, &[]);
    assert_eq!(ways(&run.counts), [("00".into(), "10100".into(), 4)]);
    // An `if` that only breaks is an `if`, wherever it stands.
    let (run, _) = ran(&body(4, "", "var k = 0u; loop { if k < 2u { } else { break; } k++; }"), 4, &[]);
    assert_eq!(ways(&run.counts), [("110".into(), "110".into(), 4)]);
    let (run, _) = ran(&body(4, "", "var k = 0u; for (;;) { if k >= 2u { break; } k++; }"), 4, &[]);
    assert_eq!(ways(&run.counts), [("001".into(), "001".into(), 4)]);
    // `break if` is a test of its loop: 1 where it goes on.
    let (run, _) = ran(&body(4, "", "var k = 0u; loop { continuing { k++; break if k == 3u; } }"), 4, &[]);
    assert_eq!(ways(&run.counts), [(String::new(), "110".into(), 4)]);
    // Cases part a warp, but are no digits.
    let (run, out) = ran(
        &body(
            4,
            "",
            "switch i { case 0u, 2u: { out[i] = 1.0; } case 1u: { out[i] = 2.0; break; } default: { out[i] = 3.0; } }",
        ),
        4,
        &[],
    );
    assert_eq!((run.counts.divergent_warps, out), (1, vec![1.0, 2.0, 1.0, 3.0]));
    assert_eq!(ways(&run.counts).iter().map(|way| way.2).collect::<Vec<_>>(), [2, 1, 1]);
}

#[test]
fn values_are_what_wgsl_says() {
    let before = "struct P { scale: vec3f, k: i32, m: mat2x3<f32>, list: array<vec4u, 3> }\n\
        @group(0) @binding(1) var<uniform> p: P;\n\
        var<private> acc: array<f32, 4> = array<f32, 4>(1.0, 2.0, 3.0, 4.0);\n\
        var<workgroup> flag: u32;\n\
        fn add(a: ptr<function, f32>, x: f32) -> f32 { *a += x; if x > 2.0 { return -1.0; } return *a; }\n\
        fn tri(n: u32) -> u32 { var s = 0u; var i = 0u; loop { if i >= n { break; } s += i; continuing { i++; break if s > 100u; } } return s; }";
    // Statements, and what four items write by them.
    let cases: [(&str, [f64; 4]); 14] = [
        ("var v = 0.5; let r = add(&v, f32(i)); out[i] = r + 10.0 * v;", [5.5, 16.5, 27.5, 34.0]),
        ("let m = p.m * vec2f(1.0, 2.0); out[i] = m[i % 3u];", [9.0, 12.0, 15.0, 9.0]),
        ("acc[i] += 1.0; out[i] = acc[i];", [2.0, 3.0, 4.0, 5.0]),
        ("out[i] = f32(tri(i * 3u));", [0.0, 3.0, 15.0, 36.0]),
        ("out[i] = f32(workgroupUniformLoad(&flag)) + f32(p.list[2].y) + p.scale.z + f32(p.k);", [19.0; 4]),
        ("let f = frexp(f32(i) * 1.5); out[i] = f.fract + f32(f.exp);", [0.0, 1.75, 2.75, 3.5625]),
        ("out[i] = select(1.0, 2.0, i % 2u == 0u) + dot(vec3f(1.0, 2.0, 3.0), vec3f(f32(i)));", [2.0, 7.0, 14.0, 19.0]),
        (
            "var m = mat2x2f(1.0, 2.0, 3.0, 4.0); m[i % 2u][1] = 9.0; let q = m * m; out[i] = q[1].y + determinant(m);",
            [20.0, 90.0, 20.0, 90.0],
        ),
        ("out[i] = f32(bitcast<u32>(f32(i) + 1.0) >> 23u) + f32(i32(-1.7));", [126.0, 127.0, 127.0, 128.0]),
        (
            "var a = array<u32, 4>(3u, 2u, 1u, 0u); out[i] = f32(a[a[i]]); a[i] = 7u; out[i] += f32(a[i]);",
            [7.0, 8.0, 9.0, 10.0],
        ),
        (
            "var v = vec4f(1.0, 2.0, 3.0, 4.0); v[i] = 9.0; out[i] = dot(v.wzyx, vec4f(1.0, 10.0, 100.0, 1000.0));",
            [9234.0, 1934.0, 1294.0, 1239.0],
        ),
        ("let z = i32(i) - 2; out[i] = f32(7 / z) + f32(7 % z) * 10.0;", [7.0, -7.0, 7.0, 7.0]),
        ("out[i] = f32(extractBits(240u, i, 4u)) + f32(firstLeadingBit(i + 1u));", [0.0, 9.0, 13.0, 16.0]),
        (
            "let h = unpack2x16float(pack2x16float(vec2f(f32(i) / 3.0, 1.0))); out[i] = floor(h.x * 1024.0) + h.y;",
            [1.0, 342.0, 683.0, 1025.0],
        ),
    ];
    let bind = [("p", "1,2,3,7,1,2,3,4,5,6,0,0,0,0,0,0,0,0,8,9,10,11")];
    for (statements, expected) in cases {
        let source = body(4, before, &format!("{statements}\n_ = p.k; _ = acc[0];"));
        let program = program(&source);
        let run = program.run(&launch([4, 1, 1], &bind)).unwrap_or_else(|error| panic!("{statements}: {error}"));
        let found = after(&program, &run, "out");
        assert_eq!(found, expected.to_vec(), "{statements}");
    }
}

#[test]
fn bundled_kernels_do_what_they_are_there_to_show() {
    let (program, launch) = bundled("transpose-tiled");
    assert_eq!(launch.bound["a"], (Content::Iota, None));
    let run = program.run(&launch).unwrap();
    let turned = after(&program, &run, "turned");
    assert!((0..64).all(|y| (0..64).all(|x| turned[x * 64 + y] == (y * 64 + x) as f64)));
    // A column of the tile lies in one bank; with a word more in each row it does not.
    assert_eq!((run.counts.banks[0].conflicting, run.counts.banks[0].max_degree), (32, 32));
    let folder = tempfile::tempdir().unwrap();
    let padded: Value =
        serde_json::from_str(&printed(folder.path(), "kernel kernel:transpose-tiled --set PAD=1 --json")).unwrap();
    assert_eq!((&padded["banks"][0]["accesses"], &padded["banks"][0]["conflicting"]), (&64.into(), &0.into()));
    // Turned without a tile, each number that is written takes a sector of its own: eight times as many.
    let (naive, launch) = bundled("transpose-naive");
    let by_site = |program: &Program, run: &Run| {
        let uses = run.sites.iter().zip(&run.counts.uses);
        let found = uses.filter(|(site, _)| program.shared[site.shared].name == "turned").map(|(_, used)| used.sectors);
        found.sum::<u64>()
    };
    let naive_run = naive.run(&launch).unwrap();
    assert_eq!((by_site(&naive, &naive_run), by_site(&program, &run)), (4096, 512));
    assert_eq!(after(&naive, &naive_run, "turned"), turned);

    let (naive, launch) = bundled("multiply-naive");
    let (tiled, tiled_launch) = bundled("multiply-tiled");
    let (naive_run, tiled_run) = (naive.run(&launch).unwrap(), tiled.run(&tiled_launch).unwrap());
    assert_eq!(after(&naive, &naive_run, "C"), after(&tiled, &tiled_run, "C"));
    assert!(after(&naive, &naive_run, "C").iter().all(|c| (1.0..20.0).contains(c)));
    assert!(tiled_run.counts.races.is_empty() && tiled_run.counts.banks.iter().all(|banks| banks.conflicting == 0));
    let reads = |run: &Run| run.counts.uses[..2].iter().map(|used| used.items).sum::<u64>();
    assert_eq!((reads(&naive_run), tiled_run.counts.uses[0].items), (65536, 2048));

    let (program, launch) = bundled("histogram");
    let run = program.run(&launch).unwrap();
    assert_eq!(after(&program, &run, "bins").iter().sum::<f64>(), 256.0);
    assert!(run.counts.races.is_empty(), "atomic operations race with none of their kind");

    let (program, launch) = bundled("race");
    let run = program.run(&launch).unwrap();
    let [race] = run.counts.races.as_slice() else { panic!("{:?}", run.counts.races) };
    assert_eq!((race.sites.map(|site| run.sites[site].line), race.words), ([9, 11], 128));
    let sound = program.text.replace("// workgroupBarrier() belongs here.", "workgroupBarrier();");
    let sound = Program::new("sound", &sound, None, &BTreeMap::new()).unwrap().run(&launch).unwrap();
    assert!(sound.counts.races.is_empty(), "{:?}", sound.counts.races);

    let (program, launch) = bundled("divergent-barrier");
    let run = program.run(&launch).unwrap();
    let [lone] = run.lone.as_slice() else { panic!("{:?}", run.lone) };
    assert_eq!((lone.line, lone.cause, lone.came, lone.of), (11, 10, 16, 32));

    let (program, launch) = bundled("sobel");
    let run = program.run(&launch).unwrap();
    assert!(run.counts.races.is_empty() && run.lone.is_empty());
    assert_eq!(run.counts.divergent_warps, 192);
    for kernel in BUNDLED {
        let (program, launch) = bundled(kernel.name);
        let (first, second) =
            (program.run(&launch).unwrap(), program.run_watched(&launch, Recording::default()).unwrap());
        assert_eq!((&first.counts, &first.after), (&second.0.counts, &second.0.after), "{}", kernel.name);
        assert_eq!(second.1.events.len() as u64, first.events, "{}: every event is told", kernel.name);
        assert!(kernel.look().contains("Look for: "), "{}", kernel.name);
        let text = printed(folder.path(), &format!("kernel kernel:{}", kernel.name));
        assert!(text.contains("divergence: ") && text.contains("races: "), "{text}");
    }
}

#[test]
fn races_are_of_items_that_no_barrier_parts() {
    let races = |before: &str, statements: &str| ran(&body(4, before, statements), 8, &[]).0.counts.races.len();
    let w = "var<workgroup> w: array<u32, 8>; var<workgroup> a: atomic<u32>;";
    assert_eq!(races(w, "w[i] = i; w[i] += 1u; out[0] = 0.0;") - 1, 0, "of an item with itself there is no race");
    assert_eq!(races(w, "w[i] = i; workgroupBarrier(); _ = w[3u - i];"), 0);
    assert_eq!(races(w, "w[i] = i; _ = w[3u - i];"), 1);
    // A barrier of storage orders storage alone.
    assert_eq!(races(w, "w[i] = i; storageBarrier(); _ = w[3u - i];"), 1);
    assert_eq!(races(w, "atomicAdd(&a, 1u); _ = atomicLoad(&a);"), 0);
    assert_eq!(races(w, "_ = w[0]; workgroupBarrier(); if i == 0u { w[0] = 1u; }"), 0);
    // Two groups at one word of storage: no barrier is between groups.
    assert_eq!(races("", "if i == 0u { out[0] = 1.0; }"), 1);
    assert_eq!(races("@group(0) @binding(1) var<storage, read> b: array<u32>;", "_ = b[0];"), 0);
}

#[test]
fn banks_and_sectors_are_configurable() {
    let source = body(32, "var<workgroup> w: array<u32, 64>;", "w[i * 2u] = i; _ = w[0];");
    let program = program(&source);
    let mut launch = launch([32, 1, 1], &[]);
    let banks = |launch: &Launch| {
        let banks = program.run(launch).unwrap().counts.banks[0];
        (banks.accesses, banks.conflicting, banks.extra, banks.max_degree)
    };
    // All items at one word: a broadcast.
    assert_eq!(banks(&launch), (2, 1, 1, 2));
    launch.hardware.banks = 16;
    assert_eq!(banks(&launch), (2, 1, 3, 4));
    launch.hardware.warp = 8;
    assert_eq!(banks(&launch), (8, 0, 0, 1));
    launch.hardware.bank_bytes = 8;
    launch.hardware.banks = 4;
    assert_eq!(banks(&launch), (8, 4, 4, 2));
    assert_eq!(program.shared.iter().map(|shared| shared.space).collect::<Vec<_>>(), [Space::Workgroup]);
}

#[test]
fn buffers_are_bound_from_words_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let source = "@group(0) @binding(0) var<storage, read> a: array<u32>;\n\
                  @group(0) @binding(1) var<storage, read_write> out: array<u32>;\n\
                  override TIMES: u32 = 1u;\n\
                  @compute @workgroup_size(4)\n\
                  fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] = a[id.x] * TIMES; }\n";
    fs::write(at.join("k.wgsl"), source).unwrap();
    fs::write(at.join("a.csv"), "1, 2\n3 4\n").unwrap();
    fs::write(at.join("a.bin"), [5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0]).unwrap();
    let out = |call: &str| printed(at, call).lines().last().unwrap().trim().to_owned();
    assert_eq!(out("kernel k.wgsl --global 4 --bind a=a.csv --print out"), "1 2 3 4");
    assert_eq!(out("kernel k.wgsl --groups 1 --bind a=a.bin --set TIMES=2 --print out"), "10 12 14 16");
    let text = printed(at, "kernel k.wgsl --global 4");
    assert!(text.contains("a: bound to nothing, so 4 elements of zeros, as many as the kernel reaches for"), "{text}");
    fs::write(at.join("k.toml"), "global = [4]\n[bind]\na = [9, 8, 7, 6]\n[set]\nTIMES = 3\n").unwrap();
    assert_eq!(out("kernel k.wgsl --print out"), "27 24 21 18");
    assert_eq!(out("kernel k.wgsl --print out --bind a=iota --set TIMES=1"), "0 1 2 3");
    // Past the end: said, and 0.
    let text = printed(at, "kernel k.wgsl --global 8 --bind a=iota:6 --print out --set TIMES=1");
    assert!(
        text.contains("2 accesses of a past the end: element 6 of 6") && text.ends_with("0 1 2 3 4 5 0 0\n"),
        "{text}"
    );
    refused(at, "kernel k.wgsl --bind b=iota", 2, &["bind b", "expected one of a, out"]);
    refused(at, "kernel k.wgsl --bind a=ones", 2, &["--bind a", "expected zeros, iota"]);
    refused(at, "kernel k.wgsl --bind a", 2, &["expected NAME=WHAT"]);
    refused(at, "kernel k.wgsl --bind w=zeros", 2, &["bind w", "no such buffer", "expected one of a, out"]);
    refused(at, "kernel k.wgsl --bind a=none.bin", 2, &["none.bin cannot be read; expected a file of numbers"]);
    refused(at, "kernel k.wgsl --set TIME=2", 2, &["no override TIME", "expected one of TIMES"]);
    refused(at, "kernel k.wgsl --print x", 2, &["--print x", "expected one of a, out"]);
    assert!(run(at, "kernel k.wgsl --print x").stdout.is_empty(), "it is told before anything else is");
    fs::write(at.join("a.bin"), [1, 2, 3]).unwrap();
    refused(at, "kernel k.wgsl --bind a=a.bin", 2, &["found 3 bytes", "elements of 4 bytes"]);
    fs::write(at.join("k.toml"), "globl = [4]\n").unwrap();
    refused(at, "kernel k.wgsl", 1, &["k.toml", "globl"]);
}

#[test]
fn wrong_kernels_are_told_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let put = |text: &str| fs::write(at.join("k.wgsl"), text).unwrap();
    put("@compute @workgroup_size(4)\nfn main() { let x = y; }\n");
    refused(at, "kernel k.wgsl --global 4", 1, &["no definition in scope for identifier: `y`", "k.wgsl:2:21"]);
    put("fn main() {}");
    refused(at, "kernel k.wgsl --global 4", 2, &["found no compute entry", "@compute"]);
    put("@compute @workgroup_size(1) fn a() {} @compute @workgroup_size(1) fn b() {}");
    refused(at, "kernel k.wgsl --global 4", 2, &["2 compute entries (a, b)", "--entry"]);
    refused(at, "kernel k.wgsl --global 4 --entry c", 2, &["no compute entry c", "a, b"]);
    assert!(printed(at, "kernel k.wgsl --global 4 --entry b").starts_with("k.wgsl, entry b: 4 items"));
    refused(at, "kernel k.wgsl --entry a", 2, &["--global"]);
    refused(at, "kernel k.wgsl --entry a --global 0", 2, &["found 0", "1 or more"]);
    refused(at, "kernel k.wgsl --entry a --global 99999999999", 2, &["4294967296 items at most"]);
    refused(at, "kernel k.wgsl --entry a --global 4 --take 2..9", 2, &["--take 2..9", "0..4"]);
    refused(at, "kernel k.wgsl --entry a --global 4 --warp 0", 2, &["--warp 0"]);
    put("@compute @workgroup_size(2048) fn a() {}");
    refused(at, "kernel k.wgsl --global 4", 2, &["groups of 2048 items", "1 to 1024"]);
    put("@compute @workgroup_size(1) fn a() { b(); } fn b() { b(); }");
    refused(at, "kernel k.wgsl --global 4", 1, &["recursive"]);
    put(&body(4, "", "loop { if out[i] == 5.0 { break; } }"));
    refused(
        at,
        "kernel k.wgsl --global 4 --steps 10000",
        1,
        &["k.wgsl:", "has not ended after 10000 steps", "--steps"],
    );
    put(&body(64, "", "for (var k = 0u; k < 50u; k++) { out[i] += 1.0; }"));
    let words = ["100000000 items would record about", "for each item", "--take 0.."];
    refused(at, "kernel k.wgsl --global 100000000", 1, &words);
    put("@compute @workgroup_size(1) fn a() { var x: array<u32, 100000000>; x[1] = 1u; var y = x; x[2] = y[1]; }");
    refused(at, "kernel k.wgsl --global 1", 1, &["100000000", "expected"]);
    put(
        "@group(0) @binding(0) var t: texture_cube<f32>; @compute @workgroup_size(1) fn a() { _ = textureDimensions(t); }",
    );
    refused(at, "kernel k.wgsl --global 1", 1, &["k.wgsl:1", "cube", "not recorded"]);
    refused(at, "kernel kernel:reduce", 1, &["no such bundled kernel", "reduce-modulo"]);
    refused(
        at,
        "kernel none.wgsl --global 1",
        1,
        &["none.wgsl: cannot be read; expected a shader in WGSL", "No such file"],
    );
    refused(at, "kernel", 2, &["FILE"]);
    #[cfg(not(feature = "gpu"))]
    refused(at, "kernel kernel:race --engine adapter", 2, &["--engine adapter", "feature `gpu`", "interpreter"]);
    let list = printed(at, "kernel --list");
    assert!(BUNDLED.iter().all(|kernel| list.contains(kernel.name)), "{list}");
    let missing =
        Program::new("k", "override N: u32; @compute @workgroup_size(1) fn a() { var x = N; }", None, &BTreeMap::new());
    assert!(matches!(missing, Err(KernelError::Override(words)) if words.contains("--set NAME=VALUE")));
}

#[test]
fn one_launch_serves_all_entries_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "@group(0) @binding(0) var<uniform> n: u32;\n\
        @group(0) @binding(1) var<storage, read_write> a: array<u32>;\n\
        @group(0) @binding(2) var<storage, read_write> b: array<i32>;\n\
        @compute @workgroup_size(4) fn first(@builtin(global_invocation_id) g: vec3u) { a[g.x] += n; }\n\
        @compute @workgroup_size(4) fn second(@builtin(global_invocation_id) g: vec3u) { b[g.x] -= 1; }";
    fs::write(at.join("two.wgsl"), text).unwrap();
    fs::write(at.join("two.toml"), "global = [4]\n[bind]\nn = 7\na = \"iota\"\nb = [-5, 3, 1, 0]\n").unwrap();
    let last = |words: &str| printed(at, words).lines().last().unwrap().trim().to_owned();
    assert_eq!(last("kernel two.wgsl --entry first --print a"), "7 8 9 10");
    assert_eq!(last("kernel two.wgsl --entry second --print b"), "-6 2 0 -1");
    // What is typed and not used is said.
    let told = run(at, "kernel two.wgsl --entry second --bind a=iota:4");
    assert!(String::from_utf8_lossy(&told.stderr).contains("--bind a: entry second does not use it"));
    // Integers are whole, and as large as they can be.
    for (bind, words) in [
        ("n=-1", "bind n: number 1: found -1; expected a whole number from 0 to 4294967295, for it is u32"),
        ("a=1,5000000000", "bind a: number 2: found 5000000000"),
        ("a=1.5", "bind a: number 1: found 1.5"),
        ("a=nan", "bind a: number 1: found NaN"),
    ] {
        refused(at, &format!("kernel two.wgsl --entry first --bind {bind}"), 2, &[words]);
    }
}

#[test]
fn arrays_are_as_long_as_their_override_says() {
    let text = "override N: u32 = 8u;\nvar<workgroup> t: array<f32, N>;\nvar<workgroup> u: array<f32, 8>;\n\
        @group(0) @binding(0) var<storage, read_write> out: array<f32>;\n\
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {\n\
        t[i] = f32(i); u[i] = 0.0; workgroupBarrier(); out[i] = t[7u - i] + u[i];\n}";
    let with = |n: f64| Program::new("k.wgsl", text, None, &BTreeMap::from([("N".to_owned(), n)]));
    let program = with(8.0).unwrap();
    let run = program.run(&launch([8, 1, 1], &[])).unwrap();
    assert_eq!(after(&program, &run, "out"), [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0]);
    assert!(run.outside.is_empty());
    let run = with(2.0).unwrap().run(&launch([8, 1, 1], &[])).unwrap();
    let outside: u64 = run.outside.iter().map(|outside| outside.count).sum();
    assert_eq!((outside, run.outside[0].length), (12, 2));
    let Err(KernelError::Override(words)) = with(0.0) else { panic!("an array of no elements") };
    assert!(words.contains("does not have a positive size"), "{words}");
}
