//! Trails over more references than anyone would follow one by one: what flowed between neighbourhoods, from the counts of
//! [`Flows`]. A line is as bright and wide as lines of data went its way a reference, so pictures of all lengths compare.

use super::frame::Segment;
use super::motion::{Endpoint, Flight, Path};
use super::palette;
use super::places::Places;
use super::trails::{Span, arc_pieces};
use super::view::View;
use crate::timeline::{Flow, Flows, Group};
use crate::units::{grouped, to_count};
use std::collections::BTreeMap;

/// Longest trail that is drawn move by move.
pub const LOGGED: u64 = 8_192;
/// From here on a trail is drawn as flows alone; in between both are seen.
pub const FLOWING: u64 = 32_768;

/// Lines of data a reference at which a flow is as bright as it gets.
const FULL: f32 = 1.0 / 400.0;
/// Less than this cannot be seen.
const FAINTEST: f32 = 0.012;

/// How much of a trail of `tail` references is seen as flows, 0 to 1.
#[must_use]
pub(super) fn share(tail: u64) -> f32 {
    let octaves = (FLOWING / LOGGED).ilog2() as f32;
    let x = ((tail.max(1) as f32 / LOGGED as f32).log2() / octaves).clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// Newest references of a trail that are drawn move by move: fewer, the more is seen as flows; 1 where all is, or where the trail is as long.
#[must_use]
pub(super) fn logged(tail: u64) -> u64 {
    u64::from(to_count((1.0 - share(tail)) * tail.min(LOGGED) as f32)).max(1)
}

/// Segments for moves and for flows: together no more than for moves alone. Flows are long and wide, and need fewer.
#[must_use]
pub(super) fn budgets(budget: usize, share: f32) -> [usize; 2] {
    let part = |of: f32| to_count(of * budget as f32) as usize;
    [part(1.0 - share), part(0.6 * share)]
}

/// Draws the flows of the last `span.tail` references into `out`, faintest first, with `alpha`; says what one line stands for.
/// Where they are too many, flows of neighbouring groups are drawn as one; what is too faint to be seen is not drawn.
///
/// A flow between caches is of no region: where not all regions are seen, it is left out.
pub(super) fn flows(
    places: &Places,
    flows: &Flows,
    span: Span,
    (alpha, view): (f32, &View),
    out: &mut Vec<Segment>,
) -> String {
    let now = span.tick as f64 + f64::from(span.phase);
    let references = span.tail.min(span.tick).max(1) as f32;
    let mut all = flows.over((now - span.tail as f64).max(0.0), now);
    if view.is_shaded() {
        // As bright as it is seen.
        all.iter_mut().for_each(|flow| flow.lines *= shade(places, flow, span.tick, view).powi(2));
        all.retain(|flow| flow.lines > 0.0);
    }
    let (inward, outward): (Vec<Flow>, Vec<Flow>) = all.into_iter().partition(|flow| !leads_outward(places, flow));
    // Lines that come in cross half the picture, those that go out are short but bent.
    let room = span.budget / 4;
    let mut paths = joined(places, inward, room, span.tick);
    paths.extend(joined(places, outward, span.budget - room, span.tick));
    paths.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let mut count = 0;
    for (lines, flight) in paths {
        let strength = (lines / references / FULL).sqrt();
        let shade = alpha * (0.62 * strength).min(0.8);
        if shade < FAINTEST * alpha {
            continue;
        }
        count += 1;
        let color = if flight.path == Path::Arc { palette::EVICT } else { palette::MISS };
        let (width, pieces) = (0.9 + 1.9 * strength.min(1.6), pieces(&flight));
        for piece in 0..pieces {
            let [s0, s1] = [piece, piece + 1].map(|n| f32::from(n) / f32::from(pieces));
            let ramp = |s: f32| shade * (0.35 + 0.65 * s);
            out.push(Segment { flight, s0, s1, width, color, alpha0: ramp(s0), alpha1: ramp(s1) });
        }
    }
    let counted = if span.tail < 2 * flows.span() { format!(", by {}", grouped(flows.span())) } else { String::new() };
    format!("{} flows{counted}: brighter = more", grouped(count))
}

/// Lines of data and the way of each flow: those of neighbouring groups are one, as far as their segments would be more than
/// `room`. At the coarsest a ring is a handful of groups.
fn joined(places: &Places, flows: Vec<Flow>, room: usize, tick: u64) -> Vec<(f32, Flight)> {
    let mut groups: BTreeMap<[Group; 2], f32> = flows.iter().map(|flow| ([flow.from, flow.to], flow.lines)).collect();
    for step in 0..5 {
        let paths = groups
            .iter()
            .filter_map(|(&[from, to], &lines)| Some((lines, flight(places, &Flow { from, to, lines }, tick)?)));
        let paths: Vec<(f32, Flight)> = paths.collect();
        if step == 4 || paths.iter().map(|(_, flight)| usize::from(pieces(flight))).sum::<usize>() <= room {
            return paths;
        }
        let mut wider: BTreeMap<[Group; 2], f32> = BTreeMap::new();
        for (ends, lines) in groups {
            *wider.entry(ends.map(|group| widened(group, step))).or_default() += lines;
        }
        groups = wider;
    }
    Vec::new()
}

/// The group twice as wide that holds a group; of memory, every second time: its blocks are told apart by their colours.
fn widened(group: Group, step: u32) -> Group {
    match group {
        Group::Sets { cache, first, sets } => {
            let sets = sets.next_power_of_two().saturating_mul(2);
            Group::Sets { cache, first: first / sets * sets, sets }
        }
        Group::Home { addr, bytes } if step % 2 == 1 => {
            let bytes = bytes.saturating_mul(2);
            Group::Home { addr: addr / bytes * bytes, bytes }
        }
        home @ Group::Home { .. } => home,
    }
}

fn pieces(flight: &Flight) -> u16 {
    if flight.path == Path::Arc { arc_pieces(flight.sweep) } else { 1 }
}

/// Whether a flow leads away from the CPU.
fn leads_outward(places: &Places, flow: &Flow) -> bool {
    let depth = |group: Group| match group {
        Group::Sets { cache, .. } => {
            places.rings.sectors.get(usize::from(cache)).map_or(0, |sector| usize::from(sector.ring))
        }
        Group::Home { .. } => usize::MAX,
    };
    depth(flow.to) > depth(flow.from)
}

/// How much is seen of a flow: as much as of the region at either end in memory, which is one.
pub(super) fn shade(places: &Places, flow: &Flow, tick: u64, view: &View) -> f32 {
    let of = |group: Group| match group {
        Group::Sets { .. } => None,
        Group::Home { addr, bytes } => {
            let held = places.home.held(addr, addr + (bytes - 1), tick);
            held.iter().map(|&(region, _)| view.shade(region)).reduce(f32::max)
        }
    };
    of(flow.from).or(of(flow.to)).unwrap_or(0.0)
}

/// The way of a flow; `None` where its memory has no home.
fn flight(places: &Places, flow: &Flow, tick: u64) -> Option<Flight> {
    let outward = leads_outward(places, flow);
    let (from, to) = (endpoint(places, flow.from, outward, tick)?, endpoint(places, flow.to, false, tick)?);
    Some(if outward { Flight::arc(from, to, &places.rings.sectors) } else { Flight::straight(from, to) })
}

/// The middle of a group. In a cache lines come to the first slot, and leave from the last.
fn endpoint(places: &Places, group: Group, leaves: bool, tick: u64) -> Option<Endpoint> {
    match group {
        Group::Sets { cache, first, sets } => {
            let cache = usize::from(cache);
            let sector = places.rings.sectors.get(cache)?;
            let rank = if leaves { sector.ways as f32 - 1.0 } else { 0.0 };
            let sets = sets.min(sector.sets.saturating_sub(first)).max(1);
            Some(Endpoint { a: first as f32 + 0.5 * (sets - 1) as f32, ..Endpoint::slot(cache, 0, rank, 0.0) })
        }
        Group::Home { addr, bytes } => {
            let home = &places.home;
            let (region, _) = *home.held(addr, addr + (bytes - 1), tick).first()?;
            let held = &home.regions[region];
            let last = held.base + (held.items - 1) * held.item_bytes;
            let (first, last) = (addr.max(held.base), (addr + (bytes - 1)).min(last + (held.item_bytes - 1)));
            let item = (first + last.saturating_sub(first) / 2 - held.base) / held.item_bytes;
            let [r, theta] = home.polar(region, item.min(held.items - 1));
            // A block of more than a row has no radius of its own.
            let whole_rows =
                last.saturating_sub(first) / held.item_bytes >= if home.along { held.rows } else { held.columns };
            Some(Endpoint::polar(if whole_rows { home.middle() } else { r }, theta))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_take_over_without_a_step() {
        assert!(share(1) == 0.0 && share(LOGGED) == 0.0 && share(FLOWING) == 1.0 && share(u64::MAX) == 1.0);
        let mut last = 0.0;
        for tail in LOGGED..=FLOWING {
            let now = share(tail);
            assert!(now - last > -1e-5 && now - last < 1e-3, "{tail}");
            last = now;
        }
    }
}
