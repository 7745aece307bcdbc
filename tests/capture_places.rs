//! Names of what shares a place: libraries loaded one after the other, arrays of blocks in one slot of a stack frame.
#![cfg(all(feature = "cli", target_os = "linux", target_arch = "x86_64"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod capture_common;

use capture_common::{Folder, has};
use std::collections::BTreeMap;
use std::process::Command;

/// Loads each library that it is told, calls its `run`, and unloads it.
const LOADER: &str = "#include <dlfcn.h>\n#include <stdio.h>\nint own[16];\n\
    int main(int c, char **v) { for (int k = 1; k < c; k++) { void *h = dlopen(v[k], RTLD_NOW);\n\
    if (!h) { puts(dlerror()); return 3; } int (*f)(int) = (int (*)(int))dlsym(h, \"run\"); own[k] += f(100 * k);\n\
    printf(\"%p \", (void *)f); dlclose(h); } printf(\"%d\\n\", own[1]); return 0; }\n";

fn library(array: &str) -> String {
    format!(
        "static {array}[32]; int run(int n) {{ for (int i = 0; i < n; i++) {0}[i % 32] += i; return (int){0}[3]; }}\n",
        { array.split(' ').next_back().unwrap() }
    )
}

#[test]
fn libraries_that_come_and_go_are_named_by_who_is_there() {
    if !has("gcc") {
        return;
    }
    let folder = Folder::new();
    folder.write("main.c", LOADER);
    folder.write("locals", "{ global: run; local: *; };\n");
    for (name, array, flags) in [
        ("alpha", "int alpha", ["-shared"].as_slice()),
        // Links that bind a library's symbols to its own, or hide them, or allow none that is not there.
        ("beta", "long beta", &["-shared", "-Wl,-Bsymbolic", "-Wl,--version-script=locals", "-Wl,-z,defs"]),
        ("gamma", "int alpha", &["-shared"]),
    ] {
        folder.write(&format!("{name}.c"), &library(array));
        let (source, out) = (format!("{name}.c"), format!("{name}.so"));
        let said = folder.build("gcc", &[flags, &["-O1", "-fPIC", &source, "-o", &out]].concat());
        assert_eq!(said, "");
    }
    assert_eq!(folder.build("gcc", &["-O1", "main.c", "-o", "main"]), "");
    let libraries = ["./alpha.so", "./beta.so", "./alpha.so", "./gamma.so"];
    let said = folder.run("main", &libraries, "main.orrery");
    let places: Vec<&str> = said.split_whitespace().take(4).collect();
    assert_eq!(places[0], places[2], "the case that this tests: one place, several libraries; {said}");
    let trace = folder.trace("main.orrery");
    let counts = trace.counts();
    // A library that is loaded again where others were is another array: it begins with zeros.
    let expect = [
        ("alpha.so:alpha", (100 + 1, 100)),
        ("alpha.so:alpha #2", (300 + 1, 300)),
        ("beta", (200 + 1, 200)),
        ("gamma.so:alpha", (400 + 1, 400)),
    ];
    for (name, count) in expect {
        assert_eq!(counts.get(name), Some(&count), "{name}: {counts:?}");
    }
    // Each instruction stands for itself, also where another stood at its address.
    let files: BTreeMap<u64, &str> = trace.source.tables().locations.iter().map(|l| (l.pc, &*l.file)).collect();
    assert!(trace.references.iter().all(|r| files.contains_key(&r.pc)), "an instruction without a line");
    let of =
        |file: &str| trace.references.iter().filter(|r| files.get(&r.pc).is_some_and(|f| f.ends_with(file))).count();
    assert_eq!([of("alpha.c"), of("beta.c"), of("gamma.c")], [402, 201, 401]);

    // In a program that does not record, a library that could is as any other.
    let plain = Command::new("gcc").args(["main.c", "-o", "plain"]).current_dir(folder.0.path()).status().unwrap();
    assert!(plain.success());
    let before = std::fs::read_dir(folder.0.path()).unwrap().count();
    let said = folder.run("plain", &libraries, "plain.orrery");
    assert_eq!(said.split_whitespace().count(), libraries.len() + 1, "{said}");
    assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), before, "nothing is recorded");
}

#[test]
fn arrays_of_blocks_in_one_slot_have_each_its_name() {
    if !has("gcc") {
        return;
    }
    let folder = Folder::new();
    folder.write(
        "blocks.c",
        "int volatile sink;\n\
         __attribute__((noinline)) void fill(void *p, int n) { char *c = p; for (int i = 0; i < n; i++) c[i] = i; }\n\
         __attribute__((noinline)) int work(int n) { int whole[8];\n\
           for (int i = 0; i < 8; i++) whole[i] = n + i;\n\
           { int first[100]; for (int i = 0; i < 100; i++) first[i] = i * n; sink = first[n] + whole[n]; }\n\
           { double second[50]; fill(second, 400); for (int i = 0; i < 50; i++) second[i] = i + n; sink = (int)second[n]; }\n\
           return whole[n]; }\n\
         int main(void) { return work(3) + work(4) == 0; }\n",
    );
    for level in ["-O0", "-O1"] {
        assert_eq!(folder.build("gcc", &[level, "-fno-tree-vectorize", "blocks.c", "-o", "prog"]), "");
        folder.run("prog", &[], "prog.orrery");
        let trace = folder.trace("prog.orrery");
        let counts = trace.counts();
        let region = |name: &str| trace.regions.iter().find(|r| r.name == name).unwrap_or_else(|| panic!("{counts:?}"));
        let (first, second) = (region("first"), region("second"));
        assert_eq!(first.base, second.base, "{level}: the case that this tests: one slot");
        assert_eq!((first.declaration(), second.declaration()), ("first[100]".into(), "second[50]".into()));
        for (names, writes) in [(["first", "first #2"], 100), (["second", "second #2"], 450)] {
            for name in names {
                assert_eq!(counts.get(name), Some(&(1, writes)), "{level}: {name} in {counts:?}");
            }
        }
        assert!(counts.get("whole").is_some_and(|c| c.1 >= 8), "{level}: {counts:?}");
    }
}
