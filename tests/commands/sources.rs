//! Source files of a recorded program: told apart where two have one name, and found where they are.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::capture::{Folder, has, orrery, sound};
use std::fs;

#[test]
fn files_of_one_name_are_told_apart_and_found_in_their_folders() {
    if !has("gcc") {
        return;
    }
    let folder = Folder::new();
    let sum = |name: &str| {
        format!(
            "/* {name} */\nint {name}(const int *x, int n) {{\n  int s = 0;\n  for (int i = 0; i < n; i++) s += x[i];\n  return s;\n}}\n"
        )
    };
    for name in ["a", "b"] {
        fs::create_dir(folder.path(name)).unwrap();
        fs::write(folder.path(&format!("{name}/util.c")), sum(name)).unwrap();
    }
    let main = "int a(const int *, int), b(const int *, int);\nint x[4096];\nint main(void) { return a(x, 1000) + b(x, 2000); }\n";
    fs::write(folder.path("main.c"), main).unwrap();
    folder.build("gcc", &["-O1", "-g", "main.c", "a/util.c", "b/util.c", "-o", "sums"]);
    folder.run("sums", &[], "t.orrery");
    folder.trace("t.orrery");
    // Asked for from elsewhere: the trace knows where its sources were.
    let elsewhere = tempfile::tempdir().unwrap();
    let trace = folder.path("t.orrery");
    let said = |words: &[&str]| {
        let mut call = orrery(words);
        let output = call.arg(&trace).current_dir(elsewhere.path()).output().unwrap();
        sound(&output)
    };
    let all: serde_json::Value = serde_json::from_str(&said(&["annotate", "--json"])).unwrap();
    let of = |file: &str| {
        let found = all["files"].as_array().unwrap().iter().find(|row| row["file"] == file);
        found.map(|row| row["lines"].as_array().unwrap().iter().map(|line| line["references"].as_u64().unwrap()).sum())
    };
    assert_eq!((of("a/util.c"), of("b/util.c"), of("util.c")), (Some(1000), Some(2000), None), "{all:#}");
    let text = said(&["annotate"]);
    // Lines that refer to nothing are in no trace: they come from the files.
    for words in ["/* a */", "/* b */", "int s = 0;"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}
