//! Real programs, built by `orrery cc` and run: what they record is what they did, however they end.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::capture::{ORRERY, PROGRAMS, Trace, has, orrery, sound};
use orrery::reference::{Kind, Reference};
use orrery::trace;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder with a program in it, built by `orrery cc`.
struct Built {
    folder: TempDir,
    program: PathBuf,
}

fn build(source: &str, flags: &[&str]) -> Built {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("prog");
    let compiler = match Path::new(source).extension().and_then(|e| e.to_str()) {
        Some("cpp") => "c++",
        Some("f90") => "fortran",
        _ => "cc",
    };
    let mut command = orrery(&[compiler]);
    command.args(flags).arg(Path::new(PROGRAMS).join(source)).arg("-o").arg(&program).current_dir(folder.path());
    let output = command.output().unwrap();
    sound(&output);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    Built { folder, program }
}

impl Built {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.folder.path()).env_remove("ORRERY_OUT").env_remove("ORRERY_BIN");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The trace of this name, once it is there: a program that was killed does not wait for its collector.
    fn trace(&self, name: &str) -> Trace {
        let path = self.path(name);
        let part = self.path(&format!("{name}.part"));
        let start = Instant::now();
        while (part.exists() || !path.exists()) && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        Trace::open(&path)
    }
}

#[test]
fn arrays_count_as_valgrind_counts_them() {
    if !has("valgrind") || !has("gcc") {
        return;
    }
    for (source, names) in [
        ("capture_matmul.c", ["A", "B", "C"].as_slice()),
        ("capture_sort.c", &["numbers", "counts", "weights", "order", "pairs"]),
        ("capture_grid.c", &["now", "next", "steps"]),
    ] {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let ours = build(source, &[level, "-no-pie"]);
            sound(&ours.run(&[]));
            let ours = ours.trace("prog.orrery").counts();

            let folder = tempfile::tempdir().unwrap();
            let [program, log, native] = ["plain", "lackey.log", "lackey.orrery"].map(|n| folder.path().join(n));
            let mut gcc = Command::new("gcc");
            gcc.args([level, "-no-pie", "-g"]).arg(Path::new(PROGRAMS).join(source)).arg("-o").arg(&program);
            sound(&gcc.output().unwrap());
            let mut valgrind = Command::new("valgrind");
            valgrind
                .args(["--tool=lackey", "--trace-mem=yes"])
                .arg(format!("--log-file={}", log.display()))
                .arg(&program);
            sound(&valgrind.output().unwrap());
            let mut convert = orrery(&["convert"]);
            convert.arg(&log).arg("--program").arg(&program).arg("-o").arg(&native);
            sound(&convert.output().unwrap());
            let theirs = Trace::open(&native).counts();

            for name in names {
                let (ours, theirs) = (ours.get(*name), theirs.get(*name));
                eprintln!("{source} {level} {name}: {ours:?} reads and writes");
                assert!(ours.is_some_and(|(reads, writes)| reads + writes > 0), "{source} {level}: {name} has none");
                assert_eq!(ours, theirs, "{source} {level}: {name}");
            }
        }
    }
}

#[test]
fn however_a_program_ends_nothing_is_lost() {
    if !has("gcc") {
        return;
    }
    let built = build("capture_ways.c", &["-O1"]);
    for (way, code, signal) in [
        ("return", Some(0), None),
        ("exit", Some(3), None),
        ("_exit", Some(4), None),
        ("quick_exit", Some(5), None),
        ("abort", None, Some(6)),
        ("crash", None, Some(11)),
        ("kill", None, Some(9)),
    ] {
        let output = built.run(&[way]);
        assert_eq!((output.status.code(), output.status.signal()), (code, signal), "{way}");
        assert!(output.stderr.is_empty(), "{way}: {}", String::from_utf8_lossy(&output.stderr));
        if code.is_some() {
            assert!(built.path("prog.orrery").exists(), "{way}: an orderly end waits for the file");
        }
        let trace = built.trace("prog.orrery");
        assert_eq!(trace.counts().get("cells"), Some(&(0, 1000)), "{way}");
        let writes: Vec<u64> = trace.references.iter().filter(|r| r.kind == Kind::Write).map(|r| r.addr).collect();
        assert!(writes.windows(2).take(998).all(|w| w[1] == w[0] + 4), "{way}: out of order");
        std::fs::remove_file(built.path("prog.orrery")).unwrap();
        assert_eq!(std::fs::read_dir(built.folder.path()).unwrap().count(), 1, "{way}: something is left");
    }
}

/// A program that waits, once it says that it does.
fn waiting(built: &Built) -> Child {
    let mut child = built.command(&["wait"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    child
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn ctrl_c_and_termination_lose_nothing() {
    if !has("gcc") {
        return;
    }
    let built = build("capture_ways.c", &["-O1"]);
    for (name, number) in [("INT", 2), ("TERM", 15), ("KILL", 9)] {
        let mut child = waiting(&built);
        signal(&child, name);
        assert_eq!(child.wait().unwrap().signal(), Some(number), "{name}");
        assert_eq!(built.trace("prog.orrery").counts().get("cells"), Some(&(0, 1000)), "{name}");
        std::fs::remove_file(built.path("prog.orrery")).unwrap();
    }
}

#[test]
fn a_fork_has_a_file_of_its_own_and_exec_ends_one() {
    if !has("gcc") {
        return;
    }
    let built = build("capture_ways.c", &["-O1"]);
    let child = sound(&built.run(&["fork"])).trim().to_owned();
    assert_eq!(built.trace("prog.orrery").counts().get("cells"), Some(&(0, 1010)));
    let theirs = built.trace(&format!("prog.{child}.orrery")).counts();
    assert_eq!((theirs.get("cells"), theirs.get("more")), (None, Some(&(0, 500))));

    let other = build("capture_matmul.c", &["-O1", "-DN=4"]);
    let path = built.path("other");
    std::fs::copy(&other.program, &path).unwrap();
    sound(&built.run(&["exec", path.to_str().unwrap()]));
    assert_eq!(built.trace("prog.orrery").counts().get("cells"), Some(&(0, 1000)));
    assert_eq!(built.trace("other.orrery").counts().get("B"), Some(&(64, 16)));
}

#[test]
fn a_program_that_closes_all_descriptors_goes_on_recording() {
    if !has("gcc") {
        return;
    }
    let built = build("capture_ways.c", &["-O1"]);
    let output = built.run(&["close"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(built.trace("prog.orrery").counts().get("cells"), Some(&(0, 401_000)), "{output:?}");
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_program() {
    if !has("gcc") {
        return;
    }
    let built = build("capture_ways.c", &["-O1"]);
    // Files of 3 MiB at most: two chunks, where the program would fill seven.
    let limited = |collector: &str, out: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -f 6144; exec ./prog close"]).current_dir(built.folder.path());
        let output = shell.env("ORRERY_BIN", collector).env("ORRERY_OUT", out).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        said
    };
    // Nobody reads them, so none is filled again.
    let said = limited("/nonexistent/orrery", "alone.orrery");
    assert!(said.contains("recording ends early") && said.contains("what was recorded until here is kept"), "{said}");
    let alone = Trace::open(&built.path("alone.orrery.part")).references.len();
    assert!((120_000..140_000).contains(&alone), "{alone} references; {said}");
    // Those that the collector has read are: how many it reads in time is the machine's affair.
    let said = limited(ORRERY, "prog.orrery");
    let trace = built.trace("prog.orrery");
    let (reads, writes) = trace.counts()["cells"];
    assert!(reads == 0 && writes > 120_000, "{writes} writes; {said}");
    assert!(
        trace.references.len() >= alone,
        "{} references, {alone} without a collector; {said}",
        trace.references.len()
    );
}

#[test]
fn a_spool_that_was_left_is_converted_with_names() {
    if !has("gcc") {
        return;
    }
    let built = build("capture_matmul.c", &["-O1", "-DN=8"]);
    let output = built.command(&[]).env("ORRERY_BIN", "/nonexistent/orrery").output().unwrap();
    let said = sound(&output) + &String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no collector"), "{said}");
    let part = built.path("prog.orrery.part");
    let cut = std::fs::read(&part).unwrap();
    // Who asks for the trace is told where it is.
    let asked = orrery(&["stats"]).arg(built.path("prog.orrery")).output().unwrap();
    let told = String::from_utf8_lossy(&asked.stderr).into_owned();
    assert!(!asked.status.success() && told.contains("orrery convert") && told.contains("prog.orrery.part"), "{told}");
    sound(&orrery(&["convert"]).arg(&part).arg("-o").arg(built.path("whole.orrery")).output().unwrap());
    let whole = Trace::open(&built.path("whole.orrery")).counts();
    assert_eq!(whole.get("B"), Some(&(512, 64)));
    assert!(part.exists());
    // Cut in the middle of its chunk: what is there is read. Cut in the header: said. Not a program's: said.
    for (bytes, words) in [
        (65_536 + (cut.len() - 65_536) / 2, None),
        (65_536 + 640, None),
        (65_536, Some("no references")),
        (40, Some("ORRSPOOL")),
    ] {
        let path = built.path("cut.orrery.part");
        std::fs::write(&path, &cut[..bytes]).unwrap();
        let opened = trace::open(&path, None);
        match words {
            None => assert!(!opened.unwrap().is_empty(), "{bytes} bytes"),
            Some(_) => assert!(opened.is_err(), "{bytes} bytes"),
        }
    }
}

#[test]
fn threads_are_cores_and_each_keeps_its_order() {
    if !has("gcc") {
        return;
    }
    let built = build("capture_threads.c", &["-O1", "-pthread"]);
    sound(&built.run(&[]));
    let trace = built.trace("prog.orrery");
    assert_eq!(trace.counts().get("own"), Some(&(2 * 4 * 40_000, 2 * 4 * 40_000)));
    assert_eq!(trace.counts().get("all"), Some(&(2 * 4 * 40_000 + 1, 2 * 4 * 40_000)));
    let cores = trace.source.cores().unwrap();
    assert!((2..=9).contains(&cores), "{cores} cores: numbers of threads that ended are used again");
    // Each array was filled twice, front to back; each time by one thread.
    let own = trace.regions.iter().find(|r| r.name == "own").unwrap();
    for n in 0..4 {
        let base = own.base + n * 160_000;
        let writes: Vec<&Reference> = trace
            .references
            .iter()
            .filter(|r| r.kind == Kind::Write && (base..base + 160_000).contains(&r.addr))
            .collect();
        let expected = (0..2).flat_map(|_| (0..40_000).map(|i| base + 4 * i));
        assert!(writes.iter().map(|r| r.addr).eq(expected), "thread {n}");
        assert!(writes[..40_000].iter().all(|r| r.core == writes[0].core), "thread {n}");
    }
    // Variables of threads are where the threads have them: as many places as cores that worked.
    let atomics = trace.references.iter().filter(|r| r.kind == Kind::Modify && r.size == 8).count();
    assert_eq!(atomics, 2 * 4 * 40_000, "atomic additions");
}

#[test]
fn everything_with_a_name_is_called_by_it() {
    if !has("g++") {
        return;
    }
    for level in ["-O0", "-O1", "-O2"] {
        let built = build("capture_names.cpp", &[level]);
        sound(&built.run(&[]));
        let trace = built.trace("prog.orrery");
        let counts = trace.counts();
        eprintln!("{level}: {counts:?}");
        // A vector at a time at -O2.
        let stores = if level == "-O2" { 150 } else { 600 };
        assert_eq!(counts.get("heat"), Some(&(1, stores)), "{level}: paused stores are not there");
        let stored = counts.get("local").map_or(0, |c| c.1);
        // Four at a time where the loop is vectorised.
        assert!(stored == 50 || level == "-O2" && (13..=50).contains(&stored), "{level}: {counts:?}");
        // From -O1 on it is a constant.
        assert!(counts.contains_key("small") || level != "-O0", "{level}: {counts:?}");
        // 300 bytes are 5 or 6 pieces of lines (and a store of 4 bytes after rep stosq) where only one end matters, twice as
        // many where two do.
        let (text, copy) =
            (counts.get("text").copied().unwrap_or_default(), counts.get("copy").copied().unwrap_or_default());
        assert!((5..=7).contains(&text.1) && (5..=12).contains(&text.0), "{level}: {counts:?}");
        assert!(copy.1 == text.0 && copy.0 <= 1, "{level}: {counts:?}");
        let heat = trace.regions.iter().find(|r| r.name == "heat").unwrap();
        assert_eq!((heat.elem_bytes, heat.shape.as_slice()), (4, [20, 30].as_slice()));
        let marks: Vec<&str> = trace.source.tables().marks.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(marks, ["list", "copy"]);
        let nodes = ["list", "new at capture_names.cpp:2"];
        let lists: u64 =
            counts.iter().filter(|(n, _)| nodes.iter().any(|start| n.starts_with(start))).map(|(_, c)| c.1).sum();
        assert!((1000..=3000).contains(&lists), "{level}: {counts:?}");
        let files: Vec<&str> = trace.source.tables().locations.iter().map(|l| l.file.as_str()).collect();
        assert!(files.contains(&"capture_names.cpp"), "{files:?}");
    }
}

#[test]
fn a_block_is_named_where_it_is_kept() {
    if !has("gcc") {
        return;
    }
    for flags in [["-O0", "-no-pie"].as_slice(), &["-O1"], &["-O2"], &["-O2", "-static"]] {
        let built = build("capture_wrap.c", flags);
        sound(&built.run(&[]));
        let trace = built.trace("prog.orrery");
        let counts = trace.counts();
        eprintln!("{flags:?}: {counts:?}");
        for (name, stores, elem) in
            [("g->cells", 100, "float"), ("numbers", 70, "int"), ("sums", 50, "double"), ("zeros", 40, "long")]
        {
            assert_eq!(counts.get(name).map(|c| c.1), Some(stores), "{flags:?}: {name} in {counts:?}");
            let region = trace.regions.iter().find(|r| r.name == name).unwrap();
            assert!(region.elem_type.contains(elem), "{flags:?}: {name} of {}", region.elem_type);
            assert_eq!(region.bytes, stores * u64::from(region.elem_bytes), "{flags:?}: {name}");
        }
        assert!(counts.get("picture").is_some_and(|c| c.0 >= 1 && c.1 >= 2), "{flags:?}: {counts:?}");
    }
}

#[test]
fn clang_records_what_gcc_records() {
    if !has("clang") || !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let counts = |compiler: &str| {
        let name = format!("{compiler}.orrery");
        let mut command = orrery(&["cc", "-O0", "-o", compiler]);
        command.arg(Path::new(PROGRAMS).join("capture_matmul.c")).env("ORRERY_CC", compiler);
        sound(&command.current_dir(folder.path()).output().unwrap());
        let mut run = Command::new(folder.path().join(compiler));
        sound(&run.current_dir(folder.path()).env("ORRERY_OUT", &name).output().unwrap());
        Trace::open(&folder.path().join(name)).counts()
    };
    let (gcc, clang) = (counts("gcc"), counts("clang"));
    for name in ["A", "B", "C"] {
        assert!(gcc.contains_key(name) && gcc.get(name) == clang.get(name), "{name}: {gcc:?} {clang:?}");
    }
}

#[test]
fn fortran_arrays_have_their_names_and_order() {
    if !has("gfortran") {
        return;
    }
    let built = build("capture_multiply.f90", &["-O0"]);
    sound(&built.run(&[]));
    let trace = built.trace("prog.orrery");
    let counts = trace.counts();
    // random_number stores within the library, which is not recorded; sum reads c once.
    assert_eq!((counts.get("a"), counts.get("b")), (Some(&(4096, 0)), Some(&(4096, 0))), "{counts:?}");
    assert!(counts.get("c").is_some_and(|c| c.0 == 4096 + 256 && c.1 > 4096), "{counts:?}");
    let tables = trace.source.tables();
    let a = tables.regions.iter().find(|region| region.name == "a").unwrap();
    assert_eq!((a.shape.as_slice(), a.elem_bytes, a.row_major), (&[16, 16][..], 8, false));
    assert!(tables.locations.iter().any(|l| l.file.ends_with("capture_multiply.f90") && l.line == 13), "its lines");
}

#[test]
fn the_speed_of_a_multiplication() {
    if !has("gcc") {
        return;
    }
    let built = build("capture_matmul.c", &["-O1", "-DN=128"]);
    // `times` of the shell: user and system time of what it ran, which others on the machine do not add to.
    let timed = |variables: &[(&str, &str)]| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "./prog > /dev/null; times"]).current_dir(built.folder.path());
        let start = Instant::now();
        let output = shell.env_remove("ORRERY_OUT").envs(variables.iter().copied()).output().unwrap();
        let wall = start.elapsed().as_secs_f64();
        let text = sound(&output);
        let second = text.lines().nth(1).unwrap_or_default();
        let seconds = |t: &str| {
            t.split_once('m')
                .map(|(m, s)| 60.0 * m.parse::<f64>().unwrap() + s.trim_end_matches('s').parse::<f64>().unwrap())
        };
        let own: f64 = second.split_whitespace().filter_map(seconds).sum();
        (own, wall, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (_, whole, _) = timed(&[]);
    // Without a collector, a program waits for nobody.
    let (own, alone, said) = timed(&[("ORRERY_BIN", "/nonexistent/orrery"), ("ORRERY_OUT", "alone.orrery")]);
    assert!(said.contains("no collector") && said.contains("orrery convert"), "{said}");
    let references = built.trace("prog.orrery").references.len();
    eprintln!(
        "{references} references: {own:.3} s of the program's own time, {alone:.3} s by the clock, {whole:.3} s until its file was whole"
    );
    assert!(references > 4_200_000);
    assert!(own < 0.5, "{own} s");
    // What it left is the same trace.
    let part = Trace::open(&built.path("alone.orrery.part"));
    assert_eq!(part.references.len(), references);
}
