//! A machine so small that its times can be worked out by hand; kernels on machines of any shape; the sign of the paper's case.

use super::*;
use crate::tasks::rules::breaches;
use crate::tasks::{REQUEST_IN, REQUEST_OUT, TaskSet};
use proptest::prelude::*;
use std::sync::Arc;

/// One unit, one bank, one channel, no TLB.
fn smallest() -> GpuConfig {
    let mut config = preset("r9nano").expect("a preset");
    (config.arrays, config.units, config.simds, config.banks) = (1, 1, 1, 1);
    (config.tlb, config.scalar) = (None, None);
    (config.vector.latency, config.network, config.l2.latency) = (10, 5, 20);
    (config.dram.row_hit, config.dram.row_miss, config.dram.interval) = (100, 100, 1);
    config
}

/// A kernel of one wavefront that is told here.
struct Told(Vec<Op>);

impl Program for Told {
    fn groups(&self) -> u64 {
        1
    }
    fn items(&self) -> u32 {
        64
    }
    fn ops(&self, _: u64, _: u32, _: u32, _: u32) -> Vec<Op> {
        self.0.clone()
    }
}

fn told(ops: Vec<Op>) -> Arc<dyn Program> {
    Arc::new(Told(ops))
}

fn run(config: &GpuConfig, program: impl Into<Arc<dyn Program>>) -> GpuRun {
    simulate(config, &mut Job::alone("a kernel", program), true, &mut |_, _| true).expect("it runs")
}

fn times(set: &TaskSet, location: &str, category: &str) -> Vec<(u64, u64)> {
    let Some(at) = set.locations().find(location) else { return Vec::new() };
    let tasks = set.tasks_at(at).filter(|&task| set.task_category(task) == category);
    tasks.map(|task| (set.start(task), set.end(task))).collect()
}

/// By hand: the load of two lines begins at 0 and is at the cache at 1. The first misses, is known to at 11, at L2 at 16, known there at 36, at
/// the channel at 37, read at 137, back in L2 at 138, in the cache at 143, in the unit at 144. The second finds the one miss that there may
/// be under way, waits until 143, and takes the same way: 153, 158, 178, 179, 279, 280, 285, 286.
#[test]
fn a_chain_of_two_levels_with_one_miss_under_way() {
    let mut config = smallest();
    config.vector.mshr = 1;
    let run = run(&config, told(vec![Op::Load([0x1000, 0x2000].into()), Op::Wait]));
    let set = run.tasks.as_ref().expect("kept");
    assert_eq!(run.cycles, 286);
    assert_eq!(times(set, "SA[0].CU[0]", REQUEST_OUT), [(0, 286), (0, 144)]);
    assert_eq!(times(set, "SA[0].L1VCache[0]", REQUEST_IN), [(1, 285), (1, 143)]);
    assert_eq!(times(set, "SA[0].L1VCache[0]", REQUEST_OUT), [(11, 143), (153, 285)]);
    assert_eq!(times(set, "L2Cache[0]", REQUEST_IN), [(16, 138), (158, 280)]);
    assert_eq!(times(set, "DRAM[0]", REQUEST_IN), [(37, 137), (179, 279)]);
    let waits: Vec<(&str, u64)> = set.all_milestones().iter().map(|m| (set.words().word(m.what), m.time)).collect();
    assert_eq!(waits, [("SA[0].L1VCache[0].MSHR", 143)]);
    // With room for both they go side by side, a cycle apart.
    config.vector.mshr = 2;
    let side_by_side = self::run(&config, told(vec![Op::Load([0x1000, 0x2000].into()), Op::Wait]));
    assert_eq!(side_by_side.cycles, 145);
    // The same line twice is asked for once below.
    let merged = self::run(&config, told(vec![Op::Load([0x1000].into()), Op::Load([0x1000].into()), Op::Wait]));
    let set = merged.tasks.as_ref().expect("kept");
    assert_eq!(times(set, "L2Cache[0]", REQUEST_IN).len(), 1);
    assert_eq!(merged.nodes.iter().find(|node| node.name.contains("L1V")).expect("there").merged, 1);
}

#[test]
fn a_full_queue_makes_those_above_wait_and_loses_nothing() {
    let mut config = preset("r9nano").expect("a preset");
    (config.arrays, config.units, config.banks) = (1, 2, 2);
    (config.vector.queue, config.l2.queue, config.dram.queue) = (1, 1, 1);
    (config.vector.mshr, config.l2.mshr) = (1, 1);
    if let Some(tlb) = &mut config.tlb {
        (tlb.mshr, tlb.walkers) = (1, 1);
    }
    for row in &KERNELS {
        let program: Arc<dyn Program> = row.with(&[("N".into(), 96)]).expect("sound").into();
        let run = run(&config, Arc::clone(&program));
        assert_eq!(run.groups, program.groups(), "{}", row.name);
        assert_eq!(breaches(run.tasks.as_ref().expect("kept")), [], "{}", row.name);
    }
}

#[test]
fn what_does_not_fit_is_refused_and_who_stops_it_is_heard() {
    let mut config = preset("r9nano").expect("a preset");
    let program: Arc<dyn Program> = KernelEntry::named("matmul-tiled").expect("there").with(&[]).expect("sound").into();
    config.local = 1024;
    let refused = simulate(&config, &mut Job::alone("k", Arc::clone(&program)), false, &mut |_, _| true)
        .expect_err("too large")
        .to_string();
    assert_eq!(refused, "a work-group of k takes 2048 bytes of local memory; a compute unit of R9 Nano has 1024");
    (config.local, config.slots, config.simds) = (65_536, 1, 1);
    let refused = simulate(&config, &mut Job::alone("k", Arc::clone(&program)), false, &mut |_, _| true)
        .expect_err("too large")
        .to_string();
    assert!(refused.contains("takes 4 wavefronts; a compute unit of R9 Nano has 1"), "{refused}");
    let config = preset("r9nano").expect("a preset");
    let stopped = simulate(&config, &mut Job::alone("k", Arc::clone(&program)), false, &mut |_, _| false);
    assert!(matches!(stopped, Err(RunError::Stopped)));
    let unknown = KernelEntry::named("matmull").err().map(|error| error.to_string()).unwrap_or_default();
    assert!(unknown.starts_with("found no kernel `matmull`; expected one of vectoradd, matmul, "), "{unknown}");
    let wrong = |name: &str, value| KernelEntry::named("fir").expect("there").with(&[(name.into(), value)]).err();
    assert_eq!(
        wrong("M", 1).map(|e| e.to_string()),
        Some("found `M`, which is no argument of fir; expected one of N, taps".into())
    );
    assert_eq!(wrong("taps", 0).map(|e| e.to_string()), Some("taps: found 0; expected 1 to 1024".into()));
}

#[test]
fn tiles_ask_less_of_memory_and_both_multiply_the_same() {
    let config = preset("r9nano").expect("a preset");
    let requests = |name: &str| {
        let program: Arc<dyn Program> =
            KernelEntry::named(name).expect("there").with(&[("N".into(), 64)]).expect("sound").into();
        let run = simulate(&config, &mut Job::alone(name, program), false, &mut |_, _| true).expect("it runs");
        let of = |part: &str| {
            run.nodes.iter().filter(|node| node.name.contains(part)).map(|node| node.requests).sum::<u64>()
        };
        (of("L1V"), run.cycles, of("DRAM"))
    };
    let (naive, tiled) = (requests("matmul"), requests("matmul-tiled"));
    assert!(naive.0 > 4 * tiled.0, "{naive:?} and {tiled:?}");
    assert!(naive.1 > tiled.1, "{naive:?} and {tiled:?}");
}

/// The case of Daisen (2021): a dispatcher of one work-group a cycle leaves compute units nearly empty; two a cycle fill them more.
#[test]
fn a_dispatcher_that_is_too_slow_leaves_units_empty() {
    let program: Arc<dyn Program> =
        KernelEntry::named("pagerank").expect("there").with(&[("N".into(), 8_192)]).expect("sound").into();
    let with = |dispatch| {
        let config = GpuConfig { dispatch, ..preset("r9nano").expect("a preset") };
        simulate(&config, &mut Job::alone("pagerank", Arc::clone(&program)), false, &mut |_, _| true).expect("it runs")
    };
    let (one, two) = (with(1), with(2));
    assert!(two.cycles < one.cycles, "{} and {}", two.cycles, one.cycles);
    assert!(two.resident > one.resident);
    assert_eq!(one.slots, 40);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_rules_hold_on_machines_of_any_shape(
        (arrays, units, simds, slots) in (1u32..3, 1u32..4, 1u32..5, 4u32..10),
        (banks, interleave) in (1u32..6, prop::sample::select(vec![128u64, 256, 4096])),
        (mshr, queue, latency, network) in (1u32..6, 1u32..5, 1u32..30, 0u32..9),
        (kernel, n, sector, write, tlb) in (0usize..8, 16u64..200, prop::sample::select(vec![32u32, 64]), 0u32..3, any::<bool>()),
        (row_hit, more, interval, walkers) in (1u32..60, 0u32..60, 1u32..6, 1u32..3),
    ) {
        let mut config = preset("r9nano").expect("a preset");
        (config.arrays, config.units, config.simds, config.slots) = (arrays, units, simds, slots);
        (config.banks, config.interleave, config.network) = (banks, interleave, network);
        (config.vector.mshr, config.vector.queue, config.vector.latency, config.vector.sector) = (mshr, queue, latency, sector);
        (config.l2.mshr, config.l2.queue, config.l2.sector) = (mshr, queue, sector);
        config.vector.write = [GpuWrite::Back, GpuWrite::Through, GpuWrite::Around][write as usize];
        (config.dram.row_hit, config.dram.row_miss, config.dram.interval) = (row_hit, row_hit + more, interval);
        match &mut config.tlb {
            Some(own) if tlb => (own.walkers, own.mshr) = (walkers, mshr),
            own => *own = None,
        }
        let program: Arc<dyn Program> = KERNELS[kernel].with(&[("N".into(), n)]).expect("sound").into();
        let run = simulate(&config, &mut Job::alone("k", Arc::clone(&program)), true, &mut |_, _| true).expect("it runs");
        let set = run.tasks.as_ref().expect("kept");
        prop_assert_eq!(breaches(set), vec![]);
        prop_assert_eq!(run.groups, program.groups());
        let count = |category: &str| (0..).take(set.len()).filter(|&task| set.task_category(task) == category).count() as u64;
        prop_assert_eq!(count(REQUEST_IN), count(REQUEST_OUT), "each request is answered once");
        let served: u64 = run.nodes.iter().map(|node| node.requests).sum();
        prop_assert_eq!(count(REQUEST_IN), served + run.groups);
        prop_assert_eq!(count("wavefront"), run.wavefronts);
    }
}

#[test]
fn kernels_run_one_after_the_other_and_find_caches_as_they_were_left() {
    let config = smallest();
    let kernel = |name: &str| Ok(Job { name: name.into(), program: told(vec![Op::Load([0x1000].into()), Op::Wait]) });
    let mut jobs = [kernel("first"), kernel("second")].into_iter();
    let run = simulate(&config, &mut jobs, true, &mut |_, _| true).expect("it runs");
    let [first, second] = &run.kernels[..] else { panic!("two: {:?}", run.kernels) };
    // By hand: 1, 11, 16, 36, 37, 137, 138, 143, 144 for the first; the second finds its line in the cache.
    assert_eq!((first.start, first.end, second.start, second.end), (0, 144, 144, 144 + 12));
    let cache = run.nodes.iter().find(|node| node.name.contains("L1V")).expect("there");
    assert_eq!((cache.hits, cache.misses, run.groups, run.wavefronts), (1, 1, 2, 2));
    let set = run.tasks.expect("kept");
    assert_eq!(times(&set, "Dispatcher", "kernel"), [(0, 144), (144, 156)]);
    assert_eq!(breaches(&set), vec![]);
    let mut none = [kernel("first"), Err("no such file".into())].into_iter();
    let failed = simulate(&config, &mut none, false, &mut |_, _| true).expect_err("the second is not there");
    assert_eq!(failed.to_string(), "no such file");
}
