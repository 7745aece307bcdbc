//! Speed of the simulator, one thread, trace in memory: L1 32 KiB 8-way and L2 1 MiB 16-way, 64-byte lines, LRU,
//! write-back.
//!
//! Prints accesses a second with no observer, beside the hand-written C loops of `floor/floor.c`, in turns in this run;
//! their counts must be equal. Other work on the machine stretches some parts of some rounds, so each part of a trace is
//! timed by itself, and the shortest of all rounds counts. What watching costs is in `observers`.
//!
//! As a test (`cargo test --benches`) nothing is measured, and short traces are played once, for the counts.

#![expect(clippy::print_stdout, reason = "a bench reports there")]

mod floor;

use floor::traces::Trace;
use floor::{Counts, Program};
use orrery::reference::Reference;
use orrery::sim::Hierarchy;
use orrery::sim::config::{HierarchyConfig, LevelConfig, Ways};
use orrery::units::LevelId;
use std::hint::black_box;
use std::time::Instant;

/// How often each trace is played by each loop when it is measured.
const ROUNDS: u32 = 15;
/// References timed at a time: a millisecond or less.
const PART: usize = 1 << 16;

fn config() -> HierarchyConfig {
    let levels = vec![
        LevelConfig::new("L1", 0, 32 << 10, Ways::Count(8), 64),
        LevelConfig::new("L2", 1, 1 << 20, Ways::Count(16), 64),
    ];
    HierarchyConfig::new("bench", levels)
}

/// What the floor counts, as the simulator counted it.
fn counts(hierarchy: &Hierarchy) -> Counts {
    let mut counts = [0; 18];
    for (level, counts) in [LevelId(0), LevelId(1)].into_iter().zip(counts.chunks_exact_mut(8)) {
        let c = hierarchy.level_counters(level);
        let accesses = [c.read_accesses, c.write_accesses, c.fetch_accesses];
        counts[..3].copy_from_slice(&accesses);
        counts[3..].copy_from_slice(&[c.read_misses, c.write_misses, c.fetch_misses, c.evictions, c.writebacks]);
    }
    counts[16] = hierarchy.memory_counters().reads;
    counts[17] = hierarchy.memory_counters().writes;
    counts
}

/// The shortest seconds of each part of a trace.
struct Shortest(Vec<f64>);

impl Shortest {
    fn new(references: &[Reference]) -> Self {
        Self(vec![f64::MAX; references.len().div_ceil(PART)])
    }

    /// One more round, from empty caches.
    fn round(&mut self, references: &[Reference], play: impl Fn(&mut Hierarchy, &[Reference])) -> Hierarchy {
        let mut hierarchy = Hierarchy::new(&config()).expect("sound");
        for (part, shortest) in references.chunks(PART).zip(&mut self.0) {
            let start = Instant::now();
            play(&mut hierarchy, black_box(part));
            *shortest = shortest.min(start.elapsed().as_secs_f64());
        }
        hierarchy
    }

    fn seconds(&self) -> f64 {
        self.0.iter().sum()
    }
}

/// Prints the table of so many rounds.
fn compare(traces: &[Trace], program: Result<&Program, &String>, rounds: u32) {
    let floor = program.map_or_else(|why| format!("no floor: {why}"), |_| "the floor is benches/floor/floor.c".into());
    println!("M accesses/s, the shortest of {rounds} rounds for each {PART} references; {floor}");
    println!("{:8} {:>10} {:>6} {:>10} {:>7}  by loop", "trace", "references", "play", "one by one", "ratio");
    for trace in traces {
        let references = &trace.references;
        let mut floor = program.ok().map(|program| program.start(references, PART));
        let (mut play, mut single) = (Shortest::new(references), Shortest::new(references));
        let mut ours = [0; 18];
        for _ in 0..rounds {
            ours = counts(&play.round(references, |h, part| h.play(part, &mut ())));
            let hierarchy = single.round(references, |h, part| part.iter().for_each(|r| h.access(r, &mut ())));
            assert_eq!(counts(&hierarchy), ours, "{}: play counts otherwise than access", trace.name);
            if let Some(floor) = &mut floor {
                floor.round();
            }
        }
        let rate = |seconds: f64| format!("{:.0}", references.len() as f64 / seconds / 1e6);
        let (mut ratio, mut loops) = (String::new(), String::new());
        if let Some(floor) = floor {
            let (times, theirs) = floor.end();
            assert_eq!(theirs, ours, "{}: the floor counts otherwise than the simulator", trace.name);
            let best = times.iter().map(|(_, seconds)| *seconds).fold(f64::MAX, f64::min);
            ratio = format!("{:.2}", best / play.seconds());
            loops = times.iter().map(|(name, seconds)| format!("{name} {} ", rate(*seconds))).collect();
        }
        let (play, single) = (rate(play.seconds()), rate(single.seconds()));
        println!("{:8} {:>10} {play:>6} {single:>10} {ratio:>7}  {loops}", trace.name, references.len());
    }
    for trace in traces {
        println!("{}: {}", trace.name, trace.made);
    }
}

fn main() {
    let measure = std::env::args().any(|argument| argument == "--bench");
    let folder = floor::folder();
    let mut traces = floor::traces::all(&folder, measure);
    if !measure {
        traces.iter_mut().for_each(|trace| trace.references.truncate(100_000));
    }
    compare(&traces, Program::new(&folder).as_ref(), if measure { ROUNDS } else { 1 });
}
