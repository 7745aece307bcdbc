//! Where a recording may be written: nothing that is no trace is replaced, and what a process records before an `exec` stays.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::capture::{PROGRAMS, Trace, has, orrery, sound};
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A program that touches `cells`, and goes on as itself three times in a child.
fn built() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(PROGRAMS).join("again.c");
    sound(&orrery(&["cc", "-O1"]).arg(source).args(["-o", "again"]).current_dir(folder.path()).output().unwrap());
    folder
}

/// Writes of `cells`.
fn cells(trace: &Path) -> u64 {
    Trace::open(trace).counts().get("cells").map_or(0, |counts| counts.1)
}

fn run(folder: &Path, output: Option<&str>, args: &[&str]) -> Output {
    let mut command = Command::new(folder.join("again"));
    command.args(args).current_dir(folder).env_remove("ORRERY_OUT").env_remove("ORRERY_BIN");
    if let Some(output) = output {
        command.env("ORRERY_OUT", output);
    }
    command.output().unwrap()
}

#[test]
fn what_is_no_trace_is_not_replaced() {
    if !has("gcc") {
        return;
    }
    let folder = built();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("mine.c"), "int x;\n").unwrap();
    std::fs::create_dir(path("folder")).unwrap();
    for output in ["mine.c", "folder", "/dev/full"] {
        let output = run(folder.path(), Some(output), &["3"]);
        let said = sound(&output);
        assert!(said.contains("is there and is no trace, so it is not replaced; nothing is recorded"), "{said}");
    }
    assert_eq!(std::fs::read_to_string(path("mine.c")).unwrap(), "int x;\n");
    assert!(!path("folder.part").exists() && !Path::new("/dev/full.part").exists());
    // An empty file is replaced, and so is a trace.
    std::fs::write(path("empty.orrery"), "").unwrap();
    for _ in 0..2 {
        assert!(sound(&run(folder.path(), Some("empty.orrery"), &["3"])).is_empty());
        assert_eq!(cells(&path("empty.orrery")), 64);
    }
    // Where the folder is gone, so is the name of what would be written.
    let script = "mkdir gone && cd gone && rmdir ../gone && exec ../again 3";
    let mut command = Command::new("sh");
    let gone = command.args(["-c", script]).current_dir(folder.path()).env_remove("ORRERY_OUT").output().unwrap();
    assert!(sound(&gone).contains("the folder that it runs in cannot be named; nothing is recorded"), "{gone:?}");
}

#[test]
fn what_a_process_records_before_an_exec_stays() {
    if !has("gcc") {
        return;
    }
    let folder = built();
    let output = run(folder.path(), None, &[]);
    assert_eq!(sound(&output), "0\n");
    let traces = || -> Vec<_> {
        let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "orrery")).collect()
    };
    let start = Instant::now();
    while traces().len() < 5 && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut counts: Vec<u64> = traces().iter().map(|path| cells(path)).collect();
    counts.sort_unstable();
    // The child before it is another, the parent, and what it is then, one after another: one more before each exec.
    assert_eq!(counts, [1, 16, 33, 49, 64], "{:?}", traces());
}
