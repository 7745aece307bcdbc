//! One case: both play it, everything there is to compare is compared.

use super::cache::Cache;
use super::mirror::Mirror;
use super::model::Model;
use orrery::reference::{MemoryTrace, Reference, Tables};
use orrery::sim::classes::Classifier;
use orrery::sim::config::HierarchyConfig;
use orrery::sim::{Event, Hierarchy, Observer, Policy, prepare};
use orrery::units::{LevelId, LineAddr, SetIndex};

/// A trace and a configuration.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) config: HierarchyConfig,
    pub(crate) trace: Vec<Reference>,
    pub(crate) flush: bool,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.config.to_toml())?;
        for r in &self.trace {
            writeln!(f, "{:?} {:#x} {} core {} pc {:#x}", r.kind, r.addr, r.size, r.core, r.pc)?;
        }
        if self.flush { writeln!(f, "flush") } else { Ok(()) }
    }
}

/// The simulator's side of a case, with all it told.
pub(crate) fn simulate(case: &Case) -> (Hierarchy, Classifier, Vec<Event>) {
    let source = MemoryTrace::new(case.trace.clone(), Tables::default());
    let mut real = prepare(&case.config, &source).expect("the generator makes sound configurations");
    let mut watch = (Vec::new(), Classifier::new(&real));
    for reference in &case.trace {
        real.access(reference, &mut watch);
    }
    if case.flush {
        real.flush(&mut watch);
    }
    (real, watch.1, watch.0)
}

/// The simulator again, by its fast loops where it has some.
pub(crate) fn in_batches(case: &Case, observer: &mut impl Observer) -> Hierarchy {
    let source = MemoryTrace::new(case.trace.clone(), Tables::default());
    let mut real = prepare(&case.config, &source).expect("the generator makes sound configurations");
    let (first, second) = case.trace.split_at(case.trace.len() / 3);
    real.play(first, observer);
    real.play(second, observer);
    if case.flush {
        real.flush(observer);
    }
    real
}

pub(crate) fn model(case: &Case) -> Model {
    let mut model = Model::new(&case.config);
    if case.config.levels.iter().any(|level| level.policy == Policy::Opt) {
        model.play_by_levels(&case.trace);
    } else {
        case.trace.iter().for_each(|reference| model.play(reference));
    }
    if case.flush {
        model.flush();
    }
    model
}

/// Plays a case on both sides.
///
/// # Panics
/// Where they differ.
pub(crate) fn check(case: &Case) -> (Hierarchy, Model, Vec<Event>) {
    let (real, classes, events) = simulate(case);
    let model = model(case);
    same(&real, &model);
    for cache in real.caches() {
        let counts = classes.cache_counts(cache);
        let found = [counts.compulsory, counts.capacity, counts.conflict, counts.coherence];
        assert_eq!(found, model.caches[cache.index()].classes.counts, "classes of {}", real.name(cache));
    }
    Mirror::of(&real, &events).same();
    assert!(in_batches(case, &mut ()) == real, "playing many references at once differs");
    let mut again: Vec<Event> = Vec::new();
    assert!(in_batches(case, &mut again) == real, "playing many references at once, watched, differs");
    assert_eq!(again, events, "events of many references at once");
    (real, model, events)
}

/// Compares counters and contents.
pub(crate) fn same(real: &Hierarchy, model: &Model) {
    assert_eq!(real.caches().count(), model.caches.len());
    for (id, cache) in real.caches().zip(&model.caches) {
        let name = real.name(id);
        assert_eq!(real.info(id).level.index(), cache.level, "{name}");
        assert_eq!(real.counters(id), &cache.counters, "counters of {name}");
        let order = |set| real.order(id, SetIndex(set)).map(|r| (r.line, r.dirty, r.prefetched)).collect();
        let held =
            same_contents(&name, cache, order, |line| real.rank(id, line), |line| real.geometry(id).set_of(line));
        let counters = real.counters(id);
        assert_eq!(counters.fills, counters.evictions + counters.invalidations + held, "what came in left or is there");
    }
    for level in 0..real.levels() {
        let id = LevelId(u8::try_from(level).unwrap());
        let lines = || {
            let caches = model.caches.iter().filter(|cache| cache.level == level);
            caches.flat_map(|cache| &cache.sets).flat_map(|set| set.ways.iter().flatten())
        };
        let dirty = lines().filter(|line| line.is_dirty()).count();
        assert_eq!((real.resident(id), real.dirty(id)), (lines().count() as u64, dirty as u64), "level {level}");
    }
    assert_eq!(real.memory_counters(), &model.memory);
    assert_eq!(real.sharing(), model.cores.as_ref().map(|cores| &cores.counters));

    let tlbs = real.tlbs();
    assert_eq!((tlbs.len(), tlbs.walks()), (model.tlbs.len(), model.walks), "TLBs and page walks");
    for (n, cache) in model.tlbs.iter().enumerate() {
        let name = format!("TLB {n}");
        assert_eq!(tlbs.tlb(n), cache.level, "{name}");
        assert_eq!(tlbs.counters(n), &cache.counters, "counters of {name}");
        let order = |set| tlbs.order(n, SetIndex(set)).map(|r| (r.line, r.dirty, r.prefetched)).collect();
        let rank = |line| tlbs.rank(n, tlbs.geometry(n).base_of(line));
        same_contents(&name, cache, order, rank, |line| tlbs.geometry(n).set_of(line));
    }
}

fn same_contents(
    name: &str,
    cache: &Cache,
    order: impl Fn(u32) -> Vec<(LineAddr, bool, bool)>,
    rank: impl Fn(LineAddr) -> Option<(SetIndex, u32)>,
    set_of: impl Fn(LineAddr) -> SetIndex,
) -> u64 {
    let mut held = 0;
    for (set, number) in cache.sets.iter().zip(0..) {
        let ways = cache.order(usize::try_from(number).unwrap());
        let lines = ways.iter().map(|way| set.ways[*way].as_ref().unwrap());
        let address = |number: u128| LineAddr(u64::try_from(number).unwrap());
        let expect: Vec<_> = lines.map(|l| (address(l.number), l.is_dirty(), l.prefetched)).collect();
        assert_eq!(order(number), expect, "lines (dirty, prefetched) of {name}, set {number}");
        for (&(line, ..), place) in expect.iter().zip(0..) {
            assert_eq!(rank(line), Some((SetIndex(number), place)), "{name}");
            assert_eq!(set_of(line), SetIndex(number), "{name}");
        }
        held += expect.len() as u64;
    }
    held
}

/// A smaller case that fails too.
pub(crate) fn shrink(mut case: Case, fails: impl Fn(&Case) -> bool) -> Case {
    let mut step = case.trace.len().div_ceil(2);
    loop {
        let mut at = 0;
        let mut removed = false;
        while at < case.trace.len() {
            let mut smaller = case.clone();
            smaller.trace.drain(at..(at + step).min(case.trace.len()));
            if fails(&smaller) {
                (case, removed) = (smaller, true);
            } else {
                at += step;
            }
        }
        if step == 1 && !removed {
            break;
        }
        step = (step / 2).max(1);
    }
    for simpler in simplifications() {
        let mut smaller = case.clone();
        simpler(&mut smaller);
        if smaller.config.check().is_ok() && fails(&smaller) {
            case = smaller;
        }
    }
    case
}

type Simplification = Box<dyn Fn(&mut Case)>;

/// Changes that make a case easier to read.
fn simplifications() -> Vec<Simplification> {
    use orrery::sim::config::LevelConfig;
    let mut all: Vec<Simplification> = vec![
        Box::new(|case| case.flush = false),
        Box::new(|case| case.config.tlbs.clear()),
        Box::new(|case| case.config.order.writeback_first = false),
        Box::new(|case| case.config.order.fetch_on_full_line_write = false),
    ];
    for n in (0..4).rev() {
        all.push(Box::new(move |case| {
            if n < case.config.levels.len() {
                case.config.levels.remove(n);
            }
        }));
    }
    for n in 0..4 {
        let changes: [fn(&mut LevelConfig); 8] = [
            |level| level.policy = Policy::Lru,
            |level| level.prefetch = Default::default(),
            |level| level.inclusion = Default::default(),
            |level| level.write = Default::default(),
            |level| level.allocate = Default::default(),
            |level| level.holds = Default::default(),
            |level| level.sector = None,
            |level| (level.index, level.slices) = Default::default(),
        ];
        for change in changes {
            all.push(Box::new(move |case| case.config.levels.get_mut(n).into_iter().for_each(change)));
        }
    }
    for core in [0, 1] {
        all.push(Box::new(move |case| {
            case.config.cores = core + 1;
            case.trace.iter_mut().for_each(|r| r.core %= core + 1);
        }));
    }
    all.push(Box::new(|case| case.trace.iter_mut().for_each(|r| r.addr %= 1 << 16)));
    all.push(Box::new(|case| case.trace.iter_mut().for_each(|r| r.pc = 0)));
    all
}
