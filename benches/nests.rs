//! Streams of nests: accesses a second of one thread, and any access of a long one.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use orrery::nest::{Settings, Walk, loops};
use orrery::reference::ReferenceSource;
use std::hint::black_box;

fn walk(text: &str, set: &[(&str, i64)]) -> Walk {
    let nest = loops::Source::parse("bench", text).and_then(|s| s.bind(&Settings::of(set.iter().copied())));
    Walk::new(nest.expect("a nest"), 64).expect("a walk")
}

const MATMUL: &str = "param N = 1000\narray A[N, N]\narray B[N, N]\narray C[N, N]\n\
    for i in 0..N, j in 0..N, k in 0..N { C[i, j] += A[i, k] * B[k, j] }";
const TRIANGLE: &str = "param N = 1800\narray A[N, N]\nfor i in 0..N, j in 0..=i, k in j..=i { read A[j, k] }";
const TILED: &str =
    "param N = 1000\narray A[N, N] tiled (8, 8)\nfor i in 0..N tile 16, j in 0..N tile 16 { A[i, j] = A[j, i] }";

fn streams(c: &mut Criterion) {
    let mut group = c.benchmark_group("nests");
    let batches = 64;
    for (name, text) in [("matmul", MATMUL), ("triangle", TRIANGLE), ("tiled", TILED)] {
        let walk = walk(text, &[]);
        let mut out = Vec::new();
        group.throughput(Throughput::Elements(batches << 16));
        group.bench_function(format!("stream of {name}"), |b| {
            b.iter(|| {
                for n in 0..batches {
                    walk.read((n << 16) % walk.len(), 1 << 16, &mut out).expect("a walk");
                    black_box(&out);
                }
            });
        });
        group.throughput(Throughput::Elements(1));
        let mut at = 1u64;
        group.bench_function(format!("seek in {name}"), |b| {
            b.iter(|| {
                at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                walk.read(at % walk.len(), 1, &mut out).expect("a walk");
                black_box(&out);
            });
        });
        group.bench_function(format!("opening {name}"), |b| b.iter(|| black_box(self::walk(text, &[]).len())));
    }
    group.finish();
}

criterion_group!(benches, streams);
criterion_main!(benches);
