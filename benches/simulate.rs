//! Speed of the simulator, one thread, trace in memory: L1 32 KiB 8-way and L2 1 MiB 16-way, 64-byte lines, LRU,
//! write-back.
//!
//! First a table: accesses a second with no observer, beside the hand-written C loops of `floor/floor.c`, both timed in
//! turns in this run, the fastest round of each; their counts must be equal. Then, by criterion, what is watched.

#![expect(clippy::print_stdout, reason = "a bench reports there")]

mod floor;

use criterion::{Criterion, Throughput, criterion_group};
use floor::traces::Trace;
use floor::{Counts, Floor, Program};
use orrery::reference::{Reference, Tables};
use orrery::sim::config::{HierarchyConfig, LevelConfig, MemoryConfig, Ways};
use orrery::sim::{Hierarchy, StatsCollector};
use orrery::units::LevelId;
use std::hint::black_box;
use std::time::Instant;

/// Rounds of each trace; more where the machine has other work.
const ROUNDS: u32 = 15;

fn config() -> HierarchyConfig {
    let levels = vec![
        LevelConfig::new("L1", 0, 32 << 10, Ways::Count(8), 64),
        LevelConfig::new("L2", 1, 1 << 20, Ways::Count(16), 64),
    ];
    HierarchyConfig { name: "bench".into(), levels, memory: MemoryConfig::default(), data_only: false }
}

/// What the floor counts, as the simulator counted it.
fn counts(hierarchy: &Hierarchy) -> Counts {
    let mut counts = [0; 18];
    for (level, counts) in [LevelId(0), LevelId(1)].into_iter().zip(counts.chunks_exact_mut(8)) {
        let c = hierarchy.counters(level);
        let accesses = [c.read_accesses, c.write_accesses, c.fetch_accesses];
        counts[..3].copy_from_slice(&accesses);
        counts[3..].copy_from_slice(&[c.read_misses, c.write_misses, c.fetch_misses, c.evictions, c.writebacks]);
    }
    counts[16] = hierarchy.memory_counters().reads;
    counts[17] = hierarchy.memory_counters().writes;
    counts
}

/// Seconds of one run from empty caches.
fn time(references: &[Reference], play: impl Fn(&mut Hierarchy, &[Reference])) -> (f64, Hierarchy) {
    let mut hierarchy = Hierarchy::new(&config()).expect("sound");
    let start = Instant::now();
    play(&mut hierarchy, black_box(references));
    (start.elapsed().as_secs_f64(), hierarchy)
}

/// Prints the table.
fn compare(traces: &[Trace], program: Result<&Program, &String>) {
    match program {
        Ok(_) => println!("M accesses/s, fastest of {ROUNDS} rounds in turns; the floor is benches/floor/floor.c"),
        Err(why) => println!("M accesses/s, fastest of {ROUNDS} rounds; no floor: {why}"),
    }
    println!("{:8} {:>10} {:>10} {:>10} {:>14} {:>10}", "trace", "references", "play", "one by one", "floor", "play/floor");
    for trace in traces {
        let references = &trace.references;
        let mut floor = program.ok().map(|program| program.start(references));
        let (mut play, mut single) = (f64::MAX, f64::MAX);
        let mut loops: Vec<(String, f64)> = Vec::new();
        let mut ours = [0; 18];
        for _ in 0..ROUNDS {
            let (seconds, hierarchy) = time(references, |h, references| h.play(references, &mut ()));
            (play, ours) = (play.min(seconds), counts(&hierarchy));
            let each = |h: &mut Hierarchy, references: &[Reference]| references.iter().for_each(|r| h.access(r, &mut ()));
            let (seconds, hierarchy) = time(references, each);
            single = single.min(seconds);
            assert_eq!(counts(&hierarchy), ours, "{}: play counts otherwise than access", trace.name);
            for (name, seconds) in floor.as_mut().map(Floor::round).unwrap_or_default() {
                match loops.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, best)) => *best = best.min(seconds),
                    None => loops.push((name, seconds)),
                }
            }
        }
        if let Some(floor) = floor {
            assert_eq!(floor.end(), ours, "{}: the floor counts otherwise than the simulator", trace.name);
        }
        let rate = |seconds: f64| format!("{:.0}", references.len() as f64 / seconds / 1e6);
        let best = loops.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let beside = best.map_or_else(String::new, |(name, s)| format!("{name} {}", rate(*s)));
        let ratio = best.map_or_else(String::new, |(_, seconds)| format!("{:.2}", seconds / play));
        println!(
            "{:8} {:>10} {:>10} {:>10} {beside:>14} {ratio:>10}  {}",
            trace.name,
            references.len(),
            rate(play),
            rate(single),
            trace.made
        );
    }
}

fn watched(c: &mut Criterion, traces: &[Trace]) {
    for Trace { name, references, .. } in traces {
        let references = &references[..references.len().min(1_000_000)];
        let mut group = c.benchmark_group(*name);
        group.sample_size(10).throughput(Throughput::Elements(references.len() as u64));
        let empty = Hierarchy::new(&config()).expect("sound");
        group.bench_function("unobserved", |b| {
            b.iter(|| {
                let mut hierarchy = empty.clone();
                hierarchy.play(black_box(references), &mut ());
                hierarchy
            });
        });
        let fresh = StatsCollector::new(&config(), &Tables::default()).expect("sound");
        group.bench_function("regions and classes", |b| {
            b.iter(|| {
                let mut collector = fresh.clone();
                for reference in black_box(references) {
                    collector.play(reference);
                }
                collector
            });
        });
        group.finish();
    }
}

fn simulate(c: &mut Criterion) {
    let folder = floor::folder();
    let traces = floor::traces::all(&folder);
    // As a test (`cargo test --benches`) nothing is measured.
    if std::env::args().any(|argument| argument == "--bench") {
        compare(&traces, Program::new(&folder).as_ref());
    }
    watched(c, &traces);
}

criterion_group!(benches, simulate);

fn main() {
    benches();
    Criterion::default().configure_from_args().final_summary();
}
