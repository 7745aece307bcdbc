//! Pictures without motion, for who asks for that: what would fly from one place to another fades there and appears here, and signs of
//! references come and go slowly.

use super::frame::Glyph;
use super::motion::{Flight, Path};
use super::palette::fade;

/// Seconds after which a sign is brightest; it fades to nothing in about five times as long.
const RISE: f32 = 0.4;

/// How much of a sign is seen `age` seconds after its reference, 0 to 1: it rises and falls, without an edge.
pub(super) fn swell(age: f32) -> f32 {
    let t = (age / RISE).max(0.0);
    t * (1.0 - t).exp()
}

/// Has glyphs stand where they come from and where they go, fading over, at `now` ticks since the frame's origin.
pub(super) fn still(glyphs: Vec<Glyph>, now: f32) -> Vec<Glyph> {
    let mut still = Vec::with_capacity(glyphs.len());
    for glyph in glyphs {
        if glyph.flight.path == Path::Rest {
            still.push(glyph);
            continue;
        }
        let there = glyph.flight.eased(now);
        if there < 1.0 {
            // Signs belong to where it goes.
            let color = fade(glyph.color, 1.0 - there);
            let flight = Flight::rest(glyph.flight.from);
            still.push(Glyph { flight, color, flash: 0.0, pulse: 0.0, burst: 1.0, ..glyph });
        }
        if there > 0.0 {
            let (flight, color) = (Flight::rest(glyph.flight.to), fade(glyph.color, there));
            still.push(Glyph { flight, color, flash: glyph.flash * there, ..glyph });
        }
    }
    still
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::motion::Endpoint;

    fn flying(burst: f32) -> Glyph {
        let (from, to) = (Endpoint::polar(1.0, 0.0), Endpoint::polar(0.5, 2.0));
        let flight = Flight::straight(from, to);
        Glyph { layer: 3, id: 7, flight, radius: 0.01, color: [200; 4], flash: 0.8, pulse: 0.0, burst, flags: 0 }
    }

    #[test]
    fn what_flies_fades_from_one_place_to_the_other() {
        let glyph = flying(1.0);
        for (now, expect) in [(0.0, vec![(1.0, 200)]), (0.5, vec![(1.0, 100), (0.5, 100)]), (1.0, vec![(0.5, 200)])] {
            let seen = still(vec![glyph], now);
            let places: Vec<(f32, u8)> = seen.iter().map(|glyph| (glyph.flight.to.a, glyph.color[3])).collect();
            assert_eq!(places, expect, "at {now}");
            assert!(seen.iter().all(|glyph| glyph.flight.path == Path::Rest && glyph.id == 7));
        }
        let rests = Glyph { flight: Flight::rest(Endpoint::polar(0.3, 1.0)), ..glyph };
        assert_eq!(still(vec![rests], 0.4), [rests], "what rests is as it was");
    }

    #[test]
    fn signs_come_and_go_slowly() {
        assert_eq!(swell(0.0), 0.0);
        assert!((swell(RISE) - 1.0).abs() < 1e-6);
        let steps: Vec<f32> = (0..180u8).map(|frame| swell(f32::from(frame) / 60.0)).collect();
        assert!(steps.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.12), "no edge within a frame");
        assert!(steps[179] < 0.02, "{}", steps[179]);
    }
}
