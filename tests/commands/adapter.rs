//! The second engine of `orrery kernel`: an adapter. Each engine tests the other, event for event.
//!
//! What is compared: all that an observer is told, in its order (accesses with items and addresses, decisions, barriers), all that is
//! counted of it, and the bytes of buffers at the end. Of `race` the bytes are not compared: whether its items read a neighbour's number
//! before or after it is written depends on the adapter, which is what the kernel is there to show; which items access what does not.
//! Bytes of kernels of floats are compared to the bit as well, since they add and multiply alone, which WGSL rounds in one way unless an
//! adapter fuses them; of `sobel`, whose `sqrt` has some freedom, to one part in a million.

use crate::calls::refused;
use crate::kernels::{after, body, bundled, launch, program};
use crate::random_kernels::text_of;
use orrery::kernel::bundled::BUNDLED;
use orrery::kernel::{Engine, Event, Extent, KernelError, Launch, Program, Recording, Run, Space};
use orrery::launch::Adapter;
use orrery::render::context::Preference;
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

/// An adapter to test on, as tests of pictures have it.
fn adapter(test: &str) -> Option<Adapter> {
    let hardware = std::env::var("GOLDEN_ADAPTER").is_ok_and(|v| v == "gpu");
    match Adapter::new(if hardware { Preference::Fastest } else { Preference::Software }) {
        Ok(adapter) => Some(adapter),
        Err(error) => {
            let required = std::env::var("REQUIRE_ADAPTER").is_ok_and(|v| v == "1");
            assert!(!required, "{test}: an adapter is required (REQUIRE_ADAPTER=1): {error}");
            eprintln!("skipped: {test}: no adapter: {error}");
            None
        }
    }
}

/// Runs a launch on both engines, holds them against each other, and gives what the adapter's came to.
fn both(adapter: &mut Adapter, name: &str, program: &Program, launch: &Launch) -> (Run, Recording) {
    let (expected, told) = program.run_watched(launch, Recording::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (run, recording) =
        adapter.run(program, launch, Recording::default()).unwrap_or_else(|e| panic!("{name}: {e}\n{}", program.text));
    for (n, (found, expected)) in recording.events.iter().zip(&told.events).enumerate() {
        assert_eq!(found, expected, "{name}: event {n}\n{}", program.text);
    }
    assert_eq!(recording.events.len(), told.events.len(), "{name}\n{}", program.text);
    assert_eq!(run.counts, expected.counts, "{name}");
    assert_eq!((&run.lone, &run.outside), (&expected.lone, &expected.outside), "{name}");
    assert_eq!((run.events, run.counts.lost, &run.sites), (expected.events, 0, &expected.sites), "{name}");
    (run, recording)
}

/// Whether buffers are the same to the bit.
fn same_bytes(program: &Program, found: &[Vec<u8>], expected: &[Vec<u8>], name: &str) {
    for ((shared, found), expected) in program.shared.iter().zip(found).zip(expected) {
        if shared.space != Space::Workgroup {
            assert!(found == expected, "{name}: {} differs\n{}", shared.name, program.text);
        }
    }
}

#[test]
fn reductions_are_counted_on_the_adapter_as_the_thesis_says() {
    let Some(mut adapter) = adapter("reductions on the adapter") else { return };
    let expected = [
        ("reduce-modulo", 32, (36, 0, 0, 1)),
        ("reduce-strided", 16, (21, 15, 15, 2)),
        ("reduce-sequential", 16, (21, 0, 0, 1)),
    ];
    for (name, divergent, banks) in expected {
        let (program, launch) = bundled(name);
        let (run, ()) = adapter.run(&program, &launch, ()).unwrap();
        let counts = &run.counts;
        assert_eq!((counts.work_items, counts.warps, counts.divergent_warps), (1024, 32, divergent), "{name}");
        let group = counts.banks[0];
        assert_eq!((group.accesses, group.conflicting, group.extra, group.max_degree), banks, "{name}");
        let sums: Vec<f64> = (0..16).map(|group| (0..64).map(|n| f64::from(group * 64 + n)).sum()).collect();
        assert_eq!(after(&program, &run, "g_odata"), sums, "{name}");
        assert_eq!(counts.lost, 0);
    }
}

#[test]
fn bundled_kernels_do_the_same_on_both_engines() {
    let Some(mut adapter) = adapter("bundled kernels on both engines") else { return };
    for kernel in BUNDLED {
        let name = kernel.name;
        let (program, launch) = bundled(name);
        let (run, recording) = both(&mut adapter, name, &program, &launch);
        assert!(recording.events.iter().any(|(_, _, event)| matches!(event, Event::Access { .. })));
        if name == "race" {
            continue;
        }
        same_bytes(&program, &adapter.plain(&program, &launch).unwrap(), &run.after, &format!("{name}, plain"));
        let expected = program.run(&launch).unwrap();
        if name == "sobel" {
            let (found, expected) = (after(&program, &run, "edges"), after(&program, &expected, "edges"));
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * b.abs().max(1.0);
            assert!(found.iter().zip(&expected).all(near), "{name}");
        } else {
            same_bytes(&program, &run.after, &expected.after, name);
        }
    }
}

/// As many random kernels as there is time for: 20 seconds, or `ORRERY_RANDOM_KERNELS` of them, 1000 in a long run.
#[test]
fn random_kernels_do_the_same_on_both_engines() {
    let Some(mut adapter) = adapter("random kernels on both engines") else { return };
    let wanted: Option<u64> = std::env::var("ORRERY_RANDOM_KERNELS").ok().and_then(|n| n.parse().ok());
    let started = Instant::now();
    let (mut ran, mut events) = (0, 0);
    for seed in 0..wanted.unwrap_or(1000) {
        if wanted.is_none() && started.elapsed() > Duration::from_secs(20) {
            break;
        }
        let text = text_of(seed);
        let program = Program::new("random.wgsl", &text, None, &BTreeMap::new()).unwrap();
        let launch = Launch::of(Extent::Groups([2, 1, 1]));
        let name = format!("seed {seed}");
        let (run, recording) = both(&mut adapter, &name, &program, &launch);
        same_bytes(&program, &run.after, &program.run(&launch).unwrap().after, &name);
        same_bytes(&program, &adapter.plain(&program, &launch).unwrap(), &run.after, &format!("{name}, plain"));
        ran += 1;
        events += recording.events.len();
    }
    println!("{ran} random kernels, {events} events, {:.1} s", started.elapsed().as_secs_f64());
    assert!(ran >= 3 && events > 1_000, "{ran} kernels, {events} events: too few to tell anything");
}
