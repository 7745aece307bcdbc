//! How fast traces are written and read: references or lines a second.

#![expect(clippy::print_stdout, reason = "a bench reports there")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use orrery::reference::{Kind, Reference, ReferenceSource, Tables};
use orrery::trace::native::{CHUNK, NativeTrace, Writer};
use orrery::trace::{Format, Stream, synth};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
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

criterion_group!(benches, native, text);
criterion_main!(benches);
