//! What a kept index may be used for: configurations that make the same of every trace, and no others.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::random::Lots;
use crate::support::random::machines::without_future;
use crate::support::random::traces::named;
use crate::support::timeline::{Chopped, Memory};
use orrery::axis::Position;
use orrery::reference::ReferenceSource;
use orrery::sim::config::{HierarchyConfig, Inclusion, Ways, WritePolicy};
use orrery::sim::{Event, Hierarchy, Packer, Policy};
use orrery::timeline::{Clock, ClockKind, Cursor, Options, Shelf, Timeline};
use orrery::trace::synth::Rng;
use std::sync::Arc;

/// Changes one thing of a configuration, any one.
fn change(config: &mut HierarchyConfig, rng: &mut Rng) {
    let at = usize::try_from(rng.below(config.levels.len() as u64)).unwrap();
    let level = &mut config.levels[at];
    match rng.below(14) {
        0 => config.name = format!("other {}", rng.below(9)),
        1 => level.name = format!("cache {at} of {}", rng.below(9)),
        2 => level.latency = 1 + rng.small(300),
        3 => config.memory.latency = 1 + rng.small(900),
        4 => {
            for (tlb, n) in config.tlbs.iter_mut().zip(0..) {
                (tlb.latency, tlb.name) = (1 + rng.small(50), format!("pages {n}"));
            }
        }
        5 => config.seed = rng.below(1000),
        6 => level.shared = !level.shared,
        7 => config.tlbs.iter_mut().for_each(|tlb| tlb.shared = !tlb.shared),
        8 => config.memory.page = 1 << (9 + rng.below(3)),
        9 => level.policy = [Policy::Lru, Policy::Fifo, Policy::Random][usize::try_from(rng.below(3)).unwrap()],
        10 => {
            let ways = 1 + rng.small(6);
            (level.size, level.ways) = (u64::from(4 * ways * level.line), Ways::Count(ways));
        }
        11 => config.data_only = !config.data_only,
        12 => level.write = if rng.below(2) == 0 { WritePolicy::Through } else { WritePolicy::Back },
        _ => level.inclusion = if rng.below(2) == 0 { Inclusion::Inclusive } else { Inclusion::Nine },
    }
}

/// A sound configuration, and another that differs in a few things.
fn pair(rng: &mut Rng) -> [HierarchyConfig; 2] {
    loop {
        let one = without_future(rng);
        let mut other = one.clone();
        for _ in 0..=rng.below(3) {
            change(&mut other, rng);
        }
        if one.check().is_ok() && other.check().is_ok() && one != other {
            return [one, other];
        }
    }
}

#[test]
fn configurations_of_one_simulation_make_the_same_of_every_trace() {
    let (mut same, mut apart) = (0, 0);
    for case in 0..1500u64 {
        let mut rng = Rng::new(case);
        let [one, other] = pair(&mut rng);
        let played = |config: &HierarchyConfig| {
            let mut state = Hierarchy::new(config).unwrap();
            let mut events: Vec<Event> = Vec::new();
            named(&mut Rng::new(case)).references().iter().for_each(|r| state.access(r, &mut events));
            (events, Packer::default().pack(&state))
        };
        let is_same = played(&one) == played(&other);
        if one.simulated() == other.simulated() {
            assert!(is_same, "case {case}: {}\nplays otherwise than\n{}", one.to_toml(), other.to_toml());
            same += 1;
        } else {
            apart += usize::from(!is_same);
        }
    }
    eprintln!("{same} pairs of one simulation, {apart} of others that play otherwise");
    assert!(same > 300 && apart > 300, "{same} {apart}");
}

#[test]
fn an_index_found_again_speaks_of_the_caches_that_it_is_opened_with() {
    let (mut checked, mut slower) = (0, 0);
    for case in 3000..3400u64 {
        let mut rng = Rng::new(case);
        let [one, other] = pair(&mut rng);
        if one.simulated() != other.simulated() {
            continue;
        }
        let outcomes_up_to = if case % 2 == 0 { 0 } else { u64::MAX };
        let options = Options { outcomes_up_to, spacing: 50, ..Options::default() };
        let chopped = Chopped { trace: named(&mut rng), chunk: 100 };
        let source: Arc<dyn ReferenceSource> = Arc::new(chopped);
        let built = |config: &HierarchyConfig| {
            let hierarchy = Hierarchy::new(config).unwrap();
            Timeline::build(Arc::clone(&source), hierarchy, options, &mut |_, _| true).unwrap()
        };
        let (first, anew) = (built(&one), Arc::new(built(&other)));
        let memory = Memory::new(usize::MAX);
        let directory = first.store(memory.as_ref()).unwrap();
        let shelf: Arc<dyn Shelf> = memory;
        let hierarchy = Hierarchy::new(&other).unwrap();
        let found = Arc::new(Timeline::restore(Arc::clone(&source), hierarchy, options, &shelf, &directory).unwrap());
        assert_eq!((found.config(), found.tables(), found.rows()), (&other, anew.tables(), anew.rows()), "case {case}");
        let len = source.len();
        assert_eq!(found.summary().strip(0, 50, 0..len), anew.summary().strip(0, 50, 0..len));
        for kind in ClockKind::ALL {
            let [found, anew] = [&found, &anew].map(|timeline| Clock::new(kind, timeline));
            for position in (0..=len).step_by(7) {
                assert_eq!(
                    found.at(Position::at(position)),
                    anew.at(Position::at(position)),
                    "case {case}: {kind:?} at {position}"
                );
            }
        }
        let [mut one, mut two] = [&found, &anew].map(|timeline| Cursor::new(Arc::clone(timeline)).unwrap());
        for _ in 0..6 {
            let (tick, window) = (rng.below(len + 1), rng.below(30));
            let (one, two) = (one.seek(tick, window).unwrap(), two.seek(tick, window).unwrap());
            assert!(one.before == two.before && one.after == two.after, "case {case}: at {tick}");
        }
        let cycles = |timeline: &Arc<Timeline>| Clock::new(ClockKind::Cycles, timeline).len();
        slower += u64::from(cycles(&found) != cycles(&Arc::new(first)));
        checked += 1;
    }
    eprintln!("{checked} indexes, {slower} with other latencies");
    assert!(checked > 80 && slower > 20, "{checked} {slower}");
}
