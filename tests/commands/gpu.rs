//! `orrery gpu`: kernels on simulated GPUs, and references of a trace as tasks.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;
use std::fs;
use std::process::Command;

/// Whether it went well, what is printed, and what is said.
fn orrery(args: &[&str]) -> (Option<i32>, String, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_orrery")).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (run.status.code(), text(run.stdout), text(run.stderr))
}

fn json(args: &[&str]) -> Value {
    let (code, out, said) = orrery(args);
    assert_eq!((code, said.as_str()), (Some(0), ""), "{args:?}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn a_kernel_in_numbers_and_as_tasks_that_every_reader_counts_alike() {
    let args = ["gpu", "vectoradd", "--set", "N=4096", "--json"];
    let told = json(&args);
    assert_eq!((&told["work_groups"], &told["wavefronts"]), (&Value::from(16), &Value::from(64)));
    let of =
        |kind: &str| told["components"].as_array().unwrap().iter().find(|row| row["kind"] == kind).unwrap().clone();
    // 3 arrays of 16 KiB are 768 lines of 64 bytes, each once.
    assert_eq!(of("L1VCache")["requests"], 768);
    assert_eq!(of("L2Cache")["requests"], 768);
    assert_eq!(told, json(&args), "the same each time");
    let folder = tempfile::tempdir().unwrap();
    for (dialect, name) in [("v4", "run.sqlite3"), ("v5", "run5.sqlite3"), ("csv", "run.csv")] {
        let path = folder.path().join(name);
        let path = path.to_str().unwrap();
        let (code, _, said) = orrery(&["gpu", "vectoradd", "--set", "N=4096", "-o", path, "--as", dialect]);
        assert!(code == Some(0) && said.ends_with(" tasks\n"), "{said}");
        let summary = json(&["tasks", path, "--summary", "--json"]);
        assert_eq!(summary["kinds"]["wavefront"], 64, "{dialect}");
        let served: u64 = summary["req_in"]
            .as_object()
            .unwrap()
            .iter()
            .filter(|(at, _)| at.contains("L1VCache"))
            .map(|(_, n)| n["count"].as_u64().unwrap())
            .sum();
        assert_eq!(served, 768, "{dialect}");
        let (_, words, _) = orrery(&["tasks", path]);
        assert!(!words.contains("break a rule"), "{words}");
    }
}

#[test]
fn a_recorded_kernel_asks_for_the_sectors_that_its_lanes_touched() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces/accelsim/kernel-1.traceg");
    let (code, out, said) = orrery(&["gpu", path, "--gpu", "rtx3070", "--json"]);
    assert!(code == Some(0) && said.contains("holds 2 of the 196 thread blocks"), "{said}");
    let told: Value = serde_json::from_str(&out).unwrap();
    // 432 lanes of 4 bytes side by side are 54 sectors of 32.
    assert_eq!((&told["work_groups"], &told["wavefronts"]), (&Value::from(2), &Value::from(8)));
    assert_eq!(
        (&told["components"][0]["kind"], &told["components"][0]["requests"]),
        (&Value::from("L1VCache"), &Value::from(54))
    );
    for (args, words) in [
        (&["gpu", path, "--set", "N=3"][..], "found a recorded kernel"),
        (&["gpu", concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")], "found text whose first line is `# Orrery`"),
    ] {
        let (code, _, said) = orrery(args);
        assert!(code != Some(0) && said.contains(words), "{args:?}: {code:?} {said}");
    }
}

#[test]
fn what_there_is_is_listed_and_what_there_is_not_is_answered() {
    let (code, list, _) = orrery(&["gpu"]);
    assert_eq!(code, Some(0));
    for name in ["matmul-tiled", "pagerank", "r9nano", "h100", "not validated by its authors"] {
        assert!(list.contains(name), "{name} in {list}");
    }
    let (_, toml, _) = orrery(&["gpu", "--gpu", "r9nano"]);
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("mine.toml");
    fs::write(&own, toml.replace("banks = 16\n\n[vector]", "banks = 0\n\n[vector]")).unwrap();
    let own = own.to_str().unwrap();
    for (args, words) in [
        (&["gpu", "matmull"][..], "found no kernel `matmull`; expected one of vectoradd, matmul, "),
        (&["gpu", "matmul", "--gpu", "r9nan"], "did you mean `r9nano`?"),
        (&["gpu", "matmul", "--set", "M=3"], "found `M`, which is no argument of matmul; expected one of N"),
        (&["gpu", "matmul", "--set", "N"], "as in N=1024"),
        (&["gpu", "matmul", "--gpu", own], "banks: found 0; expected 1 to 65,536"),
        // At once: nobody waits for the simulation to be told so.
        (&["gpu", "matmul", "-o", "-"], "expected jsonl or chrome"),
        (&["gpu", "matmul", "-o", "no/such/folder.sqlite3"], "found no folder no/such; expected one that exists"),
    ] {
        let (code, _, said) = orrery(args);
        assert!(code == Some(2) && said.contains(words), "{args:?}: {code:?} {said}");
    }
}

#[test]
fn references_are_told_as_tasks_as_lines_and_for_perfetto() {
    let tasks = ["tasks", "lesson:matmul16", "--range", "0..100", "--cache", "paper"];
    let with = |more: &[&str]| orrery(&[&tasks[..], more].concat());
    let (code, lines, _) = with(&["-o", "-", "--as", "jsonl"]);
    assert_eq!(code, Some(0));
    let all: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let references: Vec<&Value> = all.iter().filter(|task| task["category"] == "reference").collect();
    assert_eq!(references.len(), 100);
    // Each request in lies in a request out, which names it.
    for task in all.iter().filter(|task| task["category"] == "req_in") {
        let parent = all.iter().find(|other| other["id"] == task["parent"]).unwrap();
        assert_eq!(parent["category"], "req_out");
        assert!(parent["start"].as_f64() <= task["start"].as_f64() && parent["end"].as_f64() >= task["end"].as_f64());
    }
    // As many misses as `stats` counts.
    let misses = all.iter().filter(|task| {
        task["location"] == "L1" && task["tags"][0]["what"].as_str().is_some_and(|w| w.ends_with("-miss"))
    });
    let stats = json(&["stats", "lesson:matmul16", "--range", "0..100", "--cache", "paper", "--json"]);
    let level = stats["levels"].as_array().unwrap().iter().find(|level| level["name"] == "L1").unwrap().clone();
    assert_eq!(Some(misses.count() as u64), level["demand_misses"].as_u64());
    let (code, text, _) = with(&["-o", "-", "--as", "chrome"]);
    assert_eq!(code, Some(0));
    let trace: Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    assert_eq!(events.iter().filter(|event| event["ph"] == "X").count(), all.len());
    // Events of one thread do not overlap.
    let mut last = std::collections::BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let thread = (event["pid"].as_u64(), event["tid"].as_u64());
        let (from, took) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        let before = last.insert(thread, from + took).unwrap_or(0.0);
        assert!(from + 1e-9 >= before, "{event}");
    }
    let (code, _, said) = orrery(&["tasks", "lesson:matmul16", "--range", "9000..9001"]);
    assert!(code == Some(2) && said.contains("the trace has 8448 references"), "{said}");
}

/// Two launches of NVBit: two blocks of one warp each read 128 bytes and write them elsewhere; then one warp reads what was written.
#[test]
fn kernels_of_nvbit_run_one_after_the_other_by_block_and_warp() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mem_trace.txt");
    let line = |launch: u32, block: u32, opcode: &str, from: u64| {
        let lanes: Vec<String> = (0..32).map(|lane| format!("{:#018x}", from + 4 * lane)).collect();
        format!(
            "MEMTRACE: CTX 0x01 - grid_launch_id {launch} - CTA {block},0,0 - warp 5 - {opcode} - {}",
            lanes.join(" ")
        )
    };
    let launch = |number: u32, name: &str| {
        format!(
            "MEMTRACE: CTX 0x01 - LAUNCH - Kernel pc 0x7f - Kernel name {name} - grid launch id {number} - grid size 2,1,1 - shmem 0"
        )
    };
    let text = [
        launch(0, "copy(int*)"),
        line(0, 1, "LDG.E", 0x10080),
        line(0, 0, "LDG.E", 0x10000),
        launch(1, "sum"),
        line(0, 0, "STG.E", 0x20000),
        line(0, 0, "LDS", 0x10),
        line(0, 1, "STG.E", 0x20080),
        line(1, 0, "LDG.E", 0x20000),
    ];
    std::fs::write(&path, text.join("\n")).unwrap();
    let (code, out, said) = orrery(&["gpu", path.to_str().unwrap(), "--gpu", "r9nano", "--json"]);
    assert!(code == Some(0) && said.contains("NVBit tells no registers"), "{said}");
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&told["work_groups"], &told["wavefronts"]), (&Value::from(3), &Value::from(3)));
    let kernels = told["kernels"].as_array().unwrap();
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel["kernel"].as_str().unwrap()).collect();
    assert_eq!(names, ["copy(int*)", "sum"]);
    assert_eq!(kernels[0]["end"], kernels[1]["start"]);
    // 128 bytes are two sectors of 64: five instructions on memory ask for ten.
    let caches = told["components"].as_array().unwrap().iter().find(|kind| kind["kind"] == "L1VCache").unwrap();
    assert_eq!(caches["requests"], Value::from(10));
    std::fs::write(&path, [text[0].as_str(), "MEMTRACE: CTX 0x01 - CTA 1,0 - warp 3 - LDG.E - 0x1"].join("\n"))
        .unwrap();
    let (code, _, said) = orrery(&["gpu", path.to_str().unwrap()]);
    assert!(code != Some(0) && said.contains("mem_trace.txt:2: found a block of `1,0`"), "{said}");
}

#[test]
fn a_list_of_kernels_and_a_trace_without_warps_run() {
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces/accelsim/kernelslist.g");
    let (code, out, said) = orrery(&["gpu", list, "--gpu", "rtx3070", "--json"]);
    assert_eq!(code, Some(0), "{said}");
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told["kernels"].as_array().unwrap().len(), 1);
    let (code, out, said) = orrery(&["gpu", "matmul16", "--json"]);
    assert!(code != Some(0) && out.is_empty() && said.contains("matmul"), "a bundled trace is no kernel: {said}");
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/traces/false_sharing.orrery");
    let (code, out, said) = orrery(&["gpu", trace, "--json"]);
    assert_eq!(code, Some(0), "{said}");
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told["kernel"], "false_sharing");
    assert!(told["work_groups"].as_u64().unwrap() > 1, "a core is a work-group: {told}");
}
