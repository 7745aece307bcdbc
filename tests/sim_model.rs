//! The simulator against a slow model written from the contract alone: lists, no bit tricks, addresses in 128 bits.
//! Thousands of random (trace, configuration) pairs; every counter, every miss class, every line and its order must agree.

#![expect(clippy::unwrap_used, reason = "helpers of tests: to fail is to tell")]

use orrery::reference::{Kind, MemoryTrace, Reference, Tables};
use orrery::sim::classes::Classifier;
use orrery::sim::config::{HierarchyConfig, LevelConfig, Ways};
use orrery::sim::stats::collect;
use orrery::sim::{AccessKind, Event, Hierarchy, Policy};
use orrery::units::{CacheId, LevelId, LineAddr, SetIndex};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeMap;

/// Pairs to try.
const CASES: u32 = 5000;

#[derive(Clone, Copy, PartialEq)]
enum Ask {
    Read,
    Write,
    Fetch,
    Writeback,
}

struct ModelLevel {
    line: u128,
    ways: usize,
    fifo: bool,
    /// Lists of (line, dirty), most recent first.
    sets: Vec<Vec<(u128, bool)>>,
    /// Fully associative LRU of as many lines, and all lines ever asked for.
    full: Vec<u128>,
    touched: Vec<u128>,
    /// read, write, fetch: accesses and misses; then fills, evictions, writebacks, bytes in, bytes out.
    counts: [u64; 11],
    /// compulsory, capacity, conflict.
    classes: [u64; 3],
}

struct Model {
    levels: Vec<ModelLevel>,
    /// reads, writes, bytes read, bytes written.
    memory: [u64; 4],
}

impl Model {
    fn new(config: &HierarchyConfig) -> Self {
        let level = |l: &LevelConfig| {
            let lines = usize::try_from(l.size / u64::from(l.line)).unwrap();
            let ways = match l.ways {
                Ways::Count(n) => n as usize,
                Ways::Full => lines,
            };
            ModelLevel {
                line: u128::from(l.line),
                ways,
                fifo: l.policy == Policy::Fifo,
                sets: vec![Vec::new(); lines / ways],
                full: Vec::new(),
                touched: Vec::new(),
                counts: [0; 11],
                classes: [0; 3],
            }
        };
        Self { levels: config.levels.iter().map(level).collect(), memory: [0; 4] }
    }

    fn play(&mut self, r: &Reference, data_only: bool) {
        let first = u128::from(r.addr);
        let end = (first + u128::from(r.size)).min(1 << 64);
        match r.kind {
            Kind::Read => self.ask(0, first, end, Ask::Read),
            Kind::Write => self.ask(0, first, end, Ask::Write),
            Kind::Modify => {
                self.ask(0, first, end, Ask::Read);
                self.ask(0, first, end, Ask::Write);
            }
            Kind::Fetch if data_only => {}
            Kind::Fetch => self.ask(0, first, end, Ask::Fetch),
        }
    }

    /// Bytes `first..end` are asked of level `n`, or of memory.
    fn ask(&mut self, n: usize, first: u128, end: u128, ask: Ask) {
        if n == self.levels.len() {
            let write = usize::from(ask == Ask::Writeback || ask == Ask::Write);
            self.memory[write] += 1;
            self.memory[2 + write] += u64::try_from(end - first).unwrap();
            return;
        }
        let line = self.levels[n].line;
        let mut at = first;
        while at < end {
            let next = ((at / line + 1) * line).min(end);
            self.piece(n, at / line, next - at == line, ask);
            at = next;
        }
    }

    fn piece(&mut self, n: usize, line: u128, whole: bool, ask: Ask) {
        let level = &mut self.levels[n];
        let bytes = level.line;
        let writes = ask == Ask::Write || ask == Ask::Writeback;
        let column = match ask {
            Ask::Read => 0,
            Ask::Write | Ask::Writeback => 2,
            Ask::Fetch => 4,
        };
        level.counts[column] += 1;

        let held_by_full = level.full.contains(&line);
        level.full.retain(|l| *l != line);
        level.full.insert(0, line);
        level.full.truncate(level.ways * level.sets.len());
        let new = !level.touched.contains(&line);
        if new {
            level.touched.push(line);
        }

        let number = usize::try_from(line % level.sets.len() as u128).unwrap();
        let set = &mut level.sets[number];
        if let Some(at) = set.iter().position(|(l, _)| *l == line) {
            set[at].1 |= writes;
            if !level.fifo {
                let entry = set.remove(at);
                set.insert(0, entry);
            }
            return;
        }
        level.counts[column + 1] += 1;
        level.classes[if new {
            0
        } else if held_by_full {
            2
        } else {
            1
        }] += 1;
        let victim = if set.len() == level.ways { set.pop() } else { None };
        set.insert(0, (line, writes));
        level.counts[6] += 1;
        level.counts[7] += u64::from(victim.is_some());
        if !(writes && whole) {
            level.counts[9] += u64::try_from(bytes).unwrap();
            let request = if ask == Ask::Fetch { Ask::Fetch } else { Ask::Read };
            self.ask(n + 1, line * bytes, (line + 1) * bytes, request);
        }
        if let Some((victim, true)) = victim {
            self.write_back(n, victim);
        }
    }

    fn write_back(&mut self, n: usize, line: u128) {
        let bytes = self.levels[n].line;
        self.levels[n].counts[8] += 1;
        self.levels[n].counts[10] += u64::try_from(bytes).unwrap();
        self.ask(n + 1, line * bytes, (line + 1) * bytes, Ask::Writeback);
    }

    fn flush(&mut self) {
        for n in 0..self.levels.len() {
            for set in 0..self.levels[n].sets.len() {
                for way in (0..self.levels[n].sets[set].len()).rev() {
                    let entry = &mut self.levels[n].sets[set][way];
                    if std::mem::take(&mut entry.1) {
                        let line = entry.0;
                        self.write_back(n, line);
                    }
                }
            }
        }
    }
}

/// What the events alone say: contents by level, counts.
#[derive(Default)]
struct Mirror {
    lines: BTreeMap<(LevelId, LineAddr), bool>,
    accesses: u64,
    misses: u64,
    memory: [u64; 4],
}

impl Mirror {
    fn take(&mut self, event: Event) {
        match event {
            Event::Access { level, line, kind, hit, set, .. } => {
                assert_eq!(self.lines.contains_key(&(level, line)), hit, "{event:?}, set {set:?}");
                if let Some(dirty) = self.lines.get_mut(&(level, line)) {
                    *dirty |= matches!(kind, AccessKind::Write | AccessKind::Writeback);
                }
                self.accesses += 1;
                self.misses += u64::from(!hit);
            }
            Event::Fill { level, line, dirty, .. } => {
                assert_eq!(self.lines.insert((level, line), dirty), None, "{event:?}");
            }
            Event::Evict { level, line, dirty, .. } => {
                assert_eq!(self.lines.remove(&(level, line)), Some(dirty), "{event:?}");
            }
            Event::Clean { level, line, .. } => {
                assert_eq!(self.lines.insert((level, line), false), Some(true), "{event:?}");
            }
            Event::MemoryRead { bytes, .. } => {
                self.memory[0] += 1;
                self.memory[2] += bytes;
            }
            Event::MemoryWrite { bytes, .. } => {
                self.memory[1] += 1;
                self.memory[3] += bytes;
            }
            Event::Invalidate { .. } | Event::Renew { .. } | Event::Sharing { .. } | Event::Translate { .. } => {
                panic!("{event:?} in a plain hierarchy of one core");
            }
        }
    }
}

fn levels() -> impl Strategy<Value = Vec<LevelConfig>> {
    // Line sizes mostly ordinary, at times tiny; sets of any count; a few ways or one set of all lines.
    let line = prop_oneof![4 => 4u32..8, 1 => 0u32..4];
    let ways = prop_oneof![4 => 1u32..6, 1 => Just(8), 1 => Just(16)];
    let level = (line, 1u32..9, ways, any::<bool>(), any::<bool>());
    proptest::collection::vec(level, 1..=4).prop_map(|levels| {
        let config = |(n, (shift, sets, ways, full, fifo)): (usize, (u32, u32, u32, bool, bool))| {
            let sets_in_effect = if full { 1 } else { sets };
            let implied = if sets_in_effect.is_power_of_two() { sets_in_effect.trailing_zeros() } else { 0 };
            let line = 1 << shift.max(2u32.saturating_sub(implied));
            let size = u64::from(sets) * u64::from(ways) * u64::from(line);
            let ways = if full { Ways::Full } else { Ways::Count(ways) };
            let policy = if fifo { Policy::Fifo } else { Policy::Lru };
            LevelConfig { policy, ..LevelConfig::new(format!("L{}", n + 1), n, size, ways, line) }
        };
        levels.into_iter().enumerate().map(config).collect()
    })
}

fn references() -> impl Strategy<Value = Vec<Reference>> {
    let kind = prop_oneof![
        4 => Just(Kind::Read), 4 => Just(Kind::Write), 1 => Just(Kind::Modify), 1 => Just(Kind::Fetch)
    ];
    // A crowded corner at either end of memory, and now and then a far-off place.
    let addr = prop_oneof![
        6 => 0u64..1024, 2 => (0u64..512).prop_map(|a| u64::MAX - a), 2 => (0u64..64).prop_map(|a| a << 12), 1 => any::<u64>()
    ];
    let size = prop_oneof![6 => 1u32..=8, 2 => Just(32), 2 => Just(64), 1 => 1u32..200];
    // Half of the addresses are aligned to their size, as most of a program's are.
    let reference = (kind, addr, size, any::<bool>()).prop_map(|(kind, addr, size, aligned)| {
        let addr = if aligned && size.is_power_of_two() { addr & !(u64::from(size) - 1) } else { addr };
        Reference::new(kind, addr, size)
    });
    proptest::collection::vec(reference, 1..120)
}

fn case() -> impl Strategy<Value = (HierarchyConfig, Vec<Reference>, bool)> {
    (levels(), any::<bool>(), references(), any::<bool>()).prop_map(|(levels, data_only, references, flush)| {
        let config = HierarchyConfig { data_only, ..HierarchyConfig::new("random", levels) };
        (config, references, flush)
    })
}

/// The same cases in every run; a failure is shrunk and printed whole.
fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// Compares everything there is to compare.
fn same(real: &Hierarchy, classes: &Classifier, mirror: &Mirror, model: &Model) {
    let (mut accesses, mut misses, mut held) = (0, 0, 0);
    for (n, m) in (0u8..).zip(&model.levels) {
        let id = LevelId(n);
        let cache = CacheId(n.into());
        let c = real.level_counters(id);
        let counts = [
            c.read_accesses,
            c.read_misses,
            c.write_accesses,
            c.write_misses,
            c.fetch_accesses,
            c.fetch_misses,
            c.fills,
            c.evictions,
            c.writebacks,
            c.bytes_in,
            c.bytes_out,
        ];
        assert_eq!(counts, m.counts, "counts of level {n}");
        let k = classes.counts(id);
        assert_eq!([k.compulsory, k.capacity, k.conflict], m.classes, "classes of level {n}");
        assert_eq!(k.compulsory + k.capacity + k.conflict, c.misses(), "each miss has one class");
        if m.sets.len() == 1 && !m.fifo {
            assert_eq!(k.conflict, 0, "a fully associative LRU level has no conflicts");
        }

        let (mut resident, mut dirty) = (0, 0);
        for (s, set) in (0u32..).zip(&m.sets) {
            let order: Vec<(u128, bool)> =
                real.order(cache, SetIndex(s)).map(|r| (u128::from(r.line.0), r.dirty)).collect();
            assert_eq!(&order, set, "level {n}, set {s}");
            resident += order.len() as u64;
            dirty += order.iter().filter(|(_, dirty)| *dirty).count() as u64;
            for (rank, (line, is_dirty)) in (0u32..).zip(&order) {
                let line = LineAddr(u64::try_from(*line).unwrap());
                assert_eq!(real.rank(cache, line), Some((SetIndex(s), rank)));
                assert_eq!(real.geometry(cache).set_of(line), SetIndex(s));
                assert_eq!(mirror.lines.get(&(id, line)), Some(is_dirty), "what events told of level {n}");
            }
        }
        assert_eq!((real.resident(id), real.dirty(id)), (resident, dirty), "level {n}");
        assert_eq!(c.fills, c.evictions + c.invalidations + resident, "what came in left or is there");
        accesses += c.accesses();
        misses += c.misses();
        held += resident;
    }
    let m = real.memory_counters();
    assert_eq!([m.reads, m.writes, m.bytes_read, m.bytes_written], model.memory);
    assert_eq!(mirror.memory, model.memory, "what events told of memory");
    assert_eq!((mirror.accesses, mirror.misses, mirror.lines.len() as u64), (accesses, misses, held));
    let last = real.level_counters(LevelId(u8::try_from(real.levels() - 1).unwrap()));
    assert_eq!((last.bytes_in, last.bytes_out), (m.bytes_read, m.bytes_written), "memory serves the last level alone");
}

#[test]
fn the_simulator_agrees_with_the_model() {
    let mut runner = runner(CASES);
    let tried = std::cell::Cell::new((0u64, 0u64, 0u64, 0u64));
    let result = runner.run(&case(), |(config, references, flush)| {
        let mut real = Hierarchy::new(&config).expect("the generator makes sound configurations");
        let mut unwatched = real.clone();
        let mut watch = (Vec::new(), Classifier::new(&real));
        let mut model = Model::new(&config);
        let mut mirror = Mirror::default();
        for (n, reference) in references.iter().enumerate() {
            real.access(reference, &mut watch);
            unwatched.access(reference, &mut ());
            model.play(reference, config.data_only);
            if n == references.len() / 2 {
                // A copy goes on as the original does.
                unwatched = unwatched.clone();
            }
        }
        if flush {
            real.flush(&mut watch);
            unwatched.flush(&mut ());
            model.flush();
        }
        watch.0.drain(..).for_each(|event| mirror.take(event));
        same(&real, &watch.1, &mirror, &model);
        assert_eq!(real, unwatched, "watching changes nothing");
        let stats = collect(&MemoryTrace::new(references.clone(), Tables::default()), &config, flush).unwrap();
        for (n, level) in (0u8..).zip(&stats.levels) {
            assert_eq!(
                (level.accesses(), level.dirty),
                (real.level_counters(LevelId(n)).accesses(), real.dirty(LevelId(n)))
            );
        }

        let total = |f: fn(&ModelLevel) -> u64| model.levels.iter().map(f).sum::<u64>();
        let (cases, accesses, writebacks, conflicts) = tried.get();
        tried.set((
            cases + 1,
            accesses + mirror.accesses,
            writebacks + total(|l| l.counts[8]),
            conflicts + total(|l| l.classes[2]),
        ));
        Ok(())
    });
    let (cases, accesses, writebacks, conflicts) = tried.get();
    eprintln!("{cases} random pairs agree: {accesses} accesses, {writebacks} write-backs, {conflicts} conflict misses");
    result.unwrap();
    assert!(cases >= u64::from(CASES) && writebacks > 10_000 && conflicts > 1000, "the cases are too tame");
}

/// The harness notices: with one rule of the model changed, the comparison fails.
#[test]
fn a_model_with_another_rule_is_caught() {
    let levels = "[[level]]\nsize = 64\nline = 32\nways = 2\npolicy = \"fifo\"";
    let config = HierarchyConfig::from_toml(levels, "fifo").unwrap();
    let mut real = Hierarchy::new(&config).unwrap();
    let mut watch = (Vec::new(), Classifier::new(&real));
    let mut model = Model::new(&config);
    model.levels[0].fifo = false;
    for addr in [0, 32, 0] {
        let r = Reference::new(Kind::Read, addr, 4);
        real.access(&r, &mut watch);
        model.play(&r, false);
    }
    let mut mirror = Mirror::default();
    watch.0.drain(..).for_each(|event| mirror.take(event));
    let caught = std::panic::catch_unwind(|| same(&real, &watch.1, &mirror, &model)).unwrap_err();
    let message = caught.downcast_ref::<String>().cloned().unwrap_or_default();
    assert!(message.contains("level 0, set 0"), "{message}");
}

/// Inclusion (Mattson, Gecsei, Slutz, Traiger 1970): what a fully associative LRU cache holds, a bigger one holds too.
#[test]
fn a_bigger_fully_associative_lru_never_misses_more() {
    let full = |lines: u64| {
        let level = LevelConfig::new("L1", 0, lines * 32, Ways::Full, 32);
        Hierarchy::new(&HierarchyConfig::new("full", vec![level])).unwrap()
    };
    let mut runner = runner(1000);
    let tried = std::cell::Cell::new(0u64);
    let result = runner.run(&(references(), 1u64..24, 1u64..24), |(references, lines, more)| {
        let (mut small, mut large) = (full(lines), full(lines + more));
        for reference in &references {
            small.access(reference, &mut ());
            large.access(reference, &mut ());
            for held in small.order(CacheId(0), SetIndex(0)) {
                assert!(
                    large.rank(CacheId(0), held.line).is_some(),
                    "{held:?} is in {lines} lines, not in {more} more"
                );
            }
        }
        assert!(small.level_counters(LevelId(0)).misses() >= large.level_counters(LevelId(0)).misses());
        tried.set(tried.get() + 1);
        Ok(())
    });
    eprintln!("{} random pairs of sizes", tried.get());
    result.unwrap();
}
