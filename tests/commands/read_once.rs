//! A text trace that is opened again: from its native copy in the cache folder while it is as it was, anew where it is not.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use orrery::trace::synth::{Rng, mix};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// Enough for a copy to be kept.
const REFERENCES: u64 = 1_100_000;

struct Here {
    folder: tempfile::TempDir,
}

struct Said {
    ok: bool,
    out: Vec<u8>,
    err: String,
}

impl Here {
    /// With `t.log`, a text of lackey with a line that is none of it.
    fn new(references: u64) -> Self {
        let here = Self { folder: tempfile::tempdir().unwrap() };
        let mut text = String::from("somebody else's line\n");
        for r in mix(references, 7) {
            let _ = writeln!(text, " {} {:x},{}", if r.kind as u8 == 0 { 'L' } else { 'S' }, r.addr, r.size);
        }
        fs::write(here.path("t.log"), text).unwrap();
        here
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, words: &[&str]) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orrery"));
        command.args(words).current_dir(self.folder.path()).env("XDG_CACHE_HOME", self.path("cache"));
        if words.get(1) == Some(&"-") {
            command.stdin(Stdio::from(File::open(self.path("t.log")).unwrap()));
        }
        let output = command.output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        Said { ok: output.status.success(), out: output.stdout, err }
    }

    /// A small still, and what was said.
    fn still(&self, trace: &str, cache: &str) -> (Vec<u8>, String) {
        let words = ["snapshot", trace, "--tick", "1000000", "--size", "160x120", "--cache", cache, "-o", "-"];
        let said = self.run(&words);
        assert!(said.ok && said.out.starts_with(b"\x89PNG"), "{}", said.err);
        (said.out, said.err)
    }

    fn stats(&self) -> Said {
        self.run(&["stats", "t.log", "--json"])
    }

    /// Files of one kind that are kept.
    fn kept(&self, kind: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("cache/orrery").join(kind));
        let mut all: Vec<PathBuf> = entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all
    }
}

#[test]
fn a_text_is_read_once_while_it_is_as_it_was() {
    let here = Here::new(REFERENCES);
    let unaided = here.stats();
    assert!(unaided.ok && here.kept("read").is_empty(), "numbers alone keep nothing");
    let (first, said) = here.still("t.log", "textbook");
    assert!(said.contains("note: t.log: ") && said.lines().count() == 1, "{said}");
    let (copies, indexes) = (here.kept("read"), here.kept("index"));
    assert_eq!((copies.len(), indexes.len()), (1, 1), "{said}");
    let bytes = (fs::read(&copies[0]).unwrap(), fs::read(&indexes[0]).unwrap());

    // The copy is used, by any way to the text; it and the index stay as they are, and the same is said.
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    for trace in ["t.log", "./t.log"] {
        let old = File::options().append(true).open(&copies[0]).unwrap();
        old.set_modified(long_ago).unwrap();
        assert_eq!(here.still(trace, "textbook"), (first.clone(), said.clone()));
        assert!(fs::metadata(&copies[0]).unwrap().modified().unwrap() > long_ago + Duration::from_secs(1800));
    }
    assert_eq!((here.kept("read"), here.kept("index")), (copies.clone(), indexes.clone()));
    assert!((fs::read(&copies[0]).unwrap(), fs::read(&indexes[0]).unwrap()) == bytes);
    let aided = here.stats();
    assert!(aided.ok && aided.out == unaided.out && aided.err == unaided.err, "{}", aided.err);

    // Latencies and names are nothing to the index; ways are.
    let caches = String::from_utf8(here.run(&["caches", "textbook"]).out).unwrap();
    fs::write(here.path("slow.toml"), caches.replace("latency = ", "latency = 1").replace("\"L2\"", "\"mid\""))
        .unwrap();
    fs::write(here.path("wide.toml"), caches.replacen("ways = 8", "ways = 4", 1)).unwrap();
    assert!(fs::read_to_string(here.path("wide.toml")).unwrap() != caches);
    let slow = here.still("t.log", "slow.toml");
    assert!(slow.0 != first, "its names are shown");
    assert_eq!(here.kept("index"), indexes);
    here.still("t.log", "wide.toml");
    assert_eq!(here.kept("index").len(), 2);

    // A byte is another, the length and the time are as they were.
    let text = fs::read(here.path("t.log")).unwrap();
    let written = fs::metadata(here.path("t.log")).unwrap().modified().unwrap();
    let mut touched = text.clone();
    let at = text.len() / 2 + text[text.len() / 2..].iter().position(|&b| b == b'L').unwrap();
    touched[at] = b'S';
    fs::write(here.path("t.log"), &touched).unwrap();
    File::options().append(true).open(here.path("t.log")).unwrap().set_modified(written).unwrap();
    let other = here.stats();
    assert!(other.ok && other.out != unaided.out, "one read is a write");
    // Grown, and cut: the copy of the text as it is takes the place of the one before.
    for (text, references) in
        [([&text[..], b" L 10000000,8\n"].concat(), REFERENCES + 1), (text[..text.len() / 2].to_vec(), 0)]
    {
        fs::write(here.path("t.log"), text).unwrap();
        let counted = String::from_utf8(here.stats().out).unwrap();
        let json: serde_json::Value = serde_json::from_str(&counted).unwrap();
        let count = json["trace"]["references"].as_u64().unwrap();
        assert!(if references > 0 { count == references } else { count < REFERENCES }, "{count}");
        if references > 0 {
            assert!(here.still("t.log", "textbook").0 != first);
            assert_eq!(here.kept("read"), copies);
            assert!(fs::read(&copies[0]).unwrap() != bytes.0);
        }
    }
}

#[test]
fn a_damaged_copy_is_never_believed() {
    let here = Here::new(REFERENCES);
    let truth = here.stats().out;
    here.still("t.log", "textbook");
    let copy = here.kept("read").remove(0);
    let made = fs::read(&copy).unwrap();
    let mut rng = Rng::new(11);
    let (mut anew, mut harmless) = (0, 0);
    for n in 0..12u64 {
        let mut damaged = made.clone();
        let len = made.len() as u64;
        let at = |at: u64| usize::try_from(at).unwrap();
        match n % 3 {
            0 => damaged.truncate(at(rng.below(len))),
            1 => damaged[at(len - 1 - rng.below(4000))] ^= 1 << rng.below(8),
            _ => damaged[at(rng.below(len))] ^= 1 << rng.below(8),
        }
        fs::write(&copy, &damaged).unwrap();
        let said = here.stats();
        // At the first try, wherever the damage is met.
        assert!(said.ok && said.out == truth, "damage {n}: {}", said.err);
        if said.err.contains("found a damaged copy of t.log, which is read anew") {
            anew += 1;
        } else {
            harmless += 1;
        }
    }
    eprintln!("{anew} read anew, {harmless} that nobody met");
    assert!(anew >= 7, "{anew} {harmless}");
}

#[test]
fn where_no_copy_can_be_the_picture_is_there_all_the_same() {
    let here = Here::new(REFERENCES);
    let first = here.still("t.log", "textbook").0;
    fs::remove_dir_all(here.path("cache")).unwrap();

    // Of a pipe nothing is kept.
    let piped =
        here.run(&["snapshot", "-", "--tick", "1000000", "--size", "160x120", "--cache", "textbook", "-o", "p.png"]);
    assert!(piped.ok && here.kept("read").is_empty() && here.kept("index").is_empty(), "{}", piped.err);

    // A text that is read in a blink is not worth a file.
    let short = Here::new(1000);
    assert!(short.run(&["snapshot", "t.log", "--size", "160x120", "-o", "p.png"]).ok && short.kept("read").is_empty());

    // No folder, no copy: a word about it and the picture.
    fs::remove_dir_all(here.path("cache")).unwrap();
    fs::write(here.path("cache"), "no folder").unwrap();
    let (picture, said) = here.still("t.log", "textbook");
    assert!(
        picture == first && said.contains("no copy of the trace is kept") && said.contains("XDG_CACHE_HOME"),
        "{said}"
    );
}

/// Numbers of what is read once are those of what is read whole: from a pipe, which cannot be read again.
#[test]
fn one_pass_over_a_text_counts_what_two_count() {
    let here = Here::new(70_000);
    // Another core from the middle on; one with a line that is none; one that says nothing; of kinds and sizes.
    let cores: String = (0..40_000u64)
        .map(|n| {
            format!("0x{:x},8,{},{}\n", 4096 + n * 40 % 9000, ["read", "write"][usize::from(n % 2 == 1)], n / 30_000)
        })
        .collect();
    let log = fs::read_to_string(here.path("t.log")).unwrap();
    let texts = [
        ("t.log", log.clone()),
        ("cores.csv", format!("address,size,kind,core\n{cores}")),
        ("broken.csv", format!("address,size,kind,core\n{cores}zzz,8,read,0\n")),
        ("empty.din", "\n".into()),
        ("all.xdin", "r 7fff12a0 8\nw 7fff12a4 8\ni 400000 4\nm 7fff12a0 200\n".repeat(100)),
    ];
    let mut counted = 0;
    for (name, text) in &texts {
        fs::write(here.path(name), text).unwrap();
        for flags in [
            &["--cache", "textbook"][..],
            &["--cache", "paper", "--json"],
            &["--cache", "zen4", "--flush", "--json", "--data-only"],
            &["--cache", "paper-x4", "--cores", "2", "--by-line"],
            &["--l1", "1KiB,2,64", "--l2", "8KiB,4,64,opt", "--json"],
            &["--l1", "768B,3,64"],
        ] {
            let once = here.run(&[&["stats", name][..], flags].concat());
            // Read whole: a pipe.
            let mut whole = Command::new(env!("CARGO_BIN_EXE_orrery"));
            whole.args(["stats", "-"]).args(flags).current_dir(here.folder.path());
            let whole = whole.stdin(Stdio::from(File::open(here.path(name)).unwrap())).output().unwrap();
            let err = String::from_utf8_lossy(&whole.stderr).replace("standard input", name);
            assert_eq!(
                (once.ok, &once.out, &once.err),
                (whole.status.success(), &whole.stdout, &err),
                "{name} {flags:?}"
            );
            counted += usize::from(once.ok);
        }
    }
    assert!(counted >= 14, "{counted}");
}
