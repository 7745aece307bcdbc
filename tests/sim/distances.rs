//! Stack distances: against a list, against the simulator, by rows, by sets, sampled.

use crate::support::random::Lots;
use orrery::analysis::{Attributed, Grouping, SampledDistances, SetStacks, StackDistances, Touches};
use orrery::reference::{Kind, Reference, Region, SourceLocation, Tables};
use orrery::sim::Hierarchy;
use orrery::sim::config::{HierarchyConfig, LevelConfig, Ways, preset};
use orrery::trace::synth::{self, Rng};
use orrery::units::LevelId;
use std::collections::BTreeMap;

/// Clusters, strides, straddles, modifies, fetches, on two cores, over few or many lines.
fn trace(rng: &mut Rng, length: usize) -> Vec<Reference> {
    let lines = rng.one_of(&[4, 40, 700, 9_000]);
    let kinds = [Kind::Read, Kind::Read, Kind::Write, Kind::Modify, Kind::Fetch];
    let mut at = 0;
    let mut out = Vec::new();
    while out.len() < length {
        at = match rng.small(4) {
            0 => rng.below(64 * lines),
            1 => at + 8,
            2 => at + 64 * u64::from(rng.small(5)),
            _ => at.saturating_sub(u64::from(rng.small(200))),
        } % (64 * lines);
        let mut reference = Reference::new(rng.one_of(&kinds), 0x10_0000 + at, rng.one_of(&[1, 4, 8, 8, 32, 150]));
        reference.core = u16::from(rng.percent(30));
        reference.pc = 0x400 + u64::from(rng.small(6));
        out.push(reference);
    }
    out
}

/// The definition: a list of lines, the most recent first.
fn by_list(references: &[Reference], line: u64, data_only: bool) -> (u64, BTreeMap<u32, u64>, u64) {
    let (mut stack, mut counts, mut cold, mut accesses): (Vec<u64>, BTreeMap<u32, u64>, _, _) =
        (Vec::new(), BTreeMap::new(), 0, 0);
    for r in references.iter().filter(|r| !(data_only && r.kind == Kind::Fetch)) {
        for _ in 0..if r.kind == Kind::Modify { 2 } else { 1 } {
            for line in r.addr / line..=(r.addr + u64::from(r.size) - 1) / line {
                accesses += 1;
                let place = stack.iter().position(|other| *other == line);
                if let Some(place) = place {
                    stack.remove(place);
                    *counts.entry(u32::try_from(place).expect("small")).or_default() += 1;
                } else {
                    cold += 1;
                }
                stack.insert(0, line);
            }
        }
    }
    (cold, counts, accesses)
}

fn measured(references: &[Reference], shift: u32, data_only: bool) -> StackDistances {
    let mut distances = StackDistances::new(Touches::new(shift, data_only));
    // In pieces, as sources give them.
    references.chunks(777).for_each(|part| distances.play(part));
    distances
}

#[test]
fn distances_are_places_in_a_list() {
    let mut rng = Rng::new(1);
    for round in 0..24 {
        let references = trace(&mut rng, if round == 0 { 60_000 } else { 3_000 });
        let (shift, data_only) = (rng.one_of(&[0, 4, 5, 6, 7, 12]), rng.percent(50));
        let distances = measured(&references, shift, data_only);
        let (cold, counts, accesses) = by_list(&references, 1 << shift, data_only);
        assert_eq!((distances.cold(), distances.accesses()), (cold, accesses), "round {round}");
        let pairs: BTreeMap<u32, u64> = distances.histogram().pairs().into_iter().collect();
        assert_eq!(pairs, counts, "round {round}");
        assert_eq!(distances.histogram().total() + cold, accesses);
    }
}

/// Misses of one LRU level.
fn simulated(references: &[Reference], size: u64, ways: Ways, data_only: bool) -> u64 {
    let level = LevelConfig::new("L1", 0, size, ways, 64);
    let mut config = HierarchyConfig::new("one level", vec![level]);
    config.data_only = data_only;
    let mut caches = Hierarchy::new(&config).expect("sound");
    caches.play(references, &mut ());
    caches.level_counters(LevelId(0)).misses()
}

#[test]
fn distances_tell_the_misses_of_every_size_and_sets_those_of_every_associativity() {
    let mut rng = Rng::new(2);
    for round in 0..14 {
        let mut references = trace(&mut rng, 4_000);
        references.iter_mut().for_each(|r| r.core = 0);
        let data_only = rng.percent(50);
        let distances = measured(&references, 6, data_only);
        for lines in [1u64, 2, 3, 5, 8, 64, 100, 1_000, 4_096] {
            let misses = simulated(&references, 64 * lines, Ways::Full, data_only);
            assert_eq!(distances.misses(lines), misses, "round {round}, {lines} lines");
        }
        let curve = distances.miss_curve();
        assert!(curve.is_sorted_by(|a, b| a.0 < b.0 && a.1 > b.1), "{curve:?}");
        assert_eq!(curve.last().map(|(_, misses)| *misses), Some(distances.cold()));
        for (lines, misses) in &curve {
            assert_eq!(distances.misses(*lines), *misses);
        }
        for set_bits in [0, 1, 3, 6] {
            let mut stacks = SetStacks::new(Touches::new(6, data_only), set_bits, 17);
            references.chunks(901).for_each(|part| stacks.play(part));
            for ways in 1..=17u32 {
                let misses = simulated(&references, (64 * u64::from(ways)) << set_bits, Ways::Count(ways), data_only);
                assert_eq!(stacks.misses(ways as usize), Some(misses), "round {round}, {ways} ways, {set_bits} bits");
            }
            assert_eq!((stacks.misses(18), stacks.misses(0)), (None, Some(stacks.accesses())));
        }
    }
}

#[test]
fn rows_add_up_to_the_whole() {
    let location = |pc, line, function: &str| SourceLocation {
        path: String::new(),
        pc,
        file: "a.c".into(),
        line,
        function: function.into(),
        text: String::new(),
    };
    let tables = Tables {
        regions: vec![Region::new("A", 0x10_0000, 640), Region::new("B", 0x10_0400, 4_000)],
        locations: vec![
            location(0x400, 3, "f"),
            location(0x401, 3, "f"),
            location(0x402, 4, "f"),
            location(0x403, 9, "g"),
        ],
        ..Tables::default()
    };
    let mut rng = Rng::new(3);
    for _ in 0..20 {
        let references = trace(&mut rng, 3_000);
        let whole = measured(&references, 6, false);
        for (grouping, word) in Grouping::ALL {
            let caches = Hierarchy::new(&preset("textbook").unwrap()).unwrap();
            let shape = caches.level_geometry(LevelId(0));
            let mut rows = Attributed::new(Touches::new(6, false), grouping, &tables, shape);
            references.chunks(333).for_each(|part| rows.play(part));
            let rows = rows.rows();
            let sum = |count: &dyn Fn(usize) -> u64| (0..rows.len()).map(count).sum::<u64>();
            assert_eq!(sum(&|n| rows[n].accesses), whole.accesses(), "{word}");
            assert_eq!(sum(&|n| rows[n].cold), whole.cold(), "{word}");
            for lines in [1, 7, 100, 5_000] {
                assert_eq!(sum(&|n| rows[n].misses(lines)), whole.misses(lines), "{word}");
            }
            let mut pairs = BTreeMap::new();
            for (distance, count) in rows.iter().flat_map(|row| row.histogram.pairs()) {
                *pairs.entry(distance).or_insert(0) += count;
            }
            assert_eq!(pairs.into_iter().collect::<Vec<_>>(), whole.histogram().pairs(), "{word}");
            if grouping == Grouping::Function {
                let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
                assert_eq!(names, ["f", "g", "(unknown)"]);
            }
        }
    }
}

#[test]
fn a_sample_of_all_is_exact_and_a_part_is_near() {
    let references: Vec<Reference> = synth::mix(400_000, 7).collect();
    let exact = measured(&references, 6, false);
    let all = |rate| {
        let mut sample = SampledDistances::new(Touches::new(6, false), rate).expect("a rate");
        sample.play(&references);
        sample
    };
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let share = |lines| exact.misses(lines) as f64 / exact.accesses() as f64;
    let (whole, part) = (all(1.0), all(0.05));
    assert_eq!(whole.sampled(), exact.accesses());
    assert_eq!((whole.least_lines(), part.least_lines()), (1, 160));
    assert!(part.miss_ratio(159).is_none());
    for lines in [1, 64, 512, 4_096, 16_384, 100_000] {
        let (ratio, error) = whole.miss_ratio(lines).expect("all lines");
        assert!((ratio - share(lines)).abs() < 1e-12 && error == 0.0, "{lines} lines");
        let Some((ratio, error)) = part.miss_ratio(lines) else { continue };
        // A wide bound: what is told has to hold in nearly all cases, and to say something.
        assert!((ratio - share(lines)).abs() <= 2.0 * error + 0.01, "{lines}: {ratio} +- {error}, {}", share(lines));
        assert!(error < 0.1, "{lines}: {error}");
    }
    for rate in [0.0, -1.0, 1.5, f64::NAN, 1e-9] {
        assert!(SampledDistances::new(Touches::new(6, false), rate).is_err(), "{rate}");
    }
}
