//! `--cache host` reads trees as Linux writes them, and says what is wrong with others.
#![cfg(feature = "cli")]

use orrery::commands::hierarchy::of_host;
use orrery::host::{Host, HostError};
use orrery::sim::config::{HierarchyConfig, Ways, preset};
use std::fs;
use std::path::Path;

/// Writes a tree as Linux has it: `name = text` for each file of an `index*` folder.
fn tree(caches: &[&[(&str, &str)]]) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    let cache = root.path().join("cpu0/cache");
    fs::create_dir_all(&cache).expect("made");
    // As on real machines, something that is no cache stands beside them.
    fs::write(cache.join("uevent"), "").expect("written");
    for (n, files) in caches.iter().enumerate() {
        let folder = cache.join(format!("index{n}"));
        fs::create_dir(&folder).expect("made");
        for (name, text) in *files {
            fs::write(folder.join(name), format!("{text}\n")).expect("written");
        }
    }
    root
}

fn topology(root: &Path, name: &str, list: &str) {
    let folder = root.join("cpu0/topology");
    fs::create_dir_all(&folder).expect("made");
    fs::write(folder.join(name), format!("{list}\n")).expect("written");
}

/// All eight files of one cache.
fn described<'a>(
    level: &'a str,
    kind: &'a str,
    size: &'a str,
    shape: [&'a str; 3],
    cpus: &'a str,
) -> [(&'a str, &'a str); 8] {
    let [line, ways, sets] = shape;
    [
        ("level", level),
        ("type", kind),
        ("size", size),
        ("coherency_line_size", line),
        ("ways_of_associativity", ways),
        ("number_of_sets", sets),
        ("physical_line_partition", "1"),
        ("shared_cpu_list", cpus),
    ]
}

/// `L1D 32768 64x8x64 Data` of each level, `!` where it is shared.
fn told(host: &Host) -> Vec<String> {
    let shapes = host.config.check().expect("sound").levels;
    let level = |(l, g): (&orrery::sim::config::LevelConfig, &orrery::sim::Geometry)| {
        let shared = if l.shared { "!" } else { "" };
        format!("{} {} {}x{}x{} {:?}{shared}", l.name, l.size, g.sets, g.ways, g.line_bytes, l.holds)
    };
    host.config.levels.iter().zip(&shapes).map(level).collect()
}

/// A virtual machine on AMD EPYC (Zen 4) of two CPUs, as found.
fn epyc() -> [[(&'static str, &'static str); 8]; 4] {
    [
        described("1", "Data", "32K", ["64", "8", "64"], "0"),
        described("1", "Instruction", "32K", ["64", "8", "64"], "0"),
        described("2", "Unified", "1024K", ["64", "8", "2048"], "0"),
        described("3", "Unified", "32768K", ["64", "16", "32768"], "0-1"),
    ]
}

fn changed(
    mut caches: [[(&'static str, &'static str); 8]; 4],
    index: usize,
    file: &str,
    text: &'static str,
) -> [[(&'static str, &'static str); 8]; 4] {
    let entry = caches[index].iter_mut().find(|(name, _)| *name == file).expect("such a file");
    entry.1 = text;
    caches
}

fn without(index: usize, files: &[&str]) -> tempfile::TempDir {
    let root = tree(&epyc().each_ref().map(|c| c.as_slice()));
    for file in files {
        fs::remove_file(root.path().join(format!("cpu0/cache/index{index}/{file}"))).expect("was there");
    }
    root
}

#[test]
fn a_virtual_machine_on_epyc() {
    let root = tree(&epyc().each_ref().map(|c| c.as_slice()));
    topology(root.path(), "core_cpus_list", "0");
    let host = Host::read_from(root.path()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        told(&host),
        [
            "L1D 32768 64x8x64 Data",
            "L1I 32768 64x8x64 Instructions",
            "L2 1048576 2048x8x64 Unified",
            "L3 33554432 32768x16x64 Unified!",
        ]
    );
    let latencies: Vec<u32> = host.config.levels.iter().map(|l| l.latency).collect();
    assert_eq!(latencies, [4, 4, 12, 40], "usual ones, by depth");
    assert_eq!((host.config.name.as_str(), host.config.cores, host.config.tlbs.len()), ("host", 1, 0));
    let toml = host.to_toml();
    assert_eq!(HierarchyConfig::from_toml(&toml, "host").as_ref(), Ok(&host.config), "{toml}");
    assert!(toml.starts_with("# This machine's caches"), "{toml}");
    for n in 0..4 {
        let source = format!("index{n}.\n[[level]]\n");
        assert!(toml.contains(&source), "no {source:?}: {toml}");
    }
}

#[test]
fn threads_of_one_core_are_no_other_cores() {
    // A desktop with two threads a core; shares of L1 and L2 by both threads are private, the list of the older kernels too.
    let threads = |list: &'static str| {
        let mut caches = epyc();
        for cache in &mut caches[..3] {
            cache[7].1 = list;
        }
        changed(caches, 3, "shared_cpu_list", "0-15")
    };
    for name in ["core_cpus_list", "thread_siblings_list"] {
        let root = tree(&threads("0,8").each_ref().map(|c| c.as_slice()));
        topology(root.path(), name, "0,8");
        let host = Host::read_from(root.path()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(host.config.levels.iter().map(|l| l.shared).collect::<Vec<_>>(), [false, false, false, true]);
    }
    // Without a topology cpu0 is alone in its core.
    let root = tree(&threads("0,8").each_ref().map(|c| c.as_slice()));
    let host = Host::read_from(root.path()).unwrap_or_else(|e| panic!("{e}"));
    assert!(host.config.levels.iter().all(|l| l.shared));
}

#[test]
fn a_raspberry_pi_4_says_what_its_device_tree_does() {
    let caches = [
        described("1", "Data", "32K", ["64", "2", "256"], "0"),
        described("1", "Instruction", "48K", ["64", "3", "256"], "0"),
        described("2", "Unified", "1024K", ["64", "16", "1024"], "0-3"),
    ];
    let root = tree(&caches.each_ref().map(|c| c.as_slice()));
    topology(root.path(), "core_cpus_list", "0");
    let host = Host::read_from(root.path()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        told(&host),
        ["L1D 32768 256x2x64 Data", "L1I 49152 256x3x64 Instructions", "L2 1048576 1024x16x64 Unified!",]
    );
    let shipped = preset("raspberry-pi-4").expect("a preset");
    let shape =
        |c: &HierarchyConfig| c.levels.iter().map(|l| (l.name.clone(), l.size, l.ways, l.line)).collect::<Vec<_>>();
    assert_eq!(shape(&host.config), shape(&shipped), "the preset says the same");
    // Its first kernels described no cache: the files are not there.
    let bare: [&[(&str, &str)]; 2] = [&[("level", "1"), ("type", "Data")], &[("level", "1"), ("type", "Instruction")]];
    let root = tree(&bare);
    let error = Host::read_from(root.path()).expect_err("nothing is known");
    let place = root.path().join("cpu0/cache/index0/size");
    assert_eq!(
        of_host(&error).to_string(),
        format!(
            "--cache host: {} is missing and cannot be computed from the other files there; take a preset: --cache textbook",
            place.display()
        )
    );
}

#[test]
fn what_is_missing_is_computed_where_it_can_be() {
    for (files, note) in [
        (&["size"][..], ", its size computed."),
        (&["coherency_line_size"], ", its line computed."),
        (&["ways_of_associativity"], ", its ways computed."),
        (&["number_of_sets"], ", its sets computed."),
        (&["shared_cpu_list"], ". It does not say who shares it."),
        (&["physical_line_partition"], "index2."),
    ] {
        let root = without(2, files);
        let host = Host::read_from(root.path()).unwrap_or_else(|e| panic!("without {files:?}: {e}"));
        assert_eq!(told(&host)[2], "L2 1048576 2048x8x64 Unified", "without {files:?}");
        assert!(host.notes[2].ends_with(note), "without {files:?}: {}", host.notes[2]);
    }
    // An order that readdir does not keep, and a number of two digits.
    let root = tree(&epyc().each_ref().map(|c| c.as_slice()));
    let cache = root.path().join("cpu0/cache");
    fs::rename(cache.join("index0"), cache.join("index10")).expect("renamed");
    let host = Host::read_from(root.path()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(told(&host)[0], "L1D 32768 64x8x64 Data");
}

#[test]
fn odd_figures_that_are_sound() {
    // Fully associative: ways 0. Twelve ways, and 11 of 1.375 MiB a core: sets are no power of two times anything.
    let caches = [
        described("1", "Unified", "4K", ["64", "0", "1"], "0"),
        described("2", "Unified", "48K", ["64", "12", "64"], "0"),
        described("3", "Unified", "39424K", ["64", "11", "57344"], "0-27"),
    ];
    let root = tree(&caches.each_ref().map(|c| c.as_slice()));
    let host = Host::read_from(root.path()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        told(&host),
        ["L1 4096 1x64x64 Unified", "L2 49152 64x12x64 Unified", "L3 40370176 57344x11x64 Unified!",]
    );
    assert_eq!(host.config.levels[0].ways, Ways::Full);
    // Two partitions a line: twice the sets of single lines.
    let caches = [changed(epyc(), 0, "physical_line_partition", "2")];
    let caches = caches.map(|c| changed(c, 0, "size", "64K"));
    let root = tree(&caches[0].each_ref().map(|c| c.as_slice()));
    let host = Host::read_from(root.path()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(told(&host)[0], "L1D 65536 128x8x64 Data");
    // A virtual machine whose L2 is shared and whose L3 is not: an outer level serves at least as many.
    let caches = changed(changed(epyc(), 2, "shared_cpu_list", "0-1"), 3, "shared_cpu_list", "0");
    let root = tree(&caches.each_ref().map(|c| c.as_slice()));
    let host = Host::read_from(root.path()).unwrap_or_else(|e| panic!("{e}"));
    assert!(
        host.config.levels[3].shared && host.notes[3].ends_with("Shared, as the level inside it."),
        "{:?}",
        host.notes
    );
}

/// The variant, and a message that names the place, the finding and the remedy.
macro_rules! refused {
    ($root:expr, $variant:pat, $place:expr, $finding:expr) => {{
        let root: tempfile::TempDir = $root;
        let error = Host::read_from(root.path()).expect_err($place);
        assert!(matches!(error, $variant), "{error:?}, wanted {}", stringify!($variant));
        let message = of_host(&error).to_string();
        let place = root.path().join($place).display().to_string();
        assert!(message.starts_with("--cache host: ") && message.contains(&place), "no {place}: {message}");
        assert!(message.contains($finding), "no {:?}: {message}", $finding);
        assert!(message.contains("--cache textbook") || message.contains("--cache mine.toml"), "no remedy: {message}");
    }};
}

#[test]
fn every_fault_names_the_path_the_finding_and_the_remedy() {
    use HostError as E;
    let with = |index, file, text| tree(&changed(epyc(), index, file, text).each_ref().map(|c| c.as_slice()));
    let empty = tempfile::tempdir().expect("a folder");
    refused!(empty, E::NoFolder { .. }, "cpu0/cache", "there is no ");
    refused!(tree(&[]), E::NoCache { .. }, "cpu0/cache", "no cache is described");
    refused!(without(1, &["type"]), E::Missing { .. }, "cpu0/cache/index1/type", "is missing");
    refused!(without(1, &["level"]), E::Missing { .. }, "cpu0/cache/index1/level", "is missing");
    let two = without(2, &["size", "number_of_sets"]);
    refused!(two, E::Missing { .. }, "cpu0/cache/index2/size", "cannot be computed from the other files");
    let two = without(2, &["coherency_line_size", "number_of_sets"]);
    refused!(two, E::Missing { .. }, "cpu0/cache/index2/coherency_line_size", "cannot be computed");
    let two = without(2, &["ways_of_associativity", "number_of_sets"]);
    refused!(two, E::Missing { .. }, "cpu0/cache/index2/ways_of_associativity", "cannot be computed");
    refused!(with(0, "level", "0"), E::Strange { .. }, "cpu0/cache/index0/level", "says \"0\"; expected a level");
    refused!(with(0, "type", "Trace"), E::Strange { .. }, "cpu0/cache/index0/type", "says \"Trace\"; expected Data");
    refused!(with(0, "size", "32KB"), E::Strange { .. }, "cpu0/cache/index0/size", "says \"32KB\"; expected a size");
    refused!(
        with(2, "number_of_sets", "many"),
        E::Strange { .. },
        "cpu0/cache/index2/number_of_sets",
        "says \"many\"; expected a whole number"
    );
    refused!(
        with(2, "coherency_line_size", "-64"),
        E::Strange { .. },
        "cpu0/cache/index2/coherency_line_size",
        "says \"-64\""
    );
    refused!(
        with(3, "shared_cpu_list", "0-"),
        E::Strange { .. },
        "cpu0/cache/index3/shared_cpu_list",
        "says \"0-\"; expected numbers of CPUs"
    );
    let root = with(0, "size", "32K");
    topology(root.path(), "core_cpus_list", "all");
    refused!(root, E::Strange { .. }, "cpu0/topology/core_cpus_list", "says \"all\"");
    refused!(with(1, "type", "Data"), E::Twice { .. }, "cpu0/cache/index1", "describes L1D, as ");
    // As virtual machines do: a size that is not that of the sets.
    refused!(
        with(3, "size", "16384K"),
        E::Contradiction { .. },
        "cpu0/cache/index3",
        "a size of 16777216 bytes, but 32768 sets of 16 ways of 64-byte lines are 33554432"
    );
    refused!(with(3, "number_of_sets", "4294967295"), E::Contradiction { .. }, "cpu0/cache/index3", "4294967295 sets");
    refused!(with(0, "number_of_sets", "0"), E::Contradiction { .. }, "cpu0/cache/index0", "but 0 sets");
    let root = without(2, &["number_of_sets"]);
    fs::write(root.path().join("cpu0/cache/index2/size"), "1000K\n").expect("written");
    fs::write(root.path().join("cpu0/cache/index2/ways_of_associativity"), "7\n").expect("written");
    refused!(
        root,
        E::Indivisible { .. },
        "cpu0/cache/index2",
        "a size of 1024000 bytes, which is no multiple of 7 ways x 64 bytes"
    );
    let root = without(2, &["ways_of_associativity"]);
    fs::write(root.path().join("cpu0/cache/index2/size"), "1000K\n").expect("written");
    refused!(root, E::Indivisible { .. }, "cpu0/cache/index2", "no multiple of 2048 sets x 64 bytes");
    let caches = changed(changed(epyc(), 0, "coherency_line_size", "48"), 0, "size", "24K");
    let root = tree(&caches.each_ref().map(|c| c.as_slice()));
    refused!(root, E::Refused { .. }, "cpu0/cache/index0", "line is 48, not a power of two");
    let root = with(0, "size", "32K");
    let file = root.path().join("cpu0/cache/index0/size");
    fs::remove_file(&file).expect("was there");
    fs::create_dir(&file).expect("made");
    refused!(root, E::Unreadable { .. }, "cpu0/cache/index0/size", "cannot be read: Is a directory");
}
