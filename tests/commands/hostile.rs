//! What comes from strangers: names that would act on a terminal, sizes that would take all memory, files that are damaged,
//! links and folders of others. Each has to end soon, in words that are seen and do nothing.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::regions::row;
use orrery::reference::{Kind, Mark, Reference, Region, SourceLocation, Tables};
use orrery::shown::acts;
use orrery::trace::native::FileWriter;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Clears the screen, sets the title, rings, returns, forges a row, turns the direction, hides, stacks.
const NASTY: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}a\r\nforged  1000000  0\u{202e}txt\u{2066}\u{200b}\u{2028}\u{2029}\u{9b}31m\u{85}\u{7f}\u{feff}z\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}";

struct Here(TempDir);

impl Here {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orrery"));
        command.args(words).current_dir(self.0.path()).stdin(Stdio::null()).env("XDG_CACHE_HOME", self.at("cache"));
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs, expects this exit code, and gives standard output and standard error, which must not act.
    fn seen(&self, code: i32, words: &[&str]) -> (String, String) {
        let output = self.run(words);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap_or_else(|_| panic!("{words:?}: no UTF-8"));
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert_eq!(output.status.code(), Some(code), "{words:?}\n{err}");
        for (n, c) in out.chars().chain(err.chars()).enumerate() {
            assert!(c == '\n' || !acts(c), "{words:?}: {c:?} at {n}\n{out:?}\n{err:?}");
        }
        assert!(!err.contains("panicked"), "{err}");
        (out, err)
    }

    /// Names left in the folder, hidden ones too.
    fn names(&self) -> Vec<String> {
        let mut all: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        all.sort();
        all
    }
}

fn region(name: &str, base: u64, bytes: u64) -> Region {
    Region { elem_type: NASTY.into(), ..row(name, base, 8, bytes / 8) }
}

/// 64 references to two regions, whose every word is hostile.
fn nasty() -> (Vec<Reference>, Tables) {
    let reference = |n: u64| Reference { pc: 0x10 + n % 2, ..Reference::new(Kind::Read, 0x1000 + 64 * n, 8) };
    let location = |pc| SourceLocation {
        path: String::new(),
        pc,
        file: NASTY.into(),
        line: 7,
        function: NASTY.into(),
        text: format!("{NASTY}{pc}"),
    };
    let tables = Tables {
        title: NASTY.into(),
        subtitle: NASTY.into(),
        regions: vec![region(NASTY, 0x1000, 2048), region(&format!("{NASTY}2"), 0x1800, 2048)],
        locations: vec![location(0x10), location(0x11)],
        marks: vec![Mark { reference: 3, name: NASTY.into() }],
        made_by: NASTY.into(),
    };
    ((0..64).map(reference).collect(), tables)
}

fn write(path: &Path, references: &[Reference], tables: &Tables) {
    let mut writer = FileWriter::create(path).unwrap();
    writer.write(references).unwrap();
    writer.finish(tables).unwrap();
}

#[test]
fn names_in_traces_are_seen_and_do_nothing() {
    let here = Here::new();
    let (references, tables) = nasty();
    // The file has such a name itself.
    let name = format!("{}.orrery", NASTY.replace('\0', ""));
    let trace = here.at(&name);
    write(&trace, &references, &tables);
    let trace = trace.to_str().unwrap();

    // Title, caches, empty, sum, empty, head, three levels' rows, memory, empty, head, two regions.
    let (plain, _) = here.seen(0, &["stats", trace, "--cache", "textbook"]);
    assert_eq!(plain.lines().count(), 14, "{plain}");
    assert!(!plain.lines().any(|line| line.starts_with("forged")), "{plain}");
    let (by_line, _) = here.seen(0, &["stats", trace, "--cache", "textbook", "--by-line"]);
    // Both instructions are of one line.
    assert_eq!(by_line.lines().count(), 14 + 1 + 1 + 1, "{by_line}");
    let widths: Vec<usize> = plain.lines().rev().take(3).map(orrery::shown::width).collect();
    assert!(widths.iter().all(|w| *w == widths[0]), "columns stand below each other: {widths:?}\n{plain}");

    // JSON has every sign, as an escape.
    let (json, _) = here.seen(0, &["stats", trace, "--json", "--by-line"]);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["regions"][0]["name"], NASTY);
    assert_eq!((&value["lines"][0]["file"], &value["lines"][0]["function"]), (&NASTY.into(), &NASTY.into()));

    // The other commands that print names: each table and sentence stays what it is, and JSON is exact.
    let (text, _) = here.seen(0, &["annotate", trace, "--cache", "textbook"]);
    assert!(!text.lines().any(|line| line.starts_with("forged")), "{text}");
    assert_eq!(text.lines().count(), 2 + 2 + 1 + 1 + 1, "caches, empty, head, all, empty, file, line: {text}");
    for words in [
        vec!["why", trace, "9", "--l1", "64,1,64"],
        vec!["analyze", trace, "--by", "region,line,function", "--cache", "textbook"],
        vec!["sweep", trace, "--l1", "1KiB,1,64", "--vary", "L1.ways=1,2"],
        vec!["sweep", trace, "--l1", "1KiB,1,64", "--vary", "L1.ways=1,2", "--csv"],
        vec!["compare", trace, "lesson:matmul16", "--l1", "64,1,64"],
        vec!["compare", trace, "lesson:matmul16", "--csv"],
        vec!["advise", trace, "--l1", "64,1,64"],
        vec!["chart", trace, "map", "-o", "-"],
        vec!["chart", trace, "displaced", "--l1", "64,1,64", "-o", "-"],
        vec!["report", trace, "--l1", "64,1,64", "-o", "-"],
    ] {
        let (text, _) = here.seen(0, &words);
        assert!(!text.is_empty() && !text.lines().any(|line| line.starts_with("forged")), "{words:?}: {text}");
    }
    let (json, _) = here.seen(0, &["analyze", trace, "--miss-ratio", "--by", "region", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["by"][0]["rows"][0]["name"], NASTY);
    for words in [
        vec!["analyze", trace, "--sets", "--level", NASTY],
        vec!["sweep", trace, "--vary", NASTY],
        vec!["sweep", trace, "--l1", "1KiB,1,64", "--vary", "L1.ways=\u{1b}[31m"],
        vec!["annotate", trace, "--file", "none\u{1b}[1m"],
        vec!["why", trace, "1\u{1b}"],
    ] {
        let (out, err) = here.seen(2, &words);
        assert!(out.is_empty() && err.starts_with("error"), "{words:?}: {err}");
        assert!(!err.lines().any(|line| line.starts_with("forged")), "{err}");
    }

    // What is said about names: lines of their own.
    for words in [
        vec!["convert", trace, "-o", "out\u{1b}[1m\n.lackey"],
        vec!["convert", trace, "-o", "out.orrery"],
        vec!["convert", trace, "-o", "out\u{202e}.csv", "--only", NASTY],
    ] {
        let (_, err) = here.seen(0, &words);
        assert!(err.lines().all(|line| line.starts_with("out") || line.starts_with("note: out")), "{err}");
    }
    let (_, tables_kept) = (here.seen(0, &["stats", "out.orrery"]), orrery::trace::open(&here.at("out.orrery"), None));
    assert_eq!(tables_kept.unwrap().tables().regions[0].name, NASTY, "what is written is exact");

    // Errors.
    fs::write(here.at(&format!("broken{name}")), "  L 1000,8\n L zz\u{1b}[31m,8\n").unwrap();
    let broken = format!("broken{name}");
    for (code, words) in [
        (2, vec!["stats", trace, "--cache", NASTY]),
        (2, vec!["stats", trace, "--l1", NASTY]),
        (1, vec!["stats", NASTY]),
        (1, vec!["stats", &broken]),
        (1, vec!["convert", trace, "-o", "none\u{1b}[1m/x.orrery"]),
        (2, vec!["convert", trace, "-o", "x.orrery", "--only", "B\u{1b}[1m"]),
        (2, vec!["convert", trace, "-o", "x.orrery", "--function", "f\u{1b}"]),
        (1, vec!["convert", trace, "-o", "x.orrery", "--tables", "none\u{7}"]),
        (1, vec!["convert", trace, "-o", "x.orrery", "--program", "none\u{7}"]),
        (2, vec!["caches", NASTY]),
        (2, vec!["stats", trace, "--no\u{1b}[31m\nsuch"]),
    ] {
        let (out, err) = here.seen(code, &words);
        assert!(out.is_empty() && err.starts_with("error"), "{words:?}: {err}");
        assert!(!err.lines().any(|line| line.starts_with("forged") || line.starts_with("such")), "{err}");
    }
}

#[cfg(feature = "gpu")]
#[test]
fn names_of_pictures_are_seen_and_do_nothing() {
    let here = Here::new();
    let (references, tables) = nasty();
    write(&here.at("\u{1b}[1m.orrery"), &references, &tables);
    for (code, words) in [
        (2, vec!["snapshot", "\u{1b}[1m.orrery", "-o", "x\u{1b}.jpg"]),
        (2, vec!["snapshot", "\u{1b}[1m.orrery", "-o", "x.png", "--size", NASTY]),
        (2, vec!["record", "\u{1b}[1m.orrery", "-o", "x\n.jpg"]),
        (2, vec!["demo", NASTY]),
        (1, vec!["snapshot", NASTY, "-o", "x.png"]),
    ] {
        here.seen(code, &words);
    }
    // Words of a picture are text in an SVG, for which nobody needs an adapter: names are there, and none of them acts.
    for view in ["rings", "numbers", "source", "regions", "functions", "tiles"] {
        let words = ["snapshot", "\u{1b}[1m.orrery", "--tick", "9", "--view", view, "-o", "n.svg"];
        let output = here.run(&words);
        assert!(output.status.success(), "{view}: {}", String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(here.at("n.svg")).unwrap();
        assert!(text.chars().all(|c| c == '\n' || !acts(c)), "{view}");
        let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{view}: {error}"));
        let all: String = document.descendants().filter_map(|node| node.text()).collect();
        assert!(all.contains("forged"), "{view} has its names: {all}");
        fs::remove_file(here.at("n.svg")).unwrap();
    }
    // With an adapter a picture, else a sentence; the names are in the picture, cut to what it has room for.
    let long = Tables { title: "T".repeat(900_000), ..tables };
    write(&here.at("long.orrery"), &references, &long);
    let output = here.run(&["snapshot", "long.orrery", "-o", "-", "--size", "160x120"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.stdout.starts_with(b"\x89PNG") || said.starts_with("error: "), "{said}");
}

#[cfg(feature = "gpu")]
#[test]
fn the_ending_of_a_still_is_one_of_three_or_it_is_refused() {
    let here = Here::new();
    let (references, tables) = nasty();
    write(&here.at("t.orrery"), &references, &tables);
    for name in ["x.jpg", "x.PNG.gif", "x", "x.pngx", ".png", "x.svgz", "x.svg.eps", ".pdf"] {
        let (_, err) = here.seen(2, &["snapshot", "t.orrery", "-o", name]);
        assert!(err.contains("expected .png, .svg or .pdf"), "{name}: {err}");
    }
    for name in ["x.png", "X.PNG", "-", "x.svg", "x.y.SVG", "x.pdf"] {
        let said = String::from_utf8(here.run(&["snapshot", "t.orrery", "-o", name, "--size", "wide"]).stderr).unwrap();
        assert!(said.contains("--size wide"), "{name} is taken: {said}");
    }
}

#[test]
fn texts_and_extents_have_bounds() {
    let here = Here::new();
    let (references, mut tables) = nasty();
    tables.regions[0].shape = vec![1; 65].into();
    write(&here.at("deep.orrery"), &references, &tables);
    let (_, err) = here.seen(1, &["stats", "deep.orrery"]);
    assert!(err.contains("65 extents"), "{err}");
    let (_, mut tables) = nasty();
    tables.title = "A".repeat(5_000_000);
    write(&here.at("long.orrery"), &references, &tables);
    let (_, err) = here.seen(1, &["stats", "long.orrery"]);
    assert!(err.contains("5000000 bytes") && err.contains("at most 1048576") && err.len() < 400, "{err}");
}

#[test]
fn configurations_are_bounded_before_memory_goes() {
    let here = Here::new();
    let (references, tables) = nasty();
    write(&here.at("t.orrery"), &references, &tables);
    let level =
        |cores: u16| format!("cores = {cores}\n[[level]]\nname = \"L1\"\nsize = \"1GiB\"\nways = 16\nline = 64\n");
    fs::write(here.at("big.toml"), level(64)).unwrap();
    fs::write(here.at("long.toml"), format!("{}\n{}", level(1), "#".repeat(1 << 20))).unwrap();
    for (cache, said) in [
        ("big.toml", "1073741824 lines"),
        ("long.toml", "more than 1048576 bytes"),
        ("/dev/zero", "a device"),
        ("/dev/null", "no level"),
    ] {
        let (_, err) = here.seen(2, &["stats", "t.orrery", "--cache", cache]);
        assert!(err.contains(said), "{cache}: {err}");
    }
    let (_, err) = here.seen(1, &["convert", "t.orrery", "-o", "x.orrery", "--tables", "/dev/zero"]);
    assert!(err.contains("a device"), "{err}");
}

#[test]
fn references_of_megabytes_are_played_a_while_and_then_refused() {
    let here = Here::new();
    let long = |n: u64| Reference::new(Kind::Write, n << 20, 1 << 20);
    write(&here.at("some.orrery"), &(0..20).map(long).collect::<Vec<_>>(), &Tables::default());
    here.seen(0, &["stats", "some.orrery"]);
    write(&here.at("many.orrery"), &(0..20_000).map(long).collect::<Vec<_>>(), &Tables::default());
    let (_, err) = here.seen(1, &["stats", "many.orrery", "--l1", "8MiB,2,65536"]);
    assert!(err.contains("reference 8192: found") && err.contains("--range"), "{err}");
    // A text of them can be converted, and a part of it simulated.
    here.seen(0, &["convert", "many.orrery", "--range", "0..100", "-o", "part.orrery"]);
    here.seen(0, &["stats", "part.orrery"]);
}

#[test]
fn a_link_is_written_through_by_convert() {
    let here = Here::new();
    let (references, tables) = nasty();
    write(&here.at("t.orrery"), &references, &tables);
    fs::create_dir(here.at("deep")).unwrap();
    symlink("deep/there.din", here.at("link.din")).unwrap();
    for _ in 0..2 {
        here.seen(0, &["convert", "t.orrery", "-o", "link.din"]);
        assert!(
            here.at("link.din").is_symlink() && fs::read(here.at("deep/there.din")).unwrap().starts_with(b"0 1000\n")
        );
    }
    assert_eq!(here.names(), ["deep", "link.din", "t.orrery"]);
    assert_eq!(fs::read_dir(here.at("deep")).unwrap().count(), 1);
    #[cfg(feature = "gpu")]
    {
        symlink("deep/there.svg", here.at("link.svg")).unwrap();
        here.seen(0, &["snapshot", "t.orrery", "-o", "link.svg"]);
        assert!(here.at("link.svg").is_symlink(), "a link stays a link");
        assert!(
            fs::read(here.at("deep/there.svg")).unwrap().starts_with(b"<?xml"),
            "and what it leads to is the picture"
        );
        assert_eq!(fs::read_dir(here.at("deep")).unwrap().count(), 2);
    }
}

/// The compiler's helpers come from a folder of the user's own, or none: as the superuser, with things of others in the way.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn nothing_executable_is_taken_from_a_folder_of_others() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let here = Here::new();
    let superuser = fs::metadata(here.0.path()).unwrap().uid() == 0;
    if !superuser || Command::new("gcc").arg("--version").output().is_err() {
        return; // Only the superuser can give things away.
    }
    fs::write(here.at("t.c"), "int a[4]; int main(void) { return a[1]; }\n").unwrap();
    let folder = |name: &str, mode: u32| {
        fs::create_dir(here.at(name)).unwrap();
        fs::set_permissions(here.at(name), fs::Permissions::from_mode(mode)).unwrap();
        here.at(name)
    };
    let (shared, open) = (folder("shared", 0o1777), folder("open", 0o777));
    let compile = |cache: Option<&Path>| {
        let mut command = here.command(&["cc", "-c", "t.c", "-o", "t.o"]);
        command.env_remove("XDG_CACHE_HOME").env_remove("HOME").env("TMPDIR", &shared);
        if let Some(cache) = cache {
            command.env("XDG_CACHE_HOME", cache);
        }
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let own = shared.join("orrery-0");
    assert!(compile(None).0 && fs::metadata(&own).unwrap().mode() & 0o777 == 0o700);
    let library = fs::read_dir(&own).unwrap().map(|e| e.unwrap().path()).find(|path| path.is_dir()).unwrap();
    let planted = |folder: &Path| {
        fs::write(folder.join("as"), "#!/bin/sh\ntouch \"$PWD/owned\"\nexit 1\n").unwrap();
        fs::set_permissions(folder.join("as"), fs::Permissions::from_mode(0o755)).unwrap();
        chown(folder.join("as"), Some(12345), None).unwrap();
    };
    // Another's file in our folder: the library is made anew. Ours that all can write to: as well.
    planted(&library);
    assert!(compile(None).0 && fs::metadata(library.join("as")).unwrap().uid() == 0);
    fs::set_permissions(library.join("as"), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(compile(None).0 && fs::metadata(library.join("as")).unwrap().mode() & 0o777 == 0o700);
    // A cache folder that others can exchange is passed over for the one among temporary files.
    fs::create_dir(open.join("orrery")).unwrap();
    let copy = open.join("orrery").join(library.file_name().unwrap());
    fs::create_dir(&copy).unwrap();
    for name in ["orrery.o", "orrery.specs", "orrery.h"] {
        fs::copy(library.join(name), copy.join(name)).unwrap();
    }
    planted(&copy);
    assert!(compile(Some(&open)).0);
    // Where that is another's too, nothing is run.
    chown(&own, Some(12345), None).unwrap();
    for cache in [None, Some(&*open)] {
        let (done, err) = compile(cache);
        assert!(!done && err.contains("belongs to another user") && err.contains("XDG_CACHE_HOME"), "{err}");
    }
    assert!(!here.at("owned").exists());
}

/// A copy that is damaged, a pipe, a folder or of nobody knows what in its place: every command answers as without it.
#[cfg(feature = "gpu")]
#[test]
fn copies_and_indexes_heal_in_every_command() {
    use std::fmt::Write as _;
    let here = Here::new();
    let mut text = String::new();
    for n in 0..1_100_000u64 {
        let _ = writeln!(text, " {} {:x},8", if n % 3 == 0 { 'S' } else { 'L' }, 0x10_0000 + (n * 7919) % 8_192 * 8);
    }
    fs::write(here.at("t.lackey"), text).unwrap();
    let stats = |note: &str| {
        let (out, err) = here.seen(0, &["stats", "t.lackey"]);
        assert_eq!(err.contains("damaged"), !note.is_empty(), "{note}: {err}");
        assert_eq!(err.matches("found a damaged copy").count(), usize::from(!note.is_empty()), "said once: {err}");
        out
    };
    // Makes copy and index; whether there is an adapter for the picture does not matter.
    let picture = || here.run(&["snapshot", "t.lackey", "-o", "-", "--size", "160x120"]);
    let first = picture();
    let only = |name: &str| {
        let all: Vec<PathBuf> =
            fs::read_dir(here.at("cache/orrery").join(name)).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    };
    let expect = stats("");
    let (copy, index) = (only("read"), only("index"));
    let whole = [fs::read(&copy).unwrap(), fs::read(&index).unwrap()];
    let pipe = |path: &Path| {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    };
    for (damage, drawn) in
        [("end", false), ("cut", false), ("link", false), ("middle", true), ("pipe", true), ("folder", true)]
    {
        for (path, whole, name) in [(&copy, &whole[0], "read"), (&index, &whole[1], "index")] {
            if name == "index" && !drawn {
                continue; // Only pictures ask for it.
            }
            let _ = fs::remove_file(path);
            let mut bytes = whole.clone();
            let (middle, end) = (bytes.len() / 2, bytes.len() - 9);
            match damage {
                "pipe" => pipe(path),
                "folder" => fs::create_dir_all(path.join("full")).unwrap(),
                "link" => symlink(here.at("t.lackey"), path).unwrap(),
                "cut" => fs::write(path, &bytes[..middle]).unwrap(),
                _ => {
                    bytes[if damage == "end" { end } else { middle }] ^= 4;
                    fs::write(path, &bytes).unwrap();
                }
            }
            if name == "read" {
                // Numbers do not make the copy again where it is unreadable from the first, pictures do.
                assert!(stats(damage) == expect, "{damage}");
            }
            if !drawn {
                continue;
            }
            let again = picture();
            let said = String::from_utf8_lossy(&again.stderr);
            assert_eq!(
                (again.status.code(), again.stdout == first.stdout),
                (first.status.code(), true),
                "{damage}: {said}"
            );
            assert!(only(name).is_file() && !path.is_symlink(), "{damage} of {name} is healed");
        }
    }
    assert!(stats("") == expect);
    // Others that read the trace: what they make is the same from a damaged copy and index, and these are whole afterwards.
    for words in [
        &[
            "record",
            "t.lackey",
            "-o",
            "made.y4m",
            "--size",
            "64x48",
            "--start-ref",
            "9",
            "--stop-ref",
            "19",
            "--seconds",
            "0.2",
        ][..],
        &["convert", "t.lackey", "-o", "made.din"],
        &["why", "t.lackey", "900000"],
    ] {
        let made = || {
            let output = here.run(words);
            let file = words.get(3).map(|name| fs::read(here.at(name)).unwrap());
            (output.status.code(), output.stdout, file)
        };
        let whole_made = made();
        for (path, whole) in [(&copy, &whole[0]), (&index, &whole[1])] {
            let mut bytes = whole.clone();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 4;
            fs::write(path, &bytes).unwrap();
        }
        assert!(made() == whole_made, "{words:?}");
        picture();
        assert!(stats("") == expect, "{words:?}");
    }
}

#[test]
fn what_is_read_is_never_written_over() {
    let here = Here::new();
    let trace = here.at("a.orrery");
    let (references, tables) = nasty();
    write(&trace, &references, &tables);
    let before = fs::read(&trace).unwrap();
    symlink("a.orrery", here.at("link.png")).unwrap();
    fs::write(here.at("p.c"), "int main(void) { return 0; }\n").unwrap();
    for words in [
        &["report", "a.orrery", "-o", "./a.orrery"][..],
        &["report", "a.orrery", "-o", "page.jpg"],
        #[cfg(feature = "gpu")]
        &["snapshot", "a.orrery", "-o", "link.png"],
        #[cfg(feature = "gpu")]
        &["snapshot", "a.orrery", "-o", "s.png", "--numbers", "a.orrery"],
        #[cfg(feature = "gpu")]
        &["snapshot", "a.orrery", "-o", "s.png", "--numbers", "./s.png"],
        &["convert", "a.orrery", "--range", "0..2", "-o", "./a.orrery"],
        &["run", "--no-view", "-o", "./p.c", "p.c"],
        &["run", "--no-view", "--limit", "1M", "p.c"],
    ] {
        let (_, err) = here.seen(2, words);
        assert!(err.contains("expected"), "{words:?}: {err}");
    }
    assert!(fs::read(&trace).unwrap() == before && fs::read(here.at("p.c")).unwrap().starts_with(b"int main"));
    assert_eq!(here.names(), ["a.orrery", "link.png", "p.c"]);
}
