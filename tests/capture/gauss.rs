//! Gaussian elimination with rows dealt to four threads: each element is accessed as often as the algorithm says, locally and remotely.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::capture::{Trace, has, orrery, sound};
use orrery::reference::ReferenceSource;
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use orrery::timeline::{Distribution, Grid, GridCounts, GridOf, Options, Timeline};
use std::sync::Arc;

const THREADS: u64 = 4;

/// What element (i, j) of `n` equations gets in all: filled once; updated once for each row above it that has its column to the right
/// of the pivot; read and set to 0 by the step of its column; read by each row below where it is of the pivot row, pivot and all behind.
fn closed_form(n: u64, i: u64, j: u64) -> [u64; 4] {
    let updated = if j < i { j + 1 } else { i };
    let below = if j >= i { n - 1 - i } else { 0 };
    let own = if j >= i { (i + 1..n).filter(|row| row % THREADS == i % THREADS).count() as u64 } else { 0 };
    [updated + own, below - own, 1 + updated, 0]
}

#[test]
fn each_element_is_accessed_as_often_as_the_algorithm_says() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/gauss.c");
    let mut compile = orrery(&["cc", "-O1", "-pthread", "-Wall", "-Wextra", "-Werror", source, "-o", "gauss"]);
    sound(&compile.current_dir(folder.path()).output().unwrap());
    for (n, name) in [(8u64, "small"), (16, "medium"), (64, "large")] {
        let path = folder.path().join(format!("{name}.orrery"));
        let mut run = std::process::Command::new(folder.path().join("gauss"));
        sound(&run.arg(n.to_string()).env("ORRERY_OUT", &path).output().unwrap());
        // What collects may be a little behind.
        let part = path.with_extension("orrery.part");
        let start = std::time::Instant::now();
        while (part.exists() || !path.exists()) && start.elapsed().as_secs() < 20 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let source: Arc<dyn ReferenceSource> = Trace::open(&path).source.into();
        let mut config = preset("paper").unwrap();
        config.cores = 4;
        let hierarchy = Hierarchy::new(&config).unwrap();
        let timeline = Timeline::build(source, hierarchy, Options::default(), &mut |_, _| true).unwrap();
        let region = timeline.tables().regions.iter().position(|region| region.name == name).unwrap();
        assert_eq!(timeline.tables().regions[region].shape, [n, n + 1]);
        let of = |owner: Distribution| GridOf { region, references: 0..timeline.len(), slices: 37, owner, core: None, kind: None, by_core: false };
        // Each thread fills its rows first, so that who touches a row first is who it is dealt to.
        let dealt = Grid::count(&timeline, of("cyclic,*".parse().unwrap()), &|| true).unwrap();
        let first = Grid::count(&timeline, of(Distribution::FirstTouch), &|| true).unwrap();
        assert_eq!(dealt.owners, first.owners);
        let mut remote = vec![0; usize::try_from(n).unwrap()];
        for i in 0..n {
            for j in 0..=n {
                let block = usize::try_from(i * (n + 1) + j).unwrap();
                let GridCounts { local_reads, remote_reads, local_writes, remote_writes, .. } =
                    dealt.counts(block, 0..37);
                assert_eq!(
                    [local_reads, remote_reads, local_writes, remote_writes],
                    closed_form(n, i, j),
                    "({i}, {j})"
                );
                assert_eq!(first.counts(block, 0..37), dealt.counts(block, 0..37));
                remote[usize::try_from(i).unwrap()] += remote_reads;
            }
        }
        // Rows have the fewer remote reads the later they are the pivot's; the last one has none.
        assert!(remote.is_sorted_by(|a, b| a >= b) && remote.last() == Some(&0) && remote[0] > 0, "{remote:?}");
        eprintln!("{n} equations: remote reads by row {remote:?}");
    }
}
