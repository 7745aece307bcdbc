//! A seek anywhere in a long trace, to a finished scene: `cargo bench --bench seek`.
//!
//! 20,000,000 references (40 % stream, 20 % uniform over 64 MiB, 40 % Zipf; 30 % stores) are written to a native file in a
//! temporary folder, opened from there, indexed, and sought at random. Goal: median below 10 ms, 95th percentile below 50.
//! `SEEK_REFERENCES=1000000` makes another length; `SEEK_FILE=mix.orrery` keeps the file, and takes it where it is there.
//! `SEEK_SHARDS=1,2,4` indexes it in so many shards at once, too, and says what one thread takes for each.
#![expect(clippy::print_stdout, reason = "a bench's output is its result")]

mod common;

use common::write;
use orrery::axis::Position;
use orrery::reference::ReferenceSource;
use orrery::scene::{Stage, View};
use orrery::sim::Hierarchy;
use orrery::sim::config::{HierarchyConfig, LevelConfig, Ways, preset};
use orrery::timeline::{Cursor, Options, Timeline};
use orrery::trace;
use orrery::trace::synth::Rng;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const SEEKS: usize = 200;

/// `VmRSS`, `VmHWM`: what the process holds and held at most, MiB; 0 where the system does not say.
fn memory(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(':'));
    line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) >> 10
}

fn two_levels() -> HierarchyConfig {
    let level = |name: &str, index, size, ways| LevelConfig::new(name, index, size, Ways::Count(ways), 64);
    let levels = vec![level("L1", 0, 32 << 10, 8), level("L2", 1, 1 << 20, 16)];
    HierarchyConfig::new("L1 32 KiB 8-way, L2 1 MiB 16-way", levels)
}

/// Median and 95th percentile, ms.
fn figures(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() * 95 / 100])
}

fn run(path: &Path, config: &HierarchyConfig) {
    let source: Arc<dyn ReferenceSource> = Arc::from(trace::open(path, None).expect("just written"));
    let hierarchy = Hierarchy::new(config).expect("sound");
    let mut stage = Stage::new(&hierarchy, &source.tables().regions);
    let len = source.len();
    let begun = Instant::now();
    let timeline = Timeline::build(source, hierarchy, Options::default(), &mut |_, _| true).expect("just written");
    let indexed = begun.elapsed().as_secs_f64();
    println!(
        "{}: indexed in {indexed:.1} s ({:.1} M references/s), a keyframe each {} references, timeline {} MiB, process {} MiB",
        config.name,
        len as f64 / indexed / 1e6,
        timeline.spacing(),
        timeline.bytes() >> 20,
        memory("VmRSS")
    );
    let timeline = Arc::new(timeline);
    let (flows, mut sums) = (timeline.flows(), Vec::new());
    for tail in [16_384.0, 1e5, 1e6, 1e7, len as f64] {
        let begun = Instant::now();
        let found = flows.over(0.6 * len as f64 - 0.6 * tail, 0.6 * len as f64 + 0.4 * tail);
        sums.push(format!("{tail:.0}: {} in {:.2} ms", found.len(), begun.elapsed().as_secs_f64() * 1e3));
    }
    println!("  flows {} KiB, spans of {}; of the last {}", flows.bytes() >> 10, flows.span(), sums.join(", "));
    let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("just written");
    let mut rng = Rng::new(3);
    let view = View::default();
    let (mut wholes, mut seeks, mut scenes, mut glyphs) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..SEEKS {
        let position = Position::of(rng.unit() * len as f64);
        let (tick, phase) = (position.tick(), position.phase());
        let view = View { phase, ..view.clone() };
        let begun = Instant::now();
        let moment = cursor.seek(tick, view.history()).expect("just written");
        let sought = begun.elapsed().as_secs_f64() * 1e3;
        let scene = stage.frame(&moment, &view);
        let whole = begun.elapsed().as_secs_f64() * 1e3;
        glyphs = scene.glyphs.len();
        wholes.push(whole);
        seeks.push(sought);
        scenes.push(whole - sought);
    }
    for (what, times) in [("seek to a finished scene", wholes), ("  of it seek", seeks), ("  of it scene", scenes)] {
        let (median, p95) = figures(times);
        println!("  {what:<26} median {median:7.2} ms   95 % {p95:7.2} ms");
    }
    // As playing does at full speed: a jump and the longest trail, frame by frame.
    let (fast, mut frames) = (View { tail: 16_384, speed: 1e6, ..view.clone() }, Vec::new());
    for n in 0..100u64 {
        let tick = (len / 3 + n * 16_667) % len;
        let begun = Instant::now();
        let moment = cursor.seek(tick, fast.history()).expect("just written");
        let scene = stage.frame(&moment, &fast);
        frames.push(begun.elapsed().as_secs_f64() * 1e3);
        assert!(!scene.trails.is_empty(), "something moves");
    }
    let (median, p95) = figures(frames);
    println!("  a frame at 10^6 references/s median {median:7.2} ms   95 % {p95:7.2} ms");
    println!("  {glyphs} glyphs; process {} MiB, at most {} MiB", memory("VmRSS"), memory("VmHWM"));
}

/// How long indexing takes in so many shards, of what it takes in one.
fn shards(path: &Path, config: &HierarchyConfig, shards: &[usize]) {
    let mut whole = f64::NAN;
    for &shards in shards {
        let source: Arc<dyn ReferenceSource> = Arc::from(trace::open(path, None).expect("just written"));
        let hierarchy = Hierarchy::new(config).expect("sound");
        let options = Options { shards, outcomes_up_to: 0, ..Options::default() };
        let begun = Instant::now();
        let timeline = Timeline::build(source, hierarchy, options, &mut |_, _| true).expect("just written");
        let took = begun.elapsed().as_secs_f64();
        whole = if whole.is_nan() { took } else { whole };
        println!("{}: {}, in {took:.1} s, {:.2} of the first", config.name, timeline.simulated(), took / whole);
    }
}

fn main() {
    let references = std::env::var("SEEK_REFERENCES").ok().and_then(|v| v.parse().ok()).unwrap_or(20_000_000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = std::env::var_os("SEEK_FILE").map_or_else(|| folder.path().join("mix.orrery"), Into::into);
    let begun = Instant::now();
    if !path.exists() {
        write(&path, references);
    }
    let bytes = std::fs::metadata(&path).expect("just written").len();
    println!(
        "{references} references written in {:.1} s, {} MiB; {SEEKS} random seeks each",
        begun.elapsed().as_secs_f64(),
        bytes >> 20
    );
    if let Ok(list) = std::env::var("SEEK_SHARDS") {
        let list: Vec<usize> = list.split(',').filter_map(|n| n.parse().ok()).collect();
        return shards(&path, &preset("textbook").expect("a preset"), &list);
    }
    run(&path, &two_levels());
    run(&path, &preset("textbook").expect("a preset"));
}
