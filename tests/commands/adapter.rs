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
use crate::textures::{BEFORE, BOUND, CASES, reading};
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
        let plain = adapter.plain(&program, &launch).unwrap();
        let expected = program.run(&launch).unwrap();
        let sums = ["multiply-naive", "multiply-tiled", "sobel"].contains(&name);
        let near = |found: &[Vec<u8>], expected: &[Vec<u8>]| {
            let numbers = |bytes: &[Vec<u8>]| -> Vec<f64> {
                let each = program.shared.iter().zip(bytes).filter(|(shared, _)| shared.space != Space::Workgroup);
                each.flat_map(|(shared, bytes)| program.numbers(shared, bytes).unwrap()).collect()
            };
            let (found, expected) = (numbers(found), numbers(expected));
            assert_eq!(found.len(), expected.len(), "{name}");
            let alike = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * b.abs().max(1.0);
            assert!(found.iter().zip(&expected).all(alike), "{name}");
        };
        if sums && !adapter.describe().contains("software") {
            // Hardware fuses a product and a sum where it likes, and may do so in one of two shaders alone.
            near(&plain, &run.after);
        } else {
            same_bytes(&program, &plain, &run.after, &format!("{name}, plain"));
        }
        if sums && (name == "sobel" || !adapter.describe().contains("software")) {
            near(&run.after, &expected.after);
        } else {
            same_bytes(&program, &run.after, &expected.after, name);
        }
    }
}

/// As many random kernels as there is time for: 20 seconds, or `ORRERY_RANDOM_KERNELS` of them: 1000 in a long run, or those of seeds
/// 500..1000.
#[test]
fn random_kernels_do_the_same_on_both_engines() {
    let Some(mut adapter) = adapter("random kernels on both engines") else { return };
    let wanted = std::env::var("ORRERY_RANDOM_KERNELS").ok();
    let wanted = wanted.map(|words| {
        let (from, to) = words.split_once("..").unwrap_or(("0", &words));
        from.parse().unwrap()..to.parse::<u64>().unwrap()
    });
    let started = Instant::now();
    let (mut ran, mut events, mut spent) = (0, 0, Duration::ZERO);
    for seed in wanted.clone().unwrap_or(0..1000) {
        if wanted.is_none() && started.elapsed() > Duration::from_secs(20) {
            break;
        }
        let text = text_of(seed);
        let program = Program::new("random.wgsl", &text, None, &BTreeMap::new()).unwrap();
        let launch = Launch::of(Extent::Groups([2, 1, 1]));
        let name = format!("seed {seed}");
        let (run, recording) = both(&mut adapter, &name, &program, &launch);
        same_bytes(&program, &run.after, &program.run(&launch).unwrap().after, &name);
        let plain = Instant::now();
        same_bytes(&program, &adapter.plain(&program, &launch).unwrap(), &run.after, &format!("{name}, plain"));
        spent += plain.elapsed();
        ran += 1;
        events += recording.events.len();
    }
    let [all, plain] = [started.elapsed(), spent].map(|time| time.as_secs_f64());
    let told = format!("{ran} random kernels, {events} events, {all:.1} s, of which {plain:.1} s as they are");
    // A long run keeps it for who asked for it.
    if let Ok(file) = std::env::var("ORRERY_RANDOM_KERNELS_REPORT") {
        fs::write(file, &told).unwrap();
    }
    assert!(ran >= 3 && events > 1_000, "{told}: too few to tell anything");
}

#[test]
fn what_kernels_are_made_of_is_told_alike() {
    let Some(mut adapter) = adapter("parts of kernels on both engines") else { return };
    let before = "struct P { scale: vec3f, k: i32, m: mat2x3<f32>, list: array<vec4u, 3> }\n\
        struct S { head: u32, rest: array<vec2u> }\n\
        @group(0) @binding(1) var<uniform> p: P;\n\
        @group(1) @binding(3) var<storage, read_write> s: S;\n\
        @group(2) @binding(0) var<storage, read_write> t: atomic<i32>;\n\
        var<private> mine: array<u32, 4>;\n\
        var<workgroup> w: array<array<u32, 5>, 4>;\n\
        var<workgroup> flag: u32;\n\
        var<workgroup> turn: atomic<u32>;\n\
        override N: u32 = 5u;\n\
        var<workgroup> sized: array<u32, N>;\n\
        var<workgroup> twice: array<f32, 2 * N>;\n\
        fn third(i: u32) -> u32 { if i % 3u == 1u { return w[i % 4u][1]; } loop { if i > 100u { return 7u; } if i < 50u { break; } } return s.head; }\n\
        fn add(a: ptr<function, array<u32, 4>>, i: u32) { (*a)[i % 4u] += 1u; }";
    let cases = [
        "w[i % 4u][i % 5u] = i; workgroupBarrier(); out[i] = f32(w[(i + 1u) % 4u][2]) + p.scale.z;",
        "out[i] = f32(third(i)) + f32(third(i + 1u));",
        "var a = array<u32, 4>(1u, 2u, 3u, 4u); add(&a, i); add(&a, i / 2u); out[i] = f32(a[i % 4u]);",
        "out[i] = f32(workgroupUniformLoad(&flag)) + f32(p.list[i % 3u][i % 4u]) + p.m[i % 2u].y;",
        "if i > 3u && s.rest[i].y > 2u || p.k == 3 { out[i] = f32(s.rest[i].x); s.rest[i].y = 1u; }",
        "switch i32(i) - 2 { case -2, 1: { out[i] = 1.0; } case 5: { out[i] = 2.0; if i == 7u { break; } out[i] = 4.0; } default: { return; } } s.head = 1u;",
        "var k = 0u; loop { out[i] += 1.0; continuing { k += arrayLength(&s.rest); break if k > i * 4u + p.list[0].x; } }",
        "for (var k = 0u; k < i; k += p.list[1].x) { if k == 3u { continue; } if k > 6u { break; } out[i] += f32(s.rest[k].y); }",
        "atomicAdd(&turn, i); workgroupBarrier(); if atomicLoad(&turn) > 3u { out[i] = f32(atomicLoad(&turn)); } atomicMax(&t, i32(i));",
        "var v = vec4f(p.scale, 1.0); v[i % 4u] = 2.0; out[i] = v[(i + 1u) % 4u]; mine[i % 4u] = i; out[i] += f32(mine[i % 3u]);",
        "let r = s.rest[i]; s.rest[i] = r + vec2u(1u, 2u); s.rest[i][i % 2u] = 9u; out[i] = f32(r.x);",
        "while i < 4u { out[i] += 1.0; if out[i] > 3.0 { break; } }",
        "sized[i % N] = i; twice[2u * (i % N) + 1u] = 1.0; workgroupBarrier(); out[i] = f32(sized[(i + 3u) % N]) + twice[i];",
        "out[i] = f32(i32(3e9 * f32(i) - 5e9) / 1024) + f32(u32(2e9 * f32(i)) / 1024u);",
        // Past the end: of a buffer, of workgroup memory, of an array of the function, of both dimensions.
        "s.rest[i * 2u].x = 1u; w[0][0] = 0u; s.rest[11].y = i;",
        "w[i][3] = i; workgroupBarrier(); if i == 0u { w[1][i + 7u] = 3u; w[i + 9u][i + 8u] = 4u; }",
        "var a = array<u32, 4>(1u, 2u, 3u, 4u); a[i] = 3u; mine[i + 2u] = 1u; out[0] = 1.0;",
    ];
    for statements in cases {
        let statements = format!("{statements}\n_ = p.k; _ = flag; _ = s.head; _ = w[0][0]; _ = mine[0]; _ = out[0];");
        let text = body(8, before, &format!("{statements}\nif i == 99u {{ atomicAdd(&t, 1); atomicAdd(&turn, 1u); }}"));
        let program = program(&text);
        let bind = [("p", "1,2,3,7,1,2,3,4,5,6,1,2,3,4,1,2,3,4,8,9,10,11"), ("s", "iota:9"), ("out", "iota:16")];
        let launch = launch([16, 1, 1], &bind);
        let (run, recording) = both(&mut adapter, &statements, &program, &launch);
        assert!(!recording.events.is_empty());
        if run.outside.is_empty() && run.counts.races.is_empty() {
            same_bytes(&program, &adapter.plain(&program, &launch).unwrap(), &run.after, "plain");
            same_bytes(&program, &run.after, &program.run(&launch).unwrap().after, &statements);
        }
    }
}

#[test]
fn textures_are_read_and_written_alike() {
    let Some(mut adapter) = adapter("textures on both engines") else { return };
    for statements in CASES {
        // All that is declared is used, so that one launch binds it.
        let used = "if i == 99u { _ = textureDimensions(line) + textureDimensions(flat).x + textureDimensions(layers).x \
            + textureDimensions(solid).x + textureDimensions(bytes).x + textureDimensions(signed).x + textureDimensions(kept).x \
            + textureDimensions(halves).x + textureDimensions(space).x; _ = textureSampleLevel(filtered, smooth_one, vec2f(), 0.0) \
            + textureSampleLevel(deep, sharp, vec3f(), 0.0) + textureSampleLevel(stack, turned, vec2f(), 0, 0.0); out[0] = vec4f(); }";
        let program = program(&reading(8, BEFORE, &format!("{statements}\n{used}")));
        let launch = launch([16, 1, 1], &BOUND);
        let (run, recording) = both(&mut adapter, statements, &program, &launch);
        assert!(recording.events.iter().any(|(_, _, event)| matches!(event, Event::Access { .. })));
        same_bytes(&program, &adapter.plain(&program, &launch).unwrap(), &run.after, "plain");
        let expected = program.run(&launch).unwrap();
        for name in ["out", "bytes", "signed", "kept", "halves", "space"] {
            // An adapter weighs texels in steps of 1/256, and may round what it writes to an integer's half either way.
            let most = if ["Sample", "mixed"].iter().any(|word| statements.contains(word)) { 0.05 } else { 1e-3 };
            for (found, expected) in after(&program, &run, name).iter().zip(after(&program, &expected, name)) {
                assert!(
                    (found - expected).abs() <= most * expected.abs().max(1.0),
                    "{name}: {found} for {expected}: {statements}"
                );
            }
        }
    }
}

#[test]
fn parts_of_a_launch_know_where_they_are() {
    let Some(mut adapter) = adapter("launches in parts") else { return };
    let text = "struct In { @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u }
        @group(0) @binding(0) var<storage, read_write> out: array<vec4u>;
        @compute @workgroup_size(2, 3, 2)
        fn main(in: In, @builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u,
                @builtin(local_invocation_index) index: u32) {
            let at = ((in.group.z * in.groups.y + in.group.y) * in.groups.x + in.group.x) * 12u + index;
            for (var k = 0u; k < 40u + at % 50u; k++) { out[at].w += 1u; }
            out[at].x = id.x + id.y * 100u + id.z * 10000u;
            out[at].y = local.x + local.y * 10u + local.z * 100u;
        }";
    let program = program(text);
    let mut launch = Launch::of(Extent::Groups([3, 2, 4]));
    launch.bound = crate::kernels::launch([1, 1, 1], &[("out", "iota:288")]).bound;
    let (run, _) = both(&mut adapter, "in parts", &program, &launch);
    // What had more to say than there was room for ran again, from what the buffers were before.
    same_bytes(&program, &run.after, &program.run(&launch).unwrap().after, "in parts");
    same_bytes(&program, &adapter.plain(&program, &launch).unwrap(), &run.after, "plain");
    launch.take = Some(5..17);
    let (run, recording) = both(&mut adapter, "taken", &program, &launch);
    assert_eq!(recording.events.first().map(|event| event.0), Some(5));
    same_bytes(&program, &run.after, &program.run(&launch).unwrap().after, "taken");
}

#[test]
fn what_an_adapter_does_not_do_is_said() {
    let Some(mut adapter) = adapter("faults on the adapter") else { return };
    let text = body(4, "", "loop { if out[i] == 5.0 { break; } out[i] += 0.0; }");
    let program = program(&text);
    let mut one = launch([64, 1, 1], &[("out", "zeros:8")]);
    one.steps = 100_000;
    let error = adapter.run(&program, &one, ()).unwrap_err();
    let KernelError::Steps { line, group, steps, .. } = &error else { panic!("{error}") };
    assert_eq!((*line, *group, *steps), (5, 0, 100_000), "{error}");
    assert!(error.to_string().contains("has not ended after 100000 steps"), "{error}");
    // The adapter is there as before.
    let (reduction, launched) = bundled("reduce-strided");
    assert_eq!(adapter.run(&reduction, &launched, ()).unwrap().0.counts.divergent_warps, 16);
    // A loop that ends before, and takes more steps than there may be, is as it is in the interpreter.
    let text = body(4, "", "for (var k = 0u; k < 400u; k++) { out[i] += 1.0; }");
    let long = crate::kernels::program(&text);
    let mut less = launch([4, 1, 1], &[("out", "zeros:4")]);
    less.steps = 500;
    let errors = [long.run(&less).unwrap_err(), adapter.run(&long, &less, ()).unwrap_err()];
    assert_eq!(errors[0], errors[1]);
    less.steps = 5_000_000;
    less.events = 1_000;
    let errors = [long.run(&less).unwrap_err(), adapter.run(&long, &less, ()).unwrap_err()];
    assert_eq!(errors[0], errors[1]);
    // Limits are named.
    let many: String =
        (1..200).map(|n| format!("@group(0) @binding({n}) var<storage, read_write> b{n}: array<u32>;\n")).collect();
    let used: String = (1..200).map(|n| format!("b{n}[i] = 1u; ")).collect();
    let many = crate::kernels::program(&body(4, &many, &used));
    // An adapter may have as many as that; then it runs.
    if let Err(error) = adapter.run(&many, &launch([4, 1, 1], &[]), ()) {
        let error = error.to_string();
        assert!(error.contains("max_storage_buffers_per_shader_stage") && error.contains("found 200"), "{error}");
    }
    let cube = "@group(0) @binding(0) var t: texture_cube<f32>; @compute @workgroup_size(1) fn a() { _ = textureDimensions(t); }";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("k.wgsl"), cube).unwrap();
    refused(folder.path(), "kernel k.wgsl --global 1 --engine adapter", 1, &["k.wgsl:1", "cube", "not recorded"]);
}

#[test]
fn the_command_says_the_same_on_either_engine() {
    if adapter("the command on the adapter").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["reduce-strided", "histogram", "sobel", "divergent-barrier"] {
        for more in ["--json", "--take 0..1", "--view memory -o -"] {
            if name == "divergent-barrier" && more.starts_with("--take") {
                continue;
            }
            let call = format!("kernel kernel:{name} {more}");
            let found = crate::calls::printed(at, &format!("{call} --engine adapter"));
            assert_eq!(found, crate::calls::printed(at, &call), "{call}");
        }
    }
    let call = "kernel kernel:reduce-modulo --print g_odata --engine adapter";
    assert!(crate::calls::printed(at, call).contains("g_odata at the end\n  2016 6112 10208 "));
    refused(at, "kernel kernel:reduce-modulo --print sdata --engine adapter", 2, &["--print sdata", "interpreter"]);
    refused(at, "kernel kernel:reduce-modulo --engine gpu", 2, &["--engine", "interpreter, adapter"]);
}
