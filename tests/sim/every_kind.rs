//! A trace of 200 references in which every kind of event occurs: its explanations are kept as they were read, and each claim in them is
//! held against the slow model.

use crate::explained::hold;
use orrery::analysis::{explain, play};
use orrery::reference::{Kind, MemoryTrace, Reference, ReferenceSource, Region, Tables};
use orrery::sim::config::HierarchyConfig;
use orrery::sim::{AccessKind, Cause, Classifier, Event, Hierarchy, Observer};
use orrery::trace::synth::Rng;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const CACHES: &str = include_str!("every_kind.toml");
/// All were read one by one, and each is held against the slow model. `ORRERY_WRITE=1` writes it anew: read it again then.
const SENTENCES: &str = "tests/sim/every_kind.txt";

fn caches() -> HierarchyConfig {
    HierarchyConfig::from_toml(CACHES, "every_kind.toml").expect("sound")
}

/// References of two cores to three small arrays on pages of their own, and to instructions.
fn trace(seed: u64) -> MemoryTrace {
    let mut rng = Rng::new(seed);
    let bases = [0x1_0000, 0x2_1040, 0x3_2080];
    let references = (0..200)
        .map(|_| {
            let core = u16::from(rng.below(3) == 0);
            let base = bases[usize::try_from(rng.below(3)).expect("few")];
            let size = [4, 8, 8, 32][usize::try_from(rng.below(4)).expect("few")];
            let place = match rng.below(12) {
                // Over the end of a line.
                0 => 28 + 32 * rng.below(4),
                _ => u64::from(size) * rng.below(192 / u64::from(size)),
            };
            let (kind, addr) = match rng.below(10) {
                0 => (Kind::Fetch, 0x40_0000 + 4 * rng.below(24)),
                1 => (Kind::Modify, base + place),
                2..5 => (Kind::Write, base + place),
                _ => (Kind::Read, base + place),
            };
            let size = if kind == Kind::Fetch { 4 } else { size };
            Reference { core, pc: 0x40_0000, ..Reference::new(kind, addr, size) }
        })
        .collect();
    let region = |(name, base): (&str, u64)| Region {
        elem_bytes: 8,
        elem_type: "double".into(),
        shape: vec![6, 4].into(),
        ..Region::new(name, base, 192)
    };
    let regions = ["A", "B", "C"].into_iter().zip(bases).map(region).collect();
    MemoryTrace::new(references, Tables { title: "every kind".into(), regions, ..Tables::default() })
}

/// Names the kinds of events that occur.
struct Kinds {
    classifier: Classifier,
    seen: BTreeSet<String>,
}

impl Observer for Kinds {
    fn begin(&mut self, reference: &Reference) {
        self.seen.insert(format!("reference {:?}", reference.kind));
        let last = reference.addr + u64::from(reference.size) - 1;
        if reference.addr / 32 != last / 32 {
            self.seen.insert("straddle".into());
        }
    }

    fn event(&mut self, event: Event) {
        self.classifier.begin();
        self.classifier.event(event);
        let name = match event {
            Event::Access { level, kind, hit, .. } => {
                self.seen.insert(format!("{kind:?}"));
                match self.classifier.last_class(level) {
                    Some(class) if !hit => format!("L{} {}", level.0 + 1, class.word()),
                    _ if hit => format!("L{} hit", level.0 + 1),
                    _ => return,
                }
            }
            Event::Fill { prefetch, dirty, .. } => format!("fill, prefetch {prefetch}, dirty {dirty}"),
            Event::Evict { level, dirty, .. } => format!("L{} evicts, dirty {dirty}", level.0 + 1),
            Event::Invalidate { cause, .. } => format!("{cause:?}"),
            Event::Renew { .. } => "renew".into(),
            Event::Clean { .. } => "clean".into(),
            Event::Sharing { falsely, .. } => format!("sharing, falsely {falsely}"),
            Event::Translate { hit, .. } => format!("translate, hit {hit}"),
            Event::MemoryRead { .. } => "memory read".into(),
            Event::MemoryWrite { .. } => "memory write".into(),
            _ => "another".into(),
        };
        self.seen.insert(name);
    }
}

fn wanted() -> BTreeSet<String> {
    let mut all: BTreeSet<String> = BTreeSet::new();
    for level in ["L1", "L2", "L3"] {
        all.extend(
            ["hit", "compulsory", "capacity", "conflict", "evicts, dirty false", "evicts, dirty true"]
                .map(|word| format!("{level} {word}")),
        );
    }
    all.insert("L1 coherence".into());
    for kind in [Kind::Read, Kind::Write, Kind::Modify, Kind::Fetch] {
        all.insert(format!("reference {kind:?}"));
    }
    use AccessKind::{Fetch, Prefetch, Read, Write, Writeback};
    all.extend([Read, Write, Fetch, Writeback, Prefetch].map(|kind| format!("{kind:?}")));
    all.extend([Cause::Inclusion, Cause::Coherence, Cause::Promotion].map(|cause| format!("{cause:?}")));
    let rest = [
        "straddle",
        "fill, prefetch true, dirty false",
        "fill, prefetch false, dirty true",
        "fill, prefetch false, dirty false",
    ];
    all.extend(rest.map(String::from));
    let rest = [
        "renew",
        "clean",
        "sharing, falsely true",
        "sharing, falsely false",
        "translate, hit true",
        "translate, hit false",
    ];
    all.extend(rest.map(String::from));
    all.extend(["memory read", "memory write"].map(String::from));
    all
}

fn missing(trace: &MemoryTrace, config: &HierarchyConfig) -> Vec<String> {
    let mut kinds =
        Kinds { classifier: Classifier::new(&Hierarchy::new(config).expect("sound")), seen: BTreeSet::new() };
    play(trace, config, &mut kinds).expect("played");
    wanted().difference(&kinds.seen).cloned().collect()
}

#[test]
fn sentences_of_a_trace_in_which_everything_happens() {
    let config = caches();
    // The first in which all of it does; the rest is about that one.
    let least = |seed: &u64| missing(&trace(*seed), &config).len();
    let seed = (0..2_000).find(|seed| least(seed) == 0);
    let seed = seed.unwrap_or_else(|| {
        let best = (0..2_000).min_by_key(least).expect("some");
        panic!("{best}: {:?} are missing", missing(&trace(best), &config))
    });
    let trace = trace(seed);
    let held = hold(&trace, &config, &(0..trace.len()).collect(), "every kind");
    assert!(held.0 > 100 && held.1 > 50 && held.2 > 100, "{held:?}");

    let mut said = String::new();
    for tick in 0..trace.len() {
        let told = explain(&trace, &config, tick).expect("explained");
        writeln!(said, "{tick}, core {}: {}", told.core, told.sentences.join(" ")).expect("written");
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(SENTENCES);
    if std::env::var_os("ORRERY_WRITE").is_some() {
        std::fs::write(&path, &said).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = said.lines().zip(kept.lines().chain(std::iter::repeat(""))).find(|(now, then)| now != then);
    assert_eq!((differs, said.lines().count()), (None, kept.lines().count()), "{SENTENCES}");
}
