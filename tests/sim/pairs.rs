//! Two observers at once see what each sees alone, whatever they want: all events, misses, moves, where lines went, accesses by
//! cache; in batches or one by one; of a hierarchy and of its shards.

use crate::support::random::machines::{hierarchy, parted};
use crate::support::random::traces::{loops, named};
use orrery::reference::Reference;
use orrery::sim::classes::ClassCounts;
use orrery::sim::{Batch, Classifier, Event, Events, Gone, Hierarchy, LevelMisses, Lists, Observer, Shards, Wants};
use orrery::trace::synth::Rng;
use orrery::units::{CacheId, LineAddr};

/// An observer that wants one thing.
enum Watcher {
    Nothing,
    Events(Vec<Event>),
    /// Demand misses by level, with the number of the reference; the next reference.
    Misses(Vec<(u8, u64)>, u64, bool),
    /// Lines that came to the innermost caches.
    Moves(Vec<(CacheId, LineAddr)>, Box<Hierarchy>),
    Gone(Vec<Gone>),
    Classes(Classifier),
}

/// What it has seen, in an order that does not depend on the form.
#[derive(Debug, PartialEq)]
enum Seen {
    Nothing,
    Events(Vec<Event>),
    Misses(Vec<(u8, u64)>, u64),
    Moves(Vec<(CacheId, LineAddr)>),
    Gone(Vec<(u16, u64, Option<u16>)>),
    Classes(Vec<ClassCounts>),
}

const KINDS: usize = 7;

impl Watcher {
    fn new(kind: usize, start: &Hierarchy) -> Self {
        match kind {
            0 => Self::Nothing,
            1 => Self::Events(Vec::new()),
            2 => Self::Misses(Vec::new(), 0, true),
            3 => Self::Misses(Vec::new(), 0, false),
            4 => Self::Moves(Vec::new(), Box::new(start.clone())),
            5 => Self::Gone(Vec::new()),
            _ => Self::Classes(Classifier::new(start)),
        }
    }

    fn seen(self, of: &Hierarchy) -> Seen {
        match self {
            Self::Nothing => Seen::Nothing,
            Self::Events(events) => Seen::Events(events),
            Self::Misses(mut misses, next, _) => {
                misses.sort_unstable();
                Seen::Misses(misses, next)
            }
            Self::Moves(mut came, _) => {
                came.sort_unstable();
                Seen::Moves(came)
            }
            Self::Gone(gone) => {
                let mut gone: Vec<_> =
                    gone.iter().map(|gone| (gone.from.0, gone.addr.0, gone.to.map(|to| to.0))).collect();
                gone.sort_unstable();
                Seen::Gone(gone)
            }
            Self::Classes(classes) => Seen::Classes(of.caches().map(|cache| classes.cache_counts(cache)).collect()),
        }
    }
}

impl Observer for Watcher {
    fn wants(&self) -> Wants {
        let batches = |lists| Some(lists);
        let none = Lists::default();
        match self {
            Self::Nothing => Wants::NOTHING,
            Self::Events(_) => Wants::ALL_EVENTS,
            Self::Misses(_, _, true) => {
                Wants { events: Events::Misses, gone: false, batches: batches(Lists { misses: true, ..none }) }
            }
            Self::Misses(_, _, false) => Wants { events: Events::Misses, ..Wants::NOTHING },
            Self::Moves(..) => {
                Wants { events: Events::Moves, gone: false, batches: batches(Lists { moves: true, ..none }) }
            }
            Self::Gone(_) => Wants { events: Events::None, gone: true, batches: batches(none) },
            Self::Classes(classes) => classes.wants(),
        }
    }

    fn event(&mut self, event: Event) {
        match (self, event) {
            (Self::Events(events), event) => events.push(event),
            (Self::Misses(misses, next, _), Event::Access { level, kind, hit: false, .. }) if kind.is_demand() => {
                misses.push((level.0, *next - 1));
            }
            (Self::Moves(came, shape), Event::Fill { cache, line, .. }) if shape.info(cache).depth == 0 => {
                came.push((cache, line));
            }
            (Self::Classes(classes), event) => classes.event(event),
            _ => {}
        }
    }

    fn begin(&mut self, _: &Reference) {
        if let Self::Misses(_, next, _) = self {
            *next += 1;
        }
    }

    fn batch(&mut self, batch: &Batch<'_>) {
        match self {
            Self::Nothing => {}
            Self::Events(_) | Self::Misses(_, _, false) => assert!(batch.references.is_empty(), "not asked for"),
            Self::Misses(misses, next, true) => {
                for LevelMisses { level, missed, .. } in batch.misses {
                    misses.extend(missed.iter().map(|place| (level.0, *next + u64::from(*place))));
                }
                *next += batch.references.len() as u64;
            }
            Self::Moves(came, _) => {
                if let Some(moved) = batch.moved {
                    came.extend(moved.came.iter().flatten().map(|line| (moved.asking, *line)));
                }
                batch.events.iter().for_each(|event| self.event(*event));
            }
            Self::Gone(gone) => gone.extend(batch.gone),
            Self::Classes(classes) => classes.batch(batch),
        }
    }
}

/// Plays some parts of a trace; `None` = in shards.
fn play(start: &Hierarchy, shards: bool, parts: &[&[Reference]], observer: &mut impl Observer) -> Hierarchy {
    if shards {
        let mut shards = Shards::new(start.clone(), 4);
        parts.iter().for_each(|part| shards.play(part, observer));
        return shards.join().clone();
    }
    let mut one = start.clone();
    parts.iter().for_each(|part| one.play(part, observer));
    one
}

/// Events seen in all cases.
fn check(start: &Hierarchy, shards: bool, trace: &[Reference], rng: &mut Rng, place: &str) -> usize {
    let cut = usize::try_from(rng.below(trace.len() as u64 + 1)).expect("small");
    let parts = [&trace[..cut], &trace[cut..]];
    let mut end = None;
    let alone: Vec<Seen> = (0..KINDS)
        .map(|kind| {
            let mut one = Watcher::new(kind, start);
            let after = play(start, shards, &parts, &mut one);
            assert!(*end.get_or_insert_with(|| after.clone()) == after, "{place}, {kind}: the same caches");
            one.seen(start)
        })
        .collect();
    assert_eq!(alone[2], alone[3], "{place}: in batches or not");
    for (a, b) in (0..KINDS).flat_map(|a| (0..KINDS).map(move |b| (a, b))) {
        let mut pair = (Watcher::new(a, start), Watcher::new(b, start));
        let after = play(start, shards, &parts, &mut pair);
        assert!(Some(after) == end, "{place}, {a} and {b}: the same caches");
        assert!(pair.0.seen(start) == alone[a], "{place}: {a} beside {b}, {:?}", start.config());
        assert!(pair.1.seen(start) == alone[b], "{place}: {b} beside {a}, {:?}", start.config());
    }
    match &alone[1] {
        Seen::Events(events) => events.len(),
        _ => 0,
    }
}

#[test]
fn a_pair_of_observers_sees_what_each_sees_alone() {
    let mut rng = Rng::new(17);
    let mut events = 0;
    for case in 0..150 {
        let (trace, start) = (named(&mut rng), hierarchy(&mut rng));
        events += check(&start, false, trace.references(), &mut rng, &format!("case {case}"));
    }
    assert!(events > 100_000, "{events} events");
}

#[test]
fn a_pair_sees_the_same_of_plain_caches_and_of_shards() {
    let mut rng = Rng::new(19);
    let mut events = 0;
    for case in 0..60 {
        let start = Hierarchy::new(&parted(&mut rng)).expect("sound");
        // Long enough for blocks, and for threads.
        let trace = loops(&mut rng, 4_000);
        for shards in [false, true] {
            events += check(&start, shards, &trace, &mut rng, &format!("case {case}, shards: {shards}"));
        }
    }
    assert!(events > 500_000, "{events} events");
}
