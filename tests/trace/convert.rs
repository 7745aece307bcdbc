//! `orrery convert`, as a user runs it.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use orrery::reference::{Kind, Mark};
use orrery::trace;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn convert(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orrery")).arg("convert").args(args).current_dir(folder).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const LOG: &str = "==1== Lackey\nI  401000,3\n S 3000,1\n L 1000,8\nI  401003,4\n L 9000,8\n S 1008,8\n S 3002,1\n\
                   hello\n L 1ff8,8\n S 3001,1\n L 1000,8\n";
const TABLES: &str = r#"{"title": "T", "start": 12288, "stop": 12289,
    "regions": [{"name": "A", "base": 4096, "bytes": 4096, "elem_bytes": 8}],
    "markers": [{"address": 12290, "name": "half"}]}"#;

#[test]
fn regions_and_marks_filter_and_name() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.log"), LOG).unwrap();
    fs::write(folder.path().join("t.json"), TABLES).unwrap();
    let output = convert(folder.path(), &["t.log", "-o", "t.orrery", "--tables", "t.json", "--only-regions"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stderr(&output);
    assert!(text.contains("warning: t.log: skipped 1 line"), "{text}");
    assert!(text.contains("t.orrery: 3 of 10 references, 1 region, ") && text.contains("1 mark"), "{text}");
    let source = trace::open(&folder.path().join("t.orrery"), None).unwrap();
    let all = source.chunk(0).unwrap();
    let seen: Vec<_> = all.iter().map(|r| (r.kind, r.addr, r.pc)).collect();
    assert_eq!(seen, [(Kind::Read, 0x1000, 0x401000), (Kind::Write, 0x1008, 0x401003), (Kind::Read, 0x1ff8, 0x401003)]);
    assert_eq!(source.tables().marks, [Mark { reference: 2, name: "half".into() }]);
    assert_eq!(source.tables().title, "T");

    // Again from the native file: its own tables stay.
    let output = convert(folder.path(), &["t.orrery", "-o", "u.orrery"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::read(folder.path().join("t.orrery")).unwrap(), fs::read(folder.path().join("u.orrery")).unwrap());
    // And onto itself.
    let output = convert(folder.path(), &["t.orrery", "-o", "t.orrery"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::read(folder.path().join("t.orrery")).unwrap(), fs::read(folder.path().join("u.orrery")).unwrap());
}

#[test]
fn source_lines_that_only_left_out_references_have_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let bundled = concat!(env!("CARGO_MANIFEST_DIR"), "/traces/matmul16.orrery");
    let lines = |args: &[&str]| {
        let output = convert(folder.path(), &[&[bundled, "-o", "t.orrery"], args].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let source = trace::open(&folder.path().join("t.orrery"), None).unwrap();
        source.tables().locations.iter().map(|l| l.line).collect::<Vec<_>>()
    };
    // A and B are read in the inner loop, in one line; C is written behind it.
    let all = lines(&[]);
    let [inner, after] = [all[0], all[all.len() - 1]];
    assert!(all.len() > 2 && inner < after, "{all:?}");
    assert_eq!(lines(&["--only", "C"]), [after]);
    assert_eq!(lines(&["--only", "A"]), [inner]);
}

#[test]
fn marks_on_the_command_line_and_standard_streams() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_orrery"))
        .args(["convert", "-", "-o", "-", "--between", "0x3000,0x3001"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(LOG.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let path = folder.path().join("t.orrery");
    fs::write(&path, &output.stdout).unwrap();
    // Loads at 1000, 9000 and 1ff8, stores at 1008 and 3002, one fetch.
    assert_eq!(trace::open(&path, None).unwrap().len(), 6);
}

#[test]
fn bad_input_ends_in_a_sentence_an_exit_code_and_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    put("t.log", LOG);
    put("broken.log", " L 10,1\n L zz,1\n");
    put("banner.log", "==1== Lackey\n");
    put("empty.log", "");
    put("text", "hello\n");
    put("cut.orrery", "PAR1abcdefgh");
    put("no.json", "{");
    put("list.json", "[\"title\"]");
    put("zero.json", r#"{"regions": [{"name": "A", "base": 0, "bytes": 0, "elem_bytes": 8}]}"#);
    put("high.json", r#"{"regions": [{"name": "A", "base": 18446744073709551615, "bytes": 2, "elem_bytes": 1}]}"#);
    put("far.json", r#"{"regions": [{"name": "A", "base": 64, "bytes": 8, "elem_bytes": 1}]}"#);
    put("key.json", r#"{"regions": [{"name": "A", "base": 0, "bytes": 8, "elem_bytes": 8, "shap": [1]}]}"#);
    for (args, code, words) in [
        (&["missing.log"][..], 1, &["missing.log", "cannot be opened", "No such file"][..]),
        (&["broken.log"], 1, &["broken.log:2", "L zz,1", "expected"]),
        (&["banner.log"], 1, &["banner.log", "no references", "--trace-mem=yes"]),
        (&["empty.log"], 1, &["empty.log", "empty file"]),
        (&["text"], 1, &["text", "hello", "expected a native"]),
        (&["cut.orrery"], 1, &["cut.orrery", "cut short"]),
        (&["t.log", "--tables", "no.json"], 1, &["no.json", "expected JSON"]),
        (&["t.log", "--tables", "list.json"], 1, &["list.json", "found no object of JSON", "expected {"]),
        (&["t.log", "--tables", "key.json"], 1, &["key.json", "unknown key `regions.0.shap`", "expected title"]),
        (&["t.log", "--tables", "missing.json"], 1, &["missing.json", "cannot be read"]),
        (&["t.log", "--tables", "zero.json"], 1, &["zero.json", "region `A` of 0 bytes"]),
        (&["t.log", "--tables", "high.json"], 1, &["high.json", "past the end of the address space"]),
        (&["t.log", "--tables", "far.json", "--only-regions"], 1, &["no references to write", "--only-regions"]),
        (&["t.log", "--only-regions"], 2, &["--only-regions", "--tables"]),
        (&["t.log", "--between", "0x1"], 2, &["--between", "0x1", "two addresses"]),
        (&["t.log", "--between", "0x1,0x2"], 1, &["0x1", "start mark"]),
        (&["t.log", "--program", "nothing"], 1, &["nothing", "cannot be read", "No such file"]),
        (&["t.log", "--program", "text"], 1, &["text", "68 65 6c 6c", "ELF executable"]),
        (&["t.log", "--format", "dinn"], 2, &["dinn", "lackey"]),
    ] {
        let mut all = args.to_vec();
        all.extend(["-o", "out.orrery"]);
        let output = convert(folder.path(), &all);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.starts_with("error: ") || text.contains("\nerror: "), "{args:?}: {text}");
        assert!(!text.contains("panicked"), "{args:?}: {text}");
        for word in words {
            assert!(text.contains(word), "{args:?}: no `{word}` in: {text}");
        }
        let left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .filter(|n| n.contains("out") || n.ends_with(".part"))
            .collect();
        assert!(left.is_empty(), "{args:?} left {left:?}");
    }
    let output = convert(folder.path(), &["t.log", "-o", "no/such/folder.orrery"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("no/such/folder.orrery") && stderr(&output).contains("does not exist; make it first")
    );
    #[cfg(target_os = "linux")]
    {
        let output = convert(folder.path(), &["t.log", "-o", "/dev/full"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("free space"), "{}", stderr(&output));
    }
}
