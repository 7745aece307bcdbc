//! How fast traces are written and read: references or lines a second.

#![expect(
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    reason = "a bench reports there; its numbers are its own"
)]

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_ipc::writer::StreamWriter;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use orrery::reference::{Reference, ReferenceSource, Tables};
use orrery::trace::lackey::Reader;
use orrery::trace::native::{CHUNK, NativeTrace, Writer};
use orrery::trace::{Format, Stream, synth};
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

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

/// Two million references and more in each binary format. `cargo bench --bench traces -- binary`
fn binary(c: &mut Criterion) {
    let references: Vec<Reference> = synth::mix(N, 1).collect();
    let reads = |r: &Reference| u8::from(r.kind as u8 == 1);
    let mut dinero = Vec::new();
    let mut champsim = Vec::new();
    let mut drmemtrace = entry(25, 0, 7);
    let mut gem5 = b"gem5\x05\x0a\x01m\x18\x01".to_vec();
    let mut accelsim = "-kernel name = k\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n".to_owned();
    for (i, r) in (0u64..).zip(&references) {
        let pc = 0x40_1000 + 4 * (i % 50);
        dinero.extend_from_slice(&(r.addr as u32).to_le_bytes());
        dinero.extend_from_slice(&[r.size.min(64) as u8, 0, reads(r), 0]);
        if i % 2 == 0 {
            let mut record = [0; 64];
            record[..8].copy_from_slice(&pc.to_le_bytes());
            record[32..40].copy_from_slice(&r.addr.to_le_bytes());
            champsim.extend_from_slice(&record);
            drmemtrace.extend(entry(10, 4, pc));
        } else {
            drmemtrace.extend(entry(u16::from(reads(r)), r.size.min(64) as u16, r.addr));
        }
        let mut packet = vec![8];
        varint(&mut packet, 500 * i);
        packet.extend_from_slice(&[16, 1 + 3 * reads(r), 24]);
        varint(&mut packet, r.addr);
        packet.extend_from_slice(&[32, r.size.min(64) as u8, 40, 0]);
        gem5.push(packet.len() as u8);
        gem5.extend_from_slice(&packet);
        if i % 32 == 0 {
            let _ = writeln!(accelsim, "00a0 ffffffff 1 R4 LDG.E 1 R4 4 1 0x{:x} 4 0 ", r.addr);
        }
    }
    let mut group = c.benchmark_group("binary");
    group.throughput(Throughput::Elements(N)).sample_size(10);
    let files = [
        (Format::DINERO, dinero),
        (Format::CHAMPSIM, champsim),
        (Format::DRMEMTRACE, drmemtrace),
        (Format::GEM5, gem5),
        (Format::ACCELSIM, accelsim.into_bytes()),
        (Format::PARQUET, written(&references)),
        (Format::ARROW, arrow(&references)),
    ];
    for (format, bytes) in files {
        println!("{}: {:.2} bytes a reference", format.name(), bytes.len() as f64 / N as f64);
        group.bench_function(format!("read {}", format.name()), |b| {
            b.iter_batched(|| bytes.clone(), |bytes| assert_eq!(count(bytes, format), N), BatchSize::PerIteration);
        });
    }
    group.finish();
}

/// References of a trace, all read.
fn count(bytes: Vec<u8>, format: Format) -> u64 {
    let mut stream = Stream::of_bytes("bench", bytes, Some(format)).expect("a sound trace");
    let (mut chunk, mut n) = (Vec::new(), 0);
    loop {
        stream.next_chunk(&mut chunk).expect("a sound trace");
        if chunk.is_empty() {
            return n;
        }
        n += chunk.len() as u64;
    }
}

/// A record of drmemtrace.
fn entry(kind: u16, size: u16, addr: u64) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &size.to_le_bytes(), &addr.to_le_bytes()].concat()
}

fn varint(out: &mut Vec<u8>, mut n: u64) {
    while n > 0x7f {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Address, size and kind (as a word) in batches of 65,536.
fn arrow(references: &[Reference]) -> Vec<u8> {
    let mut writer: Option<StreamWriter<Vec<u8>>> = None;
    for chunk in references.chunks(1 << 16) {
        let column = |name, array: ArrayRef| (name, array);
        let batch = RecordBatch::try_from_iter([
            column("address", Arc::new(UInt64Array::from_iter_values(chunk.iter().map(|r| r.addr)))),
            column("size", Arc::new(UInt32Array::from_iter_values(chunk.iter().map(|r| r.size)))),
            column("op", Arc::new(chunk.iter().map(|r| Some(r.kind.verb())).collect::<StringArray>())),
        ])
        .expect("columns of one length");
        let writer =
            writer.get_or_insert_with(|| StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a schema"));
        writer.write(&batch).expect("memory does not fail");
    }
    writer.expect("references").into_inner().expect("memory does not fail")
}

criterion_group!(benches, native, lackey, binary);
criterion_main!(benches);
