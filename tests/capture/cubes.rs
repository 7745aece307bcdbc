//! Programs whose arrays are looked at as cubes: each element is accessed as often as the algorithm says, locally and remotely.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::threaded::{THREADS, compile, count, run};
use crate::support::capture::has;
use orrery::timeline::GridCounts;

fn four(counts: GridCounts) -> [u64; 4] {
    [counts.local_reads, counts.remote_reads, counts.local_writes, counts.remote_writes]
}

#[test]
fn a_stencil_reads_an_element_once_for_each_of_its_neighbours_inside() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    compile("stencil", folder.path());
    for (n, name) in [(4u64, "small"), (16, "large")] {
        let timeline = run("stencil", n, folder.path());
        let dealt = count(&timeline, name, &[n; 3], "block,block,*");
        let first = count(&timeline, name, &[n; 3], "first-touch");
        assert_eq!(dealt.owners, first.owners, "each thread fills its own block first");
        let (inside, owner) = (|v: u64| v > 0 && v + 1 < n, |i: u64, j: u64| 2 * (2 * i / n) + 2 * j / n);
        let mut remote = 0;
        for at in 0..n * n * n {
            let [i, j, k] = [at / n / n, at / n % n, at % n];
            // Two steps: whoever owns a neighbour inside reads the element, and the element itself is read once where it is inside.
            let ways = [[0, 0, 0], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
            let mut expect = [0, 0, 1, 0];
            for [di, dj, dk] in ways {
                let moved = [i.checked_add_signed(di), j.checked_add_signed(dj), k.checked_add_signed(dk)];
                let [Some(i2), Some(j2), Some(k2)] = moved else { continue };
                if !(inside(i2) && inside(j2) && inside(k2)) {
                    continue;
                }
                expect[usize::from(owner(i2, j2) != owner(i, j))] += 2;
            }
            if inside(i) && inside(j) && inside(k) {
                expect[2] += 2;
            }
            let found = four(dealt.counts(usize::try_from(at).unwrap(), 0..37));
            assert_eq!(found, expect, "({i}, {j}, {k}) of {n}");
            remote += found[1];
        }
        // Across each of the two walls between blocks, both ways, in two steps.
        assert_eq!(remote, 2 * 4 * (n - 2) * (n - 2), "remote reads of {n}");
    }
}

/// What `partner` of `examples/cg.c` draws.
fn partners(n: u64) -> Vec<(usize, usize)> {
    let mut state = 1994u32;
    let mut draw = || {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        usize::try_from(u64::from(state / 65_536) % n).unwrap()
    };
    (0..usize::try_from(3 * n).unwrap()).map(|m| (m / 3, draw())).filter(|(a, b)| a != b).collect()
}

#[test]
fn conjugate_gradients_read_the_direction_once_for_each_number_of_its_column() {
    if !has("gcc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    compile("cg", folder.path());
    for (n, name, side) in [(64u64, "p4", 4u64), (4096, "p16", 16)] {
        let timeline = run("cg", n, folder.path());
        let dealt = count(&timeline, name, &[side; 3], "block,*,*");
        let first = count(&timeline, name, &[side; 3], "first-touch");
        assert_eq!(dealt.owners, first.owners, "each thread fills its own block first");
        let all = usize::try_from(n).unwrap();
        let owner = |i: usize| i * usize::try_from(THREADS).unwrap() / all;
        // Ten steps: the diagonal, the product with q, the sum of x, the next direction; it is written at first and in each step.
        let mut expect = vec![[10 * 4, 0, 11, 0]; all];
        for (a, b) in partners(n) {
            let remote = usize::from(owner(a) != owner(b));
            expect[a][remote] += 10;
            expect[b][remote] += 10;
        }
        let found: Vec<[u64; 4]> = (0..all).map(|block| four(dealt.counts(block, 0..37))).collect();
        assert_eq!(found, expect);
        assert!(found.iter().map(|own| own[1]).sum::<u64>() > 10 * n, "most partners are of another block");
    }
}
