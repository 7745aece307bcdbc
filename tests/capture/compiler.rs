//! `orrery cc` as a compiler: its arguments, its exit code, the library it links, and which compiler it calls.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::capture::{ORRERY, Trace, cache, has, orrery, sound};
use orrery::reference::Kind;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn a_missing_compiler_is_named_with_its_package() {
    for (command, variable, package) in
        [("cc", "ORRERY_CC", "gcc"), ("c++", "ORRERY_CXX", "g++"), ("fortran", "ORRERY_FC", "gfortran")]
    {
        let output = orrery(&[command, "x.c"]).env(variable, "no-such-compiler").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("no-such-compiler") && said.contains(package) && said.contains("install"), "{said}");
    }
}

#[test]
fn the_compiler_keeps_its_arguments_and_its_exit_code() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("part.c", "volatile int table[64]; int part(int n) { table[n] = n; return table[n] + 1; }\n");
    write("main.c", "int part(int); int main(void) { return part(3) - 4; }\n");
    write("wrong.c", "int main(void) { return x; }\n");
    write("options", "-O1 -c part.c -o part.o\n");
    let cc = |args: &[&str]| orrery(&["cc"]).args(args).current_dir(folder.path()).output().unwrap();
    let wrong = cc(&["wrong.c"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("wrong.c:1"), "{wrong:?}");
    assert!(sound(&cc(&["--version"])).contains("gcc"));
    sound(&cc(&["@options"]));
    sound(&cc(&["-shared", "-fPIC", "-O1", "part.c", "-o", "libpart.so"]));
    sound(&cc(&["-O2", "-S", "main.c"]));
    sound(&cc(&["-pipe", "-c", "main.c"]));
    for (out, args) in [
        ("objects", ["main.o", "part.o"].as_slice()),
        ("static", &["-static", "main.s", "part.c"]),
        ("shared", &["main.c", "-L.", "-lpart", "-Wl,-rpath,$ORIGIN"]),
        ("lto", &["-flto", "-O2", "main.c", "part.c"]),
        ("bare", &["-g0", "-fno-asynchronous-unwind-tables", "-fno-plt", "main.c", "part.c"]),
    ] {
        sound(&cc(&[args, &["-o", out]].concat()));
        let mut run = Command::new(folder.path().join(out));
        assert!(run.current_dir(folder.path()).env_remove("ORRERY_OUT").status().unwrap().success(), "{out}");
        let trace = Trace::open(&folder.path().join(format!("{out}.orrery")));
        let stores = trace.references.iter().filter(|r| r.kind == Kind::Write && r.size == 4).count();
        assert_eq!(stores, 1, "{out}: {:?}", trace.references);
        let named = trace.counts().contains_key("table");
        assert!(named, "{out}: {:?}", trace.regions);
    }
}

#[test]
fn a_compiler_that_names_another_assembler_first_records_all_the_same() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    // As compilers that were unpacked beside those of the system are called.
    let system = sound(&Command::new("gcc").arg("-print-prog-name=as").output().unwrap());
    let system = Command::new("sh").args(["-c", "command -v \"$0\"", system.trim()]).output().unwrap();
    std::os::unix::fs::symlink(sound(&system).trim(), folder.path().join("as")).unwrap();
    write("compiler", &format!("#!/bin/sh\nexec gcc -B{}/ \"$@\"\n", folder.path().display()));
    let compiler = folder.path().join("compiler");
    std::fs::set_permissions(&compiler, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    write("part.c", "volatile int table[64]; int part(int n) { table[n] = n; return table[n] + 1; }\n");
    write("main.c", "int part(int); int main(void) { return part(3) - 4; }\n");
    write("text.s", ".globl put\nput:\n\tmovl $1, table(%rip)\n\tret\n");
    write("puts.c", "void put(void); int part(int); int main(void) { put(); return part(3) - 4; }\n");
    for (out, args, stores) in [
        ("plain", ["main.c", "part.c"].as_slice(), 1),
        ("pipe", &["-pipe", "-O2", "main.c", "part.c"], 1),
        ("lto", &["-flto", "-O2", "main.c", "part.c"], 1),
        ("assembler", &["-O1", "puts.c", "part.c", "text.s"], 2),
    ] {
        let mut cc = orrery(&["cc"]);
        cc.env("ORRERY_CC", &compiler).args(args).args(["-o", out]).current_dir(folder.path());
        sound(&cc.output().unwrap());
        let mut run = Command::new(folder.path().join(out));
        assert!(run.current_dir(folder.path()).env_remove("ORRERY_OUT").status().unwrap().success(), "{out}");
        let trace = Trace::open(&folder.path().join(format!("{out}.orrery")));
        let map = orrery::reference::RegionMap::new(&trace.regions);
        let table = |(r, at): &(&orrery::reference::Reference, u64)| {
            r.kind == Kind::Write && map.find(r.addr, *at).is_some_and(|i| trace.regions[i].name.starts_with("table"))
        };
        assert_eq!(trace.references.iter().zip(0..).filter(table).count(), stores, "{out}");
    }
}

#[test]
fn the_recording_library_compiles_without_a_warning() {
    if !has("gcc") {
        return;
    }
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("capture");
    for file in
        ["runtime.c", "windows.c", "open.c", "alloc.c", "ranges.c", "modules.c", "library.c", "hooks.S", "processes.S"]
    {
        let flags = ["-Wall", "-Wextra", "-Werror", "-O2", "-D_GNU_SOURCE", "-mgeneral-regs-only", "-fno-builtin"];
        sound(
            &Command::new("gcc")
                .args(flags)
                .args(["-c", file, "-o", "/dev/null"])
                .current_dir(&library)
                .output()
                .unwrap(),
        );
    }
    // A program that was not built by orrery cc needs nothing of it.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("prog");
    let mut gxx = Command::new("gcc");
    gxx.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-std=c99", "-x", "c", "-", "-o"])
        .arg(&program)
        .arg("-I")
        .arg(&library);
    let mut child = gxx.stdin(Stdio::piped()).spawn().unwrap();
    let text = "#include <orrery.h>\nint main(void) { int a[4]; orrery_region(\"a\", a, sizeof *a, 4, 1); orrery_mark(\"m\"); \
                orrery_pause(); orrery_resume(); return 0; }\n";
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(Command::new(&program).current_dir(folder.path()).status().unwrap().success());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_compiler_that_is_this_program_is_passed_over() {
    if !has("gcc") {
        return;
    }
    // make CC='copy cc' tells its children of CC; through another program too.
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    std::fs::copy(ORRERY, &copy).unwrap();
    let called = |variable: &str, value: String| {
        // Should each call the next, all of them end here.
        let mut command = Command::new("timeout");
        command.args(["-k", "1", "20"]).arg(&copy).args(["cc", "--version"]).env("XDG_CACHE_HOME", cache());
        command.env_remove("CC").env_remove("ORRERY_CC").env(variable, value).output().unwrap()
    };
    for words in ["", "env ", "nice -n 0 "] {
        let command = format!("{words}{} cc", copy.display());
        // Nobody but a build names us; `nice` has an argument before us, so it is asked, and we say no.
        let output = called("CC", command);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if words.contains('-') {
            assert!(
                !output.status.success() && said.contains("calls orrery again") && said.contains("ORRERY_CC"),
                "{said}"
            );
        } else {
            assert!(sound(&output).contains("gcc"));
        }
    }
    let script = folder.path().join("compiler");
    std::fs::write(&script, format!("#!/bin/sh\nexec {} cc \"$@\"\n", copy.display())).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for variable in ["CC", "ORRERY_CC"] {
        let output = called(variable, script.display().to_string());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("{variable}={} calls orrery again", script.display())), "{said}");
        assert!(said.contains("--version fails") && said.lines().count() < 6, "{said}");
    }
}
