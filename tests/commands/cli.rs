//! The binary as a stranger meets it: wrong input gets a sentence that names place, finding and remedy, the right exit
//! code (1 failure, 2 usage), no panic, and nothing half-written under the final name.
#![cfg(feature = "cli")]
#![expect(clippy::print_stdout, reason = "a test's output is read when it fails")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const MATMUL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/traces/matmul16.orrery");

fn orrery(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orrery"));
    command.args(args).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    command
}

fn run(args: &[&str]) -> Output {
    orrery(args).stdin(Stdio::null()).output().expect("the binary starts")
}

fn run_with_input(args: &[&str], input: &[u8]) -> Output {
    let mut child = orrery(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A reader that fails early closes the pipe; that is its right.
    let _ = child.stdin.take().expect("piped").write_all(input);
    child.wait_with_output().expect("ends")
}

/// Asserts exit code and that standard error has every one of `words`, and neither a panic nor a bare debug form.
fn fails(output: &Output, code: i32, words: &[&str]) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is missing in:\n{text}");
    }
    assert!(!text.contains("panicked") && !text.contains("RUST_BACKTRACE"), "{text}");
    assert!(text.contains("error:"), "{text}");
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn file(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, bytes).expect("written");
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary paths are text")
}

#[cfg(feature = "gpu")]
pub(crate) fn adapter() -> bool {
    use orrery::render::{Context, context::Preference};
    let found = Context::headless(Preference::Software).is_ok();
    assert!(found || std::env::var_os("REQUIRE_ADAPTER").is_none(), "no adapter");
    if !found {
        println!("skipped: no adapter");
    }
    found
}

#[test]
fn stats_prints_the_papers_numbers_as_json() {
    let output = run(&["stats", MATMUL, "--cache", "paper", "--json"]);
    assert!(output.status.success());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["trace"]["references"], 8448);
    let misses: Vec<_> = json["regions"].as_array().expect("a list").iter().map(|r| &r["misses"]["L1"]).collect();
    assert_eq!(misses, [544, 4096, 256]);
}

/// Reads of 8 bytes, `count` of them over `lines` lines of 64 bytes, as lackey tells them.
fn lackey(count: u64, lines: u64) -> Vec<u8> {
    (0..count).flat_map(|n| format!(" L {:x},8\n", 0x10_0000 + n % lines * 64).into_bytes()).collect()
}

#[test]
fn caches_are_chosen_by_what_is_touched_in_every_format_and_said() {
    let dir = folder();
    for (lines, name, sizes) in [(1000, "paper", "L1 512B"), (1100, "textbook", "L1 32KiB")] {
        let log = file(&dir, "t.log", &lackey(3000, lines));
        // Names of little, of nothing and of far more than is touched.
        let mut inputs = vec![log.clone()];
        for (n, bytes) in [64u64, 1 << 30].into_iter().enumerate() {
            let region = format!(r#"{{"regions":[{{"name":"A","base":1048576,"bytes":{bytes},"elem_bytes":8}}]}}"#);
            let tables = file(&dir, "tables.json", region.as_bytes());
            let native = dir.path().join(format!("t{n}.orrery"));
            let output = run(&["convert", text(&log), "-o", text(&native), "--tables", text(&tables)]);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            inputs.push(native);
        }
        let din = dir.path().join("t.din");
        assert!(run(&["convert", text(&log), "-o", text(&din)]).status.success());
        inputs.push(din);
        for input in inputs {
            let output = run(&["stats", text(&input), "--json"]);
            let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
            let caches = &json["caches"];
            assert_eq!(caches["name"], name, "{}: {caches}", input.display());
            assert!(caches["chosen"].as_str().is_some_and(|why| why.contains("64 KiB")), "{caches}");
            assert_eq!(caches["levels"][0]["name"], "L1");
            let table = run(&["stats", text(&input)]);
            let table = String::from_utf8_lossy(&table.stdout);
            assert!(table.contains(&format!("{name}: {sizes}")) && table.contains("--cache names others"), "{table}");
        }
    }
    // What is asked for needs no reason.
    let asked = run(&["stats", MATMUL, "--json", "--cache", "paper"]);
    let json: serde_json::Value = serde_json::from_slice(&asked.stdout).expect("JSON");
    assert_eq!((&json["caches"]["name"], json["caches"].get("chosen")), (&"paper".into(), None));
}

#[test]
fn help_teaches_by_example() {
    let output = run(&["--help"]);
    let help = String::from_utf8_lossy(&output.stdout);
    for word in ["Examples:", "orrery stats", "orrery record", "-1280x720", "lackey"] {
        assert!(help.contains(word), "`{word}` is missing in:\n{help}");
    }
}

#[test]
fn a_word_that_is_neither_command_nor_file_is_answered_with_the_nearest_command() {
    let dir = folder();
    for (word, nearest) in [("stat", "`orrery stats`"), ("recrod", "`orrery record`"), ("veiw", "`orrery view`")] {
        let output = orrery(&[word, MATMUL]).current_dir(dir.path()).output().expect("starts");
        fails(&output, 2, &[word, "did you mean", nearest]);
    }
    fails(&run(&["xyzzyx", MATMUL]), 2, &["xyzzyx", "no such command and no such file", "convert"]);
    // A file of that name is a trace.
    file(&dir, "stat", b"these are my notes\n");
    let output = orrery(&["stat"]).current_dir(dir.path()).output().expect("starts");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("did you mean"), "{output:?}");
    // What looks like the name of one is one that is not there.
    let gone = run(&["gone.orrery", "--size", "wide"]);
    assert!(!String::from_utf8_lossy(&gone.stderr).contains("did you mean"), "{gone:?}");
}

#[test]
fn wrong_traces() {
    let dir = folder();
    let unknown = file(&dir, "notes.txt", b"these are my notes\nnothing to see\n");
    fails(&run(&["stats", text(&unknown)]), 1, &["notes.txt"]);
    let empty = file(&dir, "empty", b"");
    fails(&run(&["stats", text(&empty)]), 1, &["empty"]);
    fails(&run(&["stats", text(&dir.path().join("gone.orrery"))]), 1, &["gone.orrery"]);
    fails(&run(&["stats", text(dir.path())]), 1, &[text(dir.path())]);
    fails(&run_with_input(&["stats", "-"], b""), 1, &["standard input"]);

    let whole = fs::read(MATMUL).expect("bundled");
    for part in [whole.len() / 2, whole.len() - 4, 100, 5] {
        let cut = file(&dir, "cut.orrery", &whole[..part]);
        fails(&run(&["stats", text(&cut)]), 1, &["cut.orrery"]);
    }
    // Forced to be what it is not.
    fails(&run(&["stats", MATMUL, "--format", "lackey"]), 1, &["matmul16.orrery"]);
}

#[test]
fn broken_lines_name_file_and_line() {
    let dir = folder();
    let broken = file(&dir, "prog.log", b" L 1000,8\n S 1008,8\n L xyz,8\n S 1010,8\n");
    fails(&run(&["stats", text(&broken)]), 1, &["prog.log", "3"]);
    let huge = file(&dir, "huge.log", b" L 1000,8\n L 1ffffffffffffffff,8\n");
    fails(&run(&["stats", text(&huge)]), 1, &["huge.log", "2"]);
    let zero = file(&dir, "zero.log", b" L 1000,8\n L 1008,0\n");
    fails(&run(&["stats", text(&zero)]), 1, &["zero.log", "2", "0"]);
    let wraps = file(&dir, "wraps.log", b" L 1000,8\n S fffffffffffffff8,64\n");
    fails(&run(&["stats", text(&wraps)]), 1, &["wraps.log", "2"]);
}

#[test]
fn the_ends_of_memory_and_huge_sizes_are_counted_not_feared() {
    // The last bytes of memory, the first, and a size of many lines.
    let log = b" L ffffffffffffffff,1\n S fffffffffffffff8,8\n L 0,4096\n";
    let output = run_with_input(&["stats", "-", "--json", "--l1", "4KiB,4,64"], log);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["trace"]["references"], 3);
    assert_eq!(json["levels"][0]["read_accesses"], 1 + 64);
    assert_eq!(json["levels"][0]["write_accesses"], 1);
}

#[test]
fn wrong_caches_name_the_field_and_what_is_allowed() {
    let dir = folder();
    let level = |body: &str| format!("name = \"x\"\n[[level]]\nname = \"L1\"\n{body}\n[memory]\nlatency = 100\n");
    let good = "size = \"4KiB\"\nline = 64\nways = 4\n";
    let cases: &[(&str, String, &[&str])] = &[
        ("line", level("size = \"4KiB\"\nline = 48\nways = 4"), &["line", "48"]),
        ("ways over size", level("size = \"128\"\nline = 64\nways = 4"), &["ways", "4"]),
        ("zero size", level("size = \"0\"\nline = 64\nways = 4"), &["size"]),
        ("zero ways", level("size = \"4KiB\"\nline = 64\nways = 0"), &["ways", "0"]),
        ("policy", level(&format!("{good}policy = \"lrru\"")), &["policy", "lrru", "lru"]),
        ("unknown key", level(&format!("{good}polcy = \"lru\"")), &["polcy", "policy"]),
        ("latency", level(&format!("{good}latency = 0")), &["latency"]),
        ("no level", "name = \"x\"\n".into(), &["level"]),
        ("nine levels", level(good) + &"[[level]]\nsize = \"4KiB\"\nline = 64\nways = 4\n".repeat(8), &["8"]),
        ("no TOML", "][".into(), &["cache.toml"]),
    ];
    for (what, toml, words) in cases {
        let path = file(&dir, "cache.toml", toml.as_bytes());
        let output = run(&["stats", MATMUL, "--cache", text(&path)]);
        println!("{what}: {}", String::from_utf8_lossy(&output.stderr));
        fails(&output, 2, words);
    }
    fails(&run(&["stats", MATMUL, "--cache", "papr"]), 2, &["papr", "paper"]);
    fails(&run(&["stats", MATMUL, "--l1", "32KB?,8"]), 2, &["--l1"]);
    fails(&run(&["stats", MATMUL, "--l3", "32KiB,8,64"]), 2, &["--l3"]);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child =
        orrery(&["stats", MATMUL, "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !text.contains("error"), "{text}");
}

#[test]
fn a_full_disk_is_told() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    for words in [&["stats", MATMUL][..], &["stats", MATMUL, "--json"], &["formats"], &["--help"], &["--version"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("there");
        let output = orrery(words).stdout(full).stderr(Stdio::piped()).output().expect("starts");
        fails(&output, 1, &["standard output cannot be written to", "space"]);
    }
}

#[cfg(feature = "gpu")]
mod pictures {
    use super::*;

    #[test]
    fn wrong_flags_are_usage_errors_and_write_nothing() {
        let dir = folder();
        let out = dir.path().join("f.png");
        let clip = dir.path().join("f.mp4");
        let (png, mp4) = (text(&out), text(&clip));
        for (args, words) in [
            (vec!["snapshot", MATMUL, "-o", png, "--size", "wide"], vec!["--size", "wide", "1280x720"]),
            (vec!["snapshot", MATMUL, "-o", png, "-4x4"], vec!["--size", "16"]),
            (vec!["snapshot", MATMUL, "-o", png, "--tick", "9000"], vec!["--tick", "8448"]),
            (vec!["snapshot", MATMUL, "-o", png, "--tick", "nan"], vec!["--tick"]),
            (vec!["snapshot", MATMUL, "-o", png, "--memory", "1MiB"], vec!["--memory", "16MiB or more"]),
            (vec!["snapshot", MATMUL, "-o", png, "--camera", "0,0,5000"], vec!["--camera 0,0,5000", "X,Y,ZOOM"]),
            (vec!["snapshot", MATMUL, "-o", png, "--camera", "1,2"], vec!["--camera 1,2"]),
            (vec!["snapshot", MATMUL, "-o", png, "--tail", "0"], vec!["--tail"]),
            (vec!["record", MATMUL, "-o", mp4, "-r", "0"], vec!["--output-framerate", "120"]),
            (vec!["record", MATMUL, "-o", mp4, "--speed", "-1"], vec!["--speed"]),
            (vec!["record", MATMUL, "-o", mp4, "--start-ref", "9", "--stop-ref", "9"], vec!["9", "8448"]),
            (vec!["record", MATMUL, "-o", mp4, "--stop-ref", "9000"], vec!["9000", "8448"]),
            (vec!["record", MATMUL, "-o", mp4, "--start-position", "1.5"], vec!["--start-position", "0 to 1"]),
            (vec!["record", MATMUL, "-o", "f.xyz"], vec!["f.xyz", ".mp4"]),
            (vec!["record", MATMUL, "-o", "f.png"], vec!["f.png", "%"]),
            (vec!["snapshot", MATMUL, "-o", "/dev/full"], vec!["/dev/full", "device"]),
            (vec!["demo", "nothing"], vec!["nothing", "matmul16"]),
            (vec!["snapshot", MATMUL, "-o", png, "--show", "A,BB"], vec!["--show", "`BB`", "A, B, C"]),
            (vec!["record", MATMUL, "-o", mp4, "--dim=Q*"], vec!["--dim", "`Q*`", "A, B, C"]),
            (vec!["record", MATMUL, "-o", mp4, "--color", "Q=#ffcc00"], vec!["--color", "`Q`", "A, B, C"]),
            (vec!["record", MATMUL, "-o", mp4, "--order", "B,Q"], vec!["--order", "`Q`", "A, B, C"]),
            (vec!["snapshot", MATMUL, "-o", png, "--color", "A=yellow"], vec!["--color", "`yellow`", "A=#ffcc00"]),
            (vec!["snapshot", MATMUL, "-o", png, "--color", "A=#ef3a10"], vec!["#ef3a10", "red of a miss (#ee3812)"]),
            (vec!["snapshot", MATMUL, "-o", png, "--dim"], vec!["--dim", "--show"]),
        ] {
            let output = run(&args);
            println!("{args:?}: {}", String::from_utf8_lossy(&output.stderr));
            fails(&output, 2, &words);
        }
        assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 0, "something was written");
    }

    #[test]
    fn a_missing_folder_is_named_and_nothing_is_left() {
        if !adapter() {
            return;
        }
        let dir = folder();
        let out = dir.path().join("gone/f.png");
        fails(&run(&["snapshot", MATMUL, "-o", text(&out), "-64x64"]), 1, &["gone/f.png", "folder"]);
        let clip = dir.path().join("gone/f.mp4");
        let args = ["record", MATMUL, "-o", text(&clip), "-64x64", "--stop-ref", "20", "--speed", "100"];
        fails(&run(&args), 1, &["gone"]);
        assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 0);
    }

    #[test]
    fn a_full_disk_behind_standard_output_is_told() {
        if !adapter() || !Path::new("/dev/full").exists() {
            return;
        }
        for args in [
            &["snapshot", MATMUL, "-o", "-", "-64x64"][..],
            &["record", MATMUL, "-o", "-", "-64x64", "--stop-ref", "20", "--speed", "100"],
        ] {
            let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("there");
            let output = orrery(args).stdout(full).stderr(Stdio::piped()).output().expect("starts");
            fails(&output, 1, &["space"]);
        }
    }

    #[test]
    fn a_snapshot_is_a_picture_of_the_asked_size_and_the_same_again() {
        if !adapter() {
            return;
        }
        let picture = || {
            let output = run(&["snapshot", MATMUL, "--tick", "2613.5", "-o", "-", "-320x180"]);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            output.stdout
        };
        let png = picture();
        let image = image::load_from_memory(&png).expect("a PNG").to_rgba8();
        assert_eq!(image.dimensions(), (320, 180));
        let ground = orrery::scene::palette::BACKGROUND;
        let drawn = image.pixels().filter(|p| p.0 != ground).count();
        assert!(drawn > 320 * 180 / 10, "hardly anything is drawn: {drawn} pixels");
        assert_eq!(png, picture());
    }

    #[test]
    fn a_picture_shows_the_regions_that_are_asked_for() {
        if !adapter() {
            return;
        }
        let picture = |flags: &[&str]| {
            let args = [&["snapshot", MATMUL, "-o", "-", "-320x320", "--hide", "regions,legend,strip"], flags].concat();
            let output = run(&args);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            image::load_from_memory(&output.stdout).expect("a PNG").to_rgba8()
        };
        let light = |flags: &[&str]| -> u64 {
            picture(flags).pixels().map(|p| p.0[..3].iter().map(|&c| u64::from(c)).sum::<u64>()).sum()
        };
        let (all, part, dim) = (light(&[]), light(&["--show", "A"]), light(&["--show", "A", "--dim"]));
        assert!(part < dim && dim < all, "{part} {dim} {all}");
        assert_eq!(picture(&["--show", "?"]), picture(&[]), "all of them");
        assert_eq!(picture(&["--dim=B,C"]), picture(&["--show", "A", "--dim"]));
        // Of A alone in pure yellow, much is pure yellow; without it, next to nothing is.
        let yellow = |flags: &[&str]| {
            let near = |p: &&image::Rgba<u8>| p.0[0].abs_diff(p.0[1]) < 12 && p.0[1] > 90 && p.0[2] < 60;
            picture(flags).pixels().filter(near).count()
        };
        let [plain, given] = [yellow(&["--show", "A"]), yellow(&["--show", "A", "--color", "A=#ffff00"])];
        assert!(given > 300 && plain * 20 < given, "{plain} pixels are yellow, {given} where A is");
        assert_eq!(picture(&["--color", "?=#a6b1f5,B=#ceffa5,C=#ffba05"]), picture(&[]), "the palette's own");
        // A frame of a film is as the still is.
        let dir = folder();
        let frame = |flags: &[&str]| {
            let out = dir.path().join("f%d.png");
            let range = ["--start-ref", "2600", "--stop-ref", "2601", "--seconds", "0.03"];
            let args = [
                &["record", MATMUL, "-o", text(&out), "-320x320", "--hide", "regions,legend,strip"],
                &range[..],
                flags,
            ];
            let output = run(&args.concat());
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            image::open(dir.path().join("f0.png")).expect("a PNG").to_rgba8()
        };
        let sum = |picture: &image::RgbaImage| -> u64 {
            picture.pixels().map(|p| p.0[..3].iter().map(|&c| u64::from(c)).sum::<u64>()).sum()
        };
        let [all, part, dim] = [&[][..], &["--show", "A"], &["--show", "A", "--dim"]].map(|flags| sum(&frame(flags)));
        assert!(part < dim && dim < all, "{part} {dim} {all}");
        assert_eq!(frame(&["--dim=B,C"]), frame(&["--show", "A", "--dim"]));
    }

    #[test]
    fn a_machine_without_a_session_hears_nothing_from_drivers() {
        if !adapter() {
            return;
        }
        let dir = folder();
        let out = dir.path().join("f.png");
        let mut command = orrery(&["snapshot", MATMUL, "-o", text(&out), "-64x64"]);
        let output = command.env_remove("XDG_RUNTIME_DIR").output().expect("starts");
        assert!(output.status.success() && out.exists());
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }

    #[test]
    fn no_driver_is_told_with_the_package_to_install() {
        let dir = folder();
        let out = dir.path().join("f.png");
        let output = orrery(&["snapshot", MATMUL, "-o", text(&out)])
            .env("VK_DRIVER_FILES", "/nonexistent.json")
            .env("VK_ICD_FILENAMES", "/nonexistent.json")
            .output()
            .expect("starts");
        fails(&output, 1, &["mesa-vulkan-drivers"]);
        assert!(!out.exists());
    }

    #[cfg(unix)]
    #[test]
    fn ctrl_c_while_recording_leaves_a_whole_file() {
        use std::time::{Duration, Instant};
        if !adapter() {
            return;
        }
        let dir = folder();
        let clip = dir.path().join("clip.mp4");
        // Far longer than the test: it ends by the signal.
        let args = ["record", MATMUL, "-o", text(&clip), "-320x180", "--speed", "1"];
        let mut child = orrery(&args).stderr(Stdio::piped()).spawn().expect("starts");
        std::thread::sleep(Duration::from_millis(2500));
        assert!(!clip.exists(), "an unfinished file has the final name");
        let pid = child.id().to_string();
        // Twice, one right after the other, as `timeout` does.
        for _ in 0..2 {
            assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
        }
        let begun = Instant::now();
        while child.try_wait().expect("ours").is_none() {
            assert!(begun.elapsed() < Duration::from_secs(60), "does not stop");
            std::thread::sleep(Duration::from_millis(50));
        }
        let left: Vec<_> = fs::read_dir(dir.path()).expect("there").map(|e| e.expect("entry").file_name()).collect();
        assert_eq!(left, ["clip.mp4"], "the clip and nothing else");
        let bytes = fs::read(&clip).expect("there");
        assert_eq!(&bytes[4..8], b"ftyp");
        assert!(bytes.windows(4).any(|w| w == b"moov"), "no index: not playable");
    }

    #[cfg(feature = "viewer")]
    #[test]
    fn no_display_is_told_with_what_works_without_one() {
        let output = run(&["view", MATMUL]);
        fails(&output, 1, &["DISPLAY", "record"]);
    }
}

/// A storyboard where a trace is expected is told as what it is, whether it is a file or bundled.
#[test]
fn a_storyboard_is_no_trace_and_says_what_plays_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::write(at.join("s.story.toml"), "title = \"t\"\n").expect("written");
    for name in ["s.story.toml", "story:hash-join"] {
        let words = [&format!("{name}: found a storyboard; expected a trace"), &format!("orrery record {name}")];
        let words = words.map(String::as_str);
        for command in ["stats", "analyze", "tasks", "convert -o x.csv", "compare lesson:matmul16"] {
            crate::calls::refused(at, &format!("{command} {name}"), 1, &words);
        }
    }
    assert!(!at.join("x.csv").exists());
}
