//! A hierarchy in shards does what one thread does: the same events in the same order, the same counters, the same contents.

use crate::support::random::Lots;
use crate::support::random::machines::parted;
use crate::support::random::traces::loops;
use orrery::reference::{MemoryTrace, Reference, Tables};
use orrery::sim::config::{HierarchyConfig, Holds, LevelConfig, Prefetch, TlbConfig, Ways};
use orrery::sim::shards::Unsharded;
use orrery::sim::{Event, Events, Hierarchy, Index, Observer, Policy, Shards, Wants};
use orrery::timeline::{Cursor, Flow, Options, Simulated, Timeline};
use orrery::trace::synth::Rng;
use orrery::units::LevelId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Keeps what is told, with the references.
#[derive(Default)]
struct Heard {
    all: bool,
    told: Vec<(Option<Reference>, Option<Event>)>,
}

impl Observer for Heard {
    fn event(&mut self, event: Event) {
        self.told.push((None, Some(event)));
    }

    fn begin(&mut self, reference: &Reference) {
        self.told.push((Some(*reference), None));
    }

    fn wants(&self) -> Wants {
        Wants { events: if self.all { Events::All } else { Events::Misses }, ..Wants::NOTHING }
    }
}

fn is_wanted((reference, event): &(Option<Reference>, Option<Event>)) -> bool {
    reference.is_some() || matches!(event, Some(Event::Access { hit: false, .. }))
}

fn heard(all: bool) -> Heard {
    Heard { all, told: Vec::new() }
}

#[test]
fn shards_tell_and_hold_what_one_thread_does() {
    let mut rng = Rng::new(11);
    let (mut crossing, mut features) = (0, BTreeMap::<String, u32>::new());
    for case in 0..700 {
        let config = parted(&mut rng);
        // Past the block of 65,536 references, and past the length from which threads are used.
        let count = if case % 70 == 0 { 70_000 } else { rng.one_of(&[100, 600, 5_000]) };
        let trace = loops(&mut rng, count);
        let start = Hierarchy::new(&config).expect("sound");
        let most = rng.one_of(&[2, 4, 8, 16]);
        let mut shards = Shards::new(start.clone(), most);
        let parted = shards.count().expect("made to be parted");
        assert!(parted >= 2 && parted <= most);
        let mut one = start.clone();
        let mut at = 0;
        while at < trace.len() {
            let end = (at + 1 + rng.small(count) as usize).min(trace.len());
            let part = &trace[at..end];
            match rng.below(3) {
                0 => {
                    one.play(part, &mut ());
                    shards.play(part, &mut ());
                }
                how => {
                    let (mut expect, mut found) = (heard(how == 1), heard(how == 1));
                    one.play(part, &mut expect);
                    shards.play(part, &mut found);
                    if how == 2 {
                        // What is not wanted may be told all the same.
                        expect.told.retain(is_wanted);
                        found.told.retain(is_wanted);
                    }
                    let first = expect.told.iter().zip(&found.told).position(|(a, b)| a != b);
                    if let Some(n) = first {
                        panic!("case {case}: {:?}, not {:?}\n{}", found.told[n], expect.told[n], config.to_toml());
                    }
                    assert_eq!(found.told.len(), expect.told.len(), "case {case}");
                }
            }
            assert!(*shards.hierarchy() == one, "case {case}: contents or counters differ\n{}", config.to_toml());
            at = end;
            if rng.below(4) == 0 {
                // Parted anew from what it is.
                shards = Shards::new(shards.hierarchy().into_owned(), rng.one_of(&[1, 2, 4]));
            }
        }
        let (mut flushed, mut also) = (Vec::new(), Vec::new());
        shards.join().flush(&mut flushed);
        one.flush(&mut also);
        assert!(flushed == also && *shards.hierarchy() == one, "case {case}: flushed");
        let line = u64::from(config.levels.iter().map(|level| level.line).max().unwrap_or(1));
        crossing += trace.iter().filter(|r| r.addr % line + u64::from(r.size) > line).count();
        for (level, id) in config.levels.iter().zip((0..).map(LevelId)) {
            let sets = start.level_geometry(id).sets;
            let of = [
                format!("{}", level.policy),
                format!("{:?}", level.inclusion),
                format!("{:?}", level.write),
                format!("{:?}", level.allocate),
                format!("{:?}", level.holds),
                format!("sectors {}", level.sector.is_some_and(|sector| sector < level.line)),
                format!("sets 2^n {}", sets.is_power_of_two()),
            ];
            of.into_iter().for_each(|feature| *features.entry(feature).or_default() += 1);
        }
    }
    eprintln!("{crossing} references over the borders of shards; levels with {features:?}");
    assert!(crossing > 10_000);
    let rare = features.iter().find(|(_, levels)| **levels < 20);
    assert!(features.len() == 9 + 3 + 2 + 2 + 3 + 2 + 2 && rare.is_none(), "{features:?}");
}

fn timeline(trace: &[Reference], hierarchy: &Hierarchy, shards: usize) -> Timeline {
    let source = MemoryTrace::new(trace.to_vec(), Tables::default());
    let options = Options { outcomes_up_to: 0, spacing: 500, shards, ..Options::default() };
    Timeline::build(Arc::new(source), hierarchy.clone(), options, &mut |_, _| true).expect("in memory")
}

fn sorted(mut flows: Vec<Flow>) -> Vec<Flow> {
    flows.sort_by_key(|flow| (flow.from, flow.to));
    flows
}

#[test]
fn an_index_made_in_shards_is_the_one_made_by_one_thread() {
    let mut rng = Rng::new(12);
    for case in 0..60 {
        let config = parted(&mut rng);
        let count = rng.one_of(&[3_000, 20_000, 20_000, 100_000]);
        let trace = loops(&mut rng, count);
        let start = Hierarchy::new(&config).expect("sound");
        let (one, many) = (timeline(&trace, &start, 1), timeline(&trace, &start, 4));
        assert_eq!(*one.simulated(), Simulated::OneThread(Unsharded::Asked));
        assert!(matches!(many.simulated(), Simulated::Shards(2..=4)), "{}", many.simulated());
        let len = trace.len() as u64;
        for level in 0..config.levels.len() {
            let strip = |timeline: &Timeline| timeline.summary().strip(level, 300, 0..len);
            assert!(strip(&one) == strip(&many), "case {case}: misses of level {level}\n{}", config.to_toml());
        }
        for _ in 0..8 {
            let mut ends = [rng.below(len + 1), rng.below(len + 1)];
            ends.sort_unstable();
            let over = |timeline: &Timeline| sorted(timeline.flows().over(ends[0] as f64, ends[1] as f64));
            assert_eq!(over(&one), over(&many), "case {case}: flows of {ends:?}");
        }
        assert_eq!(one.tables().marks, many.tables().marks);
        assert_eq!(one.tables().regions, many.tables().regions);
        let cursor = |timeline: Timeline| Cursor::new(Arc::new(timeline)).expect("in memory");
        let (mut at_one, mut at_many) = (cursor(one), cursor(many));
        for _ in 0..8 {
            let tick = rng.below(len + 1);
            let one = at_one.seek(tick, 20).expect("in memory");
            let many = at_many.seek(tick, 20).expect("in memory");
            assert!(one.before == many.before, "case {case}: at {tick}");
            assert_eq!(one.tally.answers(), many.tally.answers(), "case {case}: at {tick}\n{}", config.to_toml());
            assert!(one.tally == many.tally, "case {case}: at {tick}");
        }
    }
}

#[test]
fn what_looks_beyond_a_set_stays_whole_and_says_why() {
    let level = |name: &str| LevelConfig::new(name, 0, 4096, Ways::Count(2), 64);
    let why = |change: &dyn Fn(&mut HierarchyConfig)| {
        let mut config = HierarchyConfig::new("whole", vec![level("L1"), level("L2")]);
        config.levels[1].size = 16_384;
        change(&mut config);
        let hierarchy = Hierarchy::new(&config).expect("sound");
        Shards::new(hierarchy, 8).count().map_err(ToString::to_string)
    };
    assert_eq!(why(&|_| {}), Ok(8));
    let tlb = TlbConfig {
        name: "TLB".into(),
        entries: 16,
        ways: Ways::Full,
        pages: vec![4096],
        policy: Policy::Lru,
        latency: 1,
        holds: Holds::Unified,
        shared: false,
    };
    let words = |change: &dyn Fn(&mut HierarchyConfig)| why(change).expect_err("it looks beyond a set");
    assert_eq!(words(&|config| config.tlbs.push(tlb.clone())), "TLBs see the pages of all sets");
    assert_eq!(words(&|config| config.cores = 2), "the cores' private caches follow each other's stores");
    assert_eq!(
        words(&|config| config.levels[1].prefetch = Prefetch::Stream),
        "the prefetcher of L2 reaches into other sets"
    );
    assert_eq!(
        words(&|config| config.levels[0].policy = Policy::Drrip),
        "the policy of L1, drrip, looks at more than one set"
    );
    assert_eq!(
        words(&|config| config.levels[1].index = Index::XorFold),
        "L2 spreads its lines over the sets by a hash (xor-fold)"
    );
    assert_eq!(
        words(&|config| config.levels[1].ways = Ways::Full),
        "L2 has too few sets to share a bit of their number with the other levels"
    );
    let data = |config: &mut HierarchyConfig| config.levels.iter_mut().for_each(|level| level.holds = Holds::Data);
    assert_eq!(words(&data), "no cache holds instructions");
    // Shared caches of several cores are like those of one.
    let shared = |config: &mut HierarchyConfig| {
        config.cores = 4;
        config.levels.iter_mut().for_each(|level| level.shared = true);
    };
    assert_eq!(why(&shared), Ok(8));
}
