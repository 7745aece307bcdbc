//! Who served which part of memory, in any part of the trace, is what playing it says: one by one, in batches, and in shards.

use crate::support::random::machines::hierarchy;
use crate::support::random::traces::named;
use crate::support::timeline::{Chopped, Memory};
use orrery::reference::{Kind, MemoryTrace, Reference, ReferenceSource};
use orrery::sim::config::preset;
use orrery::sim::{Event, Hierarchy};
use orrery::timeline::served::SERVERS;
use orrery::timeline::{Cursor, Options, ServedBlock, Timeline};
use orrery::trace::synth::{Rng, mix};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The outermost level that each reference asks or, where that has not all of it, memory: told by its number.
fn servers(references: &[Reference], hierarchy: &Hierarchy) -> Vec<Option<usize>> {
    let (levels, mut state) = (hierarchy.levels(), hierarchy.clone());
    let server = |reference: &Reference| {
        let mut events: Vec<Event> = Vec::new();
        state.access(reference, &mut events);
        let mut outermost: Option<(usize, bool)> = None;
        for event in events {
            let Event::Access { level, kind, hit, .. } = event else { continue };
            if !kind.is_demand() {
                continue;
            }
            let level = level.index();
            outermost = match outermost {
                Some((other, hits)) if other == level => Some((level, hits && hit)),
                Some((other, hits)) if other > level => Some((other, hits)),
                _ => Some((level, hit)),
            };
        }
        // What is left out is served by nobody.
        let plays = !hierarchy.config().data_only || reference.kind != Kind::Fetch;
        plays.then(|| outermost.filter(|(_, hits)| *hits).map_or(levels, |(level, _)| level))
    };
    references.iter().map(server).collect()
}

fn counted(references: &[Reference], servers: &[Option<usize>], part: &Range<u64>, bytes: u64) -> Vec<ServedBlock> {
    let mut sums: BTreeMap<u64, [u64; SERVERS]> = BTreeMap::new();
    let part = usize::try_from(part.start).expect("small")..usize::try_from(part.end).expect("small");
    for (reference, server) in references[part.clone()].iter().zip(&servers[part]) {
        if let Some(server) = server {
            sums.entry(reference.addr / bytes).or_default()[*server] += 1;
        }
    }
    sums.into_iter().map(|(block, by)| ServedBlock { addr: block * bytes, bytes, by }).collect()
}

fn part(rng: &mut Rng, len: u64) -> Range<u64> {
    let (a, b) = (rng.below(len + 1), rng.below(len + 1));
    a.min(b)..a.max(b)
}

#[test]
fn blocks_are_served_as_playing_says() {
    let mut rng = Rng::new(41);
    let mut outside = 0;
    for case in 0..60 {
        let hierarchy = hierarchy(&mut rng);
        let some = named(&mut rng);
        // Long enough for some borders.
        let copies = usize::try_from(7_000 / some.len().max(1)).expect("small") + 1;
        let cores = u64::from(hierarchy.config().cores);
        let on_cores = |r: &Reference| Reference { core: u16::try_from(rng.below(cores)).expect("few"), ..*r };
        let references: Vec<Reference> = some.references().repeat(copies).iter().map(on_cores).collect();
        let all = MemoryTrace::new(references.clone(), some.tables().clone());
        let options = Options {
            outcomes_up_to: if case % 2 == 0 { u64::MAX } else { 0 },
            shards: 1 + case % 3,
            ..Options::default()
        };
        let source = Arc::new(Chopped { trace: all, chunk: 1 + rng.below(3000) });
        let timeline = Timeline::build(source, hierarchy.clone(), options, &mut |_, _| true).expect("in memory");
        let timeline = Arc::new(timeline);
        let (servers, len) = (servers(&references, &hierarchy), timeline.len());
        let bytes = timeline.served().block_bytes();
        let asked = (0..12).map(|_| part(&mut rng, len)).chain([0..len, len..len, 0..0]);
        for asked in asked.collect::<Vec<_>>() {
            let (found, exactly) = timeline.served().over(asked.clone(), len);
            assert!(exactly.start <= asked.start && exactly.end >= asked.end, "{exactly:?} of {asked:?}");
            assert_eq!(found, counted(&references, &servers, &exactly, bytes), "case {case}: {exactly:?}");
            outside += u64::from(exactly.end - exactly.start < len);
        }
        // One by one where the log reaches.
        let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("in memory");
        for _ in 0..4 {
            let tick = rng.below(len + 1);
            let from = tick.saturating_sub(rng.below(500));
            let moment = cursor.seek(tick, tick - from).expect("in memory");
            assert_eq!(moment.served_since(from), counted(&references, &servers, &(from..tick), bytes), "case {case}");
        }
    }
    assert!(outside > 200, "{outside} parts of a trace");
}

#[test]
fn blocks_grow_with_memory_and_lose_nothing_on_the_way_to_a_file() {
    let references: Vec<Reference> = mix(200_000, 9).collect();
    let hierarchy = Hierarchy::new(&preset("textbook").expect("a preset")).expect("sound");
    let source: Arc<dyn ReferenceSource> = Arc::new(MemoryTrace::new(references.clone(), Default::default()));
    let options = Options { outcomes_up_to: 0, ..Options::default() };
    let timeline =
        Timeline::build(Arc::clone(&source), hierarchy.clone(), options, &mut |_, _| true).expect("in memory");
    let (servers, len) = (servers(&references, &hierarchy), timeline.len());
    let served = timeline.served();
    // 64 MiB in some hundreds of blocks.
    assert!((1 << 17..=1 << 19).contains(&served.block_bytes()), "{}", served.block_bytes());
    let (found, exactly) = served.over(60_000..130_000, len);
    assert_eq!(found, counted(&references, &servers, &exactly, served.block_bytes()));
    assert!(exactly.start > 55_000 && exactly.end < 135_000, "{exactly:?}");
    let shelf = Memory::new(1 << 30);
    let directory = timeline.store(shelf.as_ref()).expect("there is room");
    let shelf: Arc<dyn orrery::timeline::Shelf> = shelf;
    let again = Timeline::restore(source, hierarchy, options, &shelf, &directory).expect("whole");
    assert_eq!(again.served().over(60_000..130_000, len), (found, exactly));
    assert_eq!(again.served().over(0..len, len).0, counted(&references, &servers, &(0..len), served.block_bytes()));
}
