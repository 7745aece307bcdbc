//! What holds for every cache, whatever it is: properties with no outside source, over random traces and configurations.

#![expect(clippy::unwrap_used, reason = "helpers of tests: to fail is to tell")]

use crate::support::random::Lots;
use crate::support::random::machines::{POLICIES, config};
use crate::support::random::traces::near;
use orrery::reference::{MemoryTrace, Reference, Tables};
use orrery::sim::classes::Classifier;
use orrery::sim::config::{Allocate, HierarchyConfig, Holds, Inclusion, LevelConfig, Ways};
use orrery::sim::stats::collect;
use orrery::sim::{Event, Hierarchy, LevelCounters, Policy, prepare};
use orrery::trace::synth::Rng;
use orrery::units::{CacheId, LevelId, LineAddr, SetIndex};
use std::collections::BTreeSet;

fn level_id(n: usize) -> LevelId {
    LevelId(u8::try_from(n).unwrap())
}

fn prepared(config: &HierarchyConfig, trace: &[Reference]) -> Hierarchy {
    prepare(config, &MemoryTrace::new(trace.to_vec(), Tables::default())).expect("a sound configuration")
}

fn play(config: &HierarchyConfig, trace: &[Reference]) -> Hierarchy {
    let mut hierarchy = prepared(config, trace);
    trace.iter().for_each(|reference| hierarchy.access(reference, &mut ()));
    hierarchy
}

/// Every line of a cache: number, and whether dirty; by set, in eviction order.
fn contents(hierarchy: &Hierarchy, cache: CacheId) -> Vec<(LineAddr, bool)> {
    let sets = (0..hierarchy.geometry(cache).sets).map(SetIndex);
    sets.flat_map(|set| hierarchy.order(cache, set)).map(|line| (line.line, line.dirty)).collect()
}

/// A configuration and a trace of the model's generator, other ones than the model plays.
fn case(test: u64, number: u64) -> (Rng, HierarchyConfig, Vec<Reference>) {
    let mut lots = Rng::new(test << 32 | number);
    let config = config(&mut lots);
    let trace = near(&mut lots, &config);
    (lots, config, trace)
}

#[test]
fn what_comes_in_leaves_or_is_there_and_every_miss_has_one_class() {
    let (cases, mut fills, mut classes, mut pages) = (4000, 0, [0; 4], 0);
    for number in 0..cases {
        let (mut lots, config, trace) = case(1, number);
        let mut h = prepared(&config, &trace);
        let mut classifier = Classifier::new(&h);
        trace.iter().for_each(|reference| h.access(reference, &mut classifier));
        if lots.percent(30) {
            h.flush(&mut classifier);
        }
        for cache in h.caches() {
            let (c, resident) = (h.counters(cache), contents(&h, cache).len() as u64);
            let name = h.name(cache);
            assert_eq!(c.fills, c.evictions + c.invalidations + resident, "case {number}, {name}");
            assert!(c.prefetch_late <= c.prefetch_used && c.prefetch_used <= c.prefetch_fills, "case {number}, {name}");
            fills += c.fills;
        }
        for level in (0..h.levels()).map(level_id) {
            let k = classifier.counts(level);
            let found = [k.compulsory, k.capacity, k.conflict, k.coherence];
            assert_eq!(found.iter().sum::<u64>(), h.level_counters(level).misses(), "case {number}, {level:?}");
            classes.iter_mut().zip(found).for_each(|(sum, n)| *sum += n);
        }
        for tlb in 0..h.tlbs().len() {
            let held = (0..h.tlbs().geometry(tlb).sets).map(|set| h.tlbs().order(tlb, SetIndex(set)).count() as u64);
            let c = h.tlbs().counters(tlb);
            assert_eq!(c.fills, c.evictions + held.sum::<u64>(), "case {number}, TLB {tlb}");
            assert_eq!(c.fills, c.misses(), "case {number}, TLB {tlb}");
            pages += c.fills;
        }
    }
    eprintln!("{cases} cases: {fills} fills accounted for, and {pages} of pages; misses by class {classes:?}");
    assert!(fills > 100_000 && pages > 5000 && classes.iter().all(|n| *n > 5000), "the cases are too tame");
}

#[test]
fn the_same_again_gives_the_same_and_nobody_need_watch() {
    let (cases, mut told) = (3000, 0);
    for number in 0..cases {
        let (mut lots, config, trace) = case(2, number);
        let flush = lots.percent(30);
        let run = || {
            let (mut h, mut events) = (prepared(&config, &trace), Vec::<Event>::new());
            trace.iter().for_each(|reference| h.access(reference, &mut events));
            if flush {
                h.flush(&mut events);
            }
            (h, events)
        };
        let (watched, events) = run();
        assert!(run() == (watched.clone(), events.clone()), "case {number}: another time it differs");

        let mut unwatched = prepared(&config, &trace);
        for (n, reference) in trace.iter().enumerate() {
            if n == trace.len() / 2 {
                // A keyframe goes on as the original does.
                unwatched = unwatched.clone();
            }
            unwatched.access(reference, &mut ());
        }
        if flush {
            unwatched.flush(&mut ());
        }
        assert!(watched == unwatched, "case {number}: watching changes something");

        let source = MemoryTrace::new(trace.clone(), Tables::default());
        let stats = collect(&source, &config, flush).unwrap();
        for (n, level) in stats.levels.iter().enumerate() {
            let id = level_id(n);
            let c = watched.level_counters(id);
            assert_eq!(
                (level.accesses(), level.misses(), level.dirty, level.resident),
                (c.accesses(), c.misses(), watched.dirty(id), watched.resident(id)),
                "case {number}: statistics of {id:?}"
            );
        }
        told += events.len();
    }
    eprintln!("{cases} cases played four times: {told} events");
    assert!(told > 500_000, "the cases are too tame");
}

/// Inclusion (Mattson, Gecsei, Slutz, Traiger 1970): what a fully associative LRU cache holds, a bigger one holds too.
#[test]
fn a_bigger_fully_associative_lru_never_misses_more() {
    let full = |lines: u64| {
        let level = LevelConfig::new("L1", 0, lines * 32, Ways::Full, 32);
        Hierarchy::new(&HierarchyConfig::new("full", vec![level])).unwrap()
    };
    let (cases, mut fewer) = (2000, 0);
    for number in 0..cases {
        let (mut lots, _, trace) = case(3, number);
        let lines = 1 + lots.below(24);
        let (mut small, mut large) = (full(lines), full(lines + 1 + lots.below(24)));
        for reference in &trace {
            small.access(reference, &mut ());
            large.access(reference, &mut ());
            for held in small.order(CacheId(0), SetIndex(0)) {
                assert!(
                    large.rank(CacheId(0), held.line).is_some(),
                    "case {number}: {held:?} is in {lines} lines only"
                );
            }
        }
        let misses = [small, large].map(|h| h.level_counters(LevelId(0)).misses());
        assert!(misses[0] >= misses[1], "case {number}: {misses:?}");
        fewer += u64::from(misses[0] > misses[1]);
    }
    eprintln!("{cases} pairs of sizes, the bigger misses less in {fewer}");
    assert!(fewer > cases / 4, "the cases are too tame");
}

/// Belady 1966; Mattson et al. 1970 give the proof. Holds for a level whose accesses do not depend on what it holds, and all of
/// whose misses allocate.
#[test]
fn opt_never_misses_more_than_any_other_policy() {
    let (cases, mut compared, mut better) = (2500, [0u64; 10], [0u64; 10]);
    let places = ["alone", "as L1 of two", "as L2"];
    for number in 0..cases {
        let (mut lots, any, mut trace) = case(4, number);
        trace.iter_mut().for_each(|reference| reference.core = 0);
        let (n, levels) = lots.one_of(&[(0, 1), (0, 2), (1, 2)]);
        let mut config = HierarchyConfig { cores: 1, tlbs: Vec::new(), ..any };
        while config.levels.len() < levels {
            config.levels.push(config.levels[0].clone());
            config.levels[1].name = "outer".into();
        }
        config.levels.truncate(levels);
        for (at, level) in config.levels.iter_mut().enumerate() {
            (level.inclusion, level.prefetch) = (Inclusion::Nine, Default::default());
            level.holds = Holds::Unified;
            if at == n {
                // A missing sector is a miss that no choice of victims can help.
                (level.allocate, level.sector) = (Allocate::Write, None);
            }
        }
        let misses = |policy: Policy| {
            let mut config = config.clone();
            config.levels[n].policy = policy;
            config.check().is_ok().then(|| play(&config, &trace).level_counters(level_id(n)))
        };
        let best = misses(Policy::Opt).expect("OPT suits every shape");
        for (at, &policy) in POLICIES[..POLICIES.len() - 1].iter().enumerate() {
            // Some shapes do not suit tree-PLRU or DRRIP.
            let Some(found) = misses(policy) else { continue };
            let place = places[n + usize::from(levels > 1)];
            assert_eq!(found.accesses(), best.accesses(), "case {number}, {place}: it is asked for the same");
            assert!(best.misses() <= found.misses(), "case {number}, {place}: {policy}\n{}", config.to_toml());
            compared[at] += 1;
            better[at] += u64::from(best.misses() < found.misses());
        }
    }
    eprintln!("{cases} cases; OPT never misses more, and misses less than");
    for (at, policy) in POLICIES[..POLICIES.len() - 1].iter().enumerate() {
        eprintln!("  {policy}: in {} of {}", better[at], compared[at]);
        assert!(compared[at] > 500 && better[at] > 200, "the cases are too tame");
    }
}

#[test]
fn with_one_core_at_work_coherence_changes_nothing() {
    let (mut cases, mut private) = (0, 0);
    for number in 0.. {
        let (mut lots, any, mut trace) = case(5, number);
        let one = HierarchyConfig { cores: 1, ..any.clone() };
        let four = HierarchyConfig { cores: 4, ..any };
        if four.check().is_err() {
            continue;
        }
        let core = u16::try_from(lots.below(4)).unwrap();
        trace.iter_mut().for_each(|reference| reference.core = 0);
        let mut alone = play(&one, &trace);
        trace.iter_mut().for_each(|reference| reference.core = core);
        let mut among = play(&four, &trace);
        if lots.percent(30) {
            alone.flush(&mut ());
            among.flush(&mut ());
        }
        for level in (0..alone.levels()).map(level_id) {
            let single = alone.caches_of(level).next().unwrap();
            for cache in among.caches_of(level) {
                if among.info(cache).core.is_none_or(|own| own == core) {
                    assert_eq!(among.counters(cache), alone.counters(single), "case {number}, {}", among.name(cache));
                    assert_eq!(
                        contents(&among, cache),
                        contents(&alone, single),
                        "case {number}, {}",
                        among.name(cache)
                    );
                } else {
                    assert_eq!(among.counters(cache), &LevelCounters::default(), "case {number}: an idle core's");
                }
            }
            private += u64::from(among.caches_of(level).count() > 1);
        }
        assert_eq!(among.memory_counters(), alone.memory_counters(), "case {number}");
        assert_eq!(among.tlbs().walks(), alone.tlbs().walks(), "case {number}");
        for tlb in 0..one.tlbs.len() {
            assert_eq!(among.tlbs().sum(tlb), alone.tlbs().sum(tlb), "case {number}");
        }
        assert_eq!(among.sharing().copied().unwrap_or_default(), Default::default(), "case {number}");
        cases += 1;
        if cases == 3000 {
            break;
        }
    }
    eprintln!("{cases} cases with 1 core and with 4, {private} private levels among them");
    assert!(private > 1000, "the cases are too tame");
}

/// Only where stores fetch their lines: else a line that a store makes is not known outside. And a write-back that waits behind the
/// demand request may come to an outer level that has lost its line meanwhile, and to one behind that: with three levels or more
/// write-backs have to go first.
#[test]
fn an_inclusive_level_holds_all_that_is_inside() {
    let (mut cases, mut held, mut removed) = (0u64, 0, 0);
    for number in 0.. {
        let (mut lots, mut config, trace) = case(6, number);
        config.order.fetch_on_full_line_write = true;
        config.order.writeback_first |= config.levels.len() > 2;
        for n in 1..config.levels.len() {
            config.levels[n].inclusion = Inclusion::Inclusive;
            config.levels[n].holds = Holds::Unified;
            if config.levels[n].size < config.levels[n - 1].size {
                config.levels[n].size *= 4;
            }
            config.levels[n].allocate = lots.one_of(&[Allocate::Write, Allocate::None]);
        }
        if config.levels.len() < 2 || config.levels.iter().any(|l| l.policy == Policy::Opt) || config.check().is_err() {
            continue;
        }
        let mut h = prepared(&config, &trace);
        for reference in &trace {
            h.access(reference, &mut ());
            for inner in h.caches() {
                let beyond = h.caches().filter(|outer| {
                    let (own, other) = (h.info(inner), h.info(*outer));
                    other.level > own.level && (other.core.is_none() || other.core == own.core)
                });
                for outer in beyond {
                    for (line, _) in contents(&h, inner) {
                        let outside = h.geometry(outer).line_of(h.geometry(inner).base_of(line));
                        let found = h.rank(outer, outside).is_some();
                        assert!(found, "case {number}: {} has {line:?}, {} has not", h.name(inner), h.name(outer));
                        held += 1;
                    }
                }
            }
        }
        removed += h.caches().map(|cache| h.counters(cache).invalidations).sum::<u64>();
        cases += 1;
        if cases == 1000 {
            break;
        }
    }
    eprintln!("{cases} inclusive hierarchies: {held} times a line inside was outside too, {removed} removed");
    assert!(held > 100_000 && removed > 10_000, "the cases are too tame");
}

/// Only where stores fetch their lines: else a store may make a line inside that the exclusive level still has.
#[test]
fn an_exclusive_pair_never_holds_a_line_twice() {
    let (mut cases, mut held, mut moved) = (0u64, 0, 0);
    for number in 0.. {
        let (_, mut config, mut trace) = case(7, number);
        trace.iter_mut().for_each(|reference| reference.core = 0);
        config.order.fetch_on_full_line_write = true;
        config.cores = 1;
        config.levels.truncate(2);
        for level in &mut config.levels {
            level.holds = Holds::Unified;
        }
        if config.levels.len() < 2 || config.levels[1].inclusion != Inclusion::Exclusive || config.check().is_err() {
            continue;
        }
        let mut h = prepared(&config, &trace);
        for reference in &trace {
            h.access(reference, &mut ());
            let inner: BTreeSet<LineAddr> = contents(&h, CacheId(0)).into_iter().map(|(line, _)| line).collect();
            let twice = contents(&h, CacheId(1)).into_iter().find(|(line, _)| inner.contains(line));
            assert_eq!(twice, None, "case {number}, {reference:?}\n{}", config.to_toml());
            held += inner.len();
        }
        moved += h.counters(CacheId(1)).invalidations;
        cases += 1;
        if cases == 1000 {
            break;
        }
    }
    eprintln!("{cases} exclusive pairs: {held} lines looked up, {moved} moved inward");
    assert!(held > 100_000 && moved > 5000, "the cases are too tame");
}
