//! Every loop, with every kind of vectors that this machine has, against [`Hierarchy::access`] and against the plain loops.

use super::scan::{self, COVER, Stop};
use super::*;
use crate::reference::Kind;
use crate::sim::Hierarchy;
use crate::sim::classes::{ClassCounts, Classifier};
use crate::sim::config::{HierarchyConfig, Holds, Inclusion, LevelConfig, Ways, WritePolicy};
use crate::sim::policy::Policy;
use crate::units::LevelId;

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

fn below(rng: &mut Rng, bound: usize) -> usize {
    usize::try_from(rng.below(bound as u64)).unwrap()
}

fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[below(rng, of.len())]
}

/// A hierarchy whose plain caches are played by the vectors named.
struct With(Hierarchy, Isa);

impl Surroundings for With {
    fn caches(&self) -> usize {
        Surroundings::caches(&self.0)
    }

    fn is_one_way(&self) -> bool {
        self.0.is_one_way()
    }

    fn plain(&mut self, at: usize) -> Option<Plain<'_>> {
        let isa = self.1;
        let plain = self.0.plain(at)?;
        let isa = if plain.shape.ways > isa.most_ways() { Isa::Plain } else { isa };
        Some(Plain { isa, ..plain })
    }

    fn access<O: Observer>(&mut self, reference: &Reference, observer: &mut O) {
        self.0.access(reference, observer);
    }

    fn place(&self, at: usize) -> Place {
        self.0.place(at)
    }

    fn number(&mut self, parent: Option<RequestId>) -> Origin {
        Surroundings::number(&mut self.0, parent)
    }

    fn finish(&mut self) {
        Surroundings::finish(&mut self.0);
    }

    fn miss<O: Observer>(&mut self, reference: &Reference, victim: u64, origin: Origin, observer: &mut O) {
        Surroundings::miss(&mut self.0, reference, victim, origin, observer);
    }

    fn request<O: Observer>(&mut self, at: usize, line: Line, kind: AccessKind, cause: Origin, observer: &mut O) {
        Surroundings::request(&mut self.0, at, line, kind, cause, observer);
    }

    fn is_all(&self) -> bool {
        self.0.is_all()
    }

    fn tell_gone<O: Observer>(&self, leaving: Leaving<'_, O>) {
        self.0.tell_gone(leaving);
    }

    fn memory(&mut self, bytes: u64, reads: u64, writes: u64) {
        Surroundings::memory(&mut self.0, bytes, reads, writes);
    }
}

/// References of all kinds and sizes around a few places, one of them the end of memory; some cover lines.
fn references(rng: &mut Rng, count: usize) -> Vec<Reference> {
    let spread = pick(rng, &[256, 4 << 10, 64 << 10, 1 << 20]);
    let straddles = pick(rng, &[0, 1, 30]);
    let one = |rng: &mut Rng| {
        let kind = pick(rng, &[Kind::Read, Kind::Read, Kind::Write, Kind::Modify, Kind::Fetch]);
        let base = pick(rng, &[0, 0x10_0000, 0x7fff_ffff_f000, u64::MAX - 0xffff]);
        let addr = base.saturating_add(rng.below(spread));
        if rng.below(100) < straddles {
            return Reference::new(kind, addr, pick(rng, &[0, 3, 64, 100, 300, 5000]));
        }
        match rng.below(8) {
            0 => Reference::new(kind, addr & !63, 64),
            1 => Reference::new(kind, addr & !15, 16),
            _ => Reference::new(kind, addr & !7, 8),
        }
    };
    (0..count).map(|_| one(rng)).collect()
}

/// A hierarchy that has a fast path, with an innermost cache of so many ways; behind it anything.
fn hierarchy(rng: &mut Rng, ways: u32) -> (Hierarchy, Exceptions) {
    loop {
        if let Ok(hierarchy) = Hierarchy::new(&config(rng, ways))
            && let Some(exceptions) = hierarchy.exceptions()
        {
            return (hierarchy, exceptions);
        }
    }
}

fn config(rng: &mut Rng, ways: u32) -> HierarchyConfig {
    let mut levels = Vec::new();
    let line = pick(rng, &[8, 16, 32, 64, 64, 64, 128]);
    let split = rng.below(4) == 0;
    for n in 0..1 + below(rng, 4) {
        let outer = n > 0;
        let ways = if outer { 1 + u32::try_from(rng.below(40)).unwrap() } else { ways };
        // Outer levels may be of other lines, of no power of two, of another policy: then the lists end there.
        let line = if outer && rng.below(5) == 0 { pick(rng, &[8, 32, 64, 256]) } else { line };
        let sets = if outer && rng.below(5) == 0 { 3 } else { 1 << rng.below(7) };
        let mut level =
            LevelConfig::new(format!("L{n}"), n, sets * u64::from(ways) * u64::from(line), Ways::Count(ways), line);
        if outer {
            level.policy = pick(rng, &[Policy::Lru, Policy::Lru, Policy::Lru, Policy::Fifo, Policy::Srrip]);
            level.write = pick(rng, &[WritePolicy::Back, WritePolicy::Back, WritePolicy::Back, WritePolicy::Through]);
            level.inclusion =
                pick(rng, &[Inclusion::Nine, Inclusion::Nine, Inclusion::Inclusive, Inclusion::Exclusive]);
        }
        if split && n == 0 {
            let mut other = level.clone();
            other.name = "L0I".into();
            other.holds = Holds::Instructions;
            level.holds = Holds::Data;
            levels.push(other);
        }
        levels.push(level);
    }
    let mut config = HierarchyConfig::new("t", levels);
    config.data_only = rng.below(4) == 0;
    config.order.writeback_first = rng.below(8) == 0;
    config.order.fetch_on_full_line_write = rng.below(8) == 0;
    config
}

#[test]
fn every_loop_does_what_access_does() {
    let mut rng = Rng(11);
    let (mut cases, mut misses, mut one_way, mut split) = (0, 0, 0, 0);
    let isas: Vec<Isa> = Isa::here().collect();
    for ways in (1..=32).chain([33, 64]) {
        for _ in 0..5 {
            let (empty, exceptions) = hierarchy(&mut rng, ways);
            // More than a chunk, and an odd end.
            let trace = references(&mut rng, 2500);
            let mut expected = empty.clone();
            trace.iter().for_each(|r| expected.access(r, &mut ()));
            misses += expected.level_counters(LevelId(0)).misses();
            one_way += u32::from(empty.is_one_way());
            split += u32::from(exceptions.back & Exceptions::bit(Kind::Fetch) != 0);
            let mut loops = vec![None, Some(Loop::Scan), Some(Loop::Vector)];
            if empty.is_one_way() {
                loops.push(Some(Loop::Blocks));
            }
            for (&isa, &by) in isas.iter().flat_map(|isa| loops.iter().map(move |by| (isa, by))) {
                let mut with = With(empty.clone(), isa);
                play_by(&mut with, &trace, exceptions, by);
                assert_eq!(with.0, expected, "{isa:?} {by:?} {ways} ways, {:?}", empty.config());
                cases += 1;
            }
            let mut by_choice = empty.clone();
            by_choice.play(&trace, &mut ());
            assert_eq!(by_choice, expected, "{:?}", empty.config());
        }
    }
    assert!(cases >= 170 * 3 && misses > 50_000, "{cases} cases, {misses} misses");
    assert!(one_way > 40 && split > 20, "{one_way} one way, {split} split");
}

/// Keeps what it is told; where references begin too.
#[derive(Default)]
struct Told {
    events: Vec<Event>,
    begun: Vec<(usize, Reference)>,
}

impl Observer for Told {
    fn event(&mut self, event: Event) {
        self.events.push(event);
    }

    fn begin(&mut self, reference: &Reference) {
        self.begun.push((self.events.len(), *reference));
    }
}

#[test]
fn watching_tells_what_access_tells() {
    let mut rng = Rng(5);
    let (mut cases, mut events, mut blocked) = (0, 0, 0);
    let isas: Vec<Isa> = Isa::here().collect();
    for ways in (1..=17).chain([32, 64]) {
        for _ in 0..10 {
            let (empty, exceptions) = hierarchy(&mut rng, ways);
            let trace = references(&mut rng, 2500);
            let (mut expected, mut told) = (empty.clone(), Told::default());
            for reference in &trace {
                told.begin(reference);
                expected.access(reference, &mut told);
            }
            events += told.events.len();
            for &isa in &isas {
                let (mut with, mut fast) = (With(empty.clone(), isa), Told::default());
                play_watched(&mut with, &trace, exceptions, &mut fast);
                assert_eq!(with.0, expected, "{isa:?} {ways} ways, {:?}", empty.config());
                for (at, (a, b)) in fast.events.iter().zip(&told.events).enumerate() {
                    assert_eq!(a, b, "{isa:?} {ways} ways, event {at}, {:?}", empty.config());
                }
                assert_eq!((fast.events.len(), &fast.begun), (told.events.len(), &told.begun));
                cases += 1;
            }
            for &isa in &isas {
                let mut with = With(empty.clone(), isa);
                if let Some(mut blocks) = watched::BlockRecord::of(&mut with) {
                    let mut fast = Told::default();
                    blocks.play(&mut with, &trace, exceptions, &mut fast);
                    assert_eq!(with.0, expected, "blocks, {isa:?} {ways} ways, {:?}", empty.config());
                    assert!(fast.events == told.events && fast.begun == told.begun, "{:?}", empty.config());
                    blocked += 1;
                }
            }
            for scan in [false, true] {
                let (mut with, mut fast) = (With(empty.clone(), Isa::Plain), Told::default());
                one_by_one(&mut with, &trace, exceptions, (Isa::Plain, scan), &mut fast);
                assert!(fast.events == told.events && fast.begun == told.begun, "scan {scan}, {:?}", empty.config());
            }
        }
    }
    assert!(cases >= 190 && events > 500_000 && blocked > 30, "{cases} cases, {events} events, {blocked} in blocks");
}

#[test]
fn lists_are_classified_as_events_are() {
    let mut rng = Rng(11);
    let (mut cases, mut sum) = (0, ClassCounts::default());
    for ways in (1..=17).chain([32]) {
        for _ in 0..12 {
            let (empty, exceptions) = hierarchy(&mut rng, ways);
            let trace = references(&mut rng, 2500);
            let (mut hierarchy, mut expected) = (empty.clone(), Classifier::new(&empty));
            for reference in &trace {
                hierarchy.access(reference, &mut expected);
            }
            let counts = |of: &Classifier| empty.caches().map(|cache| of.cache_counts(cache)).collect::<Vec<_>>();
            counts(&expected).into_iter().for_each(|counts| sum += counts);
            for isa in Isa::here() {
                let (mut with, mut listed) = (With(empty.clone(), isa), Classifier::new(&empty));
                play_watched(&mut with, &trace, exceptions, &mut listed);
                assert_eq!(counts(&listed), counts(&expected), "{isa:?} {ways} ways, {:?}", empty.config());
                let mut with = With(empty.clone(), isa);
                if let Some(mut blocks) = watched::BlockRecord::of(&mut with) {
                    let mut listed = Classifier::new(&empty);
                    blocks.play(&mut with, &trace, exceptions, &mut listed);
                    assert_eq!(counts(&listed), counts(&expected), "blocks {isa:?}, {:?}", empty.config());
                    cases += 1;
                }
            }
        }
    }
    assert!(cases > 30 && sum.compulsory.min(sum.capacity).min(sum.conflict) > 10_000, "{cases} cases, {sum:?}");
}

/// A level on its own.
#[derive(Clone)]
struct Level {
    shape: Shape,
    words: Vec<u64>,
}

impl Level {
    fn new(rng: &mut Rng, ways: usize) -> Self {
        let shape = Shape { line_bits: 6, set_bits: pick(rng, &[0, 1, 4]), ways };
        Self { shape, words: vec![0; ways << shape.set_bits] }
    }
}

#[test]
fn vectors_do_what_words_do_step_by_step() {
    let mut rng = Rng(7);
    let mut requests = 0;
    for ways in 1..=32 {
        for isa in Isa::here().filter(|isa| ways <= isa.most_ways()) {
            let mut by_word = Level::new(&mut rng, ways);
            let mut by_vector = by_word.clone();
            let shape = by_word.shape;
            for _ in 0..40 {
                let lines = (2 * ways as u64) << shape.set_bits;
                let ask =
                    |rng: &mut Rng| (rng.below(lines) << ASK_BITS) | pick(rng, &[0, ODD_ASK, DIRTY_ASK, 3, COVER]);
                let asks: Vec<u64> = (0..below(&mut rng, BLOCK + 1)).map(|_| ask(&mut rng)).collect();
                let mut found = [(); 2].map(|()| Found { matched: [9; BLOCK], left: [9; BLOCK] });
                scan::through(&mut by_word.words, shape, &asks, &mut found[0]);
                simd::through(isa, &mut by_vector.words, shape, &asks, &mut found[1]);
                assert_eq!(by_vector.words, by_word.words, "{isa:?}, {ways} ways");
                for (n, ask) in asks.iter().enumerate() {
                    let [a, b] = [&found[0], &found[1]].map(|f| (f.matched[n] == 0).then_some(f.left[n]));
                    assert_eq!(a, b, "{isa:?}, {ways} ways, request {ask:x}");
                }
                let mut tallies = [Tally::default(); 2];
                let mut next = [[0; 2 * BLOCK + 16]; 2];
                let [a, b] = &mut next;
                let listed = scan::follow(shape, &asks, &found[0], 0, &mut tallies[0], a);
                assert_eq!(simd::follow(isa, shape, &asks, &found[1], &mut tallies[1], b), listed);
                assert_eq!((tallies[1], &b[..listed]), (tallies[0], &a[..listed]), "{isa:?}, {ways} ways");
                requests += asks.len();
            }
        }
    }
    assert!(requests > 32 * 40 * 200, "{requests} requests");
}

#[test]
fn a_loop_stops_where_its_words_say() {
    // Two ways: a hit at each place, a modify that misses, and a reference over two lines.
    let line = |n: u64| Reference::new(Kind::Read, 64 * n, 8);
    let trace =
        [line(0), line(1), line(0), line(1), Reference::new(Kind::Modify, 128, 8), Reference::new(Kind::Read, 60, 8)];
    for isa in Isa::here() {
        for vector in [false, true] {
            let mut level = Level { shape: Shape { line_bits: 6, set_bits: 0, ways: 2 }, words: vec![0; 2] };
            let mut seen = Seen::default();
            let mut go = |from: usize, seen: &mut Seen| {
                let play = if vector { simd::hits } else { simd::scan_hits };
                play(isa, &mut level.words, level.shape, &trace[from..], Exceptions::default(), seen)
            };
            assert_eq!(go(0, &mut seen), Stop { at: 0, why: Why::Miss(0) });
            assert_eq!(go(1, &mut seen), Stop { at: 0, why: Why::Miss(0) });
            // Line 0, at the back since line 1 came, leaves for line 2: tag 0 and valid.
            assert_eq!(go(2, &mut seen), Stop { at: 2, why: Why::Miss(0b01) });
            assert_eq!(go(5, &mut seen), Stop { at: 0, why: Why::Other });
            assert_eq!(go(6, &mut seen), Stop { at: 0, why: Why::End });
            assert_eq!(seen, Seen { accesses: 5 | 1 << FIELD, depth: 2 }, "{isa:?}, vector {vector}");
            assert_eq!(level.words, [0b1011, 0b101], "{isa:?}, vector {vector}");
        }
    }
}
