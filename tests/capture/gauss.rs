//! Gaussian elimination with rows dealt to four threads: each element is accessed as often as the algorithm says, locally and remotely.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::threaded::{THREADS, compile, count, run};
use crate::support::capture::has;
use orrery::timeline::GridCounts;

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
    compile("gauss", folder.path());
    for (n, name) in [(8u64, "small"), (16, "medium"), (64, "large")] {
        let timeline = run("gauss", n, folder.path());
        // Each thread fills its rows first, so that who touches a row first is who it is dealt to.
        let dealt = count(&timeline, name, &[n, n + 1], "cyclic,*");
        let first = count(&timeline, name, &[n, n + 1], "first-touch");
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
