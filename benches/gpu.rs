//! Speed of the engine of GPUs, one thread: requests a second of kernels on the R9 Nano, and of a matrix multiply on 4 to 128 compute
//! units with work in proportion; beside it what the caches alone take for as many accesses, which is the floor: each request looks
//! lines up once.
//!
//! Other work on the machine stretches some rounds: the shortest counts. As a test (`cargo test --benches`) nothing is measured, and small
//! kernels run once, for the counts.

#![expect(clippy::print_stdout, reason = "a bench reports there")]

use orrery::machine::gpu::{self, GpuConfig, GpuRun, Job, KernelEntry, simulate};
use orrery::reference::{Kind, Reference};
use orrery::sim::Hierarchy;
use orrery::sim::config::{HierarchyConfig, LevelConfig, Ways};
use orrery::units::LevelId;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: u32 = 3;

fn run(config: &GpuConfig, kernel: &str, sizes: &[(&str, u64)]) -> GpuRun {
    let sizes: Vec<(String, u64)> = sizes.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let program = KernelEntry::named(kernel).expect("a kernel of ours").with(&sizes).expect("sizes that there are");
    simulate(config, &mut Job::alone(kernel, program), false, &mut |_, _| true).expect("it runs")
}

/// Requests that all components answered.
fn requests(run: &GpuRun) -> u64 {
    run.nodes.iter().map(|node| node.requests).sum()
}

/// Seconds of the shortest of some rounds.
fn shortest(rounds: u32, mut once: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        once();
        least = least.min(start.elapsed().as_secs_f64());
    }
    least
}

/// Accesses a second of a vector cache's lines alone: a walk through eight times what it holds.
fn floor(count: u64, rounds: u32) -> f64 {
    let level = LevelConfig::new("L1V", 0, 16 << 10, Ways::Count(4), 64);
    let config = HierarchyConfig::new("floor", vec![level]);
    let seconds = shortest(rounds, || {
        let mut hierarchy = Hierarchy::new(&config).expect("a shape that there is");
        for n in 0..count {
            hierarchy.access(&Reference::new(Kind::Read, (n * 64) % (128 << 10), 4), &mut ());
        }
        black_box(hierarchy.level_counters(LevelId(0)));
    });
    count as f64 / seconds
}

fn row(name: &str, config: &GpuConfig, kernel: &str, sizes: &[(&str, u64)], rounds: u32) {
    let mut last = None;
    let seconds = shortest(rounds, || last = Some(run(config, kernel, sizes)));
    let last = last.expect("one round at least");
    let (requests, simulated) = (requests(&last), last.cycles as f64 / (f64::from(config.clock) * 1e6));
    assert!(requests > 0 && last.nodes.iter().all(|node| node.hits + node.misses + node.merged <= node.requests));
    println!(
        "{name:28} {:>10} {requests:>10} {:>8.2} {:>8.1} {:>8.0}",
        last.cycles,
        requests as f64 / seconds / 1e6,
        floor(requests, rounds) * seconds / requests as f64,
        seconds / simulated,
    );
}

fn main() {
    let measure = std::env::args().any(|argument| argument == "--bench");
    let (rounds, large) = if measure { (ROUNDS, 1) } else { (1, 8) };
    let nano = gpu::preset("r9nano").expect("a preset of ours");
    println!("                                 cycles   requests      M/s  x floor slowdown");
    row("vectoradd", &nano, "vectoradd", &[("N", 4_194_304 / large)], rounds);
    row("matmul", &nano, "matmul", &[("N", 256 / large)], rounds);
    row("matmul-tiled", &nano, "matmul-tiled", &[("N", 512 / large)], rounds);
    row("transpose", &nano, "transpose", &[("N", 1_024 / large)], rounds);
    row("pagerank", &nano, "pagerank", &[("N", 4_096 / large), ("D", 52)], rounds);
    for units in [4u32, 8, 16, 32, 64, 128] {
        let config = GpuConfig { arrays: units / 4, units: 4, ..nano.clone() };
        let groups = u64::from(units) * 65_536 / large;
        row(&format!("vectoradd, {units} units"), &config, "vectoradd", &[("N", groups)], rounds);
    }
}
