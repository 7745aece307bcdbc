//! One number for a cache is its demand hit rate: what levels write back is counted, and labelled, apart.
#![cfg(feature = "formats")]

use orrery::reference::ReferenceSource;
use orrery::sim::config::{HierarchyConfig, preset};
use orrery::sim::stats::{LevelStats, StatsCollector, collect};
use orrery::sim::{AccessKind, Event, Hierarchy};
use orrery::trace;
use std::path::Path;

fn open(name: &str) -> Box<dyn ReferenceSource> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("traces/{name}.orrery"));
    trace::open(&path, None).expect(name)
}

fn levels(name: &str, config: &HierarchyConfig) -> Vec<LevelStats> {
    collect(open(name).as_ref(), config, false).expect("in memory").levels
}

/// Demand accesses and misses, and those of write-backs, by level, from the events one by one.
fn counted(name: &str, config: &HierarchyConfig) -> Vec<[u64; 4]> {
    let (source, mut hierarchy) = (open(name), Hierarchy::new(config).expect("sound"));
    let mut counts = vec![[0; 4]; hierarchy.levels()];
    for chunk in 0..source.len().div_ceil(source.chunk_len()) {
        for reference in source.chunk(chunk).expect("readable").iter() {
            let mut events: Vec<Event> = Vec::new();
            hierarchy.access(reference, &mut events);
            for event in events {
                if let Event::Access { level, kind, hit, .. } = event
                    && kind != AccessKind::Prefetch
                {
                    let first = if kind == AccessKind::Writeback { 2 } else { 0 };
                    counts[level.index()][first] += 1;
                    counts[level.index()][first + 1] += u64::from(!hit);
                }
            }
        }
    }
    counts
}

#[test]
fn demand_and_write_backs_are_counted_apart() {
    let mut written_back = 0;
    for name in ["array_init", "bubble_sort", "matmul16", "matmul12_blocked", "mpm", "false_sharing"] {
        for caches in ["paper", "textbook", "zen4", "cortex-a53", "sifive-u74"] {
            let mut config = preset(caches).expect("a preset");
            config.cores = if name == "false_sharing" { 4 } else { 1 };
            let stats = levels(name, &config);
            for (level, [demand, missed, written, absent]) in stats.iter().zip(counted(name, &config)) {
                let at = format!("{name} under {caches}, {}", level.name);
                assert_eq!([level.demand_accesses, level.demand_misses], [demand, missed], "{at}");
                assert_eq!([level.accesses(), level.misses()], [demand + written, missed + absent], "{at}");
                let rate = (demand > 0).then(|| (demand - missed) as f64 / demand as f64);
                assert_eq!(level.demand_hit_rate, rate, "{at}");
                for core in &level.cores {
                    assert!(core.demand_misses <= core.demand_accesses, "{at}");
                }
                let cores = level.cores.iter().map(|core| core.demand_accesses).sum::<u64>();
                assert!(level.cores.is_empty() || cores == demand, "{at}");
                written_back += written;
            }
        }
    }
    assert!(written_back > 10_000, "{written_back}");
}

#[test]
fn a_cache_that_answers_nothing_has_a_hit_rate_of_nothing() {
    // Every line of the array is asked for once; half of what L2 is asked for is lines that L1 gives back.
    let stats = levels("array_init", &preset("paper").expect("a preset"));
    assert_eq!((stats[1].demand_accesses, stats[1].demand_misses, stats[1].demand_hit_rate), (256, 256, Some(0.0)));
    assert!(stats[1].accesses() > 256 && stats[1].misses() < stats[1].accesses(), "all traffic, as it was");
    let nothing = StatsCollector::new(&preset("paper").expect("a preset"), &Default::default()).expect("sound");
    assert_eq!(nothing.stats().levels[0].demand_hit_rate, None);
}
