//! Which regions share an arc of memory's band.
//!
//! A region has an arc to itself where there is room. A program with thousands of blocks would leave less than a pixel for each.
//! Then blocks that one place of the program makes (`pPg #1`, `pPg #2`) are a *family* and share an arc, and the families for
//! which there is still no room share one more, which is the last.

use crate::reference::Region;
use crate::units::grouped;
use std::collections::BTreeMap;
use std::f32::consts::TAU;

/// An arc of memory's band.
#[derive(Clone, Debug, PartialEq)]
pub struct HomeArc {
    /// Angle where it starts, radians, clockwise from the right.
    pub theta0: f32,
    /// Angle that it spans, radians.
    pub span: f32,
    /// What stands there: `heads`, `pPg ×1,060`, `4,530 more`.
    pub name: String,
    /// The regions in it, side by side, in order.
    pub regions: Vec<usize>,
}

/// Arcs at most where some share one.
const MOST: usize = 64;

/// Gap between neighbours of so many arcs, radians.
pub(super) fn gap(arcs: usize) -> f32 {
    if arcs > 1 { (0.10f32).min(0.25 * TAU / arcs as f32) } else { 0.10 }
}

/// How wide each of some arcs is, radians: by the root of its items, so that a small array beside a large one stays visible.
pub(super) fn spans(items: &[f32]) -> Vec<f32> {
    let roots: Vec<f32> = items.iter().map(|n| n.sqrt()).collect();
    let total: f32 = roots.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    let room = TAU - gap(items.len()) * items.len().max(1) as f32;
    roots.iter().map(|root| room * root / total).collect()
}

/// The name of a region without what tells it from others that the same place of the program makes.
fn family(region: &Region) -> &str {
    let name = region.name.as_str();
    match name.rsplit_once(" #") {
        Some((family, number)) if number.bytes().all(|b| b.is_ascii_digit()) => family,
        _ => name,
    }
}

/// The bare name of a region.
fn bare(region: &Region) -> &str {
    region.name.split("..").next().unwrap_or_default()
}

/// What is to share an arc.
pub(super) struct Shared {
    pub(super) name: String,
    pub(super) regions: Vec<usize>,
    /// By which the arc gets its span: [`spans`].
    pub(super) items: f32,
}

/// What each arc is of, in order round the circle. No arc spans less than `least`, as far as that can be; 0 = each region has
/// its own.
pub(super) fn arcs(regions: &[Region], items: &[f32], least: f32) -> Vec<Shared> {
    let alone = |n: usize| Shared { name: bare(&regions[n]).to_owned(), regions: vec![n], items: items[n] };
    if spans(items).iter().all(|span| *span >= least) {
        return (0..regions.len()).map(alone).collect();
    }
    let mut families: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (n, region) in regions.iter().enumerate() {
        families.entry(family(region)).or_default().push(n);
    }
    let sum = |members: &[usize]| members.iter().map(|&n| items[n]).sum::<f32>();
    let mut all: Vec<(&str, Vec<usize>)> = families.into_iter().collect();
    all.sort_by(|(_, a), (_, b)| sum(b).total_cmp(&sum(a)).then(a.cmp(b)));
    let sums: Vec<f32> = all.iter().map(|(_, members)| sum(members)).collect();
    // As many of the largest as have room beside all others in one arc, which is no smaller than the smallest of them.
    let wide = |kept: usize| {
        let mut some = sums[..kept].to_vec();
        if kept < sums.len() {
            some.push(sums[kept..].iter().sum::<f32>().max(sums[kept - 1]));
        }
        spans(&some)[..kept].iter().all(|span| *span >= least)
    };
    let kept = (1..=all.len().min(MOST)).rev().find(|kept| wide(*kept)).unwrap_or(1);
    let mut rest: Vec<usize> = all.split_off(kept).into_iter().flat_map(|(_, members)| members).collect();
    rest.sort_unstable();
    all.sort_by_key(|(_, members)| members.first().copied());
    let named = |(name, members): (&str, Vec<usize>)| match members[..] {
        [only] => alone(only),
        _ => Shared {
            name: format!("{name} ×{}", grouped(members.len() as u64)),
            items: sum(&members),
            regions: members,
        },
    };
    let mut arcs: Vec<Shared> = all.into_iter().map(named).collect();
    match rest[..] {
        [] => {}
        [only] => arcs.push(alone(only)),
        _ => {
            let name = format!("{} more", grouped(rest.len() as u64));
            arcs.push(Shared { name, items: sum(&rest).max(sums[kept - 1]), regions: rest });
        }
    }
    arcs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[String]) -> Vec<Region> {
        names.iter().map(|name| Region::new(name, 0, 64)).collect()
    }

    #[test]
    fn a_few_regions_have_an_arc_each() {
        let regions = named(&["a".into(), "b #1".into(), "b #2".into()]);
        let found = arcs(&regions, &[100.0, 50.0, 50.0], 0.03);
        assert_eq!(found.iter().map(|arc| arc.name.as_str()).collect::<Vec<_>>(), ["a", "b #1", "b #2"]);
    }

    #[test]
    fn thousands_share_arcs_of_which_none_is_too_small() {
        let mut names: Vec<String> = (0..3000).map(|n| format!("page #{n}")).collect();
        names.extend((0..500).map(|n| format!("one{n}")));
        names.extend(["table".into(), "heap #x".into()]);
        let mut items = vec![64.0; names.len()];
        (items[3500], items[3501]) = (40_000.0, 20_000.0);
        let regions = named(&names);
        for least in [0.01, 0.03, 0.1] {
            let found = arcs(&regions, &items, least);
            let sums: Vec<f32> = found.iter().map(|arc| arc.items).collect();
            assert!(spans(&sums).iter().all(|span| *span >= least), "{least}");
            let mut all: Vec<usize> = found.iter().flat_map(|arc| arc.regions.clone()).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..names.len()), "each region is in one arc");
            let names: Vec<&str> = found.iter().map(|arc| arc.name.as_str()).collect();
            assert!(
                names.contains(&"page ×3,000") && names.contains(&"table") && names.contains(&"heap #x"),
                "{names:?}"
            );
            assert!(names.last().is_some_and(|name| name.ends_with(" more")), "{names:?}");
        }
    }

    #[test]
    fn with_no_least_span_none_share() {
        let names: Vec<String> = (0..3000).map(|n| format!("page #{n}")).collect();
        assert_eq!(arcs(&named(&names), &vec![1.0; 3000], 0.0).len(), 3000);
    }
}
