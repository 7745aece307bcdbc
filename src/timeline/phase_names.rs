//! What runs in a phase that was found: which function, or line, and which region it uses most.

use crate::reference::{LineMap, ReferenceSource, Region, RegionMap, SourceError};
use std::collections::BTreeMap;

/// References that are looked at, from where a phase begins: enough for what it does most.
const LOOKED_AT: usize = 4096;
/// Of these, the share that a region must have to be named.
const MOSTLY: f64 = 0.5;

/// What the name of a phase begins with.
pub(super) const PHASE: &str = "phase: ";

/// `phase: relax() on grid` for the phase that begins at a reference, with `by_line` `phase: relax() line 7 on grid`; `None` where nothing of
/// it is known. Its end cuts it short.
pub(super) fn name(
    source: &dyn ReferenceSource,
    lines: &LineMap,
    (named, map): (&[Region], &RegionMap),
    [from, to]: [u64; 2],
    by_line: bool,
) -> Result<Option<String>, SourceError> {
    let tables = source.tables();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut regions: BTreeMap<u32, usize> = BTreeMap::new();
    let (mut seen, mut at) = (0, from);
    while seen < LOOKED_AT && at < to.min(source.len()) {
        let length = source.chunk_len();
        let chunk = source.chunk(at / length)?;
        let skipped = usize::try_from(at % length).unwrap_or(usize::MAX);
        let rest = chunk.get(skipped..).unwrap_or_default();
        let many = rest.len().min(LOOKED_AT - seen).min(usize::try_from(to - at).unwrap_or(usize::MAX));
        if many == 0 {
            break;
        }
        for (reference, tick) in rest[..many].iter().zip(at..) {
            let place = lines.places().get(lines.row(reference.pc)).and_then(|&place| tables.locations.get(place));
            if let Some(location) = place {
                let name = match location.function.is_empty() {
                    true => format!("{}:{}", location.file, location.line),
                    false if by_line => format!("{}() line {}", location.function, location.line),
                    false => format!("{}()", location.function),
                };
                *places.entry(name).or_default() += 1;
            }
            if let Some(region) = map.locate(reference.addr, tick).region {
                *regions.entry(region).or_default() += 1;
            }
        }
        seen += many;
        at += many as u64;
    }
    // Of equals, the first by name.
    let most = places.into_iter().rev().max_by_key(|(_, count)| *count).map(|(name, _)| name);
    let region = regions.into_iter().rev().max_by_key(|(_, count)| *count);
    let region = region.filter(|(_, count)| *count as f64 >= MOSTLY * seen as f64);
    let region = region
        .and_then(|(region, _)| named.get(region as usize))
        .map(|region| &region.name)
        .filter(|name| !name.is_empty());
    Ok(match (most, region) {
        (Some(place), Some(region)) => Some(format!("{PHASE}{place} on {region}")),
        (Some(place), None) => Some(format!("{PHASE}{place}")),
        (None, Some(region)) => Some(format!("{PHASE}on {region}")),
        (None, None) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{Kind, MemoryTrace, Reference, SourceLocation, Tables};
    use crate::sim::Hierarchy;
    use crate::sim::config::preset;
    use crate::timeline::{Options, Timeline};
    use std::sync::Arc;

    fn trace(with_code: bool) -> MemoryTrace {
        let region = |name: &str, base| Region::new(name, base, 0x10_0000);
        let location = |pc: u64, function: &str| SourceLocation {
            path: String::new(),
            pc,
            line: 7,
            file: "steps.c".into(),
            function: function.into(),
            text: String::new(),
        };
        let locations = if with_code { vec![location(0x1000, "scatter"), location(0x8000, "")] } else { Vec::new() };
        let regions = vec![region("grid", 0x10_0000), region("mass", 0x30_0000)];
        let pass = |pc: u64, base: u64| {
            (0..60_000u64).map(move |n| Reference { pc, ..Reference::new(Kind::Read, base + 8 * (n % 9000), 8) })
        };
        let references = pass(0x4000, 0x50_0000).chain(pass(0x1000, 0x10_0000)).chain(pass(0x8000, 0x30_0000));
        MemoryTrace::new(references.collect(), Tables { regions, locations, ..Tables::default() })
    }

    fn marks(trace: MemoryTrace) -> Vec<String> {
        let hierarchy = Hierarchy::new(&preset("textbook").expect("there")).expect("sound");
        let timeline = Timeline::build(Arc::new(trace), hierarchy, Options::default(), &mut |_, _| true);
        let timeline = timeline.expect("in memory");
        let phases = timeline.tables().marks.iter().filter(|mark| mark.name.starts_with("phase"));
        phases.map(|mark| mark.name.clone()).collect()
    }

    #[test]
    fn a_phase_is_called_by_what_runs_and_what_it_uses() {
        assert_eq!(marks(trace(true)), ["phase: scatter() on grid", "phase: steps.c:7 on mass"]);
        assert_eq!(marks(trace(false)), ["phase: on grid", "phase: on mass"]);
    }

    #[test]
    fn phases_of_one_function_on_one_region_are_told_apart_by_their_lines() {
        let mut tables = trace(true).tables().clone();
        let (first, second) = (tables.locations[0].clone(), &mut tables.locations[1]);
        (second.function, second.line) = (first.function, 9);
        let pass = |pc: u64, base: u64| {
            (0..60_000u64).map(move |n| Reference { pc, ..Reference::new(Kind::Read, base + 8 * (n % 9000), 8) })
        };
        let references = pass(0x4000, 0x50_0000).chain(pass(0x1000, 0x10_0000)).chain(pass(0x8000, 0x18_0000));
        let both = MemoryTrace::new(references.collect(), tables);
        let marks = marks(both);
        assert_eq!(marks, ["phase: scatter() line 7 on grid", "phase: scatter() line 9 on grid"]);
    }
}
