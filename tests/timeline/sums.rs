//! Sums over any part of a trace are what playing it counts: by level, by class, by region.

use crate::support::random::machines::hierarchy;
use crate::support::random::traces::named;
use crate::support::timeline::Chopped;
use orrery::reference::{MemoryTrace, Reference, ReferenceSource, Tables};
use orrery::sim::stats::{Detail, StatsCollector};
use orrery::sim::{Event, Hierarchy, LevelCounters, MissClass};
use orrery::timeline::{Cursor, Options, Share, Sums, Timeline};
use orrery::trace::synth::Rng;
use orrery::units::LevelId;
use std::ops::Range;
use std::sync::Arc;

/// What was counted before each of some ticks, by playing.
struct Played {
    ticks: Vec<u64>,
    /// By tick, by level.
    sums: Vec<Vec<Sums>>,
}

fn played(references: &[Reference], hierarchy: &Hierarchy, ticks: Vec<u64>, classed: bool) -> Played {
    let levels = hierarchy.levels();
    let mut stats = StatsCollector::with(hierarchy.clone(), &Tables::default(), Detail::default());
    let mut state = hierarchy.clone();
    let mut demand = vec![0; levels];
    let mut sums = Vec::new();
    for tick in 0..=references.len() {
        if ticks.contains(&(tick as u64)) {
            let of = stats.stats();
            let level = |(level, demand): (usize, &u64)| {
                let counters: LevelCounters = state.level_counters(LevelId(u8::try_from(level).expect("few")));
                let s = &of.levels[level];
                let misses = counters.read_misses + counters.write_misses + counters.fetch_misses;
                Sums {
                    hits: counters.read_accesses + counters.write_accesses + counters.fetch_accesses - misses,
                    misses,
                    demand_misses: *demand,
                    classes: if classed { [s.compulsory, s.capacity, s.conflict, s.coherence] } else { [0; 4] },
                }
            };
            sums.push(demand.iter().enumerate().map(level).collect());
        }
        if let Some(reference) = references.get(tick) {
            let mut events: Vec<Event> = Vec::new();
            state.access(reference, &mut events);
            for event in events {
                if let Event::Access { level, kind, hit: false, .. } = event
                    && kind.is_demand()
                {
                    demand[level.index()] += 1;
                }
            }
            stats.play(reference);
        }
    }
    Played { ticks, sums }
}

impl Played {
    fn over(&self, range: &Range<u64>, level: usize) -> Sums {
        let at = |tick: u64| self.sums[self.ticks.iter().position(|t| *t == tick).expect("asked for")][level];
        at(range.end) - at(range.start)
    }
}

fn build(trace: MemoryTrace, chunk: u64, hierarchy: &Hierarchy, outcomes_up_to: u64) -> Timeline {
    let options = Options { outcomes_up_to, spacing: 300, ..Options::default() };
    let source = Arc::new(Chopped { trace, chunk });
    Timeline::build(source, hierarchy.clone(), options, &mut |_, _| true).expect("in memory")
}

fn part(rng: &mut Rng, len: u64) -> Range<u64> {
    let (a, b) = (rng.below(len + 1), rng.below(len + 1));
    a.min(b)..a.max(b)
}

#[test]
fn sums_of_levels_are_what_was_counted() {
    let mut rng = Rng::new(31);
    let mut classes = [0; 4];
    for case in 0..60 {
        let hierarchy = hierarchy(&mut rng);
        let trace = named(&mut rng);
        let cores = u64::from(hierarchy.config().cores);
        let on_cores = |r: &Reference| Reference { core: u16::try_from(rng.below(cores)).expect("few"), ..*r };
        let references = trace.references().iter().map(on_cores).collect();
        let trace = MemoryTrace::new(references, trace.tables().clone());
        let len = trace.len();
        let classed = case % 2 == 0;
        let timeline = build(trace.clone(), 1 + rng.below(900), &hierarchy, if classed { u64::MAX } else { 0 });
        let asked: Vec<Range<u64>> = (0..20).map(|_| part(&mut rng, len)).chain(std::iter::once(0..len)).collect();
        let summary = timeline.summary();
        let exactly: Vec<Range<u64>> = asked.iter().map(|range| summary.over(range.clone(), 0).1).collect();
        let mut ticks: Vec<u64> = exactly.iter().flat_map(|range| [range.start, range.end]).collect();
        ticks.sort_unstable();
        ticks.dedup();
        let played = played(trace.references(), &hierarchy, ticks, classed);
        for (asked, exactly) in asked.iter().zip(&exactly) {
            assert!(exactly.start <= asked.start && exactly.end >= asked.end, "{exactly:?} of {asked:?}");
            for level in 0..hierarchy.levels() {
                let found = summary.over(asked.clone(), level).0;
                assert_eq!(found, played.over(exactly, level), "case {case}: {exactly:?}, level {level}");
                classes.iter_mut().zip(found.classes).for_each(|(sum, class)| *sum += class);
                let misses: u64 = found.classes.iter().sum();
                assert_eq!(misses, if classed { found.misses } else { 0 }, "case {case}: each miss has a class");
            }
        }
    }
    for class in [MissClass::Compulsory, MissClass::Capacity, MissClass::Conflict, MissClass::Coherence] {
        assert!(classes[class as usize] > 0, "{class:?}");
    }
}

#[test]
fn shares_of_regions_are_what_was_counted() {
    let mut rng = Rng::new(32);
    let mut misses = 0;
    for case in 0..40 {
        let hierarchy = hierarchy(&mut rng);
        // Long enough for some borders.
        let some = named(&mut rng);
        let copies = usize::try_from(9_000 / some.len().max(1)).expect("small") + 1;
        let references = some.references().repeat(copies);
        let all = MemoryTrace::new(references, some.tables().clone());
        let outcomes = if case % 2 == 0 { u64::MAX } else { 0 };
        let timeline = Arc::new(build(all, 1 + rng.below(3000), &hierarchy, outcomes));
        let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("in memory");
        let len = timeline.len();
        for _ in 0..6 {
            let asked = part(&mut rng, len);
            let (shares, exactly) = timeline.regions_over(asked.clone());
            assert!(exactly.start <= asked.start && exactly.end >= asked.end, "{exactly:?} of {asked:?}");
            assert_eq!(shares.len(), timeline.rows().len());
            let mut tally = |tick: u64| cursor.seek(tick, 0).expect("in memory").tally.clone();
            let (before, after) = (tally(exactly.start), tally(exactly.end));
            for (row, share) in timeline.rows().iter().zip(&shares) {
                let mut expect =
                    Share { references: after.references(row) - before.references(row), ..Share::default() };
                for level in 0..hierarchy.levels() {
                    expect.misses[level] = after.misses(row, level) - before.misses(row, level);
                }
                assert_eq!(*share, expect, "case {case}: {exactly:?}");
                misses += share.misses[0];
            }
            let all: u64 = shares.iter().map(|share| share.references).sum();
            assert_eq!(all, exactly.end - exactly.start, "each reference is in one region");
        }
    }
    assert!(misses > 1000);
}
