//! How fast traces are written and read: references or lines a second.

#![expect(clippy::print_stdout, reason = "a bench reports there")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use orrery::reference::{Reference, ReferenceSource, Tables};
use orrery::trace::lackey::Reader;
use orrery::trace::native::{CHUNK, NativeTrace, Writer};
use orrery::trace::synth;
use std::fmt::Write as _;
use std::io::Write as _;

const N: u64 = 8 * CHUNK as u64;

fn written(references: &[Reference]) -> Vec<u8> {
    let mut writer = Writer::new("memory", Vec::new());
    writer.write(references).expect("valid references");
    writer.finish(&Tables::default()).expect("memory does not fail")
}

fn native(c: &mut Criterion) {
    let mut group = c.benchmark_group("native");
    group.throughput(Throughput::Elements(N)).sample_size(10);
    let order = synth::MatmulOrder::Standard;
    let multiply = synth::matmul(96, order);
    let loops: Vec<Reference> = multiply.references().iter().copied().cycle().take(CHUNK * 8).collect();
    for (name, references) in [("mix", synth::mix(N, 1).collect()), ("matmul", loops)] {
        let bytes = written(&references);
        println!("{name}: {:.2} bytes a reference", bytes.len() as f64 / N as f64);
        group.bench_function(format!("write {name}"), |b| {
            b.iter_batched(|| (), |()| written(&references), BatchSize::PerIteration);
        });
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(&bytes).expect("room for it");
        let trace = NativeTrace::from_file("bench", file).expect("whole");
        group.bench_function(format!("read {name}"), |b| {
            b.iter(|| (0..8).map(|i| trace.chunk(i).expect("whole").len()).sum::<usize>());
        });
    }
    group.finish();
}

fn lackey(c: &mut Criterion) {
    let mut text = String::new();
    for (i, r) in (0u64..).zip(synth::mix(N / 4, 1)) {
        let letter = if r.kind as u8 == 0 { 'L' } else { 'S' };
        for k in 0..3 {
            let _ = writeln!(text, "I  {:08x},4", 0x40_1000 + 12 * (i % 50) + 4 * k);
        }
        let _ = writeln!(text, " {letter} {:08x},{}", r.addr, r.size);
    }
    let mut group = c.benchmark_group("lackey");
    group.throughput(Throughput::Elements(N)).sample_size(10);
    group.bench_function("read lines", |b| {
        let mut chunk = Vec::new();
        b.iter(|| {
            let mut reader = Reader::new("bench", text.as_bytes());
            let mut n = 0;
            loop {
                reader.next_chunk(CHUNK, &mut chunk).expect("sound text");
                if chunk.is_empty() {
                    break n;
                }
                n += chunk.len();
            }
        });
    });
    group.finish();
}

criterion_group!(benches, native, lackey);
criterion_main!(benches);
