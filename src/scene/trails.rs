//! Pathlines: every move of the last references as lines, newest opaque, older fading (Choudhury & Rosen 2011, section
//! IV-C, time-lapse).
//!
//! While they fit the segment budget each item draws its own path. Past it, paths are joined in steps, and the frame says
//! so: first the items of a line become one ribbon; then equal moves become one path, wider and brighter by count; then
//! moves between the same neighbourhoods do (flow). Nothing is dropped.

use super::frame::Segment;
use super::motion::{Endpoint, Flight, Path, ease};
use super::palette;
use super::places::{Places, path_of};
use super::view::View;
use crate::sim::hash::LineHasher;
use crate::timeline::{Log, Move, Place};
use crate::units::{grouped, to_count};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;

/// How far paths are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Joining {
    /// Not at all.
    Items,
    /// Curved paths of a line's items; straight ones cost little and tell where each item comes from.
    Curves,
    /// All paths of a line's items.
    Lines,
    EqualMoves,
    /// Cells along and across each ring and around memory.
    Flow(u32),
}

/// Angle that one piece of an arc sweeps, about, radians.
const ARC_PIECE: f32 = 0.17;

/// Neighbourhoods of the coarsest flow tried: around a ring, and along an arm.
const COARSEST: u32 = 12;

/// The part of the trail that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Reference under way: the newest.
    pub tick: u64,
    /// Phase within it: its own moves are drawn so far.
    pub phase: f32,
    /// References that stay visible, 1 = only the one under way.
    pub tail: u64,
    /// Segments at most.
    pub budget: usize,
}

/// Draws the trail into `out`, oldest first, and says how paths were joined (empty = not at all).
pub fn trails(places: &Places, log: &Log, span: Span, view: &View, out: &mut Vec<Segment>) -> String {
    let first = (span.tick + 1).saturating_sub(span.tail);
    let moves: Vec<Move> =
        log.moves(first, span.tick + 1).iter().filter(|m| shade_of(places, m, view) > 0.0).copied().collect();
    // A slot that ages is of no region.
    let faint = if view.is_shaded() { 0 } else { ageing(places, log, span, first, out) };
    let also = |words: String| match faint {
        0 => words,
        n if words.is_empty() => format!("ageing of {} older slots hidden", grouped(n as u64)),
        n => format!("{words}; ageing of {} older slots hidden", grouped(n as u64)),
    };
    let room = span.budget.saturating_sub(out.len());
    let paths: Vec<(Move, u32)> = moves.iter().map(|m| (*m, 1)).collect();
    for (joining, words) in [
        (Joining::Items, ""),
        (Joining::Curves, "curves of a line are joined"),
        (Joining::Lines, "paths of a line are joined"),
    ] {
        if fits(places, &paths, joining, room) {
            draw_all(places, &paths, (span, view), joining, out);
            return also(words.into());
        }
    }
    let mut joined = join(places, &paths, Joining::EqualMoves, view);
    if fits(places, &joined, Joining::EqualMoves, room) {
        draw_all(places, &joined, (span, view), Joining::EqualMoves, out);
        return also(format!(
            "{} moves in {} paths, wider = more",
            grouped(moves.len() as u64),
            grouped(joined.len() as u64)
        ));
    }
    let mut cells = 192;
    loop {
        let joining = Joining::Flow(cells);
        // What went together before still does: neighbourhoods only grow.
        joined = join(places, &joined, joining, view);
        if cells <= COARSEST || fits(places, &joined, joining, room) {
            draw_all(places, &joined, (span, view), joining, out);
            return also(format!(
                "{} moves as {} flows, wider = more",
                grouped(moves.len() as u64),
                grouped(joined.len() as u64)
            ));
        }
        cells /= 2;
    }
}

/// Whether these paths take `room` segments at most: each takes one or more.
fn fits(places: &Places, paths: &[(Move, u32)], joining: Joining, room: usize) -> bool {
    paths.len() <= room && cost(places, paths, joining) <= room
}

/// Segments that drawing these paths takes.
fn cost(places: &Places, paths: &[(Move, u32)], joining: Joining) -> usize {
    paths.iter().map(|(m, _)| usize::from(pieces_of(places, m)) * lanes_of(places, m, joining)).sum()
}

/// Paths drawn for one move: one an item, or one for all.
fn lanes_of(places: &Places, m: &Move, joining: Joining) -> usize {
    match joining {
        Joining::Items => places.lanes(m.grain, m.tick),
        Joining::Curves if path_of(m) == Path::Straight => places.lanes(m.grain, m.tick),
        _ => 1,
    }
}

fn draw_all(places: &Places, paths: &[(Move, u32)], look: (Span, &View), joining: Joining, out: &mut Vec<Segment>) {
    for (m, count) in paths {
        draw_move(places, m, look, joining, *count, out);
    }
}

/// Ageing: one slot outward along the arm. Equal by nature, so always one path a slot: the newest tick counts, brighter by
/// count. Gives the number of slots past the budget, the longest unmoved ones, which are not drawn.
fn ageing(places: &Places, log: &Log, span: Span, first: u64, out: &mut Vec<Segment>) -> usize {
    let sectors = &places.rings.sectors;
    let mut counts: Vec<Vec<u32>> = vec![Vec::new(); sectors.len()];
    let mut slots: Vec<(u64, usize, u32, u32)> = Vec::new();
    for touch in log.touches(first, span.tick + 1).iter().rev() {
        let cache = usize::from(touch.cache);
        let sector = &sectors[cache];
        let ways = sector.ways as usize;
        let counts = &mut counts[cache];
        if counts.is_empty() {
            counts.resize(sector.sets as usize * ways, 0);
        }
        let base = touch.set as usize * ways;
        for (rank, count) in (0..touch.shifted).zip(&mut counts[base..base + ways]) {
            if *count == 0 {
                slots.push((touch.tick, cache, touch.set, rank));
            }
            *count = count.saturating_add(1);
        }
    }
    let most = span.budget / 4;
    let mut drawn = 0;
    let begun = out.len();
    for &(tick, cache, set, rank) in &slots {
        if out.len() - begun >= most {
            break;
        }
        drawn += 1;
        let count = counts[cache][set as usize * sectors[cache].ways as usize + rank as usize];
        let flight = Flight::slide(
            Endpoint::slot(cache, set, rank as f32, 0.0),
            Endpoint::slot(cache, set, rank as f32 + 1.0, 0.0),
        );
        let alpha = 0.30 * age_alpha(span, tick) * strength(count).min(1.8);
        let end = if tick == span.tick { ease(span.phase) } else { 1.0 };
        let curve = pieces(places.turn(cache) / ARC_PIECE);
        for piece in 0..curve {
            let s0 = f32::from(piece) / f32::from(curve);
            if s0 < end {
                let s1 = (f32::from(piece + 1) / f32::from(curve)).min(end);
                let color = palette::GUIDE;
                out.push(Segment { flight, s0, s1, width: 1.0, color, alpha0: alpha, alpha1: alpha });
            }
        }
    }
    // Oldest first, as all lines.
    out[begun..].reverse();
    slots.len() - drawn
}

/// Pieces of an arc that sweeps so far.
pub(super) fn arc_pieces(sweep: f32) -> u16 {
    pieces(sweep.abs() / ARC_PIECE + 6.0)
}

fn pieces_of(places: &Places, m: &Move) -> u16 {
    match path_of(m) {
        Path::Arc => {
            let first = places.pieces(m.grain, m.tick).next();
            first.map_or(1, |piece| arc_pieces(places.flight(m, &piece, true).sweep))
        }
        Path::Slide => match (m.from, m.to) {
            (Place::Slot { cache, rank: a, .. }, Place::Slot { rank: b, .. }) => {
                pieces(a.abs_diff(b) as f32 * places.turn(usize::from(cache)) / ARC_PIECE)
            }
            _ => 1,
        },
        _ => 1,
    }
}

fn pieces(n: f32) -> u16 {
    u16::try_from(to_count(n)).unwrap_or(u16::MAX).clamp(1, 40)
}

/// 1 now, falling to 0 at the end of the tail.
fn age_alpha(span: Span, tick: u64) -> f32 {
    let age = (span.tick - tick) as f32 + span.phase;
    let left = 1.0 - age / (span.tail as f32 + 1.0);
    left.max(0.0).powf(1.4)
}

/// How much more a path of `count` moves shows: 1 for one, growing with the logarithm.
fn strength(count: u32) -> f32 {
    1.0 + 0.35 * (count as f32).log2()
}

/// How much is seen of a moved line: as much as of any of its items; of what has no region, all.
fn shade_of(places: &Places, m: &Move, view: &View) -> f32 {
    if view.shades.is_empty() {
        return 1.0;
    }
    places.pieces(m.grain, m.tick).map(|piece| view.shade(piece.region)).reduce(f32::max).unwrap_or(1.0)
}

fn draw_move(
    places: &Places,
    m: &Move,
    (span, view): (Span, &View),
    joining: Joining,
    count: u32,
    out: &mut Vec<Segment>,
) {
    let path = path_of(m);
    let (color, base, width) = match path {
        Path::Straight => (palette::MISS, 0.80, 1.15),
        Path::Arc => (palette::EVICT, 0.50, 1.0),
        Path::Slide | Path::Rest => (palette::HIT, 0.36, 1.0),
    };
    let end = if m.tick == span.tick { ease(span.phase) } else { 1.0 };
    let age = age_alpha(span, m.tick);
    if end <= 0.0 || age <= 0.004 {
        return;
    }
    let items = places.lanes(m.grain, m.tick);
    let single = items > 1 && lanes_of(places, m, joining) == 1;
    let lanes = if single { items / 2..items / 2 + 1 } else { 0..items };
    let (width, alpha) = match joining {
        Joining::Items | Joining::Curves | Joining::Lines => (width * if single { 1.7 } else { 1.0 }, base * age),
        _ => (width * (1.0 + strength(count)).min(5.0), (base * age * strength(count)).min(1.0)),
    };
    let pieces = pieces_of(places, m);
    for piece in places.pieces(m.grain, m.tick).skip(lanes.start).take(lanes.len()) {
        let flight = places.flight(m, &piece, single);
        let shade = match () {
            () if view.shades.is_empty() => 1.0,
            () if single => shade_of(places, m, view),
            () => view.shade(piece.region),
        };
        if shade <= 0.0 {
            continue;
        }
        let alpha = alpha * shade;
        for piece in 0..pieces {
            let s0 = f32::from(piece) / f32::from(pieces);
            let s1 = f32::from(piece + 1) / f32::from(pieces);
            if s0 >= end {
                break;
            }
            // Fainter where it comes from: the eye reads which way it went.
            let ramp = |s: f32| alpha * (0.35 + 0.65 * s);
            out.push(Segment {
                flight,
                s0,
                s1: s1.min(end),
                width,
                color,
                alpha0: ramp(s0),
                alpha1: ramp(s1.min(end)),
            });
        }
    }
}

/// Joins equal paths of what is seen equally well: the newest stands for all, with their count. In the order of the newest.
fn join(places: &Places, paths: &[(Move, u32)], joining: Joining, view: &View) -> Vec<(Move, u32)> {
    let cells = if let Joining::Flow(cells) = joining { cells } else { 0 };
    // Where each kind of path is in the list: only looked up, so that its order tells nobody anything.
    let mut known: HashMap<(u64, u64, u64), usize, BuildHasherDefault<LineHasher>> =
        HashMap::with_capacity_and_hasher(paths.len(), BuildHasherDefault::default());
    let mut joined: Vec<((u64, u64, u64), Move, u32)> = Vec::new();
    // Paths come oldest first: the newest of a kind is met first.
    for (m, count) in paths.iter().rev() {
        let [from, to] = [m.from, m.to].map(|place| places.neighbourhood(place, m.grain, m.tick, cells));
        let key = (from, to, u64::from(shade_of(places, m, view).to_bits()));
        match known.entry(key) {
            Entry::Occupied(at) => joined[*at.get()].2 += count,
            Entry::Vacant(free) => {
                free.insert(joined.len());
                joined.push((key, *m, *count));
            }
        }
    }
    joined.reverse();
    // By tick they are in order already: what is of one tick, which is little, is put in order.
    for alike in joined.chunk_by_mut(|(_, a, _), (_, b, _)| a.tick == b.tick) {
        alike.sort_unstable_by_key(|(key, ..)| *key);
    }
    joined.into_iter().map(|(_, m, count)| (m, count)).collect()
}
