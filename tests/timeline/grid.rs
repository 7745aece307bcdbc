//! Accesses by element and slice are what brute force counts: for any array, distribution, core and window.

use crate::support::timeline::Chopped;
use orrery::reference::{Kind, MemoryTrace, Reference, Region, Tables};
use orrery::sim::Hierarchy;
use orrery::sim::config::{Ways, preset};
use orrery::sim::event::{Cause, Event};
use orrery::timeline::grid::{Deal, Indices, Owners};
use orrery::timeline::{
    Aggregate, Distribution, Grid, GridCounts, GridError, GridKind, GridOf, GridPart, Options, Timeline,
};
use orrery::trace::synth::Rng;
use std::sync::Arc;

const CORES: u64 = 4;
const BASE: u64 = 0x1000;

/// An array of one to four dimensions, in either order or with strides, and a neighbour behind it.
fn regions(rng: &mut Rng) -> Vec<Region> {
    let shape: Vec<u64> = (0..1 + rng.below(4)).map(|_| 1 + rng.below(4)).collect();
    let elem_bytes = [1u32, 4, 8][usize::try_from(rng.below(3)).expect("small")];
    let elements: u64 = shape.iter().product();
    let mut region =
        Region { elem_bytes, shape: shape.into(), ..Region::new("A", BASE, elements * u64::from(elem_bytes)) };
    match rng.below(4) {
        0 => region.row_major = false,
        1 => {
            // Each row with an element of padding.
            let mut step = 1i64;
            let mut strides: Vec<i64> = Vec::new();
            for (n, extent) in region.shape.iter().enumerate().rev() {
                strides.push(step);
                let padding = i64::from(n + 1 == region.shape.len());
                step *= i64::try_from(*extent).expect("small") + padding;
            }
            strides.reverse();
            region.bytes = u64::try_from(step).expect("more than 0") * u64::from(elem_bytes);
            region.strides = strides.into();
        }
        2 if region.shape.len() == 1 => region.shape.clear(),
        _ => {}
    }
    let next = Region::new("B", region.end(), 32);
    vec![region, next]
}

fn trace(rng: &mut Rng, regions: &[Region]) -> Vec<Reference> {
    let bytes = regions[0].bytes + 40;
    let any = |rng: &mut Rng| {
        let kind = [Kind::Read, Kind::Write, Kind::Modify][usize::try_from(rng.below(3)).expect("small")];
        let size = u32::try_from(1 + rng.below(12)).expect("small");
        let core = u16::try_from(rng.below(CORES)).expect("small");
        Reference { core, ..Reference::new(kind, BASE - 4 + rng.below(bytes), size) }
    };
    let mut all: Vec<Reference> = (0..1 + rng.below(300)).map(|_| any(rng)).collect();
    // So that there are as many cores as are expected.
    all[0].core = u16::try_from(CORES - 1).expect("small");
    all
}

/// A region's number: memory that no region names has some too.
fn number(timeline: &Timeline, name: &str) -> usize {
    timeline.tables().regions.iter().position(|region| region.name == name).expect("it is there")
}

fn distribution(rng: &mut Rng, dimensions: usize) -> Distribution {
    let deal = |rng: &mut Rng| match rng.below(4) {
        0 => Deal::Block,
        1 => Deal::Cyclic(1),
        2 => Deal::Cyclic(1 + rng.below(3)),
        _ => Deal::Whole,
    };
    let deals = 1 + usize::try_from(rng.below(dimensions as u64)).expect("small");
    if rng.below(3) == 0 {
        Distribution::FirstTouch
    } else {
        Distribution::Dealt((0..deals).map(|_| deal(rng)).collect())
    }
}

fn timeline(references: Vec<Reference>, regions: &[Region], chunk: u64) -> Timeline {
    let trace = MemoryTrace::new(references, Tables { regions: regions.to_vec(), ..Tables::default() });
    let mut config = preset("paper").expect("shipped");
    config.cores = u16::try_from(CORES).expect("small");
    // Two lines, so that some give way.
    (config.levels[0].size, config.levels[0].ways) = (64, Ways::Count(2));
    let hierarchy = Hierarchy::new(&config).expect("sound");
    Timeline::build(Arc::new(Chopped { trace, chunk }), hierarchy, Options::default(), &mut |_, _| true)
        .expect("in memory")
}

/// What each element of the counted dimensions gets, one byte at a time.
fn brute(
    timeline: &Timeline,
    all: &[Reference],
    of: &GridOf,
    ticks: std::ops::Range<u64>,
    grid: &Grid,
) -> Vec<GridCounts> {
    let region = &timeline.tables().regions[of.region];
    let layout = region.layout().expect("sound");
    let elem = u64::from(region.elem_bytes);
    let shape = if region.shape.is_empty() { vec![region.elements()] } else { region.shape.to_vec() };
    let owners = match &of.owner {
        Distribution::FirstTouch => None,
        Distribution::Dealt(deals) => Some(Owners::new(&shape, deals, CORES)),
    };
    // By element: who wrote it first, else who read it first.
    let touches = |writes: bool, addr: u64| {
        let own = |r: &&Reference| {
            let is_in = (region.base..region.end()).contains(&r.addr);
            is_in && r.addr < addr + elem && r.addr + u64::from(r.size) > addr && (!writes || r.kind != Kind::Read)
        };
        all.iter().find(own).map(|r| u64::from(r.core))
    };
    let mut counts = vec![GridCounts::default(); grid.len()];
    for (tick, reference) in (0u64..).zip(all) {
        if reference.addr < region.base || reference.addr >= region.end() {
            continue;
        }
        let missed = timeline.outcomes().and_then(|all| all.get(tick)).is_some_and(|outcome| outcome.missed());
        let bytes = reference.addr..(reference.addr + u64::from(reference.size)).min(region.end());
        let mut slots: Vec<u64> = bytes.clone().map(|addr| (addr - region.base) / elem).collect();
        slots.dedup();
        for slot in slots {
            let addr = region.base + slot * elem;
            let Some(indices) = layout.indices(addr) else { continue };
            let first = || touches(true, addr).or_else(|| touches(false, addr)).expect("it is touched");
            let owner = owners.as_ref().map_or_else(first, |owners| owners.of(&indices));
            let counted = ticks.contains(&tick) && of.core.is_none_or(|core| core == reference.core);
            let Some(block) = block_of(&of.part, &shape, &indices, grid).filter(|_| counted) else { continue };
            let c = &mut counts[block];
            let local = owner == u64::from(reference.core);
            let own = bytes.clone().filter(|at| (addr..addr + elem).contains(at)).count() as u64;
            let reads = reference.kind != Kind::Write && of.kind != Some(GridKind::Writes);
            let writes = reference.kind != Kind::Read && of.kind != Some(GridKind::Reads);
            c.misses += u64::from(missed && (reads || writes));
            if reads {
                *(if local { &mut c.local_reads } else { &mut c.remote_reads }) += 1;
                c.bytes += own;
            }
            if writes {
                *(if local { &mut c.local_writes } else { &mut c.remote_writes }) += 1;
                c.bytes += own;
            }
        }
    }
    if of.moves {
        let mut state = Hierarchy::clone(timeline.start());
        for (tick, reference) in (0u64..).zip(all) {
            let mut events = Vec::new();
            state.access(reference, &mut events);
            let gone = events.iter().filter_map(|event| match event {
                Event::Evict { cache, line, .. } => Some((*cache, *line, true)),
                Event::Invalidate { cache, line, cause, .. } if *cause != Cause::Promotion => {
                    Some((*cache, *line, false))
                }
                _ => None,
            });
            for (cache, line, evicted) in gone {
                let info = state.info(cache);
                let core = info.core.unwrap_or(reference.core);
                if info.depth > 0 || !ticks.contains(&tick) || of.core.is_some_and(|only| only != core) {
                    continue;
                }
                let bytes = timeline.config().levels[info.level.index()].line;
                let line = line.base(bytes).0..line.base(bytes).0 + u64::from(bytes);
                for slot in 0..region.bytes / elem {
                    let own = region.base + slot * elem;
                    if own >= line.end || own + elem <= line.start {
                        continue;
                    }
                    let Some(indices) = layout.indices(own) else { continue };
                    let Some(block) = block_of(&of.part, &shape, &indices, grid) else { continue };
                    *(if evicted { &mut counts[block].evictions } else { &mut counts[block].invalidations }) += 1;
                }
            }
        }
    }
    counts
}

/// The block of an element, where the part has it.
fn block_of(part: &GridPart, shape: &[u64], indices: &[u64], grid: &Grid) -> Option<usize> {
    let of = |n: usize| part.0.get(n).copied().unwrap_or_default();
    let mut along: Vec<usize> = (0..shape.len()).filter(|n| !matches!(of(*n), Indices::One(_))).collect();
    if along.is_empty() {
        along.push(shape.len() - 1);
    }
    let left_out = along.len().saturating_sub(3);
    let mut block = 0;
    for n in 0..shape.len() {
        let range = match of(n) {
            Indices::All => 0..shape[n],
            Indices::One(index) => index..index + 1,
            Indices::Some(from, to) => from..to,
        };
        let rank = along.iter().position(|other| *other == n);
        let is_in =
            range.contains(&indices[n]) && (rank.is_none_or(|rank| rank >= left_out) || indices[n] == range.start);
        if !is_in {
            return None;
        }
        if let Some(rank) = rank.and_then(|rank| rank.checked_sub(left_out)) {
            let at = usize::try_from((indices[n] - range.start) / grid.per[rank]).expect("small");
            block = block * grid.blocks[rank] + at;
        }
    }
    Some(block)
}

fn part(rng: &mut Rng, shape: &[u64]) -> GridPart {
    let dimensions = usize::try_from(rng.below(shape.len() as u64 + 1)).expect("small");
    let indices = |extent: u64, rng: &mut Rng| match rng.below(3) {
        0 => Indices::All,
        1 => Indices::One(rng.below(extent)),
        _ => {
            let from = rng.below(extent);
            Indices::Some(from, from + 1 + rng.below(extent - from))
        }
    };
    GridPart(shape[..dimensions].iter().map(|extent| indices(*extent, rng)).collect())
}

#[test]
fn any_window_of_any_distribution_is_what_brute_force_counts() {
    let mut rng = Rng::new(1994);
    let (mut sum, mut moves) = (0, [0u64; 2]);
    for _ in 0..400 {
        let regions = regions(&mut rng);
        let shape = if regions[0].shape.is_empty() { vec![regions[0].elements()] } else { regions[0].shape.to_vec() };
        let all = trace(&mut rng, &regions);
        let timeline = timeline(all.clone(), &regions, 1 + rng.below(70));
        let len = all.len() as u64;
        let from = rng.below(len);
        let of = GridOf {
            region: number(&timeline, "A"),
            references: from..from + 1 + rng.below(len - from),
            slices: u32::try_from(1 + rng.below(40)).expect("small"),
            owner: distribution(&mut rng, regions[0].shape.len().max(1)),
            core: (rng.below(3) == 0).then(|| u16::try_from(rng.below(CORES)).expect("small")),
            kind: [None, None, Some(GridKind::Reads), Some(GridKind::Writes)]
                [usize::try_from(rng.below(4)).expect("small")],
            by_core: rng.below(3) == 0,
            part: if rng.below(2) == 0 { GridPart::ALL } else { part(&mut rng, &shape) },
            moves: rng.below(2) == 0,
            spread: false,
        };
        let grid = Grid::count(&timeline, of.clone(), &|| true).expect("can be counted");
        let elements: u64 = shape.iter().product();
        let left_out: u64 =
            grid.fixed.iter().zip(&shape).filter(|(fixed, _)| fixed.is_some()).map(|(_, extent)| extent).product();
        assert!(of.part != GridPart::ALL || grid.len() as u64 * left_out == elements, "each element by itself");
        for _ in 0..6 {
            let (a, b) = (rng.below(grid.slices() as u64 + 1), rng.below(grid.slices() as u64 + 1));
            let window = usize::try_from(a.min(b)).expect("small")..usize::try_from(a.max(b)).expect("small");
            let ticks = grid.begins(window.start)..grid.begins(window.end);
            let expect = brute(&timeline, &all, &of, ticks, &grid);
            let found: Vec<GridCounts> = (0..grid.len()).map(|block| grid.counts(block, window.clone())).collect();
            assert_eq!(found, expect, "{of:?} {window:?} {:?}", regions[0]);
            if of.by_core {
                // A core by itself is what is counted where only its accesses are.
                let core = u16::try_from(rng.below(CORES)).expect("small");
                let expect = match of.core {
                    Some(other) if other != core => vec![GridCounts::default(); grid.len()],
                    _ => brute(
                        &timeline,
                        &all,
                        &GridOf { core: Some(core), ..of.clone() },
                        grid.begins(window.start)..grid.begins(window.end),
                        &grid,
                    ),
                };
                let found: Vec<GridCounts> =
                    (0..grid.len()).map(|block| grid.counts_of(core.into(), block, window.clone())).collect();
                assert_eq!(found, expect, "core {core} of {of:?}");
            }
            sum += found.iter().map(GridCounts::accesses).sum::<u64>();
            let moved = |c: &GridCounts| [c.evictions, c.invalidations];
            found.iter().map(moved).for_each(|[evicted, invalid]| {
                moves[0] += evicted;
                moves[1] += invalid;
            });
        }
    }
    assert!(sum > 10_000, "{sum} accesses were compared");
    assert!(moves.iter().all(|n| *n > 500), "{moves:?} evictions and invalidations were compared");
}

#[test]
fn blocks_of_a_large_array_add_up_to_what_their_elements_have() {
    let mut rng = Rng::new(7);
    let region = Region { shape: vec![1024, 1025].into(), ..Region::new("A", BASE, 1024 * 1025 * 8) };
    let any = |rng: &mut Rng| Reference {
        core: u16::try_from(rng.below(CORES)).expect("small"),
        ..Reference::new(Kind::Read, BASE + 8 * rng.below(1024 * 1025), 8)
    };
    let all: Vec<Reference> = (0..20_000).map(|_| any(&mut rng)).collect();
    let timeline = timeline(all.clone(), std::slice::from_ref(&region), 5000);
    let cyclic = Distribution::Dealt(vec![Deal::Cyclic(1)]);
    let of = GridOf { owner: cyclic, spread: true, ..GridOf::new(0, 0..20_000, 8) };
    let grid = Grid::count(&timeline, of.clone(), &|| true).expect("can be counted");
    assert!(grid.len() * 9 <= 1 << 20 && grid.elements_a_block() > 1, "{:?} of {:?}", grid.blocks, grid.per);
    let expect = brute(&timeline, &all, &of, 0..20_000, &grid);
    let found: Vec<GridCounts> = (0..grid.len()).map(|block| grid.counts(block, 0..8)).collect();
    assert_eq!(found, expect);
    // The least, the mean and the most of each block, of each core and of a window.
    let window = 2..5;
    let by_core = Grid::count(&timeline, GridOf { by_core: true, ..of.clone() }, &|| true).expect("can be counted");
    for (core, grid) in [(None, &grid), (Some(2u16), &by_core)] {
        let mut reads = vec![0u64; 1024 * 1025];
        let ticks = grid.begins(window.start)..grid.begins(window.end);
        for (tick, reference) in (0u64..).zip(&all) {
            if ticks.contains(&tick) && core.is_none_or(|core| core == reference.core) {
                reads[usize::try_from((reference.addr - BASE) / 8).expect("small")] += 1;
            }
        }
        let mut of_block: Vec<Vec<u64>> = vec![Vec::new(); grid.len()];
        for (n, reads) in (0u64..).zip(&reads) {
            of_block[grid.block_of(&[n / 1025, n % 1025]).expect("it is counted")].push(*reads);
        }
        let mut seen = [0.0f64; 2];
        for how in [Aggregate::Sum, Aggregate::Min, Aggregate::Mean, Aggregate::Max] {
            let found = grid.aggregated(how, core.map(usize::from), &window, &|counts| counts.accesses() as f64);
            for (found, own) in found.iter().zip(&of_block) {
                let sum = own.iter().sum::<u64>() as f64;
                let expect = match how {
                    Aggregate::Sum => sum,
                    Aggregate::Mean => sum / own.len() as f64,
                    Aggregate::Min => own.iter().min().copied().unwrap_or(0) as f64,
                    Aggregate::Max => own.iter().max().copied().unwrap_or(0) as f64,
                };
                assert!((found - expect).abs() < 1e-9, "{how}: {found}, expected {expect}");
                seen[usize::from(how == Aggregate::Max)] += expect;
            }
        }
        assert!(seen[1] > 500.0 && seen[0] > seen[1], "{seen:?}");
    }
    let [first, last] = grid.elements(grid.len() - 1);
    assert_eq!(last, [1023, 1024]);
    assert!(first[0] <= 1023 && first[1] <= 1024);
    for block in [0, 1, grid.blocks[1], grid.len() - 1] {
        let [first, _] = grid.elements(block);
        assert_eq!(grid.first_element(block) as u64, first[0] * 1025 + first[1], "block {block}");
    }
}

/// Why nothing can be counted.
fn count_of(timeline: &Timeline, of: GridOf) -> String {
    Grid::count(timeline, of, &|| true).expect_err("it cannot be counted").to_string()
}

#[test]
fn what_cannot_be_counted_is_told_with_what_is_needed() {
    let region = Region { shape: vec![4, 4].into(), ..Region::new("A", BASE, 128) };
    let huge = Region { elem_bytes: 1, ..Region::new("huge", 1 << 40, 1 << 30) };
    let regions = [region, huge];
    let timeline = timeline(vec![Reference::new(Kind::Read, BASE, 8)], &regions, 10);
    let of = |region: usize, words: &str| GridOf {
        owner: words.parse().expect("a distribution"),
        ..GridOf::new(region, 0..1, 1)
    };
    let error = count_of(&timeline, GridOf { part: "*,4".parse().expect("a part"), ..of(0, "block") });
    assert_eq!(error, "A: found 4 in dimension 1 (from 0); expected indices below 4");
    let error = count_of(&timeline, GridOf { part: "*,*,0".parse().expect("a part"), ..of(0, "block") });
    assert_eq!(error, "A: found indices of 3 dimensions; expected those of 2 or fewer");
    let count = |of: GridOf| Grid::count(&timeline, of, &|| true);
    assert_eq!(count(of(9, "block")).err(), Some(GridError::NoArray));
    let error = count(of(0, "block,block,block")).expect_err("too many").to_string();
    assert_eq!(error, "A: found a distribution of 3 dimensions; expected one of 2 or fewer");
    let error = count(of(1, "block")).expect_err("too large").to_string();
    assert!(error.contains("1,073,741,824 elements") && error.contains("or fewer"), "{error}");
    // A part of it can be counted, wherever it lies.
    let part = GridOf { part: "1073741000..1073741824".parse().expect("a part"), ..of(1, "block") };
    assert_eq!(count(part).expect("few elements").len(), 824);
    let stopped = Grid::count(&timeline, of(0, "cyclic"), &|| false);
    assert_eq!(stopped.err(), Some(GridError::Stopped));
    // Nothing in a window, a window the wrong way round, a block that there is not: nothing is counted.
    let grid = count(of(0, "cyclic")).expect("can be counted");
    for (block, window) in [(0, 1..1), (0, 7..9), (99, 0..1)] {
        assert_eq!(grid.counts(block, window), GridCounts::default());
    }
}
