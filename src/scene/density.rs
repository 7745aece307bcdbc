//! Keeps crowded trails readable. Where paths lie so close that each further one would only add to a blaze, all of them give way,
//! the faint ones most: what a place shows at most is a share of it, so that dots and other kinds of paths are seen there too.
//!
//! ```text
//! cover after |        ......------  MOST       a path's cover of a square of the picture = its area there times its alpha;
//!             |   .--''                         each kind of path has a sum of its own: misses do not dim evictions
//!             |  /  KNEE: below it nothing
//!             | /   changes
//!             +------------------ cover before
//! ```

use super::ends::Ends;
use super::frame::Segment;
use super::layout::Sector;
use super::palette;

/// Squares along each side of the picture.
const SIDE: usize = 48;
/// How far they reach from the centre, world units: to the rim.
const REACH: f32 = 1.05;
/// Side of a square, world units.
const SQUARE: f32 = 2.0 * REACH / (SIDE as f32 - 1.0);
/// Pixels of a world unit in a picture 720 high, in which widths are told.
const PIXELS: f32 = 310.0;
/// Points at which a stretch is measured, at most.
const POINTS: u16 = 24;

/// Cover up to which nothing changes, and the most that it gets to: of hits and ageing, which are the ground on which the rest is
/// read, of evictions, of misses.
const KNEES: [[f32; 2]; 3] = [[0.16, 0.34], [0.30, 0.75], [0.30, 0.62]];

/// Which of [`KNEES`] is that of a path.
fn kind(segment: &Segment) -> usize {
    if segment.color == palette::MISS {
        2
    } else if segment.color == palette::EVICT {
        1
    } else {
        0
    }
}

/// Cover, and cover times alpha, by square.
struct Cover {
    squares: Vec<[f32; 2]>,
}

impl Cover {
    /// The four squares round a point, and the share that each has of it.
    fn around([x, y]: [f32; 2]) -> [(usize, f32); 4] {
        let last = (SIDE - 2) as f32;
        let split = |v: f32| {
            let v = (v + REACH) / SQUARE;
            let v = if v.is_finite() { v.clamp(0.0, last + 0.999) } else { 0.0 };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the squares")]
            (v as usize, v.fract())
        };
        let ((i, u), (j, v)) = (split(x), split(y));
        let at = j * SIDE + i;
        let (u0, v0) = (1.0 - u, 1.0 - v);
        [(at, u0 * v0), (at + 1, u * v0), (at + SIDE, u0 * v), (at + SIDE + 1, u * v)]
    }

    fn add(&mut self, at: [f32; 2], cover: f32, alpha: f32) {
        for (square, share) in Self::around(at) {
            let [sum, weighed] = &mut self.squares[square];
            *sum += share * cover;
            *weighed += share * cover * alpha;
        }
    }

    /// Cover at a point, and the mean alpha of what covers it.
    fn at(&self, at: [f32; 2]) -> [f32; 2] {
        let [mut cover, mut weighed] = [0.0; 2];
        for (square, share) in Self::around(at) {
            cover += share * self.squares[square][0];
            weighed += share * self.squares[square][1];
        }
        [cover, weighed / cover.max(f32::MIN_POSITIVE)]
    }
}

/// What is left of a path of `alpha` where its kind covers so much, with this mean alpha.
fn left([cover, mean]: [f32; 2], alpha: f32, [knee, most]: [f32; 2]) -> f32 {
    if cover <= knee || mean <= 0.0 {
        return alpha;
    }
    let room = most - knee;
    let share = (knee + room * (1.0 - (-(cover - knee) / room).exp())) / cover;
    // The more crowded, the more the strong stand out from the faint.
    (alpha * share * (alpha / mean).powf(1.0 - share)).min(alpha)
}

/// Brings hits and ageing below all else, in their order, and dims what is crowded, as looked at from so close.
pub(super) fn thin(sectors: &[Sector], zoom: f32, segments: &mut [Segment]) {
    segments.sort_by_key(|segment| kind(segment) > 0);
    let mut covers: [Cover; 3] = std::array::from_fn(|_| Cover { squares: vec![[0.0; 2]; SIDE * SIDE] });
    let mut known = Ends::new(sectors);
    let mut ends: Vec<[[f32; 2]; 2]> = Vec::with_capacity(segments.len());
    for segment in segments.iter() {
        let [a, b] = known.of(segment).map(|on| on.at);
        ends.push([a, b]);
        let length = (b[0] - a[0]).hypot(b[1] - a[1]);
        let area = length * segment.width / (PIXELS * zoom) / (SQUARE * SQUARE);
        let points = (1..POINTS).find(|&n| length <= f32::from(n) * SQUARE).unwrap_or(POINTS);
        for n in 0..points {
            let s = (f32::from(n) + 0.5) / f32::from(points);
            let alpha = segment.alpha0 + (segment.alpha1 - segment.alpha0) * s;
            let at = [0, 1].map(|axis| a[axis] + (b[axis] - a[axis]) * s);
            covers[kind(segment)].add(at, alpha * area / f32::from(points), alpha);
        }
    }
    for (segment, [a, b]) in segments.iter_mut().zip(ends) {
        let kind = kind(segment);
        segment.alpha0 = left(covers[kind].at(a), segment.alpha0, KNEES[kind]);
        segment.alpha1 = left(covers[kind].at(b), segment.alpha1, KNEES[kind]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::motion::{Endpoint, Flight};
    use super::*;

    /// Spread over `SPREAD` radians, side by side.
    fn paths(count: u16, color: palette::Rgba) -> Vec<Segment> {
        let path = |n: u16| {
            let at = |r: f32| Endpoint::polar(r, 0.2 + SPREAD * f32::from(n) / f32::from(count));
            let flight = Flight::straight(at(0.8), at(END));
            Segment { flight, s0: 0.0, s1: 1.0, width: 1.2, color, alpha0: 0.3, alpha1: 0.8 }
        };
        (0..count).map(path).collect()
    }

    const SPREAD: f32 = 1.5;
    const END: f32 = 0.4;

    #[test]
    fn few_paths_are_left_as_they_are_and_many_cover_no_more_than_the_most() {
        let mut few = paths(2, palette::MISS);
        thin(&[], 1.0, &mut few);
        assert_eq!(few, paths(2, palette::MISS));
        for color in [palette::MISS, palette::EVICT, palette::HIT] {
            for count in [1_000, 10_000] {
                let cover =
                    |paths: &[Segment]| paths.iter().map(|s| s.alpha1 * s.width / PIXELS / (SPREAD * END)).sum::<f32>();
                let mut many = paths(count, color);
                let before = cover(&many);
                thin(&[], 1.0, &mut many);
                let (after, most) = (cover(&many), KNEES[kind(&many[0])][1]);
                // The squares at their ends are half empty.
                let told = format!("{count} of {color:?}: {before}, then {after}");
                assert!(before > 5.0 && after > 0.8 * most && after < 2.5 * most, "{told}");
                assert!(many.iter().all(|s| s.alpha1 < 0.8 && s.alpha1 > 0.0));
            }
        }
        let mut closer = paths(1_000, palette::MISS);
        thin(&[], 40.0, &mut closer);
        assert_eq!(closer, paths(1_000, palette::MISS), "closer up there is room for all");
    }

    #[test]
    fn kinds_do_not_dim_each_other_and_the_strong_stand_out() {
        let mut both = paths(2, palette::EVICT);
        both.extend(paths(2_000, palette::MISS));
        both.extend(paths(3, palette::HIT));
        both[1_000].alpha1 = 0.1;
        thin(&[], 1.0, &mut both);
        assert!(both[..3].iter().all(|s| s.color == palette::HIT), "hits lie below");
        assert!(both[3..5].iter().all(|s| s.color == palette::EVICT && s.alpha1 == 0.8), "{:?}", &both[3..5]);
        let faint = both.iter().map(|s| s.alpha1).fold(1.0, f32::min);
        assert!(faint < 0.05 * both[900].alpha1, "one eighth before, less now: {faint} beside {}", both[900].alpha1);
    }
}
