//! What never changes in a picture: borders of rings and sectors, guide arms, the regions' arcs.

use super::frame::Segment;
use super::layout::{HomeLayout, Rings, Sector};
use super::motion::{Endpoint, Flight};
use super::palette::{self, RegionColors};
use crate::units::to_count;
use std::f32::consts::TAU;

/// Most arms of a ring that get a guide line; more would be a grey disk.
const GUIDED_ARMS: u32 = 64;

/// How far the border of a ring stands off its slots, world units.
const OFF: f32 = 0.008;
/// Likewise the border of a TLBs' band, which is thin.
const TLB_OFF: f32 = 0.004;

/// What never changes: borders of rings and sectors, guide arms, the regions' arcs.
#[must_use]
pub fn structure(rings: &Rings, home: &HomeLayout, colors: &RegionColors) -> Vec<Segment> {
    let mut out = Vec::new();
    let mut circle = |r: f32, from: f32, sweep: f32, color, alpha: f32, width: f32| {
        let pieces = pieces(sweep.abs() / TAU * 96.0, 2);
        for piece in 0..pieces {
            let at = |p: u16| from + sweep * f32::from(p) / f32::from(pieces);
            out.push(Segment {
                flight: Flight::straight(Endpoint::polar(r, at(piece)), Endpoint::polar(r, at(piece + 1))),
                s0: 0.0,
                s1: 1.0,
                width,
                color,
                alpha0: alpha,
                alpha1: alpha,
            });
        }
    };
    for ring in &rings.rings {
        circle(ring.r0 - OFF, 0.0, TAU, palette::GUIDE, 0.16, 1.0);
        circle(ring.r1 + OFF, 0.0, TAU, palette::GUIDE, 0.16, 1.0);
    }
    for ring in &rings.tlb_rings {
        circle(ring.r0 - TLB_OFF, 0.0, TAU, palette::GUIDE, 0.11, 1.0);
        circle(ring.r1 + TLB_OFF, 0.0, TAU, palette::GUIDE, 0.11, 1.0);
    }
    for arc in &*home.arcs {
        circle(rings.rim, arc.theta0, arc.span, colors.arc(&arc.regions), palette::AT_HOME, 1.6);
    }
    for (cache, sector) in rings.sectors.iter().enumerate() {
        if !sector.is_whole() {
            let off = if cache < rings.caches() { OFF } else { TLB_OFF };
            spiral(&mut out, border(cache, sector, off), sector.omega, 0.30);
        }
    }
    for ring in &rings.rings {
        let arms: u32 = ring.sectors.iter().map(|&n| rings.sectors[n].sets).fold(0, u32::saturating_add);
        if arms > GUIDED_ARMS {
            continue;
        }
        for (cache, sector) in ring.sectors.iter().map(|&n| (n, &rings.sectors[n])).filter(|(_, s)| s.ways > 1) {
            let (first, last) = (0.0, sector.ways as f32 - 1.0);
            for set in 0..sector.sets {
                let end = |rank| Endpoint::slot(cache, set, rank, 0.0);
                spiral(&mut out, Flight::slide(end(first), end(last)), sector.omega, 0.19);
            }
        }
    }
    out
}

/// The border before a sector, in the middle of the gap: an arm too, where no set is. From circle to circle.
fn border(cache: usize, sector: &Sector, off: f32) -> Flight {
    let set = -0.5 - sector.gap * sector.sets as f32 / sector.span;
    let rank = |r: f32| {
        let share = (r * r - sector.r0 * sector.r0) / (sector.r1 * sector.r1 - sector.r0 * sector.r0);
        share * sector.ways as f32 - 0.5
    };
    let end = |r: f32| Endpoint { a: set, ..Endpoint::slot(cache, 0, rank(r), 0.0) };
    Flight::slide(end(sector.r0 - off), end(sector.r1 + off))
}

/// A slide along an arm as lines; `turn` is the angle it sweeps.
fn spiral(out: &mut Vec<Segment>, flight: Flight, turn: f32, alpha: f32) {
    let pieces = pieces(turn / 0.13, 4);
    for piece in 0..pieces {
        out.push(Segment {
            flight,
            s0: f32::from(piece) / f32::from(pieces),
            s1: f32::from(piece + 1) / f32::from(pieces),
            width: 1.0,
            color: palette::GUIDE,
            alpha0: alpha,
            alpha1: alpha,
        });
    }
}

/// Pieces a curve is drawn in: `n`, but `least` to 96.
fn pieces(n: f32, least: u16) -> u16 {
    u16::try_from(to_count(n)).unwrap_or(u16::MAX).clamp(least, 96)
}
