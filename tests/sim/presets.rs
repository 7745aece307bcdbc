//! What ships with `--cache`: every preset has the sets its vendor says, a source for every figure, and plays.
#![cfg_attr(not(feature = "formats"), expect(unused_imports, reason = "one test reads a trace file"))]

use orrery::reference::{Kind, Reference};
use orrery::sim::config::{HierarchyConfig, Holds, Inclusion, Prefetch, preset, presets};
use orrery::sim::{Hierarchy, Index, Policy, stats};
use orrery::units::LevelId;
use std::collections::BTreeSet;
use std::path::Path;

/// (level or TLB, sets, ways, bytes of a line or 0 for a TLB's) as vendors or measurements have them; sources are in the
/// files.
type Shapes = &'static [(&'static str, u32, u32, u32)];

const SHAPES: &[(&str, Shapes)] = &[
    ("textbook", &[("L1", 64, 8, 64), ("L2", 512, 8, 64), ("L3", 8192, 16, 64)]),
    ("paper", &[("L1", 2, 8, 32), ("L2", 4, 16, 32)]),
    ("paper-x4", &[("L1", 8, 8, 32), ("L2", 16, 16, 32)]),
    (
        "skylake-sp",
        &[
            ("L1D", 64, 8, 64),
            ("L1I", 64, 8, 64),
            ("L2", 1024, 16, 64),
            ("L3", 16384, 11, 64),
            ("DTLB", 16, 4, 0),
            ("ITLB", 16, 8, 0),
            ("STLB", 128, 12, 0),
        ],
    ),
    (
        "ice-lake",
        &[
            ("L1D", 64, 12, 64),
            ("L1I", 64, 8, 64),
            ("L2", 1024, 8, 64),
            ("L3", 8192, 12, 64),
            ("DTLB", 16, 4, 0),
            ("ITLB", 16, 8, 0),
            ("STLB", 128, 16, 0),
        ],
    ),
    (
        "golden-cove",
        &[
            ("L1D", 64, 12, 64),
            ("L1I", 64, 8, 64),
            ("L2", 2048, 10, 64),
            ("L3", 40960, 12, 64),
            ("DTLB", 16, 6, 0),
            ("ITLB", 32, 8, 0),
            ("STLB", 128, 16, 0),
        ],
    ),
    (
        "zen2",
        &[
            ("L1D", 64, 8, 64),
            ("L1I", 64, 8, 64),
            ("L2", 1024, 8, 64),
            ("L3", 16384, 16, 64),
            ("DTLB", 1, 64, 0),
            ("ITLB", 1, 64, 0),
            ("L2 DTLB", 128, 16, 0),
            ("L2 ITLB", 64, 8, 0),
        ],
    ),
    (
        "zen3",
        &[
            ("L1D", 64, 8, 64),
            ("L1I", 64, 8, 64),
            ("L2", 1024, 8, 64),
            ("L3", 32768, 16, 64),
            ("DTLB", 1, 64, 0),
            ("ITLB", 1, 64, 0),
            ("L2 DTLB", 128, 16, 0),
            ("L2 ITLB", 64, 8, 0),
        ],
    ),
    (
        "zen4",
        &[
            ("L1D", 64, 8, 64),
            ("L1I", 64, 8, 64),
            ("L2", 2048, 8, 64),
            ("L3", 32768, 16, 64),
            ("DTLB", 1, 72, 0),
            ("ITLB", 1, 64, 0),
            ("L2 DTLB", 128, 24, 0),
            ("L2 ITLB", 64, 8, 0),
        ],
    ),
    (
        "apple-m1",
        &[
            ("L1D", 256, 8, 64),
            ("L1I", 512, 6, 64),
            ("L2", 8192, 12, 128),
            ("DTLB", 32, 5, 0),
            ("ITLB", 1, 192, 0),
            ("L2 TLB", 256, 12, 0),
        ],
    ),
    (
        "cortex-a53",
        &[
            ("L1D", 128, 4, 64),
            ("L1I", 256, 2, 64),
            ("L2", 512, 16, 64),
            ("Data micro TLB", 1, 10, 0),
            ("Instruction micro TLB", 1, 10, 0),
            ("Main TLB", 128, 4, 0),
        ],
    ),
    (
        "cortex-a72",
        &[
            ("L1D", 256, 2, 64),
            ("L1I", 256, 3, 64),
            ("L2", 2048, 16, 64),
            ("DTLB", 1, 32, 0),
            ("ITLB", 1, 48, 0),
            ("L2 TLB", 256, 4, 0),
        ],
    ),
    (
        "neoverse-n1",
        &[
            ("L1D", 256, 4, 64),
            ("L1I", 256, 4, 64),
            ("L2", 2048, 8, 64),
            ("SLC", 32768, 16, 64),
            ("DTLB", 1, 48, 0),
            ("ITLB", 1, 48, 0),
            ("L2 TLB", 256, 5, 0),
        ],
    ),
    (
        "sifive-u74",
        &[
            ("L1D", 64, 8, 64),
            ("L1I", 128, 4, 64),
            ("L2", 2048, 16, 64),
            ("DTLB", 1, 40, 0),
            ("ITLB", 1, 40, 0),
            ("L2 TLB", 512, 1, 0),
        ],
    ),
    (
        "raspberry-pi-4",
        &[
            ("L1D", 256, 2, 64),
            ("L1I", 256, 3, 64),
            ("L2", 1024, 16, 64),
            ("DTLB", 1, 32, 0),
            ("ITLB", 1, 48, 0),
            ("L2 TLB", 256, 4, 0),
        ],
    ),
];

fn shipped(name: &str) -> HierarchyConfig {
    let found = presets().iter().find(|p| p.name == name).expect(name);
    HierarchyConfig::from_toml(found.toml, name).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn presets_parse_and_have_the_shapes_that_vendors_say() {
    let named: Vec<&str> = SHAPES.iter().map(|(name, _)| *name).collect();
    let there: Vec<&str> = presets().iter().map(|p| p.name).collect();
    assert_eq!(named, there, "the table has all presets, in their order");
    for (name, expect) in SHAPES {
        let config = shipped(name);
        assert_eq!((config.name.as_str(), preset(name).as_ref()), (*name, Some(&config)));
        let shapes = config.check().unwrap_or_else(|e| panic!("{e}"));
        // A TLB's line is a page of the size in use; those of other page sizes stand idle.
        let levels = config.levels.iter().zip(&shapes.levels);
        let levels = levels.map(|(level, g)| (level.name.as_str(), g.sets, g.ways, g.line_bytes));
        let tlbs = config.tlbs.iter().zip(&shapes.tlbs).filter_map(|(tlb, g)| Some((tlb, g.as_ref()?)));
        let tlbs = tlbs.map(|(tlb, g)| {
            assert_eq!(g.line_bytes, config.memory.page, "{name}: {}", tlb.name);
            (tlb.name.as_str(), g.sets, g.ways, 0)
        });
        assert_eq!(levels.chain(tlbs).collect::<Vec<_>>(), *expect, "{name}");
        assert_eq!(config.cores, 1, "{name} is one core's view");
    }
}

#[test]
fn presets_round_trip() {
    for shipped in presets() {
        let config = preset(shipped.name).expect(shipped.name);
        let again = HierarchyConfig::from_toml(&config.to_toml(), "again").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again, config);
    }
}

#[test]
fn real_cpus_split_l1_and_keep_their_relations() {
    for shipped in presets().iter().filter(|p| !["textbook", "paper", "paper-x4"].contains(&p.name)) {
        let config = preset(shipped.name).expect(shipped.name);
        let name = shipped.name;
        let sides: Vec<Holds> = config.levels.iter().map(|l| l.holds).collect();
        assert_eq!(sides[..2], [Holds::Data, Holds::Instructions], "{name}");
        assert!(sides[2..].iter().all(|&s| s == Holds::Unified), "{name}");
        assert!(!config.levels[0].shared && !config.levels[1].shared, "{name}");
        assert!(config.levels.last().is_some_and(|l| l.shared), "{name}: its last level serves more cores");
        // Farther is slower.
        let latencies: Vec<u32> = config.levels[1..].iter().map(|l| l.latency).chain([config.memory.latency]).collect();
        assert!(latencies.is_sorted_by(|a, b| a < b), "{name}: {latencies:?}");
        assert!(config.tlbs.iter().any(|t| t.holds == Holds::Data), "{name}");
        assert!(config.tlbs.iter().any(|t| t.holds == Holds::Instructions), "{name}");
    }
    for name in ["skylake-sp", "zen2", "zen3", "zen4", "neoverse-n1"] {
        let config = shipped(name);
        let last = config.levels.last().expect("levels");
        assert_eq!((last.inclusion, last.prefetch), (Inclusion::Exclusive, Prefetch::None), "{name}: a victim cache");
    }
    assert_eq!(shipped("skylake-sp").levels[0].policy, Policy::TreePlru);
    assert_eq!(shipped("cortex-a53").levels[0].policy, Policy::Random);
    for name in ["skylake-sp", "ice-lake"] {
        let last = &shipped(name).levels[3];
        assert_eq!((last.index, last.slices), (Index::Slice, Some(8)), "{name}");
    }
}

#[cfg(feature = "formats")]
#[test]
fn presets_play_a_bundled_trace() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/mpm.orrery");
    let source = orrery::trace::open(&path, None).unwrap_or_else(|e| panic!("{e}"));
    let chunks = (0..source.len().div_ceil(source.chunk_len())).map(|i| source.chunk(i).expect("readable"));
    let references: Vec<Reference> = chunks.flat_map(|chunk| chunk.to_vec()).collect();
    assert!(references.iter().all(|r| r.pc != 0 && r.kind != Kind::Fetch));
    for shipped in presets() {
        let (name, config) = (shipped.name, preset(shipped.name).expect(shipped.name));
        let told = stats::collect(&*source, &config, true).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(told.trace.references, source.len(), "{name}");
        // The recording has no fetches: each instruction's own is put before what it does.
        let mut hierarchy = Hierarchy::new(&config).unwrap_or_else(|e| panic!("{name}: {e}"));
        for reference in &references {
            hierarchy.access(&Reference { pc: reference.pc, ..Reference::new(Kind::Fetch, reference.pc, 4) }, &mut ());
            hierarchy.access(reference, &mut ());
        }
        // Twice over more than any L2 of those with a victim cache holds, so that this fills, and gives away.
        for line in (0..0x2_0000u64).map(|n| 0x10_0000_0000 + n % 0x1_0000 * 64) {
            hierarchy.access(&Reference::new(if line % 192 == 0 { Kind::Write } else { Kind::Read }, line, 8), &mut ());
        }
        for (n, level) in (0u8..).zip(&config.levels) {
            let (counters, resident) = (hierarchy.level_counters(LevelId(n)), hierarchy.resident(LevelId(n)));
            let at = format!("{name}: {}: {counters:?}", level.name);
            assert_eq!(counters.fills, counters.evictions + counters.invalidations + resident, "{at}");
            assert!(counters.fills > 0, "{at}");
            // The walk drives code out of an inclusive L2 and with it out of L1I.
            assert!(resident > 0 || level.holds == Holds::Instructions, "{at}");
            assert_eq!(level.holds.serves(false), counters.read_accesses > 0, "{at}");
            let exclusive = level.inclusion == Inclusion::Exclusive;
            assert!(!exclusive || counters.invalidations > 0, "{at}: nothing moved inward");
            assert_eq!(level.holds.serves(true), counters.fetch_accesses > 0, "{at}");
        }
        assert!(hierarchy.memory_counters().reads > 0, "{name}");
    }
}

/// The numbers in brackets: `[1][3]` gives 1 and 3.
fn cited(text: &str) -> BTreeSet<u32> {
    let parts = text.split('[').skip(1).filter_map(|part| part.split_once(']'));
    parts.filter_map(|(number, _)| number.parse().ok()).collect()
}

/// What is wrong with the comments of a preset: sources without a figure, figures without a source.
fn faults_of_sources(toml: &str) -> Vec<String> {
    let (mut faults, mut defined, mut used) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let mut block: Vec<&str> = Vec::new();
    for (line, number) in toml.lines().zip(1..) {
        if let Some(comment) = line.strip_prefix('#') {
            block.push(comment);
            let source = comment.strip_prefix(" [").and_then(|rest| rest.split_once("] "));
            let source =
                source.and_then(|(n, _)| n.parse::<u32>().ok()).filter(|_| defined.len() < 9 && used.is_empty());
            defined.extend(source);
        } else if line.starts_with('[') {
            let text = block.join("\n");
            let cites = cited(&text);
            if cites.is_empty() {
                faults.push(format!("line {number}: {line} names no source"));
            }
            faults.extend(cites.difference(&defined).map(|n| format!("line {number}: there is no source [{n}]")));
            used.extend(cites);
            block.clear();
        } else if !line.trim().is_empty() {
            block.clear();
        }
    }
    faults.extend(defined.difference(&used).map(|n| format!("source [{n}] gives no figure")));
    faults
}

#[test]
fn every_figure_has_a_source_and_every_source_a_figure() {
    for shipped in presets() {
        assert_eq!(faults_of_sources(shipped.toml), [""; 0], "{}", shipped.name);
        assert!(shipped.toml.contains("# Sources:\n"), "{}", shipped.name);
        let tables = shipped.toml.lines().filter(|line| line.starts_with('[')).count();
        let config = preset(shipped.name).expect(shipped.name);
        assert_eq!(tables, config.levels.len() + config.tlbs.len() + 1, "{}: [memory] is told", shipped.name);
    }
    // The rule finds what it is for.
    let sound = "# A.\n#\n# Sources:\n# [1] One.\n# [2] Two.\nname = \"a\"\n\n# 8 ways [1][2].\n[[level]]\nways = 8\n";
    assert_eq!(faults_of_sources(sound), [""; 0]);
    assert_eq!(
        faults_of_sources(&sound.replace("[1][2].", "")),
        ["line 9: [[level]] names no source", "source [1] gives no figure", "source [2] gives no figure"]
    );
    assert_eq!(
        faults_of_sources(&sound.replace("[1][2].", "[1][3].")),
        ["line 9: there is no source [3]", "source [2] gives no figure"]
    );
}
