//! Explanations of references, held against the slow model; and what caches are watched for, against counts and lists.

use crate::slow_model::model::Model;
use crate::support::random::machines::without_future;
use crate::support::random::traces::named;
use orrery::analysis::{Blame, Grouping, Vary, Wanted, cells, explain, play, survey, sweep};
use orrery::reference::{Kind, MemoryTrace, Reference, ReferenceSource, Region, Tables};
use orrery::sim::config::{HierarchyConfig, LevelConfig, Prefetch, Ways, preset};
use orrery::sim::stats::{Detail, collect_detail};
use orrery::sim::{Hierarchy, Policy};
use orrery::trace::synth::{self, MatmulOrder, Rng, matmul};
use orrery::units::LevelId;
use std::collections::{BTreeMap, BTreeSet};

/// Lines that each cache of the model holds.
fn held(model: &Model) -> Vec<BTreeSet<u128>> {
    let lines = |cache: &crate::slow_model::cache::Cache| {
        cache.sets.iter().flat_map(|set| set.ways.iter().flatten().map(|line| line.number)).collect()
    };
    model.caches.iter().map(lines).collect()
}

/// What explanations claimed that was held against the slow model: misses, how lines left, departures.
pub(crate) type Held = (u32, u32, u32);

/// Explains references of a trace, and holds each claim against the slow model, which plays the trace beside.
pub(crate) fn hold(trace: &MemoryTrace, config: &HierarchyConfig, asked: &BTreeSet<u64>, round: &str) -> Held {
    let (mut misses, mut lefts, mut departures) = (0, 0, 0);
    let references = trace.references();
    let names = Hierarchy::new(config).expect("sound");
    let ids: Vec<String> = names.caches().map(|cache| names.name(cache)).collect();
    let line_bytes: Vec<u128> = names.caches().map(|cache| names.geometry(cache).line_bytes.into()).collect();
    let mut model = Model::new(config);
    // By cache and line, the reference during which it was last seen to leave.
    let mut left: BTreeMap<(usize, u128), u64> = BTreeMap::new();
    let mut states = vec![held(&model)];
    for (reference, tick) in references.iter().zip(0u64..) {
        let before = states.pop().expect("one");
        let classes: Vec<[u64; 4]> = model.caches.iter().map(|cache| cache.classes.counts).collect();
        model.play(reference);
        let after = held(&model);
        if asked.contains(&tick) {
            let place = format!("{round}, reference {tick}");
            let told = explain(trace, config, tick).expect("explained");
            let first = reference.addr / u64::from(config.levels[0].line);
            let last = (reference.addr + u64::from(reference.size) - 1) / u64::from(config.levels[0].line);
            let touches = |other: &Reference| {
                let line = u64::from(config.levels[0].line);
                other.addr / line <= last && (other.addr + u64::from(other.size) - 1) / line >= first
            };
            let now = usize::try_from(tick).expect("small");
            let next = references[now + 1..].iter().position(touches).map(|n| tick + 1 + n as u64);
            let previous = references[..now].iter().rposition(touches).map(|n| n as u64);
            assert_eq!((told.last_use, told.next_use), (previous, next), "{place}");
            let single = first == last && reference.kind != Kind::Modify;
            for access in &told.accesses {
                let cache = ids.iter().position(|name| *name == access.cache).expect("a cache");
                let line = u128::from(access.line) / line_bytes[cache];
                assert_eq!(access.class.is_none(), access.hit, "{place}: {access:?}");
                if single && access.first {
                    // A line of sectors may be there without the sector.
                    let there = before[cache].contains(&line);
                    assert!(there || !access.hit, "{place}: {access:?}");
                    assert!(
                        !there
                            || access.hit
                            || config.levels[0].sector.is_some()
                            || config.levels.iter().any(|l| l.sector.is_some()),
                        "{place}: {access:?}"
                    );
                    let word = ["compulsory", "capacity", "conflict", "coherence"];
                    let counted: Vec<&str> = (0..4)
                        .filter(|n| model.caches[cache].classes.counts[*n] > classes[cache][*n])
                        .map(|n| word[n])
                        .collect();
                    assert!(
                        access.class.is_none_or(|class| counted.contains(&class)),
                        "{place}: {access:?}, {counted:?}"
                    );
                }
                if let Some(gone) = &access.left {
                    lefts += 1;
                    match left.get(&(cache, line)) {
                        Some(seen) if *seen == gone.reference => {}
                        // It came and went within one reference, so that no state has it.
                        seen => {
                            assert!(seen.is_none_or(|seen| *seen < gone.reference), "{place}: {access:?}, {seen:?}")
                        }
                    }
                }
                misses += u32::from(!access.hit);
            }
            for departure in &told.departures {
                let cache = ids.iter().position(|name| *name == departure.cache).expect("a cache");
                let line = u128::from(departure.line) / line_bytes[cache];
                departures += 1;
                let bytes = u128::from(departure.line)..u128::from(departure.line) + line_bytes[cache];
                let copies =
                    |&other: &usize| other != cache && after[other].contains(&(bytes.start / line_bytes[other]));
                let to = departure.to.as_ref().map(|to| ids.iter().position(|name| name == to).expect("a cache"));
                assert!(
                    to.as_ref().map_or_else(|| !(0..ids.len()).any(|n| copies(&n)), copies),
                    "{place}: {departure:?}"
                );
                // The way of these bytes, from cache to cache.
                let mut way = vec![Some(cache)];
                for (from, next, first, end) in &model.written_back {
                    if way.contains(&Some(*from)) && *first < bytes.end && bytes.start < *end {
                        way.push(*next);
                    }
                }
                let written_to = departure.written_to.as_deref().map(|to| ids.iter().position(|name| name == to));
                // Bytes of an inner cache go with the line of the one that includes it.
                let unsaid = way.len() == 1 || !departure.dirty || departure.cause == "inclusion";
                assert!(written_to.map_or(unsaid, |to| way[1..].contains(&to)), "{place}: {departure:?}, {way:?}");
                if single {
                    // What came and went within the reference is in no state: prefetched, or written back from inside.
                    let passes = config.levels.len() > 1 || config.levels.iter().any(|l| l.prefetch != Prefetch::None);
                    let seen = before[cache].contains(&line) || after[cache].contains(&line);
                    assert!(seen || passes, "{place}: {departure:?}");
                }
            }
            assert!((1..=3).contains(&told.sentences.len()), "{place}");
            assert!(told.sentences.iter().all(|words| words.ends_with('.')), "{place}: {:?}", told.sentences);
        }
        for (cache, (before, after)) in before.iter().zip(&after).enumerate() {
            for line in before.difference(after) {
                left.insert((cache, *line), tick);
            }
        }
        states.push(after);
    }
    (misses, lefts, departures)
}

#[test]
fn explanations_are_what_the_slow_model_does() {
    let mut rng = Rng::new(11);
    let (mut misses, mut lefts, mut departures) = (0, 0, 0);
    for round in 0..25 {
        let config = without_future(&mut rng);
        let trace = named(&mut rng);
        let asked: BTreeSet<u64> = (0..12).map(|_| rng.below(trace.len())).collect();
        let held = hold(&trace, &config, &asked, &format!("round {round}"));
        (misses, lefts, departures) = (misses + held.0, lefts + held.1, departures + held.2);
    }
    assert!(misses > 100 && lefts > 20 && departures > 30, "{misses} {lefts} {departures}");
}

#[test]
fn sentences_of_the_matrix_multiply() {
    let trace = matmul(16, MatmulOrder::Standard);
    let caches = preset("paper").expect("a preset");
    let said = |tick| explain(&trace, &caches, tick).expect("explained").sentences;
    // Checked by hand against the addresses: lines of four doubles, L1 of 2 sets x 8 ways, L2 of 4 sets x 16 ways.
    assert_eq!(
        said(0),
        [
            "read A[0][0]: misses L1 set 0 (compulsory: this cache was never asked for the line); misses L2 set 0 (compulsory: this cache was never asked for the line); 32 bytes come from memory.",
            "Nobody touched its line before; the next use is reference 2.",
        ]
    );
    assert_eq!(
        said(2613),
        ["read A[4][3]: hits L1 set 0.", "The last use of its line was reference 2,611; there is no later one."]
    );
    assert_eq!(
        said(2614),
        [
            "read B[3][15]: misses L1 set 1 (capacity: a fully associative L1 of 16 lines would have lost it, too; the line left at reference 2,595, pushed out by B[10][14]); misses L2 set 3 (conflict: a fully associative L2 would still hold it; the line left at reference 2,610, pushed out by B[1][15]); 32 bytes come from memory.",
            "The line of B[13][12..15] leaves L1; the nearest copy is in L2; the line of B[5][12..15], clean, leaves L2; memory alone has it.",
            "The last use of its line was reference 2,581, the next is 3,043.",
        ]
    );
    let end = trace.len();
    let error = explain(&trace, &caches, end).expect_err("past the end").to_string();
    assert_eq!(error, "reference 8448: the trace has 8448 references, numbered from 0");
}

#[test]
fn watched_caches_add_up_to_their_counters() {
    let mut rng = Rng::new(12);
    for round in 0..60 {
        let config = without_future(&mut rng);
        let trace = named(&mut rng);
        let level = LevelId(u8::try_from(rng.below(config.levels.len() as u64)).expect("few"));
        let wanted = Wanted {
            pressure: Some(level),
            displaced: Some(level),
            line_use: true,
            distances: true,
            ..Wanted::default()
        };
        let found = survey(&trace, &config, &wanted).expect("a survey");
        let stats = collect_detail(&trace, &config, Detail { lines: false, classes: false }, false).expect("counted");
        let counted = &stats.levels[level.index()];
        let sum = |count: &dyn Fn(&orrery::analysis::SetUse) -> u64| found.sets().iter().map(count).sum::<u64>();
        let sums = (sum(&|set| set.accesses), sum(&|set| set.misses), sum(&|set| set.evictions));
        assert_eq!(sums, (counted.demand_accesses, counted.demand_misses, counted.evictions), "round {round}");
        let pairs: u64 = found.displaced.iter().flatten().map(|pair| pair.lines).sum();
        assert_eq!(pairs, counted.evictions, "round {round}");
        for row in found.line_use.iter().flatten() {
            assert!(row.bytes_used <= row.bytes_fetched, "round {round}: {row:?}");
            assert_eq!(row.by_eighths.iter().sum::<u64>(), row.lines, "round {round}: {row:?}");
        }
        assert_eq!(found.references, trace.len());
    }
}

#[test]
fn bytes_of_lines_are_those_that_were_touched() {
    let tables =
        Tables { regions: vec![Region::new("A", 0x1000, 256), Region::new("B", 0x2000, 256)], ..Tables::default() };
    let mut rng = Rng::new(13);
    for _ in 0..40 {
        let references: Vec<Reference> = (0..800)
            .map(|_| {
                let base = rng.below(2) * 0x1000 + 0x1000;
                let size = [1, 4, 8, 24][usize::try_from(rng.below(4)).expect("small")];
                let kind = [Kind::Read, Kind::Write, Kind::Modify][usize::try_from(rng.below(3)).expect("small")];
                Reference::new(kind, base + rng.below(256 - 24), size)
            })
            .collect();
        let trace = MemoryTrace::new(references, tables.clone());
        // Four lines of 32 bytes, all in one set.
        let config = HierarchyConfig::new("four lines", vec![LevelConfig::new("L1", 0, 128, Ways::Full, 32)]);
        let found = survey(&trace, &config, &Wanted { line_use: true, ..Wanted::default() }).expect("a survey");
        let mut lines: Vec<(u64, BTreeSet<u64>)> = Vec::new();
        let mut used = [(0, 0), (0, 0)];
        let mut leave = |(line, bytes): (u64, BTreeSet<u64>)| {
            let row = &mut used[usize::from(line * 32 >= 0x2000)];
            *row = (row.0 + 1, row.1 + bytes.len() as u64);
        };
        for r in trace.references() {
            let end = r.addr + u64::from(r.size) - 1;
            for _ in 0..if r.kind == Kind::Modify { 2 } else { 1 } {
                for line in r.addr / 32..=end / 32 {
                    let there = lines.iter().position(|(other, _)| *other == line);
                    let mut entry = there.map_or((line, BTreeSet::new()), |place| lines.remove(place));
                    entry.1.extend(r.addr.max(32 * line)..=end.min(32 * line + 31));
                    lines.insert(0, entry);
                    if lines.len() > 4 {
                        leave(lines.pop().expect("five"));
                    }
                }
            }
        }
        lines.into_iter().for_each(leave);
        let rows: Vec<(u64, u64)> = found.line_use.iter().flatten().map(|row| (row.lines, row.bytes_used)).collect();
        assert_eq!(rows, used);
    }
}

#[test]
fn cells_of_a_sweep_are_single_runs() {
    let base = preset("textbook").expect("a preset");
    let trace = named(&mut Rng::new(14));
    let vary: Vec<Vary> = ["L1.size=16KiB..64KiB", "L1.ways=1,8", "L2.policy=lru,srrip,fifo"]
        .iter()
        .map(|text| Vary::parse(text).expect("read"))
        .collect();
    let all = cells(&base, &vary).expect("sound");
    assert_eq!(all.len(), 3 * 2 * 3);
    assert_eq!(
        (all[17].config.levels[0].size, all[17].config.levels[1].policy),
        (64 << 10, Policy::ALL.iter().copied().find(|p| p.about().word == "fifo").expect("fifo"))
    );
    let counts = sweep(&trace, &all, &mut |_| true).expect("swept").expect("to the end");
    for (cell, counts) in all.iter().zip(&counts) {
        let stats =
            collect_detail(&trace, &cell.config, Detail { lines: false, classes: false }, false).expect("counted");
        assert_eq!(counts.memory_bytes_read, stats.memory.bytes_read);
        assert_eq!(counts.memory_bytes_written, stats.memory.bytes_written);
        for (level, single) in counts.levels.iter().zip(&stats.levels) {
            assert_eq!((level.demand_accesses, level.demand_misses), (single.demand_accesses, single.demand_misses));
            let all = &level.counters;
            assert_eq!((all.evictions, all.writebacks, all.fills), (single.evictions, single.writebacks, single.fills));
            assert_eq!((level.sets, level.ways, level.line), (single.sets, single.ways, single.line));
        }
    }
    assert_eq!(sweep(&trace, &all, &mut |_| false).expect("stopped"), None);
    for text in ["L1.size", "=4", "L1.size=", "L1.size=16KiB..100KiB", "L1.size=4..2", "L1.ways=1,,2"] {
        assert!(Vary::parse(text).is_err(), "{text}");
    }
    for (text, words) in [
        ("L7.size=4KiB", "there is no level `L7`; the caches have L1"),
        ("L1.ways=3", "L1.ways=3: "),
        ("L1.sise=4KiB", "did you mean `size`?"),
    ] {
        let error = cells(&base, &[Vary::parse(text).expect("read")]).expect_err(text).to_string();
        assert!(error.contains(words), "{error}");
    }
    let twice = [Vary::parse("L1.ways=1").expect("read"), Vary::parse("L1.ways=2").expect("read")];
    assert!(cells(&base, &twice).is_err());
}

#[test]
fn caches_that_are_stacked_count_as_simulated_ones() {
    let mut rng = Rng::new(16);
    let (mut writebacks, mut covered) = (0, 0);
    for round in 0..30 {
        let mut base = HierarchyConfig::new("one level", vec![LevelConfig::new("L1", 0, 1 << 20, Ways::Count(8), 32)]);
        base.data_only = rng.below(2) == 0;
        base.order.fetch_on_full_line_write = rng.below(2) == 0;
        let mut trace = named(&mut rng);
        if round % 3 == 0 {
            trace = MemoryTrace::new(synth::mix(20_000, round).collect(), Tables::default());
        }
        let most = [2, 5, 7][usize::try_from(round % 3).expect("below 3")];
        let all: Vec<_> = (0..most)
            .flat_map(|ways| (0..7).map(move |bits| ([1, 2, 3, 4, 8, 16, 29][ways], bits)))
            .map(|(ways, bits): (u32, u32)| {
                let mut config = base.clone();
                config.levels[0].ways = Ways::Count(ways);
                config.levels[0].size = (u64::from(ways) * 32) << bits;
                orrery::analysis::Cell { number: 0, values: Vec::new(), config }
            })
            .zip(0..)
            .map(|(cell, number)| orrery::analysis::Cell { number, ..cell })
            .collect();
        let counts = sweep(&trace, &all, &mut |_| true).expect("swept").expect("to the end");
        for (cell, counts) in all.iter().zip(&counts) {
            let mut hierarchy = Hierarchy::new(&cell.config).expect("sound");
            hierarchy.play(trace.references(), &mut ());
            let (real, memory) = (hierarchy.level_counters(LevelId(0)), hierarchy.memory_counters());
            let place = format!("round {round}, {:?} of {}", cell.config.levels[0].ways, cell.config.levels[0].size);
            assert_eq!(counts.levels[0].counters, real, "{place}");
            assert_eq!(
                (counts.memory_bytes_read, counts.memory_bytes_written),
                (memory.bytes_read, memory.bytes_written),
                "{place}"
            );
            writebacks += real.writebacks;
            covered += u64::from(real.bytes_in < 32 * real.fills);
        }
    }
    assert!(writebacks > 1_000 && covered > 0, "{writebacks} {covered}");
}

#[test]
fn blame_adds_up_to_the_counters_of_every_level() {
    let mut rng = Rng::new(15);
    let mut missed = 0;
    for round in 0..40 {
        let config = without_future(&mut rng);
        let trace = named(&mut rng);
        let groupings = Grouping::ALL.map(|(grouping, _)| grouping);
        let empty = Hierarchy::new(&config).expect("sound");
        let mut blame = Blame::new(&empty, &groupings, trace.tables()).with_classes(&empty);
        play(&trace, &config, &mut blame).expect("played");
        let detail = Detail { lines: true, classes: true };
        let stats = collect_detail(&trace, &config, detail, false).expect("counted");
        for table in blame.tables() {
            let of = |class: &dyn Fn(&orrery::sim::ClassCounts) -> u64| -> u64 {
                table.rows.iter().map(|row| class(row.classes.as_ref().expect("asked for"))).sum()
            };
            // Demand misses that no class has are those of the first level's; prefetches and write-backs are no demand.
            let level = &stats.levels[0];
            assert_eq!(of(&|c| c.total()), level.demand_misses, "round {round}, {:?}", table.by);
            assert!(of(&|c| c.conflict) <= level.conflict && of(&|c| c.compulsory) <= level.compulsory);
            let references: u64 = table.rows.iter().map(|row| row.references).sum();
            assert_eq!(references, trace.len(), "round {round}, {:?}", table.by);
            for (n, level) in stats.levels.iter().enumerate() {
                let misses: u64 = table.rows.iter().map(|row| row.misses[n]).sum();
                assert_eq!(misses, level.demand_misses, "round {round}, {:?}, {}", table.by, level.name);
                missed += misses;
            }
            // Rows of regions are those of the statistics, one by one.
            if table.by == Grouping::Region {
                let theirs: BTreeMap<&str, Vec<u64>> = (stats.regions.iter().filter(|r| r.references > 0))
                    .map(|r| (r.name, r.misses.counts().to_vec()))
                    .collect();
                let ours: BTreeMap<&str, Vec<u64>> =
                    table.rows.iter().map(|row| (row.name.as_str(), row.misses.clone())).collect();
                assert_eq!(ours, theirs, "round {round}");
            }
        }
    }
    assert!(missed > 1_000, "{missed}");
}

#[test]
fn offenders_are_named_with_their_arrays() {
    let trace = matmul(16, MatmulOrder::Standard);
    let mut tables = trace.tables().clone();
    let pcs: BTreeSet<u64> = trace.references().iter().map(|r| r.pc).collect();
    let location = |pc: &u64| orrery::reference::SourceLocation {
        path: String::new(),
        pc: *pc,
        file: "m.c".into(),
        line: 4,
        function: "main".into(),
        text: "sum += A[i][k] * B[k][j];".into(),
    };
    tables.locations = pcs.iter().map(location).collect();
    let trace = MemoryTrace::new(trace.references().to_vec(), tables);
    let paper = preset("paper").expect("a preset");
    let mut blame = Blame::new(&Hierarchy::new(&paper).expect("sound"), &[], trace.tables());
    play(&trace, &paper, &mut blame).expect("played");
    let offenders = blame.offenders(0, 3);
    assert_eq!(offenders.len(), 1);
    assert_eq!(offenders[0].regions, [("B".into(), 4_096), ("A".into(), 544), ("C".into(), 256)]);
    let words = offenders[0].sentence("L1");
    assert_eq!(
        words,
        "m.c:4  sum += A[i][k] * B[k][j]; causes 100.0 % of L1's misses, 83.7 % of them in B, 11.1 % in A"
    );
}
