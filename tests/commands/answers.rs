//! `why`, `annotate`, `analyze` and `sweep`, as they are called.
#![cfg(feature = "cli")]

use crate::calls::{json, printed, refused, run};
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

#[test]
fn stack_distances_are_printed_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // Lines of 64 bytes: a modify is two accesses, a straddle touches both of its lines in rising order.
    fs::write(at.join("t.log"), " L 1000,8\n M 103c,8\nI  4000,4\n S 1040,4\n L 1000,8\n L 2000,8\n L 1044,1\n")
        .unwrap();
    let text = printed(at, "analyze t.log --stack-distance --line 64 --json");
    // 40 | 40 41 40 41 | 100 | 41 | 40 | 80 | 41
    assert_eq!(text, "{\"line\":64,\"accesses\":10,\"cold\":4,\"histogram\":[[0,1],[1,3],[2,2]]}\n");
    let text = printed(at, "analyze t.log --stack-distance --line 64 --json --data-only");
    assert_eq!(text, "{\"line\":64,\"accesses\":9,\"cold\":3,\"histogram\":[[0,2],[1,3],[2,1]]}\n");
    let text = printed(at, "analyze lesson:matmul16 --stack-distance --line 64 --json");
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/analysis.md")).unwrap();
    let shown = page.lines().find(|line| line.starts_with("{\"line\": 64")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), serde_json::from_str::<Value>(shown).unwrap());
    refused(at, "analyze t.log --line 48", 2, &["--line", "power of two"]);
    refused(at, "analyze t.log --sample 2", 2, &["--sample", "share of all lines"]);
    refused(at, "analyze t.log --sets --level L9", 2, &["--level L9", "expected one of L1"]);
    refused(at, "analyze none.log", 1, &["none.log"]);
}

#[test]
fn all_parts_are_told_as_tables_and_as_data() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = printed(at, "analyze lesson:matmul16 --cache paper");
    for words in [
        "8,448 references; lines of 32 bytes",
        "first touch          192   2.2%",
        "2KiB                      64   1,152   13.6%           L2",
        "LRU with 2 sets",
        "working set in windows of 84 references",
        "locality, 0 to 1: spatial 0.",
        "A                                      544         17,408      17,408  100.0%",
        "evictions of L1: 4,880",
    ] {
        assert!(text.contains(words), "`{words}` is missing in:\n{text}");
    }
    assert!(!text.contains("had one cache"), "{text}");
    let text = printed(at, "analyze lesson:false_sharing");
    assert!(text.contains("stack distances and misses by size as if all 4 cores had one cache"), "{text}");
    let all = json(at, "analyze lesson:matmul16 --cache paper --json");
    let stats = json(at, "stats lesson:matmul16 --cache paper --json");
    let sum =
        |rows: &Value, key: &str| rows.as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).sum::<u64>();
    let l1 = &stats["levels"][0];
    assert_eq!(sum(&all["sets"]["sets"], "misses"), l1["demand_misses"].as_u64().unwrap());
    assert_eq!(sum(&all["displaced"]["pairs"], "lines"), l1["evictions"].as_u64().unwrap());
    assert_eq!(sum(&all["line_use"], "lines"), l1["fills"].as_u64().unwrap());
    // L1 of 2 sets x 8 ways.
    assert_eq!(all["ways"]["misses_by_ways"][7], l1["demand_misses"]);
    let by = json(at, "analyze lesson:matmul16 --miss-ratio --by region,line,function,core --json");
    for grouping in by["by"].as_array().unwrap() {
        assert_eq!(sum(&grouping["rows"], "accesses"), 8_448, "{grouping}");
    }
    let sample = json(at, "analyze lesson:matmul16 --sample 1 --json");
    assert!(sample["sample"]["points"].as_array().unwrap().iter().all(|point| point["error"] == 0.0));
}

#[test]
fn a_reference_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = printed(at, "why lesson:matmul16 2,614 --cache paper");
    assert!(text.starts_with("reference 2,614, matmul16.c:19  sum += A[i][k] * B[k][j];\n"), "{text}");
    assert!(text.contains("misses L1 set 1 (capacity: ") && text.contains("pushed out by B[10][14]"), "{text}");
    let told = json(at, "why lesson:matmul16 2614 --cache paper --json");
    assert_eq!((told["name"].as_str(), told["accesses"][0]["class"].as_str()), (Some("B[3][15]"), Some("capacity")));
    assert_eq!((&told["last_use"], &told["next_use"]), (&2_581.into(), &3_043.into()));
    refused(at, "why lesson:matmul16 8448", 2, &["reference 8448", "8448 references, numbered from 0"]);
    refused(at, "why lesson:matmul16 -1", 2, &["-1"]);
    refused(at, "why lesson:matmul16 many", 2, &["number of a reference"]);
    // No regions, no source: addresses, and no place.
    fs::write(at.join("bare.log"), " L 1000,8\n L 2000,8\n").unwrap();
    let text = printed(at, "why bare.log 1 --l1 64,1,64");
    assert!(text.starts_with("reference 1\n") && text.contains("read 0x2000: misses L1 (compulsory"), "{text}");
    assert!(text.contains("The line of 0x1000, clean, leaves L1; memory alone has it."), "{text}");
}

#[test]
fn sources_are_annotated() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = printed(at, "annotate lesson:matmul16 --cache paper");
    let row = "     8,192      4,640  56.6%      4,368  53.3%     19  sum += A[i][k] * B[k][j];";
    assert!(text.contains(row) && !text.contains('\u{1b}'), "{text}");
    let (data, stats) = (
        json(at, "annotate lesson:matmul16 --cache paper --json"),
        json(at, "stats lesson:matmul16 --cache paper --json"),
    );
    assert_eq!(data["total"]["misses"][0], stats["levels"][0]["demand_misses"]);
    assert_eq!(data["total"]["references"], stats["trace"]["references"]);
    refused(at, "annotate lesson:matmul16 --file other.c", 2, &["no such source", "matmul16.c"]);

    // Beside its trace the file is found, with what lies between; once changed it is not believed.
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/traces/matmul16.orrery"), at.join("m.orrery")).unwrap();
    let source = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/traces/programs/matmul16.c")).unwrap();
    fs::write(at.join("matmul16.c"), &source).unwrap();
    let text = printed(at, "annotate m.orrery --context 2");
    assert!(
        text.lines().any(|line| line.trim_start().starts_with("17  ") || line.trim_start().starts_with("18  ")),
        "{text}"
    );
    fs::write(at.join("matmul16.c"), source.replace("sum +=", "sum -=")).unwrap();
    let output = run(at, "annotate m.orrery");
    assert!(String::from_utf8_lossy(&output.stderr).contains("matmul16.c:19 is not as it was"), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("sum += A[i][k]"), "{output:?}");
    // No source lines at all are told.
    fs::write(at.join("bare.log"), " L 1000,8\n").unwrap();
    assert!(printed(at, "annotate bare.log").contains("of unknown source lines"));
}

#[test]
fn misses_are_blamed_on_functions_cores_and_lines() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = printed(at, "stats lesson:matmul16 --cache paper --by line,function,core");
    for words in ["function  ", "core  ", "causes 94.8 % of L1's misses, 88.3 % of them in B, 11.7 % in A"] {
        assert!(text.contains(words), "`{words}` is missing in:\n{text}");
    }
    let data = json(at, "stats lesson:matmul16 --cache paper --by region,line --json");
    let rows = data["by"][1]["rows"].as_array().unwrap();
    let misses: u64 = rows.iter().map(|row| row["misses"][0].as_u64().unwrap()).sum();
    assert_eq!(misses, data["levels"][0]["demand_misses"].as_u64().unwrap());
    assert_eq!(data["offenders"][0]["regions"][0][0], "B");
    // Without the flag, nothing of it is in the promised JSON.
    let plain = json(at, "stats lesson:matmul16 --cache paper --json");
    assert!(plain.get("by").is_none() && plain.get("offenders").is_none());
    refused(at, "stats lesson:matmul16 --by colour", 2, &["colour", "region"]);
}

#[test]
fn sweeps_go_on_after_a_stop_and_join() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let sweep = "sweep lesson:matmul16 --l1 512,2,32 --vary L1.size=256B..4KiB --vary L1.ways=1,2,4,8";
    let whole = json(at, &format!("{sweep} --json"));
    assert_eq!(whole.as_array().unwrap().len(), 20);
    // A worker dies before its work is done, another does all but one; the rest is told, then done.
    let plan = printed(at, &format!("{sweep} --into results --plan"));
    let commands: Vec<Vec<String>> = plan
        .lines()
        .map(|line| serde_json::from_value(serde_json::from_str::<Value>(line).unwrap()["command"].clone()).unwrap())
        .collect();
    assert_eq!(commands.len(), 20);
    let call = |words: &[String]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orrery"));
        command.args(&words[1..]).current_dir(at).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let mut killed = call(&commands[3]).spawn().unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    for command in commands.iter().enumerate().filter(|(n, _)| *n != 3).map(|(_, command)| command) {
        assert!(call(command).status().unwrap().success());
    }
    // The killed one may have been done.
    if !run(at, "sweep --merge results").status.success() {
        refused(at, "sweep --merge results", 1, &["1 of 20 cells of lesson:matmul16 are missing (3)", "--plan again"]);
    }
    let output = run(at, &format!("{sweep} --into results"));
    assert!(output.status.success());
    assert_eq!(json(at, "sweep --merge results --json"), whole, "joined = whole");
    let again = run(at, &format!("{sweep} --into results --json"));
    assert!(String::from_utf8_lossy(&again.stderr).contains("20 of 20 cells were counted before"), "{again:?}");
    assert_eq!(serde_json::from_slice::<Value>(&again.stdout).unwrap(), whole);
    // Two traces in one folder, whatever they are called; and nests, with values of their parameters.
    let both = "sweep lesson:matmul16 lesson:matmul16_blocked loops:matmul loops:matmul?N=4 --l1 512,2,32 --vary L1.ways=1,2,4";
    let cells = json(at, &format!("{both} --into both --json"));
    assert_eq!(cells.as_array().unwrap().len(), 12);
    assert_eq!(fs::read_dir(at.join("both")).unwrap().count(), 4, "a file for each trace");
    assert_eq!(json(at, "sweep --merge both --json").as_array().unwrap().len(), 12);
    // Another grid in the same folder does not join, nor does what is no result.
    printed(at, "sweep lesson:matmul16 --l1 512,2,32 --vary L1.ways=1,2 --into results");
    refused(at, "sweep --merge results", 1, &["different sweeps"]);
    fs::create_dir(at.join("other")).unwrap();
    refused(at, "sweep --merge other", 1, &["no results of a sweep"]);
    fs::write(at.join("other/x.cells.json"), "{").unwrap();
    refused(at, "sweep --merge other", 1, &["x.cells.json", "remove it"]);
    refused(
        at,
        "sweep lesson:matmul16 --vary L1.ways=1..32768 --vary L1.size=1..32768 --vary L1.line=1..32768 --l1 512,2,32",
        2,
        &["L1.ways=1 L1.size=1 L1.line=1: "],
    );
    refused(at, "sweep lesson:matmul16", 2, &["--vary"]);
    refused(at, "sweep lesson:matmul16 --l1 512,2,32 --vary L1.ways=1 --cells 5..9", 2, &["the sweep has 1 cells"]);
}

/// What Polars reads of a Parquet file, as rows of JSON; `None` where there is no Polars and none is asked for.
fn polars(at: &std::path::Path, file: &str) -> Option<Value> {
    let python = std::env::var("ORRERY_PYTHON").unwrap_or_else(|_| "python3".into());
    let script = "import json, sys, polars; print(json.dumps(polars.read_parquet(sys.argv[1]).to_dicts()))";
    let output = Command::new(python).args(["-c", script, file]).current_dir(at).output();
    let read = output.as_ref().is_ok_and(|output| output.status.success());
    assert!(read || std::env::var_os("ORRERY_REQUIRE_PYTHON").is_none(), "{output:?}");
    read.then(|| serde_json::from_slice(&output.expect("it ran").stdout).expect("JSON"))
}

#[test]
fn a_sweep_is_a_table_of_columns() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("few.log"), " L 1000,8\n S 2000,8\n").unwrap();
    // Where no caches are named, the traces have other ones: their levels are columns side by side.
    let call =
        "sweep lesson:matmul16 few.log --l1 512,2,32 --l2 4KiB,4,32 --vary L1.ways=1,2 --vary L1.policy=lru,fifo";
    let cells = json(at, &format!("{call} --json --parquet cells.parquet"));
    assert_eq!(cells.as_array().unwrap().len(), 8);
    refused(at, &format!("{call} --parquet cells.csv"), 2, &["--parquet cells.csv", "ends in .parquet"]);
    refused(at, &format!("{call} --parquet none/c.parquet"), 1, &["none/c.parquet: cannot be written"]);
    let Some(rows) = polars(at, "cells.parquet") else { return };
    for (row, cell) in rows.as_array().unwrap().iter().zip(cells.as_array().unwrap()) {
        assert_eq!((&row["trace"], &row["cell"]), (&cell["trace"], &cell["cell"]));
        assert_eq!(row["L1.ways"].to_string(), cell["values"]["L1.ways"].as_str().unwrap(), "a number");
        assert_eq!(row["L1.policy"], cell["values"]["L1.policy"], "words");
        for level in cell["levels"].as_array().unwrap() {
            let name = level["name"].as_str().unwrap();
            let counters = level.as_object().unwrap().iter().filter(|(key, _)| *key != "name");
            for (key, count) in counters {
                assert_eq!(row[format!("{name}_{key}")], *count, "{name} {key}");
            }
            let rate = level["demand_misses"].as_f64().unwrap() / level["demand_accesses"].as_f64().unwrap().max(1.0);
            assert!((row[format!("{name}_miss_rate")].as_f64().unwrap() - rate).abs() < 1e-12);
        }
        assert_eq!(row["memory_bytes_read"], cell["memory_bytes_read"]);
    }
}

#[test]
fn two_runs_are_drawn_over_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (a, b) = ("lesson:matmul16", "lesson:matmul16_blocked");
    let draw = |kind: &str| {
        printed(at, &format!("compare {a} {b} --cache paper --chart c.svg --chart-kind {kind}"));
        fs::read_to_string(at.join("c.svg")).unwrap()
    };
    let svg = draw("stack-distance");
    for (trace, name) in [(a, "A: lesson:matmul16"), (b, "B: lesson:matmul16_blocked")] {
        let found = json(at, &format!("analyze {trace} --stack-distance --line 32 --json"));
        let of = |from: u64, to: u64| -> u64 {
            let pairs = found["histogram"].as_array().unwrap().iter();
            let within = |pair: &&Value| (from..to).contains(&pair[0].as_u64().unwrap());
            pairs.filter(within).map(|pair| pair[1].as_u64().unwrap()).sum()
        };
        for (bar, count) in [("0", of(0, 1)), ("8+", of(8, 16)), ("first", found["cold"].as_u64().unwrap())] {
            let said = format!("{bar}: {} of {name}", orrery::units::grouped(count));
            assert!(svg.contains(&said), "`{said}` is missing");
        }
    }
    let svg = draw("sets");
    let misses: u64 =
        json(at, &format!("stats {b} --cache paper --json"))["levels"][0]["demand_misses"].as_u64().unwrap();
    let drawn: u64 = svg
        .split("<title>")
        .filter_map(|part| part.split_once(" of B: ")?.0.split_once(": ")?.1.replace(',', "").parse::<u64>().ok())
        .sum();
    assert_eq!(drawn, misses, "the bars of B are all misses of L1");
    let svg = draw("miss-ratio");
    assert!(svg.contains("L1 512B") && svg.contains("A: lesson:matmul16<") && svg.matches("<path").count() >= 2);
    assert!(draw("classes").contains("8,448 and 10,240 references"));
    // One trace under two caches: the caches are the names.
    printed(at, &format!("compare {a} --cache paper --with textbook --chart c.svg --chart-kind classes"));
    assert!(fs::read_to_string(at.join("c.svg")).unwrap().contains("B: textbook"));
    refused(at, &format!("compare {a} {b} --chart c.svg --chart-kind map"), 2, &["miss-ratio", "sets"]);
    refused(at, &format!("compare {a} {b} --chart c.pdf"), 2, &["ends in .svg or .png"]);
    refused(at, &format!("compare {a} {b} --chart-kind sets"), 2, &["--chart"]);
}

#[test]
fn two_runs_are_compared_by_the_counters_of_each() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (a, b) = ("lesson:matmul16", "lesson:matmul16_blocked");
    let keys = ["demand_misses", "conflict", "capacity", "evictions", "writebacks", "bytes_in"];
    for (call, first, second) in [
        (format!("compare {a} {b}"), format!("stats {a}"), format!("stats {b}")),
        (format!("compare {a} --with textbook"), format!("stats {a}"), format!("stats {a} --cache textbook")),
    ] {
        let both = json(at, &format!("{call} --json"));
        let singles = [first, second].map(|call| json(at, &format!("{call} --by-line --classes --json")));
        for level in both["levels"].as_array().unwrap() {
            for (side, single) in ["a", "b"].iter().zip(&singles) {
                if level["name"] == "memory" {
                    assert_eq!(level["counters"]["bytes_read"][side], single["memory"]["bytes_read"]);
                    continue;
                }
                let own = single["levels"].as_array().unwrap().iter().find(|own| own["name"] == level["name"]);
                for key in keys {
                    assert_eq!(
                        level["counters"][key].get(side).filter(|n| !n.is_null()),
                        own.map(|own| &own[key]),
                        "{call}: {key}"
                    );
                }
            }
        }
        for (side, single) in ["a", "b"].iter().zip(&singles) {
            for region in single["regions"].as_array().unwrap() {
                let rows = both["regions"].as_array().unwrap();
                let row = rows.iter().find(|row| row["name"] == region["name"]).unwrap();
                assert_eq!(row["references"][side], region["references"]);
                assert_eq!(row["misses"]["L1"][side], region["misses"]["L1"]);
            }
            let sum = |rows: &Value, of: &dyn Fn(&Value) -> Option<u64>| {
                rows.as_array().unwrap().iter().filter_map(of).sum::<u64>()
            };
            let ours = sum(&both["lines"], &|row| row["misses"]["L1"][side].as_u64());
            assert_eq!(ours, sum(&single["lines"], &|row| row["misses"]["L1"].as_u64()));
        }
        assert_eq!(both["in_common"]["regions"], 3);
    }
    let text = printed(at, &format!("compare {a} {b} --cache paper"));
    for words in
        ["A  lesson:matmul16", "demand misses", "difference", "L1 misses by region", "L1 misses by source line"]
    {
        assert!(text.contains(words), "`{words}` is missing in:\n{text}");
    }
    let csv = printed(at, &format!("compare {a} {b} --csv"));
    assert!(
        csv.starts_with("table,name,counter,a,b,difference\n") && csv.contains("\nlevel,L1,demand_misses,"),
        "{csv}"
    );
    // The same against itself differs in nothing, so no region is listed.
    let text = printed(at, &format!("compare {a} {a}"));
    assert!(!text.contains("misses by"), "{text}");
    // Nothing in common: said, and the totals stand.
    fs::write(at.join("bare.log"), " L 1000,8\n").unwrap();
    let output = run(at, &format!("compare {a} bare.log"));
    assert!(output.status.success() && String::from_utf8_lossy(&output.stderr).contains("in common"), "{output:?}");
    refused(at, &format!("compare {a}"), 2, &["<B>"]);
    refused(at, "compare - -", 2, &["standard input can be read once only"]);
    refused(at, &format!("compare {a} --with none"), 2, &["none"]);
    refused(at, &format!("compare {a} {b} --level L7"), 2, &["--level L7"]);
}
