//! How fast traces are written and read: references or lines a second.

#![expect(
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    reason = "a bench reports there; its numbers are its own"
)]

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_ipc::writer::StreamWriter;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use orrery::reference::{Kind, Reference, ReferenceSource, Tables};
use orrery::trace::native::{CHUNK, NativeTrace, Writer};
use orrery::trace::{Format, Stream, synth};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

const N: u64 = 8 * CHUNK as u64;

/// Rounds of which the fastest counts, where two programs are compared.
const ROUNDS: usize = 30;

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

/// Three fetches, then a load or store, over and over, as each format writes them.
fn text_of(format: Format) -> String {
    let mut text = String::new();
    let mut line = |kind: Kind, pc: u64, addr: u64, size: u32| {
        let letter = ["R", "W", "M", "I"][kind as usize];
        let _ = match format.name() {
            "lackey" => {
                let letter = ["L", "S", "M", "I"][kind as usize];
                let (before, after) = if letter == "I" { ("", " ") } else { (" ", "") };
                writeln!(text, "{before}{letter}{after} {addr:08x},{size}")
            }
            "xdin" => writeln!(text, "{} {addr:x} {size:x}", letter.to_lowercase()),
            "din" => writeln!(text, "{} {addr:x}", [0, 1, 1, 2][kind as usize]),
            "pin" => writeln!(text, "0x{pc:x}: {} 0x{addr:x}", letter.replace('I', "R")),
            _ => writeln!(text, "0x{addr:x},{size},{letter},0x{pc:x}"),
        };
    };
    for (i, r) in (0u64..).zip(synth::mix(N / 4, 1)) {
        let pc = 0x40_1000 + 12 * (i % 50);
        for k in 0..3 {
            line(Kind::Fetch, pc + 4 * k, pc + 4 * k, 4);
        }
        line(r.kind, pc + 8, r.addr, r.size);
    }
    match format.name() {
        "csv" => format!("address,size,kind,pc\n{text}"),
        "pin" => text + "#eof\n",
        _ => text,
    }
}

/// All of a file through the door that a user comes through: its format told from content, its text from the page cache.
fn read_all(path: &Path, chunk: &mut Vec<Reference>) -> usize {
    let mut stream = Stream::open(path, None).expect("sound text");
    let mut n = 0;
    loop {
        stream.next_chunk(chunk).expect("sound text");
        if chunk.is_empty() {
            return n;
        }
        n += chunk.len();
    }
}

/// Lines a second of `benches/floor/text.c`; why not, where it cannot be compiled or run.
fn floor(folder: &Path, format: &str, path: &Path) -> Result<f64, String> {
    let program = folder.join("text");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/floor/text.c");
    let words = |e: std::io::Error| e.to_string();
    let compiled = Command::new("gcc").args(["-O3", "-march=native", "-o"]).args([&program, &source]).status();
    if !compiled.map_err(words)?.success() {
        return Err("gcc refuses it".into());
    }
    let out = Command::new(&program).arg(format).arg(path).arg(ROUNDS.to_string()).output().map_err(words)?;
    let out = String::from_utf8_lossy(&out.stdout).into_owned();
    let mut numbers = out.split_whitespace().map(|word| word.parse::<f64>().unwrap_or(f64::NAN));
    let (lines, seconds) = numbers.next().zip(numbers.next()).ok_or("it says nothing")?;
    Ok(lines / seconds)
}

fn text(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut group = c.benchmark_group("text");
    group.throughput(Throughput::Elements(N)).sample_size(10);
    for format in [Format::LACKEY, Format::XDIN, Format::DIN, Format::PIN, Format::CSV] {
        let path = folder.path().join(format.name());
        std::fs::write(&path, text_of(format)).expect("room for it");
        let mut chunk = Vec::new();
        assert_eq!(read_all(&path, &mut chunk) as u64, N, "{}", format.name());
        if matches!(format.name(), "lackey" | "xdin") {
            // The floor before and after, ours between, each the best of many: a busy machine is busy for both.
            let before = floor(folder.path(), format.name(), &path);
            let ours = (0..ROUNDS).map(|_| {
                let start = Instant::now();
                read_all(&path, &mut chunk) as f64 / start.elapsed().as_secs_f64()
            });
            let ours = ours.fold(0.0, f64::max);
            match (before, floor(folder.path(), format.name(), &path)) {
                (Ok(a), Ok(b)) => println!(
                    "text/{}: {:.1} M lines/s, {:.2} of the plain C loop's {:.1}",
                    format.name(),
                    ours / 1e6,
                    ours / a.max(b),
                    a.max(b) / 1e6
                ),
                (Err(why), _) | (_, Err(why)) => println!("text/{}: no floor ({why})", format.name()),
            }
        }
        group.bench_function(format.name(), |b| b.iter(|| read_all(&path, &mut chunk)));
    }
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

criterion_group!(benches, native, text, binary);
criterion_main!(benches);
