//! Faults that the model found in the simulator, each in its smallest case; the model plays them too.

use super::compare::{Case, check};
use crate::support::words::{reference, told};
use orrery::reference::Reference;
use orrery::sim::config::HierarchyConfig;
use orrery::sim::{Hierarchy, MissClass};

/// A configuration in lines of a file, `;` for a new line, `L1: ` for a level of that name; references with `1:` before one of
/// core 1 and `@7` after one of pc 7; and the events of each, `|` between references.
fn plays(config: &str, references: &str, expect: &str) -> Hierarchy {
    let mut text = String::new();
    for part in config.split(';').map(str::trim) {
        match part.split_once(": ") {
            Some((name, keys)) => text += &format!("[[level]]\nname = \"{name}\"\n{}\n", keys.replace(", ", "\n")),
            None => text += &format!("{part}\n"),
        }
    }
    let config = HierarchyConfig::from_toml(&text, "found").unwrap_or_else(|e| panic!("{text}\n{e}"));
    let parse = |text: &str| {
        let (core, text) = text.trim().split_once(':').unwrap_or(("0", text.trim()));
        let (text, pc) = text.split_once('@').unwrap_or((text, "0"));
        Reference { core: core.parse().unwrap(), pc: pc.parse().unwrap(), ..reference(text) }
    };
    let case = Case { config, trace: references.split(';').map(parse).collect(), flush: false };
    let (real, ..) = check(&case);
    let mut again = Hierarchy::new(&case.config).unwrap();
    let mut all = Vec::new();
    for reference in &case.trace {
        let mut events = Vec::new();
        again.access(reference, &mut events);
        all.push(events.iter().map(told).collect::<Vec<_>>().join(" "));
    }
    assert_eq!(all.join(" | "), expect, "{text}{references}");
    real
}

/// The innermost cache of data is shared, or there is none: only instructions are private.
#[test]
fn a_store_takes_private_instructions_though_data_is_shared() {
    plays(
        "cores = 2; L1I: size = 64, line = 32, ways = 2, holds = \"instructions\"; \
         L1D: size = 64, line = 32, ways = 2, holds = \"data\", shared = true",
        "f 0 4; 1:w 8 4",
        "1f0- 1<0 M<0+32 | 1X0 3w0- 3<0! M<0+32",
    );
    plays(
        "cores = 2; L1I: size = 64, line = 32, ways = 2, holds = \"instructions\"",
        "f 0 4; 1:w 1e 4; f 4 4",
        "1f0- 1<0 M<0+32 | 1X0 M>1e+4 | s0<1 1f0- 1<0 M<0+32",
    );
}

/// A miss is one of coherence until the line has been held again, not only the first time.
#[test]
fn a_line_that_is_not_brought_back_stays_lost() {
    let references = "r 0 4; 1:w 0 4; w 0 4; w 0 4";
    let config = "cores = 2; L1: size = 64, line = 32, ways = 2, allocate = \"none\"";
    plays(config, references, "1r0- 1<0 M<0+32 | 1X0 2w0- M>0+4 | S0<1 1w0- M>0+4 | 1w0- M>0+4");
    let config = HierarchyConfig::from_toml(
        "cores = 2\n[[level]]\nsize = 64\nline = 32\nways = 2\nallocate = \"none\"",
        "found",
    );
    let mut hierarchy = Hierarchy::new(&config.unwrap()).unwrap();
    let mut classes = orrery::sim::Classifier::new(&hierarchy);
    for text in references.split(';') {
        let (core, text) = text.trim().split_once(':').unwrap_or(("0", text.trim()));
        classes.begin();
        hierarchy.access(&Reference { core: core.parse().unwrap(), ..reference(text) }, &mut classes);
    }
    assert_eq!(classes.last_class(orrery::units::LevelId(0)), Some(MissClass::Coherence));
    assert_eq!(classes.counts(orrery::units::LevelId(0)).coherence, 2);
}

/// A level for data only never sees what a fetch set off.
#[test]
fn a_prefetch_stays_on_the_side_of_its_cause() {
    plays(
        "L1: size = 64, line = 32, ways = 2, prefetch = \"next-line\"; L2: size = 64, line = 32, ways = 2, holds = \"data\"",
        "f 0 4; r 40 4",
        "1f0- 1<0 M<0+32 1<1? M<20+32 | 1r2- 1>0 1<2 2r2- 2<2 M<40+32 1>1 1<3? 2p3- 2<3 M<60+32",
    );
}

/// Nothing inside holds instructions, so a fetch has nobody to take the line: it stays, and with it what was written.
#[test]
fn an_exclusive_level_keeps_what_nobody_inside_can_take() {
    plays(
        "L1D: size = 32, line = 32, ways = 1, holds = \"data\"; L2: size = 64, line = 32, ways = 2, inclusion = \"exclusive\"",
        "w 0 4; r 20 4; f 0 4; r 0 4; r 20 4",
        "1w0- 1<0! 2r0- M<0+32 | 1r1- 1>0! 1<1 2r1- M<20+32 2b0- 2<0! | 2f0+ | \
         1r0- 1>1 1<0 2r0+ 2^0! 2<1 | 1r1- 1>0! 1<1 2r1+ 2^1 2b0- 2<0!",
    );
}

/// Of an inner line with one dirty sector, only that is dirty in the line it is merged into.
#[test]
fn dirt_is_merged_by_sectors() {
    // Back-invalidation: L2 evicts line 0, whose second sector is dirty inside.
    plays(
        "L1: size = 64, line = 32, ways = 2, sector = 8; L2: size = 64, line = 32, ways = 2, sector = 8, inclusion = \"inclusive\"",
        "r 0 32; w 8 4; r 20 8; r 0 4; r 40 8; r 60 8",
        "1r0- 1<0 2r0- 2<0 M<0+32 | 1w0+ | 1r1- 1<1 2r1- 2<1 M<20+8 | 1r0+ | \
         1r2- 1>1 1<2 2r2- 1x0! 2>0! 2<2 M<40+8 M>8+8 | 1r3- 1<3 2r3- 2>1 2<3 M<60+8",
    );
    // An intervention: the dirt of core 0's L1 goes to its L2, and from there outward.
    plays(
        "cores = 2; L1: size = 64, line = 32, ways = 2, sector = 8; L2: size = 64, line = 32, ways = 2, sector = 8",
        "r 0 32; w 8 4; 1:r 10 4",
        "1r0- 1<0 3r0- 3<0 M<0+32 | 1w0+ | 2r0- 2<0 4r0- 4<0 1~0 3~0 M>8+8 M<10+8",
    );
}

/// What a level for instructions passes on stays among instructions.
#[test]
fn write_backs_of_instructions_go_where_instructions_are() {
    // A dirty line moves to L1I. It leaves for L2I, which is write-through and sends it on, past the level for data only.
    plays(
        "L1I: size = 32, line = 32, ways = 1, holds = \"instructions\"; \
         L2I: size = 64, line = 32, ways = 2, holds = \"instructions\", inclusion = \"exclusive\", write = \"through\"; \
         L1D: size = 32, line = 32, ways = 1, holds = \"data\"; \
         L3: size = 64, line = 32, ways = 2, inclusion = \"exclusive\"",
        "w 0 4; r 20 4; f 0 4; f 40 4",
        "3w0- 3<0! 4r0- M<0+32 | 3r1- 3>0! 3<1 4r1- M<20+32 4b0- 4<0! | 1f0- 1<0 2f0- 4f0+ 4^0! | \
         1f2- 1>0! 1<2 2f2- 4f2- M<40+32 2b0- 2<0 4b0- 4<0!",
    );
}

/// The write of a modify comes to what the read has left: here the read's victim pushes the line out of L2, and so out of L1.
#[test]
fn a_modify_at_once_finds_its_line_gone_again() {
    let config = "L1: size = 32, line = 32, ways = 1; L2: size = 32, line = 32, ways = 1, inclusion = \"inclusive\"";
    let played = plays(
        config,
        "w 0 4; m 20 4",
        "1w0- 1<0! 2r0- 2<0 M<0+32 | 1r1- 1>0! 1<1 2r1- 2>0 2<1 M<20+32 2b0- 1x1 2>1 2<0! \
         1w1- 1<1! 2r1- 2>0! 2<1 M<20+32 M>0+32",
    );
    // `check` has played it by the fast loops too.
    assert_eq!(played.counters(orrery::units::CacheId(0)).write_misses, 2);
}
