//! Relations, ways to write, sectors, sides, cores, TLBs, prefetchers: small hierarchies, every event in order. The words are
//! those of `support::words::told`; caches are numbered from the CPU outward, from 1.

use crate::support::words::{reference, told};
use orrery::reference::{Kind, Reference};
use orrery::sim::config::HierarchyConfig;
use orrery::sim::{Event, Hierarchy};
use orrery::units::{CacheId, LevelId, SetIndex};

/// A level a word: `L1=lines/ways/line`, then more keys after commas: `L2=8/2/32,inclusion=inclusive`. Words that start with
/// `top:` are keys of the file, `order:` of `[hierarchy]`, `tlb:` a TLB as `entries/ways`.
fn config(text: &str) -> HierarchyConfig {
    let (mut top, mut order, mut rest) = (String::new(), String::new(), String::new());
    let key = |text: &str| {
        let (key, value) = text.split_once('=').expect("=");
        let bare = value.parse::<u64>().is_ok() || ["true", "false"].contains(&value);
        if bare { format!("{key} = {value}\n") } else { format!("{key} = \"{value}\"\n") }
    };
    for word in text.split_whitespace() {
        if let Some(word) = word.strip_prefix("top:") {
            top += &key(word);
        } else if let Some(word) = word.strip_prefix("order:") {
            order += &key(word);
        } else if let Some(word) = word.strip_prefix("tlb:") {
            let (entries, ways) = word.split_once('/').expect("/");
            rest += &format!("[[tlb]]\nentries = {entries}\nways = {ways}\n");
        } else {
            let mut parts = word.split(',');
            let (name, shape) = parts.next().expect("a word").split_once('=').expect("=");
            let shape: Vec<u64> = shape.split('/').map(|n| n.parse().expect("a number")).collect();
            let (size, ways, line) = (shape[0] * shape[2], shape[1], shape[2]);
            rest += &format!("[[level]]\nname = \"{name}\"\nsize = {size}\nways = {ways}\nline = {line}\n");
            rest.extend(parts.map(key));
        }
    }
    let text = format!("{top}[hierarchy]\n{order}{rest}");
    HierarchyConfig::from_toml(&text, "test").unwrap_or_else(|e| panic!("{text}\n{e}"))
}

/// Plays references (`;` between them, `1:` before one for core 1, `@7` after one for pc 7) and compares the events of each
/// (`|` between references).
fn check(caches: &str, references: &str, expect: &str) -> Hierarchy {
    let mut hierarchy = Hierarchy::new(&config(caches)).expect("sound");
    let mut all = Vec::new();
    for text in references.split(';') {
        let text = text.trim();
        let (core, text) = text.split_once(':').unwrap_or(("0", text));
        let (text, pc) = text.split_once('@').unwrap_or((text, "0"));
        let r =
            Reference { core: core.parse().expect("a number"), pc: pc.parse().expect("a number"), ..reference(text) };
        let mut events: Vec<Event> = Vec::new();
        hierarchy.access(&r, &mut events);
        all.push(events.iter().map(told).collect::<Vec<_>>().join(" "));
    }
    assert_eq!(all.join(" | "), expect, "{caches}: {references}");
    hierarchy
}

/// Lines of a cache's set 0 in eviction order.
fn order(hierarchy: &Hierarchy, cache: u16) -> Vec<(u64, bool)> {
    hierarchy.order(CacheId(cache), SetIndex(0)).map(|r| (r.line.0, r.dirty)).collect()
}

#[test]
fn an_inclusive_level_takes_its_victim_out_of_the_levels_inside() {
    // L1 holds 2 lines, L2 has 2 sets of 2. Lines 0, 2, 4 fall into L2's set 0.
    let h = check(
        "L1=2/2/32 L2=4/2/32,inclusion=inclusive",
        "w 0 8; r 20 8; r 40 8; r 80 8",
        "1w0- 1<0! 2r0- 2<0 M<0+32 | 1r1- 1<1 2r1- 2<1 M<20+32 | \
         1r2- 1>0! 1<2 2r2- 2<2 M<40+32 2b0+ | 1r4- 1>1 1<4 2r4- 1x2 2>2 2<4 M<80+32",
    );
    assert_eq!(order(&h, 0), [(4, false)], "the way that back-invalidation emptied");
    assert_eq!(h.counters(CacheId(0)).invalidations, 1);
    // A dirty line inside makes the victim dirty; the inner cache writes nothing back itself.
    let h = check(
        "L1=4/4/32 L2=4/2/32,inclusion=inclusive",
        "w 0 8; r 40 8; r 80 8",
        "1w0- 1<0! 2r0- 2<0 M<0+32 | 1r2- 1<2 2r2- 2<2 M<40+32 | \
         1r4- 1<4 2r4- 1x0! 2>0! 2<4 M<80+32 M>0+32",
    );
    assert_eq!((h.counters(CacheId(0)).writebacks, h.counters(CacheId(0)).bytes_out), (0, 0));
    assert_eq!((h.counters(CacheId(1)).writebacks, h.counters(CacheId(1)).bytes_out), (1, 32));
    // Every small line inside a larger victim goes, over two levels.
    check(
        "L1=4/4/16 L2=2/2/32 L3=1/1/64,inclusion=inclusive",
        "r 0 1; r 10 1; w 30 1; r 40 1",
        "1r0- 1<0 2r0- 2<0 3r0- 3<0 M<0+64 | 1r1- 1<1 2r0+ | 1w3- 1<3! 2r1- 2<1 3r0+ | \
         1r4- 1<4 2r2- 2>0 2<2 3r1- 1x0 1x1 1x3! 2x1 3>0! 3<1 M<40+64 M>0+64",
    );
}

#[test]
fn an_exclusive_level_swaps() {
    let h = check(
        "L1=1/1/32 L2=2/2/32,inclusion=exclusive",
        "r 0 8; w 20 8; r 0 8; r 20 8; r 40 8",
        "1r0- 1<0 2r0- M<0+32 | 1w1- 1>0 1<1! 2r1- M<20+32 2<0 | 1r0- 1>1! 1<0 2r0+ 2^0 2b1- 2<1! | \
         1r1- 1>0 1<1 2r1+ 2^1! 2<0 | 1r2- 1>1! 1<2 2r2- M<40+32 2b1- 2<1!",
    );
    assert_eq!((order(&h, 0), order(&h, 1)), (vec![(2, false)], vec![(1, true), (0, false)]));
    let l2 = h.counters(CacheId(1));
    assert_eq!((l2.fills, l2.evictions, l2.invalidations, l2.write_accesses, l2.bytes_in), (4, 0, 2, 2, 0));
    // A victim of the exclusive level goes on: dirty ones to memory, clean ones nowhere.
    check(
        "L1=1/1/32 L2=1/1/32,inclusion=exclusive",
        "w 0 8; r 20 8; r 40 8; r 60 8",
        "1w0- 1<0! 2r0- M<0+32 | 1r1- 1>0! 1<1 2r1- M<20+32 2b0- 2<0! | \
         1r2- 1>1 1<2 2r2- M<40+32 2>0! 2<1 M>0+32 | 1r3- 1>2 1<3 2r3- M<60+32 2>1 2<2",
    );
    // Between L2 and memory a third level is asked by what passes; with writeback_first the victim enters before.
    check(
        "order:writeback_first=true L1=1/1/32 L2=1/1/32,inclusion=exclusive L3=4/4/32",
        "r 0 8; r 20 8",
        "1r0- 1<0 2r0- 3r0- 3<0 M<0+32 | 1r1- 1>0 1<1 2<0 2r1- 3r1- 3<1 M<20+32",
    );
}

#[test]
fn stores_go_through_and_past() {
    let h = check(
        "L1=2/2/32,write=through L2=2/2/32",
        "w 0 8; w 4 8; r 20 8; r 40 8",
        "1w0- 1<0 2r0- 2<0 M<0+32 2w0+ | 1w0+ 2w0+ | 1r1- 1<1 2r1- 2<1 M<20+32 | \
         1r2- 1>0 1<2 2r2- 2>0! 2<2 M<40+32 M>0+32",
    );
    assert_eq!(h.counters(CacheId(0)).bytes_out, 16);
    check(
        "L1=2/2/32,write=through,allocate=none L2=2/2/32,allocate=none",
        "w 0 8; r 0 8; w 0 8; w 20 20",
        "1w0- 2w0- M>0+8 | 1r0- 1<0 2r0- 2<0 M<0+32 | 1w0+ 2w0+ | 1w1- 2w1- M>20+20",
    );
    // No-allocate is about stores: what L1 writes back stays in L2.
    check(
        "L1=1/1/32 L2=2/2/32,allocate=none L3=4/4/32",
        "w 0 32; r 20 8",
        "1w0- 1<0! | 1r1- 1>0! 1<1 2r1- 2<1 3r1- 3<1 M<20+32 2b0- 2<0!",
    );
    // A write-back that reaches a write-through level stays a write-back on its way on.
    check(
        "L1=1/1/32 L2=2/2/32,write=through L3=4/4/32",
        "w 0 32; r 20 8",
        "1w0- 1<0! | 1r1- 1>0! 1<1 2r1- 2<1 3r1- 3<1 M<20+32 2b0- 2<0 3b0- 3<0!",
    );
    // Orders on which simulators differ.
    check("order:writeback_first=true L1=1/1/32", "w 0 8; r 20 8", "1w0- 1<0! M<0+32 | 1r1- 1>0! 1<1 M>0+32 M<20+32");
    check("order:fetch_on_full_line_write=true L1=1/1/32", "w 0 32", "1w0- 1<0! M<0+32");
}

#[test]
fn sectors_come_and_go_by_themselves() {
    let h = check(
        "L1=1/1/64,sector=16",
        "r 0 4; r 4 4; r 18 8; w 20 16; w 34 4; r 8 30; r 40 1",
        "1r0- 1<0 M<0+16 | 1r0+ | 1r0- M<10+16 | 1w0+ | 1w0- M<30+16 | 1r0+ | 1r1- 1>0! 1<1 M<40+16 M>20+32",
    );
    let l1 = h.counters(CacheId(0));
    assert_eq!((l1.fills, l1.evictions, l1.writebacks, l1.bytes_in, l1.bytes_out), (2, 1, 1, 64, 32));
    // Two runs of dirty sectors are two requests and one write-back.
    let h = check(
        "L1=1/1/64,sector=16",
        "w 0 16; w 20 16; r 40 1",
        "1w0- 1<0! | 1w0+ | 1r1- 1>0! 1<1 M<40+16 M>0+16 M>20+16",
    );
    assert_eq!((h.counters(CacheId(0)).writebacks, h.memory_counters().writes), (1, 2));
}

#[test]
fn split_sides_meet_in_the_unified_level() {
    let h = check(
        "L1I=1/1/32,holds=instructions L1D=1/1/32,holds=data L2=4/4/32",
        "f 0 4; r 0 4; w 0 4; f 20 4",
        "1f0- 1<0 3f0- 3<0 M<0+32 | 2r0- 2<0 3r0+ | 2w0+ | 1f1- 1>0 1<1 3f1- 3<1 M<20+32",
    );
    assert_eq!(h.caches().map(|c| h.info(c).depth).collect::<Vec<_>>(), [0, 0, 1]);
    // Nothing holds instructions: they come from memory.
    check("L1D=1/1/32,holds=data", "f 0 4", "M<0+4");
    // Victims of an instruction cache go outward on its side.
    check(
        "L1I=1/1/32,holds=instructions L1D=1/1/32,holds=data L2=2/2/32,inclusion=exclusive",
        "f 0 4; f 20 4; r 0 4",
        "1f0- 1<0 3f0- M<0+32 | 1f1- 1>0 1<1 3f1- M<20+32 3<0 | 2r0- 2<0 3r0+ 3^0",
    );
}

#[test]
fn cores_take_lines_from_each_other() {
    let two = "top:cores=2 L1=2/2/32 L2=4/4/32,shared=true";
    // Caches 1 and 2 are the L1s of core 0 and 1, 3 is L2.
    let h = check(
        two,
        "0:w 0 4; 1:r 0 4; 1:w 4 4; 0:r 0 4; 1:w 0 4; 0:r 0 4",
        "1w0- 1<0! 3r0- 3<0 M<0+32 | 2r0- 2<0 1~0 3b0+ 3r0+ | 1X0 2w0+ | \
         s0<1 1r0- 1<0 2~0 3b0+ 3r0+ | 1X0 2w0+ | S0<1 1r0- 1<0 2~0 3b0+ 3r0+",
    );
    let sharing = h.sharing().expect("two cores");
    assert_eq!((sharing.taken, sharing.interventions, sharing.returns, sharing.false_sharing), (2, 3, 2, 1));
    assert_eq!(h.level_counters(LevelId(0)).invalidations, 2);
    // A store takes a dirty line: it is written back first.
    check(two, "0:w 0 4; 1:w 8 4", "1w0- 1<0! 3r0- 3<0 M<0+32 | 1~0 3b0+ 1X0 2w0- 2<0! 3r0+");
    // What nobody else has costs nothing.
    check(two, "0:w 0 4; 1:w 20 4; 0:w 0 4", "1w0- 1<0! 3r0- 3<0 M<0+32 | 2w1- 2<1! 3r1- 3<1 M<20+32 | 1w0+");
    // Two private levels, the outer one with larger lines: the unit is the larger. The dirt of L1 moves to L2 and from there out.
    check(
        "top:cores=2 L1=2/2/16 L2=2/2/32",
        "0:w 0 4; 1:r 10 4",
        "1w0- 1<0! 3r0- 3<0 M<0+32 | 2r1- 2<1 4r0- 4<0 1~0 3~0 M>0+32 M<0+32",
    );
    // Instruction copies go as well.
    check(
        "top:cores=2 L1I=1/1/32,holds=instructions L1D=1/1/32,holds=data L2=4/4/32,shared=true",
        "0:f 0 4; 1:w 0 4",
        "1f0- 1<0 5f0- 5<0 M<0+32 | 1X0 4w0- 4<0! 5r0+",
    );
}

#[test]
fn tlbs_are_asked_for_every_page_first() {
    let h = check(
        "L1=4/4/32 tlb:1/1 tlb:2/2",
        "r ffe 4; r 0 4; m 1000 4; r 2000 1; r 0 1",
        "T0.0- T1.0- T0.1- T1.1- 1r7f- 1<7f M<fe0+32 1r80- 1<80 M<1000+32 | T0.0- T1.0+ 1r0- 1<0 M<0+32 | \
         T0.1- T1.1+ 1r80+ T0.1+ 1w80+ | T0.2- T1.2- 1r100- 1<100 M<2000+32 | T0.0- T1.0- 1r0+",
    );
    assert_eq!((h.tlbs().walks(), h.tlbs().sum(0).misses(), h.tlbs().sum(1).misses()), (4, 6, 4));
}

#[test]
fn prefetched_lines_are_marked_until_their_first_use() {
    let h = check(
        "L1=4/4/32,prefetch=next-line L2=8/8/32",
        "r 0 4; r 20 4; r 24 4; r 60 4",
        "1r0- 1<0 2r0- 2<0 M<0+32 1<1? 2p1- 2<1 M<20+32 | 1r1+ 1<2? 2p2- 2<2 M<40+32 | 1r1+ | \
         1r3- 1<3 2r3- 2<3 M<60+32 1>0 1<4? 2p4- 2<4 M<80+32",
    );
    let marked: Vec<u64> =
        h.order(CacheId(0), SetIndex(0)).filter(|resident| resident.prefetched).map(|r| r.line.0).collect();
    assert_eq!(marked, [4, 2]);
    let (l1, l2) = (h.counters(CacheId(0)), h.counters(CacheId(1)));
    assert_eq!((l1.prefetch_fills, l1.prefetch_used, l1.prefetch_late, l1.prefetch_pollution), (3, 1, 1, 0));
    assert_eq!((l2.prefetch_accesses, l2.prefetch_misses, l2.read_accesses), (3, 3, 2));
    // Line 0, which the prefetch of line 4 drove out, is missed: pollution.
    let mut h = h;
    h.access(&Reference::new(Kind::Read, 0, 4), &mut ());
    assert_eq!(h.counters(CacheId(0)).prefetch_pollution, 1);
    // By instruction: two equal steps, then the line ahead. L2's prefetcher sees L1's misses.
    check(
        "L1=2/2/32 L2=8/8/32,prefetch=stride",
        "r 0 4@7; r 80 4@7; r 100 4@7",
        "1r0- 1<0 2r0- 2<0 M<0+32 | 1r4- 1<4 2r4- 2<4 M<80+32 | \
         1r8- 1>0 1<8 2r8- 2<8 M<100+32 2<c? M<180+32",
    );
}

#[test]
fn flushing_passes_by_exclusive_levels_without_the_line() {
    let mut h = Hierarchy::new(&config("L1=1/1/32 L2=2/2/32,inclusion=exclusive")).expect("sound");
    for text in ["w 0 4", "w 20 4"] {
        h.access(&reference(text), &mut ());
    }
    let mut events: Vec<Event> = Vec::new();
    h.flush(&mut events);
    let told: Vec<String> = events.iter().map(told).collect();
    assert_eq!(told.join(" "), "1~1 M>20+32 2~0 M>0+32");
    assert_eq!((h.dirty(LevelId(0)), h.dirty(LevelId(1))), (0, 0));
}
