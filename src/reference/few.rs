//! As many regions as a picture can hold: past that, neighbours are one.

use super::Region;

/// Regions of a picture, at most: an arc each, of which no more can be told apart.
pub const MOST_REGIONS: usize = 8192;

/// The regions where they are [`MOST_REGIONS`] at most, else as many or fewer, each of neighbours: those with the widest gaps
/// between them stay apart, and long runs are parted evenly. Every byte of a region is in one of them.
#[must_use]
pub fn few_regions(regions: &[Region]) -> Vec<Region> {
    joined_to(regions, MOST_REGIONS)
}

fn joined_to(regions: &[Region], most: usize) -> Vec<Region> {
    if regions.len() <= most {
        return regions.to_vec();
    }
    let mut order: Vec<&Region> = regions.iter().collect();
    order.sort_by_key(|r| (r.base, r.bytes));
    // The gap before each but the first.
    let mut end = 0u64;
    let mut gaps: Vec<(u64, usize)> = Vec::with_capacity(order.len());
    for (n, r) in order.iter().enumerate() {
        gaps.push((r.base.saturating_sub(end), n));
        end = end.max(last(r).saturating_add(1));
    }
    // A third of the parts for gaps; runs between them in parts of at most `run`, of which there is one more for each gap.
    let cuts = most / 3;
    let mut wide: Vec<usize> = {
        let mut gaps = gaps.split_off(1);
        gaps.retain(|(gap, _)| *gap > 0);
        gaps.sort_unstable_by_key(|&(gap, n)| (std::cmp::Reverse(gap), n));
        gaps.into_iter().take(cuts).map(|(_, n)| n).collect()
    };
    wide.sort_unstable();
    let run = order.len().div_ceil((most - cuts - 1).max(1)).max(1);
    let mut out = Vec::with_capacity(most);
    let mut from = 0;
    for to in wide.into_iter().chain([order.len()]) {
        out.extend(order[from..to].chunks(run).map(join));
        from = to;
    }
    out
}

fn last(r: &Region) -> u64 {
    r.base.saturating_add(r.bytes.saturating_sub(1))
}

fn join(parts: &[&Region]) -> Region {
    let (Some(first), Some(end)) = (parts.first(), parts.iter().map(|r| last(r)).max()) else {
        unreachable!("a run has one region or more")
    };
    if let [only] = parts {
        return (*only).clone();
    }
    let lives = parts.iter().map(|r| r.lifetime).reduce(|a, b| a.zip(b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))));
    let name = format!("{}..{} ({} regions)", first.name, parts[parts.len() - 1].name, parts.len());
    Region {
        elem_bytes: parts.iter().map(|r| r.elem_bytes).min().unwrap_or(1),
        lifetime: lives.flatten(),
        ..Region::new(name, first.base, (end - first.base).saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(n: u64, base: u64, bytes: u64) -> Region {
        Region { shape: vec![bytes / 8].into(), ..Region::new(format!("r{n}"), base, bytes) }
    }

    #[test]
    fn few_regions_stay_as_they_are() {
        let few: Vec<Region> = (0..50).map(|n| region(n, n * 64, 64)).collect();
        assert_eq!(joined_to(&few, 50), few);
    }

    #[test]
    fn many_are_joined_and_no_byte_is_lost() {
        let dense = |n: u64| n * 64;
        let sparse = |n: u64| n * 4096 + if n.is_multiple_of(100) { 64 } else { 0 };
        let far = |n: u64| if n < 500 { n * 64 } else { (1 << 46) + n * 64 };
        let same = |_: u64| 1 << 20;
        for (places, count) in
            [(&dense as &dyn Fn(u64) -> u64, 1000), (&sparse, 1000), (&far, 1000), (&same, 333), (&dense, 51)]
        {
            let all: Vec<Region> = (0..count).map(|n| region(n, places(n), 64)).collect();
            let few = joined_to(&all, 50);
            assert!((2..=50).contains(&few.len()) || places(0) == places(1), "{} regions", few.len());
            for r in &all {
                let holds = few.iter().any(|j| j.base <= r.base && last(r) <= last(j));
                assert!(holds, "{} at {:x}", r.name, r.base);
            }
            // Nothing spans the wide gap.
            assert!(few.iter().all(|r| r.bytes < 1 << 40));
        }
        let all: Vec<Region> = (0..100).map(|n| region(n, n * 64, 64)).collect();
        assert_eq!(joined_to(&all, 50)[0].name, "r0..r3 (4 regions)");
    }

    #[test]
    fn a_joined_region_lives_as_long_as_any_of_its_parts() {
        let mut all: Vec<Region> = (0..60).map(|n| region(n, n * 64, 64)).collect();
        all.iter_mut().zip(0u64..).for_each(|(r, n)| r.lifetime = Some((n, 100 + n)));
        let few = joined_to(&all, 30);
        assert_eq!(few[0].lifetime, Some((0, 103)));
        all[0].lifetime = None;
        assert_eq!(joined_to(&all, 30)[0].lifetime, None);
    }
}
