//! Seeking anywhere gives exactly what playing there gives: states, counts, the log of moves, outcomes, and the scene.
//!
//! Random traces under random hierarchies, indexed with random options (keyframe budgets of a few bytes, spacings of a
//! few references, chunks of a few references), seeks forward and back with random windows. The oracle is
//! [`Hierarchy::access`] alone, reference by reference.

use crate::support::random::machines::hierarchy;
use crate::support::random::traces::named;
use crate::support::timeline::{Chopped, Memory};
use orrery::reference::{Kind, MemoryTrace, NO_LANE, Reference, ReferenceSource, SourceError, Tables};
use orrery::sim::{Classifier, Event, Hierarchy, MissClass, Origin, RequestId};
use orrery::timeline::cursor::{grain_bytes, innermost};
use orrery::timeline::tally::Row;
use orrery::timeline::{Cursor, Indexer, Log, Moment, Move, Options, PageFill, Place, Shelf, Slip, Timeline, Touch};
use orrery::trace::synth::{self, Rng};
use orrery::units::{CacheId, LevelId, LineAddr, SetIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a request led to that may answer it.
#[derive(Default)]
struct Asked {
    level: usize,
    hit: bool,
    /// It brought its line in, so that what is written after it is a victim.
    fills: bool,
    /// Who answers a request for bytes, or a store that is sent on: a level, or `usize::MAX` for memory.
    reads: Vec<Answer>,
    stores: Vec<Answer>,
}

enum Answer {
    Request(RequestId),
    Memory,
}

/// The outermost level that answers a piece (`levels` = memory), and whether a piece misses where it comes first: from the tree of
/// requests, once it is whole.
fn served(events: &[Event], levels: usize) -> (usize, bool) {
    let mut asked: BTreeMap<RequestId, Asked> = BTreeMap::new();
    let mut pieces = Vec::new();
    for event in events {
        let Origin { request, parent } = event.origin();
        let answer = match *event {
            Event::Access { level, kind, hit, .. } if kind.is_demand() => {
                asked.insert(request, Asked { level: level.index(), hit, ..Asked::default() });
                (Answer::Request(request), kind.is_write())
            }
            Event::Fill { .. } => {
                asked.entry(request).and_modify(|asked| asked.fills = true);
                continue;
            }
            Event::MemoryRead { .. } => (Answer::Memory, false),
            Event::MemoryWrite { .. } => (Answer::Memory, true),
            _ => continue,
        };
        match (parent.map(|parent| asked.get_mut(&parent)), answer) {
            (None, (Answer::Request(request), _)) => pieces.push(request),
            (Some(Some(parent)), (answer, false)) => parent.reads.push(answer),
            (Some(Some(parent)), (Answer::Memory, true)) if parent.fills => {}
            (Some(Some(parent)), (answer, true)) => parent.stores.push(answer),
            // What nobody waits for, and memory where no level is passed.
            _ => {}
        }
    }
    fn server(asked: &BTreeMap<RequestId, Asked>, request: RequestId) -> usize {
        let Asked { level, hit, reads, stores, .. } = &asked[&request];
        let answers = if reads.is_empty() { stores } else { reads };
        let of = |answer: &Answer| match answer {
            Answer::Request(request) => server(asked, *request),
            Answer::Memory => usize::MAX,
        };
        if *hit { *level } else { answers.iter().map(of).max().unwrap_or(level + 1) }
    }
    let outermost = pieces.iter().map(|piece| server(&asked, *piece)).max().unwrap_or(levels);
    (outermost.min(levels), pieces.iter().any(|piece| !asked[piece].hit))
}

/// Everything about one trace under one hierarchy, by playing it once.
struct Oracle {
    /// State before each reference, and at the end.
    states: Vec<Hierarchy>,
    events: Vec<Vec<Event>>,
    /// Of each reference: the named region that holds it, its address, its demand misses by level.
    counted: Vec<(Option<usize>, u64, Vec<u64>)>,
    classes: Vec<Vec<Option<MissClass>>>,
}

fn is_demand_miss(event: &Event, at: usize) -> bool {
    matches!(event, Event::Access { level, kind, hit: false, .. } if kind.is_demand() && level.index() == at)
}

impl Oracle {
    fn play(trace: &MemoryTrace, hierarchy: &Hierarchy) -> Self {
        let mut state = hierarchy.clone();
        let mut classifier = Classifier::new(&state);
        let levels = state.levels();
        let regions = &trace.tables().regions;
        let mut out = Self { states: vec![], events: vec![], counted: vec![], classes: vec![] };
        for (tick, reference) in (0u64..).zip(trace.references()) {
            out.states.push(state.clone());
            let mut events = Vec::new();
            classifier.begin();
            state.access(reference, &mut (&mut events, &mut classifier));
            let region = regions.iter().position(|r| {
                (r.base..r.end()).contains(&reference.addr) && r.lifetime.is_none_or(|(a, b)| (a..b).contains(&tick))
            });
            let misses = |level| events.iter().filter(|e| is_demand_miss(e, level)).count() as u64;
            out.counted.push((region, reference.addr, (0..levels).map(misses).collect()));
            let class = |level: u8| classifier.last_class(LevelId(level));
            out.classes.push((0u8..).take(levels).map(class).collect());
            out.events.push(events);
        }
        out.states.push(state);
        out
    }

    /// References and demand misses by level in each row, before each tick.
    fn counts(&self, rows: &[Row]) -> Vec<Vec<Vec<u64>>> {
        let mut row = vec![vec![0; 1 + self.states[0].levels()]; rows.len()];
        let mut out = vec![row.clone()];
        for (region, addr, misses) in &self.counted {
            for (row, of) in row.iter_mut().zip(rows) {
                let inside = match *of {
                    Row::Named(named) => *region == Some(named),
                    Row::Found(first, end) => region.is_none() && (first..end).contains(addr),
                };
                if inside {
                    row[0] += 1;
                    row[1..].iter_mut().zip(misses).for_each(|(sum, misses)| *sum += misses);
                }
            }
            out.push(row.clone());
        }
        out
    }

    /// Every grain that lies in a cache just before or just after a reference.
    fn grains(&self, tick: usize) -> BTreeSet<u64> {
        let unit = grain_bytes(&self.states[0]);
        let mut out = BTreeSet::new();
        for state in [&self.states[tick], &self.states[tick + 1]] {
            for cache in state.caches() {
                let geometry = state.geometry(cache);
                let of_line = u64::from(geometry.line_bytes / unit);
                for set in 0..geometry.sets {
                    for resident in state.order(cache, orrery::units::SetIndex(set)) {
                        out.extend((0..of_line).map(|n| resident.line.0 * of_line + n));
                    }
                }
            }
        }
        out
    }

    /// What came into the TLBs is told, and as many walks as the state counts.
    fn check_pages(&self, pages: &[PageFill], at: usize) {
        let (before, after) = (self.states[at].tlbs(), self.states[at + 1].tlbs());
        let mut walks = BTreeSet::new();
        for n in 0..after.len() {
            let told: Vec<&PageFill> = pages.iter().filter(|p| usize::from(p.tlb) == n).collect();
            let fills = after.counters(n).fills - before.counters(n).fills;
            assert_eq!(told.len() as u64, fills, "fills of TLB {n}");
            for set in (0..after.geometry(n).sets).map(SetIndex) {
                for page in after.order(n, set).map(|r| r.line).filter(|p| before.page_rank(n, *p).is_none()) {
                    assert!(told.iter().any(|p| p.page == page.0), "page {} came into TLB {n}", page.0);
                }
            }
            walks.extend(told.iter().filter(|p| p.walked).map(|p| p.page));
        }
        let counted = after.walks() - before.walks();
        assert!(walks.len() as u64 <= counted && walks.is_empty() == (counted == 0), "{walks:?}, {counted}");
    }

    /// Checks a log against the states: each move is true, none is missing, and touches explain who aged.
    fn check_log(&self, log: &Log, from: u64, to: u64, aged: &mut u64) {
        let unit = grain_bytes(&self.states[0]);
        for tick in from..to {
            let at = usize::try_from(tick).expect("small");
            let (moves, touches) = (log.moves(tick, tick + 1), log.touches(tick, tick + 1));
            self.check_pages(log.pages(tick, tick + 1), at);
            // Where a set is asked twice by one reference, its touches tell the order before and after, not between.
            // A fill that no access asked for (a prefetch, a clean victim that enters) is one too.
            let asked = |cache: u16, set: u32| {
                let events = &self.events[at];
                let missed = |c: CacheId, l: LineAddr| {
                    events.iter().any(
                        |e| matches!(e, Event::Access { cache, line, hit: false, .. } if (*cache, *line) == (c, l)),
                    )
                };
                let here = |e: &&Event| match **e {
                    Event::Access { cache: c, set: s, .. } => (c.0, s.0) == (cache, set),
                    Event::Fill { cache: c, set: s, line, .. } => (c.0, s.0) == (cache, set) && !missed(c, line),
                    _ => false,
                };
                events.iter().filter(here).count()
            };
            for grain in self.grains(at) {
                let place = |state: &Hierarchy| innermost(state, grain, unit);
                let (before, after) = (place(&self.states[at]), place(&self.states[at + 1]));
                let logged: Vec<&Move> = moves.iter().filter(|m| m.grain == grain).collect();
                assert!(logged.len() <= 1, "tick {tick}: grain {grain} moves twice");
                if let Some(m) = logged.first() {
                    assert_eq!((m.tick, m.from, m.to), (tick, before, after), "grain {grain}");
                    assert_ne!(m.from, m.to);
                    continue;
                }
                match (before, after) {
                    (Place::Home, Place::Home) => {}
                    (Place::Slot { cache, set, rank, .. }, Place::Slot { cache: c2, set: s2, rank: r2, .. }) => {
                        assert_eq!((cache, set), (c2, s2), "tick {tick}: grain {grain} went unlogged");
                        if asked(cache, set) < 2 {
                            let shifts = |t: &&Touch| (t.cache, t.set) == (cache, set) && rank < t.shifted;
                            let shifted = u32::from(touches.iter().any(|t| shifts(&t)));
                            assert_eq!(
                                r2,
                                rank + shifted,
                                "tick {tick}: grain {grain} at {before:?}, {touches:?}, {:?}, {}",
                                self.events[at],
                                self.states[at].config().to_toml()
                            );
                            *aged += u64::from(shifted);
                        }
                    }
                    _ => panic!("tick {tick}: grain {grain} went unlogged from {before:?} to {after:?}"),
                }
            }
        }
    }

    /// Checks all that a moment of a timeline says: `counts` are those of its rows.
    fn check(
        &self,
        moment: &Moment<'_>,
        tick: u64,
        timeline: &Timeline,
        counts: &[Vec<Vec<u64>>],
        trace: &MemoryTrace,
    ) {
        let at = usize::try_from(tick).expect("small");
        let (levels, inside) = (self.states[0].levels(), tick < timeline.len());
        assert_eq!((moment.tick, moment.len), (tick, timeline.len()));
        assert_eq!(moment.before, &self.states[at], "state before {tick}");
        assert_eq!(moment.after, &self.states[at + usize::from(inside)], "state after {tick}");
        assert_eq!(moment.reference, trace.references().get(at).copied().filter(|_| inside));
        let events = self.events.get(at).filter(|_| inside).map_or(&[][..], Vec::as_slice);
        assert_eq!(moment.events, events, "events of {tick}");
        assert_eq!(moment.rows.len(), timeline.tables().regions.len());
        for ((row, counts), region) in moment.rows.iter().zip(&counts[at]).zip(&timeline.tables().regions) {
            let told: Vec<u64> = std::iter::once(moment.tally.references(row))
                .chain((0..levels).map(|l| moment.tally.misses(row, l)))
                .collect();
            assert_eq!(&told, counts, "tally of {region:?} before {tick}");
        }
        assert_eq!(moment.outcome.is_some(), timeline.outcomes().is_some() && inside);
        if let Some(outcome) = moment.outcome {
            assert_eq!((outcome.served_by(), outcome.missed()), served(&self.events[at], levels), "who serves {tick}");
            for level in 0..levels {
                assert_eq!(outcome.class(level), self.classes[at][level], "class of {tick} at level {level}");
            }
        }
    }
}

/// What a log tells about references `[from, to)`.
type Told = (Vec<(u64, u8, u8)>, Vec<Move>, Vec<Touch>, Vec<PageFill>);

fn told(log: &Log, from: u64, to: u64) -> Told {
    let steps = log.steps(from, to).iter().map(|s| (s.addr, s.hits, s.misses)).collect();
    (steps, log.moves(from, to).to_vec(), log.touches(from, to).to_vec(), log.pages(from, to).to_vec())
}

#[test]
fn seeking_gives_what_playing_gives() {
    let (mut seeks, mut aged, mut moves) = (0u32, 0u64, 0usize);
    let cases = 120u64;
    for case in 0..cases {
        let mut rng = Rng::new(case);
        let (trace, hierarchy) = (named(&mut rng), hierarchy(&mut rng));
        let len = trace.len();
        let oracle = Oracle::play(&trace, &hierarchy);
        let budget = 1u64 << rng.below(20);
        let options = Options {
            keyframe_bytes: usize::try_from(rng.below(budget)).expect("small"),
            shelf_bytes: rng.below(1 << 18),
            spacing: 1 + rng.below(100),
            outcomes_up_to: if rng.below(4) == 0 { 0 } else { u64::MAX },
            chunks: 1 + usize::try_from(rng.below(3)).expect("small"),
            shards: usize::try_from(1 << rng.below(4)).expect("small"),
        };
        let source = Arc::new(Chopped { trace: trace.clone(), chunk: 1 + rng.below(200) });
        let build = Timeline::build(source, hierarchy.clone(), options, &mut |_, _| true);
        let timeline = Arc::new(build.expect("a trace in memory"));
        assert_eq!(timeline.outcomes().is_some(), options.outcomes_up_to > 0);
        let counts = oracle.counts(timeline.rows());
        let told_case = format!("case {case}: {len} references, {options:?}, spacing {}", timeline.spacing());

        // Playing: one cursor, one reference after the other, everything logged.
        let mut player = Cursor::new(Arc::clone(&timeline)).expect("in memory");
        for tick in 0..=len {
            let moment = player.seek(tick, len).expect("in memory");
            oracle.check(&moment, tick, &timeline, &counts, &trace);
        }
        let played = player.moment().log.clone();
        assert_eq!((played.start(), played.end()), (0, len), "{told_case}");
        oracle.check_log(&played, 0, len, &mut aged);
        moves += played.moves(0, len).len();

        // Seeking: another cursor, anywhere, with any window.
        let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("in memory");
        let mut last = 0;
        for _ in 0..25 {
            let tick = match rng.below(5) {
                0 => last + rng.below(4),
                1 => len,
                2 => len + rng.below(10),
                _ => rng.below(len + 1),
            };
            let window =
                [0, 1, rng.below(50), rng.below(len + 1), u64::MAX][usize::try_from(rng.below(5)).expect("small")];
            let moment = cursor.seek(tick, window).expect("in memory");
            let tick = tick.min(len);
            oracle.check(&moment, tick, &timeline, &counts, &trace);
            let from = tick.saturating_sub(window);
            // The log knows the window, and the reference under way.
            assert!(
                moment.log.start() <= from && moment.log.end() == (tick + 1).min(len),
                "{told_case}: {tick} {window}"
            );
            let (a, b) = (told(moment.log, from, tick + 1), told(&played, from, tick + 1));
            assert_eq!(a, b, "{told_case}: log of {from}..={tick}");
            assert_eq!(
                timeline.at(tick).expect("in memory"),
                oracle.states[usize::try_from(tick).expect("small")],
                "{told_case}"
            );
            last = tick;
            seeks += 1;
        }
    }
    eprintln!("{cases} random traces, {seeks} seeks, {moves} moves and {aged} slots of ageing explained");
    assert!(moves > 10_000 && aged > 10_000, "{moves} moves, {aged} aged: the traces do too little");
}

/// A shelf that has lost its first bytes.
struct Forgetful(Arc<dyn Shelf>, u64);

impl Shelf for Forgetful {
    fn put(&self, _: &[u8]) -> Option<Slip> {
        None
    }
    fn get(&self, slip: &Slip) -> Option<Vec<u8>> {
        if slip.at < self.1 { None } else { self.0.get(slip) }
    }
}

/// An index that was put away and taken out again gives what it gave before.
#[test]
fn a_stored_index_gives_what_the_first_gave() {
    let mut shelved = 0u64;
    for case in 2000..2060u64 {
        let mut rng = Rng::new(case);
        let (trace, hierarchy) = (named(&mut rng), hierarchy(&mut rng));
        let oracle = Oracle::play(&trace, &hierarchy);
        let options = Options {
            keyframe_bytes: usize::try_from(rng.below(1 << 14)).expect("small"),
            shelf_bytes: rng.below(1 << 18),
            spacing: 1 + rng.below(60),
            outcomes_up_to: if rng.below(3) == 0 { 0 } else { u64::MAX },
            chunks: 2,
            shards: usize::try_from(1 << rng.below(4)).expect("small"),
        };
        let source: Arc<dyn ReferenceSource> = Arc::new(Chopped { trace: trace.clone(), chunk: 1 + rng.below(200) });
        let spill = Memory::new(usize::try_from(rng.below(1 << 17)).expect("small"));
        let mut indexer = Indexer::new(Arc::clone(&source), hierarchy.clone(), options).with_shelf(spill.clone());
        while indexer.advance().expect("in memory") {}
        shelved += spill.bytes.lock().expect("sound").len() as u64;
        let first = indexer.timeline();
        let memory = Memory::new(usize::MAX);
        let directory = first.store(memory.as_ref()).expect("there is room");
        let puts = memory.puts.lock().expect("sound").clone();
        let shelf: Arc<dyn Shelf> = memory;
        let restore =
            |directory: &[u8]| Timeline::restore(Arc::clone(&source), hierarchy.clone(), options, &shelf, directory);
        let second = restore(&directory).expect("as it was stored");
        assert_eq!((first.tables(), first.rows()), (second.tables(), second.rows()));
        assert_eq!(first.summary().strip(0, 50, 0..trace.len()), second.summary().strip(0, 50, 0..trace.len()));
        // Keyframes that a shelf has lost are played again; all else is read at once.
        let lost: Arc<dyn Shelf> = Memory::new(0);
        assert!(Timeline::restore(Arc::clone(&source), hierarchy.clone(), options, &lost, &directory).is_none());
        // They were put there first.
        let keyframes = usize::try_from((trace.len() - 1) / first.spacing() + 1).expect("small");
        let lost: Arc<dyn Shelf> = Arc::new(Forgetful(Arc::clone(&shelf), puts[keyframes]));
        let third = Timeline::restore(Arc::clone(&source), hierarchy.clone(), options, &lost, &directory);
        assert!(third.is_some());
        for timeline in [Some(first), Some(second), third].into_iter().flatten().map(Arc::new) {
            let counts = oracle.counts(timeline.rows());
            let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("in memory");
            for _ in 0..8 {
                let tick = rng.below(timeline.len() + 1);
                let moment = cursor.seek(tick, rng.below(30)).expect("in memory");
                oracle.check(&moment, tick, &timeline, &counts, &trace);
            }
        }
    }
    assert!(shelved > 200_000, "{shelved} bytes were too many for memory");
}

/// A trace of which only whole chunks of a part are there, until all is.
struct Growing {
    trace: MemoryTrace,
    chunk: u64,
    there: AtomicU64,
}

impl ReferenceSource for Growing {
    fn len(&self) -> u64 {
        self.there.load(Ordering::Relaxed)
    }
    fn is_whole(&self) -> bool {
        self.len() == self.trace.len()
    }
    fn chunk_len(&self) -> u64 {
        self.chunk
    }
    fn chunk(&self, index: u64) -> Result<Arc<[Reference]>, SourceError> {
        let place = |n: u64| usize::try_from((n * self.chunk).min(self.len())).expect("small");
        Ok(self.trace.references()[place(index)..place(index + 1)].into())
    }
    fn tables(&self) -> &Tables {
        self.trace.tables()
    }
}

/// While a trace grows and while it is indexed, what is indexed is as true as when all is.
#[test]
fn a_part_gives_what_the_whole_gives() {
    let (mut parts, mut found) = (0u32, 0usize);
    for case in 1000..1060u64 {
        let mut rng = Rng::new(case);
        let (trace, hierarchy) = (named(&mut rng), hierarchy(&mut rng));
        let oracle = Oracle::play(&trace, &hierarchy);
        let options = Options {
            keyframe_bytes: usize::try_from(rng.below(1 << 18)).expect("small"),
            shelf_bytes: rng.below(1 << 18),
            spacing: 1 + rng.below(100),
            outcomes_up_to: if rng.below(3) == 0 { rng.below(trace.len()) } else { u64::MAX },
            chunks: 1,
            shards: usize::try_from(1 << rng.below(4)).expect("small"),
        };
        let source = Arc::new(Growing { trace: trace.clone(), chunk: 1 + rng.below(90), there: AtomicU64::new(0) });
        let mut indexer = Indexer::new(source.clone(), hierarchy.clone(), options);
        loop {
            while indexer.advance().expect("in memory") && rng.below(3) > 0 {}
            let timeline = Arc::new(indexer.timeline());
            assert_eq!((timeline.total(), timeline.len()), (source.is_whole().then(|| trace.len()), indexer.len()));
            let counts = oracle.counts(timeline.rows());
            found = found.max(timeline.rows().len());
            let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("in memory");
            for _ in 0..4 {
                let tick = rng.below(timeline.len() + 1);
                let moment = cursor.seek(tick, rng.below(30)).expect("in memory");
                oracle.check(&moment, tick, &timeline, &counts, &trace);
            }
            for _ in 0..4 {
                let (a, b) = (rng.below(timeline.len() + 1), rng.below(timeline.len() + 1));
                for level in 0..hierarchy.levels() {
                    let (sums, exactly) = timeline.summary().over(a.min(b)..a.max(b), level);
                    let at = |tick: u64| &counts[usize::try_from(tick).expect("small")];
                    let misses = |tick: u64| at(tick).iter().map(|row| row[1 + level]).sum::<u64>();
                    let expect = misses(exactly.end) - misses(exactly.start);
                    assert_eq!(sums.demand_misses, expect, "case {case}: {exactly:?} of {}", timeline.len());
                }
            }
            parts += 1;
            if timeline.is_whole() {
                break;
            }
            let (there, chunk) = (source.len(), source.chunk);
            let more = there + chunk * rng.below(4);
            source.there.store(if more + chunk > trace.len() { trace.len() } else { more }, Ordering::Relaxed);
        }
    }
    assert!(parts > 200 && found > 3, "{parts} parts, {found} regions at most");
}

#[test]
fn keyframes_keep_to_their_budget() {
    let mut rng = Rng::new(9);
    for keyframe_bytes in [0, 10_000, 100_000] {
        let trace = MemoryTrace::new(synth::mix(20_000, 3).collect(), Tables::default());
        let hierarchy = hierarchy(&mut rng);
        let one = hierarchy.state_bytes();
        let options = Options { keyframe_bytes, spacing: 8, outcomes_up_to: 0, ..Options::default() };
        let build = Timeline::build(Arc::new(trace), hierarchy, options, &mut |_, _| true);
        let timeline = build.expect("in memory");
        let keyframes = timeline.keyframe_bytes();
        // Three keyframes are kept whatever they cost, and each has its tally: of 64 clusters of scattered memory at most.
        let tally = 64 * (72 + 8 * (1 + timeline.config().levels.len()) + 2);
        let most = (keyframe_bytes + one + tally).max(4 * (one + tally));
        assert!(keyframes <= most, "{keyframes} bytes for a budget of {keyframe_bytes} (one state: {one})");
        assert!(keyframes > 0, "{keyframes}");
    }
}

#[test]
fn an_empty_trace_has_one_moment() {
    let mut rng = Rng::new(1);
    let source = Arc::new(MemoryTrace::new(Vec::new(), Tables::default()));
    let hierarchy = hierarchy(&mut rng);
    let timeline = Timeline::build(source, hierarchy.clone(), Options::default(), &mut |_, _| true).expect("in memory");
    let timeline = Arc::new(timeline);
    assert_eq!(timeline.at(0).expect("in memory"), hierarchy);
    let mut cursor = Cursor::new(timeline).expect("in memory");
    let moment = cursor.seek(5, 10).expect("in memory");
    assert_eq!((moment.tick, moment.len, moment.reference), (0, 0, None));
    assert_eq!(moment.before, &hierarchy);
}

#[cfg(all(feature = "formats", feature = "gpu"))]
mod scenes {
    use super::*;
    use orrery::axis::Position;
    use orrery::overlay::{RingExhibit, Studio};
    use orrery::scene::View;
    use orrery::sim::config::preset;
    use orrery::trace;
    use std::path::Path;

    /// A trace under `paper`, or under a machine with TLBs.
    fn studio(name: &str, cache: &str) -> Studio {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces").join(name);
        let source = trace::open(&path, None).expect(name);
        let hierarchy = Hierarchy::new(&preset(cache).expect("a preset")).expect("sound");
        Studio::new(Arc::from(source), hierarchy, &mut |_, _| true).expect(name)
    }

    #[test]
    fn a_scene_does_not_depend_on_what_was_drawn_before() {
        let mut rng = Rng::new(5);
        let mut frames = 0;
        let cases = [
            ("matmul12_blocked.orrery", "paper"),
            ("array_init.orrery", "paper"),
            ("bubble_sort.orrery", "sifive-u74"),
        ];
        for (name, cache) in cases {
            let mut used = studio(name, cache);
            let mut rings = RingExhibit::suited(&used);
            let len = used.timeline().len();
            for _ in 0..24 {
                let position = match rng.below(6) {
                    0 => len as f64,
                    1 => rng.below(len + 1) as f64,
                    _ => rng.unit() * len as f64,
                };
                let view = View {
                    tail: 1 + rng.below(400),
                    window: 1 + rng.below(400),
                    speed: [1.0, 8.0, 300.0, 1e5][usize::try_from(rng.below(4)).expect("small")],
                    ghosts: rng.below(4) > 0,
                    budget: 50 << rng.below(8),
                    ..View::default()
                };
                let mut fresh = studio(name, cache);
                let (expected, words) =
                    RingExhibit::suited(&fresh).scene(&mut fresh, Position::of(position), &view).expect("drawn");
                let (scene, info) = rings.scene(&mut used, Position::of(position), &view).expect("drawn");
                assert!(scene == expected, "{name} at {position} with {view:?}: another scene than in a fresh studio");
                assert_eq!(info, words, "{name} at {position}");
                frames += 1;
            }
        }
        eprintln!("{frames} scenes equal to a fresh studio's");
    }
}

/// The largest reference of all has 131,072 lines of 8 bytes: which of them left, came or were told is not searched for one by one.
#[test]
fn the_moves_of_a_reference_of_1_mib_are_logged_at_once() {
    let mut config = orrery::sim::config::preset("paper").expect("a preset").clone();
    config.levels.iter_mut().for_each(|level| level.line = 8);
    let reference = Reference { addr: 1 << 20, pc: 0, size: 1 << 20, core: 0, lane: NO_LANE, kind: Kind::Write };
    let source = Arc::new(MemoryTrace::new(vec![reference], Tables::default()));
    let hierarchy = orrery::sim::prepare(&config, &*source).expect("a sound configuration");
    let timeline = Timeline::build(source, hierarchy, Options::default(), &mut |_, _| true).expect("in memory");
    let mut cursor = Cursor::new(Arc::new(timeline)).expect("in memory");
    let moment = cursor.seek(1, 1).expect("in memory");
    let moves = moment.log.moves(0, 1);
    // What caches of 2 KiB and 512 bytes hold of it in the end.
    assert!((256..=320).contains(&moves.len()), "{} moves", moves.len());
    let lines = (1 << 20) / 8..(2 << 20) / 8;
    assert!(moves.iter().all(|m| m.from == Place::Home && m.to != Place::Home && lines.contains(&m.grain)));
}
