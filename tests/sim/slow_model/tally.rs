//! How many cases had each feature, so that a run cannot pass by accident.

use super::compare::Case;
use super::model::Model;
use crate::support::random::machines::POLICIES;
use orrery::reference::Kind;
use orrery::sim::config::{Allocate, Holds, Inclusion, LevelConfig, Prefetch, WritePolicy};
use orrery::sim::{AccessKind, Cause, Event, Index, Policy};
use std::collections::{BTreeMap, BTreeSet};

/// Cases with each feature, by name.
pub(crate) struct Tally(BTreeMap<String, u64>);

const RELATIONS: [Inclusion; 3] = [Inclusion::Nine, Inclusion::Inclusive, Inclusion::Exclusive];
const WRITES: [(WritePolicy, Allocate); 4] = [
    (WritePolicy::Back, Allocate::Write),
    (WritePolicy::Back, Allocate::None),
    (WritePolicy::Through, Allocate::Write),
    (WritePolicy::Through, Allocate::None),
];
const PREFETCHERS: [Prefetch; 3] = [Prefetch::NextLine, Prefetch::Stride, Prefetch::Stream];

fn write_word((write, allocate): (WritePolicy, Allocate)) -> &'static str {
    match (write, allocate) {
        (WritePolicy::Back, Allocate::Write) => "write-back",
        (WritePolicy::Back, Allocate::None) => "write-back without allocation",
        (WritePolicy::Through, Allocate::Write) => "write-through",
        (WritePolicy::Through, Allocate::None) => "write-through without allocation",
    }
}

fn relation_word(relation: Inclusion) -> &'static str {
    match relation {
        Inclusion::Nine => "nine",
        Inclusion::Inclusive => "inclusive",
        Inclusion::Exclusive => "exclusive",
    }
}

/// Policy with relation, relation with way to write, policy with way to write.
fn pairs(policy: Policy, relation: Inclusion, write: (WritePolicy, Allocate)) -> [String; 3] {
    let (relation, write) = (relation_word(relation), write_word(write));
    [format!("{policy}, {relation}"), format!("{relation}, {write}"), format!("{policy}, {write}")]
}

/// What happens in some cases, whatever the configuration says.
const HAPPENINGS: [&str; 16] = [
    "a back-invalidation",
    "a back-invalidation of dirt",
    "a line moves inward",
    "a dirty line moves inward",
    "a clean victim comes to its own copy",
    "a sector is missing",
    "a core takes a line",
    "an intervention",
    "true sharing",
    "false sharing",
    "a coherence miss",
    "a prefetch is used",
    "a prefetch is late",
    "a prefetch pollutes",
    "a page walk",
    "a conflict miss",
];

const SETTINGS: [&str; 22] = [
    "levels: 1",
    "levels: 2",
    "levels: 3",
    "levels: 4",
    "cores: 1",
    "cores: 2",
    "cores: 3",
    "cores: 4",
    "private and shared levels",
    "data and instructions apart",
    "lines grow outward",
    "lines shrink outward",
    "sectors",
    "sets not a power of two",
    "TLBs",
    "writeback_first",
    "fetch_on_full_line_write",
    "data_only",
    "flush",
    "two OPT levels",
    "a straddling store",
    "the top of memory",
];

/// Features that have to come in one case.
fn together() -> [(&'static str, &'static [&'static str]); 4] {
    [
        ("sectors", &["inclusive", "exclusive", "several cores", "prefetchers", "lines that differ"]),
        ("several cores", &["inclusive", "exclusive", "prefetchers", "lines that differ", "TLBs", "sides apart"]),
        ("prefetchers", &["inclusive", "exclusive", "sides apart", "lines that differ"]),
        ("lines that differ", &["inclusive", "exclusive", "sides apart"]),
    ]
}

impl Tally {
    /// Every feature that has to come, at none.
    pub(crate) fn new() -> Self {
        let mut all: BTreeSet<String> = HAPPENINGS.iter().chain(&SETTINGS).map(ToString::to_string).collect();
        for policy in POLICIES.iter().copied() {
            // OPT stands in hierarchies that are neither inclusive nor exclusive.
            for relation in RELATIONS.into_iter().filter(|r| policy != Policy::Opt || *r == Inclusion::Nine) {
                for write in WRITES {
                    all.extend(pairs(policy, relation, write));
                }
            }
            if policy != Policy::Opt {
                all.insert(format!("{policy} in a TLB"));
            }
        }
        for index in [Index::Modulo, Index::XorFold, Index::Slice] {
            all.insert(format!("index: {index}"));
        }
        for prefetch in PREFETCHERS {
            all.insert(format!("prefetcher: {prefetch:?}"));
            for relation in [Inclusion::Nine, Inclusion::Inclusive] {
                all.insert(format!("prefetcher: {prefetch:?}, {}", relation_word(relation)));
            }
        }
        for (one, other) in
            together().into_iter().flat_map(|(one, others)| others.iter().map(move |other| (one, *other)))
        {
            all.insert(format!("{one} with {other}"));
        }
        Self(all.into_iter().map(|name| (name, 0)).collect())
    }

    /// One more case.
    pub(crate) fn add(&mut self, case: &Case, model: &Model, events: &[Event]) {
        let mut found: BTreeSet<String> = BTreeSet::new();
        let config = &case.config;
        for level in &config.levels {
            found.extend(pairs(level.policy, level.inclusion, (level.write, level.allocate)));
            found.insert(format!("index: {}", level.index));
            if level.prefetch != Prefetch::None {
                found.insert(format!("prefetcher: {:?}", level.prefetch));
                found.insert(format!("prefetcher: {:?}, {}", level.prefetch, relation_word(level.inclusion)));
            }
        }
        found.extend(model.tlbs.iter().map(|tlb| format!("{} in a TLB", tlb.policy)));
        found.insert(format!("levels: {}", config.levels.len()));
        found.insert(format!("cores: {}", config.cores));
        let any = |what: fn(&LevelConfig) -> bool| config.levels.iter().any(what);
        let any_pair =
            |what: fn(&LevelConfig, &LevelConfig) -> bool| config.levels.windows(2).any(|l| what(&l[0], &l[1]));
        let total =
            |what: fn(&orrery::sim::LevelCounters) -> u64| model.caches.iter().map(|c| what(&c.counters)).sum::<u64>();
        let sharing = model.cores.as_ref().map(|cores| cores.counters).unwrap_or_default();
        let class = |n: usize| model.caches.iter().any(|cache| cache.classes.counts[n] > 0);
        let removed = |why: Cause, dirt: bool| {
            let of =
                |e: &Event| matches!(e, Event::Invalidate { cause, dirty, .. } if *cause == why && (*dirty || !dirt));
            events.iter().any(of)
        };
        let is_fill = |e: &Event| matches!(e, Event::Fill { .. });
        let is_miss = |e: &Event| matches!(e, Event::Access { hit: false, kind: AccessKind::Read, .. });
        let sectored =
            |e: &Event| matches!(e, Event::Access { level, .. } if config.levels[level.index()].sectors() > 1);
        // A read that misses fills, unless the line was there in part.
        let partial = events.windows(2).any(|e| {
            is_miss(&e[0])
                && sectored(&e[0])
                && !matches!(e[1], Event::Evict { .. } | Event::Invalidate { .. })
                && !is_fill(&e[1])
        });
        let line = config.levels[0].line;
        let straddles = |r: &orrery::reference::Reference| {
            r.kind == Kind::Write
                && u128::from(r.addr) / u128::from(line)
                    != (u128::from(r.addr) + u128::from(r.size) - 1) / u128::from(line)
        };
        let truths = [
            ("private and shared levels", config.cores > 1 && any(|l| l.shared) && any(|l| !l.shared)),
            ("data and instructions apart", any(|l| l.holds == Holds::Data) && any(|l| l.holds == Holds::Instructions)),
            ("lines grow outward", any_pair(|inner, outer| inner.line < outer.line)),
            ("lines shrink outward", any_pair(|inner, outer| inner.line > outer.line)),
            ("sectors", any(|l| l.sectors() > 1)),
            ("sets not a power of two", model.caches.iter().any(|cache| !cache.sets.len().is_power_of_two())),
            ("TLBs", !model.tlbs.is_empty()),
            ("writeback_first", config.order.writeback_first),
            ("fetch_on_full_line_write", config.order.fetch_on_full_line_write),
            ("data_only", config.data_only),
            ("flush", case.flush),
            ("two OPT levels", config.levels.iter().filter(|l| l.policy == Policy::Opt).count() > 1),
            ("a straddling store", case.trace.iter().any(straddles)),
            ("the top of memory", case.trace.iter().any(|r| r.addr.checked_add(r.size.into()).is_none())),
            ("a back-invalidation", removed(Cause::Inclusion, false)),
            ("a back-invalidation of dirt", removed(Cause::Inclusion, true)),
            ("a line moves inward", removed(Cause::Promotion, false)),
            ("a dirty line moves inward", removed(Cause::Promotion, true)),
            ("a clean victim comes to its own copy", events.iter().any(|e| matches!(e, Event::Renew { .. }))),
            ("a sector is missing", partial),
            ("a core takes a line", sharing.taken > 0),
            ("an intervention", sharing.interventions > 0),
            ("true sharing", sharing.returns > sharing.false_sharing),
            ("false sharing", sharing.false_sharing > 0),
            ("a coherence miss", class(3)),
            ("a prefetch is used", total(|c| c.prefetch_used) > 0),
            ("a prefetch is late", total(|c| c.prefetch_late) > 0),
            ("a prefetch pollutes", total(|c| c.prefetch_pollution) > 0),
            ("a page walk", model.walks > 0),
            ("a conflict miss", class(2)),
        ];
        let has = |what: &str| match what {
            "sectors" => any(|l| l.sectors() > 1),
            "several cores" => config.cores > 1,
            "prefetchers" => any(|l| l.prefetch != Prefetch::None),
            "lines that differ" => any_pair(|inner, outer| inner.line != outer.line),
            "inclusive" => any(|l| l.inclusion == Inclusion::Inclusive),
            "exclusive" => any(|l| l.inclusion == Inclusion::Exclusive),
            "sides apart" => any(|l| l.holds != Holds::Unified),
            "TLBs" => !model.tlbs.is_empty(),
            _ => unreachable!("{what}"),
        };
        for (one, others) in together() {
            found.extend(
                others.iter().filter(|other| has(one) && has(other)).map(|other| format!("{one} with {other}")),
            );
        }
        found.extend(truths.into_iter().filter(|(_, true_here)| *true_here).map(|(name, _)| name.to_string()));
        for name in found {
            *self.0.entry(name).or_default() += 1;
        }
    }

    /// Prints all, three a row, and fails where a feature was in too few cases.
    pub(crate) fn finish(&self, least: u64) {
        let all: Vec<String> = self.0.iter().map(|(name, cases)| format!("{cases:6} {name:46}")).collect();
        for row in all.chunks(3) {
            eprintln!("{}", row.concat().trim_end());
        }
        let rare: Vec<_> = self.0.iter().filter(|(_, cases)| **cases < least).collect();
        assert!(rare.is_empty(), "in fewer than {least} cases: {rare:?}");
    }
}
