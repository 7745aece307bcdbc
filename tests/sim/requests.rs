//! Each event says which request it is of, and each request which one led to it: a tree for each reference, the same however
//! references are played.

use crate::support::random::machines::{hierarchy, parted};
use crate::support::random::traces::{loops, named};
use orrery::reference::Reference;
use orrery::sim::{AccessKind, Event, Hierarchy, Observer, Origin, Shards};
use orrery::trace::synth::Rng;
use std::collections::BTreeMap;

/// The events of each reference.
#[derive(Default, PartialEq)]
struct ByReference(Vec<Vec<Event>>);

impl Observer for ByReference {
    fn begin(&mut self, _: &Reference) {
        self.0.push(Vec::new());
    }

    fn event(&mut self, event: Event) {
        self.0.last_mut().expect("begun").push(event);
    }
}

/// Counts of what was seen in all trees, so that a test that saw nothing fails.
#[derive(Debug, Default)]
struct Seen {
    deep: u32,
    prefetches: u32,
    writebacks: u32,
    pieces: u32,
}

/// Checks the tree of one reference.
fn check(events: &[Event], seen: &mut Seen, place: &str) {
    // Of each request its parent, and the depth of its cache where it is an access.
    let mut known: BTreeMap<u32, Option<u32>> = BTreeMap::new();
    let mut newest = 0;
    for event in events {
        let Origin { request, parent } = event.origin();
        let (id, parent) = (request.get(), parent.map(|parent| parent.get()));
        let is_request = matches!(
            event,
            Event::Access { .. } | Event::Translate { .. } | Event::MemoryRead { .. } | Event::MemoryWrite { .. }
        );
        match known.get(&id) {
            // A cause told again: the parent is the same.
            Some(was) => assert_eq!(*was, parent, "{place}: {event:?} of {events:?}"),
            None => {
                assert_eq!(id, newest + 1, "{place}: numbers follow each other: {event:?} of {events:?}");
                newest = id;
                known.insert(id, parent);
            }
        }
        if let Some(parent) = parent {
            assert!(parent < id && known.contains_key(&parent), "{place}: {event:?} comes after its cause");
        }
        // What a request causes comes after it, but for what other cores do before.
        if is_request {
            seen.deep += u32::from(parent.is_some_and(|parent| known[&parent].is_some()));
        }
        match *event {
            Event::Access { kind, .. } => {
                seen.writebacks += u32::from(kind == AccessKind::Writeback);
                assert!(kind.is_demand() || parent.is_some(), "{place}: {event:?} has a cause");
                seen.pieces += u32::from(parent.is_none() && id > 1);
            }
            Event::Fill { prefetch: true, .. } => {
                seen.prefetches += 1;
                assert!(parent.is_some(), "{place}: what is prefetched has a cause: {event:?}");
            }
            _ => {}
        }
    }
}

#[test]
fn each_request_has_its_number_and_its_cause() {
    let mut rng = Rng::new(29);
    let mut seen = Seen::default();
    for case in 0..400 {
        let (trace, start) = (named(&mut rng), hierarchy(&mut rng));
        let references = trace.references();
        let (mut one, mut told) = (start.clone(), ByReference::default());
        for reference in references.iter() {
            told.begin(reference);
            one.access(reference, &mut told);
        }
        for (n, events) in told.0.iter().enumerate() {
            check(events, &mut seen, &format!("case {case}, reference {n}"));
        }
        // Many at once are numbered alike.
        let (mut many, mut by_many) = (start, ByReference::default());
        many.play(references, &mut by_many);
        assert!(many == one && by_many == told, "case {case}: {:?}", one.config());
        let mut flushed = Vec::new();
        many.flush(&mut flushed);
        for event in &flushed {
            assert!(event.origin().parent.is_some() || matches!(event, Event::Clean { .. }), "{event:?}");
        }
    }
    let Seen { deep, prefetches, writebacks, pieces } = seen;
    assert!(deep > 5_000 && prefetches > 500 && writebacks > 2_000 && pieces > 2_000, "{seen:?}");
}

#[test]
fn pieces_of_shards_are_numbered_as_one() {
    let mut rng = Rng::new(31);
    for case in 0..120 {
        let config = parted(&mut rng);
        let trace = loops(&mut rng, 800);
        let start = Hierarchy::new(&config).expect("sound");
        let (mut one, mut told) = (start.clone(), ByReference::default());
        one.play(&trace, &mut told);
        let (mut shards, mut parted) = (Shards::new(start, 4), ByReference::default());
        shards.play(&trace, &mut parted);
        assert!(parted == told, "case {case}: {config:?}");
    }
}
