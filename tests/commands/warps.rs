//! What kernels ask of storage and uniform memory, as traces for caches and as instructions for a simulated GPU.

use crate::calls::{json, printed, refused};
use crate::kernels::{body, bundled, launch, program};
use orrery::kernel::bundled::BUNDLED;
use orrery::kernel::{Launch, LaunchTrace, Program, Run, Space, WarpRecord, WarpStep};
use orrery::reference::{Kind, Reference};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

fn recorded(program: &Program, launch: &Launch) -> (Run, WarpRecord) {
    let record = WarpRecord::new(program, launch.hardware.warp).expect("warps of 32");
    program.run_watched(launch, record).expect("it runs")
}

/// Sectors that sites of global memory touched, as they were counted.
fn sectors(program: &Program, run: &Run) -> u64 {
    let sites = run.sites.iter().zip(&run.counts.uses);
    let global = sites.filter(|(site, _)| program.shared[site.shared].space != Space::Workgroup);
    global.map(|(_, of)| of.sectors).sum()
}

#[test]
fn each_sector_that_was_counted_is_a_reference_on_one_core_or_many() {
    for kernel in BUNDLED {
        let (program, launch) = bundled(kernel.name);
        let (run, record) = recorded(&program, &launch);
        let groups = u16::try_from(record.groups().len()).expect("few groups");
        for units in [1, 3, 64] {
            let mut trace = LaunchTrace::new(units, launch.hardware.sector);
            let references = trace.references(&program, &run, &record);
            let tables = trace.tables();
            assert_eq!(references.len() as u64, sectors(&program, &run), "{} on {units}", kernel.name);
            let cores: BTreeSet<u16> = references.iter().map(|reference| reference.core).collect();
            assert_eq!(cores.last(), Some(&(groups.min(units) - 1)), "{} on {units}", kernel.name);
            for reference in &references {
                let Reference { addr, size, pc, .. } = *reference;
                let region =
                    tables.regions.iter().find(|region| (region.base..region.base + region.bytes).contains(&addr));
                let region = region.unwrap_or_else(|| panic!("{}: {addr} is in no buffer", kernel.name));
                assert!(addr + u64::from(size) <= region.base + region.bytes, "{}", kernel.name);
                assert_eq!(addr / 32, (addr + u64::from(size) - 1) / 32, "within a sector");
                let line = tables.locations.iter().find(|location| location.pc == pc).expect("its line");
                assert!(!line.text.is_empty() && line.file == kernel.name);
            }
        }
    }
}

#[test]
fn accesses_of_lanes_become_sectors_as_by_hand() {
    // 8 floats are a sector: warps of 32 items ask for 4 with a stride of 1, for 8 with one of 2, for one where all want the same.
    for (index, each, size) in [("i", 4, 32), ("2u * i", 8, 28), ("0u", 1, 4), ("8u * (i % 32u)", 32, 4)] {
        let program = program(&body(64, "", &format!("out[{index}] = 1.0;")));
        let (run, record) = recorded(&program, &launch([64, 1, 1], &[("out", "zeros:1024")]));
        let references = LaunchTrace::new(64, 32).references(&program, &run, &record);
        assert_eq!(references.len(), 2 * each, "{index}");
        assert!(
            references.iter().all(|r| (r.kind, r.size, r.core) == (Kind::Write, size, 0)),
            "{index}: {references:?}"
        );
        // Warps take turns, and lanes are those that ask first.
        assert_eq!(references[0].lane, 0);
        let lanes: BTreeMap<u8, usize> = references.iter().fold(BTreeMap::new(), |mut lanes, r| {
            *lanes.entry(r.lane).or_default() += 1;
            lanes
        });
        assert_eq!((lanes.len(), lanes.values().all(|count| *count == 2)), (each, true), "{index}");
    }
    // An element of 12 bytes in every 16 lies in a sector or in two.
    let text = "@group(0) @binding(0) var<storage, read_write> out: array<vec3f>;\n\
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) { out[i] = vec3f(); }";
    let program = program(text);
    let (run, record) = recorded(&program, &launch([4, 1, 1], &[]));
    let told: Vec<(u64, u32)> =
        LaunchTrace::new(1, 32).references(&program, &run, &record).iter().map(|r| (r.addr % 256, r.size)).collect();
    assert_eq!(told, [(0, 28), (32, 28)]);
}

#[test]
fn warps_wait_for_each_other_at_barriers_and_groups_for_a_core() {
    let text = body(
        64,
        "var<workgroup> w: array<f32, 64>;",
        "w[i] = out[i];\nif i < 32u { w[i] += out[i + 64u]; }\nworkgroupBarrier();\nout[i + 128u] = w[63u - i];",
    );
    let program = program(&text);
    let (run, record) = recorded(&program, &launch([192, 1, 1], &[("out", "iota:192")]));
    let kinds = |references: &[Reference], core| {
        let of_core = references.iter().filter(|r| r.core == core);
        of_core.map(|r| if r.kind == Kind::Read { 'r' } else { 'w' }).collect::<String>()
    };
    // Two warps read 4 sectors each, one of them 4 more, and both write 4 after the barrier.
    let group = "rrrrrrrrrrrrwwwwwwww";
    assert_eq!(kinds(&LaunchTrace::new(1, 32).references(&program, &run, &record), 0), group.repeat(3));
    let on_two = LaunchTrace::new(2, 32).references(&program, &run, &record);
    assert_eq!([kinds(&on_two, 0), kinds(&on_two, 1)], [group.repeat(2), group.to_owned()]);
    let first: Vec<u16> = on_two[..8].iter().map(|r| r.core).collect();
    assert_eq!(first, [0, 0, 0, 0, 1, 1, 1, 1], "cores take turns");
    let barriers = |warp: &Vec<WarpStep>| warp.iter().filter(|step| **step == WarpStep::Barrier).count();
    assert!(record.groups().iter().flatten().all(|warp| barriers(warp) == 1));
}

#[test]
fn a_kernel_becomes_a_trace_that_caches_are_asked_about() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    printed(folder, "kernel kernel:transpose-tiled -o t.orrery --units 2");
    let told = json(folder, "stats t.orrery --json");
    assert_eq!(told["trace"]["references"], 1024);
    assert!(printed(folder, "stats t.orrery").contains("2 cores"));
    printed(folder, "kernel kernel:transpose-tiled -o again.orrery --units 2");
    assert!(fs::read(folder.join("t.orrery")).expect("t") == fs::read(folder.join("again.orrery")).expect("again"));
    // On a simulated GPU vector caches are asked for as many sectors, by as many work-groups and warps.
    let told = json(folder, "gpu kernel:transpose-tiled --gpu rtx3070 --json");
    let vector = told["components"].as_array().expect("rows").iter().find(|row| row["kind"] == "L1VCache");
    assert_eq!((&told["work_groups"], &told["wavefronts"]), (&4.into(), &32.into()));
    assert_eq!(vector.expect("vector caches")["requests"], 1024);
    // Overrides are set, and wavefronts are as wide as those of the GPU.
    let padded = json(folder, "gpu kernel:transpose-tiled --gpu r9nano --set PAD=1 --json");
    assert_eq!(padded["wavefronts"], 16);
}

#[test]
fn what_has_no_references_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let text = "var<workgroup> w: array<u32, 64>;\n\
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) { w[i] = i; }";
    fs::write(folder.join("own.wgsl"), text).expect("written");
    refused(
        folder,
        "kernel own.wgsl --global 64 -o own.orrery",
        1,
        &["own.wgsl", "no access of storage or uniform memory"],
    );
    assert!(!folder.join("own.orrery").exists());
    refused(folder, "kernel kernel:race -o r.orrery --warp 256", 2, &["--warp 256", "1 to 255"]);
    refused(folder, "kernel kernel:race -o r.orrery --units 65", 2, &["--units", "64"]);
    refused(folder, "gpu own.wgsl", 2, &["own.wgsl", "--global"]);
    refused(folder, "gpu kernel:rase", 1, &["kernel:rase", "race"]);
    refused(folder, "gpu kernel:race --set SIZE=3", 2, &["SIZE"]);
}
