//! `orrery tasks` on a real file: 64 samples through a filter on MGPUSim's R9 Nano (Akita 4.9), packed beside this test.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn unpacked(folder: &Path) -> PathBuf {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tasks/fir64.sqlite3.xz");
    let mut bytes = Vec::new();
    liblzma::read::XzDecoder::new(fs::File::open(packed).unwrap()).read_to_end(&mut bytes).unwrap();
    let path = folder.join("fir64.sqlite3");
    fs::write(&path, bytes).unwrap();
    path
}

/// What is printed, and what is said.
fn orrery(args: &[&str]) -> (bool, String, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_orrery")).arg("tasks").args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (run.status.success(), text(run.stdout), text(run.stderr))
}

fn json(args: &[&str]) -> Value {
    let (done, out, said) = orrery(args);
    assert!(done && said.is_empty(), "{said}");
    serde_json::from_str(&out).unwrap()
}

/// Figures of the file by SQL and by hand: `SELECT Kind, count(*) FROM trace GROUP BY Kind`, and so on.
#[test]
fn a_real_file_in_numbers_in_all_dialects() {
    let folder = tempfile::tempdir().unwrap();
    let path = unpacked(folder.path());
    let path = path.to_str().unwrap();
    let summary = json(&[path, "--summary", "--json"]);
    assert_eq!(
        (&summary["tasks"], &summary["locations"], &summary["dangling_parents"]),
        (&2064.into(), &48.into(), &22.into())
    );
    assert_eq!((summary["start"].as_f64(), summary["end"].as_f64()), (Some(0.0), Some(1.7842e-5)));
    assert_eq!((&summary["kinds"]["req_in"], &summary["kinds"]["inst"]), (&702.into(), &392.into()));
    let cache = &summary["req_in"]["GPU[1].SA[0].L1VCache[0]"];
    assert_eq!((&cache["count"], &cache["max_concurrency"]), (&83.into(), &5.into()));
    let mean = cache["mean"].as_f64().unwrap();
    assert!((mean - 2534e-9 / 83.0).abs() < 1e-18, "{mean}");

    let measured =
        |path: &str| json(&[path, "--metric", "ReqInCount", "--location", "GPU[1].DRAM[0]", "--bins", "7", "--json"]);
    let points = measured(path)["points"].clone();
    let width = 1.7842e-5 / 7.0;
    let requests = points.as_array().unwrap().iter().map(|point| point[1].as_f64().unwrap() * width).sum::<f64>();
    assert!((requests - 19.0).abs() < 1e-9, "{requests}");
    for dialect in ["v3", "v4", "v5", "csv"] {
        let other = folder.path().join(dialect);
        let other = other.to_str().unwrap();
        assert_eq!(orrery(&[path, "-o", other, "--as", dialect]), (true, String::new(), String::new()));
        let told = json(&[other, "--summary", "--json"]);
        assert_eq!(
            (&told["kinds"], &told["dangling_parents"]),
            (&summary["kinds"], &summary["dangling_parents"]),
            "{dialect}"
        );
        assert_eq!(measured(other)["points"], points, "{dialect}");
    }
    let (done, text, _) = orrery(&[path]);
    assert!(done && text.starts_with("2,064 tasks at 48 locations, from 0 s to 17.84 µs; Akita 4 (SQLite)"), "{text}");
    // SELECT What, count(*), count(DISTINCT TaskID) FROM milestone WHERE Kind = 'hardware_resource' GROUP BY What
    assert!(text.contains("          89            89  GPU[1].SA[0].L1IROB.Buffer\n"), "{text}");
}

#[test]
fn what_is_not_there_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = unpacked(folder.path());
    let path = path.to_str().unwrap();
    for (args, words) in [
        (&["--metric", "Latency", "--location", "x"][..], "`Latency` is no metric; expected one of ReqInCount,"),
        (
            &["--metric", "AvgLatency", "--location", "GPU[1].L2Cach[0]"],
            "did you mean `GPU[1].L2Cache[0]`? expected one of 48:",
        ),
        (&["--metric", "AvgLatency"], "--location"),
        (&["-o", "/nonexistent/out"], "/nonexistent/out: "),
    ] {
        let (done, out, said) = orrery(&[&[path], args].concat());
        assert!(!done && out.is_empty() && said.contains(words), "{said}");
    }
    let run = Command::new(env!("CARGO_BIN_EXE_orrery")).args(["stats", path]).output().unwrap();
    assert!(String::from_utf8(run.stderr).unwrap().contains("a database of SQLite"));
}

#[test]
fn components_are_told_alone_and_beside_a_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let file = unpacked(folder.path());
    let file = file.to_str().unwrap();
    let told = json(&[file, "--components", "--json"]);
    let kinds = told["kinds"].as_array().unwrap();
    let of = |name: &str| kinds.iter().find(|kind| kind["kind"] == name).unwrap();
    let (dram, cache) = (of("DRAM"), of("L1VCache"));
    assert_eq!((dram["served"].as_u64(), dram["members"].as_u64()), (Some(34), Some(4)));
    // A channel waits for nobody, and takes 100 cycles of a nanosecond for each request.
    assert_eq!((dram["waits_for_others"].as_f64(), dram["mean_latency"].as_f64()), (Some(0.0), Some(1e-7)));
    assert!((0.2..0.3).contains(&cache["waits_for_others"].as_f64().unwrap()), "{cache}");
    let (ok, text, error) = orrery(&[file, "--components", "--against", file]);
    assert!(ok, "{error}");
    assert!(text.starts_with("fir64.sqlite3, 17.84 µs, beside fir64.sqlite3, 17.84 µs: as long\n"), "{text}");
    let (ok, text, error) = orrery(&[file, "--components"]);
    assert!(ok && text.contains("64 % of instructions are VALU"), "{text}{error}");
    let missing = folder.path().join("none.sqlite3");
    let (ok, _, error) = orrery(&[file, "--components", "--against", missing.to_str().unwrap()]);
    assert!(!ok && error.contains("none.sqlite3"), "{error}");
}

#[test]
fn what_tasks_wait_for_is_stacked() {
    let folder = tempfile::tempdir().unwrap();
    let file = unpacked(folder.path());
    let rob = "GPU[1].SA[0].L1VROB[0]";
    let told = json(&[
        file.to_str().unwrap(),
        "--metric",
        "ConcurrentTaskMilestones",
        "--location",
        rob,
        "--bins",
        "8",
        "--json",
    ]);
    // As Daisen of Akita 4 counts them, worked out by its own loop from the rows of the file.
    assert_eq!(told["reasons"]["hardware_resource"][4].as_f64(), Some(4.0));
    assert_eq!(told["reasons"]["network_transfer"][4].as_f64(), Some(40.0));
    assert_eq!(told["points"][4][1].as_f64(), Some(44.0));
}
