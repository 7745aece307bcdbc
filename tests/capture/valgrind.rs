//! `orrery capture` with real Valgrind on real programs: references per array against what the loops must do.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::built;
use orrery::reference::{Kind, Reference, ReferenceSource, RegionMap};
use orrery::trace;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Whether Valgrind and gcc are there; says so where not, and fails under `REQUIRE_COMPILERS=1`.
fn tools() -> Option<String> {
    let gcc = built::compiler("CC", "gcc")?;
    built::compiler("VALGRIND", "valgrind").map(|_| gcc)
}

fn orrery(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orrery")).args(args).current_dir(folder).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn all(source: &dyn ReferenceSource) -> Vec<Reference> {
    (0..source.len().div_ceil(source.chunk_len())).flat_map(|n| source.chunk(n).unwrap().to_vec()).collect()
}

/// Reads and writes by region name; a modify is one of each.
fn counts(path: &Path) -> BTreeMap<String, (u64, u64)> {
    let source = trace::open(path, None).unwrap();
    let regions = &source.tables().regions;
    let map = RegionMap::new(regions);
    let mut out: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (tick, r) in (0..).zip(all(&*source)).filter(|(_, r)| r.kind != Kind::Fetch) {
        let Some(region) = map.find(r.addr, tick) else { continue };
        let entry = out.entry(regions[region].name.clone()).or_default();
        entry.0 += u64::from(r.kind != Kind::Write);
        entry.1 += u64::from(r.kind != Kind::Read);
    }
    out
}

const N: u64 = 24;

/// What the arrays of loops.c see.
const EXPECTED: [(&str, (u64, u64)); 5] =
    [("A", (N * N * N, 0)), ("B", (N * N * N, 0)), ("C", (0, N * N)), ("histogram", (640, 640)), ("local", (200, 200))];

#[test]
fn arrays_see_what_the_loops_do() {
    let Some(gcc) = tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    for flags in [["-no-pie", "-g"], ["-pie", "-gdwarf-4"], ["-static", "-g"]] {
        built::build(&gcc, &[&flags[..], &["-O1", "-fPIE"]].concat(), &["loops.c"], &folder.path().join("loops"));
        let output = orrery(folder.path(), &["capture", "--", "./loops", "3"]);
        let text = stderr(&output);
        // The program's own streams and exit code.
        assert_eq!(String::from_utf8_lossy(&output.stdout), "sum 24750\n");
        assert!(text.contains("to standard error\n"), "{text}");
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains("loops.orrery: ") && text.contains("within main"), "{text}");

        let path = folder.path().join("loops.orrery");
        let counts = counts(&path);
        for (name, expect) in EXPECTED {
            assert_eq!(counts.get(name), Some(&expect), "{flags:?}: {name} of {counts:?}");
        }
        assert!(!counts.contains_key("heap"), "a variable that nothing touches is not listed");
        let often = "called more than 8 times";
        assert!(!counts.contains_key("brief") && text.contains(often) && text.contains(": often\n"), "{text}");
        let source = trace::open(&path, None).unwrap();
        let tables = source.tables();
        let a = tables.regions.iter().find(|r| r.name == "A").unwrap();
        assert_eq!((a.shape.as_slice(), a.elem_bytes, a.elem_type.as_str()), (&[N, N][..], 8, "double"));
        let line = tables.locations.iter().find(|l| l.text.contains("sum += A[i][k] * B[k][j]")).unwrap();
        assert_eq!((line.file.as_str(), line.function.as_str()), ("loops.c", "multiply"));
        // Main's first instruction is the first reference; the loader is left out.
        let references = all(&*source);
        assert_eq!(references[0].kind, Kind::Fetch);
        assert!(tables.made_by.ends_with("./loops 3"), "{}", tables.made_by);
        let whole = orrery(folder.path(), &["capture", "--whole", "-o", "whole.orrery", "--", "./loops"]);
        assert!(whole.status.success(), "{}", stderr(&whole));
        let whole = trace::open(&folder.path().join("whole.orrery"), None).unwrap();
        assert!(whole.len() > source.len() + 1000, "{} and {}", whole.len(), source.len());
    }
}

#[test]
fn a_function_alone_and_data_alone() {
    let Some(gcc) = tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    built::build(&gcc, &["-g", "-O1", "-pie", "-fPIE"], &["loops.c"], &folder.path().join("loops"));
    let args = ["capture", "--function", "reverse", "--data-only", "-o", "r.orrery", "--", "./loops"];
    let output = orrery(folder.path(), &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let path = folder.path().join("r.orrery");
    let references = all(&*trace::open(&path, None).unwrap());
    assert!(references.iter().all(|r| r.kind != Kind::Fetch && r.pc != 0));
    // The array of 100, twice each way, and a return address or a saved register now and then.
    assert!((400..440).contains(&references.len()), "{}", references.len());
    assert_eq!(counts(&path).get("local"), Some(&(200, 200)));
    let lives: Vec<_> = trace::open(&path, None).unwrap().tables().regions.iter().map(|r| r.lifetime).collect();
    assert_eq!(lives.len(), 2, "one of each call: {lives:?}");

    let args = ["capture", "--limit", "1000", "--data-only", "-o", "l.orrery", "--", "./loops", "forever"];
    let output = orrery(folder.path(), &args);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(trace::open(&folder.path().join("l.orrery"), None).unwrap().len(), 1000);
}

#[test]
fn threads_take_turns_and_lose_nothing() {
    let Some(gcc) = tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    built::build(&gcc, &["-g", "-O1", "-pie", "-fPIE", "-pthread"], &["threads.c"], &folder.path().join("threads"));
    let output = orrery(folder.path(), &["capture", "--data-only", "--", "./threads"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let counts = counts(&folder.path().join("threads.orrery"));
    // Each of two threads writes its half and its own array once, and main reads all.
    assert_eq!(counts.get("shared"), Some(&(2000, 2000)), "{counts:?}");
    assert_eq!(counts.get("mine"), Some(&(1000, 1000)), "{counts:?}");
}

#[test]
fn a_log_written_by_hand_converts_to_the_same_counts() {
    let Some(gcc) = tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    for flag in ["-no-pie", "-pie"] {
        built::build(&gcc, &["-g", "-O1", "-fPIE", flag], &["loops.c"], &folder.path().join("loops"));
        let status = Command::new("valgrind")
            .args(["-q", "--tool=lackey", "--trace-mem=yes", "--log-file=loops.log", "./loops"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        let output = orrery(folder.path(), &["convert", "loops.log", "-o", "c.orrery", "--program", "loops"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let counts = counts(&folder.path().join("c.orrery"));
        for (name, expect) in EXPECTED.iter().filter(|(name, _)| *name != "local") {
            assert_eq!(counts.get(*name), Some(expect), "{flag}: {name} of {counts:?}");
        }
        assert!(trace::open(&folder.path().join("c.orrery"), None).unwrap().tables().locations.len() > 20);
    }
}

#[test]
fn programs_without_names_are_recorded_by_address() {
    let Some(gcc) = tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("loops");
    // No debug information: arrays by their symbols.
    built::build(&gcc, &["-O1", "-pie", "-fPIE"], &["loops.c"], &program);
    let output = orrery(folder.path(), &["capture", "--", "./loops"]);
    assert!(output.status.success() && stderr(&output).contains("-g"), "{}", stderr(&output));
    let named = counts(&folder.path().join("loops.orrery"));
    for (name, expect) in EXPECTED.iter().filter(|(name, _)| *name != "local") {
        assert_eq!(named.get(*name), Some(expect), "{name}");
    }
    // Stripped: no main; from the program's first instruction.
    assert!(Command::new("strip").arg(&program).status().unwrap().success());
    let output = orrery(folder.path(), &["capture", "--", "./loops"]);
    let text = stderr(&output);
    assert!(output.status.success() && text.contains("no main") && text.contains("first instruction"), "{text}");
    assert!(trace::open(&folder.path().join("loops.orrery"), None).unwrap().len() > 50_000);
    // A script: its shell is what runs.
    let script = folder.path().join("script");
    fs::write(&script, "#!/bin/sh\necho from a script\n").unwrap();
    assert!(Command::new("chmod").args(["+x"]).arg(&script).status().unwrap().success());
    let output = orrery(folder.path(), &["capture", "-o", "s.orrery", "--", "./script"]);
    let text = stderr(&output);
    assert!(output.status.success() && text.contains("a script") && text.contains("by address"), "{text}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "from a script\n");
}

#[test]
fn crashes_interrupts_and_forks_keep_what_was_recorded() {
    let Some(gcc) = tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    built::build(&gcc, &["-g", "-O1", "-pie", "-fPIE"], &["loops.c"], &folder.path().join("loops"));
    let output = orrery(folder.path(), &["capture", "--", "./loops", "crash"]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(128 + 11), "{text}");
    assert!(text.contains("signal: 11") && text.contains("is kept"), "{text}");
    assert_eq!(counts(&folder.path().join("loops.orrery")).get("A"), Some(&EXPECTED[0].1));

    // It never ends; two interrupts end it at once.
    let child = Command::new(env!("CARGO_BIN_EXE_orrery"))
        .args(["capture", "-o", "f.orrery", "--", "./loops", "forever"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    for _ in 0..2 {
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        std::thread::sleep(Duration::from_millis(200));
    }
    let output = child.wait_with_output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(128 + 9), "{text}");
    assert!(text.contains("f.orrery: "), "{text}");
    let kept = counts(&folder.path().join("f.orrery"));
    assert_eq!(kept.get("A"), Some(&EXPECTED[0].1));
    assert!(kept["histogram"].1 > 10_000, "{kept:?}");

    // A child that holds the log open and outlives the program.
    built::build(&gcc, &["-g", "-O1", "-pie", "-fPIE"], &["forks.c"], &folder.path().join("forks"));
    let begun = Instant::now();
    let output = orrery(folder.path(), &["capture", "--data-only", "--", "./forks"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(begun.elapsed() < Duration::from_secs(7), "waited {:?} for the child", begun.elapsed());
    assert_eq!(counts(&folder.path().join("forks.orrery")).get("table"), Some(&(1, 16)), "the parent's alone");
}

#[test]
fn bad_input_ends_in_a_sentence_an_exit_code_and_no_file() {
    let Some(gcc) = tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    built::build(&gcc, &["-g", "-O1"], &["loops.c"], &folder.path().join("loops"));
    fs::write(folder.path().join("text"), "hello").unwrap();
    let loops = folder.path().join("loops").to_string_lossy().into_owned();
    for (args, path, code, words) in [
        (&["--", "./missing"][..], None, 2, &["./missing", "no such program"][..]),
        (&["--", "loops"], None, 2, &["loops", "./NAME"]),
        (&["--function", "nothing", "--", "./loops"], None, 2, &["--function nothing", "nm -C"]),
        (&[], None, 2, &["PROGRAM"]),
        (&["--", "./text"], None, 1, &["text", "no references"]),
        (&["-o", "no/such/out.orrery", "--", "./loops"], None, 1, &["no/such", "does not exist; make it first"]),
        (&["--", &loops], Some("/nonexistent"), 1, &["install the package valgrind"]),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orrery"));
        command.arg("capture").args(args).current_dir(folder.path());
        if let Some(path) = path {
            command.env("PATH", path);
        }
        let output = command.output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(!text.contains("panicked") && text.contains("error: "), "{args:?}: {text}");
        for word in words {
            assert!(text.contains(word), "{args:?}: no `{word}` in: {text}");
        }
        let left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .filter(|n| n.contains(".orrery") || n.ends_with(".part"))
            .collect();
        assert!(left.is_empty(), "{args:?} left {left:?}");
    }
    // The disk is full: the program is ended, and no file is left behind.
    let begun = Instant::now();
    let output = orrery(folder.path(), &["capture", "-o", "/dev/full", "--", "./loops", "forever"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(begun.elapsed() < Duration::from_secs(60));
}

/// DynamoRIO cannot be had on the machines that run this: a stand-in for its launcher leaves the folder that the real one
/// leaves, and tells the records of its documentation.
#[test]
fn drmemtrace_records_are_converted_as_drrun_tells_them() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let records = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces/drmemtrace-view.txt");
    let drrun = "#!/bin/sh\n[ \"$1 $2\" = '-t drmemtrace' ] || exit 9\nshift 2\ncase $1 in\n-offline)\n\
        mkdir -p \"$3/drmemtrace.true.00042.0000.dir/raw\"\n[ \"$4\" = -- ] || exit 9\nshift 4\n\"$@\"\nexit ;;\n\
        -tool)\n[ \"$2 $3\" = 'view -indir' ] && [ -d \"$4/raw\" ] || exit 9\ncat RECORDS >&2 ;;\n\
        *) exit 9 ;;\nesac\n";
    fs::create_dir(place("bin64")).unwrap();
    fs::write(place("bin64/drrun"), drrun.replace("RECORDS", records)).unwrap();
    fs::set_permissions(place("bin64/drrun"), fs::Permissions::from_mode(0o755)).unwrap();
    let capture = |home: &str, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orrery"));
        command.args(["capture", "--with", "drmemtrace"]).args(args).current_dir(folder.path());
        command.env("DYNAMORIO_HOME", place(home)).output().unwrap()
    };
    let output = capture(".", &["-o", "all.orrery", "--", "/bin/sh", "-c", "echo said; exit 7"]);
    let text = stderr(&output);
    assert_eq!((String::from_utf8_lossy(&output.stdout).as_ref(), output.status.code()), ("said\n", Some(7)), "{text}");
    let direct = trace::open(Path::new(records), None).unwrap();
    assert_eq!(all(&*trace::open(&place("all.orrery"), None).unwrap()), all(&*direct));

    let output = capture(".", &["--data-only", "-o", "data.orrery", "--", "/bin/true"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let data: Vec<Reference> = all(&*direct).into_iter().filter(|r| r.kind != Kind::Fetch).collect();
    assert_eq!(all(&*trace::open(&place("data.orrery"), None).unwrap()), data);

    for (home, args, expected) in [
        ("gone", &["--", "/bin/true"][..], "drrun: found no such program; expected DynamoRIO's launcher"),
        (".", &["--function", "main", "--", "/bin/true"], "--function: not with --with drmemtrace"),
    ] {
        let output = capture(home, args);
        assert!(!output.status.success() && stderr(&output).contains(expected), "{}", stderr(&output));
        assert!(!place("true.orrery").exists());
    }
}
