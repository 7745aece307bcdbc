//! Programs that tests write, built by `orrery cc` and run, and what they recorded.

use orrery::reference::{Kind, Reference, ReferenceSource, Region, RegionMap};
use orrery::trace;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

pub(crate) const ORRERY: &str = env!("CARGO_BIN_EXE_orrery");
pub(crate) const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");

/// Whether a tool is here; said aloud where not.
pub(crate) fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: no {tool} here");
    }
    found
}

/// The recording library is compiled once for all tests.
pub(crate) fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("capture-cache")
}

/// This program, with a library cache of the tests' own.
pub(crate) fn orrery(args: &[&str]) -> Command {
    let mut command = Command::new(ORRERY);
    command.args(args).env("XDG_CACHE_HOME", cache());
    for name in ["CC", "CXX", "FC", "ORRERY_CC", "ORRERY_CXX", "ORRERY_FC", "ORRERY_OUT", "ORRERY_BIN"] {
        command.env_remove(name);
    }
    command
}

/// What it said, where it did well.
pub(crate) fn sound(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned() + &said
}

/// A folder with sources and programs.
pub(crate) struct Folder(pub(crate) tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// `orrery cc` or `orrery c++` by `compiler`; gives what was said.
    pub(crate) fn build(&self, compiler: &str, args: &[&str]) -> String {
        let cpp = compiler.ends_with("++");
        let mut command = orrery(&[if cpp { "c++" } else { "cc" }]);
        command.args(args).env(if cpp { "ORRERY_CXX" } else { "ORRERY_CC" }, compiler).current_dir(self.0.path());
        sound(&command.output().unwrap())
    }

    /// Runs a program here; it records to `out`.
    pub(crate) fn run(&self, program: &str, args: &[&str], out: &str) -> String {
        let mut command = Command::new(self.path(program));
        command.args(args).env("ORRERY_OUT", out).env_remove("ORRERY_BIN").current_dir(self.0.path());
        sound(&command.output().unwrap())
    }

    /// The trace of this name, once it is whole.
    pub(crate) fn trace(&self, name: &str) -> Trace {
        let (path, part) = (self.path(name), self.path(&format!("{name}.part")));
        let start = Instant::now();
        while (part.exists() || !path.exists()) && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        Trace::open(&path)
    }
}

pub(crate) struct Trace {
    pub(crate) references: Vec<Reference>,
    pub(crate) regions: Vec<Region>,
    pub(crate) source: Box<dyn ReferenceSource>,
}

impl Trace {
    pub(crate) fn open(path: &Path) -> Self {
        let source = trace::open(path, None).unwrap_or_else(|e| panic!("{e}"));
        let chunks = 0..source.len().div_ceil(source.chunk_len());
        let references = chunks.flat_map(|i| source.chunk(i).unwrap().to_vec()).collect();
        Self { references, regions: source.tables().regions.clone(), source }
    }

    /// Reads and writes of each region; those of none as "(other)".
    pub(crate) fn counts(&self) -> BTreeMap<String, (u64, u64)> {
        let map = RegionMap::new(&self.regions);
        let mut out = BTreeMap::<String, (u64, u64)>::new();
        for (r, n) in self.references.iter().zip(0..) {
            let name = map.find(r.addr, n).map_or("(other)", |region| &self.regions[region].name);
            let counts = out.entry(name.to_owned()).or_default();
            counts.0 += u64::from(matches!(r.kind, Kind::Read | Kind::Modify));
            counts.1 += u64::from(matches!(r.kind, Kind::Write | Kind::Modify));
        }
        out
    }
}
