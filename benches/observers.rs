//! What watching costs: the same trace through the same caches (L1 32 KiB 8-way, L2 1 MiB 16-way, 64-byte lines, LRU,
//! write-back) with nobody watching, with every event taken, with counts by region and source line, and with miss
//! classes. One thread, trace in memory; the variants take turns in one run, and the best of the rounds counts.
//!
//! `cargo bench --bench observers [-- ROUNDS [TRACE]]` prints million references a second and the ratio to nobody watching.

#![expect(clippy::print_stdout, clippy::cast_possible_truncation, reason = "a report; numbers below 2^53")]

use orrery::reference::{Kind, MemoryTrace, Reference, Region, SourceLocation, Tables};
use orrery::sim::config::{HierarchyConfig, LevelConfig, Ways};
use orrery::sim::stats::Detail;
use orrery::sim::{Classifier, Event, Hierarchy, Observer, StatsCollector};
use std::hint::black_box;
use std::time::Instant;

/// References of the two synthetic traces.
const LENGTH: usize = 4_000_000;

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
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// In [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A source line for each of the instructions `0x400000, 0x400004, ..` below `end`.
fn locations(end: u64) -> Vec<SourceLocation> {
    (0x40_0000..end)
        .step_by(4)
        .zip(10u32..)
        .map(|(pc, line)| SourceLocation {
            path: String::new(),
            pc,
            file: "bench.c".into(),
            line,
            function: "main".into(),
            text: String::new(),
        })
        .collect()
}

fn tables(regions: Vec<Region>) -> Tables {
    Tables { regions, locations: locations(0x40_0100), ..Tables::default() }
}

/// What one quicksort does to memory: the array, and a frame of the stack at each call.
struct Sort {
    values: Vec<u32>,
    out: Vec<Reference>,
    stack: u64,
}

const ARRAY: u64 = 0x60_0000;

impl Sort {
    fn note(&mut self, kind: Kind, pc: u64, addr: u64, size: u32) {
        self.out.push(Reference { pc: 0x40_0000 + 4 * pc, ..Reference::new(kind, addr, size) });
    }

    fn load(&mut self, pc: u64, at: usize) -> u32 {
        self.note(Kind::Read, pc, ARRAY + 4 * at as u64, 4);
        self.values[at]
    }

    fn store(&mut self, pc: u64, at: usize, value: u32) {
        self.note(Kind::Write, pc, ARRAY + 4 * at as u64, 4);
        self.values[at] = value;
    }

    /// Hoare's partition with the middle as pivot (Hoare 1961), insertion sort below 8, as C libraries do. Calls spill
    /// registers, compares read them back: as in compiled code, half of the references are to the stack.
    fn sort(&mut self, low: usize, high: usize) {
        self.stack -= 64;
        let frame = self.stack;
        for slot in 0..6 {
            self.note(Kind::Write, slot, frame + 8 * slot, 8);
        }
        if high - low < 8 {
            for i in low + 1..high {
                let value = self.load(6, i);
                let mut j = i;
                while j > low {
                    let other = self.load(7, j - 1);
                    self.note(Kind::Read, 8, frame + 8, 8);
                    if other <= value {
                        break;
                    }
                    self.store(9, j, other);
                    j -= 1;
                }
                self.store(10, j, value);
            }
        } else {
            let pivot = self.load(11, low + (high - low) / 2);
            let (mut i, mut j) = (low, high - 1);
            loop {
                while self.load(12, i) < pivot {
                    self.note(Kind::Read, 13, frame + 16, 8);
                    i += 1;
                }
                while self.load(14, j) > pivot {
                    self.note(Kind::Read, 15, frame + 24, 8);
                    j -= 1;
                }
                if i >= j {
                    break;
                }
                let (a, b) = (self.load(16, i), self.load(17, j));
                self.store(18, i, b);
                self.store(19, j, a);
                self.note(Kind::Modify, 20, frame + 32, 8);
                i += 1;
                j -= 1;
            }
            self.sort(low, j + 1);
            self.note(Kind::Read, 21, frame + 8, 8);
            self.sort(j + 1, high);
        }
        for slot in 0..6 {
            self.note(Kind::Read, 22 + slot, frame + 8 * slot, 8);
        }
        self.stack += 64;
    }
}

/// A quicksort of 60,000 random numbers.
fn qs() -> MemoryTrace {
    let mut random = Random(3);
    let values = (0..60_000).map(|_| (random.next() >> 33) as u32).collect();
    let mut sort = Sort { values, out: Vec::new(), stack: 0x7fff_f000 };
    sort.sort(0, 60_000);
    assert!(sort.values.is_sorted(), "the sort sorts");
    let regions = vec![Region::new("values", ARRAY, 240_000), Region::new("stack", 0x7fff_0000, 0xf000)];
    MemoryTrace::new(sort.out, tables(regions))
}

/// Uniform over 16 KiB: all in L1, seldom at the head of its set.
fn hot() -> MemoryTrace {
    let mut random = Random(1);
    let mut one = |n: usize| Reference {
        pc: 0x40_0000 + 4 * (n as u64 % 8),
        ..Reference::new(Kind::Read, 0x10_0000 + (random.below(16 << 10) & !7), 8)
    };
    MemoryTrace::new((0..LENGTH).map(&mut one).collect(), tables(vec![Region::new("table", 0x10_0000, 16 << 10)]))
}

/// Zipf-distributed ranks below `n` with exponent `s`, by rejection from the integral of the density (Hörmann and
/// Derflinger 1996).
struct Zipf {
    n: f64,
    s: f64,
}

impl Zipf {
    fn integral(&self, x: f64) -> f64 {
        x.powf(1.0 - self.s) / (1.0 - self.s)
    }

    fn rank(&self, random: &mut Random) -> u64 {
        let (low, high) = (self.integral(0.5), self.integral(self.n + 0.5));
        loop {
            let u = low + random.unit() * (high - low);
            let x = (u * (1.0 - self.s)).powf(1.0 / (1.0 - self.s));
            let k = x.round().clamp(1.0, self.n);
            if u >= self.integral(k + 0.5) - k.powf(-self.s) {
                return k as u64 - 1;
            }
        }
    }
}

/// 40 % a stream, 20 % uniform over 64 MiB, 40 % Zipf 0.9 over 256 Ki lines; 30 % stores.
fn mix() -> MemoryTrace {
    let mut random = Random(2);
    let zipf = Zipf { n: (1 << 18) as f64, s: 0.9 };
    let mut stream = 0;
    let mut one = || {
        let (pc, addr) = match random.below(10) {
            0..4 => {
                stream = (stream + 8) % (64 << 20);
                (0, 0x1000_0000 + stream)
            }
            4..6 => (1, 0x2000_0000 + (random.below(64 << 20) & !7)),
            // Ranks are strewn over the lines, so that neighbours are not equally popular.
            _ => (2, 0x3000_0000 + (zipf.rank(&mut random).wrapping_mul(0x9e37_79b1) % (1 << 18)) * 64),
        };
        let (kind, pc) = if random.below(10) < 3 { (Kind::Write, pc + 4) } else { (Kind::Read, pc) };
        Reference { pc: 0x40_0000 + 4 * pc, ..Reference::new(kind, addr, 8) }
    };
    let references = (0..LENGTH).map(|_| one()).collect();
    let regions = vec![
        Region::new("stream", 0x1000_0000, 64 << 20),
        Region::new("random", 0x2000_0000, 64 << 20),
        Region::new("zipf", 0x3000_0000, 16 << 20),
    ];
    MemoryTrace::new(references, tables(regions))
}

/// Takes every event, whole, into a ring.
struct Ring {
    events: [Event; 64],
    taken: usize,
}

impl Ring {
    fn new() -> Self {
        let nothing = Event::MemoryRead { origin: orrery::sim::Origin::FIRST, addr: orrery::units::Addr(0), bytes: 0 };
        Self { events: [nothing; 64], taken: 0 }
    }
}

impl Observer for Ring {
    #[inline(always)]
    fn event(&mut self, event: Event) {
        self.events[self.taken % 64] = event;
        self.taken += 1;
    }
}

fn play<O: Observer>(empty: &Hierarchy, references: &[Reference], observer: &mut O) -> Hierarchy {
    let mut hierarchy = empty.clone();
    hierarchy.play(black_box(references), observer);
    hierarchy
}

fn collect(trace: &MemoryTrace, detail: Detail) -> StatsCollector {
    let mut collector = StatsCollector::with(Hierarchy::new(&config()).expect("sound"), trace_tables(trace), detail);
    collector.play_all(black_box(trace.references()));
    collector
}

fn trace_tables(trace: &MemoryTrace) -> &Tables {
    orrery::reference::ReferenceSource::tables(trace)
}

/// Names and runs.
type Variants<'a> = &'a [(&'a str, &'a dyn Fn() -> u64)];

/// Best seconds of each variant over the rounds.
fn measure(rounds: usize, variants: Variants<'_>) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; variants.len()];
    for _ in 0..rounds {
        for (best, (_, run)) in best.iter_mut().zip(variants) {
            let start = Instant::now();
            black_box(run());
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best
}

fn report(name: &str, trace: &MemoryTrace, rounds: usize) {
    let empty = Hierarchy::new(&config()).expect("sound");
    let references = trace.references();
    let misses = |hierarchy: &Hierarchy| hierarchy.level_counters(orrery::units::LevelId(0)).misses();
    let unobserved = || misses(&play(&empty, references, &mut ()));
    let events = || {
        let mut ring = Ring::new();
        play(&empty, references, &mut ring);
        black_box(&ring).taken as u64
    };
    let regions = || misses(collect(trace, Detail { classes: false, lines: false }).hierarchy());
    let lines = || misses(collect(trace, Detail { classes: false, lines: true }).hierarchy());
    let classes = || {
        let mut classifier = Classifier::new(&empty);
        play(&empty, references, &mut classifier);
        classifier.counts(orrery::units::LevelId(0)).total()
    };
    let all = || misses(collect(trace, Detail { classes: true, lines: true }).hierarchy());
    let variants: Variants = &[
        ("nobody watching", &unobserved),
        ("every event", &events),
        ("regions", &regions),
        ("regions and lines", &lines),
        ("miss classes", &classes),
        ("all counts", &all),
    ];
    let best = measure(rounds, variants);
    let miss_rate = unobserved() as f64 / references.len() as f64;
    println!("{name}: {} references, {:.1} % miss L1", references.len(), 100.0 * miss_rate);
    for ((what, _), seconds) in variants.iter().zip(&best) {
        let speed = references.len() as f64 / seconds / 1e6;
        println!("  {what:18} {speed:7.1} M/s   {:.2}x   {:.1} ns", seconds / best[0], 1e3 / speed);
    }
}

fn main() {
    // Cargo passes `--bench`.
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let rounds = words.next().and_then(|word| word.parse().ok()).unwrap_or(9);
    let only = words.next();
    for name in ["qs", "hot", "mix"] {
        if only.as_deref().is_none_or(|only| only == name) {
            let trace = match name {
                "qs" => qs(),
                "hot" => hot(),
                _ => mix(),
            };
            report(name, &trace, rounds);
        }
    }
}
