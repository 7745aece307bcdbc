//! Programs that do what is hard to record: recorded or not, they end the same way, say the same, and their data is right; and
//! what was recorded is what they did. `scripts/capture-torture.sh` does the same more often and at every level.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::capture::{Folder, ORRERY, PROGRAMS, Trace, has, orrery, sound};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A program built twice.
struct Twice {
    folder: Folder,
}

/// What a recorded run left.
struct Run {
    output: Output,
    folder: Folder,
}

impl Twice {
    /// Compiles `source` plainly and by `orrery cc`, as `plain` and `recorded`.
    fn new(source: &str, flags: &[&str]) -> Self {
        let (folder, path) = (Folder::new(), Path::new(PROGRAMS).join(source));
        let (ours, plain) = if source.ends_with(".cpp") { ("c++", "g++") } else { ("cc", "gcc") };
        for (mut compiler, out) in [(Command::new(plain), "plain"), (orrery(&[ours]), "recorded")] {
            compiler.args(["-w", "-pthread"]).args(flags).arg(&path).arg("-o").arg(folder.path(out)).arg("-ldl");
            sound(&compiler.output().unwrap());
        }
        Self { folder }
    }

    /// Runs one of the two in a folder of its own, through `wrapper`.
    fn one(&self, name: &str, wrapper: &[&str], args: &[&str]) -> Run {
        let folder = Folder::new();
        let mut command = Command::new("timeout");
        command.arg("100").args(wrapper).arg(self.folder.path(name)).args(args).current_dir(folder.0.path());
        for name in ["ORRERY_OUT", "ORRERY_BIN", "ORRERY_LIMIT"] {
            command.env_remove(name);
        }
        Run { output: command.output().unwrap(), folder }
    }

    /// Both ways end and say the same; gives what was recorded.
    fn same(&self, args: &[&str]) -> Run {
        self.same_in(&[], args)
    }

    fn same_in(&self, wrapper: &[&str], args: &[&str]) -> Run {
        let (plain, ours) = (self.one("plain", wrapper, args), self.one("recorded", wrapper, args));
        let words = |run: &Run| String::from_utf8_lossy(&run.output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&ours.output.stderr).into_owned();
        let ends = |run: &Run| (run.output.status.code(), run.output.status.signal());
        assert_eq!((ends(&ours), words(&ours)), (ends(&plain), words(&plain)), "{args:?}: {errors}");
        ours
    }
}

impl Run {
    /// Names of the traces here, once all of them are whole.
    fn traces(&self) -> Vec<String> {
        let start = Instant::now();
        loop {
            let names = std::fs::read_dir(self.folder.0.path()).unwrap().map(|e| e.unwrap().file_name());
            let mut names: Vec<String> = names.map(|n| n.to_string_lossy().into_owned()).collect();
            if start.elapsed() > Duration::from_secs(20) || !names.iter().any(|n| n.ends_with(".part")) {
                names.retain(|n| n.ends_with(".orrery"));
                names.sort();
                return names;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// References to each region of a trace, each once.
    fn count(&self, trace: &str, region: &str) -> u64 {
        let trace = Trace::open(&self.folder.path(trace));
        let map = orrery::reference::RegionMap::new(&trace.regions);
        let named = |(r, n): (&orrery::reference::Reference, u64)| {
            map.find(r.addr, n).is_some_and(|i| trace.regions[i].name == region)
        };
        trace.references.iter().zip(0..).filter(|&pair| named(pair)).count() as u64
    }

    /// `expect REGION COUNT` of what the program says on standard error is what was recorded, to the last one.
    fn as_expected(&self) {
        self.traces();
        let said = String::from_utf8_lossy(&self.output.stderr);
        let mut any = false;
        for line in said.lines().filter_map(|l| l.strip_prefix("expect ")) {
            let (region, count) = line.split_once(' ').unwrap();
            assert_eq!(self.count("recorded.orrery", region), count.parse::<u64>().unwrap(), "{region}; {said}");
            any = true;
        }
        assert!(any, "{said}");
    }
}

/// Runs of each program with signals; the script makes 20.
fn runs() -> usize {
    std::env::var("ORRERY_TORTURE_RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

#[test]
fn handlers_may_come_at_any_instruction() {
    if !has("gcc") {
        return;
    }
    let program = Twice::new("torture_signals.c", &["-O1"]);
    for (mode, signals) in [
        ("timer", "60"),
        ("nested", "60"),
        ("nodefer", "1000"),
        ("storm", "2000"),
        ("swift", "5000"),
        ("long", "3"),
        ("altstack", "60"),
        ("jump", "60"),
        ("onstack", "60"),
        ("threads", "400"),
    ] {
        for _ in 0..runs() {
            let run = program.same(&[mode, signals]);
            // What siglongjmp leaves in the middle may be recorded or not.
            if !matches!(mode, "altstack" | "jump") {
                run.as_expected();
            }
            assert_eq!(run.traces(), ["recorded.orrery"], "{mode}");
        }
    }
    program.same(&["prof", "5"]).as_expected();
    program.same(&["overflow", "20"]);
}

/// A handler may come between the claim of a slot and its store, and fill many chunks before it returns; as a timer does whose
/// handlers follow each other on a busy machine.
#[test]
fn a_hook_that_waits_for_long_loses_nothing() {
    if !has("gcc") {
        return;
    }
    let program = Twice::new("torture_starved.c", &["-O1"]);
    let stepper = program.folder.path("stepper");
    let source = Path::new(PROGRAMS).join("stepper.c");
    sound(&Command::new("gcc").arg(source).arg("-o").arg(&stepper).output().unwrap());
    // Twenty chunks each; a hook has some thirty instructions.
    let run = program.same_in(&[stepper.to_str().unwrap()], &["60", "10000"]);
    run.traces();
    let stats = orrery(&["stats", "recorded.orrery", "--json"]).current_dir(run.folder.0.path()).output().unwrap();
    let stats: serde_json::Value = serde_json::from_slice(&stats.stdout).unwrap();
    let said = String::from_utf8_lossy(&run.output.stderr);
    for (region, count) in said.lines().filter_map(|l| l.strip_prefix("expect ")?.split_once(' ')) {
        let rows = stats["regions"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == region).unwrap();
        assert_eq!(row["references"].as_u64(), count.parse().ok(), "{region}");
    }
    assert_eq!(said.matches("expect ").count(), 2, "{said}");
    // A small limit is full before the hook goes on: its slot is given up, and recording is not.
    let small = program.same_in(&["env", "ORRERY_LIMIT=8M", stepper.to_str().unwrap()], &["10", "10000"]);
    let said = String::from_utf8_lossy(&small.output.stderr);
    assert!(said.contains("8 MiB") && !said.contains("ends early"), "{said}");
}

#[test]
fn optimised_code_bears_handlers_too() {
    if !has("gcc") {
        return;
    }
    let program = Twice::new("torture_signals.c", &["-O3", "-march=native"]);
    for _ in 0..runs() {
        program.same(&["timer", "60"]).as_expected();
        program.same(&["swift", "5000"]).as_expected();
        program.same(&["threads", "400"]).as_expected();
    }
}

#[test]
fn every_way_to_make_a_process_keeps_recordings_apart() {
    if !has("gcc") {
        return;
    }
    let program = Twice::new("torture_processes.c", &["-O1"]);
    // A child that has memory of its own has a file of its own.
    for mode in ["fork", "_Fork", "SYS_fork", "SYS_clone", "SYS_clone3", "raw-fork", "clone"] {
        let run = program.same(&[mode]);
        let traces = run.traces();
        assert_eq!(traces.len(), 2, "{mode}: {traces:?}");
        assert_eq!((run.count(&traces[0], "ours"), run.count(&traces[0], "theirs")), (0, 500), "{mode}: {traces:?}");
        assert_eq!((run.count(&traces[1], "ours"), run.count(&traces[1], "theirs")), (2000, 0), "{mode}: {traces:?}");
    }
    // One that has not records nothing, and its parent loses nothing.
    for mode in [
        "exit",
        "vfork",
        "vfork-exec",
        "vfork-fails",
        "many-vforks",
        "vfork-killed",
        "clone-vm",
        "clone-vfork",
        "clone-beside",
        "spawn",
        "system",
        "popen",
    ] {
        let run = program.same(&[mode]);
        assert_eq!(run.traces(), ["recorded.orrery"], "{mode}");
        let ours = if mode == "clone-beside" { 22_000 } else { 2000 };
        let counts = ["ours", "theirs"].map(|name| run.count("recorded.orrery", name));
        assert_eq!(counts, [ours, 0], "{mode}");
    }
    // Fifty of them, by system calls that stand in the program itself: nobody sees that these are no calls of the parent, whose thread,
    // stack and memory they have while it sleeps. They are recorded as its own, and it loses nothing.
    for mode in ["raw-vfork", "raw-clone-vfork"] {
        let run = program.same(&[mode]);
        assert_eq!(run.traces(), ["recorded.orrery"], "{mode}");
        let counts = ["ours", "theirs"].map(|name| run.count("recorded.orrery", name));
        assert_eq!(counts, [2000, 25_000], "{mode}");
    }
}

#[test]
fn a_child_that_lives_on_holds_nothing_up() {
    if !has("gcc") {
        return;
    }
    let program = Twice::new("torture_processes.c", &["-O1"]);
    let run = program.one("recorded", &[], &["lasting"]);
    let said = String::from_utf8_lossy(&run.output.stdout).into_owned();
    let child = said.lines().next().unwrap().to_owned();
    let lives = Path::new("/proc").join(&child).exists();
    sound(&Command::new("kill").args(["-s", "KILL", &child]).output().unwrap());
    assert!(lives && run.output.status.success(), "{said}");
    assert_eq!(run.count("recorded.orrery", "ours"), 2000);
    // A daemon's recording goes on in the child, and who started it is not kept waiting.
    let run = program.same(&["daemon"]);
    let start = Instant::now();
    while run.traces().len() < 2 && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let traces = run.traces();
    assert_eq!(run.count(&traces[1], "ours"), 1000, "{traces:?}");
    assert_eq!(run.count(&traces[0], "theirs"), 500, "{traces:?}");
}

#[test]
fn a_process_1_meets_no_child_but_its_own() {
    if !has("gcc") || !has("unshare") {
        return;
    }
    let program = Twice::new("torture_processes.c", &["-O1"]);
    let run = program.same(&["reaper"]);
    assert!(run.traces().contains(&"recorded.orrery".to_owned()));
    let namespace = ["unshare", "--user", "--map-root-user", "--pid", "--fork"];
    if !Command::new("unshare").args(&namespace[1..]).arg("true").output().unwrap().status.success() {
        eprintln!("skipped: no process namespaces here");
        return;
    }
    let run = program.same_in(&namespace, &["init"]);
    assert_eq!(String::from_utf8_lossy(&run.output.stdout), "init 7\n");
    assert_eq!(run.count("recorded.orrery", "ours"), 2000);
}

#[test]
fn a_disk_that_fills_up_is_told_of_and_never_filled() {
    let within = ["--user", "--map-root-user", "--mount"];
    if !has("gcc") || !has("unshare") {
        return;
    }
    // A disk of 24 MiB that nobody else sees. What is kept there is copied out of it before it goes.
    let script = "mount -t tmpfs -o size=24m none \"$1\" || exit 99; cd \"$1\"; \"$2\"; code=$?; cp recorded.orrery.part \"$3\"; \
                  df --output=avail -B1 . | tail -1 >&2; exit $code";
    let program = Twice::new("capture_matmul.c", &["-O1", "-DN=128"]);
    let (folder, kept) = (Folder::new(), Folder::new());
    let mut command = Command::new("unshare");
    command.args(within).args(["sh", "-c", script, "sh"]);
    command.arg(folder.0.path()).arg(program.folder.path("recorded")).arg(kept.path("kept.orrery.part"));
    // Nobody empties the spool.
    command.env("ORRERY_BIN", "/nonexistent/orrery").env_remove("ORRERY_OUT").env_remove("ORRERY_LIMIT");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(99) || said.contains("unshare") {
        eprintln!("skipped: no disk can be made here: {said}");
        return;
    }
    let plain = program.one("plain", &[], &[]).output;
    assert_eq!((output.status.code(), &output.stdout), (plain.status.code(), &plain.stdout), "{said}");
    assert!(said.contains("the disk has ") && said.contains(" MiB left; recording ends before it is full"), "{said}");
    assert!(
        said.contains("recording ends early (no space left on the disk); what was recorded until here is kept"),
        "{said}"
    );
    let free: u64 = said.lines().last().unwrap().trim().parse().unwrap();
    assert!(free >= (24 << 20) / 20, "a twentieth of the disk is left alone: {free} bytes are free");
    assert!(Trace::open(&kept.path("kept.orrery.part")).references.len() > 300_000, "{said}");
}

#[test]
fn threads_of_all_kinds() {
    if !has("gcc") {
        return;
    }
    let program = Twice::new("torture_threads.c", &["-O1"]);
    for mode in ["tiny", "tls", "many", "churn"] {
        program.same(&[mode]).as_expected();
    }
    program.same(&["cancel"]);
    let program = Twice::new("torture_parallel.c", &["-O2", "-fopenmp"]);
    program.same(&[]).as_expected();
}

#[test]
fn stacks_of_all_kinds() {
    if !has("g++") {
        return;
    }
    let program = Twice::new("torture_stacks.cpp", &["-O1", "-std=c++20"]);
    for mode in ["ucontext", "coroutines", "exceptions"] {
        program.same(&[mode]).as_expected();
    }
    program.same(&["unwind"]);
}

#[test]
fn libraries_recorded_or_not_are_loaded() {
    if !has("gcc") {
        return;
    }
    let program = Twice::new("torture_load.c", &["-O1"]);
    let part = Path::new(PROGRAMS).join("torture_part.c");
    for (mut compiler, out) in [(Command::new("gcc"), "plain.so"), (orrery(&["cc"]), "recorded.so")] {
        compiler.args(["-O1", "-shared", "-fPIC"]).arg(&part).arg("-o").arg(program.folder.path(out));
        sound(&compiler.output().unwrap());
    }
    let [plain, ours] = ["plain.so", "recorded.so"].map(|n| program.folder.path(n).to_string_lossy().into_owned());
    let run = program.one("recorded", &[], &[&plain, &ours]);
    assert_eq!(sound(&run.output), sound(&program.one("plain", &[], &[&plain, &plain]).output));
    run.as_expected();
}

#[test]
fn every_way_to_link_and_to_check() {
    if !has("gcc") {
        return;
    }
    for flags in [
        ["-O1", "-static"].as_slice(),
        &["-O1", "-static-pie"],
        &["-O2", "-flto"],
        &["-O1", "-fsanitize=address,undefined"],
        &["-O2", "-fcf-protection=full"],
        &["-O1", "-mcmodel=large", "-fno-pie", "-no-pie"],
        &["-O1", "-pg"],
    ] {
        let program = Twice::new("torture_load.c", flags);
        program.same(&[]).as_expected();
    }
    // Its shadow lies where a library may be mapped, so that a plain program ends now and then too: not where places are always the same.
    let fixed = ["setarch", "-R"];
    if Command::new(fixed[0]).args([fixed[1], "true"]).status().is_ok_and(|status| status.success()) {
        let program = Twice::new("torture_threads.c", &["-O1", "-fsanitize=thread"]);
        program.same_in(&fixed, &["tls"]).as_expected();
    } else {
        eprintln!("skipped: places of a program cannot be fixed here, which the thread sanitizer needs");
    }
}

#[test]
fn a_build_in_parallel_is_recorded() {
    if !has("gcc") || !has("make") {
        return;
    }
    let parts = 1..=8;
    let folder = Folder::new();
    let write = |name: &str, text: &str| std::fs::write(folder.path(name), text).unwrap();
    for n in parts.clone() {
        let fill = format!("for (int i = 0; i < 64; i++) t{n}[i] = i;");
        let sum = format!("int s = 0; for (int i = 0; i < 64; i++) s += t{n}[i]; return s;");
        write(&format!("f{n}.c"), &format!("volatile int t{n}[64]; int f{n}(void) {{ {fill} {sum} }}"));
    }
    let join = |each: &dyn Fn(i32) -> String, by: &str| parts.clone().map(each).collect::<Vec<_>>().join(by);
    let declared = join(&|n| format!("int f{n}(void);"), "\n");
    let called = join(&|n| format!("f{n}()"), " + ");
    write("main.c", &format!("{declared}\n#include <stdio.h>\nint main(void) {{ printf(\"%d\\n\", {called}); }}"));
    let objects = join(&|n| format!("f{n}.o"), " ");
    write("Makefile", &format!("prog: main.o {objects}\n\t$(CC) $^ -o $@\n"));
    let compiler = format!("{ORRERY} cc");
    // All at once, the first of which finds no library of ours built for this compiler.
    let cache = folder.path("cache");
    let mut make = Command::new("make");
    make.args(["-s", "-j8", "CFLAGS=-O1", &format!("CC={compiler}")]).current_dir(folder.0.path());
    sound(&make.env("XDG_CACHE_HOME", &cache).output().unwrap());
    let run = Command::new(folder.path("prog")).current_dir(folder.0.path()).output().unwrap();
    assert_eq!(sound(&run), format!("{}\n", 8 * 63 * 32));
    let trace = Trace::open(&folder.path("prog.orrery"));
    let map = orrery::reference::RegionMap::new(&trace.regions);
    for n in parts {
        let name = format!("t{n}");
        let named = |(r, at): &(&orrery::reference::Reference, u64)| {
            map.find(r.addr, *at).is_some_and(|i| trace.regions[i].name.split('[').next() == Some(&name))
        };
        assert_eq!(trace.references.iter().zip(0..).filter(named).count(), 128, "{name}");
    }
}

#[test]
fn rights_that_the_user_does_not_have_record_nothing() {
    if !has("gcc") || !has("setpriv") {
        return;
    }
    let program = Twice::new("torture_load.c", &["-O1"]);
    let path = program.folder.path("recorded");
    let id = sound(&Command::new("id").arg("-u").output().unwrap());
    let open = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    if id.trim() != "0" {
        eprintln!("skipped: only root can make a program of another user's that sets its rights");
        return;
    }
    // Another user's program, run by a third.
    std::os::unix::fs::chown(&path, Some(65_534), Some(65_534)).unwrap();
    open(program.folder.0.path(), 0o755);
    open(&path, 0o4755);
    let folder = Folder::new();
    open(folder.0.path(), 0o777);
    let trap = folder.path("trap");
    folder.write("trap", "#!/bin/sh\ntouch \"$(dirname \"$0\")/sprung\"\n");
    open(&trap, 0o755);
    let mut command = Command::new("setpriv");
    command.args(["--reuid=1000", "--regid=1000", "--clear-groups"]).arg(&path).current_dir(folder.0.path());
    command.env("ORRERY_BIN", &trap).env("ORRERY_OUT", folder.path("out.orrery"));
    let output = command.output().unwrap();
    let said = sound(&output);
    assert_eq!(said.lines().filter(|l| l.starts_with("orrery: ")).count(), 1, "{said}");
    assert!(said.contains("set-user-ID") && said.contains("nothing is recorded"), "{said}");
    let left: Vec<_> = std::fs::read_dir(folder.0.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["trap"], "{said}");
}

/// The references to each array, thread by thread, are those of its sweeps, in order.
fn in_order(run: &Run, arrays: u64) {
    const CELLS: u64 = 1 << 16;
    const SWEEPS: u64 = 40;
    run.traces();
    let trace = Trace::open(&run.folder.path("recorded.orrery"));
    let cells = trace.regions.iter().find(|region| region.name == "cells").expect("the array has a name");
    let mut next = [(None, 0); 3];
    let within = |addr: u64| addr.checked_sub(cells.base).map(|at| at / 4).filter(|at| *at < 3 * CELLS);
    let written = trace.references.iter().filter(|r| r.kind == orrery::reference::Kind::Write);
    for (reference, cell) in written.filter_map(|r| Some((r, within(r.addr)?))) {
        let (core, count) = &mut next[usize::try_from(cell / CELLS).unwrap()];
        assert_eq!(*core.get_or_insert(reference.core), reference.core, "one thread an array");
        assert_eq!(cell % CELLS, *count % CELLS, "write {count} of array {}", cell / CELLS);
        *count += 1;
    }
    let counts: Vec<u64> = next.iter().map(|(_, count)| *count).collect();
    let expected: Vec<u64> = (0..3).map(|array| if array < arrays { SWEEPS * CELLS } else { 0 }).collect();
    assert_eq!(counts, expected);
}

#[test]
fn chunks_that_were_read_are_filled_again() {
    if !has("gcc") {
        return;
    }
    let program = Twice::new("round.c", &["-O1"]);
    in_order(&program.same(&[]), 3);
    let waits = program.same(&["wait"]);
    in_order(&waits, 1);
    // 40 chunks were recorded; those that the collector has read come first.
    let said = String::from_utf8_lossy(&waits.output.stderr);
    let bytes: u64 = said.lines().find_map(|line| line.strip_suffix(" bytes")?.parse().ok()).expect("the size is told");
    assert!(bytes < 20 << 20, "{said}");
    // A collector that comes late finds all of them; from then on they go round.
    let late = program.folder.path("late");
    program.folder.write("late", &format!("#!/bin/sh\nsleep 1\nexec {} \"$@\"\n", ORRERY));
    std::fs::set_permissions(&late, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for args in [&[][..], &["wait"]] {
        let folder = Folder::new();
        let mut command = Command::new(program.folder.path("recorded"));
        command.args(args).current_dir(folder.0.path()).env("ORRERY_BIN", &late);
        let run = Run { output: command.env_remove("ORRERY_OUT").env_remove("ORRERY_LIMIT").output().unwrap(), folder };
        sound(&run.output);
        in_order(&run, if args.is_empty() { 3 } else { 1 });
    }
}

#[test]
fn the_spool_stays_below_its_limit() {
    if !has("gcc") {
        return;
    }
    let run = |program: &Twice, args: &[&str], limit: &str, binary: Option<&str>| {
        let folder = Folder::new();
        let mut command = Command::new(program.folder.path("recorded"));
        command.args(args).current_dir(folder.0.path()).env("ORRERY_LIMIT", limit);
        command.env_remove("ORRERY_OUT").env_remove("ORRERY_BIN");
        if let Some(binary) = binary {
            command.env("ORRERY_BIN", binary);
        }
        Run { output: command.output().unwrap(), folder }
    };
    // With a collector the program waits, and nothing is lost. This one begins late.
    let multiply = Twice::new("capture_matmul.c", &["-O1", "-DN=128"]);
    let late = multiply.folder.path("late");
    multiply.folder.write("late", &format!("#!/bin/sh\nsleep 1\nexec {} \"$@\"\n", ORRERY));
    std::fs::set_permissions(&late, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let whole = run(&multiply, &[], "8M", late.to_str());
    let said = sound(&whole.output);
    assert!(said.contains("8 MiB") && said.contains("ORRERY_LIMIT"), "{said}");
    assert_eq!(whole.count("recorded.orrery", "B"), 128 * 128 * 129);
    // A thread that sleeps does not keep what others recorded from being collected.
    let threads = Twice::new("torture_threads.c", &["-O1"]);
    let run_with_sleeper = run(&threads, &["idle"], "8M", late.to_str());
    assert!(sound(&run_with_sleeper.output).contains("8 MiB"));
    run_with_sleeper.as_expected();
    // Chunks without a reference make room again, too.
    let allocations = run(&Twice::new("allocations.c", &["-O1"]), &[], "8M", None);
    let said = sound(&allocations.output);
    assert!(!said.contains("ends early"), "{said}");
    assert_eq!(allocations.count("recorded.orrery", "cells"), 1024 + 1);
    // More threads than it has chunks, none of which ends: each records into its own one again.
    let busy = run(&threads, &["busy", "40"], "8M", None);
    let said = sound(&busy.output);
    assert!(said.contains("8 MiB") && !said.contains("ends early"), "{said}");
    busy.as_expected();
    // With none there is nobody to wait for: the recording ends there, whole, and the program goes on.
    let ended = run(&multiply, &[], "8M", Some("/nonexistent/orrery"));
    let said = sound(&ended.output);
    assert!(said.contains("recording ends early"), "{said}");
    let plain = multiply.one("plain", &[], &[]).output;
    assert_eq!((ended.output.status.code(), &ended.output.stdout), (plain.status.code(), &plain.stdout));
    let part = ended.folder.path("recorded.orrery.part");
    let length = std::fs::metadata(&part).unwrap().len();
    assert!((6 << 20..=9 << 20).contains(&length), "{length} bytes");
    assert!(Trace::open(&part).references.len() > 300_000);
    let wrong = run(&threads, &["tls"], "plenty", None);
    assert!(sound(&wrong.output).contains("ORRERY_LIMIT is no size"), "{:?}", wrong.output);
}
