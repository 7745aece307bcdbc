//! `orrery run`: a program compiled, recorded and looked at by one command.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::capture::{PROGRAMS, Trace, has, orrery, sound};
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

#[test]
fn a_source_file_runs_in_one_command() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(PROGRAMS).join("capture_matmul.c");
    let mut run = orrery(&["run", "--stats", "--flag", "-DN=8"]);
    let text = sound(&run.arg(&source).current_dir(folder.path()).output().unwrap());
    assert!(text.contains("capture_matmul") && text.contains("L1"), "{text}");
    assert_eq!(Trace::open(&folder.path().join("capture_matmul.orrery")).counts().get("B"), Some(&(512, 64)));
    // Counted while it ran, and from the file: the same, under caches that are chosen and under others.
    for caches in [&[][..], &["--l1", "1KiB,2,32", "--l2", "8KiB,4,32"], &["--cache", "textbook"]] {
        let run = orrery(&[&["run", "--stats", "--flag", "-DN=40"], caches].concat())
            .arg(&source)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let again = orrery(&[&["stats", "capture_matmul.orrery"], caches].concat());
        let numbers = sound(&{ again }.current_dir(folder.path()).output().unwrap());
        // What the program printed comes first.
        assert!(sound(&run).ends_with(&numbers), "{caches:?}: {}\n{numbers}", sound(&run));
    }
    let ways = Path::new(PROGRAMS).join("capture_ways.c");
    let mut run = orrery(&["run", "--no-view", "-o", "w.orrery"]);
    let output = run.arg(&ways).arg("abort").current_dir(folder.path()).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("the program ended"), "{output:?}");
    assert_eq!(output.status.code(), Some(128 + 6), "as the program alone: {output:?}");
    assert_eq!(Trace::open(&folder.path().join("w.orrery")).counts().get("cells"), Some(&(0, 1000)));
    // A number that is in no array: the program's own constants have a name.
    let heat = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/heat.c");
    let mut run = orrery(&["run", "--no-view", heat]);
    sound(&run.current_dir(folder.path()).output().unwrap());
    let counts = Trace::open(&folder.path().join("heat.orrery")).counts();
    assert!(counts.contains_key("constants") && counts.contains_key("plate"), "{counts:?}");
    let none = orrery(&["run", "x.rs"]).output().unwrap();
    assert_eq!(none.status.code(), Some(2), "{none:?}");
}

/// A program that says in the file `runs` that it ran, and touches an array.
const SAYS_THAT_IT_RAN: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int cells[1000];
int main(int argc, char **argv) {
    FILE *runs = fopen(\"runs\", \"a\");
    for (int i = 0; i < argc; i++) fprintf(runs, \"%s\\n\", i ? argv[i] : \"ran\");
    fclose(runs);
    for (int i = 0; i < SIZE; i++) cells[i] = i;
#ifdef CRASHES
    abort();
#endif
    return SIZE == 77 ? 7 : 0;
}
";

/// A folder with that program in `p.c`, and what `orrery run ARGS` does there.
fn run_there(folder: &TempDir, args: &[&str], environment: &[(&str, Option<&str>)]) -> Output {
    std::fs::write(folder.path().join("p.c"), SAYS_THAT_IT_RAN).unwrap();
    let mut command = orrery(&["run"]);
    command.args(args).current_dir(folder.path()).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    for (name, value) in environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.output().unwrap()
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_program_is_run_once_where_there_is_no_session() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // No display: the window fails, after the program.
    let output = run_there(&folder, &["-DSIZE=9", "p.c"], &[("XDG_RUNTIME_DIR", None), ("NODEVICE_SELECT", None)]);
    assert!(!output.status.success() || cfg!(not(feature = "viewer")), "{output:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("runs")).unwrap(), "ran\n");
    assert_eq!(names(&folder), ["p.c", "p.orrery", "runs"]);
}

#[test]
fn a_run_without_a_window_ends_as_its_program() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for shown in ["--no-view", "--stats"] {
        assert_eq!(run_there(&folder, &[shown, "-DSIZE=77", "p.c"], &[]).status.code(), Some(7));
        let crashed = run_there(&folder, &[shown, "-DSIZE=70", "-DCRASHES", "p.c"], &[]);
        assert_eq!(crashed.status.code(), Some(128 + 6), "{crashed:?}");
        assert_eq!(Trace::open(&folder.path().join("p.orrery")).counts().get("cells"), Some(&(0, 70)));
    }
}

#[test]
fn a_link_stays_one_where_nothing_is_behind_it_yet() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("there.orrery", folder.path().join("link.orrery")).unwrap();
    sound(&run_there(&folder, &["--no-view", "-o", "link.orrery", "-DSIZE=70", "p.c"], &[]));
    assert_eq!(names(&folder), ["link.orrery", "p.c", "runs", "there.orrery"]);
    assert!(folder.path().join("link.orrery").is_symlink());
}

#[test]
fn a_run_knows_its_own_recording_and_tells_of_those_that_were_left() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join("p.orrery.part");
    let spool = [&b"ORRSPOOL"[..], &[0; 65_528]].concat();
    // Who asks for the trace is told where it is: under the name that `orrery run` gave it, and behind a link.
    let own = folder.path().join("p.4fQz1c.orrery.part");
    std::fs::write(&own, &spool).unwrap();
    std::os::unix::fs::symlink("p.orrery", folder.path().join("link.orrery")).unwrap();
    for name in ["p.orrery", "link.orrery"] {
        let asked = orrery(&["stats", name]).current_dir(folder.path()).output().unwrap();
        let told = String::from_utf8_lossy(&asked.stderr).into_owned();
        assert!(!asked.status.success() && told.contains("p.4fQz1c.orrery.part -o"), "{told}");
    }
    for name in [&own, &folder.path().join("link.orrery")] {
        std::fs::remove_file(name).unwrap();
    }
    std::fs::write(&left, &spool).unwrap();
    let output = run_there(&folder, &["--no-view", "-DSIZE=70", "p.c"], &[]);
    sound(&output);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("p.orrery.part: left by a recording") && said.contains("orrery convert"), "{said}");
    assert_eq!(names(&folder), ["p.c", "p.orrery", "p.orrery.part", "runs"]);
    assert_eq!(Trace::open(&folder.path().join("p.orrery")).counts().get("cells"), Some(&(0, 70)));
    assert!(std::fs::read(&left).unwrap() == spool, "what was left is not touched");
    std::fs::remove_file(&left).unwrap();

    // Nobody packs what is recorded: the run does so itself.
    let output = run_there(&folder, &["--no-view", "-DSIZE=80", "p.c"], &[("ORRERY_BIN", Some("/nonexistent/orrery"))]);
    sound(&output);
    assert_eq!(names(&folder), ["p.c", "p.orrery", "runs"]);
    assert_eq!(Trace::open(&folder.path().join("p.orrery")).counts().get("cells"), Some(&(0, 80)));

    // Two at once, of one name in one folder.
    let run = |size: &'static str| {
        let mut command = orrery(&["run", "--no-view", size, "-o"]);
        command.arg(format!("{}.orrery", &size[7..])).arg("p.c").current_dir(folder.path()).spawn().unwrap()
    };
    let both = [run("-DSIZE=50"), run("-DSIZE=60")];
    assert!(both.into_iter().all(|mut child| child.wait().unwrap().success()));
    for size in [50, 60] {
        let trace = Trace::open(&folder.path().join(format!("{size}.orrery")));
        assert_eq!(trace.counts().get("cells"), Some(&(0, size)));
    }
}

#[test]
fn flags_before_the_file_are_heeded_and_those_after_it_are_the_programs() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let given = || std::fs::read_to_string(folder.path().join("runs")).unwrap();
    let args = ["--stats", "--l1", "1KiB,2,32", "-DSIZE=7", "-lm", "-O0", "p.c", "--", "--cache", "zen4"];
    let output = run_there(&folder, &args, &[]);
    assert!(sound(&output).contains("1KiB"), "{output:?}");
    assert_eq!((given().as_str(), &*String::from_utf8_lossy(&output.stderr)), ("ran\n--cache\nzen4\n", ""));
    std::fs::remove_file(folder.path().join("runs")).unwrap();
    let output = run_there(&folder, &["--no-view", "-DSIZE=7", "p.c", "--cache", "zen4"], &[]);
    sound(&output);
    assert_eq!(given(), "ran\n--cache\nzen4\n");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--cache comes after p.c, so the program gets it"), "{said}");
    // Wrong caches are told before anything is run.
    let output = run_there(&folder, &["--cache", "zen44", "p.c"], &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `zen4`"));
    assert_eq!(given(), "ran\n--cache\nzen4\n");
}
