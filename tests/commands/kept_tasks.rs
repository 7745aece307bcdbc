//! The tasks of a long file are read once, and anew when the file or what was kept of it is another.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Place(tempfile::TempDir);

impl Place {
    /// Exit code, what is printed, what is said.
    fn orrery(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orrery"));
        let run = command.args(args).env("XDG_CACHE_HOME", self.0.path().join("cache")).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (run.status.code(), text(run.stdout), text(run.stderr))
    }

    fn summary(&self, file: &Path) -> (String, String) {
        let (code, out, said) = self.orrery(&["tasks", file.to_str().unwrap(), "--summary", "--json"]);
        assert_eq!(code, Some(0), "{said}");
        (out, said)
    }

    /// What is kept.
    fn kept(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.0.path().join("cache/orrery/tasks")) else { return Vec::new() };
        let mut all: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all
    }
}

#[test]
fn a_long_file_is_read_once_and_again_when_it_or_its_copy_is_another() {
    let place = Place(tempfile::tempdir().unwrap());
    let file = place.0.path().join("run.sqlite3");
    let (code, _, said) = place.orrery(&["gpu", "matmul", "--set", "N=64", "-o", file.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::metadata(&file).unwrap().len() > 16 << 20, "long enough to be kept");
    assert!(place.kept().is_empty());

    let (first, said) = place.summary(&file);
    assert_eq!(said, "");
    let [kept] = &place.kept()[..] else { panic!("one file is kept") };
    let bytes = fs::read(kept).unwrap();
    assert_eq!(place.summary(&file), (first.clone(), String::new()), "found, and the same");
    // It is what was read: the kept one is taken for the file, down to a time.
    assert_eq!(fs::read(kept).unwrap(), bytes);

    // Damage in any part is found, told, and mended.
    for at in [3, 60, bytes.len() / 7, bytes.len() / 2, bytes.len() - 2] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x41;
        fs::write(kept, damaged).unwrap();
        let (again, said) = place.summary(&file);
        assert_eq!(again, first, "at {at}");
        assert!(said.contains("found a damaged copy of tasks; the file is read anew"), "at {at}: {said}");
        assert_eq!(fs::read(kept).unwrap(), bytes, "at {at}");
    }
    fs::write(kept, &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(place.summary(&file).0, first);

    // A file that was written to is another one.
    let database = rusqlite::Connection::open(&file).unwrap();
    let gone = database.execute("DELETE FROM trace WHERE Kind = 'inst'", []).unwrap();
    assert!(gone > 0);
    drop(database);
    let (without, _) = place.summary(&file);
    assert!(without != first && !without.contains("\"inst\""), "{}", &without[..200]);
    assert_eq!(place.kept().len(), 2);

    // Where nothing can be kept, it is said, and all is told.
    let cache = place.0.path().join("cache");
    fs::remove_dir_all(&cache).unwrap();
    fs::write(&cache, "no folder").unwrap();
    let (again, said) = place.summary(&file);
    assert_eq!(again, without);
    assert!(said.contains("the tasks are not kept") && said.contains("XDG_CACHE_HOME"), "{said}");
}
