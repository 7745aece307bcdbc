//! Checks of the module above: against a player that looks at the bytes before and after every reference.

use super::*;
use crate::reference::{MemoryTrace, Tables};
use crate::sim::config::HierarchyConfig;
use crate::timeline::Options;
use std::sync::Arc;

/// References that come back to a few lines, with sweeps over many between them.
fn references(seed: u64, len: u64) -> Vec<Reference> {
    by_cores(seed, len, 1)
}

/// As [`references`], of so many cores.
fn by_cores(seed: u64, len: u64, cores: u64) -> Vec<Reference> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..len)
        .map(|n| {
            let kind = [Kind::Read, Kind::Write, Kind::Modify, Kind::Fetch][(next() % 4) as usize];
            // Stretches in which nobody comes near are as long as several keyframes are apart.
            let busy = n % 700 < 260;
            let addr = if busy && next() % 3 == 0 { next() % 512 } else { 4096 + next() % 16384 };
            let size = [1, 4, 8, 64][(next() % 4) as usize];
            let mut reference = Reference::new(kind, addr, size);
            reference.core = u16::try_from(next() % cores).expect("few");
            reference
        })
        .collect()
}

fn timeline(config: &str, references: Vec<Reference>) -> Timeline {
    let config = HierarchyConfig::from_toml(config, "test").expect("sound");
    let hierarchy = Hierarchy::new(&config).expect("sound");
    let source = Arc::new(MemoryTrace::new(references, Tables::default()));
    let options = Options { spacing: 64, ..Options::default() };
    Timeline::build(source, hierarchy, options, &mut |_, _| true).expect("in memory")
}

const PLAIN: &str = r#"
[[level]]
name = "L1"
size = "512 B"
ways = 2
line = 32
[[level]]
name = "L2"
size = "2 KiB"
ways = 4
line = 64
"#;

const INCLUSIVE: &str = r#"
[[level]]
name = "L1"
size = "512 B"
ways = 2
line = 32
[[level]]
name = "L2"
size = "1 KiB"
ways = 2
line = 32
inclusion = "inclusive"
"#;

const FETCHES_AHEAD: &str = r#"
[[level]]
name = "L1"
size = "512 B"
ways = 2
line = 32
prefetch = "next-line"
[[level]]
name = "L2"
size = "2 KiB"
ways = 4
line = 32
"#;

const DATA_ONLY: &str = r#"
data_only = true
[[level]]
name = "L1"
size = "512 B"
ways = 2
line = 32
"#;

const TWO_CORES: &str = r#"
cores = 2
[[level]]
name = "L1"
size = "512 B"
ways = 2
line = 32
[[level]]
name = "L2"
shared = true
size = "2 KiB"
ways = 4
line = 32
"#;

/// The slow way: no stretch is left out, and places are looked up before and after every reference.
fn slowly(timeline: &Timeline, bytes: ByteRange, references: &[Reference]) -> Vec<LifeStep> {
    let mut state = Hierarchy::clone(timeline.start());
    let (grain, rings) = (grain_bytes(&state), timeline.life(bytes, &mut |_| true).expect("in memory").rings());
    let ring = |state: &Hierarchy| {
        let depths = (bytes.first / u64::from(grain)..=bytes.last / u64::from(grain))
            .map(|line| innermost(state, line, grain).depth(usize::from(rings)));
        u8::try_from(depths.min().expect("one")).expect("few")
    };
    let (mut steps, mut touches, mut misses) = (Vec::new(), 0, 0);
    for (reference, tick) in references.iter().zip(0..) {
        let from = ring(&state);
        let mut watch = Watch::default();
        state.access(reference, &mut watch);
        let to = ring(&state);
        let last = reference.addr + u64::from(reference.size) - 1;
        let dropped = timeline.config().data_only && reference.kind == Kind::Fetch;
        let touched = !dropped && reference.addr <= bytes.last && last >= bytes.first;
        if !touched && from == to {
            continue;
        }
        touches += u64::from(touched);
        misses += u64::from(touched && watch.missed);
        let served = touched.then(|| u8::try_from(watch.served_by(timeline.config().levels.len())).expect("few"));
        let (addr, kind) = (reference.addr, reference.kind);
        steps.push(LifeStep { tick, addr, kind, served, from, to, taken_by: None, touches, misses });
    }
    steps
}

#[test]
fn a_life_is_what_somebody_sees_who_looks_at_every_reference() {
    for (config, seed) in [(PLAIN, 1), (INCLUSIVE, 2), (FETCHES_AHEAD, 3), (DATA_ONLY, 4), (PLAIN, 5), (TWO_CORES, 6)] {
        let references = by_cores(seed, 4_000, if config == TWO_CORES { 2 } else { 1 });
        let timeline = timeline(config, references.clone());
        for bytes in
            [ByteRange::new(0, 8), ByteRange::new(40, 100), ByteRange::new(4096, 32), ByteRange::new(1 << 40, 8)]
        {
            let life = timeline.life(bytes, &mut |_| true).expect("in memory");
            let found: Vec<LifeStep> = life.steps().iter().map(|step| LifeStep { taken_by: None, ..*step }).collect();
            assert_eq!(found, slowly(&timeline, bytes, &references), "{bytes:?} of seed {seed}");
            assert_eq!((life.known(), life.is_cut()), (4_000, false));
            // Steps follow each other.
            let mut ring = life.rings();
            for step in life.steps() {
                assert_eq!(step.from, ring);
                ring = step.to;
            }
        }
        // The test would say nothing of bytes that nothing happens to.
        let busy = timeline.life(ByteRange::new(0, 8), &mut |_| true).expect("in memory");
        assert!(busy.steps().len() > 20 && busy.steps().iter().any(|step| step.to > step.from), "{:?}", busy.steps());
        assert!(timeline.life(ByteRange::new(1 << 40, 8), &mut |_| true).expect("in memory").steps().is_empty());
    }
}

#[test]
fn who_takes_a_place_is_of_the_same_set_and_comes_then() {
    let references = references(7, 4_000);
    let timeline = timeline(PLAIN, references.clone());
    let life = timeline.life(ByteRange::new(0, 8), &mut |_| true).expect("in memory");
    let left: Vec<&LifeStep> = life.steps().iter().filter(|step| step.to > step.from).collect();
    assert!(left.len() > 5 && left.iter().all(|step| step.taken_by.is_some()), "{left:?}");
    let l1 = CacheId(0);
    for step in left.iter().filter(|step| step.from == 0) {
        let line = step.taken_by.expect("told");
        let after = timeline.at(step.tick + 1).expect("in memory");
        let (set, _) = after.rank(l1, LineAddr(line / 32)).expect("it came");
        assert_eq!(u64::from(set.0), 0, "the set of byte 0");
        assert!(after.rank(l1, LineAddr(0)).is_none(), "it went");
    }
}

#[test]
fn stays_cover_what_is_asked_for_and_agree_with_every_moment() {
    let timeline = timeline(PLAIN, references(9, 3_000));
    let life = timeline.life(ByteRange::new(64, 8), &mut |_| true).expect("in memory");
    for asked in [0..3_000, 17..2_500, 1_000..1_001, 2_999..9_000, 500..500] {
        let mut at = asked.start;
        for (stay, ring) in life.stays(asked.clone()) {
            assert_eq!(stay.start, at);
            assert!(stay.clone().all(|tick| life.ring_at(tick) == ring), "{stay:?} on {ring}");
            at = stay.end;
        }
        assert_eq!(at, asked.end.min(3_000).max(asked.start));
    }
    assert_eq!(life.counts(0), (0, 0));
    let all = life.steps().last().expect("busy");
    assert_eq!(life.counts(u64::MAX), (all.touches, all.misses));
}

#[test]
fn who_is_no_longer_interested_ends_it() {
    let timeline = timeline(PLAIN, references(11, 30_000));
    let mut reports = 0;
    let life = timeline
        .life(ByteRange::new(0, 8), &mut |life| {
            reports += 1;
            life.known() < 1_000
        })
        .expect("in memory");
    assert!(life.known() < 30_000 && life.known() >= 1_000 && reports > 0, "{} after {reports}", life.known());
    let whole = timeline.life(ByteRange::new(0, u64::MAX), &mut |_| true).expect("in memory");
    assert_eq!(whole.bytes().bytes(), MOST_BYTES, "the first of many bytes");
}
