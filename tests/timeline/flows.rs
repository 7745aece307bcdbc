//! The flows of any part of a trace are what was moved in it: what came in, counted one by one from the events of
//! `Hierarchy::access`, and what went out, counted from the log of moves.

use crate::support::random::machines::hierarchy;
use crate::support::random::traces::named;
use crate::support::timeline::{Chopped, Memory};
use orrery::reference::{Kind, MemoryTrace, Reference, ReferenceSource, Tables};
use orrery::sim::config::{HierarchyConfig, LevelConfig, Ways, preset};
use orrery::sim::{AccessKind, Event, Hierarchy, RequestId};
use orrery::timeline::cursor::grain_bytes;
use orrery::timeline::{Cursor, Flow, Group, Options, Place, Shelf, Timeline};
use orrery::trace::synth::{self, Rng};
use orrery::units::{Addr, CacheId, LineAddr, SetIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One end of a move: a cache and its set, or an address of memory.
#[derive(Clone, Copy, Debug)]
enum End {
    Set(CacheId, SetIndex),
    Home(Addr),
}

fn is_in(end: End, group: Group) -> bool {
    match (end, group) {
        (End::Set(at, set), Group::Sets { cache, first, sets }) => {
            at.0 == cache && (first..first + sets).contains(&set.0)
        }
        (End::Home(at), Group::Home { addr, bytes }) => (addr..=addr + (bytes - 1)).contains(&at.0),
        _ => false,
    }
}

/// What each reference moves: lines that come in, from who has them, and, by the log, lines that go outward.
fn moves(references: &[Reference], hierarchy: &Hierarchy) -> Vec<Vec<[End; 2]>> {
    let mut state = hierarchy.clone();
    let end = |cache: Option<CacheId>, addr: Addr| match cache {
        Some(cache) => {
            let geometry = hierarchy.geometry(cache);
            End::Set(cache, geometry.set_of(geometry.line_of(addr)))
        }
        None => End::Home(addr),
    };
    // Who had a line that came to a cache because of a request: who answered what that led to. Where nobody was asked, since a store
    // covers the line, the next cache.
    let source = |events: &[Event], request: RequestId, cache: CacheId, addr: Addr| {
        let (mut request, mut from) = (request, hierarchy.outward(cache));
        loop {
            let led_to = |event: &&Event| match **event {
                Event::Access { origin, cache, line, kind, .. } => {
                    let is_it = kind != AccessKind::Writeback && hierarchy.geometry(cache).line_of(addr) == line;
                    origin.parent == Some(request) && is_it
                }
                Event::MemoryRead { origin, .. } => origin.parent == Some(request),
                _ => false,
            };
            match events.iter().find(led_to) {
                Some(Event::Access { cache, hit: true, .. }) => return Some(*cache),
                Some(Event::Access { origin, cache, .. }) => {
                    (request, from) = (origin.request, hierarchy.outward(*cache));
                }
                Some(_) => return None,
                None => return from,
            }
        }
    };
    let base = |cache: CacheId, line: LineAddr| hierarchy.geometry(cache).base_of(line);
    let step = |reference: &Reference| {
        let mut events: Vec<Event> = Vec::new();
        state.access(reference, &mut events);
        let mut moves = Vec::new();
        for event in &events {
            match *event {
                Event::Fill { cache, line, prefetch, .. } if prefetch || hierarchy.info(cache).depth == 0 => {
                    let addr = base(cache, line);
                    moves.push([
                        end(source(&events, event.origin().request, cache, addr), addr),
                        end(Some(cache), addr),
                    ]);
                }
                _ => {}
            }
        }
        moves
    };
    let mut moves: Vec<Vec<[End; 2]>> = references.iter().map(step).collect();
    let unit = u64::from(grain_bytes(hierarchy));
    let source = Arc::new(MemoryTrace::new(references.to_vec(), Tables::default()));
    let timeline = Timeline::build(source, hierarchy.clone(), Options::default(), &mut |_, _| true).expect("in memory");
    let mut cursor = Cursor::new(Arc::new(timeline)).expect("in memory");
    let moment = cursor.seek(references.len() as u64, references.len() as u64).expect("in memory");
    for m in moment.log.moves(0, references.len() as u64).iter().filter(|m| m.to.depth(9) > m.from.depth(9)) {
        let cache = |place: Place| match place {
            Place::Slot { cache, .. } => Some(CacheId(cache)),
            Place::Home => None,
        };
        let addr = Addr(m.grain * unit);
        moves[usize::try_from(m.tick).expect("small")].push([m.from, m.to].map(|place| end(cache(place), addr)));
    }
    moves
}

/// The flows must be these moves, no more and no fewer.
fn check(flows: &[Flow], moves: &[[End; 2]], what: &str) {
    let groups: BTreeSet<Group> = flows.iter().flat_map(|flow| [flow.from, flow.to]).collect();
    let group = |end: End| {
        let mut fitting = groups.iter().filter(|group| is_in(end, **group));
        let group = fitting.next().unwrap_or_else(|| panic!("{what}: no flow from or to {end:?}"));
        assert_eq!(fitting.next(), None, "{what}: groups do not overlap");
        *group
    };
    let mut counted: BTreeMap<[Group; 2], u32> = BTreeMap::new();
    for ends in moves {
        *counted.entry(ends.map(group)).or_default() += 1;
    }
    assert_eq!(flows.len(), counted.len(), "{what}: a flow for each pair of groups");
    for flow in flows {
        let count = counted.get(&[flow.from, flow.to]).copied().unwrap_or(0);
        assert!((flow.lines - count as f32).abs() < 1e-3, "{what}: {count} in {flow:?}");
    }
    assert!(flows.is_sorted_by(|a, b| a.lines >= b.lines), "{what}: strongest first");
}

fn timeline(trace: MemoryTrace, chunk: u64, hierarchy: Hierarchy, outcomes_up_to: u64) -> Timeline {
    let source: Arc<dyn ReferenceSource> = Arc::new(Chopped { trace, chunk });
    let options = Options { outcomes_up_to, ..Options::default() };
    Timeline::build(source, hierarchy, options, &mut |_, _| true).expect("in memory")
}

#[test]
fn flows_are_what_moved() {
    let mut all = 0;
    let mut dropped = 0;
    for case in 0..400 {
        let mut rng = Rng::new(case);
        let (trace, hierarchy) = (named(&mut rng), hierarchy(&mut rng));
        let cores = if case % 3 == 0 { u64::from(hierarchy.config().cores) } else { 1 };
        let on_cores = |r: &Reference| Reference { core: u16::try_from(rng.below(cores)).expect("few"), ..*r };
        let references = trace.references().iter().map(on_cores).collect();
        let trace = MemoryTrace::new(references, trace.tables().clone());
        let moved = moves(trace.references(), &hierarchy);
        // One by one, and many at once.
        for outcomes_up_to in [u64::MAX, 0] {
            let timeline = timeline(trace.clone(), 1 + rng.below(300), hierarchy.clone(), outcomes_up_to);
            let flows = timeline.flows().over(0.0, trace.len() as f64);
            check(&flows, &moved.concat(), &format!("case {case}, {outcomes_up_to}"));
            all += moved.concat().len();
        }
        let first = |end: &End| matches!(end, End::Set(cache, _) if hierarchy.info(*cache).depth == 0);
        let past = |[from, to]: &&[End; 2]| hierarchy.levels() > 1 && first(from) && matches!(to, End::Home(_));
        dropped += moved.iter().flatten().filter(past).count();
    }
    assert!(all > 50_000, "{all} moves");
    assert!(dropped > 500, "{dropped} lines that no cache behind the first has");
}

/// Caches that vectors play in blocks: small enough that lines leave all of them, of one way to many, one level to four; in one
/// thread and in shards.
#[test]
fn flows_of_blocks_are_what_moved() {
    for case in 0..24u64 {
        let mut rng = Rng::new(1000 + case);
        let levels = (0..1 + case % 4).map(|n| {
            let ways = [1, 2, 8, 5, 16][usize::try_from(rng.below(5)).expect("small")];
            // An outer level smaller than the one inside it has the least of its lines.
            let sets = 8u64 << rng.below(2 + n);
            let name = format!("L{}", n + 1);
            LevelConfig::new(
                name,
                usize::try_from(n).expect("small"),
                sets * ways * 64,
                Ways::Count(ways.try_into().expect("small")),
                64,
            )
        });
        let hierarchy = Hierarchy::new(&HierarchyConfig::new("blocks", levels.collect())).expect("sound");
        let mut references: Vec<Reference> = synth::mix(6_000, case).collect();
        for reference in &mut references {
            reference.addr %= 16 << 10;
            match rng.below(12) {
                0 => (reference.addr, reference.size) = (reference.addr & !63, 64),
                1 => (reference.addr, reference.size) = (reference.addr | 60, 8),
                2 => reference.kind = Kind::Modify,
                3 => reference.kind = Kind::Fetch,
                _ => {}
            }
        }
        let moved = moves(&references, &hierarchy).concat();
        for shards in [1, 4] {
            let source = Arc::new(MemoryTrace::new(references.clone(), Tables::default()));
            let options = Options { outcomes_up_to: 0, shards, ..Options::default() };
            let timeline = Timeline::build(source, hierarchy.clone(), options, &mut |_, _| true).expect("in memory");
            check(
                &timeline.flows().over(0.0, references.len() as f64),
                &moved,
                &format!("case {case}, {shards} shards"),
            );
        }
    }
}

#[test]
fn flows_of_a_part_are_what_moved_in_it() {
    let references: Vec<Reference> = synth::mix(90_000, 7).collect();
    let hierarchy = Hierarchy::new(&preset("textbook").expect("a preset")).expect("sound");
    let moved = moves(&references, &hierarchy);
    let trace = MemoryTrace::new(references, Tables::default());
    for outcomes_up_to in [u64::MAX, 0] {
        let timeline = timeline(trace.clone(), 10_000, hierarchy.clone(), outcomes_up_to);
        let flows = timeline.flows();
        let span = flows.span();
        assert_eq!(span, 4096);
        let last = trace.len() / span;
        for [from, to] in [[0, 1], [3, 5], [1, 20], [8, 16], [0, last], [last, last + 1], [0, last + 1]] {
            let [from, to] = [from * span, (to * span).min(trace.len())];
            let part = moved[usize::try_from(from).expect("small")..usize::try_from(to).expect("small")].concat();
            check(&flows.over(from as f64, to as f64), &part, &format!("{from}..{to}"));
        }
        // Half a bucket counts by half: parts add up, and nothing jumps where a part grows by little.
        let sum = |from: f64, to: f64| flows.over(from, to).iter().map(|flow| flow.lines).sum::<f32>();
        let (whole, parts) = (sum(0.0, 9e4), sum(0.0, 5e4) + sum(5e4, 6e4 + 0.5) + sum(6e4 + 0.5, 9e4));
        assert!((whole - parts).abs() < 1e-3 * whole, "{whole} {parts}");
        assert!(sum(7e4, 7e4).abs() < 1e-6 && sum(1e6, 2e6).abs() < 1e-6 && sum(5.0, 4.0).abs() < 1e-6);
        // Stored and read again.
        let shelf = Memory::new(usize::MAX);
        let directory = timeline.store(shelf.as_ref()).expect("there is room");
        let shelf: Arc<dyn Shelf> = shelf;
        let (source, options) = (Arc::clone(timeline.source()), Options::default());
        let again =
            Timeline::restore(source, hierarchy.clone(), options, &shelf, &directory).expect("as it was stored");
        for [from, to] in [[0.0, 9e4], [100.5, 70_000.25], [85_000.0, 9e4]] {
            assert_eq!(again.flows().over(from, to), flows.over(from, to));
        }
    }
}

/// Memory that is spread wide is told in wider blocks, and nothing is lost where blocks or buckets grow.
#[test]
fn blocks_and_buckets_grow() {
    let mut rng = Rng::new(5);
    let hierarchy = Hierarchy::new(&preset("paper").expect("a preset")).expect("sound");
    let references: Vec<Reference> = (0..40_000u64)
        .map(|n| Reference::new(Kind::Read, 0x1_0000 + (rng.next_u64() >> (60 - 40 * n / 40_000).max(24)) / 8 * 8, 8))
        .collect();
    let moved = moves(&references, &hierarchy);
    let timeline = timeline(MemoryTrace::new(references, Tables::default()), 4096, hierarchy, 0);
    let flows = timeline.flows().over(0.0, 4e4);
    check(&flows, &moved.concat(), "wide");
    let blocks = flows.iter().filter(|flow| matches!(flow.from, Group::Home { .. })).count();
    assert!(blocks > 40, "{blocks} flows from memory: blocks are no wider than they must be");
}
