//! Counts by region and source line of three cores against a slow count made from the same references one by one: lifetimes, overlaps,
//! shared instructions, several cores and sizes, dropped fetches. And counts without classes.

#![expect(clippy::unwrap_used, reason = "helpers of tests: to fail is to tell")]

use crate::support::regions::span;
use orrery::reference::{Kind, MemoryTrace, Reference, ReferenceSource, Region, SourceLocation, Tables};
use orrery::sim::config::HierarchyConfig;
use orrery::sim::stats::{Deferred, Detail, OTHER, Stats, StatsCollector, UNKNOWN, collect_detail};
use orrery::sim::{Event, Hierarchy};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Two levels of two and four sets, for each of three cores.
fn config(data_only: bool) -> HierarchyConfig {
    let text = "[[level]]\nsize = 256\nline = 32\nways = 4\n[[level]]\nsize = 512\nline = 32\nways = 4";
    HierarchyConfig { data_only, cores: 3, ..HierarchyConfig::from_toml(text, "rows").unwrap() }
}

type Row = BTreeMap<String, (u64, Vec<u64>)>;

/// References and misses by region and by source line, each reference looked up by a walk over the tables.
fn slow(references: &[Reference], tables: &Tables, data_only: bool) -> (Row, Row) {
    let mut hierarchy = Hierarchy::new(&config(data_only)).unwrap();
    let (mut regions, mut lines) = (Row::new(), Row::new());
    for (reference, tick) in references.iter().zip(0u64..) {
        if data_only && reference.kind == Kind::Fetch {
            continue;
        }
        let mut events = Vec::new();
        hierarchy.access(reference, &mut events);
        let mut misses = vec![0; 2];
        for event in events {
            if let Event::Access { level, kind, hit: false, .. } = event
                && kind.is_demand()
            {
                misses[level.index()] += 1;
            }
        }
        let holds = |r: &&Region| {
            let (from, to) = r.lifetime.unwrap_or((0, u64::MAX));
            (from..to).contains(&tick) && reference.addr >= r.base && reference.addr - r.base < r.bytes
        };
        let region = tables.regions.iter().filter(holds).max_by_key(|r| (r.base, r.lifetime.map_or(0, |l| l.0)));
        let place = tables.locations.iter().find(|l| l.pc == reference.pc);
        let region = region.map_or(OTHER.to_owned(), |r| r.name.clone());
        let line = place.map_or(format!("{UNKNOWN} 0 "), |l| format!("{} {} {}", l.file, l.line, l.function));
        for (rows, name) in [(&mut regions, region), (&mut lines, line)] {
            let (references, sums) = rows.entry(name).or_insert_with(|| (0, vec![0; 2]));
            *references += 1;
            for (sum, n) in sums.iter_mut().zip(&misses) {
                *sum += n;
            }
        }
    }
    (regions, lines)
}

fn rows(stats: &Stats) -> (Row, Row) {
    let values = |misses: &[(std::sync::Arc<str>, u64)]| misses.iter().map(|(_, n)| *n).collect();
    let regions = stats.regions.iter().filter(|r| r.references > 0);
    let regions = regions.map(|r| (r.name.to_owned(), (r.references, r.misses.counts().to_vec()))).collect();
    let name = |l: &orrery::sim::stats::LineStats| format!("{} {} {}", l.file, l.line, l.function);
    (regions, stats.lines.iter().map(|l| (name(l), (l.references, values(&l.misses)))).collect())
}

fn tables() -> impl Strategy<Value = Tables> {
    let lifetime = prop::option::of((0u64..1200, 1u64..500).prop_map(|(from, length)| (from, from + length)));
    let region = (0u64..40, 1u64..600, lifetime);
    let location = (0u64..40, 1u32..6, any::<bool>());
    (prop::collection::vec(region, 0..12), prop::collection::vec(location, 0..30)).prop_map(|(regions, locations)| {
        let regions = regions.into_iter().enumerate().map(|(n, (at, bytes, lifetime))| {
            // No two of one base: which of them wins is no promise.
            Region { lifetime, ..span(&format!("r{n}"), at * 64 + n as u64, bytes) }
        });
        let mut locations: Vec<_> = locations
            .into_iter()
            .map(|(pc, line, main)| SourceLocation {
                path: String::new(),
                pc: pc * 4,
                file: "a.c".into(),
                line,
                function: if main { "main" } else { "help" }.into(),
                text: String::new(),
            })
            .collect();
        locations.sort_by_key(|l| l.pc);
        locations.dedup_by_key(|l| l.pc);
        Tables { regions: regions.collect(), locations, ..Tables::default() }
    })
}

fn references() -> impl Strategy<Value = Vec<Reference>> {
    let kind =
        prop_oneof![4 => Just(Kind::Read), 3 => Just(Kind::Write), 1 => Just(Kind::Modify), 1 => Just(Kind::Fetch)];
    let pc = prop_oneof![6 => (0u64..50).prop_map(|n| n * 4), 1 => (0u64..4).prop_map(|n| n << 40), 1 => Just(0)];
    let reference = (kind, 0u64..3000, prop_oneof![Just(8u32), 1u32..70], pc, 0u16..3)
        .prop_map(|(kind, addr, size, pc, core)| Reference { pc, core, ..Reference::new(kind, addr, size) });
    prop::collection::vec(reference, 1..1500)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_agree_with_a_slow_count(tables in tables(), references in references(), data_only in any::<bool>()) {
        let source = MemoryTrace::new(references.clone(), tables);
        let tables = source.tables();
        let detail = Detail { classes: true, lines: true };
        let stats = collect_detail(&source, &config(data_only), detail, false).unwrap();
        prop_assert_eq!(rows(&stats), slow(&references, tables, data_only));

        let played = || references.iter().filter(|r| !(data_only && r.kind == Kind::Fetch));
        let sum = |f: fn(&Reference) -> u64| played().map(f).sum::<u64>();
        prop_assert_eq!(stats.trace.references, played().count() as u64);
        prop_assert_eq!(stats.dropped_fetches, references.len() as u64 - stats.trace.references);
        prop_assert_eq!(stats.trace.reads, sum(|r| u64::from(matches!(r.kind, Kind::Read | Kind::Modify))));
        prop_assert_eq!(stats.trace.writes, sum(|r| u64::from(matches!(r.kind, Kind::Write | Kind::Modify))));
        prop_assert_eq!(stats.trace.fetches, sum(|r| u64::from(r.kind == Kind::Fetch)));
        prop_assert_eq!(stats.trace.bytes, sum(|r| u64::from(r.size) * if r.kind == Kind::Modify { 2 } else { 1 }));
        prop_assert_eq!(stats.cores, references.iter().map(|r| u32::from(r.core) + 1).max().unwrap());

        // One by one, and in uneven parts, as all at once.
        for part in [1, 7, 700] {
            let mut collector = StatsCollector::with(Hierarchy::new(&config(data_only)).unwrap(), tables, detail);
            references.chunks(part).for_each(|part| collector.play_all(part));
            prop_assert_eq!(&collector.stats(), &stats, "in parts of {}", part);
        }

        // Without classes all else is the same, and without lines too.
        let mut plain = collect_detail(&source, &config(data_only), Detail { classes: false, lines: false }, false).unwrap();
        for (level, full) in plain.levels.iter_mut().zip(&stats.levels) {
            prop_assert_eq!((level.compulsory, level.capacity, level.conflict, level.coherence), (0, 0, 0, 0));
            prop_assert_eq!(full.compulsory + full.capacity + full.conflict + full.coherence, full.misses());
            (level.compulsory, level.capacity) = (full.compulsory, full.capacity);
            (level.conflict, level.coherence) = (full.conflict, full.coherence);
            for (core, full) in level.cores.iter_mut().zip(&full.cores) {
                prop_assert_eq!((core.compulsory, core.capacity, core.conflict, core.coherence), (0, 0, 0, 0));
                (core.compulsory, core.capacity) = (full.compulsory, full.capacity);
                (core.conflict, core.coherence) = (full.conflict, full.coherence);
            }
        }
        prop_assert!(plain.lines.is_empty());
        plain.lines.clone_from(&stats.lines);
        prop_assert_eq!(plain, stats);
    }

    #[test]
    fn what_is_counted_before_names_are_known_is_the_same(
        tables in tables(),
        references in references(),
        cores in prop_oneof![Just(1u16), Just(3)],
        part in prop_oneof![Just(1usize), Just(13), Just(5000)],
        flags in any::<[bool; 3]>(),
    ) {
        let [data_only, flush, by_line] = flags;
        // With one core, the loops for many references at once play them.
        let references: Vec<_> = references.into_iter().map(|r| Reference { core: r.core % cores, ..r }).collect();
        let config = HierarchyConfig { cores, ..config(data_only) };
        let source = MemoryTrace::new(references.clone(), tables);
        let expect = collect_detail(&source, &config, Detail { classes: true, lines: by_line }, flush).unwrap();
        let play = |config: &HierarchyConfig, references: &[Reference]| {
            let mut deferred = Deferred::new(config).unwrap().unwrap();
            references.chunks(part).for_each(|part| deferred.play(part));
            deferred
        };
        let stats = |deferred: Deferred| deferred.stats(&source, &config, by_line, flush).unwrap();
        prop_assert_eq!(&stats(play(&config, &references)), &expect);
        // Other caches than were thought, or not all references: counted anew.
        prop_assert_eq!(&stats(play(&HierarchyConfig { name: "other".into(), ..config.clone() }, &references)), &expect);
        prop_assert_eq!(&stats(play(&config, &references[1..])), &expect);
        // More cores than were thought.
        prop_assert_eq!(&stats(play(&HierarchyConfig { cores: 1, ..config.clone() }, &references)), &expect);
    }
}
