//! What flows in the large picture, as sums: a beam from where lines were found straight towards the CPU, an arc where lines are
//! pushed out. Each is as wide as the root of the lines that go its way.
//!
//! ```text
//!   memory   ====|=====|====        a beam stands at the angle of what sends: a block of memory, a group of sets
//!                |     :            and ends at the ring that gets it
//!   L2       ((  |  )) : ((         its colour says who served: memory, L3, L2
//!                v     v
//!   L1         ((((((((((
//! ```

use super::flows::{self, LOGGED};
use super::frame::Segment;
use super::layout::Sector;
use super::motion::{Endpoint, Flight, ONE_TICK, Path};
use super::palette::{self, Rgba};
use super::places::Places;
use super::trails::{Span, arc_pieces};
use super::view::View;
use crate::timeline::{Flow, Group, Moment, Move, Place};
use crate::units::{grouped, to_f32};

/// Trails up to here are drawn move by move, and from `SUMMED` on as sums alone.
const MOVES: u64 = 96;
const SUMMED: u64 = 512;
/// Lines a reference at which a beam is as wide as it gets, and that width in pixels of a picture 720 high.
const FULL: f32 = 1.0 / 48.0;
const WIDEST: f32 = 9.0;
/// Less than this share of [`FULL`] is not drawn.
const FAINTEST: f32 = 0.0004;
/// Groups of sets round a ring: as many as the counts of flows have.
const GROUPS: u32 = 32;
/// Blocks of memory.
const BLOCKS: u64 = 48;
/// How far an arc turns on its way out, radians.
const SWEEP: f32 = 0.42;
/// Free way between a ring and what comes to it or goes from it.
const OFF: f32 = 0.010;

/// How much of a trail of `tail` references is drawn as sums, 0 to 1.
pub(super) fn share(tail: u64) -> f32 {
    let octaves = (SUMMED as f32 / MOVES as f32).log2();
    let x = ((tail.max(1) as f32 / MOVES as f32).log2() / octaves).clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// Draws what flowed in the last `span.tail` references with `alpha`; says what a beam stands for.
pub(super) fn beams(
    places: &Places,
    moment: &Moment<'_>,
    span: Span,
    (alpha, view): (f32, &View),
    out: &mut Vec<Segment>,
) -> String {
    let from = span.tick.saturating_sub(span.tail);
    let flows = if span.tail <= LOGGED && from >= moment.log.start() {
        counted(places, moment.log.moves(from, span.tick))
    } else {
        moment.flows.over(from as f64, span.tick as f64)
    };
    let references = span.tail.min(span.tick).max(1) as f32;
    let shaded = |flow: &Flow| flow.lines * shade(places, flow, span.tick, view);
    let ways = flows.iter().map(|flow| ((flow.from, ring_of(places, flow.to)), shaded(flow)));
    let mut count = 0;
    for ((group, to), lines) in summed(ways) {
        let strength = (lines / references / FULL).min(1.0);
        if strength < FAINTEST {
            continue;
        }
        count += 1;
        let width = (WIDEST * strength.sqrt()).max(0.9);
        let shade = alpha * (0.14 + 0.70 * strength.sqrt());
        let way = Way { group, to, tick: span.tick };
        let Some((flight, color)) = way.flight(places) else { continue };
        let pieces = if flight.path == Path::Arc { arc_pieces(flight.sweep) } else { 1 };
        for piece in 0..pieces {
            let [s0, s1] = [piece, piece + 1].map(|n| f32::from(n) / f32::from(pieces));
            // Inward a beam fades where it arrives, outward an arc where it begins.
            let ramp = |s: f32| shade * if pieces == 1 { 1.0 - 0.65 * s } else { 0.25 + 0.75 * s };
            out.push(Segment { flight, s0, s1, width, color, alpha0: ramp(s0), alpha1: ramp(s1) });
        }
    }
    format!("{} beams and arcs: wider = more lines", grouped(count))
}

/// The ring of a group; `None` = memory.
fn ring_of(places: &Places, group: Group) -> Option<u16> {
    match group {
        Group::Sets { cache, .. } => places.rings.sectors.get(usize::from(cache)).map(|sector| sector.ring),
        Group::Home { .. } => None,
    }
}

/// Moves, summed as flows are.
fn counted(places: &Places, moves: &[Move]) -> Vec<Flow> {
    // As many blocks of memory, about, as the counts of flows have.
    let all = places.home.regions.iter().fold(0u64, |sum, region| sum.saturating_add(region.own[1] - region.own[0]));
    let bytes = (all / BLOCKS).max(1 << 12).next_power_of_two();
    let group = |place: Place, grain: u64| match place {
        Place::Home => Some(Group::Home { addr: grain * places.items.grain_bytes / bytes * bytes, bytes }),
        Place::Slot { cache, set, .. } => {
            let sector = places.rings.sectors.get(usize::from(cache))?;
            let sets = sector.sets.div_ceil(GROUPS).next_power_of_two();
            Some(Group::Sets { cache, first: set / sets * sets, sets })
        }
    };
    let ways = moves.iter().filter_map(|m| {
        let way = (group(m.from, m.grain)?, group(m.to, m.grain)?);
        (ring_of(places, way.0) != ring_of(places, way.1)).then_some((way, 1.0))
    });
    summed(ways).into_iter().map(|((from, to), lines)| Flow { from, to, lines }).collect()
}

/// Lines by way, in the order of ways. There are thousands in a frame: sorted they are summed several times as fast as in a tree.
fn summed<K: Ord + Copy>(ways: impl Iterator<Item = (K, f32)>) -> Vec<(K, f32)> {
    let mut ways: Vec<(K, f32)> = ways.collect();
    ways.sort_by_key(|(way, _)| *way);
    ways.dedup_by(|next, sum| {
        let same = next.0 == sum.0;
        sum.1 += if same { next.1 } else { 0.0 };
        same
    });
    ways
}

/// How much is seen of a flow: of memory as much as of its region; between caches all, unless only some regions are seen.
fn shade(places: &Places, flow: &Flow, tick: u64, view: &View) -> f32 {
    if !view.is_shaded() {
        return 1.0;
    }
    flows::shade(places, flow, tick, view)
}

/// From a group to a ring, or to memory.
struct Way {
    group: Group,
    to: Option<u16>,
    tick: u64,
}

impl Way {
    /// The flight and its colour; `None` where it has no place.
    fn flight(&self, places: &Places) -> Option<(Flight, Rgba)> {
        let rings = &places.rings;
        let outer = |ring: u16| rings.rings.get(usize::from(ring)).map(|ring| ring.r1 + OFF);
        let inner = |ring: Option<u16>| match ring {
            Some(ring) => rings.rings.get(usize::from(ring)).map(|ring| ring.r0 - OFF),
            None => Some(rings.home_r0 - 0.4 * OFF),
        };
        let last = rings.rings.len();
        match self.group {
            Group::Home { addr, bytes } => {
                let theta = home_angle(places, addr, bytes, self.tick)?;
                let ends = [inner(None)?, outer(self.to?)?];
                Some((straight(ends, theta), palette::served(last, last)))
            }
            Group::Sets { cache, first, sets } => {
                let sector = places.rings.sectors.get(usize::from(cache))?;
                match self.to {
                    Some(to) if to < sector.ring => {
                        let ends = [sector.r0 - 0.4 * OFF, outer(to)?];
                        let color = palette::served(usize::from(sector.ring), last);
                        Some((straight(ends, angle(sector, first, sets, 0.0)), color))
                    }
                    to => {
                        let theta = angle(sector, first, sets, sector.omega);
                        let (r0, r1) = (sector.r1 + 0.4 * OFF, inner(to)?);
                        let (from, to) = (Endpoint::polar(r0, theta), Endpoint::polar(r1, theta + SWEEP));
                        Some((Flight { from, to, path: Path::Arc, sweep: SWEEP, times: ONE_TICK }, palette::EVICT))
                    }
                }
            }
        }
    }
}

fn straight([from, to]: [f32; 2], theta: f32) -> Flight {
    Flight::straight(Endpoint::polar(from, theta), Endpoint::polar(to, theta))
}

/// Middle of some sets where their arms have turned so far.
fn angle(sector: &Sector, first: u32, sets: u32, turned: f32) -> f32 {
    let sets = sets.min(sector.sets.saturating_sub(first)).max(1);
    sector.edges()[0] + turned + sector.span / sector.sets as f32 * (first as f32 + 0.5 * sets as f32)
}

/// Middle of a block of memory, of the region that has most of it.
fn home_angle(places: &Places, addr: u64, bytes: u64, tick: u64) -> Option<f32> {
    let home = &places.home;
    let (region, _) = *home.held(addr, addr + (bytes - 1), tick).first()?;
    let held = &home.regions[region];
    let [first, last] = [addr.max(held.own[0]), (addr + (bytes - 1)).min(held.own[1])];
    let middle = (first - held.own[0]) as f64 + 0.5 * ((last - first) as f64 + 1.0);
    let share = middle / ((held.own[1] - held.own[0]) as f64 + 1.0);
    Some(held.theta0 + held.span * to_f32(share))
}
