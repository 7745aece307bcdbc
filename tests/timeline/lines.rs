//! References and misses by source line at any moment are those that statistics of the references before it count.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use orrery::reference::{MemoryTrace, Reference, ReferenceSource, SourceLocation, Tables};
use orrery::sim::config::HierarchyConfig;
use orrery::sim::stats::{Detail, StatsCollector, UNKNOWN};
use orrery::sim::{Hierarchy, config::preset};
use orrery::timeline::{Cursor, Options, Share, Timeline};
use orrery::trace::synth::{Rng, mix};
use std::collections::BTreeMap;
use std::sync::Arc;

type Lines = BTreeMap<(String, u32, String), (u64, Vec<u64>)>;

/// A trace whose instructions are of a few lines, and of none.
fn trace(references: u64, seed: u64) -> MemoryTrace {
    let mut rng = Rng::new(seed);
    let location = |n: u64| SourceLocation {
        path: String::new(),
        pc: 0x1000 + n * 4,
        file: if n % 7 > 4 { "b.c" } else { "a.c" }.into(),
        line: u32::try_from(1 + n / 3).expect("small"),
        function: "f".into(),
        text: String::new(),
    };
    let with_pc = |r: Reference| Reference { pc: [0, 0x1000 + rng.below(90) * 4][usize::from(rng.below(9) > 0)], ..r };
    let references = mix(references, seed).map(with_pc).collect();
    MemoryTrace::new(references, Tables { locations: (0..60).map(location).collect(), ..Tables::default() })
}

/// What statistics count.
fn counted(config: &HierarchyConfig, trace: &MemoryTrace, references: &[Reference]) -> Lines {
    let hierarchy = Hierarchy::new(config).expect("sound");
    let detail = Detail { classes: false, lines: true };
    let mut collector = StatsCollector::with(hierarchy, trace.tables(), detail);
    collector.play_all(references);
    let lines = collector.stats().lines.into_iter();
    lines
        .map(|l| ((l.file, l.line, l.function), (l.references, l.misses.into_iter().map(|(_, n)| n).collect())))
        .collect()
}

/// What a moment says, without the lines that have nothing.
fn told(timeline: &Timeline, shares: Vec<Share>) -> Lines {
    let (levels, map) = (timeline.config().levels.len(), timeline.lines());
    assert_eq!(shares.len(), map.len() + 1);
    let place = |row: usize| match map.places().get(row).map(|&place| &timeline.tables().locations[place]) {
        Some(l) => (l.file.clone(), l.line, l.function.clone()),
        None => (UNKNOWN.to_owned(), 0, String::new()),
    };
    let shares = shares.into_iter().enumerate().filter(|(_, share)| share.references > 0);
    shares.map(|(row, share)| (place(row), (share.references, share.misses[..levels].to_vec()))).collect()
}

#[test]
fn lines_of_a_moment_are_those_of_statistics() {
    let mut config = preset("paper").expect("shipped");
    config.data_only = true;
    let trace = trace(20_000, 5);
    let references = trace.references().to_vec();
    // Each outcome kept; sums alone; in shards.
    for (outcomes_up_to, shards) in [(u64::MAX, 1), (0, 1), (0, 3), (9_000, 2)] {
        let options = Options { outcomes_up_to, shards, spacing: 512, ..Options::default() };
        let hierarchy = Hierarchy::new(&config).expect("sound");
        let source = Arc::new(trace.clone());
        let timeline = Arc::new(Timeline::build(source, hierarchy, options, &mut |_, _| true).expect("in memory"));
        let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("in memory");
        for (tick, window) in [(0usize, 64usize), (19_000, 4_096), (777, 64), (778, 900), (20_000, 20_000), (5_000, 1)]
        {
            let moment = cursor.seek_tallied(tick as u64, 16, window as u64).expect("in memory");
            let what = format!("{outcomes_up_to}, {shards} shards, {window} before {tick}");
            let all = counted(&config, &trace, &references[..tick]);
            assert_eq!(told(&timeline, moment.lines()), all, "{what}");
            let before = counted(&config, &trace, &references[..tick.saturating_sub(window)]);
            let mut over = all;
            for (line, (references, misses)) in before {
                let entry = over.get_mut(&line).expect("counts do not shrink");
                entry.0 -= references;
                entry.1.iter_mut().zip(misses).for_each(|(own, before)| *own -= before);
            }
            over.retain(|_, (references, _)| *references > 0);
            assert_eq!(told(&timeline, moment.lines_over(window as u64).expect("asked for")), over, "{what}");
        }
    }
}

#[test]
fn where_no_line_is_known_none_is_counted() {
    let source = Arc::new(MemoryTrace::new(mix(1_000, 3).collect(), Tables::default()));
    let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("sound");
    let timeline = Timeline::build(source, hierarchy, Options::default(), &mut |_, _| true).expect("in memory");
    let mut cursor = Cursor::new(Arc::new(timeline)).expect("in memory");
    assert!(cursor.seek(700, 16).expect("in memory").lines().is_empty());
}

#[test]
fn the_next_reference_of_a_line_is_the_next_one_there_is() {
    let mut trace = trace(12_000, 8);
    // A line at both ends only, and one nowhere.
    let mut references = trace.references().to_vec();
    references.iter_mut().filter(|r| r.pc / 4 % 11 == 3).for_each(|r| r.pc = 0);
    references.iter_mut().filter(|r| r.pc == 0x1000).for_each(|r| r.pc = 0);
    (references[1].pc, references[11_990].pc) = (0x1000, 0x1000);
    trace = MemoryTrace::new(references, trace.tables().clone());
    for spacing in [64, 700, 1 << 20] {
        let hierarchy = Hierarchy::new(&preset("paper").expect("shipped")).expect("sound");
        let options = Options { spacing, ..Options::default() };
        let source = Arc::new(trace.clone());
        let timeline = Timeline::build(source, hierarchy, options, &mut |_, _| true).expect("in memory");
        let rows: Vec<usize> = trace.references().iter().map(|r| timeline.lines().row(r.pc)).collect();
        for line in 0..=timeline.lines().len() {
            for tick in [0usize, 1, 2, 63, 64, 65, 699, 700, 5_000, 11_989, 11_990, 11_999, 12_000] {
                let next = (tick + 1..rows.len()).find(|&at| rows[at] == line);
                let last = (0..tick.min(rows.len())).rev().find(|&at| rows[at] == line);
                let found =
                    [true, false].map(|forward| timeline.find_line(line, tick as u64, forward).expect("in memory"));
                assert_eq!(found, [next, last].map(|at| at.map(|at| at as u64)), "{line} at {tick}, {spacing}");
            }
        }
    }
}
