//! Trails over more references than anyone would follow one by one: what flowed between neighbourhoods, from the counts of
//! [`Flows`]. A line is as bright and wide as lines of data went its way a reference, so pictures of all lengths compare.

use super::frame::Segment;
use super::motion::{Endpoint, Flight, Path};
use super::palette;
use super::places::Places;
use super::trails::{Span, arc_pieces};
use crate::timeline::{Flow, Flows, Group};
use crate::units::grouped;

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

/// Draws the flows of the last `span.tail` references into `out`, faintest first, with `alpha`; says what one line stands for.
pub(super) fn flows(places: &Places, flows: &Flows, span: Span, alpha: f32, out: &mut Vec<Segment>) -> String {
    let now = span.tick as f64 + f64::from(span.phase);
    let from = (now - span.tail as f64).max(0.0);
    let found = flows.over(from, now);
    let references = span.tail.min(span.tick).max(1) as f32;
    let (all, mut drawn, mut count) = (found.iter().map(|flow| flow.lines).sum::<f32>(), 0.0, 0);
    let begun = out.len();
    // Both kinds have their share of the budget: what comes in and what goes out.
    let mut room = [span.budget / 3, span.budget - span.budget / 3];
    for flow in &found {
        let Some((flight, outward)) = flight(places, flow, span.tick) else { continue };
        let pieces = if outward { arc_pieces(flight.sweep) } else { 1 };
        let room = &mut room[usize::from(outward)];
        let strength = (flow.lines / references / FULL).sqrt();
        let shade = alpha * (0.62 * strength).min(0.8);
        if shade < FAINTEST * alpha || *room < usize::from(pieces) {
            continue;
        }
        *room -= usize::from(pieces);
        (drawn, count) = (drawn + flow.lines, count + 1);
        let color = if outward { palette::EVICT } else { palette::MISS };
        let width = 0.9 + 1.9 * strength.min(1.6);
        for piece in (0..pieces).rev() {
            let [s0, s1] = [piece, piece + 1].map(|n| f32::from(n) / f32::from(pieces));
            let ramp = |s: f32| shade * (0.35 + 0.65 * s);
            out.push(Segment { flight, s0, s1, width, color, alpha0: ramp(s0), alpha1: ramp(s1) });
        }
    }
    out[begun..].reverse();
    let hidden = 100.0 * (1.0 - drawn / all.max(1.0));
    let rest = if hidden >= 1.0 && all > 0.0 { format!(", fainter {hidden:.0} % not drawn") } else { String::new() };
    let counted = if span.tail < 2 * flows.span() { format!(", by {}", grouped(flows.span())) } else { String::new() };
    format!("{} flows{counted}: brighter = more{rest}", grouped(count))
}

/// The way of a flow, and whether it leads outward; `None` where its memory has no home.
fn flight(places: &Places, flow: &Flow, tick: u64) -> Option<(Flight, bool)> {
    let depth = |group: Group| match group {
        Group::Sets { cache, .. } => places.rings.sectors.get(usize::from(cache)).map_or(0, |s| usize::from(s.ring)),
        Group::Home { .. } => usize::MAX,
    };
    let outward = depth(flow.to) > depth(flow.from);
    let (from, to) = (endpoint(places, flow.from, outward, tick)?, endpoint(places, flow.to, false, tick)?);
    let flight = if outward { Flight::arc(from, to, &places.rings.sectors) } else { Flight::straight(from, to) };
    debug_assert!(matches!(flight.path, Path::Arc | Path::Straight), "nothing rests");
    Some((flight, outward))
}

/// The middle of a group. In a cache lines come to the first slot, and leave from the last.
fn endpoint(places: &Places, group: Group, leaves: bool, tick: u64) -> Option<Endpoint> {
    match group {
        Group::Sets { cache, first, sets } => {
            let cache = usize::from(cache);
            let sector = places.rings.sectors.get(cache)?;
            let rank = if leaves { sector.ways as f32 - 1.0 } else { 0.0 };
            Some(Endpoint { a: first as f32 + 0.5 * (sets - 1) as f32, ..Endpoint::slot(cache, 0, rank, 0.0) })
        }
        Group::Home { addr, bytes } => {
            let home = &places.home;
            let (region, _) = *home.held(addr, addr + (bytes - 1), tick).first()?;
            let held = &home.regions[region];
            let last = held.base + (held.items - 1) * home.item_bytes;
            let (first, last) = (addr.max(held.base), (addr + (bytes - 1)).min(last + (home.item_bytes - 1)));
            let item = (first + last.saturating_sub(first) / 2 - held.base) / home.item_bytes;
            let [_, theta] = home.polar(region, item.min(held.items - 1));
            Some(Endpoint::polar(home.middle(), theta))
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
