//! Examples in C on threads, compiled by `orrery cc` and run: what they recorded, as timelines.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::capture::{Trace, orrery, sound};
use orrery::reference::ReferenceSource;
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use orrery::timeline::{Grid, GridOf, Options, Timeline};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Threads of each of them.
pub(crate) const THREADS: u64 = 4;

/// Compiles `examples/NAME.c` into a folder.
pub(crate) fn compile(name: &str, folder: &Path) {
    let source = format!("{}/examples/{name}.c", env!("CARGO_MANIFEST_DIR"));
    let mut compile = orrery(&["cc", "-O1", "-pthread", "-Wall", "-Wextra", "-Werror", &source, "-o", name]);
    sound(&compile.current_dir(folder).output().unwrap());
}

/// Runs it with a number, and indexes what it recorded.
pub(crate) fn run(name: &str, number: u64, folder: &Path) -> Timeline {
    let path = folder.join(format!("{name}{number}.orrery"));
    sound(&Command::new(folder.join(name)).arg(number.to_string()).env("ORRERY_OUT", &path).output().unwrap());
    // What collects may be a little behind.
    let (part, start) = (path.with_extension("orrery.part"), Instant::now());
    while (part.exists() || !path.exists()) && start.elapsed().as_secs() < 20 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let source: Arc<dyn ReferenceSource> = Trace::open(&path).source.into();
    let mut config = preset("paper").unwrap();
    config.cores = 4;
    let hierarchy = Hierarchy::new(&config).unwrap();
    Timeline::build(source, hierarchy, Options::default(), &mut |_, _| true).unwrap()
}

/// Counts of the array of this name, which has this shape, in 37 slices.
pub(crate) fn count(timeline: &Timeline, array: &str, shape: &[u64], owner: &str) -> Grid {
    let regions = &timeline.tables().regions;
    let region = regions.iter().position(|region| region.name == array).unwrap();
    assert_eq!(*regions[region].shape, shape);
    let (references, owner) = (0..timeline.len(), owner.parse().unwrap());
    let of = GridOf { owner, ..GridOf::new(region, references, 37) };
    Grid::count(timeline, of, &|| true).unwrap()
}
