//! What never changes in a picture: borders of the rings, guide arms, the regions' arcs.

use super::frame::Segment;
use super::layout::{HomeLayout, Rings};
use super::motion::{Endpoint, Flight};
use super::palette;
use crate::units::to_count;
use std::f32::consts::TAU;

/// Most arms that get a guide line; more would be a grey disk.
const GUIDED_ARMS: u32 = 64;

/// What never changes: borders of the rings, guide arms, the regions' arcs.
pub(super) fn structure(rings: &Rings, home: &HomeLayout) -> Vec<Segment> {
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
    for ring in &rings.levels {
        circle(ring.r0 - 0.008, 0.0, TAU, palette::GUIDE, 0.16, 1.0);
        circle(ring.r1 + 0.008, 0.0, TAU, palette::GUIDE, 0.16, 1.0);
    }
    for (index, region) in home.regions.iter().enumerate() {
        circle(rings.rim, region.theta0, region.span, palette::region(index), 0.75, 1.6);
    }
    for (level, ring) in rings.levels.iter().enumerate() {
        if ring.sets > GUIDED_ARMS || ring.ways < 2 {
            continue;
        }
        let pieces = pieces(ring.omega / 0.13, 4);
        let (first, last) = (0.0, ring.ways as f32 - 1.0);
        for set in 0..ring.sets {
            let flight = Flight::slide(Endpoint::slot(level, set, first, 0.0), Endpoint::slot(level, set, last, 0.0));
            for piece in 0..pieces {
                out.push(Segment {
                    flight,
                    s0: f32::from(piece) / f32::from(pieces),
                    s1: f32::from(piece + 1) / f32::from(pieces),
                    width: 1.0,
                    color: palette::GUIDE,
                    alpha0: 0.19,
                    alpha1: 0.19,
                });
            }
        }
    }
    out
}

/// Pieces a curve is drawn in: `n`, but `least` to 96.
fn pieces(n: f32, least: u16) -> u16 {
    u16::try_from(to_count(n)).unwrap_or(u16::MAX).clamp(least, 96)
}
