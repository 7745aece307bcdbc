//! The harness notices: a model that plays by another rule is caught, whichever rule it is.

use super::compare::{model, same, simulate};
use super::{case, quietly};
use orrery::sim::config::{Allocate, HierarchyConfig, Holds, Inclusion, LevelConfig, Prefetch, WritePolicy};
use orrery::sim::{Index, Policy};
use std::panic::{AssertUnwindSafe, catch_unwind};

type Change = (String, Box<dyn Fn(&mut HierarchyConfig)>);

/// A change of every level.
fn levels(name: impl Into<String>, change: impl Fn(&mut LevelConfig) + 'static) -> Change {
    (name.into(), Box::new(move |config| config.levels.iter_mut().for_each(&change)))
}

fn changes() -> Vec<Change> {
    use Policy::{BitPlru, Brrip, Drrip, Fifo, Lfu, Lru, Mru, Opt, Random, Srrip, TreePlru};
    let mut all: Vec<Change> = Vec::new();
    let neighbours = [
        (Lru, Fifo),
        (Fifo, Lru),
        (Random, Fifo),
        (TreePlru, Lru),
        (BitPlru, Lru),
        (Srrip, Brrip),
        (Brrip, Srrip),
        (Drrip, Srrip),
        (Drrip, Brrip),
        (Lfu, Lru),
        (Mru, Lru),
        (Opt, Lru),
    ];
    for (policy, other) in neighbours {
        all.push(levels(format!("{other} for {policy}"), move |level| {
            if level.policy == policy {
                level.policy = other;
            }
        }));
    }
    all.extend([
        levels("write-back for write-through", |level| level.write = WritePolicy::Back),
        levels("allocation for none", |level| level.allocate = Allocate::Write),
        levels("NINE for inclusive", |level| {
            if level.inclusion == Inclusion::Inclusive {
                level.inclusion = Inclusion::Nine;
            }
        }),
        levels("NINE for exclusive", |level| {
            if level.inclusion == Inclusion::Exclusive {
                level.inclusion = Inclusion::Nine;
            }
        }),
        levels("whole lines for sectors", |level| level.sector = None),
        levels("modulo for other indices", |level| (level.index, level.slices) = (Index::Modulo, None)),
        levels("unified for one side", |level| level.holds = Holds::Unified),
        levels("private for shared", |level| level.shared = false),
        levels("faster levels", |level| level.latency = 1),
    ]);
    for prefetch in [Prefetch::NextLine, Prefetch::Stride, Prefetch::Stream] {
        all.push(levels(format!("no prefetcher for {prefetch:?}"), move |level| {
            if level.prefetch == prefetch {
                level.prefetch = Prefetch::None;
            }
        }));
    }
    let mut top = |name: &str, change: fn(&mut HierarchyConfig)| all.push((name.into(), Box::new(change)));
    top("the demand request first", |config| config.order.writeback_first = false);
    top("no fetch for whole lines", |config| config.order.fetch_on_full_line_write = false);
    top("another seed", |config| config.seed += 1);
    top("other pages", |config| config.memory.page ^= 512 ^ 4096);
    top("a faster memory", |config| config.memory.latency = 1);
    top("fetches not dropped", |config| config.data_only = false);
    all
}

#[test]
fn a_model_of_other_rules_is_caught() {
    let changes = changes();
    let mut caught = vec![(0, 0); changes.len()];
    for number in 0..2500 {
        let case = case(number);
        let (real, ..) = simulate(&case);
        for ((_, change), (wrong, tried)) in changes.iter().zip(&mut caught) {
            let mut other = case.clone();
            change(&mut other.config);
            if other.config == case.config || other.config.check().is_err() {
                continue;
            }
            *tried += 1;
            let agree = || same(&real, &model(&other));
            *wrong += u32::from(quietly(|| catch_unwind(AssertUnwindSafe(agree)).is_err()));
        }
    }
    for ((name, _), (wrong, tried)) in changes.iter().zip(&caught) {
        eprintln!("{wrong:5} of {tried:5} cases notice {name}");
        assert!(*wrong >= 20, "{name}: noticed in {wrong} of {tried} cases");
    }
}
