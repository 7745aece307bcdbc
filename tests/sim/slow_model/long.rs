//! Long traces for the fast loops, which choose themselves by what the references before did.

use super::compare::{Case, in_batches, model, same};
use super::mirror::Mirror;
use crate::support::random::Lots;
use orrery::reference::{Kind, Reference};
use orrery::sim::Policy;
use orrery::sim::config::{HierarchyConfig, Inclusion, LevelConfig, Ways, WritePolicy};
use orrery::trace::synth::Rng;

/// A configuration whose innermost level is plain, for the fast loops, and a trace long enough for each of them.
fn long_case(lots: &mut Rng) -> (HierarchyConfig, Vec<Reference>) {
    let line = lots.one_of(&[16, 32, 64, 64]);
    let count = lots.one_of(&[1, 2, 2, 3]);
    let level = |n: u64, lots: &mut Rng| {
        let (sets, ways) = (lots.one_of(&[1, 2, 4, 16, 64]), lots.one_of(&[1, 2, 4, 6, 8, 12, 16]));
        let line = line * if n > 0 { lots.one_of(&[1, 1, 1, 2]) } else { 1 };
        let mut level = LevelConfig::new(format!("L{}", n + 1), 0, sets * ways * line, ways_of(ways), u32_of(line));
        if n > 0 && lots.percent(25) {
            level.policy = lots.one_of(&[Policy::Fifo, Policy::Srrip]);
            level.write = lots.one_of(&[WritePolicy::Back, WritePolicy::Through]);
            level.inclusion = lots.one_of(&[Inclusion::Nine, Inclusion::Inclusive, Inclusion::Exclusive]);
        }
        level
    };
    let config = loop {
        let mut config = HierarchyConfig::new("long", (0..count).map(|n| level(n, lots)).collect());
        config.order.writeback_first = lots.percent(15);
        config.order.fetch_on_full_line_write = lots.percent(15);
        config.data_only = lots.percent(15);
        if config.check().is_ok() {
            break config;
        }
    };
    // Phases that hit at the head of a set, anywhere in it, and nowhere, so that every loop has its turn.
    let lines = config.levels[0].size / u64::from(config.levels[0].line);
    let mut trace = Vec::new();
    for _ in 0..3 {
        let span = line * lots.one_of(&[2, lines.div_ceil(2), lines, 4 * lines]).max(1);
        let base = lots.one_of(&[0, 0x7f12_3456_7000, 0u64.wrapping_sub(span)]);
        let odd = lots.one_of(&[0, 0, 2, 20]);
        for _ in 0..2600 {
            let kind =
                lots.one_of(&[Kind::Read, Kind::Read, Kind::Read, Kind::Write, Kind::Write, Kind::Modify, Kind::Fetch]);
            let size = if lots.percent(odd) { lots.below(3 * line) + 1 } else { lots.one_of(&[1, 2, 4, 8, line]) };
            let at = lots.below(span);
            let at = if lots.percent(odd) { at } else { at & !(size.next_power_of_two() - 1) };
            trace.push(Reference::new(kind, base + at, u32_of(size)));
        }
    }
    (config, trace)
}

fn ways_of(ways: u64) -> Ways {
    Ways::Count(u32_of(ways))
}

fn u32_of(n: u64) -> u32 {
    u32::try_from(n).unwrap()
}

#[test]
fn many_references_at_once_agree_with_the_model() {
    let (cases, mut references, mut misses, mut most) = (150, 0, [0; 2], 0);
    for number in 0..cases {
        let lots = &mut Rng::new(1 << 40 | number);
        let (config, trace) = long_case(lots);
        let case = Case { config, trace, flush: lots.percent(30) };
        let (real, model) = (in_batches(&case, &mut ()), model(&case));
        same(&real, &model);
        let mut events = Vec::new();
        assert!(in_batches(&case, &mut events) == real, "case {number}: watching changes something");
        Mirror::of(&real, &events).same();
        let inner = &model.caches[0].counters;
        references += case.trace.len() as u64;
        misses[0] += inner.misses();
        misses[1] += inner.accesses();
        most += u64::from(inner.misses() * 10 > inner.accesses());
    }
    eprintln!("{cases} long traces agree: {references} references, {} of {} accesses miss", misses[0], misses[1]);
    assert!(most > cases / 4 && most < cases * 9 / 10, "{most} of {cases} cases miss often: the cases are too tame");
}
