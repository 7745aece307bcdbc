//! Accesses by element and slice are what brute force counts: for any array, distribution, core and window.

use crate::support::timeline::Chopped;
use orrery::reference::{Kind, MemoryTrace, Reference, Region, Tables};
use orrery::sim::Hierarchy;
use orrery::sim::config::preset;
use orrery::timeline::grid::{Deal, Owners};
use orrery::timeline::{Distribution, Grid, GridCounts, GridError, GridKind, GridOf, Options, Timeline};
use orrery::trace::synth::Rng;
use std::sync::Arc;

const CORES: u64 = 4;
const BASE: u64 = 0x1000;

/// An array of one to four dimensions, in either order or with strides, and a neighbour behind it.
fn regions(rng: &mut Rng) -> Vec<Region> {
    let shape: Vec<u64> = (0..1 + rng.below(4)).map(|_| 1 + rng.below(4)).collect();
    let elem_bytes = [1u32, 4, 8][usize::try_from(rng.below(3)).expect("small")];
    let elements: u64 = shape.iter().product();
    let mut region = Region { elem_bytes, shape, ..Region::new("A", BASE, elements * u64::from(elem_bytes)) };
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
            region.strides = strides;
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
    let shape = if region.shape.is_empty() { vec![region.elements()] } else { region.shape.clone() };
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
            if !counted || indices[..grid.fixed].iter().any(|index| *index > 0) {
                continue;
            }
            let block = indices[grid.fixed..].iter().zip(&grid.blocks).zip(&grid.per);
            let block =
                block.fold(0, |n, ((index, blocks), per)| n * blocks + usize::try_from(index / per).expect("small"));
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
    counts
}

#[test]
fn any_window_of_any_distribution_is_what_brute_force_counts() {
    let mut rng = Rng::new(1994);
    let mut sum = 0;
    for _ in 0..400 {
        let regions = regions(&mut rng);
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
        };
        let grid = Grid::count(&timeline, of.clone(), &|| true).expect("can be counted");
        let elements: u64 =
            if regions[0].shape.is_empty() { regions[0].elements() } else { regions[0].shape.iter().product() };
        let left_out: u64 = regions[0].shape.iter().take(grid.fixed).product();
        assert_eq!(grid.len() as u64 * left_out, elements, "each element by itself");
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
        }
    }
    assert!(sum > 10_000, "{sum} accesses were compared");
}

#[test]
fn blocks_of_a_large_array_add_up_to_what_their_elements_have() {
    let mut rng = Rng::new(7);
    let region = Region { shape: vec![1024, 1025], ..Region::new("A", BASE, 1024 * 1025 * 8) };
    let any = |rng: &mut Rng| Reference {
        core: u16::try_from(rng.below(CORES)).expect("small"),
        ..Reference::new(Kind::Read, BASE + 8 * rng.below(1024 * 1025), 8)
    };
    let all: Vec<Reference> = (0..20_000).map(|_| any(&mut rng)).collect();
    let timeline = timeline(all.clone(), std::slice::from_ref(&region), 5000);
    let cyclic = Distribution::Dealt(vec![Deal::Cyclic(1)]);
    let of =
        GridOf { region: 0, references: 0..20_000, slices: 8, owner: cyclic, core: None, kind: None, by_core: false };
    let grid = Grid::count(&timeline, of.clone(), &|| true).expect("can be counted");
    assert!(grid.len() * 9 <= 1 << 20 && grid.elements_a_block() > 1, "{:?} of {:?}", grid.blocks, grid.per);
    let expect = brute(&timeline, &all, &of, 0..20_000, &grid);
    let found: Vec<GridCounts> = (0..grid.len()).map(|block| grid.counts(block, 0..8)).collect();
    assert_eq!(found, expect);
    let [first, last] = grid.elements(grid.len() - 1);
    assert_eq!(last, [1023, 1024]);
    assert!(first[0] <= 1023 && first[1] <= 1024);
    for block in [0, 1, grid.blocks[1], grid.len() - 1] {
        let [first, _] = grid.elements(block);
        assert_eq!(grid.first_element(block) as u64, first[0] * 1025 + first[1], "block {block}");
    }
}

#[test]
fn what_cannot_be_counted_is_told_with_what_is_needed() {
    let region = Region { shape: vec![4, 4], ..Region::new("A", BASE, 128) };
    let huge = Region { elem_bytes: 1, ..Region::new("huge", 1 << 40, 1 << 30) };
    let regions = [region, huge];
    let timeline = timeline(vec![Reference::new(Kind::Read, BASE, 8)], &regions, 10);
    let of = |region: usize, words: &str| GridOf {
        region,
        references: 0..1,
        slices: 1,
        owner: words.parse().expect("a distribution"),
        core: None,
        kind: None,
        by_core: false,
    };
    let count = |of: GridOf| Grid::count(&timeline, of, &|| true);
    assert_eq!(count(of(9, "block")).err(), Some(GridError::NoArray));
    let error = count(of(0, "block,block,block")).expect_err("too many").to_string();
    assert_eq!(error, "A: found a distribution of 3 dimensions; expected one of 2 or fewer");
    let error = count(of(1, "block")).expect_err("too large").to_string();
    assert!(error.contains("1073741824 elements") && error.contains("or fewer"), "{error}");
    let stopped = Grid::count(&timeline, of(0, "cyclic"), &|| false);
    assert_eq!(stopped.err(), Some(GridError::Stopped));
    // Nothing in a window, a window the wrong way round, a block that there is not: nothing is counted.
    let grid = count(of(0, "cyclic")).expect("can be counted");
    for (block, window) in [(0, 1..1), (0, 7..9), (99, 0..1)] {
        assert_eq!(grid.counts(block, window), GridCounts::default());
    }
}
