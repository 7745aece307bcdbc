//! `advise`: real programs that have a pattern, programs close to them that have not, and programs that were mended as advised.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::capture::{Folder, PROGRAMS, has, orrery, sound};
use serde_json::Value;

/// The trace of a program with this name defined, recorded in `folder`.
fn record(folder: &Folder, source: &str, variant: &str) -> String {
    let (program, trace) = (format!("{source}-{variant}"), format!("{source}-{variant}.orrery"));
    let (define, path) = (format!("-D{variant}"), format!("{PROGRAMS}/{source}.c"));
    folder.build("gcc", &["-O1", "-g", "-pthread", &define, &path, "-o", &program]);
    folder.run(&program, &[], &trace);
    folder.trace(&trace);
    trace
}

fn json(folder: &Folder, command: &str, trace: &str, caches: &str) -> Value {
    let mut call = orrery(&[command, trace, "--json"]);
    call.args(caches.split_whitespace()).current_dir(folder.path(""));
    let output = call.output().unwrap();
    sound(&output);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A program that has a pattern gets this advice, about this array; the one that is close to it gets none of the kind; and the mended one
/// does what was foretold.
fn check(source: &str, pattern: &str, region: &str, caches: &str) {
    if !has("gcc") {
        return;
    }
    let folder = Folder::new();
    let of = |variant: &str| record(&folder, source, variant);
    let kind = |advice: &&Value| advice["pattern"] == pattern;
    let all = json(&folder, "advise", &of("AS_IT_IS"), caches);
    let advice = all["advice"].as_array().unwrap().iter().find(kind).unwrap_or_else(|| panic!("{source}: {all:#}"));
    assert_eq!(advice["regions"][0], region, "{advice:#}");
    assert!(advice["places"][0]["line"].as_str().unwrap().contains(&format!("{source}.c:")), "{advice:#}");

    let close = json(&folder, "advise", &of("CLOSE"), caches);
    assert_eq!(close["advice"].as_array().unwrap().iter().find(kind), None, "{source}");

    let mended = json(&folder, "stats", &of("MENDED"), caches);
    let level = mended["levels"].as_array().unwrap().iter().find(|level| level["name"] == advice["level"]).unwrap();
    let foretold = &advice["counterfactual"];
    let number = |value: &Value| value.as_u64().unwrap();
    for (what, real, told, error) in [
        (
            "misses",
            number(&level["demand_misses"]),
            number(&foretold["level_misses"]["after"]),
            number(&foretold["error"]),
        ),
        (
            "bytes",
            number(&mended["memory"]["bytes_read"]),
            number(&foretold["memory_bytes"]["after"]),
            number(&foretold["error_bytes"]),
        ),
    ] {
        eprintln!("{source}: {what} {real}, foretold {told}, error {error}; {foretold}");
        // Of stores that fetch nothing the bytes are foretold; they are fewer references, which miss less often.
        if pattern != "store-stream" || what == "bytes" {
            assert!(
                real.abs_diff(told) <= error,
                "{source}: {what} {real}, foretold {told}, error {error}\n{advice:#}"
            );
        }
    }
}

const L1: &str = "--l1 4KiB,4,64";
const BOTH: &str = "--l1 4KiB,4,64 --l2 16KiB,8,64";

#[test]
fn rows_that_begin_in_few_sets_are_made_longer() {
    check("advise_conflicts", "stride-conflicts", "A", L1);
}

#[test]
fn parts_that_begin_in_few_sets_are_put_farther_apart() {
    check("advise_parts", "stride-conflicts", "out", L1);
}

#[test]
fn a_matrix_that_is_walked_across_its_rows_is_turned() {
    check("advise_columns", "column-walk", "A", L1);
}

#[test]
fn a_loop_that_goes_down_columns_is_told_to_go_along_rows() {
    check("advise_order", "loop-order", "A", L1);
}

#[test]
fn a_field_that_is_used_alone_is_stored_alone() {
    check("advise_fields", "array-of-structures", "particles", L1);
}

#[test]
fn a_working_set_just_over_a_level_is_made_smaller() {
    check("advise_over", "just-over", "table", L1);
}

#[test]
fn a_stream_is_kept_from_what_is_used_again() {
    check("advise_stream", "stream", "table", L1);
}

#[test]
fn stores_of_whole_lines_fetch_nothing() {
    check("advise_stores", "store-stream", "out", BOTH);
}

/// Of recorded threads each has its references in a row, which tells nothing of how they met: workers that take turns are recorded with the
/// bundled programs, as they are and mended.
#[test]
fn what_cores_write_is_put_in_lines_of_their_own() {
    let folder = Folder::new();
    for caches in ["--cache paper", L1] {
        let all = json(&folder, "advise", "lesson:false_sharing", caches);
        let advice = &all["advice"][0];
        assert_eq!((&advice["pattern"], &advice["regions"][0]), (&"false-sharing".into(), &"sums".into()), "{all:#}");
        let mended = json(&folder, "stats", "lesson:false_sharing_padded", caches);
        let foretold = &advice["counterfactual"];
        assert_eq!(mended["levels"][0]["demand_misses"], foretold["level_misses"]["after"], "{all:#}");
        assert_eq!(mended["memory"]["bytes_read"], foretold["memory_bytes"]["after"], "{all:#}");
        let close = json(&folder, "advise", "lesson:false_sharing_padded", caches);
        assert_eq!(close["advice"].as_array().map(Vec::len), Some(0), "{close:#}");
    }
}

#[test]
fn what_needs_nothing_gets_no_advice() {
    let folder = Folder::new();
    // Blocked multiplication; and caches that look ahead, which no changed trace can be played in.
    let said = |words: &[&str]| {
        let output = orrery(words).current_dir(folder.path("")).output().unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
        )
    };
    let (code, text) = said(&["advise", "lesson:matmul16_blocked", "--cache", "textbook"]);
    assert!(code == Some(0) && text.contains("No known pattern whose remedy pays"), "{text}");
    let (code, text) = said(&["advise", "lesson:matmul16", "--l1", "512,2,32,opt"]);
    assert!(code == Some(2) && text.contains("opt") && text.contains("L1"), "{text}");
    let (code, text) = said(&["advise", "lesson:false_sharing"]);
    assert!(
        code == Some(0)
            && text.contains("false sharing")
            && text.contains("Simulated: with what each core has of sums"),
        "{text}"
    );
    let (_, text) = said(&["advise", "lesson:false_sharing_padded"]);
    assert!(!text.contains("false sharing:") && !text.contains("sums: "), "{text}");
}
