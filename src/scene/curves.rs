//! Curves from close up: stretches of paths are drawn straight, so the closer one is the more of them a curve has.

use super::frame::Segment;
use super::motion::Path;

/// Stretches that one becomes at most.
const MOST: u16 = 8;

/// Cuts the stretches of curved paths into as many as the camera's closeness asks for and `budget` leaves room for, so that a curve is as smooth
/// on the screen as from afar: how far a chord lies from its arc grows with the closeness and falls with the square of the number.
pub(super) fn refine(zoom: f32, budget: usize, segments: &mut Vec<Segment>) {
    let curved = segments.iter().filter(|segment| is_curved(segment)).count();
    let wanted = (1..MOST).find(|n| f32::from(n * n) >= zoom).unwrap_or(MOST);
    let fits = |n: &u16| segments.len() + curved * usize::from(n - 1) <= budget;
    let Some(pieces) = (2..=wanted).rev().find(fits) else { return };
    let whole = std::mem::take(segments);
    segments.reserve(whole.len() + curved * usize::from(pieces - 1));
    for segment in whole {
        if is_curved(&segment) {
            segments.extend((0..pieces).map(|n| part(&segment, n, pieces)));
        } else {
            segments.push(segment);
        }
    }
}

fn is_curved(segment: &Segment) -> bool {
    matches!(segment.flight.path, Path::Arc | Path::Slide)
}

/// One of equal parts of a stretch.
fn part(segment: &Segment, n: u16, of: u16) -> Segment {
    let at = |n: u16, from: f32, to: f32| match n {
        n if n == of => to,
        n => from + (to - from) * f32::from(n) / f32::from(of),
    };
    Segment {
        s0: at(n, segment.s0, segment.s1),
        s1: at(n + 1, segment.s0, segment.s1),
        alpha0: at(n, segment.alpha0, segment.alpha1),
        alpha1: at(n + 1, segment.alpha0, segment.alpha1),
        ..*segment
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::motion::{Endpoint, Flight};
    use crate::scene::palette;

    fn segment(path: Path) -> Segment {
        let slot = |rank| Endpoint::slot(0, 0, rank, 0.0);
        let flight = Flight { path, ..Flight::slide(slot(0.0), slot(1.0)) };
        Segment { flight, s0: 0.25, s1: 0.75, width: 1.0, color: palette::HIT, alpha0: 0.2, alpha1: 0.6 }
    }

    #[test]
    fn curves_have_more_stretches_from_close_up_and_no_gaps() {
        for (zoom, curved) in [(1.0, 1), (4.0, 2), (5.0, 3), (16.0, 4), (1000.0, 8)] {
            let mut all = vec![segment(Path::Straight), segment(Path::Slide), segment(Path::Arc)];
            refine(zoom, 1000, &mut all);
            assert_eq!(all.len(), 1 + 2 * curved, "{zoom}");
            let (first, last) = (all[1], all[curved]);
            assert_eq!([first.s0, first.alpha0, last.s1, last.alpha1], [0.25, 0.2, 0.75, 0.6]);
            for pair in all[1..=curved].windows(2) {
                assert_eq!([pair[0].s1, pair[0].alpha1], [pair[1].s0, pair[1].alpha0]);
            }
        }
    }

    #[test]
    fn the_budget_holds() {
        let mut all = vec![segment(Path::Slide); 10];
        refine(1000.0, 35, &mut all);
        assert_eq!(all.len(), 30);
        refine(1000.0, 35, &mut all);
        assert_eq!(all.len(), 30);
    }
}
