//! The index file: made once, found again, made anew where it is damaged or another's; pictures are the same with and without.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::regions::span;
use orrery::reference::{Reference, Tables};
use orrery::trace::native::FileWriter;
use orrery::trace::synth::{BASE, Rng, mix};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// 1,100,000 references: enough for an index to be kept. They touch 64 KiB, of which L1 holds half: an index of more is no other, and
/// takes three times as long to make.
fn write(path: &Path, seed: u64) {
    const BYTES: u64 = 64 << 10;
    let heap = span("heap", BASE, BYTES);
    let within = |reference: Reference| Reference { addr: BASE + (reference.addr - BASE) % BYTES, ..reference };
    let mut writer = FileWriter::create(path).unwrap();
    writer.write(&mix(1_100_000, seed).map(within).collect::<Vec<_>>()).unwrap();
    writer.finish(&Tables { regions: vec![heap], ..Tables::default() }).unwrap();
}

struct Here {
    folder: tempfile::TempDir,
}

impl Here {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A small still of a trace; the picture, and what was said.
    fn still(&self, trace: &str, cache: &str) -> (Vec<u8>, String) {
        let output: Output = Command::new(env!("CARGO_BIN_EXE_orrery"))
            .args(["snapshot", trace, "--tick", "1000000", "--size", "160x120", "--cache", cache, "-o", "-"])
            .current_dir(self.folder.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && output.stdout.starts_with(b"\x89PNG"), "{said}");
        (output.stdout, said)
    }

    /// Files of indexes, and whatever else lies there.
    fn indexes(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("cache/orrery/index"));
        let mut all: Vec<PathBuf> = entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all
    }
}

#[test]
fn an_index_is_made_once_found_again_and_made_anew_where_it_is_damaged() {
    let here = Here { folder: tempfile::tempdir().unwrap() };
    write(&here.path("a.orrery"), 1);
    let (first, said) = here.still("a.orrery", "textbook");
    let indexes = here.indexes();
    assert!(indexes.len() == 1 && !said.contains("index"), "{indexes:?} {said}");
    let made = fs::read(&indexes[0]).unwrap();

    // Found again, under another name of the trace too; nothing is written.
    fs::rename(here.path("a.orrery"), here.path("b.orrery")).unwrap();
    let title = |name: &str| here.still(name, "textbook");
    let second = title("b.orrery");
    assert_eq!((here.indexes(), fs::read(&indexes[0]).unwrap() == made), (indexes.clone(), true));
    fs::rename(here.path("b.orrery"), here.path("a.orrery")).unwrap();
    assert!(title("a.orrery").0 == first && second.0 != first, "the title is the only difference");

    // Other caches and another trace have indexes of their own.
    here.still("a.orrery", "paper");
    write(&here.path("other.orrery"), 2);
    here.still("other.orrery", "textbook");
    assert_eq!(here.indexes().len(), 3);

    // Damaged anywhere that this picture needs, it is made anew, or the error names the remedy; never is the picture wrong.
    let mut rng = Rng::new(3);
    let (mut anew, mut unseen) = (0, 0);
    for n in 0..24 {
        let mut damaged = made.clone();
        match n % 3 {
            0 => damaged.truncate(usize::try_from(rng.below(made.len() as u64)).unwrap()),
            1 => {
                let at = made.len() - 1 - usize::try_from(rng.below(2000)).unwrap();
                damaged[at] ^= 1 << rng.below(8);
            }
            _ => {
                let at = usize::try_from(rng.below(made.len() as u64)).unwrap();
                damaged[at] ^= 1 << rng.below(8);
            }
        }
        fs::write(&indexes[0], &damaged).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_orrery"))
            .args(["snapshot", "a.orrery", "--tick", "1000000", "--size", "160x120", "--cache", "textbook", "-o", "-"])
            .current_dir(here.folder.path())
            .env("XDG_CACHE_HOME", here.path("cache"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "damage {n}: {said}");
        assert!(output.stdout == first, "damage {n}: another picture");
        if said.contains("damaged index; it is made anew") {
            anew += 1;
            assert!(fs::read(&indexes[0]).unwrap() == made, "the index is the same each time");
        } else {
            unseen += 1;
        }
    }
    assert!(anew >= 16, "{anew} made anew, {unseen} not met by this picture");

    // Where no index can be kept, the picture is there all the same, with a word about it.
    fs::remove_dir_all(here.path("cache")).unwrap();
    fs::write(here.path("cache"), "no folder").unwrap();
    let (third, said) = here.still("a.orrery", "textbook");
    assert!(third == first && said.contains("the index is not kept"), "{said}");
}
