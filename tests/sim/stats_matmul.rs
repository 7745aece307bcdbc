//! Misses by array of the multiplications that the rings paper shows, under the preset `paper`.

#![expect(clippy::unwrap_used, reason = "helpers of tests: to fail is to tell")]

use crate::support::regions::square;
use orrery::reference::{Kind, MemoryTrace, Reference, Tables};
use orrery::sim::config::{HierarchyConfig, LevelConfig, Ways, preset};
use orrery::sim::stats::{Stats, collect};

/// Three `n` x `n` arrays of 8-byte elements one after the other.
struct Arrays {
    n: u64,
    references: Vec<Reference>,
}

const BASE: u64 = 0x10_0000;

impl Arrays {
    fn touch(&mut self, kind: Kind, array: u64, row: u64, column: u64) {
        let addr = BASE + 8 * ((array * self.n + row) * self.n + column);
        self.references.push(Reference::new(kind, addr, 8));
    }

    fn stats(self, config: &HierarchyConfig) -> Stats {
        let bytes = 8 * self.n * self.n;
        let region = |(name, base): (&str, u64)| square(name, base, self.n);
        let regions = ["A", "B", "C"].into_iter().zip((BASE..).step_by(usize::try_from(bytes).unwrap()));
        let tables = Tables { regions: regions.map(region).collect(), ..Tables::default() };
        collect(&MemoryTrace::new(self.references, tables), config, false).unwrap()
    }
}

fn standard(n: u64, transposed: bool) -> Arrays {
    let mut a = Arrays { n, references: Vec::new() };
    for i in 0..n {
        for j in 0..n {
            for k in 0..n {
                a.touch(Kind::Read, 0, i, k);
                let (row, column) = if transposed { (j, k) } else { (k, j) };
                a.touch(Kind::Read, 1, row, column);
            }
            a.touch(Kind::Write, 2, i, j);
        }
    }
    a
}

/// `add`: the block's sum is added to C (a read and a write), else stored.
fn blocked(n: u64, add: bool) -> Arrays {
    let mut a = Arrays { n, references: Vec::new() };
    let blocks = || (0..n).step_by(4);
    for (bi, bj, bk) in blocks().flat_map(|i| blocks().flat_map(move |j| blocks().map(move |k| (i, j, k)))) {
        for i in bi..bi + 4 {
            for j in bj..bj + 4 {
                for k in bk..bk + 4 {
                    a.touch(Kind::Read, 0, i, k);
                    a.touch(Kind::Read, 1, k, j);
                }
                if add {
                    a.touch(Kind::Read, 2, i, j);
                }
                a.touch(Kind::Write, 2, i, j);
            }
        }
    }
    a
}

fn check(what: &str, arrays: Arrays, config: &HierarchyConfig, references: u64, misses: [u64; 3]) {
    let stats = arrays.stats(config);
    assert_eq!(stats.trace.references, references, "{what}");
    let found: Vec<(&str, u64)> = stats.regions.iter().map(|r| (r.name, r.misses.counts()[0])).collect();
    assert_eq!(found, [("A", misses[0]), ("B", misses[1]), ("C", misses[2])], "{what}");
    let l1 = &stats.levels[0];
    assert_eq!(l1.read_misses + l1.write_misses, misses.iter().sum::<u64>(), "{what}");
    assert_eq!(l1.compulsory + l1.capacity + l1.conflict, l1.misses(), "{what}");
    assert_eq!(l1.compulsory, stats.levels[1].compulsory, "{what}: every line is new to both levels once");
}

#[test]
fn misses_by_array() {
    let paper = preset("paper").unwrap();
    check("16x16 standard", standard(16, false), &paper, 8448, [544, 4096, 256]);
    check("16x16 transposed", standard(16, true), &paper, 8448, [64, 1024, 64]);
    check("16x16 blocked, C stored", blocked(16, false), &paper, 9216, [252, 256, 232]);
    check("16x16 blocked, C added to", blocked(16, true), &paper, 10_240, [252, 256, 232]);
    check("12x12 blocked, C stored", blocked(12, false), &paper, 3888, [108, 108, 54]);
    check("12x12 blocked, C added to", blocked(12, true), &paper, 4320, [108, 108, 54]);
}

/// The trap: with half the ways a block of B no longer fits, since a row's pitch puts its lines into one set.
#[test]
fn half_the_ways_lose_the_blocked_multiplication() {
    let mut config = preset("paper").unwrap();
    config.levels[0] = LevelConfig::new("L1", 0, 256, Ways::Count(4), 32);
    let misses_of_b = |arrays: Arrays| arrays.stats(&config).regions.get(1).expect("B").misses.counts()[0];
    assert_eq!(misses_of_b(blocked(16, true)), 4096);
    assert_eq!(misses_of_b(blocked(12, true)), 108);
}
