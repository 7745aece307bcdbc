//! Kernels from source text to counts, on each engine, beside the 730 to 5,372 ms that a turn took in Klein's thesis (256 to 25,600
//! items); a launch with millions of branches; what instrumentation costs. Prefers a software adapter; `FRAME_ADAPTER=gpu` asks for
//! hardware. Without an adapter the interpreter is measured alone.
#![expect(clippy::print_stdout, reason = "a bench's output is its result")]

use criterion::{Criterion, criterion_group, criterion_main};
use orrery::kernel::bundled::find;
use orrery::kernel::{Content, Engine, Extent, Interpreter, Launch, Program, Run};
use orrery::launch::Adapter;
use orrery::render::context::Preference;
use std::collections::BTreeMap;
use std::hint::black_box;

/// 201 decisions and 21 accesses of each item.
const BRANCHES: &str = "
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var sum = 0u;
    for (var k = 0u; k < 100u; k++) {
        if (id.x + k) % 5u == 0u { sum += a[(id.x + k) % 25600u]; }
    }
    b[id.x] = sum;
}";

fn adapter() -> Option<Adapter> {
    let hardware = std::env::var("FRAME_ADAPTER").is_ok_and(|v| v == "gpu");
    let adapter = Adapter::new(if hardware { Preference::Fastest } else { Preference::Software });
    adapter.map_err(|error| println!("no adapter: {error}")).ok()
}

fn launch(items: u64, bound: &[(&str, Content, Option<u32>)]) -> Launch {
    let mut launch = Launch::of(Extent::Items([items, 1, 1]));
    for (name, content, length) in bound {
        launch.bound.insert((*name).to_owned(), (content.clone(), length.map(|n| [n, 1, 1])));
    }
    launch
}

fn turn(engine: &mut impl Engine, text: &str, launch: &Launch) -> Run {
    let program = Program::new("bench.wgsl", text, None, &BTreeMap::new()).expect("a kernel");
    engine.run(&program, launch, ()).expect("it runs").0
}

fn turnaround(c: &mut Criterion) {
    let mut adapter = adapter();
    let mut group = c.benchmark_group("source to counts, reduction");
    group.sample_size(10);
    let text = find("reduce-strided").expect("bundled").text;
    for items in [256u32, 2_560, 25_600] {
        let numbers = Content::Numbers(vec![f64::from(items)]);
        let bound = [
            ("g_idata", Content::Iota, Some(items)),
            ("g_odata", Content::Zeros, Some(items / 64)),
            ("n", numbers, None),
        ];
        let launch = launch(items.into(), &bound);
        group.bench_function(format!("{items} items, interpreter"), |b| {
            b.iter(|| black_box(turn(&mut Interpreter, text, &launch)));
        });
        if let Some(adapter) = &mut adapter {
            group.bench_function(format!("{items} items, adapter"), |b| {
                b.iter(|| black_box(turn(adapter, text, &launch)));
            });
        }
    }
    group.finish();
}

fn branches(c: &mut Criterion) {
    let mut adapter = adapter();
    let mut group = c.benchmark_group("5 M branches");
    group.sample_size(10);
    let launch = launch(25_600, &[("a", Content::Iota, Some(25_600)), ("b", Content::Zeros, Some(25_600))]);
    let whole = |run: &Run| {
        let accesses: u64 = run.counts.uses.iter().map(|used| used.items).sum();
        let branches = run.events - accesses;
        assert!(branches >= 5_000_000 && accesses >= 500_000 && run.counts.lost == 0, "{branches} {accesses}");
        println!("{branches} branches, {accesses} accesses, lost {}", run.counts.lost);
    };
    let program = Program::new("bench.wgsl", BRANCHES, None, &BTreeMap::new()).expect("a kernel");
    whole(&turn(&mut Interpreter, BRANCHES, &launch));
    group.bench_function("interpreter", |b| b.iter(|| black_box(turn(&mut Interpreter, BRANCHES, &launch))));
    if let Some(adapter) = &mut adapter {
        whole(&turn(adapter, BRANCHES, &launch));
        group.bench_function("adapter", |b| b.iter(|| black_box(turn(adapter, BRANCHES, &launch))));
        group.bench_function("adapter, written and not told", |b| {
            b.iter(|| black_box(adapter.words(&program, &launch).expect("it runs")));
        });
        group.bench_function("adapter, as it is", |b| {
            b.iter(|| black_box(adapter.plain(&program, &launch).expect("it runs")));
        });
    }
    group.finish();
}

criterion_group!(benches, turnaround, branches);
criterion_main!(benches);
