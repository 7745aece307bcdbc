//! The simulator against a slow model written from the contract alone: lists, no bit tricks, addresses in 128 bits, every
//! cache asked one after the other. Thousands of random (trace, configuration) pairs over every feature; every counter, every
//! miss class, every line and its order must agree, and so must what the events tell.

#![expect(clippy::unwrap_used, reason = "helpers of tests: to fail is to tell")]

pub(crate) mod cache;
mod compare;
mod cores;
mod found;
mod long;
mod mirror;
pub(crate) mod model;
mod policy;
mod prefetch;
mod rules;
mod tally;

use crate::support::random::Lots;
use crate::support::random::machines::config;
use crate::support::random::traces::near;
use compare::{Case, check, shrink};
use orrery::trace::synth::Rng;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use tally::Tally;

/// Pairs to try.
const CASES: u64 = 30_000;
/// Cases that have to have each feature.
const EACH: u64 = 200;

/// The same case for the same number in every run.
fn case(number: u64) -> Case {
    let lots = &mut Rng::new(number);
    let config = config(lots);
    let trace = near(lots, &config);
    Case { config, trace, flush: lots.percent(30) }
}

fn fails(case: &Case) -> bool {
    catch_unwind(AssertUnwindSafe(|| check(case))).is_err()
}

/// Runs something without what its panics print.
fn quietly<T>(run: impl FnOnce() -> T) -> T {
    thread_local!(static QUIET: Cell<bool> = const { Cell::new(false) });
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    QUIET.set(true);
    let result = run();
    QUIET.set(false);
    result
}

#[test]
fn the_simulator_agrees_with_the_model() {
    let (mut tally, mut references, mut accesses) = (Tally::new(), 0, 0);
    for number in 0..CASES {
        let case = case(number);
        let agreed = catch_unwind(AssertUnwindSafe(|| check(&case)));
        let Ok((_, model, events)) = agreed else {
            let small = quietly(|| shrink(case, fails));
            eprintln!("case {number}, made small:\n{small}");
            check(&small);
            unreachable!("it failed before");
        };
        references += case.trace.len();
        accesses += model.caches.iter().map(|cache| cache.counters.accesses()).sum::<u64>();
        tally.add(&case, &model, &events);
    }
    eprintln!("{CASES} random pairs agree: {references} references, {accesses} accesses; pairs that have");
    tally.finish(EACH);
}
