//! Who served which part of memory, in any part of the trace, is what playing it says: one by one, in batches, and in shards.

use crate::support::random::machines::hierarchy;
use crate::support::random::traces::named;
use crate::support::regions::span;
use crate::support::timeline::{Chopped, Memory};
use orrery::reference::{Kind, MemoryTrace, Reference, ReferenceSource, Region, RegionMap, Tables};
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

/// Counts must be those of playing: each reference in one block, which lies in the region that lives there when it runs.
fn check(found: &[ServedBlock], trace: (&[Reference], &RegionMap), servers: &[Option<usize>], part: &Range<u64>) {
    let (references, named) = trace;
    let mut sums: BTreeMap<(Option<u32>, u64), [u64; SERVERS]> = BTreeMap::new();
    for tick in part.clone() {
        let at = usize::try_from(tick).expect("small");
        let Some(server) = servers[at] else { continue };
        let addr = references[at].addr;
        let region = named.find(addr, tick).map(|region| u32::try_from(region).expect("few"));
        let holds = |block: &&ServedBlock| block.named == region && addr.wrapping_sub(block.addr) < block.bytes;
        let blocks: Vec<&ServedBlock> = found.iter().filter(holds).collect();
        assert_eq!(blocks.len(), 1, "{addr:x} of {region:?} at {tick}: {blocks:?}");
        sums.entry(blocks[0].place()).or_default()[server] += 1;
    }
    let found: BTreeMap<_, _> = found.iter().map(|block| (block.place(), block.by)).collect();
    assert_eq!(found, sums, "{part:?}");
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
        let named = RegionMap::new(&some.tables().regions);
        let trace = (&references[..], &named);
        let asked = (0..12).map(|_| part(&mut rng, len)).chain([0..len, len..len, 0..0]);
        for asked in asked.collect::<Vec<_>>() {
            let (found, exactly) = timeline.served().over(asked.clone(), len);
            assert!(exactly.start <= asked.start && exactly.end >= asked.end, "{exactly:?} of {asked:?}");
            check(&found, trace, &servers, &exactly);
            outside += u64::from(exactly.end - exactly.start < len);
        }
        // One by one where the log reaches.
        let mut cursor = Cursor::new(Arc::clone(&timeline)).expect("in memory");
        for _ in 0..4 {
            let tick = rng.below(len + 1);
            let from = tick.saturating_sub(rng.below(500));
            let moment = cursor.seek(tick, tick - from).expect("in memory");
            check(&moment.served_since(from), trace, &servers, &(from..tick));
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
    let (found, exactly) = served.over(60_000..130_000, len);
    // 64 MiB, which no region names, in some hundreds of blocks.
    assert!(found.iter().all(|block| block.named.is_none() && (1 << 17..=1 << 19).contains(&block.bytes)));
    let named = RegionMap::new(&[]);
    check(&found, (&references, &named), &servers, &exactly);
    assert!(exactly.start > 55_000 && exactly.end < 135_000, "{exactly:?}");
    let shelf = Memory::new(1 << 30);
    let directory = timeline.store(shelf.as_ref()).expect("there is room");
    let shelf: Arc<dyn orrery::timeline::Shelf> = shelf;
    let again = Timeline::restore(source, hierarchy, options, &shelf, &directory).expect("whole");
    assert_eq!(again.served().over(60_000..130_000, len), (found, exactly));
    check(&again.served().over(0..len, len).0, (&references, &named), &servers, &(0..len));
}

/// 40,000 references to an array that is freed, as many to one that gets its memory, and 10 to a small one beside.
fn freed() -> MemoryTrace {
    let region = |name: &str, base, bytes, lifetime| Region { lifetime, ..span(name, base, bytes) };
    let regions = vec![
        region("first", 0x10_0000, 1 << 16, Some((0, 40_000))),
        region("second", 0x10_0000, 1 << 16, Some((40_000, 90_000))),
        region("small", 0x10_0000 - 256, 256, None),
    ];
    let at = |n: u64| match n {
        80_000.. => 0x10_0000 - 8,
        _ => 0x10_0000 + n * 72 % (1 << 16) / 8 * 8,
    };
    let references = (0..80_010).map(|n| Reference::new(Kind::Read, at(n), 8)).collect();
    MemoryTrace::new(references, Tables { regions, ..Tables::default() })
}

#[test]
fn a_freed_block_keeps_its_counts_and_a_neighbour_gets_none() {
    for outcomes_up_to in [0, u64::MAX] {
        let hierarchy = Hierarchy::new(&preset("textbook").expect("a preset")).expect("sound");
        let options = Options { outcomes_up_to, ..Options::default() };
        let timeline = Timeline::build(Arc::new(freed()), hierarchy, options, &mut |_, _| true).expect("in memory");
        let regions = timeline.source().tables().regions.clone();
        let number = |name: &str| regions.iter().position(|region| region.name == name).expect("one of them");
        let [first, second, small] = ["first", "second", "small"].map(number);
        let sums = |references: Range<u64>| {
            let (found, exactly) = timeline.served().over(references, timeline.len());
            let mut sums = [0; 3];
            found.iter().for_each(|block| sums[block.named.expect("all is named") as usize] += block.sum());
            ([sums[first], sums[second], sums[small]], exactly)
        };
        assert_eq!(sums(0..80_010), ([40_000, 40_000, 10], 0..80_010));
        let (found, exactly) = sums(20_000..60_000);
        assert_eq!(found, [40_000 - exactly.start, exactly.end - 40_000, 0]);
        // The small array has parts of its own, however large its neighbours are.
        let (found, _) = timeline.served().over(0..80_010, 80_010);
        let small: Vec<ServedBlock> =
            found.into_iter().filter(|block| block.named.map(|n| n as usize) == Some(small)).collect();
        assert!(small.len() == 1 && small[0].bytes <= 256 && small[0].addr >= 0x10_0000 - 256, "{small:?}");
    }
}

#[test]
fn thousands_of_regions_are_counted_within_bounds() {
    // Each is used once, is freed, and its memory is used again.
    let region =
        |n: u64| Region { lifetime: Some((10 * n, 10 * n + 10)), ..span(&format!("r{n}"), 0x1000 * (1 + n % 7), 512) };
    let regions: Vec<Region> = (0..8000).map(region).collect();
    let at = |n: u64| 0x1000 * (1 + n / 10 % 7) + n % 10 * 48;
    let references: Vec<Reference> = (0..80_000).map(|n| Reference::new(Kind::Read, at(n), 8)).collect();
    let trace = MemoryTrace::new(references, Tables { regions, ..Tables::default() });
    let hierarchy = Hierarchy::new(&preset("textbook").expect("a preset")).expect("sound");
    let options = Options { outcomes_up_to: 0, ..Options::default() };
    let timeline = Timeline::build(Arc::new(trace), hierarchy, options, &mut |_, _| true).expect("in memory");
    let (found, exactly) = timeline.served().over(30_000..50_000, 80_000);
    let regions = &timeline.source().tables().regions;
    for block in &found {
        let (born, died) = regions[block.named.expect("all is named") as usize].lifetime.expect("all are freed");
        assert!(died > exactly.start && born < exactly.end, "{born} to {died}, not in {exactly:?}");
    }
    assert_eq!(found.iter().map(ServedBlock::sum).sum::<u64>(), exactly.end - exactly.start);
    assert!(timeline.served().bytes() < 8 << 20, "{}", timeline.served().bytes());
}
