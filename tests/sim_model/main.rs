//! The simulator against a slow model written from the contract alone: lists, no bit tricks, addresses in 128 bits.
//! Thousands of random (trace, configuration) pairs; every counter, every miss class, every line and its order must agree.

#![expect(clippy::unwrap_used, reason = "helpers of tests: to fail is to tell")]

mod cache;
mod compare;
mod cores;
mod generate;
mod mirror;
mod model;
mod policy;
mod prefetch;

use compare::{Case, check, shrink};
use generate::Lots;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Pairs to try.
const CASES: u64 = 20_000;

fn case(number: u64) -> Case {
    let lots = &mut Lots::new(number);
    let config = generate::config(lots);
    let trace = generate::trace(lots, &config);
    Case { config, trace, flush: lots.percent(30) }
}

#[test]
fn the_simulator_agrees_with_the_model() {
    let fails = |case: &Case| catch_unwind(AssertUnwindSafe(|| check(case))).is_err();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut failed = None;
    let mut bad = 0;
    for number in 0..CASES {
        let case = case(number);
        if fails(&case) {
            bad += 1;
            if failed.is_none() {
                failed = Some((number, shrink(case, fails)));
            }
        }
    }
    std::panic::set_hook(hook);
    eprintln!("{bad} bad of {CASES}");
    if let Some((number, case)) = failed {
        eprintln!("case {number}, made small:\n{}flush: {}", case.config.to_toml(), case.flush);
        for r in &case.trace {
            eprintln!("{:?} {:#x} {} core {} pc {:#x}", r.kind, r.addr, r.size, r.core, r.pc);
        }
        check(&case);
    }
}
