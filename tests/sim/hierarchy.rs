//! Small cases done by hand: who is asked, in which order, and what leaves.

#![expect(clippy::unwrap_used, reason = "helpers of tests: to fail is to tell")]

use crate::support::words::{reference, told};
use orrery::reference::{Kind, Reference};
use orrery::sim::config::{HierarchyConfig, LevelConfig, Ways};
use orrery::sim::{Event, Hierarchy, LevelCounters, Policy};
use orrery::units::{CacheId, LevelId, LineAddr, SetIndex};

/// Levels as `lines,ways,line[,fifo]`.
fn config(levels: &str) -> HierarchyConfig {
    let level = |(n, text): (usize, &str)| {
        let parts: Vec<&str> = text.split(',').collect();
        let number = |n: usize| parts[n].parse::<u32>().unwrap();
        let (lines, ways, line) = (number(0), number(1), number(2));
        let policy = if parts.len() > 3 { Policy::Fifo } else { Policy::Lru };
        let size = u64::from(lines) * u64::from(line);
        LevelConfig { policy, ..LevelConfig::new(format!("L{}", n + 1), n, size, Ways::Count(ways), line) }
    };
    let levels = levels.split(' ').enumerate().map(level).collect();
    HierarchyConfig::new("test", levels)
}

/// Plays references (`;` between them) and compares the events of each (`|` between references).
fn check(levels: &str, references: &str, expect: &str) -> Hierarchy {
    let mut hierarchy = Hierarchy::new(&config(levels)).unwrap();
    let mut all = Vec::new();
    for text in references.split(';') {
        let mut events: Vec<Event> = Vec::new();
        hierarchy.access(&reference(text), &mut events);
        all.push(events.iter().map(told).collect::<Vec<_>>().join(" "));
    }
    assert_eq!(all.join(" | "), expect, "{levels}: {references}");
    hierarchy
}

/// Lines of set 0, most recent first.
fn order(hierarchy: &Hierarchy, level: u8) -> Vec<(u64, bool)> {
    hierarchy.order(CacheId(level.into()), SetIndex(0)).map(|r| (r.line.0, r.dirty)).collect()
}

#[test]
fn the_dirty_victim_goes_out_after_the_demand_request() {
    check("1,1,32 4,4,32", "w 0 8; r 20 8", "1w0- 1<0! 2r0- 2<0 M<0+32 | 1r1- 1>0! 1<1 2r1- 2<1 M<20+32 2b0+");
}

#[test]
fn a_write_back_hit_renews_the_order_under_lru_only() {
    let lru = check(
        "1,1,32 2,2,32",
        "w 0 8; r 20 8; r 40 8",
        "1w0- 1<0! 2r0- 2<0 M<0+32 | 1r1- 1>0! 1<1 2r1- 2<1 M<20+32 2b0+ | 1r2- 1>1 1<2 2r2- 2>1 2<2 M<40+32",
    );
    assert_eq!(order(&lru, 1), [(2, false), (0, true)]);
    let fifo = check(
        "1,1,32 2,2,32,fifo",
        "w 0 8; r 20 8; r 40 8",
        "1w0- 1<0! 2r0- 2<0 M<0+32 | 1r1- 1>0! 1<1 2r1- 2<1 M<20+32 2b0+ | 1r2- 1>1 1<2 2r2- 2>0! 2<2 M<40+32 M>0+32",
    );
    assert_eq!(order(&fifo, 1), [(2, false), (1, false)]);
}

#[test]
fn a_write_back_miss_allocates_without_a_fetch() {
    // NINE: the outer level, here the smaller one, has lost line 0 when it comes back.
    let h = check(
        "2,2,32 1,1,32",
        "w 0 8; r 20 8; r 40 8",
        "1w0- 1<0! 2r0- 2<0 M<0+32 | 1r1- 1<1 2r1- 2>0 2<1 M<20+32 | \
         1r2- 1>0! 1<2 2r2- 2>1 2<2 M<40+32 2b0- 2>2 2<0!",
    );
    assert_eq!(order(&h, 0), [(2, false), (1, false)]);
    assert_eq!(order(&h, 1), [(0, true)]);
}

#[test]
fn a_store_of_a_whole_line_allocates_without_a_fetch() {
    check("2,2,32 4,4,32", "w 0 32; w 20 31", "1w0- 1<0! | 1w1- 1<1! 2r1- 2<1 M<20+32");
    check("2,2,32 4,4,32", "m 0 32", "1r0- 1<0 2r0- 2<0 M<0+32 1w0+");
    // The line reaches L2 only when it is written back: there it is new, and whole.
    check(
        "1,1,32 4,4,32",
        "w 0 32; r 20 4; r 0 4",
        "1w0- 1<0! | 1r1- 1>0! 1<1 2r1- 2<1 M<20+32 2b0- 2<0! | 1r0- 1>1 1<0 2r0+",
    );
}

#[test]
fn a_straddling_reference_is_cut_and_each_piece_finished_first() {
    check("2,2,32 4,4,32", "r 1e 4", "1r0- 1<0 2r0- 2<0 M<0+32 1r1- 1<1 2r1- 2<1 M<20+32");
    check("1,1,32", "w 1f 2; r 1f 1", "1w0- 1<0! M<0+32 1w1- 1>0! 1<1! M<20+32 M>0+32 | 1r0- 1>1! 1<0 M<0+32 M>20+32");
    // Modify: the whole read, then the whole write.
    check("2,2,32", "m 1e 4", "1r0- 1<0 M<0+32 1r1- 1<1 M<20+32 1w0+ 1w1+");
}

#[test]
fn a_64_byte_store_at_an_odd_address_fetches_its_ends_only() {
    check("4,4,32", "w 1 64", "1w0- 1<0! M<0+32 1w1- 1<1! 1w2- 1<2! M<40+32");
    check("4,4,64", "w 1 64", "1w0- 1<0! M<0+64 1w1- 1<1! M<40+64");
}

#[test]
fn addresses_near_the_top_do_not_wrap() {
    check("2,2,32", "r ffffffffffffffff 8", "1r7ffffffffffffff- 1<7ffffffffffffff M<ffffffffffffffe0+32");
    check("2,2,32", "w ffffffffffffffe0 64", "1w7ffffffffffffff- 1<7ffffffffffffff!");
    check(
        "2,2,32 2,1,64",
        "r ffffffffffffffdf 200",
        "1r7fffffffffffffe- 1<7fffffffffffffe 2r3ffffffffffffff- 2<3ffffffffffffff M<ffffffffffffffc0+64 \
         1r7ffffffffffffff- 1<7ffffffffffffff 2r3ffffffffffffff+",
    );
    // The top line is not mistaken for an empty way, nor for line 0, even where tags are longest.
    check(
        "1,1,4",
        "r fffffffffffffffc 4; r 0 4; w 0 4",
        "1r3fffffffffffffff- 1<3fffffffffffffff M<fffffffffffffffc+4 | \
         1r0- 1>3fffffffffffffff 1<0 M<0+4 | 1w0+",
    );
    check(
        "4,1,1",
        "r ffffffffffffffff 1; r 3 1; r ffffffffffffffff 1",
        "1rffffffffffffffff- 1<ffffffffffffffff M<ffffffffffffffff+1 | \
         1r3- 1>ffffffffffffffff 1<3 M<3+1 | 1rffffffffffffffff- 1>3 1<ffffffffffffffff M<ffffffffffffffff+1",
    );
}

#[test]
fn line_0_is_a_real_line() {
    let h = check("4,2,32", "r 0 1; r 1f 1; r 40 1; r 0 1", "1r0- 1<0 M<0+32 | 1r0+ | 1r2- 1<2 M<40+32 | 1r0+");
    assert_eq!(h.rank(CacheId(0), LineAddr(0)), Some((SetIndex(0), 0)));
    assert_eq!(h.rank(CacheId(0), LineAddr(2)), Some((SetIndex(0), 1)));
    assert_eq!(h.rank(CacheId(0), LineAddr(1)), None);
    assert_eq!(h.resident(LevelId(0)), 2);
}

#[test]
fn a_size_of_0_is_taken_as_1() {
    check("2,2,32", "r 1f 0", "1r0- 1<0 M<0+32");
}

#[test]
fn rep_movs_touches_many_lines() {
    let mut h = Hierarchy::new(&config("512,8,64 2048,16,64")).unwrap();
    h.access(&Reference::new(Kind::Write, 0x10_0008, 1 << 20), &mut ());
    let lines = (1 << 20) / 64 + 1;
    let l1 = h.level_counters(LevelId(0));
    assert_eq!((l1.write_accesses, l1.write_misses, l1.evictions), (lines, lines, lines - 512));
    assert_eq!((l1.bytes_in, l1.bytes_out), (2 * 64, (lines - 512) * 64), "only the two ends are fetched");
    let l2 = h.level_counters(LevelId(1));
    assert_eq!((l2.read_accesses, l2.write_accesses), (2, lines - 512));
    assert_eq!(h.memory_counters().reads, 2);
}

#[test]
fn modify_is_a_read_then_a_write() {
    let h = check("2,2,32", "m 8 8; m 8 8", "1r0- 1<0 M<0+32 1w0+ | 1r0+ 1w0+");
    assert_eq!(order(&h, 0), [(0, true)]);
}

#[test]
fn fetches_are_their_own_kind_all_the_way_and_can_be_dropped() {
    check("2,2,32 2,2,32", "f 0 4; f 4 4", "1f0- 1<0 2f0- 2<0 M<0+32 | 1f0+");
    let mut h = Hierarchy::new(&HierarchyConfig { data_only: true, ..config("2,2,32") }).unwrap();
    let empty = h.clone();
    h.access(&reference("f 0 4"), &mut ());
    assert_eq!(h, empty);
}

#[test]
fn line_sizes_may_grow_outward() {
    // L2's line 0 is gone when half of it comes back: it is no whole line there, so the rest is read first.
    check(
        "1,1,32 1,1,64",
        "w 0 8; r 40 8; r 20 8",
        "1w0- 1<0! 2r0- 2<0 M<0+64 | 1r2- 1>0! 1<2 2r1- 2>0 2<1 M<40+64 2b0- 2>1 2<0! M<0+64 | 1r1- 1>2 1<1 2r0+",
    );
}

#[test]
fn line_sizes_may_shrink_outward() {
    check(
        "1,1,64 4,4,32",
        "w 0 8; r 40 8",
        "1w0- 1<0! 2r0- 2<0 M<0+32 2r1- 2<1 M<20+32 | 1r1- 1>0! 1<1 2r2- 2<2 M<40+32 2r3- 2<3 M<60+32 2b0+ 2b1+",
    );
}

#[test]
fn a_write_back_can_push_another_out() {
    // L1 loses 0 into L2, which is full of 2 and dirty 0 and has to write to L3, and so on to memory.
    check(
        "1,1,32 1,1,32 1,1,32",
        "w 0 32; w 20 32; w 40 32; w 60 32; w 80 32",
        "1w0- 1<0! | 1w1- 1>0! 1<1! 2b0- 2<0! | 1w2- 1>1! 1<2! 2b1- 2>0! 2<1! 3b0- 3<0! | \
         1w3- 1>2! 1<3! 2b2- 2>1! 2<2! 3b1- 3>0! 3<1! M>0+32 | 1w4- 1>3! 1<4! 2b3- 2>2! 2<3! 3b2- 3>1! 3<2! M>20+32",
    );
}

#[test]
fn flush_writes_back_from_the_inside_out_and_keeps_lines() {
    let mut h = Hierarchy::new(&config("2,2,32 4,4,32")).unwrap();
    for text in "w 0 8; w 20 8; r 40 8".split(';') {
        h.access(&reference(text), &mut ());
    }
    assert_eq!(order(&h, 0), [(2, false), (1, true)]);
    let mut events: Vec<Event> = Vec::new();
    h.flush(&mut events);
    let told: Vec<String> = events.iter().map(told).collect();
    // In L2 line 1 was renewed last, by its own write-back, so line 0 goes first.
    assert_eq!(told.join(" "), "1~1 2b1+ 2~0 M>0+32 2~1 M>20+32");
    assert_eq!(order(&h, 0), [(2, false), (1, false)]);
    assert_eq!((h.dirty(LevelId(0)), h.dirty(LevelId(1)), h.resident(LevelId(1))), (0, 0, 3));
    let before = h.clone();
    h.flush(&mut events);
    assert_eq!(h, before, "nothing is left to write");
}

#[test]
fn counters_of_a_case_done_by_hand() {
    // One L1 line; lines 0 and 1 alternate, 0 written, 1 read.
    let mut h = Hierarchy::new(&config("1,1,32 4,4,32")).unwrap();
    for text in "w 0 8; r 20 8; w 0 8; r 20 8; m 20 8; f 20 4".split(';') {
        h.access(&reference(text), &mut ());
    }
    let expect = LevelCounters {
        read_accesses: 3,
        read_misses: 2,
        write_accesses: 3,
        write_misses: 2,
        fetch_accesses: 1,
        fetch_misses: 0,
        fills: 4,
        evictions: 3,
        writebacks: 2,
        invalidations: 0,
        bytes_in: 128,
        bytes_out: 64,
        ..LevelCounters::default()
    };
    assert_eq!(h.level_counters(LevelId(0)), expect);
    let l2 = h.level_counters(LevelId(1));
    assert_eq!((l2.read_accesses, l2.read_misses, l2.write_accesses, l2.write_misses), (4, 2, 2, 0));
    assert_eq!((h.memory_counters().bytes_read, h.memory_counters().bytes_written), (64, 0));
}

/// The documented example of Ripes (docs/cache_sim.md): four loads of one line, then 128 x {4096, 6144}.
#[test]
fn ripes_documented_example() {
    for (lines, ways, hits) in [(32, 1, 3), (32, 2, 257)] {
        let mut h = Hierarchy::new(&config(&format!("{lines},{ways},16"))).unwrap();
        let loads = [0, 4, 8, 12].into_iter().chain((0..128).flat_map(|_| [4096, 6144]));
        for addr in loads {
            h.access(&Reference::new(Kind::Read, addr, 4), &mut ());
        }
        let counters = h.level_counters(LevelId(0));
        assert_eq!(counters.read_accesses, 260);
        assert_eq!(counters.read_accesses - counters.read_misses, hits, "{ways} ways");
    }
}

/// Sizes a keyframe by what a clone holds: the words of every level and little else.
#[test]
fn a_keyframe_is_eight_bytes_a_line() {
    let h = Hierarchy::new(&config("512,8,64 16384,16,64")).unwrap();
    let words = 8 * (512 + 16384);
    assert!((words..words + 1024).contains(&h.state_bytes()), "{}", h.state_bytes());
}
