//! `orrery loops`, and loops and graphs where a trace is expected.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::calls::{json, printed, refused};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_numbers_of_loops_are_printed_exactly() {
    let at = root();
    let text = printed(&at, "loops loops:matmul --line 64 --capacity 8 --json");
    let page = fs::read_to_string(at.join("docs/loops.md")).unwrap();
    assert_eq!(page.lines().find(|line| line.starts_with("{\"line\":64")), Some(text.trim_end()), "docs/loops.md");
    let found = json(&at, "loops loops:hdiff --capacity 10,20 --json");
    assert_eq!(found["containers"]["in_field"]["misses"]["10"], 3196);
    assert_eq!(found["containers"]["in_field"]["shape"], json!([12, 12, 5]));
    let counts = found["histogram"].as_array().unwrap().iter().map(|pair| pair[1].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>() + found["cold"].as_u64().unwrap(), found["accesses"].as_u64().unwrap());
    let words = printed(&at, "loops loops:hdiff --capacity 10");
    assert!(
        words.contains("in_field[12][12][5]") && words.contains("3,196") && words.contains("misses in 10 lines"),
        "{words}"
    );
    let both = printed(&at, "loops loops:hdiff loops:hdiff_layout --compare --capacity 10");
    assert!(both.contains("3,196") && both.contains("1,920") && both.contains("-1,276 (-39.9%)"), "{both}");
    let access = printed(&at, "loops loops:matmul --at 4049");
    assert!(access.contains("C[8][14]") && access.contains("i=8, j=14, k=9") && access.contains("+="), "{access}");
}

#[test]
fn loops_open_where_a_trace_does() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(
        at.join("mm.loops"),
        "param N = 4\narray A[N, N]\ntemp t\nfor i in 0..N, j in 0..N {\n  t = A[i, j]\n  A[j, i] = t\n}\n",
    )
    .unwrap();
    let stats = json(at, "stats mm.loops?N=8 --cache paper --json");
    assert_eq!(stats["trace"]["references"], 8 * 8 * 4);
    let why = printed(at, "why mm.loops 5");
    assert!(why.contains("mm.loops:5") && why.contains("t = A[i, j]"), "{why}");
    printed(at, "convert mm.loops?N=3 -o mm.orrery");
    let kept = json(at, "stats mm.orrery --cache paper --json");
    assert_eq!(kept["trace"]["references"], 3 * 3 * 4);
    assert!(kept.to_string().contains("\"t\""), "{kept}");
    let whole = json(at, "analyze loops:matmul --stack-distance --line 64 --json");
    // The update of C is a read and a write here.
    assert_eq!(whole["accesses"], 4 * 9 * 10 * 15);
    let piped = Command::new("sh")
        .args(["-c", &format!("cat mm.loops | {} stats - --cache paper --json", env!("CARGO_BIN_EXE_orrery"))])
        .current_dir(at)
        .output()
        .unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&piped.stdout).unwrap()["trace"]["references"], 4 * 4 * 4);
    // Transient ones count where they are asked for.
    let [without, with] = ["", " --transients"].map(|flag| json(at, &format!("loops mm.loops --json{flag}")));
    assert_eq!((without["accesses"].as_u64(), with["accesses"].as_u64()), (Some(32), Some(64)));
    assert!(without["containers"].get("t").is_none() && with["containers"].get("t").is_some());
}

#[test]
fn what_cannot_be_walked_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let put = |name: &str, text: &str| fs::write(at.join(name), text).unwrap();
    put("bad.loops", "array A[4]\nfor i in 0..5 {\n  A[i] = 1\n}\n");
    refused(at, "loops bad.loops --json", 1, &["bad.loops:3:3", "index 4 of `A`", "i=4", "0 to 3"]);
    put("word.loops", "array A[4]\nfor i in 0..5 {\n  A[i] := 1\n}\n");
    refused(at, "loops word.loops", 1, &["word.loops:3:8", "`:`", "expected `=`"]);
    refused(at, "stats word.loops", 1, &["word.loops:3:8"]);
    put("none.loops", "hello\n");
    refused(at, "stats none.loops", 1, &["none.loops:1:1", "`hello`"]);
    put("sizes.loops", "param N\narray A[N]\nfor i in 0..N { read A[i] }");
    refused(at, "loops sizes.loops", 1, &["no value for N", "--set N=16"]);
    refused(at, "loops sizes.loops --fold loops --set N=5", 2, &["--fold", "--graph", "--volumes"]);
    refused(at, "loops sizes.loops --graph s.gif --set N=5", 2, &["s.gif", ".svg"]);
    refused(at, "loops sizes.loops --set M=4", 1, &["`M`", "N"]);
    refused(at, "loops sizes.loops --set N:4", 2, &["N:4", "N=16"]);
    refused(at, "stats sizes.loops?N", 1, &["`N`", "N=16"]);
    assert_eq!(json(at, "loops sizes.loops --set N=5 --json")["accesses"], 5);
}

#[test]
fn long_nests_open_at_once_and_say_how_long_numbers_take() {
    let at = root();
    let start = std::time::Instant::now();
    let access = printed(&at, "loops loops:matmul --set N=4096 --set M=4096 --set K=4096 --at 123456789012");
    assert!(access.contains("i=") && start.elapsed().as_secs() < 20, "{access}");
    refused(
        &at,
        "loops loops:matmul --set N=4096 --set M=4096 --set K=4096 --json",
        1,
        &["206,158,430,208 accesses", "hours"],
    );
}

// ---- Graphs of DaCe.

fn told(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join(format!("{name}.json"))).unwrap()).unwrap()
}

/// Every graph of a folder gives what its counts by hand say.
fn graphs_agree(folder: &Path) -> usize {
    let mut compared = 0;
    let mut names: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    for path in names.iter().filter(|path| path.extension().is_some_and(|end| end == "json")) {
        let told = told(folder, path.file_stem().unwrap().to_str().unwrap());
        let file = told["file"].as_str().unwrap();
        let set: String =
            told["set"].as_object().unwrap().iter().map(|(name, value)| format!(" --set {name}={value}")).collect();
        let Some(accesses) = told.get("accesses").and_then(Value::as_object) else { continue };
        let found = json(folder, &format!("loops {file}{set} --line 8 --json"));
        for (container, count) in accesses {
            assert_eq!(found["containers"][container]["accesses"], *count, "{} of {}", container, path.display());
        }
        assert_eq!(found["accesses"].as_u64(), accesses.values().map(Value::as_u64).sum(), "{}", path.display());
        compared += 1;
    }
    compared
}

#[test]
fn graphs_of_dace_touch_what_loops_by_hand_do() {
    assert_eq!(graphs_agree(&root().join("tests/traces/dace")), 6);
}

#[test]
fn a_graph_gives_the_same_numbers_as_the_loops_that_it_is_of() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let graph = |name: &str| root().join("tests/traces/dace").join(name).display().to_string();
    fs::write(
        at.join("mm.loops"),
        "array A[5, 6] of f32\narray B[6, 7] of f32\narray C[5, 7] of f32\nfor i in 0..5, j in 0..7, k in 0..6 { C[i, j] += A[i, k] * B[k, j] }",
    )
    .unwrap();
    let set = "--set N=5 --set M=7 --set K=6";
    for flags in ["--line 32 --capacity 1,2,3 --json", "--capacity 4 --json"] {
        let loops = json(at, &format!("loops mm.loops {flags}"));
        assert_eq!(json(at, &format!("loops {} {set} {flags}", graph("matmul.sdfg"))), loops);
    }
    fs::write(
        at.join("t.loops"),
        "array A[9, 9]\narray x[9]\nfor i in 0..9, j in 0..i { read A[i, j]\n read x[j]\n read x[i]\n write x[i] }",
    )
    .unwrap();
    let loops = json(at, "loops t.loops --line 16 --capacity 2 --json");
    for name in ["triangular.sdfg", "triangular_regions.sdfg"] {
        assert_eq!(
            json(at, &format!("loops {} --set N=9 --line 16 --capacity 2 --json", graph(name))),
            loops,
            "{name}"
        );
    }
    let stats = json(at, &format!("stats {}?N=5,M=7,K=6 --cache paper --json", graph("matmul.sdfg")));
    assert_eq!(stats["trace"]["references"], 3 * 5 * 6 * 7);
    let why = printed(at, &format!("why {}?N=5,M=7,K=6 7", graph("matmul.sdfg")));
    assert!(why.contains("dace_files.py:") && why.contains("c = (a * b)"), "{why}");
    refused(at, &format!("loops {}", graph("matmul.sdfg")), 1, &["no value for K, M, N", "--set K=16"]);
    refused(at, &format!("loops {} {set} --set Q=1", graph("matmul.sdfg")), 1, &["`Q`", "K, M, N"]);
    refused(at, &format!("loops {} {set} --json", graph("library.sdfg")), 1, &["library node", "expand_library_nodes"]);
    refused(at, &format!("loops {} --set N=5 --set M=7 --json", graph("gather.sdfg")), 1, &["run time"]);
}

/// One map over one tasklet, with what is to be tried put in.
fn graph(arrays: Value, ranges: &[(&str, Value)], memlets: Value) -> String {
    let params: Vec<&str> = ranges.iter().map(|(name, _)| *name).collect();
    let list: Vec<&Value> = ranges.iter().map(|(_, range)| range).collect();
    let edges: Vec<Value> = memlets
        .as_array()
        .unwrap()
        .iter()
        .map(|m| {
            let (from, to) = if m["out"] == true { ("1", "2") } else { ("0", "1") };
            json!({"src": from, "dst": to, "attributes": {"data": {"type": "Memlet", "attributes": m}}})
        })
        .collect();
    json!({"type": "SDFG", "attributes": {"name": "g", "_arrays": arrays, "symbols": {}}, "nodes": [{
        "type": "SDFGState", "label": "s", "id": 0, "nodes": [
            {"type": "MapEntry", "id": 0, "scope_entry": null,
             "attributes": {"label": "m", "params": params, "range": {"type": "Range", "ranges": list}}},
            {"type": "Tasklet", "id": 1, "label": "t", "scope_entry": "0", "attributes": {"label": "t"}},
            {"type": "MapExit", "id": 2, "scope_entry": "0", "attributes": {}},
        ], "edges": edges, "attributes": {}}], "edges": []})
    .to_string()
}

fn range(start: impl Into<Value>, end: impl Into<Value>, step: impl Into<Value>) -> Value {
    json!({"start": start.into(), "end": end.into(), "step": step.into()})
}

fn subset(list: &[Value]) -> Value {
    json!({"type": "Range", "ranges": list})
}

#[test]
fn attributes_that_are_left_out_and_symbolic_bounds_are_understood() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // No type is a 32-bit number; no strides are rows; a bound is an object; a tile ends where the array does.
    let arrays = json!({
        "A": {"type": "Array", "attributes": {"shape": ["N", "M"], "start_offset": "3"}},
        "s": {"type": "Scalar", "attributes": {"shape": ["1"], "dtype": "float64"}},
        "B": {"type": "Array", "attributes": {"shape": ["N"], "strides": ["17"], "dtype": "complex128"}}});
    let ranges = [
        ("b", range("0", json!({"main": "N - 1", "approx": "N"}), "4")),
        ("i", range("b", "Min(N - 1, b + int_floor(7, 2))", "1")),
        ("j", range("0", "int_ceil(M, 2) - 1 + Max(0, M % 1)", 1)),
    ];
    let memlets = json!([
        {"data": "A", "subset": subset(&[range("i", "i", "1"), range("2*j", "2*j", "1")]), "volume": "1"},
        {"data": "s", "subset": subset(&[range("0", "0", "1")])},
        {"data": "B", "subset": subset(&[range("i", "i", "1")]), "wcr": "(lambda a, b: a + b)", "out": true}]);
    fs::write(at.join("g.sdfg"), graph(arrays, &ranges, memlets)).unwrap();
    let found = json(at, "loops g.sdfg --set N=10 --set M=7 --capacity 2 --json");
    fs::write(
        at.join("g.loops"),
        "array A[10, 7] of i32 offset 3\narray B[10] of c128 strides (17)\narray s[1]\n\
         for i in 0..10, j in 0..4 { read A[i, 2 * j], s[0]\n B[i] += 1 }",
    )
    .unwrap();
    let loops = json(at, "loops g.loops --capacity 2 --json");
    assert_eq!(found, loops);
    assert_eq!(found["accesses"], 120);
}

#[test]
fn graphs_that_are_none_and_memlets_that_are_dynamic_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let put = |name: &str, text: &str| fs::write(at.join(name), text).unwrap();
    put("a.sdfg", "{\"type\": \"SDFG\", ");
    refused(at, "loops a.sdfg", 1, &["a.sdfg:1:", "no JSON"]);
    put("b.sdfg", "{\"type\": \"Car\"}");
    refused(at, "loops b.sdfg", 1, &["`Car`", "`SDFG`"]);
    put("c.sdfg", "[1, 2]");
    refused(at, "loops c.sdfg", 1, &["without a type"]);
    put("deep.sdfg", &"[".repeat(100_000));
    refused(at, "loops deep.sdfg", 1, &["no JSON"]);
    let arrays = || json!({"A": {"type": "Array", "attributes": {"shape": ["8"], "dtype": "float64"}}, "S": {"type": "Stream", "attributes": {"shape": ["1"]}}});
    let one = |memlet: Value, end: &str| graph(arrays(), &[("i", range("0", end, "1"))], json!([memlet]));
    let i = || subset(&[range("i", "i", "1")]);
    put("dynamic.sdfg", &one(json!({"data": "A", "subset": i(), "dynamic": true}), "7"));
    refused(at, "loops dynamic.sdfg", 1, &["tasklet `t`", "memlet `A`", "dynamic"]);
    // The rest of it opens; here there is none.
    refused(at, "stats dynamic.sdfg", 1, &["no access", "dynamic"]);
    put("stream.sdfg", &one(json!({"data": "S", "subset": i()}), "7"));
    refused(at, "loops stream.sdfg", 1, &["`S`", "`Stream`"]);
    put("some.sdfg", &one(json!({"data": "A", "subset": subset(&[range("0", "7", "1")]), "volume": "1"}), "7"));
    refused(at, "loops some.sdfg", 1, &["1 of 8 elements", "run time"]);
    put("outside.sdfg", &one(json!({"data": "A", "subset": i()}), "8"));
    refused(at, "loops outside.sdfg", 1, &["tasklet `t`", "index 8 of `A` in dimension 0 at i=8", "0 to 7"]);
    put("none.sdfg", &one(json!({"data": "Z", "subset": i()}), "7"));
    refused(at, "loops none.sdfg", 1, &["memlet of `Z`", "a container"]);
    put("empty.sdfg", &one(json!({"data": "A", "subset": i()}), "-5"));
    assert_eq!(json(at, "loops empty.sdfg --json")["accesses"], 0);
    put("long.sdfg", &one(json!({"data": "A", "subset": i()}), &"(".repeat(10_000)));
    refused(at, "loops long.sdfg", 1, &["more than 200 brackets"]);
    put("zero.sdfg", &graph(arrays(), &[("i", range("0", "7", "N"))], json!([{"data": "A", "subset": i()}])));
    refused(at, "loops zero.sdfg --set N=0", 1, &["step 0"]);
    let tasklet = |n: usize| json!({"type": "Tasklet", "id": n, "label": format!("t{n}"), "attributes": {}});
    let edge = |a: usize, b: usize| json!({"src": a.to_string(), "dst": b.to_string(), "attributes": {"data": {}}});
    let cycle = json!({"type": "SDFG", "attributes": {}, "nodes": [{"type": "SDFGState", "label": "s",
        "nodes": [tasklet(0), tasklet(1)], "edges": [edge(0, 1), edge(1, 0)]}], "edges": []});
    put("cycle.sdfg", &cycle.to_string());
    refused(at, "loops cycle.sdfg", 1, &["state `s`", "a cycle of edges through `t0`"]);
    // States that never end.
    let state = json!({"type": "SDFGState", "label": "s", "nodes": [], "edges": []});
    let forever = json!({"type": "SDFG", "attributes": {}, "nodes": [state.clone(), state],
        "edges": [edge(0, 1), edge(1, 0)]});
    put("forever.sdfg", &forever.to_string());
    refused(at, "loops forever.sdfg", 1, &["more than 4194304 states"]);
}

#[test]
fn a_graph_of_a_hundred_thousand_nodes_opens() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let count = 100_000;
    let tasklet = |n: usize| json!({"type": "Tasklet", "id": n, "label": "t", "scope_entry": null, "attributes": {}});
    let edge = |n: usize| {
        let memlet = json!({"data": "A", "subset": subset(&[range(n as i64, n as i64, 1)])});
        json!({"src": n.to_string(), "dst": (n + 1).to_string(), "attributes": {"data": {"type": "Memlet", "attributes": memlet}}})
    };
    let nodes: Vec<Value> = (0..count).map(tasklet).collect();
    let edges: Vec<Value> = (0..count - 1).map(edge).collect();
    let text = json!({"type": "SDFG", "attributes": {"_arrays": {"A": {"type": "Array", "attributes": {"shape": [count]}}}},
        "nodes": [{"type": "SDFGState", "nodes": nodes, "edges": edges}], "edges": []});
    fs::write(at.join("many.sdfg"), text.to_string()).unwrap();
    assert_eq!(json(at, "loops many.sdfg --json")["accesses"], 2 * (count - 1));
}

/// DaCe of PyPI, its newest version and 0.16, write graphs in this very run, and they give what loops by hand do. Where Python or the network
/// is not there, this says so; `ORRERY_DACE=1` makes that a failure.
#[test]
fn graphs_that_dace_writes_are_opened() {
    let asked = std::env::var_os("ORRERY_DACE").is_some();
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let there = ["new", "old"].iter().all(|version| target.join("dace").join(format!("venv-{version}")).exists());
    if !asked && !there {
        eprintln!("skipped: no DaCe in {}; ORRERY_DACE=1 installs it from PyPI", target.join("dace").display());
        return;
    }
    let made = Command::new(root().join("scripts/dace-files.sh")).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for version in ["new", "old"] {
        assert!(graphs_agree(&target.join("dace").join(version)) >= 9, "{version}");
    }
}

#[test]
fn volumes_are_expressions_and_a_graph() {
    let at = root();
    let found = json(&at, "loops loops:matmul --set N=64 --volumes --json");
    assert_eq!(found["parameters"], json!({ "N": 64, "K": 10, "M": 15 }));
    let nodes = found["nodes"].as_array().unwrap();
    let edges = found["edges"].as_array().unwrap();
    let named = |name: &str| nodes.iter().position(|node| node["name"] == name).unwrap();
    let (a, loops) = (named("A"), named("i, j, k"));
    let edge = edges.iter().find(|edge| edge["from"] == a && edge["to"] == loops).unwrap();
    assert_eq!(edge["bytes"], json!({ "expression": "N * M * K * 4", "value": 64 * 15 * 10 * 4 }));
    assert_eq!(edge["container"], "A");
    assert_eq!(nodes[loops]["executions"]["expression"], "N * M * K");
    let words = printed(&at, "loops loops:matmul --volumes");
    assert!(words.contains("N * M * K * 4 = 5,400 B") && words.contains("1 / 8 = 0.1250"), "{words}");
    let drawn = printed(&at, "loops loops:jacobi --graph - --scale median --theme print");
    assert!(drawn.starts_with("<svg") && drawn.contains("T * (N - 2) * (N - 2) * 40"), "{drawn}");
    let folded = printed(&at, "loops loops:jacobi --graph - --fold states");
    assert!(folded.contains("for t") && folded.contains("folded by states"), "{folded}");
    let regions = json(&at, "loops tests/traces/dace/triangular_regions.sdfg --set N=9 --volumes --json");
    let text = regions.to_string();
    assert!(text.contains("N * (N - 1) / 2"), "{text}");
    refused(&at, "loops loops:matmul --scale median", 2, &["--graph"]);
    refused(&at, "loops loops:matmul --graph f.bmp", 2, &[".svg or .png"]);
}
