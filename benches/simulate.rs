//! Speed of the simulator, one thread, trace in memory: accesses a second with no observer, and with all of them.
//! L1 32 KiB 8-way and L2 1 MiB 16-way, 64-byte lines, LRU, write-back.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use orrery::reference::{Kind, Reference, Tables};
use orrery::sim::config::{HierarchyConfig, LevelConfig, Ways};
use orrery::sim::{Hierarchy, StatsCollector};
use std::hint::black_box;

const LENGTH: u64 = 2_000_000;

fn config() -> HierarchyConfig {
    let levels = vec![
        LevelConfig::new("L1", 0, 32 << 10, Ways::Count(8), 64),
        LevelConfig::new("L2", 1, 1 << 20, Ways::Count(16), 64),
    ];
    HierarchyConfig::new("bench", levels)
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// Uniform over 16 KiB: all in L1, seldom at the head of its set.
fn hot() -> Vec<Reference> {
    let mut random = Random(1);
    (0..LENGTH).map(|_| Reference::new(Kind::Read, 0x10_0000 + (random.below(16 << 10) & !7), 8)).collect()
}

/// 40 % a stream, 20 % uniform over 64 MiB, 40 % skewed to few lines; 30 % stores.
fn mix() -> Vec<Reference> {
    let mut random = Random(2);
    let mut stream = 0;
    let addr = |random: &mut Random| match random.below(10) {
        0..4 => {
            stream += 8;
            0x1000_0000 + stream % (64 << 20)
        }
        4..6 => 0x2000_0000 + (random.below(64 << 20) & !7),
        // The product of two uniform numbers crowds at the low end.
        _ => 0x3000_0000 + (random.below(1 << 12) * random.below(1 << 6)) * 64,
    };
    let mut addr = addr;
    let mut one = || {
        let addr = addr(&mut random);
        let kind = if random.below(10) < 3 { Kind::Write } else { Kind::Read };
        Reference::new(kind, addr, 8)
    };
    (0..LENGTH).map(|_| one()).collect()
}

/// The standard 100 x 100 multiplication of doubles: 2.01 million references.
fn matmul() -> Vec<Reference> {
    let at = |array: u64, row: u64, column: u64| 0x10_0000 + 8 * ((array * 100 + row) * 100 + column);
    let mut out = Vec::new();
    for (i, j) in (0..100).flat_map(|i| (0..100).map(move |j| (i, j))) {
        for k in 0..100 {
            out.push(Reference::new(Kind::Read, at(0, i, k), 8));
            out.push(Reference::new(Kind::Read, at(1, k, j), 8));
        }
        out.push(Reference::new(Kind::Write, at(2, i, j), 8));
    }
    out
}

fn simulate(c: &mut Criterion) {
    for (name, trace) in [("hot", hot()), ("mix", mix()), ("matmul", matmul())] {
        let mut group = c.benchmark_group(name);
        group.sample_size(10).throughput(Throughput::Elements(trace.len() as u64));
        let empty = Hierarchy::new(&config()).expect("sound");
        group.bench_function("unobserved", |b| {
            b.iter(|| {
                let mut hierarchy = empty.clone();
                for reference in black_box(&trace) {
                    hierarchy.access(reference, &mut ());
                }
                hierarchy
            });
        });
        let fresh = StatsCollector::new(&config(), &Tables::default()).expect("sound");
        group.bench_function("regions and classes", |b| {
            b.iter(|| {
                let mut collector = fresh.clone();
                for reference in black_box(&trace) {
                    collector.play(reference);
                }
                collector
            });
        });
        group.finish();
    }
}

criterion_group!(benches, simulate);
criterion_main!(benches);
