//! What tiles tell: the counts of their elements, summed, and the distances of these.

use super::grid::{Placed, Shape};
use super::{COLUMNS, DISTANCES, THRESHOLDS};
use crate::analysis::{ElementCounts, ElementDistances};
use crate::overlay::studio::Studio;
use crate::units::grouped;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The tiles of a region.
pub(super) struct Tiles {
    /// Sums by tile.
    pub(super) counts: Vec<ElementCounts>,
    /// By tile, where they are wanted: the least, the median and the greatest distance.
    pub(super) distances: Option<Vec<Option<[u32; 3]>>>,
    /// By tile, where they are wanted: touches that one set of some lines misses; and the lines of the region that it misses.
    pub(super) missed: Option<(Vec<u64>, u64)>,
    /// Of all slots that are elements.
    pub(super) sum: ElementCounts,
    /// Touches of bytes that are no element.
    pub(super) padding: u64,
}

/// What a tile tells by its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// None of its elements was touched.
    Untouched,
    /// Touched, but no line of it again.
    Once,
    /// A number.
    Is(u64),
}

/// Sums the counts of a region's slots by tile.
pub(super) fn tiles(
    placed: &Placed,
    shape: &Shape,
    slots: &[ElementCounts],
    distances: Option<(&ElementDistances, Option<u64>)>,
) -> Tiles {
    let count = usize::try_from(placed.grid.tiles()).unwrap_or(0);
    let tile = |slot: usize| placed.grid.tile(shape.element(slot)?).filter(|tile| *tile < count);
    let mut out = Tiles {
        counts: vec![ElementCounts::default(); count],
        distances: distances.map(|(all, _)| all.by_group(placed.region, count, tile)),
        missed: None,
        sum: ElementCounts::default(),
        padding: 0,
    };
    for (slot, counts) in slots.iter().enumerate().filter(|(_, counts)| counts.accesses() > 0) {
        match tile(slot) {
            Some(tile) => {
                out.counts[tile] = out.counts[tile].and(counts);
                out.sum = out.sum.and(counts);
            }
            None => out.padding += counts.accesses(),
        }
    }
    if let Some((all, Some(lines))) = distances {
        let hits = all.hits_by_group(placed.region, count, tile, lines);
        let missed = out.counts.iter().zip(hits).map(|(counts, hits)| counts.accesses().saturating_sub(hits)).collect();
        out.missed = Some((missed, all.misses(placed.region, lines)));
    }
    out
}

impl Tiles {
    /// What a tile tells in a column.
    pub(super) fn value(&self, tile: usize, column: usize) -> Value {
        let Some(counts) = self.counts.get(tile).filter(|counts| counts.accesses() > 0) else {
            return Value::Untouched;
        };
        match (column, &self.distances) {
            (0, _) => Value::Is(counts.accesses()),
            (1, _) => Value::Is(counts.misses.into()),
            (THRESHOLDS.., _) => {
                let missed = self.missed.as_ref().and_then(|(all, _)| all.get(tile));
                missed.map_or(Value::Once, |missed| Value::Is(*missed))
            }
            (_, Some(all)) => {
                let three = all.get(tile).copied().flatten();
                three.map_or(Value::Once, |three| Value::Is(three[(column - DISTANCES).min(2)].into()))
            }
            (_, None) => Value::Once,
        }
    }

    /// The counts of a tile in words; those of misses in this level, where they are known.
    pub(super) fn words(&self, tile: usize, innermost: Option<&str>) -> Vec<String> {
        let Some(counts) = self.counts.get(tile) else { return Vec::new() };
        let all = counts.accesses();
        if all == 0 {
            return vec!["not touched by what is counted".into()];
        }
        let kinds = [(counts.reads, "read"), (counts.writes, "written"), (counts.modifies, "read and written")];
        let kinds: Vec<String> =
            kinds.iter().filter(|(n, _)| *n > 0).map(|(n, kind)| format!("{kind} {}×", grouped((*n).into()))).collect();
        let mut lines = vec![format!("touched {}×: {}", grouped(all), kinds.join(", "))];
        lines.extend(innermost.map(|level| format!("missed {}× in {level}", grouped(counts.misses.into()))));
        if let Some(all) = &self.distances {
            lines.push(match all.get(tile).copied().flatten() {
                Some([least, median, most]) => format!("stack distance {least} to {most}, median {median}"),
                None => "its line was touched once".into(),
            });
            let missed = self.missed.as_ref().and_then(|(all, _)| all.get(tile));
            lines.extend(missed.map(|missed| format!("missed {}× in one set of the lines chosen", grouped(*missed))));
        }
        lines
    }
}

/// All tiles that are shown and were touched, a row each.
pub(super) fn csv(studio: &Studio, all: &[(Placed, Tiles)], shapes: &BTreeMap<usize, Shape>) -> String {
    let mut out = String::from("element,elements_of_tile,reads,writes,modifies");
    for column in &COLUMNS[1..THRESHOLDS] {
        let _ = write!(out, ",{}", column.word().replace('-', "_"));
    }
    out.push('\n');
    let known = studio.timeline().outcomes().is_some();
    for (placed, tiles) in all {
        let Some((region, shape)) = studio.tables().regions.get(placed.region).zip(shapes.get(&placed.region)) else {
            continue;
        };
        for (tile, counts) in tiles.counts.iter().enumerate().filter(|(_, counts)| counts.accesses() > 0) {
            let [first, _] = placed.grid.elements(tile);
            let Some(addr) = shape.address(region, first) else { continue };
            let name = crate::overlay::csv::field(&region.element_name(addr));
            let ElementCounts { reads, writes, modifies, misses } = counts;
            // Of long traces nobody kept who missed.
            let misses = if known { misses.to_string() } else { String::new() };
            let _ = write!(out, "{name},{},{reads},{writes},{modifies},{misses}", placed.grid.elements_of(tile));
            let three = tiles.distances.as_ref().and_then(|all| all.get(tile).copied().flatten());
            for at in 0..3 {
                let _ = write!(out, ",{}", three.map_or_else(String::new, |three| three[at].to_string()));
            }
            out.push('\n');
        }
    }
    out
}
