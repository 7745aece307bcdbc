//! Stack distances, one thread, trace in memory: 20 million references of a stream, uniform and Zipf draws over 64 MiB, lines of 64 bytes.
//!
//! Prints accesses a second, exact and sampled, beside a hand-written C program (`floor/distance.c`, a hash table and a Fenwick
//! tree) on the same records in the same run; their counts must be equal. Of the sample it prints the error that it states and the
//! one that it has.
//!
//! As a test (`cargo test --benches`) a short trace is played once, for the counts.

#![expect(clippy::print_stdout, reason = "a bench reports there")]

#[expect(dead_code, reason = "of the other programs nothing is needed here")]
mod floor;

use orrery::analysis::{SampledDistances, StackDistances, Touches};
use orrery::reference::Reference;
use orrery::trace::synth;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const LENGTH: u64 = 20_000_000;
const ROUNDS: u32 = 3;

/// The least seconds of some rounds, and the last answer.
fn timed<T>(rounds: u32, mut run: impl FnMut() -> T) -> (f64, T) {
    let mut once = || {
        let start = Instant::now();
        let answer = black_box(run());
        (start.elapsed().as_secs_f64(), answer)
    };
    let first = once();
    (1..rounds).fold(first, |(least, _), _| {
        let (seconds, answer) = once();
        (least.min(seconds), answer)
    })
}

#[expect(clippy::cast_precision_loss, reason = "a rate")]
fn rate(accesses: u64, seconds: f64) -> f64 {
    accesses as f64 / seconds / 1e6
}

/// What the C program says: seconds, accesses, first touches, checksum.
fn floor(references: &[Reference]) -> Result<(f64, [u64; 3]), String> {
    let folder = floor::folder();
    let program = folder.join("distance");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/floor/distance.c");
    floor::compile(&source, &program, &["-O3", "-march=native", "-Wall", "-Wextra"])?;
    let trace = folder.join("distance.trace");
    floor::write(references, &trace);
    let output = Command::new(&program).arg(&trace).output().map_err(|e| e.to_string())?;
    let _ = std::fs::remove_file(&trace);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |n: usize| words.get(n).and_then(|word| word.parse().ok()).ok_or("the floor failed");
    let seconds = words.first().and_then(|word| word.parse().ok()).ok_or("the floor failed")?;
    Ok((seconds, [number(1)?, number(2)?, number(3)?]))
}

fn main() {
    let measure = std::env::args().any(|argument| argument == "--bench");
    let (length, rounds) = if measure { (LENGTH, ROUNDS) } else { (100_000, 1) };
    let references: Vec<Reference> = synth::mix(length, 1).collect();
    let touches = Touches::new(6, false);
    let (seconds, exact) = timed(rounds, || {
        let mut distances = StackDistances::new(touches);
        distances.play(&references);
        distances
    });
    println!("{} accesses, {} lines", exact.accesses(), exact.cold());
    println!("exact         {:7.1} M accesses/s", rate(exact.accesses(), seconds));
    match floor(&references) {
        Ok((floor_seconds, [accesses, cold, check])) => {
            let pairs = exact.histogram().pairs();
            let ours = pairs.iter().map(|(distance, count)| (u64::from(*distance) + 1) * count % 1_000_003).sum();
            assert_eq!([exact.accesses(), exact.cold(), ours], [accesses, cold, check], "the floor counts otherwise");
            println!(
                "hash, Fenwick {:7.1} M accesses/s; ratio {:.2}",
                rate(accesses, floor_seconds),
                floor_seconds / seconds
            );
        }
        Err(why) => println!("no floor: {why}"),
    }
    for part in [0.1, 0.01, 0.001] {
        let (seconds, sample) = timed(rounds, || {
            let mut sample = SampledDistances::new(touches, part).expect("a rate");
            sample.play(&references);
            sample
        });
        let (mut worst, mut stated, mut sizes) = (0.0f64, 0.0f64, 0);
        for lines in (0..20).map(|bits| 1u64 << bits) {
            let Some((ratio, error)) = sample.miss_ratio(lines) else { continue };
            #[expect(clippy::cast_precision_loss, reason = "a share")]
            let truth = exact.misses(lines) as f64 / exact.accesses() as f64;
            worst = worst.max((ratio - truth).abs());
            stated = stated.max(error);
            sizes += 1;
        }
        println!(
            "1 line of {:5.0} {:6.1} M accesses/s; {sizes} sizes: miss ratio off by {worst:.4} at most, {stated:.4} stated",
            1.0 / part,
            rate(sample.accesses(), seconds)
        );
    }
}
